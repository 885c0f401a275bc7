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
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "array/element_type.h"
#include "batch/group_keys.h"
#include "core/byte_hash.h"
#include "core/sizes.h"
#include "keys/byte_encode.h"

/* Few bits in tests, so that hashes collide. */
#define HASH_MASK MGPU_SIZE(PG_UINT64_MAX, UINT64_C(31))

/* ---- one value */

/*
 * Whether the type promises that equal values have equal bytes.  A bpchar is taken without its trailing blanks, as a text. With them it
 * promises nothing: PostgreSQL said that it does, and 17.12 does not any more.
 */
static bool
equal_means_same_bytes(const TypeCacheEntry *type, Oid collation)
{
	Oid			promise;

	if (type->btree_opintype == BPCHAROID)
		type = lookup_type_cache(TEXTOID, TYPECACHE_BTREE_OPFAMILY);
	promise = get_opfamily_proc(type->btree_opf, type->btree_opintype, type->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(promise) &&
		DatumGetBool(OidFunctionCall1Coll(promise, collation, ObjectIdGetDatum(type->btree_opintype)));
}

static group_key_form
form_of(const TypeCacheEntry *type, Oid collation)
{
	Oid			base = getBaseType(type->type_id);

	if (type->typlen != -2 && OidIsValid(type->btree_opf) && equal_means_same_bytes(type, collation))
		return type->typlen > 0 ? GROUP_KEY_BITS : GROUP_KEY_VARLENA;
	if (range_bound_width(base) > 0)
		return GROUP_KEY_VARLENA;
	if (base == NUMERICOID)
		return GROUP_KEY_NUMERIC;
	return base == FLOAT4OID || base == FLOAT8OID ? GROUP_KEY_FLOAT : GROUP_KEY_CALLS;
}

void
group_key_fill_equal(group_key *key, Oid type_id, Oid equality, Oid collation)
{
	const TypeCacheEntry *type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);

	memset(key, 0, sizeof(*key));
	key->collation = collation;
	key->form = type->eq_opr == equality ? form_of(type, collation) : GROUP_KEY_CALLS;
	/* values of another length than a column's may differ in trailing blanks */
	key->is_padded = type->btree_opintype == BPCHAROID;
	if (key->form >= GROUP_KEY_NUMERIC)
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

/* Bytes of a value of GROUP_KEY_VARLENA that count. */
static inline Size
size_of(const group_key *key, const char *element)
{
	Size		size = VARSIZE(element) - VARHDRSZ;

	while (key->is_padded && size > 0 && VARDATA(element)[size - 1] == ' ')
		size--;
	return size;
}

static bool
same_without_blanks(const group_key *key, const char *x, const char *y)
{
	Size		size = size_of(key, x);

	return size == size_of(key, y) && memcmp(VARDATA(x), VARDATA(y), size) == 0;
}

static pg_attribute_always_inline bool
same_varlena(const group_key *key, const char *x, const char *y)
{
	if (VARSIZE(x) == VARSIZE(y) && mgpu_same_bytes(VARDATA(x), VARDATA(y), VARSIZE(x) - VARHDRSZ))
		return true;
	return key->is_padded && same_without_blanks(key, x, y);
}

/* Numbers with other digits behind the point than they show are equal, and so are the strings that encode them. */
static uint64
hash_numeric_value(const char *element, uint64 seed)
{
	unsigned char buffer[64];
	Size		size = VARSIZE(element) - VARHDRSZ;
	Size		space = BYTE_ENCODE_SPACE(size);
	unsigned char *encoded = space <= sizeof(buffer) ? buffer : palloc(space);

	size = byte_encode_numeric(VARDATA(element), size, encoded);
	return mgpu_byte_hash((const char *) encoded, size, seed);
}

static uint64
hash_of(const group_key *key, const column *col, uint64 row, uint64 seed)
{
	const char *element = cell_element(col->type, col->cells, row);

	switch (key->form)
	{
		case GROUP_KEY_VARLENA:
			return mgpu_byte_hash(VARDATA(element), size_of(key, element), seed);
		case GROUP_KEY_NUMERIC:
			return hash_numeric_value(element, seed);
		case GROUP_KEY_CALLS:
			return group_code_hash(seed ^ DatumGetUInt64(FunctionCall2Coll((FmgrInfo *) &key->hash, key->collation,
																		   cell_datum(col->type, col->cells, row), Int64GetDatum(0))));
		default:
			return mgpu_byte_hash(element, col->type->width, seed);
	}
}

static bool
equal_by_call(const group_key *key, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll((FmgrInfo *) &key->equal, key->collation, a, b));
}

