--
-- mgpu_merge, mgpu_merge_pairs: two sorted arrays into one, a's elements first on ties
--
SELECT mgpu_merge(ARRAY[1, 3, 5], ARRAY[2, 3, 4]);
SELECT mgpu_merge(ARRAY[5, 3, 1], ARRAY[4, 3, 2], true), mgpu_merge(a => ARRAY[1, 2], b => ARRAY[0], descending => false);
SELECT * FROM mgpu_merge_pairs(ARRAY[1, 3], ARRAY['a', 'b'], ARRAY[2, 3], ARRAY['c', 'd']);
SELECT * FROM mgpu_merge_pairs(ARRAY[3, 1], ARRAY['a', 'b'], ARRAY[3, 2], ARRAY['c', 'd'], true);
-- NULLs where the order puts them
SELECT mgpu_merge(ARRAY[1, 3, NULL], ARRAY[2, NULL, NULL]) AS last, mgpu_merge(ARRAY[NULL, 3, 1], ARRAY[NULL, 2], true) AS down,
       mgpu_merge(ARRAY[NULL, 1, 3], ARRAY[2], false, true) AS up_first, mgpu_merge(ARRAY[3, NULL], ARRAY[4, NULL], true, false) AS down_last,
       mgpu_merge(ARRAY[NULL, NULL]::int[], ARRAY[NULL]::int[]) AS alone, mgpu_merge(ARRAY[NULL, NULL]::int[], ARRAY[1]) AS only_a;
SELECT * FROM mgpu_merge_pairs(ARRAY[1, 3, NULL], ARRAY['a', NULL, 'c'], ARRAY[2, NULL], ARRAY['d', 'e']);
SELECT * FROM mgpu_merge_pairs(ARRAY[NULL, 3, 1], ARRAY['a', NULL, 'c'], ARRAY[NULL, 2], ARRAY['d', 'e'], true);
SELECT * FROM mgpu_merge_pairs(ARRAY[NULL, 1, 3], ARRAY[1, 2, 3], ARRAY[NULL, 2], ARRAY[4, 5], false, true);
-- int2vector and oidvector start at 0, as the server's own do, also when empty
SELECT v, array_lower(v, 1) AS lower, w, array_lower(w, 1) AS lower, w = '1 2 3'::oidvector AS same, u = '1'::oidvector AS same, x = ''::oidvector AS empty
FROM (SELECT mgpu_merge('1 3'::int2vector, '2') AS v, mgpu_merge('1 3'::oidvector, '2') AS w, mgpu_merge(''::oidvector, '1') AS u, mgpu_merge(''::oidvector, '') AS x) t;
SELECT keys, array_lower(keys, 1) AS lower, vals FROM mgpu_merge_pairs('1 3'::int2vector, '{a,c}'::text[], '2', '{b}');
SELECT keys = ''::int2vector AS empty, vals FROM mgpu_merge_pairs(''::int2vector, '{}'::text[], '', '{}');
-- ties: a's bytes before b's
SELECT mgpu_merge(ARRAY[1.0, 2.0], ARRAY[1.00, 2.00]) AS "numeric", mgpu_merge(ARRAY[2.0, 1.0], ARRAY[2.00, 1.00], true) AS down,
       mgpu_merge(ARRAY['-0', 0, 'NaN']::float8[], ARRAY[0, '-0', 'NaN']::float8[]) AS float8,
       mgpu_merge(ARRAY[0, '-0']::float4[], ARRAY['-0', '-0', 0]::float4[], true) AS float4,
       mgpu_merge(ARRAY['30 days', '1 mon']::interval[], ARRAY['1 mon', '31 days']::interval[]) AS "interval";
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT mgpu_merge(ARRAY['A', 'b'] COLLATE any_case, ARRAY['a', 'B']), mgpu_merge(ARRAY['B', 'a'] COLLATE "C", ARRAY['A', 'b']), mgpu_merge(ARRAY['a', 'B'] COLLATE "en-x-icu", ARRAY['A', 'b']);
DROP COLLATION any_case;
SELECT * FROM mgpu_merge_pairs(ARRAY['-0', 0]::float8[], ARRAY[1, 2], ARRAY[0, '-0']::float8[], ARRAY[3, 4]);
-- floats keep their own bits: the sign of zero and of NaN
SELECT string_agg(encode(float8send(x), 'hex'), ' ') AS up FROM unnest(mgpu_merge(ARRAY['-0', 1, -('NaN'::float8)]::float8[], ARRAY['-1', 0, '-0', 'NaN', -('NaN'::float8)]::float8[])) x;
SELECT string_agg(encode(float4send(k), 'hex'), ' ') AS down FROM unnest((SELECT keys FROM mgpu_merge_pairs('{}'::float4[], '{}'::text[], ARRAY[-('NaN'::float4), 'NaN', 2, 0, '-0', '-1']::float4[], ARRAY['a', 'b', 'c', 'd', 'e', 'f'], true))) k;
-- one side empty, both, one element; the result starts at 1
SELECT mgpu_merge('{}'::int[], ARRAY[1, 2]), mgpu_merge(ARRAY[1, 2], '{}'), mgpu_merge('{}'::int[], '{}'), mgpu_merge('[5:6]={1,3}'::int[], '[0:0]={2}'),
       mgpu_merge('[5:6]={1,3}'::int[], '{}'), mgpu_merge('{}'::text[], '[5:5]={x}');
