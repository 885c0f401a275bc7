--
-- mgpu_sort: the basics
--
SELECT mgpu_sort(ARRAY[3, 1, 2]);
SELECT mgpu_sort(ARRAY[3, 1, 2], false);
SELECT mgpu_sort(ARRAY[3, 1, 2], true);
SELECT mgpu_sort(ARRAY[3, 1, 2], descending => true);
SELECT mgpu_sort(ARRAY[3, 1, 2], nulls_first => true, descending => false);
SELECT mgpu_sort('{}'::int[] || 2 || 1);
-- extremes, duplicates, both signs
SELECT mgpu_sort(ARRAY[0, -1, 2147483647, -2147483648, 1, 0, -1]);
SELECT mgpu_sort(ARRAY[0, -1, 2147483647, -2147483648, 1, 0, -1], true);
SELECT mgpu_sort(ARRAY[7, 7, 7, 7]);
-- sorted, reversed
SELECT mgpu_sort(ARRAY[1, 2, 3, 4, 5]), mgpu_sort(ARRAY[5, 4, 3, 2, 1]);
-- nulls: last when ascending, first when descending, or as asked
SELECT mgpu_sort(ARRAY[2, NULL, 1, NULL]);
SELECT mgpu_sort(ARRAY[2, NULL, 1, NULL], true);
SELECT mgpu_sort(ARRAY[2, NULL, 1, NULL], false, true);
SELECT mgpu_sort(ARRAY[2, NULL, 1, NULL], true, false);
SELECT mgpu_sort(ARRAY[NULL, NULL]::int[]), mgpu_sort(ARRAY[NULL, NULL]::int[], true);
-- a NULL argument gives NULL, but for nulls_first, where it is the default
SELECT mgpu_sort(NULL::int[]) IS NULL AS arr,
       mgpu_sort(ARRAY[2, 1], NULL) IS NULL AS descending,
       mgpu_sort(ARRAY[2, 1], false, NULL) AS nulls_first;
-- empty and one element come back as they are
SELECT mgpu_sort('{}'::int[]), mgpu_sort('{5}'::int[]), mgpu_sort('{NULL}'::int[]);
SELECT mgpu_sort('[7:7]={5}'::int[], true), mgpu_sort('{}'::text[], true, false);
-- the lower bound is kept
SELECT mgpu_sort('[5:7]={3,1,2}'::int[]);
SELECT mgpu_sort('[-2:1]={3,NULL,1,2}'::int[], true);
SELECT array_lower(mgpu_sort('[0:1]={b,a}'::text[]), 1);
-- the input is not changed
WITH t AS (SELECT ARRAY[3, 1, 2] AS a) SELECT a, mgpu_sort(a), a FROM t;
-- over rows of a table, lengths that cross the small sorts' limits
SELECT n, mgpu_sort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) AS ascending,
       mgpu_sort(a, true) = (SELECT array_agg(x ORDER BY x DESC) FROM unnest(a) x) AS descending
FROM (SELECT n, array_agg((i::bigint * 7919 % 1009 - 500)::int ORDER BY i) AS a
      FROM unnest(ARRAY[2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257,
                        1000, 1023, 1024, 1025, 4096, 10000, 16383, 16384, 16385, 70000]) n,
           generate_series(1, n) i
      GROUP BY n) t
ORDER BY n;
-- twice over many rows: state kept between rows does not leak into results
SELECT count(*), bool_and(s = ARRAY[g, g + 1, g + 2])
FROM (SELECT g, mgpu_sort(ARRAY[g + 2, g, g + 1]) AS s FROM generate_series(1, 5000) g) t;
-- in PL/pgSQL, where arrays may be expanded objects
DO $$
DECLARE
    a int[] := ARRAY[3, 1, 2];
    b int[];
BEGIN
    a[4] := 0;
    b := mgpu_sort(a);
    RAISE NOTICE '% from %', b, a;
    b[1] := 9;
    a := mgpu_sort(b, true);
    RAISE NOTICE '% from %', a, b;
END
$$;
