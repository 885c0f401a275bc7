/*
 * table_ranges.c
 *		Sorts of a part whose values do not fit in memory at once: of one range of values after the other.
 *
 * The values of each group are counted in buckets, which are equal ranges of codes between the least and the greatest.  Then it is known
 * which buckets have the positions of percentiles.  The values of these alone are moved, of as many buckets at a time as fit, and sorted.
 * Where values are counted that differ, all buckets are.  A bucket that does not fit by itself is cut into smaller ones, until each has one
 * value: that needs no sort.
 *
 * Rows stay in the order in which they came.  To cut them by ranges as they come was rejected: the bounds would have to be known then, and
 * many tables are in the order of a column.
 */
#include "core/cpu/table/table_pass.h"

#include <stdlib.h>
#include <string.h>

#include "core/unsigned_sort.h"

/* Buckets of a group.  Those of all groups take an eighth of a part's share, its values the rest. */
#define LEAST_BUCKETS 16
#define MOST_BUCKETS 4096
#define BUCKETS_SHARE 8

/* The numbers of rows, of values that fit, are a quarter as large. */
#define NUMBERS_SHARE 4

/* ---- shares */

/* Rows are read: what parts take from now on is for their values and groups. */
void
mgpu_table_plan_shares(mgpu_run *run)
{
	uint64_t	num_rows = 0;
	uint32_t	num_filled = 0;

	for (const mgpu_table_batch *batch = run->first; batch != NULL; batch = batch->next)
	{
		for (uint32_t part = 0; part < run->num_parts; part++)
			run->parts[part].num_kept += batch->parts[part + 1] - batch->parts[part];
	}
	for (uint32_t part = 0; part < run->num_parts; part++)
	{
		num_rows += run->parts[part].num_kept;
		num_filled += run->parts[part].num_kept > 0;
	}
	run->num_sharing = num_filled < run->num_at_once ? num_filled : run->num_at_once;
	run->num_sharing += run->num_sharing == 0;
	/* a copy of a large group's values is sorted; without keys, the counts of parts are added up before */
	run->leaves_large = (run->spec.num_keys > 0 || run->num_parts == 1) &&
		(run->most_bytes == 0 || atomic_load(&run->bytes) + 2 * num_rows * run->spec.num_sorts * sizeof(uint64_t) <= run->most_bytes);
}

uint64_t
mgpu_table_share(const mgpu_run *run)
{
	uint64_t	taken = atomic_load_explicit(&run->bytes, memory_order_relaxed);
	uint64_t	left = run->most_bytes > taken ? run->most_bytes - taken : 0;

	left = left > run->most_bytes / 8 ? left : run->most_bytes / 8;
	return mgpu_table_least(run->most_bytes == 0 ? UINT64_MAX : left / run->num_sharing, mgpu_cpu_tunables.table_part_bytes);
}

static uint64_t
bytes_of_buckets(uint64_t num_groups, uint64_t num_buckets)
{
	return num_groups * (2 * num_buckets + 1) * sizeof(uint64_t);
}

static const mgpu_group_sort *
sort_of(const mgpu_run *run, const mgpu_table_part *part)
{
	return &run->spec.sorts[part->sort];
}

/* Whether there is memory for the numbers of a part's rows: a quarter of its share. */
bool
mgpu_table_keeps_numbers(const mgpu_run *run, const mgpu_table_part *part)
{
	return run->spec.num_sorts > 0 && run->spec.num_keys > 0 && part->num_kept * sizeof(uint32_t) <= mgpu_table_share(run) / NUMBERS_SHARE;
}

/* Values that come back have to be in memory; those of several columns are looked up.  A sort by radix takes as much as values. */
bool
mgpu_table_needs_ranges(const mgpu_run *run, const mgpu_table_part *part)
{
	const mgpu_group_sort *sort = sort_of(run, part);
	uint64_t	share = mgpu_table_share(run);

	return (sort->returns & MGPU_SORT_VALUES) == 0 && run->spec.columns[sort->column].num_cells == 0 &&
		2 * part->num_kept * sizeof(uint64_t) > share &&
		bytes_of_buckets(part->groups.num_groups, LEAST_BUCKETS) <= share / BUCKETS_SHARE;
}

bool
mgpu_table_begin_ranges(mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_ranges *ranges = &part->ranges;
	uint64_t	share = mgpu_table_share(run);
	uint64_t	num_groups = part->groups.num_groups;

	*ranges = (mgpu_table_ranges) {.least = UINT64_MAX,.num_buckets = LEAST_BUCKETS};
	while (ranges->num_buckets < MOST_BUCKETS && bytes_of_buckets(num_groups, 2 * ranges->num_buckets) <= share / BUCKETS_SHARE)
		ranges->num_buckets *= 2;
	ranges->bytes = bytes_of_buckets(num_groups, ranges->num_buckets);
	ranges->ranks = mgpu_table_allocate(ranges->bytes);
	ranges->most_values = mgpu_table_least((share - share / BUCKETS_SHARE) / sizeof(uint64_t), part->num_kept);
	part->sort_bytes = ranges->most_values * sizeof(uint64_t);
	part->value_bytes += part->sort_bytes;
	part->values[part->sort] = mgpu_table_allocate(part->sort_bytes);
	part->step = MGPU_PART_BOUNDS;
	if (ranges->ranks == NULL || part->values[part->sort] == NULL)
		return false;
	ranges->places = ranges->ranks + num_groups * (ranges->num_buckets + 1);
	return true;
}

