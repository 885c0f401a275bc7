/*
 * index_scan.h
 *		Collects the rows of a table for an index.
 */
#ifndef MGPU_INDEX_SCAN_H
#define MGPU_INDEX_SCAN_H

#include "index/index_items.h"

/* Returns the number of live rows, as PostgreSQL counts them. */
extern double index_scan(Relation heap, IndexInfo *info, index_rows *rows);

#endif							/* MGPU_INDEX_SCAN_H */
