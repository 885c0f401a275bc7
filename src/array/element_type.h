/*
 * element_type.h
 *		What sorting needs to know about an element type.
 */
#ifndef MGPU_ARRAY_ELEMENT_TYPE_H
#define MGPU_ARRAY_ELEMENT_TYPE_H

#include "fmgr.h"
#include "utils/typcache.h"

#include "core/job.h"

/*
 * Maps one stored element to a 64-bit key.  Keys, compared as signed numbers, order as their
 * elements do, and equal elements have equal keys.  Returns false if the element has no such key.
 */
typedef bool (*element_encode_fn) (const char *element, int64 *code);

/* How an element becomes a byte string that orders as the type does. */
typedef enum byte_form
{
	BYTE_FORM_NONE = 0,
	BYTE_FORM_TEXT,				/* its bytes, if the collation compares only bytes */
	BYTE_FORM_BPCHAR,			/* as text, without trailing blanks */
	BYTE_FORM_NAME,				/* as text, up to the first zero byte */
	BYTE_FORM_BYTEA,			/* its bytes */
	BYTE_FORM_NUMERIC,			/* from here on, strings are made: byte_encode.h */
	BYTE_FORM_BITS,
	BYTE_FORM_NETWORK,
	BYTE_FORM_INTERVAL
} byte_form;

/* Bytes of a bound of a range type whose bounds are integers, as dates and times are; 0: it is another type.  Ranges of such types are equal if their bytes are. */
extern int	range_bound_width(Oid type_id);

/*
 * How elements are sorted.  The first case that applies is used:
 *
 *	 direct		key_kind is set: the stored bytes are a key that executors encode and
 *				decode, so only keys are sorted
 *	 encoded	encode is set: a key is made for each element, and elements are
 *				gathered by the sorted indices
 *	 enum		is_enum is set: keys are the OIDs of labels, or their ranks
 *	 bytes		byte_form is set: each element is or becomes a byte string, which is
 *				sorted eight bytes at a time
 *	 compared	none of these: btree comparisons through SortSupport, on the CPU
 */
typedef struct element_type
{
	Oid			type_id;		/* InvalidOid: not looked up yet */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			stride;			/* bytes from element to element, 0 if variable */
	uint32		key_kind;		/* mgpu_key_kind, 0 if not direct */
	uint32		key_width;
	element_encode_fn encode;
	bool		is_enum;		/* keys come from enum_keys.h */
	byte_form	byte_form;		/* used if encode is NULL or fails */
	Oid			lt_operator;	/* InvalidOid: cannot be sorted */
	Oid			gt_operator;
} element_type;

/* What a call site of a SQL function keeps from call to call. */
typedef struct call_types
{
	element_type elements[2];
	TupleDesc	row;			/* of its results, NULL: not looked up yet (pair_result.c) */
} call_types;

extern call_types *call_types_of(FunctionCallInfo fcinfo);

/* The entry for type_id in slot 0 or 1 of the calling SQL function's cache, filled on first use. */
extern const element_type *element_type_lookup(FunctionCallInfo fcinfo, int slot, Oid type_id);

/* Fill entry without a cache. */
extern void element_type_fill(element_type *entry, Oid type_id);

/* Whether executors can move elements of this type: 1, 2, 4, 8 or 16 bytes wide, without padding. */
extern bool element_type_is_movable(const element_type *type);

/* ereport(ERROR) unless the type has a default btree ordering. */
extern void element_type_check_sortable(const element_type *type);

#endif							/* MGPU_ARRAY_ELEMENT_TYPE_H */
