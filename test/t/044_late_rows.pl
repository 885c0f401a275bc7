# Columns that a job leaves out, and that are fetched by TID once it is known which rows are wanted.  The answers are PostgreSQL's, for values of any
# type and length, of pages of all kinds, partitions and joins, and for rows that others change meanwhile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('late_rows', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $other = MgpuTest->session($node);
my $rows = sized(20_000, 400_000);

sub run { return $session->run(@_); }

# A job finds the rows, and so many columns are fetched; by threads and by a GPU.
sub check_late
{
	my ($name, $columns, @queries) = @_;
	my %option = ref $queries[-1] ? %{ pop @queries } : ();

	check_plans($session, $name, sub {
		my ($plan) = @_;

		return $plan =~ /Executor: (?:cpu|gpu)\n.*Columns Fetched Late: $columns$/ms || $option{any_if_large} && $MgpuTest::LARGE;
	}, @queries);
	return;
}

run('CREATE TABLE t (id int PRIMARY KEY, gone int, g int, v int8, f float8, at timestamptz, j jsonb, a int[], long text, n numeric, c char(7), u uuid, p point, name name)',
	"INSERT INTO t SELECT i, i, i % 97, (i * 7919::int8) % 1000003, i / 8.0, timestamptz '2026-01-01' + i * interval '1 minute', jsonb_build_object('i', i, 'x', repeat('y', i % 90)),
		CASE WHEN i % 5 > 0 THEN ARRAY[i, NULL, -i] END, CASE WHEN i % 3000 = 7 THEN repeat(md5(i::text), 400) WHEN i % 4 > 0 THEN repeat('word ' || i, i % 30) END, CASE WHEN i % 6 > 0 THEN i / 7.0 END,
		'c' || i % 11, md5(i::text)::uuid, point(i, -i), 'name ' || i FROM generate_series(1, $rows) i",
	'ALTER TABLE t DROP gone', 'VACUUM ANALYZE t');

my @queries = (
	'SELECT * FROM t ORDER BY v LIMIT 20', 'SELECT * FROM t ORDER BY v DESC, id LIMIT 20 OFFSET 5', 'SELECT DISTINCT ON (g) * FROM t ORDER BY g, v DESC',
	'SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY v) AS r FROM t) q WHERE r <= 2', 'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY f) AS r FROM t) q WHERE r = 1',
	"SELECT * FROM t WHERE g = 5 AND v % 2 = 0 ORDER BY at DESC LIMIT 10", "SELECT id, j, long FROM t WHERE c LIKE '%1%' ORDER BY f DESC LIMIT 30");
check_late('first rows', qr/\d+/, @queries);
check_late('rows in order, of which few are left', qr/\d+/, "SELECT id, v, j, long FROM t WHERE g = 3 AND id < $rows / 9 ORDER BY v", "SELECT a, u, c FROM t WHERE v < 4000 ORDER BY f, v", { any_if_large => 1 });
check_late('numbers too', 3, 'SELECT id, g, f FROM t ORDER BY v LIMIT 3');

# ---- pages that are not all-visible: rows that are gone lie between those that are sent, and others were added later
run("UPDATE t SET n = n + 1, long = long || '!' WHERE id % 7 = 0", 'DELETE FROM t WHERE id % 11 = 3', "ALTER TABLE t ADD late text DEFAULT 'the default of an older row', ADD empty int");
check_late('changed rows, added columns', qr/\d+/, @queries, "SELECT late, empty, id FROM t ORDER BY v LIMIT 9");
run('BEGIN', 'UPDATE t SET j = \'{}\' WHERE id % 3 = 0', 'DELETE FROM t WHERE id % 13 = 1');
check_late('changes of its own', qr/\d+/, @queries);
run('ROLLBACK');
check_late('changes that were taken back', qr/\d+/, @queries);

