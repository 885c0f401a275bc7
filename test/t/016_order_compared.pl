# Types that are compared (src/order/order_values.c): the right order, of all elements and
# in segments; slices of arrays (src/order/slices.c); calls that end early.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('order_compared');
my $has_icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) > 0;
my $icu = 'COLLATE "en-x-icu"';
my $has_english = $node->psql('postgres', q{CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8')}) == 0;

# one whose abbreviated keys are no numbers
make_type($node, 'tally', 'numeric', ', FUNCTION 2 numeric_sortsupport(internal)',
	map {"numeric_$_"} qw(in out send lt le eq ge gt cmp));

my %columns = (
	plain => [ 'text', 'substr(md5(i::text), 1, i % 13)' ],
	cases => [ 'text', q{(ARRAY['a', 'A', 'ä', 'b'])[1 + i::bigint * 48271 % 4] || substr(md5(i::text), 1, 2)} ],
	few => [ 'text', q{'value ' || i % 30} ],
	same => [ 'text', q{'the same for all of them'} ],
	# a third are alike in all that a code says, and half of these are the same
	tails => [ 'text', q{CASE i % 6 WHEN 0 THEN 'a common beginning ' || i WHEN 1 THEN 'a common beginning' ELSE md5(i::text) END} ],
	absent => [ 'text', 'CASE WHEN i % 5 > 0 THEN md5(i::text) END' ],
	blanks => [ 'char(12)', q{substr(md5(i::text), 1, 4) || repeat(' ', i % 5)} ],
	names => [ 'name', q{'column_' || i::bigint * 48271 % 100003} ],
	tallies => [ 'tally', '((i::bigint * 48271 % 1000003) / 1000.0)::tally' ],
	spans => [ 'int8range', q{int8range(i::bigint * 48271 % 100003, 100003 + i % 3)} ],
	objects => [ 'jsonb', q{CASE WHEN i % 9 > 0 THEN to_jsonb(i::bigint * 48271 % 10007) END} ]);

# Column a sorted in segments of so many elements, against ORDER BY.
sub check_segments
{
	my ($table, $collation, $num_items, $size) = @_;
	my $expected = $node->safe_psql('postgres', qq{
		SET work_mem = '1GB';
		SELECT md5(array_send(array_agg(x)))
		FROM (SELECT x, o FROM $table, unnest(a) WITH ORDINALITY u(x, o) ORDER BY (o - 1) / $size, x $collation, o) s});

	foreach my $executor (executors($node))
	{
		is($node->safe_psql('postgres', qq{
			SET mgpu.executor = $executor;
			SELECT md5(array_send(mgpu_segsort(a $collation, heads)))
			FROM $table, (SELECT array_agg(h) AS heads FROM generate_series(1, $num_items, $size) h) h}),
			$expected, "$executor, $table: in segments of $size");
	}
	return;
}

foreach my $name (sort keys %columns)
{
	my ($type, $element) = @{ $columns{$name} };
	my $is_text = $type =~ /text|char|name/;
	my @collations = $is_text ? ($has_icu ? $icu : (), $has_english ? 'COLLATE english' : ()) : ('');
	my $num_items = sized(40_000, $is_text ? 1_300_000 : 2_200_000);
	my ($first, $size) = ($name eq 'absent' ? 'true' : 'false', $name eq 'plain' ? sized(15_000, 400_000) : 1000);

	$node->safe_psql('postgres', qq{
		CREATE UNLOGGED TABLE $name (a ${type}[]);
		ALTER TABLE $name ALTER a SET STORAGE EXTERNAL;
		INSERT INTO $name SELECT array_agg(($element)::$type ORDER BY i) FROM generate_series(1, $num_items) i});
	foreach my $collation (@collations)
	{
		foreach my $descending ('false', 'true')
		{
			next if $descending eq 'true' && $name !~ /plain|absent|tails/;
			check_order($node, $name, $collation, $descending, $first);
		}
		check_segments($name, $collation, $num_items, $size) if $name =~ /plain|absent|tails|objects/;
	}
	$node->safe_psql('postgres', "DROP TABLE $name");
}

# ------------------------------------------------- strings of the C library's collations

SKIP:
{
	skip 'no locale en_US.UTF-8', 6 unless $has_english;
	my $table = q{CREATE TABLE words AS SELECT array_agg(t ORDER BY i) AS a, array_agg(t ORDER BY t, i) AS sorted, array_agg(t ORDER BY (i - 1) / 700, t, i) AS parts,
		array_agg(h) FILTER (WHERE i % 700 = 1) AS heads
		FROM (SELECT i, i AS h, translate(substr(md5((i % 40000)::text), 1, i % 10), '0123456789abcdef', 'abcdefgABC -.1de') AS t FROM generate_series(1, 50000) i) w};
	my $check = 'SELECT array_send(mgpu_sort(a)) = array_send(sorted), array_send(mgpu_segsort(a, heads)) = array_send(parts) FROM words';

	# as the collation of a database; of a thousand such texts, strxfrm puts six in another place than strcoll
	$node->safe_psql('postgres', q{CREATE DATABASE english TEMPLATE template0 LC_COLLATE 'en_US.UTF-8' LC_CTYPE 'en_US.UTF-8'});
	$node->safe_psql('english', "CREATE EXTENSION mgpu_pg; $table");
	foreach my $fault ('none', 'collation')
	{
		my $compares = $fault eq 'none' ? 'f' : 't';
		my $answer = $node->safe_psql('english', "LOAD 'mgpu_pg'; SET mgpu.inject_fault = $fault; $check; SELECT algorithm = 'compare' FROM mgpu_last_run()");

		is($answer, "t|t\n$compares", "fault $fault: the order of a database's collation");
	}
	# no order of bytes, or the tests above have not seen one
	is($node->safe_psql('english', 'SELECT sorted <> mgpu_sort(a COLLATE "C") FROM words'), 't', 'which is not that of bytes');
	# one string of more bytes than a thread keeps, and one that takes more than was set aside for its like
	is($node->safe_psql('english', q{SELECT array_send(mgpu_sort(a)) = array_send(array_agg(x ORDER BY x))
		FROM (SELECT array_agg(repeat('ö', 40000 / i) || i) AS a FROM generate_series(1, 2000) i) t, unnest(a) x GROUP BY a}), 't', 'long strings');
	is($node->safe_psql('english', q{SELECT array_send(mgpu_sort(a)) = array_send(array_agg(x ORDER BY x)), (SELECT algorithm FROM mgpu_last_run())
		FROM (SELECT array_agg(repeat(U&'\FDFA', i % 200)) AS a FROM generate_series(1, 2000) i) t, unnest(a) x GROUP BY a}), 't|compare', 'strings that grow too much');
	is($node->safe_psql('english', q{SELECT array_send(mgpu_sort(a)) = array_send(array_agg(x ORDER BY x))
		FROM (SELECT array_agg(repeat(U&'\0301', i % 7)) AS a FROM generate_series(1, 2000) i) t, unnest(a) x GROUP BY a}), 't', 'signs that weigh nothing');
}

# ------------------------------------------------------------------------ slices

my $n = sized(40_000, 3_000_000);
my $more = sized(150_000, 11_000_000);
$node->safe_psql('postgres', "CREATE TABLE slices AS SELECT p, o FROM (SELECT array_agg(ARRAY[(random() * 1e9)::int, i]) AS p FROM generate_series(1, $n) i) t,"
	  . " (SELECT array_agg(ARRAY[nullif(i, $more)]) AS o FROM generate_series(1, $more) i) u");
is($node->safe_psql('postgres', 'SELECT array_send(mgpu_sort(o)) = array_send(o) FROM slices'), 't', 'slices in order, the last one NULL');
is($node->safe_psql('postgres', q{SELECT bool_and(x <= y) FROM (SELECT x, lead(x) OVER (ORDER BY place) AS y FROM slices,
	unnest(mgpu_sort(p)) WITH ORDINALITY u(x, place) WHERE place % 2 = 1) t}), 't', 'slices by their first elements');

# slices of one element: bytes, bytes that are compared, and elements that are mostly NULL
make_type($node, 'flag', 'bool', '', qw(boolin boolout boolsend boollt boolle booleq boolge boolgt btboolcmp));
make_big($node, 'narrow', sized(0.2, 25),
	b => [ 'bool[]', 'ARRAY[hashint4(i) % 3 = 0]' ],
	u => [ 'bool[]', 'hashint4(i) % 3 = 0' ],
	z => [ 'int[]', 'ARRAY[CASE WHEN i % 10 = 0 THEN hashint4(i) END]' ],
	y => [ 'int[]', 'CASE WHEN i % 10 = 0 THEN hashint4(i) END' ]);
foreach my $case ([ 'b', 'u' ], [ 'z', 'y' ])
{
	my ($slices, $elements) = @$case;
	my $bare = sub { "md5(translate($_[0]::text, '{}', ''))" };

	is($node->safe_psql('postgres', 'SELECT ' . $bare->("mgpu_sort($slices)") . ' = ' . $bare->("mgpu_sort($elements)") . ' FROM narrow'),
		't', "narrow slices $slices in the order of their elements");
}
is($node->safe_psql('postgres', 'SELECT array_ndims(s) = 2, s = mgpu_sort(b, true)::flag[] FROM (SELECT mgpu_sort(b::flag[], true) AS s FROM narrow) t, narrow'),
	't|t', 'narrow slices that are compared');

# ------------------------------------------------------- the network, and early ends

make_type($node, 'tick', 'int8', '', qw(int8in int8out int8send int8lt int8le int8eq int8ge int8gt btint8cmp));
make_big($node, 'ticks', sized(0.1, 3), u => [ 'tick[]', '((random() * 1e15)::int8)::tick' ]);
make_big($node, 'spans', sized(0.2, 3), s => [ 'int8range[]', 'int8range(i, NULL)' ], t => [ 'text[]', 'substr(md5(i::text), 1, 12)' ]);

foreach my $executor (executors($node))
{
	is($node->safe_psql('postgres', "SET mgpu.executor = $executor; SELECT array_send(mgpu_oddeven_sort(u)) = array_send(mgpu_sort(u)) FROM ticks"),
		't', "$executor: a network has the order of a sort");
}

my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
foreach my $call ('SELECT cardinality(mgpu_argsort(s, true)) FROM spans', $has_icu ? "SELECT cardinality(mgpu_sort(t $icu)) FROM spans" : ())
{
	check_timeouts($session, $call, $call, 2, [ 2, 4, 6, 8 ]);
	# rounds that end within the walk, the cut and the sort
	cmp_ok(check_growth($session, "cancelled: $call", $call, 40, 1), '>=', 20, "$call: most were cancelled") if $call =~ /icu/;
}
# a comparison that fails, as soon as two rows' numbers are the same
$session->query('SELECT mgpu_sort(array_agg(ROW(i % 1000, json_build_object()))) FROM generate_series(1, ' . sized(40_000, 2_200_000) . ') i');
is($session->{state}, '42883', 'a type that cannot be compared within a row');
is($session->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', 'the session goes on');
$session->close;

$node->stop;
done_testing();
