/*
 * compat.c
 *		Functions that hide how versions of PostgreSQL differ.  See compat.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
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

#if PG_VERSION_NUM >= 170000
Node *
mgpu_run_condition_of(const WindowFuncRunCondition *condition, const WindowFunc *function)
{
	Expr	   *number = (Expr *) function;

	return (Node *) make_opclause(condition->opno, BOOLOID, false, condition->wfunc_left ? number : condition->arg,
								  condition->wfunc_left ? condition->arg : number, InvalidOid, condition->inputcollid);
}
#endif
