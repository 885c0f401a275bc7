# The extension's own grouping node at its limits: within its memory, spilling,
# cancelled, out of memory or of temporary space, over and over; by itself, and
# over rows of parallel workers, which may die.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('group_node', conf => ['max_parallel_workers_per_gather = 0', 'work_mem = 1GB']);

my $rows = sized(600_000, 2_000_000);
my $part = $rows / 4;

$node->safe_psql('postgres', qq{
	CREATE UNLOGGED TABLE big AS
	SELECT i, (random() * 999)::int AS few, (random() * 99999)::int AS many, (random() * 4294967295 - 2147483648)::int AS v,
	       (random() * 1e18)::int8 AS w
	FROM generate_series(1, $rows) i;
	ANALYZE big});

# Options of sessions whose plans have workers, also where there are processors for threads.
my $workers = '-c max_parallel_workers_per_gather=2 -c parallel_setup_cost=0 -c mgpu.enable_threads=off';

sub session
{
	my ($options) = @_;
	my $session = MgpuTest->session($node, options => $options);

	$session->query('SELECT count(v), sum(few) FROM big');
	$session->query('SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big WHERE i < 3000 GROUP BY few LIMIT 1');
	return $session;
}

# ------------------------------------------------------------------ memory bounds
#
# 2.5 times value and key, and 24 MB for what a process allocates anyway;
# which small groups say nothing about.

my %bounded = (
	'int4 by int4' => [ 'SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big GROUP BY many LIMIT 1', 2 * 8 ],
	'int8 by int4, with percentiles' => [
		'SELECT sum(mgpu_percentile_cont(w, 0.1) + cardinality(mgpu_sort_agg(w))) OVER () FROM big GROUP BY few LIMIT 1', 2 * 12 ],
	'int4 by int8' => [ 'SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big GROUP BY w / 1000000000000000 LIMIT 1', 2 * 12 ]);

foreach my $run (map { ([ $_, '' ], [ $_, $workers ]) } $LARGE ? sort keys %bounded : ())
{
	my ($name, $options) = @$run;
	my ($query, $bytes) = @{ $bounded{$name} };
	my $session = session("-c mgpu.executor=cpu $options");
	my $plan = $session->query("EXPLAIN $query");

	$name .= ' by workers' if $options ne '';
	like($plan, $options eq '' ? qr/MgpuGroup/ : qr/MgpuGroup.*Gather.*MgpuRows/s, "$name: the node");
	my $before = memory_kb($session->{pid}, 'VmHWM');
	isnt($session->query($query), '', "$name: runs");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 2.5 * $bytes + 24, sprintf('%s: %d MB of values and keys, peak grew by %d MB', $name, $bytes, $grown));
	$session->close;
}

# Spilling: the limit, and 4 MB for what a process allocates anyway.
foreach my $value ($LARGE ? ('v', 'w') : ())
{
	my $session = session('-c mgpu.executor=cpu -c work_mem=4MB -c hash_mem_multiplier=2');
	my $query = "SELECT sum(a[1]) FROM (SELECT mgpu_sort_agg($value) AS a FROM big GROUP BY many) q";

	like($session->query("EXPLAIN $query"), qr/MgpuGroup/, "work_mem 4MB, $value: the node");
	my $before = memory_kb($session->{pid}, 'VmHWM');
	isnt($session->query($query), '', "work_mem 4MB, $value: runs");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 2 * 4 + 4, sprintf('work_mem 4MB, %s: peak grew by %.1f MB', $value, $grown));
	my ($counted) = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $query") =~ /Peak Memory Usage: (\d+)/;
	cmp_ok($counted, '<=', (2 * 4 + 0.5) * $MEGABYTE, "work_mem 4MB, $value: EXPLAIN counts $counted kB");
	$session->close;
}

# ------------------------------------------------------------ spills, temporary files

sub temporary_files
{
	my @files = glob($node->data_dir . '/base/pgsql_tmp/pgsql_tmp*');
	return scalar @files;
}

my $grouped = "SELECT many, mgpu_sort_agg(v) AS a, mgpu_percentile_disc(v, 0.5) AS p FROM big WHERE i < $part GROUP BY many";

# PostgreSQL's nodes alone
$node->safe_psql('postgres', "SET mgpu.enable_group = off; CREATE UNLOGGED TABLE theirs AS SELECT many, array_agg(v ORDER BY v) AS b FROM big WHERE i < $part GROUP BY many; ANALYZE theirs");

my $half_full = sized('256kB', '512kB');
foreach my $run ([ '64kB', '' ], [ $half_full, '' ], [ sized('512kB', '1MB'), '' ], [ $half_full, $workers ])
{
	my ($work_mem, $options) = @$run;
	# what a GPU returns is in files of another kind, and threads have more memory
	my $session = session("-c mgpu.executor=cpu -c mgpu.enable_threads=off -c work_mem=$work_mem $options");
	my ($partitions) = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $grouped") =~ /Spill Partitions: (\d+)/;

	cmp_ok($partitions // 0, '>', 1, "work_mem $work_mem: " . ($partitions // 'no') . ' partitions');
	is($session->query(qq{
		SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM b OR p IS DISTINCT FROM b[(cardinality(b) + 1) / 2])
		FROM ($grouped) ours FULL JOIN theirs USING (many)}),
		$session->query('SELECT count(*), 0 FROM theirs'), "work_mem $work_mem: right in every group");
	is(temporary_files(), 0, "work_mem $work_mem: no file is left");
	$session->query('SET temp_file_limit = \'1MB\'');
	$session->query("SELECT count(a), count(p) FROM ($grouped) q");
	is($session->{state}, '53400', "work_mem $work_mem: temp_file_limit counts");
	is(temporary_files(), 0, "work_mem $work_mem: and no file is left");
	$session->close;
}

