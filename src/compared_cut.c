/*
 * compared_cut.c
 *		Elements that are compared, in order by the codes that their type makes.
 *
 * Making a code takes longer than all else that is done with it, for text under
 * ICU's collations, and 8 bytes.  So codes are kept from the cut into parts
 * (core/string_parts.h) to the sort of a part: in what the result has of room, or in
 * memory of the call's own; where that is too little, as numbers of 32 bits that do
 * not contradict them (core/dense_codes.h), of as many elements as it has room for.
 * Codes of the others are made again.  What such numbers leave equal is sorted by
 * codes that are made again as well, and what those do by comparison.
 *
 * Only the server's own thread may make codes.  What follows is little beside that,
 * and is done by it too.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "core/order_codes.h"
#include "core/string_parts.h"

#include "compat.h"
#include "array_result.h"
#include "compared_codes.h"
#include "thread_work.h"

/* Elements of a part that is planned. */
#define PLANNED_PART_ITEMS (64 * 1024)

/* Codes from which numbers are learnt. */
#define SAMPLE_ITEMS 4096

/* Elements that share a number and are compared at once, rather than by codes that are made again. */
#define FEW_ITEMS 4

/* Cuts of cuts, */
#define MOST_DEPTH 8

/* for which a reference is copied, and the part noted that it goes to; room for a part of all elements. */
#define LIST_ITEM_BYTES (sizeof(uint32) + sizeof(uint8))
#define LIST_SHARE 12

/* How many elements ahead to fetch. */
#define ELEMENTS_AHEAD 32

/* Elements handled between looks at interrupts, and codes made. */
#define STEP_ITEMS (256 * 1024)
#define LOAD_STEP_ITEMS (64 * 1024)

/* Codes of the first elements from a position on. */
typedef struct kept_codes
{
	int64		begin;			/* the position */
	int64		num_items;		/* for which there is room */
	int64		num_noted;		/* that are there */
	uint64	   *codes;			/* NULL: numbers are kept instead */
	uint32	   *numbers;
	mgpu_dense_codes *dense;	/* NULL: no numbers */
	void	   *own;			/* NULL, or where they are, to be freed */
	uint8	   *parts;			/* NULL, or room for the part that each element is in */
} kept_codes;

/* Elements that are to be cut into parts: those of a list, or all from a position on. */
typedef struct code_range
{
	compared_sort *sort;
	kept_codes *kept;			/* NULL: codes are made */
	int64		begin;
	uint32	   *list;
	int64		num_items;
	uint8	   *parts;			/* NULL, or room for the part that each is in */
	bool		is_first;		/* codes have not been made yet, and are kept now */
} code_range;

/* ---- codes */

/* Whether the type, which is asked now and then, still says that codes pay. */
bool
compared_codes_pay(compared_sort *sort)
{
	if (sort->num_made >= sort->next_question)
	{
		while (sort->next_question <= sort->num_made)
			sort->next_question *= 2;
		if (sort->support.abbrev_abort(sort->num_made, &sort->support))
			sort->has_codes = false;
	}
	return sort->has_codes;
}

/* Of number i of those that are kept. */
static inline uint64
code_of(compared_sort *sort, kept_codes *kept, bool is_first, uint32 ref, int64 i)
{
	uint64		code;

	if (i < kept->num_noted)
		return kept->codes ? kept->codes[i] : kept->numbers[i];
	code = compared_code(sort, ref);
	if (kept->dense)
		code = mgpu_dense_code(kept->dense, code);
	if (is_first && i < kept->num_items)
	{
		if (kept->codes)
			kept->codes[i] = code;
		else
			kept->numbers[i] = (uint32) code;
	}
	return code;
}

static void
codes_of(const void *context, const uint32 *refs, uint32 num_refs, uint64 *codes)
{
	const code_range *range = context;
	compared_sort *sort = range->sort;
	kept_codes *kept = range->kept;

	for (uint32 i = 0; i < num_refs; i++)
		if (kept)
			codes[i] = code_of(sort, kept, range->is_first, refs[i],
							   element_position(&sort->elements, refs[i]) - kept->begin);
		else
			codes[i] = compared_code(sort, refs[i]);
}

