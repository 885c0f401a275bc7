/*
 * sort/quantised_tiles.cuh
 *		A block sort by quantised keys: 32-bit codes of 8-byte keys, and of keys with
 *		indices.
 *
 * Nearly sorted neighbours differ little, so a tile's keys less its least key take few bits.  The
 * key's place in the tile takes 14:
 *
 *	 code	| key - least, 18 bits | place in the tile, 14 bits |
 *	 alone	| key - least,                              32 bits |
 *
 * Codes sort as 4-byte keys do, at half the cost of 8-byte items; places make the sort stable.  If
 * keys differ in more bits, codes have the highest 18, and items that descend by their whole keys
 * are repaired (quantised_repair.cuh).  A tile with many equal codes is sorted in rounds, digit by
 * digit.  Only keys of one round are sorted fast, so callers probe first.
 *
 * Rejected: wide items for such tiles, in twice the shared memory or in a launch of their own; low
 * bits of 8-byte keys in shared memory, 4 or 5 bytes an item.
 */
#ifndef MGPU_SORT_QUANTISED_TILES_CUH
#define MGPU_SORT_QUANTISED_TILES_CUH

#include "sort/merge_kernels.cuh"
#include "sort/quantised_repair.cuh"

#ifdef __CUDACC__

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

/* What the threads of a CTA share, in shared memory, since registers hold codes. */
struct mgpu_quantised_work
{
	uint32_t	least[mgpu_quantised_tuning::threads / 32];
	uint32_t	greatest[mgpu_quantised_tuning::threads / 32];
	mgpu_quantised_form form;
	uint32_t	base_step;		/* begin of the form, in steps from the origin ... */
	uint32_t	step_shift;		/* ... and the bits of steps that it lacks */
	uint32_t	round;
};

/*
 * The origin of a tile.  Each warp reads the same keys: near ones at the first and the last place,
 * else 32 at even distances, while the rest is prefetched.
 */
template <bool near, typename Key>
static __device__ __forceinline__ mgpu_quantised_origin
mgpu_sample_origin(const Key *keys, uint32_t count)
{
	uint64_t	least = keys[near ? 0 : mgpu_quantised_sample(threadIdx.x % 32, count)];
	uint64_t	greatest = near ? keys[count - 1] : least;

	if constexpr (near)
		return mgpu_find_quantised_origin(min(least, greatest), max(least, greatest));
	else
	{
		for (uint32_t item = threadIdx.x * (128 / sizeof(Key)); item < count;
			 item += mgpu_quantised_tuning::threads * (128 / sizeof(Key)))
			asm volatile("prefetch.global.L2 [%0];" :: "l"(keys + item));
		for (uint32_t distance = 16; distance > 0; distance /= 2)
		{
			least = min(least, (uint64_t) __shfl_xor_sync(0xFFFFFFFFu, least, distance));
			greatest = max(greatest, (uint64_t) __shfl_xor_sync(0xFFFFFFFFu, greatest, distance));
		}
		return mgpu_find_quantised_origin(least, greatest);
	}
}

/* Agree on the form of the tile.  Ends with a barrier. */
static __device__ __forceinline__ void
mgpu_agree_on_form(mgpu_quantised_work *work, bool indexed, mgpu_quantised_origin origin, bool far, uint32_t least,
				   uint32_t greatest)
{
	uint32_t	lane = threadIdx.x % 32;

	mgpu_bounds_of_warp(least, greatest);
	if (lane == 0)
	{
		work->least[threadIdx.x / 32] = least;
		work->greatest[threadIdx.x / 32] = greatest;
	}
	far = __syncthreads_or(far);	/* every warp's bounds are there too */
	if (threadIdx.x < 32)
	{
		least = work->least[lane % (mgpu_quantised_tuning::threads / 32)];
		greatest = work->greatest[lane % (mgpu_quantised_tuning::threads / 32)];
		mgpu_bounds_of_warp(least, greatest);
		if (lane == 0)
		{
			work->form = mgpu_find_quantised_form(indexed, origin, far, least, greatest);
			work->base_step = (uint32_t) ((work->form.base - origin.key) >> origin.shift);
			work->step_shift = far ? 0 : work->form.shift - origin.shift;
			work->round = 0;
		}
	}
	__syncthreads();				/* the form is known */
}

