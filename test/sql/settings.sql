--
-- settings: defaults, bounds, who may set them
--
LOAD 'mgpu_pg';
SELECT name, vartype, boot_val, min_val, max_val, enumvals, unit, context
FROM pg_settings WHERE name LIKE 'mgpu.%' AND name NOT LIKE ALL ('{mgpu.service%,mgpu.gpu_cache}') ORDER BY name COLLATE "C";
SELECT name, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'mgpu.%' AND name NOT LIKE ALL ('{mgpu.service%,mgpu.gpu_cache}') ORDER BY name COLLATE "C";
-- values and units
SET mgpu.executor = cpu;
SHOW mgpu.executor;
SET mgpu.algorithm = 'merge';
SHOW mgpu.algorithm;
SET mgpu.gpu_min_items = 1000000;
SHOW mgpu.gpu_min_items;
SET mgpu.device = 0;
SHOW mgpu.device;
SET mgpu.gpu_memory_limit = '2GB';
SHOW mgpu.gpu_memory_limit;
SET mgpu.gpu_failure = silent;
SHOW mgpu.gpu_failure;
SET mgpu.cpu_threads = 2;
SHOW mgpu.cpu_threads;
SELECT mgpu_sort(ARRAY[3, 1, 2]);
-- out of bounds, unknown
SET mgpu.executor = 'tpu';
\echo :SQLSTATE
SET mgpu.algorithm = bogo;
\echo :SQLSTATE
SET mgpu.gpu_failure = loud;
\echo :SQLSTATE
\set VERBOSITY sqlstate
SET mgpu.gpu_min_items = -2;
SET mgpu.device = -2;
SET mgpu.gpu_memory_limit = -1;
SET mgpu.cpu_threads = -1;
SET mgpu.cpu_threads = 100000;
\set VERBOSITY default
RESET ALL;
-- the answer does not depend on them
CREATE FUNCTION pg_temp.answer(setting text, value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(setting, value, true);
    RETURN (SELECT md5(concat(mgpu_sort(a), mgpu_sort(a, true), mgpu_argsort(a), mgpu_argsort(f, true), mgpu_sort_by(a, f)))
            FROM (SELECT array_agg((i::bigint * 48271 % 2147483647 % 30000)::int ORDER BY i) AS a,
                         array_agg((i::bigint * 69621 % 2147483647 % 999)::float8 ORDER BY i) AS f
                  FROM generate_series(1, 60000) i) t);
END
$$;
SELECT count(*) AS settings, count(DISTINCT pg_temp.answer(setting, value)) AS answers
FROM (VALUES ('mgpu.executor', 'auto'), ('mgpu.executor', 'cpu'), ('mgpu.algorithm', 'merge'), ('mgpu.algorithm', 'radix'),
             ('mgpu.algorithm', 'locality'), ('mgpu.algorithm', 'auto'), ('mgpu.gpu_min_items', '0'), ('mgpu.gpu_min_items', '2000000000'),
             ('mgpu.cpu_threads', '1'), ('mgpu.cpu_threads', '2'), ('mgpu.cpu_threads', '7'), ('mgpu.cpu_threads', '0')) s(setting, value);
-- the administrator's maximum of threads; SHOW tells the number in effect
SET mgpu.executor = cpu;
SET mgpu.cpu_threads = 5;
SHOW mgpu.cpu_threads;
SET mgpu.max_cpu_threads = 3;
SHOW mgpu.cpu_threads;
SELECT cardinality(mgpu_sort(array_agg(i))) FROM generate_series(1, 1200000::bigint) i;
SELECT threads FROM mgpu_last_run();
SET mgpu.cpu_threads = 2;
SHOW mgpu.cpu_threads;
SET mgpu.cpu_threads = 0;
SELECT current_setting('mgpu.cpu_threads')::int BETWEEN 1 AND 3 AS within;
RESET ALL;
-- faults are for superusers to inject
CREATE ROLE regress_mgpu_user;
SET ROLE regress_mgpu_user;
SET mgpu.inject_fault = host_memory;
\echo :SQLSTATE
SET mgpu.max_cpu_threads = 256;
\echo :SQLSTATE
SET mgpu.cpu_threads = 1;
SELECT mgpu_sort(ARRAY[3, 1, 2]), mgpu_argsort(ARRAY[3, 1, 2]);
RESET ROLE;
RESET ALL;
DROP ROLE regress_mgpu_user;
