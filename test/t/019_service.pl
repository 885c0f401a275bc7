# The service that drives the GPUs for all sessions: what runs there, what its views
# tell and to whom, and what a call gets that it cannot run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

# parallel plans for aggregates, however small
my $node = new_service_node('service', conf => [ 'mgpu.enable_group = off',
	'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0' ]);
my @calls = make_calls($node, sized(20_000, 3_000_000));
my $admin = MgpuTest->session($node);
my $sort = 'SELECT mgpu_sort(ARRAY[3, 1, 2])';
my $ran = 'SELECT executor, reason FROM mgpu_last_run()';

# ------------------------------------------------------------------------- it is up

my $num_devices = $admin->query('SELECT count(*) FROM mgpu_stat_service');
my $is_played = $admin->query(q{SELECT bool_and(name = 'played') FROM mgpu_stat_service}) eq 't';

cmp_ok($num_devices, '>=', 1, "the service has $num_devices GPUs");
is($admin->query('SELECT bool_and(up), count(DISTINCT pid), max(restarts), bool_and(started_at <= now() AND memory_free <= memory_total) FROM mgpu_stat_service'),
	't|1|0|t', 'one process drives all of them');
is($admin->query('SELECT array_agg(device ORDER BY device) = array_agg(ordinal ORDER BY ordinal), bool_and(s.name = d.name) FROM mgpu_stat_service s JOIN mgpu_device_info() d ON ordinal = device'),
	't|t', 'mgpu_device_info tells of the same');
is($admin->query('SELECT count(*) FROM mgpu_device_info()'), $num_devices, 'and of no others');
like(slurp_file($node->logfile), qr/LOG:  the GPU service is up\n.*DETAIL:  $num_devices of \d+ devices were started/, 'the log says that it is up');
is($admin->query(q{SELECT string_agg(name || ' ' || context, ', ' ORDER BY name) FROM pg_settings WHERE name LIKE 'mgpu.service%'}),
	'mgpu.service postmaster, mgpu.service_buffers postmaster, mgpu.service_memory postmaster', 'preloaded, settings of the service are the postmaster\'s');
is($admin->query(q{SELECT count(*) FROM mgpu_stat_service WHERE pg_size_bytes(current_setting('mgpu.service_memory')) - shared_memory BETWEEN 0 AND 2 * 1024 * 1024}),
	$num_devices, 'shared memory is what mgpu.service_memory says');

# ------------------------------------------------------------------- answers, devices

my @sessions = map { MgpuTest->session($node, options => '-c mgpu.executor=gpu') } 1 .. 4;

foreach my $call (@calls)
{
	my ($name, $query, $answer) = @$call;
	my $session = $sessions[0];

	is($session->query($query), $answer, "$name: as plain SQL");
	next if $name =~ /aggregate/;
	like($session->query('SELECT executor FROM mgpu_last_run()'), qr/gpu$/, "$name: on the GPU");
}
my ($aggregate) = grep { $_->[0] =~ /aggregate/ } @calls;
like($sessions[0]->query("EXPLAIN (COSTS OFF) $aggregate->[1]"), qr/Finalize.*Gather.*Partial/s, 'the aggregate runs in parallel workers');
{
	$admin->query('SELECT mgpu_stat_reset()');
	$sessions[0]->query('SET parallel_leader_participation = off');
	is($sessions[0]->query($aggregate->[1]), $aggregate->[2], 'and without the leader');
	$sessions[0]->query('RESET parallel_leader_participation');
	is($admin->query(q{SELECT sum(calls) > 0 FROM mgpu_stat WHERE executor = 'gpu'}), 't', 'and they use the service');
}