static void
refs_of(const void *context, uint64 begin, uint32 num_refs, uint32 *refs)
{
	const code_range *range = context;

	if (range->list)
		memcpy(refs, range->list + begin, num_refs * sizeof(uint32));
	else
		element_codes_refs(&range->sort->elements, range->begin + begin, num_refs, refs);
}

/* ---- what is kept */

static void
learn_numbers(kept_codes *kept, compared_sort *sort, int64 num_items)
{
	uint32		positions[SAMPLE_ITEMS];
	uint64		codes[SAMPLE_ITEMS];

	mgpu_sample_positions(positions, SAMPLE_ITEMS, num_items);
	for (int i = 0; i < SAMPLE_ITEMS; i++)
	{
		element_codes_refs(&sort->elements, kept->begin + positions[i], 1, &positions[i]);
		codes[i] = compared_code(sort, positions[i]);
	}
	kept->dense = palloc(sizeof(*kept->dense));
	mgpu_dense_codes_learn(kept->dense, codes, SAMPLE_ITEMS, 32);
}

/*
 * In the result, if that has room for whole codes, or for numbers and the call has
 * no room for whole codes either; else in whichever has more.
 */
static void
choose_room(kept_codes *kept, compared_sort *sort, int64 num_items)
{
	Size		code_bytes = num_items * sizeof(uint64);
	Size		number_bytes = num_items * sizeof(uint32);
	char	   *spare = (char *) TYPEALIGN(sizeof(uint64), sort->spare.start);
	Size		spare_bytes = sort->spare.bytes > sizeof(uint64) ? sort->spare.bytes - sizeof(uint64) : 0;
	Size		lists = num_items / LIST_SHARE + COMPARED_PART_ITEMS * LIST_ITEM_BYTES;
	Size		own_bytes = sort->room > lists ? sort->room - lists : 0;
	Size		bytes = spare_bytes;

	if (spare_bytes < code_bytes && (own_bytes >= code_bytes || (spare_bytes < number_bytes && own_bytes > spare_bytes)))
	{
		/* what cannot be kept is made once more for each pass, but where parts are noted */
		if (own_bytes < number_bytes && own_bytes / 2 > (Size) num_items)
			own_bytes -= num_items;
		bytes = Min(own_bytes, own_bytes >= code_bytes ? code_bytes : number_bytes);
		kept->own = array_result_scratch(bytes);
		sort->room -= bytes;
	}
	if (bytes >= code_bytes)
		kept->codes = kept->own ? kept->own : (uint64 *) spare;
	else
		kept->numbers = kept->own ? kept->own : (uint32 *) spare;
	kept->num_items = Min(num_items, bytes / sizeof(uint32));
	if (kept->num_items < num_items && sort->room > lists + num_items)
	{
		kept->parts = array_result_scratch(num_items);
		sort->room -= num_items;
	}
}

static void
keep_codes(kept_codes *kept, compared_sort *sort, int64 begin, int64 num_items)
{
	Size		taken = element_codes_bytes(&sort->elements) + 2 * COMPARED_PART_BYTES +
		MGPU_MOST_PART_TASKS * MGPU_MOST_PARTS * sizeof(uint32) + sizeof(mgpu_string_parts);

	memset(kept, 0, sizeof(*kept));
	kept->begin = begin;
	sort->room = taken < COMPARED_CALL_BYTES ? COMPARED_CALL_BYTES - taken : 0;
	choose_room(kept, sort, num_items);
	if (kept->numbers)
		learn_numbers(kept, sort, num_items);
}

static void
forget_codes(kept_codes *kept)
{
	if (kept->own)
		pfree(kept->own);
	if (kept->dense)
		pfree(kept->dense);
	if (kept->parts)
		pfree(kept->parts);
}

/* ---- parts that are sorted */

static void sort_slice(compared_sort *sort, int64 first, int64 num_items, kept_codes *kept, int depth);

