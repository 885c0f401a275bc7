/*
 * byte_keys.c
 *		The tasks of a round: common prefixes, codes, and the new order.  See
 *		byte_keys.h.
 *
 * A task takes a fixed number of the round's items, so it may begin and end within
 * a run.  A run's common prefix is the shortest one that any task found in it.
 * Strings lie anywhere in memory, so they are prefetched some items ahead.
 */
#include "byte_keys.h"

/* Prefetch distances, in items. */
#define SPANS_AHEAD 32
#define STRINGS_AHEAD 16

/* A task's part of one run: codes [begin, end) of the round. */
typedef struct stretch
{
	mgpu_byte_run *run;
	uint32_t	begin;
	uint32_t	end;
	uint32_t   *places;			/* entries of the order array, from begin on */
} stretch;

typedef void (*stretch_fn) (mgpu_byte_round *round, const stretch *piece);

uint32_t
mgpu_byte_run_of(const mgpu_byte_round *round, uint64_t code)
{
	uint32_t	first = 0;
	uint32_t	length = round->num_runs;

	while (length > 1)
	{
		uint32_t	half = length / 2;

		if (round->heads[first + half] <= code)
		{
			first += half;
			length -= half;
		}
		else
			length = half;
	}
	return first;
}

static void
for_stretches(mgpu_byte_round *round, uint64_t task, stretch_fn function)
{
	uint64_t	begin = task * MGPU_BYTE_TASK_ITEMS;
	uint64_t	end = begin + MGPU_BYTE_TASK_ITEMS;

	if (end > round->num_items)
		end = round->num_items;
	for (uint32_t i = mgpu_byte_run_of(round, begin); begin < end; i++)
	{
		mgpu_byte_run *run = &round->runs[i];
		uint64_t	run_end = (uint64_t) round->heads[i] + run->num_items;
		stretch		piece = {run, (uint32_t) begin, (uint32_t) (run_end < end ? run_end : end), NULL};

		piece.places = round->order + run->place + (piece.begin - round->heads[i]);
		function(round, &piece);
		begin = piece.end;
	}
}

/*
 * Prefetch the span and the string of later items.  gcc assumes that a function that
 * only prefetches has no effect and drops its calls, unless the function is always
 * inlined.
 */
__attribute__((always_inline)) static inline void
fetch_ahead(const mgpu_byte_keys *keys, const uint32_t *items, uint32_t i, uint32_t num_items, uint32_t offset)
{
	if (i + SPANS_AHEAD < num_items)
		__builtin_prefetch(&keys->spans[items[i + SPANS_AHEAD]]);
	if (i + STRINGS_AHEAD < num_items)
		__builtin_prefetch(keys->data + keys->spans[items[i + STRINGS_AHEAD]].offset + offset);
}

/* Length of the common prefix, at most `most` bytes. */
static uint32_t
common_bytes(const char *a, const char *b, uint32_t most)
{
	uint32_t	i = 0;

	for (; i + sizeof(uint64_t) <= most; i += sizeof(uint64_t))
	{
		uint64_t	x,
					y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		if (x != y)
			break;
	}
	while (i < most && a[i] == b[i])
		i++;
	return i;
}

static void
lower(_Atomic uint32_t *least, uint32_t value)
{
	uint32_t	seen = atomic_load(least);

	while (value < seen && !atomic_compare_exchange_weak(least, &seen, value))
		;
}

static void
raise(_Atomic uint32_t *most, uint32_t value)
{
	uint32_t	seen = atomic_load(most);

	while (value > seen && !atomic_compare_exchange_weak(most, &seen, value))
		;
}

/*
 * The search ends at a string that differs right behind the run's offset.  The
 * prefix cannot become shorter, and longest > shared already says that the strings
 * are not all equal.
 */
static void
measure_stretch(mgpu_byte_round *round, const stretch *piece)
{
	const mgpu_byte_keys *keys = &round->keys;
	mgpu_byte_run *run = piece->run;
	mgpu_span	first = keys->spans[round->order[run->place]];
	uint32_t	num_items = piece->end - piece->begin;
	uint32_t	shared = atomic_load(&run->shared);
	uint32_t	longest = 0;

	for (uint32_t i = 0; i < num_items; i++)
	{
		mgpu_span	span = keys->spans[piece->places[i]];
		uint32_t	most = span.size < shared ? span.size : shared;

		fetch_ahead(keys, piece->places, i, num_items, run->offset);
		if (span.size > longest)
			longest = span.size;
		shared = run->offset;
		if (most > run->offset)
			shared += common_bytes(keys->data + first.offset + run->offset,
								   keys->data + span.offset + run->offset, most - run->offset);
		if (shared == run->offset && longest > shared)
			break;
	}
	lower(&run->shared, shared);
	raise(&run->longest, longest);
}

void
mgpu_byte_measure_task(void *context, uint64_t task, int worker)
{
	for_stretches(context, task, measure_stretch);
}

static void
encode_stretch(mgpu_byte_round *round, const stretch *piece)
{
	const mgpu_byte_keys *keys = &round->keys;
	uint32_t	offset = piece->run->offset;
	uint32_t	num_items = piece->end - piece->begin;

	for (uint32_t i = 0; i < num_items; i++)
	{
		uint32_t	item = piece->places[i];

		fetch_ahead(keys, piece->places, i, num_items, offset);
		round->codes[piece->begin + i] = mgpu_byte_code(keys, keys->spans[item], offset);
		if (round->items)
			round->items[piece->begin + i] = item;
	}
}

void
mgpu_byte_encode_task(void *context, uint64_t task, int worker)
{
	for_stretches(context, task, encode_stretch);
}

/* Write the sorted items to the places of their run. */
static void
permute_stretch(mgpu_byte_round *round, const stretch *piece)
{
	for (uint32_t i = piece->begin; i < piece->end; i++)
		piece->places[i - piece->begin] = round->items[round->indices[i]];
}

void
mgpu_byte_permute_task(void *context, uint64_t task, int worker)
{
	for_stretches(context, task, permute_stretch);
}

void
mgpu_byte_round_start(mgpu_byte_round *round)
{
	uint64_t	head = 0;

	for (uint32_t i = 0; i < round->num_runs; i++)
	{
		mgpu_byte_run *run = &round->runs[i];

		round->heads[i] = (uint32_t) head;
		head += run->num_items;
		atomic_store(&run->shared, round->keys.spans[round->order[run->place]].size);
		atomic_store(&run->longest, 0);
	}
	round->num_items = head;
	atomic_store(&round->num_next_runs, 0);
}

void
mgpu_byte_round_narrow(mgpu_byte_round *round)
{
	uint32_t	kept = 0;
	uint64_t	head = 0;

	for (uint32_t i = 0; i < round->num_runs; i++)
	{
		const mgpu_byte_run *run = &round->runs[i];
		uint32_t	shared = atomic_load(&run->shared);
		uint32_t	longest = atomic_load(&run->longest);

		if (shared == longest)
			continue;
		round->runs[kept].place = run->place;
		round->runs[kept].num_items = run->num_items;
		round->runs[kept].offset = shared;
		round->heads[kept++] = (uint32_t) head;
		head += run->num_items;
	}
	round->num_runs = kept;
	round->num_items = head;
}
