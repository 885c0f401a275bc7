/*
 * merge/merge_two.cuh
 *		Merge of two sorted lists: kernels and their launch.
 *
 * One CTA a tile of output.  It loads its intervals of both lists; every thread searches its
 * diagonal and merges items_per_thread outputs serially (merge_cta.cuh).  Then one of two paths:
 *
 *	 keys		outputs go to registers, then through the inputs' shared memory to the output,
 *				16 bytes at a time
 *	 sources	outputs are 2-byte slots of the tile; keys come from their slots, and values
 *				from global memory.  For pairs, and for 16-byte keys, too wide for registers
 *
 * Rejected: a gather by indices in global memory, as in moderngpu, which moves 8 bytes more an
 * item; values in shared memory beside the keys, which halve the CTAs an SM holds.  Sources: Merge
 * Path (Odeh, Green and others, 2012), moderngpu's merge (S. Baxter, 2013).
 */
#ifndef MGPU_MERGE_MERGE_TWO_CUH
#define MGPU_MERGE_MERGE_TWO_CUH

#include "merge/merge_cta.cuh"

extern __shared__ __align__(16) char mgpu_shared[];

/* Values, and the order check. */
struct mgpu_merge_extras
{
	const void *a_values;
	const void *b_values;
	void	   *out_values;
	uint32_t	value_width;
	mgpu_order_check *check;
};

/* ----------------------------------------------------------------- kernels */

template <class Tuning, class Order>
__global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
mgpu_merge_two_keys(mgpu_merge_lists<Order> lists, mgpu_tile_plan plan, typename Order::Stored *out,
					mgpu_order_check *check)
{
	constexpr int items = Tuning::items_per_thread;
	typedef typename Order::Stored Stored;
	__shared__ uint32_t starts[Tuning::threads];
	Stored	   *slots = reinterpret_cast<Stored *>(mgpu_shared);
	Stored		merged[items];
	mgpu_merge_tile tile;
	mgpu_tile_kind kind;

	if (!mgpu_find_tile(lists, plan, tile))
	{
		mgpu_report_suspect(check, false);
		return;
	}
	out += tile.begin;
	if constexpr (sizeof(Stored) >= MGPU_MERGE_COPY_MIN_BYTES)
	{
		if (tile.a_items == Tuning::tile_items || tile.b_items == Tuning::tile_items)
		{
			mgpu_copy_whole_tile<Tuning>(lists, tile, out, check);
			return;
		}
	}
	kind = mgpu_load_tile<Tuning>(lists, plan, slots, tile);
	if (mgpu_is_one_list(tile))
	{
		mgpu_in_tile_order(kind, lists.order, [&] (const auto &order)
		{
			mgpu_report_suspect(check, mgpu_copy_tile<Tuning::threads>(slots, tile, order,
																	   [&] (uint32_t item, uint32_t slot) { out[item] = slots[slot]; }));
		});
		return;
	}
	mgpu_in_tile_order(kind, lists.order, [&] (const auto &order)
	{
		mgpu_merge_tile_share<Tuning>(slots, tile, order, starts, check,
									  [&] (int i, auto held, uint32_t) { merged[i] = order.stored(held); });
	});
#pragma unroll
	for (int i = 0; i < items; i++)
		slots[threadIdx.x * items + i] = merged[i];
	__syncthreads();				/* the merged tile is whole */
	mgpu_store_interval<Tuning::threads>(out, slots, tile.a_items + tile.b_items, threadIdx.x);
}

