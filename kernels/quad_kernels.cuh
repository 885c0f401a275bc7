/*
 * quad_kernels.cuh
 *		The 4-way merge: two levels of merging for one trip through memory.
 *
 * A CTA loads its intervals of four runs.  First X = run 0 + run 1 and
 * Y = run 2 + run 3 are merged into registers: threads from the first on share
 * X, the ones behind them Y, each list rounded up to whole threads, which the
 * guards fill with the largest key.  X and Y go back to shared memory, facing:
 *
 *	 X x0 x1 x2 … max max | max … y2 y1 y0 Y
 *
 * and one more merge yields the tile; what was filled in comes out last and is
 * not stored.  A tree of four heads a thread was rejected: three comparisons and
 * three dependent loads an item instead of two levels of one each.
 */
#ifndef MGPU_QUAD_KERNELS_CUH
#define MGPU_QUAD_KERNELS_CUH

#include "merge_kernels.cuh"
#include "quad_pass.cuh"

/* How many probes of run `other` come before this lane's key. */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_count_probes_before(Key key, uint32_t run, uint32_t other)
{
	uint32_t	count = 0;

#pragma unroll
	for (uint32_t step = (MGPU_QUAD_PROBES + 1) / 2; step > 0; step /= 2)
	{
		Key			probe = __shfl_sync(0xFFFFFFFFu, key, other * 8 + count + step - 1);

		if (other < run ? !(key < probe) : probe < key)
			count += step;
	}
	return count;
}

/* Find the split of every tile's first diagonal, one warp a tile. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_PARTITION_THREADS)
mgpu_partition_quads(const Key *keys, mgpu_merge_pass pass, mgpu_quad_split *splits)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	run = lane / 8;
	uint32_t	probe = lane % 8;
	uint64_t	tile = (uint64_t) blockIdx.x * (MGPU_PARTITION_THREADS / 32) + threadIdx.x / 32;
	const Key  *run_keys;
	mgpu_run_quad quad;
	mgpu_quad_search search;

	if (tile >= pass.num_tiles)
		return;
	quad = mgpu_find_run_quad(pass, tile);
	run_keys = keys + quad.begin + run * quad.run_items;
	search = mgpu_start_quad_search(quad);
	while (!mgpu_quad_search_done(quad, search))
	{
		uint32_t	low = mgpu_split_item(search.low, run);
		uint32_t	high = mgpu_split_item(search.high, run);
		bool		valid = probe < MGPU_QUAD_PROBES && low < high;
		uint32_t	position = valid ? mgpu_quad_probe(low, high, probe) : 0;
		Key			key = valid ? run_keys[position] : 0;
		uint32_t	counts[4];
		uint32_t	in;
		uint32_t	out;
		int			verdict;

#pragma unroll
		for (uint32_t other = 0; other < 4; other++)
			counts[other] = mgpu_count_probes_before(key, run, other);
		verdict = valid ? mgpu_judge_probe(quad, search, run, position, counts) : 0;
		in = __ballot_sync(0xFFFFFFFFu, verdict > 0);
		out = __ballot_sync(0xFFFFFFFFu, verdict < 0);
		if ((in | out) == 0)
			__trap();				/* runs out of order: an error is better than a hang */
		mgpu_narrow_quad_search(search, in, out);
	}
	if (lane == 0)
		splits[tile] = mgpu_end_quad_search(quad, search);
}

/* Items of shared memory that a 4-way merge takes. */
template <typename Key>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_quad_capacity(uint32_t threads, uint32_t items)
{
	return mgpu_inputs_capacity<Key>(threads * items, 4, items);
}

/* Where a tile's four inputs lie in shared memory, and how they are merged. */
struct mgpu_quad_plan
{
	uint32_t	slots[4];
	uint32_t	items[4];
	uint32_t	x_threads;		/* threads that share X = run 0 + run 1 */
	uint32_t	y_threads;		/* the ones behind, that share Y */
};