SELECT * FROM mgpu_merge_pairs('{}'::int[], '{}'::text[], '[3:4]={1,2}'::int[], '[7:8]={a,b}'::text[]);
SELECT * FROM mgpu_merge_pairs('{}'::int[], '{}'::text[], '{}'::int[], '{}'::text[]);
SELECT mgpu_merge(NULL::int[], '{}') IS NULL AS a, mgpu_merge('{}'::int[], NULL) IS NULL AS b, mgpu_merge('{}'::int[], '{}', NULL) IS NULL AS c,
       mgpu_merge_pairs('{}'::int[], '{}'::int[], '{}'::int[], NULL::int[]) IS NULL AS d;
-- types
SELECT mgpu_merge(ARRAY[false, true], ARRAY[false]), mgpu_merge(ARRAY['2024-01-01', '2024-03-01']::date[], ARRAY['2024-02-01']::date[]),
       mgpu_merge(ARRAY['a', 'c']::"char"[], ARRAY['b']::"char"[]), mgpu_merge(ARRAY['2', '30']::money[], ARRAY['4']::money[]);
SELECT mgpu_merge(ARRAY['00000000-0000-0000-0000-000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff']::uuid[], ARRAY['00000000-0000-0000-0000-0000000000ff']::uuid[]),
       mgpu_merge(ARRAY['{"a":1}', '{"a":3}']::jsonb[], ARRAY['{"a":2}']::jsonb[]), mgpu_merge(ARRAY['[1,2)', '[3,4)']::int4range[], ARRAY['[1,3)']::int4range[]);
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
    -- the parser's advice has other words since 19
    IF message ~ '^function .* does not exist$' THEN
        detail := '';
        hint := '';
    END IF;
    RETURN NEXT;
