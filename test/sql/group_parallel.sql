--
-- MgpuGroup over rows that parallel workers find: MgpuRows below a Gather
--
-- A GPU that reads the table would need no workers.
SET mgpu.executor = cpu;
CREATE TABLE shared_rows AS
SELECT i, nullif(i * 7919 % 500, 7) AS g, i % 3 AS h, nullif(i * 7919 % 10007, 5) AS v, i * 69621::bigint % 1000003 AS w, (i * 31 % 977) / 8.0::float8 AS f FROM generate_series(1, 20000) i;
ANALYZE shared_rows;
SET max_parallel_workers_per_gather = 2;
SET hash_mem_multiplier = 2; -- the default since 15
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM shared_rows GROUP BY g;
EXPLAIN (VERBOSE, COSTS OFF) SELECT g + 1, mgpu_percentile_cont(v * 2, 0.5) + g, mgpu_sort_agg(w) FROM shared_rows GROUP BY g;
EXPLAIN (COSTS OFF) SELECT g % 10, mgpu_sort_agg(v) FROM shared_rows WHERE h = 1 GROUP BY 1 HAVING cardinality(mgpu_sort_agg(v)) > 3 AND g % 10 < 9 ORDER BY 1 LIMIT 5;
SET enable_mergejoin = off;
SET enable_parallel_hash = off;
EXPLAIN (COSTS OFF) SELECT a.g, mgpu_sort_agg(b.v) FROM shared_rows a JOIN shared_rows b USING (i) GROUP BY a.g;
RESET enable_parallel_hash;
RESET enable_mergejoin;
-- what a query's results are: so, and by PostgreSQL's nodes without workers
\set ECHO none
\i test/plan_check.sql
\set ECHO all
CREATE FUNCTION pg_temp.check(query text, OUT node boolean, OUT parallel boolean, OUT same boolean) LANGUAGE plpgsql AS $$
BEGIN
    node = pg_temp.plan_of(query) ~ 'MgpuGroup';
    parallel = pg_temp.plan_of(query) ~ 'MgpuGroup.*Gather.*(MgpuRows|partial hash)';
    same = pg_temp.same_without(query);
END
$$;
-- workers fold their rows where that makes them few
EXPLAIN (COSTS OFF) SELECT g, count(*), sum(v), min(w), max(f) FROM shared_rows GROUP BY g;
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT g, count(*), sum(v), avg(w), min(v), max(f), sum(f), avg(f) FROM shared_rows GROUP BY g'), ('SELECT h, g % 7, count(v), bool_or(v > 9000), avg(v) FILTER (WHERE i % 2 = 0), min(f), stddev(f::float4 * 0) FROM shared_rows GROUP BY 1, 2 HAVING count(*) > 100'),
             ('SELECT sum(v), count(*), max(w) FROM shared_rows'), ('SELECT sum(v), count(v), every(v > 0) FROM shared_rows WHERE i < 0'), ('SELECT DISTINCT g, h FROM shared_rows'), ('SELECT i, count(*) FROM shared_rows GROUP BY i'),
             ('SELECT h, min(2 ^ 1023::float8 + 0 * v), max((2 ^ 127)::float4), avg((2 ^ 127)::float4), stddev((2 ^ 127)::float4) FROM shared_rows GROUP BY h'),
             ('SELECT a.h, sum(b.v), max(a.w) FROM shared_rows a JOIN shared_rows b USING (i) GROUP BY a.h')) t(query);
