/*
 * service/slot.h
 *		What clients and the host of a service share: slots, messages and extents.
 *
 * A client (client.h) is one thread that has a job done, a PostgreSQL backend.  The
 * host (host.h) is the one thread that drives the devices.  Both are in one process,
 * or in two that share this memory:
 *
 *	 control | doorbells | slot 0 | slot 1 | ... | extent 0 | extent 1 | ...
 *
 * A client has a slot of its own.  The slot's state is one word:
 *
 *	 FREE ── client writes job, empties both mailboxes ── OPEN ── client: done, cancelled
 *	   ^                                                             or dying
 *	   └── host: no copy is under way, extents are taken back ── CLOSING
 *
 * In OPEN each side sends messages through a mailbox that it alone writes:
 *
 *	 client					host
 *	   (OPEN)		────►	 checks the job, waits for extents and device memory
 *				◄────	OPENED
 *				◄────	EXTENT e		e is the client's, to fill
 *	 ASK e		────►	 a job that groups pages: e has a question about kept pages (kept_pages.h)
 *				◄────	ANSWER e		which e has now, and is still the client's
 *	 INPUT e	────►	 uploads e; then EXTENT e again
 *	 SUBMIT		────►	 all extents are the host's; kernels; downloads
 *				◄────	SIZES			a job that groups pages
 *				◄────	OUTPUT e		e is the client's, to read
 *	 EMPTY e	────►	 downloads more into e
 *				◄────	DONE			behind the last OUTPUT;  or FAILED, at any time
 *
 * So an extent has one owner at any time, and its bytes are handed over with the
 * message that names it.  Only the host gives extents out, so there is no lock that
 * a dying client could hold, and what a slot has is known without asking it.
 *
 * Memory order.  A mailbox's `sent` is stored after the message is written and loaded
 * with acquire before it is read; `state` is handled the same way.  `sent`, doorbells and the sleeping
 * flags are sequentially consistent where one side goes to sleep: who sends stores the
 * message, then looks whether the other sleeps; who goes to sleep stores that, then
 * looks for messages again.  So one of both sees the other.
 *
 * A host that ends leaves slots as they are.  The next one has another generation,
 * takes no messages of a slot of an older one, and gives out none of its extents until
 * the slot is CLOSING, since a client may be writing to them.
 *
 * A free list under a lock was rejected: a client that dies with the lock held ends
 * the service.  Messages in one queue for all were rejected: a full one blocks all.
 */
#ifndef MGPU_SERVICE_SLOT_H
#define MGPU_SERVICE_SLOT_H

#include <stdatomic.h>

#include "core/engine.h"
#include "core/service/kept_pages.h"
#include "core/sizes.h"

/* Extents hold a slice of input or output.  What is in front of one is for readers (input_slot). */
#define MGPU_EXTENT_BYTES ((uint64_t) MGPU_SIZE(1024 * 1024, 4 * MGPU_PAGE_BYTES))
#define MGPU_EXTENT_HEADER_BYTES UINT64_C(4096)
#define MGPU_EXTENT_STRIDE (MGPU_EXTENT_HEADER_BYTES + MGPU_EXTENT_BYTES)

/* Copies of pages that fit in one. */
#define MGPU_EXTENT_COPIES ((MGPU_EXTENT_BYTES - MGPU_PAGE_COPIES_OFFSET) / MGPU_PAGE_BYTES)

_Static_assert(sizeof(mgpu_kept_question) <= MGPU_EXTENT_BYTES, "a question fits in an extent");

/* Most extents of one slot.  Eight keep a link and a reader busy. */
#define MGPU_SLOT_EXTENTS 8

/*
 * More than are unread at a time.  The most: a client that was slow to look after its SUBMIT has an
 * EXTENT and an OUTPUT of each extent to read, and the end.
 */
#define MGPU_MAILBOX_MESSAGES 32

typedef enum mgpu_message_kind
{
	MGPU_MESSAGE_INPUT = 1,		/* client: channel, extent, bytes */
	MGPU_MESSAGE_SUBMIT,
	MGPU_MESSAGE_EMPTY,			/* client: extent */
	MGPU_MESSAGE_ASK,			/* client, GROUP: extent */
	MGPU_MESSAGE_OPENED,
	MGPU_MESSAGE_EXTENT,		/* host: extent */
	MGPU_MESSAGE_ANSWER,		/* host, GROUP: extent */
	MGPU_MESSAGE_SIZES,			/* host, GROUP: the result is in the slot, and tells how large outputs are */
	MGPU_MESSAGE_OUTPUT,		/* host: channel (mgpu_output), extent, bytes; in order for each output */
	MGPU_MESSAGE_DONE,			/* stats are in the slot */
	MGPU_MESSAGE_FAILED			/* error and stats are in the slot */
} mgpu_message_kind;

typedef struct mgpu_message
{
	uint32_t	kind;			/* mgpu_message_kind */
	uint32_t	channel;		/* an input or an output */
	uint32_t	extent;
	uint32_t	bytes;
} mgpu_message;

/* Written by one side. */
typedef struct mgpu_mailbox
{
	_Alignas(64) _Atomic uint32_t sent;	/* messages since OPEN */
	mgpu_message messages[MGPU_MAILBOX_MESSAGES];	/* number n is at n % MGPU_MAILBOX_MESSAGES */
} mgpu_mailbox;

