# Aggregates over all rows, as count(*) OVER () beside a page of rows: subqueries in their place, where that costs less.  The answers are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('whole', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', 'autovacuum = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(20_000, 100_000);

sub run { return $session->run(@_); }

# Whether the plan has subqueries in place of windows, where no node is forced: then nothing costs anything.
sub check_whole
{
	my ($name, @queries) = @_;

	check_plans($session, $name, sub { return 1; }, @queries);
	run('RESET mgpu.executor');
	foreach my $query (@queries)
	{
		my $plan = $session->query("SET mgpu.enable_group = on; SET mgpu.enable_top = on; SET mgpu.enable_sort = on; SET mgpu.enable_scan = on; EXPLAIN (COSTS off) $query");

		ok($plan =~ /InitPlan/ && $plan !~ /WindowAgg/, "the plan: $query");
	}
	return;
}
sub check_windows { my ($name, @queries) = @_; check_plans($session, $name, sub { return $_[0] !~ /InitPlan/; }, @queries); return; }

run('CREATE TABLE sales (id int PRIMARY KEY, g int, total numeric(10,2), bare numeric, f float8, k text COLLATE "C", at timestamp, o bool)',
	"INSERT INTO sales SELECT i, i % 40, CASE WHEN i % 9 > 0 THEN i::int8 * 7919 % 100000 / 100.0 END, round(i / 7.0, i % 4), i / 8.0, 'k' || i % 30, timestamp '2024-01-01' + i * interval '1 min', i % 3 = 0 FROM generate_series(1, $rows) i",
	"CREATE TABLE groups AS SELECT i AS g, 'name ' || i AS name FROM generate_series(0, 39) i", 'VACUUM ANALYZE');

check_whole('pages', 'SELECT id, k, count(*) OVER () AS n FROM sales WHERE total > 100 ORDER BY total DESC, id LIMIT 20', 'SELECT id, count(*) OVER (), count(total) OVER (), sum(g) OVER () FROM sales WHERE o ORDER BY total NULLS FIRST, id OFFSET 40 FETCH FIRST 5 ROWS ONLY',
	'SELECT id, count(*) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM sales WHERE total > 100 ORDER BY at DESC, id LIMIT 3');
check_whole('shares', 'SELECT count(*), sum(round(s, 6)), max(round(100 * s, 3)) FROM (SELECT total / sum(total) OVER () AS s FROM sales) q', 'SELECT id, round(total / max(total) OVER (), 4), avg(total) OVER (), sum(bare) OVER (), min(at) OVER () FROM sales ORDER BY id DESC LIMIT 7', 'SELECT count(*), sum(total) FROM (SELECT total, avg(total) OVER () AS m FROM sales) q WHERE total > m',
	'SELECT g, count(*) FROM (SELECT g, total, stddev(total) OVER () AS d, count(*) FILTER (WHERE o) OVER () AS c FROM sales) q WHERE total > d AND c > 3 GROUP BY 1');
check_plans($session, 'beside other windows and subqueries', sub { return 1; }, 'SELECT s.id, name, count(*) OVER () FROM sales s JOIN groups USING (g) WHERE name LIKE \'%3\' ORDER BY total DESC NULLS LAST, s.id LIMIT 9', 'SELECT id, bool_or(o) OVER (), max(k) OVER () FROM sales WHERE id < 9000 ORDER BY id LIMIT 2', 'SELECT id, count(*) OVER (), row_number() OVER (ORDER BY id) FROM sales WHERE g = 3 ORDER BY id LIMIT 5', 'SELECT id, sum(total) OVER () - (SELECT max(total) FROM sales) FROM sales ORDER BY id LIMIT 5', 'SELECT DISTINCT g, count(*) OVER () FROM sales ORDER BY 1',
	'WITH s AS (SELECT * FROM sales WHERE g < 9) SELECT g, total / sum(total) OVER () FROM s ORDER BY id LIMIT 30', 'SELECT g.name, (SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM sales s WHERE s.g = g.g LIMIT 1) q) FROM groups g ORDER BY 1', 'SELECT name, q.* FROM groups g, LATERAL (SELECT id, count(*) OVER () FROM sales s WHERE s.g = g.g ORDER BY total NULLS LAST, id LIMIT 2) q ORDER BY 1, 2',
	'SELECT id, count(*) OVER () FROM sales WHERE id < 0', 'SELECT count(*) OVER () FROM (SELECT 1 WHERE false) x', 'SELECT id, n FROM (SELECT id, count(*) OVER () AS n FROM sales UNION ALL SELECT g, count(*) OVER () FROM groups) q ORDER BY 1, 2 LIMIT 50');
check_windows('what has an order, or is not the same twice', 'SELECT max(s) FROM (SELECT sum(f) OVER () AS s FROM sales) q', 'SELECT max(s) FROM (SELECT max(bare) OVER () AS s FROM sales) q', 'SELECT max(s) FROM (SELECT avg(f) OVER () AS s FROM sales) q', 'SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM sales WHERE random() < 2) q', 'SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM sales TABLESAMPLE SYSTEM (100)) q', 'SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM (SELECT * FROM sales TABLESAMPLE BERNOULLI (100)) s) q', 'SELECT g, sum(count(*)) OVER () FROM sales GROUP BY g ORDER BY 1',
	'SELECT max(n) FROM (SELECT count(*) OVER (ORDER BY g) AS n FROM sales) q', 'SELECT max(n) FROM (SELECT count(*) OVER (ROWS 3 PRECEDING) AS n FROM sales) q', 'SELECT max(n) FROM (SELECT row_number() OVER () AS n FROM sales) q', 'SELECT max(n) FROM (SELECT array_length(array_agg(id) OVER (), 1) AS n FROM sales WHERE id < 100) q', 'SELECT id, count(*) OVER () FROM sales WHERE id < 5 ORDER BY id');
run('SET mgpu.enable_correlated = off');
check_windows('by the setting', 'SELECT id, k, count(*) OVER () AS n FROM sales WHERE total > 100 ORDER BY total DESC, id LIMIT 20');
run('RESET mgpu.enable_correlated');
is($session->query('PREPARE p AS SELECT id, count(*) OVER () FROM sales WHERE total > $1 ORDER BY total DESC, id LIMIT 2; EXECUTE p (900); EXECUTE p (990); SET plan_cache_mode = force_generic_plan; EXECUTE p (900)'),
	$session->query('SET mgpu.enable_correlated = off; SELECT id, count(*) OVER () FROM sales WHERE total > 900 ORDER BY total DESC, id LIMIT 2; SELECT id, count(*) OVER () FROM sales WHERE total > 990 ORDER BY total DESC, id LIMIT 2; SELECT id, count(*) OVER () FROM sales WHERE total > 900 ORDER BY total DESC, id LIMIT 2'), 'a prepared statement');
run('RESET ALL', 'CREATE VIEW pages AS SELECT id, total, count(*) OVER () AS n FROM sales', 'CREATE ROLE reader', 'GRANT SELECT ON pages TO reader', 'ALTER TABLE sales ENABLE ROW LEVEL SECURITY', 'CREATE POLICY few ON sales TO reader USING (id <= 15000)', 'GRANT SELECT ON sales TO reader');
is($session->query('SET ROLE reader; SELECT max(n) FROM pages; SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM sales) q; RESET ROLE'), "$rows\n15000", 'privileges, and policies of rows');
like($session->query('EXPLAIN (COSTS off) INSERT INTO groups SELECT id, count(*) OVER () FROM sales WHERE g = 3'), qr/Insert on groups/, 'rows that are inserted');

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
