# Conditions with an aggregate of the rows that belong to each row, as groups that are joined: PostgreSQL's own answers, and what stays as it is.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('correlated', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off' ]);
my $session = MgpuTest->session($node);

sub run { return $session->run(@_); }

sub answer
{
	my ($setting, $query) = @_;

	return join("\n", sort split /\n/, $session->query("SET mgpu.enable_correlated = $setting; $query"));
}

sub plan_of { return answer('on', "EXPLAIN (COSTS OFF) $_[0]"); }

# Each query has the same rows with the setting and without.  joined: whether no subquery is left.  Tables are small, so that ordinary thresholds may lead to
# other plans.
sub check
{
	my ($name, $joined, @queries) = @_;
	my @wrong;

	foreach my $query (@queries)
	{
		my ($ours, $core) = map { answer($_, $query) } 'on', 'off';

		push @wrong, "differs: $query\n$ours\n$core" if $ours ne $core;
		push @wrong, "no rows: $query" if $joined && $core eq '';
		push @wrong, "another plan: $query\n" . plan_of($query) if !$MgpuTest::LARGE && (plan_of($query) =~ /SubPlan/ ? 0 : 1) != $joined;
	}
	is(join("\n", @wrong), '', $name);
	return;
}

run('CREATE TABLE a (id int NOT NULL, k int, big int8, t text, c char(5), n numeric, v int)',
	"INSERT INTO a SELECT i, CASE WHEN i % 7 > 0 THEN i % 50 END, i % 60, CASE WHEN i % 5 > 0 THEN 't' || i % 40 END, 'c' || i % 30, i % 20 + 0.0, i % 101 FROM generate_series(1, 900) i",
	'CREATE TABLE b (k int, k2 int8, t text, c char(5), n numeric, v int, f float8, d date)',
	"INSERT INTO b SELECT CASE WHEN i % 11 > 0 THEN i % 33 END, i % 44, CASE WHEN i % 9 > 0 THEN 't' || i % 22 END, 'c' || i % 13, i % 9 + 0.00, CASE WHEN i % 4 > 0 THEN i % 97 END, i / 7.0, '2026-01-01'::date + i % 100 FROM generate_series(1, 2000) i",
	'CREATE TABLE other (id int PRIMARY KEY, w int)', 'INSERT INTO other SELECT i, i % 10 FROM generate_series(0, 50) i', 'CREATE TABLE nobody (k int, v int)',
	'CREATE TABLE parts (k int, v int) PARTITION BY HASH (k)', 'CREATE TABLE part_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0)', 'CREATE TABLE part_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)', 'INSERT INTO parts SELECT k, v FROM b',
	'CREATE VIEW above AS SELECT * FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k)', 'ANALYZE');

# ------------------------------------------------ forms

