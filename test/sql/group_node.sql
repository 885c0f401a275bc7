--
-- GROUP BY in a node of the extension's own: MgpuGroup
--
-- offered in a session's first query of the aggregates, which loads the library
CREATE TABLE grouped AS
SELECT i, nullif(i * 7919 % 500, 7) AS g, i % 3 AS h, nullif(i * 7919 % 10007, 5) AS v, i * 69621::bigint % 1000003 AS w, (i * 31 % 977) / 8.0::float8 AS f FROM generate_series(1, 20000) i;
ANALYZE grouped;
\c -
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT g, mgpu_sort_agg(v) FROM grouped GROUP BY g;
-- what a query's results are: with the node, and without
\set ECHO none
\i test/plan_check.sql
\set ECHO all
CREATE FUNCTION pg_temp.check(query text, OUT node boolean, OUT same boolean) LANGUAGE plpgsql AS $$
BEGIN
    node = pg_temp.plan_of(query) ~ 'MgpuGroup';
    same = pg_temp.same_without(query);
END
$$;
-- against PostgreSQL's, which alone does grouping sets of a subquery's rows
WITH ours AS (SELECT g, mgpu_sort_agg(v) AS a, mgpu_sort_agg(v, true) AS d, mgpu_percentile_cont(w, 0.3) AS c, mgpu_percentile_disc(w, '{0.2,0.9}'::float8[]) AS p FROM grouped GROUP BY g),
     theirs AS (SELECT g, array_agg(v ORDER BY v) AS a, array_agg(v ORDER BY v DESC) AS d, percentile_cont(0.3) WITHIN GROUP (ORDER BY w) AS c,
                       percentile_disc('{0.2,0.9}'::float8[]) WITHIN GROUP (ORDER BY w) AS p FROM (SELECT * FROM grouped OFFSET 0) s GROUP BY ROLLUP (g) HAVING grouping(g) = 0)
SELECT (SELECT count(*) FROM (TABLE ours EXCEPT TABLE theirs) x) AS more, (SELECT count(*) FROM (TABLE theirs EXCEPT TABLE ours) x) AS less, (SELECT count(*) FROM ours) AS groups;
SELECT sum, function, items, segments FROM (SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(w) AS a FROM grouped GROUP BY g) q) s, mgpu_last_run();
SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(w) AS a FROM grouped GROUP BY g) q;
SELECT function, items, segments FROM mgpu_last_run();
-- NULL is a group, and not the one of zero
SELECT g, mgpu_sort_agg(v) FROM (VALUES (0, 3), (NULL, 5), (1, 1), (NULL, 4), (0, 2), (-1, 9), (NULL, NULL)) t(g, v) GROUP BY g;
SELECT g, mgpu_sort_agg(v) FROM (VALUES (NULL, 3), (0, 5), (NULL, 1), (0, 4)) t(g, v) GROUP BY g;
SELECT g, mgpu_sort_agg(v) FROM (VALUES (NULL::int, 3), (NULL, 5)) t(g, v) GROUP BY g;
-- types of keys
SELECT t.key, (pg_temp.check(format('SELECT %s AS k, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1', t.key))).*
FROM (VALUES ('g::smallint'), ('w'), ('g::oid'), ('date ''2020-01-01'' + g'), ('time ''00:00'' + g * interval ''1 s'''), ('timestamp ''2020-01-01'' + g * interval ''1 s'''),
             ('timestamptz ''2020-01-01 UTC'' + g * interval ''1 s'''), ('g > 100'), ('chr(65 + g % 26)::"char"'), ('g::money'), ('f'), ('f::float4'),
             ('CASE g % 4 WHEN 0 THEN 0.0 WHEN 1 THEN -0.0 WHEN 2 THEN ''NaN'' END::float8'), ('md5(h::text)::uuid'), ('h'), ('g % 7 + h'),
             ('g::text'), ('g::numeric'), ('make_interval(secs => g)'), ('(g, h)'), ('f::numeric'), ('g + 0 * random()::int'), ('(SELECT min(x) FROM (VALUES (g)) s(x))')) t(key);
