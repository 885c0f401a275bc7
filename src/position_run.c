/*
 * position_run.c
 *		Runs of elements that are put in order by themselves, each by one thread.
 *
 * A run fits a cache, about: its strings are looked up, each once, and their codes
 * are sorted with their places (core/order_codes.h).  Elements with equal codes are
 * put in order at once where they are few, by what follows in their strings; more
 * are a run of the next round, by the codes behind what all of them share.  What
 * is in order becomes positions, what is not stays references.
 *
 * Of long bit strings no more than a code is ever made, and those with equal codes
 * are compared as they are: whole strings would take longer to make than all the rest.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/order_codes.h"

#include "position_run.h"
#include "shared_prefix.h"

/* How many elements ahead to fetch. */
#define ELEMENTS_AHEAD 32

/* The same of those whose codes are equal, at a time. */
#define TIES_ITEMS 512

/* A thread's room for strings that are made, beside that for one; itself for one at least. */
#define ARENA_BYTES (256 * 1024)

/* Bytes of a thread's scratch an element. */
#define ITEM_BYTES (3 * sizeof(uint64) + 2 * sizeof(uint32))

/* A run that a thread is at, and its scratch. */
typedef struct bucket
{
	position_sort *sort;
	uint32		num_items;
	uint32		offset;
	uint64	   *codes;
	uint64	   *packed;
	mgpu_span  *spans;			/* of strings in the array; else of no use */
	uint32	   *refs;
	uint32	   *positions;
	bool		has_positions;	/* they have been kept */
	char	   *arena;			/* NULL, or for strings that are made */
	Size		arena_bytes;
} bucket;

static Size
arena_bytes(const element_codes *codes)
{
	if (codes->in_windows)
		return MGPU_CODE_BYTES;
	return codes->room_bytes > 0 ? ARENA_BYTES + codes->room_bytes : 0;
}

Size
position_run_bytes(const element_codes *codes, int64 num_items)
{
	return MAXALIGN(num_items * ITEM_BYTES) + 4 * MAXIMUM_ALIGNOF + MAXALIGN(arena_bytes(codes));
}

/* Few elements with more bytes together than an arena has, which are at least two thirds of what strings have. */
int64
position_long_runs(const element_codes *codes)
{
	return codes->room_bytes > 0 && !codes->in_windows ? codes->data_bytes / (ARENA_BYTES / 2) + 1 : 0;
}

static void
set_up(bucket *bucket, position_sort *sort, const position_run *run, int worker)
{
	char	   *scratch = sort->scratch + sort->worker_bytes * worker;
	uint32		num_items = run->num_items;

	bucket->sort = sort;
	bucket->num_items = num_items;
	bucket->offset = run->offset;
	bucket->codes = (uint64 *) scratch;
	bucket->packed = bucket->codes + num_items;
	bucket->spans = (mgpu_span *) (bucket->packed + num_items);
	bucket->refs = (uint32 *) (bucket->spans + num_items);
	bucket->positions = bucket->refs + num_items;
	bucket->arena_bytes = arena_bytes(&sort->codes);
	bucket->arena = bucket->arena_bytes > 0 ? (char *) MAXALIGN(bucket->positions + num_items) : NULL;
	memcpy(bucket->refs, sort->refs + run->first, num_items * sizeof(uint32));
	bucket->has_positions = (int64) run->first + num_items <= sort->num_kept;
	if (bucket->has_positions)
		bucket->positions = sort->kept + run->first;
}

/* items: not NULL.  Always inlined, or gcc drops calls of what only prefetches. */
__attribute__((always_inline)) static inline void
fetch_ahead(const bucket *bucket, uint32 i)
{
	const element_codes *codes = &bucket->sort->codes;
	uint32		ref;

	if (i + ELEMENTS_AHEAD >= bucket->num_items)
		return;
	ref = bucket->refs[i + ELEMENTS_AHEAD];
	__builtin_prefetch(element_at(codes, ref));
	__builtin_prefetch(element_at(codes, ref) + VARHDRSZ + bucket->offset + MGPU_CODE_BYTES - 1);
	if (codes->lines && !bucket->has_positions)
		__builtin_prefetch(&codes->lines[ref / ELEMENT_LINE_REFS]);
}

