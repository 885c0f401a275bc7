/*
 * table_job_choice.c
 *		Whether a job is worth its trial: what threads can hold, and what was beyond programs before.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "compat.h"
#include "core/sizes.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "settings.h"

/* ---- threads */

/* Rows from which threads are worth their start. */
#define THREADS_MIN_ROWS MGPU_SIZE(50000, 100)

/* Whether each row goes to its group at once: integers are added in any order. */
static bool
adds_at_once(const mgpu_group_spec *spec)
{
	for (uint32 i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
			return false;
	return spec->num_sorts == 0 && spec->limit_rule == MGPU_LIMIT_NONE;
}

/* Words for a row, beside its columns: what is sorted of it; of values that are looked up, a place in a table, if all differ. */
static double
words_beside(const mgpu_group_spec *spec)
{
	double		words = 2;

	for (uint32 i = 0; i < spec->num_sorts; i++)
		if (spec->columns[spec->sorts[i].column].num_cells > 0)
			words = Max(words, 1.25 * (3 + spec->columns[spec->sorts[i].column].num_cells) + 4);
	return words;
}

/* Bytes that are kept: groups, or rows until the last has come. */
static double
kept_bytes(const mgpu_group_spec *spec, double num_rows, double num_results)
{
	mgpu_group_record record;

	if (spec->limit_rule != MGPU_LIMIT_NONE)
		num_rows = Min(num_rows, num_results);
	if (!adds_at_once(spec))
		return num_rows * (spec->num_columns + words_beside(spec)) * sizeof(uint64);
	mgpu_group_plan_record(spec, &record);
	return num_results * (record.num_words + 4) * sizeof(uint64);
}

/*
 * Measured: one thread takes as long as the node with rows of its own, or half as long again where conditions leave few.  The first rows
 * of groups take a thread twice as long, for the node reads other columns late (scan/late_columns).  Joined rows would come to the node one
 * by one, so there one thread takes half as long.
 */
#define LEAST_THREADS 2
#define LEAST_THREADS_OF_LIMIT MGPU_SIZE(4, 2)

/* Rows of a build from which a job of its own reads them. */
#define BUILD_MIN_ROWS MGPU_SIZE(20000, 50)

bool
table_job_has_threads(double num_read, bool has_joins)
{
	return mgpu_setting_enable_threads && num_read >= THREADS_MIN_ROWS && (has_joins || run_table_threads() >= LEAST_THREADS);
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
	bool		has_joins = spec->num_builds > 0;
	bool		has_limit = spec->limit_rule != MGPU_LIMIT_NONE && spec->limit != UINT64_MAX && !has_joins;

	return table_job_has_threads(num_read, has_joins) && (!has_limit || run_table_threads() >= LEAST_THREADS_OF_LIMIT) &&
		kept_bytes(spec, num_rows, num_results) <= (double) get_hash_memory_limit() * run_table_threads();
}

/* ---- what was beyond programs */

#define NUM_REMEMBERED 64

static uint64 remembered[NUM_REMEMBERED];
static int	next_remembered = 0;

uint64
table_job_number(const table_job *job, const table_question *question)
{
	return DatumGetUInt64(hash_any_extended((const unsigned char *) job->spec, offsetof(mgpu_group_spec, constants),
											RelationGetRelid(question->scan.relation)));
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