/* inputs[run] is where the tile's interval of a run lies in global memory. */
template <int items, typename Key>
MGPU_HOST_DEVICE mgpu_quad_plan
mgpu_plan_quad(const Key *const (&inputs)[4], const mgpu_quad_split &begin, const mgpu_quad_split &end)
{
	mgpu_quad_plan plan;
	uint32_t	slot = 0;

#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		plan.items[run] = end.items[run] - begin.items[run];
		plan.slots[run] = mgpu_slot_in_phase(slot, inputs[run]);
		slot = plan.slots[run] + plan.items[run] + items;
	}
	plan.x_threads = (plan.items[0] + plan.items[1] + items - 1) / items;
	plan.y_threads = (plan.items[2] + plan.items[3] + items - 1) / items;
	return plan;
}

/* First level: a thread's share of X or of Y. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_quad_inputs(Key (&keys)[items], const Key *tile, const mgpu_quad_plan &plan, uint32_t thread)
{
	bool		is_y = thread >= plan.x_threads;

	mgpu_merge_guarded(keys, tile, is_y ? plan.slots[2] : plan.slots[0], is_y ? plan.items[2] : plan.items[0],
					   is_y ? plan.slots[3] : plan.slots[1], is_y ? plan.items[3] : plan.items[1],
					   (is_y ? thread - plan.x_threads : thread) * items);
}

/* Put a thread's share of X or Y where the second level reads it. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_quad_lists(const Key (&keys)[items], Key *tile, const mgpu_quad_plan &plan, uint32_t thread)
{
	if (thread < plan.x_threads)
		mgpu_store_forwards(keys, tile, thread * items);
	else if (thread < plan.x_threads + plan.y_threads)
		mgpu_store_backwards(keys, tile, (2 * plan.x_threads + plan.y_threads - thread) * items);
}

/* Second level: a thread's share of the tile; past its end, what was filled in. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_quad_lists(Key (&keys)[items], const Key *tile, const mgpu_quad_plan &plan, uint32_t thread)
{
	if (thread < plan.x_threads + plan.y_threads)
		mgpu_merge_facing(keys, tile, 0, plan.x_threads * items, plan.y_threads * items, thread * items);
}

template <class Tuning, typename Key, typename Sink>
__global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_merge_quads(const Key *keys, mgpu_merge_pass pass, const mgpu_quad_split *splits, Sink sink)
{
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = blockIdx.x * (uint64_t) pass.tile_items;
	mgpu_run_quad quad = mgpu_find_run_quad(pass, blockIdx.x);
	mgpu_quad_split begin_split = splits[blockIdx.x];
	mgpu_quad_split end_split = mgpu_find_end_split(pass, quad, splits, blockIdx.x);
	const Key  *inputs[4];
	mgpu_quad_plan plan;
	Key			merged[items];

#pragma unroll
	for (int run = 0; run < 4; run++)
		inputs[run] = keys + quad.begin + run * quad.run_items + begin_split.items[run];
	plan = mgpu_plan_quad<items>(inputs, begin_split, end_split);
#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		mgpu_load_interval<threads>(tile + plan.slots[run], inputs[run], plan.items[run], thread);
		mgpu_store_guard<items>(tile, plan.slots[run] + plan.items[run], thread);
	}
	mgpu_wait_copies();
	__syncthreads();				/* inputs and guards are in place */
	mgpu_merge_quad_inputs(merged, tile, plan, thread);
	__syncthreads();				/* inputs are read */
	mgpu_store_quad_lists(merged, tile, plan, thread);
	__syncthreads();				/* X and Y are whole */
	mgpu_merge_quad_lists(merged, tile, plan, thread);
	__syncthreads();				/* X and Y are read */
	tile += sink.phase(begin);
	mgpu_store_forwards(merged, tile, thread * items);
	__syncthreads();				/* the merged tile is whole */
	sink.template store_tile<threads>(begin, tile, plan.items[0] + plan.items[1] + plan.items[2] + plan.items[3],
									  thread);
}

#endif							/* MGPU_QUAD_KERNELS_CUH */
