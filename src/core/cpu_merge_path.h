/*
 * cpu_merge_path.h
 *		Merge of two sorted lists on the CPU: where to cut, and the merge of a
 *		cut.
 *
 * Diagonal d is the end of the first d items of output.  The path crosses it at a:
 * of those d items, a come from list a and d - a from list b.
 */
#ifndef MGPU_CPU_MERGE_PATH_H
#define MGPU_CPU_MERGE_PATH_H

#include "cpu_merge_kernels.h"

/*
 * The path's crossing of a diagonal between 0 and num_a + num_b.  Of equal items,
 * a's come first.  The result is in range even if the lists are not sorted.
 */
uint64_t	mgpu_merge_path(const mgpu_lists *lists, uint64_t diagonal);

/* Cut the first num_items items off *rest, or all if it has fewer. */
mgpu_cut	mgpu_cut_front(const mgpu_lists *lists, mgpu_cut *rest, uint64_t num_items);

/*
 * Write the cut's part of the merge of two sorted lists to out[0, end - begin).
 * indices, unless NULL, get each item's position in a, or num_a + its position in
 * b.  Without indices, equal items that cannot be told apart may trade places;
 * floats keep their own bits.
 */
void		mgpu_merge_cut(const mgpu_lists *lists, const mgpu_cut *cut, void *out, uint32_t *indices);

/*
 * Merge two lists that lie in one piece of memory, b at mgpu_padded_b, with space
 * for MGPU_MERGE_AHEAD items behind each, which is overwritten.  Equal items must be
 * indistinguishable, and floats must have no NaN and no -0.
 */
void		mgpu_merge_padded(const mgpu_codec *codec, bool vectors, void *a, uint64_t num_a, uint64_t num_b,
							  void *out);

static inline void *
mgpu_padded_b(const mgpu_codec *codec, void *a, uint64_t num_a)
{
	return (char *) a + (num_a + MGPU_MERGE_AHEAD) * codec->width;
}

/*
 * Position of the first item in [begin, end) that is below its predecessor, or end.
 * Item 0 has no predecessor.
 */
uint64_t	mgpu_first_unsorted(const mgpu_codec *codec, bool vectors, const void *items,
								uint64_t begin, uint64_t end);

/*
 * Number of items below item at the front of num_items sorted items, and number of
 * items above item at their end.  Fast if that number is small.
 */
uint64_t	mgpu_count_below(const mgpu_codec *codec, const void *items, uint64_t num_items, const void *item);
uint64_t	mgpu_count_above(const mgpu_codec *codec, const void *end, uint64_t num_items, const void *item);

#endif							/* MGPU_CPU_MERGE_PATH_H */
