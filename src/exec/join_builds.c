/*
 * join_builds.c
 *		Builds of a table job's joins.
 *
 * The rows of a smaller side are kept as columns first, since their number and the lengths of their texts say how large the
 * build is.  Then the build's program runs for some rows at a time: it makes cells of values as programs of pages do, so that
 * equal ones have equal cells.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/join_builds.h"
#include "large_memory.h"

const char *const join_has_key_twice = "a smaller side of a join has a key twice";
const char *const join_is_large = "a smaller side of a join is larger than work_mem times hash_mem_multiplier for each thread";
const char *const join_is_beyond = "a smaller side of a join has values that are beyond what programs compute";
const char *const join_is_empty = "a smaller side of a join is empty, so that no row is left";

/* ---- reading */

static Size
bytes_of(const chunk *rows)
{
	return rows->num_rows * rows_bytes_of_one(rows) + rows->arena.taken_bytes;
}

/* Read all rows.  false: they are larger than may be. */
static bool
read_rows(source_join *join, chunk *rows, Size most_bytes)
{
	/* what nodes allocate lives longer than the rows */
	MemoryContext caller = MemoryContextSwitchTo(join->rows->state->es_query_cxt);
	bool		fits = true;

	while (fits && row_source_read(join->source, rows))
	{
		CHECK_FOR_INTERRUPTS();
		fits = bytes_of(rows) <= most_bytes && rows->num_rows <= MGPU_BUILD_MAX_ROWS;
	}
	row_source_end_build(join);
	MemoryContextSwitchTo(caller);
	return fits;
}

/* Words that hold the longest text of a column, at least one; more than there may be, if none do. */
static int
words_of(const chunk *rows, const column *col)
{
	Size		longest = 0;

	if (col->type->store != COLUMN_VARLENA)
		return 1;
	for (uint64 row = 0; row < rows->num_rows; row++)
		if (!column_is_null(col, row))
			longest = Max(longest, VARSIZE_ANY_EXHDR(cell_element(col->type, col->cells, row)));
	return (int) Min(longest / sizeof(uint64) + 1, MOST_CELLS + 1);
}

static int *
words_of_columns(const chunk *rows)
{
	int		   *words = palloc(rows->num_columns * sizeof(int) + 1);

	for (int i = 0; i < rows->num_columns; i++)
		words[i] = words_of(rows, &rows->columns[i]);
	return words;
}

/* Whether the smaller sides are expected to fit in memory. */
static bool
are_expected_to_fit(const join_builds *builds)
{
	double		bytes = 0;
	ListCell   *cell;

	foreach(cell, row_source_joins(builds->source))
	{
		const Plan *plan = ((const source_join *) lfirst(cell))->rows->plan;

		bytes += plan->plan_rows * BUILD_ROW_BYTES(plan->plan_width);
	}
	return bytes <= join_path_memory();
}

const char *
join_builds_read(join_builds *builds)
{
	Size		most_bytes = (Size) join_path_memory();
	ListCell   *cell;

	if (!are_expected_to_fit(builds))
		return join_is_large;
	foreach(cell, row_source_joins(builds->source))
	{
		source_join *join = lfirst(cell);
		chunk	   *rows = rows_create_for(CurrentMemoryContext, join->rows);
		bool		fits;

		builds->chunks = lappend(builds->chunks, rows);
		builds->is_read = true;
		fits = read_rows(join, rows, most_bytes);
		if (!fits)
			return join_is_large;
		/* PostgreSQL's join looks at no other row */
		if (rows->num_rows == 0 && (join->node->js.jointype == JOIN_INNER || join->node->js.jointype == JOIN_SEMI))
			return join_is_empty;
		most_bytes -= bytes_of(rows);
		builds->num_joins++;
		builds->num_rows += rows->num_rows;
		join->words = words_of_columns(rows);
	}
	return NULL;
}

/* ---- filling */

