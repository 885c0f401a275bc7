/*
 * table_distinct.c
 *		How many values of several columns differ in each group: words of texts, say.
 *
 * Nobody asks for these in order, so they are not sorted: a part has a table of its values, each with its group's number as one
 * more key.  One that is new there is one more of its group.
 *
 * Where values are more than may be in memory, those with the greater half of all hashes are forgotten, again and again.  Once all rows are read, they are read anew for
 * what was forgotten.  To cut all rows by their values was rejected: groups may count several values, and most have few that differ.
 */
#include "core/cpu/table/table_pass.h"

#include <stdlib.h>
#include <string.h>

/* A record of mgpu_table_groups has two words in front of its keys. */
static const uint64_t fresh_value[2 + MGPU_GROUP_MAX_CELLS + 1];

static uint32_t
head_of(const mgpu_run *run, const mgpu_table_part *part)
{
	return run->spec.sorts[part->sort].column;
}

static uint32_t
cells_of(const mgpu_run *run, const mgpu_table_part *part)
{
	return run->spec.columns[head_of(run, part)].num_cells;
}

/* Of a value in its table, at most: a record, with room for others, and its places. */
static uint64_t
bytes_of_value(const mgpu_table_groups *different)
{
	return (2 * different->num_words + 4) * sizeof(uint64_t);
}

bool
mgpu_table_begin_distinct(const mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_keys *keys = &part->value_keys;

	keys->num_keys = cells_of(run, part) + 1;
	for (uint32_t i = 0; i < keys->num_keys; i++)
		keys->columns[i] = i;
	part->different = (mgpu_table_groups) {.spec = &run->spec,.keys = keys,.fresh = fresh_value,.num_words = 2 + keys->num_keys};
	part->first_hash = 0;
	part->last_hash = UINT64_MAX;
	part->most_different = mgpu_table_share(run) / bytes_of_value(&part->different) + MGPU_VECTOR_ROWS;
	free(part->scratch);
	part->scratch = mgpu_table_allocate(keys->num_keys * MGPU_VECTOR_ROWS * sizeof(uint64_t));
	return part->scratch != NULL;
}

/* Those of some rows that have values, as rows of their own: the cells, then the group. */
static mgpu_table_rows
take_rows(const mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector)
{
	uint32_t	head = head_of(run, part);
	uint32_t	num_cells = cells_of(run, part);
	const mgpu_table_rows *from = &vector->rows;
	bool		has_nulls = (from->some_nulls >> head & 1) != 0;
	mgpu_table_rows rows = {0};

	for (uint32_t i = 0; i <= num_cells; i++)
		rows.codes[i] = part->scratch + i * MGPU_VECTOR_ROWS;
	for (uint32_t row = 0; row < from->num_rows; row++)
	{
		if (has_nulls && (from->nulls[row] >> head & 1) != 0)
			continue;
		for (uint32_t i = 0; i < num_cells; i++)
			part->scratch[i * MGPU_VECTOR_ROWS + rows.num_rows] = from->codes[head + i][row];
		part->scratch[num_cells * MGPU_VECTOR_ROWS + rows.num_rows++] = mgpu_table_group_of(vector, row);
	}
	return rows;
}

/* Leave rows whose hashes count now.  Their number is what is left. */
static void
choose_rows(const mgpu_table_part *part, mgpu_table_rows *rows, uint64_t *hashes)
{
	uint32_t	num_left = 0;

	if (part->first_hash == 0 && part->last_hash == UINT64_MAX)
		return;
	for (uint32_t row = 0; row < rows->num_rows; row++)
	{
		if (hashes[row] < part->first_hash || hashes[row] > part->last_hash)
			continue;
		for (uint32_t i = 0; i < part->value_keys.num_keys; i++)
			part->scratch[i * MGPU_VECTOR_ROWS + num_left] = rows->codes[i][row];
		hashes[num_left++] = hashes[row];
	}
	rows->num_rows = num_left;
}

static uint64_t *
words_of(const mgpu_run *run, const mgpu_table_part *part, uint64_t group)
{
	return mgpu_table_record(&part->groups, group) + run->record.sorts[part->sort];
}

/* The words of the group that a value in the table is of. */
static uint64_t *
words_of_value(const mgpu_run *run, const mgpu_table_part *part, uint64_t number)
{
	return words_of(run, part, mgpu_table_record(&part->different, number)[2 + cells_of(run, part)]);
}

/* Forget the values with the greater half of the hashes that count now. */
static bool
forget_half(const mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_groups *different = &part->different;
	uint64_t	num_left = 0;

	part->last_hash = part->first_hash + (part->last_hash - part->first_hash) / 2;
	for (uint64_t i = 0; i < different->num_groups; i++)
	{
		uint64_t   *record = mgpu_table_record(different, i);

		if (mgpu_table_hash_record(&part->value_keys, record) > part->last_hash)
			words_of_value(run, part, i)[1]--;
		else
			memmove(mgpu_table_record(different, num_left++), record, different->num_words * sizeof(uint64_t));
	}
	return mgpu_table_leave_groups(different, num_left);
}

static bool
count_rows(mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker)
{
	uint32_t	num_cells = cells_of(run, part);
	uint64_t	before = part->different.num_groups;
	mgpu_table_rows rows = take_rows(run, part, vector);
	bool		counted = true;

	mgpu_table_hash(&part->value_keys, &rows, worker->hashes);
	for (uint32_t i = 0; part->first_hash == 0 && i < rows.num_rows; i++)
		words_of(run, part, rows.codes[num_cells][i])[0]++;
	choose_rows(part, &rows, worker->hashes);
	if (!mgpu_table_find(&part->different, &rows, worker->hashes, worker->numbers))
		return false;
	for (uint64_t i = before; i < part->different.num_groups; i++)
		words_of_value(run, part, i)[1]++;
	while (counted && part->different.num_groups > part->most_different && part->last_hash > part->first_hash)
		counted = forget_half(run, part);
	return counted;
}

bool
mgpu_table_count_distinct(mgpu_run *run, uint32_t number, mgpu_table_worker *worker)
{
	const mgpu_table_part *part = &run->parts[number];
	uint32_t	columns = ((UINT32_C(1) << cells_of(run, part)) - 1) << head_of(run, part);

	return mgpu_table_each_vector(run, number, worker, columns, count_rows);
}

bool
mgpu_table_end_distinct(mgpu_run *run, mgpu_table_part *part)
{
	if (part->last_hash == UINT64_MAX)
	{
		mgpu_table_free_groups(&part->different);
		part->sort++;
		return mgpu_table_begin_values(run, part);
	}
	part->first_hash = part->last_hash + 1;
	part->last_hash = UINT64_MAX;
	mgpu_table_begin_pass(run, part);
	return mgpu_table_leave_groups(&part->different, 0);
}

/* No part has a value of another. */
void
mgpu_table_join_parts(mgpu_run *run)
{
	uint64_t   *to = mgpu_table_record(&run->parts[0].groups, 0);

	for (uint32_t part = 1; part < run->num_parts; part++)
	{
		const uint64_t *from = mgpu_table_record(&run->parts[part].groups, 0);

		mgpu_table_add_record(&run->parts[0].groups, &run->record, to, from);
		for (uint32_t i = 0; i < 2; i++)
			to[run->record.sorts[0] + i] += from[run->record.sorts[0] + i];
		run->parts[part].groups.num_groups = 0;
	}
}
