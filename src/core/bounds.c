/*
 * bounds.c
 *		Bucket bounds from a sample, and classification of codes by search trees.
 *
 * Samplesort (Frazer and McKellar 1970): evenly spaced items of a sorted sample cut
 * the input into parts of nearly equal size, whatever the distribution.  The
 * branch-free search tree comes from super scalar sample sort (Sanders and Winkel).
 */
#include "bounds.h"

#include <stddef.h>

#include "cpu_threads.h"
#include "unsigned_sort.h"

static mgpu_u128
load_code(const void *codes, uint32_t width, uint64_t i)
{
	if (width == 4)
		return ((const uint32_t *) codes)[i];
	if (width == 8)
		return ((const uint64_t *) codes)[i];
	return ((const mgpu_u128 *) codes)[i];
}

/*
 * Fill the subtree at node, in order, with the bounds from number next on.  Returns
 * the next unused number.
 */
static uint32_t
fill_trees(mgpu_bounds *bounds, uint32_t node, uint32_t next)
{
	if (node >> bounds->tree_levels != 0)
		return next;
	next = fill_trees(bounds, 2 * node, next);
	if (next + 1 < bounds->num_buckets)
	{
		bounds->narrow[node] = (uint64_t) bounds->bound[next];
		bounds->wide[node] = bounds->bound[next];
	}
	else
	{
		bounds->narrow[node] = UINT64_MAX;
		bounds->wide[node] = ~(mgpu_u128) 0;
	}
	return fill_trees(bounds, 2 * node + 1, next + 1);
}

static void
make_trees(mgpu_bounds *bounds)
{
	bounds->tree_levels = 0;
	while ((UINT32_C(1) << bounds->tree_levels) < bounds->num_buckets)
		bounds->tree_levels++;
	fill_trees(bounds, 1, 0);
}

static void
add_bound(mgpu_bounds *bounds, mgpu_u128 code)
{
	uint32_t	num_bounds = bounds->num_buckets - 1;

	if (num_bounds > 0 && bounds->bound[num_bounds - 1] >= code)
		return;
	bounds->bound[num_bounds] = code;
	bounds->num_buckets++;
}

void
mgpu_bounds_choose(mgpu_bounds *bounds, void *samples, uint64_t num_samples,
				   uint32_t width, uint32_t num_buckets)
{
	mgpu_sort_unsigned(samples, num_samples, width, NULL);
	bounds->num_buckets = 1;
	bounds->highest = ~(mgpu_u128) 0 >> (128 - 8 * width);
	for (uint32_t i = 1; i < num_buckets && num_samples > 0; i++)
	{
		mgpu_u128	code = load_code(samples, width, i * num_samples / num_buckets);
		mgpu_u128	next = load_code(samples, width, (i + 1) * num_samples / num_buckets - 1);

		/* a code that fills a whole bucket gets a bucket of its own */
		if (code == next && code > 0)
			add_bound(bounds, code - 1);
		add_bound(bounds, code);
	}
	make_trees(bounds);
}

void
mgpu_bounds_of_bytes(mgpu_bounds *bounds)
{
	bounds->num_buckets = 1;
	bounds->highest = UINT8_MAX;
	for (uint32_t code = 0; code < UINT8_MAX; code++)
		add_bound(bounds, code);
	make_trees(bounds);
}

/*
 * The positions must be unpredictable: input made against a known sample would put
 * everything into one bucket.  splitmix64, seeded by the clock and an address.
 */
void
mgpu_sample_positions(uint32_t *positions, uint64_t num_samples, uint64_t num_items)
{
	double		now_ms = mgpu_now_ms();
	uint64_t	state = (uint64_t) (now_ms * 1e6) ^ (uint64_t) (uintptr_t) positions << 20;

	for (uint64_t i = 0; i < num_samples; i++)
	{
		uint64_t	bits;

		state += UINT64_C(0x9E3779B97F4A7C15);
		bits = (state ^ state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
		bits = (bits ^ bits >> 27) * UINT64_C(0x94D049BB133111EB);
		bits ^= bits >> 31;
		positions[i] = (uint32_t) ((mgpu_u128) bits * num_items >> 64);
	}
}

bool
mgpu_bucket_is_constant(const mgpu_bounds *bounds, uint32_t bucket, mgpu_u128 *code)
{
	mgpu_u128	lowest = bucket == 0 ? 0 : bounds->bound[bucket - 1] + 1;
	mgpu_u128	highest = bucket + 1 == bounds->num_buckets ? bounds->highest : bounds->bound[bucket];

	if (highest != lowest)
		return false;
	*code = lowest;
	return true;
}

/* Items that descend the tree together, so that their cache misses overlap. */
#define NUM_LANES 8

#define DEFINE_CLASSIFY(name, type, tree) \
static void \
name(const mgpu_bounds *bounds, const type *codes, uint16_t *buckets, uint32_t num_items) \
{ \
	uint32_t	levels = bounds->tree_levels; \
	uint32_t	first_leaf = UINT32_C(1) << levels; \
	uint32_t	i = 0; \
	for (; i + NUM_LANES <= num_items; i += NUM_LANES) \
	{ \
		uint32_t	node[NUM_LANES]; \
		for (int k = 0; k < NUM_LANES; k++) \
			node[k] = 1; \
		for (uint32_t level = 0; level < levels; level++) \
			for (int k = 0; k < NUM_LANES; k++) \
				node[k] = 2 * node[k] + (codes[i + k] > bounds->tree[node[k]]); \
		for (int k = 0; k < NUM_LANES; k++) \
			buckets[i + k] = (uint16_t) (node[k] - first_leaf); \
	} \
	for (; i < num_items; i++) \
	{ \
		uint32_t	node = 1; \
		for (uint32_t level = 0; level < levels; level++) \
			node = 2 * node + (codes[i] > bounds->tree[node]); \
		buckets[i] = (uint16_t) (node - first_leaf); \
	} \
}

DEFINE_CLASSIFY(classify_narrow, uint64_t, narrow)
DEFINE_CLASSIFY(classify_wide, mgpu_u128, wide)

void
mgpu_classify(const mgpu_bounds *bounds, const void *codes, uint32_t width,
			  uint16_t *buckets, uint32_t num_items)
{
	if (width == 16)
		classify_wide(bounds, codes, buckets, num_items);
	else
		classify_narrow(bounds, codes, buckets, num_items);
}
