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
 * Rejected: parts that are sorted by jobs, one after another, half as fast again
 * for what is around each job; parts of the input that are merged, whose every
 * merge misses the cache for each element.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"

#include "core/cpu_sort.h"
#include "core/string_parts.h"

#include "compat.h"
#include "array_result.h"
#include "position_run.h"
#include "position_sort.h"
#include "ref_set.h"
#include "run.h"

/* Fewer elements' codes, and all that belongs to them, are no more than a call may have. */
#define LEAST_ITEMS (2 * 1024 * 1024)

/* The same where strings are made beside them. */
#define LEAST_MADE_ITEMS (1024 * 1024)

/* ... and where the algorithm is asked for. */
#define LEAST_PROBED_ITEMS (2 * 1024 * 1024)

/* What may be taken beside the input and the result. */
#define CALL_BYTES (50 * 1024 * 1024)

/* Elements that a thread sorts at once: planned, so that their codes are in a cache, and at most. */
#define PLANNED_RUN_ITEMS (64 * 1024)
#define MOST_RUN_ITEMS (256 * 1024)
#define LEAST_RUN_ITEMS (4 * 1024)

/* ... and so many bytes of elements: it ends in time for a cancel. */
#define MOST_RUN_BYTES (64 * 1024 * 1024)

/* References of a range that are copied before it is cut take no more; a bit each is slower. */
#define MOST_LIST_BYTES (16 * 1024 * 1024)

#define MOST_ROUNDS 32

#define THREADS_MIN_TASKS 8

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Elements that are to be cut into parts: all, those of a list or those of a set. */
typedef struct position_range
{
	position_sort *sort;
	int64		num_items;
	uint32		offset;			/* bytes that all strings are known to begin with */
	uint32	   *list;
	ref_set		set;
	_Atomic uint32 shared;		/* bytes that all strings begin with */
	_Atomic uint32 longest;
} position_range;

static void
run_tasks(position_sort *sort, mgpu_task_function function, void *context, uint64 num_tasks)
{
	thread_work_run(&sort->work, function, context, num_tasks, THREADS_MIN_TASKS);
}

static void
refs_of(const void *context, uint64 begin, uint32 num_refs, uint32 *refs)
{
	const position_range *range = context;

	if (range->list)
		memcpy(refs, range->list + begin, num_refs * sizeof(uint32));
	else if (range->set.words)
		ref_set_list(&range->set, begin, num_refs, refs);
	else
		element_codes_refs(&range->sort->codes, begin, num_refs, refs);
}

static void
codes_of_keys(position_sort *sort, const uint32 *refs, uint32 num_refs, uint64 *codes)
{
	bool		fit = true;

	for (uint32 i = 0; i < num_refs; i++)
		fit &= element_key(&sort->codes, refs[i], &codes[i]);
	if (!fit)
		sort->failed = true;
}

/* Room for strings that are made is the thread's own. */
static void
codes_of_strings(position_sort *sort, uint32 offset, const uint32 *refs, uint32 num_refs, uint64 *codes, char *room)
{
	bool		fit = true;

	for (uint32 i = 0; i < num_refs; i++)
	{
		byte_string string = element_string(&sort->codes, refs[i], room);

		fit &= room == NULL || string.size > 0;
		codes[i] = element_string_code(&sort->codes, string, room, offset);
	}
	if (!fit)
		sort->failed = true;
}

static void
codes_of(const void *context, const uint32 *refs, uint32 num_refs, uint64 *codes)
{
	const position_range *range = context;
	position_sort *sort = range->sort;
	char		room[ELEMENT_MOST_ROOM_BYTES];

	if (sort->codes.by_keys)
		codes_of_keys(sort, refs, num_refs, codes);
	else
		codes_of_strings(sort, range->offset, refs, num_refs, codes, sort->codes.room_bytes > 0 ? room : NULL);
}

/* ---- what strings share */

static void
lower(_Atomic uint32 *least, uint32 value)
{
	uint32		seen = *least;

	while (value < seen && !atomic_compare_exchange_weak(least, &seen, value))
		;
}

static void
lift(_Atomic uint32 *most, uint32 value)
{
	uint32		seen = *most;

	while (value > seen && !atomic_compare_exchange_weak(most, &seen, value))
		;
}

/* Strings that share nothing more than was known end the search: they are not all the same. */
static void
measure_task(void *context, uint64 task, int worker)
{
	position_range *range = context;
	const element_codes *codes = &range->sort->codes;
	int64		begin = task * MGPU_PARTS_BLOCK_ITEMS;
	uint32		num_refs = Min(MGPU_PARTS_BLOCK_ITEMS, range->num_items - begin);
	uint32		refs[MGPU_PARTS_BLOCK_ITEMS];
	uint32		first_ref;
	byte_string first;
	uint32		shared = range->shared;
	uint32		longest = 0;

	if (shared <= range->offset && range->longest > shared)
		return;
	refs_of(range, 0, 1, &first_ref);
	first = element_string(codes, first_ref, NULL);
	refs_of(range, begin, num_refs, refs);
	for (uint32 i = 0; i < num_refs; i++)
	{
		byte_string string = element_string(codes, refs[i], NULL);
		uint32		most = Min(string.size, shared);

		longest = Max(longest, string.size);
		shared = Min(range->offset, most);
		while (shared < most && string.bytes[shared] == first.bytes[shared])
			shared++;
		if (shared <= range->offset && longest > shared)
			break;
	}
	lower(&range->shared, shared);
	lift(&range->longest, longest);
}

