#!/usr/bin/env perl
# Checks the rules that every source keeps: names, sizes, parameters.
#
#	test/check_rules.pl		prints FILE:LINE of what breaks one; the last line is "N passed, N failed"
#
# A function is what lies between a brace that stands alone in the first column and the next one there, as PostgreSQL's style has
# it: ctags needs a package, and does not see functions that macros make.  A brace elsewhere hides a function, so it is a finding.
use strict;
use warnings;
use File::Basename;

my $most_file = 400;          # lines of a file
my $most_function = 35;       # lines between a function's braces, without blank ones and comments
my $most_parameters = 6;
my @hooks = qw(on_utility);     # PostgreSQL says what their parameters are

chdir dirname(__FILE__) . '/..' or die "$!\n";
my ($passed, $failed) = (0, 0);

sub check
{
	my ($name, @findings) = @_;

	@findings ? $failed++ : $passed++;
	print @findings ? "FAILED  $name\n" : "ok      $name\n";
	print "          $_\n" for @findings;
}

sub files
{
	my ($ending, @folders) = @_;
	my @found = split /\n/, `find @folders -type f | sort`;

	return grep { /\.($ending)$/ } @found;
}

# The lines of a file, in place of comments nothing
sub lines_of
{
	open my $in, '<', $_[0] or die "$_[0]: $!\n";
	my $text = do { local $/; <$in> };
	my $string = qr/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'/s;

	$text =~ s{($string)|/\*.*?\*/|//[^\n]*}{ $1 // $& =~ tr/\n//cdr }gse;
	return split /\n/, $text;
}

# Name and number of parameters, of all that stands before the brace of a function
sub signature
{
	return unless $_[0] =~ /([\w#]+) \s* \( ( (?: [^()] | (\( (?: [^()] | (?3) )* \)) )* ) \) \s* $/x;
	my ($name, $list) = ($1, $2);

	1 while $list =~ s/\([^()]*\)//;
	return ($name, $list =~ /^\s*(void)?\s*$/ ? 0 : 1 + $list =~ tr/,//);
}

my (@long_files, @long_functions, @wide_functions, @hidden);

sub check_file
{
	my ($file) = @_;
	my ($head, $number, $begin, $size, $name, $parameters) = ('', 0);
	my @lines = lines_of($file);

	push @long_files, "$file:" . @lines . ": " . @lines . ' lines' if @lines > $most_file;
	for my $line (map { s/\s*\\?$//r } @lines)
	{
		$number++;
		push @hidden, "$file:$number: a brace at the end of the line" if $line =~ /^\w.*\)\s*\{/;
		if ($begin && $line =~ /^\}/)
		{
			push @long_functions, "$file:$begin: $name has $size lines" if $size > $most_function;
			($begin, $head) = (0, '');
		}
		elsif ($begin)
		{
			$size++ if $line =~ /\S/;
		}
		elsif ($line eq '{' && (($name, $parameters) = signature($head)))
		{
			($begin, $size) = ($number - 1, 0);
			push @wide_functions, "$file:$begin: $name has $parameters parameters" if $parameters > $most_parameters && !grep { $_ eq $name } @hooks;
		}
		else
		{
			$head = $line =~ /^#|^\}|[;}]$/ ? '' : "$head$line\n";
		}
	}
}

check_file($_) for files('[ch]|cpp', qw(src test/played));
check("no file is longer than $most_file lines", @long_files);
check("no function is longer than $most_function lines", @long_functions);
check("no function has more than $most_parameters parameters", @wide_functions);
check('the brace of a function has a line of its own', @hidden);

my %bearers;
for (files('c|cpp|cu', qw(src kernels test/played)))
{
	push @{ $bearers{ basename($_) =~ s/\..*//r } }, $_;
}
check('no two sources have one name', map { "$_->[0]:1: so is named $_->[1]" } grep { @$_ > 1 } map { $bearers{$_} } sort keys %bearers);

print "$passed passed, $failed failed\n";
exit($failed > 0);
