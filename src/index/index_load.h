/*
 * index_load.h
 *		Brings the sorted rows of an index to its pages.
 */
#ifndef MGPU_INDEX_LOAD_H
#define MGPU_INDEX_LOAD_H

#include "index/index_runs.h"

/* Write the index.  Raises PostgreSQL's error if it is unique and rows are not. */
extern void index_load(Relation heap, const IndexInfo *info, index_cursor *cursor);

#endif							/* MGPU_INDEX_LOAD_H */
