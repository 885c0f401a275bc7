/*
 * agg_feed.c
 *		Runs an aggregate's own transition and final functions, group after group.
 *
 * This is what PostgreSQL's Agg node does (nodeAgg.c): strict functions skip NULLs, a
 * strict transition without an initial value starts with the first value, states by reference
 * are copied.  Here a group's rows come together, so one state at a time is enough, and it
 * stays in the cache.
 *
 * The functions look for an Agg node in their call.  They find one that has nothing but the
 * memory for states and a state's type.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/execExpr.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_agg.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "query/custom_plan.h"

/* Most rows between two resets of the memory of transition functions: fewer if they take much. */
#define STEP_ROWS 64

/* The state of a group. */
typedef struct feed_state
{
	Datum		value;
	bool		is_null;
	bool		has_value;		/* false: the first value becomes the state */
} feed_state;

typedef struct feed_aggregate
{
	group_aggregate base;
	AggState   *agg;			/* what functions find */
	AggStatePerTransData transition;	/* only the type of the state is set */
	FmgrInfo	trans_function;
	FmgrInfo	final_function; /* fn_oid is InvalidOid: the state is the result */
	FunctionCallInfo trans_call;
	FunctionCallInfo final_call;
	int			num_inputs;		/* arguments of the transition function, but for the state */
	NullableDatum initial;
	feed_state	state;			/* of the group whose turn it was */
	uint64		turn;
	struct feed_aggregate *leader;	/* an earlier aggregate with the same states, or itself */
	group_keys	distinct;		/* rows equal to the row before do not count; num_keys is 0: all count */
	const device_query *answer; /* of a job, or NULL: functions are called */
	const table_output *output;
	const group_input *from;	/* whose rows they are called for: the node's, or values that a job has found */
} feed_aggregate;

/* ---- one group */

/* Set the arguments of a row.  False: one is NULL and the function is strict. */
static bool
set_arguments(const feed_aggregate *feed, uint64 row)
{
	const group_aggregate *base = &feed->base;
	NullableDatum *args = feed->trans_call->args + 1;

	for (int i = 0; i < feed->num_inputs; i++)
	{
		const column *col;

		/* constants are set once and for all */
		if (base->columns[i] >= 0)
		{
			col = &feed->from->rows->columns[base->columns[i]];
			args[i].isnull = column_is_null(col, row);
			args[i].value = args[i].isnull ? (Datum) 0 : cell_datum(col->type, col->cells, row);
		}
		if (args[i].isnull && feed->trans_function.fn_strict)
			return false;
	}
	return true;
}

static void
start_state(const feed_aggregate *feed, feed_state *state)
{
	const AggStatePerTransData *transition = &feed->transition;

	state->is_null = feed->initial.isnull;
	state->has_value = !feed->initial.isnull;
	state->value = feed->initial.value;
	if (!feed->initial.isnull && !transition->transtypeByVal)
	{
		MemoryContext caller = MemoryContextSwitchTo(feed->agg->curaggcontext->ecxt_per_tuple_memory);

		state->value = datumCopy(feed->initial.value, false, transition->transtypeLen);
		MemoryContextSwitchTo(caller);
	}
}

/* The first value of a strict function without an initial state is the state. */
static void
take_first(const feed_aggregate *feed, feed_state *state)
{
	MemoryContext caller = MemoryContextSwitchTo(feed->agg->curaggcontext->ecxt_per_tuple_memory);

	state->value = datumCopy(feed->trans_call->args[1].value, feed->transition.transtypeByVal, feed->transition.transtypeLen);
	state->is_null = false;
	state->has_value = true;
	MemoryContextSwitchTo(caller);
}

static void
advance(feed_aggregate *feed, feed_state *state)
{
	FunctionCallInfo call = feed->trans_call;
	Datum		value;

	if (feed->trans_function.fn_strict && !state->has_value)
	{
		take_first(feed, state);
		return;
	}
	/* a strict function that has once returned NULL is not called again */
	if (feed->trans_function.fn_strict && state->is_null)
		return;
	call->args[0].value = state->value;
	call->args[0].isnull = state->is_null;
	call->isnull = false;
	value = FunctionCallInvoke(call);
	if (!feed->transition.transtypeByVal && DatumGetPointer(value) != DatumGetPointer(state->value))
	{
		MemoryContext temporary = CurrentMemoryContext;

		value = mgpu_copy_transition(feed->agg, &feed->transition, value, call->isnull, state->value, state->is_null);
		/* it leaves that of states behind */
		MemoryContextSwitchTo(temporary);
	}
	state->value = value;
	state->is_null = call->isnull;
}

