/*
 * table_parts.c
 *		Parts of groups or rows, which have their hashes' highest bits in common.
 *
 * Groups that threads have folded are merged: each thread's are listed by parts, then the lists of a part become one table.  Rows that
 * were kept are grouped behind them, in the order of batches, which is that of the table.  A task works on
 * one part after the other, and ends after some rows: a part of millions, as of one group, takes several.
 */
#include "core/cpu/table/table_pass.h"

#include <stdlib.h>
#include <string.h>

/*
 * What parts have in common: keys.  Without these, rows of one value of the only sort are in one part, if nobody asks for its values in
 * order and each part's counts may be added up.
 */
void
mgpu_table_plan_parts(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;
	uint32_t	column = spec->sorts[0].column;

	run->keys.num_keys = spec->num_keys;
	memcpy(run->keys.columns, spec->keys, sizeof(spec->keys));
	run->part_keys = run->keys;
	if (spec->num_keys == 0 && mgpu_group_only_counts(spec) && run->ordered == 0)
	{
		do
			run->part_keys.columns[run->part_keys.num_keys] = column + run->part_keys.num_keys;
		while (++run->part_keys.num_keys < spec->columns[column].num_cells);
	}
	run->num_parts = run->way >= MGPU_TABLE_ORDER || run->part_keys.num_keys == 0 ? 1 : MGPU_TABLE_PARTS;
	run->num_at_once = run->file < 0 ? run->num_parts : (uint32_t) mgpu_table_least((uint64_t) run->num_workers, run->num_parts);
}

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
		uint64_t	hash = mgpu_table_hash_record(&run->keys, mgpu_table_record(groups, i));

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
	groups->keys = &run->keys;
	groups->fresh = run->fresh;
	groups->locale = run->locale;
	groups->num_words = run->record.num_words;
}

/* list: their numbers, or NULL: they are the first. */
static bool
merge_list(const mgpu_run *run, mgpu_table_groups *to, const mgpu_table_groups *from, const uint32_t *list, uint64_t count)
{
	const uint64_t *records[MGPU_MERGED_GROUPS];

	for (uint64_t begin = 0; begin < count; begin += MGPU_MERGED_GROUPS)
	{
		uint32_t	num_groups = (uint32_t) mgpu_table_least(MGPU_MERGED_GROUPS, count - begin);

		for (uint32_t i = 0; i < num_groups; i++)
			records[i] = mgpu_table_record(from, list == NULL ? begin + i : list[begin + i]);
		if (!mgpu_table_merge(to, &run->record, records, num_groups))
			return false;
	}
	return true;
}

bool
mgpu_table_merge_floats(mgpu_run *run)
{
	return merge_list(run, &run->workers[0].groups, &run->floats, NULL, run->floats.num_groups);
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

/* Group the rows of a part that are in one batch.  numbers: their groups, where they are kept. */
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
			mgpu_table_hash(&run->keys, &slice, worker->hashes);
			if (!mgpu_table_find(groups, &slice, worker->hashes, slice_numbers))
				return false;
		}
		mgpu_table_count_rows(groups, &slice, has_keys ? slice_numbers : NULL);
		if (!mgpu_table_reduce(groups, &run->record, &slice, has_keys ? slice_numbers : NULL, UINT32_MAX))
			mgpu_table_fail(run, MGPU_TABLE_OVERFLOW);
	}
	return true;
}

static bool
begin_part(mgpu_run *run, mgpu_table_part *part, uint64_t number)
{
	init_groups(run, &part->groups);
	part->step = MGPU_PART_GROUPS;
	mgpu_table_begin_pass(run, part);
	if (mgpu_table_keeps_numbers(run, part))
	{
		part->numbers = mgpu_table_allocate(part->num_kept * sizeof(uint32_t));
		if (part->numbers == NULL)
			return false;
	}
	return merge_groups(run, &part->groups, number) && (run->spec.num_keys > 0 || mgpu_table_make_empty(&part->groups));
}