static void
load_keys(bucket *bucket)
{
	position_sort *sort = bucket->sort;

	for (uint32 i = 0; i < bucket->num_items; i++)
	{
		fetch_ahead(bucket, i);
		if (!element_key(&sort->codes, bucket->refs[i], &bucket->codes[i]))
			sort->failed = true;
		if (!bucket->has_positions)
			bucket->positions[i] = element_position(&sort->codes, bucket->refs[i]);
	}
}

static void
load_strings(bucket *bucket)
{
	position_sort *sort = bucket->sort;
	const element_codes *codes = &sort->codes;

	for (uint32 i = 0; i < bucket->num_items; i++)
	{
		byte_string string;

		fetch_ahead(bucket, i);
		bucket->codes[i] = element_code_behind(codes, bucket->refs[i], bucket->offset, bucket->arena, &string);
		if (bucket->arena == NULL)
			bucket->spans[i] = (mgpu_span) {string.bytes - codes->data, string.size};
		else if (string.size == 0)
			sort->failed = true;
		if (!bucket->has_positions)
			bucket->positions[i] = element_position(codes, bucket->refs[i]);
	}
}

static mgpu_byte_keys
strings_of(const bucket *bucket)
{
	const element_codes *codes = &bucket->sort->codes;

	return (mgpu_byte_keys) {codes->data, codes->data + codes->data_bytes, bucket->spans,
		codes->strings.counted, bucket->sort->descending};
}

/* Codes behind what all of the strings share.  False: they are all the same. */
static bool
skip_shared(bucket *bucket)
{
	mgpu_byte_keys keys = strings_of(bucket);
	byte_string first = {keys.data + bucket->spans[0].offset, bucket->spans[0].size};
	prefix_measure measure = {.first = first,.known = bucket->offset,.shared = first.size,.longest = first.size};

	for (uint32 i = 1; i < bucket->num_items; i++)
	{
		mgpu_span	span = bucket->spans[i];

		if (!prefix_measure_string(&measure, (byte_string) {keys.data + span.offset, span.size}))
			return true;
	}
	if (measure.shared == measure.longest)
		return false;
	bucket->offset = measure.shared;
	for (uint32 i = 0; i < bucket->num_items; i++)
		bucket->codes[i] = mgpu_byte_code(&keys, bucket->spans[i], measure.shared);
	return true;
}

/*
 * The same of strings that are made, before they have codes: two of them at a time, up
 * to the first that shares no more than was known.
 */
static bool
skip_made(bucket *bucket)
{
	const element_codes *codes = &bucket->sort->codes;
	byte_string first = element_string(codes, bucket->refs[0], bucket->arena);
	prefix_measure measure = {.first = first,.known = bucket->offset,.shared = first.size,.longest = first.size};

	for (uint32 i = 1; i < bucket->num_items; i++)
		if (!prefix_measure_string(&measure, element_string(codes, bucket->refs[i], bucket->arena + codes->room_bytes)))
			return true;
	if (measure.shared == measure.longest)
		return false;
	bucket->offset = measure.shared;
	return true;
}

/* Places of the elements in order, as far as codes say. */
static void
order_codes(bucket *bucket)
{
	if (bucket->sort->descending)
		for (uint32 i = 0; i < bucket->num_items; i++)
			bucket->codes[i] = ~bucket->codes[i];
	mgpu_order_codes_u64(bucket->codes, bucket->packed, bucket->num_items);
}

