/*
 * position_bits.c
 *		Positions, each once and in ascending order, as a bit each.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "position_bits.h"

#define WORD_BITS 64

static int64
num_words(const position_bits *bits)
{
	return (bits->num_bits + WORD_BITS - 1) / WORD_BITS;
}

void
position_bits_start(position_bits *bits, int64 num_bits)
{
	bits->num_bits = num_bits;
	bits->words = palloc_extended((num_words(bits) + 1) * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
position_bits_free(position_bits *bits)
{
	if (bits->words)
		pfree(bits->words);
	bits->words = NULL;
}

int64
position_bits_count(const position_bits *bits)
{
	int64		count = 0;

	for (int64 word = 0; word < num_words(bits); word++)
		count += pg_popcount64(bits->words[word]);
	return count;
}

int64
position_bits_next(const position_bits *bits, int64 begin)
{
	int64		word = begin / WORD_BITS;
	uint64		rest;

	if (begin >= bits->num_bits)
		return bits->num_bits;
	rest = bits->words[word] & (~UINT64CONST(0) << (begin % WORD_BITS));
	while (rest == 0)
	{
		if (++word == num_words(bits))
			return bits->num_bits;
		rest = bits->words[word];
	}
	return word * WORD_BITS + pg_rightmost_one_pos64(rest);
}

int64
position_bits_list(const position_bits *bits, int64 *next, uint32 *positions, int64 most_positions)
{
	int64		count = 0;

	for (int64 i = *next; count < most_positions; i++)
	{
		i = position_bits_next(bits, i);
		*next = i;
		if (i == bits->num_bits)
			break;
		positions[count++] = (uint32) i;
		*next = i + 1;
	}
	return count;
}
