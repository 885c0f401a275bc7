/*
 * position_sort.c
 *		Order of many elements, as positions, in the memory of the result.
 *
 * Codes of all elements, and all that belongs to them, take far more than the
 * positions that are asked for.  So the result holds a reference of four bytes for
 * each element (element_codes.h).  A walk over the elements makes their codes, and
 * cuts the references into parts by bounds from a sample (core/string_parts.h);
 * then each thread takes a part at a time, looks its elements up once more, and
 * sorts it in a cache (position_run.h).  That is what the pairs of a job go
 * through as well, but for codes of all elements, which a job has to have.
 *
 * Elements that are alike beyond that, and parts that are too large for a thread,
 * are the next round's; too large ones are cut again.  After MOST_ROUNDS the rest is
 * compared whole.  Strings that are all the same are in order already.
 *
 * Where a device is to sort, jobs do (position_parts.h): parts one after another,
 * which here takes half as long again for what is around each job.
 *
 * Rejected: parts of the input that are merged, whose every merge misses the cache
 * for each element.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"

#include "core/cpu_sort.h"
#include "core/string_parts.h"

#include "compat.h"
#include "array_result.h"
#include "position_parts.h"
#include "position_run.h"
#include "position_sort.h"
#include "run_series.h"

/* Elements whose codes, and all that belongs to them, are no more than a call may have. */
#define FEW_ITEMS (2 * 1024 * 1024)

/* The same where strings are made beside them. */
#define FEW_MADE_ITEMS (1024 * 1024)

/* ... and of keys alone, which a job takes no longer for, but more than that many. */
#define FEW_KEYED_ITEMS (3 * 1024 * 1024)

/* ... and where the algorithm is asked for. */
#define FEW_PROBED_ITEMS (2 * 1024 * 1024)

/* Elements that a thread sorts at once. */
#define MOST_RUN_ITEMS (256 * 1024)

/* ... and so many bytes of elements: it ends in time for a cancel. */
#define MOST_RUN_BYTES (64 * 1024 * 1024)

/* ... or of those whose strings are made, twice where they begin alike. */
#define MOST_MADE_RUN_BYTES (16 * 1024 * 1024)

#define MOST_ROUNDS 32

static bool
is_long(const position_sort *sort, const position_run *run)
{
	return run->num_items > sort->run_items;
}

/* Room for what this round's runs leave to the next. */
static void
start_next_runs(position_sort *sort, int64 num_items, int64 num_long)
{
	int64		room = POSITION_NEXT_RUNS(num_items) + position_long_runs(&sort->codes);

	room += num_long * MGPU_MOST_PARTS + num_items / sort->run_items;
	sort->next_runs = palloc_extended(room * sizeof(position_run), MCXT_ALLOC_HUGE);
	sort->num_next_runs = 0;
}

static void
work_round(position_sort *sort)
{
	int64		num_items = 0;
	int64		num_long = 0;

	for (int64 i = 0; i < sort->num_runs; i++)
	{
		num_items += sort->runs[i].num_items;
		num_long += is_long(sort, &sort->runs[i]);
	}
	start_next_runs(sort, num_items, num_long);
	for (int64 i = 0; num_long > 0 && i < sort->num_runs; i++)
		if (is_long(sort, &sort->runs[i]))
			position_cut_run(sort, &sort->runs[i]);
	sort->worker_bytes = position_run_bytes(&sort->codes, sort->run_items);
	sort->scratch = array_result_scratch(sort->worker_bytes * Min(run_cpu_threads(), MGPU_MAX_CPU_THREADS));
	position_sort_tasks(sort, position_run_task, sort, sort->num_runs);
	pfree(sort->scratch);
}

static void
compare_runs(position_sort *sort)
{
	for (int64 i = 0; i < sort->num_runs; i++)
		position_run_compare(sort, &sort->runs[i]);
}

static void
take_next_runs(position_sort *sort)
{
	if (sort->runs)
		pfree(sort->runs);
	sort->runs = sort->next_runs;
	sort->num_runs = sort->num_next_runs;
}

/* Bytes of a thread's scratch for each element, about. */
static Size
run_item_bytes(const element_codes *codes)
{
	return (position_run_bytes(codes, 1024) - position_run_bytes(codes, 0)) / 1024;
}

