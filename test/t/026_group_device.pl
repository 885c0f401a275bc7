# MgpuGroup on a GPU that reads the table's pages itself: which statements it takes, that the answers are PostgreSQL's,
# what EXPLAIN and statistics say, and what happens where it cannot go on.  Builds with TEST_SIZES=yes play the GPU.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_service_node('group_device', initdb => ['--data-checksums'],
	# the background writer might wake those that wait for pages
	conf => [ 'max_parallel_workers_per_gather = 0', 'bgwriter_lru_maxpages = 0', 'shared_buffers = 64MB', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c enable_sort=off -c synchronize_seqscans=off');
my $rows = sized(3000, 300_000);

sub run { return $session->run(@_); }

# Lines of EXPLAIN ANALYZE, with the node forced.
sub analyze
{
	return $session->query("SET mgpu.enable_group = force; EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $_[0]");
}

# Statements whose answer is core's and that a GPU runs, or that it does not.  The planner knows
# that, unless the data decide.
my $by_data = qr/negative zero$|overflow$|no rows, keys$/;
sub check_device
{
	my ($name, $on_device, @queries) = @_;
	my @others = grep { (analyze($_) =~ /Executor: gpu\n.*Pages Copied/s) != $on_device } @queries;
	my @unplanned = grep { !/^EXECUTE/ && $name !~ $by_data && is_planned_for_gpu($session, $_) != $on_device } @queries;

	check_same($session, $name, \@queries);
	is(join("\n", @others), '', $on_device ? "$name: on the GPU" : "$name: on the CPU");
	is(join("\n", @unplanned), '', "$name: as planned");
	return;
}

run("CREATE TABLE t (id int, g int, g2 int2, v int, w int8, f float8, r float4, d date, b bool, pad text)",
	"INSERT INTO t SELECT i, (i::int8 * 7919 % 101)::int, i % 9, (i::int8 * 7919 % 100003)::int - 50000, i * 1234567890123 * (i % 3 - 1), sqrt(i) - 20, ln(i)::float4,
		date '2000-01-01' + i % 500, i % 3 = 0, repeat('x', i % 5) FROM generate_series(1, $rows) i",
	'CREATE TABLE holes AS SELECT CASE WHEN id % 7 > 0 THEN g END AS g, g2, CASE WHEN id % 5 > 0 THEN v END AS v,
		CASE WHEN id % 3 > 0 THEN w END AS w, CASE WHEN id % 2 > 0 THEN f END AS f, CASE WHEN id % 4 > 0 THEN b END AS b, pad FROM t',
	'CREATE TABLE nothing (g int, v int)', 'VACUUM ANALYZE t, holes, nothing');

# ------------------------------------------------------------------------ what it takes

my @aggregates = ('count(*)', 'count(v)', 'sum(v), avg(v), min(v), max(v)', 'sum(w), avg(w), min(w), max(w), count(w)', 'sum(g2), avg(g2), max(g2)',
	'bool_and(b), bool_or(b), every(b)', 'min(f), max(f), sum(f), avg(f), stddev(f), var_pop(f)',
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)', 'percentile_cont(0.3) WITHIN GROUP (ORDER BY w DESC)',
	'percentile_disc(0.9) WITHIN GROUP (ORDER BY f)', 'percentile_cont(ARRAY[0, 0.25, 1]) WITHIN GROUP (ORDER BY f)',
	'percentile_cont(NULL) WITHIN GROUP (ORDER BY f)', 'percentile_disc(0) WITHIN GROUP (ORDER BY v), percentile_disc(1) WITHIN GROUP (ORDER BY v), count(DISTINCT v)',
	'mode() WITHIN GROUP (ORDER BY g2)', 'count(DISTINCT w)', 'count(DISTINCT b), count(DISTINCT g2)',
	'array_agg(v ORDER BY v)', 'array_agg(v ORDER BY v DESC NULLS LAST)', 'array_agg(w ORDER BY w NULLS FIRST), count(*)');

