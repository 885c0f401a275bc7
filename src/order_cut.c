/*
 * order_cut.c
 *		Cuts elements into parts by their order, and notes for some of the parts which
 *		elements are in them.
 *
 * Bounds are elements of a sample, in order.  A walk over all elements compares each
 * with them: by the codes of both, and where these are equal, whole.  As equal
 * elements are ordered by where they are, no part is larger than the sample makes
 * it, however many are alike.  A few bits an element say where it belongs, so that
 * parts are listed, some at a time, without another look at what they have; where these
 * bits are too few for all parts, another walk notes the next ones.
 *
 * Rejected: a list of each part's elements at once, which takes what positions of all
 * do; a walk for each part, since codes of types that are compared take longer to
 * make than all else.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/string_parts.h"

#include "array_result.h"
#include "order_cut.h"

/* Elements of a task, whole bytes of notes and whole steps of what is known of them. */
#define TASK_ITEMS (64 * 1024)

/* Codes made at a time. */
#define BLOCK_ITEMS 512

/* Bounds are chosen from so many elements each, and from no more in all unless parts are very many. */
#define SAMPLES_PER_PART 256
#define LEAST_SAMPLES_PER_PART 16
#define MOST_SAMPLES (32 * 1024)

static int64
num_tasks(const order_cut *cut)
{
	return (cut->elements->num_items + TASK_ITEMS - 1) / TASK_ITEMS;
}

static int
num_notes(const order_cut *cut)
{
	return 1 << cut->note_bits;
}

Size
order_cut_note_bytes(int64 num_items, int note_bits)
{
	return ((num_items + TASK_ITEMS - 1) / TASK_ITEMS) *
		(TASK_ITEMS / 8 * note_bits + (2 * sizeof(uint32) << note_bits));
}

/* ---- bounds */

/* What an element begins with, in the order that is asked for; string: none if it is not one. */
static inline uint64
code_of(const order_cut *cut, uint32 ref, byte_string string, const char *room)
{
	uint64		code = 0;

	if (cut->compared == NULL)
		code = element_string_code(cut->elements, string, room, 0);
	else if (cut->compared->has_codes)
		code = compared_code(cut->compared, ref);
	return cut->descending ? ~code : code;
}

/* References of some elements, in their order. */
static uint32 *
sample(const order_cut *cut, int64 num_samples)
{
	int64		num_items = cut->elements->num_items;
	uint32	   *refs = palloc(num_samples * sizeof(uint32));

	mgpu_sample_positions(refs, num_samples, num_items);
	for (int64 i = 0; i < num_samples; i++)
	{
		int64		begin = num_items * i / num_samples;
		int64		end = num_items * (i + 1) / num_samples;

		/* from stretches of their own, so that each is there once */
		element_codes_refs(cut->elements, begin + refs[i] % (end - begin), 1, &refs[i]);
	}
	if (cut->compared)
	{
		cut->compared->refs = refs;
		compared_sort_by_comparison(cut->compared, 0, num_samples);
	}
	else
	{
		position_sort whole = {.codes = *cut->elements,.descending = cut->descending,.refs = refs};
		position_run run = {.num_items = num_samples};

		/* they stay references */
		whole.codes.lines = NULL;
		position_run_compare(&whole, &run);
	}
	return refs;
}

/* The string of a bound, which stays there. */
static byte_string
keep_string(const order_cut *cut, uint32 ref, char *room)
{
	byte_string string = element_string(cut->elements, ref, room);

	if (room)
		string.bytes = memcpy(palloc(string.size + 1), string.bytes, string.size);
	return string;
}

static void
make_codes(order_cut *cut)
{
	char	   *room = cut->elements->room_bytes > 0 ? palloc(cut->elements->room_bytes) : NULL;

	for (int i = 0; i < cut->num_parts - 1; i++)
	{
		byte_string string = {NULL, 0};

		if (cut->compared == NULL)
		{
			string = element_string(cut->elements, cut->bounds[i], room);
			cut->bound_strings[i] = keep_string(cut, cut->bounds[i], room);
		}
		cut->bound_codes[i] = code_of(cut, cut->bounds[i], string, room);
	}
	if (room)
		pfree(room);
}

