/*
 * group_merge.h
 *		Groups of fewer keys, made of the records of a job's groups (group_spec.h) in place of its rows.
 *
 * ROLLUP (a, b) has groups of a and b, of a, and of all rows.  Of counts, sums of integers and extremes the records of the first
 * have all that the others need.  Sums of floats need their rows in order, and sorted values need the values.
 */
#ifndef MGPU_GROUP_MERGE_H
#define MGPU_GROUP_MERGE_H

#include "core/group_spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mgpu_group_merge mgpu_group_merge;

/* Whether the records of a job may be merged. */
bool		mgpu_group_may_merge(const mgpu_group_spec *spec);

/*
 * Merge records of such a job by some of its keys.  Bit i of keys: key i tells groups apart; in merged records, which have the same
 * layout, all others are NULL.  The spec, which is the caller's, is needed until the end.  NULL: out of memory.
 */
mgpu_group_merge *mgpu_group_merge_create(const mgpu_group_spec *spec, uint32_t keys);

/* false: out of memory, or UINT32_MAX groups. */
bool		mgpu_group_merge_add(mgpu_group_merge *merge, const uint64_t *records, uint64_t num_records);

/* Where no keys are left, there is a group even of no rows.  false: out of memory. */
bool		mgpu_group_merge_finish(mgpu_group_merge *merge);

/* The merged records, which are the merge's: how many, and where.  bytes: of all that it has. */
uint64_t	mgpu_group_merge_count(const mgpu_group_merge *merge);
const uint64_t *mgpu_group_merge_records(const mgpu_group_merge *merge);
uint64_t	mgpu_group_merge_bytes(const mgpu_group_merge *merge);

/* NULL is no merge. */
void		mgpu_group_merge_free(mgpu_group_merge *merge);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_GROUP_MERGE_H */
