--
-- What tests of plans include: a query's plan, and its results with the
-- extension's nodes and without.
--
CREATE FUNCTION pg_temp.digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    digest text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(q::text, ''|'' ORDER BY q::text COLLATE "C")) FROM (%s) q', query) INTO digest;
    RETURN digest;
END
$$;
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text = '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
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
