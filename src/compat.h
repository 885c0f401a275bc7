/*
 * compat.h
 *		The one place that knows how PostgreSQL 14 to 18 differ.
 *
 * Include it after postgres.h and before any other header of ours.
 */
#ifndef MGPU_COMPAT_H
#define MGPU_COMPAT_H

#include "utils/guc.h"

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

/* An array's largest number of elements was arrayutils.c's own until 15. */
#if PG_VERSION_NUM < 150000
#include "utils/memutils.h"
#define MaxArraySize ((Size) (MaxAllocSize / sizeof(Datum)))
#endif

/* Comparisons of abbreviated keys that are numbers have names since 15. */
#if PG_VERSION_NUM >= 150000
#define MGPU_HAS_DATUM_COMPARATORS
#endif

/*
 * Whether a collation compares strings by their bytes; a "no" that should be a
 * "yes" costs speed alone.  PostgreSQL's own header for that is not included,
 * since it wants ICU's headers, which building an extension must not need.
 */
#if PG_VERSION_NUM >= 180000
extern bool mgpu_collation_is_c(Oid collation);
#else
extern bool lc_collate_is_c(Oid collation);
#define mgpu_collation_is_c(collation) lc_collate_is_c(collation)
#endif

/* Whether a role may execute a function: one function for all kinds of objects since 16. */
#if PG_VERSION_NUM >= 160000
#define mgpu_function_aclcheck(function, role) object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE)
#else
#define mgpu_function_aclcheck(function, role) pg_proc_aclcheck(function, role, ACL_EXECUTE)
#endif

/* Grouping clauses without redundant ones have a place of their own since 16. */
#if PG_VERSION_NUM >= 160000
#define mgpu_group_clause(root) ((root)->processed_groupClause)
#else
#define mgpu_group_clause(root) ((root)->parse->groupClause)
#endif

/* Until 15 every custom scan was expected to project. */
#if PG_VERSION_NUM < 150000
#define CUSTOMPATH_SUPPORT_PROJECTION 0
#endif

/* Disabled nodes are counted, rather than made expensive, since 18. */
#if PG_VERSION_NUM >= 180000
#define mgpu_take_disabled_nodes(path, from) ((path)->disabled_nodes = (from)->disabled_nodes)
#else
#define mgpu_take_disabled_nodes(path, from) ((void) 0)
#endif

/* Relations that a plan's columns may come from: since 18 the range table holds groups as well. */
#if PG_VERSION_NUM >= 180000
#define mgpu_explained_relations(es) ((es)->rtable_size)
#else
#define mgpu_explained_relations(es) list_length((es)->rtable)
#endif

/* Spelled differently in 18; compilers agree since C11. */
#define MGPU_NORETURN _Noreturn

#endif							/* MGPU_COMPAT_H */