void
position_sort_share(position_sort *sort, Size scratch_bytes)
{
	const element_codes *codes = &sort->codes;
	int			num_threads = Min(run_cpu_threads(), MGPU_MAX_CPU_THREADS);
	Size		share = scratch_bytes / num_threads;
	Size		taken = position_run_bytes(codes, 0);

	sort->run_items = Min((share > taken ? share - taken : 0) / run_item_bytes(codes), MOST_RUN_ITEMS);
	sort->run_items = Min(sort->run_items, MOST_RUN_BYTES / (codes->data_bytes / codes->num_items + 1));
	sort->run_items = Max(sort->run_items, POSITION_LEAST_RUN_ITEMS);
	if (position_made_bytes(codes) > 0)
		sort->run_items = Max(Min(sort->run_items, MOST_MADE_RUN_BYTES / position_made_bytes(codes)), 1);
}

/*
 * How many elements a thread may sort, and of how many positions are kept until it
 * does, which is faster than finding them again, but where runs need the room.
 */
static void
share_room(position_sort *sort)
{
	const element_codes *codes = &sort->codes;
	int			num_threads = Min(run_cpu_threads(), MGPU_MAX_CPU_THREADS);
	int64		planned_items = Max(POSITION_PLANNED_RUN_ITEMS, codes->num_items / MGPU_MOST_PLANNED_PARTS);
	Size		fixed = element_codes_bytes(codes) + num_threads * position_run_bytes(codes, 0);
	Size		room = fixed < POSITION_CALL_BYTES ? POSITION_CALL_BYTES - fixed : 0;
	Size		needed = Max(2 * planned_items * num_threads * run_item_bytes(codes), codes->num_items);

	if (codes->begins && needed < room)
	{
		sort->num_kept = Min(codes->num_items, (room - needed) / sizeof(uint32));
		sort->kept = array_result_scratch(sort->num_kept * sizeof(uint32));
		room -= sort->num_kept * sizeof(uint32);
	}
	position_sort_share(sort, room);
}

static void
forget_kept(position_sort *sort)
{
	if (sort->kept)
		pfree(sort->kept);
	sort->kept = NULL;
	sort->num_kept = 0;
}

/* The runs that there are, and what they leave. */
static void
work_rounds(position_sort *sort)
{
	take_next_runs(sort);
	for (int round = 0; sort->num_runs > 0 && !sort->failed; round++)
	{
		if (round == MOST_ROUNDS)
		{
			compare_runs(sort);
			break;
		}
		work_round(sort);
		forget_kept(sort);
		take_next_runs(sort);
	}
	forget_kept(sort);
	pfree(sort->runs);
	sort->runs = NULL;
}

static void
sort_all(position_sort *sort)
{
	mgpu_vqsort_prepare();
	share_room(sort);
	start_next_runs(sort, sort->codes.num_items, 1);
	position_cut_all(sort);
	work_rounds(sort);
}

void
position_sort_refs(position_sort *sort, const position_run *runs, int num_runs)
{
	mgpu_vqsort_prepare();
	sort->next_runs = palloc(num_runs * sizeof(position_run));
	sort->num_next_runs = 0;
	for (int i = 0; i < num_runs; i++)
		position_sort_next(sort, runs[i]);
	work_rounds(sort);
}

/* On whatever executor planner and settings choose.  False: not by jobs, with the reason on record. */
static bool
sort_by_jobs(position_sort *sort, const sort_spec *spec, bool *had_job)
{
	const element_codes *codes = &sort->codes;

	if (codes->by_keys)
		return position_sort_keys(sort, spec);
	if (!position_parts_fit(codes))
	{
		run_note_kept(spec->function, codes->num_items, codes->data_bytes,
					  "strings so long, or so many, are sorted where they are, on the CPU");
		return false;
	}
	position_sort_parts(sort, spec, had_job);
	return true;
}

/*
 * Elements by their keys, or by their strings; by_jobs: where that can be, and then
 * whether it was.  False: some have none, or not as small as they should be.
 */
