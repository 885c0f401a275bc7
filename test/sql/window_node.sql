--
-- MgpuWindow: window functions over sorted rows
--
-- A query's answer is that of PostgreSQL's own nodes.
LOAD 'mgpu_pg';
\pset format unaligned
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE TABLE framed AS
SELECT i, nullif(i * 7919 % 50, 7) AS g, (i % 3)::int2 AS h, nullif(i * 7919 % 307, 5) AS v, i * 69621::bigint % 1000003 AS w,
       CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN -0.0 WHEN 2 THEN 0 WHEN 3 THEN 'Infinity' WHEN 4 THEN NULL ELSE (i * 31 % 97) / 8.0 END::float8 AS f, ((i * 37 % 89) / 4.0)::float4 AS r,
       (i % 5 || left('.0000', i % 4))::numeric AS n, nullif(chr(97 + i % 26) || i * 31 % 11, 'c4') AS t, substr('aAbB', i % 4 + 1, 1) AS c,
       '2024-01-01'::timestamp + i * 31 % 97 * interval '5 hours' AS at, ARRAY[i % 4, i] AS a
FROM generate_series(1, 2000) i;
CREATE TABLE three (id int);
INSERT INTO three VALUES (1), (2), (3);
VACUUM ANALYZE framed, three;
CREATE COLLATION framed_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
-- whether a query's plan has the node; its number of rows, or its error; whether PostgreSQL's nodes give the same
\set ECHO none
\i test/plan_check.sql
CREATE FUNCTION pg_temp.check(query text, OUT node boolean, OUT rows text, OUT same boolean) LANGUAGE sql AS $$
    SELECT * FROM pg_temp.check_node(query, 'MgpuWindow', 'mgpu.enable_sort', false)
$$;
\set ECHO all
-- functions, of columns of all kinds
SELECT function, c.* FROM (VALUES
    ('row_number()@'), ('rank()@'), ('dense_rank()@'), ('count(*)@'), ('count(v)@'), ('count(t)@'), ('sum(v)@'), ('sum(h)@'), ('sum(f)@'), ('sum(r)@'), ('first_value(t)@'), ('last_value(v)@'), ('first_value(a)@'), ('nth_value(t, 3)@'), ('nth_value(v, 100)@'), ('nth_value(v, h)@'), ('ntile(4)@'), ('ntile(1)@'), ('ntile(3000)@'), ('ntile(NULL)@'), ('ntile(h)@'), ('percent_rank()@'), ('cume_dist()@'), ('lag(v)@'), ('lag(t, 3)@'),
    ('lag(v, 0)@'), ('lag(v, -2)@'), ('lead(n)@'), ('lead(f, 2)@'), ('lead(at, 1, ''2000-01-01''::timestamp)@'), ('lag(v, 1, -1)@'), ('lag(v, 1, NULL)@'), ('lag(t, 4, ''none'')@'), ('lead(a, 60)@'), ('lead(v, 2147483647)@'), ('lag(v, (-2147483648)::int)@'),
    ('v - lag(v)@'), ('lag(v)@ + lead(v)@ + sum(h)@'), ('coalesce(lag(t)@, ''first'') || rank()@'), ('sum(v)@::float8 / count(*)@'), ('(f - first_value(f)@) / 2'), ('lag(v, h)@'), ('lag(v, 1, h::int)@'), ('lag(v, 2, v)@'), ('lead(t, 1, t)@'), ('lag(f, 3, f)@ - lead(n, 1, n)@'), ('lag(v, NULL)@'), ('lag(v + 1)@'),
    ('sum(w)@'), ('avg(v)@'), ('max(v)@'), ('avg(h)@'), ('avg(w)@'), ('sum(n)@'), ('avg(n)@'), ('min(n)@'), ('max(n)@'), ('avg(f)@'), ('min(f)@'), ('max(f)@'), ('avg(r)@'), ('min(r)@'), ('stddev(f)@'), ('var_pop(r)@'), ('min(at)@'), ('max(at)@'), ('bool_or(h > 1)@'), ('min(t)@'), ('sum(v + 1)@'), ('avg(n * 2)@'), ('max(CASE WHEN h > 1 THEN v END)@'), ('count(t || c)@'), ('sum(v + 1)@ + sum(v * 2)@'), ('count(random() < 2)@'), ('ntile(3)@'), ('percent_rank()@'), ('nth_value(v, 2)@'), ('string_agg(t, '','')@'), ('count(*) FILTER (WHERE v > 9)@')) t(function),
    pg_temp.check(format('SELECT i, %s FROM framed WINDOW w AS (PARTITION BY g ORDER BY v, i)', replace(function, '@', ' OVER w'))) c;
