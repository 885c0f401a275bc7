--
-- mgpu_bulk_remove, mgpu_bulk_insert: many elements out of or into an array at once
--
SELECT mgpu_bulk_remove(ARRAY['a', 'b', 'c', 'd'], ARRAY[4, 2]);
SELECT mgpu_bulk_insert(ARRAY['a', 'd'], ARRAY[2, 2, 3], ARRAY['b', 'c', 'e']);
-- any order, repeats count once; nothing to remove; everything
SELECT mgpu_bulk_remove(ARRAY[10, 20, 30, 40, 50], ARRAY[5, 1, 5, 3, 1, 1]), mgpu_bulk_remove(ARRAY[10, 20, 30], '{}'), mgpu_bulk_remove(ARRAY[10, 20], ARRAY[2, 1]),
       mgpu_bulk_remove(ARRAY[10], ARRAY[1]), mgpu_bulk_remove(ARRAY[10], ARRAY[1, 1]), mgpu_bulk_remove('{}'::int[], '{}');
-- before, between, behind; equal positions keep the order given
SELECT mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[1, 2, 4], ARRAY[10, 20, 30]), mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[4, 4, 4], ARRAY[7, 8, 9]),
       mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[4, 1, 2, 1, 4], ARRAY[100, 101, 102, 103, 104]), mgpu_bulk_insert(ARRAY[1, 2], '{}', '{}'),
       mgpu_bulk_insert('{}'::int[], ARRAY[1, 1, 1], ARRAY[3, 1, 2]), mgpu_bulk_insert('{}'::int[], '{}', '{}');
-- NULL elements are elements
SELECT mgpu_bulk_remove(ARRAY[1, NULL, 3, NULL], ARRAY[2]), mgpu_bulk_remove(ARRAY[1, NULL, 3, NULL], ARRAY[2, 4]), mgpu_bulk_remove(ARRAY[1, NULL, 3, NULL], ARRAY[1, 3]),
       mgpu_bulk_insert(ARRAY[1, NULL], ARRAY[2, 3], ARRAY[NULL, 5]), mgpu_bulk_insert(ARRAY[1, 2], ARRAY[2], ARRAY[NULL]::int[]), mgpu_bulk_insert(ARRAY[NULL]::text[], ARRAY[1], ARRAY['x']);
-- lower bounds: positions are subscripts, the source's bound stays
SELECT mgpu_bulk_remove('[0:3]={a,b,c,d}'::text[], ARRAY[0]), mgpu_bulk_remove('[-1:1]={a,b,c}'::text[], ARRAY[1, 0]), mgpu_bulk_remove('[5:6]={1,2}'::int[], '[9:9]={5}'),
       mgpu_bulk_insert('[0:1]={1,2}'::int[], ARRAY[2, 0], ARRAY[9, 8]), mgpu_bulk_insert('[5:6]={a,b}'::text[], ARRAY[6], '[3:3]={x}'),
       mgpu_bulk_insert('[5:6]={a,b}'::text[], '{}', '{}'), mgpu_bulk_remove('[5:6]={a,b}'::text[], ARRAY[5, 6]);
-- int2vector and oidvector start at 0, also when empty
SELECT v, array_lower(v, 1) AS lower, w = '1'::oidvector AS same, x = ''::oidvector AS empty
FROM (SELECT mgpu_bulk_insert('1 3'::int2vector, ARRAY[1], '2') AS v, mgpu_bulk_insert(''::oidvector, ARRAY[1], '1') AS w, mgpu_bulk_remove('1 3'::oidvector, ARRAY[0, 1]) AS x) t;
-- any element type, sortable or not
SELECT mgpu_bulk_remove(ARRAY[point(1, 1), point(2, 2), point(3, 3)], ARRAY[2]), mgpu_bulk_insert(ARRAY['1', '3']::json[], ARRAY[2], ARRAY['{"two": 2}']::json[]),
       mgpu_bulk_remove(ARRAY['a', 'b', 'c']::"char"[], ARRAY[1]), mgpu_bulk_insert(ARRAY[true], ARRAY[1, 2], ARRAY[false, false]);
SELECT mgpu_bulk_insert(ARRAY['00:00:2b:01:02:03']::macaddr[], ARRAY[1], ARRAY['00:00:2b:01:02:04']::macaddr[]), mgpu_bulk_remove(ARRAY['10:00+01', '11:00+02']::timetz[], ARRAY[1]),
       mgpu_bulk_insert(ARRAY['1 mon']::interval[], ARRAY[2], ARRAY['30 days']::interval[]), mgpu_bulk_remove(ARRAY['x', 'y']::name[], ARRAY[1]);
