# Values of several columns in jobs: rows that are counted once, and first values in an order; and bits of integers.  The answers, and errors, are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('records', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 120_000);

sub run { return $session->run(@_); }

# Any plan of the extension's node, with a job or without.
sub check_node
{
	my ($name, @queries) = @_;

	check_plans($session, $name, sub { return $_[0] =~ /MgpuGroup/; }, @queries);
	return;
}

# Floats have both zeros and NaN, numerics are equal with other digits, some rows have nothing.
run('CREATE TABLE t (id int PRIMARY KEY, a int, b int8, s int2, o bool, f float8, r float4, n numeric, p numeric(8,2), k text, c char(6), u uuid, d date, ts timestamptz, long text, doc jsonb, lasted interval)',
	"INSERT INTO t SELECT i, CASE WHEN i % 7 > 0 THEN i % 60 END, CASE WHEN i % 5 > 0 THEN i % 40 * 3000000000 - 5 END, i % 3, CASE WHEN i % 4 > 0 THEN i % 8 < 4 END,
		CASE i % 6 WHEN 0 THEN '-0'::float8 WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN NULL WHEN 4 THEN '-Infinity' ELSE i % 9 / 4.0 END, CASE i % 5 WHEN 0 THEN '-0'::float4 WHEN 1 THEN 0 WHEN 2 THEN NULL ELSE i % 12 / 8.0 END,
		CASE WHEN i % 11 > 0 THEN round(i % 30 / 4.0, 2 + i % 3) END, CASE WHEN i % 13 > 0 THEN i % 100 / 4.0 END, CASE WHEN i % 9 > 0 THEN 'text ' || i % 70 WHEN i % 2 = 0 THEN '' END, CASE WHEN i % 3 > 0 THEN 'c' || i % 5 END,
		CASE WHEN i % 8 > 0 THEN ('00000000-0000-0000-0000-0000000000' || 10 + i % 40)::uuid END, CASE WHEN i % 10 > 0 THEN date '2026-01-01' + i % 25 END, timestamptz '2026-01-01 00:00+00' + i % 900 * interval '7 min',
		CASE WHEN i % 12 > 0 THEN repeat('a text that is long ', 8 + i % 20) || i % 30 WHEN i % 5 = 0 THEN '' END, jsonb_build_object('k', i % 4), CASE WHEN i % 6 > 0 THEN i % 5 * interval '24 hours' END FROM generate_series(1, $rows) i",
	'INSERT INTO t (id) SELECT -i FROM generate_series(1, 3) i', 'CREATE TABLE nothing (a int, b text)', "CREATE TABLE codes AS SELECT i AS id, CASE WHEN i % 3 > 0 THEN 'Code ' || i % 9 END AS name, i % 4 AS class, repeat('a name that is long ', 5 + i % 3) AS long_name FROM generate_series(0, 50) i", 'VACUUM ANALYZE');

# ---- rows that are counted once
check_programs($session, 'rows', 1, map { ("SELECT count(DISTINCT $_) FROM t", "SELECT s, count(DISTINCT $_), count(*) FROM t GROUP BY 1") }
	  '(a, b)', '(a, s, o)', '(b, a, o, s, d)', '(f, a)', '(r, f)', '(n, a)', '(n, p)', '(p, f, n)', '(k, a)', '(a, k)', '(c, k)', '(u, o)', '(d, ts)', 'ROW(a)', 'ROW(n)', 'ROW(f)', 'ROW(k)', '(a, 5)', '(a, NULL::int)', '(o, o)', '(a + 1, lower(k), ts::date)', "(a, 'x'::text, k)", '(a, s, o, b, d, ts, r)');
check_programs($session, 'others beside', 1, 'SELECT count(DISTINCT (a, b)), count(DISTINCT a), count(DISTINCT b), sum(a), max(b) FROM t', 'SELECT s, count(DISTINCT a), count(DISTINCT (a, b)), count(DISTINCT (b, a)), count(DISTINCT (a, b)), avg(a) FROM t GROUP BY 1',
	'SELECT s, count(DISTINCT k), min(k), count(DISTINCT (k, a)), max(k) FROM t GROUP BY 1', 'SELECT a, b, count(DISTINCT (s, o)), count(DISTINCT ROW(a)) FROM t GROUP BY 1, 2', 'SELECT bool_and(a IS NULL), count(DISTINCT ROW(a)), count(DISTINCT a IS NULL) FROM t',
	'SELECT s, percentile_disc(0.5) WITHIN GROUP (ORDER BY a), count(DISTINCT (a, s)) FROM t GROUP BY 1', 'SELECT s, count(DISTINCT (a, o)) FROM t GROUP BY 1 HAVING count(DISTINCT (a, o)) > 5', 'SELECT s, o, count(DISTINCT (a, k)) FROM t GROUP BY GROUPING SETS ((1, 2), (1), ())');
