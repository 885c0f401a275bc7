#!/usr/bin/env perl
# Runs the oracle (test/oracle.sql) against the server that PGHOST and its like
# name: random trials until the time or the count is up.
#
#	test/oracle.pl [--seconds N] [--trials N] [--seed N] [--most N] [--gpu]
#
#	--seconds	stop starting trials after this long (60); 0: no limit
#	--trials	stop after this many (0: no limit)
#	--seed		first seed, and with --trials 1 the one to repeat (default: from the clock)
#	--most		longest array (200000)
#	--gpu		let trials ask for the GPU; found out by itself when not given
#
# Prints the seed of every failed trial.  The last line is "N passed, N failed".
use strict;
use warnings;
use File::Basename;
use Getopt::Long;
use IO::Handle;
use IPC::Open2;
use POSIX ':sys_wait_h';

my %option = (seconds => 60, trials => 0, seed => time() % 1_000_000, most => 200_000, gpu => undef);
GetOptions(\%option, 'seconds=i', 'trials=i', 'seed=i', 'most=i', 'gpu!') or exit 2;

my $dir = dirname(__FILE__);
system('psql', '-Xq', '-f', "$dir/oracle.sql") == 0 or die "oracle.sql failed\n";
if (!defined $option{gpu})
{
	my $answer = `psql -XAtqc "set mgpu.executor = gpu; select mgpu_sort(array[2, 1])" 2>/dev/null`;
	$option{gpu} = $? == 0 && $answer =~ /\{1,2\}/;
}
printf "seeds from %d, longest array %d, %s\n", $option{seed}, $option{most},
  $option{gpu} ? 'CPU and GPU' : 'CPU';

my ($passed, $failed) = (0, 0);
my $started = time();
my $seed = $option{seed};
$| = 1;
$SIG{PIPE} = 'IGNORE';
my ($to, $from, $pid);

sub start_psql
{
	$pid = open2($from, $to, 'psql', '-XAtq');
}

# One trial: (what it was, what is wrong), the latter '' when nothing is.
sub try
{
	my ($n) = @_;
	my ($description, $wrong) = ('?', 'no answer');

	print $to "select 'ANSWER', description, wrong from oracle.try($n, $option{most}, "
	  . ($option{gpu} ? 'true' : 'false') . ");\n\\echo END :ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n";
	$to->flush();
	while (my $line = <$from>)
	{
		chomp $line;
		return ($description, $wrong) if $line =~ /^END false/;
		return ($description, "error $1") if $line =~ /^END true (.*)/;
		($description, $wrong) = ($1, $2) if $line =~ /^ANSWER\|(.*)\|([^|]*)$/;
	}
	return ($description, 'the session ended: did the server crash?');
}

start_psql();
while (($option{seconds} == 0 || time() - $started < $option{seconds})
	&& ($option{trials} == 0 || $passed + $failed < $option{trials}))
{
	my ($description, $wrong) = try($seed);
	if ($wrong eq '')
	{
		$passed++;
	}
	else
	{
		$failed++;
		print "FAILED seed $seed: $description: $wrong\n";
		last if $failed >= 20;
		if (waitpid($pid, WNOHANG) == $pid)
		{
			sleep 5;
			start_psql();
		}
	}
	$seed++;
}
close $to;
waitpid($pid, 0);
system('psql', '-Xqc', 'set client_min_messages = warning; drop schema oracle cascade');
printf "%d passed, %d failed\n", $passed, $failed;
exit($failed ? 1 : 0);
