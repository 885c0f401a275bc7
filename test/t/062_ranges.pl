# Ranges in jobs: conditions, bounds, keys, values that are handed on, joins with a condition on ranges beside an equality; and what statements of reports do beside
# them: texts of dates and of enums.  The answers are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('ranges', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'", 'enable_mergejoin = off', 'enable_nestloop = off', 'autovacuum = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off -c timezone=America/New_York');
my $rows = sized(tiered(7_000, 20_000), 100_000);

sub run { return $session->run(@_); }

# Bounds that are missing, belong to the range or do not, or are infinite; of columns that rows store with a short header, and with a long one.
sub range_of
{
	my ($type, $at, $step, $edge) = @_;

	return "CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN 'empty' WHEN i % 23 = 0 THEN '(,)' WHEN i % 29 = 0 THEN $type($edge, NULL, '[]') WHEN i % 31 = 0 THEN $type(NULL, $edge, '(]')
		ELSE $type(CASE WHEN i % 7 > 0 THEN $at + (i % 300) * $step END, CASE WHEN i % 11 > 0 THEN $at + (i % 300 + i % 5) * $step END, (ARRAY['[)', '[]', '()', '(]'])[1 + i % 4]) END";
}

run("CREATE TYPE status AS ENUM ('booked', 'paid', 'it''s off', 'gone')", 'CREATE DOMAIN stay AS daterange',
	'CREATE TABLE t (id int PRIMARY KEY, kind int, d date, n int, big int8, at timestamp, zoned timestamptz, days daterange, long_days daterange, ints int4range, bigs int8range, times tsrange, zones tstzrange, nums numrange, own stay, s status, name text)',
	'ALTER TABLE t ALTER long_days SET STORAGE PLAIN',
	'INSERT INTO t SELECT i, i % 7, CASE WHEN i % 13 > 0 THEN CASE i % 101 WHEN 5 THEN \'infinity\' WHEN 6 THEN \'-infinity\' ELSE date \'2024-01-01\' + i % 300 END END, i % 300, i % 300 + 10000000000, timestamp \'2024-01-01\' + i % 300 * interval \'1 h\',
		timestamptz \'2024-03-01\' + i % 300 * interval \'1 h\', ' . join(', ', range_of('daterange', "date '2024-01-01'", 1, "date 'infinity'"), range_of('daterange', "date '2024-01-01'", 1, "date '-infinity'"), range_of('int4range', 0, 1, 5), range_of('int8range', '10000000000', 1, 5),
		range_of('tsrange', "timestamp '2024-01-01'", "interval '1 h'", "timestamp 'infinity'"), range_of('tstzrange', "timestamptz '2024-03-01'", "interval '1 h'", "timestamptz '-infinity'"), range_of('numrange', '1.5', '0.5', '7.25'), range_of('daterange', "date '2024-02-01'", 1, "date '2024-02-02'")) .
		", CASE WHEN i % 41 > 0 THEN (enum_range(NULL::status))[1 + i % 4] END, 'name ' || i % 30 FROM generate_series(1, $rows) i",
	"ALTER TABLE t ADD added daterange DEFAULT '[2024-01-05,2024-02-01)'", "INSERT INTO t (id, kind, days, added) SELECT -i, i, '[2024-01-01,2024-01-09)', NULL FROM generate_series(1, 5) i",
	'CREATE TABLE r (id int PRIMARY KEY, kind int, days daterange, times tsrange, bigs int8range, label text, s status)',
	'INSERT INTO r SELECT i, i % 5, ' . join(', ', range_of('daterange', "date '2024-01-10'", 1, "date 'infinity'"), range_of('tsrange', "timestamp '2024-01-02'", "interval '1 h'", "timestamp '2024-01-05'"), range_of('int8range', '10000000010', 1, 5)) .
		", 'label ' || i % 9, (enum_range(NULL::status))[1 + i % 3] FROM generate_series(1, 400) i", 'VACUUM ANALYZE');

# ---- of one table
my @pairs = (['days', 'd', "'[2024-02-01,2024-03-01)'::daterange"], ['long_days', 'd', "'(,2024-03-01)'::daterange"], ['days', 'd', "'[2024-06-01,infinity]'::daterange"], ['ints', 'n', "'[50,60)'::int4range"], ['bigs', 'big', "'[10000000020,)'::int8range"],
	['times', 'at', "'(2024-01-03,2024-01-05 12:00]'::tsrange"], ['zones', 'zoned', "'[2024-03-10 01:30,2024-03-10 03:30)'::tstzrange"], ['added', 'd', "'empty'::daterange"], ['own', 'd', "'(,)'::daterange"]);

