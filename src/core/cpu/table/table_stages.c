/*
 * table_stages.c
 *		What a run does once all its pages are handed over: one stage after the other, each a phase of the pool, or a sort by a run
 *		of mgpu_cpu_executor.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>
#include <string.h>

/* ---- what ends a stage */

static void
begin_phase(mgpu_run *run, mgpu_table_stage stage, mgpu_task_function function, uint64_t num_tasks)
{
	run->stage = stage;
	run->phase_open = num_tasks > 0;
	if (run->phase_open)
		mgpu_pool_begin(run->pool, function, run, num_tasks);
}

/* Sort the rows' keys.  Those without any bits are in order. */
static mgpu_status
begin_order(mgpu_run *run, mgpu_error *err)
{
	mgpu_table_order *order = &run->order;

	run->stage = MGPU_TABLE_SORTING;
	if (order->levels[0].bits > 0 && order->num_rows > 1)
		return mgpu_table_begin_sort(run, order->keys, order->num_rows, order->width, err);
	run->sorter_result = order->keys;
	order->keys = NULL;
	return MGPU_OK;
}

/* Sort the next large group, if there is one. */
static mgpu_status
begin_large(mgpu_run *run, mgpu_error *err)
{
	mgpu_table_large *large = atomic_load(&run->large);

	run->stage = large != NULL ? MGPU_TABLE_SORTING : MGPU_TABLE_ANSWERING;
	if (large == NULL)
	{
		mgpu_table_make_result(run);
		return MGPU_OK;
	}
	return mgpu_table_begin_sort(run, large->values, large->num_values, sizeof(uint64_t), err);
}

static void
end_large(mgpu_run *run)
{
	mgpu_table_large *large = atomic_load(&run->large);

	mgpu_table_describe(&run->spec.sorts[large->sort], large->values, large->num_values, atomic_load(&large->num_different),
						large->words);
	atomic_store(&run->large, large->next);
	free(large);
	mgpu_table_end_sort(run);
}

/* The only thread has folded all rows: its groups are the answer. */
static void
take_groups(mgpu_run *run, mgpu_table_groups *groups)
{
	run->num_parts = 1;
	run->parts[0].groups = *groups;
	groups->records = groups->slots = NULL;
	run->parts[0].step = MGPU_PART_DONE;
	run->stage = MGPU_TABLE_GROUPING;
}

/* Whether rows of a build come next, behind those of all pages. */
static bool
has_marks_left(const mgpu_run *run)
{
	return run->marked != NULL && run->stage == MGPU_TABLE_READING;
}

static mgpu_status
begin_adding(mgpu_run *run, mgpu_error *err)
{
	if (!mgpu_table_plan_marks(run))
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for batches");
	begin_phase(run, MGPU_TABLE_ADDING, mgpu_table_add_marked, mgpu_table_marks_tasks(run));
	return MGPU_OK;
}

static void
begin_answer(mgpu_run *run)
{
	run->stage = MGPU_TABLE_ANSWERING;
	mgpu_table_make_result(run);
}

/* Of rows that come back.  false: out of memory. */
static bool
plan_rows(mgpu_run *run)
{
	if (run->way == MGPU_TABLE_PASS)
		return mgpu_table_plan_pass(run);
	return mgpu_table_plan_order(run) && (!run->order.has_parts || mgpu_table_plan_samples(run));
}

static mgpu_status
end_reading(mgpu_run *run, mgpu_error *err)
{
	uint64_t	num_rows = 0;

	if (has_marks_left(run))
		return begin_adding(run, err);
	for (int i = 0; i < run->num_workers; i++)
		num_rows += run->workers[i].num_kept;
	mgpu_table_join_batches(run);
	mgpu_table_plan_shares(run);
	if (run->in_turn && !mgpu_table_merge_floats(run))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	if (run->num_workers == 1 && run->workers[0].folds)
		take_groups(run, &run->workers[0].groups);
	else if (run->way < MGPU_TABLE_ORDER)
		begin_phase(run, MGPU_TABLE_CUTTING, mgpu_table_cut_groups, (uint64_t) run->num_workers);
	else if (num_rows > MGPU_MAX_ITEMS)
		mgpu_table_fail(run, MGPU_TABLE_TOO_MANY);
	else if (!plan_rows(run))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	else if (run->way == MGPU_TABLE_PASS)
		begin_answer(run);
	else if (run->order.has_parts)
		begin_phase(run, MGPU_TABLE_SAMPLING, mgpu_table_take_samples, run->order.num_batches);
	else
		begin_phase(run, MGPU_TABLE_CUTTING, mgpu_table_pack, run->order.num_batches);
	return mgpu_table_status(run, err);
}

static mgpu_status
begin_parting(mgpu_run *run, mgpu_error *err)
{
	if (!mgpu_table_plan_order_parts(run))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	begin_phase(run, MGPU_TABLE_PARTING, mgpu_table_cut_rows, run->order.num_filed);
	return mgpu_table_status(run, err);
}

/* Sort the next part of all rows that has some, or have the answer. */
static mgpu_status
begin_order_part(mgpu_run *run, mgpu_error *err)
{
	mgpu_table_order *order = &run->order;
	bool		is_whole = true;

	for (; is_whole && order->part < run->num_parts; order->part++)
	{
		is_whole = mgpu_table_begin_order_part(run);
		if (is_whole && order->num_rows > 0)
		{
			begin_phase(run, MGPU_TABLE_LOADING, mgpu_table_load_rows, order->num_filed);
			return MGPU_OK;
		}
	}
	if (!is_whole || !mgpu_table_join_ordered(run))
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for rows in order");
	begin_answer(run);
	return MGPU_OK;
}

