/*
 * pair_room.c
 *		Pairs for whose positions the result of their values has no room.
 *
 * Values of less than four bytes, or NULL, leave less than positions take.  Where
 * keys are wanted too and have that much, positions are there until both arrays
 * have been gathered, values first.  Other pairs are sorted by parts, whatever
 * part of the keys fits (pair_parts.h, order_parts.h).  Both take longer than positions of all
 * behind the result, which a call has as long as these are few.
 */
#include "postgres.h"

#include "core/executor.h"

#include "compat.h"
#include "order_parts.h"
#include "pair_parts.h"
#include "pair_room.h"
#include "positions.h"
#include "run.h"
#include "settings.h"

/* What a call may take beside its input and its result, some of which is for whatever is small. */
#define CALL_BYTES ((int64) 60 * 1024 * 1024)

/* What a job takes of each pair, and at most. */
#define JOB_ITEM_BYTES 6
#define JOB_MOST_BYTES ((int64) 56 * 1024 * 1024)

static int64
job_bytes(int64 num_items)
{
	return Min(num_items * JOB_ITEM_BYTES, JOB_MOST_BYTES);
}

bool
pair_copy_takes_too_much(const array_source *vals)
{
	return !array_source_is_streamed(vals) && (int64) vals->data_bytes + job_bytes(vals->num_items) > CALL_BYTES;
}

/*
 * Positions are there while they are made, beside a job, when values that are streamed
 * are not there yet; and while values are gathered, when keys that were streamed are
 * there no more.
 */
bool
pair_positions_take_too_much(const array_source *keys, const array_source *vals, const array_shape *val_shape)
{
	int64		beyond = (int64) val_shape->room_bytes - (int64) val_shape->data_bytes;
	int64		made = beyond + job_bytes(keys->num_items);

	if (mgpu_setting_inject_fault == MGPU_FAULT_ROOM)
		return true;
	if (beyond <= 0)
		return false;
	if (array_source_is_streamed(vals))
		made -= vals->data_bytes;
	if (array_source_is_streamed(keys))
		beyond -= keys->data_bytes;
	return made > CALL_BYTES || beyond > CALL_BYTES;
}

/* 0: the result's keys have no room for positions. */
static Size
room_in_keys(const array_shape *shape, const element_type *type)
{
	Size		bytes = array_gather_bytes(type, shape->num_items, shape->num_nulls, shape->data_bytes);

	return bytes <= shape->data_bytes ? bytes : 0;
}

static void
gather_both(const sort_spec *spec, array_source *keys, const element_type *key_type,
			array_source *vals, const element_type *val_type, Size room_bytes, pair_result *result)
{
	int32	   *positions = array_gather_room(result->keys, keys->num_items, room_bytes);
	char	   *front = ARR_DATA_PTR(result->keys);
	spare_room	spare = {front, (char *) positions - front};
	array_filler filler;

	sorted_positions(spec, keys, key_type, 0, positions, NULL, &spare);
	array_source_load(vals);
	array_filler_start(&filler, result->vals, vals, val_type);
	array_filler_add(&filler, positions, vals->num_items);
	array_filler_end(&filler, true);
	array_source_unload(vals);
	array_source_load(keys);
	array_gather(result->keys, keys, key_type, positions);
	array_source_unload(keys);
}

/* The ways to sort by parts, the fastest first; some turn out not to be one. */
typedef enum parts_way
{
	PARTS_BY_CODES,
	PARTS_BY_STRINGS,
	PARTS_BY_COMPARISON
} parts_way;

static bool
way_applies(const sort_spec *spec, const element_type *key_type, parts_way way)
{
	if (way == PARTS_BY_CODES)
		return pair_parts_apply(spec, key_type);
	return order_parts_apply(spec, key_type, way == PARTS_BY_STRINGS);
}

static bool
sort_by_way(const sort_spec *spec, const array_source *keys, const element_type *key_type,
			const array_source *vals, const element_type *val_type, parts_way way, pair_result *result)
{
	pair_filler filler;
	bool		done;

	pair_filler_start(&filler, result, keys, key_type, vals, val_type);
	if (spec->order.nulls_first)
		pair_filler_add_nulls(&filler);
	if (way == PARTS_BY_CODES)
		done = pair_parts_sort(spec, keys, key_type, &filler);
	else
		done = order_parts_sort(spec, keys, key_type, way == PARTS_BY_STRINGS, &filler);
	if (done && !spec->order.nulls_first)
		pair_filler_add_nulls(&filler);
	pair_filler_end(&filler, done);
	return done;
}

static bool
sort_by_parts(const sort_spec *spec, array_source *keys, const element_type *key_type,
			  array_source *vals, const element_type *val_type, pair_result *result)
{
	sort_spec	again = *spec;
	char		reason[MGPU_ERROR_MESSAGE_BYTES];
	bool		done = false;

	array_source_load(keys);
	array_source_load(vals);
	for (parts_way way = PARTS_BY_CODES; !done && way <= PARTS_BY_COMPARISON; way++)
	{
		if (!way_applies(spec, key_type, way))
			continue;
		done = sort_by_way(&again, keys, key_type, vals, val_type, way, result);
		if (run_last.gpu_gave_up && again.cpu_reason == NULL)
		{
			/* what follows asks it no more */
			strlcpy(reason, run_last.reason, sizeof(reason));
			again.cpu_reason = reason;
		}
	}
	run_last.num_items = vals->num_items;	/* those that needed no job, too */
	run_last.num_bytes = keys->data_bytes + vals->data_bytes;
	if (!done)
	{
		pair_result_discard(result);
		return false;
	}
	array_source_unload(keys);
	array_source_unload(vals);
	return true;
}

static bool
parts_apply(const sort_spec *spec, const element_type *key_type)
{
	for (parts_way way = PARTS_BY_CODES; way <= PARTS_BY_COMPARISON; way++)
		if (way_applies(spec, key_type, way))
			return true;
	return false;
}

bool
sorted_arrays_without_room(const sort_spec *spec, array_source *keys, const element_type *key_type,
						   array_source *vals, const element_type *val_type,
						   const array_shape *key_shape, const array_shape *val_shape, pair_result *result)
{
	Size		room_bytes = key_shape ? room_in_keys(key_shape, key_type) : 0;
	array_shape bare = *val_shape;

	if (room_bytes == 0 && !parts_apply(spec, key_type))
		return false;
	bare.room_bytes = 0;
	pair_result_create(result, key_shape, &bare);
	if (room_bytes == 0)
		return sort_by_parts(spec, keys, key_type, vals, val_type, result);
	gather_both(spec, keys, key_type, vals, val_type, room_bytes, result);
	return true;
}
