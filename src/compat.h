/*
 * compat.h
 *		The one place that knows how PostgreSQL 14 to 19 differ.
 *
 * Include it after postgres.h and before the headers of src.
 */
#ifndef MGPU_COMPAT_H
#define MGPU_COMPAT_H

#include "utils/guc.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM >= 170000
#include "nodes/primnodes.h"
#endif

#if PG_VERSION_NUM < 140000
#error "mgpu_pg needs PostgreSQL 14 or later"
#endif

struct PlannedStmt;
struct PlannerInfo;
struct Query;
struct RelOptInfo;
struct ScanState;
struct TableScanDescData;

/* The varlena macros have a header of their own since 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Before 15, MarkGUCPrefixReserved() had another name, and MaxArraySize was private to arrayutils.c. */
#if PG_VERSION_NUM < 150000
#include "utils/memutils.h"
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#define MaxArraySize ((Size) (MaxAllocSize / sizeof(Datum)))
#endif

/* Since 15, the comparators of numeric abbreviated keys are exported (ssup_datum_unsigned_cmp). */
#if PG_VERSION_NUM >= 150000
#define MGPU_HAS_DATUM_COMPARATORS
#endif

/*
 * The name of a collation's locale and its provider (COLLPROVIDER_…), in memory of the caller; NULL
 * if it has none.  PostgreSQL's own header for this is not included: it needs ICU's headers, and
 * building an extension must not.
 */
extern char *mgpu_locale_of(Oid collation, char *provider);

/* The built-in provider came with 17. */
#if PG_VERSION_NUM >= 170000
#define MGPU_COLLPROVIDER_BUILTIN COLLPROVIDER_BUILTIN
#else
#define MGPU_COLLPROVIDER_BUILTIN 'b'
#endif

/* Whether a role may execute a function.  Since 16 one function checks all kinds of objects. */
#if PG_VERSION_NUM >= 160000
#define mgpu_function_aclcheck(function, role) object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE)
#else
#define mgpu_function_aclcheck(function, role) pg_proc_aclcheck(function, role, ACL_EXECUTE)
#endif

/*
 * Since 16 the planner keeps the grouping clauses without redundant ones in a field of their own.  It
 * is empty where all keys are constants; then there is one group, but none without rows.
 */
#if PG_VERSION_NUM >= 160000
#define mgpu_group_clause(root) \
	((root)->processed_groupClause ? (root)->processed_groupClause : (root)->parse->groupClause)
#else
#define mgpu_group_clause(root) ((root)->parse->groupClause)
#endif

/* Since 18, expressions above grouping sets are marked as NULL where their keys are: the same as of rows below. */
#if PG_VERSION_NUM >= 180000
#define mgpu_below_grouping(root, node) \
	((root)->group_rtindex > 0 ? remove_nulling_relids(node, bms_make_singleton((root)->group_rtindex), NULL) : (node))
#else
#define mgpu_below_grouping(root, node) (node)
#endif

/* Corrects what ReadRecentBuffer counts: 14 takes shared buffers for local ones. */
#if PG_VERSION_NUM >= 150000
#define mgpu_count_recent_buffer() ((void) 0)
#else
#define mgpu_count_recent_buffer() (pgBufferUsage.local_blks_hit--, pgBufferUsage.shared_blks_hit++)
#endif

/* What identifies a relation's files.  It got another name in 16. */
#if PG_VERSION_NUM >= 160000
#define mgpu_locator(relation) ((relation)->rd_locator)
#else
#define mgpu_locator(relation) ((relation)->rd_node)
#endif

/* The parts of it, and whether this transaction has made the file. */
#if PG_VERSION_NUM >= 160000
#define mgpu_tablespace_of(relation) ((relation)->rd_locator.spcOid)
#define mgpu_database_of(relation) ((relation)->rd_locator.dbOid)
#define mgpu_file_number_of(relation) ((relation)->rd_locator.relNumber)
#define mgpu_has_new_file(relation) \
	((relation)->rd_createSubid != InvalidSubTransactionId || (relation)->rd_newRelfilelocatorSubid != InvalidSubTransactionId || \
	 (relation)->rd_firstRelfilelocatorSubid != InvalidSubTransactionId)
