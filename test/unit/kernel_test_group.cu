/*
 * kernel_test_group.cu
 *		Jobs of MGPU_OP_GROUP on the CUDA engine, against played devices, byte for byte.
 *
 * Both engines run the same random cases (unit_group.h).  Groups come in any order: records are sorted by their keys
 * before they are compared, and values of groups are found by the counts in front of them.
 */
#include "kernel_test.cuh"

#include <algorithm>
#include <cstring>

#include "played/played_engine.h"
#include "unit_joins.h"

#define MAX_PAGES 8192			/* 64 MB */

static char *pages;				/* pinned by both engines, as are slots */
static char *slots;
static int	device = -1;
static char *kept;				/* device memory for all pages */
static int	num_compared;		/* cases whose results were */
static int	num_full;			/* ... and those whose rows had more matches than there was room for */

static void
require(mgpu_status status, const mgpu_error &err, const char *call)
{
	CHECK(status == MGPU_OK, "%s: status %d, %s", call, status, err.message);
	REQUIRE_CUDA(status == MGPU_OK ? cudaSuccess : cudaErrorUnknown);
}

static void
start()
{
	uint64_t	page_bytes = (uint64_t) MAX_PAGES * MGPU_PAGE_BYTES;
	uint64_t	slot_bytes = (uint64_t) GROUP_NUM_SLOTS * GROUP_SLOT_BYTES;
	int			played = 0;
	mgpu_error	err = {};

	pages = static_cast<char *>(aligned_alloc(4096, page_bytes));
	slots = static_cast<char *>(aligned_alloc(4096, slot_bytes));
	memset(pages, 0, page_bytes);
	memset(slots, 0, slot_bytes);
	require(mgpu_cuda_engine.start(&device, &err), err, "start");
	require(mgpu_cuda_engine.keep(device, page_bytes, &kept, &err), err, "keep");
	require(mgpu_cuda_engine.pin(pages, page_bytes, &err), err, "pin");
	require(mgpu_cuda_engine.pin(slots, slot_bytes, &err), err, "pin");
	mgpu_played_reset();
	mgpu_played.device_bytes = UINT64_C(64) << 30;
	require(mgpu_played_engine.start(&played, &err), err, "start");
	require(mgpu_played_engine.pin(pages, page_bytes, &err), err, "pin");
	require(mgpu_played_engine.pin(slots, slot_bytes, &err), err, "pin");
}

static group_driver
make_driver(const mgpu_engine *engine, uint32_t most_refs, uint64_t expected_rows)
{
	group_driver driver = {};

	driver.engine = engine;
	driver.device = engine == &mgpu_cuda_engine ? device : 0;
	driver.slots = slots;
	driver.options.device = -1;
	driver.options.num_threads = 1;
	driver.most_refs = most_refs;
	driver.expected_rows = expected_rows;
	return driver;
}

static bool
returns_values(const group_case &job, uint32_t sort)
{
	return (job.spec.sorts[sort].returns & MGPU_SORT_VALUES) != 0;
}

/* The numbers of records, by their keys; and of each sort, where a group's values begin. */
struct ordered_groups
{
	std::vector<uint64_t> order;
	std::vector<uint64_t> begins[MGPU_GROUP_MAX_SORTS];

	ordered_groups(const group_case &job, const group_outcome &outcome)
	{
		uint32_t	words = outcome.record.num_words;
		const uint64_t *records = outcome.records;

		for (uint64_t group = 0; group < outcome.result.num_groups; group++)
			order.push_back(group);
		std::sort(order.begin(), order.end(), [=] (uint64_t a, uint64_t b)
		{
			/* all but the rows: keys, and which of them are NULL */
			return std::lexicographical_compare(records + a * words + 1, records + a * words + 2 + job.spec.num_keys,
												records + b * words + 1, records + b * words + 2 + job.spec.num_keys);
		});
		for (uint32_t sort = 0; sort < job.spec.num_sorts; sort++)
		{
			uint64_t	begin = 0;

			for (uint64_t group = 0; group < outcome.result.num_groups; group++)
			{
				begins[sort].push_back(begin);
				begin += returns_values(job, sort) ? records[group * words + outcome.record.sorts[sort]] : 0;
			}
			CHECK(begin == outcome.result.num_sorted[sort], "counts do not add up");
		}
	}
};

