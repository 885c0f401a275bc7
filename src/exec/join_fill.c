/*
 * join_fill.c
 *		Builds of a table job's joins: the smaller sides' rows are put into hash tables (core/build.h).
 *
 * Of a side that a job has read, there are cells: threads add them (core/build_fill.h).  Of one that was read row by row, the build's program makes
 * cells of some rows at a time, as programs of pages do, so that equal values have equal cells.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "core/build_fill.h"
#include "exec/join_builds.h"
#include "large_memory.h"
#include "run/run_table.h"
#include "threads.h"

/* What is done with all rows of a side that was read row by row, one after the other. */
typedef enum fill_step
{
	FIND_RANGE,					/* of keys; the build is not planned yet */
	MARK_KEYS,					/* if it is dense */
	PUT_ROWS
} fill_step;

/* A build that is filled. */
typedef struct build_filler
{
	const table_build *from;
	const mgpu_build *build;
	char	   *memory;
	build_side *side;
	fill_step	step;
	ExprContext *context;
	mgpu_program_input *inputs;
	const char **values;		/* of the rows at hand: of each input */
	uint16		numbers[TABLE_BUILD_STEP_ROWS];
	uint64		keys[TABLE_BUILD_STEP_ROWS];
	uint8		states[TABLE_BUILD_STEP_ROWS];
	bool		repeats;		/* out: a key is there twice */
} build_filler;

/* ---- cells that are there */

/* Which of the columns that a job has returned the cells of the key and of the build are. */
static void
name_columns(mgpu_build_fill *fill, const table_build *from, const build_cells *cells)
{
	fill->num_keys = from->num_keys;
	for (int i = 0; i < from->num_keys; i++)
		fill->keys[i] = cells->of_outputs[from->keys[i]];
	for (int i = 0; i < from->num_cells; i++)
		fill->cells[i] = cells->of_outputs[from->cells[i]];
}

static const char *
add_cells(build_filler *filler)
{
	const build_cells *cells = &filler->side->cells;
	mgpu_build_fill *fill = palloc0(sizeof(mgpu_build_fill));
	mgpu_fill_state state;

	*fill = (mgpu_build_fill) {
		.build = filler->build,.memory = filler->memory,.marks = cells->marks,.columns = cells->columns,
		.num_parts = mgpu_build_num_parts(filler->build, run_table_threads())
	};
	name_columns(fill, filler->from, cells);
	if (filler->build->is_dense)
	{
		thread_work_by(run_table_threads(), mgpu_build_mark_part, fill, fill->num_parts);
		mgpu_build_number(filler->build, filler->memory);
	}
	thread_work_by(run_table_threads(), mgpu_build_fill_part, fill, fill->num_parts);
	state = mgpu_build_fill_end(fill);
	pfree(fill);
	filler->repeats = state == MGPU_FILL_REPEATED;
	return state == MGPU_FILL_FAILED ? join_is_beyond : NULL;
}

/* ---- rows */

/* Where the values of some rows are. */
static void
point_to_values(build_filler *filler, uint64 first, uint32 num_rows)
{
	for (int i = 0; i < expr_program_num_inputs(filler->from->program); i++)
	{
		const chunk *rows = filler->side->rows;
		const column *col = &rows->columns[expr_program_attribute(filler->from->program, i) - 1];
		const char **values = filler->values + (Size) i * TABLE_BUILD_STEP_ROWS;

		for (uint32 row = 0; row < num_rows; row++)
			values[row] = column_is_null(col, first + row) ? NULL : cell_element(col->type, col->cells, first + row);
		filler->inputs[i].values = values;
	}
}

/* Keys of the rows at hand: the state is the largest of a key's cells'. */
static void
find_keys(build_filler *filler, uint32 num_rows)
{
	const table_build *from = filler->from;

	for (int i = 0; i < from->num_keys; i++)
	{
		const int64 *cells = expr_program_truths(from->program, from->keys[i]);
		const uint8 *states = expr_program_states(from->program, from->keys[i]);

		for (uint32 row = 0; row < num_rows; row++)
		{
			filler->keys[row] = i == 0 ? (uint64) cells[row] : mgpu_build_hash(filler->keys[row], (uint64) cells[row]);
			filler->states[row] = i == 0 ? states[row] : Max(filler->states[row], states[row]);
		}
	}
}

