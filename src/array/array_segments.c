/*
 * array_segments.c
 *		Segments of an array.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array/null_map.h"
#include "array/array_segments.h"

/* Segments handled between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

void
segments_of_present(segment_list *present, const segment_list *segments, const array_source *source)
{
	uint32		rank = 0;

	present->heads = palloc_extended(segments->num_segments * sizeof(uint32), MCXT_ALLOC_HUGE);
	present->num_segments = 0;
	present->num_items = source->num_items - source->num_nulls;
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		count = null_bitmap_count(source->null_bitmap, segments->heads[i],
											  segment_end(segments, i));

		if (count > 0)
			present->heads[present->num_segments++] = rank;
		rank += count;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}
