/*
 * null_map.c
 *		Rank and select over an array's null bitmap.
 *
 * There are two tables: the number of present elements before each 64-bit word, and the word of
 * every 64th present element.  A select starts at a word of the second table, walks on to the
 * right word (one or two steps unless most elements are NULL), and finishes inside that word by
 * bytes.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "compat.h"
#include "array/null_map.h"

#define WORD_BITS 64

/* Bit i of the word is position 64 * word + i.  Bits past the end are 0. */
static uint64
load_word(const null_map *map, int64 word)
{
	int64		first = word * WORD_BITS;
	int64		bits = Min(map->num_items - first, WORD_BITS);
	const uint8 *bytes = map->bitmap + first / 8;
	uint64		value = 0;

	for (int i = 0; i < (bits + 7) / 8; i++)
		value |= (uint64) bytes[i] << (8 * i);
	if (bits < WORD_BITS)
		value &= (UINT64CONST(1) << bits) - 1;
	return value;
}

void
null_map_build(null_map *map, const uint8 *bitmap, int64 num_items)
{
	uint32		rank = 0;

	map->bitmap = bitmap;
	map->num_items = num_items;
	map->num_words = (num_items + WORD_BITS - 1) / WORD_BITS;
	map->word_ranks = palloc((map->num_words + 1) * sizeof(uint32));
	map->rank_words = palloc((map->num_words + 1) * sizeof(uint32));
	for (int64 word = 0; word < map->num_words; word++)
	{
		uint32		present = pg_popcount64(load_word(map, word));

		map->word_ranks[word] = rank;
		/* at most one multiple of 64 lies in [rank, rank + present) */
		if (present > 0 && (rank + present - 1) / WORD_BITS * WORD_BITS >= rank)
			map->rank_words[(rank + present - 1) / WORD_BITS] = word;
		rank += present;
	}
	map->word_ranks[map->num_words] = rank;
}

void
null_map_free(null_map *map)
{
	pfree(map->word_ranks);
	pfree(map->rank_words);
}

/* Index of the set bit that has this many set bits below it. */
static int
select_in_word(uint64 word, int below)
{
	int			shift = 0;

	for (;;)
	{
		int			ones = pg_number_of_ones[(word >> shift) & 0xFF];

		if (below < ones)
			break;
		below -= ones;
		shift += 8;
	}
	for (;; shift++)
	{
		if ((word >> shift) & 1)
		{
			if (below == 0)
				return shift;
			below--;
		}
	}
}

int64
null_map_select(const null_map *map, uint32 rank)
{
	int64		word = map->rank_words[rank / WORD_BITS];

	while (map->word_ranks[word + 1] <= rank)
		word++;
	return word * WORD_BITS + select_in_word(load_word(map, word), rank - map->word_ranks[word]);
}

uint32
null_map_rank(const null_map *map, int64 position)
{
	int64		word = position / WORD_BITS;
	int			bit = position % WORD_BITS;
	uint64		below = load_word(map, word) & ((UINT64CONST(1) << bit) - 1);

	return map->word_ranks[word] + pg_popcount64(below);
}

int64
null_bitmap_count(const uint8 *bitmap, int64 begin, int64 end)
{
	int64		present = 0;

	if (bitmap == NULL)
		return end - begin;
	while (begin < end && begin % 8 != 0)
		present += null_bitmap_present(bitmap, begin++);
	if (begin < end)
	{
		int64		bytes = (end - begin) / 8;

		present += pg_popcount((const char *) bitmap + begin / 8, bytes);
		begin += bytes * 8;
	}
	while (begin < end)
		present += null_bitmap_present(bitmap, begin++);
	return present;
}
