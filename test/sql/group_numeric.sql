--
-- Sums, averages, minima and maxima of numeric by MgpuGroup
--
-- Answers are PostgreSQL's, digits and display scales included.
LOAD 'mgpu_pg';
\pset format unaligned
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE DOMAIN priced AS numeric(12,4) CHECK (VALUE > -1000);
CREATE DOMAIN priced_high AS priced;
CREATE TABLE numbers AS
SELECT i, nullif(i * 7919 % 50, 7) AS g, i % 3 AS h, i * 7919 % 3001 AS many,
       CASE WHEN i % 11 > 0 THEN ((i * 7919 % 100003 - 40000) / 7.0)::numeric(10,2) END AS price, (i % 10 / 100.0)::numeric(4,2) AS discount,
       (i % 17 || left('.0000000', i % 8))::numeric AS n,
       (array[0, 0.00, -0.5, 1e-10, 0.0001, 9999, 10000, -10000.0000, 12345678901234567890.1234567890123456, -99999999999999999999.9999999999999999])[i % 10 + 1] AS plain,
       (array[0, 1e-20, 1e-16, -1e-17, 123456789012345678901234567890.12, 1e20, -1e20, 99999999999999999999.5, 0e-70, 1e-70])[i * 31 % 97 % 10 + 1] AS odd,
       (array['NaN', 'Infinity', '-Infinity', '1', '2.50', '1e200', '-1e200', '1e-200', '3', '4'])[i * 7919 % 1009 % (i % 9 + 1) + 1]::numeric AS special,
       (i * 7919 % 1009 / 7.00000000000000000000)::numeric(30,20) AS long, (i % 90 / 8.0)::priced AS part