/* Move a tile's values; several loads of a thread are under way together. */
template <int threads, typename Value>
static __device__ __forceinline__ void
mgpu_move_values(const mgpu_merge_extras &extras, const mgpu_merge_tile &tile, const uint16_t *sources)
{
	constexpr uint32_t at_once = sizeof(Value) == 16 ? MGPU_MERGE_VALUES_AT_ONCE / 2 : MGPU_MERGE_VALUES_AT_ONCE;
	const Value *a_values = static_cast<const Value *>(extras.a_values) + tile.a_begin;
	const Value *b_values = static_cast<const Value *>(extras.b_values) + tile.b_begin;
	Value	   *out = static_cast<Value *>(extras.out_values) + tile.begin;
	uint32_t	num_items = tile.a_items + tile.b_items;

	for (uint32_t first = threadIdx.x; first < num_items; first += threads * at_once)
	{
		Value		values[at_once];

#pragma unroll
		for (uint32_t i = 0; i < at_once; i++)
		{
			uint32_t	item = first + i * threads;

			if (item < num_items)
			{
				uint32_t	slot = sources[item];

				values[i] = slot < tile.b_slot ? a_values[slot - tile.a_slot] : b_values[slot - tile.b_slot];
			}
		}
#pragma unroll
		for (uint32_t i = 0; i < at_once; i++)
			if (first + i * threads < num_items)
				out[first + i * threads] = values[i];
	}
}

template <class Tuning, class Order>
__global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
mgpu_merge_two_sources(mgpu_merge_lists<Order> lists, mgpu_tile_plan plan, typename Order::Stored *out,
					   mgpu_merge_extras extras)
{
	constexpr int items = Tuning::items_per_thread;
	constexpr int threads = Tuning::threads;
	typedef typename Order::Stored Stored;
	constexpr uint32_t capacity = mgpu_merge_capacity<Stored>(Tuning::tile_items, items);
	__shared__ uint32_t starts[threads];
	Stored	   *slots = reinterpret_cast<Stored *>(mgpu_shared);
	uint16_t   *sources = reinterpret_cast<uint16_t *>(slots + capacity);
	uint16_t   *share = sources + threadIdx.x * items;
	mgpu_merge_tile tile;
	mgpu_tile_kind kind;

	static_assert(capacity <= UINT16_MAX, "a source has 16 bits");
	if (!mgpu_find_tile(lists, plan, tile))
	{
		mgpu_report_suspect(extras.check, false);
		return;
	}
	kind = mgpu_load_tile<Tuning>(lists, plan, slots, tile);
	mgpu_in_tile_order(kind, lists.order, [&] (const auto &order)
	{
		if (mgpu_is_one_list(tile))
		{
			mgpu_report_suspect(extras.check, mgpu_copy_tile<threads>(slots, tile, order,
																	  [&] (uint32_t item, uint32_t slot) { sources[item] = (uint16_t) slot; }));
			__syncthreads();		/* the sources are there */
		}
		else
			mgpu_merge_tile_share<Tuning>(slots, tile, order, starts, extras.check,
										  [&] (int i, auto, uint32_t slot) { share[i] = (uint16_t) slot; });
	});
	for (uint32_t item = threadIdx.x; item < tile.a_items + tile.b_items; item += threads)
		out[tile.begin + item] = slots[sources[item]];
	switch (extras.value_width)
	{
		case 0:
			break;
		case 1:
			mgpu_move_values<threads, uint8_t>(extras, tile, sources);
			break;
		case 2:
			mgpu_move_values<threads, uint16_t>(extras, tile, sources);
			break;
		case 4:
			mgpu_move_values<threads, uint32_t>(extras, tile, sources);
			break;
		case 8:
			mgpu_move_values<threads, uint64_t>(extras, tile, sources);
			break;
		default:
			mgpu_move_values<threads, uint4>(extras, tile, sources);
			break;
	}
}

