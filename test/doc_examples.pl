#!/usr/bin/env perl
# Runs the SQL of README.md and docs/*.md against the server that PGHOST and the
# like name, and compares what it gives with what the page says.
#
#	test/doc_examples.pl [--on-coordinator PAGE]
#
# An example's result stands behind the statement ("SELECT …;  -- {1,2,3}") or on
# the lines below it, as psql prints a table, each behind "-- ".  Statements
# without a result must succeed.  Every block runs in a transaction of its own,
# which is rolled back, in a session that preloads the library.
#
# Blocks that begin with "-- on each shard" or "-- on the coordinator" need several
# servers, which test/t/017_scale_out.pl has: it runs the coordinator's here, and
# these are committed.
#
# Further checks: every function and aggregate of the extension has a heading in
# docs/ and below it a signature with its arguments, every setting a line in a
# table with its default, and every link between the pages leads somewhere.  The
# last line is "N passed, N failed".
use strict;
use warnings;
use File::Basename;

chdir dirname(__FILE__) . '/..' or die "$!\n";
my $on_coordinator = @ARGV == 2 && $ARGV[0] eq '--on-coordinator';
my @pages = $on_coordinator ? $ARGV[1] : ('README.md', sort glob 'docs/*.md');
my $end = $on_coordinator ? 'COMMIT' : 'ROLLBACK';
my ($passed, $failed) = (0, 0);

