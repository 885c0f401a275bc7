/*
 * position_parts.c
 *		Order of many elements, as positions, by jobs of a part of them at a time.
 *
 * What a device has to have of an element is its code.  Keys are made in the slots
 * by which they go there, so that they are nowhere else.  Strings are cut into parts
 * as for threads (position_cut.h), but of as many as there is room for, and one part
 * at a time is looked up and sorted by jobs (byte_order.h); parts that are too large,
 * since many strings are alike, are cut again.
 *
 * Rejected: codes of all strings, made in the slots as keys are: which of them are
 * equal would have to be seen from codes that come back, for which there is no room.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "core/string_parts.h"

#include "array_result.h"
#include "byte_order.h"
#include "compat.h"
#include "position_parts.h"

/* Strings sorted at once. */
#define MOST_PART_ITEMS (1024 * 1024)

/* ... where there is hardly any room. */
#define LEAST_PART_ITEMS (4 * 1024)

/* Room that strings which are made may want each; they are laid out side by side. */
#define MOST_MADE_BYTES (2 * 1024)

/* Cuts of cuts, of strings that share more and more. */
#define MOST_DEPTH 32

#define TASK_ITEMS (16 * 1024)
#define THREADS_MIN_TASKS 8

/* How many elements ahead to fetch. */
#define ELEMENTS_AHEAD 16

/* ---- keys */

typedef struct key_reader
{
	const element_codes *codes;
	bool		failed;			/* some element has no key */
} key_reader;

static void
read_keys(void *context, Size offset, Size bytes, void *dest)
{
	key_reader *reader = context;
	const element_codes *codes = reader->codes;
	uint32		first = offset / sizeof(uint64);
	uint64	   *keys = dest;

	for (uint32 i = 0; i < bytes / sizeof(uint64); i++)
		if (!element_key(codes, first + i, &keys[i]))
			reader->failed = true;
}

bool
position_sort_keys(position_sort *sort, const sort_spec *spec)
{
	key_reader	reader = {&sort->codes, false};
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = spec->function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.algorithm = spec->algorithm;
	request.job.key_kind = MGPU_KEY_UNSIGNED;
	request.job.key_width = sizeof(uint64);
	request.job.outputs = MGPU_OUT_INDICES;
	request.job.descending = spec->order.descending;
	request.job.num_items = sort->codes.num_items;
	request.readers[MGPU_CHANNEL_KEYS] = (run_reader) {read_keys, &reader};
	request.binding.out_indices = sort->refs;
	request.gpu_only = true;
	run_job(&request);
	sort->failed = reader.failed;
	return !request.gave_up;
}

/* ---- strings */

static void
make_room(position_jobs *parts)
{
	int64		num_items = parts->sort->run_items;

	if (parts->refs)
		return;
	parts->refs = array_result_scratch(num_items * sizeof(uint32));
	parts->ranks = array_result_scratch(num_items * sizeof(uint32));
	parts->spans = array_result_scratch(num_items * sizeof(mgpu_span));
	parts->codes = array_result_scratch(num_items * sizeof(uint64));
	if (parts->sort->codes.room_bytes > 0)
		parts->arena = array_result_scratch(num_items * parts->sort->codes.room_bytes);
}

static void
free_room(position_jobs *parts)
{
	if (parts->refs == NULL)
		return;
	pfree(parts->refs);
	pfree(parts->ranks);
	pfree(parts->spans);
	pfree(parts->codes);
	if (parts->arena)
		pfree(parts->arena);
	parts->refs = NULL;
	parts->arena = NULL;
}

static void
run_tasks(position_jobs *parts, mgpu_task_function function)
{
	thread_work_run(&parts->call.work, function, parts, (parts->num_items + TASK_ITEMS - 1) / TASK_ITEMS,
					THREADS_MIN_TASKS);
}

/* Where the strings of a part are, and their codes. */
static void
strings_task(void *context, uint64 task, int worker)
{
	position_jobs  *parts = context;
	const element_codes *codes = &parts->sort->codes;
	const char *begin = parts->arena ? parts->arena : codes->data;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, parts->num_items);

	for (int64 i = task * TASK_ITEMS; i < end; i++)
	{
		char	   *room = parts->arena ? parts->arena + i * codes->room_bytes : NULL;
		byte_string string;

		if (i + ELEMENTS_AHEAD < end)
			__builtin_prefetch(element_at(codes, parts->refs[i + ELEMENTS_AHEAD]));
		string = element_string(codes, parts->refs[i], room);
		if (room && string.size == 0)
			parts->sort->failed = true;
		parts->spans[i] = (mgpu_span) {string.bytes - begin, string.size};
		parts->codes[i] = element_string_code(codes, string, room, parts->offset);
	}
}

static void
positions_task(void *context, uint64 task, int worker)
{
	position_jobs  *parts = context;
	const element_codes *codes = &parts->sort->codes;
	uint32	   *out = parts->sort->refs + parts->first;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, parts->num_items);

	for (int64 i = task * TASK_ITEMS; i < end; i++)
		out[i] = element_position(codes, parts->refs[parts->ranks[i]]);
}

