/* sql/mgpu_pg--0.1.sql */

\echo Use "CREATE EXTENSION mgpu_pg" to load this file. \quit

-- mgpu_sort: sorted array, as ORDER BY sorts
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

-- mgpu_argsort: subscripts of the elements in sorted order
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

-- mgpu_sort_by: values in the order of their keys
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

-- mgpu_sort_pairs: keys sorted, and their values with them
CREATE FUNCTION mgpu_sort_pairs(IN keys anyarray, IN vals anycompatiblearray, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray) IS 'keys sorted, and their values with them';

CREATE FUNCTION mgpu_sort_pairs(IN keys anyarray, IN vals anycompatiblearray, descending boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray, boolean) IS 'keys sorted, and their values with them';

CREATE FUNCTION mgpu_sort_pairs(IN keys anyarray, IN vals anycompatiblearray, descending boolean, nulls_first boolean, OUT keys anyarray, OUT vals anycompatiblearray)
AS 'MODULE_PATHNAME', 'mgpu_sort_pairs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION mgpu_sort_pairs(anyarray, anycompatiblearray, boolean, boolean) IS 'keys sorted, and their values with them';

-- mgpu_sort_rows: a row for each key, in sorted order, with its value
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
	OUT items bigint, OUT bytes bigint,
	OUT marshal_ms float8, OUT upload_ms float8, OUT kernel_ms float8, OUT download_ms float8,
	OUT reason text)
RETURNS record
AS 'MODULE_PATHNAME', 'mgpu_last_run'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mgpu_last_run() IS 'how this session''s last sort ran';
