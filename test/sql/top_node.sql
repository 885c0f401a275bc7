--
-- MgpuTop: row_number, rank and dense_rank with a limit, DISTINCT ON, ORDER BY with LIMIT
--
-- A query's answer is that of PostgreSQL's own nodes.
LOAD 'mgpu_pg';
\pset format unaligned
SET max_parallel_workers_per_gather = 0;
SET jit = off; -- the costs of what is disabled would ask for it
CREATE TABLE ranked AS
SELECT i, nullif(i * 7919 % 50, 7) AS g, (i % 3)::int2 AS h, nullif(i * 7919 % 307, 5) AS v, (i * 69621::bigint % 1000003 - 500000) * 8000000000 AS w,
       CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN -0.0 WHEN 2 THEN 0 WHEN 3 THEN 'Infinity' WHEN 4 THEN NULL WHEN 5 THEN '-Infinity' ELSE (i * 31 % 97) / 8.0 END::float8 AS f,
       (i % 5 || left('.0000', i % 4))::numeric AS n, nullif(chr(97 + i % 26) || i * 31 % 11, 'c4') AS t, substr('aAbB', i % 4 + 1, 1) AS c,
       '2024-01-01'::timestamp + i * 31 % 97 * interval '5 hours' AS at, make_interval(days => i % 45, hours => i % 50) AS span, md5((i % 60)::text)::uuid AS u,
       repeat('x', i % 7) || i AS pad
FROM generate_series(1, 2000) i;
INSERT INTO ranked SELECT i, 1, 0, 2, x, 'NaN' FROM generate_series(2001, 2004) i, unnest('{9223372036854775807,-9223372036854775808,9223372036854775806,NULL}'::int8[]) WITH ORDINALITY u(x, o) WHERE o = i - 2000;
CREATE TABLE names (id int PRIMARY KEY, name text);
INSERT INTO names SELECT i, 'n' || i % 10 FROM generate_series(0, 60) i;
VACUUM ANALYZE ranked, names;
CREATE COLLATION ranked_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE ranked_mood AS ENUM ('low', 'fair', 'high');
CREATE TYPE ranked_pair AS (a numeric, b text);
-- whether a query's plan has the node; its number of rows, or its error; whether PostgreSQL's nodes give the same
\set ECHO none
\i test/plan_check.sql
CREATE FUNCTION pg_temp.check(query text, ordered boolean DEFAULT false, OUT node boolean, OUT rows text, OUT same boolean) LANGUAGE sql AS $$
    SELECT * FROM pg_temp.check_node(query, 'MgpuTop', 'mgpu.enable_top', ordered)
$$;
CREATE FUNCTION pg_temp.counted(query text, OUT partitions int, OUT spilled boolean) LANGUAGE sql AS $$
    SELECT (plan ->> 'Partitions')::int, plan ? 'Spill Partitions' FROM pg_temp.counts_of(query, 'MgpuTop') plan
$$;
\set ECHO all
-- constants, such as columns of a subquery that nobody reads, are no columns of the node
SET mgpu.enable_top = force;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*), sum(v) FROM (SELECT DISTINCT ON (g, 'k'::text) *, 'k'::text AS k FROM ranked ORDER BY g, 'k'::text, v) q;
RESET mgpu.enable_top;
SELECT query, c.* FROM (VALUES ('SELECT DISTINCT ON (k) ''k''::text AS k, 1 AS one FROM ranked ORDER BY k'), ('SELECT * FROM (SELECT ''a'' AS x, row_number() OVER () AS r FROM ranked) s WHERE r <= 2'), ('SELECT ''a'' AS x, 2 AS y FROM ranked ORDER BY x, y LIMIT 1500')) q(query), pg_temp.check(query) c;
SELECT query, c.* FROM (VALUES ('SELECT DISTINCT ON (g, k) ''k'' AS k, g, i, NULL::numeric AS n FROM ranked ORDER BY g, k, v, i'), ('SELECT ''a'' AS x, v, i FROM ranked ORDER BY x, v, i LIMIT 1500'),
    ('SELECT * FROM (SELECT ''a'' AS x, i, 1 AS one, rank() OVER (PARTITION BY g, 1::int ORDER BY 2::int, v) AS r FROM ranked) s WHERE r <= 2'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY 1::int ORDER BY v, i) AS r FROM ranked) s WHERE r <= 2')) q(query), pg_temp.check(query) c;
