/*
 * expr_tables.c
 *		Tables of programs: lists of IN, patterns of LIKE, time zones.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/compile.h"

int64
table_add(expr_program *program, const void *bytes, Size size)
{
	int64		offset;

	while (program->tables.len % MAXIMUM_ALIGNOF != 0)
		appendStringInfoChar(&program->tables, '\0');
	offset = program->tables.len;
	appendBinaryStringInfo(&program->tables, bytes, size);
	return offset;
}

static int
compare_numbers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

static int
compare_strings(const void *a, const void *b)
{
	const expr_constant *x = a;
	const expr_constant *y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->length);
}

static int64
add_numbers(expr_program *program, const expr_constant *values, uint32 num_values, bool has_null)
{
	Size		size = offsetof(mgpu_integer_list, values) + num_values * sizeof(int64);
	mgpu_integer_list *list = palloc0(size);

	list->num_values = num_values;
	list->has_null = has_null;
	for (uint32 i = 0; i < num_values; i++)
		list->values[i] = values[i].number;
	qsort(list->values, num_values, sizeof(int64), compare_numbers);
	return table_add(program, list, size);
}

static int64
add_strings(expr_program *program, expr_constant *values, uint32 num_values, bool has_null)
{
	Size		size = offsetof(mgpu_bytes_list, ends) + num_values * sizeof(uint32);
	mgpu_bytes_list *list = palloc0(size);
	int64		offset;
	uint32		end = 0;

	qsort(values, num_values, sizeof(expr_constant), compare_strings);
	list->num_values = num_values;
	list->has_null = has_null;
	for (uint32 i = 0; i < num_values; i++)
		list->ends[i] = end += values[i].length;
	offset = table_add(program, list, size);
	for (uint32 i = 0; i < num_values; i++)
		appendBinaryStringInfo(&program->tables, values[i].bytes, values[i].length);
	return offset;
}

/* A numeric with the scale of others.  false: it has more digits. */
static bool
fit_scale(expr_constant *value, int scale)
{
	return value->type.scale <= scale &&
		!pg_mul_s64_overflow(value->number, power_of_ten(scale - value->type.scale), &value->number);
}

int64
table_of_list(expr_program *program, const expr_type *type, Oid element_type, Datum array)
{
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *datums;
	bool	   *nulls;
	int			num_datums;
	expr_constant *values;
	uint32		num_values = 0;
	bool		has_null;

	get_typlenbyvalalign(element_type, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(array), element_type, length, by_value, align, &datums, &nulls, &num_datums);
	/* NULL is not in it either */
	if (num_datums == 0)
		return -1;
	values = palloc0(num_datums * sizeof(expr_constant));
	for (int i = 0; i < num_datums; i++)
	{
		expr_constant *value = &values[num_values];

		if (nulls[i])
			continue;
		value->type_id = element_type;
		value->type = *type;
		value->type.width = by_value ? length : type->width;
		if (!expr_constant_fill(value, datums[i]) || (type->is_numeric && !fit_scale(value, type->scale)))
			return -1;
		/* those at the end do not count */
		while (element_type == BPCHAROID && value->length > 0 && value->bytes[value->length - 1] == ' ')
			value->length--;
		num_values++;
	}
	has_null = num_values < (uint32) num_datums;
	return type->lane == MGPU_LANE_BYTES ? add_strings(program, values, num_values, has_null) :
		add_numbers(program, values, num_values, has_null);
}

/* A pattern of LIKE.  One that ends in a backslash is an error once a text is matched as far. */
int64
table_of_pattern(expr_program *program, const text *pattern)
{
	const char *next = VARDATA_ANY(pattern);
	const char *end = next + VARSIZE_ANY_EXHDR(pattern);
	mgpu_like  *like = palloc0(offsetof(mgpu_like, ends) + (end - next + 1) * sizeof(uint32));
	char	   *bytes = palloc(end - next + 1);
	char	   *marks = palloc0(end - next + 1);
	uint32		length = 0;
	int64		offset;

	for (; next < end; next++)
	{
		if (*next == '%')
		{
			like->ends[like->num_pieces++] = length;
			continue;
		}
		marks[length] = *next == '_';
		if (*next == '\\' && ++next == end)
			return -1;
		bytes[length++] = *next;
	}
	like->ends[like->num_pieces++] = length;
	offset = table_add(program, like, offsetof(mgpu_like, ends) + like->num_pieces * sizeof(uint32));
	appendBinaryStringInfo(&program->tables, bytes, length);
	appendBinaryStringInfo(&program->tables, marks, length);
	return offset;
}

bool
encoding_is_known(bool *is_utf8)
{
	*is_utf8 = GetDatabaseEncoding() == PG_UTF8;
	return *is_utf8 || pg_database_encoding_max_length() == 1;
}

/* ---- time zones */

/* The years whose offsets are known: times before and after are faults. */
#define FIRST_ZONE_TIME INT64CONST(-2208988800)	/* 1900, in seconds: who is born in an earlier year is mostly no row */
#define LAST_ZONE_TIME INT64CONST(4102444800)	/* 2100 */

static int64
timestamp_of_seconds(int64 seconds)
{
	return (seconds - (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY) * USECS_PER_SEC;
}

static void
add_change(mgpu_zone *zone, int64 seconds, long int offset)
{
	zone->changes[zone->num_changes++] = (mgpu_zone_change) {timestamp_of_seconds(seconds), offset * USECS_PER_SEC};
}

int64
table_of_zone(expr_program *program, pg_tz *zone)
{
	pg_time_t	time = FIRST_ZONE_TIME;
	pg_time_t	boundary;
	long int	before;
	long int	after;
	int			before_is_dst;
	int			after_is_dst;
	int			found;
	mgpu_zone  *table = palloc(offsetof(mgpu_zone, changes) + 1000 * sizeof(mgpu_zone_change));

	table->num_changes = 0;
	found = pg_next_dst_boundary(&time, &before, &before_is_dst, &boundary, &after, &after_is_dst, zone);
	if (found < 0)
		return -1;
	add_change(table, time, before);
	while (found > 0 && boundary < LAST_ZONE_TIME && table->num_changes < 998)
	{
		add_change(table, boundary, after);
		time = boundary;
		found = pg_next_dst_boundary(&time, &before, &before_is_dst, &boundary, &after, &after_is_dst, zone);
		if (found < 0)
			return -1;
	}
	add_change(table, found > 0 && boundary < LAST_ZONE_TIME ? boundary : LAST_ZONE_TIME, 0);
	return table_add(program, table, offsetof(mgpu_zone, changes) + table->num_changes * sizeof(mgpu_zone_change));
}
