# Joins without an equality: bands, days, a few constants and all pairs.  A job looks at each row of the smaller side.  And orders of enums, whose labels may
# have been added between others, enums as texts, and what stands around texts that to_char makes.  The answers are those of PostgreSQL's own plan, also where there is no job after all.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('bands', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', 'autovacuum = off', "timezone = 'UTC'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 60_000);

sub run { return $session->run(@_); }
sub check_pairs { my ($name, @queries) = @_; check_plans($session, $name, sub { return $_[0] =~ /Joins: \d.*Hash Cond: \(0 = 0\)/s; }, @queries); return; }

run("CREATE TYPE mood AS ENUM ('low', 'fair', 'high')",
	'CREATE TABLE events (id int PRIMARY KEY, g int, v int, price numeric(10,2), bare numeric, at timestamptz, d date, f float8, k text COLLATE "C", m mood)',
	"INSERT INTO events SELECT i, i % 40, CASE WHEN i % 7 > 0 THEN i::int8 * 7919 % 1000 END, CASE WHEN i % 11 > 0 THEN (i::int8 * 104729 % 100000) / 100.0 END, round(i / 7.0, i % 4), timestamptz '2024-01-01' + i * interval '7 min', CASE WHEN i % 5 > 0 THEN date '2024-01-01' + i % 400 END,
		i % 97 / 8.0, 'k' || i % 30, (enum_range(NULL::mood))[1 + i % 4] FROM generate_series(1, $rows) i",
	'CREATE TABLE bands (lo int, hi int, name text, low numeric(8,2), high numeric(8,2))', "INSERT INTO bands SELECT i * 90 - 100, i * 90 - 10, CASE WHEN i % 4 > 0 THEN 'band ' || i END, i * 75, CASE WHEN i < 12 THEN i * 75 + 75 END FROM generate_series(0, 12) i",
	'INSERT INTO bands VALUES (NULL, 500, \'no begin\', NULL, NULL), (300, 700, \'twice\', 100, 900)', 'CREATE TABLE nothing (lo int, hi int)', 'VACUUM ANALYZE');

check_pairs('bands', 'SELECT b.name, count(*), sum(e.price), min(e.id) FROM events e JOIN bands b ON e.v >= b.lo AND e.v < b.hi GROUP BY 1', 'SELECT name, count(*), avg(bare) FROM events JOIN bands ON price BETWEEN low AND high GROUP BY 1', 'SELECT count(*), sum(v * hi) FROM events, bands WHERE v > lo',
	'SELECT name, g % 5, count(*) FROM events JOIN bands ON v + g BETWEEN lo AND hi AND (hi > 400 OR g = 3) GROUP BY 1, 2', 'SELECT e.k, b.name, max(e.at) FROM events e JOIN bands b ON e.v > b.lo AND e.k <> b.name GROUP BY 1, 2');
check_pairs('left joins', 'SELECT b.name, count(*), count(b.lo) FROM events e LEFT JOIN bands b ON e.v >= b.lo AND e.v < b.hi GROUP BY 1', 'SELECT count(*), count(name), sum(price) FROM events LEFT JOIN bands ON price > high + 200', 'SELECT coalesce(name, \'none\'), count(*) FROM events LEFT JOIN bands ON v < lo WHERE g < 7 GROUP BY 1',
	'SELECT name, count(*) FROM events LEFT JOIN bands ON v > lo WHERE lo > 100 OR lo IS NULL GROUP BY 1');
check_pairs('all days, with rows or none', "SELECT s.at, count(e.id), sum(e.price), count(*) FILTER (WHERE e.m >= 'fair') FROM generate_series(timestamptz '2023-12-25', '2024-03-01', interval '6 h') s(at) LEFT JOIN events e ON e.at >= s.at AND e.at < s.at + interval '1 day' GROUP BY 1",
	"SELECT b.name, count(e.id), avg(e.v) FROM bands b LEFT JOIN events e ON e.v BETWEEN b.lo AND b.hi AND e.g <> 5 GROUP BY 1", "SELECT b.hi, count(e.id) FROM bands b LEFT JOIN events e ON e.v > 2000 + b.lo GROUP BY 1");
