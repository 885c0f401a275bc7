/*
 * file_pages.h
 *		Reads pages of a table that are in no shared buffer from its file, many at a time.
 */
#ifndef MGPU_FILE_PAGES_H
#define MGPU_FILE_PAGES_H

#include "access/relscan.h"

typedef struct file_pages file_pages;

/* Make a reader of a scan's table, in the current context.  NULL: its pages are better read into buffers, or only there. */
extern file_pages *file_pages_create(HeapScanDesc scan);

/* Whether a block is in no buffer, and marked all-visible: it may be read. */
extern bool file_pages_may_read(file_pages *files, BlockNumber block);

/*
 * Read so many pages from a block on, which may be read, to memory.  Returns how many are there: all rows of these are visible.  The first that is
 * not has to be read into a buffer, for it may have changed meanwhile, or is damaged.
 */
extern uint32 file_pages_read(file_pages *files, BlockNumber first, uint32 num_pages, char *to);

/* End the threads that read.  To be called on every exit, errors and the end of the process included; pages may be read again after it. */
extern void file_pages_pause(file_pages *files);

#endif							/* MGPU_FILE_PAGES_H */