/* Moves offset on to what the strings of a range do not share.  False: they are all the same. */
static bool
skip_shared(position_range *range)
{
	const element_codes *codes = &range->sort->codes;
	uint32		first_ref;

	if (codes->by_keys || codes->room_bytes > 0)
		return true;
	refs_of(range, 0, 1, &first_ref);
	range->shared = element_string(codes, first_ref, NULL).size;
	range->longest = range->shared;
	run_tasks(range->sort, measure_task, range,
			  (range->num_items + MGPU_PARTS_BLOCK_ITEMS - 1) / MGPU_PARTS_BLOCK_ITEMS);
	range->offset = Max(range->offset, range->shared);
	return range->shared != range->longest;
}

/* ---- cuts */

/* Elements that are in order, as runs that a thread ends in time. */
static void
add_same(position_sort *sort, int64 first, int64 num_items)
{
	for (int64 step; num_items > 0; num_items -= step, first += step)
	{
		step = Min(num_items, sort->run_items);
		position_sort_next(sort, (position_run) {first, step, 0, POSITION_RUN_SAME});
	}
}

/* What has been cut, from reference first on. */
static void
add_parts(position_sort *sort, const mgpu_string_parts *parts, int64 first, uint32 offset)
{
	mgpu_byte_keys keys = {.counted = sort->codes.strings.counted};

	for (uint32 i = 0; i < mgpu_num_parts(parts); i++)
	{
		int64		begin = first + parts->begins[i];
		int64		num_items = parts->begins[i + 1] - parts->begins[i];
		uint64		code;

		if (num_items == 0)
			continue;
		if (!mgpu_part_code(parts, i, &code))
			position_sort_next(sort, (position_run) {begin, num_items, offset, POSITION_RUN_MIXED});
		else if (sort->codes.by_keys || mgpu_code_decides(&keys, code))
			add_same(sort, begin, num_items);
		else
			position_sort_next(sort, (position_run) {begin, num_items, offset + mgpu_code_step(&keys), POSITION_RUN_ALIKE});
	}
}

/* References of a range to refs from first on, by parts. */
static void
cut(position_range *range, int64 first)
{
	position_sort *sort = range->sort;
	int64		planned = Max(range->num_items / PLANNED_RUN_ITEMS, 2 * range->num_items / sort->run_items) + 1;
	mgpu_string_parts *parts = palloc0(sizeof(*parts));
	Size		taken = element_codes_bytes(&sort->codes);

	if (range->set.words)
		taken += ref_set_bytes(range->num_items, sort->codes.data_bytes / MGPU_REF_BYTES);
	else if (range->list)
		taken += range->num_items * sizeof(uint32);
	parts->codes_of = codes_of;
	parts->refs_of = refs_of;
	parts->context = range;
	parts->num_items = range->num_items;
	parts->descending = sort->descending;
	if (taken + range->num_items + sort->num_kept * sizeof(uint32) <= CALL_BYTES)
		parts->parts = array_result_scratch(range->num_items);
	parts->out = sort->refs + first;
	if (range->list == NULL && range->set.words == NULL)
	{
		parts->out_items = sort->kept;
		parts->num_out_items = sort->num_kept;
	}
	parts->counts = palloc0(mgpu_part_tasks(parts) * sizeof(*parts->counts));
	mgpu_parts_choose(parts, planned);
	run_tasks(sort, mgpu_parts_classify_task, parts, mgpu_part_tasks(parts));
	mgpu_parts_place(parts);
	run_tasks(sort, mgpu_parts_scatter_task, parts, mgpu_part_tasks(parts));
	add_parts(sort, parts, first, range->offset);
	pfree(parts->counts);
	if (parts->parts)
		pfree(parts->parts);
	pfree(parts);
}

