/*
 * device_query.c
 *		What a node asks a GPU to compute of a table, and its answer.
 *
 * The GPU gets pages (scan/heap_sender.h).  What it cannot do is known before the first page is sent, but for the data: damaged
 * pages, floats whose bits matter, groups that need too much memory.  Then only time is lost, and the node reads the table itself.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/device_query.h"

/* ---- the question */

/* Make the job of one reader.  Returns NULL, or why there is none. */
static const char *
make_job(const device_query *query, table_job *job, int reader, table_question *question)
{
	question->scan = row_source_scan(query->builds.source, reader);
	return table_job_make(job, question);
}

/* Whether the other readers' job is that of the first: rows of partitions may lie otherwise, or have other constants. */
static bool
are_alike(const device_query *query, List *readers, table_question *question)
{
	mgpu_group_spec *spec = palloc(sizeof(mgpu_group_spec));
	bool		alike = list_length(readers) <= MGPU_GROUP_MAX_SOURCES;

	for (int i = 1; i < list_length(readers); i++)
	{
		table_job	job = {.spec = spec};

		if (!alike || make_job(query, &job, i, question) != NULL ||
			!table_job_fill(&job, heap_reader_context(list_nth(readers, i))) || memcmp((const void *) spec, (const void *) query->job.spec, sizeof(mgpu_group_spec)) != 0)
			return false;
	}
	return alike;
}

static bool
is_for_threads(const device_query *query, const device_question *question)
{
	if (question->of.query && question->of.query->as_cells)
		return table_job_may_order(query->job.spec, question->expected_rows);
	return question->of.build ||	/* of which join_builds has looked at its size */
		table_job_is_for_threads(query->job.spec, query->request.expected_rows, question->expected_rows, question->expected_results);
}

/* Read the smaller sides of joins, and make the job again, once it is known how wide their texts are. */
static const char *
read_sides(device_query *query, table_question *of)
{
	const char *why_not;
	bool		again = false;

	do
	{
		why_not = join_builds_read_rows(&query->builds);
		if (why_not)
			return why_not;
		why_not = make_job(query, &query->job, 0, of);
		if (why_not)
			again = join_builds_give_jobs_up(&query->builds);
		else
			why_not = join_builds_read_cells(&query->builds, &query->job, &again);
	} while (again);
	return why_not;
}

/* Make the job, and read the smaller sides of joins.  Returns NULL, or why there is none. */
static const char *
make_first_job(device_query *query, const device_question *question, table_question *of)
{
	const char *why_not = row_source_joins(question->source) ? join_builds_start(&query->builds) : NULL;

	if (why_not == NULL)
		why_not = make_job(query, &query->job, 0, of);
	query->number = query->job.number ^ row_source_joins_number(question->source);
	if (why_not || query->job.spec->num_builds == 0)
		return why_not;
	if (table_job_is_remembered(query->number))
		return TABLE_JOB_BEYOND;
	if (!run_may_use_gpu() && !is_for_threads(query, question))
		return TABLE_JOB_NONE;
	return read_sides(query, of);
}

/* Make all that is sent but the pages.  Returns NULL, or why no GPU can answer. */
static const char *
prepare(device_query *query, List *readers, const device_question *of)
{
	table_question question = of->of;
	const char *why_not;

	question.num_read = row_source_rows(query->builds.source);
	question.num_results = of->expected_results;
	question.widths = row_source_scan(query->builds.source, 0).relation;
	why_not = make_first_job(query, of, &question);
	if (why_not)
		return why_not;
	if (of->accepts && !of->accepts(of->accepts_context, &query->job))
		return TABLE_JOB_NONE;
	if (query->job.needs_queries && !heap_readers_run_queries(readers))
		return TABLE_JOB_NONE;
	query->sender = heap_sender_create(readers, query->job.needs_row, &query->request.num_shared_pages, &query->request.keeps_pages);
	if (query->sender == NULL || !table_job_fill(&query->job, heap_reader_context(linitial(readers))))
		return TABLE_JOB_NONE;
	if (!are_alike(query, readers, &question))
		return TABLE_JOB_NONE;
	if (query->job.spec->num_builds > 0)
		why_not = join_builds_fill(&query->builds, &query->job);
	query->request.builds = query->builds.memory;
	if (expr_program_names(query->job.program))
		query->request.names = text_names_of_threads(expr_program_names(query->job.program));
	return why_not;
}