/* Few elements, whose strings are made once more, by what is behind offset.  False: they do not fit. */
static bool
order_made(bucket *bucket, uint32 *places, uint32 num_places, uint32 offset)
{
	const element_codes *codes = &bucket->sort->codes;
	mgpu_span	spans[MGPU_SHORT_RUN_ITEMS];
	uint32		order[MGPU_SHORT_RUN_ITEMS];
	uint32		old_places[MGPU_SHORT_RUN_ITEMS];
	mgpu_byte_keys keys = {bucket->arena, bucket->arena + bucket->arena_bytes, spans,
		codes->strings.counted, bucket->sort->descending};
	Size		made = 0;

	for (uint32 i = 0; i < num_places; i++)
	{
		uint32		size;

		if (bucket->arena_bytes - made < codes->room_bytes)
			return false;
		size = element_string(codes, bucket->refs[places[i]], bucket->arena + made).size;
		spans[i] = (mgpu_span) {made, size};
		made += size;
		order[i] = i;
		old_places[i] = places[i];
	}
	mgpu_byte_order_now(&keys, offset, order, num_places);
	for (uint32 i = 0; i < num_places; i++)
		places[i] = old_places[order[i]];
	return true;
}

/* Bit strings as they are, in the order that is asked for; equal ones in their own. */
static int
compare_bits(const element_codes *codes, uint32 a, uint32 b, bool descending)
{
	int			order = byte_compare_bits(element_value(codes, a), element_value(codes, b));

	if (order == 0)
		return a < b ? -1 : 1;
	return descending ? -order : order;
}

#define ST_SORT sort_places
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, bucket) \
	compare_bits(&(bucket)->sort->codes, (bucket)->refs[*(a)], (bucket)->refs[*(b)], (bucket)->sort->descending)
#define ST_COMPARE_ARG_TYPE const bucket
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Elements of one code.  False: they are for the next round. */
static bool
order_ties(bucket *bucket, uint32 *places, uint32 num_places)
{
	position_sort *sort = bucket->sort;
	mgpu_byte_keys keys = strings_of(bucket);
	uint64		code = bucket->codes[places[0]];
	uint32		offset = bucket->offset + mgpu_code_step(&keys);

	if (sort->codes.by_keys || mgpu_code_decides(&keys, sort->descending ? ~code : code))
		return true;
	if (num_places > MGPU_SHORT_RUN_ITEMS)
		return false;
	if (sort->codes.in_windows)
	{
		sort_places(places, num_places, bucket);
		return true;
	}
	if (bucket->arena)
		return order_made(bucket, places, num_places, offset);
	mgpu_byte_order_now(&keys, offset, places, num_places);
	return true;
}

/* Elements of one code, which are places begin to end in order. */
static void
finish_ties(bucket *bucket, uint32 first, uint32 begin, uint32 end)
{
	position_sort *sort = bucket->sort;
	uint64		mask = mgpu_order_mask(bucket->num_items);
	uint32	   *places = (uint32 *) (bucket->packed + begin);
	const uint32 *found = bucket->positions;
	mgpu_byte_keys keys = strings_of(bucket);

	for (uint32 i = begin; i < end; i++)
		places[i - begin] = bucket->packed[i] & mask;
	if (!order_ties(bucket, places, end - begin))
	{
		found = bucket->refs;
		position_sort_next(sort, (position_run) {first + begin, end - begin,
			bucket->offset + mgpu_code_step(&keys), POSITION_RUN_ALIKE});
	}
	for (uint32 i = begin; i < end; i++)
		sort->refs[first + i] = found[places[i - begin]];
}

/* Elements of equal codes that are fetched before the first of them is looked at. */
typedef struct tie_batch
{
	uint32		num_items;
	uint32		num_ties;
	struct
	{
		uint32		begin;
		uint32		end;
	}			ties[TIES_ITEMS / 2];
} tie_batch;

static void
finish_batch(bucket *bucket, uint32 first, tie_batch *batch)
{
	for (uint32 i = 0; i < batch->num_ties; i++)
		finish_ties(bucket, first, batch->ties[i].begin, batch->ties[i].end);
	batch->num_ties = 0;
	batch->num_items = 0;
}

