/*
 * cpu_merge_path.c
 *		See cpu_merge_path.h.
 *
 * Merge Path (Odeh, Green et al. 2012): a binary search on a cross-diagonal finds
 * how many items of either list come before it.  A cut is merged block by block.
 * Three more searches give each block's four parts, which are merged side by side,
 * by scalar loops (cpu_merge_kernels.h) or two to three times as fast in vector
 * registers (cpu_vector.h).  Parts read beyond their ends.  So the last block of a
 * list takes another path: a loop that checks for the end, or copies with space for
 * padding.
 *
 * Galloping was rejected: where one list's items come alone, one search is enough
 * to copy a whole block.
 */
#include "cpu_merge_path.h"

#include <string.h>

#include "sizes.h"

#define LANES MGPU_MERGE_LANES

/* Output items of one block. */
#define BLOCK_ITEMS MGPU_SIZE(16384, 1024)

/* Output items of one pair of copies, at the end of lists without padding. */
#define COPY_ITEMS 1024

/* Up to this number of items, a scalar loop is done before vectors are set up. */
#define SCALAR_ITEMS 16

/* Below this number of vectors, one lane costs less than the search for four parts. */
#define ONE_LANE_VECTORS 48

/* Write the item that sorts last under a codec; at most 16 bytes. */
static void
last_item(const mgpu_codec *codec, void *item)
{
	memset(item, 0xFF, codec->width);
	mgpu_decode_items(codec, item, item, 1);
}

uint64_t
mgpu_merge_path(const mgpu_lists *lists, uint64_t diagonal)
{
	return mgpu_merge_functions_of(&lists->codec)->path(&lists->codec, lists->a, lists->num_a,
											 lists->b, lists->num_b, diagonal);
}

static const void *
item_at(const mgpu_lists *lists, const void *list, uint64_t i)
{
	return (const char *) list + i * lists->codec.width;
}

static void *
out_at(const mgpu_lists *lists, void *out, uint64_t i)
{
	return (char *) out + i * lists->codec.width;
}

/* The path's crossing of the diagonal num_items behind the cut's begin. */
static uint64_t
path_in_cut(const mgpu_lists *lists, const mgpu_cut *cut, uint64_t num_items)
{
	uint64_t	b_begin = cut->begin - cut->a_begin;
	uint64_t	num_a = cut->a_end - cut->a_begin;
	uint64_t	num_b = cut->end - cut->a_end - b_begin;

	return cut->a_begin +
		mgpu_merge_functions_of(&lists->codec)->path(&lists->codec,
										  item_at(lists, lists->a, cut->a_begin),
										  num_a < num_items ? num_a : num_items,
										  item_at(lists, lists->b, b_begin),
										  num_b < num_items ? num_b : num_items, num_items);
}

mgpu_cut
mgpu_cut_front(const mgpu_lists *lists, mgpu_cut *rest, uint64_t num_items)
{
	mgpu_cut	cut = *rest;

	if (num_items < rest->end - rest->begin)
	{
		cut.end = cut.begin + num_items;
		cut.a_end = path_in_cut(lists, rest, num_items);
	}
	rest->begin = cut.end;
	rest->a_begin = cut.a_end;
	return cut;
}

/* Whether num_items items behind the cut are readable and in order, in both lists. */
static bool
is_ahead_readable(const mgpu_lists *lists, const mgpu_cut *cut, uint64_t num_items)
{
	return lists->padded ||
		(cut->a_end + num_items <= lists->num_a && cut->end - cut->a_end + num_items <= lists->num_b);
}

static void
merge_scalar(const mgpu_lists *lists, mgpu_cut rest, void *out, uint32_t *indices)
{
	const mgpu_merge_functions *functions = mgpu_merge_functions_of(&lists->codec);
	uint64_t	lane_items = (rest.end - rest.begin) / LANES;
	mgpu_scalar_lanes lanes = {.a = lists->a, .b = lists->b, .num_a = lists->num_a};

	if (lane_items >= 8 && is_ahead_readable(lists, &rest, 1))
	{
		for (int k = 0; k < LANES; k++)
		{
			mgpu_cut	lane = mgpu_cut_front(lists, &rest, lane_items);

			lanes.a_used[k] = lane.a_begin;
			lanes.b_used[k] = lane.begin - lane.a_begin;
			lanes.out[k] = out;
			lanes.indices[k] = indices;
			out = out_at(lists, out, lane_items);
			if (indices != NULL)
				indices += lane_items;
		}
		if (indices != NULL)
			functions->pairs(&lists->codec, &lanes, lane_items);
		else
			functions->keys(&lists->codec, &lanes, lane_items);
	}
	functions->tail(lists, &rest, out, indices);
}

