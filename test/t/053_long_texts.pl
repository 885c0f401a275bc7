# Texts of any length as keys of groups and as what is counted, in jobs of threads: they are numbers there (core/names.h).
# The answers, and errors, are those of PostgreSQL's own plan.  Small builds give many texts one hash.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('long_texts', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 100_000);

sub run { return $session->run(@_); }

# Whether threads run a job, though a GPU is asked for.
sub check_threads
{
	my ($name, $is_job, @queries) = @_;

	check_plans($session, $name, sub { return ($_[0] =~ /Executor: cpu\n.*Program: \d+/s ? 1 : 0) == $is_job; }, @queries);
	return;
}

run("CREATE TABLE hits (id int PRIMARY KEY, url text, agent varchar, phrase text, label char(90), note text, code int, price numeric(8,2))",
	"INSERT INTO hits SELECT i, CASE WHEN i % 41 > 0 THEN 'https://shop-' || i % 7 || '.example/catalogue/section-' || i % 13 || '/products/item-' || i % 900 || '?utm_source=letter&utm_campaign=spring' END,
		CASE i % 9 WHEN 0 THEN '' WHEN 1 THEN repeat('ä agent', 20) ELSE repeat('agent ', 12 + i % 30) || i % 3 END, CASE WHEN i % 10 = 0 THEN 'a phrase of ' || i % 60 ELSE '' END, repeat('label ', 10 + i % 4),
		repeat('note ' || i % 5, 20 + i % 8), i % 100, i % 700 / 4.0 FROM generate_series(1, $rows) i",
	"CREATE TABLE codes AS SELECT i AS id, 'Code ' || i % 9 AS name, repeat('a name that is long ', 5 + i % 3) AS long_name FROM generate_series(0, 99) i", 'VACUUM ANALYZE');

check_threads('keys', 1, 'SELECT url, count(*), max(id) FROM hits GROUP BY url', 'SELECT agent, code % 3, sum(price) FROM hits GROUP BY 1, 2', 'SELECT url, agent, note, count(*) FROM hits GROUP BY 1, 2, 3',
	'SELECT label, count(*), avg(price) FROM hits GROUP BY 1', 'SELECT DISTINCT note FROM hits', 'SELECT agent, avg(code::float8), stddev(price::float8) FROM hits GROUP BY 1');
check_threads('expressions', 1, 'SELECT lower(url), count(*) FROM hits GROUP BY 1', "SELECT url || '#' || code % 4, count(*) FROM hits GROUP BY 1", "SELECT coalesce(url, 'no url'), count(*) FROM hits GROUP BY 1",
	"SELECT CASE WHEN code < 50 THEN url ELSE agent END, count(*) FROM hits GROUP BY 1", "SELECT replace(url, 'shop', 'store'), min(price) FROM hits GROUP BY 1");
check_threads('counts', 1, 'SELECT count(DISTINCT url) FROM hits', 'SELECT code % 5, count(DISTINCT url), count(DISTINCT agent), sum(price) FROM hits GROUP BY 1', 'SELECT agent, count(DISTINCT url), count(url) FROM hits GROUP BY 1',
	'SELECT count(DISTINCT note) FILTER (WHERE code > 50), count(*) FROM hits', 'SELECT code % 5, count(DISTINCT lower(url)), percentile_disc(0.5) WITHIN GROUP (ORDER BY price) FROM hits GROUP BY 1');
check_threads('conditions', 1, "SELECT url, count(*) FROM hits WHERE url LIKE '%section-1%' GROUP BY 1", "SELECT agent, count(*) FROM hits WHERE agent <> '' AND code > 3 GROUP BY 1", 'SELECT url, sum(price) FROM hits GROUP BY 1 HAVING count(*) > 30',
	"SELECT url, count(*) AS n FROM hits GROUP BY 1 ORDER BY n DESC, url LIMIT 7", 'SELECT url, count(*) FROM hits WHERE code < 0 GROUP BY 1');