check_programs($session, 'filters', 1, 'SELECT s, count(DISTINCT (a, k)) FILTER (WHERE b > 0), count(DISTINCT (a, k)), count(DISTINCT (a, k)) FILTER (WHERE o) FROM t GROUP BY 1', 'SELECT count(DISTINCT (n, f)) FILTER (WHERE a > 900) FROM t', 'SELECT count(DISTINCT (100 / (a - 5), b)) FILTER (WHERE a <> 5), count(DISTINCT (100 / (a - 5), o)) FILTER (WHERE a > 5) FROM t',
	'SELECT s, count(DISTINCT (a, k)) FROM t WHERE d IS NULL GROUP BY 1');
check_programs($session, 'joins', 1, 'SELECT class, count(DISTINCT (name, b)) FROM t JOIN codes ON codes.id = a GROUP BY 1', 'SELECT class, count(DISTINCT (name, o)), count(*) FROM t LEFT JOIN codes ON codes.id = a GROUP BY 1', 'SELECT count(DISTINCT (class, k)) FILTER (WHERE name IS NULL) FROM t LEFT JOIN codes ON codes.id = a',
	'SELECT class, count(DISTINCT (a, name)) FROM codes LEFT JOIN t ON codes.id = a AND b > 0 GROUP BY 1', 'SELECT count(DISTINCT r) FROM (SELECT (a, k) AS r FROM t) s');

# ---- bits that any value has, or all
check_plans($session, 'bits are for threads', sub { return $_[0] =~ /Executor: cpu\n.*Program: \d+/s; }, 'SELECT count(DISTINCT o), bit_or(a), bit_and(a), bit_or(b), bit_and(b), bit_or(s), bit_and(s) FROM t', 'SELECT s, bit_or(a), sum(a), max(a), count(DISTINCT a), bit_and(b + 7), avg(b) FROM t GROUP BY 1',
	'SELECT a, bit_or(s) FILTER (WHERE o), bit_and(-b) FILTER (WHERE b > 0), bit_and(a) FROM t GROUP BY 1', 'SELECT k, bit_or(a::int8 & 40), bit_and((a - 30)::int2) FROM t GROUP BY 1 HAVING bit_or(a) > 40', 'SELECT s, o, bit_or(a), bit_and(b) FROM t GROUP BY GROUPING SETS ((s, o), (s), ())',
	'SELECT class, bit_or(a), bit_and(s) FROM t JOIN codes ON codes.id = a GROUP BY 1');
check_node('bits of nothing', 'SELECT k, bit_or(a), bit_and(a) FROM t WHERE a IS NULL GROUP BY 1', 'SELECT s, bit_or(DISTINCT a), bit_and(a ORDER BY b) FROM t GROUP BY 1', 'SELECT s, bit_or(a::bit(8)) FROM t GROUP BY 1');

check_plans($session, 'long texts are for threads', sub { return $_[0] =~ /Executor: cpu\n.*Program: \d+/s; }, 'SELECT count(DISTINCT (long, a)) FROM t', 'SELECT s, count(DISTINCT (a, long)) FILTER (WHERE o), count(DISTINCT long), count(DISTINCT (long, k, n)) FROM t GROUP BY 1', 'SELECT count(DISTINCT (long_name, o, long)) FROM t JOIN codes ON codes.id = a');

