# NOT IN (SELECT …) as joins: PostgreSQL's own answers, with NULLs on either side, on both and on none; and what stays as it is.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('not_in', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off' ]);
my $session = MgpuTest->session($node);

sub run { return $session->run(@_); }

sub answer
{
	my ($setting, $query) = @_;

	return join("\n", sort split /\n/, $session->query("SET mgpu.enable_not_in = $setting; $query"));
}

sub plan_of { return answer('on', "EXPLAIN (COSTS OFF) $_[0]"); }

# Each query has the same rows with the setting and without.  joined: whether its subquery becomes a join.
sub check
{
	my ($name, $joined, @queries) = @_;
	my @wrong;

	foreach my $query (@queries)
	{
		my ($ours, $core) = map { answer($_, $query) } 'on', 'off';

		push @wrong, "differs: $query\n$ours\n$core" if $ours ne $core;
		push @wrong, "another plan: $query\n" . plan_of($query) if (plan_of($query) =~ /Anti|Right Join/ ? 1 : 0) != $joined;
	}
	is(join("\n", @wrong), '', $name);
	return;
}

run('CREATE TABLE a (id int NOT NULL, x int, big int8, t text, c char(5), n numeric)', 'CREATE TABLE b (y int, k int NOT NULL, t text, c char(5), n numeric)',
	"INSERT INTO a SELECT i, CASE WHEN i % 7 > 0 THEN i % 50 END, i % 60, CASE WHEN i % 5 > 0 THEN 't' || i % 40 END, 'c' || i % 30, i % 20 FROM generate_series(1, 3000) i",
	"INSERT INTO b SELECT CASE WHEN i % 11 > 0 THEN i % 33 END, i % 44, CASE WHEN i % 9 > 0 THEN 't' || i % 22 END, 'c' || i % 13, i % 9 + 0.00 FROM generate_series(1, 2000) i",
	'CREATE TABLE nobody (y int)', 'CREATE VIEW v AS SELECT * FROM a WHERE x NOT IN (SELECT k FROM b)',
	'CREATE TABLE parent (y int NOT NULL)', 'CREATE TABLE child () INHERITS (parent)', 'INSERT INTO child SELECT generate_series(1, 20)',
	'CREATE TABLE parts (y int NOT NULL) PARTITION BY HASH (y)', 'CREATE TABLE part_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
	'CREATE TABLE part_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)', 'INSERT INTO parts SELECT i % 40 FROM generate_series(1, 300) i', 'ANALYZE');

# ------------------------------------------------ NULLs

# What is compared, and subqueries with NULLs, without any, with NULLs alone, and without rows
my @left = ('id', 'x', 'x + 1', 'coalesce(x, 3)', 'big');
my @right = ('SELECT y FROM b', 'SELECT k FROM b', 'SELECT y FROM b WHERE y IS NOT NULL', 'SELECT y FROM b WHERE y IS NULL', 'SELECT y FROM b WHERE k > 100', 'SELECT y FROM nobody',
	'SELECT k FROM b WHERE k > 100', 'SELECT b.k FROM b LEFT JOIN nobody USING (y)', 'SELECT nobody.y FROM b LEFT JOIN nobody USING (y)', 'SELECT y FROM parent', 'SELECT y FROM parts',
	'SELECT max(y) FROM b GROUP BY k', 'SELECT DISTINCT y FROM b', 'SELECT y FROM b UNION SELECT k FROM b', 'SELECT k FROM b GROUP BY ROLLUP (k)', 'VALUES (1), (2), (3)', 'SELECT NULL::int', 'SELECT sum(y)::int FROM nobody');

foreach my $right (@right)
{
	check("of $right", 1, map { ("SELECT id FROM a WHERE $_ NOT IN ($right)", "SELECT count(*) FROM a WHERE $_ <> ALL ($right) AND id > 100") } @left);
}
check('texts and numbers', 1, 'SELECT id FROM a WHERE t NOT IN (SELECT t FROM b)', 'SELECT id FROM a WHERE t NOT IN (SELECT t FROM b WHERE t IS NOT NULL)',
	'SELECT id FROM a WHERE c NOT IN (SELECT c FROM b)', 'SELECT id FROM a WHERE n NOT IN (SELECT n FROM b)', 'SELECT id FROM a WHERE t NOT IN (SELECT c FROM b)',
	'SELECT id FROM a WHERE t COLLATE "C" NOT IN (SELECT t FROM b WHERE k > 3)');

# columns without NULLs, which outer joins give NULLs
check('columns that outer joins fill with NULLs', 1, map { my $right = $_; map { "SELECT a.x, q.k FROM $_ WHERE q.k NOT IN ($right) AND a.x < 5" }
	  'a LEFT JOIN b q ON a.x = q.y AND q.k < 9', 'b q RIGHT JOIN a ON a.x = q.y AND q.k < 9', '(b q RIGHT JOIN a ON a.x = q.y AND q.k < 9) JOIN parts p ON a.x = p.y',
	  'b q FULL JOIN nobody a (x) ON a.x = q.k', '(SELECT y FROM parts LIMIT 2) p, a LEFT JOIN b q ON a.x = q.y AND q.k < 9' } 'SELECT k FROM b WHERE k > 20', 'SELECT y FROM b WHERE y > 20', 'SELECT k FROM b WHERE k > 100');
