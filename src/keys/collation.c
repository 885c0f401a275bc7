/*
 * collation.c
 *		How a collation orders strings: by their bytes, by the C library, or by another.
 *
 * glibc compares C.UTF-8 by code points since 2.35, as its release notes say; before, distributions
 * had locales of this name of their own.  In UTF-8 the order of code points is that of the bytes.
 * PostgreSQL itself calls strcoll for it.
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "compat.h"
#include "keys/collation.h"

static bool
library_compares_code_points(void)
{
#ifdef __GLIBC__
	int			major;
	int			minor;

	if (sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2)
		return major > 2 || (major == 2 && minor >= 35);
#endif
	return false;
}

static bool
is_c_utf8(const char *locale)
{
	return pg_strcasecmp(locale, "C.UTF-8") == 0 || pg_strcasecmp(locale, "C.utf8") == 0;
}

static bool
locale_orders_bytes(const char *locale, char provider)
{
	if (provider == MGPU_COLLPROVIDER_BUILTIN)
		return true;
	if (provider != COLLPROVIDER_LIBC || locale == NULL)
		return false;
	if (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0)
		return true;
	return is_c_utf8(locale) && GetDatabaseEncoding() == PG_UTF8 && library_compares_code_points();
}

/* What a session knows of a collation.  Locales never change, and a session meets few of them. */
typedef struct known_collation
{
	Oid			oid;
	bool		orders_bytes;
	locale_t	locale;
	struct known_collation *next;
} known_collation;

static known_collation *known;

static void
learn_locale(known_collation *collation)
{
	char		provider = '\0';
	char	   *locale = mgpu_locale_of(collation->oid, &provider);

	collation->orders_bytes = locale_orders_bytes(locale, provider);
	if (provider == COLLPROVIDER_LIBC && locale != NULL && !collation->orders_bytes)
		collation->locale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, locale, (locale_t) 0);
	if (locale != NULL)
		pfree(locale);
}

static const known_collation *
find_collation(Oid oid)
{
	known_collation *collation;

	for (collation = known; collation != NULL; collation = collation->next)
		if (collation->oid == oid)
			return collation;
	collation = MemoryContextAllocZero(TopMemoryContext, sizeof(known_collation));
	collation->oid = oid;
	learn_locale(collation);
	collation->next = known;
	known = collation;
	return collation;
}

bool
collation_orders_bytes(Oid collation)
{
	return find_collation(collation)->orders_bytes;
}

locale_t
collation_locale(Oid collation)
{
	return find_collation(collation)->locale;
}
