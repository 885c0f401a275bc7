--
-- Expressions that run as programs: each function that has an operation, over values of all kinds, beside PostgreSQL's own
--
\set ECHO none
\i test/plan_check.sql
\set ECHO all
SELECT mgpu_sort(ARRAY[1]);
SET max_parallel_workers_per_gather = 0;
SET mgpu.enable_sort = force;
SET timezone = 'America/New_York';
CREATE TYPE program_mood AS ENUM ('low', 'fair', 'high');
-- values of each type that functions take
CREATE TABLE program_values (type regtype, stored text, value text[]);
INSERT INTO program_values VALUES
    ('bool', 'bool', '{t,f,NULL}'),
    ('int2', 'int2', '{0,1,-1,2,7,-7,181,-182,32767,-32768,NULL}'),
    ('int4', 'int4', '{0,1,-1,2,7,-7,46340,-46341,2147483647,-2147483648,32768,NULL}'),
    ('int8', 'int8', '{0,1,-1,2,7,-7,3037000499,-3037000500,9223372036854775807,-9223372036854775808,2147483648,-2147483649,NULL}'),
    ('float4', 'float4', '{0,-0,1,-1,0.1,2.5,3.5,-2.5,1e10,-1e10,3.4028235e38,-3.4028235e38,1e-45,1.1754944e-38,NaN,Infinity,-Infinity,32767.5,16777217,NULL}'),
    ('float8', 'float8', '{0,-0,1,-1,0.1,2.5,3.5,-2.5,1e10,-1e10,1e200,-1e200,1e-200,5e-324,1.7976931348623157e308,NaN,Infinity,-Infinity,2147483647.5,-2147483648.5,9223372036854775807,-9223372036854775808,3.4028236e38,1e-46,NULL}'),
    ('numeric', 'numeric(14,2)', '{0,1,-1,0.01,-0.01,0.5,-0.5,1.50,2.5,-2.5,99.99,1234567.89,-1234567.89,99999999999.99,-99999999999.99,10000,100000000,NaN,NULL}'),
    ('text', 'text COLLATE "C"', '{"",a,b,ab,abc,"a ",%,_,a%c,ä,äöü€𝄞,zzzz,"abcabc",NULL}'),
    ('bpchar', 'char(5) COLLATE "C"', '{"",a,b,ab,abc,"a ","ä",zzzzz,NULL}'),
    ('bytea', 'bytea', '{"\\\\x","\\\\x00","\\\\x61","\\\\x6162","\\\\xff","\\\\x0001",NULL}'),
    ('uuid', 'uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,12345678-9abc-def0-1234-56789abcdef0,12345678-9abc-def0-1234-56789abcdef1,NULL}'),
    ('inet', 'inet', '{0.0.0.0/0,0.0.0.0,10.0.0.0/8,10.0.0.0,10.1.2.3/8,10.1.0.0/16,10.1.2.3/16,10.1.2.3,10.1.2.2/31,10.1.2.3/31,128.0.0.0/1,192.168.1.7/25,255.255.255.255,255.255.255.255/0,172.16.0.1/12,::/0,::,::1,::1/0,::a01:203,::ffff:10.1.2.3,::fffe:10.1.2.3,2001:db8::/32,2001:db8::1/32,2001:db8:0:1:1:0:0:1/64,2001:0:0:1::1/127,fe80::1:0:0:0/10,1:2:3:4:5:6:7:8/63,1:2:3:4:5:6:7:0/112,0:0:1::,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/65,NULL}'),
    ('cidr', 'cidr', '{0.0.0.0/0,0.0.0.0/32,10.0.0.0/8,10.1.0.0/16,10.1.2.2/31,10.1.2.3/32,128.0.0.0/1,255.255.255.255/32,::/0,::/128,::1/128,2001:db8::/32,2001:db8:0:1::/64,::ffff:10.1.2.0/120,ffff:ffff:ffff:ffff:8000::/65,NULL}'),
    ('jsonb', 'jsonb', (SELECT array_agg(d) || NULL FROM (VALUES ('{}'), ('[]'), ('["a"]'), ('"a"'), ('5'), ('null'), ('{"a": "x", "b": "", "ab": null, "abc": true, "": "empty", "ä": false, "a ": "blank"}'), ('{"a": {"b": "c"}, "b": [1], "ab": 5, "zzzz": -1.50, "%": 1e100}'),
        ((SELECT jsonb_object_agg(repeat('k', i), repeat('v', i * 7)) || '{"a": "last", "zzzz": "z"}' FROM generate_series(1, 70) i)::text), ((SELECT jsonb_object_agg('key' || i, i) || '{"ab": "among many", "_": null}' FROM generate_series(1, 100) i)::text)) t(d))),
    ('anyarray', 'text[] COLLATE "C"', ARRAY['{}', '{a}', '{a,b}', '{b,NULL}', '{NULL}', '{ab,"a ",""}', '[2:3]={a,b}', '{{a,b},{c,d}}', '{ä,a%c,zzzz,abcabc,a,a}', NULL]),
    ('anyrange', 'daterange', '{empty,"(,)","[2024-01-01,)","(,2024-01-01)","[2024-01-01,2024-01-02)","[2024-01-02,2024-03-01)","[2023-12-01,2024-01-01)","[2023-12-31,2024-01-05)","[2024-01-05,infinity)","[2024-01-05,infinity]","(infinity,)","[infinity,)","[-infinity,2024-01-01)","(-infinity,2024-01-02)","(,-infinity]","[-infinity,-infinity]",NULL}'),
    ('anyelement', 'date', '{2024-01-01,2024-01-02,2023-12-31,2024-01-05,2024-03-01,infinity,-infinity,"0044-03-15 BC",NULL}'),
    ('"char"', '"char"', '{"",a,b,B,~,ä,NULL}'),
    ('oid', 'oid', '{0,1,2,2147483647,2147483648,4294967295,NULL}'),
    ('money', 'money', '{0,1,-1,92233720368547758.07,-92233720368547758.08,12.34,NULL}'),
    ('anyenum', 'program_mood', '{low,fair,high,NULL}'),
    ('date', 'date', '{2000-01-01,1999-12-31,2024-02-29,2023-03-12,2024-11-03,1969-12-31,0001-01-01,9999-12-31,10000-01-01,"0044-03-15 BC",infinity,-infinity,2021-01-03,2020-12-28,NULL}'),
    ('time', 'time', '{00:00,12:34:56.789,23:59:59.999999,24:00,NULL}'),
    ('timestamp', 'timestamp', '{2000-01-01,1999-12-31 23:59:59.999999,2024-02-29 12:34:56.789,2023-03-12 02:30,2024-11-03 01:30,1969-12-31 23:59,0001-01-01,9999-12-31 23:59:59.999999,"0044-03-15 BC",294276-12-31 23:59:59.999999,infinity,-infinity,2021-01-03 05:00,2020-12-31 18:00,2024-06-15 08:00:30,NULL}'),
    ('timestamptz', 'timestamptz', '{2000-01-01 UTC,1999-12-31 23:59:59.999999 UTC,2024-02-29 12:34:56.789 UTC,2023-03-12 06:59:59 UTC,2023-03-12 07:00 UTC,2024-11-03 05:30 UTC,2024-11-03 06:30 UTC,1969-12-31 23:59 UTC,1970-01-01 UTC,2099-12-31 UTC,2150-07-01 UTC,0001-01-01 UTC,infinity,-infinity,2021-01-04 03:00 UTC,2024-06-15 08:00:30 UTC,NULL}');
