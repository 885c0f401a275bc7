/*
 * element_type.c
 *		Element types: layout, ordering, and the key encoding that applies.
 *
 * The encoding is chosen by the comparison function of the type's default btree operator class,
 * not by the type's OID.  Only the order matters, so domains and types that borrow a built-in
 * operator class need no entry.  Length and alignment must match as well.  A type that borrows a
 * comparison function but has another layout is compared.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "array/element_type.h"

typedef struct ordering
{
	Oid			cmp_proc;
	uint32		key_kind;
	element_encode_fn encode;
	byte_form	byte_form;
	int16		typlen;
} ordering;

/*
 * interval_cmp compares time + days * 24 h + months * 30 days.  Infinite intervals (17 and later)
 * have extreme fields.  Their spans order correctly but do not fit 64 bits, so arrays with such
 * intervals become byte strings.
 */
static bool
encode_interval(const char *element, int64 *code)
{
	const Interval *span = (const Interval *) element;
	int64		days = (int64) span->month * DAYS_PER_MONTH + span->day;
	int64		usecs;

	return !pg_mul_s64_overflow(days, USECS_PER_DAY, &usecs) &&
		!pg_add_s64_overflow(usecs, span->time, code);
}

/*
 * timetz_cmp compares the instant in UTC, then the zone.  An instant lies within 2^38
 * microseconds of zero.  A zone has fewer than 2^17 values, in seconds.
 */
#define TIMETZ_ZONE_BITS 18

static bool
encode_timetz(const char *element, int64 *code)
{
	const TimeTzADT *value = (const TimeTzADT *) element;
	int64		utc = value->time + (int64) value->zone * USECS_PER_SEC;
	int64		zone = (int64) value->zone + (1 << (TIMETZ_ZONE_BITS - 1));

	if (zone < 0 || zone >= (1 << TIMETZ_ZONE_BITS) ||
		utc < -(INT64CONST(1) << 44) || utc >= (INT64CONST(1) << 44))
		return false;
	*code = utc * (1 << TIMETZ_ZONE_BITS) + zone;
	return true;
}

/* macaddr and macaddr8 compare their bytes from the first one on. */
static bool
encode_macaddr(const char *element, int64 *code)
{
	const unsigned char *bytes = (const unsigned char *) element;
	uint64		value = 0;

	for (int i = 0; i < 6; i++)
		value = value << 8 | bytes[i];
	*code = (int64) value;
	return true;
}

static bool
encode_macaddr8(const char *element, int64 *code)
{
	const unsigned char *bytes = (const unsigned char *) element;
	uint64		value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	*code = (int64) (value ^ UINT64CONST(0x8000000000000000));
	return true;
}

static bool
encode_tid(const char *element, int64 *code)
{
	const ItemPointerData *tid = (const ItemPointerData *) element;

	*code = (int64) ItemPointerGetBlockNumberNoCheck(tid) << 16 | ItemPointerGetOffsetNumberNoCheck(tid);
	return true;
}

