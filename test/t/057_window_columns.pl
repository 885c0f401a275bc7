# Jobs over windows: rows come as columns, and windows are computed over them.  The answers, and errors, are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('windows', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 60_000);

sub run { return $session->run(@_); }

# Whether windows are columns, or rows.
sub check_columns { my ($name, @queries) = @_; check_plans($session, $name, sub { return $_[0] =~ /Input: windows as columns/; }, @queries); return; }
sub check_rows { my ($name, @queries) = @_; check_plans($session, $name, sub { return $_[0] =~ /MgpuWindow/ && $_[0] !~ /windows as columns/; }, @queries); return; }

run('CREATE TABLE t (id int PRIMARY KEY, g int, a int, b int8, s int2, o bool, f float8, r float4, n numeric, p numeric(8,2), k text, c char(6), u uuid, d date, ts timestamptz, long text, doc jsonb, lasted interval)',
	"INSERT INTO t SELECT i, CASE WHEN i % 17 > 0 THEN i * 7919 % 300 END, CASE WHEN i % 7 > 0 THEN i % 60 END, CASE WHEN i % 5 > 0 THEN i % 40 * 3000000000 - 5 END, i % 3, CASE WHEN i % 4 > 0 THEN i % 8 < 4 END,
		CASE WHEN i % 6 > 0 THEN i % 9 / 4.0 - 1 END, CASE WHEN i % 5 > 0 THEN i % 12 / 8.0 END, CASE WHEN i % 11 > 0 THEN round(i % 30 / 4.0, 2 + i % 3) END, CASE WHEN i % 13 > 0 THEN i % 100 / 4.0 END,
		CASE WHEN i % 9 > 0 THEN 'text ' || i % 70 WHEN i % 2 = 0 THEN '' END, CASE WHEN i % 3 > 0 THEN 'c' || i % 5 END, CASE WHEN i % 8 > 0 THEN ('00000000-0000-0000-0000-0000000000' || 10 + i % 40)::uuid END,
		CASE WHEN i % 10 > 0 THEN date '2026-01-01' + i % 25 END, timestamptz '2026-01-01 00:00+00' + i * 7919 % 90000 * interval '7 s', repeat('a text that is long ', 8) || i % 30, jsonb_build_object('k', i % 4), i % 5 * interval '24 hours' FROM generate_series(1, $rows) i",
	'CREATE TABLE nothing (id int, g int, a int)', 'VACUUM ANALYZE');

# The sum of what a window's column has, over groups of a column, so that it does not matter which rows come first.
sub over { my ($window, @columns) = @_; return map { "SELECT g % 5, count(w), count(*), min(w), max(w) FROM (SELECT g, $_ OVER ($window) AS w FROM t) q GROUP BY 1" } @columns; }

my $order = 'PARTITION BY g ORDER BY id';
check_columns('other rows', over($order, map { my $c = $_; map { "$_($c)" } 'lag', 'lead', 'first_value', 'last_value' } 'a', 'b', 's', 'f', 'r', 'p', 'd', 'ts', 'k', 'id'),
	over($order, 'lag(a, 3)', 'lead(a, 7)', 'lag(a, 0)', 'lead(a, -2)', 'lag(a, 1, 5)', 'lead(b, 2, -1)', 'lag(f, 1, 0.5)', 'lag(r, 1, 1::real)', 'lag(a, 1, NULL)', 'lag(p, 1, p)', 'lag(k, 2, k)', 'lead(ts, 1, ts)', 'nth_value(a, 3)', 'nth_value(k, 1)'));
check_columns('numbers of rows', over($order, 'row_number()', 'rank()', 'dense_rank()', 'ntile(4)', 'percent_rank()', 'cume_dist()'), over('PARTITION BY g ORDER BY a', 'rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()'),
	over('ORDER BY id', 'row_number()', 'ntile(7)', 'percent_rank()', 'cume_dist()', 'lag(a)', 'lead(k)'), over('PARTITION BY g', 'count(*)', 'sum(a)', 'max(b)'));