static bool
sort_by(const sort_spec *spec, array_source *source, const element_type *type, bool by_keys, bool *by_jobs,
		const element_range *range, uint32 *ranks, bool *had_job)
{
	position_sort sort;

	memset(&sort, 0, sizeof(sort));
	if (!element_codes_open(&sort.codes, source, type, by_keys, range))
		return false;
	sort.descending = spec->order.descending;
	sort.refs = ranks;
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.work));
	{
		*by_jobs = *by_jobs && sort_by_jobs(&sort, spec, had_job);
		if (!*by_jobs && !sort.failed)
			sort_all(&sort);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.work));
	thread_work_stop(0, PointerGetDatum(&sort.work));
	element_codes_close(&sort.codes);
	if (!*by_jobs)
		run_last.kernel_ms += sort.work.ms;
	return !sort.failed;
}

int64
position_sort_few(const element_type *type, bool by_keys)
{
	if (by_keys)
		return FEW_KEYED_ITEMS;
	return byte_form_is_made(type->byte_form) ? FEW_MADE_ITEMS : FEW_ITEMS;
}

static bool
are_many(const sort_spec *spec, const element_type *type, bool by_keys, int64 num_items, Size data_bytes)
{
	int64		few = position_sort_few(type, by_keys);

	if (!by_keys && byte_strings_take_too_much(type, num_items, data_bytes))
		return true;
	if (!by_keys && (spec->algorithm != MGPU_ALGORITHM_AUTO || run_is_probed(num_items)))
		few = FEW_PROBED_ITEMS;
	return num_items > few;
}

bool
position_sort_stays_here(const sort_spec *spec, bool by_keys, int64 num_items, Size num_bytes,
						 const char *cpu_reason)
{
	if (cpu_reason == NULL && run_stays_on_cpu(spec->function, num_items, num_bytes))
		return true;
	if (cpu_reason == NULL && (by_keys || run_is_forced(num_items)))
		return false;
	run_note_cpu(spec->function, "quick", num_items, num_bytes,
				 cpu_reason ? cpu_reason : "the CPU is predicted faster");
	return true;
}

bool
position_sort_range(const sort_spec *spec, array_source *source, const element_type *type, bool by_keys,
					const element_range *range, const char *cpu_reason, uint32 *ranks, bool *had_job, bool *was_kept)
{
	bool		to_jobs = !position_sort_stays_here(spec, by_keys, range->num_items, range->end - range->begin, cpu_reason);
	bool		by_jobs = to_jobs;
	instr_time	start,
				end;
	bool		done;

	*had_job = true;
	INSTR_TIME_SET_CURRENT(start);
	done = sort_by(spec, source, type, by_keys, &by_jobs, range, ranks, had_job);
	*was_kept = to_jobs && !by_jobs;
	if (by_jobs)
		return done;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	run_last.marshal_ms = INSTR_TIME_GET_MILLISEC(end) - run_last.kernel_ms;
	return done;
}

/* By keys, and by strings where there are none, or some element has none. */
static bool
sort_ranks(const sort_spec *spec, array_source *source, const element_type *type, bool by_keys,
		   int64 num_items, uint32 *ranks)
{
	bool		has_strings = byte_source_applies(type, spec->collation);
	element_range all = {0, source->data_bytes, num_items};
	const char *cpu_reason = NULL;
	run_series	series;
	bool		had_job;
	bool		was_kept;

	if (!are_many(spec, type, by_keys, num_items, source->data_bytes) || (!by_keys && !has_strings) ||
		(type->stride == 0 && (type->typlen != -1 || type->typalign != TYPALIGN_INT)))
		return false;
	array_source_load(source);
	run_series_begin(&series);
	if (by_keys)
	{
		if (position_sort_range(spec, source, type, true, &all, NULL, ranks, &had_job, &was_kept))
			return true;
		run_series_note(&series);
		cpu_reason = run_series_reason(&series);
	}
	return has_strings &&
		position_sort_range(spec, source, type, false, &all, cpu_reason, ranks, &had_job, &was_kept);
}

bool
position_sort_ranks(const sort_spec *spec, array_source *source, const element_type *type,
					int64 num_items, uint32 *ranks)
{
	return sort_ranks(spec, source, type, type->encode != NULL, num_items, ranks);
}

bool
position_sort_string_ranks(const sort_spec *spec, array_source *source, const element_type *type,
						   int64 num_items, uint32 *ranks)
{
	return sort_ranks(spec, source, type, false, num_items, ranks);
}
