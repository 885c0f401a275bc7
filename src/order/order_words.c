/*
 * order_words.c
 *		Orders numbers of 1 to 16 bytes by a job, and walks over segments.
 */
#include "postgres.h"

#include "order/order.h"
#include "run/run_job.h"

void
order_each_segment(const segment_list *segments, int64 num_items, segment_fn function, void *context)
{
	if (segments == NULL)
		function(context, 0, num_items);
	else
		for (int64 i = 0; i < segments->num_segments; i++)
			function(context, segments->heads[i], segment_end(segments, i));
}

bool
order_is_forced(const sort_spec *spec, int64 num_items)
{
	return spec->algorithm != MGPU_ALGORITHM_AUTO || run_is_forced(num_items, spec->is_one_of_many);
}

bool
order_words(const word_sort *sort)
{
	const sort_spec *spec = sort->spec;
	run_request request;

	run_request_start(&request, spec->function, spec->record);
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.key_kind = sort->kind;
	request.job.key_width = sort->width;
	request.job.outputs = MGPU_OUT_INDICES | (sort->sorted ? MGPU_OUT_KEYS : 0);
	request.job.descending = spec->order.descending;
	request.job.algorithm = spec->algorithm;
	request.job.num_items = sort->num_items;
	request.binding.in_keys = sort->words;
	request.binding.out_indices = sort->ranks;
	request.binding.out_keys = sort->sorted;
	request.sources[MGPU_CHANNEL_KEYS] = sort->stream;
	request.cpu_reason = spec->cpu_reason;
	request.is_one_of_many = spec->is_one_of_many;
	if (sort->segments)
	{
		request.job.num_segments = sort->segments->num_segments;
		request.binding.in_segment_heads = sort->segments->heads;
	}
	run_job(&request);
	return !request.float_bits_lost;
}
