# Indexes built by the extension have the bytes of PostgreSQL's own: random definitions over random tables, each statement that
# builds indexes, rows that old snapshots see, unique violations.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuIndex;
use MgpuTest;
use Test::More;

my $seed = $ENV{MGPU_INDEX_SEED} // time();
my $trials = $ENV{MGPU_INDEX_TRIALS} // sized(tiered(25, 60), 200);
note("MGPU_INDEX_SEED=$seed");
srand($seed);

my $node = index_node('index_build');

# The C library's English, if it is here.
my $english = $node->safe_psql('postgres', "SELECT coalesce((SELECT min(collname) FROM pg_collation WHERE collname ~* '^en_us.utf-?8\$'), 'C')");
note("collation $english");

# ---------------------------------------------------------------- random tables

# value of column, from r, a random number below 1, and i, the row's number
my %columns = (
	i2 => [ 'int2', '(r * 200 - 100)::int2' ], i4 => [ 'int4', '(r * 4e9 - 2e9)::int4' ], i8 => [ 'int8', '(r * 1e18 - 5e17)::int8' ],
	f4 => [ 'float4', "CASE WHEN r < 0.01 THEN '-0' WHEN r < 0.02 THEN '0' WHEN r < 0.03 THEN 'NaN' ELSE (r * 10 - 5)::text END::float4" ],
	f8 => [ 'float8', 'r * 1e6 - 5e5' ], d => [ 'date', "'2000-01-01'::date + (r * 5000)::int" ],
	ts => [ 'timestamp', "'2000-01-01'::timestamp + r * 1e8 * '1 s'::interval" ],
	tz => [ 'timestamptz', "'2000-01-01'::timestamptz + i * '1 s'::interval" ], ti => [ 'time', "'00:00'::time + r * '1 day'::interval" ],
	o => [ 'oid', '(r * 4e9)::int8::oid' ], b => [ 'bool', 'r < 0.5' ], c => [ '"char"', "chr((33 + r * 90)::int)::\"char\"" ],
	m => [ 'money', '(r * 1e6)::int8::money' ], u => [ 'uuid', 'md5(r::text)::uuid' ],
	t => [ 'text', 'substr(md5(r::text), 1, (r * 40)::int)' ], v => [ 'varchar(100)', "'https://example.org/' || (r * 1e4)::int" ],
	p => [ 'text', "repeat('x', 30 + (r * 50)::int) || (r * 1e3)::int" ], l => [ 'text', "repeat(md5(r::text), 1 + (r * 70)::int)" ],
	n => [ 'numeric', "CASE WHEN r < 0.1 THEN (r * 100)::int WHEN r < 0.12 THEN 'NaN' WHEN r < 0.14 THEN '-Infinity' ELSE (r * 1e6 - 5e5)::numeric(20, 3) END" ], e => [ 'text', "''" ],
	en => [ 'text', "(ARRAY['a', 'A', 'á', '1.1', '11', ' ', '-', 'b', 'ss', 'ß'])[1 + (r * 9)::int] || (ARRAY['a', 'A', 'á', '1.1', '11', ' ', '-', 'b'])[1 + (r * 1e4)::int % 8] || (r * 50)::int" ]);
my @names = sort keys %columns;

