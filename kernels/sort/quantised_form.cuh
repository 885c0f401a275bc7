/*
 * sort/quantised_form.cuh
 *		How keys become codes of 32 bits, and codes keys: see quantised_tiles.cuh.
 *
 * Keys of 8 bytes are first taken as 32 bits in steps from an origin.  Samples tell the origin and
 * the length of a step, with half as much spare on both sides.  The least and the greatest step
 * then tell which 18 bits count:
 *
 *	 key			|     0 ...     | 32 bits from origin | below a step |
 *	 code			                   | 18 bits | place |
 *
 * Rejected: the least and the greatest whole key first, which reads all keys twice.  All of this
 * runs on the host too.
 */
#ifndef MGPU_SORT_QUANTISED_FORM_CUH
#define MGPU_SORT_QUANTISED_FORM_CUH

#include "sort/cta_sort.cuh"

/* Tiles as the merge sort has them for 4-byte keys (tuning.cuh). */
struct mgpu_quantised_tuning
{
	static constexpr int threads = 256;
	static constexpr int items_per_thread = 47;
	static constexpr int resident_threads = 768;
	static constexpr uint32_t tile_items = threads * items_per_thread;
	static constexpr uint32_t place_bits = 14;
	static constexpr uint32_t digit_bits = 32 - place_bits;
	static constexpr uint32_t low_bits = 8;		/* of 4-byte keys, kept in shared memory */
	static constexpr uint32_t group_items = 16;	/* that one thread repairs */

	/* the largest code pads a tile */
	static_assert(tile_items < 1u << place_bits, "no code of an item is the largest one");
};

/* Digits of keys with this many bits. */
MGPU_HOST_DEVICE uint32_t
mgpu_quantised_rounds(uint32_t bits)
{
	return bits <= mgpu_quantised_tuning::digit_bits ? 1 :
		(bits + mgpu_quantised_tuning::digit_bits - 1) / mgpu_quantised_tuning::digit_bits;
}

/* How a tile's keys become codes. */
struct mgpu_quantised_form
{
	uint64_t	base;			/* no key is below it */
	uint32_t	shift;			/* lower bits of key - base that its code lacks */
	uint32_t	rounds;
	bool		has_places;		/* codes hold places; else keys have no indices, and their order is all that matters */
};

/* Bits of a number up to the highest one set. */
MGPU_HOST_DEVICE uint32_t
mgpu_bit_width(uint64_t number)
{
#ifdef __CUDA_ARCH__
	return 64 - (uint32_t) __clzll((long long) number);
#else
	uint32_t	bits = 0;

	while (number != 0)
	{
		number >>= 1;
		bits++;
	}
	return bits;
#endif
}

/* Where 32 bits of 8-byte keys begin, in steps of 1 << shift. */
struct mgpu_quantised_origin
{
	uint64_t	key;
	uint32_t	shift;
};

/* The key of a tile that a lane samples for the origin. */
MGPU_HOST_DEVICE uint32_t
mgpu_quantised_sample(uint32_t lane, uint32_t count)
{
	return lane * (count - 1) / 31;
}

/* Samples get the middle half of the 32 bits, which end within the 64 of the key. */
MGPU_HOST_DEVICE mgpu_quantised_origin
mgpu_find_quantised_origin(uint64_t least, uint64_t greatest)
{
	uint32_t	bits = mgpu_bit_width(greatest - least);
	uint32_t	shift = bits <= 31 ? 0 : bits < 63 ? bits - 31 : 32;
	uint64_t	middle = least + (greatest - least) / 2;
	uint64_t	half = (UINT64_C(1) << 31) << shift;
	uint64_t	last = (~UINT64_C(0) << 32) << shift;
	uint64_t	key = middle > half ? middle - half : 0;

	return {key < last ? key : last, shift};
}

/* The form of keys between least and greatest, both in steps from the origin. far: some keys lie elsewhere. */
MGPU_HOST_DEVICE mgpu_quantised_form
mgpu_find_quantised_form(bool indexed, mgpu_quantised_origin origin, bool far, uint32_t least, uint32_t greatest)
{
	uint32_t	bits = mgpu_bit_width(greatest - least);
	uint32_t	shift = bits > mgpu_quantised_tuning::digit_bits ? bits - mgpu_quantised_tuning::digit_bits : 0;

	if (far)
		return {0, 0, mgpu_quantised_rounds(64), true};
	if (!indexed && origin.shift == 0)
		return {origin.key, 0, 1, false};
	return {origin.key + ((uint64_t) least << origin.shift), origin.shift + shift, 1, true};
}

MGPU_HOST_DEVICE mgpu_quantised_form
mgpu_find_exact_form(const mgpu_quantised_form &form)
{
	return {form.base, 0, mgpu_quantised_rounds(form.shift + mgpu_quantised_tuning::digit_bits), true};
}

/* A key's digit for a round, above its place or rank. */
MGPU_HOST_DEVICE uint32_t
mgpu_quantised_code(const mgpu_quantised_form &form, uint64_t key, uint32_t round, uint32_t place)
{
	constexpr uint32_t digit_bits = mgpu_quantised_tuning::digit_bits;

	return (uint32_t) ((key - form.base) >> (form.shift + round * digit_bits)) << mgpu_quantised_tuning::place_bits | place;
}

MGPU_HOST_DEVICE uint32_t
mgpu_quantised_place(uint32_t code)
{
	return code & ((1u << mgpu_quantised_tuning::place_bits) - 1);
}

/* Words of a tile: codes, or behind sorted codes one bit for each; then low bits. */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_quantised_slots()
{
	return mgpu_sort_slots(mgpu_quantised_tuning::threads, mgpu_quantised_tuning::items_per_thread);
}

static_assert(mgpu_quantised_slots() >= mgpu_quantised_tuning::tile_items + (mgpu_quantised_tuning::tile_items + 31) / 32,
			  "descents lie behind codes");

template <typename Key>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_quantised_bytes()
{
	return mgpu_tile<uint32_t>::bytes(mgpu_quantised_slots()) + (sizeof(Key) == 4 ? mgpu_quantised_tuning::tile_items : 0);
}

#endif							/* MGPU_SORT_QUANTISED_FORM_CUH */
