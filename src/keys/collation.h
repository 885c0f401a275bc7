/*
 * collation.h
 *		Which collations order strings by their bytes.
 */
#ifndef MGPU_KEYS_COLLATION_H
#define MGPU_KEYS_COLLATION_H

/*
 * Whether a collation orders strings of this database by their bytes: C, POSIX, the built-in
 * provider's, and C.UTF-8 of a C library that compares it by code points.  A wrong "no" costs only
 * speed.  collation is valid.
 */
extern bool collation_orders_bytes(Oid collation);

#endif							/* MGPU_KEYS_COLLATION_H */
