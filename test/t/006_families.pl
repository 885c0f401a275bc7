# Segments, locality sort, merge, bulk changes and the network: a running call ends
# within 0.2 s of a timeout or a cancel, leaves no memory behind, and the session goes on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('families');

# random, sorted and nearly sorted values; segments of 100 in the mean
my $millions = sized(tiered(2, 4), 10);
my $n = $millions * 1_000_000;
my $tenth = $n / 10;
make_big($node, 'random', $millions, a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ], b => [ 'bigint[]', '(random() * 1e18)::bigint' ]);
make_big($node, 'texts', $millions / 10, t => [ 'text[]', 'md5(i::text)' ]);
$node->safe_psql('postgres', qq{
	CREATE TABLE sorted (a int[], b int[], p int[], q int[], v int[], groups int[], heads int[], near int[], t text[]);
	ALTER TABLE sorted ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER p SET STORAGE EXTERNAL, ALTER q SET STORAGE EXTERNAL, ALTER v SET STORAGE EXTERNAL,
		ALTER groups SET STORAGE EXTERNAL, ALTER heads SET STORAGE EXTERNAL, ALTER near SET STORAGE EXTERNAL, ALTER t SET STORAGE EXTERNAL;
	INSERT INTO sorted SELECT ARRAY(SELECT i * 3 FROM generate_series(1, $n) i), ARRAY(SELECT i * 2 + 1 FROM generate_series(1, $n) i),
		ARRAY(SELECT i * 10 - i % 7 FROM generate_series(1, $tenth) i), ARRAY(SELECT (i::bigint * 48271 % 2147483647 % $n)::int + 1 FROM generate_series(1, $tenth) i),
		ARRAY(SELECT generate_series(1, $tenth)), ARRAY(SELECT (i + i % 61) / 100 FROM generate_series(1, $n) i), ARRAY(SELECT i * 100 - i % 61 FROM generate_series(1, $n / 100 - 1) i),
		ARRAY(SELECT i + i * 31 % 40 FROM generate_series(1, $n) i), ARRAY(SELECT lpad(i::text, 12, '0') FROM generate_series(1, $tenth) i);
	CREATE TABLE flags AS SELECT repeat('1' || repeat('0', 99), $n / 100)::varbit AS f;
	-- sorted, with NULLs at its end
	CREATE TABLE gaps AS SELECT mgpu_merge(a, array_fill(NULL::int, ARRAY[1000])) AS a FROM sorted;
	ALTER TABLE gaps ALTER a SET STORAGE EXTERNAL;
	UPDATE gaps SET a = a || '{}'});

