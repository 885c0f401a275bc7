/*
 * index_hook.c
 *		Has PostgreSQL call our build of btree indexes.
 *
 * PostgreSQL has no hook for it.  But before it builds an index, it asks the planner how many workers to use, and that calls
 * the planner's hook for the table, with a query that has no join tree.  Then the functions of the access method are replaced, by
 * the same but for the build, in the relation cache's entries of the table's indexes that are open, as the one that is to be
 * built is.  They stay there until the entry is thrown away, and ours looks at the setting itself.
 *
 * Where max_parallel_maintenance_workers is 0, PostgreSQL does not ask.  Then it is 1 while a statement runs that builds indexes, and
 * the hook says that the table wants no workers: not for any index, be it a btree or not.
 *
 * Rejected: object_access_hook, which runs before the entry has its functions, and not at all for REINDEX.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "tcop/utility.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "index/index_build.h"
#include "index/index_hook.h"
#include "settings.h"

static ProcessUtility_hook_type previous_utility_hook;
static bool asks_in_vain = false;

/* ---- the build function */

static IndexBuildResult *
build_btree(Relation heap, Relation index, IndexInfo *info)
{
	return index_build_btree(heap, index, info, !asks_in_vain);
}

static void
replace_build(Relation index)
{
	static IndexAmRoutine ours;

	ours = *index->rd_indam;
	ours.ambuild = build_btree;
	index->rd_indam = &ours;
}

static void
replace_builds(Oid table)
{
	Relation	heap = table_open(table, NoLock);
	List	   *indexes = RelationGetIndexList(heap);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = RelationIdGetRelation(lfirst_oid(cell));

		if (!RelationIsValid(index))
			continue;
		/* open elsewhere, too */
		if (index->rd_refcnt > 1 && index->rd_rel->relam == BTREE_AM_OID)
			replace_build(index);
		RelationClose(index);
	}
	list_free(indexes);
	table_close(heap, NoLock);
}

static void
on_relation_info(PlannerInfo *root, Oid table, bool inherits, RelOptInfo *rel)
{
	if (root->parse->jointree != NULL || !inherits)
		return;
	if (asks_in_vain)
		rel->rel_parallel_workers = 0;
	if (mgpu_setting_enable_index_build != MGPU_ENABLE_OFF && !IsCatalogRelationOid(table))
		replace_builds(table);
}

/* ---- statements */

static bool
builds_indexes(const Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_IndexStmt:
		case T_AlterTableStmt:
		case T_ReindexStmt:
		case T_RepackStmt:
		case T_RefreshMatViewStmt:
			return true;
		default:
			/* VACUUM has workers of its own, for other work than builds */
			return false;
	}
}

static void
on_utility(PlannedStmt *statement, const char *text, bool read_only, ProcessUtilityContext context, ParamListInfo params,
		   QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *completion)
{
	if (mgpu_setting_enable_index_build == MGPU_ENABLE_OFF || max_parallel_maintenance_workers > 0 ||
		!builds_indexes(statement->utilityStmt))
	{
		previous_utility_hook(statement, text, read_only, context, params, environment, receiver, completion);
		return;
	}
	asks_in_vain = true;
	max_parallel_maintenance_workers = 1;
	PG_TRY();
	{
		previous_utility_hook(statement, text, read_only, context, params, environment, receiver, completion);
	}
	PG_FINALLY();
	{
		asks_in_vain = false;
		max_parallel_maintenance_workers = 0;
	}
	PG_END_TRY();
}

void
index_build_init(void)
{
	mgpu_add_relation_hook(on_relation_info);
	previous_utility_hook = ProcessUtility_hook ? ProcessUtility_hook : standard_ProcessUtility;
	ProcessUtility_hook = on_utility;
}
