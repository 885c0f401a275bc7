# The service under many sessions that are cancelled, terminated and run into faults,
# and that lose the service's process: no answer is wrong, and nothing stays behind.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuStorm;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $storm = MgpuStorm->new('service_chaos');
my $node = $storm->{node};

# What the log has got since, but for what is expected.
sub unexpected_log
{
	my ($offset, $expected) = @_;

	return join "\n", grep { !/$expected|^\s|(DETAIL|HINT|CONTEXT|STATEMENT):  / } split /\n/, slurp_file($node->logfile, $offset);
}

# ------------------------------------------------------- cancelled and terminated at random

my @sessions = $storm->sessions(12);
my $admin = MgpuTest->session($node);

{
	my ($cancels, $terminations) = (sized(60, 1_000), sized(20, 200));
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $log = -s $node->logfile;
	my $seen;

	$admin->query('SELECT mgpu_stat_reset()');
	$seen = $storm->run(\@sessions, MgpuStorm::interrupter($admin, 0.03, cancel => $cancels, terminate => $terminations), end => 1);

	$storm->check('interrupted', $seen);
	cmp_ok($seen->{57014} // 0, '>=', $cancels / 4, ($seen->{57014} // 0) . " of $cancels cancels came while a call ran");
	cmp_ok($seen->{ended}, '>=', $terminations / 4, "$seen->{ended} sessions ended by $terminations terminations");
	$storm->check_on_gpu('interrupted', @sessions);
	is($admin->query('SELECT DISTINCT pid, restarts FROM mgpu_stat_service'), "$pid|0", 'the service goes on as the same process');
	is($admin->query(q{SELECT count(*) FROM mgpu_stat WHERE executor = 'gpu' AND calls > 100}), '1', 'and had most of the calls');
	# lines of a parallel worker whose leader has just ended, and of who had ended before it could be interrupted
	is(unexpected_log($log, qr/canceling statement due to user request|terminating connection due to administrator command|terminating background worker "parallel worker"|background worker "parallel worker".*exited with exit code 1|lost connection to parallel worker|could not (map dynamic shared memory segment|attach to dynamic shared area)|could not (send|receive) data|connection to client lost|WARNING:  PID \d+ is not a PostgreSQL backend process/),
		'', 'the log has nothing else');
}

# -------------------------------------------------------------------- GPUs that fail

{
	my $rounds = sized(2, 10);
	my $log = -s $node->logfile;
	my $fault = MgpuTest->session($node, options => '-c mgpu.executor=gpu');
	my ($next, $failed, @back) = (time() + 0.3, 0);

	my $seen = $storm->run(\@sessions, sub {
		return 1 if time() < $next;
		return 0 if $failed == $rounds;
		$failed++;
		$fault->query('SET mgpu.inject_fault = device_sticky');
		like($fault->query('SELECT mgpu_sort(ARRAY[2, 1])'), qr/WARNING:  58000: .*^\{1,2\}$/ms, "failure $failed: a warning, and the CPU's answer");
		$fault->query('RESET mgpu.inject_fault');
		$node->poll_query_until('postgres', "SELECT max(restarts) = $failed FROM mgpu_stat_service");
		push @back, await_service($node);
		ok(defined $back[-1], "failure $failed: the service is back within 5 s");
		$next = time() + 0.5;
		return 1;
	}, warn => 1);

	$storm->check('failures', $seen);
	$storm->check_on_gpu('failures', @sessions, $fault);
	is($admin->query('SELECT max(restarts) FROM mgpu_stat_service'), $rounds, 'each restart is counted');
	like(slurp_file($node->logfile, $log), qr/background worker "mgpu_pg service" \(PID \d+\) exited with exit code 1/, 'it ended with exit code 1');
	is(unexpected_log($log, qr/the CPU does the work instead|the GPU failed, the GPU service starts again|"mgpu_pg service" .* exited with exit code 1|the GPU service is up/),
		'', 'the log has nothing else');
	$fault->close;
}

# ------------------------------------------------------------------ the process is stopped

# A service that does not answer: sessions wait for it, and can be cancelled and ended all the same.
{
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my ($first, $second) = @sessions;
	my $sort = 'SELECT mgpu_sort(ARRAY[3, 1, 2])';

	ok(service_is_idle($node), 'nothing is left of earlier runs');
	kill 'STOP', $pid;
	$_->send_query($sort) foreach $first, $second;
	# they look around now and then
	my $waiting = q{SELECT string_agg(concat_ws(' ', state, wait_event_type, wait_event), ', ') FROM pg_stat_activity WHERE pid IN }
	  . "($first->{pid}, $second->{pid})";
	my $both = qr/^active Extension (Extension|MgpuRun), active Extension (Extension|MgpuRun)$/;
	my $seen = '';
	for (my $try = 0; $try < 50 && $seen !~ $both; $try++)
	{
		sleep 0.05;
		$seen = $admin->query($waiting);
	}
	like($seen, $both, 'stopped: sessions wait');
	my $started = time();
	$admin->query("SELECT pg_cancel_backend($first->{pid}), pg_terminate_backend($second->{pid})");
	$first->answer;
	is($first->{state}, '57014', 'stopped: one can be cancelled');
	$second->answer;
	ok($second->{ended}, 'stopped: one can be terminated');
	cmp_ok(time() - $started, '<=', $LIMIT + 0.3, sprintf('stopped: both ended after %.0f ms', 1000 * (time() - $started)));
	$second->close;
	kill 'CONT', $pid;
	ok(service_is_idle($node), 'goes on: nothing stays behind');
	($sessions[1]) = $storm->sessions(1);
	$storm->check_on_gpu('goes on', @sessions);
}

# ------------------------------------------------------------------- the process is ended

{
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $restarts = $admin->query('SELECT max(restarts) FROM mgpu_stat_service');
	my ($next, $turns) = (time() + 0.3, 0);
	my $seen = $storm->run(\@sessions, sub {
		return 1 if time() < $next;
		return 0 if $turns++;
		# what pg_terminate_backend sends, which takes only processes that have a database
		kill 'TERM', $pid;
		$node->poll_query_until('postgres', "SELECT max(restarts) > $restarts FROM mgpu_stat_service");
		ok(defined await_service($node), 'terminated: the service is back within 5 s');
		$next = time() + 0.3;
		return 1;
	}, warn => 1);

	$storm->check('terminated', $seen);
	$storm->check_on_gpu('terminated', @sessions);
}

# As when any process with shared memory is killed, the server starts anew: all sessions end, and numbers start at 0.
{
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $log = -s $node->logfile;

	$storm->start_call($_) foreach @sessions;
	kill 'KILL', $pid;
	$_->answer(30) foreach @sessions;
	$_->close foreach @sessions, $admin;
	ok(await_sessions($node), 'killed: sessions can connect again');
	ok(defined await_service($node), 'killed: the service is back within 5 s');
	like(slurp_file($node->logfile, $log), qr/"mgpu_pg service" \(PID $pid\) was terminated by signal 9/, 'killed: the log tells');
	@sessions = $storm->sessions(4);
	$storm->check_on_gpu('killed', @sessions);
	is($sessions[0]->query('SELECT max(restarts) FROM mgpu_stat_service'), '0', 'killed: numbers start anew');
	my $until = time() + 0.5;
	$storm->check('killed', $storm->run(\@sessions, sub { return time() < $until }));
	$_->close foreach @sessions;
}

# --------------------------------------------------------------------- memory is scarce

# As little shared memory as can be: runs wait for each other, and all end.
{
	my $least = $node->safe_psql('postgres', q{SELECT min_val || 'MB' FROM pg_settings WHERE name = 'mgpu.service_memory'});
	my $queued = 0;

	$node->append_conf('postgresql.conf', "mgpu.service_memory = $least");
	$node->restart;
	ok(defined await_service($node), "mgpu.service_memory = $least: the service is up");
	$admin = MgpuTest->session($node);
	@sessions = map { MgpuTest->session($node, options => '-c mgpu.executor=gpu -c mgpu.gpu_failure=error') } 1 .. 32;
	@{ $storm->{calls} } = grep { $_->[0] =~ /of 30000$|of 500000$/ } @{ $storm->{calls} };
	my $until = time() + sized(4, 60);
	my $seen = $storm->run(\@sessions, sub {
		my $now = $admin->query('SELECT max(queued) FROM mgpu_stat_service');

		$queued = $now if $now > $queued;
		return time() < $until;
	});

	$storm->check("mgpu.service_memory = $least", $seen);
	note("at most $queued runs waited");
	$storm->check_on_gpu("mgpu.service_memory = $least", @sessions);
	$_->close foreach @sessions, $admin;
}

$node->stop;
done_testing();
