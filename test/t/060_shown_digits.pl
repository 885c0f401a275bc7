# Numerics without a declared scale in jobs: statistics say how many digits behind the point they have there.  Where values have more, or too many for
# any job, the answers are PostgreSQL's all the same.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('shown_digits', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'", 'enable_mergejoin = off', 'enable_nestloop = off', 'autovacuum = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 100_000);

sub run { return $session->run(@_); }

# price: up to 7 digits; rate: up to 2; third: 20; tiny: 8, and large before the point; cost: declared.
run('CREATE TABLE bids (id int, kind int, price numeric, rate numeric, third numeric, tiny numeric, cost numeric(10,3), label text)',
	"INSERT INTO bids SELECT i, i % 7, CASE WHEN i % 13 > 0 THEN round(i * 0.0001237, i % 8) END, CASE WHEN i % 11 > 0 THEN round(i % 20000 / 4.0, i % 3) END, i / 3.0,
		CASE i % 3 WHEN 0 THEN -i::numeric WHEN 1 THEN 0.00000001 * i ELSE 0.00000000 END, i / 8.0, 'label ' || i % 40 FROM generate_series(1, $rows) i",
	'CREATE TABLE wins (id int PRIMARY KEY, price numeric, paid numeric(14,6), third numeric)',
	'INSERT INTO wins SELECT i, CASE WHEN i % 9 > 0 THEN round(i * 0.000213, i % 7) END, i * 0.000151, i / 7.0 FROM generate_series(1, ' . $rows / 4 . ') i', 'VACUUM ANALYZE');

check_programs($session, 'of a table', 1, 'SELECT kind, count(price), sum(price), avg(price) FROM bids GROUP BY 1', 'SELECT sum(price), avg(price * 3) FROM bids', 'SELECT kind, sum(price * rate), sum(price + rate), sum(price - cost) FROM bids GROUP BY 1',
	'SELECT kind, count(*) FILTER (WHERE price > rate), count(*) FILTER (WHERE price = cost) FROM bids GROUP BY 1', 'SELECT kind, sum(CASE WHEN price > 1 THEN price ELSE 0.5 END), sum(CASE WHEN rate > 1 THEN rate ELSE price END) FROM bids GROUP BY 1',
	'SELECT kind, sum(round(price, 5)), sum(trunc(price, 2)), sum(-price), sum(abs(price)) FROM bids GROUP BY 1', 'SELECT count(*), sum(price) FROM bids WHERE price BETWEEN 0.00123 AND 1.2345678', 'SELECT kind, variance(cost), stddev(cost) FROM bids WHERE price > 0.1234567 GROUP BY 1',
	'SELECT kind, sum(tiny), count(*) FILTER (WHERE tiny > 0.00000012) FROM bids GROUP BY 1', 'SELECT kind, count(DISTINCT price) FROM bids GROUP BY 1', 'SELECT kind, sum(price) FROM bids GROUP BY 1 HAVING sum(price) > 100.1234567', 'SELECT kind, sum(rate) FROM bids GROUP BY 1');
check_programs($session, 'of joins', 1, 'SELECT kind, sum(b.price), sum(w.price), avg(w.price), sum(b.price - w.price) FROM bids b JOIN wins w ON w.id = b.id GROUP BY 1', 'SELECT kind, count(*) FILTER (WHERE w.price > b.rate), sum(b.price - w.paid) FILTER (WHERE b.price >= w.paid) FROM bids b JOIN wins w ON w.id = b.id GROUP BY 1',
	'SELECT kind, sum(w.price), avg(w.price) FROM bids b LEFT JOIN wins w ON w.id = b.id AND w.price < b.price GROUP BY 1', 'SELECT kind, count(*) FROM bids b JOIN (SELECT DISTINCT price FROM wins WHERE price < 1) w ON w.price = b.rate GROUP BY 1',
	'SELECT kind, count(*) FROM bids b WHERE EXISTS (SELECT FROM wins w WHERE w.id = b.id AND w.price > b.price) GROUP BY 1');
