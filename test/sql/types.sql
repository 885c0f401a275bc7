--
-- every sortable type, in every order, against ORDER BY
--
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN int_list AS int[];
CREATE TYPE pair AS (a int, b text);
CREATE TYPE floatrange AS RANGE (subtype = float8);
-- input, sorted, and for every order: sorted as ORDER BY, argsort as ORDER BY
-- with the position as tie-break, sort_by and sort_pairs in agreement
CREATE FUNCTION check_type(arr anyarray, OUT type text, OUT sorted text, OUT descending text, OUT orders int, OUT wrong text)
LANGUAGE plpgsql AS $$
DECLARE
    by_position int[];
    by_order text;
    positions int[];
    got text;
    down boolean;
    first boolean;
BEGIN
    type := pg_typeof(arr);
    sorted := mgpu_sort(arr)::text;
    descending := mgpu_sort(arr, true)::text;
    orders := 0;
    SELECT array_agg(i) INTO by_position FROM generate_subscripts(arr, 1) i;
    FOREACH down IN ARRAY ARRAY[false, true] LOOP
        FOREACH first IN ARRAY ARRAY[false, true] LOOP
            EXECUTE format('SELECT array_agg(x ORDER BY x %1$s NULLS %2$s, i)::text, array_agg(i::int ORDER BY x %1$s NULLS %2$s, i)
                            FROM (SELECT ($1)[i] AS x, i FROM generate_subscripts($1, 1) i) u',
                           CASE WHEN down THEN 'DESC' ELSE 'ASC' END, CASE WHEN first THEN 'FIRST' ELSE 'LAST' END)
                INTO by_order, positions USING arr;
            orders := orders + 1;
            got := mgpu_sort(arr, down, first)::text;
            IF got IS DISTINCT FROM by_order THEN
                wrong := concat_ws('; ', wrong, format('sort %s %s: %s, not %s', down, first, got, by_order));
            END IF;
            IF mgpu_argsort(arr, down, first) IS DISTINCT FROM positions THEN
                wrong := concat_ws('; ', wrong, format('argsort %s %s: %s, not %s', down, first, mgpu_argsort(arr, down, first), positions));
            END IF;
            IF mgpu_sort_by(by_position, arr, down, first) IS DISTINCT FROM positions THEN
                wrong := concat_ws('; ', wrong, format('sort_by %s %s', down, first));
            END IF;
            SELECT (p.keys, p.vals)::text INTO got FROM mgpu_sort_pairs(arr, by_position, down, first) p;
            IF got IS DISTINCT FROM (mgpu_sort(arr, down, first), positions)::text THEN
                wrong := concat_ws('; ', wrong, format('sort_pairs %s %s', down, first));
            END IF;
        END LOOP;
    END LOOP;
    -- the default puts nulls where ORDER BY puts them
    IF sorted IS DISTINCT FROM mgpu_sort(arr, false, false)::text OR descending IS DISTINCT FROM mgpu_sort(arr, true, true)::text THEN
        wrong := concat_ws('; ', wrong, 'default order');
    END IF;
END
$$;
\x on
-- fixed width
SELECT (check_type(ARRAY[true, NULL, false, true, false])).*;
SELECT (check_type(ARRAY['b', 'a', NULL, '~', '', 'b']::"char"[])).*;
-- a byte above 127, which versions print differently
SELECT orders, wrong FROM check_type(ARRAY['b', 'a', NULL, (-1)::"char", '', 'b']);
SELECT (check_type(ARRAY[3, -32768, NULL, 32767, 0, 3, -1]::int2[])).*;
SELECT (check_type(ARRAY[3, -2147483648, NULL, 2147483647, 0, 3, -1]::int4[])).*;
SELECT (check_type(ARRAY[3, -9223372036854775808, NULL, 9223372036854775807, 0, 4294967296, -4294967296]::int8[])).*;
SELECT (check_type(ARRAY[3, 4294967295, NULL, 0, 2147483648]::oid[])).*;
SELECT (check_type(ARRAY['pg_class', NULL, 'pg_type', 'pg_proc']::regclass[])).*;
SELECT (check_type(ARRAY['1.5', '-Infinity', NULL, 'NaN', 'Infinity', '0', '-0', '-1.5', '1e-45', 'NaN']::float4[])).*;
SELECT (check_type(ARRAY['1.5', '-Infinity', NULL, 'NaN', 'Infinity', '-0', '0', '-1.5', '5e-324', 'NaN']::float8[])).*;
SELECT (check_type(ARRAY['$3.50', '-$2.00', NULL, '$0.00', '$3.50']::money[])).*;
SELECT (check_type(ARRAY['2024-02-29', 'infinity', NULL, '-infinity', '0044-03-15 BC', '2024-02-29']::date[])).*;
SELECT (check_type(ARRAY['12:34:56.789', '24:00', NULL, '00:00', '12:34:56.788999']::time[])).*;
SELECT (check_type(ARRAY['12:00+00', '13:00+01', NULL, '12:00+01', '12:00-01', '11:00+00', '24:00-15:59']::timetz[])).*;
SELECT (check_type(ARRAY['2024-01-01 00:00', 'infinity', NULL, '-infinity', '4713-11-24 00:00 BC', '1999-12-31 23:59:59.999999']::timestamp[])).*;
SELECT (check_type(ARRAY['2024-01-01 00:00+00', 'infinity', NULL, '-infinity', '2024-01-01 01:00+02']::timestamptz[])).*;
SELECT (check_type(ARRAY['1 month', '30 days', NULL, '720 hours', '-1 day', '29 days 24:00:01', '1 year', '-178000000 years', '178000000 years']::interval[])).*;
SELECT (check_type(ARRAY['ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000', NULL,
                         '00000000-0000-0000-0000-000000000001', '01000000-0000-0000-0000-000000000000',
                         '7f000000-0000-0000-8000-000000000000', '7f000000-0000-0000-7f00-000000000000']::uuid[])).*;