END
$$;
\x on
SELECT s AS statement, e.* FROM unnest(ARRAY[
    'SELECT mgpu_merge(ARRAY[1, 3, 2], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[1, 3], ARRAY[5, 4])',
    'SELECT mgpu_merge(ARRAY[2, 1], ARRAY[2, 1])',
    'SELECT mgpu_merge(ARRAY[1, 2], ARRAY[2, 3], true)',
    'SELECT mgpu_merge(''[10:12]={1,3,2}''::int[], ''{}'')',
    'SELECT mgpu_merge(''{}''::int[], ''[0:3]={1,2,3,0}'')',
    'SELECT mgpu_merge(ARRAY[1, NULL, 2], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[3, 1, NULL, 2], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[NULL, 1, 2], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[1, 2], ARRAY[1, NULL], false, true)',
    'SELECT mgpu_merge(ARRAY[1, 2], ARRAY[NULL, 1, 3, 2], false, true)',
    'SELECT mgpu_merge(ARRAY[NULL, 1, 2], ARRAY[1], true)',
    'SELECT mgpu_merge(ARRAY[''a'', ''c'', ''b'', ''a''] COLLATE "C", ARRAY[''b''])',
    'SELECT mgpu_merge(ARRAY[''a''], ARRAY[''b'', ''B''] COLLATE "C")',
    'SELECT mgpu_merge(ARRAY[''2 days'', ''1 day'']::interval[], ''{}'')',
    'SELECT mgpu_merge(ARRAY[''178000000 years'', ''1 day'']::interval[], ''{}'')',
    'SELECT mgpu_merge(ARRAY[1, ''NaN'', 2]::float8[], ''{}'')',
    'SELECT mgpu_merge_pairs(ARRAY[1, 3, 2], ARRAY[1, 2, 3], ARRAY[1], ARRAY[1])',
    'SELECT mgpu_merge_pairs(ARRAY[1], ARRAY[''x''], ARRAY[1, NULL, 2], ARRAY[''x'', ''y'', ''z''])',
    'SELECT mgpu_merge_pairs(ARRAY[1, 2], ARRAY[1], ARRAY[1], ARRAY[1])',
    'SELECT mgpu_merge_pairs(ARRAY[1, 2], ARRAY[1, 2], ''{}''::int[], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[[1, 2], [3, 4]], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[1], ARRAY[[1, 2], [3, 4]])',
    'SELECT mgpu_merge_pairs(ARRAY[1], ARRAY[[1]], ARRAY[1], ARRAY[1])',
    'SELECT mgpu_merge(ARRAY[point(1, 1)], ARRAY[point(0, 0)])',
    'SELECT mgpu_merge_pairs(ARRAY[''{}'']::json[], ARRAY[1], ARRAY[''{}'']::json[], ARRAY[1])',
    'SELECT mgpu_merge(array_fill(true, ARRAY[70000000]), array_fill(true, ARRAY[64217728]))',
    'SELECT mgpu_merge(ARRAY[1, 2], ARRAY[''a''])'
]) s, pg_temp.error_of(s) e;
\x off
-- stored arrays of many lengths against ORDER BY over both, every order, to the byte
CREATE TEMP TABLE sides AS
SELECT n, source, i AS o, h % 1000 AS v2, (h * 4294967291) AS v8, CASE h % 9 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' ELSE ((h % 1000) / 8.0)::text END::float8 AS vf,
       CASE WHEN h % 7 > 0 THEN (h % 500)::int END AS vn, ((h % 300) / 10.0)::numeric(10, 1) * (10.0 ^ (h % 2))::numeric(4, 2) AS vm, make_interval(months => (h % 3)::int, days => (h % 60)::int) AS vi,
       md5((h % 3000)::text)::uuid AS vu, (h % 200)::int AS v4
FROM (VALUES (1, 1), (1, 1000), (1000, 1), (31, 33), (1024, 1024), (5000, 300), (4097, 9000)) t(a, b),
     LATERAL (SELECT format('%s + %s', a, b) AS n, source, i, (i::bigint * (48271 + source) % 2147483647) AS h
              FROM unnest(ARRAY[0, 1]) source, LATERAL generate_series(1, CASE source WHEN 0 THEN a ELSE b END) i) g;
