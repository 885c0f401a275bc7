/*
 * shared_prefix.h
 *		How many bytes all strings of a range begin with.
 *
 * Tasks compare their strings with the range's first one and bring together what
 * they find: the least number of shared bytes, and the longest string, which says
 * whether they are all the same.  A lock around both was rejected: each moves in
 * one direction only, so that atomics alone will do.
 */
#ifndef MGPU_SHARED_PREFIX_H
#define MGPU_SHARED_PREFIX_H

#include <stdatomic.h>

#include "byte_source.h"

typedef struct shared_prefix
{
	_Atomic uint32 shared;		/* bytes that all strings begin with */
	_Atomic uint32 longest;
} shared_prefix;

/* What a task has found. */
typedef struct prefix_measure
{
	byte_string first;			/* of the range */
	uint32		known;			/* bytes that all are known to begin with */
	uint32		shared;
	uint32		longest;
} prefix_measure;

/* size: the first string's. */
static inline void
shared_prefix_init(shared_prefix *prefix, uint32 size)
{
	prefix->shared = size;
	prefix->longest = size;
}

static inline prefix_measure
shared_prefix_begin(const shared_prefix *prefix, byte_string first, uint32 known)
{
	return (prefix_measure) {.first = first,.known = known,.shared = prefix->shared};
}

/* False: they share nothing more than was known and are not all the same, so there is nothing more to find. */
static inline bool
prefix_measure_string(prefix_measure *measure, byte_string string)
{
	uint32		most = Min(string.size, measure->shared);
	uint32		shared = Min(measure->known, most);

	while (shared < most && string.bytes[shared] == measure->first.bytes[shared])
		shared++;
	measure->shared = shared;
	measure->longest = Max(measure->longest, string.size);
	return shared > measure->known || measure->longest <= shared;
}

static inline void
shared_prefix_note(shared_prefix *prefix, const prefix_measure *measure)
{
	uint32		seen = prefix->shared;

	while (measure->shared < seen && !atomic_compare_exchange_weak(&prefix->shared, &seen, measure->shared))
		;
	seen = prefix->longest;
	while (measure->longest > seen && !atomic_compare_exchange_weak(&prefix->longest, &seen, measure->longest))
		;
}

static inline bool
shared_prefix_is_all(const shared_prefix *prefix)
{
	return prefix->shared == prefix->longest;
}

#endif							/* MGPU_SHARED_PREFIX_H */