/* Inlined where the form is known. */
static pg_attribute_always_inline bool
elements_equal(const group_key *key, group_key_form form, const column_type *type, const char *x, const char *y)
{
	switch (form)
	{
		case GROUP_KEY_VARLENA:
			return same_varlena(key, x, y);
		case GROUP_KEY_NUMERIC:
			return same_varlena(key, x, y) || equal_by_call(key, PointerGetDatum(x), PointerGetDatum(y));
		case GROUP_KEY_CALLS:
			return equal_by_call(key, fetch_att(x, type->element.typbyval, type->element.typlen),
								 fetch_att(y, type->element.typbyval, type->element.typlen));
		default:
			return mgpu_same_bytes(x, y, type->width);
	}
}

bool
group_key_values_equal(const group_key *key, const column *col_a, uint64 a, const column *col_b, uint64 b)
{
	if (column_is_null(col_a, a) || column_is_null(col_b, b))
		return column_is_null(col_a, a) && column_is_null(col_b, b);
	if (is_number(key, col_a))
		return number_of(key, col_a, a) == number_of(key, col_b, b);
	return elements_equal(key, key->form, col_a->type, cell_element(col_a->type, col_a->cells, a),
						  cell_element(col_b->type, col_b->cells, b));
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

/* The cell of a NULL is no pointer. */
static pg_attribute_always_inline void
compare_variable(const group_key *key, group_key_form form, const row_pairs *pairs, bool *equal)
{
	const column *col = &pairs->rows->columns[key->column];
	char *const *cells = (char *const *) col->cells;
	char *const *known = (char *const *) pairs->known->columns[key->column].cells;
	const uint32 *numbers = pairs->numbers;
	uint64		num_rows = pairs->rows->num_rows;
	uint64		num_known = pairs->known->num_rows;

	for (uint64 i = 0; i < num_rows; i++)
	{
		if (i + 2 * ROWS_AHEAD < num_rows)
			__builtin_prefetch(&known[numbers[i + 2 * ROWS_AHEAD]]);
		if (i + ROWS_AHEAD < num_rows && numbers[i + ROWS_AHEAD] < num_known)
			__builtin_prefetch(known[numbers[i + ROWS_AHEAD]]);
		if (numbers[i] < num_known)
		{
			const char *x = cells[i];
			const char *y = known[numbers[i]];

			equal[i] &= x == NULL || y == NULL ? x == y : elements_equal(key, form, col->type, x, y);
		}
	}
}

static void
compare_fixed(const group_key *key, const row_pairs *pairs, bool *equal)
{
	const column *col = &pairs->rows->columns[key->column];
	const column *known = &pairs->known->columns[key->column];
	const uint32 *numbers = pairs->numbers;

	for (uint64 i = 0; i < pairs->rows->num_rows; i++)
		if (numbers[i] < pairs->known->num_rows)
			equal[i] &= group_key_values_equal(key, col, i, known, numbers[i]);
}

void
group_keys_compare(const group_keys *keys, const row_pairs *pairs, bool *equal)
{
	for (int i = 0; i < keys->num_keys; i++)
	{
		const group_key *key = &keys->keys[i];

		if (key->form == GROUP_KEY_VARLENA)
			compare_variable(key, GROUP_KEY_VARLENA, pairs, equal);
		else if (column_is_variable(pairs->rows->columns[key->column].type))
			compare_variable(key, key->form, pairs, equal);
		else
			compare_fixed(key, pairs, equal);
	}
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
				hashes[i] = is_number(key, col) ? group_code_hash(hashes[i] ^ number_of(key, col, row)) :
					hash_of(key, col, row, hashes[i]);
		}
}

void
group_keys_hash(const void *keys, const chunk *rows, uint64 first, uint32 num_rows, uint64 seed, uint64 *hashes)
{
	const group_keys *all = keys;
	MemoryContext caller = group_calls_start();

	seed = group_code_hash(seed);
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
