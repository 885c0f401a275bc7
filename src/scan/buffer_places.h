/*
 * buffer_places.h
 *		In which shared buffer each block of a table was last seen by this session.
 *
 * PostgreSQL finds a block by a hash table of all buffers, where it misses the processor's caches three times: half a microsecond, longer
 * than a session takes for all else that it does with a page.  Here one array has the places of a table's blocks.  It lives as long as the session,
 * since most blocks stay where they are.  A place is a guess: who pins a buffer there has to check what block it has.
 *
 * To look only behind the buffer of the block before, as an earlier version did, finds blocks of tables that were loaded
 * into a server that had just started, and few others.
 */
#ifndef MGPU_BUFFER_PLACES_H
#define MGPU_BUFFER_PLACES_H

#include "storage/block.h"
#include "storage/buf.h"
#include "utils/relcache.h"

/* The places of one table's blocks. */
typedef struct buffer_places
{
	Buffer	   *buffers;		/* of the session */
	BlockNumber num_blocks;		/* 0: none are remembered */
	uint32		epoch;			/* of the arrays */
} buffer_places;

/* Changes when an array has moved or is gone. */
extern uint32 buffer_places_epoch;

/* Find or make the places of a table of so many blocks.  needs_all: most of them are about to be pinned. */
extern void buffer_places_start(buffer_places *places, Relation relation, BlockNumber num_blocks, bool needs_all);

static inline bool
buffer_places_have(const buffer_places *places, BlockNumber block)
{
	return block < places->num_blocks && places->epoch == buffer_places_epoch;
}

/* The buffer that a block was seen in, or InvalidBuffer. */
static inline Buffer
buffer_places_look(const buffer_places *places, BlockNumber block)
{
	return buffer_places_have(places, block) ? places->buffers[block] : InvalidBuffer;
}

static inline void
buffer_places_remember(const buffer_places *places, BlockNumber block, Buffer buffer)
{
	if (buffer_places_have(places, block))
		places->buffers[block] = buffer;
}

#endif							/* MGPU_BUFFER_PLACES_H */
