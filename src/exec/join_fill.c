/*
 * join_fill.c
 *		Builds of a table job's joins: the smaller sides' rows are put into hash tables (core/build.h).
 *
 * Cells come from the job that has read a side, or from the build's program, which runs for some rows at a time: it makes cells of values as
 * programs of pages do, so that equal ones have equal cells.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/join_builds.h"
#include "large_memory.h"

/* A build that is filled. */
typedef struct build_filler
{
	const table_build *from;
	const mgpu_build *build;
	char	   *memory;
	const build_side *side;
	ExprContext *context;
	mgpu_program_input *inputs;
	const char **values;		/* of the rows at hand: of each input */
	uint16		numbers[TABLE_BUILD_STEP_ROWS];
	uint64		keys[TABLE_BUILD_STEP_ROWS];
	uint8		states[TABLE_BUILD_STEP_ROWS];

	/* of the rows at hand: of each output of the program */
	const int64 *cells[TABLE_BUILD_MOST_OUTPUTS];
	const uint8 *cell_states[TABLE_BUILD_MOST_OUTPUTS];
	uint8	   *of_marks;
} build_filler;

/* ---- cells */

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

static void
point_to_output(build_filler *filler, int output)
{
	filler->cells[output] = expr_program_truths(filler->from->program, output);
	filler->cell_states[output] = expr_program_states(filler->from->program, output);
}

/* Cells that a job has returned. */
static void
point_to_returned(build_filler *filler, int output, uint64 first, uint32 num_rows)
{
	const build_cells *cells = &filler->side->cells;
	int			column = cells->of_outputs[output];
	uint8	   *states = filler->of_marks + (Size) output * TABLE_BUILD_STEP_ROWS;

	filler->cells[output] = cells->columns[column] + first;
	filler->cell_states[output] = states;
	for (uint32 row = 0; row < num_rows; row++)
		states[row] = cells->marks[first + row] >> column & 1;
}

/* Have the cells of some rows.  false: they are beyond the program. */
static bool
have_cells(build_filler *filler, uint64 first, uint32 num_rows)
{
	const table_build *from = filler->from;
	bool		is_chunk = filler->side->rows != NULL;

	if (is_chunk)
	{
		point_to_values(filler, first, num_rows);
		if (!expr_program_run(from->program, filler->context, filler->inputs, filler->numbers, num_rows))
			return false;
	}
	for (int i = 0; i < from->num_keys + from->num_cells; i++)
	{
		int			output = i < from->num_keys ? from->keys[i] : from->cells[i - from->num_keys];

		if (is_chunk)
			point_to_output(filler, output);
		else
			point_to_returned(filler, output, first, num_rows);
	}
	return true;
}

/* ---- rows */

/* Keys of the rows at hand: the state is the largest of a key's cells'.  Their slots, which lie anywhere, are asked for. */
static void
find_keys(build_filler *filler, uint32 num_rows)
{
	const table_build *from = filler->from;

	for (int i = 0; i < from->num_keys; i++)
	{
		const int64 *cells = filler->cells[from->keys[i]];
		const uint8 *states = filler->cell_states[from->keys[i]];

		for (uint32 row = 0; row < num_rows; row++)
		{
			filler->keys[row] = i == 0 ? (uint64) cells[row] : mgpu_build_hash(filler->keys[row], (uint64) cells[row]);
			filler->states[row] = i == 0 ? states[row] : Max(filler->states[row], states[row]);
		}
	}
	for (uint32 row = 0; row < num_rows; row++)
		__builtin_prefetch(mgpu_build_slot_of(filler->build, filler->memory, filler->keys[row]));
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
		if (cell != filler->cells[from->keys[i]][row])
			return false;
	}
	return true;
}

/* Put the cells of a row. */
static const char *
put_cells(const build_filler *filler, uint32 row, uint32 number)
{
	const table_build *from = filler->from;

	for (int i = 0; i < from->num_cells; i++)
	{
		uint8		state = filler->cell_states[from->cells[i]][row];

		if (state == MGPU_IS_FAULT)
			return join_is_beyond;
		mgpu_build_put(filler->build, filler->memory, i, number, filler->cells[from->cells[i]][row], state == MGPU_IS_NULL);
	}
	return NULL;
}

/* A row with a NULL in its key is never found. */
static const char *
put_row(const build_filler *filler, uint32 row, uint32 number)
{
	uint32		found;

	if (filler->states[row] != MGPU_IS_VALUE)
		return filler->states[row] == MGPU_IS_FAULT ? join_is_beyond : NULL;
	found = mgpu_build_add(filler->build, filler->memory, filler->keys[row], number);
	if (found == number)
		return put_cells(filler, row, number);
	return filler->from->ignores_repeats && is_same_key(filler, row, found) ? NULL : join_has_key_twice;
}

static const char *
fill_build(build_filler *filler)
{
	const char *why_not = NULL;

	for (int row = 0; row < TABLE_BUILD_STEP_ROWS; row++)
		filler->numbers[row] = row;
	for (uint64 first = 0; first < filler->side->num_rows && why_not == NULL; first += TABLE_BUILD_STEP_ROWS)
	{
		uint32		num_rows = Min(filler->side->num_rows - first, TABLE_BUILD_STEP_ROWS);

		CHECK_FOR_INTERRUPTS();
		if (!have_cells(filler, first, num_rows))
			return join_is_beyond;
		find_keys(filler, num_rows);
		for (uint32 row = 0; row < num_rows && why_not == NULL; row++)
			why_not = put_row(filler, row, first + row);
	}
	return why_not;
}

/* ---- all builds */

/* Describe all builds.  The size of their memory; 0: they are too large. */
static Size
plan_builds(const join_builds *builds, mgpu_group_spec *spec)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < spec->num_builds; i++)
	{
		const build_side *side = list_nth(builds->sides, i);

		bytes = mgpu_build_plan(&spec->builds[i], bytes, side->num_rows, spec->builds[i].num_columns);
		if (bytes == 0 || bytes > join_path_memory())
			return 0;
	}
	return spec->build_bytes = bytes;
}

const char *
join_builds_fill(join_builds *builds, table_job *job)
{
	Size		bytes = plan_builds(builds, job->spec);
	const char *why_not = NULL;

	if (bytes == 0)
		return join_is_large;
	builds->memory = large_alloc(CurrentMemoryContext, bytes);
	memset(builds->memory, 0, bytes);
	for (uint32 i = 0; i < job->spec->num_builds && why_not == NULL; i++)
	{
		const build_side *side = list_nth(builds->sides, i);
		int			num_inputs = expr_program_num_inputs(job->builds[i].program);
		build_filler filler = {
			.from = &job->builds[i],
			.build = &job->spec->builds[i],
			.memory = builds->memory,
			.side = side,
			.context = side->join->node->js.ps.ps_ExprContext,
			.inputs = palloc(num_inputs * sizeof(mgpu_program_input) + 1),
			.values = palloc(num_inputs * TABLE_BUILD_STEP_ROWS * sizeof(char *) + 1),
			.of_marks = palloc(TABLE_BUILD_MOST_OUTPUTS * TABLE_BUILD_STEP_ROWS)
		};

		why_not = fill_build(&filler);
	}
	join_builds_free_rows(builds);
	return why_not;
}
