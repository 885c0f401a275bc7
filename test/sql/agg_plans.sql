--
-- The aggregates under every shape of plan
--
-- PostgreSQL's own nodes; the extension's is in group_node
SET mgpu.enable_group = off;
SET mgpu.enable_sort = off;
CREATE TABLE agg_plans AS SELECT i, i % 500 AS g, i % 3 AS h, i * 7919 % 10007 AS v, CASE WHEN i % 5 > 0 THEN 't' || i * 7919 % 1000 END AS t FROM generate_series(1, 20000) i;
ANALYZE agg_plans;
CREATE FUNCTION pg_temp.compare(clause text) RETURNS TABLE (groups bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM b OR c IS DISTINCT FROM d OR e IS DISTINCT FROM f OR x IS DISTINCT FROM y) FROM (
            SELECT mgpu_sort_agg(v) AS a, array_agg(v ORDER BY v) AS b, mgpu_sort_agg(t COLLATE "C", true) FILTER (WHERE h > 0) AS c,
                   array_agg(t ORDER BY t COLLATE "C" DESC) FILTER (WHERE h > 0) AS d, mgpu_sort_agg_by(t, i) AS e, array_agg(t ORDER BY i) AS f,
                   mgpu_percentile_cont(v, 0.3) AS x, percentile_cont(0.3) WITHIN GROUP (ORDER BY v) AS y
            FROM agg_plans %s) q $q$, clause);
END
$$;
CREATE FUNCTION pg_temp.ours(clause text) RETURNS TABLE (digest text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT md5(string_agg(concat(a, c, e, x), '|' ORDER BY concat(a, c, e, x) COLLATE "C")) FROM (
            SELECT mgpu_sort_agg(v) AS a, mgpu_sort_agg(t COLLATE "C", true) FILTER (WHERE h > 0) AS c, mgpu_sort_agg_by(t, i) AS e, mgpu_percentile_cont(v, 0.3) AS x
            FROM agg_plans %s) q $q$, clause);
