/*
 * compat.c
 *		Functions that some versions of PostgreSQL lack.  See compat.h.
 */
#include "postgres.h"

#include "compat.h"

#if PG_VERSION_NUM >= 180000

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* Every locale of the built-in provider orders by bytes. */
static bool
locale_is_c(char provider, Datum name, bool name_is_null)
{
	const char *locale;

	if (provider == COLLPROVIDER_BUILTIN)
		return true;
	if (provider != COLLPROVIDER_LIBC || name_is_null)
		return false;
	locale = TextDatumGetCString(name);
	return strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
}

static bool
database_is_c(void)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	bool		isnull;
	Datum		name;
	bool		is_c;

	if (!HeapTupleIsValid(tuple))
		return false;
	name = SysCacheGetAttr(DATABASEOID, tuple, Anum_pg_database_datcollate, &isnull);
	is_c = locale_is_c(((Form_pg_database) GETSTRUCT(tuple))->datlocprovider, name, isnull);
	ReleaseSysCache(tuple);
	return is_c;
}

bool
mgpu_collation_is_c(Oid collation)
{
	HeapTuple	tuple;
	bool		isnull;
	Datum		name;
	bool		is_c;

	if (collation == C_COLLATION_OID)
		return true;
	if (collation == DEFAULT_COLLATION_OID)
		return database_is_c();
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		return false;
	name = SysCacheGetAttr(COLLOID, tuple, Anum_pg_collation_collcollate, &isnull);
	is_c = locale_is_c(((Form_pg_collation) GETSTRUCT(tuple))->collprovider, name, isnull);
	ReleaseSysCache(tuple);
	return is_c;
}

#endif
