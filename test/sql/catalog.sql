--
-- what the extension installs
--
SELECT extname, extversion, extrelocatable FROM pg_extension WHERE extname = 'mgpu_pg';
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS result,
       provolatile AS volatile, proparallel AS parallel, proisstrict AS strict, proleakproof AS leakproof, procost AS cost, prorows AS rows
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'mgpu_pg')
  AND d.classid = 'pg_proc'::regclass
ORDER BY p.oid::regprocedure::text COLLATE "C";
-- nothing but functions and views; PostgreSQL 18 lists the types of views as well
SELECT classid::regclass, count(*) FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'mgpu_pg')
  AND pg_describe_object(classid, objid, 0) !~ '^type mgpu_stat'
GROUP BY 1 ORDER BY 1;
-- what \df mgpu_* shows has no function that only aggregates call
SELECT count(*) FROM pg_proc WHERE proname LIKE 'mgpu\_%' AND prosrc LIKE 'mgpu%' AND 'internal'::regtype = ANY (proargtypes);
-- nor two functions of one name (aggregates can have no defaults)
SELECT proname, count(*) FROM pg_proc WHERE prokind = 'f' AND proname LIKE 'mgpu\_%' GROUP BY 1 HAVING count(*) > 1;
-- every object has a comment: functions, and whatever else there may be one day
CREATE VIEW without_comment AS
SELECT pg_describe_object(classid, objid, 0) AS object FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'mgpu_pg')
  AND deptype = 'e' AND obj_description(objid, classid::regclass::name) IS NULL
  AND pg_describe_object(classid, objid, 0) !~ '^type mgpu_stat';
SELECT object FROM without_comment;
BEGIN;
COMMENT ON AGGREGATE mgpu_sort_agg(anyelement) IS NULL;
CREATE TYPE pair AS (a int, b int);
ALTER EXTENSION mgpu_pg ADD TYPE pair;
-- PostgreSQL 18 lists the type's array as well
SELECT object FROM without_comment WHERE object <> 'type pair[]' ORDER BY object COLLATE "C";
ROLLBACK;
DROP VIEW without_comment;
-- and every setting
LOAD 'mgpu_pg';
SELECT count(*) > 0 AS settings, count(*) FILTER (WHERE coalesce(short_desc, '') NOT LIKE '%.') AS without_description FROM pg_settings WHERE name LIKE 'mgpu.%';
-- arguments
SELECT proname, pg_get_function_arguments(oid) FROM pg_proc WHERE proname LIKE 'mgpu\_%' ORDER BY oid::regprocedure::text COLLATE "C";
-- in a schema of its own, and away again
BEGIN;
CREATE SCHEMA elsewhere;
ALTER EXTENSION mgpu_pg SET SCHEMA elsewhere;
SELECT elsewhere.mgpu_sort(ARRAY[2, 1]);
ROLLBACK;
BEGIN;
DROP EXTENSION mgpu_pg;
SELECT count(*) FROM pg_proc WHERE proname LIKE 'mgpu\_%';
CREATE SCHEMA elsewhere;
CREATE EXTENSION mgpu_pg SCHEMA elsewhere;
SELECT elsewhere.mgpu_argsort(ARRAY[2, 1]);
ROLLBACK;
-- from the version before: objects that depend on it stay
BEGIN;
DROP EXTENSION mgpu_pg;
CREATE EXTENSION mgpu_pg VERSION '0.1';
CREATE VIEW sorted_before AS SELECT mgpu_sort_agg(x) AS a, mgpu_percentile_cont(x, 0.5) AS p FROM generate_series(5, 1, -1) x;
CREATE TABLE kept_before (v int[], sorted int[] GENERATED ALWAYS AS (mgpu_sort(v)) STORED, CHECK (cardinality(mgpu_merge(v, '{}')) < 9));
CREATE INDEX order_before ON kept_before (mgpu_argsort(v, true));
CREATE VIEW arrays_before AS SELECT mgpu_sort(v) AS up, mgpu_sort(v, true) AS down, mgpu_sort(v, true, false) AS nulls_last,
    (mgpu_sort_pairs(v, v)).vals, (SELECT count(*) FROM mgpu_sort_rows(v, v, true)) AS rows FROM kept_before;
CREATE VIEW ran_before AS SELECT function FROM mgpu_last_run();
INSERT INTO kept_before VALUES ('{1,2,NULL}');
ALTER EXTENSION mgpu_pg UPDATE;
SELECT extversion, a, p FROM pg_extension, sorted_before WHERE extname = 'mgpu_pg';
INSERT INTO kept_before VALUES ('{3,4}'), (NULL);
SELECT v, sorted, mgpu_argsort(v, true) AS positions FROM kept_before ORDER BY v;
SELECT * FROM arrays_before ORDER BY up;
SELECT * FROM ran_before;
SELECT pg_get_indexdef('order_before'::regclass);
SELECT count(*) FROM pg_proc WHERE proname LIKE 'mgpu\_%' AND 'internal'::regtype = ANY (proargtypes);
ROLLBACK;
-- by someone who may create in the database, and is no superuser
BEGIN;
DROP EXTENSION mgpu_pg;
CREATE ROLE mgpu_maker;
SELECT format('GRANT CREATE ON DATABASE %I TO mgpu_maker', current_database()) AS allow \gset
:allow;
SET ROLE mgpu_maker;
CREATE SCHEMA made;
CREATE EXTENSION mgpu_pg SCHEMA made;
SELECT made.mgpu_sort(ARRAY[2, 1]);
SET mgpu.inject_fault = 'memory';
ROLLBACK;