# all at the same time, again and again
{
	my $wrong = '';

	foreach my $round (1 .. 4 * @calls)
	{
		my @now = map { $calls[ ($round * 5 + $_) % @calls ] } 0 .. $#sessions;

		$sessions[$_]->send_query($now[$_]->[1]) foreach 0 .. $#sessions;
		foreach (0 .. $#sessions)
		{
			my $got = $sessions[$_]->answer;
			$wrong .= "$now[$_]->[0]: " . ($got // 'ended') . "\n" unless defined $got && $got eq $now[$_]->[2];
		}
	}
	is($wrong, '', 'four sessions at a time get right answers');
	is($admin->query('SELECT count(*) FROM mgpu_stat_service WHERE jobs > 0 AND items > 0 AND upload_bytes > 0 AND download_bytes > 0'),
		$num_devices, 'every GPU had some of them');
	ok(service_is_idle($node), 'and nothing of them is left');
}

SKIP:
{
	skip 'there is one GPU', 2 if $num_devices < 2;
	my $before = $admin->query('SELECT string_agg(jobs::text, $$ $$ ORDER BY device) FROM mgpu_stat_service');

	$sessions[0]->query('SET mgpu.device = 1');
	is($sessions[0]->query($sort), '{1,2,3}', 'mgpu.device = 1') foreach 1 .. 3;
	$sessions[0]->query('RESET mgpu.device');
	my @before = split / /, $before;
	$before[1] += 3;
	is($admin->query('SELECT string_agg(jobs::text, $$ $$ ORDER BY device) FROM mgpu_stat_service'), "@before", 'it had all of these, and no other GPU any');
}

# a GPU that is not there: no failure of one, so mgpu.gpu_failure has no say
{
	my $session = MgpuTest->session($node);

	foreach my $device ($num_devices, 1000)
	{
		foreach my $failure ('warn', 'silent', 'error')
		{
			$session->query("SET mgpu.device = $device; SET mgpu.gpu_failure = $failure; SET mgpu.gpu_min_items = 0; SET mgpu.executor = gpu");
			$session->query($sort);
			is($session->{state}, '55000', "mgpu.device = $device, executor gpu, $failure: an error");
			like($session->{error}, qr/^DETAIL:  Device $device is not in use\.$/m, 'which names the device');
			$session->query('SET mgpu.executor = auto');
			is($session->query($sort), '{1,2,3}', "mgpu.device = $device, executor auto, $failure: an answer without a word");
			is($session->query($ran), "cpu|device $device is not in use", 'by the CPU, with the reason');
		}
	}
	$session->query('RESET ALL; SET mgpu.executor = gpu');
	is($session->query($sort), '{1,2,3}', 'the session goes on');
	is($session->query($ran), 'gpu|', 'on the GPU');
	$session->close;
}

# ------------------------------------------------------------------------- mgpu_stat

{
	my $count = q{SELECT coalesce(string_agg(concat_ws(' ', executor, calls, items, bytes, reason), ', ' ORDER BY executor, reason), '') FROM mgpu_stat};
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu');

	# to count is no call that counts, whatever plan a version prefers
	$admin->run('SET mgpu.enable_sort = off', 'SELECT mgpu_stat_reset()');
	is($admin->query($count), '', 'after mgpu_stat_reset there is nothing');
	$session->query("BEGIN; $sort");
	is($admin->query($count), '', 'a call within a transaction does not show yet');
	$session->query('COMMIT');
	is($admin->query($count), 'gpu 1 3 12', 'but when it has committed');
	$session->query("BEGIN; $sort; ROLLBACK");
	is($admin->query($count), 'gpu 2 6 24', 'or was rolled back');
	$session->query("SELECT count(mgpu_sort(ARRAY[i, 1])) FROM generate_series(1, 5) i");
	is($admin->query($count), 'gpu 7 16 64', 'each call of a statement counts');
	$session->query("SET mgpu.executor = cpu; $sort");
	is($admin->query($count), 'cpu 1 3 12 mgpu.executor is cpu, gpu 7 16 64', 'calls on the CPU count by reason');
	$session->query('BEGIN; SELECT mgpu_sort(ARRAY[1, 2]); SELECT 1 / 0; ROLLBACK');
	is($admin->query($count), 'cpu 2 5 20 mgpu.executor is cpu, gpu 7 16 64', 'as do those of a transaction that failed');
	is($admin->query('SELECT bool_and(queue_ms >= 0 AND kernel_ms >= 0) FROM mgpu_stat'), 't', 'with their times');
	$admin->query('SELECT mgpu_stat_reset()');
	is($admin->query($count), '', 'mgpu_stat_reset again');
	# a stopped service answers nobody
	my $service = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	kill 'STOP', $service;
	$session->query("SET mgpu.executor = gpu; SET statement_timeout = 200; $sort");
	is($session->{state}, '57014', 'a call is cancelled');
	kill 'CONT', $service;
	is($admin->query($count), 'gpu 1 3 12', 'and counts as one of the GPU');
	$session->close;
}

# ------------------------------------------------------------------ who may read what

# The SQLSTATE that the statement ends with, "" if it does not fail.
sub state_of
{
	my ($role, $sql) = @_;
	my ($state) = said($role, $sql) =~ /ERROR:\s+(\w{5})/;

	return $state // '';
}

sub said
{
	my ($role, $sql) = @_;
	my $stderr;

	$node->psql('postgres', "\\set VERBOSITY verbose\n$sql", stderr => \$stderr, extra_params => [ '--username', $role ]);
	return $stderr;
}

$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; CREATE ROLE watcher LOGIN IN ROLE pg_monitor');
foreach my $view ('mgpu_stat', 'mgpu_stat_service', 'mgpu_stat_activity')
{
	is(state_of('plain', "TABLE $view"), '42501', "an ordinary role may not read $view");
	is(state_of('plain', "SELECT ${view}_rows()"), '42501', 'nor call its function');
	is(state_of('watcher', "TABLE $view"), '', "pg_monitor may read $view");
}
is(state_of($_, 'SELECT mgpu_stat_reset()'), '42501', "$_ may not reset mgpu_stat") foreach 'plain', 'watcher';
is(state_of('plain', "SET mgpu.executor = gpu; $sort; SELECT * FROM mgpu_device_info()"), '', 'an ordinary role may use the GPU');
is(state_of('plain', 'SET mgpu.inject_fault = device_sticky'), '42501', 'but not inject faults');

# -------------------------------------------------------- faults that are one call's

foreach my $executor ('gpu', 'auto')
{
	my ($session, $other) = @sessions;

	$session->query("SET mgpu.executor = $executor; SET mgpu.gpu_min_items = 0; SET mgpu.inject_fault = device_memory");
	like($session->query($sort), qr/WARNING:  53200: .*^\{1,2,3\}$/ms, "$executor: no device memory is a warning, and the CPU's answer");
	like($session->query($ran), qr/^cpu\|.+/, "$executor: mgpu_last_run tells");
	is($other->query($sort), '{1,2,3}', "$executor: another session");
	is($other->query($ran), 'gpu|', "$executor: goes on on the GPU");
	$session->query('SET mgpu.inject_fault = host_memory');
	$session->query($sort);
	is($session->{state}, '53200', "$executor: no host memory is an error");
	$session->query('RESET mgpu.inject_fault');
	is($session->query($sort), '{1,2,3}', "$executor: the next call");
	is($session->query($ran), 'gpu|', "$executor: is on the GPU again");
}
is($admin->query('SELECT bool_and(up), max(restarts) FROM mgpu_stat_service'), 't|0', 'none of these ended the service');

# ------------------------------------------------------- while the service is starting

{
	my ($waits, $fault, $auto) = @sessions;
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');

	$auto->query('SET mgpu.executor = auto; SET mgpu.gpu_min_items = 0');
	$fault->query('SET mgpu.inject_fault = device_sticky');
	like($fault->query($sort), qr/WARNING:  58000: .*^\{1,2,3\}$/ms, 'a lost GPU is a warning, and the CPU\'s answer');
	$fault->query('RESET mgpu.inject_fault');
	# the session hears of it first
	$node->poll_query_until('postgres', 'SELECT NOT bool_or(up) FROM mgpu_stat_service');
	$waits->query('SET mgpu.executor = gpu');
	$waits->send_query($sort);
	is($auto->query($sort), '{1,2,3}', 'auto does not wait for a service that starts');
	is($auto->query($ran), 'cpu|the GPU service is starting', 'and says why it ran on the CPU');
	is($admin->query('SELECT count(*), bool_or(up), count(pid) FROM mgpu_stat_service'), "$num_devices|f|0", 'which mgpu_stat_service shows');
	is($waits->answer, '{1,2,3}', 'executor gpu waits for it');
	is($waits->query($ran), 'gpu|', 'and runs on the GPU');
	is($auto->query($sort), '{1,2,3}', 'auto');
	is($auto->query($ran), 'gpu|', 'is back there too');
	is($admin->query("SELECT bool_and(up), bool_and(pid <> $pid), max(restarts) FROM mgpu_stat_service"), 't|t|1', 'one restart, and another process');
	like(slurp_file($node->logfile), qr/LOG:  the GPU failed, the GPU service starts again\n.*background worker "mgpu_pg service" \(PID $pid\) exited with exit code 1\n/s, 'the log tells');
}
is(scalar(service_processes()), 1, 'the postmaster has one process for it');
$_->close foreach @sessions, $admin;

# ---------------------------------------------------------------------- no service

# Children of the postmaster that are the service's.
sub service_processes
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my @children = split ' ', slurp_file("/proc/$postmaster/task/$postmaster/children");

	return grep { -r "/proc/$_/cmdline" && slurp_file("/proc/$_/cmdline") =~ /mgpu_pg service/ } @children;
}

sub check_no_service
{
	my ($name) = @_;

	is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM mgpu_stat_service), (SELECT count(*) FROM mgpu_stat_activity)'), '0|0', "$name: no rows");
	is(scalar(service_processes()), 0, "$name: no process");
	return;
}

