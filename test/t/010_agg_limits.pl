# Aggregates at their limits: cancelled or out of memory in mid-batch, over and
# over, spilling, and within the memory that they promise.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

# under PostgreSQL's own nodes; the extension's is in 012_group_node.pl
my $node = new_node('agg_limits', conf => ['max_parallel_workers_per_gather = 0', 'work_mem = 1GB', 'mgpu.enable_group = off']);

my $rows = sized(300_000, 2_000_000);
my $some = $rows / 4;

$node->safe_psql('postgres', qq{
	CREATE UNLOGGED TABLE big AS
	SELECT i, (random() * 999)::int AS few, (random() * 99999)::int AS many, (random() * 4294967295 - 2147483648)::int AS v,
	       (random() * 1e18)::int8 AS w, md5(i::text) COLLATE "C" AS t
	FROM generate_series(1, $rows) i;
	ANALYZE big});

# ------------------------------------------------------------------ memory bounds
#
# 2.5 times value and group number, and 24 MB for the hash table and what a
# process allocates anyway; which small groups say nothing about.

my %bounded = (
	'int4, 1,000 groups' => [ 'SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big GROUP BY few LIMIT 1', 2 * 8 ],
	'int8, 1,000 groups' => [ 'SELECT sum((mgpu_sort_agg(w))[1]) OVER () FROM big GROUP BY few LIMIT 1', 2 * 12 ],
	'percentiles and array of the same values' => [
		'SELECT sum(mgpu_percentile_cont(w, 0.1) + mgpu_percentile_disc(w, 0.9) + cardinality(mgpu_sort_agg(w))) OVER () FROM big GROUP BY few LIMIT 1', 2 * 12 ],
	'int8 by int4, 1,000 groups' => [ 'SELECT sum((mgpu_sort_agg_by(w, v))[1]) OVER () FROM big GROUP BY few LIMIT 1', 2 * 16 ]);

foreach my $name ($LARGE ? sort keys %bounded : ())
{
	my ($query, $bytes) = @{ $bounded{$name} };
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu -c enable_sort=off');

	like($session->query("EXPLAIN $query"), qr/HashAggregate/, "$name: a hashed plan");
	$session->query('SELECT count(*), count(v), sum(few) FROM big');
	$session->query('SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big WHERE i < 1000 GROUP BY few LIMIT 1');
	my $before = memory_kb($session->{pid}, 'VmHWM');
	isnt($session->query($query), '', "$name: runs");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 2.5 * $bytes + 24, sprintf('%s: %d MB of values and group numbers, peak grew by %d MB', $name, $bytes, $grown));
	$session->close;
}

# ---------------------------------------------------------------- again and again

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my @queries = (
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(v) AS a FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT cardinality(mgpu_sort_agg_by(t, v)) FROM big WHERE i < 3000',
		'SELECT sum(p) FROM (SELECT mgpu_percentile_cont(w, few / 1000.0) AS p FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT count(a) FROM (SELECT mgpu_merge_agg(ARRAY[v, v + 1]) AS a FROM big WHERE i < 3000 GROUP BY ROLLUP (few)) q',
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(1 / (few - 500)) AS a FROM big WHERE i < 30000 GROUP BY many) q');

	check_again($session, $executor, @queries);
	$session->close;
}

# ---------------------------------------------------------------------- cancelled

my %calls = (
	'plain' => 'SELECT cardinality(mgpu_sort_agg(v)) FROM big',
	'1,000 groups' => 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY few) q',
	'a group a row' => 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big GROUP BY i) q',
	'text' => 'SELECT cardinality(mgpu_sort_agg(t)) FROM big',
	'text under a collation' => 'SELECT cardinality(mgpu_sort_agg(t COLLATE "en-x-icu")) FROM big',
	'by text' => 'SELECT sum(cardinality(a)) FROM (SELECT mgpu_sort_agg_by(w, t) AS a FROM big GROUP BY few) q',
	'percentiles' => 'SELECT sum(p) FROM (SELECT mgpu_percentile_cont(w, 0.5) AS p FROM big GROUP BY many) q');

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");

	check_timeouts($session, "$executor, $_", $calls{$_}, 3, [ 1 .. 9 ]) for sort keys %calls;
	is($session->query('SELECT mgpu_sort_agg(v) FROM (VALUES (2), (1)) t(v)'), '{1,2}', "$executor: the session goes on");
	$session->close;
}

# ----------------------------------------------- the thread that prepares memory
#
# It is in the middle of a block, or has one left over, when an aggregate fails,
# goes on to its next group, or starts over.

