/*
 * bulk_move.h
 *		Bulk remove and bulk insert by an executor.
 */
#ifndef MGPU_BULK_MOVE_H
#define MGPU_BULK_MOVE_H

#include "array_source.h"
#include "element_type.h"
#include "position_args.h"

/* A move whose positions may come in blocks. */
typedef struct bulk_move
{
	const char *function;
	mgpu_op		op;
	array_source *source;
	array_source *inserted;		/* NULL: positions are of what is removed */
	const element_type *type;
	ArrayType  *result;
} bulk_move;

/* Elements are of a width that executors move, and none is NULL.  Uses positions up. */
extern void bulk_move_run(bulk_move *move, position_blocks *blocks);

#endif							/* MGPU_BULK_MOVE_H */