/* Load every threads-th key of a tile as a code for the first round.  Pads are largest. lows: see mgpu_lossy_tile. */
template <bool near, class Source>
static __device__ __forceinline__ void
mgpu_load_codes(uint32_t (&codes)[mgpu_quantised_tuning::items_per_thread], const Source &source, uint64_t begin,
				uint32_t count, mgpu_quantised_work *work, uint8_t *lows)
{
	constexpr int items = mgpu_quantised_tuning::items_per_thread;
	constexpr int threads = mgpu_quantised_tuning::threads;
	typedef typename Source::Stored Key;
	mgpu_quantised_origin origin = {0, 0};
	uint32_t	least = UINT32_MAX;
	uint32_t	greatest = 0;
	uint32_t	shift;
	bool		far = false;

	if constexpr (sizeof(Key) > sizeof(uint32_t))
		origin = mgpu_sample_origin<near>(source.keys + begin, count);
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		/* behind the end the last key once more, which changes no bound */
		uint64_t	steps = (source.keys[begin + min(threadIdx.x + i * threads, count - 1)] - origin.key) >> origin.shift;

		codes[i] = (uint32_t) steps;
		far |= steps >> 32 != 0;
		least = min(least, codes[i]);
		greatest = max(greatest, codes[i]);
	}
	mgpu_agree_on_form(work, Source::has_indices, origin, far, least, greatest);
	least = work->base_step;
	shift = work->step_shift;
	if (sizeof(Key) == sizeof(uint32_t) && shift > 0)
	{
#pragma unroll
		for (int i = 0; i < items; i++)
			lows[threadIdx.x + i * threads] = (uint8_t) ((codes[i] - least) & ((1u << shift) - 1));
	}
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	item = threadIdx.x + i * threads;

		if (work->form.has_places)
			codes[i] = (codes[i] - least) >> shift << mgpu_quantised_tuning::place_bits | item;
		if (item >= count)
			codes[i] = UINT32_MAX;
	}
}

/*
 * Behind a round, whose codes are in order in the tile: from ranks of the round before to places,
 * by the tile's `places`.  Ends with a barrier.
 */
static __device__ __forceinline__ void
mgpu_codes_to_places(const mgpu_tile<uint32_t> &tile, uint32_t count, uint32_t round, const volatile uint32_t *places)
{
#pragma unroll 1
	for (uint32_t item = threadIdx.x; item < count; item += mgpu_quantised_tuning::threads)
	{
		uint32_t	place = mgpu_quantised_place(tile.keys[item]);

		tile.keys[item] = round > 0 ? places[place] : place;
	}
	__syncthreads();				/* places are read */
}

/* Before a round: from places, if there are any yet, to codes with their current ranks. */
template <class Source>
static __device__ __forceinline__ void
mgpu_places_to_codes(uint32_t (&codes)[mgpu_quantised_tuning::items_per_thread], const mgpu_tile<uint32_t> &tile,
					 const Source &source, uint64_t begin, uint32_t count, const mgpu_quantised_form &form, uint32_t round,
					 volatile uint32_t *places)
{
#pragma unroll 1
	for (uint32_t item = threadIdx.x; item < count; item += mgpu_quantised_tuning::threads)
	{
		uint32_t	place = round > 0 ? tile.keys[item] : item;

		places[item] = place;
		tile.keys[item] = mgpu_quantised_code(form, source.keys[begin + place], round, item);
	}
	/* each thread reads its own items; the sort's barriers make places visible */
#pragma unroll
	for (int i = 0; i < mgpu_quantised_tuning::items_per_thread; i++)
	{
		uint32_t	item = threadIdx.x + i * mgpu_quantised_tuning::threads;

		codes[i] = item < count ? tile.keys[item] : UINT32_MAX;
	}
	__syncthreads();				/* the tile is read */
}

