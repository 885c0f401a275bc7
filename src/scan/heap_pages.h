/*
 * heap_pages.h
 *		Pins the pages of a heap scan in order, one ahead of the page that is read.
 */
#ifndef MGPU_HEAP_PAGES_H
#define MGPU_HEAP_PAGES_H

#include "access/heapam.h"

#include "compat.h"
#include "scan/buffer_places.h"
#include "scan/file_pages.h"
#include "scan/found_pages.h"
#include "scan/kept_stretch.h"

typedef struct heap_pages
{
	HeapScanDesc scan;
	const found_pages *found;	/* the pages that are read; NULL: all; set before start */
	BlockNumber next;			/* in a serial scan, counted from the first */
	Buffer		ahead;			/* the next page, pinned; InvalidBuffer: there is none */
	buffer_places places;
	file_pages *files;			/* that reads pages which are in no buffer, or NULL */
	BlockNumber absent;			/* the next page, if it is one of these; or InvalidBlockNumber */
	bool		in_stretches;	/* only those of `stretch` are taken, but for blocks that it has; set before start */
	const kept_stretch *stretch;	/* NULL: not known yet */
#ifdef MGPU_HAS_READ_STREAMS
	struct ReadStream *stream;	/* in the context of heap_pages_start; NULL: none was needed yet */
	bool		streams;		/* the next pages come from it */
	uint32		to_stream;		/* how many blocks it is still to ask for */
#endif
} heap_pages;

/* Pin the scan's first page. */
extern void heap_pages_start(heap_pages *pages, HeapScanDesc scan);

/* Pin the first page of a stretch that is set now. */
extern void heap_pages_resume(heap_pages *pages);

/* How many pages a serial scan reads. */
static inline BlockNumber
heap_pages_count(const heap_pages *pages)
{
	return pages->found ? pages->found->num_blocks : pages->scan->rs_nblocks;
}

/* The block at a place in the order of a serial scan. */
static inline BlockNumber
heap_pages_block(const heap_pages *pages, BlockNumber place)
{
	if (pages->found)
		return pages->found->blocks[place];
	return (pages->scan->rs_startblock + (uint64) place) % pages->scan->rs_nblocks;
}

/* How many pages from a place on a GPU has one after the other, as far as a look at the stretch tells; 0: it has not the first. */
static inline uint32
heap_pages_kept(const heap_pages *pages, const kept_stretch *stretch, BlockNumber place)
{
	BlockNumber num_blocks = pages->scan->rs_nblocks;
	BlockNumber block;

	if (place >= num_blocks)
		return 0;
	block = heap_pages_block(pages, place);
	return kept_stretch_run(stretch, block, Min(num_blocks - place, num_blocks - block));
}

/* Have pages behind the first be read from the table's file, where that is faster: by heap_pages_read, since they are not pinned. */
extern void heap_pages_use_file(heap_pages *pages);

/*
 * Read the next pages, which are in no buffer, from the file, up to `most` that have room in memory.  *first: the first one's block.  Returns how
 * many were next; those from *num_read on were not read, and the caller has to.  0: the next page is in a buffer.
 */
extern uint32 heap_pages_read(heap_pages *pages, char *to, uint32 most, BlockNumber *first, uint32 *num_read);

/* End the threads that read so: file_pages_pause. */
static inline void
heap_pages_pause(heap_pages *pages)
{
	if (pages->files)
		file_pages_pause(pages->files);
}

/* A page of these that was not, pinned. */
extern Buffer heap_pages_pin(const heap_pages *pages, BlockNumber block);

/* Leave the page that is ahead to the caller, who releases it, and pin the one after it.  InvalidBuffer: the end. */
extern Buffer heap_pages_take(heap_pages *pages);

/* Fetch the headers of the page that is ahead, and of those that are probably next. */
extern void heap_pages_prefetch(const heap_pages *pages);

/* Release what is pinned, before the scan is rescanned or ended. */
extern void heap_pages_stop(heap_pages *pages);

#endif							/* MGPU_HEAP_PAGES_H */
