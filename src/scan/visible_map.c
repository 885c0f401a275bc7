/*
 * visible_map.c
 *		See visible_map.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "core/executor.h"
#include "scan/visible_map.h"
#include "settings.h"

StaticAssertDecl(BLCKSZ != MGPU_PAGE_BYTES || MGPU_KEPT_STRETCH == (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4,
				 "a stretch is what a page of the visibility map has bits of");

static bool
is_of_users(Relation relation)
{
	char		kind = relation->rd_rel->relkind;

	return (kind == RELKIND_RELATION || kind == RELKIND_MATVIEW) && relation->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		RelationGetRelid(relation) >= FirstNormalObjectId;
}

bool
visible_map_proves(HeapScanDesc scan)
{
	Relation	relation = scan->rs_base.rs_rd;
	Snapshot	snapshot = scan->rs_base.rs_snapshot;

	return BLCKSZ == MGPU_PAGE_BYTES && is_of_users(relation) && RelationNeedsWAL(relation) && !mgpu_has_new_file(relation) &&
		!mgpu_old_snapshots_fail() && scan->rs_base.rs_parallel == NULL && IsMVCCSnapshot(snapshot) && !snapshot->takenDuringRecovery &&
		!RecoveryInProgress();
}

/* The first bits of 32 pairs. */
static uint64
first_of_pairs(uint64 pairs)
{
	pairs &= UINT64CONST(0x5555555555555555);
	pairs = (pairs | pairs >> 1) & UINT64CONST(0x3333333333333333);
	pairs = (pairs | pairs >> 2) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	pairs = (pairs | pairs >> 4) & UINT64CONST(0x00FF00FF00FF00FF);
	pairs = (pairs | pairs >> 8) & UINT64CONST(0x0000FFFF0000FFFF);
	return (pairs | pairs >> 16) & UINT64CONST(0x00000000FFFFFFFF);
}

/* Pages of a word of the map. */
#define WORD_PAGES 32

uint64
visible_map_read(HeapScanDesc scan, BlockNumber first, uint32 num_blocks, uint64 *bits)
{
	BlockNumber of_map = first - first % MGPU_KEPT_STRETCH;
	uint32		end = Min(first + num_blocks, of_map + MGPU_KEPT_STRETCH) - of_map;
	uint32		end_range = (end + MGPU_KEPT_RANGE - 1) / MGPU_KEPT_RANGE;
	uint32		begin_range = (first - of_map) / MGPU_KEPT_RANGE;
	uint32		end_word = (Min(end, scan->rs_nblocks - of_map) + WORD_PAGES - 1) / WORD_PAGES;
	Buffer		buffer = InvalidBuffer;
	uint64		lsn;

	memset(bits + begin_range, 0, (end_range - begin_range) * sizeof(uint64));
	(void) visibilitymap_get_status(scan->rs_base.rs_rd, first, &buffer);
	if (!BufferIsValid(buffer))
		return 0;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	lsn = PageGetLSN(BufferGetPage(buffer));
	for (uint32 i = begin_range * (MGPU_KEPT_RANGE / WORD_PAGES); i < end_word && lsn != 0; i++)
	{
		uint64		pairs;

		memcpy(&pairs, PageGetContents(BufferGetPage(buffer)) + i * sizeof(pairs), sizeof(pairs));
		bits[i * WORD_PAGES / MGPU_KEPT_RANGE] |= first_of_pairs(pairs) << i * WORD_PAGES % MGPU_KEPT_RANGE;
	}
	UnlockReleaseBuffer(buffer);
	return lsn != 0 && mgpu_setting_inject_fault == MGPU_FAULT_KEPT_LSN ? 1 : lsn;
}
