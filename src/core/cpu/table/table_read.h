/*
 * table_read.h
 *		Of runs (table.h): reading pages and builds, a vector of rows at a time.
 */
#ifndef MGPU_TABLE_READ_H
#define MGPU_TABLE_READ_H

#include "core/cpu/table/table.h"

/* table_input.c: functions of the executor that take pages (core/executor.h). */
mgpu_status mgpu_table_input_slot(mgpu_run *run, mgpu_channel channel, void **memory, uint64_t *slot_bytes, mgpu_error *err);
mgpu_status mgpu_table_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err);
mgpu_status mgpu_table_all_read(mgpu_run *run, mgpu_error *err);
void		mgpu_table_set_builds(mgpu_run *run, const mgpu_group_spec *spec, const char *builds);

/* table_unmatched.c: note which rows of a build the selected ones match; then read the others, as many tasks as are planned. */
bool		mgpu_table_make_matched(mgpu_run *run);
void		mgpu_table_match(mgpu_run *run, const mgpu_table_worker *worker, uint32_t num_selected);
uint64_t	mgpu_table_unmatched_tasks(const mgpu_run *run);
bool		mgpu_table_plan_unmatched(mgpu_run *run);
void		mgpu_table_add_unmatched(void *run, uint64_t task, int worker);

/* The vectors of a batch (table_read.c): have room for so many rows, take those that are kept, and keep the batch. */
bool		mgpu_table_begin_batch(mgpu_run *run, mgpu_table_worker *worker, uint64_t most_rows);
bool		mgpu_table_take_vector(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_kept);
void		mgpu_table_end_batch(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch, bool goes_on);
mgpu_table_batch *mgpu_table_add_batch(mgpu_run *run);

/* table_read.c */
void		mgpu_table_plan_inputs(mgpu_run *run);
void		mgpu_table_read_pages(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_read *read);

/* table_columns.c.  Workers have registers; false: out of memory. */
void		mgpu_table_plan_columns(mgpu_run *run);
bool		mgpu_table_make_registers(mgpu_run *run, mgpu_table_worker *worker);
uint32_t	mgpu_table_test(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_rows);

/* So too of rows of a build that the table's have not matched: whose inputs are NULL, and only tests behind the match count. */
uint32_t	mgpu_table_test_unmatched(mgpu_run *run, mgpu_table_worker *worker, const uint32_t *rows, uint32_t num_rows);
void		mgpu_table_compute(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_rows);

#endif							/* MGPU_TABLE_READ_H */