-- a constant as the key is a group's key in some versions of PostgreSQL alone
SELECT same FROM pg_temp.check('SELECT 1 AS k, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1');
CREATE TYPE grouped_mood AS ENUM ('low', 'fair', 'high');
CREATE DOMAIN grouped_id AS int CHECK (VALUE >= 0);
SELECT (ARRAY['low', 'fair', 'high'])[h + 1]::grouped_mood AS mood, mgpu_percentile_disc((ARRAY['low', 'fair', 'high'])[v % 3 + 1]::grouped_mood, 0.5), cardinality(mgpu_sort_agg(v)) FROM grouped GROUP BY 1 ORDER BY 1;
SELECT h::grouped_id AS id, pg_typeof(mgpu_sort_agg(h::grouped_id)), cardinality(mgpu_sort_agg(h::grouped_id)) FROM grouped GROUP BY 1 ORDER BY 1;
-- percentiles of numbers of each width, which domains hide
CREATE DOMAIN grouped_short AS int2;
CREATE DOMAIN grouped_wide AS int8;
CREATE DOMAIN grouped_real AS float4;
SELECT * FROM pg_temp.check('SELECT h, percentile_cont(''{0.1,0.25}''::float8[]) WITHIN GROUP (ORDER BY v::grouped_id), percentile_cont(0.5) WITHIN GROUP (ORDER BY v::grouped_short), percentile_cont(0.5) WITHIN GROUP (ORDER BY w::grouped_wide),
    percentile_cont(0.5) WITHIN GROUP (ORDER BY f::grouped_real) FROM grouped GROUP BY h');
-- floats: a group is named by a member of its own
SELECT f, mgpu_sort_agg(v) FROM (VALUES ('-0'::float8, 1), ('NaN', 3), ('0', 2), ('NaN', 1), (NULL, 7)) t(f, v) GROUP BY f;
SELECT f, mgpu_sort_agg(v) FROM (VALUES (NULL, 2), ('-0'::float4, 1)) t(f, v) GROUP BY f;
-- types of values, orders, several of them, shared or not
SELECT t.what, (pg_temp.check(format('SELECT g, %s FROM grouped GROUP BY g', t.what))).*
FROM (VALUES ('mgpu_sort_agg(v)'), ('mgpu_sort_agg(v, true)'), ('mgpu_sort_agg(v, false, true)'), ('mgpu_sort_agg(g)'), ('mgpu_sort_agg(f)'), ('mgpu_sort_agg(w % 100 > 50)'), ('mgpu_sort_agg(make_interval(secs => v))'),
             ('mgpu_sort_agg(md5(v::text)::uuid)'), ('mgpu_sort_agg(v / 7), mgpu_sort_agg(v / 7, true), mgpu_percentile_cont(v / 7, 0.5), mgpu_percentile_disc(v / 7, 0.9)'),
             ('mgpu_percentile_cont(v, 0.1), mgpu_percentile_cont(f, 0.1), mgpu_sort_agg(w)'), ('mgpu_percentile_cont(make_interval(secs => v), ''{0.3,NULL}''::float8[])'), ('mgpu_percentile_cont(v, NULL::float8)'),
             ('mgpu_sort_agg(CASE WHEN g > 3 THEN v END), mgpu_percentile_disc(CASE WHEN g > 3 THEN v END, 0.5)'), ('mgpu_sort_agg(NULL::int)'), ('cardinality(mgpu_sort_agg(v)) + g, g + 1'),
             ('mgpu_sort_agg(v) FILTER (WHERE h > 0)'), ('mgpu_sort_agg(DISTINCT v)'), ('mgpu_sort_agg(v ORDER BY v)'), ('mgpu_sort_agg(v), count(*)'), ('mgpu_sort_agg(v::text)'), ('mgpu_sort_agg(v::numeric)'),
             ('mgpu_sort_agg(v, h < 0 AND g IS NOT NULL)'), ('mgpu_percentile_cont(v, g / 500.0)'), ('mgpu_sort_agg_by(v, w)'), ('mgpu_merge_agg(ARRAY[v])'), ('mgpu_sort_agg((SELECT v))'), ('generate_series(1, 2), mgpu_sort_agg(v)'),
             -- PostgreSQL's own
             ('percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_disc(''{0,0.9}''::float8[]) WITHIN GROUP (ORDER BY w DESC)'), ('mode() WITHIN GROUP (ORDER BY v % 9)'),
             ('array_agg(v ORDER BY v DESC NULLS LAST), array_agg(v ORDER BY h, w), string_agg(v::text, ''-'' ORDER BY h DESC, w)'),
             ('count(*), count(v), sum(v), sum(w), avg(v), avg(w), min(v), max(w)'), ('count(DISTINCT v % 50), sum(DISTINCT v % 50)'), ('sum(f), avg(f), stddev(f), min(f), bool_or(v > 9000), bit_xor(v)'),
             ('count(*) FILTER (WHERE h = 1), sum(v / h) FILTER (WHERE h > 0), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FILTER (WHERE h > 0)'), ('mgpu_sort_agg(v), array_agg(v ORDER BY v), count(*), sum(v)'),
             ('percentile_cont(random()) WITHIN GROUP (ORDER BY 2 + 0 * v)')) t(what);
-- shapes
EXPLAIN (COSTS OFF) SELECT g % 10, mgpu_sort_agg(v) FROM grouped WHERE h = 1 GROUP BY 1 HAVING cardinality(mgpu_sort_agg(v)) > 3 AND g % 10 < 9 ORDER BY 1 LIMIT 5;
EXPLAIN (VERBOSE, COSTS OFF) SELECT g + 1, mgpu_percentile_cont(v * 2, 0.5) + g, mgpu_sort_agg(w) FROM grouped GROUP BY g;
EXPLAIN (COSTS OFF) SELECT g, h, mgpu_sort_agg(v) FROM grouped GROUP BY g, h;
EXPLAIN (COSTS OFF) SELECT a.g, mgpu_sort_agg(b.v) FROM grouped a JOIN grouped b USING (i) GROUP BY a.g;
SELECT t.query, (pg_temp.check(t.query)).*
FROM (VALUES ('SELECT a.g, mgpu_sort_agg(b.v) FROM grouped a JOIN grouped b USING (i) GROUP BY a.g'), ('SELECT mgpu_sort_agg(v) FROM grouped GROUP BY g HAVING g > 3 AND mgpu_percentile_disc(v, 0.5) % 2 = 0'),
             ('SELECT b.g, mgpu_sort_agg(a.v) FROM grouped a LEFT JOIN grouped b ON a.i = b.i AND b.h = 1 GROUP BY b.g'), ('SELECT x, mgpu_sort_agg(n) FROM (SELECT g, cardinality(mgpu_sort_agg(v)) AS n, g % 3 AS x FROM grouped GROUP BY g) q GROUP BY x'),
             ('SELECT k, mgpu_sort_agg(v) FROM (SELECT g AS k, v FROM grouped UNION ALL SELECT h, v FROM grouped) q GROUP BY k'), ('SELECT g FROM grouped GROUP BY g HAVING (mgpu_sort_agg(v))[1] > 10'),
             ('SELECT g, rank() OVER (ORDER BY mgpu_percentile_disc(w, 0.5), g) FROM grouped GROUP BY g'),
             ('SELECT DISTINCT mgpu_percentile_disc(h, 0.5) FROM grouped GROUP BY g'),
             ('SELECT i, v, mgpu_sort_agg(w) FROM grouped GROUP BY i, v'), ('SELECT g, mgpu_sort_agg(v) FROM grouped WHERE false GROUP BY g'), ('SELECT g, mgpu_sort_agg(v) FROM grouped WHERE i < 0 GROUP BY g'),
             ('WITH c AS MATERIALIZED (SELECT g, v FROM grouped) SELECT g, mgpu_sort_agg(v) FROM c GROUP BY g'), ('SELECT g, (SELECT max(x) FROM unnest(mgpu_sort_agg(v)) x) FROM grouped GROUP BY g'),
             ('SELECT i, mgpu_sort_agg(v) FROM grouped GROUP BY i'), ('SELECT g, (SELECT count(*) FROM grouped b WHERE b.i < 10 AND b.g = a.g) FROM grouped a GROUP BY g HAVING mgpu_percentile_disc(v, 0.1) > 40'),
             ('SELECT DISTINCT g, v % 10 FROM grouped'), ('SELECT g, h, v % 3, percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM grouped GROUP BY 1, 2, 3'), ('SELECT count(DISTINCT v), mode() WITHIN GROUP (ORDER BY g), sum(v) FROM grouped')) t(query);
-- columns that depend on a primary key
CREATE TABLE grouped_names (id int PRIMARY KEY, name text);
INSERT INTO grouped_names SELECT i, 'n' || i FROM generate_series(0, 499) i;
SELECT (pg_temp.check('SELECT n.id, n.name, mgpu_sort_agg(v) FROM grouped JOIN grouped_names n ON n.id = g GROUP BY n.id')).*;
-- empty input
SELECT g, mgpu_sort_agg(v) FROM grouped WHERE i < 0 GROUP BY g;
-- settings
SET mgpu.enable_group = off;
SELECT pg_temp.plan_of('SELECT g, mgpu_sort_agg(v) FROM grouped GROUP BY g') ~ 'MgpuGroup' AS off;
RESET mgpu.enable_group;
SET enable_hashagg = off;
SELECT pg_temp.plan_of('SELECT g, mgpu_sort_agg(v) FROM grouped GROUP BY g') ~ 'MgpuGroup' AS hash_off;
SET enable_sort = off;
SELECT pg_temp.plan_of('SELECT g, mgpu_sort_agg(v) FROM grouped GROUP BY g') ~ 'MgpuGroup' AS both_off;
RESET enable_sort;
RESET enable_hashagg;
-- again and again
SELECT k, c FROM generate_series(1, 3) k, LATERAL (SELECT sum(cardinality(a)) AS c FROM (SELECT g % k, mgpu_sort_agg(v) AS a FROM grouped WHERE g < k GROUP BY 1) q) s ORDER BY k;
SELECT k, (SELECT string_agg(g || ':' || a::text, ' ' ORDER BY g) FROM (SELECT g, mgpu_sort_agg(v * k) AS a FROM (VALUES (1, 1), (1, 3), (2, 2)) x(g, v) GROUP BY g) s) FROM generate_series(1, 3) k;
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT k, a FROM generate_series(1, 2) k LEFT JOIN (SELECT g, mgpu_sort_agg(v) AS a FROM grouped WHERE i < 4 GROUP BY g) s ON k <= g % 3;
SELECT k, a FROM generate_series(1, 2) k LEFT JOIN (SELECT g, mgpu_sort_agg(v) AS a FROM grouped WHERE i < 4 GROUP BY g) s ON k <= g % 3 ORDER BY k, a;
SET work_mem = '64kB';
SELECT k, count(*), sum(cardinality(a)) FROM generate_series(1, 2) k LEFT JOIN (SELECT i, mgpu_sort_agg(v) AS a FROM grouped GROUP BY i) s ON k <= i % 3 GROUP BY k ORDER BY k;
RESET work_mem;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT count(*) FROM (SELECT g, mgpu_sort_agg(v) FROM grouped GROUP BY g LIMIT 3) q;
BEGIN;
DECLARE early CURSOR FOR SELECT g, (mgpu_sort_agg(v))[1:3] FROM grouped GROUP BY g;
FETCH 1 FROM early;
CLOSE early;
DECLARE back SCROLL CURSOR FOR SELECT h, (mgpu_sort_agg(v))[1:3] FROM grouped GROUP BY h;
FETCH 2 FROM back;
FETCH BACKWARD 1 FROM back;
MOVE ABSOLUTE 0 FROM back;
FETCH 1 FROM back;
DECLARE held CURSOR WITH HOLD FOR SELECT h, (mgpu_sort_agg(v))[1:3] FROM grouped GROUP BY h;
COMMIT;
FETCH ALL FROM held;
CLOSE held;
-- prepared, with a generic plan, and after the table has changed
PREPARE lots (int) AS SELECT g, (mgpu_sort_agg(v + $1))[1:2] FROM grouped WHERE g < $1 GROUP BY g ORDER BY g;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE lots(2);
EXECUTE lots(2);
EXECUTE lots(3);
ALTER TABLE grouped ADD COLUMN more int DEFAULT 4;
EXECUTE lots(2);
DEALLOCATE lots;
PREPARE fractions (float8) AS SELECT g, mgpu_percentile_cont(v, $1) FROM grouped WHERE g < 2 GROUP BY g ORDER BY g;
EXPLAIN (COSTS OFF) EXECUTE fractions(0.5);
EXECUTE fractions(0.5);
DEALLOCATE fractions;
-- the parameter may be worthless, if there are no groups
PREPARE fractions (float8) AS SELECT g, percentile_cont(1 / $1) WITHIN GROUP (ORDER BY v), percentile_disc(ARRAY[0, $1]) WITHIN GROUP (ORDER BY v) FROM grouped WHERE g < 2 AND $1 > 0 GROUP BY g ORDER BY g;
SET mgpu.enable_group = force;
EXPLAIN (COSTS OFF) EXECUTE fractions(0);
EXECUTE fractions(0);
EXECUTE fractions(1);
EXECUTE fractions(0.5);
RESET mgpu.enable_group;
DEALLOCATE fractions;
RESET plan_cache_mode;
-- what does not fit in memory: partitions, and groups too large for any
CREATE FUNCTION pg_temp.node_of(query text, OUT node text, OUT groups int, OUT executor text, OUT partitions boolean, OUT disk boolean) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING off) ' || query INTO plan;
    plan = plan -> 0 -> 'Plan';
    node = plan ->> 'Custom Plan Provider';
    groups = plan ->> 'Groups';
    executor = coalesce(plan ->> 'Sort Executor', '') ~ '^(cpu|gpu)$' AND plan ->> 'Sort Algorithm' <> '';
    partitions = (plan ->> 'Spill Partitions')::int > 0;
    disk = (plan ->> 'Disk Usage')::int > 0;
