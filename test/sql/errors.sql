--
-- errors: SQLSTATE, message, DETAIL, and a session that goes on afterwards
--
CREATE FUNCTION error_of(statement text) RETURNS TABLE (state text, message text, detail text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    state := SQLSTATE;
    -- the parser's advice has other words since 19
    IF message ~ '^function .* does not exist$' THEN
        detail := '';
        hint := '';
    END IF;
    RETURN NEXT;
END
$$;
\x on
SELECT s AS statement, e.* FROM unnest(ARRAY[
    'SELECT mgpu_argsort(ARRAY[[1, 2], [3, 4]])',
    'SELECT mgpu_argsort(ARRAY[[[1]], [[3]]], true)',
    'SELECT mgpu_sort_by(ARRAY[1, 2, 3], ARRAY[1, 2])',
    'SELECT mgpu_sort_by(ARRAY[1], ARRAY[]::int[])',
    'SELECT mgpu_sort_pairs(ARRAY[1, 2], ARRAY[1, 2, 3], true, true)',
    'SELECT * FROM mgpu_sort_rows(ARRAY[1, 2], ARRAY[1])',
    'SELECT mgpu_sort(ARRAY[point(1, 1), point(0, 0)])',
    'SELECT mgpu_argsort(ARRAY[point(1, 1), point(0, 0)])',
    'SELECT mgpu_sort_by(ARRAY[1, 2], ARRAY[''{}'', ''{}'']::json[])',
    'SELECT mgpu_sort_pairs(ARRAY[''{}'', ''{}'']::json[], ARRAY[1, 2])',
    'SELECT * FROM mgpu_sort_rows(ARRAY[''{}'', ''{}'']::json[], ARRAY[1, 2])',
    'SELECT mgpu_sort(1)',
    'SELECT mgpu_sort(NULL)',
    'SELECT mgpu_sort(ARRAY[1], 1)',
    'SELECT mgpu_sort_by(ARRAY[1])',
    'SELECT mgpu_sort(ARRAY[2, 1], true, false, true)'
]) s, error_of(s) e;
\x off
-- a failed call leaves nothing behind that stops the next
SELECT state, count(*) FROM generate_series(1, 200), error_of('SELECT mgpu_sort_by(ARRAY[1, 2, 3], ARRAY[1, 2])') GROUP BY 1;
SELECT mgpu_sort(ARRAY[2, 1]), mgpu_argsort(ARRAY[2, 1]);
-- columns of type anyarray: arrays know what they hold, aggregates would have to before the first
CREATE TABLE any_stats AS SELECT (ARRAY[5, 5, 5, 5, 9, 9, 9, 2, 2, 7])[i % 10 + 1] AS v, (i % 10 < 3)::int AS g FROM generate_series(1, 1000) i;
ANALYZE any_stats;
\x on
SELECT s AS statement, e.* FROM unnest(ARRAY[
    'SELECT mgpu_merge_agg(most_common_vals) FROM pg_stats WHERE tablename = ''any_stats''',
    'SELECT mgpu_merge_agg(most_common_vals, true) FROM pg_stats WHERE tablename = ''any_stats'' GROUP BY attname',
    'SELECT mgpu_sort_agg_by(attname, most_common_vals) FROM pg_stats WHERE tablename = ''any_stats''',
    'SELECT mgpu_percentile_disc(most_common_vals, 0.5) FROM pg_stats WHERE tablename = ''any_stats'''
]) s, error_of(s) e;
\x off
SELECT attname, mgpu_sort(most_common_vals) AS sorted, mgpu_argsort(most_common_vals) AS positions, mgpu_sort_pairs(most_common_vals, most_common_freqs) AS pairs
FROM pg_stats WHERE tablename = 'any_stats' ORDER BY attname;
SELECT mgpu_merge_agg(mgpu_sort(most_common_vals::text::int[])) AS merged FROM pg_stats WHERE tablename = 'any_stats';
DROP TABLE any_stats;
-- in a subtransaction that rolls back
BEGIN;
SAVEPOINT s;
SELECT mgpu_argsort(ARRAY[[1, 2], [3, 4]]);
ROLLBACK TO s;
SELECT mgpu_sort(ARRAY[3, 2, 1]);
COMMIT;
DROP FUNCTION error_of;