check_threads('sets', 1, 'SELECT url, code % 3, count(*), sum(price) FROM hits GROUP BY ROLLUP (1, 2)', 'SELECT agent, label, count(*) FROM hits GROUP BY GROUPING SETS ((1), (2), ())');
check_threads('joins', 1, 'SELECT name, url, count(*) FROM hits JOIN codes ON codes.id = code GROUP BY 1, 2', 'SELECT long_name, agent, sum(price) FROM hits JOIN codes ON codes.id = code GROUP BY 1, 2', 'SELECT name, count(DISTINCT url) FROM hits LEFT JOIN codes ON codes.id = code - 3 GROUP BY 1');

# Most texts of a column are empty: its others, of which statistics have some, fit in cells, so that a GPU may have them, too.
check_programs($session, 'few that are not empty', 1, 'SELECT phrase, count(*) FROM hits GROUP BY 1', "SELECT phrase, max(price) FROM hits WHERE phrase <> '' GROUP BY 1", 'SELECT code % 5, count(DISTINCT phrase) FROM hits GROUP BY 1', 'SELECT code % 7, min(phrase), max(phrase) FROM hits GROUP BY 1', 'SELECT id, phrase FROM hits ORDER BY phrase DESC, id LIMIT 5');

# Order is not what numbers have, and some collations have equal texts of other bytes.
check_threads('order', 0, 'SELECT code % 5, max(url) FROM hits GROUP BY 1', "SELECT code % 5, percentile_disc(0.5) WITHIN GROUP (ORDER BY url COLLATE \"C\") FROM hits GROUP BY 1");
SKIP:
{
	skip 'no ICU', 1 if $session->query("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") == 0;
	run("CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
	check_threads('equal texts of other bytes', 0, 'SELECT upper(agent) COLLATE any_case, count(*) FROM hits GROUP BY 1', 'SELECT count(DISTINCT agent COLLATE any_case) FROM hits');
}

# ---- texts that are not in their rows, or compressed there
run("UPDATE hits SET note = repeat('a longer note ' || code % 4, 400) WHERE id % 500 = 1", "UPDATE hits SET agent = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i) WHERE id % 700 = 2", 'VACUUM ANALYZE hits');
check_plans($session, 'elsewhere', sub { return 1; }, 'SELECT note, count(*) FROM hits GROUP BY 1', 'SELECT agent, count(DISTINCT note) FROM hits GROUP BY 1', 'SELECT count(DISTINCT agent) FROM hits', 'SELECT url, count(*) FROM hits GROUP BY 1');

# ---- memory
foreach my $memory ('64kB', '1MB', '4MB')
{
	run("SET work_mem = '$memory'");
	check_plans($session, "with $memory", sub { return 1; }, "SELECT url || id, count(*) FROM hits GROUP BY 1", "SELECT count(DISTINCT url || id % 5000) FROM hits", 'SELECT url, count(*), count(DISTINCT agent) FROM hits GROUP BY 1', "SELECT md5(url), count(*) FROM hits GROUP BY 1");
}
run("SET work_mem = '64MB'");

# ---- parameters, cursors, partitions, errors
run('PREPARE by_prefix(text) AS SELECT url, count(*) FROM hits WHERE url LIKE $1 GROUP BY 1', 'SET plan_cache_mode = force_generic_plan');
check_plans($session, 'parameters', sub { return 1; }, "EXECUTE by_prefix('%shop-3%')", "EXECUTE by_prefix('%no such%')", "EXECUTE by_prefix('%item-77%')");
run('RESET plan_cache_mode');
run('CREATE TABLE parts (LIKE hits) PARTITION BY RANGE (id)', "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ($rows / 3)", "CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ($rows / 3) TO (MAXVALUE)", 'INSERT INTO parts SELECT * FROM hits WHERE id % 500 <> 1 AND id % 700 <> 2', 'VACUUM ANALYZE parts');
check_threads('partitions', 1, 'SELECT url, count(*), sum(price) FROM parts GROUP BY 1', 'SELECT count(DISTINCT agent) FROM parts', 'SELECT note, code % 2, count(*) FROM parts GROUP BY 1, 2');
is($session->answer_by($_, 'SELECT url, sum(1 / (code - 7)) FROM hits GROUP BY 1'), $session->answer_by('off', 'SELECT url, sum(1 / (code - 7)) FROM hits GROUP BY 1'), "an error, $_") foreach 'off', 'force';

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
