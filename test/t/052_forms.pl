# Texts that are made, regular expressions, intervals, quotients, and what arrays and documents contain, in jobs: as keys, arguments and conditions, of tables and of joins.
# The answers, and errors, are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('forms', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 300_000);

sub run { return $session->run(@_); }

run('CREATE TABLE t (id int PRIMARY KEY, path text, name text, code int, price numeric(8,2), lasted interval, since timestamptz, until timestamptz, tags text[], numbers int[], large int8[], data jsonb)',
	"INSERT INTO t SELECT i, CASE WHEN i % 31 > 0 THEN '/api/' || (ARRAY['Items', 'users', 'CART'])[1 + i % 3] || '/' || i % 40 END, CASE WHEN i % 17 > 0 THEN (ARRAY['Zoë', 'émile', 'Ömer', 'ÑANDÚ', 'plain', 'МИР'])[1 + i % 6] || ' ' || i % 9 END,
		i % 100, i % 700 / 4.0, CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN i % 50 * interval '1 day 2 hours' WHEN 2 THEN i % 20 * interval '-1 month 3 days' ELSE i % 5000 * interval '1.5 s' END,
		timestamptz '2026-01-01 00:00+00' + i * interval '7 min', CASE WHEN i % 23 > 0 THEN timestamptz '2026-01-01 00:00+00' + i * interval '7 min' + (i % 90 - 20) * interval '67 min' END,
		CASE WHEN i % 13 > 0 THEN ARRAY['t' || i % 5, CASE WHEN i % 7 > 0 THEN 't' || i % 8 END, 'long tag, number ' || i % 3] END, CASE WHEN i % 11 > 0 THEN ARRAY[i % 5, -(i % 4), NULL] ELSE '{}' END, ARRAY[i % 3, 10000000000],
		jsonb_build_object('k', i % 12, 'v', 'v' || i % 5, 'ok', i % 2 = 0, 'price', round(i % 30 / 4.0, i % 4), 'list', jsonb_build_array(i % 3), 'none', null) FROM generate_series(1, $rows) i",
	'CREATE TABLE names (id int PRIMARY KEY, label text, tags text[])', "INSERT INTO names SELECT i, 'Label ' || chr(65 + i % 26), ARRAY['t' || i % 5] FROM generate_series(0, 99) i", 'VACUUM ANALYZE');

# ---- texts that are made
check_programs($session, 'keys', 1, 'SELECT lower(path), count(*), max(id) FROM t GROUP BY 1', 'SELECT upper(path), lower(name), count(*) FROM t GROUP BY 1, 2', "SELECT split_part(path, '/', 3) || '-' || code % 5, sum(price) FROM t GROUP BY 1",
	"SELECT concat(code, ':', path, NULL, code % 3), count(*) FROM t GROUP BY 1", "SELECT replace(path, '/api/', ''), count(*) FROM t GROUP BY 1", 'SELECT code::text, price::text, count(*) FROM t GROUP BY 1, 2', "SELECT lower(split_part(path, '/', 3)), avg(price) FROM t GROUP BY 1");
check_programs($session, 'conditions', 1, "SELECT code % 4, count(*) FROM t WHERE lower(path) = '/api/items/3' GROUP BY 1", "SELECT count(*) FROM t WHERE path ILIKE '%ITEMS/_2'", "SELECT code % 4, count(*) FROM t WHERE path NOT ILIKE '%cart%' AND name IS NOT NULL GROUP BY 1",
	"SELECT count(*), min(id) FROM t WHERE upper(left(path, 8)) || code LIKE '/API/CAR%7'", "SELECT count(*) FROM t WHERE concat(path, code) IN ('/api/Items/00', '/api/users/11', '33')", "SELECT count(*) FROM t WHERE length(lower(path) || code::text) > 14");
