/*
 * group_values.c
 *		The different values of each group, which a job of their own finds for mode() and aggregates with DISTINCT.
 *
 * The job has the aggregate's arguments as more keys (query/group_values_plan.c), so its groups are the values.  They become rows, which are grouped by
 * the node's own keys; a group at hand is looked up by its keys.  All values have to fit in memory: they are few, or the node takes its rows one by one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/key_table.h"
#include "batch/rows.h"
#include "exec/group_state.h"

typedef struct group_values
{
	const query *query;
	group_input input;			/* the values, as rows with the columns of the node's */
	key_table  *table;			/* of their groups */
} group_values;

/* ---- finding them */

/* Take the groups at hand.  Columns that are no keys of theirs have no values. */
static void
take_groups(const device_query *found, chunk *rows, uint64 *counts)
{
	uint64		first = rows->num_rows;

	for (uint32 group = 0; group < found->num_groups; group++)
		counts[first + group] = device_query_record(found, group)[0];
	group_device_put_keys(found, rows);
	for (int i = 0; i < rows->num_columns; i++)
	{
		for (uint64 row = first; found->job.values[i].key < 0 && row < rows->num_rows; row++)
			chunk_put_null(rows, &rows->columns[i], row);
	}
}

/* Take the groups of an answer.  false: they need too much memory. */
static bool
take_values(group_values *values, device_query *found, const chunk *like)
{
	chunk	   *rows = chunk_like(values->input.context, like);
	Size		most_bytes = get_hash_memory_limit();
	uint64		num_values = found->request.result.num_groups;
	uint64	   *counts;

	values->input.rows = rows;
	if (found->job.num_lates > 0 || num_values * (rows_bytes_of_one(like) + sizeof(uint64)) > most_bytes)
		return false;
	values->input.counts = counts = large_alloc(values->input.context, num_values * sizeof(uint64));
	while (device_query_next(found))
	{
		CHECK_FOR_INTERRUPTS();
		take_groups(found, rows, counts);
		if (rows->num_rows * rows_bytes_of_one(rows) + rows->arena.taken_bytes > most_bytes)
			return false;
	}
	return true;
}

/* Group them by the node's keys. */
static void
group_by_keys(group_values *values, const group_keys *keys)
{
	group_input *input = &values->input;
	const uint32 *numbers;

	values->table = key_table_create(input->context, keys, input->rows);
	numbers = key_table_find(values->table, input->rows, true);
	if (numbers)
		input->groups = row_groups_make(input->context, numbers, input->rows->num_rows, (uint32) key_table_rows(values->table)->num_rows);
	else
	{
		uint32	   *starts = MemoryContextAlloc(input->context, 2 * sizeof(uint32));

		starts[0] = 0;
		starts[1] = (uint32) input->rows->num_rows;
		input->groups = (row_groups) {1, NULL, starts};
	}
}

/* Have those aggregates take them whose filters and arguments are keys of the job. */
static void
hand_over(const group_state *state, group_values *values)
{
	for (int i = 0; i < state->num_outputs; i++)
	{
		group_aggregate *aggregate = state->outputs[i].aggregate;

		if (aggregate && group_is_fed_values(aggregate->aggref, &aggregate->plan) && query_values_of(state->node.query, i) == values->query)
			aggregate->take_values(aggregate, &values->input);
	}
}

static device_query *
run(const group_state *state, const query *values, uint64 expected_rows)
{
	device_question question = {
		.node = "MgpuGroup",
		.source = state->node.source,
		.of = {.query = values},
		.expected_rows = expected_rows,
		.expected_results = values->expected,
		.group_bytes = rows_bytes_of_one(state->node.rows)
	};

	row_source_start_again(state->node.source);
	return device_query_run(state->node.css.ss.ps.state->es_query_cxt, &question);
}

static bool
find(group_state *state, const query *query, uint64 expected_rows)
{
	EState	   *estate = state->node.css.ss.ps.state;
	group_values *values = MemoryContextAllocZero(estate->es_query_cxt, sizeof(group_values));
	device_query *found;
	bool		fits;

	values->query = query;
	values->input.context = AllocSetContextCreate(estate->es_query_cxt, "mgpu_pg values of groups", ALLOCSET_DEFAULT_SIZES);
	values->input.function = state->input.function;
	state->values = lappend(state->values, values);
	found = run(state, query, expected_rows);
	if (found == NULL)
		return false;
	fits = take_values(values, found, state->node.rows);
	device_query_forget(found);
	if (!fits)
		return false;
	group_by_keys(values, &state->keys);
	hand_over(state, values);
	return true;
}

bool
group_values_find(group_state *state, uint64 expected_rows)
{
	MemoryContext caller = MemoryContextSwitchTo(state->node.css.ss.ps.state->es_query_cxt);
	bool		found = true;
	ListCell   *cell;

	foreach(cell, state->node.query->values)
		found = found && find(state, lfirst(cell), expected_rows);
	MemoryContextSwitchTo(caller);
	return found;
}

/* ---- using them */

void
group_values_number(const group_state *state)
{
	const chunk *groups = state->node.rows;
	ListCell   *cell;

	foreach(cell, state->values)
	{
		group_values *values = lfirst(cell);
		const uint32 *numbers = key_table_find(values->table, groups, false);

		for (uint64 i = 0; numbers && i < groups->num_rows; i++)
			if (numbers[i] >= values->input.groups.num_groups)
				elog(ERROR, "a group has no values");
		/* valid as long as the groups are at hand */
		values->input.numbers = numbers;
	}
}

int64
group_values_count(const group_state *state)
{
	int64		count = 0;
	ListCell   *cell;

	foreach(cell, state->values)
		count += (int64) ((const group_values *) lfirst(cell))->input.rows->num_rows;
	return count;
}

void
group_values_forget(group_state *state)
{
	ListCell   *cell;

	foreach(cell, state->values)
	{
		group_values *values = lfirst(cell);

		MemoryContextDelete(values->input.context);
		pfree(values);
	}
	list_free(state->values);
	state->values = NIL;
}
