/*
 * table.h
 *		Internals of mgpu_cpu_table_executor: pages of a table in, groups or rows out (group_spec.h), by CPU threads.
 *
 * Threads read batches of pages while the caller fills the next: they find the inputs of up to MGPU_VECTOR_ROWS rows, run the program,
 * and have the columns of the rows that are kept, as codes.  What becomes of them is one of four ways:
 *
 *	 FOLD	into the groups of each thread, which are merged at the end.  Counts and integers in any order; floats in that
 *			of the rows: several threads add these in turn, to groups of all.  Once groups do not fit a cache, rows are kept:
 *			it took half as long again to fold into 100,000 groups, and twice as long to merge those of two threads.
 *	 KEEP	kept, cut by the hash of their keys into parts that fit a cache; then a thread groups each part, in the
 *			order of the rows, and sorts the values of each group.  Rows beyond the run's memory lie in a file.
 *	 ORDER	kept, and sorted by keys and order columns: beyond the run's memory by parts.  Of a small limit, only rows that may be within it.
 *	 PASS	kept, in a file beyond the run's memory, and returned as they came.
 *
 *	 table_executor	calls, batches			table_stages	what is done after reading
 *	 table_read		rows of pages			table_columns	program, codes
 *	 table_matches	rows of joins			table_unmatched	rows that no join has
 *	 table_batches	rows that are kept		table_turns		floats, added in turn
 *	 table_groups	hash tables of records	table_reduce	counts and sums
 *	 table_parts	merging, grouping		table_sorts		values of groups
 *	 table_distinct	counts of texts			table_heads		extremes of texts, pairs
 *	 table_cut		rows beyond a limit		table_fields	rows as sort keys
 *	 table_order	rows in order			table_order_parts	rows beyond memory
 *	 table_answer	outputs					table_memory	memory
 *	 table_spill	what a run may have, and rows beyond it
 *	 table_ranges	values beyond it		table_buckets	counts of them
 */
#ifndef MGPU_TABLE_H
#define MGPU_TABLE_H

#include <stdatomic.h>

#include "core/collator.h"
#include "core/cpu_codec.h"
#include "core/cpu_threads.h"
#include "core/cpu_tuning.h"
#include "core/cpu/table/table_looks.h"
#include "core/cpu/table/table_order.h"
#include "core/cpu/table/table_part.h"
#include "core/executor.h"
#include "core/names.h"

#define MGPU_TABLE_PART_SHIFT 58	/* of a hash: MGPU_TABLE_PARTS numbers are left */

/* Why there is no answer, or-ed by threads. */
enum
{
	MGPU_TABLE_DAMAGED = 1,
	MGPU_TABLE_FAULT = 2,
	MGPU_TABLE_ODD = 4,
	MGPU_TABLE_OVERFLOW = 8,
	MGPU_TABLE_NO_MEMORY = 16,
	MGPU_TABLE_TOO_MANY = 32,
	MGPU_TABLE_OVER_LIMIT = 64,
	MGPU_TABLE_FILE = 128,
	MGPU_TABLE_TEXTS = 256
};

typedef enum mgpu_table_way
{
	MGPU_TABLE_FOLD,
	MGPU_TABLE_KEEP,
	MGPU_TABLE_ORDER,			/* from here on, rows come back */
	MGPU_TABLE_PASS
} mgpu_table_way;

/* ---- runs */

/* The rows of some pages, in the order of the table, unless they are folded. */
typedef struct mgpu_table_batch
{
	struct mgpu_table_batch *next;
	struct mgpu_table_batch *more;	/* of the same pages, while these are read */
	struct mgpu_table_batch *before;	/* ORDER: that its thread has kept before */
	mgpu_table_rows rows;
	uint64_t	first_row;		/* ORDER, PASS: of all rows, or of a part's */
	uint32_t	parts[MGPU_TABLE_PARTS + 1];	/* where parts of rows begin */
	bool		in_file;		/* the rows are, from this byte on */
	uint64_t	file_begin;
} mgpu_table_batch;

/* Memory of a batch of input. */
typedef struct mgpu_table_slot
{
	char	   *memory;
	uint32_t	num_refs;		/* pages, or rows */
	uint64_t	num_bytes;		/* of rows, with all that is before them */
	_Atomic uint32_t num_left;	/* tasks that read it; 0: it is free */
} mgpu_table_slot;

