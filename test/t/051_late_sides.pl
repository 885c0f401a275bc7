# Columns of tables that are joined below a smaller side, and columns that depend on the keys of groups: fetched by TID in the end.  The answers are PostgreSQL's,
# however sides are nested, for rows that find none, for partitions and for rows that change.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('late_sides', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(20_000, 120_000);
my $orders = sized(4_000, 80_000);
my $customers = sized(700, 60_000);
# as many as a job reads
my $nations = sized(200, 55_000);

sub run { return $session->run(@_); }

# A job fetches columns; by threads and by a GPU.  Large tables may have plans that begin with another one.
sub check_late
{
	my ($name, @queries) = @_;
	my %option = ref $queries[-1] ? %{ pop @queries } : ();

	check_plans($session, $name, sub { return $_[0] =~ /Executor: (?:cpu|gpu)\n.*Columns Fetched Late: \d/ms || $option{any_if_large} && $MgpuTest::LARGE; }, @queries);
	return;
}

run('CREATE TABLE nations (id int PRIMARY KEY, name text, about jsonb)', "INSERT INTO nations SELECT i, 'nation ' || i, jsonb_build_object('n', i, 'x', repeat('z', i % 200)) FROM generate_series(0, $nations - 1) i",
	'CREATE TABLE customers (id int PRIMARY KEY, gone int, nation int, name text, comment text, data jsonb, tags text[], balance numeric)',
	"INSERT INTO customers SELECT i, i, nullif(i % ($nations + 2), 26), 'customer ' || i, CASE WHEN i % 400 = 7 THEN repeat(md5(i::text), 300) ELSE repeat('word ', i % 23) END, jsonb_build_object('c', i), ARRAY['t' || i % 3, NULL], i / 7.0 FROM generate_series(1, $customers) i",
	'ALTER TABLE customers DROP gone', 'CREATE TABLE orders (id int PRIMARY KEY, customer int, placed date, note text)',
	"INSERT INTO orders SELECT i, nullif(i * 7 % ($customers + 9), 5), date '2026-01-01' + i % 300, repeat('note ' || i, i % 19) FROM generate_series(1, $orders) i",
	'CREATE TABLE items (id int, of_order int, price numeric(10,2), kind int)', "INSERT INTO items SELECT i, i * 31 % ($orders + 20), (i % 10007) / 100.0, i % 13 FROM generate_series(1, $rows) i", 'VACUUM ANALYZE');
run('SET enable_mergejoin = off', 'SET enable_nestloop = off', 'SET join_collapse_limit = 1');

# ---- rows: a chain of sides, and sides below sides; some that find none
my $chain = 'items i JOIN (orders o JOIN customers c ON c.id = o.customer) ON o.id = i.of_order';
my $deep = 'items i JOIN (orders o JOIN (customers c JOIN nations n ON n.id = c.nation) ON c.id = o.customer) ON o.id = i.of_order';
my $left = 'items i LEFT JOIN (orders o LEFT JOIN (customers c LEFT JOIN nations n ON n.id = c.nation) ON c.id = o.customer) ON o.id = i.of_order';
check_late('rows of a side of a side', "SELECT i.id, c.data, c.comment FROM $chain WHERE i.kind = 3 AND i.price > 60 ORDER BY i.id", "SELECT i.id, c.* FROM $chain WHERE i.kind = 4 ORDER BY i.price DESC, i.id LIMIT 20",
	"SELECT i.id, o.note, c.tags, o.placed FROM $chain WHERE i.price < 20 AND o.placed < '2026-04-01' ORDER BY i.price, i.id LIMIT 30", { any_if_large => 1 });
check_late('of one below that', "SELECT i.id, n.about, n.name FROM $deep WHERE i.kind = 5 AND i.price > 70 ORDER BY i.id", "SELECT i.id, n.about, c.data, o.note, c.comment, n.name FROM $deep WHERE i.kind < 2 ORDER BY i.price, i.id LIMIT 25");
check_late('of rows that find none', "SELECT i.id, n.about, c.data, o.note FROM $left WHERE i.kind = 6 AND i.price > 80 ORDER BY i.id", "SELECT i.id, c.comment, n.about FROM $left WHERE i.price < 30 ORDER BY i.price DESC, i.id LIMIT 40");
check_late('of the same table twice', "SELECT i.id, c.data, d.data, c.tags FROM items i JOIN (orders o JOIN customers c ON c.id = o.customer) ON o.id = i.of_order JOIN (orders p JOIN customers d ON d.id = p.customer) ON p.id = i.id % $orders WHERE i.kind = 7 AND i.price > 50 ORDER BY i.id", { any_if_large => 1 });

# ---- what depends on keys of groups
my @groups = ("SELECT c.id, c.name, c.comment, c.data, c.balance, count(*), sum(i.price) FROM $chain GROUP BY c.id", "SELECT c.id, c.comment, n.name, n.about, max(i.price) FROM $deep WHERE i.kind > 3 GROUP BY c.id, n.id",
	"SELECT o.id, o.note, c.tags, c.comment, count(*) FROM $chain WHERE i.price > 20 GROUP BY o.id, c.id HAVING count(*) > 2", "SELECT c.id, c.name, c.comment, c.data, n.name, sum(i.price) FROM $deep GROUP BY c.id, c.name, c.comment, c.data, n.name",
	"SELECT c.id, c.data, c.comment, n.about, count(i.id), avg(i.price) FROM $left WHERE i.kind <> 2 GROUP BY c.id, n.id");