/* The way to a code that is kept misses the cache twice. */
static void
load_kept_codes(compared_sort *sort, kept_codes *kept, const uint32 *refs, uint32 num_items, uint64 *codes)
{
	const element_codes *elements = &sort->elements;

	for (uint32 i = 0; i < num_items; i++)
	{
		if (elements->lines && i + ELEMENTS_AHEAD < num_items)
			__builtin_prefetch(&elements->lines[refs[i + ELEMENTS_AHEAD] / ELEMENT_LINE_REFS]);
		codes[i] = element_position(elements, refs[i]) - kept->begin;
	}
	for (uint32 i = 0; i < num_items; i++)
	{
		if (i + ELEMENTS_AHEAD < num_items)
		{
			uint64		ahead = codes[i + ELEMENTS_AHEAD];

			if ((int64) ahead < kept->num_noted)
				__builtin_prefetch(kept->codes ? (void *) &kept->codes[ahead] : (void *) &kept->numbers[ahead]);
			else
				__builtin_prefetch(element_at(elements, refs[i + ELEMENTS_AHEAD]));
		}
		codes[i] = code_of(sort, kept, false, refs[i], codes[i]);
	}
}

static void
load_codes(compared_sort *sort, kept_codes *kept, const uint32 *refs, uint32 num_items, uint64 *codes)
{
	if (kept)
		load_kept_codes(sort, kept, refs, num_items, codes);
	for (uint32 i = 0; kept == NULL && i < num_items; i++)
	{
		if (i + ELEMENTS_AHEAD < num_items)
			__builtin_prefetch(element_at(&sort->elements, refs[i + ELEMENTS_AHEAD]));
		codes[i] = compared_code(sort, refs[i]);
		if (i % LOAD_STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	for (uint32 i = 0; sort->descending && i < num_items; i++)
		codes[i] = ~codes[i];
}

/* References that share a code, or a number. */
static void
sort_ties(compared_sort *sort, int64 first, int64 num_items, kept_codes *kept, int depth)
{
	if (kept && kept->dense && num_items > FEW_ITEMS)
		sort_slice(sort, first, num_items, NULL, depth + 1);
	else
		compared_sort_by_comparison(sort, first, num_items);
}

/* References to as many elements as are sorted at once, which ascend. */
static void
sort_part(compared_sort *sort, int64 first, uint32 num_items, kept_codes *kept, int depth)
{
	uint64		mask = mgpu_order_mask(num_items);
	uint64	   *codes = palloc(num_items * sizeof(uint64));
	uint64	   *packed = palloc(num_items * sizeof(uint64));
	uint32	   *refs = palloc(num_items * sizeof(uint32));
	uint32	   *out = sort->refs + first;

	memcpy(refs, out, num_items * sizeof(uint32));
	load_codes(sort, kept, refs, num_items, codes);
	mgpu_order_codes_u64(codes, packed, num_items);
	for (uint32 i = 0; i < num_items; i++)
		out[i] = refs[packed[i] & mask];
	for (uint32 begin = 0, end; begin < num_items; begin = end)
	{
		uint64		code = codes[packed[begin] & mask];

		/* equal codes have equal prefixes in what is packed */
		for (end = begin + 1; end < num_items && (packed[end] ^ packed[begin]) <= mask &&
			 codes[packed[end] & mask] == code;)
			end++;
		if (end - begin > 1)
			sort_ties(sort, first + begin, end - begin, kept, depth);
	}
	pfree(codes);
	pfree(packed);
	pfree(refs);
	CHECK_FOR_INTERRUPTS();
}

/* ---- cuts */

/* Tasks are run one after another: they may make codes.  False: codes have turned out not to pay. */
static bool
run_tasks(code_range *range, mgpu_task_function function, mgpu_string_parts *parts)
{
	for (uint64 task = 0; task < mgpu_part_tasks(parts); task++)
	{
		function(parts, task, 0);
		CHECK_FOR_INTERRUPTS();
		if (range->is_first && !compared_codes_pay(range->sort))
			return false;
	}
	return true;
}

static void
sort_parts(code_range *range, const mgpu_string_parts *parts, int64 first, int depth)
{
	for (uint32 i = 0; i < mgpu_num_parts(parts); i++)
	{
		int64		begin = first + parts->begins[i];
		int64		num_items = parts->begins[i + 1] - parts->begins[i];
		uint64		code;

		if (num_items < 2)
			continue;
		if (mgpu_part_code(parts, i, &code))
			sort_ties(range->sort, begin, num_items, range->kept, depth);
		else
			sort_slice(range->sort, begin, num_items, range->kept, depth + 1);
	}
}

/* A range in order, from reference first on.  False, and nothing there: codes do not pay. */
static bool
cut(code_range *range, int64 first, int depth)
{
	mgpu_string_parts *parts = palloc0(sizeof(*parts));
	bool		done;

	parts->codes_of = codes_of;
	parts->refs_of = refs_of;
	parts->context = range;
	parts->num_items = range->num_items;
	parts->descending = range->sort->descending;
	parts->parts = range->parts;
	parts->out = range->sort->refs + first;
	parts->counts = palloc0(mgpu_part_tasks(parts) * sizeof(*parts->counts));
	mgpu_parts_choose(parts, range->num_items / PLANNED_PART_ITEMS + 1);
	done = run_tasks(range, mgpu_parts_classify_task, parts);
	if (done)
	{
		if (range->is_first)
			range->kept->num_noted = range->kept->num_items;
		range->is_first = false;
		mgpu_parts_place(parts);
		run_tasks(range, mgpu_parts_scatter_task, parts);
	}
	pfree(parts->counts);
	if (range->list)
	{
		pfree(range->list);
		pfree(range->parts);
	}
	if (done)
		sort_parts(range, parts, first, depth);
	pfree(parts);
	return done;
}

/* References that ascend, to more elements than are sorted at once. */
static void
cut_slice(compared_sort *sort, int64 first, int64 num_items, kept_codes *kept, int depth)
{
	code_range	range = {.sort = sort,.kept = kept,.num_items = num_items};

	range.list = array_result_scratch(num_items * sizeof(uint32));
	range.parts = array_result_scratch(num_items);
	memcpy(range.list, sort->refs + first, num_items * sizeof(uint32));
	cut(&range, first, depth);
}

/* References that ascend, by codes that are kept or made. */
static void
sort_slice(compared_sort *sort, int64 first, int64 num_items, kept_codes *kept, int depth)
{
	check_stack_depth();
	if (num_items > FEW_ITEMS && num_items <= COMPARED_PART_ITEMS)
		sort_part(sort, first, num_items, kept, depth);
	else if (num_items > FEW_ITEMS && depth < MOST_DEPTH && num_items * LIST_ITEM_BYTES <= sort->room)
		cut_slice(sort, first, num_items, kept, depth);
	else
		compared_sort_by_comparison(sort, first, num_items);
}

void
compared_sort_refs(compared_sort *sort, int64 num_items)
{
	if (num_items >= COMPARED_LEAST_CODED_ITEMS && sort->has_codes)
		sort_part(sort, 0, num_items, NULL, 0);
	else
		compared_sort_by_comparison(sort, 0, num_items);
}

void
compared_list_refs(compared_sort *sort, int64 first, int64 num_items)
{
	for (int64 i = 0; i < num_items; i += STEP_ITEMS)
	{
		element_codes_refs(&sort->elements, first + i, Min(STEP_ITEMS, num_items - i), sort->refs + first + i);
		CHECK_FOR_INTERRUPTS();
	}
}

void
compared_sort_by_codes(compared_sort *sort, int64 first, int64 num_items)
{
	code_range	range = {.sort = sort,.begin = first,.num_items = num_items,.is_first = true};
	kept_codes	kept;
	bool		done;

	if (num_items <= COMPARED_PART_ITEMS)
	{
		compared_list_refs(sort, first, num_items);
		sort_part(sort, first, num_items, NULL, 0);
		compared_codes_pay(sort);
		return;
	}
	keep_codes(&kept, sort, first, num_items);
	range.kept = &kept;
	range.parts = kept.parts;
	done = cut(&range, first, 0);
	forget_codes(&kept);
	if (!done)
	{
		compared_list_refs(sort, first, num_items);
		compared_sort_by_comparison(sort, first, num_items);
	}
}
