/*
 * sort_spec.h
 *		How a SQL call wants things sorted; shared by all sorting functions.
 */
#ifndef MGPU_SORT_SPEC_H
#define MGPU_SORT_SPEC_H

#include "core/job.h"

/* The two optional trailing arguments of every sorting function. */
typedef struct sort_order
{
	bool		descending;
	bool		nulls_first;
} sort_order;

/*
 * Segments of an array: heads[i] is the 0-based position of the first element
 * of segment i; ascending, unique, the first is 0.
 */
typedef struct segment_list
{
	uint32	   *heads;
	int64		num_segments;
	int64		num_items;		/* of the whole array */
} segment_list;

static inline int64
segment_end(const segment_list *segments, int64 i)
{
	return i + 1 < segments->num_segments ? segments->heads[i + 1] : segments->num_items;
}

typedef struct sort_spec
{
	const char *function;		/* SQL name, static */
	mgpu_op		op;				/* MGPU_OP_SORT, MGPU_OP_ODD_EVEN_SORT */
	mgpu_algorithm algorithm;	/* AUTO: as mgpu.algorithm says */
	sort_order	order;
	Oid			collation;
	const segment_list *segments;	/* NULL: the array is one */
	const char *cpu_reason;		/* as in run_request: why the CPU, for a second job of a call; NULL: as is chosen */
} sort_spec;

#endif							/* MGPU_SORT_SPEC_H */
