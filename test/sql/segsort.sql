--
-- mgpu_segsort, mgpu_segsort_flags, mgpu_segsort_by, mgpu_segsort_rows: sorted
-- inside segments, which elements never leave
--
SELECT mgpu_segsort(ARRAY[3, 1, 2, 9, 8, 7], ARRAY[4]);
SELECT mgpu_segsort(ARRAY[3, 1, 2, 9, 8, 7], ARRAY[1, 4]) AS "first head listed",
       mgpu_segsort(ARRAY[3, 1, 2, 9, 8, 7], '{}') AS "one segment",
       mgpu_segsort(ARRAY[3, 1, 2, 9, 8, 7], '{1,2,3,4,5,6}') AS "all heads";
SELECT mgpu_segsort_flags(ARRAY[3, 1, 2, 9, 8, 7], B'100100'), mgpu_segsort_flags(ARRAY[3, 1, 2, 9, 8, 7], B'000100') AS "bit 1 is taken as set",
       mgpu_segsort_flags(ARRAY[3, 1, 2, 9, 8, 7], '000000'::varbit) AS "one segment";
SELECT mgpu_segsort_by(ARRAY[3, 1, 2, 9, 8, 7], ARRAY['a', 'a', 'a', 'b', 'b', 'b']),
       mgpu_segsort_by(ARRAY[3, 1, 2, 9, 8, 7], ARRAY['a', 'a', 'b', 'b', 'a', 'a']) AS "a twice";
SELECT * FROM mgpu_segsort_rows(ARRAY[3, 1, 9, 8], ARRAY['a', 'a', 'b', 'b']);
-- every order; NULLs inside their segment
SELECT mgpu_segsort(v, h) AS plain, mgpu_segsort(v, h, false) AS up, mgpu_segsort(v, h, true) AS down,
       mgpu_segsort(v, h, false, true) AS up_first, mgpu_segsort(v, h, true, false) AS down_last
FROM (SELECT ARRAY[3, NULL, 1, NULL, NULL, 5, 4] AS v, ARRAY[4, 6] AS h) t;
SELECT mgpu_segsort_flags(v, f) AS plain, mgpu_segsort_flags(v, f, true) AS down, mgpu_segsort_flags(v, f, true, false) AS down_last
FROM (SELECT ARRAY[3, NULL, 1, NULL, NULL, 5, 4] AS v, B'0001010' AS f) t;
SELECT mgpu_segsort_by(v, g) AS plain, mgpu_segsort_by(v, g, true) AS down, mgpu_segsort_by(v, g, false, true) AS up_first
FROM (SELECT ARRAY[3, NULL, 1, NULL, NULL, 5, 4] AS v, ARRAY[1, 1, 1, 2, 2, 3, 3] AS g) t;
SELECT * FROM mgpu_segsort_rows(ARRAY[3, NULL, 1, 5, 4], ARRAY[7, 7, 7, NULL, NULL], true);
SELECT * FROM mgpu_segsort_rows(ARRAY[3, NULL, 1, 5, 4], ARRAY[7, 7, 7, NULL, NULL], true, false) LIMIT 4;
SELECT mgpu_segsort(vals => ARRAY[2, 1, 4, 3], heads => ARRAY[3], descending => true);
-- what makes a group: equal as the type says it, NULLs alike
SELECT mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY[0, '-0', 'NaN', 'NaN']::float8[]) AS float8,
       mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY[0, '-0', 'NaN', '-nan']::float4[]) AS float4,
       mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY[1.0, 1.00, 2, 2.0]) AS "numeric",
       mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY['1 mon', '30 days', '2 mon', '60 days']::interval[]) AS "interval",
       mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY[NULL, NULL, 1, NULL]) AS nulls;
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY['a', 'A', 'b', 'B'] COLLATE any_case) AS letters_alike,
       mgpu_segsort_by(ARRAY[4, 3, 2, 1], ARRAY['a', 'A', 'b', 'B'] COLLATE "C") AS letters_differ;
-- the values' collation
SELECT mgpu_segsort(ARRAY['b', 'A', 'a', 'B'] COLLATE "C", ARRAY[3]), mgpu_segsort(ARRAY['b', 'A', 'B', 'a'] COLLATE "en-x-icu", '{}');
-- a group's type needs no order, but it needs equality
SELECT mgpu_segsort_by(ARRAY[2, 1, 4, 3], '{7,7,8,8}'::xid[]);
SELECT mgpu_segsort_by(ARRAY[2, 1, 4, 3], ARRAY['1', '1', '2', '2']::json[]);
\echo :SQLSTATE
-- ties keep their order, to the byte
SELECT mgpu_segsort(ARRAY[1.00, 0.5, 1.0, 2.0, 2, 2.00], ARRAY[4]), mgpu_segsort(ARRAY[1.00, 0.5, 1.0, 2.0, 2, 2.00], ARRAY[4], true);
SELECT mgpu_segsort(ARRAY[0, '-0', -1, '-0', 0, 'NaN', 1]::float8[], ARRAY[4]), mgpu_segsort(ARRAY[0, '-0', -1, '-0', 0, 'NaN', 1]::float4[], ARRAY[4], true);
-- lower bounds: heads are subscripts, results keep the values' bound
SELECT mgpu_segsort('[0:5]={3,1,2,9,8,7}'::int[], ARRAY[3]), mgpu_segsort('[0:5]={3,1,2,9,8,7}'::int[], ARRAY[0, 3]),
       mgpu_segsort('[-3:0]={2,1,4,3}'::int[], '[7:7]={-1}');
