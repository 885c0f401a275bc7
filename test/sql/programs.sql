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
    IF bare ~ 'like$' THEN
        RETURN QUERY SELECT format('%s(a, %L)', name, p) FROM unnest('{"","%","_","a%","%a","%b%","a_c","_bc","%c_","_%","__","%_%_","%abc%abc","a%b%c","a\\%c","\\_","ä%","_ö%€_","%%","\\\\%"}'::text[]) p;
    ELSIF bare ~ '(date_trunc|date_part|extract)$' THEN
        RETURN QUERY SELECT format('%s(%L, b)', name, u) FROM unnest('{microsecond,millisecond,second,minute,hour,day,week,month,quarter,year,doy,dow,isodow,epoch}'::text[]) u;
    ELSIF bare ~ 'date_bin$' THEN
        RETURN QUERY SELECT format('%s(%L, b, %L)', name, s, o) FROM unnest('{15 min,1 day 3 hours,7 days,0.000001 s}'::text[]) s, unnest('{2000-01-01,1970-01-01 00:00:07,2024-01-01}'::text[]) o;
    ELSIF bare ~ '_(pl|mi)_interval$' THEN
        RETURN QUERY SELECT format('%s(a, %L)', name, i) FROM unnest('{1 hour,-90 min,1 day,0,0.000001 s,36500 days}'::text[]) i;
    ELSIF types[1] = 'numeric'::regtype AND types[2] = 'int4'::regtype THEN
        RETURN QUERY SELECT format('%s(a, %s)', name, CASE WHEN bare ~ 'numeric$' THEN ((12 << 16) | d) + 4 ELSE d END) FROM unnest('{0,1,2,3,5}'::int[]) d;
    ELSE
        RETURN QUERY SELECT format('%s(%s)', name, concat_ws(', ', CASE WHEN cardinality(types) > 0 THEN 'a' END, CASE WHEN cardinality(types) > 1 THEN 'b' END, CASE WHEN cardinality(types) > 2 THEN 'c' END));
    END IF;
END
$$;
-- a table of all values of a function's arguments; ok: PostgreSQL computes it without an error
CREATE FUNCTION pg_temp.make_args(types oid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    columns text = '';
    lists text = '';
    chosen text = '';
BEGIN
    DROP TABLE program_args;
    FOR i IN 1 .. 3 LOOP
        columns := columns || format(', %s %s', substr('abc', i, 1), coalesce((SELECT stored FROM program_values WHERE type = types[i]), 'int4'));
        chosen := chosen || format(', v%s::%s', i, coalesce((SELECT regexp_replace(stored, ' COLLATE.*', '') FROM program_values WHERE type = types[i]), 'int4'));
        lists := lists || format(', unnest(%L::text[]) v%s', coalesce((SELECT CASE WHEN i = 3 THEN value[1:6] ELSE value END FROM program_values WHERE type = types[i]), '{NULL}'), i);
    END LOOP;
    EXECUTE format('CREATE TABLE program_args (id int, ok bool%s)', columns);
    EXECUTE format('INSERT INTO program_args SELECT row_number() OVER (), true%s FROM %s', chosen, substr(lists, 3));
END
$$;
CREATE FUNCTION pg_temp.mark_errors(call text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    row int;
    errors int[] = '{}';
    result text;
BEGIN
    UPDATE program_args SET ok = true WHERE NOT ok;
    FOR row IN SELECT id FROM program_args LOOP
        BEGIN
            EXECUTE format('SELECT %s::text FROM program_args WHERE id = %s', call, row) INTO result;
        EXCEPTION WHEN OTHERS THEN
            errors := errors || row;
        END;
    END LOOP;
    UPDATE program_args SET ok = false WHERE id = ANY (errors);
    RETURN cardinality(errors);
END
$$;
CREATE FUNCTION pg_temp.same(query text) RETURNS boolean LANGUAGE sql AS $$
    SELECT pg_temp.answer(query, 'mgpu.enable_sort', 'force', true) = pg_temp.answer(query, 'mgpu.enable_sort', 'off', true)
$$;
CREATE FUNCTION pg_temp.try_program(function regprocedure, OUT calls int, OUT rows bigint, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
    call text;
    is_bool boolean = (SELECT prorettype = 'bool'::regtype FROM pg_proc WHERE oid = function);
BEGIN
    calls := 0;
    rows := 0;
    PERFORM pg_temp.make_args((SELECT string_to_array(proargtypes::text, ' ')::oid[] FROM pg_proc WHERE oid = function));
    FOR call IN SELECT pg_temp.calls_of(function) LOOP
        calls := calls + 1;
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
DROP TABLE program_results, program_args;
