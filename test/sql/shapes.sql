--
-- Arrays of shapes that are rare: empty ones that have a dimension, null bitmaps without NULLs, the first
-- and the last subscripts there are, domains over arrays, arrays that PL/pgSQL is still building
--
CREATE FUNCTION shape_of(a anyarray) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT format('%s %s %s', pg_typeof(a), coalesce(array_dims(a), array_ndims(a)::text, 'none'), a) $$;
-- an empty oidvector has one dimension
SELECT array_ndims(''::oidvector::oid[]) AS dimensions, cardinality(''::oidvector::oid[]);
CREATE TABLE hollow AS SELECT ''::oidvector::oid[] AS a;
SELECT shape_of(mgpu_sort(a)) AS sort, shape_of(mgpu_argsort(a)) AS argsort, shape_of(mgpu_sort_by(a, a)) AS sort_by, shape_of(mgpu_locality_sort(a, true)) AS locality,
       shape_of(mgpu_oddeven_sort(a)) AS oddeven FROM hollow;
SELECT p AS pairs, l AS locality_pairs, s AS segments, f AS flags
FROM hollow, mgpu_sort_pairs(a, a) p, mgpu_locality_sort_pairs(a, a) l, mgpu_segsort_pairs(a, a, '{}') s, mgpu_segsort_pairs_flags(a, a, '') f;
SELECT shape_of(mgpu_segsort(a, '{}')) AS heads, shape_of(mgpu_segsort_flags(a, '')) AS flags, shape_of(mgpu_segsort_by(a, a)) AS groups FROM hollow;
SELECT (SELECT count(*) FROM mgpu_sort_rows(a, a)) AS rows, (SELECT count(*) FROM mgpu_segsort_rows(a, a)) AS segments,
       (SELECT count(*) FROM mgpu_segsort_stats(a, '{}')) AS stats, (SELECT count(*) FROM mgpu_locality_sort_stats(a)) AS more FROM hollow;
SELECT shape_of(mgpu_merge(a, a)) AS none, shape_of(mgpu_merge(a, '{1,3}')) AS second, shape_of(mgpu_merge('[5:6]={1,3}', a)) AS first, m AS pairs
FROM hollow, mgpu_merge_pairs(a, a, '{2,4}', '{20,40}') m;
SELECT shape_of(mgpu_bulk_remove(a, '{}')) AS removed, shape_of(mgpu_bulk_insert(a, '{}', a)) AS nothing, shape_of(mgpu_bulk_insert(a, '{1,1}', '{7,6}')) AS inserted FROM hollow;
SELECT mgpu_bulk_remove(a, '{0}') FROM hollow;
SELECT mgpu_segsort(a, '{1}') FROM hollow;
SELECT shape_of(mgpu_merge_agg(v)) AS merged FROM (SELECT a AS v FROM hollow UNION ALL SELECT '{2,5}' UNION ALL SELECT '{1}') t;
SELECT mgpu_sort_by('{}'::int[], a), mgpu_bulk_remove('{3,4}'::int[], a::int[]) FROM hollow;
DROP TABLE hollow;
-- a null bitmap in which no bit is clear, and a NULL at either end
CREATE TABLE mapped (i int, a int[], t text[]);
INSERT INTO mapped VALUES (1, '{NULL,5,3,4}', '{NULL,e,c,d}'), (2, '{NULL}', '{NULL}');
UPDATE mapped SET a[1] = 9, t[1] = 'z';
SELECT i, get_byte(array_send(a), 7) AS a_flag, get_byte(array_send(t), 7) AS t_flag FROM mapped ORDER BY i;
SELECT i, mgpu_sort(a) AS sort, mgpu_sort(t, true) AS strings, mgpu_argsort(a) AS argsort, mgpu_sort_by(t, a) AS by, mgpu_sort_pairs(t, a) AS pairs, mgpu_oddeven_sort(a) AS oddeven FROM mapped ORDER BY i;
SELECT i, mgpu_segsort(a, '{1}') AS one, mgpu_segsort_by(a, t) AS apart, mgpu_merge(mgpu_sort(a), '{1}') AS merge, mgpu_merge_pairs(mgpu_sort(t), a, '{x}', '{8}') AS pairs,
       mgpu_bulk_remove(a, '{1}') AS removed, mgpu_bulk_insert(t, '{2}', '{NULL}') AS inserted FROM mapped ORDER BY i;