foreach my $pair (@pairs)
{
	my ($range, $element, $constant) = @$pair;

	check_programs($session, "$range, $element, $constant", 1,
		"SELECT kind, count(*), count($range), min(lower($range)), max(lower($range)), min(upper($range)), max(upper($range)), count(*) FILTER (WHERE isempty($range)), count(*) FILTER (WHERE lower_inc($range)), count(*) FILTER (WHERE upper_inc($range)), count(*) FILTER (WHERE NOT lower_inf($range)), count(upper_inf($range)) FROM t GROUP BY 1",
		(map {"SELECT count(*), min(id) FROM t WHERE $_"} "$range @> $element", "NOT $element <@ $range", "$range @> $constant", "$range <@ $constant", "$range && $constant", "NOT $range && $constant", "$range << $constant", "$constant << $range", "$range >> $constant",
			"$range -|- $constant", "$range = $constant", "$range <> $constant", "$element <@ $constant", "$range IN ($constant, 'empty', NULL)", "$range IS NULL", "$range IS DISTINCT FROM $constant"),
		"SELECT $range @> $element, $range && $constant, count(*) FROM t GROUP BY 1, 2", "SELECT count(*) FROM t WHERE $range @> upper($constant) OR $constant -|- $range");
	check_programs($session, "$range as a key, and handed on", 1, "SELECT $range, count(*), max(id) FROM t GROUP BY 1", "SELECT DISTINCT $range, kind % 2 FROM t", "SELECT kind, count(DISTINCT $range) FROM t GROUP BY 1", "SELECT id, $range, upper($range) FROM t ORDER BY kind, id DESC LIMIT 40",
		"SELECT id, $range FROM t WHERE $range @> $element ORDER BY name, id", "SELECT kind, CASE WHEN kind > 3 THEN $range ELSE $constant END, coalesce($range, $constant), count(*) FROM t GROUP BY 1, 2, 3", "SELECT lower($range * $constant), upper($range * $constant), count(*) FROM t GROUP BY 1, 2");
}
check_programs($session, 'two columns', 1, 'SELECT kind, count(*) FILTER (WHERE days @> long_days), count(*) FILTER (WHERE days <@ added), count(*) FILTER (WHERE days && added), count(*) FILTER (WHERE days << long_days), count(*) FILTER (WHERE days >> added), count(*) FILTER (WHERE days -|- added), count(*) FILTER (WHERE days = long_days) FROM t GROUP BY 1',
	'SELECT kind, min(lower(days * added)), max(upper(days * added)), count(lower(days * long_days)), count(lower(days * days)) FROM t GROUP BY 1', "SELECT kind, sum(upper(days) - lower(days)) FROM t WHERE id > 0 AND upper(days) < 'infinity' AND lower(days) > '-infinity' GROUP BY 1", "SELECT to_char(lower(added), 'YYYY-MM'), count(*) FROM t GROUP BY 1",
	"SELECT date_trunc('month', lower(times)), sum(n) FROM t WHERE upper(times) < 'infinity' GROUP BY 1", 'SELECT kind, lower(ints) % 4, sum(upper(bigs) - lower(bigs)) FROM t GROUP BY 1, 2');
check_programs($session, 'a parameter', 1, "SELECT count(*) FROM t WHERE days @> (SELECT max(d) - 20 FROM t WHERE d < 'infinity')", "SELECT kind, count(*) FROM t WHERE times && (SELECT times FROM r WHERE id = 8) GROUP BY 1");
# ranges have an order of their own, and others than these have no operation
check_programs($session, 'an order of ranges', 0, 'SELECT id, days FROM t ORDER BY days, id LIMIT 10', 'SELECT count(*) FROM t WHERE days < \'[2024-03-01,2024-04-01)\'', 'SELECT count(*) FROM t WHERE days &< \'[2024-03-01,2024-04-01)\'');
check_programs($session, 'numrange', 0, 'SELECT count(*), min(upper(nums)) FROM t WHERE nums @> 4.5', 'SELECT nums, count(*) FROM t GROUP BY 1', "SELECT count(*) FROM t WHERE nums = '[1.5,2.5)'");
check_plans($session, 'by rows', sub { return 1; }, "SELECT id, days @> d, lower(times), days && '[2024-02-01,2024-03-01)', days FROM t WHERE NOT upper_inf(days) AND random() >= 0 ORDER BY id", 'SELECT days, range_agg(added) FROM t GROUP BY 1', 'SELECT kind, array_agg(days ORDER BY id), array_agg(DISTINCT times) FROM t GROUP BY 1',
	'SELECT id, lag(upper(days)) OVER (PARTITION BY kind ORDER BY lower(days), id), days FROM t', 'SELECT id, row_number() OVER (PARTITION BY days ORDER BY id) FROM t', 'SELECT count(DISTINCT (kind, days)) FROM t', 'SELECT kind, days, count(*) FROM t GROUP BY ROLLUP (1, 2)', 'SELECT days FROM t UNION SELECT added FROM t',
	'SELECT DISTINCT ON (days) days, id FROM t ORDER BY days, id', 'SELECT id, days FROM (SELECT id, days, row_number() OVER (PARTITION BY days ORDER BY id) AS n FROM t) x WHERE n <= 2', 'SELECT (array_agg(days ORDER BY id))[1], kind FROM t GROUP BY 2', 'SELECT kind, mode() WITHIN GROUP (ORDER BY days) FROM t GROUP BY 1');

