--
-- mgpu_segsort_pairs, mgpu_segsort_pairs_flags: keys sorted inside segments, and
-- their values with them
--
SELECT * FROM mgpu_segsort_pairs(ARRAY[3, 1, 9, 8], ARRAY['a', 'b', 'c', 'd'], ARRAY[3]);
SELECT * FROM mgpu_segsort_pairs(ARRAY[3, 1, 9, 8], ARRAY['a', 'b', 'c', 'd'], ARRAY[3], true);
SELECT * FROM mgpu_segsort_pairs(ARRAY[3, 1, 9, 8], ARRAY['a', 'b', 'c', 'd'], '{}');
SELECT * FROM mgpu_segsort_pairs_flags(ARRAY[3, 1, 9, 8], ARRAY['a', 'b', 'c', 'd'], B'1010');
SELECT * FROM mgpu_segsort_pairs_flags(ARRAY[3, 1, 9, 8], ARRAY['a', 'b', 'c', 'd'], B'0010', true);
-- NULL keys inside their segment, NULL values with their keys
SELECT * FROM mgpu_segsort_pairs(ARRAY[3, NULL, 1, NULL, 8], ARRAY['a', 'b', NULL, 'd', 'e'], ARRAY[4]);
SELECT * FROM mgpu_segsort_pairs(ARRAY[3, NULL, 1, NULL, 8], ARRAY['a', 'b', NULL, 'd', 'e'], ARRAY[4], true);
SELECT * FROM mgpu_segsort_pairs_flags(ARRAY[3, NULL, 1, NULL, 8], ARRAY['a', 'b', NULL, 'd', 'e'], B'00010', false, true);
SELECT * FROM mgpu_segsort_pairs_flags(ARRAY[3, NULL, 1, NULL, 8], ARRAY['a', 'b', NULL, 'd', 'e'], B'00010', true, false);
-- ties keep input order; the keys' own bytes travel with their values
SELECT * FROM mgpu_segsort_pairs(ARRAY[1.00, 1.0, 0.5, 1, 1.000], ARRAY[1, 2, 3, 4, 5], ARRAY[4]);
SELECT * FROM mgpu_segsort_pairs(ARRAY[0, '-0', 'NaN', '-0', 0]::float8[], ARRAY[1, 2, 3, 4, 5], ARRAY[3], true);
-- each array keeps its own lower bound; heads go by the keys'
SELECT * FROM mgpu_segsort_pairs('[5:8]={3,1,9,8}'::int[], '[0:3]={a,b,c,d}'::text[], ARRAY[7]);
SELECT * FROM mgpu_segsort_pairs_flags('[5:8]={3,1,9,8}'::int[], '[0:3]={a,b,c,d}'::text[], B'0010');
-- values of any type
SELECT * FROM mgpu_segsort_pairs(ARRAY[2, 1, 4, 3], ARRAY[point(2, 2), point(1, 1), point(4, 4), point(3, 3)], ARRAY[3]);
SELECT * FROM mgpu_segsort_pairs(ARRAY[2, 1, 4, 3], ARRAY['2', '1', '4', '3']::json[], ARRAY[3]);
-- empty, one element, NULL
SELECT * FROM mgpu_segsort_pairs('{}'::int[], '{}'::text[], '{}');
SELECT * FROM mgpu_segsort_pairs('[2:2]={1}'::int[], '[3:3]={x}'::text[], '{2}');
SELECT * FROM mgpu_segsort_pairs_flags(ARRAY[point(1, 1)], ARRAY[point(2, 2)], B'0');
SELECT mgpu_segsort_pairs(NULL::int[], '{}'::text[], '{}') IS NULL AS a, mgpu_segsort_pairs('{}'::int[], NULL::text[], '{}') IS NULL AS b,
       mgpu_segsort_pairs('{}'::int[], '{}'::text[], NULL) IS NULL AS c, mgpu_segsort_pairs_flags('{}'::int[], '{}'::text[], '', NULL) IS NULL AS d;
-- stored arrays: widths of keys and values, short and long segments, every order
CREATE TEMP TABLE pairs AS
SELECT n, array_agg((h % 97)::int ORDER BY i) AS k4, array_agg(h % 97 * 10000000000 ORDER BY i) AS k8,
       array_agg(CASE h % 9 WHEN 0 THEN '-0' WHEN 1 THEN '0' ELSE ((h % 97 - 50) / 4.0)::text END::float8 ORDER BY i) AS kf,
       array_agg(CASE WHEN h % 6 > 0 THEN (h % 50)::int2 END ORDER BY i) AS kn,
       array_agg(i ORDER BY i) AS v4, array_agg(i::bigint * 5000000000 ORDER BY i) AS v8,
       array_agg('v' || i ORDER BY i) AS vt, array_agg(CASE WHEN i % 3 > 0 THEN i END ORDER BY i) AS vn,
       array_agg((sum / 300)::int ORDER BY i) AS groups
