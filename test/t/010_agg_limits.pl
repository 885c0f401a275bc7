# Aggregates at their limits: cancelled or out of memory in mid-batch, over and
# over, spilling, and within the memory that they promise.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('agg_limits', conf => ['max_parallel_workers_per_gather = 0', 'work_mem = 1GB']);
my $megabyte = 1024;    # in kB, as /proc counts
my $limit = 0.2;

$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE big AS
	SELECT i, (random() * 999)::int AS few, (random() * 99999)::int AS many, (random() * 4294967295 - 2147483648)::int AS v,
	       (random() * 1e18)::int8 AS w, md5(i::text) COLLATE "C" AS t
	FROM generate_series(1, 2000000) i;
	ANALYZE big});

# ------------------------------------------------------------------ memory bounds
#
# 2.5 times value and group number, and 24 MB for the hash table and what a
# process allocates anyway.

my %bounded = (
	'int4, 1,000 groups' => [ 'SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big GROUP BY few LIMIT 1', 2 * 8 ],
	'int8, 1,000 groups' => [ 'SELECT sum((mgpu_sort_agg(w))[1]) OVER () FROM big GROUP BY few LIMIT 1', 2 * 12 ],
	'percentiles and array of the same values' => [
		'SELECT sum(mgpu_percentile_cont(w, 0.1) + mgpu_percentile_disc(w, 0.9) + cardinality(mgpu_sort_agg(w))) OVER () FROM big GROUP BY few LIMIT 1', 2 * 12 ],
	'int8 by int4, 1,000 groups' => [ 'SELECT sum((mgpu_sort_agg_by(w, v))[1]) OVER () FROM big GROUP BY few LIMIT 1', 2 * 16 ]);

foreach my $name (sort keys %bounded)
{
	my ($query, $bytes) = @{ $bounded{$name} };
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu -c enable_sort=off');

	like($session->query("EXPLAIN $query"), qr/HashAggregate/, "$name: a hashed plan");
	$session->query('SELECT count(*), count(v), sum(few) FROM big');
	$session->query('SELECT sum((mgpu_sort_agg(v))[1]) OVER () FROM big WHERE i < 1000 GROUP BY few LIMIT 1');
	my $before = memory_kb($session->{pid}, 'VmHWM');
	isnt($session->query($query), '', "$name: runs");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $megabyte;
	cmp_ok($grown, '<=', 2.5 * $bytes + 24, sprintf('%s: %d MB of values and group numbers, peak grew by %d MB', $name, $bytes, $grown));
	$session->close;
}

# ---------------------------------------------------------------- again and again

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my ($warm, $failed) = (0, 0);
	my @queries = (
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(v) AS a FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT cardinality(mgpu_sort_agg_by(t, v)) FROM big WHERE i < 3000',
		'SELECT sum(p) FROM (SELECT mgpu_percentile_cont(w, few / 1000.0) AS p FROM big WHERE i < 3000 GROUP BY few) q',
		'SELECT count(a) FROM (SELECT mgpu_merge_agg(ARRAY[v, v + 1]) AS a FROM big WHERE i < 3000 GROUP BY ROLLUP (few)) q',
		'SELECT count(a) FROM (SELECT mgpu_sort_agg(1 / (few - 500)) AS a FROM big WHERE i < 30000 GROUP BY many) q');

	foreach my $i (1 .. 1000)
	{
		$session->query($queries[ $i % @queries ]);
		$failed++ if $session->{state} ne '';
		$warm = memory_kb($session->{pid}, 'VmRSS') if $i == 200;
	}
	is($failed, 200, "$executor: of 1,000 queries a fifth failed, as meant");
	my $grown = memory_kb($session->{pid}, 'VmRSS') - $warm;
	cmp_ok($grown, '<=', 2 * $megabyte, "$executor: $grown kB more after 800 more queries");
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

