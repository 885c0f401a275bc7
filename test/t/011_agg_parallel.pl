# Aggregates in parallel plans: workers that die, and random trials of every
# shape of plan (test/oracle.pl).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use List::Util qw(max min);
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('agg_parallel', conf => [
	'max_parallel_workers_per_gather = 2', 'max_parallel_workers = 8', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'min_parallel_table_scan_size = 0', 'work_mem = 256MB', 'mgpu.enable_group = off']);

my $rows = sized(tiered(80_000, 200_000), 1_000_000);

$node->safe_psql('postgres', qq{
	CREATE TABLE big AS SELECT i, i % 1000 AS g, (random() * 1e9)::int AS v, md5(i::text) COLLATE "C" AS t FROM generate_series(1, $rows) i;
	ANALYZE big});

# ----------------------------------------------------------------- same as serial

my %queries = (
	'plain' => 'SELECT md5(array_send(mgpu_sort_agg(v))) FROM big',
	'groups' => q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY g)) FROM (SELECT g, mgpu_sort_agg(v) AS a FROM big GROUP BY g) q},
	'by' => q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY g)) FROM (SELECT g, mgpu_sort_agg_by(t, i, true) AS a FROM big GROUP BY g) q},
	'text' => q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY g)) FROM (SELECT g, mgpu_sort_agg(t) AS a FROM big GROUP BY g) q},
	'shared' => q{SELECT md5(string_agg(concat(p, q, r, md5(array_send(a))), '' ORDER BY g)) FROM
		(SELECT g, mgpu_percentile_cont(v, 0.3) AS p, mgpu_percentile_disc(v, ARRAY[0.1, g / 1000.0]) AS q, mgpu_sort_agg(v) AS a, mgpu_percentile_disc(v, 0.5) FILTER (WHERE v > 5e8) AS r FROM big GROUP BY g) q},
	'numeric' => q{SELECT md5(string_agg(md5(array_send(a) || array_send(b)), '' ORDER BY g)) FROM (SELECT g, mgpu_sort_agg(v / 16.0) AS a, mgpu_sort_agg_by(i, v::numeric + i / 1e7, true) AS b FROM big GROUP BY g) q},
	'merge' => q{SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY g)) FROM (SELECT g, mgpu_merge_agg(ARRAY[v, v + 5]) AS a FROM big GROUP BY g) q});

foreach my $name (sort keys %queries)
{
	my $serial = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $queries{$name}");

	like($node->safe_psql('postgres', "EXPLAIN (COSTS off) $queries{$name}"), qr/Finalize.*Gather.*Partial/s, "$name: a parallel plan");
	is($node->safe_psql('postgres', $queries{$name}), $serial, "$name: as the serial plan");
	is($node->safe_psql('postgres', "SET work_mem = '64kB'; $queries{$name}"), $serial, "$name: and spilled");
	is($node->safe_psql('postgres', "SET parallel_leader_participation = off; $queries{$name}"), $serial, "$name: and without the leader");
}

# ---------------------------------------------------------- a worker is terminated

my $session = MgpuTest->session($node);
my $other = MgpuTest->session($node);
my $ended = 0;
my $unexpected = '';
my %seconds;
foreach my $name ('text', 'shared')
{
	my $started = time();
	$session->query($queries{$name});
	$seconds{$name} = time() - $started;
}

