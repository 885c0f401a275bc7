--
-- GROUPING SETS, ROLLUP and CUBE: a node for each set
--
\set ECHO none
\i test/plan_check.sql
\set ECHO all
SELECT mgpu_sort(ARRAY[1]);
SET max_parallel_workers_per_gather = 0;
SET mgpu.enable_group = force;
CREATE TABLE cubes (id int PRIMARY KEY, a int, b int, t text, v int, f float8, at timestamp);
INSERT INTO cubes SELECT i, nullif(i % 7, 3), i % 5, nullif('k' || i % 11, 'k4'), i * 7919 % 10007, i % 100 / 8.0, timestamp '2024-01-01' + i * interval '1 hour' FROM generate_series(1, 20000) i;
VACUUM ANALYZE cubes;
EXPLAIN (COSTS OFF) SELECT a, b, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM cubes GROUP BY ROLLUP (a, b);
-- a GPU with a service would merge groups
SET mgpu.executor = cpu;
EXPLAIN (VERBOSE, COSTS OFF) SELECT t, a, grouping(t, a) AS m, sum(v) + 1 AS s, t || 'x' AS x FROM cubes GROUP BY GROUPING SETS ((t), (a), ()) HAVING sum(v) > 10 AND (a IS NULL OR a < 5) ORDER BY m, 1, 2;
RESET mgpu.executor;
CREATE TABLE cube_queries (query text);
INSERT INTO cube_queries VALUES
    ('SELECT a, b, count(*), sum(v), avg(f) FROM cubes GROUP BY ROLLUP (a, b)'), ('SELECT a, b, t, count(*), min(v), max(t) FROM cubes GROUP BY CUBE (a, b, t)'),
    ('SELECT a, b, grouping(a), grouping(b), grouping(b, a), count(*) FROM cubes GROUP BY CUBE (a, b)'), ('SELECT a, b, sum(v) FROM cubes GROUP BY a, ROLLUP (b)'),
    ('SELECT a, b, t, sum(v) FROM cubes GROUP BY ROLLUP (a, b), CUBE (t)'), ('SELECT a, sum(v) FROM cubes GROUP BY GROUPING SETS ((a), (a), ())'),
    ('SELECT a, sum(v) FROM cubes GROUP BY DISTINCT ROLLUP (a), ROLLUP (a)'), ('SELECT sum(v), count(*) FROM cubes GROUP BY GROUPING SETS ((), ())'),
    ('SELECT a + 1, a, count(*) FROM cubes GROUP BY ROLLUP (a + 1, a)'), ('SELECT a + 1 AS x, b * 2 AS y, (a + 1) * 10 + b * 2 AS z, count(*) FROM cubes GROUP BY GROUPING SETS ((a + 1, b * 2), (a + 1), (b * 2))'),
    ('SELECT date_trunc(''day'', at), t, count(DISTINCT v), array_agg(v ORDER BY v DESC) FROM cubes GROUP BY ROLLUP (1, 2)'), ('SELECT coalesce(a, -1), b, sum(v) FILTER (WHERE f > 5) FROM cubes GROUP BY CUBE (1, b)'),
    ('SELECT coalesce(t, ''all'') || coalesce(a::text, ''*''), count(*) FROM cubes GROUP BY ROLLUP (t, a)'), ('SELECT a, b, count(*) FROM cubes GROUP BY CUBE (a, b) HAVING grouping(a, b) IN (1, 2)'),
    ('SELECT a, b, sum(a), sum(b), count(a) FROM cubes GROUP BY CUBE (a, b)'), ('SELECT a, string_agg(t, '','' ORDER BY id) FROM cubes WHERE id < 100 GROUP BY ROLLUP (a)'),
    ('SELECT a, b, count(*) FROM cubes WHERE abs(id) < 0 GROUP BY CUBE (a, b)'), ('SELECT CASE WHEN grouping(a) = 1 THEN ''total'' ELSE a::text END, sum(v) FROM cubes WHERE t LIKE ''%1'' GROUP BY ROLLUP (a)'),
    ('SELECT id, v, count(*) FROM cubes WHERE abs(id) < 50 GROUP BY GROUPING SETS ((id), (id, a))'), ('SELECT a, (SELECT count(*) FROM cubes c WHERE c.a = d.a AND c.id < 100), sum(v) FROM cubes d GROUP BY ROLLUP (a)'),
    ('SELECT x, count(*) FROM (SELECT a, b, sum(v) AS x FROM cubes GROUP BY CUBE (a, b)) q GROUP BY x'), ('SELECT DISTINCT a, grouping(a) FROM cubes GROUP BY ROLLUP (a, b)'),
    ('SELECT a, b, rank() OVER (ORDER BY sum(v)), sum(sum(v)) OVER (PARTITION BY grouping(a, b)) FROM cubes GROUP BY CUBE (a, b)'), ('SELECT a, percentile_disc(0.5) WITHIN GROUP (ORDER BY t), mode() WITHIN GROUP (ORDER BY b) FROM cubes GROUP BY CUBE (a)'),
    -- left to PostgreSQL
    ('SELECT a, count(*) FROM cubes WHERE random() >= 0 GROUP BY ROLLUP (a)'), ('SELECT c.a, count(*) FROM cubes c, (VALUES (1), (2)) d GROUP BY ROLLUP (c.a)'), ('SELECT a, count(*) FROM (SELECT * FROM cubes OFFSET 0) s GROUP BY ROLLUP (a)'),
    ('SELECT a, count(*) FROM cubes TABLESAMPLE system (100) GROUP BY ROLLUP (a)'), ('SELECT a, generate_series(1, 2), count(*) FROM cubes GROUP BY ROLLUP (a)'), ('SELECT a, max(v + (random() * 0)::int) FROM cubes GROUP BY ROLLUP (a)');
