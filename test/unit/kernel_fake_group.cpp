/*
 * kernel_fake_group.cpp
 *		The kernels of group/group.h for kernel_fake_device.cpp: the same numbers, by loops on the host.
 *
 * What the engine plans is real: packing, memory, the order of its steps.
 */
#include "kernel_fake.h"

#include <cmath>
#include <cstring>

#include "core/group_pairs.h"
#include "group/group.h"

static bool
is_null(const uint32_t *nulls, uint32_t column, uint64_t row)
{
	return (nulls[row] >> column & 1) != 0;
}

/* ------------------------------------------------------------------ decode */

static void
keep_row(const mgpu_decode_request &request, const mgpu_row_program &program, mgpu_row_frame *frame, uint64_t place)
{
	mgpu_group_control *control = request.control;

	mgpu_run_row_columns(&control->spec, &program, frame);
	request.columns.nulls[place] = 0;
	for (uint32_t i = 0; i < control->spec.num_columns; i++)
	{
		uint64_t	code;
		mgpu_cell_state cell = mgpu_row_cell(&control->spec, &program, frame, i, &code);

		control->facts.flags |= cell == MGPU_CELL_FAULT ? MGPU_GROUP_FAULT : cell == MGPU_CELL_ODD ? MGPU_GROUP_ODD : 0;
		request.columns.nulls[place] |= (uint32_t) (cell == MGPU_CELL_NULL) << i;
		if (request.columns.codes[i] != nullptr)
			request.columns.codes[i][place] = code;
	}
}

/* Their number. */
static uint64_t
keep_rows(const mgpu_decode_request &request, const mgpu_row_program &program, mgpu_row_pairs *pairs, mgpu_row_frame *frame, uint64_t *num_rows)
{
	mgpu_group_control *control = request.control;
	uint64_t	count = 0;

	while (mgpu_next_row(&control->spec, &program, pairs, frame))
	{
		count++;
		if (*num_rows < request.columns.capacity)
			keep_row(request, program, frame, (*num_rows)++);
		else if (control->spec.num_matches > 0)
			control->facts.flags |= MGPU_GROUP_FULL;
		else
			abort();			/* the engine makes room */
	}
	control->facts.flags |= pairs->is_fault ? MGPU_GROUP_FAULT : 0;
	return count;
}

static void
decode_row(const mgpu_decode_request &request, const mgpu_row_program &program, const char *page, uint32_t item,
		   mgpu_page_ref ref, uint64_t *num_rows)
{
	mgpu_group_control *control = request.control;
	mgpu_row_frame frame;
	mgpu_row_pairs pairs;
	mgpu_row_state state = mgpu_find_row_inputs(&control->spec, page, mgpu_tid_of(ref, item), &frame);

	control->facts.read_of_source[ref.source] += state == MGPU_ROW_READ;
	control->facts.flags |= state == MGPU_ROW_DAMAGED ? MGPU_GROUP_DAMAGED : 0;
	if (state != MGPU_ROW_READ)
		return;
	mgpu_begin_row(&pairs, request.marked);
	control->facts.rows_of_source[ref.source] += keep_rows(request, program, &pairs, &frame, num_rows);
}

/* The rows of a build that come themselves. */
static void
decode_added(const mgpu_decode_request &request, uint64_t *num_rows)
{
	const mgpu_group_spec *spec = &request.control->spec;
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program = mgpu_group_program(spec, request.builds, constants);
	mgpu_row_frame frame;
	mgpu_row_pairs pairs;

	for (uint32_t i = 0; i < spec->num_constants; i++)
		constants[i] = mgpu_group_constant_of(spec, i);
	for (uint64_t row = request.first_added; row < request.first_added + request.num_added; row++)
	{
		if (!mgpu_is_added(spec, request.marked, row))
			continue;
		mgpu_begin_added_row(spec, &program, (int64_t) row, &pairs, &frame);
		(void) keep_rows(request, program, &pairs, &frame, num_rows);
	}
}

