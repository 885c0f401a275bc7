# Results of sorts by wide keys of narrow values, of bulk changes at very many
# positions, of very many segments and of statistics, against other ways to them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('narrow_results');
my $n = sized(200_000, 20_000_000);

# an enum whose labels' OIDs do not say their order
$node->safe_psql('postgres', q{CREATE TYPE shade AS ENUM ('white', 'pale', 'dark', 'black')});
$node->safe_psql('postgres', q{ALTER TYPE shade ADD VALUE 'grey' BEFORE 'dark'});

# b is i as a bool, -1 being NULL; keys have every value several times
make_big($node, 'narrow', $n / 1_000_000,
	k => [ 'int[]', 'hashint4(i / 4)' ],
	j => [ 'int[]', 'CASE WHEN i % 50 > 0 THEN hashint4(i / 4 + 1) END' ],
	h => [ 'macaddr[]', q{('08002b' || substr(md5((i % 30000)::text), 1, 6))::macaddr} ],
	e => [ 'shade[]', '(enum_range(NULL::shade))[1 + (hashint4(i + 3) & 255) % 5]' ],
	b => [ 'bool[]', 'CASE WHEN hashint4(-i) & 3 > 0 THEN hashint4(-i) & 4 = 0 END' ],
	o => [ 'bool[]', 'hashint4(-i) & 4 = 0' ],
	n => [ 'int2[]', 'CASE WHEN i % 7 > 0 THEN (hashint4(i + 5) % 30000)::int2 END' ],
	i => [ 'int[]', 'CASE WHEN hashint4(-i) & 3 = 0 THEN -1 ELSE (hashint4(-i) & 4 = 0)::int END' ]);

make_big($node, 'words', $n / 1_000_000, t => [ 'text[]', 'substr(md5(i::text), 1, 4)' ]);

# all positions, three in four of them, and the same downwards, each eighth being the last one instead
$node->safe_psql('postgres', qq{
	CREATE TABLE places (g int[], odd int[], p int[], d int[], ones varbit);
	ALTER TABLE places ALTER g SET STORAGE EXTERNAL, ALTER odd SET STORAGE EXTERNAL, ALTER p SET STORAGE EXTERNAL,
		ALTER d SET STORAGE EXTERNAL, ALTER ones SET STORAGE EXTERNAL;
	INSERT INTO places SELECT array_agg(x), array_agg(x) FILTER (WHERE x % 2 = 1), array_agg(x) FILTER (WHERE x % 4 > 0),
		array_agg(CASE WHEN x % 8 = 1 THEN $n ELSE $n + 1 - x END) FILTER (WHERE x % 4 > 0),
		repeat('1', $n)::varbit FROM generate_series(1, $n) x});

# keys near their places, of which a run's copies are few enough where they are streamed, and not where they lie in memory
make_big($node, 'near', sized(0.2, 5),
	f => [ 'float8[]', 'i + (random() * 3000)::int' ],
	j => [ 'int[]', 'CASE WHEN i % 50 > 0 THEN i + (random() * 300000)::int END' ]);
$node->safe_psql('postgres', 'CREATE TABLE nearer (j int[]); ALTER TABLE nearer ALTER j SET STORAGE EXTERNAL; INSERT INTO nearer SELECT j || j FROM near');

# An array that lies in memory before the call.
sub in_memory
{
	my ($array) = @_;

	return "array_cat($array, '{}')";
}

sub check_true
{
	my ($executor, $name, $query) = @_;
	my $said = $node->safe_psql('postgres', "SET mgpu.executor = $executor; $query");

	like($said, qr/\At(?:\|t)*\z/, "$executor, $name: the result");
	return;
}

$node->safe_psql('postgres', q{
	CREATE FUNCTION bools(a int[]) RETURNS bool[] LANGUAGE sql AS 'SELECT array_agg(CASE x WHEN -1 THEN NULL ELSE x = 1 END) FROM unnest(a) x'});

