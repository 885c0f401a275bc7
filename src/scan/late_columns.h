/*
 * late_columns.h
 *		Columns of a heap reader's rows that are filled only for the rows that are wanted.
 *
 * Whoever looks at some columns of many rows, and returns few rows with all columns, has the others filled late.  Meanwhile the
 * pages stay pinned.  Stored values (batch/chunk.h) then lie in their pages until these are released.
 */
#ifndef MGPU_LATE_COLUMNS_H
#define MGPU_LATE_COLUMNS_H

#include "access/htup_details.h"
#include "storage/buf.h"
#include "storage/itemid.h"

#include "batch/chunk.h"

struct heap_reader;

typedef struct late_page
{
	struct heap_reader *reader;
	Buffer		buffer;
	uint64		first;			/* its first row in the chunk */
	uint32		num_rows;
	ItemIdData	items[MaxHeapTuplesPerPage];
} late_page;

/* Pages of the rows in one chunk.  When it is full, columns are filled at once. */
typedef struct late_pages
{
	uint32		num_pages;
	uint32		most_pages;
	late_page	pages[128];
} late_pages;

extern void late_pages_init(late_pages *late);
extern void late_pages_release(late_pages *late);

/* Fill the late columns of rows of the chunk, whose numbers ascend. */
extern void late_pages_complete(late_pages *late, chunk *rows, const uint32 *numbers, uint64 num_rows);

#endif							/* MGPU_LATE_COLUMNS_H */
