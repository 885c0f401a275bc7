# Memory of one call whose keys are made of the elements, or are byte strings: in
# segments, in merges and as positions, on either executor.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('memory_segments');

make_big($node, 'many', 5,
	v => [ 'interval[]', q{make_interval(secs => random() * 1e9)} ],
	h => [ 'macaddr[]', q{('08002b' || substr(md5((i % 300000)::text), 1, 6))::macaddr} ],
	t => [ 'text[]', 'substr(md5(i::text), 1, 8)' ],
	d => [ 'numeric[]', '(random() * 1e9)::numeric(14, 3)' ]);

make_big($node, 'more', 10,
	h => [ 'macaddr[]', q{('08002b' || substr(md5((i % 300000)::text), 1, 6))::macaddr} ],
	v => [ 'interval[]', q{make_interval(secs => random() * 1e9)} ]);

# so many strings, and numbers of which one is so long, that a part of them has no room for a job
make_big($node, 'long', 5,
	l => [ 'text[]', q{rpad((i::bigint * 48271 % 1000003)::text, 122, 'behind a number ')} ],
	n => [ 'numeric[]', q{CASE WHEN i = 7 THEN repeat('7', 4000)::numeric ELSE (random() * 1e9)::numeric(14, 3) END} ]);

# heads of short segments, and of two long ones
$node->safe_psql('postgres', 'CREATE TABLE heads AS SELECT array_agg(i) AS short, ARRAY[2000001] AS long FROM generate_series(1, 5000000, 100) i');

# the same in order
$node->safe_psql('postgres', 'CREATE TABLE ordered (v interval[], h macaddr[], t text[], d numeric[]);'
	  . join('', map {"ALTER TABLE ordered ALTER $_ SET STORAGE EXTERNAL;"} qw(v h t d))
	  . 'INSERT INTO ordered SELECT mgpu_sort(v), mgpu_sort(h), mgpu_sort(t COLLATE "C"), mgpu_sort(d) FROM many');

# keys of both arrays and ranks would be 120 MB, where strings are, and what is made, as much again
my %merges = (
	'merge interval' => [ 'mgpu_merge(v, v)', 'ordered', 153, 153 ],
	'merge macaddr' => [ 'mgpu_merge(h, h)', 'ordered', 76, 76 ],
	'merge text' => [ 'mgpu_merge(t COLLATE "C", t)', 'ordered', 114, 114 ],
	'merge numeric' => [ 'mgpu_merge(d, d)', 'ordered', 150, 150 ],
	'merge_pairs macaddr with text' => [ 'ARRAY[pg_column_size(mgpu_merge_pairs(h, t, h, t))]', 'ordered', 190, 190 ]);

# keys would be 80 MB, where strings are, and their codes, 120 MB
my %segments = (
	'segsort macaddr in short segments' => [ 'mgpu_segsort(h, short)', 'more, heads', 76, 76 ],
	'segsort macaddr in long segments' => [ 'mgpu_segsort(h, long)', 'more, heads', 76, 76 ],
	'segsort interval in long segments' => [ 'mgpu_segsort(v, long)', 'more, heads', 153, 153 ],
	'segsort text in short segments' => [ 'mgpu_segsort(t COLLATE "C", short)', 'many, heads', 57, 57 ],
	'segsort text in long segments' => [ 'mgpu_segsort(t COLLATE "C", long)', 'many, heads', 57, 57 ],
	'segsort numeric in short segments' => [ 'mgpu_segsort(d, short)', 'many, heads', 75, 75 ],
	'segsort numeric in long segments' => [ 'mgpu_segsort(d, long)', 'many, heads', 75, 75 ]);

my %positions = (
	'argsort macaddr' => [ 'mgpu_argsort(h)', 'more', 76, 38 ],
	'argsort interval' => [ 'mgpu_argsort(v)', 'more', 153, 38 ],
	'argsort text' => [ 'mgpu_argsort(t COLLATE "C")', 'many', 57, 19 ],
	'argsort numeric' => [ 'mgpu_argsort(d)', 'many', 75, 19 ],
	'sort_by macaddr by text' => [ 'mgpu_sort_by(h, t COLLATE "C")', 'many', 95, 38 ]);

# where strings are, and their codes, would be 114 MB
my %long = (
	'argsort long text' => [ 'mgpu_argsort(l COLLATE "C")', 'long', 610, 19 ],
	'argsort numeric, one of them long' => [ 'mgpu_argsort(n)', 'long', 75, 19 ]);

