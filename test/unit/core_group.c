/*
 * core_group.c
 *		Jobs of MGPU_OP_GROUP: specs, rows of pages, damaged pages, and groups of played devices.
 *
 * Rows are compared with what was written (unit_group.h), groups with a loop over these rows that knows values, not
 * codes.
 */
#include <math.h>

#include "core/group_row.h"
#include "played/played_engine.h"
#include "unit.h"
#include "unit_group.h"

#define MAX_PAGES 64

static char *pages;
static char *slots;

/* ------------------------------------------------------------------- specs */

static mgpu_group_spec
small_spec(void)
{
	mgpu_group_spec spec = {
		.num_attributes = 2,.num_inputs = 1,.num_tests = 1,.num_columns = 1,.num_keys = 1,.num_sorts = 1,.num_fixed = 2,
		.fixed_end = 16,.num_test_ops = 2,.num_ops = 2,.num_registers = 3,.num_constants = 1,.table_bytes = 8
	};

	spec.attributes[0] = (mgpu_group_attribute) {4, 4, -1};
	spec.attributes[1] = (mgpu_group_attribute) {8, 8, 0};
	spec.inputs[0] = (mgpu_group_input) {8, 8, 0};
	spec.lanes[0] = spec.lanes[1] = MGPU_LANE_REAL;
	spec.ops[0] = (mgpu_program_op) {.code = MGPU_RUN_LOAD_REAL,.width = 8,.to = 1};
	spec.ops[1] = (mgpu_program_op) {.code = MGPU_RUN_COMPARE_REAL,.to = 2,.from = {1, 0},.number = MGPU_IS_LESS};
	spec.tests[0] = 2;
	spec.columns[0] = (mgpu_group_column) {.kind = MGPU_KEY_FLOAT,.width = 8,.reg = 1,.reduction = MGPU_REDUCE_REAL};
	return spec;
}

static bool
is_valid(const mgpu_group_spec *spec)
{
	mgpu_error	err = {MGPU_OK, ""};
	mgpu_status status = mgpu_group_validate(spec, &err);

	UNIT_CHECK(status == MGPU_OK || (status == MGPU_BAD_JOB && err.message[0] != '\0'));
	return status == MGPU_OK;
}

#define CHECK_BROKEN(change) \
	do { \
		mgpu_group_spec spec = small_spec(); \
		UNIT_CHECK(is_valid(&spec)); \
		change; \
		UNIT_CHECK(!is_valid(&spec)); \
	} while (0)

static void
test_specs(void)
{
	CHECK_BROKEN(spec.num_attributes = MGPU_GROUP_MAX_ATTRIBUTES + 1);
	CHECK_BROKEN(spec.num_columns = MGPU_GROUP_MAX_COLUMNS + 1);
	CHECK_BROKEN(spec.num_inputs = MGPU_GROUP_MAX_INPUTS + 1);
	CHECK_BROKEN(spec.num_tests = MGPU_GROUP_MAX_TESTS + 1);
	CHECK_BROKEN(spec.num_keys = MGPU_GROUP_MAX_KEYS + 1);
	CHECK_BROKEN(spec.num_sorts = MGPU_GROUP_MAX_SORTS + 1);
	CHECK_BROKEN(spec.num_fixed = 3);
	CHECK_BROKEN(spec.fixed_end = MGPU_PAGE_BYTES + 1);
	CHECK_BROKEN(spec.attributes[0].length = 0);
	CHECK_BROKEN(spec.attributes[0].length = -3);
	CHECK_BROKEN(spec.attributes[0].align = 3);
	CHECK_BROKEN(spec.attributes[0].input = 1);
	CHECK_BROKEN(spec.attributes[0].input = 0);
	CHECK_BROKEN(spec.inputs[0].offset = -2);
	CHECK_BROKEN(spec.inputs[0].offset = 9);
	CHECK_BROKEN(spec.inputs[0].length = 4);
	CHECK_BROKEN(spec.inputs[0].missing = -2);
	CHECK_BROKEN(spec.inputs[0].missing = 1);
	CHECK_BROKEN(spec.table_bytes = MGPU_GROUP_TABLE_BYTES + 1);
	CHECK_BROKEN(spec.columns[0].width = 2);
	CHECK_BROKEN(spec.columns[0].kind = MGPU_KEY_BYTES);
	CHECK_BROKEN(spec.columns[0].reg = 2);
	CHECK_BROKEN(spec.columns[0].reg = 3);
	CHECK_BROKEN(spec.columns[0].reduction = MGPU_REDUCE_SPREAD + 1);
	CHECK_BROKEN(spec.columns[0].reduction = MGPU_REDUCE_INTEGER);
	CHECK_BROKEN(spec.columns[0].kind = MGPU_KEY_SIGNED);
	CHECK_BROKEN(spec.keys[0] = 1);
	CHECK_BROKEN(spec.sorts[0].column = 1);
	CHECK_BROKEN(spec.sorts[0].descending = 2);
	CHECK_BROKEN(spec.num_orders = 1);
	CHECK_BROKEN(spec.limit_rule = MGPU_LIMIT_ROWS; spec.limit = 1);	/* there are sorts and reductions */
}