static void
decode_page(const mgpu_decode_request &request, mgpu_page_ref ref, uint64_t *num_rows)
{
	const char *page = mgpu_page_of_ref(ref, request.refs, request.num_refs, &request.places);
	char	   *kept = mgpu_kept_place_of_ref(ref, &request.places);
	const mgpu_group_spec *spec = &request.control->spec;
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program = mgpu_group_program(spec, request.builds, constants);

	for (uint32_t i = 0; i < spec->num_constants; i++)
		constants[i] = mgpu_group_constant_of(spec, i);
	if (page == nullptr)
		request.control->facts.flags |= MGPU_GROUP_DAMAGED;
	else if (kept != nullptr)
		memcpy(kept, page, MGPU_PAGE_BYTES);
	for (uint32_t item = 0; page != nullptr && item < ref.num_items; item++)
		decode_row(request, program, page, item, ref, num_rows);
}

extern "C" cudaError_t
mgpu_group_decode(const mgpu_decode_request *request_in, cudaStream_t stream)
{
	mgpu_decode_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		uint64_t	total = request.control->facts.rows[(request.launch - 1) % MGPU_GROUP_TOTALS];
		uint64_t	num_rows = (uint32_t) total;

		if (request.control->num_tickets[request.launch % MGPU_DECODE_PLACES] != request.num_tickets || total >> 32 != request.launch - 1)
			abort();
		for (uint32_t i = 0; request.num_added == 0 && i < request.num_refs; i++)
			decode_page(request, request.refs[i], &num_rows);
		decode_added(request, &num_rows);
		request.control->num_tickets[request.launch % MGPU_DECODE_PLACES] += request.num_refs;
		total = (uint64_t) request.launch << 32 | num_rows;
		request.control->facts.rows[request.launch % MGPU_GROUP_TOTALS] = total;
		*request.progress = total;
		*request.landed = request.landed_number;
	});
}

static void
find_range(const mgpu_ranges_request &request, uint32_t column)
{
	mgpu_group_facts *facts = request.facts;
	uint64_t	num_rows = (uint32_t) facts->rows[request.launch % MGPU_GROUP_TOTALS];

	for (uint64_t row = 0; row < num_rows; row++)
	{
		uint64_t	code = request.columns.codes[column][row];

		if (is_null(request.columns.nulls, column, row))
		{
			facts->nulls[column]++;
			continue;
		}
		facts->greatest[column] = std::max(facts->greatest[column], code);
		facts->inverse_least[column] = std::max(facts->inverse_least[column], ~code);
	}
}

extern "C" cudaError_t
mgpu_group_find_ranges(const mgpu_ranges_request *request_in, cudaStream_t stream)
{
	mgpu_ranges_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		for (uint32_t i = 0; i < MGPU_GROUP_MAX_COLUMNS; i++)
		{
			if ((request.mask >> i & 1) != 0)
				find_range(request, i);
		}
	});
}

/* ------------------------------------------------------------------ groups */

static uint64_t
group_code(const mgpu_group_packing &packing, uint64_t row)
{
	uint64_t	code = 0;

	for (uint32_t i = 0; i < packing.num_keys; i++)
	{
		const mgpu_packed_column &key = packing.keys[i];

		if (key.bits > 0)
			code |= (is_null(packing.nulls, key.column, row) ? key.null_part : key.first_part +
					 (key.descending ? key.greatest - key.codes[row] : key.codes[row] - key.least)) << key.shift;
	}
	return code;
}

/* A number of an array of 4 or 8 bytes each. */
static uint64_t
number_at(const void *numbers, uint32_t bytes, uint64_t item)
{
	return bytes == 4 ? ((const uint32_t *) numbers)[item] : ((const uint64_t *) numbers)[item];
}

static void
set_number(void *numbers, uint32_t bytes, uint64_t item, uint64_t number)
{
	if (bytes == 4)
		((uint32_t *) numbers)[item] = (uint32_t) number;
	else
		((uint64_t *) numbers)[item] = number;
}

extern "C" cudaError_t
mgpu_group_pack(const mgpu_group_packing *packing_in, const uint32_t *order, void *codes, uint32_t code_bytes,
				uint64_t num_rows, cudaStream_t stream)
{
	mgpu_group_packing packing = *packing_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t row = 0; row < num_rows; row++)
			set_number(codes, code_bytes, row, group_code(packing, order == nullptr ? row : order[row]));
	});
}

extern "C" uint64_t
mgpu_group_heads_temp_bytes(uint64_t num_rows)
{
	return num_rows;
}

