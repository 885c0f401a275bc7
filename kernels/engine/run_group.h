/*
 * engine/run_group.h
 *		A run of MGPU_OP_GROUP: rows that come in batches of pages, then groups, step by step.
 *
 * How many rows and groups there are, only the device knows.  So the work behind the uploads has three stages.  Each
 * ends with a copy of what the kernels found out to pinned memory, and poll starts the next one.  Nobody waits:
 *
 *	 launch		find ranges, behind all pages				→ rows, ranges of columns
 *	 group		pack keys, sort, find where groups begin	→ groups
 *	 reduce		records, reductions, sorted values			→ whether a sum overflowed
 *
 * With a limit, the second one also tells how many rows are kept, and the third returns these (run_group_rows.cu).
 */
#ifndef MGPU_ENGINE_RUN_GROUP_H
#define MGPU_ENGINE_RUN_GROUP_H

#include "engine/run.h"
#include "group/group.h"
#include "sort/sorter.h"

/* Blocks of device memory of one run: columns double, so 32 sizes are more than any device has. */
#define MGPU_GROUP_MAX_BLOCKS 64

/* Launches whose rows the host may not know yet are at most MGPU_MAX_COPIES. */
#define MGPU_GROUP_LAUNCHES (2 * MGPU_MAX_COPIES)

/* Pinned memory that the device writes to. */
typedef struct mgpu_group_mailbox
{
	uint64_t	progress;		/* of mgpu_decode_request */
	uint64_t	added;			/* ... of rows of a build, in place of a batch's landed */
	mgpu_group_facts facts;
	mgpu_group_spec spec;		/* on its way to the device */
	struct mgpu_group_mailbox *next;	/* in the list of free ones */
} mgpu_group_mailbox;

typedef enum mgpu_group_stage
{
	MGPU_STAGE_ROWS = 0,
	MGPU_STAGE_GROUPS,
	MGPU_STAGE_RESULTS
} mgpu_group_stage;

/* Sorts of all rows by numbers, the last one first: they are stable. */
typedef struct mgpu_group_passes
{
	uint32_t	num_passes;
	mgpu_group_packing passes[MGPU_PACKING_MAX_KEYS];
} mgpu_group_passes;

/* What stands for the values of a head: their ranks (run_group_ranks.cu).  Offsets of work. */
typedef struct mgpu_group_ranks
{
	uint64_t	ranks;			/* of each row */
	uint64_t	order;			/* the row at each position ... */
	uint64_t	starts;			/* ... and where the rows of each rank begin */
} mgpu_group_ranks;

/* What one sort works in, as offsets from the begin of the run's work memory. */
typedef struct mgpu_group_space
{
	mgpu_sort_shape shape;
	uint64_t	keys[2];
	uint64_t	indices[2];
	uint64_t	temp;
	uint64_t	temp_bytes;
	uint64_t	end;
} mgpu_group_space;

typedef struct mgpu_group_run
{
	mgpu_group_spec spec;
	mgpu_group_record record;
	mgpu_page_places places;
	char	   *builds;			/* on the device */
	uint64_t	sent_build_bytes;
	uint8_t    *marked;			/* on the device, of each row of a build that has rows to add */
	uint64_t	memory_limit;	/* 0: none */
	uint64_t	taken_bytes;
	int			num_blocks;
	void	   *blocks[MGPU_GROUP_MAX_BLOCKS];
	uint64_t	block_bytes[MGPU_GROUP_MAX_BLOCKS];

	/* rows as they come */
	mgpu_group_columns columns;
	int			columns_block;	/* -1: none yet.  Those before it are copies that it replaced */
	uint64_t	num_tickets[MGPU_DECODE_PLACES];	/* pages of the launches of each place */
	uint64_t	num_items;		/* line pointers */
	uint32_t	num_launches;
	uint64_t	items_up_to[MGPU_GROUP_LAUNCHES];	/* of each launch, by its number */
	mgpu_group_mailbox *mailbox;

	/* from launch on */
	mgpu_group_stage stage;
	uint64_t	num_rows;
	uint64_t	num_values[MGPU_GROUP_MAX_SORTS];	/* that are not NULL */
	mgpu_group_passes by;		/* keys, then order columns */
	uint32_t	num_key_passes;	/* the first ones */
	uint32_t	head_shift;		/* bits of the first pass that are not of keys */
	bool		is_wide;		/* keys take more than 63 bits */
	uint32_t	group_bits;		/* of a group's code: of its keys; of wide ones, of its number, at most so many so far */
	mgpu_group_packing groups;	/* a row's group as a code */
	uint64_t	numbers;		/* offset of work: each row's group, of wide keys */
	mgpu_value_packing values[MGPU_GROUP_MAX_SORTS];
	mgpu_group_passes by_cells; /* of the head at hand */
	mgpu_group_ranks ranks[MGPU_GROUP_MAX_COLUMNS];
	char	   *work;
	uint64_t	heads_temp;		/* offsets of work ... */
	uint64_t	heads_temp_bytes;
	uint64_t	orders[2];		/* of several passes, by turns */
	uint64_t	ends;			/* with a limit: of kept rows */
	uint64_t	ends_temp;
	uint64_t	ends_temp_bytes;
	uint64_t	first_order;	/* of a sort in two steps */
	uint64_t	different;		/* positions where another number begins */
	uint64_t	sorts;			/* ... and of what each sort works in */
	mgpu_grouped_rows rows;
	const void *codes;			/* of groups, sorted; NULL: all are 0 */
	uint64_t   *group_codes;
	mgpu_group_result result;
} mgpu_group_run;

static inline bool
mgpu_group_has_limit(const mgpu_group_run *group)
{
	return group->spec.limit_rule != MGPU_LIMIT_NONE;
}