static void
test_programs(void)
{
	CHECK_BROKEN(spec.num_ops = MGPU_GROUP_MAX_OPS + 1);
	CHECK_BROKEN(spec.num_test_ops = 3);
	CHECK_BROKEN(spec.num_registers = MGPU_GROUP_MAX_REGISTERS + 1);
	CHECK_BROKEN(spec.num_constants = MGPU_GROUP_MAX_CONSTANTS + 1);
	CHECK_BROKEN(spec.num_constants = 4);
	CHECK_BROKEN(spec.num_constants = 2);	/* an operation writes to one */
	CHECK_BROKEN(spec.ops[0].code = MGPU_PROGRAM_NUM_CODES);
	CHECK_BROKEN(spec.ops[0].to = 3);
	CHECK_BROKEN(spec.ops[0].number = 1);
	CHECK_BROKEN(spec.ops[0].number = -1);
	CHECK_BROKEN(spec.ops[0].width = 4);
	CHECK_BROKEN(spec.ops[0].code = MGPU_RUN_LOAD_VARLENA);
	CHECK_BROKEN(spec.ops[1].from[1] = 3);
	CHECK_BROKEN(spec.tests[0] = 3);
}

static void
test_limits(void)
{
	mgpu_group_spec spec = small_spec();

	spec.num_sorts = 0;
	spec.columns[0].reduction = MGPU_REDUCE_NONE;
	spec.limit_rule = MGPU_LIMIT_ROWS;
	UNIT_CHECK(!is_valid(&spec));
	spec.limit = 1;
	spec.num_orders = 1;
	UNIT_CHECK(is_valid(&spec));
	spec.orders[0].column = 1;
	UNIT_CHECK(!is_valid(&spec));
	spec.orders[0].column = 0;
	spec.num_orders = MGPU_GROUP_MAX_ORDERS + 1;
	UNIT_CHECK(!is_valid(&spec));
	spec.num_orders = 1;
	spec.limit_rule = MGPU_LIMIT_DENSE_RANKS + 1;
	UNIT_CHECK(!is_valid(&spec));
	spec.limit_rule = MGPU_LIMIT_DENSE_RANKS;
	spec.limit = MGPU_GROUP_MAX_DENSE_RANKS;
	UNIT_CHECK(is_valid(&spec));
	spec.limit++;
	UNIT_CHECK(!is_valid(&spec));
}

/* -------------------------------------------------------------------- rows */

/* Whether a row has in its columns what was written. */
static bool
is_as_written(const group_case *job, const mgpu_row_program *program, mgpu_row_frame *frame, const group_row *expected)
{
	bool		same = true;

	mgpu_program_run_row(program, 0, job->spec.num_ops, frame->registers, frame->inputs);
	for (uint32_t c = 0; c < job->spec.num_columns; c++)
	{
		bool		is_null = (expected->nulls >> c & 1) != 0;
		uint64_t	code;
		mgpu_cell_state state = mgpu_row_cell(&job->spec, program, frame, c, &code);

		same &= (state == MGPU_CELL_FAULT) == ((expected->faults >> c & 1) != 0) && (state == MGPU_CELL_NULL) == is_null;
		same &= is_null || state == MGPU_CELL_FAULT || code == group_code_of(&job->spec.columns[c], expected->bits[c]);
	}
	return same;
}

