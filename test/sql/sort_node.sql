--
-- MgpuSort: ORDER BY
--
-- A query's answer is that of PostgreSQL's own nodes.
LOAD 'mgpu_pg';
\pset format unaligned
SET max_parallel_workers_per_gather = 0;
SET jit = off; -- the costs of what is disabled would ask for it
CREATE TABLE sorted AS
SELECT i, nullif(i * 7919 % 50, 7) AS g, (i % 3)::int2 AS h, nullif(i * 7919 % 307, 5) AS v, (i * 69621::bigint % 1000003 - 500000) * 8000000000 AS w,
       CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN -0.0 WHEN 2 THEN 0 WHEN 3 THEN 'Infinity' WHEN 4 THEN NULL WHEN 5 THEN '-Infinity' ELSE (i * 31 % 97) / 8.0 END::float8 AS f,
       (i % 5 || left('.0000', i % 4))::numeric AS n, nullif(chr(97 + i % 26) || i * 31 % 11, 'c4') AS t, substr('aAbB', i % 4 + 1, 1) AS c,
       '2024-01-01'::timestamp + i * 31 % 97 * interval '5 hours' AS at, make_interval(days => i % 45, hours => i % 50) AS span, md5((i % 60)::text)::uuid AS u,
       repeat('x', i % 7) || i AS pad
FROM generate_series(1, 2000) i;
INSERT INTO sorted SELECT i, 1, 0, 2, x, 'NaN' FROM generate_series(2001, 2004) i, unnest('{9223372036854775807,-9223372036854775808,9223372036854775806,NULL}'::int8[]) WITH ORDINALITY u(x, o) WHERE o = i - 2000;
CREATE TABLE names (id int PRIMARY KEY, name text);
INSERT INTO names SELECT i, 'n' || i % 10 FROM generate_series(0, 60) i;
VACUUM ANALYZE sorted, names;
CREATE COLLATION sorted_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE sorted_mood AS ENUM ('low', 'fair', 'high');
CREATE TYPE sorted_pair AS (a numeric, b text);
-- whether a query's plan has the node; its number of rows, or its error; whether PostgreSQL's nodes give the same
\set ECHO none
\i test/plan_check.sql
CREATE FUNCTION pg_temp.check(query text, ordered boolean DEFAULT false, OUT node boolean, OUT rows text, OUT same boolean) LANGUAGE sql AS $$
    SELECT * FROM pg_temp.check_node(query, 'MgpuSort', 'mgpu.enable_sort', ordered)
$$;
CREATE FUNCTION pg_temp.counted(query text, OUT spilled boolean, OUT executor boolean) LANGUAGE sql AS $$
    SELECT plan ? 'Spilled Runs' AND (plan ->> 'Spilled Runs')::int > 1 AND (plan ->> 'Disk Usage')::int > 0, plan ->> 'Sort Executor' ~ '^(cpu|gpu)$' FROM pg_temp.counts_of(query, 'MgpuSort') plan
$$;
\set ECHO all
-- orders of all types; where rows may be equal, i decides
SELECT key, c.* FROM (VALUES
    ('v'), ('v DESC'), ('v NULLS FIRST'), ('v DESC NULLS LAST'), ('w'), ('w DESC'), ('w NULLS FIRST'), ('f'), ('f DESC'), ('f NULLS FIRST'), ('f::float4'), ('f::float4 DESC NULLS LAST'), ('h'), ('h DESC'), ('h::int::"char"'), ('v > 100'), ('v::oid DESC'),
    ('n'), ('n DESC'), ('t'), ('t DESC NULLS LAST'), ('t COLLATE "C"'), ('t COLLATE "en-x-icu" DESC'), ('c COLLATE sorted_any_case'), ('pad DESC'), ('t::name'), ('t::bytea'), ('(c || repeat('' '', h))::bpchar'), ('at'), ('at::date DESC'), ('at::time'),
    ('at::timestamptz'), ('at::time::timetz'), ('span'), ('span DESC'), ('u'), ('u DESC'), ('inet ''10.0.0.0'' + v'), ('h::int::bit(3)::varbit'), ('ARRAY[h, v % 2]'), ('int4range(h, h + 3)'), ('jsonb_build_object(''a'', h, ''b'', n)'), ('v::money'),
    ('(ARRAY[''low'', ''fair'', ''high''])[h + 1]::sorted_mood DESC'), ('ROW(n, c)::sorted_pair'), ('v, w'), ('h DESC, f NULLS FIRST, n'), ('t, v DESC, h'), ('g, v'), ('v USING >'), ('abs(v - 100)'), ('NULL::int'), ('1'), ('t, h, c'), ('t, h, c, v'), ('f + i, g')) t(key),
    pg_temp.check(format('SELECT i, g, pad, n FROM sorted ORDER BY %s, i', key), true) c;
