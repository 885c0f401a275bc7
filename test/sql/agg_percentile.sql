SET mgpu.enable_group = off; -- PostgreSQL's aggregates are compared with
SET intervalstyle = postgres;
--
-- mgpu_percentile_cont, mgpu_percentile_disc: as PostgreSQL's ordered-set aggregates
--
CREATE TEMP TABLE p AS SELECT i % 4 AS g, nullif(i * 7919 % 101, 5) AS v, (i * 7919 % 101) / 8.0 AS n, make_interval(days => i * 7919 % 101, months => i % 3) AS span, 't' || i * 7919 % 101 AS t FROM generate_series(1, 200) i;
SELECT g, mgpu_percentile_cont(v, 0.5), percentile_cont(0.5) WITHIN GROUP (ORDER BY v), mgpu_percentile_disc(v, 0.5), percentile_disc(0.5) WITHIN GROUP (ORDER BY v)
FROM p GROUP BY g ORDER BY g;
SELECT mgpu_percentile_cont(v, ARRAY[0, 0.123, NULL, 1]) AS ours, percentile_cont(ARRAY[0, 0.123, NULL, 1]) WITHIN GROUP (ORDER BY v) FROM p;
SELECT mgpu_percentile_disc(t, ARRAY[[0, 0.1], [0.9, 1]]) AS ours, percentile_disc(ARRAY[[0, 0.1], [0.9, 1]]) WITHIN GROUP (ORDER BY t) FROM p;
SELECT mgpu_percentile_cont(span, 0.3), percentile_cont(0.3) WITHIN GROUP (ORDER BY span), mgpu_percentile_cont(span, '{0.3,0.9}'::float8[]), percentile_cont('{0.3,0.9}'::float8[]) WITHIN GROUP (ORDER BY span) FROM p;
-- every type of number that percentile_cont takes, and those that are cast
SELECT f, mgpu_percentile_cont(v::int2, f), mgpu_percentile_cont(v, f), mgpu_percentile_cont(v::int8, f), mgpu_percentile_cont(v::float4, f), mgpu_percentile_cont(v::float8, f),
       mgpu_percentile_cont(v::numeric, f), percentile_cont(f) WITHIN GROUP (ORDER BY v)
FROM p, (VALUES (0::float8), (0.01), (0.25), (0.5), (0.78125), (1)) x(f) GROUP BY f ORDER BY f;
SELECT pg_typeof(mgpu_percentile_cont(v, 0.5)), pg_typeof(mgpu_percentile_cont(v, ARRAY[0.5])), pg_typeof(mgpu_percentile_disc(v, 0.5)), pg_typeof(mgpu_percentile_disc(n, ARRAY[0.5])) FROM p;
-- infinities and NaN
SELECT mgpu_percentile_cont(v, 0.5), percentile_cont(0.5) WITHIN GROUP (ORDER BY v), mgpu_percentile_cont(v, '{0,0.7,0.9,1}'::float8[]), percentile_cont('{0,0.7,0.9,1}'::float8[]) WITHIN GROUP (ORDER BY v)
FROM (VALUES ('-Infinity'::float8), (1), (2), ('Infinity'), ('NaN')) t(v);
-- no rows, NULLs alone, NULL fractions, none
SELECT mgpu_percentile_cont(v, 0.5), mgpu_percentile_disc(v, 0.5), mgpu_percentile_disc(v, '{0.5}'::float8[]) FROM p WHERE v < 0;
SELECT mgpu_percentile_cont(v, 0.5), mgpu_percentile_disc(v, 0.5), mgpu_percentile_cont(v, '{0.5}'::float8[]) FROM (VALUES (NULL::int)) t(v);
SELECT mgpu_percentile_cont(v, NULL::float8), mgpu_percentile_disc(v, NULL::float8), mgpu_percentile_cont(v, NULL::float8[]), mgpu_percentile_disc(v, '{}'::float8[]), mgpu_percentile_cont(v, '{NULL}'::float8[]) FROM p;
-- fractions that are none
SELECT mgpu_percentile_cont(v, 1.5) FROM p;
SELECT mgpu_percentile_disc(v, -0.1) FROM p;
SELECT mgpu_percentile_disc(v, 'NaN'::float8) FROM p;
SELECT mgpu_percentile_cont(v, '{0.5,1.00001}'::float8[]) FROM p;
SELECT mgpu_percentile_cont(v, 2) FROM (VALUES (NULL::int)) t(v);
-- the fraction may be any expression that is the same in all rows of a group
-- the last bit is PostgreSQL's; it differs between processors
SELECT g, mgpu_percentile_cont(v, g / 3.0) = percentile_cont(g / 3.0) WITHIN GROUP (ORDER BY v) AS same FROM p GROUP BY g ORDER BY g;
SELECT g, mgpu_percentile_disc(v, ARRAY[g / 3.0, 0.5]) FROM p GROUP BY g ORDER BY g;
SELECT mgpu_percentile_cont(v, g / 3.0) FROM p;
SELECT f, (SELECT mgpu_percentile_cont(v, f) FROM p) FROM (VALUES (0.1), (0.9)) x(f);
-- no percentiles of what has no order, no interpolation of what has no numbers
SELECT mgpu_percentile_disc(v, 0.5) FROM (VALUES ('(1,2)'::point)) t(v);
\set VERBOSITY terse
SELECT mgpu_percentile_cont(t, 0.5) FROM p;
\set VERBOSITY default
-- a NULL needs a type, and WITHIN GROUP is for PostgreSQL's own
SELECT mgpu_percentile_cont(NULL::float8, 0.5) AS number, mgpu_percentile_cont(NULL::interval, 0.5) AS "interval", mgpu_percentile_disc(NULL::text, 0.5) AS text;
\set VERBOSITY terse
SELECT mgpu_percentile_cont(NULL, 0.5);
\set VERBOSITY default
SELECT mgpu_percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM p;
SELECT mgpu_percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM p;
-- aggregates of the same values share them: they are sorted once
SELECT g, mgpu_sort_agg(v) = array_agg(v ORDER BY v) AS sorted, mgpu_sort_agg(v, false, true) = array_agg(v ORDER BY v NULLS FIRST) AS nulls_first,
       mgpu_sort_agg(v, true) = array_agg(v ORDER BY v DESC) AS down, mgpu_percentile_cont(v, 0.25) AS cont, mgpu_percentile_disc(v, ARRAY[0.25, 0.75]) AS disc,
       mgpu_percentile_disc(v, 0.5) FILTER (WHERE v > 50) AS filtered, mgpu_percentile_disc(DISTINCT v, 0.5) AS distinct_disc
FROM p GROUP BY g ORDER BY g;
SELECT cardinality(mgpu_sort_agg(i)) AS sorted, mgpu_percentile_cont(i, 0.1) AS low, mgpu_percentile_disc(i, 0.9) AS high FROM generate_series(1, 100000) i;
SELECT function, items, segments FROM mgpu_last_run();
SET enable_sort = off; -- PostgreSQL 14 has less memory for hashing
SELECT count(*), sum(cardinality(a)), sum(low), sum(high) FROM (
    SELECT mgpu_percentile_cont(i, 0.1) AS low, mgpu_sort_agg(i, false, true) AS a, mgpu_percentile_disc(i, 0.9) AS high FROM generate_series(1, 100000) i GROUP BY i % 100) t;
SELECT function, items, segments FROM mgpu_last_run();
RESET enable_sort;
-- volatile values are never shared
SELECT mgpu_percentile_cont(random(), 0.5) <> (mgpu_percentile_cont(random(), '{0.5}'::float8[]))[1] AS differ FROM generate_series(1, 1000) i;
