/*
 * enum_keys.h
 *		Elements of an enum type as unsigned 32-bit keys.
 */
#ifndef MGPU_ENUM_KEYS_H
#define MGPU_ENUM_KEYS_H

#include "element_type.h"

/* Labels among some values, in their order, and the rank of each by its OID.  Palloc'd. */
typedef struct enum_labels
{
	struct label_hash *ranks;
	Oid		   *ordered;
	uint32		num_labels;
} enum_labels;

/* Those of these values; NULL: their OIDs order as the type does. */
extern enum_labels *enum_labels_find(const Oid *values, int64 num_items, const element_type *type);
extern void enum_labels_free(enum_labels *labels);

/* ranks[i] = that of values[i], all of which labels has; counted from the last one if descending. */
extern void enum_labels_ranks(const enum_labels *labels, const Oid *values, int64 num_items,
							  bool descending, uint32 *ranks);

/*
 * Keys that order as these values (OIDs) do: the values themselves, or else
 * palloc'd.
 */
extern const uint32 *enum_keys(const Oid *values, int64 num_items, const element_type *type);

#endif							/* MGPU_ENUM_KEYS_H */
