--
-- The oracle's aggregates: random groups under every plan shape, against
-- PostgreSQL's own aggregates.  Loaded after oracle.sql; "test/oracle.pl aggregates" calls
-- oracle.try_agg(seed); all of a trial follows from its seed.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- How a trial gets its plan.  exact: rows arrive in the order of o, unless the
-- planner sorts them all the same, so that ties are comparable byte by byte; else
-- results are compared by equality.
CREATE TABLE oracle.plans (plan text PRIMARY KEY, settings text NOT NULL, source text NOT NULL, clause text NOT NULL, exact boolean NOT NULL, ids text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN clause LIKE '%h%' THEN 'g, h, grouping(g, h) AS sets' WHEN clause LIKE '%g%' THEN 'g, NULL::int AS h, 0 AS sets'
         ELSE 'NULL::int AS g, NULL::int AS h, 0 AS sets' END) STORED);
INSERT INTO oracle.plans VALUES
('plain', 'enable_hashagg=on', 'oracle.items', 'GROUP BY ()', true),
('hashed', 'enable_sort=off,work_mem=1GB', 'oracle.items', 'GROUP BY g', true),
('spilled', 'enable_sort=off,work_mem=64kB', 'oracle.items', 'GROUP BY g', true),
('sorted', 'enable_hashagg=off,work_mem=1GB', '(SELECT * FROM oracle.items ORDER BY g, o) i', 'GROUP BY g', true),
('sets, hashed', 'enable_sort=off,work_mem=1GB', 'oracle.items', 'GROUP BY GROUPING SETS ((g), (h), (g, h))', true),
('sets, mixed', 'enable_hashagg=on,work_mem=1GB', 'oracle.items', 'GROUP BY GROUPING SETS ((g), (h), (g, h), ())', false),
('sets, spilled', 'enable_hashagg=on,work_mem=64kB', 'oracle.items', 'GROUP BY GROUPING SETS ((g), (h), ())', false),
('rollup, sorted', 'enable_hashagg=off', 'oracle.items', 'GROUP BY ROLLUP (g, h)', false),
('cube', 'enable_hashagg=on', 'oracle.items', 'GROUP BY CUBE (g, h)', false),
('parallel, plain', 'max_parallel_workers_per_gather=2', 'oracle.items', 'GROUP BY ()', false),
('parallel, hashed', 'max_parallel_workers_per_gather=2,enable_sort=off,work_mem=1GB', 'oracle.items', 'GROUP BY g', false),
('parallel, sorted', 'max_parallel_workers_per_gather=2,enable_hashagg=off', 'oracle.items', 'GROUP BY g', false),
('parallel, spilled', 'max_parallel_workers_per_gather=2,enable_sort=off,work_mem=64kB', 'oracle.items', 'GROUP BY g', false);

-- NULL, or the binary form where it decides
CREATE FUNCTION oracle.agg_differs(what text, exact boolean, got anyarray, expected anyarray) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN exact AND array_send(got) IS DISTINCT FROM array_send(expected)
                  OR NOT exact AND got IS DISTINCT FROM expected THEN what || ' ' END
$$;

-- Two queries over the same groups, ours and PostgreSQL's: what differs
CREATE FUNCTION oracle.check_agg(t oracle.types, p oracle.plans) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    down boolean := random() < 0.5;
    first boolean := random() < 0.5;
    ordering text := format('%s NULLS %s', CASE WHEN down THEN 'DESC' ELSE 'ASC' END, CASE WHEN first THEN 'FIRST' ELSE 'LAST' END);
    filter text := oracle.pick(ARRAY['', '', 'FILTER (WHERE o % 3 > 0)', 'FILTER (WHERE o < 0)', 'FILTER (WHERE h = 1)']);
    fractions text := oracle.pick(ARRAY['0.5', '0', '1', '0.25', '0.999', 'NULL']);
    exact boolean := p.exact;
    ours text;
    got text;
    setting text;
    line text;