typedef enum mgpu_slot_state
{
	MGPU_SLOT_FREE = 0,
	MGPU_SLOT_OPEN,
	MGPU_SLOT_CLOSING
} mgpu_slot_state;

/* What the host does for a slot, for those who look on. */
typedef enum mgpu_slot_phase
{
	MGPU_PHASE_NONE = 0,
	MGPU_PHASE_QUEUED,			/* waits for extents or device memory */
	MGPU_PHASE_FILLING,			/* its input is uploaded */
	MGPU_PHASE_READY,			/* waits for the kernels of others */
	MGPU_PHASE_RUNNING,
	MGPU_PHASE_EMPTYING			/* its output is downloaded */
} mgpu_slot_phase;

typedef struct mgpu_slot		/* NOLINT: fields are grouped by who writes them, not by size */
{
	_Alignas(64) _Atomic uint32_t state;	/* mgpu_slot_state: arrows above */

	/* the client's, before OPEN */
	uint32_t	generation;		/* of the host that it opened the slot for */
	int64_t		owner;			/* process id */
	mgpu_job	job;
	mgpu_exec_options options;
	mgpu_group_spec group;		/* GROUP */
	_Atomic uint32_t client_sleeps;	/* the client's */
	mgpu_mailbox to_host;		/* the client's */

	/* the host's */
	mgpu_mailbox to_client;
	mgpu_error	error;			/* before FAILED */
	mgpu_run_stats stats;		/* before DONE and FAILED */
	mgpu_group_result group_result;	/* before SIZES */
	_Atomic int device;			/* -1: none yet */
	_Atomic uint32_t phase;		/* mgpu_slot_phase */
	_Atomic uint32_t num_extents;	/* given out to this slot ... */
	uint32_t	extents[MGPU_SLOT_EXTENTS];	/* ... until it is FREE; read by the next host */
} mgpu_slot;

/* One device, written by the host. */
typedef struct mgpu_service_device
{
	mgpu_device facts;			/* before `started` */
	_Atomic bool started;
	_Atomic uint64_t free_bytes;	/* of device memory, a few seconds ago */
	_Atomic uint64_t num_jobs;	/* that ended well */
	_Atomic uint64_t num_items;
	_Atomic uint64_t upload_bytes;
	_Atomic uint64_t download_bytes;
	_Atomic uint64_t kernel_us;
	_Atomic uint64_t load_us;	/* predicted work of the runs that wait for kernels or have them */
} mgpu_service_device;

typedef struct mgpu_service_control
{
	_Alignas(64) uint32_t num_slots;	/* these three are set once */
	uint32_t	num_extents;
	uint64_t	arena_offset;

	_Atomic uint32_t up;		/* the host takes jobs */
	_Atomic uint32_t generation;	/* hosts so far */
	_Atomic uint32_t host_sleeps;
	_Atomic uint32_t num_queued;	/* runs without extents */
	_Atomic uint32_t num_open;	/* runs with extents */
	_Atomic uint32_t used_extents;
	_Atomic uint64_t queued_us;	/* predicted work of the runs without extents */
	_Atomic uint64_t num_shared_pages;	/* pages that devices can read where they are, from the first on */
	_Atomic uint64_t kept_bytes;	/* of device memory for pages that stay there */
	_Atomic uint32_t num_kept_drops;	/* how often somebody wanted kept pages to go */
	mgpu_kept_relation kept_relations[MGPU_KEPT_RELATIONS];
	mgpu_service_device devices[MGPU_MAX_DEVICES];
	mgpu_error	last_failure;	/* why the last host ended, before it takes `up` back */
} mgpu_service_control;

/* The shared memory as one process sees it. */
typedef struct mgpu_service
{
	mgpu_service_control *control;
	_Atomic uint64_t *doorbells;	/* a bit for each slot with news for the host */
	mgpu_slot  *slots;
	char	   *arena;
} mgpu_service;

/* Bytes of the shared memory. */
uint64_t	mgpu_service_bytes(uint32_t num_slots, uint32_t num_extents);

/* Set up fresh memory, aligned to a page; and look at memory that was set up. */
void		mgpu_service_format(void *memory, uint32_t num_slots, uint32_t num_extents);
mgpu_service mgpu_service_attach(void *memory);

/* MGPU_EXTENT_BYTES, with MGPU_EXTENT_HEADER_BYTES in front. */
static inline char *
mgpu_extent(const mgpu_service *service, uint32_t extent)
{
	return service->arena + extent * MGPU_EXTENT_STRIDE + MGPU_EXTENT_HEADER_BYTES;
}

void		mgpu_send(mgpu_mailbox *mailbox, mgpu_message message);

/* Message number *received, and count it; false if it was not sent yet. */
bool		mgpu_receive(const mgpu_mailbox *mailbox, uint32_t *received, mgpu_message *message);

/* Tell the host to look at a slot.  Whether it sleeps and must be woken. */
bool		mgpu_ring_doorbell(const mgpu_service *service, uint32_t slot);

/* Leave the core to its other thread for a moment, in a loop that waits for another process. */
static inline void
mgpu_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Bytes that a job reads from an input, and writes to an output.  GROUP: its pages may be any, its spec tells
 * of the builds, and its result of outputs.
 */
uint64_t	mgpu_input_bytes(const mgpu_job *job, int input);
uint64_t	mgpu_output_bytes(const mgpu_job *job, mgpu_output output);
uint32_t	mgpu_input_width(const mgpu_job *job, int input);

#endif							/* MGPU_SERVICE_SLOT_H */
