/*
 * played_group.c
 *		Jobs of MGPU_OP_GROUP on played devices, in plain C.
 *
 * What a device does by kernels happens here row by row: pages are decoded by the same code, and rows are kept whole.
 * They are sorted by their keys and order columns, and then by their numbers.  Each group is reduced in a loop that does what
 * src/exec/reduced.c does.  Plain loops were preferred to anything faster: kernels are tested against this.
 */
#include "played/played_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/group_decode.h"

struct played_group
{
	mgpu_group_spec spec;
	mgpu_group_record record;
	const char *pages;
	uint64_t	num_pages;
	mgpu_group_row *rows;
	uint64_t	num_rows;
	uint64_t	capacity;
	bool		is_damaged;
	bool		is_odd;
	bool		overflows;
	mgpu_group_result result;
	uint64_t   *order;			/* rows, group after group */
	uint64_t   *records;
	char	   *sorted[MGPU_GROUP_MAX_VALUES];	/* with a limit: values of columns */
};

/* What qsort's functions compare by.  Jobs of a host run one at a time, but a process may have several hosts. */
static _Thread_local const played_group *current;
static _Thread_local uint32_t current_sort;

played_group *
mgpu_played_group_create(const mgpu_group_source *source, mgpu_error *err)
{
	played_group *group;

	if (source == NULL || source->spec == NULL)
	{
		(void) mgpu_fail(err, MGPU_BAD_JOB, "groups of no spec");
		return NULL;
	}
	if (mgpu_group_validate(source->spec, err) != MGPU_OK)
		return NULL;
	group = calloc(1, sizeof(played_group));
	group->spec = *source->spec;
	group->pages = source->pages;
	group->num_pages = source->num_pages;
	mgpu_group_plan_record(&group->spec, &group->record);
	return group;
}

