/*
 * device/tile_copy.cuh
 *		Moves a CTA's intervals between global and shared memory.
 *
 * Intervals start anywhere, yet most of each moves 16 bytes at a time: its place in shared memory
 * has the same phase (address modulo 16) as its source, so only a head and a tail of less than 16
 * bytes go item by item:
 *
 *	 global   ..|h h h h|V V V V|V V V V|t t ..|..
 *	 shared   ..|h h h h|V V V V|V V V V|t t ..|..
 *
 * From compute capability 8.0 on the copy is asynchronous and bypasses the registers (cp.async).
 * The tensor copy engine of 9.0 was rejected: it needs the same phases, and older devices would
 * need this code anyway.  Callers choose whether vectors go through the first-level cache: merges
 * of keys gain 2 to 3 % by that, other kernels need the cache for other data.
 */
#ifndef MGPU_DEVICE_TILE_COPY_CUH
#define MGPU_DEVICE_TILE_COPY_CUH

#include "device/tile.cuh"

#define MGPU_VECTOR_BYTES 16

/* Items between the 16-byte boundary before this address and the address. */
template <typename Item>
MGPU_HOST_DEVICE uint32_t
mgpu_phase(const Item *address)
{
	return (uint32_t) (reinterpret_cast<uintptr_t>(address) % MGPU_VECTOR_BYTES / sizeof(Item));
}

/* The first slot with this address's phase that is not in front of the vector boundary at or behind `slot`. */
template <typename Item>
MGPU_HOST_DEVICE uint32_t
mgpu_slot_in_phase(uint32_t slot, const Item *address)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (slot + vector_items - 1) / vector_items * vector_items + mgpu_phase(address);
}

/* How an interval splits into head, vectors and tail. */
struct mgpu_interval_parts
{
	uint32_t	head_items;
	uint32_t	num_vectors;
	uint32_t	tail_items;
};

template <typename Item>
MGPU_HOST_DEVICE mgpu_interval_parts
mgpu_split_interval(const Item *address, uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);
	mgpu_interval_parts parts;

	parts.head_items = (vector_items - mgpu_phase(address)) % vector_items;
	if (parts.head_items > num_items)
		parts.head_items = num_items;
	parts.num_vectors = (num_items - parts.head_items) / vector_items;
	parts.tail_items = num_items - parts.head_items - parts.num_vectors * vector_items;
	return parts;
}

/* Start to copy `bytes` (4, 8 or 16) from global to shared memory.  Only 16 can bypass the first-level cache. */
template <int bytes, bool by_l1 = true>
static __device__ __forceinline__ void
mgpu_copy_async(void *shared, const void *global)
{
#if __CUDA_ARCH__ >= 800
	uint32_t	address = (uint32_t) __cvta_generic_to_shared(shared);

	static_assert(by_l1 || bytes == 16, "only whole vectors go past it");
	if constexpr (!by_l1)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(address), "l"(global) : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(address), "l"(global), "n"(bytes) : "memory");
#else
	if constexpr (bytes == 16)
		*static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(global);
	else if constexpr (bytes == 8)
		*static_cast<uint2 *>(shared) = *static_cast<const uint2 *>(global);
	else
		*static_cast<uint32_t *>(shared) = *static_cast<const uint32_t *>(global);
#endif
}

/* Items narrower than 4 bytes are copied at once: cp.async does not take them. */
template <typename Item>
static __device__ __forceinline__ void
mgpu_copy_item(Item *shared, const Item *global)
{
	if constexpr (sizeof(Item) >= 4)
		mgpu_copy_async<sizeof(Item)>(shared, global);
	else
		*shared = *global;
}

/* Prefetch an interval's whole vectors, which a CTA will read soon.  One thread does it. */
template <typename Item>
static __device__ __forceinline__ void
mgpu_prefetch_interval(const Item *global, uint32_t num_items)
{
#if __CUDA_ARCH__ >= 900
	mgpu_interval_parts parts = mgpu_split_interval(global, num_items);

	if (parts.num_vectors > 0)
		asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
					 :: "l"(global + parts.head_items), "r"(parts.num_vectors * MGPU_VECTOR_BYTES) : "memory");
#else
	(void) global;
	(void) num_items;
#endif
}

/* This thread's copies have landed.  A barrier must follow for the others'. */
static __device__ __forceinline__ void
mgpu_wait_copies()
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/*
 * Start to copy num_items items of any width; shared and global have the same phase.  Complete
 * after mgpu_wait_copies and a barrier.
 */
template <int threads, bool by_l1 = false, typename Item>
static __device__ __forceinline__ void
mgpu_load_interval(Item *shared, const Item *global, uint32_t num_items, uint32_t thread)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);
	mgpu_interval_parts parts = mgpu_split_interval(global, num_items);

	if (thread < parts.head_items)
		mgpu_copy_item(shared + thread, global + thread);
	if (thread < parts.tail_items)
		mgpu_copy_item(shared + num_items - 1 - thread, global + num_items - 1 - thread);
	for (uint32_t vector = thread; vector < parts.num_vectors; vector += threads)
	{
		uint32_t	item = parts.head_items + vector * vector_items;

		mgpu_copy_async<MGPU_VECTOR_BYTES, by_l1>(shared + item, global + item);
	}
}

/* Start to copy items one by one, to a place of another phase. */
template <int threads, typename Item>
static __device__ __forceinline__ void
mgpu_load_items(Item *shared, const Item *global, uint32_t num_items, uint32_t thread)
{
	for (uint32_t item = thread; item < num_items; item += threads)
		mgpu_copy_item(shared + item, global + item);
}

/* Write num_items items out; shared and global have the same phase. */
template <int threads, typename Item>
static __device__ __forceinline__ void
mgpu_store_interval(Item *global, const Item *shared, uint32_t num_items, uint32_t thread)
{
	mgpu_interval_parts parts = mgpu_split_interval(global, num_items);
	uint4	   *vectors = reinterpret_cast<uint4 *>(global + parts.head_items);
	const uint4 *shared_vectors = reinterpret_cast<const uint4 *>(shared + parts.head_items);

	if (thread < parts.head_items)
		global[thread] = shared[thread];
	if (thread < parts.tail_items)
		global[num_items - 1 - thread] = shared[num_items - 1 - thread];
	for (uint32_t vector = thread; vector < parts.num_vectors; vector += threads)
		vectors[vector] = shared_vectors[vector];
}

#endif							/* MGPU_DEVICE_TILE_COPY_CUH */