#else
#define mgpu_tablespace_of(relation) ((relation)->rd_node.spcNode)
#define mgpu_database_of(relation) ((relation)->rd_node.dbNode)
#define mgpu_file_number_of(relation) ((relation)->rd_node.relNode)
#define mgpu_has_new_file(relation) \
	((relation)->rd_createSubid != InvalidSubTransactionId || (relation)->rd_newRelfilenodeSubid != InvalidSubTransactionId || \
	 (relation)->rd_firstRelfilenodeSubid != InvalidSubTransactionId)
#endif

/* The tag of a block in shared buffers, and whether it is of one of a relation's rows. */
#if PG_VERSION_NUM >= 160000
#define mgpu_init_tag(tag, relation, block) InitBufferTag(tag, &(relation)->rd_locator, MAIN_FORKNUM, block)
#define mgpu_tag_is_of(tag, relation) (BufTagMatchesRelFileLocator(tag, &(relation)->rd_locator) && BufTagGetForkNum(tag) == MAIN_FORKNUM)
#else
#define mgpu_init_tag(tag, relation, block) INIT_BUFFERTAG(*(tag), (relation)->rd_node, MAIN_FORKNUM, block)
#define mgpu_tag_is_of(tag, relation) (RelFileNodeEquals((tag)->rnode, (relation)->rd_node) && (tag)->forkNum == MAIN_FORKNUM)
#endif

/* The path of a relation's first file.  Since 18 it is no allocated string. */
#if PG_VERSION_NUM >= 180000
#define mgpu_path_of(relation) pstrdup(relpathperm((relation)->rd_locator, MAIN_FORKNUM).str)
#else
#define mgpu_path_of(relation) relpathperm(mgpu_locator(relation), MAIN_FORKNUM)
#endif

/* Whether a page that was read from a file has the checksum and header that it should have. */
#if PG_VERSION_NUM >= 180000
#define mgpu_page_is_sound(page, block) PageIsVerified((PageData *) (page), block, 0, NULL)
#else
#define mgpu_page_is_sound(page, block) PageIsVerifiedExtended((Page) (page), block, 0)
#endif

/* Counts pages that were read from files in pg_stat_io, which came in 16. */
#if PG_VERSION_NUM >= 180000
#define mgpu_count_reads(num_pages) pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_BULKREAD, IOOP_READ, num_pages, (uint64) (num_pages) * BLCKSZ)
#elif PG_VERSION_NUM >= 160000
#define mgpu_count_reads(num_pages) pgstat_count_io_op_n(IOOBJECT_RELATION, IOCONTEXT_BULKREAD, IOOP_READ, num_pages)
#else
#define mgpu_count_reads(num_pages) ((void) 0)
#endif

/* Since 17 a scan can have its pages read ahead by a stream; since 18 many at a time. */
#if PG_VERSION_NUM >= 180000
#define MGPU_HAS_READ_STREAMS
#define MGPU_READ_STREAM_FLAGS (READ_STREAM_SEQUENTIAL | READ_STREAM_FULL | READ_STREAM_USE_BATCHING)
#elif PG_VERSION_NUM >= 170000
#define MGPU_HAS_READ_STREAMS
#define MGPU_READ_STREAM_FLAGS (READ_STREAM_SEQUENTIAL | READ_STREAM_FULL)
#endif

/* Raises an error where a page may have lost rows that an old snapshot needs.  17 has no such snapshots. */
#if PG_VERSION_NUM >= 170000
#define mgpu_test_for_old_snapshot(snapshot, relation, page) ((void) 0)
#define mgpu_old_snapshots_fail() false
#else
#define mgpu_test_for_old_snapshot(snapshot, relation, page) TestForOldSnapshot(snapshot, relation, page)
#define mgpu_old_snapshots_fail() (old_snapshot_threshold >= 0)
#endif