/* The values of a sort of two groups that have as many. */
static bool
has_same_values(const group_case &job, uint32_t sort, const group_outcome &a, uint64_t begin_a, const group_outcome &b,
				uint64_t begin_b, uint64_t count)
{
	uint64_t	width = job.spec.columns[job.spec.sorts[sort].column].width;

	return memcmp(a.sorted[sort] + begin_a * width, b.sorted[sort] + begin_b * width, count * width) == 0;
}

static void
compare_groups(const group_case &job, const group_outcome &ours, const group_outcome &played, const char *name)
{
	uint32_t	words = ours.record.num_words;
	uint64_t	num_wrong = 0;

	CHECK(ours.result.num_rows == played.result.num_rows && ours.result.num_groups == played.result.num_groups,
		  "%s: %llu rows in %llu groups, not %llu in %llu", name, (unsigned long long) ours.result.num_rows,
		  (unsigned long long) ours.result.num_groups, (unsigned long long) played.result.num_rows,
		  (unsigned long long) played.result.num_groups);
	if (ours.result.num_groups != played.result.num_groups)
		return;

	ordered_groups our_order(job, ours);
	ordered_groups played_order(job, played);

	for (uint64_t i = 0; i < ours.result.num_groups; i++)
	{
		uint64_t	a = our_order.order[i];
		uint64_t	b = played_order.order[i];
		bool		is_same = memcmp(ours.records + a * words, played.records + b * words, words * 8) == 0;

		for (uint32_t sort = 0; is_same && sort < job.spec.num_sorts; sort++)
			is_same = has_same_values(job, sort, ours, our_order.begins[sort][a], played, played_order.begins[sort][b],
									  returns_values(job, sort) ? ours.records[a * words + ours.record.sorts[sort]] : 0);
		num_wrong += !is_same;
	}
	CHECK(num_wrong == 0, "%s: %llu of %llu groups differ", name, (unsigned long long) num_wrong,
		  (unsigned long long) ours.result.num_groups);
}

/* The rows that come back, in the same order. */
static void
compare_rows(const group_case &job, const group_outcome &ours, const group_outcome &played, const char *name)
{
	bool		is_same = ours.result.num_rows == played.result.num_rows && ours.result.num_groups == played.result.num_groups &&
		ours.result.num_returned == played.result.num_returned;

	CHECK(is_same, "%s: %llu rows of %llu come back, not %llu of %llu", name, (unsigned long long) ours.result.num_returned,
		  (unsigned long long) ours.result.num_rows, (unsigned long long) played.result.num_returned,
		  (unsigned long long) played.result.num_rows);
	if (!is_same)
		return;
	CHECK(memcmp(ours.records, played.records, mgpu_group_record_bytes(&job.spec, &ours.result)) == 0, "%s: marks differ", name);
	for (uint32_t i = 0; i < job.spec.num_columns; i++)
		CHECK(memcmp(ours.sorted[i], played.sorted[i], mgpu_group_value_bytes(&job.spec, &ours.result, i)) == 0,
			  "%s: the values of column %u differ", name, i);
}

static void
compare(const group_case &job, const group_outcome &ours, const group_outcome &played, const char *name)
{
	if (job.spec.num_matches > 0 && ours.status == MGPU_UNSUPPORTED && strstr(ours.err.message, "more matches") != nullptr)
	{
		num_full++;
		return;
	}
	CHECK(ours.status == played.status, "%s: status %d (%s), not %d (%s)", name, ours.status, ours.err.message,
		  played.status, played.err.message);
	if (ours.status == MGPU_OK && played.status == MGPU_OK)
		(job.spec.limit_rule != MGPU_LIMIT_NONE ? compare_rows : compare_groups) (job, ours, played, name);
}

