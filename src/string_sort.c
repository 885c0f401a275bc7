/*
 * string_sort.c
 *		Sorts large arrays of byte strings in the memory of their result.
 *
 * Codes, and all that belongs to them, take more than the elements themselves do
 * where these are short.  So they exist for a part of the strings at a time: parts
 * are cut by the order of codes (core/string_parts.h), sorted one after another
 * (byte_order.h) and written to the result, front to back.  Until its part's turn
 * comes an element is a reference of four bytes at the end of the result, and as
 * no element takes less, what is written never gets to what is still to be read.
 *
 * A part that is too large, since many strings are alike, is cut again by the
 * codes behind what its strings share.  Its references are moved aside for that,
 * to where the result has not been written yet.  Strings that are mostly empty
 * leave no room there; then it is memory of its own, given back before a part takes
 * any, and where that would be too much, references are listed from notes of where
 * elements begin (element_codes.h).  Sorting parts of the input and merging them was rejected: every merge
 * compares strings, and misses the cache for each.
 */
#include "postgres.h"

#include <stdatomic.h>

#include "miscadmin.h"
#include "storage/ipc.h"

#include "core/string_parts.h"

#include "compat.h"
#include "array_result.h"
#include "byte_order.h"
#include "element_codes.h"
#include "shared_prefix.h"
#include "string_sort.h"

/* Strings sorted at once, and what may be taken for it: 52 bytes each, executors' included. */
#define MOST_PART_ITEMS (1024 * 1024)
#define PART_BYTES (56 * 1024 * 1024)
#define PART_ITEM_BYTES 52

/* Longer elements whose strings must be made are left to the other way. */
#define MOST_MADE_BYTES 64

/* What references take aside, and the parts that they go to. */
#define MOST_ASIDE_BYTES ((Size) 56 * 1024 * 1024)

/* Cuts of cuts, of strings that share more and more. */
#define MOST_DEPTH 32

#define TASK_ITEMS (16 * 1024)
#define THREADS_MIN_TASKS 8

/* How many elements ahead to fetch. */
#define ELEMENTS_AHEAD 16

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct string_sort
{
	const sort_spec *spec;
	const array_source *source;
	const element_type *type;
	const char *data;			/* the source's elements */
	Size		data_bytes;		/* of the source, and of the result */
	byte_strings strings;
	Size		made_bytes;		/* room for a string that is made; 0: they lie in data */
	int64		num_items;		/* that are not NULL */
	int64		part_items;		/* sorted at once */
	char	   *dest;			/* the result's data */
	Size		written;
	uint32	   *refs;			/* at the end of dest: where elements begin, over MGPU_REF_BYTES */
	byte_order_call call;
	_Atomic bool failed;		/* some value makes no string */

	/* of a part; NULL while there is no room for one */
	uint32	   *part_refs;
	uint32	   *ranks;
	mgpu_span  *spans;
	uint64	   *codes;
	char	   *arena;			/* made_bytes for each string */
} string_sort;

/* Some references, and what their strings share. */
typedef struct string_range
{
	string_sort *sort;
	const uint32 *refs;			/* NULL: of all, listed from notes */
	element_codes *notes;
	int64		num_items;
	uint32		offset;			/* bytes that all are known to begin with */
	shared_prefix prefix;
} string_range;

static uint32
element_bytes(const char *element)
{
	return element_refs(element) * MGPU_REF_BYTES;
}

static inline const char *
string_at(const string_sort *sort, uint32 ref)
{
	return sort->data + (Size) ref * MGPU_REF_BYTES;
}

static uint64
num_tasks(int64 num_items)
{
	return (num_items + TASK_ITEMS - 1) / TASK_ITEMS;
}

static void
run_tasks(string_sort *sort, mgpu_task_function function, void *context, uint64 num_tasks)
{
	thread_work_run(&sort->call.work, function, context, num_tasks, THREADS_MIN_TASKS);
}

/*
 * References to all elements that are there, in their order.  False: one is not
 * as arrays have them, or too long for this.
 */
