# Keys and elements of jsonb in jobs: ->>, -> and ->>, #>>, subscripts, ?, and casts to numbers, dates and truths, as keys, arguments and conditions.  The answers, and errors, are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('json', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(20_000, 300_000);

sub run { return $session->run(@_); }

run('CREATE TABLE t (id int PRIMARY KEY, kind text, data jsonb, more jsonb)',
	"INSERT INTO t SELECT i, 'k' || i % 7, CASE WHEN i % 13 > 0 THEN jsonb_build_object('kind', 'k' || i % 12, 'price', round(i % 500 / 100.0, i % 3), 'count', i % 300, 'large', i * 10000000000, 'ok', i % 2 = 0, 'none', null,
		'user', CASE WHEN i % 5 > 0 THEN jsonb_build_object('id', i % 100, 'plan', CASE WHEN i % 3 > 0 THEN 'p' || i % 4 END, 'of', jsonb_build_object('team', 't' || i % 6)) ELSE to_jsonb(i) END, 'list', jsonb_build_array(1, i))
		|| CASE WHEN i % 4 = 0 THEN '{}' ELSE jsonb_build_object('sometimes', 'x' || i % 9, 'a key of more than thirty bytes, as some have', 'y') END END,
		(SELECT jsonb_object_agg('key' || k, 'v' || (i + k) % 5) FROM generate_series(1, 60) k) FROM generate_series(1, $rows) i",
	'CREATE TABLE kinds (kind text PRIMARY KEY, label text)', "INSERT INTO kinds SELECT 'k' || i, 'label ' || i % 3 FROM generate_series(0, 11) i", 'VACUUM ANALYZE');

# ---- what jobs do
check_programs($session, 'keys of groups', 1, "SELECT data->>'kind', count(*) FROM t GROUP BY 1", "SELECT data->>'sometimes', data->>'ok', count(*) FROM t GROUP BY 1, 2", "SELECT data->'user'->>'plan', max(id) FROM t GROUP BY 1",
	"SELECT data->'user'->'of'->>'team', count(*), count(data->>'none') FROM t GROUP BY 1", "SELECT data->>'no such key', data->'list'->>'kind', count(*) FROM t GROUP BY 1, 2", "SELECT more->>'key17', more->>'key60', count(*) FROM t GROUP BY 1, 2");
check_programs($session, 'paths', 1, "SELECT data#>>'{user,plan}', count(*) FROM t GROUP BY 1", "SELECT data#>>'{user,of,team}', (data#>>'{user,id}')::int % 7, count(*) FROM t GROUP BY 1, 2", "SELECT data#>>'{kind}', count(*) FROM t GROUP BY 1",
	"SELECT jsonb_extract_path_text(data, 'user', 'plan'), count(*) FROM t GROUP BY 1", "SELECT data#>'{user,of}'->>'team', count(*) FROM t GROUP BY 1", "SELECT kind, sum((data#>>'{list,1}')::int), max(data->'list'->>0) FROM t GROUP BY 1",
	"SELECT data['user']['of']->>'team', count(*) FROM t GROUP BY 1", "SELECT kind, min((data['list']->>1)::int8), count(data->'list'->>2), count(data->>0), count(data->'user'->'of'->>0), count(data#>>'{kind,0}') FROM t GROUP BY 1", "SELECT kind, count(*) FROM t WHERE data#>>'{user,0}' IS NULL AND data#>>'{list,x}' IS NULL GROUP BY 1");
check_programs($session, 'lengths of lists', 1, "SELECT jsonb_array_length(data->'list'), count(*) FROM t GROUP BY 1", "SELECT kind, sum(jsonb_array_length(data->'list') * id) FROM t WHERE jsonb_array_length(data->'list') > 1 GROUP BY 1");
check_plans($session, 'lengths of no lists', sub { return 1; }, "SELECT jsonb_array_length(data->'user'), count(*) FROM t WHERE id % 5 = 0 GROUP BY 1", "SELECT count(*) FROM t WHERE jsonb_array_length(data->'none') > 0", "SELECT count(*) FROM t WHERE jsonb_array_length(data) > 0");
check_programs($session, 'parts that are there', 1, "SELECT kind, count(*) FROM t WHERE data->'user' IS NOT NULL GROUP BY 1", "SELECT kind, count(*) FILTER (WHERE data#>'{user,of}' IS NULL), count(*) FILTER (WHERE data->'none' IS NULL), count(*) FILTER (WHERE data->'user'->'none' IS NULL) FROM t GROUP BY 1",
	"SELECT kind, count(*) FROM t WHERE data->'user' \@> '{\"plan\": \"p1\"}' GROUP BY 1", "SELECT kind, count(*) FROM t WHERE NOT data->'user' \@> '{\"id\": 7}' GROUP BY 1");
