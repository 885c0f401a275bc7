--
-- large arrays: segments, merges, bulk changes and the network on half a million
-- elements and more, where work is cut into parts
--
CREATE TEMP TABLE big (o int, h bigint, g int);
INSERT INTO big SELECT i, i::bigint * 48271 % 2147483647, (sum((i::bigint * 16807 % 2147483647 % 97 = 5)::int) OVER (ORDER BY i))::int FROM generate_series(1, 600000) i;
-- mean segment 97, and one that holds a third of everything
UPDATE big SET g = 2000000000 WHERE o > 400000;
CREATE TEMP TABLE large AS
SELECT array_agg((h - 1073741824)::int ORDER BY o) AS a4, array_agg((h - 1073741824) * 4294967291 ORDER BY o) AS a8,
       array_agg(CASE h % 50 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' WHEN 3 THEN '-nan' ELSE ((h - 1073741824) / 1024.0)::text END::float8 ORDER BY o) AS af,
       array_agg(CASE WHEN h % 10 > 0 THEN (h % 1000)::int END ORDER BY o) AS n4, array_agg((h % 30000)::int2 ORDER BY o) AS a2,
       array_agg(g ORDER BY o) AS groups FROM big;
CREATE TEMP TABLE segments AS
SELECT coalesce(array_agg(o::int ORDER BY o) FILTER (WHERE head), '{}') AS heads FROM (SELECT o, g <> lag(g, 1, g) OVER (ORDER BY o) AS head FROM large, unnest(groups) WITH ORDINALITY u(g, o)) x;
SELECT array_send(mgpu_segsort(a4, heads)) = (SELECT array_send(array_agg(x ORDER BY g, x)) FROM unnest(a4, groups) u(x, g)) AS int4,
       array_send(mgpu_segsort_by(a8, groups, true)) = (SELECT array_send(array_agg(x ORDER BY g, x DESC)) FROM unnest(a8, groups) u(x, g)) AS int8,
       array_send(mgpu_segsort(af, heads)) = (SELECT array_send(array_agg(x ORDER BY g, x, o)) FROM unnest(af, groups) WITH ORDINALITY u(x, g, o)) AS float8,
       array_send(mgpu_segsort(n4, heads, true)) = (SELECT array_send(array_agg(x ORDER BY g, x DESC)) FROM unnest(n4, groups) u(x, g)) AS nulls,
       mgpu_segsort(a4, '{}') = (SELECT array_agg(x ORDER BY x) FROM unnest(a4) x) AS one_segment
FROM large, segments;
SELECT array_send(p.keys) = (SELECT array_send(array_agg(x ORDER BY g, x)) FROM unnest(a2, groups) u(x, g)) AS keys,
       p.vals = (SELECT array_agg(v ORDER BY g, x, o) FROM unnest(a2, groups, a4) WITH ORDINALITY u(x, g, v, o)) AS vals
FROM large, segments, mgpu_segsort_pairs(a2, a4, heads) p;
SELECT mgpu_locality_sort(a4) = mgpu_sort(a4) AS random, mgpu_locality_sort(mgpu_sort(a4)) = mgpu_sort(a4) AS sorted, mgpu_locality_sort(mgpu_sort(a4, true)) = mgpu_sort(a4) AS reversed,
       array_send(mgpu_locality_sort(af, true)) = array_send(mgpu_sort(af, true)) AS float8,
       (SELECT vals FROM mgpu_locality_sort_pairs(n4, a8)) = mgpu_sort_by(a8, n4) AS pairs
FROM large;
SELECT mgpu_locality_sort(x) = (SELECT array_agg(i ORDER BY i) FROM unnest(x) i) AS nearly_sorted
FROM (SELECT array_agg(i + i * 31 % 40 ORDER BY i) AS x FROM generate_series(1, 600000) i) t;
SELECT mgpu_oddeven_sort(a4) = mgpu_sort(a4) AS int4, mgpu_oddeven_sort(a8, true) = mgpu_sort(a8, true) AS int8, mgpu_oddeven_sort(af) = mgpu_sort(af) AS float8, mgpu_oddeven_sort(n4) = mgpu_sort(n4) AS nulls
FROM large;
-- merges of unequal and of equal halves
SELECT cut, array_send(mgpu_merge(mgpu_sort(a4[:cut]), mgpu_sort(a4[cut + 1:]))) = array_send(mgpu_sort(a4)) AS int4,
       array_send(mgpu_merge(mgpu_sort(a8[:cut], true), mgpu_sort(a8[cut + 1:], true), true)) = array_send(mgpu_sort(a8, true)) AS int8,
       array_send(mgpu_merge(mgpu_sort(af[:cut]), mgpu_sort(af[cut + 1:]))) = array_send(mgpu_sort(af)) AS float8,
       array_send(mgpu_merge(mgpu_sort(n4[:cut], false, true), mgpu_sort(n4[cut + 1:], false, true), false, true)) = array_send(mgpu_sort(n4, false, true)) AS nulls,
       (SELECT array_send(keys) || array_send(vals) FROM mgpu_merge_pairs(mgpu_sort(a2[:cut]), mgpu_sort_by(a8[:cut], a2[:cut]), mgpu_sort(a2[cut + 1:]), mgpu_sort_by(a8[cut + 1:], a2[cut + 1:])))
           = array_send(mgpu_sort(a2)) || array_send(mgpu_sort_by(a8, a2)) AS pairs
FROM large, unnest(ARRAY[1, 5000, 300000, 599999]) cut ORDER BY cut;
-- one inside the other, and one behind the other
SELECT mgpu_merge(x, y) = x || y AS behind, mgpu_merge(y, x) = x || y AS before, cardinality(mgpu_merge(x, x)) AS twice
FROM (SELECT ARRAY(SELECT generate_series(1, 300000)) AS x, ARRAY(SELECT generate_series(300001, 600000)) AS y) t;
-- bulk changes
CREATE TEMP TABLE places AS
SELECT array_agg(o ORDER BY h) AS positions, array_agg(-o ORDER BY h) AS inserted FROM big WHERE h % 7 = 3;
SELECT mgpu_bulk_remove(a4, positions) = (SELECT array_agg((h - 1073741824)::int ORDER BY o) FROM big WHERE h % 7 <> 3) AS remove_4,
       mgpu_bulk_remove(a8, mgpu_sort(positions)) = (SELECT array_agg((h - 1073741824) * 4294967291 ORDER BY o) FROM big WHERE h % 7 <> 3) AS remove_8,
       mgpu_bulk_remove(a4, ARRAY(SELECT generate_series(1, 600000, 2))) = (SELECT array_agg((h - 1073741824)::int ORDER BY o) FROM big WHERE o % 2 = 0) AS every_other,
       mgpu_bulk_remove(a4, ARRAY(SELECT generate_series(100, 599900))) = (SELECT array_agg((h - 1073741824)::int ORDER BY o) FROM big WHERE o < 100 OR o > 599900) AS the_middle
FROM large, places;
SELECT mgpu_bulk_insert(a4, positions, inserted)
       = (SELECT array_agg(x ORDER BY o, own) FROM (SELECT o, 1 AS own, (h - 1073741824)::int AS x FROM big UNION ALL SELECT p, 0, i FROM unnest(positions, inserted) u(p, i)) w) AS insert_4,
       mgpu_bulk_insert(a4, array_fill(300001, ARRAY[100000]), inserted[:50000] || inserted[:50000]) = a4[:300000] || inserted[:50000] || inserted[:50000] || a4[300001:] AS one_place,
       mgpu_bulk_insert(a4, array_fill(600001, ARRAY[50000]), inserted[:50000]) = a4 || inserted[:50000] AS append,
       mgpu_bulk_remove(mgpu_bulk_insert(a4, ARRAY(SELECT generate_series(1, 600000)), a4), ARRAY(SELECT generate_series(1, 1200000, 2))) = a4 AS there_and_back
FROM large, places;
-- threads do not change the answer
CREATE FUNCTION pg_temp.digest(threads text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mgpu.cpu_threads', threads, true);
    RETURN (SELECT md5(array_send(mgpu_segsort(af, heads)) || array_send(mgpu_locality_sort(a8)) || array_send(mgpu_merge(mgpu_sort(a4), mgpu_sort(a4[:200000])))
                       || array_send(mgpu_bulk_insert(a8, positions, a8[:cardinality(positions)])) || array_send(mgpu_bulk_remove(a2, positions)) || array_send(mgpu_oddeven_sort(a4)))
            FROM large, segments, places);
END
$$;
SELECT count(DISTINCT pg_temp.digest(threads)) AS digests FROM unnest(ARRAY['1', '2', '5']) threads;
DROP TABLE big, large, segments, places;
