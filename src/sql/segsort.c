/*
 * segsort.c
 *		SQL functions that sort inside segments: mgpu_segsort, _flags, _by, _pairs, _pairs_flags,
 *		_rows.
 *
 * Heads, flags and groups become one list of heads (segment_args.c).  The sort is the same as
 * without segments, with the list in its spec.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "order/array_sort.h"
#include "sql/sort_args.h"
#include "sql/rows_fn.h"
#include "sql/segment_args.h"

PG_FUNCTION_INFO_V1(mgpu_segsort);
PG_FUNCTION_INFO_V1(mgpu_segsort_flags);
PG_FUNCTION_INFO_V1(mgpu_segsort_by);
PG_FUNCTION_INFO_V1(mgpu_segsort_pairs);
PG_FUNCTION_INFO_V1(mgpu_segsort_pairs_flags);
PG_FUNCTION_INFO_V1(mgpu_segsort_rows);

/*
 * mgpu_segsort(vals anyarray, heads int[] [, descending bool [, nulls_first bool]]) → anyarray:
 * vals sorted inside each segment.  heads are the subscripts of the segments' first elements.
 * The first subscript of vals may be left out.
 */
Datum
mgpu_segsort(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_segsort", 2);

	PG_RETURN_DATUM(sort_one_array(fcinfo, &spec, segments_from_heads));
}

/*
 * mgpu_segsort_flags(vals anyarray, head_flags bit varying
 * [, descending bool [, nulls_first bool]]) → anyarray: one bit for each element, 1 starts a
 * segment.
 */
Datum
mgpu_segsort_flags(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_segsort_flags", 2);

	PG_RETURN_DATUM(sort_one_array(fcinfo, &spec, segments_from_flags));
}

/*
 * mgpu_segsort_by(vals anyarray, groups anycompatiblearray
 * [, descending bool [, nulls_first bool]]) → anyarray: each run of equal neighbours in groups is
 * a segment.
 */
Datum
mgpu_segsort_by(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_segsort_by", 2);
	segment_list segments;
	array_pair	pair;
	ArrayType  *result;

	if (sort_args_null(fcinfo, 2))
		PG_RETURN_NULL();
	pair_args_open_named(&pair, PG_GETARG_DATUM(0), "vals", PG_GETARG_DATUM(1), "groups");
	if (pair.keys.num_items < 2)
	{
		pair_args_close(&pair);
		PG_RETURN_DATUM(pair.keys.datum);
	}
	pair_args_types(&pair, fcinfo);
	segments_from_groups(&segments, &pair.vals, pair.val_type, spec.collation);
	spec.segments = &segments;
	result = sorted_array(&spec, &pair.keys, pair.key_type);
	pair_args_close(&pair);
	PG_RETURN_ARRAYTYPE_P(result);
}

/*
 * mgpu_segsort_pairs(keys anyarray, vals anycompatiblearray, heads int[]
 * [, descending bool [, nulls_first bool]]) → (keys, vals)
 */
Datum
mgpu_segsort_pairs(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_segsort_pairs", 3);

	PG_RETURN_DATUM(sort_pair(fcinfo, &spec, segments_from_heads));
}

/*
 * mgpu_segsort_pairs_flags(keys anyarray, vals anycompatiblearray, head_flags bit varying
 * [, descending bool [, nulls_first bool]]) → (keys, vals)
 */
Datum
mgpu_segsort_pairs_flags(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_segsort_pairs_flags", 3);

	PG_RETURN_DATUM(sort_pair(fcinfo, &spec, segments_from_flags));
}

/* The groups unchanged, and vals sorted inside them. */
static void
start_rows(FunctionCallInfo fcinfo, ArrayType **groups, ArrayType **vals)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_segsort_rows", 2);
	segment_list segments;
	array_pair	pair;
	element_type val_type;
	element_type group_type;

	pair_args_open_named(&pair, PG_GETARG_DATUM(0), "vals", PG_GETARG_DATUM(1), "groups");
	if (pair.keys.num_items < 2)
	{
		array_source_load(&pair.keys);
		array_source_load(&pair.vals);
		*vals = pair.keys.array;
		*groups = pair.vals.array;
		return;
	}
	element_type_fill(&val_type, pair.keys.element_type);
	element_type_fill(&group_type, pair.vals.element_type);
	segments_from_groups(&segments, &pair.vals, &group_type, spec.collation);
	spec.segments = &segments;
	*vals = sorted_array(&spec, &pair.keys, &val_type);
	array_source_load(&pair.vals);
	*groups = pair.vals.array;
	pair_args_close(&pair);
}

/*
 * mgpu_segsort_rows(vals anyarray, groups anycompatiblearray
 * [, descending bool [, nulls_first bool]]) → SETOF (grp, val): vals sorted inside each run of
 * equal neighbours in groups.
 */
Datum
mgpu_segsort_rows(PG_FUNCTION_ARGS)
{
	return rows_of_arrays(fcinfo, start_rows);
}
