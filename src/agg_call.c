/*
 * agg_call.c
 *		One aggregate of one Agg node, and its batches.
 *
 * A hash table keyed by Agg node, aggregate and context was rejected: every
 * way in which a query can end would have to clear it, and the node has a place
 * for this already.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg_call.h"

static const char *const kind_names[AGG_NUM_KINDS] = {
	"mgpu_sort_agg",
	"mgpu_sort_agg_by",
	"mgpu_merge_agg",
	"mgpu_percentile_cont",
	"mgpu_percentile_disc"
};

/* Number of arguments before the order… or fraction argument. */
static const int kind_args[AGG_NUM_KINDS] = {1, 2, 1, 1, 1};

/* Transition and combine functions that were called in this process, by kind. */
static PGFunction known_functions[2][AGG_NUM_KINDS];

static AggState *
aggstate_of(FunctionCallInfo fcinfo)
{
	if (fcinfo->context == NULL || !IsA(fcinfo->context, AggState))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %u must be called by an aggregate's plan node", fcinfo->flinfo->fn_oid)));
	return (AggState *) fcinfo->context;
}

static MGPU_NORETURN void
raise_not_found(FunctionCallInfo fcinfo)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("function %u must be called by an aggregate directly", fcinfo->flinfo->fn_oid),
			 errdetail("It is wrapped by a SET clause, SECURITY DEFINER or a security module.")));
	pg_unreachable();
}

static int
trans_number_of(AggState *aggstate, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < aggstate->numtrans; i++)
		if (&aggstate->pertrans[i].transfn == fcinfo->flinfo)
			return i;
	raise_not_found(fcinfo);
}

agg_call *
agg_call_by_number(AggState *aggstate, int trans_number)
{
	FmgrInfo   *transfn;

	if (trans_number < 0 || trans_number >= aggstate->numtrans)
		return NULL;
	transfn = &aggstate->pertrans[trans_number].transfn;
	for (int i = 0; i < AGG_NUM_KINDS; i++)
		if (transfn->fn_addr == known_functions[0][i] || transfn->fn_addr == known_functions[1][i])
			return transfn->fn_extra;
	return NULL;
}

static Oid
argument_type(const Aggref *aggref, int n)
{
	return list_nth_oid(aggref->aggargtypes, n);
}

static agg_call *
make_call(FunctionCallInfo fcinfo, agg_kind kind)
{
	AggState   *aggstate = aggstate_of(fcinfo);
	int			trans_number = trans_number_of(aggstate, fcinfo);
	const Aggref *aggref = aggstate->pertrans[trans_number].aggref;
	int			num_slots = aggstate->maxsets + 1;
	agg_call   *call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
											  offsetof(agg_call, slots) + num_slots * sizeof(agg_slot));
	Oid			value_type = argument_type(aggref, 0);

	call->aggstate = aggstate;
	call->kind = kind;
	call->trans_number = trans_number;
	call->function = kind_names[kind];
	call->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "mgpu_pg aggregate", ALLOCSET_SMALL_SIZES);
	call->collation = aggref->inputcollid;
	if (kind == AGG_MERGE)
		value_type = get_element_type(value_type);
	if (kind == AGG_SORT_BY)
		agg_column_init(&call->value, value_type);
	agg_column_init(&call->key, kind == AGG_SORT_BY ? argument_type(aggref, 1) : value_type);
	element_type_check_sortable(&call->key.type);
	if (kind == AGG_PERCENTILE_CONT || kind == AGG_PERCENTILE_DISC)
		call->fraction_type = argument_type(aggref, 1);
	return call;
}

static const Expr *
argument(const Aggref *aggref, int n)
{
	return ((const TargetEntry *) list_nth(aggref->args, n))->expr;
}

static bool
trailing_args_are_constants(const Aggref *aggref, int first)
{
	for (int i = first; i < list_length(aggref->aggargtypes); i++)
		if (!IsA(argument(aggref, i), Const))
			return false;
	return true;
}

