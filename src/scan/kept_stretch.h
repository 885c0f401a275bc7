/*
 * kept_stretch.h
 *		Which pages of a table a GPU keeps, for the blocks of one page of its visibility map at a time.
 *
 * The map's page is copied, the service is asked, and its answer says which pages need not be sent.  DESIGN.md says why such a page still
 * has the same rows.
 */
#ifndef MGPU_KEPT_STRETCH_H
#define MGPU_KEPT_STRETCH_H

#include "access/relscan.h"

#include "scan/visible_map.h"

typedef struct kept_stretch
{
	bool		is_known;		/* there is an answer for ... */
	uint32		number;			/* ... the blocks of this page of the map */
	uint64		lsn;
	bool		has_stored;		/* pages were sent that the GPU stores, and the bits are to be read once more */
	uint64		bits[MGPU_KEPT_RANGES];	/* of the map */
	mgpu_kept_range ranges[MGPU_KEPT_RANGES];
} kept_stretch;

/* Whether pages of a scan's table may be kept, or be read where they are kept. */
extern bool kept_stretch_serves(HeapScanDesc scan);

/* Write a question of this block's map page; or one whether pages that were stored are still the same. */
extern void kept_stretch_ask(kept_stretch *stretch, HeapScanDesc scan, BlockNumber block, mgpu_kept_question *question);
extern void kept_stretch_confirm(kept_stretch *stretch, HeapScanDesc scan, mgpu_kept_question *question);

/* Take the answer to the first one. */
extern void kept_stretch_take(kept_stretch *stretch, const mgpu_kept_question *answer);

static inline bool
kept_stretch_covers(const kept_stretch *stretch, BlockNumber block)
{
	return stretch->is_known && block / MGPU_KEPT_STRETCH == stretch->number;
}

/* The place of a block that is covered. */
static inline uint32
kept_stretch_place(const kept_stretch *stretch, BlockNumber block)
{
	uint32		offset = block % MGPU_KEPT_STRETCH;

	return stretch->ranges[offset / MGPU_KEPT_RANGE].frame * MGPU_KEPT_RANGE + offset % MGPU_KEPT_RANGE + 1;
}

/* How many blocks from this one on, up to `most`, the GPU keeps at places one after the other. */
static inline uint32
kept_stretch_run(const kept_stretch *stretch, BlockNumber block, uint32 most)
{
	uint32		offset = block % MGPU_KEPT_STRETCH;
	uint64		bits;

	if (!kept_stretch_covers(stretch, block))
		return 0;
	bits = stretch->ranges[offset / MGPU_KEPT_RANGE].bits >> offset % MGPU_KEPT_RANGE;
	return Min(most, bits == PG_UINT64_MAX ? 64 : (uint32) __builtin_ctzll(~bits));
}

/* Where the GPU may store a block that is marked all-visible itself; 0: nowhere. */
static inline uint32
kept_stretch_store(kept_stretch *stretch, BlockNumber block)
{
	uint32		offset = block % MGPU_KEPT_STRETCH;

	if (!kept_stretch_covers(stretch, block) || stretch->ranges[offset / MGPU_KEPT_RANGE].may_store == 0 ||
		!visible_map_has(stretch->bits, block))
		return 0;
	stretch->has_stored = true;
	return kept_stretch_place(stretch, block);
}

#endif							/* MGPU_KEPT_STRETCH_H */
