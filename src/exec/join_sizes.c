/*
 * join_sizes.c
 *		How large the builds of a table job's joins are, and their columns: as is expected, and once their sides are read.
 *
 * A build whose keys lie close together is dense (core/build.h), so what they lie between is found before it is planned.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/join_builds.h"
#include "expr/expr_builds.h"
#include "run/run_table.h"

/* ---- expected */

bool
join_builds_plan_rounds(join_builds *builds)
{
	build_size *sizes = palloc(list_length(builds->sides) * sizeof(build_size) + 1);
	const build_side *large;
	ListCell   *cell;

	foreach(cell, builds->sides)
	{
		const source_join *join = ((const build_side *) lfirst(cell))->join;
		const Plan *plan = join->rows->plan;

		sizes[foreach_current_index(cell)] = (build_size) {
			.num_rows = plan->plan_rows,.width = plan->plan_width,.is_dense = join_path_is_dense(((const HashJoin *) join->node->js.ps.plan)->hashclauses)
		};
	}
	builds->num_rounds = join_path_rounds(sizes, list_length(builds->sides), &builds->large);
	large = list_nth(builds->sides, builds->large);
	large->join->num_rounds = builds->num_rounds;
	return builds->num_rounds == 1 || (builds->num_rounds > 1 && large->by_job);
}

/* ---- read */

void
join_builds_find_range(build_side *side, const table_build *build)
{
	int			column = side->cells.of_outputs[build->keys[0]];
	const int64 *cells = side->cells.columns[column];

	side->has_range = build->num_keys == 1;
	side->least = PG_INT64_MAX;
	side->greatest = PG_INT64_MIN;
	for (uint64 row = 0; side->has_range && row < side->num_rows; row++)
	{
		bool		is_null = (side->cells.marks[row] >> column & 1) != 0;

		side->least = is_null ? side->least : Min(side->least, cells[row]);
		side->greatest = is_null ? side->greatest : Max(side->greatest, cells[row]);
	}
}

/* The most digits that numerics show behind the point, as programs may have them. */
static int
digits_of(const chunk *rows, const column *col)
{
	int			most = 1;

	for (uint64 row = 0; row < rows->num_rows; row++)
		if (!column_is_null(col, row))
			most = Max(most, expr_shown_digits(cell_element(col->type, col->cells, row)));
	return Min(most, EXPR_MOST_SHOWN);
}

/* Words that hold the longest text of a column, at least one, or TABLE_BUILD_NAMED; of numerics, digits. */
static int
words_of(const chunk *rows, const column *col)
{
	bool		is_inet = expr_type_is_inet(getBaseType(col->type->element.type_id));
	Size		longest = 0;

	if (col->type->element.type_id == NUMERICOID)
		return digits_of(rows, col);
	if (col->type->store != COLUMN_VARLENA)
		return 1;
	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		const void *value = column_is_null(col, row) ? NULL : cell_element(col->type, col->cells, row);

		if (value)
			longest = Max(longest, is_inet ? (Size) expr_inet_length(value) : VARSIZE_ANY_EXHDR(value));
	}
	return (int) Min(longest / sizeof(uint64) + 1, TABLE_BUILD_NAMED);
}

int *
join_builds_words(const chunk *rows, const int *expected)
{
	int		   *words = palloc(rows->num_columns * sizeof(int) + 1);

	for (int i = 0; i < rows->num_columns; i++)
		words[i] = Max(words_of(rows, &rows->columns[i]), expected ? expected[i] : 1);
	return words;
}

/* Describe a side's build, of which the columns are known, at an offset.  The size of the memory up to its end; 0: it is too large. */
static uint64
plan_side(const build_side *side, mgpu_build *build, uint64 offset)
{
	uint64		bytes = mgpu_build_plan(build, offset, side->num_rows, build->num_columns, build->has_next != 0);

	return bytes > 0 && side->has_range ? mgpu_build_condense(build, side->least, side->greatest) : bytes;
}

Size
join_builds_plan_one(const join_builds *builds, mgpu_group_spec *spec, int number, Size offset)
{
	uint64		bytes = plan_side(list_nth(builds->sides, number), &spec->builds[number], offset);

	return bytes <= run_table_memory() ? bytes : 0;
}

Size
join_builds_plan(const join_builds *builds, mgpu_group_spec *spec)
{
	Size		bytes = 0;

	for (int i = 0; i < list_length(builds->sides); i++)
		if (i != builds->large && (bytes = join_builds_plan_one(builds, spec, i, bytes)) == 0)
			return 0;
	return join_builds_plan_one(builds, spec, builds->large, bytes);
}

bool
join_builds_fit(const join_builds *builds, const table_job *job)
{
	mgpu_group_spec *planned = palloc(sizeof(mgpu_group_spec));
	bool		fit;

	*planned = *job->spec;
	fit = join_builds_plan(builds, planned) > 0;
	pfree(planned);
	return fit;
}

double
join_builds_bytes(const join_builds *builds, const table_job *job, int number)
{
	mgpu_build	build = job->spec->builds[number];
	double		bytes = plan_side(list_nth(builds->sides, number), &build, 0);

	return bytes * (builds->large == number ? builds->num_rounds : 1);
}

int
join_builds_rounds(const join_builds *builds, const table_job *job, int number)
{
	double		memory = run_table_memory();

	for (int i = 0; i < list_length(builds->sides); i++)
		memory -= i == number ? 0 : join_builds_bytes(builds, job, i);
	return join_path_rounds_of_bytes(join_builds_bytes(builds, job, number), memory);
}