ANALYZE sides;
CREATE FUNCTION pg_temp.merge_is_right(which text, v text, w text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    right_ones boolean;
    orders text;
    call text;
BEGIN
    FOR orders, call IN VALUES ('ASC NULLS LAST', ''), ('DESC NULLS FIRST', ', true'), ('ASC NULLS FIRST', ', false, true'), ('DESC NULLS LAST', ', true, false') LOOP
        EXECUTE format($q$
            SELECT array_send(mgpu_merge(ak, bk %2$s)) = k AND array_send(p.keys) = k AND array_send(p.vals) = v
            FROM (SELECT array_agg(%3$s ORDER BY %3$s %1$s, o) FILTER (WHERE source = 0) AS ak, array_agg(%3$s ORDER BY %3$s %1$s, o) FILTER (WHERE source = 1) AS bk,
                         array_agg(%4$s ORDER BY %3$s %1$s, o) FILTER (WHERE source = 0) AS av, array_agg(%4$s ORDER BY %3$s %1$s, o) FILTER (WHERE source = 1) AS bv,
                         array_send(array_agg(%3$s ORDER BY %3$s %1$s, source, o)) AS k, array_send(array_agg(%4$s ORDER BY %3$s %1$s, source, o)) AS v
                  FROM sides WHERE n = $1) e, mgpu_merge_pairs(ak, av, bk, bv %2$s) p $q$, orders, call, v, w)
        INTO right_ones USING which;
        IF NOT right_ones THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;
SELECT n, pg_temp.merge_is_right(n, 'v2', 'o') AS "8,4", pg_temp.merge_is_right(n, 'v2::int2', 'v8') AS "2,8", pg_temp.merge_is_right(n, 'v4', 'o::text') AS "4,t",
       pg_temp.merge_is_right(n, 'vf', 'o') AS "f,4", pg_temp.merge_is_right(n, 'vf::float4', 'vu') AS "f4,16", pg_temp.merge_is_right(n, 'vn', 'vn') AS "n,n",
       pg_temp.merge_is_right(n, 'vm', 'o::int2') AS "numeric,2", pg_temp.merge_is_right(n, 'vi', 'o') AS "interval,4", pg_temp.merge_is_right(n, 'vu', 'vn') AS "16,n"
FROM (SELECT DISTINCT n FROM sides) t ORDER BY n COLLATE "C";
-- the first bad position, wherever it is in a long array, in either
SELECT bad, side, state, detail
FROM unnest(ARRAY[2, 3, 1000, 4096, 4097, 65537, 99999, 100000]) bad, unnest(ARRAY['a', 'b']) side,
     pg_temp.error_of(format($q$SELECT mgpu_merge(%1$s, %2$s) FROM (SELECT ARRAY(SELECT CASE WHEN i = %3$s OR i > %3$s + 5000 AND i %% 7 = 0 THEN 0 ELSE i END FROM generate_series(1, 100000) i) AS x, ARRAY(SELECT generate_series(1, 5000)) AS y) t$q$,
                            CASE side WHEN 'a' THEN 'x' ELSE 'y' END, CASE side WHEN 'a' THEN 'y' ELSE 'x' END, bad))
ORDER BY bad, side;
SELECT state, detail FROM pg_temp.error_of($q$SELECT mgpu_merge_pairs(x, x, y, y, true) FROM (SELECT ARRAY(SELECT 100000 - i + CASE i WHEN 70000 THEN 2 ELSE 0 END FROM generate_series(1, 100000) i) AS y, ARRAY[3, 2] AS x) t$q$);
-- sorted as one array again and again: a log that is kept sorted
SELECT bool_and(log = (SELECT array_agg(i ORDER BY i) FROM generate_series(1, batch * 1000) i)) AS kept, max(cardinality(log))
FROM (WITH RECURSIVE kept(batch, log) AS (
          SELECT 1, ARRAY(SELECT generate_series(1, 1000))
          UNION ALL
          SELECT batch + 1, mgpu_merge(log, ARRAY(SELECT generate_series(batch * 1000 + 1, batch * 1000 + 1000))) FROM kept WHERE batch < 20)
      SELECT * FROM kept) t;
SELECT cardinality(mgpu_merge(ARRAY(SELECT generate_series(1, 40000)), ARRAY(SELECT generate_series(1, 40000)))) AS merged;
SELECT function, algorithm, items, segments, bytes FROM mgpu_last_run();
DROP TABLE sides;
