--
-- stored arrays: inline, compressed, out of line, both; read whole or in slices
--
CREATE TABLE stored (storage text, n int, a4 int[], a8 bigint[], af float8[], an int[], at text[]);
CREATE FUNCTION pg_temp.fill(label text, how text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    col text;
BEGIN
    FOREACH col IN ARRAY ARRAY['a4', 'a8', 'af', 'an', 'at'] LOOP
        EXECUTE format('ALTER TABLE stored ALTER %I SET STORAGE %s', col, how);
    END LOOP;
    INSERT INTO stored
    SELECT label, n, array_agg((h % 1000000)::int ORDER BY i), array_agg(h * 3000000019 ORDER BY i),
           array_agg((h % 5000 / 8.0 - 300)::float8 ORDER BY i), array_agg(nullif(h % 5, 3)::int ORDER BY i),
           array_agg('t' || h % 700 ORDER BY i)
    FROM unnest(ARRAY[1, 10, 60, 300, 3000, 40000, 300000]) n,
         LATERAL (SELECT i, i::bigint * 48271 % 2147483647 AS h FROM generate_series(1, n) i) g
    WHERE how <> 'PLAIN' OR n <= 60
    GROUP BY n;
END
$$;
SELECT pg_temp.fill('plain', 'PLAIN');
SELECT pg_temp.fill('external', 'EXTERNAL');
SELECT pg_temp.fill('extended', 'EXTENDED');
SELECT pg_temp.fill('main', 'MAIN');
-- what was stored how: short ones in the row, long ones outside, and where allowed compressed
SELECT storage, n, pg_column_compression(a8) IS NOT NULL AS random_compressed, pg_column_compression(an) IS NOT NULL AS few_compressed,
       pg_column_size(a4) < pg_column_size(a4 || '{}'::int[]) AS short_header
FROM stored WHERE n IN (10, 60, 40000) ORDER BY storage COLLATE "C", n;
CREATE TEMP TABLE expected AS
SELECT n,
       (SELECT array_agg(x ORDER BY x) FROM unnest(a4) x) AS a4, (SELECT array_agg(x ORDER BY x DESC) FROM unnest(a8) x) AS a8,
       (SELECT array_agg(x ORDER BY x) FROM unnest(af) x) AS af, (SELECT array_agg(x ORDER BY x DESC NULLS LAST) FROM unnest(an) x) AS an,
       (SELECT array_agg(x ORDER BY x, o) FROM unnest(at) WITH ORDINALITY u(x, o)) AS at,
       (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(a4) WITH ORDINALITY u(x, o)) AS p4,
       (SELECT array_agg(o::int ORDER BY x NULLS FIRST, o) FROM unnest(an) WITH ORDINALITY u(x, o)) AS pn,
       (SELECT array_agg(y ORDER BY x DESC, o) FROM unnest(af, a8) WITH ORDINALITY u(x, y, o)) AS bf
FROM stored WHERE storage = 'external';
SELECT storage, n, mgpu_sort(s.a4) = e.a4 AS int4, mgpu_sort(s.a8, true) = e.a8 AS int8, mgpu_sort(s.af) = e.af AS float8,
       mgpu_sort(s.an, true, false) = e.an AS nulls, mgpu_sort(s.at) = e.at AS text,
       mgpu_argsort(s.a4) = e.p4 AS argsort, mgpu_argsort(s.an, false, true) = e.pn AS argsort_nulls,
       mgpu_sort_by(s.a8, s.af, true) = e.bf AS by, (SELECT vals FROM mgpu_sort_pairs(s.af, s.a8, true)) = e.bf AS pairs
FROM stored s JOIN expected e USING (n) ORDER BY storage COLLATE "C", n;
-- the same digests from every storage
SELECT n, count(*) AS storages, count(DISTINCT md5(mgpu_sort(a4)::text)) AS int4, count(DISTINCT md5(mgpu_sort(af, true)::text)) AS float8,
       count(DISTINCT md5(mgpu_argsort(an, true)::text)) AS nulls
FROM stored GROUP BY n ORDER BY n;
-- an array whose chunks fill the gaps that others left
CREATE TABLE gaps (i int, a int[]) WITH (autovacuum_enabled = off);
ALTER TABLE gaps ALTER a SET STORAGE EXTERNAL;
INSERT INTO gaps SELECT i, array_agg(x) FROM generate_series(1, 400) i, generate_series(1, 700 + i % 5 * 300) x GROUP BY i;
DELETE FROM gaps WHERE i % 3 > 0;
VACUUM gaps;
INSERT INTO gaps SELECT 0, array_agg((x::bigint * 48271 % 2147483647)::int ORDER BY x) FROM generate_series(1, 300000) x;
SELECT mgpu_sort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) AS sort, mgpu_argsort(a) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(a) WITH ORDINALITY u(x, o)) AS argsort FROM gaps WHERE i = 0;
DROP TABLE gaps;
-- a stored array with another lower bound, of several dimensions, with one NULL
CREATE TABLE shapes (label text, a int[]);
ALTER TABLE shapes ALTER a SET STORAGE EXTERNAL;
INSERT INTO shapes
SELECT 'bounds', ('[-5:' || 300000 - 6 || ']=' || array_agg((i::bigint * 48271 % 2147483647)::int ORDER BY i)::text)::int[] FROM generate_series(1, 300000) i
UNION ALL
SELECT 'two dimensions', array_agg(ARRAY[(i::bigint * 48271 % 2147483647)::int % 1000, i] ORDER BY i) FROM generate_series(1, 50000) i
UNION ALL
SELECT 'one null', array_agg(CASE WHEN i <> 150001 THEN (i::bigint * 48271 % 2147483647)::int END ORDER BY i) FROM generate_series(1, 300000) i;
SELECT array_dims(mgpu_sort(a)), array_dims(mgpu_argsort(a)),
       mgpu_sort(a) = ('[-5:' || 300000 - 6 || ']=' || (SELECT array_agg(x ORDER BY x)::text FROM unnest(a) x))::int[] AS sort,
       (SELECT min(p) FROM unnest(mgpu_argsort(a)) p) AS first, (SELECT max(p) FROM unnest(mgpu_argsort(a)) p) AS last
FROM shapes WHERE label = 'bounds';
SELECT array_dims(mgpu_sort(a)),
       mgpu_sort(a) = (SELECT array_agg(ARRAY[a[i][1], a[i][2]] ORDER BY a[i][1], a[i][2]) FROM generate_series(1, 50000) i) AS sort
FROM shapes WHERE label = 'two dimensions';
SELECT array_position(mgpu_sort(a), NULL) AS last, array_position(mgpu_sort(a, true), NULL) AS first,
       (mgpu_argsort(a))[300000], (mgpu_argsort(a, true))[1]
FROM shapes WHERE label = 'one null';
-- no detoasting is left unfinished when a row is skipped
SELECT count(*) FROM (SELECT mgpu_sort(a4) FROM stored LIMIT 3) t;
DROP TABLE stored, shapes;
