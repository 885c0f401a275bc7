/*
 * device_answer.c
 *		Device queries, and their answer: groups, some at hand, from memory or from temporary files.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "core/sizes.h"
#include "exec/device_query.h"

device_query *
device_query_create(MemoryContext parent, const device_question *question, double num_read)
{
	MemoryContext context = AllocSetContextCreate(parent, "mgpu_pg question to a GPU", ALLOCSET_DEFAULT_SIZES);
	device_query *query = MemoryContextAllocZero(context, sizeof(device_query));

	query->context = context;
	query->job.spec = &query->request.spec;
	query->request.function = question->node;
	query->request.expected_rows = (uint64) Min(num_read, (double) MGPU_MAX_ITEMS);
	query->request.most_bytes = question->most_bytes > 0 ? question->most_bytes : get_hash_memory_limit();
	query->request.group_bytes = question->group_bytes;
	return query;
}

void
device_query_forget(device_query *query)
{
	run_group_forget(&query->request);
	MemoryContextDelete(query->context);
}

/* ---- the answer */

static Size
record_bytes(const device_query *query)
{
	return query->request.record.num_words * sizeof(uint64);
}

/* Bytes of a sort's values that come back for one group. */
static Size
value_bytes_of_group(const device_query *query, uint32 sort, uint32 group)
{
	const mgpu_group_spec *spec = &query->request.spec;

	if ((spec->sorts[sort].returns & MGPU_SORT_VALUES) == 0)
		return 0;
	return device_query_record(query, group)[query->request.record.sorts[sort]] * spec->columns[spec->sorts[sort].column].width;
}

/* Leave as many of the groups at hand as their values leave room for, at least one.  bytes: of each sort's values. */
static void
cut_groups(device_query *query, uint64 *bytes)
{
	const group_request *request = &query->request;
	Size		of_group = record_bytes(query) + request->group_bytes;
	uint64		all_bytes = 0;

	for (uint32 group = 0; group < query->num_groups; group++)
	{
		uint64		more[MGPU_GROUP_MAX_SORTS] = {0};

		all_bytes += of_group;
		for (uint32 i = 0; i < request->spec.num_sorts; i++)
			all_bytes += more[i] = value_bytes_of_group(query, i, group);
		if (request->in_files && group > 0 && all_bytes > request->most_bytes)
			query->num_groups = group;
		for (uint32 i = 0; i < request->spec.num_sorts && group < query->num_groups; i++)
			bytes[i] += more[i];
	}
}

static char *
buffer_for(const device_query *query, uint64 num_bytes)
{
	return query->request.in_files ? MemoryContextAllocHuge(CurrentMemoryContext, num_bytes + 1) : NULL;
}

/* Groups at hand, at most: they stay in a cache. */
#define MOST_GROUPS MGPU_SIZE(16384, 100)

const uint64 *
device_query_read(const device_query *query, uint64 first, uint64 num_groups, char *buffer)
{
	Size		bytes = record_bytes(query);

	return (const uint64 *) run_group_read(&query->request.outputs[0], first * bytes, num_groups * bytes, buffer);
}

static void
read_records(device_query *query)
{
	uint64		num_groups = query->request.result.num_groups - query->first;
	Size		bytes = record_bytes(query);

	num_groups = Min(num_groups, MOST_GROUPS);
	if (query->request.in_files)
		num_groups = Min(num_groups, Max(query->request.most_bytes / (bytes + query->request.group_bytes), 1));
	query->num_groups = (uint32) num_groups;
	query->records = device_query_read(query, query->first, num_groups, buffer_for(query, num_groups * bytes));
}

bool
device_query_next(device_query *query)
{
	uint64		bytes[MGPU_GROUP_MAX_SORTS] = {0};

	query->first += query->num_read;
	query->num_groups = query->num_read = 0;
	if (query->first >= query->request.result.num_groups)
		return false;
	read_records(query);
	cut_groups(query, bytes);
	query->num_read = query->num_groups;
	for (uint32 i = 0; i < query->request.spec.num_sorts; i++)
	{
		const device_output *values = &query->request.outputs[1 + i];

		if (values->num_bytes > 0)
			query->values[i] = run_group_read(values, query->values_end[i], bytes[i], buffer_for(query, bytes[i]));
		query->values_end[i] += bytes[i];
	}
	return true;
}

void
device_query_restart(device_query *query)
{
	query->first = 0;
	query->num_groups = query->num_read = 0;
	memset(query->values_end, 0, sizeof(query->values_end));
}

Datum
device_query_datum(const device_query *query, const value_cells *cells, int column, const uint64 *codes)
{
	uint64		bits[MOST_CELLS];

	for (int i = 0; i < cells->num_cells; i++)
	{
		const mgpu_group_column *of = &query->request.spec.columns[column + i];

		bits[i] = mgpu_column_bits(codes[i], of->kind, of->width);
	}
	return value_cells_datum(cells, bits);
}