-- orders of all types; where rows may be equal, i decides
SELECT key, c.* FROM (VALUES
    ('v'), ('v DESC'), ('v NULLS FIRST'), ('v DESC NULLS LAST'), ('w'), ('w DESC'), ('w NULLS FIRST'), ('f'), ('f DESC'), ('f NULLS FIRST'), ('f::float4'), ('f::float4 DESC NULLS LAST'), ('h'), ('h DESC'), ('h::int::"char"'), ('v > 100'), ('v::oid DESC'),
    ('n'), ('n DESC'), ('t'), ('t DESC NULLS LAST'), ('t COLLATE "C"'), ('t COLLATE "en-x-icu" DESC'), ('c COLLATE ranked_any_case'), ('pad DESC'), ('t::name'), ('t::bytea'), ('(c || repeat('' '', h))::bpchar'), ('at'), ('at::date DESC'), ('at::time'),
    ('at::timestamptz'), ('at::time::timetz'), ('span'), ('span DESC'), ('u'), ('u DESC'), ('inet ''10.0.0.0'' + v'), ('h::int::bit(3)::varbit'), ('ARRAY[h, v % 2]'), ('int4range(h, h + 3)'), ('jsonb_build_object(''a'', h, ''b'', n)'), ('v::money'),
    ('(ARRAY[''low'', ''fair'', ''high''])[h + 1]::ranked_mood DESC'), ('ROW(n, c)::ranked_pair'), ('v, w'), ('h DESC, f NULLS FIRST, n'), ('t, v DESC, h'), ('g, v'), ('v USING >'), ('abs(v - 100)'), ('NULL::int'), ('1')) t(key),
    pg_temp.check(format('SELECT i, g, rn FROM (SELECT i, g, row_number() OVER (PARTITION BY g ORDER BY %1$s, i) AS rn FROM ranked) s WHERE rn <= 3', key)) c;
SELECT key, c.* FROM (VALUES ('g'), ('g, h'), ('h, v % 3, g'), ('w, h'), ('f'), ('f::float4'), ('-f, g'), ('n'), ('n, t'), ('t'), ('t COLLATE "en-x-icu"'), ('c COLLATE ranked_any_case'), ('u, g'), ('span'), ('at::date'), ('v > 100'), ('left(t, 0)'), ('ARRAY[h, v % 2]'),
    ('ROW(n, c)::ranked_pair'), ('(ARRAY[''low'', ''fair'', ''high''])[h + 1]::ranked_mood'), ('(h, g)'), ('v::money'), ('g, g'), ('NULL::int'), ('1'), ('to_tsvector(''simple'', c)')) t(key),
    pg_temp.check(format('SELECT i, rn FROM (SELECT i, row_number() OVER (PARTITION BY %1$s ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 2', key)) c;
-- functions and limits; ties stay together
SELECT function, condition, c.* FROM unnest('{row_number(),rank(),dense_rank()}'::text[]) function,
    unnest('{rn <= 1,rn < 2,rn = 1,rn <= 3,3 >= rn,4 > rn,rn = 2,rn BETWEEN 2 AND 4,rn <= 3 AND rn <= 5::int8,rn <= 2::int2,rn <= 3 AND g > 10,rn <= 3 AND v % 2 = 0,rn < 20,rn <= 1000}'::text[]) condition,
    pg_temp.check(format('SELECT i %% CASE %3$L WHEN ''row_number()'' THEN 1 ELSE 10000 END, g, v, rn FROM (SELECT i, g, v, %3$s OVER (PARTITION BY g ORDER BY v) AS rn FROM ranked) s WHERE %2$s', NULL, condition, function)) c;
