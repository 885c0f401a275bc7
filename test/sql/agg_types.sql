SET mgpu.enable_group = off; -- PostgreSQL's aggregates are compared with
--
-- Aggregates of types that are sorted by codes: numeric, enums, bit strings,
-- networks, long intervals, text of all kinds
--
-- traps: ties that differ in their bytes, what is not a number, strings that begin alike
CREATE TYPE agg_grade AS ENUM ('low', 'high');
ALTER TYPE agg_grade ADD VALUE 'fair' BEFORE 'high';
ALTER TYPE agg_grade ADD VALUE 'none' BEFORE 'low';
CREATE DOMAIN agg_price AS numeric CHECK (VALUE IS DISTINCT FROM 7e9);
CREATE TABLE agg_types AS
SELECT i, i % 3 AS g, i * 7919 % 1009 AS r,
       CASE i % 23 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN NULL WHEN 5 THEN 0.00 WHEN 6 THEN 0
            WHEN 7 THEN 1.0 WHEN 8 THEN 1.00 WHEN 9 THEN 1 WHEN 10 THEN -1e-100 WHEN 11 THEN 1e100 ELSE (i * 7919 % 1009 - 500) / 8.0 END::numeric AS n,
       (ARRAY['low', 'high', 'fair', 'none', NULL])[1 + i * 7 % 5]::agg_grade AS e,
       (CASE WHEN i % 17 = 0 THEN '' ELSE (i * 7919 % 1009)::bit(10)::text || repeat('0', i % 9) END)::varbit AS b,
       CASE WHEN i % 13 = 0 THEN '::/0' WHEN i % 13 = 1 THEN '0.0.0.0/0' ELSE format('10.%s.%s.0/%s', i % 5, i * 7919 % 251, 16 + i % 17) END::inet AS net,
       CASE i % 11 WHEN 0 THEN '178000000 years' WHEN 1 THEN '-178000000 years' WHEN 2 THEN '1 mon' WHEN 3 THEN '30 days' WHEN 4 THEN '720:00'
            ELSE make_interval(days => i % 61, secs => i * 7919 % 1009) END::interval AS span,
       (repeat('x', (ARRAY[0, 8, 16, 200])[1 + i % 4]) || CASE WHEN i % 7 > 0 THEN i * 7919 % 97 || '' ELSE '' END) COLLATE "C" AS t,
       (repeat('y', i % 12) || repeat(' ', i % 5))::char(20) COLLATE "C" AS c,
       (repeat('z', i % 60) || i % 7)::name AS m,
       decode(repeat('00', i % 19) || repeat('01', i % 3) || repeat('00', i % 10), 'hex') AS raw,
       format('(%s,%s)', i * 7919 % 1009, i % 7 + 1)::tid AS ctid_like
FROM generate_series(1, 6000) i;
ANALYZE agg_types;
-- every column under every plan: the bytes of array_agg's answer, and how it was sorted
CREATE FUNCTION pg_temp.check_type(col text, key text, source text) RETURNS TABLE (wrong text, compared boolean) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($q$
        WITH ours AS (
            SELECT %2$s AS key, array_send(mgpu_sort_agg(%1$s)) AS up, array_send(mgpu_sort_agg(%1$s, true)) AS down,
                   array_send(mgpu_sort_agg(%1$s, false, true)) AS nulls, array_send(mgpu_sort_agg_by(i, %1$s)) AS by_it,
                   array_send(mgpu_sort_agg_by(t, %1$s, true)) AS by_down, mgpu_percentile_disc(%1$s, 0.3) AS disc
            FROM %3$s GROUP BY 1),
        theirs AS (
            SELECT %2$s AS key, array_send(array_agg(%1$s ORDER BY %1$s, i)) AS up, array_send(array_agg(%1$s ORDER BY %1$s DESC, i)) AS down,
                   array_send(array_agg(%1$s ORDER BY %1$s NULLS FIRST, i)) AS nulls, array_send(array_agg(i ORDER BY %1$s, i)) AS by_it,
                   array_send(array_agg(t ORDER BY %1$s DESC, i)) AS by_down, percentile_disc(0.3) WITHIN GROUP (ORDER BY %1$s) AS disc
            FROM agg_types GROUP BY 1)
        SELECT string_agg(DISTINCT w, ' ') FROM (
            SELECT concat_ws(' ', CASE WHEN o.key IS NULL OR t.key IS NULL THEN 'groups' END, CASE WHEN o.up IS DISTINCT FROM t.up THEN 'up' END,
                             CASE WHEN o.down IS DISTINCT FROM t.down THEN 'down' END, CASE WHEN o.nulls IS DISTINCT FROM t.nulls THEN 'nulls' END,
                             CASE WHEN o.by_it IS DISTINCT FROM t.by_it THEN 'by' END, CASE WHEN o.by_down IS DISTINCT FROM t.by_down THEN 'by, down' END,
                             CASE WHEN o.disc IS DISTINCT FROM t.disc THEN 'percentile' END) AS w
            FROM ours o FULL JOIN theirs t USING (key)) q $q$, col, key, source) INTO wrong;
    EXECUTE format('SELECT count(a) FROM (SELECT mgpu_sort_agg(%s) AS a FROM %s GROUP BY %s) q', col, source, key);
    compared := (SELECT algorithm = 'compare' FROM mgpu_last_run());
    RETURN NEXT;
