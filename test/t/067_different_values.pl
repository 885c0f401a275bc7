# mode(), and aggregates with DISTINCT that a job has no way of its own for: further jobs find the different values of each group, beside the job that has all other aggregates
# (exec/group_values.c).  The answers are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('different_values', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', 'autovacuum = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(20_000, 100_000);

sub run { return $session->run(@_); }

# Values of each group that a job has found, and whether its aggregates come of them.
sub check_found
{
	my ($name, $is_found, @queries) = @_;

	check_plans($session, $name, sub { return ($_[0] =~ /Executor: $_[1]\n.*Values of Groups: \d/s ? 1 : 0) == $is_found; }, @queries);
	return;
}

run("CREATE TYPE mood AS ENUM ('glad', 'calm', 'grim')",
	'CREATE TABLE visits (id int, g int, h text COLLATE "C", kind text, short varchar(8), code char(3), small int2, num int, big int8, price numeric(8,2), level float8, flag bool, d date, at timestamptz, mood mood, u uuid, props jsonb)',
	"INSERT INTO visits SELECT i, i % 11, 'h' || i % 5, CASE WHEN i % 7 > 0 THEN 'kind ' || i * 31 % 13 END, 's' || i % 17, 'c' || i % 3, i % 9, CASE WHEN i % 23 > 0 THEN i * 7919::bigint % 19 END, i % 4 * 10000000000, CASE WHEN i % 5 > 0 THEN i * 13 % 29 / 4.0 END, i % 6 / 8.0, CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END,
		'2024-01-01'::date + i % 8, '2024-01-01 00:00Z'::timestamptz + i % 10 * interval '1 hour', (ARRAY['glad', 'calm', 'grim', NULL])[i % 4 + 1]::mood, ('00000000-0000-0000-0000-00000000000' || i % 6)::uuid, jsonb_build_object('k', i % 5) FROM generate_series(1, $rows) i",
	"CREATE TABLE places (g int PRIMARY KEY, name text, area text)", "INSERT INTO places SELECT i, 'place ' || i % 4, CASE WHEN i % 3 > 0 THEN 'area ' || i % 2 END FROM generate_series(0, 9) i",
	"CREATE TABLE many AS SELECT i AS id, i % ($rows / 4) AS g, i % 3 AS k FROM generate_series(1, $rows) i",
	'CREATE TABLE none (g int, k text)', 'VACUUM ANALYZE');

# ---- each aggregate
my @functions = ("string_agg(DISTINCT kind, ',')", "string_agg(DISTINCT kind, ',' ORDER BY kind DESC)", 'array_agg(DISTINCT kind)', 'array_agg(DISTINCT num ORDER BY num DESC NULLS LAST)', 'json_agg(DISTINCT short)', 'jsonb_agg(DISTINCT price)',
	'sum(DISTINCT num)', 'sum(DISTINCT price)', 'avg(DISTINCT price)', 'avg(DISTINCT small)', 'sum(DISTINCT level)', 'min(DISTINCT price)', 'max(DISTINCT kind)', 'bool_and(DISTINCT flag)', 'stddev(DISTINCT num)', 'variance(DISTINCT price)', 'bit_or(DISTINCT num)',
	'array_agg(DISTINCT d)', 'array_agg(DISTINCT at)', 'array_agg(DISTINCT mood)', 'array_agg(DISTINCT u)', 'array_agg(DISTINCT flag)', 'array_agg(DISTINCT big)', 'array_agg(DISTINCT code)', 'array_agg(DISTINCT level ORDER BY level)', "string_agg(DISTINCT h, '' ORDER BY h)", 'array_agg(DISTINCT small % 3)', "string_agg(DISTINCT lower(kind) || code, ' ')", "array_agg(DISTINCT date_trunc('day', at))",
	"array_agg(DISTINCT props->>'k')", "string_agg(DISTINCT kind, h)", "string_agg(DISTINCT kind, h ORDER BY kind, h)", "array_agg(DISTINCT 1)", "regr_count(DISTINCT num, small)");
