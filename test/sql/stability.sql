--
-- Elements that the type calls equal keep their input order, in every direction
--
SELECT mgpu_sort(ARRAY[1.00, 0.5, 1.0, 1, 0.50]), mgpu_sort(ARRAY[1.00, 0.5, 1.0, 1, 0.50], true);
SELECT mgpu_sort(ARRAY['30 days', '1 mon', '29 days', '720:00', '29 days']::interval[]),
       mgpu_sort(ARRAY['30 days', '1 mon', '29 days', '720:00', '29 days']::interval[], true);
SELECT mgpu_sort(ARRAY['a  ', 'b', 'a', 'a ']::bpchar[] COLLATE "C")::text COLLATE "C";
SELECT mgpu_sort(ARRAY['1.0', '"x"', '1.00', '1']::jsonb[]), mgpu_sort(ARRAY['[1.0,2)', '[1,2.0)', '[0,1)']::numrange[], true);
SELECT mgpu_sort(ARRAY[ROW(1.0, 'x'::text), ROW(1.00, 'x'::text), ROW(0.5, 'y'::text)]);
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a', 'A'] COLLATE any_case), mgpu_sort(ARRAY['b', 'A', 'B', 'a', 'A'] COLLATE any_case, true);
SELECT mgpu_argsort(ARRAY['b', 'A', 'B', 'a', 'A'] COLLATE any_case, true);
SELECT * FROM mgpu_sort_pairs(ARRAY['b', 'A', 'B', 'a', 'A'] COLLATE any_case, ARRAY[1, 2, 3, 4, 5]);
-- many ties, every function, against ORDER BY with the position as tie-break
CREATE TEMP TABLE ties AS
SELECT n, array_agg(CASE h % 4 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 WHEN 2 THEN 2.000 ELSE 2.0 END ORDER BY i) AS num,
       array_agg(CASE h % 4 WHEN 0 THEN '1 mon' WHEN 1 THEN '30 days' WHEN 2 THEN '24:00' ELSE '1 day' END::interval ORDER BY i) AS span,
       array_agg((CASE h % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'A' WHEN 2 THEN 'b' ELSE 'B' END) COLLATE any_case ORDER BY i) AS txt,
       array_agg((h % 3)::int ORDER BY i) AS small, array_agg(i ORDER BY i) AS pos
FROM unnest(ARRAY[10, 1000, 5000, 30000]) n,
     LATERAL (SELECT i, i::bigint * 48271 % 2147483647 / 7 AS h FROM generate_series(1, n) i) g
GROUP BY n;
SELECT n,
       mgpu_sort(num)::text = (SELECT array_agg(x ORDER BY x, o)::text FROM unnest(num) WITH ORDINALITY u(x, o)) AS num,
       mgpu_sort(num, true)::text = (SELECT array_agg(x ORDER BY x DESC, o)::text FROM unnest(num) WITH ORDINALITY u(x, o)) AS num_desc,
       mgpu_sort(span)::text = (SELECT array_agg(x ORDER BY x, o)::text FROM unnest(span) WITH ORDINALITY u(x, o)) AS span,
       mgpu_sort(span, true)::text = (SELECT array_agg(x ORDER BY x DESC, o)::text FROM unnest(span) WITH ORDINALITY u(x, o)) AS span_desc,
       mgpu_sort(txt)::text COLLATE "C" = (SELECT array_agg(x ORDER BY x, o)::text COLLATE "C" FROM unnest(txt) WITH ORDINALITY u(x, o)) AS txt,
       mgpu_sort(txt, true)::text COLLATE "C" = (SELECT array_agg(x ORDER BY x DESC, o)::text COLLATE "C" FROM unnest(txt) WITH ORDINALITY u(x, o)) AS txt_desc
FROM ties ORDER BY n;
SELECT n,
       mgpu_sort_by(pos, small) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(small) WITH ORDINALITY u(x, o)) AS int_asc,
       mgpu_sort_by(pos, small, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(small) WITH ORDINALITY u(x, o)) AS int_desc,
       mgpu_argsort(span, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(span) WITH ORDINALITY u(x, o)) AS span_desc,
       mgpu_sort_by(pos, num, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(num) WITH ORDINALITY u(x, o)) AS num_desc,
       mgpu_sort_by(pos, txt, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(txt) WITH ORDINALITY u(x, o)) AS txt_desc
FROM ties ORDER BY n;
-- the same bytes whatever the algorithm
CREATE FUNCTION pg_temp.digest(algorithm text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mgpu.algorithm', algorithm, true);
    RETURN (SELECT md5(string_agg(concat_ws('|', mgpu_sort(num), mgpu_sort(span, true), mgpu_argsort(small, true), mgpu_sort_by(pos, small)), '#' ORDER BY n)) FROM ties);
END
$$;
SELECT count(DISTINCT pg_temp.digest(algorithm)) AS digests, count(*) AS algorithms
FROM unnest(ARRAY['auto', 'merge', 'radix', 'locality']) algorithm;
DROP TABLE ties;
DROP COLLATION any_case;
