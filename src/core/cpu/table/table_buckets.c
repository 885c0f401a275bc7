/*
 * table_buckets.c
 *		Passes over the rows of a part whose values are sorted by ranges (table_ranges.c): values are counted, or moved.
 */
#include "core/cpu/table/table_pass.h"

/* Some rows' values of the part's sort. */
typedef struct row_values
{
	const uint64_t *codes;
	const uint32_t *nulls;		/* NULL: there are none */
	uint32_t	column;
	uint64_t	flip;
} row_values;

static row_values
values_of(const mgpu_run *run, const mgpu_table_part *part, const mgpu_table_vector *vector)
{
	const mgpu_group_sort *sort = &run->spec.sorts[part->sort];
	bool		has_nulls = (vector->rows.some_nulls >> sort->column & 1) != 0;

	return (row_values) {vector->rows.codes[sort->column], has_nulls ? vector->rows.nulls : NULL, sort->column,
		sort->descending ? UINT64_MAX : 0};
}

/* Whether a row has a value: its code, in the order asked for. */
static inline bool
find_code(const row_values *values, uint32_t row, uint64_t *code)
{
	*code = values->codes[row] ^ values->flip;
	return values->nulls == NULL || (values->nulls[row] >> values->column & 1) == 0;
}

static bool
find_bounds(mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker)
{
	mgpu_table_ranges *ranges = &part->ranges;
	row_values	values = values_of(run, part, vector);
	uint64_t	code;

	(void) worker;
	for (uint32_t row = 0; row < vector->rows.num_rows; row++)
	{
		if (!find_code(&values, row, &code))
			continue;
		part->ends[mgpu_table_group_of(vector, row)]++;
		ranges->least = code < ranges->least ? code : ranges->least;
		ranges->last = code > ranges->last ? code : ranges->last;
	}
	return true;
}

static bool
count_values(mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker)
{
	const mgpu_table_ranges *ranges = &part->ranges;
	uint64_t	width = ranges->greatest - ranges->least;
	row_values	values = values_of(run, part, vector);
	uint64_t	code;

	(void) worker;
	for (uint32_t row = 0; row < vector->rows.num_rows; row++)
	{
		if (find_code(&values, row, &code) && code - ranges->least <= width)
			mgpu_table_ranks(ranges, mgpu_table_group_of(vector, row))[((code - ranges->least) >> ranges->shift) + 1]++;
	}
	return true;
}

static bool
move_values(mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker)
{
	const mgpu_table_ranges *ranges = &part->ranges;
	uint64_t	least = ranges->least + ((uint64_t) ranges->begin << ranges->shift);
	uint64_t	width = mgpu_table_least(((uint64_t) (ranges->end - ranges->begin) << ranges->shift) - 1, ranges->greatest - least);
	uint64_t   *to = part->values[part->sort];
	row_values	values = values_of(run, part, vector);
	uint64_t	code;

	(void) worker;
	for (uint32_t row = 0; row < vector->rows.num_rows; row++)
	{
		uint64_t   *place;

		if (!find_code(&values, row, &code) || code - least > width)
			continue;
		place = ranges->places + mgpu_table_group_of(vector, row) * (uint64_t) ranges->num_buckets +
			((code - ranges->least) >> ranges->shift);
		if (*place != MGPU_TABLE_NOWHERE)
			to[(*place)++] = code;
	}
	return true;
}

/* Work on the next batch as the part's step has it. */
bool
mgpu_table_take_buckets(mgpu_run *run, uint32_t number, mgpu_table_worker *worker)
{
	const mgpu_table_part *part = &run->parts[number];
	uint32_t	column = UINT32_C(1) << run->spec.sorts[part->sort].column;

	if (part->step == MGPU_PART_BOUNDS)
		return mgpu_table_each_vector(run, number, worker, column, find_bounds);
	return mgpu_table_each_vector(run, number, worker, column, part->step == MGPU_PART_BUCKETS ? count_values : move_values);
}
