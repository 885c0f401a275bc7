/* sql/mgpu_pg--0.1.sql */

\echo Use "CREATE EXTENSION mgpu_pg" to load this file. \quit

-- Sorting

CREATE FUNCTION mgpu_sort(arr anyarray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort(anyarray) IS 'sorted array, as ORDER BY sorts';

CREATE FUNCTION mgpu_sort(arr anyarray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort(anyarray, boolean) IS 'sorted array, as ORDER BY sorts';

CREATE FUNCTION mgpu_sort(arr anyarray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort(anyarray, boolean, boolean) IS 'sorted array, as ORDER BY sorts';

CREATE FUNCTION mgpu_argsort(arr anyarray)
RETURNS int[]
AS 'MODULE_PATHNAME', 'mgpu_argsort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_argsort(anyarray) IS 'subscripts of the elements in sorted order';

CREATE FUNCTION mgpu_argsort(arr anyarray, descending boolean)
RETURNS int[]
AS 'MODULE_PATHNAME', 'mgpu_argsort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_argsort(anyarray, boolean) IS 'subscripts of the elements in sorted order';

CREATE FUNCTION mgpu_argsort(arr anyarray, descending boolean, nulls_first boolean)
RETURNS int[]
AS 'MODULE_PATHNAME', 'mgpu_argsort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_argsort(anyarray, boolean, boolean) IS 'subscripts of the elements in sorted order';

CREATE FUNCTION mgpu_sort_by(vals anyarray, keys anycompatiblearray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_by(anyarray, anycompatiblearray) IS 'values in the order of their keys';

CREATE FUNCTION mgpu_sort_by(vals anyarray, keys anycompatiblearray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_by(anyarray, anycompatiblearray, boolean) IS 'values in the order of their keys';

CREATE FUNCTION mgpu_sort_by(vals anyarray, keys anycompatiblearray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_by(anyarray, anycompatiblearray, boolean, boolean) IS 'values in the order of their keys';

CREATE FUNCTION mgpu_sort_pairs(keys anyarray, vals anycompatiblearray, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray) IS 'keys sorted, and their values with them';

CREATE FUNCTION mgpu_sort_pairs(keys anyarray, vals anycompatiblearray, descending boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray, boolean) IS 'keys sorted, and their values with them';

CREATE FUNCTION mgpu_sort_pairs(keys anyarray, vals anycompatiblearray, descending boolean, nulls_first boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray, boolean, boolean) IS 'keys sorted, and their values with them';

CREATE FUNCTION mgpu_sort_rows(keys anyarray, vals anycompatiblearray)
RETURNS TABLE (key anyelement, val anycompatible)
AS 'MODULE_PATHNAME', 'mgpu_sort_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION mgpu_sort_rows(anyarray, anycompatiblearray) IS 'a row for each key, in sorted order, with its value';

CREATE FUNCTION mgpu_sort_rows(keys anyarray, vals anycompatiblearray, descending boolean)
RETURNS TABLE (key anyelement, val anycompatible)
AS 'MODULE_PATHNAME', 'mgpu_sort_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION mgpu_sort_rows(anyarray, anycompatiblearray, boolean) IS 'a row for each key, in sorted order, with its value';

CREATE FUNCTION mgpu_sort_rows(keys anyarray, vals anycompatiblearray, descending boolean, nulls_first boolean)
RETURNS TABLE (key anyelement, val anycompatible)
AS 'MODULE_PATHNAME', 'mgpu_sort_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION mgpu_sort_rows(anyarray, anycompatiblearray, boolean, boolean) IS 'a row for each key, in sorted order, with its value';

CREATE FUNCTION mgpu_locality_sort(arr anyarray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_locality_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_locality_sort(anyarray) IS 'sorted array, by a mergesort that leaves alone what is in place';

CREATE FUNCTION mgpu_locality_sort(arr anyarray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_locality_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_locality_sort(anyarray, boolean) IS 'sorted array, by a mergesort that leaves alone what is in place';

CREATE FUNCTION mgpu_locality_sort(arr anyarray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_locality_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_locality_sort(anyarray, boolean, boolean) IS 'sorted array, by a mergesort that leaves alone what is in place';

CREATE FUNCTION mgpu_locality_sort_pairs(keys anyarray, vals anycompatiblearray, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_locality_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_locality_sort_pairs(anyarray, anycompatiblearray) IS 'keys sorted and their values with them, leaving alone what is in place';

CREATE FUNCTION mgpu_locality_sort_pairs(keys anyarray, vals anycompatiblearray, descending boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_locality_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_locality_sort_pairs(anyarray, anycompatiblearray, boolean) IS 'keys sorted and their values with them, leaving alone what is in place';

CREATE FUNCTION mgpu_locality_sort_pairs(keys anyarray, vals anycompatiblearray, descending boolean, nulls_first boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_locality_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_locality_sort_pairs(anyarray, anycompatiblearray, boolean, boolean) IS 'keys sorted and their values with them, leaving alone what is in place';

CREATE FUNCTION mgpu_oddeven_sort(arr anyarray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_oddeven_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION mgpu_oddeven_sort(anyarray) IS 'sorted array, by the odd-even mergesort network; not stable';

CREATE FUNCTION mgpu_oddeven_sort(arr anyarray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_oddeven_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION mgpu_oddeven_sort(anyarray, boolean) IS 'sorted array, by the odd-even mergesort network; not stable';

CREATE FUNCTION mgpu_oddeven_sort(arr anyarray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_oddeven_sort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION mgpu_oddeven_sort(anyarray, boolean, boolean) IS 'sorted array, by the odd-even mergesort network; not stable';

-- Sorting inside segments

CREATE FUNCTION mgpu_segsort(vals anyarray, heads int[])
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort(anyarray, int[]) IS 'sorted inside each segment; heads are the subscripts of first elements';

CREATE FUNCTION mgpu_segsort(vals anyarray, heads int[], descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort(anyarray, int[], boolean) IS 'sorted inside each segment; heads are the subscripts of first elements';

CREATE FUNCTION mgpu_segsort(vals anyarray, heads int[], descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort(anyarray, int[], boolean, boolean) IS 'sorted inside each segment; heads are the subscripts of first elements';

CREATE FUNCTION mgpu_segsort_flags(vals anyarray, head_flags bit varying)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_flags'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_flags(anyarray, bit varying) IS 'sorted inside each segment; bit 1 starts one';

CREATE FUNCTION mgpu_segsort_flags(vals anyarray, head_flags bit varying, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_flags'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_flags(anyarray, bit varying, boolean) IS 'sorted inside each segment; bit 1 starts one';

CREATE FUNCTION mgpu_segsort_flags(vals anyarray, head_flags bit varying, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_flags'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_flags(anyarray, bit varying, boolean, boolean) IS 'sorted inside each segment; bit 1 starts one';

CREATE FUNCTION mgpu_segsort_by(vals anyarray, groups anycompatiblearray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_by(anyarray, anycompatiblearray) IS 'sorted inside each run of equal neighbours in groups';

CREATE FUNCTION mgpu_segsort_by(vals anyarray, groups anycompatiblearray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_by(anyarray, anycompatiblearray, boolean) IS 'sorted inside each run of equal neighbours in groups';

CREATE FUNCTION mgpu_segsort_by(vals anyarray, groups anycompatiblearray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_by(anyarray, anycompatiblearray, boolean, boolean) IS 'sorted inside each run of equal neighbours in groups';

CREATE FUNCTION mgpu_segsort_pairs(keys anyarray, vals anycompatiblearray, heads int[], OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_pairs(anyarray, anycompatiblearray, int[]) IS 'keys sorted inside each segment, and their values with them';

CREATE FUNCTION mgpu_segsort_pairs(keys anyarray, vals anycompatiblearray, heads int[], descending boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_pairs(anyarray, anycompatiblearray, int[], boolean) IS 'keys sorted inside each segment, and their values with them';

CREATE FUNCTION mgpu_segsort_pairs(keys anyarray, vals anycompatiblearray, heads int[], descending boolean, nulls_first boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_pairs(anyarray, anycompatiblearray, int[], boolean, boolean) IS 'keys sorted inside each segment, and their values with them';

CREATE FUNCTION mgpu_segsort_pairs_flags(keys anyarray, vals anycompatiblearray, head_flags bit varying, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs_flags'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_pairs_flags(anyarray, anycompatiblearray, bit varying) IS 'keys sorted inside each segment, and their values with them';

CREATE FUNCTION mgpu_segsort_pairs_flags(keys anyarray, vals anycompatiblearray, head_flags bit varying, descending boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs_flags'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_pairs_flags(anyarray, anycompatiblearray, bit varying, boolean) IS 'keys sorted inside each segment, and their values with them';

CREATE FUNCTION mgpu_segsort_pairs_flags(keys anyarray, vals anycompatiblearray, head_flags bit varying, descending boolean, nulls_first boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs_flags'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_segsort_pairs_flags(anyarray, anycompatiblearray, bit varying, boolean, boolean) IS 'keys sorted inside each segment, and their values with them';

CREATE FUNCTION mgpu_segsort_rows(vals anyarray, groups anycompatiblearray)
RETURNS TABLE (grp anycompatible, val anyelement)
AS 'MODULE_PATHNAME', 'mgpu_segsort_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION mgpu_segsort_rows(anyarray, anycompatiblearray) IS 'a row for each value, sorted inside each run of equal groups';

CREATE FUNCTION mgpu_segsort_rows(vals anyarray, groups anycompatiblearray, descending boolean)
RETURNS TABLE (grp anycompatible, val anyelement)
AS 'MODULE_PATHNAME', 'mgpu_segsort_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION mgpu_segsort_rows(anyarray, anycompatiblearray, boolean) IS 'a row for each value, sorted inside each run of equal groups';

CREATE FUNCTION mgpu_segsort_rows(vals anyarray, groups anycompatiblearray, descending boolean, nulls_first boolean)
RETURNS TABLE (grp anycompatible, val anyelement)
AS 'MODULE_PATHNAME', 'mgpu_segsort_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION mgpu_segsort_rows(anyarray, anycompatiblearray, boolean, boolean) IS 'a row for each value, sorted inside each run of equal groups';

-- Merging

CREATE FUNCTION mgpu_merge(a anyarray, b anyarray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_merge'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_merge(anyarray, anyarray) IS 'two sorted arrays merged into one';

CREATE FUNCTION mgpu_merge(a anyarray, b anyarray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_merge'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_merge(anyarray, anyarray, boolean) IS 'two sorted arrays merged into one';

CREATE FUNCTION mgpu_merge(a anyarray, b anyarray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_merge'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_merge(anyarray, anyarray, boolean, boolean) IS 'two sorted arrays merged into one';

CREATE FUNCTION mgpu_merge_pairs(a_keys anyarray, a_vals anycompatiblearray, b_keys anyarray, b_vals anycompatiblearray, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_merge_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_merge_pairs(anyarray, anycompatiblearray, anyarray, anycompatiblearray) IS 'two sorted arrays merged into one, and their values with them';

CREATE FUNCTION mgpu_merge_pairs(a_keys anyarray, a_vals anycompatiblearray, b_keys anyarray, b_vals anycompatiblearray, descending boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_merge_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_merge_pairs(anyarray, anycompatiblearray, anyarray, anycompatiblearray, boolean) IS 'two sorted arrays merged into one, and their values with them';

CREATE FUNCTION mgpu_merge_pairs(a_keys anyarray, a_vals anycompatiblearray, b_keys anyarray, b_vals anycompatiblearray, descending boolean, nulls_first boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_merge_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_merge_pairs(anyarray, anycompatiblearray, anyarray, anycompatiblearray, boolean, boolean) IS 'two sorted arrays merged into one, and their values with them';

-- Many elements out of or into an array at once

CREATE FUNCTION mgpu_bulk_remove(arr anyarray, positions int[])
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_bulk_remove'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_bulk_remove(anyarray, int[]) IS 'array without the elements at those subscripts';

CREATE FUNCTION mgpu_bulk_insert(arr anyarray, positions int[], vals anyarray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_bulk_insert'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_bulk_insert(anyarray, int[], anyarray) IS 'array with each value before the element at its position';

-- What merge passes do

CREATE FUNCTION mgpu_segsort_stats(vals anyarray, heads int[])
RETURNS TABLE (pass int, merge_tiles bigint, merge_percent float8, copy_tiles bigint, copy_percent float8)
AS 'MODULE_PATHNAME', 'mgpu_segsort_stats'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 200 ROWS 16;
COMMENT ON FUNCTION mgpu_segsort_stats(anyarray, int[]) IS 'what each merge pass of a segmented sort does to these data';

CREATE FUNCTION mgpu_locality_sort_stats(arr anyarray)
RETURNS TABLE (pass int, merge_tiles bigint, merge_percent float8, copy_tiles bigint, copy_percent float8)
AS 'MODULE_PATHNAME', 'mgpu_locality_sort_stats'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 200 ROWS 16;
COMMENT ON FUNCTION mgpu_locality_sort_stats(anyarray) IS 'what each merge pass of a locality sort does to these data';

-- What there is and what happened

CREATE FUNCTION mgpu_device_info(
	OUT ordinal int, OUT name text, OUT compute_capability text,
	OUT memory_total bigint, OUT memory_free bigint, OUT link text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'mgpu_device_info'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000 ROWS 1;
COMMENT ON FUNCTION mgpu_device_info() IS 'usable GPUs, one a row';

CREATE FUNCTION mgpu_last_run(
	OUT function text, OUT executor text, OUT algorithm text,
	OUT items bigint, OUT segments bigint, OUT bytes bigint,
	OUT marshal_ms float8, OUT upload_ms float8, OUT kernel_ms float8, OUT download_ms float8,
	OUT reason text)
RETURNS record
AS 'MODULE_PATHNAME', 'mgpu_last_run'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mgpu_last_run() IS 'how this session''s last sort ran';

-- Aggregates: what PostgreSQL calls to compute them

CREATE FUNCTION mgpu_agg_serialize(state internal)
RETURNS bytea
AS 'MODULE_PATHNAME', 'mgpu_agg_serialize'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_agg_serialize(internal) IS 'a group''s rows as bytes';

CREATE FUNCTION mgpu_agg_deserialize(run bytea, state internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_agg_deserialize'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_agg_deserialize(bytea, internal) IS 'a group''s rows from bytes';

CREATE FUNCTION mgpu_sort_agg_combine(state internal, run internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_combine(internal, internal) IS 'combine function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_by_combine(state internal, run internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_by_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_combine(internal, internal) IS 'combine function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_merge_agg_combine(state internal, run internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_merge_agg_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_combine(internal, internal) IS 'combine function of mgpu_merge_agg';

CREATE FUNCTION mgpu_percentile_cont_combine(state internal, run internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_combine(internal, internal) IS 'combine function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_disc_combine(state internal, run internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_disc_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_disc_combine(internal, internal) IS 'combine function of mgpu_percentile_disc';

CREATE FUNCTION mgpu_agg_support(request internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_agg_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_agg_support(internal) IS 'planner support of aggregates';

CREATE FUNCTION mgpu_sort_agg_trans(state internal, val anyelement)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_sort_agg_trans(internal, anyelement) IS 'transition function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_final(state internal, val anyelement)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_final(internal, anyelement) IS 'final function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_trans(state internal, val anyelement, descending boolean)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_sort_agg_trans(internal, anyelement, boolean) IS 'transition function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_final(state internal, val anyelement, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_final(internal, anyelement, boolean) IS 'final function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_trans(state internal, val anyelement, descending boolean, nulls_first boolean)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_sort_agg_trans(internal, anyelement, boolean, boolean) IS 'transition function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_final(state internal, val anyelement, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_final(internal, anyelement, boolean, boolean) IS 'final function of mgpu_sort_agg';

CREATE FUNCTION mgpu_sort_agg_by_trans(state internal, val anyelement, key anycompatible)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_by_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_trans(internal, anyelement, anycompatible) IS 'transition function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_sort_agg_by_final(state internal, val anyelement, key anycompatible)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_final(internal, anyelement, anycompatible) IS 'final function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_sort_agg_by_trans(state internal, val anyelement, key anycompatible, descending boolean)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_by_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_trans(internal, anyelement, anycompatible, boolean) IS 'transition function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_sort_agg_by_final(state internal, val anyelement, key anycompatible, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_final(internal, anyelement, anycompatible, boolean) IS 'final function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_sort_agg_by_trans(state internal, val anyelement, key anycompatible, descending boolean, nulls_first boolean)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_by_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_trans(internal, anyelement, anycompatible, boolean, boolean) IS 'transition function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_sort_agg_by_final(state internal, val anyelement, key anycompatible, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_sort_agg_by_final(internal, anyelement, anycompatible, boolean, boolean) IS 'final function of mgpu_sort_agg_by';

CREATE FUNCTION mgpu_merge_agg_trans(state internal, sorted anyarray)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_merge_agg_trans'
LANGUAGE C IMMUTABLE COST 100 PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_trans(internal, anyarray) IS 'transition function of mgpu_merge_agg';

CREATE FUNCTION mgpu_merge_agg_final(state internal, sorted anyarray)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_final(internal, anyarray) IS 'final function of mgpu_merge_agg';

CREATE FUNCTION mgpu_merge_agg_trans(state internal, sorted anyarray, descending boolean)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_merge_agg_trans'
LANGUAGE C IMMUTABLE COST 100 PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_trans(internal, anyarray, boolean) IS 'transition function of mgpu_merge_agg';

CREATE FUNCTION mgpu_merge_agg_final(state internal, sorted anyarray, descending boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_final(internal, anyarray, boolean) IS 'final function of mgpu_merge_agg';

CREATE FUNCTION mgpu_merge_agg_trans(state internal, sorted anyarray, descending boolean, nulls_first boolean)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_merge_agg_trans'
LANGUAGE C IMMUTABLE COST 100 PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_trans(internal, anyarray, boolean, boolean) IS 'transition function of mgpu_merge_agg';

CREATE FUNCTION mgpu_merge_agg_final(state internal, sorted anyarray, descending boolean, nulls_first boolean)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_merge_agg_final(internal, anyarray, boolean, boolean) IS 'final function of mgpu_merge_agg';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val smallint, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, smallint, double precision) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val smallint, fraction double precision)
RETURNS double precision
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, smallint, double precision) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val smallint, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, smallint, double precision[]) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val smallint, fraction double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, smallint, double precision[]) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val integer, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, integer, double precision) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val integer, fraction double precision)
RETURNS double precision
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, integer, double precision) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val integer, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, integer, double precision[]) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val integer, fraction double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, integer, double precision[]) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val bigint, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, bigint, double precision) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val bigint, fraction double precision)
RETURNS double precision
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, bigint, double precision) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val bigint, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, bigint, double precision[]) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val bigint, fraction double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, bigint, double precision[]) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val real, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, real, double precision) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val real, fraction double precision)
RETURNS double precision
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, real, double precision) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val real, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, real, double precision[]) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val real, fraction double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, real, double precision[]) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val double precision, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, double precision, double precision) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val double precision, fraction double precision)
RETURNS double precision
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, double precision, double precision) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val double precision, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, double precision, double precision[]) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val double precision, fraction double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, double precision, double precision[]) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val interval, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, interval, double precision) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val interval, fraction double precision)
RETURNS interval
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, interval, double precision) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_trans(state internal, val interval, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_cont_trans(internal, interval, double precision[]) IS 'transition function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_cont_final(state internal, val interval, fraction double precision[])
RETURNS interval[]
AS 'MODULE_PATHNAME', 'mgpu_percentile_cont_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_cont_final(internal, interval, double precision[]) IS 'final function of mgpu_percentile_cont';

CREATE FUNCTION mgpu_percentile_disc_trans(state internal, val anyelement, fraction double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_disc_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_disc_trans(internal, anyelement, double precision) IS 'transition function of mgpu_percentile_disc';

CREATE FUNCTION mgpu_percentile_disc_final(state internal, val anyelement, fraction double precision)
RETURNS anyelement
AS 'MODULE_PATHNAME', 'mgpu_percentile_disc_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_disc_final(internal, anyelement, double precision) IS 'final function of mgpu_percentile_disc';

CREATE FUNCTION mgpu_percentile_disc_trans(state internal, val anyelement, fraction double precision[])
RETURNS internal
AS 'MODULE_PATHNAME', 'mgpu_percentile_disc_trans'
LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT mgpu_agg_support;
COMMENT ON FUNCTION mgpu_percentile_disc_trans(internal, anyelement, double precision[]) IS 'transition function of mgpu_percentile_disc';

CREATE FUNCTION mgpu_percentile_disc_final(state internal, val anyelement, fraction double precision[])
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_percentile_disc_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION mgpu_percentile_disc_final(internal, anyelement, double precision[]) IS 'final function of mgpu_percentile_disc';

-- Aggregates.  A group's own state is a number; SSPACE is what the planner takes for array_agg, for the values.  A
-- low one would keep it from splitting hash tables that are faster when split until their parts fit the caches.

CREATE AGGREGATE mgpu_sort_agg(val anyelement) (
	SFUNC = mgpu_sort_agg_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_sort_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_sort_agg_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_sort_agg(anyelement) IS 'values as a sorted array';

CREATE AGGREGATE mgpu_sort_agg(val anyelement, descending boolean) (
	SFUNC = mgpu_sort_agg_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_sort_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_sort_agg_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_sort_agg(anyelement, boolean) IS 'values as a sorted array';

CREATE AGGREGATE mgpu_sort_agg(val anyelement, descending boolean, nulls_first boolean) (
	SFUNC = mgpu_sort_agg_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_sort_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_sort_agg_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_sort_agg(anyelement, boolean, boolean) IS 'values as a sorted array';

CREATE AGGREGATE mgpu_sort_agg_by(val anyelement, key anycompatible) (
	SFUNC = mgpu_sort_agg_by_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_sort_agg_by_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_sort_agg_by_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_sort_agg_by(anyelement, anycompatible) IS 'values as an array in the order of their keys';

CREATE AGGREGATE mgpu_sort_agg_by(val anyelement, key anycompatible, descending boolean) (
	SFUNC = mgpu_sort_agg_by_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_sort_agg_by_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_sort_agg_by_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_sort_agg_by(anyelement, anycompatible, boolean) IS 'values as an array in the order of their keys';

CREATE AGGREGATE mgpu_sort_agg_by(val anyelement, key anycompatible, descending boolean, nulls_first boolean) (
	SFUNC = mgpu_sort_agg_by_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_sort_agg_by_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_sort_agg_by_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_sort_agg_by(anyelement, anycompatible, boolean, boolean) IS 'values as an array in the order of their keys';

CREATE AGGREGATE mgpu_merge_agg(sorted anyarray) (
	SFUNC = mgpu_merge_agg_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_merge_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_merge_agg_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_merge_agg(anyarray) IS 'sorted arrays merged into one';

CREATE AGGREGATE mgpu_merge_agg(sorted anyarray, descending boolean) (
	SFUNC = mgpu_merge_agg_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_merge_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_merge_agg_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_merge_agg(anyarray, boolean) IS 'sorted arrays merged into one';

CREATE AGGREGATE mgpu_merge_agg(sorted anyarray, descending boolean, nulls_first boolean) (
	SFUNC = mgpu_merge_agg_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_merge_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_merge_agg_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_merge_agg(anyarray, boolean, boolean) IS 'sorted arrays merged into one';

CREATE AGGREGATE mgpu_percentile_cont(val smallint, fraction double precision) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(smallint, double precision) IS 'continuous percentile';

CREATE AGGREGATE mgpu_percentile_cont(val smallint, fraction double precision[]) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(smallint, double precision[]) IS 'continuous percentiles';

CREATE AGGREGATE mgpu_percentile_cont(val integer, fraction double precision) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(integer, double precision) IS 'continuous percentile';

CREATE AGGREGATE mgpu_percentile_cont(val integer, fraction double precision[]) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(integer, double precision[]) IS 'continuous percentiles';

CREATE AGGREGATE mgpu_percentile_cont(val bigint, fraction double precision) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(bigint, double precision) IS 'continuous percentile';

CREATE AGGREGATE mgpu_percentile_cont(val bigint, fraction double precision[]) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(bigint, double precision[]) IS 'continuous percentiles';

CREATE AGGREGATE mgpu_percentile_cont(val real, fraction double precision) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(real, double precision) IS 'continuous percentile';

CREATE AGGREGATE mgpu_percentile_cont(val real, fraction double precision[]) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(real, double precision[]) IS 'continuous percentiles';

CREATE AGGREGATE mgpu_percentile_cont(val double precision, fraction double precision) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(double precision, double precision) IS 'continuous percentile';

CREATE AGGREGATE mgpu_percentile_cont(val double precision, fraction double precision[]) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(double precision, double precision[]) IS 'continuous percentiles';

CREATE AGGREGATE mgpu_percentile_cont(val interval, fraction double precision) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(interval, double precision) IS 'continuous percentile';

CREATE AGGREGATE mgpu_percentile_cont(val interval, fraction double precision[]) (
	SFUNC = mgpu_percentile_cont_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_cont_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_cont_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_cont(interval, double precision[]) IS 'continuous percentiles';

CREATE AGGREGATE mgpu_percentile_disc(val anyelement, fraction double precision) (
	SFUNC = mgpu_percentile_disc_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_disc_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_disc_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_disc(anyelement, double precision) IS 'discrete percentile';

CREATE AGGREGATE mgpu_percentile_disc(val anyelement, fraction double precision[]) (
	SFUNC = mgpu_percentile_disc_trans, STYPE = internal, SSPACE = 8192,
	FINALFUNC = mgpu_percentile_disc_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE,
	COMBINEFUNC = mgpu_percentile_disc_combine, SERIALFUNC = mgpu_agg_serialize, DESERIALFUNC = mgpu_agg_deserialize,
	PARALLEL = SAFE);
COMMENT ON AGGREGATE mgpu_percentile_disc(anyelement, double precision[]) IS 'discrete percentiles';