FROM generate_series(1, 6000) i;
CREATE TABLE number_names (id int PRIMARY KEY, rate numeric);
INSERT INTO number_names SELECT i, i / 8.0 FROM generate_series(0, 48) i;
ANALYZE numbers, number_names;
\set ECHO none
\i test/plan_check.sql
CREATE FUNCTION pg_temp.check(query text, OUT node boolean, OUT rows text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    r = pg_temp.check_node(query, 'MgpuGroup', 'mgpu.enable_group', false);
    node = r.node; rows = r.rows; same = r.same;
END
$$;
\set ECHO all
SET mgpu.enable_group = force;
EXPLAIN (COSTS OFF) SELECT g, sum(price), avg(price), min(price), max(price), count(price) FROM numbers GROUP BY g;
-- each column, by groups, in one group, with a filter, and in groups found by sorting; count(DISTINCT) would have PostgreSQL sort rows
CREATE FUNCTION pg_temp.all_of(c text) RETURNS text LANGUAGE sql AS $$ SELECT format('sum(%1$s), avg(%1$s), min(%1$s), max(%1$s), count(%1$s), count(*)', c) $$;
SELECT c AS column, shape, (pg_temp.check(replace(query, '*all*', pg_temp.all_of(c)))).*
FROM unnest('{price,n,plain,odd,special,long,part}'::text[]) c,
     (VALUES ('groups', 'SELECT g, *all* FROM numbers GROUP BY g'), ('many', 'SELECT many, *all* FROM numbers GROUP BY many'), ('one', 'SELECT *all* FROM numbers'),
             ('sorted', 'SELECT g, *all*, array_agg(i) FROM numbers GROUP BY g'), ('one, sorted', 'SELECT *all*, percentile_disc(0.5) WITHIN GROUP (ORDER BY h) FROM numbers'), ('none', 'SELECT *all* FROM numbers WHERE i < 0')) s(shape, query);
-- PostgreSQL's answers in words
SELECT sum(x), avg(x), min(x), max(x) FROM (VALUES (1.0), (1.00), (1.000), (NULL), (1)) v(x);
SELECT g, sum(x), avg(x), min(x), max(x) FROM (VALUES (1, 0), (1, 0.00), (2, 'NaN'), (2, 1), (3, 'Infinity'), (3, -1), (4, 'Infinity'), (4, '-Infinity'), (5, 1e-20), (5, 1), (6, 1), (6, 0e-70), (6, 1e-70), (7, NULL)) v(g, x) GROUP BY g ORDER BY g;
-- of equal values the last one's scale is shown, be they odd or not
SELECT o, min(x), max(x), length(min(x)::text) FROM (VALUES (1), (2)) o(o), LATERAL (SELECT * FROM (VALUES (1, 1.0), (2, (1 + 0e-70)), (3, 1.00)) v(i, x) ORDER BY CASE o WHEN 1 THEN i ELSE -i END OFFSET 0) v GROUP BY o ORDER BY o;
-- beyond 128 bits
SELECT sum(x), avg(x), sum(-x), count(*) FROM (SELECT 99999999999999999999.9999999999999999 + 0 * i AS x FROM generate_series(1, 1000) i) v;
SELECT i % 2 AS h, sum(x), avg(x), sum(-x) FROM (SELECT i, 99999999999999999999.9999999999999999 + 0 * i AS x FROM generate_series(1, 1000) i) v GROUP BY 1 ORDER BY 1;
SELECT sum(x) FROM (SELECT i, 9e131071 + 0 * i AS x FROM generate_series(1, 2) i) v;
SELECT sum(w), avg(w) FROM (SELECT 9223372036854775807 - i % 2 AS w FROM generate_series(1, 1000) i) v;
SELECT sum(w), avg(w) FROM (SELECT -9223372036854775807 + i % 2 AS w FROM generate_series(1, 1000) i) v;
-- expressions, filters, conditions, other aggregates beside them
SELECT t.what, (pg_temp.check(format('SELECT g, %s FROM numbers GROUP BY g', t.what))).*
FROM (VALUES ('sum(price * (1 - discount)), avg(discount), sum(price), sum(price * (1 - discount) * (1 + discount))'), ('sum(CASE WHEN h = 1 THEN price ELSE 0 END), sum(CASE WHEN h = 1 THEN n END)'),
             ('sum(price) FILTER (WHERE h = 1), avg(price) FILTER (WHERE h = 1), min(n) FILTER (WHERE h > 0), max(special) FILTER (WHERE h > 0), max(n)'), ('sum(1 / n) FILTER (WHERE n > 0), max(odd) FILTER (WHERE i < 0)'),
             ('sum(DISTINCT n), avg(DISTINCT n)'), ('sum(n ORDER BY i), min(n ORDER BY i DESC)'), ('sum(n), stddev(n), var_pop(n), avg(n)'), ('sum(n), count(DISTINCT n), trim_scale(percentile_disc(0.5) WITHIN GROUP (ORDER BY n))'),
             ('sum(1.50), avg(NULL::numeric), max(2.0), min(0.00)'), ('min(n), count(n), sum(n), max(n)'), ('sum(i::numeric), avg(i), sum(i), max(i::numeric(20,10))'), ('sum(part::priced_high), min(part::priced_high), max(part), avg(part * 2)'),
             ('sum(price::text::numeric), max(n::text::numeric)')) t(what);
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT g, sum(n) FROM numbers GROUP BY g HAVING avg(n) > 8 AND max(price) > 0'), ('SELECT h FROM numbers GROUP BY h HAVING sum(special) = ''NaN'''), ('SELECT n, sum(n), max(price) FROM numbers GROUP BY n'),
             ('SELECT a.g, sum(rate), avg(price * rate), min(price) FROM numbers a JOIN number_names ON id = g GROUP BY a.g'), ('SELECT id, sum(n), max(n) FROM number_names LEFT JOIN numbers ON g = id AND h = 1 GROUP BY id'),
             ('SELECT k, sum(n), avg(n) FROM (SELECT g AS k, n FROM numbers UNION ALL SELECT h, price FROM numbers) q GROUP BY k'), ('SELECT g % 5, max(s), sum(s) FROM (SELECT g, sum(price) AS s FROM numbers GROUP BY g) q GROUP BY 1'),
             ('SELECT g, (SELECT sum(rate * g) FROM number_names WHERE id < g % 5) FROM numbers GROUP BY g'), ('SELECT g, sum(n) OVER (ORDER BY g) FROM (SELECT g, avg(n) AS n FROM numbers GROUP BY g) q')) t(query);
-- groups that have no memory
SET work_mem = '64kB';
SELECT c AS column, (pg_temp.check(format('SELECT many, %s FROM numbers GROUP BY many', pg_temp.all_of(c)))).*, pg_temp.counts_of(format('SELECT many, %s FROM numbers GROUP BY many', pg_temp.all_of(c)), 'MgpuGroup') ? 'Spill Partitions' AS spilled
FROM unnest('{price,plain,odd,special,long}'::text[]) c;
RESET work_mem;
-- again and again: with the same rows, and with others
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT k, s.* FROM generate_series(1, 3) k LEFT JOIN (SELECT g, sum(special) AS a, sum(odd) AS b, max(odd) AS c FROM numbers GROUP BY g) s ON k <= g % 3'), ('SELECT k, s.* FROM generate_series(1, 3) k LEFT JOIN (SELECT sum(odd) AS a, max(odd) AS b, min(special) AS c FROM numbers) s ON k > 0'),
             ('SELECT k, s.* FROM generate_series(1, 3) k LEFT JOIN (SELECT sum(odd) AS a, max(odd) AS b, min(special) AS c, count(DISTINCT h) AS d FROM numbers) s ON k > 0'), ('SELECT k, s.* FROM generate_series(1, 3) k, LATERAL (SELECT g % k AS m, sum(odd), max(special), min(odd) FROM numbers WHERE g < k * 3 GROUP BY 1) s')) t(query);
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_memoize;
-- workers send rows, not states
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET mgpu.enable_threads = off;
SET mgpu.executor = cpu;
EXPLAIN (COSTS OFF) SELECT h, sum(price), count(*) FROM numbers GROUP BY h;
RESET mgpu.executor;
RESET mgpu.enable_threads;
SELECT c AS column, (pg_temp.check(format('SELECT g, sum(%1$s), avg(%1$s), trim_scale(min(%1$s)), trim_scale(max(%1$s)) FROM numbers GROUP BY g', c))).*, (pg_temp.check(format('SELECT sum(%1$s), avg(%1$s), trim_scale(min(%1$s)), trim_scale(max(%1$s)) FROM numbers', c))).*
FROM unnest('{price,n,plain,odd,special,long,part,price * (1 - discount)}'::text[]) c;
DROP TABLE numbers, number_names;
DROP DOMAIN priced_high, priced;
