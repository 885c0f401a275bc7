--
-- objects made of the functions: views, indexes, generated columns, constraints
--
CREATE TABLE readings (id int PRIMARY KEY, vals int[], sorted int[] GENERATED ALWAYS AS (mgpu_sort(vals)) STORED,
                       CHECK (mgpu_sort(vals) IS NOT NULL));
INSERT INTO readings SELECT i, ARRAY[i % 7, i % 5, i % 3] FROM generate_series(1, 500) i;
SELECT * FROM readings WHERE id IN (13, 14) ORDER BY id;
CREATE INDEX readings_sorted ON readings (mgpu_sort(vals));
CREATE INDEX readings_order ON readings (mgpu_argsort(vals, true));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM readings WHERE mgpu_sort(vals) = ARRAY[0, 1, 2];
SELECT count(*) FROM readings WHERE mgpu_sort(vals) = ARRAY[0, 1, 2];
RESET enable_seqscan;
SELECT count(*) FROM readings WHERE mgpu_sort(vals) || 0 = ARRAY[0, 1, 2, 0];
CREATE VIEW newest AS SELECT id, mgpu_sort(vals, true) AS down, mgpu_argsort(vals) AS positions, (mgpu_sort_pairs(vals, sorted)).*
FROM readings;
SELECT * FROM newest WHERE id = 14;
CREATE MATERIALIZED VIEW flat AS SELECT id, s.key, s.val FROM readings, mgpu_sort_rows(vals, sorted) s;
SELECT count(*), sum(key), sum(val) FROM flat;
-- a constant call is folded when planned
EXPLAIN (COSTS OFF, VERBOSE) SELECT mgpu_sort(ARRAY[3, 1, 2]);
-- a parallel plan may call them
CREATE TABLE wide AS SELECT g, array_agg((i::bigint * g * 48271 % 2147483647)::int) AS a FROM generate_series(1, 2000) g, generate_series(1, 50) i GROUP BY g;
ANALYZE wide;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT sum((mgpu_sort(a))[1]::bigint), sum((mgpu_argsort(a))[1]) FROM wide;
SELECT sum((mgpu_sort(a))[1]::bigint) = (SELECT sum(m::bigint) FROM (SELECT min(x) AS m FROM wide, unnest(a) x GROUP BY g) t) AS parallel
FROM wide;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- the extension cannot go while they are there (versions list them differently)
\set VERBOSITY terse
DROP EXTENSION mgpu_pg;
\set VERBOSITY default
\echo :SQLSTATE
DROP MATERIALIZED VIEW flat;
DROP VIEW newest;
DROP TABLE readings, wide;
