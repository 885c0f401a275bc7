#!/usr/bin/env perl
# Prints how many lines of src the tests ran, from what gcov counted, and fails
# where these are fewer than a floor.
#
#	test/coverage.pl DIRECTORY…		each has objects with their .gcno and .gcda files
#
# A source may be in several objects: in builds with large and with small thresholds,
# and a header in many.  A line counts as run if it ran in any of them.  Lines of
# files that are in no object, and macros that are never used, do not count.  Processes
# that are killed leave no counts.
#
# gcov's own JSON is read here, as gcovr would: that is one more package for fifty
# lines, and it knows no floors for parts of a tree.
#
# The last line is "N passed, N failed".
use strict;
use warnings;
use File::Find;
use JSON::PP;

# Percent of lines, a little less than was measured.
my %floor = ('src/core' => 98, 'the rest of src' => 97);
my $LEAST = 10;

my @objects;
find({ no_chdir => 1, wanted => sub { push @objects, $_ if /\.gcno$/ } }, @ARGV);
die "no objects with counts in @ARGV\n" unless @objects;

# file => line => how often it ran
my %ran;
while (my @some = splice @objects, 0, 50)
{
	open my $in, '-|', 'gcov', '--json-format', '--stdout', @some or die "gcov: $!\n";
	foreach my $file (map { @{ decode_json($_)->{files} } } grep { /^\{/ } <$in>)
	{
		next unless $file->{file} =~ m{^src/} && -f $file->{file};
		$ran{ $file->{file} }{ $_->{line_number} } += $_->{count} foreach @{ $file->{lines} };
	}
	close $in or die "gcov ended with status $?\n";
}

# Lines that ran, all lines, and percent of several files
sub covered
{
	my @counts = map { values %{ $ran{$_} } } @_;
	my $covered = grep { $_ } @counts;

	return ($covered, scalar @counts, @counts ? 100 * $covered / @counts : 0);
}

my ($passed, $failed) = (0, 0);
my %files;
push @{ $files{ m{^src/core/} ? 'src/core' : 'the rest of src' } }, $_ foreach keys %ran;
foreach my $part (sort keys %floor)
{
	my ($covered, $lines, $percent) = covered(@{ $files{$part} // [] });
	my $enough = $percent >= $floor{$part};

	$enough ? $passed++ : $failed++;
	printf "%s - %s: %d of %d lines ran, %.1f %%; the floor is %d %%\n", $enough ? 'ok' : 'not ok', $part, $covered, $lines, $percent, $floor{$part};
}

my %percent = map { ($_ => (covered($_))[2]) } keys %ran;
my @least = (sort { $percent{$a} <=> $percent{$b} || $a cmp $b } keys %ran)[ 0 .. $LEAST - 1 ];
print "Files of which least ran:\n";
printf "%5.1f %% of %4d  %s\n", $percent{$_}, (covered($_))[1], $_ foreach grep { defined } @least;
print "$passed passed, $failed failed\n";
exit($failed > 0);
