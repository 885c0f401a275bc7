/*
 * partition.c
 *		See partition.h.
 *
 * A sample may be unlucky, or the input may be made to defeat it.  Then a bucket is
 * several times as large as planned, and another sample is taken.  A bucket of equal
 * codes may have any size, as it needs no sorting.
 */
#include "core/cpu/partition.h"

/* More chunks gain nothing and make the table large. */
#define MAX_CHUNKS 4096

/* A bucket this many times as large as planned causes another sample. */
#define BUCKET_EXCESS 4
#define MAX_SAMPLINGS 3

bool
mgpu_partition_start(mgpu_run *run, mgpu_partition *partition)
{
	uint64_t	fewest = run->job.num_items / MAX_CHUNKS + 1;

	partition->num_items = run->job.num_items;
	if (partition->chunk_items < fewest)
		partition->chunk_items = fewest;
	if (run->job.key_width == 1)
		partition->planned_buckets = UINT8_MAX + 1;
	partition->num_chunks = mgpu_num_tasks(partition->num_items, partition->chunk_items);
	partition->table = mgpu_allocate(run, partition->num_chunks * 2 * partition->planned_buckets * sizeof(uint32_t));
	return partition->table != NULL;
}

/* Choose bounds from random items of the input. */
static bool
sample_bounds(mgpu_run *run, mgpu_partition *partition)
{
	uint64_t	num_samples = partition->planned_buckets * run->tuning.samples_per_bucket;
	uint32_t	width = run->job.key_width == 16 ? 16 : 8;
	uint32_t   *positions = mgpu_allocate(run, num_samples * sizeof(uint32_t));
	void	   *items = mgpu_allocate(run, num_samples * run->job.key_width);
	void	   *codes = mgpu_allocate(run, num_samples * width);

	if (positions == NULL || items == NULL || codes == NULL)
		return false;
	mgpu_sample_positions(positions, num_samples, run->job.num_items);
	mgpu_gather_items(run->keys.data, run->job.key_width, positions, items, num_samples);
	if (width == 16)
		mgpu_encode_u128(&run->keys.codec, items, codes, num_samples);
	else
		mgpu_encode_wide(&run->keys.codec, items, codes, num_samples);
	mgpu_bounds_choose(&partition->bounds, codes, num_samples, width, partition->planned_buckets);
	return true;
}

static bool
begin_count(mgpu_run *run, mgpu_partition *partition)
{
	if (run->job.key_width == 1)
		mgpu_bounds_of_bytes(&partition->bounds);
	else if (!sample_bounds(run, partition))
		return false;
	partition->num_samplings++;
	mgpu_begin_phase(run, partition->tasks->count, partition->num_chunks);
	return true;
}

/* Turn the sizes in the table into places: by bucket, then by chunk. */
static void
place_chunks(mgpu_partition *partition)
{
	uint64_t	place = 0;

	for (uint32_t bucket = 0; bucket < partition->bounds.num_buckets; bucket++)
	{
		partition->begin[bucket] = place;
		for (uint64_t chunk = 0; chunk < partition->num_chunks; chunk++)
		{
			uint32_t   *entry = mgpu_chunk_row(partition, chunk) + bucket;
			uint32_t	size = *entry;

			*entry = (uint32_t) place;
			place += size;
		}
	}
	partition->begin[partition->bounds.num_buckets] = place;
}

uint64_t
mgpu_largest_bucket(const mgpu_partition *partition)
{
	uint64_t	largest = 0;

	for (uint32_t bucket = 0; bucket < partition->bounds.num_buckets; bucket++)
	{
		uint64_t	size = partition->begin[bucket + 1] - partition->begin[bucket];
		mgpu_u128	code;

		if (size > largest && !mgpu_bucket_is_constant(&partition->bounds, bucket, &code))
			largest = size;
	}
	return largest;
}

static bool
is_unbalanced(const mgpu_partition *partition)
{
	return partition->num_samplings < MAX_SAMPLINGS &&
		mgpu_largest_bucket(partition) > partition->num_items / partition->planned_buckets * BUCKET_EXCESS;
}

bool
mgpu_partition_advance(mgpu_run *run, mgpu_partition *partition)
{
	switch (partition->step)
	{
		case 0:
			partition->step = 1;
			return begin_count(run, partition);
		case 1:
			place_chunks(partition);
			if (is_unbalanced(partition))
				return begin_count(run, partition);
			partition->step = 2;
			return partition->tasks->prepare(run);
		case 2:
			partition->step = 3;
			mgpu_begin_phase(run, partition->tasks->move, partition->num_chunks);
			return true;
		case 3:
			partition->step = 4;
			mgpu_begin_phase(run, partition->tasks->sort, partition->bounds.num_buckets);
			return true;
		default:
			return false;
	}
}
