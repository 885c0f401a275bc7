--
-- mgpu_sort of multi-dimensional arrays: the slices of the first dimension, compared as arrays
--
SELECT mgpu_sort(ARRAY[[3, 1], [1, 2], [1, 1], [2, 0]]);
SELECT mgpu_sort(ARRAY[[3, 1], [1, 2], [1, 1], [2, 0]], true);
SELECT mgpu_sort(ARRAY[['b', 'a'], ['a', 'z'], ['a', 'b']] COLLATE "C");
-- three dimensions: slices are two-dimensional
SELECT mgpu_sort(ARRAY[[[2, 1], [0, 0]], [[1, 9], [9, 9]], [[1, 9], [0, 0]]]);
SELECT mgpu_sort(ARRAY[[[2, 1], [0, 0]], [[1, 9], [9, 9]], [[1, 9], [0, 0]]], true);
-- nulls inside a slice compare above everything, wherever nulls would be placed
SELECT mgpu_sort(ARRAY[[1, NULL], [1, 2], [NULL, 0]]);
SELECT mgpu_sort(ARRAY[[1, NULL], [1, 2], [NULL, 0]], true);
SELECT mgpu_sort(ARRAY[[1, NULL], [1, 2], [NULL, 0]], false, true);
SELECT mgpu_sort(ARRAY[[1, NULL], [1, 2], [NULL, 0]], true, false);
SELECT mgpu_sort(ARRAY[[NULL, NULL], [NULL, NULL]]::int[]);
-- lower bounds of every dimension are kept
SELECT mgpu_sort('[2:3][5:6]={{3,4},{1,2}}'::int[]);
SELECT mgpu_sort('[-1:0][0:0][7:8]={{{3,4}},{{1,2}}}'::int[], true);
-- one slice, or none, comes back as it is, sortable or not
SELECT mgpu_sort(ARRAY[[2, 1]]), mgpu_sort('[4:4][3:4]={{2,1}}'::int[], true);
SELECT mgpu_sort(ARRAY[[point(2, 2), point(1, 1)]]);
SELECT mgpu_sort(ARRAY[['{}', '[]']]::json[]);
-- equal slices keep their order
SELECT mgpu_sort(ARRAY[[1.00, 2], [1.0, 2.0], [0, 5], [1, 2]]);
SELECT mgpu_sort(ARRAY[['0', '1'], ['-0', '1'], ['0', '0'], ['-0', '0']]::float8[]);
SELECT mgpu_sort(ARRAY[['0', '1'], ['-0', '1'], ['0', '0'], ['-0', '0']]::float8[], true);
-- width one, every type of element
SELECT mgpu_sort(ARRAY[[3], [1], [2]]), mgpu_sort(ARRAY[[3.5], [1.5]]), mgpu_sort(ARRAY[['b'], [NULL], ['a']] COLLATE "C");
SELECT mgpu_sort(ARRAY[['1 mon', '1 day'], ['30 days', '0']]::interval[]);
-- many slices, against ORDER BY over the slices
WITH t AS (
    SELECT array_agg(s ORDER BY i) AS a
    FROM (SELECT i, ARRAY[(i::bigint * 7919 % 13)::int, nullif((i::bigint * 104729 % 11)::int, 4), i % 3] AS s
          FROM generate_series(1, 3000) i) slices)
SELECT mgpu_sort(a) = (SELECT array_agg(s ORDER BY s, i) FROM (SELECT i, ARRAY[a[i][1], a[i][2], a[i][3]] AS s FROM generate_series(1, 3000) i) x) AS ascending,
       mgpu_sort(a, true) = (SELECT array_agg(s ORDER BY s DESC, i) FROM (SELECT i, ARRAY[a[i][1], a[i][2], a[i][3]] AS s FROM generate_series(1, 3000) i) x) AS descending
FROM t;
-- elements without an order
SELECT mgpu_sort(ARRAY[[point(1, 1)], [point(0, 0)]]);
\echo :SQLSTATE
-- slices of text, of narrow elements and of NULLs alone, against ORDER BY over the slices
WITH t AS (
    SELECT array_agg(ARRAY[x, y] ORDER BY i) AS texts, array_agg(ARRAY[b] ORDER BY i) AS flags, array_agg(ARRAY[s, NULL, n] ORDER BY i) AS numbers
    FROM (SELECT i, repeat('x', (i::bigint * 7919 % 13)::int) COLLATE "C" AS x, nullif('y' || i % 5, 'y2') COLLATE "C" AS y, nullif(i % 3, 1) = 2 AS b,
                 nullif((i::bigint * 48271 % 7)::int2, 3) AS s, nullif((i % 4)::int2, 2::int2) AS n
          FROM generate_series(1, 3000) i) slices)