/* The device has kept the pages of the run before, whose memory is spoiled: it reads them once more. */
static void
compare_kept(group_driver driver, group_case &job, const group_outcome &played, const char *name)
{
	group_outcome ours;
	char		longer[128];

	snprintf(longer, sizeof(longer), "%s, kept", name);
	driver.is_kept = true;
	group_drive_case(&driver, &job, &ours);
	compare(job, ours, played, longer);
	group_free_outcome(&ours);
}

/* Run a case on both engines, and free it. */
static void
compare_case(group_case &job, uint32_t most_refs, uint64_t expected_rows, const char *name)
{
	group_driver played_driver = make_driver(&mgpu_played_engine, most_refs, expected_rows);
	group_driver driver = make_driver(&mgpu_cuda_engine, most_refs, expected_rows);
	group_outcome played;
	group_outcome ours;

	driver.spoils = true;
	driver.kept = kept;
	driver.num_kept = MAX_PAGES;
	group_drive_case(&played_driver, &job, &played);
	group_drive_case(&driver, &job, &ours);
	compare(job, ours, played, name);
	num_compared += ours.status == MGPU_OK && played.status == MGPU_OK;
	if (ours.status == MGPU_OK)
		compare_kept(driver, job, played, name);
	CHECK(ours.status != MGPU_OK || job.num_pages == 0 || ours.stats.upload_ms > 0, "%s: no time passed", name);
	group_free_outcome(&ours);
	group_free_outcome(&played);
	group_free_case(&job);
}

static void
test_random_cases(int num_cases, bool damaged)
{
	num_compared = 0;
	for (int i = 0; i < num_cases; i++)
	{
		group_case	job;
		char		name[64];

		snprintf(name, sizeof(name), "%s case %d", damaged ? "damaged" : "random", i);
		group_random_case(&job, (uint64_t) (i + 1), pages, damaged ? 8 : 1u << i % 6);
		if (damaged)
			group_damage_pages(&job);
		/* columns grow where fewer rows are expected */
		compare_case(job, 1 + (uint32_t) i % 40, i % 3 == 0 ? job.num_rows : i % 3 == 1 ? 0 : 10, name);
	}
	CHECK(damaged || num_compared > num_cases / 2, "%d of %d cases ended", num_compared, num_cases);
}

/* Rows that match rows of a build.  Of those that have more matches than the rows so far, the engine says so. */
static void
test_joins(int num_cases)
{
	num_compared = 0;
	num_full = 0;
	for (int i = 1; i < num_cases; i++)
	{
		group_case	job;
		join_case	join;
		char		name[64];

		snprintf(name, sizeof(name), "joined case %d", i);
		group_random_case(&job, (uint64_t) i, pages, 0);
		if (!join_random_case(&job, (uint64_t) i, &join))
		{
			group_free_case(&job);
			continue;
		}
		free(job.num_items);
		group_write_pages(&job, pages, 1 + group_below(&job, 12));
		compare_case(job, 1 + (uint32_t) i % 8, i % 3 > 0 ? 100 * job.num_rows : 0, name);
	}
	CHECK(num_compared > num_cases / 12, "%d of %d joined cases ended", num_compared, num_cases);
	CHECK(num_full <= num_compared / 4, "%d joined cases had too many rows", num_full);
}

/* ------------------------------------------------------------- large cases */