static const ordering orderings[] = {
	{F_BTBOOLCMP, MGPU_KEY_UNSIGNED, NULL, BYTE_FORM_NONE, 1},
	{F_BTCHARCMP, MGPU_KEY_UNSIGNED, NULL, BYTE_FORM_NONE, 1},
	{F_BTINT2CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 2},
	{F_BTINT4CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 4},
	{F_BTINT8CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_BTOIDCMP, MGPU_KEY_UNSIGNED, NULL, BYTE_FORM_NONE, 4},
	{F_BTFLOAT4CMP, MGPU_KEY_FLOAT, NULL, BYTE_FORM_NONE, 4},
	{F_BTFLOAT8CMP, MGPU_KEY_FLOAT, NULL, BYTE_FORM_NONE, 8},
	{F_CASH_CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_DATE_CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 4},
	{F_TIME_CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_TIMESTAMP_CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_TIMESTAMPTZ_CMP, MGPU_KEY_SIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_PG_LSN_CMP, MGPU_KEY_UNSIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_XID8CMP, MGPU_KEY_UNSIGNED, NULL, BYTE_FORM_NONE, 8},
	{F_UUID_CMP, MGPU_KEY_BYTES, NULL, BYTE_FORM_NONE, 16},
	{F_INTERVAL_CMP, 0, encode_interval, BYTE_FORM_INTERVAL, sizeof(Interval)},
	{F_BTTIDCMP, 0, encode_tid, BYTE_FORM_NONE, sizeof(ItemPointerData)},
	{F_TIMETZ_CMP, 0, encode_timetz, BYTE_FORM_NONE, 12},
	{F_MACADDR_CMP, 0, encode_macaddr, BYTE_FORM_NONE, 6},
	{F_MACADDR8_CMP, 0, encode_macaddr8, BYTE_FORM_NONE, 8},
	{F_BTTEXTCMP, 0, NULL, BYTE_FORM_TEXT, -1},
	{F_BPCHARCMP, 0, NULL, BYTE_FORM_BPCHAR, -1},
	{F_BTNAMECMP, 0, NULL, BYTE_FORM_NAME, NAMEDATALEN},
	{F_BYTEACMP, 0, NULL, BYTE_FORM_BYTEA, -1},
	{F_NUMERIC_CMP, 0, NULL, BYTE_FORM_NUMERIC, -1},
	{F_BITCMP, 0, NULL, BYTE_FORM_BITS, -1},
	{F_VARBITCMP, 0, NULL, BYTE_FORM_BITS, -1},
	{F_NETWORK_CMP, 0, NULL, BYTE_FORM_NETWORK, -1},
};

static void
fill_encoding(element_type *entry, Oid cmp_proc)
{
	entry->key_kind = 0;
	entry->key_width = 0;
	entry->encode = NULL;
	entry->byte_form = BYTE_FORM_NONE;
	entry->is_enum = cmp_proc == F_ENUM_CMP && entry->typlen == sizeof(Oid) && entry->stride == sizeof(Oid);
	for (size_t i = 0; i < lengthof(orderings); i++)
	{
		const ordering *known = &orderings[i];

		if (known->cmp_proc != cmp_proc || known->typlen != entry->typlen)
			continue;
		if (known->key_kind != 0 && entry->stride != entry->typlen)
			continue;
		if (entry->typlen < 0 && entry->typalign != TYPALIGN_INT)
			continue;
		entry->key_kind = known->key_kind;
		entry->key_width = known->key_kind != 0 ? known->typlen : 0;
		entry->encode = known->encode;
		entry->byte_form = known->byte_form;
		return;
	}
}

void
element_type_fill(element_type *entry, Oid type_id)
{
	TypeCacheEntry *typcache = lookup_type_cache(type_id,
												 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR | TYPECACHE_CMP_PROC);

	entry->typlen = typcache->typlen;
	entry->typbyval = typcache->typbyval;
	entry->typalign = typcache->typalign;
	entry->stride = typcache->typlen > 0 ? att_align_nominal(typcache->typlen, typcache->typalign) : 0;
	entry->lt_operator = typcache->lt_opr;
	entry->gt_operator = typcache->gt_opr;
	fill_encoding(entry, OidIsValid(typcache->lt_opr) ? typcache->cmp_proc : InvalidOid);
	entry->type_id = type_id;
}

int
range_bound_width(Oid type_id)
{
	switch (getBaseType(type_id))
	{
		case INT4RANGEOID: case DATERANGEOID:
			return sizeof(int32);
		case INT8RANGEOID: case TSRANGEOID: case TSTZRANGEOID:
			return sizeof(int64);
		default:
			return 0;
	}
}

call_types *
call_types_of(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(call_types));
	return flinfo->fn_extra;
}

const element_type *
element_type_lookup(FunctionCallInfo fcinfo, int slot, Oid type_id)
{
	element_type *cached = call_types_of(fcinfo)->elements;

	if (cached[slot].type_id != type_id)
	{
		cached[slot].type_id = InvalidOid;
		element_type_fill(&cached[slot], type_id);
	}
	return &cached[slot];
}

bool
element_type_is_movable(const element_type *type)
{
	int			width = type->stride;

	return width == type->typlen &&
		(width == 1 || width == 2 || width == 4 || width == 8 || width == 16);
}

void
element_type_check_sortable(const element_type *type)
{
	if (!OidIsValid(type->lt_operator) || !OidIsValid(type->gt_operator))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an ordering operator for type %s",
						format_type_be(type->type_id)),
				 errhint("Sorting needs a type with a default btree operator class.")));
}
