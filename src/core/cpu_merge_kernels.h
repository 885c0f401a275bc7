/*
 * cpu_merge_kernels.h
 *		The scalar inner loops of merges, a set for each kind of item.
 */
#ifndef MGPU_CPU_MERGE_KERNELS_H
#define MGPU_CPU_MERGE_KERNELS_H

#include "cpu_vector.h"

/*
 * All ones if holds is true, else 0.  The asm hides the value from the compiler,
 * which would otherwise make a branch that is mispredicted half the time.
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

/* b where the mask is set, else a, for pointers. */
#define MGPU_SELECT_POINTER(type, a, b, mask) \
	((const type *) (uintptr_t) mgpu_select_word((uint64_t) (uintptr_t) (a), (uint64_t) (uintptr_t) (b), mask))

typedef struct mgpu_lists
{
	mgpu_codec	codec;			/* of items of both lists */
	bool		vectors;		/* use vector instructions if the machine has them */
	bool		padded;			/* set by mgpu_merge_padded alone */
	const void *a;
	const void *b;
	uint64_t	num_a;
	uint64_t	num_b;
} mgpu_lists;

/* A part of a merge between two diagonals, with the path's crossings of both. */
typedef struct mgpu_cut
{
	uint64_t	begin;
	uint64_t	a_begin;
	uint64_t	end;
	uint64_t	a_end;
} mgpu_cut;

/* Four parts of a block, each with the number of items used so far of either list. */
typedef struct mgpu_scalar_lanes
{
	const void *a;
	const void *b;
	uint64_t	a_used[MGPU_MERGE_LANES];
	uint64_t	b_used[MGPU_MERGE_LANES];
	void	   *out[MGPU_MERGE_LANES];
	uint32_t   *indices[MGPU_MERGE_LANES];
	uint64_t	num_a;			/* length of the whole list, for indices of b */
} mgpu_scalar_lanes;

/* The loops of one kind of item.  cpu_merge_path.h has the contracts. */
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