/* Find the first item out of order of a (blockIdx.y 0) and b (1), if there is one. */
template <class Order>
__global__ void
__launch_bounds__(MGPU_UNSORTED_THREADS)
mgpu_find_unsorted(mgpu_merge_lists<Order> lists, mgpu_order_check *check)
{
	const typename Order::Stored *list = blockIdx.y == 0 ? lists.a : lists.b;
	uint64_t	num_items = blockIdx.y == 0 ? lists.a_items : lists.b_items;
	uint64_t	item = (uint64_t) blockIdx.x * MGPU_UNSORTED_THREADS + threadIdx.x + 1;

	if (check->suspect == UINT64_MAX)
		return;
	while (item < num_items && !mgpu_sorts_before(lists.order, list[item], list[item - 1]))
		item += (uint64_t) gridDim.x * MGPU_UNSORTED_THREADS;
	if (item < num_items)
		atomicMin(reinterpret_cast<unsigned long long *>(&check->position[blockIdx.y]), (unsigned long long) item);
}

/* -------------------------------------------------------------------- host */

template <class Order>
static mgpu_merge_lists<Order>
mgpu_lists_of(const mgpu_merge_request *request, uint32_t tile_items)
{
	typedef typename Order::Stored Stored;

	return {static_cast<const Stored *>(request->a_keys), static_cast<const Stored *>(request->b_keys),
		request->num_a_items, request->num_b_items, Order(request->codec), tile_items};
}

template <class Tuning, class Order>
static constexpr uint32_t
mgpu_merge_slots_bytes()
{
	typedef typename Order::Stored Stored;

	return mgpu_merge_capacity<Stored>(Tuning::tile_items, Tuning::items_per_thread) * sizeof(Stored);
}

template <class Order>
static cudaError_t
mgpu_launch_merge_keys(const mgpu_merge_request *request)
{
	typedef typename Order::Stored Stored;
	typedef mgpu_merge_keys_tuning<sizeof(Stored)> Tuning;
	constexpr uint32_t shared_bytes = mgpu_merge_slots_bytes<Tuning, Order>();

	static_assert(shared_bytes + Tuning::threads * sizeof(uint32_t) + 64 <= MGPU_PLAIN_SHARED_BYTES, "more than any CTA has");
	return mgpu_launch_tiles<Tuning>(request, mgpu_lists_of<Order>(request, Tuning::tile_items), shared_bytes,
									 mgpu_merge_two_keys<Tuning, Order>, static_cast<Stored *>(request->out_keys),
									 request->check);
}

template <class Order>
static cudaError_t
mgpu_launch_merge_sources(const mgpu_merge_request *request)
{
	typedef typename Order::Stored Stored;
	typedef mgpu_merge_pairs_tuning<sizeof(Stored)> Tuning;
	constexpr uint32_t shared_bytes = mgpu_merge_slots_bytes<Tuning, Order>() + Tuning::tile_items * sizeof(uint16_t);
	mgpu_merge_extras extras = {request->a_values, request->b_values, request->out_values, request->value_width,
		request->check};

	static_assert(shared_bytes + Tuning::threads * sizeof(uint32_t) + 64 <= MGPU_PLAIN_SHARED_BYTES, "more than any CTA has");
	return mgpu_launch_tiles<Tuning>(request, mgpu_lists_of<Order>(request, Tuning::tile_items), shared_bytes,
									 mgpu_merge_two_sources<Tuning, Order>, static_cast<Stored *>(request->out_keys),
									 extras);
}

/* Merge keys or pairs in one Order. */
template <class Order>
static cudaError_t
mgpu_merge_in_order(const mgpu_merge_request *request)
{
	if constexpr (sizeof(typename Order::Stored) <= 8)
	{
		if (request->value_width == 0)
			return mgpu_launch_merge_keys<Order>(request);
	}
	return mgpu_launch_merge_sources<Order>(request);
}

template <class Order>
static cudaError_t
mgpu_unsorted_in_order(const mgpu_merge_request *request)
{
	dim3		grid(MGPU_UNSORTED_CTAS, 2);

	mgpu_find_unsorted<<<grid, MGPU_UNSORTED_THREADS, 0, request->stream>>>
		(mgpu_lists_of<Order>(request, 1), request->check);
	return cudaGetLastError();
}

#endif							/* MGPU_MERGE_MERGE_TWO_CUH */