static void
add_ties(bucket *bucket, uint32 first, tie_batch *batch, uint32 begin, uint32 end)
{
	const element_codes *codes = &bucket->sort->codes;
	uint64		mask = mgpu_order_mask(bucket->num_items);

	if (end - begin > TIES_ITEMS || codes->by_keys)
	{
		finish_ties(bucket, first, begin, end);
		return;
	}
	if (batch->num_items + end - begin > TIES_ITEMS)
		finish_batch(bucket, first, batch);
	for (uint32 i = begin; i < end; i++)
		__builtin_prefetch(element_at(codes, bucket->refs[bucket->packed[i] & mask]) + VARHDRSZ + bucket->offset +
						   MGPU_CODE_BYTES);
	batch->ties[batch->num_ties].begin = begin;
	batch->ties[batch->num_ties++].end = end;
	batch->num_items += end - begin;
}

/*
 * The run's elements in order.  Where codes differ is mostly seen from what is
 * packed with the places: equal codes have equal prefixes there.
 */
static void
finish(bucket *bucket, uint32 first)
{
	uint32	   *out = bucket->sort->refs + first;
	const uint64 *packed = bucket->packed;
	uint64		mask = mgpu_order_mask(bucket->num_items);
	tie_batch	batch;

	batch.num_items = 0;
	batch.num_ties = 0;
	for (uint32 begin = 0, end; begin < bucket->num_items; begin = end)
	{
		uint32		place = packed[begin] & mask;

		for (end = begin + 1; end < bucket->num_items && (packed[end] ^ packed[begin]) <= mask &&
			 bucket->codes[packed[end] & mask] == bucket->codes[place];)
			end++;
		if (end == begin + 1)
			out[begin] = bucket->positions[place];
		else
			add_ties(bucket, first, &batch, begin, end);
	}
	finish_batch(bucket, first, &batch);
}

static void
to_positions(position_sort *sort, const position_run *run)
{
	uint32	   *refs = sort->refs + run->first;

	for (uint32 i = 0; i < run->num_items; i++)
		refs[i] = element_position(&sort->codes, refs[i]);
}

void
position_run_task(void *context, uint64 task, int worker)
{
	position_sort *sort = context;
	const position_run *run = &sort->runs[task];
	bucket		bucket;

	if (run->num_items > sort->run_items)
		return;
	if (run->kind == POSITION_RUN_SAME || run->num_items == 1)
	{
		to_positions(sort, run);
		return;
	}
	set_up(&bucket, sort, run, worker);
	if (run->kind == POSITION_RUN_ALIKE && bucket.arena && !sort->codes.in_windows && !skip_made(&bucket))
	{
		to_positions(sort, run);
		return;
	}
	if (sort->codes.by_keys)
		load_keys(&bucket);
	else
		load_strings(&bucket);
	if (run->kind == POSITION_RUN_ALIKE && bucket.arena == NULL && !skip_shared(&bucket))
	{
		to_positions(sort, run);
		return;
	}
	order_codes(&bucket);
	finish(&bucket, run->first);
}

/* ---- whole strings */

typedef struct comparison
{
	const element_codes *codes;
	bool		descending;
	char	   *room;			/* NULL, or for two strings that are made */
} comparison;

static int
compare_refs(const uint32 *a, const uint32 *b, const comparison *with)
{
	const element_codes *codes = with->codes;
	byte_string x;
	byte_string y;
	int			order;

	if (codes->in_windows)
		return compare_bits(codes, *a, *b, with->descending);
	x = element_string(codes, *a, with->room);
	y = element_string(codes, *b, with->room ? with->room + codes->room_bytes : NULL);
	order = memcmp(x.bytes, y.bytes, Min(x.size, y.size));
	if (order == 0)
		order = (x.size > y.size) - (x.size < y.size);
	if (with->descending)
		order = -order;
	return order != 0 ? order : *a < *b ? -1 : 1;
}

#define ST_SORT sort_refs
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, with) compare_refs(a, b, with)
#define ST_COMPARE_ARG_TYPE const comparison
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

void
position_run_compare(position_sort *sort, const position_run *run)
{
	comparison	with = {&sort->codes, sort->descending, NULL};

	if (sort->codes.room_bytes > 0 && !sort->codes.in_windows)
		with.room = palloc(2 * sort->codes.room_bytes);
	sort_refs(sort->refs + run->first, run->num_items, &with);
	if (with.room)
		pfree(with.room);
	to_positions(sort, run);
}
