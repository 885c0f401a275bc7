# Types that are compared, when their elements are too many for the plain way
# (src/compared_sort.c): one call's peak, and calls that end early.  016_order_compared.pl
# has their order.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('memory_compared');
my $has_icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) > 0;
my $icu = 'COLLATE "en-x-icu"';

# one whose abbreviated keys are no numbers, and one of 8 bytes
make_type($node, 'tally', 'numeric', ', FUNCTION 2 numeric_sortsupport(internal)',
	map {"numeric_$_"} qw(in out send lt le eq ge gt cmp));
make_type($node, 'tick', 'int8', '', qw(int8in int8out int8send int8lt int8le int8eq int8ge int8gt btint8cmp));

# --------------------------------------------------------- the peak of one call

make_big($node, 'compared', 3,
	r => [ 'numrange[]', 'numrange((random() * 1e6)::numeric(9, 2), NULL)' ],
	s => [ 'int8range[]', 'int8range(i, NULL)' ],
	y => [ 'tally[]', '((random() * 1e9)::numeric(14, 3))::tally' ],
	k => [ 'int[]', '(random() * 1000000000)::int' ]);
make_big($node, 'texts', 3,
	t => [ 'text[]', 'substr(md5(i::text), 1, 12)' ],
	n => [ 'text[]', q{CASE WHEN i % 7 > 0 THEN substr(md5(i::text), 1, 8) END} ]);
make_big($node, 'many', 10, t => [ 'text[]', 'substr(md5(i::text), 1, 8)' ]);
$node->safe_psql('postgres', 'CREATE TABLE heads (few int[], many int[]);'
	  . 'INSERT INTO heads SELECT array_agg(i) FILTER (WHERE i % 1300000 = 1), array_agg(i) FILTER (WHERE i % 5000 = 1) FROM generate_series(1, 3000000) i');

make_big($node, 'ticks', 3, u => [ 'tick[]', '((random() * 1e15)::int8)::tick' ], s => [ 'tick[]', 'i::int8::tick' ]);

# slices, and so many with a NULL among them, in order, that where they begin is noted of some
$node->safe_psql('postgres', 'CREATE TABLE slices AS SELECT p, o FROM (SELECT array_agg(ARRAY[(random() * 1e9)::int, i]) AS p FROM generate_series(1, 3000000) i) t,'
	  . ' (SELECT array_agg(ARRAY[nullif(i, 11000000)]) AS o FROM generate_series(1, 11000000) i) u');
is($node->safe_psql('postgres', 'SELECT array_send(mgpu_sort(o)) = array_send(o) FROM slices'), 't', 'very many slices in order');
is($node->safe_psql('postgres', q{SELECT bool_and(x <= y) FROM (SELECT x, lead(x) OVER (ORDER BY place) AS y FROM slices,
	unnest(mgpu_sort(p)) WITH ORDINALITY u(x, place) WHERE place % 2 = 1) t}), 't', 'slices by their first elements');

# values and what sorts them would be 24 bytes an element more
# very narrow slices: bytes, which are counted, bytes that are compared, and elements that are mostly NULL, of
# which numbers are listed in parts; the same elements without slices
make_type($node, 'flag', 'bool', '', qw(boolin boolout boolsend boollt boolle booleq boolge boolgt btboolcmp));
make_big($node, 'narrow', 25,
	b => [ 'bool[]', 'ARRAY[hashint4(i) % 3 = 0]' ],
	u => [ 'bool[]', 'hashint4(i) % 3 = 0' ],
	z => [ 'int[]', 'ARRAY[CASE WHEN i % 10 = 0 THEN hashint4(i) END]' ],
	y => [ 'int[]', 'CASE WHEN i % 10 = 0 THEN hashint4(i) END' ]);
$node->safe_psql('postgres', 'CREATE TABLE flags (f flag[]); ALTER TABLE flags ALTER f SET STORAGE EXTERNAL; INSERT INTO flags SELECT b::flag[] FROM narrow');
foreach my $case ([ 'b', 'u' ], [ 'z', 'y' ])
{
	my ($slices, $elements) = @$case;
	my $bare = sub { "md5(translate($_[0]::text, '{}', ''))" };

	is($node->safe_psql('postgres', 'SELECT ' . $bare->("mgpu_sort($slices)") . ' = ' . $bare->("mgpu_sort($elements)") . ' FROM narrow'),
		't', "narrow slices $slices in the order of their elements");
}
is($node->safe_psql('postgres', 'SELECT array_ndims(s) = 2, s = mgpu_sort(b, true)::flag[] FROM (SELECT mgpu_sort(f, true) AS s FROM flags) t, narrow'), 't|t', 'narrow slices that are compared');