END
$$;
SET mgpu.executor = cpu;
SELECT * FROM pg_temp.node_of('SELECT i / 4, mgpu_sort_agg(v) FROM grouped GROUP BY 1');
SELECT pg_temp.digest('SELECT i / 4, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1') AS whole \gset
SELECT pg_temp.digest('SELECT CASE WHEN i > 500 THEN nullif(h, 2) ELSE i END, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1') AS uneven \gset
SELECT pg_temp.digest('SELECT CASE WHEN i > 500 THEN NULL ELSE i END, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1') AS one \gset
SET work_mem = '64kB';
SELECT * FROM pg_temp.node_of('SELECT i / 4, mgpu_sort_agg(v) FROM grouped GROUP BY 1');
SELECT pg_temp.digest('SELECT i / 4, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1') = :'whole' AS whole;
RESET mgpu.executor;
SELECT pg_temp.digest('SELECT CASE WHEN i > 500 THEN nullif(h, 2) ELSE i END, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1') = :'uneven' AS uneven;
SELECT pg_temp.digest('SELECT CASE WHEN i > 500 THEN NULL ELSE i END, mgpu_sort_agg(v), mgpu_percentile_disc(w, 0.5) FROM grouped GROUP BY 1') = :'one' AS one;
WITH ours AS (SELECT f, mgpu_sort_agg(v) AS a FROM (SELECT CASE i % 50 WHEN 0 THEN -0.0 WHEN 1 THEN 'NaN' ELSE f END AS f, v FROM grouped) q GROUP BY f),
     theirs AS (SELECT f, array_agg(v ORDER BY v) AS a FROM (SELECT CASE i % 50 WHEN 0 THEN -0.0 WHEN 1 THEN 'NaN' ELSE f END AS f, v FROM grouped OFFSET 0) q GROUP BY ROLLUP (f) HAVING grouping(f) = 0)