check_programs($session, 'letters beyond ASCII', 1, 'SELECT lower(name COLLATE "C"), upper(name COLLATE "C"), count(*) FROM t GROUP BY 1, 2', 'SELECT count(*) FROM t WHERE name COLLATE "C" ILIKE \'%ë%\'');
check_programs($session, 'aggregates', 1, 'SELECT code % 5, max(lower(path)), min(path || code), count(DISTINCT upper(path)) FROM t GROUP BY 1', "SELECT code % 5, count(*) FILTER (WHERE path ILIKE '%cart%') FROM t GROUP BY 1");
check_programs($session, 'rows in order', 1, 'SELECT id, lower(path) FROM t ORDER BY price DESC, id LIMIT 20', "SELECT id, path || '#' || code FROM t WHERE path ~ 's/[12]\$' ORDER BY since DESC LIMIT 15");
check_programs($session, 'joins', 1, "SELECT lower(label), (code % 2)::text, count(*) FROM t JOIN names ON names.id = code GROUP BY 1, 2", "SELECT upper(label), count(*), sum(price) FROM t LEFT JOIN names ON names.id = code - 1 WHERE path ~* 'USERS' GROUP BY 1",
	"SELECT code % 3, count(*) FROM t WHERE EXISTS (SELECT FROM names n WHERE n.id = t.code AND n.label ILIKE '% b') GROUP BY 1");
check_programs($session, 'texts that are long', 1, "SELECT code % 3, count(*) FROM t WHERE replace(path, '/', repeat('x', 60)) LIKE '%xxxapi%' GROUP BY 1");
check_programs($session, 'functions that are none', 0, 'SELECT initcap(path), count(*) FROM t GROUP BY 1', "SELECT count(*) FROM t WHERE path ~ '(a)p\\1'", "SELECT count(*) FROM t WHERE path ILIKE name");

# ---- regular expressions
check_programs($session, 'regular expressions', 1, map { ("SELECT code % 3, count(*) FROM t WHERE path ~ '$_' GROUP BY 1", "SELECT count(*) FROM t WHERE NOT (path ~* '$_')", "SELECT path !~ '$_', count(*) FROM t GROUP BY 1") }
	  '^/api/(items|Users|CART)/[0-9]+$', '[^/]{5}', 'a|b|c', '^$', 's/\\\\d\\\\d', '(?i)ITEMS', '^(/[a-z]+)+/1', '.*', 'x{0}', '[[:upper:]][[:lower:]]');
check_programs($session, 'of letters beyond ASCII', 1, "SELECT count(*) FROM t WHERE name ~ '^[A-ZÀ-Þ]'", "SELECT name ~ 'ë|Ú', count(*) FROM t GROUP BY 1", "SELECT count(*) FROM t WHERE name ~ '^.{4} [0-5]\$'");
is($session->answer_by($_, "SELECT count(*) FROM t WHERE path ~ '('"), $session->answer_by('off', "SELECT count(*) FROM t WHERE path ~ '('"), "an expression that is none, $_") foreach 'off', 'force';

# ---- intervals
check_programs($session, 'sums and averages of intervals', 1, 'SELECT code % 7, avg(lasted), sum(lasted), count(lasted) FROM t GROUP BY 1', 'SELECT avg(lasted), sum(lasted) FROM t', 'SELECT code % 7, avg(until - since), sum(until - since), sum(since - until) FROM t GROUP BY 1',
	'SELECT code % 7, avg(lasted) FILTER (WHERE code > 50), sum(until - since) FILTER (WHERE path IS NULL) FROM t GROUP BY 1', "SELECT code % 7, sum(interval '1 day 2 hours'), avg(interval '-1 month') FROM t GROUP BY 1",
	'SELECT label, avg(lasted), sum(until - since) FROM t JOIN names ON names.id = code GROUP BY 1', 'SELECT code % 3, code % 5, sum(lasted), avg(until - since) FROM t GROUP BY ROLLUP (1, 2)');
check_programs($session, 'conditions of intervals', 1, "SELECT code % 7, count(*) FROM t WHERE lasted > interval '1 hour' GROUP BY 1", "SELECT count(*) FROM t WHERE lasted = interval '2 days 4 hours' OR lasted < interval '-2 months'", "SELECT code % 7, sum(extract(epoch FROM lasted)) FROM t GROUP BY 1",
	'SELECT count(*) FROM t WHERE lasted >= until - since', "SELECT lasted BETWEEN interval '0' AND interval '5 min', count(*) FROM t GROUP BY 1");
check_programs($session, 'percentiles of intervals between times', 1, 'SELECT code % 7, percentile_disc(0.9) WITHIN GROUP (ORDER BY until - since) FROM t GROUP BY 1', 'SELECT percentile_disc(ARRAY[0, 0.37, NULL, 1]) WITHIN GROUP (ORDER BY until - since DESC) FROM t',
	'SELECT code % 7, percentile_cont(0.21) WITHIN GROUP (ORDER BY since - until), percentile_cont(ARRAY[0.1, 0.77]) WITHIN GROUP (ORDER BY until - since) FILTER (WHERE path IS NOT NULL AND code > 3) FROM t GROUP BY 1',
	"SELECT label, percentile_disc(0.5) WITHIN GROUP (ORDER BY until::timestamp - since::timestamp), sum(until - since) FROM t JOIN names ON names.id = code GROUP BY 1", "SELECT code % 3, percentile_disc(0.5) WITHIN GROUP (ORDER BY until - timestamptz '1815-06-18') FROM t GROUP BY 1");