/* What a run's references are, so that they can be put in another order. */
static void
keep_refs(position_range *range, const uint32 *refs)
{
	if (range->num_items * sizeof(uint32) <= MOST_LIST_BYTES)
	{
		range->list = array_result_scratch(range->num_items * sizeof(uint32));
		memcpy(range->list, refs, range->num_items * sizeof(uint32));
		return;
	}
	ref_set_start(&range->set, range->num_items, refs[range->num_items - 1]);
	for (int64 i = 0; i < range->num_items; i++)
	{
		ref_set_add(&range->set, i, refs[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
cut_run(position_sort *sort, const position_run *run)
{
	position_range range = {.sort = sort, .num_items = run->num_items, .offset = run->offset};

	keep_refs(&range, sort->refs + run->first);
	if (run->kind == POSITION_RUN_MIXED || skip_shared(&range))
		cut(&range, run->first);
	else
		add_same(sort, run->first, run->num_items);
	if (range.list)
		pfree(range.list);
	else
		ref_set_free(&range.set);
}

/* References of all, in their order. */
static void
list_all(position_sort *sort)
{
	for (int64 i = 0; i < sort->codes.num_items; i += STEP_ITEMS)
	{
		element_codes_refs(&sort->codes, i, Min(STEP_ITEMS, sort->codes.num_items - i), sort->refs + i);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
cut_all(position_sort *sort)
{
	position_range range = {.sort = sort, .num_items = sort->codes.num_items};

	if (skip_shared(&range))
	{
		cut(&range, 0);
		return;
	}
	list_all(sort);
	add_same(sort, 0, range.num_items);
}

/* ---- rounds */

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
			cut_run(sort, &sort->runs[i]);
	sort->worker_bytes = position_run_bytes(&sort->codes, sort->run_items);
	sort->scratch = array_result_scratch(sort->worker_bytes * Min(run_cpu_threads(), MGPU_MAX_CPU_THREADS));
	run_tasks(sort, position_run_task, sort, sort->num_runs);
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

/*
 * How many elements a thread may sort, and of how many positions are kept until it
 * does, which is faster than finding them again, but where runs need the room.
 */
static void
share_room(position_sort *sort)
{
	const element_codes *codes = &sort->codes;
	int			num_threads = Min(run_cpu_threads(), MGPU_MAX_CPU_THREADS);
	int64		planned_items = Max(PLANNED_RUN_ITEMS, codes->num_items / MGPU_MOST_PLANNED_PARTS);
	Size		fixed = element_codes_bytes(codes) + num_threads * position_run_bytes(codes, 0);
	Size		room = fixed < CALL_BYTES ? CALL_BYTES - fixed : 0;
	Size		needed = Max(2 * planned_items * num_threads * run_item_bytes(codes), codes->num_items);

	if (codes->begins && needed < room)
	{
		sort->num_kept = Min(codes->num_items, (room - needed) / sizeof(uint32));
		sort->kept = array_result_scratch(sort->num_kept * sizeof(uint32));
		room -= sort->num_kept * sizeof(uint32);
	}
	sort->run_items = Min(room / num_threads / run_item_bytes(codes), MOST_RUN_ITEMS);
	sort->run_items = Min(sort->run_items, MOST_RUN_BYTES / (codes->data_bytes / codes->num_items + 1));
	sort->run_items = Max(sort->run_items, LEAST_RUN_ITEMS);
}

static void
forget_kept(position_sort *sort)
{
	if (sort->kept)
		pfree(sort->kept);
	sort->kept = NULL;
	sort->num_kept = 0;
}

static void
sort_all(position_sort *sort)
{
	mgpu_vqsort_prepare();
	share_room(sort);
	start_next_runs(sort, sort->codes.num_items, 1);
	cut_all(sort);
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
}

/* Elements by their keys, or by their strings.  False: some have none, or not as small as they should be. */
static bool
sort_by(const sort_spec *spec, array_source *source, const element_type *type, bool by_keys, int64 num_items,
		uint32 *ranks)
{
	position_sort sort;

	memset(&sort, 0, sizeof(sort));
	if (!element_codes_open(&sort.codes, source, type, by_keys, num_items))
		return false;
	sort.descending = spec->order.descending;
	sort.refs = ranks;
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.work));
	{
		sort_all(&sort);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&sort.work));
	thread_work_stop(0, PointerGetDatum(&sort.work));
	element_codes_close(&sort.codes);
	run_last.kernel_ms += sort.work.ms;
	return !sort.failed;
}

static bool
are_many(const sort_spec *spec, const element_type *type, int64 num_items)
{
	int64		least = byte_form_is_made(type->byte_form) ? LEAST_MADE_ITEMS : LEAST_ITEMS;

	if (spec->algorithm != MGPU_ALGORITHM_AUTO || run_is_probed(num_items))
		least = LEAST_PROBED_ITEMS;
	return num_items > least;
}

bool
position_sort_ranks(const sort_spec *spec, array_source *source, const element_type *type,
					int64 num_items, uint32 *ranks)
{
	bool		has_strings = byte_source_applies(type, spec->collation);
	instr_time	start,
				end;
	bool		done;

	if (!are_many(spec, type, num_items) || (type->encode == NULL && !has_strings) ||
		(type->stride == 0 && (type->typlen != -1 || type->typalign != TYPALIGN_INT)) ||
		!run_stays_on_cpu(spec->function, num_items, source->data_bytes))
		return false;
	INSTR_TIME_SET_CURRENT(start);
	array_source_load(source);
	done = (type->encode && sort_by(spec, source, type, true, num_items, ranks)) ||
		(has_strings && sort_by(spec, source, type, false, num_items, ranks));
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	run_last.marshal_ms = INSTR_TIME_GET_MILLISEC(end) - run_last.kernel_ms;
	return done;
}