BEGIN
    -- PostgreSQL's answers, by the plainest plan of its own
    setting := current_setting('mgpu.enable_group');
    PERFORM set_config('mgpu.enable_group', 'off', true);
    EXECUTE format($q$
        CREATE TABLE oracle.expected AS
        SELECT %1$s, array_agg(k ORDER BY k %2$s, o) %3$s AS sorted, array_agg(k ORDER BY k, o) %3$s AS ascending,
               array_agg(v ORDER BY k %2$s, o) %3$s AS by_key, array_agg(v ORDER BY o) %3$s AS by_position,
               percentile_disc(%4$s::float8) WITHIN GROUP (ORDER BY k) %3$s AS disc,
               percentile_disc(ARRAY[0.1, NULL, %4$s, 0.9]::float8[]) WITHIN GROUP (ORDER BY k) %3$s AS discs,
               percentile_cont(%4$s::float8) WITHIN GROUP (ORDER BY o) %3$s AS cont,
               percentile_cont(ARRAY[[0.1, 0.2], [%4$s, 1]]::float8[]) WITHIN GROUP (ORDER BY n) %3$s AS conts,
               percentile_cont(%4$s::float8) WITHIN GROUP (ORDER BY span) %3$s AS spans
        FROM (SELECT *, CASE WHEN o %% 11 > 0 THEN make_interval(days => (o %% 97)::int, secs => o / 1000.0) END AS span FROM oracle.items) i %5$s $q$,
        p.ids, ordering, filter, fractions, p.clause);
    PERFORM set_config('mgpu.enable_group', setting, true);
    FOREACH setting IN ARRAY string_to_array(p.settings, ',') LOOP
        PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
    END LOOP;
    ours := format($q$
        SELECT %1$s, mgpu_sort_agg(k, %2$L, %3$L) %4$s AS sorted, mgpu_sort_agg(k) %4$s AS ascending,
               mgpu_sort_agg_by(v, k, %2$L, %3$L) %4$s AS by_key, mgpu_sort_agg_by(v, o) %4$s AS by_position,
               mgpu_percentile_disc(k, %5$s::float8) %4$s AS disc,
               mgpu_percentile_disc(k, ARRAY[0.1, NULL, %5$s, 0.9]::float8[]) %4$s AS discs,
               mgpu_percentile_cont(o, %5$s::float8) %4$s AS cont,
               mgpu_percentile_cont(n, ARRAY[[0.1, 0.2], [%5$s, 1]]::float8[]) %4$s AS conts,
               mgpu_percentile_cont(span, %5$s::float8) %4$s AS spans
        FROM (SELECT *, CASE WHEN o %% 11 > 0 THEN make_interval(days => (o %% 97)::int, secs => o / 1000.0) END AS span FROM %6$s) i %7$s $q$,
        p.ids, down, first, filter, fractions, p.source, p.clause);
    EXECUTE 'CREATE TABLE oracle.got AS' || ours;
    -- hash tables foreseen beyond work_mem make the planner sort by the groups' keys alone
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF)' || ours LOOP
        exact := exact AND NOT (line LIKE '%Sort Key:%' AND line NOT LIKE '%.o');
    END LOOP;
    EXECUTE format($q$
        SELECT string_agg(DISTINCT wrong, '') FROM (
            SELECT concat(CASE WHEN e.sets IS NULL OR a.sets IS NULL THEN 'groups ' END,
                          oracle.agg_differs('sort', %1$L, a.sorted, e.sorted), oracle.agg_differs('ascending', %1$L, a.ascending, e.ascending),
                          CASE WHEN %1$L THEN oracle.agg_differs('by', true, a.by_key, e.by_key) END,
                          oracle.agg_differs('by position', true, a.by_position, e.by_position),
                          CASE WHEN a.disc IS DISTINCT FROM e.disc THEN 'disc ' END, oracle.agg_differs('discs', false, a.discs, e.discs),
                          CASE WHEN a.cont IS DISTINCT FROM e.cont THEN 'cont ' END, oracle.agg_differs('conts', false, a.conts, e.conts),
                          CASE WHEN a.spans IS DISTINCT FROM e.spans THEN 'spans ' END) AS wrong
            FROM oracle.expected e FULL JOIN oracle.got a ON (coalesce(e.g, -1), coalesce(e.h, -1), e.sets) = (coalesce(a.g, -1), coalesce(a.h, -1), a.sets)) c $q$, exact)
        INTO got;
    DROP TABLE oracle.expected, oracle.got;
    RETURN coalesce(got, '');
END
$$;