my @sums = ('count(*)', 'count(a)', 'sum(a)', 'sum(s)', 'sum(b)', 'sum(p)', 'sum(f)', 'sum(r)', 'avg(f)', 'avg(r)', 'min(a)', 'max(b)', 'min(f)', 'max(r)', 'min(p)', 'max(p)', 'min(d)', 'max(ts)', 'sum(a + b)', 'max(a * 2)');
check_columns("sums over $_", over($_, @sums)) foreach $order, 'PARTITION BY g', "$order ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", "$order ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING", "$order ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING",
	"$order ROWS UNBOUNDED PRECEDING", 'PARTITION BY g ORDER BY d', "$order ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
# means are quotients of sums and counts; extremes of equal ones that show different digits are for rows
sub means { my ($window, @columns) = @_; return map { "SELECT g % 5, count(w), sum(w), avg(p - w), min(round(w, 5)), max(trunc(w, 2)), count(*) FILTER (WHERE w > 12.5) FROM (SELECT g, p, $_ OVER ($window) AS w FROM t) q GROUP BY 1" } @columns; }
foreach my $window ($order, 'PARTITION BY g', "$order ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", "$order ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING", 'PARTITION BY g ORDER BY d', "PARTITION BY s ORDER BY d RANGE '4 days' PRECEDING")
{
	check_columns("means over $window", means($window, 'avg(a)', 'avg(s)', 'avg(b / 40)', 'avg(p)', 'avg(a * p)'));
	check_plans($session, "rows by means over $window", sub { return 1; }, "SELECT id, w FROM (SELECT id, a, avg(a) OVER ($window) AS w FROM t) q WHERE a > w ORDER BY id", "SELECT id, w FROM (SELECT id, avg(p) OVER ($window) AS w FROM t) q ORDER BY w DESC NULLS LAST, id LIMIT 500");
}
check_plans($session, 'means as extremes', sub { return 1; }, map { over($_, 'avg(a)', 'avg(b)', 'avg(s)', 'avg(p)') } $order, 'PARTITION BY g', 'PARTITION BY s ORDER BY d');
check_columns('shares', 'SELECT g, sum(round(100 * w, 3)), max(round(100.0 * p / nullif(s, 0), 1)), count(*) FILTER (WHERE w > 0.01) FROM (SELECT g, p, sum(p) OVER (PARTITION BY g) AS s, p / nullif(sum(p) OVER (PARTITION BY g), 0) AS w FROM t) q GROUP BY g', 'SELECT count(*) FILTER (WHERE w > 0.00001), sum(round(w * 100, 6)), sum(trunc(w * -100, 7)), min(ceil(w)) FROM (SELECT p / sum(1000 * p) OVER (PARTITION BY id < 0) AS w FROM t) q',
	'SELECT count(*), sum(w) FROM (SELECT percent_rank() OVER (ORDER BY p / nullif(a, 0), id) AS w FROM t) q WHERE w < 0.02');
