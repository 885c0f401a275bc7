/*
 * call.c
 *		One aggregate of one Agg node, and its batches.
 *
 * The call is stored in the fn_extra of the node's own FmgrInfo.  A hash table keyed by
 * Agg node, aggregate and context was rejected: its entries would have to be removed at
 * every possible end of a query.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg/call.h"
#include "pgerror.h"

static const char *const kind_names[AGG_NUM_KINDS] = {
	"mgpu_sort_agg",
	"mgpu_sort_agg_by",
	"mgpu_merge_agg",
	"mgpu_percentile_cont",
	"mgpu_percentile_disc"
};

/* Number of arguments before the order arguments or the fraction. */
static const int kind_args[AGG_NUM_KINDS] = {1, 2, 1, 1, 1};

/* Addresses of the transition [0] and combine [1] functions called in this process. */
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

/* The type of the sort key; ereport(ERROR) for anyarray, where only the values have a type. */
static Oid
key_type(const Aggref *aggref, agg_kind kind)
{
	Oid			type = list_nth_oid(aggref->aggargtypes, kind == AGG_SORT_BY ? 1 : 0);

	if (type == ANYARRAYOID)
		mgpu_raise_anyarray();
	return kind == AGG_MERGE ? get_element_type(type) : type;
}

static bool
is_percentile(const agg_call *call)
{
	return call->kind >= AGG_PERCENTILE_CONT;
}

/* Create a call and fill the fields that follow from the Aggref alone. */
static agg_call *
make_call(MemoryContext parent, const Aggref *aggref, agg_kind kind, int num_slots)
{
	agg_call   *call = MemoryContextAllocZero(parent, offsetof(agg_call, slots) + num_slots * sizeof(agg_slot));

	call->kind = kind;
	call->aggref = aggref;
	call->context = AllocSetContextCreate(parent, "mgpu_pg aggregate", ALLOCSET_SMALL_SIZES);
	call->sort = (sort_spec) {.function = kind_names[kind],.op = MGPU_OP_SORT,.collation = aggref->inputcollid};
	if (kind == AGG_SORT_BY)
		column_type_fill(&call->value, list_nth_oid(aggref->aggargtypes, 0));
	column_type_fill(&call->key, key_type(aggref, kind));
	element_type_check_sortable(&call->key.element);
	if (is_percentile(call))
		column_type_fill(&call->fraction, list_nth_oid(aggref->aggargtypes, 1));
	return call;
}

const Expr *
agg_argument(const Aggref *aggref, int n)
{
	return ((const TargetEntry *) list_nth(aggref->args, n))->expr;
}

static bool
trailing_args_are_constants(const Aggref *aggref, int first)
{
	for (int i = first; i < list_length(aggref->aggargtypes); i++)
		if (!IsA(agg_argument(aggref, i), Const))
			return false;
	return true;
}

/* The order given by the zero, one or two trailing arguments of a transition. */
static sort_order
order_from_args(FunctionCallInfo fcinfo, agg_kind kind)
{
	const NullableDatum *args = &fcinfo->args[1 + kind_args[kind]];
	int			num_args = PG_NARGS() - 1 - kind_args[kind];
	sort_order	order = {false, false};

	for (int i = 0; i < num_args; i++)
		if (args[i].isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", i == 0 ? "descending" : "nulls_first")));
	if (num_args > 0)
		order.descending = order.nulls_first = DatumGetBool(args[0].value);
	if (num_args > 1)
		order.nulls_first = DatumGetBool(args[1].value);
	return order;
}

/* Whether other's batch can hold call's rows: same values, rows and ascending order. */
static bool
can_share(const agg_call *call, const agg_call *other)
{
	const Aggref *a = call->aggref;
	const Aggref *b = other->aggref;

	return agg_kind_shares(call->kind) && agg_kind_shares(other->kind) && other->leader == NULL &&
		!(call->kind == AGG_SORT && call->args_vary) && !(other->kind == AGG_SORT && other->args_vary) &&
		!call->sort.order.descending && !other->sort.order.descending &&
		a->aggdistinct == NIL && b->aggdistinct == NIL && a->aggorder == NIL && b->aggorder == NIL &&
		call->sort.collation == other->sort.collation &&
		equal(agg_argument(a, 0), agg_argument(b, 0)) && equal(a->aggfilter, b->aggfilter) &&
		!contain_volatile_functions((Node *) agg_argument(a, 0)) &&
		!contain_volatile_functions((Node *) a->aggfilter);
}

agg_call *
agg_call_start(FunctionCallInfo fcinfo, agg_kind kind, bool combines)
{
	AggState   *aggstate = aggstate_of(fcinfo);
	int			trans_number = trans_number_of(aggstate, fcinfo);
	agg_call   *call = make_call(fcinfo->flinfo->fn_mcxt, aggstate->pertrans[trans_number].aggref, kind,
								 aggstate->maxsets + 1);

	call->aggstate = aggstate;
	call->trans_number = trans_number;
	call->args_vary = combines || !trailing_args_are_constants(call->aggref, kind_args[kind]);
	if (!combines && !is_percentile(call))
		call->sort.order = order_from_args(fcinfo, kind);
	/*
	 * Transitions of a row run in the order of their numbers, so a leader's call exists
	 * already.  Combine functions learn the leader from the states.
	 */
	for (int i = 0; i < trans_number && call->leader == NULL && !combines; i++)
	{
		agg_call   *other = agg_call_by_number(aggstate, i);

		if (other && can_share(call, other))
			call->leader = other;
	}
	known_functions[combines][kind] = fcinfo->flinfo->fn_addr;
	fcinfo->flinfo->fn_extra = call;
	return call;
}

/*
 * The call of a final function (found in peragg) or of a serialization function (found
 * in pertrans).  AggGetAggref does not find the latter.
 */
static agg_call *
call_of(FunctionCallInfo fcinfo)
{
	AggState   *aggstate;
	agg_call   *call = fcinfo->flinfo->fn_extra;

	if (call)
		return call;
	aggstate = aggstate_of(fcinfo);
	for (int i = 0; i < aggstate->numaggs && call == NULL; i++)
		if (&aggstate->peragg[i].finalfn == fcinfo->flinfo)
			call = agg_call_by_number(aggstate, aggstate->peragg[i].transno);
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
	call->slots[call->num_slots] = (agg_slot) {.call = call,.expr_context = expr_context};
	return &call->slots[call->num_slots++];
}

/* Reset callback of the hash tables' context, which holds the batch. */
static void
forget_batch(void *arg)
{
	agg_slot   *slot = arg;

	slot->batch = NULL;
	slot->call->current_context = NULL;
}

static void
start_batch(agg_slot *slot)
{
	agg_call   *call = slot->call;
	bool		hashed = slot->expr_context == call->aggstate->hashcontext;
	MemoryContext context = hashed ? slot->expr_context->ecxt_per_tuple_memory : call->context;
	const column_type *fraction = &call->fraction;
	/* one group that becomes an array needs no more rows than an array can have */
	uint64		most_rows = hashed || is_percentile(call) ? MGPU_MAX_ITEMS : MaxArraySize;
	MemoryContextCallback *callback;

	slot->takes_args = true;
	slot->has_order = false;
	slot->fractions = is_percentile(call) ? chunk_create(context, 1, &fraction, MGPU_MAX_ITEMS) : NULL;
	slot->batch = agg_batch_create(context, hashed, &call->sort, &call->key,
								   call->kind == AGG_SORT_BY ? &call->value : NULL, most_rows);
	if (!hashed)
		return;
	/* AggRegisterCallback is not enough: it does not run when the memory context itself is reset */
	callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));
	callback->func = forget_batch;
	callback->arg = slot;
	MemoryContextRegisterResetCallback(context, callback);
}

