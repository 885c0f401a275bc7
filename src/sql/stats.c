/*
 * stats.c
 *		mgpu_segsort_stats, mgpu_locality_sort_stats: counts of the work of each merge pass.
 *
 * The counts come from a real run of the merge algorithm on the data.  Elements of a type without
 * a key first get one: their rank among the distinct elements.  Merging these ranks takes the
 * same steps as merging the elements.  So do elements of 16 bytes, which a GPU sorts by one half
 * after the other: its counts would be those of the second half alone.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/sortsupport.h"

#include "compat.h"
#include "array/element_cursor.h"
#include "array/null_map.h"
#include "array/pair_result.h"
#include "array/source.h"
#include "order/array_sort.h"
#include "run/run_job.h"
#include "sql/sort_args.h"
#include "sql/segment_args.h"

PG_FUNCTION_INFO_V1(mgpu_segsort_stats);
PG_FUNCTION_INFO_V1(mgpu_locality_sort_stats);

#define STATS_COLUMNS 5

/* Elements compared between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

static Datum *
element_values(array_source *source, const element_type *type)
{
	Datum	   *values = palloc_extended(source->num_items * sizeof(Datum), MCXT_ALLOC_HUGE);
	element_cursor cursor;

	array_source_load(source);
	element_cursor_start(&cursor, source, type);
	for (int64 i = 0; i < source->num_items; i++)
	{
		element_cursor_seek(&cursor, i);
		values[i] = null_bitmap_present(source->null_bitmap, i) ? element_cursor_datum(&cursor) : (Datum) 0;
	}
	return values;
}

/* keys[rank of a present element] = number of distinct smaller elements */
static uint32 *
dense_ranks(const sort_spec *spec, array_source *source, const element_type *type)
{
	int64		num_present = source->num_items - source->num_nulls;
	int32	   *positions = palloc_extended(source->num_items * sizeof(int32), MCXT_ALLOC_HUGE);
	uint32	   *keys = palloc_extended((num_present + 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	Datum	   *values;
	SortSupportData support;
	null_map	map;
	uint32		distinct = 0;

	sorted_positions(spec, source, type, 0, positions);
	values = element_values(source, type);
	memset(&support, 0, sizeof(support));
	support.ssup_cxt = CurrentMemoryContext;
	support.ssup_collation = spec->collation;
	PrepareSortSupportFromOrderingOp(type->lt_operator, &support);
	if (source->num_nulls > 0)
		null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < num_present; i++)
	{
		if (i > 0 && ApplySortComparator(values[positions[i - 1]], false,
										 values[positions[i]], false, &support) != 0)
			distinct++;
		keys[source->num_nulls > 0 ? null_map_rank(&map, positions[i]) : (uint32) positions[i]] = distinct;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(values);
	pfree(positions);
	return keys;
}

/* Bind the keys to merge: the present elements themselves, or ranks made for them. */
static void
bind_keys(run_request *request, const sort_spec *spec, array_source *source, const element_type *type)
{
	sort_spec	whole = *spec;

	request->sources[MGPU_CHANNEL_KEYS] = source;
	if (type->key_kind != 0 && type->key_width <= sizeof(uint64))
	{
		array_source_require(source, (Size) (source->num_items - source->num_nulls) * type->stride);
		request->job.key_kind = type->key_kind;
		request->job.key_width = type->key_width;
		request->binding.in_keys = array_source_bound(source, type->key_width);
		return;
	}
	whole.segments = NULL;
	whole.algorithm = MGPU_ALGORITHM_AUTO;
	whole.record = request->record;
	request->job.key_kind = MGPU_KEY_UNSIGNED;
	request->job.key_width = sizeof(uint32);
	request->binding.in_keys = dense_ranks(&whole, source, type);
	if (request->record->gpu_gave_up)
		request->cpu_reason = request->record->reason;
}

/* Sort by merging.  Only the counts are kept. */
static mgpu_run_stats *
run_for_stats(const sort_spec *spec, array_source *source, const element_type *type)
{
	int64		num_present = source->num_items - source->num_nulls;
	run_record	record = {0};
	run_request request = {
		.function = spec->function,
		.record = &record,
		.job = {.op = MGPU_OP_SORT,.algorithm = spec->algorithm,.outputs = MGPU_OUT_KEYS,.num_items = num_present},
		.stats = palloc0(sizeof(mgpu_run_stats))
	};
	segment_list present_segments;

	element_type_check_sortable(type);
	if (spec->segments && num_present > 0)
	{
		if (source->num_nulls > 0)
			segments_of_present(&present_segments, spec->segments, source);
		else
			present_segments = *spec->segments;
		request.job.num_segments = present_segments.num_segments;
		request.binding.in_segment_heads = present_segments.heads;
	}
	bind_keys(&request, spec, source, type);
	request.binding.out_keys = palloc_extended((Size) (num_present + 1) * request.job.key_width, MCXT_ALLOC_HUGE);
	if (num_present > 1)
		run_job(&request);
	pfree(request.binding.out_keys);
	run_report(&record);
	return request.stats;
}

static Datum
pass_row(TupleDesc tupdesc, const mgpu_run_stats *stats, int pass)
{
	const mgpu_pass_stats *counts = &stats->passes[pass];
	double		percent = 100.0 / stats->num_tiles;
	Datum		values[STATS_COLUMNS];
	bool		nulls[STATS_COLUMNS] = {false};

	values[0] = Int32GetDatum(pass + 1);
	values[1] = Int64GetDatum((int64) counts->merge_tiles);
	values[2] = Float8GetDatum(counts->merge_tiles * percent);
	values[3] = Int64GetDatum((int64) counts->copy_tiles);
	values[4] = Float8GetDatum(counts->copy_tiles * percent);
	return HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls));
}