/* Tell the nodes of the scans that they begin or end to run.  result: NULL, or what they have returned. */
static void
instrument(const row_source *source, List *readers, bool begins, const mgpu_group_result *result)
{
	ListCell   *cell;

	row_source_instrument(source, begins, result ? result->num_rows : 0);
	foreach(cell, readers)
	{
		NodeInstrumentation *times = heap_reader_instrument(lfirst(cell));

		if (times && begins)
			InstrStartNode(times);
		else if (times)
			InstrStopNode(times, result->rows_of_source[foreach_current_index(cell)]);
	}
}

/* Have all pages be joined once more, with the rows of the next round: a group_round_fn. */
static bool
next_round(void *context)
{
	device_query *query = context;
	join_builds *builds = &query->builds;
	MemoryContext caller;

	if (builds->round + 1 == builds->num_rounds)
		return false;
	/* no page is pinned while rows of builds are read */
	heap_sender_restart(query->sender);
	caller = MemoryContextSwitchTo(query->context);
	query->why_no_round = join_builds_read_round(builds, &query->job);
	if (query->why_no_round == NULL)
		query->why_no_round = join_builds_fill_round(builds, &query->job);
	query->request.builds = builds->memory;
	query->request.fails = query->why_no_round != NULL;
	row_source_start_again(builds->source);
	MemoryContextSwitchTo(caller);
	return query->why_no_round == NULL;
}

/* Rows were read once in each round. */
static void
count_rows_once(device_query *query)
{
	mgpu_group_result *result = &query->request.result;

	for (int i = 0; query->builds.num_rounds > 1 && i < MGPU_GROUP_MAX_SOURCES; i++)
		result->read_of_source[i] /= query->builds.num_rounds;
}

/* Of a job's number: that a GPU cannot run it. */
#define OF_GPU (UINT64CONST(1) << 63)

/* A GPU could not: read all from the first page on once more. */
static bool
run_by_threads(device_query *query)
{
	group_request *request = &query->request;
	const char *why_no_gpu = request->no_gpu;
	bool		was_beyond = request->is_beyond;
	bool		done;

	heap_sender_stop(query->sender, &(mgpu_group_result) {0});
	heap_sender_restart(query->sender);
	run_group_forget(request);
	request->is_bound = false;
	request->num_pages = 0;
	request->only_threads = true;
	done = run_group(request);
	request->no_gpu = why_no_gpu;
	if (done && was_beyond)
		table_job_remember(query->number ^ OF_GPU);
	return done;
}

/* Joined rows may be more than expected: a GPU makes room for so many times as many at first. */
#define MORE_MATCHES 4

/* Send the pages.  Returns NULL, or why no GPU has answered. */
static const char *
send_pages(device_query *query, const device_question *question, List *readers)
{
	const row_source *source = question->source;
	group_request *request = &query->request;
	bool		done;

	instrument(source, readers, true, NULL);
	request->is_for_threads = is_for_threads(query, question);
	request->memory_before_file = table_job_memory_before_file(&request->spec, question->expected_rows, question->expected_results,
															   request->expected_rows);
	request->fill = heap_sender_fill;
	request->fill_context = query->sender;
	request->only_threads = query->builds.num_rounds > 1 || table_job_is_remembered(query->number ^ OF_GPU) ||
		!table_job_is_for_gpu(&request->spec, request->expected_rows, question->expected_rows);
	/* room for them */
	if (request->spec.num_matches > 0)
		request->expected_rows = (uint64) Min(Max(request->expected_rows, question->expected_rows * MORE_MATCHES), (double) MGPU_MAX_ITEMS);
	if (query->builds.num_rounds > 1)
	{
		request->next_round = next_round;
		request->round_context = query;
	}
	PG_ENSURE_ERROR_CLEANUP(heap_sender_release, PointerGetDatum(query->sender));
	{
		done = run_group(request);
		if (!done && !request->by_threads && !request->only_threads && request->is_for_threads)
			done = run_by_threads(query);
	}
	PG_END_ENSURE_ERROR_CLEANUP(heap_sender_release, PointerGetDatum(query->sender));
	request->result = done ? request->result : (mgpu_group_result) {0};
	count_rows_once(query);
	heap_sender_count(query->sender, &query->copied_pages, &query->kept_pages);
	heap_sender_stop(query->sender, &request->result);
	instrument(source, readers, false, &request->result);
	if (query->why_no_round)
		return query->why_no_round;
	return done ? NULL : request->no_gpu ? request->no_gpu : TABLE_JOB_NONE;
}

