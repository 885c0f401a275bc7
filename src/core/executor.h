/*
 * executor.h
 *		The one boundary between callers and the code that runs a job.
 *
 * An executor is a table of functions.  All calls for one run come from one thread,
 * in this order:
 *
 *	 open ── input_slot/input_commit … (until all items are in) ── submit
 *		 ── poll … (until MGPU_OK) ── stats ── release
 *
 * cancel and release are allowed at any time after open.  After a failed call, only
 * release is allowed.  No call blocks for longer than about 50 ms (device start-up
 * in open excepted), so that the caller can check for interrupts between two calls.
 * No call throws, longjmps or calls back.
 */
#ifndef MGPU_EXECUTOR_H
#define MGPU_EXECUTOR_H

#include <stddef.h>

#include "group_spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mgpu_channel
{
	MGPU_CHANNEL_KEYS = 0,
	MGPU_CHANNEL_VALUES,
	MGPU_CHANNEL_B_KEYS,		/* MERGE, MERGE_PAIRS: keys of b */
	MGPU_CHANNEL_B_VALUES,		/* MERGE_PAIRS: values of b; INSERT: new values */
	MGPU_NUM_CHANNELS
} mgpu_channel;

/*
 * The memory of a job's data.  It is the caller's and must live until release
 * returns.  Inputs and outputs never overlap.  Items are packed: num_items * width
 * bytes, aligned to the width (8 for 16-byte items).
 */
typedef struct mgpu_binding
{
	const void *in_keys;		/* whole input, or NULL: fed through slots */
	const void *in_values;		/* whole input, or NULL; for MGPU_OUT_VALUES */
	const void *in_b_keys;		/* whole input, or NULL */
	const void *in_b_values;	/* whole input, or NULL; INSERT: in the order of positions */

	/* First item of each segment: ascending, unique, the first is 0. */
	const uint32_t *in_segment_heads;

	/*
	 * 0-based, ascending.  REMOVE: unique, each below num_items.  INSERT: may
	 * repeat, each at most num_items; equal ones keep their order.
	 */
	const uint32_t *in_positions;
	void	   *out_keys;		/* required with MGPU_OUT_KEYS */
	uint32_t   *out_indices;	/* required with MGPU_OUT_INDICES */
	void	   *out_values;		/* required with MGPU_OUT_VALUES */

	/* GROUP: copied by open.  Its outputs are bound later, by bind_groups. */
	const mgpu_group_spec *group;
	const char *builds;			/* GROUP, executors of this process: the memory of its builds, of group->build_bytes */
	struct mgpu_names *names;	/* GROUP by CPU threads: of texts of named columns */

	/* GROUP by CPU threads: a file for rows and groups, once so much memory is taken; of so many bytes at most.  open duplicates it. */
	bool		has_file;
	int			file;
	uint64_t	memory_before_file;
	uint64_t	file_limit;

	/* GROUP: shared buffers, where an executor of this process may read them.  The service has its own. */
	const char *pages;
	uint64_t	num_pages;
} mgpu_binding;

/* Faults for tests (mgpu.inject_fault), each at the stated point. */
typedef enum mgpu_fault
{
	MGPU_FAULT_NONE = 0,
	MGPU_FAULT_HOST_MEMORY,		/* open: MGPU_HOST_MEMORY */
	MGPU_FAULT_DEVICE_MEMORY,	/* open: MGPU_DEVICE_MEMORY (GPU executor) */
	MGPU_FAULT_DEVICE_STICKY,	/* poll: a kernel traps; the context is lost */
	MGPU_FAULT_AGG_RUN,			/* no executor's: damages what parallel workers send */
	MGPU_FAULT_COLLATION,		/* no executor's: collated strings seem to be out of order */
	MGPU_FAULT_KEPT_LSN,		/* no executor's: pages of the visibility map seem never to change their LSN ... */
	MGPU_FAULT_FILE_PAGES		/* ... and every third page that is read from a file to have changed */
} mgpu_fault;