static mgpu_merge_lane
lane_of(const mgpu_lists *lists, const mgpu_cut *cut, void *out)
{
	mgpu_merge_lane lane;

	lane.a = item_at(lists, lists->a, cut->a_begin);
	lane.b = item_at(lists, lists->b, cut->begin - cut->a_begin);
	lane.out = out;
	return lane;
}

static void
merge_vectors(const mgpu_lists *lists, mgpu_cut rest, void *out)
{
	uint64_t	vector_items = mgpu_vector_items(lists->codec.width);
	uint64_t	lane_items = (rest.end - rest.begin) / (LANES * vector_items) * vector_items;
	mgpu_merge_lane lanes[LANES];

	if (lane_items * LANES >= ONE_LANE_VECTORS * vector_items)
	{
		for (int k = 0; k < LANES; k++)
		{
			mgpu_cut	cut = mgpu_cut_front(lists, &rest, lane_items);

			lanes[k] = lane_of(lists, &cut, out);
			out = out_at(lists, out, lane_items);
		}
		mgpu_vector_merge(&lists->codec, lanes, LANES, lane_items);
	}
	if (rest.begin == rest.end)
		return;
	lanes[0] = lane_of(lists, &rest, out);
	mgpu_vector_merge(&lists->codec, lanes, 1, rest.end - rest.begin);
}

/*
 * Pad a list with last items.  Items at its end that equal them count as padding.
 * Returns the number of other items: none of them ties with the padding.
 */
static uint64_t
pad_list(const mgpu_codec *codec, void *list, uint64_t num_items)
{
	uint32_t	width = codec->width;
	char	   *end = (char *) list + num_items * width;
	mgpu_u128	last;

	last_item(codec, &last);
	if (width == 4)
		for (int i = 0; i < MGPU_MERGE_AHEAD; i++)
			((uint32_t *) end)[i] = (uint32_t) last;
	else
		for (int i = 0; i < MGPU_MERGE_AHEAD; i++)
			memcpy(end + (uint32_t) i * width, &last, width);
	/* comparing the last byte first saves most calls of memcmp */
	while (num_items > 0 && end[-1] == ((char *) &last)[width - 1] && memcmp(end - width, &last, width) == 0)
	{
		num_items--;
		end -= width;
	}
	return num_items;
}

void
mgpu_merge_padded(const mgpu_codec *codec, bool vectors, void *a, uint64_t num_a, uint64_t num_b, void *out)
{
	void	   *b = mgpu_padded_b(codec, a, num_a);
	mgpu_lists	lists = {.codec = *codec,.vectors = vectors,.padded = true,.a = a,.b = b};
	mgpu_cut	all = {0};
	uint64_t	num_last = num_a + num_b;

	lists.num_a = pad_list(codec, a, num_a);
	lists.num_b = pad_list(codec, b, num_b);
	all.a_end = lists.num_a;
	all.end = lists.num_a + lists.num_b;
	num_last -= all.end;
	mgpu_merge_cut(&lists, &all, out, NULL);
	for (uint64_t i = 0; i < num_last; i++)
		last_item(codec, out_at(&lists, out, all.end + i));
}

/* As merge_vectors, near the ends of lists: merges copies that have space for padding. */
static void
merge_copies(const mgpu_lists *lists, mgpu_cut rest, void *out)
{
	uint64_t	copies[COPY_ITEMS + 2 * MGPU_MERGE_AHEAD];
	uint32_t	width = lists->codec.width;

	while (rest.begin < rest.end)
	{
		mgpu_cut	cut = mgpu_cut_front(lists, &rest, COPY_ITEMS);
		uint64_t	num_items = cut.end - cut.begin;
		uint64_t	num_a = cut.a_end - cut.a_begin;

		memcpy(copies, item_at(lists, lists->a, cut.a_begin), num_a * width);
		memcpy(mgpu_padded_b(&lists->codec, copies, num_a), item_at(lists, lists->b, cut.begin - cut.a_begin),
			   (num_items - num_a) * width);
		mgpu_merge_padded(&lists->codec, true, copies, num_a, num_items - num_a, out);
		out = out_at(lists, out, num_items);
	}
}

