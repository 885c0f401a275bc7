# Joins that threads do and a GPU does not: builds beyond memory, which are made in rounds, and rows of a build that no row matches, which right
# and full joins return.  The answers are those of PostgreSQL's own plan, to the byte, also where there is no job after all.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('thread_joins',
	conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', "work_mem = '" . sized(tiered(400, 1024), 2048) . "kB'", 'hash_mem_multiplier = 1', 'enable_mergejoin = off', 'enable_nestloop = off', 'mgpu.cpu_threads = 2' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $large = sized(tiered(40_000, 100_000), 250_000);
my $rows = sized(tiered(64_000, 160_000), 400_000);

sub run { return $session->run(@_); }

# With so many rounds at least, by threads.
sub check_rounds
{
	my ($name, $least, @queries) = @_;

	check_plans($session, "$name: $least rounds", sub {
		my ($plan) = @_;

		return $plan =~ /Executor: cpu\n.*Rounds: (\d+)/s && $1 >= $least;
	}, @queries);
	return;
}

run("CREATE TABLE large (id int PRIMARY KEY, label text, kind int, n numeric(8, 2), half int)",
	"INSERT INTO large SELECT i, CASE WHEN i % 11 > 0 THEN 'label ' || i END, i % 13, CASE WHEN i % 7 > 0 THEN i / 8.0 END, i % 1000 FROM generate_series(1, $large) i",
	'CREATE TABLE pairs (a int, b int8, x int, PRIMARY KEY (a, b))', "INSERT INTO pairs SELECT i / 10, i % 10, i FROM generate_series(1, $large) i",
	'CREATE TABLE twice (id int, v int)', "INSERT INTO twice SELECT i % $large, i % 17 FROM generate_series(1, 2 * $large) i",
	'CREATE TABLE small (id int PRIMARY KEY, name text)', "INSERT INTO small SELECT i, 'name ' || i FROM generate_series(0, 12) i",
	'CREATE TABLE facts (id int, l int, a int, b int, v int, f float8)',
	"INSERT INTO facts SELECT i, CASE WHEN i % 19 > 0 THEN (i * 7919::bigint) % ($large + 500) END, i % ($large / 10), i % 12, i % 1000 - 500, i / 4.0 FROM generate_series(1, $rows) i",
	'VACUUM ANALYZE');

check_rounds('an inner join', 3, 'SELECT kind, count(*), sum(v), min(label), sum(n) FROM facts JOIN large ON l = large.id GROUP BY 1',
	'SELECT kind + 1, count(*), max(v) FROM facts JOIN large ON l = large.id GROUP BY 1');
check_rounds('of few columns', 2, 'SELECT count(*), sum(v) FROM facts JOIN large ON l = large.id WHERE n > 100 AND v < 300');
check_rounds('a left join', 3, 'SELECT kind, count(*), count(label), sum(n) FROM facts LEFT JOIN large ON l = large.id GROUP BY 1',
	'SELECT kind IS NULL, count(*) FROM facts LEFT JOIN large ON l = large.id WHERE n IS NULL GROUP BY 1');
check_rounds('a semijoin, of rows that are there twice', 3, 'SELECT v, count(*) FROM facts WHERE EXISTS (SELECT FROM twice t WHERE t.id = l AND t.v <> 3) GROUP BY 1', 'SELECT count(*) FROM facts WHERE l IN (SELECT id FROM twice)');
check_rounds('an antijoin', 3, 'SELECT v % 10, count(*) FROM facts WHERE NOT EXISTS (SELECT FROM twice t WHERE t.id = l AND t.v > 3) GROUP BY 1');
check_rounds('a key of two columns', 3, 'SELECT p.b, count(*), sum(v), sum(x) FROM facts JOIN pairs p ON p.a = facts.a AND p.b = facts.b GROUP BY 1', 'SELECT p.b, count(*), max(x) FROM facts LEFT JOIN pairs p ON p.a = facts.a AND p.b = facts.b GROUP BY 1');
check_rounds('beside small sides', 3, 'SELECT s.name, count(*), sum(v) FROM facts JOIN large g ON l = g.id JOIN small s ON s.id = g.kind GROUP BY 1',
	'SELECT s.name, g.kind, count(*) FROM facts JOIN small s ON s.id = facts.v % 5 LEFT JOIN large g ON l = g.id GROUP BY 1, 2');
