/*
 * phase.c
 *		A run's threads, and the phases of independent tasks that they work through.
 */
#include "core/cpu/cpu_run.h"

#include "core/unsigned_sort.h"

bool
mgpu_start_threads(mgpu_run *run)
{
	if (run->pool != NULL)
		return true;
	mgpu_unsigned_sort_prepare();
	run->pool = mgpu_pool_start(run->num_threads);
	if (run->pool == NULL)
	{
		mgpu_fail(&run->error, MGPU_HOST_MEMORY, "out of memory for threads");
		return false;
	}
	run->num_threads = mgpu_pool_size(run->pool);
	return true;
}

void
mgpu_begin_phase(mgpu_run *run, mgpu_task_function function, uint64_t num_tasks)
{
	if (run->pool == NULL)
		for (uint64_t task = 0; task < num_tasks; task++)
			function(run, task, 0);
	else
	{
		run->phase_open = true;
		mgpu_pool_begin(run->pool, function, run, num_tasks);
	}
}

uint64_t
mgpu_pass_items(const mgpu_run *run, uint32_t item_bytes)
{
	uint64_t	items = run->tuning.step_bytes / item_bytes;

	return items > 0 ? items : 1;
}

uint64_t
mgpu_num_tasks(uint64_t num_items, uint64_t task_items)
{
	return (num_items + task_items - 1) / task_items;
}

void
mgpu_begin_pass(mgpu_run *run, mgpu_task_function function, uint32_t item_bytes)
{
	run->pass_items = mgpu_pass_items(run, item_bytes);
	mgpu_begin_phase(run, function, mgpu_num_tasks(run->job.num_items, run->pass_items));
}
