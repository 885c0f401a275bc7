/*
 * pair_parts.c
 *		Sorts values by keys, a part of the order at a time.
 *
 * Positions of all elements take four bytes each, for which a result of narrower
 * values, or of NULL ones, has no room.  So bounds from a sample cut the codes of
 * keys (key_codes.h) into parts of some hundred thousand elements.  For each part
 * a walk over all keys finds its elements, a job puts them in order, and their
 * values are the next of the result.  Elements with one code are in order already,
 * however many they are.
 *
 * The walks take time that grows with the square of the number of elements; of ten
 * million, all takes half as long again as positions of all do.  Keeping each
 * element's part was rejected: a byte an element is as much as such values have.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"
#include "core/executor.h"

#include "array_result.h"
#include "compat.h"
#include "key_codes.h"
#include "pair_parts.h"
#include "run_series.h"
#include "settings.h"

/* Elements that a part may have, and those that it is planned to. */
#define PART_ITEMS (1024 * 1024)
#define TEST_PART_ITEMS (4 * BLOCK_ITEMS)
#define PLANNED(part_items) ((part_items) / 4 * 3)

/* Codes made at a time. */
#define BLOCK_ITEMS 1024

#define SAMPLES_PER_PART 64

/* Blocks between looks at interrupts. */
#define STEP_BLOCKS 256

typedef struct pair_parts
{
	const sort_spec *spec;
	const element_type *key_type;
	key_codes	codes;
	pair_filler *filler;
	run_series	series;

	/* of a part: part_items, and a block more */
	int64		part_items;
	uint32	   *members;		/* numbers of keys that are there, then positions */
	uint64	   *part_codes;
	uint32	   *order;
	char	   *part_keys;		/* where codes do not say everything */
	int64		num_members;
} pair_parts;

/* Codes from low to high, both included. */
typedef struct code_range
{
	uint64		low;
	uint64		high;
} code_range;

bool
pair_parts_apply(const sort_spec *spec, const element_type *key_type)
{
	return spec->segments == NULL && key_codes_apply(key_type);
}

static void
allocate(pair_parts *parts)
{
	parts->part_items = mgpu_setting_inject_fault == MGPU_FAULT_ROOM ? TEST_PART_ITEMS : PART_ITEMS;
	parts->members = array_result_scratch((parts->part_items + BLOCK_ITEMS) * sizeof(uint32));
	parts->part_codes = array_result_scratch((parts->part_items + BLOCK_ITEMS) * sizeof(uint64));
	parts->order = array_result_scratch(parts->part_items * sizeof(uint32));
	if (!parts->codes.exact)
		parts->part_keys = array_result_scratch((Size) parts->part_items * parts->key_type->stride);
}

static void
release(pair_parts *parts)
{
	pfree(parts->members);
	pfree(parts->part_codes);
	pfree(parts->order);
	if (parts->part_keys)
		pfree(parts->part_keys);
}

/* ---- cuts */

/*
 * Elements of a range are members from num_members on, as many as there is room for.
 * *next: a key's number, from which on, moved behind those that were looked at.
 * False: some key has no code.
 */
