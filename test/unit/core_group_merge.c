/*
 * core_group_merge.c
 *		Groups of fewer keys, merged from the records of jobs: random cases of unit_group.h.
 *
 * A played device finds groups by all keys.  These are merged by some of them, and checked against the rows as if a job had
 * found them so.
 */
#include "core/executor.h"
#include "core/group_merge.h"
#include "played/played_engine.h"
#include "unit.h"
#include "unit_group_check.h"

#define MAX_PAGES 12

static char *pages;
static char *slots;

/* Leave what can be merged of a case. */
static void
keep_merged(mgpu_group_spec *spec)
{
	for (uint32_t i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL || spec->columns[i].is_collated)
			spec->columns[i].reduction = MGPU_REDUCE_NONE;
	spec->num_sorts = spec->num_orders = 0;
	spec->limit_rule = MGPU_LIMIT_NONE;
	spec->limit = 0;
	for (uint32_t i = 0; i < spec->num_columns; i++)
		spec->columns[i].is_returned = 0;
}

/* The merged groups, as a job has them that knows of no other keys. */
static void
take_merged(const mgpu_group_merge *merge, const group_outcome *of_all, uint32_t keys, group_case *job, group_outcome *merged)
{
	mgpu_group_spec *spec = &job->spec;
	uint32_t	num_keys = spec->num_keys;
	const uint64_t *from = mgpu_group_merge_records(merge);
	uint64_t   *to;

	*merged = (group_outcome) {.status = MGPU_OK,.result = of_all->result};
	merged->result.num_groups = mgpu_group_merge_count(merge);
	spec->num_keys = 0;
	for (uint32_t key = 0; key < num_keys; key++)
		if ((keys >> key & 1) != 0)
			spec->keys[spec->num_keys++] = spec->keys[key];
	mgpu_group_plan_record(spec, &merged->record);
	merged->records = to = calloc(merged->result.num_groups + 1, merged->record.num_words * sizeof(uint64_t));
	for (uint64_t group = 0; group < merged->result.num_groups; group++, from += of_all->record.num_words, to += merged->record.num_words)
	{
		uint32_t	number = 0;

		to[0] = from[0];
		for (uint32_t key = 0; key < num_keys; key++)
		{
			if ((keys >> key & 1) == 0)
			{
				UNIT_CHECK((from[1] >> key & 1) != 0 && from[2 + key] == 0);
				continue;
			}
			to[1] |= (from[1] >> key & 1) << number;
			to[2 + number++] = from[2 + key];
		}
		memcpy(to + 2 + number, from + 2 + num_keys, (merged->record.num_words - 2 - number) * sizeof(uint64_t));
	}
}

/* Merge the groups of a case, some at a time, and again those of a merge. */
static void
merge_case(group_case *job, const group_outcome *outcome)
{
	mgpu_group_spec spec = job->spec;
	uint32_t	finer = group_below(job, 1 << spec.num_keys);
	uint32_t	keys = finer & group_below(job, 1 << spec.num_keys);
	mgpu_group_merge *first = mgpu_group_merge_create(&spec, finer);
	mgpu_group_merge *second = mgpu_group_merge_create(&spec, keys);
	uint32_t	step = 1 + group_below(job, 300);
	group_outcome merged;

	for (uint64_t begin = 0; begin < outcome->result.num_groups; begin += step)
	{
		uint64_t	count = outcome->result.num_groups - begin < step ? outcome->result.num_groups - begin : step;

		UNIT_CHECK(mgpu_group_merge_add(first, outcome->records + begin * outcome->record.num_words, count));
	}
	UNIT_CHECK(mgpu_group_merge_add(second, mgpu_group_merge_records(first), mgpu_group_merge_count(first)));
	UNIT_CHECK(mgpu_group_merge_finish(second) && mgpu_group_merge_bytes(second) >= mgpu_group_merge_count(second) * sizeof(uint64_t));
	take_merged(second, outcome, keys, job, &merged);
	check_answer(job, &merged);
	job->spec = spec;
	group_free_outcome(&merged);
	mgpu_group_merge_free(first);
	mgpu_group_merge_free(second);
}

static void
test_cases(void)
{
	group_driver driver = {.engine = &mgpu_played_engine,.slots = slots,.most_refs = 3};
	unsigned long num_merged = 0;

	for (uint64_t seed = 1; seed <= 400; seed++)
	{
		group_outcome outcome;
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, seed % 10 == 0 ? MAX_PAGES : 4);
		keep_merged(&job.spec);
		UNIT_CHECK(mgpu_group_may_merge(&job.spec));
		group_drive_case(&driver, &job, &outcome);
		if (outcome.status == MGPU_OK)
			merge_case(&job, &outcome);
		num_merged += outcome.status == MGPU_OK && outcome.result.num_groups > 1;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_merged > 100);
}

/* What needs rows in order, or their values. */
static void
test_others(void)
{
	static const uint32_t reductions[] = {MGPU_REDUCE_REAL, MGPU_REDUCE_SPREAD, MGPU_REDUCE_PAIRS};
	mgpu_group_spec *spec = calloc(1, sizeof(*spec));

	spec->num_columns = 2;
	spec->columns[1].reduction = MGPU_REDUCE_EXTREMES;
	UNIT_CHECK(mgpu_group_may_merge(spec));
	spec->columns[1].is_collated = 1;
	UNIT_CHECK(!mgpu_group_may_merge(spec));
	spec->columns[1].is_collated = 0;
	for (int i = 0; i < 3; i++)
	{
		spec->columns[1].reduction = reductions[i];
		UNIT_CHECK(!mgpu_group_may_merge(spec));
	}
	spec->columns[1].reduction = MGPU_REDUCE_COUNT;
	spec->num_sorts = 1;
	UNIT_CHECK(!mgpu_group_may_merge(spec));
	spec->num_sorts = 0;
	spec->limit_rule = MGPU_LIMIT_ROWS;
	UNIT_CHECK(!mgpu_group_may_merge(spec));
	mgpu_group_merge_free(NULL);
	free(spec);
}

int
main(void)
{
	int			device = 0;
	mgpu_error	err;

	pages = aligned_alloc(4096, MAX_PAGES * MGPU_PAGE_BYTES);
	slots = aligned_alloc(4096, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES);
	mgpu_played_reset();
	UNIT_CHECK(mgpu_played_engine.start(&device, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(pages, MAX_PAGES * MGPU_PAGE_BYTES, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(slots, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES, &err) == MGPU_OK);
	test_cases();
	test_others();
	mgpu_played_reset();
	free(pages);
	free(slots);
	return unit_report();
}
