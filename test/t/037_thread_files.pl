# Threads with little memory: rows and groups go to a temporary file.  The answers are PostgreSQL's, the file counts as its own do, and nothing of
# it stays, whatever ends a statement.  No workers: they would add floats in another order.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('thread_files',
	conf => [ 'shared_preload_libraries = mgpu_pg', 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off -c mgpu.executor=cpu');
my $rows = sized(tiered(7_000, 20_000), 200_000);

sub run { return $session->run(@_); }

# The plan of a statement by threads, and how many kB their file has had.
sub analyze
{
	my ($query) = @_;

	$session->favour('force');
	my $plan = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) $query");
	my ($kilobytes) = $plan =~ /Executor: cpu\n.*Disk Usage: (\d+) kB/s;
	return ($plan, $kilobytes // 0);
}

sub answer
{
	my ($nodes, $query) = @_;

	$session->favour($nodes);
	return join("\n", sort split /\n/, $session->query($query));
}

sub temp_files
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()');
}

# the language of most databases; where the C library has none, its bytes
my $english = $node->psql('postgres', q{CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8')}) == 0 ? 'english' : '"C"';
run('CREATE TABLE t (id int, g int, v int, f float8, n numeric(10,2), k text COLLATE "C", label int,
		x float8, skewed int8, ts timestamptz, word text COLLATE ' . $english . ')',
	"INSERT INTO t SELECT i, i % 1000, nullif((i * 7919::int8 % 20011)::int, 5), sqrt(i), nullif(i % 977, 3) / 100.0, 'key ' || i % 531, i % 30,
			CASE i % 1000 WHEN 7 THEN 'NaN' WHEN 8 THEN '-Infinity' WHEN 9 THEN NULL ELSE (i * 31 % 1009 - 500) / 3.0 END,
			CASE WHEN i % 10 < 8 THEN 7 WHEN i % 10 = 8 THEN i ELSE i * 1000000000000 END, timestamptz '2026-01-01' + i * interval '1 minute',
			(ARRAY['Ab', 'ab', 'a-b', 'a b', 'É', 'e', 'ß', '', NULL])[i * 7 % 9 + 1] || i % 41
		FROM generate_series(1, $rows) i",
	"CREATE TABLE labels AS SELECT i AS id, 'label ' || i % 10 AS label FROM generate_series(0, 29) i", 'VACUUM ANALYZE t', 'VACUUM ANALYZE labels');

# ---- answers

my @queries = (
	'SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY g',
	'SELECT g, k, count(*), sum(v), avg(n), min(f), max(k) FROM t GROUP BY g, k',
	'SELECT k, sum(f), avg(f), stddev(f) FROM t GROUP BY k',
	'SELECT g, count(DISTINCT v), count(DISTINCT k), count(DISTINCT f) FROM t GROUP BY g',
	'SELECT g, array_agg(v ORDER BY v DESC), mode() WITHIN GROUP (ORDER BY n) FROM t GROUP BY g',
	'SELECT g + 1, percentile_disc(0.9) WITHIN GROUP (ORDER BY n) FILTER (WHERE f > 10) FROM t WHERE v % 7 <> 0 GROUP BY 1',
	'SELECT l.label, percentile_cont(0.25) WITHIN GROUP (ORDER BY t.f), count(*) FROM t JOIN labels l ON l.id = t.label GROUP BY l.label',
	'SELECT v, g, id % 3, count(*), max(f) FROM t GROUP BY v, g, id % 3',
	'SELECT count(DISTINCT v), count(*), max(g) FROM t',
	'SELECT count(DISTINCT k) FROM t',
	'SELECT g, min(word), max(word), count(word), max(left(word, 2)), min(word) FILTER (WHERE v > 3), count(DISTINCT v) FROM t GROUP BY g',
	'SELECT id / 3, min(word), max(word), max(k) FROM t GROUP BY 1',
	'SELECT count(DISTINCT v), min(word), max(word || \'x\'), count(DISTINCT word) FROM t',
	'SELECT g, v, min(word COLLATE "C"), max(word COLLATE "C"), count(DISTINCT word) FROM t GROUP BY g, v',
	'SELECT g, percentile_cont(ARRAY[0.1, 0.2, 0.3, 0.4, 0.5]) WITHIN GROUP (ORDER BY v), percentile_disc(ARRAY[NULL]::float8[]) WITHIN GROUP (ORDER BY id) FROM t GROUP BY g');

# Few groups, whose values do not fit: they are sorted by ranges.
my @large = (
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t',
	'SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY n) FILTER (WHERE g > 1), percentile_disc(0.7) WITHIN GROUP (ORDER BY f DESC), max(k) FROM t',
	'SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY id), percentile_cont(0.9) WITHIN GROUP (ORDER BY id), percentile_disc(1) WITHIN GROUP (ORDER BY id),
		percentile_cont(0.25) WITHIN GROUP (ORDER BY x), percentile_cont(0.251) WITHIN GROUP (ORDER BY x) FROM t',
	'SELECT percentile_disc(ARRAY[[0.1, NULL], [0.9, 1]]) WITHIN GROUP (ORDER BY n DESC), percentile_cont(ARRAY[0.25, 0.251]) WITHIN GROUP (ORDER BY x) FROM t',
	'SELECT g % 2, percentile_cont(0) WITHIN GROUP (ORDER BY x), percentile_disc(0.999) WITHIN GROUP (ORDER BY v), sum(n), max(f) FROM t GROUP BY 1',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY label / 30), percentile_cont(0.5) WITHIN GROUP (ORDER BY skewed) FROM t',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v + NULL) FROM t',
	'SELECT label % 3, g % 2, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY ROLLUP (1, 2)',
	'SELECT count(DISTINCT id % 5000), percentile_disc(0.5) WITHIN GROUP (ORDER BY skewed) FROM t',
	'SELECT label % 2, count(DISTINCT v), percentile_disc(0.5) WITHIN GROUP (ORDER BY ts) FROM t GROUP BY 1');

