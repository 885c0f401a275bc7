# Objects made of the functions survive dump and restore; the extension can be
# dropped, created again, updated and moved.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('dump');
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE DATABASE source;
	CREATE DATABASE target;
});
$node->safe_psql('source', q{
	CREATE SCHEMA gpu;
	CREATE EXTENSION mgpu_pg SCHEMA gpu VERSION '0.1';
	CREATE VIEW older AS SELECT gpu.mgpu_sort(a) AS up, gpu.mgpu_sort(a, true) AS down, m.* FROM (VALUES (ARRAY[2, NULL, 1])) t(a), gpu.mgpu_sort_pairs(a, a) m;
	ALTER EXTENSION mgpu_pg UPDATE;
	CREATE TABLE readings (id int PRIMARY KEY, vals float8[], at timestamptz[], down float8[] GENERATED ALWAYS AS (gpu.mgpu_sort(vals, true)) STORED);
	INSERT INTO readings
	SELECT i, ARRAY[i % 7, 'NaN', '-0', i % 5, NULL]::float8[], ARRAY['2024-01-02 00:00+00', 'infinity', '2024-01-01 00:00+00', NULL, '-infinity']::timestamptz[] FROM generate_series(1, 1000) i;
	CREATE INDEX readings_sorted ON readings (gpu.mgpu_sort(vals));
	CREATE INDEX readings_newest ON readings ((gpu.mgpu_argsort(at, true)));
	CREATE VIEW newest AS SELECT id, gpu.mgpu_sort_by(vals, at, descending => true) AS by_time, (gpu.mgpu_sort_pairs(at, vals)).* FROM readings;
	CREATE MATERIALIZED VIEW flat AS SELECT id, s.* FROM readings, gpu.mgpu_sort_rows(at, vals) s;
	CREATE FUNCTION median(a float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT (gpu.mgpu_sort(a))[(cardinality(a) + 1) / 2]';
});

my $digest = q{
	SELECT md5(string_agg(r::text, '#' ORDER BY id)) FROM readings r
	UNION ALL SELECT md5(string_agg(n::text, '#' ORDER BY id)) FROM newest n
	UNION ALL SELECT md5(string_agg(f::text, '#' ORDER BY f::text)) FROM flat f
	UNION ALL SELECT pg_get_indexdef('readings_sorted'::regclass)
	UNION ALL SELECT pg_get_viewdef('newest'::regclass)
	UNION ALL SELECT o::text FROM older o
	UNION ALL SELECT pg_get_viewdef('older'::regclass)
	UNION ALL SELECT median(vals)::text FROM readings WHERE id = 17};

foreach my $format ('plain', 'custom')
{
	my $file = "$dir/$format";
	command_ok([ 'pg_dump', "--format=$format", '-f', $file, $node->connstr('source') ], "pg_dump, $format");
	$node->safe_psql('postgres', 'DROP DATABASE target');
	$node->safe_psql('postgres', 'CREATE DATABASE target');
	if ($format eq 'plain')
	{
		command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr('target') ], 'restored by psql');
	}
	else
	{
		command_ok([ 'pg_restore', '--jobs=2', '--exit-on-error', '-d', $node->connstr('target'), $file ], 'restored by pg_restore');
	}
	is($node->safe_psql('target', $digest), $node->safe_psql('source', $digest), "$format: the restored objects say the same");
	is($node->safe_psql('target', "SET enable_seqscan = off; SELECT count(*) FROM readings WHERE gpu.mgpu_sort(vals) = gpu.mgpu_sort(ARRAY[3, 'NaN', '-0', 3, NULL]::float8[])"),
		$node->safe_psql('source', "SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM readings WHERE gpu.mgpu_sort(vals) = gpu.mgpu_sort(ARRAY[3, 'NaN', '-0', 3, NULL]::float8[])"),
		"$format: the restored index finds the same rows");
}

# the life of the extension
my ($status, $out, $err) = $node->psql('source', 'DROP EXTENSION mgpu_pg');
isnt($status, 0, 'not dropped while objects depend on it');
like($err, qr/other objects depend on it/, 'and says so');
is($node->safe_psql('source', 'ALTER EXTENSION mgpu_pg SET SCHEMA public; SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', 'moved to another schema');
like($node->safe_psql('source', 'SELECT count(*) FROM newest WHERE by_time IS NOT NULL'), qr/^1000$/, 'and the view still finds its functions');
$node->safe_psql('source', 'ALTER EXTENSION mgpu_pg UPDATE');
$node->safe_psql('source', 'DROP EXTENSION mgpu_pg CASCADE');
is($node->safe_psql('source', q{SELECT count(*) FROM pg_proc WHERE proname LIKE 'mgpu\_%'}), '0', 'dropped, with all its functions');
$node->safe_psql('source', 'CREATE EXTENSION mgpu_pg');
is($node->safe_psql('source', 'SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', 'and created again');

# every version that there is a script for can be installed
foreach my $version (split /\n/, $node->safe_psql('postgres', q{SELECT version FROM pg_available_extension_versions WHERE name = 'mgpu_pg'}))
{
	$node->safe_psql('postgres', 'DROP EXTENSION mgpu_pg');
	$node->safe_psql('postgres', "CREATE EXTENSION mgpu_pg VERSION '$version'");
	$node->safe_psql('postgres', 'ALTER EXTENSION mgpu_pg UPDATE');
	is($node->safe_psql('postgres', 'SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', "version $version installs and updates");
}

# an ordinary user may use it; the library loads by preloading as well
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; CREATE TABLE t AS SELECT ARRAY[3, 1, 2] AS a; GRANT SELECT ON t TO plain');
is($node->safe_psql('postgres', 'SET ROLE plain; SELECT mgpu_sort(a) FROM t'), '{1,2,3}', 'an ordinary user sorts');
foreach my $library ('shared_preload_libraries', 'session_preload_libraries')
{
	$node->append_conf('postgresql.conf', "$library = 'mgpu_pg'");
	$node->restart;
	is($node->safe_psql('postgres', 'SELECT mgpu_sort(a) FROM t'), '{1,2,3}', "works with $library");
	is($node->safe_psql('postgres', 'SHOW mgpu.executor'), 'auto', 'and its settings are there');
	$node->append_conf('postgresql.conf', "$library = ''");
	$node->restart;
}

$node->stop;
done_testing();
