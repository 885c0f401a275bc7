/*
 * group/reduce_reals.cu
 *		Sums and extremes of floats of each group, to the bit of a loop over its rows in their order.
 *
 * Floats are added one after the other.  A warp takes a group: its lanes load 32 values at once, all lanes add them in
 * turn, and each keeps the sum at its own value.  By that each finds its term of the sum of squares, which are added in
 * turn as well.  No product is fused with a sum.  Adding in a tree was rejected: it gives other bits.
 *
 * Sums that are no number become PostgreSQL's own NaN: processors make different ones.
 */
#include "group/packed.cuh"

#define THREADS 128

/* What the values of a group so far add up to; the same in all lanes. */
struct real_sums
{
	uint64_t	count;
	double		sum;
	double		squares;
	float		narrow_sum;
	bool		overflows;
};

/* A lane's value, and the sums around it. */
struct real_value
{
	double		value;
	uint64_t	count;			/* up to it, with it */
	double		before;
	double		sum;			/* with it */
	float		narrow_before;
	float		narrow_sum;
};

static __device__ __forceinline__ double
canonical_nan()
{
	return __longlong_as_double((long long) MGPU_F64_NAN);
}

static __device__ __forceinline__ bool
overflows(double sum, double before, double value)
{
	return isinf(sum) && !isinf(before) && !isinf(value);
}

/* Add the values of the lanes in `valid`, in turn. */
template <bool narrow>
static __device__ __forceinline__ void
add_values(real_sums *sums, real_value *own, uint32_t valid)
{
	int			lane = threadIdx.x % 32;

	for (uint32_t rest = valid; rest != 0; rest &= rest - 1)
	{
		int			source = __ffs((int) rest) - 1;
		double		value = __shfl_sync(MGPU_WHOLE_WARP, own->value, source);
		bool		is_first = sums->count == 0;
		double		sum = is_first ? value : __dadd_rn(sums->sum, value);
		float		narrow_sum = 0;

		if constexpr (narrow)
			narrow_sum = is_first ? (float) value : __fadd_rn(sums->narrow_sum, (float) value);
		sums->count++;
		if (lane == source)
		{
			own->count = sums->count;
			own->before = sums->sum;
			own->sum = sum;
			own->narrow_before = sums->narrow_sum;
			own->narrow_sum = narrow_sum;
		}
		sums->sum = sum;
		sums->narrow_sum = narrow_sum;
	}
}

/* A value's term of the sum of squares. */
static __device__ __forceinline__ double
square_term(const real_value &own)
{
	double		count = (double) own.count;
	double		difference;

	if (own.count == 1)
		return isnan(own.value) || isinf(own.value) ? canonical_nan() : 0;
	difference = __dsub_rn(__dmul_rn(own.value, count), own.sum);
	return __ddiv_rn(__dmul_rn(difference, difference), __dmul_rn(count, __dsub_rn(count, 1)));
}

/* Add the lanes' terms, in turn. */
static __device__ __forceinline__ void
add_squares(real_sums *sums, const real_value &own, uint32_t valid)
{
	bool		is_valid = (valid >> threadIdx.x % 32 & 1) != 0;
	double		term = is_valid ? square_term(own) : 0;
	uint32_t	infinite = __ballot_sync(MGPU_WHOLE_WARP, is_valid && own.count > 1 && isinf(own.sum));
	uint32_t	finite = __ballot_sync(MGPU_WHOLE_WARP, is_valid && !isinf(own.before) && !isinf(own.value));
	uint32_t	first = __ballot_sync(MGPU_WHOLE_WARP, is_valid && own.count == 1);

	for (uint32_t rest = valid; rest != 0; rest &= rest - 1)
	{
		uint32_t	bit = rest & (0 - rest);

		sums->squares = __dadd_rn(sums->squares, __shfl_sync(MGPU_WHOLE_WARP, term, __ffs((int) rest) - 1));
		if ((first & bit) != 0 || ((infinite & bit) == 0 && !isinf(sums->squares)))
			continue;
		if ((finite & bit) != 0)
			sums->overflows = true;
		sums->squares = canonical_nan();
	}
}

