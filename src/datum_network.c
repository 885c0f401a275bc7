/*
 * datum_network.c
 *		Batcher's odd-even mergesort network for types that are compared.
 *
 * K. E. Batcher, "Sorting networks and their applications" (1968), in iterative
 * form: runs of size/2 are merged to runs of size by strides from size/2 down to
 * 1.  At the first stride the left partners are the lower half of each group;
 * at the smaller ones they are every odd stretch of stride elements but the
 * last.  Partners past the end are skipped as if +infinity stood there, so any
 * length works.  Executors run the same network on keys that they know.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "datum_network.h"

/* Comparisons between two looks at interrupts. */
#define STEP_ITEMS (16 * 1024)

/* Order the pairs (i, i + stride) for i in begin … begin + stride - 1. */
static void
order_stretch(compared_sort *sort, int64 num_items, int64 begin, int64 stride)
{
	int64		end = Min(begin + stride, num_items - stride);
	uint32	   *refs = sort->refs;

	for (int64 i = begin; i < end; i++)
	{
		uint32		left = refs[i];
		uint32		right = refs[i + stride];
		int			order = sort->compare(compared_value(sort, left), compared_value(sort, right), &sort->support);

		if (sort->descending ? order < 0 : order > 0)
		{
			refs[i] = right;
			refs[i + stride] = left;
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	CHECK_FOR_INTERRUPTS();
}

void
datum_network_sort(compared_sort *sort, int64 num_items)
{
	for (int64 size = 2; size / 2 < num_items; size *= 2)
		for (int64 stride = size / 2; stride >= 1; stride /= 2)
		{
			int64		first = stride == size / 2 ? 0 : stride;

			for (int64 group = 0; group < num_items; group += size)
				for (int64 begin = first; begin + stride < size && group + begin < num_items; begin += 2 * stride)
					order_stretch(sort, num_items, group + begin, stride);
		}
}