/* A task of reading: pages of a slot, or rows. */
typedef struct mgpu_table_read
{
	mgpu_table_slot *slot;
	uint64_t	number;
	uint32_t	begin;
	uint32_t	end;
	mgpu_table_batch *batch;
} mgpu_table_read;

typedef struct mgpu_table_saved mgpu_table_saved;

/* What a thread has. */
typedef struct mgpu_table_worker
{
	mgpu_arena	arena;			/* what it works in */
	mgpu_arena	kept_arena;		/* rows that it has kept */
	mgpu_register registers[MGPU_GROUP_MAX_REGISTERS];
	mgpu_made	made;			/* for operations that make texts */
	mgpu_collator *collator;	/* for those that compare texts, if there is a locale */
	const char **found[MGPU_GROUP_MAX_INPUTS];	/* values of a vector's rows ... */
	uint64_t	tids[MGPU_VECTOR_ROWS];	/* ... of which these are some, if the spec has TIDs */
	mgpu_table_saved *saved[MGPU_GROUP_MAX_BUILDS];	/* of each match of the spec */
	mgpu_table_batch *batch;	/* that is read */
	uint32_t	next_row;		/* of a slot's rows */
	mgpu_table_batch *last_kept;	/* ORDER, where a limit cuts: the last batch that was kept, ... */
	uint64_t	num_left;		/* ... rows in all that were, ... */
	uint64_t	left_before;	/* ... and how many there were when they had just been cut */
	uint16_t	kept[MGPU_VECTOR_ROWS];	/* rows whose registers are computed */
	uint16_t	selected[MGPU_VECTOR_ROWS];	/* places of those that met all tests so far */
	uint64_t	hashes[MGPU_VECTOR_ROWS];	/* of a vector's rows; or codes that nobody wants */
	uint32_t	numbers[MGPU_VECTOR_ROWS];
	uint64_t   *codes[MGPU_GROUP_MAX_COLUMNS];	/* kept rows of the batch; FOLD: of the vector */
	uint32_t   *nulls;
	uint16_t   *parts;
	uint32_t   *of_rows;		/* their groups, if floats are added in turn */
	uint64_t	capacity;		/* of the last four */
	char	   *block;			/* rows on their way to the file, or from there */
	uint64_t	block_bytes;
	uint64_t	num_rows;		/* in them */
	uint32_t	some_nulls;
	uint64_t	task;			/* of which they are: its turn comes when those before it are done */
	bool		folds;			/* FOLD, so far */
	mgpu_table_groups groups;	/* FOLD: so far.  ORDER: what the limit leaves (table_cut.c) */
	uint32_t   *shared;			/* of each group: its number among the run's, ... */
	uint64_t	num_shared;		/* ... of so many */
	uint64_t	shared_capacity;
	uint64_t	read_of_source[MGPU_GROUP_MAX_SOURCES];	/* rows, and those that were kept */
	uint64_t	kept_of_source[MGPU_GROUP_MAX_SOURCES];
	uint64_t	num_kept;
	uint64_t	bytes;			/* of memory, behind the last batch */
	uint64_t	least[MGPU_GROUP_MAX_COLUMNS];	/* ORDER: codes of kept rows */
	uint64_t	greatest[MGPU_GROUP_MAX_COLUMNS];
	uint32_t	all_nulls;		/* columns that have some */
	uint32_t   *by_part;		/* FOLD: groups, part after part ... */
	uint64_t	part_begins[MGPU_TABLE_PARTS + 1];	/* ... and where those begin */
} mgpu_table_worker;