check_programs($session, 'extremes of intervals between times', 1, 'SELECT code % 7, max(until - since), min(until - since), avg(until - since) FROM t GROUP BY 1', 'SELECT code % 5, min(until - since) FILTER (WHERE code > 30), max(until - since) FILTER (WHERE code < 0) FROM t GROUP BY 1',
	'SELECT max(since - until), min(since - until), count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY since - until) FROM t');
check_programs($session, 'extremes of other intervals', 0, 'SELECT code % 7, max(lasted) FROM t GROUP BY 1');
check_programs($session, 'percentiles of other intervals', 0, 'SELECT code % 7, percentile_disc(0.9) WITHIN GROUP (ORDER BY lasted) FROM t GROUP BY 1', 'SELECT code % 7, mode() WITHIN GROUP (ORDER BY until - since) FROM t GROUP BY 1');
check_plans($session, 'intervals by rows', sub { return 1; }, 'SELECT code % 7, avg(lasted), max(lasted), string_agg(path, NULL) IS NULL FROM t GROUP BY 1', 'SELECT id, avg(lasted) OVER (PARTITION BY code ORDER BY id ROWS 5 PRECEDING), sum(lasted) OVER (PARTITION BY code) FROM t ORDER BY id LIMIT 100');
run("CREATE TABLE odd AS SELECT * FROM t WHERE id < $rows / 2", "UPDATE odd SET lasted = interval '170000000 years' WHERE code = 3 AND id % 500 < 400", 'VACUUM ANALYZE odd');
check_plans($session, 'an overflow', sub { return 1; }, 'SELECT code, sum(lasted) FROM odd GROUP BY 1', 'SELECT code, avg(lasted) FROM odd WHERE code <> 3 GROUP BY 1', 'SELECT code, max(lasted) FROM odd GROUP BY 1', "SELECT count(*) FROM odd WHERE lasted > interval '1 day'");
SKIP:
{
	skip 'intervals are finite before 17', 3 if $session->query('SHOW server_version_num') < 170000;
	run("UPDATE odd SET lasted = 'infinity' WHERE code IN (3, 4)", "UPDATE odd SET lasted = '-infinity' WHERE code = 5 AND id % 7 = 0");
	check_plans($session, 'infinite ones', sub { return 1; }, 'SELECT code, sum(lasted), avg(lasted) FROM odd GROUP BY 1', "SELECT count(*) FROM odd WHERE lasted > interval '1 day'");
	# PostgreSQL raises the same elsewhere
	like($session->answer_by($_, 'SELECT sum(lasted) FROM odd'), qr/22008: interval out of range/, "both infinities, $_") foreach 'off', 'force';
}

# ---- squares of integers and numerics: exact, and PostgreSQL's digits
run('CREATE TABLE measures AS SELECT i AS id, i % 23 AS g, (i % 400 - 200)::int2 AS s, (i::int8 * 7919 % 100003 - 50000)::int4 AS v, i::int8 * 1000003 AS w, (i % 7919 / 8.0)::numeric(9,3) AS n, round(i % 31 / 4.0, i % 4) AS bare, 5.50::numeric(6,2) AS same, CASE WHEN i % 5 = 0 THEN i % 97 END AS few, '
	  . "CASE WHEN i % 4000 = 7 THEN 12000000000 ELSE i END AS large, CASE WHEN i % 3000 = 9 THEN 'NaN' ELSE i / 16.0 END::numeric(12,4) AS odd FROM generate_series(1, $rows) i", 'VACUUM ANALYZE measures');
