/*
 * table_sorts.c
 *		The values of each group in order: counts of them, of different ones, percentiles, and the values themselves.
 *
 * The values of a part's groups are moved to one array, group after group, as codes that ascend in the order asked for.  Each group is
 * sorted there by itself.  If percentiles alone are asked for, only the values near them are: those with the same highest bits.
 * A large group is sorted by all threads together, once all parts are grouped: by a run of mgpu_cpu_executor.
 */
#include "core/cpu/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/unsigned_sort.h"

static uint64_t
flip_of(const mgpu_group_sort *sort)
{
	return sort->descending ? UINT64_MAX : 0;
}

/* ---- what a record tells */

void
mgpu_table_describe(const mgpu_group_sort *sort, const uint64_t *values, uint64_t count, uint64_t *words)
{
	uint64_t	num_different = count > 0;

	*words++ = count;
	if ((sort->returns & MGPU_SORT_DISTINCT) != 0)
	{
		for (uint64_t i = 1; i < count; i++)
			num_different += values[i] != values[i - 1];
		*words++ = num_different;
	}
	for (uint32_t i = 0; i < sort->num_percentiles && count > 0; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) count, &low, &high);
		*words++ = values[low] ^ flip_of(sort);
		*words++ = values[high] ^ flip_of(sort);
	}
}

/* ---- percentiles alone */

#define SELECT_BITS 10
#define SELECT_BUCKETS (1 << SELECT_BITS)

/* Groups with fewer values are sorted. */
#define SELECT_MIN_VALUES 512

/* Values cut by the highest bits in which they differ. */
typedef struct selection
{
	const uint64_t *values;
	uint64_t	count;
	uint64_t	least;
	unsigned	shift;
	uint64_t	begins[SELECT_BUCKETS + 1];
	uint64_t   *scratch;		/* for `count` values */
	uint32_t	bucket;			/* that is sorted in the scratch; SELECT_BUCKETS: none */
} selection;

static void
cut_values(selection *cut)
{
	uint64_t	greatest = 0;

	cut->least = UINT64_MAX;
	for (uint64_t i = 0; i < cut->count; i++)
	{
		cut->least = cut->values[i] < cut->least ? cut->values[i] : cut->least;
		greatest = cut->values[i] > greatest ? cut->values[i] : greatest;
	}
	cut->shift = (unsigned) mgpu_bit_length(greatest - cut->least);
	cut->shift = cut->shift > SELECT_BITS ? cut->shift - SELECT_BITS : 0;
	memset(cut->begins, 0, sizeof(cut->begins));
	for (uint64_t i = 0; i < cut->count; i++)
		cut->begins[((cut->values[i] - cut->least) >> cut->shift) + 1]++;
	for (int i = 0; i < SELECT_BUCKETS; i++)
		cut->begins[i + 1] += cut->begins[i];
	cut->bucket = SELECT_BUCKETS;
}

static uint64_t
select_value(selection *cut, uint64_t place)
{
	uint32_t	bucket = 0;
	uint64_t	count = 0;

	while (cut->begins[bucket + 1] <= place)
		bucket++;
	if (bucket != cut->bucket)
	{
		for (uint64_t i = 0; i < cut->count; i++)
		{
			cut->scratch[count] = cut->values[i];
			count += (cut->values[i] - cut->least) >> cut->shift == bucket;
		}
		mgpu_sort_unsigned(cut->scratch, count, sizeof(uint64_t), NULL);
		cut->bucket = bucket;
	}
	return cut->scratch[place - cut->begins[bucket]];
}

static void
select_values(const mgpu_group_sort *sort, const uint64_t *values, uint64_t count, uint64_t *scratch, uint64_t *words)
{
	selection	cut = {.values = values,.count = count,.scratch = scratch};

	cut_values(&cut);
	*words++ = count;
	for (uint32_t i = 0; i < sort->num_percentiles; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) count, &low, &high);
		*words++ = select_value(&cut, (uint64_t) low) ^ flip_of(sort);
		*words++ = select_value(&cut, (uint64_t) high) ^ flip_of(sort);
	}
}

/* ---- a part */

/* The values of one sort of a part. */
typedef struct part_values
{
	mgpu_run   *run;
	const mgpu_group_sort *sort;
	uint32_t	number;			/* of the sort */
	uint32_t	part;
	uint64_t   *values;
	uint64_t   *ends;			/* of each group's values: one behind them */
	uint64_t   *scratch;
} part_values;

/* Move the values of the part's rows, or count those of each group. */
static void
take_values(part_values *of, const uint32_t *numbers, bool moves)
{
	uint32_t	column = of->sort->column;
	uint64_t	flip = flip_of(of->sort);

	for (const mgpu_table_batch *batch = of->run->first; batch != NULL; batch = batch->next)
	{
		const uint64_t *codes = batch->rows.codes[column];
		bool		has_nulls = (batch->rows.some_nulls >> column & 1) != 0;

		for (uint32_t row = batch->parts[of->part]; row < batch->parts[of->part + 1]; row++)
		{
			uint32_t	group = *numbers++;

			if (has_nulls && (batch->rows.nulls[row] >> column & 1) != 0)
				continue;
			if (moves)
				of->values[of->ends[group]++] = codes[row] ^ flip;
			else
				of->ends[group]++;
		}
	}
}

