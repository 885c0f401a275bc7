/*
 * index_build.h
 *		Builds btree indexes, in the place of PostgreSQL's btbuild.
 */
#ifndef MGPU_INDEX_BUILD_H
#define MGPU_INDEX_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"

/* As an access method's ambuild: what this build does not do is PostgreSQL's.  may_start_threads: to help the session. */
extern IndexBuildResult *index_build_btree(Relation heap, Relation index, IndexInfo *info, bool may_start_threads);

#endif							/* MGPU_INDEX_BUILD_H */
