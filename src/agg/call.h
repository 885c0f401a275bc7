/*
 * call.h
 *		One aggregate of one Agg node, and its batches.
 *
 * PostgreSQL hands each transition function its Agg node's state.  The call
 * hangs on the fn_extra of that transition (or combine) function, which lives
 * exactly as long as the node; final and serialization functions find it
 * through the node.  So there is no registry to clean up, whatever ends a
 * query.
 *
 * The transition state that PostgreSQL keeps for each group is the group's
 * number in the batch, nothing more.
 */
#ifndef MGPU_AGG_CALL_H
#define MGPU_AGG_CALL_H

#include "executor/nodeAgg.h"
#include "fmgr.h"
#include "utils/sortsupport.h"

#include "agg/batch.h"

typedef enum agg_kind
{
	AGG_SORT,
	AGG_SORT_BY,
	AGG_MERGE,
	AGG_PERCENTILE_CONT,
	AGG_PERCENTILE_DISC
} agg_kind;

#define AGG_NUM_KINDS (AGG_PERCENTILE_DISC + 1)

/* Whether aggregates of the same values can have one batch between them. */
static inline bool
agg_kind_shares(agg_kind kind)
{
	return kind == AGG_SORT || kind == AGG_PERCENTILE_CONT || kind == AGG_PERCENTILE_DISC;
}

/* The batch of one aggregate context: a grouping set's, or the hash tables'. */
typedef struct agg_slot
{
	struct agg_call *call;
	ExprContext *expr_context;
	agg_batch  *batch;			/* NULL: none since the context was reset */
} agg_slot;

typedef struct agg_call
{
	/* where the current context's batch is, for the common case */
	AggState   *aggstate;		/* NULL: a plan node of our own has the groups */
	ExprContext *current_context;	/* NULL: look it up */
	agg_batch  *current;

	agg_kind	kind;
	int			trans_number;	/* PostgreSQL's aggtransno */
	const Aggref *aggref;
	const char *function;		/* SQL name, static */
	MemoryContext context;		/* lives as long as the plan node */
	bool		args_vary;		/* trailing arguments are not constants */

	/*
	 * Not NULL: an aggregate of the same values, in ascending order, with the
	 * same FILTER.  It sees the same rows and so gives groups the same
	 * numbers; its batches hold the rows for both.
	 */
	struct agg_call *leader;

	column_type key;
	column_type value;			/* AGG_SORT_BY alone */
	Oid			collation;
	sort_order	order;			/* unless args_vary */
	column_type fraction;		/* of percentiles: float8 or float8[]; else no type */
	chunk	   *constant_fraction;	/* one row, unless args_vary */

	/* comparisons, prepared when first needed */
	SortSupportData support;
	bool		has_support;
	bool		support_descending;

	int			num_slots;
	agg_slot	slots[FLEXIBLE_ARRAY_MEMBER];
} agg_call;

/*
 * Start the call of a transition function, or of a combine function, and hang it on
 * fn_extra.  ereport(ERROR) outside of an aggregate.
 */
extern agg_call *agg_call_start(FunctionCallInfo fcinfo, agg_kind kind, bool combines);

/*
 * For a plan node of our own: the call of an aggregate whose trailing arguments
 * are constants.  It lives in parent; batches are the node's to make.
 */
extern agg_call *agg_call_create(MemoryContext parent, const Aggref *aggref, agg_kind kind);

/* Number of an aggregate's arguments before the order… or fraction argument. */
extern int	agg_kind_args(agg_kind kind);

/* An argument of an aggregate. */
extern const Expr *agg_argument(const Aggref *aggref, int n);

/* Whether two aggregates see the same values in the same rows, and sort them alike. */
extern bool agg_call_can_share(const agg_call *call, const agg_call *other);

/* A group, as PostgreSQL hands it on. */
typedef struct agg_group
{
	uint32		number;
	agg_batch  *own;			/* of its call */
	agg_batch  *batch;			/* which has its rows: the leader's, if there is one */
} agg_group;

/* For final and serialization functions: the group that they are called for. */
extern agg_group agg_group_of_final(FunctionCallInfo fcinfo);

/* The call of another aggregate of the node, or NULL if it is none of ours. */
extern agg_call *agg_call_by_number(AggState *aggstate, int trans_number);

/* Find or make the current aggregate context's batch. */
extern agg_batch *agg_call_switch(agg_call *call);

static inline agg_batch *
agg_call_batch(agg_call *call)
{
	if (likely(call->aggstate->curaggcontext == call->current_context))
		return call->current;
	return agg_call_switch(call);
}

/* For transition and combine functions: the batch and group of a row, new where the state is NULL. */
static inline agg_batch *
agg_group_of_row(FunctionCallInfo fcinfo, agg_kind kind, bool combines, uint32 *group)
{
	agg_call   *call = fcinfo->flinfo->fn_extra;
	agg_batch  *batch;

	if (unlikely(call == NULL))
		call = agg_call_start(fcinfo, kind, combines);
	batch = agg_call_batch(call);
	*group = PG_ARGISNULL(0) ? agg_batch_new_group(batch) : DatumGetUInt32(PG_GETARG_DATUM(0));
	return batch;
}

/*
 * Batches whose trailing arguments are no constants: take them from a row, or
 * check that they are what the batch has.  first: number of the first of them
 * among the function's arguments.
 */
extern void agg_call_order_args(agg_batch *batch, FunctionCallInfo fcinfo, int first);

/* The same for an order that was sent. */
extern void agg_batch_set_order(agg_batch *batch, sort_order order);

/* Comparison in an order; it lives as long as the call. */
extern SortSupport agg_call_support(agg_call *call, bool descending);

#endif							/* MGPU_AGG_CALL_H */