/* Whether rows of equal codes differ in the keys that are not in these. */
static bool
differ(const mgpu_group_keys &keys, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < keys.num_keys; i++)
	{
		if (keys.codes[i][a] != keys.codes[i][b] || is_null(keys.nulls, keys.columns[i], a) != is_null(keys.nulls, keys.columns[i], b))
			return true;
	}
	return false;
}

extern "C" cudaError_t
mgpu_group_heads(const mgpu_sorted_codes *sorted_in, uint64_t num_rows, uint32_t *starts, uint64_t *num_groups, void *temp,
				 uint64_t temp_bytes, cudaStream_t stream)
{
	mgpu_sorted_codes sorted = *sorted_in;

	return enqueue(stream, [=] ()
	{
		memset(temp, 0xDB, temp_bytes);
		*num_groups = 0;
		for (uint64_t i = 0; i < num_rows; i++)
		{
			if (i == 0 || number_at(sorted.codes, sorted.code_bytes, i) >> sorted.shift !=
				number_at(sorted.codes, sorted.code_bytes, i - 1) >> sorted.shift ||
				(sorted.keys.num_keys > 0 && differ(sorted.keys, sorted.order[i - 1], sorted.order[i])))
				starts[(*num_groups)++] = (uint32_t) i;
		}
	});
}

extern "C" cudaError_t
mgpu_group_find_largest(const uint32_t *starts, const uint64_t *num_groups, uint64_t num_rows, uint64_t *largest,
						cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < *num_groups; i++)
			*largest = std::max(*largest, (i + 1 < *num_groups ? starts[i + 1] : num_rows) - starts[i]);
	});
}

static uint64_t
group_end(const mgpu_grouped_rows &rows, uint64_t group)
{
	return group + 1 < rows.num_groups ? rows.starts[group + 1] : rows.num_rows;
}

extern "C" cudaError_t
mgpu_group_records(const mgpu_group_packing *packing_in, const mgpu_grouped_rows *rows_in, const void *codes,
				   uint32_t code_bytes, uint64_t *group_codes, uint64_t *records, uint32_t record_words,
				   cudaStream_t stream)
{
	mgpu_group_packing packing = *packing_in;
	mgpu_grouped_rows rows = *rows_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < rows.num_groups; group++)
		{
			uint64_t   *record = records + group * record_words;

			group_codes[group] = codes == nullptr ? 0 : number_at(codes, code_bytes, rows.starts[group]);
			record[0] = group_end(rows, group) - rows.starts[group];
			record[1] = 0;
			for (uint32_t i = 0; i < packing.num_keys; i++)
			{
				const mgpu_packed_column &key = packing.keys[i];
				uint64_t	part = group_codes[group] >> key.shift & ((UINT64_C(1) << key.bits) - 1);

				record[1] |= (uint64_t) (part == key.null_part) << i;
				record[2 + i] = part == key.null_part ? 0 : key.least + part;
			}
		}
	});
}

extern "C" cudaError_t
mgpu_group_wide_records(const mgpu_group_keys *keys_in, const mgpu_grouped_rows *rows_in, uint64_t *group_codes,
						uint64_t *records, uint32_t record_words, cudaStream_t stream)
{
	mgpu_group_keys keys = *keys_in;
	mgpu_grouped_rows rows = *rows_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < rows.num_groups; group++)
		{
			uint32_t	row = rows.order[rows.starts[group]];
			uint64_t   *record = records + group * record_words;

			group_codes[group] = group;
			record[0] = group_end(rows, group) - rows.starts[group];
			record[1] = 0;
			for (uint32_t i = 0; i < keys.num_keys; i++)
			{
				record[1] |= (uint64_t) is_null(keys.nulls, keys.columns[i], row) << i;
				record[2 + i] = keys.codes[i][row];
			}
		}
	});
}

extern "C" cudaError_t
mgpu_group_number_rows(const mgpu_grouped_rows *rows_in, uint64_t *numbers, cudaStream_t stream)
{
	mgpu_grouped_rows rows = *rows_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < rows.num_groups; group++)
		{
			for (uint64_t i = rows.starts[group]; i < std::min(group_end(rows, group), rows.num_rows); i++)
				numbers[rows.order[i]] = group;
		}
	});
}

/* -------------------------------------------------------------- reductions */