-- windows
SELECT "window", c.* FROM (VALUES
    (''), ('PARTITION BY g'), ('ORDER BY i'), ('ORDER BY v'), ('PARTITION BY g ORDER BY h'), ('PARTITION BY g, h ORDER BY v DESC NULLS LAST'), ('PARTITION BY f ORDER BY n'), ('PARTITION BY n ORDER BY f'), ('PARTITION BY t ORDER BY h'), ('PARTITION BY c COLLATE framed_any_case ORDER BY h DESC'), ('PARTITION BY t COLLATE "en-x-icu" ORDER BY h'), ('PARTITION BY c COLLATE "en-x-icu", t COLLATE "en-x-icu" ORDER BY t COLLATE "en-x-icu" DESC, i'),
    ('PARTITION BY at ORDER BY a'), ('PARTITION BY g ORDER BY c COLLATE framed_any_case'), ('PARTITION BY a[1] ORDER BY v'), ('PARTITION BY g ORDER BY g'), ('PARTITION BY v % 5, g ORDER BY h, t'), ('PARTITION BY g ORDER BY h, v, i ROWS UNBOUNDED PRECEDING'), ('PARTITION BY g ORDER BY v, i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'),
    ('PARTITION BY g ORDER BY v RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'), ('PARTITION BY g ORDER BY v GROUPS UNBOUNDED PRECEDING'), ('PARTITION BY g ORDER BY v ROWS 2 PRECEDING'), ('PARTITION BY g ORDER BY v ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING'), ('PARTITION BY g ORDER BY v RANGE BETWEEN UNBOUNDED PRECEDING AND 5 FOLLOWING'),
    ('PARTITION BY g ORDER BY v ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW')) t("window"),
    pg_temp.check(format('SELECT %s, count(*) OVER w, count(v) OVER w, sum(h) OVER w, sum(v) OVER w%s FROM framed WINDOW w AS (%s)', CASE WHEN "window" ~ 'ROWS' AND "window" !~ 'v, i' THEN '0' ELSE 'i' END, CASE WHEN "window" ~ 'ROWS' THEN '' ELSE ', rank() OVER w, dense_rank() OVER w' END, "window")) c;
-- frames of rows around the row, and of partitions
SELECT frame, c.* FROM (VALUES
    ('ROWS 2 PRECEDING'), ('ROWS BETWEEN 3 PRECEDING AND CURRENT ROW'), ('ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING'), ('ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING'), ('ROWS BETWEEN CURRENT ROW AND CURRENT ROW'), ('ROWS BETWEEN 0 PRECEDING AND 50 FOLLOWING'), ('ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING'),
    ('ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'), ('ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'), ('ROWS BETWEEN 51 PRECEDING AND CURRENT ROW'), ('ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING'), ('ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING'), ('ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING'),
    ('ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING'), ('GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW'), ('ROWS 3 PRECEDING EXCLUDE TIES'), ('ROWS (SELECT 2) PRECEDING')) t(frame),
    pg_temp.check(format('SELECT i, avg(v) OVER w, sum(n) OVER w, max(n) OVER w, avg(f) OVER w, sum(f) OVER w, min(r) OVER w, max(at) OVER w, count(t) OVER w, first_value(v) OVER w, last_value(t) OVER w, lag(v) OVER w FROM framed WINDOW w AS (PARTITION BY g ORDER BY v, i %s)', frame)) c;
