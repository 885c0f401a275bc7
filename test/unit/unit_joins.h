/*
 * unit_joins.h
 *		Random jobs of MGPU_OP_GROUP whose rows are joined with those of a build, and how many rows they have.
 *
 * A column of integers is looked up in the build, in one half of all cases another one too.  C11 and CUDA C++.
 */
#ifndef MGPU_UNIT_JOINS_H
#define MGPU_UNIT_JOINS_H

#include "unit_group.h"

typedef struct join_case
{
	uint32_t	columns[2];		/* of integers, which are looked up */
	uint32_t	num_matches;	/* 1 or 2: of the second, all pairs are rows, and rows without one too */
	uint32_t	repeats;		/* rows of the build with each key; 0: these differ, and the spec says so */
	uint32_t	kind;			/* mgpu_match_kind */
	bool		has_condition;	/* the build's cell is not NULL */
	uint32_t	adds;			/* mgpu_match_adds: and which rows of the build */
} join_case;

static inline int64_t
join_key_of(const join_case *join, uint32_t row)
{
	return group_build_key(join->repeats > 0 ? row / join->repeats : row);
}

/* The build of a case, with keys that may repeat. */
static inline void
join_make_build(group_case *job, const join_case *join)
{
	mgpu_build *build = &job->spec.builds[0];
	char	   *memory = (char *) job->build;

	group_make_build(job);
	memset(job->build, 0, sizeof(job->build));
	job->spec.build_bytes = mgpu_build_plan(build, 0, GROUP_BUILD_ROWS, 1, join->repeats > 0);
	if (group_below(job, 2) == 0)
		job->spec.build_bytes = mgpu_build_condense(build, join_key_of(join, 0), join_key_of(join, GROUP_BUILD_ROWS - 1));
	for (uint32_t row = 0; build->is_dense && row < GROUP_BUILD_ROWS; row++)
		mgpu_build_mark(build, memory, (uint64_t) join_key_of(join, row));
	if (build->is_dense)
		mgpu_build_number(build, memory);
	for (uint32_t row = 0; row < GROUP_BUILD_ROWS; row++)
	{
		(void) mgpu_build_add(build, memory, (uint64_t) join_key_of(join, row), row);
		mgpu_build_put(build, memory, 0, row, group_build_cell(row), group_build_is_null(row));
	}
}

/* One more test, of what the last operation gives. */
static inline void
join_add_test(mgpu_group_spec *spec, uint32_t reg)
{
	spec->tests[spec->num_tests].reg = reg;
	spec->tests[spec->num_tests++].end_op = spec->num_ops;
}

static inline uint16_t
join_add_op(mgpu_group_spec *spec, int code, uint32_t width, int64_t number, uint16_t from)
{
	uint16_t	to = (uint16_t) group_add_op(spec, code, width, number, MGPU_LANE_INTEGER);

	spec->ops[spec->num_ops - 1].from[0] = from;
	return to;
}

/* Have a column be looked up, by a match or not. */
static inline void
join_add_look_up(group_case *job, const join_case *join, uint32_t column, mgpu_group_match match, bool is_found)
{
	mgpu_group_spec *spec = &job->spec;
	uint16_t	reg = (uint16_t) spec->columns[column].reg;
	uint16_t	row = join_add_op(spec, MGPU_RUN_LOOKUP, 8, 0, reg);

	join_add_test(spec, is_found ? join_add_op(spec, MGPU_RUN_IS_NOT_NULL, 0, 0, row) : join_add_op(spec, MGPU_RUN_IN_ROUND, 0, 1, reg));
	match.test = spec->num_tests;
	match.reg = row;
	if (match.num_conditions > 0)
		join_add_test(spec, join_add_op(spec, MGPU_RUN_IS_NOT_NULL, 0, 0, join_add_op(spec, MGPU_RUN_FETCH, 0, 0, row)));
	if (join->repeats > 0 || match.adds != MGPU_ADDS_NOTHING || match.num_conditions > 0)
		spec->matches[spec->num_matches++] = match;
}

/* A column of integers that is looked up, from one on.  false: there is none. */
static inline bool
join_find_column(const mgpu_group_spec *spec, uint32_t from, uint32_t *column)
{
	for (*column = from; *column < spec->num_columns; ++*column)
	{
		if (spec->columns[*column].kind == MGPU_KEY_SIGNED)
			return true;
	}
	return false;
}

