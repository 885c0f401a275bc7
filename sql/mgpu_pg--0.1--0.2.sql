/* sql/mgpu_pg--0.1--0.2.sql */

\echo Use "ALTER EXTENSION mgpu_pg UPDATE TO '0.2'" to load this file. \quit

-- Within one statement these answer the same.

ALTER FUNCTION mgpu_segsort_stats(anyarray, int[]) STABLE;
ALTER FUNCTION mgpu_locality_sort_stats(anyarray) STABLE;

-- A row describes all calls of a statement.  Views made with 0.1 keep the function of 0.1.

ALTER FUNCTION mgpu_last_run() RENAME TO _mgpu_last_run;
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

-- One function instead of three for each sort and merge, so that either order argument can be named alone.  The
-- shorter ones stay under other names, because views and indexes made with 0.1 call them.  The functions are not
-- strict: NULL is the default of nulls_first, and means the value of descending.

ALTER FUNCTION mgpu_sort(anyarray) RENAME TO _mgpu_sort;
ALTER FUNCTION mgpu_sort(anyarray, boolean) RENAME TO _mgpu_sort;
ALTER FUNCTION mgpu_argsort(anyarray) RENAME TO _mgpu_argsort;
ALTER FUNCTION mgpu_argsort(anyarray, boolean) RENAME TO _mgpu_argsort;
ALTER FUNCTION mgpu_sort_by(anyarray, anycompatiblearray) RENAME TO _mgpu_sort_by;
ALTER FUNCTION mgpu_sort_by(anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_sort_by;
ALTER FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray) RENAME TO _mgpu_sort_pairs;
ALTER FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_sort_pairs;
ALTER FUNCTION mgpu_sort_rows(anyarray, anycompatiblearray) RENAME TO _mgpu_sort_rows;
ALTER FUNCTION mgpu_sort_rows(anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_sort_rows;
ALTER FUNCTION mgpu_locality_sort(anyarray) RENAME TO _mgpu_locality_sort;
ALTER FUNCTION mgpu_locality_sort(anyarray, boolean) RENAME TO _mgpu_locality_sort;
ALTER FUNCTION mgpu_locality_sort_pairs(anyarray, anycompatiblearray) RENAME TO _mgpu_locality_sort_pairs;
ALTER FUNCTION mgpu_locality_sort_pairs(anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_locality_sort_pairs;
ALTER FUNCTION mgpu_oddeven_sort(anyarray) RENAME TO _mgpu_oddeven_sort;
ALTER FUNCTION mgpu_oddeven_sort(anyarray, boolean) RENAME TO _mgpu_oddeven_sort;
ALTER FUNCTION mgpu_segsort(anyarray, int[]) RENAME TO _mgpu_segsort;
ALTER FUNCTION mgpu_segsort(anyarray, int[], boolean) RENAME TO _mgpu_segsort;
ALTER FUNCTION mgpu_segsort_flags(anyarray, bit varying) RENAME TO _mgpu_segsort_flags;
ALTER FUNCTION mgpu_segsort_flags(anyarray, bit varying, boolean) RENAME TO _mgpu_segsort_flags;
ALTER FUNCTION mgpu_segsort_by(anyarray, anycompatiblearray) RENAME TO _mgpu_segsort_by;
ALTER FUNCTION mgpu_segsort_by(anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_segsort_by;
ALTER FUNCTION mgpu_segsort_pairs(anyarray, anycompatiblearray, int[]) RENAME TO _mgpu_segsort_pairs;
ALTER FUNCTION mgpu_segsort_pairs(anyarray, anycompatiblearray, int[], boolean) RENAME TO _mgpu_segsort_pairs;
ALTER FUNCTION mgpu_segsort_pairs_flags(anyarray, anycompatiblearray, bit varying) RENAME TO _mgpu_segsort_pairs_flags;
ALTER FUNCTION mgpu_segsort_pairs_flags(anyarray, anycompatiblearray, bit varying, boolean) RENAME TO _mgpu_segsort_pairs_flags;
ALTER FUNCTION mgpu_segsort_rows(anyarray, anycompatiblearray) RENAME TO _mgpu_segsort_rows;
ALTER FUNCTION mgpu_segsort_rows(anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_segsort_rows;
ALTER FUNCTION mgpu_merge(anyarray, anyarray) RENAME TO _mgpu_merge;
ALTER FUNCTION mgpu_merge(anyarray, anyarray, boolean) RENAME TO _mgpu_merge;
ALTER FUNCTION mgpu_merge_pairs(anyarray, anycompatiblearray, anyarray, anycompatiblearray) RENAME TO _mgpu_merge_pairs;
ALTER FUNCTION mgpu_merge_pairs(anyarray, anycompatiblearray, anyarray, anycompatiblearray, boolean) RENAME TO _mgpu_merge_pairs;

CREATE OR REPLACE FUNCTION mgpu_sort(arr anyarray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_argsort(arr anyarray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS int[]
AS 'MODULE_PATHNAME', 'mgpu_argsort'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_sort_by(vals anyarray, keys anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_sort_by'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_sort_pairs(keys anyarray, vals anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_sort_rows(keys anyarray, vals anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS TABLE (key anyelement, val anycompatible)
AS 'MODULE_PATHNAME', 'mgpu_sort_rows'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 1000;

CREATE OR REPLACE FUNCTION mgpu_locality_sort(arr anyarray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_locality_sort'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_locality_sort_pairs(keys anyarray, vals anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_locality_sort_pairs'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_oddeven_sort(arr anyarray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_oddeven_sort'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;

CREATE OR REPLACE FUNCTION mgpu_segsort(vals anyarray, heads int[], descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_segsort_flags(vals anyarray, head_flags bit varying, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_flags'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_segsort_by(vals anyarray, groups anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_segsort_by'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_segsort_pairs(keys anyarray, vals anycompatiblearray, heads int[], descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_segsort_pairs_flags(keys anyarray, vals anycompatiblearray, head_flags bit varying, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_segsort_pairs_flags'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_segsort_rows(vals anyarray, groups anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS TABLE (grp anycompatible, val anyelement)
AS 'MODULE_PATHNAME', 'mgpu_segsort_rows'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 1000;

CREATE OR REPLACE FUNCTION mgpu_merge(a anyarray, b anyarray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'mgpu_merge'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE OR REPLACE FUNCTION mgpu_merge_pairs(a_keys anyarray, a_vals anycompatiblearray, b_keys anyarray, b_vals anycompatiblearray, descending boolean DEFAULT false, nulls_first boolean DEFAULT NULL, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_merge_pairs'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

-- What all sessions have run, and what the GPU service does.

CREATE FUNCTION mgpu_stat_rows(OUT executor text, OUT reason text, OUT calls bigint, OUT items bigint, OUT bytes bigint,
	OUT queue_ms double precision, OUT kernel_ms double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'mgpu_stat_rows'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION mgpu_stat_reset()
RETURNS void
AS 'MODULE_PATHNAME', 'mgpu_stat_reset'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION mgpu_stat_service_rows(OUT device int, OUT name text, OUT up boolean, OUT pid int,
	OUT started_at timestamptz, OUT restarts int, OUT running int, OUT queued int, OUT jobs bigint, OUT items bigint,
	OUT upload_bytes bigint, OUT download_bytes bigint, OUT kernel_ms double precision, OUT memory_total bigint,
	OUT memory_free bigint, OUT shared_memory bigint, OUT shared_memory_used bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'mgpu_stat_service_rows'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION mgpu_stat_activity_rows(OUT pid int, OUT device int, OUT phase text, OUT operation text,
	OUT items bigint, OUT segments bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'mgpu_stat_activity_rows'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION mgpu_program_functions()
RETURNS regprocedure[]
AS 'MODULE_PATHNAME', 'mgpu_program_functions'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION mgpu_program_functions() IS 'the functions of PostgreSQL that plan nodes compute for many rows at a time';

CREATE VIEW mgpu_stat AS SELECT * FROM mgpu_stat_rows();
CREATE VIEW mgpu_stat_service AS SELECT * FROM mgpu_stat_service_rows();
CREATE VIEW mgpu_stat_activity AS SELECT * FROM mgpu_stat_activity_rows();

COMMENT ON VIEW mgpu_stat IS 'calls of all sessions by executor, and why they did not run on the GPU';
COMMENT ON VIEW mgpu_stat_service IS 'the GPUs of the service that runs jobs for all sessions, a row each';
COMMENT ON VIEW mgpu_stat_activity IS 'sessions that have a job at the GPU service now';
COMMENT ON FUNCTION mgpu_stat_rows() IS 'what the view mgpu_stat shows';
COMMENT ON FUNCTION mgpu_stat_reset() IS 'set the numbers of mgpu_stat to zero';
COMMENT ON FUNCTION mgpu_stat_service_rows() IS 'what the view mgpu_stat_service shows';
COMMENT ON FUNCTION mgpu_stat_activity_rows() IS 'what the view mgpu_stat_activity shows';

REVOKE ALL ON FUNCTION mgpu_stat_rows(), mgpu_stat_reset(), mgpu_stat_service_rows(), mgpu_stat_activity_rows() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mgpu_stat_rows(), mgpu_stat_service_rows(), mgpu_stat_activity_rows() TO pg_monitor;
GRANT SELECT ON mgpu_stat, mgpu_stat_service, mgpu_stat_activity TO pg_monitor;

-- Pages of tables that stay in the memory of a GPU.

CREATE FUNCTION mgpu_stat_gpu_cache_rows(OUT database oid, OUT tablespace oid, OUT filenode oid, OUT pages bigint, OUT bytes bigint,
	OUT hits bigint, OUT kept_at timestamptz, OUT read_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'mgpu_stat_gpu_cache_rows'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION mgpu_gpu_cache_load(relation regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'mgpu_gpu_cache_load'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

CREATE FUNCTION mgpu_gpu_cache_drop(relation regclass DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'mgpu_gpu_cache_drop'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

CREATE VIEW mgpu_stat_gpu_cache AS
SELECT d.datname AS database,
	CASE WHEN d.datname = current_database() THEN pg_filenode_relation(c.tablespace, c.filenode) END AS relation,
	c.pages, c.bytes, c.hits, c.kept_at, c.read_at
FROM mgpu_stat_gpu_cache_rows() c LEFT JOIN pg_database d ON d.oid = c.database;

COMMENT ON VIEW mgpu_stat_gpu_cache IS 'tables that a GPU keeps pages of, a row each';
COMMENT ON FUNCTION mgpu_stat_gpu_cache_rows() IS 'what the view mgpu_stat_gpu_cache shows';
COMMENT ON FUNCTION mgpu_gpu_cache_load(regclass) IS 'have a GPU read a table, and keep its pages as far as there is room';
COMMENT ON FUNCTION mgpu_gpu_cache_drop(regclass) IS 'forget the pages of a table, or of all tables';

REVOKE ALL ON FUNCTION mgpu_stat_gpu_cache_rows(), mgpu_gpu_cache_drop(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mgpu_stat_gpu_cache_rows() TO pg_monitor;
GRANT SELECT ON mgpu_stat_gpu_cache TO pg_monitor;
