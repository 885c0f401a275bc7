/*
 * index_build.c
 *		Builds btree indexes, in the place of PostgreSQL's btbuild.
 *
 * Rows are collected, sorted, and formed into pages.  The index has the bytes of PostgreSQL's own build, since the order of its
 * tuples and the rules of its pages are the same (index_levels.c).  Whatever cannot be done exactly so is left to PostgreSQL,
 * before the first page is written.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "core/sizes.h"
#include "declined.h"
#include "index/index_build.h"
#include "index/index_load.h"
#include "index/index_rows.h"
#include "index/index_runs.h"
#include "index/index_scan.h"
#include "run/record.h"
#include "settings.h"

/* Pages of a table that is too small to gain, unless builds are forced. */
#define LEAST_BLOCKS 32

/* Those of a table for which threads are started. */
#define THREADS_LEAST_BLOCKS MGPU_SIZE(256, 4)

typedef struct btree_build
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	index_keys	keys;
	index_rows	rows;
	index_cursor cursor;
	int			most_threads;
	thread_work work;
	double		live_rows;
} btree_build;

/* ---- what is built here */

static const char *
why_not_this(btree_build *build)
{
	if (IsCatalogRelation(build->heap))
		return "the table is a system catalog";
	if (build->heap->rd_tableam != GetHeapamTableAmRoutine())
		return "the table has another access method than heap";
	if (build->info->ii_ExclusionOps != NULL)
		return "it is an exclusion constraint";
	if (mgpu_setting_enable_index_build != MGPU_ENABLE_FORCE && RelationGetNumberOfBlocks(build->heap) < LEAST_BLOCKS)
		return "the table is small";
	return index_keys_fill(&build->keys, build->index);
}

static void
report(int64 subphase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, subphase);
}

static void
collect(btree_build *build)
{
	report(PROGRESS_BTREE_PHASE_INDEXBUILD_TABLESCAN);
	index_rows_start(&build->rows, &build->keys, build->info->ii_Concurrent ? 0 : RelationGetNumberOfBlocks(build->heap),
					 (Size) maintenance_work_mem * MGPU_SIZE(1024, 32), &build->work);
	build->live_rows = index_scan(build->heap, build->info, &build->rows);
	if (build->rows.why_not)
		index_rows_end(&build->rows);
}

/* Returns why PostgreSQL has to build the index, or NULL. */
static const char *
collect_rows(btree_build *build)
{
	collect(build);
	if (build->rows.needs_strings)
	{
		/* the values cannot be made from numbers again */
		build->keys.are_numbers = false;
		collect(build);
	}
	return build->rows.why_not;
}

/* ---- the build */

static void
sort_rows(btree_build *build)
{
	const int	params[] = {PROGRESS_CREATEIDX_TUPLES_TOTAL, PROGRESS_SCAN_BLOCKS_TOTAL, PROGRESS_SCAN_BLOCKS_DONE};
	const int64 values[] = {build->rows.num_rows, 0, 0};

	pgstat_progress_update_multi_param(lengthof(params), params, values);
	report(PROGRESS_BTREE_PHASE_PERFORMSORT_1);
	index_cursor_start(&build->cursor, &build->rows);
}

/* What mgpu_last_run() shows. */
static void
record_build(const btree_build *build)
{
	run_record	record = {0};
	uint64		num_rows = build->rows.num_rows;

	run_call_start();
	run_record_cpu(&record, "index build", NULL, num_rows, num_rows * build->rows.item_bytes, "index builds run on the CPU");
	record.num_threads = build->rows.num_makers;
	run_report(&record);
}

static IndexBuildResult *
try_build(btree_build *build, MemoryContext caller)
{
	const char *why_not = why_not_this(build);
	IndexBuildResult *result;

	if (why_not == NULL)
		why_not = collect_rows(build);
	report_index_build(RelationGetRelationName(build->index), why_not);
	if (why_not)
		return NULL;
	record_build(build);
	sort_rows(build);
	report(PROGRESS_BTREE_PHASE_LEAF_LOAD);
	index_load(build->heap, build->info, &build->cursor);
	index_rows_end(&build->rows);
	result = MemoryContextAlloc(caller, sizeof(IndexBuildResult));
	result->heap_tuples = build->live_rows;
	result->index_tuples = build->rows.num_rows;
	return result;
}

static void
start_threads(btree_build *build)
{
	int			num_threads = Min(build->most_threads, threads_allowed());

	if (num_threads > 1 && RelationGetNumberOfBlocks(build->heap) >= THREADS_LEAST_BLOCKS)
		build->work.pool = mgpu_pool_start(num_threads);
}

static IndexBuildResult *
build_with_threads(btree_build *build, MemoryContext caller)
{
	IndexBuildResult *result;

	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&build->work));
	{
		start_threads(build);
		result = try_build(build, caller);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&build->work));
	thread_work_stop(0, PointerGetDatum(&build->work));
	return result;
}

IndexBuildResult *
index_build_btree(Relation heap, Relation index, IndexInfo *info, bool may_start_threads)
{
	MemoryContext context;
	MemoryContext caller;
	btree_build *build;
	IndexBuildResult *result;

	/* PostgreSQL raises an error if the index has pages; the setting may have been turned off since the function came here */
	if (mgpu_setting_enable_index_build == MGPU_ENABLE_OFF || RelationGetNumberOfBlocks(index) != 0)
		return btbuild(heap, index, info);
	context = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg index build", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	build = palloc0(sizeof(btree_build));
	build->heap = heap;
	build->index = index;
	build->info = info;
	/* as PostgreSQL's build would have processes */
	build->most_threads = may_start_threads ? max_parallel_maintenance_workers + 1 : 1;
	result = build_with_threads(build, caller);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return result ? result : btbuild(heap, index, info);
}
