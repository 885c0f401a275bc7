/*
 * kept_stretch.c
 *		See kept_stretch.h.
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
#include "scan/kept_stretch.h"
#include "settings.h"

StaticAssertDecl(BLCKSZ != MGPU_PAGE_BYTES || MGPU_KEPT_STRETCH == (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4,
				 "a stretch is what a page of the visibility map has bits of");

static bool
is_kind_kept(Relation relation)
{
	char		kind = relation->rd_rel->relkind;

	return (kind == RELKIND_RELATION || kind == RELKIND_MATVIEW) && relation->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		RelationGetRelid(relation) >= FirstNormalObjectId;
}

bool
kept_stretch_serves(HeapScanDesc scan)
{
	Relation	relation = scan->rs_base.rs_rd;
	Snapshot	snapshot = scan->rs_base.rs_snapshot;

	return BLCKSZ == MGPU_PAGE_BYTES && mgpu_setting_enable_gpu_cache && is_kind_kept(relation) && RelationNeedsWAL(relation) &&
		!mgpu_has_new_file(relation) && !mgpu_old_snapshots_fail() && scan->rs_base.rs_parallel == NULL &&
		IsMVCCSnapshot(snapshot) && !snapshot->takenDuringRecovery && !RecoveryInProgress();
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

/*
 * Copy the all-visible bits of a stretch's pages below num_pages, and return the LSN of the map's page.  0: there is no such page, or it
 * has none, and no bit counts.
 */
static uint64
read_map(Relation relation, uint32 number, BlockNumber num_pages, uint64 *bits)
{
	BlockNumber first = number * MGPU_KEPT_STRETCH;
	uint32		num_words = (Min(num_pages - first, MGPU_KEPT_STRETCH) + WORD_PAGES - 1) / WORD_PAGES;
	Buffer		buffer = InvalidBuffer;
	uint64		lsn;

	memset(bits, 0, MGPU_KEPT_RANGES * sizeof(uint64));
	(void) visibilitymap_get_status(relation, first, &buffer);
	if (!BufferIsValid(buffer))
		return 0;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	lsn = PageGetLSN(BufferGetPage(buffer));
	for (uint32 i = 0; i < num_words && lsn != 0; i++)
	{
		uint64		pairs;

		memcpy(&pairs, PageGetContents(BufferGetPage(buffer)) + i * sizeof(pairs), sizeof(pairs));
		bits[i * WORD_PAGES / MGPU_KEPT_RANGE] |= first_of_pairs(pairs) << i * WORD_PAGES % MGPU_KEPT_RANGE;
	}
	UnlockReleaseBuffer(buffer);
	return lsn != 0 && mgpu_setting_inject_fault == MGPU_FAULT_KEPT_LSN ? 1 : lsn;
}

static void
begin_question(kept_stretch *stretch, Relation relation, mgpu_kept_request request, mgpu_kept_question *question)
{
	memset(question, 0, sizeof(mgpu_kept_question));
	question->request = request;
	question->stretch = stretch->number;
	question->tag.tablespace = mgpu_tablespace_of(relation);
	question->tag.database = mgpu_database_of(relation);
	question->tag.relation = mgpu_file_number_of(relation);
	question->lsn = stretch->lsn;
	for (uint32 i = 0; i < MGPU_KEPT_RANGES; i++)
		question->ranges[i].bits = stretch->bits[i];
}

void
kept_stretch_ask(kept_stretch *stretch, HeapScanDesc scan, BlockNumber block, mgpu_kept_question *question)
{
	stretch->is_known = false;
	stretch->number = block / MGPU_KEPT_STRETCH;
	stretch->lsn = read_map(scan->rs_base.rs_rd, stretch->number, scan->rs_nblocks, stretch->bits);
	begin_question(stretch, scan->rs_base.rs_rd, MGPU_KEPT_LOOK, question);
}

void
kept_stretch_take(kept_stretch *stretch, const mgpu_kept_question *answer)
{
	memcpy(stretch->ranges, answer->ranges, sizeof(stretch->ranges));
	stretch->is_known = true;
	stretch->has_stored = false;
}

void
kept_stretch_confirm(kept_stretch *stretch, HeapScanDesc scan, mgpu_kept_question *question)
{
	uint64		lsn = read_map(scan->rs_base.rs_rd, stretch->number, scan->rs_nblocks, stretch->bits);

	if (lsn != stretch->lsn)
		memset(stretch->bits, 0, sizeof(stretch->bits));
	begin_question(stretch, scan->rs_base.rs_rd, MGPU_KEPT_CONFIRM, question);
	stretch->is_known = stretch->has_stored = false;
}
