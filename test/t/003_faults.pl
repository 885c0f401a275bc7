# Executors that fail: what mgpu.gpu_failure makes of it, and what a request for
# a GPU says where there is none.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('faults');
my %have = map { $_ => 1 } executors($node);
my $sort = 'SELECT mgpu_sort(array_agg(x)) FROM (SELECT i::int8 * 48271 % 1000 AS x FROM generate_series(1, 50000) i) t';
my $check = 'SELECT mgpu_sort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) FROM (SELECT array_agg(i::int8 * 48271 % 1000) AS a FROM generate_series(1, 50000) i) t';

my $check_text = q{SELECT mgpu_sort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x)
	FROM (SELECT array_agg(('group ' || i % 20 || ' prefix, the item ' || i::int8 * 48271 % 9000 || '; text behind') COLLATE "C") AS a FROM generate_series(1, 50000) i) t};

# the second segment is longer than one job takes
my $check_segments = q{SELECT mgpu_segsort(a, ARRAY[1500001]) = b
	FROM (SELECT array_agg(x ORDER BY i) AS a, array_agg(x ORDER BY i > 1500000, x) AS b
		FROM (SELECT i, ('item ' || i::int8 * 48271 % 90001) COLLATE "C" AS x FROM generate_series(1, 3700000) i) t) u};

# calls that have a second job, or another way on the CPU, once a GPU has failed at the first
my %twice = (
	'floats with zeros of either sign in segments' => 'SELECT md5(array_send(mgpu_segsort(z, ARRAY[25000]))) FROM twice',
	'values inserted at positions in no order' =>
	  'SELECT md5(array_send(mgpu_bulk_insert(z, (SELECT array_agg(50000 - i) FROM generate_series(1, 3000) i), z[1:3000]))) FROM twice',
	'statistics of intervals beyond 64 bits' => 'SELECT count(*) FROM twice, mgpu_locality_sort_stats(w)',
	'a merge of intervals beyond 64 bits' => 'SELECT md5(array_send(mgpu_merge(w, w))) FROM twice',
	'positions of intervals' => 'SELECT md5(array_send(mgpu_argsort(v))) FROM twice',
	'positions of intervals beyond 64 bits' => 'SELECT md5(array_send(mgpu_argsort(y))) FROM twice',
	'intervals beyond 64 bits in segments' => 'SELECT md5(array_send(mgpu_segsort(y, ARRAY[25000]))) FROM twice',
	'positions of labels' => 'SELECT md5(array_send(mgpu_argsort(e))) FROM twice');

# no host memory: an error of its own on either executor
foreach my $executor (sort keys %have)
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my $argsort = $sort =~ s/mgpu_sort/mgpu_argsort/r;

	$session->query('SET mgpu.inject_fault = host_memory');
	$session->query($sort);
	is($session->{state}, '53200', "$executor: no host memory is out of memory");
	like($session->{error}, qr/out of memory/, "$executor: and says so");
	$session->query($argsort);
	is($session->{state}, '53200', "$executor: for argsort too");
	$session->query($check_text);
	is($session->{state}, '53200', "$executor: for strings too");
	$session->query('RESET mgpu.inject_fault');
	is($session->query($check), 't', "$executor: the session goes on");
	is($session->query($check_text), 't', "$executor: and sorts strings");
	$session->close;
}

# a fault of a device is none of the CPU's
{
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');

	foreach my $fault ('device_memory', 'device_sticky')
	{
		$session->query("SET mgpu.inject_fault = $fault");
		is($session->query($check), 't', "cpu: $fault does not matter");
		is($session->query($check_text), 't', "cpu: nor does it for strings");
	}
	$session->close;
}

SKIP:
{
	skip 'there is a GPU', 8 if $have{gpu};
	my $session = MgpuTest->session($node);

	$session->query('SET mgpu.executor = gpu');
	$session->query('SELECT mgpu_sort(ARRAY[2, 1])');
	is($session->{state}, '55000', 'mgpu.executor = gpu without a GPU is an error');
	like($session->{error}, qr/ERROR:  55000: mgpu\.executor is "gpu", but no GPU can be used/, 'with its text');
	like($session->{error}, qr/^DETAIL:  [A-Z0-9].*\.$/m, 'with the reason as a sentence');
	like($session->{error}, qr/^HINT:  .*\.$/m, 'and a hint');
	foreach my $failure ('silent', 'warn')
	{
		$session->query("SET mgpu.gpu_failure = $failure");
		$session->query($sort);
		is($session->{state}, '55000', "also when mgpu.gpu_failure is $failure: a request is a request");
	}
	$session->query('SET mgpu.executor = auto');
	unlike($session->query("$check"), qr/WARNING|ERROR/, 'auto goes to the CPU without a word');
	like($session->query('SELECT executor, reason FROM mgpu_last_run()'), qr/^cpu\|.+/, 'and the reason can be asked for');
	is($session->query('SELECT count(*) FROM mgpu_device_info()'), '0', 'no device, no row');
	$session->close;
}