static void
choose_bounds(order_cut *cut)
{
	int64		num_samples = Max(Min((int64) cut->num_parts * SAMPLES_PER_PART, MOST_SAMPLES),
								  (int64) cut->num_parts * LEAST_SAMPLES_PER_PART);
	uint32	   *samples;

	num_samples = Min(num_samples, cut->elements->num_items);
	samples = sample(cut, num_samples);
	for (int i = 0; i < cut->num_parts - 1; i++)
		cut->bounds[i] = samples[(i + 1) * num_samples / cut->num_parts];
	pfree(samples);
	make_codes(cut);
}

void
order_cut_start(order_cut *cut, int num_parts, int note_bits)
{
	Assert(num_parts > 0 && num_parts <= cut->elements->num_items);
	cut->num_parts = num_parts;
	cut->note_bits = note_bits;
	cut->bounds = palloc(num_parts * sizeof(uint32));
	cut->bound_codes = palloc(num_parts * sizeof(uint64));
	cut->bound_strings = palloc0(num_parts * sizeof(byte_string));
	choose_bounds(cut);
	cut->notes = array_result_scratch(num_tasks(cut) * TASK_ITEMS / 8 * note_bits);
	cut->counts = array_result_scratch(num_tasks(cut) * num_notes(cut) * sizeof(uint32));
}

void
order_cut_end(order_cut *cut)
{
	for (int i = 0; cut->elements->room_bytes > 0 && i < cut->num_parts - 1; i++)
		pfree((char *) cut->bound_strings[i].bytes);
	pfree(cut->bounds);
	pfree(cut->bound_codes);
	pfree(cut->bound_strings);
	pfree(cut->notes);
	pfree(cut->counts);
}

/* ---- notes */

/* An element that is looked at. */
typedef struct cut_element
{
	uint32		ref;
	uint64		code;
	byte_string string;			/* if it is one */
} cut_element;

/* What memcmp says, a shorter one before those that it begins; both have the same code. */
static int
compare_strings(const order_cut *cut, const cut_element *element, byte_string bound)
{
	mgpu_byte_keys keys = {.counted = cut->elements->strings.counted};
	byte_string string = element->string;
	int			order;

	if (mgpu_code_decides(&keys, cut->descending ? ~element->code : element->code))
		return 0;
	order = memcmp(string.bytes, bound.bytes, Min(string.size, bound.size));
	if (order == 0)
		order = (string.size > bound.size) - (string.size < bound.size);
	return order;
}

static bool
is_before(const order_cut *cut, const cut_element *element, int bound)
{
	int			order;

	if (cut->compared)
		order = cut->compared->compare(compared_value(cut->compared, element->ref),
									   compared_value(cut->compared, cut->bounds[bound]), &cut->compared->support);
	else
		order = compare_strings(cut, element, cut->bound_strings[bound]);
	if (cut->descending)
		INVERT_COMPARE_RESULT(order);
	return order != 0 ? order < 0 : element->ref < cut->bounds[bound];
}

/* How many of num_codes in order are below code; those that are as high, too. */
static inline int
codes_below(const uint64 *codes, int num_codes, uint64 code, bool as_high)
{
	const uint64 *at = codes;

	if (num_codes == 0)
		return 0;
	for (int left = num_codes; left > 1;)
	{
		int			half = left / 2;
		bool		above = as_high ? at[half - 1] <= code : at[half - 1] < code;

		/* no branch: nobody foresees which way it goes */
		at += half & -(int) above;
		left -= half;
	}
	return (int) (at - codes) + (as_high ? *at <= code : *at < code);
}

/*
 * How many of the bounds in low to high are not behind the element.  If there is a guess, and
 * it is right, comparisons are two at most.
 */
