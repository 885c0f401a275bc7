# MgpuTop, MgpuSort and MgpuWindow on a GPU that reads the table's pages itself and returns rows in order: which
# statements it takes, that the answers are PostgreSQL's, cursors, and what happens where it cannot go on.  Builds with
# TEST_SIZES=yes play the GPU.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('rows_device', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', "work_mem = '64MB'", 'mgpu.enable_group = off' ]);
my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c synchronize_seqscans=off');
my $rows = sized(3000, 30_000);

sub run { return $session->run(@_); }

sub favour
{
	my ($nodes) = @_;

	run("SET mgpu.enable_top = $nodes", "SET mgpu.enable_sort = $nodes");
	return;
}

sub analyze
{
	favour('force');
	return $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $_[0]");
}

sub answer
{
	my ($nodes, $executor, $query) = @_;

	favour($nodes);
	my $rows = $session->query("SET mgpu.executor = $executor; $query; SET mgpu.executor = gpu");
	# partitions come in any order
	return $query =~ /ORDER BY [^()]*$/ ? $rows : join("\n", sort split /\n/, $rows);
}

# Statements that a GPU runs, or not.  Their answers by a GPU and by the nodes on the CPU are the same, as equal rows stay
# in the order in which they come; and core's, if their order is by id at last.
sub check_rows
{
	my ($name, $on_device, @queries) = @_;
	my @wrong;

	foreach my $query (@queries)
	{
		my $ours = answer('force', 'gpu', $query);

		push @wrong, "differs from the CPU: $query" if $ours ne answer('force', 'cpu', $query);
		push @wrong, "differs from core: $query" if $query =~ /ORDER BY [^()]*\bid( DESC)?(\) AS n.*| LIMIT.*)?$/ && $ours ne answer('off', 'cpu', $query);
		my $plan = analyze($query);
		push @wrong, "planned otherwise: $query" if $query !~ /^EXECUTE/ && $name !~ /negative zero$/ && is_planned_for_gpu($session, $query) != $on_device;
		push @wrong, ($on_device ? 'not on the GPU' : 'on the GPU') . ": $query" if ($plan =~ /Executor: gpu\n.*Pages Copied/s) != $on_device;
		push @wrong, "no reason why not: $query" if ($plan =~ /Input: pages as columns\n +Executor: cpu\n +Reason: \w/) == $on_device && $plan =~ /Input: pages/;
	}
	is(join("\n", @wrong), '', $on_device ? "$name: on the GPU" : "$name: on the CPU");
	return;
}

run("CREATE TABLE t (id int, g int, g2 int2, v int, w int8, f float8, r float4, d date, b bool, pad text)",
	"INSERT INTO t SELECT i, (i::int8 * 7919 % 101)::int, i % 9, (i::int8 * 7919 % 1003)::int - 500, i * 1234567890123 * (i % 3 - 1), sqrt(i) - 20, ln(i)::float4,
		date '2000-01-01' + i % 500, i % 3 = 0, repeat('x', i % 5) FROM generate_series(1, $rows) i",
	'CREATE TABLE holes AS SELECT id, CASE WHEN id % 7 > 0 THEN g END AS g, g2, CASE WHEN id % 5 > 0 THEN v END AS v,
		CASE WHEN id % 3 > 0 THEN w END AS w, CASE WHEN id % 2 > 0 THEN f END AS f, CASE WHEN id % 4 > 0 THEN b END AS b, d, pad FROM t',
	'CREATE TABLE nothing (g int, v int)', 'VACUUM ANALYZE t, holes, nothing');

# ------------------------------------------------------------------------ what it takes

# of each partition; ties are told apart by their number, as it is their arrival that decides
sub limited
{
	my ($function, $limit, $over, $table, $columns) = @_;

	return "SELECT * FROM (SELECT $columns, $function() OVER ($over) AS n FROM $table) s WHERE n <= $limit";
}

