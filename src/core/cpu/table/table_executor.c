/*
 * table_executor.c
 *		mgpu_cpu_table_executor: the table of functions.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/unsigned_sort.h"

/* Slots beyond one for each thread, so that the caller fills the next.  Without threads, one is enough. */
#define SPARE_SLOTS 2

/* Groups of all threads take so much less than a run may have: tables have room for more, and are merged. */
#define FOLD_SHARE 4

/* ---- open, release */

static void
plan_way(mgpu_run *run)
{
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		run->ordered |= (uint32_t) (run->spec.columns[i].reduction >= MGPU_REDUCE_REAL) << i;
	if (mgpu_group_passes_rows(&run->spec))
		run->way = MGPU_TABLE_PASS;
	else if (run->spec.limit_rule != MGPU_LIMIT_NONE)
		run->way = MGPU_TABLE_ORDER;
	else if (run->spec.num_sorts > 0)
		run->way = MGPU_TABLE_KEEP;
	run->in_turn = run->way == MGPU_TABLE_FOLD && run->ordered != 0 && run->num_workers > 1;
	mgpu_table_plan_parts(run);
}

/* What compares texts by the run's locale, if there is one.  false: out of memory. */
static bool
make_collator(const mgpu_run *run, mgpu_table_worker *worker)
{
	if (run->locale == (locale_t) 0)
		return true;
	worker->collator = mgpu_arena_allocate(&worker->arena, sizeof(mgpu_collator));
	if (worker->collator != NULL)
	{
		memset(worker->collator, 0, sizeof(mgpu_collator));
		worker->collator->locale = run->locale;
	}
	return worker->collator != NULL;
}

static bool
make_workers(mgpu_run *run)
{
	bool		made = true;

	run->workers = calloc((size_t) run->num_workers, sizeof(*run->workers));
	for (int i = 0; run->workers != NULL && made && i < run->num_workers; i++)
	{
		mgpu_table_worker *worker = &run->workers[i];

		worker->groups.spec = &run->spec;
		worker->groups.keys = &run->keys;
		worker->groups.fresh = run->fresh;
		worker->groups.locale = run->locale;
		worker->groups.num_words = run->way == MGPU_TABLE_ORDER ? 2 + run->spec.num_keys + 1 + (uint32_t) run->cut :
			run->record.num_words;
		worker->folds = run->way == MGPU_TABLE_FOLD && !run->in_turn;
		memset(worker->least, 0xFF, sizeof(worker->least));
		made = mgpu_table_make_registers(run, worker) && mgpu_table_make_saved(run, worker) && make_collator(run, worker);
	}
	return made && run->workers != NULL;
}

static bool
make_slots(mgpu_run *run)
{
	uint64_t	num_workers = (uint64_t) run->num_workers;

	run->num_slots = num_workers == 1 ? 1 : mgpu_table_least(num_workers + SPARE_SLOTS, MGPU_GROUP_MAX_SLOTS);
	/* two for each worker, if slots are few */
	run->most_reads = (2 * num_workers + MGPU_GROUP_MAX_SLOTS - 1) / MGPU_GROUP_MAX_SLOTS;
	run->ring_reads = run->num_slots * run->most_reads;
	run->slot_bytes = MGPU_PAGE_COPIES_OFFSET + (mgpu_cpu_tunables.table_slot_pages - 1) * MGPU_PAGE_BYTES;
	run->slots = calloc(run->num_slots, sizeof(*run->slots));
	run->reads = calloc(run->ring_reads, sizeof(*run->reads));
	for (uint64_t i = 0; run->slots != NULL && i < run->num_slots; i++)
	{
		run->slots[i].memory = mgpu_table_allocate(run->slot_bytes);
		if (run->slots[i].memory == NULL)
			return false;
	}
	return run->slots != NULL && run->reads != NULL;
}

/* The locale of collated columns, if there are any.  false: the C library has none of this name. */
static bool
open_locale(mgpu_run *run)
{
	if (!mgpu_group_is_collated(&run->spec))
		return true;
	run->locale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, mgpu_group_locale(&run->spec), (locale_t) 0);
	return run->locale != (locale_t) 0;
}