check_plans($session, 'of a join by such a key', sub { return $_[0] =~ /Executor: cpu\n.*Program: \d+/s; }, 'SELECT kind, count(*), sum(w.price) FROM bids b JOIN wins w ON w.price = b.price GROUP BY 1');
check_programs($session, 'of what groups have no cells for', 0, 'SELECT price, count(*), sum(rate) FROM bids GROUP BY 1', 'SELECT kind, min(tiny), max(third) FROM bids GROUP BY 1');
check_programs($session, 'extremes', 1, 'SELECT kind, min(price), max(price) FROM bids WHERE price > 0.3 GROUP BY 1', 'SELECT max(price), min(rate * 3) FROM bids WHERE rate > 1', 'SELECT kind, max(price) FILTER (WHERE id % 3 = 0), min(price) FILTER (WHERE rate > 9000), sum(price) FROM bids GROUP BY 1',
	'SELECT id % 5000, min(price), max(-price), max(price + cost) FROM bids GROUP BY 1', 'SELECT kind, max(w.price), min(w.price) FROM bids b LEFT JOIN wins w ON w.id = b.id GROUP BY 1',
	'SELECT kind, max(price) FROM bids GROUP BY 1 HAVING max(price) > 1', 'SELECT kind, min(cost / 100), max(cost / 8), min(-cost / 1000) FROM bids GROUP BY 1', 'SELECT kind, max(cost * (1 - id % 50 / 100.0)) FROM bids WHERE id < 9000 GROUP BY 1');
# zeros that quotients show behind the digits that they have, in each place and before the point; a few values with one digit more end a job
run('CREATE TABLE shares (id int, kind int, part numeric, whole numeric, odd numeric)',
	"INSERT INTO shares SELECT i, i % 7, CASE WHEN i % 9 > 0 THEN (i % 1000 - 500) / (ARRAY[1.0, 2, 4, 8, 10, 16, 5000])[1 + i % 7] END, i * 10000.0 / 16, i / 8.0 + CASE WHEN i = 9990 THEN 0.000000001 ELSE 0 END FROM generate_series(1, $rows) i", 'VACUUM ANALYZE shares');
check_programs($session, 'zeros that are shown', 1, 'SELECT kind, sum(part), avg(part), count(part), sum(-part) FROM shares GROUP BY 1', 'SELECT kind, sum(part * whole), sum(part + 0.5), sum(part * (1 - part / 100)), sum(round(part * 1.5, 2)), sum(round(part, 1)) FROM shares GROUP BY 1',
	'SELECT kind, min(part), max(part), max(whole) FROM shares WHERE kind <> 3 GROUP BY 1', 'SELECT id, part, whole FROM shares ORDER BY part DESC NULLS LAST, id LIMIT 30', 'SELECT part, id FROM shares WHERE id % 3 = 0 AND part > 0.0625 ORDER BY part, id', 'SELECT kind, count(DISTINCT part), sum(CASE WHEN part > 2 THEN part ELSE 0.25 END) FROM shares GROUP BY 1',
	'SELECT kind, count(*) FILTER (WHERE part = 0.5), count(*) FILTER (WHERE part <> whole), sum(abs(part)), sum(trunc(part, 1)), sum(ceil(part)) FROM shares GROUP BY 1', 'SELECT kind, sum(part) / count(*), sum(part) * 2 FROM shares GROUP BY 1 HAVING sum(part) > -100',
	'SELECT s.kind, sum(b.part), sum(b.part * s.part), max(s.id) FROM shares s JOIN shares b ON b.id = s.id / 10 GROUP BY 1', 'SELECT s.kind, count(*) FROM shares s JOIN (SELECT DISTINCT part FROM shares WHERE part > 0) b ON b.part = s.part GROUP BY 1');
