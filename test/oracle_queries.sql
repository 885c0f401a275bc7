--
-- The oracle's queries: random queries with PostgreSQL's own aggregates, by MgpuGroup wherever
-- it can do the work and by PostgreSQL's nodes alone.  Loaded after oracle.sql; "test/oracle.pl
-- queries" calls oracle.try_query(seed); all of a trial follows from its seed.
--
-- Rows are compared as text, so that -0, the digits of 1.00 and the order in arrays count.  A
-- query comes in one of two styles.  "arrival": rows reach the groups in the table's order on
-- both sides, so what depends on that order is compared to the last bit.  "open": plans are free,
-- so every answer is made independent of them, by orders that are total and by one form for values
-- that are equal but not the same.
--
-- A query may read a join of the table with a view of it, on whose nullable side columns are constants or expressions.
-- EXPLAIN VERBOSE shows each plan, and debug_print_plan some: all that a plan holds must be fit to be shown.  Most queries
-- run once more as a prepared statement with a generic plan, which PostgreSQL copies.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- Types without a hash function: inside others, or with a btree class alone, by value, by reference and of variable width
CREATE TYPE oracle.priced AS (price money, name text);
CREATE TYPE oracle.prices AS RANGE (subtype = money);
CREATE DOMAIN oracle.span AS int4range;
CREATE FUNCTION oracle.make_unhashed(type text, alike text, compares text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    operators text[] := '{lt,<,le,<=,eq,=,ge,>=,gt,>}';
    c_name text := CASE alike WHEN 'interval' THEN 'interval_' ELSE alike END;
    input text := CASE alike WHEN 'interval' THEN 'cstring, oid, int4' ELSE 'cstring' END;
BEGIN
    EXECUTE format('CREATE TYPE %s', type);
    EXECUTE format('CREATE FUNCTION %s_in(%s) RETURNS %1$s LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS ''%3$sin''', type, input, c_name);
    EXECUTE format('CREATE FUNCTION %s_out(%1$s) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS ''%sout''', type, c_name);
    EXECUTE format('CREATE TYPE %s (INPUT = %1$s_in, OUTPUT = %1$s_out, LIKE = %s)', type, alike);
    EXECUTE format('CREATE CAST (%s AS %s) WITHOUT FUNCTION; CREATE CAST (%2$s AS %1$s) WITHOUT FUNCTION', type, alike);
    FOR i IN 1 .. 9 BY 2 LOOP
        EXECUTE format('CREATE FUNCTION %s_%s(%1$s, %1$s) RETURNS bool LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS ''%3$s%2$s''', type, operators[i], c_name);
        EXECUTE format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = %2$s_%s)', operators[i + 1], type, operators[i]);
    END LOOP;
    EXECUTE format('CREATE FUNCTION %s_cmp(%1$s, %1$s) RETURNS int LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %L', type, compares);
    EXECUTE format('CREATE OPERATOR CLASS %s_ops DEFAULT FOR TYPE %1$s USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 %1$s_cmp(%1$s, %1$s)', type);
END
$$;
SELECT oracle.make_unhashed('oracle.real', 'float8', 'btfloat8cmp'), oracle.make_unhashed('oracle.gap', 'interval', 'interval_cmp'), oracle.make_unhashed('oracle.raw', 'bytea', 'byteacmp') \g /dev/null

