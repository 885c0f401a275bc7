/*
 * played_group.h
 *		Jobs of MGPU_OP_GROUP on played devices: rows of pages in, groups out.
 */
#ifndef MGPU_PLAYED_GROUP_H
#define MGPU_PLAYED_GROUP_H

#include "core/engine.h"

typedef struct played_group played_group;

/* NULL: the spec is not valid. */
played_group *mgpu_played_group_create(const mgpu_group_source *source, mgpu_error *err);
void		mgpu_played_group_free(played_group *group);	/* NULL is allowed */

/* Where the memory of builds goes, and how many bytes it has. */
char	   *mgpu_played_group_builds(played_group *group, uint64_t *bytes);

/* Where the pages of a batch are.  false: one is not in memory that is_pinned allows. */
bool		mgpu_played_group_check(const played_group *group, const void *batch, uint64_t bytes,
									bool (*is_pinned) (const char *memory, uint64_t bytes));

/* Read a batch: pages as they are now. */
void		mgpu_played_group_read(played_group *group, const void *batch, uint64_t bytes);

/* Group all rows.  MGPU_UNSUPPORTED as engine.h has it. */
mgpu_status mgpu_played_group_run(played_group *group, mgpu_error *err);

/* After that. */
void		mgpu_played_group_result(const played_group *group, mgpu_group_result *result);
const char *mgpu_played_group_output(const played_group *group, mgpu_output output);

#endif							/* MGPU_PLAYED_GROUP_H */