SELECT mgpu_segsort_flags('[5:8]={2,1,4,3}'::int[], B'1010'), mgpu_segsort_by('[5:8]={2,1,4,3}'::int[], '[0:3]={a,a,b,b}'::text[]);
-- empty, one element, NULL
SELECT mgpu_segsort('{}'::int[], '{}'), mgpu_segsort('[2:2]={1}'::int[], '{2}'), mgpu_segsort_flags('{}'::int[], ''), mgpu_segsort_flags(ARRAY[1], B'1'),
       mgpu_segsort_by('{}'::int[], '{}'::text[]), mgpu_segsort_by('[2:2]={1}'::int[], ARRAY['a']), mgpu_segsort(ARRAY[NULL]::int[], '{1}');
SELECT count(*) FROM mgpu_segsort_rows('{}'::int[], '{}'::text[]);
SELECT * FROM mgpu_segsort_rows(ARRAY[1], ARRAY['a']);
SELECT mgpu_segsort(NULL::int[], '{}') IS NULL AS a, mgpu_segsort('{2,1}'::int[], NULL) IS NULL AS b, mgpu_segsort('{2,1}'::int[], '{}', NULL) IS NULL AS c,
       mgpu_segsort_flags('{2,1}'::int[], NULL) IS NULL AS d, mgpu_segsort_by('{2,1}'::int[], NULL::text[]) IS NULL AS e;
