/*
 * heap_sender.c
 *		Sends the pages of a heap reader's table to a GPU, in place of reading them.
 *
 * A page that has visible rows alone is read by the GPU where it is, in shared buffers.  It stays pinned until then
 * (held_pages.h), so that no row is moved or removed.  The GPU gets the number of its line pointers, not the line pointers.  Of
 * these, none changes while the page is pinned, unless unused ones among them are given to new rows.  If each is of a visible
 * row, none is unused.  On an all-visible page this need not be looked at: PostgreSQL uses line pointers again only if the
 * page's flag PD_HAS_FREE_LINES says that some are unused, and nobody sets the flag meanwhile, for such a page has no dead
 * line pointers that a vacuum could make unused.
 *
 * Of other pages a copy is sent, whose line pointers are unused but for those of visible rows, so that a GPU needs not know of
 * visibility.  All-visible pages that are in no buffer are copies from the file (file_pages.h).
 *
 * Pages that the GPU keeps are named, and not pinned or looked at (kept_stretch.h).  What is kept, is asked for when the scan comes to the
 * blocks of another page of the visibility map.  So pages are sent in the order of the scan, kept or not.
 * To copy all line pointers, as the reader for the CPU does, was rejected: reading them is what takes time.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"

#include "compat.h"
#include "core/cpu_threads.h"
#include "core/service/slot.h"
#include "run/run_table.h"
#include "scan/heap_reader_state.h"
#include "scan/heap_sender.h"
#include "scan/held_pages.h"

/* Batches that are read at a time: a GPU's, or one and a spare for each thread. */
#define MOST_BATCHES Max(MGPU_SLOT_EXTENTS, 2 * MGPU_MAX_CPU_THREADS)

/* A batch that the GPU may still read. */
typedef struct sent_batch
{
	const char *memory;
	Relation	relation;		/* of its pages */
	held_pages	held;
	uint32		num_refs;
	uint32		num_sent;		/* of these, pages that are not kept ... */
	uint32		num_copies;		/* ... and copies */
} sent_batch;

/* Pages of a batch, up to those that lie where copies begin. */
#define REFS_BEFORE_COPIES (MGPU_PAGE_COPIES_OFFSET / sizeof(mgpu_page_ref))

struct heap_sender
{
	List	   *readers;
	int			current;		/* the reader whose pages come next */
	uint32		batch_pages;
	uint32		most_held;		/* pages at a time */
	uint32		num_held;
	const uint64 *num_shared;	/* buffers that are read where they are */
	const bool *keeps;
	BlockNumber place;			/* in the order of the reader's scan, of the next page */
	mgpu_kept_request asked;	/* what the last call has asked for; 0: nothing */
	kept_stretch stretch;
	int64		copied_pages;
	int64		kept_pages;
	uint32		num_batches;
	sent_batch	batches[MOST_BATCHES];
};

/* ---- what is sent */

/* Whether the scan will return a row, as its first page tells.  The page stays the next to be read. */
static bool
begins_with_row(heap_reader *reader)
{
	MemoryContext caller = MemoryContextSwitchTo(reader->scan->ps.state->es_query_cxt);
	NodeInstrumentation *times = heap_reader_instrument(reader);
	Buffer		first;
	bool		as_is = false;
	bool		found;

	if (times)
		InstrStartNode(times);
	if (!reader->started)
		heap_reader_start(reader);
	first = reader->pages.ahead;
	found = BufferIsValid(first) && heap_reader_find_visible(reader, first, &as_is) > 0;
	reader->counts.checked_pages = 0;
	if (times)
		InstrStopNode(times, 0);
	MemoryContextSwitchTo(caller);
	return found;
}

static bool
any_begins_with_row(const List *readers)
{
	ListCell   *cell;

	foreach(cell, readers)
		if (begins_with_row(lfirst(cell)))
			return true;
	return false;
}

heap_sender *
heap_sender_create(List *readers, bool needs_row, const uint64 *num_shared, const bool *keeps)
{
	heap_sender *sender;

	if (needs_row && !any_begins_with_row(readers))
		return NULL;
	sender = palloc0(sizeof(heap_sender));
	sender->readers = readers;
	sender->num_shared = num_shared;
	sender->keeps = keeps;
	/* one session's share of the buffers; of further pages copies are sent */
	sender->most_held = NBuffers / MaxBackends;
	sender->batch_pages = Min(MGPU_BATCH_PAGES, Max(sender->most_held / MGPU_SLOT_EXTENTS, 4));
	return sender;
}

/* ---- pages */

/* The batch that is written to this memory, after its last pages have been read. */
static sent_batch *
start_batch(heap_sender *sender, const char *memory)
{
	sent_batch *batch = sender->batches;

	while (batch < sender->batches + sender->num_batches && batch->memory != memory)
		batch++;
	if (batch == sender->batches + sender->num_batches)
	{
		Assert(sender->num_batches < MOST_BATCHES);
		sender->num_batches++;
		batch->memory = memory;
	}
	sender->num_held -= batch->held.num_pages;
	held_pages_release(&batch->held, batch->relation);
	return batch;
}

