SET mgpu.enable_group = off; -- PostgreSQL's aggregates are compared with
--
-- mgpu_sort_agg_by: values as an array in the order of their keys
--
SELECT mgpu_sort_agg_by(v, k), mgpu_sort_agg_by(v, k, true), mgpu_sort_agg_by(v, k, false, true), mgpu_sort_agg_by(v, k, true, false)
FROM (VALUES ('a', 3), ('b', 1), ('c', 2), ('d', NULL), (NULL, 2), ('e', 1), (NULL, NULL)) t(v, k);
SELECT g, mgpu_sort_agg_by(v, k) FROM (VALUES (1, 10, 3), (2, 20, 1), (1, 30, 2), (1, NULL, 1), (2, 40, NULL), (3, 50, NULL), (4, NULL, 5)) t(g, v, k) GROUP BY g ORDER BY g;
SELECT mgpu_sort_agg_by(v, k) FROM (VALUES (1, 1)) t(v, k) WHERE v > 1;
SELECT mgpu_sort_agg_by(v, k) FROM (VALUES (1, NULL::int), (2, NULL)) t(v, k);
SELECT mgpu_sort_agg_by(v, k) FROM (VALUES (NULL::text, 2), (NULL, 1)) t(v, k);
-- every pair of ways to keep a value and to sort a key
CREATE TEMP TABLE every AS
SELECT i, i % 3 AS g, nullif(i * 7919 % 100, 7) AS int4, (i * 7919 % 100)::float8 AS float8, nullif(md5((i % 100)::text)::uuid, md5('3')::uuid) AS uuid,
       make_interval(days => i * 7919 % 100) AS interval, '00:00'::timetz + make_interval(mins => i % 100) AS timetz, ('n' || i % 100)::name AS name,
       nullif('t' || i * 7919 % 100, 't5') COLLATE "C" AS text, (i * 7919 % 100)::numeric AS numeric, i % 2 = 0 AS bool, ('08:00:2b:01:02:' || to_hex(16 + i % 200))::macaddr AS macaddr
FROM generate_series(1, 3000) i;
CREATE FUNCTION pg_temp.compare(val text, key text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    equal boolean;
BEGIN
    EXECUTE format($q$SELECT bool_and(ours::text IS NOT DISTINCT FROM theirs::text AND down::text IS NOT DISTINCT FROM theirs_down::text) FROM (
        SELECT mgpu_sort_agg_by(%1$I, %2$I) AS ours, array_agg(%1$I ORDER BY %2$I, i) AS theirs,
               mgpu_sort_agg_by(%1$I, %2$I, true, false) AS down, array_agg(%1$I ORDER BY %2$I DESC NULLS LAST, i) AS theirs_down
        FROM (SELECT * FROM every ORDER BY g, i) e GROUP BY g) t$q$, val, key) INTO equal;
    RETURN equal;
END
$$;
SELECT v.attname AS val, count(*) AS keys, bool_and(pg_temp.compare(v.attname, k.attname)) AS equal FROM pg_attribute v, pg_attribute k
WHERE v.attrelid = 'every'::regclass AND v.attnum > 2 AND k.attrelid = 'every'::regclass AND k.attnum > 2 GROUP BY v.attname, v.attnum ORDER BY v.attnum;
-- one group of many rows, values that executors move and others
SELECT mgpu_sort_agg_by(i, i * 7919 % 50000) = array_agg(i ORDER BY i * 7919 % 50000, i) AS moved,
       mgpu_sort_agg_by(i::text, i * 7919 % 50000) = array_agg(i::text ORDER BY i * 7919 % 50000, i) AS gathered,
       mgpu_sort_agg_by(nullif(i, 5), i * 7919 % 50000) = array_agg(nullif(i, 5) ORDER BY i * 7919 % 50000, i) AS with_nulls
FROM generate_series(1, 50000) i;
-- values need no order of their own, keys may be arrays
SELECT mgpu_sort_agg_by(v, k) FROM (VALUES ('(1,2)'::point, 2), ('(3,4)', 1)) t(v, k);
SELECT mgpu_sort_agg_by(v, k) FROM (VALUES ('a', ARRAY[2, 1]), ('b', ARRAY[1, 5]), ('c', ARRAY[1])) t(v, k);
SELECT mgpu_sort_agg_by(v, k) FROM (VALUES (2, '(1,2)'::point)) t(v, k);
SELECT function, items > 0 AS items FROM mgpu_last_run();