void
mgpu_played_group_free(played_group *group)
{
	if (group == NULL)
		return;
	for (int i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		free(group->sorted[i]);
	free(group->records);
	free(group->order);
	free(group->rows);
	free(group);
}

/* -------------------------------------------------------------------- rows */

static const char *
page_of(const played_group *group, const void *batch, uint64_t bytes, uint32_t number)
{
	return mgpu_page_of_ref(((const mgpu_page_ref *) batch)[number], batch, (uint32_t) (bytes / sizeof(mgpu_page_ref)),
							group->pages, group->num_pages);
}

bool
mgpu_played_group_check(const played_group *group, const void *batch, uint64_t bytes,
						bool (*is_pinned) (const char *memory, uint64_t bytes))
{
	if (bytes == 0 || bytes % sizeof(mgpu_page_ref) != 0 || bytes > MGPU_BATCH_PAGES * sizeof(mgpu_page_ref))
		return false;
	for (uint32_t i = 0; i < bytes / sizeof(mgpu_page_ref); i++)
	{
		const char *page = page_of(group, batch, bytes, i);

		/* its ends may have been pinned apart */
		if (page != NULL && !(is_pinned(page, 1) && is_pinned(page + MGPU_PAGE_BYTES - 1, 1)))
			return false;
	}
	return true;
}

static void
keep_row(played_group *group, const mgpu_group_row *row)
{
	if (group->num_rows == group->capacity)
	{
		group->capacity = group->capacity > 0 ? 2 * group->capacity : 1024;
		group->rows = realloc(group->rows, group->capacity * sizeof(mgpu_group_row));
	}
	group->rows[group->num_rows++] = *row;
	group->is_odd |= row->is_odd;
}

static void
read_page(played_group *group, const char *source, uint32_t num_items)
{
	_Alignas(8) char page[MGPU_PAGE_BYTES];
	mgpu_group_row row;

	memcpy(page, source, MGPU_PAGE_BYTES);
	for (uint32_t item = 0; item < num_items; item++)
	{
		mgpu_row_state state = mgpu_decode_row(&group->spec, page, item, &row);

		group->is_damaged |= state == MGPU_ROW_DAMAGED;
		group->result.num_read += state == MGPU_ROW_READ;
		if (state == MGPU_ROW_READ && mgpu_group_keeps(&group->spec, &row))
			keep_row(group, &row);
	}
}

void
mgpu_played_group_read(played_group *group, const void *batch, uint64_t bytes)
{
	for (uint32_t i = 0; i < bytes / sizeof(mgpu_page_ref); i++)
	{
		const char *page = page_of(group, batch, bytes, i);

		group->is_damaged |= page == NULL;
		if (page != NULL)
			read_page(group, page, ((const mgpu_page_ref *) batch)[i].num_items);
	}
}

static bool
is_null(const mgpu_group_row *row, uint32_t column)
{
	return (row->nulls >> column & 1) != 0;
}

/* ------------------------------------------------------------------- order */

static int
compare_codes(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* NULLs come last. */
static int
compare_column(const mgpu_group_row *a, const mgpu_group_row *b, uint32_t column)
{
	if (is_null(a, column) || is_null(b, column))
		return (int) is_null(a, column) - (int) is_null(b, column);
	return compare_codes(a->codes[column], b->codes[column]);
}

static int
compare_keys(const mgpu_group_row *a, const mgpu_group_row *b)
{
	for (uint32_t i = 0; i < current->spec.num_keys; i++)
	{
		int			order = compare_column(a, b, current->spec.keys[i]);

		if (order != 0)
			return order;
	}
	return 0;
}

static int
compare_orders(const mgpu_group_row *a, const mgpu_group_row *b)
{
	for (uint32_t i = 0; i < current->spec.num_orders; i++)
	{
		const mgpu_group_order *by = &current->spec.orders[i];
		bool		has_null = is_null(a, by->column) || is_null(b, by->column);
		int			order = compare_column(a, b, by->column);

		if (order != 0)
			return (has_null ? by->nulls_first : by->descending) ? -order : order;
	}
	return 0;
}

/* By keys and order columns, then by number. */
static int
compare_rows(const void *a, const void *b)
{
	uint64_t	row_a = *(const uint64_t *) a;
	uint64_t	row_b = *(const uint64_t *) b;
	int			order = compare_keys(&current->rows[row_a], &current->rows[row_b]);

	if (order == 0)
		order = compare_orders(&current->rows[row_a], &current->rows[row_b]);
	return order != 0 ? order : compare_codes(row_a, row_b);
}

/* Codes of values. */
static int
compare_values(const void *a, const void *b)
{
	int			order = compare_codes(*(const uint64_t *) a, *(const uint64_t *) b);

	return current->spec.sorts[current_sort].descending ? -order : order;
}

static void
order_rows(played_group *group)
{
	group->order = calloc(group->num_rows + 1, sizeof(uint64_t));
	for (uint64_t i = 0; i < group->num_rows; i++)
		group->order[i] = i;
	current = group;
	qsort(group->order, group->num_rows, sizeof(uint64_t), compare_rows);
}

/* Where the group that begins at a position ends. */
static uint64_t
group_end(const played_group *group, uint64_t begin)
{
	uint64_t	end = begin;

	while (end < group->num_rows && compare_keys(&group->rows[group->order[begin]], &group->rows[group->order[end]]) == 0)
		end++;
	return end;
}

/* ------------------------------------------------------------- reductions */

static uint64_t
bits_of_double(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? MGPU_F64_NAN : bits;
}

static uint64_t
bits_of_float(float value)
{
	uint32_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? MGPU_F32_NAN : bits;
}

static double
double_of(uint64_t code, uint32_t width)
{
	uint64_t	bits = mgpu_column_bits(code, MGPU_KEY_FLOAT, width);
	uint32_t	narrow_bits = (uint32_t) bits;
	double		value;
	float		narrow;

	memcpy(&value, &bits, sizeof(value));
	memcpy(&narrow, &narrow_bits, sizeof(narrow));
	return width == 4 ? (double) narrow : value;
}

/* Count, least and greatest code so far. */
typedef struct played_range
{
	uint64_t	count;
	uint64_t	least;
	uint64_t	greatest;
} played_range;

static void
add_code(played_range *range, uint64_t code)
{
	range->count++;
	range->least = code < range->least ? code : range->least;
	range->greatest = code > range->greatest ? code : range->greatest;
}

typedef struct played_sums
{
	double		sum;
	double		squares;
	float		narrow_sum;
	bool		overflows;
} played_sums;

static bool
is_overflow(double sum, double before, double value)
{
	return isinf(sum) && !isinf(before) && !isinf(value);
}

static void
add_square(played_sums *sums, double before, double value, uint64_t num_values)
{
	double		count = (double) num_values;
	double		difference = value * count - sums->sum;

	sums->squares += difference * difference / (count * (count - 1));
	if (!isinf(sums->sum) && !isinf(sums->squares))
		return;
	sums->overflows |= !isinf(before) && !isinf(value);
	sums->squares = NAN;
}

/* num_values: with this one. */
static void
add_real(played_sums *sums, double value, uint64_t num_values, bool narrow, bool spread)
{
	double		before = sums->sum;
	float		narrow_sum = sums->narrow_sum + (float) value;

	if (num_values == 1)
	{
		*sums = (played_sums) {.sum = value,.squares = isnan(value) || isinf(value) ? NAN : 0,
		.narrow_sum = narrow ? (float) value : 0};
		return;
	}
	if (narrow)
	{
		sums->overflows |= is_overflow(narrow_sum, sums->narrow_sum, value);
		sums->narrow_sum = narrow_sum;
	}
	sums->sum += value;
	if (spread)
		add_square(sums, before, value, num_values);
	else
		sums->overflows |= is_overflow(sums->sum, before, value);
}

static void
write_reals(const played_range *range, const played_sums *sums, bool spread, uint64_t *words)
{
	words[0] = range->count;
	words[1] = bits_of_double(sums->sum);
	words[2] = spread ? bits_of_double(sums->squares) : 0;
	words[3] = bits_of_float(sums->narrow_sum);
	words[4] = range->least;
	words[5] = range->greatest;
}

/* The rows at positions from begin to end: a column's values that are not NULL, to its words of the record. */
static void
reduce(played_group *group, uint32_t number, uint64_t begin, uint64_t end, uint64_t *words)
{
	const mgpu_group_column *column = &group->spec.columns[number];
	bool		is_integer = column->reduction == MGPU_REDUCE_INTEGER;
	bool		spread = column->reduction == MGPU_REDUCE_SPREAD;
	played_range range = {0, UINT64_MAX, 0};
	played_sums sums = {0};
	uint64_t	low = 0;
	uint64_t	high = 0;

	for (uint64_t i = begin; i < end; i++)
	{
		const mgpu_group_row *row = &group->rows[group->order[i]];
		uint64_t	code = row->codes[number];

		if (is_null(row, number))
			continue;
		add_code(&range, code);
		if (is_integer)
		{
			low += mgpu_integer_low(code, column->kind);
			high += (uint64_t) mgpu_integer_high(code, column->kind);
		}
		else if (column->reduction != MGPU_REDUCE_COUNT)
			add_real(&sums, double_of(code, column->width), range.count, column->width == 4, spread);
	}
	group->overflows |= sums.overflows;
	if (column->reduction == MGPU_REDUCE_COUNT)
		words[0] = range.count;
	else if (is_integer)
		memcpy(words, (uint64_t[]) {range.count, low, high, range.least, range.greatest}, 5 * sizeof(uint64_t));
	else
		write_reals(&range, &sums, spread, words);
}

/* ------------------------------------------------------------------ groups */

/* The first bytes of a little-endian number. */
static void
put_value(char *target, uint64_t bits, uint32_t width)
{
	for (uint32_t byte = 0; byte < width; byte++)
		target[byte] = (char) (bits >> 8 * byte);
}

/* Sorted values behind those before. */
static void
put_values(played_group *group, uint32_t sort, const uint64_t *codes, uint64_t count)
{
	const mgpu_group_column *column = &group->spec.columns[group->spec.sorts[sort].column];

	for (uint64_t i = 0; i < count; i++)
		put_value(group->sorted[sort] + group->result.num_sorted[sort]++ * column->width,
				  mgpu_column_bits(codes[i], column->kind, column->width), column->width);
}

/* The words of a record that tell of sorted values. */
static void
describe_values(const mgpu_group_sort *sort, const uint64_t *codes, uint64_t count, uint64_t *word)
{
	uint64_t	num_different = count > 0;

	*word++ = count;
	for (uint64_t i = 1; i < count; i++)
		num_different += codes[i] != codes[i - 1];
	if ((sort->returns & MGPU_SORT_DISTINCT) != 0)
		*word++ = num_different;
	for (uint32_t i = 0; i < sort->num_percentiles && count > 0; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) count, &low, &high);
		*word++ = codes[low];
		*word++ = codes[high];
	}
}

