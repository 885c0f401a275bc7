--
-- the order arguments, descending and nulls_first: each alone, or both, by name and by position
--
CREATE TEMP TABLE calls (function text PRIMARY KEY, arguments text[]);
INSERT INTO calls VALUES
    ('mgpu_sort', ARRAY['ARRAY[2, NULL, 1]']),
    ('mgpu_argsort', ARRAY['ARRAY[2, NULL, 1]']),
    ('mgpu_locality_sort', ARRAY['ARRAY[2, NULL, 1]']),
    ('mgpu_oddeven_sort', ARRAY['ARRAY[2, NULL, 1]']),
    ('mgpu_sort_by', ARRAY['ARRAY[20, 0, 10]', 'ARRAY[2, NULL, 1]']),
    ('mgpu_sort_pairs', ARRAY['ARRAY[2, NULL, 1]', 'ARRAY[20, 0, 10]']),
    ('mgpu_sort_rows', ARRAY['ARRAY[2, NULL, 1]', 'ARRAY[20, 0, 10]']),
    ('mgpu_locality_sort_pairs', ARRAY['ARRAY[2, NULL, 1]', 'ARRAY[20, 0, 10]']),
    ('mgpu_segsort', ARRAY['ARRAY[2, NULL, 1, 5, 4]', 'ARRAY[4]']),
    ('mgpu_segsort_flags', ARRAY['ARRAY[2, NULL, 1, 5, 4]', 'B''10010''']),
    ('mgpu_segsort_by', ARRAY['ARRAY[2, NULL, 1, 5, 4]', 'ARRAY[7, 7, 7, 8, 8]']),
    ('mgpu_segsort_pairs', ARRAY['ARRAY[2, NULL, 1, 5, 4]', 'ARRAY[20, 0, 10, 50, 40]', 'ARRAY[4]']),
    ('mgpu_segsort_pairs_flags', ARRAY['ARRAY[2, NULL, 1, 5, 4]', 'ARRAY[20, 0, 10, 50, 40]', 'B''10010''']),
    ('mgpu_segsort_rows', ARRAY['ARRAY[2, NULL, 1, 5, 4]', 'ARRAY[7, 7, 7, 8, 8]']),
    -- one element each is sorted in every order
    ('mgpu_merge', ARRAY['ARRAY[1]', 'ARRAY[NULL]::int[]']),
    ('mgpu_merge_pairs', ARRAY['ARRAY[1]', 'ARRAY[10]', 'ARRAY[NULL]::int[]', 'ARRAY[0]']);
-- these are all functions that take them
SELECT array_agg(proname) AS without_call FROM pg_proc
WHERE prokind = 'f' AND proname LIKE 'mgpu\_%' AND 'nulls_first' = ANY (proargnames) AND proname NOT IN (SELECT function FROM calls);
CREATE FUNCTION answer(function text, arguments text[], order_arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows text;
BEGIN
    EXECUTE format('SELECT string_agg(r::text, '' '') FROM %I(%s) r', function, array_to_string(arguments || order_arguments, ', ')) INTO rows;
    RETURN rows;
END
$$;
CREATE TEMP TABLE answers AS
SELECT function, arguments, answer(function, arguments, NULL) AS plain, answer(function, arguments, 'nulls_first => true') AS nulls_first,
       answer(function, arguments, 'descending => true') AS descending, answer(function, arguments, 'nulls_first => false, descending => true') AS nulls_last
FROM calls;
SELECT function, plain, nulls_first, descending, nulls_last FROM answers ORDER BY function COLLATE "C";
-- the same by position, and NULL for nulls_first is its default
SELECT count(*), bool_and(answer(function, arguments, 'false') = plain) AS false, bool_and(answer(function, arguments, 'true') = descending) AS true,
       bool_and(answer(function, arguments, 'false, false') = plain) AS false_false, bool_and(answer(function, arguments, 'false, true') = nulls_first) AS false_true,
       bool_and(answer(function, arguments, 'true, false') = nulls_last) AS true_false, bool_and(answer(function, arguments, 'true, true') = descending) AS true_true,
       bool_and(answer(function, arguments, 'false, NULL') = plain) AS false_null, bool_and(answer(function, arguments, 'true, NULL') = descending) AS true_null
FROM answers;
-- each other argument in turn is NULL: no answer, or a row of NULLs
SELECT function, array_agg(answer(function, arguments[:n - 1] || format('nullif(%1$s, %1$s)', arguments[n]) || arguments[n + 1:], 'nulls_first => true')
                           ORDER BY n) AS array_null,
       answer(function, arguments, 'NULL') AS descending_null, answer(function, arguments, 'NULL, true') AS and_nulls_first
FROM calls, LATERAL generate_series(1, cardinality(arguments)) n GROUP BY function, arguments ORDER BY function COLLATE "C";
-- in a plan: the values of a column, some of them NULL, and the arguments of a prepared statement
SELECT i, mgpu_sort(a, d, n), mgpu_sort(a, nulls_first => n), (SELECT count(*) FROM mgpu_sort_rows(a, a, d, n)) AS rows
FROM (VALUES (1, ARRAY[2, NULL, 1], false, true), (2, NULL, false, true), (3, ARRAY[2, NULL, 1], NULL, true), (4, ARRAY[2, NULL, 1], true, NULL)) t(i, a, d, n)
ORDER BY i;
PREPARE sorted (int[], boolean) AS SELECT mgpu_sort($1, nulls_first => $2);
EXECUTE sorted (ARRAY[2, NULL, 1], true);
EXECUTE sorted (ARRAY[2, NULL, 1], NULL);
EXECUTE sorted (NULL, true);
DEALLOCATE sorted;
DROP FUNCTION answer;
