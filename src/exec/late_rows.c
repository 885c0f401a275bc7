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
	Relation	relation;
	TupleTableSlot *slot;		/* NULL: none was yet */
	AttrNumber *attributes;		/* of the rows' columns that are fetched from here */
} late_table;

/* The rows of the job's table, or of a build: of one table or several. */
typedef struct late_side
{
	const device_rows *answer;
	int			late_of;		/* as of table_value */
	const row_source *source;
	late_table	tables[MGPU_GROUP_MAX_SOURCES];
} late_side;

static bool
is_fetched(const late_side *side, int column)
{
	const table_value *value = &side->answer->query->job.values[column];

	return value->cells.form == CELLS_LATE && value->late_of == side->late_of;
}

/* The attributes of a table that columns of the rows are: of a build's, by the names that the job has for these. */
static AttrNumber *
attributes_of(const late_side *side, const table_scan *scan)
{
	List	   *columns = row_source_scan(side->answer->source, 0).columns;
	AttrNumber *attributes = palloc0(list_length(columns) * sizeof(AttrNumber) + 1);

	for (int i = 0; i < list_length(columns); i++)
	{
		int			number = !is_fetched(side, i) ? -1 : side->late_of == 0 ? i : list_nth_node(Var, columns, i)->varattno - 1;

		attributes[i] = number < 0 ? 0 : list_nth_node(Var, scan->columns, number)->varattno;
	}
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
	if (!table_tuple_fetch_row_version(table->relation, &place, side->answer->snapshot, table->slot))
		elog(ERROR, "row (%u,%u) of table \"%s\" is not there any more", ItemPointerGetBlockNumber(&place),
			 ItemPointerGetOffsetNumber(&place), RelationGetRelationName(table->relation));
	return table;
}

/* table: NULL where the row has none, as that of an outer join. */
static void
put_columns(const late_side *side, const late_table *table, uint64 row)
{
	chunk	   *rows = side->answer->rows;

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
	chunk	   *rows = side->answer->rows;

	for (int i = 0; i < rows->num_columns; i++)
		if (is_fetched(side, i))
			rows->columns[i].cells = large_alloc(rows->context, rows->num_rows * rows->columns[i].type->width);
}

void
device_rows_fetch(device_rows *answer, int late_of, const int64 *tids)
{
	int			tid_column = answer->query->job.tid_columns[late_of];
	late_side  *side = palloc0(sizeof(late_side));

	side->answer = answer;
	side->late_of = late_of;
	side->source = late_of == 0 ? answer->source : ((const source_join *) list_nth(row_source_joins(answer->source), late_of - 1))->source;
	make_room(side);
	for (uint64 row = 0; row < answer->rows->num_rows; row++)
	{
		bool		is_null = (answer->marks[row] >> tid_column & 1) != 0;

		CHECK_FOR_INTERRUPTS();
		put_columns(side, is_null ? NULL : fetch(side, tids[row]), row);
	}
	for (int i = 0; i < MGPU_GROUP_MAX_SOURCES; i++)
	{
		if (side->tables[i].slot == NULL)
			continue;
		ExecDropSingleTupleTableSlot(side->tables[i].slot);
		pfree(side->tables[i].attributes);
	}
	pfree(side);
}