/* Four columns: a key, two values, a float. */
static void
plan_large(group_case &job, uint64_t seed, uint64_t num_keys, uint32_t value_width)
{
	static const uint32_t kinds[] = {MGPU_KEY_SIGNED, MGPU_KEY_SIGNED, MGPU_KEY_UNSIGNED, MGPU_KEY_FLOAT};
	static const uint32_t reductions[] = {MGPU_REDUCE_NONE, MGPU_REDUCE_INTEGER, MGPU_REDUCE_COUNT, MGPU_REDUCE_SPREAD};

	memset(&job, 0, sizeof(job));
	job.random = seed;
	job.is_short = true;
	job.spec.num_attributes = job.spec.num_columns = 4;
	for (uint32_t i = 0; i < 4; i++)
	{
		uint8_t		width = i == 0 ? 4 : i == 3 ? 8 : (uint8_t) value_width;

		job.spec.columns[i].kind = kinds[i];
		job.spec.columns[i].width = width;
		/* large groups of floats are left to the CPU */
		job.spec.columns[i].reduction = i == 3 && num_keys < 16 ? reductions[2] : reductions[i];
		job.spec.columns[i].is_shown = i == 3;
		job.spec.attributes[i] = {width, width, (int8_t) i};
		job.missing_is_null[i] = true;
		job.domains[i] = i == 0 ? num_keys : 0;
	}
	group_make_program(&job);
	group_plan_offsets(&job.spec);
	job.spec.num_keys = 1;
	job.spec.num_sorts = 2;
	job.spec.sorts[0].column = 1;
	job.spec.sorts[1].column = 2;
	job.spec.sorts[1].descending = 1;
	for (uint32_t i = 0; i < 2; i++)
	{
		job.spec.sorts[i].returns = MGPU_SORT_VALUES | MGPU_SORT_DISTINCT;
		job.spec.sorts[i].num_percentiles = 2;
		job.spec.sorts[i].percentiles[0] = {0.5, 1};
		job.spec.sorts[i].percentiles[1] = {0.9, 0};
	}
}

/* A text as the key, of three words, and a sum of two integers with it. */
static void
plan_texts(group_case &job, uint64_t seed)
{
	plan_large(job, seed, 1000, 4);
	job.spec.num_attributes = 5;
	job.spec.attributes[4] = {-1, 4, 4};
	job.spec.num_columns = 8;
	job.num_texts = 1;
	job.num_words[0] = 3;
	job.num_computed = 4;
	for (uint32_t i = 0; i < 4; i++)
	{
		job.computed[i] = i == 3 ? group_computed{GROUP_SUM, {0, 1}} : group_computed{GROUP_WORD, {0, i}};
		job.spec.columns[4 + i].kind = MGPU_KEY_SIGNED;
		job.spec.columns[4 + i].width = 8;
		job.spec.columns[4 + i].reduction = i == 3 ? MGPU_REDUCE_INTEGER : MGPU_REDUCE_NONE;
		job.spec.keys[i] = i == 3 ? 0 : 4 + i;
	}
	/* floats of large groups are left to the CPU */
	job.spec.columns[3].reduction = MGPU_REDUCE_COUNT;
	job.spec.num_keys = 3;
	job.spec.sorts[1].column = 7;
	group_make_program(&job);
	group_plan_offsets(&job.spec);
}

/* Keys that no number holds: as groups with sorted values; with another key; and rows in order. */
static void
test_large_texts()
{
	uint32_t	num_pages = quick ? 40 : MAX_PAGES;

	num_compared = 0;
	for (uint32_t variant = 0; variant < 6; variant++)
	{
		group_case	job;
		char		name[64];

		snprintf(name, sizeof(name), "texts, variant %u", variant);
		plan_texts(job, variant + 3);
		job.null_share = variant % 2 * 9;
		job.spec.num_keys = variant / 2 == 1 ? 4 : 3;
		if (variant / 2 == 2)
		{
			job.spec.num_sorts = 0;
			job.spec.limit_rule = variant == 4 ? MGPU_LIMIT_ROWS : MGPU_LIMIT_RANKS;
			job.spec.limit = 5;
			job.spec.num_orders = 2;
			job.spec.orders[0] = {7, 1, 0};
			job.spec.orders[1] = {3, 0, 1};
			for (uint32_t i = 0; i < job.spec.num_columns; i++)
			{
				job.spec.columns[i].reduction = MGPU_REDUCE_NONE;
				job.spec.columns[i].is_returned = 1;
			}
		}
		group_write_pages(&job, pages, num_pages);
		compare_case(job, MGPU_BATCH_PAGES, job.num_rows, name);
	}
	CHECK(num_compared == 6, "%d cases of texts ended", num_compared);
}

