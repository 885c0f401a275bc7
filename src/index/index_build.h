/*
 * index_build.h
 *		Builds btree indexes, in the place of PostgreSQL's btbuild.
 */
#ifndef MGPU_INDEX_BUILD_H
#define MGPU_INDEX_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"

/* An access method's ambuild: what this build does not do is PostgreSQL's. */
extern IndexBuildResult *index_build_btree(Relation heap, Relation index, IndexInfo *info);

/* Whether a build runs in a statement for which max_parallel_maintenance_workers is 0. */
extern bool index_wants_no_workers(void);

/* Have PostgreSQL call it.  Called once, when the library is loaded. */
extern void index_build_init(void);

#endif							/* MGPU_INDEX_BUILD_H */
