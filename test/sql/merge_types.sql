--
-- Merges of types that are merged by codes: numeric, enums, bit strings, networks,
-- long intervals, text that orders by bytes
--
CREATE TYPE merge_grade AS ENUM ('low', 'high');
ALTER TYPE merge_grade ADD VALUE 'fair' BEFORE 'high';
CREATE TABLE merge_types AS
SELECT i,
       CASE i % 23 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN NULL WHEN 5 THEN 0.00 WHEN 6 THEN 0
            WHEN 7 THEN 1.0 WHEN 8 THEN 1.00 WHEN 9 THEN 1 ELSE (i * 7919 % 1009 - 500) / 8.0 END::numeric AS n,
       (ARRAY['low', 'high', 'fair', NULL])[1 + i * 7 % 4]::merge_grade AS e,
       (CASE WHEN i % 17 = 0 THEN '' ELSE (i * 7919 % 1009)::bit(10)::text || repeat('0', i % 9) END)::varbit AS b,
       CASE WHEN i % 13 = 0 THEN '::/0' ELSE format('10.%s.%s.0/%s', i % 5, i * 7919 % 251, 16 + i % 17) END::inet AS net,
       CASE i % 7 WHEN 0 THEN '178000000 years' WHEN 1 THEN '1 mon' WHEN 2 THEN '30 days' ELSE make_interval(days => i % 61) END::interval AS span,
       (repeat('x', (ARRAY[0, 8, 16, 200])[1 + i % 4]) || CASE WHEN i % 7 > 0 THEN i * 7919 % 97 || '' ELSE '' END) COLLATE "C" AS t,
       ('https://www.example.org/catalogue/' || (ARRAY['a', 'item-', 'item-number-'])[1 + i % 3] || i * 7919 % 97) COLLATE "ucs_basic" AS u,
       (repeat('y', i % 12) || repeat(' ', i % 5))::char(20) COLLATE "C" AS c,
       (repeat('z', i % 60) || i % 7)::name AS m,
       decode(repeat('00', i % 19) || repeat('01', i % 3) || repeat('00', i % 10), 'hex') AS raw,
       repeat('same', 5) COLLATE "C" AS same
FROM generate_series(1, 5000) i;
-- parts: a has those with i % 5 < split; what is wrong, and whether elements were compared
CREATE FUNCTION pg_temp.check_merge(col text, split int, ordering text, args text) RETURNS TABLE (wrong text, compared boolean) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($q$
        WITH sides AS (
            SELECT coalesce(array_agg(%1$s ORDER BY %1$s %3$s, i) FILTER (WHERE i %% 5 < %2$s), '{}') AS a, coalesce(array_agg(%1$s ORDER BY %1$s %3$s, i) FILTER (WHERE i %% 5 >= %2$s), '{}') AS b,
                   coalesce(array_agg(i ORDER BY %1$s %3$s, i) FILTER (WHERE i %% 5 < %2$s), '{}') AS a_vals, coalesce(array_agg(i ORDER BY %1$s %3$s, i) FILTER (WHERE i %% 5 >= %2$s), '{}') AS b_vals,
                   array_agg(%1$s ORDER BY %1$s %3$s, i %% 5 >= %2$s, i) AS keys, array_agg(i ORDER BY %1$s %3$s, i %% 5 >= %2$s, i) AS vals
            FROM merge_types)
        SELECT concat(CASE WHEN array_send(mgpu_merge(a, b %4$s)) <> array_send(s.keys) THEN 'merge ' END,
                      CASE WHEN array_send(p.keys) <> array_send(s.keys) THEN 'keys ' END, CASE WHEN p.vals <> s.vals THEN 'vals' END)
        FROM sides s, mgpu_merge_pairs(a, a_vals, b, b_vals %4$s) p $q$, col, split, ordering, args) INTO wrong;
    compared := (SELECT algorithm = 'compare' FROM mgpu_last_run());
    RETURN NEXT;
END
$$;
CREATE TABLE merge_columns (col text, place int);
INSERT INTO merge_columns SELECT col, place FROM unnest('{n,e,b,net,span,t,u,c,m,raw,same}'::text[]) WITH ORDINALITY u(col, place);
SELECT col, up.*, down.*, one.*, none.* FROM merge_columns, pg_temp.check_merge(col, 2, '', '') up, pg_temp.check_merge(col, 3, 'DESC NULLS LAST', ', true, false') down,
       pg_temp.check_merge(col, 1, 'NULLS FIRST', ', false, true') one, pg_temp.check_merge(col, 0, '', '') none ORDER BY place;
-- few
SELECT mgpu_merge('{-Infinity,1.0,NaN}'::numeric[], '{1,1.00,Infinity,NaN}'), mgpu_merge('{NaN,2.50,-0.1}'::numeric[], '{NULL,2.5,-1}', true, true),
       mgpu_merge('{NULL,NULL}'::numeric[], '{NULL}'), mgpu_merge('{}'::numeric[], '{1,1.0}'), mgpu_merge('{NULL}'::merge_grade[], '{}');
SELECT mgpu_merge('{"","",a}'::text[] COLLATE "C", '{"",aa}'), mgpu_merge('{a,aa}'::text[] COLLATE "C", '{a,ab}'), mgpu_merge('{low,high}'::merge_grade[], '{low,fair,high}'),
       mgpu_merge('{"",0}'::varbit[], '{"",00}'), mgpu_merge('{"\\x","\\x00"}'::bytea[], '{"\\x","\\x0000"}');
-- the first bad position, behind what all strings begin with and behind a code
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN SQLSTATE || ': ' || detail;
END
$$;
SELECT s AS statement, pg_temp.error_of(s) FROM unnest(ARRAY[
    $$SELECT mgpu_merge('{1,3,2}'::numeric[], '{5,4}')$$,
    $$SELECT mgpu_merge('{1,3}'::numeric[], '{NaN,Infinity}')$$,
    $$SELECT mgpu_merge('{1.00,1.0,1}'::numeric[], '{1,1.0,1.00,0.999}', false)$$,
    $$SELECT mgpu_merge('{same-beginning-b,same-beginning-a}'::text[] COLLATE "C", '{b,a}')$$,
    $$SELECT mgpu_merge('[7:9]={other,same,saem}'::text[] COLLATE "C", '{a}')$$,
    $$SELECT mgpu_merge('{NULL,"",a,""}'::text[] COLLATE "C", '{a}', false, true)$$,
    $$SELECT mgpu_merge('{a}'::text[] COLLATE "C", '{abcdefghijklmnop,abcdefghijklmno}')$$,
    $$SELECT mgpu_merge('{low,high,fair}'::merge_grade[], '{}')$$,
    $$SELECT mgpu_merge('{high,fair}'::merge_grade[], '{high,low,fair}', true)$$]) s;
DROP TABLE merge_types, merge_columns;
DROP TYPE merge_grade;
