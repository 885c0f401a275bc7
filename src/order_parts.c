/*
 * order_parts.c
 *		Sorts pairs by strings, or by keys that are compared, a part of the order at a time.
 *
 * Positions of all elements are what narrow values have no room for.  So elements are
 * cut into parts by their order (order_cut.h), and for one part at a time references
 * are listed, sorted in place as those of all are elsewhere (position_run.h,
 * position_parts.h, compared_codes.h), and become positions, at which pairs are the next
 * of the result.
 *
 * References of a part ascend before they are sorted.  They stay there in a list beside
 * the positions of the same elements, where a reference is found again by what it begins
 * with.  What tells all references' positions (element_codes.h) takes a 24th of what
 * strings do, which is as much as a call may take.
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
#include "position_parts.h"
#include "position_sort.h"
#include "settings.h"

/* What may be taken beside input and result. */
#define CALL_BYTES ((Size) 54 * 1024 * 1024)

/* Of it, what threads take to sort strings, or less where there is less. */
#define SCRATCH_BYTES ((Size) 12 * 1024 * 1024)

/* Elements of a part, which are planned to be some fewer. */
#define MOST_PART_ITEMS (4 * 1024 * 1024)
#define LEAST_PART_ITEMS (64 * 1024)
#define TEST_PART_ITEMS 2048
#define PLANNED(part_items) ((part_items) / 5 * 4)

/* What the sort of a part takes of each string: a list and the parts that it is cut into. */
#define STRING_ITEM_BYTES (sizeof(uint32) + sizeof(uint8))

/* References that one of the index stands for, on the average. */
#define INDEX_STEP 4

#define TASK_ITEMS (16 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct order_parts
{
	const sort_spec *spec;
	pair_filler *filler;
	const element_codes *elements;
	bool		by_strings;
	bool		by_jobs;
	order_cut	cut;
	position_sort sort;			/* of strings; its threads do what else there is */
	position_jobs jobs;			/* of strings, if by_jobs */
	compared_sort compared;		/* if not by_strings */
	Size		item_bytes;		/* of a part's element */
	int64		part_items;		/* a part's, at most but for a bad sample */

	/* of a part: room for room_items */
	int64		room_items;
	int64		num_items;
	uint32	   *refs;
	uint32	   *listed;			/* refs as they were, or NULL where they are numbers of elements */
	uint32	   *positions;		/* likewise; and their positions */
	uint32	   *index;			/* likewise; the first of listed at or behind each (base + i << shift) */
	int			shift;
} order_parts;

/* ---- sizes */

static bool
has_index(const order_parts *parts)
{
	return parts->elements->begins != NULL;
}

/* What an element of a part takes, beside threads' scratch. */
static Size
part_item_bytes(const order_parts *parts)
{
	Size		bytes = sizeof(uint32);

	if (has_index(parts))
		bytes += 2 * sizeof(uint32) + sizeof(uint32) / INDEX_STEP;
	if (parts->by_jobs)
		return bytes + POSITION_JOBS_ITEM_BYTES(parts->elements);
	if (parts->by_strings)
		return bytes + STRING_ITEM_BYTES;
	return parts->compared.has_codes ? bytes + COMPARED_REFS_ITEM_BYTES : bytes;
}

static int64
num_parts(const order_parts *parts, int64 part_items)
{
	return parts->elements->num_items / PLANNED(part_items) + 1;
}

/* Walks over all elements with notes of so many bits. */
static int64
num_walks(const order_parts *parts, int64 part_items, int note_bits)
{
	return (num_parts(parts, part_items) + ORDER_NOTED_PARTS(note_bits) - 1) / ORDER_NOTED_PARTS(note_bits);
}

/*
 * Sets part_items; returns the bits of notes by which walks are fewest, and then parts are.
 * A part of the least size may be more than there is room for: strings of a job that do
 * not fit are cut again, and of the others it takes a MB or two.
 */