void
mgpu_table_end_ranges(mgpu_table_ranges *ranges)
{
	free(ranges->ranks);
	*ranges = (mgpu_table_ranges) {0};
}

/* How many buckets there are between the least and the greatest code. */
static uint32_t
used_buckets(const mgpu_table_ranges *ranges)
{
	return (uint32_t) ((ranges->greatest - ranges->least) >> ranges->shift) + 1;
}

/* ---- what a group asks for */

static uint64_t *
words_of(const mgpu_run *run, const mgpu_table_part *part, uint64_t group)
{
	return mgpu_table_record(&part->groups, group) + run->record.sorts[part->sort];
}

/* Whether a group asks for any of its values of ranks [begin, end).  part->ends has the counts of all. */
static bool
is_wanted(const mgpu_run *run, const mgpu_table_part *part, uint64_t group, uint64_t begin, uint64_t end)
{
	const mgpu_group_sort *sort = sort_of(run, part);

	if (begin < end && (sort->returns & MGPU_SORT_DISTINCT) != 0)
		return true;
	for (uint32_t i = 0; begin < end && i < sort->num_percentiles; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) part->ends[group], &low, &high);
		if ((uint64_t) high >= begin && (uint64_t) low < end)
			return true;
	}
	return false;
}

/* What a group asks for of its values from rank ranks[0] to ranks[1].  In a bucket of one code, all are the first. */
static void
tell(const mgpu_run *run, const mgpu_table_part *part, uint64_t group, const uint64_t *ranks, const uint64_t *values)
{
	bool		are_equal = part->ranges.shift == 0;
	const mgpu_group_sort *sort = sort_of(run, part);
	uint64_t	flip = sort->descending ? UINT64_MAX : 0;
	uint64_t   *words = words_of(run, part, group) + 1;

	if ((sort->returns & MGPU_SORT_DISTINCT) != 0)
		*words++ += are_equal ? 1 : mgpu_table_count_different(values, 0, ranks[1] - ranks[0]);
	for (uint32_t i = 0; i < sort->num_percentiles; i++, words += 2)
	{
		int64_t		at[2];

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) part->ends[group], &at[0], &at[1]);
		for (int side = 0; side < 2; side++)
		{
			if ((uint64_t) at[side] >= ranks[0] && (uint64_t) at[side] < ranks[1])
				words[side] = values[are_equal ? 0 : (uint64_t) at[side] - ranks[0]] ^ flip;
		}
	}
}

/* ---- buckets */

/* Values of a bucket that are to be sorted.  If all of it are equal, groups have them at once. */
static uint64_t
values_to_sort(const mgpu_run *run, const mgpu_table_part *part, uint32_t bucket)
{
	const mgpu_table_ranges *ranges = &part->ranges;
	uint64_t	value = ranges->least + bucket;
	uint64_t	num_values = 0;

	for (uint64_t group = 0; group < part->groups.num_groups; group++)
	{
		const uint64_t *ranks = mgpu_table_ranks(ranges, group) + bucket;

		if (!is_wanted(run, part, group, ranks[0], ranks[1]))
			continue;
		if (ranges->shift == 0)
			tell(run, part, group, ranks, &value);
		else
			num_values += ranks[1] - ranks[0];
	}
	return num_values;
}

static uint64_t
place_bucket(const mgpu_run *run, const mgpu_table_part *part, uint32_t bucket, uint64_t next)
{
	const mgpu_table_ranges *ranges = &part->ranges;

	for (uint64_t group = 0; group < part->groups.num_groups; group++)
	{
		const uint64_t *ranks = mgpu_table_ranks(ranges, group) + bucket;
		bool		is_moved = ranges->shift > 0 && is_wanted(run, part, group, ranks[0], ranks[1]);

		ranges->places[group * ranges->num_buckets + bucket] = is_moved ? next : MGPU_TABLE_NOWHERE;
		next += is_moved ? ranks[1] - ranks[0] : 0;
	}
	return next;
}

/* Take the next buckets, as many as fit.  Whether there is anything to sort in them. */
static bool
take_buckets(const mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_ranges *ranges = &part->ranges;
	uint32_t	num_buckets = used_buckets(ranges);
	uint64_t	num_values = 0;

	for (ranges->begin = ranges->end; ranges->end < num_buckets; ranges->end++)
	{
		if (values_to_sort(run, part, ranges->end) > ranges->most_values - num_values)
			break;
		num_values = place_bucket(run, part, ranges->end, num_values);
	}
	return num_values > 0;
}

