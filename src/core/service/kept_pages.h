/*
 * service/kept_pages.h
 *		Which pages a device has in its memory: the host's directory of them.
 *
 * Pages are kept in ranges, one in a frame of device memory each.  A range belongs to a stretch, the pages of one page of
 * PostgreSQL's visibility map, and has that map page's LSN of when its pages were kept: DESIGN.md says why a page with the
 * same LSN, whose bit is set, still has the same rows.  Sessions read maps.  Here bits and LSNs are numbers alone.
 *
 *	 look		a job asks for a stretch: it gets the frames, which pages of them count, and where it may store others
 *	 store		a page is sent that the device stores
 *	 confirm	the bits of the stretch once more, after its pages were looked at
 *	 publish	the kernels have ended well: confirmed pages count
 *	 release	no kernel reads the job's frames or writes to them any more
 *
 * A frame that a job holds is not given to another range.  One job at a time stores in a frame, and no place of it twice.
 */
#ifndef MGPU_SERVICE_KEPT_PAGES_H
#define MGPU_SERVICE_KEPT_PAGES_H

#include <stdatomic.h>

#include "core/group_spec.h"
#include "core/sizes.h"

/* Pages of a range: a bit each in a word. */
#define MGPU_KEPT_RANGE MGPU_SIZE(64, 32)

/* Pages of a stretch: two bits each in a page of the map, behind its header. */
#define MGPU_KEPT_STRETCH ((MGPU_PAGE_BYTES - 24) * 4)
#define MGPU_KEPT_RANGES ((MGPU_KEPT_STRETCH + MGPU_KEPT_RANGE - 1) / MGPU_KEPT_RANGE)

#define MGPU_KEPT_FRAME_BYTES ((uint64_t) MGPU_KEPT_RANGE * MGPU_PAGE_BYTES)

/* Tables that pages are kept of at a time. */
#define MGPU_KEPT_RELATIONS 1024

/* A table's file. */
typedef struct mgpu_kept_tag
{
	uint32_t	tablespace;
	uint32_t	database;
	uint32_t	relation;		/* its number, not its OID */
} mgpu_kept_tag;

/* What others may know of a table.  The host alone writes, but for is_dropped. */
typedef struct mgpu_kept_relation
{
	_Atomic uint32_t num_frames;	/* 0: the entry is free */
	_Atomic uint32_t tablespace;
	_Atomic uint32_t database;
	_Atomic uint32_t relation;
	_Atomic uint32_t is_dropped;	/* somebody wants its pages to go */
	_Atomic uint64_t num_pages; /* that count */
	_Atomic uint64_t num_hits;	/* pages that were read here */
	_Atomic int64_t kept_at;	/* seconds since 1970, when the first page came ... */
	_Atomic int64_t read_at;	/* ... and when a job asked last */
} mgpu_kept_relation;

typedef enum mgpu_kept_request
{
	MGPU_KEPT_LOOK = 1,
	MGPU_KEPT_CONFIRM			/* of the stretch of the last look */
} mgpu_kept_request;

/* A range as a job sees it. */
typedef struct mgpu_kept_range
{
	uint64_t	bits;			/* in: pages whose bit is set; out: those among them that are kept */
	uint32_t	frame;			/* out */
	uint32_t	may_store;		/* out: 0 or 1; if it is 0 and there are no bits, there is no frame */
} mgpu_kept_range;

/* What a session writes to an extent, and the host answers there. */
typedef struct mgpu_kept_question
{
	uint32_t	request;		/* mgpu_kept_request */
	uint32_t	stretch;		/* its number */
	mgpu_kept_tag tag;
	uint64_t	lsn;
	mgpu_kept_range ranges[MGPU_KEPT_RANGES];
} mgpu_kept_question;

/* The frames that a job holds. */
typedef struct mgpu_kept_holder
{
	uint32_t   *frames;
	uint32_t	num_frames;
	uint32_t	capacity;
	uint32_t	first;			/* of those of the last look */
} mgpu_kept_holder;

typedef struct mgpu_kept_pages mgpu_kept_pages;

/* relations: MGPU_KEPT_RELATIONS of them, all free from now on.  NULL: no memory. */
mgpu_kept_pages *mgpu_kept_create(uint32_t num_frames, mgpu_kept_relation *relations);
void		mgpu_kept_free(mgpu_kept_pages *kept);	/* NULL is allowed */

void		mgpu_kept_look(mgpu_kept_pages *kept, mgpu_kept_holder *holder, mgpu_kept_question *question);

/*
 * Line pointers of a kept page, whose number counts from 1 on: frame * MGPU_KEPT_RANGE + place + 1.  false: it is not held, or does
 * not count.
 */
bool		mgpu_kept_find(mgpu_kept_pages *kept, uint32_t number, uint16_t *num_items);

/* Whether a job's page with so many line pointers may be stored there. */
bool		mgpu_kept_store(mgpu_kept_pages *kept, const mgpu_kept_holder *holder, uint32_t number, uint16_t num_items);

/* bits: of the pages of the last look that are known to have had the same rows all the time. */
void		mgpu_kept_confirm(mgpu_kept_pages *kept, const mgpu_kept_holder *holder, const mgpu_kept_question *question);

void		mgpu_kept_publish(mgpu_kept_pages *kept, const mgpu_kept_holder *holder);
void		mgpu_kept_release(mgpu_kept_pages *kept, mgpu_kept_holder *holder);

/* Forget the pages of relations that are to be dropped. */
void		mgpu_kept_drop(mgpu_kept_pages *kept);

#endif							/* MGPU_SERVICE_KEPT_PAGES_H */