# What cells do not tell is for PostgreSQL: fields without cells, or too many, equal texts of other bytes, records in records.
check_programs($session, 'no job', 0, map { ("SELECT count(DISTINCT $_) FROM t", "SELECT s, count(DISTINCT $_) FROM t GROUP BY 1") } '(a, doc)', '(lasted, a)', '(a, c::bpchar)', '((a, b), s)', '(a, b, s, o, d, ts, r, f)', 't');
check_node('other nodes', 'SELECT count(DISTINCT (a, b)) FROM nothing', 'SELECT s, count(DISTINCT (a, doc)), count(DISTINCT (a, b)) FROM t GROUP BY 1', 'SELECT s, count(DISTINCT (a, lasted)), max(k) FROM t GROUP BY 1', 'SELECT count(DISTINCT (doc, lasted)), count(DISTINCT (a, k)) FROM t', "SELECT s, count(DISTINCT (a, md5(k))) FROM t WHERE random() >= 0 GROUP BY 1");
check_plans($session, 'no node', sub { return $_[0] !~ /MgpuGroup/; }, 'SELECT s, count(DISTINCT CASE WHEN o THEN (a, b) END) FROM t GROUP BY 1', 'SELECT s, array_agg(DISTINCT (a, b)) FROM t GROUP BY 1', 'SELECT DISTINCT (a, b) FROM t', 'SELECT s, count((a, b)) FROM t GROUP BY 1');
SKIP:
{
	skip 'no ICU', 1 if $session->query("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") == 0;
	run("CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
	check_programs($session, 'equal texts of other bytes', 0, 'SELECT s, count(DISTINCT (a, CASE WHEN o THEN upper(k) ELSE k END COLLATE any_case)) FROM t GROUP BY 1');
}
is($session->answer_by($_->[0], $_->[1]), $session->answer_by('off', $_->[1]), "an error, $_->[0]: $_->[1]")
  foreach map { my $query = $_; map { [ $_, $query ] } 'off', 'force' } 'SELECT count(DISTINCT (a, 100 / (a - 5))) FROM t', 'SELECT s, count(DISTINCT (a, doc::json)) FROM t GROUP BY 1', "SELECT count(DISTINCT (a, 'x')) FROM t", 'SELECT count(DISTINCT (s, k COLLATE "C" || (c COLLATE "POSIX"))) FROM t';

# ---- values that are beyond programs, memory, workers
run('CREATE TABLE odd AS SELECT * FROM t', "UPDATE odd SET n = 1e30 WHERE id % 700 = 1", "UPDATE odd SET n = 'NaN' WHERE id % 700 = 2", "UPDATE odd SET k = repeat('x', 500) || id % 3 WHERE id % 900 = 3", 'VACUUM ANALYZE odd');
check_node('beyond programs', 'SELECT s, count(DISTINCT (n, a)) FROM odd GROUP BY 1', 'SELECT count(DISTINCT (n, a)) FROM odd', 'SELECT s, count(DISTINCT (k, a)) FROM odd GROUP BY 1');
foreach my $memory ('64kB', '1MB')
{
	run("SET work_mem = '$memory'");
	check_node("with $memory", 'SELECT count(DISTINCT (id, a)) FROM t', 'SELECT s, count(DISTINCT (k, id % 5000)) FROM t GROUP BY 1', 'SELECT s, count(DISTINCT (n, f)) FROM odd GROUP BY 1', 'SELECT a, count(DISTINCT (long, doc)) FROM t GROUP BY 1');
}
run("SET work_mem = '64MB'", 'SET max_parallel_workers_per_gather = 2', 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0');
check_node('with workers', 'SELECT count(DISTINCT (a, doc)) FROM t', 'SELECT s, count(DISTINCT (a, doc)), count(DISTINCT (a, b)) FROM t GROUP BY 1', 'SELECT s, count(DISTINCT (n, f)) FROM odd GROUP BY 1');

# ---- first values in an order: of rows that are equal in it, which have a value is not said
run('RESET max_parallel_workers_per_gather');
sub first { return "(array_agg($_[0] ORDER BY $_[1]))[1]"; }
check_programs($session, "first values in the order of $_", 1, 'SELECT ' . first('p', $_) . ' FROM t', 'SELECT s, ' . first('a', $_) . ', ' . first('k', $_) . ' FROM t GROUP BY 1', 'SELECT s, o, ' . first('n', $_) . ', count(*), max(p), min(p) FROM t GROUP BY 1, 2')
  foreach 'id', 'id DESC', 'a, id', 'a DESC, id DESC', 'a NULLS FIRST, id NULLS FIRST', 'b DESC NULLS LAST, id DESC', 'f, id', 'f DESC NULLS LAST, id DESC', 'n, id', 'n DESC, id DESC', 'p NULLS FIRST, id', 'o, id', 'd DESC, id DESC', 'ts DESC, id DESC', '-id';
check_programs($session, 'first texts', 1, map { 'SELECT a, ' . first($_, 'id') . ', ' . first($_, 'ts DESC, id DESC') . ' FROM t GROUP BY 1' } 'k', 'c', 'u', 'd', 'ts', 'o', 'lower(k)', 'a + b', "coalesce(k, 'none')", '5', 'NULL::int');
check_programs($session, 'in the order of texts', 1, 'SELECT a, ' . first('p', 'k COLLATE "C", id') . ' FROM t GROUP BY 1', 'SELECT a, ' . first('s', 'k COLLATE "C" DESC, id DESC') . ' FROM t GROUP BY 1', 'SELECT a, ' . first('d', 'u DESC, id DESC') . ' FROM t GROUP BY 1');
check_programs($session, 'first values and others', 1, 'SELECT s, ' . first('p', 'id') . ', ' . first('p', 'id DESC') . ', max(p), min(p), sum(a), count(DISTINCT (a, k)), percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM t GROUP BY 1', 'SELECT s, ' . first('p', 'id') . ' * 2 + max(p), ' . first('a', 'id') . ' IS NULL FROM t GROUP BY 1',
	'SELECT s, a, ' . first('p', 'id') . ' FROM t GROUP BY 1, 2 HAVING ' . first('p', 'id') . ' > 5', 'SELECT s, a, ' . first('p', 'id') . ' AS v FROM t GROUP BY 1, 2 ORDER BY v, 1, 2', 'SELECT s, o, ' . first('p', 'id') . ', ' . first('k', 'id DESC') . ' FROM t GROUP BY ROLLUP (1, 2)',
	"SELECT date_trunc('hour', ts), " . first('p', 'ts, id') . ', max(p), min(p), ' . first('p', 'ts DESC, id DESC') . ' FROM t GROUP BY 1');
check_programs($session, 'first values and filters', 1, 'SELECT s, a, ' . join(', ', map { "(array_agg($_ ORDER BY id) FILTER (WHERE b > 20000000000))[1], (array_agg($_ ORDER BY id DESC) FILTER (WHERE o))[1]" } 'p', 'k') . ' FROM t GROUP BY 1, 2', 'SELECT (array_agg(100 / (a - 5) ORDER BY id) FILTER (WHERE a > 5))[1] FROM t', 'SELECT (array_agg(a ORDER BY id) FILTER (WHERE a > 900))[1], count(*) FROM t');
check_programs($session, 'first values of joins', 1, 'SELECT class, ' . first('name', 't.id') . ', ' . first('p', 't.id DESC') . ' FROM t JOIN codes ON codes.id = a GROUP BY 1', 'SELECT s, ' . first('name', 't.id') . ', ' . first('class', 'class DESC, t.id DESC') . ' FROM t LEFT JOIN codes ON codes.id = a GROUP BY 1', 'SELECT class, ' . first('k', 't.id') . ' FROM codes LEFT JOIN t ON codes.id = a AND b > 0 GROUP BY 1');
check_programs($session, 'no job for all of an array, other orders, types', 0, map { ("SELECT s, $_ FROM t GROUP BY 1") } first('p', 'id') . ', array_agg(p ORDER BY id)', '(array_agg(p ORDER BY id))[2]', '(array_agg(p ORDER BY id))[1:1]', 'array_length(array_agg(p ORDER BY id), 1)', first('p', 'a, id DESC'), first('doc', 'id'), first('long', 'id'), first('p', 'lasted, id'), first('p', 'a, b, s, id'), first('f', 'id'), '(array_agg(ARRAY[a, s] ORDER BY id))[1][1]');
check_node('first values without a job', 'SELECT s, ' . first('n', 'id') . ', ' . first('k', 'id DESC') . ' FROM odd GROUP BY 1', 'SELECT a, ' . first('doc', 'id') . ', ' . first('doc', 'id DESC') . ", (array_agg(doc ORDER BY id) FILTER (WHERE o))[1]->>'k' FROM t GROUP BY 1", 'SELECT a, ' . first('long', 'id') . ', ' . first('p', 'a, id DESC') . ' FROM t GROUP BY 1', 'SELECT ' . first('a', 'b') . ' FROM nothing',
	'SELECT a, s, ' . first('p', 'id') . ', lag(' . first('p', 'id') . ') OVER (PARTITION BY s ORDER BY a) FROM t GROUP BY 1, 2');
foreach my $executor ('cpu', 'gpu', 'none')
{
	my $order = $executor eq 'none' ? 'o, lasted' : 'o';

	run('SET mgpu.executor = ' . ($executor eq 'gpu' ? 'gpu' : 'cpu'), 'SET mgpu.enable_group = force');
	is($session->query("SELECT count(*), count(*) FILTER (WHERE t.k IS DISTINCT FROM f.k OR t.p IS DISTINCT FROM f.p) FROM (SELECT a, " . join(', ', map { first($_, $order) . " AS $_" } 'id', 'k', 'p') . ' FROM t GROUP BY 1) f JOIN t USING (id)'), '61|0', "values of one row, $executor");
	is($session->query("SELECT count(*), count(*) FILTER (WHERE t.k IS DISTINCT FROM f.k OR t.p IS DISTINCT FROM f.p) FROM (SELECT a, " . join(', ', map { first($_, join ', ', map { "$_ DESC" } split /, /, $order) . " AS $_" } 'id', 'k', 'p') . ' FROM t GROUP BY 1) f JOIN t USING (id)'), '61|0', "values of one row from the end, $executor");
}
run("SET work_mem = '64kB'");
check_node('first values with little memory', 'SELECT id % 3000, ' . first('p', 'id') . ', ' . first('k', 'id DESC') . ' FROM t GROUP BY 1', 'SELECT s, ' . first('doc', 'id') . ' FROM t GROUP BY 1');

ok(service_is_idle($node), 'nothing is left in the service');
$session->close;
$node->stop;
done_testing();
