/*
 * segment_jobs.c
 *		A job of very many segments, as several.
 *
 * Executors want a list of heads, four bytes each, which takes as much as the
 * elements where segments are short.  So some segments at a time are listed from
 * their bits, and are a job: segments have nothing to do with one another, and
 * those of a job are neighbours in the input and in the result.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array_result.h"
#include "null_map.h"
#include "run_series.h"
#include "segment_jobs.h"
#include "source_slice.h"

/* Segments of a job. */
#define JOB_SEGMENTS (4 * 1024 * 1024)

/* Whole segments, and the elements that are there. */
typedef struct segment_group
{
	int64		next;			/* position where the next group begins */
	int64		begin;			/* rank of the first element, */
	int64		end;			/* and behind the last */
	int64		num_segments;
	uint32	   *heads;			/* counted from begin */
} segment_group;

/* Positions of heads become ranks; empty segments are left out. */
static void
leave_out_nulls(segment_group *group, int64 position, const array_source *keys)
{
	int64		rank = group->begin;
	int64		num_segments = 0;

	for (int64 i = 0; i < group->num_segments; i++)
	{
		int64		end = i + 1 < group->num_segments ? group->heads[i + 1] : group->next;
		int64		present = null_bitmap_count(keys->null_bitmap, position, end);

		if (present > 0)
			group->heads[num_segments++] = (uint32) (rank - group->begin);
		rank += present;
		position = end;
	}
	group->num_segments = num_segments;
	group->end = rank;
}

/* The next segments.  False: there are none. */
static bool
next_group(segment_group *group, const segment_list *segments, const array_source *keys)
{
	int64		position = group->next;

	group->begin = group->end;
	group->num_segments = position_bits_list(&segments->bits, &group->next, group->heads, JOB_SEGMENTS);
	if (group->num_segments == 0)
		return false;
	group->next = position_bits_next(&segments->bits, group->next);
	if (keys->num_nulls > 0)
	{
		leave_out_nulls(group, position, keys);
		return true;
	}
	group->end = group->next;
	for (int64 i = 0; position > 0 && i < group->num_segments; i++)
		group->heads[i] -= position;
	return true;
}

static void *
at(void *items, int64 i, uint32 width)
{
	return items ? (char *) items + i * width : NULL;
}

static void
run_group(run_series *series, const run_request *whole, const segment_group *group, array_source *keys,
		  array_source *vals, bool *float_bits_lost)
{
	uint32		key_width = whole->job.key_width;
	uint32		value_width = whole->job.value_width;
	source_slice key_slice = {keys, group->begin * key_width};
	source_slice val_slice = {vals, group->begin * value_width};
	run_request request = *whole;

	request.job.num_items = group->end - group->begin;
	request.job.num_segments = group->num_segments;
	request.binding.in_segment_heads = group->heads;
	request.binding.in_keys = source_slice_bind(&key_slice, key_width, &request.readers[MGPU_CHANNEL_KEYS]);
	if (vals)
		request.binding.in_values = source_slice_bind(&val_slice, value_width, &request.readers[MGPU_CHANNEL_VALUES]);
	request.binding.out_keys = at(whole->binding.out_keys, group->begin, key_width);
	request.binding.out_values = at(whole->binding.out_values, group->begin, value_width);
	run_series_job(series, &request);
	*float_bits_lost |= request.float_bits_lost;
}

void
segment_jobs_run(run_request *request, const segment_list *segments, array_source *keys, array_source *vals)
{
	segment_group group = {.heads = array_result_scratch(JOB_SEGMENTS * sizeof(uint32))};
	run_series	series;

	request->float_bits_lost = false;
	run_series_begin(&series);
	while (next_group(&group, segments, keys))
	{
		if (group.num_segments > 0)
			run_group(&series, request, &group, keys, vals, &request->float_bits_lost);
		CHECK_FOR_INTERRUPTS();
	}
	run_series_end(&series);
	run_last.num_segments = segments->num_segments;
	pfree(group.heads);
}
