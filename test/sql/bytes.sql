--
-- byte strings: text under C, bpchar, name, bytea; every function against ORDER
-- BY with the position as tie-break
--
CREATE FUNCTION pg_temp.check_bytes(arr anyarray, OUT items int, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
    down boolean;
    positions int[];
    heads int[];
    got text;
BEGIN
    items := cardinality(arr);
    wrong := '';
    FOREACH down IN ARRAY ARRAY[false, true] LOOP
        EXECUTE format('SELECT array_agg(o::int ORDER BY x %s, o) FROM unnest($1) WITH ORDINALITY u(x, o)', CASE WHEN down THEN 'DESC' ELSE '' END)
            INTO positions USING arr;
        IF mgpu_argsort(arr, down) IS DISTINCT FROM positions THEN wrong := wrong || ' argsort'; END IF;
        IF array_send(mgpu_sort(arr, down)) IS DISTINCT FROM array_send((SELECT array_agg(arr[p] ORDER BY i) FROM unnest(positions) WITH ORDINALITY u(p, i))) THEN
            wrong := wrong || ' sort';
        END IF;
        IF array_send(mgpu_locality_sort(arr, down)) IS DISTINCT FROM array_send(mgpu_sort(arr, down)) THEN wrong := wrong || ' locality'; END IF;
        IF mgpu_sort_by(positions, arr, down) IS DISTINCT FROM (SELECT array_agg(positions[p] ORDER BY i) FROM unnest(positions) WITH ORDINALITY u(p, i)) THEN
            wrong := wrong || ' sort_by';
        END IF;
        -- segments: short ones, and two long ones
        heads := ARRAY(SELECT generate_series(1, items / 2, 7)) || (items / 2 + 1);
        EXECUTE format('SELECT array_agg(o::int ORDER BY s, x %s, o) FROM (SELECT x, o, (SELECT count(*) FROM unnest($2) h WHERE h <= o) AS s FROM unnest($1) WITH ORDINALITY u(x, o)) v',
                       CASE WHEN down THEN 'DESC' ELSE '' END) INTO positions USING arr, CASE WHEN items < 4000 THEN heads ELSE ARRAY[1, items / 2, items / 2 + 3] END;
        SELECT p.vals::text INTO got FROM mgpu_segsort_pairs(arr, ARRAY(SELECT generate_series(1, items)), CASE WHEN items < 4000 THEN heads ELSE ARRAY[1, items / 2, items / 2 + 3] END, down) p;
        IF got IS DISTINCT FROM positions::text THEN wrong := wrong || ' segsort'; END IF;
    END LOOP;
END
$$;
CREATE TEMP TABLE numbers AS
SELECT n, i, (i::bigint * 48271 % 2147483647)::int AS h FROM unnest(ARRAY[5, 100, 700, 9000]) n, LATERAL generate_series(1, n) i;
-- what they begin with alike: nothing, 8, 16, 200 bytes; many and few ties
SELECT name, (pg_temp.check_bytes(a)).*
FROM (SELECT n, name, array_agg((repeat('p', prefix) || h % ties) COLLATE "C" ORDER BY i) AS a
      FROM numbers, (VALUES ('0', 0), ('8', 8), ('16', 16), ('200', 200)) p(name, prefix), unnest(ARRAY[3, 1000000]) ties
      GROUP BY n, name, ties) t
ORDER BY name, n, wrong;
-- each the beginning of others, the empty one of all
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(repeat('x', h % 600) COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- equal to the last byte
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(repeat('same', 9) COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- as deep as paths go, groups of groups
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(format('/srv/host-%s/application %s/module/%s/%s', h % 3, h / 3 % 4, h / 12 % 5, h / 60) COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- characters of one to four bytes; collations that look at bytes alone
SELECT name, (pg_temp.check_bytes(a)).*
FROM (SELECT n, 'C' AS name, array_agg(((ARRAY['é', 'z', '€', '𝄞', 'ä', 'ÿ', U&'\FFFD', '~'])[h % 8 + 1] || (ARRAY['', 'é', '𝄞'])[h / 8 % 3 + 1]) COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT mgpu_sort(ARRAY['é', 'z', '€', '𝄞', 'Z', ''] COLLATE "POSIX"), mgpu_sort(ARRAY['é', 'z', '€', '𝄞', 'Z', ''] COLLATE ucs_basic, true);
-- bytea: zero bytes inside, at the end, and nothing else
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(decode(repeat('00', h % 11) || (ARRAY['', '01', '0000', 'ff', '0001'])[h / 11 % 5 + 1] || repeat('00', h / 55 % 18), 'hex') ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(decode(md5((h % 300)::text), 'hex') || decode(repeat('00', h % 3), 'hex') ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT mgpu_sort('{"\\x00","","\\x0000","\\x01","\\x","\\x000000000000000000","\\x0000000000000000","\\x00000000000000"}'::bytea[]);
-- bpchar: blanks at the end do not count, those inside do
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(((ARRAY['a', 'a b', '', 'a  b', 'eight ch'])[h % 5 + 1] || repeat(' ', h / 5 % 10))::bpchar COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg((h % 700)::text::char(12) COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- name: all of its 63 bytes
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg((repeat('n', h % 2 * 57) || h % 900)::name ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- varchar and a domain
CREATE DOMAIN pg_temp.label AS varchar(40) COLLATE "C";
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(('label ' || h % 2000)::varchar COLLATE "C" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT mgpu_sort(ARRAY['b', 'B', 'a', NULL, '', 'a']::pg_temp.label[]);
-- stored out of line, with nulls, in every algorithm
CREATE TEMP TABLE stored (a text[] COLLATE "C");
ALTER TABLE stored ALTER a SET STORAGE EXTERNAL;
INSERT INTO stored SELECT array_agg(CASE WHEN h % 7 > 0 THEN 'https://example.org/items/' || h % 5000 END ORDER BY i) FROM numbers WHERE n = 9000;
CREATE FUNCTION pg_temp.digest(algorithm text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('mgpu.algorithm', algorithm, true);
    RETURN (SELECT md5(concat_ws('|', mgpu_sort(a), mgpu_sort(a, true, false), mgpu_argsort(a, true), mgpu_argsort(a, false, true))) FROM stored);
END
$$;
SELECT count(DISTINCT pg_temp.digest(algorithm)) AS digests FROM unnest(ARRAY['auto', 'merge', 'radix', 'locality']) algorithm;
SELECT mgpu_argsort(a) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(a) WITH ORDINALITY u(x, o)) AS last,
       mgpu_argsort(a, false, true) = (SELECT array_agg(o::int ORDER BY x NULLS FIRST, o) FROM unnest(a) WITH ORDINALITY u(x, o)) AS first
FROM stored;
-- how it ran: by codes, not by the type's comparison
SELECT mgpu_sort(a) IS NOT NULL AS sorted FROM stored;
SELECT function, algorithm <> 'compare' AS by_codes, items, segments, bytes > 100000 AS bytes FROM mgpu_last_run();
SELECT mgpu_sort(a COLLATE "en-x-icu") IS NOT NULL AS sorted FROM stored;