check_rounds('two large sides', 3, 'SELECT g.kind, count(*), sum(p.x) FROM facts JOIN (SELECT * FROM large WHERE half < 100) g ON l = g.id LEFT JOIN pairs p ON p.a = facts.a AND p.b = facts.b GROUP BY 1');
run('SET join_collapse_limit = 1');
# large tables are joined in another order
check_plans($session, 'of a side that has a side in rounds', sub { return sized(0, 1) || $_[0] =~ /Executor: cpu\n.*Rounds: [3-9]/s; },
	'SELECT g.kind, count(*), sum(f.v), sum(p.x) FROM facts f JOIN (pairs p JOIN large g ON g.id = p.x) ON p.a = f.a AND p.b = f.b GROUP BY 1');
run('RESET join_collapse_limit');
check_rounds('beside sides with other conditions, or keys that repeat', 3, 'SELECT g.kind, count(*) FROM facts f JOIN large g ON l = g.id WHERE NOT EXISTS (SELECT FROM small s WHERE s.id = f.b AND f.v > s.id * 50) GROUP BY 1',
	'SELECT g.kind, count(s.id), count(*) FROM facts f JOIN large g ON l = g.id LEFT JOIN small s ON s.id = f.b AND f.v > s.id * 50 GROUP BY 1', 'SELECT t.v, count(*), sum(f.v) FROM facts f LEFT JOIN twice t ON t.id = f.l AND t.v < 9 GROUP BY 1',
	'SELECT t.v, count(*) FROM facts f JOIN twice t ON t.id = f.l AND t.v > f.b GROUP BY 1');
check_rounds('sums of floats, percentiles, distinct values', 3, 'SELECT kind, avg(f), sum(f) FROM facts JOIN large ON l = large.id GROUP BY 1',
	'SELECT half, percentile_cont(0.5) WITHIN GROUP (ORDER BY f), count(DISTINCT v), percentile_disc(0.1) WITHIN GROUP (ORDER BY v) FROM facts JOIN large ON l = large.id GROUP BY 1');
check_rounds('rows in order', 3, 'SELECT facts.id, label, v FROM facts JOIN large ON l = large.id ORDER BY v, facts.id LIMIT 40', 'SELECT facts.id, label FROM facts LEFT JOIN large ON l = large.id ORDER BY label NULLS FIRST, facts.id LIMIT 100');
check_rounds('a subquery that is run again', 3, 'SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT kind, count(*) FROM facts JOIN large ON l = large.id WHERE v > g * 100 GROUP BY 1) q ORDER BY 1, 2');

run('CREATE TABLE wide AS SELECT id, label, label AS l2, label AS l3, label AS l4, n FROM large WHERE id <= 100000', 'ALTER TABLE wide ADD PRIMARY KEY (id)', 'VACUUM ANALYZE wide');
check_rounds('rows that are wider than expected', 3, 'SELECT v % 10, count(*), min(label), max(l2), min(l3), max(l4), sum(n) FROM facts JOIN wide ON l = wide.id GROUP BY 1');

# facts are of one of the days that the other side has, as the estimate does not know: groups that do not fit go to the file, and so do a side's rows
run('CREATE TABLE days (d int PRIMARY KEY, week int)', 'INSERT INTO days SELECT i, i / 7 FROM generate_series(0, 6999) i', 'CREATE TABLE dated (d int, id int, v int)',
	"INSERT INTO dated SELECT i % 7, i, i % 100 FROM generate_series(1, $rows) i", 'VACUUM ANALYZE days, dated', "SET work_mem = '" . sized(tiered(205, 512), 1024) . "kB'");