SELECT (SELECT count(*) FROM (TABLE ours EXCEPT TABLE theirs) x) AS more, (SELECT count(*) FROM (TABLE theirs EXCEPT TABLE ours) x) AS less;
SELECT count(*) FROM (SELECT i, mgpu_sort_agg(v) FROM grouped GROUP BY i LIMIT 3) q;
-- rows that do not fit are of different groups: their sum is of no group, and may not be an error
SET mgpu.enable_group = force;
SELECT * FROM pg_temp.check('SELECT i, sum(CASE WHEN i % 2 = 0 THEN 1.7e308::float8 END), sum(CASE WHEN i % 3 = 0 THEN 3e38::float4 END), avg(CASE WHEN i % 5 = 0 THEN 1e300::float8 ELSE -1e300 END) FROM grouped GROUP BY i');
SELECT * FROM pg_temp.check('SELECT i / 2, sum(CASE WHEN i % 2 = 0 THEN 1.7e308::float8 END), avg(1.7e308::float8) FILTER (WHERE i % 2 = 0) FROM grouped GROUP BY 1');
SELECT i / 2, sum(CASE WHEN i > 19000 THEN 1.7e308::float8 END) FROM grouped GROUP BY 1;
RESET mgpu.enable_group;
BEGIN;
DECLARE spilled CURSOR FOR SELECT i, mgpu_sort_agg(v) FROM grouped GROUP BY i;
MOVE 3 FROM spilled;
CLOSE spilled;
COMMIT;
-- wide keys: memory is looked at before many rows are there
SELECT (pg_temp.counts_of('SELECT k, array_agg(i ORDER BY i) FROM (SELECT i, repeat(i::text, 2000) AS k FROM generate_series(1, 3000) i OFFSET 0) s GROUP BY k', 'MgpuGroup') ->> 'Peak Memory Usage')::int < 6000 AS small;
-- after rescans, EXPLAIN tells about the last loop
CREATE FUNCTION pg_temp.last_loop(loops int, rows int, OUT groups int, OUT memory int, OUT partitions int, OUT disk int) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING off) SELECT * FROM generate_series(' || loops || ', 1, -1) k, '
        'LATERAL (SELECT i / 4, mgpu_sort_agg(v) FROM grouped WHERE i <= ' || rows || ' * k GROUP BY 1) q' INTO plan;
    plan = jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "MgpuGroup")');
    groups = plan ->> 'Groups';
    memory = plan ->> 'Peak Memory Usage';
    partitions = plan ->> 'Spill Partitions';
    disk = plan ->> 'Disk Usage';