/* What a run needs beside its copies of what it was opened with. */
static bool
make_run(mgpu_run *run, int num_threads)
{
	run->pool = mgpu_pool_start(num_threads);
	if (run->pool == NULL)
		return false;
	run->num_workers = mgpu_pool_size(run->pool);
	run->fold_bytes = mgpu_cpu_tunables.table_fold_bytes;
	if (run->most_bytes > 0)
		run->fold_bytes = mgpu_table_least(run->fold_bytes, run->most_bytes / FOLD_SHARE / (uint64_t) run->num_workers);
	plan_way(run);
	mgpu_group_plan_record(&run->spec, &run->record);
	mgpu_table_plan_columns(run);
	mgpu_table_plan_inputs(run);
	run->cut = mgpu_cpu_table_cut(&run->spec);
	/* of ORDER, the words of table_cut.c, which are 0 */
	run->fresh = calloc(run->record.num_words + 3 + run->spec.num_keys + run->cut, sizeof(uint64_t));
	run->parts = calloc(MGPU_TABLE_PARTS, sizeof(*run->parts));
	if (run->fresh == NULL || run->parts == NULL || !make_workers(run) || !make_slots(run) || !mgpu_table_make_marks(run))
		return false;
	if (run->way != MGPU_TABLE_ORDER)
		mgpu_table_fresh_record(&run->spec, &run->record, run->fresh);
	run->floats = run->workers[0].groups;
	mgpu_pool_begin_held(run->pool, NULL, NULL, 0);
	return true;
}

static void
free_parts(mgpu_run *run)
{
	for (uint32_t i = 0; run->parts != NULL && i < MGPU_TABLE_PARTS; i++)
		mgpu_table_free_part(&run->parts[i]);
	free(run->parts);
	for (mgpu_table_large *large = atomic_load(&run->large); large != NULL;)
	{
		mgpu_table_large *next = large->next;

		free(large);
		large = next;
	}
}

static void
table_release(mgpu_run *run)
{
	if (run == NULL)
		return;
	atomic_store(&run->cancelled, true);
	/* whose tasks may read what was sorted */
	mgpu_pool_stop(run->pool);
	mgpu_table_end_sort(run);
	for (int i = 0; run->workers != NULL && i < run->num_workers; i++)
	{
		mgpu_table_free_groups(&run->workers[i].groups);
		mgpu_arena_free(&run->workers[i].arena);
		mgpu_arena_free(&run->workers[i].kept_arena);
		free(run->workers[i].block);
		free(run->workers[i].shared);
	}
	for (uint64_t i = 0; run->slots != NULL && i < run->num_slots; i++)
		free(run->slots[i].memory);
	mgpu_table_free_groups(&run->floats);
	free_parts(run);
	mgpu_table_free_order_parts(&run->order);
	mgpu_arena_free(&run->arena);
	if (run->file >= 0)
		close(run->file);
	if (run->locale != (locale_t) 0)
		freelocale(run->locale);
	free(run->workers);
	free(run->slots);
	free(run->reads);
	free(run->fresh);
	free(run->piece);
	mgpu_table_free_marks(run);
	free(run);
}

static mgpu_status
validate(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	mgpu_status status = mgpu_job_validate(job, err);

	if (status != MGPU_OK)
		return status;
	if (job->op != MGPU_OP_GROUP || binding->group == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "a job without pages of a table");
	status = mgpu_group_validate(binding->group, err);
	if (status == MGPU_OK && binding->group->build_bytes > 0 && binding->builds == NULL)
		status = mgpu_fail(err, MGPU_BAD_JOB, "a job without its builds");
	if (status == MGPU_OK && mgpu_group_is_named(binding->group) && binding->names == NULL)
		status = mgpu_fail(err, MGPU_BAD_JOB, "a job without its names");
	return status;
}

