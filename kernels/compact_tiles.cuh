/*
 * compact_tiles.cuh
 *		A block sort by codes of 32 bits: of 8-byte keys, and of keys with their
 *		indices.
 *
 * Neighbours of nearly sorted keys differ little, so a tile's keys less its least
 * one take few bits, and a key's place in the tile takes 14:
 *
 *	 code	| key - least, 18 bits | place in the tile, 14 bits |
 *	 alone	| key - least,                              32 bits |
 *
 * Codes are sorted as 4-byte keys are, at half what 8-byte items cost, in tiles of
 * twice as many; a code says what its item was, so nothing else moves.  Places make
 * all codes different, so a sort of keys with indices is stable.
 *
 * A tile whose keys differ in more bits is sorted in rounds, digit by digit, the
 * lowest first: each round's codes have the item's rank after the round before where
 * the place would be, and places by rank lie in the tile's own part of the output
 * meanwhile.  So any keys are sorted, but those of one round alone fast: who takes this
 * sort looks at samples first.
 *
 * Rejected: a sort of wide items for such tiles, which needs twice the shared memory
 * that a CTA has here, or a launch of its own behind this one; places by tiles'
 * neighbourhoods in fewer bits, since equal keys must not wrap round.
 */
#ifndef MGPU_COMPACT_TILES_CUH
#define MGPU_COMPACT_TILES_CUH

#include "merge_kernels.cuh"

/* Tiles of the compact sort, as the merge sort has them for 4-byte keys (tuning.cuh). */
struct mgpu_compact_tuning
{
	static constexpr int threads = 256;
	static constexpr int items_per_thread = 47;
	static constexpr int resident_threads = 768;
	static constexpr uint32_t tile_items = threads * items_per_thread;
	static constexpr uint32_t place_bits = 14;
	static constexpr uint32_t digit_bits = 32 - place_bits;

	/* the largest code pads a tile */
	static_assert(tile_items < 1u << place_bits, "no code of an item is the largest one");
};

/* Digits of so many bits. */
MGPU_HOST_DEVICE uint32_t
mgpu_compact_rounds(uint32_t bits)
{
	return bits <= mgpu_compact_tuning::digit_bits ? 1 :
		(bits + mgpu_compact_tuning::digit_bits - 1) / mgpu_compact_tuning::digit_bits;
}

/* How a tile's keys become codes. */
struct mgpu_compact_form
{
	uint64_t	base;			/* no key is below it */
	uint32_t	rounds;
	bool		has_places;		/* in the codes; else keys are alone, and all there is to know of them */
};

/* Where 32 bits of 8-byte keys near this one begin, and so that they end in 64. */
MGPU_HOST_DEVICE uint64_t
mgpu_compact_origin(uint64_t key)
{
	const uint64_t half = UINT64_C(1) << 31;
	uint64_t	origin = key > half ? key - half : 0;

	return origin < ~UINT64_C(0) << 32 ? origin : ~UINT64_C(0) << 32;
}

/*
 * The form of keys that lie between least and greatest, both from origin on; far:
 * some lie elsewhere.
 */
MGPU_HOST_DEVICE mgpu_compact_form
mgpu_find_compact_form(bool indexed, uint64_t origin, bool far, uint32_t least, uint32_t greatest)
{
	uint32_t	bits = 0;

	if (far)
		return {0, mgpu_compact_rounds(64), true};
	if (!indexed)
		return {origin, 1, false};
	while (bits < 32 && (greatest - least) >> bits != 0)
		bits++;
	return {origin + least, mgpu_compact_rounds(bits), true};
}

/* A key's digit for a round, above its place or rank. */
MGPU_HOST_DEVICE uint32_t
mgpu_compact_code(const mgpu_compact_form &form, uint64_t key, uint32_t round, uint32_t place)
{
	constexpr uint32_t digit_bits = mgpu_compact_tuning::digit_bits;

	return (uint32_t) ((key - form.base) >> round * digit_bits) << mgpu_compact_tuning::place_bits | place;
}