sub num_threads
{
	my ($pid) = @_;

	return scalar(() = glob("/proc/$pid/task/*"));
}

SKIP:
{
	skip 'no /proc/self/task here', 1 unless -d '/proc/self/task';
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu -c enable_hashagg=off');
	my $threads = num_threads($session->{pid});
	my %sound = (
		'one group after another' => [
			'SELECT count(*), bool_and(a = b) FROM (SELECT i % 2 AS g, mgpu_sort_agg(t) AS a FROM big GROUP BY i % 2) ours'
			  . ' JOIN (SELECT i % 2 AS g, array_agg(t ORDER BY t) AS b FROM big GROUP BY i % 2) theirs USING (g)', '2|t' ],
		'again for each outer row' => [
			'SELECT sum(cardinality(a)), bool_and(a[1] = least) FROM generate_series(0, 3) g, LATERAL (SELECT mgpu_sort_agg(t) AS a,'
			  . " min(t) AS least FROM big WHERE i > g * $some) q", $some * 10 . '|t' ],
		'values of many sizes' => [
			'SELECT md5(array_send(mgpu_sort_agg(v))) = md5(array_send(array_agg(v ORDER BY v))) FROM'
			  . " (SELECT (repeat(t, CASE WHEN i % 5000 = 0 THEN 3000 ELSE 1 + i % 7 END) || i % 300) COLLATE \"C\" AS v FROM big WHERE i <= 300000) q", 't' ]);
	my %failing = (
		'an error among the rows' => [ "SELECT cardinality(mgpu_sort_agg(CASE WHEN i < $rows * 0.95 THEN t ELSE (1 / (i - i))::text END)) FROM big", qr/division by zero/ ],
		'an error in the other aggregate' => [ "SELECT cardinality(mgpu_sort_agg(t)), sum(1 / (i - $some * 3)) FROM big", qr/division by zero/ ]);

	foreach my $name (sort keys %sound)
	{
		my ($query, $expected) = @{ $sound{$name} };

		is($session->query($query), $expected, "thread: $name");
		is(num_threads($session->{pid}), $threads, "thread: $name: none is left");
	}
	foreach my $name (sort keys %failing)
	{
		my ($query, $error) = @{ $failing{$name} };

		like($session->query($query), $error, "thread: $name");
		is(num_threads($session->{pid}), $threads, "thread: $name: none is left");
		is($session->query("DO \$\$ BEGIN FOR k IN 1..5 LOOP BEGIN PERFORM $1; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END \$\$"), '', "thread: $name, caught")
		  if $query =~ /^SELECT (.*)$/;
		is(num_threads($session->{pid}), $threads, "thread: $name, caught: none is left");
	}
	$session->close;
}

# ------------------------------------------------------------------ out of memory

SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	check_starved($node, [
		'SELECT md5(array_send(mgpu_sort_agg(v))) FROM big',
		"SELECT md5(array_send(mgpu_sort_agg(t))) FROM big WHERE i < $some",
		qq{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big WHERE i < $some GROUP BY few) q},
		qq{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY few)) FROM (SELECT few, mgpu_sort_agg_by(t, w) AS a FROM big WHERE i < $some GROUP BY few) q},
		'SELECT mgpu_percentile_cont(w, 0.3) FROM big' ],
		[ map { $_ * sized(0.15, 1) } 1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 600 ], 5);
}

# -------------------------------------------------------------------------- spills

foreach my $work_mem ('64kB', '1MB', '4MB')
{
	my $session = MgpuTest->session($node, options => "-c enable_sort=off -c enable_nestloop=off -c work_mem=$work_mem");
	my $query = "SELECT many, mgpu_sort_agg(v) AS a, mgpu_percentile_disc(v, 0.5) AS p FROM big WHERE i < $some GROUP BY many";
	my $plan = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $query");
	my ($batches) = $plan =~ /Batches: (\d+)/;

	cmp_ok($batches // 0, '>', 1, "work_mem $work_mem: $batches batches");
	is($session->query(qq{
		SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM b OR p IS DISTINCT FROM b[(cardinality(b) + 1) / 2])
		FROM ($query) ours JOIN (SELECT many, array_agg(v ORDER BY v) AS b FROM big WHERE i < $some GROUP BY many) theirs USING (many)}),
		$session->query("SELECT count(DISTINCT many), 0 FROM big WHERE i < $some"), "work_mem $work_mem: right in every group");
	$session->close;
}

$node->stop;
done_testing();
