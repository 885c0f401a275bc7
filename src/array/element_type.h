/*
 * element_type.h
 *		What sorting needs to know of an element type.
 */
#ifndef MGPU_ARRAY_ELEMENT_TYPE_H
#define MGPU_ARRAY_ELEMENT_TYPE_H

#include "fmgr.h"
#include "utils/typcache.h"

#include "core/job.h"

/*
 * Maps one stored element to a 64-bit key whose signed order is the type's
 * order, equal keys for equal elements.  False where the element does not fit.
 */
typedef bool (*element_encode_fn) (const char *element, int64 *code);

/* How an element becomes a byte string that orders as the type does. */
typedef enum byte_form
{
	BYTE_FORM_NONE = 0,
	BYTE_FORM_TEXT,				/* its bytes, if the collation looks at no more */
	BYTE_FORM_BPCHAR,			/* likewise, without blanks at the end */
	BYTE_FORM_NAME,				/* likewise, up to the first zero byte */
	BYTE_FORM_BYTEA,			/* its bytes */
	BYTE_FORM_NUMERIC,			/* these are made: byte_encode.h */
	BYTE_FORM_BITS,
	BYTE_FORM_NETWORK,
	BYTE_FORM_INTERVAL
} byte_form;

/*
 * How elements get sorted, best first:
 *
 *	 direct		key_kind is set: the stored bytes are a key that executors
 *				encode and decode, so that keys alone are sorted
 *	 encoded	encode is set: a key is made for each element, and elements are
 *				gathered by the sorted index
 *	 enum		is_enum is set: keys are the OIDs of labels, or their ranks
 *	 bytes		byte_form is set: each element is or makes a byte string, whose
 *				bytes are sorted as keys eight at a time
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
	byte_form	byte_form;		/* where there is no encode, or it fails */
	Oid			lt_operator;	/* InvalidOid: cannot be sorted */
	Oid			gt_operator;
} element_type;

/* The calling SQL function's cached entry for type_id, in slot 0 or 1. */
extern const element_type *element_type_lookup(FunctionCallInfo fcinfo, int slot, Oid type_id);

/* Fill entry without a cache. */
extern void element_type_fill(element_type *entry, Oid type_id);

/* Whether executors can move elements of this type: a width that they know. */
extern bool element_type_is_movable(const element_type *type);

/* ereport(ERROR) unless the type has a default btree ordering. */
extern void element_type_check_sortable(const element_type *type);

#endif							/* MGPU_ARRAY_ELEMENT_TYPE_H */
