/*
 * held_pages.h
 *		Pages that stay in shared buffers while a GPU reads them.
 *
 * A page is held by a pin that no resource owner knows: only the count in the buffer's header is raised, under the header's lock,
 * as PostgreSQL 18 does while it reads a page asynchronously.  So the holder has to release it, whether its statement ends well,
 * by an error or with the session.
 *
 * PostgreSQL's own pins were rejected: of each the session keeps a record in two tables.  With a thousand pins held, that takes
 * longer than finding and checking the page.
 */
#ifndef MGPU_HELD_PAGES_H
#define MGPU_HELD_PAGES_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "core/group_spec.h"

typedef struct held_pages
{
	uint32		num_pages;
	Buffer		pages[MGPU_BATCH_PAGES];
} held_pages;

/* Hold a page that the caller has pinned, and take over the pin. */
extern void held_pages_add(held_pages *held, Buffer buffer);

/* Release all; they are of the relation's main fork. */
extern void held_pages_release(held_pages *held, Relation relation);

#endif							/* MGPU_HELD_PAGES_H */