/* What rows were beyond is not tried again. */
static void
remember(const device_query *query, const char *why_not)
{
	if (query->request.is_beyond || why_not == join_is_beyond)
		table_job_remember(query->number);
}

/* Have a job read a smaller side of a query's join: a build_read_fn. */
static build_state
read_build(void *context, source_join *join, const table_build *build, Size most_bytes, build_cells *cells)
{
	const device_query *of = context;
	double		num_rows = join->rows->plan->plan_rows;
	device_question question = {
		.node = of->request.function,.source = join->source,.of.build = build,.expected_rows = num_rows,.expected_results = num_rows,
		.most_bytes = most_bytes
	};
	device_query *query = device_query_run(CurrentMemoryContext, &question);

	if (query == NULL)
		return BUILD_UNREAD;
	if (query->request.in_files)
	{
		*cells = (build_cells) {.num_rows = query->request.result.num_returned};
		device_query_forget(query);
		return BUILD_LARGE;
	}
	*cells = (build_cells) {
		.context = query->context,.num_rows = query->request.result.num_returned,
		.marks = (const uint32 *) query->request.outputs[0].data,.of_outputs = query->job.of_cells
	};
	for (uint32 i = 0; i < query->request.spec.num_columns; i++)
		cells->columns[i] = (const int64 *) query->request.outputs[1 + i].data;
	return BUILD_READ;
}

/* Whether anybody may run a job that reads so many rows. */
static bool
may_run(const device_question *question, double num_read)
{
	if (question->of.build)
		return table_job_reads_build(num_read);
	return run_may_use_gpu() || table_job_has_threads(num_read);
}

device_query *
device_query_run(MemoryContext parent, const device_question *question)
{
	List	   *readers;
	device_query *query;
	MemoryContext caller;
	const char *why_not = TABLE_JOB_NONE;
	double		num_read = row_source_rows(question->source);

	if (question->below)
		return device_query_run_below(parent, question);
	/* nobody asks why */
	if (!may_run(question, num_read))
		return NULL;
	readers = row_source_readers(question->source);
	query = device_query_create(parent, question, num_read);
	query->builds = (join_builds) {.source = question->source,.read = read_build,.context = query};
	caller = MemoryContextSwitchTo(query->context);
	if (readers)
		why_not = prepare(query, readers, question);
	if (question->outputs)
		MemoryContextSwitchTo(question->outputs);
	if (why_not == NULL)
		why_not = send_pages(query, question, readers);
	if (why_not == NULL && question->tells && !question->tells(query))
		why_not = "numerics that are equal show different digits";
	remember(query, why_not);
	join_builds_forget(&query->builds);
	if (why_not && query->builds.is_read)
		row_source_start_again(question->source);
	row_source_tell(question->source, why_not == NULL, run_may_use_gpu() ? why_not : NULL);
	MemoryContextSwitchTo(caller);
	if (why_not == NULL)
		return query;
	/* what was made for the GPU must not be there beside the rows that the CPU keeps */
	device_query_forget(query);
	return NULL;
}