check("$_ of a column", 1, "SELECT id FROM a WHERE v > (SELECT $_(v) FROM b WHERE b.k = a.k)", "SELECT count(*), sum(v) FROM a WHERE v < 2 * (SELECT $_(v) FROM b WHERE a.k = b.k) AND id > 100") foreach 'avg', 'min', 'max';
check('sums', 1, 'SELECT id FROM a WHERE v * 30 > (SELECT sum(v) FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE n * 11 < (SELECT 0.5 * sum(n) / 10 FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE v < (SELECT sum(DISTINCT n) FROM b WHERE b.k = a.k)');
check('keys of any type', 1, map { "SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE $_)" } 'b.k2 = a.k', 'b.k = a.big', 'b.t = a.t', 'a.t = b.t', 'b.c = a.c', 'b.n = a.n', 'b.k = a.k AND b.k2 = a.big', 'b.k = a.k AND b.k = a.big');
check('expressions of the row', 1, 'SELECT id FROM a WHERE v > (SELECT avg(v) + a.k FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE a.v + a.k > (SELECT max(v) - min(v) FROM b WHERE b.k = a.k)');
check('conditions of the subquery', 1, "SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 > 5 AND d BETWEEN '2026-01-10' AND '2026-02-20' AND b.t IS NOT NULL)", 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 IN (1, 2, 3))');
check('joins in the subquery', 1, 'SELECT id FROM a WHERE v = (SELECT min(v) FROM b, other WHERE other.id = b.k2 AND b.k = a.k AND w > 3)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b JOIN other ON other.id = b.k2 WHERE b.k = a.k)', 'SELECT id FROM a WHERE v > (SELECT avg(w) FROM b LEFT JOIN other ON other.id = b.k2 AND w > 5 WHERE b.k = a.k)');
check('queries around', 1, 'SELECT w, count(*) FROM a JOIN other o ON o.id = a.k WHERE v > (SELECT avg(v) FROM b WHERE b.k = o.id) GROUP BY w', 'SELECT a.id, o.w FROM a LEFT JOIN other o ON o.id = a.k WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) ORDER BY a.id LIMIT 20',
	'SELECT a.id, o.w FROM a LEFT JOIN other o ON o.id = a.k AND w > 4 WHERE v > (SELECT avg(v) FROM b WHERE b.k = o.id)', 'SELECT * FROM other WHERE id IN (SELECT k FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k))',
	'SELECT * FROM other o WHERE EXISTS (SELECT FROM a WHERE a.k = o.id AND v > (SELECT avg(v) FROM b WHERE b.k = a.k))', 'SELECT count(*) FROM above', 'SELECT DISTINCT k FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) UNION SELECT id FROM other WHERE w * 10 > (SELECT avg(v) FROM b WHERE b.k = other.id)');
check('several', 1, 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) AND v < (SELECT max(v) FROM b WHERE b.t = a.t)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) AND v NOT IN (SELECT id FROM other)');
check('WITH', 1, 'WITH q AS (SELECT k, k2, sum(v) AS s FROM b GROUP BY 1, 2, v) SELECT k, k2, s FROM q WHERE s > (SELECT avg(s) * 1.2 FROM q q2 WHERE q.k = q2.k)', 'WITH q AS MATERIALIZED (SELECT k, v FROM a) SELECT * FROM q WHERE v > (SELECT avg(v) FROM q q2 WHERE q2.k = q.k)');
check('partitions, and the same table', 1, 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM parts WHERE parts.k = a.k)', 'SELECT k, v FROM parts p WHERE v > (SELECT avg(v) FROM parts WHERE parts.k = p.k)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM a a2 WHERE a2.k = a.k)');
is(answer('on', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM nobody WHERE nobody.k = a.k)'), '', 'of no rows');
is(answer('on', "PREPARE q (int) AS SELECT id FROM a WHERE v > \$1 + (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 > \$1); EXECUTE q (3); EXECUTE q (5); DEALLOCATE q"),
	answer('off', "PREPARE q (int) AS SELECT id FROM a WHERE v > \$1 + (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 > \$1); EXECUTE q (3); EXECUTE q (5); DEALLOCATE q"), 'parameters');

# ------------------------------------------------ groups that somebody asks for

my @conditions = ('a.id < 40', "a.t LIKE 't1%'", "a.t NOT LIKE '%9'", 'a.id IN (SELECT id FROM other WHERE w > 5)', "a.c = 'c3' OR a.id = 5", 'a.v BETWEEN 5 AND 59 AND a.id > 450', 'a.id NOT IN (1, 2, 3)', 'a.t IS NOT NULL AND a.n < 9', 'a.big = 7 AND a.v IS NOT NULL');
check("of rows with $_", 1, "SELECT id FROM a WHERE v < (SELECT avg(v) FROM b WHERE b.k = a.k) AND ($_)", "SELECT id FROM a WHERE ($_) AND v >= (SELECT count(*) FROM b WHERE b.t = a.t AND b.k2 > 3)", "SELECT id, (SELECT sum(v) FROM b WHERE b.k = a.k AND b.k2 = a.big) FROM a WHERE $_",
	"SELECT a.id, o.w, (SELECT count(*) FROM b WHERE b.k = a.k) FROM a LEFT JOIN other o ON o.id = a.k WHERE ($_) AND (SELECT max(n) FROM b WHERE b.c = a.c) > 1",
	"SELECT o.id, a.id FROM other o JOIN a ON a.k = o.id WHERE v > (SELECT min(v) FROM b WHERE b.k = a.k AND b.k2 < 40) AND ($_) AND o.w > 0") foreach @conditions;
is(answer('on', $_), answer('off', $_), "outer joined: $_") foreach map { "SELECT o.id, a.id FROM other o LEFT JOIN a ON a.k = o.id WHERE o.w + 99 > coalesce((SELECT avg(v) / 20 FROM b WHERE b.k = a.k), 0) AND ($_)" } @conditions, "a.t IS NULL";
# PostgreSQL counts few of these subqueries, and as jobs they would cost so little that nothing else is planned
run('SET mgpu.enable_threads = off');
check('of rows of several tables', 1, 'SELECT o.id, a.id FROM other o JOIN a ON a.k = o.id WHERE v > (SELECT avg(v) / 10 FROM b WHERE b.k = a.k AND b.k2 = o.id) AND a.id < 400');
run('RESET mgpu.enable_threads');
like(plan_of("SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) AND $_"), qr/Semi Join/, "$_: others are left out") foreach $MgpuTest::LARGE ? () : ('a.id < 40', "a.t LIKE 't1%'", 'a.id IN (SELECT id FROM other WHERE w > 5)');
unlike(plan_of($_), qr/Semi Join/, "all groups: $_") foreach 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k)', 'SELECT o.id, a.id FROM other o LEFT JOIN a ON a.k = o.id WHERE o.w > (SELECT avg(v) / 20 FROM b WHERE b.k = a.k) AND a.id < 40 OR o.w = 3',
	'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) AND 100 / (a.id + 1) < 5';