static bool
find_elements(string_sort *sort, uint32 *refs)
{
	Size		offset = 0;
	uint32		longest = 0;

	for (int64 i = 0; i < sort->num_items; i++)
	{
		const char *element = sort->data + offset;

		if (offset + VARHDRSZ > sort->data_bytes || !VARATT_IS_4B_U(element) ||
			VARSIZE(element) < VARHDRSZ || VARSIZE(element) > sort->data_bytes - offset)
			return false;
		longest = Max(longest, VARSIZE(element));
		refs[i] = offset / MGPU_REF_BYTES;
		offset += element_bytes(element);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (sort->strings.encode)
		sort->made_bytes = BYTE_ENCODE_ROOM((Size) INTALIGN(longest));
	return offset <= sort->data_bytes && (sort->strings.encode == NULL || longest <= MOST_MADE_BYTES);
}

/* ---- codes */

static inline uint64
code_of(const string_range *range, byte_string string, const char *room_end)
{
	string_sort *sort = range->sort;
	mgpu_byte_keys keys = {string.bytes, room_end, NULL, sort->strings.counted, false};

	if (unlikely(string.size == 0 && sort->strings.encode))
		sort->failed = true;
	return mgpu_byte_code(&keys, (mgpu_span) {0, string.size}, range->offset);
}

static void
codes_of(const void *context, const uint32 *refs, uint32 num_refs, uint64 *codes)
{
	const string_range *range = context;
	const string_sort *sort = range->sort;
	char		room[BYTE_ENCODE_ROOM(MOST_MADE_BYTES)];
	const char *room_end = sort->strings.encode ? room + sizeof(room) : sort->data + sort->data_bytes;

	for (uint32 i = 0; i < num_refs; i++)
		codes[i] = code_of(range, byte_string_of(&sort->strings, string_at(sort, refs[i]), room), room_end);
}

static void
refs_of(const void *context, uint64 begin, uint32 num_refs, uint32 *refs)
{
	const string_range *range = context;

	if (range->refs == NULL)
		element_codes_refs(range->notes, begin, num_refs, refs);
	else
		memcpy(refs, range->refs + begin, num_refs * sizeof(uint32));
}

static byte_string
first_string(const string_range *range)
{
	const string_sort *sort = range->sort;
	uint32		ref;

	refs_of(range, 0, 1, &ref);
	return byte_string_of(&sort->strings, string_at(sort, ref), NULL);
}

/* Of a block's strings.  False: no more is to be learnt. */
static bool
measure_block(prefix_measure *measure, const string_sort *sort, const uint32 *refs, int num_refs)
{
	for (int i = 0; i < num_refs; i++)
	{
		if (i + ELEMENTS_AHEAD < num_refs)
			__builtin_prefetch(string_at(sort, refs[i + ELEMENTS_AHEAD]));
		if (!prefix_measure_string(measure, byte_string_of(&sort->strings, string_at(sort, refs[i]), NULL)))
			return false;
	}
	return true;
}

static void
measure_task(void *context, uint64 task, int worker)
{
	string_range *range = context;
	const string_sort *sort = range->sort;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, range->num_items);
	prefix_measure measure = shared_prefix_begin(&range->prefix, first_string(range), range->offset);
	uint32		listed[MGPU_PARTS_BLOCK_ITEMS];

	for (int64 i = task * TASK_ITEMS; i < end; i += MGPU_PARTS_BLOCK_ITEMS)
	{
		int			num_refs = Min(MGPU_PARTS_BLOCK_ITEMS, end - i);

		if (range->refs == NULL)
			refs_of(range, i, num_refs, listed);
		if (!measure_block(&measure, sort, range->refs ? range->refs + i : listed, num_refs))
			break;
	}
	shared_prefix_note(&range->prefix, &measure);
}

/* Moves offset on to what the strings of a range do not share.  False: they are all the same. */
static bool
skip_shared(string_range *range)
{
	string_sort *sort = range->sort;

	if (sort->strings.encode)
		return true;
	shared_prefix_init(&range->prefix, first_string(range).size);
	run_tasks(sort, measure_task, range, num_tasks(range->num_items));
	range->offset = Max(range->offset, range->prefix.shared);
	return !shared_prefix_is_all(&range->prefix);
}

/* ---- parts that are not cut any more */

static void
make_room(string_sort *sort, int64 num_items)
{
	if (sort->part_refs)
		return;
	sort->part_refs = array_result_scratch(num_items * sizeof(uint32));
	sort->ranks = array_result_scratch(num_items * sizeof(uint32));
	sort->spans = array_result_scratch(num_items * sizeof(mgpu_span));
	sort->codes = array_result_scratch(num_items * sizeof(uint64));
	if (sort->strings.encode)
		sort->arena = array_result_scratch(num_items * sort->made_bytes);
}

