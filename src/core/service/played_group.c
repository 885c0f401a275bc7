/*
 * service/played_group.c
 *		A job that groups the rows of pages, for tests: what a device would compute, one row after the other.
 *
 * Rows are decoded as the kernels decode them (group_decode.h).  Then they are sorted by keys and position, and each
 * group is computed by itself.  Nothing is done fast.
 */
#include "core/service/played_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/group_decode.h"

/* Keys of more bits in all are refused, as by the kernels. */
#define MOST_KEY_BITS 63

struct mgpu_played_group
{
	mgpu_group_spec spec;
	mgpu_group_source source;
	mgpu_group_record record;
	mgpu_group_result result;
	bool		damaged;
	bool		is_odd;
	bool		overflows;
	uint64_t	capacity;
	mgpu_group_row *rows;
	uint64_t   *order;			/* numbers of rows, by group */
	uint64_t   *records;
	char	   *sorted[MGPU_GROUP_MAX_SORTS];
};

mgpu_played_group *
mgpu_played_group_create(const mgpu_group_source *source)
{
	mgpu_played_group *group = calloc(1, sizeof(mgpu_played_group));

	if (group == NULL)
		return NULL;
	group->spec = *source->spec;
	group->source = *source;
	mgpu_group_plan_record(&group->spec, &group->record);
	return group;
}

void
mgpu_played_group_free(mgpu_played_group *group)
{
	if (group == NULL)
		return;
	for (int i = 0; i < MGPU_GROUP_MAX_SORTS; i++)
		free(group->sorted[i]);
	free(group->records);
	free(group->order);
	free(group->rows);
	free(group);
}

const mgpu_group_result *
mgpu_played_group_result(const mgpu_played_group *group)
{
	return &group->result;
}

const char *
mgpu_played_group_output(const mgpu_played_group *group, mgpu_output output)
{
	return output == MGPU_OUTPUT_GROUPS ? (const char *) group->records : group->sorted[output - MGPU_OUTPUT_SORTED];
}

/* ---------------------------------------------------------------------- rows */

static void
take_row(mgpu_played_group *group, const char *page, uint32_t item)
{
	mgpu_group_row row;
	mgpu_row_state state = mgpu_decode_row(&group->spec, page, item, &row);

	group->damaged |= state == MGPU_ROW_DAMAGED;
	if (state != MGPU_ROW_READ)
		return;
	group->result.num_read++;
	if (!mgpu_group_keeps(&group->spec, &row))
		return;
	group->is_odd |= row.is_odd;
	if (group->result.num_rows == group->capacity)
	{
		group->capacity = 2 * group->capacity + 64;
		group->rows = realloc(group->rows, group->capacity * sizeof(mgpu_group_row));
	}
	group->rows[group->result.num_rows++] = row;
}

void
mgpu_played_group_read(mgpu_played_group *group, const char *batch, uint32_t num_refs)
{
	const mgpu_page_ref *refs = (const mgpu_page_ref *) batch;
	_Alignas(8) char copy[MGPU_PAGE_BYTES];

	for (uint32_t i = 0; i < num_refs; i++)
	{
		const char *page = mgpu_page_of_ref(refs[i], batch, num_refs, group->source.pages, group->source.num_pages);

		group->damaged |= page == NULL;
		if (page == NULL)
			continue;
		memcpy(copy, page, sizeof(copy));
		for (uint32_t item = 0; item < refs[i].num_items; item++)
			take_row(group, copy, item);
	}
}

/* ---------------------------------------------------------------------- keys */

static bool
is_null(const mgpu_group_row *row, uint32_t column)
{
	return (row->nulls >> column & 1) != 0;
}

static uint32_t
bits_of_key(const mgpu_played_group *group, uint32_t column)
{
	uint64_t	least = UINT64_MAX;
	uint64_t	greatest = 0;
	bool		has_null = false;
	bool		has_value = false;
	uint32_t	bits = 0;

	for (uint64_t i = 0; i < group->result.num_rows; i++)
	{
		uint64_t	code = group->rows[i].codes[column];

		has_null |= is_null(&group->rows[i], column);
		if (is_null(&group->rows[i], column))
			continue;
		has_value = true;
		if (code < least)
			least = code;
		if (code > greatest)
			greatest = code;
	}
	if (!has_value)
		return 0;
	if (greatest - least == UINT64_MAX)
		return has_null ? 65 : 64;
	for (uint64_t rest = greatest - least + has_null; rest != 0; rest >>= 1)
		bits++;
	return bits;
}

static bool
keys_fit(const mgpu_played_group *group)
{
	uint32_t	bits = 0;

	for (uint32_t i = 0; i < group->spec.num_keys; i++)
		bits += bits_of_key(group, group->spec.keys[i]);
	return bits <= MOST_KEY_BITS;
}

