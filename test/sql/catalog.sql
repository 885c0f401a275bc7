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
-- nothing but functions
SELECT classid::regclass, count(*) FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'mgpu_pg')
GROUP BY 1 ORDER BY 1;
-- what \df mgpu_* shows has no function that only aggregates call
SELECT count(*) FROM pg_proc WHERE proname LIKE 'mgpu\_%' AND prosrc LIKE 'mgpu%' AND 'internal'::regtype = ANY (proargtypes);
-- every one of them has a comment
SELECT p.oid::regprocedure AS without_comment
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'mgpu_pg')
  AND d.classid = 'pg_proc'::regclass AND obj_description(p.oid, 'pg_proc') IS NULL;
-- argument names
SELECT proname, proargnames FROM pg_proc WHERE proname LIKE 'mgpu\_%' ORDER BY oid::regprocedure::text COLLATE "C";
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
ALTER EXTENSION mgpu_pg UPDATE;
SELECT extversion, a, p FROM pg_extension, sorted_before WHERE extname = 'mgpu_pg';
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
