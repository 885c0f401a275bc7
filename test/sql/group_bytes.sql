--
-- Keys of variable width, and wide ones: which values are equal, and which of them is shown
--
\set ECHO none
\i test/plan_check.sql
\set ECHO all
SELECT mgpu_sort(ARRAY[1]);
SET max_parallel_workers_per_gather = 0;
SET mgpu.enable_group = force;
-- PostgreSQL's own nodes show the first row of a group too, if they hash
SET enable_sort = off;
CREATE COLLATION byte_keys_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN byte_keys_text AS text;
CREATE DOMAIN byte_keys_number AS numeric;
CREATE TYPE byte_keys_pair AS (a text, b numeric);
-- texts of 0 to 40 characters, which differ in their first, middle or last one, in length, in trailing blanks or in case
CREATE TABLE byte_keys AS
WITH texts AS (SELECT length * 7 + kind AS number,
                      CASE kind WHEN 0 THEN repeat('a', length) WHEN 1 THEN overlay(repeat('a', length) PLACING 'b' FROM 1) WHEN 2 THEN overlay(repeat('a', length) PLACING 'b' FROM length / 2 + 1)
                                WHEN 3 THEN repeat('a', greatest(length - 1, 0)) || 'b' WHEN 4 THEN repeat('a', length) || repeat(' ', length % 3 + 1) WHEN 5 THEN repeat('A', length) END AS t
               FROM generate_series(0, 40) length, generate_series(0, 6) kind),
     numbers AS (SELECT t.*, CASE number % 9 WHEN 0 THEN number / 9 * 1.0 WHEN 1 THEN number / 9 * 1.000 WHEN 2 THEN - (number / 9) / 100.0 WHEN 3 THEN round(number / 9 * 1.0, 70) WHEN 4 THEN 'NaN'
                                     WHEN 5 THEN (number / 9) * 10000.0 WHEN 6 THEN (number / 9) / 10000.0 WHEN 7 THEN (number / 9) * 1e300 ELSE NULL END::numeric AS x
                 FROM texts t)
SELECT i, i % 5 AS small, t, t::varchar AS v, t::bpchar AS b, t::char(20) AS c, t::bytea AS y, t::name AS n, md5(t)::uuid AS u, x, round(x, 2)::numeric(308, 2) AS d, t COLLATE byte_keys_case AS k,
       t::byte_keys_text AS dt, x::byte_keys_number AS dx, ARRAY[t, t] AS a, ARRAY[x] AS ax, ROW(t, x)::byte_keys_pair AS p, justify_interval(make_interval(hours => number / 2 * 24)) AS iv
FROM generate_series(1, 6000) i JOIN numbers ON number = i * 7919 % 287;
-- values that tables keep compressed or out of line
INSERT INTO byte_keys (i, small, t, b, y, x, k)
SELECT i, i % 5, repeat(chr(65 + i % 5), 3000 * (1 + i % 2)), repeat(chr(65 + i % 5), 3000) || repeat(' ', i % 3), (SELECT string_agg(sha512((i % 5 + 1000 * j)::text::bytea), '' ORDER BY j) FROM generate_series(1, 60) j),
       repeat((1 + i % 5)::text, 5000)::numeric * CASE i % 2 WHEN 0 THEN 1 ELSE 1.000 END, repeat(chr(65 + i % 5 + i % 2 * 32), 3000)
FROM generate_series(1, 200) i;
ANALYZE byte_keys;
SELECT column_name, c.* FROM (VALUES ('t'), ('v'), ('b'), ('c'), ('y'), ('n'), ('u'), ('x'), ('d'), ('k'), ('dt'), ('dx'), ('a'), ('ax'), ('p'), ('iv'), ('t COLLATE "C"'), ('t COLLATE "en-x-icu"')) v(column_name),
     pg_temp.check_node(format('SELECT %s AS k, count(*), sum(i) FROM byte_keys GROUP BY 1', column_name), 'MgpuGroup', 'mgpu.enable_group', false) c;
SELECT query, column_name, pg_temp.same_without(format(query, column_name)) AS same
FROM (VALUES ('SELECT DISTINCT %s AS k FROM byte_keys'), ('SELECT %s AS k, small, count(*) FROM byte_keys GROUP BY 1, 2'), ('SELECT small, %s AS k, count(*) FROM byte_keys WHERE i %% 3 = 0 GROUP BY 1, 2'),
             ('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i), count(*) FROM byte_keys GROUP BY %s')) q(query),
     (VALUES ('t'), ('b'), ('y'), ('u'), ('x'), ('k'), ('dt'), ('dx'), ('iv')) c(column_name);
-- the first row's value stands for all equal ones
SELECT b, length(concat(b, '|')), count(*) FROM (VALUES ('a  '::bpchar), ('a'), ('a '), (''), ('  '), (NULL)) v(b) GROUP BY b ORDER BY b;
SELECT x, count(*) FROM (VALUES (1.00::numeric), (1), (1.0), (-0.0), (0), (100), (100.0), (1e2), ('NaN'), ('NaN'), (NULL)) v(x) GROUP BY x ORDER BY x;
SELECT k, count(*) FROM (VALUES ('Ab'), ('aB'), ('b'), ('B'), (''), ('')) v(k) GROUP BY k COLLATE byte_keys_case, k ORDER BY k COLLATE "C";
SELECT min(k COLLATE "C") AS k, count(*) FROM (VALUES ('Ab'), ('aB'), ('b'), ('B'), (''), ('')) v(k) GROUP BY k COLLATE byte_keys_case ORDER BY 1;
DROP TABLE byte_keys;
DROP TYPE byte_keys_pair;
DROP DOMAIN byte_keys_text, byte_keys_number;
DROP COLLATION byte_keys_case;
