/*
 * rows.c
 *		Rows of plan nodes in chunks.
 */
#include "postgres.h"

#include "compat.h"
#include "batch/rows.h"
#include "core/job.h"

chunk *
rows_create(MemoryContext context, List *types)
{
	int			num_columns = list_length(types);
	column_type *filled = MemoryContextAlloc(context, num_columns * sizeof(column_type));
	const column_type **pointers = palloc(num_columns * sizeof(column_type *));
	chunk	   *rows;

	for (int i = 0; i < num_columns; i++)
	{
		column_type_fill(&filled[i], list_nth_oid(types, i));
		pointers[i] = &filled[i];
	}
	rows = chunk_create(context, num_columns, pointers, MGPU_MAX_ITEMS);
	pfree(pointers);
	return rows;
}

chunk *
rows_create_for(MemoryContext context, const PlanState *source)
{
	TupleDesc	descriptor = source->ps_ResultTupleDesc;
	List	   *types = NIL;

	for (int i = 0; i < descriptor->natts; i++)
		types = lappend_oid(types, TupleDescAttr(descriptor, i)->atttypid);
	return rows_create(context, types);
}

void
rows_put_slot(chunk *rows, TupleTableSlot *slot)
{
	uint64		row = chunk_add_rows(rows, 1);

	slot_getsomeattrs(slot, rows->num_columns);
	for (int i = 0; i < rows->num_columns; i++)
		chunk_put(rows, &rows->columns[i], row, slot->tts_values[i], slot->tts_isnull[i]);
}

Size
rows_bytes_of_one(const chunk *rows)
{
	Size		bytes = 0;

	for (int i = 0; i < rows->num_columns; i++)
		bytes += rows->columns[i].type->width + sizeof(bool);
	return bytes;
}

Size
rows_variable_bytes(const chunk *rows, uint64 row)
{
	Size		bytes = 0;

	for (int i = 0; i < rows->num_columns; i++)
	{
		const column *col = &rows->columns[i];

		if (column_is_variable(col->type) && !column_is_null(col, row))
			bytes += element_bytes(col->type, cell_element(col->type, col->cells, row));
	}
	return bytes;
}

uint32
rows_of_step(const chunk *rows, uint64 first, uint32 most_rows)
{
	uint32		num_rows = 0;
	Size		bytes = 0;

	while (num_rows < most_rows && bytes < CHUNK_STEP_BYTES)
		bytes += rows_variable_bytes(rows, first + num_rows++);
	return num_rows;
}
