/*
 * order_parts.c
 *		Sorts pairs by strings, or by keys that are compared, a part of the order at a time.
 *
 * Positions of all elements are what narrow values have no room for.  So elements are
 * cut into parts by their order (order_cut.h), each about what a thread sorts in a cache.
 * References of as many parts as there is room for are listed at a time, a part's behind
 * those of the part before, sorted in place as those of all are elsewhere (position_run.h,
 * compared_codes.h), and become positions, at which pairs are the next of the result.  A
 * device gets all that are listed at once, in their order (position_parts.h).
 *
 * How many parts there are, and what is known of elements, is a plan (order_plan.h).
 * What tells all references' positions (element_codes.h) takes a 24th of what elements
 * do.  Where that leaves too little, those listed at a time stay, in the input's order,
 * beside their elements' positions, and a reference is found there again by what it begins
 * with.
 *
 * Rejected: fewer parts than what is sorted at a time, which are then cut again, all of their
 * elements looked up once more; and one list for each part, for which all notes are read.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"

#include "core/executor.h"

#include "array_result.h"
#include "compat.h"
#include "order_cut.h"
#include "order_parts.h"
#include "order_plan.h"
#include "position_parts.h"
#include "position_sort.h"
#include "settings.h"

/* What may be taken beside input and result. */
#define CALL_BYTES ((Size) 51 * 1024 * 1024)

/* Elements of a part, and of those listed at a time, in tests. */
#define TEST_PART_ITEMS 600
#define TEST_LIST_ITEMS 2048

/* The same as references whose positions are known, in tests: of so many bytes. */
#define TEST_LINED_BYTES 16

#define TASK_ITEMS (16 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct order_parts
{
	const sort_spec *spec;
	pair_filler *filler;
	element_codes *elements;
	bool		by_strings;
	bool		by_jobs;
	order_cut	cut;
	position_sort sort;			/* of strings; its threads do what else there is */
	position_jobs jobs;			/* of strings, if by_jobs */
	compared_sort compared;		/* if not by_strings */
	order_plan	plan;

	/* what is listed: room for room_items */
	int64		room_items;
	int64		num_items;
	uint32	   *refs;
	uint32	   *listed;			/* in the input's order, or NULL where references become positions */
	uint32	   *positions;		/* likewise; and their positions */
	uint32	   *index;			/* likewise; the first of listed at or behind each (base + i << shift) */
	int			shift;
} order_parts;

/* ---- sizes */

static bool
has_index(const order_parts *parts)
{
	return parts->elements->begins != NULL && parts->elements->lines == NULL;
}

static bool
by_threads(const order_parts *parts)
{
	return parts->by_strings && !parts->by_jobs;
}

/* What is left of the bound; maybe nothing, of very many elements. */
static Size
room_left(const order_parts *parts)
{
	Size		taken = element_codes_bytes(parts->elements) + pair_filler_bytes(parts->filler);

	return taken < CALL_BYTES ? CALL_BYTES - taken : 0;
}

/* All of it is within the bound, but for the least that it takes; in tests, some parts of a few. */
static void
choose_plan(order_parts *parts)
{
	const element_codes *elements = parts->elements;

	if (mgpu_setting_inject_fault != MGPU_FAULT_ROOM)
	{
		order_plan_input input = {elements, parts->by_strings, parts->by_jobs, !parts->by_strings && parts->compared.has_codes};

		order_plan_choose(&input, room_left(parts), &parts->plan);
		return;
	}
	parts->plan = (order_plan) {.note_bits = 2,.num_parts = elements->num_items / TEST_PART_ITEMS + 1,.list_items = TEST_LIST_ITEMS};
	parts->plan.has_lines = elements->begins && !parts->by_jobs && elements->data_bytes / elements->num_items < TEST_LINED_BYTES;
}

/* Cuts elements as planned. */
static void
start_cut(order_parts *parts)
{
	if (by_threads(parts))
		position_sort_share(&parts->sort, parts->plan.scratch);
	if (parts->plan.has_lines)
		element_codes_add_lines(parts->elements);
	order_cut_start(&parts->cut, Min(parts->plan.num_parts, parts->elements->num_items), parts->plan.note_bits);
}

static void
free_room(order_parts *parts)
{
	if (parts->refs == NULL)
		return;
	pfree(parts->refs);
	if (parts->listed)
	{
		pfree(parts->listed);
		pfree(parts->positions);
		pfree(parts->index);
	}
}

static void
make_room(order_parts *parts, int64 num_items)
{
	parts->num_items = num_items;
	if (num_items <= parts->room_items)
		return;
	free_room(parts);
	parts->room_items = num_items;
	parts->refs = array_result_scratch(num_items * sizeof(uint32));
	if (!has_index(parts))
		return;
	parts->listed = array_result_scratch(num_items * sizeof(uint32));
	parts->positions = array_result_scratch(num_items * sizeof(uint32));
	parts->index = array_result_scratch((num_items / ORDER_INDEX_STEP + 2) * sizeof(uint32));
}

