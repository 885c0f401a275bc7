--
-- values of every width by keys of every form: what array_agg(val ORDER BY key, position) gives
--
CREATE TEMP TABLE narrow AS
SELECT array_agg(i % 3 = 0 ORDER BY i) AS bools, array_agg(CASE WHEN i % 5 > 0 THEN (i * 7919 % 30000)::int2 END ORDER BY i) AS shorts,
       array_agg(CASE WHEN i % 11 = 0 THEN substr(md5(i::text), 1, i % 23) END ORDER BY i) AS texts,
       array_agg(CASE WHEN i % 97 = 0 THEN (i / 7.0)::numeric END ORDER BY i) AS numbers
FROM generate_series(1, 8000) i;
-- of each: equal ones, NULLs, beginnings that many share, all that a code has
CREATE TEMP TABLE keys AS
SELECT array_agg(CASE WHEN i % 7 > 0 THEN substr(md5((i % 4000)::text), 1, i % 13) END ORDER BY i) AS words,
       array_agg('https://www.example.org/items/' || i * 48271::bigint % 9973 ORDER BY i) AS paths,
       array_agg('the same for all of them'::text ORDER BY i) AS same,
       array_agg(CASE WHEN i = 77 THEN 'the only one' END ORDER BY i) AS lonely,
       array_agg(decode(repeat('00', i % 9) || substr(md5((i % 1000)::text), 1, 4), 'hex') ORDER BY i) AS bytes,
       array_agg((substr(md5((i % 50)::text), 1, 4) || repeat(' ', i % 5))::char(12) ORDER BY i) AS blanks,
       array_agg(('column_' || i * 48271::bigint % 5003)::name ORDER BY i) AS names,
       array_agg(CASE i % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL ELSE ((i * 48271::bigint % 2001 - 1000) / 100.0)::numeric(12, 3) * CASE i % 2 WHEN 0 THEN 1 ELSE 1.00 END END ORDER BY i) AS decimals,
       array_agg(set_masklen('10.0.0.0'::inet + i * 48271::bigint % 16777216, 8 + i % 25) ORDER BY i) AS networks,
       array_agg(('00000000-0000-0000-' || substr(md5((i % 3000)::text), 1, 4) || '-' || substr(md5((i % 3000)::text), 5, 12))::uuid ORDER BY i) AS ids,
       array_agg(CASE WHEN i % 1000 = 0 THEN make_interval(years => 170000000 - i) ELSE make_interval(months => i % 3, days => i % 100) END ORDER BY i) AS spans,
       array_agg(CASE WHEN i % 9 > 0 THEN int4range((i * 48271::bigint % 5003)::int, NULL) END ORDER BY i) AS ranges,
       array_agg(to_jsonb(i % 700) ORDER BY i) AS objects,
       array_agg((i * 48271::bigint % 499)::bit(12)::varbit || repeat('1', i % 70)::varbit ORDER BY i) AS bits,
       array_agg(CASE WHEN i % 13 > 0 THEN (i * 48271::bigint % 777)::int END ORDER BY i) AS ints,
       array_agg((i * 48271::bigint % 777)::float8 * CASE i % 2 WHEN 0 THEN 1 ELSE -1 END ORDER BY i) AS floats