/* Of a key of several cells, only the hash has been compared. */
static bool
is_same_key(const build_filler *filler, uint32 row, uint32 other)
{
	const table_build *from = filler->from;

	for (int i = 0; from->num_keys > 1 && i < from->num_keys; i++)
	{
		int64		cell;

		(void) mgpu_build_cell(filler->build, filler->memory, i, other, &cell);
		if (cell != expr_program_truths(from->program, from->keys[i])[row])
			return false;
	}
	return true;
}

static int64
cell_of(const table_build *from, int column, uint32 row)
{
	const char *text;
	uint32		length;

	if (from->names[column] == NULL)
		return expr_program_truths(from->program, from->cells[column])[row];
	text = expr_program_text(from->program, from->cells[column], row, &length);
	return text_names_add(from->names[column], text, length);
}

/* Put the cells of a row. */
static const char *
put_cells(const build_filler *filler, uint32 row, uint32 number)
{
	const table_build *from = filler->from;

	for (int i = 0; i < from->num_cells; i++)
	{
		uint8		state = expr_program_states(from->program, from->cells[i])[row];

		if (state == MGPU_IS_FAULT)
			return join_is_beyond;
		mgpu_build_put(filler->build, filler->memory, i, number, state == MGPU_IS_NULL ? 0 : cell_of(from, i, row), state == MGPU_IS_NULL);
	}
	return NULL;
}

/* A row with a NULL in its key is never found, but a right join returns it. */
static const char *
put_row(build_filler *filler, uint32 row, uint32 number)
{
	uint32		found;

	if (filler->states[row] != MGPU_IS_VALUE)
		return filler->states[row] == MGPU_IS_FAULT ? join_is_beyond : put_cells(filler, row, number);
	found = mgpu_build_add(filler->build, filler->memory, filler->keys[row], number);
	if (found != number && !is_same_key(filler, row, found))
		return join_is_beyond;
	filler->repeats |= found != number;
	return put_cells(filler, row, number);
}

/* Put the rows at hand, from this number on.  Their slots, which lie anywhere, are asked for first. */
static const char *
put_rows(build_filler *filler, uint64 first, uint32 num_rows)
{
	const char *why_not = NULL;

	for (uint32 row = 0; row < num_rows; row++)
		__builtin_prefetch(mgpu_build_slot_of(filler->build, filler->memory, filler->keys[row]));
	for (uint32 row = 0; row < num_rows && why_not == NULL; row++)
		why_not = put_row(filler, row, first + row);
	return why_not;
}

static void
mark_keys(const build_filler *filler, uint32 num_rows)
{
	for (uint32 row = 0; row < num_rows; row++)
		if (filler->states[row] == MGPU_IS_VALUE)
			mgpu_build_mark(filler->build, filler->memory, filler->keys[row]);
}

static void
widen_range(build_filler *filler, uint32 num_rows)
{
	build_side *side = filler->side;

	for (uint32 row = 0; row < num_rows; row++)
	{
		if (filler->states[row] != MGPU_IS_VALUE)
			continue;
		side->least = Min(side->least, (int64) filler->keys[row]);
		side->greatest = Max(side->greatest, (int64) filler->keys[row]);
	}
}

/* Do a step with all rows. */
static const char *
take_rows(build_filler *filler)
{
	const char *why_not = NULL;

	for (int row = 0; row < TABLE_BUILD_STEP_ROWS; row++)
		filler->numbers[row] = row;
	for (uint64 first = 0; first < filler->side->num_rows && why_not == NULL; first += TABLE_BUILD_STEP_ROWS)
	{
		uint32		num_rows = Min(filler->side->num_rows - first, TABLE_BUILD_STEP_ROWS);

		CHECK_FOR_INTERRUPTS();
		point_to_values(filler, first, num_rows);
		if (!expr_program_run(filler->from->program, filler->context, filler->inputs, filler->numbers, num_rows))
			return join_is_beyond;
		find_keys(filler, num_rows);
		if (filler->step == FIND_RANGE)
			widen_range(filler, num_rows);
		else if (filler->step == MARK_KEYS)
			mark_keys(filler, num_rows);
		else
			why_not = put_rows(filler, first, num_rows);
	}
	return why_not;
}

/* ---- all builds */

