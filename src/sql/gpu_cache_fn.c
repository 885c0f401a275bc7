/*
 * gpu_cache_fn.c
 *		Which tables a GPU keeps pages of (core/service/kept_pages.h): rows of the view mgpu_stat_gpu_cache, and functions that fill and empty it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "service/service.h"

PG_FUNCTION_INFO_V1(mgpu_stat_gpu_cache_rows);
PG_FUNCTION_INFO_V1(mgpu_gpu_cache_load);
PG_FUNCTION_INFO_V1(mgpu_gpu_cache_drop);

#define NUM_COLUMNS 8

static TimestampTz
time_of(const _Atomic int64_t *seconds)
{
	return time_t_to_timestamptz((pg_time_t) atomic_load(seconds));
}

static void
put_relation(Tuplestorestate *store, TupleDesc tupdesc, const mgpu_kept_relation *relation)
{
	uint64		num_pages = atomic_load(&relation->num_pages);
	bool		nulls[NUM_COLUMNS] = {false};
	Datum		values[NUM_COLUMNS] = {
		ObjectIdGetDatum(atomic_load(&relation->database)), ObjectIdGetDatum(atomic_load(&relation->tablespace)),
		ObjectIdGetDatum(atomic_load(&relation->relation)), Int64GetDatum((int64) num_pages),
		Int64GetDatum((int64) (atomic_load(&relation->num_frames) * MGPU_KEPT_FRAME_BYTES)),
		Int64GetDatum((int64) atomic_load(&relation->num_hits)), TimestampTzGetDatum(time_of(&relation->kept_at)),
		TimestampTzGetDatum(time_of(&relation->read_at))
	};

	tuplestore_putvalues(store, tupdesc, values, nulls);
}

/* The entries of tables that pages are kept of; NULL: there is no service that keeps any. */
static mgpu_kept_relation *
kept_relations(void)
{
	return service_look() == SERVICE_UP ? service_memory.control->kept_relations : NULL;
}

static bool
is_kept(const mgpu_kept_relation *relation)
{
	return atomic_load(&relation->num_frames) > 0 && atomic_load(&relation->is_dropped) == 0;
}

/* mgpu_stat_gpu_cache_rows() → SETOF (database, tablespace, filenode, pages, bytes, hits, kept_at, read_at): a row a table. */
Datum
mgpu_stat_gpu_cache_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	mgpu_kept_relation *relations = kept_relations();
	MemoryContext caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	result->returnMode = SFRM_Materialize;
	result->setResult = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
	result->setDesc = tupdesc;
	MemoryContextSwitchTo(caller);
	for (int i = 0; relations && i < MGPU_KEPT_RELATIONS; i++)
		if (is_kept(&relations[i]))
			put_relation(result->setResult, tupdesc, &relations[i]);
	return (Datum) 0;
}

/* The entry of a table; NULL: no pages of it are kept. */
static mgpu_kept_relation *
find_kept(Oid table)
{
	mgpu_kept_relation *relations = kept_relations();
	Relation	relation = relation_open(table, AccessShareLock);
	mgpu_kept_relation *found = NULL;

	for (int i = 0; relations && RELKIND_HAS_STORAGE(relation->rd_rel->relkind) && i < MGPU_KEPT_RELATIONS; i++)
		if (is_kept(&relations[i]) && atomic_load(&relations[i].relation) == mgpu_file_number_of(relation) &&
			atomic_load(&relations[i].database) == mgpu_database_of(relation) &&
			atomic_load(&relations[i].tablespace) == mgpu_tablespace_of(relation))
			found = &relations[i];
	relation_close(relation, AccessShareLock);
	return found;
}

static void
set_locally(const char *setting, const char *value)
{
	(void) set_config_option(setting, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* Have a GPU read a whole table, as the caller may. */
static void
read_table(const char *name)
{
	int			level = NewGUCNestLevel();

	set_locally("mgpu.executor", "gpu");
	set_locally("mgpu.enable_group", "force");
	set_locally("mgpu.enable_gpu_cache", "on");
	set_locally("max_parallel_workers_per_gather", "0");
	set_locally("enable_indexonlyscan", "off");
	SPI_connect();
	if (SPI_execute(psprintf("SELECT count(*) FROM ONLY %s", name), false, 0) != SPI_OK_SELECT)
		elog(ERROR, "the table %s could not be read", name);
	SPI_finish();
	AtEOXact_GUC(true, level);
}

/* mgpu_gpu_cache_load(regclass) → bigint: pages of the table that are kept afterwards. */
Datum
mgpu_gpu_cache_load(PG_FUNCTION_ARGS)
{
	Oid			table = PG_GETARG_OID(0);
	char	   *name = get_rel_name(table);
	const mgpu_kept_relation *kept;

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", table)));
	read_table(quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name));
	kept = find_kept(table);
	PG_RETURN_INT64(kept ? (int64) atomic_load(&kept->num_pages) : 0);
}

/* mgpu_gpu_cache_drop(regclass) → bigint: how many pages are kept no longer, of a table or, for NULL, of all. */
Datum
mgpu_gpu_cache_drop(PG_FUNCTION_ARGS)
{
	mgpu_kept_relation *relations = kept_relations();
	const mgpu_kept_relation *only = PG_ARGISNULL(0) ? NULL : find_kept(PG_GETARG_OID(0));
	uint64		num_pages = 0;

	for (int i = 0; relations && i < MGPU_KEPT_RELATIONS; i++)
	{
		if (!is_kept(&relations[i]) || !(PG_ARGISNULL(0) || only == &relations[i]))
			continue;
		num_pages += atomic_load(&relations[i].num_pages);
		atomic_store(&relations[i].is_dropped, 1);
	}
	if (num_pages > 0)
		atomic_fetch_add(&service_memory.control->num_kept_drops, 1);
	PG_RETURN_INT64((int64) num_pages);
}
