--
-- The oracle: random arrays, every function and order, against PostgreSQL's own
-- ORDER BY with the position as tie-break, compared byte by byte in binary form.
-- test/oracle.pl calls oracle.try(seed); all of a trial follows from its seed.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS oracle CASCADE;
CREATE SCHEMA oracle;
CREATE TYPE oracle.mood AS ENUM ('sad', 'meh', 'ok', 'happy', 'delighted');
CREATE DOMAIN oracle.even AS int CHECK (VALUE % 2 = 0);
CREATE TYPE oracle.pair AS (a numeric, b text);
CREATE COLLATION oracle.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION oracle.code_points (provider = libc, locale = 'C.UTF-8');
DO $$
BEGIN
    CREATE COLLATION oracle.english (provider = libc, locale = 'en_US.UTF-8');
EXCEPTION WHEN others THEN
    RAISE WARNING 'no locale en_US.UTF-8: C.UTF-8 takes its place';
    CREATE COLLATION oracle.english (provider = libc, locale = 'C.UTF-8');
END
$$;

-- make: SQL expression of a bigint k in 0 … 2^40; special: values worth having
CREATE TABLE oracle.types (type text PRIMARY KEY, make text NOT NULL, special text[] NOT NULL, collation_name text NOT NULL);
INSERT INTO oracle.types VALUES
('bool', 'k % 2 = 0', '{true,false}', ''),
('"char"', '(k % 256 - 128)::int::"char"', '{a,""}', ''),
('int2', '(k % 65536 - 32768)::int2', '{-32768,32767,0,-1}', ''),
('int4', '(k % 4294967296 - 2147483648)::int4', '{-2147483648,2147483647,0,-1}', ''),
('int8', '(k - 549755813888) * 16777213', '{-9223372036854775808,9223372036854775807,0,-1}', ''),
('oid', '(k % 4294967296)::oid', '{0,4294967295,2147483648}', ''),
('regclass', '(k % 20000)::oid::regclass', '{0,pg_class}', ''),
('float4', '((k % 2000001 - 1000000) / 64.0)::float4', '{-0,0,NaN,-nan,nan(3),Infinity,-Infinity,1e-45,-1e-45,3.4028235e38}', ''),
('float8', '((k - 549755813888) / 1024.0)::float8', '{-0,0,NaN,-nan,nan(77),Infinity,-Infinity,5e-324,-5e-324,1.7976931348623157e308}', ''),
('money', '((k - 549755813888) / 100.0)::numeric::money', '{-92233720368547758.08,92233720368547758.07,0}', ''),
('date', '''2000-01-01''::date + (k % 2000000 - 700000)::int', '{-infinity,infinity,4713-11-24 BC,5874897-12-31}', ''),
('time', 'time ''00:00'' + (k % 86400000000) * interval ''1 us''', '{00:00,24:00,23:59:59.999999}', ''),
('timetz', '((time ''00:00'' + (k % 86400) * interval ''1 s'')::text || (ARRAY[''+00'',''+01'',''-01'',''+05:30'',''-15:59:59'',''+15:59''])[k % 6 + 1])::timetz', '{00:00-15:59:59,24:00+15:59:59,24:00-15:59:59,00:00+15:59:59}', ''),
('timestamp', 'timestamp ''2000-01-01'' + (k - 549755813888) * interval ''1 ms''', '{-infinity,infinity,4713-11-24 00:00:00 BC,294276-12-31 23:59:59.999999}', ''),
('timestamptz', 'timestamptz ''2000-01-01 00:00+00'' + (k - 549755813888) * interval ''1 us''', '{-infinity,infinity,294276-12-31 23:59:59.999999+00}', ''),
('interval', 'make_interval(months => (k % 7)::int, days => (k % 61 - 30)::int, hours => (k / 61 % 49 - 24)::int, secs => (k / 4096 % 3) / 1e6)', '{1 mon,30 days,720:00,-1 mon,-30 days,178000000 years,-178000000 years,0}', ''),
('uuid', 'md5(k::text)::uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,00000000-0000-0000-8000-000000000000}', ''),
('macaddr', '(''0'' || (k % 8) || '':00:2b:'' || to_hex(16 + k / 8 % 200) || '':7f:'' || to_hex(16 + k % 239))::macaddr', '{00:00:00:00:00:00,ff:ff:ff:ff:ff:ff}', ''),
('macaddr8', '(''ff:0'' || (k % 8) || '':00:2b:'' || to_hex(16 + k / 8 % 200) || '':7f:80:'' || to_hex(16 + k % 239))::macaddr8', '{00:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff,7f:ff:ff:ff:ff:ff:ff:ff}', ''),
('pg_lsn', '''0/0''::pg_lsn + k::numeric * 16777213', '{0/0,FFFFFFFF/FFFFFFFF,80000000/0}', ''),
('xid8', '(k * 16777213::numeric)::text::xid8', '{0,18446744073709551615,9223372036854775808}', ''),
('tid', 'format(''(%s,%s)'', k % 100000, k % 7 + 1)::tid', '{"(0,1)","(4294967295,65535)"}', ''),
('name', '(''n'' || k % 100000)::name', '{"",a,zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz}', 'C'),
('numeric', '((k - 549755813888)::numeric / (10 ^ (k % 9))::numeric)::numeric(40, 9)', '{1,1.0,1.00,0,0.000,NaN,Infinity,-Infinity,1e100,-1e-100}', ''),
('text', 'repeat(''prefix'', (k % 4)::int) || k % 100000', '{"",a,A,"a ",prefixprefixprefix}', 'C'),
('varchar', 'md5((k % 5000)::text)::varchar', '{"",x}', 'en-x-icu'),
('bpchar', '(''b'' || k % 1000 || repeat('' '', (k % 3)::int))::bpchar', '{"","   ","a ","a"}', 'C'),
('bytea', 'decode(md5(k::text), ''hex'') || ''\x00'' || decode(repeat(''ff'', (k % 5)::int), ''hex'')', '{"","\\x00","\\xff","\\x0000"}', ''),
('varbit', '(k % 65536)::bit(16)::varbit', '{"",0,1,00,10}', ''),
('inet', '(''10.'' || k % 256 || ''.'' || k / 256 % 256 || ''.1/'' || (8 + k % 25))::inet', '{0.0.0.0/0,::/0,::1,255.255.255.255}', ''),
('cidr', '(''10.'' || k % 256 || ''.0.0/16'')::cidr', '{0.0.0.0/0,::/0}', ''),
('int4range', 'int4range((k % 1000)::int, (k % 1000 + k % 7)::int)', '{empty,"(,)","[5,)"}', ''),
('numrange', 'numrange((k % 1000)::numeric, (k % 1000)::numeric + 1.50)', '{empty,"[1.0,2.0)","[1,2.00)","(,)"}', ''),
('int4multirange', 'int4multirange(int4range((k % 100)::int, (k % 100 + 5)::int), int4range(200, (200 + k % 9)::int))', '{"{}","{(,)}"}', ''),
('jsonb', 'jsonb_build_object(''k'', k % 1000, ''l'', ARRAY[k % 3])', '{"null",1,1.0,true,"\"x\"","[]","{}"}', ''),
('tsvector', '(''w'' || k % 500 || '' x'')::tsvector', '{"",a}', ''),
('oracle.mood', '(enum_range(NULL::oracle.mood))[k % 5 + 1]', '{sad,delighted}', ''),
('oracle.even', '((k % 1000000) * 2)::oracle.even', '{0,-2}', ''),
('oracle.pair', 'ROW((k % 50)::numeric, ''p'' || k % 3)::oracle.pair', '{"(1.0,x)","(1.00,x)","(,)"}', '');
-- a type once more, made otherwise: what strings begin with alike, bytes of zero, characters of several bytes
INSERT INTO oracle.types VALUES
('text prefixed', 'repeat(''p'', (ARRAY[8, 16, 200])[k % 3 + 1]) || k % 700', '{"",p,pppppppp,ppppppppp,pppppppppppppppp}', 'C'),
('text path', 'format(''https://www.example.org/%s/item-%s/%s'', k % 3, k % 40, k)', '{"",https://www.example.org/,https://www.example.org/0/item-0/0}', 'C'),
('text utf8', 'chr((ARRAY[97, 233, 8364, 119070])[k % 4 + 1]) || chr((k / 4 % 3000 + 128)::int) || repeat(chr(233), (k % 9)::int)', '{"",é,€,zz}', 'ucs_basic'),
('text steps', 'repeat(''x'', (k % 200)::int)', '{"",xy,xw}', 'POSIX'),
('bytea zeros', 'decode(repeat(''00'', (k % 19)::int) || repeat(''01'', (k / 19 % 3)::int) || repeat(''00'', (k / 57 % 10)::int), ''hex'')', '{"","\\x00","\\x00000000000000","\\x0000000000000000"}', ''),
('numeric wide', '(k - 549755813888)::numeric * (10::numeric ^ ((k % 61 - 30) * (k / 61 % 5)::int)::numeric)', '{NaN,Infinity,-Infinity,0,0.00,1e-16000,-1e-16000,9e130000,-9e130000,1e160,1e164,1e-164}', ''),
('numeric near', '1.00000000000000000000 + (k % 700) * 1e-25 * (1 - k / 700 % 2 * 2)', '{1,1.0,1.00,-1}', ''),
('varbit long', '(repeat((k % 2)::text, (k / 2 % 70)::int) || (k / 140 % 8)::bit(3)::text)::varbit', '{"",0,00000000,000000000}', ''),
('bit', '(k % 2)::int::bit', '{0,1}', ''),
('inet any', 'set_masklen(CASE WHEN k % 2 = 0 THEN inet ''0.0.0.0'' + k / 2 % 4294967295 ELSE ''::''::inet + k * 4194301 END, (k / 7 % 33)::int)', '{::/0,::/128,::1/127,255.255.255.255/1,255.255.255.255}', ''),
('interval long', 'make_interval(years => ((k % 3 - 1) * 178000000)::int, days => (k / 3 % 61)::int, secs => (k / 183 % 9) / 1e6)', '{0,-178000000 years,178000000 years,1 mon,30 days}', ''),
('bpchar long', '(repeat(''b'', (k % 12)::int) || repeat('' '', (k / 12 % 12)::int) || (ARRAY['''', ''x''])[k / 144 % 2 + 1])::bpchar', '{""," ","b       c"}', 'C'),
('name long', '(repeat(''n'', (k % 60)::int) || k % 100)::name', '{"",nnnnnnnn}', 'C');
-- letters, signs and scripts that the C library weighs in different ways
INSERT INTO oracle.types VALUES
('text words', '(ARRAY['''', ''a'', ''Ab'', ''ä'', ''b-'', ''c d'', ''é'', ''ß'', ''日'', ''한'', ''½'', ''😀''])[k % 12 + 1] || (ARRAY[''x'', '' X'', ''-x'', ''ǆ'', ''국'', ''1'', '' 1'', ''1.1'', ''-''])[k / 12 % 9 + 1] || (ARRAY['''', ''1'', ''-1'', ''1 ''])[k / 108 % 4 + 1] || substr(md5((k / 432)::text), 1, (k / 432 % 4)::int)', '{"",a,A,ä,Ä,"a b",a-b,한국,日本,é}', 'oracle.english');
-- a type under another collation
INSERT INTO oracle.types SELECT 'text ' || c, make, special, c FROM oracle.types, unnest(ARRAY['en-x-icu', 'oracle.any_case', 'oracle.code_points', 'oracle.english']) c WHERE type = 'text';
INSERT INTO oracle.types SELECT type || ' english', make, special, 'oracle.english' FROM oracle.types WHERE type IN ('bpchar long', 'text path', 'text utf8');

