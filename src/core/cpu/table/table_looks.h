/*
 * core/cpu/table/table_looks.h
 *		Comparisons by which candidates for pairs are dropped before they are pairs (table_matches.c).
 *
 * Of rows that match by one key and lie in a range, such as prices with the days from which they hold, most candidates fail the first comparison
 * of a row's number with a build's.  To make a pair of each, with all registers, took twenty times as long as a look.
 */
#ifndef MGPU_TABLE_LOOKS_H
#define MGPU_TABLE_LOOKS_H

#include "core/group_spec.h"

#define MGPU_TABLE_MAX_LOOKS 4

/* Whether a number of the row's stands so to one of the build's row. */
typedef struct mgpu_table_look
{
	uint32_t	reg;
	uint32_t	column;			/* of the build */
	int64_t		outcomes;		/* MGPU_IS_..., of the row's number and the build's */

	/* set by mgpu_table_open_looks: the rows' and the build's */
	const int64_t *numbers;
	const uint8_t *states;
	const int64_t *cells;
	const uint8_t *cell_states;
} mgpu_table_look;

typedef struct mgpu_table_looks
{
	uint32_t	num_looks;
	mgpu_table_look looks[MGPU_TABLE_MAX_LOOKS];
} mgpu_table_looks;

/* The first conditions of a match, or tests of its pairs, that are such comparisons, of registers among those that are saved. */
void		mgpu_table_plan_looks(const mgpu_group_spec *spec, const mgpu_group_match *match, uint64_t saved, mgpu_table_looks *looks);

/* Have a copy of them read these registers and this build. */
void		mgpu_table_open_looks(mgpu_table_looks *looks, const mgpu_build *build, const char *memory, const mgpu_register *registers);

/* Whether a row of the build, which is there, is worth a pair: it meets all of these, or nobody knows yet. */
static inline bool
mgpu_table_is_pair(const mgpu_table_looks *looks, uint32_t row, int64_t matched)
{
	for (uint32_t i = 0; i < looks->num_looks; i++)
	{
		const mgpu_table_look *look = &looks->looks[i];
		int64_t		number = look->numbers[row];
		int64_t		cell = look->cells[matched];
		int64_t		outcome = number < cell ? MGPU_IS_LESS : number > cell ? MGPU_IS_GREATER : MGPU_IS_EQUAL;

		if (look->states[row] == MGPU_IS_FAULT || look->cell_states[matched] == MGPU_IS_FAULT)
			return true;
		if ((look->outcomes & outcome) == 0 || look->states[row] != MGPU_IS_VALUE || look->cell_states[matched] != MGPU_IS_VALUE)
			return false;
	}
	return true;
}

#endif							/* MGPU_TABLE_LOOKS_H */
