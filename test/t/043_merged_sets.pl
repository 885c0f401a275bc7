# Grouping sets whose groups are merged from those of a larger set, which a job finds.  The answers are PostgreSQL's, whatever becomes of that job: it
# writes its groups to a file, they are too many to be merged in memory, it gives up, its node is read anew, or in another process.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('merged_sets', conf => [ 'hash_mem_multiplier = 2', 'shared_preload_libraries = mgpu_pg', 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off -c mgpu.executor=cpu -c mgpu.cpu_threads=2');
my $rows = sized(20_000, 200_000);

sub run { return $session->run(@_); }

# How many sets of a statement are merged, and how many have a job or rows of their own.
sub count_sets
{
	my ($plan) = @_;

	return (scalar(() = $plan =~ /Input: groups of another set/g), scalar(() = $plan =~ /Executor: cpu/g), scalar(() = $plan =~ /Input: pages as columns/g));
}

# By the nodes, so many sets are merged, the others read; the answers are PostgreSQL's.
sub check_sets
{
	my ($query, $merged, $jobs) = @_;

	$session->favour('force');
	my $plan = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) $query");
	is_deeply([ (count_sets($plan))[ 0, 1 ] ], [ $merged, $jobs ], "merged and read: $query") or diag $plan;
	return check_answer($query);
}

sub answer
{
	my ($nodes, $query) = @_;

	$session->favour($nodes);
	return join("\n", sort split /\n/, $session->query($query));
}

sub check_answer
{
	my ($query) = @_;

	return is(answer('force', $query), answer('off', $query), "PostgreSQL's answer: $query");
}

run('CREATE TABLE t (id int PRIMARY KEY, a int, b int2, c numeric(8,2), k text, d date, v int8, n numeric(12,3), f float8, m numeric)',
	"INSERT INTO t SELECT i, nullif(i % 7, 3), i % 5, nullif(i % 6, 2) / 4.0, nullif('key ' || i % 11, 'key 4'), date '2026-01-01' + i % 9, nullif(i * 7919::int8 % 10007 - 5000, 7),
		(i % 977) / 8.0, i % 100 / 8.0, i % 13 FROM generate_series(1, $rows) i",
	"CREATE TABLE labels AS SELECT i AS id, 'label ' || i % 3 AS label, chr(97 + i) AS letter FROM generate_series(0, 4) i", 'CREATE TABLE empty (a int, b int, v int)', 'VACUUM ANALYZE');

# ---- what is merged

check_sets('SELECT a, b, count(*), sum(v), avg(v), min(v), max(v) FROM t GROUP BY ROLLUP (a, b)', 2, 1);
check_sets('SELECT a, k, c, count(v), sum(n), avg(n), min(n), max(c) FROM t GROUP BY CUBE (a, k, c)', 7, 1);
check_sets('SELECT d, k, grouping(d, k), bool_and(v > -4999), max(d), count(*) FILTER (WHERE v > 0) FROM t GROUP BY CUBE (d, k)', 3, 1);
check_sets('SELECT a, b, sum(v) FROM t GROUP BY GROUPING SETS ((a, b), (b), (b), (a))', 3, 1);
check_sets('SELECT a, b, c, d, count(*) FROM t GROUP BY GROUPING SETS ((a, b), (a), (c, d), (c), ())', 3, 2);
check_sets('SELECT a, b, sum(v) FROM t GROUP BY GROUPING SETS ((a), (b))', 0, 2);
check_sets('SELECT a + 1, a + 1 + b, count(*) FROM t GROUP BY ROLLUP (a + 1, b)', 2, 1);
check_sets('SELECT coalesce(a, -1), CASE WHEN grouping(b) = 1 THEN \'all\' ELSE b::text END, sum(v) + count(*) FROM t WHERE id % 3 > 0 GROUP BY ROLLUP (a, b) HAVING sum(v) > 0 OR grouping(a) = 1', 2, 1);
check_sets('SELECT l.label, l.letter, t.a, count(*), sum(t.n) FROM t JOIN labels l ON l.id = t.b GROUP BY ROLLUP (l.label, l.letter, t.a)', 3, 1);
check_sets('SELECT l.label, t.a, count(*), sum(t.v) FROM t LEFT JOIN labels l ON l.id = t.b AND l.id < 3 GROUP BY CUBE (l.label, t.a)', 3, 1);
check_sets('SELECT x, y, sum(v), count(y) FROM (SELECT a + 1 AS x, coalesce(k, \'none\') AS y, v FROM t) q GROUP BY ROLLUP (x, y)', 2, 1);
check_sets('SELECT k, a, rank() OVER (PARTITION BY grouping(k, a) ORDER BY sum(v)) FROM t GROUP BY ROLLUP (k, a)', 2, 1);

# ---- what is not: floats are added in the order of rows, and sorted values are of rows

check_sets('SELECT a, b, sum(f) FROM t GROUP BY ROLLUP (a, b)', 0, 3);
check_sets('SELECT a, b, min(f), max(f + 1), count(*) FROM t GROUP BY ROLLUP (a, b)', 2, 1);
check_sets('SELECT a, b, count(DISTINCT v) FROM t GROUP BY GROUPING SETS ((a, b), (a))', 0, 2);
check_sets('SELECT a, b, percentile_cont(0.5) WITHIN GROUP (ORDER BY v), sum(v) FROM t GROUP BY GROUPING SETS ((a, b), (a))', 0, 2);