CREATE FUNCTION oracle.pick(choices anyarray) RETURNS anyelement LANGUAGE sql VOLATILE AS
$$ SELECT choices[1 + floor(random() * cardinality(choices))::int] $$;

-- Lengths: nothing, one, a few, around the places where code paths change, many
CREATE FUNCTION oracle.random_length(most int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    chance float8 := random();
    n int;
BEGIN
    n := CASE WHEN chance < 0.06 THEN floor(random() * 3)
              WHEN chance < 0.30 THEN 2 + floor(random() * 40)
              WHEN chance < 0.60 THEN oracle.pick(ARRAY[31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025,
                                                        2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385, 32767, 32768, 32769])
              WHEN chance < 0.95 THEN floor(exp(random() * ln(6000)))
              ELSE floor(random() * 200000) END;
    RETURN least(n, most);
END
$$;

-- SQL text of a query that gives one row (o, x): n elements of the type, by a random profile
CREATE FUNCTION oracle.elements(t oracle.types, n int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    base text := split_part(t.type, ' ', 1);
    distinct_keys bigint := oracle.pick(ARRAY[1, 2, 10, 300, 20000, 1099511627776, 1099511627776]);
    null_chance float8 := oracle.pick(ARRAY[0, 0, 0.01, 0.1, 0.5, 1]);
    special_chance float8 := oracle.pick(ARRAY[0, 0, 0.02, 0.3, 1]);
    shape text := oracle.pick(ARRAY['random', 'random', 'random', 'sorted', 'reversed', 'nearly', 'sawtooth']);
    key text;
    collated text := CASE WHEN t.collation_name = '' THEN '' ELSE format(' COLLATE %s', CASE WHEN t.collation_name LIKE '%.%' THEN t.collation_name ELSE quote_ident(t.collation_name) END) END;
BEGIN
    key := CASE shape
        WHEN 'random' THEN format('floor(random() * %s)::bigint', distinct_keys)
        WHEN 'sorted' THEN format('(i * %s::numeric / %s)::bigint', distinct_keys, n + 1)
        WHEN 'reversed' THEN format('((%s - i) * %s::numeric / %s)::bigint', n, distinct_keys, n + 1)
        WHEN 'nearly' THEN format('(i + floor(random() * 20)::bigint) * %s', greatest(distinct_keys / (n + 20), 1))
        ELSE format('i %% 97 * %s', greatest(distinct_keys / 97, 1)) END;
    RETURN format('SELECT i AS o, (CASE WHEN chance < %s THEN NULL WHEN special < %s THEN (%L::%s[])[1 + floor(random() * %s)::int] ELSE %s END)%s AS x
                   FROM (SELECT i, random() AS chance, random() AS special, (%s)::bigint AS k FROM generate_series(1, %s) i) r',
                  null_chance, special_chance, t.special, base, cardinality(t.special), t.make, collated, key, n);
END
$$;

-- Arrays in binary form, but for the flag that says whether there is a null bitmap: one without NULLs is as good as none
CREATE FUNCTION oracle.differs(what text, got bytea, expected bytea) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN overlay(got PLACING '\x00000000' FROM 5 FOR 4) IS DISTINCT FROM overlay(expected PLACING '\x00000000' FROM 5 FOR 4) THEN what || ' ' END $$;

-- A first subscript of n elements after which there are at least so many subscripts
CREATE FUNCTION oracle.random_lower(n int, subscripts int) RETURNS int LANGUAGE sql VOLATILE AS
$$ SELECT CASE WHEN n = 0 THEN 1 ELSE oracle.pick(ARRAY[1, 1, 1, 1, 0, -5, 100, 1 - n, -2147483648, -2147483647, 2147483647 - subscripts, 2147483646 - subscripts]) END $$;

-- The same array with a null bitmap, also if it has no NULLs; a multi-dimensional one as well
CREATE FUNCTION oracle.with_bitmap(a anyarray) RETURNS anyarray LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    first a%TYPE;
    i int := array_lower(a, 1);
    j int := array_lower(a, 2);
BEGIN
    IF array_ndims(a) = 1 AND i IS NOT NULL THEN
        first := a[i:i];
        a[i] := NULL;
        a[i:i] := first;
    ELSIF array_ndims(a) = 2 THEN
        first := a[i:i][j:j];
        a[i][j] := NULL;
        a[i:i][j:j] := first;
    END IF;
    RETURN a;
END
$$;

-- The columns keys and vals of the table trial become domains, their arrays get null bitmaps, by chance.
-- What was done is returned, for undress to undo.
CREATE FUNCTION oracle.dress_trial() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    done text := '';
    c record;
BEGIN
    FOR c IN SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NULLIF(attcollation, 0)::regcollation AS collated
             FROM pg_attribute WHERE attrelid = 'trial'::regclass AND attname IN ('keys', 'vals') ORDER BY attname LOOP
        IF random() < 0.15 THEN
            EXECUTE format('CREATE DOMAIN oracle.%s_domain AS %s %s', c.name, c.type, 'COLLATE ' || c.collated);
            EXECUTE format('ALTER TABLE trial ALTER %s TYPE oracle.%1$s_domain', c.name);
            done := done || format(', %s are a domain', c.name);
        END IF;
        IF random() < 0.3 THEN
            EXECUTE format('UPDATE trial SET %s = oracle.with_bitmap(%1$s)', c.name);
            done := done || format(', %s have a bitmap', c.name);
        END IF;
    END LOOP;
    RETURN done;
END
$$;

CREATE FUNCTION oracle.undress(done text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT match[1] FROM regexp_matches(done, ', (keys|vals) are a domain', 'g') match LOOP
        EXECUTE format('DROP DOMAIN oracle.%s_domain', name);
    END LOOP;
END
$$;

-- Every function's results, of arrays as a table has them and of those that PL/pgSQL holds in its expanded form:
-- as they came into it, or with an element assigned.  heads: some of the arrays' subscripts, ascending.
DO $do$
DECLARE
    parameters text := '(keys anyarray, vals anycompatiblearray, heads int[], flags varbit, assign boolean) RETURNS bytea[]';
    results text := $c$ ARRAY[
        array_send(mgpu_sort(keys)), array_send(mgpu_argsort(keys, true)), array_send(mgpu_sort_by(vals, keys)),
        record_send(mgpu_sort_pairs(keys, vals, true)), record_send(mgpu_locality_sort_pairs(keys, vals)),
        (SELECT string_agg(record_send(r), '' ORDER BY ordinality) FROM mgpu_sort_rows(keys, vals) WITH ORDINALITY r),
        array_send(mgpu_locality_sort(keys)), array_send(mgpu_oddeven_sort(keys)),
        array_send(mgpu_segsort(keys, heads)), array_send(mgpu_segsort_flags(keys, flags)), array_send(mgpu_segsort_by(keys, vals)),
        record_send(mgpu_segsort_pairs(keys, vals, heads)), record_send(mgpu_segsort_pairs_flags(keys, vals, flags, true)),
        (SELECT string_agg(record_send(r), '' ORDER BY ordinality) FROM mgpu_segsort_rows(keys, vals) WITH ORDINALITY r),
        array_send(mgpu_merge(mgpu_sort(keys), mgpu_sort(keys))), record_send(mgpu_merge_pairs(mgpu_sort(keys), vals, mgpu_sort(keys), vals)),
        array_send(mgpu_bulk_remove(keys, heads)), array_send(mgpu_bulk_insert(vals, mgpu_argsort(vals), vals)),
        (SELECT array_send(mgpu_merge_agg(mgpu_sort(keys))) FROM generate_series(1, 3)) ] $c$;
BEGIN
    EXECUTE format($f$ CREATE FUNCTION oracle.flat_results%s LANGUAGE sql AS $$ SELECT %s $$ $f$, parameters, results);
    EXECUTE format($f$ CREATE FUNCTION oracle.expanded_results%s LANGUAGE plpgsql AS $$
        BEGIN
            IF assign AND cardinality(keys) > 0 THEN
                keys[array_lower(keys, 1)] := keys[array_lower(keys, 1)];
                vals[array_lower(vals, 1)] := vals[array_lower(vals, 1)];
            END IF;
            IF assign AND cardinality(heads) > 0 THEN
                heads[1] := heads[1];
            END IF;
            RETURN %s;
        END $$ $f$, parameters, results);
END
$do$;

-- Which of those results differ
CREATE FUNCTION oracle.check_expanded() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wrong text;
BEGIN
    EXECUTE format($q$
        SELECT concat('expanded, result ' || string_agg(i::text, ', ' ORDER BY i))
        FROM trial t,
             LATERAL (SELECT coalesce(array_agg(o + t.lower - 1 ORDER BY o) FILTER (WHERE head), '{}') AS heads, coalesce(string_agg(head::int::text, '' ORDER BY o), '')::varbit AS flags
                      FROM (SELECT o, random() < 0.1 AS head FROM items) h) h,
             LATERAL unnest(oracle.flat_results(t.keys, t.vals, h.heads, h.flags, false), oracle.expanded_results(t.keys, t.vals, h.heads, h.flags, %L)) WITH ORDINALITY r(flat, expanded, i)
        WHERE flat IS DISTINCT FROM expanded $q$, random() < 0.5) INTO wrong;
    RETURN wrong;
END
$$;

-- Every function on one pair of stored arrays, one dimension: what is wrong, or ''
CREATE FUNCTION oracle.check_pairs() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wrong text := '';
    got text;
    down boolean;
    first boolean;
    calls text[];
    call text;
BEGIN
    FOREACH down IN ARRAY ARRAY[false, true] LOOP
        FOREACH first IN ARRAY ARRAY[false, true] LOOP
            EXECUTE format($q$
                CREATE TEMP TABLE expected ON COMMIT DROP AS
                SELECT array_send(coalesce(s.keys, t.keys)) AS keys, array_send(coalesce(s.vals, t.vals)) AS vals,
                       array_send(coalesce(s.positions, '{}')) AS positions
                FROM trial t, LATERAL (
                    SELECT array_agg(k ORDER BY k %1$s NULLS %2$s, o) AS keys, array_agg(v ORDER BY k %1$s NULLS %2$s, o) AS vals,
                           array_agg((o - 1 + t.lower)::int ORDER BY k %1$s NULLS %2$s, o) AS positions
                    FROM items) s $q$,
                CASE WHEN down THEN 'DESC' ELSE 'ASC' END, CASE WHEN first THEN 'FIRST' ELSE 'LAST' END);
            -- the shorter calls whose defaults mean this order
            calls := ARRAY[format(', %L, %L', down, first)];
            IF down = first THEN
                calls := calls || format(', %L', down);
            END IF;
            IF NOT down AND NOT first THEN
                calls := calls || ''::text;
            END IF;
            FOREACH call IN ARRAY calls LOOP
                EXECUTE format($q$
                    SELECT concat(oracle.differs('sort', array_send(mgpu_sort(k.keys %1$s)), oracle.rebase(e.keys, k.keys)),
                                  oracle.differs('argsort', array_send(mgpu_argsort(k.keys %1$s)), oracle.rebase(e.positions, k.keys)),
                                  oracle.differs('sort_by', array_send(mgpu_sort_by(k.vals, k.keys %1$s)), oracle.rebase(e.vals, k.vals)),
                                  oracle.differs('pairs.keys', array_send(p.keys), oracle.rebase(e.keys, k.keys)),
                                  oracle.differs('pairs.vals', array_send(p.vals), oracle.rebase(e.vals, k.vals)),
                                  oracle.differs('rows.keys', r.keys, e.keys), oracle.differs('rows.vals', r.vals, e.vals))
                    FROM expected e, trial k, mgpu_sort_pairs(k.keys, k.vals %1$s) p,
                         LATERAL (SELECT array_send(coalesce(array_agg(key ORDER BY ordinality), k.keys)) AS keys,
                                         array_send(coalesce(array_agg(val ORDER BY ordinality), k.vals)) AS vals
                                  FROM mgpu_sort_rows(k.keys, k.vals %1$s) WITH ORDINALITY) r $q$, call)
                    INTO got;
                IF got <> '' THEN
                    wrong := wrong || format('(…%s): %s', call, got);
                END IF;
            END LOOP;
            DROP TABLE expected;
        END LOOP;
    END LOOP;
    RETURN wrong;
END
$$;

-- ORDER BY's array starts at 1, the functions keep the lower bound: put it into
-- the binary form (int32 dimensions, flags, element type, then size and lower bound)
CREATE FUNCTION oracle.rebase(binary_form bytea, source anyarray) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN array_ndims(source) = 1 THEN overlay(binary_form PLACING int4send(array_lower(source, 1)) FROM 17 FOR 4) ELSE binary_form END
$$;

-- Two or three dimensions, and where they begin
CREATE FUNCTION oracle.slices_at(a anyarray, lower int[]) RETURNS anyarray LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    shifted ALIAS FOR $0;
    upper int[] := (SELECT array_agg(first + array_length(a, d::int) - 1 ORDER BY d) FROM unnest(lower) WITH ORDINALITY l(first, d));
BEGIN
    CASE array_ndims(a)
        WHEN 2 THEN shifted[lower[1]:upper[1]][lower[2]:upper[2]] := a;
        WHEN 3 THEN shifted[lower[1]:upper[1]][lower[2]:upper[2]][lower[3]:upper[3]] := a;
        ELSE shifted := a;
    END CASE;
    RETURN shifted;
END
$$;

-- Whether a call of the multi-dimensional array a of trial is refused, as all but mgpu_sort are
CREATE FUNCTION oracle.takes_slices(call text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE format('SELECT %s FROM trial', call);
    RETURN call || ' takes slices ';
EXCEPTION WHEN array_subscript_error THEN
    RETURN CASE WHEN SQLERRM = 'array must be one-dimensional' THEN '' ELSE format('%s: %s ', call, SQLERRM) END;
END
$$;

-- mgpu_sort of an array of more dimensions; others refuse it
CREATE FUNCTION oracle.check_slices(lower int[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wrong text := '';
    got text;
    call text;
    ordering text;
BEGIN
    CREATE TEMP TABLE trial ON COMMIT DROP AS SELECT oracle.slices_at(array_agg(s ORDER BY o), lower) AS a FROM slices;
    IF random() < 0.5 THEN
        UPDATE trial SET a = oracle.with_bitmap(a);
    END IF;
    FOREACH call IN ARRAY ARRAY['', ', false', ', true', ', false, true', ', true, false'] LOOP
        ordering := CASE WHEN call LIKE ', true%' THEN 'DESC' ELSE 'ASC' END;
        EXECUTE format($q$
            SELECT oracle.differs('slices%1$s', array_send(mgpu_sort(t.a %1$s)), array_send((SELECT oracle.slices_at(array_agg(s ORDER BY s %2$s, o), %3$L) FROM slices)))
            FROM trial t $q$, call, ordering, lower) INTO got;
        wrong := wrong || coalesce(got, '');
    END LOOP;
    IF EXISTS (SELECT FROM slices) THEN
        FOREACH call IN ARRAY ARRAY['mgpu_argsort(a)', 'mgpu_sort_by(a, a)', 'mgpu_sort_by(ARRAY[1], a)', 'mgpu_sort_pairs(a, a)', 'mgpu_sort_rows(a, a)', 'mgpu_locality_sort(a)',
            'mgpu_locality_sort_pairs(a, a)', 'mgpu_oddeven_sort(a)', 'mgpu_segsort(a, ''{1}'')', 'mgpu_segsort_flags(a, B''1'')', 'mgpu_segsort_by(a, a)', 'mgpu_segsort_by(ARRAY[1], a)',
            'mgpu_segsort_pairs(a, a, ''{1}'')', 'mgpu_segsort_pairs_flags(a, a, B''1'')', 'mgpu_segsort_rows(a, a)', 'mgpu_segsort_stats(a, ''{1}'')', 'mgpu_locality_sort_stats(a)',
            'mgpu_merge(a, a)', 'mgpu_merge_pairs(a, a, a, a)', 'mgpu_bulk_remove(a, ''{1}'')', 'mgpu_bulk_insert(a, ''{1}'', a)', 'mgpu_merge_agg(a)'] LOOP
            wrong := wrong || oracle.takes_slices(call);
        END LOOP;
    END IF;
    DROP TABLE trial;
    RETURN wrong;
END
$$;

-- One trial; all of it follows from the seed and the setting.  '' or what is wrong.
CREATE FUNCTION oracle.try(seed int, most int, gpu boolean, OUT description text, OUT wrong text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    t oracle.types;
    v oracle.types;
    n int;
    width int;
    depth int;
    at int;
    dressed text;
    stored text;
    setting text;
BEGIN
    PERFORM setseed((seed % 1000000) / 1000000.0);
    SELECT * INTO t FROM oracle.types ORDER BY type COLLATE "C" OFFSET seed % (SELECT count(*) FROM oracle.types) LIMIT 1;
    SELECT * INTO v FROM oracle.types ORDER BY type COLLATE "C" OFFSET floor(random() * (SELECT count(*) FROM oracle.types)) LIMIT 1;
    -- one function call has one collation: two that differ are an error, in any function
    IF t.collation_name <> '' AND v.collation_name <> '' AND t.collation_name <> v.collation_name THEN
        v := t;
    END IF;
    n := oracle.random_length(most);
    -- array_send keeps 9 kB for each of these until the end of the statement
    IF t.type = 'int4multirange' OR v.type = 'int4multirange' THEN
        n := least(n, 5000);
    END IF;
    at := oracle.random_lower(n, n);
    stored := oracle.pick(ARRAY['EXTERNAL', 'EXTENDED']);
    -- to compile so many calls takes longer than to run them, mostly
    PERFORM set_config('jit', CASE WHEN random() < 0.03 THEN 'on' ELSE 'off' END, true);
    PERFORM set_config('mgpu.executor', CASE WHEN gpu THEN oracle.pick(ARRAY['cpu', 'gpu', 'gpu', 'auto']) ELSE oracle.pick(ARRAY['cpu', 'auto']) END, true);
    PERFORM set_config('mgpu.algorithm', oracle.pick(ARRAY['auto', 'auto', 'merge', 'radix', 'locality']), true);
    PERFORM set_config('mgpu.cpu_threads', oracle.pick(ARRAY['0', '1', '2', '5']), true);
    setting := format('executor %s, algorithm %s, threads %s', current_setting('mgpu.executor'), current_setting('mgpu.algorithm'), current_setting('mgpu.cpu_threads'));
    IF random() < 0.08 THEN
        width := 1 + floor(random() * 4);
        depth := oracle.pick(ARRAY[0, 0, 1, 3]);
        n := least(n, 3000);
        description := format('%s[][], %s slices of %s × %s from %s; %s', t.type, n, width, depth, at, setting);
        IF depth = 0 THEN
            EXECUTE format('CREATE TEMP TABLE slices ON COMMIT DROP AS SELECT (o - 1) / %s AS o, array_agg(x ORDER BY o) AS s FROM (%s) e GROUP BY 1',
                           width, oracle.elements(t, n * width));
        ELSE
            EXECUTE format('CREATE TEMP TABLE slices ON COMMIT DROP AS SELECT o / %1$s AS o, array_agg(s ORDER BY o) AS s
                            FROM (SELECT (o - 1) / %2$s AS o, array_agg(x ORDER BY o) AS s FROM (%3$s) e GROUP BY 1) p GROUP BY 1',
                           width, depth, oracle.elements(t, n * width * depth));
        END IF;
        wrong := oracle.check_slices(ARRAY[at, oracle.random_lower(width, width), oracle.random_lower(depth, depth)]);
        DROP TABLE slices;
        RETURN;
    END IF;
    EXECUTE format('CREATE TEMP TABLE items ON COMMIT DROP AS SELECT o, k.x AS k, v.x AS v FROM (%s) k JOIN (%s) v USING (o) ORDER BY o',
                   oracle.elements(t, n), oracle.elements(v, n));
    CREATE TEMP TABLE trial ON COMMIT DROP AS SELECT array_agg(items.k) AS keys, array_agg(items.v) AS vals, 1 AS lower FROM items LIMIT 0;
    EXECUTE format('ALTER TABLE trial ALTER keys SET STORAGE %1$s, ALTER vals SET STORAGE %1$s', stored);
    INSERT INTO trial SELECT oracle.at_lower(coalesce(array_agg(items.k ORDER BY o), '{}'), at), coalesce(array_agg(items.v ORDER BY o), '{}'), at FROM items;
    dressed := oracle.dress_trial();
    description := format('%s by %s, %s items from %s, %s%s; %s', v.type, t.type, n, at, stored, dressed, setting);
    wrong := oracle.check_pairs();
    IF random() < 0.3 THEN
        wrong := concat(wrong, oracle.check_expanded());
    END IF;
    DROP TABLE trial, items;
    PERFORM oracle.undress(dressed);
END
$$;

CREATE FUNCTION oracle.at_lower(a anyarray, lower int) RETURNS anyarray LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    shifted ALIAS FOR $0;
BEGIN
    IF lower = 1 OR cardinality(a) = 0 THEN
        RETURN a;
    END IF;
    shifted[lower:lower + cardinality(a) - 1] := a;
    RETURN shifted;
END
$$;
