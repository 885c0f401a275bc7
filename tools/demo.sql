-- What tools/demo runs; variables: readings, windows.
\pset footer off
\pset null '-'
SET client_min_messages = warning;
CREATE EXTENSION mgpu_pg;
CREATE SCHEMA demo;
SET search_path = demo, public;
SET work_mem = '256MB';

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
-- Times both (the faster of two runs each), then compares their answers.
CREATE PROCEDURE compare(statement text, ours text, plain text, equal text) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    best float8[] := ARRAY['Infinity', 'Infinity'];
    queries text[] := ARRAY[ours, plain];
    ran record;
    same boolean;
BEGIN
    RAISE INFO '  %', statement;
    FOR round IN 1 .. 2 LOOP
        FOR i IN 1 .. 2 LOOP
            started := clock_timestamp();
            EXECUTE queries[i];
            best[i] := least(best[i], extract(epoch FROM clock_timestamp() - started) * 1000);
            IF i = 1 THEN
                SELECT * INTO ran FROM mgpu_last_run();
            END IF;
        END LOOP;
    END LOOP;
    EXECUTE equal INTO same;
    INSERT INTO results (statement, executor, algorithm, ms, plain_ms, equal)
    VALUES (statement, ran.executor, ran.algorithm, best[1], best[2], same);
    COMMIT;
END
$$;

\echo
\echo 'sorting, each statement beside the same in plain PostgreSQL:'
CALL compare('mgpu_sort(int4[])',
    'SELECT cardinality(mgpu_sort(sensors)) FROM series',
    'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(sensors) x)) FROM series',
    'SELECT mgpu_sort(sensors) = (SELECT array_agg(x ORDER BY x) FROM unnest(sensors) x) FROM series');
CALL compare('mgpu_sort(int8[])',
    'SELECT cardinality(mgpu_sort(counters)) FROM series',
    'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(counters) x)) FROM series',
    'SELECT mgpu_sort(counters) = (SELECT array_agg(x ORDER BY x) FROM unnest(counters) x) FROM series');
CALL compare('mgpu_sort(timestamptz[]), late arrivals',
    'SELECT cardinality(mgpu_sort(at)) FROM series',
    'SELECT cardinality((SELECT array_agg(x ORDER BY x) FROM unnest(at) x)) FROM series',
    'SELECT mgpu_sort(at) = (SELECT array_agg(x ORDER BY x) FROM unnest(at) x) FROM series');
CALL compare('mgpu_sort(float8[], true), nulls and NaN',
    'SELECT cardinality(mgpu_sort(vals, true)) FROM series',
    'SELECT cardinality((SELECT array_agg(x ORDER BY x DESC) FROM unnest(vals) x)) FROM series',
    'SELECT mgpu_sort(vals, true) = (SELECT array_agg(x ORDER BY x DESC) FROM unnest(vals) x) FROM series');
CALL compare('mgpu_argsort(float8[])',
    'SELECT cardinality(mgpu_argsort(vals)) FROM series',
    'SELECT cardinality((SELECT array_agg(o::int ORDER BY x, o) FROM unnest(vals) WITH ORDINALITY u(x, o))) FROM series',
    'SELECT mgpu_argsort(vals) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(vals) WITH ORDINALITY u(x, o)) FROM series');
CALL compare('mgpu_sort_by(int8[], timestamptz[])',
    'SELECT cardinality(mgpu_sort_by(counters, at)) FROM series',
    'SELECT cardinality((SELECT array_agg(v ORDER BY k, o) FROM unnest(at, counters) WITH ORDINALITY u(k, v, o))) FROM series',
    'SELECT mgpu_sort_by(counters, at) = (SELECT array_agg(v ORDER BY k, o) FROM unnest(at, counters) WITH ORDINALITY u(k, v, o)) FROM series');
CALL compare('mgpu_sort_pairs(int4[], int8[])',
    'SELECT cardinality(keys), cardinality(p.vals) FROM series, mgpu_sort_pairs(sensors, counters) p',
    'SELECT cardinality(keys), cardinality(s.vals) FROM series, LATERAL (SELECT array_agg(k ORDER BY k, o) AS keys, array_agg(v ORDER BY k, o) AS vals FROM unnest(sensors, counters) WITH ORDINALITY u(k, v, o)) s',
    'SELECT (SELECT (p.keys, p.vals) FROM mgpu_sort_pairs(sensors, counters) p) = (SELECT (array_agg(k ORDER BY k, o), array_agg(v ORDER BY k, o)) FROM unnest(sensors, counters) WITH ORDINALITY u(k, v, o)) FROM series');
CALL compare('mgpu_sort_rows(timestamptz[], int4[])',
    'SELECT count(*), max(val) FROM series, mgpu_sort_rows(at, sensors)',
    'SELECT count(*), max(v) FROM series, LATERAL (SELECT * FROM unnest(at, sensors) WITH ORDINALITY u(k, v, o) ORDER BY k, o OFFSET 0) s',
    'SELECT (SELECT (array_agg(key ORDER BY ordinality), array_agg(val ORDER BY ordinality)) FROM mgpu_sort_rows(at, sensors) WITH ORDINALITY) = (SELECT (array_agg(k ORDER BY k, o), array_agg(v ORDER BY k, o)) FROM unnest(at, sensors) WITH ORDINALITY u(k, v, o)) FROM series');
CALL compare('mgpu_sort(int4[]) of every window',
    'SELECT count(mgpu_sort(vals)) FROM windows',
    'SELECT count((SELECT array_agg(x ORDER BY x) FROM unnest(vals) x)) FROM windows',
    'SELECT bool_and(mgpu_sort(vals) = (SELECT array_agg(x ORDER BY x) FROM unnest(vals) x)) FROM windows');

\echo
SELECT statement, executor, algorithm, round(ms::numeric, 1) AS ms, round(plain_ms::numeric, 1) AS "plain PostgreSQL ms",
       round((plain_ms / ms)::numeric, 1) || ' x' AS faster, CASE WHEN equal THEN 'equal' ELSE 'DIFFERENT' END AS answers
FROM results ORDER BY n;
SELECT CASE WHEN count(*) FILTER (WHERE equal) = count(*) THEN 'every answer is equal to plain PostgreSQL''s' ELSE 'ANSWERS DIFFER' END AS summary,
       count(*) FILTER (WHERE equal IS NOT TRUE) > 0 AS failed FROM results \gset
\echo :summary
\if :failed
DO $$ BEGIN RAISE EXCEPTION 'the demo found answers that differ'; END $$;
\endif
