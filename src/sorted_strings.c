/*
 * sorted_strings.c
 *		Merges two sorted arrays of byte strings by 64-bit codes.
 *
 * A code is eight bytes behind what all strings begin with, which two sorted
 * arrays say by their first and last elements.  Executors merge the codes; where
 * both arrays have strings with the same code, those are merged again by their
 * other bytes.  Each string is looked at once for its code and its place among
 * its neighbours, and ties twice: a merge by comparison alone misses the cache
 * no more often, but goes through the type's functions twice an element.
 * Rounds, as sorts have them (core/byte_keys.h), were rejected: ties of a merge
 * cost one comparison each, however many there are.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "array_result.h"
#include "byte_source.h"
#include "pgerror.h"
#include "run.h"
#include "sorted_strings.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

/* One of the two arrays. */
typedef struct string_side
{
	byte_source bytes;
	int64		num_items;
	uint64	   *codes;
} string_side;

typedef struct string_merge
{
	sorted_input *input;
	string_side a;
	string_side b;
	uint32		offset;			/* of codes in strings: bytes that all have alike */
} string_merge;

static bool
open_side(string_side *side, array_source *source, const sorted_input *input)
{
	side->num_items = sorted_input_present(source);
	return byte_source_open(&side->bytes, source, input->type, input->collation, side->num_items);
}

static void
check_side(const string_side *side, const sorted_input *input, int which, const array_source *source)
{
	const mgpu_byte_keys *keys = &side->bytes.keys;

	for (int64 i = 1; i < side->num_items; i++)
	{
		int			order = mgpu_byte_compare(keys, keys->spans[i - 1], keys->spans[i], 0);

		if (input->order.descending ? order < 0 : order > 0)
			mgpu_raise_not_sorted(which, sorted_input_first_subscript(source, &input->order) + i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* At most so many bytes as two strings, of any sides, begin with alike. */
static uint32
shared_bytes(const string_side *x, int64 i, const string_side *y, int64 j, uint32 most)
{
	mgpu_span	x_span = x->bytes.spans[i];
	mgpu_span	y_span = y->bytes.spans[j];
	const char *x_string = x->bytes.keys.data + x_span.offset;
	const char *y_string = y->bytes.keys.data + y_span.offset;
	uint32		shared = 0;

	most = Min(most, Min(x_span.size, y_span.size));
	while (shared < most && x_string[shared] == y_string[shared])
		shared++;
	return shared;
}

/* Sides are in order: what first and last begin with, all between them do. */
static uint32
shared_by_all(const string_merge *merge)
{
	const string_side *sides[] = {&merge->a, &merge->b};
	const string_side *first = merge->a.num_items > 0 ? &merge->a : &merge->b;
	uint32		shared = PG_UINT32_MAX;

	for (int i = 0; i < 2; i++)
		if (sides[i]->num_items > 0)
		{
			shared = shared_bytes(first, 0, sides[i], 0, shared);
			shared = shared_bytes(first, 0, sides[i], sides[i]->num_items - 1, shared);
		}
	return shared;
}

static void
make_codes(string_side *side, uint32 offset)
{
	const mgpu_byte_keys *keys = &side->bytes.keys;

	side->codes = array_result_scratch(side->num_items * sizeof(uint64));
	for (int64 i = 0; i < side->num_items; i++)
	{
		side->codes[i] = mgpu_byte_code(keys, keys->spans[i], offset);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static bool
open_merge(string_merge *merge, sorted_input *input)
{
	merge->input = input;
	if (!open_side(&merge->a, &input->a, input))
		return false;
	if (!open_side(&merge->b, &input->b, input))
	{
		byte_source_close(&merge->a.bytes);
		return false;
	}
	return true;
}

static void
prepare(string_merge *merge)
{
	check_side(&merge->a, merge->input, 0, &merge->input->a);
	check_side(&merge->b, merge->input, 1, &merge->input->b);
	merge->offset = shared_by_all(merge);
	make_codes(&merge->a, merge->offset);
	make_codes(&merge->b, merge->offset);
}

/* As mgpu_byte_compare, by what follows their codes. */
static int
compare_tails(const string_merge *merge, int64 a, int64 b)
{
	uint32		offset = merge->offset + mgpu_code_step(&merge->a.bytes.keys);
	mgpu_span	a_span = merge->a.bytes.spans[a];
	mgpu_span	b_span = merge->b.bytes.spans[b];
	uint32		common = Min(a_span.size, b_span.size);
	int			order = 0;

	if (common > offset)
		order = memcmp(merge->a.bytes.keys.data + a_span.offset + offset,
					   merge->b.bytes.keys.data + b_span.offset + offset, common - offset);
	if (order == 0)
		order = (a_span.size > b_span.size) - (a_span.size < b_span.size);
	return merge->input->order.descending ? -order : order;
}

/* Strings of one code: those of a from a on stand first, then those of b from b on. */
static void
merge_ties(const string_merge *merge, uint32 *ranks, int64 a, int64 num_a, int64 b, int64 num_b)
{
	int64		a_end = a + num_a;
	int64		b_end = b + num_b;

	while (a < a_end && b < b_end)
	{
		if (compare_tails(merge, a, b) > 0)
			*ranks++ = merge->a.num_items + b++;
		else
			*ranks++ = a++;
		if ((a + b) % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	while (a < a_end)
		*ranks++ = a++;
	while (b < b_end)
		*ranks++ = merge->a.num_items + b++;
}

/* Both sides once more, code by code, since ranks say no more than which side comes next. */
static void
merge_all_ties(const string_merge *merge, uint32 *ranks)
{
	const uint64 *a_codes = merge->a.codes;
	const uint64 *b_codes = merge->b.codes;
	int64		a = 0,
				b = 0;
	int64		looked_at = 0;

	while (a < merge->a.num_items && b < merge->b.num_items)
	{
		uint64		code = a_codes[a];
		int64		a_end = a,
					b_end = b;

		if (code != b_codes[b])
		{
			if ((code < b_codes[b]) != merge->input->order.descending)
				a++;
			else
				b++;
		}
		else
		{
			while (a_end < merge->a.num_items && a_codes[a_end] == code)
				a_end++;
			while (b_end < merge->b.num_items && b_codes[b_end] == code)
				b_end++;
			if (!mgpu_code_decides(&merge->a.bytes.keys, code))
				merge_ties(merge, ranks + a + b, a, a_end - a, b, b_end - b);
			a = a_end;
			b = b_end;
		}
		if (a + b >= looked_at + STEP_ITEMS)
		{
			looked_at = a + b;
			CHECK_FOR_INTERRUPTS();
		}
	}
}

bool
sorted_strings_merge(sorted_input *input, uint32 *ranks)
{
	string_merge merge;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	if (!open_merge(&merge, input))
		return false;
	prepare(&merge);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	sorted_input_merge_keys(input, merge.a.codes, merge.b.codes, MGPU_KEY_UNSIGNED, sizeof(uint64), ranks);
	run_last.marshal_ms += INSTR_TIME_GET_MILLISEC(end);
	merge_all_ties(&merge, ranks);
	pfree(merge.a.codes);
	pfree(merge.b.codes);
	byte_source_close(&merge.a.bytes);
	byte_source_close(&merge.b.bytes);
	return true;
}