check_found('by a key', 1, map { "SELECT g, $_ FROM visits GROUP BY g" } grep { !/DISTINCT 1\)/ } @functions);
check_plans($session, 'of constants', sub { return 1; }, map { "SELECT g, $_ FROM visits GROUP BY g" } 'array_agg(DISTINCT 1)', "string_agg(DISTINCT 'x', ',')", 'count(DISTINCT 1)', 'sum(DISTINCT 2.50)');
check_found('beside others', 1, map { "SELECT h, flag, count(*), sum(price), avg(level), percentile_cont(0.5) WITHIN GROUP (ORDER BY num), count(DISTINCT d), $_ FROM visits GROUP BY h, flag" } @functions[0, 3, 6, 24, 31]);
check_found('of all rows', 1, map { "SELECT count(*), $_ FROM visits" } @functions[0, 2, 3, 7, 10]);
check_found('of a filter', 1, map { ("SELECT g, $_ FILTER (WHERE small > 3), min(id) FROM visits GROUP BY g", "SELECT h, count(*), $_ FILTER (WHERE kind IS NULL), $_ FILTER (WHERE flag) FROM visits GROUP BY h") } @functions[0, 2, 3, 6, 8]);
check_found('of some rows', 1, map { "SELECT d, $_ FROM visits WHERE num < 9 AND kind <> 'kind 3' GROUP BY d HAVING count(*) > 3 ORDER BY d" } @functions[0, 3, 7, 9]);

check_found('modes', 1, map { my $x = $_; map { ("SELECT g, mode() WITHIN GROUP (ORDER BY $x$_) FROM visits GROUP BY g", "SELECT h, count(*), mode() WITHIN GROUP (ORDER BY $x$_) FILTER (WHERE small > 3), mode() WITHIN GROUP (ORDER BY num), max(num), array_agg(DISTINCT num) FROM visits GROUP BY h") } '', ' DESC' } 'kind', 'num', 'price', 'level', 'flag', 'd', 'mood', 'u', 'code', 'small % 2', 'lower(kind) || code');
check_found('modes of all rows', 1, "SELECT mode() WITHIN GROUP (ORDER BY kind), mode() WITHIN GROUP (ORDER BY small + num) FROM visits", "SELECT p.name, mode() WITHIN GROUP (ORDER BY v.kind), count(*) FROM visits v JOIN places p USING (g) GROUP BY p.name", "SELECT g, mode() WITHIN GROUP (ORDER BY kind), mode() WITHIN GROUP (ORDER BY kind DESC) FILTER (WHERE flag), string_agg(DISTINCT kind, ',') FROM visits GROUP BY g ORDER BY g");

# ---- several of them, and expressions of them
check_found('several', 1, "SELECT g, string_agg(DISTINCT kind, ','), string_agg(DISTINCT kind, ';' ORDER BY kind DESC), array_agg(DISTINCT kind) FROM visits GROUP BY g", "SELECT g, array_agg(DISTINCT num), array_agg(DISTINCT small), sum(DISTINCT price), count(DISTINCT num), count(num) FROM visits GROUP BY g",
	"SELECT g, array_length(array_agg(DISTINCT kind), 1), upper(string_agg(DISTINCT short, '')) FROM visits GROUP BY g HAVING string_agg(DISTINCT kind, ',') LIKE '%1%'", "SELECT g, array_agg(DISTINCT g), array_agg(DISTINCT g + 1) FROM visits GROUP BY g", "SELECT kind, array_agg(DISTINCT kind), sum(DISTINCT num) FROM visits GROUP BY kind",
	"SELECT g, array_agg(DISTINCT num) FILTER (WHERE flag), array_agg(DISTINCT num) FILTER (WHERE NOT flag), array_agg(DISTINCT num) FROM visits GROUP BY g");
check_found('of joins', 1, "SELECT p.name, count(*), string_agg(DISTINCT v.kind, ',') FROM visits v JOIN places p ON p.g = v.g GROUP BY p.name", "SELECT v.h, string_agg(DISTINCT p.area, ',' ORDER BY p.area), sum(v.price) FROM visits v LEFT JOIN places p ON p.g = v.g GROUP BY v.h", "SELECT p.area, array_agg(DISTINCT p.name), sum(DISTINCT v.small) FILTER (WHERE v.flag) FROM visits v JOIN places p USING (g) WHERE v.num > 3 GROUP BY p.area");
check_plans($session, 'of sets', sub { return 1; }, map { "SELECT h, d, count(*), $_ FROM visits GROUP BY ROLLUP (h, d)" } @functions[0, 2, 6, 8]);
check_plans($session, 'of windows', sub { return 1; }, "SELECT h, string_agg(DISTINCT kind, ','), max(n) FROM (SELECT h, kind, row_number() OVER (PARTITION BY h ORDER BY id) AS n FROM visits) s GROUP BY h", "SELECT h, string_agg(DISTINCT kind, ','), sum(count(*)) OVER (ORDER BY h) FROM visits GROUP BY h");