# How long the query runs, the shorter of two runs, and how late it ended after each of nine timeouts
# that came while it ran; in seconds.
sub lateness
{
	my ($session, $call) = @_;
	my ($full, @late);

	foreach (1 .. 2)
	{
		my $started = time();

		$session->query($call);
		my $took = time() - $started;
		$full = $took if !defined $full || $took < $full;
	}
	foreach my $part (1 .. 9)
	{
		my $timeout = int($full * 100 * $part) || 1;
		my $late = $session->query("SET mgpu_test.timeout = $timeout; SET statement_timeout = $timeout;"
			  . "SELECT pg_temp.lateness(\$\$$call\$\$)");

		push @late, $late / 1000 if defined $late && $late =~ /\d/;
	}
	$session->query('SET statement_timeout = 0');
	return ($full, @late);
}

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");

	$session->query(q{
		CREATE OR REPLACE FUNCTION pg_temp.lateness(call text) RETURNS float8 LANGUAGE plpgsql AS $$
		BEGIN
			EXECUTE call;
			RETURN NULL;
		EXCEPTION WHEN query_canceled THEN
			RETURN extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 - current_setting('mgpu_test.timeout')::float8;
		END
		$$});
	foreach my $name (sort keys %calls)
	{
		my ($full, @late);

		# A machine may be slow for a while, or fast: what was measured then is measured again.  A
		# query that does not look at cancels for too long is late every time.
		foreach my $try (1 .. 3)
		{
			($full, @late) = lateness($session, $calls{$name});
			last if @late >= 3 && median(@late) <= $limit;
		}
		is($session->{error}, '', "$executor, $name: runs to its end when let alone");
		cmp_ok(scalar @late, '>=', 3, "$executor, $name: " . @late . ' of 9 timeouts came while it ran');
		cmp_ok(median(@late), '<=', $limit, sprintf('%s, %s: ends %.0f ms after a timeout (runs %.0f)', $executor, $name, 1000 * median(@late), 1000 * $full))
		  if @late;
	}
	is($session->query('SELECT mgpu_sort_agg(v) FROM (VALUES (2), (1)) t(v)'), '{1,2}', "$executor: the session goes on");
	$session->close;
}

# ------------------------------------------------------------------ out of memory

SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	my ($refused, $answered) = (0, 0);
	my %unexpected;
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
	my @calls = (
		'SELECT md5(array_send(mgpu_sort_agg(v))) FROM big',
		q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY a)) FROM (SELECT mgpu_sort_agg(v) AS a FROM big WHERE i < 500000 GROUP BY few) q},
		q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY few)) FROM (SELECT few, mgpu_sort_agg_by(t, w) AS a FROM big WHERE i < 500000 GROUP BY few) q},
		'SELECT mgpu_percentile_cont(w, 0.3) FROM big');
	my @right = map { $session->query($_) } @calls;

	foreach my $i (0 .. $#calls)
	{
		foreach my $extra (1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 600)
		{
			my $bytes = (memory_kb($session->{pid}, 'VmSize') + $extra * $megabyte) * 1024;
			system('prlimit', "--pid=$session->{pid}", "--as=$bytes:") == 0 or die 'prlimit failed';
			my $got = $session->query($calls[$i]);
			if (!defined $got)
			{
				$unexpected{"$calls[$i] with $extra MB: the session ended"}++;
				$session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
				next;
			}
			system('prlimit', "--pid=$session->{pid}", '--as=unlimited:');
			if ($session->{state} eq '53200') { $refused++; }
			elsif ($session->{state} eq '' && $got eq $right[$i]) { $answered++; }
			else { $unexpected{"$calls[$i] with $extra MB: " . ($session->{error} || 'wrong answer')}++; }
		}
	}
	is(join("\n", sort keys %unexpected), '', 'out of memory: an error 53200, or the right answer, and nothing else');
	cmp_ok($refused, '>=', 5, "$refused calls were refused");
	cmp_ok($answered, '>=', 5, "$answered calls were answered");
	is($session->query('SELECT mgpu_sort_agg(v) FROM (VALUES (2), (1)) t(v)'), '{1,2}', 'the session goes on');
	$session->close;
}

# -------------------------------------------------------------------------- spills

foreach my $work_mem ('64kB', '1MB', '4MB')
{
	my $session = MgpuTest->session($node, options => "-c enable_sort=off -c work_mem=$work_mem");
	my $query = 'SELECT many, mgpu_sort_agg(v) AS a, mgpu_percentile_disc(v, 0.5) AS p FROM big WHERE i < 500000 GROUP BY many';
	my $plan = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $query");
	my ($batches) = $plan =~ /Batches: (\d+)/;

	cmp_ok($batches // 0, '>', 1, "work_mem $work_mem: $batches batches");
	is($session->query(qq{
		SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM b OR p IS DISTINCT FROM b[(cardinality(b) + 1) / 2])
		FROM ($query) ours JOIN (SELECT many, array_agg(v ORDER BY v) AS b FROM big WHERE i < 500000 GROUP BY many) theirs USING (many)}),
		$session->query('SELECT count(DISTINCT many), 0 FROM big WHERE i < 500000'), "work_mem $work_mem: right in every group");
	$session->close;
}

$node->stop;
done_testing();