my @ends = ("$order ROWS BETWEEN 7 PRECEDING AND 2 PRECEDING", "$order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", "$order ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING", "$order ROWS BETWEEN 1 PRECEDING AND 4 PRECEDING", "$order ROWS BETWEEN 2 PRECEDING AND 0 PRECEDING", "PARTITION BY s ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 40 PRECEDING");
foreach my $window (@ends)
{
	my @functions = ('count(*)', 'sum(a)', 'sum(p)', 'max(f)', 'min(b)', 'avg(f)', 'first_value(a)', 'last_value(k)', 'nth_value(p, 2)');

	check_columns("frames $window", over($window, @functions), means($window, 'avg(a)'));
	check_plans($session, "rows of frames $window", sub { return $_[0] =~ /MgpuWindow/; }, 'SELECT id, ' . join(', ', map { "$_ OVER ($window)" } @functions, 'avg(a)', 'stddev(n)') . ' FROM t ORDER BY id');
}
my @filtered = map { my $f = $_; map { "$f FILTER (WHERE $_)" } 'a > 30', 's = 1', 'id < 0' } 'count(*)', 'count(k)', 'sum(a)', 'max(p)', 'min(f)', 'avg(f)';
foreach my $window ($order, 'PARTITION BY g', "$order ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING")
{
	check_columns("filters over $window", over($window, @filtered), means($window, 'avg(p) FILTER (WHERE a > 9)'));
	check_plans($session, "rows of filters over $window", sub { return $_[0] =~ /MgpuWindow/; }, 'SELECT id, ' . join(', ', map { "$_ OVER ($window)" } @filtered, 'stddev(a) FILTER (WHERE o)', 'count(*) FILTER (WHERE doc->>\'k\' > \'2\')', 'sum(100 / a) FILTER (WHERE a > 0)') . ' FROM t ORDER BY id');
}
check_columns('the first of some rows', 'SELECT g, (array_agg(id ORDER BY w DESC, id DESC))[1], count(*) FROM (SELECT id, g, lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t) q GROUP BY g', 'SELECT g, (array_agg(k ORDER BY w, id))[1] FROM (SELECT id, g, k, round(p / nullif(max(p) OVER (PARTITION BY g ORDER BY id), 0) - 1, 6) AS w FROM t) q WHERE w > -1 GROUP BY g');
check_columns('long frames', over("$order ROWS BETWEEN 90 PRECEDING AND 10 FOLLOWING", 'max(a)', 'min(f)', 'sum(f)', 'avg(r)', 'first_value(a)', 'nth_value(k, 70)', 'last_value(p)'));
check_plans($session, 'frames whose rows PostgreSQL takes back, and the node does not', sub { return $_[0] !~ /MgpuWindow/; }, over("$order ROWS 90 PRECEDING", 'sum(n)', 'avg(n)', 'sum(lasted)'));
check_columns('long frames whose rows are taken back', over("$order ROWS 90 PRECEDING", 'sum(a)', 'count(*)', 'sum(p)', 'count(k)'), means("$order ROWS BETWEEN 300 PRECEDING AND 20 PRECEDING", 'avg(a)', 'avg(p)'));
foreach my $window ("$order ROWS BETWEEN 5 PRECEDING AND CURRENT ROW", "$order ROWS 90 PRECEDING", "$order ROWS BETWEEN 200 PRECEDING AND 60 PRECEDING", "$order ROWS BETWEEN 2 PRECEDING AND 70 FOLLOWING", "PARTITION BY g ORDER BY d RANGE '4 days' PRECEDING", "PARTITION BY s ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING")
{
	my @functions = ('count(*)', 'count(k)', 'sum(a)', 'sum(b)', 'sum(s)', 'sum(p)', 'avg(b)', 'avg(p)', 'stddev(p)', 'var_pop(b)', 'stddev_pop(s)', 'variance(a)', 'sum(f)', 'max(p)', 'sum(a) FILTER (WHERE s = 1)');

	check_plans($session, "rows that are taken back over $window", sub { return $_[0] =~ /MgpuWindow/; }, 'SELECT id, ' . join(', ', map { "$_ OVER ($window)" } @functions) . ' FROM t ORDER BY id');
}
my @ranges = ("ts RANGE BETWEEN '2 hours' PRECEDING AND CURRENT ROW", "ts RANGE '3 days' PRECEDING", "ts RANGE '1 month 2 days' PRECEDING", "d RANGE '4 days' PRECEDING", "d NULLS FIRST RANGE '36 hours' PRECEDING", "at RANGE '90 min' PRECEDING", "at RANGE '1 mon' PRECEDING", 'a RANGE 5 PRECEDING', 'b RANGE 9000000000 PRECEDING', 's RANGE 1::int2 PRECEDING', 'a NULLS FIRST RANGE 0 PRECEDING', 'id RANGE 2147483647 PRECEDING');
run("ALTER TABLE t ADD at timestamp", "UPDATE t SET at = CASE id % 400 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN NULL ELSE ts AT TIME ZONE 'UTC' END", 'VACUUM FULL ANALYZE t');
foreach my $zone ('UTC', 'America/New_York')
{
	run("SET timezone = '$zone'");
	check_columns("ranges of $_, in $zone", over("PARTITION BY g ORDER BY $_", 'count(*)', 'sum(s)', 'sum(b)', 'max(a)', 'avg(f)', 'min(d)')) foreach $zone eq 'UTC' ? @ranges : @ranges[0 .. 2];
	check_plans($session, "ranges of rows in $zone", sub { return $_[0] =~ /MgpuWindow/; }, map { ("SELECT id, g, count(*) OVER w, sum(p) OVER w, max(a) OVER w, avg(f) OVER w, avg(s) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY $_)") } @ranges);
}
run('RESET timezone');
check_plans($session, 'other ranges', sub { return $_[0] !~ /MgpuWindow/; }, over('PARTITION BY g ORDER BY ts DESC RANGE \'1 hour\' PRECEDING', 'count(*)'), over('PARTITION BY g ORDER BY f RANGE 1.5 PRECEDING', 'count(*)'), over("PARTITION BY g ORDER BY ts RANGE BETWEEN '1 hour' PRECEDING AND '1 hour' FOLLOWING", 'count(*)'), over("PARTITION BY g ORDER BY ts RANGE BETWEEN '1 hour' PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW", 'count(*)'));
is($session->answer_by('force', $_), $session->answer_by('off', $_), "an error: $_") foreach over("PARTITION BY g ORDER BY ts RANGE '-1 hour' PRECEDING", 'count(*)'), over('PARTITION BY g ORDER BY a RANGE -1 PRECEDING', 'count(*)');
check_columns('ends of frames', over("$order ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", 'first_value(a)', 'last_value(k)', 'nth_value(p, 2)', 'nth_value(a, 6)'), over('PARTITION BY g ORDER BY d RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', 'first_value(d)', 'last_value(d)'),
	over("$order ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", 'nth_value(a, 5)', 'last_value(b)', 'first_value(k)'));
