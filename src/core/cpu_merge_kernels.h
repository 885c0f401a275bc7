/*
 * cpu_merge_kernels.h
 *		The scalar inner loops of merges, for each kind of item.
 */
#ifndef MGPU_CPU_MERGE_KERNELS_H
#define MGPU_CPU_MERGE_KERNELS_H

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

/* A part of a merge between two diagonals, with where the path crosses them. */
typedef struct mgpu_cut
{
	uint64_t	begin;
	uint64_t	a_begin;
	uint64_t	end;
	uint64_t	a_end;
} mgpu_cut;

/* Four parts of a block: counts of items used so far of either list. */
typedef struct mgpu_scalar_lanes
{
	const void *a;
	const void *b;
	uint64_t	a_used[MGPU_MERGE_LANES];
	uint64_t	b_used[MGPU_MERGE_LANES];
	void	   *out[MGPU_MERGE_LANES];
	uint32_t   *indices[MGPU_MERGE_LANES];
	uint64_t	num_a;			/* of the whole list, for indices of b */
} mgpu_scalar_lanes;

/* Loops of one kind of item; see cpu_merge_path.h for what they find. */
typedef struct mgpu_merge_functions
{
	uint64_t	(*path) (const mgpu_codec *codec, const void *a, uint64_t num_a, const void *b,
						 uint64_t num_b, uint64_t diagonal);
	void		(*keys) (const mgpu_codec *codec, const mgpu_scalar_lanes *lanes, uint64_t lane_items);
	void		(*pairs) (const mgpu_codec *codec, const mgpu_scalar_lanes *lanes, uint64_t lane_items);
	void		(*tail) (const mgpu_lists *lists, const mgpu_cut *cut, void *out, uint32_t *indices);
	uint64_t	(*first_unsorted) (const mgpu_codec *codec, const void *items, uint64_t begin, uint64_t end);
	uint64_t	(*count_below) (const mgpu_codec *codec, const void *items, uint64_t num_items, const void *item);
	uint64_t	(*count_above) (const mgpu_codec *codec, const void *end, uint64_t num_items, const void *item);
} mgpu_merge_functions;

const mgpu_merge_functions *mgpu_merge_functions_of(const mgpu_codec *codec);

#endif							/* MGPU_CPU_MERGE_KERNELS_H */
