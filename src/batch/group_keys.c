/*
 * group_keys.c
 *		Grouping keys of rows: which are equal, their hashes and codes.
 *
 * A row's keys become one number, its code.  If all keys of a row fit in 64 bits, the code holds them, each with a bit for
 * NULL where the column has one.  Otherwise it is a hash of them, and rows with equal codes have to be compared.
 */
#include "postgres.h"

#include <math.h>

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/group_keys.h"
#include "core/sizes.h"

/* Few bits in tests, so that hashes collide. */
#define HASH_MASK MGPU_SIZE(PG_UINT64_MAX, UINT64_C(31))

/* ---- one value */

/* Whether the type promises that equal values have equal bytes. */
static bool
equal_means_same_bytes(const TypeCacheEntry *type, Oid collation)
{
	Oid			promise = get_opfamily_proc(type->btree_opf, type->btree_opintype, type->btree_opintype,
											BTEQUALIMAGE_PROC);

	return OidIsValid(promise) &&
		DatumGetBool(OidFunctionCall1Coll(promise, collation, ObjectIdGetDatum(type->btree_opintype)));
}

static group_key_form
form_of(const TypeCacheEntry *type, Oid collation)
{
	Oid			base = getBaseType(type->type_id);

	/* bpchar promises it too, but values of another length than a column's may differ in trailing blanks */
	if (type->typlen != -2 && type->btree_opintype != BPCHAROID && OidIsValid(type->btree_opf) &&
		equal_means_same_bytes(type, collation))
		return type->typlen > 0 ? GROUP_KEY_BITS : GROUP_KEY_VARLENA;
	return base == FLOAT4OID || base == FLOAT8OID ? GROUP_KEY_FLOAT : GROUP_KEY_CALLS;
}

void
group_key_fill_equal(group_key *key, Oid type_id, Oid equality, Oid collation)
{
	const TypeCacheEntry *type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);

	memset(key, 0, sizeof(*key));
	key->collation = collation;
	key->form = type->eq_opr == equality ? form_of(type, collation) : GROUP_KEY_CALLS;
	if (key->form == GROUP_KEY_CALLS)
		fmgr_info(get_opcode(equality), &key->equal);
}

bool
group_key_fill(group_key *key, Oid type_id, Oid equality, Oid collation)
{
	TypeCacheEntry *type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC_FINFO);

	if (type->eq_opr != equality)
		return false;
	group_key_fill_equal(key, type_id, equality, collation);
	if (key->form != GROUP_KEY_CALLS)
		return true;
	if (!OidIsValid(type->hash_extended_proc))
		return false;
	fmgr_info_copy(&key->hash, &type->hash_extended_proc_finfo, CurrentMemoryContext);
	return true;
}

/* A value of fixed width up to 8 bytes as a number; any zero and any NaN is the same. */
static inline uint64
number_of(const group_key *key, const column *col, uint64 row)
{
	const char *cell = col->cells + row * col->type->width;
	union
	{
		uint64		number;
		float4		narrow;
		float8		wide;
	}			value = {0};

	switch (col->type->width)
	{
		case 1:
			return *(const uint8 *) cell;
		case 2:
			return *(const uint16 *) cell;
		case 4:
			value.number = *(const uint32 *) cell;
			if (key->form == GROUP_KEY_FLOAT)
				value.narrow = isnan(value.narrow) ? (float4) NAN : value.narrow + 0.0f;
			return value.number;
		case 8:
			value.number = *(const uint64 *) cell;
			if (key->form == GROUP_KEY_FLOAT)
				value.wide = isnan(value.wide) ? (float8) NAN : value.wide + 0.0;
			return value.number;
		default:
			memcpy(&value, cell, col->type->width);
			return value.number;
	}
}

/* Whether number_of can have the column's values. */
static inline bool
is_number(const group_key *key, const column *col)
{
	return (key->form == GROUP_KEY_BITS || key->form == GROUP_KEY_FLOAT) && col->type->width <= sizeof(uint64);
}

static uint64
hash_of(const group_key *key, const column *col, uint64 row)
{
	const char *element = cell_element(col->type, col->cells, row);

	switch (key->form)
	{
		case GROUP_KEY_VARLENA:
			return hash_bytes_extended((const unsigned char *) VARDATA(element), VARSIZE(element) - VARHDRSZ, 0);
		case GROUP_KEY_CALLS:
			return DatumGetUInt64(FunctionCall2Coll((FmgrInfo *) &key->hash, key->collation,
													cell_datum(col->type, col->cells, row), Int64GetDatum(0)));
		default:
			return hash_bytes_extended((const unsigned char *) element, col->type->width, 0);
	}
}