SELECT (check_type(ARRAY['08:00:2b:01:02:03', 'ff:ff:ff:ff:ff:ff', NULL, '00:00:00:00:00:00', '08:00:2b:01:02:02']::macaddr[])).*;
SELECT (check_type(ARRAY['08:00:2b:01:02:03:04:05', 'ff:ff:ff:ff:ff:ff:ff:ff', NULL, '00:00:00:00:00:00:00:00', '7f:00:00:00:00:00:00:01']::macaddr8[])).*;
SELECT (check_type(ARRAY['16/B374D848', 'FFFFFFFF/FFFFFFFF', NULL, '0/10000000', '80000000/10000000']::pg_lsn[])).*;
SELECT (check_type(ARRAY['3', '18446744073709551615', NULL, '0', '9223372036854775808']::xid8[])).*;
SELECT (check_type(ARRAY['(1,2)', '(0,1)', NULL, '(1,1)', '(4294967295,65535)']::tid[])).*;
SELECT (check_type(ARRAY['b', 'a', NULL, repeat('z', 63), '']::name[])).*;
-- variable width
SELECT (check_type(ARRAY[1.0, 1.00, NULL, 'NaN', -5, 1, 1e100, '-Infinity', 'Infinity', 0.000001]::numeric[])).*;
SELECT (check_type(ARRAY['b', 'a', NULL, '', 'B', 'ab', 'a '] COLLATE "C")).*;
SELECT (check_type(ARRAY['b', 'a', NULL, '', 'B']::varchar(3)[] COLLATE "C")).*;
SELECT (check_type(ARRAY['b', 'a', NULL, 'b  ', 'a  ']::bpchar[] COLLATE "C")).*;
SELECT (check_type(ARRAY['\x02', '\x01', NULL, '', '\x0100', '\xff']::bytea[])).*;
SELECT (check_type(ARRAY['101', '11', NULL, '', '1010']::varbit[])).*;
SELECT (check_type(ARRAY['101', '110', NULL, '001']::bit(3)[])).*;
SELECT (check_type(ARRAY['10.0.0.1', '::1', NULL, '10.0.0.0/8', '9.255.255.255']::inet[])).*;
SELECT (check_type(ARRAY['10.0.0.0/8', '::/0', NULL, '10.0.0.0/16']::cidr[])).*;
SELECT (check_type(ARRAY['[1,3)', 'empty', NULL, '(,2)', '[1,2)', '[1,)']::int4range[])).*;
SELECT (check_type(ARRAY['[1.0,2.0)', '[1.00,2)', NULL, 'empty']::numrange[])).*;
SELECT (check_type(ARRAY['[1,2)', '(-infinity,nan]', NULL, 'empty', '[-0,0]']::floatrange[])).*;
SELECT (check_type(ARRAY['{[1,3)}', '{}', NULL, '{[1,2),[5,6)}']::int4multirange[])).*;
SELECT (check_type(ARRAY['{"b": 1}', '[]', NULL, '1', '"x"', 'null', '{"a": 1, "b": 2}', 'true', '1.0']::jsonb[])).*;
SELECT (check_type(ARRAY['b', 'a', NULL, 'a b']::tsvector[])).*;
SELECT (check_type(ARRAY['b', 'a & b', NULL, 'a']::tsquery[])).*;
-- made by users
SELECT (check_type(ARRAY['happy', 'sad', NULL, 'ok', 'happy']::mood[])).*;
SELECT (check_type(ARRAY[3, 1, NULL, 2]::positive[])).*;
SELECT (check_type('{"(2,x)","(1,z)",NULL,"(1,)","(1,a)","(,b)"}'::pair[])).*;
\x off
-- a domain over an array is sorted as its base type
SELECT mgpu_sort('{3,1,2}'::int_list), pg_typeof(mgpu_sort('{3,1,2}'::int_list)),
       pg_typeof(mgpu_sort(ARRAY[3, 1]::positive[])), pg_typeof(mgpu_sort_by(ARRAY[3, 1]::positive[], ARRAY[2, 1]));
-- types without an order
SELECT mgpu_sort('{}'::point[]), mgpu_sort(ARRAY[point(1, 2)]), mgpu_sort(ARRAY['{"a": 1}']::json[]), mgpu_sort('{}'::xml[]);
SELECT mgpu_sort(ARRAY[point(1, 2), point(0, 0)]);
\echo :SQLSTATE
SELECT mgpu_sort(ARRAY['{}', '{}']::json[], true);
\echo :SQLSTATE
SELECT mgpu_sort(ARRAY['1', '2']::xid[]);
\echo :SQLSTATE
SELECT mgpu_sort(ARRAY[NULL, NULL]::point[]);
\echo :SQLSTATE
SELECT mgpu_argsort(ARRAY['{}', '{}']::json[], true, true);
\echo :SQLSTATE
-- a composite type with a column that has no order has none either
CREATE TYPE unsortable AS (p point);
SELECT mgpu_sort(ARRAY[ROW(point(1, 1)), ROW(point(0, 0))]::unsortable[]);
\echo :SQLSTATE
DROP FUNCTION check_type;
DROP TYPE mood, pair, floatrange, unsortable;
DROP DOMAIN positive, int_list;
