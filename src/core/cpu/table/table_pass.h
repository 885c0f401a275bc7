/*
 * table_pass.h
 *		Of runs (table.h): passes over the rows of a part whose groups are known.
 */
#ifndef MGPU_TABLE_PASS_H
#define MGPU_TABLE_PASS_H

#include "core/cpu/table/table.h"

/* Some rows of a part whose groups are known. */
typedef struct mgpu_table_vector
{
	mgpu_table_rows rows;
	const uint32_t *numbers;	/* of their groups; NULL: all are of the first */
} mgpu_table_vector;

typedef bool (*mgpu_table_vector_function) (mgpu_run *run, mgpu_table_part *part, const mgpu_table_vector *vector, mgpu_table_worker *worker);

/* Go through the rows of a part once more: of the next batch each vector, with these columns.  false: out of memory. */
void		mgpu_table_begin_pass(const mgpu_run *run, mgpu_table_part *part);
bool		mgpu_table_each_vector(mgpu_run *run, uint32_t number, mgpu_table_worker *worker, uint32_t columns,
								   mgpu_table_vector_function function);

static inline uint32_t
mgpu_table_group_of(const mgpu_table_vector *vector, uint32_t row)
{
	return vector->numbers == NULL ? 0 : vector->numbers[row];
}

#endif							/* MGPU_TABLE_PASS_H */