SELECT function, c.* FROM unnest('{row_number(),rank(),dense_rank()}'::text[]) function, (VALUES ('ORDER BY v, i'), ('ORDER BY h'), ('ORDER BY n, h DESC'), ('PARTITION BY h ORDER BY v, i'), ('')) w(w),
    pg_temp.check(format('SELECT %3$s, rn FROM (SELECT i, v, h, n, %1$s OVER (%2$s) AS rn FROM ranked WHERE i < 200) s WHERE rn <= 4', function, w, CASE WHEN w LIKE '%% i' THEN 'i, v, h' WHEN w = '' THEN 'i > 0' ELSE 'h' END)) c;
-- what the node leaves to PostgreSQL
SELECT query, c.* FROM (VALUES
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn >= 30'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 0'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= NULL'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3 OR i < 10'),
    ('SELECT * FROM (SELECT i, h, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= h'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn, count(*) OVER (PARTITION BY g) FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, row_number() OVER a AS rn, row_number() OVER b AS rm FROM ranked WINDOW a AS (PARTITION BY g ORDER BY i), b AS (PARTITION BY h ORDER BY i DESC)) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, ntile(4) OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, count(*) OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, (SELECT name FROM names WHERE id = g), row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT i, rn FROM (SELECT i, random() AS r, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3 AND r >= 0'),
    ('SELECT * FROM (SELECT DISTINCT g, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked ORDER BY i LIMIT 50) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, generate_series(1, 2), row_number() OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY i RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT i FROM ranked ORDER BY i LIMIT 0'), ('SELECT i FROM ranked ORDER BY i LIMIT NULL'), ('SELECT i FROM ranked ORDER BY i LIMIT (SELECT 5)'), ('SELECT i, random() < 2 FROM ranked ORDER BY random() < 2, i LIMIT 5'),
    ('SELECT h FROM ranked ORDER BY h FETCH FIRST 5 ROWS WITH TIES'), ('SELECT i FROM ranked ORDER BY i LIMIT 5 FOR UPDATE'), ('SELECT i, generate_series(1, 3) FROM ranked ORDER BY i LIMIT 5')) t(query), pg_temp.check(query) c;
-- what it takes
SELECT query, c.* FROM (VALUES
    ('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT i, rn * 2, upper(t) FROM (SELECT i, t, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i + 1, upper(t) || rn FROM (SELECT i, t, row_number() OVER w AS rn FROM ranked WINDOW w AS (PARTITION BY g ORDER BY v, i)) s WHERE rn <= 3) s'),
    ('SELECT v FROM (SELECT i, v, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT g, sum(v), rank() OVER (PARTITION BY g % 3 ORDER BY sum(v) DESC) AS rn FROM ranked GROUP BY g) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT name, sum(v), dense_rank() OVER (ORDER BY sum(v) DESC) AS rn FROM ranked JOIN names ON g = id GROUP BY name) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT i, name, row_number() OVER (PARTITION BY name ORDER BY v, i) AS rn FROM ranked LEFT JOIN names ON g = id) s WHERE rn <= 3'),
    ('SELECT * FROM names, LATERAL (SELECT i, row_number() OVER (PARTITION BY h ORDER BY v, i) AS rn FROM ranked WHERE g = id) s WHERE rn <= 2'),
    ('SELECT id, (SELECT string_agg(i::text, '','' ORDER BY h, rn) FROM (SELECT i, h, row_number() OVER (PARTITION BY h ORDER BY v, i) AS rn FROM ranked WHERE g = id) s WHERE rn <= 2) FROM names'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked) s JOIN (SELECT i, rank() OVER (PARTITION BY h ORDER BY v) AS rn FROM ranked) r USING (i) WHERE s.rn <= 9 AND r.rn <= 30'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked UNION ALL SELECT id, rank() OVER (ORDER BY name) FROM names) s WHERE rn <= 3'),
    ('WITH s AS MATERIALIZED (SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 3) SELECT * FROM s a JOIN s b USING (i)'),
    ('SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked WHERE i < 0) s WHERE rn <= 3'),
    ('SELECT * FROM (SELECT s.*, row_number() OVER (PARTITION BY h ORDER BY i) AS rm FROM (SELECT i, h, row_number() OVER (PARTITION BY g ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 3) r WHERE rm <= 4'),
    ('SELECT i FROM ranked r WHERE EXISTS (SELECT 1 FROM (SELECT id, row_number() OVER (ORDER BY name, id) AS rn FROM names) s WHERE rn <= 7 AND id = r.g)')) t(query), pg_temp.check(query) c;
