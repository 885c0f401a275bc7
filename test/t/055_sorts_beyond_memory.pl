# Sorted rows, and the first ones of partitions, beyond what threads have in memory: jobs cut them into parts by ranges of their order (core/cpu/table/table_order_parts).
# The answers, and their order, are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('sorts_beyond', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'jit = off', 'mgpu.cpu_threads = 3' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(6_000, 80_000);

sub run { return $session->run(@_); }

# Rows in their order, and whether a job of threads wrote some to a file.  An order is of all rows: ties would have any.
sub check_filed
{
	my ($name, $is_filed, @queries) = @_;

	check_plans($session, $name, sub { return $_[1] eq 'gpu' || ($_[0] =~ /Executor: cpu\n.*Disk Usage: \d/s ? 1 : 0) == $is_filed; }, map { "SELECT count(*), md5(string_agg(s::text, ';')) FROM ($_) s" } @queries);
	return;
}

run('CREATE TABLE moves (id int PRIMARY KEY, device int, kind text COLLATE "C", name text COLLATE "C", at timestamptz, day date, price numeric(10,2), level float8, few int2, flag bool)',
	"INSERT INTO moves SELECT i, i * 7919::bigint % 997, CASE i % 11 WHEN 0 THEN NULL ELSE 'kind ' || i % 7 END, repeat('the same beginning of all ', 2) || i * 31 % 1009, '2024-01-01'::timestamptz + i * interval '13 s',
		CASE WHEN i % 13 > 0 THEN '2024-01-01'::date + i * 17 % 400 END, (i * 69621::bigint % 100003) / 100.0, CASE i % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE (i * 37 % 1013) / 8.0 END, i % 3, i % 2 = 0
		FROM generate_series(1, $rows) i",
	"DELETE FROM moves WHERE id % 17 = 3",
	# of few partitions rows are dropped as they come, of many they are not
	"CREATE TABLE later AS SELECT i AS id, CASE WHEN i < $rows * 5 THEN i % 3 ELSE i / 2 END AS part, (i * 69621::bigint % 100003 / 100.0)::numeric(10, 2) AS price, 'a name ' || i AS name FROM generate_series(1, $rows * 7) i",
	'VACUUM ANALYZE');
my @sorts = ('SELECT * FROM moves ORDER BY price, id', 'SELECT id, device, at FROM moves ORDER BY device DESC, at', 'SELECT id, kind, day FROM moves ORDER BY kind NULLS FIRST, day DESC NULLS LAST, id',
	'SELECT name, id FROM moves ORDER BY name, id DESC', 'SELECT id, name, kind, level FROM moves ORDER BY kind DESC, name, level, id', 'SELECT id, few, flag FROM moves ORDER BY few, flag DESC, id',
	'SELECT few, at FROM moves ORDER BY at', 'SELECT id, level FROM moves WHERE id % 4 > 0 ORDER BY level DESC, id', 'SELECT few, kind FROM moves ORDER BY few, kind');
my @tops = ('SELECT DISTINCT ON (device) device, id, price FROM moves ORDER BY device, price, id', 'SELECT DISTINCT ON (device, day) device, day, id, name FROM moves ORDER BY device, day, price DESC, id',
	'SELECT * FROM (SELECT device, id, kind, row_number() OVER (PARTITION BY device, day ORDER BY at DESC) AS n FROM moves) s WHERE n <= 2 ORDER BY device, id',
	'SELECT * FROM (SELECT day, id, rank() OVER (PARTITION BY day ORDER BY few) AS n FROM moves) s WHERE n <= 300 ORDER BY day, id', 'SELECT * FROM (SELECT id, dense_rank() OVER (PARTITION BY few ORDER BY device) AS n FROM moves) s WHERE n <= 90 ORDER BY n, id');
push @tops, 'SELECT DISTINCT ON (part) * FROM later ORDER BY part, price, id', 'SELECT DISTINCT ON (part) * FROM later ORDER BY part, id DESC';
my @windows = ('SELECT id, price - lag(price) OVER (PARTITION BY device ORDER BY at) FROM moves ORDER BY id', 'SELECT id, sum(price) OVER (ORDER BY at) FROM moves ORDER BY id', 'SELECT id, rank() OVER (PARTITION BY kind ORDER BY price DESC), count(*) OVER (PARTITION BY kind) FROM moves ORDER BY id',
	'SELECT id, avg(level) OVER (PARTITION BY few ORDER BY at, id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM moves ORDER BY id');

run('SET mgpu.enable_sort = force', 'SET mgpu.enable_top = force');
foreach my $memory ('64kB', '256kB', '1MB')
{
	run("SET work_mem = '$memory'");
	check_plans($session, "$memory, sorts", sub { return 1; }, @sorts);
	check_plans($session, "$memory, first rows", sub { return 1; }, @tops);
	check_plans($session, "$memory, windows", sub { return 1; }, @windows);
}
run("SET work_mem = '" . sized('128kB', '512kB') . "'");
check_filed('a file', 1, @sorts[0, 3, 4]);
check_filed('first rows of many', 1, $tops[1]);
# all rows are among the first of few partitions
check_plans($session, 'first rows that drop none', sub { return $_[1] eq 'gpu' || $_[0] =~ /MgpuTop.*Executor: cpu\n.*Disk Usage: \d.*Partitions: \d/s; },
	map { "SELECT count(*), md5(string_agg(s::text, ';' ORDER BY id)) FROM (SELECT * FROM (SELECT id, price, name, rank() OVER (PARTITION BY part % 3 ORDER BY $_) AS n FROM later) r WHERE n <= 3) s" } 'id < 0', 'price < 900');
run("SET work_mem = '256MB'");
check_filed('no file', 0, @sorts[0, 3, 4]);

# ---- limits, restarts, cursors
run("SET work_mem = '" . sized('128kB', '512kB') . "'", "SET temp_file_limit = '100kB'");
like($session->query("SELECT count(*) FROM ($sorts[0] OFFSET 0) s"), qr/^\d+$|temporary file size exceeds/, 'a limit of files is no wrong answer');
run('RESET temp_file_limit');
run('BEGIN', "DECLARE c SCROLL CURSOR FOR $sorts[0]", 'FETCH 5 FROM c');
is($session->query('FETCH BACKWARD 2 FROM c'), $session->query("SELECT * FROM ($sorts[0] LIMIT 4) s ORDER BY price DESC, id DESC LIMIT 2 OFFSET 0"), 'a cursor goes back');
run('CLOSE c', 'COMMIT');
check_plans($session, 'once more for each row', sub { return 1; }, 'SELECT few, (SELECT string_agg(id::text, \',\') FROM (SELECT id FROM moves m WHERE m.few = f.few ORDER BY price, id OFFSET 0) s) FROM (VALUES (0), (1), (2)) f(few)');

$session->close;
$node->stop;
done_testing();
