/*
 * collation.h
 *		How a collation orders strings: by their bytes, by the C library, or by another.
 */
#ifndef MGPU_KEYS_COLLATION_H
#define MGPU_KEYS_COLLATION_H

#include "keys/collated.h"

/*
 * Whether a collation orders strings of this database by their bytes: C, POSIX, the built-in
 * provider's, and C.UTF-8 of a C library that compares it by code points.  A wrong "no" costs only
 * speed.  collation is valid.
 */
extern bool collation_orders_bytes(Oid collation);

/*
 * The C library's locale by which the server compares strings under a valid collation, where bytes
 * do not decide.  0 if the collation is not the C library's.  It lives as long as the process.
 */
extern locale_t collation_locale(Oid collation);

/* Whether texts are sorted by strings that are made of them (keys/collated.h).  collation may be invalid, which has none. */
static inline bool
collation_has_strings(Oid collation)
{
	return OidIsValid(collation) && collation_locale(collation) != (locale_t) 0;
}

/* Bytes set aside for what texts with so many are sorted by. */
static inline Size
collation_key_bytes(Oid collation, Size bytes)
{
	return collation_has_strings(collation) ? COLLATED_SPACE(bytes) : bytes;
}

#endif							/* MGPU_KEYS_COLLATION_H */
