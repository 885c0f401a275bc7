-- Btree indexes built by the extension: which ones, and what it says of the others.  test/t/033_index_build.pl compares bytes.
LOAD 'mgpu_pg';
SET mgpu.enable_index_build = force;
CREATE TABLE built (i int, f float8, t text COLLATE "C", n numeric, u uuid, late text COLLATE "C" DEFAULT 'x') WITH (autovacuum_enabled = off);
INSERT INTO built SELECT i, i / 7.0, md5(i::text), i / 3.0, md5(i::text)::uuid FROM generate_series(1, 5000) i;

-- one key, several, expressions, a part of the rows
CREATE INDEX built_i ON built (i DESC);
SELECT function, items FROM mgpu_last_run();
CREATE INDEX built_t ON built (t, n NULLS FIRST) INCLUDE (f);
SELECT function, items FROM mgpu_last_run();
CREATE UNIQUE INDEX built_u ON built (u) WHERE i <= 1000;
SELECT function, items FROM mgpu_last_run();
CREATE INDEX built_e ON built ((i % 10), lower(t)) WITH (fillfactor = 50);
SELECT function, items FROM mgpu_last_run();
ALTER TABLE built ADD PRIMARY KEY (i);
SELECT function, items FROM mgpu_last_run();
REINDEX INDEX built_i;
SELECT function, items FROM mgpu_last_run();

-- the indexes answer
SET enable_seqscan = off;
SELECT count(*) FROM built WHERE i BETWEEN 100 AND 199;
SELECT i FROM built WHERE t = md5('77');
SELECT i FROM built WHERE u = md5('777')::uuid AND i <= 1000;
SELECT count(*) FROM built WHERE i % 10 = 3 AND lower(t) < '8';
RESET enable_seqscan;

-- and take new rows
INSERT INTO built SELECT i, 0, md5(i::text), 0, md5(i::text)::uuid FROM generate_series(5001, 9000) i;
SELECT count(*), sum(i) FROM built WHERE i > 4500;

-- floats whose codes do not tell their bits
INSERT INTO built (i, f) VALUES (-1, '-0'), (-2, 0), (-3, 'NaN');
CREATE INDEX built_f ON built (f);
SELECT function, items FROM mgpu_last_run();
SELECT i FROM built WHERE f = 0 AND i < 0 ORDER BY i;

-- values out of line and compressed
SET default_toast_compression = pglz; -- 19 has another one
CREATE TABLE built_long (t text COLLATE "C", s text COLLATE "C") WITH (autovacuum_enabled = off);
ALTER TABLE built_long ALTER s SET STORAGE EXTERNAL;
INSERT INTO built_long SELECT repeat(i::text, 2000), repeat('y', 2100) || i FROM generate_series(1, 300) i;
CREATE INDEX built_long_t ON built_long (t);
CREATE INDEX built_long_s ON built_long (s);
SET enable_seqscan = off;
SELECT count(*) FROM built_long WHERE t = repeat('123', 2000);
SELECT count(*) FROM built_long WHERE s < repeat('y', 2100) || '2';
RESET enable_seqscan;

-- what does not fit into a page is PostgreSQL's error
DROP INDEX built_long_t;
INSERT INTO built_long SELECT string_agg(md5(i::text), ''), '' FROM generate_series(1, 100) i;
CREATE INDEX built_too_long ON built_long (t);

-- unique violations, and NULLs
CREATE UNIQUE INDEX built_twice ON built (f);
CREATE UNIQUE INDEX built_twice ON built ((i / 8999), (t IS NULL));
INSERT INTO built (i) SELECT -i FROM generate_series(10, 12) i;
CREATE UNIQUE INDEX built_nulls ON built (u);
SELECT function, items FROM mgpu_last_run();

-- nothing to index
CREATE TABLE built_empty (i int);
CREATE INDEX ON built_empty (i);
INSERT INTO built_empty VALUES (1);
SELECT * FROM built_empty WHERE i = 1;

-- what PostgreSQL builds, and why
SET mgpu.report_declined = on;
CREATE TABLE declined (t text, p point, i int4range, c char(5), e text COLLATE "C") WITH (autovacuum_enabled = off);
INSERT INTO declined SELECT i, point(i, i), int4range(i, i + 1), i, i FROM generate_series(1, 100) i;
CREATE INDEX ON declined (i);
CREATE INDEX ON declined (c);
CREATE INDEX ON declined (e text_pattern_ops);
CREATE INDEX ON declined USING hash (t);
CREATE INDEX ON declined USING gist (p);
SET mgpu.enable_index_build = on;
CREATE INDEX ON declined (e);
DROP TABLE declined, built, built_long, built_empty;
RESET mgpu.report_declined;
RESET mgpu.enable_index_build;
