/*
 * byte_keys.h
 *		Order of byte strings, in rounds of 64-bit codes that executors sort.
 *
 * A round takes runs of strings that begin alike and gives each string a code:
 * its next bytes behind those that its run shares, as a big-endian number.  When
 * the codes of each run are sorted, strings with equal codes are runs of the
 * next round; short runs are put in order at once.  Here is all of a round but
 * the sort itself, as tasks that threads can share; whoever drives the rounds
 * has the codes sorted in between, by whatever executor it likes.
 *
 * Rejected: comparing whole strings in a mergesort (each comparison misses the
 * cache twice, log2(n) times a string), and radix sort by single bytes (as many
 * passes as there are bytes, each with its own scatter).  Skipping what a run
 * shares is what keeps paths and numbered names from falling off a cliff.
 */
#ifndef MGPU_BYTE_KEYS_H
#define MGPU_BYTE_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sizes.h"

/* A string: bytes of some region, from offset on. */
typedef struct mgpu_span
{
	uint32_t	offset;
	uint32_t	size;
} mgpu_span;

/*
 * Strings, ordered as memcmp does, a shorter one before those that it begins.
 * All memory is the caller's.
 */
typedef struct mgpu_byte_keys
{
	const char *data;
	const char *data_end;		/* nothing is read from here on */
	const mgpu_span *spans;

	/*
	 * Whether strings may have zero bytes; codes then say in their last byte how
	 * many bytes they have.
	 */
	bool		counted;
	bool		descending;		/* ties keep their order either way */
} mgpu_byte_keys;

#define MGPU_CODE_BYTES 8

/* Bytes of a string that a code has. */
static inline uint32_t
mgpu_code_step(const mgpu_byte_keys *keys)
{
	return keys->counted ? MGPU_CODE_BYTES - 1 : MGPU_CODE_BYTES;
}

static inline uint64_t
mgpu_byte_code(const mgpu_byte_keys *keys, mgpu_span span, uint32_t offset)
{
	uint32_t	rest = span.size > offset ? span.size - offset : 0;
	const char *bytes = keys->data + span.offset + offset;
	uint64_t	code = 0;

	if (rest == 0)
		return 0;
	if (rest > MGPU_CODE_BYTES)
		rest = MGPU_CODE_BYTES;
	/* what lies behind the string is shifted out */
	if (keys->data_end - bytes >= MGPU_CODE_BYTES)
		memcpy(&code, bytes, sizeof(code));
	else
		memcpy(&code, bytes, rest);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	code = __builtin_bswap64(code);
#endif
	code &= ~UINT64_C(0) << (64 - 8 * rest);
	return keys->counted ? (code & ~UINT64_C(0xFF)) | rest : code;
}

/* Whether strings that have this code and share what is before it are the same. */
static inline bool
mgpu_code_decides(const mgpu_byte_keys *keys, uint64_t code)
{
	/* all ended: by the count, or by a zero byte, which is in none of them */
	return keys->counted ? (code & 0xFF) < MGPU_CODE_BYTES : (code & 0xFF) == 0;
}

/* Strings that share what is before offset; places are of the order array. */
typedef struct mgpu_byte_run
{
	uint32_t	place;
	uint32_t	num_items;
	uint32_t	offset;
	_Atomic uint32_t shared;	/* bytes that all begin with, offset or more */
	_Atomic uint32_t longest;	/* bytes */
} mgpu_byte_run;

/* Runs up to this length are put in order at once, by comparison. */
#define MGPU_SHORT_RUN_ITEMS 256

/* Items of one task, about, and segments at most. */
#define MGPU_BYTE_TASK_ITEMS MGPU_SIZE(16384, 512)
#define MGPU_BYTE_TASK_SEGMENTS MGPU_SIZE(1024, 32)

/*
 * A round.  Its runs' items are laid end to end: heads[i] is where those of run
 * i begin, and codes, sorted, items and indices are in that order.
 */