typedef enum mgpu_table_stage
{
	MGPU_TABLE_READING,
	MGPU_TABLE_ADDING,			/* rows of a build, by their marks */
	MGPU_TABLE_SAMPLING,		/* ORDER beyond memory: keys of some rows; ... */
	MGPU_TABLE_PARTING,			/* ... rows, by parts; ... */
	MGPU_TABLE_LOADING,			/* ... those of one part */
	MGPU_TABLE_CUTTING,			/* FOLD: groups by parts */
	MGPU_TABLE_GROUPING,		/* parts */
	MGPU_TABLE_SORTING,			/* values of large groups; ORDER: keys */
	MGPU_TABLE_COPYING,			/* values of a large group, back to their place */
	MGPU_TABLE_REFINING,		/* ORDER: rows that are equal so far */
	MGPU_TABLE_MARKING,			/* ORDER: where groups begin, and rows differ */
	MGPU_TABLE_SELECTING,		/* ORDER: rows within the limit */
	MGPU_TABLE_STORING,			/* ORDER beyond memory: those of the part */
	MGPU_TABLE_ANSWERING,		/* the result is known; outputs may be bound */
	MGPU_TABLE_WRITING,
	MGPU_TABLE_DONE
} mgpu_table_stage;

struct mgpu_run
{
	mgpu_job	job;
	mgpu_group_spec spec;
	mgpu_group_record record;
	mgpu_table_keys keys;		/* the spec's */
	mgpu_table_keys part_keys;	/* whose hashes say which part a row is of */
	uint64_t   *fresh;
	locale_t	locale;			/* of collated columns, or 0 */
	mgpu_page_places pages;		/* shared buffers alone */
	const char *builds;
	mgpu_names *names;			/* of named columns */
	mgpu_table_way way;
	mgpu_table_stage stage;
	bool		submitted;
	bool		phase_open;
	atomic_bool cancelled;
	_Atomic uint32_t failures;	/* MGPU_TABLE_... */
	_Atomic uint64_t bytes;		/* of memory, of all workers and parts */
	uint64_t	most_bytes;		/* 0: any */
	uint64_t	fold_bytes;		/* FOLD: that groups may take */
	int			file;			/* of rows and groups, or -1 */
	uint64_t	memory_before_file;
	uint64_t	most_file_bytes;
	_Atomic uint64_t file_bytes;
	mgpu_pool  *pool;
	int			num_workers;
	mgpu_table_worker *workers;
	double		work_ms;

	/* plan of reading (table_columns.c, table_read.c) */
	uint32_t	stored;			/* columns that are kept */
	uint32_t	key_columns;	/* of them, those that are keys, ... */
	uint32_t	grouped;		/* ... and those that are keys or reduced */
	uint64_t	moved[MGPU_GROUP_MAX_TESTS];	/* registers that are set up to a test and read behind it */
	mgpu_table_looks looks[MGPU_GROUP_MAX_BUILDS];	/* of each match */
	uint32_t	num_fixed_inputs;
	uint8_t		fixed_inputs[MGPU_GROUP_MAX_INPUTS];
	uint32_t	num_walked_inputs;
	uint8_t		walked_inputs[MGPU_GROUP_MAX_INPUTS];
	uint64_t	cut;			/* ORDER: rows of a group that are looked at by each thread; 0: all */

	/* input */
	mgpu_table_slot *slots;
	uint64_t	num_slots;
	uint64_t	slot_bytes;
	bool		slot_is_out;
	uint64_t	num_committed;	/* batches */
	uint64_t	most_reads;		/* of a batch */
	mgpu_table_read *reads;		/* [ring_reads]: number n is at n modulo that */
	uint64_t	ring_reads;
	uint64_t	num_reads;
	_Atomic uint64_t num_done;	/* reads */
	mgpu_arena	arena;			/* batches */
	mgpu_table_batch *first;
	mgpu_table_batch *last;
	_Atomic uint8_t *marked;	/* of each row of the first match's build: 1 if it is matched; NULL: nobody asks */
	mgpu_table_batch **of_marks;	/* batches of its rows, of each task */

	/* groups */
	uint32_t	ordered;		/* columns of floats that are added in order */
	uint32_t	num_parts;
	mgpu_table_groups floats;	/* FOLD by several threads: added in turn to groups of all ... */
	uint64_t	float_bytes;
	_Atomic uint64_t turns[MGPU_GROUP_MAX_COLUMNS + 1];	/* ... which have those of so many tasks (table_turns.c) */
	mgpu_table_part *parts;
	uint32_t	num_at_once;	/* parts that are worked on: what these take is in memory */
	uint32_t	num_sharing;	/* of them, those that have rows, and 1 at least */
	bool		in_turn;		/* floats are added so; ... */
	atomic_bool keeps;			/* ... but there are too many groups: later tasks keep their rows */
	bool		leaves_large;	/* to all threads: there is memory for all values */
	uint32_t	parts_at[MGPU_TABLE_PARTS];	/* of each of them: its number + 1, or 0 */
	_Atomic uint32_t next_part;
	_Atomic(mgpu_table_large *) large;
	struct mgpu_run *sorter;	/* a run of mgpu_cpu_executor, or NULL */
	void	   *sorter_result;

