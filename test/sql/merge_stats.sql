--
-- mgpu_segsort_stats, mgpu_locality_sort_stats: what each merge pass did.  Tile
-- sizes differ between executors, so what is tested is what holds for any.
--
CREATE TEMP TABLE data AS
SELECT label, array_agg(v ORDER BY i) AS a, array_agg(CASE WHEN i % 10 > 0 THEN v END ORDER BY i) AS n, array_agg('t' || lpad(v::text, 6, '0') COLLATE "C" ORDER BY i) AS t,
       array_agg((lpad(v::text, 16, '0') || md5(v::text))::char(32)::uuid ORDER BY i) AS u
FROM (SELECT label, i, CASE label WHEN 'sorted' THEN i WHEN 'one value' THEN 7 WHEN 'nearly sorted' THEN i + (i::bigint * 48271 % 2147483647 % 30)::int
                                  WHEN 'two batches' THEN i % 50000 WHEN 'reversed' THEN 100000 - i ELSE (i::bigint * 48271 % 2147483647 % 100000)::int END AS v
      FROM generate_series(1, 100000) i, unnest(ARRAY['sorted', 'one value', 'nearly sorted', 'two batches', 'reversed', 'random']) label) x
GROUP BY label;
-- passes count from 1; tiles are not counted twice; percent of one number of tiles
CREATE FUNCTION pg_temp.stats_hold(passes bigint, distinct_passes bigint, first_pass int, last_pass int, tiles float8[], least_left float8, most_percent float8, zero_agrees boolean) RETURNS boolean
LANGUAGE sql AS $$
    SELECT passes = 0 OR passes = distinct_passes AND first_pass = 1 AND last_pass = passes AND least_left > -0.0001 AND most_percent < 100.0001 AND zero_agrees
           AND (SELECT coalesce(max(t) - min(t) < 0.01 AND bool_and(abs(t - round(t)) < 0.01), true) FROM unnest(tiles) t)
$$;
CREATE TEMP TABLE seen AS
SELECT 'locality' AS sort, 'int4' AS kind, label, s.* FROM data, mgpu_locality_sort_stats(a) s
UNION ALL
SELECT 'locality', 'nulls', label, s.* FROM data, mgpu_locality_sort_stats(n) s
UNION ALL
SELECT 'locality', 'text', label, s.* FROM data, mgpu_locality_sort_stats(t) s
UNION ALL
SELECT 'locality', 'uuid', label, s.* FROM data, mgpu_locality_sort_stats(u) s
UNION ALL
SELECT 'segments of 1000', 'int4', label, s.* FROM data, mgpu_segsort_stats(a, ARRAY(SELECT generate_series(1, 100000, 1000))) s
UNION ALL
SELECT 'segments of 30000', 'nulls', label, s.* FROM data, mgpu_segsort_stats(n, ARRAY(SELECT generate_series(1, 100000, 30000))) s
UNION ALL
SELECT 'segments of 7', 'text', label, s.* FROM data, mgpu_segsort_stats(t, ARRAY(SELECT generate_series(1, 100000, 7))) s
UNION ALL
SELECT 'one segment', 'int4', label, s.* FROM data, mgpu_segsort_stats(a, '{}') s;
SELECT sort, kind, bool_and(holds) AS holds
FROM (SELECT sort, kind, label,
             pg_temp.stats_hold(count(*), count(DISTINCT pass), min(pass), max(pass),
                                array_agg(merge_tiles / nullif(merge_percent, 0) * 100) FILTER (WHERE merge_tiles > 0) || array_agg(copy_tiles / nullif(copy_percent, 0) * 100) FILTER (WHERE copy_tiles > 0),
                                min(100 - merge_percent - copy_percent), max(merge_percent + copy_percent), bool_and((merge_tiles = 0) = (merge_percent = 0) AND (copy_tiles = 0) = (copy_percent = 0))) AS holds
      FROM seen GROUP BY sort, kind, label) x
GROUP BY sort, kind ORDER BY sort, kind;
-- what is in place is left alone; what is not is merged (or, reversed, read backwards by some)
SELECT label, kind, (SELECT coalesce(sum(merge_tiles), 0) FROM seen s WHERE sort = 'locality' AND s.label = d.label AND s.kind = k.kind) > 0 AS merged
FROM data d, unnest(ARRAY['int4', 'nulls', 'text', 'uuid']) k(kind) WHERE label <> 'reversed' ORDER BY label COLLATE "C", kind;
SELECT (SELECT sum(merge_tiles) FROM seen WHERE sort = 'locality' AND kind = 'int4' AND label = 'nearly sorted') * 2
       < (SELECT sum(merge_tiles) FROM seen WHERE sort = 'locality' AND kind = 'int4' AND label = 'random') AS less_work_when_nearly_sorted;
-- segments of one element have nothing to merge, whatever the data; long ones have
SELECT bool_and((SELECT coalesce(sum(merge_tiles), 0) FROM mgpu_segsort_stats(a, ARRAY(SELECT generate_series(1, 100000)))) = 0) AS nothing_to_merge,
       (SELECT sum(merge_tiles) > 0 FROM seen WHERE sort = 'one segment' AND label = 'random') AS something,
       (SELECT sum(merge_tiles) FROM seen WHERE sort = 'segments of 30000' AND label = 'random') <= (SELECT sum(merge_tiles) FROM seen WHERE sort = 'one segment' AND label = 'random') AS segments_save_merges
FROM data;
-- lower bounds, few elements, NULL
SELECT coalesce(sum(merge_tiles), 0) >= 0 AS counted FROM mgpu_segsort_stats('[0:3]={3,1,2,0}'::int[], ARRAY[0, 2]);
SELECT coalesce(sum(merge_tiles + copy_tiles), 0) AS tiles FROM mgpu_locality_sort_stats(ARRAY[3, 1, 2]);
SELECT (SELECT count(*) FROM mgpu_locality_sort_stats('{}'::int[])) AS none, (SELECT count(*) FROM mgpu_locality_sort_stats(ARRAY[1])) AS one, (SELECT count(*) FROM mgpu_locality_sort_stats(NULL::int[])) AS "null",
       (SELECT count(*) FROM mgpu_segsort_stats('{}'::int[], '{}')) AS none, (SELECT count(*) FROM mgpu_segsort_stats(ARRAY[1], '{}')) AS one, (SELECT count(*) FROM mgpu_segsort_stats(ARRAY[1], NULL)) AS "null",
       (SELECT count(*) FROM mgpu_locality_sort_stats(ARRAY[NULL, NULL]::int[])) AS nulls, (SELECT count(*) FROM mgpu_locality_sort_stats(ARRAY[NULL, 1, NULL])) AS one_present;
-- errors
SELECT * FROM mgpu_segsort_stats(ARRAY[1, 2], ARRAY[3]);
\echo :SQLSTATE
SELECT * FROM mgpu_segsort_stats(ARRAY[1, 2], ARRAY[2, 1]);
\echo :SQLSTATE
SELECT * FROM mgpu_locality_sort_stats(ARRAY[[1, 2], [3, 4]]);
\echo :SQLSTATE
SELECT * FROM mgpu_locality_sort_stats(ARRAY[point(1, 1), point(0, 0)]);
\echo :SQLSTATE
DROP TABLE data, seen;
