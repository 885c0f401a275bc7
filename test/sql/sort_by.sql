--
-- mgpu_sort_by: values in the order of their keys
--
SELECT mgpu_sort_by(ARRAY['c', 'a', 'b'], ARRAY[3, 1, 2]);
SELECT mgpu_sort_by(ARRAY['c', 'a', 'b'], ARRAY[3, 1, 2], true);
SELECT mgpu_sort_by(ARRAY[1.5, 2.5, 3.5], ARRAY['b', 'c', 'a'] COLLATE "C");
SELECT mgpu_sort_by(vals => ARRAY[10, 20, 30], keys => ARRAY[3, 2, 1]);
-- ties keep input order in either direction
SELECT mgpu_sort_by(ARRAY[1, 2, 3, 4, 5], ARRAY[2, 1, 2, 1, 2]),
       mgpu_sort_by(ARRAY[1, 2, 3, 4, 5], ARRAY[2, 1, 2, 1, 2], true);
-- nulls among keys are placed, nulls among values travel
SELECT mgpu_sort_by(ARRAY[1, 2, NULL, 4], ARRAY[2, NULL, 1, NULL]);
SELECT mgpu_sort_by(ARRAY[1, 2, NULL, 4], ARRAY[2, NULL, 1, NULL], true);
SELECT mgpu_sort_by(ARRAY[1, 2, NULL, 4], ARRAY[2, NULL, 1, NULL], false, true);
SELECT mgpu_sort_by(ARRAY[1, 2, NULL, 4], ARRAY[2, NULL, 1, NULL], true, false);
SELECT mgpu_sort_by(ARRAY[NULL, 2, NULL, 4], ARRAY[4, 3, 2, 1]);
SELECT mgpu_sort_by(ARRAY[NULL, NULL]::text[], ARRAY[NULL, NULL]::date[]);
-- values of any type, sortable or not
SELECT mgpu_sort_by(ARRAY[point(3, 3), point(1, 1), point(2, 2)], ARRAY[3, 1, 2]);
SELECT mgpu_sort_by(ARRAY['{"c": 3}', '{"a": 1}', NULL]::json[], ARRAY[3, 1, 2]);
SELECT mgpu_sort_by(ARRAY['c', '', NULL, repeat('x', 40)], ARRAY[4, 3, 2, 1]::smallint[]);
-- the values' lower bound is kept; the keys' own does not matter
SELECT mgpu_sort_by('[5:7]={c,a,b}'::text[], '[-1:1]={3,1,2}'::int[]);
-- empty, one element, NULL
SELECT mgpu_sort_by('{}'::text[], '{}'::int[]), mgpu_sort_by('{x}'::text[], '{1}'::int[]),
       mgpu_sort_by('[3:3]={x}'::text[], '{NULL}'::int[]);
SELECT mgpu_sort_by('{x}'::text[], ARRAY[point(1, 1)]);
SELECT mgpu_sort_by(NULL::text[], '{1}'::int[]) IS NULL AS vals,
       mgpu_sort_by('{x}'::text[], NULL::int[]) IS NULL AS keys,
       mgpu_sort_by('{x}'::text[], '{1}'::int[], NULL) IS NULL AS descending;
-- every pair of widths, short and long enough for the large paths
CREATE TEMP TABLE by_widths AS
SELECT n,
       array_agg((h % 2 = 0) ORDER BY i) AS w1,
       array_agg((h % 30000)::smallint ORDER BY i) AS w2,
       array_agg((h % 1000000)::int ORDER BY i) AS w4,
       array_agg(h * 1000003 ORDER BY i) AS w8,
       array_agg(md5(h::text)::uuid ORDER BY i) AS w16,
       array_agg(make_interval(secs => h % 5000) ORDER BY i) AS interval16,
       array_agg('v' || h % 1000 ORDER BY i) AS var,
       array_agg(nullif(h % 1000, 7)::int ORDER BY i) AS nul
FROM unnest(ARRAY[2, 100, 1023, 1024, 1025, 5000]) n,
     LATERAL (SELECT i, (i::bigint * 48271 % 2147483647) AS h FROM generate_series(1, n) i) g
