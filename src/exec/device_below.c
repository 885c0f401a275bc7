/*
 * device_below.c
 *		What a node asks threads to compute of rows that come from windows, and their answer.
 *
 * The rows below are sorted by a job of their own, and then sent as columns, some at a time.  Both jobs are made before the first one runs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/device_query.h"
#include "exec/rows_below.h"
#include "settings.h"

typedef struct below_query
{
	device_query *query;
	const device_question *question;
	table_question of;
} below_query;

/* Make the job, once it is known how values below are stored.  false: there is none. */
static bool
makes_job(void *context)
{
	below_query *below = context;
	const device_question *question = below->question;
	table_job  *job = &below->query->job;

	below->of.scan = rows_below_scan(question->below);
	if (table_job_make(job, &below->of) != NULL || job->needs_row || job->needs_queries || (question->accepts && !question->accepts(question->accepts_context, job)))
		return false;
	if (question->of.query->as_cells)
		return table_job_may_order(job->spec, question->expected_rows);
	return table_job_is_for_threads(job->spec, below->of.num_read, question->expected_rows, question->expected_results);
}

static bool
prepare(below_query *below)
{
	device_query *query = below->query;
	rows_below *rows = below->question->below;

	if (!rows_below_start(rows, makes_job, below) || !makes_job(below) || !table_job_fill(&query->job, rows_below_context(rows)))
		return false;
	query->number = query->job.number;
	if (expr_program_names(query->job.program))
		query->request.names = text_names_of_threads(expr_program_names(query->job.program));
	return true;
}

/* The next batch of rows: a group_fill_fn. */
static uint32
fill(void *context, char *batch, Size bytes)
{
	below_query *below = context;
	uint32		filled = rows_below_fill(below->question->below, &below->query->job, batch, bytes);

	below->query->request.fails = rows_below_fails(below->question->below);
	return filled;
}

/* Send the rows.  Whether all went well. */
static bool
send_rows(below_query *below)
{
	const device_question *question = below->question;
	group_request *request = &below->query->request;

	request->is_for_threads = request->only_threads = true;
	request->memory_before_file = table_job_memory_before_file(&request->spec, question->expected_rows, question->expected_results,
															   request->expected_rows);
	request->fill = fill;
	request->fill_context = below;
	return run_group(request);
}

device_query *
device_query_run_below(MemoryContext parent, const device_question *question)
{
	double		num_read = rows_below_number(question->below);
	below_query below = {.question = question,.of = question->of};
	MemoryContext caller;
	bool		done;

	question->below->ran = false;
	if (!mgpu_setting_enable_columns || !table_job_has_threads(num_read))
		return NULL;
	below.query = device_query_create(parent, question, num_read);
	below.of.num_read = num_read;
	below.of.num_results = question->expected_results;
	caller = MemoryContextSwitchTo(below.query->context);
	done = prepare(&below);
	if (question->outputs)
		MemoryContextSwitchTo(question->outputs);
	done = done && send_rows(&below) && (question->tells == NULL || question->tells(below.query));
	MemoryContextSwitchTo(below.query->context);
	if (below.query->request.is_beyond)
		table_job_remember(below.query->number);
	rows_below_end(question->below, done, below.query->request.result.num_rows);
	MemoryContextSwitchTo(caller);
	if (done)
		return below.query;
	device_query_forget(below.query);
	return NULL;
}