# ---- no rows

check_answer('SELECT a, b, count(*), sum(v) FROM empty GROUP BY ROLLUP (a, b)');
check_answer('SELECT a, b, count(*), sum(v), min(v) FROM t WHERE v > 100000 GROUP BY ROLLUP (a, b)');
check_sets('SELECT a, b, count(*), sum(v), min(v) FROM t WHERE v > 100000 + length(k) GROUP BY ROLLUP (a, b)', 2, 1);

# ---- groups in a file, and more than there is memory for

run("SET work_mem = '" . sized(512, 5120) . "kB'");
check_sets('SELECT a, id, sum(v), count(*) FROM t GROUP BY ROLLUP (a, id)', 2, 1);
my $query = 'SELECT a, id, sum(v), count(*) FROM t GROUP BY GROUPING SETS ((a, id), (id), ())';
$session->favour('force');
my ($merged, undef, $read) = count_sets($session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) $query"));
is("$merged $read", '1 2', 'a set of too many groups is read');
check_answer($query);
run('RESET work_mem');

# the planner expects few groups and there are many
run('CREATE TABLE wrong (a int, b int, v int)', 'INSERT INTO wrong SELECT 1, i % 2, i FROM generate_series(1, 1000) i', 'ANALYZE wrong', 'ALTER TABLE wrong SET (autovacuum_enabled = off)',
	"INSERT INTO wrong SELECT i, i % 2, i FROM generate_series(1, $rows) i", "SET work_mem = '64kB'");
check_answer('SELECT a, b, sum(v), count(*) FROM wrong GROUP BY CUBE (a, b)');
run('RESET work_mem');

# ---- a job that gives up: a numeric of more digits than the first rows'

run("UPDATE t SET m = 123456789012345678901234567890 WHERE id = $rows");
check_answer('SELECT a, b, sum(m), count(*) FROM t GROUP BY ROLLUP (a, b)') for 1 .. 2;

# ---- nodes that are read anew, and not to their end

check_answer('SELECT x, (SELECT sum(s) FROM (SELECT a, b, sum(v) AS s FROM t WHERE b <> x GROUP BY ROLLUP (a, b)) q) FROM generate_series(0, 4) x');
check_answer('SELECT x, q.* FROM generate_series(0, 2) x, LATERAL (SELECT a, b, sum(v) + x AS s FROM t GROUP BY ROLLUP (a, b)) q');
check_answer('SELECT x, q.* FROM generate_series(0, 2) x, LATERAL (SELECT a, b, sum(v) AS s FROM t WHERE t.b >= x GROUP BY CUBE (a, b) HAVING count(*) > x) q');
check_answer('SELECT x, (SELECT count(*) FROM (SELECT a, b, sum(v) AS s FROM t WHERE b <> x GROUP BY ROLLUP (a, b) LIMIT 5) q) FROM generate_series(0, 4) x');
$session->favour('force');
run('BEGIN', 'DECLARE c SCROLL CURSOR FOR SELECT a, b, sum(v) FROM t GROUP BY ROLLUP (a, b)');
my @forward = map { $session->query('FETCH NEXT FROM c') } 1 .. 43;
my @backward = map { $session->query('FETCH PRIOR FROM c') } 1 .. 42;
is(join("\n", reverse @backward), join("\n", @forward[ 0 .. 41 ]), 'a cursor goes back');
run('COMMIT');
run('PREPARE of_b AS SELECT a, b, sum(v) FROM t WHERE b > $1 GROUP BY ROLLUP (a, b)', 'SET plan_cache_mode = force_generic_plan');
check_answer("EXECUTE of_b ($_)") for 0 .. 2;
run('RESET plan_cache_mode', 'DEALLOCATE of_b');

# ---- in several processes

run('SET max_parallel_workers_per_gather = 2', 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0');
check_answer('SELECT q.a, sum(s) FROM (SELECT a, b, sum(v) AS s FROM t GROUP BY ROLLUP (a, b)) q JOIN t ON t.a = q.a GROUP BY 1');
check_answer('SELECT a, b, sum(v) FROM t GROUP BY CUBE (a, b)');
run('RESET max_parallel_workers_per_gather');

# ---- rows that are checked again, with groups beside them

run('CREATE TABLE sums (a int PRIMARY KEY, s numeric)', 'INSERT INTO sums SELECT i, 0 FROM generate_series(0, 6) i');
my $other = MgpuTest->session($node);
$other->run('BEGIN', 'UPDATE sums SET s = s + 1');
$session->favour('force');
$session->send_query('UPDATE sums SET s = sums.s + q.s FROM (SELECT a, b, sum(v) AS s FROM t GROUP BY ROLLUP (a, b)) q WHERE q.a = sums.a AND q.b IS NULL');
$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted");
$other->run('COMMIT');
$session->answer;
is($session->query('SELECT count(*), sum(s) - (SELECT sum(v) FROM t WHERE a IS NOT NULL) FROM sums'), '7|7', 'rows that are checked again');
$other->close;

$session->close;
$node->stop;
done_testing();
