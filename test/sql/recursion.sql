--
-- comparison functions that sort: they end with an error, and the session goes on
--
CREATE TYPE deep AS (n int);
CREATE FUNCTION deep_cmp(a deep, b deep) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN sign(a.n - b.n); END';
CREATE FUNCTION deep_lt(a deep, b deep) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN deep_cmp(a, b) < 0; END';
CREATE FUNCTION deep_le(a deep, b deep) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN deep_cmp(a, b) <= 0; END';
CREATE FUNCTION deep_eq(a deep, b deep) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN deep_cmp(a, b) = 0; END';
CREATE FUNCTION deep_ge(a deep, b deep) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN deep_cmp(a, b) >= 0; END';
CREATE FUNCTION deep_gt(a deep, b deep) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN deep_cmp(a, b) > 0; END';
CREATE OPERATOR < (LEFTARG = deep, RIGHTARG = deep, FUNCTION = deep_lt);
CREATE OPERATOR <= (LEFTARG = deep, RIGHTARG = deep, FUNCTION = deep_le);
CREATE OPERATOR = (LEFTARG = deep, RIGHTARG = deep, FUNCTION = deep_eq);
CREATE OPERATOR >= (LEFTARG = deep, RIGHTARG = deep, FUNCTION = deep_ge);
CREATE OPERATOR > (LEFTARG = deep, RIGHTARG = deep, FUNCTION = deep_gt);
CREATE OPERATOR CLASS deep_ops DEFAULT FOR TYPE deep USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 deep_cmp(deep, deep);
CREATE TABLE pair AS SELECT ARRAY[ROW(2)::deep, ROW(1)::deep] AS a;
-- with many threads, the server's own thread alone calls it
SET mgpu.cpu_threads = 8;
SELECT mgpu_sort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) AS sorted,
       mgpu_sort_by(a, a) = mgpu_sort(a) AS by, (SELECT mgpu_sort_agg(x) FROM unnest(a) x) = mgpu_sort(a) AS aggregate
FROM (SELECT array_agg(ROW(i * 7919 % 5003)::deep ORDER BY i) AS a FROM generate_series(1, 5000) i) t;
\set VERBOSITY sqlstate
-- each function, aggregate and node, inside its own comparison
CREATE FUNCTION pg_temp.recurse(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    how_much int;
    hint text;
BEGIN
    EXECUTE format('CREATE OR REPLACE FUNCTION deep_cmp(a deep, b deep) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $b$
        BEGIN RETURN cardinality(%s) FROM (SELECT ARRAY[b, a]) t(p); END $b$', call);
    EXECUTE format('SELECT cardinality(%s) FROM pair t(p)', call) INTO how_much;
    RETURN how_much;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(': ', SQLSTATE, SQLERRM, substr(hint, 1, 52));
END
$$;
SELECT call, pg_temp.recurse(call) FROM (VALUES
    ('mgpu_sort(p)'), ('mgpu_argsort(p)'), ('mgpu_sort_by(p, p)'), ('(mgpu_sort_pairs(p, p)).vals'), ('mgpu_locality_sort(p)'),
    ('mgpu_oddeven_sort(p)'), ('mgpu_segsort(p, ARRAY[1])'), ('mgpu_segsort_by(p, p)'), ('mgpu_merge(p, p)'),
    ('(SELECT array_agg(key) FROM mgpu_sort_rows(p, p))'),
    ('(SELECT mgpu_sort_agg(x) FROM unnest(p) x)'), ('(SELECT mgpu_merge_agg(ARRAY[x]) FROM unnest(p) x)'),
    ('(SELECT ARRAY[mgpu_percentile_disc(x, 0.5)] FROM unnest(p) x)')) calls(call);
-- an SQL function
CREATE OR REPLACE FUNCTION deep_cmp(a deep, b deep) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT (mgpu_sort(ARRAY[b, a]))[1].n';
SELECT mgpu_sort(a) FROM pair;
-- and then
SELECT mgpu_sort(ARRAY[3, 1, 2]);
CREATE OR REPLACE FUNCTION deep_cmp(a deep, b deep) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT sign(a.n - b.n)::int';
SELECT mgpu_sort(a) FROM pair;
RESET mgpu.cpu_threads;
SET client_min_messages = warning;
DROP TABLE pair;
DROP TYPE deep CASCADE;
