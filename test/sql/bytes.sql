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
        -- not by EXECUTE, where the array would lose its collation
        IF down THEN
            positions := (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(arr) WITH ORDINALITY u(x, o));
        ELSE
            positions := (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(arr) WITH ORDINALITY u(x, o));
        END IF;
        IF mgpu_argsort(arr, down) IS DISTINCT FROM positions THEN wrong := wrong || ' argsort'; END IF;
        IF array_send(mgpu_sort(arr, down)) IS DISTINCT FROM array_send((SELECT array_agg(arr[p] ORDER BY i) FROM unnest(positions) WITH ORDINALITY u(p, i))) THEN
            wrong := wrong || ' sort';
        END IF;
        IF array_send(mgpu_locality_sort(arr, down)) IS DISTINCT FROM array_send(mgpu_sort(arr, down)) THEN wrong := wrong || ' locality'; END IF;
        IF mgpu_sort_by(positions, arr, down) IS DISTINCT FROM (SELECT array_agg(positions[p] ORDER BY i) FROM unnest(positions) WITH ORDINALITY u(p, i)) THEN
            wrong := wrong || ' sort_by';
        END IF;
        -- segments: short ones, and two long ones
        heads := CASE WHEN items < 4000 THEN ARRAY(SELECT generate_series(1, items / 2, 7)) || (items / 2 + 1) ELSE ARRAY[1, items / 2, items / 2 + 3] END;
        IF down THEN
            positions := (SELECT array_agg(o::int ORDER BY width_bucket(o, heads::bigint[]), x DESC, o) FROM unnest(arr) WITH ORDINALITY u(x, o));
        ELSE
            positions := (SELECT array_agg(o::int ORDER BY width_bucket(o, heads::bigint[]), x, o) FROM unnest(arr) WITH ORDINALITY u(x, o));
        END IF;
        SELECT p.vals::text INTO got FROM mgpu_segsort_pairs(arr, ARRAY(SELECT generate_series(1, items)), heads, down) p;
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
--
-- types that are made byte strings
--
-- numeric: signs, scales, weights, what is equal in several forms, what is no number
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(CASE h % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN 0.000 WHEN 4 THEN -0.0 ELSE
                          (h % 2001 - 1000) * (10::numeric ^ (h / 7 % 30 - 15)) END ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(round((h % 50 - 25) / 8.0, h / 64 % 6) ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- digits that agree far beyond a code
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg((CASE h % 2 WHEN 0 THEN 1 ELSE -1 END) * (1234567890123456789012345678901234567890.0000000001 + h / 2 % 500 * 1e-30) ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- weights that no first byte can say
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(CASE h % 2 WHEN 0 THEN 1 ELSE -1 END * (1 + h % 3) * (10::numeric ^ ((h % 40 - 20) * 200)) ORDER BY i) AS a FROM numbers WHERE n < 5000 GROUP BY n) t ORDER BY n;
SELECT mgpu_sort(ARRAY[1e-16383, -1e-16383, 9e130000, -9e130000, 'NaN', 'Infinity', '-Infinity', 0, 1, 1e164, 1e160, 9999e156, 1e-160, 1e-164, 9.99e-165]::numeric[]) =
       ARRAY['-Infinity', -9e130000, -1e-16383, 0, 1e-16383, 9.99e-165, 1e-164, 1e-160, 1, 9999e156, 1e160, 1e164, 9e130000, 'Infinity', 'NaN']::numeric[] AS far;
-- numeric has a typmod, a domain over it has a check
SELECT mgpu_sort(ARRAY[10000, 9999.99, 10000.00, 9999.990, 10001, 99999999, 100000000]::numeric(12, 2)[]);
-- bit strings: the beginning of another comes before it, to the bit
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(substring((h % 200000)::bit(31)::varbit || repeat('0', h % 9)::varbit FROM 12 + h % 13) ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(repeat((h % 2)::text, h / 2 % 130)::varbit ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg((h % 5000)::bit(17) ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- inet and cidr: the network, then its size, then the rest of the address
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(CASE h % 3 WHEN 0 THEN set_masklen('::'::inet + (h / 3 % 4)::bigint * 2305843009213693951, h / 27 % 129)
                          ELSE set_masklen('0.0.0.0'::inet + (h / 3 % 64)::bigint * 67108863, h / 192 % 33) END ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(('10.' || h % 256 || '.' || h / 256 % 4 || '.1')::inet ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(network(set_masklen('128.0.0.0'::inet + (h % 64)::bigint * 33554431, h / 64 % 33)) ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- spans that no 64-bit number of microseconds holds
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(make_interval(years => (h % 3 - 1) * 178000000, months => h / 3 % 3, days => h / 9 % 90 - 45, hours => h / 810 % 2000 - 1000, secs => (h % 7 - 3) / 1e6) ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT (pg_temp.check_bytes(a)).*
FROM (SELECT n, array_agg(format('(%s,%s)', h % 50 * 85899345::bigint, h / 50 % 9 * 8191)::tid ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
-- enums: labels in their own order, added between others too, when OIDs have another
CREATE TYPE grade AS ENUM ('poor', 'good', 'best');
CREATE FUNCTION pg_temp.grades(n int) RETURNS grade[] LANGUAGE sql AS
$$ SELECT array_agg((enum_range(NULL::grade))[h % cardinality(enum_range(NULL::grade)) + 1] ORDER BY i) FROM numbers WHERE numbers.n = grades.n $$;
SELECT n, (pg_temp.check_bytes(pg_temp.grades(n))).* FROM unnest(ARRAY[5, 100, 700, 9000]) n;
ALTER TYPE grade ADD VALUE 'fair' AFTER 'poor';
ALTER TYPE grade ADD VALUE 'worst' BEFORE 'poor';
ALTER TYPE grade ADD VALUE 'fine' AFTER 'good';
SELECT n, (pg_temp.check_bytes(pg_temp.grades(n))).* FROM unnest(ARRAY[5, 100, 700, 9000]) n;
SELECT mgpu_sort(ARRAY['best', 'fine', NULL, 'worst', 'good', 'poor', 'fair', 'best']::grade[]);
-- keys as well, among NULLs, and in long and short segments
SELECT array_send(all_of.keys) = array_send(t.keys) AND all_of.vals = t.vals AS whole, array_send(parts.keys) = array_send(t.part_keys) AND parts.vals = t.part_vals AS parts
FROM (SELECT array_agg(g ORDER BY i) AS a, array_agg(i ORDER BY i) AS v, array_agg(g ORDER BY g DESC, i) AS keys, array_agg(i ORDER BY g DESC, i) AS vals,
             array_agg(g ORDER BY i / 1500, i > 6100, g, i) AS part_keys, array_agg(i ORDER BY i / 1500, i > 6100, g, i) AS part_vals
      FROM (SELECT i, CASE WHEN h % 11 > 0 THEN (enum_range(NULL::grade))[h % 6 + 1] END AS g FROM numbers WHERE n = 9000) x) t,
     mgpu_sort_pairs(a, v, true) all_of, mgpu_segsort_pairs(a, v, '{1,1500,3000,4500,6000,6101,7500,9000}') parts;
DROP FUNCTION pg_temp.grades;
DROP TYPE grade;
-- codes that the type makes itself: text under linguistic collations, with ties
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT name, (pg_temp.check_bytes(a)).*
FROM (SELECT n, 'en' AS name, array_agg(((ARRAY['Word', 'word', 'wörd', 'WORD'])[h % 4 + 1] || h / 4 % 300) COLLATE "en-x-icu" ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT name, (pg_temp.check_bytes(a)).*
FROM (SELECT n, 'any_case' AS name, array_agg(((ARRAY['Word', 'word', 'wörd', 'WORD'])[h % 4 + 1] || h / 4 % 300) COLLATE any_case ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
SELECT name, (pg_temp.check_bytes(a)).*
FROM (SELECT n, 'long' AS name, array_agg((repeat('Prefix ', 30) || h % 500) COLLATE any_case ORDER BY i) AS a FROM numbers GROUP BY n) t ORDER BY n;
DROP COLLATION any_case;
