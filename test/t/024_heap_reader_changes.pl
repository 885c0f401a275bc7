# Tables read a page at a time while they change: each answer is PostgreSQL's own under the same snapshot, whoever
# writes, vacuums or aborts meanwhile; also on a standby, and beside a damaged page.  Writers are at work for
# MGPU_CHANGES_SECONDS, and for half as long again beside the standby.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('heap_reader_changes', streaming => 1, initdb => ['--data-checksums'],
	conf => [ "session_preload_libraries = 'mgpu_pg'",
	'max_parallel_workers_per_gather = 0', $ENV{MGPU_TEST_FEW_BUFFERS} ? ('shared_buffers = 1MB', 'mgpu.cpu_threads = 2') : (), 'max_prepared_transactions = 20', 'log_min_messages = warning',
		'log_min_error_statement = panic' ]);
# no index scans; and core's groups have their rows in the order of the table as long as it does not sort
my $settings = '-c enable_indexscan=off -c enable_bitmapscan=off -c enable_sort=off -c synchronize_seqscans=off';
my ($one, $two, $old) = map { MgpuTest->session($node, options => $settings) } 1 .. 3;
my $query = 'SELECT g, count(*), sum(v), array_agg(id), max(pad) FROM t GROUP BY g';
my @queries = ($query, 'SELECT g, array_agg(v) FROM t WHERE v > 500 AND g < 5 GROUP BY g',
	'SELECT count(*), sum(v) FROM t WHERE v IS NOT NULL', "SELECT pad, count(id) FROM t WHERE pad <> 'x' OR id % 2 = 0 GROUP BY pad");

sub sorted { return join("\n", sort split /\n/, $_[0]); }

$one->run('CREATE EXTENSION amcheck', 'CREATE EXTENSION pg_visibility',
	'CREATE TABLE t (id int, g int, v int, pad text) WITH (fillfactor = 80)',
	"INSERT INTO t SELECT i, i % 7, i, repeat('x', i % 50) FROM generate_series(1, 3000) i",
	'CREATE INDEX ON t (v)', 'VACUUM (TRUNCATE false) t');

# --------------------------------------------------------------- one's own changes

$one->run('BEGIN ISOLATION LEVEL REPEATABLE READ');
foreach my $step ("INSERT INTO t SELECT i, i % 7, i, 'new' FROM generate_series(3001, 3300) i",
	'UPDATE t SET v = v + 1 WHERE id % 3 = 0', "UPDATE t SET pad = 'hot' WHERE id % 50 = 1", 'DELETE FROM t WHERE id % 11 = 0',
	'SAVEPOINT here', 'UPDATE t SET g = 0', 'DELETE FROM t WHERE id < 100', 'ROLLBACK TO here', 'SAVEPOINT there',
	'UPDATE t SET g = 8 WHERE id > 3000', 'RELEASE there', 'INSERT INTO t VALUES (NULL, NULL, NULL, NULL)', 'COMMIT')
{
	$one->run($step);
	check_same($one, "after $step", \@queries, inside => $step ne 'COMMIT');
}

# what a statement itself changes, it does not see
check_same($one, 'changes of the same statement', [
	"WITH added AS (INSERT INTO t SELECT id, g, v, 'added' FROM t RETURNING 1) $query",
	"WITH changed AS (UPDATE t SET v = v + 1000000 RETURNING 1) $query",
	"WITH gone AS (DELETE FROM t WHERE g = 1 RETURNING 1) $query",
	"WITH gone AS (DELETE FROM t WHERE g = 1 RETURNING 1) SELECT * FROM (SELECT * FROM gone LIMIT 3) c LEFT JOIN ($query) q ON true",
	"WITH changed AS (UPDATE t SET g = g + 1 RETURNING 1) SELECT * FROM (SELECT count(*) FROM changed) c LEFT JOIN ($query) q ON true" ]);
$one->run('CREATE TABLE seen (line text)',
	"CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO seen SELECT q::text FROM ($query) q; RETURN NEW; END \$\$",
	'CREATE FUNCTION counted() RETURNS int8 STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(v) FROM t); END $$',
	'CREATE TRIGGER before_row BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION see()',
	'CREATE TRIGGER after_row AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION see()',
	q{CREATE FUNCTION trigger_all() RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN DELETE FROM seen;
		INSERT INTO t SELECT i, 1, counted(), 'seen' FROM generate_series(1, 5) i; UPDATE t SET v = counted() WHERE id < 30;
		RETURN QUERY SELECT * FROM seen UNION ALL SELECT v::text FROM t WHERE id < 30; END $$});
