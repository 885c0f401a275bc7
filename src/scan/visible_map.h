/*
 * visible_map.h
 *		What a table's visibility map proves: that a page's rows are those that they were.
 *
 * A bit that is set, of a page of the map whose LSN is what it was: DESIGN.md says why that is enough.
 */
#ifndef MGPU_VISIBLE_MAP_H
#define MGPU_VISIBLE_MAP_H

#include "access/relscan.h"

#include "core/service/kept_pages.h"

/* Whether it proves that for a scan. */
extern bool visible_map_proves(HeapScanDesc scan);

/*
 * Copy the all-visible bits of blocks, of one page of the map, to its MGPU_KEPT_RANGES words, others of which stay as they are; and return that
 * page's LSN.  0: there is no such page, or it has none, and no bit counts.
 */
extern uint64 visible_map_read(HeapScanDesc scan, BlockNumber first, uint32 num_blocks, uint64 *bits);

/* The bit of a block, of those of its page of the map. */
static inline bool
visible_map_has(const uint64 *bits, BlockNumber block)
{
	uint32		offset = block % MGPU_KEPT_STRETCH;

	return (bits[offset / MGPU_KEPT_RANGE] >> offset % MGPU_KEPT_RANGE & 1) != 0;
}

#endif							/* MGPU_VISIBLE_MAP_H */