sub make_table
{
	my $rows = pick(0, 1, 2, 100, 1000, 3000);
	my $distinct = pick(1, 3, 50, 1e9);
	my $nulls = pick(0, 0, 0.1, 0.7);
	my $values = join(', ', map { my $name = $_;
		"CASE WHEN random() < $nulls THEN NULL ELSE (SELECT ($columns{$name}[1])::$columns{$name}[0] FROM (SELECT floor(random() * $distinct + i * 0) / $distinct AS r) w) END"
	} @names);
	my $seed = rand();

	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t; CREATE TABLE t (id int, ' . join(', ', map { "$_ $columns{$_}[0] " .
			($columns{$_}[0] !~ /text|varchar/ ? '' : $_ eq 'en' ? "COLLATE \"$english\"" : 'COLLATE "C"') } @names) . ', k int) WITH (fillfactor = ' . pick(40, 100) . ');'
		. "SELECT setseed($seed); INSERT INTO t SELECT i, $values, i FROM generate_series(1, $rows) i;");
	# values that the rows before do not have: they are NULL, or missing
	$node->safe_psql('postgres', "ALTER TABLE t ADD late int DEFAULT 7; INSERT INTO t (id, late, i4) SELECT $rows + i, i % 3, i FROM generate_series(1, 20) i")
	  if pick(0, 1);
	foreach my $change ('DELETE FROM t WHERE id % 7 = 1', 'UPDATE t SET k = k + 1 WHERE id % 5 = 1', 'UPDATE t SET i4 = i4 / 2 WHERE id % 11 = 1',
		'BEGIN; INSERT INTO t SELECT * FROM t; ROLLBACK', 'BEGIN; UPDATE t SET k = 0 WHERE id % 3 = 1; ROLLBACK', 'VACUUM t')
	{
		$node->safe_psql('postgres', $change) if pick(0, 1);
	}
}

sub make_definition
{
	my @pool = (@names, '(i4 / 2 + 1)', '(lower(t) COLLATE "C")', 'id');
	my @keys = map { pick(@pool) . pick('', '', ' DESC') . pick('', '', ' NULLS FIRST', ' NULLS LAST') } 1 .. pick(1, 1, 1, 2, 2, 3, 4);
	my $unique = rand() < 0.15;
	my @included = map { pick(@names) } 1 .. pick(0, 0, 0, 0, 1, 2);

	push @keys, 'id' if $unique && pick(0, 1, 1);
	return (pick('', '', ' NULLS NOT DISTINCT'), $unique, ' INDEX %s ON t (' . join(', ', @keys) . ')'
		. (@included ? ' INCLUDE (' . join(', ', @included) . ')' : ''),
		' WITH (fillfactor = ' . pick(10, 50, 90, 100) . ', deduplicate_items = ' . pick('on', 'on', 'off') . ')'
		. (rand() < 0.15 ? ' WHERE id % 3 = 0 OR i8 IS NULL' : ''));
}

my ($same, $ours, $failed_alike) = (0, 0, 0);
foreach my $trial (1 .. $trials)
{
	make_table() if $trial % 3 == 1;
	# rows that only this snapshot sees are recently dead
	my $old = rand() < 0.3 ? $node->background_psql('postgres') : undef;
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t') if $old;
	$node->safe_psql('postgres', 'DELETE FROM t WHERE id % 13 = 2; UPDATE t SET k = k + 1 WHERE id % 17 = 2; UPDATE t SET i8 = 1 WHERE id % 19 = 3') if $old;
	my ($nulls, $unique, $head, $tail) = make_definition();
	my $create = 'CREATE' . ($unique ? ' UNIQUE' : '') . $head . ($unique ? $nulls : '') . $tail;
	my $memory = 'SET maintenance_work_mem = ' . pick("'1MB'", "'64MB'") . '; SET max_parallel_maintenance_workers = ' . pick(0, 1, 3) . '; ';
	my ($errors, $built) = run_sql('off', $memory . sprintf($create, 'a'));
	my $fault = rand() < 0.1 ? 'SET mgpu.inject_fault = collation; ' : '';
	my ($our_errors, $our_built, $said) = run_sql('force', $fault . $memory . sprintf($create, $errors ? 'a' : 'b'));

	$old->quit if $old;
	if ($errors)
	{
		# which of several duplicates is named depends on the order of comparisons
		$failed_alike++ if ($errors =~ /^(.*)/)[0] eq ($our_errors =~ /^(.*)/)[0];
		is(($our_errors =~ /^(.*)/)[0], ($errors =~ /^(.*)/)[0], "$create fails alike");
		next;
	}
	my $why = $our_errors || difference('b', 'a') || check_index('b');
	is($why, '', $create) or diag($said);
	$same++ if $why eq '';
	$ours += $our_built;
	is($our_built, 1, 'and is ours') or diag($said);
	$node->safe_psql('postgres', 'DROP INDEX a, b');
}
note("$same indexes are the same, $ours are ours, $failed_alike builds fail alike");
$node->safe_psql('postgres', 'DROP TABLE t');