/* Whether a part of a list, or the items that a merge may read behind it, has NaN or -0. */
static bool
has_special(const mgpu_lists *lists, const void *list, uint64_t num_items, uint64_t begin, uint64_t end)
{
	end = num_items - end < MGPU_MERGE_AHEAD ? num_items : end + MGPU_MERGE_AHEAD;
	return (mgpu_vector_probe(&lists->codec, item_at(lists, list, begin), end - begin) & MGPU_PROBE_SPECIAL) != 0;
}

static bool
is_for_vectors(const mgpu_lists *lists, const mgpu_cut *cut)
{
	if (!lists->vectors || mgpu_vector_items(lists->codec.width) == 0 || cut->end - cut->begin <= SCALAR_ITEMS)
		return false;
	return lists->padded || lists->codec.kind != MGPU_KEY_FLOAT ||
		(!has_special(lists, lists->a, lists->num_a, cut->a_begin, cut->a_end) &&
		 !has_special(lists, lists->b, lists->num_b, cut->begin - cut->a_begin, cut->end - cut->a_end));
}

/* Copy a part whose items all come from one list. */
static void
copy_part(const mgpu_lists *lists, const mgpu_cut *cut, void *out, uint32_t *indices)
{
	uint64_t	num_items = cut->end - cut->begin;
	bool		is_b = cut->a_begin == cut->a_end;
	uint64_t	first = is_b ? cut->begin - cut->a_begin : cut->a_begin;

	memcpy(out, item_at(lists, is_b ? lists->b : lists->a, first), num_items * lists->codec.width);
	if (indices == NULL)
		return;
	first += is_b ? lists->num_a : 0;
	for (uint64_t i = 0; i < num_items; i++)
		indices[i] = (uint32_t) (first + i);
}

void
mgpu_merge_cut(const mgpu_lists *lists, const mgpu_cut *cut, void *out, uint32_t *indices)
{
	mgpu_cut	rest = *cut;

	while (rest.begin < rest.end)
	{
		mgpu_cut	block = mgpu_cut_front(lists, &rest, BLOCK_ITEMS);
		uint64_t	num_items = block.end - block.begin;

		if (block.a_end == block.a_begin || block.a_end - block.a_begin == num_items)
			copy_part(lists, &block, out, indices);
		else if (indices != NULL || !is_for_vectors(lists, &block))
			merge_scalar(lists, block, out, indices);
		else if (is_ahead_readable(lists, &block, MGPU_MERGE_AHEAD))
			merge_vectors(lists, block, out);
		else
			merge_copies(lists, block, out);
		out = out_at(lists, out, num_items);
		if (indices != NULL)
			indices += num_items;
	}
}

/* Items of one vector probe.  A scalar loop then finds the exact position. */
#define PROBE_ITEMS 4096

uint64_t
mgpu_first_unsorted(const mgpu_codec *codec, bool vectors, const void *items,
					uint64_t begin, uint64_t end)
{
	const mgpu_merge_functions *functions = mgpu_merge_functions_of(codec);

	while (begin < end)
	{
		uint64_t	stop = end - begin < PROBE_ITEMS ? end : begin + PROBE_ITEMS;
		uint64_t	before = begin > 0 ? begin - 1 : 0;

		if (!vectors || mgpu_vector_items(codec->width) == 0 || stop - before <= SCALAR_ITEMS ||
			mgpu_vector_probe(codec, (const char *) items + before * codec->width, stop - before) != 0)
		{
			uint64_t	found = functions->first_unsorted(codec, items, begin, stop);

			if (found < stop)
				return found;
		}
		begin = stop;
	}
	return end;
}

uint64_t
mgpu_count_below(const mgpu_codec *codec, const void *items, uint64_t num_items, const void *item)
{
	return mgpu_merge_functions_of(codec)->count_below(codec, items, num_items, item);
}

uint64_t
mgpu_count_above(const mgpu_codec *codec, const void *end, uint64_t num_items, const void *item)
{
	return mgpu_merge_functions_of(codec)->count_above(codec, end, num_items, item);
}
