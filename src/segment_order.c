/*
 * segment_order.c
 *		Order of many elements in their segments, as positions, by keys or strings
 *		that are made for some segments at a time.
 *
 * Keys of all elements, and all that belongs to strings, take far more than the
 * positions that are asked for, and segments have nothing to do with one another.
 * So a batch of whole segments at a time has keys, or strings, and a job sorts it.
 * A segment that is too long for that is sorted by itself (position_sort.h).
 *
 * Rejected: batches that end within a segment and are merged there, each of whose
 * merges misses the cache for each element.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "array_result.h"
#include "byte_order.h"
#include "compat.h"
#include "position_sort.h"
#include "run_series.h"
#include "segment_order.h"

/* Fewer elements' keys, and all that belongs to them, are no more than a call may have. */
#define LEAST_ITEMS (1024 * 1024)

/* Elements of a batch of several segments: of keys, and of strings, for which a round takes so many bytes each. */
#define KEYED_ITEMS (1024 * 1024)
#define STRING_ITEMS (512 * 1024)
#define STRING_ROOM_BYTES 26

/* Bytes of a batch's elements whose strings are made; a segment of more is sorted by itself. */
#define MOST_MADE_BYTES (8 * 1024 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct segment_order
{
	const sort_spec *spec;
	const segment_list *segments;
	array_source *source;
	const element_type *type;
	uint32	   *ranks;
	bool		by_keys;

	/* what is next: a segment, its first element, and the same as a walk */
	int64		segment;
	int64		first;
	byte_walk	walk;

	/* of a batch of up to room_items; NULL while there is none */
	int64		room_items;
	uint32	   *heads;
	int64	   *keys;
	byte_room	room;

	byte_order_call call;		/* of strings */
	run_series	series;			/* of keys */
} segment_order;

/* Whole segments from the next one on. */
typedef struct segment_batch
{
	int64		num_segments;
	int64		num_items;
	Size		num_bytes;
} segment_batch;

static int64
most_items(const segment_order *order)
{
	return order->by_keys ? KEYED_ITEMS : STRING_ITEMS;
}