CREATE TABLE program_args ();
-- calls of a function: its arguments are the columns a, b and c, unless they have to be constants
CREATE FUNCTION pg_temp.calls_of(function regprocedure) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    bare text = (SELECT proname FROM pg_proc WHERE oid = function);
    name text = format('pg_catalog.%I', bare);
    types regtype[] = (SELECT string_to_array(proargtypes::text, ' ')::oid[]::regtype[] FROM pg_proc WHERE oid = function);
BEGIN
    IF bare ~ '(regex(eq|ne)|regexp_like)$' THEN
        RETURN QUERY SELECT format('%s(a, %L)', name, p) FROM unnest('{"",a,"^a","c$","^$",.,"^.{3}$","[^a-z]","(ab)+$","\\w\\s","\\d","(a)b\\1","ä|z","[à-ü]{2}","(?i)AB","a.*c","x*","^(?!a)","[[:alpha:]]%"}'::text[]) p;
    ELSIF bare = 'regexp_replace' OR (bare = 'substring' AND types[2] = 'text'::regtype) THEN
        RETURN QUERY SELECT format('%s(%s)', name, concat_ws(', ', 'a', quote_literal(p), CASE WHEN bare <> 'substring' THEN quote_literal(r) END, CASE WHEN cardinality(types) = 4 THEN quote_literal('gi') END))
            FROM unnest('{"",b,"(a)b?","^(.)(.*)$",x*,"(.*?)c","[^A]+$","ä|z","(ab)+","(.)\\1","(a|)(b|c)"}'::text[]) p, unnest(CASE WHEN bare = 'substring' THEN '{""}' ELSE '{"",x,"<\\1\\2>","\\&\\&\\\\"}' END::text[]) r;
    ELSIF bare ~ 'like$' THEN
        RETURN QUERY SELECT format('%s(a, %L)', name, p) FROM unnest('{"","%","_","a%","%a","%b%","a_c","_bc","%c_","%_%","__","%_%_","%abc%abc","a%b%c","a\\%c","\\_","ä%","_ö%€_","%%","\\\\%","A%","%BC","Ä%"}'::text[]) p;
    ELSIF bare = 'set_masklen' THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, n) FROM unnest('{-1,0,1,8,12,24,31,32,33,64,127,128,129,-2,NULL}'::text[]) n;
    ELSIF bare = 'array_length' THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, n) FROM unnest('{1,0,2}'::int[]) n;
    ELSIF bare ~ '^array' THEN
        RETURN QUERY SELECT format(CASE WHEN bare = 'arraycontained' THEN '%s(%2$L, a)' ELSE '%s(a, %2$L)' END, name, c) FROM unnest(ARRAY['{a}', '{a,b}', '{ä}', '{NULL}', '{a,NULL}', '{}', '{"",ab}', '{{a},{b}}']) c;
    ELSIF bare = 'jsonb_extract_path_text' THEN
        RETURN QUERY SELECT format('%s(a, VARIADIC %L)', name, p) FROM unnest(ARRAY['{a}', '{a,b}', '{b,0}', '{0}', '{-1}', '{b," 0"}', '{ab,0}', '{key7}', '{}', '{a,NULL}', '{zzzz}', '{b,00}']) p;
    ELSIF bare = 'jsonb_array_element_text' THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, n) FROM unnest('{0,1,-1}'::int[]) n;
    ELSIF bare = 'jsonb_contains' THEN
        RETURN QUERY SELECT format('%s(a, %L)', name, c) FROM unnest(ARRAY['{"a": "x"}', '{"ab": null}', '{"ab": 5.0, "b": [1]}', '{"zzzz": -1.5}', '{"%": 1e100}', '{"key7": 7, "key99": 99.00}', '{}', '[]', '"a"', '{"abc": true, "": "empty"}', '{"ä": true}', '{"a": {"b": "c"}}']) c;
    ELSIF bare ~ '^interval_' THEN
        RETURN QUERY SELECT format('%s(a - b, %L)', name, i) FROM unnest('{0,1 day,-24:00:00,30 min,1 mon,31 days,-1 year 2 days 03:04:05.678901}'::text[]) i;
    ELSIF bare ~ '^(extract|date_part)$' AND types[2] = 'interval'::regtype THEN
        RETURN QUERY SELECT format('%s(%L, %s)', name, u, format(i, quote_literal(t))) FROM unnest('{epoch,day,month,year,hour}'::text[]) u, unnest('{2000-01-01,2024-02-29 12:34:56.789,2021-03-31}'::text[]) t, unnest('{b - %s::timestamp,"age(b, %s::timestamp)","age(%s::timestamp, b)"}'::text[]) i;
    ELSIF bare ~ '(date_trunc|date_part|extract)$' THEN
        RETURN QUERY SELECT format('%s(%L, b)', name, u) FROM unnest('{microsecond,millisecond,second,minute,hour,day,week,month,quarter,year,doy,dow,isodow,epoch}'::text[]) u;
    ELSIF bare = 'timezone' THEN
        RETURN QUERY SELECT format('%s(%L, b)', name, z) FROM unnest('{UTC,Europe/Berlin,America/New_York,Asia/Kolkata,Australia/Lord_Howe,EST,nowhere}'::text[]) z;
    ELSIF bare ~ 'date_bin$' THEN
        RETURN QUERY SELECT format('%s(%L, b, %L)', name, s, o) FROM unnest('{15 min,1 day 3 hours,7 days,0.000001 s}'::text[]) s, unnest('{2000-01-01,1970-01-01 00:00:07,2024-01-01}'::text[]) o;
    ELSIF bare ~ '_(pl|mi)_interval$' THEN
        RETURN QUERY SELECT format('%s(a, %L)', name, i) FROM unnest('{1 hour,-90 min,1 day,0,0.000001 s,36500 days,1 mon,-1 mon 1 day,13 mons -3 days 2 hours,1000 years}'::text[]) i;
    ELSIF bare = 'width_bucket' THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, b) FROM unnest('{"0,100,10","-1,2.5,7","100,0,3","2.50,-2.5,49","0,1e-2,5","-99999.99,99999.99,10000","0,1e13,4","0,0.3,3","1,1,2","0,100,0","0,100,20000","NULL,1,5","0,49,49","100,-1e3,9","1e-300,1e300,3"}'::text[]) b;
    ELSIF bare = 'numeric_div' THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, d) FROM unnest('{100,4,0.5,1024.0,0.001,20.000,12500,0.0625,1,3,-2,0}'::text[]) d;
    ELSIF types[1] = 'numeric'::regtype AND types[2] = 'int4'::regtype THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, CASE WHEN bare ~ 'numeric$' THEN ((12 << 16) | d) + 4 ELSE d END) FROM unnest('{0,1,2,3,5,-1,-3,-12,-20}'::int[]) d WHERE d >= 0 OR bare !~ 'numeric$';
    ELSE
        RETURN QUERY SELECT format('%s(%s)', name, concat_ws(', ', CASE WHEN cardinality(types) > 0 THEN 'a' END, CASE WHEN cardinality(types) > 1 THEN 'b' END, CASE WHEN cardinality(types) > 2 THEN 'c' END));
    END IF;