static bool
defer_large(part_values *of, uint64_t *values, uint64_t count, uint64_t *words)
{
	mgpu_table_large *large = malloc(sizeof(*large));

	if (large == NULL)
		return false;
	*large = (mgpu_table_large) {.values = values,.num_values = count,.sort = of->number,.words = words};
	large->next = atomic_load(&of->run->large);
	while (!atomic_compare_exchange_weak(&of->run->large, &large->next, large))
		;
	return true;
}

static bool
sort_group(part_values *of, uint64_t *values, uint64_t count, uint64_t *words)
{
	if (of->sort->returns == 0 && of->sort->num_percentiles == 0)
		*words = count;
	else if (of->sort->returns == 0 && count >= SELECT_MIN_VALUES)
		select_values(of->sort, values, count, of->scratch, words);
	else if (of->sort->returns != 0 && count > mgpu_cpu_tunables.table_large_values)
		return defer_large(of, values, count, words);
	else
	{
		mgpu_sort_unsigned(values, count, sizeof(uint64_t), of->scratch);
		mgpu_table_describe(of->sort, values, count, words);
	}
	return true;
}

/* Counts become ends of the groups before; the largest count. */
static uint64_t
place_groups(part_values *of, uint64_t num_groups)
{
	uint64_t	begin = 0;
	uint64_t	largest = 0;

	for (uint64_t i = 0; i < num_groups; i++)
	{
		uint64_t	count = of->ends[i];

		largest = count > largest ? count : largest;
		of->ends[i] = begin;
		begin += count;
	}
	of->ends[num_groups] = begin;
	return largest;
}

static bool
sort_groups(part_values *of, const uint32_t *numbers)
{
	mgpu_table_groups *groups = &of->run->parts[of->part].groups;
	uint32_t	word = of->run->record.sorts[of->number];
	uint64_t	begin = 0;
	uint64_t	largest;
	bool		sorted = true;

	memset(of->ends, 0, (groups->num_groups + 1) * sizeof(uint64_t));
	take_values(of, numbers, false);
	largest = place_groups(of, groups->num_groups);
	of->values = mgpu_table_allocate(of->ends[groups->num_groups] * sizeof(uint64_t));
	of->scratch = mgpu_table_allocate(largest * sizeof(uint64_t));
	if (of->values == NULL || of->scratch == NULL)
		return false;
	take_values(of, numbers, true);
	for (uint64_t i = 0; sorted && i < groups->num_groups && mgpu_table_goes_on(of->run); i++)
	{
		sorted = sort_group(of, of->values + begin, of->ends[i] - begin, mgpu_table_record(groups, i) + word);
		begin = of->ends[i];
	}
	return sorted;
}

void
mgpu_table_sort_part(mgpu_run *run, uint32_t part, const uint32_t *numbers)
{
	mgpu_table_part *of_part = &run->parts[part];
	uint64_t   *ends = mgpu_table_allocate((of_part->groups.num_groups + 1) * sizeof(uint64_t));
	bool		sorted = ends != NULL;

	for (uint32_t i = 0; sorted && i < run->spec.num_sorts; i++)
	{
		part_values of = {.run = run,.sort = &run->spec.sorts[i],.number = i,.part = part,.ends = ends};

		sorted = sort_groups(&of, numbers);
		free(of.scratch);
		of_part->values[i] = of.values;
		of_part->num_values[i] = (of.sort->returns & MGPU_SORT_VALUES) != 0 ? ends[of_part->groups.num_groups] : 0;
		if ((of.sort->returns & (MGPU_SORT_VALUES | MGPU_SORT_DISTINCT)) == 0)
		{
			free(of.values);
			of_part->values[i] = NULL;
		}
	}
	free(ends);
	if (!sorted)
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
}

/* ---- sorts by all threads */

mgpu_status
mgpu_table_begin_sort(mgpu_run *run, const void *keys, uint64_t num_items, uint32_t width, mgpu_error *err)
{
	mgpu_job	job = {.op = MGPU_OP_SORT,.key_kind = width == 16 ? MGPU_KEY_BYTES : MGPU_KEY_UNSIGNED,.key_width = width,
	.outputs = MGPU_OUT_KEYS,.num_items = num_items};
	mgpu_exec_options options = {.device = -1,.num_threads = run->num_workers};
	mgpu_binding binding = {.in_keys = keys};
	mgpu_status status;

	run->sorter_result = mgpu_table_allocate(num_items * width);
	if (run->sorter_result == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for %llu values", (unsigned long long) num_items);
	binding.out_keys = run->sorter_result;
	status = mgpu_cpu_executor.open(&job, &binding, &options, &run->sorter, err);
	return status == MGPU_OK ? mgpu_cpu_executor.submit(run->sorter, err) : status;
}

mgpu_status
mgpu_table_continue_sort(mgpu_run *run, mgpu_error *err)
{
	mgpu_status status = mgpu_cpu_executor.poll(run->sorter, err);

	if (status == MGPU_OK)
	{
		mgpu_cpu_executor.release(run->sorter);
		run->sorter = NULL;
	}
	return status;
}

void
mgpu_table_end_sort(mgpu_run *run)
{
	mgpu_cpu_executor.release(run->sorter);
	run->sorter = NULL;
	free(run->sorter_result);
	run->sorter_result = NULL;
}