static bool
collect(pair_parts *parts, const code_range *range, int64 *next)
{
	uint64		span = range->high - range->low;
	int64		num_members = 0;
	uint64		codes[BLOCK_ITEMS];

	for (int64 block = 0; *next < parts->codes.num_items && num_members <= parts->part_items - BLOCK_ITEMS; block++)
	{
		int			count = Min(BLOCK_ITEMS, parts->codes.num_items - *next);

		if (!key_codes_read(&parts->codes, *next, count, codes))
			return false;
		for (int i = 0; i < count; i++)
		{
			parts->members[num_members] = (uint32) (*next + i);
			parts->part_codes[num_members] = codes[i];
			num_members += codes[i] - range->low <= span;
		}
		*next += count;
		if (block % STEP_BLOCKS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	parts->num_members = num_members;
	return true;
}

/* Codes that are in order, at some distance from each other.  NULL: some key has no code. */
static uint64 *
sample_codes(const pair_parts *parts, int64 num_samples)
{
	uint64	   *samples = palloc(num_samples * sizeof(uint64));
	uint64		random = 1;

	for (int64 i = 0; i < num_samples; i++)
	{
		int64		begin = parts->codes.num_items * i / num_samples;
		int64		end = parts->codes.num_items * (i + 1) / num_samples;

		random = random * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
		if (!key_codes_read(&parts->codes, begin + (random >> 33) % Max(end - begin, 1), 1, &samples[i]))
			return NULL;
	}
	mgpu_vqsort_prepare();
	mgpu_vqsort(samples, num_samples, sizeof(uint64));
	return samples;
}

/* Where a range that has too many elements is cut: by the middle one of some that were found. */
static uint64
middle_code(pair_parts *parts, const code_range *range)
{
	uint64		found[SAMPLES_PER_PART];

	for (int i = 0; i < SAMPLES_PER_PART; i++)
		found[i] = parts->part_codes[parts->num_members * i / SAMPLES_PER_PART];
	mgpu_vqsort(found, SAMPLES_PER_PART, sizeof(uint64));
	return Min(found[SAMPLES_PER_PART / 2], range->high - 1);
}

/* ---- parts */

/* Keys of members, for a job: what distinguishes them in as few bytes as it takes. */
static void
describe_keys(pair_parts *parts, run_request *request)
{
	const element_type *type = parts->key_type;
	uint32	   *narrow = (uint32 *) parts->part_codes;

	request->job.key_kind = MGPU_KEY_UNSIGNED;
	request->job.key_width = sizeof(uint64);
	request->binding.in_keys = parts->part_codes;
	if (parts->part_keys)
	{
		for (int64 i = 0; i < parts->num_members; i++)
			memcpy(parts->part_keys + i * type->stride, parts->codes.data + (Size) parts->members[i] * type->stride,
				   type->stride);
		request->job.key_kind = type->key_kind;
		request->job.key_width = type->key_width;
		request->job.descending = parts->spec->order.descending;
		request->binding.in_keys = parts->part_keys;
	}
	else if (type->is_enum || (type->key_kind != 0 && type->key_width <= sizeof(uint32)))
	{
		for (int64 i = 0; i < parts->num_members; i++)
			narrow[i] = (uint32) parts->part_codes[i];
		request->job.key_width = sizeof(uint32);
	}
}

static void
sort_members(pair_parts *parts)
{
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = parts->spec->function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.algorithm = parts->spec->algorithm;
	request.job.outputs = MGPU_OUT_INDICES;
	request.job.num_items = parts->num_members;
	request.binding.out_indices = parts->order;
	describe_keys(parts, &request);
	run_series_job(&parts->series, &request);
}

/* Numbers of keys become positions. */
static void
find_positions(pair_parts *parts)
{
	for (int64 i = 0; i < parts->num_members; i++)
		parts->members[i] = pair_filler_position(parts->filler, parts->members[i]);
}

static void
add_members(pair_parts *parts)
{
	find_positions(parts);
	for (int64 i = 0; i < parts->num_members; i++)
		parts->order[i] = parts->members[parts->order[i]];
	pair_filler_add(parts->filler, parts->order, parts->num_members);
}

/* Elements with one code, which are the same, but for keys that have more behind it. */
static bool
add_alike(pair_parts *parts, const code_range *range, int64 next)
{
	if (!parts->codes.exact)
		return false;
	for (;;)
	{
		find_positions(parts);
		pair_filler_add(parts->filler, parts->members, parts->num_members);
		if (next == parts->codes.num_items)
			return true;
		if (!collect(parts, range, &next))
			return false;
	}
}

/* All elements of a range, by as many parts as it takes. */
static bool
add_range(pair_parts *parts, code_range range)
{
	for (;;)
	{
		code_range	part = range;
		int64		next = 0;

		if (!collect(parts, &part, &next))
			return false;
		while (next < parts->codes.num_items && part.low < part.high)
		{
			part.high = middle_code(parts, &part);
			next = 0;
			if (!collect(parts, &part, &next))
				return false;
		}
		if (next < parts->codes.num_items || (parts->codes.exact && part.low == part.high))
		{
			if (!add_alike(parts, &part, next))
				return false;
		}
		else if (parts->num_members > 0)
		{
			sort_members(parts);
			add_members(parts);
		}
		if (part.high == range.high)
			return true;
		range.low = part.high + 1;
	}
}

static bool
add_keys(pair_parts *parts)
{
	int64		num_parts = parts->codes.num_items / PLANNED(parts->part_items) + 1;
	uint64	   *samples = sample_codes(parts, num_parts * SAMPLES_PER_PART);
	code_range	range = {0, 0};
	bool		done = samples != NULL;

	for (int64 i = 1; done && i <= num_parts; i++)
	{
		range.high = i < num_parts ? samples[i * SAMPLES_PER_PART] : PG_UINT64_MAX;
		if (range.high < range.low)
			continue;
		done = add_range(parts, range);
		range.low = range.high + 1;
		if (range.low == 0)
			break;
	}
	if (samples)
		pfree(samples);
	return done;
}

bool
pair_parts_sort(const sort_spec *spec, const array_source *keys, const element_type *key_type, pair_filler *filler)
{
	pair_parts	parts;
	bool		done = true;

	memset(&parts, 0, sizeof(parts));
	key_codes_open(&parts.codes, keys, key_type, spec->order.descending);
	parts.spec = spec;
	parts.key_type = key_type;
	parts.filler = filler;
	allocate(&parts);
	run_note_cpu(spec->function, "quick", 0, 0, parts.codes.num_items > 0 ? "all keys are equal" : "all keys are NULL");
	run_series_begin(&parts.series);
	if (parts.codes.num_items > 0)
		done = add_keys(&parts);
	run_series_end(&parts.series);
	release(&parts);
	key_codes_close(&parts.codes);
	return done;
}
