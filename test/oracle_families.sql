--
-- The oracle's other families: segments, locality sort, merge, bulk changes and
-- the odd-even network on random arrays of every type, against plain SQL, byte by
-- byte.  Loaded after oracle.sql; "test/oracle.pl families" calls
-- oracle.try_families(seed); all of a trial follows from its seed.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- The four orders, and the calls that mean each
CREATE TABLE oracle.calls (ordering text NOT NULL, call text NOT NULL);
INSERT INTO oracle.calls VALUES
('ASC NULLS LAST', ''), ('ASC NULLS LAST', ', false'), ('ASC NULLS LAST', ', false, false'), ('ASC NULLS FIRST', ', false, true'),
('DESC NULLS FIRST', ', true'), ('DESC NULLS FIRST', ', true, true'), ('DESC NULLS LAST', ', true, false');

-- An aggregate's array as the functions return it: from the input's lower bound.  NULL
-- (nothing was aggregated) stands for an input that is empty
CREATE FUNCTION oracle.like_input(a anyarray, input anyarray) RETURNS bytea LANGUAGE sql IMMUTABLE AS
$$ SELECT array_send(CASE WHEN a IS NOT NULL THEN oracle.at_lower(a, array_lower(input, 1)) WHEN cardinality(input) = 0 THEN input END) $$;

-- Where items' segments begin: runs by a random rule, groups that are equal within a run,
-- and with them heads and flags.  A run's group may be equal to its neighbour's: then
-- groups have fewer segments, which is right.
CREATE FUNCTION oracle.make_segments(groups oracle.types, n int, lower int) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    chance float8 := oracle.pick(ARRAY[0, 0.001, 0.01, 0.01, 0.1, 0.1, 0.5, 1]);
    every int := oracle.pick(ARRAY[0, 0, 1, 7, 32, 100, 256, 1000, 2048]);
    first_listed boolean := random() < 0.5;
BEGIN
    EXECUTE format($q$
        CREATE TEMP TABLE segmented ON COMMIT DROP AS
        SELECT o, k, v, head, g.x AS g, s, count(*) FILTER (WHERE changed) OVER (ORDER BY o) AS gs
        FROM (SELECT r.*, g.x, o > 1 AND g.x IS DISTINCT FROM lag(g.x) OVER (ORDER BY r.o) AS changed
              FROM (SELECT *, count(*) FILTER (WHERE head) OVER (ORDER BY o) AS s
                    FROM (SELECT *, o > 1 AND CASE WHEN %1$s > 0 THEN o %% %1$s = 0 ELSE random() < %2$s END AS head FROM items) h) r
              JOIN (%3$s) g(at, x) ON g.at = r.s + 1) g $q$, every, chance, oracle.elements(groups, n + 1));
    EXECUTE format($q$
        CREATE TEMP TABLE segment_args ON COMMIT DROP AS
        SELECT t.keys, t.vals, coalesce(g.groups, '{}') AS groups, coalesce(g.heads, '{}') AS heads, coalesce(g.flags, '') AS flags
        FROM trial t, (SELECT array_agg(g ORDER BY o) AS groups, array_agg((o - 1 + %s)::int ORDER BY o) FILTER (WHERE head OR o = 1 AND %L) AS heads,
                              string_agg(head::int::text, '' ORDER BY o)::varbit AS flags FROM segmented) g $q$, lower, first_listed);
END
$$;

CREATE FUNCTION oracle.check_segments() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wrong text := '';
    got text;
    c oracle.calls;
