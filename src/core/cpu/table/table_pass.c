/*
 * table_pass.c
 *		Passes over the rows of a part whose groups are known, a vector at a time.
 */
#include "core/cpu/table/table_pass.h"

void
mgpu_table_begin_pass(const mgpu_run *run, mgpu_table_part *part)
{
	part->batch = run->first;
	part->num_rows = 0;
}

/* The groups of a vector's rows, which begin there in the next batch.  Where they are not kept, they are found once more. */
static bool
number_rows(mgpu_run *run, mgpu_table_part *part, mgpu_table_worker *worker, mgpu_table_vector *vector, uint64_t begin)
{
	vector->numbers = NULL;
	if (part->numbers != NULL)
		vector->numbers = part->numbers + part->num_rows + begin;
	else if (part->groups.num_groups > 1)
	{
		mgpu_table_hash(&run->keys, &vector->rows, worker->hashes);
		if (!mgpu_table_find(&part->groups, &vector->rows, worker->hashes, worker->numbers))
			return false;
		vector->numbers = worker->numbers;
	}
	return true;
}

bool
mgpu_table_each_vector(mgpu_run *run, uint32_t number, mgpu_table_worker *worker, uint32_t columns, mgpu_table_vector_function function)
{
	mgpu_table_part *part = &run->parts[number];
	bool		needs_keys = part->numbers == NULL && part->groups.num_groups > 1;
	mgpu_table_rows rows = mgpu_table_part_rows(run, worker, part->batch, number, columns | (needs_keys ? run->key_columns : 0));

	for (uint64_t begin = 0; begin < rows.num_rows; begin += MGPU_VECTOR_ROWS)
	{
		mgpu_table_vector vector = {.rows = mgpu_table_slice(&rows, run->spec.num_columns, begin,
															 mgpu_table_least(MGPU_VECTOR_ROWS, rows.num_rows - begin))};

		if (!number_rows(run, part, worker, &vector, begin) || !function(run, part, &vector, worker))
			return false;
	}
	part->num_rows += rows.num_rows;
	part->num_left -= mgpu_table_least(part->num_left, rows.num_rows + 1);
	part->batch = part->batch->next;
	return true;
}