SELECT count(*) FROM mgpu_segsort_rows('{2,1}'::int[], NULL::text[]);
-- all NULL, in one segment and in several
SELECT mgpu_segsort(ARRAY[NULL, NULL, NULL]::int[], ARRAY[2]), mgpu_segsort(ARRAY[NULL, NULL, NULL]::text[], ARRAY[2], true);
-- errors
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS TABLE (state text, message text, detail text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    state := SQLSTATE;
    RETURN NEXT;
END
$$;
\x on
SELECT s AS statement, e.* FROM unnest(ARRAY[
    'SELECT mgpu_segsort(ARRAY[3, 2, 1], ARRAY[3, 2])',
    'SELECT mgpu_segsort(ARRAY[3, 2, 1], ARRAY[2, 2])',
    'SELECT mgpu_segsort(ARRAY[3, 2, 1], ARRAY[2, NULL])',
    'SELECT mgpu_segsort(ARRAY[3, 2, 1], ARRAY[4])',
    'SELECT mgpu_segsort(ARRAY[3, 2, 1], ARRAY[0, 2])',
    'SELECT mgpu_segsort(''[-1:1]={3,2,1}''::int[], ARRAY[2])',
    'SELECT mgpu_segsort(''{}''::int[], ARRAY[1])',
    'SELECT mgpu_segsort(ARRAY[1], ARRAY[2])',
    'SELECT mgpu_segsort(ARRAY[3, 2, 1], ARRAY[[1, 2], [3, 4]])',
    'SELECT mgpu_segsort(ARRAY[[3, 2], [1, 0]], ARRAY[1])',
    'SELECT mgpu_segsort_flags(ARRAY[3, 2, 1], B''10'')',
    'SELECT mgpu_segsort_flags(ARRAY[1], '''')',
    'SELECT mgpu_segsort_by(ARRAY[3, 2, 1], ARRAY[1, 1])',
    'SELECT mgpu_segsort_by(ARRAY[3, 2], ARRAY[[1], [2]])',
    'SELECT * FROM mgpu_segsort_rows(ARRAY[3, 2, 1], ARRAY[1, 1])',
    'SELECT * FROM mgpu_segsort_rows(ARRAY[[3, 2], [1, 0]], ARRAY[1, 1])',
    'SELECT mgpu_segsort(ARRAY[point(1, 1), point(0, 0)], ARRAY[2])',
    'SELECT mgpu_segsort_by(ARRAY[''{}'', ''{}'']::json[], ARRAY[1, 1])',
    'SELECT * FROM mgpu_segsort_rows(ARRAY[''{}'', ''{}'']::json[], ARRAY[1, 1])'
]) s, pg_temp.error_of(s) e;
\x off
-- stored arrays, many shapes of segments, every order, against PARTITION BY
CREATE TEMP TABLE shapes AS
SELECT shape, n, i AS o, (h % 2147483647 - 1073741824)::int AS v4, (h - 1073741824) * 4294967291 AS v8,
       CASE h % 50 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' WHEN 3 THEN '-nan' ELSE ((h - 1073741824) / 1024.0)::text END::float8 AS vf,
       CASE WHEN h % 7 > 0 THEN (h % 1000)::int END AS vn, CASE WHEN h % 5 > 0 THEN 't' || h % 5000 END COLLATE "C" AS vt, md5(h::text)::uuid AS vu,
       i > 1 AND CASE shape WHEN 'one segment' THEN false
                            WHEN 'ones' THEN true
                            WHEN 'hundreds' THEN i % 100 = 50
                            WHEN 'any length' THEN h % 61 = 7
                            WHEN 'a long one among short ones' THEN i % 3 = 0 AND (i < n / 4 OR i > n * 3 / 4)
                            WHEN 'around powers of two' THEN i IN (32, 64, 127, 256, 511, 1025, 2048, 2049, 4095, 4097, 8192, 8193) END AS head
FROM unnest(ARRAY['one segment', 'ones', 'hundreds', 'any length', 'a long one among short ones', 'around powers of two']) shape,
     unnest(ARRAY[2, 31, 1000, 9000]) n,
     LATERAL (SELECT i, i::bigint * 48271 % 2147483647 AS h FROM generate_series(1, n) i) g;
CREATE TEMP TABLE segmented AS
SELECT shape, n, array_agg(o ORDER BY o) FILTER (WHERE head) AS heads, string_agg(head::int::text, '' ORDER BY o)::varbit AS flags,
       array_agg(s::int ORDER BY o) AS groups, array_agg(v4 ORDER BY o) AS v4, array_agg(v8 ORDER BY o) AS v8, array_agg(vf ORDER BY o) AS vf,
       array_agg(vn ORDER BY o) AS vn, array_agg(vt ORDER BY o) AS vt, array_agg(vu ORDER BY o) AS vu
FROM (SELECT *, count(*) FILTER (WHERE head) OVER (PARTITION BY shape, n ORDER BY o) AS s FROM shapes) x GROUP BY shape, n;
UPDATE segmented SET heads = '{}' WHERE heads IS NULL;
-- the three forms give the same, and what ORDER BY gives, to the byte
CREATE FUNCTION pg_temp.segsort_is_right(v anyarray, heads int[], flags varbit, groups int[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    right_ones boolean;
    orders text;
    call text;
BEGIN
    FOR orders, call IN VALUES ('ASC NULLS LAST', ''), ('DESC NULLS FIRST', ', true'), ('ASC NULLS FIRST', ', false, true'), ('DESC NULLS LAST', ', true, false') LOOP
        EXECUTE format($q$
            SELECT array_send(mgpu_segsort($1, $2 %2$s)) = e AND array_send(mgpu_segsort_flags($1, $3 %2$s)) = e AND array_send(mgpu_segsort_by($1, $4 %2$s)) = e
            FROM (SELECT array_send(array_agg(x ORDER BY g, x %1$s, o)) AS e FROM unnest($1, $4) WITH ORDINALITY u(x, g, o)) s $q$, orders, call)
        INTO right_ones USING v, heads, flags, groups;
        IF NOT right_ones THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;
SELECT shape, n, cardinality(heads) AS heads, pg_temp.segsort_is_right(v4, heads, flags, groups) AS int4, pg_temp.segsort_is_right(v8, heads, flags, groups) AS int8,
       pg_temp.segsort_is_right(vf, heads, flags, groups) AS float8, pg_temp.segsort_is_right(vn, heads, flags, groups) AS nulls,
       pg_temp.segsort_is_right(vt, heads, flags, groups) AS text, pg_temp.segsort_is_right(vu, heads, flags, groups) AS uuid
FROM segmented ORDER BY shape COLLATE "C", n;
-- the same bytes whatever the algorithm and the number of threads
CREATE FUNCTION pg_temp.digest(algorithm text, threads text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mgpu.algorithm', algorithm, true), set_config('mgpu.cpu_threads', threads, true);
    RETURN (SELECT md5(string_agg(concat_ws('|', mgpu_segsort(v4, heads, true), mgpu_segsort_by(vf, groups), mgpu_segsort_flags(vn, flags, false, true)), '#' ORDER BY shape COLLATE "C", n))
            FROM segmented WHERE n > 31);
END
$$;
SELECT count(DISTINCT pg_temp.digest(algorithm, threads)) AS digests, count(*) AS settings
FROM unnest(ARRAY['auto', 'merge', 'radix', 'locality']) algorithm, unnest(ARRAY['1', '3']) threads;
-- rows
SELECT shape, count(*), bool_and(r.grp = x.g AND r.val IS NOT DISTINCT FROM x.vn) AS rows_are_right
FROM segmented s,
     LATERAL (SELECT g, vn, row_number() OVER (ORDER BY g, vn DESC NULLS LAST) AS o FROM unnest(s.groups, s.vn) u(g, vn)) x
     JOIN LATERAL mgpu_segsort_rows(s.vn, s.groups, true, false) WITH ORDINALITY r(grp, val, o) USING (o)
WHERE n = 1000 GROUP BY shape ORDER BY shape COLLATE "C";
-- what is reported
SELECT cardinality(mgpu_segsort(v4, heads)) FROM segmented WHERE shape = 'hundreds' AND n = 9000;
SELECT function, items, segments, bytes FROM mgpu_last_run();
DROP COLLATION any_case;