MGPU_HOST_DEVICE uint32_t
mgpu_compact_place(uint32_t code)
{
	return code & ((1u << mgpu_compact_tuning::place_bits) - 1);
}

#ifdef __CUDACC__

/* The least and the greatest of a warp's words. */
static __device__ __forceinline__ void
mgpu_bounds_of_warp(uint32_t &least, uint32_t &greatest)
{
#if __CUDA_ARCH__ >= 800
	least = __reduce_min_sync(0xFFFFFFFFu, least);
	greatest = __reduce_max_sync(0xFFFFFFFFu, greatest);
#else
	for (uint32_t distance = 16; distance > 0; distance /= 2)
	{
		least = min(least, __shfl_xor_sync(0xFFFFFFFFu, least, distance));
		greatest = max(greatest, __shfl_xor_sync(0xFFFFFFFFu, greatest, distance));
	}
#endif
}

/* What the threads of a CTA agree on, in shared memory: registers are for codes. */
struct mgpu_compact_work
{
	uint32_t	least[mgpu_compact_tuning::threads / 32];
	uint32_t	greatest[mgpu_compact_tuning::threads / 32];
	mgpu_compact_form form;
};

/* Of what threads found: the form of the tile.  Ends with a barrier. */
static __device__ __forceinline__ void
mgpu_agree_on_form(mgpu_compact_work *work, bool indexed, uint64_t origin, bool far, uint32_t least, uint32_t greatest)
{
	uint32_t	lane = threadIdx.x % 32;

	mgpu_bounds_of_warp(least, greatest);
	if (lane == 0)
	{
		work->least[threadIdx.x / 32] = least;
		work->greatest[threadIdx.x / 32] = greatest;
	}
	far = __syncthreads_or(far);	/* and every warp's bounds are there */
	if (threadIdx.x < 32)
	{
		least = work->least[lane % (mgpu_compact_tuning::threads / 32)];
		greatest = work->greatest[lane % (mgpu_compact_tuning::threads / 32)];
		mgpu_bounds_of_warp(least, greatest);
		if (lane == 0)
			work->form = mgpu_find_compact_form(indexed, origin, far, least, greatest);
	}
	__syncthreads();				/* the form is known */
}

/* Load every threads-th key of a tile as a code for the first round; pads are largest. */
template <class Source>
static __device__ __forceinline__ void
mgpu_load_codes(uint32_t (&codes)[mgpu_compact_tuning::items_per_thread], const Source &source, uint64_t begin,
				uint32_t count, mgpu_compact_work *work)
{
	constexpr int items = mgpu_compact_tuning::items_per_thread;
	constexpr int threads = mgpu_compact_tuning::threads;
	typedef typename Source::Stored Key;
	uint64_t	origin = sizeof(Key) > 4 ? mgpu_compact_origin(source.keys[begin]) : 0;
	uint32_t	least = UINT32_MAX;
	uint32_t	greatest = 0;
	bool		far = false;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		/* behind the end the last key once more, which changes no bound */
		uint64_t	distance = source.keys[begin + min(threadIdx.x + i * threads, count - 1)] - origin;

		codes[i] = (uint32_t) distance;
		far |= distance >> 32 != 0;
		least = min(least, codes[i]);
		greatest = max(greatest, codes[i]);
	}
	mgpu_agree_on_form(work, Source::has_indices, origin, far, least, greatest);
	least = (uint32_t) (work->form.base - origin);
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	item = threadIdx.x + i * threads;

		/* of higher digits nothing is left, so far keys do no harm */
		if (work->form.has_places)
			codes[i] = (codes[i] - least) << mgpu_compact_tuning::place_bits | item;
		if (item >= count)
			codes[i] = UINT32_MAX;
	}
}

/*
 * Behind a round, whose codes lie in order in the tile: from ranks in the round before
 * to places.  places: the tile's, by those ranks.  Ends with a barrier.
 */
