/*
 * position_cut.c
 *		Cuts elements into runs by the order of their codes.
 *
 * Codes are made in a walk over the elements, and not kept; bounds come from a
 * sample (core/string_parts.h).  A run that is cut again is in the order of the
 * input, so that its references are a list, or a bit each where that is too long,
 * while they are put in another order.  Codes of strings begin behind what all of
 * them share; strings that are made are asked for that where their first codes are
 * alike.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/string_parts.h"

#include "array_result.h"
#include "position_run.h"
#include "ref_set.h"
#include "shared_prefix.h"

/* References of a range that are copied before it is cut take no more; a bit each is slower. */
#define MOST_LIST_BYTES (16 * 1024 * 1024)

/* Bytes of long strings that a task makes, about, to see what they share. */
#define MEASURED_BYTES (4 * 1024 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Elements that are to be cut into parts: all, those of a list or those of a set. */
typedef struct position_range
{
	position_sort *sort;
	int64		num_items;
	uint32		offset;			/* bytes that all strings are known to begin with */
	uint32	   *list;
	ref_set		set;

	/* what its strings share */
	shared_prefix prefix;
	byte_string first;
	int64		measured_items; /* by a task */
} position_range;

static void
refs_of(const void *context, uint64 begin, uint32 num_refs, uint32 *refs)
{
	const position_range *range = context;

	if (range->list)
		memcpy(refs, range->list + begin, num_refs * sizeof(uint32));
	else if (range->set.words)
		ref_set_list(&range->set, begin, num_refs, refs);
	else
		element_codes_refs(&range->sort->codes, begin, num_refs, refs);
}

static void
codes_of_keys(position_sort *sort, const uint32 *refs, uint32 num_refs, uint64 *codes)
{
	bool		fit = true;

	for (uint32 i = 0; i < num_refs; i++)
		fit &= element_key(&sort->codes, refs[i], &codes[i]);
	if (!fit)
		sort->failed = true;
}

/* Room for strings that are made is the thread's own. */
static void
codes_of_strings(position_sort *sort, uint32 offset, const uint32 *refs, uint32 num_refs, uint64 *codes, char *room)
{
	bool		fit = true;

	for (uint32 i = 0; i < num_refs; i++)
	{
		byte_string string;

		codes[i] = element_code_behind(&sort->codes, refs[i], offset, room, &string);
		fit &= room == NULL || string.size > 0;
	}
	if (!fit)
		sort->failed = true;
}

static void
codes_of(const void *context, const uint32 *refs, uint32 num_refs, uint64 *codes)
{
	const position_range *range = context;
	position_sort *sort = range->sort;
	char		room[ELEMENT_MOST_ROOM_BYTES];

	if (sort->codes.by_keys)
		codes_of_keys(sort, refs, num_refs, codes);
	else
		codes_of_strings(sort, range->offset, refs, num_refs, codes, sort->codes.room_bytes > 0 ? room : NULL);
}

/* ---- what strings share */

static void
measure_task(void *context, uint64 task, int worker)
{
	position_range *range = context;
	const element_codes *codes = &range->sort->codes;
	int64		begin = task * range->measured_items;
	uint32		num_refs = Min(range->measured_items, range->num_items - begin);
	uint32		refs[MGPU_PARTS_BLOCK_ITEMS];
	char		room[ELEMENT_MOST_ROOM_BYTES];
	prefix_measure measure;

	if (range->prefix.shared <= range->offset && !shared_prefix_is_all(&range->prefix))
		return;
	measure = shared_prefix_begin(&range->prefix, range->first, range->offset);
	refs_of(range, begin, num_refs, refs);
	for (uint32 i = 0; i < num_refs; i++)
		if (!prefix_measure_string(&measure, element_string(codes, refs[i], room)))
			break;
	shared_prefix_note(&range->prefix, &measure);
}

/* Moves offset on to what the strings of a range do not share.  False: they are all the same. */
static bool
skip_shared(position_range *range)
{
	const element_codes *codes = &range->sort->codes;
	bool		made = codes->room_bytes > 0;
	char	   *room = NULL;
	uint32		first_ref;

	if (codes->by_keys || codes->in_windows || (made && range->offset == 0))
		return true;
	if (made)
		room = palloc(codes->room_bytes);
	refs_of(range, 0, 1, &first_ref);
	range->first = element_string(codes, first_ref, room);
	range->measured_items = Min(MGPU_PARTS_BLOCK_ITEMS, MEASURED_BYTES / (position_made_bytes(codes) + 1));
	shared_prefix_init(&range->prefix, range->first.size);
	position_sort_tasks(range->sort, measure_task, range,
						(range->num_items + range->measured_items - 1) / range->measured_items);
	if (room)
		pfree(room);
	range->offset = Max(range->offset, range->prefix.shared);
	return !shared_prefix_is_all(&range->prefix);
}

