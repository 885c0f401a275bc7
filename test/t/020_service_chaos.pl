# The service under many sessions that are cancelled, terminated and run into faults,
# and that lose the service's process: no answer is wrong, and nothing stays behind.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use IO::Select;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_service_node('service_chaos', conf => [ 'max_worker_processes = 16', 'max_parallel_workers = 8', 'max_connections = 80',
	'shared_buffers = ' . sized('16MB', '256MB'), 'mgpu.enable_group = off', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0' ]);
my @calls = make_calls($node, sized(100, 1_000), sized(3_000, 100_000), sized(30_000, 500_000));
my $on_gpu = '-c mgpu.executor=gpu -c mgpu.gpu_failure=silent';
my $tables_too = "$on_gpu -c max_parallel_workers_per_gather=0 -c mgpu.enable_group=force -c mgpu.enable_top=force -c mgpu.enable_sort=force";
my $by_choice = '-c mgpu.executor=auto -c mgpu.gpu_min_items=0 -c mgpu.gpu_failure=warn';
my $seed = srand();

note("random numbers of this run: $seed");

# ---------------------------------------------------------------------- many sessions

sub start_call
{
	my ($session) = @_;

	$session->{call} = $calls[ rand @calls ];
	$session->send_query($session->{call}[1]);
	return;
}

# Look at what a session has said.  A warning is not wrong where GPUs fail, and an error where sessions are interrupted.
sub take_answer
{
	my ($session, $seen, $may_warn, $may_end) = @_;
	my $got = $session->answer(0.01);
	my ($name, undef, $right) = @{ $session->{call} };

	if (!defined $got)
	{
		return 0 unless $session->{ended};
		$seen->{ended}++;
		$seen->{wrong}{"$name: the session ended: $session->{seen}"}++ unless $may_end;
		return 1;
	}
	$got =~ s/^WARNING:  58000: .*\n(?:(?:DETAIL|HINT|LOCATION):  .*\n)*//mg if $may_warn;
	if ($session->{state} eq '')
	{
		$seen->{answers}++;
		$session->{answers}++;
	}
	else { $seen->{ $session->{state} }++; }
	# the end may come behind the answer, and psql may print either first
	if ($may_end && $got =~ /^[0-9a-f]{32}$/m)
	{
		$got =~ s/^FATAL:  57P01: .*(?:\n(?:DETAIL|HINT|LOCATION):  .*)*\n?//mg;
		chomp $got;
	}
	# of a parallel worker that ended, its leader says so; psql may find the lost connection behind the reason
	my $is_right = $session->{state} eq '' ? $got eq $right
	  : $may_end && ($session->{state} =~ /^(57014|57P01|55000)$/ || $got =~ /^FATAL:  57P01/);
	$seen->{wrong}{"$name: $session->{state} $got"}++ unless $is_right;
	return 1;
}

# Sessions call at random as long as $turn, which is called all the time, returns true.  Those that
# end are replaced.  Returns what was seen: numbers of answers and of errors by SQLSTATE, what was wrong.
sub storm
{
	my ($sessions, $turn, %may) = @_;
	my %seen = (answers => 0, ended => 0, wrong => {});
	my $goes_on = 1;
	my %busy;

	foreach my $session (@$sessions)
	{
		start_call($session);
		$busy{$session} = $session;
	}
	while (%busy)
	{
		my $ready = IO::Select->new(map { $_->{from} } values %busy);
		my %has_news = map { $_ => 1 } $ready->can_read(0.005);

		foreach my $session (values %busy)
		{
			next unless $has_news{ $session->{from} } && take_answer($session, \%seen, $may{warn}, $may{end});
			delete $busy{$session};
			if ($session->{ended})
			{
				my ($place) = grep { $sessions->[$_] == $session } 0 .. $#$sessions;

				$session->close;
				$session = $sessions->[$place] = make_session($session->{options}, $session->{answers});
			}
			next unless $goes_on;
			start_call($session);
			$busy{$session} = $session;
		}
		$goes_on = $goes_on && $turn->();
	}
	return \%seen;
}

sub make_session
{
	my ($options, $answers) = @_;
	my $session = MgpuTest->session($node, options => $options);

	$session->{options} = $options;
	$session->{answers} = $answers // 0;
	return $session;
}

sub make_sessions
{
	my ($number) = @_;

	return map { make_session(($by_choice, $on_gpu, $tables_too)[ $_ % 3 ]) } 1 .. $number;
}

