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
void		mgpu_table_set_builds(mgpu_run *run, const mgpu_group_spec *spec, const char *builds);

/* table_stages.c: the same, of rounds. */
mgpu_status mgpu_table_all_read(mgpu_run *run, mgpu_error *err);

/* table_marks.c: mark rows of a build that are matched; then read those that are wanted, as many tasks as are planned. */
bool		mgpu_table_make_marks(mgpu_run *run);
void		mgpu_table_free_marks(mgpu_run *run);
uint64_t	mgpu_table_marks_tasks(const mgpu_run *run);
bool		mgpu_table_plan_marks(mgpu_run *run);
void		mgpu_table_add_marked(void *context, uint64_t task, int worker_number);

/*
 * The vectors of a batch (table_batches.c): have room for so many rows, take those that are kept, and keep the batch.  More rows than that go to
 * batches behind it; once all are read, these are joined.
 */
bool		mgpu_table_begin_batch(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch, uint64_t most_rows);
bool		mgpu_table_take_vector(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_kept);
void		mgpu_table_end_batch(mgpu_run *run, mgpu_table_worker *worker, bool goes_on);
void		mgpu_table_forget_kept(mgpu_run *run);	/* rows in memory, once all are in the file */

/* table_list.c.  A new batch behind the others; NULL: out of memory. */
mgpu_table_batch *mgpu_table_add_batch(mgpu_run *run);
void		mgpu_table_join_batches(mgpu_run *run);

/* table_turns.c.  Begin from task 0.  Add the worker's rows, and after the last of its task let others add.  false: they are to be kept. */
void		mgpu_table_begin_turns(mgpu_run *run);
bool		mgpu_table_add_in_turn(mgpu_run *run, mgpu_table_worker *worker, bool is_last);

/* table_read.c */
void		mgpu_table_plan_inputs(mgpu_run *run);
void		mgpu_table_do_read(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_read *read);

/* table_columns.c.  Workers have registers; false: out of memory. */
void		mgpu_table_plan_columns(mgpu_run *run);
bool		mgpu_table_make_registers(mgpu_run *run, mgpu_table_worker *worker);

/*
 * The first rows of the vector meet tests from one on: their new number.  numbers: NULL, or moves with them.  Or only the operations of tests
 * run.
 */
uint32_t	mgpu_table_meet_tests(mgpu_run *run, mgpu_table_worker *worker, uint32_t test, uint32_t end, uint16_t *numbers, uint32_t num_rows);
void		mgpu_table_run_tests(mgpu_run *run, mgpu_table_worker *worker, uint32_t test, uint32_t end, uint32_t num_rows);

/* The columns of the first rows. */
void		mgpu_table_compute(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_rows);

/*
 * table_matches.c.  All rows of a vector meet tests and matches, and those that are kept are taken.  So too rows of a build that come by their
 * marks: their inputs are NULL, and only what is behind the match counts.  false: out of memory.
 */
bool		mgpu_table_make_saved(mgpu_run *run, mgpu_table_worker *worker);
bool		mgpu_table_take_rows(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_rows);
bool		mgpu_table_take_marked(mgpu_run *run, mgpu_table_worker *worker, const uint32_t *rows, uint32_t num_rows);

#endif							/* MGPU_TABLE_READ_H */
