/*
 * heap_pages.c
 *		Pins the pages of a heap scan in order, one ahead of the page that is read.
 *
 * A page is likely to be in the buffer where the session has seen it last (buffer_places.h), or soon after the last page's, if they were read
 * one after the other.  To look there is several times as fast as to search the table of all buffers, which misses the processor's caches.
 * Where a page had to be read from disk, those behind it are probably not cached either.  Since 17, a
 * stream reads them ahead.  A caller that takes copies has many read at once from the file (file_pages.h).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/syncscan.h"
#include "access/tableam.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/spccache.h"

#include "compat.h"
#include "core/sizes.h"
#include "scan/heap_pages.h"

#ifdef MGPU_HAS_READ_STREAMS
#include "storage/read_stream.h"

/* Pages that a stream reads before buffers are looked for one by one again. */
#define STREAM_PAGES MGPU_SIZE(8192, 20)
#endif

/* Pass over the blocks that a GPU has.  Whether the next one is of the stretch. */
static bool
pass_over_kept(heap_pages *pages)
{
	const kept_stretch *stretch = pages->stretch;
	uint32		run;

	while (stretch && (run = heap_pages_kept(pages, stretch, pages->next)) > 0)
		pages->next += run;
	return stretch && kept_stretch_covers(stretch, heap_pages_block(pages, pages->next));
}

static BlockNumber
next_block(heap_pages *pages)
{
	HeapScanDesc scan = pages->scan;
	BlockNumber block;

	if (scan->rs_base.rs_parallel)
		return table_block_parallelscan_nextpage(scan->rs_base.rs_rd, scan->rs_parallelworkerdata,
												 (ParallelBlockTableScanDesc) scan->rs_base.rs_parallel);
	if (scan->rs_nblocks == 0)
		return InvalidBlockNumber;
	if (pages->in_stretches && !pass_over_kept(pages))
		return InvalidBlockNumber;
	/* at the end, the block is where the scan started: the next scan is to start there, too */
	if (pages->next > 0 && (scan->rs_base.rs_flags & SO_ALLOW_SYNC))
		ss_report_location(scan->rs_base.rs_rd, heap_pages_block(pages, pages->next));
	if (pages->next == heap_pages_count(pages))
		return InvalidBlockNumber;
	block = heap_pages_block(pages, pages->next);
	pages->next++;
	return block;
}

/* ---- single buffers */

/*
 * Buffers after the last one that are looked at.  Pages that were read in turn are apart where the server passed over buffers in
 * use.  In a table that was loaded into partly used buffers, one page of ten was more than 8 buffers away, one of twenty more
 * than 32.
 */
#define NEAR_BUFFERS 32

/*
 * The buffer after this one that seems to have a block of that number, or InvalidBuffer.  It may change at any time, or
 * belong to another table.
 */
static Buffer
near_buffer(Buffer last, BlockNumber block)
{
	for (Buffer buffer = last + 1; buffer <= Min(last + NEAR_BUFFERS, NBuffers); buffer++)
		if (GetBufferDescriptor(buffer - 1)->tag.blockNum == block)
			return buffer;
	return InvalidBuffer;
}

/* The buffer that probably has a block, or InvalidBuffer. */
static Buffer
probable_buffer(const heap_pages *pages, BlockNumber block)
{
	Buffer		seen = buffer_places_look(&pages->places, block);

	if (BufferIsValid(seen) && GetBufferDescriptor(seen - 1)->tag.blockNum == block)
		return seen;
	return near_buffer(pages->ahead, block);
}

/* Count the use of a buffer, as ReadBuffer does.  ReadRecentBuffer does not: the page would soon be evicted. */
static void
count_use(Buffer buffer, BufferAccessStrategy strategy)
{
	BufferDesc *header = GetBufferDescriptor(buffer - 1);
	mgpu_buffer_state state = mgpu_read_buffer_state(header);

	if ((state & BM_LOCKED) == 0 && BUF_STATE_GET_USAGECOUNT(state) < (strategy ? 1 : BM_MAX_USAGE_COUNT))
		(void) mgpu_exchange_buffer_state(header, &state, state + BUF_USAGECOUNT_ONE);
}

/* Pin a block if it is in this buffer. */
static bool
pin_in(const heap_pages *pages, BlockNumber block, Buffer buffer)
{
	Relation	relation = pages->scan->rs_base.rs_rd;

	if (!BufferIsValid(buffer) || !ReadRecentBuffer(mgpu_locator(relation), MAIN_FORKNUM, block, buffer))
		return false;
	mgpu_count_recent_buffer();
	count_use(buffer, pages->scan->rs_strategy);
	pgstat_count_buffer_read(relation);
	pgstat_count_buffer_hit(relation);
	return true;
}

Buffer
heap_pages_pin(const heap_pages *pages, BlockNumber block)
{
	return ReadBufferExtended(pages->scan->rs_base.rs_rd, MAIN_FORKNUM, block, RBM_NORMAL, pages->scan->rs_strategy);
}

/* Pin a block.  Returns whether it had to be read from disk. */
static bool
pin_anywhere(heap_pages *pages, BlockNumber block)
{
	int64		num_read = pgBufferUsage.shared_blks_read;

	pages->ahead = heap_pages_pin(pages, block);
	return pgBufferUsage.shared_blks_read != num_read;
}

/* ---- a stream */

#ifdef MGPU_HAS_READ_STREAMS

static BlockNumber
next_of_stream(ReadStream *stream, void *context, void *page_context)
{
	heap_pages *pages = context;

	if (pages->to_stream == 0)
		return InvalidBlockNumber;
	pages->to_stream--;
	return next_block(pages);
}

