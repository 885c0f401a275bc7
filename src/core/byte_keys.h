/*
 * byte_keys.h
 *		Order of byte strings, in rounds of sorts of 64-bit codes.
 *
 * A round takes runs of strings with a common prefix.  A string's code is its next
 * bytes behind that prefix, as a big-endian number.  The caller has an executor sort
 * the codes of each run.  Strings with equal codes form the runs of the next round;
 * short runs are ordered at once by comparison.  This file has every step of a round
 * but the sort, as tasks for threads.
 *
 * Rejected: a mergesort that compares whole strings (each comparison misses the
 * cache twice, log2(n) times a string), and a radix sort by single bytes (one
 * scatter pass for each byte).  Skipping common prefixes keeps paths and numbered
 * names fast.
 */
#ifndef MGPU_BYTE_KEYS_H
#define MGPU_BYTE_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sizes.h"

/* A string: size bytes of a region, from offset on. */
typedef struct mgpu_span
{
	uint32_t	offset;
	uint32_t	size;
} mgpu_span;

/*
 * The strings of a sort.  They order as memcmp does; a string comes before all
 * longer ones that begin with it.  All memory is the caller's.
 */
typedef struct mgpu_byte_keys
{
	const char *data;
	const char *data_end;		/* nothing is read from here on */
	const mgpu_span *spans;

	/*
	 * Whether strings may contain zero bytes.  If so, the last byte of a code counts
	 * the string's bytes from the code's offset on, at most 8.
	 */
	bool		counted;
	bool		descending;		/* ties keep their order either way */
} mgpu_byte_keys;

#define MGPU_CODE_BYTES 8

/* Bytes of a string in one code. */
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
	/* bytes behind the string are masked out */
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

/* Whether strings with this code that are equal before it are equal as a whole. */
static inline bool
mgpu_code_decides(const mgpu_byte_keys *keys, uint64_t code)
{
	/* if they end within the code: the count says so, or a zero byte, which no string contains */
	return keys->counted ? (code & 0xFF) < MGPU_CODE_BYTES : (code & 0xFF) == 0;
}

/* A run: strings that are equal before offset.  place is its first entry in the order array. */
typedef struct mgpu_byte_run
{
	uint32_t	place;
	uint32_t	num_items;
	uint32_t	offset;
	_Atomic uint32_t shared;	/* length of the common prefix, offset or more */
	_Atomic uint32_t longest;	/* length of the longest string */
} mgpu_byte_run;

/* Runs up to this length are ordered at once, by comparison. */
#define MGPU_SHORT_RUN_ITEMS 256

/* Approximate number of items of one task, and most segments. */
#define MGPU_BYTE_TASK_ITEMS MGPU_SIZE(16384, 512)
#define MGPU_BYTE_TASK_SEGMENTS MGPU_SIZE(1024, 32)

/*
 * A round.  The items of its runs are laid end to end, those of run i from heads[i]
 * on.  codes, sorted, items and indices have that order.
 */
typedef struct mgpu_byte_round
{
	mgpu_byte_keys keys;
	uint32_t   *order;			/* item at each place, in the order so far */

	mgpu_byte_run *runs;
	uint32_t   *heads;
	uint32_t	num_runs;
	uint64_t	num_items;

	uint64_t   *codes;			/* written by encode tasks */
	uint32_t   *items;			/* item of each code, written by encode tasks; or NULL */
	const uint64_t *sorted;		/* codes in order */
	const uint32_t *indices;	/* position in codes of each sorted code */

	/* Long runs of strings with equal codes, for the next round. */
	mgpu_byte_run *next_runs;	/* array of mgpu_byte_next_runs(num_items) */
	_Atomic uint32_t num_next_runs;
} mgpu_byte_round;

/* Most long runs among num_items items. */
static inline uint64_t
mgpu_byte_next_runs(uint64_t num_items)
{
	return num_items / (MGPU_SHORT_RUN_ITEMS + 1) + 1;
}

/* Number of measure, encode, permute and split tasks of a round. */
static inline uint64_t
mgpu_byte_tasks(const mgpu_byte_round *round)
{
	return (round->num_items + MGPU_BYTE_TASK_ITEMS - 1) / MGPU_BYTE_TASK_ITEMS;
}

/*
 * The tasks of a round, in this order; context is the round.  All tasks of one kind
 * end before the next kind begins.  Skip the permute tasks if the sort wrote its
 * indices to order itself, which requires a round of all items at their own places.
 */
void		mgpu_byte_measure_task(void *context, uint64_t task, int worker);
void		mgpu_byte_encode_task(void *context, uint64_t task, int worker);
void		mgpu_byte_permute_task(void *context, uint64_t task, int worker);
void		mgpu_byte_split_task(void *context, uint64_t task, int worker);

/* Number of the run that contains a code. */
uint32_t	mgpu_byte_run_of(const mgpu_byte_round *round, uint64_t code);

/*
 * Segments, each sorted by itself.  A segment longer than short_items (at most
 * MGPU_SHORT_RUN_ITEMS) becomes a run of the first round; a shorter one is ordered
 * at once.  order holds each item at its own place.
 */
typedef struct mgpu_byte_segments
{
	mgpu_byte_round *round;
	const uint32_t *heads;
	uint64_t	num_segments;
	uint64_t	num_items;
	uint32_t	short_items;
} mgpu_byte_segments;

/* Segments of one task, from their average length.  A task of long segments has more items. */
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

/*
 * A task that orders short segments and adds long ones to the round's next_runs.
 * context: mgpu_byte_segments.
 */
void		mgpu_byte_segments_task(void *context, uint64_t task, int worker);

/* Prepare a round's runs for the measure tasks: set heads, and clear what those tasks fill in. */
void		mgpu_byte_round_start(mgpu_byte_round *round);

/*
 * After the measure tasks: drop runs whose strings are all equal, and move each
 * other run's offset behind its common prefix.
 */
void		mgpu_byte_round_narrow(mgpu_byte_round *round);

/* Order items stably, by comparison: at most MGPU_SHORT_RUN_ITEMS, equal before offset. */
void		mgpu_byte_order_now(const mgpu_byte_keys *keys, uint32_t offset,
								uint32_t *items, uint32_t num_items);

/* memcmp of two strings from offset on; a string that begins the other one is smaller. */
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
