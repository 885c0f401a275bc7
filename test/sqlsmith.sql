--
-- What sqlsmith finds: tables whose columns have all types of the oracle, with NULLs and special values, one of them in
-- partitions, and views of them by groups, distinct rows, first rows, windows and sorts, since sqlsmith itself writes none
-- but windows.  Conditions, joins and limits that it puts around a view reach the view's plan.  Loaded after oracle.sql, of
-- which the types stay alone: sqlsmith calls all functions that are there.
--
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SELECT setseed(0.5) \g /dev/null
CREATE SCHEMA smith;
CREATE ROLE smith LOGIN;

-- The oracle's types, a column each: c1, c2, …
CREATE TABLE smith.columns AS
    SELECT 'c' || row_number() OVER (ORDER BY type COLLATE "C") AS name, split_part(type, ' ', 1) || CASE collation_name WHEN '' THEN '' ELSE ' COLLATE ' || CASE WHEN collation_name LIKE '%.%' THEN collation_name ELSE quote_ident(collation_name) END END AS type, make, special
    FROM oracle.types WHERE type <> 'regclass';

CREATE FUNCTION smith.make(table_name text, num_rows int, nulls float8, options text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c record;
    made text := '';
BEGIN
    FOR c IN SELECT * FROM smith.columns ORDER BY substr(name, 2)::int LOOP
        -- values of a few numbers, so that groups and joins have several rows
        made := made || format(', (SELECT CASE WHEN random() < %s THEN NULL WHEN random() < 0.05 THEN (%L::text[])[1 + floor(random() * %s)::int]::%s ELSE %s END FROM (SELECT floor(random() ^ 3 * %s)::bigint + 0 * i AS k OFFSET 0) r)',
                               nulls, c.special, cardinality(c.special), split_part(c.type, ' ', 1), c.make, (ARRAY[5, 300, 1099511627776])[1 + substr(c.name, 2)::int % 3]);
    END LOOP;
    EXECUTE format('CREATE TABLE %s (id int, g int, v int, %s) %s', table_name, (SELECT string_agg(name || ' ' || type, ', ' ORDER BY substr(name, 2)::int) FROM smith.columns), options);
    IF options <> '' THEN
        EXECUTE format('CREATE TABLE %s_1 PARTITION OF %1$s FOR VALUES FROM (0) TO (500); CREATE TABLE %1$s_2 PARTITION OF %1$s FOR VALUES FROM (500) TO (501); CREATE TABLE %1$s_3 PARTITION OF %1$s DEFAULT', table_name);
    END IF;
    EXECUTE format('INSERT INTO %s SELECT i, i %% 7, floor(random() * 1000 - 500)%s FROM generate_series(1, %s) i', table_name, made, num_rows);
    -- a column that old rows lack, and pages with rows that are gone
    EXECUTE format('ALTER TABLE %s ADD late int DEFAULT 7; DELETE FROM %1$s WHERE id %% 50 = 3; UPDATE %1$s SET late = id %% 3 WHERE id %% 40 = 1', table_name);
END
$$;
SELECT smith.make('smith.items', 3000, 0.1, ''), smith.make('smith.parts', 2000, 0.2, 'PARTITION BY RANGE (id)'), smith.make('smith.few', 5, 0.5, '') \g /dev/null
CREATE TABLE smith.nothing (LIKE smith.items);
CREATE TABLE smith.shops AS SELECT i AS id, 's' || i % 20 AS name, i / 4.0 AS rate, CASE WHEN i % 5 > 0 THEN date '2024-01-01' + i END AS opened FROM generate_series(1, 200) i;
ALTER TABLE smith.shops ADD PRIMARY KEY (id);
CREATE TABLE smith.facts AS
    SELECT i AS id, nullif(1 + i % 210, 9) AS shop, i % 12 AS g, floor(random() * 1e6)::int AS v, (random() * 1000)::numeric(10, 2) AS n, CASE WHEN i % 9 > 0 THEN random() END AS f, 't' || i % 90 AS t,
           timestamp '2024-01-01' + i * interval '1 hour' AS at, (i % 3 = 0) AS b
    FROM generate_series(1, 5000) i;
CREATE INDEX ON smith.items (id);
CREATE INDEX ON smith.facts (shop, v);
INSERT INTO smith.facts SELECT * FROM smith.facts WHERE id % 100 = 1;

-- Views by each type: groups by its values, groups of its values, and one of five others
CREATE TABLE smith.views (n int, name text, query text);
INSERT INTO smith.views VALUES
(0, 'first', 'SELECT DISTINCT ON ({c}) {c}, id, v FROM {t} ORDER BY {c}, id DESC'),
(1, 'ranked', 'SELECT * FROM (SELECT id, v, {c}, row_number() OVER (PARTITION BY g ORDER BY {c}) AS place FROM {t}) r WHERE place <= 3'),
(2, 'sorted', 'SELECT id, v, {c} FROM {t} ORDER BY {c} DESC NULLS LAST, id OFFSET 2'),
(3, 'distinct', 'SELECT DISTINCT {c}, g FROM {t}'),
(4, 'windows', 'SELECT id, {c}, rank() OVER w AS place, lag({c}) OVER w AS before, sum(v) OVER w AS total, first_value(id) OVER w AS first FROM {t} WINDOW w AS (PARTITION BY g ORDER BY {c})'),
(NULL, 'groups', 'SELECT {c}, count(*) AS n, sum(v) AS v, min(id) AS id, avg(late) AS late FROM {t} GROUP BY {c}'),
(NULL, 'values', 'SELECT g, count({c}) AS n, count(DISTINCT {c}) AS d, array_agg({c} ORDER BY {c} DESC, id) AS a, mgpu_sort_agg({c}) AS s, percentile_disc(0.5) WITHIN GROUP (ORDER BY {c}) AS p FROM {t} GROUP BY g');
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT format('CREATE VIEW smith.%s_%s AS %s', v.name, c.name, replace(replace(query, '{c}', c.name), '{t}', CASE WHEN c.n / 5 % 2 = 0 THEN 'smith.items' ELSE 'smith.parts' END)) AS made
             FROM (SELECT name, substr(name, 2)::int AS n FROM smith.columns) c JOIN smith.views v ON v.n IS NULL OR v.n = c.n % 5 LOOP
        EXECUTE r.made;
    END LOOP;
END
$$;

-- Groups of joins, numbers of each kind, and plans above plans
CREATE VIEW smith.sales AS SELECT name, count(*) AS n, sum(f.n) AS sum, avg(f) AS avg, max(t) AS last, min(at) AS since, bool_or(b) AS b, stddev(v) AS dev FROM smith.facts f JOIN smith.shops s ON shop = s.id GROUP BY name;
CREATE VIEW smith.left_sales AS SELECT rate, opened, count(f.id) AS n, sum(v) AS v, string_agg(t, ',' ORDER BY v, f.id) AS t FROM smith.shops s LEFT JOIN smith.facts f ON shop = s.id AND v > 1000 GROUP BY rate, opened;
CREATE VIEW smith.unsold AS SELECT opened, count(*) AS n FROM smith.shops s WHERE NOT EXISTS (SELECT FROM smith.facts f WHERE shop = s.id AND g = 3) GROUP BY opened;
CREATE VIEW smith.months AS SELECT date_trunc('month', at) AS month, t, sum(n * 2 + 1) AS n, count(*) FILTER (WHERE b) AS b, percentile_cont(0.9) WITHIN GROUP (ORDER BY f) AS f, mode() WITHIN GROUP (ORDER BY g) AS g FROM smith.facts WHERE v % 3 <> 1 GROUP BY 1, 2;
CREATE VIEW smith.totals AS SELECT count(*) AS n, sum(v) AS v, sum(f) AS f, max(n) AS most, avg(n) AS mean, count(DISTINCT t) AS t FROM smith.facts;
CREATE VIEW smith.best AS SELECT * FROM (SELECT name, t, sum, row_number() OVER (PARTITION BY s.b ORDER BY sum DESC) AS place FROM smith.sales s JOIN smith.months m ON m.b = s.n) r WHERE place < 4;
CREATE VIEW smith.both AS SELECT id, g, v FROM smith.items WHERE v > 0 UNION SELECT id, g, v FROM smith.facts;

DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT oid::regprocedure AS f FROM pg_proc WHERE pronamespace IN ('oracle'::regnamespace, 'smith'::regnamespace) LOOP
        EXECUTE 'DROP FUNCTION ' || r.f;
    END LOOP;
    FOR r IN SELECT oid::regclass AS t FROM pg_class WHERE relnamespace = 'oracle'::regnamespace AND relkind = 'r' LOOP
        EXECUTE 'DROP TABLE ' || r.t;
    END LOOP;
END
$$;
DROP TABLE smith.views, smith.columns;
GRANT USAGE ON SCHEMA smith, oracle TO smith;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA smith TO smith;
-- half of the pages are all-visible, and statistics are there for half of the tables
VACUUM ANALYZE smith.items;
VACUUM smith.facts;
ANALYZE smith.parts;