bool
group_key_values_equal(const group_key *key, const column *col_a, uint64 a, const column *col_b, uint64 b)
{
	const char *x;
	const char *y;

	if (column_is_null(col_a, a) || column_is_null(col_b, b))
		return column_is_null(col_a, a) && column_is_null(col_b, b);
	if (is_number(key, col_a))
		return number_of(key, col_a, a) == number_of(key, col_b, b);
	if (key->form == GROUP_KEY_CALLS)
		return DatumGetBool(FunctionCall2Coll((FmgrInfo *) &key->equal, key->collation,
											  cell_datum(col_a->type, col_a->cells, a), cell_datum(col_b->type, col_b->cells, b)));
	x = cell_element(col_a->type, col_a->cells, a);
	y = cell_element(col_b->type, col_b->cells, b);
	if (key->form == GROUP_KEY_VARLENA)
		return VARSIZE(x) == VARSIZE(y) && memcmp(x, y, VARSIZE(x)) == 0;
	return memcmp(x, y, col_a->type->width) == 0;
}

bool
group_keys_equal(const group_keys *keys, int num_keys, const chunk *rows_a, uint64 a, const chunk *rows_b, uint64 b)
{
	for (int i = 0; i < num_keys; i++)
	{
		int			number = keys->keys[i].column;

		if (!group_key_values_equal(&keys->keys[i], &rows_a->columns[number], a, &rows_b->columns[number], b))
			return false;
	}
	return true;
}

/* ---- memory that the types' functions leave behind */

MemoryContext
group_calls_start(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg calls", ALLOCSET_SMALL_SIZES));
}

void
group_calls_end(MemoryContext caller)
{
	MemoryContextDelete(MemoryContextSwitchTo(caller));
}

/* ---- codes */

static void
add_hashes(const group_key *key, const column *col, uint64 first, uint32 num_rows, uint64 *hashes)
{
	if (is_number(key, col) && col->nulls == NULL)
		for (uint32 i = 0; i < num_rows; i++)
			hashes[i] = group_code_hash(hashes[i] ^ number_of(key, col, first + i));
	else
		for (uint32 i = 0; i < num_rows; i++)
		{
			uint64		row = first + i;

			if (column_is_null(col, row))
				hashes[i] = group_code_hash(~hashes[i]);
			else
				hashes[i] = group_code_hash(hashes[i] ^ (is_number(key, col) ? number_of(key, col, row) : hash_of(key, col, row)));
		}
}

void
group_keys_hash(const void *keys, const chunk *rows, uint64 first, uint32 num_rows, uint64 seed, uint64 *hashes)
{
	const group_keys *all = keys;
	MemoryContext caller = group_calls_start();

	for (uint32 i = 0; i < num_rows; i++)
		hashes[i] = seed;
	for (int i = 0; i < all->num_keys; i++)
		add_hashes(&all->keys[i], &rows->columns[all->keys[i].column], first, num_rows, hashes);
	group_calls_end(caller);
	for (uint32 i = 0; i < num_rows; i++)
		hashes[i] &= HASH_MASK;
}

uint32
group_keys_bits(const group_keys *keys, const chunk *rows, bool with_nulls)
{
	uint32		bits = 0;

	for (int i = 0; i < keys->num_keys; i++)
	{
		const column *col = &rows->columns[keys->keys[i].column];

		if (!is_number(&keys->keys[i], col))
			return PG_UINT32_MAX;
		bits += col->type->width * BITS_PER_BYTE + (with_nulls && col->nulls != NULL);
	}
	return bits;
}

static uint64
code_of_row(const group_keys *keys, const chunk *rows, uint64 row, bool with_nulls)
{
	uint64		code = 0;

	for (int i = 0; i < keys->num_keys; i++)
	{
		const column *col = &rows->columns[keys->keys[i].column];
		uint32		bits = col->type->width * BITS_PER_BYTE;

		/* the cell of a NULL is zero */
		code = (bits < 64 ? code << bits : 0) | number_of(&keys->keys[i], col, row);
		if (with_nulls && col->nulls)
			code = code << 1 | column_is_null(col, row);
	}
	return code;
}

bool
group_keys_codes(const group_keys *keys, const chunk *rows, uint64 first, uint32 num_rows, bool with_nulls, uint64 *codes)
{
	const column *col = &rows->columns[keys->keys[0].column];
	uint32		bits = group_keys_bits(keys, rows, with_nulls);

	if (bits > 64)
	{
		group_keys_hash(keys, rows, first, num_rows, 0, codes);
		return false;
	}
	/* the most frequent key, five times as fast */
	if (keys->num_keys == 1 && keys->keys[0].form == GROUP_KEY_BITS && col->type->width == sizeof(uint32) && bits == 32)
		for (uint32 i = 0; i < num_rows; i++)
			codes[i] = ((const uint32 *) col->cells)[first + i];
	else
		for (uint32 i = 0; i < num_rows; i++)
			codes[i] = code_of_row(keys, rows, first + i, with_nulls);
	return with_nulls || bits == group_keys_bits(keys, rows, true);
}
