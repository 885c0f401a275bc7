/*
 * enum_keys.h
 *		Elements of an enum type as unsigned 32-bit keys.
 */
#ifndef MGPU_KEYS_ENUM_KEYS_H
#define MGPU_KEYS_ENUM_KEYS_H

#include "array/element_type.h"

/*
 * Keys that order as the enum values with these OIDs do.  Returns values itself if its OIDs order
 * so, else palloc'd memory.
 */
extern const uint32 *enum_keys(const Oid *values, int64 num_items, const element_type *type);

#endif							/* MGPU_KEYS_ENUM_KEYS_H */
