# Memory of one call, and its result, where positions of all elements, or heads of
# all segments, would take more than the values do.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('memory_narrow');

# an enum whose labels' OIDs do not say their order
$node->safe_psql('postgres', q{CREATE TYPE shade AS ENUM ('white', 'pale', 'dark', 'black')});
$node->safe_psql('postgres', q{ALTER TYPE shade ADD VALUE 'grey' BEFORE 'dark'});

# b is i as a bool, -1 being NULL; all have every value four times at least
make_big($node, 'narrow', 20,
	k => [ 'int[]', 'hashint4(i)' ],
	j => [ 'int[]', 'CASE WHEN i % 50 > 0 THEN hashint4(i + 1) END' ],
	h => [ 'macaddr[]', q{('08002b' || substr(md5((i % 300000)::text), 1, 6))::macaddr} ],
	e => [ 'shade[]', '(enum_range(NULL::shade))[1 + (hashint4(i + 3) & 255) % 5]' ],
	b => [ 'bool[]', 'CASE WHEN hashint4(-i) & 3 > 0 THEN hashint4(-i) & 4 = 0 END' ],
	o => [ 'bool[]', 'hashint4(-i) & 4 = 0' ],
	n => [ 'int2[]', 'CASE WHEN i % 7 > 0 THEN (hashint4(i + 5) % 30000)::int2 END' ],
	i => [ 'int[]', 'CASE WHEN hashint4(-i) & 3 = 0 THEN -1 ELSE (hashint4(-i) & 4 = 0)::int END' ]);

# strings, those that are mostly absent, uuids that begin alike, and keys that are compared
make_big($node, 'words', 20,
	t => [ 'text[]', 'substr(md5(i::text), 1, 4)' ],
	a => [ 'text[]', 'CASE WHEN i % 16 = 0 THEN substr(md5(i::text), 1, i % 7) END' ]);
$node->safe_psql('postgres', q{
	CREATE TABLE fewer (b bool[], t text[]);
	ALTER TABLE fewer ALTER b SET STORAGE EXTERNAL, ALTER t SET STORAGE EXTERNAL;
	INSERT INTO fewer SELECT b[1:8000000], t[1:8000000] FROM narrow, words});
make_big($node, 'ids', 20, u => [ 'uuid[]', q{('00000000-0000-4000-' || substr(md5(i::text), 1, 4) || '-' || substr(md5(i::text), 5, 12))::uuid} ]);
$node->safe_psql('postgres', q{
	CREATE TABLE ranges (r int4range[]);
	ALTER TABLE ranges ALTER r SET STORAGE EXTERNAL;
	INSERT INTO ranges SELECT array_agg(int4range(i, NULL)) FROM generate_series(1, 20000000) i});

# all positions, three in four of them, and the same downwards, each eighth being the last one instead
$node->safe_psql('postgres', q{
	CREATE TABLE places (g int[], odd int[], p int[], d int[], ones varbit);
	ALTER TABLE places ALTER g SET STORAGE EXTERNAL, ALTER odd SET STORAGE EXTERNAL, ALTER p SET STORAGE EXTERNAL,
		ALTER d SET STORAGE EXTERNAL, ALTER ones SET STORAGE EXTERNAL;
	INSERT INTO places SELECT array_agg(x), array_agg(x) FILTER (WHERE x % 2 = 1), array_agg(x) FILTER (WHERE x % 4 > 0),
		array_agg(CASE WHEN x % 8 = 1 THEN 20000000 ELSE 20000001 - x END) FILTER (WHERE x % 4 > 0),
		repeat('1', 20000000)::varbit FROM generate_series(1, 20000000) x});

# keys near their places, of which a run's copies are few enough where they are streamed, and not where they lie in memory
make_big($node, 'near', 5,
	f => [ 'float8[]', 'i + (random() * 3000)::int' ],
	j => [ 'int[]', 'CASE WHEN i % 50 > 0 THEN i + (random() * 300000)::int END' ]);
$node->safe_psql('postgres', 'CREATE TABLE nearer (j int[]); ALTER TABLE nearer ALTER j SET STORAGE EXTERNAL; INSERT INTO nearer SELECT j || j FROM near');