-- constants, such as columns of a subquery that nobody reads, are no columns of the node
SET mgpu.enable_sort = force;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM (SELECT *, 'k' AS k FROM sorted ORDER BY v OFFSET 0) q;
SELECT c.* FROM pg_temp.check('SELECT ''a'' AS x, i, NULL::numeric AS n, v, 1 AS one FROM sorted ORDER BY one, v, x, i', true) c;
RESET mgpu.enable_sort;
-- rows of all kinds
SELECT query, c.* FROM (VALUES
    ('SELECT * FROM sorted ORDER BY v, i'), ('SELECT i FROM sorted WHERE i < 0 ORDER BY v, i'), ('SELECT i, upper(t), random() < 2 FROM sorted ORDER BY v DESC, i DESC'), ('SELECT g, sum(v) FROM sorted GROUP BY g ORDER BY 2 DESC, 1'),
    ('SELECT DISTINCT g, h FROM sorted ORDER BY h DESC, g'), ('SELECT i, name FROM sorted LEFT JOIN names ON g = id ORDER BY name DESC, i'), ('SELECT i, (SELECT name FROM names WHERE id = g) FROM sorted ORDER BY v, i'),
    ('SELECT * FROM (SELECT i FROM sorted ORDER BY v, i OFFSET 5) s'), ('SELECT count(*) FROM (SELECT v FROM sorted ORDER BY v OFFSET 0) s'), ('SELECT id, ARRAY(SELECT i FROM sorted WHERE g = id ORDER BY v, i) FROM names'), ('SELECT id, x.i FROM names, LATERAL (SELECT i FROM sorted WHERE g = id ORDER BY v, i OFFSET 3) x'),
    ('WITH s AS MATERIALIZED (SELECT i, v FROM sorted ORDER BY v, i) SELECT a.i, b.v FROM s a JOIN s b USING (i) ORDER BY a.i DESC'), ('SELECT g, i FROM sorted UNION ALL SELECT id, 0 FROM names ORDER BY 2, 1'), ('SELECT g FROM sorted UNION SELECT id FROM names ORDER BY 1'),
    ('SELECT i FROM sorted ORDER BY v, i FOR UPDATE'), ('SELECT i, generate_series(1, 2) FROM sorted ORDER BY v, i'), ('SELECT i, row_number() OVER (ORDER BY v, i) FROM sorted ORDER BY i'), ('SELECT i FROM sorted ORDER BY random() < 2, i'), ('SELECT i FROM sorted ORDER BY v + 1, v - 1, i'),
    ('SELECT i FROM sorted ORDER BY (SELECT name FROM names WHERE id = g), i'), ('SELECT 1 / (v - 3) FROM sorted ORDER BY 1'), ('SELECT i FROM sorted ORDER BY i LIMIT (SELECT 5)')) t(query), pg_temp.check(query, query ~ 'ORDER' AND query !~ 'OFFSET 5|LATERAL|FROM \(SELECT v') c;
