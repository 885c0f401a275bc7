/*
 * merge_codes.c
 *		Merges byte strings by 64-bit codes, and ties by the bytes that follow.
 *
 * A code is the eight bytes after the prefix that all strings of both arrays share.  The arrays
 * are sorted, so their first and last strings give this prefix.  One job merges the codes.  If a
 * code is in both arrays, its strings are merged again by their remaining bytes, at one
 * comparison a string.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array/array_result.h"
#include "merge/merge_codes.h"
#include "pgerror.h"

/* Strings handled between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

static inline mgpu_span
span_of(const merge_codes *codes, int which, int64 i)
{
	return codes->keys[which].strings.spans[i];
}

static inline const char *
bytes_of(const merge_codes *codes, int which, int64 i)
{
	return codes->keys[which].strings.keys.data + span_of(codes, which, i).offset;
}

/* Compares two strings from offset on, as memcmp() does.  A prefix of a string is the lesser. */
static int
compare_strings(const merge_codes *codes, int which, int64 i, int other, int64 j, uint32 offset)
{
	uint32		size = span_of(codes, which, i).size;
	uint32		other_size = span_of(codes, other, j).size;
	uint32		common = Min(size, other_size);
	int			order = 0;

	if (common > offset)
		order = memcmp(bytes_of(codes, which, i) + offset, bytes_of(codes, other, j) + offset, common - offset);
	return order != 0 ? order : (size > other_size) - (size < other_size);
}

/*
 * Length of the prefix, up to most bytes, that a string shares with the first string of a (of b,
 * if a is empty).
 */
static uint32
shared_bytes(const merge_codes *codes, int which, int64 i, uint32 most)
{
	int			other = codes->keys[0].num_items > 0 ? 0 : 1;
	const char *first = bytes_of(codes, other, 0);
	const char *bytes = bytes_of(codes, which, i);
	uint32		shared = 0;

	most = Min(most, span_of(codes, which, i).size);
	while (shared < most && bytes[shared] == first[shared])
		shared++;
	return shared;
}

static uint32
shared_by_all(const merge_codes *codes)
{
	uint32		shared = span_of(codes, codes->keys[0].num_items > 0 ? 0 : 1, 0).size;

	for (int i = 0; i < 2; i++)
		if (codes->keys[i].num_items > 0)
		{
			shared = shared_bytes(codes, i, 0, shared);
			shared = shared_bytes(codes, i, codes->keys[i].num_items - 1, shared);
		}
	return shared;
}

static void
check_sorted(const merge_codes *codes, int which, int64 first_subscript)
{
	for (int64 i = 1; i < codes->keys[which].num_items; i++)
	{
		int			order = compare_strings(codes, which, i - 1, which, i, 0);

		if (codes->descending ? order < 0 : order > 0)
			mgpu_raise_not_sorted(which, first_subscript + i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
make_side(merge_codes *codes, int which)
{
	const sort_keys *keys = &codes->keys[which];
	uint64	   *out = array_result_scratch(keys->num_items * sizeof(uint64));

	codes->codes[which] = out;
	for (int64 i = 0; i < keys->num_items; i++)
	{
		out[i] = mgpu_byte_code(&keys->strings.keys, keys->strings.spans[i], codes->shared);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
merge_codes_make(merge_codes *codes, const sort_keys keys[2], bool descending, const int64 first_subscripts[2])
{
	codes->keys = keys;
	codes->descending = descending;
	check_sorted(codes, 0, first_subscripts[0]);
	check_sorted(codes, 1, first_subscripts[1]);
	codes->shared = shared_by_all(codes);
	codes->coded = codes->shared + mgpu_code_step(&keys[0].strings.keys);
	make_side(codes, 0);
	make_side(codes, 1);
}

/* Merge the strings of one code: a … a_end and b … b_end. */
static void
merge_tied(const merge_codes *codes, int64 a, int64 a_end, int64 b, int64 b_end, bool *sides)
{
	while (a < a_end || b < b_end)
	{
		bool		from_b = a == a_end;

		if (a < a_end && b < b_end)
		{
			int			order = compare_strings(codes, 0, a, 1, b, codes->coded);

			from_b = codes->descending ? order < 0 : order > 0;
		}
		sides[a + b] = from_b;
		if (from_b)
			b++;
		else
			a++;
		if ((a + b) % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* End of the codes equal to codes[i], from i on. */
static inline int64
end_of_code(const uint64 *codes, int64 i, int64 num_codes)
{
	uint64		code = codes[i];

	while (i < num_codes && codes[i] == code)
		i++;
	return i;
}

void
merge_codes_ties(const merge_codes *codes, bool *sides)
{
	const uint64 *a_codes = codes->codes[0];
	const uint64 *b_codes = codes->codes[1];
	int64		a = 0,
				b = 0;

	while (a < codes->keys[0].num_items && b < codes->keys[1].num_items)
	{
		int64		a_end,
					b_end;

		if (a_codes[a] != b_codes[b])
		{
			if ((a_codes[a] < b_codes[b]) != codes->descending)
				a++;
			else
				b++;
			continue;
		}
		a_end = end_of_code(a_codes, a, codes->keys[0].num_items);
		b_end = end_of_code(b_codes, b, codes->keys[1].num_items);
		if (!mgpu_code_decides(&codes->keys[0].strings.keys, a_codes[a]))
			merge_tied(codes, a, a_end, b, b_end, sides);
		a = a_end;
		b = b_end;
	}
}

void
merge_codes_free(merge_codes *codes)
{
	pfree(codes->codes[0]);
	pfree(codes->codes[1]);
}
