# In jobs: quotients of numerics by any number, which are added, averaged, rounded and compared, with PostgreSQL's digits, which follow from the first digits of
# both; what age() counts; buckets of floats.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('more_forms', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'", 'enable_mergejoin = off', 'enable_nestloop = off', 'autovacuum = off', "timezone = 'Europe/Berlin'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 100_000);

sub run { return $session->run(@_); }

# ---- each pair of some numbers by itself: ends of digits of base 10,000, and quotients that end in the middle of two digits
my $numbers = join ', ', map { ($_, "-$_") } qw(0.0001 0.0003 0.0064 0.4999 0.5 0.9999 1 1.0001 2 3 6 7 9 10 60 99.99 128 3600 4999.5 5000 9998 9999 9999.9999 10000 10001 12345.6789 65536 86400 99999999 99999999.9999 100000000 1234567890.2345);
run("CREATE TABLE numbers AS SELECT n::numeric(20,4) FROM unnest(ARRAY[0, $numbers]) n",
	'CREATE TABLE pairs AS SELECT row_number() OVER (ORDER BY x.n, y.n)::int AS id, x.n AS x, y.n AS y, trim_scale(x.n) AS bare, x.n::numeric(24,6) AS fine FROM numbers x, numbers y WHERE y.n <> 0 AND abs(x.n / y.n) < 4e9 AND (x.n = 0 OR scale(x.n / y.n) <= 24)', 'VACUUM ANALYZE');
check_programs_of_few($session, 'each by itself', 1, (map { "SELECT id, sum($_), avg($_), count($_) FROM pairs GROUP BY id" } 'x / y', 'fine / y', 'bare / y', 'x / 3', 'x / 7.000', 'x / y + 1.25', '1 - fine / y', 'x / y - y / 3', 'y / 86.4', 'y / -0.3'),
	(map { "SELECT id, sum($_), min($_) FROM pairs GROUP BY id" } 'round(x / y, 0)', 'round(x / y, 2)', 'round(x / y, 7)', 'round(x / y, -2)', 'trunc(x / y, 3)', 'floor(x / y)', 'ceil(x / y)', '(x / y)::bigint', '(x / y)::numeric(20,5)', 'sign(x / y)', 'round(x / y)', 'trunc(x / y)', 'round(1 - x / y, 3)', 'floor(x / 3 - y / 7)', 'trunc(y / 3 - x / y, 5)', 'round(coalesce(x / y, 0) - bare, 4)'),
	(map { "SELECT count(*), sum(x) FROM pairs WHERE x / y $_" } '> 0', '>= 0.5', '< -0.00000001', '<= 1', '= 0.33333333', '<> 2', '= 9999', '- 1 < 0'), 'SELECT count(*) FROM pairs WHERE x / y > bare', 'SELECT id, sum(x / y) FROM pairs GROUP BY id HAVING sum(x / y) > 0.3333');
run('CREATE TABLE low_pairs AS SELECT * FROM pairs WHERE abs(x / y) < 1e7', 'VACUUM ANALYZE low_pairs');
check_programs_of_few($session, 'multiples', 1, (map { "SELECT id, sum($_), avg($_), count($_) FROM low_pairs GROUP BY id" } 'x / y * 100', '7.00 * (x / -y)', '1 - x / y * 3', 'round(x / y * 100, 1)', 'ceil(x / y * -300)', 'trunc(100 * (1 - x / y), 2)'), 'SELECT count(*), sum(x) FROM low_pairs WHERE x / y * 100 >= 33.33333333');
check_programs($session, 'beyond programs', 0, (map { "SELECT id % 5, sum($_) FROM pairs GROUP BY 1" } 'x / y / 3', 'round(x / y, 9)', 'CASE WHEN x / y > 0.123456789 THEN 1 END', 'x / y * 1.5', '(x / y)::float8'), 'SELECT x / y, count(*) FROM pairs GROUP BY 1', 'SELECT count(DISTINCT x / y), id % 3 FROM pairs GROUP BY 2', 'SELECT stddev(x / y) FROM pairs');

