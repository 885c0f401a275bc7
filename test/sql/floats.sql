--
-- floats, to the byte: NaN above all and equal among themselves, -0 = +0, and
-- equal ones in input order with their own bits.  glibc reads a NaN's payload
-- as nan(…), so several NaNs can be told apart.
--
SET extra_float_digits = 1;
CREATE FUNCTION bytes_of(a float8[]) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(coalesce(encode(float8send(x), 'hex'), 'null'), ' ' ORDER BY o) FROM unnest(a) WITH ORDINALITY u(x, o) $$;
CREATE FUNCTION bytes_of(a float4[]) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(coalesce(encode(float4send(x), 'hex'), 'null'), ' ' ORDER BY o) FROM unnest(a) WITH ORDINALITY u(x, o) $$;
-- zeros
SELECT bytes_of(mgpu_sort(ARRAY['0', '-0', '1', '-0', '0', '-1']::float8[]));
SELECT bytes_of(mgpu_sort(ARRAY['0', '-0', '1', '-0', '0', '-1']::float8[], true));
SELECT bytes_of(mgpu_sort(ARRAY['-0', '0']::float4[])), bytes_of(mgpu_sort(ARRAY['0', '-0']::float4[]));
SELECT bytes_of(mgpu_sort(ARRAY['-0', '0']::float4[], true)), bytes_of(mgpu_sort(ARRAY['0', '-0']::float4[], true));
-- NaNs with sign and payload
SELECT bytes_of(ARRAY['NaN', '-nan', 'nan(1)', 'nan(5)']::float8[]);
SELECT bytes_of(mgpu_sort(ARRAY['nan(5)', '1', 'NaN', '-nan', 'Infinity', 'nan(1)', '-Infinity']::float8[]));
SELECT bytes_of(mgpu_sort(ARRAY['nan(5)', '1', 'NaN', '-nan', 'Infinity', 'nan(1)', '-Infinity']::float8[], true));
SELECT bytes_of(mgpu_sort(ARRAY['NaN', '-nan', NULL, 'nan(7)', '0']::float4[]));
SELECT bytes_of(mgpu_sort(ARRAY['NaN', '-nan', NULL, 'nan(7)', '0']::float4[], true));
SELECT bytes_of(mgpu_sort(ARRAY['-nan', '-0', 'nan(3)', '0', NULL]::float8[], true, false));
SELECT bytes_of(mgpu_sort(ARRAY['-nan', '-0', 'nan(3)', '0', NULL]::float8[], false, true));
-- infinities, denormals, extremes
SELECT mgpu_sort(ARRAY['5e-324', '-5e-324', '0', '2.2250738585072014e-308', 'Infinity', '-Infinity', '1.7976931348623157e308', '-1.7976931348623157e308']::float8[]);
SELECT mgpu_sort(ARRAY['1e-45', '-1e-45', '0', '1.1754944e-38', 'Infinity', '-Infinity', '3.4028235e38', '-3.4028235e38']::float4[], true);
-- argsort and pairs see the same ties
SELECT mgpu_argsort(ARRAY['0', '-nan', '-0', 'NaN', '0']::float8[]), mgpu_argsort(ARRAY['0', '-nan', '-0', 'NaN', '0']::float8[], true);
SELECT bytes_of(keys), vals FROM mgpu_sort_pairs(ARRAY['0', '-nan', '-0', 'NaN', '0']::float8[], ARRAY[1, 2, 3, 4, 5]);
SELECT bytes_of(keys), vals FROM mgpu_sort_pairs(ARRAY['0', '-nan', '-0', 'NaN', '0']::float8[], ARRAY[1, 2, 3, 4, 5], true);
-- long enough for every path: small, one tile, many tiles; a tenth are zeros of
-- either sign, a tenth NaNs of several kinds
CREATE TEMP TABLE special AS
SELECT n, array_agg(x ORDER BY i) AS f8, array_agg(x::float4 ORDER BY i) AS f4,
       array_agg(CASE WHEN i % 13 <> 0 THEN x END ORDER BY i) AS f8n
FROM unnest(ARRAY[3, 50, 1000, 5000, 20000, 150000]) n,
     LATERAL (SELECT i, CASE h % 20 WHEN 0 THEN '0' WHEN 1 THEN '-0' WHEN 2 THEN CASE h % 3 WHEN 0 THEN 'NaN' WHEN 1 THEN '-nan' ELSE 'nan(9)' END
                              WHEN 3 THEN 'Infinity' WHEN 4 THEN '-Infinity'
                              ELSE ((h % 2000 - 1000) / 8.0)::text END::float8 AS x
              FROM (SELECT i, i::bigint * 48271 % 2147483647 AS h FROM generate_series(1, n) i) s) g
GROUP BY n;
SELECT n,
       array_send(mgpu_sort(f8)) = array_send((SELECT array_agg(x ORDER BY x, o) FROM unnest(f8) WITH ORDINALITY u(x, o))) AS f8,
       array_send(mgpu_sort(f8, true)) = array_send((SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(f8) WITH ORDINALITY u(x, o))) AS f8_desc,
       array_send(mgpu_sort(f4)) = array_send((SELECT array_agg(x ORDER BY x, o) FROM unnest(f4) WITH ORDINALITY u(x, o))) AS f4,
       array_send(mgpu_sort(f4, true)) = array_send((SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(f4) WITH ORDINALITY u(x, o))) AS f4_desc,
       array_send(mgpu_sort(f8n)) = array_send((SELECT array_agg(x ORDER BY x, o) FROM unnest(f8n) WITH ORDINALITY u(x, o))) AS f8_nulls,
       array_send(mgpu_sort(f8n, true)) = array_send((SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(f8n) WITH ORDINALITY u(x, o))) AS f8_nulls_desc,
       array_send((SELECT keys FROM mgpu_sort_pairs(f8, f4, true))) = array_send((SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(f8) WITH ORDINALITY u(x, o))) AS pairs_desc
FROM special ORDER BY n;
SELECT n,
       mgpu_argsort(f8) = (SELECT array_agg(o::int ORDER BY x, o) FROM unnest(f8) WITH ORDINALITY u(x, o)) AS f8,
       mgpu_argsort(f4, true) = (SELECT array_agg(o::int ORDER BY x DESC, o) FROM unnest(f4) WITH ORDINALITY u(x, o)) AS f4_desc,
       mgpu_argsort(f8n, false, true) = (SELECT array_agg(o::int ORDER BY x NULLS FIRST, o) FROM unnest(f8n) WITH ORDINALITY u(x, o)) AS f8_nulls_first
FROM special ORDER BY n;
-- nothing but zeros, nothing but NaNs
SELECT n, bool_and(array_send(mgpu_sort(z, d)) = array_send(z)) AS zeros, bool_and(array_send(mgpu_sort(q, d)) = array_send(q)) AS nans
FROM (SELECT n, array_agg(CASE WHEN i % 3 = 0 THEN '-0' ELSE '0' END::float8 ORDER BY i) AS z,
             array_agg(CASE i % 3 WHEN 0 THEN '-nan' WHEN 1 THEN 'NaN' ELSE 'nan(2)' END::float4 ORDER BY i) AS q
      FROM unnest(ARRAY[2, 63, 64, 65, 1024, 30000]) n, generate_series(1, n) i GROUP BY n) t,
     unnest(ARRAY[false, true]) d
GROUP BY n ORDER BY n;
DROP FUNCTION bytes_of(float8[]), bytes_of(float4[]);