agg_slot *
agg_call_switch(agg_call *call)
{
	agg_slot   *slot = current_slot(call);

	if (slot->batch == NULL)
		start_batch(slot);
	call->current_context = slot->expr_context;
	return call->current = slot;
}

uint32
agg_slot_new_group(agg_slot *slot)
{
	if (slot->batch->groups == NULL)
	{
		agg_batch_restart(slot->batch);
		if (slot->call->args_vary)
		{
			slot->has_order = false;
			if (slot->fractions)
				chunk_reset(slot->fractions);
		}
	}
	return slot->batch->num_groups++;
}

static agg_slot *
existing_slot(agg_call *call, uint32 group)
{
	agg_slot   *slot = current_slot(call);

	if (slot->batch == NULL || group >= slot->batch->num_groups)
		elog(ERROR, "aggregate state is not of this aggregate context");
	return slot;
}

agg_group
agg_group_of_final(FunctionCallInfo fcinfo)
{
	agg_call   *call = call_of(fcinfo);
	uint32		number = DatumGetUInt32(PG_GETARG_DATUM(0));
	agg_slot   *slot = existing_slot(call, number);

	return (agg_group) {number, slot, call->leader ? existing_slot(call->leader, number)->batch : slot->batch};
}

void
agg_slot_take_order(agg_slot *slot, sort_order order)
{
	sort_order *known = &slot->batch->sort.order;

	if (slot->has_order && (order.descending != known->descending || order.nulls_first != known->nulls_first))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("descending and nulls_first must be the same in all rows")));
	*known = order;
	slot->has_order = true;
}

void
agg_slot_take_fraction(agg_slot *slot, uint32 group, NullableDatum fraction)
{
	chunk	   *fractions = slot->fractions;
	column	   *col = &fractions->columns[0];
	const element_type *type = &col->type->element;

	if (group == fractions->num_rows)
		chunk_put(fractions, col, chunk_add_rows(fractions, 1), fraction.value, fraction.isnull);
	else if (column_is_null(col, group) != fraction.isnull ||
			 (!fraction.isnull &&
			  !datum_image_eq(cell_datum(col->type, col->cells, group), fraction.value, type->typbyval, type->typlen)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fraction must be the same in all rows of a group")));
}

void
agg_slot_take_args(agg_slot *slot, uint32 group, FunctionCallInfo fcinfo)
{
	const agg_call *call = slot->call;

	if (is_percentile(call))
		agg_slot_take_fraction(slot, group, fcinfo->args[2]);
	else
		agg_slot_take_order(slot, order_from_args(fcinfo, call->kind));
	slot->takes_args = call->args_vary;
}

chunk_slice
agg_slot_fraction(const agg_slot *slot, uint32 group)
{
	return (chunk_slice) {slot->fractions, 1, slot->call->args_vary ? group : 0, NULL, 1};
}