check_plans($session, 'a digit that is not', sub { return 1; }, 'SELECT kind, sum(odd), max(odd) FROM shares GROUP BY 1', 'SELECT kind, sum(odd) FROM shares WHERE id <> 9990 GROUP BY 1', 'SELECT sum(part / 3), sum(odd * odd) FROM shares', 'SELECT kind, variance(part), stddev(whole) FROM shares GROUP BY 1');
run('CREATE TABLE ties (id int, kind int, price numeric)', "INSERT INTO ties SELECT i, i % 3, CASE WHEN i % 3 = 1 THEN round(i % 100, i / 100 % 2 + 1) ELSE round(i % 100, 1) END FROM generate_series(1, $rows) i", 'VACUUM ANALYZE ties');
check_programs($session, 'extremes that show one number of digits', 1, 'SELECT kind, min(price), max(price) FROM ties WHERE kind <> 1 GROUP BY 1');
check_programs($session, 'extremes of which the last counts', 0, 'SELECT kind, max(price) FROM ties GROUP BY 1', 'SELECT kind, min(price) FROM ties GROUP BY 1', 'SELECT max(price), sum(id) FROM ties', 'SELECT kind, max(price) FROM ties GROUP BY ROLLUP (1)');
check_plans($session, 'beside groups that go to a file', sub { return 1; }, "SELECT id, min(price), max(price) FROM ties GROUP BY 1", 'SELECT id / 2, max(price) FROM ties GROUP BY 1');
check_programs($session, 'in order', 1, 'SELECT id, price, rate FROM bids ORDER BY price DESC NULLS LAST, id LIMIT 40', 'SELECT price, rate, id FROM bids WHERE id % 3 = 0 ORDER BY rate, price DESC, id', 'SELECT DISTINCT ON (kind) kind, rate, id FROM bids ORDER BY kind, rate DESC NULLS LAST, id',
	'SELECT * FROM (SELECT kind, id, tiny, rank() OVER (PARTITION BY kind ORDER BY rate DESC) AS r FROM bids) q WHERE r <= 3 ORDER BY kind, r, id', 'SELECT b.id, w.price FROM bids b JOIN wins w ON w.id = b.id ORDER BY w.price DESC NULLS FIRST, b.id LIMIT 50',
	'SELECT kind, max(r), sum(d) FROM (SELECT kind, rank() OVER (PARTITION BY kind ORDER BY rate) AS r, id - lag(id) OVER (PARTITION BY kind ORDER BY rate, id) AS d FROM bids) q GROUP BY 1');
check_programs($session, 'beside columns with too many digits', 1, 'SELECT id, price, rate, third FROM bids ORDER BY id DESC LIMIT 5', 'SELECT b.id, b.rate, w.price, w.third FROM bids b JOIN wins w ON w.id = b.id ORDER BY b.id DESC LIMIT 5', 'SELECT kind, sum(rate), count(third) FROM bids GROUP BY 1');
check_programs($session, 'of too many digits', 0, 'SELECT kind, sum(third) FROM bids GROUP BY 1', 'SELECT kind, sum(price + third) FROM bids GROUP BY 1', 'SELECT count(*), sum(rate) FROM bids WHERE third > 5', 'SELECT kind, sum(w.third) FROM bids b JOIN wins w ON w.id = b.id GROUP BY 1',
	'SELECT w.third, count(*) FROM bids b JOIN wins w ON w.third = b.third GROUP BY 1');
# a product has the digits of both factors
check_programs($session, 'of a product that is too large', 0, 'SELECT kind, sum(tiny * tiny * 1000) FROM bids GROUP BY 1');

# Nothing is known of these rows: those of a build are looked at.
check_programs($session, 'of rows that are no table\'s', 1, 'WITH c AS MATERIALIZED (SELECT id, price * 2 AS price, rate FROM bids WHERE id < 90) SELECT kind, sum(c.price), sum(b.rate) FROM bids b JOIN c ON c.id = b.id GROUP BY 1',
	'SELECT kind, sum(v.n) FROM bids b JOIN (VALUES (1, 1.5), (2, 0.1234567), (3, NULL)) v(k, n) ON v.k = b.kind GROUP BY 1');
check_plans($session, 'of rows with too many digits', sub { return 1; }, 'WITH c AS MATERIALIZED (SELECT kind, avg(rate) AS rate FROM bids GROUP BY 1) SELECT b.kind, sum(c.rate) FROM bids b JOIN c ON c.kind = b.kind GROUP BY 1');

# Values that came later have more digits than statistics say.
run('INSERT INTO bids (id, kind, price, rate) VALUES (-1, 3, 0.123456789, 1), (-2, 4, 1, 0.12345678)', "INSERT INTO wins VALUES (-1, 0.123456789, 1)");
check_programs($session, 'more digits than are known', 0, 'SELECT kind, count(price), sum(price) FROM bids GROUP BY 1', 'SELECT kind, sum(rate) FROM bids GROUP BY 1', 'SELECT kind, sum(w.price) FROM bids b JOIN wins w ON w.id = b.id GROUP BY 1');
check_programs($session, 'fewer', 1, 'SELECT kind, count(price), sum(price) FROM bids WHERE id > 0 GROUP BY 1');
run('ANALYZE bids', "INSERT INTO bids (id, kind, price, rate) VALUES (0, 5, 'NaN', 'infinity')");
check_programs($session, 'NaN', 0, 'SELECT kind, sum(price) FROM bids GROUP BY 1', 'SELECT kind, sum(rate) FROM bids GROUP BY 1');

done_testing();
