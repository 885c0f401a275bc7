/*
 * heap_sender.h
 *		Sends the pages of a heap reader's table to a GPU, in place of reading them.
 */
#ifndef MGPU_HEAP_SENDER_H
#define MGPU_HEAP_SENDER_H

#include "core/group_spec.h"

#include "scan/heap_reader.h"

typedef struct heap_sender heap_sender;

/* Make a sender, in the current context.  NULL: a row is needed for constants, and the table's first page has none. */
extern heap_sender *heap_sender_create(heap_reader *reader, bool needs_row);

/* The next batch of pages: a group_fill_fn (run/run_table.h), whose context is a sender. */
extern uint32 heap_sender_fill(void *context, char *memory, Size bytes);

/*
 * Release the pages that are held for the GPU.  To be called, in the form of an exit callback, if filling or the run
 * ends by an error.
 */
extern void heap_sender_release(int code, Datum sender);

/* The GPU has read all pages, or will use nothing of them.  How many rows it has looked at, and kept. */
extern void heap_sender_stop(heap_sender *sender, int64 num_rows, int64 num_kept);

/* Pages that were sent as copies; all that were read are in the reader's counts. */
extern int64 heap_sender_copied_pages(const heap_sender *sender);

#endif							/* MGPU_HEAP_SENDER_H */
