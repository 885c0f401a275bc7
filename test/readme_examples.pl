#!/usr/bin/env perl
# Runs the SQL of README.md against the server that PGHOST and its like name, and
# compares what it gives with what README.md says that it gives.
#
#	test/readme_examples.pl [FILE]
#
# An example's result stands behind the statement ("SELECT …;  -- {1,2,3}") or on the
# lines below it, as psql prints a table, each behind "-- ".  Statements without a
# result must succeed.  Every block is run in a transaction of its own, which is
# rolled back.  What the extension installs is in README.md too: functions and
# aggregates by a heading or a line that has their name, settings with their
# defaults.  The last line is "N passed, N failed".
use strict;
use warnings;
use File::Basename;

my $file = $ARGV[0] // dirname(__FILE__) . '/../README.md';
open my $in, '<', $file or die "$file: $!\n";
my @lines = <$in>;
close $in;
chomp @lines;
my $readme = join("\n", @lines);
my ($passed, $failed) = (0, 0);

# What the first example of README.md takes for granted
my %given = ('SELECT mgpu_sort(readings) FROM sensors;' => "CREATE TABLE sensors AS SELECT ARRAY[3, 1, 2] AS readings;\n");

sub check
{
	my ($name, $wrong) = @_;

	$wrong eq '' ? $passed++ : $failed++;
	print $wrong eq '' ? "ok - $name\n" : "not ok - $name\n$wrong";
}

# The blocks: [ line of the fence, lines ]
sub blocks
{
	my (@blocks, $open);

	foreach my $i (0 .. $#lines)
	{
		if (!$open && $lines[$i] =~ /^```sql$/)
		{
			push @blocks, [ $i + 1, [] ];
			$open = 1;
		}
		elsif ($open && $lines[$i] =~ /^```$/) { $open = 0; }
		elsif ($open) { push @{ $blocks[-1]->[1] }, $lines[$i]; }
	}
	return @blocks;
}

# A block's statements: { line, sql, value or table }.  Comments straight below a
# statement are its table; others are there for the reader.
sub statements
{
	my ($line, $text) = @{ $_[0] };
	my (@statements, $sql);
	my $below = 0;

	foreach (@$text)
	{
		$line++;
		if (!defined $sql && /^-- ?(.*)$/)
		{
			push @{ $statements[-1]->{table} }, $1 if $below;
			next;
		}
		$below = 0;
		next if !defined $sql && /^\s*$/;
		$sql = defined $sql ? "$sql\n$_" : $_;
		next unless $sql =~ /^(.*;)(?:\s*--\s*(.*?)\s*)?$/s;
		push @statements, { line => $line, sql => $1, value => $2 };
		$sql = undef;
		$below = !defined $2;
	}
	push @statements, { line => $line, sql => $sql, value => undef, unfinished => 1 } if defined $sql;
	return @statements;
}

# One psql a block: what each statement printed, and whether it failed
sub outputs
{
	my @statements = @_;
	my $script = "\\set VERBOSITY terse\n\\pset footer off\n\\set ON_ERROR_ROLLBACK on\nBEGIN;\n";
	my $script_file = "/tmp/readme_examples.$$.sql";

	foreach my $statement (@statements)
	{
		$script .= $given{ $statement->{sql} } // '';
		$script .= "DROP EXTENSION mgpu_pg CASCADE;\n" if $statement->{sql} =~ /^CREATE EXTENSION/;
		$script .= defined $statement->{value} ? "\\pset format unaligned\n\\pset tuples_only on\n" : "\\pset format aligned\n\\pset tuples_only off\n";
		$script .= "\\echo _begin_\n$statement->{sql}\n\\echo _end_ :ERROR\n";
	}
	open my $out, '>', $script_file or die "$script_file: $!\n";
	print $out "$script ROLLBACK;\n";
	close $out;
	my $said = `psql -Xq -f $script_file 2>&1`;
	unlink $script_file;
	return $said =~ /^_begin_\n(.*?)^_end_ (true|false)\n/msg;
}

sub without_trailing_space
{
	return join("\n", map { s/\s+$//r } @_);
}

foreach my $block (blocks())
{
	my @statements = statements($block);
	my @said = outputs(@statements);

	foreach my $statement (@statements)
	{
		my ($got, $error) = splice @said, 0, 2;
		my $wrong = '';
		my $expected = defined $statement->{value} ? $statement->{value}
		  : $statement->{table} ? without_trailing_space(@{ $statement->{table} }) : undef;

		$got = defined $got ? without_trailing_space(grep { /\S/ } split(/\n/, $got)) : 'no answer: did the session end?';
		if ($statement->{unfinished}) { $wrong = "  the statement does not end\n"; }
		elsif (($error // 'true') ne 'false') { $wrong = "$got\n"; }
		elsif (defined $expected && $got ne $expected) { $wrong = "README.md says\n$expected\nit gives\n$got\n"; }
		check("README.md:$statement->{line}: " . (split /\n/, $statement->{sql})[0], $wrong);
	}
}

# What there is, by name; support functions of aggregates are nobody's to call
my @functions = split /\n/, `psql -XAtqc "SELECT DISTINCT proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
	JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass AND extname = 'mgpu_pg'
	WHERE 'internal'::regtype <> ALL (proargtypes) AND prorettype <> 'internal'::regtype ORDER BY 1"`;
check('the extension has functions', @functions > 0 ? '' : "none found\n");
foreach my $name (@functions)
{
	check("README.md describes $name", $readme =~ /^(?:#+ |\| `)\Q$name\E\(/m ? '' : "  no heading and no line of a table begins with $name(\n");
}
my @settings = split /\n/, `psql -XAtqc "LOAD 'mgpu_pg'; SELECT name || '=' || boot_val FROM pg_settings WHERE name LIKE 'mgpu.%' ORDER BY 1"`;
check('the extension has settings', @settings > 0 ? '' : "none found\n");
foreach (@settings)
{
	my ($name, $default) = split /=/;
	my ($said) = $readme =~ /^\| `\Q$name\E` \| `([^`]*)` \|/m;

	next if $name eq 'mgpu.inject_fault' && $readme =~ /`\Q$name\E`/;
	check("README.md has $name and its default", defined $said && $said eq $default ? '' : '  default ' . $default . ', README.md says ' . ($said // 'nothing') . "\n");
}
print "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