static char *
copy_of(const sent_batch *batch, uint32 number)
{
	return (char *) batch->memory + MGPU_PAGE_COPIES_OFFSET + (Size) number * BLCKSZ;
}

/* Name the pages that the GPU has, up to one that it has not. */
static void
add_kept(heap_sender *sender, sent_batch *batch, const heap_pages *pages)
{
	mgpu_page_ref *refs = (mgpu_page_ref *) batch->memory;
	uint32		most_refs = batch->num_copies > 0 ? REFS_BEFORE_COPIES : MGPU_BATCH_REFS;
	uint32		run;

	while (batch->num_refs < most_refs && (run = heap_pages_kept(pages, &sender->stretch, sender->place)) > 0)
	{
		BlockNumber block = heap_pages_block(pages, sender->place);
		uint32		first = kept_stretch_place(&sender->stretch, block);

		run = Min(run, most_refs - batch->num_refs);
		for (uint32 i = 0; i < run; i++)
			refs[batch->num_refs + i] = (mgpu_page_ref) {
				.number = MGPU_PAGE_IS_KEPT,.source = sender->current,.kept = first + i,.block = block + i
			};
		batch->num_refs += run;
		sender->place += run;
		sender->kept_pages += run;
	}
}

/* Send a page that is pinned. */
static void
add_page(heap_sender *sender, sent_batch *batch, heap_reader *reader, Buffer buffer)
{
	mgpu_page_ref *ref = &((mgpu_page_ref *) batch->memory)[batch->num_refs++];
	bool		as_is = (uint64) buffer <= *sender->num_shared && sender->num_held < sender->most_held;

	heap_pages_prefetch(&reader->pages);
	ref->num_items = heap_reader_find_visible(reader, buffer, &as_is);
	ref->is_copy = !as_is;
	ref->source = sender->current;
	ref->block = BufferGetBlockNumber(buffer);
	ref->number = as_is ? (uint32) buffer - 1 : batch->num_copies++;
	ref->kept = reader->all_visible ? kept_stretch_store(&sender->stretch, ref->block) : 0;
	sender->num_held += as_is;
	if (ref->is_copy)
		ref->num_items = heap_reader_copy_page(reader, buffer, copy_of(batch, ref->number), ref->num_items);
	else
		held_pages_add(&batch->held, buffer);
	batch->num_sent++;
	sender->place++;
}

/* Send the next pages that are in no buffer, up to `most`.  false: there is no such page next. */
static bool
add_file_pages(heap_sender *sender, sent_batch *batch, heap_reader *reader, uint32 most)
{
	char	   *page = copy_of(batch, batch->num_copies);
	BlockNumber first;
	uint32		num_read;
	uint32		num_next = heap_pages_read(&reader->pages, page, most, &first, &num_read);

	for (uint32 i = 0; i < num_read; i++, page += BLCKSZ)
	{
		((mgpu_page_ref *) batch->memory)[batch->num_refs++] = (mgpu_page_ref) {
			.number = batch->num_copies++,.num_items = PageGetMaxOffsetNumber((Page) page),.is_copy = true,.source = sender->current,
			.kept = kept_stretch_store(&sender->stretch, first + i),.block = first + i
		};
	}
	batch->num_sent += num_read;
	sender->place += num_read;
	for (uint32 i = num_read; i < num_next; i++)
		add_page(sender, batch, reader, heap_pages_pin(&reader->pages, first + i));
	return num_next > 0;
}

static void
start_reader(const heap_sender *sender, heap_reader *reader)
{
	if (sender->place > 0)
		return;
	/* what a GPU keeps is known by stretches of the whole table */
	reader->pages.in_stretches = *sender->keeps && !heap_reader_is_found(reader);
	if (!reader->started)
		heap_reader_start(reader);
	heap_pages_use_file(&reader->pages);
	if (reader->pages.in_stretches && !kept_stretch_serves(heap_scan_of(reader)))
	{
		reader->pages.in_stretches = false;
		heap_pages_resume(&reader->pages);
	}
}

/* How many more pages a batch has room for, as copies. */
static uint32
room_of(const heap_sender *sender, const sent_batch *batch, uint32 most_copies)
{
	if (batch->held.num_pages == sender->batch_pages || batch->num_refs >= REFS_BEFORE_COPIES)
		return 0;
	return Min(Min(most_copies - batch->num_copies, MGPU_BATCH_PAGES - batch->num_sent), REFS_BEFORE_COPIES - batch->num_refs);
}