# ---- as values: the least and the greatest, and in order.  Equal ones may show different digits: then rows come one by one
check_programs_of_few($session, 'extremes', 1, (map { "SELECT id, min($_), max($_), count($_) FROM pairs GROUP BY id" } 'x / y', 'fine / y', '1 - x / y', 'x / 7.000', 'x / y - y / 3'), 'SELECT id % 7, max(x / y) FILTER (WHERE x / y < 100), min(x) FROM pairs WHERE x <> 0 GROUP BY 1', 'SELECT id, max(x / y + 3) FROM pairs WHERE id % 3 > 0 GROUP BY id',
	'SELECT id, max(x / y), sum(x / y), min(round(x / y, 3)) FROM pairs GROUP BY id', 'SELECT id % 9, min(CASE WHEN y > 2 THEN x / y END) FROM pairs WHERE x > 0.3 GROUP BY 1');
check_plans($session, 'extremes that are tied', sub { return 1; }, map { ("SELECT id % 5, min($_), max($_) FROM pairs GROUP BY 1", "SELECT min($_), max($_) FROM pairs WHERE x / y = 1.5 OR x / y = -1.5", "SELECT max($_) FROM pairs WHERE x = 0") } 'x / y', 'x / y * 2', 'coalesce(x / y, 1)');
check_programs_of_few($session, 'orders', 1, (map { ("SELECT id, x, y FROM pairs ORDER BY $_, id LIMIT 100", "SELECT id, $_ FROM pairs ORDER BY $_ DESC, id DESC LIMIT 3000", "SELECT id, $_ AS q FROM pairs WHERE x / y < 300 ORDER BY 2, 1") } 'x / y', '1 - fine / y', 'x / 7.000', 'x / y - y / 3', '-x / y'),
	'SELECT id FROM pairs ORDER BY x / nullif(y, 3) NULLS FIRST, id LIMIT 300', 'SELECT DISTINCT ON (x) x, y, x / y FROM pairs ORDER BY x, x / y, id');

# ---- of columns, filters, choices and NULLs
run('CREATE TABLE visits AS SELECT i AS id, i % 17 AS g, CASE WHEN i % 11 > 0 THEN (i::int8 * 7919 % 1000003 / 100.0 - 2000) END::numeric(12,2) AS cost, (i::int8 * 104729 % 99991 / 100.0 + 0.01)::numeric(9,2) AS size, i::int8 * 31 % 997 - 300 AS number, i % 23 AS maybe, '
	  . "timestamptz '2024-01-01' + i % 1000 * interval '1 minute' AS began, timestamptz '2024-01-01' + i % 1000 * interval '1 minute' + i % 99991 * interval '1.234567 seconds' AS ended, round(i / 7.0, i % 6) AS bare, (i::int8 << 36) AS large FROM generate_series(1, $rows) i",
	"CREATE TABLE places AS SELECT i AS id, (i * 1.25)::numeric(8,3) AS area, 'place ' || i AS name FROM generate_series(0, 16) i", 'VACUUM ANALYZE');
my @quotients = ('cost / size', 'cost / 3600', 'size / 60.0', 'extract(epoch FROM ended - began) / 3600', 'number / 7.0', '100.0 * number / size', 'cost / nullif(maybe, 0)', 'bare / size', 'size / (bare + 1)', 'number::numeric / id', 'large::numeric / 1000003', 'CASE WHEN maybe > 5 THEN cost / size WHEN maybe > 1 THEN size ELSE 0 END',
	'CASE WHEN maybe > 5 THEN cost / size END', 'coalesce(cost / size, size / 3, -1.50)', 'coalesce(cost, size) / 9', '100 * (cost / size)', 'cost / size + number / 3.0', '1 - CASE WHEN maybe > 3 THEN cost / size ELSE 0.25 END');