/* References first to first + num_items, no more than there is room for, to strings that share offset bytes. */
static void
sort_part(position_jobs *parts, int64 first, int64 num_items, uint32 offset)
{
	const element_codes *elements = &parts->sort->codes;
	byte_codes	codes;
	byte_source bytes;

	make_room(parts);
	parts->first = first;
	parts->num_items = num_items;
	parts->offset = offset;
	memcpy(parts->refs, parts->sort->refs + first, num_items * sizeof(uint32));
	run_tasks(parts, strings_task);
	memset(&bytes, 0, sizeof(bytes));
	bytes.keys.data = parts->arena ? parts->arena : elements->data;
	bytes.keys.data_end = bytes.keys.data + (parts->arena ? num_items * elements->room_bytes : elements->data_bytes);
	bytes.keys.spans = bytes.spans = parts->spans;
	bytes.keys.counted = elements->strings.counted;
	codes = (byte_codes) {parts->codes, offset};
	byte_order_part(&parts->call, parts->spec, NULL, &bytes, &codes, num_items, parts->ranks);
	run_tasks(parts, positions_task);
}

/* Elements that are in order. */
static void
write_same(position_jobs *parts, const position_run *run)
{
	uint32	   *refs = parts->sort->refs + run->first;

	for (uint32 i = 0; i < run->num_items; i++)
		refs[i] = element_position(&parts->sort->codes, refs[i]);
}

/* What all strings of a run of some cut begin with, and all others that the cut was of. */
static uint32
cut_offset(const position_jobs *parts, const position_run *run)
{
	mgpu_byte_keys keys = {.counted = parts->sort->codes.strings.counted};

	return run->kind == POSITION_RUN_ALIKE ? run->offset - mgpu_code_step(&keys) : run->offset;
}

static void sort_cut(position_jobs *parts, int64 begin, int64 end, int depth);

/* Cuts a run that is too long for a part. */
static void
cut_run(position_jobs *parts, position_run run, int depth)
{
	position_sort *sort = parts->sort;
	int64		begin = sort->num_next_runs;
	int64		room = begin + MGPU_MOST_PARTS + run.num_items / sort->run_items + 1;

	check_stack_depth();
	free_room(parts);
	if (depth == MOST_DEPTH)
	{
		position_run_compare(sort, &run);
		return;
	}
	sort->next_runs = repalloc_huge(sort->next_runs, room * sizeof(position_run));
	position_cut_run(sort, &run);
	sort_cut(parts, begin, sort->num_next_runs, depth + 1);
	sort->num_next_runs = begin;
}

/* Runs begin to end, neighbours of one cut: as many as there is room for at a time. */
static void
sort_cut(position_jobs *parts, int64 begin, int64 end, int depth)
{
	position_sort *sort = parts->sort;

	for (int64 next; begin < end && !sort->failed; begin = next)
	{
		position_run run = sort->next_runs[begin];
		uint32		num_items = run.num_items;

		next = begin + 1;
		if (run.kind == POSITION_RUN_SAME)
			write_same(parts, &run);
		else if (num_items > sort->run_items)
			cut_run(parts, run, depth);
		else
		{
			for (; next < end && sort->next_runs[next].kind != POSITION_RUN_SAME &&
				 num_items + sort->next_runs[next].num_items <= sort->run_items; next++)
				num_items += sort->next_runs[next].num_items;
			sort_part(parts, run.first, num_items, next > begin + 1 ? cut_offset(parts, &run) : run.offset);
		}
		CHECK_FOR_INTERRUPTS();
	}
}

bool
position_parts_fit(const element_codes *codes)
{
	return codes->room_bytes <= MOST_MADE_BYTES && element_codes_bytes(codes) <= POSITION_CALL_BYTES / 2;
}

/* Room for the runs of the first cut. */
static void
start_runs(position_sort *sort, int64 num_items)
{
	sort->next_runs = palloc((MGPU_MOST_PARTS + num_items / sort->run_items + 1) * sizeof(position_run));
	sort->num_next_runs = 0;
}

void
position_jobs_start(position_jobs *parts, position_sort *sort, const sort_spec *spec, Size bytes)
{
	const element_codes *codes = &sort->codes;

	memset(parts, 0, sizeof(*parts));
	parts->sort = sort;
	parts->spec = spec;
	sort->run_items = Min(MOST_PART_ITEMS, bytes / POSITION_JOBS_ITEM_BYTES(codes));
	sort->run_items = Max(sort->run_items, LEAST_PART_ITEMS);
	byte_order_start(&parts->call, spec, 0, codes->num_items, codes->data_bytes);
}

void
position_jobs_refs(position_jobs *parts, int64 num_items)
{
	position_sort *sort = parts->sort;

	start_runs(sort, num_items);
	position_sort_next(sort, (position_run) {0, num_items, 0, POSITION_RUN_ALIKE});
	sort_cut(parts, 0, 1, 0);
	pfree(sort->next_runs);
}

void
position_jobs_end(position_jobs *parts, bool *had_job)
{
	free_room(parts);
	byte_order_end(&parts->call);
	*had_job = parts->call.has_job;
	run_last.marshal_ms += parts->sort->work.ms;
}

void
position_sort_parts(position_sort *sort, const sort_spec *spec, bool *had_job)
{
	position_jobs parts;

	position_jobs_start(&parts, sort, spec, POSITION_CALL_BYTES - element_codes_bytes(&sort->codes));
	start_runs(sort, sort->codes.num_items);
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&parts.call.work));
	{
		position_cut_all(sort);
		sort_cut(&parts, 0, sort->num_next_runs, 0);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&parts.call.work));
	thread_work_stop(0, PointerGetDatum(&parts.call.work));
	pfree(sort->next_runs);
	position_jobs_end(&parts, had_job);
}
