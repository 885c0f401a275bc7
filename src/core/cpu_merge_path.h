/*
 * cpu_merge_path.h
 *		Merging two sorted lists on the CPU: where to cut, and the merge of a cut.
 *
 * The diagonal d of a merge is where its first d items of output end; the path
 * crosses it at a: of those d items, a come from list a and d - a from b.
 */
#ifndef MGPU_CPU_MERGE_PATH_H
#define MGPU_CPU_MERGE_PATH_H

#include "cpu_merge_kernels.h"

/* The item that orders last under a codec; 16 bytes are enough. */
void		mgpu_last_item(const mgpu_codec *codec, void *item);

/*
 * Where the path crosses a diagonal between 0 and num_a + num_b, for a given
 * order of equal items: a's first.  In range whatever the lists hold.
 */
uint64_t	mgpu_merge_path(const mgpu_lists *lists, uint64_t diagonal);

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
