/*
 * vqsort_highway.cpp
 *		The one C++ file of the core.  See vqsort_highway.h.
 *
 * Some versions of Highway give a Sorter scratch memory, which two calls must not
 * share.  So each call has its own.  A Sorter for each thread would be made once,
 * but the C library ends the process when memory for a thread's own variables
 * runs out.  The class is used instead of the templates below it, which change
 * from version to version.  Nothing here throws.
 */
#if MGPU_WITH_HIGHWAY

#include "vqsort_highway.h"

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>

extern "C" void
mgpu_highway_prepare(void)
{
	hwy::ChosenTarget &chosen = hwy::GetChosenTarget();

	/* detection takes 25 us in a virtual machine, which traps the instruction */
	if (!chosen.IsInitialized())
		chosen.Update(hwy::SupportedTargets());
}

extern "C" void
mgpu_highway_sort(void *keys, uint64_t num_items, uint32_t width)
{
	hwy::Sorter sorter;
	const size_t n = static_cast<size_t>(num_items);

	if (width == 2)
		sorter(static_cast<uint16_t *>(keys), n, hwy::SortAscending());
	else if (width == 4)
		sorter(static_cast<uint32_t *>(keys), n, hwy::SortAscending());
	else if (width == 8)
		sorter(static_cast<uint64_t *>(keys), n, hwy::SortAscending());
	else
		sorter(static_cast<hwy::uint128_t *>(keys), n, hwy::SortAscending());
}

#endif							/* MGPU_WITH_HIGHWAY */
