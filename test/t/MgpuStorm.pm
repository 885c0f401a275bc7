# Many sessions that call the service at random: my $storm = MgpuStorm->new('name'); my @sessions = $storm->sessions(12);
# my $seen = $storm->run(\@sessions, sub { return time() < $until }); $storm->check('name', $seen).
package MgpuStorm;

use strict;
use warnings;
use IO::Select;
use MgpuTest;
use Test::More;
use Time::HiRes qw(time);

my $on_gpu = '-c mgpu.executor=gpu -c mgpu.gpu_failure=silent';
my @kinds_of_sessions = ($on_gpu,
	"$on_gpu -c max_parallel_workers_per_gather=0 -c mgpu.enable_group=force -c mgpu.enable_top=force -c mgpu.enable_sort=force",
	'-c mgpu.executor=auto -c mgpu.gpu_min_items=0 -c mgpu.gpu_failure=warn');

# With a node of its own, and calls of three sizes.
sub new
{
	my ($class, $name) = @_;
	my $node = new_service_node($name, conf => [ 'max_worker_processes = 16', 'max_parallel_workers = 8', 'max_connections = 80',
		'shared_buffers = ' . sized('16MB', '256MB'), 'mgpu.enable_group = off', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
		'min_parallel_table_scan_size = 0' ]);

	note('random numbers of this run: ' . srand());
	return bless { node => $node, calls => [ make_calls($node, sized(100, 1_000), sized(3_000, 100_000), sized(30_000, 500_000)) ] }, $class;
}

sub start_call
{
	my ($self, $session) = @_;

	$session->{call} = $self->{calls}[ rand @{ $self->{calls} } ];
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
sub run
{
	my ($self, $sessions, $turn, %may) = @_;
	my %seen = (answers => 0, ended => 0, wrong => {});
	my $goes_on = 1;
	my %busy;

	foreach my $session (@$sessions)
	{
		$self->start_call($session);
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
				$session = $sessions->[$place] = $self->session($session->{options}, $session->{answers});
			}
			next unless $goes_on;
			$self->start_call($session);
			$busy{$session} = $session;
		}
		$goes_on = $goes_on && $turn->();
	}
	return \%seen;
}

sub session
{
	my ($self, $options, $answers) = @_;
	my $session = MgpuTest->session($self->{node}, options => $options);

	$session->{options} = $options;
	$session->{answers} = $answers // 0;
	return $session;
}

# A third has tables read by GPUs too, and a third uses GPUs by choice.
sub sessions
{
	my ($self, $number) = @_;

	return map { $self->session($kinds_of_sessions[ ($_ - 1) % 3 ]) } 1 .. $number;
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

sub check
{
	my ($self, $name, $seen) = @_;

	is(join("\n", sort keys %{ $seen->{wrong} }), '', "$name: $seen->{answers} right answers, none that is wrong");
	ok(service_is_idle($self->{node}), "$name: nothing stays behind in the service");
	return;
}

# All sessions have their next calls on the GPU.
sub check_on_gpu
{
	my ($self, $name, @sessions) = @_;

	is(join(' ', map { $_->query('SELECT mgpu_sort(ARRAY[3, 1, 2])') . $_->query('SELECT executor FROM mgpu_last_run()') } @sessions),
		join(' ', ('{1,2,3}gpu') x @sessions), "$name: all sessions use the GPU");
	return;
}

1;
