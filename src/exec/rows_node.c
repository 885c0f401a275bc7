/*
 * rows_node.c
 *		MgpuRows: packs rows for an MgpuGroup node (group_node.c).
 *
 * The node runs below a Gather, in every worker and in a participating leader.  It
 * reads its child's rows into columns and returns them as packs, one tuple for about a
 * thousand rows, and it holds at most one pack and a page.  To the nodes above, it is a scan with
 * one column, so the nodes in between need no knowledge of packs.  Shared memory that
 * the leader sorts in place was rejected.  The queue already bounds the memory of
 * workers, and the copy that it adds costs a tenth of the sort that follows.
 */
#include "postgres.h"

#include "compat.h"
#include "batch/wire.h"
#include "exec/node.h"

typedef struct rows_state
{
	node_state	node;			/* its rows are those of the next pack, or of several if they are wide */
	uint64		next;			/* the first that is in no pack yet */
} rows_state;

static void
begin(node_state *node)
{
	node_open(node);
	/* a pack is full with as many */
	node->step_rows = rows_of_pack(node->row_bytes);
}

static TupleTableSlot *
next(node_state *node)
{
	rows_state *state = (rows_state *) node;

	if (state->next == node->rows->num_rows)
	{
		chunk_reset(node->rows);
		state->next = 0;
		(void) node_read_step(node);
	}
	return node->rows->num_rows > 0 ? node_return_pack(node, node->rows, &state->next, UINT32_MAX) : NULL;
}

static void
forget(node_state *node)
{
	((rows_state *) node)->next = 0;
}

const node_operator rows_operator = {
	.name = "MgpuRows",
	.state_bytes = sizeof(rows_state),
	.begin = begin,
	.next = next,
	.forget = forget
};
