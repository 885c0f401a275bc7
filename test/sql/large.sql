--
-- large arrays: more than a million elements down every path
--
CREATE TABLE big (label text, a4 int[], a8 bigint[], af float8[], a2 int2[], u uuid[]);
ALTER TABLE big ALTER a4 SET STORAGE EXTERNAL, ALTER a8 SET STORAGE EXTERNAL, ALTER af SET STORAGE EXTERNAL,
    ALTER a2 SET STORAGE EXTERNAL, ALTER u SET STORAGE EXTERNAL;
INSERT INTO big
SELECT 'random', array_agg((h - 1073741824)::int ORDER BY i), array_agg((h - 1073741824) * 4294967291 ORDER BY i),
       array_agg(CASE h % 50 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' WHEN 3 THEN '-nan' ELSE ((h - 1073741824) / 1024.0)::text END::float8 ORDER BY i),
       array_agg((h % 65536 - 32768)::int2 ORDER BY i), array_agg(md5(h::text)::uuid ORDER BY i)
FROM (SELECT i, (i * 48271::bigint) % 2147483647 AS h FROM generate_series(1, 1200000) i) s;
INSERT INTO big (label, a4)
SELECT 'sorted', array_agg(i ORDER BY i) FROM generate_series(1, 1200000) i
UNION ALL
SELECT 'reversed', array_agg(1200001 - i ORDER BY i) FROM generate_series(1, 1200000) i
UNION ALL
SELECT 'one value', array_agg(7) FROM generate_series(1, 1200000) i
UNION ALL
SELECT 'two values', array_agg(i % 2 ORDER BY i) FROM generate_series(1, 1200000) i
UNION ALL
SELECT 'nearly sorted', array_agg(i / 100 * 100 + i * 31 % 100 ORDER BY i) FROM generate_series(1, 1200000) i
UNION ALL
SELECT 'nulls', array_agg(CASE WHEN i % 10 <> 3 THEN ((i * 48271::bigint) % 2147483647)::int END ORDER BY i) FROM generate_series(1, 1200000) i
UNION ALL
SELECT 'sawtooth', array_agg(i % 1000 ORDER BY i) FROM generate_series(1, 1200000) i;
SELECT label, cardinality(a4) AS n,
       md5(array_send(mgpu_sort(a4))) = md5(array_send((SELECT array_agg(x ORDER BY x) FROM unnest(a4) x))) AS ascending,
       md5(array_send(mgpu_sort(a4, true))) = md5(array_send((SELECT array_agg(x ORDER BY x DESC) FROM unnest(a4) x))) AS descending
FROM big ORDER BY label COLLATE "C";
SELECT label,
       mgpu_argsort(a4) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(a4) WITH ORDINALITY u(x, o)) AS argsort,
       mgpu_argsort(a4, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(a4) WITH ORDINALITY u(x, o)) AS descending
FROM big WHERE label IN ('random', 'two values', 'nulls', 'nearly sorted') ORDER BY label COLLATE "C";
SELECT array_send(mgpu_sort(a8)) = array_send((SELECT array_agg(x ORDER BY x) FROM unnest(a8) x)) AS int8,
       array_send(mgpu_sort(af)) = array_send((SELECT array_agg(x ORDER BY x, o) FROM unnest(af) WITH ORDINALITY u(x, o))) AS float8,
       array_send(mgpu_sort(af, true)) = array_send((SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(af) WITH ORDINALITY u(x, o))) AS float8_desc,
       array_send(mgpu_sort(a2)) = array_send((SELECT array_agg(x ORDER BY x) FROM unnest(a2) x)) AS int2,
       array_send(mgpu_sort(u, true)) = array_send((SELECT array_agg(x ORDER BY x DESC) FROM unnest(u) x)) AS uuid
FROM big WHERE label = 'random';
SELECT mgpu_sort_by(a8, a2) = (SELECT array_agg(v ORDER BY k, o) FROM unnest(a2, a8) WITH ORDINALITY x(k, v, o)) AS "8 by 2",
       mgpu_sort_by(a4, af, true) = (SELECT array_agg(v ORDER BY k DESC, o) FROM unnest(af, a4) WITH ORDINALITY x(k, v, o)) AS "4 by float",
       mgpu_sort_by(u, a8) = (SELECT array_agg(v ORDER BY k, o) FROM unnest(a8, u) WITH ORDINALITY x(k, v, o)) AS "16 by 8"
FROM big WHERE label = 'random';
SELECT p.keys = (SELECT array_agg(x ORDER BY x) FROM unnest(a2) x) AS keys,
       p.vals = (SELECT array_agg(v ORDER BY k, o) FROM unnest(a2, a4) WITH ORDINALITY x(k, v, o)) AS vals
FROM big, mgpu_sort_pairs(a2, a4) p WHERE label = 'random';
SELECT count(*), sum(ordinality * (key % 1000)) AS weighted
FROM big, mgpu_sort_rows(a4, a8) WITH ORDINALITY s WHERE label = 'random';
SELECT sum(o * (k % 1000)) AS weighted
FROM (SELECT k, row_number() OVER (ORDER BY k) AS o FROM big, unnest(a4) k WHERE label = 'random') t;
-- other types by comparison and by code
SELECT mgpu_sort(t) = (SELECT array_agg(x ORDER BY x, o) FROM unnest(t) WITH ORDINALITY u(x, o)) AS text,
       mgpu_sort(d, true) = (SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(d) WITH ORDINALITY u(x, o)) AS interval,
       mgpu_argsort(m) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(m) WITH ORDINALITY u(x, o)) AS numeric
FROM (SELECT array_agg(md5(x::text) COLLATE "C" ORDER BY o) AS t, array_agg(make_interval(months => x % 100, days => x % 31) ORDER BY o) AS d,
             array_agg((x % 100000)::numeric / 7 ORDER BY o) AS m
      FROM big, unnest(a4) WITH ORDINALITY u(x, o) WHERE label = 'random' AND o <= 300000) t;
-- threads do not change the answer
SET mgpu.cpu_threads = 1;
SELECT md5(array_send(mgpu_sort(a4))), md5(array_send(mgpu_argsort(a2))), md5(array_send(mgpu_sort_by(a4, a8))) FROM big WHERE label = 'random';
SET mgpu.cpu_threads = 4;
SELECT md5(array_send(mgpu_sort(a4))), md5(array_send(mgpu_argsort(a2))), md5(array_send(mgpu_sort_by(a4, a8))) FROM big WHERE label = 'random';
RESET mgpu.cpu_threads;
DROP TABLE big;
