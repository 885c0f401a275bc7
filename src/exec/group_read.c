/*
 * group_read.c
 *		Reads the rows of an MgpuGroup node, from its child and from partitions.
 *
 * The child returns rows, or packs of rows that workers have made (rows_node.c).  Rows are kept until all are
 * there, or folded.  What does not fit in memory goes to partitions, each of which is read when its turn comes.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "batch/wire.h"
#include "exec/group_state.h"

/* Rows between two checks of memory. */
#define STEP_ROWS 1024

/* Most rows added between two checks, by a pack or a piece of a file. */
#define MOST_STEP_ROWS (64 * 1024)

/* Memory for rows: all, but for the buffers of files once there are some. */
static Size
limit_bytes(const group_state *state)
{
	Size		limit = get_hash_memory_limit();

	return state->spill.num_partitions > 0 ? limit - limit / SPILL_BUFFER_PART : limit;
}

static bool
is_full(group_state *state)
{
	/* values of variable width lie in the arena, and once more as keys */
	Size		bytes = state->rows->num_rows * state->row_bytes + 2 * state->rows->arena.taken_bytes;

	state->most_bytes = Max(state->most_bytes, bytes);
	return bytes > limit_bytes(state) || state->rows->num_rows > MGPU_MAX_ITEMS - MOST_STEP_ROWS;
}

static void
spill_all(group_state *state, int level, uint64 num_rows)
{
	Size		row_bytes = state->row_bytes + 2 * state->rows->arena.taken_bytes / Max(state->rows->num_rows, 1);

	spill_rows(&state->spill, state->rows, level, num_rows * row_bytes, get_hash_memory_limit());
}

/* Spill the rows that the fold has no memory for. */
static void
spill_others(group_state *state, int level, uint64 num_rows)
{
	spill_rows(&state->spill, state->others, level, num_rows * state->row_bytes, get_hash_memory_limit());
}

/* Fold the rows that are there; rows of groups that there is no memory for are spilled. */
static void
fold_all(group_state *state, int level, uint64 num_rows, Size limit)
{
	group_fold_rows(state->fold, state->rows, limit, state->others);
	chunk_reset(state->rows);
	state->most_bytes = Max(state->most_bytes, group_fold_bytes(state->fold));
	if (state->others->num_rows >= STEP_ROWS || state->others->arena.taken_bytes >= CHUNK_STEP_BYTES)
		spill_others(state, level, num_rows);
}

/* Record the rows that are there: more are to come. */
static void
take_step(group_state *state, int level, uint64 num_rows)
{
	if (state->fold)
		fold_all(state, level, num_rows, limit_bytes(state));
	else if (is_full(state))
		spill_all(state, level, num_rows);
}

/* Complete the reading of rows: if some were spilled, spill the rest too. */
static void
finish_reading(group_state *state, int level, uint64 num_rows)
{
	if (state->fold)
	{
		fold_all(state, level, num_rows, limit_bytes(state));
		if (state->others->num_rows > 0)
			spill_others(state, level, num_rows);
	}
	else if (state->spill.num_open > 0)
		spill_all(state, level, num_rows);
	else
		/* only for its side effect: is_full records the peak memory */
		(void) is_full(state);
	if (state->spill.num_open > 0)
		spill_finish(&state->spill);
}

/* Append the rows of the child's next pack.  False: there are no more. */
static bool
read_pack(group_state *state)
{
	TupleTableSlot *slot = ExecProcNode(linitial(state->css.custom_ps));
	const bytea *pack;
	bool		is_null;

	if (TupIsNull(slot))
		return false;
	pack = (const bytea *) DatumGetPointer(slot_getattr(slot, 1, &is_null));
	if (is_null)
		elog(ERROR, "a parallel worker sent no rows to group");
	if (chunk_read(state->rows, state->rows->num_columns, VARDATA_ANY(pack), VARSIZE_ANY_EXHDR(pack)) !=
		VARSIZE_ANY_EXHDR(pack))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid rows of a parallel worker")));
	return true;
}

/* Take memory for the rows that are expected, so that columns need not move while they grow. */
static void
reserve(group_state *state, uint64 expected)
{
	uint64		most_rows = Min(limit_bytes(state) / state->row_bytes, MGPU_MAX_ITEMS);

	if (expected > STEP_ROWS && state->rows->capacity < Min(expected, most_rows))
		chunk_grow(state->rows, Min(expected, most_rows));
}

static void
read_child(group_state *state)
{
	const PlanState *child = linitial(state->css.custom_ps);
	double		slot_rows = state->source ? 1 : rows_of_pack(rows_bytes_of_one(state->rows));
	uint64		expected = Min(child->plan->plan_rows * slot_rows, (double) MGPU_MAX_ITEMS);
	uint64		checked = 0;
	Size		checked_bytes = 0;

	if (group_device_run(state, expected))
		return;
	if (state->fold == NULL)
		reserve(state, expected);
	while (state->source ? row_source_read(state->source, state->rows) : read_pack(state))
	{
		if (state->rows->num_rows < checked + STEP_ROWS &&
			state->rows->arena.taken_bytes < checked_bytes + CHUNK_STEP_BYTES)
			continue;
		take_step(state, 1, expected);
		checked = state->rows->num_rows;
		checked_bytes = state->rows->arena.taken_bytes;
	}
	finish_reading(state, 1, expected);
}

/* Read a partition, or as much of it as fits and spill the rest again.  False: it had no row that fits. */
static bool
read_rows_of(group_state *state, partition *part)
{
	uint64		num_rows = part->num_rows;
	int			level = part->level + 1;

	chunk_free(state->rows);
	if (state->fold)
		group_fold_start(state->fold);
	while (part->num_rows > 0)
	{
		CHECK_FOR_INTERRUPTS();
		spill_read(part, state->rows);
		/* one group, or groups that no hash tells apart, have to fit */
		if (!part->one_group)
			take_step(state, level, num_rows);
		else if (state->fold)
			fold_all(state, level, num_rows, SIZE_MAX);
	}
	BufFileClose(part->file);
	finish_reading(state, level, num_rows);
	return state->fold || state->rows->num_rows > 0;
}

/* Read a partition that has rows to group.  False: there are no more partitions. */
static bool
read_partition(group_state *state)
{
	partition  *part;

	while ((part = spill_next(&state->spill)) != NULL)
		if (read_rows_of(state, part))
			return true;
	return false;
}

bool
group_read(group_state *state)
{
	bool		is_first = !state->collected;

	if (is_first)
	{
		read_child(state);
		state->collected = true;
		/* groups that were folded are complete; the others are all in partitions */
		if (state->fold && state->device == NULL)
			return true;
	}
	if (state->device)
		return group_device_next(state);
	if (state->spill.num_partitions > 0)
		return read_partition(state);
	return state->rows->num_rows > 0 || state->keys.num_keys == 0;
}
