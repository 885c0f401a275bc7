/*
 * record.c
 *		What ran, and what mgpu_last_run() shows of it: the calls of a statement.
 *
 * A statement is known by the time of its start.  Hooks of PostgreSQL's executor were rejected: a
 * statement inside a function would hide the calls of the one that the user sent.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "run/record.h"
#include "service/counts.h"

static const run_summary no_calls = {.most_items = -1,.most_cpu_items = -1};

/* The current or last call.  Its reason, if it has one, is in last_reason. */
static run_record last;
static char last_reason[MGPU_ERROR_MESSAGE_BYTES];

/* The statement of the last call, and its calls before that one. */
static TimestampTz statement_start;
static run_summary earlier;

static bool call_is_new;
static bool was_read;

/* Whether the last call is in the counts of all sessions. */
static bool is_counted = true;

void
run_record_cpu(run_record *record, const char *function, const char *algorithm,
			   int64 num_items, int64 num_bytes, const char *reason)
{
	/* one by one: to clear it all first takes as long as to sort ten numbers */
	record->function = function;
	record->algorithm = algorithm;
	record->on_gpu = false;
	record->gpu_gave_up = false;
	record->reason = reason;
	record->num_threads = 1;
	record->num_items = num_items;
	record->num_segments = 0;
	record->num_bytes = num_bytes;
	record->marshal_ms = 0;
	record->queue_ms = 0;
	record->upload_ms = 0;
	record->kernel_ms = 0;
	record->download_ms = 0;
}

static void
add_call(run_summary *to, const run_record *call)
{
	run_record *sum = &to->sum;

	sum->num_items += call->num_items;
	sum->num_segments += call->num_segments;
	sum->num_bytes += call->num_bytes;
	sum->marshal_ms += call->marshal_ms;
	sum->upload_ms += call->upload_ms;
	sum->kernel_ms += call->kernel_ms;
	sum->download_ms += call->download_ms;
	sum->num_threads = Max(sum->num_threads, call->num_threads);
	to->num_calls++;
	to->num_gpu_calls += call->on_gpu;
	if (call->num_items > to->most_items)
	{
		to->most_items = call->num_items;
		sum->function = call->function;
		sum->algorithm = call->algorithm;
	}
	if (!call->on_gpu && call->num_items > to->most_cpu_items)
	{
		to->most_cpu_items = call->num_items;
		strlcpy(to->reason, call->reason ? call->reason : "", sizeof(to->reason));
	}
}

void
run_call_start(void)
{
	check_stack_depth();
	call_is_new = true;
}

/* Add the last call to the counts of all sessions, once. */
static void
count_last(void)
{
	counts_row	calls = {.num_calls = 1};

	if (is_counted || last.function == NULL)
		return;
	is_counted = true;
	strlcpy(calls.executor, run_executor_name(last.on_gpu), sizeof(calls.executor));
	strlcpy(calls.reason, last.reason ? last.reason : "", sizeof(calls.reason));
	calls.num_items = last.num_items;
	calls.num_bytes = last.num_bytes;
	calls.queue_ms = last.queue_ms;
	calls.kernel_ms = last.kernel_ms;
	counts_add(&calls);
}

/* Before a new call takes the place of the last one. */
static void
keep_last(void)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	if (now != statement_start || was_read)
		earlier = no_calls;
	else if (last.function)
		add_call(&earlier, &last);
	if (counts_are_kept())
	{
		counts_before_sharing(count_last);
		count_last();
		is_counted = false;
	}
	statement_start = now;
	was_read = false;
	call_is_new = false;
}

void
run_report(const run_record *record)
{
	if (record->function == NULL)
		return;
	if (call_is_new)
		keep_last();
	last = *record;
	if (record->reason == NULL)
		return;
	/* most calls have the reason of the call before, and to compare is faster than to copy */
	if (strcmp(last_reason, record->reason) != 0)
		strlcpy(last_reason, record->reason, sizeof(last_reason));
	last.reason = last_reason;
}

run_summary
run_read_summary(void)
{
	run_summary summary = earlier;

	if (last.function)
		add_call(&summary, &last);
	was_read = true;
	return summary;
}