END
$$;
-- plain, sorted
EXPLAIN (COSTS OFF) SELECT mgpu_sort_agg(v) FROM agg_plans;
SELECT * FROM pg_temp.compare('');
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM agg_plans GROUP BY g;
SELECT * FROM pg_temp.compare('GROUP BY g');
SELECT pg_temp.ours('GROUP BY g') AS sorted \gset
EXPLAIN (COSTS OFF) SELECT g, h, mgpu_sort_agg(v) FROM agg_plans GROUP BY ROLLUP (g, h);
SELECT * FROM pg_temp.compare('GROUP BY ROLLUP (g, h)');
SELECT pg_temp.ours('GROUP BY i / 4') AS many_sorted \gset
SELECT pg_temp.ours('GROUP BY CUBE (i / 4, h)') AS cube_sorted \gset
RESET enable_hashagg;
-- hashed, whole and spilled
SET enable_sort = off;
SET work_mem = '64MB';
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM agg_plans GROUP BY g;
SELECT pg_temp.ours('GROUP BY g') = :'sorted' AS hashed;
SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM agg_plans GROUP BY g) t;
SELECT function, items, segments FROM mgpu_last_run();
SET work_mem = '64kB';
CREATE FUNCTION pg_temp.batches(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING off) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'HashAgg Batches')::int > 1;
END
$$;
SELECT pg_temp.batches('SELECT i / 4, mgpu_sort_agg(v) FROM agg_plans GROUP BY i / 4') AS spills;
SELECT pg_temp.ours('GROUP BY i / 4') = :'many_sorted' AS spilled;
SELECT count(*), bool_and(cardinality(a) = 1 AND a[1] = i % 7919) FROM (SELECT i, mgpu_sort_agg(i % 7919) AS a FROM agg_plans GROUP BY i) t;
RESET enable_sort;
-- grouping sets: hashed, mixed and spilled
SET work_mem = '1GB';
EXPLAIN (COSTS OFF) SELECT g, h, mgpu_sort_agg(v) FROM agg_plans GROUP BY GROUPING SETS ((g), (h));
SELECT * FROM pg_temp.compare('GROUP BY GROUPING SETS ((g), (h))');
EXPLAIN (COSTS OFF) SELECT i / 4, h, mgpu_sort_agg(v) FROM agg_plans GROUP BY CUBE (i / 4, h);
SELECT pg_temp.ours('GROUP BY CUBE (i / 4, h)') = :'cube_sorted' AS mixed;
SET work_mem = '64kB';
SELECT pg_temp.ours('GROUP BY CUBE (i / 4, h)') = :'cube_sorted' AS mixed_spilled;
RESET work_mem;
-- parallel: partial and final, hashed, sorted and plain
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT mgpu_sort_agg(v), mgpu_sort_agg_by(t, i), mgpu_percentile_cont(v, 0.3) FROM agg_plans;
SELECT mgpu_sort_agg(v) = array_agg(v ORDER BY v) AS equal FROM agg_plans;
SELECT pg_temp.ours('') AS parallel \gset
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM agg_plans GROUP BY g;
SELECT pg_temp.ours('GROUP BY g') = :'sorted' AS parallel_hashed;
RESET enable_sort;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM agg_plans GROUP BY g;
SELECT pg_temp.ours('GROUP BY g') = :'sorted' AS parallel_sorted;
RESET enable_hashagg;
-- merges and percentiles across workers
SELECT count(*), sum(cardinality(m)), bool_and(m = s) FROM (SELECT mgpu_merge_agg(ARRAY[v, v + 1]) AS m, mgpu_sort_agg(i) AS i, g FROM agg_plans GROUP BY g) a
JOIN (SELECT g, array_agg(x ORDER BY x) AS s FROM agg_plans, LATERAL (VALUES (v), (v + 1)) l(x) GROUP BY g) b USING (g);
SELECT g, mgpu_percentile_disc(v, g / 500.0) = percentile_disc(g / 500.0) WITHIN GROUP (ORDER BY v) AS equal, mgpu_percentile_cont(v, ARRAY[g / 500.0, NULL]) = percentile_cont(ARRAY[g / 500.0, NULL]) WITHIN GROUP (ORDER BY v) AS equal
FROM agg_plans WHERE g IN (1, 499) GROUP BY g ORDER BY g;
SET max_parallel_workers_per_gather = 0;
SELECT pg_temp.ours('') = :'parallel' AS parallel_plain;
-- again and again: LATERAL, correlated, with and without a change of parameters
SELECT k, mgpu_percentile_disc(cardinality(a), 0.5) FROM generate_series(1, 3) k, LATERAL (SELECT mgpu_sort_agg(v) AS a FROM agg_plans WHERE g < k GROUP BY g) s GROUP BY k ORDER BY k;
SELECT k, (SELECT mgpu_sort_agg(v, k % 2 = 0) FROM (VALUES (1), (3), (2)) x(v) WHERE v <> k) FROM generate_series(1, 4) k;
SELECT k, (SELECT string_agg(a::text, ' ' ORDER BY a) FROM (SELECT mgpu_sort_agg(v * k) AS a FROM (VALUES (1, 1), (1, 3), (2, 2)) x(g, v) GROUP BY g) s) FROM generate_series(1, 3) k;
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT k, a FROM generate_series(1, 2) k LEFT JOIN (SELECT g, mgpu_sort_agg(v) AS a FROM (VALUES (1, 3), (1, 1), (2, 2)) x(g, v) GROUP BY g) s ON k <= g;
SELECT k, a FROM generate_series(1, 2) k LEFT JOIN (SELECT g, mgpu_sort_agg(v) AS a FROM (VALUES (1, 3), (1, 1), (2, 2)) x(g, v) GROUP BY g) s ON k <= g ORDER BY k, a;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- a cursor that is closed early, one that goes back, one that outlives its transaction
BEGIN;
DECLARE early CURSOR FOR SELECT g, (mgpu_sort_agg(v))[1:3] FROM agg_plans GROUP BY g;
FETCH 0 FROM early;
MOVE 3 FROM early;
CLOSE early;
DECLARE back SCROLL CURSOR FOR SELECT h, (mgpu_sort_agg(v))[1:3] FROM agg_plans GROUP BY h ORDER BY h;
FETCH 2 FROM back;
FETCH BACKWARD 1 FROM back;
MOVE ABSOLUTE 0 FROM back;
FETCH 1 FROM back;
DECLARE held CURSOR WITH HOLD FOR SELECT h, (mgpu_sort_agg(v))[1:3] FROM agg_plans GROUP BY h ORDER BY h;
COMMIT;
FETCH ALL FROM held;
CLOSE held;
-- errors in mid-batch, and on
DO $$
BEGIN
    FOR i IN 1..5 LOOP
        BEGIN
            PERFORM count(a) FROM (SELECT mgpu_sort_agg(1 / (v - 5000)) AS a FROM agg_plans GROUP BY g) t;
            RAISE 'no error';
        EXCEPTION WHEN division_by_zero THEN
            NULL;
        END;
    END LOOP;
END
$$;
SELECT g, mgpu_sort_agg(1 / (v - 5000)) FROM agg_plans GROUP BY g HAVING 1 / count(*) > 0;
SELECT * FROM pg_temp.compare('GROUP BY h');
-- HAVING, subqueries, nested
SELECT h, mgpu_percentile_disc(low, 0.5) FROM (SELECT h, g, (mgpu_sort_agg(v))[1] AS low FROM agg_plans GROUP BY h, g HAVING cardinality(mgpu_sort_agg(v)) > 13) t GROUP BY h ORDER BY h;
-- more than one batch of the same aggregate in one query
SELECT count(*) FROM (SELECT mgpu_sort_agg(v) AS a FROM agg_plans GROUP BY g) x JOIN (SELECT mgpu_sort_agg(v) AS a FROM agg_plans GROUP BY i % 500) y USING (a);
-- partitions, aggregated one by one
CREATE TABLE parted (g int, v int) PARTITION BY HASH (g);
CREATE TABLE parted0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT g, v FROM agg_plans;
ANALYZE parted;
SET enable_partitionwise_aggregate = on;
SELECT count(*), bool_and(a = b) FROM (SELECT mgpu_sort_agg(v) AS a, array_agg(v ORDER BY v) AS b FROM parted GROUP BY g) t;
SELECT count(*), sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM parted GROUP BY v % 10) t;
DROP TABLE agg_plans, parted;
