/*
 * compat.c
 *		Functions that hide how versions of PostgreSQL differ.  See compat.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "parser/parse_relation.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "rewrite/rewriteManip.h"
#include "utils/syscache.h"

#include "compat.h"

#if PG_VERSION_NUM < 150000
#include "postmaster/autovacuum.h"
#include "postmaster/postmaster.h"
#include "replication/walsender.h"
#endif

/* Before 15, MaxBackends is not yet known while libraries are preloaded. */
uint32
mgpu_num_backends(void)
{
#if PG_VERSION_NUM >= 150000
	return (uint32) MaxBackends;
#else
	return (uint32) (MaxConnections + autovacuum_max_workers + 1 + max_worker_processes + max_wal_senders);
#endif
}

/* Since 15, names of locales are texts, and a database has a provider. */
#if PG_VERSION_NUM >= 150000

static char *
name_in(int cache, HeapTuple tuple, AttrNumber attribute)
{
	bool		is_null;
	Datum		name = SysCacheGetAttr(cache, tuple, attribute, &is_null);

	return is_null ? NULL : TextDatumGetCString(name);
}

#define name_in_database(tuple) name_in(DATABASEOID, tuple, Anum_pg_database_datcollate)
#define name_in_collation(tuple) name_in(COLLOID, tuple, Anum_pg_collation_collcollate)
#define provider_of_database(tuple) (((Form_pg_database) GETSTRUCT(tuple))->datlocprovider)

#else

#define name_in_database(tuple) pstrdup(NameStr(((Form_pg_database) GETSTRUCT(tuple))->datcollate))
#define name_in_collation(tuple) pstrdup(NameStr(((Form_pg_collation) GETSTRUCT(tuple))->collcollate))
#define provider_of_database(tuple) COLLPROVIDER_LIBC

#endif