static int
compare_keys(const mgpu_group_spec *spec, const mgpu_group_row *a, const mgpu_group_row *b)
{
	for (uint32_t i = 0; i < spec->num_keys; i++)
	{
		uint32_t	column = spec->keys[i];

		if (is_null(a, column) != is_null(b, column))
			return is_null(a, column) ? 1 : -1;
		if (a->codes[column] != b->codes[column])
			return a->codes[column] < b->codes[column] ? -1 : 1;
	}
	return 0;
}

/* What qsort compares rows of. */
static const mgpu_played_group *sorting;

static int
compare_rows(const void *a, const void *b)
{
	uint64_t	row_a = *(const uint64_t *) a;
	uint64_t	row_b = *(const uint64_t *) b;
	int			order = compare_keys(&sorting->spec, &sorting->rows[row_a], &sorting->rows[row_b]);

	return order != 0 ? order : row_a < row_b ? -1 : 1;
}

/* ---------------------------------------------------------------- reductions */

/* The rows of one group: order[begin] to order[end - 1]. */
typedef struct played_range
{
	uint64_t	begin;
	uint64_t	end;
} played_range;

static void
add_integer(uint64_t *words, uint64_t code, uint32_t kind)
{
	if (words[0]++ == 0)
		words[3] = words[4] = code;
	words[1] += mgpu_integer_low(code, kind);
	words[2] += (uint64_t) mgpu_integer_high(code, kind);
	if (code < words[3])
		words[3] = code;
	if (code > words[4])
		words[4] = code;
}

typedef struct played_reals
{
	double		count;
	double		sum;
	double		squares;
	float		narrow_sum;
} played_reals;

static bool
is_overflow(double sum, double before, double value)
{
	return isinf(sum) && !isinf(before) && !isinf(value);
}

/* As PostgreSQL's float8_accum. */
static void
add_square(mgpu_played_group *group, played_reals *to, double before, double value)
{
	double		difference = value * to->count - to->sum;

	to->squares += difference * difference / (to->count * (to->count - 1));
	if (!isinf(to->sum) && !isinf(to->squares))
		return;
	group->overflows |= !isinf(before) && !isinf(value);
	to->squares = NAN;
}

static void
add_real(mgpu_played_group *group, played_reals *to, double value, bool narrow, bool spread)
{
	double		before = to->sum;
	float		narrow_before = to->narrow_sum;

	if (to->count++ == 0)
	{
		*to = (played_reals) {1, value, isnan(value) || isinf(value) ? NAN : 0, narrow ? (float) value : 0};
		return;
	}
	to->sum += value;
	if (narrow)
		to->narrow_sum += (float) value;
	group->overflows |= narrow && is_overflow(to->narrow_sum, narrow_before, value);
	if (spread)
		add_square(group, to, before, value);
	else
		group->overflows |= is_overflow(to->sum, before, value);
}

static double
number_of(uint64_t code, uint32_t width)
{
	uint64_t	bits = mgpu_column_bits(code, MGPU_KEY_FLOAT, width);
	float		narrow;
	double		wide;

	memcpy(&narrow, &bits, sizeof(narrow));
	memcpy(&wide, &bits, sizeof(wide));
	return width == sizeof(float) ? narrow : wide;
}

static void
reduce_reals(mgpu_played_group *group, uint32_t number, played_range range, uint64_t *words)
{
	const mgpu_group_column *column = &group->spec.columns[number];
	bool		spread = column->reduction == MGPU_REDUCE_SPREAD;
	played_reals reals = {0};

	for (uint64_t i = range.begin; i < range.end; i++)
	{
		const mgpu_group_row *row = &group->rows[group->order[i]];
		uint64_t	code = row->codes[number];

		if (is_null(row, number))
			continue;
		add_real(group, &reals, number_of(code, column->width), column->width == sizeof(float), spread);
		if (words[0]++ == 0)
			words[4] = words[5] = code;
		if (code < words[4])
			words[4] = code;
		if (code > words[5])
			words[5] = code;
	}
	memcpy(&words[1], &reals.sum, sizeof(double));
	if (spread)
		memcpy(&words[2], &reals.squares, sizeof(double));
	memcpy(&words[3], &reals.narrow_sum, sizeof(float));
}

static void
reduce(mgpu_played_group *group, uint32_t number, played_range range, uint64_t *words)
{
	const mgpu_group_column *column = &group->spec.columns[number];

	if (column->reduction >= MGPU_REDUCE_REAL)
	{
		reduce_reals(group, number, range, words);
		return;
	}
	for (uint64_t i = range.begin; i < range.end && column->reduction != MGPU_REDUCE_NONE; i++)
	{
		const mgpu_group_row *row = &group->rows[group->order[i]];

		if (is_null(row, number))
			continue;
		if (column->reduction == MGPU_REDUCE_COUNT)
			words[0]++;
		else
			add_integer(words, row->codes[number], column->kind);
	}
}

/* --------------------------------------------------------------------- sorts */

