/*
 * slice_walk.h
 *		Where the slices of a multi-dimensional array lie, and ways through them.
 */
#ifndef MGPU_SLICE_WALK_H
#define MGPU_SLICE_WALK_H

#include "access/tupmacs.h"

#include "array_source.h"
#include "element_type.h"
#include "null_map.h"

/* The slices of the first dimension; filled by slice_layout_open, and where they begin by slice_layout_note. */
typedef struct slice_layout
{
	array_source *source;
	element_type type;
	const char *data;
	const bits8 *bitmap;		/* NULL: no element is */
	int64		num_slices;
	int64		slice_items;
	Size		slice_bytes;	/* 0: they vary */
	uint32	   *offsets;		/* then where every step'th begins; or NULL, */
	null_map	nulls;			/* if they are of elements of one width, or NULL */
	int64		step;
	Size		note_bytes;		/* of either */
	Size		data_bytes;		/* of all */
	Size		shortfall;		/* what slices have less than numbers of 4 bytes take */
} slice_layout;

/* Load the source and say what its slices are; data_bytes is final where elements have one width. */
extern void slice_layout_open(slice_layout *layout, array_source *source);

/* Note where slices begin, before any walk; slice_layout_free gives the notes back. */
extern void slice_layout_note(slice_layout *layout);
extern void slice_layout_free(slice_layout *layout);

/* A way through elements from some slice on. */
typedef struct slice_walk
{
	const slice_layout *layout;
	int64		item;
	const char *next;			/* the element, or the next one that is not NULL */
} slice_walk;

/* The next element, NULL if it is. */
static inline const char *
next_element(slice_walk *walk)
{
	const slice_layout *layout = walk->layout;
	const char *element = walk->next;

	if (!null_bitmap_present(layout->bitmap, walk->item++))
		return NULL;
	if (layout->type.stride > 0)
		walk->next += layout->type.stride;
	else
		walk->next += att_align_nominal(att_addlength_pointer(0, layout->type.typlen, element), layout->type.typalign);
	return element;
}

static inline slice_walk
walk_from(const slice_layout *layout, int64 slice)
{
	slice_walk	walk = {layout, slice * layout->slice_items, layout->data + slice * layout->slice_bytes};

	if (layout->slice_bytes > 0)
		return walk;
	if (unlikely(layout->offsets == NULL))
	{
		walk.next = layout->data + (Size) null_map_rank(&layout->nulls, walk.item) * layout->type.stride;
		return walk;
	}
	walk.item = slice / layout->step * layout->step * layout->slice_items;
	walk.next = layout->data + layout->offsets[slice / layout->step];
	while (walk.item < slice * layout->slice_items)
		(void) next_element(&walk);
	return walk;
}

/* To the next slice, this being number slice. */
static inline void
pass_slice(const slice_layout *layout, slice_walk *walk, int64 slice)
{
	if (layout->offsets == NULL)
	{
		if (slice + 1 < layout->num_slices)
			*walk = walk_from(layout, slice + 1);
		return;
	}
	for (int64 i = 0; i < layout->slice_items; i++)
		(void) next_element(walk);
}

#endif							/* MGPU_SLICE_WALK_H */
