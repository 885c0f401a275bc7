# Texts that to_char makes of times, compared, put together and looked into; days with times of day, and parts of intervals.  The answers are those of PostgreSQL's
# own plan, also for times that programs do not write.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('written_times', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', 'autovacuum = off', "timezone = 'UTC'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 60_000);

sub run { return $session->run(@_); }

# 13 hours and some apart, over 32 years; the first days and the last of years
run('CREATE TABLE shifts (id int, g int, at timestamp, zoned timestamptz, d date, starts time, hours numeric(5,2), share float8, period text COLLATE "C")',
	"INSERT INTO shifts SELECT i, i % 7, CASE WHEN i % 19 > 0 THEN a END, a AT TIME ZONE 'UTC', CASE WHEN i % 23 > 0 THEN a::date END, CASE WHEN i % 29 = 0 THEN '24:00' WHEN i % 11 > 0 THEN a::time END, CASE WHEN i % 13 > 0 THEN i % 4000 / 100.0 - 5 END, i % 97 / 7.0 - 3, to_char(a, CASE WHEN i % 3 > 0 THEN 'YYYY-MM' ELSE 'YYYY-DD' END)
		FROM (SELECT i, timestamp '1996-12-25' + i * interval '13:57:11.123456' * (20000.0 / $rows) AS a FROM generate_series(1, $rows) i UNION ALL SELECT -i, timestamp '1999-12-27' + i / 12 * interval '1 year' + i % 12 * interval '1 day' FROM generate_series(0, 200) i) q", 'VACUUM ANALYZE');

# ---- each pattern, and some of them behind each other
my @patterns = ('YYYY', 'IYYY', 'MM', 'DD', 'HH24', 'MI', 'SS', 'Q', 'D', 'ID', 'IW', 'Month', 'MONTH', 'month', 'Mon', 'MON', 'mon', 'Day', 'DAY', 'day', 'Dy', 'DY', 'dy', 'YYYY-MM', 'YYYY-MM-DD', 'DD.MM.YYYY HH24:MI:SS', 'IYYY-IW', ' Mon YYYY ', 'Dy, DD Mon', 'YYYYMM', 'HH24:MI');
check_programs($session, 'written', 1, map { ("SELECT g, count(*) FILTER (WHERE to_char(at, '$_') = to_char(zoned, '$_')), count(*) FILTER (WHERE to_char(at, '$_') > '1'), count(to_char(d, '$_') || 'x') FROM shifts GROUP BY 1", "SELECT 'x' || to_char(at, '$_') || ':', count(*), min(id) FROM shifts GROUP BY 1") } @patterns);
foreach my $zone ('America/New_York', 'Asia/Kathmandu')
{
	run("SET timezone = '$zone'");
	check_programs($session, "written in $zone", 1, map { ("SELECT '<' || to_char(zoned, '$_') || '>', count(*), max(id) FROM shifts GROUP BY 1", "SELECT count(*) FROM shifts WHERE to_char(zoned, '$_') <> to_char(at, '$_')") } 'YYYY-MM-DD HH24:MI', 'Day', 'IYYY/IW ID', 'Mon');
}
run("SET timezone = 'UTC'");

# ---- what is asked of them
check_programs($session, 'asked of', 1, "SELECT count(*), sum(hours) FROM shifts WHERE to_char(at, 'YYYY-MM') = '2004-03'", "SELECT g, count(*) FROM shifts WHERE to_char(at, 'YYYY') IN ('2001', '2005', '1996') GROUP BY 1", "SELECT g, sum(CASE WHEN to_char(zoned, 'D') IN ('1', '7') THEN hours ELSE 0 END) FROM shifts GROUP BY 1", "SELECT CASE WHEN to_char(d, 'Dy') IN ('Sat', 'Sun') THEN 'weekend' ELSE 'week' END, count(*) FROM shifts GROUP BY 1",
	"SELECT count(*) FROM shifts WHERE to_char(at, 'YYYY-MM') <> period", "SELECT to_char(at, 'YYYY') || '-Q' || to_char(at, 'Q'), count(*), sum(hours) FROM shifts GROUP BY 1", "SELECT count(*) FROM shifts WHERE to_char(at, 'YYYY-MM') LIKE '2%-1%'", "SELECT g, max(to_char(at, 'HH24:MI') COLLATE \"C\"), min(to_char(d, 'Month') COLLATE \"C\") FROM shifts GROUP BY 1",
	"SELECT length(to_char(at, 'Month')), upper(to_char(at, 'Day')) || left(to_char(at, 'YYYY'), 2), count(*) FROM shifts GROUP BY 1, 2", "SELECT to_char(at, 'YYYY')::int - 2000, count(*) FROM shifts GROUP BY 1", "SELECT coalesce(to_char(at, 'YYYY-MM'), 'none') || g, count(*) FROM shifts GROUP BY 1", "SELECT count(*) FROM shifts a JOIN (SELECT DISTINCT period FROM shifts WHERE g = 3) b ON b.period = to_char(a.at, 'YYYY-MM')",
	"SELECT concat(extract(year FROM d), '-Q', extract(quarter FROM d), ':', hours), count(*) FROM shifts WHERE id % 50 = 0 GROUP BY 1", "SELECT extract(isoyear FROM d), extract(isoyear FROM at)::text || '/' || extract(week FROM at)::text, count(*) FROM shifts GROUP BY 1, 2", "SELECT date_part('isoyear', zoned), count(*) FROM shifts GROUP BY 1");
check_plans($session, 'rows', sub { return 1; }, "SELECT id, to_char(at, 'YYYY-MM-DD') FROM shifts WHERE to_char(at, 'MM-DD') = '02-29' ORDER BY id", "SELECT id FROM shifts ORDER BY to_char(at, 'MM') || to_char(at, 'YYYY') COLLATE \"C\", id LIMIT 30");
check_plans($session, 'other formats', sub { return 1; }, map { "SELECT 'x' || to_char(at, '$_'), count(*) FROM shifts WHERE id % 200 = 0 GROUP BY 1" } 'FMMonth', 'YYYY "year"', 'DDD', 'SSSS', 'YYYYTH', 'HH12', 'Q\"Q', 'TMMonth', 'MS', 'WW', 'CC', '', 'J');

# ---- days with times, and parts of intervals
check_programs($session, 'days and times of day', 1, "SELECT date_trunc('week', d + starts), count(*), max(d + starts), min(starts + d) FROM shifts GROUP BY 1", "SELECT g, count(*) FILTER (WHERE d + starts > at), max((d + starts)::date - d) FROM shifts GROUP BY 1",
	map { ("SELECT g, max(at + $_), min(zoned + $_), max(d - $_) FROM shifts GROUP BY 1", "SELECT count(*) FROM shifts WHERE (d + starts + $_)::date > d") } "hours * interval '1 hour'", "interval '15 min' * hours", "share * interval '00:00:01.5'", "hours::float8 * interval '-1 min'", "share * interval '0 hours'", "(hours / 8) * interval '1 hour'");
check_plans($session, 'other parts', sub { return 1; }, "SELECT g, max(at + hours * interval '1 day') FROM shifts GROUP BY 1", "SELECT g, max(at + share * interval '1 month') FROM shifts GROUP BY 1", "SELECT g, max(at + share * interval '1 day 1 hour') FROM shifts GROUP BY 1", "SELECT max(at + hours * interval '100000 hours') FROM shifts");

# ---- times that programs do not write: before the year 1, behind 9999, and infinite ones
foreach my $odd ('-infinity', 'infinity', '0044-03-15 BC', '10000-01-01', '0001-01-01', '9999-12-31 23:59:59.999999')
{
	run("INSERT INTO shifts (id, g, at, zoned, d, starts, hours, share, period) VALUES (0, 3, '$odd', '$odd', '$odd', '12:00', 1, 1, '')");
	check_plans($session, "with $odd", sub { return 1; }, "SELECT 'x' || to_char(at, 'YYYY-MM-DD'), count(*) FROM shifts WHERE id % 300 = 0 GROUP BY 1", "SELECT count(*) FROM shifts WHERE to_char(zoned, 'YYYY') = '2003'", "SELECT max(d + starts), min(d + starts) FROM shifts", "SELECT max(at + share * interval '1 hour') FROM shifts", "SELECT extract(isoyear FROM d), count(*) FROM shifts GROUP BY 1");
	run('DELETE FROM shifts WHERE id = 0');
}
run("INSERT INTO shifts (id, g, at, share) VALUES (0, 3, '2001-01-01', 'NaN')");
foreach my $setting ('off', 'force')
{
	like($session->answer_by($setting, "SELECT max(at + share * interval '1 hour') FROM shifts"), qr/22008: /, "an error, $setting");
}

done_testing();