# An array that lies in memory before the call.
sub in_memory
{
	my ($array) = @_;

	return "array_cat($array, '{}')";
}

# --------------------------------------------------------- the peak of one call

my %peaks = (
	# positions of all would be 76 MB, for which these have 17 to 35
	'sort_by bool with nulls by int4' => [ 'mgpu_sort_by(b, k)', 'narrow', 93, 17 ],
	'sort_by bool with nulls by int4 in memory' => [ 'mgpu_sort_by(' . in_memory('b') . ', ' . in_memory('k') . ', true)', 'narrow', 93, 17 ],
	'sort_by bool with nulls by int4 with nulls' => [ 'mgpu_sort_by(b, j)', 'narrow', 94, 17 ],
	'sort_by int2 with nulls by int4 in memory' => [ 'mgpu_sort_by(' . in_memory('n') . ', ' . in_memory('k') . ')', 'narrow', 111, 35 ],
	'sort_by bool by macaddr' => [ 'mgpu_sort_by(o, h)', 'narrow', 171, 19 ],
	'sort_by bool by enum' => [ 'mgpu_sort_by(o, e)', 'narrow', 95, 19 ],
	'sort_by bool with nulls by enum' => [ 'mgpu_sort_by(b, e)', 'narrow', 93, 17 ],
	'sort_by bool with nulls by text' => [ 'mgpu_sort_by(b, t)', 'narrow, words', 170, 17 ],
	'sort_by bool with nulls by uuids that begin alike, in memory' => [ 'mgpu_sort_by(b, ' . in_memory('u') . ')', 'narrow, ids', 322, 17 ],
	'sort_by bool with nulls by ranges' => [ 'mgpu_sort_by(' . in_memory('b') . ', r)', 'narrow, ranges', 322, 17 ],
	'sort_by text that is mostly null by int4' => [ 'mgpu_sort_by(a, k)', 'narrow, words', 88, 12 ],
	# ... and a copy of the values
	'sort_by bool by int4 with nulls in memory' => [ 'mgpu_sort_by(' . in_memory('o') . ', ' . in_memory('j') . ')', 'narrow', 96, 19 ],
	'sort_pairs int4 with bool with nulls' => [ 'ARRAY[pg_column_size(mgpu_sort_pairs(k, b))]', 'narrow', 93, 93 ],
	'sort_pairs int4 with nulls and bool with nulls' => [ 'ARRAY[pg_column_size(mgpu_sort_pairs(j, b))]', 'narrow', 94, 94 ],
	'sort_pairs macaddr with bool' => [ 'ARRAY[pg_column_size(mgpu_sort_pairs(h, o))]', 'narrow', 171, 171 ],
	# a list of positions would be 57 MB, one of them in order and values in that order as much again
	'bulk_remove at positions in memory' => [ 'mgpu_bulk_remove(k, ' . in_memory('p') . ')', 'narrow, places', 133, 19 ],
	'bulk_remove at positions in no order' => [ 'mgpu_bulk_remove(k, ' . in_memory('d') . ')', 'narrow, places', 133, 29 ],
	'bulk_insert at positions in memory' => [ 'mgpu_bulk_insert(k, ' . in_memory('p') . ', p)', 'narrow, places', 190, 133 ],
	# lists of heads would be 76 MB, those among elements that are there as much again
	'segsort with heads in memory' => [ 'mgpu_segsort(' . in_memory('k') . ', ' . in_memory('g') . ')', 'narrow, places', 153, 76 ],
	'segsort with nulls and heads in memory' => [ 'mgpu_segsort(' . in_memory('j') . ', ' . in_memory('g') . ')', 'narrow, places', 153, 77 ],
	'segsort_flags' => [ 'mgpu_segsort_flags(' . in_memory('k') . ', ones)', 'narrow, places', 79, 76 ],
	'segsort_by' => [ 'mgpu_segsort_by(' . in_memory('k') . ', ' . in_memory('g') . ')', 'narrow, places', 153, 76 ],
	'segsort_pairs with heads in memory' => [ 'ARRAY[pg_column_size(mgpu_segsort_pairs(k, o, ' . in_memory('g') . '))]', 'narrow, places', 172, 95 ]);

