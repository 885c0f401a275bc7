/*
 * late_rows.c
 *		Columns of rows that a job has found, fetched from their tables by TID once it is known which rows are wanted.
 *
 * So a job does for the first rows of a table whatever types their other columns have, and however long their values are.  A row that the job has
 * seen stays where it is as long as its snapshot does.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/late_rows.h"
#include "large_memory.h"

/* A table whose rows are fetched. */
typedef struct late_table
{
	Relation	relation;
	TupleTableSlot *slot;		/* NULL: none was yet */
	AttrNumber *attributes;		/* of the rows' columns that are fetched from here */
} late_table;

/* The rows that the job's TIDs of some number are of: a table's, or those of its partitions. */
typedef struct late_side
{
	const late_rows *of;
	int			late;
	const row_source *source;
	int		   *columns;		/* of the source, that columns of the rows are; -1: of another */
	late_table	tables[MGPU_GROUP_MAX_SOURCES];
} late_side;

static bool
is_fetched(const late_side *side, int column)
{
	const table_value *value = &side->of->job->values[column];

	return value->column >= 0 && value->cells.form == CELLS_LATE && value->late == side->late;
}

static void
find_columns(late_side *side)
{
	int			num_columns = side->of->rows->num_columns;

	side->columns = palloc(num_columns * sizeof(int) + 1);
	for (int i = 0; i < num_columns; i++)
	{
		side->columns[i] = is_fetched(side, i) ? i : -1;
		if (side->columns[i] >= 0)
			side->source = row_source_of_column(side->of->source, &side->columns[i]);
	}
}

/* The attributes of a table that columns of the rows are. */
static AttrNumber *
attributes_of(const late_side *side, const table_scan *scan)
{
	int			num_columns = side->of->rows->num_columns;
	AttrNumber *attributes = palloc0(num_columns * sizeof(AttrNumber) + 1);

	for (int i = 0; i < num_columns; i++)
		if (side->columns[i] >= 0)
			attributes[i] = list_nth_node(Var, scan->columns, side->columns[i])->varattno;
	return attributes;
}

static late_table *
table_of(late_side *side, int number)
{
	late_table *table = &side->tables[number];

	if (table->slot == NULL)
	{
		table_scan	scan = row_source_scan(side->source, number);

		table->relation = scan.relation;
		table->attributes = attributes_of(side, &scan);
		table->slot = table_slot_create(scan.relation, NULL);
	}
	return table;
}

/* The row with a TID as a job has them (mgpu_tid_of). */
static late_table *
fetch(late_side *side, int64 tid)
{
	late_table *table = table_of(side, (int) (tid >> 48));
	ItemPointerData place;

	ItemPointerSet(&place, (BlockNumber) (tid >> 16), (OffsetNumber) tid);
	if (!table_tuple_fetch_row_version(table->relation, &place, side->of->snapshot, table->slot))
		elog(ERROR, "row (%u,%u) of table \"%s\" is not there any more", ItemPointerGetBlockNumber(&place),
			 ItemPointerGetOffsetNumber(&place), RelationGetRelationName(table->relation));
	return table;
}

/* table: NULL where the row has none, as that of an outer join. */
static void
put_columns(const late_side *side, const late_table *table, uint64 row)
{
	chunk	   *rows = side->of->rows;

	for (int i = 0; i < rows->num_columns; i++)
	{
		bool		is_null = true;
		Datum		value = 0;

		if (!is_fetched(side, i))
			continue;
		if (table)
			value = slot_getattr(table->slot, table->attributes[i], &is_null);
		chunk_put(rows, &rows->columns[i], row, value, is_null);
	}
}

static void
make_room(const late_side *side)
{
	chunk	   *rows = side->of->rows;

	for (int i = 0; i < rows->num_columns; i++)
		if (is_fetched(side, i) && rows->columns[i].cells == NULL)
			rows->columns[i].cells = large_alloc(rows->context, rows->num_rows * rows->columns[i].type->width);
}

static void
drop_slots(const late_side *side)
{
	for (int i = 0; i < MGPU_GROUP_MAX_SOURCES; i++)
		if (side->tables[i].slot)
			ExecDropSingleTupleTableSlot(side->tables[i].slot);
}

void
late_rows_fetch(const late_rows *of, int late, late_tid tid_of)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg rows that are fetched", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	late_side  *side = palloc0(sizeof(late_side));

	side->of = of;
	side->late = late;
	find_columns(side);
	make_room(side);
	for (uint64 row = 0; row < of->rows->num_rows; row++)
	{
		int64		tid;

		CHECK_FOR_INTERRUPTS();
		put_columns(side, tid_of(of->context, of->job->lates[late].column, row, &tid) ? fetch(side, tid) : NULL, row);
	}
	drop_slots(side);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}
