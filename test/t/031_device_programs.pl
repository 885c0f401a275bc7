# GPUs run programs: conditions, keys, arguments, orders and results that are expressions, of all types that programs
# know.  The answers are PostgreSQL's, to the byte.  So are those where a value is beyond a program, and the CPU does it all.
# Builds with TEST_SIZES=yes play the GPU.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('device_programs',
	conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', "work_mem = '64MB'", "timezone = 'Europe/Berlin'" ]);
my $session = MgpuTest->session($node, options => '-c mgpu.executor=gpu -c synchronize_seqscans=off');
my $rows = sized(4000, 200_000);

sub run { return $session->run(@_); }

# Statements whose answer is core's and that a GPU runs, or begins and leaves to the CPU.
sub check_programs
{
	my ($name, $on_device, @queries) = @_;
	my @wrong;

	foreach my $query (@queries)
	{
		push @wrong, "differs from core: $query" if $session->answer_by('force', $query) ne $session->answer_by('off', $query);
		push @wrong, ($on_device ? 'not on the GPU' : 'on the GPU') . ": $query" if ($session->analyze($query) =~ /Executor: gpu\n.*Pages Copied/s) != $on_device;
	}
	is(join("\n", @wrong), '', $on_device ? "$name: on the GPU" : "$name: on the CPU");
	return;
}

run("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')", 'CREATE DOMAIN price AS numeric(12,2)', 'CREATE DOMAIN label AS text COLLATE "C"',
	"CREATE TABLE t (id int, g int2, v int, w int8, f float8, r float4, n numeric(10,2), m numeric, p price, k text COLLATE \"C\", c varchar(12), s char(5), l label, u uuid, y bytea,
		ts timestamp, tz timestamptz, d date, tm time, b bool, e mood, o oid, money money, j json)",
	"INSERT INTO t SELECT i, i % 37, (i::int8 * 7919 % 20011)::int - 10000, i * 1234567890123 * (i % 3 - 1), sqrt(i) - 20, ln(i)::float4, (i * 7919 % 100000) / 100.0 - 300,
		(i % 1000) * 0.5, i % 77 + 0.25, 'key ' || i % 53, substr('abcdefghijkl', 1, i % 12), 'c' || i % 7, repeat('ä', i % 4), md5((i % 101)::text)::uuid, decode(lpad(to_hex(i % 91), 4, '0'), 'hex'),
		timestamp '2020-01-01' + i * interval '97 minutes', timestamptz '2020-01-01 00:00+00' + i * interval '53 minutes', date '2019-12-20' + i % 900, time '00:00' + i % 86400 * interval '1 second',
		i % 3 = 0, (ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::mood, i % 19, (i % 500)::money, '{}' FROM generate_series(1, $rows) i",
	'CREATE TABLE holes (LIKE t)', 'INSERT INTO holes SELECT id, ' . join(', ', map { my ($name, $every) = @$_; "CASE WHEN id % $every > 0 THEN $name END AS $name" } [ 'g', 7 ], [ 'v', 5 ], [ 'w', 3 ], [ 'f', 2 ],
		[ 'r', 4 ], [ 'n', 3 ], [ 'm', 6 ], [ 'p', 5 ], [ 'k', 4 ], [ 'c', 8 ], [ 's', 3 ], [ 'l', 2 ], [ 'u', 9 ], [ 'y', 5 ], [ 'ts', 6 ], [ 'tz', 4 ], [ 'd', 3 ], [ 'tm', 7 ], [ 'b', 4 ], [ 'e', 5 ], [ 'o', 6 ], [ 'money', 7 ], [ 'j', 2 ]) . ' FROM t',
	"ALTER TABLE t ADD COLUMN late text COLLATE \"C\" DEFAULT 'added', ADD COLUMN late_n numeric(6,3) DEFAULT 1.5, ADD COLUMN late_null int",
	"ALTER TABLE holes ADD COLUMN late text COLLATE \"C\" DEFAULT 'added', ADD COLUMN late_n numeric(6,3) DEFAULT 1.5, ADD COLUMN late_null int",
	'VACUUM ANALYZE t, holes');

