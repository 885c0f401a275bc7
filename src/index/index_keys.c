/*
 * index_keys.c
 *		The key columns of a btree index as numbers or bytes.  See index_keys.h.
 *
 * A column is taken if the index orders it as its type does by default: then the order is one of those that
 * array/element_type knows.  A value is its code (core/key_codec.h), most significant byte first; a descending column has the
 * code's complement.  Texts have no zero bytes, nor have the strings of numeric: a zero ends them.  Under the C library's
 * collations a text's string, shortened, is followed by the text, and a zero each.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/tupmacs.h"
#include "utils/typcache.h"

#include "compat.h"
#include "array/element_type.h"
#include "index/index_keys.h"
#include "keys/collated.h"
#include "keys/collation.h"

/* ---- the columns */

static bool
is_default_order(Relation index, int column, Oid type)
{
	return index_getprocid(index, column + 1, BTORDER_PROC) == lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc;
}

static const char *
fill_key(index_keys *keys, int column)
{
	Relation	index = keys->index;
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column);
	index_key  *key = &keys->keys[column];
	Oid			collation = index->rd_indcollation[column];
	element_type type;

	element_type_fill(&type, attribute->atttypid);
	if (!OidIsValid(type.lt_operator) || !is_default_order(index, column, attribute->atttypid))
		return "a column is not in the default order of its type";
	key->kind = type.key_kind;
	key->width = type.key_width;
	key->by_value = type.typbyval;
	key->descending = (index->rd_indoption[column] & INDOPTION_DESC) != 0;
	key->nulls_first = (index->rd_indoption[column] & INDOPTION_NULLS_FIRST) != 0;
	if (key->kind != 0)
		return key->by_value == (key->kind != MGPU_KEY_BYTES) ? NULL : "a column has a type whose values are passed in another way";
	if (type.byte_form == BYTE_FORM_NUMERIC)
		key->encode = byte_encode_numeric;
	else if (type.byte_form != BYTE_FORM_TEXT)
		return "a column has a type that it does not sort";
	else if (!OidIsValid(collation))
		return "a column has no collation";
	else if (!collation_orders_bytes(collation))
	{
		key->locale = collation_locale(collation);
		keys->is_collated = true;
		if (key->locale == (locale_t) 0)
			return "a column has a collation that is not the C library's";
	}
	return NULL;
}

/* Find out whether rows are numbers, and where their tuples have the values. */
static void
plan_numbers(index_keys *keys)
{
	TupleDesc	descriptor = RelationGetDescr(keys->index);
	uint32		bits = 0;
	uint32		offset = 0;

	for (int i = 0; i < keys->num_keys; i++)
	{
		index_key  *key = &keys->keys[i];

		/* values of variable width have none, and too many bits */
		bits += key->by_value ? key->width * 8 + 1 : INDEX_CODE_BITS + 1;
		offset = att_align_nominal(offset, TupleDescAttr(descriptor, i)->attalign);
		key->offset = offset;
		offset += key->width;
	}
	keys->number_bits = bits;
	keys->are_numbers = bits <= INDEX_CODE_BITS && keys->num_columns == keys->num_keys;
	keys->plain_bytes = MAXALIGN(sizeof(IndexTupleData) + offset);
	for (int i = 0; i < keys->num_keys && keys->are_numbers; i++)
	{
		keys->null_bits = (keys->null_bits << 1 | 1) << (keys->keys[i].width * 8);
		keys->no_null = (keys->no_null << 1 | (keys->keys[i].nulls_first ? 1 : 0)) << (keys->keys[i].width * 8);
	}
}

const char *
index_keys_fill(index_keys *keys, Relation index)
{
	memset(keys, 0, sizeof(*keys));
	keys->index = index;
	keys->num_columns = IndexRelationGetNumberOfAttributes(index);
	keys->num_keys = IndexRelationGetNumberOfKeyAttributes(index);
	for (int i = 0; i < keys->num_keys; i++)
	{
		const char *why_not = fill_key(keys, i);

		if (why_not)
			return why_not;
	}
	plan_numbers(keys);
	keys->are_values = keys->num_keys == 1 && !keys->keys[0].by_value && !keys->keys[0].encode && !keys->keys[0].locale &&
		!keys->keys[0].descending;
	/* all of a collated string is compared */
	keys->rest_begin = keys->is_collated ? 0 : INDEX_ITEM_BYTES;
	return NULL;
}