typedef struct mgpu_exec_options
{
	int			device;			/* ordinal, or -1: executor's choice */
	uint64_t	device_memory_limit;	/* bytes; 0 is no limit */
	int			num_threads;	/* CPU threads including the caller's, >= 1 */
	uint64_t	host_memory_limit;	/* GROUP by CPU threads: bytes of rows and groups that are kept; 0 is no limit */
	int			inject_fault;	/* mgpu_fault, for tests */
} mgpu_exec_options;

/* Filled by describe; strings are NUL-terminated. */
typedef struct mgpu_device
{
	int			ordinal;
	char		name[128];
	int			compute_major;
	int			compute_minor;
	uint64_t	memory_total_bytes;
	uint64_t	memory_free_bytes;
	char		link[64];		/* "PCIe 5 x16"; "" if unknown */
} mgpu_device;

/* One merge pass of a segmented or locality sort. */
typedef struct mgpu_pass_stats
{
	uint64_t	merge_tiles;
	uint64_t	copy_tiles;
} mgpu_pass_stats;

#define MGPU_MAX_PASSES 40

/* What a run did.  Times are wall clock in milliseconds, 0 if not applicable. */
typedef struct mgpu_run_stats
{
	mgpu_algorithm algorithm;	/* the one that ran, never AUTO */
	int			num_threads;
	double		queue_ms;		/* until others had ended */
	double		upload_ms;		/* copies to the device, overlapped or not */
	double		kernel_ms;		/* kernels, or CPU work */
	double		download_ms;	/* copies from the device */
	uint64_t	file_bytes;		/* of rows in the file */

	/*
	 * Segmented and locality sorts.  Tiles that a pass neither merged nor copied
	 * stayed untouched.  num_passes is 0 if one tile held all items, and may be 0 if
	 * the job does not count passes.
	 */
	uint64_t	num_tiles;
	int			num_passes;
	mgpu_pass_stats passes[MGPU_MAX_PASSES];

	/* After MGPU_NOT_SORTED: which input, and its first item out of order. */
	int			unsorted_input; /* 0: a, 1: b */
	uint64_t	unsorted_position;
} mgpu_run_stats;

typedef struct mgpu_run mgpu_run;	/* opaque, one per open */