SELECT query, (pg_temp.check_node(query, 'MgpuGroup', 'mgpu.enable_group', false)).* FROM cube_queries;
-- in order, by number of rows
SELECT * FROM pg_temp.check_node('SELECT a, b, grouping(a, b) AS m, sum(v) FROM cubes GROUP BY CUBE (a, b) ORDER BY m, a NULLS FIRST, b DESC LIMIT 20', 'MgpuGroup', 'mgpu.enable_group', true);
-- with little memory, and with workers
SET work_mem = '64kB';
SELECT * FROM pg_temp.check_node('SELECT id, a, array_agg(v) FROM cubes GROUP BY ROLLUP (id, a) HAVING grouping(id) = 0', 'MgpuGroup', 'mgpu.enable_group', false);
RESET work_mem;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET mgpu.executor = cpu;
SET mgpu.enable_threads = off;
EXPLAIN (COSTS OFF) SELECT a, b, sum(v) FROM cubes GROUP BY GROUPING SETS ((a), (b));
RESET mgpu.executor;
RESET mgpu.enable_threads;
SELECT count(*), bool_and(same) AS same FROM cube_queries, LATERAL pg_temp.check_node(query, 'MgpuGroup', 'mgpu.enable_group', false);
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- partitions, prepared, in a view, as a cursor, in a loop
CREATE TABLE cube_parts (LIKE cubes) PARTITION BY RANGE (id);
CREATE TABLE cube_parts_1 PARTITION OF cube_parts FOR VALUES FROM (0) TO (9000);
CREATE TABLE cube_parts_2 PARTITION OF cube_parts FOR VALUES FROM (9000) TO (30000);
INSERT INTO cube_parts SELECT * FROM cubes;
VACUUM ANALYZE cube_parts;
SELECT * FROM pg_temp.check_node('SELECT a, t, sum(v), count(*) FROM cube_parts GROUP BY ROLLUP (a, t)', 'MgpuGroup', 'mgpu.enable_group', false);
PREPARE cube_of AS SELECT a % $1 AS x, b, count(*) FROM cubes WHERE b < $1 GROUP BY ROLLUP (1, 2) ORDER BY 1, 2;
SET plan_cache_mode = force_generic_plan;
EXECUTE cube_of (2);
RESET plan_cache_mode;
CREATE VIEW cube_view AS SELECT a, b, grouping(a, b) AS m, sum(v) AS s FROM cubes GROUP BY CUBE (a, b);
SELECT m, count(*), sum(s) FROM cube_view GROUP BY m ORDER BY m;
SELECT k, (SELECT sum(s) FROM (SELECT a, sum(v) AS s FROM cubes WHERE b = k GROUP BY ROLLUP (a)) q) FROM generate_series(0, 2) k;
BEGIN;
DECLARE cube_cursor SCROLL CURSOR FOR SELECT count(*) AS n FROM cubes GROUP BY ROLLUP (b) ORDER BY n;
FETCH 2 FROM cube_cursor;
FETCH LAST FROM cube_cursor;
FETCH FIRST FROM cube_cursor;
COMMIT;
-- errors are those of PostgreSQL
SELECT a, sum(100 / b) FROM cubes GROUP BY ROLLUP (a);
RESET mgpu.enable_group;
SET mgpu.report_declined = on;
SELECT count(*) FROM (SELECT c.a FROM cubes c, (VALUES (1), (2)) d GROUP BY ROLLUP (c.a)) q;
RESET mgpu.report_declined;
DROP VIEW cube_view;
DROP TABLE cubes, cube_queries, cube_parts;