template <bool narrow, bool spread>
static __device__ __forceinline__ void
add_chunk(real_sums *sums, real_value *own, uint32_t valid)
{
	bool		is_checked = false;

	add_values<narrow>(sums, own, valid);
	if ((valid >> threadIdx.x % 32 & 1) != 0 && own->count > 1)
	{
		is_checked = narrow && overflows(own->narrow_sum, own->narrow_before, own->value);
		if constexpr (!spread)
			is_checked |= overflows(own->sum, own->before, own->value);
	}
	if (__any_sync(MGPU_WHOLE_WARP, is_checked))
		sums->overflows = true;
	if constexpr (spread)
		add_squares(sums, *own, valid);
}

static __device__ __forceinline__ uint64_t
bits_of(double value)
{
	return isnan(value) ? MGPU_F64_NAN : (uint64_t) __double_as_longlong(value);
}

static __device__ __forceinline__ uint64_t
bits_of_narrow(float value)
{
	return isnan(value) ? MGPU_F32_NAN : __float_as_uint(value);
}

template <bool narrow>
static __device__ __forceinline__ double
value_of(uint64_t code)
{
	if constexpr (narrow)
		return (double) __uint_as_float(mgpu_decode_f32((uint32_t) code));
	return __longlong_as_double((long long) mgpu_decode_f64(code));
}

template <bool narrow, bool spread>
static __global__ void
__launch_bounds__(THREADS)
reduce_groups(const __grid_constant__ mgpu_reduce_request request)
{
	const mgpu_grouped_rows &rows = request.rows;
	uint64_t	group = (uint64_t) blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
	real_sums	sums = {};
	uint64_t	greatest = 0;
	uint64_t	inverse_least = 0;
	uint64_t   *words;

	if (group >= rows.num_groups)
		return;
	for (uint64_t first = rows.starts[group]; first < mgpu_group_end(rows, group); first += 32)
	{
		uint64_t	position = first + threadIdx.x % 32;
		bool		is_valid = position < mgpu_group_end(rows, group);
		uint64_t	row = !is_valid ? 0 : rows.order == nullptr ? position : rows.order[position];
		real_value	own = {};

		is_valid = is_valid && !mgpu_is_null(request.nulls, request.column, row);
		if (is_valid)
		{
			uint64_t	code = request.codes[row];

			own.value = value_of<narrow>(code);
			greatest = max(greatest, code);
			inverse_least = max(inverse_least, ~code);
		}
		add_chunk<narrow, spread>(&sums, &own, __ballot_sync(MGPU_WHOLE_WARP, is_valid));
	}
	greatest = mgpu_warp_greatest(greatest);
	inverse_least = mgpu_warp_greatest(inverse_least);
	if (threadIdx.x % 32 != 0)
		return;
	if (sums.overflows)
		atomicOr(request.flags, MGPU_GROUP_OVERFLOW);
	words = request.words + group * request.record_words;
	words[0] = sums.count;
	words[1] = bits_of(sums.sum);
	words[2] = spread ? bits_of(sums.squares) : 0;
	words[3] = narrow ? bits_of_narrow(sums.narrow_sum) : 0;
	words[4] = ~inverse_least;
	words[5] = greatest;
}

template <bool narrow, bool spread>
static cudaError_t
launch(const mgpu_reduce_request *request, cudaStream_t stream)
{
	uint32_t	num_ctas = mgpu_divide_up(request->rows.num_groups, THREADS / 32);

	if (num_ctas == 0)
		return cudaSuccess;
	reduce_groups<narrow, spread><<<num_ctas, THREADS, 0, stream>>>(*request);
	return cudaGetLastError();
}

extern "C" cudaError_t
mgpu_group_reduce_reals(const mgpu_reduce_request *request, cudaStream_t stream)
{
	bool		narrow = request->width == 4;

	if (request->reduction == MGPU_REDUCE_SPREAD)
		return narrow ? launch<true, true>(request, stream) : launch<false, true>(request, stream);
	return narrow ? launch<true, false>(request, stream) : launch<false, false>(request, stream);
}