SET work_mem = '64kB';
SELECT (pg_temp.check('SELECT g, h, v % 5, count(*), sum(w) FROM shared_rows GROUP BY 1, 2, 3')).*;
RESET work_mem;
-- workers group what an outer join makes NULL: constants and expressions of its other side, as keys, arguments, conditions
CREATE VIEW shared_hits AS SELECT i, true AS hit, coalesce(g % 3, 7) AS c, 'k' || h AS k FROM shared_rows WHERE i % 2 = 0;
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT h, count(hit), sum(c), min(c) FROM shared_rows a LEFT JOIN shared_hits b USING (i) GROUP BY h'), ('SELECT hit, c, count(*), sum(v) FROM shared_rows a LEFT JOIN shared_hits b USING (i) GROUP BY hit, c'),
             ('SELECT DISTINCT hit, c FROM shared_hits a RIGHT JOIN shared_rows b USING (i)'), ('SELECT k || c, count(*) FROM shared_rows a LEFT JOIN shared_hits b USING (i) GROUP BY 1'),
             ('SELECT count(hit), sum(c) FROM shared_rows a LEFT JOIN shared_hits b USING (i)'), ('SELECT k, array_agg(DISTINCT c), percentile_disc(0.5) WITHIN GROUP (ORDER BY c) FROM shared_rows a LEFT JOIN shared_hits b USING (i) GROUP BY k')) t(query);
-- since 16 in workers
SELECT pg_temp.same_without('SELECT k, count(*) FILTER (WHERE hit), max(c) FROM shared_rows a FULL JOIN shared_hits b USING (i) GROUP BY k HAVING max(c) IS NULL OR count(hit) > 3') AS same;
EXPLAIN (VERBOSE, COSTS OFF) SELECT hit, count(c) FROM shared_rows a LEFT JOIN shared_hits b USING (i) GROUP BY hit;
PREPARE shared_plan(int) AS SELECT hit, k, count(c) FROM shared_rows a LEFT JOIN shared_hits b USING (i) WHERE v < $1 GROUP BY hit, k ORDER BY hit, k;
SET plan_cache_mode = force_generic_plan;
EXECUTE shared_plan(100);
RESET plan_cache_mode;
-- each worker computes all groups of a join's inner side
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT h, count(*) FROM shared_rows WHERE g IN (SELECT g FROM shared_rows GROUP BY g HAVING sum(v) > 204000) GROUP BY h;
SELECT pg_temp.same_without('SELECT h, count(*) FROM shared_rows WHERE g IN (SELECT g FROM shared_rows GROUP BY g HAVING sum(v) > 204000) GROUP BY h');
RESET enable_mergejoin;
-- against PostgreSQL's aggregates, in a plan of its own: it alone does grouping sets of a subquery's rows
WITH ours AS MATERIALIZED (SELECT g, mgpu_sort_agg(v) AS a, mgpu_sort_agg(v, true) AS d, mgpu_percentile_cont(w, 0.3) AS c, mgpu_percentile_disc(w, '{0.2,0.9}'::float8[]) AS p FROM shared_rows GROUP BY g),
     theirs AS MATERIALIZED (SELECT g, array_agg(v ORDER BY v) AS a, array_agg(v ORDER BY v DESC) AS d, percentile_cont(0.3) WITHIN GROUP (ORDER BY w) AS c,
                       percentile_disc('{0.2,0.9}'::float8[]) WITHIN GROUP (ORDER BY w) AS p FROM (SELECT * FROM shared_rows OFFSET 0) s GROUP BY ROLLUP (g) HAVING grouping(g) = 0)
SELECT (SELECT count(*) FROM (TABLE ours EXCEPT TABLE theirs) x) AS more, (SELECT count(*) FROM (TABLE theirs EXCEPT TABLE ours) x) AS less, (SELECT count(*) FROM ours) AS groups;
SELECT sum, function, items, segments FROM (SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(w) AS a FROM shared_rows GROUP BY g) q) s, mgpu_last_run();
-- types of keys
SELECT t.key, (pg_temp.check(format('SELECT %s AS k, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM shared_rows GROUP BY 1', t.key))).*
FROM (VALUES ('g::smallint'), ('w'), ('date ''2020-01-01'' + g'), ('timestamptz ''2020-01-01 UTC'' + g * interval ''1 s'''), ('g > 100'), ('chr(65 + g % 26)::"char"'), ('f'), ('f::float4'),
             ('CASE g % 4 WHEN 0 THEN 0.0 WHEN 1 THEN 1.0 WHEN 2 THEN ''NaN'' END::float8'), ('md5(h::text)::uuid'), ('h'), ('g % 7 + h'), ('CASE WHEN i > 10 THEN g END'), ('g::text')) t(key);