my $squares = 'stddev(%1$s), stddev_samp(%1$s), stddev_pop(%1$s), variance(%1$s), var_samp(%1$s), var_pop(%1$s), avg(%1$s)';
check_programs($session, "squares of $_", 1, map { my $calls = sprintf($squares, $_); ("SELECT g, $calls FROM measures GROUP BY g", "SELECT $calls FROM measures", "SELECT id, $calls FROM measures WHERE id < 2000 GROUP BY id") } $_) foreach 's', 'v', 'w / 1000', 'n', 'bare', 'same', 'few', 'n * 2 - v', 'nullif(v, 3)', '-n';
check_programs($session, 'beside others', 1, 'SELECT g, count(*), sum(n), stddev(n), stddev(v), max(v), variance(n) FILTER (WHERE v > 0), stddev(v) FILTER (WHERE few IS NOT NULL) FROM measures GROUP BY g', 'SELECT g, s % 3, stddev(n), variance(v), count(*) FROM measures GROUP BY ROLLUP (1, 2)',
	'SELECT label, stddev(n), var_pop(s) FROM measures JOIN names ON names.id = g GROUP BY 1', 'SELECT stddev(few), variance(n) FROM measures WHERE id < 0', 'SELECT g, stddev(n) FROM measures GROUP BY g HAVING variance(n) > 80000');
check_plans($session, 'squares by rows', sub { return 1; }, (map { sprintf("SELECT g, $squares FROM measures GROUP BY g", $_) } 'large', 'odd', 'w * 1000', 's / nullif(few, 0)', 'n / 3'), 'SELECT g, stddev(n), string_agg(s::text, NULL ORDER BY id) IS NULL FROM measures GROUP BY g',
	'SELECT id, stddev(n) OVER w, variance(v) OVER w, stddev_pop(w) OVER (PARTITION BY g ORDER BY id ROWS 4 PRECEDING), var_samp(s) OVER w FROM measures WINDOW w AS (PARTITION BY g ORDER BY id)', 'SELECT g, stddev(DISTINCT s), variance(v ORDER BY id) FROM measures GROUP BY g');
