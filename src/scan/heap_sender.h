/*
 * heap_sender.h
 *		Sends the pages of a heap reader's table to a GPU, in place of reading them.
 */
#ifndef MGPU_HEAP_SENDER_H
#define MGPU_HEAP_SENDER_H

#include "core/group_spec.h"

#include "scan/heap_reader.h"

typedef struct heap_sender heap_sender;

/*
 * Make a sender of the pages of some readers, one after the other, in the current context.  NULL: a row is needed for constants, and
 * the first page of each table has none.  Known before the first batch are *num_shared: buffers that are read where they are, and
 * *keeps: whether questions about kept pages are answered.
 */
extern heap_sender *heap_sender_create(List *readers, bool needs_row, const uint64 *num_shared, const bool *keeps);

/* The next batch of pages, or a question: a group_fill_fn (run/run_table.h), whose context is a sender. */
extern uint32 heap_sender_fill(void *context, char *memory, Size bytes);

/*
 * Release the pages that are held for the GPU.  To be called, in the form of an exit callback, if filling or the run
 * ends by an error.
 */
extern void heap_sender_release(int code, Datum sender);

/* All pages have been read, and come once more. */
extern void heap_sender_restart(heap_sender *sender);

/* The GPU has read all pages, or will use nothing of them: then its result is zero. */
extern void heap_sender_stop(heap_sender *sender, const mgpu_group_result *result);

/* Pages that were sent as copies, or were not sent, since the GPU has them; all that were read are in the reader's counts. */
extern void heap_sender_count(const heap_sender *sender, int64 *copied, int64 *kept);

#endif							/* MGPU_HEAP_SENDER_H */