static mgpu_status
table_open(const mgpu_job *job, const mgpu_binding *binding, const mgpu_exec_options *options, mgpu_run **run, mgpu_error *err)
{
	mgpu_status status = validate(job, binding, err);

	*run = NULL;
	if (status != MGPU_OK)
		return status;
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory (injected)");
	*run = calloc(1, sizeof(**run));
	if (*run != NULL)
	{
		(*run)->job = *job;
		(*run)->spec = *binding->group;
		(*run)->pages = (mgpu_page_places) {.pages = binding->pages,.num_pages = binding->num_pages};
		(*run)->most_bytes = options->host_memory_limit;
		(*run)->file = binding->has_file ? dup(binding->file) : -1;
		(*run)->memory_before_file = binding->memory_before_file;
		(*run)->most_file_bytes = binding->file_limit;
		(*run)->builds = binding->builds;
		(*run)->names = binding->names;
		mgpu_unsigned_sort_prepare();
		if (!open_locale(*run))
			status = mgpu_fail(err, MGPU_UNSUPPORTED, "no locale %s", mgpu_group_locale(&(*run)->spec));
		else if (make_run(*run, options->num_threads))
			return MGPU_OK;
		table_release(*run);
		*run = NULL;
		if (status != MGPU_OK)
			return status;
	}
	return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a run");
}

/* ---- submit */

static mgpu_status
table_submit(mgpu_run *run, mgpu_error *err)
{
	if (run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "the run was submitted before");
	run->submitted = true;
	return MGPU_OK;
}

/* ---- poll */

static bool
awaits_caller(const mgpu_run *run)
{
	return (run->stage == MGPU_TABLE_ANSWERING && !run->is_bound) || run->piece_is_out;
}

static mgpu_status
table_poll(mgpu_run *run, mgpu_error *err)
{
	double		start_ms = mgpu_now_ms();
	double		end_ms = start_ms + (double) mgpu_cpu_tunables.poll_ms;
	mgpu_status status = MGPU_OK;

	if (!run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "poll before submit");
	while (run->stage != MGPU_TABLE_DONE)
	{
		double		now_ms = mgpu_now_ms();

		status = mgpu_table_status(run, err);
		if (status == MGPU_OK && (awaits_caller(run) || now_ms >= end_ms))
			status = MGPU_PENDING;
		if (status != MGPU_OK)
			break;
		status = mgpu_table_work(run, end_ms - now_ms, err);
		if (status == MGPU_OK && (status = mgpu_table_status(run, err)) == MGPU_OK)
			status = mgpu_table_advance(run, err);
		if (status != MGPU_OK && status != MGPU_PENDING)
			break;
	}
	run->work_ms += mgpu_now_ms() - start_ms;
	return status;
}

static void
table_cancel(mgpu_run *run)
{
	atomic_store(&run->cancelled, true);
	mgpu_pool_cancel(run->pool);
}

static void
table_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	*stats = (mgpu_run_stats) {
		.num_threads = run->num_workers,.kernel_ms = run->work_ms,.file_bytes = atomic_load(&run->file_bytes)
	};
}

static bool
table_result(const mgpu_run *run, mgpu_group_result *result)
{
	if (run->stage < MGPU_TABLE_ANSWERING)
		return false;
	*result = run->result;
	return true;
}

static void
table_bind(mgpu_run *run, char *const *outputs)
{
	run->is_bound = true;
	run->in_pieces = outputs == NULL;
	if (outputs != NULL)
		memcpy(run->places, outputs, sizeof(run->places));
	else if ((run->piece = mgpu_table_allocate(mgpu_cpu_tunables.table_write_bytes)) == NULL)
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
}

static bool
table_piece(const mgpu_run *run, mgpu_group_piece *piece)
{
	if (run->piece_is_out)
		*piece = run->shown;
	return run->piece_is_out;
}

static void
table_piece_taken(mgpu_run *run)
{
	run->piece_is_out = false;
}

const mgpu_executor mgpu_cpu_table_executor = {
	.name = "cpu",
	.open = table_open,
	.input_slot = mgpu_table_input_slot,
	.input_commit = mgpu_table_input_commit,
	.submit = table_submit,
	.poll = table_poll,
	.stats = table_stats,
	.cancel = table_cancel,
	.release = table_release,
	.group_result = table_result,
	.bind_groups = table_bind,
	.group_piece = table_piece,
	.piece_taken = table_piece_taken,
	.all_read = mgpu_table_all_read,
	.set_builds = mgpu_table_set_builds,
};
