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
RESET mgpu.executor;
-- devices: whatever is there has a name, memory and a capability
SELECT count(*) = count(*) FILTER (WHERE ordinal >= 0 AND name <> '' AND compute_capability ~ '^\d+\.\d+$' AND memory_total > 0 AND memory_free BETWEEN 0 AND memory_total) AS complete
FROM mgpu_device_info();
