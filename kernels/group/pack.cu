/*
 * group/pack.cu
 *		Keys as the numbers by which rows are sorted, groups in sorted numbers, and the first words of records.
 */
#include "group/packed.cuh"

#include <algorithm>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

/* -------------------------------------------------------------------- pack */

template <typename Code>
struct pack_function
{
	mgpu_group_packing packing;
	const uint32_t *order;
	Code	   *codes;

	__device__ __forceinline__ void
	operator()(uint64_t position) const
	{
		codes[position] = (Code) mgpu_group_code(packing, order == nullptr ? position : order[position]);
	}
};

extern "C" cudaError_t
mgpu_group_pack(const mgpu_group_packing *packing, const uint32_t *order, void *codes, uint32_t code_bytes,
				uint64_t num_rows, cudaStream_t stream)
{
	if (code_bytes == 4)
		return mgpu_launch_group_map(pack_function<uint32_t>{*packing, order, (uint32_t *) codes}, num_rows, stream);
	return mgpu_launch_group_map(pack_function<uint64_t>{*packing, order, (uint64_t *) codes}, num_rows, stream);
}

/* ------------------------------------------------------------------- heads */

/* Whether a group begins at a position of sorted codes. */
template <typename Code>
struct is_head
{
	const Code *codes;
	uint32_t	shift;

	__device__ __forceinline__ bool
	operator()(uint32_t position) const
	{
		return position == 0 || codes[position] >> shift != codes[position - 1] >> shift;
	}
};

/* The same where rows of equal codes may differ in other keys.  The code of a NULL is 0. */
template <typename Code>
struct is_wide_head
{
	is_head<Code> first;
	const uint32_t *order;
	mgpu_group_keys keys;

	__device__ __forceinline__ bool
	operator()(uint32_t position) const
	{
		uint32_t	a;
		uint32_t	b;

		if (first(position))
			return true;
		a = order[position - 1];
		b = order[position];
		for (uint32_t i = 0; i < keys.num_keys; i++)
		{
			if (keys.codes[i][a] != keys.codes[i][b] ||
				mgpu_is_null(keys.nulls, keys.columns[i], a) != mgpu_is_null(keys.nulls, keys.columns[i], b))
				return true;
		}
		return false;
	}
};

/* The same of a sort in two steps, for groups and values. */
struct is_value_head
{
	const uint64_t *group_codes;
	const uint64_t *codes;
	const uint32_t *first_order;
	const uint32_t *second_order;

	__device__ __forceinline__ bool
	operator()(uint32_t position) const
	{
		return position == 0 || group_codes[position] != group_codes[position - 1] ||
			codes[first_order[second_order[position]]] != codes[first_order[second_order[position - 1]]];
	}
};

template <typename Head>
static cudaError_t
select_heads(Head head, uint64_t num_rows, uint32_t *starts, uint64_t *num_groups, void *temp, size_t *temp_bytes,
			 cudaStream_t stream)
{
	return cub::DeviceSelect::If(temp, *temp_bytes, thrust::counting_iterator<uint32_t>(0), starts, num_groups,
								 (int64_t) num_rows, head, stream);
}

/* The bytes of temp that a choice of heads takes. */
template <typename Head>
static uint64_t
temp_bytes_of(uint64_t num_rows)
{
	size_t		bytes = 0;

	if (select_heads(Head{}, num_rows, nullptr, nullptr, nullptr, &bytes, 0) != cudaSuccess)
		(void) cudaGetLastError();	/* the call that does it fails too */
	return bytes;
}

extern "C" uint64_t
mgpu_group_heads_temp_bytes(uint64_t num_rows)
{
	return std::max({temp_bytes_of<is_head<uint32_t>>(num_rows), temp_bytes_of<is_head<uint64_t>>(num_rows),
					temp_bytes_of<is_wide_head<uint32_t>>(num_rows), temp_bytes_of<is_wide_head<uint64_t>>(num_rows),
					temp_bytes_of<is_value_head>(num_rows)});
}

template <typename Code>
static cudaError_t
select_code_heads(const mgpu_sorted_codes *sorted, uint64_t num_rows, uint32_t *starts, uint64_t *num_groups, void *temp,
				  size_t *temp_bytes, cudaStream_t stream)
{
	is_head<Code> head = {static_cast<const Code *>(sorted->codes), sorted->shift};

	if (sorted->keys.num_keys == 0)
		return select_heads(head, num_rows, starts, num_groups, temp, temp_bytes, stream);
	return select_heads(is_wide_head<Code>{head, sorted->order, sorted->keys}, num_rows, starts, num_groups, temp,
						temp_bytes, stream);
}

extern "C" cudaError_t
mgpu_group_heads(const mgpu_sorted_codes *sorted, uint64_t num_rows, uint32_t *starts, uint64_t *num_groups, void *temp,
				 uint64_t temp_bytes, cudaStream_t stream)
{
	size_t		bytes = temp_bytes;

	return (sorted->code_bytes == 4 ? select_code_heads<uint32_t> : select_code_heads<uint64_t>)
		(sorted, num_rows, starts, num_groups, temp, &bytes, stream);
}