# Cancels one call or ends one session now and then; returns whether some of so many are left.
sub interrupter
{
	my ($admin, $seconds, %left) = @_;
	my $next = time();

	return sub {
		return 0 unless $left{cancel} + $left{terminate} > 0;
		return 1 if time() < $next;
		my $how = rand($left{cancel} + $left{terminate}) < $left{cancel} ? 'cancel' : 'terminate';
		# in a phase at the service, or wherever else it may be
		my $who = rand() < 0.5 ? 'SELECT pid FROM mgpu_stat_activity'
		  : q{SELECT pid FROM pg_stat_activity WHERE query LIKE '%md5%' AND state = 'active' AND pid <> pg_backend_pid()};
		$left{$how}-- if ($admin->query("SELECT pg_${how}_backend(pid) FROM ($who) w ORDER BY random() LIMIT 1") // '') eq 't';
		$next = time() + rand($seconds);
		return 1;
	};
}

sub check_seen
{
	my ($name, $seen) = @_;

	is(join("\n", sort keys %{ $seen->{wrong} }), '', "$name: $seen->{answers} right answers, none that is wrong");
	ok(service_is_idle($node), "$name: nothing stays behind in the service");
	return;
}

# All sessions have their next calls on the GPU.
sub check_on_gpu
{
	my ($name, @sessions) = @_;

	is(join(' ', map { $_->query('SELECT mgpu_sort(ARRAY[3, 1, 2])') . $_->query('SELECT executor FROM mgpu_last_run()') } @sessions),
		join(' ', ('{1,2,3}gpu') x @sessions), "$name: all sessions use the GPU");
	return;
}

# What the log has got since, but for what is expected.
sub unexpected_log
{
	my ($offset, $expected) = @_;

	return join "\n", grep { !/$expected|^\s|(DETAIL|HINT|CONTEXT|STATEMENT):  / } split /\n/, slurp_file($node->logfile, $offset);
}

# ------------------------------------------------------- cancelled and terminated at random

my @sessions = make_sessions(12);
my $admin = MgpuTest->session($node);

{
	my ($cancels, $terminations) = (sized(60, 1_000), sized(20, 200));
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $log = -s $node->logfile;
	my $seen;

	$admin->query('SELECT mgpu_stat_reset()');
	$seen = storm(\@sessions, interrupter($admin, 0.03, cancel => $cancels, terminate => $terminations), end => 1);

	check_seen('interrupted', $seen);
	cmp_ok($seen->{57014} // 0, '>=', $cancels / 4, ($seen->{57014} // 0) . " of $cancels cancels came while a call ran");
	cmp_ok($seen->{ended}, '>=', $terminations / 4, "$seen->{ended} sessions ended by $terminations terminations");
	check_on_gpu('interrupted', @sessions);
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

	my $seen = storm(\@sessions, sub {
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

	check_seen('failures', $seen);
	check_on_gpu('failures', @sessions, $fault);
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
	($sessions[1]) = make_sessions(1);
	check_on_gpu('goes on', @sessions);
}

# ------------------------------------------------------------------- the process is ended

{
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $restarts = $admin->query('SELECT max(restarts) FROM mgpu_stat_service');
	my ($next, $turns) = (time() + 0.3, 0);
	my $seen = storm(\@sessions, sub {
		return 1 if time() < $next;
		return 0 if $turns++;
		# what pg_terminate_backend sends, which takes only processes that have a database
		kill 'TERM', $pid;
		$node->poll_query_until('postgres', "SELECT max(restarts) > $restarts FROM mgpu_stat_service");
		ok(defined await_service($node), 'terminated: the service is back within 5 s');
		$next = time() + 0.3;
		return 1;
	}, warn => 1);

	check_seen('terminated', $seen);
	check_on_gpu('terminated', @sessions);
}

# As when any process with shared memory is killed, the server starts anew: all sessions end, and numbers start at 0.
{
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $log = -s $node->logfile;

	start_call($_) foreach @sessions;
	kill 'KILL', $pid;
	$_->answer(30) foreach @sessions;
	$_->close foreach @sessions, $admin;
	ok($node->poll_query_until('postgres', 'SELECT true'), 'killed: sessions can connect again');
	ok(defined await_service($node), 'killed: the service is back within 5 s');
	like(slurp_file($node->logfile, $log), qr/"mgpu_pg service" \(PID $pid\) was terminated by signal 9/, 'killed: the log tells');
	@sessions = make_sessions(4);
	check_on_gpu('killed', @sessions);
	is($sessions[0]->query('SELECT max(restarts) FROM mgpu_stat_service'), '0', 'killed: numbers start anew');
	my $until = time() + 0.5;
	check_seen('killed', storm(\@sessions, sub { return time() < $until }));
	$_->close foreach @sessions;
}

# ------------------------------------------------------------------------- many clients

# MGPU_CLIENTS_SECONDS: how long.
{
	my $seconds = $ENV{MGPU_CLIENTS_SECONDS} // sized(5, 30);

	$admin = MgpuTest->session($node);
	@sessions = make_sessions(64);
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');
	my $interrupt = interrupter($admin, 2, cancel => 1_000_000, terminate => 100_000);
	my $until = time() + $seconds;
	my $seen = storm(\@sessions, sub { return $interrupt->() && time() < $until }, end => 1);
	my @answers = sort { $a <=> $b } map { $_->{answers} } @sessions;

	check_seen('64 clients', $seen);
	is($sessions[1]->query('SELECT sum(v) > 0 FROM items') . ' ' . $sessions[1]->query('SELECT executor FROM mgpu_last_run()'), 't gpu',
		'64 clients: a third of them have tables read by the GPU');
	cmp_ok($answers[0], '>', 0, "64 clients, $seconds s: $answers[0] to $answers[-1] answers of each; " . ($seen->{57014} // 0) . " were cancelled, $seen->{ended} ended");
	is($admin->query('SELECT DISTINCT pid FROM mgpu_stat_service'), $pid, '64 clients: the service goes on as the same process');
	$_->close foreach @sessions, $admin;
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
	@calls = grep { $_->[0] =~ /of 30000$|of 500000$/ } @calls;
	my $until = time() + sized(4, 60);
	my $seen = storm(\@sessions, sub {
		my $now = $admin->query('SELECT max(queued) FROM mgpu_stat_service');

		$queued = $now if $now > $queued;
		return time() < $until;
	});

	check_seen("mgpu.service_memory = $least", $seen);
	note("at most $queued runs waited");
	check_on_gpu("mgpu.service_memory = $least", @sessions);
	$_->close foreach @sessions, $admin;
}

$node->stop;
done_testing();
