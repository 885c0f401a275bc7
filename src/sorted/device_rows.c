/*
 * device_rows.c
 *		Has a GPU read a table and return its rows in order, or the first of each partition, for MgpuTop and MgpuSort.
 *
 * The GPU gets pages (columns/heap_sender.h), sorts the rows that meet the conditions, and returns the columns of those
 * that are wanted, which become the columns of a chunk as they are.  Columns have to be numbers.  Other rows, and what
 * the data do not allow, are left to the CPU, which reads the table itself.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "group/device_query.h"
#include "sorted/device_rows.h"
#include "sorted/top.h"

/* A GPU looks for the ends of so many different values of a partition, one after the other. */
#define MOST_DENSE_RANKS 100

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
	if (spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MOST_DENSE_RANKS)
		return false;
	for (int i = 0; i < rows->num_columns; i++)
	{
		mgpu_group_column *column = &spec->columns[device_query_column(query, i)];

		column->is_returned = column->is_shown = true;
	}
	return ask_for_partitions(query, rows, private) && ask_for_order(query, rows, private);
}

/* ---- the answer */

static void
take_nulls(chunk *rows, int number, const uint16 *marks, uint16 mask)
{
	uint16		any = 0;

	for (uint64 row = 0; row < rows->num_rows; row++)
		any |= marks[row];
	for (uint64 row = 0; (any & mask) != 0 && row < rows->num_rows; row++)
		if ((marks[row] & mask) != 0)
			chunk_put_null(rows, &rows->columns[number], row);
}

/* The columns that came back are in memory of the chunk's context, as its own are. */
static void
take_columns(device_query *query, chunk *rows)
{
	group_request *request = &query->request;

	chunk_free(rows);
	rows->num_rows = rows->capacity = request->result.num_returned;
	for (int i = 0; i < rows->num_columns; i++)
	{
		int			from = device_query_column(query, i);
		Size		bytes = rows->num_rows * rows->columns[i].type->width;

		rows->columns[i].cells = request->values[from];
		/* another column of the same values */
		for (int j = 0; bytes > 0 && j < i; j++)
			if (device_query_column(query, j) == from)
				rows->columns[i].cells = memcpy(large_alloc(rows->context, bytes), request->values[from], bytes);
		take_nulls(rows, i, (const uint16 *) request->records, 1 << from);
	}
}

static void
take(device_rows *answer, device_query *query, chunk *rows)
{
	const group_request *request = &query->request;

	take_columns(query, rows);
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

	if (!run_may_use_gpu() || (reader = row_source_only_reader(source)) == NULL)
		return false;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg question to a GPU", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(scratch);
	query = make_query(reader, node, rows, private, expected_rows);
	MemoryContextSwitchTo(rows->context);
	done = query && device_query_run(query, reader);
	if (done)
		take(answer, query, rows);
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

void
device_rows_explain(const device_rows *answer, ExplainState *es)
{
	ExplainPropertyText("Executor", "gpu", es);
	ExplainPropertyInteger("Pages Copied", NULL, answer->copied_pages, es);
}
