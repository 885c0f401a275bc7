/*
 * table_distinct.c
 *		How many values of several columns differ in each group: words of texts, say.
 *
 * Nobody asks for these in order, so they are not sorted: a part has a table of its values, each with its group's number as one
 * more key.  One that is new there is one more of its group.
 */
#include "core/cpu/table/table.h"

#include <stdlib.h>

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

bool
mgpu_table_begin_distinct(const mgpu_run *run, mgpu_table_part *part)
{
	mgpu_table_keys *keys = &part->value_keys;

	keys->num_keys = cells_of(run, part) + 1;
	for (uint32_t i = 0; i < keys->num_keys; i++)
		keys->columns[i] = i;
	part->different = (mgpu_table_groups) {.spec = &run->spec,.keys = keys,.fresh = fresh_value,.num_words = 2 + keys->num_keys};
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

static uint64_t *
words_of(const mgpu_run *run, const mgpu_table_part *part, uint64_t group)
{
	return mgpu_table_record(&part->groups, group) + run->record.sorts[part->sort];
}

static bool
count_rows(mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker)
{
	uint32_t	num_cells = cells_of(run, part);
	uint64_t	before = part->different.num_groups;
	mgpu_table_rows rows = take_rows(run, part, vector);

	mgpu_table_hash(&part->value_keys, &rows, worker->hashes);
	if (!mgpu_table_find(&part->different, &rows, worker->hashes, worker->numbers))
		return false;
	for (uint32_t i = 0; i < rows.num_rows; i++)
		words_of(run, part, rows.codes[num_cells][i])[0]++;
	for (uint64_t i = before; i < part->different.num_groups; i++)
		words_of(run, part, mgpu_table_record(&part->different, i)[2 + num_cells])[1]++;
	return true;
}

bool
mgpu_table_count_distinct(mgpu_run *run, uint32_t number, mgpu_table_worker *worker)
{
	const mgpu_table_part *part = &run->parts[number];
	uint32_t	columns = ((UINT32_C(1) << cells_of(run, part)) - 1) << head_of(run, part);

	return mgpu_table_each_vector(run, number, worker, columns, count_rows);
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