$ENV{PGOPTIONS} = ($ENV{PGOPTIONS} // '') . ' -c session_preload_libraries=mgpu_pg';

# What the first examples of README.md take for granted
my %given = (
	"SELECT device, percentile_cont(0.95) WITHIN GROUP (ORDER BY value)\nFROM telemetry GROUP BY device;" =>
	  "CREATE TABLE telemetry AS SELECT 1 AS device, 2.5::float8 AS value;\n",
	'SELECT mgpu_sort(readings) FROM sensors;' => "CREATE TABLE sensors AS SELECT ARRAY[3, 1, 2] AS readings;\n");

sub check
{
	my ($name, $wrong) = @_;

	$wrong eq '' ? $passed++ : $failed++;
	print $wrong eq '' ? "ok - $name\n" : "not ok - $name\n$wrong";
}

sub lines_of
{
	open my $in, '<', $_[0] or die "$_[0]: $!\n";
	chomp(my @lines = <$in>);
	return @lines;
}

# A page's blocks of SQL that run here: [ line of the fence, lines ]
sub blocks
{
	my @lines = lines_of($_[0]);
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
	return grep { ($_->[1]->[0] =~ /^-- on (each shard|the coordinator)$/ ? $1 : '') eq ($on_coordinator ? 'the coordinator' : '') } @blocks;
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
	my $script_file = "/tmp/doc_examples.$$.sql";

	foreach my $statement (@statements)
	{
		$script .= $given{ $statement->{sql} } // '';
		$script .= "DROP EXTENSION mgpu_pg CASCADE;\n" if $statement->{sql} =~ /^CREATE EXTENSION mgpu_pg/;
		$script .= defined $statement->{value} ? "\\pset format unaligned\n\\pset tuples_only on\n" : "\\pset format aligned\n\\pset tuples_only off\n";
		$script .= "\\echo _begin_\n$statement->{sql}\n\\echo _end_ :ERROR\n";
	}
	open my $out, '>', $script_file or die "$script_file: $!\n";
	print $out "$script $end;\n";
	close $out;
	my $said = `psql -Xq -f $script_file 2>&1`;
	unlink $script_file;
	$said =~ s/^psql:\S+:\d+: //mg;
	return $said =~ /^_begin_\n(.*?)^_end_ (true|false)\n/msg;
}

sub without_trailing_space
{
	return join("\n", map { s/\s+$//r } @_);
}

# A plan as PostgreSQL 15 to 17 have it: 18 also names the window, and 14 has the condition on a subquery above it
sub plan_of_all_versions
{
	my @lines = split /\n/, $_[0];

	return $_[0] unless ($lines[0] // '') =~ /^ *QUERY PLAN$/;
	@lines = grep { !/^ *Window: / } @lines[ 2 .. $#lines ];
	@lines = map { s/^   ->  / /r =~ s/^ {6}(?= )//r } @lines[ 2 .. $#lines ] if "@lines[0, 1]" =~ /^ Subquery Scan on \S+    Filter: /;
	return join("\n", @lines);
}

sub check_examples
{
	my ($page) = @_;

	foreach my $block (blocks($page))
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
			elsif (defined $expected && plan_of_all_versions($got) ne plan_of_all_versions($expected)) { $wrong = "$page says\n$expected\nit gives\n$got\n"; }
			check("$page:$statement->{line}: " . (split /\n/, $statement->{sql})[0], $wrong);
		}
	}
}

# The anchors that GitHub gives a page's headings
sub anchors
{
	return map { s/ /-/gr } map { s/[^\w -]//gr } map { lc } map { /^#+ (.*)$/ ? $1 : () } lines_of($_[0]);
}

# Links to files and headings of this tree; a page that is not there has no headings
sub check_links
{
	my ($page) = @_;
	my @broken;

	foreach my $link (join("\n", lines_of($page)) =~ /\]\(([^)\s]+)\)/g)
	{
		next if $link =~ /^https?:/;
		my ($file, $anchor) = split /#/, $link;
		my $path = $file eq '' ? $page : dirname($page) . "/$file";

		push @broken, "  $link\n" unless -e $path && (!defined $anchor || grep { $_ eq $anchor } anchors($path));
	}
	check("$page: its links lead somewhere", join('', @broken));
}

sub finish
{
	print "$passed passed, $failed failed\n";
	exit($failed ? 1 : 0);
}

foreach my $page (@pages)
{
	check_examples($page);
	check_links($page) unless $on_coordinator;
}
finish() if $on_coordinator;

# The names of the arguments in the signatures below a function's heading, each as "a, b"
sub signatures
{
	my ($docs, $name) = @_;
	my ($block) = $docs =~ /^#+ \Q$name\E\n\n```\n(.*?)^```$/ms;

	return map { join(', ', map { /^(\w+)/ } split /,\s*/, s/ \[order\]/, descending boolean, nulls_first boolean/r) }
	  ($block // '') =~ /^\Q$name\E\(([^)]*)\)/mg;
}

# What there is, with all arguments; names with an underscore in front are not for users
my $docs = join("\n", map { lines_of($_) } grep { /^docs/ } @pages);
my @functions = split /\n/, `psql -XAtqc "SELECT DISTINCT ON (proname) proname || '=' || coalesce(array_to_string(proargnames[:pronargs], ', '), '')
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
	JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass AND extname = 'mgpu_pg'
	WHERE left(proname, 1) <> '_' ORDER BY proname, pronargs DESC"`;
check('the extension has functions', @functions > 0 ? '' : "none found\n");
foreach (@functions)
{
	my ($name, $arguments) = split /=/, $_, 2;
	my @said = signatures($docs, $name);
	my @wrong = grep { $_ ne $arguments } @said;

	check("docs describe $name", @said ? join('', map { "  arguments are ($arguments), docs say ($_)\n" } @wrong)
		: "  no heading $name with a signature below it\n");
}
my @settings = split /\n/, `psql -XAtqc "LOAD 'mgpu_pg'; SELECT name || '=' || boot_val FROM pg_settings WHERE name LIKE 'mgpu.%' ORDER BY 1"`;
check('the extension has settings', @settings > 0 ? '' : "none found\n");
foreach (@settings)
{
	my ($name, $default) = split /=/;
	my ($said) = $docs =~ /^\| `\Q$name\E` \| `([^`]*)` \|/m;

	next if $name eq 'mgpu.inject_fault' && $docs =~ /`\Q$name\E`/;
	check("docs have $name and its default", defined $said && $said eq $default ? '' : '  default ' . $default . ', docs say ' . ($said // 'nothing') . "\n");
}
finish();