SELECT query, c.* FROM (VALUES
    ('SELECT DISTINCT ON (g) g, v, i FROM ranked ORDER BY g, v, i'), ('SELECT DISTINCT ON (g) i FROM ranked ORDER BY g DESC NULLS LAST, v DESC, i'), ('SELECT DISTINCT ON (g, h) i, t FROM ranked ORDER BY h, g, f DESC, i'), ('SELECT DISTINCT ON (t COLLATE "C") t, i FROM ranked ORDER BY t COLLATE "C", i'),
    ('SELECT DISTINCT ON (c COLLATE ranked_any_case) c, i FROM ranked ORDER BY c COLLATE ranked_any_case, i'), ('SELECT DISTINCT ON (n) n, i FROM ranked ORDER BY n, i DESC'), ('SELECT DISTINCT ON (g) g, upper(t), i + 1 FROM ranked ORDER BY g, i + 1'), ('SELECT DISTINCT ON (1) i FROM ranked ORDER BY 1'),
    ('SELECT DISTINCT ON (g) g, sum(v) FROM ranked GROUP BY g, h ORDER BY g, sum(v) DESC'), ('SELECT DISTINCT ON (g) g FROM ranked WHERE g = 3 ORDER BY g'), ('SELECT DISTINCT ON (f) f + 0, count(*) OVER (PARTITION BY f) FROM ranked ORDER BY f'),
    ('SELECT DISTINCT ON (g) g, i FROM ranked ORDER BY g, v, i LIMIT 5'), ('SELECT DISTINCT ON (g) g, v, i FROM ranked WHERE i < 0 ORDER BY g, v, i'), ('SELECT DISTINCT ON (name) name, i FROM ranked JOIN names ON g = id ORDER BY name, i DESC')) t(query), pg_temp.check(query, true) c;
SELECT query, c.* FROM (VALUES
    ('SELECT i FROM ranked ORDER BY v, i LIMIT 10'), ('SELECT * FROM ranked ORDER BY f DESC, n, i LIMIT 100 OFFSET 50'), ('SELECT pad FROM ranked ORDER BY t COLLATE "en-x-icu", v, i LIMIT 1500'), ('SELECT i FROM ranked ORDER BY w NULLS FIRST, i LIMIT 3'), ('SELECT i FROM ranked ORDER BY i DESC LIMIT 5000'),
    ('SELECT g, sum(v) FROM ranked GROUP BY g ORDER BY 2 DESC, 1 LIMIT 7'), ('SELECT DISTINCT g, h FROM ranked ORDER BY h, g LIMIT 7'), ('SELECT i, (SELECT name FROM names WHERE id = g) FROM ranked ORDER BY v, i LIMIT 5'), ('(SELECT i FROM ranked ORDER BY v, i LIMIT 5) UNION ALL (SELECT i FROM ranked ORDER BY w, i LIMIT 5)'),
    ('SELECT id, x.i FROM names, LATERAL (SELECT i FROM ranked WHERE g = id ORDER BY v DESC, i LIMIT 3) x ORDER BY id, x.i'), ('SELECT i, random() < 2 FROM ranked ORDER BY v, i LIMIT 5'), ('SELECT i FROM ranked ORDER BY v, i OFFSET 5 ROWS FETCH FIRST ROW ONLY'), ('SELECT i FROM ranked WHERE i < 0 ORDER BY v, i LIMIT 4')) t(query), pg_temp.check(query, true) c;
