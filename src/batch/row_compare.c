/*
 * row_compare.c
 *		The order of rows by several keys, as a number of each row where that decides, else by comparison.
 *
 * Codes leave room at both ends: 0 and ROW_CODE_LAST stand for NULL, and the codes next to them for whatever else
 * found no place.  Rows with any of these are compared.  Of strings of bytes the first eight make the code.
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "core/key_codec.h"

#include "compat.h"
#include "batch/row_compare.h"
#include "keys/collation.h"

/* Codes from the first to the last stand for one value each. */
#define FIRST_CODE 3
#define LAST_CODE (ROW_CODE_LAST - 3)

static bool
has_codes(const element_type *type, Oid operator)
{
	return type->key_kind != 0 && type->key_width <= sizeof(uint64) &&
		(operator == type->lt_operator || operator == type->gt_operator);
}

static bool
has_prefixes(const element_type *type, const order_key *by)
{
	return (by->operator == type->lt_operator || by->operator == type->gt_operator) &&
		(type->byte_form == BYTE_FORM_BYTEA || (type->byte_form == BYTE_FORM_TEXT && collation_orders_bytes(by->collation)));
}

bool
row_compare_has_codes(Oid type_id, Oid operator)
{
	element_type type;

	element_type_fill(&type, type_id);
	return has_codes(&type, operator);
}

void
row_compare_fill(compare_key *key, const order_key *by, Oid type_id)
{
	element_type type;

	element_type_fill(&type, type_id);
	memset(key, 0, sizeof(*key));
	key->column = by->column;
	key->has_codes = has_codes(&type, by->operator);
	key->has_prefixes = has_prefixes(&type, by);
	key->descending = by->operator == type.gt_operator;
	key->by_bytes = key->has_codes && type.typbyval && type.key_kind != MGPU_KEY_FLOAT;
	key->support.ssup_cxt = CurrentMemoryContext;
	key->support.ssup_collation = by->collation;
	key->support.ssup_nulls_first = by->nulls_first;
	PrepareSortSupportFromOrderingOp(by->operator, &key->support);
}

/* ---- codes */

/* Inlined where the width and the kind are known. */
static pg_attribute_always_inline void
make_codes(const column *col, uint64 num_rows, uint32 width, uint32 kind, bool descending, uint64 *codes)
{
	for (uint64 row = 0; row < num_rows; row++)
	{
		const char *cell = col->cells + row * width;
		uint64		code;

		if (width == sizeof(uint64))
		{
			code = mgpu_encode_64(*(const uint64 *) cell, kind);
			code = descending ? ~code : code;
			codes[row] = Min(Max(code, FIRST_CODE - 1), LAST_CODE + 1);
			continue;
		}
		code = width == sizeof(uint32) ? *(const uint32 *) cell : width == sizeof(uint16) ? *(const uint16 *) cell : *(const uint8 *) cell;
		code = mgpu_encode_32(code, kind, width);
		codes[row] = (descending ? PG_UINT32_MAX - code : code) + FIRST_CODE;
	}
}

static void
codes_of_column(const compare_key *key, const column *col, uint64 num_rows, uint64 *codes)
{
	uint32		width = col->type->width;
	uint32		kind = col->type->element.key_kind;

	if (width == sizeof(uint32) && kind == MGPU_KEY_SIGNED)
		make_codes(col, num_rows, sizeof(uint32), MGPU_KEY_SIGNED, key->descending, codes);
	else if (width == sizeof(uint64) && kind == MGPU_KEY_SIGNED)
		make_codes(col, num_rows, sizeof(uint64), MGPU_KEY_SIGNED, key->descending, codes);
	else if (width == sizeof(uint64) && kind == MGPU_KEY_FLOAT)
		make_codes(col, num_rows, sizeof(uint64), MGPU_KEY_FLOAT, key->descending, codes);
	else
		make_codes(col, num_rows, width, kind, key->descending, codes);
}

static void
codes_of_prefixes(const compare_key *key, const column *col, uint64 num_rows, uint64 *codes)
{
	for (uint64 row = 0; row < num_rows; row++)
	{
		const char *element = cell_element(col->type, col->cells, row);
		uint64		code = 0;

		if (column_is_null(col, row))
			continue;
		memcpy(&code, VARDATA(element), Min(VARSIZE(element) - VARHDRSZ, sizeof(code)));
		code = pg_ntoh64(code);
		code = key->descending ? ~code : code;
		codes[row] = Min(Max(code, FIRST_CODE - 1), LAST_CODE + 1);
	}
}

static void
codes_of_nulls(const compare_key *key, const column *col, uint64 num_rows, uint64 *codes)
{
	for (uint64 row = 0; col->nulls && row < num_rows; row++)
		if (column_is_null(col, row))
			codes[row] = key->support.ssup_nulls_first ? 0 : ROW_CODE_LAST;
}

void
row_compare_codes(const row_compare *order, const chunk *rows, uint64 *codes)
{
	const compare_key *key = order->keys;
	const column *col = order->num_keys > 0 ? &rows->columns[key->column] : NULL;

	if (col == NULL || !(key->has_codes || key->has_prefixes))
	{
		for (uint64 row = 0; row < rows->num_rows; row++)
			codes[row] = FIRST_CODE;
		return;
	}
	if (key->has_codes)
		codes_of_column(key, col, rows->num_rows, codes);
	else
		codes_of_prefixes(key, col, rows->num_rows, codes);
	codes_of_nulls(key, col, rows->num_rows, codes);
}

/* ---- comparing */

static Datum
value_of(const column *col, uint64 row, bool *is_null)
{
	*is_null = column_is_null(col, row);
	return *is_null ? (Datum) 0 : cell_datum(col->type, col->cells, row);
}

int
row_compare_ties(const row_compare *order, uint64 code, const chunk *rows_a, uint64 a, const chunk *rows_b, uint64 b)
{
	bool		is_decided = order->num_keys > 0 && order->keys[0].has_codes && code >= FIRST_CODE && code <= LAST_CODE;

	for (int i = is_decided ? 1 : 0; i < order->num_keys; i++)
	{
		compare_key *key = &order->keys[i];
		bool		null_a;
		bool		null_b;
		Datum		value_a = value_of(&rows_a->columns[key->column], a, &null_a);
		Datum		value_b = value_of(&rows_b->columns[key->column], b, &null_b);
		int			result = ApplySortComparator(value_a, null_a, value_b, null_b, &key->support);

		if (result != 0)
			return result;
	}
	return 0;
}

bool
row_compare_are_equal(const row_compare *order, const chunk *rows_a, uint64 a, const chunk *rows_b, uint64 b)
{
	for (int i = 0; i < order->num_keys; i++)
	{
		compare_key *key = &order->keys[i];
		bool		null_a;
		bool		null_b;
		Datum		value_a = value_of(&rows_a->columns[key->column], a, &null_a);
		Datum		value_b = value_of(&rows_b->columns[key->column], b, &null_b);

		if (key->by_bytes ? null_a != null_b || value_a != value_b :
			ApplySortComparator(value_a, null_a, value_b, null_b, &key->support) != 0)
			return false;
	}
	return true;
}