static void
advance_all(feed_aggregate *feed, feed_state *state, uint32 group)
{
	const row_groups *rows = feed->base.rows;
	const chunk *chunk = feed->from->rows;
	ExprContext *temporary = feed->agg->tmpcontext;
	uint64		num_rows = row_groups_count(rows);
	uint64		previous = 0;
	bool		has_previous = false;

	for (uint64 i = rows->starts[group]; i < rows->starts[group + 1]; i++)
	{
		uint64		row = row_groups_row(rows, i);

		for (int input = 0; input < feed->num_inputs; input++)
			if (feed->base.columns[input] >= 0)
				row_groups_fetch_ahead(rows, &chunk->columns[feed->base.columns[input]], i, num_rows);
		if (feed->distinct.num_keys > 0 && has_previous &&
			group_keys_equal(&feed->distinct, feed->distinct.num_keys, chunk, previous, chunk, row))
			continue;
		previous = row;
		has_previous = true;
		if (set_arguments(feed, row))
			advance(feed, state);
		if (i % STEP_ROWS == 0 || MemoryContextMemAllocated(temporary->ecxt_per_tuple_memory, false) > CHUNK_STEP_BYTES)
		{
			CHECK_FOR_INTERRUPTS();
			ResetExprContext(temporary);
		}
	}
	ResetExprContext(temporary);
}

/* The result of a state, in the current context or where states are. */
static Datum
finish(feed_aggregate *feed, const feed_state *state, bool *is_null)
{
	FunctionCallInfo call = feed->final_call;
	Datum		value;

	*is_null = state->is_null;
	if (!OidIsValid(feed->final_function.fn_oid))
		return state->is_null ? (Datum) 0 : MakeExpandedObjectReadOnly(state->value, false, feed->transition.transtypeLen);
	*is_null = true;
	/* all arguments but the state are NULL, if there are any */
	if (feed->final_function.fn_strict && (state->is_null || call->nargs > 1))
		return (Datum) 0;
	call->args[0].value = state->is_null ? (Datum) 0 :
		MakeExpandedObjectReadOnly(state->value, false, feed->transition.transtypeLen);
	call->args[0].isnull = state->is_null;
	call->isnull = false;
	value = FunctionCallInvoke(call);
	*is_null = call->isnull;
	return value;
}

static void
take_device(group_aggregate *base, const device_query *query, int number)
{
	feed_aggregate *feed = (feed_aggregate *) base;

	feed->answer = query;
	feed->output = &query->job.outputs[number];
}

static void
prepare(group_aggregate *base)
{
	feed_aggregate *feed = (feed_aggregate *) base;

	feed->answer = NULL;
	feed->from = base->input;
	group_prepare_rows(base);
}

static void
take_values(group_aggregate *base, group_input *values)
{
	feed_aggregate *feed = (feed_aggregate *) base;

	feed->answer = NULL;
	feed->from = values;
	base->rows = group_rows_in_order(values, base->filter, &base->order);
}

static Datum
result(group_aggregate *base, uint32 group, bool *is_null)
{
	feed_aggregate *feed = (feed_aggregate *) base;
	feed_aggregate *leader = feed->leader;
	MemoryContext caller = CurrentMemoryContext;

	if (feed->answer)
	{
		feed_state	state = {.value = group_feed_state(feed->answer, feed->output, base->aggref, group, &state.is_null)};

		return finish(feed, &state, is_null);
	}
	if (leader->turn != base->input->turn)
	{
		MemoryContextSwitchTo(leader->agg->tmpcontext->ecxt_per_tuple_memory);
		start_state(leader, &leader->state);
		advance_all(leader, &leader->state, leader->from->numbers ? leader->from->numbers[group] : group);
		leader->turn = base->input->turn;
		MemoryContextSwitchTo(caller);
	}
	return finish(feed, &leader->state, is_null);
}

/* ---- what it is made of */

static NullableDatum
initial_state(HeapTuple tuple, Oid type)
{
	NullableDatum initial = {0, true};
	Datum		value = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &initial.isnull);
	Oid			input;
	Oid			param;

	if (initial.isnull)
		return initial;
	getTypeInputInfo(type, &input, &param);
	initial.value = OidInputFunctionCall(input, TextDatumGetCString(value), param, -1);
	return initial;
}

static AggState *
make_agg_state(const group_aggregate_source *source)
{
	AggState   *agg = makeNode(AggState);

	agg->ss.ps.state = source->node->state;
	agg->curaggcontext = source->state_context;
	agg->tmpcontext = CreateExprContext(source->node->state);
	return agg;
}

