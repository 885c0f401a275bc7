/*
 * sorted_strings.c
 *		Merges two sorted arrays of byte strings by 64-bit codes.
 *
 * Strings are looked up, or made, a block at a time (merge_blocks.c), each once, and
 * compared with the one before.  A code is eight bytes behind what all strings of a
 * merge begin with, which sorted strings say by the first and the last of them.
 * Executors merge the codes; where both arrays have strings with the same code, those
 * are merged again by their other bytes.  A merge by comparison alone misses the
 * cache no more often, but goes through the type's functions twice an element.
 * Rounds, as sorts have them (core/byte_keys.h), were rejected: ties of a merge
 * cost one comparison each, however many there are.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "array_result.h"
#include "byte_source.h"
#include "merge_blocks.h"
#include "run.h"
#include "sorted_strings.h"

/* Strings of each array that are held at a time: 40 bytes for one of both, codes and ranks included. */
#define BLOCK_ITEMS (512 * 1024)

/* The same in bytes of strings that are made, unless one alone takes more. */
#define ARENA_BYTES (6 * 1024 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

/* One of the two arrays. */
typedef struct string_side
{
	byte_walk	walk;			/* over elements that are still to be read */
	const char *data;			/* of the array, or NULL: strings are in the arena */
	Size		data_bytes;
	mgpu_span  *spans;			/* of the block's items */
	char	   *arena;
	Size		arena_bytes;
	uint64	   *codes;			/* of what is being merged */
} string_side;

typedef struct string_merge
{
	merge_blocks blocks;		/* is first */
	byte_strings strings;
	string_side sides[2];
	double		ms;				/* that strings and codes took */
} string_merge;

static mgpu_byte_keys
keys_of(const string_merge *merge, int which)
{
	const string_side *side = &merge->sides[which];
	const char *data = side->data ? side->data : side->arena;

	return (mgpu_byte_keys) {data, data + (side->data ? side->data_bytes : side->arena_bytes), side->spans,
		merge->strings.counted, false};
}

/* memcmp's answer for two strings, from offset on, in the order that is asked for. */
static int
compare_spans(const string_merge *merge, int x_side, mgpu_span x, int y_side, mgpu_span y, uint32 offset)
{
	uint32		common = Min(x.size, y.size);
	int			order = 0;

	if (common > offset)
		order = memcmp(keys_of(merge, x_side).data + x.offset + offset,
					   keys_of(merge, y_side).data + y.offset + offset, common - offset);
	if (order == 0)
		order = (x.size > y.size) - (x.size < y.size);
	return merge->blocks.input->order.descending ? -order : order;
}

/* How many more items a block may have. */
static int64
room_left(const merge_block *block)
{
	return Min(block->room - block->end, block->num_items - block->num_read);
}