static __device__ __forceinline__ void
mgpu_codes_to_places(const mgpu_tile<uint32_t> &tile, uint32_t count, uint32_t round, const volatile uint32_t *places)
{
#pragma unroll 1
	for (uint32_t item = threadIdx.x; item < count; item += mgpu_compact_tuning::threads)
	{
		uint32_t	place = mgpu_compact_place(tile.keys[item]);

		tile.keys[item] = round > 0 ? places[place] : place;
	}
	__syncthreads();				/* places are read */
}

/* … and on to the codes of a round, by the ranks that its places have now. */
template <class Source>
static __device__ __forceinline__ void
mgpu_places_to_codes(uint32_t (&codes)[mgpu_compact_tuning::items_per_thread], const mgpu_tile<uint32_t> &tile,
					 const Source &source, uint64_t begin, uint32_t count, const mgpu_compact_form &form, uint32_t round,
					 volatile uint32_t *places)
{
#pragma unroll 1
	for (uint32_t item = threadIdx.x; item < count; item += mgpu_compact_tuning::threads)
	{
		uint32_t	place = tile.keys[item];

		places[item] = place;
		tile.keys[item] = mgpu_compact_code(form, source.keys[begin + place], round, item);
	}
	/* each thread's own items, whatever the order; places are seen behind the sort's barriers */
#pragma unroll
	for (int i = 0; i < mgpu_compact_tuning::items_per_thread; i++)
	{
		uint32_t	item = threadIdx.x + i * mgpu_compact_tuning::threads;

		codes[i] = item < count ? tile.keys[item] : UINT32_MAX;
	}
	__syncthreads();				/* the tile is read */
}

/*
 * Sort every tile from a source to a sink that is other memory.  near: see
 * mgpu_cta_sort_runs.
 */
template <bool near, class Source, class Sink>
__global__ void
__launch_bounds__(mgpu_compact_tuning::threads, mgpu_compact_tuning::resident_threads / mgpu_compact_tuning::threads)
mgpu_sort_compact_tiles(Source source, Sink sink, uint64_t num_items)
{
	typedef typename Source::Stored Key;
	constexpr int threads = mgpu_compact_tuning::threads;
	constexpr int items = mgpu_compact_tuning::items_per_thread;
	__shared__ mgpu_compact_work work;
	mgpu_tile<uint32_t> tile = mgpu_tile<uint32_t>::lay_out(mgpu_shared, mgpu_sort_slots(threads, items));
	uint64_t	begin = (uint64_t) blockIdx.x * mgpu_compact_tuning::tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) mgpu_compact_tuning::tile_items, num_items - begin);
	uint32_t	codes[items];

	mgpu_await_previous();
	mgpu_load_codes(codes, source, begin, count, &work);
	if constexpr (near)
		mgpu_exchange_items<threads>(codes, tile, threadIdx.x);
#pragma unroll 1
	for (uint32_t round = 0;; round++)
	{
		mgpu_cta_sort_runs<threads, items, near>(codes, tile, threadIdx.x);
		mgpu_put_forwards(codes, tile, threadIdx.x * items);
		__syncthreads();			/* the sorted tile is whole */
		if (work.form.rounds == 1)
			break;
		mgpu_codes_to_places(tile, count, round, sink.spare_words(begin));
		if (round + 1 == work.form.rounds)
			break;
		mgpu_places_to_codes(codes, tile, source, begin, count, work.form, round + 1, sink.spare_words(begin));
	}
#pragma unroll 4
	for (uint32_t item = threadIdx.x; item < count; item += threads)
	{
		uint32_t	code = tile.keys[item];
		uint32_t	place = work.form.rounds > 1 ? code : mgpu_compact_place(code);
		uint32_t	digit = work.form.has_places ? code >> mgpu_compact_tuning::place_bits : code;
		Key			key = work.form.rounds > 1 ? source.keys[begin + code] : (Key) (work.form.base + digit);

		sink.put(begin + item, source.make(key, begin + place));
	}
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_COMPACT_TILES_CUH */