# ---- rows that others change while a cursor has them
foreach my $nodes ('off', 'force')
{
	$session->favour($nodes);
	run('BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM t');
	$other->run('UPDATE t SET j = \'{"other": 1}\', v = v WHERE id % 2 = 0', 'DELETE FROM t WHERE id % 5 = 1', 'VACUUM t');
	push @{ $session->{seen_before} }, $session->query($queries[1]) . $session->query($queries[2]);
	run('ROLLBACK');
	# so that both see the same
	$other->run("UPDATE t SET j = jsonb_build_object('i', id)", "INSERT INTO t (id, g, v) SELECT i, i % 97, i FROM generate_series(1, $rows) i WHERE i % 5 = 1 ON CONFLICT DO NOTHING") if $nodes eq 'off';
}
like($session->{seen_before}[1], qr/\{/, 'an old snapshot finds rows that were changed since');
unlike($session->{seen_before}[1], qr/other/, '... as they were');
$other->run('VACUUM ANALYZE t');
run("SET mgpu.executor = cpu");
$session->favour('force');
run('BEGIN', "DECLARE c CURSOR FOR $queries[2]");
my $first = $session->query('FETCH 10 FROM c');
$other->run('UPDATE t SET j = \'{"later": 1}\'');
my $rest = $session->query('FETCH ALL FROM c');
run('ROLLBACK');
unlike($first . $rest, qr/later/, 'a cursor has the rows of its snapshot');
is(scalar(split /\n/, "$first\n$rest"), 97, '... all of them');
$other->run('VACUUM ANALYZE t');
run('RESET mgpu.executor');

# ---- partitions, whose columns lie otherwise; inheritance; joins
run('CREATE TABLE parts (id int, g int, v int8, j jsonb, long text) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 (long text, x int, j jsonb, id int, v int8, g int)', 'ALTER TABLE part_1 DROP x',
	"ALTER TABLE parts ATTACH PARTITION part_1 FOR VALUES FROM (0) TO ($rows / 2)", "CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM ($rows / 2) TO ($rows + 1)",
	'INSERT INTO parts SELECT id, g, v, j, long FROM t', 'CREATE TABLE more () INHERITS (t)', "INSERT INTO more SELECT * FROM t WHERE id % 3 = 0", 'CREATE TABLE groups AS SELECT i AS g, \'group \' || i AS label FROM generate_series(0, 90) i',
	'VACUUM ANALYZE');
check_late('partitions', qr/\d+/, 'SELECT * FROM part_2 ORDER BY v LIMIT 20') ;
run('CREATE TABLE alike (LIKE parts) PARTITION BY RANGE (id)', "CREATE TABLE alike_1 PARTITION OF alike FOR VALUES FROM (0) TO ($rows / 2)", "CREATE TABLE alike_2 PARTITION OF alike FOR VALUES FROM ($rows / 2) TO ($rows + 1)",
	'INSERT INTO alike SELECT * FROM parts', 'VACUUM ANALYZE alike');
check_late('partitions that are alike', qr/\d+/, 'SELECT * FROM alike ORDER BY v, id LIMIT 20', 'SELECT DISTINCT ON (g) g, j, long FROM alike ORDER BY g, v DESC, id');
foreach my $query ('SELECT * FROM parts ORDER BY v, id LIMIT 20', 'SELECT DISTINCT ON (g) g, j, long FROM parts ORDER BY g, v DESC, id', 'SELECT * FROM t ORDER BY v, id, f LIMIT 20')
{
	is($session->answer_by('force', $query), $session->answer_by('off', $query), "PostgreSQL's answer: $query");
}
check_late('joined rows', qr/\d+/, 'SELECT t.id, t.j, t.long, groups.label FROM ONLY t JOIN groups ON groups.g = t.g ORDER BY t.v LIMIT 25', 'SELECT t.j, groups.label FROM ONLY t LEFT JOIN groups ON groups.g = t.g ORDER BY t.v DESC LIMIT 25');
check_plans($session, 'rows that are missing', sub { return 1; }, 'SELECT t.j, t.id, groups.label FROM ONLY t RIGHT JOIN groups ON groups.g = t.g + 60 AND t.id < 500 ORDER BY t.v NULLS FIRST, groups.label, t.id LIMIT 25');

# ---- columns of the smaller side of a join
my $items = sized(400, 30_000);
run('CREATE TABLE items (id int PRIMARY KEY, gone int, g int, j jsonb, a int[], long text, short text, n numeric, at point)',
	"INSERT INTO items SELECT i, i, i % 40, jsonb_build_object('item', i), CASE WHEN i % 5 > 0 THEN ARRAY[i, NULL] END, CASE WHEN i % 300 = 7 THEN repeat(md5(i::text), 400) WHEN i % 4 > 0 THEN repeat('item ' || i || ' ', 20) END,
		'short ' || i % 50, i / 7.0, point(i, 1) FROM generate_series(1, $items) i",
	'ALTER TABLE items DROP gone', 'CREATE TABLE item_parts (id int, g int, j jsonb, long text) PARTITION BY RANGE (id)', 'CREATE TABLE item_part_1 (long text, x int, j jsonb, id int, g int)', 'ALTER TABLE item_part_1 DROP x',
	"ALTER TABLE item_parts ATTACH PARTITION item_part_1 FOR VALUES FROM (0) TO ($items / 2)", "CREATE TABLE item_part_2 PARTITION OF item_parts FOR VALUES FROM ($items / 2) TO (1000000)",
	'INSERT INTO item_parts SELECT id, g, j, long FROM items', 'VACUUM ANALYZE items, item_parts');
run('SET enable_mergejoin = off', 'SET enable_nestloop = off');
my $few = 'ONLY t JOIN items i ON i.id = t.v % ' . ($items + 9) . ' WHERE t.g = 3';
my @joined = ("SELECT t.id, i.j, i.long, i.a FROM $few ORDER BY t.f", "SELECT t.id, i.* FROM $few ORDER BY t.v, t.id", "SELECT t.id, t.j, i.j, i.short, i.long FROM $few AND i.g < 30 ORDER BY t.v DESC, t.id LIMIT 15",
	"SELECT t.id, i.j, i.at, i.n FROM ONLY t LEFT JOIN items i ON i.id = t.v % $items AND i.g < 20 WHERE t.g = 4 ORDER BY t.v, t.id", "SELECT DISTINCT ON (t.g) t.g, i.j, i.long FROM ONLY t JOIN items i ON i.id = t.id % $items ORDER BY t.g, t.v DESC, t.id",
	"SELECT t.id, i.long, k.j, k.a FROM ONLY t JOIN items i ON i.id = t.v % $items JOIN items k ON k.id = t.g WHERE t.g BETWEEN 5 AND 6 ORDER BY t.v, t.id",
	"SELECT t.id, i.long, i.j FROM ONLY t JOIN (SELECT * FROM items UNION ALL SELECT * FROM items WHERE id < 50) i ON i.id = t.v % $items WHERE t.g = 7 ORDER BY t.v, t.id");
check_plans($session, 'columns of a build', sub { return $_[0] =~ /Joins: / ? $_[0] =~ /Columns Fetched Late: \d/ : $_[0] =~ /Append/; }, @joined);
check_late('of a build of partitions', 3, "SELECT t.id, t.v, i.j, i.long, i.g FROM ONLY t JOIN item_part_2 i ON i.id = t.v % $items WHERE t.g = 3 ORDER BY t.v, t.id", { any_if_large => 1 });
check_plans($session, 'partitions that lie otherwise', sub { return 1; }, "SELECT t.id, i.j, i.long, i.g FROM ONLY t JOIN item_parts i ON i.id = t.v % $items WHERE t.g = 3 ORDER BY t.v, t.id", "SELECT i.j, t.id FROM item_parts i LEFT JOIN ONLY t ON t.v = i.id AND t.g < 50 WHERE i.g = 3 ORDER BY i.id, t.id");
# rows of a build whose job ends early are read one by one, without TIDs
run("UPDATE items SET n = 'NaN' WHERE id = 5", 'DELETE FROM items WHERE id % 9 = 0', "UPDATE items SET j = '{}' WHERE id % 8 = 1");
check_plans($session, 'changed rows of a build', sub { return 1; }, @joined, "SELECT t.id, i.n, i.long FROM $few ORDER BY t.v, t.id");
run('BEGIN', "UPDATE items SET long = 'changed' WHERE id % 3 = 0");
check_plans($session, 'changes of its own', sub { return 1; }, @joined);
run('ROLLBACK', 'RESET enable_mergejoin', 'RESET enable_nestloop');

# ---- a subquery that is run again, and work_mem that holds little
check_late('run again', qr/\d+/, 'SELECT x, q.* FROM generate_series(1, 3) x, LATERAL (SELECT id, j, long FROM ONLY t WHERE v > x * 1000 ORDER BY v LIMIT 4) q');
run("SET work_mem = '64kB'");
check_plans($session, 'answers in files', sub { return 1; }, @queries);
run('RESET work_mem');

ok(service_is_idle($node), 'nothing is left in the service');
$_->close for $session, $other;
$node->stop;
done_testing();
