/*
 * ref_set.c
 *		References to elements, each once and in ascending order, a bit each.
 *
 * Each REF_SET_STEP'th is noted as a number too, so that threads can read stretches
 * by themselves.
 */
#include "postgres.h"

#include "array_result.h"
#include "ref_set.h"

#define WORD_BITS 64

Size
ref_set_bytes(int64 num_refs, Size limit)
{
	return (limit / WORD_BITS + 1) * sizeof(uint64) + (num_refs / REF_SET_STEP + 1) * sizeof(uint32);
}

void
ref_set_start(ref_set *set, int64 num_refs, Size limit)
{
	Size		words_bytes = (limit / WORD_BITS + 1) * sizeof(uint64);

	set->words = array_result_scratch(words_bytes);
	memset(set->words, 0, words_bytes);
	set->begins = array_result_scratch((num_refs / REF_SET_STEP + 1) * sizeof(uint32));
}

void
ref_set_free(ref_set *set)
{
	pfree(set->words);
	pfree(set->begins);
	set->words = NULL;
}

void
ref_set_list(const ref_set *set, int64 begin, uint32 num_refs, uint32 *refs)
{
	uint32		first = set->begins[begin / REF_SET_STEP];
	int64		at = first / WORD_BITS;
	uint64		word = set->words[at] & ~UINT64CONST(0) << (first % WORD_BITS);
	int64		skipped = begin % REF_SET_STEP;

	for (int64 i = -skipped; i < (int64) num_refs; i++)
	{
		while (word == 0)
			word = set->words[++at];
		if (i >= 0)
			refs[i] = at * WORD_BITS + __builtin_ctzll(word);
		word &= word - 1;
	}
}