check_same($one, 'triggers, and functions that are stable', 'SELECT * FROM trigger_all()', input => '');
$one->run('DROP TRIGGER before_row ON t', 'DROP TRIGGER after_row ON t');

# ------------------------------------------------------------ cursors, and their locks

my @ways = ([ 'ours', 'force' ], [ 'core', 'off' ]);
$one->run('BEGIN',
	(map {"SET LOCAL mgpu.enable_group = $_->[1]; DECLARE $_->[0] SCROLL CURSOR FOR $query; DECLARE held_$_->[0] CURSOR WITH HOLD FOR $query"} @ways));
my %first = map { $_->[0] => $one->query("FETCH 2 FROM $_->[0]") } @ways;
foreach my $statement ('VACUUM FULL t', 'TRUNCATE t', 'ALTER TABLE t ADD more int', 'DROP TABLE t')
{
	$two->query("SET lock_timeout = '50ms'; $statement");
	is($two->{state}, '55P03', "$statement waits for a cursor");
	next if $statement =~ /^VACUUM/;
	$one->query("SAVEPOINT here; $statement");
	is($one->{state}, '55006', "$statement: not under one's own cursor");
	$one->run('ROLLBACK TO here');
}
$two->run('SET lock_timeout = 0', 'UPDATE t SET g = g + 1, v = v + 1', 'DELETE FROM t WHERE id % 2 = 0', 'VACUUM (TRUNCATE false) t');
$one->run('UPDATE t SET g = -1');
my %rest = map { $_->[0] => sorted("$first{$_->[0]}\n" . $one->query("FETCH ALL FROM $_->[0]")) } @ways;
is($rest{ours}, $rest{core}, 'cursors keep what they saw');
is(sorted($one->query('FETCH BACKWARD ALL FROM ours')), sorted($one->query('FETCH BACKWARD ALL FROM core')), 'and back again');
$one->run('COMMIT');
is(sorted($one->query('FETCH ALL FROM held_ours')), $rest{core}, 'also those that outlive their transaction');
$one->run('CLOSE ALL');

# --------------------------------------------- others' changes, finished and unfinished

sub check_at { check_same($one, "rows of others: $_[0]", \@queries); return; }

$one->run('TRUNCATE t', "INSERT INTO t SELECT i, i % 7, i, repeat('x', i % 50) FROM generate_series(1, 3000) i",
	'VACUUM (TRUNCATE false) t');
$old->run('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SET LOCAL mgpu.enable_group = force');
my @before = map { $old->query($_) } @queries;
my $snapshot = $old->query('SELECT pg_export_snapshot()');
$two->run('BEGIN', "INSERT INTO t SELECT i, i % 7, i, 'new' FROM generate_series(1, 500) i",
	'UPDATE t SET v = v + 1 WHERE id % 5 = 0', 'DELETE FROM t WHERE id % 7 = 0', 'SAVEPOINT here',
	'UPDATE t SET g = 0 WHERE id % 3 = 0');
check_at('in progress');
$one->run('BEGIN',
	'SELECT count(*) FROM (SELECT FROM t WHERE id % 11 = 1 AND id % 5 > 0 AND id % 7 > 0 AND id % 3 > 0 FOR KEY SHARE) q');
$two->run('SELECT count(*) FROM (SELECT FROM t WHERE id % 22 = 1 AND id % 5 > 0 AND id % 7 > 0 AND id % 3 > 0 FOR SHARE) q');
check_same($one, 'rows that both have locked', \@queries, inside => 1);
$one->run('COMMIT');
$two->run('ROLLBACK TO here');
check_at('rolled back to a savepoint');
$two->run("PREPARE TRANSACTION 'later'");
check_at('prepared');
$two->run('VACUUM (TRUNCATE false) t');
check_at('prepared, and vacuumed');
$two->run("COMMIT PREPARED 'later'");
check_at('committed');
$two->run('BEGIN', 'UPDATE t SET v = 0', "PREPARE TRANSACTION 'never'", "ROLLBACK PREPARED 'never'");
check_at('aborted');
$two->run('VACUUM (TRUNCATE false) t', "UPDATE t SET pad = 'hot' WHERE id % 100 = 0",
	"UPDATE t SET pad = 'hotter' WHERE id % 100 = 0", 'VACUUM (FREEZE, TRUNCATE false) t', 'DELETE FROM t WHERE id % 2 = 0',
	'VACUUM (TRUNCATE false) t');
