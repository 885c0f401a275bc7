/*
 * array_gather.c
 *		Fills a result array with another one's elements, by their positions.
 *
 * A call may take no memory for positions beside its input and its result, so
 * they wait at the end of the result's data, where elements of four bytes and
 * more, written from the front, never reach one that has not been read.  NULL
 * elements take no room, so their positions are left out first, and the others
 * move up to the end.  Where the data are less than positions take, these stand
 * out behind the result by the difference, no more.
 *
 * Offsets of elements whose widths vary are in the front of the same data, which
 * is still empty, where they are too many for memory of their own.  Then they take
 * the positions' place before elements are moved, each of which knows its size.
 * That is a pass more, and waits for memory twice in turn rather than at once.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "compat.h"

#include "array_gather.h"
#include "array_result.h"

/* How many elements to move between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Positions are copied in such blocks before what is written may overwrite them. */
#define BLOCK_ITEMS 512

/* Offsets of elements that have memory of their own take no more, if there is other room. */
#define OWN_OFFSETS_BYTES (48 * 1024 * 1024)

/* The same of elements that are added some at a time; of the rest they are found from there. */
#define FILLER_OFFSETS_BYTES (4 * 1024 * 1024)

/* Where an element is is fetched so many places ahead. */
#define OFFSETS_AHEAD 64

/* Whether elements say how many bytes they have, and these are as many as a position's. */
static bool
has_int_header(const element_type *type)
{
	return type->typlen == -1 && (type->typalign == TYPALIGN_INT || type->typalign == TYPALIGN_DOUBLE);
}

/*
 * With so much room, no element reaches a position behind its own: what is left
 * of both is smallest for the last elements, and theirs is checked here.
 */
Size
array_gather_bytes(const element_type *type, int64 num_items, int64 num_nulls, Size data_bytes)
{
	Size		least = type->stride > 0 ? type->stride : has_int_header(type) ? VARHDRSZ : 1;
	Size		bytes = data_bytes;

	if (least < sizeof(int32))
		bytes += (num_items - num_nulls) * (sizeof(int32) - least);
	bytes = Max(bytes, num_items * sizeof(int32));
	return TYPEALIGN(sizeof(int32), bytes);
}

int32 *
array_gather_room(ArrayType *result, int64 num_items, Size gather_bytes)
{
	return (int32 *) (ARR_DATA_PTR(result) + gather_bytes) - num_items;
}

#define DEFINE_GATHER(width) \
static void \
gather_##width(char *dest, const char *data, const int32 *positions, int num_items) \
{ \
	for (int i = 0; i < num_items; i++) \
		memcpy(dest + (Size) i * width, data + (Size) positions[i] * width, width); \
}

DEFINE_GATHER(1)
DEFINE_GATHER(2)
DEFINE_GATHER(4)
DEFINE_GATHER(8)
DEFINE_GATHER(16)

static void
gather_block(char *dest, const char *data, int stride, const int32 *positions, int num_items)
{
	switch (stride)
	{
		case 1:
			gather_1(dest, data, positions, num_items);
			break;
		case 2:
			gather_2(dest, data, positions, num_items);
			break;
		case 4:
			gather_4(dest, data, positions, num_items);
			break;
		case 8:
			gather_8(dest, data, positions, num_items);
			break;
		case 16:
			gather_16(dest, data, positions, num_items);
			break;
		default:
			for (int i = 0; i < num_items; i++)
				memcpy(dest + (Size) i * stride, data + (Size) positions[i] * stride, stride);
	}
}

