/*
 * device_rows.c
 *		Has a GPU read a table and return its rows in order, or the first of each partition, for MgpuTop and MgpuSort.
 *
 * The GPU gets pages (columns/heap_sender.h), sorts the rows that meet the conditions, and returns the columns of those
 * that are wanted, which become the columns of a chunk as they are.  Columns have to be numbers.  Other rows, and what
 * the data do not allow, are left to the CPU, which reads the table itself.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "plan/device_query.h"
#include "sorted/device_rows.h"
#include "sorted/top.h"

/* ---- the question */

static bool
ask_for_partitions(device_query *query, const chunk *rows, List *private)
{
	mgpu_group_spec *spec = &query->request.spec;
	List	   *columns = list_nth(private, TOP_PARTITION_COLUMNS);

	if (list_length(columns) > MGPU_GROUP_MAX_KEYS)
		return false;
	for (int i = 0; i < list_length(columns); i++)
	{
		int			number = list_nth_int(columns, i);
		group_key	key;

		if (!group_key_fill(&key, rows->columns[number].type->element.type_id, list_nth_oid(list_nth(private, TOP_EQUALITIES), i),
							list_nth_oid(list_nth(private, TOP_PARTITION_COLLATIONS), i)) ||
			(key.form != GROUP_KEY_BITS && key.form != GROUP_KEY_FLOAT))
			return false;
		spec->keys[spec->num_keys++] = device_query_column(query, number);
	}
	return true;
}

static bool
ask_for_order(device_query *query, const chunk *rows, List *private)
{
	mgpu_group_spec *spec = &query->request.spec;
	List	   *columns = list_nth(private, TOP_ORDER_COLUMNS);

	if (list_length(columns) > MGPU_GROUP_MAX_ORDERS)
		return false;
	for (int i = 0; i < list_length(columns); i++)
	{
		int			number = list_nth_int(columns, i);
		const element_type *type = &rows->columns[number].type->element;
		Oid			operator = list_nth_oid(list_nth(private, TOP_OPERATORS), i);

		if (operator != type->lt_operator && operator != type->gt_operator)
			return false;
		spec->orders[spec->num_orders++] = (mgpu_group_order) {
			.column = device_query_column(query, number),
			.descending = operator == type->gt_operator,
			.nulls_first = list_nth_int(list_nth(private, TOP_NULLS_FIRST), i)
		};
	}
	return true;
}

static bool
ask(device_query *query, const chunk *rows, List *private)
{
	static const mgpu_group_limit rules[] = {
		[TOP_ROWS] = MGPU_LIMIT_ROWS,[TOP_RANKS] = MGPU_LIMIT_RANKS,[TOP_DENSE_RANKS] = MGPU_LIMIT_DENSE_RANKS
	};
	mgpu_group_spec *spec = &query->request.spec;
	List	   *limit = list_nth(private, TOP_LIMIT);

	spec->limit_rule = rules[linitial_int(limit)];
	spec->limit = lsecond_int(limit) > 0 ? lsecond_int(limit) : UINT64_MAX;
	if (spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MGPU_GROUP_MAX_DENSE_RANKS)
		return false;
	for (int i = 0; i < rows->num_columns; i++)
	{
		mgpu_group_column *column = &spec->columns[device_query_column(query, i)];

		column->is_returned = column->is_shown = true;
	}
	return ask_for_partitions(query, rows, private) && ask_for_order(query, rows, private);
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

/* The columns that came back are in memory of the chunk's context, as its own are. */
static void
take_cells(const device_query *query, chunk *rows)
{
	for (int i = 0; i < rows->num_columns; i++)
	{
		char	   *cells = query->request.values[device_query_column(query, i)];
		Size		bytes = rows->num_rows * rows->columns[i].type->width;

		rows->columns[i].cells = bytes == 0 || column_alike(query, i) < 0 ? cells :
			memcpy(large_alloc(rows->context, bytes), cells, bytes);
	}
}

static void
take_nulls(const device_query *query, chunk *rows)
{
	const uint16 *marks = (const uint16 *) query->request.records;
	uint16		any = 0;

	for (uint64 row = 0; row < rows->num_rows; row++)
		any |= marks[row];
	for (int i = 0; i < rows->num_columns; i++)
	{
		uint16		mask = 1 << device_query_column(query, i);

		for (uint64 row = 0; (any & mask) != 0 && row < rows->num_rows; row++)
			if ((marks[row] & mask) != 0)
				chunk_put_null(rows, &rows->columns[i], row);
	}
}

static void
take(device_rows *answer, device_query *query, chunk *rows)
{
	const group_request *request = &query->request;

	chunk_free(rows);
	rows->num_rows = rows->capacity = request->result.num_returned;
	take_cells(query, rows);
	take_nulls(query, rows);
	*answer = (device_rows) {
		.rows = rows,
		.marks = (uint16 *) request->records,
		.num_partitions = request->result.num_groups,
		.copied_pages = heap_sender_copied_pages(query->sender)
	};
	answer->num_bytes = mgpu_group_record_bytes(&request->spec, &request->result);
	for (uint32 i = 0; i < request->spec.num_columns; i++)
		answer->num_bytes += mgpu_group_value_bytes(&request->spec, &request->result, i);
}

/* Free what a run that failed may have left: the CPU needs the memory. */
static void
drop_answer(group_request *request)
{
	if (request->records)
		pfree(request->records);
	for (int i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		if (request->values[i])
			pfree(request->values[i]);
}

/* A query that may be run, or NULL. */
static device_query *
make_query(heap_reader *reader, const char *node, const chunk *rows, List *private, double expected_rows)
{
	device_query *query = palloc0(sizeof(device_query));

	query->request.function = node;
	query->request.expected_rows = (uint64) Min(expected_rows, (double) MGPU_MAX_ITEMS);
	query->request.most_bytes = get_hash_memory_limit();
	query->sender = heap_sender_create(reader, &query->request.spec);
	return query->sender && ask(query, rows, private) ? query : NULL;
}

bool
device_rows_read(device_rows *answer, const char *node, row_source *source, chunk *rows, List *private, double expected_rows)
{
	heap_reader *reader;
	device_query *query;
	MemoryContext scratch;
	MemoryContext caller;
	bool		done;

	if (!run_may_use_gpu())
		return false;
	row_source_tell_of_gpu(source, DEVICE_QUERY_NONE);
	if ((reader = row_source_only_reader(source)) == NULL)
		return false;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg question to a GPU", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(scratch);
	query = make_query(reader, node, rows, private, expected_rows);
	MemoryContextSwitchTo(rows->context);
	done = query && device_query_run(query, reader);
	if (query)
		row_source_tell_of_gpu(source, done ? NULL : query->request.no_gpu);
	if (done)
		take(answer, query, rows);
	else if (query)
		drop_answer(&query->request);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(scratch);
	return done;
}

const chunk *
device_rows_next(device_rows *answer, top_rule rule, bool forward, uint64 *row, int64 *number)
{
	uint16		marks;

	if (!row_place_step(&answer->place, answer->rows->num_rows, forward))
		return NULL;
	*row = answer->place.count - 1;
	*number = 0;
	if (!forward)
		return answer->rows;
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

void
device_rows_rescan(device_rows *answer)
{
	answer->place = (row_place) {0};
}

void
device_rows_forget(device_rows *answer)
{
	if (answer->marks)
		pfree(answer->marks);
	*answer = (device_rows) {0};
}