my %peaks = (
	'sort slices of a bool' => [ 'mgpu_sort(b)', 'narrow', 24, 24 ],
	'sort slices of a compared byte' => [ 'mgpu_sort(f)', 'flags', 24, 24 ],
	'sort slices that are mostly NULL' => [ 'mgpu_sort(z)', 'narrow', 12, 12 ],
	'argsort tally' => [ 'mgpu_argsort(y)', 'compared', 44, 11 ],
	'sort slices' => [ 'mgpu_sort(p)', 'slices', 23, 23 ],
	'sort many slices with a null' => [ 'mgpu_sort(o)', 'slices', 43, 43 ],
	'sort of sorted ranges' => [ 'mgpu_sort(s)', 'compared', 69, 69 ],
	'argsort of sorted ranges' => [ 'mgpu_argsort(s)', 'compared', 69, 11 ],
	'argsort numrange, descending' => [ 'mgpu_argsort(r, true)', 'compared', 57, 11 ]);

# codes, which a GPU would have to have of all
my %icu_peaks = (
	'sort text' => [ "mgpu_sort(t $icu)", 'texts', 46, 46 ],
	'sort text with nulls' => [ "mgpu_sort(n $icu)", 'texts', 30, 30 ],
	'argsort text' => [ "mgpu_argsort(t $icu)", 'texts', 46, 11 ],
	'sort_by int4 by text' => [ "mgpu_sort_by(k, t $icu)", 'texts, compared', 57, 11 ],
	'sort_pairs text with int4' => [ "(mgpu_sort_pairs(t $icu, k)).vals", 'texts, compared', 57, 57 ],
	'sort many texts' => [ "mgpu_sort(t $icu)", 'many', 115, 115 ],
	'argsort of many texts' => [ "mgpu_argsort(t $icu)", 'many', 115, 38 ],
	'argsort of many texts, descending' => [ "mgpu_argsort(t $icu, true)", 'many', 115, 38 ],
	'segsort text' => [ "mgpu_segsort(t $icu, few)", 'texts, heads', 46, 46 ],
	'segsort text in many segments' => [ "mgpu_segsort(t $icu, many)", 'texts, heads', 46, 46 ]);

# Values would be 24 MB, which less is allowed than; in merges those of both arrays and ranks 72 MB,
# but no result as yet.  Nothing large has been set up before.
my %close_peaks = (
	'merge ticks' => [ 'mgpu_merge(s, s)', 'ticks', 46, 46 - 64 + 14 ],
	'oddeven_sort ticks' => [ 'mgpu_oddeven_sort(u)', 'ticks', 23, 23 - 64 + 16 ]);

my $warm_up = 'SELECT mgpu_sort(array_agg(i::float8)), mgpu_sort(array_agg(int4range(i, NULL)))'
  . ($has_icu ? ", mgpu_sort(array_agg(i::text $icu))" : '') . ' FROM generate_series(1, 20000) i';

foreach my $executor (executors($node))
{
	check_peaks($node, $executor, $warm_up, { %peaks, $has_icu ? %icu_peaks : () });
	check_peaks($node, $executor, q{SELECT mgpu_oddeven_sort('{2,1}'::tick[]), mgpu_merge('{1,2}'::tick[], '{1,2}')}, \%close_peaks);
	is($node->safe_psql('postgres', "SET mgpu.executor = $executor; SELECT array_send(mgpu_oddeven_sort(u)) = array_send(mgpu_sort(u)) FROM ticks"), 't', "$executor: a network has the order of a sort");
}

# ------------------------------------------------------- calls that end early

my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
my @calls = ('SELECT cardinality(mgpu_argsort(s, true)) FROM compared', $has_icu ? "SELECT cardinality(mgpu_sort(t $icu)) FROM texts" : ());

foreach my $call (@calls)
{
	check_timeouts($session, $call, $call, 2, [ 2, 4, 6, 8 ]);
	# rounds that end within the walk, the cut and the sort
	cmp_ok(check_growth($session, "cancelled: $call", $call, 40, 1), '>=', 20, "$call: most were cancelled") if $call =~ /texts/;
}
# a comparison that fails, as soon as two rows' numbers are the same
$session->query('SELECT mgpu_sort(array_agg(ROW(i % 100000, json_build_object()))) FROM generate_series(1, 2200000) i');
is($session->{state}, '42883', 'a type that cannot be compared within a row');
is($session->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', 'the session goes on');
$session->close;

$node->stop;
done_testing();