static void
gather_fixed(char *dest, const char *data, int stride, const int32 *positions, int64 num_items)
{
	int32		block[BLOCK_ITEMS];

	for (int64 i = 0; i < num_items; i += BLOCK_ITEMS)
	{
		int			count = Min(BLOCK_ITEMS, num_items - i);

		memcpy(block, positions + i, count * sizeof(int32));
		gather_block(dest + (Size) i * stride, data, stride, block, count);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * The result's bitmap, and positions of present elements at the end of positions;
 * where they begin.
 */
static int32 *
leave_out_nulls(ArrayType *result, const array_source *source, int32 *positions)
{
	bits8	   *bitmap = ARR_NULLBITMAP(result);
	int32	   *to = positions + source->num_items;

	memset(bitmap, 0, (source->num_items + 7) / 8);
	for (int64 i = source->num_items - 1; i >= 0; i--)
	{
		if (null_bitmap_present(source->null_bitmap, positions[i]))
		{
			bitmap[i / 8] |= 1 << (i % 8);
			*--to = positions[i];
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return to;
}

/* Positions become ranks among the elements that are there. */
static void
find_ranks(const array_source *source, int32 *positions, int64 num_positions)
{
	null_map	map;

	null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < num_positions; i++)
	{
		positions[i] = (int32) null_map_rank(&map, positions[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	null_map_free(&map);
}

static MGPU_NORETURN void
raise_past_end(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("array elements run past the end of the array")));
}

/* Byte offset of each element, of a NULL one that of the next; num_items + 1 of them. */
static void
fill_offsets(uint32 *offsets, const array_source *source, const element_type *type)
{
	const char *data = array_source_data(source);
	const bits8 *bitmap = source->null_bitmap;
	/* array_gather_room counts on so many */
	Size		least = type->typlen == -1 ? VARHDRSZ : 1;
	Size		offset = 0;
	Size		bytes = 0;

	for (int64 i = 0; i < source->num_items; i++)
	{
		offsets[i] = (uint32) offset;
		if (null_bitmap_present(bitmap, i))
		{
			if (offset < source->data_bytes)
				bytes = att_align_nominal(att_addlength_pointer(0, type->typlen, data + offset), type->typalign);
			if (offset >= source->data_bytes || bytes < least || bytes > source->data_bytes - offset)
				raise_past_end();
			offset += bytes;
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	offsets[source->num_items] = (uint32) offset;
}

/* Sizes by themselves, of the alignments that elements of variable width have in arrays. */
static uint32
bytes_to_int(const char *element)
{
	return INTALIGN(VARSIZE_ANY(element));
}

static uint32
bytes_to_double(const char *element)
{
	return DOUBLEALIGN(VARSIZE_ANY(element));
}

/* Positions become byte offsets. */
static void
look_up(uint32 *positions, int64 num_positions, const uint32 *offsets)
{
	for (int64 i = 0; i < num_positions; i++)
	{
		if (i + OFFSETS_AHEAD < num_positions)
			__builtin_prefetch(&offsets[positions[i + OFFSETS_AHEAD]]);
		positions[i] = offsets[positions[i]];
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Offsets have memory of their own, and are looked up while elements move, if a
 * call may have that much or the front of the result has no room for them.
 */
static void
gather_variable(ArrayType *result, const array_source *source, const element_type *type,
				uint32 *positions, int64 num_positions)
{
	Size		offsets_bytes = (source->num_items + 1) * sizeof(uint32);
	char	   *front = ARR_DATA_PTR(result);
	char	   *data_end = (char *) result + VARSIZE(result);
	Size		room = data_end - front;
	uint32	   *offsets;
	mgpu_gather gather;

	if ((char *) positions >= front && (char *) positions < data_end)
		room = (char *) positions - front;
	memset(&gather, 0, sizeof(gather));
	gather.data = array_source_data(source);
	gather.positions = positions;
	gather.num_items = num_positions;
	gather.dest = front;
	if (offsets_bytes <= OWN_OFFSETS_BYTES || room < offsets_bytes || !has_int_header(type))
	{
		offsets = array_result_scratch(offsets_bytes);
		fill_offsets(offsets, source, type);
		gather.offsets = offsets;
		array_result_run_gather(&gather, source->data_bytes);
		pfree(offsets);
		return;
	}
	offsets = (uint32 *) front;
	fill_offsets(offsets, source, type);
	look_up(positions, num_positions, offsets);
	gather.bytes_of = type->typalign == TYPALIGN_DOUBLE ? bytes_to_double : bytes_to_int;
	array_result_run_gather(&gather, source->data_bytes);
}

void
array_gather(ArrayType *result, const array_source *source, const element_type *type, int32 *positions)
{
	int64		num_present = source->num_items - source->num_nulls;

	Assert(source->array != NULL);
	if (source->num_nulls > 0)
		positions = leave_out_nulls(result, source, positions);
	if (type->stride == 0)
	{
		gather_variable(result, source, type, (uint32 *) positions, num_present);
		return;
	}
	if (source->num_nulls > 0)
		find_ranks(source, positions, num_present);
	gather_fixed(ARR_DATA_PTR(result), array_source_data(source), type->stride, positions, num_present);
}

/* ---- a result that is filled from the front */

static int64
num_offsets(const array_filler *filler)
{
	return (filler->source->num_items - filler->source->num_nulls) / filler->offset_step + 1;
}

/* Of an element that is there, with what aligns the next one. */
static inline Size
filler_bytes(const array_filler *filler, Size offset)
{
	const element_type *type = filler->type;

	return att_align_nominal(att_addlength_pointer(0, type->typlen, array_source_data(filler->source) + offset),
							 type->typalign);
}

static MGPU_NORETURN void
raise_not_once(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("comparisons of the keys contradict each other"),
			 errdetail("By these, not every element has one place in the order."),
			 errhint("The comparison function of the keys' type, or the collation that it uses, must say the same each time.")));
}

/* Where some elements are, so that the way to others is short; all, where they are few. */
static void
note_offsets(array_filler *filler)
{
	const array_source *source = filler->source;
	int64		num_present = source->num_items - source->num_nulls;
	Size		offset = 0;

	filler->offset_step = 1;
	while (num_offsets(filler) * sizeof(uint32) > FILLER_OFFSETS_BYTES)
		filler->offset_step *= 2;
	filler->offsets = array_result_scratch(num_offsets(filler) * sizeof(uint32));
	for (int64 i = 0; i < num_present; i++)
	{
		Size		bytes = offset < source->data_bytes ? filler_bytes(filler, offset) : 0;

		if (bytes == 0 || bytes > source->data_bytes - offset)
			raise_past_end();
		if (i % filler->offset_step == 0)
			filler->offsets[i / filler->offset_step] = (uint32) offset;
		offset += bytes;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	filler->end = filler->next + offset;
}

void
array_filler_start(array_filler *filler, ArrayType *result, const array_source *source, const element_type *type)
{
	Assert(source->array != NULL);
	memset(filler, 0, sizeof(*filler));
	filler->result = result;
	filler->source = source;
	filler->type = type;
	filler->next = ARR_DATA_PTR(result);
	filler->end = filler->next + (source->num_items - source->num_nulls) * type->stride;
	if (type->stride == 0)
		note_offsets(filler);
	if (source->num_nulls == 0)
		return;
	Assert(ARR_HASNULL(result));
	null_map_build(&filler->map, source->null_bitmap, source->num_items);
	memset((char *) result + ARR_OVERHEAD_NONULLS(1), 0, (source->num_items + 7) / 8);
}

Size
array_filler_bytes(const array_filler *filler)
{
	Size		bytes = filler->source->num_nulls > 0 ? null_map_bytes(&filler->map) : 0;

	if (filler->offsets)
		bytes += num_offsets(filler) * sizeof(uint32);
	return bytes;
}

/* Ranks of those of some positions that are there, and bits for them; how many. */
static int
add_present(array_filler *filler, const int32 *positions, int num_positions, int32 *ranks)
{
	bits8	   *bitmap = ARR_NULLBITMAP(filler->result);
	int64		to = filler->num_items;
	int			num_ranks = 0;

	for (int i = 0; i < num_positions; i++, to++)
		if (null_bitmap_present(filler->source->null_bitmap, positions[i]))
		{
			bitmap[to / 8] |= 1 << (to % 8);
			ranks[num_ranks++] = (int32) null_map_rank(&filler->map, positions[i]);
		}
	return num_ranks;
}

/* Elements of variable width, by their ranks. */
static void
add_variable(array_filler *filler, const int32 *ranks, int num_ranks)
{
	const char *data = array_source_data(filler->source);
	int			step = filler->offset_step;
	Size		offsets[BLOCK_ITEMS];

	for (int i = 0; i < num_ranks; i++)
	{
		offsets[i] = filler->offsets[ranks[i] / step];
		__builtin_prefetch(data + offsets[i]);
	}
	for (int i = 0; i < num_ranks; i++)
	{
		Size		bytes;

		for (int j = ranks[i] % step; j > 0; j--)
			offsets[i] += filler_bytes(filler, offsets[i]);
		bytes = filler_bytes(filler, offsets[i]);
		if (bytes > (Size) (filler->end - filler->next))
			raise_not_once();
		memcpy(filler->next, data + offsets[i], bytes);
		filler->next += bytes;
	}
}

/* Elements of one width, likewise. */
static void
add_fixed(array_filler *filler, const int32 *ranks, int num_ranks)
{
	Size		bytes = (Size) num_ranks * filler->type->stride;

	if (bytes > (Size) (filler->end - filler->next))
		raise_not_once();
	gather_block(filler->next, array_source_data(filler->source), filler->type->stride, ranks, num_ranks);
	filler->next += bytes;
}

void
array_filler_add(array_filler *filler, const int32 *positions, int64 num_positions)
{
	int32		ranks[BLOCK_ITEMS];

	if (num_positions > filler->source->num_items - filler->num_items)
		raise_not_once();
	for (int64 i = 0; i < num_positions; i += BLOCK_ITEMS)
	{
		const int32 *from = positions + i;
		int			count = Min(BLOCK_ITEMS, num_positions - i);
		int			num_present = count;

		if (filler->source->num_nulls > 0)
		{
			num_present = add_present(filler, from, count, ranks);
			from = ranks;
		}
		if (filler->offsets)
			add_variable(filler, from, num_present);
		else
			add_fixed(filler, from, num_present);
		filler->num_items += count;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
array_filler_end(array_filler *filler, bool done)
{
	if (done && (filler->num_items != filler->source->num_items || filler->next != filler->end))
		raise_not_once();
	if (filler->offsets)
		pfree(filler->offsets);
	if (filler->source->num_nulls > 0)
		null_map_free(&filler->map);
}