char *
mgpu_locale_of(Oid collation, char *provider)
{
	bool		is_default = collation == DEFAULT_COLLATION_OID;
	HeapTuple	tuple = is_default ? SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId)) :
		SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	*provider = is_default ? provider_of_database(tuple) : ((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
	name = is_default ? name_in_database(tuple) : name_in_collation(tuple);
	ReleaseSysCache(tuple);
	return name;
}

List *
mgpu_window_conditions(const struct WindowAggPath *path)
{
#if PG_VERSION_NUM >= 170000
	return path->topwindow ? list_concat_copy(path->qual, path->runCondition) : NIL;
#elif PG_VERSION_NUM >= 150000
	return path->topwindow ? list_concat_copy(path->qual, path->winclause->runCondition) : NIL;
#else
	return NIL;
#endif
}

#if PG_VERSION_NUM >= 170000
Node *
mgpu_run_condition_of(const WindowFuncRunCondition *condition, const WindowFunc *function)
{
	Expr	   *number = (Expr *) function;

	return (Node *) make_opclause(condition->opno, BOOLOID, false, condition->wfunc_left ? number : condition->arg,
								  condition->wfunc_left ? condition->arg : number, InvalidOid, condition->inputcollid);
}
#endif

/* ---- hooks */

static mgpu_relation_hook on_relation;

#if PG_VERSION_NUM >= 190000

static build_simple_rel_hook_type previous_hook;

static void
call_hook(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *entry)
{
	if (previous_hook)
		previous_hook(root, rel, entry);
	if (entry->rtekind == RTE_RELATION)
		on_relation(root, entry->relid, entry->inh, rel);
}

#define planner_hook_of_relations build_simple_rel_hook

#else

static get_relation_info_hook_type previous_hook;

static void
call_hook(PlannerInfo *root, Oid table, bool inherits, RelOptInfo *rel)
{
	if (previous_hook)
		previous_hook(root, table, inherits, rel);
	on_relation(root, table, inherits, rel);
}

#define planner_hook_of_relations get_relation_info_hook

#endif

void
mgpu_add_relation_hook(mgpu_relation_hook hook)
{
	on_relation = hook;
	previous_hook = planner_hook_of_relations;
	planner_hook_of_relations = call_hook;
}

static void (*change_query) (Query *query);
static Query *(*rewrite_query) (const Query *query);
static bool (*is_better_plan) (const PlannedStmt *plan, const PlannedStmt *before);
static planner_hook_type previous_planner;

#if PG_VERSION_NUM >= 190000
#define PLANNER_PARAMETERS Query *query, const char *text, int options, ParamListInfo params, struct ExplainState *es
#define PLANNER_ARGUMENTS text, options, params, es
#else
#define PLANNER_PARAMETERS Query *query, const char *text, int options, ParamListInfo params
#define PLANNER_ARGUMENTS text, options, params
#endif

static PlannedStmt *
plan_one(PLANNER_PARAMETERS)
{
	return previous_planner ? previous_planner(query, PLANNER_ARGUMENTS) : standard_planner(query, PLANNER_ARGUMENTS);
}

static PlannedStmt *
plan_query(PLANNER_PARAMETERS)
{
	Query	   *other;
	PlannedStmt *plan;
	PlannedStmt *of_other;

	change_query(query);
	/* the planner changes what it plans */
	other = rewrite_query(query);
	plan = plan_one(query, PLANNER_ARGUMENTS);
	of_other = other && is_better_plan(NULL, plan) ? plan_one(other, PLANNER_ARGUMENTS) : NULL;
	return of_other && is_better_plan(of_other, plan) ? of_other : plan;
}

void
mgpu_add_query_hooks(void (*change) (Query *query), Query *(*rewrite) (const Query *query),
					 bool (*is_better) (const PlannedStmt *plan, const PlannedStmt *before))
{
	change_query = change;
	rewrite_query = rewrite;
	is_better_plan = is_better;
	previous_planner = planner_hook;
	planner_hook = plan_query;
}

Node *
mgpu_make_nullable(Node *expr, int table, int join)
{
#if PG_VERSION_NUM >= 160000
	return add_nulling_relids(expr, bms_make_singleton(table), bms_make_singleton(join));
#else
	(void) table;
	(void) join;
	return expr;
#endif
}

/* ---- tables */

void
mgpu_take_permissions(Query *to, RangeTblEntry *entry, const Query *from)
{
#if PG_VERSION_NUM >= 160000
	to->rteperminfos = list_make1(copyObject(getRTEPermissionInfo(from->rteperminfos, entry)));
	entry->perminfoindex = 1;
#else
	/* they are the entry's own */
	(void) to;
	(void) entry;
	(void) from;
#endif
}

bool
mgpu_is_not_null(Oid table, AttrNumber number)
{
	Relation	relation = relation_open(table, NoLock);
	bool		is_not_null;

#if PG_VERSION_NUM >= 180000
	is_not_null = TupleDescCompactAttr(RelationGetDescr(relation), number - 1)->attnullability == ATTNULLABLE_VALID;
#else
	is_not_null = TupleDescAttr(RelationGetDescr(relation), number - 1)->attnotnull;
#endif
	relation_close(relation, NoLock);
	return is_not_null;
}

/* ---- scans */

/* Versions that begin it with its node never ask.  Since 18, the node takes an iterator for its own that is not NULL when it ends. */
static TableScanDesc
begin_bitmap_scan(ScanState *node, uint32 flags)
{
	TableScanDesc scan;

#if PG_VERSION_NUM >= 190000
	scan = table_beginscan_bm(node->ss_currentRelation, node->ps.state->es_snapshot, 0, NULL, flags);
#elif PG_VERSION_NUM >= 170000 && PG_VERSION_NUM < 180000
	scan = table_beginscan_bm(node->ss_currentRelation, node->ps.state->es_snapshot, 0, NULL, true);
#else
	scan = table_beginscan_bm(node->ss_currentRelation, node->ps.state->es_snapshot, 0, NULL);
#endif
#if PG_VERSION_NUM >= 180000
	memset(&scan->st.rs_tbmiterator, 0, sizeof(scan->st.rs_tbmiterator));
#endif
	return scan;
}

TableScanDesc
mgpu_begin_scan(ScanState *node)
{
	uint32		flags = 0;

#if PG_VERSION_NUM >= 190000
	flags = (ScanRelIsReadOnly(node) ? SO_HINT_REL_READ_ONLY : 0) |
		((node->ps.state->es_instrument & INSTRUMENT_IO) ? SO_SCAN_INSTRUMENT : 0);
#endif
	if (IsA(node, BitmapHeapScanState))
		return begin_bitmap_scan(node, flags);
#if PG_VERSION_NUM >= 190000
	return table_beginscan(node->ss_currentRelation, node->ps.state->es_snapshot, 0, NULL, flags);
#else
	return table_beginscan(node->ss_currentRelation, node->ps.state->es_snapshot, 0, NULL);
#endif
}
