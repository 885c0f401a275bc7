/*
 * order_words.c
 *		Orders numbers of 1 to 16 bytes: few of them at once, more by a job.
 *
 * Setting up a job takes longer than sorting a few words.  Those are sorted without one, each
 * segment while it is in cache.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "order/order_words.h"
#include "run/run_job.h"

/* Up to this many words are sorted at once, if no segment is longer than MGPU_CPU_NOW_PAIRS. */
#define NOW_ITEMS (16 * 1024)

void
order_each_segment(const segment_list *segments, int64 num_items, segment_fn function, void *context)
{
	if (segments == NULL)
		function(context, 0, num_items);
	else
		for (int64 i = 0; i < segments->num_segments; i++)
			function(context, segments->heads[i], segment_end(segments, i));
}

static void
find_longest(void *context, int64 begin, int64 end)
{
	int64	   *longest = context;

	*longest = Max(*longest, end - begin);
}

bool
order_is_forced(const sort_spec *spec, int64 num_items)
{
	if (spec->algorithm != MGPU_ALGORITHM_AUTO)
		return true;
	if (spec->is_one_of_many && num_items <= MGPU_CPU_NOW_PAIRS)
		return run_is_probed(num_items);
	return run_is_forced(num_items);
}

static bool
sorts_at_once(const word_sort *sort)
{
	int64		longest = 0;

	if (sort->words == NULL || sort->num_items > NOW_ITEMS ||
		order_is_forced(sort->spec, sort->num_items))
		return false;
	order_each_segment(sort->segments, sort->num_items, find_longest, &longest);
	return longest <= MGPU_CPU_NOW_PAIRS;
}

static void
sort_at_once(void *context, int64 begin, int64 end)
{
	const word_sort *sort = context;
	const char *words = (const char *) sort->words + begin * sort->width;
	uint32	   *ranks = sort->ranks + begin;

	mgpu_cpu_argsort_now(words, ranks, end - begin, sort->kind, sort->width, sort->spec->order.descending);
	for (int64 i = 0; i < end - begin; i++)
	{
		if (sort->sorted)
			memcpy((char *) sort->sorted + (begin + i) * sort->width, words + (Size) ranks[i] * sort->width, sort->width);
		ranks[i] += begin;
	}
}

static bool
run_words(const word_sort *sort)
{
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = sort->spec->function;
	request.cpu_reason = sort->cpu_reason;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.algorithm = sort->spec->algorithm;
	request.job.key_kind = sort->kind;
	request.job.key_width = sort->width;
	request.job.outputs = MGPU_OUT_INDICES | (sort->sorted ? MGPU_OUT_KEYS : 0);
	request.job.descending = sort->spec->order.descending;
	request.job.num_items = sort->num_items;
	request.binding.in_keys = sort->words;
	request.sources[MGPU_CHANNEL_KEYS] = sort->stream;
	request.binding.out_indices = sort->ranks;
	request.binding.out_keys = sort->sorted;
	if (sort->segments)
	{
		request.job.num_segments = sort->segments->num_segments;
		request.binding.in_segment_heads = sort->segments->heads;
	}
	run_job(&request);
	return !request.float_bits_lost;
}

bool
order_words(const word_sort *sort)
{
	if (!sorts_at_once(sort))
		return run_words(sort);
	run_record_cpu(sort->spec->function, "quick", sort->num_items, sort->num_items * sort->width, run_reason("few items"));
	order_each_segment(sort->segments, sort->num_items, sort_at_once, (void *) sort);
	return true;
}