# 19 has other sums of pairs, which no job computes
my $has_pairs = $session->query('SHOW server_version_num') < 190000;
foreach my $table ('t', 'holes')
{
	check_programs("$table, key $_", 1, "SELECT count(*), $_, sum(v), sum(n) FROM $table GROUP BY $_")
	  foreach 'k', 'c', 's', 'l', 'u', 'y', 'n', 'p', 'e', 'o', 'money', 'ts', 'tz', 'd', 'tm', 'b', 'late', 'late_n', 'late_null', 'k, u, n, g', 'g % 5', 'v / 7', 'abs(v)', 'substr(k, 1, 5)', 'left(k, 3)', 'length(c)',
	  'to_char(ts, \'YYYY-MM\')', 'to_char(tz, \'"at" HH24:MI\'), b', 'to_char(ts, \'Mon DD, YYYY\'), g', "to_char(tz, 'YYYYMMDDHH24MISS')", "to_char(d::timestamp, 'DD')", "date_trunc('day', ts)", "date_trunc('hour', tz)", "date_trunc('month', tz)", "date_trunc('year', d::timestamp)", "extract(year FROM d)::int", "date_bin('3 hours', ts, '2020-01-01')", 'round(n)', 'CASE WHEN v > 0 THEN 1 WHEN b THEN 2 END',
	  'floor(n / 25) * 25', 'round(n, -1)', 'trunc(n * 20, -2)', 'round(n / 7, 1)', 'ceil(v / 100.0)', '(n / 30)::int', 'to_timestamp(floor(extract(epoch FROM tz) / 86400) * 86400)', 'coalesce(k, c)', "CASE WHEN b THEN k ELSE 'none' END", 'v > 0', 'n > 0 AND b', 'nullif(g, 3)', 'greatest(g, v)', 'f::int', 'n * 2', 'e, b, k';
	check_programs("$table, aggregate $_", /corr|regr/ ? $has_pairs : 1, "SELECT g, $_ FROM $table GROUP BY g", "SELECT k, $_ FROM $table GROUP BY k")
	  foreach 'sum(n)', 'avg(n)', 'min(n), max(n)', 'sum(n), avg(n), min(n), max(n), count(n)', 'sum(m), avg(m), count(m)', 'sum(p), max(p)', 'sum(n * (1 - late_n))', 'sum(n * n)', 'sum(v * 2), avg(w / 1000)', 'sum(f * f)',
	  'sum(CASE WHEN b THEN v ELSE 0 END)', 'sum(CASE WHEN v > 0 THEN n END)', 'count(k), count(j), count(y), count(u)', 'count(*) FILTER (WHERE b)', 'sum(v) FILTER (WHERE v > 5), avg(n) FILTER (WHERE k <> \'key 5\')',
	  'percentile_cont(0.5) WITHIN GROUP (ORDER BY n)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v * 2.0::float8)', 'percentile_disc(0.25) WITHIN GROUP (ORDER BY n)', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FILTER (WHERE b)',
	  'count(DISTINCT n), count(DISTINCT v % 10)', 'min(d), max(ts), min(tz), max(tm), min(money)', 'bool_and(v > -9000), bool_or(n > 500)', 'mode() WITHIN GROUP (ORDER BY v % 5)', 'array_agg(v % 100 ORDER BY v % 100)', 'max(late_n), count(late_null)',
	  'count(DISTINCT k), count(DISTINCT c), count(DISTINCT s), count(DISTINCT l)', 'count(DISTINCT u), count(DISTINCT y), count(DISTINCT m)', 'count(DISTINCT k) FILTER (WHERE b), count(DISTINCT k), sum(v)',
	  'corr(f, v), regr_slope(f, v), regr_count(f, v), regr_intercept(f, v), regr_r2(f, v)', 'covar_pop(f, r), covar_samp(v, f), corr(v + 1, w)', 'regr_avgx(f, n), regr_avgy(f, n), regr_sxx(f, n), regr_syy(f, n), regr_sxy(f, n), sum(f), max(f)',
	  'corr(f, v) FILTER (WHERE b), corr(f, v), avg(f)',
	  'min(k), max(k), min(l), max(c COLLATE "C"), max(substr(k, 5))', 'min(k) FILTER (WHERE v > 0), count(DISTINCT late), max(late)',
	  'stddev(f + 1), var_pop(r)', 'sum(length(k))', 'max(extract(epoch FROM ts)::int8)';
	check_programs("$table, $_", 1, "SELECT g, count(*), sum(n), max(v) FROM $table WHERE $_ GROUP BY g")
	  foreach "k = 'key 7'", "k IN ('key 1', 'key 2', 'no key')", "k LIKE '%9%'", "k LIKE 'key _'", "k NOT LIKE 'key 1%'", 'v IN (1, 2, 3, 100, 5000)', 'n / 3 > 1.5', '2 >= n / 7', 'extract(epoch FROM ts) / 86400 > 18300', 'v % 3 = 1', 'n BETWEEN 10 AND 20.5', 'n > 1.005', 'v > 0 OR b', 'NOT (v > 0 AND b)', 'b IS NOT TRUE',
	  'k IS NULL OR c IS NOT NULL', 'j IS NOT NULL', "ts >= '2020-02-01' AND ts < '2020-03-01'", "tz > '2020-02-01'", 'd > date \'2020-01-01\' + 5', "ts::date = '2020-01-05'", 'v <> w', 'v IS DISTINCT FROM g', "c > 'abc'", "s = 'c3'", "u = md5('5')::uuid", "e = 'ok'",
	  "extract(hour FROM ts) = 5", "tz < now()", "tz > now() - interval '100 years'", "d <= current_date", "money > '5'", 'o = 5', 'f > 0 AND sqrt(f) < 5', "f < 'Infinity'", 'late_n = 1.5', "late = 'added'", 'late_null IS NULL', "substr(k, 5) = '7'", 'length(k) > 5';
	check_programs("$table, rows by $_", 1, "SELECT id, k, c, n, m, u, y, ts, late, late_n FROM $table ORDER BY $_, id", "SELECT id, k, n * 2, CASE WHEN b THEN c ELSE 'x' END, m FROM $table ORDER BY $_, id LIMIT 700",
		"SELECT * FROM (SELECT id, k, n, l, row_number() OVER (PARTITION BY k ORDER BY $_, id) AS place FROM $table) q WHERE place <= 2")
	  foreach 'k', 'k DESC NULLS LAST', 'n', 'n DESC, k', 'u', 'y NULLS FIRST', 'c COLLATE "C"', 'v % 10, k', "date_trunc('month', ts) DESC", 'abs(v)', 'length(k), n', 'late, late_n, v';
}
# settings, as policies of tenants have them: computed once
run("SET tenant.number = '3'", "SET tenant.key = ''");
check_programs("a setting: $_", 1, "SELECT g, count(*), sum(n) FROM t WHERE $_ GROUP BY g") foreach "g = current_setting('tenant.number')::int", "k = coalesce(nullif(current_setting('tenant.key'), ''), 'key 1')", "u > nullif(current_setting('tenant.none', true), '')::uuid OR v > 0";
run('CREATE ROLE tenant', 'GRANT SELECT ON t, holes TO tenant', 'CREATE POLICY own ON t USING (g = current_setting(\'tenant.number\')::int)', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY', 'SET ROLE tenant');
check_programs('rows of a policy', 1, 'SELECT b, count(*), sum(n), max(v) FROM t GROUP BY b', 'SELECT count(*), min(id) FROM t WHERE v > 0', 'SELECT h.g, count(*), sum(t.n) FROM t JOIN holes h USING (id) WHERE t.v > 0 GROUP BY 1', 'SELECT id, k, n FROM t ORDER BY v, id LIMIT 20');
is($session->query('SELECT count(*) FROM t WHERE g <> 3'), 0, 'others are not seen');
run('RESET ROLE', 'ALTER TABLE t DISABLE ROW LEVEL SECURITY');
check_programs('texts of all rows', 1, 'SELECT count(DISTINCT k), max(v) FROM t', 'SELECT count(DISTINCT u) FROM holes', 'SELECT count(DISTINCT k), count(DISTINCT u), min(k), max(l), sum(v) FROM holes',
	'SELECT count(DISTINCT k), max(k) FROM t WHERE id < 0', 'SELECT count(DISTINCT s), avg(v) FROM t WHERE v > 0');
run('SET mgpu.executor = cpu', 'SET mgpu.cpu_threads = 2');
foreach my $query ('SELECT count(DISTINCT k), max(v) FROM t', 'SELECT count(DISTINCT k), count(DISTINCT u), min(k), max(l), count(DISTINCT m) FROM holes', 'SELECT g, count(DISTINCT u), count(DISTINCT k), sum(v) FROM holes GROUP BY g',
	'SELECT id, min(k), max(c COLLATE "C"), count(DISTINCT c) FROM holes GROUP BY id',
	$has_pairs ? 'SELECT g, corr(f, v), regr_r2(r, f), covar_pop(v, f) FROM holes GROUP BY g' : ())
{
	is($session->answer_by('force', $query), $session->answer_by('off', $query), "by threads: $query");
	like($session->analyze($query), qr/Threads: 2/, 'they do it');
}
run('SET mgpu.executor = gpu', 'RESET mgpu.cpu_threads');
check_programs('an order that is not of bytes', 0, 'SELECT g, max(s) FROM t GROUP BY g');
check_programs('of all rows', 1, 'SELECT count(*), sum(n), avg(n), min(n), max(n), sum(v * 2), count(k) FROM t', "SELECT sum(n * (1 - late_n)), count(*) FROM t WHERE k LIKE '%7%'", 'SELECT sum(m), avg(m) FROM holes');
run('SET plan_cache_mode = force_generic_plan', "PREPARE p (text, int, timestamp) AS SELECT g, count(*), sum(n) FROM t WHERE k = \$1 AND v > \$2 AND ts < \$3 GROUP BY g");
check_programs('parameters', 1, "EXECUTE p ('key 3', 0, '2021-01-01')", 'EXECUTE p (NULL, 0, NULL)', "EXECUTE p ('key 4', -100000, 'infinity')");
# a numeric's digits behind the column's scale, and more than a column may have
foreach my $outcome ('<', '<=', '>', '>=', '=', '<>')
{
	run("PREPARE n (numeric) AS SELECT count(*), sum(n), min(n), max(p) FROM holes WHERE n $outcome \$1 OR \$1 $outcome p");
	check_programs("a numeric, $outcome", 1, map { "EXECUTE n ($_)" } "'12.5'", "'12.505'", "'-12.505'", '0', "'1e-30'", "'-1e-30'", "'12.2500000'", 'NULL', "'NaN'", "'99999999999999999999'", "'-99999999999999999999.5'", "'92233720368547758.075'");
	run('DEALLOCATE n');
}
check_programs('the result of a subquery', 1, 'SELECT g, count(*), sum(n) FROM t WHERE n > (SELECT avg(n) FROM holes) GROUP BY g', 'SELECT count(*) FROM holes WHERE ts = (SELECT max(ts) FROM holes) OR m < (SELECT avg(m) FROM t)',
	'SELECT g, max(v) FROM t WHERE v < (SELECT percentile_cont(0.1) WITHIN GROUP (ORDER BY v) FROM holes)::int AND k >= (SELECT min(k) FROM t WHERE b) GROUP BY g');
# numbers that are computed of parameters, once; where that may fail for no row, they are PostgreSQL's
my @computed = ('n > $1 * 1.1', 'm <= 2 - $1 / 3 OR p = abs(-$1)', 'f < (0.5 * $1 - 7)::float8', 'w::numeric >= $1 * $1 * $1', 'n - 1 BETWEEN $1 + 5::int AND $1 * 100');
foreach my $condition (@computed)
{
	run("PREPARE c (numeric) AS SELECT g, count(*), sum(n), min(f) FROM holes WHERE $condition GROUP BY g");
	check_programs("computed: $condition", 1, map { "EXECUTE c ($_)" } "'12.5'", "'-12.505'", '0', "'1e-30'", "'-99999999999999999999'", "'12345678901234567890123456789012.25'", 'NULL');
	check_programs("computed of much: $condition", 0, map { "EXECUTE c ($_)" } "'NaN'", "'1e33'", "'-1e-33'", "'Infinity'");
	run('DEALLOCATE c');
}
run("PREPARE f (numeric) AS SELECT count(*) FROM t WHERE v > 100000 AND n > \$1 * \$1", "PREPARE d (numeric) AS SELECT count(*) FROM t WHERE v > 100000 AND n > 1 / \$1", "PREPARE r (numeric) AS SELECT count(*) FROM t WHERE v > 100000 AND f > (\$1 * \$1)::float8",
	"PREPARE e (numeric) AS SELECT count(*) FROM t WHERE n > \$1 * \$1", "PREPARE o (numeric) AS SELECT count(*) FROM t WHERE f > (\$1 * \$1)::float8");
check_programs('what fails for no row', 0, "EXECUTE f ('1e100000')", 'EXECUTE d (0)', "EXECUTE r ('1e200')", "EXECUTE r ('1e-200')");
foreach my $query ("EXECUTE e ('1e100000')", "EXECUTE o ('1e200')")
{
	is($session->answer_by('force', $query), $session->answer_by('off', $query), "what fails for a row: $query");
}
# subqueries that no job reads
my ($some, $other) = map {"(SELECT $_ FROM (VALUES (1.5), (70.25), (-3)) s(x))"} 'avg(x)', 'stddev(x)';
check_programs('computed of a subquery', 1, "SELECT g, count(*), sum(n) FROM t WHERE n > 1.5 * $some GROUP BY g", "SELECT count(*) FROM holes WHERE f < ($some + 2 * $other) / 7", "SELECT g, max(v) FROM t WHERE p >= $some - $other GROUP BY g", "SELECT count(*) FROM t WHERE f > 2 * (SELECT NULL::numeric)");
# behind other conditions a subquery runs once a row has met these, and never where none does
check_programs('subqueries behind other conditions', 1, "SELECT g, count(*), sum(n) FROM t WHERE g < 5 AND n > 1.5 * $some GROUP BY g", "SELECT count(*), max(id) FROM holes WHERE k LIKE '%7' AND p BETWEEN $some AND $other * 3",
	"SELECT g, sum(v) FROM t WHERE id > $rows - 3 AND n <> $some AND f < $other GROUP BY g", "SELECT id, n FROM t WHERE id > $rows / 2 AND n > $some ORDER BY n, id LIMIT 10");
check_programs('where no row comes to one', 0, map { ("SELECT count(*) FROM t WHERE g = $_ AND n > 1.5 * (SELECT 1 / (count(*) - 1) FROM (VALUES (1)) s(x))", "SELECT g, n FROM t WHERE g = $_ AND n > $some AND v = (SELECT x FROM (VALUES (1), (2)) s(x)) ORDER BY n, id") } -1);
foreach my $query ("SELECT count(*) FROM t WHERE g = 3 AND n > 1.5 * (SELECT 1 / (count(*) - 1) FROM (VALUES (1)) s(x))", "SELECT g, n FROM t WHERE g = 3 AND n > $some AND v = (SELECT x FROM (VALUES (1), (2)) s(x)) ORDER BY n, id")
{
	is($session->answer_by('force', $query), $session->answer_by('off', $query), "an error of one: $query");
}
check_programs('rescanned', 1, "SELECT a, q.* FROM generate_series(1, 4) a, LATERAL (SELECT g, count(*) FROM t WHERE v > a * 100 AND n > 1.5 * $some + a GROUP BY g) q");
run('RESET plan_cache_mode', 'SET timezone = \'America/New_York\'');
my @mixed_times = ('tz > d', 'd >= tz', 'ts <= d + 100', 'tz <> ts', 'ts < tz', "tz + interval '3 days' > ts", "tz - interval '1 day 02:00' >= d", "tz + interval '40 days' > tz + interval '960 hours'", "d + interval '5 days 1 hour' < ts", "d - interval '5 days' < tz",
	"tz + interval '1 month' > ts + interval '30 days'", "tz - interval '1 year 2 months 1 day' < d", "d + interval '1 month' > ts", "ts - interval '11 months' > d - interval '330 days'", "tz::time > '12:00'", "ts::time BETWEEN '00:30' AND '04:00'");
check_programs("another time zone: $_", 1, "SELECT g, count(*), max(v) FROM t WHERE $_ GROUP BY g") foreach @mixed_times;
check_programs('another time zone', 1, "SELECT date_trunc('day', tz), count(*) FROM t GROUP BY 1", "SELECT to_char(tz, 'YYYY-MM-DD HH24'), count(*), max(v) FROM t GROUP BY 1", "SELECT DISTINCT to_char(tz, 'HH24'), 'x' FROM holes");
check_programs("another time zone, $_", 1, "SELECT to_char(tz, '$_'), count(*), max(v) FROM t GROUP BY 1", "SELECT to_char(ts, '$_'), g % 2, min(id) FROM holes GROUP BY 1, 2")
  foreach 'YYYY-MM-01', 'YYYY-"Q"Q', 'YYYY年MM月DD', '"a\"b\\\\" YYYY', '\"YYYY\" (MM)', '\YYYY\\MM', 'HH24\"-\":MI 00', '5"\Y"YYYY', '[HH24]+1;=<>&%', 'MM', 'Mon', 'Month', 'MONTH', 'mon', 'Day', 'Dy', 'DAY', 'dy', 'D', 'ID', '"day" D: Dy', 'Q', '"Q"Q', 'YYYY"Q"Q', 'Q/YYYY', 'IYYY-IW', 'IYYY"W"IW';
run('RESET timezone');

# "char", whose bytes have no sign
run("CREATE TABLE sides AS SELECT i AS id, CASE WHEN i % 11 > 0 THEN (ARRAY['B', 'S', 'a', '', 'é'])[1 + i % 5]::\"char\" END AS side, CASE WHEN i % 7 > 0 THEN 'B'::\"char\" END AS other, i * 7919 % 1000 AS v FROM generate_series(1, 5000) i", 'VACUUM ANALYZE sides');
check_programs('"char"', 1, (map {"SELECT v % 3, count(*), sum(v) FILTER (WHERE side $_) FROM sides GROUP BY 1"} "= 'B'", "<> 'S'", '< other', "<= 'a'", "> 'a'", '>= other', "IN ('B', 'a', 'é')", 'IS DISTINCT FROM other'),
	"SELECT side, count(*), sum(v) FROM sides WHERE side < 'é' GROUP BY 1", "SELECT CASE side WHEN 'B' THEN 1 WHEN 'é' THEN -1 ELSE 0 END, count(*), count(DISTINCT side) FROM sides GROUP BY 1", "SELECT coalesce(nullif(side, 'B'), other), min(v) FROM sides WHERE side <> 'é' GROUP BY 1",
	"SELECT id, side FROM sides WHERE side <> 'é' ORDER BY side DESC, v, id LIMIT 20", "SELECT v % 2, percentile_disc(0.5) WITHIN GROUP (ORDER BY side) FILTER (WHERE side <= 'a') FROM sides GROUP BY 1");

# texts whose parts do not follow each other
check_programs("a format $_", 1, "SELECT to_char(ts, '$_'), count(*) FROM holes GROUP BY 1") foreach 'MM-DD', 'YYYY-DD', 'Dy HH24', 'YYYY-IW', 'IYYY-ID', 'IW', 'YYYY-MM Q', 'IYYY-MM', 'YYYYHH24';

# texts that do not tell times apart, or are of no known parts; and times whose years have no four digits
check_programs("a format $_", 0, "SELECT to_char(ts, '$_'), count(*) FROM t GROUP BY 1") foreach 'YY-MM', 'FMDD', 'DDth', 'FMDay', 'TMDay', 'Dth', 'd', 'IDDD', 'QQ', 'TMMon YYYY', 'HH12:MI', 'YYYY-MM-DD"T', 'YYYY-MM-DDTHH24', 'YYYYx', 'YYYY"\"', 'YYYY\"T\"', 'YYYY\\\\\\"T', 'DDD', 'DDDD', 'SSSS', 'SSSSS', 'HH24MISSSS', 'YYYYMMDDDD';
run('CREATE TABLE years AS SELECT i AS id, timestamp \'2020-01-01\' + (i % 90) * interval \'1 day\' AS ts FROM generate_series(1, 2000) i', 'INSERT INTO years VALUES (-1, \'0044-03-15 BC\'), (-2, \'0044-03-15\'), (-3, \'12044-03-15\'), (-4, \'infinity\'), (-5, \'-infinity\'), (-6, NULL)', 'VACUUM ANALYZE years');
check_programs("years: $_", 0, "SELECT to_char(ts, '$_'), count(*), min(id) FROM years GROUP BY 1") foreach 'YYYY-MM-DD', 'YYYY', 'MI';
check_programs('years that have four', 1, "SELECT to_char(ts, 'YYYY-MM-DD'), count(*), min(id) FROM years WHERE id > 0 GROUP BY 1");

# functions of times have few values, though each row has a time of its own: by statistics, and by what they are
run('CREATE TABLE seconds AS SELECT i AS id, i % 10 AS g, timestamptz \'2026-01-01 00:00+01\' + i * interval \'30 seconds\' AS at, date \'2026-01-01\' + i % 400 AS d FROM generate_series(1, 20000) i', 'ANALYZE seconds');
foreach my $key ([ "date_trunc('day', at)", 7, 14 ], [ "date_trunc('hour', at AT TIME ZONE 'Europe/Paris')", 167, 230 ], [ "date_bin('6 hours', at, '2026-01-01')", 28, 45 ], [ 'at::date', 7, 14 ], [ "to_char(at, 'YYYY-MM')", 1, 8 ], [ "to_char(at, 'Dy')", 7, 12 ], [ "to_char(at, 'IYYY-IW')", 1, 6 ], [ "to_char(at, 'Mon')", 12, 16 ],
	[ "to_char(at, 'HH24')", 24, 30 ], [ 'extract(dow FROM at)', 7, 12 ], [ 'extract(month FROM d)', 12, 18 ], [ 'id % 5', 5, 9 ], [ 'id / 100', 190, 210 ], [ '(id / 100) * 100 + 7', 190, 210 ], [ 'mod(id, 6)', 6, 10 ], [ 'extract(epoch FROM at)::int8 / 3600', 160, 230 ], [ 'floor(id / 250.0)', 80, 90 ], [ 'round(id::numeric, -2)', 190, 210 ],
	[ 'width_bucket(id::float8, 0, 100, 5)', 5, 10 ], [ "CASE WHEN id > 5 THEN 'a' WHEN id < 0 THEN 'b' END", 2, 6 ], [ 'id > 7, g', 10, 50 ], [ '(0.5 * id)::int', 9_000, 10_010 ], [ "date_trunc('day', at), g", 70, 140 ], [ "date_trunc('second', at)", 15_000, 20_000 ], [ 'at', 15_000, 20_000 ])
{
	my ($expression, $least, $most) = @$key;
	my ($expected) = $session->query("SET mgpu.enable_group = force; EXPLAIN SELECT $expression, count(*) FROM seconds GROUP BY $expression") =~ /MgpuGroup.*?rows=(\d+)/;

	cmp_ok($expected, '>=', $least, "at least $least groups are expected of $expression");
	cmp_ok($expected, '<=', $most, "... and at most $most");
}

# a group that work_mem does not hold is in the GPU's memory
run("SET work_mem = '64kB'");
check_programs('one large group', 1, 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_disc(0.1) WITHIN GROUP (ORDER BY n) FROM t');
check_programs('grouping sets', 1, 'SELECT g, b, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY ROLLUP (g, b)');
like($session->query('SET mgpu.enable_group = on; EXPLAIN (COSTS off) SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t'), qr/MgpuGroup/, 'the planner knows');
run('RESET work_mem');

# several tables: their pages are read one after the other
run('CREATE TABLE parts (id int, g int2, v int, n numeric(10,2), k text COLLATE "C", ts timestamp) PARTITION BY RANGE (id)',
	(map { sprintf 'CREATE TABLE parts_%d PARTITION OF parts FOR VALUES FROM (%d) TO (%d)', $_, $_ * 1000, ($_ + 1) * 1000 } 0 .. 3), 'CREATE TABLE parts_rest PARTITION OF parts DEFAULT PARTITION BY HASH (id)',
	'CREATE TABLE parts_rest_0 PARTITION OF parts_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0)', 'CREATE TABLE parts_rest_1 PARTITION OF parts_rest FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
	'INSERT INTO parts SELECT id, g, v, n, k, ts FROM t', 'VACUUM ANALYZE parts',
	'CREATE TABLE parent (id int, v int)', 'CREATE TABLE child () INHERITS (parent)', 'INSERT INTO parent SELECT id, v FROM t', 'INSERT INTO child SELECT -id, v FROM t', 'VACUUM ANALYZE parent, child');
my @of_parts = ('SELECT g, count(*), sum(v), sum(n) FROM parts GROUP BY g', "SELECT k, date_trunc('month', ts), max(v) FROM parts WHERE v % 2 = 0 GROUP BY 1, 2",
	'SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v), count(*) FILTER (WHERE k LIKE \'%7\') FROM parts GROUP BY g', 'SELECT count(*), sum(n) FROM parts WHERE id < 2500', 'SELECT id, k, n FROM parts ORDER BY v, id',
	'SELECT id, v FROM parts ORDER BY n DESC, id LIMIT 600');
check_programs('partitions', 1, @of_parts);
check_programs('partitions, behind other conditions', 1, map {"SELECT g, count(*), sum(n) FROM parts WHERE id > $_ AND v < (SELECT 2000 FROM (VALUES (1)) s(x) WHERE x > 0) GROUP BY g"} 0, 1500, $rows - 5);
check_programs('children', 1, 'SELECT v % 7, count(*), sum(id) FROM parent GROUP BY 1', 'SELECT id, v FROM parent ORDER BY v, id');
check_programs('UNION ALL', 1, 'SELECT v % 5, count(*) FROM (SELECT v, id FROM only parent UNION ALL SELECT v, id FROM child) q GROUP BY 1');
ok(is_planned_for_gpu($session, $of_parts[0]), 'the planner knows');
run('CREATE TABLE other (ts timestamp, gone int, k text COLLATE "C", n numeric(10,2), v int, g int2, id int)', 'ALTER TABLE other DROP COLUMN gone',
	"INSERT INTO other SELECT ts, k, n, v, g, id + 1000000 FROM t WHERE id < 500", 'ALTER TABLE parts DETACH PARTITION parts_rest', 'ALTER TABLE parts ATTACH PARTITION other DEFAULT', 'VACUUM ANALYZE parts');
check_programs('a partition whose rows lie otherwise', 0, @of_parts[ 0 .. 2 ], @of_parts[ 4, 5 ]);
check_programs('that is pruned', 1, 'SELECT g, count(*), sum(v) FROM parts WHERE id BETWEEN 5 AND 2500 GROUP BY g');

# what the data decide: rows that are beyond a program
run("CREATE TABLE odd (id int, k text COLLATE \"C\", n numeric(10,2), v int, m numeric)", "INSERT INTO odd SELECT i, 'k' || i % 9, i, i, i FROM generate_series(1, 1000) i", 'VACUUM ANALYZE odd');
my @of_odd = ('SELECT k, count(*), sum(v) FROM odd GROUP BY k', 'SELECT v % 3, sum(n) FROM odd GROUP BY 1', 'SELECT v % 3, sum(1000 / (v - 2000)) FROM odd GROUP BY 1', 'SELECT v % 3, sum(m) FROM odd GROUP BY 1', 'SELECT k, n FROM odd ORDER BY k, id');
check_programs('nothing is odd', 1, @of_odd);
run("INSERT INTO odd VALUES (1001, repeat('long', 100), 5, 5, 5)");
check_programs('a long text', 0, @of_odd[ 0, 4 ], 'SELECT v % 3, count(DISTINCT k) FROM odd GROUP BY 1', 'SELECT v % 3, max(k) FROM odd GROUP BY 1');
check_programs('that nobody asks for', 1, @of_odd[ 1 .. 3 ]);
run("UPDATE odd SET k = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 200) i) WHERE id = 1001");
check_programs('a text out of line', 0, @of_odd[ 0, 4 ]);
check_programs('that is counted', 1, 'SELECT v % 3, count(k) FROM odd GROUP BY 1', 'SELECT count(*) FROM odd WHERE k IS NOT NULL');
run('DELETE FROM odd WHERE id = 1001', "INSERT INTO odd VALUES (1002, 'k1', 'NaN', 2000, 1.123456789)");
check_programs('NaN, a quotient by zero, many digits', 0, @of_odd[ 1 .. 4 ]);
run('DELETE FROM odd WHERE id = 1002', "INSERT INTO odd VALUES (1003, 'k2', 7, 2000, 1)");
{
	my $query = 'SELECT g + 1, sum(v * 2) FROM t WHERE f < 100 GROUP BY 1';
	my @lines = $session->analyze($query) =~ /^ *Program: (.*)$/mg;

	is_deeply(\@lines, ['6 ops'], 'EXPLAIN says how many operations a job has');
	@lines = $session->query("EXPLAIN (ANALYZE, VERBOSE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $query") =~ /^ *Program: (.*)$/mg;
	is_deeply(\@lines, ['load float, compare, load integer, +, load integer, *'], 'VERBOSE: which, and none of the page reader');
	@lines = $session->query("EXPLAIN (VERBOSE, COSTS off) $query") =~ /^ *Program: (.*)$/mg;
	is_deeply(\@lines, ['load integer, +, load integer, *'], 'of a plan that did not run: those of the page reader');
}
check_programs('a fault behind a condition', 1, 'SELECT k, sum(1000 / (v - 2000)) FROM odd WHERE v < 2000 GROUP BY k', 'SELECT k, count(*) FROM odd WHERE v < 2000 AND 1000 / (v - 2000) > -5 GROUP BY k', 'SELECT k, sum(CASE WHEN v <> 2000 THEN 1000 / (v - 2000) END) FROM odd GROUP BY k');
run('INSERT INTO odd SELECT i, NULL, 99999999.99, 2147483647, 0 FROM generate_series(1, 100) i');
check_programs('sums of large numerics', 1, 'SELECT k, sum(n), avg(n * 1000), sum(n * 10000000) FROM odd GROUP BY k');
check_programs('products beyond 64 bits', 0, 'SELECT k, sum(n * n) FROM odd GROUP BY k');
check_programs('an integer that overflows', 0, 'SELECT k, sum(v + 1) FROM odd WHERE v < 1000 OR v % 2 = 1 GROUP BY k');
is($session->{state}, '22003', 'is an error');
ok(service_is_idle($node), 'nothing is left in the service');

$session->close;
done_testing();