# ---- no rows, many groups, too many values, and once more for each row
check_plans($session, 'no rows', sub { return 1; }, "SELECT mode() WITHIN GROUP (ORDER BY k), count(*) FROM none", "SELECT g, mode() WITHIN GROUP (ORDER BY kind) FILTER (WHERE num > 100) FROM visits GROUP BY g", "SELECT g, array_agg(DISTINCT k) FROM none GROUP BY g", "SELECT array_agg(DISTINCT k), string_agg(DISTINCT k, ','), count(*) FROM none", "SELECT array_agg(DISTINCT kind), sum(DISTINCT num), count(*) FROM visits WHERE num > 100", "SELECT g, array_agg(DISTINCT kind) FROM visits WHERE num > 100 GROUP BY g");
check_found('many groups', 1, 'SELECT g, array_agg(DISTINCT k), count(*) FROM many GROUP BY g', 'SELECT g, sum(DISTINCT k) FROM many GROUP BY g HAVING count(*) > 1');
run("SET work_mem = '64kB'");
check_found('too many values', 0, 'SELECT g, array_agg(DISTINCT id), count(*) FROM many GROUP BY g', 'SELECT k, array_agg(DISTINCT id) FROM many GROUP BY k');
# more come than statistics expect
run('CREATE TABLE more AS SELECT i % 5 AS g, i % 6 AS k FROM generate_series(1, 2000) i', 'ANALYZE more', "INSERT INTO more SELECT i % 5, i FROM generate_series(1, $rows) i");
check_plans($session, 'more values than expected', sub { return 1; }, 'SELECT g, array_agg(DISTINCT k), count(*) FROM more GROUP BY g', 'SELECT sum(DISTINCT k) FROM more');
run('RESET work_mem');
check_plans($session, 'for each row', sub { return 1; }, "SELECT p.g, (SELECT string_agg(DISTINCT v.kind, ',') || count(*) FROM visits v WHERE v.small > p.g OFFSET 0) FROM places p", "SELECT p.g, s.* FROM places p, LATERAL (SELECT v.flag, array_agg(DISTINCT v.num), count(*) FROM visits v WHERE v.num <> p.g GROUP BY v.flag OFFSET 0) s WHERE p.g < 4");
run("PREPARE wanted (int) AS SELECT g, string_agg(DISTINCT kind, ','), sum(DISTINCT num + \$1) FROM visits WHERE num <> \$1 GROUP BY g");
check_plans($session, 'prepared', sub { return 1; }, 'EXECUTE wanted(3)', 'EXECUTE wanted(4)', 'EXECUTE wanted(NULL)');
run('BEGIN', "DECLARE c SCROLL CURSOR FOR SELECT g, string_agg(DISTINCT kind, ',') FROM visits GROUP BY g ORDER BY g", 'FETCH ALL FROM c');
is($session->query('MOVE ABSOLUTE 2 IN c; FETCH 1 FROM c'), $session->query("SELECT g, string_agg(DISTINCT kind, ',') FROM visits WHERE g = 2 GROUP BY g"), 'a cursor goes back');
run('COMMIT');

# ---- values that are equal and look different, and those that have no cells
run('CREATE TABLE odd AS SELECT i % 3 AS g, (CASE i % 4 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 WHEN 2 THEN 2 ELSE NULL END)::numeric AS n, CASE WHEN i % 2 = 0 THEN \'-0\'::float8 ELSE 0 END AS f, repeat(\'long \', 30 + i % 3) AS t, i % 5 * interval \'1 day\' AS v, point(i % 2, 0) AS p, ARRAY[i % 4] AS a FROM generate_series(1, 5000) i', 'ANALYZE odd');
check_plans($session, 'odd values', sub { return 1; }, map { "SELECT g, $_, count(*) FROM odd GROUP BY g" } 'sum(DISTINCT n)', 'avg(DISTINCT n)', "md5(string_agg(DISTINCT t, ','))", 'sum(DISTINCT v)', 'array_agg(DISTINCT v)', 'array_agg(DISTINCT a)', 'count(DISTINCT n)');
like($session->query('SELECT g, array_agg(DISTINCT p) FROM odd GROUP BY g'), qr/could not identify an equality operator/, 'no equality');
like($session->query('SELECT g, sum(DISTINCT 10 / k) FROM more GROUP BY g'), qr/division by zero/, 'a fault');
is($session->query("SELECT count(*) FROM visits"), $rows, 'the session goes on');

$session->close;
$node->stop;
done_testing();