/* Calls add(code) for the values of a group, in order; returns the words of its record. */
template <typename Add>
static uint64_t *
for_values(const mgpu_reduce_request &request, uint64_t group, Add add)
{
	for (uint64_t i = request.rows.starts[group]; i < group_end(request.rows, group); i++)
	{
		uint64_t	row = request.rows.order == nullptr ? i : request.rows.order[i];

		if (!is_null(request.nulls, request.column, row))
			add(request.codes[row]);
	}
	return request.words + group * request.record_words;
}

extern "C" cudaError_t
mgpu_group_reduce(const mgpu_reduce_request *request_in, cudaStream_t stream)
{
	mgpu_reduce_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < request.rows.num_groups; group++)
		{
			uint64_t	sums[5] = {0, 0, 0, UINT64_MAX, 0};
			uint64_t   *words = for_values(request, group, [&] (uint64_t code)
			{
				sums[0]++;
				sums[1] += mgpu_integer_low(code, request.kind);
				sums[2] += (uint64_t) mgpu_integer_high(code, request.kind);
				sums[3] = std::min(sums[3], code);
				sums[4] = std::max(sums[4], code);
			});

			memcpy(words, sums, request.reduction == MGPU_REDUCE_COUNT ? 8 : sizeof(sums));
		}
	});
}

extern "C" cudaError_t
mgpu_group_fetch_extremes(const mgpu_extremes_request *request_in, cudaStream_t stream)
{
	mgpu_extremes_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < request.num_groups; group++)
		{
			uint64_t   *words = request.words + group * request.record_words;
			uint64_t	ranks[] = {words[3], words[4]};

			for (uint32_t i = 0; i < 2 * request.num_cells; i++)
			{
				bool		is_least = i < request.num_cells;

				words[1 + i] = words[0] == 0 ? (is_least ? UINT64_MAX : 0) :
					request.codes[i % request.num_cells][request.order[request.starts[ranks[!is_least]]]];
			}
		}
	});
}

struct fake_sums
{
	uint64_t	count = 0;
	double		sum = 0;
	double		squares = 0;
	float		narrow_sum = 0;
	bool		overflows = false;

	static bool
	is_overflow(double after, double before, double value)
	{
		return std::isinf(after) && !std::isinf(before) && !std::isinf(value);
	}

	void
	add(double value, bool narrow, bool spread)
	{
		double		before = sum;
		float		narrow_before = narrow_sum;

		sum = count == 0 ? value : sum + value;
		narrow_sum = count == 0 ? (float) value : narrow_sum + (float) value;
		if (++count == 1)
		{
			squares = std::isfinite(value) ? 0 : NAN;
			return;
		}
		overflows |= narrow && is_overflow(narrow_sum, narrow_before, value);
		overflows |= !spread && is_overflow(sum, before, value);
		if (spread)
			add_square(before, value);
	}

	void
	add_square(double before, double value)
	{
		double		difference = value * (double) count - sum;

		squares += difference * difference / ((double) count * ((double) count - 1));
		if (!std::isinf(sum) && !std::isinf(squares))
			return;
		overflows |= !std::isinf(before) && !std::isinf(value);
		squares = NAN;
	}
};

template <typename Bits, typename Real>
static uint64_t
bits_of(Real real, Bits nan)
{
	Bits		bits;

	memcpy(&bits, &real, sizeof(bits));
	return std::isnan(real) ? nan : bits;
}

static double
real_of(uint64_t code, bool narrow)
{
	uint32_t	narrow_bits = narrow ? mgpu_decode_f32((uint32_t) code) : 0;
	uint64_t	bits = mgpu_decode_f64(code);
	double		real;
	float		narrow_real;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&narrow_real, &narrow_bits, sizeof(narrow_real));
	return narrow ? narrow_real : real;
}

