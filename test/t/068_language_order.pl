# Texts that are compared in the order of a language, by programs (core/collator.h).  The answers are those of PostgreSQL's own plan.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('language_order', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', 'autovacuum = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(20_000, 100_000);

sub run { return $session->run(@_); }

$session->query("CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8')");
plan skip_all => 'no locale en_US.UTF-8' if $session->{state} ne '';

# Whether threads' programs decide, also where the GPU is wanted: it has no C library.
sub check_compared
{
	my ($name, $is_job, @queries) = @_;

	check_plans($session, $name, sub { return ($_[0] =~ /Executor: cpu\n.*Program: \d+/s ? 1 : 0) == $is_job; }, @queries);
	return;
}

# Letters whose order is not that of their bytes, texts that differ in case, blanks and punctuation alone, and long ones
run("CREATE TABLE words (id int, g int, t text COLLATE english, v varchar(20) COLLATE english, c char(8) COLLATE english, plain text COLLATE \"C\", other text COLLATE english)",
	"INSERT INTO words SELECT i, i % 7, CASE WHEN i % 19 > 0 THEN w END, left(w, 20), left(reverse(w), i % 9), w, CASE i % 3 WHEN 0 THEN w WHEN 1 THEN upper(w) ELSE w || ' ' END
		FROM (SELECT i, CASE WHEN i % 501 = 0 THEN repeat('long ', 12 + i % 40) ELSE (ARRAY['a', 'A', 'b', 'B', 'ab', 'a b', 'a-b', 'Z', 'z', '', '10', '9', '2024-03', '2023-12', 'INV/2024/7', 'inv/2024/07', '_x', 'x_', 'co-op', 'coop', 'CO OP', 'e', 'E', 'f', '.', '-'])[i % 26 + 1] || CASE WHEN i % 4 = 0 THEN '' ELSE (i * 31 % 97)::text END END AS w FROM generate_series(1, $rows) i) q", 'VACUUM ANALYZE');

# ---- each operator, with a constant and between columns
my @constants = ("'a'", "'B'", "''", "'a-b'", "'2024-01'", "'inv/2024/7'", "'CO'", "'zz'", "' '", "'long'");
check_compared('conditions', 1, map { my @x = @$_; map { "SELECT count(*), sum(id) FROM words WHERE $x[0] $_ $x[1]" } '<', '<=', '>', '>=' } map { my $k = $_; map { [ $_, $k ] } 't', 'v', 'c' } @constants);
check_compared('between', 1, "SELECT g, count(*) FROM words WHERE t BETWEEN 'a' AND 'b' GROUP BY g", "SELECT g, count(*) FROM words WHERE c NOT BETWEEN '1' AND 'b-' GROUP BY g", "SELECT g, count(*) FILTER (WHERE v >= '2023' AND v < '2024'), min(id) FROM words GROUP BY g");
check_compared('values', 1, "SELECT CASE WHEN t < 'b' THEN 'low' WHEN t >= 'x' THEN 'high' ELSE 'between' END, count(*), sum(id) FROM words GROUP BY 1", "SELECT t < other, v >= t, count(*) FROM words GROUP BY 1, 2", "SELECT g, bool_and(t <= other), bool_or(c > v), sum((t > 'a')::int) FROM words GROUP BY g",
	"SELECT lower(t) < upper(other), count(*) FROM words GROUP BY 1", "SELECT g, count(*) FROM words WHERE (t, id) > ('a-b', 300) GROUP BY g", "SELECT g, max(v), min(v), count(*) FILTER (WHERE t > 'b') FROM words GROUP BY g");
check_compared('of joins', 1, "SELECT a.g, count(*) FROM words a JOIN (SELECT DISTINCT g, 'a' || g AS low FROM words) b ON b.g = a.g WHERE a.t > 'a' GROUP BY 1", "SELECT count(*) FROM words a JOIN (VALUES (1, 'a'), (2, 'B'), (3, 'z')) b(n, low) ON a.g = b.n WHERE a.t >= 'CO'");
check_plans($session, 'rows', sub { return 1; }, "SELECT id, t FROM words WHERE t > 'z' ORDER BY id", "SELECT id FROM words WHERE t <= 'A' ORDER BY id LIMIT 20", "SELECT id, row_number() OVER (ORDER BY id) FROM words WHERE t < other ORDER BY id LIMIT 50");

# ---- other orders
check_plans($session, 'two collations', sub { return 1; }, "SELECT count(*) FROM words WHERE t < 'b' AND plain < 'b'", "SELECT count(*) FROM words WHERE t < 'b' AND plain < 'b' COLLATE \"C.UTF-8\"", "SELECT g, max(plain COLLATE english), count(*) FILTER (WHERE t > 'b') FROM words GROUP BY g");
SKIP:
{
	skip 'no ICU', 1 if $session->query("SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'") eq '0';
	check_plans($session, 'ICU', sub { return 1; }, 'SELECT count(*) FROM words WHERE t < \'b\' COLLATE "en-x-icu"', 'SELECT count(*) FROM words WHERE t < \'b\' AND plain COLLATE "en-x-icu" > \'a\'');
}
run('PREPARE behind (text) AS SELECT g, count(*) FROM words WHERE t > $1 GROUP BY g');
check_plans($session, 'prepared', sub { return 1; }, "EXECUTE behind('b')", "EXECUTE behind('A')", 'EXECUTE behind(NULL)');

# ---- texts too long to be compared by programs, and out of line
run("INSERT INTO words SELECT i, 3, repeat('m', 1020 + i), 'v', 'c', 'p', repeat(md5(i::text), 200) FROM generate_series(1, 9) i");
check_plans($session, 'long', sub { return 1; }, "SELECT g, count(*) FROM words WHERE t > 'm' GROUP BY g", "SELECT g, count(*) FROM words WHERE other < t GROUP BY g", "SELECT id FROM words WHERE t > 'm' AND t < 'n' ORDER BY id");

$session->close;
$node->stop;
done_testing();