static FunctionCallInfo
make_call(FmgrInfo *function, Expr *expr, int num_args, const feed_aggregate *feed)
{
	FunctionCallInfo call = palloc0(SizeForFunctionCallInfo(num_args));

	fmgr_info_set_expr((Node *) expr, function);
	InitFunctionCallInfoData(*call, function, num_args, feed->base.aggref->inputcollid, (Node *) feed->agg, NULL);
	for (int i = 0; i < num_args; i++)
		call->args[i].isnull = true;
	return call;
}

static void
make_calls(feed_aggregate *feed, Form_pg_aggregate form)
{
	const Aggref *aggref = feed->base.aggref;
	Oid			types[FUNC_MAX_ARGS];
	int			num_types = get_aggregate_argtypes((Aggref *) aggref, types);
	int			num_final_args = form->aggfinalextra ? num_types + 1 : 1;
	Expr	   *expr;
	Expr	   *unused;

	fmgr_info(form->aggtransfn, &feed->trans_function);
	build_aggregate_transfn_expr(types, num_types, 0, aggref->aggvariadic, aggref->aggtranstype, aggref->inputcollid,
								 form->aggtransfn, InvalidOid, &expr, &unused);
	feed->num_inputs = num_types;
	feed->trans_call = make_call(&feed->trans_function, expr, num_types + 1, feed);
	for (int i = 0; i < num_types; i++)
	{
		const Const *constant = (const Const *) agg_argument(aggref, i);

		if (feed->base.columns[i] < 0)
			feed->trans_call->args[i + 1] = (NullableDatum) {constant->constvalue, constant->constisnull};
	}
	if (!OidIsValid(form->aggfinalfn))
		return;
	fmgr_info(form->aggfinalfn, &feed->final_function);
	build_aggregate_finalfn_expr(types, num_final_args, aggref->aggtranstype, aggref->aggtype, aggref->inputcollid,
								 form->aggfinalfn, &expr);
	feed->final_call = make_call(&feed->final_function, expr, num_final_args, feed);
}

/* The columns whose values decide whether a row of DISTINCT is a new one: rows come sorted, so equality is enough. */
static void
make_distinct(feed_aggregate *feed)
{
	const Aggref *aggref = feed->base.aggref;
	group_keys *distinct = &feed->distinct;
	ListCell   *cell;

	distinct->keys = palloc0(list_length(aggref->aggdistinct) * sizeof(group_key) + 1);
	foreach(cell, aggref->aggdistinct)
	{
		SortGroupClause *clause = lfirst(cell);
		const TargetEntry *entry = get_sortgroupclause_tle(clause, aggref->args);
		group_key  *key = &distinct->keys[distinct->num_keys];

		group_key_fill_equal(key, exprType((const Node *) entry->expr), clause->eqop, exprCollation((const Node *) entry->expr));
		/* as Agg, which compares single columns without a check */
		if (list_length(aggref->aggdistinct) > 1)
			custom_plan_check_function(get_opcode(clause->eqop), GetUserId());
		key->column = feed->base.columns[entry->resno - 1];
		if (key->column >= 0)
			distinct->num_keys++;
	}
}

/* The planner has given the same number to aggregates that may share their states. */
static feed_aggregate *
find_leader(List *earlier, feed_aggregate *feed)
{
	ListCell   *cell;

	foreach(cell, earlier)
	{
		feed_aggregate *other = lfirst(cell);

		if (other->base.plan.way == GROUP_WAY_FEED && other->base.aggref->aggtransno == feed->base.aggref->aggtransno)
			return other->leader;
	}
	return feed;
}

group_aggregate *
group_feed_create(const group_aggregate_source *source)
{
	feed_aggregate *feed = (feed_aggregate *) group_aggregate_create(source, sizeof(feed_aggregate));
	const Aggref *aggref = source->aggref;
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	feed->leader = find_leader(source->earlier, feed);
	feed->agg = make_agg_state(source);
	get_typlenbyval(aggref->aggtranstype, &feed->transition.transtypeLen, &feed->transition.transtypeByVal);
	feed->initial = initial_state(tuple, aggref->aggtranstype);
	make_calls(feed, (Form_pg_aggregate) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
	make_distinct(feed);
	feed->base.order = group_order_of(aggref, feed->base.columns);
	feed->base.prepare = prepare;
	feed->base.result = result;
	feed->base.take_values = take_values;
	feed->base.take_device = table_feed_of(aggref) == TABLE_FEED_NONE ? NULL : take_device;
	return &feed->base;
}