static void
free_room(string_sort *sort)
{
	if (sort->part_refs == NULL)
		return;
	pfree(sort->part_refs);
	pfree(sort->ranks);
	pfree(sort->spans);
	pfree(sort->codes);
	if (sort->arena)
		pfree(sort->arena);
	sort->part_refs = NULL;
	sort->arena = NULL;
}

/* Where the strings of a part are, and their codes. */
static void
strings_task(void *context, uint64 task, int worker)
{
	const string_range *part = context;
	const string_sort *sort = part->sort;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, part->num_items);
	const char *begin = sort->arena ? sort->arena : sort->data;
	const char *data_end = sort->data + sort->data_bytes;

	for (int64 i = task * TASK_ITEMS; i < end; i++)
	{
		char	   *room = sort->arena ? sort->arena + i * sort->made_bytes : NULL;
		byte_string string;

		if (i + ELEMENTS_AHEAD < end)
			__builtin_prefetch(string_at(sort, part->refs[i + ELEMENTS_AHEAD]));
		string = byte_string_of(&sort->strings, string_at(sort, part->refs[i]), room);
		sort->spans[i] = (mgpu_span) {string.bytes - begin, string.size};
		sort->codes[i] = code_of(part, string, room ? room + sort->made_bytes : data_end);
	}
}

/* Elements of part_refs, by ranks, are the next of the result. */
static void
write_part(string_sort *sort, int64 num_items)
{
	mgpu_gather gather;
	uint64		tasks;

	memset(&gather, 0, sizeof(gather));
	gather.data = sort->data;
	gather.refs = sort->part_refs;
	gather.bytes_of = element_bytes;
	gather.positions = sort->ranks;
	gather.num_items = num_items;
	gather.dest = sort->dest + sort->written;
	gather.task_items = mgpu_gather_task_items(sort->num_items, sort->data_bytes);
	tasks = mgpu_gather_tasks(&gather);
	gather.ends = palloc0(tasks * sizeof(*gather.ends));
	run_tasks(sort, mgpu_gather_task, &gather, tasks);
	sort->written += gather.ends[tasks - 1] - 1;
	pfree((void *) gather.ends);
}

/* References first to first + num_items, at most what there is room for, to strings that share offset bytes. */
static void
sort_part(string_sort *sort, int64 first, int64 num_items, uint32 offset)
{
	string_range part = {.sort = sort,.refs = sort->part_refs,.num_items = num_items,.offset = offset};
	byte_codes	codes = {sort->codes, offset};
	byte_source bytes;

	memcpy(sort->part_refs, sort->refs + first, num_items * sizeof(uint32));
	run_tasks(sort, strings_task, &part, num_tasks(num_items));
	bytes.keys.data = sort->strings.encode ? sort->arena : sort->data;
	bytes.keys.data_end = bytes.keys.data + (sort->strings.encode ? num_items * sort->made_bytes : sort->data_bytes);
	bytes.keys.spans = bytes.spans = sort->spans;
	bytes.keys.counted = sort->strings.counted;
	bytes.keys.descending = false;
	bytes.arena = NULL;
	byte_order_part(&sort->call, sort->spec, NULL, &bytes, &codes, num_items, sort->ranks);
	write_part(sort, num_items);
}

/* Strings that are all the same, in their order. */
static void
write_same(string_sort *sort, int64 first, int64 num_items)
{
	while (num_items > 0)
	{
		int64		step = Min(num_items, sort->part_items);

		memcpy(sort->part_refs, sort->refs + first, step * sizeof(uint32));
		for (int64 i = 0; i < step; i++)
			sort->ranks[i] = i;
		write_part(sort, step);
		first += step;
		num_items -= step;
	}
}

/* More than there should be, alike in so much that cutting them does not end. */
static void
sort_many(string_sort *sort, int64 first, int64 num_items, uint32 offset)
{
	free_room(sort);
	make_room(sort, num_items);
	sort_part(sort, first, num_items, offset);
	free_room(sort);
}

/* ---- cuts */

static void sort_range(string_sort *sort, int64 first, int64 num_items, uint32 offset, int depth);

/*
 * What has been cut, from reference first on: as many whole parts as may be sorted
 * at once, and so on.
 */
