# Large arrays of byte strings (src/order/order_strings.c) and of types whose keys are made:
# strings that share nothing, much or everything, sorted to the byte, and their
# positions; a few long ones.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('strings');

my %columns = (
	plain => [ 'text', 'substr(md5(i::text), 1, i % 13)' ],
	few => [ 'text', q{'value ' || i % 3} ],
	same => [ 'text', q{'the same for all of them'} ],
	# two thirds begin with one or the other of two, far longer than a code
	families => [ 'text', q{(ARRAY['https://www.example.org/items/', 'https://www.example.net/pages/', ''])[1 + i % 3] || i::bigint * 48271 % 2147483647} ],
	# alike in all but a few, up to the end
	tails => [ 'text', q{repeat('x', 40) || CASE WHEN i % 1000 = 0 THEN i::text WHEN i % 7 = 0 THEN 'y' ELSE '' END} ],
	absent => [ 'text', 'CASE WHEN i % 5 > 0 THEN md5(i::text) END' ],
	blanks => [ 'char(12)', q{substr(md5(i::text), 1, 4) || repeat(' ', i % 5)} ],
	zeros => [ 'bytea', q{decode(repeat('00', i % 9) || substr(md5((i % 1000)::text), 1, 4), 'hex')} ],
	numbers => [ 'numeric', q{CASE i % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE ((i::bigint * 48271 % 20001 - 10000) / 100.0)::numeric(12, 3) * CASE i % 2 WHEN 0 THEN 1 ELSE 1.00 END END} ],
	networks => [ 'inet', q{CASE i % 4 WHEN 0 THEN '2001:db8::'::inet + i::bigint * 48271 % 2147483647 ELSE set_masklen('10.0.0.0'::inet + i::bigint * 48271 % 16777216, 8 + i % 25) END} ],
	bits => [ 'varbit', 'i::bit(32)::varbit || repeat(\'1\', i % 4)::varbit' ],
	long_numbers => [ 'numeric', q{CASE WHEN i % 3 > 0 THEN (i::bigint * 48271 % 10007)::numeric ELSE ('1e' || i % 120)::numeric + i % 5 END} ],
	empty => [ 'text', q{CASE WHEN i % 20 = 0 THEN substr(md5(i::text), 1, 2) ELSE '' END} ],
	names => [ 'name', q{'column_' || i::bigint * 48271 % 100003} ],
	spans => [ 'interval', q{make_interval(days => i % 70, secs => i::bigint * 48271 % 100003)} ],
	endless_spans => [ 'interval', q{CASE WHEN i % 1000 = 0 THEN make_interval(years => 170000000 - i / 2) ELSE make_interval(months => i % 3, days => i % 100) END} ],
	zoned => [ 'timetz', q{CASE WHEN i % 9 > 0 THEN ('00:00:00' || (ARRAY['+00', '-05', '+05:30'])[1 + i % 3])::timetz + make_interval(secs => i::bigint * 48271 % 86399) END} ],
	addresses => [ 'macaddr', q{('08002b' || substr(md5((i % 300000)::text), 1, 6))::macaddr} ],
	places => [ 'tid', q{('(' || i::bigint * 48271 % 1000 || ',' || i % 200 || ')')::tid} ]);

foreach my $name (sort keys %columns)
{
	my ($type, $element) = @{ $columns{$name} };
	my $collation = $type =~ /text|char|name/ ? 'COLLATE "C"' : '';
	my $first = $name eq 'absent' ? 'true' : 'false';
	# as many as are not sorted by one job
	my $num_items = sized(60_000, $name eq 'addresses' ? 3_200_000 : 2_200_000);

	$node->safe_psql('postgres', qq{
		CREATE UNLOGGED TABLE $name (a ${type}[]);
		ALTER TABLE $name ALTER a SET STORAGE EXTERNAL;
		INSERT INTO $name SELECT array_agg(($element)::$type ORDER BY i) FROM generate_series(1, $num_items) i});
	foreach my $descending ('false', 'true')
	{
		next if $descending eq 'true' && $name !~ /plain|absent|numbers|families|empty|spans|zoned/;
		check_order($node, $name, $collation, $descending, $first);
	}
	$node->safe_psql('postgres', "DROP TABLE $name");
}

# Few, but long.  Of the bit strings a quarter begins alike for 3 kB, and the rest in forties, of which most
# are not the same; of the numbers of 50 kB, which begin alike, some are the same.
my $bits = sized(4000, 20_000);
my $half = $bits - 1000;
my $among = sized(50_000, 3_000_000);
$node->safe_psql('postgres', qq{
	CREATE TABLE numbers (a numeric[]);
	CREATE TABLE bits (a varbit[], two int[]);
	CREATE TABLE alike (a numeric[]);
	CREATE TABLE among (a varbit[]);
	ALTER TABLE numbers ALTER a SET STORAGE EXTERNAL;
	ALTER TABLE bits ALTER a SET STORAGE EXTERNAL;
	ALTER TABLE alike ALTER a SET STORAGE EXTERNAL;
	ALTER TABLE among ALTER a SET STORAGE EXTERNAL;
	INSERT INTO numbers SELECT array_agg(repeat(abs(hashint8(i))::text, 40)::numeric) FROM generate_series(1, $bits * 15) i;
	INSERT INTO bits SELECT array_agg(CASE WHEN i % 4 = 0 THEN repeat('1', 25000 + i % 1000)::varbit
		ELSE (repeat(hashint4(i % 500)::bit(32)::text, 770) || substr((i % 11)::bit(4)::text, 1, i % 5))::varbit END), ARRAY[1, $half + 1]
		FROM generate_series(1, $bits) i;
	INSERT INTO alike SELECT array_agg(CASE WHEN i % 5 = 0 THEN -1 ELSE 1 END * (10::numeric ^ 100000 + hashint4(i % 900))) FROM generate_series(1, $bits / 15) i;
	INSERT INTO among SELECT array_agg(CASE WHEN i = 77 THEN repeat('10', 500000) ELSE repeat(hashint4(i)::bit(32)::text, 3) END::varbit)
		FROM generate_series(1, $among) i});
foreach my $table ('numbers', 'bits', 'alike')
{
	check_order($node, $table, '', $_, 'false') foreach ('false', 'true');
}
foreach my $executor (executors($node))
{
	is($node->safe_psql('postgres', qq{
		SET mgpu.executor = $executor;
		SELECT mgpu_segsort(a, two) = mgpu_sort(a[:$half]) || mgpu_sort(a[$half + 1:]), mgpu_segsort(a, two, true) = mgpu_sort(a[:$half], true) || mgpu_sort(a[$half + 1:], true) FROM bits}),
		't|t', "$executor: long bit strings in segments");
	is($node->safe_psql('postgres', qq{
		SET mgpu.executor = $executor;
		SELECT count(*), bool_and(x <= y) FROM (SELECT x, lead(x) OVER (ORDER BY place) AS y FROM among, unnest(mgpu_sort(a)) WITH ORDINALITY u(x, place) WHERE place % 10 = 1) t}),
		$among / 10 . '|t', "$executor: many bit strings, one of them long");
}

$node->stop;
done_testing();
