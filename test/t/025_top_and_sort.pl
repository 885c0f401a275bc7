# MgpuTop, MgpuSort and MgpuWindow: cancelled, spilling, read by cursors, and over rows that change meanwhile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('top_and_sort', conf => [ "session_preload_libraries = 'mgpu_pg'", 'mgpu.enable_group = off', 'mgpu.enable_top = force', 'mgpu.enable_sort = force',
	'max_parallel_workers_per_gather = 0', 'work_mem = 1GB' ]);
my $rows = sized(tiered(120_000, 400_000), 2_000_000);

$node->safe_psql('postgres', qq{
	CREATE TABLE t AS SELECT i, i % 100 AS few, (i * 7919::bigint % 100003)::int AS many, (i * 69621::bigint % 1000003)::int AS v, 'pad-' || i % 1000 AS pad
	FROM generate_series(1, $rows) i;
	VACUUM ANALYZE t});
my $session = MgpuTest->session($node);
# the language of most databases; where the C library has none, its bytes
my $english = $node->psql('postgres', q{CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8')}) == 0 ? 'COLLATE english' : 'COLLATE "C"';
my $word = "(ARRAY['Ab', 'ab', 'a-b', 'a b', 'É', 'e', 'ß', ''])[many % 8 + 1] || pad $english";

my %query = (
	'row_number' => 'SELECT i, few, n FROM (SELECT i, few, row_number() OVER (PARTITION BY few ORDER BY v, i) AS n FROM t) s WHERE n <= 30',
	'rank, many partitions' => 'SELECT i, pad, n FROM (SELECT i, pad, rank() OVER (PARTITION BY many ORDER BY v DESC) AS n FROM t) s WHERE n <= 2',
	'dense_rank, all rows' => 'SELECT i, pad, n FROM (SELECT i, pad, dense_rank() OVER (PARTITION BY pad, few ORDER BY v) AS n FROM t) s WHERE n <= 100000',
	'DISTINCT ON' => 'SELECT DISTINCT ON (many) many, i, pad FROM t ORDER BY many, v, i',
	'LIMIT' => 'SELECT i, pad FROM t ORDER BY v, i LIMIT 50000',
	'ORDER BY' => 'SELECT pad, i, v FROM t ORDER BY pad COLLATE "C", v DESC, i',
	"ORDER BY, a language" => "SELECT i, $word AS word FROM t ORDER BY word, i",
	'window functions' => 'SELECT i, v - lag(v) OVER w AS d, sum(few) OVER w AS s, lead(pad, 2) OVER w AS p FROM t WINDOW w AS (PARTITION BY few ORDER BY v, i)');

# The number of rows and what tells them apart, by the nodes or without.
sub answer
{
	my ($query, $nodes, $settings) = @_;

	return $session->query("SET mgpu.enable_top = $nodes; SET mgpu.enable_sort = $nodes; $settings; "
		  . "SELECT count(*), sum(hashtextextended(s::text, 0)), min(s::text) FROM ($query) s; RESET ALL");
}

foreach my $name (sort keys %query)
{
	my $right = answer($query{$name}, 'off', "SET work_mem = '256MB'");

	like($session->query("EXPLAIN $query{$name}"), qr/Custom Scan \(Mgpu(Top|Sort|Window)\)/, "$name: the node is in the plan");
	is(answer($query{$name}, 'force', "SET work_mem = '1GB'"), $right, "$name: in memory");
	is(answer($query{$name}, 'force', "SET work_mem = '256kB'; SET hash_mem_multiplier = 1"), $right, "$name: with little memory");
	check_timeouts($session, $name, "SELECT count(*) FROM ($query{$name} OFFSET 0) s", 3, [ 1 .. 9 ]);
	check_timeouts($session, "$name, with little memory", "SET work_mem = '256kB'; SELECT count(*) FROM ($query{$name} OFFSET 0) s; RESET work_mem", 1, [ 1 .. 9 ])
	  if $name =~ /many|ORDER BY$|window/;
}

like($session->query(qq{SET mgpu.enable_sort = on; EXPLAIN SELECT i, pad $english AS word FROM t ORDER BY word; RESET ALL}), qr/MgpuSort/, 'a language: the node is expected to be faster');

# ------------------------------------------------------------------- spilling

foreach my $name ('rank, many partitions', 'DISTINCT ON', 'ORDER BY', 'window functions')
{
	my $plan = $session->query("SET work_mem = '256kB'; SET hash_mem_multiplier = 1; EXPLAIN (ANALYZE, COSTS off) $query{$name}; RESET ALL");

	like($plan, qr/Disk Usage: \d+ kB/, "$name: writes temporary files");
}
is($session->query(q{SELECT count(*) FROM pg_ls_tmpdir()}), '0', 'no file is left behind');

# --------------------------------------------------------------- runs of rows

# merged more than once, read again, read for other parameters, of wide values
my %of_runs = (
	'many runs' => $query{'ORDER BY'},
	'a language' => "SELECT i, $word AS word, v FROM t WHERE i < 100000 ORDER BY word, v, i",
	'read again' => 'SELECT n, s.i, pad FROM (VALUES (1), (2), (3)) a(n) LEFT JOIN (SELECT i, v, pad FROM t WHERE i < 30000 ORDER BY v, i OFFSET 0) s ON v % n = 0',
	'other parameters' => 'SELECT n, s.i, pad FROM (VALUES (1), (2), (3)) a(n), LATERAL (SELECT i, v, pad FROM t WHERE i < 10000 * n ORDER BY v, i OFFSET 0) s',
	'wide values' => q{SELECT i, w, v FROM (SELECT i, repeat(md5(i::text), CASE WHEN i % 100 = 0 THEN 3000 WHEN i % 7 = 0 THEN 0 ELSE i % 5 END) AS w, nullif(v, 7) AS v FROM t WHERE i < 20000 OFFSET 0) q ORDER BY w COLLATE "C", v, i});

sub files_left
{
	return $session->query('SELECT count(*) FROM pg_ls_tmpdir()');
}

$session->run("SET work_mem = '64kB'", 'SET hash_mem_multiplier = 1', 'SET enable_material = off', 'SET enable_memoize = off');
# where a GPU reads the table, its rows are in a file
my $files = qr/Spilled Runs: \d+|Executor: gpu\n.*Disk Usage: \d+ kB/s;
foreach my $name (sort keys %of_runs)
{
	my $digest = "SELECT count(*), md5(string_agg(i::text || left(s::text, 40), '|')) FROM ($of_runs{$name} OFFSET 0) s";
	my $call = "SELECT count(*) FROM ($of_runs{$name} OFFSET 0) s";

	like($session->query("EXPLAIN (ANALYZE, COSTS off) $of_runs{$name}"), $files, "$name: there are runs");
	$session->run('SET mgpu.enable_sort = off');
	my $right = $session->query($digest);
	$session->run('SET mgpu.enable_sort = force');
	is($session->query($digest), $right, "$name: right, and in order");
	$session->run("SET temp_file_limit = '100kB'");
	$session->query($call);
	is($session->{state}, '53400', "$name: temp_file_limit counts");
	is(files_left(), '0', "$name: no file is left behind");
	$session->run('RESET temp_file_limit');
	check_timeouts($session, "$name, in runs", $call, 1, [ 1 .. 9 ]);
	is(files_left(), '0', "$name: nor by what is cancelled");
}
my $some = 'SELECT i, v, pad FROM t WHERE i < 5000 ORDER BY v, i OFFSET 0';
check_again($session, 'runs', "SELECT count(v) FROM ($some) s", "SELECT i FROM ($some) s LIMIT 3",
	"SELECT sum(s.v) FROM (VALUES (1), (2)) a(n), LATERAL (SELECT v FROM t WHERE i < 2000 * n ORDER BY v, i OFFSET 0) s",
	"SELECT sum(s.v) FROM (VALUES (1), (2)) a(n), ($some) s", "SELECT count(1 / (i - 2500)) FROM ($some) s");
$session->run('BEGIN', "DECLARE c CURSOR FOR $of_runs{'many runs'}");
$session->query('FETCH 3 FROM c');
isnt(files_left(), '0', 'a cursor has a file');
$session->run('ROLLBACK');
is(files_left(), '0', 'and leaves none');
$session->run('RESET ALL');

# -------------------------------------------------------------------- cursors

my @ways = (map {"SET LOCAL mgpu.enable_top = $_; SET LOCAL mgpu.enable_sort = $_"} qw(force off));
foreach my $name (sort keys %query)
{
	my @read;

	foreach my $way (@ways)
	{
		my $order = $name =~ /rank|row/ ? " ORDER BY n, i" : '';
		push @read, $session->query("BEGIN; $way; DECLARE c SCROLL CURSOR FOR $query{$name}$order; FETCH 3 FROM c; FETCH ABSOLUTE 40 FROM c; FETCH RELATIVE -7 FROM c;"
			  . "UPDATE t SET pad = 'changed', v = -1 WHERE i < 50; FETCH LAST FROM c; FETCH BACKWARD 4 FROM c; FETCH FIRST FROM c; ROLLBACK");
	}
	is($read[0], $read[1], "$name: a cursor in both directions sees what it saw at first");
	@read = map { $session->query("BEGIN; $_; DECLARE c CURSOR WITH HOLD FOR $query{$name}" . ($name =~ /rank|row/ ? " ORDER BY n, i" : '') . '; COMMIT; FETCH 5 FROM c; CLOSE c') } @ways;
	is($read[0], $read[1], "$name: a held cursor");
}

$node->stop;
done_testing();