extern "C" cudaError_t
mgpu_group_value_heads(const mgpu_values_request *values, uint32_t *starts, uint64_t *num_starts, void *temp,
					   uint64_t temp_bytes, cudaStream_t stream)
{
	is_value_head head = {(const uint64_t *) values->numbers, values->values.value.codes, values->first_order,
		values->second_order};
	size_t		bytes = temp_bytes;

	return select_heads(head, values->num_values, starts, num_starts, temp, &bytes, stream);
}

struct largest_function
{
	const uint32_t *starts;
	const uint64_t *num_groups;
	uint64_t	num_rows;
	uint64_t   *largest;

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		uint64_t	end;

		if (group >= *num_groups)
			return;
		end = group + 1 < *num_groups ? starts[group + 1] : num_rows;
		if (end - starts[group] > *(const volatile uint64_t *) largest)
			atomicMax((unsigned long long *) largest, (unsigned long long) (end - starts[group]));
	}
};

extern "C" cudaError_t
mgpu_group_find_largest(const uint32_t *starts, const uint64_t *num_groups, uint64_t num_rows, uint64_t *largest,
						cudaStream_t stream)
{
	return mgpu_launch_group_map(largest_function{starts, num_groups, num_rows, largest}, num_rows, stream);
}

/* ----------------------------------------------------------------- records */

template <typename Code>
struct record_function
{
	mgpu_group_packing packing;
	mgpu_grouped_rows rows;
	const Code *codes;			/* NULL: all are 0 */
	uint64_t   *group_codes;
	uint64_t   *records;
	uint32_t	record_words;

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		uint64_t	start = rows.starts[group];
		uint64_t	code = codes == nullptr ? 0 : codes[start];
		uint64_t   *record = records + group * record_words;
		uint64_t	null_keys = 0;

		for (uint32_t i = 0; i < packing.num_keys; i++)
		{
			const mgpu_packed_column &key = packing.keys[i];
			uint64_t	part = code >> key.shift & ((UINT64_C(1) << key.bits) - 1);
			bool		is_null = part == key.null_part;

			null_keys |= (uint64_t) is_null << i;
			record[2 + i] = is_null ? 0 : key.least + part;
		}
		record[0] = mgpu_group_end(rows, group) - start;
		record[1] = null_keys;
		group_codes[group] = code;
	}
};

extern "C" cudaError_t
mgpu_group_records(const mgpu_group_packing *packing, const mgpu_grouped_rows *rows, const void *codes,
				   uint32_t code_bytes, uint64_t *group_codes, uint64_t *records, uint32_t record_words,
				   cudaStream_t stream)
{
	if (code_bytes == 4)
		return mgpu_launch_group_map(record_function<uint32_t>{*packing, *rows, (const uint32_t *) codes, group_codes,
									 records, record_words}, rows->num_groups, stream);
	return mgpu_launch_group_map(record_function<uint64_t>{*packing, *rows, (const uint64_t *) codes, group_codes,
								 records, record_words}, rows->num_groups, stream);
}

struct wide_record_function
{
	mgpu_group_keys keys;
	mgpu_grouped_rows rows;
	uint64_t   *group_codes;
	uint64_t   *records;
	uint32_t	record_words;

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		uint64_t	start = rows.starts[group];
		uint32_t	row = rows.order[start];
		uint64_t   *record = records + group * record_words;
		uint64_t	null_keys = 0;

		for (uint32_t i = 0; i < keys.num_keys; i++)
		{
			null_keys |= (uint64_t) mgpu_is_null(keys.nulls, keys.columns[i], row) << i;
			record[2 + i] = keys.codes[i][row];
		}
		record[0] = mgpu_group_end(rows, group) - start;
		record[1] = null_keys;
		group_codes[group] = group;
	}
};

extern "C" cudaError_t
mgpu_group_wide_records(const mgpu_group_keys *keys, const mgpu_grouped_rows *rows, uint64_t *group_codes,
						uint64_t *records, uint32_t record_words, cudaStream_t stream)
{
	return mgpu_launch_group_map(wide_record_function{*keys, *rows, group_codes, records, record_words}, rows->num_groups,
								 stream);
}

/* ----------------------------------------------------------------- numbers */

struct number_rows_function
{
	mgpu_grouped_rows rows;
	uint64_t   *numbers;

	__device__ __forceinline__ void
	operator()(uint64_t position) const
	{
		numbers[rows.order[position]] = mgpu_first_from(rows.starts, rows.num_groups, position + 1) - 1;
	}
};

extern "C" cudaError_t
mgpu_group_number_rows(const mgpu_grouped_rows *rows, uint64_t *numbers, cudaStream_t stream)
{
	return mgpu_launch_group_map(number_rows_function{*rows, numbers}, rows->num_rows, stream);
}
