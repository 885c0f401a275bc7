# Which rows old snapshots find by an index that the extension has built, and which indexes they must not use: as by PostgreSQL's own
# builds.  Concurrent builds while other sessions write.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuIndex;
use MgpuTest;
use Test::More;

my $node = index_node('index_snapshots', needs_amcheck => 1, conf => [ 'max_parallel_maintenance_workers = 3' ]);
my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET mgpu.enable_columns = off';

# Of a statement's plan, whether it reads an index of table t.
sub uses_index { return $_[0]->query("EXPLAIN (COSTS OFF) $_[1]") =~ /t_x/ ? 'index' : 'table'; }

# ---------------------------------------------------------------- old snapshots

# What happens between a snapshot and the build, the index, a condition, whether the old snapshot may use the index
my @changes = (
	[ 'nothing', 'SELECT 1', 'INDEX t_x ON t (v)', 'v = 5', 'index' ],
	[ 'a HOT update of the key', 'UPDATE t SET v = -v WHERE v = 5', 'INDEX t_x ON t (v)', 'v = 5', 'table' ],
	[ 'a HOT update of the key, seen afterwards', 'UPDATE t SET v = -v WHERE v = 5', 'INDEX t_x ON t (v)', 'v = -5', 'table' ],
	[ 'a HOT update of another column', 'UPDATE t SET w = 1 WHERE v = 5', 'INDEX t_x ON t (v)', 'v = 5', 'table' ],
	[ 'HOT updates of many rows', 'UPDATE t SET v = v + 1 WHERE id % 50 = 0', 'INDEX t_x ON t (t, v) INCLUDE (w)', "t = md5('50')", 'table' ],
	[ 'deleted rows', 'DELETE FROM t WHERE v = 5', 'INDEX t_x ON t (v)', 'v = 5', 'index' ],
	[ 'many deleted rows', 'DELETE FROM t WHERE id % 3 = 1', 'INDEX t_x ON t (id)', 'id < 100', 'index' ],
	[ 'rows that moved', 'UPDATE filled SET v = -v WHERE v = 5', 'INDEX t_x ON filled (v)', 'v = 5', 'index' ],
	[ 'new rows', "INSERT INTO t SELECT i, 5, 0, '' FROM generate_series(1, 500) i", 'INDEX t_x ON t (v)', 'v = 5', 'index' ],
	[ 'duplicates that are deleted', 'INSERT INTO t SELECT * FROM t WHERE id < 10; DELETE FROM t WHERE id < 10', 'UNIQUE INDEX t_x ON t (id)', 'id < 20', 'index' ],
	[ 'a partial index', 'UPDATE t SET v = -v WHERE v = 5', 'INDEX t_x ON t (v) WHERE v > 0', 'v = 5', 'table' ],
	[ 'a deleted row of an expression', 'DELETE FROM t WHERE v = 5', 'INDEX t_x ON t ((v + 1))', 'v + 1 = 6', 'index' ]);

# Answers of sessions, and what the catalog says of the index.
sub look
{
	my ($setting, $change, $create, $condition) = @_;
	my $table = $create =~ / ON (\w+)/ ? $1 : die;

	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t, filled; CREATE TABLE t WITH (fillfactor = 50) AS SELECT i AS id, i * 7919 % 1000 AS v, 0 AS w, md5(i::text) COLLATE "C" AS t
		FROM generate_series(1, 5000) i; CREATE TABLE filled AS TABLE t; VACUUM t, filled');
	my ($old, $between) = map { MgpuTest->session($node) } 1 .. 2;
	$_->run($by_index) for $old, $between;
	$old->run('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM t');
	$node->safe_psql('postgres', $change);
	my ($errors, $built) = run_sql($setting, "CREATE $create");
	my $statement = "SELECT count(*), sum(id), sum(v) FROM $table WHERE $condition";
	my $new = MgpuTest->session($node);
	$new->run($by_index);
	my $wrong = check_index('t_x');
	my %seen = (errors => $errors . $wrong, built => $built,
		checked => $node->safe_psql('postgres', q{SELECT indcheckxmin FROM pg_index WHERE indexrelid = 't_x'::regclass}),
		old => uses_index($old, $statement), old_rows => $old->query($statement), new => uses_index($new, $statement), new_rows => $new->query($statement),
		pages => $node->safe_psql('postgres', q{SELECT relpages || ' ' || reltuples FROM pg_class WHERE relname = 't_x'}));

	# what a scan of the table finds
	$_->run('SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off') for $old, $new;
	$seen{table_rows} = $old->query($statement) . ' ' . $new->query($statement);
	$old->run('COMMIT', 'RESET enable_indexscan', $by_index);
	$seen{later} = uses_index($old, $statement);
	$_->close for $old, $between, $new;
	return \%seen;
}

foreach my $case (@changes)
{
	my ($name, $change, $create, $condition, $expected) = @$case;
	my ($theirs, $ours) = map { look($_, $change, $create, $condition) } 'off', 'force';

	is("$theirs->{built} $ours->{built}", '0 1', "$name: one index is ours");
	is($ours->{$_}, $theirs->{$_}, "$name: $_ as with PostgreSQL's") for 'errors', 'checked', 'old', 'new', 'later', 'pages', 'old_rows', 'new_rows';
	is($ours->{errors}, '', "$name: nothing is wrong");
	is($ours->{old}, $expected, "$name: an old snapshot reads the $expected");
	is("$ours->{old_rows} $ours->{new_rows}", $ours->{table_rows}, "$name: old and new snapshots find their rows");
}
$node->safe_psql('postgres', 'DROP TABLE t, filled');

# ------------------------------------------------------------- concurrent builds

$node->safe_psql('postgres', "CREATE TABLE busy AS $ROWS; CREATE INDEX busy_v ON busy (v); VACUUM busy");
my @writers = map { MgpuTest->session($node) } 1 .. 2;
$writers[$_]->send_query(sprintf(q{DO $$ BEGIN FOR n IN 1 .. 10000000 LOOP
	UPDATE busy SET t = md5(random()::text) WHERE id = (random() * 2000)::int AND id %% 2 = %d;
	UPDATE busy SET v = (random() * 1000)::int WHERE id = (random() * 2000)::int AND id %% 2 = %d;
	IF n %% 3 = 0 THEN DELETE FROM busy WHERE ctid IN (SELECT ctid FROM busy WHERE id > 10000 AND id %% 2 = %d LIMIT 1); INSERT INTO busy VALUES (20000 + n * 2 + %d, n, n); END IF;
	COMMIT; END LOOP; END $$}, $_, $_, $_, $_)) for 0, 1;
foreach my $round (1 .. sized(3, 20))
{
	foreach my $create ('INDEX CONCURRENTLY busy_x ON busy (t)', 'INDEX CONCURRENTLY busy_x ON busy (t, id) WHERE v > 100', 'UNIQUE INDEX CONCURRENTLY busy_x ON busy (id) INCLUDE (t)')
	{
		my ($errors, $built) = run_sql('force', "CREATE $create");
		is("$errors$built" . check_index('busy_x'), '1', "$create, while others write");
		($errors, $built) = run_sql('force', 'REINDEX INDEX CONCURRENTLY busy_x');
		is("$errors$built" . check_index('busy_x'), '1', 'and again');
		($errors) = run_sql('force', 'DROP INDEX busy_x');
	}
}
$node->safe_psql('postgres', "SELECT pg_cancel_backend($_->{pid})") for @writers;
$_->answer for @writers;
is(join(' ', map { $_->{state} } @writers), '57014 57014', 'the others wrote all the time');
$_->close for @writers;

$node->stop;
done_testing();