# EXPLAIN says why no GPU reads a table, also in workers, and so does a NOTICE.
sub check_no_reading
{
	my ($name, $why) = @_;
	my $session = MgpuTest->session($node, options => '-c session_preload_libraries=mgpu_pg -c mgpu.enable_group=force -c mgpu.cpu_threads=2');
	my $sum = 'SELECT g, sum(v) FROM pages GROUP BY g';
	my $analyzed = "EXPLAIN (ANALYZE, COSTS off) $sum";
	my $reason = qr/Executor: cpu\n\s*Reason: there is no GPU service, for $why\n/;
	my $said = qr/Input: pages as columns\n\s*$reason/;

	# the table is small
	if (sized(1, 0))
	{
		my $by_threads = $session->query($analyzed);

		like($by_threads, qr/$reason\s*Threads: 2\n/, "$name: EXPLAIN ANALYZE says so of threads");
		is(scalar(() = $by_threads =~ /Executor: /g), 1, "$name: once");
	}
	$session->query('SET mgpu.enable_threads = off');
	like($session->query($analyzed), qr/Gather.*Method: partial hash\n\s*$said/s, "$name: EXPLAIN ANALYZE says so of workers");
	$session->query('SET mgpu.report_declined = on');
	is(scalar(() = $session->query($sum) =~ /NOTICE:.*no GPU reads the table: there is no GPU service, for $why$/mg), 1, "$name: one NOTICE says so");
	$session->query('SET mgpu.report_declined = off; SET max_parallel_workers_per_gather = 0');
	like($session->query($analyzed), qr/Method: hash\n\s*$said/, "$name: EXPLAIN ANALYZE says so of one process");
	is($session->query("EXPLAIN (COSTS off) $sum") =~ s/\n/ /gr, 'Custom Scan (MgpuGroup)   Group Key: g   Aggregates: sum: reduce   Method: hash   Input: pages as columns   ->  Seq Scan on pages',
		"$name: the plan alone is as ever");
	like($session->query("EXPLAIN (MGPU, COSTS off) $sum"), $session->query('SHOW server_version_num') < 180000 ? qr/ERROR.*42601/ : $said, "$name: but for the option MGPU");
	$session->query('SET mgpu.executor = cpu');
	unlike($session->query("SET mgpu.report_declined = on; $analyzed"), qr/GPU service/, "$name: mgpu.executor is cpu, which is no news");
	$session->close;
	return;
}

