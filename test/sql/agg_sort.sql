SET mgpu.enable_group = off; -- PostgreSQL's aggregates are compared with
SET intervalstyle = postgres;
--
-- mgpu_sort_agg: values as a sorted array
--
SELECT mgpu_sort_agg(v) FROM (VALUES (3), (1), (NULL), (2)) t(v);
SELECT mgpu_sort_agg(v, true), mgpu_sort_agg(v, true, false), mgpu_sort_agg(v, false, true), mgpu_sort_agg(v, false)
FROM (VALUES (3), (1), (NULL), (2)) t(v);
SELECT g, mgpu_sort_agg(v) FROM (VALUES (1, 3), (2, 1), (1, NULL), (1, 2), (2, 0), (3, NULL)) t(g, v) GROUP BY g ORDER BY g;
-- no rows, NULLs alone, one row
SELECT mgpu_sort_agg(v) FROM (VALUES (1)) t(v) WHERE v > 1;
SELECT mgpu_sort_agg(v) FILTER (WHERE v > 1) FROM (VALUES (1)) t(v);
SELECT mgpu_sort_agg(v), mgpu_sort_agg(v, true) FROM (VALUES (NULL::int), (NULL)) t(v);
SELECT mgpu_sort_agg(v) FROM (VALUES ('x'::text)) t(v);
-- every way to keep and to sort a type
CREATE TYPE pair AS (a int, b text);
CREATE TEMP TABLE every AS
SELECT i, i % 3 AS g, i % 2 = 0 AS bool, chr(97 + i % 26)::"char" AS char, (i * 7919 % 1000)::int2 AS int2, i * 7919 % 1000 AS int4, (i * 7919 % 1000) * 10000000000 AS int8,
       (i * 7919 % 1000)::oid AS oid, (i * 7919 % 1000 - 500)::float4 AS float4, (i * 7919 % 1000 - 500)::float8 AS float8, date '2000-01-01' + i * 7919 % 1000 AS date,
       md5(i::text)::uuid AS uuid, make_interval(days => i * 7919 % 1000, hours => i % 50) AS interval, (time '00:00' + make_interval(mins => i))::timetz AS timetz,
       ('08:00:2b:01:02:' || to_hex(16 + i % 200))::macaddr AS macaddr, ('n' || i * 7919 % 1000)::name AS name, (i * 7919 % 1000)::numeric / 10 AS numeric,
       ('t' || i * 7919 % 1000) COLLATE "C" AS text, ('t' || i * 7919 % 1000) COLLATE "en-x-icu" AS icu, decode(md5(i::text), 'hex') AS bytea, ('10.0.0.' || i % 256)::inet AS inet,
       jsonb_build_array(i * 7919 % 1000) AS jsonb, int4range(i % 50, i % 50 + i % 7) AS range, format('(%s,%s)', i % 10, i)::tid AS tid, ROW(i % 10, 'x' || i)::pair AS pair