static int
share_room(order_parts *parts, Size room)
{
	int			best = 1;

	parts->part_items = LEAST_PART_ITEMS;
	for (int bits = ORDER_MOST_NOTE_BITS; bits > 0; bits /= 2)
	{
		Size		taken = order_cut_note_bytes(parts->elements->num_items, bits);
		int64		part_items;
		int64		walks;
		int64		best_walks = num_walks(parts, parts->part_items, best);

		if (taken >= room)
			continue;
		part_items = Max(Min((room - taken) / parts->item_bytes, MOST_PART_ITEMS), LEAST_PART_ITEMS);
		walks = num_walks(parts, part_items, bits);
		if (walks < best_walks || (walks == best_walks && part_items > parts->part_items))
		{
			parts->part_items = part_items;
			best = bits;
		}
	}
	return best;
}

/* What is left of the bound; maybe nothing, of very many elements. */
static Size
room_left(const order_parts *parts)
{
	Size		taken = element_codes_bytes(parts->elements) + pair_filler_bytes(parts->filler);

	if (mgpu_setting_inject_fault == MGPU_FAULT_ROOM)
		return 0;
	return taken < CALL_BYTES ? CALL_BYTES - taken : 0;
}

/* Cuts elements so that all of it is within the bound, but for the least that it takes. */
static void
start_cut(order_parts *parts)
{
	bool		by_threads = parts->by_strings && !parts->by_jobs;
	Size		room = room_left(parts);
	Size		scratch = by_threads ? Min(SCRATCH_BYTES, room / 4) : 0;
	int			note_bits;

	parts->item_bytes = part_item_bytes(parts);
	if (by_threads)
		position_sort_share(&parts->sort, scratch);
	note_bits = share_room(parts, room - scratch);
	if (mgpu_setting_inject_fault == MGPU_FAULT_ROOM)
	{
		parts->part_items = TEST_PART_ITEMS;
		note_bits = 2;
	}
	order_cut_start(&parts->cut, Min(num_parts(parts, parts->part_items), parts->elements->num_items), note_bits);
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
	parts->index = array_result_scratch((num_items / INDEX_STEP + 2) * sizeof(uint32));
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
	while (span >> parts->shift > parts->num_items / INDEX_STEP)
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

/* The part's references, and what makes positions of them again. */
static void
list_part(order_parts *parts, int part)
{
	if (!has_index(parts))
	{
		order_cut_list(&parts->cut, part, parts->refs, NULL);
		return;
	}
	order_cut_list(&parts->cut, part, parts->listed, parts->positions);
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

static void
positions_task(void *context, uint64 task, int worker)
{
	order_parts *parts = context;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, parts->num_items);

	for (int64 i = task * TASK_ITEMS; i < end; i++)
		parts->refs[i] = has_index(parts) ? parts->positions[place_of(parts, parts->refs[i])] :
			pair_filler_position(parts->filler, parts->refs[i]);
}

/* ---- parts */

static void
sort_part(order_parts *parts, int part)
{
	int64		num_items = order_cut_items(&parts->cut, part);

	if (num_items == 0)
		return;
	make_room(parts, Max(num_items, Min(parts->part_items, parts->elements->num_items)));
	parts->num_items = num_items;
	list_part(parts, part);
	parts->sort.refs = parts->compared.refs = parts->refs;
	if (parts->by_jobs)
		position_jobs_refs(&parts->jobs, num_items);
	else if (parts->by_strings)
		position_sort_refs(&parts->sort, num_items);
	else
		compared_sort_refs(&parts->compared, num_items);
	if (parts->sort.failed)
		return;
	run_tasks(parts, positions_task);
	pair_filler_add(parts->filler, parts->refs, num_items);
}

static void
sort_parts(order_parts *parts)
{
	order_cut  *cut = &parts->cut;

	start_cut(parts);
	for (int first = 0; first < cut->num_parts && !parts->sort.failed; first = cut->end_part)
	{
		order_cut_note(cut, first);
		for (int part = first; part < cut->end_part && !parts->sort.failed; part++)
			sort_part(parts, part);
	}
	free_room(parts);
	order_cut_end(cut);
}

static void
sort_by_jobs(order_parts *parts)
{
	bool		had_job;

	parts->by_jobs = true;
	position_jobs_start(&parts->jobs, &parts->sort, parts->spec, room_left(parts));
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
	if (wants_jobs(parts))
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