/* ---- values by value */

static inline uint64
width_mask(const index_key *key)
{
	return ~UINT64CONST(0) >> (64 - key->width * 8);
}

static inline uint64
encode_word(const index_key *key, Datum value)
{
	uint64		bits = (uint64) value & width_mask(key);
	uint64		code = key->width == 8 ? mgpu_encode_64(bits, key->kind) : mgpu_encode_32(bits, key->kind, key->width);

	return key->descending ? ~code & width_mask(key) : code;
}

static inline uint64
decode_word(const index_key *key, uint64 code)
{
	if (key->descending)
		code = ~code & width_mask(key);
	return key->width == 8 ? mgpu_decode_64(code, key->kind) : mgpu_decode_32(code, key->kind, key->width);
}

/* ---- numbers */

bool
index_keys_number(const index_keys *keys, const Datum *values, const bool *nulls, mgpu_u128 *number)
{
	mgpu_u128	sum = 0;
	bool		is_exact = true;

	for (int i = 0; i < keys->num_keys; i++)
	{
		const index_key *key = &keys->keys[i];
		uint32		bits = key->width * 8;
		bool		is_first = nulls[i] == key->nulls_first;
		uint64		code = 0;

		if (!nulls[i])
		{
			code = encode_word(key, values[i]);
			/* zeros are equal, and so are NaNs, but not in their bits */
			if (key->kind == MGPU_KEY_FLOAT)
				is_exact &= decode_word(key, code) == ((uint64) values[i] & width_mask(key));
		}
		sum = ((sum << 1 | (is_first ? 0 : 1)) << bits) | code;
	}
	*number = sum;
	return is_exact;
}

typedef struct key_part
{
	uint64		code;
	bool		is_null;
} key_part;

/* Take the last key off a number. */
static inline key_part
take_part(const index_key *key, mgpu_u128 *number)
{
	key_part	part;

	part.code = (uint64) *number & width_mask(key);
	*number >>= key->width * 8;
	part.is_null = ((*number & 1) == 0) == key->nulls_first;
	*number >>= 1;
	return part;
}

static inline uint64
load_word(const char *at, uint32 width)
{
	if (width == 8)
		return *(const uint64 *) at;
	if (width == 4)
		return *(const uint32 *) at;
	return width == 2 ? *(const uint16 *) at : *(const uint8 *) at;
}

bool
index_keys_add_values(const index_key *key, const char *const *values, uint32 num_rows, mgpu_u128 *numbers)
{
	uint32		bits = key->width * 8;
	mgpu_u128	of_value = (mgpu_u128) (key->nulls_first ? 1 : 0) << bits;
	mgpu_u128	of_null = (mgpu_u128) (key->nulls_first ? 0 : 1) << bits;
	bool		is_exact = true;

	for (uint32 i = 0; i < num_rows; i++)
	{
		mgpu_u128	part = of_null;

		if (values[i] != NULL)
		{
			uint64		stored = load_word(values[i], key->width);

			part = of_value | encode_word(key, stored);
			if (key->kind == MGPU_KEY_FLOAT)
				is_exact &= decode_word(key, encode_word(key, stored)) == stored;
		}
		numbers[i] = numbers[i] << (bits + 1) | part;
	}
	return is_exact;
}

static inline void
store_word(char *at, uint64 bits, uint32 width)
{
	if (width == 8)
		*(uint64 *) at = bits;
	else if (width == 4)
		*(uint32 *) at = (uint32) bits;
	else if (width == 2)
		*(uint16 *) at = (uint16) bits;
	else
		*(uint8 *) at = (uint8) bits;
}

/* A tuple that has NULLs.  PostgreSQL leaves them out, so the places of values differ. */
static IndexTuple
make_with_nulls(const index_keys *keys, mgpu_u128 number, char *buffer)
{
	IndexTuple	tuple = (IndexTuple) buffer;
	Size		header = MAXALIGN(sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData));
	key_part	parts[INDEX_MAX_KEYS];
	Size		end = header;

	for (int i = keys->num_keys - 1; i >= 0; i--)
		parts[i] = take_part(&keys->keys[i], &number);
	memset(buffer, 0, INDEX_NUMBER_TUPLE_BYTES);
	for (int i = 0; i < keys->num_keys; i++)
	{
		const index_key *key = &keys->keys[i];

		if (parts[i].is_null)
			continue;
		((uint8 *) (tuple + 1))[i / 8] |= 1 << (i % 8);
		end = att_align_nominal(end, TupleDescAttr(RelationGetDescr(keys->index), i)->attalign);
		store_word(buffer + end, decode_word(key, parts[i].code), key->width);
		end += key->width;
	}
	tuple->t_info = MAXALIGN(end) | INDEX_NULL_MASK;
	return tuple;
}

