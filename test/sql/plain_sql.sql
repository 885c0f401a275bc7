--
-- Plain SQL by MgpuGroup: PostgreSQL's own aggregates, keys of any type, DISTINCT
--
-- A query's answer is PostgreSQL's, to the last digit, and so is its error.
LOAD 'mgpu_pg';
\pset format unaligned
SET max_parallel_workers_per_gather = 0;
SET mgpu.enable_scan = off; -- it has a test of its own, and would find rows for these nodes
SET jit = off; -- the costs of what is disabled would ask for it
CREATE TABLE plain AS
SELECT i, nullif(i * 7919 % 50, 7) AS g, i % 3 AS h, nullif(i * 7919 % 307, 5) AS v, (i * 69621::bigint % 1000003 - 500000) * 8000000000 AS w,
       CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN -0.0 WHEN 2 THEN 0 WHEN 3 THEN 'Infinity' WHEN 4 THEN NULL ELSE (i * 31 % 97) / 8.0 END::float8 AS f,
       (i * 31 % 97) * 0.1::float8 AS r, (i % 5 || left('.0000', i % 4))::numeric AS n, nullif(chr(97 + i % 26) || i * 31 % 11, 'c4') AS t, substr('aAbB', i % 4 + 1, 1) AS c,
       '2024-01-01'::timestamp + i * interval '5 hours' AS at, make_interval(days => i % 45, hours => i % 50) AS span, md5((i % 60)::text)::uuid AS u