run('CREATE ROLE reader', 'GRANT SELECT (id, v, k) ON a TO reader', 'GRANT SELECT (v, k) ON b TO reader', 'GRANT SELECT ON other TO reader', 'ALTER TABLE a ENABLE ROW LEVEL SECURITY', 'CREATE POLICY thirds ON a TO reader USING (id % 3 = 0)', 'SET ROLE reader');
check('rows and columns that a role may see', 1, 'SELECT o.id, a.id FROM other o JOIN a ON a.k = o.id WHERE a.v > (SELECT avg(v) FROM b WHERE b.k = a.k) AND a.id < 400', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) AND id < 100');
run('RESET ROLE', 'ALTER TABLE a DISABLE ROW LEVEL SECURITY', 'DROP OWNED BY reader', 'DROP ROLE reader');

# ------------------------------------------------ rows without any

check('what a row without any may meet', 1, 'SELECT id FROM a WHERE v > (SELECT count(*) FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE 0 = (SELECT count(v) FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE v > coalesce((SELECT avg(v) FROM b WHERE b.k = a.k), 5)', 'SELECT id FROM a WHERE (SELECT avg(v) FROM b WHERE b.k = a.k) IS NULL',
	'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) OR id < 10', 'SELECT id FROM a WHERE v * 9 > (SELECT max(v) + count(*) FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE CASE WHEN id % 2 = 0 THEN v > (SELECT avg(v) FROM b WHERE b.k = a.k) ELSE id > 300 END');
check('columns', 1, 'SELECT id, (SELECT avg(v) FROM b WHERE b.k = a.k) FROM a', 'SELECT id, (SELECT count(*) FROM b WHERE b.t = a.t), (SELECT max(n) FROM b WHERE b.k = a.k AND k2 < 9) AS m FROM a ORDER BY m NULLS FIRST, id', 'SELECT DISTINCT k, (SELECT count(DISTINCT k2) FROM b WHERE b.k = a.k) FROM a', 'SELECT id, v - (SELECT min(v) FROM b WHERE b.k = a.k) AS d FROM a ORDER BY 2, 1 LIMIT 700',
	'SELECT o.w, a.id, (SELECT sum(v) FROM b WHERE b.k = o.id) FROM a LEFT JOIN other o ON o.id = a.k', 'SELECT rank() OVER (ORDER BY (SELECT count(*) FROM b WHERE b.k = a.k), id), id FROM a', 'SELECT q.c, count(*) FROM (SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k) AS c FROM a) q WHERE c > 3 GROUP BY 1',
	'SELECT o.id, (SELECT count(*) FROM a WHERE a.k = o.id AND a.v > 50) FROM other o WHERE w > (SELECT count(*) / 10 FROM b WHERE b.k = o.id) UNION ALL SELECT id, 1 FROM a', 'SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k) FROM a, other o, LATERAL (SELECT o.w + a.k AS s OFFSET 0) l WHERE o.id = a.v AND l.s > 10',
	'SELECT o.id, c.n FROM other o, LATERAL (SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k) AS n FROM a WHERE a.k = o.w OFFSET 0) c');