-- several windows, of one order or none
SELECT query, c.* FROM (VALUES
    ('SELECT i, v / nullif(sum(v) OVER (PARTITION BY g), 0), rank() OVER (PARTITION BY g ORDER BY v) FROM framed'), ('SELECT i, avg(v) OVER (PARTITION BY g ORDER BY v, i ROWS 2 PRECEDING), avg(v) OVER (PARTITION BY g ORDER BY v, i ROWS 6 PRECEDING), sum(v) OVER (PARTITION BY g ORDER BY v, i), count(*) OVER (PARTITION BY g), lag(v) OVER (PARTITION BY g ORDER BY v, i) FROM framed'),
    ('SELECT i, first_value(v) OVER (PARTITION BY g ORDER BY v, i), last_value(v) OVER (PARTITION BY g ORDER BY v, i ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING), max(n) OVER (PARTITION BY g) - n FROM framed'), ('SELECT i, sum(v + 1) OVER (PARTITION BY g), sum(v + 1) OVER (PARTITION BY g ORDER BY v, i) FROM framed'),
    ('SELECT g, count(*), sum(count(*)) OVER (ORDER BY g), sum(count(*)) OVER () FROM framed GROUP BY g'), ('SELECT i, sum(v) OVER (PARTITION BY g), sum(v) OVER (PARTITION BY h) FROM framed'), ('SELECT i, rank() OVER (PARTITION BY g ORDER BY v), rank() OVER (PARTITION BY g ORDER BY v DESC) FROM framed'),
    ('SELECT i, rank() OVER (PARTITION BY g), rank() OVER (PARTITION BY g ORDER BY v) FROM framed'), ('SELECT i, sum(v) OVER (PARTITION BY g), sum(v) OVER (PARTITION BY g, h) FROM framed'), ('SELECT id, s.* FROM three, LATERAL (SELECT i, lag(i) OVER (PARTITION BY g ORDER BY v, i), count(*) OVER (PARTITION BY g) FROM framed WHERE h <> id) s'), ('SELECT * FROM (SELECT i, count(*) OVER (PARTITION BY g) AS n, rank() OVER (PARTITION BY g ORDER BY v) AS k FROM framed) s WHERE k <= 3')) t(query), pg_temp.check(query) c;
-- by an index that has the order, whose rows lie anywhere
CREATE TABLE scattered AS SELECT i, i * 7919 % 100 AS g, i / 8.0 AS n, repeat('x', 100) AS t FROM generate_series(1, 20000) i;
CREATE INDEX ON scattered (g, i);
VACUUM ANALYZE scattered;
SET random_page_cost = 1.1;
SELECT query, c.* FROM (VALUES ('SELECT i, n / sum(n) OVER (PARTITION BY g) FROM scattered'), ('SELECT g, i, sum(n) OVER (PARTITION BY g ORDER BY i) FROM scattered'), ('SELECT DISTINCT g, max(n) OVER (PARTITION BY g) FROM scattered')) t(query), pg_temp.check(query) c;
SET mgpu.enable_sort = on;
-- but not where PostgreSQL, from 15 on, reads no more than three rows
SELECT current_setting('server_version_num')::int < 150000 OR pg_temp.plan_of('SELECT * FROM (SELECT g, i, n, row_number() OVER (ORDER BY g, i) AS k FROM scattered) s WHERE k <= 3') !~ 'Mgpu' AS reads_few;
RESET mgpu.enable_sort;
RESET random_page_cost;
-- queries
SELECT query, c.* FROM (VALUES
    ('SELECT i, lag(i) OVER (ORDER BY i) FROM framed WHERE i < 0'), ('SELECT i, lag(i) OVER (ORDER BY i) FROM framed WHERE i = 7'), ('SELECT g, count(*), lag(count(*)) OVER (ORDER BY g), sum(count(*)) OVER (ORDER BY g) FROM framed GROUP BY g'), ('SELECT DISTINCT g, first_value(i) OVER (PARTITION BY g ORDER BY v, i) FROM framed'),
    ('SELECT i, rank() OVER (PARTITION BY g ORDER BY v) FROM framed ORDER BY g, v, i'), ('SELECT i, lead(i) OVER (ORDER BY v, i) FROM framed ORDER BY v, i LIMIT 20'), ('SELECT i, lag(v) OVER (PARTITION BY g ORDER BY i), lead(v) OVER (PARTITION BY g ORDER BY i DESC) FROM framed'),
    ('SELECT i, lag(v) OVER (PARTITION BY g ORDER BY i), count(*) OVER (PARTITION BY g) FROM framed'), ('SELECT * FROM (SELECT i, v - lag(v) OVER (PARTITION BY g ORDER BY i) AS d FROM framed) s WHERE d > 5'), ('SELECT * FROM (SELECT i, rank() OVER (PARTITION BY g ORDER BY v) AS k FROM framed) s WHERE k > 3'),
    ('SELECT id, s.* FROM three, LATERAL (SELECT i, lag(i) OVER (ORDER BY v, i) FROM framed WHERE h = id) s'), ('SELECT id, s.* FROM three, LATERAL (SELECT i, lag(i + id) OVER (ORDER BY v, i) + id FROM framed WHERE h = id) s'), ('SELECT id, ARRAY(SELECT lag(i) OVER (ORDER BY v, i) + id FROM framed) FROM three'),
    ('SELECT i, lag(v) OVER (ORDER BY i) + (SELECT count(*) FROM three WHERE id = h) FROM framed'), ('SELECT i, lag(v) OVER (ORDER BY i), random() < 2 FROM framed'), ('SELECT i, generate_series(1, 2), lag(v) OVER (ORDER BY i) FROM framed'), ('SELECT i, 1 / (v - lag(v, 0, 3) OVER (ORDER BY i)) FROM framed'), ('SELECT i, sum(x) OVER (ORDER BY i) FROM (SELECT i, 1e308::float8 AS x FROM framed OFFSET 0) s'),
    ('SELECT i, lag(i) OVER (ORDER BY i) FROM framed UNION ALL SELECT 1, 2'), ('SELECT framed, lag(i) OVER (ORDER BY i) FROM framed'), ('SELECT i, lag(framed) OVER (ORDER BY i) FROM framed'), ('SELECT a.i, lag(b.v) OVER (PARTITION BY a.g ORDER BY a.i, b.i) FROM framed a JOIN framed b USING (w) LEFT JOIN three ON id = a.h')) t(query), pg_temp.check(query) c;
