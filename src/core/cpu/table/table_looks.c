/*
 * core/cpu/table/table_looks.c
 *		Which conditions of a match, or tests behind it, are comparisons that candidates are looked at for.
 *
 * They stay conditions of the pairs, which compute them once more: a look drops candidates and decides nothing else.  Conditions behind one that is no
 * such comparison are left alone, so that no fault of theirs comes or goes.
 */
#include "core/cpu/table/table_looks.h"

/* The operation of so many that writes a register last, or NULL. */
static const mgpu_program_op *
writer_of(const mgpu_group_spec *spec, uint32_t begin, uint32_t end, uint32_t reg)
{
	while (end-- > begin)
		if (spec->ops[end].to == reg)
			return &spec->ops[end];
	return NULL;
}

/* A comparison's outcomes if its sides change places. */
static int64_t
turned(int64_t outcomes)
{
	return (outcomes & MGPU_IS_EQUAL) | ((outcomes & MGPU_IS_LESS) != 0 ? MGPU_IS_GREATER : 0) | ((outcomes & MGPU_IS_GREATER) != 0 ? MGPU_IS_LESS : 0);
}

/* Whether a comparison's side is a number of the match's row, fetched behind the match. */
static bool
is_fetched(const mgpu_program_op *writer, const mgpu_group_match *match)
{
	return writer != NULL && writer->code == MGPU_RUN_FETCH && writer->number == (int64_t) match->build && writer->from[0] == match->reg;
}

static bool
take_look(const mgpu_group_spec *spec, const mgpu_group_match *match, uint32_t test, uint64_t saved, mgpu_table_look *look)
{
	uint32_t	begin = spec->tests[match->test - 1].end_op;
	const mgpu_program_op *compare = writer_of(spec, begin, spec->tests[test].end_op, spec->tests[test].reg);

	if (compare == NULL || compare->code != MGPU_RUN_COMPARE_INTEGER)
		return false;
	for (int side = 0; side < 2; side++)
	{
		uint32_t	reg = compare->from[side];
		uint32_t	end = (uint32_t) (compare - spec->ops);
		const mgpu_program_op *fetch = writer_of(spec, begin, end, compare->from[1 - side]);

		if (!is_fetched(fetch, match) || writer_of(spec, begin, end, reg) != NULL || (saved >> reg & 1) == 0)
			continue;
		*look = (mgpu_table_look) {.reg = reg,.column = fetch->width,.outcomes = side == 0 ? compare->number : turned(compare->number)};
		return true;
	}
	return false;
}

/* Behind the last test that drops pairs of a match alone: where all pairs go on, the tests behind it do too. */
static uint32_t
end_of(const mgpu_group_spec *spec, const mgpu_group_match *match)
{
	if (match->kind != MGPU_MATCH_PAIRS)
		return mgpu_group_match_end(match);
	return match + 1 < spec->matches + spec->num_matches ? match[1].test : spec->num_tests;
}

void
mgpu_table_plan_looks(const mgpu_group_spec *spec, const mgpu_group_match *match, uint64_t saved, mgpu_table_looks *looks)
{
	uint32_t	end = end_of(spec, match);

	looks->num_looks = 0;
	for (uint32_t test = match->test; test < end && looks->num_looks < MGPU_TABLE_MAX_LOOKS; test++)
	{
		if (!take_look(spec, match, test, saved, &looks->looks[looks->num_looks]))
			return;
		looks->num_looks++;
	}
}

void
mgpu_table_open_looks(mgpu_table_looks *looks, const mgpu_build *build, const char *memory, const mgpu_register *registers)
{
	const char *from = memory + build->offset;

	for (uint32_t i = 0; i < looks->num_looks; i++)
	{
		mgpu_table_look *look = &looks->looks[i];

		look->numbers = registers[look->reg].integers;
		look->states = registers[look->reg].states;
		look->cells = (const int64_t *) (from + mgpu_build_cells_offset(build, look->column));
		look->cell_states = (const uint8_t *) from + mgpu_build_states_offset(build, look->column);
	}
}