check('of groups', 0, 'SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k) FROM a GROUP BY k', 'SELECT k, sum(v) FROM a GROUP BY k HAVING sum(v) > (SELECT sum(v) FROM b WHERE b.k = a.k)');

# ------------------------------------------------ what stays

check('what may fail, or differ by the order of rows', 0, 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k + 1)', 'SELECT id, CASE WHEN v > 0 THEN (SELECT avg(v) FROM b WHERE b.k = 100 / a.v) END FROM a', 'SELECT id FROM a WHERE v > (SELECT avg(10 / (v + 1)) FROM b WHERE b.k = a.k)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND 10 / (v + 1) > 0)', 'SELECT id FROM a WHERE v > (SELECT avg(f) FROM b WHERE b.k = a.k)',
	"SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.t LIKE 't%')", 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.v > random() - 1)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FILTER (WHERE v > 3) FROM b WHERE b.k = a.k)');
check('other subqueries', 0, 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k < a.k)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 < a.big)', 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k HAVING count(*) > 2)', 'SELECT id FROM a WHERE v > (SELECT v FROM b WHERE b.k = a.k ORDER BY v, k2 LIMIT 1)',
	'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 = 3 AND EXISTS (SELECT FROM other WHERE other.id = b.k2))',
	'SELECT id FROM a WHERE v > (SELECT avg(v) FROM (SELECT k, v FROM b OFFSET 0) b WHERE b.k = a.k)', 'SELECT o.id FROM other o WHERE EXISTS (SELECT FROM a WHERE a.k = o.id AND v > (SELECT avg(v) FROM b WHERE b.k = a.k AND b.k2 = o.w))');
check('rows that are locked', 0, 'SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k) FOR UPDATE');
run('BEGIN', 'UPDATE a SET v = v WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k)', 'ROLLBACK');
# a few rows, which an index finds
run('CREATE INDEX ON b (k)', 'CREATE INDEX ON a (id)', 'ANALYZE');
check('a few rows', 0, 'SELECT id FROM a WHERE id = 17 AND v > (SELECT avg(v) FROM b WHERE b.k = a.k)');

# ------------------------------------------------ privileges

run('CREATE TABLE secret (k int, v int, who name)', "INSERT INTO secret SELECT i % 20, i % 50, CASE WHEN i % 3 > 0 THEN 'reader' ELSE 'other' END FROM generate_series(1, 500) i", 'ALTER TABLE secret ENABLE ROW LEVEL SECURITY', 'CREATE POLICY own ON secret USING (who = current_user)',
	'CREATE ROLE reader', 'GRANT SELECT ON a, secret TO reader', 'ANALYZE');
my $of_secret = 'SELECT id, v FROM a WHERE v > (SELECT sum(v) / 10 FROM secret WHERE secret.k = a.k)';
is(answer('on', "SET ROLE reader; $of_secret; RESET ROLE"), answer('off', "SET ROLE reader; $of_secret; RESET ROLE"), 'row security');
isnt(answer('on', "SET ROLE reader; $of_secret; RESET ROLE"), answer('on', $of_secret), 'which leaves rows out');
like(answer('on', 'SET ROLE reader; SELECT id FROM a WHERE v > (SELECT avg(v) FROM b WHERE b.k = a.k)'), qr/permission denied for table b/, 'no privilege');
run('RESET ROLE');
done_testing();