my @windows = ('PARTITION BY g ORDER BY v', 'PARTITION BY g ORDER BY v DESC', 'PARTITION BY g2 ORDER BY w NULLS FIRST, v DESC NULLS LAST, id', 'PARTITION BY b, g2 ORDER BY f DESC, id',
	'PARTITION BY g, g2, b ORDER BY d, w', 'ORDER BY v, id', 'PARTITION BY w ORDER BY f', 'PARTITION BY d ORDER BY f, w DESC');

foreach my $table ('t', 'holes')
{
	foreach my $window (@windows)
	{
		check_rows("$table, $window", 1, map { limited($_->[0], $_->[1], $window, $table, 'id, g, g2, v, w, f, b, d') }
			  [ 'row_number', 1 ], [ 'row_number', 5 ], [ 'rank', 3 ], [ 'dense_rank', 2 ]);
	}
	check_rows("$table, $_", 1, "SELECT DISTINCT ON (g) g, v, id FROM $table WHERE $_ ORDER BY g, v, id", "SELECT v, g, id FROM $table WHERE $_ ORDER BY v, g LIMIT 300")
	  foreach 'v < 0', 'v >= 0 AND f < 30', 'b', 'v IS NULL', 'v IS NOT NULL AND g <> 5', 'w > (SELECT 5)', 'v = 5000', 'v > 4294967296::int8';
	check_rows("$table, ORDER BY $_", 1, "SELECT id, v, g, w, f, d FROM $table ORDER BY $_", "SELECT id, v, w, f FROM $table ORDER BY $_ LIMIT 1500 OFFSET 10",
		"SELECT v, w, g, f, d FROM $table ORDER BY $_ FETCH FIRST 1200 ROWS WITH TIES")
	  foreach 'v', 'v DESC', 'v NULLS FIRST', 'v DESC NULLS LAST, id DESC', 'g, w', 'w, v, f', 'f', 'f DESC, w', 'd, g DESC, id';
	check_rows("$table, window functions", 1, "SELECT id, g, v, lag(v) OVER w, row_number() OVER w, sum(v) OVER w, count(w) OVER w, first_value(id) OVER w FROM $table WINDOW w AS (PARTITION BY g ORDER BY v DESC, id)",
		"SELECT id, rank() OVER w, dense_rank() OVER w, sum(f) OVER w FROM $table WINDOW w AS (PARTITION BY g2 ORDER BY d, v)",
		"SELECT id, avg(v) OVER (PARTITION BY g ORDER BY v, id) FROM $table", "SELECT id, ntile(4) OVER (ORDER BY w, id) FROM $table");
}
check_rows('a column twice', 1, 'SELECT v, id, v AS again, v FROM t ORDER BY v, id', 'SELECT DISTINCT ON (v) v, v AS again, v FROM t ORDER BY v');
check_rows('constants', 1, "SELECT v, id, 'k' AS k, 1 AS one FROM t ORDER BY k, v, id", 'SELECT count(*) FROM (SELECT * FROM t ORDER BY v OFFSET 0) q', "SELECT DISTINCT ON (g, k) 'k'::text AS k, g, v, id FROM t ORDER BY g, k, v, id");
check_rows('other numbers', 1, 'SELECT r, d, b, g2, id FROM t ORDER BY r DESC, b, d', 'SELECT DISTINCT ON (d) d, r FROM t ORDER BY d, r DESC');
check_rows('no rows', 1, 'SELECT v FROM nothing ORDER BY v', 'SELECT DISTINCT ON (g) g, v FROM nothing ORDER BY g, v', 'SELECT v FROM nothing ORDER BY v LIMIT 5000',
	limited('rank', 2, 'PARTITION BY g ORDER BY v', 'nothing', 'g, v'));
check_rows('many different ranks', 1, limited('rank', 1000, 'PARTITION BY g2 ORDER BY id', 't', 'g2, id'));
check_rows('left to the CPU', 0, 'SELECT v, md5(pad) FROM t ORDER BY v, id', limited('dense_rank', 101, 'PARTITION BY g2 ORDER BY v', 't', 'g2, v'),
	'SELECT id, ' . join(', ', map {"v + $_"} 1 .. 31) . ' FROM t ORDER BY id');