/* The values of one sort of a group. */
static void
sort_values(played_group *group, uint32_t sort, uint64_t begin, uint64_t end, uint64_t *words)
{
	uint32_t	number = group->spec.sorts[sort].column;
	uint64_t   *codes = calloc(end - begin + 1, sizeof(uint64_t));
	uint64_t	count = 0;

	for (uint64_t i = begin; i < end; i++)
	{
		const mgpu_group_row *row = &group->rows[group->order[i]];

		if (!is_null(row, number))
			codes[count++] = row->codes[number];
	}
	current_sort = sort;
	qsort(codes, count, sizeof(uint64_t), compare_values);
	describe_values(&group->spec.sorts[sort], codes, count, words);
	if ((group->spec.sorts[sort].returns & MGPU_SORT_VALUES) != 0)
		put_values(group, sort, codes, count);
	free(codes);
}

static void
write_record(played_group *group, uint64_t begin, uint64_t end)
{
	uint64_t   *record = group->records + group->result.num_groups++ * group->record.num_words;

	record[0] = end - begin;
	record[1] = 0;
	for (uint32_t i = 0; i < group->spec.num_keys; i++)
	{
		const mgpu_group_row *row = &group->rows[group->order[begin]];
		uint32_t	column = group->spec.keys[i];

		record[1] |= (uint64_t) is_null(row, column) << i;
		record[group->record.keys + i] = is_null(row, column) ? 0 : row->codes[column];
	}
	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		if (group->spec.columns[i].reduction != MGPU_REDUCE_NONE)
			reduce(group, i, begin, end, record + group->record.reductions[i]);
	}
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
		sort_values(group, i, begin, end, record + group->record.sorts[i]);
}

