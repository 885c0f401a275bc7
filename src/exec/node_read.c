/*
 * node_read.c
 *		Reads the rows of a node: its child's, and those of partitions.
 *
 * Rows come some at a time, and the node's operator takes them (node.h).  What does not fit in memory goes to partitions by
 * keys (batch/spill.h), each of which is read like the child when its turn comes.  Sorted runs are MgpuSort's own:
 * they are merged, not read one after the other.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "batch/wire.h"
#include "exec/rows_below.h"

/* Rows that are read at a time, unless the operator says otherwise. */
#define STEP_ROWS 1024

/* Most rows of a step, with those of a page, a pack or a piece of a file. */
#define MOST_STEP_ROWS (64 * 1024)

/* ---- preparing */

/*
 * Keep columns as they come: those that the query says, or all that are no keys of MgpuTop and MgpuSort, which only hand them
 * on.  Returns their numbers.
 */
static Bitmapset *
keep_stored(chunk *rows, const query *query)
{
	bool		are_listed = query->kind == QUERY_GROUP || query->kind == QUERY_ROWS;
	Bitmapset  *columns = NULL;

	for (int i = 0; i < rows->num_columns; i++)
	{
		if (are_listed ? !list_member_int(query->stored, i) :
			list_member_int(query->key_columns, i) || list_member_int(query->order_columns, i))
			continue;
		chunk_keep_stored(rows, &rows->columns[i]);
		columns = bms_add_member(columns, i);
	}
	return columns;
}

void
node_open(node_state *node)
{
	const query *query = node->query;
	Bitmapset  *stored;

	node->rows = query->packed_types ? rows_create(CurrentMemoryContext, query->packed_types) :
		rows_create_for(CurrentMemoryContext, node->child);
	stored = keep_stored(node->rows, query);
	if (query->packed_types == NIL)
	{
		node->source = row_source_open(node->child, query->kind == QUERY_TOP ? stored : NULL);
		node->below = rows_below_open(node->child);
	}
	node->row_bytes = rows_bytes_of_one(node->rows);
	node->step_rows = STEP_ROWS;
	node->step_bytes = CHUNK_STEP_BYTES;
}

void
node_reserve(node_state *node)
{
	uint64		num_rows = Min(node->num_rows, Min(node_limit_bytes(node) / node->row_bytes, MGPU_MAX_ITEMS));

	if (num_rows > STEP_ROWS && node->rows->capacity < num_rows)
		chunk_grow(node->rows, num_rows);
}

/* ---- memory */

Size
node_limit_bytes(const node_state *node)
{
	Size		limit = get_hash_memory_limit();

	return node->spill.num_partitions > 0 ? limit - limit / SPILL_BUFFER_PART : limit;
}

bool
node_is_full(node_state *node, Size beside_bytes)
{
	const chunk *rows = node->rows;
	Size		bytes = rows->num_rows * node->row_bytes + rows->arena.taken_bytes + beside_bytes;

	node->most_bytes = Max(node->most_bytes, bytes);
	return bytes > node_limit_bytes(node) || rows->num_rows > MGPU_MAX_ITEMS - MOST_STEP_ROWS;
}

void
node_spill(node_state *node, chunk *rows, Size row_bytes)
{
	spill_rows(&node->spill, rows, node->level, node->num_rows * row_bytes, get_hash_memory_limit());
}

/* ---- reading */

/* Append the rows of the child's next pack.  False: there are no more. */
static bool
read_pack(node_state *node)
{
	TupleTableSlot *slot = ExecProcNode(node->child);
	const bytea *pack;
	bool		is_null;

	if (TupIsNull(slot))
		return false;
	pack = (const bytea *) DatumGetPointer(slot_getattr(slot, 1, &is_null));
	if (is_null)
		elog(ERROR, "a parallel worker sent no rows to group");
	if (chunk_read(node->rows, node->rows->num_columns, VARDATA_ANY(pack), VARSIZE_ANY_EXHDR(pack)) != VARSIZE_ANY_EXHDR(pack))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid rows of a parallel worker")));
	return true;
}

bool
node_read_step(node_state *node)
{
	const chunk *rows = node->rows;
	uint64		enough_rows = rows->num_rows + node->step_rows;
	Size		enough_bytes = rows->arena.taken_bytes + node->step_bytes;

	while (!node->ended && rows->num_rows < enough_rows && rows->arena.taken_bytes < enough_bytes)
		node->ended = !(node->source ? row_source_read(node->source, node->rows) : read_pack(node));
	return !node->ended;
}

/* The operator has all rows: those that it has spilled wait. */
static void
finish(node_state *node)
{
	node->operator->finish(node);
	if (node->spill.num_open > 0)
		spill_finish(&node->spill);
}

uint64
node_expected_rows(const node_state *node)
{
	double		at_a_time = node->source ? 1 : rows_of_pack(rows_bytes_of_one(node->rows));

	return Min(node->child->plan->plan_rows * at_a_time, (double) MGPU_MAX_ITEMS);
}

void
node_read_child(node_state *node)
{
	const node_operator *operator = node->operator;

	node->num_rows = node_expected_rows(node);
	node->level = 1;
	if (operator->read_by_device(node))
	{
		node->ended = true;
		return;
	}
	operator->start(node);
	while (node_read_step(node))
	{
		CHECK_FOR_INTERRUPTS();
		operator->take(node);
	}
	finish(node);
}

bool
node_read_partition(node_state *node)
{
	partition  *part = spill_next(&node->spill);

	if (part == NULL)
		return false;
	node->num_rows = part->num_rows;
	/* rows of one group, or of groups that no hash tells apart, have to fit */
	node->level = part->one_group ? 0 : part->level + 1;
	chunk_free(node->rows);
	node->operator->start(node);
	while (part->num_rows > 0)
	{
		CHECK_FOR_INTERRUPTS();
		spill_read(part, node->rows);
		node->operator->take(node);
	}
	BufFileClose(part->file);
	finish(node);
	return true;
}

/* ---- returning */

TupleTableSlot *
node_return_row(node_state *node, const chunk *rows, uint64 row)
{
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;

	/* nothing else is in the slot but values of the row before, unless somebody has made it keep them */
	if (TTS_EMPTY(slot) || TTS_SHOULDFREE(slot))
	{
		ExecClearTuple(slot);
		ExecStoreVirtualTuple(slot);
	}
	rows_fill_values(rows, row, slot->tts_values, slot->tts_isnull);
	return slot;
}

/* Allocated in the current context. */
static bytea *
make_pack(const chunk_slice *slice)
{
	StringInfoData message;

	message_start(&message);
	message_append_rows(&message, slice);
	return message_end(&message);
}

TupleTableSlot *
node_return_pack(node_state *node, const chunk *rows, uint64 *next, uint32 most_rows)
{
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	uint32		num_rows = rows_of_step(rows, *next, Min(most_rows, rows->num_rows - *next));
	MemoryContext caller = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	ExecClearTuple(slot);
	/* other entries have names, for EXPLAIN, and no values here */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_isnull[0] = false;
	slot->tts_values[0] = PointerGetDatum(make_pack(&(chunk_slice) {rows, rows->num_columns, *next, NULL, num_rows}));
	MemoryContextSwitchTo(caller);
	*next += num_rows;
	return ExecStoreVirtualTuple(slot);
}
