/*
 * table_parts.c
 *		Parts of groups or rows, which have their hashes' highest bits in common: each is a task.
 *
 * Groups that threads have folded are merged: each thread's are listed by parts, then the lists of a part become one table.  Rows that
 * were kept are grouped behind them, in the order of batches, which is that of the table.
 */
#include "core/cpu/table/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups of several threads */

static bool
list_groups(const mgpu_run *run, mgpu_table_worker *worker)
{
	const mgpu_table_groups *groups = &worker->groups;
	uint64_t	next[MGPU_TABLE_PARTS] = {0};
	uint8_t    *parts = malloc(groups->num_groups + 1);

	worker->by_part = mgpu_arena_allocate(&worker->arena, (groups->num_groups + 1) * sizeof(uint32_t));
	if (parts == NULL || worker->by_part == NULL)
	{
		free(parts);
		return false;
	}
	for (uint64_t i = 0; i < groups->num_groups; i++)
	{
		uint64_t	hash = mgpu_table_hash_record(&run->spec, mgpu_table_record(groups, i));

		parts[i] = run->num_parts > 1 ? (uint8_t) (hash >> MGPU_TABLE_PART_SHIFT) : 0;
		next[parts[i]]++;
	}
	for (uint32_t part = 0; part < MGPU_TABLE_PARTS; part++)
	{
		worker->part_begins[part + 1] = worker->part_begins[part] + next[part];
		next[part] = worker->part_begins[part];
	}
	for (uint64_t i = 0; i < groups->num_groups; i++)
		worker->by_part[next[parts[i]]++] = (uint32_t) i;
	free(parts);
	return true;
}

void
mgpu_table_cut_groups(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;

	if (!list_groups(run, &run->workers[task]))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
}

static void
init_groups(const mgpu_run *run, mgpu_table_groups *groups)
{
	groups->spec = &run->spec;
	groups->fresh = run->fresh;
	groups->num_words = run->record.num_words;
}

/* Groups that are merged at a time. */
#define MERGED_GROUPS 256

/* Some groups of a thread as rows of their keys. */
typedef struct merged_groups
{
	uint64_t	keys[MGPU_GROUP_MAX_KEYS][MERGED_GROUPS];
	uint32_t	nulls[MERGED_GROUPS];
	uint64_t	hashes[MERGED_GROUPS];
	uint32_t	numbers[MERGED_GROUPS];
	mgpu_table_rows rows;
} merged_groups;

static void
take_groups(const mgpu_run *run, const mgpu_table_groups *from, const uint32_t *list, uint32_t count, merged_groups *merged)
{
	const mgpu_group_spec *spec = &run->spec;

	merged->rows = (mgpu_table_rows) {.num_rows = count,.some_nulls = UINT32_MAX,.nulls = merged->nulls};
	for (uint32_t key = 0; key < spec->num_keys; key++)
		merged->rows.codes[spec->keys[key]] = merged->keys[key];
	for (uint32_t i = 0; i < count; i++)
	{
		const uint64_t *record = mgpu_table_record(from, list[i]);

		merged->nulls[i] = 0;
		for (uint32_t key = 0; key < spec->num_keys; key++)
		{
			merged->nulls[i] |= (uint32_t) (record[1] >> key & 1) << spec->keys[key];
			merged->keys[key][i] = record[2 + key];
		}
	}
}

static bool
merge_list(const mgpu_run *run, mgpu_table_groups *to, const mgpu_table_groups *from, const uint32_t *list, uint64_t count)
{
	merged_groups merged;

	for (uint64_t begin = 0; begin < count; begin += MERGED_GROUPS)
	{
		uint32_t	num_groups = (uint32_t) mgpu_table_least(MERGED_GROUPS, count - begin);

		take_groups(run, from, list + begin, num_groups, &merged);
		mgpu_table_hash(&run->spec, &merged.rows, merged.hashes);
		if (!mgpu_table_find(to, &merged.rows, merged.hashes, merged.numbers))
			return false;
		for (uint32_t i = 0; i < num_groups; i++)
			mgpu_table_add_record(&run->spec, &run->record, mgpu_table_record(to, merged.numbers[i]),
								  mgpu_table_record(from, list[begin + i]));
	}
	return true;
}

/* The groups of threads that are of a part. */
static bool
merge_groups(const mgpu_run *run, mgpu_table_groups *to, uint64_t part)
{
	bool		merged = true;

	for (int i = 0; merged && i < run->num_workers && mgpu_table_goes_on(run); i++)
	{
		const mgpu_table_worker *from = &run->workers[i];
		uint64_t	begin = from->part_begins[part];

		merged = merge_list(run, to, &from->groups, from->by_part + begin, from->part_begins[part + 1] - begin);
	}
	return merged;
}

/* ---- rows */

/* Group the rows of a part that are in one batch.  numbers: their groups, where they are wanted. */
static bool
group_rows(mgpu_run *run, mgpu_table_groups *groups, const mgpu_table_rows *rows, mgpu_table_worker *worker, uint32_t *numbers)
{
	bool		has_keys = run->spec.num_keys > 0;

	for (uint64_t begin = 0; begin < rows->num_rows; begin += MGPU_VECTOR_ROWS)
	{
		mgpu_table_rows slice = mgpu_table_slice(rows, run->spec.num_columns, begin,
												 mgpu_table_least(MGPU_VECTOR_ROWS, rows->num_rows - begin));
		uint32_t   *slice_numbers = numbers == NULL ? worker->numbers : numbers + begin;

		if (has_keys)
		{
			mgpu_table_hash(&run->spec, &slice, worker->hashes);
			if (!mgpu_table_find(groups, &slice, worker->hashes, slice_numbers))
				return false;
		}
		else if (numbers != NULL)
			memset(slice_numbers, 0, slice.num_rows * sizeof(uint32_t));
		if (!mgpu_table_reduce(groups, &run->record, &slice, has_keys ? slice_numbers : NULL))
			mgpu_table_fail(run, MGPU_TABLE_OVERFLOW);
	}
	return true;
}

static uint64_t
rows_of_part(const mgpu_run *run, uint64_t part)
{
	uint64_t	num_rows = 0;

	for (const mgpu_table_batch *batch = run->first; batch != NULL; batch = batch->next)
		num_rows += batch->parts[part + 1] - batch->parts[part];
	return num_rows;
}

void
mgpu_table_group_part(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_groups *groups = &run->parts[task].groups;
	uint32_t   *numbers = NULL;
	uint64_t	num_rows = 0;
	bool		grouped;

	init_groups(run, groups);
	grouped = merge_groups(run, groups, task) && (run->spec.num_keys > 0 || mgpu_table_make_empty(groups));
	if (run->spec.num_sorts > 0)
	{
		numbers = mgpu_table_allocate(rows_of_part(run, task) * sizeof(uint32_t));
		grouped &= numbers != NULL;
	}
	for (const mgpu_table_batch *batch = run->first; grouped && batch != NULL && mgpu_table_goes_on(run); batch = batch->next)
	{
		uint32_t	begin = batch->parts[task];
		mgpu_table_rows rows = mgpu_table_slice(&batch->rows, run->spec.num_columns, begin, batch->parts[task + 1] - begin);

		grouped = group_rows(run, groups, &rows, &run->workers[worker], numbers == NULL ? NULL : numbers + num_rows);
		num_rows += rows.num_rows;
	}
	if (!grouped)
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	if (numbers != NULL && mgpu_table_goes_on(run))
		mgpu_table_sort_part(run, (uint32_t) task, numbers);
	free(numbers);
}