check_late('what depends on keys', map { "$_ ORDER BY 1, 2, 3" } @groups);
check_late('of the table that streams', 'SELECT o.id, o.note, c.data, c.name, count(*) FROM orders o JOIN customers c ON c.id = o.customer GROUP BY o.id, c.id ORDER BY o.id', 'SELECT o.id, o.note || \'!\', upper(c.comment), c.tags, min(o.placed) FROM orders o JOIN customers c ON c.id = o.customer GROUP BY o.id, c.id HAVING o.note LIKE \'%7\' ORDER BY o.id');
check_late('some percentiles beside', "SELECT c.id, c.comment, c.data, percentile_cont(0.5) WITHIN GROUP (ORDER BY i.price), array_agg(i.kind ORDER BY i.kind) FROM $chain GROUP BY c.id ORDER BY c.id");
check_plans($session, 'grouping sets', sub { return 1; }, "SELECT c.id, c.comment, c.data, n.id, count(*) FROM $deep GROUP BY GROUPING SETS ((c.id, n.id), (c.id)) ORDER BY 1, 4", "SELECT c.id, c.name, o.placed, sum(i.price) FROM $chain GROUP BY c.id, ROLLUP (o.placed) ORDER BY 1, 3");

# ---- partitions as a side's side; rows that change
run('CREATE TABLE parts (id int, nation int, data jsonb, comment text) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 (comment text, x int, data jsonb, id int, nation int)', 'ALTER TABLE part_1 DROP x',
	"ALTER TABLE parts ATTACH PARTITION part_1 FOR VALUES FROM (0) TO ($customers / 2)", "CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM ($customers / 2) TO (1000000)", 'INSERT INTO parts SELECT id, nation, data, comment FROM customers', 'VACUUM ANALYZE parts, part_1, part_2');
check_plans($session, 'partitions that lie otherwise', sub { return 1; }, "SELECT i.id, c.data, c.comment, o.note FROM items i JOIN (orders o JOIN parts c ON c.id = o.customer) ON o.id = i.of_order WHERE i.kind = 3 AND i.price > 50 ORDER BY i.id");
check_late('a partition', "SELECT i.id, c.data, c.comment, o.note FROM items i JOIN (orders o JOIN part_2 c ON c.id = o.customer) ON o.id = i.of_order WHERE i.kind = 3 AND i.price > 50 ORDER BY i.id");
run("UPDATE customers SET comment = comment || '!' WHERE id % 3 = 0", 'DELETE FROM customers WHERE id % 11 = 4', "UPDATE nations SET about = '{}' WHERE id % 4 = 1", "UPDATE orders SET note = 'new' WHERE id % 5 = 2");
check_late('changed rows', "SELECT i.id, n.about, c.data, o.note FROM $left WHERE i.kind = 6 AND i.price > 80 ORDER BY i.id", map { "$_ ORDER BY 1, 2, 3" } @groups);
run('BEGIN', "UPDATE customers SET data = '{}' WHERE id % 2 = 0", 'DELETE FROM nations WHERE id = 3');
check_late('changes of its own', (map { "$_ ORDER BY 1, 2, 3" } @groups), { any_if_large => 1 });
run('ROLLBACK');
# a side that a job was to read may be read row by row after all, as joins of other scales are: then its rows have no TIDs
run('ALTER TABLE customers ADD of_nation numeric(10,3)', 'ALTER TABLE nations ADD number numeric(8,2)', 'UPDATE customers SET of_nation = nation', 'UPDATE nations SET number = id', 'VACUUM ANALYZE customers, nations');
check_plans($session, 'a side that no job reads', sub { return 1; }, map { s/n.id = c.nation/n.number = c.of_nation/gr } "SELECT i.id, n.about, c.data, o.note FROM $left WHERE i.kind = 6 ORDER BY i.id",
	"SELECT i.id, c.data, c.comment, n.name FROM $deep WHERE i.kind < 2 ORDER BY i.price, i.id LIMIT 25", "SELECT c.id, c.comment, c.data, n.number, max(i.price) FROM $deep GROUP BY c.id, n.number ORDER BY c.id");
run('SET hash_mem_multiplier = 1');
# or it is too large when it runs
foreach my $memory (64, 128, 256, 512, 1024, 2048)
{
	run("SET work_mem = '${memory}kB'");
	check_plans($session, "$memory kB of memory", sub { return 1; }, (map { "$_ ORDER BY 1, 2, 3" } @groups), "SELECT i.id, n.about, c.data, o.note FROM $left ORDER BY i.id",
		"SELECT i.id, n.about, c.data, o.note, c.comment FROM $deep WHERE i.kind < 2 ORDER BY i.price, i.id LIMIT 25");
}
run('RESET work_mem', 'RESET hash_mem_multiplier');
check_plans($session, 'run again', sub { return 1; }, "SELECT x, q.* FROM generate_series(1, 3) x, LATERAL (SELECT c.id, c.data, c.comment, count(*) FROM $chain WHERE i.kind = x GROUP BY c.id ORDER BY c.id LIMIT 5) q");

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