# ten times at least, and again where the machine was faster than the one that was measured
foreach my $try (1 .. 40)
{
	last if $try > 10 && $ended >= 3;
	my $name = $try % 2 ? 'text' : 'shared';
	my $started = time();
	$session->send_query($queries{$name});
	my $killed = '';
	while ($killed eq '' && time() < $started + 5)
	{
		$killed = $other->query("SELECT pid FROM pg_stat_activity WHERE leader_pid = $session->{pid} LIMIT 1");
		sleep 0.002;
	}
	sleep $seconds{$name} * ($try * 7 % 40) / 80;
	$other->query("SELECT pg_terminate_backend($killed)") if $killed ne '';
	defined $session->answer or last;
	$ended++ if $session->{state} eq '57P01';
	$unexpected .= "$session->{error}\n" if $session->{state} !~ /^(57P01)?$/;
	$seconds{$name} = time() - $started if $session->{state} eq '';
}
is($unexpected, '', 'terminated workers: an error that says so, or they had finished');
cmp_ok($ended, '>=', 3, "$ended queries ended with their worker");
is($session->query('SELECT mgpu_sort_agg(v) FROM (VALUES (2), (1)) t(v)'), '{1,2}', 'the session goes on');
is($session->query($queries{'groups'}), $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $queries{groups}"), 'and answers right');
$session->close;
$other->close;

# --------------------------------------------------------------- cancelled mid-way

# Resident memory behind queries that ran to their ends.  What malloc keeps for the next
# query still differs by as much as is allowed here, up and down; a leak only ever grows,
# so the least of the last measurements is held against the most of the first.
sub settled_kb
{
	my ($session) = @_;

	$session->end_timeouts;
	$session->query($queries{$_}) for sort keys %queries;
	return memory_kb($session->{pid}, 'VmRSS');
}

my $cancelled = MgpuTest->session($node);
my $errors = 0;
my (@first, @last);
my %milliseconds;
foreach my $name (sort keys %queries)
{
	my $start = time();
	$cancelled->query($queries{$name});
	$milliseconds{$name} = 1000 * (time() - $start);
}
foreach my $i (1 .. 200)
{
	last if $i > 100 && $errors >= 30;
	my $name = (sort keys %queries)[ $i % keys %queries ];

	# at some point of the way through, wherever this machine is by then
	$cancelled->query('SET statement_timeout = ' . int(1 + $milliseconds{$name} * ($i * 13 % 60) / 65));
	my $start = time();
	$cancelled->query($queries{$name});
	$errors++ if $cancelled->{state} eq '57014';
	$milliseconds{$name} = 1000 * (time() - $start) if $cancelled->{state} eq '';
	push @{ $i <= 20 ? \@first : \@last }, settled_kb($cancelled) if $i % 5 == 0 && ($i <= 20 || $i >= 85);
}
cmp_ok($errors, '>=', 30, "$errors queries ran into their timeout");
cmp_ok(min(@last) - max(@first), '<=', 10 * 1024, 'no memory is left behind');
note("KB @first then @last");
$cancelled->end_timeouts;
is($cancelled->query('SELECT mgpu_sort_agg(v) FROM (VALUES (2), (1)) t(v)'), '{1,2}', 'the session goes on');
$cancelled->close;

# ------------------------------------------------------- states that were damaged
#
# What the leader gets is not what workers sent: lengths, counts and flags that lie.  It answers, wrong
# as the data then are, or says so; it does not crash, hang or take memory that the lie asks for.

my $fuzzed = MgpuTest->session($node, options => '-c mgpu.inject_fault=agg_run');
my @damaged = (
	'SELECT count(a) FROM (SELECT mgpu_sort_agg(nullif(v % 50, 7)) AS a FROM small GROUP BY g) q',
	'SELECT count(a) FROM (SELECT mgpu_sort_agg(t, true) AS a FROM small GROUP BY g) q',
	'SELECT count(a) FROM (SELECT mgpu_sort_agg_by(t, nullif(v % 50, 7)) AS a FROM small GROUP BY g) q',
	q{SELECT count(a) FROM (SELECT mgpu_sort_agg_by(nullif(t, md5('7')), t::uuid) AS a FROM small GROUP BY g) q},
	'SELECT count(a) FROM (SELECT mgpu_sort_agg(nullif(v % 50, 7) / 8.0) AS a FROM small GROUP BY g) q',
	q{SELECT count(a) FROM (SELECT mgpu_sort_agg_by((v % 50)::bit(9)::varbit, inet '10.0.0.0' + v % 99, true) AS a, mgpu_percentile_disc((v % 50)::bit(9)::varbit, 0.5) AS b FROM small GROUP BY g) q},
	'SELECT count(a) FROM (SELECT mgpu_merge_agg(ARRAY[v, v + 1, NULL]) AS a FROM small GROUP BY g) q',
	q{SELECT count(a) FROM (SELECT mgpu_sort_agg(v) AS a, mgpu_sort_agg(v) FILTER (WHERE g > 5) AS b, mgpu_percentile_cont(v, 0.5) AS c, mgpu_percentile_disc(v, 0.5) FILTER (WHERE g > 5) AS d,
		mgpu_percentile_disc(v, ARRAY[0.1, g / 20.0]) AS e, mgpu_percentile_cont(v::float8, g / 20.0) AS f FROM small GROUP BY g) q});
my ($found, $passed, $failures) = (0, 0, '');

$node->safe_psql('postgres', 'CREATE TABLE small AS SELECT i % 20 AS g, v, t FROM big WHERE i <= 4000; ANALYZE small');
foreach my $i (1 .. 300)
{
	my $answer = $fuzzed->query($damaged[ $i % @damaged ]);
	if (!defined $answer) { $failures .= "the session ended in: $damaged[ $i % @damaged ]\n"; last; }

	# not a state, an array too large, orders or fractions that differ, a fraction that is none
	if ($fuzzed->{state} =~ /^(22P03|54000|22023|22003)$/) { $found++; }
	elsif ($fuzzed->{state} eq '') { $passed++; }
	else { $failures .= $fuzzed->{error}; }
}
is($failures, '', 'damaged states: an error that says so, or an answer');
cmp_ok($found, '>=', 30, "$found of 300 queries found damage");
cmp_ok($passed, '>=', 30, "$passed found none or could not know");
cmp_ok(memory_kb($fuzzed->{pid}, 'VmHWM'), '<=', 300 * 1024, 'and the leader kept within bounds');
$fuzzed->close;

# -------------------------------------------------------------------------- trials

SKIP:
{
	skip 'no test/oracle.pl here', 1 unless -f "$FindBin::Bin/../oracle.pl";
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = 'postgres';
	my $much = sized("--trials " . tiered(12, 40) . " --most 20000", '--seconds ' . ($ENV{ORACLE_SECONDS} // 120));
	my $result = `$^X $FindBin::Bin/../oracle.pl aggregates $much 2>&1`;

	like($result, qr/^\d+ passed, 0 failed$/m, 'random trials') or diag($result);
}

$node->stop;
done_testing();