	mgpu_table_order order;

	/* answer */
	mgpu_group_result result;
	bool		is_bound;
	bool		in_pieces;
	char	   *places[MGPU_GROUP_OUTPUTS];
	uint64_t	output_bytes[MGPU_GROUP_OUTPUTS];
	uint64_t	output_tasks[MGPU_GROUP_OUTPUTS + 1];	/* the first task of each */
	char	   *piece;
	mgpu_group_piece shown;
	bool		piece_is_out;
	uint32_t	next_output;
	uint64_t	next_offset;
};

static inline void
mgpu_table_fail(mgpu_run *run, uint32_t failure)
{
	atomic_fetch_or(&run->failures, failure);
}

/* Rows of a task that looks at each once or twice. */
static inline uint64_t
mgpu_table_step_rows(void)
{
	return mgpu_cpu_tunables.table_task_rows / 8;
}

/* Whether to go on: false once there will be no answer. */
static inline bool
mgpu_table_goes_on(const mgpu_run *run)
{
	return atomic_load_explicit(&run->failures, memory_order_relaxed) == 0 &&
		!atomic_load_explicit(&run->cancelled, memory_order_relaxed);
}

/* The rows that a worker has at hand. */
static inline mgpu_table_rows
mgpu_table_rows_of(const mgpu_run *run, const mgpu_table_worker *worker)
{
	mgpu_table_rows rows = {.num_rows = (uint32_t) worker->num_rows,.some_nulls = worker->some_nulls,.nulls = worker->nulls};

	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		rows.codes[i] = worker->codes[i];
	return rows;
}

/* table_status.c.  Why the run ends here, or MGPU_OK. */
mgpu_status mgpu_table_status(const mgpu_run *run, mgpu_error *err);

/* table_stages.c.  Work on the stage until it ends (MGPU_OK), or for budget_ms; then begin the next. */
mgpu_status mgpu_table_work(mgpu_run *run, double budget_ms, mgpu_error *err);

mgpu_status mgpu_table_advance(mgpu_run *run, mgpu_error *err);

/* table_spill.c.  Note how many bytes somebody has, who had *counted; more than there may be end the run. */
void		mgpu_table_count(mgpu_run *run, uint64_t *counted, uint64_t bytes);
uint64_t	mgpu_table_groups_bytes(const mgpu_table_groups *groups);
bool		mgpu_table_folds(const mgpu_run *run, const mgpu_table_groups *groups);	/* more rows into them */

/* Whether what takes so much more memory goes to the file.  Bring bytes there: where they begin.  Read some. */
bool		mgpu_table_spills(const mgpu_run *run, uint64_t bytes);
uint64_t	mgpu_table_spill(mgpu_run *run, const void *from, uint64_t bytes);
void		mgpu_table_spill_batch(mgpu_run *run, mgpu_table_batch *batch, const void *from);	/* parts, nulls */
void		mgpu_table_unspill(mgpu_run *run, void *to, uint64_t bytes, uint64_t begin);

/*
 * The rows of a part that are in a batch, with the stored columns among `columns`, until the worker asks for others.  If they cannot be read,
 * none, and the run ends.
 */
mgpu_table_rows mgpu_table_part_rows(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_batch *batch, uint32_t part,
									 uint32_t columns);

/* Memory of the worker for rows on their way.  NULL if there is none. */
char	   *mgpu_table_block(mgpu_table_worker *worker, uint64_t bytes);

/* table_cut.c.  Whether rows are dropped that are beyond the limit for sure: those of the vector that begins at `begin`. */
bool		mgpu_table_still_cuts(const mgpu_run *run, const mgpu_table_worker *worker);
void		mgpu_table_cut(mgpu_run *run, mgpu_table_worker *worker, uint64_t begin);