-- equal rows stay as they came
SET mgpu.enable_sort = force;
SELECT n, x FROM (VALUES (1.0, 'a'), (0, 'b'), (1.00, 'c'), (1, 'd'), (NULL, 'e'), (NULL, 'f')) t(n, x) ORDER BY n DESC;
SELECT f, x FROM (VALUES ('-0'::float8, 'a'), ('NaN', 'b'), ('0', 'c'), ('-NaN', 'd'), (1, 'e'), ('-0', 'f')) t(f, x) ORDER BY f;
-- memory: what does not fit goes to files
SET mgpu.executor = cpu;
SELECT c.*, d.* FROM pg_temp.check('SELECT pad, i, u, f FROM sorted ORDER BY f DESC, i', true) c, pg_temp.counted('SELECT pad, i, u, f FROM sorted ORDER BY f DESC, i') d;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT c.*, d.* FROM pg_temp.check('SELECT pad, i, u, f FROM sorted ORDER BY f DESC, i', true) c, pg_temp.counted('SELECT pad, i, u, f FROM sorted ORDER BY f DESC, i') d;
RESET mgpu.executor;
SELECT c.* FROM pg_temp.check('SELECT a.id, s.i FROM names a, LATERAL (SELECT i, v, pad FROM sorted WHERE i > a.id ORDER BY v, i OFFSET 0) s WHERE a.id < 3') c;
SELECT key, c.* FROM (VALUES
    ('v DESC NULLS LAST'), ('w'), ('f'), ('f::float4 DESC'), ('h'), ('n'), ('n DESC'), ('t'), ('t COLLATE "C" DESC'), ('c COLLATE sorted_any_case'), ('t::name'), ('t::bytea'), ('(c || repeat('' '', h))::bpchar'), ('at::date DESC'), ('at::time::timetz'),
    ('span'), ('u DESC'), ('inet ''10.0.0.0'' + v'), ('h::int::bit(3)::varbit'), ('ARRAY[h, v % 2]'), ('jsonb_build_object(''a'', h, ''b'', n)'), ('v::money'), ('(ARRAY[''low'', ''fair'', ''high''])[h + 1]::sorted_mood DESC'), ('ROW(n, c)::sorted_pair'),
    ('h DESC, f NULLS FIRST, n'), ('t, v DESC, h')) t(key), pg_temp.check(format('SELECT i, g, pad, n, f FROM sorted ORDER BY %s, i', key), true) c;
