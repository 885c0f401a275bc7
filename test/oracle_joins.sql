--
-- The oracle's joins: random trees of joins below MgpuGroup, MgpuTop and MgpuSort, whose smaller sides a table job may look up, and the
-- same by PostgreSQL's nodes alone.  Loaded after oracle.sql and oracle_queries.sql; "test/oracle.pl joins" calls oracle.start_joins(seed, most)
-- and oracle.try_joins(seed, most, gpu); all of a trial follows from its seed.
--
-- Tables have the same columns, so that any may be joined with any: keys k1, k2, … of a trial's kinds, and values.  Plans are free, so each
-- answer is made independent of them: rows in order are ordered by all that they show, sums of floats are exact, and equal values look alike.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- {k}: an integer from 0 on, most: how many different values it makes
CREATE TABLE oracle.join_kinds (kind text PRIMARY KEY, types text[] NOT NULL, make text NOT NULL, most int NOT NULL, computed text[] NOT NULL);
INSERT INTO oracle.join_kinds VALUES
('int', '{int2,int4,int8}', '{k}', 30000, '{%s + 1,%s * 1,abs(%s),"coalesce(%s, 3)"}'),
('int4', '{int4}', '{k} * 7 - 100', 1000000, '{%s - 7,"coalesce(%s, -93)"}'),
('int8', '{int8}', '{k} * 10000000000', 1000000, '{%s + 0}'),
('numeric', '{"numeric(10,2)","numeric(8,2)","numeric(10,3)"}', 'round({k} / 4.0, 2)', 30000, '{%s + 0.25}'),
('text', '{"text COLLATE \"C\"","varchar(20) COLLATE \"C\""}', '''w'' || {k}', 1000000, '{lower(%s),"substr(%s, 1)","coalesce(%s, ''w3'')"}'),
('text long', '{"text COLLATE \"C\""}', 'repeat(''long '', {k} % 12) || {k}', 1000000, '{%s}'),
('text short', '{"text COLLATE \"C\"","varchar COLLATE \"C\""}', 'CASE {k} WHEN 0 THEN '''' ELSE chr(32 + {k}) END', 90, '{%s}'),
('text english', '{"text COLLATE oracle.english","varchar(20) COLLATE oracle.english"}', '(ARRAY[''e'', ''E'', ''é''])[{k} % 3 + 1] || {k} / 3', 1000000, '{%s}'),
('text any case', '{"text COLLATE oracle.any_case"}', '''w'' || {k}', 1000000, '{%s}'),
('bpchar', '{char(6),char(6),char(9)}', '''p'' || {k}', 10000, '{%s}'),
('bytea', '{bytea}', 'decode(lpad(to_hex({k}), 4, ''0''), ''hex'')', 60000, '{%s}'),
('date', '{date}', 'date ''1999-12-01'' + {k}', 1000000, '{%s + 1}'),
('timestamp', '{timestamp}', 'timestamp ''1999-12-01'' + {k} * interval ''90 s''', 1000000, '{%s}'),
('timestamptz', '{timestamptz}', 'timestamptz ''1999-12-01 00:00+00'' + {k} * interval ''1 day''', 100000, '{%s}'),
('daterange', '{daterange}', 'daterange(date ''1999-12-01'', date ''1999-12-02'' + {k})', 100000, '{%s}'),
('time', '{time}', 'time ''00:00'' + {k} * interval ''1 s''', 80000, '{%s}'),
('uuid', '{uuid}', 'md5(({k})::text)::uuid', 1000000, '{%s}'),
('bool', '{bool}', '{k} % 2 = 0', 2, '{(NOT %s)}'),
('mood', '{oracle.mood}', '(enum_range(NULL::oracle.mood))[{k} % 5 + 1]', 5, '{%s}'),
('float8', '{float8}', '{k} / 8.0', 1000000, '{%s}');

-- A trial's tables: which keys are together unique, which may be none.  kinds: of k1, k2, …
CREATE TABLE oracle.join_tables (name text, num_rows int, is_unique boolean, keys int[], kinds text[]);

-- A random number for each i, and SQL that makes a tenth of the values NULL, or none
CREATE FUNCTION oracle.hashed(below int) RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT format('((hashint4(i + %s) & 2147483647) %% %s)', floor(random() * 1e6), greatest(below, 1)) $$;
CREATE FUNCTION oracle.some_nulls(made text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN random() < 0.5 THEN made ELSE format('CASE WHEN %s > 0 THEN %s END', oracle.hashed(oracle.pick(ARRAY[3, 10, 10])), made) END $$;

CREATE FUNCTION oracle.make_join_table(number int, kinds text[], spans int[], num_rows int) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name text := 'oracle.j' || number;
    keys int[] := ARRAY(SELECT k FROM (SELECT k FROM generate_series(1, cardinality(kinds)) k ORDER BY random() LIMIT oracle.pick(ARRAY[0, 1, 1, 1, 1, 2, 3])) r ORDER BY k);
    columns text[] := '{}';
    made text[] := '{}';
    proof text := oracle.pick(ARRAY['primary key', 'primary key', 'primary key', 'unique', 'unique', '']);
    statistics text := oracle.pick(ARRAY['analyzed', 'analyzed', 'analyzed', 'grown', 'shrunk', 'none']);
    parts text := CASE WHEN number = 1 AND random() < 0.1 THEN ' PARTITION BY HASH (id)' ELSE '' END;
    told_apart int := 1;
    kind oracle.join_kinds;
    span int;
    first_rows int := num_rows;
BEGIN
    -- a row's number by its digits, one for each key, the last for what is left
    FOR k IN 1 .. cardinality(kinds) LOOP
        SELECT * INTO STRICT kind FROM oracle.join_kinds j WHERE j.kind = kinds[k];
        columns := columns || format('k%s %s', k, oracle.pick(kind.types));
        IF k = ANY (keys) THEN
            span := least(kind.most, CASE WHEN k = keys[cardinality(keys)] THEN num_rows / told_apart + 1 ELSE least(spans[k], 10) END);
            made := made || replace(kind.make, '{k}', format('(i / %s %% %s)', told_apart, span));
            told_apart := told_apart * span;
        ELSE
            span := least(kind.most, CASE WHEN random() < 0.8 THEN spans[k] ELSE oracle.pick(ARRAY[3, 40, 300, 1000, num_rows + 1]) END);
            made := made || oracle.some_nulls(replace(kind.make, '{k}', oracle.hashed(span)));
        END IF;
    END LOOP;
    -- keys of few values cannot tell so many rows apart
    IF told_apart <= num_rows THEN
        keys := '{}';
    END IF;
    columns := columns || '{"v int","w int8","x numeric(10,2)","y numeric","s text COLLATE \"C\"","t text COLLATE \"C\"","c char(5)","b bool","d date","e oracle.mood","f float8","id int","n int2","r daterange"}'::text[];
    made := made || oracle.some_nulls(oracle.hashed(1000) || ' - 500') || oracle.some_nulls(oracle.hashed(1000) || ' * 4294967296') || oracle.some_nulls(oracle.hashed(900) || ' / 4.0')
        || oracle.some_nulls(format('round(%s / 2.0, %s)', oracle.hashed(90), oracle.pick(ARRAY['1', '1', '7', '9']))) || oracle.some_nulls('''s'' || ' || oracle.hashed(oracle.pick(ARRAY[3, 40, 1000])))
        || oracle.some_nulls(format('repeat(md5(i::text), %s)', oracle.pick(ARRAY['0', '1', '(i % 3)', '(i % 100 / 95 * 90)']))) || oracle.some_nulls('''p'' || ' || oracle.hashed(9)) || oracle.some_nulls(oracle.hashed(2) || ' = 0')
        || oracle.some_nulls('date ''2000-01-01'' + ' || oracle.hashed(oracle.pick(ARRAY[5, 3000]))) || oracle.some_nulls(format('(enum_range(NULL::oracle.mood))[1 + %s]', oracle.hashed(5))) || oracle.some_nulls(oracle.hashed(2000) || ' / 64.0')
        || 'i'::text || oracle.some_nulls(oracle.hashed(7))
        || oracle.some_nulls(format('CASE WHEN i %% 23 = 3 THEN ''empty'' ELSE daterange(CASE WHEN i %% 7 > 0 THEN date ''2000-01-01'' + %s END, CASE WHEN i %% 9 > 0 THEN date ''2000-01-20'' + %s END, ''[]'') END', oracle.hashed(20), oracle.hashed(oracle.pick(ARRAY[3, 2000]))));
    EXECUTE format('CREATE TABLE %s (%s)%s%s', name, (SELECT string_agg(c, ', ' ORDER BY random()) FROM unnest(columns) c), parts, CASE parts WHEN '' THEN ' WITH (autovacuum_enabled = off)' END);
    FOR p IN 0 .. 2 LOOP
        EXIT WHEN parts = '';
        EXECUTE format('CREATE TABLE %s_%s PARTITION OF %1$s FOR VALUES WITH (MODULUS 3, REMAINDER %2$s) WITH (autovacuum_enabled = off)', name, p);
    END LOOP;
    IF keys <> '{}' AND proof <> '' AND parts = '' THEN
        EXECUTE format('ALTER TABLE %s ADD %s (%s)', name, proof, (SELECT string_agg('k' || k, ', ') FROM unnest(keys) k));
    END IF;
    IF statistics = 'grown' THEN
        first_rows := num_rows / oracle.pick(ARRAY[2, 10, 1000]);
    END IF;
    FOR part IN 1 .. 2 LOOP
        EXECUTE format('INSERT INTO %s (%s) SELECT %s FROM generate_series(%s, %s) i', name, (SELECT string_agg(split_part(c, ' ', 1), ', ' ORDER BY n) FROM unnest(columns) WITH ORDINALITY u(c, n)), array_to_string(made, ', '),
                       CASE part WHEN 1 THEN 1 ELSE first_rows + 1 END, CASE part WHEN 1 THEN first_rows ELSE num_rows END);
        IF part = 1 AND statistics <> 'none' THEN
            EXECUTE 'ANALYZE ' || name;
        END IF;
    END LOOP;
    -- keys that are missing, that are there twice though statistics say that they are not, columns that old rows lack
    IF keys <> '{}' AND (proof <> 'primary key' OR parts <> '') AND random() < 0.4 THEN
        EXECUTE format('UPDATE %s SET k%s = NULL WHERE id %% 10 = 3', name, oracle.pick(keys));
    END IF;
    IF (keys = '{}' OR proof = '' OR parts <> '') AND random() < 0.3 THEN
        EXECUTE format('INSERT INTO %s SELECT * FROM %1$s WHERE id %% 50 = 1', name);
    END IF;
    EXECUTE format('ALTER TABLE %s ADD z int%s', name, CASE WHEN random() < 0.5 THEN ' DEFAULT 7' END);
    IF statistics = 'shrunk' THEN
        EXECUTE format('DELETE FROM %s WHERE id %% %s = 0', name, oracle.pick(ARRAY[2, 9]));
    END IF;
    IF random() < 0.3 THEN
        EXECUTE format('UPDATE %s SET z = id %% 5 WHERE id %% 7 = 0', name);
    END IF;
    INSERT INTO oracle.join_tables VALUES (name, num_rows, keys <> '{}', keys, kinds);
END
$$;

-- The tables of a trial, made in a transaction of its own, so that they can be vacuumed before the queries
CREATE FUNCTION oracle.start_joins(seed int, most int) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    kinds text[];
    spans int[];
BEGIN
    PERFORM setseed((seed % 1000000) / 1000000.0);
    FOR i IN 1 .. 6 LOOP
        EXECUTE 'DROP TABLE IF EXISTS oracle.j' || i;
    END LOOP;
    DELETE FROM oracle.join_tables;
    kinds := ARRAY(SELECT kind FROM oracle.join_kinds ORDER BY random() / CASE WHEN kind LIKE 'int%' THEN 3 WHEN kind IN ('numeric', 'text', 'bpchar') THEN 2 WHEN kind IN ('float8', 'text any case') THEN 0.1 ELSE 1 END LIMIT oracle.pick(ARRAY[1, 2, 2, 3, 4]));
    -- how many values a key has in most tables: so that there is something to find
    spans := ARRAY(SELECT oracle.pick(ARRAY[10, 40, 100, 100, 300]) FROM unnest(kinds));
    FOR i IN 1 .. oracle.pick(ARRAY[2, 3, 3, 4, 5, 6]) LOOP
        PERFORM oracle.make_join_table(i, kinds, spans, least(most, CASE i WHEN 1 THEN oracle.pick(ARRAY[400, 400, 1000, 1000, 2000, 2000, 3000, 5000, oracle.pick(ARRAY[5000, 20000]), oracle.random_length(5000)]) ELSE oracle.pick(ARRAY[oracle.pick(ARRAY[0, 1, 4]), 30, 90, 90, 90, 300, 300, oracle.pick(ARRAY[1000, 1000, 4000])]) END));
    END LOOP;
END
$$;

-- An expression by one of these forms, in which {a} and {b} are aliases, and {c} is a condition
CREATE FUNCTION oracle.join_expr(aliases text[], forms text[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    a text := oracle.pick(aliases);
    b text := coalesce(oracle.pick(array_remove(aliases, a)), a);
    form text := coalesce(oracle.pick(ARRAY(SELECT f FROM unnest(forms) f WHERE a <> b OR f NOT LIKE '%{a}%{b}%')), forms[1]);
    cond text := '';
BEGIN
    IF form LIKE '%{c}%' THEN
        cond := oracle.join_expr(aliases, oracle.join_forms('cond'));
    END IF;
    RETURN replace(replace(replace(form, '{a}', a), '{b}', b), '{c}', cond);
END
$$;
-- Forms of conditions, of keys of groups, values of any type, numbers and aggregates.  Of those, {n} is a number, {v} any value.
CREATE FUNCTION oracle.join_forms(what text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE what
        WHEN 'cond' THEN ARRAY['{a}.v > 0', '{a}.v > 0', '{a}.v < {b}.v', '{a}.s LIKE ''%1''', '{a}.s LIKE ''s2%''', '{a}.s IN (''s1'', ''s7'', ''s30'')', '{a}.s IS NULL', '{a}.s IS NOT NULL', 'coalesce({a}.s, ''none'') = ''none''', '{a}.b', 'NOT {a}.b', '{a}.b IS NOT TRUE', '({a}.b OR {b}.b)',
            '{a}.x > {b}.x', '{a}.x > 100', '{a}.y = {b}.y', '{a}.s > {b}.s', '{a}.s = {b}.s', '{a}.s <> {b}.s', '{a}.c <> {b}.c', '{a}.t <> {b}.s', '{a}.s <> {b}.c', '{a}.d < {b}.d', '{a}.d > ''2000-01-03''', '{a}.e = {b}.e', '{a}.e > ''ok''', '{a}.s IS DISTINCT FROM ''s3''', '{a}.c = ''p1''', '{a}.c IN (''p1'', ''p4 '')', '{a}.c = {b}.c', '{a}.w + {b}.v > 5',
            '{a}.id IS NULL', '{a}.z = 7', '{a}.n + {b}.n > 4', '{a}.f < {b}.f', 'length({a}.t) > 0', 'CASE WHEN {a}.s = ''s1'' THEN {b}.v > 3 ELSE {a}.n IS NULL END', '({a}.v > 1 AND {b}.n < 5 OR {a}.s < ''s3'')', '{a}.v IN (1, 2, 3, 50, -70)', '{a}.t = ''''', '{a}.v % 3 = 1', '{a}.k1 IS NOT NULL', '{a}.s NOT LIKE ''%3%''', 'CASE WHEN {a}.n <> 0 THEN {a}.v / {a}.n > 2 END', 'CASE WHEN {a}.n = 0 THEN {b}.b ELSE {b}.v / {a}.n > 2 END',
            '{a}.r @> {b}.d', 'NOT {a}.r && {b}.r', '{a}.r @> date ''2000-01-09''', 'lower({a}.r) < {b}.d', '{a}.r << {b}.r', '{a}.r -|- {b}.r', '{a}.r = {b}.r', 'upper_inf({a}.r)', '{a}.e::text <> ''ok''', '{a}.e::text IN (''sad'', ''none'')']
        WHEN 'key' THEN ARRAY['{a}.s', '{a}.s', '{a}.n', '{a}.n', '{a}.e', '{a}.b', '{a}.c', '{a}.d', '{a}.k1', '{a}.k1', '{a}.z', '{a}.y', '{a}.v % 10', '{a}.n + {b}.n', 'coalesce({a}.s, ''none'')', 'coalesce({a}.n, {b}.n)', 'CASE WHEN {c} THEN 1 ELSE 0 END', 'CASE WHEN {c} THEN {a}.s ELSE ''other'' END', 'substr({a}.s, 2)', '{a}.id IS NULL',
            'date_trunc(''month'', {a}.d)', '{a}.s || {b}.c', '{a}.s < ''s2''', '{a}.x', 'length({a}.s)', '{a}.t', 'nullif({a}.s, ''s1'')', 'extract(year FROM {a}.d)', '({c})', 'CASE {a}.s WHEN ''s1'' THEN ''one'' WHEN {b}.s THEN ''same'' ELSE ''other'' END', '{a}.id % 6', '{a}.r', 'lower({a}.r)', 'isempty({a}.r)', '{a}.r && {b}.r', '{a}.d::text']
        WHEN 'value' THEN ARRAY['{a}.id', '{a}.id', '{a}.id', '{a}.v', '{a}.w', '{a}.x', '{a}.y', '{a}.s', '{a}.s', '{a}.t', '{a}.c', '{a}.d', '{a}.e', '{a}.f', '{a}.k1', '{a}.b', '{a}.x * {b}.v', '{a}.v + {b}.n', 'coalesce({a}.s, ''none'')', 'CASE WHEN {c} THEN {a}.id END', 'upper({a}.s)', '{a}.n', '{a}.z', '{a}.id', '{a}.r', 'upper({a}.r)']
        WHEN 'number' THEN ARRAY['{a}.v', '{a}.v', '{a}.w', '{a}.x', '{a}.y', '{a}.f', '{a}.n', '{a}.id', '{a}.x * {b}.v', '{a}.x * {b}.x', '{a}.x / 100', '{a}.y / 4', '{a}.x / 7', '{a}.x / nullif({b}.n, 0)', 'round({a}.x / 3, 2)', '{a}.x * (1 - {b}.v / 100.0)', '{a}.v + {b}.v', '{a}.v * {b}.n', '{a}.f + {b}.f', 'coalesce({a}.v, -1)', 'coalesce({a}.x, 0.00)', 'CASE WHEN {c} THEN {a}.v ELSE 0 END', 'CASE WHEN {c} THEN {a}.x ELSE {b}.x END', 'length({a}.s)', '({a}.d - {b}.d)', 'nullif({a}.v, {b}.v)', 'abs({a}.v)', '{a}.z']
        WHEN 'aggregate' THEN ARRAY['count(*)', 'count(*)', 'count({v})', 'count({a}.s)', 'count({a})', 'sum({n})', 'sum({n})', 'sum({n})', 'avg({n})', 'min({n})', 'max({n})', 'min({a}.d)', 'max({a}.s)', 'min({a}.e)', 'count(*) FILTER (WHERE {c})', 'sum({n}) FILTER (WHERE {c})', 'bool_or({c})', 'bool_and({c})', 'count(DISTINCT {a}.n)', 'count(DISTINCT {a}.s)', 'count(DISTINCT {a}.v)', 'count(DISTINCT ({n}, {a}.s))', 'count(DISTINCT {a}.r)', 'min(lower({a}.r * {b}.r))', 'max(upper({a}.r))',
            'percentile_disc(0.5) WITHIN GROUP (ORDER BY {a}.v)', 'percentile_cont(0.25) WITHIN GROUP (ORDER BY {a}.f)', 'string_agg({a}.s, ''|'' ORDER BY {a}.s)', 'array_agg({a}.v ORDER BY {a}.v)', 'mode() WITHIN GROUP (ORDER BY {a}.n)']
        -- those of parts can be put together
        WHEN 'parted' THEN ARRAY['count(*)', 'count({v})', 'count({a})', 'sum({n})', 'sum({n})', 'sum({n})', 'min({n})', 'max({n})', 'min({a}.d)', 'max({a}.s)', 'min({a}.e)', 'count(*) FILTER (WHERE {c})', 'sum({n}) FILTER (WHERE {c})', 'max({n}) FILTER (WHERE {c})', 'bool_or({c})', 'bool_and({c})']
        WHEN 'condition of groups' THEN ARRAY['count(*) > 2', 'sum({n}) > 10', 'max({a}.s) < ''s5''', 'min({a}.v) < max({b}.v)', 'bool_or({c})', 'count(DISTINCT {a}.n) > 1', 'avg({n}) > 3', 'sum({n}) > sum({a}.v)']
        -- errors of one kind
        WHEN 'fails' THEN ARRAY['sum({a}.v / {b}.n)', 'sum({a}.v / {a}.n)', 'max({a}.id % {a}.n)', 'sum({a}.v / ({a}.id - 20))'] END $$;
CREATE FUNCTION oracle.join_call(aliases text[], what text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT oracle.join_expr(aliases, ARRAY[replace(replace(oracle.pick(oracle.join_forms(what)), '{n}', oracle.pick(oracle.join_forms('number'))), '{v}', oracle.pick(oracle.join_forms('value')))]) $$;

-- The equalities of a join: by what is unique of the new table, or by any keys
CREATE FUNCTION oracle.join_on(old text, new text, t oracle.join_tables, by_unique boolean) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    clauses text[] := '{}';
    left_side text;
    k int;
BEGIN
    FOREACH k IN ARRAY CASE WHEN by_unique THEN t.keys ELSE ARRAY(SELECT g FROM generate_series(1, cardinality(t.kinds)) g ORDER BY random() LIMIT oracle.pick(ARRAY[1, 1, 2, 3])) END LOOP
        left_side := format('%s.k%s', old, k);
        IF random() < 0.08 THEN
            SELECT format(oracle.pick(computed), left_side) INTO left_side FROM oracle.join_kinds WHERE kind = t.kinds[k];
        END IF;
        clauses := clauses || CASE WHEN random() < 0.5 THEN format('%s = %s.k%s', left_side, new, k) ELSE format('%2$s.k%3$s = %1$s', left_side, new, k) END;
    END LOOP;
    RETURN array_to_string(clauses, ' AND ');
END
$$;

-- FROM and WHERE of a query, and the aliases that it may use.  No tree has very many rows.  Most trees are plain: the largest table first,
-- and most of the others joined by what is unique of them; such queries compute little.
CREATE FUNCTION oracle.random_tree(OUT is_plain boolean, OUT source text, OUT aliases text[], OUT conditions text[]) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t oracle.join_tables;
    num_rows float8;
    times float8;
    kind text;
    new text;
    name text;
    clauses text;
    more text;
    by_unique boolean;
BEGIN
    is_plain := random() < 0.75;
    SELECT * INTO t FROM oracle.join_tables j ORDER BY j.num_rows DESC, random() LIMIT 1;
    IF NOT is_plain AND random() < 0.3 THEN
        SELECT * INTO t FROM oracle.join_tables ORDER BY random() LIMIT 1;
    END IF;
    source := t.name || ' a1';
    aliases := '{a1}';
    conditions := '{}';
    num_rows := t.num_rows;
    FOR i IN 2 .. oracle.pick(ARRAY[2, 2, 2, 3, 3, 3, 4, 4, 5, 6]) LOOP
        new := 'a' || i;
        kind := oracle.pick(ARRAY['JOIN', 'JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN', 'EXISTS', 'IN', 'NOT EXISTS', oracle.pick(ARRAY['NOT EXISTS', 'NOT IN', 'NOT IN', 'RIGHT JOIN', 'FULL JOIN', 'AGGREGATE', 'AGGREGATE'])]);
        SELECT * INTO t FROM oracle.join_tables j ORDER BY random() / CASE WHEN is_unique THEN 6 ELSE 1 END LIMIT 1;
        by_unique := t.is_unique AND (is_plain OR random() < 0.8);
        kind := CASE WHEN is_plain AND NOT by_unique AND kind LIKE '%JOIN' AND random() < 0.4 THEN oracle.pick(ARRAY['EXISTS', 'EXISTS', 'NOT EXISTS']) WHEN is_plain AND kind IN ('NOT IN', 'RIGHT JOIN', 'FULL JOIN') THEN 'JOIN' ELSE kind END;
        name := t.name;
        IF NOT by_unique AND kind LIKE '%JOIN' AND random() < 0.6 THEN
            name := format('(SELECT DISTINCT ON (k1) * FROM %s ORDER BY k1, id)', t.name);
            clauses := oracle.join_on(oracle.pick(aliases), new, t, false);
            clauses := CASE WHEN clauses LIKE '%k1%' THEN clauses ELSE clauses || ' AND a1.k1 = ' || new || '.k1' END;
            by_unique := true;
        ELSE
            clauses := oracle.join_on(oracle.pick(aliases), new, t, by_unique);
        END IF;
        -- bands, or all pairs, of a table of few rows
        IF t.num_rows <= 100 AND kind NOT IN ('FULL JOIN', 'NOT IN') AND random() < 0.15 THEN
            clauses := format(oracle.pick(ARRAY['true', '%1$s.v < %2$s.v', '%1$s.v BETWEEN %2$s.v AND %2$s.v + 300', '%2$s.d <= %1$s.d AND %1$s.d < %2$s.d + 5', '%1$s.x > %2$s.x', '%2$s.r @> %1$s.d', '%1$s.s > %2$s.s', '%1$s.k1 <> %2$s.k1', '%1$s.e >= %2$s.e']), oracle.pick(aliases), new);
            by_unique := false;
        END IF;
        times := CASE WHEN by_unique AND kind <> 'FULL JOIN' THEN 1.1 ELSE greatest(t.num_rows, 1) / 2.0 END;
        IF kind LIKE '%JOIN' AND num_rows * times > 200000 THEN
            kind := oracle.pick(ARRAY['EXISTS', 'NOT EXISTS']);
        END IF;
        more := CASE WHEN random() < 0.2 THEN ' AND ' || oracle.join_expr(ARRAY[new], oracle.join_forms('cond')) WHEN random() < 0.25 THEN ' AND ' || oracle.join_expr(aliases || new, oracle.join_forms('cond')) ELSE '' END;
        CONTINUE WHEN kind = 'FULL JOIN' AND more <> '';
        -- nested loops would take seconds
        CONTINUE WHEN kind NOT LIKE '%JOIN' AND num_rows * t.num_rows > CASE WHEN kind = 'NOT IN' THEN 1e6 WHEN by_unique THEN 1e7 ELSE 2e6 END;
        IF kind LIKE '%JOIN' THEN
            IF random() < 0.1 AND name NOT LIKE '(%' THEN
                name := format('(SELECT * FROM %s x WHERE %s%s)', t.name, oracle.join_expr('{x}', oracle.join_forms('cond')), oracle.pick(ARRAY['', ' OFFSET 0']));
            END IF;
            source := format(CASE WHEN kind = 'RIGHT JOIN' AND source LIKE '%JOIN%' AND random() < 0.5 THEN '%3$s %4$s LEFT JOIN (%1$s) ON %5$s%6$s' ELSE '%s %s %s %s ON %s%s' END, source, kind, name, new, clauses, more);
            aliases := aliases || new;
            num_rows := num_rows * times + CASE WHEN kind IN ('RIGHT JOIN', 'FULL JOIN') THEN t.num_rows ELSE 0 END;
        ELSIF kind LIKE '%IN' THEN
            conditions := conditions || format('%1$s.k1 %2$s (SELECT %3$s.k1 FROM %4$s %3$s WHERE %5$s)', oracle.pick(aliases), kind, new, t.name, oracle.join_expr(ARRAY[new], oracle.join_forms('cond')));
        ELSIF kind = 'AGGREGATE' THEN
            conditions := conditions || format('%s.v %s (SELECT %s FROM %s %s WHERE %s%s)%s', oracle.pick(aliases), oracle.pick(ARRAY['<', '>=', '<>']), replace(oracle.pick(ARRAY['avg(#)', 'min(#)', 'max(#) - 3', 'sum(#) / 9', 'count(#)', 'count(*)', 'avg(#) + count(*)', 'count(DISTINCT #)']), '#', new || '.v'),
                t.name, new, clauses, more, oracle.pick(ARRAY['', '', ' IS NOT TRUE']));
        ELSE
            conditions := conditions || format('%s (SELECT FROM %s %s WHERE %s%s)', kind, t.name, new, clauses, more);
        END IF;
    END LOOP;
    WHILE random() < CASE WHEN is_plain THEN 0.25 ELSE 0.4 END LOOP
        conditions := conditions || oracle.join_expr(aliases, oracle.join_forms('cond'));
    END LOOP;
END
$$;

CREATE FUNCTION oracle.random_join_query(way text, OUT query text, OUT ordered boolean) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    tree record := oracle.random_tree();
    shape text := oracle.pick(ARRAY['group', 'group', 'group', 'group', 'group', 'total', 'distinct', 'sorted', 'sorted', 'first', 'ranked', 'lateral']);
    keys text[] := ARRAY(SELECT DISTINCT oracle.join_expr(tree.aliases, oracle.join_forms('key')) FROM generate_series(1, CASE shape WHEN 'total' THEN 0 ELSE oracle.pick(CASE WHEN tree.is_plain THEN '{1,1,1,2}' ELSE '{1,2,3}'::int[] END) END));
    conditions text[] := tree.conditions || CASE way WHEN 'prepared' THEN ARRAY[oracle.pick(tree.aliases) || '.v % 7 <> $1'] END || CASE shape WHEN 'lateral' THEN ARRAY[oracle.pick(tree.aliases) || '.id % (p + 1) = 0'] END;
    -- with a limit, groups that are not wanted need not be computed
    fails boolean := random() < 0.08;
    shown text[];
    places text;
BEGIN
    -- rows that would fail are not there, but in tables
    conditions := conditions || CASE WHEN fails AND random() < 0.6 THEN ARRAY(SELECT a || '.n <> 0' FROM unnest(tree.aliases) a) END;
    tree.source := tree.source || concat(' WHERE ' || nullif(array_to_string(conditions, ' AND '), ''));
    shown := keys || CASE WHEN shape IN ('group', 'total', 'lateral') THEN
                         ARRAY(SELECT oracle.join_call(tree.aliases, CASE WHEN fails THEN oracle.pick(ARRAY['fails', 'aggregate']) ELSE 'aggregate' END) FROM generate_series(1, oracle.pick(CASE WHEN tree.is_plain THEN '{1,1,2,3}' ELSE '{1,2,3,5}'::int[] END)))
                          WHEN shape <> 'distinct' THEN ARRAY(SELECT oracle.join_expr(tree.aliases, oracle.join_forms('value')) FROM generate_series(1, oracle.pick(CASE WHEN tree.is_plain THEN '{1,1,2,3}' ELSE '{1,2,4}'::int[] END))) END;
    -- an expression twice is a column's place twice
    places := (SELECT string_agg(n || oracle.pick(ARRAY['', '', ' DESC', ' NULLS FIRST']), ', ' ORDER BY n) FROM generate_series(1, cardinality(shown)) n);
    query := format('SELECT %s%s FROM %s', CASE shape WHEN 'distinct' THEN 'DISTINCT ' WHEN 'first' THEN format('DISTINCT ON (%s) ', array_to_string(keys, ', ')) END, (SELECT string_agg(format('%s AS r%s', s, n), ', ' ORDER BY n) FROM unnest(shown) WITH ORDINALITY u(s, n)), tree.source);
    ordered := shape IN ('sorted', 'first') OR shape IN ('group', 'distinct') AND random() < 0.2;
    CASE shape
        WHEN 'group', 'lateral' THEN query := query || ' GROUP BY ' || format(oracle.pick(ARRAY['%s', '%s', '%s', '%s', '%s', 'ROLLUP (%s)', 'CUBE (%s)', 'GROUPING SETS ((%s), ())']), (SELECT string_agg(n::text, ', ') FROM generate_series(1, cardinality(keys)) n)) || CASE WHEN random() < 0.1 THEN ' HAVING count(*) > 2' ELSE '' END;
        WHEN 'ranked' THEN query := format('SELECT * FROM (SELECT *, %s() OVER (PARTITION BY r1 ORDER BY %s) AS place FROM (%s) inside) q WHERE place %s', oracle.pick(ARRAY['row_number', 'rank']), regexp_replace(places, '(\d+)', 'r\1', 'g'), query, oracle.pick(ARRAY['<= 1', '= 1', '<= 3', '< 20']));
        ELSE NULL;
    END CASE;
    IF ordered THEN
        query := query || ' ORDER BY ' || places || CASE WHEN fails THEN '' ELSE oracle.pick(ARRAY['', ' LIMIT 1', ' LIMIT 20', ' LIMIT 10 OFFSET 7', ' LIMIT 300']) END;
    ELSIF shape = 'lateral' THEN
        query := format(oracle.pick(ARRAY['SELECT p, q.* FROM generate_series(0, 3) p, LATERAL (%s) q', 'SELECT p, q.* FROM generate_series(0, 3) p LEFT JOIN LATERAL (%s) q ON true']), query);
    END IF;
END
$$;

-- How many joins a job does in a query
CREATE FUNCTION oracle.jobs_joins(query text, way text, settings text[], OUT joins int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    setting text;
    line text;
BEGIN
    joins := 0;
    FOREACH setting IN ARRAY settings LOOP
        PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
    END LOOP;
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || CASE way WHEN 'prepared' THEN replace(query, '$1', '3') ELSE query END LOOP
        joins := greatest(joins, substring(line FROM 'Joins: (\d+) looked up')::int);
    END LOOP;
    RAISE SQLSTATE 'MG000';
EXCEPTION
    WHEN others THEN NULL;
END
$$;

-- One trial; all of it follows from the seed and the setting.  '' or what is wrong.
CREATE FUNCTION oracle.try_joins(seed int, most int, gpu boolean, OUT description text, OUT wrong text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    num_queries CONSTANT int := 5;
    way text;
    settings text[];
    ours_alone text[];
    q record;
    core record;
    ours record;
    joined int := 0;
BEGIN
    -- loads the library
    PERFORM mgpu_sort(ARRAY[1]), setseed((seed % 1000000) / -1000000.0), set_config('jit', 'off', true);
    description := (SELECT string_agg(format('%s: %s rows, unique %s', name, num_rows, keys), ', ') || '; ' || max(kinds::text) FROM oracle.join_tables);
    wrong := '';
    FOR i IN 1 .. num_queries LOOP
        way := oracle.pick(ARRAY['rows', 'rows', 'rows', 'table', 'insert', 'prepared', 'prepared', 'generic', 'cursor']);
        q := oracle.random_join_query(way);
        settings := ARRAY['work_mem=' || oracle.pick(ARRAY['64kB', '4MB', '4MB', '64MB']), 'hash_mem_multiplier=' || oracle.pick(ARRAY['1', '2']), 'plan_cache_mode=' || oracle.pick(ARRAY['auto', 'force_generic_plan', 'force_generic_plan'])]
            || format(oracle.pick(ARRAY['enable_mergejoin=%s', 'enable_nestloop=%s', 'enable_hashagg=%s', 'enable_sort=%s', 'enable_memoize=%s']), 'off');
        settings := settings || CASE WHEN random() < 0.6 THEN '{enable_mergejoin=off,enable_nestloop=off}'::text[] END;
        settings := settings || CASE WHEN random() < 0.3 THEN '{enable_nestloop=off,max_parallel_workers_per_gather=2,parallel_setup_cost=0,parallel_tuple_cost=0,min_parallel_table_scan_size=0,min_parallel_index_scan_size=0}'::text[] ELSE '{max_parallel_workers_per_gather=0}' END;
        ours_alone := ARRAY(SELECT format('mgpu.enable_%s=%s', node, oracle.pick(ARRAY['force', 'force', 'force', 'on'])) FROM unnest(ARRAY['group', 'top', 'sort', CASE WHEN random() < 0.3 THEN 'scan' END]) node WHERE node IS NOT NULL)
            || ('mgpu.executor=' || oracle.pick(ARRAY['cpu', 'auto', CASE WHEN gpu THEN 'gpu' ELSE 'cpu' END, CASE WHEN gpu THEN 'gpu' ELSE 'cpu' END])) || oracle.pick(ARRAY['mgpu.cpu_threads=2', 'mgpu.cpu_threads=2', 'mgpu.cpu_threads=5']);
        SELECT * INTO core FROM oracle.answer(q.query, way, settings || '{mgpu.enable_group=off,mgpu.enable_top=off,mgpu.enable_sort=off,mgpu.enable_scan=off,mgpu.enable_not_in=off,mgpu.enable_correlated=off,mgpu.enable_hashed_loops=off}'::text[]);
        SELECT * INTO ours FROM oracle.answer(q.query, way, settings || ours_alone);
        joined := joined + (oracle.jobs_joins(q.query, way, settings || ours_alone) > 0)::int;
        IF NOT q.ordered THEN
            core.lines := ARRAY(SELECT l FROM unnest(core.lines) l ORDER BY l COLLATE "C");
            ours.lines := ARRAY(SELECT l FROM unnest(ours.lines) l ORDER BY l COLLATE "C");
        END IF;
        -- what cannot be planned is no query
        IF ours.lines IS DISTINCT FROM core.lines OR ours.lines[1] LIKE 'error XX%' OR core.lines[1] ~ '^error 42' THEN
            description := format('%s; query %s, %s, %s: %s', description, i, way, array_to_string(settings || ours_alone, ' '), q.query);
            wrong := format('query %s: %s rows, not %s; %s', i, cardinality(ours.lines), cardinality(core.lines),
                            (SELECT format('row %s is %s, not %s', n, left(o, 300), left(c, 300)) FROM unnest(ours.lines, core.lines) WITH ORDINALITY u(o, c, n) WHERE o IS DISTINCT FROM c OR o LIKE 'error %' LIMIT 1));
            EXIT;
        END IF;
    END LOOP;
    description := replace(format('joins in %s of %s queries; %s', joined, num_queries, description), E'\n', ' ');
    wrong := translate(wrong, E'|\n', '! ');
END
$$;