void
index_keys_write_plain(const index_keys *keys, mgpu_u128 number, char *buffer)
{
	/* values take 16 bytes at most, with what aligns them */
	((uint64 *) (buffer + keys->plain_bytes))[-1] = 0;
	((uint64 *) (buffer + sizeof(IndexTupleData)))[0] = 0;
	for (int i = keys->num_keys - 1; i >= 0; i--)
	{
		const index_key *key = &keys->keys[i];

		store_word(buffer + sizeof(IndexTupleData) + key->offset, decode_word(key, take_part(key, &number).code), key->width);
	}
	((IndexTuple) buffer)->t_info = keys->plain_bytes;
}

IndexTuple
index_keys_tuple(const index_keys *keys, mgpu_u128 number, char *buffer)
{
	if (index_keys_has_null(keys, number))
		return make_with_nulls(keys, number, buffer);
	index_keys_write_plain(keys, number, buffer);
	return (IndexTuple) buffer;
}

/* ---- bytes */

static inline Size
value_space(const index_key *key, Datum value)
{
	Size		size = key->kind != 0 ? key->width : VARSIZE_ANY_EXHDR(DatumGetPointer(value));

	if (key->locale)
		return COLLATED_SPACE(size) + 1;
	return key->encode ? BYTE_ENCODE_SPACE(size) + 1 : size + 1;
}

Size
index_keys_space(const index_keys *keys, const Datum *values, const bool *nulls)
{
	Size		space = keys->num_keys;

	for (int i = 0; i < keys->num_keys; i++)
		if (!nulls[i])
			space += value_space(&keys->keys[i], values[i]);
	return space;
}

static inline Size
put_fixed(const index_key *key, Datum value, unsigned char *out)
{
	uint64		code;

	if (!key->by_value)
	{
		memcpy(out, DatumGetPointer(value), key->width);
		for (uint32 i = 0; i < key->width && key->descending; i++)
			out[i] = ~out[i];
		return key->width;
	}
	code = encode_word(key, value) << (64 - key->width * 8);
	for (uint32 i = 0; i < key->width; i++)
		out[i] = code >> (56 - i * 8);
	return key->width;
}

/* The encoder reads words of two bytes, which a value with a short header does not align. */
static Size
encode_aligned(const index_key *key, const char *data, Size size, unsigned char *out)
{
	Size		length;
	uint64		near[INDEX_NEAR_BYTES / sizeof(uint64)];
	char	   *copy = size <= sizeof(near) ? (char *) near : palloc(size);

	memcpy(copy, data, size);
	length = key->encode(copy, size, out);
	if (copy != (char *) near)
		pfree(copy);
	return length;
}

/* Returns 0 if the value is malformed. */
static inline Size
put_variable(const index_key *key, Datum value, unsigned char *out)
{
	const char *data = VARDATA_ANY(DatumGetPointer(value));
	Size		size = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	Size		length = size;

	if (key->locale)
		length = collated_make(key->locale, data, size, (char *) out, COLLATED_SPACE(size));
	else if (key->encode)
		length = encode_aligned(key, data, size, out);
	else
		memcpy(out, data, size);
	if (length == 0 && (key->locale || key->encode))
		return 0;
	out[length++] = 0;
	for (Size i = 0; i < length && key->descending; i++)
		out[i] = ~out[i];
	return length;
}

Size
index_keys_bytes(const index_keys *keys, const Datum *values, const bool *nulls, unsigned char *out)
{
	unsigned char *next = out;

	for (int i = 0; i < keys->num_keys; i++)
	{
		const index_key *key = &keys->keys[i];
		Size		length;

		*next++ = nulls[i] == key->nulls_first ? 0 : 1;
		if (nulls[i])
			continue;
		length = key->kind != 0 ? put_fixed(key, values[i], next) : put_variable(key, values[i], next);
		if (length == 0)
			return 0;
		next += length;
	}
	/* without the zero that ends a text */
	if (keys->are_values && keys->keys[0].kind == 0 && !nulls[0])
		next--;
	return next - out;
}