check_pairs('constants and all pairs', "SELECT d + n, n, count(*), sum(price) FROM events CROSS JOIN (VALUES (3), (7), (NULL)) c(n) GROUP BY 1, 2", 'SELECT m.n, count(*), sum(e.v) FROM events e, generate_series(1, 12) m(n) WHERE e.g % m.n = 0 GROUP BY 1', 'SELECT count(*), sum(v + lo) FROM events, bands',
	'SELECT x.l, y.name, count(*) FROM events e JOIN (VALUES (1, \'one\'), (2, \'two\')) x(i, l) ON x.i = e.g JOIN bands y ON e.v BETWEEN y.lo AND y.hi GROUP BY 1, 2');
check_plans($session, 'no rows', sub { return 1; }, 'SELECT count(*), min(e.id) FROM events e JOIN nothing n ON e.v > n.lo', 'SELECT g, count(*), count(lo) FROM events LEFT JOIN nothing ON v > lo GROUP BY 1', 'SELECT n.hi, count(e.id) FROM nothing n LEFT JOIN events e ON v > lo GROUP BY 1');
check_plans($session, 'EXISTS of a band', sub { return 1; }, map { ("SELECT g, count(*), sum(price) FROM events e WHERE $_ (SELECT FROM bands b WHERE e.v BETWEEN b.lo AND b.hi) GROUP BY 1", "SELECT name, lo FROM bands b WHERE $_ (SELECT FROM events e WHERE e.v BETWEEN b.lo AND b.hi AND e.g = 7)") } 'EXISTS', 'NOT EXISTS');
check_pairs('rows', 'SELECT e.id, b.name FROM events e JOIN bands b ON e.v BETWEEN b.lo AND b.hi AND e.price > 990 ORDER BY 1, 2', 'SELECT e.id, b.name, e.k FROM events e JOIN bands b ON e.v BETWEEN b.lo AND b.hi ORDER BY e.price DESC NULLS LAST, e.id, b.name LIMIT 20');
run('CREATE TABLE many AS SELECT i AS lo, i % 1000 AS v FROM generate_series(1, 20000) i', 'ANALYZE many');
unlike($session->query('SET mgpu.enable_group = force; EXPLAIN SELECT count(*) FROM many e JOIN many m ON e.v < m.lo'), qr/0 = 0/, 'a side of many rows');
check_plans($session, 'a job that ends early', sub { return 1; }, 'SELECT count(*), sum(1000 / (e.v - b.lo)) FROM events e JOIN bands b ON e.v > b.lo', 'SELECT b.name, sum(e.v * 2000000 * b.hi) FROM events e JOIN bands b ON e.v >= b.lo GROUP BY 1', 'SELECT b.name, sum(round(e.bare, 1) * 1e16) FROM events e JOIN bands b ON e.v >= b.lo GROUP BY 1');
foreach my $setting ('off', 'force')
{
	like($session->answer_by($setting, 'SELECT count(*), sum(1000 / (e.v - 991)) FROM events e JOIN bands b ON e.v > b.lo'), qr/22012: division by zero/, "an error, $setting");
}
like($session->query('EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT count(*) FROM events e JOIN bands b ON e.v > b.lo'), qr/Seq Scan on events e \(actual rows=\d+ loops=1\)\n\s+-> +Hash/, 'no rows are said to be removed where more come than are read');