SKIP:
{
	skip 'no GPU here', 1 unless $have{gpu};
	my $long = 'make_interval(years => CASE WHEN i % 1000 = 0 THEN 178000000 ELSE 0 END, secs => i::int8 * 48271 % 1000003)';

	# labels whose OIDs do not say their order
	$node->safe_psql('postgres', q{CREATE TYPE shade AS ENUM ('white', 'pale', 'dark', 'black')});
	$node->safe_psql('postgres', q{ALTER TYPE shade ADD VALUE 'grey' BEFORE 'dark'});
	$node->safe_psql('postgres', qq{
		SET mgpu.executor = cpu;
		CREATE TABLE twice AS SELECT array_agg(CASE i % 10 WHEN 0 THEN '-0' WHEN 1 THEN 0 ELSE (i::int8 * 48271 % 1000)::float8 END ORDER BY i) FILTER (WHERE i <= 50000) AS z,
			mgpu_sort(array_agg($long ORDER BY i) FILTER (WHERE i <= 100000)) AS w,
			array_agg(make_interval(secs => i::int8 * 48271 % 1000003) ORDER BY i) AS v, array_agg($long ORDER BY i) AS y,
			array_agg((enum_range(NULL::shade))[1 + i::int8 * 48271 % 5] ORDER BY i) FILTER (WHERE i <= 2200000) AS e
		FROM generate_series(1, 3200000) i});

	foreach my $fault ([ 'device_memory', '53200' ], [ 'device_sticky', '58000' ])
	{
		my ($name, $state) = @$fault;

		foreach my $failure ('warn', 'silent', 'error')
		{
			my $session = MgpuTest->session($node, options => "-c mgpu.executor=gpu -c mgpu.gpu_failure=$failure");
			is($session->query($check), 't', "$name, $failure: works before");
			like($session->query('SELECT executor FROM mgpu_last_run()'), qr/gpu/, "$name, $failure: on the GPU");
			$session->query("SET mgpu.inject_fault = $name");
			my $got = $session->query($check);
			if ($failure eq 'error')
			{
				is($session->{state}, $state, "$name, $failure: an error");
			}
			elsif ($failure eq 'warn')
			{
				like($got, qr/WARNING:  $state: .*the CPU does the work instead.*^t$/ms, "$name, $failure: a warning and the answer");
			}
			else
			{
				is($got, 't', "$name, $failure: the answer alone");
			}
			if ($failure ne 'error')
			{
				like($session->query('SELECT executor, reason FROM mgpu_last_run()'), qr/^cpu\|.+/, "$name, $failure: mgpu_last_run tells");
			}
			$session->query('SET mgpu.inject_fault = none');
			my $after = $session->query($check);
			if ($name eq 'device_memory')
			{
				is($after, 't', "$name, $failure: a later call works");
				is($session->query('SELECT executor FROM mgpu_last_run()'), 'gpu', "$name, $failure: on the GPU again");
			}
			else
			{
				# the context is lost for this process: not tried again, and asked for it says why
				is($session->{state}, '55000', "$name, $failure: the GPU asked for is an error from then on");
				$session->query('SET mgpu.executor = auto');
				is($session->query($check), 't', "$name, $failure: auto works on the CPU");
				like($session->query('SELECT executor, reason FROM mgpu_last_run()'), qr/^cpu\|.+/, "$name, $failure: and says why");
			}
			$session->close;
		}
		# strings are sorted in several jobs: once a GPU has failed, the call goes on without it
		my $strings = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c mgpu.gpu_failure=silent');
		is($strings->query($check_text), 't', "$name: strings work before");
		$strings->query("SET mgpu.inject_fault = $name");
		is($strings->query($check_text), 't', "$name: strings are sorted all the same");
		like($strings->query('SELECT executor, reason FROM mgpu_last_run()'), qr/^cpu\|.+/, "$name: and mgpu_last_run tells");
		$strings->close;
		# so are segments, long ones by other means than the others
		my $segments = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c mgpu.gpu_failure=silent');
		$segments->query("SET mgpu.inject_fault = $name");
		is($segments->query($check_segments), 't', "$name: segments are sorted all the same");
		like($segments->query('SELECT executor, reason FROM mgpu_last_run()'), qr/^cpu\|.+/, "$name: and mgpu_last_run tells");
		$segments->close;
		foreach my $call (sort keys %twice)
		{
			my $twice = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
			my $right = $twice->query($twice{$call});
			$twice->query("SET mgpu.executor = gpu; SET mgpu.inject_fault = $name");
			my $got = $twice->query($twice{$call});
			is(scalar(() = $got =~ /WARNING/g), 1, "$name, $call: one warning");
			like($got, qr/^$right$/m, "$name, $call: the answer");
			like($twice->query('SELECT executor, algorithm, reason FROM mgpu_last_run()'), qr/^cpu\|\w+\|.+/, "$name, $call: and mgpu_last_run tells");
			$twice->close;
		}
		my $fresh = MgpuTest->session($node, options => '-c mgpu.executor=gpu');
		is($fresh->query($check), 't', "$name: a new session has a GPU again");
		$fresh->close;
	}

	# a limit on device memory is kept: the job does not fit, so the CPU does it
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c mgpu.gpu_memory_limit=1');
	my $big = 'SELECT cardinality(mgpu_sort(array_agg(i::int8 * 48271 % 1000003))) FROM generate_series(1, 1000000) i';
	like($session->query($big), qr/WARNING:  53200: .*^1000000$/ms, 'over mgpu.gpu_memory_limit: a warning and the answer');
	$session->query("SET mgpu.gpu_failure = error");
	$session->query($big);
	is($session->{state}, '53200', 'or an error');
	$session->query('SET mgpu.gpu_memory_limit = 0');
	is($session->query($big), '1000000', 'and without the limit it runs');
	$session->query('SET mgpu.device = 1000');
	$session->query($big);
	isnt($session->{state}, '', 'a device that does not exist is an error');
	$session->close;
}

$node->stop;
done_testing();