GROUP BY n;
CREATE FUNCTION pg_temp.by_is_right(vals anyarray, keys anycompatiblearray) RETURNS boolean
LANGUAGE sql AS $$
    SELECT mgpu_sort_by(vals, keys) IS NOT DISTINCT FROM
           (SELECT array_agg(v ORDER BY k, o) FROM unnest(vals, keys) WITH ORDINALITY u(v, k, o))
       AND mgpu_sort_by(vals, keys, true) IS NOT DISTINCT FROM
           (SELECT array_agg(v ORDER BY k DESC, o) FROM unnest(vals, keys) WITH ORDINALITY u(v, k, o))
       AND mgpu_sort_by(vals, keys, false, true) IS NOT DISTINCT FROM
           (SELECT array_agg(v ORDER BY k NULLS FIRST, o) FROM unnest(vals, keys) WITH ORDINALITY u(v, k, o))
$$;
SELECT n,
       pg_temp.by_is_right(w1, w1) AS "1,1", pg_temp.by_is_right(w2, w1) AS "2,1",
       pg_temp.by_is_right(w4, w1) AS "4,1", pg_temp.by_is_right(w8, w1) AS "8,1",
       pg_temp.by_is_right(w16, w1) AS "16,1", pg_temp.by_is_right(var, w1) AS "v,1",
       pg_temp.by_is_right(nul, w1) AS "n,1"
FROM by_widths ORDER BY n;
SELECT n,
       pg_temp.by_is_right(w1, w2) AS "1,2", pg_temp.by_is_right(w2, w2) AS "2,2",
       pg_temp.by_is_right(w4, w2) AS "4,2", pg_temp.by_is_right(w8, w2) AS "8,2",
       pg_temp.by_is_right(w16, w2) AS "16,2", pg_temp.by_is_right(var, w2) AS "v,2",
       pg_temp.by_is_right(nul, w2) AS "n,2"
FROM by_widths ORDER BY n;
SELECT n,
       pg_temp.by_is_right(w1, w4) AS "1,4", pg_temp.by_is_right(w2, w4) AS "2,4",
       pg_temp.by_is_right(w4, w4) AS "4,4", pg_temp.by_is_right(w8, w4) AS "8,4",
       pg_temp.by_is_right(w16, w4) AS "16,4", pg_temp.by_is_right(var, w4) AS "v,4",
       pg_temp.by_is_right(nul, w4) AS "n,4"
FROM by_widths ORDER BY n;
SELECT n,
       pg_temp.by_is_right(w1, w8) AS "1,8", pg_temp.by_is_right(w2, w8) AS "2,8",
       pg_temp.by_is_right(w4, w8) AS "4,8", pg_temp.by_is_right(w8, w8) AS "8,8",
       pg_temp.by_is_right(w16, w8) AS "16,8", pg_temp.by_is_right(var, w8) AS "v,8",
       pg_temp.by_is_right(nul, w8) AS "n,8"
FROM by_widths ORDER BY n;
SELECT n,
       pg_temp.by_is_right(w1, w16) AS "1,16", pg_temp.by_is_right(w2, w16) AS "2,16",
       pg_temp.by_is_right(w4, w16) AS "4,16", pg_temp.by_is_right(w8, w16) AS "8,16",
       pg_temp.by_is_right(w16, w16) AS "16,16", pg_temp.by_is_right(var, w16) AS "v,16",
       pg_temp.by_is_right(nul, w16) AS "n,16"
FROM by_widths ORDER BY n;
SELECT n,
       pg_temp.by_is_right(w1, interval16) AS "1,i", pg_temp.by_is_right(w16, interval16) AS "16,i",
       pg_temp.by_is_right(w4, var) AS "4,v", pg_temp.by_is_right(var, var) AS "v,v",
       pg_temp.by_is_right(w8, nul) AS "8,n", pg_temp.by_is_right(nul, nul) AS "n,n",
       pg_temp.by_is_right(var, nul) AS "v,n"