# ---- values that hold from a day on, of a key: candidates are looked at by comparisons, some of which have NULLs or are no numbers
run('CREATE TABLE rates (k text COLLATE "C", since date, until date, low int, rate numeric(12,6), f float8)', "INSERT INTO rates SELECT 'k' || i % 30, date '2024-01-01' + i / 30 * 20, CASE WHEN i % 17 > 0 THEN date '2024-01-01' + i / 30 * 20 + 20 + i % 3 * 5 END, CASE WHEN i % 11 > 0 THEN i % 400 END, i / 7.0, i % 5 FROM generate_series(0, 659) i", 'ANALYZE rates');
my @ranges = ('e.d >= r.since AND e.d < r.until', 'r.since <= e.d AND (r.until > e.d OR r.until IS NULL)', 'e.d BETWEEN r.since AND r.until - 1', 'e.v > r.low', 'e.v <> r.low AND e.d = r.since', 'e.v + e.g >= r.low AND e.d > r.since', 'e.d > r.since AND e.f > r.f', 'e.at > r.since AND e.v < r.low', 'r.low < e.g AND 100 / (e.g - r.low) > 3');
foreach my $range (@ranges)
{
	my $on = "r ON r.k = e.k AND $range";

	check_programs($session, "rates: $range", 1, "SELECT e.k, count(*), sum(e.v * r.low), min(e.id), max(e.d), sum(r.rate) FROM events e JOIN rates $on GROUP BY 1", "SELECT e.g, count(*), count(r.low), sum(r.rate) FROM events e LEFT JOIN rates $on GROUP BY 1",
		(map { "SELECT e.g, count(*), sum(e.price) FROM events e WHERE $_ (SELECT FROM rates r WHERE r.k = e.k AND $range) GROUP BY 1" } 'EXISTS', 'NOT EXISTS'));
	check_plans($session, "rates, and more: $range", sub { return 1; }, "SELECT b.name, count(*), sum(r.rate) FROM events e JOIN rates $on JOIN bands b ON e.v >= b.lo AND r.low < b.hi GROUP BY 1", "SELECT r.k, r.since, count(e.id) FROM rates r LEFT JOIN events e ON r.k = e.k AND $range GROUP BY 1, 2", "SELECT e.id, r.rate FROM events e JOIN rates $on WHERE e.id % 50 = 0 ORDER BY 1, 2",
		"SELECT r.k, r.since FROM rates r WHERE NOT EXISTS (SELECT FROM events e WHERE r.k = e.k AND $range)");
}
run("CREATE INDEX ON events (d)");
check_programs($session, 'a table of which an index names pages, and a smaller one of keys that repeat', 1, "SELECT r.k, count(*), sum(r.rate) FROM events e JOIN rates r ON r.k = e.k AND e.d >= r.since AND e.d < r.until WHERE e.d >= '2024-12-01' GROUP BY 1");
run('DROP INDEX events_d_idx');

# ---- orders of enums
my @orders = map { my $o = $_; map { "m $o '$_'" } 'low', 'fair', 'high' } '<', '<=', '>', '>=';
sub check_orders { my ($name) = @_; check_programs($session, $name, 1, (map { ("SELECT count(*), sum(v) FROM events WHERE $_", "SELECT g, count(*) FILTER (WHERE $_), count($_) FROM events GROUP BY 1") } @orders), "SELECT count(*) FROM events WHERE 'fair' < m", "SELECT g, count(*) FROM events WHERE m BETWEEN 'fair' AND 'high' AND NOT m > 'fair' GROUP BY 1"); return; }
check_orders('orders of enums');
run("ALTER TYPE mood ADD VALUE 'poor' BEFORE 'fair'", "ALTER TYPE mood ADD VALUE 'best' AFTER 'high'", "ALTER TYPE mood ADD VALUE 'worst' BEFORE 'low'");
run("UPDATE events SET m = (ARRAY['poor', 'best', 'worst'])[1 + id % 3]::mood WHERE id % 5 = 0", 'VACUUM events');
push @orders, map { my $o = $_; map { "m $o '$_'" } 'poor', 'best', 'worst' } '<', '<=', '>', '>=';
check_orders('labels that were added between others');
check_programs($session, 'enums as texts', 1, 'SELECT m::text, count(*), sum(v) FROM events GROUP BY 1', 'SELECT g, count(DISTINCT m::text) FROM events GROUP BY 1', 'SELECT m::text, g % 3, avg(price) FROM events GROUP BY ROLLUP (1, 2)', 'SELECT DISTINCT m::text, v % 2 FROM events', 'SELECT m::text || k, count(*) FROM (SELECT m, k FROM events GROUP BY 1, 2) q GROUP BY 1',
	"SELECT x.n::text, count(*) FROM events e JOIN (VALUES ('low'::mood, 1), ('best', 2), (NULL, 3)) x(n, i) ON x.i = e.g GROUP BY 1", 'SELECT m::text, count(*) FROM events GROUP BY 1 HAVING count(*) > 10 ORDER BY 2 DESC, 1');