-- One key and nothing but aggregates that the extension's own node can run, where types allow: in memory
-- and spilled, by itself and over rows of workers, against PostgreSQL's, which alone does grouping sets.  Keys are of any type, the values'
-- own included.  By itself the node keeps the rows' order, so that ties are comparable byte by byte.
CREATE FUNCTION oracle.check_group() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    down boolean := random() < 0.5;
    first boolean := random() < 0.5;
    ordering text := format('%s NULLS %s', CASE WHEN down THEN 'DESC' ELSE 'ASC' END, CASE WHEN first THEN 'FIRST' ELSE 'LAST' END);
    key text := oracle.pick(ARRAY['g', 'h', 'n', 'o', 'k', 'v', 'o % 7 = 0', '(o / 9)::smallint', 'nullif(o, 3)::float8 / -8']);
    columns text := format('%s AS key, %s', key, oracle.pick(ARRAY['n', 'o', 'k', 'o % 3']) || ' AS x');
    ours text := format($q$
            SELECT key, mgpu_sort_agg(k, %L, %L) AS sorted, mgpu_percentile_disc(k, '{0,0.3,1}'::float8[]) AS discs,
                   mgpu_sort_agg(x) AS others, mgpu_percentile_disc(x, 0.7) AS disc
            FROM (SELECT k, o, %s FROM oracle.items) i GROUP BY key $q$, down, first, columns);
    had text := current_setting('work_mem');
    line text;
    node boolean := false;
    workers boolean := false;
    got text;
BEGIN
    PERFORM set_config('work_mem', oracle.pick(ARRAY['64kB', '1MB', '1GB']), true), set_config('parallel_tuple_cost', '0.1', true),
            set_config('max_parallel_workers_per_gather', oracle.pick(ARRAY['0', '2']), true);
    FOR line IN EXECUTE 'EXPLAIN ' || ours LOOP
        node := node OR line LIKE '%MgpuGroup%';
        workers := workers OR line LIKE '%Gather%';
    END LOOP;
    EXECUTE format($q$
        WITH got AS MATERIALIZED (%2$s),
        expected AS MATERIALIZED (
            SELECT key, array_agg(k ORDER BY k %3$s, o) AS sorted, percentile_disc('{0,0.3,1}'::float8[]) WITHIN GROUP (ORDER BY k) AS discs,
                   array_agg(x ORDER BY x, o) AS others, percentile_disc(0.7) WITHIN GROUP (ORDER BY x) AS disc
            FROM (SELECT k, o, %1$s FROM oracle.items) i GROUP BY ROLLUP (key) HAVING grouping(key) = 0),
        pairs AS (
            SELECT e AS e, a AS a FROM expected e LEFT JOIN got a ON e.key = a.key WHERE num_nulls(e.key) = 0
            UNION ALL SELECT e, a FROM expected e LEFT JOIN got a ON num_nulls(a.key) = 1 WHERE num_nulls(e.key) = 1)
        SELECT concat(CASE WHEN (SELECT count(*) FROM got) <> (SELECT count(*) FROM expected) THEN 'grouped groups ' END, string_agg(DISTINCT wrong, '')) FROM (
            SELECT concat(oracle.agg_differs('grouped sort', %4$L, (a).sorted, (e).sorted), oracle.agg_differs('grouped others', %4$L, (a).others, (e).others),
                          oracle.agg_differs('grouped discs', false, (a).discs, (e).discs), CASE WHEN (a).disc IS DISTINCT FROM (e).disc THEN 'grouped disc ' END) AS wrong
            FROM pairs) c $q$, columns, ours, ordering, node AND NOT workers)
        INTO got;
    PERFORM set_config('work_mem', had, true), set_config('parallel_tuple_cost', '0', true), set_config('max_parallel_workers_per_gather', '0', true);
    RETURN CASE WHEN got <> '' THEN got || 'by ' || columns ELSE '' END;
END
$$;

-- The same array from another subscript on, perhaps with a null bitmap, in PL/pgSQL's expanded form
CREATE FUNCTION oracle.dressed(a anyarray) RETURNS anyarray LANGUAGE plpgsql VOLATILE STRICT AS $$
BEGIN
    a := oracle.at_lower(a, oracle.random_lower(cardinality(a), cardinality(a)));
    IF random() < 0.3 THEN
        a := oracle.with_bitmap(a);
    END IF;
    RETURN a;
END
$$;

