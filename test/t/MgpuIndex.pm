# What the tests of index builds share: a node, statements with builds off or forced, comparisons of indexes, and what amcheck says of
# one.  There is one node at a time.
package MgpuIndex;

use strict;
use warnings;
use Exporter 'import';
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw($ROWS index_node run_sql difference check_index watching_session strike_in_phase files pick);

# Some rows.
our $ROWS = 'SELECT i AS id, (i * 7919 % 1000)::int AS v, md5(i::text) COLLATE "C" AS t FROM generate_series(1, 2000) i';

my ($node, $has_amcheck);

sub pick { return $_[ int(rand(@_)) ]; }

sub index_node
{
	my ($name, %option) = @_;

	$node = new_node($name, streaming => 1, initdb => $option{initdb},
		conf => [ "session_preload_libraries = 'mgpu_pg'", 'max_parallel_maintenance_workers = 0', @{ $option{conf} // [] } ]);
	$has_amcheck = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'});
	if ($has_amcheck)
	{
		$node->safe_psql('postgres', 'CREATE EXTENSION amcheck');
	}
	elsif ($option{needs_amcheck})
	{
		$node->stop;
		plan skip_all => "PostgreSQL's module amcheck is not installed";
	}
	return $node;
}

# Run statements with builds off or forced.  Returns errors, how many indexes of users the extension has built, and all that psql says.
sub run_sql
{
	my ($setting, $sql) = @_;
	my ($status, $out, $said) = $node->psql('postgres', "SET client_min_messages = debug1; SET mgpu.enable_index_build = $setting; $sql");
	my $built = () = $said =~ /mgpu_pg builds index(?! .pg_toast)/g;
	my $errors = join("\n", grep { /ERROR|DETAIL/ } map { s/^psql:<stdin>:\d+: //r } split /\n/, $said);

	return ($errors, $built, $said);
}

# An index's file, without what may differ: LSNs and checksums; and, as WAL does not have them, the unused bytes of pages.
sub bytes_of
{
	my ($index, $used_alone) = @_;
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_filepath('$index')");
	my $bytes = slurp_file($path);

	for (my $at = 0; $at < length($bytes); $at += 8192)
	{
		my ($lower, $upper) = unpack('vv', substr($bytes, $at + 12, 4));

		substr($bytes, $at, 10) = "\0" x 10;
		substr($bytes, $at + $lower, $upper - $lower) = "\0" x ($upper - $lower) if $used_alone;
	}
	return $bytes;
}

# Why two indexes differ, or ''.
sub difference
{
	my ($first, $second, $used_alone) = @_;
	my ($ours, $theirs) = map { bytes_of($_, $used_alone) } $first, $second;

	return '' if $ours eq $theirs;
	return 'sizes ' . length($ours) . ' and ' . length($theirs) if length($ours) != length($theirs);
	for (my $at = 0; $at < length($ours); $at++)
	{
		return "byte $at" if substr($ours, $at, 1) ne substr($theirs, $at, 1);
	}
}

# What amcheck finds wrong with an index, or ''; nothing where it is not installed.  A standby allows the check with the weaker lock alone.
sub check_index
{
	my ($index, $standby) = @_;
	my $call = $standby ? "bt_index_check('$index', true)" : "bt_index_parent_check('$index', true, true)";

	return '' if !$has_amcheck;
	my ($status, $out, $said) = ($standby // $node)->psql('postgres', "SELECT $call");
	return $said;
}

# A session that looks at builds of others.
sub watching_session
{
	my $watcher = MgpuTest->session($node);

	$watcher->run(q{
		CREATE FUNCTION pg_temp.await(pid int, phase text, strike text) RETURNS bool LANGUAGE plpgsql AS $$
		DECLARE now_in text; was_seen bool = false; until timestamptz = clock_timestamp() + interval '30 s';
		BEGIN
			LOOP
				PERFORM pg_stat_clear_snapshot();
				now_in = (SELECT p.phase FROM pg_stat_progress_create_index p WHERE p.pid = await.pid);
				was_seen = was_seen OR now_in IS NOT NULL;
				EXIT WHEN now_in = await.phase OR (was_seen AND now_in IS NULL) OR clock_timestamp() > until;
			END LOOP;
			EXECUTE strike;
			RETURN coalesce(now_in = await.phase, false);
		END
		$$});
	return $watcher;
}

# Have a session build an index, and another run a statement as soon as it has entered a phase.  Returns whether it was seen there.
sub strike_in_phase
{
	my ($session, $watcher, $build, $phase, $strike) = @_;

	$session->send_query($build);
	my $was_seen = $watcher->query("SELECT pg_temp.await($session->{pid}, 'building index: $phase', \$strike\$$strike\$strike\$)");
	die 'the session that looks at builds gives no answer' if !defined $was_seen;
	return $was_seen eq 't';
}

# What is in the database's folder, and in that of temporary files.
sub files
{
	my $folder = $node->safe_psql('postgres', "CHECKPOINT; SELECT 'base/' || oid FROM pg_database WHERE datname = 'postgres'");

	return join(' ', sort map { s,.*/,,r } grep { !/_(fsm|vm)$/ } glob($node->data_dir . "/$folder/* " . $node->data_dir . '/base/pgsql_tmp/*'));
}

1;
