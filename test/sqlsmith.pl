#!/usr/bin/env perl
# Runs sqlsmith, which makes random statements of all that is in a database, against the server that PGHOST and its like name,
# with the plan nodes forced, and fails where the server crashes or the extension causes an internal error.
#
#	test/sqlsmith.pl LOG [--seconds N] [--seed N] [--queries N]
#
#	LOG			the server's log, verbose, whose lines begin with %e and %p; it has the statements of errors, and plans of some
#	--seconds	stop starting rounds after this long (60)
#	--seed		of the first round (default: from the clock); each round has a seed of its own
#	--queries	statements a round (500)
#
# Answers are not compared: the oracles do that, with queries that have one answer.  A statement with an internal error (XX…) of one of
# PostgreSQL's files runs again without the nodes, since PostgreSQL has such errors of its own.
#
# Prints the seed of each round that failed.  The last line is "N passed, N failed".
use strict;
use warnings;
use File::Basename;
use Getopt::Long;
use IPC::Open2;

my %option = (seconds => 60, seed => time() % 1_000_000, queries => 500);
GetOptions(\%option, 'seconds=i', 'seed=i', 'queries=i') && @ARGV == 1 or die "usage: test/sqlsmith.pl LOG [OPTION…]\n";
my $log = shift @ARGV;
my $dir = dirname(__FILE__);

my @nodes = qw(group top sort);
my $force = join ' ', map {"-c mgpu.enable_$_=force"} @nodes;
my $off = join ' ', map {"-c mgpu.enable_$_=off"} @nodes;

# Rounds take turns: plans of one process, of parallel workers, with little memory, and what goes to GPUs where there are any.
my @ways = ('-c max_parallel_workers_per_gather=0',
	'-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0 -c min_parallel_index_scan_size=0 -c mgpu.enable_threads=off',
	'-c max_parallel_workers_per_gather=0 -c work_mem=64kB -c enable_hashagg=off -c enable_nestloop=off',
	'-c max_parallel_workers_per_gather=0 -c enable_nestloop=off -c mgpu.executor=gpu');
pop @ways unless `psql -XAtqc "SET mgpu.executor = gpu; SELECT mgpu_sort(ARRAY[2, 1])" 2>&1` =~ /\{1,2\}/;

system('psql', '-Xq', '-f', "$dir/oracle.sql", '-f', "$dir/sqlsmith.sql") == 0 or die "sqlsmith.sql failed\n";
my %ours = map { (basename($_) => 1) } glob "$dir/../src/*.c $dir/../src/*/*.c";
open my $in, '<', $log or die "$log: $!\n";
seek $in, 0, 2;

# What the server logged since the last time.  An entry has its SQLSTATE and text, and what comes with it: DETAIL, LOCATION, STATEMENT, …
sub news
{
	my (@entries, %last, $text);

	while (my $line = <$in>)
	{
		my ($state, $pid, $kind, $rest) = $line =~ /^(\w{5}) (\d+) ([A-Z]+):  (.*)/s;
		if (!defined $kind)
		{
			# more of the same, or what is none of the server's, such as a failed assertion
			$text = \($entries[@entries] = { state => '', kind => '', text => '' })->{text} if !defined $text || $line =~ /^TRAP: /;
			$$text .= $line;
		}
		elsif ($kind =~ /^(DETAIL|HINT|QUERY|CONTEXT|LOCATION|STATEMENT)$/ && $last{$pid})
		{
			$text = \$last{$pid}{$kind};
			$$text = $rest;
		}
		else
		{
			push @entries, $last{$pid} = { state => $state, kind => $kind, text => $rest };
			$text = \$entries[-1]{text};
		}
	}
	seek $in, 0, 1;
	return @entries;
}

# The SQLSTATE that a statement ends with when it runs alone
sub state_of
{
	my ($statement, $options) = @_;

	local $ENV{PGOPTIONS} = "$options -c statement_timeout=60s";
	my $pid = open2(my $from, my $to, 'psql -XAtq -U smith -v VERBOSITY=sqlstate 2>&1');
	print $to "begin;\n$statement\n;\nrollback;\n";
	close $to;
	my @said = grep { s/^.*ERROR:  (\w{5})$/$1/s } map { chomp; $_ } <$from>;
	waitpid $pid, 0;
	return $said[0] // 'none';
}

# What is wrong with a round, from the log.  An error of another plan may be another one, or none where a LIMIT ends the plan
# before it, so internal errors that one of PostgreSQL's files raises are wrong where PostgreSQL alone has an answer.  A sample of a
# table has other rows each time, which may raise none.
sub find_wrong
{
	my ($way, @entries) = @_;
	my @wrong;

	foreach my $entry (@entries)
	{
		my $where = ($entry->{LOCATION} // 'unknown') =~ s/\s+\z//r;

		push @wrong, $entry->{text} . ($entry->{DETAIL} // '') if $entry->{kind} eq 'PANIC' || $entry->{text} =~ /^TRAP: |terminated by signal/;
		next if $entry->{state} !~ /^XX/ || $entry->{kind} ne 'ERROR' || !defined $entry->{STATEMENT};
		my $is_ours = $where =~ /, (\w+\.c):/ && $ours{$1};
		next if !$is_ours && $entry->{STATEMENT} =~ /\btablesample\b/;
		my $alone = $is_ours ? 'was not asked' : state_of($entry->{STATEMENT}, "$way $off");
		push @wrong, "$entry->{text}from $where; PostgreSQL alone: $alone\n$entry->{STATEMENT}" if $is_ours || $alone eq 'none';
	}
	return @wrong;
}

my ($passed, $failed, $errors, $nodes) = (0, 0, 0, 0);
my $started = time();
for (my $seed = $option{seed}; time() - $started < $option{seconds}; $seed++)
{
	my $way = $ways[ $seed % @ways ];
	my $left = $option{seconds} - (time() - $started);

	$ENV{PGOPTIONS} = "$force $way";
	my $said = `timeout --kill-after=10 $left sqlsmith --target="user=smith" --seed=$seed --max-queries=$option{queries} --exclude-catalog 2>&1`;
	my $status = $? >> 8;
	delete $ENV{PGOPTIONS};
	my @entries = news();
	my @wrong = find_wrong($way, @entries);

	# it ends with 1 after the last statement
	push @wrong, "sqlsmith ended with status $status: " . substr($said, -500) if $status > 1 && $status != 124;
	@wrong ? $failed++ : $passed++;
	$errors += grep { $_->{kind} eq 'ERROR' } @entries;
	$nodes += grep { $_->{kind} eq 'LOG' && $_->{text} =~ /\(Mgpu/ } @entries;
	print @wrong ? "not ok - seed $seed, $way\n" : "ok - seed $seed\n", map {"$_\n"} @wrong;
	last if $failed >= 10;
}
print "$errors statements ended with an error; $nodes of the plans that were logged had nodes of the extension\n";
$failed++ unless $nodes;
print "$passed passed, $failed failed\n";
exit($failed > 0);
