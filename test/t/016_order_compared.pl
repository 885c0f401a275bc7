# Types that are compared, when their elements are too many for the plain way
# (src/compared_sort.c): the right order, of all elements and in segments.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('order_compared');
my $has_icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) > 0;
my $icu = 'COLLATE "en-x-icu"';

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
	my $collation = $is_text ? $icu : '';
	my $num_items = $is_text ? 1_300_000 : 2_200_000;
	my ($first, $size) = ($name eq 'absent' ? 'true' : 'false', $name eq 'plain' ? 400_000 : 1000);

	next if $is_text && !$has_icu;
	$node->safe_psql('postgres', qq{
		CREATE UNLOGGED TABLE $name (a ${type}[]);
		ALTER TABLE $name ALTER a SET STORAGE EXTERNAL;
		INSERT INTO $name SELECT array_agg(($element)::$type ORDER BY i) FROM generate_series(1, $num_items) i});
	foreach my $descending ('false', 'true')
	{
		next if $descending eq 'true' && $name !~ /plain|absent|tails/;
		check_order($node, $name, $collation, $descending, $first);
	}
	check_segments($name, $collation, $num_items, $size) if $name =~ /plain|absent|tails|objects/;
	$node->safe_psql('postgres', "DROP TABLE $name");
}

$node->stop;
done_testing();
