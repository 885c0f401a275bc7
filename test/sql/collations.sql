SET mgpu.enable_group = off; -- PostgreSQL's aggregates are compared with
--
-- text under collations: the argument's own decides
--
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a'] COLLATE "C");
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a'] COLLATE "C", true);
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a'] COLLATE "en-x-icu");
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a'] COLLATE "en-x-icu", true);
SELECT mgpu_argsort(ARRAY['b', 'A', 'B', 'a'] COLLATE "en-x-icu"), mgpu_argsort(ARRAY['b', 'A', 'B', 'a'] COLLATE "C");
SELECT mgpu_sort(ARRAY['zebra', 'Ärger', 'ärgern', 'apfel', 'Öl'] COLLATE "de-x-icu");
SELECT mgpu_sort(ARRAY['côté', 'cote', 'coté', 'côte'] COLLATE "und-x-icu");
-- a column's collation
CREATE TABLE words (c text[] COLLATE "C", e text[] COLLATE "en-x-icu", n int[]);
INSERT INTO words VALUES (ARRAY['b', 'A', 'B', 'a'], ARRAY['b', 'A', 'B', 'a'], ARRAY[1, 2, 3, 4]);
SELECT mgpu_sort(c), mgpu_sort(e), mgpu_sort(e COLLATE "C") FROM words;
-- the keys' collation orders; values of another type have none
SELECT mgpu_sort_by(n, c), mgpu_sort_by(n, e) FROM words;
SELECT p.keys, p.vals FROM words, mgpu_sort_pairs(e, n) p;
SELECT s.* FROM words, mgpu_sort_rows(e, n) s;
-- collations in conflict
SELECT mgpu_sort(c || e) FROM words;
\echo :SQLSTATE
-- which matters only where it is asked for
SELECT mgpu_sort_by(c || e, n || n) FROM words;
-- other collatable types
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a']::varchar[] COLLATE "en-x-icu"), mgpu_sort(ARRAY['b', 'A', 'B', 'a']::bpchar[] COLLATE "en-x-icu");
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a']::name[]);
CREATE DOMAIN word AS text COLLATE "en-x-icu";
SELECT mgpu_sort(ARRAY['b', 'A', 'B', 'a']::word[]);
-- long strings with common beginnings, beyond any abbreviated key
SELECT n, bool_and(mgpu_sort(a) = (SELECT array_agg(x ORDER BY x, o) FROM unnest(a) WITH ORDINALITY u(x, o))) AS c,
       bool_and(mgpu_sort(a COLLATE "en-x-icu") = (SELECT array_agg(x ORDER BY x COLLATE "en-x-icu", o) FROM unnest(a) WITH ORDINALITY u(x, o))) AS icu,
       bool_and(mgpu_argsort(a, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(a) WITH ORDINALITY u(x, o))) AS argsort
FROM (SELECT n, array_agg(('https://example.org/path/' || repeat('x', (h % 30)::int) || h % 50) COLLATE "C" ORDER BY i) AS a
      FROM unnest(ARRAY[2, 100, 5000]) n, LATERAL (SELECT i, i::bigint * 48271 % 2147483647 AS h FROM generate_series(1, n) i) g
      GROUP BY n) t
GROUP BY n ORDER BY n;
-- the C library's code points, which are the order of the bytes
CREATE COLLATION code_points (provider = libc, locale = 'C.UTF-8');
SELECT mgpu_sort(ARRAY['é', 'z', '€', '😀', 'Z', 'ｚ', 'e'] COLLATE code_points) = ARRAY['Z', 'e', 'z', 'é', '€', 'ｚ', '😀'] AS code_points;
SELECT bool_and(mgpu_sort(a COLLATE code_points) = (SELECT array_agg(x ORDER BY x COLLATE code_points) FROM unnest(a) x)) AS equal,
       bool_and(array_send(mgpu_sort(a COLLATE code_points)) = array_send(mgpu_sort(a COLLATE "C"))) AS bytes
FROM (SELECT array_agg(chr(1 + i * 7919 % 55000) || chr(65536 + i * 104729 % 1000000) || i % 100) AS a
      FROM generate_series(1, 5000) i) t;
DROP COLLATION code_points;
-- the C library's comparison; where it has no such locale, that of C.UTF-8
DO $$
BEGIN
    CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8');
EXCEPTION WHEN others THEN
    CREATE COLLATION english (provider = libc, locale = 'C.UTF-8');
END
$$;
CREATE TABLE many AS
SELECT i, (ARRAY['', 'a', 'Ab', 'ä', 'b-', 'c d', 'é', 'ß', '日', '한', '½'])[1 + i::bigint * 48271 % 11] || substr(md5((i % 900)::text), 1, i % 10) AS t
FROM generate_series(1, 6000) i;
SELECT array_send(mgpu_sort(a COLLATE english)) = array_send(ascending) AS sort,
       array_send(mgpu_sort(a COLLATE english, true)) = array_send(descending) AS descending,
       mgpu_argsort(a COLLATE english, true) = positions AS argsort,
       array_send(mgpu_merge(mgpu_sort(a[1:3000] COLLATE english), mgpu_sort(a[3001:] COLLATE english))) = array_send(ascending) AS merge
FROM (SELECT array_agg(t ORDER BY i) AS a, array_agg(t ORDER BY t COLLATE english) AS ascending,
             array_agg(t ORDER BY t COLLATE english DESC) AS descending,
             array_agg(i ORDER BY t COLLATE english DESC, i) AS positions FROM many) s;
SELECT array_send(mgpu_segsort(a COLLATE english, (SELECT array_agg(h) FROM generate_series(1, 6000, 50) h))) = array_send(sorted) AS segsort
FROM (SELECT array_agg(t ORDER BY i) AS a, array_agg(t ORDER BY (i - 1) / 50, t COLLATE english) AS sorted FROM many) s;
SELECT bool_and(array_send(ours) = array_send(theirs)) AS sort_agg
FROM (SELECT mgpu_sort_agg(t COLLATE english) AS ours, array_agg(t ORDER BY t COLLATE english) AS theirs FROM many GROUP BY i % 70) s;
SELECT array_send(mgpu_sort(b COLLATE english)) = array_send((SELECT array_agg(x ORDER BY x COLLATE english, o) FROM unnest(b) WITH ORDINALITY u(x, o))) AS bpchar,
       array_send(mgpu_sort(n COLLATE english)) = array_send((SELECT array_agg(x ORDER BY x COLLATE english) FROM unnest(n) u(x))) AS name
FROM (SELECT array_agg((t || repeat(' ', i % 3))::bpchar ORDER BY i) AS b, array_agg(t::name ORDER BY i) AS n FROM many) s;
DROP TABLE many;
DROP COLLATION english;
DROP TABLE words;
DROP DOMAIN word;
