/*
 * positions.c
 *		The sorted order of an array's elements, as positions.
 *
 * Elements that are there are sorted by rank (their count among themselves),
 * by the best way that their type allows; then ranks become positions and NULL
 * elements take their place before or after, in each segment by itself.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "array_result.h"
#include "byte_order.h"
#include "compared_sort.h"
#include "datum_codes.h"
#include "datum_sort.h"
#include "enum_order.h"
#include "null_map.h"
#include "position_sort.h"
#include "positions.h"
#include "run.h"
#include "segment_order.h"
#include "segments.h"

/* Making codes of fewer values costs more than comparing them. */
#define CODES_MIN_ITEMS 1024

/* Labels of an enum whose ranks a job gets on the CPU where an algorithm is asked for; more would take too much memory. */
#define PROBED_LABELS_ITEMS (2 * 1024 * 1024)

/* How many elements to handle between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Where ranks go, and the segments that they stay in (NULL: one). */
typedef struct rank_target
{
	const sort_spec *spec;
	const segment_list *segments;
	int64		num_items;
	uint32	   *ranks;
	void	   *sorted_keys;	/* NULL, or room for elements in order */
	bool		has_keys;		/* they are there */
	spare_room	spare;			/* of the result */
} rank_target;

static bool
ranks_at_once(const rank_target *target)
{
	const sort_spec *spec = target->spec;

	return target->num_items <= MGPU_CPU_NOW_PAIRS && target->segments == NULL &&
		spec->algorithm == MGPU_ALGORITHM_AUTO && !run_is_forced(target->num_items);
}

static void
describe_job(run_request *request, const rank_target *target, uint32 key_kind, uint32 key_width)
{
	memset(request, 0, sizeof(*request));
	request->function = target->spec->function;
	request->cpu_reason = target->spec->cpu_reason;
	request->job.op = MGPU_OP_SORT_PAIRS;
	request->job.algorithm = target->spec->algorithm;
	request->job.key_kind = key_kind;
	request->job.key_width = key_width;
	request->job.outputs = MGPU_OUT_INDICES;
	request->job.descending = target->spec->order.descending;
	request->job.num_items = target->num_items;
	request->binding.out_indices = target->ranks;
	if (target->segments)
	{
		request->job.num_segments = target->segments->num_segments;
		request->binding.in_segment_heads = target->segments->heads;
	}
}

/* Ranks of keys in memory, or still in their source; out_keys: NULL, or where they go in order. */
static bool
rank_keys(const rank_target *target, array_source *source, const void *keys,
		  uint32 key_kind, uint32 key_width, void *out_keys)
{
	const sort_spec *spec = target->spec;
	run_request request;

	if (keys != NULL && ranks_at_once(target))
	{
		run_note_cpu(spec->function, "quick", target->num_items, target->num_items * key_width, "few items");
		mgpu_cpu_argsort_now(keys, target->ranks, target->num_items, key_kind, key_width,
							 spec->order.descending);
		return false;
	}
	describe_job(&request, target, key_kind, key_width);
	request.binding.in_keys = keys;
	request.sources[MGPU_CHANNEL_KEYS] = source;
	if (out_keys)
	{
		request.job.outputs |= MGPU_OUT_KEYS;
		request.binding.out_keys = out_keys;
	}
	run_job(&request);
	return out_keys != NULL && !request.float_bits_lost;
}

static void
rank_direct(rank_target *target, array_source *source, const element_type *type)
{
	Size		bytes = (Size) target->num_items * type->stride;
	const void *keys = array_source_bound(source, type->key_width);

	array_source_require(source, bytes);
	/* an array inside a row may be less aligned than its elements want */
	if (keys == NULL && !array_source_is_streamed(source))
		keys = memcpy(palloc_extended(bytes, MCXT_ALLOC_HUGE), array_source_data(source), bytes);
	target->has_keys = rank_keys(target, source, keys, type->key_kind, type->key_width, target->sorted_keys);
}

