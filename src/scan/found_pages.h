/*
 * found_pages.h
 *		The pages of a table that an index names.
 */
#ifndef MGPU_SCAN_FOUND_PAGES_H
#define MGPU_SCAN_FOUND_PAGES_H

#include "nodes/execnodes.h"
#include "storage/block.h"

typedef struct found_pages
{
	BlockNumber *blocks;		/* in their order; NULL: the index was not read yet */
	BlockNumber num_blocks;
	bool		are_apart;		/* few of them follow each other, so that to read several at once gains nothing */
	bool		was_read;		/* the node of the index has run */
} found_pages;

/*
 * Run the node below a Bitmap Heap Scan, and list the pages that it names of a table of num_pages pages.  In the query's context; a list from
 * before is freed.  The node is rescanned if it has run before.
 */
extern void found_pages_read(found_pages *found, PlanState *index, BlockNumber num_pages);

#endif							/* MGPU_SCAN_FOUND_PAGES_H */
