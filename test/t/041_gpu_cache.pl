# Pages that stay on a GPU: which statements find them there, when they count no longer, and that answers are PostgreSQL's own under the same
# snapshot whatever happens to the table meanwhile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_service_node('gpu_cache', conf => [ 'mgpu.gpu_failure = error', 'mgpu.gpu_cache = 16MB', 'mgpu.device = 0',
	'session_preload_libraries = mgpu_pg' ], streaming => 1);
my $settings = '-c mgpu.executor=gpu -c mgpu.enable_group=force -c enable_indexscan=off -c enable_bitmapscan=off -c enable_indexonlyscan=off'
  . ' -c enable_sort=off -c synchronize_seqscans=off -c max_parallel_workers_per_gather=0';
my ($one, $two, $admin) = map { MgpuTest->session($node, options => $settings) } 1 .. 3;
my $sum = 'SELECT g, count(*), sum(v), array_agg(id ORDER BY id) FROM t GROUP BY g';

# Pages that a statement read, and those of them that the GPU had.
sub pages_of
{
	my ($session, $query) = @_;
	my $plan = $session->query("EXPLAIN (ANALYZE, COSTS off) $query");
	my ($read) = $plan =~ /Pages Read: (\d+)/;
	my ($kept) = $plan =~ /Pages Kept: (\d+)/;

	return 'not by a GPU' unless $plan =~ /Executor: gpu/;
	return ($kept // 0) . " of $read";
}

# The answer is that of core, and then so many pages are kept: all of them, or as said.
sub check_kept
{
	my ($name, $session, $query, $kept) = @_;

	check_same($session, "$name: the answer", $query, on_gpu => 1);
	my $pages = pages_of($session, $query);
	my ($some, $all) = $pages =~ /(\d+) of (\d+)/ or return fail("$name: $pages");
	$kept = $all if $kept eq 'all';
	is($some, $kept, "$name: $kept of $all pages are kept");
	return;
}

sub make_table
{
	my ($name, $rows) = @_;

	$two->run("DROP TABLE IF EXISTS $name", "CREATE TABLE $name (id int, g int, v int, pad text) WITH (fillfactor = 90, autovacuum_enabled = off)",
		"INSERT INTO $name SELECT i, i % 7, i, repeat('x', i % 50) FROM generate_series(1, $rows) i");
	return;
}

# Since 19 scans that prune a page mark it: a statement changes the map, and pages are kept sooner, or one statement later.
my $scans_mark = $one->query('SHOW server_version_num') >= 190000;

# ------------------------------------------------------------------- what is kept

is($admin->query(q{SELECT context, boot_val, setting, unit FROM pg_settings WHERE name = 'mgpu.gpu_cache'}), 'postmaster|-1|16|MB', 'preloaded, the cache is a setting of the postmaster\'s');
make_table('t', 6000);
is(pages_of($one, $sum) =~ s/ of.*//r, 0, 'no page is kept at first');
check_kept('not all-visible', $one, $sum, 0) unless $scans_mark;
$two->run('VACUUM t');
like(pages_of($one, $sum), qr/^0 of/, 'after a vacuum they are read from shared buffers');
check_kept('and then kept', $one, $sum, 'all');
check_kept('by other sessions', $two, $sum, 'all');
check_kept('other columns', $one, 'SELECT v % 10, max(id), count(*), min(length(pad)) FROM t WHERE id > 5 GROUP BY 1', 'all');
check_kept('rows in order', $one, 'SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY g', 'all');
my $num_pages = $one->query("SELECT pg_relation_size('t') / 8192");
is($admin->query("SELECT relation, database, pages, bytes >= pages * 8192, hits > pages, kept_at <= read_at AND read_at <= now() FROM mgpu_stat_gpu_cache"),
	"t|postgres|$num_pages|t|t|t", 'the view tells');
{
	my $stat = $admin->query("SELECT hits FROM mgpu_stat_gpu_cache");

	$one->query($sum);
	is($admin->query("SELECT hits - $stat FROM mgpu_stat_gpu_cache"), $num_pages, 'a statement counts all pages that it finds');
}
$one->run('SET mgpu.enable_gpu_cache = off');
is(pages_of($one, $sum), "0 of $num_pages", 'mgpu.enable_gpu_cache = off: none is read there');
$one->run('RESET mgpu.enable_gpu_cache');
is($admin->query("SELECT mgpu_gpu_cache_drop('t')"), $num_pages, 'dropped');
is($admin->query('SELECT count(*) FROM mgpu_stat_gpu_cache'), 0, 'nothing is kept');
is(pages_of($one, $sum), "0 of $num_pages", 'and it is read again');
is($admin->query("SELECT mgpu_gpu_cache_drop()"), $num_pages, 'all are dropped');
is($admin->query("SELECT mgpu_gpu_cache_load('t')"), $num_pages, 'loaded');
is(pages_of($one, $sum), "$num_pages of $num_pages", 'and read there');

# ------------------------------------------------------------ what changes a table

# Pages that a change touches are read again, the others are not.
foreach my $change ("UPDATE t SET v = v + 1 WHERE id = 17", "DELETE FROM t WHERE id = 2500", "INSERT INTO t VALUES (7001, 1, 5, 'new')",
	"UPDATE t SET pad = 'hot' WHERE id = 4000")
{
	$two->run('VACUUM (TRUNCATE false) t');
	$one->query($sum);
	check_kept("before $change", $one, $sum, 'all');
	$two->run($change);
	check_same($one, "after $change", $sum, on_gpu => 1);
	my ($kept, $read) = pages_of($one, $sum) =~ /(\d+) of (\d+)/;
	cmp_ok($kept, '<', $read, "$change: one page or two are read again") unless $scans_mark;
	cmp_ok($kept, '>=', $read - 2, "$change: all others are kept");
	$two->run('VACUUM (TRUNCATE false) t');
	check_kept("$change, and a vacuum: the map has changed", $one, $sum, 'all');
}
# changes of headers alone
{
	$one->query($sum);
	$two->run('BEGIN', 'SELECT FROM t FOR SHARE');
	check_kept('locked rows', $one, $sum, 'all');
	$two->run('COMMIT', 'VACUUM (FREEZE, TRUNCATE false) t');
	check_kept('frozen', $one, $sum, 'all');
	$two->run('ALTER TABLE t ADD more int DEFAULT 5', 'ALTER TABLE t DROP pad');
	check_kept('columns added and dropped', $one, 'SELECT more, count(*), sum(v + more) FROM t GROUP BY more', 'all');
	$two->run('ALTER TABLE t ADD pad text');
}
# unfinished changes, and snapshots from before
{
	$one->run('BEGIN ISOLATION LEVEL REPEATABLE READ');
	my $first = $one->query($sum);
	$two->run('UPDATE t SET v = v + 1000 WHERE id < 3000', 'DELETE FROM t WHERE id > 5000', 'VACUUM (TRUNCATE false) t');
	is($one->query($sum), $first, 'an old snapshot sees what it saw');
	check_same($one, 'an old snapshot', $sum, inside => 1, on_gpu => 1);
	check_same($admin, 'a new one', $sum, on_gpu => 1);
	$one->run('COMMIT');
	$two->run('VACUUM t');
	check_kept('after it has gone', $one, $sum, 'all');
	$two->run('BEGIN', 'UPDATE t SET v = 0', "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 2000) i");
	check_same($one, 'changes in progress', $sum, on_gpu => 1);
	check_same($two, "one's own changes", $sum, on_gpu => 1, inside => 1);
	$two->run('ROLLBACK');
	check_same($one, 'changes rolled back', $sum, on_gpu => 1);
	$two->run('DELETE FROM t WHERE id > 1000', 'VACUUM t');
	check_kept('truncated by a vacuum', $one, $sum, 'all');
	$two->run("INSERT INTO t SELECT i, 3, i FROM generate_series(1, 3000) i", 'VACUUM t');
	check_kept('and extended', $one, $sum, 'all');
}
# other files of the same table
foreach my $rewrite ('TRUNCATE t', 'VACUUM FULL t', 'ALTER TABLE t ALTER v TYPE bigint', 'CREATE INDEX t_id ON t (id); CLUSTER t USING t_id',
	'ALTER TABLE t SET UNLOGGED', 'ALTER TABLE t SET LOGGED')
{
	$one->query($sum);
	$two->run($_) foreach split /; /, $rewrite;
	check_same($one, $rewrite, $sum, on_gpu => $rewrite ne 'TRUNCATE t');
	$two->run("INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 3000) i") if $rewrite eq 'TRUNCATE t';
	$two->run('VACUUM t');
	check_kept("$rewrite, and a vacuum", $one, $sum, $rewrite =~ /UNLOGGED/ ? 0 : 'all');
}
{
	$two->run('BEGIN', 'TRUNCATE t', "INSERT INTO t SELECT i, 1, i FROM generate_series(1, 2000) i");
	is(pages_of($two, $sum) =~ s/ of.*//r, 0, 'a file of the same transaction is not kept') foreach 1 .. 2;
	$two->run('SAVEPOINT here', 'TRUNCATE t', 'ROLLBACK TO here');
	check_same($two, 'truncated and rolled back in part', $sum, inside => 1, on_gpu => 1);
	$two->run('ROLLBACK');
	check_same($one, 'truncated and rolled back', $sum, on_gpu => 1);
	$two->run('BEGIN', 'CREATE TABLE fresh (LIKE t)', "COPY fresh FROM PROGRAM 'seq -f \"%g\t1\t2\t3\t4\" 1 3000' (FREEZE)");
	check_same($two, 'COPY FREEZE', 'SELECT g, sum(v) FROM fresh GROUP BY g', inside => 1, input => '');
	$two->run('ROLLBACK');
	$two->run('CREATE TEMP TABLE temporary AS SELECT * FROM t', 'VACUUM temporary');
	check_same($two, 'a temporary table', 'SELECT g, sum(v) FROM temporary GROUP BY g', input => '');
	is($admin->query(q{SELECT count(*) FROM mgpu_stat_gpu_cache WHERE relation::text ~ 'temporary|fresh'}), 0, 'of which nothing is kept');
}
# the map itself
SKIP:
{
	skip 'there is no pg_visibility', 2 if $admin->query(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_visibility'}) == 0;
	$admin->run('CREATE EXTENSION pg_visibility', "SELECT pg_truncate_visibility_map('t')");
	check_same($one, 'without a map', $sum, on_gpu => 1);
	$two->run('UPDATE t SET v = v + 7 WHERE id % 100 = 0', 'VACUUM t');
	check_kept('with another', $one, $sum, 'all');
}

# ------------------------------------------------------- several tables, and databases

{
	$two->run('CREATE TABLE parts (id int, g int, v int, pad text) PARTITION BY LIST (g)',
		(map {"CREATE TABLE part$_ PARTITION OF parts FOR VALUES IN ($_)"} 1 .. 3),
		"INSERT INTO parts SELECT i, 1 + i % 3, i, 'x' FROM generate_series(1, 9000) i", 'VACUUM parts');
	my $of_parts = 'SELECT g, count(*), sum(v), max(id) FROM parts GROUP BY g';
	$one->query($of_parts);
	check_kept('partitions', $one, $of_parts, 'all');
	$two->run('UPDATE part2 SET v = v + 1 WHERE id < 100', 'TRUNCATE part3');
	check_same($one, 'partitions that have changed', $of_parts, on_gpu => 1);
	$two->run('ALTER TABLE parts DETACH PARTITION part1', 'DROP TABLE part2');
	check_same($one, 'and gone', [ $of_parts, 'SELECT g, sum(v) FROM part1 GROUP BY g' ]);
}

# Databases that were copied file by file have the map pages of their template, LSNs included.
{
	my $ours = join('', map {"SET $_;"} 'mgpu.executor = gpu', 'mgpu.enable_group = force') . 'SELECT g, count(*), sum(v) FROM c GROUP BY g ORDER BY g';
	my $core = 'SET mgpu.enable_group = off; SET mgpu.enable_sort = off; SELECT g, count(*), sum(v) FROM c GROUP BY g ORDER BY g';
	my $strategy = $admin->query('SHOW server_version_num') >= 150000 ? 'STRATEGY FILE_COPY' : '';
	my $check = sub {
		my ($database, $name) = @_;
		is(join('', map { $node->safe_psql($database, $ours) . "\n" } 1 .. 2), ($node->safe_psql($database, $core) . "\n") x 2, $name);
	};

	$node->safe_psql('postgres', 'CREATE DATABASE base');
	$node->safe_psql('base', "CREATE EXTENSION mgpu_pg; CREATE TABLE c AS SELECT i AS id, i % 7 AS g, i AS v FROM generate_series(1, 5000) i");
	$node->safe_psql('base', 'VACUUM c');
	$check->('base', 'a database');
	foreach my $round (1 .. 2)
	{
		$node->safe_psql('postgres', "CREATE DATABASE copy TEMPLATE base $strategy");
		$check->('copy', "round $round: its copy");
		$node->safe_psql('copy', "UPDATE c SET v = v + 1 WHERE id < 1000 * $round");
		$check->('copy', "round $round: has changed");
		$node->safe_psql('copy', 'VACUUM c');
		$check->('copy', "round $round: and was vacuumed");
		$check->('base', "round $round: and the first");
		$node->safe_psql('postgres', 'DROP DATABASE copy');
		$node->safe_psql('base', 'UPDATE c SET v = v + 3 WHERE id > 4900');
		$node->safe_psql('base', 'VACUUM c');
		$check->('base', "round $round: changed, too");
	}
}

# ---------------------------------------------------------------------- little room

# The cache is smaller than either table; what is kept of them changes, and answers do not.
$node->append_conf('postgresql.conf', 'mgpu.gpu_cache = 1MB');
$node->restart;
ok(defined await_service($node, 15), 'the service is up with a small cache');
($one, $two, $admin) = map { MgpuTest->session($node, options => $settings) } 1 .. 3;
{
	make_table($_, 30_000) foreach 'large', 'other', 't';
	$two->run('VACUUM large, other, t');
	my $most = 1024 * 1024 / 8192;

	foreach my $round (1 .. 4)
	{
		foreach my $table ('large', 'other', 'large', 't')
		{
			my $query = $sum =~ s/FROM t/FROM $table/r;
			check_same($one, "round $round, $table", $query, on_gpu => 1);
			$two->run("UPDATE $table SET v = v + 1 WHERE id = 1000 * $round");
			cmp_ok($admin->query('SELECT coalesce(sum(bytes), 0) FROM mgpu_stat_gpu_cache'), '<=', 1024 * 1024, 'no more is kept than there is room');
		}
	}
	$one->query($sum =~ s/FROM t/FROM large/r) foreach 1 .. ($scans_mark ? 3 : 1);
	my ($kept) = pages_of($one, $sum =~ s/FROM t/FROM large/r) =~ /^(\d+)/;
	ok($kept > 0 && $kept <= $most, "a part of a large table is kept: $kept pages");
}

# ------------------------------------------------------------ who may see and do what

$node->append_conf('postgresql.conf', 'mgpu.gpu_cache = 16MB');
$node->restart;
ok(defined await_service($node, 15), 'the service is up with more');
($one, $two, $admin) = map { MgpuTest->session($node, options => $settings) } 1 .. 3;
$admin->run('CREATE ROLE plain LOGIN', 'CREATE ROLE watcher LOGIN IN ROLE pg_monitor', 'GRANT USAGE ON SCHEMA public TO plain');
make_table('secret', 3000);
$two->run('VACUUM secret');
is($admin->query("SELECT mgpu_gpu_cache_load('secret')"), $admin->query("SELECT pg_relation_size('secret') / 8192"), 'a table is loaded');
{
	my $plain = MgpuTest->session($node, options => $settings);
	my $of_secret = 'SELECT g, sum(v) FROM secret GROUP BY g';

	$plain->run('SET ROLE plain');
	foreach my $query ($of_secret, "SELECT mgpu_gpu_cache_load('secret')", "SELECT mgpu_gpu_cache_drop('secret')", 'SELECT mgpu_gpu_cache_drop()', 'TABLE mgpu_stat_gpu_cache')
	{
		$plain->query($query);
		is($plain->{state}, '42501', "an ordinary role may not: $query");
	}
	$admin->run('GRANT SELECT ON secret TO plain', 'ALTER TABLE secret ENABLE ROW LEVEL SECURITY', 'CREATE POLICY few ON secret USING (id <= 10)');
	is($plain->query('SELECT count(*), sum(v) FROM secret'), '10|55', 'of a kept table a role sees its rows alone');
	$admin->run('ALTER TABLE secret DISABLE ROW LEVEL SECURITY');
	is($plain->query("SELECT mgpu_gpu_cache_load('secret') > 0"), 't', 'who may read a table may load it');
	$plain->run('RESET ROLE', 'SET ROLE watcher');
	is($plain->query(q{SELECT relation FROM mgpu_stat_gpu_cache WHERE relation = 'secret'::regclass}), 'secret', 'pg_monitor may look');
	$plain->query('SELECT mgpu_gpu_cache_drop()');
	is($plain->{state}, '42501', 'and no more');
	$plain->close;
}
foreach my $query ("SELECT mgpu_gpu_cache_load('pg_class')", "SELECT mgpu_gpu_cache_load('parts')")
{
	is($admin->query($query), 0, "nothing comes of $query");
}

# ------------------------------------------------------------------ deaths, and faults

{
	my $pid = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');

	$two->run('VACUUM t');
	$one->query($sum);
	check_kept('before the service dies', $one, $sum, 'all');
	$admin->run('SET mgpu.inject_fault = device_sticky', 'SET mgpu.gpu_failure = silent');
	$admin->query('SELECT mgpu_sort(ARRAY[3, 1])');
	$admin->run('RESET mgpu.inject_fault', 'RESET mgpu.gpu_failure');
	# it may not have ended yet, or the next one not begun
	foreach (1 .. 150)
	{
		my $now = $admin->query('SELECT DISTINCT pid FROM mgpu_stat_service');

		last if $now ne '' && $now ne $pid;
		sleep(0.1);
	}
	ok(defined await_service($node, 15), 'the service is up again');
	is($admin->query('SELECT count(*) FROM mgpu_stat_gpu_cache'), 0, 'and has nothing');
	is(pages_of($one, $sum) =~ s/ of.*//r, 0, 'all is read again');
	check_kept('and kept', $one, $sum, 'all');
	# a session that dies in the middle, again and again
	foreach my $i (1 .. 6)
	{
		my $victim = MgpuTest->session($node, options => $settings);
		$victim->send_query("SELECT count(*) FROM generate_series(1, 1000) p, LATERAL ($sum OFFSET 0) q WHERE q.count <> p");
		sleep(0.03 * $i);
		$admin->query("SELECT pg_terminate_backend($victim->{pid})");
		$victim->answer;
		$victim->close;
		$two->run("UPDATE t SET v = v + 1 WHERE id = $i", 'VACUUM t');
		check_same($one, "after death $i", $sum, on_gpu => 1);
	}
	ok(service_is_idle($node), 'nothing of them is left');
	check_kept('and pages are kept again', $one, $sum, 'all');
}

# A map whose LSN seemed never to change would give wrong answers: so this test would find them.
{
	$_->run('SET mgpu.inject_fault = kept_lsn') foreach $one, $two;
	$admin->query('SELECT mgpu_gpu_cache_drop()');
	$one->query($sum) foreach 1 .. 2;
	$two->run('UPDATE t SET v = v + 1 WHERE id < 1000', 'VACUUM t');
	isnt(differs($one, $sum), '', 'without LSNs, answers are wrong');
	$_->run('RESET mgpu.inject_fault') foreach $one, $two;
	check_kept('with them', $one, $sum, 'all');
}

# ---------------------------------------------------------------------- off, standby

{
	$node->backup('copy');
	my $standby = PostgreSQL::Test::Cluster->new('gpu_cache_standby');
	$standby->init_from_backup($node, 'copy', has_streaming => 1);
	$standby->start;
	ok(defined await_service($standby, 15), 'a standby has a service');
	$two->run('VACUUM t');
	$node->wait_for_catchup($standby);
	my $there = MgpuTest->session($standby, options => $settings);
	is(pages_of($there, $sum) =~ s/ of.*//r, 0, 'on a standby nothing is kept') foreach 1 .. 2;
	$standby->promote;
	$there->query($sum);
	$there->run('SELECT 1', "UPDATE t SET v = v + 1 WHERE id = 3", 'VACUUM t');
	$there->query($sum);
	check_kept('promoted', $there, $sum, 'all');
	$there->close;
	$standby->stop;
}
$_->close foreach $one, $two, $admin;
$node->append_conf('postgresql.conf', 'mgpu.gpu_cache = 0');
$node->restart;
ok(defined await_service($node, 15), 'the service is up without a cache');
$one = MgpuTest->session($node, options => $settings);
is(pages_of($one, $sum) =~ s/ of.*//r, 0, 'mgpu.gpu_cache = 0: nothing is kept') foreach 1 .. 2;
is($one->query('SELECT count(*) FROM mgpu_stat_gpu_cache'), 0, 'nor shown');
$one->close;
$node->stop;
unlike(slurp_file($node->logfile), qr/refcount leak|was not closed|PANIC|TRAP/, 'no pin is left behind');
done_testing();