check_programs($session, 'conditions', 1, "SELECT kind, count(*) FROM t WHERE data->>'kind' = 'k3' GROUP BY 1", "SELECT kind, count(*) FROM t WHERE data->>'kind' IN ('k1', 'k5', 'k11') AND data ? 'sometimes' GROUP BY 1", "SELECT kind, count(*) FROM t WHERE data->>'kind' LIKE 'k1%' GROUP BY 1",
	"SELECT kind, count(*) FROM t WHERE data->>'sometimes' IS NULL GROUP BY 1", "SELECT kind, count(*) FROM t WHERE NOT data ? 'none' OR id % 5 > 0 AND data->'user' ? 'plan' GROUP BY 1", "SELECT count(*) FROM t WHERE data->>'a key of more than thirty bytes, as some have' = 'y' AND data->>'ok' = 'true'");
check_programs($session, 'numbers as texts', 1, "SELECT data->>'count', data->>'price', count(*) FROM t GROUP BY 1, 2", "SELECT kind, max(data->>'large') FROM t WHERE data->>'price' LIKE '%.5%' GROUP BY 1");
check_programs($session, 'numbers', 1, "SELECT kind, sum((data->>'price')::numeric), max((data->>'price')::numeric(8,2)), min((data->>'count')::int), avg((data->>'count')::int2) FROM t GROUP BY 1", "SELECT (data->>'price')::numeric(8,2), count(*) FROM t GROUP BY 1",
	"SELECT kind, max((data->>'large')::int8), max((data->>'price')::float8), avg((data->>'price')::float8) FROM t GROUP BY 1", "SELECT (data->>'count')::int % 10, sum((data->>'price')::numeric(10,1)) FROM t WHERE (data->>'price')::numeric > 2.5 GROUP BY 1",
	"SELECT (data->'user'->>'id')::int, count(*) FROM t WHERE id % 5 > 0 GROUP BY 1");
run("CREATE TABLE strings AS SELECT id, kind, jsonb_build_object('exact', (id / 7.0)::numeric(20,9)::text, 'place', jsonb_build_array((id / 1e5)::numeric(12,6), -id * 0.000000123), 'price', (id % 500 / 100.0)::numeric(8,2)::text, 'count', (id % 300)::text, 'ok', id % 2 = 0, 'yes', CASE WHEN id % 3 > 0 THEN 'true' ELSE 'false' END, 'day', date '2024-01-01' + id % 400, 'at', timestamp '2024-01-01' + id * interval '1 min',
	'zoned', to_char(timestamp '2024-03-10' + id * interval '17 min', 'YYYY-MM-DD\"T\"HH24:MI:SS') || CASE WHEN id % 3 > 0 THEN '.25Z' ELSE '+02:00' END) AS data FROM t", 'VACUUM ANALYZE strings');
check_programs($session, 'values of strings', 1, "SELECT kind, sum((data->>'price')::numeric), max((data->>'price')::float8), min((data->>'count')::int), avg((data->>'count')::int2) FROM strings GROUP BY 1",
	"SELECT kind, max((data->>'exact')::float8), min((data#>>'{place,0}')::float8), avg((data#>>'{place,1}')::float8) FROM strings GROUP BY 1", "SELECT (data->>'ok')::bool, (data->>'yes')::bool, count(*) FROM strings GROUP BY 1, 2", "SELECT kind, count(*) FILTER (WHERE (data->>'ok')::bool IS FALSE) FROM strings WHERE (data->>'yes')::bool GROUP BY 1", "SELECT (data->>'day')::date, count(*) FROM strings GROUP BY 1",
	"SELECT date_trunc('hour', (data->>'at')::timestamp), count(*) FROM strings GROUP BY 1", "SELECT (data->>'zoned')::timestamptz::date, max((data->>'zoned')::timestamptz) FROM strings GROUP BY 1", "SELECT kind, count(*) FROM strings WHERE (data->>'at')::timestamp >= '2024-01-05' AND (data->>'day')::date > '2024-02-01' GROUP BY 1");
check_programs($session, 'strings that are no such values', 0, "SELECT kind, max((data->>'kind')::date) FROM t GROUP BY 1", "SELECT kind, max((data->>'at')::timestamptz) FROM strings GROUP BY 1", "SELECT kind, max((data->>'price')::int) FROM strings GROUP BY 1", "SELECT kind, max((data->>'zoned')::timestamp) FROM strings GROUP BY 1",
	"SELECT kind, max((data->>'price')::real) FROM strings GROUP BY 1", "SELECT kind, max((data->>'day')::bool::int) FROM strings GROUP BY 1");
check_programs($session, 'values that are counted', 1, "SELECT kind, count(DISTINCT data->>'kind'), count(DISTINCT data->'user'->>'plan') FROM t GROUP BY 1", "SELECT kind, percentile_cont(0.5) WITHIN GROUP (ORDER BY (data->>'price')::float8) FROM t GROUP BY 1");
check_programs($session, 'rows in order', 1, "SELECT id, data->>'kind' FROM t ORDER BY (data->>'price')::float8 DESC NULLS LAST, id LIMIT 20");
check_programs($session, 'joins', 1, "SELECT label, count(*) FROM t JOIN kinds ON kinds.kind = data->>'kind' GROUP BY 1");
run("PREPARE p (text, text) AS SELECT data->>\$1, count(*) FROM t WHERE data->>'kind' > \$2 GROUP BY 1", 'SET plan_cache_mode = force_generic_plan');
check_programs($session, 'parameters', 1, "EXECUTE p ('sometimes', 'k5')", "EXECUTE p ('ok', 'k1')", "EXECUTE p (NULL, 'k1')", "EXECUTE p ('kind', NULL)");
run('RESET plan_cache_mode', 'DEALLOCATE p', 'CREATE INDEX ON t USING gin (data)', 'SET enable_seqscan = off');
check_plans($session, 'an index', sub { return $_[0] =~ /Bitmap Heap Scan/; }, "SELECT data->>'kind', count(*) FROM t WHERE data \@> '{\"kind\": \"k3\"}' GROUP BY 1");
run('RESET enable_seqscan');