/* Sort what groups have in the next bucket. */
static void
sort_bucket(mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_ranges *ranges = &part->ranges;
	uint32_t	bucket = ranges->begin++;

	for (uint64_t group = 0; group < part->groups.num_groups; group++)
	{
		const uint64_t *ranks = mgpu_table_ranks(ranges, group) + bucket;
		uint64_t	end = ranges->places[group * ranges->num_buckets + bucket];
		uint64_t	count = ranks[1] - ranks[0];
		uint64_t   *values;

		if (end == MGPU_TABLE_NOWHERE)
			continue;
		values = part->values[part->sort] + end - count;
		mgpu_sort_unsigned(values, count, sizeof(uint64_t), NULL);
		tell(run, part, group, ranks, values);
		part->num_left -= mgpu_table_least(part->num_left, count + 1);
	}
}

/* ---- ranges */

/* Count the values from one code to another, before which groups have so many as before the bucket. */
static void
begin_counts(const mgpu_run *run, mgpu_table_part *part, uint64_t least, uint64_t greatest, uint32_t bucket)
{
	mgpu_table_ranges *ranges = &part->ranges;
	unsigned	bits = mgpu_bit_length(greatest - least);
	unsigned	most_bits = mgpu_bit_length(ranges->num_buckets) - 1;

	for (uint64_t group = 0; group < part->groups.num_groups; group++)
	{
		uint64_t   *ranks = mgpu_table_ranks(ranges, group);

		ranks[0] = ranks[bucket];
		memset(ranks + 1, 0, ranges->num_buckets * sizeof(uint64_t));
	}
	ranges->least = least;
	ranges->greatest = greatest;
	ranges->shift = bits > most_bits ? bits - most_bits : 0;
	ranges->begin = ranges->end = 0;
	part->step = MGPU_PART_BUCKETS;
	mgpu_table_begin_pass(run, part);
}

/* Whether some group asks for values behind those that are counted. */
static bool
has_more(const mgpu_run *run, const mgpu_table_part *part)
{
	const mgpu_table_ranges *ranges = &part->ranges;
	uint32_t	end = used_buckets(ranges);

	for (uint64_t group = 0; ranges->greatest < ranges->last && group < part->groups.num_groups; group++)
	{
		if (is_wanted(run, part, group, mgpu_table_ranks(ranges, group)[end], part->ends[group]))
			return true;
	}
	return false;
}

static bool
end_sort(mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_end_ranges(&part->ranges);
	mgpu_table_end_values(part);
	return mgpu_table_begin_values(run, part);
}

/* Go on with the next buckets, with smaller ones of the next, or behind all that were counted. */
static bool
next_range(mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_ranges *ranges = &part->ranges;
	uint32_t	num_buckets = used_buckets(ranges);
	uint64_t	least;

	if (take_buckets(run, part))
	{
		part->step = MGPU_PART_RANGE;
		mgpu_table_begin_pass(run, part);
		return true;
	}
	if (ranges->end == num_buckets && !has_more(run, part))
		return end_sort(run, part);
	least = ranges->least + ((uint64_t) ranges->end << ranges->shift);
	if (ranges->end == num_buckets)
		begin_counts(run, part, ranges->greatest + 1, ranges->last, num_buckets);
	else
		begin_counts(run, part, least, least + mgpu_table_least(ranges->greatest - least, (UINT64_C(1) << ranges->shift) - 1), ranges->end);
	return true;
}

/* Words of a record are 0 so far. */
static bool
end_bounds(mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_ranges *ranges = &part->ranges;

	for (uint64_t group = 0; group < part->groups.num_groups; group++)
	{
		*words_of(run, part, group) = part->ends[group];
		*mgpu_table_ranks(ranges, group) = 0;
	}
	if (ranges->least > ranges->last)
		return end_sort(run, part);
	begin_counts(run, part, ranges->least, ranges->last, 0);
	return true;
}

static bool
end_buckets(mgpu_run *run, mgpu_table_part *part)
{
	for (uint64_t group = 0; group < part->groups.num_groups; group++)
	{
		uint64_t   *ranks = mgpu_table_ranks(&part->ranges, group);

		for (uint32_t i = 0; i < part->ranges.num_buckets; i++)
			ranks[i + 1] += ranks[i];
	}
	return next_range(run, part);
}

bool
mgpu_table_step_ranges(mgpu_run *run, uint32_t number, mgpu_table_worker *worker)
{
	mgpu_table_part *part = &run->parts[number];
	mgpu_table_ranges *ranges = &part->ranges;

	if (part->step == MGPU_PART_RANGE_SORTS)
	{
		if (ranges->begin == ranges->end)
			return next_range(run, part);
		sort_bucket(run, part);
	}
	else if (part->batch != NULL)
		return mgpu_table_take_buckets(run, number, worker);
	else if (part->step == MGPU_PART_BOUNDS)
		return end_bounds(run, part);
	else if (part->step == MGPU_PART_BUCKETS)
		return end_buckets(run, part);
	else
		part->step = MGPU_PART_RANGE_SORTS;
	return true;
}
