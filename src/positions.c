/*
 * positions.c
 *		The sorted order of an array's elements, as positions.
 *
 * Elements that are there are sorted by rank (their count among themselves),
 * by the best way that their type allows; then ranks become positions and NULL
 * elements take their place before or after.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "datum_sort.h"
#include "null_map.h"
#include "positions.h"
#include "run.h"

/* How many elements to handle between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* ranks of num_items keys in memory or still in their source. */
static void
rank_keys(const char *function, array_source *source, const void *keys, int64 num_items,
		  uint32 key_kind, uint32 key_width, bool descending, uint32 *ranks)
{
	run_request request;

	if (keys != NULL && num_items <= MGPU_CPU_NOW_PAIRS && !run_is_forced(num_items))
	{
		run_note_cpu(function, "quick", num_items, num_items * key_width, "few items");
		mgpu_cpu_argsort_now(keys, ranks, num_items, key_kind, key_width, descending);
		return;
	}
	memset(&request, 0, sizeof(request));
	request.function = function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.key_kind = key_kind;
	request.job.key_width = key_width;
	request.job.outputs = MGPU_OUT_INDICES;
	request.job.descending = descending;
	request.job.num_items = num_items;
	request.binding.in_keys = keys;
	request.binding.out_indices = ranks;
	request.sources[MGPU_CHANNEL_KEYS] = source;
	run_job(&request);
}

static void
rank_direct(const char *function, array_source *source, const element_type *type,
			int64 num_items, bool descending, uint32 *ranks)
{
	Size		bytes = (Size) num_items * type->stride;
	const void *keys = array_source_bound(source, type->key_width);

	array_source_require(source, bytes);
	/* an array inside a row may be less aligned than its elements want */
	if (keys == NULL && !array_source_is_streamed(source))
		keys = memcpy(palloc_extended(bytes, MCXT_ALLOC_HUGE), array_source_data(source), bytes);
	rank_keys(function, source, keys, num_items, type->key_kind, type->key_width, descending, ranks);
}

/* False: some element has no 64-bit key. */
static bool
rank_encoded(const char *function, array_source *source, const element_type *type,
			 int64 num_items, bool descending, uint32 *ranks)
{
	int64	   *codes = palloc_extended(num_items * sizeof(int64), MCXT_ALLOC_HUGE);
	const char *element;
	bool		fits = true;

	array_source_load(source);
	array_source_require(source, (Size) (num_items - 1) * type->stride + type->typlen);
	element = array_source_data(source);
	for (int64 i = 0; fits && i < num_items; i++, element += type->stride)
	{
		fits = type->encode(element, &codes[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (fits)
		rank_keys(function, source, codes, num_items, MGPU_KEY_SIGNED, sizeof(int64), descending, ranks);
	pfree(codes);
	return fits;
}

static void
rank_compared(const char *function, array_source *source, const element_type *type,
			  int64 num_items, bool descending, Oid collation, uint32 *ranks)
{
	Datum	   *values = palloc_extended(num_items * sizeof(Datum), MCXT_ALLOC_HUGE);
	Size		offset = 0;
	char	   *data;

	array_source_load(source);
	data = array_source_data(source);
	for (int64 i = 0; i < num_items; i++)
	{
		array_source_require(source, offset + 1);
		values[i] = fetch_att(data + offset, type->typbyval, type->typlen);
		offset = att_addlength_pointer(offset, type->typlen, data + offset);
		offset = att_align_nominal(offset, type->typalign);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	run_note_cpu(function, "compare", num_items, source->data_bytes,
				 "the type is sorted by its comparison function, on the CPU");
	datum_sort(values, num_items, type, descending, collation, ranks);
	pfree(values);
}

/* In place: ranks of present elements → base + their positions. */
static void
ranks_to_positions(const array_source *source, int64 num_items, int32 base, int32 *positions)
{
	null_map	map;

	if (source->num_nulls == 0)
	{
		if (base != 0)
			for (int64 i = 0; i < num_items; i++)
				positions[i] += base;
		return;
	}
	null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < num_items; i++)
	{
		positions[i] = base + (int32) null_map_select(&map, positions[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	null_map_free(&map);
}

static void
null_positions(const array_source *source, int32 base, int32 *positions)
{
	int64		found = 0;

	for (int64 i = 0; found < source->num_nulls; i++)
		if (!null_bitmap_present(source->null_bitmap, i))
			positions[found++] = base + (int32) i;
}

void
sorted_positions(const char *function, array_source *keys, const element_type *type,
				 const sort_order *order, Oid collation, int32 base, int32 *positions)
{
	int64		num_present = keys->num_items - keys->num_nulls;
	int32	   *present = positions + (order->nulls_first ? keys->num_nulls : 0);
	uint32	   *ranks = (uint32 *) present;

	if (num_present > 0)
	{
		if (type->key_kind != 0)
			rank_direct(function, keys, type, num_present, order->descending, ranks);
		else if (type->encode == NULL ||
				 !rank_encoded(function, keys, type, num_present, order->descending, ranks))
			rank_compared(function, keys, type, num_present, order->descending, collation, ranks);
		ranks_to_positions(keys, num_present, base, present);
	}
	null_positions(keys, base, positions + (order->nulls_first ? 0 : num_present));
}
