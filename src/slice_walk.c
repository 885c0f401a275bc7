/*
 * slice_walk.c
 *		Where the slices of a multi-dimensional array lie.
 *
 * Where slices begin follows from their numbers, or is noted where elements vary in
 * their widths or are NULL.  Of very many slices that is noted of some, before which
 * others are walked over, or said by how many elements are NULL.
 *
 * Rejected: slices as arrays of their own, which take 40 bytes each beside their
 * elements.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array_result.h"
#include "slice_walk.h"

/* What notes of where slices begin may take. */
#define OFFSETS_BYTES (40 * 1024 * 1024)

/* Elements handled between looks at interrupts, or slices. */
#define STEP_ITEMS (64 * 1024)

static void
add_shortfall(slice_layout *layout, Size slice_bytes)
{
	if (slice_bytes < sizeof(uint32))
		layout->shortfall += sizeof(uint32) - slice_bytes;
}

/* All are walked over once. */
static void
note_slices(slice_layout *layout)
{
	slice_walk	walk = {layout, 0, layout->data};

	for (layout->step = 1; (layout->num_slices / layout->step + 1) * sizeof(uint32) > OFFSETS_BYTES;)
		layout->step *= 2;
	layout->note_bytes = (layout->num_slices / layout->step + 1) * sizeof(uint32);
	layout->offsets = array_result_scratch(layout->note_bytes);
	for (int64 i = 0; i < layout->num_slices; i++)
	{
		const char *begin = walk.next;

		if (i % layout->step == 0)
			layout->offsets[i / layout->step] = begin - layout->data;
		for (int64 j = 0; j < layout->slice_items; j++)
		{
			if (null_bitmap_present(layout->bitmap, walk.item))
				array_source_require(layout->source, walk.next - layout->data + 1);
			(void) next_element(&walk);
			if (walk.item % STEP_ITEMS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		array_source_require(layout->source, walk.next - layout->data);
		add_shortfall(layout, walk.next - begin);
	}
	layout->data_bytes = walk.next - layout->data;
}

/* The same of elements of one width. */
static void
note_nulls(slice_layout *layout)
{
	null_map_build(&layout->nulls, layout->bitmap, layout->source->num_items);
	layout->note_bytes = 2 * layout->nulls.num_words * sizeof(uint32);
	for (int64 i = 0; i < layout->num_slices; i++)
	{
		int64		item = i * layout->slice_items;

		add_shortfall(layout, null_bitmap_count(layout->bitmap, item, item + layout->slice_items) * layout->type.stride);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
slice_layout_open(slice_layout *layout, array_source *source)
{
	memset(layout, 0, sizeof(*layout));
	layout->source = source;
	element_type_fill(&layout->type, source->element_type);
	element_type_check_sortable(&layout->type);
	array_source_load(source);
	layout->data = array_source_data(source);
	layout->bitmap = source->num_nulls > 0 ? source->null_bitmap : NULL;
	layout->num_slices = source->dims[0];
	layout->slice_items = source->num_items / layout->num_slices;
	layout->data_bytes = (Size) (source->num_items - source->num_nulls) * layout->type.stride;
	array_source_require(source, layout->data_bytes);
}

void
slice_layout_note(slice_layout *layout)
{
	if (layout->type.stride > 0 && layout->bitmap == NULL)
	{
		layout->slice_bytes = (Size) layout->slice_items * layout->type.stride;
		if (layout->slice_bytes < sizeof(uint32))
			layout->shortfall = layout->num_slices * (sizeof(uint32) - layout->slice_bytes);
	}
	else if (layout->type.stride > 0 && (layout->num_slices + 1) * sizeof(uint32) > OFFSETS_BYTES)
		note_nulls(layout);
	else
		note_slices(layout);
}

void
slice_layout_free(slice_layout *layout)
{
	if (layout->offsets)
		pfree(layout->offsets);
	else if (layout->bitmap)
		null_map_free(&layout->nulls);
}