END
$$;
SET mgpu.executor = cpu;
SELECT one.groups, one.partitions > 0 AS partitions, one.disk > 0 AS disk, one = three AS same
FROM pg_temp.last_loop(1, 10000) one, pg_temp.last_loop(3, 10000) three;
SELECT one.groups, one.partitions, one.memory < 64 AS little, one IS NOT DISTINCT FROM three AS same
FROM pg_temp.last_loop(1, 1000) one, pg_temp.last_loop(3, 1000) three;
RESET work_mem;
RESET mgpu.executor;
-- errors in the middle
DO $$
BEGIN
    FOR i IN 1..5 LOOP
        BEGIN
            PERFORM count(a) FROM (SELECT mgpu_sort_agg(1 / (v - 5000)) AS a FROM grouped GROUP BY g) t;
            RAISE 'no error';
        EXCEPTION WHEN division_by_zero THEN
            NULL;
        END;
        BEGIN
            PERFORM count(a) FROM (SELECT mgpu_percentile_cont(v, 2) AS a FROM grouped GROUP BY g) t;
            RAISE 'no error';
        EXCEPTION WHEN numeric_value_out_of_range THEN
            NULL;
        END;
    END LOOP;
END
$$;
SELECT g, mgpu_percentile_cont(v, 2) FROM grouped GROUP BY g;
SELECT g, mgpu_sort_agg(v, NULL) FROM grouped GROUP BY g;
-- who may
CREATE ROLE grouped_reader;
GRANT SELECT ON grouped TO grouped_reader;
REVOKE EXECUTE ON FUNCTION mgpu_sort_agg(anyelement) FROM public;
SET ROLE grouped_reader;
SELECT h, cardinality(mgpu_sort_agg(v)) FROM grouped GROUP BY h;
SELECT h, mgpu_percentile_disc(h, 0.5) FROM grouped GROUP BY h ORDER BY h;
RESET ROLE;
GRANT EXECUTE ON FUNCTION mgpu_sort_agg(anyelement) TO public;
REVOKE EXECUTE ON FUNCTION int2eq(int2, int2) FROM public;
SET ROLE grouped_reader;
SELECT g, count(DISTINCT h::int2) FROM grouped WHERE g < 2 GROUP BY g ORDER BY g;
SELECT g, json_object_agg(DISTINCT h::int2, 1::int) FROM grouped WHERE g < 2 GROUP BY g ORDER BY g;
SELECT g, json_object_agg(DISTINCT h::int2, h::int2) FROM grouped WHERE g < 2 GROUP BY g ORDER BY g;
SET mgpu.enable_group = off;
SELECT g, json_object_agg(DISTINCT h::int2, h::int2) FROM grouped WHERE g < 2 GROUP BY g ORDER BY g;
RESET mgpu.enable_group;
RESET ROLE;
GRANT EXECUTE ON FUNCTION int2eq(int2, int2) TO public;
-- DISTINCT needs equality alone: types that cannot be hashed, by value, by reference, inside others, and with an equality of their own
CREATE TYPE grouped_pair AS (m money, t text);
CREATE TYPE grouped_span AS RANGE (subtype = money);
CREATE DOMAIN grouped_range AS int4range;
CREATE DOMAIN grouped_moneys AS money[];
SET client_min_messages = warning; -- of the shell type
CREATE TYPE grouped_digit;
CREATE FUNCTION grouped_digit_in(cstring) RETURNS grouped_digit LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION grouped_digit_out(grouped_digit) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE grouped_digit (INPUT = grouped_digit_in, OUTPUT = grouped_digit_out, LIKE = int4);
RESET client_min_messages;
CREATE CAST (grouped_digit AS int4) WITHOUT FUNCTION;
CREATE CAST (int4 AS grouped_digit) WITHOUT FUNCTION;
CREATE FUNCTION grouped_digit_cmp(grouped_digit, grouped_digit) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($1::int4 % 10, $2::int4 % 10)';
DO $$
DECLARE
    operator text;
