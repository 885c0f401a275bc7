/*
 * cpu_chunks.c
 *		See cpu_chunks.h.
 */
#include "cpu_chunks.h"

/* More chunks than these gain nothing and make the table large. */
#define MAX_CHUNKS 4096

uint64_t
mgpu_plan_chunk_items(uint64_t num_items, uint64_t best_items)
{
	uint64_t	fewest = num_items / MAX_CHUNKS + 1;

	return best_items > fewest ? best_items : fewest;
}

uint64_t
mgpu_chunks_bytes(uint64_t num_items, uint64_t best_items, uint64_t num_columns)
{
	return mgpu_num_tasks(num_items, mgpu_plan_chunk_items(num_items, best_items)) *
		num_columns * sizeof(uint32_t);
}

bool
mgpu_chunks_start(mgpu_chunks *chunks, uint64_t num_items, uint64_t best_items,
				  uint64_t num_columns, mgpu_status *status, mgpu_error *err)
{
	chunks->num_items = num_items;
	chunks->chunk_items = mgpu_plan_chunk_items(num_items, best_items);
	chunks->num_chunks = mgpu_num_tasks(num_items, chunks->chunk_items);
	chunks->num_columns = num_columns;
	return mgpu_buffer_allocate(&chunks->table, mgpu_chunks_bytes(num_items, best_items, num_columns),
								status, err);
}

void
mgpu_chunks_place(mgpu_chunks *chunks, uint32_t num_columns, uint64_t *begin)
{
	uint64_t	place = 0;

	for (uint32_t column = 0; column < num_columns; column++)
	{
		begin[column] = place;
		for (uint64_t chunk = 0; chunk < chunks->num_chunks; chunk++)
		{
			uint32_t   *entry = mgpu_chunk_row(chunks, chunk) + column;
			uint32_t	size = *entry;

			*entry = (uint32_t) place;
			place += size;
		}
	}
	begin[num_columns] = place;
}

bool
mgpu_sample_bounds(const mgpu_run *run, mgpu_bounds *bounds, uint32_t num_buckets,
				   mgpu_status *status, mgpu_error *err)
{
	uint64_t	num_samples = num_buckets * run->tuning.samples_per_bucket;
	uint32_t	width = run->job.key_width == 16 ? 16 : 8;
	mgpu_buffer positions = {0};
	mgpu_buffer items = {0};
	mgpu_buffer codes = {0};
	bool		had_memory;

	had_memory = mgpu_buffer_allocate(&positions, num_samples * sizeof(uint32_t), status, err) &&
		mgpu_buffer_allocate(&items, num_samples * run->job.key_width, status, err) &&
		mgpu_buffer_allocate(&codes, num_samples * width, status, err);
	if (had_memory)
	{
		mgpu_sample_positions(positions.data, num_samples, run->job.num_items);
		mgpu_gather_items(run->keys.data, run->job.key_width, positions.data, items.data, num_samples);
		if (width == 16)
			mgpu_encode_u128(&run->keys.codec, items.data, codes.data, num_samples);
		else
			mgpu_encode_wide(&run->keys.codec, items.data, codes.data, num_samples);
		mgpu_bounds_choose(bounds, codes.data, num_samples, width, num_buckets);
	}
	mgpu_buffer_free(&codes);
	mgpu_buffer_free(&items);
	mgpu_buffer_free(&positions);
	return had_memory;
}

uint64_t
mgpu_largest_bucket(const mgpu_bounds *bounds, const uint64_t *begin)
{
	uint64_t	largest = 0;

	for (uint32_t bucket = 0; bucket < bounds->num_buckets; bucket++)
	{
		uint64_t	size = begin[bucket + 1] - begin[bucket];
		mgpu_u128	code;

		if (size > largest && !mgpu_bucket_is_constant(bounds, bucket, &code))
			largest = size;
	}
	return largest;
}