-- types of values, orders, several of them, shared or not
SELECT t.what, (pg_temp.check(format('SELECT g, %s FROM shared_rows GROUP BY g', t.what))).*
FROM (VALUES ('mgpu_sort_agg(v)'), ('mgpu_sort_agg(v, true)'), ('mgpu_sort_agg(v, false, true)'), ('mgpu_sort_agg(g)'), ('mgpu_sort_agg(f)'), ('mgpu_sort_agg(w % 100 > 50)'), ('mgpu_sort_agg(make_interval(secs => v))'),
             ('mgpu_sort_agg(md5(v::text)::uuid)'), ('mgpu_sort_agg(v / 7), mgpu_sort_agg(v / 7, true), mgpu_percentile_cont(v / 7, 0.5), mgpu_percentile_disc(v / 7, 0.9)'),
             ('mgpu_percentile_cont(v, 0.1), mgpu_percentile_cont(f, 0.1), mgpu_sort_agg(w)'), ('mgpu_sort_agg(CASE WHEN g > 3 THEN v END), mgpu_percentile_disc(CASE WHEN i < 15000 THEN v END, 0.5)'),
             ('mgpu_sort_agg(NULL::int)'), ('cardinality(mgpu_sort_agg(v)) + g, g + 1'),
             ('mgpu_sort_agg(v + (SELECT count(*)::int FROM (VALUES (1), (2)) x))'), ('mgpu_sort_agg(v) FILTER (WHERE h > 0)'), ('mgpu_sort_agg(v), count(*)'),
             -- PostgreSQL's own: rows arrive in any order, so that what is compared does not depend on it
             ('percentile_cont(0.5) WITHIN GROUP (ORDER BY v), count(DISTINCT v % 50), mode() WITHIN GROUP (ORDER BY v % 9), array_agg(v ORDER BY v)'),
             ('array_agg(v ORDER BY h, w), string_agg(v::text, ''-'' ORDER BY w), string_agg(DISTINCT h::text, ''-'')'), ('count(*), sum(v), avg(w), min(v), max(f), sum(f), array_agg(f ORDER BY w) FILTER (WHERE h = 1)')) t(what);
