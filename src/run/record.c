/*
 * record.c
 *		What mgpu_last_run() shows: the calls of a statement.
 *
 * A statement is known by the time of its start.  Hooks of PostgreSQL's executor were rejected: a
 * statement inside a function would hide the calls of the one that the user sent.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "core/executor.h"

#include "run/record.h"
#include "service/counts.h"

static const run_summary no_calls = {.most_items = -1,.most_cpu_items = -1};

run_record	run_last;

/* The statement of run_last, and its calls before run_last. */
static TimestampTz statement_start;
static run_summary earlier;

static bool call_is_new;
static bool was_read;

/* Whether run_last is in the counts of all sessions. */
static bool is_counted = true;

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
	if (to->num_calls++ == 0)
		sum->executor = call->executor;
	else if (sum->executor != call->executor)
		sum->executor = "cpu and gpu";
	if (call->num_items > to->most_items)
	{
		to->most_items = call->num_items;
		sum->function = call->function;
		sum->algorithm = call->algorithm;
	}
	if (call->executor == mgpu_cpu_executor.name && call->num_items > to->most_cpu_items)
	{
		to->most_cpu_items = call->num_items;
		strlcpy(sum->reason, call->reason, sizeof(sum->reason));
	}
}

void
run_call_start(void)
{
	check_stack_depth();
	call_is_new = true;
}

/* Add run_last to the counts of all sessions, once. */
static void
count_last(void)
{
	counts_row	calls = {.num_calls = 1};

	if (is_counted || run_last.function == NULL)
		return;
	is_counted = true;
	strlcpy(calls.executor, run_last.executor, sizeof(calls.executor));
	strlcpy(calls.reason, run_last.reason, sizeof(calls.reason));
	calls.num_items = run_last.num_items;
	calls.num_bytes = run_last.num_bytes;
	calls.queue_ms = run_last.queue_ms;
	calls.kernel_ms = run_last.kernel_ms;
	counts_add(&calls);
}

/* Before run_last is replaced by a new call. */
static void
keep_last(void)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	if (now != statement_start || was_read)
		earlier = no_calls;
	else if (run_last.function)
		add_call(&earlier, &run_last);
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
run_record_cpu(const char *function, const char *algorithm,
			 int64 num_items, int64 num_bytes, const char *reason)
{
	if (call_is_new)
		keep_last();
	run_last.function = function;
	run_last.executor = mgpu_cpu_executor.name;
	run_last.algorithm = algorithm;
	run_last.num_items = num_items;
	run_last.num_segments = 0;
	run_last.num_bytes = num_bytes;
	run_last.marshal_ms = 0;
	run_last.queue_ms = 0;
	run_last.upload_ms = 0;
	run_last.kernel_ms = 0;
	run_last.download_ms = 0;
	run_last.num_threads = 1;
	run_last.gpu_gave_up = false;
	/* most calls have the reason of the call before, and to compare is faster than to copy */
	if (reason == NULL)
		run_last.reason[0] = '\0';
	else if (strcmp(run_last.reason, reason) != 0)
		strlcpy(run_last.reason, reason, sizeof(run_last.reason));
}

run_summary
run_read_summary(void)
{
	run_summary summary = earlier;

	if (run_last.function)
		add_call(&summary, &run_last);
	was_read = true;
	return summary;
}
