/*
 * group_records.h
 *		What the words of a group's record say (core/group_spec.h), of numbers that are reduced.
 */
#ifndef MGPU_EXEC_GROUP_RECORDS_H
#define MGPU_EXEC_GROUP_RECORDS_H

#include "core/group_decode.h"
#include "exec/device_query.h"
#include "exec/reduced.h"

/* words: of a column that is added, and of which the extremes are known. */
static inline reduced_integers
group_record_integers(const uint64 *words)
{
	int128		sum = (int128) (int64) words[2] * ((int64) 1 << 32) + (int128) words[1];

	return (reduced_integers) {
		(int64) mgpu_column_bits(words[3], MGPU_KEY_SIGNED, sizeof(int64)),
		(int64) mgpu_column_bits(words[4], MGPU_KEY_SIGNED, sizeof(int64)),
		sum
	};
}

/* How many digits a number shows that was made by expr_program_add_tied. */
static inline int64
group_record_digits(int64 tied)
{
	return tied & (CELLS_DIGITS - 1);
}

/* The bits of a quotient's numbers and digits, which are an extreme: words has their codes. */
static inline void
group_record_quotient(const uint64 *words, uint64 *bits)
{
	for (int i = 0; i < CELLS_OF_QUOTIENT; i++)
		bits[i] = mgpu_column_bits(words[i], MGPU_KEY_SIGNED, sizeof(int64));
}

/* Whether it is known what the least and the greatest numeric of each group show: else rows have to come one by one (group_ties.c). */
extern bool group_ties_are_none(const device_query *query);

#endif							/* MGPU_EXEC_GROUP_RECORDS_H */
