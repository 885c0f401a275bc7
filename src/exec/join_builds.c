/*
 * join_builds.c
 *		The smaller sides of a table job's joins: read, by jobs of their own or row by row.
 *
 * A job returns the cells that a build is filled with.  How long texts are is an estimate then: if one is longer, or a side is no table's,
 * its rows are kept as columns first, since their number and the lengths of their texts say how large the build is.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/join_builds.h"
#include "expr/expr_builds.h"
#include "run/run_table.h"

const char *const join_is_large = "a smaller side of a join is larger than work_mem times hash_mem_multiplier for each process";
const char *const join_is_larger = "a smaller side of a join is larger than the table that it is joined with";
const char *const join_is_beyond = "a smaller side of a join has values that are beyond what programs compute";
const char *const join_is_empty = "a smaller side of a join is empty, so that no row is left";

/* ---- sides */

/* Whether a job is to read a side. */
static bool
is_by_job(const source_join *join)
{
	return table_job_reads_build(row_source_rows(join->source)) && row_source_readers(join->source) != NIL;
}

/* Words of texts, by statistics: also of the joins that a side has, so that its job has the cells that are wanted of it. */
static int *
expected_words(const source_join *join)
{
	int			num_columns = list_length(join->rows->plan->targetlist);
	ListCell   *cell;
	int		   *words;

	foreach(cell, row_source_joins(join->source))
	{
		source_join *below = lfirst(cell);

		below->words = expected_words(below);
		below->one_by_one = !is_by_job(below);
	}
	if (row_source_readers(join->source) != NIL)
	{
		table_scan	scan = row_source_scan(join->source, 0);

		return table_job_build_words(&scan);
	}
	words = palloc(num_columns * sizeof(int) + 1);
	for (int i = 0; i < num_columns; i++)
		words[i] = EXPR_USUAL_WORDS;
	return words;
}

static void
add_sides(join_builds *builds)
{
	ListCell   *cell;

	foreach(cell, row_source_joins(builds->source))
	{
		source_join *join = lfirst(cell);
		build_side *side = palloc0(sizeof(build_side));

		*side = (build_side) {.join = join,.by_job = is_by_job(join)};
		join->one_by_one = !side->by_job;
		/* of a side that has joins, the job that wants it has set them */
		if (join->words == NULL && side->by_job)
			join->words = expected_words(join);
		builds->sides = lappend(builds->sides, side);
	}
}

/* Whether a side that is read row by row is expected to be larger than the table, so that PostgreSQL's plan is none of a table and smaller sides. */
static bool
some_are_larger(const join_builds *builds)
{
	double		num_read = row_source_rows(builds->source);
	ListCell   *cell;

	foreach(cell, builds->sides)
		if (!((const build_side *) lfirst(cell))->by_job && ((const build_side *) lfirst(cell))->join->rows->plan->plan_rows > num_read)
			return true;
	return false;
}

const char *
join_builds_start(join_builds *builds)
{
	add_sides(builds);
	builds->left_bytes = (Size) run_table_memory();
	if (some_are_larger(builds))
		return join_is_larger;
	return join_builds_plan_rounds(builds) ? NULL : join_is_large;
}

/* A side has been read.  Returns NULL, or why there is no job. */
static const char *
end_side(join_builds *builds, build_side *side, uint64 num_rows, Size bytes)
{
	JoinType	type = side->join->node->js.jointype;

	/* PostgreSQL's join looks at no other row */
	if (num_rows == 0 && builds->num_rounds == 1 && (type == JOIN_INNER || type == JOIN_SEMI || side->join->is_turned))
		return join_is_empty;
	builds->num_joins += !side->is_read;
	builds->num_by_jobs += !side->is_read && side->by_job;
	builds->num_rows += num_rows;
	side->is_read = true;
	side->num_rows = num_rows;
	side->bytes = Min(bytes, builds->left_bytes);
	builds->left_bytes -= side->bytes;
	return NULL;
}

/* ---- row by row */

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

const char *
join_builds_read_rows(join_builds *builds)
{
	const char *why_not = NULL;
	ListCell   *cell;

	foreach(cell, builds->sides)
	{
		build_side *side = lfirst(cell);

		if (side->by_job || side->is_read)
			continue;
		side->rows = rows_create_for(CurrentMemoryContext, side->join->rows);
		builds->is_read = true;
		if (!read_rows(side->join, side->rows, builds->left_bytes))
			return join_is_large;
		why_not = end_side(builds, side, side->rows->num_rows, bytes_of(side->rows));
		if (why_not)
			return why_not;
		side->join->words = join_builds_words(side->rows, side->join->words);
	}
	return NULL;
}

/* ---- by jobs */

static void
free_cells(build_side *side)
{
	if (side->cells.context)
		MemoryContextDelete(side->cells.context);
	side->cells = (build_cells) {0};
}

/* Forget the cells of a side, which is read once more: by a job, or row by row. */
static void
read_again(join_builds *builds, build_side *side, bool by_job)
{
	builds->num_joins -= side->is_read;
	builds->num_by_jobs -= side->is_read;
	builds->num_rows -= side->is_read ? side->num_rows : 0;
	builds->left_bytes += side->bytes;
	free_cells(side);
	*side = (build_side) {.join = side->join,.by_job = by_job};
	side->join->words = by_job ? expected_words(side->join) : NULL;
	side->join->one_by_one = !by_job;
	/* what is read row by row is read once */
	if (!by_job && side == list_nth(builds->sides, builds->large))
		side->join->num_rounds = builds->num_rounds = 1;
}

