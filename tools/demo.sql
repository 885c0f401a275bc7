-- What tools/demo runs; variables: readings, windows.  Beside a function, plain PostgreSQL gets its
-- fastest form: array_agg with ORDER BY for one array, one sorted subquery for several of the same order.
\pset footer off
\pset null '-'
SET client_min_messages = warning;
CREATE EXTENSION mgpu_pg;
CREATE SCHEMA demo;
SET search_path = demo, public;
SET work_mem = '256MB';
-- The first call on the GPU waits for the service to start; without a GPU it fails.
DO $$
BEGIN
    SET LOCAL mgpu.executor = gpu;
    PERFORM mgpu_sort('{2,1}'::int[]);
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    NULL;
END
$$;

\echo
\echo 'Devices:'
SELECT coalesce((SELECT string_agg(format('  %s, compute capability %s, %s free of %s', name, compute_capability,
                                          pg_size_pretty(memory_free), pg_size_pretty(memory_total)), E'\n' ORDER BY ordinal)
                 FROM mgpu_device_info()), '  no GPU here: everything runs on the CPU') AS devices \gset
\echo :devices
\echo

-- A reading: which sensor, when, what.  Of every hundred, five come late by up
-- to ten minutes, two have no value, one is a repetition of the one before.
\echo 'making' :readings 'readings'
CREATE FUNCTION demo.hash(i bigint, salt bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT hashint8extended(i, salt) & 1099511627775 $$;
CREATE TABLE readings (sensor int, at timestamptz, val float8, counter bigint);
INSERT INTO readings
SELECT demo.hash(j, 1) % 5000,
       timestamptz '2026-01-01 00:00+00' + j * interval '20 ms'
       - CASE WHEN demo.hash(j, 2) % 100 < 5 THEN (demo.hash(j, 3) % 600000) * interval '1 ms' ELSE interval '0' END,
       CASE WHEN demo.hash(j, 4) % 100 < 2 THEN NULL
            WHEN demo.hash(j, 4) % 1000 = 20 THEN 'NaN'
            ELSE round((20 + 15 * sin(j / 40000.0) + (demo.hash(j, 5) % 2000 - 1000) / 250.0)::numeric, 2) END,
       demo.hash(j, 6)
FROM (SELECT i - CASE WHEN demo.hash(i, 7) % 100 = 0 THEN 1 ELSE 0 END AS j FROM generate_series(1, :readings) i) s;
\echo 'storing them as columns of arrays'
CREATE TABLE series (sensors int[], at timestamptz[], vals float8[], counters bigint[]);
ALTER TABLE series ALTER sensors SET STORAGE EXTERNAL, ALTER at SET STORAGE EXTERNAL,
    ALTER vals SET STORAGE EXTERNAL, ALTER counters SET STORAGE EXTERNAL;
INSERT INTO series SELECT array_agg(sensor), array_agg(at), array_agg(val), array_agg(counter) FROM readings;
\echo 'making' :windows 'windows of 20 values'
CREATE TABLE windows AS
SELECT w AS id, array_agg((demo.hash(w * 20 + i, 8) % 1000)::int) AS vals
FROM generate_series(1, :windows) w, generate_series(1, 20) i GROUP BY w;
ANALYZE;
CHECKPOINT;

CREATE TABLE results (n serial, statement text, executor text, algorithm text, ms float8, plain_ms float8, equal boolean);
-- Times both (the faster of two runs each), then compares their rows, in whatever order these come.  Ours may use
-- the extension's plans, plain SQL may not; without plain SQL, that is the only difference.
CREATE PROCEDURE compare(statement text, ours text, plain text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    best float8[] := ARRAY['Infinity', 'Infinity'];
    queries text[] := ARRAY[ours, coalesce(plain, ours)];
    plans text[] := ARRAY['on', 'off'];
    plan text;
    before text;
    ran record;
    same boolean;
BEGIN
    RAISE INFO '  %', statement;
    SELECT l::text INTO before FROM mgpu_last_run() l;
    FOR round IN 1 .. 2 LOOP
        FOR i IN 1 .. 2 LOOP
            FOREACH plan IN ARRAY ARRAY['group', 'top', 'sort', 'scan'] LOOP
                PERFORM set_config('mgpu.enable_' || plan, plans[i], false);
            END LOOP;
            started := clock_timestamp();
            EXECUTE queries[i];
            best[i] := least(best[i], extract(epoch FROM clock_timestamp() - started) * 1000);
            IF i = 1 THEN
                SELECT * INTO ran FROM mgpu_last_run() l WHERE l::text IS DISTINCT FROM before;
            END IF;
        END LOOP;
    END LOOP;
    FOR i IN 1 .. 2 LOOP
        FOREACH plan IN ARRAY ARRAY['group', 'top', 'sort', 'scan'] LOOP
            PERFORM set_config('mgpu.enable_' || plan, plans[i], false);
        END LOOP;
        EXECUTE format('CREATE TEMP TABLE rows_%s ON COMMIT DROP AS %s', i, queries[i]);
    END LOOP;
    SELECT (SELECT count(*) FROM rows_1) = (SELECT count(*) FROM rows_2) AND NOT EXISTS (TABLE rows_1 EXCEPT ALL TABLE rows_2) INTO same;
    INSERT INTO results (statement, executor, algorithm, ms, plain_ms, equal)
    VALUES (statement, ran.executor, ran.algorithm, best[1], best[2], same);
    COMMIT;
END
$$;

\echo
\echo 'plain SQL, the same statement with the plans of the extension and without (mgpu.enable_group, enable_top, enable_sort, enable_scan):'
CALL compare('percentile_cont(0.95) GROUP BY sensor',
    'SELECT sensor, percentile_cont(0.95) WITHIN GROUP (ORDER BY val) FROM readings GROUP BY sensor');
CALL compare('array_agg(val ORDER BY at, counter) GROUP BY sensor',
    'SELECT sensor, array_agg(val ORDER BY at, counter) FROM readings GROUP BY sensor');
CALL compare('count(DISTINCT sensor) GROUP BY minute',
    $$SELECT date_trunc('minute', at), count(DISTINCT sensor) FROM readings GROUP BY 1$$);
CALL compare('the last reading of each sensor: DISTINCT ON',
    'SELECT DISTINCT ON (sensor) sensor, at, val FROM readings ORDER BY sensor, at DESC, counter DESC, val');
CALL compare('three largest of each sensor: rank() <= 3',
    'SELECT * FROM (SELECT sensor, val, rank() OVER (PARTITION BY sensor ORDER BY val DESC) AS place FROM readings) s WHERE place <= 3');
CALL compare('change since the last reading: lag(counter)',
    'SELECT sensor, at, counter - lag(counter) OVER (PARTITION BY sensor ORDER BY at, counter) AS change FROM readings');
CALL compare('all readings ORDER BY val',
    'SELECT val FROM readings ORDER BY val');

\echo
\echo 'functions and aggregates of the extension, each beside the fastest plain SQL for it:'
CALL compare('mgpu_sort(int4[])',
    'SELECT mgpu_sort(sensors) FROM series',
    'SELECT (SELECT array_agg(x ORDER BY x) FROM unnest(sensors) x) FROM series');
CALL compare('mgpu_sort(int8[])',
    'SELECT mgpu_sort(counters) FROM series',
    'SELECT (SELECT array_agg(x ORDER BY x) FROM unnest(counters) x) FROM series');
CALL compare('mgpu_sort(timestamptz[]), late arrivals',
    'SELECT mgpu_sort(at) FROM series',
    'SELECT (SELECT array_agg(x ORDER BY x) FROM unnest(at) x) FROM series');
CALL compare('mgpu_sort(float8[], true), nulls and NaN',
    'SELECT mgpu_sort(vals, true) FROM series',
    'SELECT (SELECT array_agg(x ORDER BY x DESC) FROM unnest(vals) x) FROM series');
CALL compare('mgpu_argsort(float8[])',
    'SELECT mgpu_argsort(vals) FROM series',
    'SELECT (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(vals) WITH ORDINALITY u(x, o)) FROM series');
CALL compare('mgpu_sort_by(int8[], timestamptz[])',
    'SELECT mgpu_sort_by(counters, at) FROM series',
    'SELECT (SELECT array_agg(v ORDER BY k, o) FROM unnest(at, counters) WITH ORDINALITY u(k, v, o)) FROM series');
CALL compare('mgpu_sort_pairs(int4[], int8[])',
    'SELECT p.keys, p.vals FROM series, mgpu_sort_pairs(sensors, counters) p',
    'SELECT array_agg(k) AS keys, array_agg(v) AS vals FROM (SELECT k, v FROM series, unnest(sensors, counters) WITH ORDINALITY u(k, v, o) ORDER BY k, o) s');
CALL compare('mgpu_sort(int4[]) of every window',
    'SELECT id, mgpu_sort(vals) FROM windows',
    'SELECT id, (SELECT array_agg(x ORDER BY x) FROM unnest(vals) x) FROM windows');
CALL compare('mgpu_sort_agg(val) GROUP BY sensor',
    'SELECT sensor, mgpu_sort_agg(val) FROM readings GROUP BY sensor',
    'SELECT sensor, array_agg(val) FROM (SELECT sensor, val FROM readings ORDER BY sensor, val) s GROUP BY sensor');

\echo
SELECT statement, coalesce(executor, '-') AS executor, coalesce(algorithm, '-') AS algorithm, round(ms::numeric, 1) AS ms, round(plain_ms::numeric, 1) AS "plain PostgreSQL ms",
       round((plain_ms / ms)::numeric, 1) || ' x' AS faster, CASE WHEN equal THEN 'equal' ELSE 'DIFFERENT' END AS answers
FROM results ORDER BY n;
SELECT count(*) > 0 AS has_service FROM mgpu_stat_service \gset
\if :has_service
\echo 'one process drove the GPU; other sessions would use it too (mgpu_stat_service):'
SELECT device, name, up, restarts, jobs, items, pg_size_pretty(upload_bytes) AS uploaded, pg_size_pretty(download_bytes) AS downloaded,
       round(kernel_ms) AS kernel_ms, pg_size_pretty(memory_free) AS memory_free
FROM mgpu_stat_service ORDER BY device;
\endif
SELECT CASE WHEN count(*) FILTER (WHERE equal) = count(*) THEN 'every answer is equal to plain PostgreSQL''s' ELSE 'ANSWERS DIFFER' END AS summary,
       count(*) FILTER (WHERE equal IS NOT TRUE) > 0 AS failed FROM results \gset
\echo :summary
\if :failed
DO $$ BEGIN RAISE EXCEPTION 'the demo found answers that differ'; END $$;
\endif