-- what workers may not compute is not asked of them
CREATE FUNCTION add_here(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS 'BEGIN RETURN a + b; END';
CREATE FUNCTION add_alone(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS 'BEGIN RETURN a + b; END';
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT g, mgpu_sort_agg(add_here(v, h)) FROM shared_rows GROUP BY g'), ('SELECT add_here(g, 1), mgpu_sort_agg(v) FROM shared_rows GROUP BY 1'),
             ('SELECT g, mgpu_sort_agg(v) FROM shared_rows WHERE add_here(v, h) > 9 GROUP BY g'), ('SELECT g, mgpu_sort_agg(v) FROM shared_rows GROUP BY g HAVING add_here(g, 1) > 9'),
             ('SELECT add_here(g, cardinality(mgpu_sort_agg(v))) FROM shared_rows GROUP BY g'), ('SELECT g, mgpu_sort_agg(v) FROM shared_rows GROUP BY g HAVING add_alone(g, 1) > 9'),
             ('SELECT g, mgpu_sort_agg(add_alone(v, 1)) FROM shared_rows GROUP BY g')) t(query);
-- sources: joins, unions, partitions, subqueries; nothing at all
CREATE TABLE shared_parts (g int, v int) PARTITION BY RANGE (g);
CREATE TABLE shared_low PARTITION OF shared_parts FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE shared_high PARTITION OF shared_parts FOR VALUES FROM (100) TO (MAXVALUE);
INSERT INTO shared_parts SELECT g, v FROM shared_rows WHERE g IS NOT NULL;
ANALYZE shared_parts;
CREATE TEMP TABLE alone AS SELECT g, v FROM shared_rows;
ANALYZE alone;
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT a.g, mgpu_sort_agg(b.v) FROM shared_rows a JOIN shared_rows b USING (i) GROUP BY a.g'), ('SELECT b.g, mgpu_sort_agg(a.v) FROM shared_rows a LEFT JOIN shared_rows b ON a.i = b.i AND b.h = 1 GROUP BY b.g'),
             ('SELECT k, mgpu_sort_agg(v) FROM (SELECT g AS k, v FROM shared_rows UNION ALL SELECT h, v FROM shared_rows) q GROUP BY k'), ('SELECT g, mgpu_sort_agg(v) FROM shared_parts GROUP BY g'),
             ('SELECT g % 9, mgpu_sort_agg(v) FROM shared_parts WHERE g < 50 GROUP BY 1'), ('SELECT g, mgpu_sort_agg(v) FROM alone GROUP BY g'),
             ('SELECT x, mgpu_sort_agg(n) FROM (SELECT g, cardinality(mgpu_sort_agg(v)) AS n, g % 3 AS x FROM shared_rows GROUP BY g) q GROUP BY x'),
             ('SELECT g, mgpu_sort_agg(v) FROM shared_rows WHERE i < 0 GROUP BY g'), ('SELECT i, mgpu_sort_agg(v) FROM shared_rows GROUP BY i'), ('SELECT g, mgpu_sort_agg(v) FROM shared_rows WHERE i % 2000 < 3 GROUP BY g'),
             ('SELECT g, mgpu_sort_agg(v) FROM shared_rows WHERE w > (SELECT avg(w) FROM shared_rows) GROUP BY g'), ('SELECT g, rank() OVER (ORDER BY mgpu_percentile_disc(w, 0.5), g) FROM shared_rows GROUP BY g'),
             ('SELECT DISTINCT g, v FROM shared_rows'), ('SELECT g::text, h, percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM shared_rows GROUP BY 1, 2'), ('SELECT count(DISTINCT v), mode() WITHIN GROUP (ORDER BY g) FROM shared_rows')) t(query);