-- equal rows: the first to come
SET mgpu.enable_top = force;
SELECT DISTINCT ON (g) g, x FROM (VALUES (1, 'b'), (2, 'c'), (1, 'a'), (2, 'd')) t(g, x);
SELECT * FROM (SELECT n, x, row_number() OVER (ORDER BY n) AS rn FROM (VALUES (1.0, 'a'), (0, 'b'), (1.00, 'c'), (1, 'd')) t(n, x)) s WHERE rn <= 3;
SELECT n, x FROM (VALUES (1.0, 'a'), (0, 'b'), (1.00, 'c'), (1, 'd')) t(n, x) ORDER BY n LIMIT 3;
SELECT (array_agg(i))[:70] = ARRAY(SELECT i FROM generate_series(1, 70) i ORDER BY i * 7 % 3, i) AS in_order FROM (SELECT i FROM generate_series(1, 40000) i ORDER BY CASE WHEN i > 70 THEN 40003 - i ELSE i * 7 % 3 END LIMIT 100) s;
-- memory: what does not fit is partitioned
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET mgpu.executor = cpu;
SELECT query, c.*, d.* FROM (VALUES
    ('SELECT i, pad, rn FROM (SELECT i, pad, row_number() OVER (PARTITION BY i % 1700 ORDER BY v, i) AS rn FROM ranked) s WHERE rn <= 1'), ('SELECT i, pad, rn FROM (SELECT i, pad, rank() OVER (PARTITION BY g, h ORDER BY v) AS rn FROM ranked) s WHERE rn <= 300'),
    ('SELECT i, pad, rn FROM (SELECT i, pad, dense_rank() OVER (PARTITION BY c ORDER BY v) AS rn FROM ranked) s WHERE rn <= 200'), ('SELECT DISTINCT ON (pad) pad, i, u FROM ranked ORDER BY pad, i'), ('SELECT pad, i, u FROM ranked ORDER BY pad, i LIMIT 1900')) t(query),
    pg_temp.check(query) c, pg_temp.counted(query) d;
RESET mgpu.executor;
-- rows that later ones have beaten are dropped, if they are wide
SELECT (pg_temp.counts_of('SELECT i FROM generate_series(1, 20000) i ORDER BY repeat(lpad(i::text, 6, ''0''), 200) DESC LIMIT 3', 'MgpuTop') ->> 'Peak Memory Usage')::int < 6000 AS small;
RESET work_mem;
RESET hash_mem_multiplier;
-- columns that are no keys are kept as they come: short, compressed, out of line, in memory
CREATE TABLE stored (i int, a text, g int, b text, c text, d text, e int[]);
ALTER TABLE stored ALTER b SET STORAGE external;
INSERT INTO stored SELECT i, CASE WHEN i % 7 > 0 THEN repeat('s', i % 130) END, i % 50, repeat(md5(i::text), 80), repeat('compressed ', 600 + i % 9), (SELECT string_agg(md5((i * j)::text), repeat('-', 40)) FROM generate_series(1, 90) j), ARRAY[i, NULL, i] FROM generate_series(1, 900) i;
VACUUM ANALYZE stored;
UPDATE stored SET a = upper(a) WHERE i % 90 = 3;
DELETE FROM stored WHERE i % 100 = 7;
SELECT count(*) FILTER (WHERE pg_column_size(b) = 2560) AS out_of_line, count(*) FILTER (WHERE pg_column_size(c) < 200) AS compressed, count(*) FILTER (WHERE pg_column_size(d) BETWEEN 1000 AND 6000) AS both FROM stored;
CREATE TABLE stored_queries AS SELECT * FROM (VALUES
    ('SELECT DISTINCT ON (g) * FROM stored ORDER BY g, i'), ('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY i DESC) AS rn FROM stored) s WHERE rn <= 3'), ('SELECT * FROM (SELECT *, rank() OVER (PARTITION BY left(a, 1) ORDER BY c, i) AS rn FROM stored) s WHERE rn <= 40'),
    ('SELECT * FROM stored ORDER BY i DESC LIMIT 70'), ('SELECT length(b), a, upper(d) FROM stored ORDER BY d, i LIMIT 70'), ('SELECT DISTINCT ON (g) g, array_append(e, g), b || c, i FROM stored ORDER BY g, i DESC'), ('SELECT DISTINCT ON (s.g) s, n.name FROM stored s JOIN names n ON id = g ORDER BY s.g, s.i')) t(query);