check_at('vacuumed');
check_same($old, 'an old snapshot', \@queries, inside => 1);
is_deeply([ map { $old->query("SET LOCAL mgpu.enable_group = force; $_") } @queries ], \@before,
	'and its answers are those of before');
$one->run('BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'", 'SET LOCAL mgpu.enable_group = force');
is_deeply([ map { $one->query($_) } @queries ], \@before, 'also in another session that takes it');
check_same($one, 'and there, against core', \@queries, inside => 1);
$_->run('COMMIT') foreach $one, $old;
$two->run('DELETE FROM t WHERE id > 1500', 'VACUUM t');
check_at('vacuumed and truncated, without the old snapshot');

# a row is checked again, after a wait, beside all others as they were
my @rechecked;
foreach my $mode ('force', 'off')
{
	$two->run('DELETE FROM t WHERE id < 9', "INSERT INTO t SELECT i, i, i, 'once' FROM generate_series(1, 8) i", 'BEGIN',
		'UPDATE t SET v = v + 10 WHERE id = 5', 'DELETE FROM t WHERE id = 6', 'UPDATE t SET v = 1000000 WHERE id = 7');
	$one->send_query("BEGIN; SET LOCAL mgpu.enable_group = $mode; UPDATE t SET pad = 'again' WHERE id < 9 AND v < "
		  . '(SELECT sum(n) FROM (SELECT g, count(id) AS n FROM t o WHERE o.v <> t.v GROUP BY g) q) RETURNING *');
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $one->{pid} AND wait_event_type = 'Lock'")
	  or die 'the update does not wait';
	$two->run('COMMIT');
	push @rechecked, sorted($one->answer);
	$one->run('ROLLBACK');
}
is($rechecked[0], $rechecked[1], 'rows that are checked again');
is(scalar(() = $rechecked[0] =~ /again/g), 6, 'all but one that was deleted and one that is no longer meant');

# ------------------------------------------------------------------ writers at work
#
# Money moves between accounts, so that its sum is the same in any snapshot.  VACUUM does not truncate: on a standby,
# the lock that this takes would wait for one reader, and another reader for the lock.

$one->run('CREATE TABLE accounts (id int, g int, balance int, pad text) WITH (fillfactor = 70)',
	"INSERT INTO accounts SELECT i, i % 7, 1000, repeat('x', i % 90) FROM generate_series(1, 5000) i",
	'CREATE UNIQUE INDEX ON accounts (id)', 'CREATE INDEX ON accounts (g)', 'VACUUM ANALYZE accounts');
my $picks = "\\set a random(1, 2000)\n\\set b random(2001, 4000)\n\\set c random(4001, 5000)\n\\set x random(1, 9)\n";
my ($take, $give) = ('UPDATE accounts SET balance = balance - :x WHERE id = :a;', 'UPDATE accounts SET balance = balance + :x WHERE id = :b;');
my %scripts = (
	'move@10' => "BEGIN; $take $give COMMIT;",
	'savepoint@5' => "BEGIN; $take SAVEPOINT s; UPDATE accounts SET balance = 0 WHERE id = :b; ROLLBACK TO s; $give COMMIT;",
	'abort@5' => "BEGIN; $take $give INSERT INTO accounts SELECT i, i % 7, 5, 'none' FROM generate_series(6000, 6020) i; ROLLBACK;",
	'prepared@5' => "BEGIN; $take $give PREPARE TRANSACTION 'p:client_id';\n\\if :x > 5\nCOMMIT PREPARED 'p:client_id';\n\\else\nROLLBACK PREPARED 'p:client_id';\n\\endif",
	'again@5' => "WITH gone AS (DELETE FROM accounts WHERE id = ANY (SELECT :c + 10000 * generate_series(0, 9)) RETURNING *)
		INSERT INTO accounts SELECT id % 10000 + 10000 * :x, g, balance, pad FROM gone;",
	'index@5' => 'UPDATE accounts SET g = :x WHERE id = :a;',
	'hot@10' => "UPDATE accounts SET pad = repeat('y', :x) WHERE id = 17 * :x;",
	'share@3' => "BEGIN; SELECT FROM accounts WHERE id = :a FOR KEY SHARE; UPDATE accounts SET pad = 'shared' WHERE id = :b; SELECT FROM accounts WHERE id = :c FOR SHARE; COMMIT;",
	'vacuum@1' => 'VACUUM (SKIP_LOCKED, TRUNCATE false) accounts;',
	'freeze@1' => 'VACUUM (SKIP_LOCKED, FREEZE, TRUNCATE false) accounts;');
my $scripts = PostgreSQL::Test::Utils::tempdir;
foreach my $name (keys %scripts)
{
	my $statements = $scripts{$name} =~ s/; /;\n/gr;
	append_to_file("$scripts/" . ($name =~ s/@.*//r), "$picks$statements\n");
}

sub start_writers
{
	my ($seconds) = @_;

	open(my $writers, '-|', 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-c', 5, '-T', $seconds, (map { ('-f',
		"$scripts/$_") } sort keys %scripts), 'postgres') or die "pgbench: $!";
	return $writers;
}