check_rows('texts, expressions, many columns', 1, 'SELECT v, pad FROM t ORDER BY v, id', 'SELECT DISTINCT ON (pad) pad, v FROM t ORDER BY pad, v', 'SELECT v, g % 5 FROM t ORDER BY g % 5, v, id',
	'SELECT v FROM t WHERE v % 2 = 0 ORDER BY v', 'SELECT g, g2, v, w, f, r, d, b, id FROM t ORDER BY v, id');
check_rows('keys of many bits', 1, 'SELECT DISTINCT ON (w, f) w, f, v, id FROM t ORDER BY w, f, v, id');

run('SET plan_cache_mode = force_generic_plan', 'PREPARE p (int) AS SELECT DISTINCT ON (g2) g2, v, id FROM t WHERE v > $1 ORDER BY g2, v, id');
check_rows('parameters', 1, 'EXECUTE p (10)', 'EXECUTE p (-100)', 'EXECUTE p (NULL)');
check_rows('read again', 1, 'SELECT k, q.* FROM generate_series(1, 4) k, LATERAL (SELECT v, id FROM t WHERE v > k * 100 ORDER BY v, id LIMIT 1100) q',
	'SELECT k, q.* FROM generate_series(1, 3) k LEFT JOIN LATERAL (SELECT DISTINCT ON (g2) g2, v, id FROM t ORDER BY g2, v, id) q ON q.g2 = k');
run('RESET plan_cache_mode');

# ------------------------------------------------------------- floats of which a code is not enough

run('CREATE TABLE zeros AS SELECT i % 5 AS g, CASE i % 10 WHEN 0 THEN -0.0::float8 WHEN 1 THEN 0 ELSE i END AS f, i AS v FROM generate_series(1, 500) i',
	"CREATE TABLE nans AS SELECT i AS v, i % 5 AS g, CASE i % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE i::text END::float8 AS f FROM generate_series(1, 500) i");
check_rows('a negative zero', 0, 'SELECT f, v FROM zeros ORDER BY f, v', 'SELECT DISTINCT ON (f) f, v FROM zeros ORDER BY f, v');
check_rows('a negative zero that is only compared', 1, 'SELECT DISTINCT ON (g) g, v FROM zeros WHERE f <= 0 ORDER BY g, v');
check_rows('NaN and infinity', 1, 'SELECT f, v FROM nans ORDER BY f DESC, v', limited('rank', 3, 'PARTITION BY g ORDER BY f', 'nans', 'f, g, v'));

# ------------------------------------------------------------------- pages, rows, cursors

my $sorted = 'SELECT id, v FROM t ORDER BY v, id';
my $first = 'SELECT id, v FROM t ORDER BY v, id LIMIT 1500';
my $num_pages = $session->query("SELECT pg_relation_size('t') / 8192");
foreach my $query ($sorted, $first)
{
	like(analyze($query), qr/Executor: gpu\n +Program: \d+ ops\n +Pages Copied: 0\n +.*Peak Memory Usage: \d+ kB\n +-> +Seq Scan on t \(actual rows=$rows(\.00)? loops=1\)/s, 'pages are read where they are, and the scan has its rows');
	like(analyze($query), qr/Pages Read: $num_pages\n/, 'all of them');
}
run('UPDATE t SET v = v + 1 WHERE id = 5');
check_rows('after an update', 1, $sorted, $first);
run('DELETE FROM t WHERE id % 20 = 3', 'VACUUM (INDEX_CLEANUP on, TRUNCATE false) t');
check_rows('line pointers that are free', 1, $sorted, $first);