# ---- how many groups are expected: statistics take each range for another
run("CREATE TABLE spans AS SELECT tsrange(timestamp '2024-01-01' + i * interval '1 h', timestamp '2024-01-01' + (i + 3) * interval '1 h') AS times, daterange(date '2024-01-01' + i / 50, date '2024-01-03' + i / 50) AS days FROM generate_series(0, 9999) i", 'ANALYZE spans');
$session->favour('force');
foreach my $key ("date_trunc('month', lower(times))", 'upper(times)::date', "to_char(lower(days), 'YYYY-MM')", 'upper(days)', 'extract(month FROM lower(days))')
{
	my ($expected) = $session->query("EXPLAIN SELECT $key, count(*) FROM spans GROUP BY 1") =~ /rows=(\d+)/;

	cmp_ok($expected, '<', 500, "groups by $key");
}

# ---- joins
check_programs($session, 'joins', 1, 'SELECT r.kind, count(*), min(t.id) FROM t JOIN r ON r.id = t.n AND r.days @> t.d GROUP BY 1', 'SELECT r.kind, count(*), sum(r.id) FROM t LEFT JOIN r ON r.id = t.n AND r.days @> t.d GROUP BY 1', 'SELECT t.kind, count(*) FROM t JOIN r ON r.id = t.n WHERE NOT r.days @> t.d GROUP BY 1',
	'SELECT t.kind, count(*), min(lower(t.days * r.days)), max(upper(r.times * t.times)) FROM t JOIN r ON r.kind = t.kind AND r.days && t.days WHERE r.id < 30 GROUP BY 1', 'SELECT count(*) FROM t WHERE EXISTS (SELECT FROM r WHERE r.id = t.n AND r.times @> t.at)', 'SELECT count(*) FROM t WHERE NOT EXISTS (SELECT FROM r WHERE r.id = t.n AND r.bigs @> t.big)',
	'SELECT r.label, count(*) FILTER (WHERE t.d < lower(r.days)), count(*) FILTER (WHERE t.d >= upper(r.days)), count(*) FILTER (WHERE r.days -|- t.days) FROM t JOIN r ON r.id = t.n GROUP BY 1', 'SELECT r.days, r.times, count(*), sum(t.n) FROM t JOIN r ON r.id = t.n GROUP BY 1, 2',
	'SELECT t.id, r.days, r.bigs, t.times FROM t JOIN r ON r.id = t.n ORDER BY t.id DESC LIMIT 30', 'SELECT count(*), min(t.id) FROM t JOIN (SELECT DISTINCT days FROM r WHERE id < 200) x ON x.days = t.days', 'SELECT count(*), sum(r.id) FROM t JOIN r ON r.times = t.times AND r.kind = t.kind',
	'SELECT r.kind, isempty(r.days), r.days @> date \'2024-02-01\', count(*) FROM t JOIN r ON r.id = t.n GROUP BY 1, 2, 3', 'SELECT r.kind, count(r.days), count(*) FILTER (WHERE r.days IS NULL) FROM t LEFT JOIN r ON r.id = t.n + 150 GROUP BY 1', "SELECT r.kind, CASE WHEN t.kind > 2 THEN r.days ELSE t.days END && '[2024-02-01,2024-03-01)', count(*) FROM t JOIN r ON r.id = t.n GROUP BY 1, 2");