static mgpu_run_stats *
start_stats(FunctionCallInfo fcinfo, const char *function, bool has_heads)
{
	sort_spec	spec = sort_spec_args(fcinfo, function, PG_NARGS());
	segment_list segments;
	array_source source;
	element_type type;
	mgpu_run_stats *stats;

	spec.algorithm = MGPU_ALGORITHM_LOCALITY;
	array_source_open_vector(&source, PG_GETARG_DATUM(0));
	if (has_heads)
	{
		segments_from_heads(&segments, PG_GETARG_DATUM(1), &source);
		spec.segments = &segments;
		spec.algorithm = MGPU_ALGORITHM_MERGE;
	}
	if (source.num_items < 2)
		stats = palloc0(sizeof(mgpu_run_stats));
	else
	{
		element_type_fill(&type, source.element_type);
		stats = run_for_stats(&spec, &source, &type);
	}
	array_source_close(&source);
	return stats;
}

static Datum
stats_rows(FunctionCallInfo fcinfo, const char *function, bool has_heads)
{
	FuncCallContext *funcctx;
	const mgpu_run_stats *stats;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;

		funcctx = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		funcctx->tuple_desc = result_row_type(fcinfo);
		funcctx->user_fctx = start_stats(fcinfo, function, has_heads);
		MemoryContextSwitchTo(caller);
	}
	funcctx = SRF_PERCALL_SETUP();
	stats = funcctx->user_fctx;
	if (funcctx->call_cntr < (uint64) stats->num_passes)
	{
		/* SRF_RETURN_NEXT increments call_cntr before it evaluates the row */
		Datum		row = pass_row(funcctx->tuple_desc, stats, (int) funcctx->call_cntr);

		SRF_RETURN_NEXT(funcctx, row);
	}
	SRF_RETURN_DONE(funcctx);
}

/*
 * mgpu_segsort_stats(vals anyarray, heads int[]) → SETOF (pass, merge_tiles, merge_percent,
 * copy_tiles, copy_percent): the tiles that each pass of a segmented mergesort merges or only
 * copies, also in percent of all tiles.
 */
Datum
mgpu_segsort_stats(PG_FUNCTION_ARGS)
{
	return stats_rows(fcinfo, "mgpu_segsort_stats", true);
}

/* mgpu_locality_sort_stats(arr anyarray) → SETOF the same columns, for a locality sort */
Datum
mgpu_locality_sort_stats(PG_FUNCTION_ARGS)
{
	return stats_rows(fcinfo, "mgpu_locality_sort_stats", false);
}