extern "C" cudaError_t
mgpu_group_reduce_reals(const mgpu_reduce_request *request_in, cudaStream_t stream)
{
	mgpu_reduce_request request = *request_in;
	bool		narrow = request.width == 4;
	bool		spread = request.reduction == MGPU_REDUCE_SPREAD;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < request.rows.num_groups; group++)
		{
			fake_sums	sums;
			uint64_t	least = UINT64_MAX;
			uint64_t	greatest = 0;
			uint64_t   *words = for_values(request, group, [&] (uint64_t code)
			{
				least = std::min(least, code);
				greatest = std::max(greatest, code);
				sums.add(real_of(code, narrow), narrow, spread);
			});
			uint64_t	all[] = {sums.count, bits_of(sums.sum, MGPU_F64_NAN), spread ? bits_of(sums.squares, MGPU_F64_NAN) : 0,
			narrow ? bits_of(sums.narrow_sum, MGPU_F32_NAN) : 0, least, greatest};

			memcpy(words, all, sizeof(all));
			*request.flags |= sums.overflows ? MGPU_GROUP_OVERFLOW : 0;
		}
	});
}

/* x, xx, y, yy, xy */
struct fake_pairs
{
	double		sums[5] = {0, 0, 0, 0, 0};
	double		count = 0;
	bool		overflows = false;

	void
	add(double y, double x)
	{
		double		before[] = {sums[0], sums[2]};

		sums[0] += x;
		sums[2] += y;
		if (++count == 1)
		{
			sums[1] = std::isfinite(x) ? 0 : NAN;
			sums[3] = std::isfinite(y) ? 0 : NAN;
			sums[4] = sums[1] + sums[3];
			return;
		}
		add_products(x * count - sums[0], y * count - sums[2]);
		overflows |= !std::isinf(before[0]) && !std::isinf(x) && (std::isinf(sums[0]) || std::isinf(sums[1]));
		overflows |= !std::isinf(before[1]) && !std::isinf(y) && (std::isinf(sums[2]) || std::isinf(sums[3]));
		overflows |= !std::isinf(before[0]) && !std::isinf(x) && !std::isinf(before[1]) && !std::isinf(y) && std::isinf(sums[4]);
		for (int i : {1, 3, 4})
			sums[i] = std::isinf(sums[i]) ? NAN : sums[i];
	}

	void
	add_products(double part_x, double part_y)
	{
		double		scale = 1.0 / (count * (count - 1));

		sums[1] += part_x * part_x * scale;
		sums[3] += part_y * part_y * scale;
		sums[4] += part_x * part_y * scale;
	}
};

extern "C" cudaError_t
mgpu_group_reduce_pairs(const mgpu_reduce_request *request_in, cudaStream_t stream)
{
	mgpu_reduce_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t group = 0; group < request.rows.num_groups; group++)
		{
			fake_pairs	pairs;
			uint64_t   *words = request.words + group * request.record_words;

			for (uint64_t i = request.rows.starts[group]; i < group_end(request.rows, group); i++)
			{
				uint64_t	row = request.rows.order == nullptr ? i : request.rows.order[i];

				if (!is_null(request.nulls, request.column, row))
					pairs.add(real_of(request.codes[row], false), real_of(request.second_codes[row], false));
			}
			words[0] = (uint64_t) pairs.count;
			for (int i = 0; i < 5; i++)
				words[1 + i] = bits_of(pairs.sums[i], MGPU_F64_NAN);
			*request.flags |= pairs.overflows ? MGPU_GROUP_OVERFLOW : 0;
		}
	});
}

/* ------------------------------------------------------------------- sorts */

static uint64_t
value_part(const mgpu_value_packing &values, uint64_t row)
{
	uint64_t	code = values.value.codes[row];

	return values.descending ? values.value.greatest - code : code - values.value.least;
}

extern "C" cudaError_t
mgpu_group_pack_values(const mgpu_group_packing *groups_in, const mgpu_value_packing *values_in, void *numbers,
					   uint32_t number_bytes, uint64_t num_rows, cudaStream_t stream)
{
	mgpu_group_packing groups = *groups_in;
	mgpu_value_packing values = *values_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t row = 0; row < num_rows; row++)
			set_number(numbers, number_bytes, row, is_null(groups.nulls, values.value.column, row) ? values.null_number :
					   (groups.bits > 0 ? group_code(groups, row) << values.group_shift : 0) | value_part(values, row));
	});
}

extern "C" cudaError_t
mgpu_group_pack_values_alone(const mgpu_group_packing *groups_in, const mgpu_value_packing *values_in,
							 uint64_t *numbers, uint64_t num_rows, cudaStream_t stream)
{
	mgpu_group_packing groups = *groups_in;
	mgpu_value_packing values = *values_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t row = 0; row < num_rows; row++)
			numbers[row] = is_null(groups.nulls, values.value.column, row) ? 0 : value_part(values, row);
	});
}

