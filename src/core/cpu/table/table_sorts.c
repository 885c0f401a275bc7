/*
 * table_sorts.c
 *		The values of each group in order: counts of them, of different ones, percentiles, and the values themselves.
 *
 * The values of a part's groups are moved to one array, group after group, as codes that ascend in the order asked for.  Each group is
 * sorted there by itself.  If percentiles alone are asked for, only the values near them are: those with the same highest bits.
 * A large group is sorted by all threads together, once all parts are grouped: by a run of mgpu_cpu_executor.
 */
#include "core/cpu/table/table_pass.h"

#include <stdlib.h>
#include <string.h>

#include "core/unsigned_sort.h"

static uint64_t
flip_of(const mgpu_group_sort *sort)
{
	return sort->descending ? UINT64_MAX : 0;
}

/* ---- what a record tells */

/* How many of [begin, end) are other values than the one before, if there is one. */
uint64_t
mgpu_table_count_different(const uint64_t *values, uint64_t begin, uint64_t end)
{
	uint64_t	num_different = begin == 0 && end > 0;

	for (uint64_t i = begin == 0 ? 1 : begin; i < end; i++)
		num_different += values[i] != values[i - 1];
	return num_different;
}

void
mgpu_table_describe(const mgpu_group_sort *sort, const uint64_t *values, uint64_t count, uint64_t num_different, uint64_t *words)
{
	*words++ = count;
	if ((sort->returns & MGPU_SORT_DISTINCT) != 0)
		*words++ = num_different;
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

/* One thread selects among so many times the values that it sorts. */
#define LARGE_SELECTION 16

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

static const mgpu_group_sort *
sort_of(const mgpu_run *run, const mgpu_table_part *part)
{
	return &run->spec.sorts[part->sort];
}

/* Begin with the next sort, if there is one. */
bool
mgpu_table_begin_values(mgpu_run *run, mgpu_table_part *part)
{
	uint64_t	bytes = (part->groups.num_groups + 1) * sizeof(uint64_t);

	part->step = part->sort < run->spec.num_sorts ? MGPU_PART_COUNTS : MGPU_PART_DONE;
	if (part->step == MGPU_PART_DONE)
	{
		mgpu_table_end_part(part);
		return true;
	}
	if (part->ends == NULL)
		part->ends = mgpu_table_allocate(bytes);
	if (part->ends == NULL)
		return false;
	memset(part->ends, 0, bytes);
	mgpu_table_begin_pass(run, part);
	if (mgpu_table_needs_ranges(run, part))
		return mgpu_table_begin_ranges(run, part);
	if (run->spec.columns[sort_of(run, part)->column].num_cells == 0)
		return true;
	part->step = MGPU_PART_DISTINCT;
	return mgpu_table_begin_distinct(run, part);
}

/* Move the values of some rows, or count those of each group. */
static bool
take_values(mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker)
{
	uint32_t	column = sort_of(run, part)->column;
	uint64_t	flip = flip_of(sort_of(run, part));
	uint64_t   *values = part->values[part->sort];
	const mgpu_table_rows *rows = &vector->rows;
	const uint32_t *nulls = (rows->some_nulls >> column & 1) != 0 ? rows->nulls : NULL;

	(void) worker;
	for (uint32_t i = 0; i < rows->num_rows; i++)
	{
		uint64_t   *end = &part->ends[mgpu_table_group_of(vector, i)];

		if (nulls != NULL && (nulls[i] >> column & 1) != 0)
			continue;
		if (values != NULL)
			values[*end] = rows->codes[column][i] ^ flip;
		++*end;
	}
	return true;
}

/* Counts become the ends of the groups before; have room for all values, and for the largest group. */
static bool
place_values(const mgpu_run *run, mgpu_table_part *part)
{
	uint64_t	begin = 0;
	uint64_t	largest = 0;

	for (uint64_t i = 0; i < part->groups.num_groups; i++)
	{
		uint64_t	count = part->ends[i];

		largest = count > largest ? count : largest;
		part->ends[i] = begin;
		begin += count;
	}
	if ((sort_of(run, part)->returns & MGPU_SORT_VALUES) != 0)
		part->num_values[part->sort] = begin;
	free(part->scratch);
	part->scratch = mgpu_table_allocate(largest * sizeof(uint64_t));
	part->values[part->sort] = mgpu_table_allocate(begin * sizeof(uint64_t));
	part->sort_bytes = begin * sizeof(uint64_t);
	part->value_bytes += part->sort_bytes;
	part->step = MGPU_PART_VALUES;
	mgpu_table_begin_pass(run, part);
	return part->scratch != NULL && part->values[part->sort] != NULL;
}

static bool
defer_large(mgpu_run *run, mgpu_table_part *part, uint64_t *values, uint64_t count, uint64_t *words)
{
	mgpu_table_large *large = malloc(sizeof(*large));

	if (large == NULL)
		return false;
	part->large |= UINT32_C(1) << part->sort;
	*large = (mgpu_table_large) {.values = values,.num_values = count,.sort = part->sort,.words = words};
	large->next = atomic_load(&run->large);
	while (!atomic_compare_exchange_weak(&run->large, &large->next, large))
		;
	return true;
}

/* Sort the next group. */
static bool
sort_group(mgpu_run *run, mgpu_table_part *part)
{
	const mgpu_group_sort *sort = sort_of(run, part);
	uint64_t   *values = part->values[part->sort] + part->num_sorted;
	uint64_t	count = part->ends[part->group] - part->num_sorted;
	uint64_t   *words = mgpu_table_record(&part->groups, part->group) + run->record.sorts[part->sort];
	bool		selects = sort->returns == 0 && count >= SELECT_MIN_VALUES;

	part->num_sorted = part->ends[part->group++];
	part->num_left -= mgpu_table_least(part->num_left, count + 1);
	if (sort->returns == 0 && sort->num_percentiles == 0)
		*words = count;
	else if (count > mgpu_cpu_tunables.table_large_values * (selects ? LARGE_SELECTION : 1) && run->leaves_large)
		return defer_large(run, part, values, count, words);
	else if (selects)
		select_values(sort, values, count, part->scratch, words);
	else
	{
		mgpu_sort_unsigned(values, count, sizeof(uint64_t), part->scratch);
		mgpu_table_describe(sort, values, count, (sort->returns & MGPU_SORT_DISTINCT) != 0 ? mgpu_table_count_different(values, 0, count) : 0, words);
	}
	return true;
}

/* Values that neither come back nor are to be sorted yet are wanted no more. */
void
mgpu_table_end_values(mgpu_table_part *part)
{
	if (part->num_values[part->sort] == 0 && (part->large >> part->sort & 1) == 0)
	{
		free(part->values[part->sort]);
		part->values[part->sort] = NULL;
		part->value_bytes -= part->sort_bytes;
	}
	part->sort++;
}

bool
mgpu_table_step_values(mgpu_run *run, uint32_t number, mgpu_table_worker *worker)
{
	mgpu_table_part *part = &run->parts[number];

	if (part->step == MGPU_PART_DISTINCT && part->batch != NULL)
		return mgpu_table_count_distinct(run, number, worker);
	if (part->step == MGPU_PART_DISTINCT)
		return mgpu_table_end_distinct(run, part);
	if (part->step >= MGPU_PART_BOUNDS)
		return mgpu_table_step_ranges(run, number, worker);
	if (part->step != MGPU_PART_SORTS && part->batch != NULL)
		return mgpu_table_each_vector(run, number, worker,
									  part->step == MGPU_PART_COUNTS ? 0 : UINT32_C(1) << sort_of(run, part)->column, take_values);
	if (part->step == MGPU_PART_COUNTS)
		return place_values(run, part);
	else if (part->step == MGPU_PART_VALUES)
	{
		part->step = MGPU_PART_SORTS;
		part->group = part->num_sorted = 0;
	}
	else if (part->group < part->groups.num_groups)
		return sort_group(run, part);
	else
	{
		mgpu_table_end_values(part);
		return mgpu_table_begin_values(run, part);
	}
	return true;
}

/* ---- sorts by all threads */

uint64_t
mgpu_table_large_tasks(const mgpu_table_large *large)
{
	return (large->num_values + mgpu_table_step_rows() - 1) / mgpu_table_step_rows();
}

void
mgpu_table_copy_large(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_large *large = atomic_load(&run->large);
	uint64_t	begin = task * mgpu_table_step_rows();
	uint64_t	end = mgpu_table_least(begin + mgpu_table_step_rows(), large->num_values);

	memcpy(large->values + begin, (const uint64_t *) run->sorter_result + begin, (end - begin) * sizeof(uint64_t));
	atomic_fetch_add(&large->num_different, mgpu_table_count_different(run->sorter_result, begin, end));
}

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