static void
sort_parts(string_sort *sort, const mgpu_string_parts *parts, int64 first, uint32 offset, int depth)
{
	uint32		num_parts = mgpu_num_parts(parts);
	uint32		step = sort->strings.counted ? MGPU_CODE_BYTES - 1 : MGPU_CODE_BYTES;
	mgpu_byte_keys keys = {.counted = sort->strings.counted};

	for (uint32 begin = 0, end; begin < num_parts; begin = end)
	{
		int64		place = parts->begins[begin];
		int64		num_items;
		uint64		code;

		for (end = begin + 1; end < num_parts && parts->begins[end + 1] - place <= sort->part_items;)
			end++;
		num_items = parts->begins[end] - place;
		if (num_items == 0)
			continue;
		make_room(sort, sort->part_items);
		if (num_items <= sort->part_items)
			sort_part(sort, first + place, num_items, offset);
		else if (!mgpu_part_code(parts, begin, &code))
			sort_range(sort, first + place, num_items, offset, depth + 1);
		else if (mgpu_code_decides(&keys, code))
			write_same(sort, first + place, num_items);
		else
			sort_range(sort, first + place, num_items, offset + step, depth + 1);
	}
}

/*
 * Cut a range whose references go to sort->refs from first on; they are not there
 * now.  part_of has a byte for each, or is NULL.  aside is NULL or memory of both,
 * freed as soon as it can be, and so are notes.
 */
static void
cut_range(string_range *range, int64 first, uint8 *part_of, char *aside, int depth)
{
	string_sort *sort = range->sort;
	mgpu_string_parts *parts = palloc0(sizeof(*parts));
	Size		counts_bytes;

	parts->codes_of = codes_of;
	parts->context = range;
	parts->refs_of = refs_of;
	parts->num_items = range->num_items;
	parts->descending = sort->spec->order.descending;
	parts->parts = part_of;
	parts->out = sort->refs + first;
	counts_bytes = mgpu_part_tasks(parts) * sizeof(*parts->counts);
	parts->counts = palloc0(counts_bytes);
	mgpu_parts_choose(parts, range->num_items * 4 / sort->part_items);
	run_tasks(sort, mgpu_parts_classify_task, parts, mgpu_part_tasks(parts));
	mgpu_parts_place(parts);
	run_tasks(sort, mgpu_parts_scatter_task, parts, mgpu_part_tasks(parts));
	pfree(parts->counts);
	if (aside)
		pfree(aside);
	if (range->notes)
		element_codes_close(range->notes);
	if (!sort->failed)
		sort_parts(sort, parts, first, range->offset, depth);
	pfree(parts);
}

/* References first to first + num_items, which are too many for a part. */
static void
sort_range(string_sort *sort, int64 first, int64 num_items, uint32 offset, int depth)
{
	string_range range = {.sort = sort,.refs = sort->refs + first,.num_items = num_items,.offset = offset};
	char	   *gap = (char *) TYPEALIGN(sizeof(uint32), sort->dest + sort->written);
	Size		ref_bytes = num_items * sizeof(uint32);
	char	   *aside = NULL;

	check_stack_depth();
	if (!skip_shared(&range))
	{
		make_room(sort, sort->part_items);
		write_same(sort, first, num_items);
		return;
	}
	if (depth == MOST_DEPTH)
	{
		sort_many(sort, first, num_items, range.offset);
		return;
	}
	/* elements are mostly of eight bytes or more, of which references take four */
	if (gap + ref_bytes + num_items > (char *) range.refs)
	{
		free_room(sort);
		gap = aside = array_result_scratch(ref_bytes + num_items);
	}
	range.refs = memcpy(gap, range.refs, ref_bytes);
	cut_range(&range, first, (uint8 *) gap + ref_bytes, aside, depth);
}

/*
 * References wait in the front of the result until they are cut, what parts they
 * go to behind them, or aside, as far as there is no room.  False: they would take
 * too much there.
 */
static bool
find_room(string_sort *sort, string_range *all, uint8 **part_of, char **aside)
{
	Size		ref_bytes = sort->num_items * sizeof(uint32);

	all->refs = (uint32 *) sort->dest;
	*part_of = (uint8 *) sort->dest + ref_bytes;
	*aside = NULL;
	if (*part_of + sort->num_items <= (uint8 *) sort->refs)
		return true;
	if (*part_of <= (uint8 *) sort->refs)
	{
		*aside = (Size) sort->num_items <= MOST_ASIDE_BYTES ? array_result_scratch(sort->num_items) : NULL;
		*part_of = (uint8 *) *aside;
		return true;
	}
	if (ref_bytes + sort->num_items > MOST_ASIDE_BYTES)
		return false;
	*aside = array_result_scratch(ref_bytes + sort->num_items);
	all->refs = (uint32 *) *aside;
	*part_of = (uint8 *) *aside + ref_bytes;
	return true;
}

