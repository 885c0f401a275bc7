/*
 * query.c
 *		Makes, copies, writes and reads queries of plan nodes.
 *
 * A table of the fields serves all of it.
 */
#include "postgres.h"

#include "nodes/readfuncs.h"

#include "compat.h"
#include "query/query.h"

#define QUERY_NAME "mgpu_query"

typedef struct query_field
{
	const char *name;
	size_t		offset;
	bool		is_list;		/* else an int */
} query_field;

#define LIST_FIELD(name) {":" #name, offsetof(query, name), true}
#define INT_FIELD(name) {":" #name, offsetof(query, name), false}

static const query_field fields[] = {
	INT_FIELD(kind),
	LIST_FIELD(key_columns), LIST_FIELD(key_equalities), LIST_FIELD(key_collations),
	LIST_FIELD(order_columns), LIST_FIELD(order_operators), LIST_FIELD(order_collations), LIST_FIELD(order_nulls_first),
	INT_FIELD(by_job), INT_FIELD(method), LIST_FIELD(uses), LIST_FIELD(firsts), LIST_FIELD(packed_types), LIST_FIELD(stored), INT_FIELD(shared), INT_FIELD(merges),
	LIST_FIELD(values), INT_FIELD(expected),
	INT_FIELD(rule), INT_FIELD(count), INT_FIELD(fits), INT_FIELD(as_cells),
	INT_FIELD(num_partition_keys), LIST_FIELD(frames), LIST_FIELD(preceding), LIST_FIELD(following), LIST_FIELD(ranges),
	LIST_FIELD(functions), LIST_FIELD(of_frames), LIST_FIELD(aggregates), LIST_FIELD(arguments), LIST_FIELD(offsets),
	LIST_FIELD(defaults), INT_FIELD(as_columns)
};

#define LIST_OF(node, field) (*(List **) ((char *) (node) + (field)->offset))
#define INT_OF(node, field) (*(int *) ((char *) (node) + (field)->offset))

static void
copy_query(ExtensibleNode *to, const ExtensibleNode *from)
{
	for (const query_field *field = fields; field < fields + lengthof(fields); field++)
		if (field->is_list)
			LIST_OF(to, field) = copyObject(LIST_OF(from, field));
		else
			INT_OF(to, field) = INT_OF(from, field);
}

static bool
equal_queries(const ExtensibleNode *a, const ExtensibleNode *b)
{
	bool		is_equal = true;

	for (const query_field *field = fields; field < fields + lengthof(fields) && is_equal; field++)
		is_equal = field->is_list ? equal(LIST_OF(a, field), LIST_OF(b, field)) : INT_OF(a, field) == INT_OF(b, field);
	return is_equal;
}

static void
write_query(StringInfo to, const ExtensibleNode *from)
{
	for (const query_field *field = fields; field < fields + lengthof(fields); field++)
	{
		appendStringInfo(to, " %s ", field->name);
		if (field->is_list)
			outNode(to, LIST_OF(from, field));
		else
			appendStringInfo(to, "%d", INT_OF(from, field));
	}
}

static void
read_query(ExtensibleNode *to)
{
	for (const query_field *field = fields; field < fields + lengthof(fields); field++)
	{
		int			length;

		/* the name */
		(void) pg_strtok(&length);
		if (field->is_list)
			LIST_OF(to, field) = nodeRead(NULL, 0);
		else
			INT_OF(to, field) = atoi(pg_strtok(&length));
	}
}

static const ExtensibleNodeMethods methods = {
	.extnodename = QUERY_NAME,
	.node_size = sizeof(query),
	.nodeCopy = copy_query,
	.nodeEqual = equal_queries,
	.nodeOut = write_query,
	.nodeRead = read_query
};

query *
query_create(query_kind kind)
{
	query	   *created = (query *) newNode(sizeof(query), T_ExtensibleNode);

	created->node.extnodename = QUERY_NAME;
	created->kind = kind;
	return created;
}

query *
query_of(List *private)
{
	return (query *) castNode(ExtensibleNode, linitial(private));
}

const query *
query_values_of(const query *of, int output)
{
	List	   *columns = list_copy(of->key_columns);
	ListCell   *cell;

	foreach(cell, list_nth(of->uses, output))
		if (lfirst_int(cell) >= 0)
			columns = list_append_unique_int(columns, lfirst_int(cell));
	foreach(cell, of->values)
	{
		const query *values = lfirst(cell);

		if (list_difference_int(values->key_columns, columns) == NIL && list_difference_int(columns, values->key_columns) == NIL)
			return values;
	}
	return NULL;
}

void
query_init(void)
{
	RegisterExtensibleNodeMethods(&methods);
}