foreach my $table ('t', 'holes')
{
	foreach my $aggregate (@aggregates)
	{
		check_device("$table: $aggregate", 1, "SELECT g, $aggregate FROM $table GROUP BY g");
		check_device("$table: $aggregate, of all rows", $aggregate !~ /sum\(f\)/, "SELECT $aggregate FROM $table");
	}
	check_device("$table, keys $_", 1, "SELECT $_, count(*), sum(v) FROM $table GROUP BY $_", "SELECT d::text FROM (SELECT DISTINCT $_ FROM $table) d")
	  foreach 'g2', 'g, g2', 'b', 'b, g2, g', 'w', 'v';
	check_device("$table, $_", 1, "SELECT g2, count(*), sum(v), percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM $table WHERE $_ GROUP BY g2",
		"SELECT sum(v), array_agg(v ORDER BY v) FROM $table WHERE $_")
	  foreach 'v < 0', 'v >= 0 AND f < 30', 'f < 10', 'b', 'NOT b', 'v IS NULL', 'v IS NOT NULL AND g <> 5', 'w > (SELECT 5)', 'g = (SELECT NULL::int)', 'v > 4294967296::int8';
}
check_device('all kinds of columns', 1, 'SELECT d, min(r), max(d), min(d), sum(r), avg(r), stddev(r) FROM t GROUP BY d', 'SELECT r, count(*) FROM t GROUP BY r',
	'SELECT d, percentile_disc(0.5) WITHIN GROUP (ORDER BY r) FROM t GROUP BY d');
check_device('no rows', 1, map {"SELECT $_ FROM nothing"} 'count(*), sum(v)', 'array_agg(v ORDER BY v), percentile_cont(0.5) WITHIN GROUP (ORDER BY v)');
check_device('no rows, keys', 1, 'SELECT g, count(*), sum(v) FROM nothing GROUP BY g');
check_device('no row that is wanted', 1, map {"SELECT $_ FROM t WHERE v = 1000000000"} 'count(*), max(v), count(DISTINCT v)', 'array_agg(v ORDER BY v)');
check_device('HAVING', 1, 'SELECT g, sum(v) FROM t GROUP BY g HAVING count(*) > 20 AND max(v) > 5');
# groups are left out by numbers of double precision, unless these are close, or are none
foreach my $outcome ('<', '<=', '>', '>=', '=', '<>')
{
	check_device("HAVING with $outcome", 1, map { "SELECT g, g2, count(*), avg(v) FROM holes GROUP BY g, g2 HAVING $_" } "count(v) $outcome 3", "2 $outcome count(*)", "sum(v) $outcome -5000", "0.5 $outcome avg(v)", "min(v) $outcome 40000::int8", "max(w) $outcome 12345678901230",
		"sum(v) $outcome (SELECT sum(v) FROM holes WHERE g = 5 AND g2 = 3)", "avg(v) $outcome (SELECT avg(v) FROM holes WHERE g = 5 AND g2 = 3)", "count(f) $outcome 'NaN'::float8",
		"sum(w) $outcome 1e30", "sum(v) $outcome 'Infinity'::float8");
}
check_device('HAVING, more than one', 1, map { "SELECT g, g2, $_->[0] FROM holes GROUP BY g, g2 HAVING $_->[1]" } [ 'count(*)', 'count(v) > 2 AND sum(v) < 0 AND max(v) > 100' ], [ 'max(v)', 'sum(v) > 0 OR count(*) < 4' ], [ 'count(v)', 'count(v) > 1 AND (g > 50 OR g IS NULL) AND min(v) < 0' ],
	[ 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)', 'count(v) > 3' ], [ 'array_agg(v ORDER BY v)', 'count(v) > 3' ], [ 'count(DISTINCT v), mode() WITHIN GROUP (ORDER BY g2)', 'count(v) > 3' ], [ 'sum(f), avg(f)', 'sum(f) > 0 AND avg(f) < 10' ],
	[ 'sum(v)', 'count(*) > 3 AND 100 / (count(*) - 3) > 50' ]);
