/*
 * held_pages.c
 *		Pages that stay in shared buffers while a GPU reads them.
 */
#include "postgres.h"

#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "scan/held_pages.h"

void
held_pages_add(held_pages *held, Buffer buffer)
{
	BufferDesc *header = GetBufferDescriptor(buffer - 1);
	mgpu_buffer_state state = LockBufHdr(header);

	mgpu_unlock_buffer(header, state, 1);
	ReleaseBuffer(buffer);
	held->pages[held->num_pages++] = buffer;
}

/* Vacuum may wait for the last pin but its own.  A pin of PostgreSQL's that goes wakes it. */
static void
wake_waiter(Relation relation, BlockNumber block, Buffer buffer)
{
	if (ReadRecentBuffer(mgpu_locator(relation), MAIN_FORKNUM, block, buffer))
		ReleaseBuffer(buffer);
}

void
held_pages_release(held_pages *held, Relation relation)
{
	while (held->num_pages > 0)
	{
		Buffer		buffer = held->pages[--held->num_pages];
		BufferDesc *header = GetBufferDescriptor(buffer - 1);
		BlockNumber block = header->tag.blockNum;
		mgpu_buffer_state state = LockBufHdr(header);

		mgpu_unlock_buffer(header, state, -1);
		if ((state & BM_PIN_COUNT_WAITER) != 0)
			wake_waiter(relation, block, buffer);
	}
}
