/*
 * keys.c
 *		Merges two sorted arrays by codes that are made of their elements.
 *
 * A code is what the type encodes, the rank of an enum's label, or eight bytes of a
 * byte string behind what all strings of both arrays begin with; sorted strings
 * say that by the first and the last of them.  One job merges the codes.  Where both
 * arrays have strings with the same code, those are merged again by their other
 * bytes, which costs one comparison each, however many there are.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "compat.h"
#include "array/result.h"
#include "keys/byte_strings.h"
#include "keys/enum_keys.h"
#include "merge/keys.h"
#include "pgerror.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

/* Both arrays' codes: 0 is a, 1 is b. */
typedef struct merge_codes
{
	sorted_input *input;
	array_source *sources[2];
	int64		num_items[2];	/* that are present */
	void	   *codes[2];
	uint32		width;
	uint32		kind;			/* mgpu_key_kind */

	/* byte strings alone */
	bool		has_strings;
	byte_source strings[2];
	uint32		shared;			/* bytes that all of them begin with */
} merge_codes;

/* ---- types that encode, enums */

/* False: some element has no code. */
static bool
encode_side(merge_codes *codes, int which)
{
	const element_type *type = codes->input->type;
	array_source *source = codes->sources[which];
	int64		num_items = codes->num_items[which];
	int64	   *out = array_result_scratch(num_items * sizeof(int64));
	const char *element;

	codes->codes[which] = out;
	array_source_load(source);
	if (num_items > 0)
		array_source_require(source, (Size) (num_items - 1) * type->stride + type->typlen);
	element = array_source_data(source);
	for (int64 i = 0; i < num_items; i++, element += type->stride)
	{
		if (!type->encode(element, &out[i]))
			return false;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

static bool
make_encoded(merge_codes *codes)
{
	codes->kind = MGPU_KEY_SIGNED;
	codes->width = sizeof(int64);
	if (encode_side(codes, 0) && encode_side(codes, 1))
		return true;
	for (int i = 0; i < 2; i++)
		if (codes->codes[i])
			pfree(codes->codes[i]);
	return false;
}

/* Labels of both arrays together, whose ranks must agree. */
static void
make_ranks(merge_codes *codes)
{
	int64		num_a = codes->num_items[0];
	int64		num_items = num_a + codes->num_items[1];
	Oid		   *labels = array_result_scratch(num_items * sizeof(Oid));
	uint32	   *keys;

	for (int i = 0; i < 2; i++)
	{
		array_source_load(codes->sources[i]);
		array_source_require(codes->sources[i], codes->num_items[i] * sizeof(Oid));
		memcpy(labels + i * num_a, array_source_data(codes->sources[i]), codes->num_items[i] * sizeof(Oid));
	}
	codes->kind = MGPU_KEY_UNSIGNED;
	codes->width = sizeof(uint32);
	keys = unconstify(uint32 *, enum_keys(labels, num_items, codes->input->type));
	codes->codes[0] = keys;
	codes->codes[1] = keys + num_a;
	if (keys != labels)
		pfree(labels);
}

/* ---- byte strings */

/* At most so many bytes as two strings begin with alike. */
static uint32
shared_bytes(const mgpu_byte_keys *x_keys, mgpu_span x, const mgpu_byte_keys *y_keys, mgpu_span y, uint32 most)
{
	uint32		shared = 0;

	most = Min(most, Min(x.size, y.size));
	while (shared < most && x_keys->data[x.offset + shared] == y_keys->data[y.offset + shared])
		shared++;
	return shared;
}

/* Strings are in order: what the first and the last of both arrays begin with, all between them do. */
static uint32
shared_by_all(const merge_codes *codes)
{
	const mgpu_byte_keys *first = &codes->strings[codes->num_items[0] > 0 ? 0 : 1].keys;
	uint32		shared = PG_UINT32_MAX;

	for (int i = 0; i < 2; i++)
	{
		const mgpu_byte_keys *keys = &codes->strings[i].keys;

		if (codes->num_items[i] == 0)
			continue;
		shared = shared_bytes(first, first->spans[0], keys, keys->spans[0], shared);
		shared = shared_bytes(first, first->spans[0], keys, keys->spans[codes->num_items[i] - 1], shared);
	}
	return shared;
}

static bool
begins_with(const mgpu_byte_keys *keys, mgpu_span span, const char *prefix, uint32 size)
{
	return size == 0 || (span.size >= size && memcmp(keys->data + span.offset, prefix, size) == 0);
}

/* False: the array is not sorted. */
static bool
encode_strings(merge_codes *codes, int which, uint64 *out)
{
	const mgpu_byte_keys *keys = &codes->strings[which].keys;
	bool		descending = codes->input->order.descending;
	uint32		shared = codes->shared;
	const char *prefix = codes->num_items[which] > 0 ? keys->data + keys->spans[0].offset : NULL;

	codes->codes[which] = out;
	for (int64 i = 0; i < codes->num_items[which]; i++)
	{
		mgpu_span	span = keys->spans[i];
		int			order;

		if (!begins_with(keys, span, prefix, shared))
			return false;
		out[i] = mgpu_byte_code(keys, span, shared);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (i == 0)
			continue;
		order = (out[i - 1] > out[i]) - (out[i - 1] < out[i]);
		if (order == 0 && !mgpu_code_decides(keys, out[i]))
			order = mgpu_byte_compare(keys, keys->spans[i - 1], span, shared + mgpu_code_step(keys));
		if (descending ? order < 0 : order > 0)
			return false;
	}
	return true;
}

/* The first string that belongs before its predecessor, or num_items. */
static int64
first_unsorted(const merge_codes *codes, int which)
{
	const mgpu_byte_keys *keys = &codes->strings[which].keys;
	bool		descending = codes->input->order.descending;
	int64		i;

	for (i = 1; i < codes->num_items[which]; i++)
	{
		int			order = mgpu_byte_compare(keys, keys->spans[i - 1], keys->spans[i], 0);

		if (descending ? order < 0 : order > 0)
			break;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return i;
}

/* One of the arrays is known not to be sorted. */
static MGPU_NORETURN void
raise_unsorted(const merge_codes *codes)
{
	int			which = first_unsorted(codes, 0) < codes->num_items[0] ? 0 : 1;

	mgpu_raise_not_sorted(which, sorted_input_first_subscript(codes->sources[which], &codes->input->order) +
						  first_unsorted(codes, which));
}

/* False: likewise. */
static bool
make_strings(merge_codes *codes)
{
	const sorted_input *input = codes->input;

	if (!byte_source_open(&codes->strings[0], codes->sources[0], input->type, input->collation, codes->num_items[0]))
		return false;
	if (!byte_source_open(&codes->strings[1], codes->sources[1], input->type, input->collation, codes->num_items[1]))
	{
		byte_source_close(&codes->strings[0]);
		return false;
	}
	codes->has_strings = true;
	codes->kind = MGPU_KEY_UNSIGNED;
	codes->width = sizeof(uint64);
	codes->shared = shared_by_all(codes);
	for (int i = 0; i < 2; i++)
		if (!encode_strings(codes, i, array_result_scratch(codes->num_items[i] * sizeof(uint64))))
			raise_unsorted(codes);
	return true;
}

/* memcmp's answer for a string of a and one of b, from offset on. */
static int
compare_strings(const merge_codes *codes, int64 a, int64 b, uint32 offset)
{
	const mgpu_byte_keys *a_keys = &codes->strings[0].keys;
	const mgpu_byte_keys *b_keys = &codes->strings[1].keys;
	mgpu_span	x = a_keys->spans[a];
	mgpu_span	y = b_keys->spans[b];
	uint32		common = Min(x.size, y.size);
	int			order = 0;

	if (common > offset)
		order = memcmp(a_keys->data + x.offset + offset, b_keys->data + y.offset + offset, common - offset);
	return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

/* Strings of one code, from a and from b on. */
static void
merge_tied(const merge_codes *codes, int64 a, int64 a_end, int64 b, int64 b_end, bool *sides)
{
	bool		descending = codes->input->order.descending;
	uint32		offset = codes->shared + mgpu_code_step(&codes->strings[0].keys);

	while (a < a_end || b < b_end)
	{
		bool	   *side = &sides[a + b];

		*side = a == a_end;
		if (a < a_end && b < b_end)
		{
			int			order = compare_strings(codes, a, b, offset);

			*side = descending ? order < 0 : order > 0;
		}
		if (*side)
			b++;
		else
			a++;
		if ((a + b) % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Where items from i on with the same code end. */
static inline int64
end_of_code(const uint64 *codes, int64 i, int64 num_codes)
{
	uint64		code = codes[i];

	while (i < num_codes && codes[i] == code)
		i++;
	return i;
}

/* Both arrays once more, code by code. */
static void
merge_ties(const merge_codes *codes, bool *sides)
{
	const uint64 *a_codes = codes->codes[0];
	const uint64 *b_codes = codes->codes[1];
	bool		descending = codes->input->order.descending;
	int64		a = 0,
				b = 0;

	while (a < codes->num_items[0] && b < codes->num_items[1])
	{
		int64		a_end,
					b_end;

		if (a_codes[a] != b_codes[b])
		{
			if ((a_codes[a] < b_codes[b]) != descending)
				a++;
			else
				b++;
			continue;
		}
		a_end = end_of_code(a_codes, a, codes->num_items[0]);
		b_end = end_of_code(b_codes, b, codes->num_items[1]);
		if (!mgpu_code_decides(&codes->strings[0].keys, a_codes[a]))
			merge_tied(codes, a, a_end, b, b_end, sides);
		a = a_end;
		b = b_end;
	}
}

/* ---- the merge */

static bool
make_codes(merge_codes *codes)
{
	const element_type *type = codes->input->type;

	if (type->is_enum)
	{
		make_ranks(codes);
		return true;
	}
	return (type->encode && make_encoded(codes)) || make_strings(codes);
}

static void
run_merge(merge_codes *codes, uint32 *ranks)
{
	run_request request;

	sorted_input_describe(&request, codes->input, MGPU_OP_MERGE_PAIRS);
	request.job.key_kind = codes->kind;
	request.job.key_width = codes->width;
	request.job.outputs = MGPU_OUT_INDICES;
	request.binding.in_keys = codes->codes[0];
	request.binding.in_b_keys = codes->codes[1];
	request.binding.out_indices = ranks;
	run_job(&request);
}

void
merge_sides_of_ranks(const uint32 *ranks, int64 num_ranks, uint32 num_a, bool *sides)
{
	for (int64 begin = 0; begin < num_ranks; begin += STEP_ITEMS)
	{
		int64		end = Min(num_ranks, begin + STEP_ITEMS);

		for (int64 i = begin; i < end; i++)
			sides[i] = ranks[i] >= num_a;
		CHECK_FOR_INTERRUPTS();
	}
}

bool
merge_by_codes(sorted_input *input, bool *sides)
{
	merge_codes codes = {.input = input,.sources = {&input->a, &input->b}};
	int64		num_items;
	uint32	   *ranks;
	instr_time	start;
	instr_time	end;

	codes.num_items[0] = sorted_input_present(&input->a);
	codes.num_items[1] = sorted_input_present(&input->b);
	num_items = codes.num_items[0] + codes.num_items[1];
	INSTR_TIME_SET_CURRENT(start);
	if (!make_codes(&codes))
		return false;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	ranks = array_result_scratch(num_items * sizeof(uint32));
	run_merge(&codes, ranks);
	run_last.marshal_ms += INSTR_TIME_GET_MILLISEC(end);
	merge_sides_of_ranks(ranks, num_items, codes.num_items[0], sides);
	pfree(ranks);
	if (codes.has_strings)
	{
		merge_ties(&codes, sides);
		byte_source_close(&codes.strings[0]);
		byte_source_close(&codes.strings[1]);
	}
	pfree(codes.codes[0]);
	if (!input->type->is_enum)
		pfree(codes.codes[1]);
	return true;
}