my $of_week = 'dated JOIN days ON dated.d = days.d WHERE week = 0';
check_plans($session, 'more groups of joined rows than expected', sub { return $_[0] =~ /Executor: .*Disk Usage: .*rows=$rows/s; }, "SELECT id, count(*), sum(v) FROM $of_week GROUP BY 1");
# keys that lie far apart: such a build is larger than what was read of it
run("SET work_mem = '" . sized(tiered(400, 1024), 2048) . "kB'");
$of_week .= ' AND id < ' . $rows * 3 / 8;
check_rounds('a side that is larger than expected', 2, "SELECT q.v, count(*), sum(l) FROM facts JOIN (SELECT id * 100003::int8 AS id, v FROM $of_week) q ON q.id = facts.id * 100003::int8 GROUP BY 1",
	"SELECT count(*), count(q.v) FROM facts LEFT JOIN (SELECT id * 100003::int8 AS id, v FROM $of_week) q ON q.id = facts.id * 100003::int8");
run('DELETE FROM large WHERE id % 5 = 0', 'UPDATE large SET kind = kind + 1 WHERE id % 5 = 1', 'DELETE FROM facts WHERE id % 9 = 0');
check_rounds('changed tables', 3, 'SELECT kind, count(*), sum(v) FROM facts JOIN large ON l = large.id GROUP BY 1', 'SELECT kind, count(*) FROM facts LEFT JOIN large ON l = large.id GROUP BY 1');

# right and full joins
sub check_outer
{
	my ($name, $is_job, @queries) = @_;

	check_plans($session, $name, sub {
		my ($plan, $executor) = @_;
		my $by = $plan =~ /Rounds: / ? 'cpu' : $executor;

		return ($plan =~ /Executor: $by\n.*Joins: .*Hash (?:Right|Full) Join/s) == $is_job;
	}, @queries);
	return;
}

run("SET work_mem = '64MB'", "INSERT INTO facts SELECT i, -i, i % 300, i % 20, NULL, i FROM generate_series(1, 500) i", 'CREATE TABLE shops (id int PRIMARY KEY, region int, name text, n numeric(6, 1))',
	"INSERT INTO shops SELECT i, i % 14, CASE WHEN i % 9 > 0 THEN 'shop ' || i % 100 END, i / 10.0 FROM generate_series(-100, 5000) i", 'VACUUM ANALYZE');
check_outer('right joins', 1, 'SELECT s.id, count(*), count(f.v), sum(f.v), max(name) FROM shops s LEFT JOIN facts f ON f.l = s.id GROUP BY 1',
	'SELECT s.region, count(*), count(f.id), avg(f.v), min(s.n) FROM shops s LEFT JOIN facts f ON f.l = s.id AND f.v > 100 GROUP BY 1', 'SELECT count(*), count(f.v), sum(coalesce(f.v, 7)) FROM facts f RIGHT JOIN shops s ON f.l = s.id',
	'SELECT f.v IS NULL, count(*) FROM facts f RIGHT JOIN shops s ON f.l = s.id WHERE f.v IS NULL OR f.v > 400 GROUP BY 1', 'SELECT s.name, f.v, count(*) FROM shops s LEFT JOIN facts f ON f.l = s.id AND f.v % 7 <> 0 GROUP BY 1, 2');
check_outer('of rows without a match alone', 1, 'SELECT s.region, count(*) FROM shops s LEFT JOIN facts f ON f.l = s.id AND f.v + 0 > 100000 GROUP BY 1');
check_outer('of keys of two columns', 1, 'SELECT p.a % 10, count(*), count(f.id), sum(f.v) FROM pairs p LEFT JOIN facts f ON f.a = p.a AND f.b = p.b GROUP BY 1');
check_outer('full joins', 1, 'SELECT s.region, count(*), count(f.id), count(s.id), sum(f.v) FROM shops s FULL JOIN facts f ON f.l = s.id GROUP BY 1', 'SELECT f.v % 5, count(*), sum(s.n) FROM facts f FULL JOIN shops s ON f.l = s.id GROUP BY 1');
run('CREATE TABLE few (id int UNIQUE, region int, name text)', "INSERT INTO few SELECT CASE WHEN i % 4 > 0 THEN i END, i % 12, 'few ' || i FROM generate_series(1, 40) i", 'VACUUM ANALYZE few');
check_outer('keys that are NULL', 1, 'SELECT s.region, s.name, count(*), count(f.id) FROM few s LEFT JOIN facts f ON f.l = s.id JOIN small m ON m.id = s.region GROUP BY 1, 2', 'SELECT s.region, count(*) FROM few s FULL JOIN facts f ON f.l = s.id GROUP BY 1');
check_outer('below other joins', 1, 'SELECT m.name, count(*), count(f.id) FROM shops s LEFT JOIN facts f ON f.l = s.id JOIN small m ON m.id = s.region GROUP BY 1',
	'SELECT m.name, count(*), count(f.id) FROM shops s LEFT JOIN facts f ON f.l = s.id LEFT JOIN small m ON m.id = f.v GROUP BY 1');
