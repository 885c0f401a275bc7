# Memory: one call's peak, no growth over cancelled and failing calls, and a
# clean error when there is none left.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('memory');

make_big($node, 'big', 40, a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ]);
make_big($node, 'middle', 10,
	a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ],
	b => [ 'bigint[]', '(random() * 1e18)::bigint' ],
	f => [ 'float8[]', "CASE WHEN i % 100 = 0 THEN '-0' ELSE random() END" ],
	n => [ 'int[]', 'CASE WHEN i % 7 > 0 THEN (random() * 1000000000)::int END' ],
	t => [ 'text[]', 'substr(md5(i::text), 1, 8)' ],
	v => [ 'interval[]', q{make_interval(secs => random() * 1e9)} ],
	h => [ 'macaddr[]', q{('08002b' || substr(md5((i % 300000)::text), 1, 6))::macaddr} ]);

make_big($node, 'narrow', 20,
	k => [ 'int[]', '(random() * 1000000000)::int' ],
	s => [ 'int2[]', '(random() * 60000 - 30000)::int2' ],
	o => [ 'bool[]', 'random() < 0.5' ],
	j => [ 'int[]', 'CASE WHEN i % 50 > 0 THEN (random() * 1000000000)::int END' ],
	n => [ 'int2[]', 'CASE WHEN i % 7 > 0 THEN (random() * 30000)::int2 END' ]);

# labels that were added between others: their OIDs do not say their order
$node->safe_psql('postgres', q{CREATE TYPE shade AS ENUM ('white', 'pale', 'dark', 'black')});
$node->safe_psql('postgres', q{ALTER TYPE shade ADD VALUE 'grey' BEFORE 'dark'});
make_big($node, 'labels', 20,
	e => [ 'shade[]', q{(enum_range(NULL::shade))[1 + (random() * 4)::int]} ]);
$node->safe_psql('postgres', 'CREATE TABLE ordered_labels AS SELECT mgpu_sort(e) AS f FROM labels');

make_big($node, 'strings', 4,
	t => [ 'text[]', 'substr(md5(i::text), 1, 12)' ],
	d => [ 'numeric[]', '(random() * 1e9)::numeric(14, 3)' ],
	e => [ 'text[]', q{'same'::text} ],
	y => [ 'interval[]', q{make_interval(years => CASE WHEN i % 1000 = 0 THEN 178000000 ELSE 0 END, secs => random() * 1e9)} ],
	w => [ 'text[]', q{'number ' || i % 10000} ],
	m => [ 'text[]', q{CASE WHEN i % 10 = 0 THEN substr(md5(i::text), 1, 3) ELSE '' END} ]);

make_big($node, 'empty', 20,
	z => [ 'text[]', q{CASE WHEN i % 10 = 0 THEN substr(md5(i::text), 1, 3) ELSE '' END} ]);

make_big($node, 'fewer', 5,
	h => [ 'macaddr[]', q{('08002b' || substr(md5((i % 300000)::text), 1, 6))::macaddr} ]);

make_big($node, 'made', 4,
	x => [ 'name[]', q{('column_' || i % 100003)::name} ],
	l => [ 'numeric[]', q{('1e' || 120 + i % 40)::numeric + i} ]);

# sorted keys, and the heads of segments
$node->safe_psql('postgres', 'CREATE TABLE ordered (q int[], heads int[]); ALTER TABLE ordered ALTER q SET STORAGE EXTERNAL;'
	  . 'INSERT INTO ordered SELECT array_agg(i), array_agg(i) FILTER (WHERE i % 100 = 1) FROM generate_series(1, 10000000) i');

# --------------------------------------------------------- the peak of one call

# An array that lies in memory before the call: that much of its input is there.
sub in_memory
{
	my ($array) = @_;

	return "array_cat($array, '{}')";
}