/* The same by notes, with what parts references go to if that is not too much.  False: this is not the way. */
static bool
take_notes(string_sort *sort, string_range *all, element_codes *notes, uint8 **part_of, char **aside)
{
	element_range range = {0, sort->data_bytes, sort->num_items};

	if (!element_codes_open(notes, sort->source, sort->type, false, &range))
		return false;
	all->refs = NULL;
	all->notes = notes;
	sort->made_bytes = notes->room_bytes;
	*aside = NULL;
	if (element_codes_bytes(notes) + sort->num_items <= MOST_ASIDE_BYTES)
		*aside = array_result_scratch(sort->num_items);
	*part_of = (uint8 *) *aside;
	return notes->room_bytes <= BYTE_ENCODE_ROOM(MOST_MADE_BYTES);
}

static void
free_found(string_range *all, char *aside)
{
	if (aside)
		pfree(aside);
	if (all->notes)
		element_codes_close(all->notes);
}

/* All strings are the same. */
static void
write_all(string_sort *sort, string_range *all, char *aside)
{
	for (int64 i = 0; i < sort->num_items; i += MGPU_PARTS_BLOCK_ITEMS)
	{
		refs_of(all, i, Min(MGPU_PARTS_BLOCK_ITEMS, sort->num_items - i), sort->refs + i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	free_found(all, aside);
	make_room(sort, sort->part_items);
	write_same(sort, 0, sort->num_items);
}

/* False: this is not the way for these elements. */
static bool
sort_all(string_sort *sort)
{
	Size		ref_bytes = sort->num_items * sizeof(uint32);
	string_range all = {.sort = sort,.num_items = sort->num_items};
	element_codes notes;
	uint8	   *part_of;
	char	   *aside;
	bool		found;

	if (ref_bytes > sort->data_bytes)
		return false;
	sort->refs = (uint32 *) (sort->dest + TYPEALIGN_DOWN(MGPU_REF_BYTES, sort->data_bytes) - ref_bytes);
	if (find_room(sort, &all, &part_of, &aside))
		found = find_elements(sort, (uint32 *) all.refs);
	else
		found = take_notes(sort, &all, &notes, &part_of, &aside);
	sort->part_items = Min(MOST_PART_ITEMS, PART_BYTES / (PART_ITEM_BYTES + sort->made_bytes));
	if (!found || sort->num_items <= sort->part_items)
	{
		free_found(&all, aside);
		return false;
	}
	if (skip_shared(&all))
		cut_range(&all, 0, part_of, aside, 0);
	else
		write_all(sort, &all, aside);
	free_room(sort);
	return !sort->failed;
}

static bool
applies(const sort_spec *spec, const array_source *source, const element_type *type)
{
	int64		num_items = source->num_items - source->num_nulls;

	/* fewer take no more than a call may have, those that must be made included */
	if (num_items <= (byte_form_is_made(type->byte_form) ? MOST_PART_ITEMS / 2 : MOST_PART_ITEMS))
		return false;
	return type->typlen == -1 && type->typalign == TYPALIGN_INT && spec->op == MGPU_OP_SORT && spec->segments == NULL &&
		byte_source_applies(type, spec->collation);
}

ArrayType *
string_sorted_array(const sort_spec *spec, array_source *source, const element_type *type)
{
	string_sort sort;
	ArrayType  *result;
	bool		done;

	if (!applies(spec, source, type))
		return NULL;
	memset(&sort, 0, sizeof(sort));
	array_source_load(source);
	sort.spec = spec;
	sort.source = source;
	sort.type = type;
	sort.data = array_source_data(source);
	sort.data_bytes = source->data_bytes;
	sort.num_items = source->num_items - source->num_nulls;
	byte_strings_init(&sort.strings, type);
	result = array_result_create(source->element_type, source->lower_bounds[0], source->num_items,
								 source->num_nulls, spec->order.nulls_first, sort.data_bytes);
	sort.dest = ARR_DATA_PTR(result);
	byte_order_start(&sort.call, spec, 0, sort.num_items, sort.data_bytes);
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.call.work));
	{
		done = sort_all(&sort);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.call.work));
	thread_work_stop(0, PointerGetDatum(&sort.call.work));
	byte_order_end(&sort.call);
	if (done)
		return result;
	pfree(result);
	return NULL;
}
