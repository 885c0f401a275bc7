--
-- The aggregates with types, shapes and numbers of rows that are rare
--
-- anonymous records, and rows of a table
SELECT mgpu_sort_agg(ROW(a, b)), mgpu_sort_agg(ROW(a, b), true) FROM (VALUES (2, 'x'), (1, 'z'), (1, 'y'), (NULL, 'w')) t(a, b);
SELECT mgpu_sort_agg_by(ROW(a, b), b), mgpu_percentile_disc(ROW(a, b), 0.5) FROM (VALUES (2, 'x'), (1, 'z'), (1, 'y')) t(a, b);
CREATE TABLE agg_edges (i int, g int, v int, c char(4), n numeric(6, 2), t varchar(8) COLLATE "C");
INSERT INTO agg_edges SELECT i, i % 4, nullif(i * 7919 % 23, 5), i * 7919 % 11, i * 7919 % 100 / 4.0, 'v' || i * 7919 % 13 FROM generate_series(1, 200) i;
ANALYZE agg_edges;
SELECT g, mgpu_sort_agg(e) = array_agg(e ORDER BY e) AS rows, mgpu_sort_agg(c) = array_agg(c ORDER BY c, i) AS padded,
       mgpu_sort_agg(n) = array_agg(n ORDER BY n, i) AS numeric, mgpu_sort_agg(t, true) = array_agg(t ORDER BY t DESC, i) AS varchar FROM agg_edges e GROUP BY g ORDER BY g;
SELECT mgpu_sort_agg(ROW(1, point '(1,2)')) FROM (VALUES (1), (2)) t(v);
-- domains over arrays, enums, domains over text
CREATE DOMAIN agg_ints AS int[] CHECK (cardinality(VALUE) < 9);
CREATE TYPE agg_mood AS ENUM ('low', 'fair', 'high');
CREATE DOMAIN agg_word AS text COLLATE "C" CHECK (VALUE <> '');
SELECT mgpu_merge_agg(a::agg_ints) FROM (VALUES ('{1,4}'), ('{2,3}')) t(a);
SELECT mgpu_sort_agg(m::agg_mood), mgpu_sort_agg(m::agg_mood, true), mgpu_percentile_disc(m::agg_mood, 0.5) FROM (VALUES ('high'), ('low'), ('fair'), (NULL)) t(m);
SELECT mgpu_sort_agg(w::agg_word), pg_typeof(mgpu_sort_agg(w::agg_word)) FROM (VALUES ('b'), ('B'), ('a')) t(w);
-- arrays that a function is still building
DO $$
DECLARE
    a int[];
    merged int[];
BEGIN
    FOR i IN 1..5 LOOP a[i] := i * 10; END LOOP;
    SELECT mgpu_merge_agg(x) INTO merged FROM (VALUES (a), (ARRAY[15]), (a || 60)) t(x);
    RAISE NOTICE '%', merged;
END
$$;
-- NULLs, alone and among others: hashed, sorted, plain
SELECT g, mgpu_sort_agg(v) = array_agg(v ORDER BY v) AS last, mgpu_sort_agg(v, false, true) = array_agg(v ORDER BY v NULLS FIRST) AS first,
       mgpu_sort_agg(nullif(v, v)) = array_fill(NULL::int, ARRAY[count(*)::int]) AS alone, cardinality(mgpu_sort_agg(CASE WHEN g = 2 THEN v END)) AS some
FROM agg_edges GROUP BY g ORDER BY g;
SET enable_hashagg = off;
SELECT g, mgpu_sort_agg(v) = array_agg(v ORDER BY v) AS last, cardinality(mgpu_sort_agg(CASE WHEN g = 2 THEN v END)) AS some, mgpu_sort_agg_by(i, v * 1000 + i) = array_agg(i ORDER BY v * 1000 + i) AS by
FROM agg_edges WHERE v IS NOT NULL OR g < 2 AND i < 90 GROUP BY g ORDER BY g;
RESET enable_hashagg;
SELECT count(*), sum(cardinality(a)), count(*) FILTER (WHERE a[1] IS NULL) FROM (SELECT i % 5000 AS g, mgpu_sort_agg(CASE WHEN i % 3 = 0 THEN i END) AS a FROM generate_series(1, 20000) i GROUP BY 1) q;
-- one in another
SELECT mgpu_merge_agg(a ORDER BY g) = (SELECT array_agg(v ORDER BY v) FROM agg_edges) AS merged FROM (SELECT g, mgpu_sort_agg(v) AS a FROM agg_edges GROUP BY g) q;
SELECT mgpu_sort_agg(cardinality(a)) FROM (SELECT g, mgpu_sort_agg(v) FILTER (WHERE v % 4 <= g) AS a FROM agg_edges GROUP BY g) q;
-- HAVING, and a group's result twice
SELECT g, (mgpu_sort_agg(v))[1:2] AS least FROM agg_edges GROUP BY g HAVING cardinality(mgpu_sort_agg(v)) > 0 AND mgpu_percentile_disc(v, 1) > 3 ORDER BY g;
-- table inheritance: partial aggregates without a parallel plan
CREATE TABLE agg_parts (g int, v int, t text COLLATE "C") PARTITION BY RANGE (v);
CREATE TABLE agg_low PARTITION OF agg_parts FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE agg_high PARTITION OF agg_parts FOR VALUES FROM (10) TO (MAXVALUE);
INSERT INTO agg_parts SELECT i % 3, i * 7919 % 20, 't' || i % 7 FROM generate_series(1, 300) i;
ANALYZE agg_parts;
SET enable_partitionwise_aggregate = on;
SET enable_sort = off;
SET mgpu.enable_group = off;
\set ECHO none
\i test/plan_check.sql
\set ECHO all
SELECT pg_temp.plan_of('SELECT g, mgpu_sort_agg(v), mgpu_percentile_cont(v, 0.5) FROM agg_parts GROUP BY g') ~ 'Finalize HashAggregate.*Append.*Partial HashAggregate.*Partial HashAggregate' AS partial;
SELECT g, mgpu_sort_agg(v) = array_agg(v ORDER BY v) AS sorted, mgpu_percentile_cont(v, 0.5), mgpu_percentile_disc(t, '{0.1,0.9}'::float8[]), mgpu_sort_agg_by(t, v * 1000 + ascii(right(t, 1))) = array_agg(t ORDER BY v * 1000 + ascii(right(t, 1))) AS by
FROM agg_parts GROUP BY g ORDER BY g;
RESET mgpu.enable_group;
RESET enable_sort;
RESET enable_partitionwise_aggregate;
-- a group by nothing but what is constant; groups of a join that has none
SELECT mgpu_sort_agg(v) FROM agg_edges WHERE false GROUP BY g;
SELECT 1 AS one, cardinality(mgpu_sort_agg(v)) FROM agg_edges GROUP BY 1;
-- as trigger and prepared, with changing types of plan
PREPARE edges (int) AS SELECT g, (mgpu_sort_agg(v))[1:3] AS least FROM agg_edges WHERE g < $1 GROUP BY g ORDER BY g;
EXECUTE edges(1);
EXECUTE edges(3);
DEALLOCATE edges;
DROP TABLE agg_edges, agg_parts;
DROP DOMAIN agg_ints, agg_word;
DROP TYPE agg_mood;
