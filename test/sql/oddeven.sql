--
-- mgpu_oddeven_sort: Batcher's network; sorted, but not stable
--
SELECT mgpu_oddeven_sort(ARRAY[3, 1, 2]);
SELECT mgpu_oddeven_sort(v) AS plain, mgpu_oddeven_sort(v, false) AS up, mgpu_oddeven_sort(v, true) AS down,
       mgpu_oddeven_sort(v, false, true) AS up_first, mgpu_oddeven_sort(v, true, false) AS down_last
FROM (SELECT ARRAY[3, NULL, 1, NULL, 5, 4] AS v) t;
SELECT mgpu_oddeven_sort(ARRAY['b', 'A', 'a', 'B'] COLLATE "C"), mgpu_oddeven_sort(ARRAY['b', 'A', 'a', 'B'] COLLATE "en-x-icu", true);
SELECT mgpu_oddeven_sort(ARRAY[2.5, 'NaN', -1, 'Infinity', '-Infinity']::float8[]), mgpu_oddeven_sort(ARRAY[2.5, 'NaN', -1, 'Infinity', '-Infinity']::float4[], true),
       mgpu_oddeven_sort(ARRAY[true, false, NULL]), mgpu_oddeven_sort(ARRAY['00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001']::uuid[]);
-- lower bounds; empty, one element, NULL
SELECT mgpu_oddeven_sort('[0:2]={3,1,2}'::int[]), mgpu_oddeven_sort('{}'::int[]), mgpu_oddeven_sort('[7:7]={1}'::int[]),
       mgpu_oddeven_sort(ARRAY[point(1, 1)]), mgpu_oddeven_sort(ARRAY[NULL, NULL]::int[]);
SELECT mgpu_oddeven_sort(NULL::int[]) IS NULL AS a, mgpu_oddeven_sort(ARRAY[1], NULL) IS NULL AS b;
-- every length from 2 to 300, and lengths around powers of two
CREATE TEMP TABLE lengths AS
SELECT n, array_agg(h ORDER BY i) AS v4, array_agg(h * 4294967291::bigint ORDER BY i) AS v8, array_agg(h % 3 ORDER BY i) AS v3, array_agg(n - i ORDER BY i) AS reversed,
       array_agg(CASE WHEN h % 4 > 0 THEN h::text END COLLATE "C" ORDER BY i) AS vt
FROM (SELECT generate_series(2, 300) UNION ALL SELECT unnest(ARRAY[1023, 1024, 1025, 2047, 2048, 2049, 4097, 10000, 16384, 40000])) t(n),
     LATERAL (SELECT i, ((i::bigint * 48271 + n) % 2147483647 % 10007)::int AS h FROM generate_series(1, n) i) g
GROUP BY n;
-- equal elements of these types are equal in every byte, so there is one right answer
SELECT count(*), bool_and(mgpu_oddeven_sort(v4) = mgpu_sort(v4) AND mgpu_oddeven_sort(v4, true) = mgpu_sort(v4, true)) AS int4,
       bool_and(mgpu_oddeven_sort(v8) = mgpu_sort(v8) AND mgpu_oddeven_sort(v8, true) = mgpu_sort(v8, true)) AS int8,
       bool_and(mgpu_oddeven_sort(v3) = mgpu_sort(v3)) AS many_ties, bool_and(mgpu_oddeven_sort(reversed) = mgpu_sort(reversed)) AS reversed,
       bool_and(mgpu_oddeven_sort(vt) = mgpu_sort(vt) AND mgpu_oddeven_sort(vt, true, false) = mgpu_sort(vt, true, false)) AS text
FROM lengths;
SELECT n, mgpu_oddeven_sort(v4) = (SELECT array_agg(x ORDER BY x) FROM unnest(v4) x) AS int4,
       mgpu_oddeven_sort(vt, true) = (SELECT array_agg(x ORDER BY x DESC) FROM unnest(vt) x) AS text
FROM lengths WHERE n IN (2, 3, 127, 1025, 40000) ORDER BY n;
-- every 0-1 input of up to 12 elements: what sorts them all sorts everything
SELECT n, count(*) AS inputs, bool_and(mgpu_oddeven_sort(a) = array_fill(0, ARRAY[n - ones]) || array_fill(1, ARRAY[ones])) AS sorted
FROM generate_series(2, 12) n, generate_series(0, (1 << n) - 1) bits,
     LATERAL (SELECT array_agg(bits >> i & 1) AS a, sum(bits >> i & 1)::int AS ones FROM generate_series(0, n - 1) i) x
GROUP BY n ORDER BY n;
-- elements that differ in bytes alone come in any order, but all of them come
SELECT mgpu_oddeven_sort(v) = (SELECT array_agg(x ORDER BY x) FROM unnest(v) x) AS sorted,
       (SELECT array_agg(x::text ORDER BY x, x::text COLLATE "C") FROM unnest(mgpu_oddeven_sort(v)) x) = (SELECT array_agg(x::text ORDER BY x, x::text COLLATE "C") FROM unnest(v) x) AS complete
FROM (SELECT array_agg(CASE i % 3 WHEN 0 THEN '0' WHEN 1 THEN '-0' ELSE (i % 7 - 3)::text END::float8 ORDER BY i) AS v FROM generate_series(1, 5000) i) t;
SELECT mgpu_oddeven_sort(v) = (SELECT array_agg(x ORDER BY x) FROM unnest(v) x) AS sorted,
       (SELECT array_agg(x::text ORDER BY x, x::text COLLATE "C") FROM unnest(mgpu_oddeven_sort(v)) x) = (SELECT array_agg(x::text ORDER BY x, x::text COLLATE "C") FROM unnest(v) x) AS complete
FROM (SELECT array_agg(CASE i % 3 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 ELSE i % 7 END ORDER BY i) AS v FROM generate_series(1, 5000) i) t;
SELECT cardinality(mgpu_oddeven_sort(v4)) FROM lengths WHERE n = 40000;
SELECT function, algorithm, items, segments FROM mgpu_last_run();
-- errors
SELECT mgpu_oddeven_sort(ARRAY[[2, 1], [1, 2]]);
\echo :SQLSTATE
SELECT mgpu_oddeven_sort(ARRAY[point(1, 1), point(0, 0)]);
\echo :SQLSTATE
DROP TABLE lengths;