SELECT mgpu_bulk_remove(NULL::int[], '{}') IS NULL AS a, mgpu_bulk_remove(ARRAY[1], NULL) IS NULL AS b, mgpu_bulk_insert(NULL::int[], '{}', '{}') IS NULL AS c,
       mgpu_bulk_insert(ARRAY[1], NULL, '{}') IS NULL AS d, mgpu_bulk_insert(ARRAY[1], '{}', NULL) IS NULL AS e;
-- one undoes the other
SELECT mgpu_bulk_remove(mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[1, 3], ARRAY[10, 30]), ARRAY[1, 4]);
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
    'SELECT mgpu_bulk_remove(ARRAY[1, 2, 3], ARRAY[4])',
    'SELECT mgpu_bulk_remove(ARRAY[1, 2, 3], ARRAY[2, 0])',
    'SELECT mgpu_bulk_remove(ARRAY[1, 2, 3], ARRAY[-2147483648, 2147483647])',
    'SELECT mgpu_bulk_remove(''[5:7]={1,2,3}''::int[], ARRAY[1])',
    'SELECT mgpu_bulk_remove(''{}''::int[], ARRAY[1])',
    'SELECT mgpu_bulk_remove(ARRAY[1, 2, 3], ARRAY[1, NULL])',
    'SELECT mgpu_bulk_remove(ARRAY[1, 2, 3], ''[0:1]={1,NULL}'')',
    'SELECT mgpu_bulk_remove(ARRAY[[1, 2], [3, 4]], ARRAY[1])',
    'SELECT mgpu_bulk_remove(ARRAY[1, 2], ARRAY[[1], [2]])',
    'SELECT mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[5], ARRAY[1])',
    'SELECT mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[0], ARRAY[1])',
    'SELECT mgpu_bulk_insert(''[5:7]={1,2,3}''::int[], ARRAY[9], ARRAY[1])',
    'SELECT mgpu_bulk_insert(''[2147483645:2147483646]={1,2}''::int[], ARRAY[2147483647], ARRAY[5])',
    'SELECT mgpu_bulk_insert(''[2147483646:2147483646]={a}''::text[], ARRAY[2147483647, 2147483646], ARRAY[''b'', ''c''])',
    'SELECT mgpu_bulk_insert(''{}''::int[], ARRAY[2], ARRAY[1])',
    'SELECT mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[1, NULL], ARRAY[1, 2])',
    'SELECT mgpu_bulk_insert(ARRAY[1, 2, 3], ARRAY[1, 2], ARRAY[1])',
    'SELECT mgpu_bulk_insert(ARRAY[1, 2, 3], ''{}'', ARRAY[1])',
    'SELECT mgpu_bulk_insert(ARRAY[[1, 2], [3, 4]], ARRAY[1], ARRAY[1])',
    'SELECT mgpu_bulk_insert(ARRAY[1, 2], ARRAY[1, 1], ARRAY[[1], [2]])',
    'SELECT mgpu_bulk_insert(array_fill(true, ARRAY[80000000]), array_fill(1, ARRAY[54217728]), array_fill(true, ARRAY[54217728]))',
    'SELECT mgpu_bulk_insert(ARRAY[1], ARRAY[1], ARRAY[''a''])'
]) s, pg_temp.error_of(s) e;
\x off
-- stored arrays of all widths, long and short, against unnest WITH ORDINALITY, to the byte
CREATE TEMP TABLE sources AS
SELECT n, i AS o, h % 2 = 0 AS w1, (h % 30000)::int2 AS w2, h::int AS w4, h * 4294967291 AS w8, md5(h::text)::uuid AS w16, make_interval(secs => h % 1000) AS "interval",
       (substr(md5(h::text), 1, 2) || ':00:2b:01:02:03')::macaddr AS w6, md5(h::text)::name AS w64, repeat('t', (h % 9)::int) || h AS t, CASE WHEN h % 6 > 0 THEN h::int END AS n4,
       CASE WHEN h % 6 > 0 THEN 't' || h END AS nt
FROM unnest(ARRAY[1, 2, 100, 1500, 9000]) n, LATERAL (SELECT i, i::bigint * 48271 % 2147483647 AS h FROM generate_series(1, n) i) g;
-- what to take out, and where to put in how many: none, few, half, most, the ends, runs
CREATE TEMP TABLE changes AS
SELECT n, change, CASE change WHEN 'ends' THEN i IN (1, n) WHEN 'one' THEN i = n / 2 + 1 WHEN 'few' THEN h % 100 = 3 WHEN 'half' THEN i % 2 = 0
                              WHEN 'most' THEN h % 10 > 0 WHEN 'runs' THEN i / 300 % 2 = 0 WHEN 'all' THEN true END AS hit, i, h