check_device('a subquery of HAVING that no group comes to', 1, 'SELECT g, sum(v) FROM t GROUP BY g HAVING count(*) < 0 AND sum(v) > (SELECT 1 / (count(*) - count(*)) FROM nothing)');
check_device('HAVING that no group meets', 1, 'SELECT g, sum(v) FROM t GROUP BY g HAVING count(*) < 0', 'SELECT sum(v) FROM t HAVING count(*) < 0', 'SELECT sum(v) FROM t HAVING count(*) > 0');
check_device('HAVING in a subquery that is run again', 1, 'SELECT x, q.* FROM generate_series(1, 3) x, LATERAL (SELECT g, count(*), sum(v) FROM t GROUP BY g HAVING sum(v) > x * 10000 AND count(*) > x) q ORDER BY x, g');
run('SET plan_cache_mode = force_generic_plan', 'PREPARE h (numeric, int) AS SELECT g, count(*) FROM t GROUP BY g HAVING avg(v) > $1 AND count(*) >= $2');
check_device('HAVING with parameters', 1, map { "EXECUTE h ($_)" } '0, 3', "'NaN', 0", 'NULL, NULL', "'-Infinity', -1", '-500.123456789012345678, 1');
run('RESET plan_cache_mode', 'DEALLOCATE h');
like(analyze('SELECT g, g2, sum(v) FROM t GROUP BY g, g2 HAVING sum(v) > 1000000000'), qr/Rows Removed by Filter: (?!0)\d+\n.*Groups: (?!0)\d+/s, 'EXPLAIN has groups that were left out');
check_device('different values', 1, 'SELECT g, array_agg(DISTINCT g2) FROM t GROUP BY g', 'SELECT g2, count(*), sum(DISTINCT g % 5) FROM t GROUP BY g2');
check_device('left to the CPU', 0, 'SELECT g, array_agg(v) FROM t GROUP BY g', "SELECT g, string_agg(pad, '' ORDER BY v) FROM t GROUP BY g",
	'SELECT g, max(pad::char(9)) FROM t GROUP BY g', 'SELECT g, count(*) FROM t WHERE md5(pad) < pad GROUP BY g');
check_device('keys of many bits', 1, 'SELECT w, f, count(*) FROM t GROUP BY w, f', 'SELECT w, f, v, id, g, percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM t GROUP BY w, f, v, id, g',
	'SELECT w, f, array_agg(v ORDER BY v), count(DISTINCT g) FROM holes GROUP BY w, f');
run('CREATE TABLE keyed (id int PRIMARY KEY, g int, v int)', 'INSERT INTO keyed SELECT id, g, v FROM t', 'VACUUM ANALYZE keyed');
check_device('what the record cannot have', 0, 'SELECT g, ' . join(', ', map {"sum(v + $_)"} 1 .. 31) . ' FROM t GROUP BY g');
check_device('as much as they can', 1, 'SELECT id, g, sum(v) FROM keyed GROUP BY id', 'SELECT g, g2, count(*), sum(v), max(w), min(d), max(r) FROM t WHERE f > 0 AND b AND id > 0 GROUP BY g, g2',
	'SELECT g, ' . join(', ', map {"sum(v + $_)"} 1 .. 25) . ' FROM t GROUP BY g',
	'SELECT g, ' . join(', ', map {"mode() WITHIN GROUP (ORDER BY $_)"} 'v', 'w', 'd', 'g2') . ', count(DISTINCT b) FROM t GROUP BY g', 'SELECT g, sum(v) FROM t WHERE w > (SELECT 5) AND v < 1000000 GROUP BY g', 'SELECT g, sum(v) FROM t WHERE v < 1000000 AND w > (SELECT 5) GROUP BY g',
	'SELECT g, mode() WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY w), mode() WITHIN GROUP (ORDER BY d), count(DISTINCT b) FROM t GROUP BY g',
	map { 'SELECT g, ' . join(', ', map {"percentile_disc(0.$_) WITHIN GROUP (ORDER BY v)"} 1 .. $_) . ' FROM t GROUP BY g' } 4, 5, 9);
# tables that are not read as columns: because of a condition that is tested once, and where each row is checked for conflicts
foreach my $case ([ 'READ COMMITTED', "now() > '2000-01-01'" ], [ 'SERIALIZABLE', 'v > 0' ])
{
	my $query = "SELECT g, sum(v) FROM t WHERE $case->[1] GROUP BY g";

	run("BEGIN ISOLATION LEVEL $case->[0]");
	like(analyze($query), qr/Input: rows$/m, "$query, $case->[0]: rows");
	ok(!is_planned_for_gpu($session, $query), 'as planned');
	run('COMMIT');
}

