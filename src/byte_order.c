/*
 * byte_order.c
 *		Sorts byte strings by jobs of 64-bit codes.
 *
 * Drives the rounds of core/byte_keys.h: codes are made by threads of the
 * CPU, sorted by a job on whatever executor planner and settings choose, and
 * split into the next round's runs.  Most data need one job: few strings have
 * their first eight bytes behind the common ones alike, and short runs of those
 * are done on the spot.
 *
 * Strings that go on being alike in long runs would take a round for every eight
 * bytes; after MAX_ROUNDS of them the rest is compared whole.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "compat.h"
#include "array_result.h"
#include "byte_order.h"
#include "run.h"
#include "thread_work.h"

#define MAX_ROUNDS 32

/* Fewer tasks are not worth threads. */
#define THREADS_MIN_TASKS 8

/* Between parts of a caller's room: threads do not write to the same line of a cache. */
#define ROOM_ALIGN 64

typedef struct byte_sort
{
	const sort_spec *spec;
	const segment_list *segments;
	const byte_codes *codes;	/* of the first round, or NULL */
	int64		num_items;
	mgpu_byte_round round;
	int			num_rounds;
	byte_order_call *call;
} byte_sort;

static void
run_tasks(byte_sort *sort, mgpu_task_function function, void *context, uint64 num_tasks)
{
	thread_work_run(&sort->call->work, function, context, num_tasks, THREADS_MIN_TASKS);
}

/* Whether the codes' places are the items' own, so that indices are the order. */
static bool
is_whole(const byte_sort *sort)
{
	const mgpu_byte_round *round = &sort->round;

	if (sort->num_rounds > 0 || round->num_items != (uint64) sort->num_items)
		return false;
	for (uint32 i = 0; i < round->num_runs; i++)
		if (round->runs[i].place != round->heads[i])
			return false;
	return true;
}

void
byte_order_note(byte_order_call *call)
{
	run_record *record = &call->record;

	if (!call->on_cpu && strcmp(run_last.executor, mgpu_cpu_executor.name) == 0)
	{
		call->on_cpu = true;
		strlcpy(call->cpu_reason, run_last.reason, sizeof(call->cpu_reason));
	}
	if (!call->has_job)
	{
		int64		num_items = record->num_items;
		int64		num_segments = record->num_segments;
		int64		num_bytes = record->num_bytes;

		call->has_job = true;
		*record = run_last;
		record->num_items = num_items;
		record->num_segments = num_segments;
		record->num_bytes = num_bytes;
		return;
	}
	record->marshal_ms += run_last.marshal_ms;
	record->upload_ms += run_last.upload_ms;
	record->kernel_ms += run_last.kernel_ms;
	record->download_ms += run_last.download_ms;
}

void
byte_order_note_kept(byte_order_call *call)
{
	bool		on_cpu = call->on_cpu;
	bool		has_job = call->has_job;

	byte_order_note(call);
	call->on_cpu = on_cpu;
	call->has_job = has_job;
}

static void
sort_codes(byte_sort *sort, uint64 *sorted, uint32 *indices)
{
	mgpu_byte_round *round = &sort->round;
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = sort->spec->function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.algorithm = sort->spec->algorithm;
	request.job.key_kind = MGPU_KEY_UNSIGNED;
	request.job.key_width = sizeof(uint64);
	request.job.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES;
	request.job.descending = round->keys.descending;
	request.job.num_items = round->num_items;
	if (round->num_runs > 1)
	{
		request.job.num_segments = round->num_runs;
		request.binding.in_segment_heads = round->heads;
	}
	request.cpu_reason = sort->call->on_cpu ? sort->call->cpu_reason : NULL;
	request.binding.in_keys = round->codes;
	request.binding.out_keys = sorted;
	request.binding.out_indices = indices;
	run_job(&request);
	byte_order_note(sort->call);
	round->sorted = sorted;
	round->indices = indices;
}

static bool
has_codes(const byte_sort *sort)
{
	return sort->num_rounds == 0 && sort->codes != NULL;
}

/* Scratch of a round: of the room that is left or, if that is too small, palloc'd. */
static void *
take(byte_room *left, Size bytes)
{
	Size		taken = TYPEALIGN(ROOM_ALIGN, bytes);
	char	   *start = left->start;

	if (taken > left->bytes)
		return array_result_scratch(bytes);
	left->start += taken;
	left->bytes -= taken;
	return start;
}

static void
put_back(const byte_sort *sort, void *scratch)
{
	const byte_room *room = &sort->call->room;

	if ((char *) scratch < room->start || (char *) scratch >= room->start + room->bytes)
		pfree(scratch);
}