check_programs_of_few($session, 'a join of a small table with itself', 1, 'SELECT a.kind, count(*), min(lower(a.days * b.days)) FROM r a JOIN r b ON b.kind = a.kind AND b.id > a.id AND a.days && b.days GROUP BY 1');
check_plans($session, 'joins of rows that are no table\'s', sub { return 1; }, 'WITH x AS MATERIALIZED (SELECT id, days, random() AS any FROM r) SELECT t.kind, count(*), min(lower(x.days * t.days)) FROM t JOIN x ON x.id = t.n AND x.days && t.days GROUP BY 1', 'WITH x AS MATERIALIZED (SELECT id, days, random() AS any FROM r) SELECT x.days, count(*) FROM t JOIN x ON x.id = t.n WHERE x.days && t.days GROUP BY 1', 'SELECT t.id, x.days FROM t FULL JOIN (SELECT * FROM r WHERE id < 50) x ON x.id = t.n AND t.id > 100 ORDER BY 1, 2');

# ---- texts of dates and enums
my @of_dates = ("SELECT substring(d::text from 1 for 7), count(*) FROM t WHERE d > '-infinity' AND d < 'infinity' GROUP BY 1", "SELECT count(*) FROM t WHERE d > '-infinity' AND d < 'infinity' AND substring(CAST(d AS text) from 1 for 4) = '2024'", "SELECT d::text || '/' || kind, concat(d, ':', kind), count(*) FROM t WHERE d > '-infinity' AND d < 'infinity' GROUP BY 1, 2", "SELECT count(*) FROM t WHERE d > '-infinity' AND d < 'infinity' AND d::text LIKE '2024-0_-1%'");
check_programs($session, 'texts of dates', 1, @of_dates);
check_programs($session, 'infinite dates', 0, 'SELECT d::text, count(*) FROM t GROUP BY 1');
run('CREATE TABLE days AS SELECT i AS id, CASE WHEN i % 9 > 0 THEN date \'0001-01-01\' + i * 365 / 2 END AS d FROM generate_series(0, 20000) i', 'VACUUM ANALYZE days');
check_programs_of_few($session, 'dates of all years', 1, 'SELECT id, d::text FROM days ORDER BY id');
run('INSERT INTO days VALUES (-1, \'9999-12-31\')', 'VACUUM ANALYZE days');
check_programs_of_few($session, 'the last one', 1, 'SELECT id % 3, max(d::text COLLATE "C"), count(*) FROM days GROUP BY 1');
run('INSERT INTO days VALUES (-2, \'10000-01-01\'), (-3, \'0044-03-15 BC\')');
check_programs($session, 'later and earlier ones', 0, 'SELECT id, d::text FROM days ORDER BY id LIMIT 10', 'SELECT id, d::text FROM days ORDER BY id');
foreach my $style ('German', 'SQL, DMY', 'Postgres')
{
	run("SET datestyle = '$style'");
	check_programs($session, "dates in the style $style", 0, @of_dates);
}
run('SET datestyle = ISO, MDY');
check_programs($session, 'enums as texts', 1, (map {"SELECT kind, count(*) FROM t WHERE $_ GROUP BY 1"} "CAST(s AS text) <> 'booked'", "s::text = 'it''s off'", "'paid' = s::text", "s::text <> 'none of them'", "s::text IN ('paid', 'gone', 'none')", "s::text NOT IN ('paid', 'none')",
	"s::text = ANY ('{gone,NULL}')", "s::text <> ALL ('{gone,NULL}')", "s::text = ''", "s::text = '" . 'x' x 80 . "'", "CASE WHEN s::text = 'paid' THEN n > 10 ELSE n < 5 END"), 'SELECT r.kind, count(*) FROM t JOIN r ON r.id = t.n WHERE r.s::text <> \'paid\' AND t.s::text = \'paid\' GROUP BY 1', "SELECT s::text = 'paid', count(*) FROM t GROUP BY 1");
check_programs($session, 'enums whose texts are ordered', 0, "SELECT count(*) FROM t WHERE s::text < 'c'");
run("ALTER TYPE status RENAME VALUE 'paid' TO 'settled'");
check_programs($session, 'after a label has been renamed', 1, "SELECT kind, count(*) FROM t WHERE s::text = 'paid' GROUP BY 1", "SELECT kind, count(*) FROM t WHERE s::text = 'settled' GROUP BY 1");

# A cursor goes on in another style.
my @cursor = ('BEGIN', "DECLARE c CURSOR FOR SELECT id, d::text FROM days WHERE random() >= 0", 'FETCH 1 FROM c', 'SET LOCAL datestyle = German', 'FETCH 2000 FROM c', 'COMMIT');
is($session->answer_by('force', join('; ', @cursor)), $session->answer_by('off', join('; ', @cursor)), 'a cursor under two styles');

done_testing();
