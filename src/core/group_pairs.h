/*
 * group_pairs.h
 *		The rows that one row of a page becomes by its matches (mgpu_group_match), one after the other: what a GPU's thread does.
 *
 * A thread goes from match to match, and at each from row to row of the build, as nested loops would: down when a pair meets the conditions
 * and the tests behind it, up when there is no other pair.  Pairs come in the order in which a hash join of PostgreSQL's returns them.  Registers
 * are taken by what comes behind a match, so for each pair but the first the operations up to its match run once more.  To save registers, as
 * threads of the CPU do for vectors of rows (cpu/table/table_matches.c), was rejected: a GPU's thread has them in slow memory.
 *
 * Header-only, C11 and CUDA C++.
 */
#ifndef MGPU_GROUP_PAIRS_H
#define MGPU_GROUP_PAIRS_H

#include "core/group_row.h"

/* Where a row is among its pairs. */
typedef struct mgpu_row_pairs
{
	uint8_t    *marked;			/* of each row of the first match's build, if that has rows to add */
	int64_t		next[MGPU_GROUP_MAX_BUILDS];	/* of each match: the build's row that it meets next, or -1 ... */
	int64_t		at[MGPU_GROUP_MAX_BUILDS];	/* ... and the one at hand, or -1 */
	uint32_t	first;			/* the first match that has pairs */
	uint32_t	level;			/* the match at hand */
	uint32_t	has_match;		/* a bit for each match: so far */
	uint32_t	is_alone;		/* ... the row comes without a row of the build */
	bool		goes_down;
	bool		is_fresh;		/* registers are as they were when the match was found */
	bool		is_fault;
} mgpu_row_pairs;

/* A row of a page, whose inputs are found.  marked: NULL, if no rows are added. */
MGPU_CODEC void
mgpu_begin_row(mgpu_row_pairs *pairs, uint8_t *marked)
{
	pairs->marked = marked;
	pairs->first = pairs->level = 0;
	pairs->has_match = pairs->is_alone = 0;
	pairs->goes_down = true;
	pairs->is_fresh = pairs->is_fault = false;
}

/* Operations of some tests.  checks: up to the first that the row fails; else they all run. */
MGPU_CODEC_ONCE mgpu_row_fate
mgpu_run_row_tests(const mgpu_group_spec *spec, const mgpu_row_program *program, uint32_t first, uint32_t end, bool checks, mgpu_row_frame *frame)
{
	uint32_t	begin = first > 0 ? spec->tests[first - 1].end_op : 0;
	mgpu_row_fate fate = MGPU_ROW_KEPT;

	for (uint32_t i = first; i < end && fate == MGPU_ROW_KEPT; i++)
	{
		mgpu_run_row_ops(program, begin, spec->tests[i].end_op, frame);
		begin = spec->tests[i].end_op;
		if (checks)
			fate = mgpu_fate_of_row(program, spec->tests[i].reg, frame);
	}
	return fate;
}

/* The columns of a row that has met all tests. */
MGPU_CODEC void
mgpu_run_row_columns(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_frame *frame)
{
	mgpu_run_row_ops(program, mgpu_group_tests_end(spec), spec->num_ops, frame);
}

/* Have a match be with this row of its build, or with none. */
MGPU_CODEC void
mgpu_set_match(const mgpu_row_program *program, const mgpu_group_match *match, int64_t row, mgpu_row_frame *frame)
{
	mgpu_row_register *reg = &frame->registers[match->reg - program->num_constants];

	reg->integers[0] = row;
	reg->states[0] = row < 0 ? MGPU_IS_NULL : MGPU_IS_VALUE;
}

/* Have the registers be as they were when the match at hand was found. */
MGPU_CODEC void
mgpu_restore_row(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	uint32_t	test = 0;

	for (uint32_t i = 0; !pairs->is_fresh && i <= pairs->level; i++)
	{
		(void) mgpu_run_row_tests(spec, program, test, spec->matches[i].test, false, frame);
		test = spec->matches[i].test;
		if (i < pairs->level)
			mgpu_set_match(program, &spec->matches[i], pairs->at[i], frame);
	}
	pairs->is_fresh = false;
}

/* Have the match at hand be with a row of its build, or with none.  checks: conditions count; they run anyway, for they may be read behind them. */
MGPU_CODEC_ONCE mgpu_row_fate
mgpu_make_pair(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_pairs *pairs, int64_t row, bool checks, mgpu_row_frame *frame)
{
	const mgpu_group_match *match = &spec->matches[pairs->level];

	mgpu_restore_row(spec, program, pairs, frame);
	mgpu_set_match(program, match, row, frame);
	pairs->at[pairs->level] = row;
	return mgpu_run_row_tests(spec, program, match->test, mgpu_group_match_end(match), checks, frame);
}