SET enable_partitionwise_aggregate = on;
SELECT same FROM pg_temp.check('SELECT g, mgpu_sort_agg(v) FROM shared_parts GROUP BY g');
RESET enable_partitionwise_aggregate;
-- settings
SET parallel_leader_participation = off;
SELECT (pg_temp.check('SELECT g, mgpu_sort_agg(v), mgpu_percentile_cont(w, 0.5) FROM shared_rows GROUP BY g')).*;
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT (pg_temp.check('SELECT g, mgpu_sort_agg(v), mgpu_percentile_cont(w, 0.5) FROM shared_rows GROUP BY g')).*;
RESET max_parallel_workers;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM shared_rows GROUP BY g;
SET max_parallel_workers_per_gather = 2;
SET mgpu.enable_group = off;
SELECT pg_temp.plan_of('SELECT g, mgpu_sort_agg(v) FROM shared_rows GROUP BY g') ~ 'Mgpu' AS off;
RESET mgpu.enable_group;
-- more than fits in memory
SELECT pg_temp.digest('SELECT i / 4, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM shared_rows GROUP BY 1') AS whole \gset
SET work_mem = '64kB';
SELECT (pg_temp.check('SELECT i / 4, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM shared_rows GROUP BY 1')).*;
SELECT pg_temp.digest('SELECT i / 4, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM shared_rows GROUP BY 1') = :'whole' AS whole;
SELECT count(*) FROM (SELECT i, mgpu_sort_agg(v) FROM shared_rows GROUP BY i LIMIT 3) q;
RESET work_mem;
-- again and again; ended early
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT k, count(*), sum(cardinality(a)) FROM generate_series(1, 2) k LEFT JOIN (SELECT i, mgpu_sort_agg(v) AS a FROM shared_rows GROUP BY i) s ON k <= i % 3 GROUP BY k;
SELECT k, count(*), sum(cardinality(a)) FROM generate_series(1, 2) k LEFT JOIN (SELECT i, mgpu_sort_agg(v) AS a FROM shared_rows GROUP BY i) s ON k <= i % 3 GROUP BY k ORDER BY k;
SET work_mem = '64kB';
SELECT k, count(*), sum(cardinality(a)) FROM generate_series(1, 2) k LEFT JOIN (SELECT i, mgpu_sort_agg(v) AS a FROM shared_rows GROUP BY i) s ON k <= i % 3 GROUP BY k ORDER BY k;
RESET work_mem;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT k, c FROM generate_series(1, 3) k, LATERAL (SELECT sum(cardinality(a)) AS c FROM (SELECT g % k, mgpu_sort_agg(v) AS a FROM shared_rows WHERE g < k GROUP BY 1) q) s ORDER BY k;
SELECT count(*) FROM (SELECT g, mgpu_sort_agg(v) FROM shared_rows GROUP BY g LIMIT 3) q;
BEGIN;
DECLARE early CURSOR FOR SELECT g, (mgpu_sort_agg(v))[1:3] FROM shared_rows GROUP BY g;
MOVE 1 FROM early;
CLOSE early;
DECLARE back SCROLL CURSOR FOR SELECT h, (mgpu_sort_agg(v))[1:3] FROM shared_rows GROUP BY h;
FETCH 2 FROM back;
MOVE ABSOLUTE 0 FROM back;
FETCH 1 FROM back;
COMMIT;
-- in functions, prepared, into a table
CREATE FUNCTION pg_temp.inside(low int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT sum(cardinality(a)) FROM (SELECT g, mgpu_sort_agg(v) AS a FROM shared_rows WHERE i > low GROUP BY g) q);
END
$$;
SELECT pg_temp.inside(0), pg_temp.inside(10000);
CREATE TABLE shared_result AS SELECT g, mgpu_sort_agg(v) AS a FROM shared_rows GROUP BY g;
SELECT count(*), sum(cardinality(a)) FROM shared_result;
PREPARE lots (int) AS SELECT g, (mgpu_sort_agg(v + $1))[1:2] FROM shared_rows WHERE g < $1 GROUP BY g ORDER BY g;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE lots(2);
EXECUTE lots(2);
EXECUTE lots(3);
DEALLOCATE lots;
RESET plan_cache_mode;
-- errors, in workers too
DO $$
BEGIN
    FOR i IN 1..5 LOOP
        BEGIN
            PERFORM count(a) FROM (SELECT mgpu_sort_agg(1 / (v - 5000)) AS a FROM shared_rows GROUP BY g) t;
            RAISE 'no error';
        EXCEPTION WHEN division_by_zero THEN
            NULL;
        END;
    END LOOP;
END
$$;
SELECT g, mgpu_percentile_cont(v, 2) FROM shared_rows GROUP BY g;
-- packs that arrive otherwise than they were sent: an error, or other rows
SET mgpu.inject_fault = agg_run;
DO $$
DECLARE
    num_errors int = 0;
BEGIN
    FOR i IN 1..60 LOOP
        BEGIN
            PERFORM count(a) FROM (SELECT nullif(g, 3), mgpu_sort_agg(v) AS a, mgpu_percentile_disc(w, 0.5) FROM shared_rows GROUP BY 1) t;
        EXCEPTION WHEN invalid_binary_representation THEN
            num_errors = num_errors + 1;
        END;
    END LOOP;
    IF num_errors = 0 THEN
        RAISE 'no error';
    END IF;
END
$$;
RESET mgpu.inject_fault;
DROP VIEW shared_hits;
DROP TABLE shared_rows, shared_parts, shared_result, alone;
DROP FUNCTION add_here, add_alone;
