/*
 * group/values.cu
 *		The values of groups in order: the numbers that are sorted, how many each group has, and the values again.
 *
 * A number holds the group's code and, below it, how far a value is from the first of its order.  Where both take more
 * than 64 bits, values are sorted by themselves, and then, stably, by their groups' codes.  NULLs come last.
 */
#include "group/packed.cuh"

/* How far a value is from the first of its order. */
static __device__ __forceinline__ uint64_t
value_part(const mgpu_value_packing &values, uint64_t code)
{
	return values.descending ? values.value.greatest - code : code - values.value.least;
}

static __device__ __forceinline__ uint64_t
value_code(const mgpu_value_packing &values, uint64_t part)
{
	return values.descending ? values.value.greatest - part : values.value.least + part;
}

/* What a number compares. */
typedef enum number_parts
{
	GROUP_AND_VALUE = 0,
	VALUE_ALONE,
	GROUP_ALONE
} number_parts;

template <typename Number, number_parts parts>
struct number_function
{
	mgpu_group_packing groups;
	mgpu_value_packing values;
	const uint32_t *order;		/* GROUP_ALONE: of rows */
	Number	   *numbers;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		uint64_t	row = parts == GROUP_ALONE ? order[item] : item;
		bool		is_null = mgpu_is_null(groups.nulls, values.value.column, row);
		uint64_t	number = 0;

		if constexpr (parts == VALUE_ALONE)
			number = is_null ? 0 : value_part(values, values.value.codes[row]);
		else if (is_null)
			number = values.null_number;
		else if constexpr (parts == GROUP_ALONE)
			number = mgpu_group_code(groups, row);
		else
		{
			number = value_part(values, values.value.codes[row]);
			/* a shift by 64 is none */
			if (groups.bits > 0)
				number |= mgpu_group_code(groups, row) << values.group_shift;
		}
		numbers[item] = (Number) number;
	}
};

extern "C" cudaError_t
mgpu_group_pack_values(const mgpu_group_packing *groups, const mgpu_value_packing *values, void *numbers,
					   uint32_t number_bytes, uint64_t num_rows, cudaStream_t stream)
{
	if (number_bytes == 4)
		return mgpu_launch_group_map(number_function<uint32_t, GROUP_AND_VALUE>{*groups, *values, nullptr,
									 (uint32_t *) numbers}, num_rows, stream);
	return mgpu_launch_group_map(number_function<uint64_t, GROUP_AND_VALUE>{*groups, *values, nullptr,
								 (uint64_t *) numbers}, num_rows, stream);
}

extern "C" cudaError_t
mgpu_group_pack_values_alone(const mgpu_group_packing *groups, const mgpu_value_packing *values, uint64_t *numbers,
							 uint64_t num_rows, cudaStream_t stream)
{
	return mgpu_launch_group_map(number_function<uint64_t, VALUE_ALONE>{*groups, *values, nullptr, numbers}, num_rows,
								 stream);
}

extern "C" cudaError_t
mgpu_group_pack_ordered(const mgpu_group_packing *groups, const mgpu_value_packing *values, const uint32_t *order,
						uint64_t *numbers, uint64_t num_rows, cudaStream_t stream)
{
	return mgpu_launch_group_map(number_function<uint64_t, GROUP_ALONE>{*groups, *values, order, numbers}, num_rows,
								 stream);
}

/* ------------------------------------------------- counts and percentiles */

template <typename Number>
struct describe_function
{
	mgpu_values_request request;
	uint64_t	mask;			/* of a number's value */

	__device__ __forceinline__ uint64_t
	first_of(uint64_t group) const
	{
		if (group == 0)
			return 0;
		if (group == request.num_groups)
			return request.num_values;
		return mgpu_first_from((const Number *) request.numbers, request.num_values,
							   request.group_codes[group] << request.values.group_shift);
	}

	__device__ __forceinline__ uint64_t
	code_at(uint64_t position) const
	{
		if (request.second_order != nullptr)
			return request.values.value.codes[request.first_order[request.second_order[position]]];
		return value_code(request.values, ((const Number *) request.numbers)[position] & mask);
	}

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		uint64_t	first = first_of(group);
		uint64_t	end = first_of(group + 1);
		uint64_t   *word = request.words + group * request.record_words;