run('SET max_parallel_workers_per_gather = 2', 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0');
check_plans($session, 'squares and workers', sub { return 1; }, map { sprintf("SELECT g, $squares FROM measures WHERE random() < 2 GROUP BY g", $_) } 's', 'v', 'w', 'n');
run('RESET max_parallel_workers_per_gather', 'RESET parallel_setup_cost', 'RESET parallel_tuple_cost', 'RESET min_parallel_table_scan_size');

# ---- quotients by a constant: exact, and with PostgreSQL's digits, which change from row to row
run('CREATE TABLE sales AS SELECT i AS id, (i % 9)::int2 AS quantity, (i::int8 * 7919 % 1000003 / 100.0)::numeric(12,2) AS price, CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 100 WHEN 2 THEN 150 ELSE i % 60 END::numeric(5,2) AS discount, i % 120 AS off, i::int8 * 7919 % 100003 * (i % 3 - 1) * 100000 AS cents, '
	  . "round(i % 20011 / 16.0 - 300, i % 5) AS bare, 'shop ' || i % 41 AS shop, (10::numeric ^ (i % 14 - 2) * (i % 5 - 2))::numeric(18,4) AS spread, CASE WHEN i % 3000 = 9 THEN 1e15 WHEN i % 3000 = 11 THEN 'NaN' ELSE i / 16.0 END::numeric AS odd FROM generate_series(1, $rows) i", 'VACUUM ANALYZE sales');
my @quotients = ('quantity * price * (1 - discount / 100)', 'round(quantity * price * (1 - discount / 100), 2)', 'price * (1 - off / 100.0)', 'cents / 100.0', 'cents / 1024.0', 'price / 4', 'spread / 8', 'spread / 20.000', 'spread / 0.25 - bare / 1000', 'bare / 2.0', 'bare * (1 - discount / 100) * (1 + off / 50.0)',
	'price / 100 / 5', 'coalesce(discount, 0) / 100', 'CASE WHEN off > 60 THEN price / 100 ELSE 0 END', '(price / 12500)::numeric(20,6)', '(bare / 4)::float8::int');
foreach my $quotient (@quotients)
{
	check_programs($session, "sums of $quotient", 1, "SELECT shop, sum($quotient), avg($quotient), count($quotient) FROM sales GROUP BY shop", "SELECT sum($quotient), avg($quotient) FILTER (WHERE off % 3 = 0) FROM sales", "SELECT id, sum($quotient) FROM sales WHERE id < 3000 GROUP BY id");
}
check_programs($session, 'and others of them', 1, 'SELECT shop, stddev(price / 100), var_pop(discount / 4), sum(price / 100) FROM sales GROUP BY shop', 'SELECT shop, count(DISTINCT discount / 100) FROM sales GROUP BY shop', 'SELECT shop, sum(price / 100) FROM sales WHERE price / 8 * quantity > 90 GROUP BY shop HAVING sum(price / 100) > 6000',
	'SELECT off % 4, quantity % 3, sum(price / 100), avg(bare / 8) FROM sales GROUP BY ROLLUP (1, 2)', 'SELECT label, sum(price * (1 - discount / 100)), sum(names.id / 4.0) FROM sales JOIN names ON names.id = off GROUP BY 1', 'SELECT round(price / 100 * 3, 1), count(*) FROM sales GROUP BY 1');
check_plans($session, 'of which each shows its own digits, and others', sub { return 1; }, 'SELECT shop, max(price / 4), min(spread / 100) FROM sales GROUP BY shop', 'SELECT price / 100, count(*) FROM sales GROUP BY 1', 'SELECT id, price / 100, spread / 8 FROM sales ORDER BY spread / 8, id LIMIT 100', 'SELECT id, sum(spread / 8) OVER (PARTITION BY shop ORDER BY id) FROM sales WHERE id < 2000',
	(map { "SELECT shop, sum($_), avg($_), stddev($_) FROM sales GROUP BY shop" } 'odd / 100', 'price / 3', 'price / -4', 'price / off', 'price / 4 * (discount / 100) * (bare / 2) * (off / 8.0)', 'spread / 65536 / 65536', 'cents * 1000000 / 1024.0'), 'SELECT sum(price / (off - off)) FROM sales');

# ---- what arrays and documents contain
check_programs($session, 'lengths of arrays', 1, 'SELECT cardinality(tags), array_length(tags, 1), count(*) FROM t GROUP BY 1, 2', 'SELECT code % 5, max(cardinality(numbers)), sum(array_length(large, 1)) FROM t WHERE cardinality(tags) > 1 GROUP BY 1');
check_programs($session, 'arrays', 1, "SELECT code % 5, count(*) FROM t WHERE 't3' = ANY (tags) GROUP BY 1", "SELECT 't3' = ANY (tags), count(*) FROM t GROUP BY 1", "SELECT count(*) FROM t WHERE tags @> '{t1,long tag\\, number 2}'", "SELECT count(*) FROM t WHERE tags && ARRAY['t2', 't7', 'none']",
	"SELECT tags @> '{t1}', tags && '{t1,t2}', '{t4}' <@ tags, count(*) FROM t GROUP BY 1, 2, 3", 'SELECT 3 = ANY (numbers), -2 = ANY (numbers), count(*) FROM t GROUP BY 1, 2', "SELECT count(*) FROM t WHERE numbers @> '{0,-1}'", 'SELECT count(*) FROM t WHERE code = ANY (numbers)',
	"SELECT large && '{10000000000}', large @> '{2,10000000000}', count(*) FROM t GROUP BY 1, 2", 'SELECT count(*) FROM t WHERE NOT 3 = ANY (numbers)', 'SELECT code <> ALL (numbers), count(*) FROM t GROUP BY 1', "SELECT count(*) FROM t WHERE lower('T' || code % 6) = ANY (tags)");
check_programs($session, 'documents', 1, "SELECT code % 5, count(*) FROM t WHERE data \@> '{\"k\": 7}' GROUP BY 1", "SELECT count(*) FROM t WHERE data \@> '{\"v\": \"v3\", \"ok\": true}'", "SELECT data \@> '{\"price\": 2.5}', data \@> '{\"price\": 2.5000000}', data \@> '{\"none\": null}', count(*) FROM t GROUP BY 1, 2, 3",
	"SELECT data \@> '{\"k\": \"7\"}', data \@> '{\"no such key\": 1}', count(*) FROM t GROUP BY 1, 2");
check_programs($session, 'lists are PostgreSQL\'s', 0, "SELECT count(*) FROM t WHERE data \@> '{\"list\": [1]}'", "SELECT count(*) FROM t WHERE tags \@> '{}'", "SELECT count(*) FROM t WHERE tags \@> '{NULL}'", 'SELECT count(*) FROM t WHERE code < ANY (numbers)');
run('CREATE INDEX ON t USING gin (tags)', 'CREATE INDEX ON t USING gin (data)', 'ANALYZE t');
check_plans($session, 'with indexes', sub { return 1; }, "SELECT code % 5, count(*), avg(lasted) FROM t WHERE tags \@> '{t1}' GROUP BY 1", "SELECT code % 5, sum(price) FROM t WHERE data \@> '{\"k\": 7}' GROUP BY 1");

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