# ---------------------------------------------------------------- again and again

foreach my $run (map { ([ $_, '' ], [ $_, "$workers -c min_parallel_table_scan_size=0" ]) } executors($node))
{
	my ($executor, $options) = @$run;
	my $session = session("-c mgpu.executor=$executor -c work_mem=64kB $options");
	my $some = 'SELECT count(a) FROM (SELECT mgpu_sort_agg(v) AS a FROM big WHERE i < 30000 GROUP BY few) q';
	my @queries = (
		$some,
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(w) AS a FROM big WHERE i < 20000 GROUP BY many) q',
		'SELECT a FROM (SELECT mgpu_sort_agg(w) AS a FROM big WHERE i < 20000 GROUP BY many LIMIT 1) q',
		'SELECT sum(p) FROM (SELECT mgpu_percentile_cont(w, 0.4) AS p FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(1 / (few - 500)) AS a FROM big WHERE i < 30000 GROUP BY many) q');

	# a GPU that reads the table needs none
	my $has_workers = $options ne '' && !($executor eq 'gpu' && $ENV{MGPU_TEST_DEVICE});
	is($session->query("EXPLAIN $some") =~ /MgpuRows/ ? 1 : 0, $has_workers ? 1 : 0, "$executor: workers or none, as meant");
	$executor .= ' with workers' if $options ne '';
	check_again($session, $executor, @queries);
	is(temporary_files(), 0, "$executor: no file is left");
	$session->close;
}

# ---------------------------------------------------------------------- cancelled

my %calls = (
	'100,000 groups' => [ '1GB', 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY many) q' ],
	'by workers' => [ '1GB', 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY many) q', $workers ],
	'by workers, spilled' => [ '256kB', 'SELECT sum(p::numeric) FROM (SELECT mgpu_percentile_cont(w, 0.5) AS p FROM big GROUP BY many) q', $workers ],
	'a group a row' => [ '1GB', 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY i) q' ],
	'spilled' => [ '256kB', 'SELECT sum(p::numeric) FROM (SELECT mgpu_percentile_cont(w, 0.5) AS p FROM big GROUP BY many) q' ]);

foreach my $executor (executors($node))
{
	foreach my $name (sort keys %calls)
	{
		my ($work_mem, $call, $options) = @{ $calls{$name} };
		my $session = session("-c mgpu.executor=$executor -c work_mem=$work_mem " . ($options // ''));
		my $right = $session->query($call);

		check_timeouts($session, "$executor, $name", $call, 3, [ 1 .. 9 ]);
		is($session->query($call), $right, "$executor, $name: runs again");
		$session->close;
	}
	is(temporary_files(), 0, "$executor: no file is left");
}

# ---------------------------------------------------------- a worker is terminated

{
	my $query = q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY many)) FROM (SELECT many, mgpu_sort_agg(v) AS a FROM big GROUP BY many) q};
	my $session = session("$workers -c mgpu.executor=cpu");
	my $other = MgpuTest->session($node);
	my $right = $node->safe_psql('postgres', $query);
	my ($ended, $unexpected) = (0, '');

	like($session->query("EXPLAIN $query"), qr/MgpuRows/, 'rows of workers');
	is($session->query($query), $right, 'the same as without workers');
	is($session->query("SET parallel_leader_participation = off; $query"), $right, 'and without the leader');
	foreach my $try (1 .. 60)
	{
		last if $ended >= 3;
		my $started = time();
		my $killed = '';
		$session->send_query($query);
		while ($killed eq '' && time() < $started + 5)
		{
			$killed = $other->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE leader_pid = $session->{pid} LIMIT 1");
			sleep 0.002;
		}
		defined $session->answer or last;
		$ended++ if $session->{state} eq '57P01';
		$unexpected .= "$session->{error}\n" if $session->{state} !~ /^(57P01)?$/;
	}
	is($unexpected, '', 'terminated workers: an error that says so, or they had finished');
	cmp_ok($ended, '>=', 3, "$ended queries ended with their worker");
	is($session->query($query), $right, 'the session goes on, and answers right');
	$session->close;
	$other->close;
}

# ------------------------------------------------------------------ out of memory

SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	check_starved($node, [
		qq{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY many)) FROM (SELECT many, mgpu_sort_agg(v) AS a FROM big WHERE i < $part * 2 GROUP BY many) q} ],
		[ map { $_ * sized(0.15, 1) } 1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 600 ], 2);
}

$node->stop;
done_testing();
