# Builds of indexes that are cancelled in each phase, or find no room on the disk, leave no file, lock, thread or memory behind, and
# the session goes on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuIndex;
use MgpuMemory;
use MgpuTest;
use Test::More;

my $seed = time();
note("random numbers of this run: $seed");
srand($seed);

# Segments of WAL are smaller than files may become where there is no room.
my $node = index_node('index_ends', needs_amcheck => 1, initdb => ['--wal-segsize=1'],
	conf => [ 'max_parallel_maintenance_workers = 3', 'mgpu.enable_index_build = force' ]);
my $many = sized(200_000, 2_000_000);
my $english = $node->safe_psql('postgres', "SELECT coalesce((SELECT min(collname) FROM pg_collation WHERE collname ~* '^en_us.utf-?8\$'), 'C')");
$node->safe_psql('postgres', "CREATE TABLE many AS SELECT i, i % 10 AS few, md5(i::text) COLLATE \"C\" AS t, substr(md5(i::text), 1, 12) COLLATE \"$english\" AS en
	FROM generate_series(1, $many) i");
$node->safe_psql('postgres', 'VACUUM many');

sub threads_of { return scalar(() = glob("/proc/$_[0]/task/*")); }

# What is left of a build that ended in an error, or ''.
sub left_behind
{
	my ($session, $watcher, $before, $threads) = @_;
	my @left;

	push @left, 'locks' if $watcher->query("SELECT count(*) FROM pg_locks WHERE pid = $session->{pid}") ne '0';
	push @left, threads_of($session->{pid}) . " threads, and not $threads" if threads_of($session->{pid}) != $threads;
	push @left, 'memory' if $session->query("SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE '%index build%' OR name LIKE '%index row%'") ne '0';
	push @left, 'the setting of workers' if $session->query('SHOW max_parallel_maintenance_workers') !~ /^[03]$/;
	push @left, 'a session that reads nothing' if $session->query('SELECT count(*) > 0 FROM many') ne 't';
	push @left, 'an index' if $session->query("SELECT count(*) FROM pg_index WHERE indrelid = 'many'::regclass") ne '0';
	push @left, 'files' if files() ne $before;
	return join(', ', @left);
}

sub build_afterwards
{
	my ($session, $create) = @_;

	$session->query($create);
	my $why = $session->{error} || check_index('many_x');
	$session->run('DROP INDEX many_x', 'CHECKPOINT');
	return $why;
}

# ---------------------------------------------------------------------- cancels

# what happens then, phase, memory, workers, keys
my @stages = (
	[ 'pages are read', 'scanning table', '1GB', 3, 'i' ], [ 'pages are read by the session', 'scanning table', '1GB', 0, 't' ],
	[ "PostgreSQL's scan", 'scanning table', '1GB', 3, '(i + 1)' ], [ 'runs are sorted and written', 'scanning table', '1MB', 3, 't' ],
	[ 'a sort', 'sorting live tuples', '1GB', 3, 't, i DESC' ], [ 'the sort of a collation', 'sorting live tuples', '1GB', 3, 'en' ],
	[ 'the merge of runs', 'loading tuples in tree', '1MB', 3, 't' ], [ 'the merge of runs of numbers', 'loading tuples in tree', '1MB', 0, 'few, i' ],
	[ 'leaves by threads, and WAL', 'loading tuples in tree', '1GB', 3, 't' ], [ 'leaves of equal keys, and WAL', 'loading tuples in tree', '1GB', 0, 'few' ]);
my $times = sized(2, 20);

my ($session, $watcher) = (MgpuTest->session($node), watching_session());
my $threads = threads_of($session->{pid});
my $before = files();
foreach my $stage (@stages)
{
	my ($name, $phase, $memory, $workers, $keys) = @$stage;
	my $create = "CREATE INDEX many_x ON many ($keys)";
	my ($struck, $tries, $late, @left) = (0, 0, 0);

	$session->run("SET maintenance_work_mem = '$memory'; SET max_parallel_maintenance_workers = $workers");
	for (; $struck < $times && $tries < 20 * $times; $tries++)
	{
		my $was_seen = strike_in_phase($session, $watcher, $create, $phase, "SELECT pg_cancel_backend($session->{pid})");

		$session->answer;
		if ($session->{state} eq '57014')
		{
			$struck++ if $was_seen;
			my $left = left_behind($session, $watcher, $before, $threads);
			push @left, $left if $left;
		}
		else
		{
			push @left, $session->{error} if $session->{error};
			$session->query('DROP INDEX IF EXISTS many_x');
			# the cancel may have come for this one
			$session->query('DROP INDEX IF EXISTS many_x') if $session->{error};
		}
	}
	is($struck, $times, "$name: cancelled after $tries tries");
	is(join('; ', @left), '', 'nothing is left');
	is(build_afterwards($session, $create), '', 'and then it is built');
}

# at any time, by timeouts
my $num_cancelled = 0;
my @left;
foreach my $try (1 .. sized(tiered(8, 20), 100))
{
	$session->run('SET max_parallel_maintenance_workers = ' . pick(0, 3) . '; SET maintenance_work_mem = ' . pick("'1MB'", "'1GB'"));
	$session->query('SET statement_timeout = ' . (1 + $try * sized(4, 10)));
	$session->query('CREATE ' . pick('INDEX', 'UNIQUE INDEX') . ' many_x ON many (' . pick('t, i', 'i', 'en, i', 'i) INCLUDE (t') . ')');
	my $state = $session->{state};
	$session->end_timeouts;
	if ($state eq '57014')
	{
		$num_cancelled++;
		my $left = left_behind($session, $watcher, $before, $threads);
		push @left, $left if $left;
	}
	$session->query('DROP INDEX IF EXISTS many_x');
}
cmp_ok($num_cancelled, '>', 3, "$num_cancelled builds met a timeout");
is(join('; ', @left), '', 'and leave nothing');

# A concurrent build that is cancelled leaves an index that is not valid, as PostgreSQL's does.
my $struck = 0;
for (my $tries = 0; $tries < 40 && !$struck; $tries++)
{
	strike_in_phase($session, $watcher, 'CREATE INDEX CONCURRENTLY many_x ON many (t)', 'loading tuples in tree', "SELECT pg_cancel_backend($session->{pid})");
	$session->answer;
	$struck = $session->{state} eq '57014';
	is($session->query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'many_x'::regclass"), 'f', 'a concurrent build was cancelled') if $struck;
	$session->query('DROP INDEX IF EXISTS many_x');
}
is($struck ? left_behind($session, $watcher, $before, $threads) : 'not struck', '', 'nothing but the index is left');

# A session that is ended in a build, in each phase.
my ($num_ended, $not_clean) = (0, '');
foreach my $stage (@stages[ 0, 3, 5, 6, 8 ])
{
	my ($name, $phase, $memory, $workers, $keys) = @$stage;
	my $ended = MgpuTest->session($node);

	$ended->run("SET maintenance_work_mem = '$memory'; SET max_parallel_maintenance_workers = $workers");
	strike_in_phase($ended, $watcher, "BEGIN; CREATE INDEX many_x ON many ($keys); SELECT pg_sleep(30)", $phase, "SELECT pg_terminate_backend($ended->{pid})");
	$num_ended++ if !defined $ended->answer;
	$ended->close;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $ended->{pid}") or die 'a session does not end';
	my $left = left_behind($session, $watcher, $before, $threads);
	$not_clean .= "$name: $left " if $left;
}
is($num_ended, 5, 'sessions end in builds');
is($not_clean, '', 'nothing is left of them, and the server is up');

# ------------------------------------------------------------- no room on the disk

# No file of the session may become longer; a write beyond fails as on a disk that is full.
sub limit_files
{
	system('prlimit', "--pid=$session->{pid}", "--fsize=$_[0]:") == 0 or die 'prlimit failed';
}

my $run_memory = sized('128MB', '8MB');
foreach my $case ([ 'the index', '1GB', 'i' ], [ 'the index', '1GB', 't' ], [ 'the index', '1GB', 'few' ], [ 'a run', $run_memory, 't' ], [ 'a run', $run_memory, 'i, few' ], [ 'a run', $run_memory, '(lower(t))' ])
{
	my ($what, $memory, $keys) = @$case;
	my $create = "CREATE INDEX many_x ON many ($keys)";

	$session->run("CHECKPOINT; SET maintenance_work_mem = '$memory'; SET max_parallel_maintenance_workers = 3");
	limit_files($what eq 'a run' || $keys eq 'few' ? 1_100_000 : 3_000_000);
	$session->query($create);
	my ($state, $error) = ($session->{state}, $session->{error});
	limit_files('unlimited');
	like($error, $what eq 'a run' ? qr/could not write (to file|block)|temporary file/ : qr/could not extend file|could not write block/, "no room for $what of ($keys)");
	isnt($state, '', 'that is an error');
	is(left_behind($session, $watcher, $before, $threads), '', 'nothing is left');
	is(build_afterwards($session, $create), '', 'with room, it is built');
}
$session->run("SET temp_file_limit = '1MB'; SET maintenance_work_mem = '1MB'");
$session->query('CREATE INDEX many_x ON many (t)');
is($session->{state}, '53400', 'temp_file_limit is kept');
is(left_behind($session, $watcher, $before, $threads), '', 'nothing is left');
$session->run('RESET temp_file_limit');
is(build_afterwards($session, 'CREATE INDEX many_x ON many (t)'), '', 'without it, the index is built');

$_->close for $session, $watcher;
$node->stop;
done_testing();