# EXPLAIN ANALYZE says why not
my $in_gpu = 'SELECT g, sum(v) FROM t GROUP BY g';
my $no_kind = qr/^ *Executor: cpu\n *Reason: a GPU does no statements of this kind$/m;
unlike(analyze($in_gpu), qr/Reason:/, 'on the GPU: no reason why not');
like(analyze('SELECT md5(pad), count(*) FROM t GROUP BY 1'), $no_kind, 'a key without a program: a reason');
like(analyze('SELECT g, array_agg(v) FROM t GROUP BY g'), $no_kind, 'another aggregate: the same');
like($session->query("SET mgpu.executor = auto; SET mgpu.gpu_min_items = 1000000000; EXPLAIN (ANALYZE, COSTS off) $in_gpu"), qr/^ *Executor: cpu\n *Reason: few items$/m, 'few rows: a reason');
like($session->query("SET mgpu.executor = cpu; EXPLAIN (ANALYZE, COSTS off) $in_gpu"), qr/\A(?!.*Reason:)/s, 'mgpu.executor = cpu: none');
# rows that meet the conditions count, for the planner too
run('SET mgpu.executor = auto', 'SET mgpu.gpu_min_items = ' . int($rows / 2));
foreach my $query ($in_gpu, 'SELECT g, sum(v) FROM t WHERE v < -40000 GROUP BY g')
{
	is(analyze($query) =~ /Executor: gpu/, is_planned_for_gpu($session, $query, 'auto'), "mgpu.executor = auto, as planned: $query");
	run('SET mgpu.executor = auto');
}
run('SET mgpu.executor = gpu', 'RESET mgpu.gpu_min_items');
like($session->query("SET client_min_messages = error; SET mgpu.inject_fault = device_memory; EXPLAIN (ANALYZE, COSTS off) $in_gpu"),
	qr/^ *Executor: cpu\n *Reason: .*memory/m, 'a GPU that fails: a reason');
run('RESET client_min_messages', 'RESET mgpu.inject_fault');
check_same($session, 'wrong fractions', [ map {"SELECT g, percentile_cont($_) WITHIN GROUP (ORDER BY v) FROM t GROUP BY g"} '1.5', "'NaN'", '-0.1' ]);

run('SET plan_cache_mode = force_generic_plan', 'PREPARE p (float8, int) AS SELECT g2, percentile_cont($1) WITHIN GROUP (ORDER BY v) FROM t WHERE v > $2 GROUP BY g2');
check_device('parameters', 1, 'EXECUTE p (0.25, 10)', 'EXECUTE p (0.75, -100)', 'EXECUTE p (NULL, NULL)');
# a value that is computed may raise an error, or a subquery do something, only if a row is compared with it
run('CREATE TABLE gone AS SELECT i AS g, i AS v FROM generate_series(1, 1000) i', 'DELETE FROM gone', 'CREATE SEQUENCE runs', 'CREATE TABLE zero AS SELECT 0 AS z');
foreach my $table ('nothing', 'gone', 't')
{
	foreach my $condition ('v > 1 / $1', 'v > 1000000 AND g > 1 / $1', '(SELECT 1 / z FROM zero) < v', "v < 1000000 AND g >= (SELECT nextval('runs') - nextval('runs'))", "v > 0 * (SELECT nextval('runs'))")
	{
		run("PREPARE p_of (int) AS SELECT g, sum(v) FROM $table WHERE $condition GROUP BY g");
		check_same($session, "$table: $condition", 'EXECUTE p_of (0)');
		run('DEALLOCATE p_of');
	}
}
is($session->query('SELECT last_value FROM runs'), '6', 'no subquery was run for nothing');
check_same($session, 'read again', 'SELECT k, q.* FROM generate_series(1, 4) k, LATERAL (SELECT g2, count(*), sum(v) FROM t WHERE v > k * 1000 GROUP BY g2 OFFSET 0) q');
run('RESET plan_cache_mode');

