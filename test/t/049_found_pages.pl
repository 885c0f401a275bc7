# Jobs over the pages that an index names: of any index, by rows or pages alone, of partitions, sides of joins, and once more.  The answers are those of
# PostgreSQL's own plan, also where rows have moved since the index was read.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('found_pages', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(40_000, 800_000);
my $most = $rows / 5;

sub run { return $session->run(@_); }

# A job reads the pages that an index names.  A GPU reads a small table sooner than its index.
sub check_found
{
	my ($name, @queries) = @_;

	run('SET enable_seqscan = off');
	check_plans($session, $name, sub {
		my ($plan, $executor) = @_;

		return $plan =~ /Executor: $executor\n.*Bitmap Heap Scan.*Bitmap (?:Index Scan|And|Or)/s;
	}, @queries);
	run('RESET enable_seqscan');
	return;
}

run('CREATE TABLE t (id int PRIMARY KEY, at timestamptz NOT NULL, k int, label text, n numeric(8, 2), f float8, tags int[])',
	"INSERT INTO t SELECT i, '2026-01-01'::timestamptz + i * interval '1 minute', CASE WHEN i % 9 > 0 THEN (i * 7919::bigint) % 5000 END, CASE WHEN i % 7 > 0 THEN 'label ' || i % 30 END, i % 997 / 8.0, i / 7.0, ARRAY[i % 100, i / 1000] FROM generate_series(1, $rows) i",
	'CREATE INDEX at_tree ON t (at)', 'CREATE INDEX ON t (k)', 'CREATE TABLE kinds (k int PRIMARY KEY, name text)', "INSERT INTO kinds SELECT i, 'kind ' || i % 40 FROM generate_series(0, 4999) i", 'VACUUM ANALYZE');
my $day = "at BETWEEN '2026-01-05' AND '2026-01-05'::timestamptz + $most * interval '1 minute'";

# ---- conditions and nodes
my @queries = ("SELECT label, count(*), sum(n), max(f) FROM t WHERE $day GROUP BY 1", "SELECT date_trunc('day', at), label, max(id), count(k) FROM t WHERE $day AND id % 3 > 0 GROUP BY 1, 2", "SELECT count(*), sum(n) FROM t WHERE $day AND label IS NULL",
	"SELECT k % 5, percentile_cont(0.4) WITHIN GROUP (ORDER BY f), count(DISTINCT label) FROM t WHERE $day GROUP BY 1", "SELECT * FROM t WHERE $day ORDER BY f DESC, id LIMIT 30", "SELECT label, id, n FROM t WHERE $day ORDER BY label, n, id",
	"SELECT label, k % 3, count(*) FROM t WHERE $day GROUP BY CUBE (1, 2)", "SELECT count(*), max(f) FROM t WHERE id > $rows - $most AND id <> 5");
check_found('a btree index', @queries);
check_found('several', "SELECT label, count(*), sum(n) FROM t WHERE $day AND at < '2026-01-05'::timestamptz + $most / 2 * interval '1 minute' OR id < $most / 4 GROUP BY 1") unless $MgpuTest::LARGE;
check_found('no row', "SELECT label, count(*) FROM t WHERE $day AND f = -1 GROUP BY 1", "SELECT count(*), min(n) FROM t WHERE $day AND f < 0");
check_plans($session, 'sides of joins', sub { return $_[0] =~ /Executor: $_[1]\n.*Joins: 1 looked up/s && ($_[1] eq 'gpu' || $_[0] =~ /Bitmap Heap Scan/); }, "SELECT name, count(*), sum(n) FROM t JOIN kinds USING (k) WHERE $day GROUP BY 1", "SELECT name, label, avg(n) FROM t LEFT JOIN kinds ON kinds.k = t.k AND name > 'kind 3' WHERE $day GROUP BY 1, 2",
	"SELECT label, count(*) FROM t WHERE $day AND EXISTS (SELECT FROM kinds WHERE kinds.k = t.k AND name < 'kind 2') GROUP BY 1");