FROM by_widths ORDER BY n;
-- lengths must match
SELECT mgpu_sort_by(ARRAY[1, 2, 3], ARRAY[1, 2]);
\echo :SQLSTATE
SELECT mgpu_sort_by('{}'::int[], ARRAY[1]);
\echo :SQLSTATE
SELECT mgpu_sort_by(ARRAY[1], '{}'::int[], true);
\echo :SQLSTATE
-- one dimension only, on either side
SELECT mgpu_sort_by(ARRAY[[1, 2], [3, 4]], ARRAY[1, 2]);
\echo :SQLSTATE
SELECT mgpu_sort_by(ARRAY[1, 2], ARRAY[[1, 2]], true, true);
\echo :SQLSTATE
-- keys must be sortable
SELECT mgpu_sort_by(ARRAY[1, 2], ARRAY[point(1, 1), point(0, 0)]);
\echo :SQLSTATE
-- NULL keys: values of each width go to their end of the result, from a table as from memory
CREATE TABLE null_keys (k int[], d bool[], s int2[], i int[], b bigint[], u uuid[]);
ALTER TABLE null_keys ALTER k SET STORAGE EXTERNAL, ALTER d SET STORAGE EXTERNAL, ALTER s SET STORAGE EXTERNAL;
ALTER TABLE null_keys ALTER i SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER u SET STORAGE EXTERNAL;
INSERT INTO null_keys
SELECT array_agg(CASE WHEN h % 5 > 0 THEN h % 700 END ORDER BY i), array_agg(h % 3 = 0 ORDER BY i), array_agg((h % 30000)::int2 ORDER BY i), array_agg(i ORDER BY i),
       array_agg(h::bigint * i ORDER BY i), array_agg(md5(i::text)::uuid ORDER BY i)
FROM (SELECT i, (i::bigint * 48271 % 2147483647)::int AS h FROM generate_series(1, 150000) i) numbers;
CREATE FUNCTION pg_temp.check_null_keys(ordering text, args text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
BEGIN
    EXECUTE format($q$
        SELECT concat(CASE WHEN mgpu_sort_by(t.d, t.k %2$s) <> r.d THEN 'bool ' END, CASE WHEN mgpu_sort_by(t.s, t.k %2$s) <> r.s THEN 'int2 ' END,
                      CASE WHEN mgpu_sort_by(t.i, t.k %2$s) <> r.i THEN 'int4 ' END, CASE WHEN mgpu_sort_by(t.b, t.k %2$s) <> r.b THEN 'int8 ' END,
                      CASE WHEN mgpu_sort_by(t.u, t.k %2$s) <> r.u THEN 'uuid ' END, CASE WHEN mgpu_sort_by(array_cat(t.s, '{}'), array_cat(t.k, '{}') %2$s) <> r.s THEN 'memory ' END,
                      CASE WHEN array_send(p.keys) <> array_send(r.k) OR p.vals <> r.d THEN 'pairs ' END, CASE WHEN array_send(q.keys) <> array_send(r.k) OR q.vals <> r.b THEN 'wide pairs' END)
        FROM null_keys t, mgpu_sort_pairs(t.k, t.d %2$s) p, mgpu_sort_pairs(t.k, t.b %2$s) q,
             LATERAL (SELECT array_agg(x.k ORDER BY x.k %1$s, o) AS k, array_agg(x.d ORDER BY x.k %1$s, o) AS d, array_agg(x.s ORDER BY x.k %1$s, o) AS s, array_agg(x.i ORDER BY x.k %1$s, o) AS i,
                             array_agg(x.b ORDER BY x.k %1$s, o) AS b, array_agg(x.u ORDER BY x.k %1$s, o) AS u
                      FROM unnest(t.k, t.d, t.s, t.i, t.b, t.u) WITH ORDINALITY x(k, d, s, i, b, u, o)) r $q$, ordering, args) INTO wrong;
    RETURN wrong;
END
$$;
SELECT pg_temp.check_null_keys('', '') AS up, pg_temp.check_null_keys('DESC', ', true') AS down, pg_temp.check_null_keys('NULLS FIRST', ', false, true') AS nulls_first,
       pg_temp.check_null_keys('DESC NULLS LAST', ', true, false') AS down_nulls_last;
SELECT mgpu_sort_by(s[1:3000], array_fill(NULL::int, ARRAY[3000])) = s[1:3000] AS all_null, mgpu_sort_by(s[1:3000], i[1:2999] || NULL::int) = s[1:3000] AS last_null FROM null_keys;
DROP TABLE null_keys;