/* The pair meets the conditions: whether it is a row. */
MGPU_CODEC bool
mgpu_take_pair(const mgpu_group_spec *spec, mgpu_row_pairs *pairs)
{
	const mgpu_group_match *match = &spec->matches[pairs->level];
	int64_t		row = pairs->at[pairs->level];

	pairs->has_match |= 1u << pairs->level;
	if (match->adds != MGPU_ADDS_NOTHING && row < (int64_t) spec->builds[match->build].num_rows)
		pairs->marked[row] = 1;
	/* one match is enough */
	if (match->kind == MGPU_MATCH_SOME || match->kind == MGPU_MATCH_NONE)
		pairs->next[pairs->level] = -1;
	return match->kind <= MGPU_MATCH_ALL;
}

/* No other pair is there: whether the row comes without a row of the build. */
MGPU_CODEC bool
mgpu_comes_alone(const mgpu_group_match *match, bool has_match)
{
	return has_match ? match->kind == MGPU_MATCH_SOME : match->kind == MGPU_MATCH_ALL || match->kind == MGPU_MATCH_NONE;
}

/* The next pair of the match at hand, or the row alone.  false: there is none. */
MGPU_CODEC bool
mgpu_next_pair(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	uint32_t	level = pairs->level;
	const mgpu_group_match *match = &spec->matches[level];
	const mgpu_build *build = &spec->builds[match->build];

	while (pairs->next[level] >= 0)
	{
		int64_t		row = pairs->next[level];
		mgpu_row_fate fate = mgpu_make_pair(spec, program, pairs, row, true, frame);

		pairs->next[level] = build->has_next ? mgpu_build_next(build, program->build_memory, row) : -1;
		pairs->is_fault |= fate == MGPU_ROW_FAULT;
		if (pairs->is_fault)
			return false;
		if (fate == MGPU_ROW_KEPT && mgpu_take_pair(spec, pairs))
			return true;
	}
	if ((pairs->is_alone >> level & 1) != 0 || !mgpu_comes_alone(match, (pairs->has_match >> level & 1) != 0))
		return false;
	pairs->is_alone |= 1u << level;
	(void) mgpu_make_pair(spec, program, pairs, -1, false, frame);
	return true;
}

/* Meet the tests up to the next match, and find its first row; behind the last match, all tests that are left.  false: one fails. */
MGPU_CODEC bool
mgpu_go_down(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	uint32_t	level = pairs->level;
	bool		is_last = level == spec->num_matches;
	uint32_t	begin = level > 0 ? mgpu_group_match_end(&spec->matches[level - 1]) : 0;
	mgpu_row_fate fate = mgpu_run_row_tests(spec, program, begin, is_last ? spec->num_tests : spec->matches[level].test, true, frame);
	const mgpu_row_register *reg;

	pairs->is_fault |= fate == MGPU_ROW_FAULT;
	if (is_last || fate != MGPU_ROW_KEPT)
		return fate == MGPU_ROW_KEPT;
	reg = &frame->registers[spec->matches[level].reg - program->num_constants];
	pairs->next[level] = reg->states[0] == MGPU_IS_VALUE ? reg->integers[0] : -1;
	pairs->has_match &= ~(1u << level);
	pairs->is_alone &= ~(1u << level);
	pairs->is_fresh = true;
	return true;
}

/* The next row that the row becomes: its tests have run, its columns have not.  false: there is none, or a fault. */
MGPU_CODEC bool
mgpu_next_row(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	for (;;)
	{
		bool		is_met = pairs->goes_down ? mgpu_go_down(spec, program, pairs, frame) :
			pairs->level < spec->num_matches && mgpu_next_pair(spec, program, pairs, frame);
		bool		is_row = is_met && pairs->goes_down && pairs->level == spec->num_matches;

		if (pairs->is_fault)
			return false;
		if (!is_met && pairs->level == pairs->first)
			return false;
		/* up, where the level is left; down behind a pair; to the pairs of a match that was found */
		if (!is_met)
			pairs->level--;
		else if (!pairs->goes_down)
			pairs->level++;
		pairs->goes_down = is_met && !pairs->goes_down;
		if (is_row)
			return true;
	}
}

/* A row of the first match's build that comes itself, with NULL for what the page has.  What it becomes by other matches comes next. */
MGPU_CODEC void
mgpu_begin_added_row(const mgpu_group_spec *spec, const mgpu_row_program *program, int64_t row, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	for (uint32_t i = 0; i < spec->num_inputs; i++)
		frame->inputs[i] = NULL;
	mgpu_begin_row(pairs, NULL);
	(void) mgpu_make_pair(spec, program, pairs, row, false, frame);
	pairs->first = pairs->level = 1;
}

/* Whether a row of the first match's build comes itself. */
MGPU_CODEC bool
mgpu_is_added(const mgpu_group_spec *spec, const uint8_t *marked, uint64_t row)
{
	return (marked[row] != 0) == (spec->matches[0].adds == MGPU_ADDS_MATCHED);
}

/* Rows that may come so. */
MGPU_CODEC uint32_t
mgpu_num_added(const mgpu_group_spec *spec)
{
	return spec->num_matches > 0 && spec->matches[0].adds != MGPU_ADDS_NOTHING ? spec->builds[spec->matches[0].build].num_rows : 0;
}

#endif							/* MGPU_GROUP_PAIRS_H */
