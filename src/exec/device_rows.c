/*
 * device_rows.c
 *		Has a GPU read a table and return its rows in order, or the first of each partition, for MgpuTop and MgpuSort.
 *
 * The GPU sorts the rows that meet the conditions, and returns the columns of those that are wanted, which become the
 * columns of a chunk as they are.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/device_query.h"
#include "exec/device_rows.h"
#include "exec/late_rows.h"

/* Values of variable width are made in memory that is given back after so many. */
#define VALUES_AT_A_TIME 1000

static const table_value *
value_of(const device_rows *answer, int number)
{
	return &answer->query->job.values[number];
}

/* Values of an output for the rows at hand: what came back in memory, or bytes of a file. */
static char *
take_output(const device_rows *answer, int number, uint32 width)
{
	device_output *output = &answer->query->request.outputs[number];
	Size		bytes = answer->rows->num_rows * width;
	char	   *data = output->data;

	output->data = NULL;
	return output->file ? run_group_read(output, answer->first * width, bytes, large_alloc(answer->rows->context, bytes)) : data;
}

static bool
is_null(const device_rows *answer, int number, uint64 row)
{
	return (answer->marks[row] >> value_of(answer, number)->column & 1) != 0;
}

/* Numbers become cells of the chunk as they are: nobody else has them, or those of a column before are copied. */
static void
take_numbers(device_rows *answer, int number)
{
	chunk	   *rows = answer->rows;
	column	   *col = &rows->columns[number];
	int			from = value_of(answer, number)->column;
	Size		bytes = rows->num_rows * col->type->width;

	if (answer->owners[from] < 0)
	{
		col->cells = answer->cells[from];
		answer->owners[from] = number;
	}
	else if (bytes > 0)
		col->cells = memcpy(large_alloc(rows->context, bytes), answer->cells[from], bytes);
	for (uint64 row = 0; row < rows->num_rows; row++)
		if (is_null(answer, number, row))
			chunk_put_null(rows, col, row);
}

/* Make values of their cells. */
static void
make_value(const device_rows *answer, int number, uint64 row)
{
	const table_value *value = value_of(answer, number);
	bool		null = is_null(answer, number, row);
	uint64		bits[MOST_CELLS];

	for (int i = 0; i < value->cells.num_cells; i++)
		bits[i] = ((const uint64 *) answer->cells[value->column + i])[row];
	chunk_put(answer->rows, &answer->rows->columns[number], row, null ? (Datum) 0 : value_cells_datum(&value->cells, bits), null);
}

static void
make_values(device_rows *answer, int number)
{
	chunk	   *rows = answer->rows;
	MemoryContext values = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg values of a GPU", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(values);

	rows->columns[number].cells = large_alloc(rows->context, rows->num_rows * rows->columns[number].type->width);
	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		make_value(answer, number, row);
		if (row % VALUES_AT_A_TIME == VALUES_AT_A_TIME - 1)
			MemoryContextReset(values);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(values);
}

static bool
tid_of(void *context, int column, uint64 row, int64 *tid)
{
	const device_rows *answer = context;

	*tid = ((const int64 *) answer->cells[column])[row];
	return (answer->marks[row] >> column & 1) == 0;
}

static void
take_columns(device_rows *answer)
{
	const mgpu_group_spec *spec = &answer->query->request.spec;
	late_rows	late = {&answer->query->job, answer->source, answer->snapshot, answer->rows, answer};

	for (uint32 i = 0; i < spec->num_columns; i++)
	{
		answer->cells[i] = spec->columns[i].is_returned ? take_output(answer, 1 + i, spec->columns[i].width) : NULL;
		answer->owners[i] = -1;
	}
	for (int i = 0; i < answer->rows->num_columns; i++)
	{
		cell_form	form = value_of(answer, i)->cells.form;

		if (form == CELLS_NUMBER)
			take_numbers(answer, i);
		else if (form != CELLS_LATE)
			make_values(answer, i);
	}
	for (int i = 0; i < late.job->num_lates; i++)
		late_rows_fetch(&late, i, tid_of);
	for (uint32 i = 0; i < spec->num_columns; i++)
		if (answer->owners[i] < 0 && answer->cells[i])
			pfree(answer->cells[i]);
}

/* Rows that are at hand at a time. */
static uint64
rows_at_hand(const device_rows *answer)
{
	Size		row_bytes = rows_bytes_of_one(answer->rows) + sizeof(uint32);

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
	answer->marks = (uint32 *) take_output(answer, 0, sizeof(uint32));
	if (rows->num_rows > 0)
		take_columns(answer);
}

bool
device_rows_read(device_rows *answer, const node_state *node)
{
	device_question question = {
		.node = node->operator->name,
		.source = node->source,
		.below = node->below,
		.of.query = node->query,
		.expected_rows = node->num_rows,
		.expected_results = node->css.ss.ps.plan->plan_rows,
		.outputs = node->rows->context
	};

	answer->query = device_query_run(node->rows->context, &question);
	if (answer->query == NULL)
		return false;
	answer->source = node->source;
	answer->snapshot = node->css.ss.ps.state->es_snapshot;
	answer->num_rows = answer->query->request.result.num_returned;
	answer->rows = node->rows;
	take(answer, 0);
	return true;
}

const chunk *
device_rows_next(device_rows *answer, top_rule rule, uint64 *row, int64 *number)
{
	uint64		place = answer->place;
	uint32		marks;

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
	return (rows_bytes_of_one(answer->rows) + sizeof(uint32)) * Min(rows_at_hand(answer), answer->num_rows);
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