/* Rows within the limit are known: write those of a part, or have the answer. */
static void
end_selecting(mgpu_run *run)
{
	if (run->order.has_parts)
	{
		begin_phase(run, MGPU_TABLE_STORING, mgpu_table_write_ordered, mgpu_table_plan_ordered(run));
		return;
	}
	begin_answer(run);
}

static mgpu_status
end_grouping(mgpu_run *run, mgpu_error *err)
{
	if (!mgpu_table_are_grouped(run))
	{
		begin_phase(run, MGPU_TABLE_GROUPING, mgpu_table_group_parts, run->num_at_once);
		return MGPU_OK;
	}
	if (run->spec.num_keys == 0 && !mgpu_table_make_empty(&run->parts[0].groups))
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a group");
	if (run->spec.num_keys == 0 && run->num_parts > 1)
		mgpu_table_join_parts(run);
	return begin_large(run, err);
}

static void
end_sorting(mgpu_run *run)
{
	if (run->way != MGPU_TABLE_ORDER)
	{
		begin_phase(run, MGPU_TABLE_COPYING, mgpu_table_copy_large, mgpu_table_large_tasks(atomic_load(&run->large)));
		return;
	}
	run->order.sorted = run->sorter_result;
	run->sorter_result = NULL;
	begin_phase(run, MGPU_TABLE_REFINING, mgpu_table_refine, mgpu_table_row_tasks(run));
}

static void
end_answering(mgpu_run *run)
{
	uint64_t	num_tasks = run->in_pieces ? 0 : mgpu_table_plan_writing(run);

	begin_phase(run, MGPU_TABLE_WRITING, mgpu_table_write_task, num_tasks);
}

/* A stage of ORDER has ended, once rows are sorted or on their way there: begin the next. */
static mgpu_status
advance_order(mgpu_run *run, mgpu_error *err)
{
	mgpu_table_order *order = &run->order;

	switch (run->stage)
	{
		case MGPU_TABLE_SAMPLING:
			return begin_parting(run, err);
		case MGPU_TABLE_PARTING:
			mgpu_table_forget_kept(run);
			return begin_order_part(run, err);
		case MGPU_TABLE_LOADING:
			begin_phase(run, MGPU_TABLE_CUTTING, mgpu_table_pack, order->num_batches);
			return MGPU_OK;
		case MGPU_TABLE_REFINING:
			begin_phase(run, MGPU_TABLE_MARKING, mgpu_table_mark, mgpu_table_row_tasks(run));
			return MGPU_OK;
		case MGPU_TABLE_MARKING:
			if (order->has_parts)
				mgpu_table_keep_last(order);
			run->stage = MGPU_TABLE_SELECTING;
			return MGPU_OK;
		case MGPU_TABLE_SELECTING:
			end_selecting(run);
			return MGPU_OK;
		default:
			order->part++;
			return begin_order_part(run, err);
	}
}

/* A stage has ended: begin the next. */
mgpu_status
mgpu_table_advance(mgpu_run *run, mgpu_error *err)
{
	switch (run->stage)
	{
		case MGPU_TABLE_READING:
		case MGPU_TABLE_ADDING:
			return end_reading(run, err);
		case MGPU_TABLE_CUTTING:
			if (run->way == MGPU_TABLE_ORDER)
				return begin_order(run, err);
			begin_phase(run, MGPU_TABLE_GROUPING, mgpu_table_group_parts, run->num_at_once);
			return MGPU_OK;
		case MGPU_TABLE_GROUPING:
			return end_grouping(run, err);
		case MGPU_TABLE_SORTING:
			end_sorting(run);
			return MGPU_OK;
		case MGPU_TABLE_COPYING:
			end_large(run);
			return begin_large(run, err);
		case MGPU_TABLE_ANSWERING:
			end_answering(run);
			return MGPU_OK;
		case MGPU_TABLE_WRITING:
			run->stage = MGPU_TABLE_DONE;
			return MGPU_OK;
		default:
			return advance_order(run, err);
	}
}

/* Work on the stage until it ends (MGPU_OK), or for budget_ms. */
mgpu_status
mgpu_table_work(mgpu_run *run, double budget_ms, mgpu_error *err)
{
	if (run->stage == MGPU_TABLE_READING && atomic_load(&run->num_done) < run->num_reads)
	{
		mgpu_pool_help(run->pool, budget_ms);
		return atomic_load(&run->num_done) < run->num_reads ? MGPU_PENDING : MGPU_OK;
	}
	if (run->phase_open)
		run->phase_open = !mgpu_pool_work(run->pool, budget_ms);
	else if (run->sorter != NULL)
		return mgpu_table_continue_sort(run, err);
	else if (run->stage == MGPU_TABLE_SELECTING)
		return mgpu_table_select(run) ? MGPU_OK : MGPU_PENDING;
	else if (run->stage == MGPU_TABLE_WRITING && run->in_pieces)
		return mgpu_table_next_piece(run) ? MGPU_PENDING : MGPU_OK;
	return run->phase_open ? MGPU_PENDING : MGPU_OK;
}

mgpu_status
mgpu_table_all_read(mgpu_run *run, mgpu_error *err)
{
	mgpu_status status = mgpu_table_status(run, err);

	if (status == MGPU_OK)
		status = mgpu_table_work(run, (double) mgpu_cpu_tunables.poll_ms, err);
	if (status == MGPU_OK && has_marks_left(run))
		status = begin_adding(run, err);
	else
		return status;
	return status == MGPU_OK ? MGPU_PENDING : status;
}
