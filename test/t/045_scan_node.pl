# MgpuScan: rows of tables and joins that a job finds, for whatever PostgreSQL does with them.  The answers are PostgreSQL's, in the order of the scan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('scan_node', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $options = '-c synchronize_seqscans=off -c mgpu.enable_group=off -c mgpu.enable_top=off -c mgpu.enable_sort=off -c mgpu.enable_not_in=off';
my $session = MgpuTest->session($node, options => $options);
my $rows = sized(20_000, 400_000);

sub run { return $session->run(@_); }

sub answer
{
	my ($nodes, $query) = @_;

	# a plan that is kept would not change with the setting
	my $again = $query =~ /EXECUTE/ ? "DEALLOCATE ALL; PREPARE p (int, text) AS SELECT id, long FROM t WHERE v < \$1 AND c = \$2;" : '';

	return $session->query("SET mgpu.enable_scan = $nodes; $again $query");
}

sub sorted { return join("\n", sort split /\n/, $_[0]); }

# Answers by either executor, and who has found the rows.  Joined rows come in another order.
sub check_scans
{
	my ($name, $found, @queries) = @_;
	my @wrong;

	foreach my $executor ('cpu', 'gpu')
	{
		run("SET mgpu.executor = $executor");
		foreach my $query (@queries)
		{
			my ($ours, $core) = map { answer($_, $query) } 'force', 'off';
			my $plan = answer('force', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");

			push @wrong, "$executor: differs: $query" if $query =~ /JOIN|EXISTS| IN / ? sorted($ours) ne sorted($core) : $ours ne $core;
			push @wrong, "$executor: another plan: $query\n$plan" if $plan !~ /MgpuScan/ || $plan !~ $found;
		}
	}
	run('RESET mgpu.executor');
	is(join("\n", @wrong), '', $name);
	return;
}

my $by_job = qr/Executor: (?:cpu|gpu)\n.*Program:/s;
my $by_rows = qr/MgpuScan(?:(?!Program:).)*$/s;

run('CREATE TABLE t (id int PRIMARY KEY, gone int, g int, v int8, f float8, at timestamptz, j jsonb, a int[], long text, n numeric(12,2), c char(7), u uuid, p point, name name)',
	"INSERT INTO t SELECT i, i, i % 97, (i * 7919::int8) % 1000003, i / 8.0, timestamptz '2026-01-01' + i * interval '1 minute', jsonb_build_object('i', i, 'x', repeat('y', i % 90)),
		CASE WHEN i % 5 > 0 THEN ARRAY[i, NULL, -i] END, CASE WHEN i % 3000 = 7 THEN repeat(md5(i::text), 400) WHEN i % 4 > 0 THEN repeat('word ' || i, i % 30) END, CASE WHEN i % 6 > 0 THEN i / 7.0 END,
		'c' || i % 11, md5(i::text)::uuid, point(i, -i), 'name ' || i FROM generate_series(1, $rows) i",
	'ALTER TABLE t DROP gone', 'CREATE TABLE groups AS SELECT i AS g, \'group \' || i AS label, i % 4 AS kind FROM generate_series(0, 90) i', 'VACUUM ANALYZE');

# ---- conditions, and columns of all kinds
check_scans('few rows', $by_job, 'SELECT * FROM t WHERE v < 500', "SELECT j, long, a FROM t WHERE g = 5 AND c LIKE 'c1%' AND v % 50 = 0", 'SELECT p, name, u FROM t WHERE f = 25');
check_scans('many rows', $by_job, 'SELECT id, v, f, at, n, c, u FROM t WHERE g > 10', 'SELECT n, c FROM t WHERE n IS NULL OR g < 50', 'SELECT v + g, upper(c) FROM t WHERE v % 2 = 0');
check_scans('no rows', $by_job, 'SELECT * FROM t WHERE v < 0', 'SELECT id FROM t WHERE g = 1000');
check_scans('nodes above', $by_job, 'SELECT sum(v), json_agg(id ORDER BY id DESC) FROM t WHERE v < 20000', 'SELECT g, string_agg(c, \',\' ORDER BY id) FROM t WHERE v < 9000 GROUP BY g ORDER BY g',
	'SELECT id, ntile(4) OVER (ORDER BY v) FROM t WHERE g < 7', 'SELECT g FROM t WHERE v < 5000 UNION SELECT kind FROM groups ORDER BY 1', 'SELECT g, c FROM t WHERE v < 500000 EXCEPT SELECT g, c FROM t WHERE v > 300000 ORDER BY 1, 2',
	'SELECT DISTINCT c FROM t WHERE g = 3 ORDER BY c', 'SELECT id, v FROM t WHERE g = 3 ORDER BY v LIMIT 5', 'WITH q AS MATERIALIZED (SELECT id, g FROM t WHERE v < 4000) SELECT count(*), (SELECT max(id) FROM q) FROM q');

# ---- joins
check_scans('joins', $by_job, 'SELECT t.id, label FROM t JOIN groups USING (g) WHERE v < 90000', 'SELECT t.id, label FROM t LEFT JOIN groups USING (g) WHERE v < 90000', 'SELECT t.id, t.j FROM t WHERE v < 4000 AND EXISTS (SELECT FROM groups WHERE groups.g = t.g AND kind = 2)',
	'SELECT t.id FROM t WHERE v < 90000 AND g NOT IN (SELECT g FROM t WHERE g > 5 AND v < 100000)', 'SELECT t.id, u.id FROM t JOIN t u ON u.id = t.v WHERE t.g = 4', 'SELECT label, count(*), array_agg(t.id ORDER BY t.id) FROM t JOIN groups USING (g) WHERE kind = 1 AND v < 50000 GROUP BY label');

# ---- what is asked again: for each row of another table, with other parameters, from the start, backward
check_scans('a correlated subquery', $by_job, 'SELECT x, (SELECT string_agg(id::text, \',\') FROM t WHERE v < x * 100) FROM generate_series(1, 4) x', 'SELECT x, q.* FROM generate_series(1, 3) x, LATERAL (SELECT id, j FROM t WHERE g = x OFFSET 0) q');
run('SET plan_cache_mode = force_generic_plan');
check_scans('parameters of a generic plan', $by_job, "EXECUTE p (20000, 'c3')", "EXECUTE p (0, 'c3')", 'EXECUTE p (NULL, NULL)');
run('RESET plan_cache_mode');
my @fetched;
foreach my $nodes ('force', 'off')
{
	run("SET mgpu.enable_scan = $nodes", 'BEGIN', 'DECLARE c SCROLL CURSOR FOR SELECT id, j FROM t WHERE v < 9000');
	push @fetched, join("\n", map { $session->query("FETCH $_ FROM c") } '5', 'BACKWARD 3', 'ABSOLUTE 40', 'PRIOR', 'ALL', 'BACKWARD 4', 'FIRST');
	run('COMMIT');
}
is($fetched[0], $fetched[1], 'a cursor that goes back');

# ---- rows that others change, and those that a statement locks or changes: these are looked at once more, each by itself
run('BEGIN', 'UPDATE t SET j = \'{}\' WHERE id % 3 = 0', 'DELETE FROM t WHERE id % 13 = 1');
check_scans('changes of its own', $by_job, 'SELECT * FROM t WHERE v < 3000', 'SELECT id, v FROM t WHERE g = 8');
run('ROLLBACK');
run('SET mgpu.enable_scan = force');
my @locking = ('SELECT id FROM t WHERE v < 3000 FOR UPDATE', 'UPDATE t SET v = v WHERE v < 3000', 'UPDATE groups SET kind = 0 FROM t WHERE t.g = groups.g AND t.v < 3000', 'DELETE FROM groups USING t WHERE t.g = groups.g AND t.v < 0');
unlike($session->query("EXPLAIN $_"), qr/MgpuScan/, "rows may be looked at once more: $_") foreach @locking;
like($session->query("EXPLAIN INSERT INTO groups SELECT g, c FROM t WHERE v < 3000"), qr/MgpuScan/, 'INSERT');
like($session->query("EXPLAIN CREATE TABLE x AS SELECT g, c FROM t WHERE v < 3000"), qr/MgpuScan/, 'CREATE TABLE AS');
run('BEGIN ISOLATION LEVEL SERIALIZABLE');
is(answer('force', 'SELECT id FROM t WHERE v < 3000'), answer('off', 'SELECT id FROM t WHERE v < 3000'), 'SERIALIZABLE: PostgreSQL reads the rows');
run('COMMIT');

# ---- rows that a program cannot do: they come from PostgreSQL, and so do its errors
run("CREATE TABLE odd AS SELECT i AS id, CASE WHEN i = $rows - 5 THEN 0 ELSE i END AS d, i % 7 AS g, CASE WHEN i = $rows / 2 THEN 1e40 ELSE i END::numeric AS n FROM generate_series(1, $rows) i", 'VACUUM ANALYZE odd');
my $odd = "SELECT id, n FROM odd WHERE n > 50 AND g = $rows / 2 % 7";
like($session->query("SET mgpu.enable_scan = force; EXPLAIN (COSTS OFF) $odd"), qr/MgpuScan/, 'a job is tried');
is(answer('force', $odd), answer('off', $odd), 'a value beyond programs: rows go through');
unlike($session->query("SET mgpu.enable_scan = force; EXPLAIN (COSTS OFF) $odd"), qr/MgpuScan/, '... and it is not tried again');
answer('force', 'SELECT id FROM odd WHERE 1000000 / d > 100');
is($session->{state}, '22012', "an error is PostgreSQL's");

# ---- partitions, inheritance
run('CREATE TABLE parts (id int, g int, v int8, j jsonb, long text) PARTITION BY RANGE (id)', "CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO ($rows / 2)", "CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM ($rows / 2) TO ($rows + 1)",
	'INSERT INTO parts SELECT id, g, v, j, long FROM t', 'VACUUM ANALYZE');
check_scans('partitions', $by_job, 'SELECT * FROM parts WHERE v < 900', "SELECT id, j FROM parts WHERE v < 9000 AND id > $rows / 2 + 10", "SELECT 'x', id + v, j, 1 FROM parts WHERE v < 9000",  'SELECT p.id, label FROM parts p JOIN groups USING (g) WHERE v < 9000');

# ---- work_mem that holds little, and estimates that are far off
run("SET work_mem = '64kB'");
check_scans('little memory', qr/./, "SELECT * FROM t WHERE v < 40000 AND id - 0 < 20000", 'SELECT id, v FROM t WHERE g < 2 AND id - 0 < 20000');
my $more = 'SELECT id, v, f, at, u FROM t WHERE id - 0 < 15000 AND g + 0 * id < 1000 AND v + 0 * id >= 0 AND f + 0 * id > 0';
foreach my $executor ('cpu', 'gpu')
{
	run("SET mgpu.executor = $executor");
	is(answer('force', $more), answer('off', $more), "more rows than expected: $executor");
}
run('RESET mgpu.executor');
# more conditions that the planner knows nothing of, where there are more rows
my $vague = join(' AND ', ('id - 0 < 15000', 'g + 0 * id < 1000', 'v + 0 * id >= 0', 'f + 0 * id > 0', 'id + 0 > 0', 'id - 1 >= 0', 'g + id > 0')[0 .. sized(3, 6)]);
check_scans('more rows than fit', qr/Executor: gpu\n|Executor: cpu\n.*Disk Usage:/s, "SELECT id, v, f, at, u FROM t WHERE $vague", "SELECT id, v, n, c, f FROM t WHERE $vague", "SELECT t.id, t.n, label FROM t JOIN groups USING (g) WHERE $vague");
run('RESET work_mem');

# ---- by costs: many wanted, few wanted, and a table that joins look up by an index
run('SET mgpu.enable_scan = on');
like($session->query('EXPLAIN SELECT id, j FROM t WHERE v < 500'), qr/MgpuScan/, 'few rows of many are found by a job');
unlike($session->query('EXPLAIN SELECT id, j FROM t WHERE g = 5 LIMIT 1'), qr/MgpuScan/, 'the first of many is not');
unlike($session->query('EXPLAIN SELECT id, j FROM t WHERE id = 5'), qr/MgpuScan/, 'nor is one that an index has');
unlike($session->query('EXPLAIN SELECT t.j FROM groups JOIN t ON t.id = groups.g WHERE t.v > 5 AND kind = 3'), qr/MgpuScan/, 'nor are those that a join looks up');
unlike($session->query('SET mgpu.enable_scan = off; EXPLAIN SELECT id, j FROM t WHERE v < 500'), qr/MgpuScan/, 'a setting');
like($session->query("SET mgpu.enable_scan = on; SET mgpu.report_declined = on; EXPLAIN SELECT ctid FROM t WHERE v < 500"), qr/Seq Scan/, 'a system column');

# functions that take long, which workers would share
foreach my $nodes ('on', 'off')
{
	run("SET mgpu.enable_group = $nodes", 'SET mgpu.enable_scan = on', 'SET min_parallel_table_scan_size = 0', 'SET parallel_setup_cost = 200');
	foreach my $try ([ "initcap(c)", 2, qr/^(?!.*Gather).*\(MgpuScan/s ], [ "md5(regexp_replace(c, '[0-9]', '#'))", 2, qr/^(?!.*\(MgpuScan).*Gather/s ], [ "md5(regexp_replace(c, '[0-9]', '#'))", 0, qr/^(?!.*Gather).*\(MgpuScan/s ])
	{
		my ($function, $workers, $expected) = @$try;
		my $plan = $session->query("SET max_parallel_workers_per_gather = $workers; EXPLAIN SELECT $function, count(*) FROM t WHERE v < 600000 AND n > 7 GROUP BY 1");

		like($plan, $expected, "$function with $workers workers, MgpuGroup $nodes");
	}
}

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