check_plans($session, 'a build', sub { return $_[0] =~ /Executor: .*Joins: 1 looked up.*Seq Scan on t l.*Hash/s && ($_[1] eq 'gpu' || $_[0] =~ /Bitmap Heap Scan on t/); }, "SELECT l.label, count(*), sum(t.n) FROM t l JOIN t ON t.id = l.id + 1 WHERE t.$day GROUP BY 1");

# ---- pages alone
run("SET work_mem = '64kB'", 'SET enable_seqscan = off');
check_plans($session, 'bitmaps that do not fit', sub { return $_[0] =~ /Bitmap Heap Scan/; }, 'SELECT label, count(*), sum(n) FROM t WHERE k < 2000 GROUP BY 1', $queries[0], $queries[2]);
run('RESET work_mem', 'RESET enable_seqscan', 'CREATE INDEX at_ranges ON t USING brin (at) WITH (pages_per_range = 4)', 'CREATE INDEX tags_gin ON t USING gin (tags)', 'ALTER TABLE t ALTER tags SET STATISTICS 500', 'ANALYZE t', 'BEGIN', 'DROP INDEX at_tree');
check_found('BRIN', @queries[0 .. 5]);
run('ROLLBACK', 'CREATE INDEX part_of ON t (at) WHERE id % 2 = 0', 'ANALYZE t');
check_plans($session, 'a partial index', sub { return $_[0] =~ /part_of/; }, "SELECT label, count(*) FROM t WHERE $day AND id % 2 = 0 GROUP BY 1");
check_plans($session, 'GIN', sub { return 1; }, 'SELECT label, count(*), sum(f) FROM t WHERE tags @> ARRAY[7] GROUP BY 1', 'SELECT label, count(*) FROM t WHERE tags && ARRAY[3, 8, 11] AND k > 5 GROUP BY 1');
run('DROP INDEX part_of, tags_gin, at_ranges');

# ---- rows that change
run("UPDATE t SET label = 'changed' WHERE id % 10 = 3", 'DELETE FROM t WHERE id % 11 = 4', "UPDATE t SET at = at + interval '1 year' WHERE id % 40 = 7", 'ANALYZE t');
check_found('changed rows', @queries);
run('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM kinds');
my $other = MgpuTest->session($node);
$other->run("UPDATE t SET label = 'later', at = at + interval '2 days' WHERE id % 6 = 1", "INSERT INTO t SELECT $rows + i, '2026-01-06', i FROM generate_series(1, 2000) i", 'VACUUM t');
check_found('an old snapshot', @queries[0 .. 5]);
run('COMMIT');
check_found('after that', @queries[0 .. 5]);
run('BEGIN', "UPDATE t SET label = 'own', n = n + 1 WHERE id % 4 = 1", 'DELETE FROM t WHERE id % 17 = 2');
check_found('changes of its own', @queries[0 .. 5]);
run('ROLLBACK', 'VACUUM (FREEZE, ANALYZE) t');

# ---- once more
check_plans($session, 'parameters', sub { return $MgpuTest::LARGE || $_[0] =~ /Bitmap Heap Scan/; },
	"SELECT d, q.* FROM generate_series(1, 4) d, LATERAL (SELECT label, count(*), sum(n) FROM t WHERE at BETWEEN '2026-01-01'::timestamptz + d::float8 / 1 * interval '2 days' AND '2026-01-03'::timestamptz + d::float8 / 1 * interval '2 days' GROUP BY 1) q");