my %peaks = (
	'sort int4' => [ 'mgpu_sort(a)', 'big', 160, 160 ],
	'sort int8' => [ 'mgpu_sort(b)', 'middle', 80, 80 ],
	'sort float8 with -0' => [ 'mgpu_sort(f, true)', 'middle', 80, 80 ],
	'sort int4 with nulls' => [ 'mgpu_sort(n)', 'middle', 40, 40 ],
	'argsort int4' => [ 'mgpu_argsort(a)', 'middle', 40, 40 ],
	'argsort float8' => [ 'mgpu_argsort(f)', 'middle', 80, 40 ],
	'sort_by int4 by int8' => [ 'mgpu_sort_by(a, b)', 'middle', 120, 40 ],
	# codes and where strings are would be 112 MB, strings that are made as much as the elements
	'sort text' => [ 'mgpu_sort(t COLLATE "C")', 'strings', 64, 64 ],
	'sort numeric' => [ 'mgpu_sort(d)', 'strings', 64, 64 ],
	'sort text, all the same' => [ 'mgpu_sort(e COLLATE "C")', 'strings', 32, 32 ],
	'sort text of few values' => [ 'mgpu_sort(w COLLATE "C")', 'strings', 64, 64 ],
	# references do not fit beside those of the result
	'sort text, mostly empty' => [ 'mgpu_sort(m COLLATE "C")', 'strings', 18, 18 ],
	# ... nor in 64 MB: they would be 76, and what part each belongs to 19 more
	'sort many text, mostly empty' => [ 'mgpu_sort(z COLLATE "C")', 'empty', 92, 92 ],
	# indices of narrow values would be 80 MB
	'sort int2' => [ 'mgpu_sort(s)', 'narrow', 40, 40 ],
	'sort bool' => [ 'mgpu_sort(o)', 'narrow', 20, 20 ],
	'sort int2 with nulls' => [ 'mgpu_sort(n)', 'narrow', 37, 37 ],
	'argsort bool' => [ 'mgpu_argsort(o)', 'narrow', 20, 80 ],
	'sort_by int2 by int4' => [ 'mgpu_sort_by(s, k)', 'narrow', 120, 40 ],
	'sort_by bool by int4' => [ 'mgpu_sort_by(o, k)', 'narrow', 100, 20 ],
	'sort_by bool by int2' => [ 'mgpu_sort_by(o, s)', 'narrow', 60, 20 ],
	# positions of all would be 76 MB
	'sort_by bool by int2 with nulls' => [ 'mgpu_sort_by(o, n)', 'narrow', 55, 19 ],
	'sort_pairs int4 with nulls and bool' => [ 'ARRAY[pg_column_size(mgpu_sort_pairs(j, o))]', 'narrow', 96, 96 ],
	'sort_pairs int2 with bool' => [ '(mgpu_sort_pairs(s, o)).vals', 'narrow', 60, 60 ],
	'sort_pairs int4 with int2' => [ '(mgpu_sort_pairs(k, s)).vals', 'narrow', 120, 120 ],
	'locality_sort_pairs int4 with bool' => [ '(mgpu_locality_sort_pairs(k, o)).vals', 'narrow', 100, 100 ],
	'sort_by int4 by int2 with nulls' => [ 'mgpu_sort_by(k, n)', 'narrow', 117, 80 ],
	'sort_pairs int4 with int2 with nulls' => [ '(mgpu_sort_pairs(k, n)).vals', 'narrow', 117, 117 ],
	# its argument lies in memory as well: a second place for every key would be 80 MB
	'locality_sort of an array in memory' => [ 'mgpu_locality_sort(mgpu_bulk_remove(k, ARRAY[1]))', 'narrow', 80, 80 ],
	# ranks of labels would be 76 MB
	'sort enum' => [ 'mgpu_sort(e)', 'labels', 76, 76 ],
	'argsort enum' => [ 'mgpu_argsort(e)', 'labels', 76, 76 ],
	'sort_by int4 by enum' => [ 'mgpu_sort_by(k, e)', 'labels, narrow', 153, 76 ],
	'sort_pairs enum with int4' => [ '(mgpu_sort_pairs(e, k)).vals', 'labels, narrow', 153, 153 ],
	'segsort_pairs enum with int2' => [ '(mgpu_segsort_pairs(e, s, ARRAY[5000000, 5000007])).vals', 'labels, narrow', 115, 115 ],
	# heads twice, and their array once more, would be 115 MB
	'segsort of an array in memory with many heads' => [ 'mgpu_segsort(' . in_memory('k') . ', q)', 'narrow, ordered', 115, 76 ],
	'merge enum' => [ 'mgpu_merge(f, f)', 'ordered_labels', 153, 153 ],
	# 4 bytes an element more would be 160 MB
	'argsort of many int4' => [ 'mgpu_argsort(a)', 'big', 160, 160 ],
	'sort_by of many int4' => [ 'mgpu_sort_by(a, a)', 'big', 320, 160 ],
	'sort_pairs of many int4' => [ '(mgpu_sort_pairs(a, a)).vals', 'big', 320, 320 ],
	'locality_sort_pairs of many int4' => [ '(mgpu_locality_sort_pairs(a, a, true)).keys', 'big', 320, 320 ],
	# positions and offsets would be 80 MB
	'sort_by text by int4 in memory' => [ 'mgpu_sort_by(' . in_memory('t') . ', ' . in_memory('a') . ')', 'middle', 154, 115 ],
	'sort_by int4 by int2 with nulls in memory' => [ 'mgpu_sort_by(' . in_memory('k') . ', ' . in_memory('n') . ')', 'narrow', 112, 77 ],
	# arrays copied into their row would be 115 MB; taking a field of it copies the row
	'sort_pairs int4 with int8 in memory' => [ 'ARRAY[pg_column_size(mgpu_sort_pairs(' . in_memory('a') . ', ' . in_memory('b') . '))]', 'middle', 115, 115 ],
	# ... and positions, for merges of both arrays with themselves, 77 MB, offsets of text as much
	'merge_pairs int4 with int4 with nulls' => [ 'ARRAY[pg_column_size(mgpu_merge_pairs(q, n, q, n))]', 'ordered, middle', 144, 144 ],
	'merge_pairs int4 with text' => [ 'ARRAY[pg_column_size(mgpu_merge_pairs(q, t, q, t))]', 'ordered, middle', 306, 306 ],
	# indices of narrow values would be 77 MB
	'segsort_pairs int2 with bool' => [ '(mgpu_segsort_pairs(s, o, heads)).vals', 'ordered, narrow', 58, 58 ]);