/* Put sorted codes that lack low bits to the sink.  False: the order is not sure.  Ends with a barrier. */
template <class Source, class Sink>
static __device__ __forceinline__ bool
mgpu_end_lossy_tile(const mgpu_tile<uint32_t> &tile, const Source &source, const Sink &sink, uint64_t begin,
					uint32_t count, const mgpu_quantised_form &form)
{
	typedef typename Source::Stored Key;
	uint32_t   *descents = tile.keys + mgpu_quantised_tuning::tile_items;
	mgpu_lossy_tile<Key> lossy = {tile.keys, reinterpret_cast<const uint8_t *>(tile.keys + mgpu_quantised_slots()),
		source.keys + begin, count, form.shift, (Key) form.base};

	return !mgpu_put_lossy_tile<Source>(lossy, descents, sink, begin) ||
		mgpu_repair_tile<Source>(lossy, descents, sink, begin);
}

/* Put codes of one round, or places of several, to the sink. */
template <class Source, class Sink>
static __device__ __forceinline__ void
mgpu_put_exact_tile(const mgpu_tile<uint32_t> &tile, const Source &source, const Sink &sink, uint64_t begin,
					uint32_t count, const mgpu_quantised_form &form)
{
	typedef typename Source::Stored Key;

#pragma unroll 4
	for (uint32_t item = threadIdx.x; item < count; item += mgpu_quantised_tuning::threads)
	{
		uint32_t	code = tile.keys[item];
		uint32_t	place = form.rounds > 1 ? code : mgpu_quantised_place(code);
		uint32_t	digit = form.has_places ? code >> mgpu_quantised_tuning::place_bits : code;
		Key			key = form.rounds > 1 ? source.keys[begin + code] : (Key) (form.base + digit);

		sink.put(begin + item, Source::make(key, begin + place));
	}
}

/* Sort every tile from a source to a sink in other memory. near: see mgpu_cta_sort_runs. */
template <bool near, class Source, class Sink>
__global__ void
__launch_bounds__(mgpu_quantised_tuning::threads, mgpu_quantised_tuning::resident_threads / mgpu_quantised_tuning::threads)
mgpu_sort_quantised_tiles(Source source, Sink sink, uint64_t num_items)
{
	constexpr int threads = mgpu_quantised_tuning::threads;
	constexpr int items = mgpu_quantised_tuning::items_per_thread;
	__shared__ mgpu_quantised_work work;
	mgpu_tile<uint32_t> tile = mgpu_tile<uint32_t>::lay_out(mgpu_shared, mgpu_quantised_slots());
	uint64_t	begin = (uint64_t) blockIdx.x * mgpu_quantised_tuning::tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) mgpu_quantised_tuning::tile_items, num_items - begin);
	uint32_t	codes[items];

	mgpu_await_previous();
	mgpu_load_codes<near>(codes, source, begin, count, &work, reinterpret_cast<uint8_t *>(tile.keys + mgpu_quantised_slots()));
	if (work.form.rounds > 1)
		mgpu_places_to_codes(codes, tile, source, begin, count, work.form, 0, sink.spare_words(begin));
	if constexpr (near)
		mgpu_exchange_items<threads>(codes, tile, threadIdx.x);
#pragma unroll 1
	for (;;)
	{
		mgpu_cta_sort_runs<threads, items, near>(codes, tile, threadIdx.x);
		mgpu_put_forwards(codes, tile, threadIdx.x * items);
		__syncthreads();			/* the sorted tile is whole */
		if (work.form.rounds > 1)
		{
			mgpu_codes_to_places(tile, count, work.round, sink.spare_words(begin));
			if (threadIdx.x == 0)
				work.round++;
		}
		else if (work.form.shift == 0)
			break;
		else if (mgpu_end_lossy_tile(tile, source, sink, begin, count, work.form))
			return;
		else if (threadIdx.x == 0)
			work.form = mgpu_find_exact_form(work.form);
		__syncthreads();			/* the form and the round are known */
		if (work.round == work.form.rounds)
			break;
		mgpu_places_to_codes(codes, tile, source, begin, count, work.form, work.round, sink.spare_words(begin));
	}
	mgpu_put_exact_tile(tile, source, sink, begin, count, work.form);
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_SORT_QUANTISED_TILES_CUH */
