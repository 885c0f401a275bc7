/*
 * aggregate_start.c
 *		Starts the aggregates of a running MgpuGroup node, each by its way, if the user may run them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "query/custom_plan.h"

static Oid
owner_of(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The checks are those of PostgreSQL's Agg node, which MgpuGroup replaces. */
static void
check_permissions(const Aggref *aggref)
{
	AclResult	result = mgpu_function_aclcheck(aggref->aggfnoid, GetUserId());
	aggregate_functions functions = group_functions_of(aggref->aggfnoid);
	Oid			owner;

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_AGGREGATE, get_func_name(aggref->aggfnoid));
	InvokeFunctionExecuteHook(aggref->aggfnoid);
	owner = owner_of(aggref->aggfnoid);
	for (size_t i = 0; i < lengthof(functions.functions); i++)
		if (OidIsValid(functions.functions[i]))
			custom_plan_check_function(functions.functions[i], owner);
}

group_aggregate *
group_aggregate_start(const group_aggregate_source *source)
{
	check_permissions(source->aggref);
	switch (source->plan.way)
	{
		case GROUP_WAY_REDUCE:
			return group_reduce_create(source);
		case GROUP_WAY_SORT:
			return group_sorted_create(source);
		case GROUP_WAY_ARRAY:
			return group_array_create(source);
		case GROUP_WAY_FEED:
			return group_feed_create(source);
		default:
			elog(ERROR, "aggregate %u is not what it was planned as", source->aggref->aggfnoid);
	}
}
