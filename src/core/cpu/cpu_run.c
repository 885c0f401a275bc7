/*
 * cpu_run.c
 *		A run and its memory.
 *
 * Large blocks are mapped: they come as zero pages, huge ones if the system has
 * them (one fault for 2 MB instead of one for 4 kB), and return to the system at
 * once.  malloc would prevent some of both.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/cpu/cpu_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MAP_MIN_BYTES (UINT64_C(1) << 20)

/* In front of the memory that a caller gets. */
struct mgpu_block
{
	_Alignas(64) struct mgpu_block *next;
	uint64_t	bytes;
};

mgpu_run *
mgpu_run_create(const mgpu_job *job, const mgpu_binding *binding, const mgpu_exec_options *options,
				const mgpu_strategy *strategy, int num_threads)
{
	mgpu_run   *run = calloc(1, sizeof(*run) + strategy->state_bytes);

	if (run == NULL)
		return NULL;
	run->job = *job;
	run->binding = *binding;
	run->options = *options;
	run->tuning = mgpu_cpu_tunables;
	run->strategy = strategy;
	run->state = run + 1;
	run->num_threads = num_threads;
	mgpu_codec_init(&run->codec, job->key_kind, job->key_width, job->descending);
	mgpu_order_watch_init(&run->order, job->op == MGPU_OP_SORT_PAIRS);
	return run;
}

void *
mgpu_allocate(mgpu_run *run, uint64_t bytes)
{
	/* whole cache lines, as aligned_alloc requires; vector stores may overrun */
	uint64_t	padded = sizeof(struct mgpu_block) + (bytes + 127) / 64 * 64;
	struct mgpu_block *block;

	if (bytes == 0)
		return run;				/* any address but NULL */
	if (padded >= MAP_MIN_BYTES)
	{
		block = mmap(NULL, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block == MAP_FAILED)
			block = NULL;
		else
			madvise(block, padded, MADV_HUGEPAGE);
	}
	else
		block = aligned_alloc(64, padded);
	if (block == NULL)
	{
		mgpu_fail(&run->error, MGPU_HOST_MEMORY, "out of memory for %" PRIu64 " bytes", padded);
		return NULL;
	}
	block->next = run->memory;
	block->bytes = padded;
	run->memory = block;
	return block + 1;
}

void
mgpu_run_free(mgpu_run *run)
{
	if (run == NULL)
		return;
	mgpu_run_free(run->part);
	while (run->memory != NULL)
	{
		struct mgpu_block *block = run->memory;

		run->memory = block->next;
		if (block->bytes >= MAP_MIN_BYTES)
			munmap(block, block->bytes);
		else
			free(block);
	}
	free(run);
}
