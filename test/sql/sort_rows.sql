--
-- mgpu_sort_rows: a row for each key, in sorted order
--
SELECT * FROM mgpu_sort_rows(ARRAY[3, 1, 2], ARRAY['c', 'a', 'b']);
SELECT * FROM mgpu_sort_rows(ARRAY[3, 1, 2], ARRAY['c', 'a', 'b'], true);
SELECT * FROM mgpu_sort_rows(ARRAY[3, NULL, 2], ARRAY['c', 'a', NULL]);
SELECT * FROM mgpu_sort_rows(ARRAY[3, NULL, 2], ARRAY['c', 'a', NULL], false, true);
SELECT key, val FROM mgpu_sort_rows(keys => ARRAY[2.5, 1.5], vals => ARRAY[true, false]);
-- ties in input order, numbered by the executor's rows
SELECT * FROM mgpu_sort_rows(ARRAY[2, 1, 2, 1], ARRAY[1, 2, 3, 4]) WITH ORDINALITY;
SELECT * FROM mgpu_sort_rows(ARRAY[2, 1, 2, 1], ARRAY[1, 2, 3, 4], true) WITH ORDINALITY;
-- in the target list
SELECT mgpu_sort_rows(ARRAY[2, 1], ARRAY['b', 'a']), 'row' AS each;
SELECT (mgpu_sort_rows(ARRAY[2, 1], ARRAY['b', 'a'])).*;
-- empty, one element, NULL, lower bounds
SELECT count(*) FROM mgpu_sort_rows('{}'::int[], '{}'::text[]);
SELECT * FROM mgpu_sort_rows('{7}'::int[], '{x}'::text[]);
SELECT * FROM mgpu_sort_rows(ARRAY[point(1, 1)], ARRAY[point(2, 2)]);
SELECT count(*) FROM mgpu_sort_rows(NULL::int[], '{x}'::text[]);
SELECT count(*) FROM mgpu_sort_rows('{7}'::int[], '{x}'::text[], NULL);
SELECT * FROM mgpu_sort_rows('[5:6]={2,1}'::int[], '[-1:0]={b,a}'::text[]);
-- LATERAL, with a LIMIT inside
SELECT g, key, val
FROM (VALUES (1, ARRAY[3, 1, 2], ARRAY['c', 'a', 'b']), (2, '{}', '{}'), (3, ARRAY[9, 8], ARRAY['i', 'h']),
             (4, NULL, ARRAY['z'])) t(g, k, v)
     LEFT JOIN LATERAL mgpu_sort_rows(t.k, t.v) s ON true
ORDER BY g, key;
SELECT g, key, val
FROM (VALUES (1, ARRAY[3, 1, 2], ARRAY['c', 'a', 'b']), (3, ARRAY[9, 8], ARRAY['i', 'h'])) t(g, k, v),
     LATERAL (SELECT * FROM mgpu_sort_rows(t.k, t.v, true) LIMIT 1) s
ORDER BY g;
-- LIMIT over many
CREATE TEMP TABLE rows_of AS
SELECT array_agg((i::bigint * 48271 % 2147483647)::int ORDER BY i) AS k, array_agg(i ORDER BY i) AS v
FROM generate_series(1, 200000) i;
SELECT * FROM rows_of, mgpu_sort_rows(k, v) s (key, val) ORDER BY 1, 2 LIMIT 0;
SELECT s.* FROM rows_of, LATERAL (SELECT * FROM mgpu_sort_rows(k, v) LIMIT 3) s;
SELECT s.* FROM rows_of, LATERAL (SELECT * FROM mgpu_sort_rows(k, v, true) OFFSET 199998 LIMIT 5) s;
SELECT count(*), sum(key), sum(val), bool_and(key >= before) AS sorted
FROM (SELECT s.*, lag(key, 1, 0) OVER (ORDER BY s.ordinality) AS before
      FROM rows_of, mgpu_sort_rows(k, v) WITH ORDINALITY s) t;
-- a cursor reads as far as it likes
BEGIN;
DECLARE c CURSOR FOR SELECT s.* FROM rows_of, mgpu_sort_rows(k, v) s;
FETCH 2 FROM c;
MOVE 1000 IN c;
FETCH 1 FROM c;
CLOSE c;
COMMIT;
-- joined with itself: two streams at once
SELECT a.key, a.val, b.val
FROM mgpu_sort_rows(ARRAY[1, 2, 3], ARRAY['a', 'b', 'c']) a
     JOIN mgpu_sort_rows(ARRAY[3, 2, 1], ARRAY['x', 'y', 'z']) b USING (key)
ORDER BY 1;
-- errors
SELECT * FROM mgpu_sort_rows(ARRAY[1, 2, 3], ARRAY[1, 2]);
\echo :SQLSTATE
SELECT * FROM mgpu_sort_rows(ARRAY[[1, 2]], ARRAY[[1, 2]]);
\echo :SQLSTATE
SELECT * FROM mgpu_sort_rows(ARRAY[point(1, 1), point(0, 0)], ARRAY[1, 2]);
\echo :SQLSTATE