-- equal rows stay as they came, whatever runs they are in; many runs are merged more than once
SELECT count(*), sum((i <= before)::int) AS wrong FROM (SELECT h, i, lag(i) OVER (PARTITION BY h) AS before FROM (SELECT i % 3 AS h, i FROM generate_series(1, 300000) i ORDER BY h OFFSET 0) s OFFSET 0) t;
SELECT (plan ->> 'Spilled Runs')::int > 100 AS many, (plan ->> 'Peak Memory Usage')::int < 100 AS small FROM pg_temp.counts_of('SELECT i % 3 AS h, i FROM generate_series(1, 300000) i ORDER BY h', 'MgpuSort') plan;
-- 3000 rows of 800 bytes: 2 MB have no place for them, 3 MB have for one copy
CREATE TABLE wide AS SELECT i, repeat('x', 790) || i AS t FROM generate_series(1, 3000) i;
ANALYZE wide;
RESET mgpu.enable_sort;
SET work_mem = '2MB';
SELECT pg_temp.plan_of('SELECT * FROM wide ORDER BY i DESC') ~ 'MgpuSort' AS node, c.spilled FROM pg_temp.counted('SELECT * FROM wide ORDER BY i DESC') c;
SET work_mem = '3MB';
SELECT pg_temp.plan_of('SELECT * FROM wide ORDER BY i DESC') ~ 'MgpuSort' AS node, c.spilled FROM pg_temp.counted('SELECT * FROM wide ORDER BY i DESC') c;
-- a key is copied once more
SELECT c.spilled FROM pg_temp.counted('SELECT * FROM wide ORDER BY t COLLATE "C"') c;
SET mgpu.enable_sort = force;
RESET work_mem;
RESET hash_mem_multiplier;
-- columns that are no keys are kept as they come: short, compressed, out of line, in memory
CREATE TABLE stored (i int, a text, b text, c text, e int[]);
ALTER TABLE stored ALTER b SET STORAGE external;
INSERT INTO stored SELECT i, CASE WHEN i % 7 > 0 THEN repeat('s', i % 130) END, repeat(md5(i::text), 80), repeat('compressed ', 600 + i % 9), ARRAY[i, NULL, i] FROM generate_series(1, 2500) i;
ANALYZE stored;
SET mgpu.enable_sort = force;
SET work_mem = '64MB';
SELECT query, c.*, d.spilled FROM unnest('{"SELECT * FROM stored ORDER BY i % 10, i","SELECT upper(b), array_append(e, i), a FROM stored ORDER BY c, b","SELECT s FROM stored s ORDER BY a, i DESC"}'::text[]) query, pg_temp.check(query, true) c, pg_temp.counted(query) d;
SET work_mem = '64kB';
SELECT query, c.*, d.spilled FROM unnest('{"SELECT * FROM stored ORDER BY i % 10, i","SELECT upper(b), array_append(e, i), a FROM stored ORDER BY c, b","SELECT s FROM stored s ORDER BY a, i DESC"}'::text[]) query, pg_temp.check(query, true) c, pg_temp.counted(query) d;
-- wide keys: memory is looked at before many rows are there
SELECT (pg_temp.counts_of('SELECT i FROM stored ORDER BY c, i', 'MgpuSort') ->> 'Peak Memory Usage')::int < 6000 AS small;
RESET work_mem;
DROP TABLE stored;
-- rescans, and cursors in both directions
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT c.* FROM pg_temp.check('SELECT a.id, s.i FROM names a, (SELECT i, v FROM sorted ORDER BY v, i OFFSET 0) s WHERE s.v = a.id ORDER BY 1, 2') c;
SELECT c.* FROM pg_temp.check('SELECT a.id, s.i FROM names a, LATERAL (SELECT i, v FROM sorted WHERE g = a.id ORDER BY v, i OFFSET 0) s') c;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i, v FROM sorted ORDER BY v DESC, i;
FETCH 2 FROM c;
FETCH ABSOLUTE 1000 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
DECLARE d CURSOR FOR SELECT i, v FROM sorted ORDER BY v DESC, i LIMIT 4;
FETCH BACKWARD 1 FROM d;
FETCH ALL FROM d;
FETCH BACKWARD 2 FROM d;
FETCH 1 FROM d;
FETCH BACKWARD ALL FROM d;
FETCH ALL FROM d;
SET LOCAL mgpu.enable_top = force;
DECLARE e CURSOR FOR SELECT i, v FROM sorted ORDER BY v DESC, i LIMIT 4;
FETCH BACKWARD 1 FROM e;
FETCH ALL FROM e;
FETCH BACKWARD 2 FROM e;
FETCH 1 FROM e;
FETCH BACKWARD ALL FROM e;
FETCH ALL FROM e;
SET LOCAL work_mem = '64kB';
SET LOCAL hash_mem_multiplier = 1;
DECLARE f CURSOR FOR SELECT i, v, pad FROM sorted ORDER BY v DESC, i;
MOVE FORWARD ALL IN f;
FETCH BACKWARD 2 FROM f;
-- read again, the rows are the same, whatever is below
CREATE SEQUENCE turns;
DECLARE g SCROLL CURSOR FOR SELECT * FROM (SELECT nextval('turns') AS turn, pad, i, u, f FROM sorted OFFSET 0) s ORDER BY turn;
MOVE FORWARD ALL IN g;
FETCH FIRST FROM g;
FETCH LAST FROM g;
SET LOCAL enable_material = off;
SELECT count(*), count(DISTINCT turn) FROM (VALUES (1), (2), (3)) a(n) LEFT JOIN (SELECT * FROM (SELECT nextval('turns') AS turn, pad, i, u, f FROM sorted OFFSET 0) s ORDER BY u, turn OFFSET 0) s ON turn > n;
SELECT setval('turns', 2004);
-- functions of conditions and of columns are called row by row
SELECT * FROM (SELECT i, currval('turns') - 2004 AS turn FROM sorted WHERE nextval('turns') > 0 OFFSET 0) s ORDER BY i OFFSET 2002;
DROP SEQUENCE turns;
COMMIT;
CREATE TABLE made AS SELECT i, v, pad FROM sorted ORDER BY v, i;
SELECT ctid, i, v FROM made LIMIT 3;
INSERT INTO made SELECT i, v, pad FROM sorted ORDER BY i DESC;
SELECT count(*) FROM made;
-- what EXPLAIN shows
EXPLAIN (COSTS off) SELECT i, t FROM sorted ORDER BY g DESC NULLS LAST, h, t NULLS FIRST;
EXPLAIN (COSTS off) CREATE TABLE other AS SELECT i, t FROM sorted ORDER BY v;
-- settings
SET mgpu.report_declined = on;
SET mgpu.enable_sort = off;
SELECT id FROM names ORDER BY id DESC OFFSET 60;
SET mgpu.enable_sort = on;
SELECT id FROM names ORDER BY name COLLATE "en-x-icu", id OFFSET 60;
SELECT id FROM names ORDER BY id DESC LIMIT (SELECT 1);
RESET mgpu.report_declined;
DROP TABLE sorted, names, made;
DROP TYPE sorted_mood, sorted_pair;
DROP COLLATION sorted_any_case;