/* Every row of a case is read as it was written. */
static void
check_rows(group_case *job)
{
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program = mgpu_group_program(&job->spec, constants);
	uint64_t	num_rows = 0;
	uint32_t	num_wrong = 0;
	char	   *page = malloc(MGPU_PAGE_BYTES);	/* so that the address sanitizer knows its end */
	mgpu_row_frame frame;

	for (uint32_t i = 0; i < job->spec.num_constants; i++)
		constants[i] = mgpu_group_constant_of(&job->spec, i);
	for (uint32_t i = 0; i < job->num_pages; i++)
	{
		memcpy(page, job->pages + (uint64_t) i * MGPU_PAGE_BYTES, MGPU_PAGE_BYTES);
		for (uint32_t item = 0; item < job->num_items[i]; item++)
		{
			mgpu_row_state state = mgpu_find_inputs(&job->spec, page, item, frame.inputs);

			num_wrong += state == MGPU_ROW_DAMAGED;
			if (state == MGPU_ROW_READ)
				num_wrong += !is_as_written(job, &program, &frame, &job->rows[num_rows++]);
		}
	}
	free(page);
	UNIT_CHECK(num_wrong == 0);
	UNIT_CHECK(num_rows == job->num_rows);
}

/* Nothing happens but wrong rows. */
static void
read_damaged(group_case *job)
{
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program = mgpu_group_program(&job->spec, constants);
	char	   *page = malloc(MGPU_PAGE_BYTES);
	unsigned long num_states[3] = {0};
	mgpu_row_frame frame;

	for (uint32_t i = 0; i < job->spec.num_constants; i++)
		constants[i] = mgpu_group_constant_of(&job->spec, i);
	for (uint32_t i = 0; i < job->num_pages; i++)
	{
		memcpy(page, job->pages + (uint64_t) i * MGPU_PAGE_BYTES, MGPU_PAGE_BYTES);
		for (uint32_t item = 0; item < job->num_items[i]; item++)
		{
			mgpu_row_state state = mgpu_find_inputs(&job->spec, page, item, frame.inputs);

			num_states[state]++;
			if (state == MGPU_ROW_READ)
				(void) mgpu_test_row(&job->spec, &program, &frame);
		}
	}
	free(page);
	UNIT_CHECK(num_states[0] + num_states[1] + num_states[2] > 0 || job->num_rows == 0);
}

static void
test_rows(void)
{
	for (uint64_t seed = 1; seed <= 300; seed++)
	{
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 4);
		check_rows(&job);
		for (int i = 0; i < 3; i++)
		{
			group_damage_pages(&job);
			read_damaged(&job);
		}
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
}

/* --------------------------------------------------------------- reference */

static double
real_of(uint64_t bits, uint32_t width)
{
	uint32_t	narrow_bits = (uint32_t) bits;
	double		real;
	float		narrow;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&narrow, &narrow_bits, sizeof(narrow));
	return width == 4 ? narrow : real;
}

static int64_t
integer_of(uint64_t bits, const mgpu_group_column *column)
{
	if (column->kind == MGPU_KEY_UNSIGNED)
		return (int64_t) bits;
	return column->width == 2 ? (int16_t) bits : column->width == 4 ? (int32_t) bits : (int64_t) bits;
}

/* As PostgreSQL compares values: NaN is the greatest. */
static int
compare(const mgpu_group_column *column, uint64_t a, uint64_t b)
{
	double		real_a = real_of(a, column->width);
	double		real_b = real_of(b, column->width);
	int64_t		integer_a = integer_of(a, column);
	int64_t		integer_b = integer_of(b, column);

	if (column->kind == MGPU_KEY_UNSIGNED)
		return (a > b) - (a < b);
	if (column->kind == MGPU_KEY_SIGNED)
		return (integer_a > integer_b) - (integer_a < integer_b);
	if (isnan(real_a) || isnan(real_b))
		return (isnan(real_a) != 0) - (isnan(real_b) != 0);
	return (real_a > real_b) - (real_a < real_b);
}

static uint64_t
bits_of_code(const mgpu_group_column *column, uint64_t code)
{
	uint64_t	bits = mgpu_column_bits(code, column->kind, column->width);

	return column->width == 8 ? bits : bits & ((UINT64_C(1) << column->width * 8) - 1);
}

