--
-- pairs whose positions have no room: the same as with room, which mgpu.inject_fault = room takes away
--
CREATE TEMP TABLE narrow AS
SELECT array_agg(i % 3 = 0 ORDER BY i) AS bools, array_agg(CASE WHEN i % 5 > 0 THEN (i * 7919 % 30000)::int2 END ORDER BY i) AS shorts,
       array_agg(CASE WHEN i % 11 = 0 THEN substr(md5(i::text), 1, i % 23) END ORDER BY i) AS texts,
       array_agg(CASE WHEN i % 97 = 0 THEN (i / 7.0)::numeric END ORDER BY i) AS numbers
FROM generate_series(1, 30000) i;
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
FROM generate_series(1, 30000) i;
CREATE FUNCTION pg_temp.is_same(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    with_room text;
    without_room text;
BEGIN
    SET LOCAL mgpu.inject_fault = none;
    EXECUTE query INTO STRICT with_room;
    SET LOCAL mgpu.inject_fault = room;
    EXECUTE query INTO STRICT without_room;
    SET LOCAL mgpu.inject_fault = none;
    RETURN with_room = without_room;
END
$$;
CREATE TEMP TABLE key_names AS
SELECT attname || CASE WHEN attname IN ('words', 'paths', 'same', 'lonely', 'blanks', 'names') THEN ' COLLATE "C"' ELSE '' END AS key
FROM pg_attribute WHERE attrelid = 'keys'::regclass AND attnum > 0;
SELECT key, count(*) AS calls, bool_and(pg_temp.is_same(format('SELECT md5(array_send(mgpu_sort_by(%s, %s%s))) FROM narrow, keys', val, key, ways))) AS sort_by
FROM key_names, unnest(ARRAY['bools', 'shorts', 'texts', 'numbers']) val, unnest(ARRAY['', ', true', ', false, true', ', true, false']) ways
GROUP BY key ORDER BY key COLLATE "C";
SELECT key, count(*) AS calls, bool_and(pg_temp.is_same(format('SELECT md5(array_send(keys) || array_send(vals)) FROM narrow, keys, mgpu_sort_pairs(%s, %s)', key, val))) AS sort_pairs
FROM key_names, unnest(ARRAY['bools', 'texts']) val GROUP BY key ORDER BY key COLLATE "C";
-- keys that leave no room themselves
SELECT val, bool_and(pg_temp.is_same(format('SELECT md5(array_send(keys) || array_send(vals)) FROM narrow, keys, mgpu_sort_pairs(%s, %s%s)', key, val, ways))) AS sort_pairs
FROM unnest(ARRAY['bools', 'texts', 'words COLLATE "C"']) val, unnest(ARRAY['shorts', 'texts COLLATE "C"', 'numbers']) key, unnest(ARRAY['', ', true']) ways
GROUP BY val ORDER BY val COLLATE "C";
-- types whose codes are made by a collation, where there is one, and the other ways to ask for a sort
SELECT coalesce(bool_and(pg_temp.is_same(format('SELECT md5(array_send(mgpu_sort_by(bools, %s COLLATE %I%s))) FROM narrow, keys', key, collname, ways))), true) AS collated
FROM unnest(ARRAY['words', 'paths', 'same', 'lonely']) key, unnest(ARRAY['', ', true', ', true, false']) ways, pg_collation WHERE collname = 'en-x-icu';
SELECT setting, bool_and(pg_temp.is_same(format('SELECT set_config(%L, %L, true) || md5(array_send(mgpu_sort_by(bools, %s))) FROM narrow, keys', setting, new, key))) AS same
FROM (VALUES ('mgpu.algorithm', 'radix'), ('mgpu.algorithm', 'merge'), ('mgpu.cpu_threads', '1'), ('mgpu.cpu_threads', '5')) v(setting, new), key_names
GROUP BY setting ORDER BY setting COLLATE "C";
SELECT pg_temp.is_same('SELECT md5(array_send(keys) || array_send(vals)) FROM narrow, keys, mgpu_locality_sort_pairs(words COLLATE "C", bools)') AS locality,
       pg_temp.is_same('SELECT md5(string_agg(coalesce(key::text, ''-'') || coalesce(val::text, ''-''), '' '')) FROM narrow, keys, mgpu_sort_rows(words COLLATE "C", bools)') AS rows;
-- nothing there, and a handful
SELECT pg_temp.is_same(format('SELECT md5(array_send(mgpu_sort_by(%s, %s COLLATE "C")))', val, key)) AS few
FROM (VALUES ('ARRAY[true, false, NULL]', 'ARRAY[NULL, NULL, NULL]::text[]'), ('ARRAY[NULL, NULL]::text[]', $$ARRAY['b', 'a']$$), ($$ARRAY['x', NULL, 'yz']$$, $$ARRAY['b', NULL, 'b']$$)) v(val, key);
-- a bit string longer than what threads have room for
SELECT len, bool_and(pg_temp.is_same(format('SELECT md5(array_send(mgpu_sort_by(vals, bits%s))) FROM (SELECT array_agg(nullif(i %% 3 = 0, i %% 7 = 0)) AS vals, '
    'array_agg((i * 48271 %% 1009)::bit(16)::varbit || repeat(''1'', CASE WHEN i %% 1000 = 0 THEN %s + i %% 8 ELSE 0 END)::varbit) AS bits FROM generate_series(1, 5000) i) t', ways, len))) AS sort_by
FROM unnest(ARRAY[30000, 900000, 2000000]) len, unnest(ARRAY['', ', true']) ways GROUP BY len ORDER BY len;
-- without room, NULL keys count as what was sorted; compared ones have codes under a collation
CREATE FUNCTION pg_temp.ran(key text, fault text, OUT algorithm text, OUT items bigint) LANGUAGE plpgsql AS $$
DECLARE
    sorted bigint;
BEGIN
    PERFORM set_config('mgpu.inject_fault', fault, true);
    EXECUTE format('SELECT cardinality(mgpu_sort_by(bools, %s)) FROM narrow, keys', key) INTO STRICT sorted;
    SELECT l.algorithm, l.items INTO STRICT algorithm, items FROM mgpu_last_run() l;
    SET LOCAL mgpu.inject_fault = none;
END
$$;
SELECT key, (pg_temp.ran(key, 'none')).items < 30000 AS with_room, (pg_temp.ran(key, 'room')).items = 30000 AS by_parts
FROM unnest(ARRAY['words COLLATE "C"', 'decimals', 'ranges']) key;
SELECT coalesce(bool_and((pg_temp.ran(format('words COLLATE %I', collname), 'room')) = ('quick'::text, 30000::bigint)), true) AS by_codes
FROM pg_collation WHERE collname = 'en-x-icu';
-- comparisons that turn round, or say that everything comes first, after some calls: some elements are found twice, or never
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
CREATE FUNCTION pg_temp.turn(val text, turn text, later text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    same boolean;
BEGIN
    PERFORM setval('comparisons', 1), set_config('narrow.turn', turn, true), set_config('narrow.then', later, true);
    SET LOCAL mgpu.inject_fault = room;
    EXECUTE format('WITH sorted AS (SELECT mgpu_sort_by(vals, points) AS vals FROM (SELECT array_agg(%s ORDER BY i) AS vals, array_agg(point(i * 48271::bigint %% 9973, 0) ORDER BY i) AS points '
        'FROM generate_series(1, 9000) i) t) SELECT vals IS NOT DISTINCT FROM (SELECT array_agg(%s ORDER BY i * 48271::bigint %% 9973, i) FROM generate_series(1, 9000) i) FROM sorted', val, val) INTO STRICT same;
    RETURN same;
EXCEPTION WHEN data_corrupted THEN
    RETURN SQLERRM;
END
$$;
SELECT val, t.turn, t.later, pg_temp.turn(val, t.turn, t.later) AS said
FROM unnest(ARRAY['i % 3 = 0', 'CASE WHEN i % 5 > 0 THEN i::int2 END', 'CASE WHEN i % 11 = 0 THEN repeat(''x'', i % 23) END']) WITH ORDINALITY v(val, number),
     (VALUES ('1000000000', 'round'), ('80000', 'round'), ('80000', 'first')) t(turn, later) ORDER BY number, t.turn, t.later;
ROLLBACK;
DROP TABLE narrow, keys, key_names;
