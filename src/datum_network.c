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
#include "utils/sortsupport.h"

#include "compat.h"
#include "datum_network.h"

typedef struct network
{
	const Datum *values;
	SortSupportData support;
	uint32	   *ranks;
	int64		num_items;
} network;

/* Order the pairs (i, i + stride) for i in begin … begin + stride - 1. */
static void
order_stretch(network *net, int64 begin, int64 stride)
{
	int64		end = Min(begin + stride, net->num_items - stride);

	for (int64 i = begin; i < end; i++)
	{
		uint32		left = net->ranks[i];
		uint32		right = net->ranks[i + stride];

		if (ApplySortComparator(net->values[left], false, net->values[right], false, &net->support) > 0)
		{
			net->ranks[i] = right;
			net->ranks[i + stride] = left;
		}
	}
	CHECK_FOR_INTERRUPTS();
}

void
datum_network_sort(const Datum *values, int64 num_items, const element_type *type,
				   bool descending, Oid collation, uint32 *ranks)
{
	network		net;

	memset(&net, 0, sizeof(net));
	net.values = values;
	net.ranks = ranks;
	net.num_items = num_items;
	net.support.ssup_cxt = CurrentMemoryContext;
	net.support.ssup_collation = collation;
	PrepareSortSupportFromOrderingOp(descending ? type->gt_operator : type->lt_operator, &net.support);
	for (int64 i = 0; i < num_items; i++)
		ranks[i] = (uint32) i;
	for (int64 size = 2; size / 2 < num_items; size *= 2)
		for (int64 stride = size / 2; stride >= 1; stride /= 2)
		{
			int64		first = stride == size / 2 ? 0 : stride;

			for (int64 group = 0; group < num_items; group += size)
				for (int64 begin = first; begin + stride < size && group + begin < num_items; begin += 2 * stride)
					order_stretch(&net, group + begin, stride);
		}
}