# ---- how many groups are expected, by documents of statistics
foreach my $key ([ "data->>'kind'", 10, 40 ], [ "coalesce(data->'user'->>'plan', 'none')", 3, 20 ], [ "data#>>'{user,of,team}'", 5, 25 ], [ "(data->>'count')::int", 25, 3_000 ], [ "lower(data->>'kind') || (data->>'kind')", 10, 40 ], [ "data->>'large'", $rows / 4, $rows ], [ "data->>'kind', data->>'sometimes'", 60, 800 ],
	[ "(data->>'kind') || id", $rows / 4, $rows ], [ "(data->>'kind') || (more->>'key17')", $rows / 20, $rows ])
{
	my ($expression, $least, $most) = @$key;
	my ($expected) = $session->query("SET mgpu.enable_group = force; EXPLAIN SELECT $expression, count(*) FROM t GROUP BY $expression") =~ /MgpuGroup.*?rows=(\d+)/;

	cmp_ok($expected, '>=', $least, "at least $least groups are expected of $expression");
	cmp_ok($expected, '<=', $most, "... and at most $most");
}
run('RESET mgpu.enable_group');

# ---- lists, and what is no number: PostgreSQL's functions
check_programs($session, 'other values', 0, "SELECT data->>'list', count(*) FROM t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10", "SELECT data->>'user' IS NULL, count(*) FROM t GROUP BY 1",
	"SELECT kind, sum((data->>'count')::numeric / 7 / 3) FROM t GROUP BY 1", "SELECT data->'ok', count(*) FROM t GROUP BY 1");
check_programs($session, 'errors', 0, "SELECT sum((data->>'kind')::int) FROM t", "SELECT kind, sum((data->>'price')::int) FROM t GROUP BY 1", "SELECT kind, max((data->>'large')::int) FROM t GROUP BY 1");
run('CREATE TABLE odd AS SELECT * FROM t', "UPDATE odd SET data = '[\"kind\", 1]' WHERE id = 100", "UPDATE odd SET data = '\"kind\"' WHERE id = 200", "UPDATE odd SET data = '5' WHERE id = 300", 'VACUUM ANALYZE odd');
check_programs($session, 'documents that are no objects', 1, "SELECT data->>'kind', count(*) FROM odd GROUP BY 1", "SELECT (data->>'price')::numeric(8,2), count(*) FROM odd GROUP BY 1");
check_programs($session, 'elements of those', 1, "SELECT data#>>'{kind}', count(data->>'kind') FROM odd GROUP BY 1", "SELECT kind, count(data->>0), count(data#>>'{1}') FROM odd WHERE id NOT IN (200, 300) GROUP BY 1");
check_programs($session, 'paths that are none', 0, "SELECT kind, count(data->>0), count(data#>>'{0}') FROM odd GROUP BY 1", "SELECT kind, count(data->'list'->>-1) FROM t GROUP BY 1", "SELECT kind, count(data#>>'{list,-1}') FROM t GROUP BY 1", "SELECT kind, count(data#>>'{}') FROM t GROUP BY 1", "SELECT kind, count(data#>>ARRAY['user', NULL]) FROM t GROUP BY 1",
	"SELECT kind, count(data#>>ARRAY['user', kind]) FROM t GROUP BY 1", "SELECT kind, count(data->'list'->>id) FROM t GROUP BY 1", "SELECT data->'user'->'of', count(*) FROM t GROUP BY 1 HAVING data->'user'->'of' IS NOT NULL");
check_programs($session, 'keys of what is no container', 0, "SELECT kind, count(data->'user'->>0) FROM t GROUP BY 1", "SELECT kind, count(*) FROM t WHERE data->'kind' ? 'k3' GROUP BY 1", "SELECT kind, count(*) FROM t WHERE NOT data->'count' ? 'k3' GROUP BY 1", "SELECT kind, count(*) FROM t WHERE NOT data->'none' ? 'x' GROUP BY 1");
check_programs($session, 'strings of arrays', 0, "SELECT kind, count(*) FROM odd WHERE data ? 'kind' GROUP BY 1");
run("UPDATE odd SET data = data || jsonb_build_object('long', (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 300) g)) WHERE id = 401");
check_programs($session, 'documents that are not in their rows', 0, "SELECT data->>'kind', count(*) FROM odd GROUP BY 1");
ok(service_is_idle($node), 'nothing is left in the service');
done_testing();