SELECT query, c.* FROM stored_queries, pg_temp.check(query) c;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET mgpu.executor = cpu;
SET mgpu.enable_threads = off;
SELECT query, c.*, d.* FROM stored_queries, pg_temp.check(query) c, pg_temp.counted(query) d;
-- wide keys: memory is looked at before many rows are there
SELECT (pg_temp.counts_of('SELECT DISTINCT ON (c, i) i FROM stored ORDER BY c, i', 'MgpuTop') ->> 'Peak Memory Usage')::int < 6000 AS small;
SET mgpu.enable_columns = off;
SELECT query, c.*, d.* FROM stored_queries, pg_temp.check(query) c, pg_temp.counted(query) d;
RESET mgpu.executor;
RESET mgpu.enable_threads;
RESET mgpu.enable_columns;
RESET work_mem;
RESET hash_mem_multiplier;
-- no memory is left behind by values that are fetched, decompressed or flattened
SELECT (SELECT max(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'ExecutorState') < 2000000 AS small, i FROM (SELECT i FROM stored ORDER BY c, i LIMIT 1) s;
SELECT (SELECT max(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'ExecutorState') < 2000000 AS small, cardinality(a) FROM (SELECT array_append(array_fill(i, ARRAY[2000]), i) AS a FROM stored ORDER BY i LIMIT 1) s;
CREATE TABLE kept AS SELECT DISTINCT ON (g) * FROM stored ORDER BY g, i;
TRUNCATE stored;
SELECT count(*), sum(length(a)), sum(length(b)), sum(length(c)), sum(length(d)) FROM kept;
-- columns that are no keys are found for few rows: in partitions with columns in other places, on more pages than are pinned at a time
CREATE TABLE parts (g int, v int, a text, b text, c int8, at date) PARTITION BY RANGE (v);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (700);
CREATE TABLE parts_2 (c int8, gone text, at date, a text, v int, gone_too int, b text, g int);
ALTER TABLE parts_2 DROP gone, DROP gone_too;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (700) TO (2000);
INSERT INTO parts SELECT i % 41, i * 7919 % 1999, CASE WHEN i % 5 > 0 THEN repeat(chr(97 + i % 26), 250) END, nullif('b' || i, 'b77'), nullif(i * 1000000007::int8, 3000000021), '2020-01-01'::date + i FROM generate_series(0, 1998) i;
ALTER TABLE parts ADD d int DEFAULT 7, ADD e text DEFAULT 'eight';
INSERT INTO parts SELECT i % 41, i, 'new', NULL, i, '2020-01-01'::date + i, NULL, i FROM generate_series(100, 1500, 100) i;
ANALYZE parts;
SELECT query, c.* FROM (VALUES
    ('SELECT * FROM parts ORDER BY v, at, a LIMIT 20'), ('SELECT * FROM parts ORDER BY at DESC, v, d LIMIT 20'), ('SELECT * FROM parts ORDER BY e DESC, b, v LIMIT 300'), ('SELECT c, c + 1, length(a), a, at FROM parts ORDER BY at DESC, v, a LIMIT 9'),
    ('SELECT DISTINCT ON (g) *, a, at AS also FROM parts ORDER BY g, v DESC, d'), ('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY at, a) AS rn FROM parts) s WHERE rn <= 2'), ('SELECT * FROM (SELECT *, rank() OVER (PARTITION BY d ORDER BY v) AS rn FROM parts) s WHERE rn <= 9'),
    ('SELECT * FROM parts WHERE a IS NOT NULL AND c > 5 ORDER BY v, at LIMIT 20'), ('SELECT * FROM parts WHERE a LIKE ''c%'' ORDER BY at DESC LIMIT 20'), ('SELECT * FROM parts WHERE a IS NULL ORDER BY v LIMIT 20'), ('SELECT * FROM parts_2 ORDER BY v, at, d LIMIT 1200'),
    ('SELECT v, (SELECT p FROM parts p WHERE p.v < q.v ORDER BY p.v DESC, p.at LIMIT 1) FROM parts q WHERE q.v % 200 = 1')) t(query), pg_temp.check(query) c;
-- prepared, with parameters
PREPARE first_of (int, int) AS SELECT i, rn FROM (SELECT i, row_number() OVER (PARTITION BY h ORDER BY v, i) AS rn FROM ranked WHERE g = $1) s WHERE rn <= $2 ORDER BY i;
EXECUTE first_of (3, 1);
EXECUTE first_of (4, 2);
SET plan_cache_mode = force_generic_plan;
EXECUTE first_of (3, 1);
RESET plan_cache_mode;
-- what EXPLAIN shows
CREATE FUNCTION pg_temp.shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE query LOOP
        RETURN NEXT regexp_replace(line, '(Pages Read|Not All-Visible|Memory Usage|time|Disk Usage): \d+', '\1: N');
    END LOOP;
END
$$;
SELECT pg_temp.shown('EXPLAIN (COSTS off) SELECT * FROM (SELECT i, t, rank() OVER (PARTITION BY g, h ORDER BY v DESC, t NULLS FIRST, w DESC NULLS LAST) AS rn FROM ranked) s WHERE rn = 2');
SELECT pg_temp.shown('EXPLAIN (COSTS off) SELECT DISTINCT ON (g) g, i FROM ranked ORDER BY g, v');
SELECT pg_temp.shown('EXPLAIN (COSTS off) SELECT i FROM ranked ORDER BY v LIMIT 5 OFFSET 2');
SELECT pg_temp.shown('EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off, FORMAT json) SELECT DISTINCT ON (g) g, i FROM ranked') ~ '"Partitions": 50' AS has_partitions;
-- who may not execute the function
CREATE ROLE ranked_user;
GRANT SELECT ON ranked TO ranked_user;
REVOKE EXECUTE ON FUNCTION rank() FROM public;
SET ROLE ranked_user;
SELECT * FROM (SELECT i, rank() OVER (ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3;
RESET ROLE;
GRANT EXECUTE ON FUNCTION rank() TO public;
-- or the equality of partition keys
REVOKE EXECUTE ON FUNCTION int2eq(int2, int2) FROM public;
SET ROLE ranked_user;
SELECT DISTINCT ON (h) h, i FROM ranked ORDER BY h, i;
SET mgpu.enable_top = off;
SELECT DISTINCT ON (h) h, i FROM ranked ORDER BY h, i;
RESET mgpu.enable_top;
RESET ROLE;
GRANT EXECUTE ON FUNCTION int2eq(int2, int2) TO public;
-- settings
SET mgpu.report_declined = on;
SET mgpu.enable_sort = off;
SET mgpu.enable_top = off;
SELECT DISTINCT ON (h) h FROM ranked WHERE i = 1;
SELECT * FROM (SELECT i, rank() OVER (ORDER BY i) AS rn FROM ranked) s WHERE rn <= 1;
SET mgpu.enable_top = on;
SELECT * FROM (SELECT i, count(*) OVER (PARTITION BY g ORDER BY i) AS rn FROM ranked) s WHERE rn <= 1 AND i < 2;
RESET mgpu.report_declined;
RESET mgpu.enable_sort;
DO $$ BEGIN EXECUTE 'EXPLAIN (VERBOSE) SELECT DISTINCT k FROM (SELECT row_number() OVER (PARTITION BY g ORDER BY v) AS k FROM ranked) s WHERE k <= 3'; END $$;
-- PostgreSQL stops early where an index has the order
CREATE INDEX ON ranked (i);
SELECT pg_temp.plan_of('SELECT * FROM (SELECT i, row_number() OVER (ORDER BY i) AS rn FROM ranked) s WHERE rn <= 3') ~ 'MgpuTop' AS has_node, pg_temp.plan_of('SELECT i FROM ranked ORDER BY i LIMIT 3') ~ 'MgpuTop' AS has_node;
DROP OWNED BY ranked_user;
DROP ROLE ranked_user;
DROP TABLE ranked, names, stored, stored_queries, kept, parts;
DROP TYPE ranked_mood, ranked_pair;
DROP COLLATION ranked_any_case;