sub check_cursors
{
	my ($query) = @_;
	my @fetches = ('FORWARD 5', 'BACKWARD 3', 'FORWARD 1400', 'BACKWARD 700', 'FORWARD ALL', 'FORWARD 1', 'BACKWARD 2', 'BACKWARD ALL', 'BACKWARD 1', 'FORWARD 3');
	my @got;

	foreach my $nodes ('force', 'off')
	{
		favour($nodes);
		run('BEGIN', "DECLARE c SCROLL CURSOR FOR $query");
		push @got, join "\n--\n", map { $session->query("FETCH $_ FROM c") } @fetches;
		run('COMMIT');
	}
	is($got[0], $got[1], "a cursor forward and back: $query");
	return;
}
check_cursors($_) foreach $sorted, $first;

# --------------------------------------------------------------------- where it cannot go on

my $core = answer('off', 'cpu', $first);
favour('force');
foreach my $fault ('device_memory', 'device_sticky')
{
	$session->query("SET client_min_messages = error; SET mgpu.inject_fault = $fault");
	is($session->query($first), $core, "$fault: the CPU goes on");
	$session->query('SET mgpu.inject_fault = none');
	ok(defined await_service($node, 15), "$fault: the service is up");
}
run('RESET client_min_messages', "SET work_mem = '64kB'", 'SET hash_mem_multiplier = 1');
check_rows('rows that do not fit in memory', 1, map { ("SELECT id, v, w, f, g, d FROM $_ ORDER BY v, id", "SELECT v, id, v FROM $_ ORDER BY v DESC, id", "SELECT DISTINCT ON (id) id, v, w, f, g, d FROM $_ ORDER BY id, v DESC",
	"SELECT id, v, w, f, g, d FROM $_ ORDER BY v, id LIMIT 2500", limited('rank', 100, 'PARTITION BY g2 ORDER BY v', $_, 'id, g2, v, w, f'), limited('dense_rank', 90, 'PARTITION BY g2 ORDER BY v', $_, 'id, g2, v, w, f')) } 't', 'holes');
# PostgreSQL's WindowAgg computes over rows that are in files
check_rows('window functions of such rows', 1, "SELECT id, g, v, lag(v) OVER w, row_number() OVER w, sum(v) OVER w, count(w) OVER w, first_value(id) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY v DESC, id)");
like(analyze('SELECT id, v, w, f, g, d FROM t ORDER BY v, id'), qr/Executor: gpu\n.*Disk Usage: \d+ kB\n.*Peak Memory Usage: \d\d kB/s, 'EXPLAIN says how large the files are');
check_rows('such rows read again', 1, 'SELECT k, q.* FROM generate_series(1, 3) k, LATERAL (SELECT v, id, w, f FROM t WHERE v > k * 100 ORDER BY v, id OFFSET 0) q',
	'SELECT k, q.* FROM generate_series(1, 3) k LEFT JOIN LATERAL (SELECT DISTINCT ON (id) id, v, w, f FROM t ORDER BY id, v OFFSET 0) q ON q.v = k ORDER BY k, q.id');
check_cursors($_) foreach 'SELECT id, v, w, f FROM t ORDER BY v, id', 'SELECT id, v, w, f FROM t ORDER BY v, id LIMIT 2500';
run('SET temp_file_limit = 0');
favour('force');
$session->query('SELECT id, v, w, f, g, d FROM t ORDER BY v, id');
is($session->{state}, '53400', 'as much of temporary files as PostgreSQL allows');
run('RESET temp_file_limit', 'RESET work_mem', 'RESET hash_mem_multiplier');
is($session->query('SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no file is left');

# cancelled while it runs, again and again: the next statement is right, and nothing is left
{
	my $wrong = 0;

	favour('force');
	foreach my $i (1 .. sized(20, 100))
	{
		$session->query("SET statement_timeout = '" . ($i % 10 + 1) . "ms'");
		$session->query($sorted);
		# which may take too long itself
		$session->query('RESET statement_timeout') until $session->query('SHOW statement_timeout') eq '0';
		$wrong++ if $session->query($first) ne $core;
	}
	is($wrong, 0, 'answers after cancels are right');
	ok(service_is_idle($node), 'and nothing of them is left');
}
$session->close;

done_testing();