foreach my $threads (1, 2, 5)
{
	run("SET mgpu.cpu_threads = $threads");
	foreach my $memory ('64kB', sized('128kB', '256kB'), '64MB')
	{
		my @wrong;
		my $num_files = 0;

		run("SET work_mem = '$memory'");
		foreach my $query (@queries, @large)
		{
			my ($plan, $kilobytes) = analyze($query);

			$num_files += $kilobytes > 0;
			push @wrong, "not by threads: $query" if $threads > 1 && $plan !~ /Executor: cpu/ && grep { $_ eq $query } @large;
			push @wrong, $query if answer('force', $query) ne answer('off', $query);
		}
		is(join("\n", @wrong), '', "$threads threads, work_mem $memory: PostgreSQL's answers");
		$memory eq '64MB' ? is($num_files, 0, '... no file is needed') : cmp_ok($num_files, '>=', 4, "... $num_files of " . (@queries + @large) . ' have a file');
	}
}

# ---- what the server knows of it

my $query = $queries[0];

run('SET mgpu.cpu_threads = 2', "SET work_mem = '64kB'");
my ($plan, $kilobytes) = analyze($query);
cmp_ok($kilobytes, '>', 0, 'rows are in a file');
like($session->query("EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) $query"), qr/temp .*written=[1-9]/, 'EXPLAIN counts its blocks');
$node->poll_query_until('postgres', "SELECT temp_files > 0 AND temp_bytes > 0 FROM pg_stat_database WHERE datname = 'postgres'");
cmp_ok($node->safe_psql('postgres', "SELECT temp_bytes FROM pg_stat_database WHERE datname = 'postgres'"), '>', 1024 * $kilobytes / 2,
	'pg_stat_database does');

# ---- what ends it

is(temp_files(), 0, 'no file stays after an answer');
run('SET temp_file_limit = 16');
my $by_force = eval { answer('force', $query) } // $@;
my $by_core = eval { answer('off', $query) } // $@;
run('RESET temp_file_limit');
ok($by_force eq $by_core || $by_force =~ /temporary file size exceeds temp_file_limit/, 'temp_file_limit holds');
is(answer('force', $query), answer('off', $query), 'the session goes on');
foreach my $milliseconds (1, 3, 10, 30, sized(60, 300))
{
	run("SET statement_timeout = $milliseconds");
	eval { answer('force', $query) };
	run('RESET statement_timeout');
}
is(temp_files(), 0, 'no file stays after a cancel');
is(answer('force', $query), answer('off', $query), 'the session goes on');
run('BEGIN', "DECLARE c CURSOR FOR $query");
is(scalar(split /\n/, $session->query('FETCH 10 FROM c')), 10, 'a cursor begins');
run('ROLLBACK');
is(temp_files(), 0, 'no file stays after a cursor that was not read to its end');

$session->close;
$node->stop;
done_testing();