check('subqueries of outer joins', 1, map { "SELECT id FROM a WHERE id NOT IN ($_)" } 'SELECT q.k FROM nobody LEFT JOIN b q USING (y)', 'SELECT q.k FROM parts LEFT JOIN b q ON q.k = 7 AND parts.y = 7',
	'SELECT q.k FROM parts JOIN (a LEFT JOIN b q ON q.k = a.id AND q.k > 20) ON a.id = parts.y');

# ------------------------------------------------ where they stand

check('in queries of all kinds', 1, 'SELECT id FROM v', 'SELECT q.id FROM (SELECT * FROM a WHERE x NOT IN (SELECT k FROM b)) q JOIN b ON q.id = b.k',
	'WITH q AS MATERIALIZED (SELECT id FROM a WHERE x NOT IN (SELECT k FROM b)) SELECT * FROM q', 'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b) AND id NOT IN (SELECT y FROM b WHERE y > 3)',
	'SELECT id FROM a WHERE id IN (SELECT id FROM a WHERE x NOT IN (SELECT y FROM b WHERE y IS NOT NULL))', 'SELECT a.id FROM a LEFT JOIN b ON a.x = b.y WHERE b.y NOT IN (SELECT k FROM b WHERE k > 20)',
	'SELECT x, count(*) FROM a WHERE id NOT IN (SELECT k FROM b) GROUP BY x HAVING count(*) > 3', 'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE k NOT IN (SELECT y FROM b WHERE y > 30))',
	'SELECT id, (SELECT count(*) FROM a q WHERE q.x NOT IN (SELECT k FROM b WHERE k < 5)) FROM a WHERE id < 5',
	'SELECT id FROM a WHERE id < 200 AND EXISTS (SELECT FROM b WHERE b.k = a.x AND b.y NOT IN (SELECT x FROM a WHERE x > 10))',
	"SELECT sum(n) FROM (SELECT x AS n FROM a WHERE x NOT IN (SELECT k FROM b) UNION ALL SELECT id FROM a WHERE id NOT IN (SELECT k FROM b)) q");
check('and elsewhere as they are', 0, 'SELECT id, x NOT IN (SELECT k FROM b) FROM a', 'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b) OR id = 3', 'SELECT id FROM a WHERE (x NOT IN (SELECT k FROM b)) IS NULL',
	'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE b.y = a.id)', 'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b ORDER BY k LIMIT 5)', 'SELECT id FROM a WHERE (x, id) NOT IN (SELECT y, k FROM b)',
	'WITH q AS (SELECT k FROM b) SELECT id FROM a WHERE x NOT IN (SELECT k FROM q)', 'SELECT id FROM a WHERE x > ALL (SELECT k FROM b WHERE k < 9)', 'SELECT id FROM a WHERE x <> ANY (SELECT k FROM b WHERE k < 9)',
	'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b TABLESAMPLE system (100))', 'SELECT id FROM a WHERE NOT (x > ANY (SELECT k FROM b WHERE k > 9))');
unlike(plan_of('SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE k > random())'), qr/Anti/, 'a volatile subquery');
unlike(plan_of('SELECT id FROM a WHERE x + (random() * 0)::int NOT IN (SELECT k FROM b)'), qr/Anti/, 'a volatile expression');
unlike(plan_of('SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE k < 5 FOR UPDATE)'), qr/Anti/, 'rows that are locked');

# ------------------------------------------------ what is not asked

unlike(plan_of('SELECT x FROM a WHERE id NOT IN (SELECT k FROM b)'), qr/InitPlan/, 'columns without NULLs are not looked at');
like(plan_of('SELECT x FROM a WHERE id NOT IN (SELECT y FROM b)'), qr/InitPlan/, 'others are');
like(plan_of('SELECT x FROM a WHERE id NOT IN (SELECT y FROM parent)'), qr/InitPlan/, 'a parent whose children may have NULLs');
unlike(plan_of('SELECT x FROM a WHERE id NOT IN (SELECT y FROM parts)'), qr/InitPlan/, 'a partitioned table');
unlike(answer('off', 'EXPLAIN SELECT x FROM a WHERE id NOT IN (SELECT k FROM b)'), qr/Anti/, 'a setting');

# ------------------------------------------------ parameters, privileges, changes

run('PREPARE p (int) AS SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE k > $1)');
is(answer('on', 'EXECUTE p (20)'), answer('off', 'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE k > 20)'), 'a parameter') for 1 .. 7;
run('CREATE ROLE few', 'GRANT SELECT ON a TO few', 'ALTER TABLE b ENABLE ROW LEVEL SECURITY', 'CREATE POLICY p ON b USING (k > 20)');
$session->query('SET ROLE few; SELECT id FROM a WHERE x NOT IN (SELECT k FROM b)');
is($session->{state}, '42501', 'a table that may not be read');
run('RESET ROLE', 'GRANT SELECT ON b TO few', 'SET ROLE few');
check('rows that are not seen', 1, 'SELECT id FROM a WHERE x NOT IN (SELECT k FROM b)', 'SELECT id FROM a WHERE x NOT IN (SELECT y FROM b)');
run('RESET ROLE', 'ALTER TABLE b DISABLE ROW LEVEL SECURITY');
foreach my $change ('DELETE FROM a WHERE x NOT IN (SELECT k FROM b) RETURNING id', 'UPDATE a SET n = 0 WHERE id NOT IN (SELECT y FROM b WHERE y IS NOT NULL) RETURNING id')
{
	my ($ours, $core) = map { answer($_, "BEGIN; $change") . $session->query('ROLLBACK') } 'on', 'off';

	is($ours, $core, $change);
}

$node->stop;
done_testing();
