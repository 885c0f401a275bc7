/*
 * table_pass.h
 *		Of PASS (table.h): rows that come back as they came.
 */
#ifndef MGPU_TABLE_PASS_H
#define MGPU_TABLE_PASS_H

#include "core/cpu/table/table.h"

/* table_order.c.  Number rows, and find batches by these numbers (mgpu_table_batch_of).  false: out of memory. */
bool		mgpu_table_number_rows(mgpu_run *run);

/* Once all rows are there: the result.  false: out of memory. */
bool		mgpu_table_plan_pass(mgpu_run *run);

/* Write the marks of some rows, or a column. */
void		mgpu_table_write_passed_marks(mgpu_run *run, uint64_t begin, uint64_t end, uint32_t *to);
void		mgpu_table_write_passed_column(mgpu_run *run, uint32_t number, uint64_t begin, uint64_t end, char *to);

#endif							/* MGPU_TABLE_PASS_H */
