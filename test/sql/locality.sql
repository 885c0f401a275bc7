--
-- mgpu_locality_sort, mgpu_locality_sort_pairs: as mgpu_sort, leaving alone what
-- is in place
--
SELECT mgpu_locality_sort(ARRAY[1, 2, 4, 3, 5]);
SELECT mgpu_locality_sort(v) AS plain, mgpu_locality_sort(v, false) AS up, mgpu_locality_sort(v, true) AS down,
       mgpu_locality_sort(v, false, true) AS up_first, mgpu_locality_sort(v, true, false) AS down_last
FROM (SELECT ARRAY[3, NULL, 1, NULL, 5, 4] AS v) t;
SELECT * FROM mgpu_locality_sort_pairs(ARRAY[1, 3, 2], ARRAY['a', 'b', 'c']);
SELECT * FROM mgpu_locality_sort_pairs(ARRAY[1, NULL, 3, 2], ARRAY['a', 'b', NULL, 'd'], true);
SELECT * FROM mgpu_locality_sort_pairs(ARRAY[1, NULL, 3, 2], ARRAY['a', 'b', NULL, 'd'], true, false);
-- ties keep their order
SELECT mgpu_locality_sort(ARRAY[1.00, 0.5, 1.0]), mgpu_locality_sort(ARRAY[0, '-0', -1, 'NaN', '-0', 0]::float8[], true),
       mgpu_locality_sort(ARRAY['1 mon', '30 days', '1 day']::interval[]);
SELECT * FROM mgpu_locality_sort_pairs(ARRAY[0, '-0', -1, 'NaN', '-0', 0]::float8[], ARRAY[1, 2, 3, 4, 5, 6]);
SELECT mgpu_locality_sort(ARRAY['b', 'A', 'a', 'B'] COLLATE "C"), mgpu_locality_sort(ARRAY['b', 'A', 'a', 'B'] COLLATE "en-x-icu");
-- lower bounds; empty, one element, NULL
SELECT mgpu_locality_sort('[0:2]={3,1,2}'::int[]), mgpu_locality_sort('{}'::int[]), mgpu_locality_sort('[7:7]={1}'::int[]),
       mgpu_locality_sort(ARRAY[point(1, 1)]), mgpu_locality_sort(ARRAY[NULL, NULL]::int[]);
SELECT * FROM mgpu_locality_sort_pairs('[5:7]={3,1,2}'::int[], '[0:2]={c,a,b}'::text[]);
SELECT * FROM mgpu_locality_sort_pairs('{}'::int[], '{}'::text[]);
SELECT mgpu_locality_sort(NULL::int[]) IS NULL AS a, mgpu_locality_sort(ARRAY[1], NULL) IS NULL AS b, mgpu_locality_sort_pairs(NULL::int[], '{}'::int[]) IS NULL AS c;
-- data from sorted to random, short and long, every type of path
CREATE TEMP TABLE orders AS
SELECT label, n, array_agg(v ORDER BY i) AS v4, array_agg(v * 4294967291 ORDER BY i) AS v8,
       array_agg(CASE v % 9 WHEN 0 THEN '-0' WHEN 1 THEN '0' ELSE (v / 4.0)::text END::float8 ORDER BY i) AS vf,
       array_agg(CASE WHEN i % 5 > 0 THEN v END ORDER BY i) AS vn, array_agg(lpad(v::text, 6, '0') COLLATE "C" ORDER BY i) AS vt,
       array_agg(i ORDER BY i) AS pos
FROM unnest(ARRAY[2, 33, 1000, 9000]) n,
     LATERAL (SELECT label, i, CASE label WHEN 'sorted' THEN i WHEN 'reversed' THEN n - i WHEN 'one value' THEN 7
                                          WHEN 'neighbours swapped' THEN i + i % 2 * 2 WHEN 'nearly sorted' THEN i + (i::bigint * 48271 % 2147483647 % 30)::int
                                          WHEN 'two batches' THEN i % (n / 2 + 1) WHEN 'one out of place' THEN CASE WHEN i = n / 2 THEN 0 ELSE i END
                                          ELSE (i::bigint * 48271 % 2147483647 % 100000)::int END AS v
              FROM generate_series(1, n) i, unnest(ARRAY['sorted', 'reversed', 'one value', 'neighbours swapped', 'nearly sorted', 'two batches', 'one out of place', 'random']) label) g
GROUP BY label, n;
CREATE FUNCTION pg_temp.locality_is_right(k anyarray, v int[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    right_ones boolean;
    orders text;
    call text;
BEGIN
    FOR orders, call IN VALUES ('ASC NULLS LAST', ''), ('DESC NULLS FIRST', ', true'), ('ASC NULLS FIRST', ', false, true'), ('DESC NULLS LAST', ', true, false') LOOP
        EXECUTE format($q$
            SELECT array_send(mgpu_locality_sort($1 %2$s)) = e.k AND array_send(p.keys) = e.k AND p.vals = e.v
            FROM (SELECT array_send(array_agg(x ORDER BY x %1$s, o)) AS k, array_agg(y ORDER BY x %1$s, o) AS v FROM unnest($1, $2) WITH ORDINALITY u(x, y, o)) e,
                 mgpu_locality_sort_pairs($1, $2 %2$s) p $q$, orders, call)
        INTO right_ones USING k, v;
        IF NOT right_ones THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;
SELECT label, n, pg_temp.locality_is_right(v4, pos) AS int4, pg_temp.locality_is_right(v8, pos) AS int8, pg_temp.locality_is_right(vf, pos) AS float8,
       pg_temp.locality_is_right(vn, pos) AS nulls, pg_temp.locality_is_right(vt, pos) AS text
FROM orders ORDER BY label COLLATE "C", n;
SELECT cardinality(mgpu_locality_sort(v4)) FROM orders WHERE n = 9000 AND label = 'nearly sorted';
SELECT function, algorithm, items, segments FROM mgpu_last_run();
-- errors
SELECT mgpu_locality_sort(ARRAY[[2, 1], [1, 2]]);
\echo :SQLSTATE
SELECT mgpu_locality_sort_pairs(ARRAY[2, 1], ARRAY[1]);
\echo :SQLSTATE
SELECT mgpu_locality_sort(ARRAY[point(1, 1), point(0, 0)]);
\echo :SQLSTATE
SELECT mgpu_locality_sort_pairs(ARRAY['{}', '{}']::json[], ARRAY[1, 2], true);
\echo :SQLSTATE
DROP TABLE orders;
