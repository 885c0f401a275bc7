SET mgpu.enable_group = off; -- PostgreSQL's aggregates are compared with
--
-- mgpu_merge_agg: sorted arrays merged into one
--
SELECT mgpu_merge_agg(a) FROM (VALUES ('{1,3}'::int[]), ('{2,NULL}'), (NULL), ('{}'), ('{0,9}')) t(a);
SELECT mgpu_merge_agg(a, true), mgpu_merge_agg(a, true, true) FROM (VALUES ('{NULL,3,1}'::int[]), ('{2}')) t(a);
SELECT mgpu_merge_agg(a, true, false), mgpu_merge_agg(a, true, false) FROM (VALUES ('{3,1,NULL}'::int[]), ('{2}')) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES (NULL::int[]), (NULL)) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{}'::int[]), (NULL)) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('[5:6]={1,2}'::int[]), ('[0:0]={0}')) t(a);
SELECT g, mgpu_merge_agg(a) FROM (VALUES (1, '{a,c}'::text[]), (2, '{b}'), (1, '{b,c,d}'), (3, '{}'), (2, NULL)) t(g, a) GROUP BY g ORDER BY g;
-- int2vector and oidvector start at 0, also when empty
SELECT v, array_lower(v, 1) AS lower, w = ''::oidvector AS empty
FROM (SELECT mgpu_merge_agg(a) AS v FROM (VALUES ('1 3'::int2vector), ('2')) t(a)) v, (SELECT mgpu_merge_agg(a) AS w FROM (VALUES (''::oidvector), ('')) t(a)) w;
-- ties: earlier arrays first
SELECT mgpu_merge_agg(a) FROM (VALUES ('{1.0,2}'::numeric[]), ('{1.00,2.0}'), ('{1}')) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{-0,NaN}'::float8[]), ('{0}'), ('{-0}')) t(a);
-- against array_agg, many arrays in many groups
SELECT count(*), bool_and(ours = theirs) FROM (
    SELECT mgpu_merge_agg(a ORDER BY part) AS ours, (SELECT array_agg(v ORDER BY v) FROM generate_series(1, 20000) i, LATERAL (SELECT i * 7919 % 1000) l(v) WHERE i % 20 = g) AS theirs
    FROM (SELECT i % 20 AS g, i % 7 AS part, array_agg(i * 7919 % 1000 ORDER BY i * 7919 % 1000) AS a FROM generate_series(1, 20000) i GROUP BY 1, 2) p GROUP BY g) c;
SELECT count(*), bool_and(ours = theirs) FROM (
    SELECT mgpu_merge_agg(a) AS ours, (SELECT array_agg(v ORDER BY v COLLATE "C") FROM generate_series(1, 2000) i, LATERAL (SELECT md5(i::text)) l(v) WHERE i % 20 = g) AS theirs
    FROM (SELECT i % 20 AS g, i % 7 AS part, array_agg(md5(i::text) COLLATE "C" ORDER BY md5(i::text) COLLATE "C") AS a FROM generate_series(1, 2000) i GROUP BY 1, 2) p GROUP BY g) c;
-- arrays that are not sorted as the order says
SELECT mgpu_merge_agg(a) FROM (VALUES ('{1,3}'::int[]), ('[7:9]={1,3,2}')) t(a);
SELECT mgpu_merge_agg(a, true) FROM (VALUES ('{1,3}'::int[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{NULL,1}'::int[])) t(a);
SELECT mgpu_merge_agg(a, false, true) FROM (VALUES ('{NULL,1,NULL}'::int[])) t(a);
SELECT mgpu_merge_agg(a, false, true) FROM (VALUES ('{NULL,2,1}'::int8[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{b,a}'::text[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{NaN,1}'::float8[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES (ARRAY['ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000']::uuid[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{1,-1}'::int2[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{t,f}'::bool[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{2 days,1 day}'::interval[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{{1,2},{3,4}}'::int[])) t(a);
SELECT mgpu_merge_agg(a) FROM (VALUES ('{"(1,2)"}'::point[])) t(a);
-- more elements than an array may have, found as they come or before they are sorted
SELECT mgpu_merge_agg(a) FROM (SELECT array_fill(true, ARRAY[10000000]) AS a FROM generate_series(1, 30)) t;
SELECT mgpu_merge_agg(a) FROM (SELECT i / 20 AS g, array_fill(true, ARRAY[10000000]) AS a FROM generate_series(1, 14) i) t GROUP BY g;
-- stored arrays, compressed and not
CREATE TEMP TABLE stored (a int[]);
INSERT INTO stored SELECT array_agg(i) FROM generate_series(1, 20000) i;
ALTER TABLE stored ALTER a SET STORAGE EXTERNAL;
INSERT INTO stored SELECT array_agg(i) FROM generate_series(10000, 400000) i;
SELECT cardinality(a), a = (SELECT array_agg(x ORDER BY x) FROM stored, unnest(stored.a) x) FROM (SELECT mgpu_merge_agg(a) AS a FROM stored) m;