static int
compare_codes(const void *a, const void *b)
{
	uint64_t	code_a = *(const uint64_t *) a;
	uint64_t	code_b = *(const uint64_t *) b;

	return code_a < code_b ? -1 : code_a > code_b;
}

/* Put the codes of a group's values in order, and return how many there are. */
static uint64_t
sort_codes(const mgpu_played_group *group, const mgpu_group_sort *sort, played_range range, uint64_t *codes)
{
	uint64_t	num_values = 0;

	for (uint64_t i = range.begin; i < range.end; i++)
	{
		const mgpu_group_row *row = &group->rows[group->order[i]];

		if (!is_null(row, sort->column))
			codes[num_values++] = row->codes[sort->column];
	}
	qsort(codes, num_values, sizeof(uint64_t), compare_codes);
	for (uint64_t i = 0; sort->descending && i < num_values / 2; i++)
	{
		uint64_t	code = codes[i];

		codes[i] = codes[num_values - 1 - i];
		codes[num_values - 1 - i] = code;
	}
	return num_values;
}

static void
put_sort(mgpu_played_group *group, uint32_t number, const uint64_t *codes, uint64_t num_values, uint64_t *record)
{
	const mgpu_group_sort *sort = &group->spec.sorts[number];
	const mgpu_group_column *column = &group->spec.columns[sort->column];
	uint64_t   *words = &record[group->record.sorts[number]];
	uint64_t   *picked = &record[group->record.percentiles[number]];

	words[0] = num_values;
	for (uint64_t i = 0; i < num_values; i++)
	{
		uint64_t	bits = mgpu_column_bits(codes[i], column->kind, column->width);

		if (sort->returns & MGPU_SORT_DISTINCT)
			words[1] += i == 0 || codes[i] != codes[i - 1];
		if (sort->returns & MGPU_SORT_VALUES)
			memcpy(group->sorted[number] + group->result.num_sorted[number]++ * column->width, &bits, column->width);
	}
	for (uint32_t i = 0; i < sort->num_percentiles && num_values > 0; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) num_values, &low, &high);
		picked[2 * i] = codes[low];
		picked[2 * i + 1] = codes[high];
	}
}

/* -------------------------------------------------------------------- groups */

static void
put_group(mgpu_played_group *group, played_range range, uint64_t *codes)
{
	uint64_t   *record = &group->records[group->result.num_groups++ * group->record.num_words];
	const mgpu_group_row *first = range.begin < range.end ? &group->rows[group->order[range.begin]] : NULL;

	record[0] = range.end - range.begin;
	for (uint32_t i = 0; i < group->spec.num_keys; i++)
	{
		if (is_null(first, group->spec.keys[i]))
			record[1] |= UINT64_C(1) << i;
		else
			record[group->record.keys + i] = first->codes[group->spec.keys[i]];
	}
	for (uint32_t i = 0; i < group->spec.num_columns; i++)
		reduce(group, i, range, &record[group->record.reductions[i]]);
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
		put_sort(group, i, codes, sort_codes(group, &group->spec.sorts[i], range, codes), record);
}

static void
put_groups(mgpu_played_group *group, uint64_t *codes)
{
	uint64_t	num_rows = group->result.num_rows;
	played_range range = {0, 0};

	while (range.begin < num_rows)
	{
		const mgpu_group_row *first = &group->rows[group->order[range.begin]];

		for (range.end = range.begin + 1; range.end < num_rows; range.end++)
		{
			if (compare_keys(&group->spec, first, &group->rows[group->order[range.end]]) != 0)
				break;
		}
		put_group(group, range, codes);
		range.begin = range.end;
	}
	if (num_rows == 0 && group->spec.num_keys == 0)
		put_group(group, range, codes);
}

mgpu_status
mgpu_played_group_finish(mgpu_played_group *group, mgpu_error *err)
{
	uint64_t	num_rows = group->result.num_rows;
	uint64_t   *codes;

	if (group->damaged)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a page has rows that cannot be read");
	if (group->is_odd)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a column has a negative zero or an unusual NaN");
	if (!keys_fit(group))
		return mgpu_fail(err, MGPU_UNSUPPORTED, "the keys take more than %d bits", MOST_KEY_BITS);
	codes = calloc(num_rows + 1, sizeof(uint64_t));
	group->order = calloc(num_rows + 1, sizeof(uint64_t));
	group->records = calloc((num_rows + 1) * group->record.num_words, sizeof(uint64_t));
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
		group->sorted[i] = calloc(num_rows + 1, sizeof(uint64_t));
	for (uint64_t i = 0; i < num_rows; i++)
		group->order[i] = i;
	sorting = group;
	qsort(group->order, num_rows, sizeof(uint64_t), compare_rows);
	put_groups(group, codes);
	free(codes);
	return group->overflows ? mgpu_fail(err, MGPU_UNSUPPORTED, "a sum overflows") : MGPU_OK;
}
