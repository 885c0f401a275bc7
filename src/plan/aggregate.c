/*
 * aggregate.c
 *		Recognizes the extension's aggregates by their functions.
 *
 * Recognition by name was rejected: the extension may be in any schema, and anybody may
 * create an aggregate of any name.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "plan/group.h"

extern Datum mgpu_sort_agg_trans(PG_FUNCTION_ARGS);
extern Datum mgpu_sort_agg_final(PG_FUNCTION_ARGS);
extern Datum mgpu_percentile_cont_trans(PG_FUNCTION_ARGS);
extern Datum mgpu_percentile_cont_final(PG_FUNCTION_ARGS);
extern Datum mgpu_percentile_disc_trans(PG_FUNCTION_ARGS);
extern Datum mgpu_percentile_disc_final(PG_FUNCTION_ARGS);

typedef struct known_aggregate
{
	PGFunction	transition;
	PGFunction	final;
	agg_kind	kind;
} known_aggregate;

static const known_aggregate known_aggregates[] = {
	{mgpu_sort_agg_trans, mgpu_sort_agg_final, AGG_SORT},
	{mgpu_percentile_cont_trans, mgpu_percentile_cont_final, AGG_PERCENTILE_CONT},
	{mgpu_percentile_disc_trans, mgpu_percentile_disc_final, AGG_PERCENTILE_DISC},
};

/* The address that is called for a function: that of its wrapper, if it has one. */
static PGFunction
address_of(Oid function)
{
	FmgrInfo	info;

	fmgr_info(function, &info);
	return info.fn_addr;
}

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

/* The functions of an aggregate.  transition is InvalidOid if the aggregate cannot be the extension's. */
static void
functions_of(Oid aggregate, Oid *transition, Oid *final)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	*transition = form->aggkind == AGGKIND_NORMAL && form->aggtranstype == INTERNALOID ? form->aggtransfn : InvalidOid;
	*final = form->aggfinalfn;
	ReleaseSysCache(tuple);
}

bool
group_aggregate_kind(const Aggref *aggref, agg_kind *kind)
{
	Oid			transition_oid;
	Oid			final_oid;
	PGFunction	transition;
	PGFunction	final;

	functions_of(aggref->aggfnoid, &transition_oid, &final_oid);
	if (!OidIsValid(transition_oid) || !OidIsValid(final_oid))
		return false;
	transition = address_of(transition_oid);
	final = address_of(final_oid);
	for (size_t i = 0; i < lengthof(known_aggregates); i++)
	{
		if (known_aggregates[i].transition != transition || known_aggregates[i].final != final)
			continue;
		*kind = known_aggregates[i].kind;
		return true;
	}
	return false;
}

static void
check_function(Oid function, Oid user)
{
	AclResult	result = mgpu_function_aclcheck(function, user);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* The checks are those of PostgreSQL's Agg node, which MgpuGroup replaces. */
void
group_aggregate_check_permissions(const Aggref *aggref)
{
	AclResult	result = mgpu_function_aclcheck(aggref->aggfnoid, GetUserId());
	Oid			transition;
	Oid			final;
	Oid			owner;

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_AGGREGATE, get_func_name(aggref->aggfnoid));
	InvokeFunctionExecuteHook(aggref->aggfnoid);
	owner = owner_of(aggref->aggfnoid);
	functions_of(aggref->aggfnoid, &transition, &final);
	check_function(transition, owner);
	check_function(final, owner);
}