extern "C" cudaError_t
mgpu_group_pack_ordered(const mgpu_group_packing *groups_in, const mgpu_value_packing *values_in,
						const uint32_t *order, uint64_t *numbers, uint64_t num_rows, cudaStream_t stream)
{
	mgpu_group_packing groups = *groups_in;
	mgpu_value_packing values = *values_in;

	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_rows; i++)
			numbers[i] = is_null(groups.nulls, values.value.column, order[i]) ? values.null_number :
				group_code(groups, order[i]);
	});
}

/* The code of a value in a sort's order. */
static uint64_t
sorted_code(const mgpu_values_request &request, uint64_t position)
{
	const mgpu_value_packing &values = request.values;
	uint64_t	mask = values.value.bits == 64 ? UINT64_MAX : (UINT64_C(1) << values.value.bits) - 1;
	uint64_t	part;

	if (request.second_order != nullptr)
		return values.value.codes[request.first_order[request.second_order[position]]];
	part = number_at(request.numbers, request.number_bytes, position) & mask;
	return values.descending ? values.value.greatest - part : values.value.least + part;
}

/* The words of one group, whose values these are. */
static void
describe_group(const mgpu_values_request &request, uint64_t begin, uint64_t end, uint64_t *word)
{
	const uint32_t *different = request.different;	/* ascending */

	*word++ = end - begin;
	if (different != nullptr)
	{
		const uint32_t *last = different + *request.num_different;

		*word++ = (uint64_t) (std::lower_bound(different, last, end) - std::lower_bound(different, last, begin));
	}
	for (uint32_t i = 0; i < request.num_percentiles; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&request.percentiles[i], (int64_t) (end - begin), &low, &high);
		*word++ = end > begin ? sorted_code(request, begin + (uint64_t) low) : 0;
		*word++ = end > begin ? sorted_code(request, begin + (uint64_t) high) : 0;
	}
}

extern "C" cudaError_t
mgpu_group_describe_values(const mgpu_values_request *request_in, cudaStream_t stream)
{
	mgpu_values_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		uint64_t	position = 0;

		for (uint64_t group = 0; group < request.num_groups; group++)
		{
			uint64_t	begin = position;

			while (position < request.num_values &&
				   (request.num_groups == 1 || number_at(request.numbers, request.number_bytes, position) >>
					request.values.group_shift == request.group_codes[group]))
				position++;
			describe_group(request, begin, position, request.words + group * request.record_words);
		}
		if (position != request.num_values)
			abort();
	});
}

extern "C" cudaError_t
mgpu_group_value_heads(const mgpu_values_request *request_in, uint32_t *starts, uint64_t *num_starts, void *, uint64_t,
					   cudaStream_t stream)
{
	mgpu_values_request request = *request_in;

	return enqueue(stream, [=] ()
	{
		*num_starts = 0;
		for (uint64_t i = 0; i < request.num_values; i++)
		{
			if (i == 0 || number_at(request.numbers, 8, i) != number_at(request.numbers, 8, i - 1) ||
				sorted_code(request, i) != sorted_code(request, i - 1))
				starts[(*num_starts)++] = (uint32_t) i;
		}
	});
}

static void
store_value(void *out, uint32_t width, uint64_t item, uint64_t code, uint32_t kind)
{
	uint64_t	bits = mgpu_column_bits(code, kind, width);

	memcpy((char *) out + item * width, &bits, width);
}

extern "C" cudaError_t
mgpu_group_unpack_values(const mgpu_value_packing *values_in, const void *numbers, uint32_t number_bytes,
						 uint32_t kind, uint32_t width, uint64_t num_values, void *out, cudaStream_t stream)
{
	mgpu_value_packing values = *values_in;

	return enqueue(stream, [=] ()
	{
		uint64_t	mask = values.value.bits == 64 ? UINT64_MAX : (UINT64_C(1) << values.value.bits) - 1;

		for (uint64_t i = 0; i < num_values; i++)
		{
			uint64_t	part = number_at(numbers, number_bytes, i) & mask;

			store_value(out, width, i, values.descending ? values.value.greatest - part : values.value.least + part, kind);
		}
	});
}