-- PostgreSQL 15 and later stop early here
SELECT rows, same FROM pg_temp.check('SELECT * FROM (SELECT i, count(*) OVER (ORDER BY i) AS k FROM framed) s WHERE k <= 30');
-- order of rows: that of the window
SET mgpu.enable_sort = force;
SELECT h, c, count(*) OVER (ORDER BY h DESC, c COLLATE "C") FROM framed WHERE i < 9;
SELECT pg_temp.plan_of('SELECT i, v - lag(v) OVER (PARTITION BY g ORDER BY i) FROM framed');
SELECT pg_temp.plan_of('SELECT i, lag(v) OVER (PARTITION BY g ORDER BY i), nth_value(v, h) OVER (PARTITION BY g ORDER BY i) FROM framed');
-- partitions of texts come in the order of bytes, unless the statement, or another window, asks for the order of a collation
CREATE TABLE letters AS SELECT w COLLATE "en-x-icu" AS w, i FROM (VALUES ('b', 1), ('A', 2), ('a', 3), ('B', 4), ('a', 5)) v(w, i);
SELECT pg_temp.plan_of('SELECT w, count(*) OVER (PARTITION BY w ORDER BY i) FROM letters');
SELECT w, i, count(*) OVER (PARTITION BY w ORDER BY i) FROM letters;
SELECT w, i, count(*) OVER (PARTITION BY w ORDER BY i) FROM letters ORDER BY w, i;
SELECT w, count(*) OVER (PARTITION BY w), rank() OVER (ORDER BY w) FROM letters;
SELECT DISTINCT w, count(*) OVER (PARTITION BY w) FROM letters ORDER BY w;
SELECT string_agg(w || n, ' ' ORDER BY w, n) FROM (SELECT w, row_number() OVER (PARTITION BY w ORDER BY i DESC) AS n FROM letters) s;
-- functions have names, also above the node
DO $$ BEGIN EXECUTE 'EXPLAIN (VERBOSE) SELECT DISTINCT v - lag(v) OVER (PARTITION BY g ORDER BY i), count(*) OVER (PARTITION BY g ORDER BY i) FROM framed'; END $$;
-- an error leaves the session as it was; a cursor reads on and is closed early
SELECT 1 / (v - 3) + lag(v) OVER (ORDER BY i) FROM framed;
BEGIN;
DECLARE rows SCROLL CURSOR FOR SELECT i, lag(i) OVER (ORDER BY i) FROM framed;
FETCH 2 FROM rows;
FETCH BACKWARD 1 FROM rows;
FETCH RELATIVE 5 FROM rows;
CLOSE rows;
COMMIT;
PREPARE after (int) AS SELECT count(k), sum(k) FROM (SELECT lag(i) OVER (PARTITION BY g ORDER BY i) AS k FROM framed WHERE i > $1) s;
SET plan_cache_mode = force_generic_plan;
EXECUTE after(100);
EXECUTE after(1900);
DEALLOCATE after;
-- of what does not fit in memory, the rows around each row are: as far as functions look back and ahead, its peers, or its partition
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE long AS SELECT i, k, g, h, v, w, f, r, n, t || repeat('x', k) AS t, at, a FROM framed, generate_series(0, 4) k;
VACUUM ANALYZE long;
SELECT "window", count(*) FILTER (WHERE node) AS nodes, count(*) FILTER (WHERE same) AS same, string_agg(function, '; ') FILTER (WHERE NOT same) AS differ FROM (VALUES
    ('ORDER BY i, k'), ('ORDER BY v, i DESC, k'), ('PARTITION BY h ORDER BY w, k'), ('PARTITION BY g ORDER BY v, n, i, k'), ('PARTITION BY i ORDER BY k DESC'), ('PARTITION BY h, k ORDER BY i')) w("window"), (VALUES
    ('row_number() OVER w, rank() OVER w, dense_rank() OVER w'), ('lag(t) OVER w, lead(t) OVER w'), ('lag(i, 7) OVER w, lead(a, 30) OVER w, lag(n, 2, -1) OVER w'), ('lag(i, 3000) OVER w'), ('lead(t, 2500) OVER w, lag(at, 900) OVER w'), ('first_value(t) OVER w, last_value(t) OVER w'),
    ('first_value(v) OVER w, first_value(t) OVER (w ROWS 3 PRECEDING), last_value(t) OVER (w ROWS BETWEEN 4 PRECEDING AND 6 FOLLOWING)'), ('sum(v) OVER w, count(t) OVER w, avg(n) OVER w, max(at) OVER w'), ('sum(f) OVER w, sum(f) OVER (w ROWS UNBOUNDED PRECEDING)'), ('avg(v) OVER (w ROWS 6 PRECEDING), sum(n) OVER (w ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING)'),
    ('ntile(7) OVER w, percent_rank() OVER w'), ('cume_dist() OVER w, nth_value(i, 3) OVER w, lead(i, 5) OVER w'), ('sum(v) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), lead(i, 3) OVER w')) f(function),
    LATERAL pg_temp.check(format('SELECT i, k, %s FROM long WINDOW w AS (%s)', function, "window")) c GROUP BY 1 ORDER BY 1;
