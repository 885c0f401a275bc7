# Sixty-four clients at a time at the service, some of which are cancelled or end: no answer is wrong, each client has some, and
# nothing stays behind.  MGPU_CLIENTS_SECONDS: how long.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuStorm;
use MgpuTest;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{MGPU_CLIENTS_SECONDS} // sized(tiered(3, 5), 30);
my $storm = MgpuStorm->new('service_clients');
my $admin = MgpuTest->session($storm->{node});
my @sessions = $storm->sessions(64);
my $service = $admin->query('SELECT DISTINCT pid, restarts FROM mgpu_stat_service');
my $interrupt = MgpuStorm::interrupter($admin, 1, cancel => 8_000_000, terminate => 1_000_000);
my $until = time() + $seconds;

my $seen = $storm->run(\@sessions, sub { return $interrupt->() && time() < $until }, end => 1);
my @answers = sort { $a <=> $b } map { $_->{answers} } @sessions;

$storm->check('clients', $seen);
cmp_ok($answers[0], '>', 0, "$seconds s: $answers[0] to $answers[-1] answers of each client; " . ($seen->{57014} // 0) . " calls were cancelled, $seen->{ended} sessions ended");
$storm->check_on_gpu('clients', @sessions);
is($sessions[1]->query('SELECT sum(v) > 0 FROM items') . ' ' . $sessions[1]->query('SELECT executor FROM mgpu_last_run()'), 't gpu',
	'a third of them have tables read by the GPU');
is($admin->query('SELECT DISTINCT pid, restarts FROM mgpu_stat_service'), $service, 'the service goes on as the same process');
$_->close foreach @sessions, $admin;
$storm->{node}->stop;
done_testing();
