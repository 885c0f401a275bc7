# Hash joins in place of nested loops that read all of a side for each row: PostgreSQL's own answers, and which loops stay.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('hashed_loops', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', 'mgpu.enable_group = off', 'mgpu.enable_scan = off' ]);
my $session = MgpuTest->session($node);

sub run { return $session->run(@_); }

sub answer
{
	my ($setting, $query) = @_;

	return join("\n", sort split /\n/, $session->query("SET mgpu.enable_hashed_loops = $setting; $query"));
}

# Each query has the same rows with the setting and without.  Without, its plan has a nested loop, and with it, has none if it is hashed.
sub check
{
	my ($name, $hashed, @queries) = @_;
	my @wrong;

	foreach my $query (@queries)
	{
		my ($ours, $core) = map { answer($_, $query) } 'on', 'off';
		my ($plan, $before) = map { answer($_, "EXPLAIN (COSTS OFF) $query") } 'on', 'off';

		push @wrong, "differs: $query\n$ours\n$core" if $ours ne $core;
		push @wrong, "no loop: $query\n$before" if $before !~ /Nested Loop/;
		push @wrong, "another plan: $query\n$plan" if ($plan =~ /Nested Loop/ ? 0 : 1) != $hashed;
	}
	is(join("\n", @wrong), '', $name);
	return;
}

# of a, the conditions leave a tenth, and one row is expected
run('CREATE TABLE a (id int, x int, y int, z int, k int)', 'INSERT INTO a SELECT i, i % 10, i % 10, i % 10, i % 700 FROM generate_series(1, 3000) i', 'CREATE TABLE b (k int, v int)', 'INSERT INTO b SELECT i % 900, i FROM generate_series(1, 3000) i',
	'CREATE TABLE small (k int, v int)', 'INSERT INTO small SELECT i, i FROM generate_series(1, 20) i', 'ANALYZE');
my $few = 'x = 3 AND y = 3 AND z = 3 AND x + y = 6';

# of expressions, since PostgreSQL 17 knows statistics of a query's columns
my $with = 'WITH q AS MATERIALIZED (SELECT k + 0 AS k, x + 0 AS x, y + 0 AS y, v + 0 AS v FROM a JOIN b USING (k) WHERE v < 2200)';
my ($first, $second) = map { my $q = $_; join(' AND ', map { "$q.$_" } 'x = 3', 'y = 3', 'v < 2000') } 'q1', 'q2';

check('WITH queries', 1, "$with SELECT count(*) FROM q q1 JOIN q q2 USING (k) WHERE $first AND $second", "$with SELECT q1.v, q2.v FROM q q1 JOIN q q2 ON q1.k = q2.k AND q1.v < q2.v WHERE $first AND $second",
	"$with SELECT q1.k, count(q2.v), sum(q3.v) FROM q q1 JOIN q q2 USING (k) JOIN q q3 USING (k) WHERE $first AND $second AND q3.x = 3 AND q3.v < 100 GROUP BY q1.k", "$with SELECT q1.v, q2.v FROM q q1 JOIN q q2 USING (k) WHERE $first AND $second ORDER BY 1, 2 LIMIT 50");
check('as of outer joins', 1, "$with SELECT q1.v, q2.v FROM (SELECT * FROM q q1 WHERE $first) q1 LEFT JOIN (SELECT * FROM q q2 WHERE $second) q2 ON q1.k = q2.k AND q1.v < q2.v");

# a side that is unique, which streams, and rows of the other one that have the same key
run('CREATE TABLE unique_side (k int PRIMARY KEY, w int)', 'INSERT INTO unique_side SELECT i, i % 5 FROM generate_series(0, 9000) i', 'ANALYZE unique_side', 'SET enable_indexscan = off', 'SET enable_bitmapscan = off');
is(answer('on', $_), answer('off', $_), 'a unique side') foreach "$with SELECT q1.v, u.w FROM q q1 JOIN unique_side u USING (k) WHERE $first", "$with SELECT u.w, count(*), sum(q1.v) FROM q q1 JOIN unique_side u USING (k) WHERE $first GROUP BY 1";
run('RESET enable_indexscan', 'RESET enable_bitmapscan');

# what stays
check('a small side', 0, "SELECT count(*) FROM a JOIN small ON small.k = a.k WHERE $few");
check('other conditions', 0, "SELECT count(*) FROM a JOIN b ON b.k < a.k WHERE $few AND id < 100");
run('CREATE INDEX ON b (k)', 'ANALYZE');
check('look-ups', 0, "SELECT count(*), sum(v) FROM a JOIN b USING (k) WHERE $few");
run('SET enable_hashjoin = off', 'DROP INDEX b_k_idx');
check('no hash joins', 0, "SELECT count(*), sum(v) FROM a JOIN b USING (k) WHERE $few AND id < 300");
done_testing();