/* ---- references and positions */

static void
run_tasks(order_parts *parts, mgpu_task_function function)
{
	position_sort_tasks(&parts->sort, function, parts, (parts->num_items + TASK_ITEMS - 1) / TASK_ITEMS);
}

/* Numbers of listed elements become their positions. */
static void
numbers_task(void *context, uint64 task, int worker)
{
	order_parts *parts = context;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, parts->num_items);

	for (int64 i = task * TASK_ITEMS; i < end; i++)
		parts->positions[i] = pair_filler_position(parts->filler, parts->positions[i]);
}

static void
make_index(order_parts *parts)
{
	uint32		base = parts->listed[0];
	uint32		span = parts->listed[parts->num_items - 1] - base;
	int64		next = 0;

	parts->shift = 0;
	while (span >> parts->shift > parts->num_items / ORDER_INDEX_STEP)
		parts->shift++;
	for (int64 i = 0; i < parts->num_items; i++)
	{
		while (next <= (parts->listed[i] - base) >> parts->shift)
			parts->index[next++] = (uint32) i;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	parts->index[next] = (uint32) parts->num_items;
}

/* References of some parts, and what makes positions of them again. */
static void
list_parts(order_parts *parts, int first, int end)
{
	uint32	   *by_parts = parts->by_jobs ? NULL : parts->refs;

	if (!has_index(parts))
	{
		order_cut_list(&parts->cut, first, end, by_parts, parts->by_jobs ? parts->refs : NULL, NULL);
		return;
	}
	order_cut_list(&parts->cut, first, end, by_parts, parts->listed, parts->positions);
	if (parts->by_jobs)
		memcpy(parts->refs, parts->listed, parts->num_items * sizeof(uint32));
	if (parts->filler->keys->num_nulls > 0)
		run_tasks(parts, numbers_task);
	make_index(parts);
}

/* Which of listed a reference is. */
static inline uint32
place_of(const order_parts *parts, uint32 ref)
{
	uint32		at = (ref - parts->listed[0]) >> parts->shift;
	uint32		low = parts->index[at];
	uint32		high = parts->index[at + 1];

	while (high - low > 1)
	{
		uint32		middle = (low + high) / 2;

		if (parts->listed[middle] <= ref)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* What is sorted becomes positions; strings' numbers are known by now, but by the index. */
static void
positions_task(void *context, uint64 task, int worker)
{
	order_parts *parts = context;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, parts->num_items);
	bool		with_index = has_index(parts);

	for (int64 i = task * TASK_ITEMS; i < end; i++)
	{
		uint32		ref = parts->refs[i];

		if (with_index)
			parts->refs[i] = parts->positions[place_of(parts, ref)];
		else
			parts->refs[i] = pair_filler_position(parts->filler, parts->by_strings ? ref :
												  element_position(parts->elements, ref));
	}
}

/* ---- parts */

static void
sort_strings(order_parts *parts, int first, int end)
{
	position_run runs[ORDER_NOTED_PARTS(ORDER_MOST_NOTE_BITS)];
	int			num_runs = 0;
	int64		begin = 0;

	for (int part = first; part < end; part++)
	{
		position_run run = order_cut_run(&parts->cut, part, begin);

		if (run.num_items > 0)
			runs[num_runs++] = run;
		begin += run.num_items;
	}
	position_sort_refs(&parts->sort, runs, num_runs);
}

static void
sort_compared(order_parts *parts, int first, int end)
{
	parts->compared.refs = parts->refs;
	for (int part = first; part < end; part++)
	{
		int64		num_items = order_cut_items(&parts->cut, part);

		compared_sort_refs(&parts->compared, num_items);
		parts->compared.refs += num_items;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Some parts, num_items together. */
static void
add_parts(order_parts *parts, int first, int end, int64 num_items)
{
	if (num_items == 0)
		return;
	make_room(parts, Max(num_items, Min(parts->plan.list_items, parts->elements->num_items)));
	parts->num_items = num_items;
	list_parts(parts, first, end);
	parts->sort.refs = parts->refs;
	if (parts->by_jobs)
		position_jobs_refs(&parts->jobs, num_items);
	else if (parts->by_strings)
		sort_strings(parts, first, end);
	else
		sort_compared(parts, first, end);
	if (parts->sort.failed)
		return;
	run_tasks(parts, positions_task);
	pair_filler_add(parts->filler, parts->refs, num_items);
}

/* Those that are noted, as many of them at a time as can be. */
static void
add_noted(order_parts *parts)
{
	const order_cut *cut = &parts->cut;

	for (int first = cut->first_part, end; first < cut->end_part && !parts->sort.failed; first = end)
	{
		int64		num_items = order_cut_items(cut, first);

		for (end = first + 1; end < cut->end_part; end++)
		{
			int64		more = order_cut_items(cut, end);

			if (num_items + more > parts->plan.list_items)
				break;
			num_items += more;
		}
		add_parts(parts, first, end, num_items);
	}
}

static void
sort_parts(order_parts *parts)
{
	order_cut  *cut = &parts->cut;

	start_cut(parts);
	for (int first = 0; first < cut->num_parts && !parts->sort.failed; first = cut->end_part)
	{
		order_cut_note(cut, first);
		add_noted(parts);
	}
	free_room(parts);
	order_cut_end(cut);
}

static void
sort_by_jobs(order_parts *parts)
{
	bool		had_job;

	position_jobs_start(&parts->jobs, &parts->sort, parts->spec, parts->plan.scratch);
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&parts->jobs.call.work));
	{
		sort_parts(parts);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&parts->jobs.call.work));
	thread_work_stop(0, PointerGetDatum(&parts->jobs.call.work));
	position_jobs_end(&parts->jobs, &had_job);
}

/* Whether a device is to have the strings, a part's at a time. */
static bool
wants_jobs(const order_parts *parts)
{
	const sort_spec *spec = parts->spec;
	const element_codes *elements = parts->elements;

	if (!parts->by_strings ||
		position_sort_stays_here(spec, false, elements->num_items, elements->data_bytes, spec->cpu_reason))
		return false;
	if (position_parts_fit(elements))
		return true;
	run_note_kept(spec->function, elements->num_items, elements->data_bytes,
				  "strings so long, or so many, are sorted where they are, on the CPU");
	return false;
}

static bool
sort_elements(order_parts *parts)
{
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	parts->cut.sort = &parts->sort;
	parts->cut.compared = parts->by_strings ? NULL : &parts->compared;
	parts->cut.elements = parts->elements;
	parts->cut.descending = parts->sort.descending = parts->spec->order.descending;
	parts->by_jobs = wants_jobs(parts);
	choose_plan(parts);
	if (parts->by_jobs)
	{
		sort_by_jobs(parts);
		return !parts->sort.failed;
	}
	sort_parts(parts);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	run_last.kernel_ms = parts->by_strings ? parts->sort.work.ms : INSTR_TIME_GET_MILLISEC(end);
	run_last.marshal_ms = INSTR_TIME_GET_MILLISEC(end) - run_last.kernel_ms;
	return !parts->sort.failed;
}

static bool
open_elements(order_parts *parts, const array_source *keys, const element_type *type)
{
	element_codes *strings = &parts->sort.codes;

	parts->elements = parts->by_strings ? strings : &parts->compared.elements;
	if (!parts->by_strings)
		return compared_sort_open(&parts->compared, parts->spec, keys, type);
	if (!element_codes_open_bare(strings, keys, type, false))
		return false;
	/* threads make strings whole, in windows or not */
	if (strings->room_bytes > ELEMENT_MOST_ROOM_BYTES)
	{
		element_codes_close(strings);
		return false;
	}
	/* all bytes of a key are a string as well */
	if (type->key_kind == MGPU_KEY_BYTES)
		strings->strings = (byte_strings) {BYTE_FORM_BYTEA, NULL, true};
	return true;
}

bool
order_parts_apply(const sort_spec *spec, const element_type *key_type, bool by_strings)
{
	if (spec->segments || (key_type->stride == 0 && (key_type->typlen != -1 ||
													 (key_type->typalign != TYPALIGN_INT && key_type->typalign != TYPALIGN_DOUBLE))))
		return false;
	return !by_strings || key_type->key_kind == MGPU_KEY_BYTES || byte_source_applies(key_type, spec->collation);
}

bool
order_parts_sort(const sort_spec *spec, const array_source *keys, const element_type *key_type,
				 bool by_strings, pair_filler *filler)
{
	order_parts *parts;
	bool		done;

	if (keys->num_items == keys->num_nulls)
	{
		run_note_cpu(spec->function, "quick", 0, 0, "all keys are NULL");
		return true;
	}
	parts = palloc0(sizeof(*parts));
	parts->spec = spec;
	parts->filler = filler;
	parts->by_strings = by_strings;
	if (!open_elements(parts, keys, key_type))
	{
		pfree(parts);
		return false;
	}
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&parts->sort.work));
	{
		done = sort_elements(parts);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&parts->sort.work));
	thread_work_stop(0, PointerGetDatum(&parts->sort.work));
	element_codes_close(by_strings ? &parts->sort.codes : &parts->compared.elements);
	pfree(parts);
	return done;
}