/* Strings that lie in the array, as far as there is room.  False: one is not as it should be. */
static bool
find_strings(string_merge *merge, int which)
{
	string_side *side = &merge->sides[which];
	merge_block *block = &merge->blocks.blocks[which];
	int64		num_new = room_left(block);
	mgpu_span  *spans = side->spans + block->end;
	const char *data = side->data;
	byte_form	form = merge->strings.form;
	byte_walk	walk = side->walk;

	for (int64 i = 0; i < num_new; i++)
	{
		const char *value;
		uint32		size;

		if (!byte_walk_next(&walk, &value, &size))
			return false;
		spans[i] = (mgpu_span) {value - data, byte_string_size(form, value, size)};
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	side->walk = walk;
	block->end += num_new;
	return true;
}

/* Whether there is room for a string of so many bytes behind used: always, if the block has no others to go on with. */
static bool
has_room(string_side *side, const merge_block *block, Size used, Size bytes)
{
	if (used + bytes <= side->arena_bytes)
		return true;
	if (block->end > block->begin)
		return false;
	side->arena_bytes = used + bytes;
	side->arena = repalloc_huge(side->arena, side->arena_bytes);
	return true;
}

/* The same for strings that are made. */
static bool
make_strings(string_merge *merge, int which)
{
	string_side *side = &merge->sides[which];
	merge_block *block = &merge->blocks.blocks[which];
	mgpu_span	last = block->end > 0 ? side->spans[block->end - 1] : (mgpu_span) {0, 0};
	Size		used = (Size) last.offset + last.size;

	for (int64 i = room_left(block); i > 0; i--)
	{
		byte_walk	walk = side->walk;
		const char *value;
		uint32		size;
		Size		made;

		if (!byte_walk_next(&walk, &value, &size))
			return false;
		if (!has_room(side, block, used, BYTE_ENCODE_ROOM((Size) size)))
			break;
		made = merge->strings.encode(value, size, (unsigned char *) side->arena + used);
		if (made == 0)
			return false;
		side->walk = walk;
		side->spans[block->end++] = (mgpu_span) {used, made};
		used += made;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Looks for an item, from item begin of a block on, that belongs before its predecessor; the block ends with that. */
static void
check_order(string_merge *merge, int which, int64 begin)
{
	merge_block *block = &merge->blocks.blocks[which];
	mgpu_byte_keys keys = keys_of(merge, which);
	bool		descending = merge->blocks.input->order.descending;
	mgpu_span	last = keys.spans[begin];
	uint64		last_code = mgpu_byte_code(&keys, last, 0);

	for (int64 i = begin + 1; i < block->end; i++)
	{
		mgpu_span	span = keys.spans[i];
		uint64		code = mgpu_byte_code(&keys, span, 0);
		/* mostly their first bytes say it */
		int			order = (last_code > code) - (last_code < code);

		if (order == 0)
			order = mgpu_byte_compare(&keys, last, span, 0);
		if (descending ? order < 0 : order > 0)
		{
			block->unsorted = merge_block_position(block, i);
			return;
		}
		last = span;
		last_code = code;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static bool
read_block(string_merge *merge, int which)
{
	merge_block *block = &merge->blocks.blocks[which];
	int64		begin = block->end;

	if (!(merge->sides[which].data ? find_strings(merge, which) : make_strings(merge, which)))
		return false;
	block->num_read += block->end - begin;
	if (block->end > begin)
		check_order(merge, which, Max(begin - 1, 0));
	return true;
}

static void
add_time(string_merge *merge, instr_time start)
{
	instr_time	end;

	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	merge->ms += INSTR_TIME_GET_MILLISEC(end);
}

static bool
read_strings(merge_blocks *blocks, int which)
{
	string_merge *merge = (string_merge *) blocks;
	instr_time	start;
	bool		done;

	INSTR_TIME_SET_CURRENT(start);
	done = read_block(merge, which);
	add_time(merge, start);
	return done;
}

static void
shift_strings(merge_blocks *blocks, int which, int64 num_items)
{
	string_merge *merge = (string_merge *) blocks;
	string_side *side = &merge->sides[which];
	int64		num_left = blocks->blocks[which].end - num_items;
	uint32		begin = side->spans[num_items].offset;
	mgpu_span	last = side->spans[blocks->blocks[which].end - 1];

	memmove(side->spans, side->spans + num_items, num_left * sizeof(mgpu_span));
	if (side->data)
		return;
	memmove(side->arena, side->arena + begin, (Size) last.offset + last.size - begin);
	for (int64 i = 0; i < num_left; i++)
		side->spans[i].offset -= begin;
}

static int
compare_strings(const merge_blocks *blocks, int64 a_item, int64 b_item)
{
	const string_merge *merge = (const string_merge *) blocks;

	return compare_spans(merge, 0, merge->sides[0].spans[a_item], 1, merge->sides[1].spans[b_item], 0);
}

/* At most so many bytes as two strings begin with alike. */
static uint32
shared_bytes(const string_merge *merge, int x_side, int64 x_item, int y_side, int64 y_item, uint32 most)
{
	mgpu_span	x = merge->sides[x_side].spans[x_item];
	mgpu_span	y = merge->sides[y_side].spans[y_item];
	const char *x_string = keys_of(merge, x_side).data + x.offset;
	const char *y_string = keys_of(merge, y_side).data + y.offset;
	uint32		shared = 0;

	most = Min(most, Min(x.size, y.size));
	while (shared < most && x_string[shared] == y_string[shared])
		shared++;
	return shared;
}

/* Items are in order: what the first and the last of both begin with, all between them do. */
static uint32
shared_by_all(const string_merge *merge, const int64 *counts)
{
	const merge_block *blocks = merge->blocks.blocks;
	int			first = counts[0] > 0 ? 0 : 1;
	uint32		shared = PG_UINT32_MAX;

	for (int i = 0; i < 2; i++)
		if (counts[i] > 0)
		{
			shared = shared_bytes(merge, first, blocks[first].begin, i, blocks[i].begin, shared);
			shared = shared_bytes(merge, first, blocks[first].begin, i, blocks[i].begin + counts[i] - 1, shared);
		}
	return shared;
}

static void
make_codes(string_merge *merge, int which, int64 num_items, uint32 offset)
{
	string_side *side = &merge->sides[which];
	mgpu_byte_keys keys = keys_of(merge, which);
	const mgpu_span *spans = side->spans + merge->blocks.blocks[which].begin;

	for (int64 i = 0; i < num_items; i++)
	{
		side->codes[i] = mgpu_byte_code(&keys, spans[i], offset);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* What is being merged, beside its codes. */
typedef struct tied_items
{
	const string_merge *merge;
	int64		num_a;
	uint32		offset;			/* behind what codes say */
	uint32	   *ranks;
} tied_items;

/* Strings of one code, from a and from b on: a's stand first so far, where ranks begin. */
static void
merge_ties(const tied_items *tied, int64 a, int64 a_end, int64 b, int64 b_end)
{
	const string_merge *merge = tied->merge;
	const mgpu_span *a_spans = merge->sides[0].spans + merge->blocks.blocks[0].begin;
	const mgpu_span *b_spans = merge->sides[1].spans + merge->blocks.blocks[1].begin;
	uint32	   *ranks = tied->ranks + a + b;

	while (a < a_end && b < b_end)
	{
		if (compare_spans(merge, 0, a_spans[a], 1, b_spans[b], tied->offset) > 0)
			*ranks++ = tied->num_a + b++;
		else
			*ranks++ = a++;
		if ((a + b) % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	while (a < a_end)
		*ranks++ = a++;
	while (b < b_end)
		*ranks++ = tied->num_a + b++;
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

/* Both sides once more, code by code, since ranks say no more than which side comes next. */
static void
merge_all_ties(const tied_items *tied, int64 num_b)
{
	const string_merge *merge = tied->merge;
	mgpu_byte_keys keys = keys_of(merge, 0);
	const uint64 *a_codes = merge->sides[0].codes;
	const uint64 *b_codes = merge->sides[1].codes;
	bool		descending = merge->blocks.input->order.descending;
	int64		a = 0,
				b = 0;

	while (a < tied->num_a && b < num_b)
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
		a_end = end_of_code(a_codes, a, tied->num_a);
		b_end = end_of_code(b_codes, b, num_b);
		if (!mgpu_code_decides(&keys, a_codes[a]))
			merge_ties(tied, a, a_end, b, b_end);
		a = a_end;
		b = b_end;
	}
}

static void
merge_strings(merge_blocks *blocks, int64 num_a, int64 num_b, uint32 *ranks)
{
	string_merge *merge = (string_merge *) blocks;
	uint32		offset = shared_by_all(merge, (const int64[]) {num_a, num_b});
	mgpu_byte_keys keys = keys_of(merge, 0);
	tied_items	tied = {merge, num_a, offset + mgpu_code_step(&keys), ranks};
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	make_codes(merge, 0, num_a, offset);
	make_codes(merge, 1, num_b, offset);
	add_time(merge, start);
	merge_blocks_job(blocks, merge->sides[0].codes, num_a, merge->sides[1].codes, num_b, MGPU_KEY_UNSIGNED, ranks);
	merge_all_ties(&tied, num_b);
}

static void
open_side(string_merge *merge, int which, array_source *source)
{
	string_side *side = &merge->sides[which];
	int64		room = merge->blocks.blocks[which].room;

	array_source_load(source);
	memset(side, 0, sizeof(*side));
	side->walk = (byte_walk) {source, merge->blocks.input->type, 0};
	side->spans = array_result_scratch(room * sizeof(mgpu_span));
	side->codes = array_result_scratch(room * sizeof(uint64));
	if (merge->strings.encode == NULL)
	{
		side->data = array_source_data(source);
		side->data_bytes = source->data_bytes;
		return;
	}
	side->arena_bytes = Min(ARENA_BYTES, BYTE_ENCODE_ROOM(source->data_bytes) + 16 * room);
	side->arena = array_result_scratch(side->arena_bytes);
}

static void
close_side(string_side *side)
{
	pfree(side->spans);
	pfree(side->codes);
	if (side->arena)
		pfree(side->arena);
}

bool
sorted_strings_merge(sorted_input *input, uint8 *sides, int64 place, run_series *series)
{
	static const merge_items items = {read_strings, shift_strings, compare_strings, merge_strings};
	string_merge merge;
	bool		done;

	if (!byte_source_applies(input->type, input->collation))
		return false;
	merge_blocks_start(&merge.blocks, &items, input, BLOCK_ITEMS, series);
	byte_strings_init(&merge.strings, input->type);
	merge.ms = 0;
	open_side(&merge, 0, &input->a);
	open_side(&merge, 1, &input->b);
	done = merge_blocks_run(&merge.blocks, sides, place);
	if (done)
		run_last.marshal_ms += merge.ms;
	close_side(&merge.sides[0]);
	close_side(&merge.sides[1]);
	return done;
}