/* Whether the tests keep a row.  *is_fault: one of them cannot be computed, and none before drops the row; or a column of it. */
static bool
judge(const group_case *job, const group_row *row, bool *is_fault)
{
	bool		kept = true;

	*is_fault = false;
	for (uint32_t i = 0; kept && i < job->num_filters; i++)
	{
		const group_filter *filter = &job->filters[i];
		const mgpu_group_column *column = &job->spec.columns[filter->column];
		bool		is_null = (row->nulls >> filter->column & 1) != 0;
		int			order = is_null ? 0 : compare(column, row->bits[filter->column], filter->bits);

		*is_fault |= (row->faults >> filter->column & 1) != 0;
		if (*is_fault)
			return false;
		if (filter->outcomes == 0)
			kept = is_null == filter->keeps_null;
		else
			kept = !is_null && (filter->outcomes >> (order + 1) & 1) != 0;
	}
	*is_fault |= kept && row->faults != 0;
	return kept;
}

static bool
is_kept(const group_case *job, const group_row *row)
{
	bool		is_fault;

	return judge(job, row, &is_fault);
}

/* Whether the job has to end with a fault. */
static bool
has_fault(const group_case *job)
{
	bool		found = false;

	for (uint64_t i = 0; i < job->num_rows; i++)
	{
		bool		is_fault;

		(void) judge(job, &job->rows[i], &is_fault);
		found |= is_fault;
	}
	return found;
}

static bool
is_of_group(const mgpu_group_spec *spec, const group_row *row, const uint64_t *record)
{
	for (uint32_t i = 0; i < spec->num_keys; i++)
	{
		const mgpu_group_column *column = &spec->columns[spec->keys[i]];
		bool		is_null = (row->nulls >> spec->keys[i] & 1) != 0;

		if (is_null != ((record[1] >> i & 1) != 0) ||
			(!is_null && compare(column, row->bits[spec->keys[i]], bits_of_code(column, record[2 + i])) != 0))
			return false;
	}
	return true;
}

/* The rows of one group, in order. */
static group_row **members;
static uint64_t num_members;

static bool
same_real(uint64_t word, double real, uint32_t width)
{
	return isnan(real) ? isnan(real_of(word, width)) : real_of(word, width) == real && signbit(real_of(word, width)) == signbit(real);
}

/* The words of a column's reduction, from its values in order. */
static bool
is_reduced(const mgpu_group_spec *spec, uint32_t number, const uint64_t *words)
{
	const mgpu_group_column *column = &spec->columns[number];
	uint64_t	count = 0;
	uint64_t	least = 0;
	uint64_t	greatest = 0;
	__int128	integers = 0;
	double		sum = 0;
	double		squares = 0;
	float		narrow_sum = 0;

	for (uint64_t i = 0; i < num_members; i++)
	{
		uint64_t	bits = members[i]->bits[number];
		double		real = real_of(bits, column->width);

		if ((members[i]->nulls >> number & 1) != 0)
			continue;
		least = count == 0 || compare(column, bits, least) < 0 ? bits : least;
		greatest = count == 0 || compare(column, bits, greatest) > 0 ? bits : greatest;
		integers += column->kind == MGPU_KEY_UNSIGNED ? (__int128) bits : (__int128) integer_of(bits, column);
		narrow_sum = count == 0 ? (float) real : narrow_sum + (float) real;
		sum = count == 0 ? real : sum + real;
		count++;
		if (count == 1)
			squares = isnan(real) || isinf(real) ? NAN : 0;
		else
		{
			double		difference = real * (double) count - sum;

			squares += difference * difference / ((double) count * ((double) count - 1));
			if (isinf(squares) || isinf(sum))
				squares = NAN;
		}
	}
	if (words[0] != count || column->reduction == MGPU_REDUCE_COUNT)
		return words[0] == count;
	if (column->reduction == MGPU_REDUCE_INTEGER)
	{
		words++;
		if ((__int128) (int64_t) words[1] * ((__int128) 1 << 32) + words[0] != integers)
			return false;
		words++;
	}
	else
	{
		if (!same_real(words[1], sum, 8) || !same_real(words[3], column->width == 4 ? narrow_sum : 0, 4) ||
			(column->reduction == MGPU_REDUCE_SPREAD ? !same_real(words[2], squares, 8) : words[2] != 0))
			return false;
		words += 4;
	}
	if (column->reduction == MGPU_REDUCE_INTEGER)
		words++;
	if (count == 0)
		return words[0] == UINT64_MAX && words[1] == 0;
	return words[0] == group_code_of(column, least) && words[1] == group_code_of(column, greatest);
}