/* -------------------------------------------------------------------- limit */

static void
return_row(played_group *group, uint64_t position, uint32_t marks)
{
	const mgpu_group_row *row = &group->rows[group->order[position]];
	uint64_t	number = group->result.num_returned++;

	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		const mgpu_group_column *column = &group->spec.columns[i];
		uint64_t	bits = is_null(row, i) ? 0 : mgpu_column_bits(row->codes[i], column->kind, column->width);

		if (!column->is_returned)
			continue;
		marks |= (uint32_t) is_null(row, i) << i;
		put_value(group->sorted[i] + number * column->width, bits, column->width);
	}
	((uint16_t *) group->records)[number] = (uint16_t) marks;
}

/* The rows of a group whose numbers are within the limit. */
static void
return_rows(played_group *group, uint64_t begin, uint64_t end)
{
	uint64_t	rank = 0;
	uint64_t	dense_rank = 0;

	group->result.num_groups++;
	for (uint64_t i = begin; i < end; i++)
	{
		bool		is_peer = i > begin && compare_orders(&group->rows[group->order[i - 1]], &group->rows[group->order[i]]) == 0;
		uint64_t	place = i - begin + 1;

		rank = is_peer ? rank : place;
		dense_rank += !is_peer;
		if ((group->spec.limit_rule == MGPU_LIMIT_ROWS ? place :
			 group->spec.limit_rule == MGPU_LIMIT_RANKS ? rank : dense_rank) > group->spec.limit)
			break;
		return_row(group, i, (i == begin ? MGPU_MARK_GROUP : 0) | (is_peer ? 0 : MGPU_MARK_PEERS));
	}
}

/* ---------------------------------------------------------------------- run */

/* Bits that the values of a key take on a device; 65: more than a number has. */
static uint32_t
key_bits(const played_group *group, uint32_t column)
{
	played_range range = {0, UINT64_MAX, 0};
	uint64_t	greatest;
	uint32_t	bits = 0;

	for (uint64_t i = 0; i < group->num_rows; i++)
	{
		if (!is_null(&group->rows[i], column))
			add_code(&range, group->rows[i].codes[column]);
	}
	if (range.count == 0)
		return 0;
	greatest = range.greatest - range.least;
	if (greatest == UINT64_MAX && range.count < group->num_rows)
		return 65;
	greatest += range.count < group->num_rows;
	while (bits < 64 && greatest >> bits != 0)
		bits++;
	return bits;
}

static mgpu_status
check_rows(const played_group *group, mgpu_error *err)
{
	uint32_t	bits = 0;

	if (group->is_damaged)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a page is damaged, or changed while it was read");
	if (group->is_odd)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "there are negative zeros, or unusual NaNs");
	for (uint32_t i = 0; i < group->spec.num_keys; i++)
		bits += key_bits(group, group->spec.keys[i]);
	if (bits > 63)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "the keys take more than 63 bits");
	for (uint32_t i = 0; i < group->spec.num_orders; i++)
	{
		if (key_bits(group, group->spec.orders[i].column) > 64)
			return mgpu_fail(err, MGPU_UNSUPPORTED, "a column has NULLs, and values of more than 63 bits");
	}
	return MGPU_OK;
}

mgpu_status
mgpu_played_group_run(played_group *group, mgpu_error *err)
{
	mgpu_status status = check_rows(group, err);
	bool		has_limit = group->spec.limit_rule != MGPU_LIMIT_NONE;
	uint64_t	begin = 0;

	if (status != MGPU_OK)
		return status;
	order_rows(group);
	group->result.num_rows = group->num_rows;
	/* at most a group a row, and one of no rows */
	group->records = calloc(group->num_rows + 1, group->record.num_words * sizeof(uint64_t));
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		group->sorted[i] = calloc(group->num_rows + 1, sizeof(uint64_t));
	if (group->num_rows == 0 && group->spec.num_keys == 0 && !has_limit)
		write_record(group, 0, 0);
	while (begin < group->num_rows)
	{
		uint64_t	end = group_end(group, begin);

		if (has_limit)
			return_rows(group, begin, end);
		else
			write_record(group, begin, end);
		begin = end;
	}
	return group->overflows ? mgpu_fail(err, MGPU_UNSUPPORTED, "a sum overflows") : MGPU_OK;
}

void
mgpu_played_group_result(const played_group *group, mgpu_group_result *result)
{
	*result = group->result;
}

const char *
mgpu_played_group_output(const played_group *group, mgpu_output output)
{
	return output == MGPU_OUTPUT_GROUPS ? (const char *) group->records : group->sorted[output - MGPU_OUTPUT_SORTED];
}