END
$$;
-- a table of all values of a function's arguments, of those that calls take from columns; ok: PostgreSQL computes it without an error
CREATE FUNCTION pg_temp.make_args(types oid[], calls text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    columns text = '';
    lists text = '';
    chosen text = '';
BEGIN
    DROP TABLE program_args;
    -- intervals are between times
    types := array_replace(types, 'interval'::regtype::oid, 'timestamp'::regtype::oid);
    FOR i IN 1 .. 3 LOOP
        columns := columns || format(', %s %s', substr('abc', i, 1), coalesce((SELECT stored FROM program_values WHERE type = types[i]), 'int4'));
        chosen := chosen || format(', v%s::%s', i, coalesce((SELECT regexp_replace(stored, ' COLLATE.*', '') FROM program_values WHERE type = types[i]), 'int4'));
        lists := lists || format(', unnest(%L::text[]) v%s', coalesce((SELECT CASE WHEN i = 3 THEN value[1:6] ELSE value END FROM program_values WHERE type = types[i] AND calls::text ~ format('\m%s\M', substr('abc', i, 1))), '{NULL}'), i);
    END LOOP;
    EXECUTE format('CREATE TABLE program_args (id int, ok bool%s)', columns);
    EXECUTE format('INSERT INTO program_args SELECT row_number() OVER (), true%s FROM %s', chosen, substr(lists, 3));
END
$$;
-- mostly no row has an error, which one query tells; a row by its place needs no search
CREATE FUNCTION pg_temp.mark_errors(call text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    place tid;
    errors tid[] = '{}';
    result text;
BEGIN
    UPDATE program_args SET ok = true WHERE NOT ok;
    BEGIN
        EXECUTE format('SELECT max(length(%s::text)) FROM program_args', call) INTO result;
        RETURN 0;
    EXCEPTION WHEN OTHERS THEN
        NULL;
    END;
    FOR place IN SELECT ctid FROM program_args LOOP
        BEGIN
            EXECUTE format('SELECT %s::text FROM program_args WHERE ctid = %L', call, place) INTO result;
        EXCEPTION WHEN OTHERS THEN
            errors := errors || place;
        END;
    END LOOP;
    UPDATE program_args SET ok = false WHERE ctid = ANY (errors);
    RETURN cardinality(errors);
END
$$;
CREATE FUNCTION pg_temp.same(query text) RETURNS boolean LANGUAGE sql AS $$
    SELECT pg_temp.answer(query, 'mgpu.enable_sort', 'force', true) = pg_temp.answer(query, 'mgpu.enable_sort', 'off', true)
$$;
CREATE FUNCTION pg_temp.wrong_cast(call text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_temp.mark_errors(call);
    RETURN NOT EXISTS (SELECT FROM program_args WHERE ok AND a IS NOT NULL) OR NOT pg_temp.same(format('SELECT id, %s AS r FROM program_args ORDER BY id', call)) OR NOT pg_temp.same(format('SELECT id, %s AS r FROM program_args WHERE ok ORDER BY id', call));
END
$$;
CREATE FUNCTION pg_temp.try_program(function regprocedure, OUT calls int, OUT rows bigint, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
    call text;
    to_try text[] = ARRAY(SELECT pg_temp.calls_of(function));
    is_bool boolean = (SELECT prorettype = 'bool'::regtype FROM pg_proc WHERE oid = function);
BEGIN
    rows := 0;
    PERFORM pg_temp.make_args((SELECT string_to_array(proargtypes::text, ' ')::oid[] FROM pg_proc WHERE oid = function), to_try);
    calls := cardinality(to_try);
    FOREACH call IN ARRAY to_try LOOP
        IF NOT pg_temp.same(format('SELECT id, %s AS r FROM program_args ORDER BY id', call)) THEN
            wrong := concat(wrong, ' ', call, ': of all');
        END IF;
        PERFORM pg_temp.mark_errors(call);
        rows := rows + (SELECT count(*) FROM program_args WHERE ok);
        IF NOT pg_temp.same(format('SELECT id, %s AS r FROM program_args WHERE ok ORDER BY id', call)) THEN
            wrong := concat(wrong, ' ', call, ': of those without errors');
        END IF;
        IF is_bool AND NOT pg_temp.same(format('SELECT id FROM program_args WHERE ok AND %s ORDER BY id', call)) THEN
            wrong := concat(wrong, ' ', call, ': as a condition');
        END IF;
    END LOOP;
END
$$;
CREATE TABLE program_results AS
SELECT f AS function, t.* FROM unnest(mgpu_program_functions()) f, pg_temp.try_program(f) t;
SELECT function, wrong FROM program_results WHERE wrong IS NOT NULL OR rows = 0;
SELECT count(*) > 250 AS functions, sum(calls) > 500 AS calls, sum(rows) > 20000 AS rows FROM program_results;
-- ranges of other types
CREATE FUNCTION pg_temp.try_ranges(type text, ranges text, element text, elements text) RETURNS TABLE (function regprocedure, wrong text, rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE program_values SET stored = try_ranges.type, value = ranges::text[] WHERE program_values.type = 'anyrange'::regtype;
    UPDATE program_values SET stored = element, value = elements::text[] WHERE program_values.type = 'anyelement'::regtype;
    RETURN QUERY SELECT f, t.wrong, t.rows FROM unnest(mgpu_program_functions()) f, pg_temp.try_program(f) t WHERE (SELECT 'anyrange'::regtype = ANY (string_to_array(proargtypes::text, ' ')::oid[]) FROM pg_proc WHERE oid = f);
END
$$;
CREATE TABLE program_ranges AS
SELECT * FROM pg_temp.try_ranges('int4range', '{empty,"(,)","[1,)","(,1)","[1,2)","[1,3)","(0,1]","[2,3]","[-2147483648,2147483647)","[2147483646,2147483647)",NULL}', 'int4', '{0,1,2,3,-2147483648,2147483646,2147483647,NULL}')
UNION ALL SELECT * FROM pg_temp.try_ranges('int8range', '{empty,"(,)","[1,)","(,1)","[1,2)","[1,3)","[-9223372036854775808,9223372036854775807)","[9223372036854775806,9223372036854775807)","[4294967297,4294967298]",NULL}', 'int8', '{0,1,2,3,-9223372036854775808,9223372036854775806,9223372036854775807,4294967297,NULL}')
UNION ALL SELECT * FROM pg_temp.try_ranges('tsrange', '{empty,"(,)","[2024-01-01,)","(2024-01-01,)","(,2024-01-01)","(,2024-01-01]","[2024-01-01,2024-01-02)","(2024-01-01,2024-01-02]","[2024-01-01,2024-01-02]","(2024-01-01,2024-01-02)","[2024-01-02,2024-01-03)","(2024-01-02,2024-01-03)","[2024-01-01,2024-01-01]","(2024-01-01,2024-01-01 00:00:00.000001)","[2024-01-01 00:00:00.000001,2024-01-02)","[2024-01-02,infinity)","[2024-01-02,infinity]","[infinity,infinity]","(-infinity,2024-01-01]","[-infinity,2024-01-01)",NULL}', 'timestamp', '{2024-01-01,2024-01-02,2024-01-01 00:00:00.000001,2023-12-31,2024-01-03,infinity,-infinity,NULL}')
UNION ALL SELECT * FROM pg_temp.try_ranges('tstzrange', '{empty,"(,)","[2024-01-01,)","(,2024-01-01]","[2024-01-01,2024-01-02)","[2024-03-10 01:30,2024-03-10 03:30)","(2024-01-02,infinity]","(-infinity,2024-01-01)",NULL}', 'timestamptz', '{2024-01-01,2024-01-02,2024-03-10 03:00,infinity,-infinity,NULL}')
UNION ALL SELECT * FROM pg_temp.try_ranges('numrange', '{empty,"[1,2.5)","(,2.5]",NULL}', 'numeric', '{1,2.5,2.50,NaN,NULL}');
SELECT function, wrong FROM program_ranges WHERE wrong IS NOT NULL OR rows = 0;
SELECT count(*) AS functions, sum(rows) > 1000 AS rows FROM program_ranges;
DROP TABLE program_ranges;
-- numerics that each have a scale of their own
UPDATE program_values SET stored = 'numeric', value = '{0,0.00,1,-1.0,0.5,-2.5,1.50,1.5000,99.99,12345678.9,-1234567890123.45,0.00001,1e-20,123456789012345678901234567890,NaN,NULL}' WHERE type = 'numeric'::regtype;
CREATE TABLE program_bare AS
SELECT f AS function, t.* FROM unnest(mgpu_program_functions()) f, pg_temp.try_program(f) t WHERE (SELECT 'numeric'::regtype = ANY (string_to_array(proargtypes::text, ' ')::oid[]) FROM pg_proc WHERE oid = f);
SELECT function, wrong FROM program_bare WHERE wrong IS NOT NULL OR rows = 0;
SELECT count(*) AS functions, sum(rows) > 1000 AS rows FROM program_bare;
DROP TABLE program_results, program_bare, program_args;
-- values that texts have
CREATE TABLE program_args AS SELECT row_number() OVER () AS id, true AS ok, a, a::varchar(40) AS b, a::char(30) AS c, jsonb_build_object('k', a) AS d FROM unnest('{"",-,0,-0,007,"+5",42,-42,1.5,-12.3400,.5,5.,1.2.3,1e5," 1","1 ",32767,32768,-32769,2147483648,9223372036854775799,9223372036854775807,9223372036854775808,922337203685477.5,0.00,0.12345,123456.78,9007199254740993,900719925474.0993,0x10,1_000,NaN,Infinity,
    true,t,f,false,TRUE,tr,yes,no,on,1,2024-02-29,2023-02-29,2024-12-31,2024-13-01,2024-00-01,0000-01-01,0001-01-01,9999-12-31,2024/01/01,20240101,10000-01-01,"2024-02-29 BC",2024-1-2,"2024-01-01 12:34:56",2024-01-01T23:59:59.123456,2024-01-01 12:34:56.,"2024-01-01 12:34:56.1234567","2024-01-01 24:00:00","2024-01-01 12:34:60",
    "2024-01-01 12:34:56Z","2024-01-01 12:34:56z","2024-01-01 12:34:56.5+02","2024-03-10 02:30:00","2024-03-10T02:30:00-05:30",0001-01-01T00:00:00.001-15:59,"9999-12-31 23:59:59.999999-01","2024-01-01 12:34:56+16","2024-01-01 12:34:56+02:60","2024-01-01 12:34:56+2","2024-01-01 12:34:56 +02","2024-01-01 12:34","2024-01-01_12:34:56",now,infinity,NULL}'::text[]) a;
SELECT array_agg(c) AS wrong FROM unnest('{int2,int4,int8,numeric,"numeric(8,2)",float8,float4,bool,date,timestamp,timestamptz,timestamp(0)}'::text[]) c, unnest('{a,b,c,"(d->>''k'')"}'::text[]) v, pg_temp.wrong_cast(format('%s::%s', v, c)) w WHERE w;
DROP TABLE program_args;
-- what is no function: choices, logic, lists, parameters, and what guards what
CREATE TABLE program_rows AS
SELECT i AS id, nullif(i % 7, 3) AS a, i % 5 - 2 AS b, (i % 100 / 8.0)::numeric(8,3) AS n, (i % 50 - 25)::numeric(6,1) AS m, CASE WHEN i % 9 > 0 THEN 'k' || i % 13 END COLLATE "C" AS t,
       CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' ELSE i / 16.0 END::float8 AS f, i % 3 = 0 AS p, nullif(i % 4, 1) = 2 AS q, timestamp '2024-01-01' + i * interval '7 h' AS ts,
       CASE i % 4 WHEN 0 THEN (i % 20)::numeric WHEN 1 THEN i % 20 / 4.0 WHEN 2 THEN (i % 9)::numeric(4,2) ELSE i / 3.0 END AS bare, CASE WHEN i % 6 = 0 THEN 9e15 ELSE i END::numeric(18,2) AS large FROM generate_series(1, 3000) i;
VACUUM ANALYZE program_rows;
CREATE FUNCTION pg_temp.differ(what text[], query text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT w FROM unnest(what) w WHERE NOT pg_temp.same(format(query, w))
$$;
SELECT pg_temp.differ('{"CASE WHEN b <> 0 THEN a / b END","CASE b WHEN 0 THEN -1 WHEN 1 THEN a ELSE a / b END","CASE a % 3 WHEN b THEN t WHEN 0 THEN ''none'' END","CASE WHEN p THEN n WHEN q THEN m END","CASE WHEN p THEN n ELSE 0 END","CASE WHEN p THEN 1.50 WHEN q THEN n * m ELSE NULL END",
    "coalesce(a, b)","coalesce(a, id / b)","coalesce(t, ''none'')","coalesce(n, 0)","nullif(a, b)","nullif(t, ''k3'')","nullif(n, m)","greatest(a, b, 3)","least(a, NULL, b)","floor(n / 3)","ceil(m / 0.7)","round(n / 8, 2)","round(m / 3)","n / 3 > 2","m / 0.7 <= -10","5 < n / 2","n / 8 = 0.25","m / 3 <> 4","bare / 4 >= 1.25","extract(epoch FROM ts - timestamp 2024-01-01) / 3600 > 24","large / 3 < 1000","round(large, -2)","trunc(bare * 30, -1)","round(n, -1) * 2","trunc(m / 3, 1)","(n / 0.5)::int","floor(id / 64.0) * 64","round(id / 64.0)","round(id / -64.0)","floor(extract(epoch FROM ts) / 300)","to_timestamp(floor(extract(epoch FROM ts) / 300) * 300)","floor(bare / 2)","floor(large / 7)","floor(large * 10000 / 3)","greatest(n, m)","greatest(n - 2, 0)","least(n, 5)","least(bare, n, NULL)","greatest(bare, 3, 3.00)","least(3.00, bare, 3)","least(m, -1.0, bare * 2)","greatest(n, m) + 1","greatest(NULL, n)","greatest(f, 7)","least(f, -1, f * 2)","a IS DISTINCT FROM b","t IS NOT DISTINCT FROM ''k1''","f IS DISTINCT FROM ''NaN''","n IS DISTINCT FROM m",
    "p AND q","p OR q","NOT q","b = 0 OR a / b > 1","b <> 0 AND a / b > 1","q IS TRUE","q IS NOT TRUE","q IS FALSE","q IS NOT FALSE","q IS UNKNOWN","q IS NOT UNKNOWN","(a IS NULL)::int","t IS NOT NULL","a IN (1, 2, 5)","a NOT IN (1, 2)","a IN (1, NULL)","a NOT IN (1, NULL)","id IN (1, 5, 7, 9, 100, 200, 300, 400, 500, 600, 700, 3000000000)",
    "t IN (''k1'', ''k5'', ''k12'')","t NOT IN (''k1'', ''k2'')","t = ANY (''{k1,NULL}'')","n IN (1.5, 2, 3.125)","n IN (1.5, 2.00005)","m IN (1, -1.0)","a = ANY (''{}''::int[])","large * large","large + n","n * m * 2","n - m / 4","round(n * m, 2)::numeric(5,1)","sqrt(f)","bare + 1","CASE WHEN bare > 5 THEN n END","bare * n","bare * bare - 1.50","-bare","coalesce(bare, 0.00)","nullif(bare, 3)","bare IN (1, 2.00, 7.5)","bare %% 3","round(bare * 1.55, 1)","bare::float8","bare::int","CASE WHEN p THEN bare WHEN q THEN 0 ELSE n END","abs(bare - 10)","bare::numeric(6,2)","bare = m","bare * large","n / 8","-bare / 4","n * (1 - id / 100.0)","(n / 100 - 1) / 25","round(id * (1 - a / 100.0), 2)","coalesce(n, 0) / 0.5 + b / 1000.0","(large / 100)::float8","large * id / 2","abs(m / 10) * n","CASE WHEN p THEN n / 4 END","CASE WHEN p THEN bare / 10 ELSE n END","n / 4 * (m / 5) * (n / 2) * (m / 8)","n / b","100 / n","nullif(n / 2, 5)","greatest(n / 100, m / 10, 0.05)","(bare / 2)::numeric(8,1)",
    "length(t) + a","t || ''x''","left(t, 2)","t LIKE ''k1%%''","date_trunc(''week'', ts)","extract(epoch FROM ts)","(SELECT max(x) FROM (VALUES (a), (b)) v(x))","CASE WHEN a > 3 THEN date_trunc(''month'', ts) ELSE ts END","row(a, b) = row(1, 2)","(n, m) < (5, 5)","a::text","ts::date + a","ts + interval 3 days 2 hours","ts::time","ts - interval 1 day < ts::date","greatest(ts, timestamp 2024-06-01)","ts > timestamp ''2024-06-01'' AND ts < ''2024-07-01''","5","NULL::int","pg_typeof(a)"}'::text[],
    'SELECT id, %s AS r FROM program_rows ORDER BY id') AS wrong;
SELECT pg_temp.differ('{"b <> 0 AND a / b > 1","a * 2 > b","b = 0 OR a / b > 1","a / b > 1","a + b = 3 AND id / b > 5","NOT (p AND q)","p IS NOT TRUE","CASE WHEN p THEN q END","t LIKE ''%%1'' AND length(t) = 3","a IN (1, 2) AND n * 2 > m","large * large > 5","a IS DISTINCT FROM b","random() >= 0 AND a + b > 0","a + b > 0 AND random() >= 0","f * f > 1 AND random() >= 0 AND b <> 0"}'::text[],
    'SELECT id FROM program_rows WHERE %s ORDER BY id') AS wrong;
PREPARE program_of AS SELECT id, a + $1 AS r, CASE WHEN t = $2 THEN $3 ELSE ts END AS s FROM program_rows WHERE a * $1 > b AND ts < $3 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
SET mgpu.enable_sort = off;
CREATE TABLE program_answer_1 AS EXECUTE program_of (2, 'k5', '2024-09-01');
CREATE TABLE program_answer_2 AS EXECUTE program_of (NULL, 'k5', '2024-09-01');
CREATE TABLE program_answer_3 AS EXECUTE program_of (3, NULL, '2025-01-01');
SET mgpu.enable_sort = force;
CREATE TABLE program_ours_1 AS EXECUTE program_of (2, 'k5', '2024-09-01');
CREATE TABLE program_ours_2 AS EXECUTE program_of (NULL, 'k5', '2024-09-01');
CREATE TABLE program_ours_3 AS EXECUTE program_of (3, NULL, '2025-01-01');
CREATE VIEW program_answers AS SELECT 1 AS n, * FROM program_answer_1 UNION ALL SELECT 2, * FROM program_answer_2 UNION ALL SELECT 3, * FROM program_answer_3;
CREATE VIEW program_ours AS SELECT 1 AS n, * FROM program_ours_1 UNION ALL SELECT 2, * FROM program_ours_2 UNION ALL SELECT 3, * FROM program_ours_3;
SELECT count(*) AS rows, (SELECT count(*) FROM (TABLE program_answers EXCEPT ALL TABLE program_ours) d) AS less, (SELECT count(*) FROM (TABLE program_ours EXCEPT ALL TABLE program_answers) d) AS more FROM program_ours;
DROP VIEW program_answers, program_ours;
DROP TABLE program_answer_1, program_answer_2, program_answer_3, program_ours_1, program_ours_2, program_ours_3;
RESET plan_cache_mode;
-- parameters of a nested loop, and of a query that has not run before
SELECT pg_temp.same('SELECT k, q.* FROM generate_series(1, 4) k, LATERAL (SELECT id, a * k AS r FROM program_rows WHERE b * k > 2 ORDER BY id) q') AS lateral,
       pg_temp.same('SELECT id, a + (SELECT max(m) FROM program_rows) AS r FROM program_rows WHERE a * 2 > (SELECT min(b) FROM program_rows) ORDER BY id') AS queries;
-- texts that are made, of characters beyond ASCII too, by the rules of each collation that is there
CREATE TABLE program_texts AS
SELECT i AS id, string_agg((ARRAY['a', 'B', 'é', 'É', 'ß', 'Σ', 'ς', 'İ', 'ı', 'I', 'i', 'Ж', 'ж', '€', '漢', '😀', 'ﬁ', 'ǅ', 'K', '̇', '1', ' '])[1 + abs(hashint8(i * 31 + j)) % 22], '' ORDER BY j) AS t
FROM generate_series(1, 2000) i, generate_series(1, 1 + i % 6) j GROUP BY i;
INSERT INTO program_texts SELECT 2000 + i, substr('Items of a cart, 1. Über Ähre', 1 + i % 20, 1 + i % 9) FROM generate_series(1, 500) i;
VACUUM ANALYZE program_texts;
SELECT e AS wrong FROM (SELECT DISTINCT collname FROM pg_collation WHERE collname ~* '^c(\.utf-?8)?$' OR collname IN ('und-x-icu', 'de-x-icu', 'tr-x-icu', 'el-x-icu', 'pg_c_utf8', 'pg_unicode_fast')) c,
    unnest(ARRAY['lower(t COLLATE %1$I)', 'upper(t COLLATE %1$I)', 't COLLATE %1$I ILIKE ''%%é_%%''', 't COLLATE %1$I NOT ILIKE ''%%ITEM%%''', 't COLLATE %1$I ~* ''(é|ж)[^a]''', 't COLLATE %1$I !~ ''^\W''',
        't COLLATE %1$I ~ ''[[:upper:]]{2}|\d$''', 'lower(t COLLATE %1$I) || upper(t COLLATE %1$I) || id']) f, format(f, collname) e
WHERE NOT pg_temp.same(format('SELECT id, %s AS r FROM program_texts ORDER BY id', e)) OR NOT pg_temp.same(format('SELECT id, %s AS r FROM program_texts WHERE id > 2000 ORDER BY id', e));
SELECT pg_temp.differ(ARRAY['t || t || id || t', 'concat(t, ''-'', id, NULL, nullif(id % 3, 0), ''!'')', 'concat(id)', 'concat(t, id, true)', 'replace(t, ''I'', ''ii'')', 'replace(t, ''é'', '''')', 'replace(t, '''', ''x'')',
    'replace(t, t, t || t)', '(id * 1.5)::numeric(12,3)::text', '(-id / 1000.0)::numeric(12,3)::text', '(id - 1000)::text', '((id - 1)::int2)::text', '(9223372036854775807 - id)::text || id', 'length(lower(t) || ''ab'')',
    'left(upper(t), 2) || right(t, 2)', 'repeat(t, 3) || t', 'lower(repeat(t, 300))', 't || t || t || t || t || t || t || t || t || t || t'],
    'SELECT id, %s AS r FROM program_texts ORDER BY id') AS wrong;
-- an expression that is none is PostgreSQL's error
SELECT count(*) FROM program_texts WHERE t ~ '(';
DROP TABLE program_rows, program_values, program_texts;
DROP TYPE program_mood;