check_outer('sorted values, floats, distinct ones', 1, 'SELECT s.region, sum(f), count(DISTINCT v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM shops s LEFT JOIN facts f ON f.l = s.id GROUP BY 1');
check_outer('rows in order', 1, 'SELECT s.id, f.id, f.v FROM shops s LEFT JOIN facts f ON f.l = s.id ORDER BY f.v DESC, s.id, f.id LIMIT 300', 'SELECT s.id, f.id FROM shops s FULL JOIN facts f ON f.l = s.id ORDER BY s.id NULLS FIRST, f.id DESC LIMIT 300');
run('CREATE TABLE parts (id int, l int, v int) PARTITION BY RANGE (id)', 'CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (20000)', 'CREATE TABLE parts_2 PARTITION OF parts DEFAULT', 'INSERT INTO parts SELECT id, l, v FROM facts', 'VACUUM ANALYZE');
check_outer('partitions', 1, 'SELECT s.region, count(*), count(p.id) FROM shops s LEFT JOIN parts p ON p.l = s.id AND p.v < 0 GROUP BY 1');
check_outer('a subquery that is run again', 1, 'SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT s.region, count(*), count(f.id) FROM shops s LEFT JOIN facts f ON f.l = s.id AND f.v > g * 100 GROUP BY 1) q ORDER BY 1, 2');
check_outer('an expression below the join', 0, 'SELECT s.region, count(*), sum(one) FROM shops s LEFT JOIN (SELECT l, coalesce(v, 1) AS one FROM facts) f ON f.l = s.id GROUP BY 1');
check_outer('a join below the join', 0, 'SELECT s.region, count(*), count(f.id) FROM shops s LEFT JOIN (SELECT f.* FROM facts f JOIN small m ON m.id = f.v) f ON f.l = s.id GROUP BY 1');
run('RESET work_mem');
my @outer = ('SELECT g.kind, count(*), count(f.id), avg(f.f) FROM large g LEFT JOIN facts f ON f.l = g.id GROUP BY 1', 'SELECT g.kind, f.v % 10, count(*), min(g.label) FROM facts f FULL JOIN large g ON f.l = g.id GROUP BY 1, 2',
	'SELECT g.kind, count(*), count(f.id) FROM facts f FULL JOIN large g ON f.l = g.id AND f.v > g.kind * 40 GROUP BY 1');
check_outer('a build beyond memory', 1, @outer);
check_rounds('of which each round has rows without a match', 2, @outer);

