/*
 * order_strings.c
 *		Orders byte strings in rounds of 64-bit codes.
 *
 * A code is the next eight bytes of a string, after the prefix that its run of strings has in
 * common.  In a round, threads make the codes, a job sorts them, and threads split the result.
 * Up to MGPU_SHORT_RUN_ITEMS strings with equal codes are ordered at once.  Longer runs are the
 * segments of the next round (core/byte_keys.h).  Most data need one round.
 *
 * Strings that stay equal would take one round for every eight bytes.  So after MAX_ROUNDS they
 * are compared whole.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "compat.h"
#include "array/array_result.h"
#include "order/order_collated.h"
#include "order/order.h"
#include "run/run_job.h"
#include "threads.h"

#define MAX_ROUNDS 32

/* Fewer tasks run without threads. */
#define THREADS_MIN_TASKS 8

typedef struct string_sort
{
	const sort_spec *spec;		/* its record is of the first job, with the times of all jobs */
	const segment_list *segments;
	int64		num_items;
	mgpu_byte_round round;
	int			num_rounds;
	thread_work work;
	bool		has_job;
	const char *cpu_reason;		/* set once a job has run on the CPU: later ones do too */
} string_sort;

static void
run_tasks(string_sort *sort, mgpu_task_function function, void *context, uint64 num_tasks)
{
	thread_work_run(&sort->work, function, context, num_tasks, THREADS_MIN_TASKS);
}

/* ---- the record for mgpu_last_run(): one for all jobs */

static void
start_record(string_sort *sort, Size data_bytes)
{
	run_record *record = sort->spec->record;

	run_record_cpu(record, sort->spec->function, "merge", sort->num_items, data_bytes, run_reason("few items"));
	record->num_segments = sort->segments ? sort->segments->num_segments : 0;
	run_report(record);			/* a call that is cancelled counts too */
}

static void
add_to_record(string_sort *sort, const run_record *job)
{
	run_record *record = sort->spec->record;
	run_record	whole = *record;

	if (sort->cpu_reason == NULL && !job->on_gpu)
		sort->cpu_reason = job->reason;
	if (!sort->has_job)
	{
		*record = *job;
		record->num_items = whole.num_items;
		record->num_segments = whole.num_segments;
		record->num_bytes = whole.num_bytes;
	}
	else
	{
		record->marshal_ms += job->marshal_ms;
		record->upload_ms += job->upload_ms;
		record->kernel_ms += job->kernel_ms;
		record->download_ms += job->download_ms;
	}
	sort->has_job = true;
}

/* ---- rounds */

/*
 * Whether the round has all strings, each in its own place.  Then the job's indices are the order
 * of the strings.
 */
static bool
is_whole(const string_sort *sort)
{
	const mgpu_byte_round *round = &sort->round;

	if (sort->num_rounds > 0 || round->num_items != (uint64) sort->num_items)
		return false;
	for (uint32 i = 0; i < round->num_runs; i++)
		if (round->runs[i].place != round->heads[i])
			return false;
	return true;
}

static void
sort_codes(string_sort *sort, uint64 *sorted, uint32 *indices)
{
	mgpu_byte_round *round = &sort->round;
	segment_list runs = {.heads = round->heads,.num_segments = round->num_runs,.num_items = round->num_items};
	run_record	job;
	sort_spec	spec = *sort->spec;
	word_sort	codes = {
		.spec = &spec,
		.segments = round->num_runs > 1 ? &runs : NULL,
		.num_items = round->num_items,
		.words = round->codes,
		.kind = MGPU_KEY_UNSIGNED,
		.width = sizeof(uint64),
		.ranks = indices,
		.sorted = sorted
	};

	spec.record = &job;
	if (sort->cpu_reason)
		spec.cpu_reason = sort->cpu_reason;
	(void) order_words(&codes);
	add_to_record(sort, &job);
	round->sorted = sorted;
	round->indices = indices;
}

/* Sort this round's codes and find the runs of the next round. */
static void
work_round(string_sort *sort)
{
	mgpu_byte_round *round = &sort->round;
	uint64	   *sorted = array_result_scratch(round->num_items * sizeof(uint64));
	bool		whole = is_whole(sort);
	uint32	   *indices = round->order;

	round->items = NULL;
	if (!whole)
	{
		round->items = array_result_scratch(round->num_items * sizeof(uint32));
		indices = array_result_scratch(round->num_items * sizeof(uint32));
	}
	round->codes = array_result_scratch(round->num_items * sizeof(uint64));
	run_tasks(sort, mgpu_byte_encode_task, round, mgpu_byte_tasks(round));
	sort_codes(sort, sorted, indices);
	pfree(round->codes);
	if (!whole)
	{
		run_tasks(sort, mgpu_byte_permute_task, round, mgpu_byte_tasks(round));
		pfree(round->items);
		pfree(indices);
	}
	round->next_runs = array_result_scratch(mgpu_byte_next_runs(round->num_items) * sizeof(mgpu_byte_run));
	run_tasks(sort, mgpu_byte_split_task, round, mgpu_byte_tasks(round));
	pfree(sorted);
}