# Few, but long: what is made of them would be half as much again as they are.  Of the bit strings a
# quarter begins alike for 3 kB, and the rest in forties, of which most are not the same.
$node->safe_psql('postgres', q{
	CREATE TABLE numbers (a numeric[]);
	CREATE TABLE bits (a varbit[], one int[], two int[]);
	CREATE TABLE among (a varbit[]);
	ALTER TABLE numbers ALTER a SET STORAGE EXTERNAL;
	ALTER TABLE bits ALTER a SET STORAGE EXTERNAL;
	ALTER TABLE among ALTER a SET STORAGE EXTERNAL;
	INSERT INTO numbers SELECT array_agg(repeat(abs(hashint8(i))::text, 40)::numeric) FROM generate_series(1, 300000) i;
	INSERT INTO bits SELECT array_agg(CASE WHEN i % 4 = 0 THEN repeat('1', 25000 + i % 1000)::varbit
		ELSE (repeat(hashint4(i % 500)::bit(32)::text, 770) || substr((i % 11)::bit(4)::text, 1, i % 5))::varbit END), ARRAY[1], ARRAY[1, 19001]
		FROM generate_series(1, 20000) i;
	INSERT INTO among SELECT array_agg(CASE WHEN i = 77 THEN repeat('10', 500000) ELSE repeat(hashint4(i)::bit(32)::text, 3) END::varbit)
		FROM generate_series(1, 3000000) i});

my %made = (
	'argsort few long numeric' => [ 'mgpu_argsort(a)', 'numbers', 57, 1 ],
	'sort few long numeric' => [ 'mgpu_sort(a)', 'numbers', 57, 57 ],
	'argsort few long bit strings' => [ 'mgpu_argsort(a)', 'bits', 60, 0 ],
	'segsort few long bit strings, all' => [ 'mgpu_segsort(a, one)', 'bits', 60, 60 ],
	'segsort few long bit strings' => [ 'mgpu_segsort(a, two)', 'bits', 60, 60 ],
	'argsort many bit strings, one of them long' => [ 'mgpu_argsort(a)', 'among', 61, 11 ],
	'sort many bit strings, one of them long' => [ 'mgpu_sort(a)', 'among', 61, 61 ]);

my $warm_up = 'SELECT mgpu_sort(array_agg(i::float8)), mgpu_sort(array_agg(i)) FROM generate_series(1, 20000) i';

foreach my $executor (executors($node))
{
	check_peaks($node, $executor, $warm_up, { %merges, %segments, %positions, %long, %made });
	# a GPU that fails: keys that it should have got are made once more
	check_peaks($node, 'gpu -c mgpu.gpu_failure=silent', "$warm_up; SET mgpu.inject_fault = device_memory",
		{ map { ($_ => $positions{$_}) } grep {/^argsort (?:macaddr|interval)/} keys %positions })
	  if $executor eq 'gpu';
}

# Numbers that begin alike for 50 kB, and some that are the same
$node->safe_psql('postgres', q{
	CREATE TABLE alike (a numeric[]);
	ALTER TABLE alike ALTER a SET STORAGE EXTERNAL;
	INSERT INTO alike SELECT array_agg(CASE WHEN i % 5 = 0 THEN -1 ELSE 1 END * (10::numeric ^ 100000 + hashint4(i % 900))) FROM generate_series(1, 1300) i});

foreach my $table ('numbers', 'bits', 'alike')
{
	check_order($node, $table, '', $_, 'false') foreach ('false', 'true');
}
foreach my $executor (executors($node))
{
	is($node->safe_psql('postgres', qq{
		SET mgpu.executor = $executor;
		SELECT mgpu_segsort(a, two) = mgpu_sort(a[:19000]) || mgpu_sort(a[19001:]), mgpu_segsort(a, two, true) = mgpu_sort(a[:19000], true) || mgpu_sort(a[19001:], true) FROM bits}),
		't|t', "$executor: long bit strings in segments");
	is($node->safe_psql('postgres', qq{
		SET mgpu.executor = $executor;
		SELECT count(*), bool_and(x <= y) FROM (SELECT x, lead(x) OVER (ORDER BY place) AS y FROM among, unnest(mgpu_sort(a)) WITH ORDINALITY u(x, place) WHERE place % 10 = 1) t}),
		'300000|t', "$executor: many bit strings, one of them long");
}

# What is beyond a job's room is sorted where it is, in the order that another way has.
foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");

	foreach my $call ('mgpu_argsort(n)', 'mgpu_argsort(l COLLATE "C")')
	{
		$session->query("SELECT cardinality($call) FROM long");
		like($session->query('SELECT executor, reason FROM mgpu_last_run()'),
			$executor eq 'gpu' ? qr/^cpu\|strings so long/ : qr/^cpu\|mgpu\.executor is cpu$/, "$executor, $call: on the CPU, and says why");
	}
	is($session->query('SELECT md5(array_send(mgpu_sort_by(n, n))) = md5(array_send(mgpu_sort(n))) FROM long'), 't', "$executor: one long number among many in order");
	$session->close;
}

$node->stop;
done_testing();