static void
start_stream(heap_pages *pages)
{
	TableScanDesc scan = &pages->scan->rs_base;

	if (pages->stream)
		read_stream_reset(pages->stream);
	else
	{
		pages->stream = read_stream_begin_relation(MGPU_READ_STREAM_FLAGS, pages->scan->rs_strategy, scan->rs_rd, MAIN_FORKNUM,
												   next_of_stream, pages, 0);
		mgpu_count_stream(pages->stream, scan);
	}
	pages->to_stream = STREAM_PAGES;
	pages->streams = true;
}

/* Pin the stream's next page.  False: there is no stream, or it has ended. */
static bool
pin_streamed(heap_pages *pages)
{
	if (pages->streams)
		pages->ahead = read_stream_next_buffer(pages->stream, NULL);
	return pages->streams = pages->streams && BufferIsValid(pages->ahead);
}

static void
end_stream(heap_pages *pages)
{
	if (pages->stream)
		read_stream_end(pages->stream);
	pages->stream = NULL;
	pages->streams = false;
}

#else

/* Have the pages behind one that had to be read be on their way, where they are few and apart. */
static void
start_stream(const heap_pages *pages)
{
	const Relation relation = pages->scan->rs_base.rs_rd;
	uint64		end = (uint64) pages->next + get_tablespace_io_concurrency(relation->rd_rel->reltablespace);

	for (BlockNumber place = pages->next; pages->found && place < Min(end, heap_pages_count(pages)); place++)
		PrefetchBuffer(relation, MAIN_FORKNUM, heap_pages_block(pages, place));
}

#define pin_streamed(pages) false
#define end_stream(pages) ((void) 0)

#endif

/* ---- the pages */

static void
pin_next(heap_pages *pages)
{
	BlockNumber block;
	Buffer		probable;

	pages->absent = InvalidBlockNumber;
	if (pin_streamed(pages))
		return;
	block = next_block(pages);
	if (block == InvalidBlockNumber)
	{
		pages->ahead = InvalidBuffer;
		return;
	}
	probable = probable_buffer(pages, block);
	if (pin_in(pages, block, probable))
		pages->ahead = probable;
	else if (pages->files && file_pages_may_read(pages->files, block))
	{
		pages->ahead = InvalidBuffer;
		pages->absent = block;
	}
	else if (pin_anywhere(pages, block))
		start_stream(pages);
	if (BufferIsValid(pages->ahead))
		buffer_places_remember(&pages->places, block, pages->ahead);
}

void
heap_pages_start(heap_pages *pages, HeapScanDesc scan)
{
	pages->scan = scan;
	pages->next = 0;
	pages->stretch = NULL;
	pages->places = (buffer_places) {0};
	/* a worker ends soon, and has only some of the blocks; a GPU may have them all */
	if (scan->rs_base.rs_parallel)
		mgpu_start_parallel_scan(scan, (ParallelBlockTableScanDesc) scan->rs_base.rs_parallel);
	else
		buffer_places_start(&pages->places, scan->rs_base.rs_rd, scan->rs_nblocks, !pages->in_stretches);
	pin_next(pages);
}

void
heap_pages_resume(heap_pages *pages)
{
	if (!BufferIsValid(pages->ahead) && pages->absent == InvalidBlockNumber)
		pin_next(pages);
}

void
heap_pages_use_file(heap_pages *pages)
{
	/* what is read once more has it */
	if (pages->files == NULL && !(pages->found && pages->found->are_apart))
		pages->files = file_pages_create(pages->scan);
}

uint32
heap_pages_read(heap_pages *pages, char *to, uint32 most, BlockNumber *first, uint32 *num_read)
{
	uint32		num_next = 0;
	bool		may_read;

	*first = pages->absent;
	*num_read = 0;
	if (pages->absent == InvalidBlockNumber || most == 0)
		return 0;
	/* once more: the last pages that were read may have changed the map since */
	may_read = file_pages_may_read(pages->files, *first);
	do
	{
		num_next++;
		pin_next(pages);
	} while (may_read && pages->absent != InvalidBlockNumber && pages->absent == *first + num_next && num_next < most);
	if (may_read)
		*num_read = file_pages_read(pages->files, *first, num_next, to);
	return num_next;
}

Buffer
heap_pages_take(heap_pages *pages)
{
	Buffer		taken = pages->ahead;

	if (BufferIsValid(taken))
		pin_next(pages);
	return taken;
}

/* A fetch from memory takes as long as two pages or three.  A header is needed before its page. */
#define PAGES_AHEAD 4
#define HEADERS_AHEAD 8

void
heap_pages_prefetch(const heap_pages *pages)
{
	BlockNumber block;
	Buffer		soon;
	Buffer		later;

	if (!BufferIsValid(pages->ahead))
		return;
	__builtin_prefetch(BufferGetPage(pages->ahead));
	block = GetBufferDescriptor(pages->ahead - 1)->tag.blockNum;
	soon = buffer_places_look(&pages->places, block + PAGES_AHEAD);
	later = buffer_places_look(&pages->places, block + HEADERS_AHEAD);
	if (BufferIsValid(soon))
		__builtin_prefetch(BufferGetPage(soon));
	if (BufferIsValid(later))
		__builtin_prefetch(GetBufferDescriptor(later - 1));
}

void
heap_pages_stop(heap_pages *pages)
{
	if (BufferIsValid(pages->ahead))
		ReleaseBuffer(pages->ahead);
	pages->ahead = InvalidBuffer;
	pages->absent = InvalidBlockNumber;
	heap_pages_pause(pages);
	pages->files = NULL;
	pages->found = NULL;
	pages->in_stretches = false;
	pages->stretch = NULL;
	end_stream(pages);
}