/* Have a side be read row by row; NULL: all.  Others' cells may be others then.  false: no job was to read any. */
static bool
give_up(join_builds *builds, const build_side *failed)
{
	bool		had_some = false;
	ListCell   *cell;

	foreach(cell, builds->sides)
	{
		build_side *side = lfirst(cell);

		if (!side->by_job)
			continue;
		had_some = true;
		read_again(builds, side, failed && side != failed);
	}
	return had_some;
}

/* The number of the side whose build is the largest one of those that jobs have read; -1: they have read none. */
static int
largest_by_job(const join_builds *builds, const table_job *job)
{
	double		most_bytes = 0;
	int			largest = -1;

	for (int i = 0; i < list_length(builds->sides); i++)
	{
		double		bytes = join_builds_bytes(builds, job, i);

		if (!((const build_side *) list_nth(builds->sides, i))->by_job || bytes < most_bytes)
			continue;
		largest = i;
		most_bytes = bytes;
	}
	return largest;
}

/*
 * Have a side be made in as many rounds as it takes, so many at least: it has more rows than expected, or wider ones.  All cells may be others then.
 * false: that is no way.
 */
static bool
take_more_rounds(join_builds *builds, const table_job *job, int large, int least_rounds)
{
	int			fitting = large < 0 ? 0 : join_builds_rounds(builds, job, large);
	int			num_rounds = Max(fitting, least_rounds);
	ListCell   *cell;

	if (fitting == 0 || num_rounds <= builds->num_rounds || num_rounds > MGPU_BUILD_MAX_ROUNDS)
		return false;
	((build_side *) list_nth(builds->sides, builds->large))->join->num_rounds = 1;
	((build_side *) list_nth(builds->sides, large))->join->num_rounds = num_rounds;
	builds->large = large;
	builds->num_rounds = num_rounds;
	foreach(cell, builds->sides)
		if (((build_side *) lfirst(cell))->by_job)
			read_again(builds, lfirst(cell), true);
	return true;
}

bool
join_builds_give_jobs_up(join_builds *builds)
{
	return give_up(builds, NULL);
}

/* Returns NULL, or why there is no job at all. */
static const char *
read_cells(join_builds *builds, build_side *side, const table_build *build, build_state *state)
{
	const char *why_not;

	builds->is_read = true;
	*state = builds->read(builds->context, side->join, build, builds->left_bytes, &side->cells);
	row_source_end_build(side->join);
	side->num_rows = side->cells.num_rows;
	if (*state != BUILD_READ)
		return NULL;
	why_not = end_side(builds, side, side->cells.num_rows, side->cells.num_rows * (build->num_keys + build->num_cells) * sizeof(int64));
	join_builds_find_range(side, build);
	return why_not;
}

/* A job could not read a side.  One that is made in rounds is too large to be read row by row. */
static const char *
end_unread(join_builds *builds, const table_job *job, int number, build_state state, bool *again)
{
	bool		may_give_up = state == BUILD_UNREAD && (builds->num_rounds == 1 || number != builds->large);

	if (may_give_up)
		*again = give_up(builds, list_nth(builds->sides, number));
	else
		*again = take_more_rounds(builds, job, number, 2 * builds->num_rounds);
	return *again || may_give_up ? NULL : join_is_large;
}

const char *
join_builds_read_cells(join_builds *builds, const table_job *job, bool *again)
{
	ListCell   *cell;

	*again = false;
	foreach(cell, builds->sides)
	{
		build_side *side = lfirst(cell);
		const char *why_not;
		build_state state;

		if (!side->by_job)
			continue;
		if (job->builds[foreach_current_index(cell)].has_names)
		{
			*again = give_up(builds, side);
			return NULL;
		}
		why_not = read_cells(builds, side, &job->builds[foreach_current_index(cell)], &state);
		if (state != BUILD_READ)
			return end_unread(builds, job, foreach_current_index(cell), state, again);
		if (why_not)
			return why_not;
	}
	*again = !join_builds_fit(builds, job) && take_more_rounds(builds, job, largest_by_job(builds, job), builds->num_rounds + 1);
	return NULL;
}

const char *
join_builds_read_round(join_builds *builds, table_job *job)
{
	build_side *side = list_nth(builds->sides, builds->large);
	const char *why_not;
	build_state state;

	/* the last round has forgotten those of the sides below */
	side->join->words = expected_words(side->join);
	builds->round++;
	job->builds[builds->large].round = builds->round;
	table_job_set_round(job, builds->round);
	builds->left_bytes += side->bytes;
	why_not = read_cells(builds, side, &job->builds[builds->large], &state);
	return state == BUILD_READ ? why_not : join_is_large;
}

void
join_builds_free_rows(join_builds *builds)
{
	ListCell   *cell;

	foreach(cell, builds->sides)
	{
		build_side *side = lfirst(cell);

		if (side->rows)
			chunk_free(side->rows);
		side->rows = NULL;
		free_cells(side);
	}
}

void
join_builds_forget(join_builds *builds)
{
	ListCell   *cell;

	join_builds_free_rows(builds);
	if (builds->memory)
		pfree(builds->memory);
	builds->memory = NULL;
	foreach(cell, builds->sides)
	{
		source_join *join = ((build_side *) lfirst(cell))->join;

		join->words = NULL;
		join->num_rounds = 0;
	}
}