$node->safe_psql('postgres', 'CREATE TABLE pages AS SELECT i % 10 AS g, i AS v FROM generate_series(1, 5000) i; VACUUM ANALYZE pages');
$node->append_conf('postgresql.conf', 'mgpu.service = off');
$node->restart;
check_no_service('mgpu.service = off');
check_no_reading('mgpu.service = off', 'mgpu.service is off');
{
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu');

	is($session->query($sort), '{1,2,3}', 'mgpu.service = off: a session');
	is($session->query($ran), 'gpu|', 'uses a GPU itself');
	is($session->query(q{SELECT calls FROM mgpu_stat WHERE executor = 'gpu'}), '1', 'which counts as well');
	$session->close;
}

$node->append_conf('postgresql.conf', "mgpu.service = on\nshared_preload_libraries = ''");
$node->restart;
check_no_service('not preloaded');
check_no_reading('not preloaded', 'the server was started without mgpu_pg in shared_preload_libraries');
{
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu');

	is($session->query($sort), '{1,2,3}', 'not preloaded: a session');
	is($session->query($ran), 'gpu|', 'uses a GPU itself');
	foreach my $query ('TABLE mgpu_stat', 'SELECT mgpu_stat_reset()')
	{
		$session->query($query);
		is($session->{state}, '55000', "not preloaded: $query is an error");
		like($session->{error}, qr/^HINT:  .*shared_preload_libraries.*\.$/m, 'with a hint');
	}
	is($session->query(q{SELECT string_agg(DISTINCT context, ', ') FROM pg_settings WHERE name LIKE 'mgpu.service%'}), 'sighup', 'a configuration file may have the settings of the service');
	$session->close;
}