-- make: expression of a bigint k; shown: one form for equal values; tags: which calls take it
CREATE TABLE oracle.kinds (kind text PRIMARY KEY, type text NOT NULL, make text NOT NULL, special text[] NOT NULL, tags text NOT NULL, shown text NOT NULL);
INSERT INTO oracle.kinds VALUES
('int2', 'int2', '(k % 200 - 100)::int2', '{0,-32768,32767}', 'int small sum avg stats minmax number plain scalar', '%s'),
('int4', 'int4', '(k % 100000 - 50)::int4', '{0,-2147483648,2147483647}', 'int sum avg stats minmax number plain scalar', '%s'),
('int8', 'int8', '(k - 20) * 4194301', '{0,-9223372036854775808,9223372036854775807}', 'int sum avg stats minmax number plain scalar', '%s'),
-- floats whose sums are exact, whatever their order, and others
('float4', 'float4', '((k % 129 - 64) / 4.0)::float4', '{-0,0,NaN,Infinity,-Infinity}', 'sum avg minmax number scalar', '%s + 0::float4'),
('float8', 'float8', '((k % 2000001 - 1000) / 64.0)::float8', '{-0,0,NaN,Infinity,-Infinity}', 'sum avg minmax number scalar', '%s + 0'),
('float8 rough', 'float8', '(k % 1000003 - 300) * 0.1::float8 ^ (k % 7)', '{0.1,0.2,0.3,1e16,-1e16,1e-30}', 'rough minmax number plain scalar', '%s'),
('numeric', 'numeric', 'round((k - 20) / 7.0, (k % 8)::int)', '{1,1.0,1.00,0,0.000,-1.50,NaN}', 'sum avg stats minmax number scalar', 'trim_scale(%s)'),
('numeric wide', 'numeric', '(k - 5)::numeric * 10::numeric ^ (k % 41 - 20)', '{1,1.0,NaN,Infinity,-Infinity,1e100,1e-100,0.00000000000000000000}', 'sum avg stats minmax number scalar', 'trim_scale(%s)'),
('money', 'money', '((k % 1000000) / 100.0)::numeric::money', '{0,-1}', 'sum minmax plain scalar', '%s'),
('interval', 'interval', 'make_interval(days => (k % 50 - 9)::int, secs => (k / 50 % 9000))', '{0,-1 day}', 'sum avg interval minmax plain scalar', '%s'),
('interval mixed', 'interval', 'make_interval(months => (k % 3)::int, days => (k / 3 % 61 - 30)::int, hours => (k / 183 % 49)::int)', '{1 mon,30 days,720:00:00}', 'sum avg minmax scalar', 'justify_interval(%s)'),
('text C', 'text COLLATE "C"', 'repeat(''prefix'', (k % 3)::int) || k % 10000', '{"",a,A,"a "}', 'text minmax plain scalar', '%s'),
('text', 'text', 'chr((65 + k % 58)::int) || repeat(''é'', (k / 58 % 3)::int) || k / 174 % 100', '{"",a,A,ä,"a b",a-b}', 'text minmax plain scalar', '%s'),
('text english', 'text COLLATE oracle.english', '(ARRAY[''a'', ''Ab'', ''ä'', ''b-'', ''c d'', ''é'', ''日''])[k % 7 + 1] || k / 7 % 100', '{"",a,A,ä,"a b",a-b}', 'text minmax plain scalar', '%s'),
('text any case', 'text COLLATE oracle.any_case', 'substr(''aAbBcC'', (k % 6)::int + 1, 1) || k / 6 % 20', '{"",a,A}', 'minmax scalar', 'lower(%s)'),
('text long', 'text COLLATE "C"', 'CASE WHEN k % 40 = 3 THEN repeat(md5(k::text), 90) WHEN k % 40 = 4 THEN (SELECT string_agg(md5((k + j)::text), '''') FROM generate_series(1, 75) j) ELSE repeat(''x'', (k % 40 * 3)::int) || k END', '{"",x}', 'text minmax plain scalar', '%s'),
('varchar', 'varchar', 'md5((k % 5000)::text)', '{"",x}', 'text minmax plain scalar', '%s'),
('char', 'char(7)', '''b'' || k % 1000 || repeat('' '', (k % 3)::int)', '{"",a}', 'minmax plain scalar', '%s'),
('bpchar', 'bpchar', '(''b'' || k % 50 || repeat('' '', (k % 3)::int))::bpchar', '{"","   ","a ",a}', 'minmax scalar', '%s::text'),
('name', 'name', '''n'' || k % 100000', '{"",zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz}', 'plain scalar', '%s'),
('bytea', 'bytea', 'decode(md5(k::text), ''hex'') || decode(repeat(''00'', (k % 5)::int), ''hex'')', '{"","\\x00","\\x0000","\\xff"}', 'bytea plain scalar', '%s'),
('uuid', 'uuid', 'md5(k::text)::uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}', 'plain scalar', '%s'),
('bool', 'bool', 'k % 2 = 0', '{true,false}', 'bool plain scalar', '%s'),
('date', 'date', '''2000-01-01''::date + (k % 9000)::int', '{-infinity,infinity}', 'time minmax plain scalar', '%s'),
('timestamp', 'timestamp', '''2000-01-01''::timestamp + k % 100000 * interval ''1 hour 0.25 s''', '{-infinity,infinity,2000-01-01 00:00:00.000001}', 'time minmax plain scalar', '%s'),
('timestamptz', 'timestamptz', '''2000-01-01 00:00+00''::timestamptz + k % 100000 * interval ''1 hour''', '{-infinity,infinity}', 'time minmax plain scalar', '%s'),
('mood', 'oracle.mood', '(enum_range(NULL::oracle.mood))[k % 5 + 1]', '{sad,delighted}', 'minmax plain scalar', '%s'),
('oid', 'oid', '(k % 4294967296)::oid', '{0,4294967295}', 'minmax plain scalar', '%s'),
('inet', 'inet', '(''10.'' || k % 256 || ''.'' || k / 256 % 256 || ''.1/'' || (8 + k % 25))::inet', '{0.0.0.0/0,::/0,::1}', 'minmax plain scalar', '%s'),
('pair', 'oracle.pair', 'ROW((k % 50)::numeric, ''p'' || k % 3)::oracle.pair', '{"(,)","(1,)"}', 'plain scalar', '%s'),
('varbit', 'varbit', '(k % 65536)::bit(16)::varbit', '{"",0,00}', 'nohash plain scalar', '%s'),
('jsonb', 'jsonb', 'jsonb_build_object(''k'', k % 1000, ''l'', ARRAY[k % 3])', '{"null",1,"\"x\"","[]"}', 'plain scalar', '%s'),
('int4[]', 'int4[]', 'ARRAY[k % 5, NULLIF(k / 5 % 50, 7)]::int4[]', '{"{}","{NULL}","{{1,2},{3,4}}"}', 'minmax', '%s'),
('int4multirange', 'int4multirange', 'int4multirange(int4range((k % 9)::int, (k % 9 + 3)::int))', '{"{}","{(,)}"}', 'plain scalar', '%s'),
('text any case[]', 'text[] COLLATE oracle.any_case', 'ARRAY[substr(''aAbBcC'', (k % 6)::int + 1, 1), ''x'']', '{"{}","{a,X}"}', 'minmax', 'lower((%s)::text)'),
('tsvector', 'tsvector', 'to_tsvector(''simple'', ''w'' || k % 7 || '' v'' || k % 30)', '{"","''a'':1A"}', 'nohash plain scalar', '%s'),
('tsquery', 'tsquery', 'to_tsquery(''simple'', ''w'' || k % 40 || ''|x'')', '{"",!a}', 'nohash plain scalar', '%s'),
('money[]', 'money[]', 'ARRAY[(k % 9)::int::money, NULLIF(k / 9 % 5, 2)::int::money]', '{"{}","{NULL}"}', 'nohash minmax plain', '%s'),
('priced', 'oracle.priced', 'ROW((k % 50)::int::money, ''p'' || k % 3)::oracle.priced', '{"(,)","(1,)"}', 'nohash plain scalar', '%s'),
('prices', 'oracle.prices', 'oracle.prices((k % 9)::int::money, (k % 9 + k % 4)::int::money)', '{empty,"(,)"}', 'nohash plain scalar', '%s'),
('daterange', 'daterange', 'daterange(''2000-01-01''::date + (k % 20)::int, ''2000-01-02''::date + (k % 20 + k / 20 % 9)::int)', '{empty,"(,)","[2000-01-01,)","(,infinity]"}', 'plain scalar', '%s'),
('tsrange', 'tsrange', 'tsrange(''2000-01-01''::timestamp + k % 90 * interval ''1 hour'', ''2000-01-05''::timestamp, ''(]'')', '{empty,"(,)","[2000-01-01,infinity]"}', 'plain scalar', '%s'),
('span', 'oracle.span', 'int4range((k % 20)::int, (k % 20 + k % 4)::int)::oracle.span', '{empty,"[5,)"}', 'nohash plain scalar', '%s'),
('span[]', 'oracle.span[]', 'ARRAY[int4range((k % 20)::int, (k % 20 + k % 4)::int)]::oracle.span[]', '{"{}","{NULL}"}', 'nohash plain', '%s'),
('real', 'oracle.real', '((k % 41 - 20) / 4.0)::float8::oracle.real', '{-0,0,NaN,Infinity}', 'nohash scalar', '(%s)::float8 + 0'),
('gap', 'oracle.gap', 'make_interval(months => (k % 2)::int, days => (k / 2 % 35)::int)::oracle.gap', '{1 mon,30 days,720:00:00}', 'nohash scalar', 'justify_interval((%s)::interval)'),
('raw', 'oracle.raw', 'decode(md5((k % 500)::text), ''hex'')::oracle.raw', '{"","\\x00"}', 'nohash plain scalar', '%s');
CREATE TYPE oracle.col AS (name text, type text, make text, tags text[], shown text);

-- Aggregates that SQL users make: strict, not strict, of a state that grows, for workers
CREATE FUNCTION oracle.loose_add(state int8, x int8) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT coalesce(state, 7) + coalesce(x % 1000, 1000) $$;
CREATE FUNCTION oracle.keep_last(state text, x text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT coalesce(x, 'none after ' || left(state, 40)) $$;
CREATE FUNCTION oracle.in_words(state int8) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 'sum ' || coalesce(state::text, 'of nothing') $$;
CREATE AGGREGATE oracle.strict_sum(int8) (SFUNC = int8pl, STYPE = int8);
CREATE AGGREGATE oracle.strict_largest(int8) (SFUNC = int8larger, STYPE = int8, COMBINEFUNC = int8larger, PARALLEL = SAFE);
CREATE AGGREGATE oracle.loose_sum(int8) (SFUNC = oracle.loose_add, STYPE = int8, FINALFUNC = oracle.in_words);
CREATE AGGREGATE oracle.last_said(text) (SFUNC = oracle.keep_last, STYPE = text, INITCOND = 'start');
CREATE AGGREGATE oracle.gathered(anycompatible) (SFUNC = array_append, STYPE = anycompatiblearray, INITCOND = '{}');

-- {x}: a value that has the tag "takes"; {y}, {z}: columns; {o}: an order; {f}, {fs}: a fraction, an array of them.
-- gives: how the answer is shown, where "shown" is the column's own way and "elements" that of an array's elements,
-- "sorted" an array's elements in an order of their own.  style: "any"; "sorts", which core sorts for; "arrival"; "error".
CREATE TABLE oracle.calls (call text PRIMARY KEY, takes text NOT NULL, gives text NOT NULL, style text NOT NULL);
INSERT INTO oracle.calls VALUES
('count(*)', '', '%s', 'any'), ('count({x})', '', '%s', 'any'), ('count(1)', '', '%s', 'any'), ('count(NULL::int)', '', '%s', 'any'), ('sum(2)', '', '%s', 'any'), ('avg(1.5::float8)', '', '%s', 'any'), ('max(3::int2)', '', '%s', 'any'), ('min(NULL::date)', '', '%s', 'any'), ('sum({x})', 'sum', '%s', 'any'), ('avg({x})', 'avg', '%s', 'any'),
('sum({x}) ', 'int', '%s', 'any'), ('avg({x}) ', 'int', '%s', 'any'), ('min({x})', 'minmax', 'shown', 'any'), ('max({x})', 'minmax', 'shown', 'any'), ('min(id)', '', '%s', 'any'),
('bool_and({x} IS NOT NULL)', '', '%s', 'any'), ('bool_or({x})', 'bool', '%s', 'any'), ('every({x})', 'bool', '%s', 'any'),
('bit_and({x})', 'int', '%s', 'any'), ('bit_or({x})', 'int', '%s', 'any'), ('bit_xor({x})', 'int', '%s', 'any'),
('stddev({x})', 'stats', '%s', 'any'), ('variance({x})', 'stats', '%s', 'any'), ('sum({x} / 100.0)', 'stats', '%s', 'any'), ('avg({x} / 4.0 - {x} / 0.50)', 'stats', '%s', 'any'), ('stddev({x} / 8.0)', 'stats', '%s', 'any'), ('max(round({x} / 1024.0 * 3, 3))', 'stats', '%s', 'any'), ('var_pop({x})', 'stats', '%s', 'any'), ('stddev_pop({x})', 'stats', '%s', 'any'),
('corr({x}, id % 17)', 'small', 'round((%s)::numeric, 4)', 'any'), ('regr_slope(id % 17, {x})', 'small', 'round((%s)::numeric, 4)', 'any'), ('regr_count({x}, id)', 'small', '%s', 'any'),
('array_agg({x})', 'scalar', 'sorted', 'any'), ('oracle.gathered({x})', 'scalar', 'sorted', 'any'), ('jsonb_agg({x})', '', 'jsonb_array_length(%s)', 'any'),
('string_agg({x}::text, ''|'')', '', 'length(%s)', 'any'), ('string_agg({x}, ''\x00'')', 'bytea', 'length(%s)', 'any'),
('oracle.strict_sum({x} % 100)', 'int', '%s', 'any'), ('oracle.strict_largest({x})', 'int', '%s', 'any'), ('oracle.loose_sum({x})', 'int', '%s', 'any'),
('sum(100 / {x}) FILTER (WHERE {x} <> 0)', 'int', '%s', 'any'), ('array_agg(100 / nullif({x}, 0)) FILTER (WHERE {x} IS NOT NULL)', 'int', 'sorted', 'any'),
('mgpu_sort_agg({x})', 'scalar', 'elements', 'any'), ('mgpu_sort_agg({x}, true, false)', 'scalar', 'elements', 'any'), ('mgpu_sort_agg_by({x}, id)', 'scalar', '%s', 'any'),
('mgpu_percentile_cont({x}, {f})', 'number', '%s + 0', 'any'), ('mgpu_percentile_disc({x}, {f})', 'scalar', 'shown', 'any'), ('mgpu_percentile_disc({x}, {fs})', 'scalar', 'elements', 'any'),
('percentile_cont({f}) WITHIN GROUP (ORDER BY {x}{o})', 'number', '%s + 0', 'sorts'), ('percentile_cont({fs}) WITHIN GROUP (ORDER BY {x}{o})', 'number', 'elements + 0', 'sorts'),
('percentile_cont({f}) WITHIN GROUP (ORDER BY {x})', 'interval', '%s', 'sorts'), ('percentile_cont({fs}) WITHIN GROUP (ORDER BY {x})', 'interval', '%s', 'sorts'),
('percentile_disc({f}) WITHIN GROUP (ORDER BY {x}{o})', '', 'shown', 'sorts'), ('percentile_disc({fs}) WITHIN GROUP (ORDER BY {x}{o})', 'scalar', 'elements', 'sorts'),
('mode() WITHIN GROUP (ORDER BY {x}{o})', '', 'shown', 'sorts'), ('percentile_disc(0.5) WITHIN GROUP (ORDER BY {x})', 'text', 'shown', 'sorts'),
('array_agg({x} ORDER BY {x}{o})', 'plain', '(%s)::text', 'sorts'), ('array_agg({x} ORDER BY {x}{o}, id)', 'scalar', '%s', 'sorts'), ('array_agg({x} ORDER BY {y}{o}, id DESC)', 'scalar', '%s', 'sorts'),
('array_agg(id ORDER BY {y}{o}, {z}, id)', '', '%s', 'sorts'), ('array_agg(DISTINCT {x})', 'scalar', 'elements', 'sorts'), ('array_agg(DISTINCT {x} ORDER BY {x}{o})', 'scalar', 'elements', 'sorts'),
('jsonb_agg(DISTINCT {x})', 'plain', '%s', 'sorts'), ('jsonb_agg(DISTINCT {x} ORDER BY {x}{o})', 'plain', '%s', 'sorts'), ('json_object_agg(DISTINCT id % 7, {x})', 'plain', '%s::text', 'sorts'),
('array_agg({x} ORDER BY id)', 'scalar', '(%s)[1]', 'sorts'), ('array_agg({x} ORDER BY {y} DESC, id DESC)', 'scalar', '(%s)[1]', 'sorts'), ('array_agg({x} ORDER BY {y} NULLS FIRST, id)', 'scalar', '(%s)[1]', 'sorts'),
('string_agg({x}::text, ''|'' ORDER BY {x}{o}, id)', '', '%s', 'sorts'), ('string_agg({x}, ''-'' ORDER BY {y}, id{o})', 'text', '%s', 'sorts'),
('string_agg(DISTINCT {x}::text COLLATE "C", ''|'')', '', '%s', 'sorts'), ('string_agg({x}, ''\x2c'' ORDER BY {x}{o})', 'bytea', '%s', 'sorts'), ('string_agg(DISTINCT {x}, ''\x2c'')', 'bytea', '%s', 'sorts'),
('string_agg({x}, id::text ORDER BY id)', 'text', '%s', 'sorts'), ('count(DISTINCT {x})', '', '%s', 'sorts'), ('count(DISTINCT ({x}, {y}))', '', '%s', 'sorts'), ('sum(DISTINCT {x})', 'sum', 'shown', 'sorts'),
('avg(DISTINCT {x})', 'number', 'shown', 'sorts'), ('sum({x} ORDER BY {x}, id)', 'rough', '%s', 'sorts'), ('stddev({x} ORDER BY id)', 'rough', '%s', 'sorts'),
('jsonb_agg({x} ORDER BY {y}{o}, id)', '', '%s', 'sorts'), ('json_agg({x} ORDER BY id{o})', '', '%s::text', 'sorts'), ('jsonb_object_agg(coalesce({x}::text, ''-''), id ORDER BY id)', '', '%s', 'sorts'),
('rank(5) WITHIN GROUP (ORDER BY {x}{o})', 'int', '%s', 'sorts'), ('dense_rank(5) WITHIN GROUP (ORDER BY {x}{o})', 'int', '%s', 'sorts'), ('cume_dist(5, 100) WITHIN GROUP (ORDER BY {x}{o}, id)', 'int', '%s', 'sorts'),
('oracle.gathered({x} ORDER BY {y}{o}, id)', 'scalar', '%s', 'sorts'), ('oracle.gathered(DISTINCT {x})', 'scalar', 'elements', 'sorts'), ('oracle.last_said({x}::text ORDER BY id)', '', '%s', 'sorts'),
('array_agg({x})  ', 'scalar', '%s', 'arrival'), ('string_agg({x}::text, '','')', '', '%s', 'arrival'), ('string_agg({x}, ''-'')', 'text', '%s', 'arrival'), ('string_agg({x}, ''\x2c'')', 'bytea', '%s', 'arrival'),
('jsonb_agg({x})  ', '', '%s', 'arrival'), ('json_agg({x})', '', '%s::text', 'arrival'), ('sum({x})  ', 'rough', '%s', 'arrival'), ('avg({x})  ', 'rough', '%s', 'arrival'), ('stddev({x})  ', 'rough', '%s', 'arrival'),
('sum({x}::float4)', 'rough', '%s', 'arrival'), ('corr({x}, id / 7.0)', 'rough', '%s', 'arrival'), ('regr_slope({x}, id)', 'rough', '%s', 'arrival'), ('var_samp({x} / 3.0::float8)', 'number', '%s', 'arrival'),
('oracle.gathered({x})  ', 'scalar', '%s', 'arrival'), ('oracle.last_said({x}::text)', '', '%s', 'arrival'), ('mgpu_sort_agg_by({x}, c1)', 'scalar', '%s', 'arrival'), ('min({x})  ', 'minmax', 'shown', 'arrival'),
('sum(100 / {x})', 'int', '%s', 'error'), ('sum(CASE WHEN id % 2 = 0 THEN 1.7e308::float8 END)', '', '%s', 'error'), ('sum({x}::int8 * 4611686018427387904)', 'int', '%s', 'error'),
('oracle.strict_sum(9223372036854775807 - id)', '', '%s', 'error'), ('percentile_disc(1.5) WITHIN GROUP (ORDER BY {x})', '', 'shown', 'error'), ('array_agg({x}::text::int ORDER BY id)', 'text', '%s', 'error');

CREATE FUNCTION oracle.column_with(cols oracle.col[], tag text) RETURNS oracle.col LANGUAGE sql VOLATILE AS
$$ SELECT oracle.pick(ARRAY(SELECT c FROM unnest(cols) c WHERE tag = '' OR tag = ANY (c.tags))) $$;

-- An aggregate call, as a column of the query's result
CREATE FUNCTION oracle.random_call(cols oracle.col[], calls oracle.calls[], keys text[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c oracle.calls;
    x oracle.col;
    call text;
BEGIN
    LOOP
        c := oracle.pick(calls);
        x := oracle.column_with(cols, c.takes);
        EXIT WHEN x.name IS NOT NULL;
    END LOOP;
    call := replace(c.call, '{x}', format(oracle.pick(ARRAY['%s', '%s', '%s', '%s', '%s', 'CASE WHEN id %% 5 > 0 THEN %s END', '(SELECT %s)', 'coalesce(NULL, %s)']), x.name));
    call := replace(replace(replace(call, '{y}', (oracle.column_with(cols, '')).name), '{z}', (oracle.column_with(cols, '')).name),
                    '{o}', oracle.pick(ARRAY['', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST']));
    call := replace(call, '{f}', CASE WHEN keys <> '{}' AND random() < 0.1 THEN format('CASE WHEN %s IS NULL THEN 0.3 ELSE 0.7 END', keys[1])
                                      ELSE oracle.pick(ARRAY['0.5', '0', '1', '0.25', '0.999', 'NULL::float8']) END);
    call := replace(call, '{fs}', oracle.pick(ARRAY['ARRAY[0.5, 0.1, 0.9]', '''{0,NULL,1,0.3}''::float8[]', '''{{0.1,0.2},{NULL,0.3}}''::float8[]', '''{}''::float8[]', 'NULL::float8[]']));
    IF random() < 0.3 AND call NOT LIKE '% FILTER %' THEN
        call := format('%s FILTER (WHERE %s)', call, format(oracle.pick(ARRAY['id %% 3 > 0', 'id < 0', '%s IS NOT NULL', '%s IS NULL OR id %% 2 = 1', 'id IN (SELECT i * 3 FROM generate_series(1, 90) i)']), (oracle.column_with(cols, '')).name));
    END IF;
    call := CASE c.gives
        WHEN 'shown' THEN format(x.shown, call)
        WHEN 'elements' THEN CASE WHEN x.shown = '%s' THEN call ELSE format('(SELECT array_agg(%s ORDER BY i) FROM unnest(%s) WITH ORDINALITY u(u, i))', format(x.shown, 'u'), call) END
        WHEN 'elements + 0' THEN format('(SELECT array_agg(u + 0 ORDER BY i) FROM unnest(%s) WITH ORDINALITY u(u, i))', call)
        WHEN 'sorted' THEN format('(SELECT array_agg(u::text ORDER BY u::text COLLATE "C") FROM unnest(%s) u)', call)
        ELSE format(c.gives, call) END;
    RETURN format(oracle.pick(ARRAY['%s', '%s', '%s', '%s', '%s', 'coalesce((%s)::text, ''none'')', 'CASE WHEN count(*) > 2 THEN (%s)::text END', 'concat(%s, count(*))']), call);
END
$$;

-- A grouping key and how it is shown
CREATE FUNCTION oracle.random_key(cols oracle.col[], arrival boolean, OUT key text, OUT shown text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    tag text := oracle.pick(ARRAY['int', 'int', 'text', 'time', '', '']);
    c oracle.col;
BEGIN
    LOOP
        c := oracle.column_with(cols, '');
        EXIT WHEN NOT (arrival AND 'nohash' = ANY (c.tags));
    END LOOP;
    key := c.name;
    shown := c.shown;
    c := oracle.column_with(cols, tag);
    IF random() < 0.4 AND c.name IS NOT NULL THEN
        shown := '%s';
        key := format(oracle.pick(CASE tag
            WHEN 'int' THEN ARRAY['(%s %% 7)', '(%s / 100)', '(%s < 3)', 'coalesce(%s, 5)']
            WHEN 'text' THEN ARRAY['lower(%s)', 'left(%s, 1)', 'length(%s)', 'coalesce(%s, ''none'')']
            WHEN 'time' THEN ARRAY['date_trunc(''month'', %s)', 'date_trunc(''year'', %s)::date', '%s::date']
            ELSE ARRAY['(%s IS NULL)', '(%s::text COLLATE "C")', '(id %% 13)', 'id', '(id / 40)::int2'] END), c.name);
    END IF;
END
$$;

-- A value of a column, as a constant
CREATE FUNCTION oracle.some_value(name text, OUT value text) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE format('SELECT quote_literal(%1$s) || ''::'' || pg_typeof(%1$s) FROM oracle.items WHERE id %% 11 = 5 ORDER BY id LIMIT 1', name) INTO value;
END
$$;

-- Rows of the table and, by a join, of the view: with an id of their own, and the table's columns, some of which are
-- expressions below the nullable side, or above the join.
CREATE FUNCTION oracle.joined(cols oracle.col[], prepared boolean) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    kind text := oracle.pick(ARRAY['JOIN', 'LEFT JOIN', 'LEFT JOIN', 'LEFT JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);
    third text := CASE WHEN prepared THEN '$1' ELSE '3' END;
    shown text;
BEGIN
    SELECT string_agg(format(oracle.pick(ARRAY['a.%1$s', 'b.%1$s', 'b.%1$s', 'b.%1$s', 'coalesce(b.%1$s, a.%1$s)', 'CASE WHEN a.id %% 7 <> %2$s THEN b.%1$s END']) || ' AS %1$s', name, third), ', ') INTO shown FROM unnest(cols);
    RETURN format('(SELECT %s AS id, %s FROM %s a %s %s b ON %s%s) s', CASE WHEN kind IN ('RIGHT JOIN', 'FULL JOIN') THEN 'coalesce(a.id, -b.id)' ELSE 'a.id' END, shown,
        oracle.pick(ARRAY['oracle.items', 'oracle.seen']), kind, oracle.pick(ARRAY['oracle.seen', 'oracle.seen', 'oracle.items', '(SELECT * FROM oracle.seen WHERE id % 3 <> ' || third || ')']),
        oracle.pick(ARRAY['b.id = a.id', 'b.id = a.id', 'b.id = a.id % 50', 'b.id = a.id AND b.c1 = a.c1']),
        oracle.pick(ARRAY['', '', '', ' WHERE EXISTS (SELECT FROM oracle.items e WHERE e.id = a.id % 90)', ' WHERE NOT EXISTS (SELECT FROM oracle.items e WHERE e.id = a.id AND e.id % 4 = 1)', ' WHERE a.id IN (SELECT id FROM oracle.seen WHERE c1 IS NOT NULL)']));
END
$$;

-- A query; in prepared ones $1 is an integer.  ordered: its rows come in one order only.
CREATE FUNCTION oracle.random_query(cols oracle.col[], style text, way text, OUT query text, OUT ordered boolean) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    arrival boolean := style = 'arrival';
    -- few groups of what workers may fold
    folds boolean := style = 'open' AND random() < 0.5;
    shape text := CASE WHEN folds AND random() < 0.3 THEN 'plain' ELSE oracle.pick(ARRAY['group', 'group', 'group', 'group', 'group', 'group', 'group', 'plain', 'plain', 'distinct', 'keys', 'lateral', 'lateral', 'correlated', 'outer', 'window', 'union',
                                    'cte', 'rescan', 'semi'] || CASE WHEN style = 'open' THEN ARRAY['nested', 'sets'] END) END;
    calls oracle.calls[] := ARRAY(SELECT c FROM oracle.calls c WHERE CASE WHEN folds THEN c.style = 'any' AND c.call ~ '^(count|sum|avg|min|max|bool|every|bit|stddev|var)'
                                                                         ELSE c.style = 'any' OR c.style = random_query.style OR random_query.style = 'open' AND c.style = 'sorts' END ORDER BY c.call COLLATE "C");
    errors oracle.calls[] := ARRAY(SELECT c FROM oracle.calls c WHERE c.style = 'error' ORDER BY c.call COLLATE "C");
    fails boolean := style = 'open' AND way <> 'early' AND shape <> 'semi' AND random() < 0.05;
    prepared boolean := way = 'prepared';
    source text := CASE WHEN folds AND random() < 0.6 THEN oracle.joined(cols, prepared) ELSE oracle.pick(ARRAY['oracle.items', 'oracle.items', 'oracle.items', '(SELECT * FROM oracle.items ORDER BY id) s', '(SELECT * FROM oracle.items ORDER BY c1, id DESC) s',
        '(SELECT * FROM oracle.items WHERE id % 2 = 0 UNION ALL SELECT * FROM oracle.items WHERE id % 2 = 1) s']
        || CASE WHEN arrival THEN '{}' ELSE ARRAY['oracle.items LEFT JOIN (SELECT id AS other, c1 AS c1_other FROM oracle.items WHERE id < 40) j ON j.other = id % 50',
                                                  'oracle.items JOIN (SELECT DISTINCT c1 AS c1_other FROM oracle.items WHERE id < 90) j ON c1_other = c1',
                                                  '(SELECT *, row_number() OVER (ORDER BY c1, id) AS number FROM oracle.items) s', '(SELECT * FROM oracle.items ORDER BY id LIMIT 300) s', 'oracle.seen',
                                                  oracle.joined(cols, prepared), oracle.joined(cols, prepared), oracle.joined(cols, prepared)] END) END;
    conditions text[] := '{}';
    keys text[] := '{}';
    outputs text[] := '{}';
    names text;
    k record;
    kept text := '';
BEGIN
    ordered := false;
    FOR i IN 1 .. CASE WHEN shape IN ('plain', 'correlated') THEN 0 WHEN folds THEN oracle.pick(ARRAY[1, 1, 1, 2]) ELSE oracle.pick(ARRAY[1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5]) END LOOP
        k := oracle.random_key(cols, arrival);
        IF i = 1 AND shape = 'lateral' AND random() < 0.3 THEN
            k.key := '(id % (p + 3))';
            k.shown := '%s';
        ELSIF i = 1 AND prepared AND random() < 0.3 THEN
            k.key := '(id % (10 + $1))';
            k.shown := '%s';
        END IF;
        keys := keys || k.key;
        outputs := outputs || format('%s AS k%s', format(k.shown, CASE WHEN shape = 'distinct' THEN 'd' || i ELSE k.key END), i);
    END LOOP;
    IF random() < 0.3 THEN
        conditions := conditions || format(oracle.pick(ARRAY['id %% 5 <> 2', '%s IS NOT NULL', 'id < 20', 'id < 0',
            -- a semijoin may begin with either side
            CASE WHEN arrival THEN 'id %% 3 <> 1' ELSE 'id IN (SELECT id * 2 FROM oracle.items WHERE id < 300)' END]), (oracle.column_with(cols, '')).name);
    END IF;
    -- conditions that are met by columns: with a constant, a parameter, and a value of the table
    WHILE random() < 0.3 LOOP
        SELECT * INTO k FROM unnest(ARRAY[oracle.column_with(cols, 'scalar')]);
        conditions := conditions || format(oracle.pick(ARRAY['%1$s %3$s %2$s', '%2$s %3$s %1$s', '%1$s IS NULL', '%1$s IS NOT NULL', 'id > 7::int8', 'id <> 7::int2']), k.name,
            oracle.pick(ARRAY['(SELECT ' || k.name || ' FROM oracle.items WHERE id % 17 = 3 LIMIT 1)', coalesce(oracle.some_value(k.name), 'NULL::' || k.type)]),
            CASE WHEN k.type = 'jsonb' THEN '=' ELSE oracle.pick(ARRAY['<', '<=', '=', '<>', '>=', '>']) END);
        conditions := conditions || CASE WHEN k.type = 'bool' THEN ARRAY[oracle.pick(ARRAY['', 'NOT ']) || k.name] END;
    END LOOP;
    conditions := conditions || CASE WHEN prepared THEN ARRAY['id % 7 <> $1'] END || CASE WHEN shape = 'lateral' THEN ARRAY['id % (p + 1) = 0'] WHEN shape = 'correlated' THEN ARRAY['id % 5 = p'] END;
    source := source || concat(' WHERE ' || nullif(array_to_string(conditions, ' AND '), ''));
    IF shape = 'distinct' THEN
        query := format('SELECT %s FROM (SELECT DISTINCT %s FROM %s) d', array_to_string(outputs, ', '),
                        (SELECT array_to_string(ARRAY(SELECT format('%s AS d%s', key, i) FROM unnest(keys) WITH ORDINALITY u(key, i) ORDER BY i), ', ')), source);
    ELSE
        FOR i IN 1 .. CASE shape WHEN 'keys' THEN 0 WHEN 'correlated' THEN 1 ELSE 1 + floor(random() * 6)::int END LOOP
            outputs := outputs || format('%s AS a%s', CASE WHEN i = 2 AND random() < 0.1 THEN substring(outputs[cardinality(outputs)] FROM '^(.*) AS ')
                                                           ELSE oracle.random_call(cols, CASE WHEN i = 1 AND fails THEN errors ELSE calls END, CASE WHEN shape <> 'sets' THEN keys ELSE '{}' END) END, i);
        END LOOP;
        IF shape = 'outer' THEN
            outputs := outputs || format('(SELECT max(u) FROM generate_series(1, 9) u WHERE u <= count(%s)) AS o', (oracle.column_with(cols, '')).name);
        ELSIF shape = 'semi' THEN
            outputs := outputs || ARRAY['max(id) AS m'];
        ELSIF shape = 'window' THEN
            outputs := outputs || ARRAY['rank() OVER (ORDER BY count(*) DESC) AS w1', 'sum(count(*)) OVER (PARTITION BY min(id) % 3) AS w2'];
        END IF;
        IF random() < 0.15 AND shape <> 'keys' THEN
            kept := ' HAVING ' || oracle.pick(ARRAY['count(*) > 2', 'min(id) % 2 = 0', CASE WHEN arrival THEN 'avg(c1) > 3' ELSE 'percentile_disc(0.5) WITHIN GROUP (ORDER BY c1) > 3' END, format('count(%s) FILTER (WHERE id %% 2 = 0) > 1', (oracle.column_with(cols, '')).name)]);
        END IF;
        query := format('SELECT %s FROM %s%s%s', array_to_string(outputs, ', '), source,
                        CASE WHEN keys = '{}' THEN '' WHEN shape = 'sets' THEN ' GROUP BY ' || format(oracle.pick(ARRAY['ROLLUP (%s)', 'CUBE (%s)', 'GROUPING SETS ((%s), ())']), array_to_string(keys[1:3], ', '))
                             || concat(', ' || nullif(array_to_string(keys[4:], ', '), '')) ELSE ' GROUP BY ' || array_to_string(keys, ', ') END, kept);
    END IF;
    IF shape IN ('group', 'keys', 'outer', 'window', 'distinct') AND NOT fails AND random() < 0.25 THEN
        ordered := true;
        names := array_to_string(ARRAY(SELECT format('k%s%s', i, oracle.pick(ARRAY['', ' DESC', ' NULLS FIRST'])) FROM generate_series(1, cardinality(keys)) i), ', ');
        query := format('%s ORDER BY %s%s%s', query, CASE WHEN shape IN ('group', 'outer') AND random() < 0.3 THEN 'count(*) DESC, ' ELSE '' END, names, oracle.pick(ARRAY['', ' LIMIT 5', ' LIMIT 20 OFFSET 3']));
    END IF;
    query := CASE shape
        WHEN 'lateral' THEN format(oracle.pick(ARRAY['SELECT p, q.* FROM generate_series(1, 4) p, LATERAL (%s) q', 'SELECT p, q.* FROM generate_series(1, 4) p LEFT JOIN LATERAL (%s) q ON true']), query)
        WHEN 'correlated' THEN format('SELECT p, (%s) AS a1 FROM generate_series(0, 6) p', query)
        WHEN 'nested' THEN format('SELECT left(k1::text, 1) AS k1, count(*), min(a1::text COLLATE "C"), array_agg(a1::text ORDER BY a1::text COLLATE "C") FROM (%s) q GROUP BY 1', query)
        WHEN 'union' THEN format(oracle.pick(ARRAY['%s UNION ALL %s', '%s EXCEPT %s']), query, replace(query, source, source || CASE WHEN conditions = '{}' THEN ' WHERE ' ELSE ' AND ' END || 'id % 2 = 0'))
        WHEN 'cte' THEN format('WITH q AS MATERIALIZED (%s) SELECT q.*, n FROM q, (SELECT count(*) AS n FROM q) c', query)
        WHEN 'rescan' THEN format('SELECT * FROM (VALUES (1), (2)) v LEFT JOIN (%s) q ON true', query)
        WHEN 'semi' THEN format('SELECT id FROM oracle.items t WHERE id IN (SELECT m FROM (%s) q)', query)
        ELSE query END;
END
$$;

-- A sort key, a column or an expression, and how it is shown
CREATE TYPE oracle.sort_key AS (key text, shown text, direction text);
CREATE FUNCTION oracle.random_sort_key(cols oracle.col[]) RETURNS oracle.sort_key LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c oracle.col := oracle.column_with(cols, oracle.pick(ARRAY['', 'scalar']));
    k record;
BEGIN
    IF random() < 0.33 THEN
        k := oracle.random_key(cols, false);
        c.name := k.key;
        c.shown := k.shown;
    END IF;
    RETURN ROW(c.name, c.shown, oracle.pick(ARRAY['', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST']));
END
$$;
CREATE FUNCTION oracle.random_sort_keys(cols oracle.col[], most int) RETURNS oracle.sort_key[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    keys oracle.sort_key[] := '{}';
BEGIN
    FOR i IN 1 .. floor(random() * (most + 1))::int LOOP
        keys := keys || oracle.random_sort_key(cols);
    END LOOP;
    RETURN keys;
END
$$;
CREATE FUNCTION oracle.order_by(keys oracle.sort_key[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT string_agg(key || direction, ', ' ORDER BY n) FROM unnest(keys) WITH ORDINALITY u(key, shown, direction, n) $$;
CREATE FUNCTION oracle.shown_keys(keys oracle.sort_key[]) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT coalesce(string_agg(format('%s AS s%s', format(shown, key), n), ', ' ORDER BY n), '1 AS s1') FROM unnest(keys) WITH ORDINALITY u(key, shown, direction, n) $$;

-- A window function, as a column of the query's result.  total: no two rows of a window are equal.
CREATE FUNCTION oracle.random_window_call(cols oracle.col[], total boolean, over text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    call text := oracle.pick(ARRAY['rank()', 'dense_rank()', 'count(*)', 'count({x})', 'sum({x})', 'min({x})', 'max({x})', 'avg({x})'] || CASE WHEN total THEN
        ARRAY['row_number()', 'row_number()', 'lag({x})', 'lag({x}, 2)', 'lag({x}, id % 4)', 'lag({x}, 3, {x})', 'lead({x})', 'lead({x}, 7)', 'lead({x}, -1, NULL)', 'first_value({x})', 'first_value({x})',
              'last_value({x})', 'nth_value({x}, 2)', 'ntile(3)', 'cume_dist()', 'string_agg({x}::text, ''|'')'] END);
    tag text := CASE WHEN call LIKE 'sum%' THEN 'sum' WHEN call LIKE 'avg%' THEN 'number' WHEN call LIKE 'm%' THEN 'minmax' ELSE '' END;
    frame text := oracle.pick(ARRAY['', '', '', ' RANGE UNBOUNDED PRECEDING', ' RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'] || CASE WHEN total THEN
        ARRAY[' ROWS UNBOUNDED PRECEDING', ' ROWS UNBOUNDED PRECEDING', ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW', ' ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING', ' ROWS 5 PRECEDING', ' ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING', ' GROUPS 1 PRECEDING'] END);
    x oracle.col;
BEGIN
    LOOP
        x := oracle.column_with(cols, tag);
        -- the last digits of other sums depend on the order
        EXIT WHEN x.name IS NOT NULL AND NOT (call LIKE 'avg%' AND 'rough' = ANY (x.tags));
    END LOOP;
    IF call ~ '^(count|sum|min|max|avg)' AND random() < 0.2 THEN
        call := call || ' FILTER (WHERE id % 3 > 0)';
    END IF;
    RETURN format(CASE tag WHEN '' THEN '%s' ELSE x.shown END, format('%s OVER (%s%s)', replace(call, '{x}', x.name), over, frame));
END
$$;

-- A query for the first rows of partitions, for all rows in order, or for functions of windows.  id decides between
-- equal rows; where it does not, only the keys are shown, or what does not depend on the order of equal rows.
CREATE FUNCTION oracle.random_order_query(cols oracle.col[], way text, OUT query text, OUT ordered boolean) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    shape text := oracle.pick(ARRAY['ranked', 'ranked', 'ranked', 'first', 'first', 'sorted', 'sorted', 'windows', 'windows']);
    total boolean := random() < 0.7;
    wrap text := oracle.pick(ARRAY['', '', '', 'lateral', 'rescan', 'cte', 'union'] || CASE WHEN total OR shape = 'windows' THEN ARRAY['semi'] END);
    source text := oracle.pick(ARRAY['oracle.items', 'oracle.items', 'oracle.items', 'oracle.items LEFT JOIN (SELECT id AS other, c1 AS c1_other FROM oracle.items WHERE id < 40) j ON j.other = id % 50',
        '(SELECT * FROM oracle.items ORDER BY id LIMIT 300) s', '(SELECT * FROM oracle.items WHERE id % 2 = 0 UNION ALL SELECT * FROM oracle.items WHERE id % 2 = 1) s', 'oracle.seen',
        oracle.joined(cols, way = 'prepared'), oracle.joined(cols, way = 'prepared'), oracle.joined(cols, way = 'prepared')]);
    shown text := format('id, %s, %s', (oracle.column_with(cols, '')).name || ' AS s1', format(oracle.pick(ARRAY['%s', '%s', '%s IS NULL', 'concat(%s, id)']), (oracle.column_with(cols, '')).name) || ' AS s2');
    function text := oracle.pick(ARRAY['row_number', 'row_number', 'rank', 'dense_rank']);
    keys oracle.sort_key[] := oracle.random_sort_keys(cols, 3);
    partitions oracle.sort_key[] := '{}';
    conditions text[] := '{}';
    partition_by text;
BEGIN
    -- what is above windows may have their rows as columns, if all of them are simple
    IF shape = 'windows' AND random() < 0.6 THEN
        wrap := oracle.pick(ARRAY['filtered', 'resorted', 'grouped']);
        shown := 'id';
    END IF;
    FOR i IN 1 .. oracle.pick(ARRAY[0, 1, 1, 1, 1, 2, 3]) LOOP
        partitions := partitions || (SELECT ROW(k.key, k.shown, oracle.pick(ARRAY['', ' DESC', ' NULLS FIRST']))::oracle.sort_key FROM oracle.random_key(cols, false) k);
    END LOOP;
    IF total AND (shape <> 'ranked' OR function = 'row_number' OR random() < 0.5) THEN
        keys := keys || ROW('id', '%s', oracle.pick(ARRAY['', '', ' DESC']))::oracle.sort_key;
    ELSIF NOT total AND shape <> 'windows' THEN
        shown := oracle.shown_keys(CASE shape WHEN 'sorted' THEN keys ELSE partitions || keys END);
    END IF;
    IF random() < 0.3 THEN
        conditions := conditions || format(oracle.pick(ARRAY['id %% 5 <> 2', '%s IS NOT NULL', 'id < 20', 'id < 0']), (oracle.column_with(cols, '')).name);
    END IF;
    conditions := conditions || CASE WHEN way = 'prepared' THEN ARRAY['id % 7 <> $1'] END || CASE WHEN wrap = 'lateral' THEN ARRAY['id % (p + 1) = 0'] END;
    source := source || concat(' WHERE ' || nullif(array_to_string(conditions, ' AND '), ''));
    partition_by := array_to_string(ARRAY(SELECT key FROM unnest(partitions)), ', ');
    ordered := shape IN ('first', 'sorted') AND wrap = '';
    IF shape = 'ranked' THEN
        query := format('SELECT * FROM (SELECT %s, %s() OVER (%s%s) AS rn FROM %s) w WHERE %s', shown, function, 'PARTITION BY ' || nullif(partition_by, ''),
                        ' ORDER BY ' || oracle.order_by(keys), source,
                        oracle.pick(ARRAY['rn <= 1', 'rn = 1', 'rn <= 3', 'rn < 3', '4 >= rn', 'rn BETWEEN 2 AND 5', 'rn <= 3 AND s1 IS NOT NULL', 'rn <= 40', 'rn <= 100000', 'rn < 7::int8 AND rn <> 3']));
    ELSIF shape = 'first' AND partitions <> '{}' THEN
        query := format('SELECT DISTINCT ON (%s) %s FROM %s ORDER BY %s%s', partition_by, shown, source, oracle.order_by(partitions || keys),
                        oracle.pick(ARRAY['', '', ' LIMIT 5', ' LIMIT 20 OFFSET 3']));
    ELSIF shape = 'windows' THEN
        FOR i IN 1 .. oracle.pick(ARRAY[1, 1, 2, 2, 3, 4]) LOOP
            -- sometimes of a window of the same partitions, without the order
            shown := format('%s, %s AS w%s', shown, CASE WHEN random() < 0.25 THEN oracle.random_window_call(cols, false, coalesce('PARTITION BY ' || nullif(partition_by, ''), ''))
                            ELSE oracle.random_window_call(cols, total, concat('PARTITION BY ' || nullif(partition_by, ''), ' ORDER BY ' || oracle.order_by(keys))) END, i);
        END LOOP;
        query := format('SELECT %s FROM %s', shown, source);
    ELSE
        shown := CASE WHEN total THEN shown ELSE oracle.shown_keys(keys) END;
        query := format('SELECT %s FROM %s%s%s', shown, source, ' ORDER BY ' || oracle.order_by(keys),
                        oracle.pick(ARRAY['', '', '', ' LIMIT 1', ' LIMIT 20 OFFSET 3', ' LIMIT 500', ' LIMIT 3000', ' OFFSET 2']));
    END IF;
    query := CASE wrap
        WHEN 'lateral' THEN format('SELECT p, q.* FROM generate_series(1, 4) p LEFT JOIN LATERAL (%s) q ON true', query)
        WHEN 'rescan' THEN format('SELECT * FROM (VALUES (1), (2)) v LEFT JOIN (%s) q ON true', query)
        WHEN 'cte' THEN format('WITH q AS MATERIALIZED (%s) SELECT q.*, n FROM q, (SELECT count(*) AS n FROM q) c', query)
        WHEN 'union' THEN format('(%s) UNION ALL (%s)', query, query)
        WHEN 'semi' THEN format('SELECT id FROM oracle.items t WHERE id IN (SELECT id FROM (%s) q)', query)
        WHEN 'filtered' THEN format('SELECT * FROM (%s) q WHERE id %% 3 <> 1', query)
        WHEN 'resorted' THEN format('SELECT * FROM (%s) q WHERE w1 IS NOT NULL ORDER BY id', query)
        WHEN 'grouped' THEN format('SELECT id %% 7 AS k1, count(*) AS a1, count(w1) AS a2, sum(id) AS a3, min(w1::text COLLATE "C") AS a4 FROM (%s) q GROUP BY 1', query)
        ELSE query END;
END
$$;

-- The table of a trial, and a view of it whose columns are expressions
CREATE FUNCTION oracle.make_items(n int, OUT cols oracle.col[], OUT description text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wanted text[] := ARRAY['int', 'number', 'text', '', '', '', '', ''];
    partitions text := oracle.pick(ARRAY['', '', '', '', '', 'LIST (c1)', 'RANGE (c1)', 'HASH (id)']);
    k oracle.kinds;
    late boolean := random() < 0.2;
    made text;
    seen text[] := '{id}';
BEGIN
    FOR i IN 1 .. cardinality(wanted) LOOP
        k := oracle.pick(ARRAY(SELECT t FROM oracle.kinds t WHERE wanted[i] = '' OR wanted[i] = ANY (string_to_array(t.tags, ' ')) ORDER BY t.kind COLLATE "C"));
        made := oracle.pick(ARRAY['floor(random() * %s)', 'floor(random() * %s)', 'floor(random() ^ 4 * %s)', 'floor(i::float8 / ' || n + 1 || ' * %s)']);
        made := format('(SELECT CASE WHEN chance < %s THEN NULL WHEN special < %s THEN (%L::text[])[1 + floor(which * %s)::int]::%s ELSE %s END
                         FROM (SELECT random() AS chance, random() AS special, random() AS which, %s::bigint + 0 * i AS k OFFSET 0) r)',
                       oracle.pick(ARRAY[0, 0, 0.01, 0.2, 0.9]), oracle.pick(ARRAY[0, 0, 0.02, 0.3]), k.special, cardinality(k.special), k.type, k.make,
                       format(made, oracle.pick(ARRAY[1, 2, 7, 30, 30, 300, 300, n + 1, 1099511627776])));
        seen := seen || format(oracle.pick(ARRAY['%1$s', 'coalesce(%1$s, %2$s)', 'CASE WHEN id %% 3 > 0 THEN %1$s END', '%2$s']) || ' AS %1$s', 'c' || i, format('%L::%s', k.special[1], k.type));
        cols := cols || ROW('c' || i, k.type, made, string_to_array(k.tags, ' '), k.shown)::oracle.col;
    END LOOP;
    PERFORM set_config('client_min_messages', 'warning', true);
    DROP VIEW IF EXISTS oracle.seen;
    DROP TABLE IF EXISTS oracle.items;
    EXECUTE format('CREATE %s TABLE oracle.items (id int, gone text, %s) %s', CASE WHEN partitions = '' THEN 'UNLOGGED' ELSE '' END,
                   array_to_string(ARRAY(SELECT format('%s %s', name, type) FROM unnest(cols)), ', '), 'PARTITION BY ' || nullif(partitions, ''));
    IF partitions LIKE 'HASH%' THEN
        CREATE TABLE oracle.items_1 PARTITION OF oracle.items FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE oracle.items_2 PARTITION OF oracle.items FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    ELSIF partitions <> '' THEN
        EXECUTE 'CREATE TABLE oracle.items_1 PARTITION OF oracle.items FOR VALUES ' || CASE WHEN partitions LIKE 'LIST%' THEN 'IN (NULL, 0, 1, 2, -1)' ELSE 'FROM (-5) TO (10)' END;
        CREATE TABLE oracle.items_2 PARTITION OF oracle.items DEFAULT;
    END IF;
    IF random() < 0.2 THEN
        ALTER TABLE oracle.items ALTER c3 SET STORAGE EXTERNAL;
    END IF;
    EXECUTE format('INSERT INTO oracle.items SELECT %s, ''gone'', %s FROM generate_series(1, %s) i', oracle.pick(ARRAY['i', '(i * 7919::bigint % 200003)::int']),
                   array_to_string(ARRAY(SELECT make FROM unnest(cols)), ', '), n);
    IF late THEN
        ALTER TABLE oracle.items DROP gone, ADD late int DEFAULT 7;
        seen := seen || '{late}'::text[];
        cols := cols || ROW('late', 'int4', '', '{int,sum,avg,stats,minmax,number,plain,scalar}', '%s')::oracle.col;
    END IF;
    EXECUTE format('CREATE VIEW oracle.seen AS SELECT %s FROM oracle.items', array_to_string(seen, ', '));
    made := oracle.pick(ARRAY['', '', '', 'c1', 'c1, id', 'id']);
    IF made <> '' THEN
        EXECUTE format('CREATE INDEX ON oracle.items (%s)', made);
    END IF;
    IF random() < 0.7 THEN
        ANALYZE oracle.items;
    END IF;
    description := format('%s rows of %s, partitions %s, index %s', n, array_to_string(ARRAY(SELECT type FROM unnest(cols)), ' '), partitions, made);
END
$$;

-- A row to compare: long ones as their beginning and a hash, since an array has one gigabyte at most.
CREATE FUNCTION oracle.shorter(line text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(line) > 1000 THEN left(line, 300) || '…' || md5(line) ELSE line END $$;

-- The rows of a query as text, or its error.  What it sets and makes is undone.
CREATE FUNCTION oracle.answer(query text, way text, settings text[], OUT lines text[], OUT plan text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    setting text;
    line text;
    c refcursor;
    r record;
BEGIN
    DEALLOCATE ALL;
    lines := '{}';
    plan := '';
    BEGIN
        FOREACH setting IN ARRAY settings LOOP
            PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
        END LOOP;
        IF way IN ('prepared', 'generic') THEN
            EXECUTE format('PREPARE prepared %s AS %s', CASE way WHEN 'prepared' THEN '(int)' END, query);
        END IF;
        -- plans of cursors are others: they are to return their first rows early
        FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || CASE way WHEN 'prepared' THEN 'EXECUTE prepared (3)' WHEN 'generic' THEN 'EXECUTE prepared' WHEN 'cursor' THEN 'DECLARE explained SCROLL CURSOR FOR ' || query
                                                      WHEN 'early' THEN 'DECLARE explained NO SCROLL CURSOR FOR ' || query ELSE query END LOOP
            CONTINUE WHEN line ~ '^ *Output: ';
            plan := plan || line || E'\n';
        END LOOP;
        CASE way
            WHEN 'rows' THEN
                EXECUTE format('SELECT ARRAY(SELECT oracle.shorter(q::text) FROM (%s) q)', query) INTO lines;
            WHEN 'table', 'insert', 'generic' THEN
                EXECUTE format('CREATE TEMP TABLE got ON COMMIT DROP AS %s %s', CASE WHEN way = 'generic' THEN 'EXECUTE prepared' ELSE query END, CASE WHEN way = 'insert' THEN 'WITH NO DATA' END);
                IF way = 'insert' THEN
                    EXECUTE 'INSERT INTO got ' || query;
                END IF;
                EXECUTE 'SELECT ARRAY(SELECT oracle.shorter(got::text) FROM got)' INTO lines;
            WHEN 'prepared' THEN
                FOR i IN 1 .. 7 LOOP
                    FOR r IN EXECUTE format('EXECUTE prepared (%s)', i) LOOP
                        lines := lines || oracle.shorter(r::text);
                    END LOOP;
                END LOOP;
            WHEN 'cursor' THEN
                OPEN c SCROLL FOR EXECUTE query;
                FOR i IN 1 .. 2 LOOP
                    LOOP
                        FETCH c INTO r;
                        EXIT WHEN NOT FOUND;
                        lines := lines || oracle.shorter(r::text);
                    END LOOP;
                    LOOP
                        FETCH PRIOR FROM c INTO r;
                        EXIT WHEN NOT FOUND;
                        lines := lines || oracle.shorter(r::text);
                    END LOOP;
                    MOVE ABSOLUTE 0 FROM c;
                END LOOP;
            WHEN 'early' THEN
                OPEN c NO SCROLL FOR EXECUTE query;
                FOR i IN 1 .. 3 LOOP
                    FETCH c INTO r;
                    lines := lines || FOUND::text;
                END LOOP;
        END CASE;
        RAISE SQLSTATE 'MG000';
    EXCEPTION
        WHEN SQLSTATE 'MG000' THEN NULL;
        WHEN others THEN lines := ARRAY[concat_ws(' ', 'error', SQLSTATE, CASE WHEN SQLSTATE LIKE 'XX%' THEN SQLERRM END)];
    END;
END
$$;

-- The table of a trial, made in a transaction of its own, so that it can be vacuumed before the queries
CREATE TABLE oracle.trial (cols oracle.col[], description text);
CREATE FUNCTION oracle.start_queries(seed int, most int) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM setseed((seed % 1000000) / 1000000.0);
    DELETE FROM oracle.trial;
    INSERT INTO oracle.trial SELECT * FROM oracle.make_items(oracle.random_length(least(most, oracle.pick(ARRAY[300, 1000, 2000, 6000]))));
END
$$;

-- One trial; all of it follows from the seed and the setting.  '' or what is wrong.
CREATE FUNCTION oracle.try_query(seed int, most int, gpu boolean, OUT description text, OUT wrong text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    cols oracle.col[];
    style text;
    way text;
    our_way text;
    settings text[];
    q record;
    core record;
    ours record;
    queries int := 0;
    nodes int := 0;
    columns int := 0;
BEGIN
    -- loads the library
    PERFORM mgpu_sort(ARRAY[1]), setseed((seed % 1000000) / -1000000.0), set_config('jit', 'off', true);
    SELECT * INTO cols, description FROM oracle.trial;
    wrong := '';
    FOR i IN 1 .. 6 LOOP
        style := oracle.pick(ARRAY['open', 'open', 'arrival']);
        way := oracle.pick(ARRAY['rows', 'rows', 'rows', 'table', 'table', 'insert', 'prepared', 'cursor', 'early']);
        IF style = 'open' AND random() < 0.5 THEN
            SELECT * INTO q FROM oracle.random_order_query(cols, way);
        ELSE
            SELECT * INTO q FROM oracle.random_query(cols, style, way);
        END IF;
        settings := ARRAY['work_mem=' || oracle.pick(ARRAY['64kB', '64kB', '4MB', '1GB']), 'hash_mem_multiplier=' || oracle.pick(ARRAY['1', '2']),
                          'mgpu.executor=' || oracle.pick(ARRAY['cpu', 'auto', CASE WHEN gpu THEN 'gpu' ELSE 'cpu' END]), 'plan_cache_mode=' || oracle.pick(ARRAY['auto', 'force_generic_plan'])];
        IF style = 'arrival' THEN
            settings := settings || '{enable_sort=off,enable_incremental_sort=off,enable_indexscan=off,enable_indexonlyscan=off,enable_bitmapscan=off,max_parallel_workers_per_gather=0}'::text[];
        ELSE
            settings := settings || format(oracle.pick(ARRAY['enable_hashagg=%s', 'enable_sort=%s', 'enable_nestloop=%s', 'enable_seqscan=%s', 'enable_hashjoin=%s', 'enable_incremental_sort=%s', 'enable_memoize=%s']), 'off')
                     || format(oracle.pick(ARRAY['enable_material=%s', 'enable_hashagg=%s', 'enable_partitionwise_aggregate=%s']), oracle.pick(ARRAY['on', 'off']));
            IF q.query LIKE '% b ON %' AND random() < 0.8 OR random() < 0.2 THEN
                -- a Gather that looks cheap may be started anew for each row of a nested loop
                settings := settings || '{enable_nestloop=off,max_parallel_workers_per_gather=2,parallel_setup_cost=0,parallel_tuple_cost=0,min_parallel_table_scan_size=0,min_parallel_index_scan_size=0}'::text[]
                    || CASE WHEN random() < 0.3 THEN CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'force_parallel_mode=on' ELSE 'debug_parallel_query=on' END ELSE 'enable_parallel_append=on' END;
            ELSE
                settings := settings || 'max_parallel_workers_per_gather=0'::text;
            END IF;
        END IF;
        SELECT * INTO core FROM oracle.answer(q.query, way, settings || '{mgpu.enable_group=off,mgpu.enable_top=off,mgpu.enable_sort=off,mgpu.enable_scan=off,mgpu.enable_not_in=off,mgpu.enable_correlated=off,mgpu.enable_hashed_loops=off}'::text[]);
        core.lines := CASE WHEN q.ordered THEN core.lines ELSE ARRAY(SELECT l FROM unnest(core.lines) l ORDER BY l COLLATE "C") END;
        settings := settings || '{mgpu.enable_group=force,mgpu.enable_top=force,mgpu.enable_sort=force}'::text[] || ('mgpu.enable_scan=' || oracle.pick(ARRAY['on', 'force', 'off'])) || oracle.pick(ARRAY['mgpu.enable_threads=off', 'mgpu.cpu_threads=1', 'mgpu.cpu_threads=2', 'mgpu.cpu_threads=5']) || CASE WHEN random() < 0.1 THEN '{debug_print_plan=on,log_min_messages=fatal}'::text[] END;
        FOREACH our_way IN ARRAY ARRAY[way] || CASE WHEN way IN ('rows', 'table') THEN ARRAY['generic'] END LOOP
            SELECT * INTO ours FROM oracle.answer(q.query, our_way, settings);
            -- core's Sort has the groups' keys alone, say where they cannot be hashed: the order of arrival is lost
            CONTINUE WHEN style = 'arrival' AND EXISTS (SELECT FROM unnest(ARRAY[core.plan, ours.plan]) p WHERE p ~ '(Group|GroupAggregate|Unique)\n.*-> +Sort\n( +Disabled: true\n)? +Sort Key: (?![^\n]*\mid( DESC)?\n)');
            IF our_way = way THEN
                queries := queries + 1;
                nodes := nodes + (ours.plan LIKE '%(Mgpu%')::int;
                columns := columns + (ours.plan LIKE '%pages as columns%')::int;
            END IF;
            ours.lines := CASE WHEN q.ordered THEN ours.lines ELSE ARRAY(SELECT l FROM unnest(ours.lines) l ORDER BY l COLLATE "C") END;
            -- where plans are free, so is the error that comes first
            CONTINUE WHEN style = 'open' AND core.lines[1] LIKE 'error %' AND ours.lines[1] LIKE 'error %' AND ours.lines[1] NOT LIKE 'error XX%';
            IF ours.lines IS DISTINCT FROM core.lines OR ours.lines[1] LIKE 'error XX%' THEN
                description := format('%s; query %s, %s, %s, %s: %s', description, i, style, our_way, array_to_string(settings, ' '), q.query);
                wrong := format('query %s: %s rows, not %s; %s', i, cardinality(ours.lines), cardinality(core.lines),
                                (SELECT format('row %s is %s, not %s', n, left(o, 300), left(c, 300)) FROM unnest(ours.lines, core.lines) WITH ORDINALITY u(o, c, n) WHERE o IS DISTINCT FROM c OR o LIKE 'error XX%' LIMIT 1));
                EXIT;
            END IF;
        END LOOP;
        EXIT WHEN wrong <> '';
    END LOOP;
    description := replace(format('node in %s, columns in %s of %s queries; %s', nodes, columns, queries, description), E'\n', ' ');
    wrong := translate(wrong, E'|\n', '! ');
    IF wrong = '' THEN
        DROP VIEW oracle.seen;
        DROP TABLE oracle.items;
    END IF;
END
$$;