check_columns('partitions', map { "SELECT count(w), sum(w) FROM (SELECT sum(a) OVER (PARTITION BY $_ ORDER BY id) AS w FROM t) q" } 'g', 'g, s', 'k', 's, o', 'u', 'd', 'ts::date', "date_trunc('day', ts), g", 'p', 'f', 'a % 3', 'o, s, g', 'lower(k)');
check_columns('orders', map { "SELECT count(w), sum(w) FROM (SELECT sum(a) OVER (PARTITION BY g ORDER BY $_) AS w FROM t) q" } 'id DESC', 'a, id', 'a DESC, id', 'a NULLS FIRST, id', 'a DESC NULLS LAST, id', 'f, id', 'p DESC, id', 'ts, id', 'k COLLATE "C", id', 'u, id', 'a', 'd', 'o, s');

# ---- what is asked of windows: conditions, expressions, groups of them, several windows
check_columns('expressions', 'SELECT g, count(*) FILTER (WHERE x > 0), count(*) FILTER (WHERE x < 0), sum(x), min(x) FROM (SELECT g, p - lag(p, 1, p) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q GROUP BY g',
	"SELECT k, coalesce(nx, '(none)'), count(*) FROM (SELECT k, lead(k) OVER (PARTITION BY g ORDER BY id) AS nx FROM t) q GROUP BY 1, 2", "SELECT upper(nx), length(k), count(*) FROM (SELECT k, lag(k) OVER (PARTITION BY g ORDER BY id) AS nx FROM t) q WHERE nx LIKE 'text 1%' GROUP BY 1, 2",
	"SELECT count(*), sum(CASE WHEN gap > interval '1 hour' THEN 1 ELSE 0 END) FROM (SELECT ts - lag(ts) OVER (PARTITION BY g ORDER BY ts, id) AS gap FROM t) q", "SELECT g, sum(extract(epoch FROM ts - before)) FROM (SELECT g, ts, lag(ts) OVER (PARTITION BY g ORDER BY ts, id) AS before FROM t) q GROUP BY g",
	'SELECT g, max(w - f), avg(w) FROM (SELECT g, f, avg(f) OVER (PARTITION BY g ORDER BY id ROWS 9 PRECEDING) AS w FROM t) q WHERE f IS NOT NULL GROUP BY g', 'SELECT count(*), sum(x) FROM (SELECT sum(b) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q WHERE x > 100000000000',
	'SELECT s, percentile_disc(0.5) WITHIN GROUP (ORDER BY x), count(DISTINCT x) FROM (SELECT s, a - lag(a) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q GROUP BY s',
	'SELECT s, count(*), count(n), max(i) FROM (SELECT s, n, row_number() OVER (PARTITION BY g ORDER BY id) AS i FROM t) q WHERE i % 2 = 0 GROUP BY s', 'SELECT u, o, count(*) FROM (SELECT lag(u) OVER (PARTITION BY g ORDER BY id) AS u, lead(o) OVER (PARTITION BY g ORDER BY id) AS o FROM t) q GROUP BY 1, 2');
