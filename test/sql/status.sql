--
-- mgpu_last_run and mgpu_device_info; which executor ran is not for this test to say
--
-- a session that has not sorted yet
\c -
SELECT * FROM mgpu_last_run();
CREATE FUNCTION pg_temp.run() RETURNS TABLE (function text, items bigint, bytes boolean, ran boolean, times boolean, reason boolean) LANGUAGE sql AS $$
    SELECT function, items, bytes > 0, executor IN ('cpu', 'gpu') AND algorithm IS NOT NULL,
           marshal_ms >= 0 AND upload_ms >= 0 AND kernel_ms >= 0 AND download_ms >= 0,
           (reason IS NULL) = (executor = 'gpu')
    FROM mgpu_last_run()
$$;
SELECT mgpu_sort(ARRAY[3, 1, 2]);
SELECT * FROM pg_temp.run();
SELECT mgpu_argsort(ARRAY[3, 1]);
SELECT * FROM pg_temp.run();
SELECT mgpu_sort_by(ARRAY[1, 2, 3, 4], ARRAY['d', 'c', 'b', 'a'] COLLATE "C");
SELECT * FROM pg_temp.run();
SELECT mgpu_sort_pairs(ARRAY[2.5, 1.5], ARRAY[1, 2]);
SELECT * FROM pg_temp.run();
SELECT count(*) FROM mgpu_sort_rows(ARRAY[3, 1, 2, 5, 4], ARRAY[1, 2, 3, 4, 5]);
SELECT * FROM pg_temp.run();
SELECT count(*) FROM (SELECT array_agg(i % 1000) AS a FROM generate_series(1, 50000) i) t, unnest(mgpu_sort(a));
SELECT * FROM pg_temp.run();
SELECT mgpu_sort(ARRAY[[2, 1], [1, 2]]);
SELECT * FROM pg_temp.run();
-- a failed call does not pass for one that ran
SELECT mgpu_argsort(ARRAY[[1, 2]]);
SELECT function, items FROM pg_temp.run();
-- on request, the CPU, and it says why
SET mgpu.executor = cpu;
SELECT cardinality(mgpu_sort(array_agg(i))) FROM generate_series(1, 100000) i;
SELECT executor, reason IS NOT NULL AS reason FROM mgpu_last_run();
-- why not the GPU: what rules it out comes before the size
SELECT mgpu_sort(ARRAY[3, 1, 2]), mgpu_sort(ARRAY['b', 'a'] COLLATE "C");
SELECT reason FROM mgpu_last_run();
RESET mgpu.executor;
-- all calls of a statement
SELECT sum((mgpu_sort(ARRAY[i, 0, -i]))[1]) FROM generate_series(1, 1000) i;
SELECT function, items, segments, calls FROM mgpu_last_run();
SELECT count(mgpu_argsort(ARRAY[i, 1])), count(mgpu_sort(ARRAY[i, 3, 2, 1])), count(mgpu_merge(ARRAY[i], ARRAY[20])) FROM generate_series(1, 10) i;
SELECT function, items, calls FROM mgpu_last_run();
SELECT count(mgpu_bulk_remove(ARRAY[i, 3, 2, 1], ARRAY[3, 1])) FROM generate_series(1, 10) i;
SELECT function, items, calls FROM mgpu_last_run();
-- one element is returned as it is: no call
SELECT count(mgpu_sort(ARRAY[i])) FROM generate_series(1, 10) i;
SELECT function, calls FROM mgpu_last_run();
-- the groups of a hashed plan are one call; those of a sorted plan are a call each
CREATE TEMP TABLE rows AS SELECT i % 100 AS g, (i * 7919 % 1000) AS v FROM generate_series(1, 20000) i;
ANALYZE rows;
SET mgpu.enable_group = off;
SET mgpu.enable_sort = off;
SELECT count(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM rows GROUP BY g) q;
SELECT function, items, segments, calls FROM mgpu_last_run();
SET enable_hashagg = off;
SELECT count(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM rows GROUP BY g) q;
SELECT function, items, segments, calls FROM mgpu_last_run();
-- the node of its own counts rows once
RESET mgpu.enable_group;
RESET mgpu.enable_sort;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT mgpu_sort_agg(v), mgpu_sort_agg(v, true) FROM rows GROUP BY g;
SELECT count(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM rows GROUP BY g) q;
SELECT function, items, segments, calls FROM mgpu_last_run();
RESET enable_sort;
RESET enable_hashagg;
-- a procedure that looks after each call sees one call
DO $$
DECLARE
    seen text[];
BEGIN
    FOR i IN 2..4 LOOP
        PERFORM mgpu_sort(array_agg(j)), mgpu_argsort(array_agg(-j)) FROM generate_series(1, i) j;
        seen := seen || (SELECT items || ' in ' || calls FROM mgpu_last_run());
    END LOOP;
    RAISE NOTICE '%', seen;
END
$$;
-- a call that failed before it sorted is not counted
DO $$
BEGIN
    PERFORM mgpu_sort(ARRAY[i, 2]) FROM generate_series(1, 5) i;
    BEGIN
        PERFORM mgpu_argsort(ARRAY[[i, 2]]) FROM generate_series(1, 5) i;
    EXCEPTION WHEN array_subscript_error THEN
        PERFORM mgpu_sort(ARRAY[i, 3, 2]) FROM generate_series(1, 5) i;
    END;
END
$$;
SELECT function, items, calls FROM mgpu_last_run();
-- devices: whatever is there has a name, memory and a capability
SELECT count(*) = count(*) FILTER (WHERE ordinal >= 0 AND name <> '' AND compute_capability ~ '^\d+\.\d+$' AND memory_total > 0 AND memory_free BETWEEN 0 AND memory_total) AS complete
FROM mgpu_device_info();