foreach my $quotient (@quotients)
{
	check_programs($session, "sums of $quotient", 1, "SELECT g, sum($quotient), avg($quotient) FROM visits GROUP BY g", "SELECT sum($quotient), avg($quotient) FILTER (WHERE maybe % 3 = 0), count(*) FROM visits", "SELECT g, maybe, avg($quotient) FROM visits GROUP BY ROLLUP (1, 2)", "SELECT sum($quotient) FROM visits WHERE id < 0");
}
check_programs($session, 'and others', 1, 'SELECT name, avg(cost / area), sum(area / size) FROM visits JOIN places ON places.id = g WHERE area > 0 GROUP BY 1', 'SELECT g, avg(cost / size), sum(cost), max(size), avg(cost / size) / 3 FROM visits GROUP BY g HAVING avg(cost / size) > 5', 'SELECT round(cost / size, 1), count(*) FROM visits GROUP BY 1',
	'SELECT g, count(*) FILTER (WHERE cost / size > 0.5), sum(CASE WHEN cost / size < 0.25 THEN 1 ELSE 0 END) FROM visits GROUP BY g', 'SELECT id, round(cost / size, 3) FROM visits WHERE cost / size > 2 ORDER BY 2 DESC, 1 LIMIT 20');
check_plans($session, 'errors and what does not fit', sub { return 1; }, 'SELECT g, sum(cost / maybe) FROM visits WHERE maybe > 0 GROUP BY g', 'SELECT g, avg(cost / (large * 1000)) FROM visits GROUP BY g', 'SELECT g, sum(large / 0.0003) FROM visits GROUP BY g', 'SELECT g, avg(cost / size) OVER (PARTITION BY g) FROM visits WHERE id < 2000', 'SELECT g, sum(DISTINCT cost / size) FROM visits GROUP BY g');
foreach my $query ('SELECT g, sum(cost / maybe) FROM visits GROUP BY g', 'SELECT count(*) FROM visits WHERE cost / maybe > 1', 'SELECT count(cost / maybe) FROM visits', 'SELECT sum(round(cost / 0, 2)) FROM visits')
{
	like($session->answer_by($_, $query), qr/22012: division by zero/, "$query, $_") foreach 'off', 'force';
}

# ---- ages: ends of months, leap years, hours that come twice or not at all, and years before 1970
my $times = join ', ', map { "('$_')" } '1901-01-01 00:00:01', '1931-02-28', '1969-12-31 23:59:59.999999', '1970-01-01', '1996-02-29 12:00', '2000-02-29', '2000-03-01', '2001-02-28 23:59:59', '2023-01-30', '2023-01-31', '2023-02-28', '2023-03-01', '2023-03-26 01:59:59', '2023-03-26 02:30', '2023-03-26 03:00', '2023-03-31 05:00',
  '2023-10-29 00:30', '2023-10-29 01:59:59.5', '2023-10-29 02:00', '2023-10-29 02:30', '2023-10-29 03:30', '2024-02-29', '2024-03-30 23:00', '2024-03-31 02:15', '2024-12-31', '2099-12-27 23:59:59';
run("CREATE TABLE times AS SELECT row_number() OVER (ORDER BY a, b)::int AS id, a::timestamp, b::timestamp, a::timestamp AT TIME ZONE 'UTC' AS za, b::timestamp AT TIME ZONE 'UTC' + interval '1 second' AS zb, a::date AS da, b::date AS db FROM (VALUES $times) x(a), (VALUES $times, (NULL)) y(b)",
	'CREATE TABLE people AS SELECT i AS id, i % 17 AS g, CASE WHEN i % 19 > 0 THEN date \'1915-01-01\' + i * 7919 % 39000 END AS born, timestamp \'2019-12-31\' + i * 7907 % 1500000 * interval \'97.5 seconds\' AS came, timestamp \'2021-05-30 12:00\' + i * 104729 % 900000 * interval \'1 minute\' AS went, '
	  . "(i % 1000 / 8.0 - 20)::float8 AS score, (i % 60)::int2 AS days, (i % 211 / 10.0)::numeric(8,2) AS price FROM generate_series(1, least($rows, 20000)) i", 'VACUUM ANALYZE');