/* Moves walk on by some elements.  False: one is not as arrays have them. */
static bool
pass(byte_walk *walk, int64 num_items)
{
	if (walk->type->stride > 0)
	{
		walk->offset += (Size) num_items * walk->type->stride;
		return true;
	}
	for (int64 i = 0; i < num_items; i++)
	{
		const char *value;
		uint32		size;

		if (!byte_walk_next(walk, &value, &size))
			return false;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* A batch of as many segments as there is room for, at least one.  False: likewise. */
static bool
next_batch(const segment_order *order, segment_batch *batch)
{
	const segment_list *segments = order->segments;
	bool		is_made = !order->by_keys && byte_form_is_made(order->type->byte_form);
	byte_walk	walk = order->walk;

	*batch = (segment_batch) {0, 0, 0};
	for (int64 i = order->segment; i < segments->num_segments; i++)
	{
		int64		num_items = segment_end(segments, i) - segments->heads[i];

		if (batch->num_segments > 0 && batch->num_items + num_items > most_items(order))
			break;
		if (is_made && !pass(&walk, num_items))
			return false;
		if (batch->num_segments > 0 && walk.offset - order->walk.offset > MOST_MADE_BYTES)
			break;
		batch->num_segments++;
		batch->num_items += num_items;
		batch->num_bytes = walk.offset - order->walk.offset;
	}
	return true;
}

static void
free_room(segment_order *order)
{
	if (order->heads == NULL)
		return;
	pfree(order->heads);
	if (order->keys)
		pfree(order->keys);
	if (order->room.start)
		pfree(order->room.start);
	order->heads = NULL;
	order->keys = NULL;
	order->room = (byte_room) {NULL, 0};
	order->call.room = order->room;
	order->room_items = 0;
}

static void
make_room(segment_order *order, const segment_batch *batch)
{
	if (batch->num_items <= order->room_items)
		return;
	free_room(order);
	order->room_items = Max(batch->num_items, most_items(order));
	order->heads = array_result_scratch(Min(order->room_items, order->segments->num_segments) * sizeof(uint32));
	if (order->by_keys)
		order->keys = array_result_scratch(order->room_items * sizeof(int64));
	else
	{
		order->room.bytes = order->room_items * STRING_ROOM_BYTES;
		order->room.start = array_result_scratch(order->room.bytes);
	}
	order->call.room = order->room;
}

/* The batch's own segments. */
static segment_list
list_segments(segment_order *order, const segment_batch *batch)
{
	for (int64 i = 0; i < batch->num_segments; i++)
		order->heads[i] = order->segments->heads[order->segment + i] - order->first;
	return (segment_list) {.heads = order->heads, .num_segments = batch->num_segments, .num_items = batch->num_items};
}

/* Keys of a batch.  False: an element has none. */
static bool
make_keys(segment_order *order, int64 num_items)
{
	const element_type *type = order->type;
	const char *element = array_source_data(order->source) + order->walk.offset;

	for (int64 i = 0; i < num_items; i++, element += type->stride)
	{
		if (!type->encode(element, &order->keys[i]))
			return false;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return pass(&order->walk, num_items);
}

static bool
sort_keys(segment_order *order, const segment_batch *batch)
{
	segment_list segments = list_segments(order, batch);
	run_request request;

	if (!make_keys(order, batch->num_items))
		return false;
	memset(&request, 0, sizeof(request));
	request.function = order->spec->function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.algorithm = order->spec->algorithm;
	request.job.key_kind = MGPU_KEY_SIGNED;
	request.job.key_width = sizeof(int64);
	request.job.outputs = MGPU_OUT_INDICES;
	request.job.descending = order->spec->order.descending;
	request.job.num_items = batch->num_items;
	if (segments.num_segments > 1)
	{
		request.job.num_segments = segments.num_segments;
		request.binding.in_segment_heads = segments.heads;
	}
	request.binding.in_keys = order->keys;
	request.binding.out_indices = order->ranks + order->first;
	run_series_job(&order->series, &request);
	return true;
}

static bool
sort_strings(segment_order *order, const segment_batch *batch)
{
	segment_list segments = list_segments(order, batch);
	byte_source bytes;

	if (!byte_source_open_some(&bytes, &order->walk, batch->num_items, batch->num_bytes))
		return false;
	byte_order_part(&order->call, order->spec, segments.num_segments > 1 ? &segments : NULL, &bytes, NULL,
					batch->num_items, order->ranks + order->first);
	byte_source_close(&bytes);
	return true;
}

/* Whether a batch is one segment that takes more than a call may have. */
static bool
is_long(const segment_order *order, const segment_batch *batch)
{
	return batch->num_items > position_sort_few(order->type, order->by_keys) ||
		batch->num_bytes > MOST_MADE_BYTES;
}

static bool
sort_long(segment_order *order, const segment_batch *batch)
{
	element_range range = {.begin = order->walk.offset,.num_items = batch->num_items};
	const char *cpu_reason = NULL;
	bool		had_job;
	bool		was_kept;

	if (order->by_keys ? order->series.on_cpu : order->call.on_cpu)
		cpu_reason = order->by_keys ? order->series.cpu_reason : order->call.cpu_reason;
	free_room(order);
	if (!pass(&order->walk, batch->num_items))
		return false;
	range.end = order->walk.offset;
	if (!position_sort_range(order->spec, order->source, order->type, order->by_keys, &range, cpu_reason,
							 order->ranks + order->first, &had_job, &was_kept))
		return false;
	if (!had_job)
		return true;
	if (order->by_keys)
		run_series_note(&order->series);
	else if (was_kept)
		byte_order_note_kept(&order->call);
	else
		byte_order_note(&order->call);
	return true;
}

static bool
sort_batch(segment_order *order, const segment_batch *batch)
{
	if (is_long(order, batch))
		return sort_long(order, batch);
	make_room(order, batch);
	return order->by_keys ? sort_keys(order, batch) : sort_strings(order, batch);
}

static bool
sort_batches(segment_order *order)
{
	while (order->segment < order->segments->num_segments)
	{
		segment_batch batch;

		if (!next_batch(order, &batch) || !sort_batch(order, &batch))
			return false;
		for (int64 i = 0; order->first > 0 && i < batch.num_items; i++)
			order->ranks[order->first + i] += order->first;
		order->first += batch.num_items;
		order->segment += batch.num_segments;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* All of the segments, by keys or by strings.  False: some element has none, or no place in memory. */
static bool
sort_by(segment_order *order, bool by_keys)
{
	const segment_list *segments = order->segments;
	bool		done;

	order->by_keys = by_keys;
	order->segment = 0;
	order->first = 0;
	order->walk = (byte_walk) {order->source, order->type, 0};
	byte_order_start(&order->call, order->spec, segments->num_segments, segments->num_items,
					 order->source->data_bytes);
	if (by_keys)
		run_series_begin(&order->series);
	else if (order->series.on_cpu)
	{
		order->call.on_cpu = true;
		strlcpy(order->call.cpu_reason, order->series.cpu_reason, sizeof(order->call.cpu_reason));
	}
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&order->call.work));
	{
		done = sort_batches(order);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&order->call.work));
	thread_work_stop(0, PointerGetDatum(&order->call.work));
	free_room(order);
	if (by_keys)
		run_series_end(&order->series);
	else
		byte_order_end(&order->call);
	run_last.num_segments = segments->num_segments;
	return done;
}

bool
segment_order_ranks(const sort_spec *spec, const segment_list *segments, array_source *source,
					const element_type *type, uint32 *ranks)
{
	bool		has_strings = byte_source_applies(type, spec->collation);
	segment_order order;

	if ((segments->num_items <= LEAST_ITEMS &&
		 (type->encode || !byte_strings_take_too_much(type, segments->num_items, source->data_bytes))) || (type->encode == NULL && !has_strings) ||
		(type->stride == 0 && (type->typlen != -1 || type->typalign != TYPALIGN_INT)))
		return false;
	array_source_load(source);
	if (type->stride > 0)
		array_source_require(source, (Size) (segments->num_items - 1) * type->stride + type->typlen);
	memset(&order, 0, sizeof(order));
	order.spec = spec;
	order.segments = segments;
	order.source = source;
	order.type = type;
	order.ranks = ranks;
	return (type->encode && sort_by(&order, true)) || (has_strings && sort_by(&order, false));
}