BEGIN
    FOREACH operator IN ARRAY '{<,<=,=,>=,>}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION "grouped_digit%1$s"(grouped_digit, grouped_digit) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS ''SELECT grouped_digit_cmp($1, $2) %1$s 0''', operator);
        EXECUTE format('CREATE OPERATOR %1$s (LEFTARG = grouped_digit, RIGHTARG = grouped_digit, FUNCTION = "grouped_digit%1$s")', operator);
    END LOOP;
END
$$;
CREATE OPERATOR CLASS grouped_digit_ops DEFAULT FOR TYPE grouped_digit USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 grouped_digit_cmp(grouped_digit, grouped_digit);
CREATE TABLE grouped_unhashed (type text, x text);
INSERT INTO grouped_unhashed VALUES ('tsvector', 'to_tsvector(''simple'', ''w'' || v % 4)'), ('tsquery', 'to_tsquery(''simple'', ''w'' || v % 4 || ''&x'')'), ('varbit', '(v % 4)::bit(2)::varbit'),
    ('money[]', 'ARRAY[(v % 4)::money, NULL]'), ('composite', 'ROW((v % 4)::money, ''a'')::grouped_pair'), ('range', 'grouped_span((v % 4)::money, 9::money)'), ('domain over range', 'int4range(v % 4, 9)::grouped_range'),
    ('domain over money[]', 'ARRAY[(v % 4)::money]::grouped_moneys'), ('array of domains', 'ARRAY[int4range(v % 4, 9)::grouped_range]'), ('array of composites', 'ARRAY[ROW((v % 4)::money, NULL)::grouped_pair]'),
    ('digits', '(v % 50)::grouped_digit'), ('array of digits', 'ARRAY[(v % 50)::grouped_digit]');