# EXISTS and NOT EXISTS of a table that is the larger side: it streams, and the plan below is PostgreSQL's
sub check_turned
{
	my ($name, $least_rounds, @conditions) = @_;
	my @queries = map { ("SELECT kind, count(*), sum(n), avg(n), max(label) FROM large g WHERE EXISTS $_ GROUP BY 1", "SELECT count(*), count(label) FROM large g WHERE NOT EXISTS $_",
		"SELECT g.id, label FROM large g WHERE EXISTS $_ ORDER BY label NULLS FIRST, g.id LIMIT 50", "SELECT m.name, count(*) FROM large g JOIN small m ON m.id = g.kind WHERE NOT EXISTS $_ GROUP BY 1") } @conditions;

	check_plans($session, $name, sub {
		my ($plan, $executor) = @_;
		my $rounds = $plan =~ /Rounds: (\d+)/ ? $1 : 1;
		my $by = $rounds > 1 ? 'cpu' : $executor;

		return $plan =~ /Executor: $by\n.*Joins: .*Hash (?:Semi|Anti) Join.*Seq Scan on large g[^\n]*\n.*Hash \(never executed\)/s && $plan !~ /Seq Scan on large g \(actual rows=0/ && $rounds >= $least_rounds;
	}, @queries);
	return;
}

run("INSERT INTO large SELECT -i, 'none', i % 13 FROM generate_series(1, 30) i", 'ALTER TABLE large DROP CONSTRAINT large_pkey, ALTER id DROP NOT NULL', 'INSERT INTO large SELECT NULL, label, kind FROM large WHERE id BETWEEN 1 AND 40', 'INSERT INTO large SELECT * FROM large WHERE id % 10 = 0',
	'CREATE TABLE often AS SELECT f.* FROM facts f, generate_series(1, 3)', 'VACUUM ANALYZE');
my @exists = ('(SELECT 1 FROM often f WHERE f.l = g.id)', '(SELECT 1 FROM often f WHERE f.l = g.id AND f.v > 40)', '(SELECT 1 FROM often f WHERE f.l = g.id AND f.v > g.kind * 40)', '(SELECT 1 FROM often f WHERE f.l = g.id AND f.v % 13 = g.kind)');
run("SET work_mem = '64MB'");
check_turned('the larger side streams', 1, @exists);
# of larger tables, PostgreSQL's own plan is expected to be faster
run("SET work_mem = '" . tiered(400, 1024) . "kB'");
check_turned('in rounds', 2, @exists) unless $MgpuTest::LARGE;
run("SET work_mem = '64MB'", 'CREATE TABLE often_parts (LIKE often) PARTITION BY HASH (id)', (map { "CREATE TABLE often_$_ PARTITION OF often_parts FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1), 'INSERT INTO often_parts SELECT * FROM often', 'VACUUM ANALYZE');
check_turned('of partitions', 1, '(SELECT 1 FROM often_parts f WHERE f.l = g.id AND f.v > 40)');
check_plans($session, 'a side that is a join, and a subquery that is run again', sub { return $_[0] =~ /Executor: $_[1]\n.*Joins: [12] .*Hash Semi Join/s; },
	'SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT m.name, count(*) FROM large l JOIN small m ON m.id = l.kind WHERE EXISTS (SELECT 1 FROM often f WHERE f.l = l.id AND f.v > g * 100) GROUP BY 1) q ORDER BY 1, 2');
check_plans($session, 'nobody is looked for', sub { return $_[0] !~ /Joins: /; }, 'SELECT kind, count(*) FROM large g WHERE kind > 100 AND EXISTS (SELECT 1 FROM often f WHERE f.l = g.id) GROUP BY 1');

# keys that repeat, other conditions of a match, texts of any length
sub check_joined
{
	my ($name, $is_job, @queries) = @_;

	check_plans($session, $name, sub {
		my ($plan) = @_;

		return ($plan =~ /Executor: (?:cpu|gpu)\n.*Joins: /s) == $is_job;
	}, @queries);
	return;
}

run("SET work_mem = '64MB'", 'CREATE TABLE many (id int, v int, t text)', "INSERT INTO many SELECT CASE WHEN i % 50 > 0 THEN i % 1000 END, i % 15, CASE WHEN i % 6 > 0 THEN 'many ' || i % 40 END FROM generate_series(1, 3000) i",
	'CREATE TABLE heavy (id int, v int)', 'INSERT INTO heavy SELECT i / 30, i FROM generate_series(1, 200) i', 'VACUUM ANALYZE many, heavy');
check_joined('keys that repeat', 1, 'SELECT m.v, count(*), sum(f.v), min(m.t), sum(f.f) FROM facts f JOIN many m ON m.id = f.a % 1000 GROUP BY 1', 'SELECT count(*), sum(m.v) FROM facts f JOIN many m ON m.id = f.a % 1000 WHERE m.v > f.b',
	'SELECT m.t, count(*), avg(f.f) FROM facts f LEFT JOIN many m ON m.id = f.a % 1300 GROUP BY 1', 'SELECT m.v IS NULL, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY f.f), count(DISTINCT m.v) FROM facts f LEFT JOIN many m ON m.id = f.a GROUP BY 1',
	'SELECT m.v, count(*), count(f.id), sum(f.v) FROM many m LEFT JOIN facts f ON f.a = m.id GROUP BY 1', 'SELECT m.v, count(*), count(f.id), sum(f.b) FROM many m FULL JOIN facts f ON f.a = m.id GROUP BY 1');
check_joined('of two columns, and of several sides', 1, 'SELECT m.t, count(*), max(f.v) FROM facts f JOIN many m ON m.id = f.a % 1000 AND m.v = f.b GROUP BY 1', 'SELECT m.v, n.v, count(*) FROM facts f JOIN many m ON m.id = f.a % 1000 LEFT JOIN many n ON n.id = f.v + 500 GROUP BY 1, 2',
	'SELECT s.name, m.v, count(*) FROM facts f JOIN many m ON m.id = f.a % 1000 JOIN small s ON s.id = m.v GROUP BY 1, 2', 'SELECT m.v, count(*) FROM facts f JOIN many m ON m.id = f.a % 1000 WHERE EXISTS (SELECT FROM many n WHERE n.id = m.v) GROUP BY 1');
check_joined('many rows of one key', 1, 'SELECT count(*), sum(h.v) FROM facts f JOIN heavy h ON h.id = f.b', 'SELECT f.b, count(*), percentile_disc(0.3) WITHIN GROUP (ORDER BY h.v) FROM facts f LEFT JOIN heavy h ON h.id = f.b WHERE f.v > 300 GROUP BY 1');
check_joined('rows in order', 1, 'SELECT f.id, m.v, m.t FROM facts f JOIN many m ON m.id = f.a % 1000 ORDER BY m.v DESC, f.id, m.t LIMIT 500');
check_joined('other conditions of semijoins and antijoins', 1, 'SELECT f.b, count(*), sum(f.v) FROM facts f WHERE EXISTS (SELECT FROM many m WHERE m.id = f.a % 1000 AND m.v > f.b) GROUP BY 1',
	'SELECT f.b, count(*) FROM facts f WHERE NOT EXISTS (SELECT FROM many m WHERE m.id = f.a % 1000 AND m.v > f.b) GROUP BY 1', 'SELECT f.b, count(*) FROM facts f WHERE EXISTS (SELECT FROM heavy h WHERE h.id = f.b AND h.v % 100 = f.v) GROUP BY 1',
	'SELECT count(*) FROM facts f WHERE NOT EXISTS (SELECT FROM many m WHERE m.id = f.a % 1000 AND m.v <> f.b) AND EXISTS (SELECT FROM heavy h WHERE h.id = f.b AND h.v < f.v + 1000)');
check_joined('of outer joins', 1, 'SELECT m.v, count(*), count(f.f) FROM facts f LEFT JOIN many m ON m.id = f.a % 1000 AND m.v < f.b GROUP BY 1', 'SELECT g.kind, count(*) FROM facts f LEFT JOIN large g ON g.id = f.l AND g.kind > f.b GROUP BY 1',
	'SELECT m.v, count(*), count(f.id) FROM many m LEFT JOIN facts f ON f.a = m.id AND f.b > m.v GROUP BY 1', 'SELECT m.v, f.b, count(*) FROM facts f LEFT JOIN many m ON m.id = f.a % 1000 AND m.v = f.b + 1 AND f.v > 0 LEFT JOIN small s ON s.id = m.v AND s.id <> f.b GROUP BY 1, 2');
run('CREATE TABLE items (id int PRIMARY KEY, name text, about text, class text)', "INSERT INTO items SELECT i, 'item ' || i % 70, CASE WHEN i % 9 > 0 THEN repeat('about ', 20 + i % 40) || i % 30 END, 'class ' || i % 4 FROM generate_series(0, 999) i", 'VACUUM ANALYZE items');
check_joined('long texts', 1, 'SELECT i.about, count(*), sum(f.v) FROM facts f JOIN items i ON i.id = f.a % 1000 GROUP BY 1', 'SELECT i.class, i.name, i.about, f.b % 2, count(i.about), count(DISTINCT i.about) FROM facts f LEFT JOIN items i ON i.id = f.a GROUP BY 1, 2, 3, 4',
	"SELECT length(i.name), i.about, max(f.v) FROM facts f JOIN items i ON i.id = f.a % 1000 WHERE i.about LIKE '%7' GROUP BY 1, 2", 'SELECT f.id, i.about FROM facts f JOIN items i ON i.id = f.a ORDER BY f.id DESC LIMIT 50');
check_joined('the least long text', 0, 'SELECT f.b, min(i.about) FROM facts f JOIN items i ON i.id = f.a % 1000 GROUP BY 1');
check_joined('GROUPING SETS', 1, 'SELECT i.class, i.about, count(*), grouping(i.class, i.about) FROM facts f JOIN items i ON i.id = f.a % 1000 GROUP BY ROLLUP (1, 2)', 'SELECT m.v, f.b, sum(f.v) FROM facts f LEFT JOIN many m ON m.id = f.a % 1000 GROUP BY CUBE (1, 2)');

run("SET statement_timeout = '20ms'");
$session->query('SELECT count(*), sum(h.v + i.v) FROM facts f JOIN heavy h ON h.id = f.b JOIN heavy i ON i.id = f.b');
is($session->{state}, '57014', 'a row with very many matches is cancelled');
$session->end_timeouts;
run('RESET work_mem');

# what cannot be known before: keys that repeat, values beyond programs, rows that are many more than expected
run('CREATE TABLE plain (id int, v int) WITH (autovacuum_enabled = off)', "INSERT INTO plain SELECT i, i % 7 FROM generate_series(1, $large) i", 'ANALYZE plain');
check_rounds('a table without a unique index', 3, 'SELECT p.v, count(*) FROM facts JOIN plain p ON l = p.id GROUP BY 1');
my $again = 'SELECT p.v, count(*), max(facts.v) FROM facts JOIN plain p ON l = p.id GROUP BY 1';
foreach my $key (map { 1000 + 37 * $_ } 0 .. 5)
{
	run('BEGIN', "INSERT INTO plain SELECT * FROM plain WHERE id = $key");
	is($session->answer_by('force', $again), $session->answer_by('off', $again), "a key that is there twice, in whatever round: $key");
	run('ROLLBACK', 'DISCARD PLANS');
}
run("INSERT INTO plain SELECT i, i % 7 FROM generate_series($large + 1, 8 * $large) i");
is($session->answer_by('force', $again), $session->answer_by('off', $again), 'many more rows than expected');
run("UPDATE large SET label = repeat('long', 50) WHERE id = 7777");
my $labels = "SELECT label, count(*) FROM facts JOIN large ON l = large.id GROUP BY 1";
is($session->answer_by('force', $labels), $session->answer_by('off', $labels), 'a text that is longer than expected, in one round');

run('SET mgpu.executor = cpu', "SET statement_timeout = '5ms'");
$session->query($labels);
is($session->{state}, '57014', 'a statement is cancelled');
$session->end_timeouts;
is($session->answer_by('force', $labels), $session->answer_by('off', $labels), 'after it was cancelled');
ok(service_is_idle($node), 'nothing is left in the service');

# Pairs that conditions drop are work, too: where they are many, look-ups in an index alone take less.
run('RESET ALL', "SET work_mem = '64MB'", 'SET jit = off', 'SET enable_nestloop = on', 'SET mgpu.executor = cpu', 'CREATE TABLE readings (place int, day int, v int, PRIMARY KEY (place, day))', 'INSERT INTO readings SELECT i % 100, i / 100, i FROM generate_series(1, 200000) i',
	'CREATE TABLE places (id int PRIMARY KEY, kind int)', 'INSERT INTO places SELECT i, i % 3 FROM generate_series(0, 99) i', 'VACUUM ANALYZE readings, places');
my $missing = 'SELECT d, p.id, count(r.day) FROM generate_series(1, 19) d CROSS JOIN places p LEFT JOIN readings r ON r.place = p.id AND r.day >= d * 100 AND r.day < d * 100 + %d WHERE kind = 1 GROUP BY 1, 2';
like($session->query('EXPLAIN ' . sprintf($missing, 100)), qr/Nested Loop.*Index Only Scan/s, 'look-ups of many pairs');
like($session->query('EXPLAIN SELECT kind, count(*) FROM readings r JOIN places p ON p.id = place AND v > kind GROUP BY 1'), qr/Mgpu.*Hash Join/s, 'a job where all rows have one');
is($session->answer_by('force', sprintf($missing, 30)), $session->answer_by('off', sprintf($missing, 30)), 'their answer');

$session->close;
done_testing();
