/*
 * device_rows.c
 *		Has a GPU read a table and return its rows in order, or the first of each partition, for MgpuTop and MgpuSort.
 *
 * The GPU gets pages (scan/heap_sender.h), sorts the rows that meet the conditions, and returns the columns of those
 * that are wanted, which become the columns of a chunk as they are.  Columns have to be numbers.  Other rows, and what
 * the data do not allow, are left to the CPU, which reads the table itself.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/device_query.h"
#include "exec/device_rows.h"
#include "exec/top.h"

/* ---- the question */

static bool
ask_for_partitions(device_query *ask, const chunk *rows, const query *query)
{
	mgpu_group_spec *spec = &ask->request.spec;

	if (list_length(query->key_columns) > MGPU_GROUP_MAX_KEYS)
		return false;
	for (int i = 0; i < list_length(query->key_columns); i++)
	{
		int			number = list_nth_int(query->key_columns, i);
		group_key	key;

		if (!group_key_fill(&key, rows->columns[number].type->element.type_id, list_nth_oid(query->key_equalities, i),
							list_nth_oid(query->key_collations, i)) ||
			(key.form != GROUP_KEY_BITS && key.form != GROUP_KEY_FLOAT))
			return false;
		spec->keys[spec->num_keys++] = device_query_column(ask, number);
	}
	return true;
}

static bool
ask_for_order(device_query *ask, const chunk *rows, const query *query)
{
	mgpu_group_spec *spec = &ask->request.spec;

	if (list_length(query->order_columns) > MGPU_GROUP_MAX_ORDERS)
		return false;
	for (int i = 0; i < list_length(query->order_columns); i++)
	{
		int			number = list_nth_int(query->order_columns, i);
		const element_type *type = &rows->columns[number].type->element;
		Oid			operator = list_nth_oid(query->order_operators, i);

		if (operator != type->lt_operator && operator != type->gt_operator)
			return false;
		spec->orders[spec->num_orders++] = (mgpu_group_order) {
			.column = device_query_column(ask, number),
			.descending = operator == type->gt_operator,
			.nulls_first = list_nth_int(query->order_nulls_first, i)
		};
	}
	return true;
}

static bool
ask_for_rows(device_query *ask, const chunk *rows, const query *query)
{
	static const mgpu_group_limit rules[] = {
		[TOP_ROWS] = MGPU_LIMIT_ROWS,[TOP_RANKS] = MGPU_LIMIT_RANKS,[TOP_DENSE_RANKS] = MGPU_LIMIT_DENSE_RANKS
	};
	mgpu_group_spec *spec = &ask->request.spec;

	spec->limit_rule = rules[query->rule];
	spec->limit = query->count > 0 ? (uint64) query->count : UINT64_MAX;
	if (spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MGPU_GROUP_MAX_DENSE_RANKS)
		return false;
	for (int i = 0; i < rows->num_columns; i++)
	{
		mgpu_group_column *column = &spec->columns[device_query_column(ask, i)];

		column->is_returned = column->is_shown = true;
	}
	return ask_for_partitions(ask, rows, query) && ask_for_order(ask, rows, query);
}

/* ---- the answer */

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

/* A query that may be run, or NULL. */
static device_query *
make_query(heap_reader *reader, const char *node, const chunk *rows, const query *query, double expected_rows)
{
	device_query *asked = palloc0(sizeof(device_query));

	asked->request.function = node;
	asked->request.expected_rows = (uint64) Min(expected_rows, (double) MGPU_MAX_ITEMS);
	asked->request.most_bytes = get_hash_memory_limit();
	asked->sender = heap_sender_create(reader, &asked->request.spec);
	return asked->sender && ask_for_rows(asked, rows, query) ? asked : NULL;
}

bool
device_rows_read(device_rows *answer, const char *node, row_source *source, chunk *rows, const query *query, double expected_rows)
{
	heap_reader *reader;
	MemoryContext caller;
	device_query *asked;

	if (!run_may_use_gpu())
		return false;
	row_source_tell_of_gpu(source, DEVICE_QUERY_NONE);
	if ((reader = row_source_only_reader(source)) == NULL)
		return false;
	answer->context = AllocSetContextCreate(rows->context, "mgpu_pg question to a GPU", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(answer->context);
	asked = make_query(reader, node, rows, query, expected_rows);
	MemoryContextSwitchTo(rows->context);
	answer->query = asked;
	if (asked && device_query_run(asked, reader))
	{
		answer->num_rows = asked->request.result.num_returned;
		answer->rows = rows;
		take(answer, 0);
	}
	if (asked)
		row_source_tell_of_gpu(source, asked->request.no_gpu);
	if (answer->rows == NULL)
		device_rows_forget(answer);
	MemoryContextSwitchTo(caller);
	return answer->query != NULL;
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
	if (answer->context)
		MemoryContextDelete(answer->context);
	*answer = (device_rows) {0};
}