# keys sorted, and the places that they move to, would be 153 MB; ranks, and what they are made of, more
my %cpu_peaks = (
	# no GPU is given codes of so many
	'sort_by bool with nulls by text under a collation' => [ 'mgpu_sort_by(b, t COLLATE "en-x-icu")', 'fewer', 68, 7 ],
	'locality_sort_stats' => [ 'ARRAY(SELECT mgpu_locality_sort_stats(' . in_memory('k') . '))', 'narrow', 76, 0 ],
	'locality_sort_stats of an array that is streamed' => [ 'ARRAY(SELECT mgpu_locality_sort_stats(j))', 'narrow', 77, 0 ],
	'locality_sort_stats of enums' => [ 'ARRAY(SELECT mgpu_locality_sort_stats(e))', 'narrow', 76, 0 ],
	'segsort_stats' => [ 'ARRAY(SELECT mgpu_segsort_stats(' . in_memory('k') . ', ARRAY[5000000, 5000007]))', 'narrow', 76, 0 ]);

foreach my $executor (executors($node))
{
	my %calls = $executor eq 'cpu' ? (%peaks, %cpu_peaks) : %peaks;

	check_peaks($node, $executor, 'SELECT mgpu_sort(array_agg(i::float8)), mgpu_sort(array_agg(i)) FROM generate_series(1, 20000) i', \%calls);
}

# parts of what is compared are found, and sorted, between looks at a timeout
my $impatient = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
check_timeouts($impatient, 'cpu, sort_by bool with nulls by ranges', 'SELECT cardinality(mgpu_sort_by(' . in_memory('b') . ', r)) FROM narrow, ranges', 2, [ 2, 4, 6, 8 ]);
$impatient->close;

# ------------------------------------------------------------------ the results

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

	check_true($executor, 'bulk_remove', 'SELECT mgpu_bulk_remove(g, ' . in_memory('p') . ') = (SELECT array_agg(x) FROM generate_series(4, 20000000, 4) x) FROM places');
	check_true($executor, 'bulk_remove of text', "SELECT mgpu_bulk_remove(array_fill('x'::text, ARRAY[20000000]), " . in_memory('d') . ") = array_fill('x'::text, ARRAY[7499999]) FROM places");
	check_true($executor, 'bulk_remove in no order', 'SELECT mgpu_bulk_remove(g, ' . in_memory('d') . ') = mgpu_bulk_remove(g, d) FROM places');
	check_true($executor, 'bulk_insert', 'SELECT mgpu_bulk_insert(g, ' . in_memory('p') . ', p) = mgpu_bulk_insert(g, p, p) FROM places');
	check_true($executor, 'bulk_insert at one place', 'SELECT mgpu_bulk_insert(ARRAY[1, 2], array_fill(2, ARRAY[20000000]), g) = ARRAY[1] || g || 2 FROM places');

	check_true($executor, 'segments of one element', 'SELECT mgpu_segsort(k, g) = k, mgpu_segsort(j, g) = j, mgpu_segsort_flags(j, ones) = j, mgpu_segsort_by(k, g) = k, mgpu_segsort(h, g) = h FROM narrow, places');
	check_true($executor, 'segments of two elements', 'SELECT mgpu_segsort(mgpu_sort(g, true), odd) = (SELECT array_agg(x + CASE WHEN x % 2 = 0 THEN -1 ELSE 1 END) FROM generate_series(20000000, 1, -1) x) FROM places');
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
		  . " FROM $table, (SELECT array_agg(x * x) AS squares FROM generate_series(1, 2200) x) heads");
}

foreach my $case (
	[ 'mgpu_segsort(g, g || 1)', '22023', 'a head that is not behind the one before' ],
	[ 'mgpu_segsort(g, g || 20000001)', '2202E', 'a head out of range' ],
	[ 'mgpu_bulk_remove(g, p || 20000001)', '2202E', 'a position out of range' ],
	[ 'mgpu_bulk_insert(g, p || 20000002, p || 1)', '2202E', 'a position behind the last' ],
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
