/*
 * kept_stretch.c
 *		See kept_stretch.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "utils/rel.h"

#include "compat.h"
#include "core/executor.h"
#include "scan/kept_stretch.h"
#include "settings.h"

bool
kept_stretch_serves(HeapScanDesc scan)
{
	return mgpu_setting_enable_gpu_cache && visible_map_proves(scan);
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
	stretch->lsn = visible_map_read(scan, stretch->number * MGPU_KEPT_STRETCH, MGPU_KEPT_STRETCH, stretch->bits);
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
	uint64		lsn = visible_map_read(scan, stretch->number * MGPU_KEPT_STRETCH, MGPU_KEPT_STRETCH, stretch->bits);

	if (lsn != stretch->lsn)
		memset(stretch->bits, 0, sizeof(stretch->bits));
	begin_question(stretch, scan->rs_base.rs_rd, MGPU_KEPT_CONFIRM, question);
	stretch->is_known = stretch->has_stored = false;
}