run("PREPARE p (timestamptz) AS SELECT label, count(*), sum(n) FROM t WHERE at >= \$1 AND at < \$1 + interval '3 days' GROUP BY 1", 'SET plan_cache_mode = force_generic_plan');
check_plans($session, 'a generic plan', sub { return $MgpuTest::LARGE || $_[0] =~ /Bitmap Heap Scan/; }, "EXECUTE p ('2026-01-05')", "EXECUTE p ('2026-01-12')", "EXECUTE p (NULL)");
run('RESET plan_cache_mode', 'DEALLOCATE p', 'CREATE TABLE odd AS SELECT id, at, k, f FROM t', "UPDATE odd SET f = 'NaN' WHERE id % 700 = 1", 'UPDATE odd SET k = 0 WHERE id % 900 = 1', 'CREATE INDEX ON odd (at)', 'VACUUM ANALYZE odd');
# what programs do not compute ends a job, and its rows are read from the first page on
check_plans($session, 'a job that ends early', sub { return 1; }, "SELECT k % 7, sum(1000000000000000000 * k::numeric), max(f) FROM odd WHERE $day GROUP BY 1", "SELECT k % 7, count(*) FROM odd WHERE $day AND 100 / k > 1 GROUP BY 1");
run("SET mgpu.inject_fault = device_memory", "SET client_min_messages = error");
run('SET enable_seqscan = off');
check_plans($session, 'a GPU that fails', sub { return $_[0] =~ /Executor: cpu\n.*Bitmap Heap Scan/s; }, @queries[0 .. 2]);
run('RESET enable_seqscan', 'RESET mgpu.inject_fault', 'RESET client_min_messages');

# ---- partitions
run('CREATE TABLE parts (LIKE t) PARTITION BY RANGE (at)', (map { "CREATE TABLE parts_$_ PARTITION OF parts FOR VALUES FROM ('2026-01-01'::timestamptz + " . ($_ * $rows / 2) . " * interval '1 minute') TO ('2026-01-01'::timestamptz + " . (($_ + 1) * $rows / 2) . " * interval '1 minute')" } 0 .. 1),
	'CREATE TABLE parts_rest PARTITION OF parts DEFAULT', 'CREATE INDEX ON parts (at)', 'INSERT INTO parts SELECT * FROM t', 'VACUUM ANALYZE parts');
check_found('partitions', map { s/FROM t\b/FROM parts t/r } @queries[0 .. 3]);
# one without the index, which is read as a whole
run('CREATE TABLE all_of (LIKE t)', 'CREATE TABLE of_a () INHERITS (all_of)', 'CREATE TABLE of_b () INHERITS (all_of)', "INSERT INTO of_a SELECT * FROM t WHERE id < $rows / 2", "INSERT INTO of_b SELECT * FROM t WHERE id >= $rows / 2", 'CREATE INDEX ON of_a (at)',
	'VACUUM ANALYZE all_of, of_a, of_b');
check_plans($session, 'one of two without an index', sub { return $_[0] =~ /Executor: $_[1]\n/ && ($_[1] eq 'gpu' || $_[0] =~ /Bitmap Heap Scan on of_a.*Seq Scan on of_b/s); }, $queries[0] =~ s/FROM t\b/FROM all_of t/r);
check_plans($session, 'or read as a whole, too', sub { return $_[0] =~ /Executor: $_[1]\n/; }, map { s/FROM t\b/FROM all_of t/r } @queries[1 .. 3]);
# children that are no partitions return their columns, and expressions are computed above them
check_plans($session, 'expressions of children', sub { return $_[0] =~ /Input: pages as columns/; }, map { my $few = $_; map { "SELECT $_ FROM all_of WHERE at BETWEEN '2026-01-05' AND '2026-01-05'::timestamptz + $few * interval '1 minute' GROUP BY 1" }
	"date_trunc('hour', at), count(*), max(id + 1)", "k % 7, count(*) FILTER (WHERE n > 3)", "left(label, 7), sum(n * 2)" } 300, 1000, 5000);

# ---- who may see what
run('CREATE ROLE reader', 'GRANT SELECT ON t TO reader', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY', 'CREATE POLICY thirds ON t TO reader USING (id % 3 = 0)', 'SET ROLE reader');
check_found('rows that a role may see', @queries[0 .. 3]);
run('RESET ROLE');
is($session->query("SET enable_bitmapscan = off; EXPLAIN $queries[0]") =~ /Bitmap/ ? 1 : 0, 0, 'enable_bitmapscan');
ok(service_is_idle($node), 'nothing is left in the service');
done_testing();