my @on_gpu = map {"SELECT $_"} 'g, count(*), sum(balance), array_agg(id ORDER BY id) FROM accounts GROUP BY g',
  'g, percentile_disc(0.5) WITHIN GROUP (ORDER BY balance), min(id), count(DISTINCT id) FROM accounts WHERE balance <> 1000 AND id > 100 GROUP BY g';
my @of_accounts = (@on_gpu, map {"SELECT $_"} 'g, count(*), sum(balance), array_agg(id) FROM accounts GROUP BY g',
	'g, array_agg(pad) FROM accounts WHERE balance <> 1000 AND id > 100 GROUP BY g',
	'pad, count(balance) FROM accounts WHERE g IN (1, 3) OR length(pad) < 9 GROUP BY pad');
my %on_gpu = map { $_ => 1 } $ENV{MGPU_TEST_DEVICE} ? @on_gpu : ();
my $total = 'SELECT sum(balance), count(id) FROM accounts';

# Sessions read as long as the writers write.  One of them keeps its snapshot, in every other part of the time alone: then
# nothing is pruned, nor vacuumed.
sub read_beside
{
	my ($where, $seconds, $reader, $old, $counter) = @_;
	my (@wrong, %totals);
	my ($times, $rounds) = (0, 0);
	my $until = time() + $seconds;

	while (time() < $until)
	{
		$old->run('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SET LOCAL mgpu.enable_group = force');
		my $at_first = sorted($old->query($of_accounts[0]));
		foreach my $i (1 .. 12)
		{
			my $query = $of_accounts[ $times % @of_accounts ];
			push @wrong, differs($reader, $query, on_gpu => $on_gpu{$query});
			push @wrong, differs($old, $query, inside => 1, on_gpu => $on_gpu{$query}) if $i % 2 == 0 && $i <= 6;
			$totals{ $counter->query($total) }++;
			$times++;
			next if $i != 6;
			push @wrong, 'an old snapshot does not see what it saw'
			  if sorted($old->query("SET LOCAL mgpu.enable_group = force; $of_accounts[0]")) ne $at_first;
			$old->run('COMMIT');
		}
		$rounds++;
	}
	@wrong = grep { $_ ne '' } @wrong;
	is(join("\n", @wrong[ 0 .. ($#wrong > 2 ? 2 : $#wrong) ]), '', "$where: $times times the same as core, $rounds old snapshots too");
	is_deeply([ keys %totals ], ['5000000|5000'], "$where: no money is lost");
	return;
}

my $counter = MgpuTest->session($node,
	options => '-c mgpu.enable_group=force -c max_parallel_workers_per_gather=2 -c parallel_setup_cost=0 -c parallel_tuple_cost=0'
	  . ' -c min_parallel_table_scan_size=0');
my $seconds = $ENV{MGPU_CHANGES_SECONDS} // sized(tiered(3, 5), 120);
my $writers = start_writers($seconds);
read_beside('writers', $seconds - 1, $one, $old, $counter);
my $said = join('', <$writers>);
ok(close($writers), 'writers: no error') or diag($said);
like($said, qr/number of transactions actually processed: [1-9]\d\d/, 'writers: ' . ($said =~ /(actually processed: \d+)/)[0]);
$counter->close;

# ------------------------------------------------------------- synchronized scans

$_->run('SET synchronize_seqscans = on') foreach $one, $two;
$one->run('CREATE TABLE large AS SELECT i % 7 AS g, i AS v FROM generate_series(1, 120000) i', 'VACUUM ANALYZE large');
my $first_row = 'SET mgpu.enable_group = force; SELECT (array_agg(v))[1] FROM large WHERE v > 0 GROUP BY v < 0';
is(join(' ', map { $one->query($first_row) } 1 .. 3), '1 1 1', 'each scan starts where the last one did');
my $many = 'SELECT p, q.* FROM generate_series(1, ' . sized(30,
	200) . ') p, LATERAL (SELECT g, count(*), sum(v) FROM large WHERE v <> p GROUP BY g) q';
my $right = sorted($two->query("SET mgpu.enable_group = off; $many"));
foreach my $mode ('force', 'off')
{
	$two->send_query("SET mgpu.enable_group = $mode; $many");
	is(sorted($one->query("SET mgpu.enable_group = force; $many")), $right, "beside a scan with enable_group = $mode");
	is(sorted($two->answer), $right, 'and the other one');
}
$one->run('SET mgpu.enable_group = on', 'SET synchronize_seqscans = off');

# -------------------------------------------------------------------- on a standby

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('heap_reader_standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = -1\n");
$standby->start;
$two->run('VACUUM (TRUNCATE false) t');
$node->wait_for_catchup($standby);
my ($reader, $old_there) = map { MgpuTest->session($standby, options => $settings) } 1 .. 2;
check_same($reader, 'on a standby', [ @queries, @of_accounts ]);
my ($pages, $checked) = $reader->query("SET mgpu.enable_group = force; EXPLAIN (ANALYZE) $queries[2]") =~ /Pages Read: (\d+)\s+Pages Not All-Visible: (\d+)/;
is($checked, $pages, "rows of all $pages pages are checked there");
is(($one->query("SET mgpu.enable_group = force; EXPLAIN (ANALYZE) $queries[2]") =~ /Pages Not All-Visible: (\d+)/)[0], 0, 'which are all-visible');
$counter = MgpuTest->session($standby, options => '-c mgpu.enable_group=force');
$writers = start_writers(int($seconds / 2) + 1);
read_beside('on a standby', $seconds / 2, $reader, $old_there, $counter);
$said = join('', <$writers>);
ok(close($writers), 'writers: no error') or diag($said);
$_->close foreach $reader, $old_there, $counter;
$standby->stop;

# -------------------------------------------------------- what is left behind, damage

foreach my $table ('t', 'accounts', 'large')
{
	is($two->query("SELECT * FROM verify_heapam('$table')"), '', "$table: amcheck finds nothing");
	is($two->query("SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = '$table'::regclass") =~ s/\n//gr, '',
		"$table: indexes have all rows");
	is($two->query("SELECT pg_check_visible('$table'), pg_check_frozen('$table')"), '', "$table: the visibility map is right");
}
$two->run('CREATE TABLE crowded WITH (autovacuum_enabled = off) AS SELECT i FROM generate_series(1, 3000) i');
my ($path, $crowded) = map { $node->data_dir . '/' . $two->query("SELECT pg_relation_filepath('$_')") } 'large', 'crowded';
$_->close foreach $one, $two, $old;
$node->stop;

sub write_at
{
	my ($path, $at, $bytes) = @_;
	open(my $file, '+<:raw', $path) or die "$path: $!";
	seek($file, $at, 0);
	print $file $bytes;
	close($file);
}
write_at($path, 40 * 8192 + 5000, 'damaged');
# its line pointers end at byte 4000, in place of 928, and rows begin there
write_at($crowded, 5 * 8192 + 12, pack('SS', 4000, 4000));
$node->start;
$one = MgpuTest->session($node, options => $settings);
check_same($one, 'a damaged page', [ map {"SELECT g, $_ FROM large WHERE v > 5 GROUP BY g"} 'count(*)', 'array_agg(v)' ]);
$one->query('SET mgpu.enable_group = force; SELECT sum(v) FROM large');
is($one->{state}, 'XX001', 'an error says so');
like($one->{error}, qr/invalid page in block 40 of relation/, 'and names it');
check_same($one, 'the session goes on', \@queries);
$one->run('SET zero_damaged_pages = on', 'SET mgpu.enable_group = off', 'SELECT count(*) FROM large');
# the page that is zeros stays in its buffer, for which both ways have to be told nothing any more
check_same($one, 'zero_damaged_pages', 'SELECT g, count(*) FROM large GROUP BY g') unless $ENV{MGPU_TEST_FEW_BUFFERS};
$one->run('SET zero_damaged_pages = off', 'SET ignore_checksum_failure = on', 'SET mgpu.enable_group = force');
$one->query('SELECT sum(i) FROM crowded');
is($one->{state}, 'XX001', 'a page with more line pointers than it can have');
like($one->{error}, qr/page 5 of table "crowded" is damaged/, 'is named');
$one->close;
$node->stop;
unlike(slurp_file($_->logfile), qr/refcount leak|was not closed|PANIC|TRAP/, 'no pin is left behind') foreach $node, $standby;
done_testing();