foreach my $age ('age(a, b)', 'age(za, zb)', 'age(da, db)', 'age(db)', 'age(b)', 'age(za)', 'a - b')
{
	check_programs_of_few($session, "parts of $age", 1, "SELECT id, sum($age), avg($age) FROM times GROUP BY id", "SELECT extract(year FROM $age), extract(month FROM $age), date_part('day', $age), count(*) FROM times GROUP BY 1, 2, 3", "SELECT id, sum(date_part('year', $age)), max(extract(epoch FROM $age)) FROM times GROUP BY id", "SELECT count(*) FROM times WHERE $age > interval '1 year 1 mon 3 days'");
}
check_programs_of_few($session, 'ages of people', 1, "SELECT CASE WHEN a < 26 THEN 'young' WHEN a >= 60 THEN 'old' ELSE 'between' END, count(*), min(born) FROM (SELECT extract(year FROM age(date '2023-07-01', born)) AS a, born FROM people) q GROUP BY 1", "SELECT g, sum(age(went, came)) FILTER (WHERE went > came), avg(age(went, came)), count(*) FILTER (WHERE age(born) >= interval '65 years') FROM people GROUP BY g",
	"SELECT date_part('year', age(timestamp '2024-02-29', born)), count(*) FROM people GROUP BY 1", 'SELECT id, extract(day FROM age(went, came)) FROM people WHERE extract(month FROM age(went, came)) = 7 ORDER BY id LIMIT 30');
check_programs($session, 'other parts', 0, "SELECT extract(hour FROM age(went, came)), count(*) FROM people GROUP BY 1", "SELECT max(age(went, came)) FROM people");
foreach my $zone ('UTC', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo')
{
	run("SET timezone = '$zone'");
	check_programs_of_few($session, "ages in $zone", 1, 'SELECT id, sum(age(za, zb)), sum(age(zb, za)), sum(age(da, db)) FROM times GROUP BY id', "SELECT date_part('year', age(date '2023-07-01', born)), count(*) FROM people GROUP BY 1");
}
run('RESET timezone', "INSERT INTO times (id, a, b, za, zb) VALUES (0, '0044-03-15 BC', '2000-01-01', '1850-01-01 UTC', '2024-01-01 UTC')");
check_plans($session, 'ages since long ago', sub { return 1; }, 'SELECT id, sum(age(a, b)), sum(age(za, zb)) FROM times GROUP BY id');

# ---- buckets of floats: integers that lie where one begins
my @buckets = map { ("width_bucket(score, $_)", "width_bucket(days, $_)", "width_bucket(price::float8, $_)") } '0, 45, 9', '45, 0, 45', '-20, 104.75, 49', '0, 49, 49', '0.5, 1e3, 10000', '0, 1e-3, 7';
check_programs_of_few($session, 'buckets', 1, map { "SELECT $_, count(*), min(score), max(days) FROM people GROUP BY 1" } @buckets);
check_programs($session, 'buckets of others', 0, 'SELECT width_bucket(score, 0, 45, g + 1), count(*) FROM people GROUP BY 1', 'SELECT width_bucket(score, 0, days + 1, 9), count(*) FROM people GROUP BY 1');
run("UPDATE people SET score = CASE id WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE -0.0 END WHERE id < 4");
check_programs_of_few($session, 'infinite ones', 1, 'SELECT width_bucket(score, 0, 45, 9), count(*) FROM people GROUP BY 1');
run("UPDATE people SET score = 'NaN' WHERE id = 5");
check_plans($session, 'NaN', sub { return 1; }, 'SELECT width_bucket(score, 0, 45, 9), count(*) FROM people GROUP BY 1');

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