/* A snapshot of rows of TOAST tables.  18 has one, and before, the caller keeps it. */
#if PG_VERSION_NUM >= 180000
#define MGPU_TOAST_SNAPSHOT(name) Snapshot name = get_toast_snapshot()
#else
#define MGPU_TOAST_SNAPSHOT(name) \
	SnapshotData name##_data; \
	Snapshot	name = (init_toast_snapshot(&name##_data), &name##_data)
#endif

/* Moves an aggregate's state to the memory of states.  The function got another name in 16. */
#if PG_VERSION_NUM >= 160000
#define mgpu_copy_transition ExecAggCopyTransValue
#else
#define mgpu_copy_transition ExecAggTransReparent
#endif

/* The clauses of SELECT DISTINCT, in the same way. */
#if PG_VERSION_NUM >= 160000
#define mgpu_distinct_clause(root) \
	((root)->processed_distinctClause ? (root)->processed_distinctClause : (root)->parse->distinctClause)
#else
#define mgpu_distinct_clause(root) ((root)->parse->distinctClause)
#endif

/* Before 15 every custom scan had to project, and there was no such flag. */
#if PG_VERSION_NUM < 150000
#define CUSTOMPATH_SUPPORT_PROJECTION 0
#endif

/* Since 18 the planner counts disabled nodes.  Before, it gave them a high cost. */
#if PG_VERSION_NUM >= 180000
#define mgpu_take_disabled_nodes(path, from) ((path)->disabled_nodes = (from)->disabled_nodes)
#define mgpu_exchange_disabled_nodes(path, from, to) ((path)->disabled_nodes += (to)->disabled_nodes - (from)->disabled_nodes)
#else
#define mgpu_take_disabled_nodes(path, from) ((void) 0)
#define mgpu_exchange_disabled_nodes(path, from, to) ((void) 0)
#endif

/* What EXPLAIN ANALYZE has of a node.  It got a type of its own in 19. */
#if PG_VERSION_NUM < 190000
#define NodeInstrumentation Instrumentation
#endif

/* Number of relations that a plan's columns may come from.  Since 18 the range table also holds groups. */
#if PG_VERSION_NUM >= 180000
#define mgpu_explained_relations(es) ((es)->rtable_size)
#else
#define mgpu_explained_relations(es) list_length((es)->rtable)
#endif

/*
 * Conditions on a window function that make PostgreSQL's WindowAgg stop, as expressions of the function.  They came
 * with 15, and moved from the window to the function in 17, where they are no expressions yet.
 */
#if PG_VERSION_NUM >= 170000
#define mgpu_run_conditions(window, function) ((function)->runCondition)
#define mgpu_run_condition(condition, function) mgpu_run_condition_of((condition), (function))
extern Node *mgpu_run_condition_of(const WindowFuncRunCondition *condition, const WindowFunc *function);
#elif PG_VERSION_NUM >= 150000
#define mgpu_run_conditions(window, function) ((window)->runCondition)
#define mgpu_run_condition(condition, function) ((const Node *) (condition))
#else
#define mgpu_run_conditions(window, function) NIL
#define mgpu_run_condition(condition, function) ((const Node *) (condition))
#endif

/* A scan of a subquery whose plan is that of subpath, with all of its rows in any order. */
#if PG_VERSION_NUM >= 160000
#define mgpu_create_subqueryscan_path(root, rel, subpath) \
	create_subqueryscan_path(root, rel, subpath, false, NIL, (rel)->lateral_relids)
#else
#define mgpu_create_subqueryscan_path(root, rel, subpath) \
	create_subqueryscan_path(root, rel, subpath, NIL, (rel)->lateral_relids)
#endif

/* The operator by which a path key sorts values of a type.  Since 18 it is found by the comparison's kind. */
#if PG_VERSION_NUM >= 180000
#define mgpu_pathkey_operator(key, type) \
	get_opfamily_member_for_cmptype((key)->pk_opfamily, (type), (type), (key)->pk_cmptype)
#else
#define mgpu_pathkey_operator(key, type) get_opfamily_member((key)->pk_opfamily, (type), (type), (key)->pk_strategy)
#endif

/* Conditions on window functions that make the last WindowAgg drop rows, those of windows below it too, which hand all rows on.  They came with 15. */
struct WindowAggPath;
extern List *mgpu_window_conditions(const struct WindowAggPath *path);

/* Most bytes of a btree's tuple.  Since 18 that does not name a page. */
#if PG_VERSION_NUM >= 180000
#define mgpu_btree_most_bytes(page) BTMaxItemSize
#else
#define mgpu_btree_most_bytes(page) BTMaxItemSize(page)
#endif

/* Whether a unique index takes NULLs for equal, which came with 15. */
#if PG_VERSION_NUM >= 150000
#define mgpu_nulls_not_distinct(info) ((info)->ii_NullsNotDistinct)
#else
#define mgpu_nulls_not_distinct(info) false
#endif

/* Since 18, an extension can have options of EXPLAIN. */
#if PG_VERSION_NUM >= 180000
#define MGPU_HAS_EXPLAIN_OPTIONS
#endif

/* Since 19, an option of EXPLAIN has a check of its value for settings that name options. */
#if PG_VERSION_NUM >= 190000
#define mgpu_register_explain_option(name, take) RegisterExtensionExplainOption(name, take, GUCCheckBooleanExplainOption)
#else
#define mgpu_register_explain_option(name, take) RegisterExtensionExplainOption(name, take)
#endif

/* What the planner calls for a table, when it knows of it what the catalog says.  inherits: the tables below it are meant, too. */
typedef void (*mgpu_relation_hook) (struct PlannerInfo *root, Oid table, bool inherits, struct RelOptInfo *rel);
extern void mgpu_add_relation_hook(mgpu_relation_hook hook);

/* What may change a query before it is planned, and may make another of it, or NULL, whose plan runs if that is better than the one before; NULL: if any could be. */
extern void mgpu_add_query_hooks(void (*change) (struct Query *query), struct Query *(*rewrite) (const struct Query *query),
								 bool (*is_better) (const struct PlannedStmt *plan, const struct PlannedStmt *before));
extern bool mgpu_is_not_null(Oid table, AttrNumber number);
extern struct Node *mgpu_make_nullable(struct Node *expr, int table, int join);	/* columns of a table that an outer join may lack */
extern void mgpu_take_permissions(struct Query *to, struct RangeTblEntry *entry, const struct Query *from);	/* of a table's copied entry, its only one */
/* CLUSTER is a kind of REPACK since 19. */
#if PG_VERSION_NUM < 190000
#define T_RepackStmt T_ClusterStmt
#endif

/* An Append of paths. */
#if PG_VERSION_NUM >= 190000
#define mgpu_create_append_path(root, rel, paths) \
	create_append_path(root, rel, (AppendPathInput) {.subpaths = (paths)}, NIL, NULL, 0, false, -1)
#else
#define mgpu_create_append_path(root, rel, paths) create_append_path(root, rel, paths, NIL, NIL, NULL, 0, false, -1)
#endif

/* The path of a Unique node.  19 has one kind of such paths. */
#if PG_VERSION_NUM >= 190000
#define MGPU_UNIQUE_PATH T_UniquePath
#define mgpu_unique_path UniquePath
#else
#define MGPU_UNIQUE_PATH T_UpperUniquePath
#define mgpu_unique_path UpperUniquePath
#endif

/* Whether a window function has IGNORE NULLS, or RESPECT NULLS, which 19 knows. */
#if PG_VERSION_NUM >= 190000
#define mgpu_treats_nulls(function) ((function)->ignore_nulls != 0)
#else
#define mgpu_treats_nulls(function) false
#endif

/* The numbers of all relations that a query joins; since 16 with those of outer joins. */
#if PG_VERSION_NUM >= 160000
#define mgpu_query_relids(root) ((root)->all_query_rels)
#else
#define mgpu_query_relids(root) ((root)->all_baserels)
#endif

/* A buffer's state.  It has 64 bits since 19, and others may drop pins while the header is locked. */
#if PG_VERSION_NUM >= 190000
#define mgpu_buffer_state uint64
#define mgpu_read_buffer_state(header) pg_atomic_read_u64(&(header)->state)
#define mgpu_exchange_buffer_state(header, old, new) pg_atomic_compare_exchange_u64(&(header)->state, old, new)
#define mgpu_unlock_buffer(header, locked, pins) UnlockBufHdrExt(header, locked, 0, 0, pins)
#else
#define mgpu_buffer_state uint32
#define mgpu_read_buffer_state(header) pg_atomic_read_u32(&(header)->state)
#define mgpu_exchange_buffer_state(header, old, new) pg_atomic_compare_exchange_u32(&(header)->state, old, new)
#define mgpu_unlock_buffer(header, locked, pins) UnlockBufHdr(header, (locked) + (pins) * BUF_REFCOUNT_ONE)
#endif

/* The scan that a Seq Scan or Bitmap Heap Scan node would begin.  Since 19 it may mark pages as all-visible that it reads. */
extern struct TableScanDescData *mgpu_begin_scan(struct ScanState *node);
#if PG_VERSION_NUM >= 190000
#define mgpu_prune(scan, buffer) \
	heap_page_prune_opt((scan)->rs_base.rs_rd, buffer, &(scan)->rs_vmbuffer, \
						((scan)->rs_base.rs_flags & SO_HINT_REL_READ_ONLY) != 0)
#define mgpu_start_parallel_scan(scan, blocks) \
	table_block_parallelscan_startblock_init((scan)->rs_base.rs_rd, (scan)->rs_parallelworkerdata, blocks, \
											 (scan)->rs_startblock, (scan)->rs_numblocks)
#else
#define mgpu_prune(scan, buffer) heap_page_prune_opt((scan)->rs_base.rs_rd, buffer)
#define mgpu_start_parallel_scan(scan, blocks) \
	table_block_parallelscan_startblock_init((scan)->rs_base.rs_rd, (scan)->rs_parallelworkerdata, blocks)
#endif

/* Has EXPLAIN (ANALYZE, IO), which came with 19, see what a stream reads for a scan. */
#if PG_VERSION_NUM >= 190000
#include "executor/instrument_node.h"
#define mgpu_count_stream(stream, scan) \
	((scan)->rs_instrument ? read_stream_enable_stats(stream, &(scan)->rs_instrument->io) : (void) 0)
#else
#define mgpu_count_stream(stream, scan) ((void) 0)
#endif

/* Says that one case goes on with the next.  Since 19, PostgreSQL's compiler options want more than a comment. */
#ifndef pg_fallthrough
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* Backends that the server can have at a time; also while libraries are preloaded. */
extern uint32 mgpu_num_backends(void);

/* This process's number among them, from 0. */
#if PG_VERSION_NUM >= 170000
#define mgpu_proc_number() ((uint32) MyProcNumber)
#else
#define mgpu_proc_number() ((uint32) MyProc->pgprocno)
#endif

/* Since 17 an extension can name what it waits for.  *event keeps the name's number, 0 at first. */
#if PG_VERSION_NUM >= 170000
#define mgpu_wait_event(event, name) (*(event) != 0 ? *(event) : (*(event) = WaitEventExtensionNew(name)))
#else
#define mgpu_wait_event(event, name) ((void) (event), PG_WAIT_EXTENSION)
#endif

/* PostgreSQL 18 changed its own macro.  C11's keyword works in every version. */
#define MGPU_NORETURN _Noreturn

/* Since 16, relations are named by their nodes. */
#if PG_VERSION_NUM >= 160000
#define mgpu_adjust_to_child(root, node, child, parent) adjust_appendrel_attrs_multilevel(root, node, child, parent)
#else
#define mgpu_adjust_to_child(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, (parent)->relids)
#endif

#endif							/* MGPU_COMPAT_H */