static uint64_t
mix(uint64_t bits)
{
	return (bits ^ bits >> 31) * UINT64_C(0x7FB5D329728EA185);
}

/* The group's values of a sort: in order, and those of its rows. */
static bool
is_sorted(const mgpu_group_spec *spec, uint32_t sort, const char *values, uint64_t count)
{
	uint32_t	number = spec->sorts[sort].column;
	const mgpu_group_column *column = &spec->columns[number];
	uint64_t	expected = 0;
	uint64_t	mixed = 0;
	uint64_t	num_values = 0;
	uint64_t	before = 0;

	for (uint64_t i = 0; i < num_members; i++)
	{
		if ((members[i]->nulls >> number & 1) != 0)
			continue;
		expected += mix(members[i]->bits[number]);
		num_values++;
	}
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	bits = mgpu_load_bits(values + i * column->width, column->width);
		int			order = i == 0 ? 0 : compare(column, before, bits);

		if (spec->sorts[sort].descending ? order < 0 : order > 0)
			return false;
		mixed += mix(bits);
		before = bits;
	}
	return count == num_values && mixed == expected;
}

static uint64_t
code_at(const mgpu_group_column *column, const char *values, int64_t position)
{
	return group_code_of(column, mgpu_load_bits(values + (uint64_t) position * column->width, column->width));
}

