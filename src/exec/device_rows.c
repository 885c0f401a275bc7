/*
 * device_rows.c
 *		Has a GPU read a table and return its rows in order, or the first of each partition, for MgpuTop and MgpuSort.
 *
 * The GPU sorts the rows that meet the conditions, and returns the columns of those that are wanted, which become the
 * columns of a chunk as they are.
 */
#include "postgres.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/device_query.h"
#include "exec/device_rows.h"

/* The column before this one that has the same values, or -1. */
static int
column_alike(const device_query *query, int number)
{
	for (int i = 0; i < number; i++)
		if (device_query_column(query, i) == device_query_column(query, number))
			return i;
	return -1;
}

/* The values of an output for the rows at hand: what came back in memory, or bytes of a file. */
static char *
take_output(const device_rows *answer, int number, uint32 width)
{
	device_output *output = &answer->query->request.outputs[number];
	Size		bytes = answer->rows->num_rows * width;
	char	   *data = output->data;

	output->data = NULL;
	return output->file ? run_group_read(output, answer->first * width, bytes, large_alloc(answer->rows->context, bytes)) : data;
}

static void
take_cells(const device_rows *answer)
{
	chunk	   *rows = answer->rows;

	for (int i = 0; i < rows->num_columns; i++)
	{
		uint32		width = rows->columns[i].type->width;
		Size		bytes = rows->num_rows * width;
		int			alike = column_alike(answer->query, i);

		if (alike < 0)
			rows->columns[i].cells = take_output(answer, 1 + device_query_column(answer->query, i), width);
		else if (bytes > 0)
			rows->columns[i].cells = memcpy(large_alloc(rows->context, bytes), rows->columns[alike].cells, bytes);
	}
}

static void
take_nulls(const device_rows *answer)
{
	chunk	   *rows = answer->rows;
	uint16		any = 0;

	for (uint64 row = 0; row < rows->num_rows; row++)
		any |= answer->marks[row];
	for (int i = 0; i < rows->num_columns; i++)
	{
		uint16		mask = 1 << device_query_column(answer->query, i);

		for (uint64 row = 0; (any & mask) != 0 && row < rows->num_rows; row++)
			if ((answer->marks[row] & mask) != 0)
				chunk_put_null(rows, &rows->columns[i], row);
	}
}

/* Rows that are at hand at a time. */
static uint64
rows_at_hand(const device_rows *answer)
{
	Size		row_bytes = rows_bytes_of_one(answer->rows) + sizeof(uint16);

	return answer->query->request.in_files ? Max(answer->query->request.most_bytes / row_bytes, 1) : answer->num_rows;
}

/* Have rows at hand, from the first on. */
static void
take(device_rows *answer, uint64 first)
{
	chunk	   *rows = answer->rows;

	if (answer->marks)
		pfree(answer->marks);
	chunk_free(rows);
	answer->first = first;
	rows->num_rows = rows->capacity = Min(rows_at_hand(answer), answer->num_rows - first);
	answer->marks = (uint16 *) take_output(answer, 0, sizeof(uint16));
	take_cells(answer);
	take_nulls(answer);
}

bool
device_rows_read(device_rows *answer, const char *node, row_source *source, chunk *rows, const query *query, double expected_rows)
{
	device_question question = {
		.node = node,
		.source = source,
		.of.query = query,
		.expected_rows = expected_rows,
		.outputs = rows->context
	};

	answer->query = device_query_run(rows->context, &question);
	if (answer->query == NULL)
		return false;
	answer->num_rows = answer->query->request.result.num_returned;
	answer->rows = rows;
	take(answer, 0);
	return true;
}

const chunk *
device_rows_next(device_rows *answer, top_rule rule, uint64 *row, int64 *number)
{
	uint64		place = answer->place;
	uint16		marks;

	if (place >= answer->num_rows)
		return NULL;
	answer->place++;
	if (place < answer->first || place >= answer->first + answer->rows->num_rows)
		take(answer, place - place % rows_at_hand(answer));
	*row = place - answer->first;
	marks = answer->marks[*row];
	if ((marks & MGPU_MARK_GROUP) != 0)
		answer->number_of_row = answer->number = 0;
	answer->number_of_row++;
	if (rule == TOP_ROWS || (rule == TOP_RANKS && (marks & MGPU_MARK_PEERS) != 0))
		answer->number = answer->number_of_row;
	else if ((marks & MGPU_MARK_PEERS) != 0)
		answer->number++;
	*number = answer->number;
	return answer->rows;
}

Size
device_rows_bytes(const device_rows *answer)
{
	return (rows_bytes_of_one(answer->rows) + sizeof(uint16)) * Min(rows_at_hand(answer), answer->num_rows);
}

void
device_rows_rescan(device_rows *answer)
{
	answer->place = 0;
}

void
device_rows_forget(device_rows *answer)
{
	if (answer->marks)
		pfree(answer->marks);
	if (answer->query)
		device_query_forget(answer->query);
	*answer = (device_rows) {0};
}