/* Fill a batch with the next pages of the current reader.  most_copies: that it has room for. */
static uint32
fill_batch(heap_sender *sender, sent_batch *batch, uint32 most_copies)
{
	heap_reader *reader = list_nth(sender->readers, sender->current);
	Buffer		buffer;

	batch->relation = reader->scan->ss_currentRelation;
	batch->num_refs = batch->num_sent = batch->num_copies = 0;
	start_reader(sender, reader);
	for (;;)
	{
		uint32		room;

		if (reader->pages.in_stretches)
			add_kept(sender, batch, &reader->pages);
		room = room_of(sender, batch, most_copies);
		if (add_file_pages(sender, batch, reader, room))
			continue;
		if (room == 0 || (buffer = heap_pages_take(&reader->pages)) == InvalidBuffer)
			break;
		add_page(sender, batch, reader, buffer);
	}
	reader->counts.pages += batch->num_refs;
	sender->copied_pages += batch->num_copies;
	return batch->num_refs;
}

/* Write the next question about kept pages.  false: there is none, and all pages of the reader were sent. */
static bool
ask(heap_sender *sender, const heap_reader *reader, mgpu_kept_question *question)
{
	const heap_pages *pages = &reader->pages;
	bool		is_end = !pages->in_stretches || sender->place == pages->scan->rs_nblocks;

	sender->asked = 0;
	if (sender->stretch.has_stored)
	{
		kept_stretch_confirm(&sender->stretch, pages->scan, question);
		sender->asked = MGPU_KEPT_CONFIRM;
	}
	else if (!is_end && kept_stretch_covers(&sender->stretch, heap_pages_block(pages, sender->place)))
		elog(ERROR, "block %u is neither kept nor pinned", heap_pages_block(pages, sender->place));
	else if (!is_end)
	{
		kept_stretch_ask(&sender->stretch, pages->scan, heap_pages_block(pages, sender->place), question);
		sender->asked = MGPU_KEPT_LOOK;
	}
	return sender->asked != 0;
}

static void
take_answer(heap_sender *sender, const char *memory)
{
	heap_reader *reader = list_nth(sender->readers, sender->current);

	if (sender->asked == MGPU_KEPT_LOOK)
	{
		kept_stretch_take(&sender->stretch, (const mgpu_kept_question *) memory);
		reader->pages.stretch = &sender->stretch;
		heap_pages_resume(&reader->pages);
	}
	sender->asked = 0;
}

/* A batch, or a question, or neither: there are no more pages. */
static uint32
fill(heap_sender *sender, sent_batch *batch, uint32 most_copies)
{
	if (sender->asked)
		take_answer(sender, batch->memory);
	while (sender->current < list_length(sender->readers))
	{
		uint32		num_pages = fill_batch(sender, batch, most_copies);

		if (num_pages > 0)
			return num_pages;
		if (ask(sender, list_nth(sender->readers, sender->current), (mgpu_kept_question *) batch->memory))
			return RUN_GROUP_ASKS;
		sender->current++;
		sender->place = 0;
		sender->stretch.is_known = false;
	}
	return 0;
}

uint32
heap_sender_fill(void *context, char *memory, Size bytes)
{
	heap_sender *sender = context;
	sent_batch *batch = start_batch(sender, memory);
	const heap_reader *first = linitial(sender->readers);
	uint32		num_pages;
	/* a scan lives longer than what its caller makes of its rows */
	MemoryContext caller = MemoryContextSwitchTo(first->scan->ps.state->es_query_cxt);
	num_pages = fill(sender, batch, (bytes - MGPU_PAGE_COPIES_OFFSET) / BLCKSZ);
	MemoryContextSwitchTo(caller);
	return num_pages;
}

void
heap_sender_release(int code, Datum sender_pointer)
{
	heap_sender *sender = (heap_sender *) DatumGetPointer(sender_pointer);
	ListCell   *cell;

	for (uint32 i = 0; i < sender->num_batches; i++)
		held_pages_release(&sender->batches[i].held, sender->batches[i].relation);
	foreach(cell, sender->readers)
		heap_pages_pause(&((heap_reader *) lfirst(cell))->pages);
}

void
heap_sender_restart(heap_sender *sender)
{
	heap_sender_release(0, PointerGetDatum(sender));
	/* who reads next may write to other memory */
	sender->num_batches = 0;
	sender->num_held = 0;
	sender->current = 0;
	sender->place = 0;
	sender->asked = 0;
	sender->stretch.is_known = sender->stretch.has_stored = false;
}

void
heap_sender_stop(heap_sender *sender, const mgpu_group_result *result)
{
	ListCell   *cell;

	heap_sender_release(0, PointerGetDatum(sender));
	foreach(cell, sender->readers)
	{
		heap_reader *reader = lfirst(cell);
		ScanState  *scan = reader->scan;
		int			number = foreach_current_index(cell);

		/* counts rows that a scan returns, of a table too */
		pgstat_count_index_tuples(scan->ss_currentRelation, result->read_of_source[number]);
		/* of joins more rows may come than were read */
		InstrCountFiltered1(scan, result->read_of_source[number] - Min(result->rows_of_source[number], result->read_of_source[number]));
		/* a page that only tells of a row is the next to be read */
		if (sender->num_batches > 0 && reader->started)
			heap_reader_stop(reader);
	}
}

void
heap_sender_count(const heap_sender *sender, int64 *copied, int64 *kept)
{
	*copied = sender->copied_pages;
	*kept = sender->kept_pages;
}
