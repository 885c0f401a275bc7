# Tables that are larger than a quarter of the buffers: their all-visible pages are read from the file, many at a time, and answers are PostgreSQL's
# own whatever happens to the table meanwhile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('file_pages', initdb => ['--data-checksums'], conf => [ "session_preload_libraries = 'mgpu_pg'", 'shared_buffers = 1MB',
	'max_connections = 20', 'mgpu.cpu_threads = 2', 'max_parallel_workers_per_gather = 0' ]);
my $settings = '-c enable_indexscan=off -c enable_bitmapscan=off -c enable_sort=off -c synchronize_seqscans=off';
# a GPU keeps pages, so those of the first session are read by threads
my ($one, $two) = map { MgpuTest->session($node, options => "$settings$_") } ' -c mgpu.executor=cpu', '';
my $rows = sized(30_000, 100_000);
my $sum = 'SELECT g, count(*), sum(v) FROM t GROUP BY g';
my @queries = ($sum, 'SELECT count(*), sum(v), min(id), max(id) FROM t', 'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY v), count(pad) FROM t WHERE v % 3 > 0 GROUP BY g');

# What a statement says of its pages: those of the table, those that were read, copied, found in buffers, and not found there.
sub pages_of
{
	my ($query) = @_;
	my $plan = $one->query("SET mgpu.enable_group = force; EXPLAIN (ANALYZE, BUFFERS, COSTS off) $query");
	$one->run('RESET mgpu.enable_group');
	my ($read) = $plan =~ /Pages Read: (\d+)/;
	my ($copied) = $plan =~ /Pages Copied: (\d+)/;
	my ($hit) = $plan =~ /Buffers: shared hit=(\d+)/;
	my ($missed) = $plan =~ /Buffers: shared (?:hit=\d+ )?read=(\d+)/;

	return ($read, $copied // 0, $hit // 0, $missed // 0);
}

# All pages of the table but a few are read from the file, and counted as read; or none is.
sub check_pages
{
	my ($name, $query) = @_;
	my ($read, $copied, $hit, $missed) = pages_of($query);
	my $num_pages = $one->query("SELECT pg_relation_size('t') / 8192");

	is($read, $num_pages, "$name: all pages are read");
	ok($copied > $num_pages / 2, "$name: $copied of them as copies, which pages of a file are");
	ok($hit + $missed >= $num_pages && $missed > $num_pages / 2, "$name: $missed of $num_pages pages are counted as read, $hit were in buffers");
	return;
}

$one->run('CREATE EXTENSION amcheck', 'CREATE TABLE t (id int, g int, v int, pad text) WITH (fillfactor = 90, autovacuum_enabled = off)',
	"INSERT INTO t SELECT i, i % 7, i, repeat('x', i % 50) FROM generate_series(1, $rows) i", 'CREATE TABLE d AS SELECT i AS g, i::text AS name FROM generate_series(0, 5) i',
	'VACUUM ANALYZE t', 'VACUUM ANALYZE d');

# All answers are those of core, and of a join, whose plan does not say what its input is.
sub check_all
{
	my ($session, $name, %option) = @_;

	check_same($session, $name, \@queries, %option);
	check_same($session, "$name, joined", 'SELECT d.name, count(*), sum(t.v) FROM t JOIN d ON d.g = t.g GROUP BY d.name', %option, input => '');
	return;
}
check_all($one, 'all-visible');
check_pages('all-visible', $sum);
my $counted = 'SELECT heap_blks_read + heap_blks_hit, heap_blks_read FROM pg_statio_user_tables WHERE relname = $$t$$';

# What sessions have counted is known to others once a second has passed.
sub blocks_of_table
{
	$one->run('SELECT pg_sleep(1.1)');
	return split /\|/, $two->query($counted);
}
my ($blocks, $misses) = blocks_of_table();
$one->query("SET mgpu.enable_group = force; $sum");
$one->run('RESET mgpu.enable_group');
my ($more_blocks, $more_misses) = blocks_of_table();
my $num_pages = $one->query("SELECT pg_relation_size('t') / 8192");
cmp_ok($more_blocks - $blocks, '>=', $num_pages, 'statistics count each page ...');
cmp_ok($more_blocks - $blocks, '<', 2 * $num_pages, '... once, and looks at the map besides');
cmp_ok($more_misses - $misses, '>', $num_pages / 2, 'and most as read');

# ------------------------------------------------------------------- what may not be read so

$one->run('SET mgpu.inject_fault = file_pages');
check_all($one, 'pages that seem to have changed are read again');
check_pages('pages that seem to have changed', $sum);
$one->run('RESET mgpu.inject_fault');
foreach my $step ('UPDATE t SET v = v + 1 WHERE id % 1000 = 0', 'DELETE FROM t WHERE id % 777 = 0', 'VACUUM t', 'UPDATE t SET pad = NULL WHERE id > 29000',
	'BEGIN; INSERT INTO t SELECT i, 3, i, NULL FROM generate_series(1, 500) i; ROLLBACK', 'VACUUM t', 'VACUUM (FREEZE) t', 'ALTER TABLE t ADD late int DEFAULT 7',
	'CHECKPOINT', 'UPDATE t SET late = 8 WHERE id < 5000', 'VACUUM FULL t', 'VACUUM t', 'CLUSTER t USING t_id', 'DELETE FROM t WHERE id > 20000', 'VACUUM t')
{
	$one->run('CREATE INDEX t_id ON t (id)') if $step =~ /^CLUSTER/;
	$one->run($_) foreach split /; /, $step;
	check_all($one, "after $step");
}
$one->run('BEGIN', 'CREATE TABLE fresh AS SELECT * FROM t', 'UPDATE fresh SET v = 0 WHERE id = 1');
check_same($one, 'a table of this transaction', 'SELECT g, count(*), sum(v) FROM fresh GROUP BY g', inside => 1);
$one->run('COMMIT', 'ALTER TABLE fresh SET UNLOGGED', 'VACUUM fresh');
check_same($one, 'a table without a log', 'SELECT g, count(*), sum(v) FROM fresh GROUP BY g');

# a row that others change while an old snapshot reads
$two->run('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $before = $two->query($sum);
$one->run('UPDATE t SET v = -v WHERE id < 3000', 'DELETE FROM t WHERE id BETWEEN 5000 AND 6000', 'VACUUM (TRUNCATE false) t', 'CHECKPOINT');
check_all($two, 'an old snapshot', inside => 1);
is($two->query("SET LOCAL mgpu.enable_group = force; $sum"), $before, 'sees what it saw');
$two->run('COMMIT');
check_all($two, 'and a new one');
my $found = $two->query("SELECT * FROM verify_heapam('t')");
is($found, '', 'amcheck finds nothing');

# ----------------------------------------------------------------------------- damage

my $path = $node->data_dir . '/' . $two->query("SELECT pg_relation_filepath('t')");
$one->run('VACUUM t');
$_->close foreach $one, $two;
$node->stop;
open(my $file, '+<:raw', $path) or die "$path: $!";
seek($file, 40 * 8192 + 5000, 0);
print $file 'damaged';
close($file);
$node->start;
$one = MgpuTest->session($node, options => $settings);
$one->query("SET mgpu.enable_group = force; $sum");
is($one->{state}, 'XX001', 'a damaged page is an error');
like($one->{error}, qr/invalid page in block 40 of relation/, 'of PostgreSQL\'s, which names it');
check_same($one, 'the session goes on', 'SELECT name, count(*) FROM d GROUP BY name', input => '');
$one->close;
$node->stop;
unlike(slurp_file($node->logfile), qr/refcount leak|was not closed|PANIC|TRAP/, 'no pin is left behind');

# --------------------------------------------------------------------- tables that change

subtest 'tables that change, with few buffers' => sub {
	$ENV{MGPU_TEST_FEW_BUFFERS} = 1;
	do "$FindBin::Bin/024_heap_reader_changes.pl" or die $@ || $!;
};
done_testing();
