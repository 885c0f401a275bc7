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

#include "exec/device_rows.h"
#include "large_memory.h"

/* A table whose rows are fetched. */
typedef struct late_table
{
	table_scan	scan;
	TupleTableSlot *slot;		/* NULL: none was yet */
} late_table;

static late_table *
table_of(const device_rows *answer, late_table *tables, int number)
{
	late_table *table = &tables[number];

	if (table->slot == NULL)
	{
		table->scan = row_source_scan(answer->source, number);
		table->slot = table_slot_create(table->scan.relation, NULL);
	}
	return table;
}

/* The row with a TID as a job has them (mgpu_tid_of). */
static late_table *
fetch(const device_rows *answer, late_table *tables, int64 tid)
{
	late_table *table = table_of(answer, tables, (int) (tid >> 48));
	ItemPointerData place;

	ItemPointerSet(&place, (BlockNumber) (tid >> 16), (OffsetNumber) tid);
	if (!table_tuple_fetch_row_version(table->scan.relation, &place, answer->snapshot, table->slot))
		elog(ERROR, "row (%u,%u) of table \"%s\" is not there any more", ItemPointerGetBlockNumber(&place),
			 ItemPointerGetOffsetNumber(&place), RelationGetRelationName(table->scan.relation));
	return table;
}

/* table: NULL where the row has none, as that of an outer join. */
static void
put_columns(const device_rows *answer, const late_table *table, uint64 row)
{
	chunk	   *rows = answer->rows;

	for (int i = 0; i < rows->num_columns; i++)
	{
		bool		is_null = true;
		Datum		value = 0;

		if (answer->query->job.values[i].cells.form != CELLS_LATE)
			continue;
		if (table)
			value = slot_getattr(table->slot, list_nth_node(Var, table->scan.columns, i)->varattno, &is_null);
		chunk_put(rows, &rows->columns[i], row, value, is_null);
	}
}

static void
make_room(const device_rows *answer)
{
	chunk	   *rows = answer->rows;

	for (int i = 0; i < rows->num_columns; i++)
		if (answer->query->job.values[i].cells.form == CELLS_LATE)
			rows->columns[i].cells = large_alloc(rows->context, rows->num_rows * rows->columns[i].type->width);
}

void
device_rows_fetch(device_rows *answer, const int64 *tids)
{
	int			tid_column = answer->query->job.tid_column;
	late_table *tables = palloc0(MGPU_GROUP_MAX_SOURCES * sizeof(late_table));

	make_room(answer);
	for (uint64 row = 0; row < answer->rows->num_rows; row++)
	{
		bool		is_null = (answer->marks[row] >> tid_column & 1) != 0;

		CHECK_FOR_INTERRUPTS();
		put_columns(answer, is_null ? NULL : fetch(answer, tables, tids[row]), row);
	}
	for (int i = 0; i < MGPU_GROUP_MAX_SOURCES; i++)
		if (tables[i].slot)
			ExecDropSingleTupleTableSlot(tables[i].slot);
	pfree(tables);
}
