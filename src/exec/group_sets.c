/*
 * group_sets.c
 *		Groups of a grouping set that are merged from those of another, which a job has found.
 *
 * Nodes of one Append know each other by a parameter of the executor, as scans of one CTE do: it leads to the answers of all that have run.
 * A set is merged from the smallest answer that has its keys.  Where there is none, since that job gave up or nodes run in several
 * processes, the node reads rows like any other.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/group_merge.h"
#include "core/sizes.h"
#include "exec/group_state.h"

/* Records that are merged between looks at interrupts and memory. */
#define STEP_RECORDS MGPU_SIZE(8192, 50)

/* What a parameter leads to. */
typedef struct shared_answers
{
	const EState *of;			/* rows that are checked again have an EState of their own, with these parameters */
	List	   *states;			/* nodes that have answers */
} shared_answers;

static ParamExecData *
parameter_of(const group_state *state)
{
	int			shared = state->node.query->shared;

	return shared > 0 ? &state->node.css.ss.ps.state->es_param_exec_vals[shared - 1] : NULL;
}

static shared_answers *
answers_of(const group_state *state)
{
	const ParamExecData *parameter = parameter_of(state);
	shared_answers *answers = parameter ? (shared_answers *) DatumGetPointer(parameter->value) : NULL;

	return answers && answers->of == state->node.css.ss.ps.state ? answers : NULL;
}

void
group_sets_share(const group_state *state)
{
	EState	   *estate = state->node.css.ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	shared_answers *answers = answers_of(state);

	if (parameter_of(state) && mgpu_group_may_merge(&state->device->request.spec))
	{
		if (answers == NULL)
		{
			answers = palloc0(sizeof(shared_answers));
			answers->of = estate;
			parameter_of(state)->value = PointerGetDatum(answers);
		}
		answers->states = lappend(answers->states, (void *) state);
	}
	MemoryContextSwitchTo(caller);
}

void
group_sets_withdraw(const group_state *state)
{
	shared_answers *answers = answers_of(state);

	if (answers)
		answers->states = list_delete_ptr(answers->states, (void *) state);
}

/* The smallest answer that has the set's keys, or NULL. */
static const group_state *
find_answer(const group_state *state)
{
	const shared_answers *answers = answers_of(state);
	const group_state *found = NULL;
	ListCell   *cell;

	foreach(cell, answers && state->node.query->merges ? answers->states : NIL)
	{
		const group_state *other = lfirst(cell);

		/* what is fetched of a row is fetched by who has read it */
		if (other->device->job.num_lates == 0 && list_difference_int(state->node.query->key_columns, other->node.query->key_columns) == NIL &&
			(found == NULL || other->device->request.result.num_groups < found->device->request.result.num_groups))
			found = other;
	}
	return found;
}

/* Keys of an answer's records that tell groups of the set apart: all but those of columns that are keys of the answer alone. */
static uint32
keys_of(const group_state *state, const group_state *other)
{
	uint32		kept = 0;
	uint32		dropped = 0;
	ListCell   *cell;

	foreach(cell, other->node.query->key_columns)
	{
		const table_value *value = &other->device->job.values[lfirst_int(cell)];
		uint32		keys = ((UINT32_C(1) << value->cells.num_cells) - 1) << value->key;

		if (list_member_int(state->node.query->key_columns, lfirst_int(cell)))
			kept |= keys;
		else
			dropped |= keys;
	}
	/* columns may have keys in common */
	return kept | ~dropped;
}

static void
free_merge(void *merge)
{
	mgpu_group_merge_free(merge);
}

/* Merge all records.  false: they need more memory than there is. */
static bool
merge_all(mgpu_group_merge *merge, const device_query *of)
{
	uint64		num_groups = of->request.result.num_groups;
	char	   *buffer = palloc(Min(num_groups, STEP_RECORDS) * of->request.record.num_words * sizeof(uint64) + 1);
	bool		fits = true;

	for (uint64 first = 0; fits && first < num_groups; first += STEP_RECORDS)
	{
		uint64		count = Min(STEP_RECORDS, num_groups - first);

		CHECK_FOR_INTERRUPTS();
		fits = mgpu_group_merge_add(merge, device_query_read(of, first, count, buffer), count) &&
			mgpu_group_merge_bytes(merge) <= get_hash_memory_limit();
	}
	pfree(buffer);
	return fits && mgpu_group_merge_finish(merge);
}

/* An answer like another, but for its groups. */
static device_query *
create_like(const device_query *other, MemoryContext context)
{
	device_query *query = MemoryContextAllocZero(context, sizeof(device_query));

	query->context = context;
	query->job = other->job;
	query->job.spec = &query->request.spec;
	query->request.spec = other->request.spec;
	query->request.record = other->request.record;
	query->request.group_bytes = other->request.group_bytes;
	return query;
}

static void
take_records(device_query *query, const mgpu_group_merge *merge)
{
	device_output *output = &query->request.outputs[0];

	query->request.result.num_groups = mgpu_group_merge_count(merge);
	output->num_bytes = query->request.result.num_groups * query->request.record.num_words * sizeof(uint64);
	output->data = MemoryContextAllocHuge(query->context, output->num_bytes + 1);
	/* of no groups there are no records */
	if (output->num_bytes > 0)
		memcpy(output->data, mgpu_group_merge_records(merge), output->num_bytes);
}

device_query *
group_sets_merge(const group_state *state)
{
	const group_state *other = find_answer(state);
	MemoryContext context;
	MemoryContextCallback *callback;
	mgpu_group_merge *merge;
	device_query *query;
	bool		fits;

	if (other == NULL)
		return NULL;
	context = AllocSetContextCreate(state->node.css.ss.ps.state->es_query_cxt, "mgpu_pg merged groups", ALLOCSET_DEFAULT_SIZES);
	query = create_like(other->device, context);
	callback = MemoryContextAllocZero(context, sizeof(MemoryContextCallback));
	merge = mgpu_group_merge_create(&query->request.spec, keys_of(state, other));
	callback->func = free_merge;
	callback->arg = merge;
	MemoryContextRegisterResetCallback(context, callback);
	fits = merge && merge_all(merge, other->device);
	if (fits)
		take_records(query, merge);
	/* the context is not reset before its memory is free */
	callback->arg = NULL;
	mgpu_group_merge_free(merge);
	if (fits)
		return query;
	MemoryContextDelete(context);
	return NULL;
}
