/*
 * agg_call.h
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

#include "agg_batch.h"

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
	bool		has_followers;

	/*
	 * Not NULL: an aggregate of the same values, in ascending order, with the
	 * same FILTER.  It sees the same rows and so gives groups the same
	 * numbers; its batches hold the rows for both.
	 */
	struct agg_call *leader;

	agg_column	key;
	agg_column	value;			/* AGG_SORT_BY alone */
	Oid			collation;
	sort_order	order;			/* unless args_vary */
	agg_fraction *fraction;		/* of percentiles, unless args_vary */
	Oid			fraction_type;

	/* comparisons, prepared when first needed */
	SortSupportData support;
	bool		has_support;
	bool		support_descending;
	bool		abbreviates;

	int			num_slots;
	agg_slot	slots[FLEXIBLE_ARRAY_MEMBER];
} agg_call;

/*
 * Start the call of a transition or combine function and hang it on fn_extra.
 * ereport(ERROR) outside of an aggregate.
 */
extern agg_call *agg_call_start(FunctionCallInfo fcinfo, agg_kind kind);
extern agg_call *agg_call_start_combine(FunctionCallInfo fcinfo, agg_kind kind);

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

/* For final functions: the call whose groups they finish. */
extern agg_call *agg_call_of_final(FunctionCallInfo fcinfo);

/* For serialization functions. */
extern agg_call *agg_call_of_serialize(FunctionCallInfo fcinfo);

/* The call of another aggregate of the node, or NULL if it is none of ours. */
extern agg_call *agg_call_by_number(AggState *aggstate, int trans_number);

/* Let a call follow a leader of lower number, from its first row on. */
extern void agg_call_follow(agg_call *call, agg_call *leader);

/* Find or make the current aggregate context's batch. */
extern agg_batch *agg_call_switch(agg_call *call);

/* The same where it must exist already, with the group. */
extern agg_batch *agg_call_existing_batch(agg_call *call, uint32 group);

static inline agg_batch *
agg_call_batch(agg_call *call)
{
	if (likely(call->aggstate->curaggcontext == call->current_context))
		return call->current;
	return agg_call_switch(call);
}

/*
 * Batches whose trailing arguments are no constants: take them from a row, or
 * check that they are what the batch has.  first: number of the first of them
 * among the function's arguments.
 */
extern void agg_call_order_args(agg_batch *batch, FunctionCallInfo fcinfo, int first);

/* The same for an order that was sent. */
extern void agg_batch_set_order(agg_batch *batch, sort_order order);

/* Comparison for the batch's order, abbreviated where the type can. */
extern SortSupport agg_call_support(agg_call *call, bool descending);

#endif							/* MGPU_AGG_CALL_H */