static int
search_bounds(const order_cut *cut, const cut_element *element, int low, int high, int guess)
{
	if (guess > low && guess <= high)
	{
		if (is_before(cut, element, guess - 1))
			high = guess - 1;
		else
			low = guess;
	}
	if (guess == low && low < high)
	{
		if (is_before(cut, element, low))
			high = low;
		else
			low++;
	}
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (is_before(cut, element, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The element's part, or one before or behind those that are noted; guess: -1 or where it may be. */
static inline int
part_of(const order_cut *cut, const cut_element *element, int guess)
{
	int			first = Max(cut->first_part - 1, 0);
	int			num_bounds = Min(cut->end_part, cut->num_parts - 1) - first;
	const uint64 *codes = cut->bound_codes + first;
	int			low = codes_below(codes, num_bounds, element->code, false);
	int			high;

	if (low == num_bounds || codes[low] != element->code)
		return first + low;
	high = codes_below(codes, num_bounds, element->code, true);
	return search_bounds(cut, element, first + low, first + high, guess);
}

/* Of elements begin to end, which are a task's.  Where two in turn are in one part, so may the next be. */
static void
note_items(order_cut *cut, int64 begin, int64 end, char *room)
{
	uint32	   *counts = cut->counts + begin / TASK_ITEMS * num_notes(cut);
	uint8	   *notes = cut->notes + begin / 8 * cut->note_bits;
	uint32		refs[BLOCK_ITEMS];
	int			last = -1;
	int			guess = -1;

	memset(notes, 0, TASK_ITEMS / 8 * cut->note_bits);
	memset(counts, 0, num_notes(cut) * sizeof(uint32));
	for (int64 i = begin; i < end; i += BLOCK_ITEMS)
	{
		uint32		num_refs = Min(BLOCK_ITEMS, end - i);

		/* comparisons may take long; strings are looked at in threads */
		if (cut->compared)
			CHECK_FOR_INTERRUPTS();
		element_codes_refs(cut->elements, i, num_refs, refs);
		for (uint32 j = 0; j < num_refs; j++)
		{
			int64		bit = (i - begin + j) * cut->note_bits;
			cut_element element = {.ref = refs[j]};
			int			part;
			uint32		note = 0;

			if (cut->compared == NULL)
				element.string = element_string(cut->elements, refs[j], room);
			if (room && element.string.size == 0)
				cut->sort->failed = true;
			element.code = code_of(cut, refs[j], element.string, room);
			part = part_of(cut, &element, guess);
			guess = part == last ? part : -1;
			last = part;
			if (part >= cut->first_part && part < cut->end_part)
				note = part - cut->first_part + 1;
			notes[bit / 8] |= note << (bit % 8);
			counts[note]++;
		}
	}
}

/* Strings, in threads. */
static void
note_task(void *context, uint64 task, int worker)
{
	order_cut  *cut = context;
	char		room[ELEMENT_MOST_ROOM_BYTES];

	note_items(cut, task * TASK_ITEMS, Min((int64) (task + 1) * TASK_ITEMS, cut->elements->num_items),
			   cut->elements->room_bytes > 0 ? room : NULL);
}

/*
 * What is compared.  False: codes have turned out not to pay, which the first walk finds
 * out; later ones make the same codes again, of which the type has nothing new to say.
 */
static bool
note_compared(order_cut *cut)
{
	bool		may_stop = cut->compared->has_codes && cut->first_part == 0;

	for (int64 task = 0; task < num_tasks(cut); task++)
	{
		note_items(cut, task * TASK_ITEMS, Min((task + 1) * TASK_ITEMS, cut->elements->num_items), NULL);
		if (may_stop && !compared_codes_pay(cut->compared))
			return false;
	}
	return true;
}

void
order_cut_note(order_cut *cut, int first_part)
{
	cut->first_part = first_part;
	cut->end_part = Min(first_part + ORDER_NOTED_PARTS(cut->note_bits), cut->num_parts);
	if (cut->compared == NULL)
		position_sort_tasks(cut->sort, note_task, cut, num_tasks(cut));
	else if (!note_compared(cut))
	{
		make_codes(cut);
		note_compared(cut);
	}
}

/* ---- lists */

/* Parts of which each task's elements go behind those of the tasks before it. */
typedef struct part_list
{
	const order_cut *cut;
	uint32		first_note;
	uint32		num_parts;
	uint32	   *begins;			/* of each task and part: where its next element goes */
	uint32	   *starts;			/* of each task: how many elements of the parts are before it */
	uint32	   *by_parts;		/* the lists, those that are wanted */
	uint32	   *refs;
	uint32	   *numbers;
} part_list;

static inline uint32
note_of(const order_cut *cut, int64 i)
{
	uint64		bit = (uint64) i * cut->note_bits;

	return cut->notes[bit / 8] >> (bit % 8) & (num_notes(cut) - 1);
}

/* Which of some elements from i on are in the parts, as places from i; how many. */
static inline int
find_listed(const part_list *list, int64 i, int num_items, uint8 *found)
{
	int			num_found = 0;

	for (int j = 0; j < num_items; j++)
	{
		found[num_found] = j;
		num_found += note_of(list->cut, i + j) - list->first_note < list->num_parts;
	}
	return num_found;
}

static void
list_task(void *context, uint64 task, int worker)
{
	const part_list *list = context;
	const order_cut *cut = list->cut;
	int64		end = Min((int64) (task + 1) * TASK_ITEMS, cut->elements->num_items);
	uint32	   *begins = list->begins + task * list->num_parts;
	uint32		next = list->starts[task];
	uint32		refs[ELEMENT_STEP];
	uint8		found[ELEMENT_STEP] = {0};

	for (int64 i = task * TASK_ITEMS; i < end && next < list->starts[task + 1]; i += ELEMENT_STEP)
	{
		int			num_found = find_listed(list, i, Min(ELEMENT_STEP, end - i), found);

		if (num_found > 0)
			element_codes_refs(cut->elements, i, found[num_found - 1] + 1, refs);
		for (int j = 0; j < num_found; j++, next++)
		{
			int64		number = i + found[j];
			uint32		ref = refs[found[j]];

			if (list->by_parts)
				list->by_parts[begins[note_of(cut, number) - list->first_note]++] = ref;
			if (list->refs)
				list->refs[next] = ref;
			if (list->numbers)
				list->numbers[next] = (uint32) number;
		}
	}
}

int64
order_cut_items(const order_cut *cut, int part)
{
	int64		num_items = 0;

	for (int64 task = 0; task < num_tasks(cut); task++)
		num_items += cut->counts[task * num_notes(cut) + part - cut->first_part + 1];
	return num_items;
}

position_run
order_cut_run(const order_cut *cut, int part, int64 first)
{
	position_run run = {first, order_cut_items(cut, part), 0, POSITION_RUN_MIXED};
	mgpu_byte_keys keys = {.counted = cut->elements->strings.counted};
	uint64		code;

	if (part == 0 || part == cut->num_parts - 1 || cut->bound_codes[part - 1] != cut->bound_codes[part])
		return run;
	code = cut->bound_codes[part];
	run.kind = mgpu_code_decides(&keys, cut->descending ? ~code : code) ? POSITION_RUN_SAME : POSITION_RUN_ALIKE;
	run.offset = mgpu_code_step(&keys);
	return run;
}

/* Where elements of each task go. */
static void
place_tasks(part_list *list)
{
	const order_cut *cut = list->cut;
	uint32		next = 0;

	memset(list->starts, 0, (num_tasks(cut) + 1) * sizeof(uint32));
	for (uint32 part = 0; part < list->num_parts; part++)
		for (int64 task = 0; task < num_tasks(cut); task++)
		{
			uint32		count = cut->counts[task * num_notes(cut) + list->first_note + part];

			list->begins[task * list->num_parts + part] = next;
			list->starts[task + 1] += count;
			next += count;
		}
	for (int64 task = 0; task < num_tasks(cut); task++)
		list->starts[task + 1] += list->starts[task];
}

void
order_cut_list(const order_cut *cut, int first, int end, uint32 *by_parts, uint32 *refs, uint32 *numbers)
{
	part_list	list = {.cut = cut,.by_parts = by_parts,.refs = refs,.numbers = numbers};

	list.first_note = first - cut->first_part + 1;
	list.num_parts = end - first;
	list.begins = array_result_scratch(num_tasks(cut) * list.num_parts * sizeof(uint32));
	list.starts = palloc((num_tasks(cut) + 1) * sizeof(uint32));
	place_tasks(&list);
	position_sort_tasks(cut->sort, list_task, &list, num_tasks(cut));
	pfree(list.begins);
	pfree(list.starts);
}
