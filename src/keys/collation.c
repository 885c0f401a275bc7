/*
 * collation.c
 *		Which collations order strings by their bytes.  See collation.h.
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

bool
collation_orders_bytes(Oid collation)
{
	/* the last answer, since nearly all calls of a session are for one collation; locales never change */
	static Oid	last = C_COLLATION_OID;
	static bool answer = true;

	if (collation != last)
	{
		char		provider = '\0';
		char	   *locale = mgpu_locale_of(collation, &provider);

		answer = locale_orders_bytes(locale, provider);
		last = collation;
		if (locale != NULL)
			pfree(locale);
	}
	return answer;
}