/* ---- cuts */

/* Elements that are in order, as runs that a thread ends in time. */
static void
add_same(position_sort *sort, int64 first, int64 num_items)
{
	for (int64 step; num_items > 0; num_items -= step, first += step)
	{
		step = Min(num_items, sort->run_items);
		position_sort_next(sort, (position_run) {first, step, 0, POSITION_RUN_SAME});
	}
}

/* What has been cut, from reference first on. */
static void
add_parts(position_sort *sort, const mgpu_string_parts *parts, int64 first, uint32 offset)
{
	mgpu_byte_keys keys = {.counted = sort->codes.strings.counted};

	for (uint32 i = 0; i < mgpu_num_parts(parts); i++)
	{
		int64		begin = first + parts->begins[i];
		int64		num_items = parts->begins[i + 1] - parts->begins[i];
		uint64		code;

		if (num_items == 0)
			continue;
		if (!mgpu_part_code(parts, i, &code))
			position_sort_next(sort, (position_run) {begin, num_items, offset, POSITION_RUN_MIXED});
		else if (sort->codes.by_keys || mgpu_code_decides(&keys, code))
			add_same(sort, begin, num_items);
		else
			position_sort_next(sort, (position_run) {begin, num_items, offset + mgpu_code_step(&keys), POSITION_RUN_ALIKE});
	}
}

/* References of a range to refs from first on, by parts. */
static void
cut(position_range *range, int64 first)
{
	position_sort *sort = range->sort;
	int64		planned = Max(range->num_items / POSITION_PLANNED_RUN_ITEMS, 2 * range->num_items / sort->run_items) + 1;
	mgpu_string_parts *parts = palloc0(sizeof(*parts));
	Size		taken = element_codes_bytes(&sort->codes);

	if (range->set.words)
		taken += ref_set_bytes(range->num_items, sort->codes.data_bytes / MGPU_REF_BYTES);
	else if (range->list)
		taken += range->num_items * sizeof(uint32);
	parts->codes_of = codes_of;
	parts->refs_of = refs_of;
	parts->context = range;
	parts->num_items = range->num_items;
	parts->item_bytes = position_made_bytes(&sort->codes);
	parts->descending = sort->descending;
	if (taken + range->num_items + sort->num_kept * sizeof(uint32) <= POSITION_CALL_BYTES)
		parts->parts = array_result_scratch(range->num_items);
	parts->out = sort->refs + first;
	if (range->list == NULL && range->set.words == NULL)
	{
		parts->out_items = sort->kept;
		parts->num_out_items = sort->num_kept;
	}
	parts->counts = palloc0(mgpu_part_tasks(parts) * sizeof(*parts->counts));
	mgpu_parts_choose(parts, planned);
	position_sort_tasks(sort, mgpu_parts_classify_task, parts, mgpu_part_tasks(parts));
	mgpu_parts_place(parts);
	position_sort_tasks(sort, mgpu_parts_scatter_task, parts, mgpu_part_tasks(parts));
	add_parts(sort, parts, first, range->offset);
	pfree(parts->counts);
	if (parts->parts)
		pfree(parts->parts);
	pfree(parts);
}

/* What a run's references are, so that they can be put in another order. */
static void
keep_refs(position_range *range, const uint32 *refs)
{
	if (range->num_items * sizeof(uint32) <= MOST_LIST_BYTES)
	{
		range->list = array_result_scratch(range->num_items * sizeof(uint32));
		memcpy(range->list, refs, range->num_items * sizeof(uint32));
		return;
	}
	ref_set_start(&range->set, range->num_items, refs[range->num_items - 1]);
	for (int64 i = 0; i < range->num_items; i++)
	{
		ref_set_add(&range->set, i, refs[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
position_cut_run(position_sort *sort, const position_run *run)
{
	position_range range = {.sort = sort, .num_items = run->num_items, .offset = run->offset};

	keep_refs(&range, sort->refs + run->first);
	if (run->kind == POSITION_RUN_MIXED || skip_shared(&range))
		cut(&range, run->first);
	else
		add_same(sort, run->first, run->num_items);
	if (range.list)
		pfree(range.list);
	else
		ref_set_free(&range.set);
}

/* References of all, in their order. */
static void
list_all(position_sort *sort)
{
	for (int64 i = 0; i < sort->codes.num_items; i += STEP_ITEMS)
	{
		element_codes_refs(&sort->codes, i, Min(STEP_ITEMS, sort->codes.num_items - i), sort->refs + i);
		CHECK_FOR_INTERRUPTS();
	}
}

void
position_cut_all(position_sort *sort)
{
	position_range range = {.sort = sort, .num_items = sort->codes.num_items};

	if (skip_shared(&range))
	{
		cut(&range, 0);
		return;
	}
	list_all(sort);
	add_same(sort, 0, range.num_items);
}