# Pairs are called where nothing but the call is to be stopped: in FROM, PostgreSQL writes
# the row with both arrays to a file first, and looks at no interrupt meanwhile.
my %calls = (
	'segsort' => 'SELECT cardinality(mgpu_segsort(a, heads)) FROM random JOIN (SELECT heads FROM sorted) s ON true',
	'segsort, one segment' => q{SELECT cardinality(mgpu_segsort(a, '{}')) FROM random},
	'segsort_flags' => 'SELECT cardinality(mgpu_segsort_flags(a, f, true)) FROM random, flags',
	'segsort_by' => 'SELECT cardinality(mgpu_segsort_by(r.a, groups)) FROM random r, sorted',
	'segsort_by text' => "SELECT cardinality(mgpu_segsort_by(r.t, groups[1:$tenth])) FROM texts r, sorted",
	'segsort_pairs' => 'SELECT cardinality((mgpu_segsort_pairs(r.a, r.b, heads)).vals) FROM random r, sorted',
	'segsort_rows' => 'SELECT count(*) FROM random r, sorted, mgpu_segsort_rows(r.a, groups)',
	'segsort_stats' => 'SELECT count(*) FROM random r, sorted, mgpu_segsort_stats(r.a, heads)',
	'locality_sort' => 'SELECT cardinality(mgpu_locality_sort(near)) FROM sorted',
	'locality_sort, random' => 'SELECT cardinality(mgpu_locality_sort(a)) FROM random',
	'locality_sort_pairs' => 'SELECT cardinality((mgpu_locality_sort_pairs(near, r.b)).vals) FROM sorted, random r',
	'locality_sort_stats' => 'SELECT count(*) FROM random, mgpu_locality_sort_stats(a)',
	'locality_sort_stats text' => 'SELECT count(*) FROM texts, mgpu_locality_sort_stats(t || t || t)',
	'merge' => 'SELECT cardinality(mgpu_merge(a, b)) FROM sorted',
	'merge with nulls' => 'SELECT cardinality(mgpu_merge(gaps.a, b)) FROM sorted, gaps',
	'merge text' => 'SELECT cardinality(mgpu_merge(t, t)) FROM sorted',
	'merge_pairs' => 'SELECT cardinality((mgpu_merge_pairs(s.a, r.b, s.b, r.b)).vals) FROM sorted s, random r',
	'bulk_remove' => 'SELECT cardinality(mgpu_bulk_remove(a, p)) FROM sorted',
	'bulk_remove, any order' => 'SELECT cardinality(mgpu_bulk_remove(a, q)) FROM sorted',
	'bulk_remove text' => 'SELECT cardinality(mgpu_bulk_remove(t, v[1:cardinality(v) * 9 / 10])) FROM sorted',
	'bulk_insert' => 'SELECT cardinality(mgpu_bulk_insert(a, p, v)) FROM sorted',
	'bulk_insert, any order' => 'SELECT cardinality(mgpu_bulk_insert(a, q, v)) FROM sorted',
	'oddeven_sort' => "SELECT cardinality(mgpu_oddeven_sort(a[1:$tenth * 4])) FROM random",
	'oddeven_sort text' => "SELECT cardinality(mgpu_oddeven_sort(t[1:$tenth / 5])) FROM texts");

# --------------------------------------------------------- timeouts and cancels

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my $other = MgpuTest->session($node);

	check_timeouts($session, "$executor, $_", $calls{$_}, 2, [ 1, 3, 5, 7 ]) for sort keys %calls;
	check_cancels($session, $other, "$executor, $_", $calls{$_}, 3)
	  for 'segsort', 'locality_sort, random', 'merge_pairs', 'bulk_insert, any order', 'oddeven_sort';
	is($session->query('SELECT mgpu_merge(ARRAY[1, 3], ARRAY[2]), mgpu_segsort(ARRAY[2, 1, 4, 3], ARRAY[3]), mgpu_bulk_remove(ARRAY[1, 2], ARRAY[1]),'
			  . 'mgpu_bulk_insert(ARRAY[1], ARRAY[1], ARRAY[0]), mgpu_locality_sort(ARRAY[2, 1]), mgpu_oddeven_sort(ARRAY[2, 1])'),
		'{1,2,3}|{1,2,3,4}|{2}|{0,1}|{1,2}|{1,2}', "$executor: the session goes on");
	is($session->query('SELECT mgpu_merge(a[1:200000], b[1:100000]) = (SELECT array_agg(x ORDER BY x) FROM unnest(a[1:200000] || b[1:100000]) x) FROM sorted'),
		't', "$executor: and merges right");
	$session->close;
	$other->close;
}

# ------------------------------------------- no growth over calls that do not end

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");

	foreach my $name ('segsort', 'locality_sort, random', 'merge', 'bulk_insert, any order', 'oddeven_sort')
	{
		my $errors = check_growth($session, "$executor, $name", $calls{$name}, 40, 1);

		cmp_ok($errors, '>=', 20, "$executor, $name: $errors of 40 calls were ended by a timeout");
	}
	is($session->query('SELECT mgpu_merge(ARRAY[1, 3], ARRAY[2])'), '{1,2,3}', "$executor: the session goes on");
	$session->close;
}

$node->stop;
done_testing();