		*word++ = end - first;
		if (request.different != nullptr)
			*word++ = mgpu_first_from(request.different, *request.num_different, end) -
				mgpu_first_from(request.different, *request.num_different, first);
		for (uint32_t i = 0; i < request.num_percentiles; i++)
		{
			int64_t		low;
			int64_t		high;

			mgpu_percentile_positions(&request.percentiles[i], (int64_t) (end - first), &low, &high);
			*word++ = end > first ? code_at(first + low) : 0;
			*word++ = end > first ? code_at(first + high) : 0;
		}
	}
};

/* Of a number's bits, those of its value. */
static uint64_t
value_mask(const mgpu_value_packing *values)
{
	return values->value.bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << values->value.bits) - 1;
}

extern "C" cudaError_t
mgpu_group_describe_values(const mgpu_values_request *request, cudaStream_t stream)
{
	uint64_t	mask = value_mask(&request->values);

	if (request->number_bytes == 4)
		return mgpu_launch_group_map(describe_function<uint32_t>{*request, mask}, request->num_groups, stream);
	return mgpu_launch_group_map(describe_function<uint64_t>{*request, mask}, request->num_groups, stream);
}

/* ------------------------------------------------------------------ values */

template <typename Number, typename Stored>
struct unpack_function
{
	mgpu_value_packing values;
	const Number *numbers;
	uint32_t	kind;
	uint64_t	mask;			/* of a number's value */
	Stored	   *out;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		out[item] = (Stored) mgpu_column_bits(value_code(values, numbers[item] & mask), kind, sizeof(Stored));
	}
};

template <typename Stored>
struct fetch_function
{
	const uint64_t *codes;
	const uint32_t *first_order;
	const uint32_t *second_order;
	uint32_t	kind;
	Stored	   *out;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		out[item] = (Stored) mgpu_column_bits(codes[first_order[second_order[item]]], kind, sizeof(Stored));
	}
};

template <typename Number, typename Stored>
static cudaError_t
unpack(const mgpu_value_packing *values, const void *numbers, uint32_t kind, uint64_t num_values, void *out,
	   cudaStream_t stream)
{
	return mgpu_launch_group_map(unpack_function<Number, Stored>{*values, (const Number *) numbers, kind, value_mask(values),
								 (Stored *) out}, num_values, stream);
}

template <typename Stored>
static cudaError_t
unpack_stored(const mgpu_value_packing *values, const void *numbers, uint32_t number_bytes, uint32_t kind,
			  uint64_t num_values, void *out, cudaStream_t stream)
{
	if (number_bytes == 4)
		return unpack<uint32_t, Stored>(values, numbers, kind, num_values, out, stream);
	return unpack<uint64_t, Stored>(values, numbers, kind, num_values, out, stream);
}

extern "C" cudaError_t
mgpu_group_unpack_values(const mgpu_value_packing *values, const void *numbers, uint32_t number_bytes, uint32_t kind,
						 uint32_t width, uint64_t num_values, void *out, cudaStream_t stream)
{
	switch (width)
	{
		case 1:
			return unpack_stored<uint8_t>(values, numbers, number_bytes, kind, num_values, out, stream);
		case 2:
			return unpack_stored<uint16_t>(values, numbers, number_bytes, kind, num_values, out, stream);
		case 4:
			return unpack_stored<uint32_t>(values, numbers, number_bytes, kind, num_values, out, stream);
		default:
			return unpack_stored<uint64_t>(values, numbers, number_bytes, kind, num_values, out, stream);
	}
}

template <typename Stored>
static cudaError_t
fetch(const uint64_t *codes, const uint32_t *first_order, const uint32_t *second_order, uint32_t kind,
	  uint64_t num_values, void *out, cudaStream_t stream)
{
	return mgpu_launch_group_map(fetch_function<Stored>{codes, first_order, second_order, kind, (Stored *) out},
								 num_values, stream);
}

extern "C" cudaError_t
mgpu_group_fetch_values(const uint64_t *codes, const uint32_t *first_order, const uint32_t *second_order,
						uint32_t kind, uint32_t width, uint64_t num_values, void *out, cudaStream_t stream)
{
	switch (width)
	{
		case 1:
			return fetch<uint8_t>(codes, first_order, second_order, kind, num_values, out, stream);
		case 2:
			return fetch<uint16_t>(codes, first_order, second_order, kind, num_values, out, stream);
		case 4:
			return fetch<uint32_t>(codes, first_order, second_order, kind, num_values, out, stream);
		default:
			return fetch<uint64_t>(codes, first_order, second_order, kind, num_values, out, stream);
	}
}