BEGIN
    FOR c IN SELECT * FROM oracle.calls LOOP
        EXECUTE format($q$
            SELECT concat(oracle.differs('segsort', array_send(mgpu_segsort(a.keys, a.heads %2$s)), oracle.like_input(e.keys, a.keys)),
                          oracle.differs('segsort_flags', array_send(mgpu_segsort_flags(a.keys, a.flags %2$s)), oracle.like_input(e.keys, a.keys)),
                          oracle.differs('segsort_by', array_send(mgpu_segsort_by(a.keys, a.groups %2$s)), oracle.like_input(g.keys, a.keys)),
                          oracle.differs('segsort_pairs.keys', array_send(p.keys), oracle.like_input(e.keys, a.keys)),
                          oracle.differs('segsort_pairs.vals', array_send(p.vals), oracle.like_input(e.vals, a.vals)),
                          oracle.differs('segsort_pairs_flags.keys', array_send(f.keys), oracle.like_input(e.keys, a.keys)),
                          oracle.differs('segsort_pairs_flags.vals', array_send(f.vals), oracle.like_input(e.vals, a.vals)),
                          oracle.differs('segsort_rows.grp', array_send(r.groups), array_send(g.groups)),
                          oracle.differs('segsort_rows.val', array_send(r.keys), array_send(g.keys)))
            FROM segment_args a, mgpu_segsort_pairs(a.keys, a.vals, a.heads %2$s) p, mgpu_segsort_pairs_flags(a.keys, a.vals, a.flags %2$s) f,
                 (SELECT array_agg(k ORDER BY s, k %1$s, o) AS keys, array_agg(v ORDER BY s, k %1$s, o) AS vals FROM segmented) e,
                 (SELECT array_agg(k ORDER BY gs, k %1$s, o) AS keys, array_agg(g ORDER BY o) AS groups FROM segmented) g,
                 LATERAL (SELECT array_agg(grp ORDER BY ordinality) AS groups, array_agg(val ORDER BY ordinality) AS keys FROM mgpu_segsort_rows(a.keys, a.groups %2$s) WITH ORDINALITY) r
            $q$, c.ordering, c.call) INTO STRICT got;
        IF got <> '' THEN
            wrong := wrong || format('(…%s): %s', c.call, got);
        END IF;
    END LOOP;
    RETURN wrong || oracle.wrong_stats('mgpu_segsort_stats(a.keys, a.heads)', 'segment_args a');
END
$$;