FROM unnest(ARRAY[2, 100, 1023, 1025, 30000]) n,
     LATERAL (SELECT i, h, sum(h % 97) OVER (ORDER BY i) AS sum FROM (SELECT i, (i::bigint * 48271 % 2147483647) AS h FROM generate_series(1, n) i) g) g
GROUP BY n;
CREATE TEMP TABLE heads AS
SELECT n, coalesce(array_agg(o::int ORDER BY o) FILTER (WHERE head), '{}') AS heads, string_agg(head::int::text, '' ORDER BY o)::varbit AS flags
FROM (SELECT n, o, o > 1 AND g <> lag(g) OVER (PARTITION BY n ORDER BY o) AS head FROM pairs, unnest(groups) WITH ORDINALITY u(g, o)) x GROUP BY n;
CREATE FUNCTION pg_temp.pairs_are_right(k anyarray, v anycompatiblearray, heads int[], flags varbit, groups int[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    right_ones boolean;
    orders text;
    call text;
BEGIN
    FOR orders, call IN VALUES ('ASC NULLS LAST', ''), ('DESC NULLS FIRST', ', true'), ('ASC NULLS FIRST', ', false, true'), ('DESC NULLS LAST', ', true, false') LOOP
        EXECUTE format($q$
            SELECT array_send(p.keys) = e.k AND array_send(p.vals) = e.v AND array_send(f.keys) = e.k AND array_send(f.vals) = e.v
            FROM (SELECT array_send(array_agg(x ORDER BY g, x %1$s, o)) AS k, array_send(array_agg(y ORDER BY g, x %1$s, o)) AS v
                  FROM unnest($1, $2, $5) WITH ORDINALITY u(x, y, g, o)) e,
                 mgpu_segsort_pairs($1, $2, $3 %2$s) p, mgpu_segsort_pairs_flags($1, $2, $4 %2$s) f $q$, orders, call)
        INTO right_ones USING k, v, heads, flags, groups;
        IF NOT right_ones THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;
SELECT n, pg_temp.pairs_are_right(k4, v4, heads, flags, groups) AS "4,4", pg_temp.pairs_are_right(k4, v8, heads, flags, groups) AS "4,8",
       pg_temp.pairs_are_right(k4, vt, heads, flags, groups) AS "4,t", pg_temp.pairs_are_right(k8, v4, heads, flags, groups) AS "8,4",
       pg_temp.pairs_are_right(k8, v8, heads, flags, groups) AS "8,8", pg_temp.pairs_are_right(kf, v4, heads, flags, groups) AS "f,4",
       pg_temp.pairs_are_right(kf, vt, heads, flags, groups) AS "f,t", pg_temp.pairs_are_right(vt, v4, heads, flags, groups) AS "t,4",
       pg_temp.pairs_are_right(kn, v4, heads, flags, groups) AS "n,4", pg_temp.pairs_are_right(kn, vn, heads, flags, groups) AS "n,n",
       pg_temp.pairs_are_right(k4, vn, heads, flags, groups) AS "4,n"
FROM pairs JOIN heads USING (n) ORDER BY n;
-- the same bytes whatever the algorithm
CREATE FUNCTION pg_temp.digest(algorithm text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mgpu.algorithm', algorithm, true);
    RETURN (SELECT md5(string_agg(concat_ws('|', mgpu_segsort_pairs(k4, v8, heads), mgpu_segsort_pairs_flags(kf, v4, flags, true), mgpu_segsort_pairs(kn, vn, heads)), '#' ORDER BY n))
            FROM pairs JOIN heads USING (n));
END
$$;
SELECT count(DISTINCT pg_temp.digest(algorithm)) AS digests, count(*) AS algorithms
FROM unnest(ARRAY['auto', 'merge', 'radix', 'locality']) algorithm;
-- lengths, dimensions, heads, order
SELECT mgpu_segsort_pairs(ARRAY[1, 2, 3], ARRAY[1, 2], '{}');
\echo :SQLSTATE
SELECT mgpu_segsort_pairs(ARRAY[[1, 2]], ARRAY[1, 2], '{}');
\echo :SQLSTATE
SELECT mgpu_segsort_pairs(ARRAY[1, 2], ARRAY[[1], [2]], '{}', true);
\echo :SQLSTATE
SELECT mgpu_segsort_pairs(ARRAY[1, 2], ARRAY[1, 2], ARRAY[2, 1]);
\echo :SQLSTATE
SELECT mgpu_segsort_pairs(ARRAY[1, 2], ARRAY[1, 2], ARRAY[3]);
\echo :SQLSTATE
SELECT mgpu_segsort_pairs(ARRAY[1, 2], ARRAY[1, 2], ARRAY[NULL]::int[]);
\echo :SQLSTATE
SELECT mgpu_segsort_pairs_flags(ARRAY[1, 2], ARRAY[1, 2], B'1');
\echo :SQLSTATE
SELECT mgpu_segsort_pairs_flags(ARRAY[1, 2, 3], ARRAY[1, 2], B'111');
\echo :SQLSTATE
SELECT mgpu_segsort_pairs(ARRAY[point(1, 1), point(0, 0)], ARRAY[1, 2], '{}');
\echo :SQLSTATE