-- mgpu_merge_agg of sorted arrays, some empty, some NULL
CREATE FUNCTION oracle.check_merge_agg() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    down boolean := random() < 0.5;
    first boolean := random() < 0.5;
    ordering text := format('%s NULLS %s', CASE WHEN down THEN 'DESC' ELSE 'ASC' END, CASE WHEN first THEN 'FIRST' ELSE 'LAST' END);
    parts int := oracle.pick(ARRAY[1, 2, 7, 50]);
    got text;
BEGIN
    EXECUTE format($q$
        WITH got AS (
            SELECT g, mgpu_merge_agg(oracle.dressed(a), %1$L, %2$L) AS merged
            FROM (SELECT g, o %% %4$s AS part, array_agg(k ORDER BY k %3$s, o) AS a FROM oracle.items GROUP BY 1, 2
                  UNION ALL SELECT g, -1, (array_agg(k))[1:0] FROM oracle.items GROUP BY 1
                  UNION ALL SELECT g, -1, array_agg(k) FILTER (WHERE o < 0) FROM oracle.items GROUP BY 1
                  ORDER BY 1, 2) p GROUP BY g),
        expected AS (SELECT g, array_agg(k ORDER BY k %3$s, o %% %4$s, o) AS sorted FROM oracle.items GROUP BY ROLLUP (g) HAVING grouping(g) = 0)
        SELECT string_agg(DISTINCT oracle.agg_differs('merge', true, merged, sorted), '')
        FROM got FULL JOIN expected ON coalesce(got.g, -1) = coalesce(expected.g, -1) $q$, down, first, ordering, parts)
        INTO got;
    RETURN coalesce(got, '');
END
$$;

-- One trial; all of it follows from the seed and the setting.  '' or what is wrong.
CREATE FUNCTION oracle.try_agg(seed int, most int, gpu boolean, OUT description text, OUT wrong text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t oracle.types;
    v oracle.types;
    p oracle.plans;
    n int;
    groups int;
BEGIN
    PERFORM setseed((seed % 1000000) / 1000000.0);
    SELECT * INTO t FROM oracle.types ORDER BY type COLLATE "C" OFFSET seed % (SELECT count(*) FROM oracle.types) LIMIT 1;
    SELECT * INTO v FROM oracle.types ORDER BY type COLLATE "C" OFFSET floor(random() * (SELECT count(*) FROM oracle.types)) LIMIT 1;
    SELECT * INTO p FROM oracle.plans ORDER BY plan COLLATE "C" OFFSET floor(random() * (SELECT count(*) FROM oracle.plans)) LIMIT 1;
    IF t.collation_name <> '' AND v.collation_name <> '' AND t.collation_name <> v.collation_name THEN
        v := t;
    END IF;
    n := oracle.random_length(most);
    IF p.exact IS FALSE OR random() < 0.5 THEN
        n := least(n, 20000);
    END IF;
    groups := oracle.pick(ARRAY[1, 2, 20, greatest(n / 20, 1), greatest(n, 1)]);
    PERFORM set_config('max_parallel_workers_per_gather', '0', true), set_config('parallel_setup_cost', '0', true),
            set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true),
            set_config('mgpu.executor', CASE WHEN gpu THEN oracle.pick(ARRAY['cpu', 'gpu', 'auto']) ELSE oracle.pick(ARRAY['cpu', 'auto']) END, true),
            set_config('mgpu.enable_group', oracle.pick(ARRAY['on', 'on', 'on', 'off']), true),
            set_config('mgpu.algorithm', oracle.pick(ARRAY['auto', 'auto', 'auto', 'merge', 'radix', 'locality']), true);
    description := format('%s, %s by %s, %s rows in %s groups; executor %s, algorithm %s', p.plan, v.type, t.type, n, groups,
                          current_setting('mgpu.executor'), current_setting('mgpu.algorithm'));
    EXECUTE format('CREATE UNLOGGED TABLE oracle.items AS
                    SELECT o, nullif(floor(random() * %s)::int, 7) AS g, (random() * 2)::int AS h, nullif((random() * 1000)::int, 3) AS n, k.x AS k, v.x AS v
                    FROM (%s) k JOIN (%s) v USING (o) ORDER BY o',
                   groups, oracle.elements(t, n), oracle.elements(v, n));
    ANALYZE oracle.items;
    wrong := concat(oracle.check_merge_agg(), oracle.check_group(), oracle.check_agg(t, p));
    DROP TABLE oracle.items;
END
$$;