FROM generate_series(1, 2000) i;
CREATE TABLE names (id int PRIMARY KEY, name text, size numeric);
INSERT INTO names SELECT i, 'n' || i % 10, i / 4.0 FROM generate_series(0, 60) i;
ANALYZE plain, names;
CREATE COLLATION plain_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE plain_mood AS ENUM ('low', 'fair', 'high');
CREATE DOMAIN plain_small AS int CHECK (VALUE < 100);
CREATE TYPE plain_pair AS (a numeric, b text);
CREATE AGGREGATE plain_largest (int4) (SFUNC = int4larger, STYPE = int4);
CREATE AGGREGATE plain_gathered (anycompatible) (SFUNC = array_append, STYPE = anycompatiblearray, INITCOND = '{}');
CREATE FUNCTION plain_add(int8, int4) RETURNS int8 LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 7) + coalesce($2, 1)';
CREATE AGGREGATE plain_sum (int4) (SFUNC = plain_add, STYPE = int8);
-- whether a query's plan has the node; its number of rows, or its error; whether PostgreSQL's nodes give the same
\set ECHO none
\i test/plan_check.sql
CREATE FUNCTION pg_temp.check(query text, setting text DEFAULT 'force', OUT node boolean, OUT rows text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    ours text = pg_temp.answer(query, 'mgpu.enable_group', setting);
BEGIN
    -- PostgreSQL's side hashes where it can, and so keeps the order in which rows arrive
    SET LOCAL enable_sort = off;
    same = ours = pg_temp.answer(query, 'mgpu.enable_group', 'off');
    SET LOCAL enable_sort = on;
    PERFORM set_config('mgpu.enable_group', setting, true);
    node = pg_temp.plan_of(query) ~ 'MgpuGroup';
    rows = split_part(ours, ' ', 1);
END
$$;
-- the node's entries of a plan, without what differs between versions
CREATE FUNCTION pg_temp.node_in(format text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text = '';
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, FORMAT %s) %s', format, query) LOOP
        plan = concat(plan, line, ' ');
    END LOOP;
    RETURN regexp_replace(substring(plan, 'MgpuGroup.*?(Group.Key.*?Aggregates.*?)\s(?:->|\S*Plans)'), '\s+', ' ', 'g');
END
$$;
CREATE FUNCTION pg_temp.counted(query text, OUT groups int, OUT method text, OUT key_form text, OUT spilled boolean) LANGUAGE sql AS $$
    SELECT (plan ->> 'Groups')::int, plan ->> 'Method', plan ->> 'Key Form', plan ? 'Spill Partitions' FROM pg_temp.counts_of(query, 'MgpuGroup') plan
$$;
\set ECHO all
-- what aggregates mean
SELECT what, c.* FROM (VALUES
    ('percentile_cont(0.3) WITHIN GROUP (ORDER BY v DESC), percentile_cont(0.3) WITHIN GROUP (ORDER BY v DESC NULLS LAST), percentile_cont(0.3) WITHIN GROUP (ORDER BY v)'),
    ('percentile_cont(''{0.3,NULL,0,1,0.3}''::float8[]) WITHIN GROUP (ORDER BY w), percentile_cont(''{{0.1,0.2},{0.3,0.9}}''::float8[]) WITHIN GROUP (ORDER BY v::numeric)'),
    ('percentile_cont(0.3) WITHIN GROUP (ORDER BY f), percentile_cont(0.3) WITHIN GROUP (ORDER BY f DESC), percentile_cont(0.5) WITHIN GROUP (ORDER BY f::float4), percentile_cont(0.3) WITHIN GROUP (ORDER BY v::int2)'),
    ('percentile_cont(0.3) WITHIN GROUP (ORDER BY (v % 100)::plain_small), percentile_cont(''{0.3,0.9}''::float8[]) WITHIN GROUP (ORDER BY (v % 100)::plain_small DESC), array_agg((v % 100)::plain_small ORDER BY (v % 100)::plain_small)'),
    ('percentile_cont(0.3) WITHIN GROUP (ORDER BY span), percentile_cont(0.3) WITHIN GROUP (ORDER BY span DESC), percentile_cont(''{0.3,NULL}''::float8[]) WITHIN GROUP (ORDER BY at - ''2024-02-01'')'),
    ('percentile_disc(0.3) WITHIN GROUP (ORDER BY at DESC), percentile_disc(''{0,0.5}''::float8[]) WITHIN GROUP (ORDER BY at::timestamptz), percentile_disc(0.4) WITHIN GROUP (ORDER BY at::date)'),
    ('percentile_disc(0.3) WITHIN GROUP (ORDER BY t), percentile_disc(''{0.3,0.9}''::float8[]) WITHIN GROUP (ORDER BY t COLLATE "en-x-icu" DESC), percentile_disc(0.1) WITHIN GROUP (ORDER BY u)'),
    ('percentile_disc(0) WITHIN GROUP (ORDER BY f), percentile_disc(1) WITHIN GROUP (ORDER BY f), trim_scale(percentile_disc(0.4) WITHIN GROUP (ORDER BY n)), percentile_disc(0.5) WITHIN GROUP (ORDER BY (v, h))'),
    ('percentile_disc(NULL::float8) WITHIN GROUP (ORDER BY v), percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY v), percentile_cont(0.5) WITHIN GROUP (ORDER BY NULL::float8)'),
    ('percentile_disc(1.5) WITHIN GROUP (ORDER BY v)'), ('percentile_cont(''NaN'') WITHIN GROUP (ORDER BY v)'), ('percentile_cont(g / 100.0) WITHIN GROUP (ORDER BY v)'), ('rank(100) WITHIN GROUP (ORDER BY v)'),
    ('mode() WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY v DESC), mode() WITHIN GROUP (ORDER BY t), mode() WITHIN GROUP (ORDER BY f) + 0, trim_scale(mode() WITHIN GROUP (ORDER BY n))'),
    ('count(DISTINCT v), count(DISTINCT f), count(DISTINCT f::float4), count(DISTINCT n), count(DISTINCT t), count(DISTINCT span), count(DISTINCT u), count(DISTINCT h > 0), count(DISTINCT v::int2), count(DISTINCT at)'),
    ('count(DISTINCT c), count(DISTINCT c COLLATE plain_any_case), lower(mode() WITHIN GROUP (ORDER BY c COLLATE plain_any_case)), count(DISTINCT (c || repeat('' '', h))::bpchar), count(DISTINCT c || repeat('' '', h))'),
    ('count(DISTINCT NULL::int), count(DISTINCT 1), count(DISTINCT ARRAY[h, 1]), count(DISTINCT jsonb_build_object(''n'', n))'), ('count(DISTINCT (v, h))'),
    ('sum(DISTINCT v), avg(DISTINCT v), trim_scale(sum(DISTINCT n)), array_agg(DISTINCT v), string_agg(DISTINCT t, '',''), array_agg(DISTINCT v ORDER BY v DESC)'),
    ('count(*), count(1), count(NULL::int), count(v), sum(2), avg(3), min(4), max(5::int8), sum(NULL::int), min(NULL::date), max(''x''::text), string_agg(''a'', t)'),
    ('array_agg(v), array_agg(t), array_agg(n), array_agg(f), array_agg(u), array_agg(span), array_agg(ARRAY[v, h]), array_agg(NULL::int), array_agg(1), array_agg(c::"char")'),
    ('array_agg(v ORDER BY i DESC), array_agg(v ORDER BY t, i), array_agg(v ORDER BY t DESC NULLS LAST, h, i), array_agg(t ORDER BY t), array_agg(f ORDER BY f DESC, i), array_agg(c ORDER BY c COLLATE plain_any_case, i)'),
    ('string_agg(t, '',''), string_agg(t, h::text), string_agg(t, NULL), string_agg(t::bytea, ''\x00'')'), ('string_agg(t, '','' ORDER BY at DESC), string_agg(c, t ORDER BY u, i)'), ('array_agg(CASE WHEN h = 1 THEN ARRAY[1] ELSE ARRAY[1, 2] END)'),
    ('sum(v), avg(v), min(v), max(v), sum(w), avg(w), min(w), max(w), sum(h::int2), avg(h::int2), min(h::int2), max(h::int2), pg_typeof(sum(v)), pg_typeof(sum(w)), pg_typeof(avg(w))'),
    ('sum(r), avg(r), stddev(r), sum(r::float4), corr(r, v), regr_slope(r, v), sum(f), avg(f)'), ('sum(n), avg(n), min(n), max(n), stddev(n), variance(v), covar_pop(v, h)'),
    ('min(f), max(f), min(f::float4), max(f::float4), min(t), max(t), min(t COLLATE "en-x-icu"), min(c COLLATE plain_any_case), max(c COLLATE plain_any_case), min((c || repeat('' '', h))::bpchar)'),
    ('min(at), max(at), min(at::date), max(at::date), min(at::time), max(at::timestamptz), min(at::time::timetz), min(span), max(span), sum(span), avg(span), min(v::money), sum(v::money), max(h::oid), min(inet ''10.0.0.0'' + v)'),
    ('bool_and(v > 3), bool_or(v < 3), every(h > 0), bit_and(v), bit_or(h::int2), bit_xor(w), jsonb_agg(v), json_agg(t), jsonb_object_agg(i, v), json_object_agg(i, t), range_agg(int4range(v, v + 5)), range_intersect_agg(int4range(1, v + 2))'),
    ('plain_largest(v), plain_largest(v) FILTER (WHERE v < 0), plain_gathered(v), plain_gathered(t)'), ('plain_gathered(v ORDER BY t, i), plain_largest(DISTINCT v)'), ('plain_sum(v)'),
    ('sum(w * 1000), sum(9223372036854775807 - i), sum(-9223372036854775808 + i), avg(9223372036854775807 - i)'), ('sum(v::int8 * 4611686018427387904)'), ('sum(1.7e308::float8 + 0 * v)'), ('sum(3e38::float4)'), ('stddev(3e200::float8 * i)'),
    ('min(1.7e308::float8 + 0 * v), max(1.7e308::float8)'), ('min(3e38::float4), avg(3e38::float4), stddev(3e38::float4)'), ('max(3e38::float4), sum(3e38::float4)'), ('avg(1.7e308::float8)'),
    ('sum(100 / v)'), ('max(t::int)')) t(what),
    pg_temp.check(format('SELECT g, %s FROM plain GROUP BY g', what)) c;
-- FILTER: nobody computes what it leaves out
SELECT what, c.* FROM (VALUES
    ('sum(100 / v) FILTER (WHERE v <> 0), avg(100 / v) FILTER (WHERE v <> 0), array_agg(100 / v) FILTER (WHERE v <> 0)'), ('count(DISTINCT 100 / v) FILTER (WHERE v <> 0), string_agg((100 / v)::text, (10 / v)::text ORDER BY 5 / v, i) FILTER (WHERE v <> 0)'),
    ('percentile_cont(0.5) WITHIN GROUP (ORDER BY 100 / v) FILTER (WHERE v <> 0), mode() WITHIN GROUP (ORDER BY (100 / v)::float8) FILTER (WHERE v <> 0)'), ('max(substr(t, 2)::int) FILTER (WHERE t ~ ''^b''), min(t::int) FILTER (WHERE false)'),
    ('sum(100 / v) FILTER (WHERE v > 0), sum(100 / v) FILTER (WHERE h > 0)'), ('sum(v) FILTER (WHERE 100 / v > 0)'), ('sum(v) FILTER (WHERE random() < 2)'), ('sum(v) FILTER (WHERE v IN (SELECT id FROM names))'), ('sum(v) FILTER (WHERE v > (SELECT avg(id) FROM names))'),
    ('array_agg(v) FILTER (WHERE i < 0), count(*) FILTER (WHERE NULL), sum(v) FILTER (WHERE false), count(DISTINCT v) FILTER (WHERE h = 1), count(DISTINCT v) FILTER (WHERE h = 2), mode() WITHIN GROUP (ORDER BY v) FILTER (WHERE i < 0)')) t(what),
    pg_temp.check(format('SELECT g, %s FROM plain GROUP BY g', what)) c;
-- keys
SELECT key, c.* FROM (VALUES
    ('g'), ('g, h'), ('g, h, v % 3'), ('g, h, v % 3, f'), ('h::int2, h::"char"'), ('w, h'), ('f'), ('f::float4'), ('-f, g'), ('n'), ('n, t'), ('f::numeric'), ('v::money'), ('h > 1, v IS NULL'), ('i % 2, i % 3, i % 5, i % 7, i % 11'),
    ('date_trunc(''month'', at)'), ('date_trunc(''week'', at), g'), ('at::date, h'), ('extract(dow FROM at)'), ('date_bin(''3 days'', at, ''2024-01-01'')'), ('at::timestamptz'), ('at::time::timetz'), ('span'), ('make_interval(months => h, days => -30 * h)'),
    ('t'), ('upper(t)'), ('t COLLATE "C", h'), ('t COLLATE "en-x-icu"'), ('c COLLATE plain_any_case'), ('(c || h) COLLATE plain_any_case, g'), ('t::varchar(1)'), ('t::name'), ('left(t, 0)'), ('md5(t) || repeat(t, 2000)'), ('g::text || h'), ('coalesce(g, -1)'),
    ('u, g'), ('decode(md5(h::text), ''hex'')'), ('t::bytea'), ('(c || repeat('' '', h))::bpchar'), ('(c || repeat('' '', h))::char(3)'), ('inet ''10.0.0.0'' + v'), ('macaddr(''08:00:2b:01:02:0'' || h)'), ('h::oid'), ('tableoid'),
    ('jsonb_build_object(''a'', h, ''b'', n)'), ('ARRAY[h, v % 2]'), ('int4range(h, h + 3)'), ('h::bit(3)::varbit'), ('(ARRAY[''low'', ''fair'', ''high''])[h + 1]::plain_mood'), ('h::plain_small'), ('ROW(n, c)::plain_pair'), ('NULLIF(h, h)'),
    ('(h, g)'), ('g + 0 * random()::int'), ('(SELECT g)'), ('to_tsvector(''simple'', c)')) t(key),
    pg_temp.check(format('SELECT %1$s, count(*), sum(v), min(i), sum(i * i) FROM plain GROUP BY %1$s', key)) c;
SET mgpu.enable_group = force;
-- rows and groups are named by the first of equal values
SELECT f, count(*), array_agg(x) FROM (VALUES ('-0'::float8, 1), ('NaN', 3), ('0', 2), ('-NaN', 1), (NULL, 7), (NULL, 8)) t(f, x) GROUP BY f ORDER BY f;
SELECT DISTINCT n, f FROM (VALUES (1.0, '0'::float4), (1.00, '-0'), (1, '0'), (NULL, '-0'), (NULL, '0')) t(n, f) ORDER BY 1;
SELECT c, count(*) FROM (VALUES ('b' COLLATE plain_any_case), ('A'), ('B'), ('a'), ('b')) t(c) GROUP BY c ORDER BY c;
SELECT min(n), max(n), mode() WITHIN GROUP (ORDER BY n), count(DISTINCT n), min(c), max(c) FROM (VALUES (1, 1.0, 'a' COLLATE plain_any_case), (1, 1.00, 'A'), (1, 2.000, 'B'), (1, 2.0, 'b')) t(g, n, c) GROUP BY g;
SELECT g, count(x), count(DISTINCT x), array_agg(x), array_agg(x ORDER BY x), sum(x), mode() WITHIN GROUP (ORDER BY x), string_agg(x::text, '+') FROM (VALUES (1, 2), (1, NULL), (1, 2), (2, NULL)) t(g, x) GROUP BY g ORDER BY g;
-- DISTINCT, and aggregates without GROUP BY
SELECT query, c.* FROM (VALUES
    ('SELECT DISTINCT g FROM plain'), ('SELECT DISTINCT g, h FROM plain ORDER BY h, g LIMIT 5'), ('SELECT DISTINCT t, n FROM plain'), ('SELECT DISTINCT f FROM plain'), ('SELECT DISTINCT c COLLATE plain_any_case FROM plain'), ('SELECT DISTINCT * FROM plain'),
    ('SELECT DISTINCT plain FROM plain'), ('SELECT DISTINCT g, sum(v) FROM plain GROUP BY g, h'), ('SELECT DISTINCT array_agg(v ORDER BY v) FROM plain GROUP BY g'), ('SELECT DISTINCT h, 1 FROM plain WHERE h = 2'), ('SELECT DISTINCT NULL::int, 2 FROM plain'),
    ('SELECT DISTINCT lower(c), upper(t), g FROM plain WHERE lower(c) = lower(t) OR g = 3'), ('SELECT DISTINCT lower(c), lower(left(t, 1)) FROM plain WHERE lower(c) = lower(left(t, 1))'), ('SELECT DISTINCT on_hand FROM (SELECT g + h AS on_hand FROM plain WHERE i < 0) x'),
    ('SELECT DISTINCT ON (g) g, v FROM plain ORDER BY g, i'), ('SELECT DISTINCT generate_series(1, 3), h FROM plain'), ('SELECT DISTINCT g + 0 * random() FROM plain'), ('SELECT DISTINCT (SELECT g), h FROM plain'), ('SELECT DISTINCT count(*) OVER (PARTITION BY g) FROM plain'),
    ('SELECT count(DISTINCT v), percentile_cont(0.5) WITHIN GROUP (ORDER BY w), sum(v), avg(w), mode() WITHIN GROUP (ORDER BY t) FROM plain'), ('SELECT array_agg(v ORDER BY v, i), string_agg(t, '','' ORDER BY t, i) FROM plain'), ('SELECT count(DISTINCT v) + count(*), (SELECT 7) FROM plain'),
    ('SELECT count(DISTINCT v), array_agg(v ORDER BY v), mode() WITHIN GROUP (ORDER BY v), percentile_cont(0.5) WITHIN GROUP (ORDER BY v), sum(v), count(*), min(t), bool_and(v > 1), string_agg(t, ''''), count(DISTINCT t) FILTER (WHERE h = 1) FROM plain WHERE i < 0'),
    -- of few rows without NULLs, one aggregate sorts what another reads in another order
    ('SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY -i), array_agg(-i ORDER BY i), plain_gathered(DISTINCT -i) FROM plain WHERE i % 3 = 0'), ('SELECT count(DISTINCT -i), array_agg(-i ORDER BY i) FROM plain WHERE i > 5'),
    ('SELECT count(DISTINCT v) FROM plain WHERE false'), ('SELECT count(DISTINCT v) FROM plain HAVING count(*) > 9999'), ('SELECT 1 FROM plain HAVING count(DISTINCT v) > 3'), ('SELECT count(DISTINCT 5) FROM plain'), ('SELECT sum(v), count(*) FROM plain'), ('SELECT max(v) FROM plain'),
    -- constants as keys: no group without rows
    ('SELECT 5, count(DISTINCT v) FROM plain WHERE i < 0 GROUP BY 1'), ('SELECT h, count(DISTINCT v) FROM plain WHERE h = 2 GROUP BY h'), ('SELECT h, count(DISTINCT v) FROM plain WHERE h = 7 GROUP BY h'), ('SELECT lower(c), count(DISTINCT v) FROM plain WHERE lower(c) = ''x'' GROUP BY lower(c)')) t(query),
    pg_temp.check(query) c;
-- values that are stored compressed or out of line
CREATE TABLE stored (i int, g int, packed text, apart text, a int[], b bytea, j jsonb);
ALTER TABLE stored ALTER apart SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL;
INSERT INTO stored SELECT i, i % 7, repeat('x' || i % 5, 20000), (SELECT string_agg(md5((i % 6 + k)::text), '') FROM generate_series(1, 200) k), ARRAY(SELECT k + i % 4 FROM generate_series(1, 3000) k),
       decode(repeat(md5((i % 3)::text), 300), 'hex'), jsonb_build_object('a', repeat('y' || i % 2, 9000)) FROM generate_series(1, 60) i;
SELECT query, c.* FROM (VALUES ('SELECT packed, count(*), sum(i) FROM stored GROUP BY packed'), ('SELECT apart, a, b, j, count(*) FROM stored GROUP BY apart, a, b, j'), ('SELECT DISTINCT packed, apart, a, b, j FROM stored'), ('SELECT stored, count(*) FROM stored GROUP BY stored'),
    ('SELECT g, min(packed), max(apart), max(a), string_agg(b, ''\x00''), jsonb_agg(j), array_agg(packed), array_agg(a) FROM stored GROUP BY g'), ('SELECT g, array_agg(apart ORDER BY packed, i), array_agg(stored ORDER BY i), string_agg(DISTINCT packed, apart) FROM stored GROUP BY g'),
    ('SELECT g, count(DISTINCT packed), count(DISTINCT a), count(DISTINCT j), mode() WITHIN GROUP (ORDER BY packed), percentile_disc(0.5) WITHIN GROUP (ORDER BY apart) FROM stored GROUP BY g')) t(query), pg_temp.check(query) c;
DROP TABLE stored;
-- the structure of queries
CREATE TABLE plain_parts (g int, h int, v int) PARTITION BY LIST (h);
CREATE TABLE plain_part0 PARTITION OF plain_parts FOR VALUES IN (0);
CREATE TABLE plain_part1 PARTITION OF plain_parts DEFAULT PARTITION BY RANGE (v);
CREATE TABLE plain_part1a PARTITION OF plain_part1 FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE plain_part1b PARTITION OF plain_part1 DEFAULT;
INSERT INTO plain_parts SELECT g, h, v FROM plain;
ANALYZE plain_parts;
CREATE VIEW plain_queries AS SELECT query FROM (VALUES
    ('SELECT g, sum(v), sum(v) + 1, avg(v), stddev(r), variance(r) FROM plain GROUP BY g HAVING sum(v) > 100 AND avg(v) < 200 ORDER BY sum(v), stddev(r)'), ('SELECT g FROM plain GROUP BY g HAVING percentile_cont(0.5) WITHIN GROUP (ORDER BY v) > 150 ORDER BY count(DISTINCT t), g LIMIT 30'),
    ('SELECT CASE WHEN count(*) > 5 THEN round(avg(v), 2)::text ELSE ''few'' END || coalesce(g::text, ''-'') FROM plain GROUP BY g'), ('SELECT g + h + 1, sum(v) FROM plain GROUP BY g, h'), ('SELECT at::date AS day, count(*) FROM plain GROUP BY day HAVING at::date > ''2024-06-01'' ORDER BY day DESC'),
    -- of outer levels, volatile, returning sets, in sets of groups
    ('SELECT g, (SELECT count(p.v) FROM (VALUES (1)) x) FROM plain p GROUP BY g'), ('SELECT g FROM plain p GROUP BY g HAVING EXISTS (SELECT FROM names WHERE id = count(p.v) / 2)'), ('SELECT g, (SELECT array_agg(x ORDER BY x) FROM unnest(array_agg(p.v)) x) FROM plain p GROUP BY g'),
    ('SELECT g, sum(v * (random() < 2)::int) FROM plain GROUP BY g'), ('SELECT g, sum(v) + (random() < 2)::int FROM plain GROUP BY g'), ('SELECT g, generate_series(1, 2), sum(v) FROM plain GROUP BY g'), ('SELECT g, unnest(array_agg(v ORDER BY v)) FROM plain GROUP BY g'),
    ('SELECT g, grouping(g), sum(v) FROM plain GROUP BY g'), ('SELECT g, sum(v) FROM plain GROUP BY GROUPING SETS ((g))'),
    -- partitions
    ('SELECT g, sum(v) FROM plain_parts GROUP BY g'), ('SELECT h, sum(v), count(DISTINCT g) FROM plain_parts GROUP BY h'), ('SELECT h, g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM plain_parts GROUP BY h, g'), ('SELECT DISTINCT h, g FROM plain_parts'),
    ('SELECT a.h, count(*), sum(a.v), max(b.g) FROM plain_parts a JOIN plain_parts b ON a.h = b.h AND a.v = b.v AND a.g = b.g GROUP BY a.h'), ('SELECT tableoid::regclass, count(DISTINCT g) FROM plain_parts GROUP BY 1'),
    -- subqueries beside, inside and around
    ('SELECT g, sum((SELECT v)) FROM plain GROUP BY g'), ('SELECT g, sum(v + (SELECT 1)), (SELECT max(id) FROM names) FROM plain WHERE v > (SELECT avg(v) FROM plain) GROUP BY g HAVING sum(v) > (SELECT avg(id) FROM names)'), ('SELECT g, (SELECT name FROM names WHERE id = g) FROM plain GROUP BY g'),
    ('SELECT id, (SELECT count(DISTINCT v) FROM plain p WHERE p.g = n.id) FROM names n'), ('SELECT id, (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v + n.id) FROM plain p WHERE p.i < 90) FROM names n'), ('SELECT x, count(*) FROM (SELECT g, count(DISTINCT v) AS x FROM plain GROUP BY g) y GROUP BY x'),
    ('SELECT id, x.* FROM names n, LATERAL (SELECT h, sum(v + n.id), count(*) FILTER (WHERE v > n.id), string_agg(t, n.name ORDER BY i) FROM plain p WHERE p.i % 61 = n.id GROUP BY h HAVING sum(v) > n.id * 10) x'), ('SELECT id, x.* FROM names n, LATERAL (SELECT DISTINCT h, n.id + g % 2 FROM plain p WHERE i < 90) x'),
    ('SELECT id, x.* FROM names n LEFT JOIN LATERAL (SELECT (h + n.id) % 2 AS k, mode() WITHIN GROUP (ORDER BY v) FROM plain p WHERE i < n.id GROUP BY 1) x ON x.k < 1'), ('SELECT id, x.* FROM names n, LATERAL (SELECT percentile_cont(n.id / 100.0) WITHIN GROUP (ORDER BY v) FROM plain WHERE i < 90 GROUP BY h) x'),
    ('SELECT g, sum(sum(v)) OVER (ORDER BY g), rank() OVER (ORDER BY sum(v)) FROM plain GROUP BY g'), ('SELECT g, sum(v) FROM plain GROUP BY g UNION SELECT h, sum(v) FROM plain GROUP BY h'),
    ('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20) SELECT n % 3, array_agg(n) FROM r GROUP BY 1'), ('WITH c AS MATERIALIZED (SELECT * FROM plain) SELECT a.g, sum(b.v) FROM c a JOIN c b USING (i) GROUP BY a.g'),
    -- joins, and columns that depend on a primary key
    ('SELECT n.id, n.name, n.size, sum(p.v) FROM names n JOIN plain p ON p.g = n.id GROUP BY n.id HAVING n.size > 3'), ('SELECT m, sum(p.v) FROM names m JOIN plain p ON p.g = m.id GROUP BY m.id'), ('SELECT id, sum(p.v), sum(n.id) FROM names n FULL JOIN (SELECT g AS id, v FROM plain) p USING (id) GROUP BY id'),
    ('SELECT n.name, sum(one), max(g1), count(*) FROM names n LEFT JOIN (SELECT g, coalesce(g, -1) AS g1, 1 AS one FROM plain WHERE v > 200) p ON p.g = n.id GROUP BY n.name, one'), ('SELECT a.h, sum(b.v) FROM plain a JOIN plain b USING (i) JOIN names n ON n.id = b.g JOIN names m USING (name) GROUP BY a.h'),
    -- rows as values
    ('SELECT (p).g, sum((p).v) FROM (SELECT p FROM plain p) x GROUP BY 1'), ('SELECT p.g, count(p), array_agg(p ORDER BY i) FROM plain p GROUP BY g'), ('SELECT g, array_agg((v, h) ORDER BY i) FROM plain GROUP BY g'), ('SELECT g, count(ctid), sum(v) FROM plain TABLESAMPLE SYSTEM (100) GROUP BY g')) q(query);
SELECT query, c.* FROM plain_queries, pg_temp.check(query) c;
SET geqo_threshold = 2;
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;
SELECT c.same, count(*) FROM plain_queries, unnest('{force,on}'::text[]) setting, pg_temp.check(query, setting) c WHERE query ~ 'JOIN|parts' GROUP BY c.same;
RESET enable_partitionwise_join;
RESET enable_partitionwise_aggregate;
RESET geqo_threshold;
-- with workers
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT c.same, count(*) FROM plain_queries, pg_temp.check(query) c WHERE query !~ 'stddev|TABLESAMPLE|names n' GROUP BY c.same;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
-- where an index gives the order, few rows are PostgreSQL's
CREATE INDEX plain_i ON plain (i);
SELECT query, c.* FROM (VALUES ('SELECT i, sum(v) FROM plain GROUP BY i LIMIT 3'), ('SELECT DISTINCT i FROM plain ORDER BY i LIMIT 3'), ('SELECT i, array_agg(v) FROM plain GROUP BY i ORDER BY i LIMIT 1')) t(query), pg_temp.check(query, 'on') c;
DROP INDEX plain_i;
-- statistics that are off by a thousand, and a GPU that would read the table has no hash table
CREATE TABLE grown (g int, h int, t text, v int) WITH (autovacuum_enabled = off);
INSERT INTO grown SELECT i, i, 'few', i FROM generate_series(1, 20) i;
ANALYZE grown;
INSERT INTO grown SELECT i / 3, i % 7, 'many ' || i % 9000, i % 1000 FROM generate_series(1, 20000) i;
SET work_mem = '64kB';
SET mgpu.executor = cpu;
SELECT query, c.*, e.* FROM (VALUES ('SELECT g, sum(v), count(*) FROM grown GROUP BY g'), ('SELECT t, array_agg(v ORDER BY v) FROM grown GROUP BY t'), ('SELECT g, h, count(DISTINCT t) FROM grown GROUP BY g, h'), ('SELECT DISTINCT t, h FROM grown'), ('SELECT h, string_agg(t, '''') FROM grown GROUP BY h'),
    ('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v), count(DISTINCT t) FROM grown')) t(query), pg_temp.check(query) c, pg_temp.counted(query) e;
RESET mgpu.executor;
RESET work_mem;
-- prepared: planned for values, and for any
PREPARE by_values (int, text, float8) AS SELECT h + $1 AS k, sum(v + $1), string_agg(t, $2 ORDER BY i), percentile_cont($3) WITHIN GROUP (ORDER BY v), count(*) FILTER (WHERE v > $1) FROM plain WHERE i <= $1 GROUP BY h + $1 HAVING count(*) > $1 / 10 ORDER BY 1;
SET plan_cache_mode = force_custom_plan;
EXECUTE by_values(10, '-', 0.5);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_values(10, '-', 0.5);
EXECUTE by_values(10, '-', 0.5);
EXECUTE by_values(5, NULL, NULL);
EXECUTE by_values(-1, '-', 9);
EXECUTE by_values(7, '-', 9);
ALTER TABLE names ADD COLUMN more int DEFAULT 4;
RESET plan_cache_mode;
CREATE FUNCTION pg_temp.median(part float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT sum(m) FROM (SELECT percentile_cont(part) WITHIN GROUP (ORDER BY v) AS m FROM plain WHERE g < 3 GROUP BY g) x); END $$;
SELECT count(DISTINCT pg_temp.median(0.5 + 0 * i)), round(min(pg_temp.median(i / 10.0))::numeric, 6) AS least FROM generate_series(1, 10) i;
-- cursors
BEGIN;
DECLARE back SCROLL CURSOR FOR SELECT h, count(DISTINCT v), sum(v) FROM plain GROUP BY h ORDER BY h;
FETCH 2 FROM back;
FETCH BACKWARD 1 FROM back;
FETCH ABSOLUTE -1 FROM back;
MOVE ABSOLUTE 0 FROM back;
FETCH ALL FROM back;
DECLARE again SCROLL CURSOR FOR SELECT DISTINCT h FROM plain;
MOVE ALL FROM again;
MOVE BACKWARD ALL FROM again;
DECLARE held CURSOR WITH HOLD FOR SELECT h, mode() WITHIN GROUP (ORDER BY t) FROM plain GROUP BY h ORDER BY h;
FETCH 1 FROM held;
COMMIT;
FETCH ALL FROM held;
CLOSE held;
-- statements that change data
WITH added AS (INSERT INTO grown SELECT i % 3, 9, 'new', i FROM generate_series(1, 9) i RETURNING *) SELECT g, sum(v), count(*) FROM added GROUP BY g ORDER BY g;
UPDATE names SET more = x.total FROM (SELECT g, count(DISTINCT v) AS total FROM plain GROUP BY g) x WHERE x.g = id;
DELETE FROM grown WHERE (g, h) IN (SELECT g, h FROM grown GROUP BY g, h HAVING count(*) = 1);
SELECT (SELECT count(*) FROM grown) AS grown, (SELECT sum(more) FROM names) AS more;
-- what is taken: values that are kept for their transition functions pay if they are few, or if the groups are many
SET mgpu.enable_group = on;
SET hash_mem_multiplier = 2; -- the default since 15
SELECT count(set_config(name, 'off', false)) < 2 AS joins_first FROM pg_settings WHERE name = 'enable_eager_aggregate'; -- since 19
CREATE TABLE plain_costs AS
SELECT i, i % 4 AS few, i % 5000 AS many, i + 0.25 AS n1, i + 0.5 AS n2, i + 0.75 AS n3, i * 2.5 AS n4, i * 3.5 AS n5, i * 4.5 AS n6, i * 5.5 AS n7 FROM generate_series(1, 20000) i;
ANALYZE plain_costs;
SELECT key, calls, source, pg_temp.plan_of(format('SELECT %s, %s FROM %s GROUP BY 1', key, what, source)) ~ 'MgpuGroup' AS node
FROM (VALUES ('few'), ('many')) k (key), (VALUES (1, 'jsonb_agg(n1)'), (7, 'jsonb_agg(n1), jsonb_agg(n2), jsonb_agg(n3), jsonb_agg(n4), jsonb_agg(n5), jsonb_agg(n6), jsonb_agg(n7)')) a (calls, what),
     (VALUES ('plain_costs'), ('plain_costs JOIN names ON id = few')) f (source) ORDER BY 1, 2, 3;
-- one column may have many functions, sums of numeric are folded, and numbers are copied at no cost
SELECT what, pg_temp.plan_of(format('SELECT few, %s FROM plain_costs GROUP BY 1', what)) ~ 'MgpuGroup' AS node
FROM (VALUES ('sum(n1), avg(n1), min(n1), max(n1), stddev(n1), var_pop(n1)'), ('sum(n1), sum(n2), sum(n3), sum(n4), sum(n5), sum(n6), sum(n7)'), ('sum(i + 1), sum(i + 2), sum(i + 3), sum(i + 4), sum(i + 5), sum(i + 6), sum(i + 7)')) a (what);
-- millions of groups are folded if rows do not fit in memory
BEGIN;
SET LOCAL work_mem = '100MB';
ALTER TABLE plain_costs ALTER i SET (n_distinct = -0.11);
ANALYZE plain_costs (i);
UPDATE pg_class SET reltuples = 1e7 WHERE relname = 'plain_costs';
EXPLAIN (COSTS OFF) SELECT i, count(n1) FROM plain_costs GROUP BY i;
SET LOCAL work_mem = '4GB';
EXPLAIN (COSTS OFF) SELECT i, count(n1) FROM plain_costs GROUP BY i;
ROLLBACK;
DROP TABLE plain_costs;
SET mgpu.enable_group = force;
-- EXPLAIN, of the CPU's plans
SET mgpu.executor = cpu;
SELECT format, pg_temp.node_in(format, 'SELECT g, date_trunc(''month'', at), sum(v), count(DISTINCT t) FILTER (WHERE h = 1), array_agg(v), string_agg(t, ''-'') FROM plain GROUP BY 1, 2') FROM unnest('{text,json,xml,yaml}'::text[]) format;
SELECT query, e.* FROM (VALUES ('SELECT h, count(DISTINCT v) FROM plain GROUP BY h'), ('SELECT w, count(DISTINCT v) FROM plain GROUP BY w'), ('SELECT h, g, v, count(DISTINCT w) FROM plain GROUP BY 1, 2, 3'), ('SELECT h, g, v, count(*) FROM plain GROUP BY 1, 2, 3'), ('SELECT DISTINCT t FROM plain'), ('SELECT count(DISTINCT v) FROM plain'), ('SELECT DISTINCT h FROM plain WHERE i < 0')) t(query), pg_temp.counted(query) e;
-- why there is no node
DO $$
DECLARE
    query text;
BEGIN
    SET LOCAL mgpu.report_declined = on;
    SET LOCAL mgpu.enable_group = on;
    SET LOCAL work_mem = '64kB';
    FOREACH query IN ARRAY ARRAY['SELECT generate_series(1, h), count(*) FROM plain GROUP BY h', 'SELECT sum(v) FROM plain', 'SELECT count(*) FROM plain GROUP BY ()', 'SELECT DISTINCT ON (g) g FROM plain',
        'SELECT g + random(), count(*) FROM plain GROUP BY 1', 'SELECT (g, h), count(*) FROM plain GROUP BY 1', 'SELECT to_tsvector(''simple'', c) FROM plain GROUP BY 1', 'SELECT g, count((g, h)) FROM plain GROUP BY g', 'SELECT g, (SELECT count(p.v)) FROM plain p GROUP BY g', 'SELECT g, sum((SELECT v)) FROM plain GROUP BY g',
        'SELECT g, percentile_cont(g / 99.0) WITHIN GROUP (ORDER BY v) FROM plain GROUP BY g', 'SELECT g, rank(3) WITHIN GROUP (ORDER BY v) FROM plain GROUP BY g', 'SELECT g, array_agg(v ORDER BY v USING ~<~) FROM (SELECT g, t AS v FROM plain) p GROUP BY g', 'SELECT g, mgpu_sort_agg_by(v, w) FROM plain GROUP BY g',
        'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY (v, h)) FROM plain GROUP BY g', 'SELECT count(DISTINCT v), count(DISTINCT t) FROM plain', 'SELECT DISTINCT g + random() FROM plain', 'SELECT x, count(*) FROM (VALUES (1), (2)) t(x) GROUP BY x', 'SELECT g, mode() WITHIN GROUP (ORDER BY v) FROM plain GROUP BY g'] LOOP
        RAISE NOTICE '%', query;
        PERFORM pg_temp.plan_of(query);
    END LOOP;
END
$$;
DROP VIEW plain_queries;
DROP TABLE plain, names, grown, plain_parts;
DROP AGGREGATE plain_largest(int4);
DROP AGGREGATE plain_gathered(anycompatible);
DROP AGGREGATE plain_sum(int4);
DROP FUNCTION plain_add;
DROP TYPE plain_mood, plain_pair;
DROP DOMAIN plain_small;
DROP COLLATION plain_any_case;
