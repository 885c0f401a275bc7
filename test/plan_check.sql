--
-- What tests of plans include: a query's plan, and its results with the
-- extension's nodes and without.
--
-- the number of rows and a digest of them, in their order or in any
CREATE FUNCTION pg_temp.digest(query text, ordered boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    digest text;
BEGIN
    EXECUTE format('SELECT concat(count(*), '' '', md5(string_agg(q::text, ''|''%s))) FROM (%s) q',
                   CASE WHEN NOT ordered THEN ' ORDER BY q::text COLLATE "C"' END, query) INTO digest;
    RETURN digest;
END
$$;
-- PostgreSQL 18 also names the window
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text = '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '^ *Window: ';
        plan = plan || line || E'\n';
    END LOOP;
    RETURN plan;
END
$$;
-- whether the results are those of PostgreSQL's own nodes without workers
CREATE FUNCTION pg_temp.same_without(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    digest text = pg_temp.digest(query);
    workers text = current_setting('max_parallel_workers_per_gather');
    same boolean;
BEGIN
    SET LOCAL mgpu.enable_group = off;
    SET LOCAL max_parallel_workers_per_gather = 0;
    same = digest IS NOT DISTINCT FROM pg_temp.digest(query);
    PERFORM set_config('max_parallel_workers_per_gather', workers, true);
    SET LOCAL mgpu.enable_group = on;
    RETURN same;
END
$$;
-- the same under a setting, or the query's error
CREATE FUNCTION pg_temp.answer(query text, setting text, value text, ordered boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(setting, value, true);
    RETURN pg_temp.digest(query, ordered);
EXCEPTION WHEN OTHERS THEN
    RETURN concat(SQLSTATE, ' ', SQLERRM);
END
$$;
-- whether the plan has a node that a setting allows; the number of rows, or the error; whether PostgreSQL's nodes give the same
CREATE FUNCTION pg_temp.check_node(query text, name text, setting text, ordered boolean, OUT node boolean, OUT rows text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    ours text = pg_temp.answer(query, setting, 'force', ordered);
BEGIN
    same = ours = pg_temp.answer(query, setting, 'off', ordered);
    PERFORM set_config(setting, 'force', true);
    node = pg_temp.plan_of(query) ~ name;
    rows = split_part(ours, ' ', 1);
END
$$;
-- what EXPLAIN ANALYZE says of a node
CREATE FUNCTION pg_temp.counts_of(query text, name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING off) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == $name)', jsonb_build_object('name', name));
END
$$;
