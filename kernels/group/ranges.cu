/*
 * group/ranges.cu
 *		The least and greatest code of columns, and how many rows are NULL in each.
 *
 * It runs behind the last batch, once: reading a column takes 30 us for 10M rows.  Threads that decode rows and keep ranges of
 * all columns were rejected: so many numbers do not fit in registers.
 */
#include "group/packed.cuh"

#include <algorithm>

#define THREADS 256

/* CTAs of a column, at most: enough for all SMs. */
#define MAX_CTAS 1024

/* The column of a bit, by its place among the bits that are set. */
static __device__ __forceinline__ uint32_t
nth_column(uint32_t mask, uint32_t n)
{
	for (; n > 0; n--)
		mask &= mask - 1;
	return (uint32_t) __ffs((int) mask) - 1;
}

static __device__ __forceinline__ void
raise(uint64_t *greatest, uint64_t value)
{
	/* most values raise nothing */
	if (value > *(volatile uint64_t *) greatest)
		atomicMax((unsigned long long *) greatest, (unsigned long long) value);
}

static __global__ void
__launch_bounds__(THREADS)
find_ranges(const __grid_constant__ mgpu_ranges_request request)
{
	uint32_t	column = nth_column(request.mask, blockIdx.y);
	const uint64_t *codes = request.columns.codes[column];
	uint64_t	num_rows = (uint32_t) request.facts->rows[request.launch % MGPU_GROUP_TOTALS];
	uint64_t	greatest = 0;
	uint64_t	inverse_least = 0;
	uint64_t	num_nulls = 0;

	for (uint64_t row = (uint64_t) blockIdx.x * THREADS + threadIdx.x; row < num_rows; row += (uint64_t) gridDim.x * THREADS)
	{
		bool		is_null = mgpu_is_null(request.columns.nulls, column, row);
		uint64_t	code = codes[row];

		num_nulls += is_null;
		greatest = is_null ? greatest : max(greatest, code);
		inverse_least = is_null ? inverse_least : max(inverse_least, ~code);
	}
	greatest = mgpu_warp_greatest(greatest);
	inverse_least = mgpu_warp_greatest(inverse_least);
	for (int distance = 16; distance > 0; distance /= 2)
		num_nulls += __shfl_xor_sync(MGPU_WHOLE_WARP, (unsigned long long) num_nulls, distance);
	if (threadIdx.x % 32 != 0)
		return;
	raise(&request.facts->greatest[column], greatest);
	raise(&request.facts->inverse_least[column], inverse_least);
	if (num_nulls > 0)
		atomicAdd((unsigned long long *) &request.facts->nulls[column], (unsigned long long) num_nulls);
}

extern "C" cudaError_t
mgpu_group_find_ranges(const mgpu_ranges_request *request, cudaStream_t stream)
{
	uint32_t	num_columns = 0;
	uint32_t	num_ctas = std::min(mgpu_divide_up(request->columns.capacity, THREADS), (uint32_t) MAX_CTAS);

	for (uint32_t mask = request->mask; mask != 0; mask &= mask - 1)
		num_columns++;
	if (num_columns == 0 || num_ctas == 0)
		return cudaSuccess;
	find_ranges<<<dim3(num_ctas, num_columns), THREADS, 0, stream>>>(*request);
	return cudaGetLastError();
}