check_plans($session, 'enums as texts elsewhere', sub { return 1; }, 'SELECT min(m::text), max(m::text) FROM events', 'SELECT id, m::text FROM events ORDER BY m::text COLLATE "C", id LIMIT 9', 'SELECT count(*) FROM events a JOIN events b ON a.m::text = b.m::text WHERE a.id < 9 AND b.id < 90', 'SELECT m::text, row_number() OVER (PARTITION BY m::text ORDER BY id) FROM events ORDER BY id LIMIT 20', 'SELECT m::varchar(3), count(*) FROM events GROUP BY 1', 'SELECT g, count(DISTINCT (m::text, k)) FROM events GROUP BY 1');
check_programs($session, 'and NULL as another', 1, map { "SELECT coalesce(m::text, '$_'), count(*), min(id) FROM (SELECT id, CASE WHEN id % 3 > 0 THEN m END AS m FROM events) q GROUP BY 1" } 'none', 'fair', '');

# ---- rows that are compared, as of pages by keys: NULLs are unknown from the first that tells
my @rows = map { my $o = $_; map { "$_->[0] $o $_->[1]" } ['(v, id)', '(500, 1000)'], ['(v, price, id)', '(500, 300.25, 7)'], ['(k, d)', "('k17', date '2024-05-01')"], ['(at, id)', "(timestamptz '2024-02-01', 5000)"], ['(v, g)', '(g * 20, v)'], ['(500, id)', '(v, 999)'] } '<', '<=', '>', '>=';
check_programs($session, 'rows', 1, map { ("SELECT count(*), sum(id) FROM events WHERE $_", "SELECT g, count(*) FILTER (WHERE $_), count($_) FROM events GROUP BY 1") } @rows);
check_plans($session, 'pages by keys', sub { return 1; }, map { "SELECT id, v FROM events WHERE (v, id) $_ (700, 300) ORDER BY v, id LIMIT 20" } '<', '>');

# ---- multiples of intervals
my @multiples = map { my $i = $_; map { "$_ $i" } 'at', 'at AT TIME ZONE \'UTC\'', 'd' } "+ v * interval '1 day'", "- g * interval '36 hours'", "+ v * interval '0 days'", "+ interval '1 day 02:30:00.5' * v", "+ (id % 7)::int8 * interval '-3 days'", '+ make_interval(days => v)', '- make_interval(hours => g)', '+ make_interval(weeks => v % 5)', '+ make_interval(mins => v)', "+ id * interval '1 second'";
foreach my $zone ('UTC', 'America/New_York')
{
	run("SET timezone = '$zone'");
	check_programs($session, "multiples of intervals in $zone", 1, map { ("SELECT date_trunc('day', $_), count(*) FROM events GROUP BY 1", "SELECT g, max($_), min($_) FROM events GROUP BY 1") } @multiples);
	check_programs($session, "time zones by name in $zone", 1, map { my $u = $_; map { "SELECT date_trunc('$u', at, '$_'), count(*), max(id) FROM events GROUP BY 1" } 'Europe/Berlin', 'UTC', 'Asia/Kathmandu' } 'hour', 'day', 'week', 'quarter');
}
run("SET timezone = 'UTC'");
check_plans($session, 'other multiples', sub { return 1; }, "SELECT max(at + v * interval '1 month') FROM events", "SELECT max(at + price::float8 * interval '1 day') FROM events", "SELECT max(at + v * 1000000 * interval '1 day') FROM events WHERE v < 3", "SELECT max(d + id * interval '100 days 5 hours') FROM events", 'SELECT max(at + make_interval(days => v, hours => g)) FROM events', "SELECT date_trunc('day', at, 'CET'), count(*) FROM events GROUP BY 1");
my @formats = map { my $f = $_; map { "$_(to_char($f))" } 'trim', 'ltrim', 'rtrim', 'upper', 'lower', 'initcap' } "at, 'Day'", "d, 'Month'", "at, ' Mon YYYY '", "d, 'DY'", "at, 'HH24:MI'";
check_programs($session, 'around to_char', 1, map { ("SELECT $_, count(*), min(id) FROM events GROUP BY 1", "SELECT g % 4, count(DISTINCT $_) FROM events GROUP BY 1") } @formats);
run("PREPARE above AS SELECT count(*) FROM events WHERE m > 'high'", 'SET plan_cache_mode = force_generic_plan');
my $before = $session->query('EXECUTE above');
run("ALTER TYPE mood ADD VALUE 'sublime'", "UPDATE events SET m = 'sublime' WHERE id % 9 = 0");
is($session->query('EXECUTE above'), $session->query("SELECT count(*) FROM events WHERE m::text IN ('best', 'sublime')"), 'a plan that is older than a label');
isnt($session->query('EXECUTE above'), $before, 'which rows have');

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
