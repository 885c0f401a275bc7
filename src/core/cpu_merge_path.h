/*
 * cpu_merge_path.h
 *		Merging two sorted lists on the CPU: where to cut, and the merge of a cut.
 *
 * The diagonal d of a merge is where its first d items of output end; the path
 * crosses it at a: of those d items, a come from list a and d - a from b.
 */
#ifndef MGPU_CPU_MERGE_PATH_H
#define MGPU_CPU_MERGE_PATH_H

#include "cpu_vector.h"

/*
 * All ones if a comparison holds, or 0; compilers may not see which, lest they
 * make a branch of it that is mispredicted half the time.
 */
static inline uint64_t
mgpu_mask_of(bool holds)
{
	uint64_t	mask = 0 - (uint64_t) holds;

#if defined(__GNUC__)
	__asm__("" : "+r"(mask));
#endif
	return mask;
}

/* b where the mask is set, else a. */
static inline uint64_t
mgpu_select_word(uint64_t a, uint64_t b, uint64_t mask)
{
	return a ^ ((a ^ b) & mask);
}

/* a, or b where the mask is set. */
#define MGPU_SELECT_POINTER(type, a, b, mask) \
	((const type *) (uintptr_t) mgpu_select_word((uint64_t) (uintptr_t) (a), (uint64_t) (uintptr_t) (b), mask))

/*
 * A code and its index: pairs whose key and index do not fit 16 bytes.  Its
 * codec is the identity of this width.
 */
typedef struct mgpu_record
{
	mgpu_u128	code;
	uint64_t	index;
} mgpu_record;

#define MGPU_RECORD_WIDTH 24

typedef struct mgpu_lists
{
	mgpu_codec	codec;			/* of items of both lists */
	bool		vectors;		/* use vectors where there are any */
	bool		padded;			/* mgpu_merge_padding's own; else false */
	const void *a;
	const void *b;
	uint64_t	num_a;
	uint64_t	num_b;
} mgpu_lists;

/* The item that orders last under a codec: 16 bytes are enough, 24 of a record. */
void		mgpu_last_item(const mgpu_codec *codec, void *item);

/*
 * Where the path crosses a diagonal between 0 and num_a + num_b, for a given
 * order of equal items: a's first.  In range whatever the lists hold.
 */
uint64_t	mgpu_merge_path(const mgpu_lists *lists, uint64_t diagonal);

/* A part of a merge between two diagonals, with where the path crosses them. */
typedef struct mgpu_cut
{
	uint64_t	begin;
	uint64_t	a_begin;
	uint64_t	end;
	uint64_t	a_end;
} mgpu_cut;

/* Cut the first num_items, or all if there are no more, off *rest. */
mgpu_cut	mgpu_cut_front(const mgpu_lists *lists, mgpu_cut *rest, uint64_t num_items);

/*
 * out[0, end - begin) = that part.  Both lists are sorted.  With indices, also
 * which items these are: position in a, or num_a + position in b.  Without, out
 * may differ in which of several equal items stands where, if they cannot be
 * told apart; floats keep their own bits.
 */
void		mgpu_merge_cut(const mgpu_lists *lists, const mgpu_cut *cut, void *out, uint32_t *indices);

/*
 * Merge two lists that have room for MGPU_MERGE_AHEAD items behind them, which
 * are overwritten.  Equal items are indistinguishable, and floats have no NaN
 * and no -0.
 */
void		mgpu_merge_padding(const mgpu_codec *codec, bool vectors, void *a, uint64_t num_a,
							   void *b, uint64_t num_b, void *out);

/*
 * Position of the first item in [begin, end) that is below its predecessor
 * (item 0 has none); end if there is none.
 */
uint64_t	mgpu_first_unsorted(const mgpu_codec *codec, bool vectors, const void *items,
								uint64_t begin, uint64_t end);

/*
 * How many of the num_items sorted items at items are below an item, and how
 * many of those that stand before end are above it; quick where they are few.
 */
uint64_t	mgpu_count_below(const mgpu_codec *codec, const void *items, uint64_t num_items, const void *item);
uint64_t	mgpu_count_above(const mgpu_codec *codec, const void *end, uint64_t num_items, const void *item);

#endif							/* MGPU_CPU_MERGE_PATH_H */