# Codes and where elements are would be 24 bytes an element more, keys that are made 8,
# strings that are made as much as the elements.
my %made_peaks = (
	'argsort text' => [ 'mgpu_argsort(t COLLATE "C")', 'strings', 64, 16 ],
	'argsort of many text' => [ 'mgpu_argsort(t COLLATE "C")', 'middle', 115, 38 ],
	'argsort of many text, descending' => [ 'mgpu_argsort(t COLLATE "C", true)', 'middle', 115, 38 ],
	'argsort numeric' => [ 'mgpu_argsort(d)', 'strings', 64, 16 ],
	'argsort text, all the same' => [ 'mgpu_argsort(e COLLATE "C")', 'strings', 32, 16 ],
	'argsort text of few values' => [ 'mgpu_argsort(w COLLATE "C")', 'strings', 64, 16 ],
	'argsort text, mostly empty' => [ 'mgpu_argsort(m COLLATE "C")', 'strings', 18, 16 ],
	'sort_by int4 by text' => [ 'mgpu_sort_by(a, t COLLATE "C")', 'middle', 153, 38 ],
	'argsort macaddr' => [ 'mgpu_argsort(h)', 'middle', 76, 38 ],
	'argsort fewer macaddr' => [ 'mgpu_argsort(h)', 'fewer', 38, 19 ],
	'sort macaddr' => [ 'mgpu_sort(h)', 'middle', 76, 76 ],
	# some are beyond 64 bits of microseconds
	'argsort long interval' => [ 'mgpu_argsort(y)', 'strings', 61, 16 ],
	'sort long interval' => [ 'mgpu_sort(y)', 'strings', 61, 61 ],
	'argsort interval' => [ 'mgpu_argsort(v)', 'middle', 153, 38 ],
	'sort interval' => [ 'mgpu_sort(v)', 'middle', 153, 153 ],
	'sort name' => [ 'mgpu_sort(x)', 'made', 244, 244 ],
	'argsort name' => [ 'mgpu_argsort(x)', 'made', 244, 16 ],
	'argsort long numeric' => [ 'mgpu_argsort(l)', 'made', 299, 16 ],
	'sort long numeric' => [ 'mgpu_sort(l)', 'made', 299, 299 ]);

foreach my $executor (executors($node))
{
	my %all = (%peaks, %made_peaks);

	check_peaks($node, $executor, 'SELECT mgpu_sort(array_agg(i::float8)), mgpu_sort(array_agg(i)) FROM generate_series(1, 20000) i', \%all);
}

# ----------------------------------------------------------------- no growth

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
		[ 10, 50, 90, 130, 180, 260, 400, 1000 ], 10);
}

$node->stop;
done_testing();
