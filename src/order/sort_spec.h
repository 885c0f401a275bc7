/*
 * sort_spec.h
 *		How a SQL call wants its data sorted.  All sorting functions use it.
 */
#ifndef MGPU_ORDER_SORT_SPEC_H
#define MGPU_ORDER_SORT_SPEC_H

#include "core/job.h"

#include "array/array_segments.h"
#include "run/record.h"

/* The two optional trailing arguments of every sorting function. */
typedef struct sort_order
{
	bool		descending;
	bool		nulls_first;
} sort_order;

typedef struct sort_spec
{
	const char *function;		/* SQL name, static */
	mgpu_op		op;				/* MGPU_OP_SORT, MGPU_OP_ODD_EVEN_SORT */
	mgpu_algorithm algorithm;	/* AUTO: as mgpu.algorithm says */
	sort_order	order;
	Oid			collation;
	const segment_list *segments;	/* NULL: the whole array is one segment */
	const char *cpu_reason;		/* as in run_request, for a second job of a call */
	bool		is_one_of_many; /* as in run_request */
	run_record *record;			/* out: what ran */
} sort_spec;

#endif							/* MGPU_ORDER_SORT_SPEC_H */