SELECT mgpu_sort(texts) = (SELECT array_agg(s ORDER BY s, i) FROM (SELECT i, ARRAY[texts[i][1], texts[i][2]] AS s FROM generate_series(1, 3000) i) x) AS texts,
       mgpu_sort(texts, true) = (SELECT array_agg(s ORDER BY s DESC, i) FROM (SELECT i, ARRAY[texts[i][1], texts[i][2]] AS s FROM generate_series(1, 3000) i) x) AS descending,
       mgpu_sort(flags) = (SELECT array_agg(s ORDER BY s, i) FROM (SELECT i, ARRAY[flags[i][1]] AS s FROM generate_series(1, 3000) i) x) AS flags,
       array_send(mgpu_sort(numbers)) = (SELECT array_send(array_agg(s ORDER BY s, i)) FROM (SELECT i, ARRAY[numbers[i][1], numbers[i][2], numbers[i][3]] AS s FROM generate_series(1, 3000) i) x) AS numbers
FROM t;
-- many narrow slices, against ORDER BY over the slices
WITH slices AS (
    SELECT n, i, ARRAY[h % 3 = 0] AS b, ARRAY[nullif(h % 3, 1) = 0, nullif(h / 3 % 3, 1) = 0] AS bb, ARRAY[(h % 65536 - 32768)::int2] AS s,
           ARRAY[nullif(h % 65536 - 32768, i % 2)::int2] AS sn, ARRAY[[(h % 256 - 128)::"char"], [(h / 256 % 256 - 128)::"char"]] AS c,
           ARRAY[(h % 5 - 2)::"char", (h / 5 % 256 - 128)::"char", (h / 1280 % 256 - 128)::"char"] AS ccc,
           ARRAY[(h % 5 - 2)::"char", nullif(h / 5 % 7, 3)::"char", (h / 35 % 7 - 3)::"char"] AS ccn
    FROM (SELECT n, i, (i::bigint * 2654435761 % 16777213)::int AS h FROM (VALUES (20000), (70000)) v(n), generate_series(1, n) i) t),
arrays AS (
    SELECT n, array_agg(b ORDER BY i) AS b, array_agg(bb ORDER BY i) AS bb, array_agg(s ORDER BY i) AS s, array_agg(sn ORDER BY i) AS sn,
           array_agg(c ORDER BY i) AS c, array_agg(ccc ORDER BY i) AS ccc, array_agg(ccn ORDER BY i) AS ccn
    FROM slices GROUP BY n),
ascending AS (
    SELECT n, array_agg(b ORDER BY b) AS b, array_agg(bb ORDER BY bb) AS bb, array_agg(s ORDER BY s) AS s, array_agg(sn ORDER BY sn) AS sn,
           array_agg(c ORDER BY c) AS c, array_agg(ccc ORDER BY ccc) AS ccc, array_agg(ccn ORDER BY ccn) AS ccn
    FROM slices GROUP BY n),
descending AS (
    SELECT n, array_agg(b ORDER BY b DESC) AS b, array_agg(bb ORDER BY bb DESC) AS bb, array_agg(s ORDER BY s DESC) AS s, array_agg(sn ORDER BY sn DESC) AS sn,
           array_agg(c ORDER BY c DESC) AS c, array_agg(ccc ORDER BY ccc DESC) AS ccc, array_agg(ccn ORDER BY ccn DESC) AS ccn
    FROM slices GROUP BY n)
SELECT n, x.is_descending,
       array_send(mgpu_sort(a.b, x.is_descending)) = array_send(x.b) AS b, array_send(mgpu_sort(a.bb, x.is_descending)) = array_send(x.bb) AS bb,
       array_send(mgpu_sort(a.s, x.is_descending)) = array_send(x.s) AS s, array_send(mgpu_sort(a.sn, x.is_descending)) = array_send(x.sn) AS sn,
       array_send(mgpu_sort(a.c, x.is_descending)) = array_send(x.c) AS c, array_send(mgpu_sort(a.ccc, x.is_descending)) = array_send(x.ccc) AS ccc,
       array_send(mgpu_sort(a.ccn, x.is_descending)) = array_send(x.ccn) AS ccn
FROM arrays a JOIN (SELECT false AS is_descending, * FROM ascending UNION ALL SELECT true, * FROM descending) x USING (n) ORDER BY n, is_descending;
-- as numbers of one byte
SET mgpu.executor = cpu;
SELECT cardinality(mgpu_sort(array_agg(ARRAY[i % 3 = 0]))), (mgpu_last_run()).algorithm FROM generate_series(1, 20000) i;
RESET mgpu.executor;