/* What a record tells of sorted values beside their number. */
static bool
is_described(const mgpu_group_spec *spec, uint32_t sort, const char *values, int64_t count, const uint64_t *words)
{
	const mgpu_group_sort *asked = &spec->sorts[sort];
	const mgpu_group_column *column = &spec->columns[asked->column];
	uint64_t	num_different = count > 0;

	for (int64_t i = 1; i < count; i++)
		num_different += code_at(column, values, i) != code_at(column, values, i - 1);
	words++;
	if ((asked->returns & MGPU_SORT_DISTINCT) != 0 && *words++ != num_different)
		return false;
	for (uint32_t i = 0; i < asked->num_percentiles && count > 0; i++)
	{
		const mgpu_group_percentile *percentile = &asked->percentiles[i];
		double		place = percentile->continuous ? percentile->fraction * (double) (count - 1) :
			ceil(percentile->fraction * (double) count) - 1;
		int64_t		low = place < 0 ? 0 : (int64_t) floor(place);
		int64_t		high = percentile->continuous ? (int64_t) ceil(place) : low;

		if (words[2 * i] != code_at(column, values, low) || words[2 * i + 1] != code_at(column, values, high))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------ rows in order */

static const mgpu_group_spec *compared;

/* Of one column, NULLs last. */
static int
compare_columns(const group_row *a, const group_row *b, uint32_t column)
{
	int			null_a = (a->nulls >> column & 1) != 0;
	int			null_b = (b->nulls >> column & 1) != 0;

	return null_a || null_b ? null_a - null_b : compare(&compared->columns[column], a->bits[column], b->bits[column]);
}

static int
compare_by_keys(const group_row *a, const group_row *b)
{
	int			order = 0;

	for (uint32_t i = 0; order == 0 && i < compared->num_keys; i++)
		order = compare_columns(a, b, compared->keys[i]);
	return order;
}

static int
compare_by_orders(const group_row *a, const group_row *b)
{
	for (uint32_t i = 0; i < compared->num_orders; i++)
	{
		const mgpu_group_order *by = &compared->orders[i];
		int			order = compare_columns(a, b, by->column);

		if (((a->nulls | b->nulls) >> by->column & 1) != 0 ? by->nulls_first : by->descending)
			order = -order;
		if (order != 0)
			return order;
	}
	return 0;
}

/* Equal rows as they were written. */
static int
compare_members(const void *a, const void *b)
{
	const group_row *row_a = *(group_row *const *) a;
	const group_row *row_b = *(group_row *const *) b;
	int			order = compare_by_keys(row_a, row_b);

	if (order == 0)
		order = compare_by_orders(row_a, row_b);
	return order != 0 ? order : (row_a > row_b) - (row_a < row_b);
}

/* Whether a row came back at a place, with these marks. */
static bool
is_returned(const group_outcome *outcome, uint64_t place, const group_row *row, uint32_t marks)
{
	bool		same = place < outcome->result.num_returned;

	for (uint32_t i = 0; same && i < compared->num_columns; i++)
	{
		uint32_t	width = compared->columns[i].width;
		bool		is_null = (row->nulls >> i & 1) != 0;

		if (!compared->columns[i].is_returned)
			continue;
		marks |= (uint32_t) is_null << i;
		same = mgpu_load_bits(outcome->sorted[i] + place * width, width) == (is_null ? 0 : row->bits[i]);
	}
	return same && ((const uint32_t *) outcome->records)[place] == marks;
}

static void
check_returned(group_case *job, const group_outcome *outcome)
{
	uint64_t	num_expected = 0;
	uint64_t	num_groups = 0;
	uint64_t	numbers[4] = {0};	/* of a row, by the rule */
	unsigned long num_wrong = 0;

	compared = &job->spec;
	members = malloc((job->num_rows + 1) * sizeof(group_row *));
	num_members = 0;
	for (uint64_t i = 0; i < job->num_rows; i++)
	{
		if (is_kept(job, &job->rows[i]))
			members[num_members++] = &job->rows[i];
	}
	qsort(members, num_members, sizeof(group_row *), compare_members);
	for (uint64_t i = 0; i < num_members; i++)
	{
		bool		starts = i == 0 || compare_by_keys(members[i - 1], members[i]) != 0;
		bool		is_new = starts || compare_by_orders(members[i - 1], members[i]) != 0;

		numbers[MGPU_LIMIT_ROWS] = starts ? 1 : numbers[MGPU_LIMIT_ROWS] + 1;
		numbers[MGPU_LIMIT_RANKS] = is_new ? numbers[MGPU_LIMIT_ROWS] : numbers[MGPU_LIMIT_RANKS];
		numbers[MGPU_LIMIT_DENSE_RANKS] = starts ? 1 : numbers[MGPU_LIMIT_DENSE_RANKS] + is_new;
		num_groups += starts;
		if (numbers[compared->limit_rule] <= compared->limit)
			num_wrong += !is_returned(outcome, num_expected++, members[i],
									  (starts ? MGPU_MARK_GROUP : 0) | (is_new ? MGPU_MARK_PEERS : 0));
	}
	UNIT_CHECK(num_wrong == 0);
	UNIT_CHECK(outcome->result.num_returned == num_expected);
	UNIT_CHECK(outcome->result.num_groups == num_groups);
	UNIT_CHECK(outcome->result.num_rows == num_members);
	free(members);
}

/* ------------------------------------------------------------------ outcomes */

static void
check_outcome(group_case *job, const group_outcome *outcome)
{
	const mgpu_group_spec *spec = &job->spec;
	const char *values[MGPU_GROUP_MAX_SORTS];
	uint64_t	num_kept = 0;
	uint64_t	num_grouped = 0;
	unsigned long num_wrong = 0;

	members = malloc((job->num_rows + 1) * sizeof(group_row *));
	for (uint64_t i = 0; i < job->num_rows; i++)
		num_kept += is_kept(job, &job->rows[i]);
	memcpy(values, outcome->sorted, sizeof(values));
	for (uint64_t group = 0; group < outcome->result.num_groups; group++)
	{
		const uint64_t *record = outcome->records + group * outcome->record.num_words;

		num_members = 0;
		for (uint64_t i = 0; i < job->num_rows; i++)
		{
			if (is_kept(job, &job->rows[i]) && is_of_group(spec, &job->rows[i], record))
				members[num_members++] = &job->rows[i];
		}
		num_wrong += record[0] != num_members || (num_members == 0 && spec->num_keys > 0);
		num_grouped += num_members;
		for (uint32_t i = 0; i < spec->num_columns; i++)
			num_wrong += spec->columns[i].reduction != MGPU_REDUCE_NONE &&
				!is_reduced(spec, i, record + outcome->record.reductions[i]);
		for (uint32_t i = 0; i < spec->num_sorts; i++)
		{
			uint64_t	count = record[outcome->record.sorts[i]];

			if ((spec->sorts[i].returns & MGPU_SORT_VALUES) == 0)
				continue;
			num_wrong += !is_sorted(spec, i, values[i], count) ||
				!is_described(spec, i, values[i], (int64_t) count, &record[outcome->record.sorts[i]]);
			values[i] += count * spec->columns[spec->sorts[i].column].width;
		}
	}
	for (uint32_t i = 0; i < spec->num_sorts; i++)
		num_wrong += values[i] != outcome->sorted[i] +
			outcome->result.num_sorted[i] * spec->columns[spec->sorts[i].column].width;
	free(members);
	UNIT_CHECK(num_wrong == 0);
	UNIT_CHECK(outcome->result.num_rows == num_kept);
	UNIT_CHECK(num_grouped == num_kept);
	UNIT_CHECK(spec->num_keys > 0 || outcome->result.num_groups == 1);
}

/* ------------------------------------------------------------------ groups */

static void
start(void)
{
	int			device = 0;
	mgpu_error	err;

	mgpu_played_reset();
	UNIT_CHECK(mgpu_played_engine.start(&device, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(pages, MAX_PAGES * MGPU_PAGE_BYTES, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(slots, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES, &err) == MGPU_OK);
}

static group_driver
make_driver(uint32_t most_refs)
{
	group_driver driver = {.engine = &mgpu_played_engine,.slots = slots,.most_refs = most_refs,.spoils = true};

	return driver;
}

static void
test_groups(void)
{
	unsigned long num_done = 0;
	unsigned long num_faults = 0;

	for (uint64_t seed = 1; seed <= 400; seed++)
	{
		group_driver driver = make_driver(1 + seed % 5);
		group_outcome outcome;
		group_case	job;

		group_random_case(&job, seed ^ unit_random_state, pages, 4);
		group_drive_case(&driver, &job, &outcome);
		UNIT_CONTEXT("seed %llu, %.100s", (unsigned long long) seed, outcome.err.message);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
		UNIT_CHECK((strstr(outcome.err.message, "beyond what programs compute") != NULL) == has_fault(&job));
		UNIT_CHECK(mgpu_played_used_bytes(0) == 0);
		num_faults += has_fault(&job);
		if (outcome.status == MGPU_OK)
		{
			if (job.spec.limit_rule != MGPU_LIMIT_NONE)
				check_returned(&job, &outcome);
			else
				check_outcome(&job, &outcome);
		}
		num_done += outcome.status == MGPU_OK;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_done > 200);
	UNIT_CHECK(num_faults > 10);
}

static void
test_damaged_groups(void)
{
	unsigned long num_refused = 0;

	for (uint64_t seed = 1; seed <= 200; seed++)
	{
		group_driver driver = make_driver(3);
		group_outcome outcome;
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 6);
		group_damage_pages(&job);
		group_drive_case(&driver, &job, &outcome);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
		num_refused += outcome.status == MGPU_UNSUPPORTED;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_refused > 50);
}

/* What ends a run before there are groups. */
static void
test_refusals(void)
{
	group_driver driver = make_driver(2);
	group_outcome outcome;
	group_case	job;
	static char elsewhere[3 * MGPU_PAGE_BYTES];

	group_random_case(&job, unit_random(), pages, 4);
	while (job.num_rows == 0)
	{
		group_free_case(&job);
		group_random_case(&job, unit_random(), pages, 4);
	}
	driver.options.inject_fault = MGPU_FAULT_HOST_MEMORY;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_HOST_MEMORY);
	driver.options.inject_fault = MGPU_FAULT_DEVICE_MEMORY;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_DEVICE_MEMORY);
	driver.options.inject_fault = 0;
	driver.options.device_memory_limit = 1;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_DEVICE_MEMORY);
	driver.options.device_memory_limit = 0;
	UNIT_CHECK(mgpu_played_used_bytes(0) == 0);
	job.pages = elsewhere;
	job.num_pages = job.num_pages < 2 ? job.num_pages : 2;
	job.spec.num_columns = MGPU_GROUP_MAX_COLUMNS + 1;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_BAD_JOB);
	driver.options.inject_fault = MGPU_FAULT_DEVICE_STICKY;
	group_free_case(&job);
	group_random_case(&job, 5, pages, 4);
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_DEVICE_FAILED);
	group_free_case(&job);
}

int
main(void)
{
	pages = aligned_alloc(4096, MAX_PAGES * MGPU_PAGE_BYTES);
	slots = aligned_alloc(4096, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES);
	test_specs();
	test_programs();
	test_limits();
	test_rows();
	start();
	test_groups();
	test_damaged_groups();
	test_refusals();
	mgpu_played_reset();
	free(pages);
	free(slots);
	return unit_report();
}