FROM generate_series(1, 500) i;
CREATE FUNCTION pg_temp.compare(type text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    equal boolean;
BEGIN
    EXECUTE format($q$SELECT bool_and(ours::text IS NOT DISTINCT FROM theirs::text AND down::text IS NOT DISTINCT FROM theirs_down::text) FROM (
        SELECT mgpu_sort_agg(%1$I) AS ours, array_agg(%1$I ORDER BY %1$I, i) AS theirs,
               mgpu_sort_agg(%1$I, true, false) AS down, array_agg(%1$I ORDER BY %1$I DESC NULLS LAST, i) AS theirs_down
        FROM (SELECT * FROM every ORDER BY g, i) e GROUP BY g) t$q$, type) INTO equal;
    RETURN equal;
END
$$;
SELECT attname, pg_temp.compare(attname) AS equal FROM pg_attribute
WHERE attrelid = 'every'::regclass AND attnum > 2 ORDER BY attnum;
DROP TABLE every;
DROP TYPE pair;
-- ties keep their bytes and the order in which they came
SELECT mgpu_sort_agg(v), mgpu_sort_agg(v, true) FROM (VALUES (1.00), (0.5), (1.0), (1), (0.50)) t(v);
SELECT mgpu_sort_agg(v), mgpu_sort_agg(v, true) FROM (VALUES ('0'::float8), ('-0'), ('NaN'), ('-0'), ('0'), ('1')) t(v);
SELECT g, mgpu_sort_agg(v), mgpu_sort_agg(v, true) FROM (VALUES (1, '0'::float4), (2, '-0'), (1, '-0'), (2, '0'), (1, 'NaN'), (2, '-1')) t(g, v) GROUP BY g ORDER BY g;
SELECT mgpu_sort_agg(v) FROM (VALUES ('1 mon'::interval), ('30 days'), ('720:00'), ('29 days')) t(v);
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT mgpu_sort_agg(v COLLATE any_case), mgpu_sort_agg(v COLLATE any_case, true) FROM (VALUES ('b'), ('A'), ('B'), ('a'), ('A')) t(v);
DROP COLLATION any_case;
-- text: prefixes that are alike, and values that are toasted
SELECT bool_and(ours = theirs) FROM (
    SELECT mgpu_sort_agg(v COLLATE "C") AS ours, array_agg(v ORDER BY v COLLATE "C") AS theirs
    FROM (SELECT i % 5 AS g, repeat('prefix', i % 4) || i * 7919 % 3000 AS v FROM generate_series(1, 20000) i) t GROUP BY g) c;
CREATE TEMP TABLE wide (g int, v text);
INSERT INTO wide SELECT i % 2, repeat(md5(i::text), 1000) FROM generate_series(1, 40) i;
ALTER TABLE wide ALTER v SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i % 2, repeat(md5(i::text), 1000) FROM generate_series(1, 40) i;
SELECT g, mgpu_sort_agg(v COLLATE "C") = array_agg(v ORDER BY v COLLATE "C"), cardinality(mgpu_sort_agg(v COLLATE "C")) FROM wide GROUP BY g ORDER BY g;
DROP TABLE wide;
-- domains keep their type
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT mgpu_sort_agg(v::positive), pg_typeof(mgpu_sort_agg(v::positive)) FROM (VALUES (3), (1)) t(v);
DROP DOMAIN positive;
-- inside: FILTER, DISTINCT, ORDER BY
SELECT mgpu_sort_agg(v) FILTER (WHERE v <> 2), mgpu_sort_agg(DISTINCT v), mgpu_sort_agg(v ORDER BY v DESC) FROM (VALUES (3), (1), (NULL), (2), (3), (1)) t(v);
SELECT g, mgpu_sort_agg(DISTINCT v), mgpu_sort_agg(v) FILTER (WHERE g = 2) FROM (VALUES (1, 3), (2, 1), (1, 3), (2, 1), (2, 0)) t(g, v) GROUP BY g ORDER BY g;
-- the order may be any expression that is the same in all rows
SELECT mgpu_sort_agg(v, d, d) FROM (VALUES (1, true), (2, true)) t(v, d);
SELECT mgpu_sort_agg(v, d) FROM (VALUES (1, true), (2, false)) t(v, d);
SELECT mgpu_sort_agg(v, NULL) FROM (VALUES (1), (2)) t(v);
SELECT mgpu_sort_agg(v, true, NULL) FROM (VALUES (1), (2)) t(v);
PREPARE either (boolean) AS SELECT mgpu_sort_agg(v, $1) FROM (VALUES (1), (3), (2)) t(v);
SET plan_cache_mode = force_generic_plan;
EXECUTE either(true);
EXECUTE either(false);
RESET plan_cache_mode;
DEALLOCATE either;
-- errors
SELECT mgpu_sort_agg(v) FROM (VALUES ('(1,2)'::point)) t(v);
SELECT mgpu_sort_agg(v) FROM (VALUES (ARRAY[1])) t(v);
SELECT mgpu_sort_agg(v) OVER () FROM (VALUES (1)) t(v);
CREATE TEMP TABLE two_collations (a text COLLATE "C", b text COLLATE "POSIX");
INSERT INTO two_collations VALUES ('a', 'b'), ('c', 'd');
SELECT mgpu_sort_agg(a || b) FROM two_collations;
-- the transition function called by itself: refused, with each version's own words
DO $$ BEGIN
	PERFORM _mgpu_sort_agg_trans(NULL::internal, 1);
EXCEPTION WHEN cannot_coerce OR feature_not_supported THEN
	RAISE NOTICE 'refused';
END $$;
-- what ran: one run for all groups, where the hash table has room
SET work_mem = '64MB';
SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(i * 7919 % 1000) AS a FROM generate_series(1, 100000) i GROUP BY i % 1000) t;
SELECT function, items, segments FROM mgpu_last_run();
SELECT cardinality(mgpu_sort_agg(i * 7919 % 1000)) FROM generate_series(1, 100000) i;
SELECT function, items, segments FROM mgpu_last_run();
