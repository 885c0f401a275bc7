/*
 * service/played_group.h
 *		A job that groups the rows of pages, for tests: what a device would compute, one row after the other.
 */
#ifndef MGPU_SERVICE_PLAYED_GROUP_H
#define MGPU_SERVICE_PLAYED_GROUP_H

#include "core/engine.h"

typedef struct mgpu_played_group mgpu_played_group;

/* NULL: no memory. */
mgpu_played_group *mgpu_played_group_create(const mgpu_group_source *source);
void		mgpu_played_group_free(mgpu_played_group *group);

/* Read the pages of a batch. */
void		mgpu_played_group_read(mgpu_played_group *group, const char *batch, uint32_t num_refs);

/* All pages have been read: group their rows.  As poll of an engine. */
mgpu_status mgpu_played_group_finish(mgpu_played_group *group, mgpu_error *err);

/* After that: the outputs, and how large they are. */
const mgpu_group_result *mgpu_played_group_result(const mgpu_played_group *group);
const char *mgpu_played_group_output(const mgpu_played_group *group, mgpu_output output);

#endif							/* MGPU_SERVICE_PLAYED_GROUP_H */