FROM unnest(ARRAY[1, 2, 100, 1500, 9000]) n, LATERAL (SELECT i, i::bigint * 16807 % 2147483647 AS h FROM generate_series(1, n) i) g,
     unnest(ARRAY['ends', 'one', 'few', 'half', 'most', 'runs', 'all']) change;
ANALYZE sources, changes;
CREATE FUNCTION pg_temp.bulk_is_right(items int, which text, x text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    right_ones boolean;
    orders text;
BEGIN
    -- positions ascending and scattered, each of them once and twice
    FOREACH orders IN ARRAY ARRAY['i', 'h, i'] LOOP
        EXECUTE format($q$
            SELECT array_send(mgpu_bulk_remove(a, p)) = array_send(coalesce(kept, a[1:0])) AND array_send(mgpu_bulk_remove(a, p || p)) = array_send(coalesce(kept, a[1:0]))
                   AND array_send(mgpu_bulk_insert(a, p, b)) = array_send(grown)
            FROM (SELECT array_agg(%1$s ORDER BY o) AS a, array_agg(%1$s ORDER BY o) FILTER (WHERE NOT hit) AS kept,
                         coalesce(array_agg(i ORDER BY %2$s) FILTER (WHERE hit), '{}') AS p, coalesce(array_agg(%1$s ORDER BY %2$s) FILTER (WHERE hit), '{}') AS b
                  FROM sources s JOIN changes c ON c.n = s.n AND c.i = s.o WHERE s.n = $1 AND change = $2) t,
                 LATERAL (SELECT array_agg(x ORDER BY at, own, j) AS grown
                          FROM (SELECT o AS at, 1 AS own, 0::bigint AS j, x FROM unnest(a) WITH ORDINALITY u(x, o)
                                UNION ALL SELECT at, 0, j, x FROM unnest(p, b) WITH ORDINALITY v(at, x, j)) w) g $q$, x, orders)
        INTO right_ones USING items, which;
        IF NOT right_ones THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;
SELECT n, change, pg_temp.bulk_is_right(n, change, 'w1') AS "1", pg_temp.bulk_is_right(n, change, 'w2') AS "2", pg_temp.bulk_is_right(n, change, 'w4') AS "4",
       pg_temp.bulk_is_right(n, change, 'w8') AS "8", pg_temp.bulk_is_right(n, change, 'w16') AS "16", pg_temp.bulk_is_right(n, change, 'interval') AS "interval",
       pg_temp.bulk_is_right(n, change, 'w6') AS "6", pg_temp.bulk_is_right(n, change, 'w64') AS "64", pg_temp.bulk_is_right(n, change, 't') AS text,
       pg_temp.bulk_is_right(n, change, 'n4') AS "4 and nulls", pg_temp.bulk_is_right(n, change, 'nt') AS "text and nulls"
FROM unnest(ARRAY[1, 2, 100, 1500]) n, unnest(ARRAY['ends', 'one', 'few', 'half', 'most', 'runs', 'all']) change ORDER BY n, change COLLATE "C";
-- the executor's way for arrays that are short for it: a chosen algorithm is a wish for it
SET mgpu.algorithm = merge;
SELECT n, change, pg_temp.bulk_is_right(n, change, 'w1') AS "1", pg_temp.bulk_is_right(n, change, 'w2') AS "2", pg_temp.bulk_is_right(n, change, 'w4') AS "4",
       pg_temp.bulk_is_right(n, change, 'w8') AS "8", pg_temp.bulk_is_right(n, change, 'w16') AS "16"
FROM unnest(ARRAY[1, 2, 9000]) n, unnest(ARRAY['ends', 'few', 'half', 'runs', 'all']) change ORDER BY n, change COLLATE "C";
RESET mgpu.algorithm;
SELECT cardinality(mgpu_bulk_remove(ARRAY(SELECT generate_series(1, 100000)), ARRAY(SELECT generate_series(1, 100000, 3)))) AS kept;
SELECT function, algorithm, items, segments FROM mgpu_last_run();
SELECT cardinality(mgpu_bulk_insert(ARRAY(SELECT generate_series(1, 100000)), ARRAY(SELECT generate_series(1, 100000, 3)), ARRAY(SELECT generate_series(1, 100000, 3)))) AS grown;
SELECT function, algorithm, items, segments FROM mgpu_last_run();
DROP TABLE sources, changes;
