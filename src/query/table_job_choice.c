/*
 * table_job_choice.c
 *		Whether a job is worth its trial: what threads can hold, and what was beyond programs before.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "compat.h"
#include "core/cpu_tuning.h"
#include "core/sizes.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "settings.h"

/* ---- threads */

/* Rows from which threads are worth their start. */
#define THREADS_MIN_ROWS MGPU_SIZE(50000, 100)

/* Whether floats are added, which is in the order of the rows. */
static bool
adds_floats(const mgpu_group_spec *spec)
{
	for (uint32 i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
			return true;
	return false;
}

/* Bytes of rows that are kept until the last has come. */
static double
kept_bytes(const mgpu_group_spec *spec, double num_rows)
{
	return num_rows * (spec->num_columns * sizeof(uint64) + sizeof(uint32));
}

/*
 * The share of the largest part in all rows: that of groups, whose number in a part is as chance has it, or of values, which are many where
 * they are only counted.
 */
static double
largest_part(const mgpu_group_spec *spec, double num_groups)
{
	if (spec->num_keys == 0)
		return mgpu_group_only_counts(spec) ? 2.0 / MGPU_TABLE_PARTS : 1;
	return 1.0 / MGPU_TABLE_PARTS + 3 / sqrt(MGPU_TABLE_PARTS * num_groups) + 2 / num_groups;
}

/* Bytes of groups: records and places in a table. */
static double
group_bytes(const mgpu_group_spec *spec, double num_groups)
{
	mgpu_group_record record;

	mgpu_group_plan_record(spec, &record);
	return num_groups * (record.num_words + 4) * sizeof(uint64);
}

/*
 * Values that do not fit are sorted by ranges (core/cpu/table/table_ranges.c), which have at least this share of the memory.  All rows are read
 * for each range, but few ranges have percentiles.  Each group needs some memory besides.
 */
#define RANGES_SHARE 0.5
#define MOST_RANGES 16
#define RANGES_GROUP_BYTES 4096

/* Bytes of a sort while threads work on parts with so many rows, in so many groups: of values, and numbers of groups. */
static double
sort_bytes(const mgpu_group_spec *spec, const mgpu_group_sort *sort, double num_rows, double num_groups)
{
	uint32		num_cells = spec->columns[sort->column].num_cells;
	double		bytes = num_rows * (sizeof(uint64) + sizeof(uint32));
	double		share = run_table_memory() * RANGES_SHARE;

	/* a place in a table, if all values differ; those that do not fit are left to further passes (core/cpu/table/table_distinct.c) */
	if (num_cells > 0)
	{
		bytes += num_rows * (1.25 * (3 + num_cells) + 3) * sizeof(uint64);
		return bytes <= share * MOST_RANGES ? Min(bytes, share) : bytes;
	}
	if ((sort->returns & MGPU_SORT_VALUES) != 0 || num_groups * RANGES_GROUP_BYTES > share ||
		((sort->returns & MGPU_SORT_DISTINCT) != 0 && num_rows * sizeof(uint64) > share * MOST_RANGES))
		return bytes;
	return Min(2 * bytes, share);
}

/* Bytes of the parts that threads work on, of values that come back, and of texts that have names. */
static double
part_bytes(const mgpu_group_spec *spec, double num_rows, double num_results)
{
	double		groups = Max(num_results, 1);
	double		of_all = Min(1, run_table_threads() * largest_part(spec, groups));
	double		sorted = 0;
	double		waiting = 0;

	for (uint32_t i = 0; i < spec->num_sorts; i++)
	{
		sorted = Max(sorted, sort_bytes(spec, &spec->sorts[i], num_rows * of_all, groups * of_all));
		if ((spec->sorts[i].returns & MGPU_SORT_VALUES) != 0)
			waiting += num_rows * sizeof(uint64);
	}
	return sorted + waiting + of_all * group_bytes(spec, groups) + spec->name_bytes;
}

/* Of it, what is for rows and groups that wait, though parts take all that is left, and though they take nothing; beyond it they go to a file. */
#define LEAST_WAITING 0.125
#define MOST_WAITING 0.5

/*
 * Rows of a group from which on groups may go to the file.  10M groups of 10M rows took twice as long there as in the node, 1.7M of 4M as long,
 * 1M of 10M a third.  Joined rows would come to the node one by one.
 */
#define FILED_GROUP_ROWS 2

/*
 * Rows that are sorted beyond memory are cut into parts (core/cpu/table/table_order_parts.c), up to so many times as many.  They are written three times, so two
 * threads take a quarter longer than the node with its own sorted runs, unless it would have joined rows one by one, or those of windows, or
 * returned the first rows of many partitions: 340 ms for 110,000 of 550,000 rows, and here 145.
 */
#define MOST_ORDER_PARTS (MGPU_TABLE_PARTS / 4)
#define LEAST_ORDER_THREADS MGPU_SIZE(3, 2)

/* Whether rows beyond a limit are dropped as they come, so that the others stay in memory. */
static bool
is_cut(const mgpu_group_spec *spec, double num_results)
{
	double		cut = (double) mgpu_cpu_table_cut(spec);

	return cut > 0 && (spec->num_keys == 0 || num_results <= cut * MGPU_TABLE_CUT_GROUPS);
}

static double
order_bytes(const mgpu_group_spec *spec, double num_rows)
{
	return num_rows * (spec->num_columns + 2) * sizeof(uint64);
}

static bool
order_fits_in_memory(const mgpu_group_spec *spec, double num_rows, double num_results)
{
	bool		cuts = is_cut(spec, num_results);
	bool		is_worth = run_table_threads() >= LEAST_ORDER_THREADS || spec->num_builds > 0 || spec->limit < UINT64_MAX;
	bool		has_parts = !cuts && (spec->takes_rows || (!mgpu_group_passes_rows(spec) && is_worth));

	return order_bytes(spec, cuts ? Min(num_rows, num_results) : num_rows) <= run_table_memory() * (has_parts ? MOST_ORDER_PARTS : 1);
}

bool
table_job_may_order(const mgpu_group_spec *spec, double num_rows)
{
	return order_bytes(spec, num_rows) <= run_table_memory() * MOST_ORDER_PARTS;
}

/* Whether what threads work on fits in memory, and groups do, or are few beside rows. */
static bool
fits_in_memory(const mgpu_group_spec *spec, double num_rows, double num_results)
{
	if (spec->limit_rule != MGPU_LIMIT_NONE)
		return order_fits_in_memory(spec, num_rows, num_results);
	if (spec->num_builds == 0 && num_results * FILED_GROUP_ROWS > num_rows && group_bytes(spec, num_results) > run_table_memory())
		return false;
	return part_bytes(spec, num_rows, num_results) <= run_table_memory() * (1 - LEAST_WAITING);
}

/* Rows may be more than expected.  A file that is not written is still one more that the server's statistics count. */
#define MORE_ROWS 8

/*
 * Whether no rows are kept, so that none go to a file: each is added to its group at once, unless threads have many groups (core/cpu/table).
 * Estimates of joined rows, and of their groups, may be far from what comes.
 */
static bool
keeps_none(const mgpu_group_spec *spec, double num_results)
{
	bool		are_few = spec->num_builds == 0 && group_bytes(spec, num_results) < (double) mgpu_cpu_tunables.table_fold_bytes / 8;

	return spec->num_sorts == 0 && spec->limit_rule == MGPU_LIMIT_NONE && (spec->num_keys == 0 || are_few);
}

/*
 * Rows that are expected to wait, of so many.  Of first rows, threads keep what they have not looked at again, and some of each group; of ranks they
 * may keep all.
 */
static double
waiting_rows(const mgpu_group_spec *spec, double num_rows, double num_results)
{
	if (spec->limit_rule != MGPU_LIMIT_ROWS || !is_cut(spec, num_results))
		return num_rows;
	return Min(num_rows, 2.0 * run_table_threads() * (MGPU_TABLE_CUT_ROWS + num_results));
}

uint64
table_job_memory_before_file(const mgpu_group_spec *spec, double num_rows, double num_results, double num_read)
{
	bool		has_limit = spec->limit_rule != MGPU_LIMIT_NONE;
	double		memory = run_table_memory();
	double		bytes = memory - (has_limit ? 0 : part_bytes(spec, num_rows, num_results));
	double		most_rows = Max(num_rows * MORE_ROWS, spec->num_builds > 0 ? num_read : 0);
	double		waiting = kept_bytes(spec, waiting_rows(spec, most_rows, num_results)) + (has_limit ? spec->build_bytes : 0);

	/* groups may be more than expected, and work on rows takes memory, too; sorted rows go to the file all or none */
	if (has_limit && !mgpu_group_passes_rows(spec))
		bytes = memory * (1 - LEAST_WAITING);
	else
		bytes = Max(Min(bytes, memory * MOST_WAITING), memory * LEAST_WAITING);
	if (keeps_none(spec, num_results) || waiting <= bytes)
		return UINT64_MAX;
	return (uint64) bytes;
}

/* Rows of a build from which a job of its own reads them. */
#define BUILD_MIN_ROWS MGPU_SIZE(20000, 50)

/* One thread is worth it, too: of a hundred statements it takes 0.86 of the time in the mean. */
bool
table_job_has_threads(double num_read)
{
	return mgpu_setting_enable_threads && num_read >= THREADS_MIN_ROWS;
}

/* One thread is worth it: a build's rows are cells anyway. */
bool
table_job_reads_build(double num_read)
{
	return mgpu_setting_enable_threads && num_read >= BUILD_MIN_ROWS;
}

bool
table_job_is_for_threads(const mgpu_group_spec *spec, double num_read, double num_rows, double num_results)
{
	return table_job_has_threads(num_read) && fits_in_memory(spec, num_rows, num_results);
}

/* Rows that a row of the table becomes by its matches, at most, if a GPU is to do it: its threads wait for the one that has most. */
#define GPU_MOST_MATCHES 16

bool
table_job_is_for_gpu(const mgpu_group_spec *spec, double num_read, double num_rows)
{
	/* floats of one group take a CPU's thread less time */
	return !mgpu_group_needs_threads(spec) && (spec->num_keys > 0 || !adds_floats(spec)) && (spec->num_matches == 0 || num_rows <= num_read * GPU_MOST_MATCHES);
}

/* ---- what was beyond programs */

#define NUM_REMEMBERED 64

static uint64 remembered[NUM_REMEMBERED];
static int	next_remembered = 0;

uint64
table_job_number(const table_job *job, const table_question *question)
{
	return DatumGetUInt64(hash_any_extended((const unsigned char *) job->spec, offsetof(mgpu_group_spec, constants),
											question->scan.relation ? RelationGetRelid(question->scan.relation) : 0));
}

bool
table_job_is_remembered(uint64 number)
{
	for (int i = 0; i < NUM_REMEMBERED; i++)
		if (remembered[i] == number)
			return true;
	return false;
}

void
table_job_remember(uint64 number)
{
	remembered[next_remembered] = number;
	next_remembered = (next_remembered + 1) % NUM_REMEMBERED;
}