static void
test_large_cases()
{
	static const uint64_t num_keys[] = {1, 2, 300, 100000, UINT64_C(1) << 32};
	uint32_t	num_pages = quick ? 40 : MAX_PAGES;

	for (uint64_t keys : num_keys)
	{
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			group_case	job;
			char		name[64];

			snprintf(name, sizeof(name), "%llu keys, values of %u bytes", (unsigned long long) keys, width);
			plan_large(job, keys + width, keys, width);
			job.null_share = keys % 3 == 0 ? 7 : 0;
			group_write_pages(&job, pages, num_pages);
			compare_case(job, MGPU_BATCH_PAGES, job.num_rows, name);
		}
	}
}

/* A key and a value as above; rows come back in two orders, which are one sort or several. */
static void
test_large_limits()
{
	static const uint64_t limits[] = {1, 3, 100000, UINT64_MAX};
	uint32_t	num_pages = quick ? 40 : MAX_PAGES;

	for (uint64_t limit : limits)
	{
		for (uint32_t rule = MGPU_LIMIT_ROWS; rule <= MGPU_LIMIT_DENSE_RANKS; rule++)
		{
			group_case	job;
			char		name[64];

			snprintf(name, sizeof(name), "limit %llu, rule %u", (unsigned long long) limit, rule);
			plan_large(job, limit % 1000 + rule + 1, rule == MGPU_LIMIT_RANKS ? 1 : 100000, 4);
			job.spec.num_sorts = 0;
			job.spec.num_keys = limit == 100000 ? 0 : 1;
			job.spec.limit_rule = rule;
			job.spec.limit = rule == MGPU_LIMIT_DENSE_RANKS && limit > MGPU_GROUP_MAX_DENSE_RANKS ? MGPU_GROUP_MAX_DENSE_RANKS : limit;
			job.spec.num_orders = 2;
			job.spec.orders[0] = {limit == 3 ? 3u : 1u, rule == MGPU_LIMIT_RANKS, 0};
			job.spec.orders[1] = {2, 0, 1};
			job.domains[1] = rule == MGPU_LIMIT_ROWS ? 0 : 1000;
			job.null_share = rule == MGPU_LIMIT_RANKS ? 7 : 0;
			for (uint32_t i = 0; i < job.spec.num_columns; i++)
			{
				job.spec.columns[i].reduction = MGPU_REDUCE_NONE;
				job.spec.columns[i].is_returned = i != 2;
			}
			group_write_pages(&job, pages, num_pages);
			compare_case(job, MGPU_BATCH_PAGES, job.num_rows, name);
		}
	}
}

/* Memory that is used up ends a run in open or upload, and nothing stays behind. */
static void
test_limits()
{
	group_driver driver = make_driver(&mgpu_cuda_engine, 20, 0);
	group_outcome outcome;
	group_case	job;

	for (uint64_t limit : {UINT64_C(1), UINT64_C(30000), UINT64_C(200000)})
	{
		plan_large(job, 77, 50, 4);
		group_write_pages(&job, pages, 40);
		driver.options.device_memory_limit = limit;
		group_drive_case(&driver, &job, &outcome);
		CHECK(outcome.status == MGPU_DEVICE_MEMORY, "limit %llu: status %d", (unsigned long long) limit, outcome.status);
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
}

void
test_groups(void)
{
	start();
	test_random_cases(tiny ? 20 : quick ? 60 : 600, false);
	test_joins(tiny ? 200 : quick ? 400 : 1600);
	test_random_cases(tiny ? 5 : quick ? 30 : 300, true);
	test_limits();
	if (tiny)
		return;
	test_large_cases();
	test_large_texts();
	test_large_limits();
}