-- Passes from 1 on; tiles merged and copied are no more than all tiles; one number of tiles
CREATE FUNCTION oracle.wrong_stats(call text, source text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    holds boolean;
BEGIN
    EXECUTE format($q$
        SELECT coalesce(min(pass) = 1 AND max(pass) = count(DISTINCT pass) AND count(*) = 2 * count(DISTINCT pass)
               AND bool_and(merge_tiles >= 0 AND copy_tiles >= 0 AND merge_percent + copy_percent < 100.0001 AND (tiles = 0) = (percent = 0))
               AND coalesce(max(all_tiles) - min(all_tiles) < 0.01 AND max(abs(all_tiles - round(all_tiles))) < 0.01, true), true)
        FROM (SELECT s.*, tiles, percent, 100 * tiles / nullif(percent, 0) AS all_tiles
              FROM %2$s, %1$s s, LATERAL (VALUES (merge_tiles, merge_percent), (copy_tiles, copy_percent)) x(tiles, percent)) y $q$, call, source) INTO holds;
    RETURN CASE WHEN holds THEN '' ELSE call || ' ' END;
END
$$;

-- Elements by their bytes, whatever their order
CREATE FUNCTION oracle.bag(a anyarray) RETURNS bytea[] LANGUAGE sql IMMUTABLE AS $$ SELECT array_agg(array_send(ARRAY[x]) ORDER BY array_send(ARRAY[x])) FROM unnest(a) x $$;

CREATE FUNCTION oracle.check_locality() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wrong text := '';
    got text;
    c oracle.calls;
    merged numeric;
BEGIN
    FOR c IN SELECT * FROM oracle.calls LOOP
        EXECUTE format($q$
            SELECT concat(oracle.differs('locality_sort', array_send(mgpu_locality_sort(t.keys %2$s)), oracle.like_input(e.keys, t.keys)),
                          oracle.differs('locality_sort_pairs.keys', array_send(p.keys), oracle.like_input(e.keys, t.keys)),
                          oracle.differs('locality_sort_pairs.vals', array_send(p.vals), oracle.like_input(e.vals, t.vals)),
                          CASE WHEN net.sorted <> CASE WHEN e.keys IS NOT NULL THEN oracle.at_lower(e.keys, array_lower(t.keys, 1)) ELSE t.keys END THEN 'oddeven_sort, not sorted ' END,
                          CASE WHEN oracle.bag(net.sorted) IS DISTINCT FROM oracle.bag(t.keys) THEN 'oddeven_sort, not the same elements ' END)
            FROM trial t, mgpu_locality_sort_pairs(t.keys, t.vals %2$s) p, LATERAL (SELECT mgpu_oddeven_sort(t.keys %2$s) AS sorted OFFSET 0) net,
                 (SELECT array_agg(k ORDER BY k %1$s, o) AS keys, array_agg(v ORDER BY k %1$s, o) AS vals FROM items) e $q$, c.ordering, c.call) INTO STRICT got;
        IF got <> '' THEN
            wrong := wrong || format('(…%s): %s', c.call, got);
        END IF;
    END LOOP;
    SELECT coalesce(sum(s.merge_tiles), 0) INTO merged FROM trial t, mgpu_locality_sort_stats(mgpu_sort(t.keys)) s;
    IF merged > 0 THEN
        wrong := wrong || 'locality_sort_stats merges what is sorted ';
    END IF;
    RETURN wrong || oracle.wrong_stats('mgpu_locality_sort_stats(t.keys)', 'trial t');
END
$$;

-- The items in two parts, a before b, each sorted; and what comes of unsorted ones
CREATE FUNCTION oracle.check_merge(n int, lower int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wrong text := '';
    got text;
    c oracle.calls;
    share float8 := oracle.pick(ARRAY[0, 0.001, 0.1, 0.5, 0.5, 0.5, 0.9, 1]);
    apart boolean := random() < 0.2;
    bad bigint;
    unsorted text;
BEGIN
    ALTER TABLE items ADD b int;
    IF apart THEN
        UPDATE items SET b = (o > n * share)::int;
    ELSE
        UPDATE items SET b = (random() > share)::int;
    END IF;
    FOR c IN SELECT * FROM oracle.calls LOOP
        EXECUTE format($q$
            CREATE TEMP TABLE sides ON COMMIT DROP AS
            SELECT coalesce(array_agg(k ORDER BY k %1$s, o) FILTER (WHERE b = 0), '{}') AS a_keys, coalesce(array_agg(v ORDER BY k %1$s, o) FILTER (WHERE b = 0), '{}') AS a_vals,
                   oracle.at_lower(coalesce(array_agg(k ORDER BY k %1$s, o) FILTER (WHERE b = 1), '{}'), %2$L) AS b_keys, coalesce(array_agg(v ORDER BY k %1$s, o) FILTER (WHERE b = 1), '{}') AS b_vals
            FROM items $q$, c.ordering, lower);
        EXECUTE format($q$
            SELECT concat(oracle.differs('merge', array_send(mgpu_merge(s.a_keys, s.b_keys %2$s)), e.keys),
                          oracle.differs('merge_pairs.keys', array_send(p.keys), e.keys), oracle.differs('merge_pairs.vals', array_send(p.vals), e.vals))
            FROM sides s, mgpu_merge_pairs(s.a_keys, s.a_vals, s.b_keys, s.b_vals %2$s) p,
                 (SELECT array_send(coalesce(array_agg(k ORDER BY k %1$s, b, o), (SELECT a_keys FROM sides))) AS keys, array_send(coalesce(array_agg(v ORDER BY k %1$s, b, o), (SELECT a_vals FROM sides))) AS vals
                  FROM items) e $q$, c.ordering, c.call) INTO STRICT got;
        -- the trial's own array is hardly ever sorted: its first element out of order
        EXECUTE format($q$ SELECT min(o) - 1 + %2$s FROM (SELECT o, lag(r) OVER (ORDER BY o) AS before, r FROM (SELECT o, dense_rank() OVER (ORDER BY k %1$s) AS r FROM items) d) x
                           WHERE before > r $q$, c.ordering, lower) INTO bad;
        FOREACH unsorted IN ARRAY ARRAY['first: t.keys, s.b_keys', 'second: s.a_keys, t.keys'] LOOP
            got := got || oracle.wrong_refusal(format('SELECT mgpu_merge(%s %s) FROM sides s, trial t', split_part(unsorted, ': ', 2), c.call), split_part(unsorted, ':', 1), bad);
        END LOOP;
        got := got || oracle.wrong_refusal(format('SELECT mgpu_merge_pairs(s.a_keys, s.a_vals, t.keys, t.vals %s) FROM sides s, trial t', c.call), 'second', bad);
        IF got <> '' THEN
            wrong := wrong || format('(…%s): %s', c.call, got);
        END IF;
        DROP TABLE sides;
    END LOOP;
    RETURN wrong;
END
$$;

-- A merge of an array whose element at bad (NULL: none) is the first out of order
CREATE FUNCTION oracle.wrong_refusal(statement text, which text, bad bigint) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    said text;
BEGIN
    EXECUTE statement;
    RETURN CASE WHEN bad IS NULL THEN '' ELSE format('%s array with position %s out of order is merged ', which, bad) END;
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
    RETURN CASE WHEN bad IS NOT NULL AND said = format('The element at position %2$s of the %1$s array belongs before the one at position %3$s.', which, bad, bad - 1) THEN ''
                ELSE format('%s, but %s array''s first is %s; ', said, which, coalesce(bad::text, 'none')) END;
END
$$;

-- Positions in any order, with repeats; insertions at any place, several at one
CREATE FUNCTION oracle.check_bulk(n int, lower int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    chance float8 := oracle.pick(ARRAY[0, 0.0001, 0.01, 0.1, 0.5, 0.95, 1]);
    run int := oracle.pick(ARRAY[1, 1, 1, 10, 300]);
    places int := greatest((n * oracle.pick(ARRAY[0.0001, 0.1, 1, 1])::float8)::int, 1);
    ordering text := oracle.pick(ARRAY['at', 'at DESC', 'random()', 'random()', 'at % 10']);
    wrong text;
BEGIN
    CREATE TEMP TABLE hits ON COMMIT DROP AS
    SELECT o, k, v, hit, repeats FROM (SELECT *, first_value(random()) OVER (PARTITION BY o / run ORDER BY o) < chance AS hit, 1 + (random() * random() * 3)::int AS repeats FROM items) x;
    EXECUTE format($q$
        CREATE TEMP TABLE removals ON COMMIT DROP AS
        SELECT coalesce(array_agg(at ORDER BY %1$s), '{}') AS positions FROM (SELECT (o - 1 + %2$s)::int AS at FROM hits, generate_series(1, repeats) WHERE hit) x $q$, ordering, lower);
    -- what goes in are copies of the elements that are hit
    EXECUTE format($q$
        CREATE TEMP TABLE insertions ON COMMIT DROP AS
        SELECT k, v, at, row_number() OVER (ORDER BY %1$s) AS i FROM (SELECT k, v, (%2$s + floor(random() * (%3$s + 1))::bigint * %4$s / %3$s)::int AS at FROM hits WHERE hit) x $q$,
        ordering, lower, places, n);
    SELECT concat(oracle.differs('bulk_remove', array_send(mgpu_bulk_remove(t.keys, r.positions)), coalesce(oracle.like_input(kept.keys, t.keys), array_send(t.keys[1:0]))),
                  oracle.differs('bulk_remove vals', array_send(mgpu_bulk_remove(t.vals, (SELECT coalesce(array_agg(p - lower + 1 ORDER BY o), '{}') FROM unnest(r.positions) WITH ORDINALITY u(p, o)))),
                                 array_send(coalesce(kept.vals, t.vals[1:0]))),
                  oracle.differs('bulk_insert', array_send(mgpu_bulk_insert(t.keys, i.positions, i.keys)), oracle.like_input(grown.keys, t.keys)),
                  oracle.differs('bulk_insert vals', array_send(mgpu_bulk_insert(t.vals, (SELECT coalesce(array_agg(p - lower + 1 ORDER BY o), '{}') FROM unnest(i.positions) WITH ORDINALITY u(p, o)), i.vals)),
                                 oracle.like_input(grown.vals, t.vals)))
    INTO STRICT wrong
    FROM trial t, removals r,
         (SELECT array_agg(k ORDER BY o) FILTER (WHERE NOT hit) AS keys, array_agg(v ORDER BY o) FILTER (WHERE NOT hit) AS vals FROM hits) kept,
         (SELECT coalesce(array_agg(at ORDER BY insertions.i), '{}') AS positions, coalesce(array_agg(k ORDER BY insertions.i), '{}') AS keys, coalesce(array_agg(v ORDER BY insertions.i), '{}') AS vals FROM insertions) i,
         (SELECT array_agg(k ORDER BY at, own, i) AS keys, array_agg(v ORDER BY at, own, i) AS vals
          FROM (SELECT k, v, o - 1 + lower AS at, 1 AS own, 0 AS i FROM items UNION ALL SELECT k, v, at, 0, insertions.i FROM insertions) x) grown;
    RETURN wrong;
END
$$;

-- One trial; all of it follows from the seed and the setting.  '' or what is wrong.
CREATE FUNCTION oracle.try_families(seed int, most int, gpu boolean, OUT description text, OUT wrong text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t oracle.types;
    v oracle.types;
    g oracle.types;
    family text;
    n int;
    at int;
    stored text;
    dressed text;
BEGIN
    PERFORM setseed((seed % 1000000) / 1000000.0);
    SELECT * INTO t FROM oracle.types ORDER BY type COLLATE "C" OFFSET seed % (SELECT count(*) FROM oracle.types) LIMIT 1;
    SELECT * INTO v FROM oracle.types ORDER BY type COLLATE "C" OFFSET floor(random() * (SELECT count(*) FROM oracle.types)) LIMIT 1;
    SELECT * INTO g FROM oracle.types ORDER BY type COLLATE "C" OFFSET floor(random() * (SELECT count(*) FROM oracle.types)) LIMIT 1;
    -- one function call has one collation: two that differ are an error, in any function
    IF t.collation_name <> '' AND v.collation_name <> '' AND t.collation_name <> v.collation_name THEN
        v := t;
    END IF;
    IF t.collation_name <> '' AND g.collation_name <> '' AND t.collation_name <> g.collation_name THEN
        g := t;
    END IF;
    family := (ARRAY['segments', 'locality', 'merge', 'bulk'])[1 + (seed + seed / (SELECT count(*) FROM oracle.types)) % 4];
    n := oracle.random_length(most);
    -- insertions may double an array
    at := oracle.random_lower(n, n * 2);
    stored := oracle.pick(ARRAY['EXTERNAL', 'EXTENDED']);
    PERFORM set_config('mgpu.executor', CASE WHEN gpu THEN oracle.pick(ARRAY['cpu', 'gpu', 'gpu', 'auto']) ELSE oracle.pick(ARRAY['cpu', 'auto']) END, true);
    PERFORM set_config('mgpu.algorithm', oracle.pick(ARRAY['auto', 'auto', 'merge', 'locality', 'radix']), true);
    PERFORM set_config('mgpu.cpu_threads', oracle.pick(ARRAY['0', '1', '2', '5']), true);
    EXECUTE format('CREATE TEMP TABLE items ON COMMIT DROP AS SELECT o, k.x AS k, v.x AS v FROM (%s) k JOIN (%s) v USING (o) ORDER BY o',
                   oracle.elements(t, n), oracle.elements(v, n));
    CREATE TEMP TABLE trial ON COMMIT DROP AS SELECT array_agg(items.k) AS keys, array_agg(items.v) AS vals FROM items LIMIT 0;
    EXECUTE format('ALTER TABLE trial ALTER keys SET STORAGE %1$s, ALTER vals SET STORAGE %1$s', stored);
    INSERT INTO trial SELECT oracle.at_lower(coalesce(array_agg(items.k ORDER BY o), '{}'), at), coalesce(array_agg(items.v ORDER BY o), '{}') FROM items;
    dressed := oracle.dress_trial();
    description := format('%s of %s with %s, groups %s, %s items from %s, %s%s; executor %s, algorithm %s, threads %s', family, t.type, v.type, g.type, n, at, stored, dressed,
                          current_setting('mgpu.executor'), current_setting('mgpu.algorithm'), current_setting('mgpu.cpu_threads'));
    CASE family
        WHEN 'segments' THEN
            PERFORM oracle.make_segments(g, n, at);
            wrong := oracle.check_segments();
            DROP TABLE segmented, segment_args;
        WHEN 'locality' THEN
            wrong := oracle.check_locality();
        WHEN 'merge' THEN
            wrong := oracle.check_merge(n, at);
        WHEN 'bulk' THEN
            wrong := oracle.check_bulk(n, at);
            DROP TABLE hits, removals, insertions;
    END CASE;
    DROP TABLE trial, items;
    PERFORM oracle.undress(dressed);
END
$$;
