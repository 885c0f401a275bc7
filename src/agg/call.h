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
 *
 * Under a hashed plan a batch has all groups of an aggregate context.  The context owns
 * the batch's memory, and PostgreSQL's reset of the context (between spilled batches,
 * on a rescan, at the end) ends the batch.  Under a sorted or plain plan a batch has
 * one group.  Then the batch and its memory live as long as the query, and each group
 * starts it over.
 */
#ifndef MGPU_AGG_CALL_H
#define MGPU_AGG_CALL_H

#include "executor/nodeAgg.h"
#include "fmgr.h"

#include "agg/batch.h"
#include "batch/wire.h"

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
	return kind != AGG_SORT_BY && kind != AGG_MERGE;
}

/* The groups of one aggregate context: a grouping set's or the hash tables'. */
typedef struct agg_slot
{
	struct agg_call *call;
	ExprContext *expr_context;
	agg_batch  *batch;			/* NULL: no row since the last reset.  A follower's only counts groups */
	bool		takes_args;		/* the next row's trailing arguments have to be looked at */
	bool		has_order;		/* the batch's order is known */
	chunk	   *fractions;		/* of each group or, if it is constant, of all; NULL: no percentile */
} agg_slot;

typedef struct agg_call
{
	/* a cache of the current context's slot */
	AggState   *aggstate;
	ExprContext *current_context;	/* NULL: the cache is empty */
	agg_slot   *current;

	agg_kind	kind;
	int			trans_number;	/* index in the Agg node's pertrans */
	const Aggref *aggref;
	MemoryContext context;		/* lives as long as the plan node */
	bool		args_vary;		/* trailing arguments are not all constants */

	/*
	 * If not NULL, another aggregate of the same values, in ascending order, with the
	 * same FILTER.  It gets the same rows and so gives groups the same numbers.  Its
	 * batches hold the rows for both.
	 */
	struct agg_call *leader;

	sort_spec	sort;
	column_type key;
	column_type value;			/* only for AGG_SORT_BY */
	column_type fraction;		/* float8 or float8[] for percentiles, else zero */

	int			num_slots;
	agg_slot	slots[FLEXIBLE_ARRAY_MEMBER];
} agg_call;

/*
 * Create the call of a transition function, or of a combine function, and store it in
 * fn_extra.  ereport(ERROR) outside of an aggregate.
 */
extern agg_call *agg_call_start(FunctionCallInfo fcinfo, agg_kind kind, bool combines);

/* Argument n of an aggregate, from 0. */
extern const Expr *agg_argument(const Aggref *aggref, int n);

/* The group of a final or serialization function. */
typedef struct agg_group
{
	uint32		number;
	agg_slot   *slot;
	agg_batch  *batch;			/* the batch with the rows: the leader's, if there is one */
} agg_group;

/* For final and serialization functions: the group of the current call. */
extern agg_group agg_group_of_final(FunctionCallInfo fcinfo);

/* The call of another aggregate of the node; NULL if the extension did not make it. */
extern agg_call *agg_call_by_number(AggState *aggstate, int trans_number);

/* Find the slot of the current aggregate context, and create its batch if it has none. */
extern agg_slot *agg_call_switch(agg_call *call);

/* Start a new group and return its number. */
extern uint32 agg_slot_new_group(agg_slot *slot);

/*
 * Take a row's order arguments or fraction.  If they vary, the first row sets the batch's order or
 * its group's fraction, and an error is raised where a later row differs.
 */
extern void agg_slot_take_args(agg_slot *slot, uint32 group, FunctionCallInfo fcinfo);

/* The same with what a worker sent. */
extern void agg_slot_take_order(agg_slot *slot, sort_order order);
extern void agg_slot_take_fraction(agg_slot *slot, uint32 group, NullableDatum fraction);

/* A group's fraction as a slice of one row; without rows if there is none. */
extern chunk_slice agg_slot_fraction(const agg_slot *slot, uint32 group);

/* For transition and combine functions: the slot and group of a row.  A NULL state starts a new group. */
static inline agg_slot *
agg_slot_of_row(FunctionCallInfo fcinfo, agg_kind kind, bool combines, uint32 *group)
{
	agg_call   *call = fcinfo->flinfo->fn_extra;
	agg_slot   *slot;

	if (unlikely(call == NULL))
		call = agg_call_start(fcinfo, kind, combines);
	slot = likely(call->aggstate->curaggcontext == call->current_context) ? call->current : agg_call_switch(call);
	*group = PG_ARGISNULL(0) ? agg_slot_new_group(slot) : DatumGetUInt32(PG_GETARG_DATUM(0));
	if (!combines && unlikely(slot->takes_args))
		agg_slot_take_args(slot, *group, fcinfo);
	return slot;
}

#endif							/* MGPU_AGG_CALL_H */
