/*
 * sort/radix_sort.cuh
 *		Radix sort of keys, or of keys and indices: one launch that counts and one a digit.
 *
 * On devices with much shared memory our own kernels (radix_pass.cuh) are up to a quarter faster
 * than CUB's: by their sizes, fewer instructions an item, overlapping launches, and indices that
 * the first pass makes.  Small devices, where that was not measured, and more items than a tile's
 * word counts use CUB (radix_cub.cuh).
 */
#ifndef MGPU_SORT_RADIX_SORT_CUH
#define MGPU_SORT_RADIX_SORT_CUH

#include "sort/radix_count.cuh"
#include "sort/radix_cub.cuh"
#include "sort/radix_pass.cuh"

/* Temporary memory: the state, and two sets of words of all tiles, which passes use in turn. */
template <typename Key, class Tuning>
struct mgpu_radix_memory
{
	static constexpr uint64_t state_bytes = (sizeof(mgpu_radix_state<Key>) + 255) / 256 * 256;

	mgpu_radix_state<Key> *state;
	uint32_t   *words[2];
	uint32_t	num_tiles;
	uint32_t	num_words;
	uint64_t	bytes;

	explicit mgpu_radix_memory(const mgpu_sort_request *request)
	{
		num_tiles = mgpu_divide_up(request->num_items, Tuning::tile_items);
		num_words = num_tiles * MGPU_RADIX_DIGITS;
		state = static_cast<mgpu_radix_state<Key> *>(request->temp);
		words[0] = reinterpret_cast<uint32_t *>(static_cast<char *>(request->temp) + state_bytes);
		words[1] = words[0] + num_words;
		bytes = state_bytes + UINT64_C(2) * num_words * sizeof(uint32_t);
	}
};

template <typename Key, class Tuning>
static cudaError_t
mgpu_launch_radix_count(const mgpu_sort_request *request, const mgpu_radix_memory<Key, Tuning> &memory,
						uint32_t num_digits)
{
	uint32_t	num_items = (uint32_t) request->num_items;
	uint32_t	num_ctas = 0;
	uint32_t	most = mgpu_divide_up(num_items, MGPU_RADIX_COUNT_THREADS * MGPU_RADIX_COUNT_VECTORS *
									  mgpu_radix_counts<Key>::vector_keys);
	cudaError_t status = cudaMemsetAsync(memory.state, 0, sizeof(*memory.state), request->stream);

	if (status == cudaSuccess)
		status = mgpu_count_resident_ctas(mgpu_radix_count<Key>, MGPU_RADIX_COUNT_THREADS, 0, most, &num_ctas);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch(mgpu_radix_count<Key>, num_ctas, MGPU_RADIX_COUNT_THREADS, 0, request->stream,
					   static_cast<const Key *>(request->keys[request->current]), num_items, num_digits, memory.state,
					   memory.words[0], memory.num_words);
}

/*
 * The pass of one digit, from the current side to the other.  Its loads need the first-level cache:
 * with 28 kB of it, 8-byte keys take 8 % longer.
 */
template <typename Key, bool indexed, class Tuning>
static cudaError_t
mgpu_launch_radix_pass(const mgpu_sort_request *request, const mgpu_radix_memory<Key, Tuning> &memory, uint32_t digit)
{
	constexpr uint32_t shared_bytes = (uint32_t) sizeof(mgpu_radix_shared<Key, Tuning>);
	int			side = request->current;
	mgpu_radix_step<Key> step;
	void		(*kernel) (mgpu_radix_step<Key>);
	bool		overlaps;
	cudaError_t status;

	step.keys_in = static_cast<const Key *>(request->keys[side]);
	step.keys_out = static_cast<Key *>(request->keys[side ^ 1]);
	step.indices_in = request->indices[side];
	step.indices_out = request->indices[side ^ 1];
	step.num_items = (uint32_t) request->num_items;
	step.digit = digit;
	step.begins = memory.state->begins[digit];
	step.num_tiles = &memory.state->num_tiles[digit];
	step.words = memory.words[digit % 2];
	step.next_words = memory.words[digit % 2 ^ 1];
	kernel = indexed && digit == 0 ? mgpu_radix_pass<Key, indexed, indexed, Tuning> :
		mgpu_radix_pass<Key, indexed, false, Tuning>;
	status = mgpu_can_overlap(&overlaps);
	if (status == cudaSuccess)
		status = mgpu_allow_shared(kernel, shared_bytes, cudaSharedmemCarveoutDefault);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch_kernel(overlaps, kernel, memory.num_tiles, (int) Tuning::threads, shared_bytes, request->stream,
							  step);
}

/* By our own kernels: at most MGPU_RADIX_MAX_ITEMS items, on a large device. */
template <typename Key, bool indexed, class Tuning>
static cudaError_t
mgpu_radix_sort_own(mgpu_sort_request *request)
{
	mgpu_radix_memory<Key, Tuning> memory(request);
	uint32_t	num_digits = mgpu_divide_up(request->key_bits, MGPU_RADIX_BITS);
	cudaError_t status;

	if (memory.bytes > request->temp_bytes)
		return cudaErrorMemoryAllocation;
	status = mgpu_launch_radix_count(request, memory, num_digits);
	for (uint32_t digit = 0; status == cudaSuccess && digit < num_digits; digit++)
	{
		status = mgpu_launch_radix_pass<Key, indexed>(request, memory, digit);
		if (status == cudaSuccess)
			request->current ^= 1;
		else if (status == cudaErrorMemoryAllocation && digit > 0)
			status = cudaErrorLaunchOutOfResources; /* the input is overwritten, so no other sort can take over */
	}
	return status;
}

template <typename Key, bool indexed, class Tuning>
static cudaError_t
mgpu_radix_sort(mgpu_sort_request *request)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	if (status != cudaSuccess)
		return status;
	if (large && request->num_items <= MGPU_RADIX_MAX_ITEMS)
		return mgpu_radix_sort_own<Key, indexed, Tuning>(request);
	if constexpr (indexed)
		return mgpu_cub_sort_indexed<Key>(request);
	else
		return mgpu_cub_sort_keys<Key>(request);
}

#endif							/* MGPU_SORT_RADIX_SORT_CUH */
