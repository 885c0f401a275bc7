/*
 * group_device.c
 *		Has a GPU read the table of an MgpuGroup node, group its rows and compute the aggregates.
 *
 * The GPU gets pages (scan/heap_sender.h) and returns a record for each group.  What it cannot do is found out before
 * the first page is sent, but for the data: damaged pages, floats whose bits matter, groups that need too much memory.
 * Then nothing has been lost but time, and the node reads the table itself.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/group_state.h"

/* ---- the question */

/* Whether the node's rows are those of one table, all of which are read here. */
static heap_reader *
reader_of(const group_state *state)
{
	if (state->source == NULL || state->method == GROUP_COMBINE || state->method == GROUP_PARTIAL)
		return NULL;
	return row_source_only_reader(state->source);
}

static bool
ask_for_keys(const group_keys *keys, device_query *query)
{
	mgpu_group_spec *spec = &query->request.spec;

	if (keys->num_keys > MGPU_GROUP_MAX_KEYS)
		return false;
	spec->num_keys = keys->num_keys;
	for (int i = 0; i < keys->num_keys; i++)
	{
		if (keys->keys[i].form != GROUP_KEY_BITS && keys->keys[i].form != GROUP_KEY_FLOAT)
			return false;
		spec->keys[i] = device_query_column(query, keys->keys[i].column);
		spec->columns[spec->keys[i]].is_shown = true;
	}
	return true;
}

/* Floats are added in their order: those of all rows, one after another, faster by the CPU. */
static bool
adds_floats(const mgpu_group_spec *spec)
{
	for (uint32 i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
			return true;
	return false;
}

static bool
ask(const group_state *state, device_query *query)
{
	ListCell   *cell;

	if (!ask_for_keys(&state->keys, query))
		return false;
	foreach(cell, state->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		if (aggregate->ask_device == NULL || !aggregate->ask_device(aggregate, query))
			return false;
	}
	if (state->keys.num_keys == 0 && adds_floats(&query->request.spec))
		return false;
	/* other columns of a group's first row are not asked for */
	for (int i = state->keys.num_keys; i < state->num_outputs; i++)
		if (state->outputs[i].aggregate == NULL)
			return false;
	return true;
}

/* ---- the answer */

static void
take_keys(group_state *state, const device_query *query)
{
	uint32		num_groups = query->num_groups;

	chunk_free(state->rows);
	(void) chunk_add_rows(state->rows, num_groups);
	for (int i = 0; i < state->keys.num_keys; i++)
	{
		int			number = state->keys.keys[i].column;
		column	   *col = &state->rows->columns[number];

		for (uint32 group = 0; group < num_groups; group++)
		{
			const uint64 *record = device_query_record(query, group);
			bool		is_null = (record[1] >> i & 1) != 0;

			chunk_put(state->rows, col, group,
					  is_null ? (Datum) 0 : device_query_datum(query, device_query_column(query, number),
															   record[query->request.record.keys + i]), is_null);
		}
	}
}

/* The groups at hand take the place of rows: one each. */
static void
take(group_state *state, const device_query *query)
{
	group_input *input = &state->input;
	ListCell   *cell;

	take_keys(state, query);
	input->rows = state->rows;
	input->derived = NIL;
	input->groups = row_groups_single(input->context, query->num_groups);
	foreach(cell, state->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		aggregate->take_device(aggregate, query);
	}
}

bool
group_device_next(group_state *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->input.context);
	bool		found = device_query_next(state->device);

	if (found)
		take(state, state->device);
	MemoryContextSwitchTo(caller);
	state->most_bytes = Max(state->most_bytes, MemoryContextMemAllocated(state->input.context, true) +
							MemoryContextMemAllocated(state->device_context, true));
	return found;
}

void
group_device_forget(group_state *state)
{
	if (state->device)
		device_query_forget(state->device);
	state->device = NULL;
	MemoryContextReset(state->device_context);
}

/* ---- both */

bool
group_device_run(group_state *state, uint64 expected_rows)
{
	heap_reader *reader = reader_of(state);
	MemoryContext caller;
	device_query *query;
	bool		done = false;

	if (state->source == NULL || !run_may_use_gpu())
		return false;
	row_source_tell_of_gpu(state->source, DEVICE_QUERY_NONE);
	if (reader == NULL)
		return false;
	caller = MemoryContextSwitchTo(state->device_context);
	state->device = query = palloc0(sizeof(device_query));
	query->request.function = "MgpuGroup";
	query->request.expected_rows = expected_rows;
	query->request.most_bytes = get_hash_memory_limit();
	query->request.group_bytes = rows_bytes_of_one(state->rows) + sizeof(uint32) +
		list_length(state->aggregates) * GROUP_STATE_BYTES;
	query->sender = heap_sender_create(reader, &query->request.spec);
	if (query->sender && ask(state, query))
	{
		done = device_query_run(query, reader);
		row_source_tell_of_gpu(state->source, query->request.no_gpu);
	}
	if (done)
		run_last.num_segments = query->request.result.num_groups;
	MemoryContextSwitchTo(caller);
	/* what was made for the GPU must not be there beside the rows that the CPU keeps */
	if (!done)
		group_device_forget(state);
	return done;
}