/* A build that is filled. */
typedef struct build_filler
{
	const table_build *from;
	const mgpu_build *build;
	char	   *memory;
	const chunk *rows;
	ExprContext *context;
	mgpu_program_input *inputs;
	const char **values;		/* of the rows at hand: of each input */
	uint16		numbers[TABLE_BUILD_STEP_ROWS];
	uint64		keys[TABLE_BUILD_STEP_ROWS];
	uint8		states[TABLE_BUILD_STEP_ROWS];
} build_filler;

/* Where the values of some rows are. */
static void
point_to_values(build_filler *filler, uint64 first, uint32 num_rows)
{
	for (int i = 0; i < expr_program_num_inputs(filler->from->program); i++)
	{
		const column *col = &filler->rows->columns[expr_program_attribute(filler->from->program, i) - 1];
		const char **values = filler->values + (Size) i * TABLE_BUILD_STEP_ROWS;

		for (uint32 row = 0; row < num_rows; row++)
			values[row] = column_is_null(col, first + row) ? NULL : cell_element(col->type, col->cells, first + row);
		filler->inputs[i].values = values;
	}
}

/* Keys of the rows that were computed: the state is the largest of a key's cells'.  Their slots, which lie anywhere, are asked for. */
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
		if (cell != expr_program_truths(from->program, from->keys[i])[row])
			return false;
	}
	return true;
}

/* Put the cells of a row that was computed. */
static const char *
put_cells(const build_filler *filler, uint32 row, uint32 number)
{
	const table_build *from = filler->from;

	for (int i = 0; i < from->num_cells; i++)
	{
		uint8		state = expr_program_states(from->program, from->cells[i])[row];

		if (state == MGPU_IS_FAULT)
			return join_is_beyond;
		mgpu_build_put(filler->build, filler->memory, i, number, expr_program_truths(from->program, from->cells[i])[row],
					   state == MGPU_IS_NULL);
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
	for (uint64 first = 0; first < filler->rows->num_rows && why_not == NULL; first += TABLE_BUILD_STEP_ROWS)
	{
		uint32		num_rows = Min(filler->rows->num_rows - first, TABLE_BUILD_STEP_ROWS);

		CHECK_FOR_INTERRUPTS();
		point_to_values(filler, first, num_rows);
		if (!expr_program_run(filler->from->program, filler->context, filler->inputs, filler->numbers, num_rows))
			return join_is_beyond;
		find_keys(filler, num_rows);
		for (uint32 row = 0; row < num_rows && why_not == NULL; row++)
			why_not = put_row(filler, row, first + row);
	}
	return why_not;
}

/* Describe all builds.  The size of their memory; 0: they are too large. */
static Size
plan_builds(const join_builds *builds, mgpu_group_spec *spec)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < spec->num_builds; i++)
	{
		const chunk *rows = list_nth(builds->chunks, i);

		bytes = mgpu_build_plan(&spec->builds[i], bytes, rows->num_rows, spec->builds[i].num_columns);
		if (bytes == 0 || bytes > join_path_memory())
			return 0;
	}
	return spec->build_bytes = bytes;
}

static void
free_rows(join_builds *builds)
{
	ListCell   *cell;

	foreach(cell, builds->chunks)
		chunk_free(lfirst(cell));
	builds->chunks = NIL;
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
		const source_join *join = list_nth(row_source_joins(builds->source), i);
		int			num_inputs = expr_program_num_inputs(job->builds[i].program);
		build_filler filler = {
			.from = &job->builds[i],
			.build = &job->spec->builds[i],
			.memory = builds->memory,
			.rows = list_nth(builds->chunks, i),
			.context = join->node->js.ps.ps_ExprContext,
			.inputs = palloc(num_inputs * sizeof(mgpu_program_input) + 1),
			.values = palloc(num_inputs * TABLE_BUILD_STEP_ROWS * sizeof(char *) + 1)
		};

		why_not = fill_build(&filler);
	}
	free_rows(builds);
	return why_not;
}

void
join_builds_forget(join_builds *builds)
{
	ListCell   *cell;

	free_rows(builds);
	if (builds->memory)
		pfree(builds->memory);
	builds->memory = NULL;
	foreach(cell, row_source_joins(builds->source))
		((source_join *) lfirst(cell))->words = NULL;
}
