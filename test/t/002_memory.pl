# Memory: one call's peak, of every function with every kind of type, no growth
# over cancelled and failing calls, and a clean error when there is none left.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('memory');

# --------------------------------------------------------- the peak of one call
#
# With small arrays 64 MB would hide any mistake: they are measured in the full tier alone.

# a compared type whose abbreviated keys are no numbers; labels whose OIDs do not say their order
make_type($node, 'tally', 'numeric', ', FUNCTION 2 numeric_sortsupport(internal)',
	map {"numeric_$_"} qw(in out send lt le eq ge gt cmp));
$node->safe_psql('postgres', q{CREATE TYPE shade AS ENUM ('white', 'pale', 'dark', 'black')});
$node->safe_psql('postgres', q{ALTER TYPE shade ADD VALUE 'grey' BEFORE 'dark'});

my $has_icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) > 0;
my $has_english = $node->psql('postgres', q{CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8')}) == 0;
my $n = 2_000_000;
# type, element, collation, bytes of a string made from a byte
my %kinds = (
	bool => [ 'bool', 'hashint4(i) & 3 = 0' ],
	int4 => [ 'int', 'hashint4(i)' ],
	int4_null => [ 'int', 'CASE WHEN i % 7 > 0 THEN hashint4(i) END' ],
	int8 => [ 'bigint', 'hashint8(i)::bigint * 1048573' ],
	float8_nan => [ 'float8', q{CASE i % 100 WHEN 0 THEN '-0' WHEN 1 THEN 'NaN' ELSE random() END} ],
	uuid => [ 'uuid', 'md5(i::text)::uuid' ],
	interval => [ 'interval', 'make_interval(years => CASE WHEN i % 1000 = 0 THEN 178000000 ELSE 0 END, secs => random() * 1e9)' ],
	timetz => [ 'timetz', q{('00:00:00' || (ARRAY['+00', '-05', '+05:30'])[1 + i % 3])::timetz + make_interval(secs => i::bigint * 48271 % 86399)} ],
	text => [ 'text', 'substr(md5(i::text), 1, 12)', 'COLLATE "C"' ],
	paths => [ 'text', q{'/srv/host-1/application-' || i % 20 || '/module/' || md5(i::text)}, 'COLLATE "C"' ],
	mostly_null => [ 'text', 'CASE WHEN i % 16 = 0 THEN substr(md5(i::text), 1, 3) END', 'COLLATE "C"' ],
	$has_icu ? (icu => [ 'text', 'substr(md5(i::text), 1, 12)', 'COLLATE "en-x-icu"' ]) : (),
	$has_english ? (english => [ 'text', 'substr(md5(i::text), 1, 12)', 'COLLATE english', 10 ]) : (),
	numeric => [ 'numeric', '(random() * 1e9)::numeric(14, 3)' ],
	enum => [ 'shade', '(enum_range(NULL::shade))[1 + (hashint4(i) & 255) % 5]' ],
	tally => [ 'tally', '((random() * 1e9)::numeric(14, 3))::tally' ],
	range => [ 'numrange', 'numrange((random() * 1e6)::numeric(9, 2), NULL)' ]);

# Columns: k the keys, s the same sorted, f the first tenth of them, v values of four bytes,
# p a tenth of all positions in no order, g groups of 100, h their heads.
sub make_kind
{
	my ($kind) = @_;
	my ($type, $element, $collation) = @{ $kinds{$kind} };

	$node->safe_psql('postgres', "CREATE TABLE of_$kind (k ${type}[], s ${type}[], f ${type}[], v int[], p int[], g int[], h int[]);"
		  . join('', map {"ALTER TABLE of_$kind ALTER $_ SET STORAGE EXTERNAL;"} qw(k s f v p g h))
		  . "INSERT INTO of_$kind SELECT array_agg(($element)::$type), NULL, NULL, array_agg(hashint4(-i)), array_agg(1 + (i::bigint * 48271 % $n)::int) FILTER (WHERE i % 10 = 0),"
		  . " array_agg(i / 100), array_agg(i) FILTER (WHERE i % 100 = 1) FROM generate_series(1, $n) i;"
		  . "UPDATE of_$kind SET f = k[1:cardinality(p)], s = mgpu_sort(k " . ($collation // '') . ')');
	return split /\|/, $node->safe_psql('postgres', "SELECT pg_column_size(k), pg_column_size(v), pg_column_size(p), pg_column_size(g), pg_column_size(h) FROM of_$kind");
}

# The calls: an expression, input, result, elements.  Strings made from keys count as input.
sub calls_of
{
	my ($kind) = @_;
	my ($keys, $values, $positions, $groups, $heads) = make_kind($kind);
	my $c = $kinds{$kind}->[2] // '';
	my $strings = ($kinds{$kind}->[3] // 0) * $keys;
	my $row = sub { "ARRAY[pg_column_size($_[0])]" };
	my %calls = (
		sort => [ "mgpu_sort(k $c)", $keys, $keys, $n ],
		sort_descending => [ "mgpu_sort(k $c, true)", $keys, $keys, $n ],
		argsort => [ "mgpu_argsort(k $c)", $keys, 4 * $n, $n ],
		sort_by => [ "mgpu_sort_by(v, k $c)", $keys + $values, $values, $n ],
		sort_by_number => [ 'mgpu_sort_by(k, v)', $keys + $values, $keys, $n ],
		sort_pairs => [ $row->("mgpu_sort_pairs(k $c, v)"), $keys + $values, $keys + $values, $n ],
		sort_pairs_by_number => [ $row->('mgpu_sort_pairs(v, k)'), $keys + $values, $keys + $values, $n ],
		locality_sort => [ "mgpu_locality_sort(k $c)", $keys, $keys, $n ],
		locality_sort_pairs => [ $row->("mgpu_locality_sort_pairs(k $c, v)"), $keys + $values, $keys + $values, $n ],
		locality_sort_stats => [ "ARRAY(SELECT mgpu_locality_sort_stats(k $c))", $keys, 0, $n ],
		segsort => [ "mgpu_segsort(k $c, h)", $keys + $heads, $keys, $n ],
		segsort_by => [ "mgpu_segsort_by(k $c, g)", $keys + $groups, $keys, $n ],
		segsort_two => [ "mgpu_segsort(k $c, ARRAY[1, $n / 3])", $keys, $keys, $n ],
		segsort_pairs => [ $row->("mgpu_segsort_pairs(k $c, v, h)"), $keys + $values + $heads, $keys + $values, $n ],
		segsort_stats => [ "ARRAY(SELECT mgpu_segsort_stats(k $c, h))", $keys + $heads, 0, $n ],
		merge => [ "mgpu_merge(s $c, s)", 2 * $keys, 2 * $keys, 2 * $n ],
		merge_pairs => [ $row->("mgpu_merge_pairs(s $c, v, s, v)"), 2 * ($keys + $values), 2 * ($keys + $values), 2 * $n ],
		bulk_remove => [ 'mgpu_bulk_remove(k, p)', $keys + $positions, $keys, $n ],
		bulk_insert => [ 'mgpu_bulk_insert(k, p, f)', $keys * 1.1 + $positions, $keys * 1.1, $n ],
		oddeven_sort => [ "mgpu_oddeven_sort(k $c)", $keys, $keys, $n ]);

	return map { ("$kind, $_" => [ $calls{$_}->[0], "of_$kind", $calls{$_}->[1] + $strings, @{ $calls{$_} }[ 2 .. 3 ] ]) } keys %calls;
}

my $warm_up = 'SELECT mgpu_sort(array_agg(i::float8)), mgpu_sort(array_agg(i)), mgpu_sort(array_agg(int4range(i, NULL)))'
  . ($has_icu ? ', mgpu_sort(array_agg(i::text COLLATE "en-x-icu"))' : '') . ' FROM generate_series(1, 20000) i';
# where there is a GPU, its memory is measured; the CPU's is on machines without one
my $measured = (executors($node))[-1];
foreach my $kind ($LARGE ? sort keys %kinds : ())
{
	my %calls = calls_of($kind);

	check_peaks($node, $measured, $warm_up, \%calls);
	$node->safe_psql('postgres', "DROP TABLE of_$kind");
}
if ($LARGE)
{
	$node->safe_psql('postgres', "CREATE TABLE slices AS SELECT array_agg(ARRAY[hashint4(i), i]) AS p, array_agg(ARRAY[nullif(i, $n)]) AS o FROM generate_series(1, $n) i");
	check_peaks($node, $measured, $warm_up, {
		'slices' => [ 'mgpu_sort(p)', 'slices', 8 * $n, 8 * $n, 2 * $n ],
		'slices in order, the last one NULL' => [ 'mgpu_sort(o)', 'slices', 4 * $n, 4 * $n, $n ] });
}

# ----------------------------------------------------------------- no growth

make_big($node, 'big', sized(4, 40), a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ]);
make_big($node, 'middle', sized(1, 10),
	a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ],
	b => [ 'bigint[]', '(random() * 1e18)::bigint' ],
	f => [ 'float8[]', "CASE WHEN i % 100 = 0 THEN '-0' ELSE random() END" ],
	n => [ 'int[]', 'CASE WHEN i % 7 > 0 THEN (random() * 1000000000)::int END' ]);

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my %calls = (
		'cancelled sorts' => 'SELECT cardinality(mgpu_sort(a)) FROM middle',
		'cancelled argsorts' => 'SELECT cardinality(mgpu_argsort(f)) FROM middle',
		'failing calls' => 'SELECT mgpu_sort_by(a, a[1:1000]) FROM middle',
		'finished sorts' => 'SELECT cardinality(mgpu_sort(n)), cardinality(mgpu_sort_by(b, f)) FROM middle');

	foreach my $name (sort keys %calls)
	{
		my $rounds = $name eq 'finished sorts' ? 12 : 80;
		my $errors = check_growth($session, "$executor, $name", $calls{$name}, $rounds, $name =~ /^cancelled/);

		cmp_ok($errors, '>=', $rounds / 2, "$executor: $errors of $rounds $name ended in an error") if $name ne 'finished sorts';
		is($session->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', "$executor, $name: the session goes on");
	}
	$session->close;
}

# ------------------------------------------------------------- none to be had

SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	check_starved($node, [
		'SELECT md5(array_send(mgpu_sort(a))) FROM big',
		'SELECT md5(array_send(mgpu_argsort(a))) FROM middle',
		'SELECT md5(array_send(mgpu_sort_by(b, f))) FROM middle',
		'SELECT md5(array_send(mgpu_sort(f))) FROM middle',
		'SELECT md5(array_send(mgpu_sort(n, true))) FROM middle',
		'SELECT md5(array_send(keys) || array_send(vals)) FROM middle, mgpu_sort_pairs(f, b)' ],
		[ map { $_ * sized(1, 10) } 1, 5, 9, 13, 18, 26, 40, 100 ], 10);
}

$node->stop;
done_testing();