/* Group the rows of the next batch. */
static bool
group_batch(mgpu_run *run, mgpu_table_part *part, uint64_t number, mgpu_table_worker *worker)
{
	mgpu_table_rows rows = mgpu_table_part_rows(run, worker, part->batch, (uint32_t) number, run->grouped);

	if (!group_rows(run, &part->groups, &rows, worker, part->numbers == NULL ? NULL : part->numbers + part->num_rows))
		return false;
	part->num_rows += rows.num_rows;
	part->num_left -= mgpu_table_least(part->num_left, rows.num_rows + 1);
	part->batch = part->batch->next;
	return true;
}

static bool
step_part(mgpu_run *run, mgpu_table_part *part, uint64_t number, mgpu_table_worker *worker)
{
	if (part->step == MGPU_PART_NEW)
		return begin_part(run, part, number);
	if (part->step != MGPU_PART_GROUPS)
		return mgpu_table_step_values(run, (uint32_t) number, worker);
	if (part->batch != NULL)
		return group_batch(run, part, number, worker);
	return mgpu_table_begin_values(run, part);
}

static uint64_t
bytes_of_part(const mgpu_table_part *part)
{
	return mgpu_table_groups_bytes(&part->groups) + mgpu_table_groups_bytes(&part->different) + part->value_bytes +
		part->ranges.bytes + (part->numbers != NULL ? part->num_kept * sizeof(uint32_t) : 0);
}

/* Bring the groups of a part that is done to the file. */
static void
spill_groups(mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_groups *groups = &part->groups;

	mgpu_table_finish_records(groups, &run->record);
	part->in_file = true;
	part->file_begin = mgpu_table_spill(run, groups->records, groups->num_groups * groups->num_words * sizeof(uint64_t));
	free(groups->records);
	free(groups->slots);
	groups->records = groups->slots = NULL;
	mgpu_table_count(run, &part->bytes, bytes_of_part(part));
}

/* The number of the part that a task works on: the one that it has begun, or the next. */
static uint32_t
part_at(mgpu_run *run, uint64_t task)
{
	uint32_t   *at = &run->parts_at[task];

	if (*at == 0 || (*at <= run->num_parts && run->parts[*at - 1].step == MGPU_PART_DONE))
		*at = atomic_fetch_add(&run->next_part, 1) + 1;
	return *at - 1;
}

/* Work on a part, until it is done or num_left rows are. */
static void
work_on_part(mgpu_run *run, mgpu_table_part *part, uint32_t number, mgpu_table_worker *worker)
{
	while (part->step != MGPU_PART_DONE && part->num_left > 0 && mgpu_table_goes_on(run))
	{
		if (!step_part(run, part, number, worker))
			mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		mgpu_table_count(run, &part->bytes, bytes_of_part(part));
	}
	if (part->step == MGPU_PART_DONE && run->spec.num_keys > 0 && part->large == 0 && mgpu_table_spills(run, 0))
		spill_groups(run, part);
}

void
mgpu_table_group_parts(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	num_left = mgpu_cpu_tunables.table_task_rows;
	uint32_t	number;

	while (num_left > 0 && mgpu_table_goes_on(run) && (number = part_at(run, task)) < run->num_parts)
	{
		run->parts[number].num_left = num_left;
		work_on_part(run, &run->parts[number], number, &run->workers[worker]);
		num_left = run->parts[number].num_left;
	}
}

bool
mgpu_table_are_grouped(const mgpu_run *run)
{
	for (uint32_t i = 0; i < run->num_parts; i++)
	{
		if (run->parts[i].step != MGPU_PART_DONE)
			return false;
	}
	return true;
}

void
mgpu_table_end_part(mgpu_table_part *part)
{
	free(part->numbers);
	free(part->ends);
	free(part->scratch);
	mgpu_table_free_groups(&part->different);
	mgpu_table_end_ranges(&part->ranges);
	part->numbers = NULL;
	part->ends = part->scratch = NULL;
}

void
mgpu_table_free_part(mgpu_table_part *part)
{
	mgpu_table_free_groups(&part->groups);
	for (uint32_t sort = 0; sort < MGPU_GROUP_MAX_SORTS; sort++)
		free(part->values[sort]);
	mgpu_table_end_part(part);
}
