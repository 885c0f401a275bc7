--
-- The oracle's logic: what must hold between two queries, whoever answers them.  Loaded after oracle.sql, oracle_queries.sql and oracle_joins.sql, whose
-- tables, trees of joins, conditions and keys it takes; "test/oracle.pl logic" calls oracle.start_joins(seed, most) and oracle.try_logic(seed, most, gpu).
--
-- For a random condition p:
--   parts    a query's answer is that of its rows where p is true, where it is false and where it is NULL, put together
--   counted  as many rows meet p in WHERE as have it true where it is only computed
-- Each query is answered by the extension's nodes and by PostgreSQL's alone, and all four answers are the same.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- A constant of the type of k1, from some row; all tables have the same kinds
CREATE FUNCTION oracle.some_key() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t oracle.join_tables;
    value text;
BEGIN
    SELECT * INTO t FROM oracle.join_tables ORDER BY random() LIMIT 1;
    EXECUTE format('SELECT k1::text FROM %s ORDER BY id LIMIT 1 OFFSET %s', t.name, floor(random() * t.num_rows)) INTO value;
    RETURN quote_nullable(value);
END
$$;

-- A condition that may be true, false or NULL, by itself or made of two
CREATE FUNCTION oracle.random_condition(aliases text[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    keys text[] := ARRAY(SELECT replace(f, '{k}', oracle.some_key()) FROM unnest(ARRAY['{a}.k1 > {k}', '{a}.k1 <= {k}', '{a}.k1 <> {k}', '{a}.k1 BETWEEN {k} AND {k}', '{a}.k1 IS DISTINCT FROM {k}', '{a}.k1 < {b}.k1', '{a}.k1 IN ({k}, {k})', '{a}.k1 >= (SELECT k1 FROM oracle.j2 ORDER BY id LIMIT 1 OFFSET 3)']) f);
    forms text[] := oracle.join_forms('cond');
    shape text := oracle.pick(ARRAY['{1}', '{1}', '{1}', '{k}', '{k}', 'NOT ({1})', '({1}) AND ({2})', '({1}) OR ({2})', '({k}) AND NOT ({1})', '({k}) OR ({1})', '({1}) = ({2})', '({1}) IS NOT DISTINCT FROM ({2})', 'coalesce({1}, {2})', 'CASE WHEN {1} THEN {2} END', 'CASE WHEN {1} THEN NULL ELSE {k} END', 'nullif({1}, {2})']);
BEGIN
    RETURN replace(replace(replace(shape, '{1}', oracle.join_expr(aliases, forms)), '{2}', oracle.join_expr(aliases, forms)), '{k}', oracle.join_expr(aliases, keys));
END
$$;

-- Two queries of one answer.  Calls of parts can be put together from those of each part.
CREATE FUNCTION oracle.random_logic(OUT law text, OUT whole text, OUT parts text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    tree record := oracle.random_tree();
    kind text := oracle.pick(ARRAY['group', 'group', 'group', 'total', 'total', 'distinct', 'rows', 'first', 'having', 'counted', 'counted', 'counted']);
    keys text[];
    shown text[];
    condition text;
    joint text;
    groups text;
    places text;
    source text;
    met text[];
    part text;
BEGIN
    IF random() < 0.3 THEN
        tree.source := (SELECT name || ' a1' FROM oracle.join_tables ORDER BY num_rows DESC, random() LIMIT 1);
        tree.aliases := '{a1}';
        tree.conditions := '{}';
    END IF;
    condition := oracle.random_condition(tree.aliases);
    keys := ARRAY(SELECT oracle.join_expr(tree.aliases, oracle.join_forms('key')) FROM generate_series(1, CASE WHEN kind = 'total' OR kind = 'counted' AND random() < 0.5 THEN 0 ELSE oracle.pick(ARRAY[1, 1, 2]) END));
    shown := keys || CASE
        WHEN kind IN ('group', 'total') THEN
            ARRAY(SELECT oracle.join_call(tree.aliases, 'parted') FROM generate_series(1, oracle.pick(ARRAY[1, 2, 3])))
        WHEN kind = 'having' THEN
            ARRAY(SELECT oracle.join_call(tree.aliases, 'aggregate') FROM generate_series(1, oracle.pick(ARRAY[1, 2])))
        WHEN kind IN ('rows', 'first') THEN
            ARRAY(SELECT oracle.join_expr(tree.aliases, oracle.join_forms('value')) FROM generate_series(1, oracle.pick(ARRAY[1, 2, 3])))
        WHEN kind = 'counted' THEN
            ARRAY['count(*)']
        END;
    places := (SELECT string_agg(n::text, ', ' ORDER BY n) FROM generate_series(1, cardinality(keys)) n);
    groups := CASE WHEN kind IN ('group', 'having', 'counted') THEN coalesce(' GROUP BY ' || places, '') ELSE '' END;
    groups := groups || CASE kind WHEN 'rows' THEN ' ORDER BY 1' WHEN 'first' THEN (SELECT ' ORDER BY ' || string_agg(n || oracle.pick(ARRAY['', '', ' DESC', ' NULLS FIRST']), ', ' ORDER BY n) FROM generate_series(1, cardinality(shown)) n) || ' LIMIT ' || oracle.pick(ARRAY[1, 20, 300]) ELSE '' END;
    source := ' FROM ' || tree.source || coalesce(' WHERE ' || nullif(array_to_string(tree.conditions, ' AND '), ''), ' WHERE true');
    part := format('SELECT %s%s%s', CASE kind WHEN 'distinct' THEN 'DISTINCT ' ELSE '' END, (SELECT string_agg(format('%s AS r%s', s, n), ', ' ORDER BY n) FROM unnest(shown) WITH ORDINALITY u(s, n)), source);
    IF kind = 'counted' THEN
        law := 'counted';
        whole := format('%s AND (%s)%s', part, condition, groups);
        part := replace(part, 'count(*) AS r', replace(oracle.pick(ARRAY['count(*) FILTER (WHERE {p})', 'coalesce(sum(({p})::int), 0)', 'coalesce(sum(CASE WHEN {p} THEN 1 ELSE 0 END), 0)', 'count(CASE WHEN {p} THEN 1 END)', 'count(nullif({p}, false))']), '{p}', condition) || ' AS r');
        parts := format('SELECT * FROM (%s%s) q%s', part, groups, CASE WHEN places IS NULL THEN '' ELSE format(' WHERE r%s > 0', cardinality(shown)) END);
        RETURN;
    END IF;
    law := 'parts, ' || kind;
    IF kind = 'having' THEN
        condition := oracle.join_call(tree.aliases, 'condition of groups');
        joint := ' HAVING ';
        part := part || groups;
        groups := '';
    ELSE
        joint := ' AND ';
    END IF;
    whole := part || groups;
    met := CASE WHEN random() < 0.7 THEN '{(%s),NOT (%s),(%s) IS NULL}' ELSE '{(%s) IS TRUE,(%s) IS FALSE,(%s) IS UNKNOWN}' END;
    parts := (SELECT string_agg('(' || part || joint || replace(m, '%s', condition) || groups || ')', CASE kind WHEN 'distinct' THEN ' UNION ' ELSE ' UNION ALL ' END) FROM unnest(met) m);
    IF kind IN ('group', 'total') THEN
        parts := format('SELECT %s FROM (%s) q%s', (SELECT string_agg(CASE WHEN n > cardinality(keys) THEN format('%s(r%s) AS r', CASE WHEN s LIKE 'count%' THEN 'sum' ELSE split_part(s, '(', 1) END, n) ELSE 'r' END || n, ', ' ORDER BY n) FROM unnest(shown) WITH ORDINALITY u(s, n)),
                        parts, coalesce(' GROUP BY ' || places, ''));
    ELSIF kind = 'first' THEN
        parts := format('SELECT * FROM (%s) q%s', parts, groups);
    END IF;
END
$$;

-- One trial; all of it follows from the seed and the setting.  '' or what is wrong.
CREATE FUNCTION oracle.try_logic(seed int, most int, gpu boolean, OUT description text, OUT wrong text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    num_pairs CONSTANT int := 4;
    way text;
    settings text[];
    core_alone CONSTANT text[] := '{mgpu.enable_group=off,mgpu.enable_top=off,mgpu.enable_sort=off,mgpu.enable_scan=off,mgpu.enable_not_in=off,mgpu.enable_correlated=off,mgpu.enable_hashed_loops=off}';
    ours_alone text[];
    q record;
    side text;
    got record;
    want text[];
    nodes int := 0;
    columns int := 0;
BEGIN
    -- loads the library
    PERFORM mgpu_sort(ARRAY[1]), setseed((seed % 1000000) / -1000000.0), set_config('jit', 'off', true);
    description := (SELECT string_agg(format('%s: %s rows, unique %s', name, num_rows, keys), ', ') || '; ' || max(kinds::text) FROM oracle.join_tables);
    wrong := '';
    FOR i IN 1 .. num_pairs LOOP
        way := oracle.pick(ARRAY['rows', 'rows', 'table', 'generic']);
        q := oracle.random_logic();
        settings := ARRAY['work_mem=' || oracle.pick(ARRAY['64kB', '4MB', '64MB']), 'enable_mergejoin=off', 'enable_nestloop=' || oracle.pick(ARRAY['on', 'off', 'off']), 'enable_hashagg=' || oracle.pick(ARRAY['on', 'on', 'off'])];
        settings := settings || CASE WHEN random() < 0.2 THEN '{max_parallel_workers_per_gather=2,parallel_setup_cost=0,parallel_tuple_cost=0,min_parallel_table_scan_size=0}'::text[] ELSE '{max_parallel_workers_per_gather=0}' END;
        ours_alone := '{mgpu.enable_group=force,mgpu.enable_top=force,mgpu.enable_sort=force}'::text[] || ('mgpu.enable_scan=' || oracle.pick(ARRAY['on', 'force', 'off'])) || ('mgpu.executor=' || CASE WHEN gpu THEN oracle.pick(ARRAY['cpu', 'auto', 'gpu']) ELSE 'cpu' END) || oracle.pick(ARRAY['mgpu.enable_threads=off', 'mgpu.cpu_threads=2', 'mgpu.cpu_threads=2', 'mgpu.cpu_threads=5']);
        want := NULL;
        FOREACH side IN ARRAY ARRAY['core whole', 'core parts', 'ours whole', 'ours parts'] LOOP
            SELECT * INTO got FROM oracle.answer(CASE WHEN side LIKE '% whole' THEN q.whole ELSE q.parts END, way, settings || CASE WHEN side LIKE 'core %' THEN core_alone ELSE ours_alone END);
            got.lines := ARRAY(SELECT l FROM unnest(got.lines) l ORDER BY l COLLATE "C");
            IF side LIKE 'ours %' THEN
                nodes := nodes + (got.plan LIKE '%(Mgpu%')::int;
                columns := columns + (got.plan LIKE '%pages as columns%')::int;
            END IF;
            want := coalesce(want, got.lines);
            -- no query of these fails
            IF got.lines IS DISTINCT FROM want OR got.lines[1] LIKE 'error %' THEN
                description := format('%s; pair %s, %s, %s: %s; and: %s', description, i, way, array_to_string(settings || ours_alone, ' '), q.whole, q.parts);
                wrong := format('pair %s, %s, %s: %s rows, not %s; %s', i, q.law, side, cardinality(got.lines), cardinality(want),
                                (SELECT format('row %s is %s, not %s', n, left(o, 300), left(c, 300)) FROM unnest(got.lines, want) WITH ORDINALITY u(o, c, n) WHERE o IS DISTINCT FROM c OR o LIKE 'error %' LIMIT 1));
                EXIT;
            END IF;
        END LOOP;
        EXIT WHEN wrong <> '';
    END LOOP;
    description := replace(format('node in %s, columns in %s of %s queries; %s', nodes, columns, 2 * num_pairs, description), E'\n', ' ');
    wrong := translate(wrong, E'|\n', '! ');
END
$$;