check_rows('keys that numbers do not tell apart', 'SELECT n, count(*) FROM (SELECT n, row_number() OVER (PARTITION BY g ORDER BY id) AS i FROM t) q WHERE i % 2 = 0 GROUP BY n');
check_columns('several windows', 'SELECT count(*), sum(x), sum(y), max(z) FROM (SELECT lag(a) OVER w AS x, sum(a) OVER w AS y, count(*) OVER (PARTITION BY g) AS z FROM t WINDOW w AS (PARTITION BY g ORDER BY id)) q',
	'SELECT g, max(x), max(y) FROM (SELECT g, sum(a) OVER (PARTITION BY g ORDER BY id ROWS 3 PRECEDING) AS x, avg(f) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS y FROM t) q GROUP BY g');
check_plans($session, 'windows of windows', sub { return $_[0] =~ /windows as columns.*windows as columns/s; }, 'SELECT g, max(n) FROM (SELECT g, e, count(*) AS n FROM (SELECT g, id, sum(up) OVER (PARTITION BY g ORDER BY id) AS e FROM (SELECT g, id, CASE WHEN a > lag(a) OVER (PARTITION BY g ORDER BY id) THEN 0 ELSE 1 END AS up FROM t) x) y GROUP BY g, e) z GROUP BY g',
	'SELECT count(*), sum(y) FROM (SELECT row_number() OVER (PARTITION BY g, up ORDER BY id) - x AS y FROM (SELECT g, id, a > 30 AS up, row_number() OVER (PARTITION BY g ORDER BY id) AS x FROM t) q) z', 'SELECT count(w), max(w) FROM (SELECT lag(x) OVER (PARTITION BY s ORDER BY x, id) AS w FROM (SELECT s, id, sum(a) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q WHERE x > 1) z',
	'SELECT count(DISTINCT w), count(w) FROM (SELECT lead(k) OVER (PARTITION BY k ORDER BY id) AS w FROM (SELECT id, lag(k, 2) OVER (PARTITION BY g ORDER BY id) AS k FROM t) q) z');
my @conditions = map { "SELECT * FROM (SELECT id, g, a, k, p, ts, lag(a) OVER w AS x, lead(k) OVER w AS y, sum(p) OVER w AS z, lag(ts) OVER w AS b FROM t WINDOW w AS (PARTITION BY g ORDER BY id)) q WHERE $_" }
  'a - x > 40', 'x = 5 AND y IS NULL', "y = 'text 3'", 'z > 1000', 'p = z', "ts - b > interval '1 day'", 'false OR x IS NULL';