typedef struct mgpu_executor
{
	const char *name;			/* "cpu", "gpu" */

	/*
	 * Number of usable devices.  Without one, MGPU_NO_DEVICE and the reason.  Creates
	 * no context on any device.  This and the next two are NULL for the CPU.
	 */
	mgpu_status (*num_devices) (int *count, mgpu_error *err);

	/* Describe one device.  May create a context (memory_free needs one). */
	mgpu_status (*describe) (int ordinal, mgpu_device *device, mgpu_error *err);

	/* Whether open needs no start-up: context created, kernels loaded. */
	bool		(*is_warm) (void);

	/*
	 * Start a run.  Copies job, binding and options.  On failure *run is NULL
	 * and nothing is held.
	 */
	mgpu_status (*open) (const mgpu_job *job, const mgpu_binding *binding,
						 const mgpu_exec_options *options,
						 mgpu_run **run, mgpu_error *err);

	/*
	 * For a channel without whole input in the binding: a buffer for the next input
	 * bytes.  *slot is writable for *slot_bytes until the next input_commit on this
	 * channel.  *slot_bytes is a multiple of the item width, at least one item and
	 * at most the missing input; *slot is aligned to at least 4 bytes.  The 4 bytes
	 * before it are readable and writable too: a reader may put a header there and
	 * restores them before it commits.  MGPU_PENDING: none is free, the call has waited
	 * for up to 50 ms.  MGPU_CANCELLED if the run was cancelled and no slot will be
	 * free again.
	 */
	mgpu_status (*input_slot) (mgpu_run *run, mgpu_channel channel,
							   void **slot, uint64_t *slot_bytes, mgpu_error *err);

	/* The first bytes of the slot are input now.  bytes is a multiple of the item width. */
	mgpu_status (*input_commit) (mgpu_run *run, mgpu_channel channel,
								 uint64_t bytes, mgpu_error *err);

	/* All input is in.  Whole inputs of the binding are read from now on. */
	mgpu_status (*submit) (mgpu_run *run, mgpu_error *err);

	/*
	 * MGPU_OK: done, all requested outputs are in the binding's memory.
	 * MGPU_PENDING: call again; the call has worked or waited for up to 50 ms.
	 */
	mgpu_status (*poll) (mgpu_run *run, mgpu_error *err);

	/* Allowed after poll returned MGPU_OK or MGPU_NOT_SORTED. */
	void		(*stats) (const mgpu_run *run, mgpu_run_stats *stats);

	/* Ask the run to stop; returns at once.  poll then returns MGPU_CANCELLED. */
	void		(*cancel) (mgpu_run *run);

	/*
	 * Cancel if necessary, wait until no thread or device touches the binding's
	 * memory (bounded by one tile of work, tens of milliseconds), and free all.
	 * Never fails; NULL is allowed.
	 */
	void		(*release) (mgpu_run *run);

	/*
	 * Whether threads of this run write the key output while input still arrives,
	 * and so take its page faults.  NULL: never.
	 */
	bool		(*writes_early) (const mgpu_run *run);

	/*
	 * GROUP only, else not called; NULL in mgpu_cpu_executor, which does not run such jobs.  The memory of builds goes through slots of
	 * MGPU_CHANNEL_VALUES, unless the executor reads the binding's.  Then pages go through slots of
	 * MGPU_CHANNEL_KEYS, a batch a slot (group_spec.h): bytes committed are those of its mgpu_page_refs.  Once a
	 * slot comes again, the pages of its last batch have been read; once group_result is true, all have.  There are at
	 * most MGPU_GROUP_MAX_SLOTS different slots.  kept_ask: the slot of MGPU_CHANNEL_KEYS has a question (service/kept_pages.h), and has its
	 * answer once this returns MGPU_OK; MGPU_PENDING: call again.  NULL: this executor keeps no pages.  group_result: whether the sizes of outputs are known.  poll returns
	 * MGPU_PENDING until then and until bind_groups has told where they go: MGPU_GROUP_OUTPUTS places, for records or
	 * marks and for the values of each sort or column.  Without places (NULL), outputs come in pieces: poll returns
	 * MGPU_PENDING for each, and goes on once group_piece has shown it and piece_taken has given it back.
	 */
	mgpu_status (*kept_ask) (mgpu_run *run, mgpu_error *err);
	bool		(*group_result) (const mgpu_run *run, mgpu_group_result *result);
	void		(*bind_groups) (mgpu_run *run, char *const *outputs);
	bool		(*group_piece) (const mgpu_run *run, mgpu_group_piece *piece);
	void		(*piece_taken) (mgpu_run *run);

	/*
	 * GROUP by CPU threads, else NULL: the pages come once more, for the next round of a build (build.h).  all_read: MGPU_OK once all
	 * pages that were committed have been read, and rows of the build that come themselves.  Then set_builds: the spec differs in its builds and operations alone.
	 */
	mgpu_status (*all_read) (mgpu_run *run, mgpu_error *err);
	void		(*set_builds) (mgpu_run *run, const mgpu_group_spec *spec, const char *builds);
} mgpu_executor;

extern const mgpu_executor mgpu_cpu_executor;

/* Runs GROUP by CPU threads, and no other jobs (cpu/table/table.h). */
extern const mgpu_executor mgpu_cpu_table_executor;

/* Rows of a group that its threads look at, of a small limit: they drop others as they come, and sort the rest in memory.  0: all. */
uint64_t	mgpu_cpu_table_cut(const mgpu_group_spec *spec);

/*
 * The CUDA executor of this process (service/local.c).  In a build without CUDA,
 * num_devices and open return MGPU_NO_DEVICE.
 */
extern const mgpu_executor mgpu_cuda_executor;

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_EXECUTOR_H */
