--
-- mgpu_sort_pairs: keys sorted, and their values with them
--
SELECT * FROM mgpu_sort_pairs(ARRAY[3, 1, 2], ARRAY['c', 'a', 'b']);
SELECT * FROM mgpu_sort_pairs(ARRAY[3, 1, 2], ARRAY['c', 'a', 'b'], true);
SELECT * FROM mgpu_sort_pairs(ARRAY[3, NULL, 2], ARRAY['c', 'a', NULL]);
SELECT * FROM mgpu_sort_pairs(ARRAY[3, NULL, 2], ARRAY['c', 'a', NULL], true);
SELECT * FROM mgpu_sort_pairs(ARRAY[3, NULL, 2], ARRAY['c', 'a', NULL], false, true);
SELECT * FROM mgpu_sort_pairs(ARRAY[3, NULL, 2], ARRAY['c', 'a', NULL], true, false);
SELECT * FROM mgpu_sort_pairs(keys => ARRAY[2.5, 1.5], vals => ARRAY[true, false]);
SELECT (p).keys, (p).vals FROM (SELECT mgpu_sort_pairs(ARRAY['b', 'a'] COLLATE "C", ARRAY[1, 2]) AS p) t;
-- ties keep input order; the keys' own bytes travel with their values
SELECT * FROM mgpu_sort_pairs(ARRAY[1.00, 1.0, 0.5, 1], ARRAY[1, 2, 3, 4]);
SELECT * FROM mgpu_sort_pairs(ARRAY[0, '-0', 'NaN', '-0', 0]::float8[], ARRAY[1, 2, 3, 4, 5]);
SELECT * FROM mgpu_sort_pairs(ARRAY[0, '-0', 'NaN', '-0', 0]::float4[], ARRAY[1, 2, 3, 4, 5], true);
-- each array keeps its own lower bound
SELECT * FROM mgpu_sort_pairs('[5:7]={3,1,2}'::int[], '[0:2]={c,a,b}'::text[]);
-- empty, one element, NULL
SELECT * FROM mgpu_sort_pairs('{}'::int[], '{}'::text[]);
SELECT * FROM mgpu_sort_pairs('[2:2]={1}'::int[], '[3:3]={x}'::text[]);
SELECT * FROM mgpu_sort_pairs(ARRAY[point(1, 1)], ARRAY[point(2, 2)]);
SELECT mgpu_sort_pairs(NULL::int[], '{}'::text[]) IS NULL, mgpu_sort_pairs('{}'::int[], NULL::text[]) IS NULL,
       mgpu_sort_pairs('{}'::int[], '{}'::text[], NULL) IS NULL;
-- stored arrays, every order, short and long
CREATE TEMP TABLE pairs AS
SELECT n, array_agg((h % 97)::int ORDER BY i) AS k4, array_agg(h % 97 * 10000000000 ORDER BY i) AS k8,
       array_agg(((h % 97 - 50) / 4.0)::float8 ORDER BY i) AS kf,
       array_agg(i ORDER BY i) AS v4, array_agg(i::bigint * 5000000000 ORDER BY i) AS v8,
       array_agg('v' || i ORDER BY i) AS vt
FROM unnest(ARRAY[2, 100, 1023, 1024, 1025, 20000]) n,
     LATERAL (SELECT i, (i::bigint * 48271 % 2147483647) AS h FROM generate_series(1, n) i) g
GROUP BY n;
CREATE FUNCTION pg_temp.pairs_are_right(k anyarray, v anycompatiblearray) RETURNS boolean
LANGUAGE sql AS $$
    SELECT (SELECT (keys, vals) FROM mgpu_sort_pairs(k, v)) =
           (SELECT (array_agg(x ORDER BY x, o), array_agg(y ORDER BY x, o)) FROM unnest(k, v) WITH ORDINALITY u(x, y, o))
       AND (SELECT (keys, vals) FROM mgpu_sort_pairs(k, v, true)) =
           (SELECT (array_agg(x ORDER BY x DESC, o), array_agg(y ORDER BY x DESC, o)) FROM unnest(k, v) WITH ORDINALITY u(x, y, o))
$$;
SELECT n, pg_temp.pairs_are_right(k4, v4) AS "4,4", pg_temp.pairs_are_right(k4, v8) AS "4,8",
       pg_temp.pairs_are_right(k4, vt) AS "4,t", pg_temp.pairs_are_right(k8, v4) AS "8,4",
       pg_temp.pairs_are_right(k8, v8) AS "8,8", pg_temp.pairs_are_right(kf, v4) AS "f,4",
       pg_temp.pairs_are_right(kf, vt) AS "f,t", pg_temp.pairs_are_right(vt, v4) AS "t,4"
FROM pairs ORDER BY n;
-- lengths, dimensions, order
SELECT mgpu_sort_pairs(ARRAY[1, 2, 3], ARRAY[1, 2]);
\echo :SQLSTATE
SELECT mgpu_sort_pairs(ARRAY[[1, 2]], ARRAY[1, 2]);
\echo :SQLSTATE
SELECT mgpu_sort_pairs(ARRAY[1, 2], ARRAY[[1], [2]], true);
\echo :SQLSTATE
SELECT mgpu_sort_pairs(ARRAY[point(1, 1), point(0, 0)], ARRAY[1, 2]);
\echo :SQLSTATE
