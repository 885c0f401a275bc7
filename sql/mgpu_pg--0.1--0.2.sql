/* sql/mgpu_pg--0.1--0.2.sql */

\echo Use "ALTER EXTENSION mgpu_pg UPDATE TO '0.2'" to load this file. \quit

-- Within one statement these answer the same.

ALTER FUNCTION mgpu_segsort_stats(anyarray, int[]) STABLE;
ALTER FUNCTION mgpu_locality_sort_stats(anyarray) STABLE;

-- A row describes all calls of a statement.

DROP FUNCTION mgpu_last_run();
CREATE FUNCTION mgpu_last_run(
	OUT function text, OUT executor text, OUT algorithm text,
	OUT items bigint, OUT segments bigint, OUT bytes bigint,
	OUT marshal_ms float8, OUT upload_ms float8, OUT kernel_ms float8, OUT download_ms float8,
	OUT reason text, OUT calls bigint, OUT threads int)
RETURNS record
AS 'MODULE_PATHNAME', 'mgpu_last_run'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mgpu_last_run() IS 'how this session''s last statement with sorts or merges ran';

-- Functions that only aggregates call have names apart from those that users call.  Each is named
-- here: a loop over the catalog would run operators that the schema's owner can replace.

ALTER FUNCTION mgpu_agg_serialize(internal) RENAME TO _mgpu_agg_serialize;
ALTER FUNCTION mgpu_agg_deserialize(bytea, internal) RENAME TO _mgpu_agg_deserialize;
ALTER FUNCTION mgpu_sort_agg_combine(internal, internal) RENAME TO _mgpu_sort_agg_combine;
ALTER FUNCTION mgpu_sort_agg_by_combine(internal, internal) RENAME TO _mgpu_sort_agg_by_combine;
ALTER FUNCTION mgpu_merge_agg_combine(internal, internal) RENAME TO _mgpu_merge_agg_combine;
ALTER FUNCTION mgpu_percentile_cont_combine(internal, internal) RENAME TO _mgpu_percentile_cont_combine;
ALTER FUNCTION mgpu_percentile_disc_combine(internal, internal) RENAME TO _mgpu_percentile_disc_combine;
ALTER FUNCTION mgpu_agg_support(internal) RENAME TO _mgpu_agg_support;
ALTER FUNCTION mgpu_sort_agg_trans(internal, anyelement) RENAME TO _mgpu_sort_agg_trans;
ALTER FUNCTION mgpu_sort_agg_final(internal, anyelement) RENAME TO _mgpu_sort_agg_final;
ALTER FUNCTION mgpu_sort_agg_trans(internal, anyelement, boolean) RENAME TO _mgpu_sort_agg_trans;
ALTER FUNCTION mgpu_sort_agg_final(internal, anyelement, boolean) RENAME TO _mgpu_sort_agg_final;
ALTER FUNCTION mgpu_sort_agg_trans(internal, anyelement, boolean, boolean) RENAME TO _mgpu_sort_agg_trans;
ALTER FUNCTION mgpu_sort_agg_final(internal, anyelement, boolean, boolean) RENAME TO _mgpu_sort_agg_final;
ALTER FUNCTION mgpu_sort_agg_by_trans(internal, anyelement, anycompatible) RENAME TO _mgpu_sort_agg_by_trans;
ALTER FUNCTION mgpu_sort_agg_by_final(internal, anyelement, anycompatible) RENAME TO _mgpu_sort_agg_by_final;
ALTER FUNCTION mgpu_sort_agg_by_trans(internal, anyelement, anycompatible, boolean) RENAME TO _mgpu_sort_agg_by_trans;
ALTER FUNCTION mgpu_sort_agg_by_final(internal, anyelement, anycompatible, boolean) RENAME TO _mgpu_sort_agg_by_final;
ALTER FUNCTION mgpu_sort_agg_by_trans(internal, anyelement, anycompatible, boolean, boolean) RENAME TO _mgpu_sort_agg_by_trans;
ALTER FUNCTION mgpu_sort_agg_by_final(internal, anyelement, anycompatible, boolean, boolean) RENAME TO _mgpu_sort_agg_by_final;
ALTER FUNCTION mgpu_merge_agg_trans(internal, anyarray) RENAME TO _mgpu_merge_agg_trans;
ALTER FUNCTION mgpu_merge_agg_final(internal, anyarray) RENAME TO _mgpu_merge_agg_final;
ALTER FUNCTION mgpu_merge_agg_trans(internal, anyarray, boolean) RENAME TO _mgpu_merge_agg_trans;
ALTER FUNCTION mgpu_merge_agg_final(internal, anyarray, boolean) RENAME TO _mgpu_merge_agg_final;
ALTER FUNCTION mgpu_merge_agg_trans(internal, anyarray, boolean, boolean) RENAME TO _mgpu_merge_agg_trans;
ALTER FUNCTION mgpu_merge_agg_final(internal, anyarray, boolean, boolean) RENAME TO _mgpu_merge_agg_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, smallint, double precision) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, smallint, double precision) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, smallint, double precision[]) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, smallint, double precision[]) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, integer, double precision) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, integer, double precision) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, integer, double precision[]) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, integer, double precision[]) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, bigint, double precision) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, bigint, double precision) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, bigint, double precision[]) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, bigint, double precision[]) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, real, double precision) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, real, double precision) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, real, double precision[]) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, real, double precision[]) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, double precision, double precision) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, double precision, double precision) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, double precision, double precision[]) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, double precision, double precision[]) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, interval, double precision) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, interval, double precision) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_cont_trans(internal, interval, double precision[]) RENAME TO _mgpu_percentile_cont_trans;
ALTER FUNCTION mgpu_percentile_cont_final(internal, interval, double precision[]) RENAME TO _mgpu_percentile_cont_final;
ALTER FUNCTION mgpu_percentile_disc_trans(internal, anyelement, double precision) RENAME TO _mgpu_percentile_disc_trans;
ALTER FUNCTION mgpu_percentile_disc_final(internal, anyelement, double precision) RENAME TO _mgpu_percentile_disc_final;
ALTER FUNCTION mgpu_percentile_disc_trans(internal, anyelement, double precision[]) RENAME TO _mgpu_percentile_disc_trans;
ALTER FUNCTION mgpu_percentile_disc_final(internal, anyelement, double precision[]) RENAME TO _mgpu_percentile_disc_final;
