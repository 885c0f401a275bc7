/*
 * segment_args.c
 *		Reads where an array's segments begin: from heads, flags or groups.
 *
 * All three become a list of heads, the form that executors take.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/typcache.h"
#include "utils/varbit.h"

#include "array/element_cursor.h"
#include "array/null_map.h"
#include "order/position_list.h"
#include "pgerror.h"
#include "sql/segment_args.h"

/* Elements compared between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

static void
start_list(segment_list *segments, int64 num_items)
{
	segments->heads = palloc_extended((num_items + 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	segments->heads[0] = 0;
	segments->num_segments = 1;
	segments->num_items = num_items;
}

void
segments_from_heads(segment_list *segments, Datum heads, const array_source *vals)
{
	int64		first = vals->num_items > 0 ? vals->lower_bounds[0] : 1;
	position_list list;

	position_list_open(&list, heads, "segment heads", first, first + vals->num_items - 1);
	position_list_read(&list);
	for (int64 i = 1; i < list.num_positions; i++)
		if (list.positions[i] <= list.positions[i - 1])
			mgpu_raise_heads_order(first + list.positions[i], first + list.positions[i - 1]);
	segments->heads = list.positions;
	segments->num_segments = list.num_positions;
	segments->num_items = vals->num_items;
	/* the list has space for one more head in front */
	if (list.num_positions == 0 || list.positions[0] != 0)
	{
		*--segments->heads = 0;
		segments->num_segments++;
	}
}

void
segments_from_flags(segment_list *segments, Datum flags, const array_source *vals)
{
	VarBit	   *bits = DatumGetVarBitP(flags);
	const uint8 *bytes = VARBITS(bits);

	if (VARBITLEN(bits) != vals->num_items)
		mgpu_raise_length_mismatch("vals", vals->num_items, "head_flags", VARBITLEN(bits));
	start_list(segments, vals->num_items);
	for (int64 i = 1; i < vals->num_items; i++)
	{
		if (bytes[i / 8] & (0x80 >> (i % 8)))
			segments->heads[segments->num_segments++] = (uint32) i;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Whether two elements of a direct type (key_kind is set) are equal. */
static bool
equal_keys(const element_type *type, const char *a, const char *b)
{
	if (type->key_kind != MGPU_KEY_FLOAT)
		return memcmp(a, b, type->key_width) == 0;
	if (type->key_width == sizeof(float4))
		return float4_eq(*(const float4 *) a, *(const float4 *) b);
	return float8_eq(*(const float8 *) a, *(const float8 *) b);
}

static FmgrInfo *
equality_function(const element_type *type)
{
	TypeCacheEntry *typcache = lookup_type_cache(type->type_id, TYPECACHE_EQ_OPR_FINFO);

	if (!OidIsValid(typcache->eq_opr_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s",
						format_type_be(type->type_id))));
	return &typcache->eq_opr_finfo;
}

void
segments_from_groups(segment_list *segments, array_source *groups, const element_type *type, Oid collation)
{
	FmgrInfo   *equal = type->key_kind == 0 ? equality_function(type) : NULL;
	bool		previous_present;
	Size		previous_offset = 0;
	element_cursor cursor;
	const char *data;

	array_source_load(groups);
	data = array_source_data(groups);
	start_list(segments, groups->num_items);
	element_cursor_start(&cursor, groups, type);
	previous_present = null_bitmap_present(groups->null_bitmap, 0);
	for (int64 i = 1; i < groups->num_items; i++)
	{
		bool		present = null_bitmap_present(groups->null_bitmap, i);
		bool		same = present == previous_present;

		element_cursor_seek(&cursor, i);
		if (same && present && equal == NULL)
			same = equal_keys(type, data + previous_offset, data + cursor.offset);
		else if (same && present)
		{
			element_cursor previous = cursor;

			previous.offset = previous_offset;
			same = DatumGetBool(FunctionCall2Coll(equal, collation, element_cursor_datum(&previous),
												  element_cursor_datum(&cursor)));
		}
		if (!same)
			segments->heads[segments->num_segments++] = (uint32) i;
		previous_present = present;
		previous_offset = cursor.offset;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}
