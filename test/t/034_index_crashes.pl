# Indexes built by the extension after crashes, under each wal_level, and on a standby: amcheck finds nothing wrong, and files that
# were emptied meanwhile come back from WAL.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuIndex;
use MgpuTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = index_node('index_crashes', needs_amcheck => 1, conf => ['log_min_messages = log']);
my $many = sized(tiered(100_000, 300_000), 2_000_000);
my $force = 'SET mgpu.enable_index_build = force; SET max_parallel_maintenance_workers = 3; ';

# -------------------------------------------------------------------- a standby

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('index_standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->safe_psql('postgres', "CREATE TABLE copied AS $ROWS");
my @copied = ('copied_v', 'copied_t', 'copied_c', 'copied_p');
my ($errors, $built) = run_sql('force', 'SET max_parallel_maintenance_workers = 3; CREATE INDEX copied_v ON copied (v); CREATE UNIQUE INDEX copied_t ON copied (t, id);
	CREATE INDEX copied_c ON copied (v, id); REINDEX INDEX CONCURRENTLY copied_c; DELETE FROM copied WHERE id % 7 = 1; VACUUM FULL copied; CREATE INDEX copied_p ON copied (t) WHERE v > 5');
is($errors, '', 'indexes are built');
cmp_ok($built, '>=', 5, 'by the extension');
$node->wait_for_catchup($standby);
is(check_index($_, $standby), '', "$_ on a standby") for @copied;
$standby->promote;
is($standby->safe_psql('postgres', "SELECT bt_index_parent_check('$_', true, true)"), '', "$_ where it was promoted") for @copied;
$standby->stop;
$node->safe_psql('postgres', 'DROP TABLE copied');

# ------------------------------------------------------------- the whole server

sub empties_come_back
{
	my ($level) = @_;
	my @pairs = ([ 'v', '' ], [ 't', '' ], [ 'v, t', ' WHERE id % 2 = 0' ]);
	my @ours = map {"w_$_"} 0 .. $#pairs;

	$node->safe_psql('postgres', "CREATE TABLE w AS $ROWS; CHECKPOINT");
	run_sql('force', join('; ', map {"CREATE INDEX w_$_ ON w ($pairs[$_][0])$pairs[$_][1]"} 0 .. $#pairs));
	my @paths = map { $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") } @ours;
	$node->stop('immediate');
	if ($level ne 'minimal')
	{
		truncate($_, 0) || die "$_: $!" for @paths;
	}
	$node->start;
	is(check_index($_), '', "$_ after a crash, wal_level = $level") for @ours;
	$node->safe_psql('postgres', 'SET mgpu.enable_index_build = off; ' . join('; ', map {"CREATE INDEX p_$_ ON w ($pairs[$_][0])$pairs[$_][1]"} 0 .. $#pairs));
	is(join('', map { difference("w_$_", "p_$_", 1) } 0 .. $#pairs), '', 'they have the same bytes');
	$node->safe_psql('postgres', 'DROP TABLE w');
}

# ------------------------------------------------------------------ one process

# Killed by SIGKILL, it takes the server along, which recovers.  Whoever else is there notices that.
sub kill_session
{
	my ($session, $other) = @_;

	kill 'KILL', $session->{pid} or die "kill: $!";
	$other->query('SELECT pg_sleep(0.01)') until $other->{ended};
	$_->close for $session, $other;
	await_sessions($node) or die 'the server did not recover';
}

my @phases = ('scanning table', 'sorting live tuples', 'loading tuples in tree');

# Returns whether the build had not ended before.
sub kill_build
{
	my ($level, $phase, $memory) = @_;
	my ($session, $watcher) = (MgpuTest->session($node), watching_session());
	my $was_seen = strike_in_phase($session, $watcher, "$force SET maintenance_work_mem = '$memory'; CREATE UNIQUE INDEX many_x ON many (t)", $phase,
		'SELECT pg_sleep(random() * 0.01)');

	kill_session($session, $watcher);
	my $is_there = $node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'many_x'");
	is(check_index('many_x'), '', "$phase, $memory: it was built before") if $is_there;
	is(join(' ', glob($node->data_dir . '/base/pgsql_tmp/*')), '', 'no temporary file is left');
	my ($errors, $built) = run_sql('force', 'DROP INDEX IF EXISTS many_x; CREATE UNIQUE INDEX many_y ON many (t)');
	is("$errors$built" . check_index('many_y'), '1', "$phase, $memory, wal_level = $level: an index can be built after it");
	$node->safe_psql('postgres', 'DROP INDEX many_y');
	return $was_seen && !$is_there;
}

# In each phase, of a build in memory and of one with runs.  In memory, phases may end before the signal comes.
sub kill_builds
{
	my ($level) = @_;

	foreach my $phase (@phases)
	{
		my $struck = kill_build($level, $phase, '1GB');

		foreach (1 .. 5)
		{
			$struck = kill_build($level, $phase, '1MB') || $struck;
			last if $struck || $phase =~ /sorting/;
		}
		ok($struck, "a build was killed: $phase") if $phase !~ /sorting/;
	}
}

# At once after the end of a statement.  Small files of new relations may be logged as a whole.
sub kill_after_builds
{
	my ($level) = @_;

	foreach my $threshold ('0', '1GB')
	{
		my $session = MgpuTest->session($node);
		$session->run("$force SET wal_skip_threshold = '$threshold'", 'CREATE INDEX many_t ON many (t)', "BEGIN; CREATE TABLE fresh AS $ROWS; CREATE INDEX fresh_v ON fresh (v); COMMIT",
			'CREATE TABLE old AS TABLE fresh; CREATE INDEX old_v ON old (v)', 'CHECKPOINT', 'UPDATE old SET v = v + 1', 'REINDEX TABLE old');
		kill_session($session, MgpuTest->session($node));
		is(check_index($_), '', "$_ after a crash, wal_level = $level, wal_skip_threshold = $threshold") for 'many_t', 'fresh_v', 'old_v';
		$node->safe_psql('postgres', 'DROP INDEX many_t; DROP TABLE fresh, old');
	}
}

foreach my $level ('replica', 'logical', 'minimal')
{
	$node->append_conf('postgresql.conf', "wal_level = $level\nmax_wal_senders = 0\nrestart_after_crash = on\n");
	$node->restart;
	$node->safe_psql('postgres', "CREATE TABLE many AS SELECT i, md5(i::text) COLLATE \"C\" AS t FROM generate_series(1, $many) i; VACUUM many; CHECKPOINT");
	empties_come_back($level);
	kill_builds($level);
	kill_after_builds($level);
	$node->safe_psql('postgres', 'DROP TABLE many');
}

$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal (?!9)/, 'no process has crashed of its own');
done_testing();

# What the server said last, if the test did not end well.
END
{
	diag(join("\n", (split /\n/, slurp_file($node->logfile))[ -30 .. -1 ])) if $node && ($? || !Test::More->builder->is_passing);
}
