#!/usr/bin/env perl
# Runs the oracle of segments, merges and bulk changes (test/oracle_families.sql)
# against the server that PGHOST and its like name: random trials until the time
# or the count is up.
#
#	test/oracle_families.pl [--seconds N] [--trials N] [--seed N] [--most N] [--gpu]
#
# Options and output are those of test/oracle.pl.
use strict;
use warnings;
use File::Basename;
use Getopt::Long;
use IO::Handle;
use IPC::Open2;

my %option = (seconds => 60, trials => 0, seed => time() % 1_000_000, most => 200_000, gpu => undef);
GetOptions(\%option, 'seconds=i', 'trials=i', 'seed=i', 'most=i', 'gpu!') or exit 2;

my $dir = dirname(__FILE__);
system('psql', '-Xq', '-f', "$dir/oracle.sql", '-f', "$dir/oracle_families.sql") == 0 or die "oracle_families.sql failed\n";
if (!defined $option{gpu})
{
	my $answer = `psql -XAtqc "set mgpu.executor = gpu; select mgpu_sort(array[2, 1])" 2>/dev/null`;
	$option{gpu} = $? == 0 && $answer =~ /\{1,2\}/;
}
$| = 1;
$SIG{PIPE} = 'IGNORE';
printf "seeds from %d, longest array %d, %s\n", $option{seed}, $option{most}, $option{gpu} ? 'CPU and GPU' : 'CPU';

my $pid = open2(my $from, my $to, 'psql', '-XAtq');
my ($passed, $failed) = (0, 0);
my $started = time();

# What the trial was and what is wrong, '' when nothing is.
sub try
{
	my ($seed) = @_;
	my ($description, $wrong) = ('?', 'no answer');

	print $to "select 'ANSWER', description, wrong from oracle.try_families($seed, $option{most}, "
	  . ($option{gpu} ? 'true' : 'false') . ");\n\\echo END :ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n";
	$to->flush();
	while (my $line = <$from>)
	{
		chomp $line;
		return ($description, $wrong) if $line =~ /^END false/;
		return ($description, "error $1") if $line =~ /^END true (.*)/;
		($description, $wrong) = ($1, $2) if $line =~ /^ANSWER\|(.*)\|([^|]*)$/;
	}
	return undef;
}

while (($option{seconds} == 0 || time() - $started < $option{seconds})
	&& ($option{trials} == 0 || $passed + $failed < $option{trials}) && $failed < 20)
{
	my $seed = $option{seed} + $passed + $failed;
	my ($description, $wrong) = try($seed);

	if (defined $wrong && $wrong eq '')
	{
		$passed++;
		next;
	}
	$failed++;
	print "FAILED seed $seed: ", defined $wrong ? "$description: $wrong\n" : "the session ended: did the server crash?\n";
	last unless defined $wrong;
}
close $to;
waitpid($pid, 0);
system('psql', '-Xqc', 'set client_min_messages = warning; drop schema oracle cascade');
printf "%d passed, %d failed\n", $passed, $failed;
exit($failed ? 1 : 0);