# each of several processes has the GPU group the inner side of its join
{
	my @settings = ('max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'enable_mergejoin = off', 'enable_sort = on', 'enable_nestloop = off', 'mgpu.enable_scan = off');
	my $inner = 'SELECT id, b FROM t WHERE w IN (SELECT w FROM t GROUP BY w HAVING sum(v) > 20000)';

	run(map {"SET $_"} @settings);
	like($session->query("SET mgpu.enable_group = force; EXPLAIN (COSTS off) $inner"), qr/^Gather\n.*MgpuGroup/s, 'the node is below Gather');
	check_same($session, 'in workers', [ $inner, "SELECT count(*), sum(id) FROM ($inner) q" ]);
	run(map { 'RESET ' . s/ .*//r } @settings);
	run('SET max_parallel_workers_per_gather = 0');
	ok(service_is_idle($node), 'and nothing of them is left in the service');
}

# ------------------------------------------------------------- floats of which a code is not enough

run('CREATE TABLE zeros AS SELECT i % 5 AS g, CASE i % 10 WHEN 0 THEN -0.0::float8 WHEN 1 THEN 0 ELSE i END AS f, i AS v FROM generate_series(1, 500) i',
	"CREATE TABLE nans AS SELECT i % 5 AS g, CASE i % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE i::text END::float8 AS f FROM generate_series(1, 500) i",
	"CREATE TABLE large AS SELECT i % 5 AS g, 1e308::float8 AS f, 3e38::float4 AS r, 9e18::int8 AS w FROM generate_series(1, 50) i");
check_device('a negative zero', 0, 'SELECT f, count(*) FROM zeros GROUP BY f', 'SELECT g, array_agg(f ORDER BY f) FROM zeros GROUP BY g', 'SELECT g, min(f) FROM zeros GROUP BY g', 'SELECT g, corr(f, v) FROM zeros GROUP BY g');
check_device('a negative zero that is only compared', 1, 'SELECT g, count(*), sum(v) FROM zeros WHERE f <= 0 GROUP BY g');
check_device('NaN and infinity', 1, map {"SELECT g, $_ FROM nans GROUP BY g"} 'min(f), max(f)', 'array_agg(f ORDER BY f DESC)', 'sum(f), avg(f)', 'stddev(f)');
# 19 has other sums of pairs, which no job computes
check_device('pairs of NaN and infinity', $session->query('SHOW server_version_num') < 190000,
	map {"SELECT g, $_ FROM nans GROUP BY g"} 'corr(f, g), regr_sxx(g, f)', 'corr(g, f), regr_count(g, f), regr_sxy(g, f)');
check_device('sums that overflow', 0, 'SELECT g, sum(f) FROM large GROUP BY g', 'SELECT g, sum(r) FROM large GROUP BY g', 'SELECT g, stddev(f) FROM large GROUP BY g', 'SELECT g, covar_pop(f, g) FROM large GROUP BY g');
check_device('integers that do not', 1, 'SELECT g, sum(w), avg(w) FROM large GROUP BY g');

# ------------------------------------------------------------------- pages and statistics

sub pages_of
{
	my ($plan) = @_;

	return [ $plan =~ /Pages Read: (\d+)\n.*Pages Copied: (\d+)/s ];
}

my $sum = 'SELECT g, sum(v) FROM t GROUP BY g';
my $num_pages = $session->query("SELECT pg_relation_size('t') / 8192");
is_deeply(pages_of(analyze($sum)), [ $num_pages, 0 ], 'pages that are all-visible are read where they are');
like(analyze($sum), qr/Seq Scan on t \(actual rows=$rows(\.00)? loops=1\)/, 'the scan has its rows');
like(analyze("$sum ORDER BY 1"), qr/Peak Memory Usage/, 'and the node its memory');
run('UPDATE t SET v = v + 1 WHERE id = 5');
my ($read, $copied) = @{ pages_of(analyze($sum)) };
ok($copied >= 1 && $copied < $read, "after an update, $copied of $read pages are copied");
check_device('after an update', 1, $sum);
run('DELETE FROM t WHERE id % 20 = 3', 'VACUUM (INDEX_CLEANUP on, TRUNCATE false) t');
check_device('line pointers that are free', 1, $sum);
run("INSERT INTO t SELECT id, 3, 3, 3, 3, 3, 3, d, b, pad FROM t WHERE id < $rows / 50", 'VACUUM t');
check_device('and used again', 1, $sum, "SELECT g2, array_agg(v ORDER BY v) FROM t GROUP BY g2");

# a table that was never vacuumed, and a row on its last page that only another session sees
my $fresh = 'SELECT g, sum(v) FROM fresh GROUP BY g';
run('CREATE TABLE fresh AS SELECT g, v FROM t', 'ANALYZE fresh');
$num_pages = $session->query("SELECT pg_relation_size('fresh') / 8192");
is_deeply(pages_of(analyze($fresh)), [ $num_pages, 0 ], 'pages of visible rows alone are read where they are');
my $writer = MgpuTest->session($node);
$writer->query('BEGIN');
$writer->query('INSERT INTO fresh SELECT 1, 1000');
is((pages_of(analyze($fresh)))->[1], 1, 'a page with a row that is not visible is copied');
check_device('and the row is not read', 1, $fresh);
$writer->query('COMMIT');
check_device('until it is visible', 1, $fresh);
$writer->close;

# rows that a scan returns are counted, as in PostgreSQL's own plan
my $counts = "SELECT pg_stat_get_xact_numscans('t'::regclass), pg_stat_get_xact_tuples_returned('t'::regclass)";
my %counted;
foreach my $mode ('force', 'off')
{
	run("SET mgpu.enable_group = $mode", 'BEGIN');
	my @before = split /\|/, $session->query($counts);
	run($sum);
	my @after = split /\|/, $session->query($counts);
	run('COMMIT');
	$counted{$mode} = join(' ', $after[0] - $before[0], $after[1] - $before[1]);
}
is($counted{force}, $counted{off}, "statistics of the table: $counted{off}");

# and by the service, whatever the planner expects
my $items = 'SELECT sum(items) FROM mgpu_stat_service';
my $items_before = $session->query($items);
run('SET mgpu.enable_group = force', 'SELECT count(*) FROM t WHERE v = 7');
is($session->query($items) - $items_before, $session->query('SELECT count(*) FROM t'), 'rows are counted by the service');

# --------------------------------------------------------------------- where it cannot go on

my @groups = sort split /\n/, $session->query("SET mgpu.enable_group = off; $sum");
run('SET mgpu.enable_group = force');
foreach my $fault ('device_memory', 'device_sticky')
{
	$session->query("SET client_min_messages = error; SET mgpu.inject_fault = $fault");
	my @got = sort split /\n/, $session->query($sum);

	is_deeply(\@got, \@groups, "$fault: the CPU goes on");
	$session->query('SET mgpu.inject_fault = none');
	ok(defined await_service($node, 15), "$fault: the service is up");
}
run('RESET client_min_messages', "SET work_mem = '64kB'");
# results that do not fit in memory are in temporary files, and groups come from these as many at a time as do fit
my $many = 'SELECT v, count(*), sum(v), max(w) FROM t GROUP BY v';
check_device('groups that do not fit in memory', 1, $many, 'SELECT id, g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY id, g', 'SELECT DISTINCT id, g FROM t',
	'SELECT id % 2 AS k, sum(s), count(*) FROM (SELECT id, count(*) AS s FROM t GROUP BY id) q GROUP BY 1');
check_device('values that do not', 1, 'SELECT g, array_agg(v ORDER BY v), count(*) FROM t GROUP BY g', 'SELECT v, array_agg(w ORDER BY w), mode() WITHIN GROUP (ORDER BY g), array_agg(w ORDER BY w DESC), sum(w) FROM holes GROUP BY v',
	'SELECT array_agg(w ORDER BY w), percentile_cont(ARRAY[0, 0.25, 1]) WITHIN GROUP (ORDER BY f) FROM t', 'SELECT g2, mode() WITHIN GROUP (ORDER BY v), array_agg(d ORDER BY d), sum(v) FROM t GROUP BY g2');
like(analyze($many), qr/Executor: gpu\n.*Pages Copied: \d+\n.*Disk Usage: \d+ kB\n.*Peak Memory Usage/s, 'EXPLAIN says how large the files are');
cmp_ok((analyze($many) =~ /Peak Memory Usage: (\d+) kB/)[0], '<', 230, 'and memory stays small');
check_same($session, 'they are read again', "SELECT k, (SELECT sum(s) FROM ($many) q (v, n, s, w) WHERE v > 0 OFFSET 0) FROM generate_series(1, 3) k",
	"SELECT k, q.* FROM generate_series(1, 3) k LEFT JOIN ($many) q (v, n, s, w) ON q.v = k");
# the planner knows: it prefers neither workers nor PostgreSQL's own plan for the sake of memory
{
	my @settings = ('max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'min_parallel_table_scan_size = 0', 'mgpu.enable_group = on', 'enable_sort = on');

	run(map {"SET $_"} @settings);
	foreach my $query ('SELECT id, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY id', $many, 'SELECT DISTINCT id, g FROM t', 'SELECT id, v, w, f FROM t ORDER BY v')
	{
		my $plan = $session->query("EXPLAIN (COSTS off) $query");

		like($plan, qr/^Custom Scan/, "little memory: the node, for $query");
		unlike($plan, qr/Gather/, 'and no workers');
	}
	run(map { 'RESET ' . s/ .*//r } @settings);
	run('SET mgpu.enable_group = force', 'SET enable_sort = off');
}
$session->query('BEGIN');
$session->query("DECLARE c CURSOR FOR $many");
$session->query('FETCH 10 FROM c');
like($session->query('SELECT count(*) FROM pg_ls_tmpdir()'), qr/^[1-9]/, 'a cursor has files');
$session->query('COMMIT');
run('SET temp_file_limit = 0');
$session->query($many);
is($session->{state}, '53400', 'as much of temporary files as PostgreSQL allows');
run('RESET temp_file_limit', 'RESET work_mem');
is($session->query('SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no file is left');
ok(service_is_idle($node), 'and nothing in the service');

# cancelled while it runs, again and again: the next statement is right, and nothing is left
{
	my $wrong = 0;

	foreach my $i (1 .. sized(20, 100))
	{
		$session->query("SET statement_timeout = '" . ($i % 10 + 1) . "ms'");
		$session->query('SELECT g, array_agg(v ORDER BY v), sum(f) FROM t GROUP BY g');
		# which may take too long itself
		$session->query('RESET statement_timeout') until $session->query('SHOW statement_timeout') eq '0';
		my @got = sort split /\n/, $session->query($sum);
		$wrong++ if "@got" ne "@groups";
	}
	is($wrong, 0, 'answers after cancels are right');
	ok(service_is_idle($node), 'and nothing of them is left');
}

# runs that the GPU still ends keep the session's next statement from it, and no later one
{
	my $service = $session->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $statement = 'SELECT g2, sum(v), count(*) FROM t GROUP BY g2';
	my $plan = '';

	like(analyze($statement), qr/Executor: gpu\n/, 'a statement on the GPU');
	kill 'STOP', $service;
	run("SET statement_timeout = '1s'");
	# a session may have some runs that end
	for (my $try = 0; $try < 8 && $plan eq ''; $try++)
	{
		$plan = analyze($statement);
		$plan = '' if $session->{state} eq '57014';
	}
	run('RESET statement_timeout');
	kill 'CONT', $service;
	like($plan, qr/Executor: cpu\n\s+Reason: the GPU still ends the last run of this session\n/, 'none begins before others have ended');
	ok(service_is_idle($node), 'they end');
	like(analyze($statement), qr/Executor: gpu\n/, 'and the GPU is used again');
}

# Who needs a page alone, as VACUUM (FREEZE) does, waits for one that a GPU may read, until the statement ends in one way or another.
run('CREATE EXTENSION pg_buffercache', 'CREATE EXTENSION pg_surgery');
my $pinned = 'SELECT min(relblocknumber) FROM pg_buffercache WHERE pinning_backends > 0 AND relfilenode = pg_relation_filenode';
my $service = $session->query('SELECT DISTINCT pid FROM mgpu_stat_service');
foreach my $end ('nothing', 'pg_cancel_backend', 'pg_terminate_backend')
{
	# pages that stay on the GPU are not pinned
	my ($reader, $waiter) = map { MgpuTest->session($node, options => '-c mgpu.executor=gpu -c mgpu.enable_group=force -c mgpu.enable_gpu_cache=off') } 1 .. 2;
	my $block = '';
	my $table = "until_$end";

	# a stopped service makes the statement wait, with all the pages that it may send
	run("CREATE TABLE $table AS SELECT i % 10 AS g, i AS v FROM generate_series(1, 300000) i", "VACUUM $table");
	for (my $try = 0; $try < 200 && $block eq ''; $try++)
	{
		if ($try > 0)
		{
			kill 'CONT', $service;
			$reader->answer;
		}
		$reader->send_query("SELECT count(*), sum(v) FROM $table WHERE g < 10");
		# when pages are sent, is a matter of the machine
		sleep(rand(0.01 + 0.001 * $try));
		kill 'STOP', $service;
		sleep(0.02);
		$block = $session->query("$pinned('$table')");
	}
	like($block, qr/^\d+$/, "$end: a statement has pages at the GPU");
	$waiter->send_query("SELECT heap_force_freeze('$table', ARRAY['($block,1)']::tid[])");
	ok($node->poll_query_until('postgres', "SELECT wait_event IN ('BufferPin', 'BufferCleanup') FROM pg_stat_activity WHERE pid = $waiter->{pid}"), "$end: another session waits for one");
	$end eq 'nothing' ? kill('CONT', $service) : $session->query("SELECT $end($reader->{pid})");
	# a timer of PostgreSQL's own may wake it after 10 s
	is($waiter->answer(5), '', "$end: and goes on");
	$reader->answer;
	is($session->query("$pinned('$table')"), '', "$end: no page is pinned any more");
	kill 'CONT', $service;
	ok(service_is_idle($node), "$end: and nothing is left in the service");
	$_->close foreach $reader, $waiter;
}

# a damaged page is as for PostgreSQL: an error of its checksum, and no crash
run('CREATE TABLE damaged AS SELECT i % 5 AS g, i AS v FROM generate_series(1, 2000) i', 'VACUUM damaged', 'CHECKPOINT');
my $file = $node->data_dir . '/' . $session->query(q{SELECT pg_relation_filepath('damaged')});
$node->stop;
open(my $handle, '+<:raw', $file) or die "$file: $!";
seek($handle, 5 * 8192 + 5000, 0);
print $handle "\xff" x 200;
close($handle);
$node->start;
ok(defined await_service($node, 15), 'the service is up');
$session = MgpuTest->session($node, options => '-c mgpu.executor=gpu');
run('SET mgpu.enable_group = force');
$session->query('SELECT g, count(*) FROM damaged GROUP BY g');
is($session->{state}, 'XX001', 'a page that fails its checksum');
is($session->query("$pinned('damaged')"), '', 'and no page before it stays pinned');
run('SET ignore_checksum_failure = on');
$session->query('SELECT g, count(*) FROM damaged GROUP BY g');
ok($session->{state} =~ /^(XX001)?$/, 'a page that is damaged');
is($session->query('SELECT 1'), '1', 'and the session goes on');

# types that are wider than a page, of which rows have NULL
run('CREATE TYPE wide', (map {"CREATE FUNCTION wide_$_->[0] LANGUAGE internal STRICT IMMUTABLE AS 'name$_->[1]'"} [ 'in(cstring) RETURNS wide', 'in' ], [ 'out(wide) RETURNS cstring', 'out' ]),
	'CREATE TYPE wide (INPUT = wide_in, OUTPUT = wide_out, INTERNALLENGTH = 5000)', 'CREATE TABLE wides (a wide, b wide, g int, v int)', 'INSERT INTO wides (g, v) SELECT i % 5, i FROM generate_series(1, 1000) i');
check_device('columns that do not fit in a page', 0, 'SELECT g, sum(v) FROM wides GROUP BY g');

# without any page that the GPU may read where it is
$node->append_conf('postgresql.conf', "mgpu.service_buffers = 0\n");
$node->restart;
ok(defined await_service($node, 15), 'the service is up without shared pages');
$session = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c enable_sort=off -c synchronize_seqscans=off');
check_device('copies alone', 1, $sum, 'SELECT g2, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY g2', 'SELECT g2, sum(f) FROM t GROUP BY g2');
$session->run('SET mgpu.enable_gpu_cache = off');
is((pages_of(analyze($sum)))->[0], (pages_of(analyze($sum)))->[1], 'all pages are copied');
$session->close;

# of few buffers, statements keep none to themselves
$node->append_conf('postgresql.conf', "mgpu.service_buffers = -1\nshared_buffers = 256kB\n");
$node->restart;
ok(defined await_service($node, 15), 'the service is up with few buffers');
$session = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c enable_sort=off -c synchronize_seqscans=off');
check_device('few buffers', 1, 'SELECT g, sum(v) FROM until_nothing GROUP BY g');
$session->close;

done_testing();