-- rows that are equal in the order come together, however many
SELECT function, c.* FROM (VALUES ('sum(n) OVER (ORDER BY h)'), ('sum(n) OVER (ORDER BY i % 500)'), ('rank() OVER (ORDER BY h), cume_dist() OVER (ORDER BY h)'), ('last_value(h) OVER (PARTITION BY k ORDER BY i % 90)'), ('ntile(5) OVER (ORDER BY i, k)')) t(function), pg_temp.check(format('SELECT i, k, %s FROM long', function)) c;
SELECT c.* FROM pg_temp.check('SELECT id, s.* FROM three, LATERAL (SELECT i, k, lag(t) OVER (ORDER BY v, i, k), sum(v) OVER (ORDER BY v, i, k) FROM long WHERE h <> id) s') c;
BEGIN;
DECLARE rows SCROLL CURSOR FOR SELECT i, k, lag(i) OVER (ORDER BY i, k), lead(k, 2) OVER (ORDER BY i, k) FROM long;
FETCH ABSOLUTE 4000 FROM rows;
FETCH BACKWARD 1 FROM rows;
FETCH ABSOLUTE 9999 FROM rows;
FETCH ABSOLUTE 3 FROM rows;
ROLLBACK;
SELECT c.* FROM pg_temp.check('SELECT i, ntile(3) OVER w, percent_rank() OVER w, cume_dist() OVER w, nth_value(t, 2) OVER w, lead(a, 2) OVER w, count(*) OVER (PARTITION BY g) FROM framed WINDOW w AS (PARTITION BY g ORDER BY v)') c;
SELECT c.* FROM pg_temp.check('SELECT i, rank() OVER (PARTITION BY g ORDER BY v, i), sum(v) OVER (PARTITION BY h), lag(t) OVER (ORDER BY f, i), count(*) OVER (PARTITION BY h, c ORDER BY i) FROM framed') c;
SELECT c.* FROM pg_temp.check('SELECT i, ntile(3) OVER w, lag(at) OVER w FROM framed WINDOW w AS (PARTITION BY i ORDER BY v)') c;
SELECT c.* FROM pg_temp.check('SELECT i, sum(f) OVER w, avg(f) OVER (w ROWS 3 PRECEDING) FROM framed WINDOW w AS (PARTITION BY h, c ORDER BY i)') c;
SELECT c.* FROM pg_temp.check('SELECT id, s.* FROM three, LATERAL (SELECT i, lag(i) OVER (PARTITION BY g ORDER BY v, i) FROM framed WHERE h <> id) s') c;
SELECT c.* FROM pg_temp.check('SELECT i, lag(t) OVER w, sum(v) OVER w, avg(n * 2) OVER w, rank() OVER w FROM framed WINDOW w AS (PARTITION BY g ORDER BY v, i)') c;
SELECT c.* FROM pg_temp.check('SELECT i, lag(t) OVER (PARTITION BY g ORDER BY v, i), avg(n * 2) OVER (PARTITION BY g), sum(v) OVER (PARTITION BY g ORDER BY v, i ROWS 2 PRECEDING) FROM framed') c;
SELECT c.* FROM pg_temp.check('SELECT id, s.* FROM three, LATERAL (SELECT i, lag(i) OVER (ORDER BY v, i) FROM framed WHERE h <> id) s') c;
SELECT c.* FROM pg_temp.check('SELECT i, random() < 2, lag(i) OVER (ORDER BY i), t, n, a, f, at FROM framed ORDER BY i') c;
SET mgpu.enable_sort = on;
SET mgpu.report_declined = on;
-- a GPU without a service has a notice of its own
SET mgpu.executor = cpu;
SELECT pg_temp.plan_of('SELECT lag(v) OVER (ORDER BY i) FROM framed');
SELECT pg_temp.plan_of('SELECT sum(v) OVER (PARTITION BY h) FROM long');
-- the mean of equal rows is small here, but a fifth has a NULL
CREATE TABLE sparse AS SELECT CASE WHEN k > 0 THEN i * 5 + k END AS few, repeat('wide', 20) || i AS t FROM long;
VACUUM ANALYZE sparse;
SELECT pg_temp.plan_of('SELECT count(t) OVER (ORDER BY few) FROM sparse') ~ 'MgpuWindow' AS of_nulls, pg_temp.plan_of('SELECT count(t) OVER (ORDER BY few ROWS UNBOUNDED PRECEDING) FROM sparse') ~ 'MgpuWindow' AS of_rows;
RESET work_mem;
SET mgpu.enable_sort = force;
SELECT pg_temp.plan_of('SELECT lag(v) OVER (ORDER BY i), nth_value(v, h) OVER (ORDER BY i) FROM framed');
SELECT pg_temp.plan_of('SELECT lag(v) OVER (ORDER BY i) FROM framed WHERE pg_current_snapshot() IS NOT NULL');
RESET mgpu.executor;
RESET mgpu.report_declined;
-- the right to call a function is checked
CREATE ROLE framed_user;
GRANT SELECT ON framed TO framed_user;
REVOKE EXECUTE ON FUNCTION lag(anyelement) FROM public;
SET ROLE framed_user;
SELECT count(l) FROM (SELECT lag(v) OVER (ORDER BY i) AS l FROM framed) s;
RESET ROLE;
GRANT EXECUTE ON FUNCTION lag(anyelement) TO public;
DROP TABLE framed, long, sparse, three;
DROP ROLE framed_user;
DROP COLLATION framed_any_case;
