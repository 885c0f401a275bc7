# The extension's own grouping node at its limits: within its memory, spilling,
# cancelled, out of memory or of temporary space, over and over.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('group_node', conf => ['max_parallel_workers_per_gather = 0', 'work_mem = 1GB']);

$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE big AS
	SELECT i, (random() * 999)::int AS few, (random() * 99999)::int AS many, (random() * 4294967295 - 2147483648)::int AS v,
	       (random() * 1e18)::int8 AS w
	FROM generate_series(1, 2000000) i;
	ANALYZE big});

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
# 2.5 times value and key, and 24 MB for what a process allocates anyway.

my %bounded = (
	'int4 by int4' => [ 'SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big GROUP BY many LIMIT 1', 2 * 8 ],
	'int8 by int4, with percentiles' => [
		'SELECT sum(mgpu_percentile_cont(w, 0.1) + cardinality(mgpu_sort_agg(w))) OVER () FROM big GROUP BY few LIMIT 1', 2 * 12 ],
	'int4 by int8' => [ 'SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big GROUP BY w / 1000000000000000 LIMIT 1', 2 * 12 ]);

foreach my $name (sort keys %bounded)
{
	my ($query, $bytes) = @{ $bounded{$name} };
	my $session = session('-c mgpu.executor=cpu');

	like($session->query("EXPLAIN $query"), qr/MgpuGroup/, "$name: the node");
	my $before = memory_kb($session->{pid}, 'VmHWM');
	isnt($session->query($query), '', "$name: runs");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 2.5 * $bytes + 24, sprintf('%s: %d MB of values and keys, peak grew by %d MB', $name, $bytes, $grown));
	$session->close;
}

# ------------------------------------------------------------ spills, temporary files

sub temporary_files
{
	my @files = glob($node->data_dir . '/base/pgsql_tmp/pgsql_tmp*');
	return scalar @files;
}

my $grouped = 'SELECT many, mgpu_sort_agg(v) AS a, mgpu_percentile_disc(v, 0.5) AS p FROM big WHERE i < 500000 GROUP BY many';

foreach my $work_mem ('64kB', '512kB', '1MB')
{
	my $session = session("-c work_mem=$work_mem");
	my ($partitions) = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $grouped") =~ /Spill Partitions: (\d+)/;

	cmp_ok($partitions // 0, '>', 1, "work_mem $work_mem: " . ($partitions // 'no') . ' partitions');
	is($session->query(qq{
		SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM b OR p IS DISTINCT FROM b[(cardinality(b) + 1) / 2])
		FROM ($grouped) ours JOIN (SELECT many, array_agg(v ORDER BY v) AS b FROM big WHERE i < 500000 GROUP BY many) theirs USING (many)}),
		$session->query('SELECT count(DISTINCT many), 0 FROM big WHERE i < 500000'), "work_mem $work_mem: right in every group");
	is(temporary_files(), 0, "work_mem $work_mem: no file is left");
	$session->query('SET temp_file_limit = \'1MB\'');
	$session->query("SELECT count(*) FROM ($grouped) q");
	is($session->{state}, '53400', "work_mem $work_mem: temp_file_limit counts");
	is(temporary_files(), 0, "work_mem $work_mem: and no file is left");
	$session->close;
}

# ---------------------------------------------------------------- again and again

foreach my $executor (executors($node))
{
	my $session = session("-c mgpu.executor=$executor -c work_mem=64kB");
	my @queries = (
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(v) AS a FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(w) AS a FROM big WHERE i < 20000 GROUP BY many) q',
		'SELECT a FROM (SELECT mgpu_sort_agg(w) AS a FROM big WHERE i < 20000 GROUP BY many LIMIT 1) q',
		'SELECT sum(p) FROM (SELECT mgpu_percentile_cont(w, 0.4) AS p FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(1 / (few - 500)) AS a FROM big WHERE i < 30000 GROUP BY many) q');

	check_again($session, $executor, @queries);
	is(temporary_files(), 0, "$executor: no file is left");
	$session->close;
}

# ---------------------------------------------------------------------- cancelled

my %calls = (
	'100,000 groups' => [ '1GB', 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY many) q' ],
	'a group a row' => [ '1GB', 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY i) q' ],
	'spilled' => [ '256kB', 'SELECT sum(p) FROM (SELECT mgpu_percentile_cont(w, 0.5) AS p FROM big GROUP BY many) q' ]);

foreach my $executor (executors($node))
{
	foreach my $name (sort keys %calls)
	{
		my ($work_mem, $call) = @{ $calls{$name} };
		my $session = session("-c mgpu.executor=$executor -c work_mem=$work_mem");
		my $right = $session->query($call);

		check_timeouts($session, "$executor, $name", $call, 3, [ 1 .. 9 ], 3);
		is($session->query($call), $right, "$executor, $name: runs again");
		$session->close;
	}
	is(temporary_files(), 0, "$executor: no file is left");
}

# ------------------------------------------------------------------ out of memory

SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	check_starved($node, [
		q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY many)) FROM (SELECT many, mgpu_sort_agg(v) AS a FROM big WHERE i < 1000000 GROUP BY many) q} ],
		[ 1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 600 ], 2);
}

$node->stop;
done_testing();