# ------------------------------------------------------------------ many rows

# More than a batch of pages, a part of a sort, a batch of leaves; texts that begin alike and runs of them that are long; numbers of
# which a few are equal, or from one to a tenth of all.
my $large = sized(20_000, 500_000);
$node->safe_psql('postgres', "CREATE TABLE large AS SELECT i AS id, (random() * 2e9)::int AS i4, i % 1000 AS few, (random() * $large)::int AS pairs, (random() ^ 5 * $large)::int AS crowds, NULLIF(random(), 0) AS f8, md5(i::text)::uuid AS u,
	('https://example.org/' || (random() * $large)::int / 2) COLLATE \"C\" AS v, (chr(97 + i % 3) || repeat('x', 8) || i % 7) COLLATE \"C\" AS s,
	(CASE WHEN i % 2 = 0 THEN upper(md5((i / 4)::text)) ELSE md5((i / 4)::text) END) COLLATE \"$english\" AS en FROM generate_series(1, $large) i;
	DELETE FROM large WHERE id % 1009 = 5");
foreach my $keys ('i4', 'id', 'few', 'pairs', 'crowds DESC', 'few, pairs', 'f8 DESC', 'few, i4', 'u', 'v', 's', 's, i4', 'en', 'en DESC, id', 'i4) INCLUDE (u')
{
	foreach my $memory ('1GB', sized('1MB', '12MB'))
	{
		my $settings = "SET maintenance_work_mem = '$memory'; SET max_parallel_maintenance_workers = 3; ";
		my ($errors) = run_sql('off', $settings . "CREATE INDEX large_a ON large ($keys)");
		my ($our_errors, $our_built) = run_sql('force', $settings . "CREATE INDEX large_b ON large ($keys)");
		is("$errors$our_errors$our_built" . difference('large_b', 'large_a'), '1', "($keys) of many rows, $memory");
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS large_a, large_b');
	}
}
$node->safe_psql('postgres', 'DROP TABLE large');

# ------------------------------------------------------------------- statements

# each with tables and indexes of both names; %s stands for it
my @statements = (
	[ 'primary key', 'CREATE TABLE %1$s AS ' . $ROWS . '; ALTER TABLE %1$s ADD CONSTRAINT %1$s_x PRIMARY KEY (id)', 1 ],
	[ 'unique constraint', 'CREATE TABLE %1$s AS ' . $ROWS . '; ALTER TABLE %1$s ADD CONSTRAINT %1$s_x UNIQUE (t, id)', 1 ],
	[ 'concurrently', 'CREATE TABLE %1$s AS ' . $ROWS . '~CREATE INDEX CONCURRENTLY %1$s_x ON %1$s (v)', 1 ],
	[ 'reindex', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v); DELETE FROM %1$s WHERE id % 2 = 0~REINDEX INDEX %1$s_x', 2 ],
	[ 'reindex concurrently', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (t)~REINDEX INDEX CONCURRENTLY %1$s_x', 2 ],
	[ 'vacuum full', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v DESC); DELETE FROM %1$s WHERE id < 100~SET max_parallel_maintenance_workers = 2; VACUUM FULL %1$s', 2 ],
	[ 'cluster', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v)~CLUSTER %1$s USING %1$s_x', 2 ],
	[ 'alter type', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v)~ALTER TABLE %1$s ALTER v TYPE int8', 2 ],
	[ 'set unlogged', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v)~ALTER TABLE %1$s SET UNLOGGED', 2 ],
	[ 'set logged', 'CREATE UNLOGGED TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (t)~ALTER TABLE %1$s SET LOGGED', 2 ],
	[ 'add column', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v)~ALTER TABLE %1$s ADD w int DEFAULT random()::int', 2 ],
	[ 'deferrable', 'CREATE TABLE %1$s AS ' . $ROWS . '; ALTER TABLE %1$s ADD CONSTRAINT %1$s_x UNIQUE (id) DEFERRABLE INITIALLY DEFERRED', 1 ],
	[ 'reindex table concurrently', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE UNIQUE INDEX %1$s_x ON %1$s (id) INCLUDE (v)~REINDEX TABLE CONCURRENTLY %1$s', 2 ],
	[ 'unlogged', 'CREATE UNLOGGED TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (t)', 1 ],
	[ 'refresh', 'CREATE MATERIALIZED VIEW %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v); REFRESH MATERIALIZED VIEW %1$s', 2 ],
	[ 'own rows', 'BEGIN; CREATE TABLE %1$s AS ' . $ROWS . '; UPDATE %1$s SET v = v + 1 WHERE id % 10 = 0; CREATE INDEX %1$s_x ON %1$s (v); COMMIT', 1 ],
	[ 'partitions', 'CREATE TABLE %1$s_all (id int, v int) PARTITION BY RANGE (id); CREATE TABLE %1$s PARTITION OF %1$s_all FOR VALUES FROM (0) TO (5000); '
		. 'CREATE TABLE %1$s_2 PARTITION OF %1$s_all FOR VALUES FROM (5000) TO (9000); INSERT INTO %1$s_all SELECT i, i % 50 FROM generate_series(1, 8000) i; '
		. 'CREATE INDEX ON %1$s_all (v); ALTER INDEX %1$s_v_idx RENAME TO %1$s_x', 2 ],
	[ 'attached', 'CREATE TABLE %1$s_all (id int, v int, t text COLLATE "C") PARTITION BY RANGE (id); CREATE INDEX ON %1$s_all (v); CREATE TABLE %1$s AS ' . $ROWS
		. '; ALTER TABLE %1$s_all ATTACH PARTITION %1$s FOR VALUES FROM (0) TO (5000); ALTER INDEX %1$s_v_idx RENAME TO %1$s_x', 1 ]);
push @statements,
	[ 'repack', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v DESC); DELETE FROM %1$s WHERE id < 100~REPACK %1$s', 2 ],
	[ 'repack by the index', 'CREATE TABLE %1$s AS ' . $ROWS . '; CREATE INDEX %1$s_x ON %1$s (v)~REPACK %1$s USING INDEX %1$s_x', 2 ],
	[ 'repack concurrently', 'CREATE TABLE %1$s AS ' . $ROWS . '; ALTER TABLE %1$s ADD CONSTRAINT %1$s_x PRIMARY KEY (id)~REPACK (CONCURRENTLY) %1$s', 2 ]
  if $node->safe_psql('postgres', 'SHOW server_version_num') >= 190000;

foreach my $statement (@statements)
{
	my ($name, $sql, $expected) = @$statement;
	my %built;

	foreach my $setting ('off', 'force')
	{
		foreach my $part (split /~/, $sql)
		{
			my ($errors, $built, $said) = run_sql($setting, sprintf($part =~ s/%(?!1\$s)/%%/gr, "t_$setting"));
			is($errors, '', "$name, $setting") or diag($said);
			$built{$setting} += $built;
		}
	}
	is(difference('t_force_x', 't_off_x') || check_index('t_force_x'), '', "$name: the same index");
	is("$built{off} $built{force}", "0 $expected", "$name: it is ours");
	$node->safe_psql('postgres', $name eq 'refresh' ? "DROP MATERIALIZED VIEW t_$_" : $name =~ /^(partitions|attached)$/ ? "DROP TABLE t_${_}_all" : "DROP TABLE t_$_")
	  for 'off', 'force';
}

my ($errors, $built, $said) = run_sql('force', "CREATE TEMP TABLE t AS $ROWS; CREATE INDEX x ON t (v); SELECT bt_index_parent_check('x', true, true)");
is("$errors$built", '1', 'an index of a temporary table');
($errors, $built, $said) = run_sql('force', "SET max_parallel_maintenance_workers = 2; CREATE TEMP TABLE t (v int) ON COMMIT DELETE ROWS; CREATE INDEX x ON t (v);
	INSERT INTO t SELECT generate_series(1, 2000); BEGIN; INSERT INTO t SELECT generate_series(1, 2000); REINDEX INDEX x; SELECT bt_index_parent_check('x', true, true); COMMIT;
	BEGIN; INSERT INTO t VALUES (1); SELECT bt_index_parent_check('x', true, true); COMMIT");
is($errors, '', 'an index of a temporary table that commits empty');
($errors, $built, $said) = run_sql('force', "CREATE TABLE wide AS SELECT i, string_agg(md5((i * j)::text), '') AS w FROM generate_series(1, 50) i, generate_series(1, 200) j GROUP BY i;
	ALTER TABLE wide ALTER w SET STORAGE EXTERNAL; UPDATE wide SET w = w || 'x'; CREATE INDEX ON wide (i); CLUSTER wide USING wide_i_idx");
like($said, qr/mgpu_pg builds index "pg_toast/, 'the index of a TOAST table');
is(check_index('pg_toast.' . $node->safe_psql('postgres', "SELECT 'pg_toast_' || 'wide'::regclass::oid || '_index'")), '', 'and it is right');
is($node->safe_psql('postgres', 'SHOW max_parallel_maintenance_workers'), 0, 'the number of workers is as before');

# since 17 other indexes have workers, too
($errors, $built, $said) = run_sql('force', "SET min_parallel_table_scan_size = 0; CREATE TABLE kinds AS $ROWS; CREATE INDEX ON kinds (v); CREATE INDEX ON kinds USING brin (v); CREATE INDEX ON kinds USING gin ((ARRAY[v])); REINDEX TABLE kinds");
is("$errors$built", '2', 'a btree among other indexes');
is(scalar(() = $said =~ /building index "kinds_\w+" on table "kinds" serially/g), 6, 'none has a worker');

# ------------------------------------------------------------ unique violations

$node->safe_psql('postgres', q{CREATE TABLE twice (i int, f float8, t text COLLATE "C", n int, u uuid);
	INSERT INTO twice SELECT i, i, md5(i::text), NULLIF(i, 55), md5(i::text)::uuid FROM generate_series(1, 3000) i;
	INSERT INTO twice SELECT * FROM twice WHERE i IN (1234)});
foreach my $keys ('i', 'f', 't', 'u', 'i, t', 't DESC, n', '(i + 1)', 'i) INCLUDE (f')
{
	my $create = "CREATE UNIQUE INDEX twice_x ON twice ($keys)";
	my ($theirs) = run_sql('off', $create);
	my ($ours) = run_sql('force', $create);
	like($theirs, qr/is duplicated/, "($keys) is not unique");
	is($ours, $theirs, 'and we say the same');
}
$node->safe_psql('postgres', 'DELETE FROM twice WHERE i = 1234; INSERT INTO twice (i) VALUES (-1), (-2)');
foreach my $nulls ('', 'NULLS NOT DISTINCT')
{
	my ($theirs) = run_sql('off', "CREATE UNIQUE INDEX twice_a ON twice (n, f) $nulls");
	my ($ours, $built, $said) = run_sql('force', 'CREATE UNIQUE INDEX twice_' . ($theirs ? 'a' : 'b') . " ON twice (n, f) $nulls");
	is($ours, $theirs, "NULLs of a unique index, '$nulls'");
	is(difference('twice_b', 'twice_a'), '', 'the same index') if !$theirs;
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS twice_a, twice_b');
}

$node->stop;
done_testing();