extern "C" cudaError_t
mgpu_group_fetch_values(const uint64_t *codes, const uint32_t *first_order, const uint32_t *second_order,
						uint32_t kind, uint32_t width, uint64_t num_values, void *out, cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_values; i++)
			store_value(out, width, i, codes[first_order[second_order[i]]], kind);
	});
}

/* -------------------------------------------------------------------- limit */

static bool
are_peers(const mgpu_limit_request &request, const mgpu_group_spec &spec, uint64_t a, uint64_t b)
{
	for (uint32_t i = 0; i < spec.num_orders; i++)
	{
		uint32_t	column = spec.orders[i].column;

		if (is_null(request.columns.nulls, column, request.order[a]) != is_null(request.columns.nulls, column, request.order[b]) ||
			request.columns.codes[column][request.order[a]] != request.columns.codes[column][request.order[b]])
			return false;
	}
	return true;
}

/* How many rows of a group are within the limit. */
static uint32_t
count_kept(const mgpu_limit_request &request, const mgpu_group_spec &spec, uint64_t begin, uint64_t end)
{
	uint64_t	rank = 0;
	uint64_t	dense_rank = 0;
	uint64_t	position = begin;

	for (; position < end; position++)
	{
		bool		is_peer = position > begin && are_peers(request, spec, position - 1, position);
		uint64_t	place = position - begin + 1;

		rank = is_peer ? rank : place;
		dense_rank += !is_peer;
		if ((spec.limit_rule == MGPU_LIMIT_ROWS ? place : spec.limit_rule == MGPU_LIMIT_RANKS ? rank : dense_rank) > spec.limit)
			break;
	}
	return (uint32_t) (position - begin);
}

extern "C" uint64_t
mgpu_group_limit_temp_bytes(uint64_t num_rows)
{
	return num_rows;
}

extern "C" cudaError_t
mgpu_group_limit_rows(const mgpu_limit_request *request_in, void *temp, uint64_t temp_bytes, cudaStream_t stream)
{
	mgpu_limit_request request = *request_in;
	mgpu_group_spec spec = *request.spec;

	return enqueue(stream, [=] ()
	{
		uint64_t	num_groups = *request.num_groups;
		uint32_t	total = 0;

		memset(temp, 0xDB, temp_bytes);
		for (uint64_t group = 0; group < request.num_rows; group++)
		{
			if (group < num_groups)
				total += count_kept(request, spec, request.starts[group],
									group + 1 < num_groups ? request.starts[group + 1] : request.num_rows);
			request.ends[group] = total;
		}
		*request.num_returned = total;
	});
}

extern "C" cudaError_t
mgpu_group_return_rows(const mgpu_limit_request *request_in, const mgpu_returned_rows *rows_in, cudaStream_t stream)
{
	mgpu_limit_request request = *request_in;
	mgpu_returned_rows rows = *rows_in;
	mgpu_group_spec spec = *request.spec;

	return enqueue(stream, [=] ()
	{
		uint64_t	item = 0;

		for (uint64_t group = 0; group < rows.num_groups; group++)
		{
			for (uint64_t position = request.starts[group]; item < request.ends[group]; item++, position++)
			{
				uint32_t	row = request.order[position];
				uint32_t	marks = position == request.starts[group] ? MGPU_MARK_GROUP | MGPU_MARK_PEERS :
					are_peers(request, spec, position - 1, position) ? 0 : MGPU_MARK_PEERS;

				for (uint32_t i = 0; i < spec.num_columns; i++)
				{
					if (rows.values[i] == nullptr)
						continue;
					store_value(rows.values[i], spec.columns[i].width, item, request.columns.codes[i][row], spec.columns[i].kind);
					if (!is_null(request.columns.nulls, i, row))
						continue;
					marks |= 1u << i;
					memset((char *) rows.values[i] + item * spec.columns[i].width, 0, spec.columns[i].width);
				}
				rows.marks[item] = marks;
			}
		}
	});
}

extern "C" cudaError_t
mgpu_group_compose(const uint32_t *first, const uint32_t *second, uint64_t num_rows, uint32_t *out, cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_rows; i++)
			out[i] = first[second[i]];
	});
}
