/*
 * kernel_bench_data.cu
 *		Keys that the sorts are timed on, and comparing what came of them.
 *
 * Places are spread over the whole range of the key's type, so that no sort is
 * spared digits.  Numbers come from hashing the place, not from a generator with
 * a state: any size is filled by one launch and is the same on every machine.
 */
#include "kernel_bench.cuh"

#define FILL_CTAS 2048
#define FEW_VALUES 16

const char *const bench_pattern_names[NUM_BENCH_PATTERNS] =
{
	"random", "few distinct", "Zipf", "sorted", "reversed", "within 100", "within 10000"
};

/* The rank of a value whose frequency is in inverse proportion to it: 1 to num_items, its logarithm uniform. */
static __device__ uint64_t
zipf_rank(uint64_t bits, uint64_t num_items)
{
	double		uniform = (bits >> 11) * 0x1p-53;

	return (uint64_t) exp(uniform * log((double) num_items));
}

/* step: between the keys of neighbouring places. */
template <typename Key>
static __device__ Key
make_key(uint64_t item, uint64_t num_items, uint64_t step, int pattern)
{
	uint64_t	bits = mix(item + UINT64_C(0x7FB5D329728EA185));

	switch (pattern)
	{
		case BENCH_FEW:
			return (Key) (bits % FEW_VALUES);
		case BENCH_ZIPF:
			return (Key) mix(zipf_rank(bits, num_items));
		case BENCH_SORTED:
			return (Key) (item * step);
		case BENCH_REVERSED:
			return (Key) ((num_items - item) * step);
		case BENCH_NEAR_100:
			return (Key) ((item + bits % 100) * step);
		case BENCH_NEAR_10000:
			return (Key) ((item + bits % 10000) * step);
		default:
			return (Key) bits;
	}
}

template <typename Key>
static __global__ void
fill_keys(Key *keys, uint64_t num_items, uint64_t step, int pattern)
{
	uint64_t	stride = (uint64_t) gridDim.x * THREADS;

	for (uint64_t item = (uint64_t) blockIdx.x * THREADS + threadIdx.x; item < num_items; item += stride)
		keys[item] = make_key<Key>(item, num_items, step, pattern);
}

static __global__ void
count_differences(const uint32_t *a, const uint32_t *b, uint64_t num_words, unsigned long long *count)
{
	uint64_t	stride = (uint64_t) gridDim.x * THREADS;
	unsigned long long own = 0;

	for (uint64_t word = (uint64_t) blockIdx.x * THREADS + threadIdx.x; word < num_words; word += stride)
		own += a[word] != b[word];
	if (own > 0)
		atomicAdd(count, own);
}

void
bench_fill(bench_memory *memory, int pattern, uint64_t num_items, int key_bytes)
{
	uint64_t	most = num_items + 10000;	/* places behind the end count for the nearly sorted */

	if (key_bytes == 4)
		fill_keys<<<FILL_CTAS, THREADS>>>((uint32_t *) memory->input, num_items, UINT32_MAX / most, pattern);
	else
		fill_keys<<<FILL_CTAS, THREADS>>>((uint64_t *) memory->input, num_items, UINT64_MAX / most, pattern);
	REQUIRE_CUDA(cudaGetLastError());
	REQUIRE_CUDA(cudaDeviceSynchronize());
}

uint64_t
bench_count_differences(bench_memory *memory, const void *a, const void *b, uint64_t num_words)
{
	unsigned long long *count = (unsigned long long *) memory->temp;
	unsigned long long differences;

	REQUIRE_CUDA(cudaMemset(count, 0, sizeof(*count)));
	count_differences<<<FILL_CTAS, THREADS>>>((const uint32_t *) a, (const uint32_t *) b, num_words, count);
	REQUIRE_CUDA(cudaMemcpy(&differences, count, sizeof(differences), cudaMemcpyDeviceToHost));
	return differences;
}