static sort_order
order_from_args(FunctionCallInfo fcinfo, int first)
{
	sort_order	order = {false, false};

	for (int i = first; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", i == first ? "descending" : "nulls_first")));
	if (PG_NARGS() > first)
		order.descending = order.nulls_first = PG_GETARG_BOOL(first);
	if (PG_NARGS() > first + 1)
		order.nulls_first = PG_GETARG_BOOL(first + 1);
	return order;
}

/* Whether two aggregates see the same values in the same rows, and sort them alike. */
static bool
can_share(const agg_call *call, const agg_call *other)
{
	const Aggref *a = call->aggstate->pertrans[call->trans_number].aggref;
	const Aggref *b = other->aggstate->pertrans[other->trans_number].aggref;

	return agg_kind_shares(call->kind) && agg_kind_shares(other->kind) && other->leader == NULL &&
		!(call->kind == AGG_SORT && call->args_vary) && !(other->kind == AGG_SORT && other->args_vary) &&
		!call->order.descending && !other->order.descending &&
		a->aggdistinct == NIL && b->aggdistinct == NIL && a->aggorder == NIL && b->aggorder == NIL &&
		call->collation == other->collation &&
		equal(argument(a, 0), argument(b, 0)) && equal(a->aggfilter, b->aggfilter) &&
		!contain_volatile_functions((Node *) argument(a, 0)) &&
		!contain_volatile_functions((Node *) a->aggfilter);
}

void
agg_call_follow(agg_call *call, agg_call *leader)
{
	call->leader = leader;
	leader->has_followers = true;
}

agg_call *
agg_call_start(FunctionCallInfo fcinfo, agg_kind kind)
{
	agg_call   *call = make_call(fcinfo, kind);
	const Aggref *aggref = call->aggstate->pertrans[call->trans_number].aggref;
	int			first = kind_args[kind];

	call->args_vary = !trailing_args_are_constants(aggref, first);
	if (!call->args_vary && OidIsValid(call->fraction_type))
		call->fraction = agg_fraction_make(call->context, call->fraction_type,
										   PG_GETARG_DATUM(first + 1), PG_ARGISNULL(first + 1));
	else if (!call->args_vary)
		call->order = order_from_args(fcinfo, first + 1);

	/* transitions of a row run in this order, so a leader has started before */
	for (int i = 0; i < call->trans_number && call->leader == NULL; i++)
	{
		agg_call   *other = agg_call_by_number(call->aggstate, i);

		if (other && can_share(call, other))
			agg_call_follow(call, other);
	}
	known_functions[0][kind] = fcinfo->flinfo->fn_addr;
	fcinfo->flinfo->fn_extra = call;
	return call;
}

agg_call *
agg_call_start_combine(FunctionCallInfo fcinfo, agg_kind kind)
{
	agg_call   *call = make_call(fcinfo, kind);

	call->args_vary = true;
	known_functions[1][kind] = fcinfo->flinfo->fn_addr;
	fcinfo->flinfo->fn_extra = call;
	return call;
}

agg_call *
agg_call_of_final(FunctionCallInfo fcinfo)
{
	AggState   *aggstate;
	agg_call   *call = fcinfo->flinfo->fn_extra;

	if (call)
		return call;
	aggstate = aggstate_of(fcinfo);
	for (int i = 0; i < aggstate->numaggs && call == NULL; i++)
		if (&aggstate->peragg[i].finalfn == fcinfo->flinfo)
			call = agg_call_by_number(aggstate, aggstate->peragg[i].transno);
	if (call == NULL)
		raise_not_found(fcinfo);
	fcinfo->flinfo->fn_extra = call;
	return call;
}

agg_call *
agg_call_of_serialize(FunctionCallInfo fcinfo)
{
	AggState   *aggstate;
	agg_call   *call = fcinfo->flinfo->fn_extra;

	if (call)
		return call;
	aggstate = aggstate_of(fcinfo);
	/* AggGetAggref does not know which aggregate is being serialized */
	for (int i = 0; i < aggstate->numtrans && call == NULL; i++)
		if (&aggstate->pertrans[i].serialfn == fcinfo->flinfo)
			call = agg_call_by_number(aggstate, i);
	if (call == NULL)
		raise_not_found(fcinfo);
	fcinfo->flinfo->fn_extra = call;
	return call;
}

static agg_slot *
current_slot(agg_call *call)
{
	ExprContext *expr_context = call->aggstate->curaggcontext;

	for (int i = 0; i < call->num_slots; i++)
		if (call->slots[i].expr_context == expr_context)
			return &call->slots[i];
	call->slots[call->num_slots].call = call;
	call->slots[call->num_slots].expr_context = expr_context;
	return &call->slots[call->num_slots++];
}

/* PostgreSQL resets the context of hash tables: the batch goes with it. */
static void
forget_batch(void *arg)
{
	agg_slot   *slot = arg;

	slot->batch = NULL;
	slot->call->current_context = NULL;
}

static agg_batch *
make_batch(agg_call *call, agg_slot *slot)
{
	bool		hashed = slot->expr_context == call->aggstate->hashcontext;
	agg_batch  *batch = agg_batch_create(call, hashed);

	/* an aggregate's own callback is not called when its memory goes in another way */
	if (hashed)
	{
		MemoryContextCallback *callback = MemoryContextAlloc(batch->context, sizeof(MemoryContextCallback));

		callback->func = forget_batch;
		callback->arg = slot;
		MemoryContextRegisterResetCallback(batch->context, callback);
	}
	return batch;
}

agg_batch *
agg_call_switch(agg_call *call)
{
	agg_slot   *slot = current_slot(call);

	if (slot->batch == NULL)
		slot->batch = make_batch(call, slot);
	call->current_context = slot->expr_context;
	call->current = slot->batch;
	return slot->batch;
}

agg_batch *
agg_call_existing_batch(agg_call *call, uint32 group)
{
	agg_batch  *batch = current_slot(call)->batch;

	if (batch == NULL || group >= batch->num_groups)
		elog(ERROR, "aggregate state is not of this aggregate context");
	return batch;
}

void
agg_batch_set_order(agg_batch *batch, sort_order order)
{
	if (!batch->has_order)
	{
		batch->order = order;
		batch->has_order = true;
	}
	else if (order.descending != batch->order.descending || order.nulls_first != batch->order.nulls_first)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("descending and nulls_first must be the same in all rows")));
}

void
agg_call_order_args(agg_batch *batch, FunctionCallInfo fcinfo, int first)
{
	agg_batch_set_order(batch, order_from_args(fcinfo, first));
}

SortSupport
agg_call_support(agg_call *call, bool descending)
{
	SortSupport support = &call->support;

	if (call->has_support && call->support_descending == descending)
		return support;
	memset(support, 0, sizeof(*support));
	support->ssup_cxt = call->context;
	support->ssup_collation = call->collation;
	support->abbreviate = true;
	PrepareSortSupportFromOrderingOp(descending ? call->key.type.gt_operator : call->key.type.lt_operator,
									 support);
	call->abbreviates = support->abbrev_converter != NULL;
	call->has_support = true;
	call->support_descending = descending;
	return support;
}