-- which of equal digits is taken may differ
SELECT type, (pg_temp.check_node(format('SELECT g, count(DISTINCT x), cardinality(array_agg(DISTINCT x ORDER BY x DESC)), cardinality(array_agg(DISTINCT x) FILTER (WHERE v > 5000)), max(v) FROM (SELECT g, v, %s AS x FROM grouped WHERE g < 20) s GROUP BY g', x), 'MgpuGroup', 'mgpu.enable_group', false)).* FROM grouped_unhashed;
SELECT type, (pg_temp.check_node(format('SELECT g, array_agg(DISTINCT x), array_agg(DISTINCT x ORDER BY x DESC), array_agg(DISTINCT x) FILTER (WHERE v > 5000), string_agg(DISTINCT x::text, ''-''), json_object_agg(DISTINCT coalesce(x::text, ''''), x) FROM (SELECT g, v, %s AS x FROM grouped WHERE g < 20) s GROUP BY g', x), 'MgpuGroup', 'mgpu.enable_group', false)).*
FROM grouped_unhashed WHERE type NOT LIKE '%digits';
-- a key needs a hash too, unless equal ones have equal bytes
SELECT type, (pg_temp.check_node(format('SELECT cardinality(array_agg(DISTINCT g)) FROM grouped WHERE g < 20 GROUP BY %1$s', x), 'MgpuGroup', 'mgpu.enable_group', false)).* FROM grouped_unhashed;
RESET mgpu.enable_group;
DROP TABLE grouped_unhashed;
DROP TYPE grouped_pair, grouped_span, grouped_range, grouped_moneys;
SET client_min_messages = warning; -- of what goes with it
DROP TYPE grouped_digit CASCADE;
RESET client_min_messages;
DROP TABLE grouped, grouped_names;
DROP DOMAIN grouped_id, grouped_short, grouped_wide, grouped_real;
DROP TYPE grouped_mood;
DROP ROLE grouped_reader;
