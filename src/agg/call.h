/*
 * call.h
 *		One aggregate of one Agg node, and its batches.
 *
 * PostgreSQL passes its Agg node's state to each transition function.  The call is
 * stored in the fn_extra of that transition (or combine) function, which lives exactly
 * as long as the node.  Final and serialization functions find the call through the
 * node.  So no registry has to be cleaned up at the end of a query.
 *
 * The transition state that PostgreSQL stores for each group is only the group's number
 * in the batch.
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

/* Whether aggregates of this kind can share a batch with others of the same values. */
static inline bool
agg_kind_shares(agg_kind kind)
{
	return kind == AGG_SORT || kind == AGG_PERCENTILE_CONT || kind == AGG_PERCENTILE_DISC;
}

/* The batch of one aggregate context: a grouping set's or the hash tables'. */
typedef struct agg_slot
{
	struct agg_call *call;
	ExprContext *expr_context;
	agg_batch  *batch;			/* NULL: no row since the last reset */
} agg_slot;

typedef struct agg_call
{
	/* a cache of the current context's batch */
	AggState   *aggstate;		/* NULL: MgpuGroup owns the groups */
	ExprContext *current_context;	/* NULL: the cache is empty */
	agg_batch  *current;

	agg_kind	kind;
	int			trans_number;	/* index in the Agg node's pertrans */
	const Aggref *aggref;
	const char *function;		/* SQL name, static */
	MemoryContext context;		/* lives as long as the plan node */
	bool		args_vary;		/* trailing arguments are not all constants */

	/*
	 * If not NULL, another aggregate of the same values, in ascending order, with the
	 * same FILTER.  It gets the same rows and so gives groups the same numbers.  Its
	 * batches hold the rows for both.
	 */
	struct agg_call *leader;

	column_type key;
	column_type value;			/* only for AGG_SORT_BY */
	Oid			collation;
	sort_order	order;			/* valid unless args_vary */
	column_type fraction;		/* float8 or float8[] for percentiles, else zero */
	chunk	   *constant_fraction;	/* percentiles: one row; NULL if args_vary */

	/* comparison function, prepared at its first use */
	SortSupportData support;
	bool		has_support;
	bool		support_descending;

	int			num_slots;
	agg_slot	slots[FLEXIBLE_ARRAY_MEMBER];
} agg_call;

/*
 * Create the call of a transition function, or of a combine function, and store it in
 * fn_extra.  ereport(ERROR) outside of an aggregate.
 */
extern agg_call *agg_call_start(FunctionCallInfo fcinfo, agg_kind kind, bool combines);

/*
 * For MgpuGroup: create a call whose batches hold a column of that type.  It lives in the current
 * context.  The node makes the batches.
 */
extern agg_call *agg_call_of_column(Oid type_id, Oid collation, sort_order order);

/* Argument n of an aggregate, from 0. */
extern const Expr *agg_argument(const Aggref *aggref, int n);

/* The group of a final or serialization function. */
typedef struct agg_group
{
	uint32		number;
	agg_batch  *own;			/* the batch of the aggregate itself */
	agg_batch  *batch;			/* the batch with the rows: the leader's, if there is one */
} agg_group;

/* For final and serialization functions: the group of the current call. */
extern agg_group agg_group_of_final(FunctionCallInfo fcinfo);

/* The call of another aggregate of the node; NULL if the extension did not make it. */
extern agg_call *agg_call_by_number(AggState *aggstate, int trans_number);

/* Find or create the batch of the current aggregate context. */
extern agg_batch *agg_call_switch(agg_call *call);

static inline agg_batch *
agg_call_batch(agg_call *call)
{
	if (likely(call->aggstate->curaggcontext == call->current_context))
		return call->current;
	return agg_call_switch(call);
}

/* For transition and combine functions: the batch and group of a row.  A NULL state starts a new group. */
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
 * For trailing arguments that are not constants: the first row sets the batch's order,
 * and an error is raised where a later row differs.  first: index of the first order
 * argument among the function's arguments.
 */
extern void agg_call_order_args(agg_batch *batch, FunctionCallInfo fcinfo, int first);

/* The same check for the order in a state that a worker sent. */
extern void agg_batch_set_order(agg_batch *batch, sort_order order);

/* The comparison function for a direction; it lives as long as the call. */
extern SortSupport agg_call_support(agg_call *call, bool descending);

#endif							/* MGPU_AGG_CALL_H */