typedef struct mgpu_byte_round
{
	mgpu_byte_keys keys;
	uint32_t   *order;			/* items of all places, in their order so far */

	mgpu_byte_run *runs;
	uint32_t   *heads;
	uint32_t	num_runs;
	uint64_t	num_items;

	uint64_t   *codes;			/* encode makes them */
	uint32_t   *items;			/* encode: the item of each code; or NULL */
	const uint64_t *sorted;		/* codes in order */
	const uint32_t *indices;	/* where among codes each one was */

	/* Long runs of strings that are still alike, for the next round. */
	mgpu_byte_run *next_runs;	/* room: mgpu_byte_next_runs of the items */
	_Atomic uint32_t num_next_runs;
} mgpu_byte_round;

/* At most so many long runs are among so many items. */
static inline uint64_t
mgpu_byte_next_runs(uint64_t num_items)
{
	return num_items / (MGPU_SHORT_RUN_ITEMS + 1) + 1;
}

/* Tasks of a round that are numbered by its items. */
static inline uint64_t
mgpu_byte_tasks(const mgpu_byte_round *round)
{
	return (round->num_items + MGPU_BYTE_TASK_ITEMS - 1) / MGPU_BYTE_TASK_ITEMS;
}

/*
 * Tasks, context a round, in this order; all of one before the next.  Nothing is
 * to be permuted where indices were written to order itself, which takes a round
 * of all items at their own places.
 */
void		mgpu_byte_measure_task(void *context, uint64_t task, int worker);
void		mgpu_byte_encode_task(void *context, uint64_t task, int worker);
void		mgpu_byte_permute_task(void *context, uint64_t task, int worker);
void		mgpu_byte_split_task(void *context, uint64_t task, int worker);

/* The last run that begins at this code or before. */
uint32_t	mgpu_byte_run_of(const mgpu_byte_round *round, uint64_t code);

/*
 * Segments that are not to be mixed, as long runs of the first round or in order
 * at once: those of up to short_items, at most MGPU_SHORT_RUN_ITEMS.  order holds
 * each item at its own place.
 */
typedef struct mgpu_byte_segments
{
	mgpu_byte_round *round;
	const uint32_t *heads;
	uint64_t	num_segments;
	uint64_t	num_items;
	uint32_t	short_items;
} mgpu_byte_segments;

/* Segments of one task: by the average, which some may be far above. */
static inline uint64_t
mgpu_byte_task_segments(const mgpu_byte_segments *segments)
{
	uint64_t	task_segments = segments->num_segments * MGPU_BYTE_TASK_ITEMS / (segments->num_items + 1) + 1;

	return task_segments < MGPU_BYTE_TASK_SEGMENTS ? task_segments : MGPU_BYTE_TASK_SEGMENTS;
}

static inline uint64_t
mgpu_byte_segment_tasks(const mgpu_byte_segments *segments)
{
	uint64_t	task_segments = mgpu_byte_task_segments(segments);

	return (segments->num_segments + task_segments - 1) / task_segments;
}

/* A task, context mgpu_byte_segments: fills the round's next_runs. */
void		mgpu_byte_segments_task(void *context, uint64_t task, int worker);

/* Set runs up for measuring: heads, and what measuring fills in. */
void		mgpu_byte_round_start(mgpu_byte_round *round);

/*
 * After measuring: runs whose strings are all the same are in order and leave
 * the round; each other run's offset skips what its strings share.
 */
void		mgpu_byte_round_narrow(mgpu_byte_round *round);

/*
 * Stable order of items that share what is before offset, by comparison; at
 * most MGPU_SHORT_RUN_ITEMS.
 */
void		mgpu_byte_order_now(const mgpu_byte_keys *keys, uint32_t offset,
								uint32_t *items, uint32_t num_items);

/* memcmp's answer for two strings from offset on, the shorter one first. */
static inline int
mgpu_byte_compare(const mgpu_byte_keys *keys, mgpu_span a, mgpu_span b, uint32_t offset)
{
	uint32_t	common = a.size < b.size ? a.size : b.size;
	int			order = 0;

	if (common > offset)
		order = memcmp(keys->data + a.offset + offset, keys->data + b.offset + offset, common - offset);
	if (order == 0)
		order = (a.size > b.size) - (a.size < b.size);
	return order;
}

#endif							/* MGPU_BYTE_KEYS_H */