/* Have the first columns of integers be looked up.  false: there is none, or the case has tests or computed columns. */
static inline bool
join_look_up(group_case *job, join_case *join)
{
	mgpu_group_match match = {};
	mgpu_group_match second = {};

	if (job->num_filters > 0 || job->num_computed > 0 || !join_find_column(&job->spec, 0, &join->columns[0]))
		return false;
	match.kind = join->kind;
	match.num_conditions = join->has_condition;
	match.adds = join->adds;
	if (join->num_matches == 2 && !join_find_column(&job->spec, join->columns[0] + 1, &join->columns[1]))
		join->num_matches = 1;
	for (uint32_t i = 0; i < join->num_matches; i++)
		job->domains[join->columns[i]] = 1 + group_below(job, 200);
	join_make_build(job, join);
	join_add_look_up(job, join, join->columns[0], match,
					 join->kind == MGPU_MATCH_PAIRS || join->kind == MGPU_MATCH_SOME || join->kind == MGPU_MATCH_MARKS);
	second.kind = MGPU_MATCH_ALL;
	if (join->num_matches == 2)
		join_add_look_up(job, join, join->columns[1], second, false);
	return true;
}

/* Of a case that is random but for its pages. */
static inline bool
join_random_case(group_case *job, uint64_t seed, join_case *join)
{
	static const uint32_t repeats[] = {0, 0, 3, 80};

	memset(join, 0, sizeof(*join));
	join->num_matches = 1 + seed / 64 % 2;
	join->kind = seed % 4;
	join->repeats = repeats[seed / 4 % 4];
	join->has_condition = seed % 4 > MGPU_MATCH_ALL || seed % 32 < 16;
	if (join->kind <= MGPU_MATCH_ALL && seed % 64 < 32)
		join->adds = MGPU_ADDS_UNMATCHED;
	else if (seed % 64 >= 48)
	{
		join->kind = MGPU_MATCH_MARKS;
		join->adds = seed % 4 < 2 ? MGPU_ADDS_UNMATCHED : MGPU_ADDS_MATCHED;
		join->has_condition = seed % 2 == 0;
	}
	return join_look_up(job, join);
}

/* Matches of a row by its column; of each row of the build, whether one has matched it. */
static inline uint64_t
join_count_matches(const group_case *job, const join_case *join, const group_row *row, uint32_t column, bool has_condition, bool *matched)
{
	uint64_t	count = 0;

	for (uint32_t i = 0; i < GROUP_BUILD_ROWS && (row->nulls >> column & 1) == 0; i++)
	{
		bool		is_match = join_key_of(join, i) == group_integer_of(job, row, column) && !(has_condition && group_build_is_null(i));

		count += is_match;
		matched[i] |= is_match;
	}
	return count;
}

/* How many rows a join has: pairs, rows of the table, and rows of the build, which have no second match. */
static inline uint64_t
join_count_rows(const group_case *job, const join_case *join)
{
	bool		matched[GROUP_BUILD_ROWS] = {false};
	bool		unused[GROUP_BUILD_ROWS] = {false};
	uint64_t	count = 0;

	for (uint64_t i = 0; i < job->num_rows; i++)
	{
		uint64_t	num_matches = join_count_matches(job, join, &job->rows[i], join->columns[0], join->has_condition, matched);
		uint64_t	num_second = join->num_matches < 2 ? 0 : join_count_matches(job, join, &job->rows[i], join->columns[1], false, unused);
		uint64_t	num_rows = join->kind <= MGPU_MATCH_ALL ? num_matches : num_matches > 0 ? join->kind == MGPU_MATCH_SOME : 0;

		if (num_matches == 0 && (join->kind == MGPU_MATCH_ALL || join->kind == MGPU_MATCH_NONE))
			num_rows = 1;
		count += num_rows * (num_second > 0 ? num_second : 1);
	}
	for (uint32_t row = 0; row < GROUP_BUILD_ROWS; row++)
		count += join->adds == (matched[row] ? MGPU_ADDS_MATCHED : MGPU_ADDS_UNMATCHED);
	return count;
}

#endif							/* MGPU_UNIT_JOINS_H */
