/*
 * group/reduce_pairs.cu
 *		What correlations and regressions need of each group: sums of two columns of floats, of their squares and products.
 *
 * A warp takes a group, as in reduce_reals.cu: its lanes load 32 pairs at once, and all lanes add them in turn, by the
 * formulas of float8_regr_accum and with its rounding.
 */
#include "group/packed.cuh"

#define THREADS 128

/* Of the pairs so far; the same in all lanes. */
struct pair_sums
{
	uint64_t	count;
	double		x;
	double		xx;
	double		y;
	double		yy;
	double		xy;
	bool		overflows;
};

static __device__ __forceinline__ bool
is_finite(double value)
{
	return !isnan(value) && !isinf(value);
}

/* An infinite sum of squares is no number. */
static __device__ __forceinline__ double
without_infinity(double sum)
{
	return isinf(sum) ? __longlong_as_double((long long) MGPU_F64_NAN) : sum;
}

static __device__ __forceinline__ void
begin_sums(pair_sums *sums, double y, double x)
{
	double		nan = __longlong_as_double((long long) MGPU_F64_NAN);

	/* PostgreSQL's sums start at 0, which makes 0 of -0 */
	sums->x = __dadd_rn(0, x);
	sums->y = __dadd_rn(0, y);
	sums->xx = is_finite(x) ? 0 : nan;
	sums->yy = is_finite(y) ? 0 : nan;
	sums->xy = is_finite(x) && is_finite(y) ? 0 : nan;
	sums->count = 1;
}

static __device__ __forceinline__ void
add_pair(pair_sums *sums, double y, double x)
{
	double		before = (double) sums->count;
	double		count = before + 1;
	double		scale = __ddiv_rn(1, __dmul_rn(count, before));
	bool		x_may = !isinf(sums->x) && !isinf(x);
	bool		y_may = !isinf(sums->y) && !isinf(y);
	double		part_x;
	double		part_y;

	sums->count++;
	sums->x = __dadd_rn(sums->x, x);
	sums->y = __dadd_rn(sums->y, y);
	part_x = __dsub_rn(__dmul_rn(x, count), sums->x);
	part_y = __dsub_rn(__dmul_rn(y, count), sums->y);
	sums->xx = __dadd_rn(sums->xx, __dmul_rn(__dmul_rn(part_x, part_x), scale));
	sums->yy = __dadd_rn(sums->yy, __dmul_rn(__dmul_rn(part_y, part_y), scale));
	sums->xy = __dadd_rn(sums->xy, __dmul_rn(__dmul_rn(part_x, part_y), scale));
	sums->overflows |= (x_may && (isinf(sums->x) || isinf(sums->xx))) || (y_may && (isinf(sums->y) || isinf(sums->yy))) ||
		(x_may && y_may && isinf(sums->xy));
	sums->xx = without_infinity(sums->xx);
	sums->yy = without_infinity(sums->yy);
	sums->xy = without_infinity(sums->xy);
}

static __device__ __forceinline__ double
real_of(uint64_t code)
{
	return __longlong_as_double((long long) mgpu_decode_f64(code));
}

static __device__ __forceinline__ uint64_t
bits_of(double value)
{
	return isnan(value) ? MGPU_F64_NAN : (uint64_t) __double_as_longlong(value);
}

static __device__ __forceinline__ void
store_sums(uint64_t *words, const pair_sums &sums)
{
	words[0] = sums.count;
	words[1] = bits_of(sums.x);
	words[2] = bits_of(sums.xx);
	words[3] = bits_of(sums.y);
	words[4] = bits_of(sums.yy);
	words[5] = bits_of(sums.xy);
}

static __global__ void
__launch_bounds__(THREADS)
reduce_pairs(const __grid_constant__ mgpu_reduce_request request)
{
	const mgpu_grouped_rows &rows = request.rows;
	uint64_t	group = (uint64_t) blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
	pair_sums	sums = {};

	if (group >= rows.num_groups)
		return;
	for (uint64_t first = rows.starts[group]; first < mgpu_group_end(rows, group); first += 32)
	{
		uint64_t	position = first + threadIdx.x % 32;
		bool		is_valid = position < mgpu_group_end(rows, group);
		uint64_t	row = !is_valid ? 0 : rows.order == nullptr ? position : rows.order[position];
		double		y = 0;
		double		x = 0;

		is_valid = is_valid && !mgpu_is_null(request.nulls, request.column, row);
		if (is_valid)
		{
			y = real_of(request.codes[row]);
			x = real_of(request.second_codes[row]);
		}
		for (uint32_t rest = __ballot_sync(MGPU_WHOLE_WARP, is_valid); rest != 0; rest &= rest - 1)
		{
			int			source = __ffs((int) rest) - 1;
			double		next_y = __shfl_sync(MGPU_WHOLE_WARP, y, source);
			double		next_x = __shfl_sync(MGPU_WHOLE_WARP, x, source);

			if (sums.count == 0)
				begin_sums(&sums, next_y, next_x);
			else
				add_pair(&sums, next_y, next_x);
		}
	}
	if (threadIdx.x % 32 != 0)
		return;
	if (sums.overflows)
		atomicOr(request.flags, MGPU_GROUP_OVERFLOW);
	store_sums(request.words + group * request.record_words, sums);
}

extern "C" cudaError_t
mgpu_group_reduce_pairs(const mgpu_reduce_request *request, cudaStream_t stream)
{
	uint32_t	num_ctas = mgpu_divide_up(request->rows.num_groups, THREADS / 32);

	if (num_ctas == 0)
		return cudaSuccess;
	reduce_pairs<<<num_ctas, THREADS, 0, stream>>>(*request);
	return cudaGetLastError();
}