# what README.md says is enough
{
	my ($switch_on) = slurp_file("$FindBin::Bin/../../README.md") =~ /^sudo -u postgres psql -c "(ALTER SYSTEM SET shared_preload_libraries = 'mgpu_pg')"/m;

	$node->safe_psql('postgres', $switch_on // 'no such line');
	$node->restart;
	ok(defined await_service($node, 15), 'as README.md says: the service is up');
	like($node->safe_psql('postgres', 'SET mgpu.executor = gpu; SET mgpu.enable_group = force; SET max_parallel_workers_per_gather = 0; EXPLAIN (ANALYZE, COSTS off) SELECT g, sum(v) FROM pages GROUP BY g'),
		qr/^\s*Executor: gpu$/m, 'and a GPU reads a table for plain SQL');
}

# only devices that are played can be taken away
SKIP:
{
	skip 'there is a real GPU', 12 unless $is_played;
	local $ENV{MGPU_PLAYED_DEVICES} = 0;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'mgpu_pg'");
	$node->restart;
	check_no_service('no GPU');
	check_no_reading('no GPU', 'the server finds no GPU');
	my $session = MgpuTest->session($node, options => '-c mgpu.gpu_min_items=0');

	is($session->query($sort), '{1,2,3}', 'no GPU: the CPU sorts');
	like($session->query($ran), qr/^cpu\|.+/, 'no GPU: with a reason');
	like($session->query('SELECT executor, calls, reason FROM mgpu_stat'), qr/^cpu\|1\|.+/, 'no GPU: which is counted');
	$session->query("SET mgpu.executor = gpu; $sort");
	is($session->{state}, '55000', 'no GPU: and mgpu.executor = gpu is an error');
	$session->close;
}

$node->stop;
done_testing();