/* Else all rows are one group, in their own order. */
static inline bool
mgpu_group_sorts_rows(const mgpu_group_run *group)
{
	return group->group_bits > 0 || mgpu_group_has_limit(group);
}

/* Whether the values of a column are ranked: it is a head, and they are compared. */
static inline bool
mgpu_group_is_ranked(const mgpu_group_spec *spec, uint32_t column)
{
	bool		is_sorted = false;

	for (uint32_t i = 0; i < spec->num_sorts; i++)
		is_sorted |= spec->sorts[i].column == column;
	return spec->columns[column].num_cells > 0 && (is_sorted || spec->columns[column].reduction == MGPU_REDUCE_EXTREMES);
}

static inline mgpu_sort_shape
mgpu_group_pass_shape(const mgpu_group_packing *pass)
{
	return pass->bits <= 32 ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U64_INDEX;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The steps of the engine's functions for a run of this kind. */
mgpu_status mgpu_run_group_open(mgpu_engine_run *run, const mgpu_group_source *source,
								const mgpu_exec_options *options, mgpu_error *err);
mgpu_status mgpu_run_group_upload(mgpu_engine_run *run, const void *batch, uint64_t bytes, mgpu_error *err);
mgpu_status mgpu_run_group_upload_builds(mgpu_engine_run *run, const void *source, uint64_t bytes, mgpu_error *err);
cudaError_t mgpu_run_group_launch(mgpu_engine_run *run);

/* After the kernels of a stage: start the next one. */
mgpu_status mgpu_run_group_advance(mgpu_engine_run *run, mgpu_error *err);
void		mgpu_run_group_result(const mgpu_engine_run *run, mgpu_group_result *result);

/* Nothing on the device uses it any more. */
cudaError_t mgpu_run_group_free(mgpu_engine_run *run);

/* Behind all batches: have the rows of a build come that come themselves. */
cudaError_t mgpu_group_decode_added(mgpu_engine_run *run);

/* Room for the rows of so many more line pointers, as far as that is known (run_group_columns.cu). */
mgpu_status mgpu_group_make_room(mgpu_engine_run *run, uint64_t num_items, mgpu_error *err);

/* Batches that come wait for what the stream of uploads has to do; a stream waits for the batches so far. */
cudaError_t mgpu_group_hold_decodes(const mgpu_engine_run *run);
cudaError_t mgpu_group_await_decodes(const mgpu_engine_run *run, cudaStream_t stream);

/* Device memory within the run's limit. */
mgpu_status mgpu_group_take(mgpu_engine_run *run, uint64_t bytes, void **memory, mgpu_error *err);

/* Give back blocks [begin, end), of which there are some behind. */
cudaError_t mgpu_group_give(mgpu_engine_run *run, int begin, int end);

/* How keys and values become numbers. */
mgpu_status mgpu_group_plan_packing(mgpu_engine_run *run, mgpu_error *err);

/* Where the values of sorts are, once there is work memory. */
void		mgpu_group_plan_values(mgpu_group_run *group);

/* The sorts that put the values of a head in order: by_cells. */
mgpu_status mgpu_group_plan_cells(mgpu_group_run *group, uint32_t head, mgpu_error *err);

/* Of wide keys, once the number of groups is known: the numbers of groups are their codes. */
void		mgpu_group_plan_numbers(mgpu_group_run *group);

/* Columns of the keys from one on. */
mgpu_group_keys mgpu_group_keys_from(const mgpu_group_run *group, uint32_t first);

/* The bytes of work memory, and where its parts are. */
uint64_t	mgpu_group_plan_work(mgpu_engine_run *run);
void		mgpu_group_plan_space(mgpu_group_space *space, mgpu_sort_shape shape, uint64_t begin, uint64_t num_rows);

/* A sort of all rows by numbers of so many bits, which are in keys[0]. */
mgpu_sort_request mgpu_group_request(const mgpu_engine_run *run, const mgpu_group_space *space, uint32_t bits);
cudaError_t mgpu_group_sort_numbers(mgpu_engine_run *run, const mgpu_group_space *space, mgpu_sort_request *request);

/* One of these sorts, of rows that are in this order so far; *codes: the sorted numbers. */
cudaError_t mgpu_group_sort_pass(mgpu_engine_run *run, const mgpu_group_passes *by, uint32_t number, const uint32_t **order,
								 const void **codes);

/* Rank the values of heads, before rows are put in order. */
cudaError_t mgpu_group_rank_values(mgpu_engine_run *run);

/* The last stage: its memory and kernels, and these alone. */
mgpu_status mgpu_group_start_results(mgpu_engine_run *run, mgpu_error *err);
cudaError_t mgpu_group_enqueue_results(mgpu_engine_run *run);

/* With a limit: find how many rows of each group are kept, and return these. */
cudaError_t mgpu_group_enqueue_limit(mgpu_engine_run *run);
cudaError_t mgpu_group_enqueue_rows(mgpu_engine_run *run);

static inline bool
mgpu_group_counts_different(const mgpu_group_run *group, uint32_t sort)
{
	return (group->spec.sorts[sort].returns & MGPU_SORT_DISTINCT) != 0;
}

static inline mgpu_group_control *
mgpu_group_control_of(const mgpu_engine_run *run)
{
	return (mgpu_group_control *) run->arena;
}

/* The next place of `bytes` bytes; *end: where places end. */
static inline uint64_t
mgpu_group_place(uint64_t *end, uint64_t bytes)
{
	uint64_t	offset = *end;

	*end += (bytes + 255) & ~UINT64_C(255);
	return offset;
}

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_ENGINE_RUN_GROUP_H */