FROM generate_series(1, 8000) i;
CREATE TEMP TABLE key_names AS
SELECT attname || CASE WHEN attname IN ('words', 'paths', 'same', 'lonely', 'blanks', 'names') THEN ' COLLATE "C"' ELSE '' END AS key
FROM pg_attribute WHERE attrelid = 'keys'::regclass AND attnum > 0;
CREATE TEMP TABLE orders AS
SELECT * FROM (VALUES ('', ''), (', true', 'DESC'), (', false, true', 'NULLS FIRST'), (', true, false', 'DESC NULLS LAST')) v(args, clause);
-- whether a call gives what plain SQL does
CREATE FUNCTION pg_temp.sorts(call text, val text, key text, clause text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    same boolean;
BEGIN
    EXECUTE format('SELECT array_send(%s) = array_send((SELECT array_agg(v ORDER BY k %s, o) FROM unnest(%s, %s) WITH ORDINALITY u(v, k, o))) FROM narrow, keys',
                   call, clause, val, key) INTO STRICT same;
    RETURN same;
END
$$;
SELECT key, count(*) AS calls, bool_and(pg_temp.sorts(format('mgpu_sort_by(%s, %s%s)', val, key, args), val, key, clause)) AS sort_by
FROM key_names, unnest(ARRAY['bools', 'shorts', 'texts', 'numbers']) val, orders
GROUP BY key ORDER BY key COLLATE "C";
SELECT key, count(*) AS calls,
       bool_and(pg_temp.sorts(format('(mgpu_sort_pairs(%s, %s)).vals', key, val), val, key, '')) AS vals,
       bool_and(pg_temp.sorts(format('(mgpu_sort_pairs(%s, %s)).keys', key, val), key, key, '')) AS keys
FROM key_names, unnest(ARRAY['bools', 'texts']) val GROUP BY key ORDER BY key COLLATE "C";
-- keys that are mostly NULL, or narrow
SELECT val, bool_and(pg_temp.sorts(format('(mgpu_sort_pairs(%s, %s%s)).keys', key, val, args), key, key, clause) AND
                     pg_temp.sorts(format('(mgpu_sort_pairs(%s, %s%s)).vals', key, val, args), val, key, clause)) AS sort_pairs
FROM unnest(ARRAY['bools', 'texts', 'words COLLATE "C"']) val, unnest(ARRAY['shorts', 'texts COLLATE "C"', 'numbers']) key, orders
GROUP BY val ORDER BY val COLLATE "C";
-- a type whose codes are made by a collation, where there is one
SELECT coalesce(bool_and(pg_temp.sorts(format('mgpu_sort_by(bools, %s COLLATE %I%s)', key, collname, args), 'bools', format('%s COLLATE %I', key, collname), clause)), true) AS collated
FROM unnest(ARRAY['words', 'paths', 'same', 'lonely']) key, orders, pg_collation WHERE collname = 'en-x-icu';
-- the same by any algorithm and number of threads
BEGIN;
SELECT name, value, bool_and(set_config(name, value, true) = value AND pg_temp.sorts(format('mgpu_sort_by(bools, %s)', key), 'bools', key, '')) AS same
FROM (VALUES ('mgpu.algorithm', 'radix'), ('mgpu.algorithm', 'merge'), ('mgpu.cpu_threads', '1'), ('mgpu.cpu_threads', '5')) v(name, value), key_names
GROUP BY name, value ORDER BY name COLLATE "C", value COLLATE "C";
ROLLBACK;
SELECT pg_temp.sorts('(mgpu_locality_sort_pairs(words COLLATE "C", bools)).vals', 'bools', 'words COLLATE "C"', '') AS locality,
       pg_temp.sorts('(SELECT array_agg(val) FROM mgpu_sort_rows(words COLLATE "C", bools))', 'bools', 'words COLLATE "C"', '') AS rows;
-- nothing there, and a handful
SELECT pg_temp.sorts(format('mgpu_sort_by(%s, %s COLLATE "C")', val, key), val, key || ' COLLATE "C"', '') AS few
FROM (VALUES ('ARRAY[true, false, NULL]', 'ARRAY[NULL, NULL, NULL]::text[]'), ('ARRAY[NULL, NULL]::text[]', $$ARRAY['b', 'a']$$), ($$ARRAY['x', NULL, 'yz']$$, $$ARRAY['b', NULL, 'b']$$)) v(val, key);
-- bit strings that are far longer than the others
BEGIN;
CREATE TEMP TABLE long_bits ON COMMIT DROP AS
SELECT len, array_agg(nullif(i % 3 = 0, i % 7 = 0) ORDER BY i) AS vals,
       array_agg((i * 48271 % 1009)::bit(16)::varbit || repeat('1', CASE WHEN i % 1000 = 0 THEN len + i % 8 ELSE 0 END)::varbit ORDER BY i) AS bits
FROM unnest(ARRAY[30000, 900000]) len, generate_series(1, 5000) i GROUP BY len;
SELECT len, mgpu_sort_by(vals, bits) = (SELECT array_agg(v ORDER BY k, o) FROM unnest(vals, bits) WITH ORDINALITY u(v, k, o)) AS ascending,
       mgpu_sort_by(vals, bits, true) = (SELECT array_agg(v ORDER BY k DESC, o) FROM unnest(vals, bits) WITH ORDINALITY u(v, k, o)) AS descending
FROM long_bits ORDER BY len;
ROLLBACK;
-- comparisons that turn round, or say that everything comes first, after some calls: any order, but the same elements
BEGIN;
CREATE SEQUENCE comparisons;
CREATE FUNCTION turning(a point, b point) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('comparisons') <= current_setting('narrow.turn')::bigint THEN
        RETURN btfloat8cmp(a[0], b[0]);
    END IF;
    RETURN CASE current_setting('narrow.then') WHEN 'round' THEN btfloat8cmp(b[0], a[0]) ELSE -1 END;
END
$$;
CREATE FUNCTION turning_lt(a point, b point) RETURNS boolean LANGUAGE sql AS 'SELECT turning(a, b) < 0';
CREATE FUNCTION turning_eq(a point, b point) RETURNS boolean LANGUAGE sql AS 'SELECT turning(a, b) = 0';
CREATE FUNCTION turning_gt(a point, b point) RETURNS boolean LANGUAGE sql AS 'SELECT turning(a, b) > 0';
CREATE OPERATOR < (LEFTARG = point, RIGHTARG = point, FUNCTION = turning_lt);
CREATE OPERATOR = (LEFTARG = point, RIGHTARG = point, FUNCTION = turning_eq);
CREATE OPERATOR > (LEFTARG = point, RIGHTARG = point, FUNCTION = turning_gt);
CREATE OPERATOR CLASS turning_ops DEFAULT FOR TYPE point USING btree AS OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >, FUNCTION 1 turning;
CREATE FUNCTION pg_temp.turn(turn text, later text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    same boolean;
BEGIN
    PERFORM setval('comparisons', 1), set_config('narrow.turn', turn, true), set_config('narrow.then', later, true);
    WITH given AS (SELECT array_agg(i ORDER BY i) AS vals, array_agg(point(i * 48271::bigint % 9973, 0) ORDER BY i) AS points FROM generate_series(1, 9000) i),
         sorted AS (SELECT mgpu_sort_by(vals, points) AS vals FROM given)
    SELECT (SELECT array_agg(v ORDER BY v) FROM unnest(s.vals) v) = g.vals INTO STRICT same FROM sorted s, given g;
    RETURN same;
END
$$;
SELECT turn, later, pg_temp.turn(turn, later) AS same_elements
FROM (VALUES ('1000000000', 'round'), ('80000', 'round'), ('80000', 'first')) t(turn, later) ORDER BY turn, later;
ROLLBACK;
DROP TABLE narrow, keys, key_names, orders;