/* False: some element has no 64-bit key. */
static bool
rank_encoded(const rank_target *target, array_source *source, const element_type *type)
{
	int64	   *codes = palloc_extended(target->num_items * sizeof(int64), MCXT_ALLOC_HUGE);
	const char *element;
	bool		fits = true;

	array_source_load(source);
	array_source_require(source, (Size) (target->num_items - 1) * type->stride + type->typlen);
	element = array_source_data(source);
	for (int64 i = 0; fits && i < target->num_items; i++, element += type->stride)
	{
		fits = type->encode(element, &codes[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (fits)
		rank_keys(target, source, codes, MGPU_KEY_SIGNED, sizeof(int64), NULL);
	pfree(codes);
	return fits;
}

/* Whether labels are put in order by a job whatever it takes: few, or an algorithm is asked for. */
static bool
wants_job(const rank_target *target)
{
	if (target->spec->algorithm == MGPU_ALGORITHM_AUTO && !run_is_probed(target->num_items))
		return ranks_at_once(target);
	return target->num_items <= PROBED_LABELS_ITEMS;
}

/* Values of an enum, and their labels. */
typedef struct label_reader
{
	const Oid  *values;
	const enum_labels *labels;
} label_reader;

/* A run_read_fn: ranks of labels as keys. */
static void
read_ranks(void *context, Size offset, Size bytes, void *dest)
{
	const label_reader *reader = context;

	enum_labels_ranks(reader->labels, reader->values + offset / sizeof(Oid), bytes / sizeof(uint32), false, dest);
}

/* Whether a GPU has sorted labels, whose ranks it gets as keys while they are made. */
static bool
labels_by_gpu(const rank_target *target, const Oid *values, const enum_labels *labels)
{
	label_reader reader = {values, labels};
	run_request request;

	if (run_stays_on_cpu(target->spec->function, target->num_items, target->num_items * sizeof(Oid)))
		return false;
	describe_job(&request, target, MGPU_KEY_UNSIGNED, sizeof(uint32));
	request.readers[MGPU_CHANNEL_KEYS].read = read_ranks;
	request.readers[MGPU_CHANNEL_KEYS].context = &reader;
	request.gpu_only = true;
	run_job(&request);
	return !request.gave_up;
}

/* Labels that need ranks: the CPU counts them, and keeps no keys. */
static void
rank_labels(rank_target *target, const Oid *values, const enum_labels *labels)
{
	if (labels_by_gpu(target, values, labels))
		return;
	if (target->segments)
		run_last.num_segments = target->segments->num_segments;
	enum_order_ranks(target->spec, target->segments, values, target->num_items, labels, target->ranks, target->sorted_keys);
	target->has_keys = target->sorted_keys != NULL;
}

static void
rank_enum(rank_target *target, array_source *source, const element_type *type)
{
	const Oid  *values;
	const uint32 *keys;
	enum_labels *labels;

	array_source_load(source);
	array_source_require(source, target->num_items * sizeof(Oid));
	values = (const Oid *) array_source_data(source);
	if (wants_job(target))
	{
		keys = enum_keys(values, target->num_items, type);
		rank_keys(target, NULL, keys, MGPU_KEY_UNSIGNED, sizeof(uint32), NULL);
		if (keys != values)
			pfree((void *) keys);
		return;
	}
	labels = enum_labels_find(values, target->num_items, type);
	if (labels == NULL)
	{
		rank_keys(target, NULL, values, MGPU_KEY_UNSIGNED, sizeof(uint32), NULL);
		return;
	}
	rank_labels(target, values, labels);
	enum_labels_free(labels);
}

/* False: elements are no byte strings. */
static bool
rank_bytes(const rank_target *target, array_source *source, const element_type *type)
{
	const sort_spec *spec = target->spec;
	byte_source bytes;

	if (!byte_source_open(&bytes, source, type, spec->collation, target->num_items))
		return false;
	byte_order_ranks(spec, target->segments, &bytes, target->num_items, source->data_bytes, target->ranks);
	byte_source_close(&bytes);
	return true;
}

/* False: the type has no codes for these values. */
static bool
rank_by_codes(const rank_target *target, const Datum *values, const element_type *type)
{
	const sort_spec *spec = target->spec;
	segment_list whole = {.heads = (uint32[]) {0}, .num_segments = 1, .num_items = target->num_items};
	const segment_list *segments = target->segments ? target->segments : &whole;
	SortSupportData support;
	run_request request;
	uint64	   *codes;
	uint64	   *sorted;

	if (target->num_items < CODES_MIN_ITEMS && !run_is_forced(target->num_items))
		return false;
	codes = array_result_scratch(target->num_items * sizeof(uint64));
	if (!datum_codes_make(values, target->num_items, type, spec->collation, &support, codes))
	{
		pfree(codes);
		return false;
	}
	sorted = array_result_scratch(target->num_items * sizeof(uint64));
	describe_job(&request, target, MGPU_KEY_UNSIGNED, sizeof(uint64));
	request.job.outputs |= MGPU_OUT_KEYS;
	request.binding.in_keys = codes;
	request.binding.out_keys = sorted;
	run_job(&request);
	pfree(codes);
	for (int64 i = 0; i < segments->num_segments; i++)
		datum_codes_order(values, sorted, segments->heads[i], segment_end(segments, i),
						  spec->order.descending, &support, target->ranks);
	pfree(sorted);
	return true;
}

static void
rank_compared(const rank_target *target, array_source *source, const element_type *type)
{
	const sort_spec *spec = target->spec;
	segment_list whole = {.heads = (uint32[]) {0}, .num_segments = 1, .num_items = target->num_items};
	const segment_list *segments = target->segments ? target->segments : &whole;
	Datum	   *values;

	if (compared_sort_ranks(spec, target->segments, source, type, target->num_items, &target->spare, target->ranks))
		return;
	values = compared_values(source, type, target->num_items);
	if (rank_by_codes(target, values, type))
	{
		pfree(values);
		return;
	}
	run_note_cpu(spec->function, "compare", target->num_items, source->data_bytes,
				 "the type is sorted by its comparison function, on the CPU");
	if (target->segments)
		run_last.num_segments = target->segments->num_segments;
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		begin = segments->heads[i];
		int64		end = segment_end(segments, i);

		datum_sort(values + begin, end - begin, type, spec->order.descending, spec->collation,
				   target->ranks + begin);
		for (int64 j = begin; begin > 0 && j < end; j++)
			target->ranks[j] += begin;
	}
	pfree(values);
}

/* Where ranks take no memory beside the result: many elements, in segments some of which have codes at a time. */
static bool
rank_many(const rank_target *target, array_source *source, const element_type *type)
{
	if (target->segments)
		return segment_order_ranks(target->spec, target->segments, source, type, target->ranks);
	return position_sort_ranks(target->spec, source, type, target->num_items, target->ranks);
}

/* The same for one segment once some have turned out to have no keys. */
static bool
rank_many_strings(const rank_target *target, array_source *source, const element_type *type)
{
	return target->segments == NULL && type->encode != NULL &&
		position_sort_string_ranks(target->spec, source, type, target->num_items, target->ranks);
}

static void
rank_present(rank_target *target, array_source *source, const element_type *type)
{
	if (target->num_items == 0)
		return;
	if (target->spec->op == MGPU_OP_ODD_EVEN_SORT)
		compared_network_ranks(target->spec, source, type, target->num_items, target->ranks);
	else if (type->key_kind != 0)
		rank_direct(target, source, type);
	else if (type->is_enum)
		rank_enum(target, source, type);
	else if (!rank_many(target, source, type) &&
			 (type->encode == NULL || !rank_encoded(target, source, type)) &&
			 !rank_many_strings(target, source, type) && !rank_bytes(target, source, type))
		rank_compared(target, source, type);
}

static bool
positions_without_nulls(const sort_spec *spec, array_source *keys, const element_type *type,
						int32 base, int32 *positions, void *sorted_keys, const spare_room *spare)
{
	rank_target target = {spec, spec->segments, keys->num_items, (uint32 *) positions, sorted_keys, false, *spare};

	rank_present(&target, keys, type);
	if (base != 0)
		for (int64 i = 0; i < keys->num_items; i++)
			positions[i] += base;
	return target.has_keys;
}

/* The first num_nulls NULL elements from begin on; returns where they end. */
static int32 *
put_nulls(const array_source *keys, int64 begin, int64 num_nulls, int32 base, int32 *next)
{
	for (; num_nulls > 0; begin++)
		if (!null_bitmap_present(keys->null_bitmap, begin))
		{
			*next++ = base + (int32) begin;
			num_nulls--;
		}
	return next;
}

/*
 * Ranks are made in the last part of positions and move down as segments' NULL
 * elements are put in front of or behind them; a rank never moves up.
 */
static bool
positions_with_nulls(const sort_spec *spec, array_source *keys, const element_type *type,
					 int32 base, int32 *positions, void *sorted_keys, const spare_room *spare)
{
	segment_list whole = {.heads = (uint32[]) {0}, .num_segments = 1, .num_items = keys->num_items};
	const segment_list *segments = spec->segments ? spec->segments : &whole;
	int64		num_present = keys->num_items - keys->num_nulls;
	uint32	   *ranks = (uint32 *) positions + keys->num_nulls;
	rank_target target = {spec, NULL, num_present, ranks, sorted_keys, false, *spare};
	segment_list present_segments;
	null_map	map;
	int32	   *next = positions;
	int64		moved = 0;

	if (spec->segments)
	{
		segments_of_present(&present_segments, segments, keys);
		target.segments = num_present > 0 ? &present_segments : NULL;
	}
	rank_present(&target, keys, type);
	null_map_build(&map, keys->null_bitmap, keys->num_items);
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		begin = segments->heads[i];
		int64		end = segment_end(segments, i);
		int64		num_nulls = end - begin - null_bitmap_count(keys->null_bitmap, begin, end);

		if (spec->order.nulls_first)
			next = put_nulls(keys, begin, num_nulls, base, next);
		for (int64 j = end - begin - num_nulls; j > 0; j--)
		{
			*next++ = base + (int32) null_map_select(&map, *ranks++);
			if (++moved % STEP_ITEMS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		if (!spec->order.nulls_first)
			next = put_nulls(keys, begin, num_nulls, base, next);
	}
	null_map_free(&map);
	return target.has_keys;
}

bool
sorted_positions(const sort_spec *spec, array_source *keys, const element_type *type,
				 int32 base, int32 *positions, void *sorted_keys, const spare_room *spare)
{
	spare_room	none = {NULL, 0};

	if (spare == NULL)
		spare = &none;
	if (keys->num_nulls == 0)
		return positions_without_nulls(spec, keys, type, base, positions, sorted_keys, spare);
	return positions_with_nulls(spec, keys, type, base, positions, sorted_keys, spare);
}
