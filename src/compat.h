/*
 * compat.h
 *		The one place that knows how PostgreSQL 14 to 18 differ.
 *
 * Include it after postgres.h and before any other header of ours.
 */
#ifndef MGPU_COMPAT_H
#define MGPU_COMPAT_H

#include "utils/guc.h"
#include "utils/pg_locale.h"

#if PG_VERSION_NUM < 140000
#error "mgpu_pg needs PostgreSQL 14 or later"
#endif

/* The varlena macros left postgres.h for a header of their own in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Reserving a setting's prefix got its present name in 15. */
#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

/* Comparisons of abbreviated keys that are numbers have names since 15. */
#if PG_VERSION_NUM >= 150000
#define MGPU_HAS_DATUM_COMPARATORS
#endif

/* Whether a collation compares strings by their bytes. */
#if PG_VERSION_NUM >= 180000
#define mgpu_collation_is_c(collation) (pg_newlocale_from_collation(collation)->collate_is_c)
#else
#define mgpu_collation_is_c(collation) lc_collate_is_c(collation)
#endif

/* Spelled differently in 18; compilers agree since C11. */
#define MGPU_NORETURN _Noreturn

#endif							/* MGPU_COMPAT_H */