END
$$;
CREATE TABLE agg_columns (col text, place int);
INSERT INTO agg_columns SELECT col, place FROM unnest('{n,n::agg_price,e,b,net,net::cidr,span,t,t::varchar,c,m,raw,ctid_like}'::text[]) WITH ORDINALITY u(col, place);
SET jit = off; -- plans that cost a lot are compiled else
SET enable_sort = off;
SELECT col, w.*, h.*, f.* FROM agg_columns, pg_temp.check_type(col, 'i > 0', 'agg_types') w, pg_temp.check_type(col, 'g', 'agg_types') h, pg_temp.check_type(col, 'r', 'agg_types') f ORDER BY place;
RESET enable_sort;
SET enable_hashagg = off;
SELECT col, h.*, f.* FROM agg_columns, pg_temp.check_type(col, 'g', '(SELECT * FROM agg_types ORDER BY g, i) s') h, pg_temp.check_type(col, 'r', '(SELECT * FROM agg_types ORDER BY r, i) s') f ORDER BY place;
RESET enable_hashagg;
-- small: some rows, one row, none
SELECT mgpu_sort_agg(n), mgpu_sort_agg(n, true) FROM agg_types WHERE i BETWEEN 1 AND 11;
SELECT mgpu_sort_agg(e), mgpu_sort_agg(e, true), mgpu_percentile_disc(e, 0.5) FROM agg_types WHERE i < 8;
SELECT mgpu_sort_agg(n), mgpu_sort_agg(b), mgpu_sort_agg(net), mgpu_sort_agg(span) FROM agg_types WHERE i = 100;
SELECT mgpu_sort_agg(n), mgpu_sort_agg(e), mgpu_sort_agg(t) FROM agg_types WHERE i < 0;
SELECT mgpu_sort_agg(b), mgpu_sort_agg(net) FROM agg_types WHERE i IN (13, 14, 17, 34, 100);
-- merged: of equal elements those of earlier arrays first
SELECT mgpu_merge_agg(a), mgpu_merge_agg(a, false, false) FROM (VALUES ('{1.0,2,NaN}'::numeric[]), ('{-Infinity,1.00,2.0}'), ('{1,NULL}')) t(a);
SELECT mgpu_merge_agg(a, true) FROM (VALUES ('{high,fair}'::agg_grade[]), ('{high,none}'), ('{NULL,low}')) t(a);
SELECT array_send(mgpu_merge_agg(a ORDER BY p)) = (SELECT array_send(array_agg(n ORDER BY n, i % 7, i)) FROM agg_types) AS merged
FROM (SELECT i % 7 AS p, array_agg(n ORDER BY n, i) AS a FROM agg_types GROUP BY 1) q;
SELECT mgpu_merge_agg(a) FROM (VALUES ('{1,2}'::numeric[]), ('{NaN,Infinity}')) t(a);
-- collations: by bytes, by characters, with ties
SELECT mgpu_sort_agg(v COLLATE "C"), mgpu_sort_agg_by(v, v COLLATE "ucs_basic", true) FROM (VALUES ('b'), ('B'), ('é'), (''), ('a')) x(v);
DO $$
BEGIN
    CREATE COLLATION agg_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    IF (SELECT array_send(mgpu_sort_agg(v COLLATE agg_any_case)) <> array_send(array_agg(v ORDER BY v COLLATE agg_any_case, i))
            OR array_send(mgpu_sort_agg(v COLLATE "en-x-icu")) <> array_send(array_agg(v ORDER BY v COLLATE "en-x-icu", i))
        FROM (SELECT i, CASE WHEN i % 2 = 0 THEN upper(md5((i / 4)::text)) ELSE md5((i / 4)::text) END AS v FROM generate_series(1, 5000) i ORDER BY i) q) THEN
        RAISE 'not as array_agg';
    END IF;
EXCEPTION WHEN feature_not_supported OR undefined_object THEN
    NULL; -- a server without ICU
END
$$;
DROP TABLE agg_types, agg_columns;
DROP DOMAIN agg_price;
DROP TYPE agg_grade;
DROP COLLATION IF EXISTS agg_any_case;