static int
compare_items(const uint32 *a, const uint32 *b, const mgpu_byte_keys *keys)
{
	int			order = mgpu_byte_compare(keys, keys->spans[*a], keys->spans[*b], 0);

	if (keys->descending)
		order = -order;
	if (order == 0)
		order = *a < *b ? -1 : 1;
	return order;
}

#define ST_SORT sort_items
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, keys) compare_items(a, b, keys)
#define ST_COMPARE_ARG_TYPE const mgpu_byte_keys
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
compare_runs(mgpu_byte_round *round)
{
	for (uint32 i = 0; i < round->num_runs; i++)
		sort_items(round->order + round->runs[i].place, round->runs[i].num_items, &round->keys);
}

static void
work_rounds(string_sort *sort)
{
	mgpu_byte_round *round = &sort->round;

	for (; round->num_runs > 0; sort->num_rounds++)
	{
		if (sort->num_rounds == MAX_ROUNDS)
		{
			compare_runs(round);
			break;
		}
		round->heads = array_result_scratch(round->num_runs * sizeof(uint32));
		mgpu_byte_round_start(round);
		run_tasks(sort, mgpu_byte_measure_task, round, mgpu_byte_tasks(round));
		mgpu_byte_round_narrow(round);
		round->next_runs = NULL;
		if (round->num_runs > 0)
			work_round(sort);
		pfree(round->heads);
		pfree(round->runs);
		round->runs = round->next_runs;
		round->num_runs = round->runs ? atomic_load(&round->num_next_runs) : 0;
	}
}

/* ---- the first runs */

/* The runs of the first round: all strings as one, or the long segments.  Short segments are ordered here. */
static void
first_runs(string_sort *sort)
{
	mgpu_byte_round *round = &sort->round;
	const segment_list *segments = sort->segments;
	mgpu_byte_segments work;

	if (segments == NULL)
	{
		round->runs = palloc(sizeof(mgpu_byte_run));
		round->runs[0].place = 0;
		round->runs[0].num_items = sort->num_items;
		round->runs[0].offset = 0;
		round->num_runs = 1;
		return;
	}
	work = (mgpu_byte_segments) {round, segments->heads, segments->num_segments, sort->num_items,
	order_is_forced(sort->spec, sort->num_items) ? 1 : MGPU_SHORT_RUN_ITEMS};
	round->next_runs = array_result_scratch(Min(segments->num_segments, sort->num_items) * sizeof(mgpu_byte_run));
	atomic_store(&round->num_next_runs, 0);
	run_tasks(sort, mgpu_byte_segments_task, &work, mgpu_byte_segment_tasks(&work));
	round->runs = round->next_runs;
	round->num_runs = atomic_load(&round->num_next_runs);
}

/* Put each string at its own place. */
static void
number_task(void *context, uint64 task, int worker)
{
	string_sort *sort = context;
	int64		end = Min((int64) (task + 1) * MGPU_BYTE_TASK_ITEMS, sort->num_items);

	for (int64 i = task * MGPU_BYTE_TASK_ITEMS; i < end; i++)
		sort->round.order[i] = i;
}

static void
sort_strings(string_sort *sort)
{
	if (sort->segments == NULL && sort->num_items <= MGPU_SHORT_RUN_ITEMS &&
		!order_is_forced(sort->spec, sort->num_items))
	{
		number_task(sort, 0, 0);
		mgpu_byte_order_now(&sort->round.keys, 0, sort->round.order, sort->num_items);
		return;
	}
	run_tasks(sort, number_task, sort, (sort->num_items + MGPU_BYTE_TASK_ITEMS - 1) / MGPU_BYTE_TASK_ITEMS);
	first_runs(sort);
	work_rounds(sort);
}

/* Have the server's comparison confirm the order, or make it. */
static void
collate(string_sort *sort, locale_t locale)
{
	collated_order order = {&sort->round.keys, locale, sort->segments, sort->num_items, sort->round.order, false};

	if (order_collate_neighbours(&order, &sort->work))
		return;
	order_by_collation(&order);
	sort->spec->record->algorithm = "compare";
}

void
order_strings(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks)
{
	string_sort sort = {.spec = spec,.segments = segments,.num_items = keys->num_items};

	sort.round.keys = keys->strings.keys;
	sort.round.keys.descending = spec->order.descending;
	sort.round.order = ranks;
	start_record(&sort, keys->data_bytes);
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.work));
	{
		sort_strings(&sort);
		if (keys->strings.locale)
			collate(&sort, keys->strings.locale);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.work));
	thread_work_stop(0, PointerGetDatum(&sort.work));
	spec->record->marshal_ms += sort.work.ms;
}
