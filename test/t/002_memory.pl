# Memory: one call's peak, no growth over cancelled and failing calls, and a
# clean error when there is none left.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('memory');
my $megabyte = 1024;    # in kB, as /proc counts

make_big($node, 'big', 40, a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ]);
make_big($node, 'middle', 10,
	a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ],
	b => [ 'bigint[]', '(random() * 1e18)::bigint' ],
	f => [ 'float8[]', "CASE WHEN i % 100 = 0 THEN '-0' ELSE random() END" ],
	n => [ 'int[]', 'CASE WHEN i % 7 > 0 THEN (random() * 1000000000)::int END' ]);

make_big($node, 'strings', 4, t => [ 'text[]', 'substr(md5(i::text), 1, 12)' ], d => [ 'numeric[]', '(random() * 1e9)::numeric(14, 3)' ]);

# --------------------------------------------------------- the peak of one call
#
# Resident memory grows by no more than input and result and 64 MB.

my %peaks = (
	'sort int4' => [ 'mgpu_sort(a)', 'big', 160, 160 ],
	'sort int8' => [ 'mgpu_sort(b)', 'middle', 80, 80 ],
	'sort float8 with -0' => [ 'mgpu_sort(f, true)', 'middle', 80, 80 ],
	'sort int4 with nulls' => [ 'mgpu_sort(n)', 'middle', 40, 40 ],
	'argsort int4' => [ 'mgpu_argsort(a)', 'middle', 40, 40 ],
	'argsort float8' => [ 'mgpu_argsort(f)', 'middle', 80, 40 ],
	'sort_by int4 by int8' => [ 'mgpu_sort_by(a, b)', 'middle', 120, 40 ],
	# codes and where strings are: 28 bytes an element; strings that are made: as much as the elements
	'sort text' => [ 'mgpu_sort(t COLLATE "C")', 'strings', 64, 64 + 112 ],
	'argsort text' => [ 'mgpu_argsort(t COLLATE "C")', 'strings', 64, 16 + 112 ],
	'sort numeric' => [ 'mgpu_sort(d)', 'strings', 64, 64 + 64 + 112 ],
	# 4 bytes an element more would be 160 MB
	'argsort of many int4' => [ 'mgpu_argsort(a)', 'big', 160, 160 ],
	'sort_by of many int4' => [ 'mgpu_sort_by(a, a)', 'big', 320, 160 ],
	'sort_pairs of many int4' => [ '(mgpu_sort_pairs(a, a)).vals', 'big', 320, 320 ],
	'locality_sort_pairs of many int4' => [ '(mgpu_locality_sort_pairs(a, a, true)).keys', 'big', 320, 320 ]);

foreach my $executor (executors($node))
{
	foreach my $name (sort keys %peaks)
	{
		my ($call, $table, $input, $result) = @{ $peaks{$name} };
		my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");

		# what a first call sets up for good, a device's context say, is not this call's
		$session->query('SELECT mgpu_sort(array_agg(i::float8)), mgpu_sort(array_agg(i)) FROM generate_series(1, 20000) i');
		my $before = memory_kb($session->{pid}, 'VmHWM');
		is($session->query("SELECT cardinality($call) > 0 FROM $table"), 't', "$executor, $name: runs");
		my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $megabyte;
		cmp_ok($grown, '<=', $input + $result + 64,
			sprintf('%s, %s: %d MB in, %d MB out, peak grew by %d MB', $executor, $name, $input, $result, $grown));
		$session->close;
	}
}

# ----------------------------------------------------------------- no growth

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my %failing = (
		'cancelled sorts' => [ 'SET statement_timeout = %d', 'SELECT cardinality(mgpu_sort(a)) FROM middle' ],
		'cancelled argsorts' => [ 'SET statement_timeout = %d', 'SELECT cardinality(mgpu_argsort(f)) FROM middle' ],
		'failing calls' => [ "SET statement_timeout = 0", 'SELECT mgpu_sort_by(a, a[1:1000]) FROM middle' ],
		'finished sorts' => [ "SET statement_timeout = 0", 'SELECT cardinality(mgpu_sort(n)), cardinality(mgpu_sort_by(b, f)) FROM middle' ]);

	foreach my $name (sort keys %failing)
	{
		my ($setting, $call) = @{ $failing{$name} };
		my ($warm, $errors) = (0, 0);
		my $rounds = $name eq 'finished sorts' ? 12 : 80;

		# timeouts fall within the time that the call takes on this machine
		$session->query($call);
		my $started = time();
		$session->query($call);
		my $milliseconds = 1000 * (time() - $started);

		foreach my $i (1 .. $rounds)
		{
			$session->query($setting =~ s{%d}{int(1 + $milliseconds * ($i * 7 % 60) / 75)}er);
			$session->query($call);
			$errors++ if $session->{state} ne '';
			$warm = memory_kb($session->{pid}, 'VmRSS') if $i == $rounds / 4;
		}
		$session->query('SET statement_timeout = 0');
		cmp_ok($errors, '>=', $rounds / 2, "$executor: $errors of $rounds $name ended in an error") if $name ne 'finished sorts';
		my $grown = memory_kb($session->{pid}, 'VmRSS') - $warm;
		cmp_ok($grown, '<=', 10 * $megabyte, "$executor, $name: $grown kB more after " . $rounds * 3 / 4 . ' more calls');
		is($session->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', "$executor, $name: the session goes on");
	}
	$session->close;
}

# ------------------------------------------------------------- none to be had
#
# With the process's address space limited to what it has and a little more, a
# call ends in 53200 or in the right answer, whatever step the limit hits.

SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	my %wanted = map { $_ => 1 } ('', '53200');
	my ($refused, $answered) = (0, 0);
	my %unexpected;
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
	my @calls = (
		'SELECT md5(array_send(mgpu_sort(a))) FROM big',
		'SELECT md5(array_send(mgpu_argsort(a))) FROM middle',
		'SELECT md5(array_send(mgpu_sort_by(b, f))) FROM middle',
		'SELECT md5(array_send(mgpu_sort(f))) FROM middle',
		'SELECT md5(array_send(mgpu_sort(n, true))) FROM middle',
		'SELECT md5(array_send(keys) || array_send(vals)) FROM middle, mgpu_sort_pairs(f, b)');
	my @right = map { $session->query($_) } @calls;

	foreach my $i (0 .. $#calls)
	{
		foreach my $extra (10, 50, 90, 130, 180, 260, 400, 1000)
		{
			my $limit = (memory_kb($session->{pid}, 'VmSize') + $extra * $megabyte) * 1024;
			system('prlimit', "--pid=$session->{pid}", "--as=$limit:") == 0 or die 'prlimit failed';
			my $got = $session->query($calls[$i]);
			if (!defined $got)
			{
				$unexpected{'the session ended'}++;
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
	cmp_ok($refused, '>=', 10, "$refused calls were refused");
	cmp_ok($answered, '>=', 10, "$answered calls were answered");
	is($session->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', 'the session goes on');
	$session->close;
}

$node->stop;
done_testing();
