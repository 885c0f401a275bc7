--
-- mgpu_argsort: subscripts in sorted order
--
SELECT mgpu_argsort(ARRAY[30, 10, 20]);
SELECT mgpu_argsort(ARRAY[30, 10, 20], true);
SELECT mgpu_argsort(ARRAY[30, 10, 20], false, true);
SELECT mgpu_argsort(ARRAY['b', 'c', 'a'] COLLATE "C");
-- ties keep input order in either direction
SELECT mgpu_argsort(ARRAY[2, 1, 2, 1, 2]), mgpu_argsort(ARRAY[2, 1, 2, 1, 2], true);
-- nulls, in input order among themselves
SELECT mgpu_argsort(ARRAY[2, NULL, 1, NULL]);
SELECT mgpu_argsort(ARRAY[2, NULL, 1, NULL], true);
SELECT mgpu_argsort(ARRAY[2, NULL, 1, NULL], false, true);
SELECT mgpu_argsort(ARRAY[2, NULL, 1, NULL], true, false);
SELECT mgpu_argsort(ARRAY[NULL, NULL]::int[]);
-- positions are subscripts, so they follow the lower bound
SELECT mgpu_argsort('[5:7]={30,10,20}'::int[]);
SELECT mgpu_argsort('[-1:1]={30,NULL,20}'::int[], true);
SELECT array_lower(mgpu_argsort('[5:7]={30,10,20}'::int[]), 1);
SELECT array_agg(a[p] ORDER BY o)
FROM (SELECT '[-3:0]={30,10,20,5}'::int[] AS a) t,
     unnest(mgpu_argsort(a)) WITH ORDINALITY u(p, o);
-- empty, one element, NULL
SELECT mgpu_argsort('{}'::int[]), mgpu_argsort('{5}'::int[]), mgpu_argsort('[4:4]={5}'::int[]),
       mgpu_argsort('{NULL}'::int[]);
SELECT mgpu_argsort('{}'::point[]), mgpu_argsort(ARRAY[point(1, 1)]);
SELECT mgpu_argsort(NULL::int[]) IS NULL, mgpu_argsort(ARRAY[1], NULL) IS NULL;
SELECT pg_typeof(mgpu_argsort(ARRAY['b', 'a']));
-- every length around the small sorts' limits, with many ties
SELECT n,
       mgpu_argsort(a) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(a) WITH ORDINALITY u(x, o)) AS ascending,
       mgpu_argsort(a, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(a) WITH ORDINALITY u(x, o)) AS descending,
       mgpu_argsort(b) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(b) WITH ORDINALITY u(x, o)) AS wide,
       mgpu_argsort(c, true, false) = (SELECT array_agg(o::int ORDER BY x DESC NULLS LAST, o) FROM unnest(c) WITH ORDINALITY u(x, o)) AS with_nulls
FROM (SELECT n, array_agg((i::bigint * 7919 % 37)::int ORDER BY i) AS a,
             array_agg((i::bigint * 7919 % 37) * 10000000000 ORDER BY i) AS b,
             array_agg(nullif(i::bigint * 7919 % 37, 5)::float8 ORDER BY i) AS c
      FROM unnest(ARRAY[2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257,
                        1000, 1023, 1024, 1025, 4096, 10000, 65535, 65536, 65537]) n,
           generate_series(1, n) i
      GROUP BY n) t
ORDER BY n;
-- one dimension only
SELECT mgpu_argsort(ARRAY[[2, 1], [4, 3]]);
\echo :SQLSTATE
SELECT mgpu_argsort(ARRAY[[2, 1]], true, false);
\echo :SQLSTATE