static build_filler
filler_of(const join_builds *builds, const table_job *job, int number)
{
	build_side *side = list_nth(builds->sides, number);
	int			num_inputs = expr_program_num_inputs(job->builds[number].program);

	return (build_filler) {
		.from = &job->builds[number],
		.build = &job->spec->builds[number],
		.memory = builds->memory,
		.side = side,
		.context = side->join->node->js.ps.ps_ExprContext,
		.inputs = palloc(num_inputs * sizeof(mgpu_program_input) + 1),
		.values = palloc(num_inputs * TABLE_BUILD_STEP_ROWS * sizeof(char *) + 1)
	};
}

static const char *
fill_with_rows(build_filler *filler)
{
	const char *why_not = NULL;

	if (filler->build->is_dense)
	{
		filler->step = MARK_KEYS;
		why_not = take_rows(filler);
		mgpu_build_number(filler->build, filler->memory);
	}
	filler->step = PUT_ROWS;
	return why_not ? why_not : take_rows(filler);
}

/* Fill a build, whose memory is zeros. */
static const char *
fill_from_side(const join_builds *builds, const table_job *job, int number, bool *repeats)
{
	build_filler filler = filler_of(builds, job, number);
	const char *why_not = filler.side->rows ? fill_with_rows(&filler) : add_cells(&filler);

	*repeats = filler.repeats;
	return why_not;
}

/* Find what the keys of sides that were read row by row lie between. */
static const char *
find_ranges(const join_builds *builds, const table_job *job)
{
	const char *why_not = NULL;

	for (int i = 0; i < list_length(builds->sides) && why_not == NULL; i++)
	{
		build_filler filler = filler_of(builds, job, i);

		if (filler.side->rows == NULL || filler.from->num_keys != 1)
			continue;
		filler.step = FIND_RANGE;
		filler.side->has_range = true;
		filler.side->least = PG_INT64_MAX;
		filler.side->greatest = PG_INT64_MIN;
		why_not = take_rows(&filler);
	}
	return why_not;
}

/* No key of a build repeats: rows need not look for more matches, unless conditions say which are. */
static void
forget_match(mgpu_group_spec *spec, uint32 build)
{
	uint32		num_left = 0;

	for (uint32 i = 0; i < spec->num_matches; i++)
	{
		const mgpu_group_match *match = &spec->matches[i];

		if (match->build != build || mgpu_group_match_stays(match))
			spec->matches[num_left++] = *match;
	}
	spec->num_matches = num_left;
	spec->builds[build].has_next = 0;
}

const char *
join_builds_fill(join_builds *builds, table_job *job)
{
	const char *why_not = find_ranges(builds, job);
	Size		bytes = why_not == NULL ? join_builds_plan(builds, job->spec) : 0;

	if (bytes == 0)
		return why_not ? why_not : join_is_large;
	job->spec->build_bytes = builds->memory_bytes = bytes;
	builds->memory = large_alloc(CurrentMemoryContext, bytes);
	memset(builds->memory, 0, bytes);
	for (uint32 i = 0; i < job->spec->num_builds && why_not == NULL; i++)
	{
		bool		repeats;

		why_not = fill_from_side(builds, job, i, &repeats);
		/* of builds that are made in rounds, others may have rows that repeat */
		if (!repeats && (builds->num_rounds == 1 || (int) i != builds->large))
			forget_match(job->spec, i);
	}
	join_builds_free_rows(builds);
	return why_not;
}

/* Have memory of so many bytes, of which the first ones stay. */
static void
grow(join_builds *builds, Size bytes, Size kept_bytes)
{
	char	   *memory;

	if (bytes <= builds->memory_bytes)
		return;
	memory = large_alloc(CurrentMemoryContext, bytes);
	memcpy(memory, builds->memory, kept_bytes);
	pfree(builds->memory);
	builds->memory = memory;
	builds->memory_bytes = bytes;
}

const char *
join_builds_fill_round(join_builds *builds, table_job *job)
{
	Size		offset = job->spec->builds[builds->large].offset;
	Size		bytes = join_builds_plan_one(builds, job->spec, builds->large, offset);
	const char *why_not;
	bool		repeats;

	if (bytes == 0)
		return join_is_large;
	grow(builds, bytes, offset);
	job->spec->build_bytes = bytes;
	memset(builds->memory + offset, 0, bytes - offset);
	why_not = fill_from_side(builds, job, builds->large, &repeats);
	join_builds_free_rows(builds);
	return why_not;
}