check_plans($session, 'conditions on windows, in order', sub { return $_[0] =~ /MgpuSort.*windows as columns/s; }, map { "$_ ORDER BY id" } @conditions);
foreach my $query (@conditions)
{
	my $answer = $session->answer_by('off', $query);

	run('SET mgpu.enable_sort = force', 'SET mgpu.enable_scan = force');
	is(join("\n", sort split /\n/, $session->query($query)), $answer, "by MgpuScan: $query");
	like($session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $query"), qr/MgpuScan.*windows as columns/s, "the plan of $query");
	run('SET mgpu.enable_group = force');
	is($session->query("SELECT count(*), sum(id), max(x), min(y), count(b - ts) FROM ($query OFFSET 0) q"), $session->query("SET mgpu.enable_group = off; SELECT count(*), sum(id), max(x), min(y), count(b - ts) FROM ($query OFFSET 0) q"), "above $query");
}
# limits of numbers of rows beside other functions: PostgreSQL's WindowAgg stops at those, if it is the last one
my @limits = map { my $limit = $_; map { "SELECT id, g, n, c, b FROM (SELECT id, g, $_ AS n, count(*) OVER (PARTITION BY g) AS c, lag(id) OVER w AS b FROM t WINDOW w AS (PARTITION BY g ORDER BY a, id)) q WHERE n $limit" } 'row_number() OVER w', 'rank() OVER w', 'count(*) OVER w' } '<= 3', '= 1', '< 2', '= 2';
check_plans($session, 'limits beside other functions', sub { return $_[0] =~ /MgpuWindow/; }, map { "$_ ORDER BY id" } @limits);
check_columns('groups of them', (map { "SELECT b % 3, count(*), sum(c), min(id) FROM ($_) x GROUP BY 1" } @limits), 'SELECT s, count(*), sum(c) FROM (SELECT s, row_number() OVER (PARTITION BY g ORDER BY id) AS n, sum(a) OVER (PARTITION BY g ORDER BY id) AS c FROM t) q WHERE n <= 5 GROUP BY 1');
check_plans($session, 'limits below windows of other partitions', sub { return $_[0] =~ /MgpuWindow/; }, 'SELECT id, n, c FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS n, sum(a) OVER (PARTITION BY s) AS c FROM t) q WHERE n <= 2 ORDER BY id', 'SELECT id, n, c, e FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS n, rank() OVER (PARTITION BY s ORDER BY id) AS c, count(*) OVER (PARTITION BY g) AS e FROM t) q WHERE n <= 4 AND c <= 400 ORDER BY id');
check_columns('what is below', 'SELECT count(w), max(w) FROM (SELECT lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t WHERE id > 100) q', "SELECT count(w), max(w) FROM (SELECT lag(t.a) OVER (PARTITION BY t.g ORDER BY t.id) AS w FROM t JOIN (SELECT DISTINCT s FROM t WHERE s > 0) x ON x.s = t.s) q",
	'SELECT g, sum(w) FROM (SELECT g, lag(a + s) OVER (PARTITION BY g ORDER BY id) AS w FROM t) q GROUP BY g ORDER BY 2 DESC, 1 LIMIT 5');

run('CREATE TABLE fine AS SELECT id, g, round(id % 1000 / 7.0, 3 + id % 5) AS n FROM t', 'VACUUM ANALYZE fine');
check_columns('numerics that show their own digits', 'SELECT g, count(w) FILTER (WHERE w > n), count(*) FILTER (WHERE w = 3.5) FROM (SELECT g, n, lag(n) OVER (PARTITION BY g ORDER BY id) AS w FROM fine) q GROUP BY g', 'SELECT * FROM (SELECT id, n, lead(n) OVER (PARTITION BY g ORDER BY id) AS w FROM fine) q WHERE id % 3 = 0 ORDER BY id');

# ---- what numbers do not tell is for rows
check_rows('values', over($order, 'lead(lasted)', 'lag(long)', 'stddev(f)', 'sum(n)'), 'SELECT count(w) FROM (SELECT lag(doc) OVER (PARTITION BY g ORDER BY id) AS w FROM t) q');
check_columns('numerics in place of missing rows', map { "SELECT g, $_ FROM (SELECT g, p, lag(p, 1, 0) OVER w AS x, lead(p, 2, 1.5) OVER w AS y, lag(p, 1, -3.25) OVER w AS z FROM t WINDOW w AS (PARTITION BY g ORDER BY id)) q GROUP BY g" } 'sum(p - x), max(x - p), min(p + y)', 'count(*) FILTER (WHERE x > y), count(*) FILTER (WHERE p = x)', 'sum(z), min(z), max(z - p)', 'sum(CASE WHEN x < 5 THEN p - y END)');
check_rows('numerics that show fewer digits', map { "SELECT g, $_ FROM (SELECT g, p, lag(p, 1, 0) OVER w AS x, lead(p, 1, 1.5) OVER w AS y FROM t WINDOW w AS (PARTITION BY g ORDER BY id)) q GROUP BY g" } 'sum(x)', 'max(y)', 'min(x + y)', 'sum(x * p)', 'count(x), min(coalesce(x, p))');
check_rows('odd numerics', 'SELECT g, count(x - p) FROM (SELECT g, p, lag(p, 1, 0.12345) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q GROUP BY g', "SELECT g, max(x - p) FROM (SELECT g, p, lag(p, 1, 'NaN') OVER (PARTITION BY g ORDER BY id) AS x FROM t) q GROUP BY g", 'SELECT g, max(x - p) FROM (SELECT g, p, lag(p, 1, 1e20) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q GROUP BY g');
check_rows('sums beyond numbers', 'SELECT max(w) FROM (SELECT sum(b * 50000000) OVER (PARTITION BY s ORDER BY id) AS w FROM t WHERE b > 0) q', 'SELECT max(w) FROM (SELECT sum(f * 1e150) OVER (PARTITION BY g ORDER BY id) AS w, avg(f * 1e150) OVER (PARTITION BY g ORDER BY id) AS v FROM t) q WHERE v IS NOT NULL');
is($session->answer_by($_->[0], $_->[1]), $session->answer_by('off', $_->[1]), "an error, $_->[0]: $_->[1]")
  foreach map { my $query = $_; map { [ $_, $query ] } 'off', 'force' } 'SELECT sum(100 / (w - 5)) FROM (SELECT lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t) q', 'SELECT max(w) FROM (SELECT sum(f * 1e308) OVER (PARTITION BY s ORDER BY id) AS w FROM t WHERE f > 0) q', 'SELECT max(w) FROM (SELECT avg(f * 1e308) OVER (PARTITION BY s ORDER BY id) AS w FROM t) q';
check_plans($session, 'nothing', sub { return 1; }, 'SELECT g, sum(w) FROM (SELECT g, lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM nothing) q GROUP BY g', 'SELECT count(*), sum(w) FROM (SELECT lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t WHERE g = -5) q');

# ---- parameters, rescans, cursors
check_plans($session, 'once for each row', sub { return 1; }, 'SELECT x, (SELECT sum(w) FROM (SELECT lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t WHERE s = x) q) FROM generate_series(0, 3) x', 'SELECT x, (SELECT sum(w) FROM (SELECT lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t) q WHERE w > x) FROM generate_series(0, 60, 20) x');

# ---- what is computed for each row is
run('CREATE SEQUENCE calls');
is($session->query("SELECT count(w) FROM (SELECT nextval('calls'), lag(a) OVER (PARTITION BY g ORDER BY id) AS w FROM t) q; SELECT last_value FROM calls"), $session->query("SELECT count(lag) FROM (SELECT lag(a) OVER (PARTITION BY g ORDER BY id) FROM t) q") . "\n$rows", 'functions with effects are called');

# ---- memory
foreach my $memory ('64kB', '256kB', '1MB')
{
	run("SET work_mem = '$memory'");
	check_plans($session, "with $memory", sub { return $_[0] =~ /MgpuWindow/; }, over($order, 'lag(a)', 'lead(k, 5)', 'sum(p)', 'ntile(3)', 'first_value(k)', 'cume_dist()'), over('ORDER BY id', 'row_number()', 'lag(a)', 'sum(a)', 'first_value(k)', 'ntile(5)', 'lead(b, 100)'), over('PARTITION BY s ORDER BY id', 'sum(f)', 'max(b)', 'last_value(d)'),
		over('PARTITION BY g ORDER BY d', 'sum(f)', 'count(*)'), over('PARTITION BY s ORDER BY id', 'ntile(9)', 'percent_rank()', 'cume_dist()', 'row_number()'), over('PARTITION BY s ORDER BY d', 'percent_rank()', 'cume_dist()'), over("$order ROWS 60 PRECEDING", 'max(b)', 'avg(f)'), over("PARTITION BY g ORDER BY ts RANGE '2 days' PRECEDING", 'sum(b)', 'avg(f)', 'count(*)'), over("PARTITION BY s ORDER BY ts RANGE '1 hour' PRECEDING", 'max(a)', 'sum(s)'), 'SELECT g, id / 100, max(x), count(*) FROM (SELECT g, id, a - lag(a) OVER (PARTITION BY g ORDER BY id) AS x FROM t) q GROUP BY 1, 2');
}
$node->stop;
done_testing();
