#!/usr/bin/env perl
# Runs an oracle against the server that PGHOST and its like name: random trials
# until the time or the count is up.
#
#	test/oracle.pl [sorts | aggregates | families | queries | joins | logic] [OPTION…]
#
#	sorts		sorts, positions, pairs and rows of one array (oracle.sql)
#	aggregates	random groups under every shape of plan (oracle_agg.sql)
#	families	segments, locality sort, merge, bulk changes (oracle_families.sql)
#	queries		random queries, by the extension's plan nodes (oracle_queries.sql)
#	joins		random joins, which table jobs look up (oracle_joins.sql)
#	logic		pairs of random queries that have one answer (oracle_logic.sql)
#
#	--seconds N	stop starting trials after this long
#	--trials N	stop after this many (60 seconds where neither is given)
#	--seed N	first seed, and with --trials 1 the one to repeat (default: from the clock)
#	--most N	longest array (200000)
#	--share N	fail if fewer than N of 100 queries had a node of the extension, or fewer than a fourth of that read
#			pages as columns; of joins, if fewer had one in a job (33, of joins 20)
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

my %function = (sorts => 'try', aggregates => 'try_agg', families => 'try_families', queries => 'try_query', joins => 'try_joins', logic => 'try_logic');
my %more_sql = (aggregates => ['oracle_agg.sql'], families => ['oracle_families.sql'], queries => ['oracle_queries.sql'], joins => [ 'oracle_queries.sql', 'oracle_joins.sql' ],
	logic => [ 'oracle_queries.sql', 'oracle_joins.sql', 'oracle_logic.sql' ]);
my %option = (seconds => 0, trials => 0, seed => time() % 1_000_000, most => 200_000, share => undef, gpu => undef);
GetOptions(\%option, 'seconds=i', 'trials=i', 'seed=i', 'most=i', 'share=i', 'gpu!') or exit 2;
my $what = shift @ARGV // 'sorts';
die "no oracle of $what\n" unless $function{$what};
$option{share} //= $what eq 'joins' ? 20 : 33;
$option{seconds} = 60 unless $option{seconds} || $option{trials};

my $dir = dirname(__FILE__);
my @scripts = map { ('-f', "$dir/$_") } 'oracle.sql', @{ $more_sql{$what} // [] };
system('psql', '-Xq', @scripts) == 0 or die "@scripts failed\n";
if (!defined $option{gpu})
{
	my $answer = `psql -XAtqc "set mgpu.executor = gpu; select mgpu_sort(array[2, 1])" 2>/dev/null`;
	$option{gpu} = $? == 0 && $answer =~ /\{1,2\}/;
}
printf "%s, seeds from %d, longest array %d, %s\n", $what, $option{seed}, $option{most},
  $option{gpu} ? 'CPU and GPU' : 'CPU';

my ($passed, $failed) = (0, 0);
my ($queries, $nodes, $columns, $joins) = (0, 0, 0, 0);
my $started = time();
my $seed = $option{seed};
$| = 1;
$SIG{PIPE} = 'IGNORE';
my ($to, $from, $pid);

sub start_psql
{
	$pid = open2($from, $to, 'exec psql -XAtq 2>&1');
}

# What comes before a trial of queries.  In a third of the trials no page is all-visible, in a third some are.
sub start_queries
{
	my ($n) = @_;

	print $to "select oracle.start_queries($n, $option{most});\n";
	print $to "vacuum oracle.items;\n" if $n % 3;
	print $to "delete from oracle.items where id % 97 = 0; update oracle.items set id = id where id < 50;\n" if $n % 3 == 1;
}

# What comes before a trial of joins or logic.  In half of the trials pages are all-visible, and tables have as many rows as the planner thinks.
sub start_joins
{
	my ($n) = @_;

	print $to "select oracle.start_joins($n, $option{most});\n";
	print $to "select format('vacuum %s', oid::regclass) from pg_class where relnamespace = 'oracle'::regnamespace and relkind = 'r' and relname ~ '^j\\d' \\gexec\n" if $n % 2;
}

# One trial: (what it was, what is wrong), the latter '' when nothing is.
sub try
{
	my ($n) = @_;
	my ($description, $wrong, $warning) = ('?', 'no answer', '');

	start_queries($n) if $what eq 'queries';
	start_joins($n) if $what =~ /^(joins|logic)$/;
	print $to "select 'ANSWER', description, wrong from oracle.$function{$what}($n, $option{most}, "
	  . ($option{gpu} ? 'true' : 'false') . ");\n\\echo END :ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n";
	$to->flush();
	while (my $line = <$from>)
	{
		chomp $line;
		return ($description, $wrong || $warning) if $line =~ /^END false/;
		return ($description, "error $1") if $line =~ /^END true (.*)/;
		# a plan, which debug_print_plan shows, holds what cannot be read
		$warning = $line if $line =~ /could not dump unrecognized node/;
		($description, $wrong) = ($1, $2) if $line =~ /^ANSWER\|(.*)\|([^|]*)$/;
	}
	return ($description, 'the session ended: did the server crash?');
}

start_psql();
while (($option{seconds} == 0 || time() - $started < $option{seconds})
	&& ($option{trials} == 0 || $passed + $failed < $option{trials}))
{
	my ($description, $wrong) = try($seed);
	if ($description =~ /^node in (\d+), columns in (\d+) of (\d+) queries/)
	{
		$nodes += $1;
		$columns += $2;
		$queries += $3;
	}
	elsif ($description =~ /^joins in (\d+) of (\d+) queries/)
	{
		$joins += $1;
		$queries += $2;
	}
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
if ($what =~ /^(queries|logic)$/)
{
	print "nodes were in the plans of $nodes of $queries queries, and read pages in $columns\n";
	if ($nodes * 100 < $queries * $option{share} || $columns * 400 < $queries * $option{share})
	{
		print "FAILED: these are fewer than $option{share} %\n";
		$failed++;
	}
}
elsif ($what eq 'joins')
{
	print "jobs had joins in $joins of $queries queries\n";
	if ($joins * 100 < $queries * $option{share})
	{
		print "FAILED: these are fewer than $option{share} %\n";
		$failed++;
	}
}
printf "took %d s\n%d passed, %d failed\n", time() - $started, $passed, $failed;
exit($failed ? 1 : 0);