SELECT mgpu_merge_agg(mgpu_sort(a)) AS merged, mgpu_sort_agg_by(i, a) AS by_arrays, mgpu_percentile_disc(t, 1) AS most FROM mapped;
DROP TABLE mapped;
-- the first subscript there is, and the last
CREATE TABLE bounds (i int, a int[]);
INSERT INTO bounds VALUES (1, '[-2147483648:-2147483645]={4,NULL,2,3}'), (2, '[2147483643:2147483646]={4,NULL,2,3}');
SELECT i, mgpu_sort(a) AS sort, mgpu_argsort(a) AS argsort, mgpu_sort_by(a, a, true) AS by, (mgpu_sort_pairs(a, a)).vals FROM bounds ORDER BY i;
SELECT i, mgpu_segsort(a, ARRAY[array_upper(a, 1)]) AS heads, mgpu_segsort_by(a, '{1,1,2,2}'::int[]) AS groups, mgpu_bulk_remove(a, ARRAY[array_upper(a, 1), array_lower(a, 1)]) AS removed,
       mgpu_merge(mgpu_sort(a), mgpu_sort(a)) AS merged FROM bounds ORDER BY i;
SELECT mgpu_bulk_insert(a, ARRAY[array_upper(a, 1) + 1], '{9}') FROM bounds WHERE i = 1;
SELECT mgpu_bulk_insert(a, ARRAY[array_upper(a, 1) + 1], '{9}') FROM bounds WHERE i = 2;
SELECT mgpu_merge(a, '{}') FROM bounds WHERE i = 1;
SELECT mgpu_merge('{}', a) FROM bounds WHERE i = 2;
SELECT mgpu_merge_agg(a) FROM bounds WHERE i = 2;
SELECT mgpu_bulk_remove(a, '{2147483647}') FROM bounds WHERE i = 2;
SELECT mgpu_segsort(a, '{2147483647}') FROM bounds WHERE i = 2;
DROP TABLE bounds;
-- domains over arrays come back as arrays
CREATE DOMAIN few_ints AS int[] CHECK (cardinality(VALUE) < 9);
CREATE DOMAIN c_words AS text[] COLLATE "C";
SELECT shape_of(mgpu_sort('{3,1}'::few_ints)) AS sort, shape_of(mgpu_sort_by('{b,B}'::c_words, '{2,1}'::few_ints)) AS by, shape_of(mgpu_merge('{1}'::few_ints, '{0,1,2,3,4,5,6,7,8}')) AS merge,
       shape_of(mgpu_bulk_insert('{a}'::c_words, '{1}', '{b}')) AS inserted, shape_of(mgpu_sort('{1}'::few_ints)) AS one, pg_typeof(mgpu_sort_pairs('{1}'::few_ints, '{a}'::c_words));
SELECT * FROM mgpu_sort_rows('{b,a,B}'::c_words, '{3,2,1}'::few_ints);
SELECT shape_of(mgpu_merge_agg(a)) AS merged FROM (VALUES ('{1,3}'::few_ints), ('{2}')) t(a);
DROP DOMAIN few_ints, c_words;
-- arrays that PL/pgSQL holds, as they came and with elements assigned, also as keys of aggregates
DO $$
DECLARE
    a int[] := '{3,1,2}';
    b int[] := '{}';
    t text[] := '{c,a,b}';
    r record;
BEGIN
    RAISE NOTICE '% % % %', mgpu_sort(a), mgpu_argsort(t), mgpu_sort_by(t, a), mgpu_sort_pairs(a, t);
    a[5] := 0;
    b[1] := 4;
    t[2] := NULL;
    RAISE NOTICE '% % % %', mgpu_sort(a), mgpu_argsort(t), mgpu_sort_by(t, a[1:3]), mgpu_sort_pairs(t, a[1:3]);
    a := mgpu_sort(a);
    RAISE NOTICE '% % %', mgpu_merge(a, b), mgpu_bulk_insert(a, b, b), mgpu_bulk_remove(a, b);
    SELECT mgpu_percentile_disc(x, 1) AS most, mgpu_sort_agg_by(i, x) AS positions, mgpu_merge_agg(mgpu_sort(x)) AS merged INTO r FROM (VALUES (1, b), (2, a), (3, b)) v(i, x);
    RAISE NOTICE '% % %', r.most, r.positions, r.merged;
END
$$;
DROP FUNCTION shape_of;