/* The runs of this round become those of the next. */
static void
work_round(byte_sort *sort)
{
	mgpu_byte_round *round = &sort->round;
	byte_room	left = sort->call->room;
	uint64	   *sorted = take(&left, round->num_items * sizeof(uint64));
	bool		whole = is_whole(sort);
	uint32	   *indices = round->order;

	round->items = NULL;
	if (!whole)
	{
		round->items = take(&left, round->num_items * sizeof(uint32));
		indices = take(&left, round->num_items * sizeof(uint32));
	}
	if (has_codes(sort))
	{
		round->codes = sort->codes->codes;
		sort_codes(sort, sorted, indices);
	}
	else
	{
		round->codes = take(&left, round->num_items * sizeof(uint64));
		run_tasks(sort, mgpu_byte_encode_task, round, mgpu_byte_tasks(round));
		sort_codes(sort, sorted, indices);
		put_back(sort, round->codes);
	}
	if (!whole)
	{
		run_tasks(sort, mgpu_byte_permute_task, round, mgpu_byte_tasks(round));
		put_back(sort, round->items);
		put_back(sort, indices);
	}
	round->next_runs = array_result_scratch(mgpu_byte_next_runs(round->num_items) * sizeof(mgpu_byte_run));
	run_tasks(sort, mgpu_byte_split_task, round, mgpu_byte_tasks(round));
	put_back(sort, sorted);
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
work_rounds(byte_sort *sort)
{
	mgpu_byte_round *round = &sort->round;

	while (round->num_runs > 0)
	{
		if (sort->num_rounds == MAX_ROUNDS)
		{
			compare_runs(round);
			break;
		}
		round->heads = array_result_scratch(round->num_runs * sizeof(uint32));
		mgpu_byte_round_start(round);
		if (!has_codes(sort))
		{
			run_tasks(sort, mgpu_byte_measure_task, round, mgpu_byte_tasks(round));
			mgpu_byte_round_narrow(round);
		}
		round->next_runs = NULL;
		if (round->num_runs > 0)
			work_round(sort);
		pfree(round->heads);
		pfree(round->runs);
		round->runs = round->next_runs;
		round->num_runs = round->runs ? atomic_load(&round->num_next_runs) : 0;
		sort->num_rounds++;
	}
}

/* All strings as one run, or segments that are long; short ones get in order. */
static void
first_runs(byte_sort *sort)
{
	mgpu_byte_round *round = &sort->round;
	const segment_list *segments = sort->segments;
	mgpu_byte_segments work;

	if (segments == NULL)
	{
		round->runs = palloc(sizeof(mgpu_byte_run));
		round->runs[0].place = 0;
		round->runs[0].num_items = sort->num_items;
		round->runs[0].offset = sort->codes ? sort->codes->offset : 0;
		round->num_runs = 1;
		return;
	}
	work = (mgpu_byte_segments) {round, segments->heads, segments->num_segments, sort->num_items,
	run_is_forced(sort->num_items) ? 1 : MGPU_SHORT_RUN_ITEMS};
	round->next_runs = array_result_scratch(Min(segments->num_segments, sort->num_items) * sizeof(mgpu_byte_run));
	atomic_store(&round->num_next_runs, 0);
	run_tasks(sort, mgpu_byte_segments_task, &work, mgpu_byte_segment_tasks(&work));
	round->runs = round->next_runs;
	round->num_runs = atomic_load(&round->num_next_runs);
}

/* Each item at its own place. */
static void
number_task(void *context, uint64 task, int worker)
{
	byte_sort  *sort = context;
	int64		end = Min((int64) (task + 1) * MGPU_BYTE_TASK_ITEMS, sort->num_items);

	for (int64 i = task * MGPU_BYTE_TASK_ITEMS; i < end; i++)
		sort->round.order[i] = i;
}

static void
order_now(byte_sort *sort)
{
	number_task(sort, 0, 0);
	mgpu_byte_order_now(&sort->round.keys, 0, sort->round.order, sort->num_items);
}

void
byte_order_start(byte_order_call *call, const sort_spec *spec, int64 num_segments, int64 num_items, Size data_bytes)
{
	memset(call, 0, sizeof(*call));
	run_note_cpu(spec->function, "merge", num_items, data_bytes, "few items");
	run_last.num_segments = num_segments;
	call->record = run_last;
}

void
byte_order_part(byte_order_call *call, const sort_spec *spec, const segment_list *segments,
				const byte_source *bytes, const byte_codes *codes, int64 num_items, uint32 *ranks)
{
	byte_sort	sort;

	memset(&sort, 0, sizeof(sort));
	sort.spec = spec;
	sort.segments = segments;
	sort.codes = codes;
	sort.num_items = num_items;
	sort.call = call;
	sort.round.keys = bytes->keys;
	sort.round.keys.descending = spec->order.descending;
	sort.round.order = ranks;
	if (segments == NULL && num_items <= MGPU_SHORT_RUN_ITEMS &&
		spec->algorithm == MGPU_ALGORITHM_AUTO && !run_is_forced(num_items))
	{
		order_now(&sort);
		return;
	}
	run_tasks(&sort, number_task, &sort, (num_items + MGPU_BYTE_TASK_ITEMS - 1) / MGPU_BYTE_TASK_ITEMS);
	first_runs(&sort);
	work_rounds(&sort);
}

void
byte_order_end(byte_order_call *call)
{
	run_last = call->record;
	run_last.marshal_ms += call->work.ms;
}

void
byte_order_ranks(const sort_spec *spec, const segment_list *segments,
				 const byte_source *bytes, int64 num_items, Size data_bytes, uint32 *ranks)
{
	static const byte_room none;

	byte_order_ranks_in(&none, spec, segments, bytes, num_items, data_bytes, ranks);
}

void
byte_order_ranks_in(const byte_room *room, const sort_spec *spec, const segment_list *segments,
					const byte_source *bytes, int64 num_items, Size data_bytes, uint32 *ranks)
{
	byte_order_call call;

	byte_order_start(&call, spec, segments ? segments->num_segments : 0, num_items, data_bytes);
	call.room = *room;
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&call.work));
	{
		byte_order_part(&call, spec, segments, bytes, NULL, num_items, ranks);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&call.work));
	thread_work_stop(0, PointerGetDatum(&call.work));
	byte_order_end(&call);
}