foreach my $executor (executors($node))
{
	# wide values without NULLs go by the executor's own pairs
	check_true($executor, "by $_", "SELECT mgpu_sort_by(b, $_) = bools(mgpu_sort_by(i, $_)) FROM narrow")
	  foreach ('k', 'e, true', 'h', 'j, false, true', 'n, true');
	check_true($executor, 'pairs', 'SELECT keys = mgpu_sort(j), vals = mgpu_sort_by(b, j) FROM narrow, mgpu_sort_pairs(j, b)');
	check_true($executor, 'pairs of wide keys', 'SELECT keys = mgpu_sort(h), vals = mgpu_sort_by(o, h) FROM narrow, mgpu_sort_pairs(h, o)');
	check_true($executor, 'by text', 'SELECT mgpu_sort_by(b, t, true)::int[] = mgpu_sort_by(b::int[], t, true) FROM narrow, words');
	check_true($executor, 'keys with nulls, in memory', 'SELECT mgpu_sort_by(' . in_memory('o') . ', ' . in_memory('j') . ') = mgpu_sort_by(o, j) FROM narrow');

	check_true($executor, 'bulk_remove', 'SELECT mgpu_bulk_remove(g, ' . in_memory('p') . ") = (SELECT array_agg(x) FROM generate_series(4, $n, 4) x) FROM places");
	check_true($executor, 'bulk_remove of text', "SELECT mgpu_bulk_remove(array_fill('x'::text, ARRAY[$n]), " . in_memory('d') . ") = array_fill('x'::text, ARRAY[$n * 3 / 8 - 1]) FROM places");
	check_true($executor, 'bulk_remove in no order', 'SELECT mgpu_bulk_remove(g, ' . in_memory('d') . ') = mgpu_bulk_remove(g, d) FROM places');
	check_true($executor, 'bulk_insert', 'SELECT mgpu_bulk_insert(g, ' . in_memory('p') . ', p) = mgpu_bulk_insert(g, p, p) FROM places');
	check_true($executor, 'bulk_insert at one place', "SELECT mgpu_bulk_insert(ARRAY[1, 2], array_fill(2, ARRAY[$n]), g) = ARRAY[1] || g || 2 FROM places");

	check_true($executor, 'segments of one element', 'SELECT mgpu_segsort(k, g) = k, mgpu_segsort(j, g) = j, mgpu_segsort_flags(j, ones) = j, mgpu_segsort_by(k, g) = k, mgpu_segsort(h, g) = h FROM narrow, places');
	check_true($executor, 'segments of two elements', "SELECT mgpu_segsort(mgpu_sort(g, true), odd) = (SELECT array_agg(x + CASE WHEN x % 2 = 0 THEN -1 ELSE 1 END) FROM generate_series($n, 1, -1) x) FROM places");
	check_true($executor, 'pairs in segments of two elements', 'SELECT keys = mgpu_segsort(mgpu_sort(g, true), odd), vals = keys FROM places, mgpu_segsort_pairs(mgpu_sort(g, true), mgpu_sort(g, true), odd)');
}

# counts of a run, and counts without one
foreach my $case ([ 'near', 'f' ], [ 'nearer', 'j' ])
{
	my ($table, $keys) = @$case;
	my $stats = sub { "ARRAY(SELECT s::text FROM $_[0] s)" };

	check_true('cpu', "statistics of $table", 'SELECT ' . $stats->("mgpu_locality_sort_stats($keys)") . ' = '
		  . $stats->('mgpu_locality_sort_stats(' . in_memory($keys) . ')') . " FROM $table");
	check_true('cpu', "statistics of segments of $table", 'SELECT ' . $stats->("mgpu_segsort_stats($keys, squares)") . ' = '
		  . $stats->('mgpu_segsort_stats(' . in_memory($keys) . ', squares)')
		  . " FROM $table, (SELECT array_agg(x * x) AS squares FROM generate_series(1, 440) x) heads");
}

foreach my $case (
	[ 'mgpu_segsort(g, g || 1)', '22023', 'a head that is not behind the one before' ],
	[ "mgpu_segsort(g, g || $n + 1)", '2202E', 'a head out of range' ],
	[ "mgpu_bulk_remove(g, p || $n + 1)", '2202E', 'a position out of range' ],
	[ "mgpu_bulk_insert(g, p || $n + 2, p || 1)", '2202E', 'a position behind the last' ],
	[ 'mgpu_bulk_insert(g, p || 1, p)', '2202E', 'one position too many' ])
{
	my ($call, $state, $name) = @$case;
	my $session = MgpuTest->session($node);

	$session->query("SELECT $call FROM places");
	is($session->{state}, $state, "$name: an error");
	$session->close;
}

$node->stop;
done_testing();