/* The worker has kept one more batch: of all that it has, drop rows which others have put beyond the limit, once they are many.  false: out of memory. */
bool		mgpu_table_cut_again(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch);

/* table_parts.c.  Once all is read, what threads have added in turn goes to a worker's groups; false: out of memory. */
void		mgpu_table_plan_parts(mgpu_run *run);
bool		mgpu_table_merge_floats(mgpu_run *run);

/* Tasks: a worker's groups; one of the parts that are worked on at once.  Whether all parts are done. */
void		mgpu_table_cut_groups(void *context, uint64_t task, int worker);
void		mgpu_table_group_parts(void *context, uint64_t task, int worker);
bool		mgpu_table_are_grouped(const mgpu_run *run);
void		mgpu_table_end_part(mgpu_table_part *part);	/* frees what it has worked with ... */
void		mgpu_table_free_part(mgpu_table_part *part);	/* ... and all the rest */

/* table_sorts.c.  One more step of a part whose rows are grouped; false: out of memory. */
bool		mgpu_table_begin_values(mgpu_run *run, mgpu_table_part *part);
void		mgpu_table_end_values(mgpu_table_part *part);
bool		mgpu_table_step_values(mgpu_run *run, uint32_t number, mgpu_table_worker *worker);
void		mgpu_table_describe(const mgpu_group_sort *sort, const uint64_t *values, uint64_t count, uint64_t num_different,
								uint64_t *words);
uint64_t	mgpu_table_count_different(const uint64_t *values, uint64_t begin, uint64_t end);

/*
 * table_ranges.c.  Plan what parts may have, once rows are read; whether there is memory for the groups of a part's rows; whether its values are
 * to be sorted by ranges; that, step by step.
 */
void		mgpu_table_plan_shares(mgpu_run *run);
uint64_t	mgpu_table_share(const mgpu_run *run);	/* bytes that a part may have for values: of what is left, or of an eighth of all */
bool		mgpu_table_keeps_numbers(const mgpu_run *run, const mgpu_table_part *part);
bool		mgpu_table_needs_ranges(const mgpu_run *run, const mgpu_table_part *part);
bool		mgpu_table_begin_ranges(mgpu_run *run, mgpu_table_part *part);
bool		mgpu_table_step_ranges(mgpu_run *run, uint32_t number, mgpu_table_worker *worker);
void		mgpu_table_end_ranges(mgpu_table_ranges *ranges);

/* table_buckets.c.  Count or move the values of the next batch. */
bool		mgpu_table_take_buckets(mgpu_run *run, uint32_t number, mgpu_table_worker *worker);

/* table_distinct.c.  Count the values of the next batch.  Have those that are left counted, or go on with the next sort.  false: out of memory. */
bool		mgpu_table_begin_distinct(const mgpu_run *run, mgpu_table_part *part);
bool		mgpu_table_count_distinct(mgpu_run *run, uint32_t number, mgpu_table_worker *worker);
bool		mgpu_table_end_distinct(mgpu_run *run, mgpu_table_part *part);

/* Of parts without keys, which are one group: to the first. */
void		mgpu_table_join_parts(mgpu_run *run);

/* table_sorts.c.  A task: copies some values of the large group that is sorted. */
void		mgpu_table_copy_large(void *context, uint64_t task, int worker);
uint64_t	mgpu_table_large_tasks(const mgpu_table_large *large);

/* Sort by all threads: begin, and work for a while.  MGPU_OK once done, with the result in run->sorter_result, to be freed. */
mgpu_status mgpu_table_begin_sort(mgpu_run *run, const void *keys, uint64_t num_items, uint32_t width, mgpu_error *err);
mgpu_status mgpu_table_continue_sort(mgpu_run *run, mgpu_error *err);
void		mgpu_table_end_sort(mgpu_run *run);

/* table_answer.c */
void		mgpu_table_make_result(mgpu_run *run);
void		mgpu_table_write(mgpu_run *run, mgpu_table_worker *worker, uint32_t output, uint64_t offset, uint64_t bytes, char *to);
uint64_t	mgpu_table_plan_writing(mgpu_run *run);
void		mgpu_table_write_task(void *context, uint64_t task, int worker);
bool		mgpu_table_next_piece(mgpu_run *run);

#endif							/* MGPU_TABLE_H */
