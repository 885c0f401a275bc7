# Tables read a page at a time, beside PostgreSQL's Seq Scan: every layout of rows, every kind of condition, what
# is left to the Seq Scan, and what statistics, EXPLAIN and errors say of it.  024_heap_reader_changes.pl has
# tables that change.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('heap_reader', conf => [ "session_preload_libraries = 'mgpu_pg'", 'max_parallel_workers_per_gather = 0', 'mgpu.enable_threads = off',
	'shared_buffers = 32MB',
	'log_min_messages = warning', 'log_min_error_statement = panic' ]);
# core's groups have their rows in the order of the table as long as it does not sort
my $session = MgpuTest->session($node, options => '-c enable_sort=off');
my $columns = 'pages as columns';

sub run { return $session->run(@_); }

# ---------------------------------------------------------------------- any layout
#
# Columns in random order and number, some dropped, some added when there were rows; NULLs in none, some or most.
# Aggregates of random columns under a random condition.

run("CREATE TYPE pair AS (a int8, b text)", "CREATE TYPE mood AS ENUM ('low', 'fair', 'high')",
	'CREATE DOMAIN short AS int2 CHECK (VALUE < 1000)');

# type, value of row i, how an aggregate takes it, whether it has an order
my @types = (
	[ '"char"', 'chr(65 + i % 26)::"char"', '%s', 1 ],
	[ 'char(1)', 'chr(65 + i % 26)', '%s', 1 ],
	[ 'char(9)', "left(i::text, 3)", '%s', 1 ],
	[ 'bool', 'i % 3 = 0', '%s', 1 ],
	[ 'int2', '(i % 200 - 100)::int2', '%s', 1 ],
	[ 'short', '(i % 99)::int2', '%s', 1 ],
	[ 'int4', 'i * 7919 % 100003', '%s', 1 ],
	[ 'int8', 'i * 1234567890123', '%s', 1 ],
	[ 'float4', '(i / 7.0)::float4', '%s', 1 ],
	[ 'float8', 'sqrt(i)', '%s', 1 ],
	[ 'date', "date '2000-01-01' + i", '%s', 1 ],
	[ 'timestamptz', "timestamptz '2000-01-01 UTC' + i * interval '1 h'", '%s', 1 ],
	[ 'timetz', "timetz '00:00+01' + i * interval '1 s'", '%s', 1 ],
	[ 'money', 'i::money', '%s', 1 ],
	[ 'mood', "(ARRAY['low', 'fair', 'high'])[1 + i % 3]::mood", '%s', 1 ],
	[ 'text', "repeat('x', i % 5) || i", '%s', 1 ],
	[ 'text', "(SELECT string_agg(md5((i + j)::text), '') FROM generate_series(1, 3 + i % 2 * 90) j)", 'md5(%s)', 1 ],
	[ 'text', "repeat('long ' || i, 900)", '%s', 1 ],
	[ 'bytea', "decode(repeat('00', i % 9), 'hex')", '%s', 1 ],
	[ 'numeric', 'i / 3.0', '%s', 1 ],
	[ 'name', "('n' || i)::name", '%s', 1 ],
	[ 'uuid', 'md5(i::text)::uuid', '%s', 1 ],
	[ 'interval', 'make_interval(days => i % 40, secs => i)', '%s', 1 ],
	[ 'macaddr', "('08:00:2b:01:02:' || to_hex(16 + i % 200))::macaddr", '%s', 1 ],
	[ 'inet', "('10.0.0.' || i % 256)::inet", '%s', 1 ],
	[ 'tid', "('(' || i || ',' || i % 9 || ')')::tid", '%s', 1 ],
	[ 'box', 'box(point(i, 1), point(2, i))', '%s', 0 ],
	[ 'point', 'point(i, -i)', '%s', 0 ],
	[ 'varbit', "repeat('10', i % 40)::varbit", '%s', 1 ],
	[ 'jsonb', "jsonb_build_object('k', i, 'l', ARRAY[i % 3])", '%s', 1 ],
	[ 'int4[]', 'ARRAY[i, NULL, i % 3]', '%s::text', 1 ],
	[ 'text[]', "ARRAY['a', repeat('b', i % 4)]", '%s::text', 1 ],
	[ 'pair', "ROW(i, 'p' || i % 7)::pair", '%s', 1 ]);

sub pick { return $_[ int(rand(@_)) ]; }

# The table of a trial: its columns, by name.
sub make_layout
{
	my %column;
	my $nulls = pick(0, 0, 0.02, 0.5, 0.98);
	my @names = map {"c$_"} 1 .. 2 + int(rand(14));
	my $insert = sub {
		my ($first, $last) = @_;
		my @made = map {"CASE WHEN random() >= $nulls THEN $column{$_}->[1] END"} sort keys %column;

		return 'INSERT INTO laid (id, g, ' . join(', ', sort keys %column) . ') SELECT i, i % 5, ' . join(', ', @made)
		  . " FROM generate_series($first, $last) i";
	};

	$column{$_} = pick(@types) foreach @names;
	my @all = map {"$_ $column{$_}->[0]"} @names;
	splice(@all, int(rand(@all + 1)), 0, $_) foreach ('id int', 'g int', 'gone_text text', 'gone_int2 int2');
	run('DROP TABLE IF EXISTS laid', 'SELECT setseed(' . rand() . ')', 'CREATE TABLE laid (' . join(', ', @all) . ')',
		pick('SELECT 1', 'ALTER TABLE laid DROP gone_text'), $insert->(1, 150), pick('SELECT 1', 'ALTER TABLE laid DROP gone_int2'));
	if (rand() < 0.6)
	{
		foreach my $name (map {"late$_"} 1 .. 3)
		{
			my $type = pick(@types);
			my $default = $type->[1] =~ s/\bi\b/77/gr;

			run("ALTER TABLE laid ADD $name $type->[0] " . pick('', "DEFAULT $default", "DEFAULT $default")) if $default !~ /SELECT/;
			$column{$name} = $type if $default !~ /SELECT/;
		}
		run(pick('SELECT 1', $insert->(151, 200)));
	}
	run(pick('SELECT 1', 'DELETE FROM laid WHERE id % 7 = 0'), pick('SELECT 1', 'UPDATE laid SET g = g WHERE id % 9 = 0'),
		pick('SELECT 1', 'VACUUM laid', 'VACUUM FREEZE laid'));
	return %column;
}

sub random_condition
{
	my %column = @_;
	my $name = pick(sort keys %column);
	my ($type, $value, $shown, $ordered) = @{ $column{$name} };
	my $constant = '(' . ($value =~ s/\bi\b/39/gr) . ")::$type";

	return pick("$name IS NULL", "$name IS NOT NULL", 'id % 3 = 1', 'id > 20', 'g = 2') if !$ordered || rand() < 0.3;
	return pick("$name " . pick('<', '<=', '=', '>=', '>', '<>') . " $constant", "$constant " . pick('<', '>=') . " $name",
		"$name IS DISTINCT FROM $constant",
		"($name IS NULL OR $name < $constant)", "id < 100 AND $name > $constant");
}

sub random_query
{
	my %column = @_;
	my @outputs = map {
		my $name = pick(sort keys %column);
		my $shown = sprintf($column{$name}->[2], $name);

		pick("array_agg($shown)", "array_agg($shown)", "count($name)", "max(length(${name}::text))")
	} 0 .. int(rand(4));
	my @conditions = map { random_condition(%column) } 1 .. pick(0, 0, 1, 2);

	return 'SELECT g, count(*), ' . join(', ', @outputs) . ' FROM laid' . (@conditions ? ' WHERE ' . join(' AND ', @conditions) : '')
	  . ' GROUP BY g';
}

my $seed = $ENV{MGPU_TEST_SEED} // int(rand(2**31));
srand($seed);
foreach my $trial (1 .. sized(40, 300))
{
	my %column = make_layout();

	check_same($session, "layout $trial of seed $seed", [ map { random_query(%column) } 1 .. 4 ]);
}

# ------------------------------------------------------------------ certain layouts

run('CREATE TABLE nothing (g int, v int)', 'CREATE TABLE one (g int, v int)', 'INSERT INTO one VALUES (1, 2)',
	'CREATE TABLE holes (g int, v int)',
	'INSERT INTO holes SELECT i % 7, i FROM generate_series(1, 5000) i', 'DELETE FROM holes WHERE v % 1000 <> 0',
	'VACUUM (TRUNCATE false) holes');
check_same($session, "$_: few rows or none", [ map {"SELECT $_"} "g, array_agg(v) FROM $_ GROUP BY g",
	"count(*), sum(v) FROM $_ WHERE v > 0", "DISTINCT g FROM $_" ])
  foreach 'nothing', 'one', 'holes';

# as many columns as there can be; in the second half of the rows nearly all are NULL
my @wide = ([ 'int', 'i + %d' ], [ 'int2', '(i %% 100 + %d)::int2' ], [ '"char"', 'chr(65 + (i + %d) %% 26)::"char"' ],
	[ 'bool', '(i + %d) %% 2 = 0' ]);
my @made = map { "CASE WHEN i < 50 OR (i + $_) % 40 = 0 THEN " . sprintf($wide[ $_ % 4 ]->[1], $_) . ' END' } 1 .. 1599;
run('CREATE TABLE wide (g int, ' . join(', ', map {"c$_ $wide[$_ % 4]->[0]"} 1 .. 1599) . ')',
	'INSERT INTO wide SELECT i % 3, ' . join(', ', @made) . ' FROM generate_series(1, 100) i');
check_same($session, '1,600 columns',
	[ map {"SELECT g, array_agg(c$_), count(*), array_agg(c1599), sum(c4) FROM wide WHERE c$_ IS NOT NULL OR c8 > 50 GROUP BY g"} 1,
	2, 3, 100, 801, 1598, 1599 ]);

run('CREATE TABLE late (g int, v int)', 'INSERT INTO late SELECT i % 3, i FROM generate_series(1, 500) i',
	"ALTER TABLE late ADD a int DEFAULT 7, ADD b text DEFAULT 'late', ADD c numeric DEFAULT 1.50, ADD d box DEFAULT '(1,1),(0,0)',
		ADD e int8, ADD f text DEFAULT repeat('long', 1000), ADD h bool DEFAULT true",
	'INSERT INTO late SELECT i % 3, i, i, i::text, i, box(point(i, i), point(0, 0)), i, i::text, i % 2 = 0 FROM generate_series(501, 600) i',
	'ALTER TABLE late DROP v');
my @late = ('a = 7', 'a > 550', "b = 'late'", 'c > 1.4', 'e IS NULL', 'e > 1', 'h', 'NOT h', "f LIKE 'long%'", 'a < c', 'true');
check_same($session, 'columns added later, with values and without',
	[ map {"SELECT g, count(*), array_agg(a), array_agg(b), sum(c), array_agg(d), array_agg(e), max(f), array_agg(h) FROM late WHERE $_ GROUP BY g"} @late ]);

my $kind = $session->query("SELECT current_setting('server_version_num')::int >= 180000") eq 't' ? 'VIRTUAL' : 'STORED';
run("CREATE TABLE made (g int, v int, twice int GENERATED ALWAYS AS (v * 2) STORED, thrice int GENERATED ALWAYS AS (v * 3) $kind)",
	'INSERT INTO made SELECT i % 3, i FROM generate_series(1, 300) i');
check_same($session, 'generated columns',
	[ 'SELECT g, array_agg(twice), sum(thrice) FROM made WHERE twice > 50 AND thrice < 800 GROUP BY g',
	'SELECT thrice % 5 AS k, count(twice) FROM made GROUP BY 1' ]);

# ------------------------------------------------------------ a column and a constant
#
# Each operator, the column on either side, and constants that are known when the query is planned or run.
# A row's number is a power of two, so that a sum tells which rows they are.

my @numbers = ('-32768', '-1', '0', '1', '5', '32767');
my @times = ('-infinity', '2000-01-01', '2000-01-02', '1999-12-31', 'infinity');
my @floats = ('NaN', '-Infinity', 'Infinity', '-0', '0', '1.5', '-1e30');
my %values = (
	int2 => \@numbers,
	int4 => [ @numbers, '-2147483648', '65535', '32768', '2147483647' ],
	int8 => [ @numbers, '-9223372036854775808', '4294967296', '4294967301', '9223372036854775807' ],
	short => [ '1', '-5', '999' ],
	oid => [ '0', '1', '4294967295', '2147483648' ],
	xid8 => [ '0', '1', '18446744073709551615' ],
	pg_lsn => [ '0/0', 'FFFFFFFF/FFFFFFFF', '7FFFFFFF/FFFFFFFF' ],
	money => [ '0', '-1', '10000000000' ],
	float4 => \@floats,
	float8 => \@floats,
	date => \@times,
	timestamp => \@times,
	timestamptz => \@times,
	time => [ '00:00', '24:00', '12:34:56.789' ],
	bool => [ 'true', 'false' ],
	'"char"' => [ 'a', 'z', '', '~' ],
	mood => [ 'low', 'high' ],
	numeric => [ '0', '-1.50', 'NaN' ],
	text => [ '', 'a', 'b' ],
	uuid => [ '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff' ],
	interval => [ '0', '30 days', '1 mon' ]);

# constants of a type that operators compare with a column's
my @integers = ('int2', 'int4', 'int8');
my %other = (int2 => \@integers, int4 => \@integers, int8 => \@integers, float4 => [ 'float4', 'float8' ], date => [ 'date', 'timestamp' ],
	timestamptz => [ 'timestamptz', 'date' ]);

sub compared
{
	my ($constant) = @_;

	return map { ("x $_ $constant", "$constant $_ x", "x $_ (SELECT $constant)") } '<', '<=', '=', '>=', '>', '<>';
}

foreach my $type (sort keys %values)
{
	my @all = map {"'$_'"} @{ $values{$type} };

	run('DROP TABLE IF EXISTS few', "CREATE TABLE few (bit int8, x $type)",
		'INSERT INTO few SELECT 1::int8 << i, (ARRAY[' . join(', ', @all) . '])[i % ' . (@all + 1) . " + 1]::$type"
		  . ' FROM generate_series(0, ' . (2 * @all) . ') i');
	foreach my $other (@{ $other{$type} // [$type] })
	{
		my @conditions = map { compared("'$_'::$other") } @{ $values{$other} };
		my $select = 'SELECT ' . join(', ', map {"(SELECT sum(bit) FROM few WHERE $_)"} @conditions);

		check_same($session, "$type against $other: " . @conditions . ' conditions', $select);
		my @inputs = $session->query("SET mgpu.enable_group = force; EXPLAIN $select") =~ /Input: $columns/g;
		is(scalar @inputs, scalar @conditions, "$type against $other: pages as columns in each");
	}
	check_same($session, "$type against NULL and itself", [ map {"SELECT sum(bit) FROM few WHERE $_"} "x < (SELECT NULL::$type)",
		'x = x', 'x IS NULL', 'x IS NOT NULL', "x IS DISTINCT FROM NULL" ]);
}
check_same($session, 'NULL constants', [ map {"SELECT sum(bit) FROM few WHERE x $_ NULL"} '<', '=', '<>' ], input => '');

# -------------------------------------------------------------- all other conditions

run('CREATE TABLE nums (g int, v int, t text, b bool, at timestamptz, w int8)',
	"INSERT INTO nums SELECT i % 7, i, CASE WHEN i % 2 = 0 THEN i::text ELSE 'word' END, i % 3 = 0, now() - i * interval '1 hour', i * 1000
		FROM generate_series(0, 3000) i", 'VACUUM ANALYZE nums', "SET test.word = 'x'; SET test.number = 5");
my @conditions = ("at > now() - interval '10 days'", "at BETWEEN now() - interval '2 days' AND current_date", 'b', 'NOT b',
	'b IS TRUE', 'v IN (1, 2, 3)', 'v IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)', 'NOT v IN (1, 2)',
	'v BETWEEN 10 AND 20', 'v < 5 OR v > 2990', 'NOT (v < 2990 AND b)', "t LIKE '1%'", "CASE WHEN v > 9 THEN b ELSE v > 3 END",
	'(g, v) > (3, 50)', 'v = ANY (ARRAY(SELECT v FROM one))', 'v > w / 1000 - 1', 'w = 3000::int4',
	"v > (SELECT count(*) FROM nums)::int - 50", "v < (SELECT max(v) FROM nums WHERE g = 3)",
	"g = current_setting('test.number')::int", 'v % 2 = 0 AND v > 5', 'v > 5 AND v % 2 = 0 AND v < 500', 'v IS NULL');
check_same($session, 'conditions of all kinds',
	[ map {"SELECT g, count(*), array_agg(v) FROM nums WHERE $_ GROUP BY g"} @conditions ]);
check_same($session, 'a key that is constant, with rows and without',
	[ map { my $most = $_; map {"SELECT $_ FROM nums WHERE g = 2 AND v < $most GROUP BY g"} 'g, count(*), max(v)', 'array_agg(v)', 'g' } 0, 99 ]);
# the first row sets the seed
my $random = "CASE WHEN v = 0 THEN setseed(0.25) IS NULL ELSE random() < 0.5 END";
check_same($session, 'volatile conditions', [ map {"SELECT g, array_agg(v) FROM nums WHERE $_ GROUP BY g"} $random,
	"$random AND v < 500", "v < 500 AND $random" ]);

# errors of rows that a condition before removes, or of constants that no row needs; and those that are raised
my @guarded = ('v <> 0 AND 100 / v > 3', "t <> 'word' AND t::int > 50",
	"v < -1 AND g = (SELECT current_setting('test.word')::int)", 'v > 0 AND v IS NOT NULL AND 1 / v >= 0');
my @raised = ('100 / v > 3', 'v > 2000 AND t::int > 5', "v > 5 AND g = (SELECT current_setting('test.word')::int)",
	'100 / (v - 2500) > 3 AND v <> 2500', 'v = (SELECT 1 / (count(*) - 1) FROM one)');
check_same($session, 'errors that are not raised', [ map {"SELECT g, count(*) FROM nums WHERE $_ GROUP BY g"} @guarded ]);
check_same($session, 'errors that are raised', [ map {"SELECT g, count(*) FROM nums WHERE $_ GROUP BY g"} @raised ]);
like($session->query('SELECT g, count(*) FROM nums WHERE 100 / v > 3 GROUP BY g'), qr/division by zero/, 'they are: division by zero');
check_same($session, 'errors of columns', [ map {"SELECT g, $_ FROM nums WHERE v > 10 GROUP BY g"} 'sum(100 / (v - 2000))',
	'array_agg(100 / v)', 'sum(t::int)', 'count(10 / (v - 10))' ]);

# parameters: of prepared statements, of functions, of an outer query
run('SET plan_cache_mode = force_generic_plan',
	'PREPARE by_parameter (int8, timestamptz, text) AS SELECT g, count(*), array_agg(v) FROM nums
		WHERE v < $1 AND at < $2 AND (t = $3 OR w > $1) GROUP BY g',
	'CREATE FUNCTION by_variable(low int) RETURNS TABLE (a int, b int8) LANGUAGE plpgsql AS $$ DECLARE high int8 := low + 500;
		BEGIN RETURN QUERY SELECT g, sum(v) FROM nums WHERE v >= low AND w < high * 1000 AND g <> low % 3 GROUP BY g; END $$');
check_same($session, 'parameters of a generic plan', [ map {"EXECUTE by_parameter ($_)"} "100, now(), 'word'",
	'NULL, now(), NULL', "4294967296, now() - interval '5 days', '20'" ]);
check_same($session, 'variables of a function', [ 'SELECT * FROM by_variable(100)',
	'SELECT p, f.* FROM generate_series(0, 2000, 400) p, by_variable(p) f' ], input => '');
check_same($session, 'parameters of an outer query',
	[ map {"SELECT p, q.* FROM generate_series(1, 5) p LEFT JOIN LATERAL (SELECT g, count(*), array_agg(v) FROM nums WHERE $_ GROUP BY g) q ON true"}
	'v < p * 10', 'v % p = 1 AND v < 100', 'v < p * 10 AND t::text <> p::text', 'g = p - 3' ]);
run("SET work_mem = '64kB'", 'SET enable_material = off');
check_same($session, 'read again after a spill',
	'SELECT p, q.* FROM (VALUES (1), (2)) s(p) LEFT JOIN (SELECT v % 997 AS k, array_agg(t) FROM nums WHERE v > 3 GROUP BY 1) q ON k <> p');
run('RESET work_mem', 'RESET enable_material', 'RESET plan_cache_mode');

# row-level security: no function that may leak sees a row that a policy hides, and none is counted
run('CREATE TABLE secrets (g int, level int, owner text, secret text)',
	"INSERT INTO secrets SELECT i % 3, i % 5, CASE WHEN i % 2 = 0 THEN 'reader' ELSE 'other' END, 'secret ' || i FROM generate_series(1, 40) i",
	"CREATE FUNCTION leaks(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS \$\$ BEGIN RAISE NOTICE '%', \$1; RETURN true; END \$\$",
	'CREATE ROLE reader', 'GRANT SELECT ON secrets TO reader', 'ALTER TABLE secrets ENABLE ROW LEVEL SECURITY',
	'CREATE POLICY low ON secrets USING (level < 3)', 'CREATE POLICY own ON secrets AS RESTRICTIVE USING (owner = current_user)',
	'CREATE VIEW shown WITH (security_barrier) AS SELECT * FROM secrets WHERE level < 2', 'GRANT SELECT ON shown TO reader',
	'SET ROLE reader');
check_same($session, 'row-level security', [ map {"SELECT g, count(*) FROM secrets WHERE $_ GROUP BY g"} 'leaks(secret)',
	'leaks(secret) AND g > 0', 'level >= 2' ]);
unlike($session->query('SET mgpu.enable_group = force; SELECT g, count(*) FROM secrets WHERE leaks(secret) GROUP BY g'),
	qr/secret (3|13|15)\n/, 'hidden rows stay hidden');
check_same($session, 'a view that is a barrier', 'SELECT g, count(*) FROM shown WHERE leaks(secret) GROUP BY g', input => 'rows');
run('RESET ROLE');

# -------------------------------------------------------------- left to the Seq Scan

run('CREATE TEMP TABLE passing AS SELECT * FROM nums');
check_same($session, 'rows one by one', [
	(map {"SELECT $_ GROUP BY 1"} 'ctid, count(*) FROM one', 'tableoid::regclass, count(*) FROM nums', 'g, max(xmin::text) FROM nums',
		'g, count(*) FROM nums WHERE ctid < \'(3,0)\'', 'g, count(nums) FROM nums', 'g, array_agg(nums) FROM nums',
		'g, count(*) FROM nums WHERE nums IS NOT NULL', 'g, count(*) FROM nums TABLESAMPLE bernoulli (30) REPEATABLE (3)',
			'g, count(*) FROM (SELECT * FROM nums WHERE v > 5 FOR UPDATE) q', 'g, sum(v) FROM passing',
		'g, count(*) FROM nums WHERE v > (SELECT count(*) FROM one o WHERE o.v > nums.g)',
			'g, count(*) FROM nums WHERE EXISTS (SELECT FROM one)',
			'g, count(*) FROM (SELECT * FROM nums LIMIT 100) q'),
	'SELECT count(*) FROM generate_series(1, 9)' ], input => 'rows');
run('CREATE INDEX nums_v ON nums (v)', 'SET enable_seqscan = off');
$session->query('SET enable_bitmapscan = off');
check_same($session, 'an index scan', 'SELECT g, count(*) FROM nums WHERE v BETWEEN 5 AND 100 GROUP BY g', input => 'rows');
$session->query('RESET enable_bitmapscan; SET enable_indexscan = off');
check_same($session, 'pages that an index names', 'SELECT g, count(*) FROM nums WHERE v BETWEEN 5 AND 100 GROUP BY g');
run('RESET enable_seqscan', 'RESET enable_indexscan', 'DROP INDEX nums_v', 'SET mgpu.enable_columns = off');
check_same($session, 'mgpu.enable_columns = off', 'SELECT g, count(*) FROM nums GROUP BY g', input => 'rows');
run('RESET mgpu.enable_columns', 'BEGIN ISOLATION LEVEL SERIALIZABLE');
check_same($session, 'SERIALIZABLE', 'SELECT g, count(*) FROM nums GROUP BY g', input => 'rows', inside => 1);
run('COMMIT');

# ------------------------------------------------- partitions, children, several tables

run('CREATE TABLE parts (k int, g int, v int, t text) PARTITION BY LIST (k)',
	'CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (0, 1)',
	'CREATE TABLE parts_2 (gone int, t text, v int, k int, g int)', 'ALTER TABLE parts_2 DROP gone',
	'ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2, 3)',
	'CREATE TABLE parts_3 PARTITION OF parts DEFAULT PARTITION BY RANGE (v)',
	'CREATE TABLE parts_31 PARTITION OF parts_3 FOR VALUES FROM (0) TO (1000)',
	'CREATE TABLE parts_32 PARTITION OF parts_3 DEFAULT',
	'INSERT INTO parts SELECT i % 6, i % 5, i, \'t\' || i FROM generate_series(1, 3000) i', 'VACUUM parts_2',
	'CREATE TABLE parent (g int, v int)', 'CREATE TABLE child (more text) INHERITS (parent)',
	'INSERT INTO parent SELECT i % 5, i FROM generate_series(1, 400) i',
	"INSERT INTO child SELECT i % 5, i, 'x' FROM generate_series(1, 400) i");
check_same($session, 'partitions and children',
	[ map {"SELECT g, count(*), array_agg(v), max(t) FROM parts WHERE $_ GROUP BY g"} 'true', 'k < 3', 'v > 900 AND t <> \'t5\'',
	'k IN (2, 4)', 'k = 5 AND v < 2000', "k = current_setting('test.number')::int" ]);
check_same($session, 'children, and UNION ALL', [ 'SELECT g, count(*), array_agg(v) FROM parent GROUP BY g',
	'SELECT g, count(*), array_agg(v) FROM ONLY parent GROUP BY g',
	'SELECT g, array_agg(v) FROM (SELECT g, v FROM one UNION ALL SELECT g, v FROM nums WHERE v < 50) q GROUP BY g' ]);
run('SET plan_cache_mode = force_generic_plan',
	'PREPARE of_parts (int) AS SELECT g, count(*), array_agg(v) FROM parts WHERE k = $1 GROUP BY g');
check_same($session, 'partitions pruned when the query starts', [ map {"EXECUTE of_parts ($_)"} 0, 3, 5, 99 ]);
check_same($session, 'all of them', 'EXECUTE of_parts (NULL)', input => 'rows');
check_same($session, 'partitions pruned while the query runs',
	'SELECT p, q.* FROM generate_series(0, 6) p, LATERAL (SELECT g, count(*), sum(v) FROM parts WHERE k = p GROUP BY g) q',
	input => 'rows');
run('RESET plan_cache_mode');

# --------------------------------------------------------------------------- workers

my $parallel = MgpuTest->session($node,
	options => '-c mgpu.executor=cpu -c max_parallel_workers_per_gather=2 -c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0');
run('CREATE TABLE many AS SELECT i % 1000 AS g, i AS v, i % 11 AS h FROM generate_series(1, 30000) i', 'ALTER TABLE many SET (parallel_workers = 2)',
	'VACUUM ANALYZE many', 'UPDATE many SET h = 3 WHERE v % 500 = 0', 'VACUUM ANALYZE parts');
my @parallel = ('SELECT g, count(*), sum(v), array_agg(v ORDER BY v) FROM many WHERE h <> 5 GROUP BY g',
	'SELECT h, percentile_disc(0.3) WITHIN GROUP (ORDER BY v) FROM many GROUP BY h',
	'SELECT p, q.* FROM (VALUES (1), (2)) s(p) LEFT JOIN (SELECT h, array_agg(v % 100 ORDER BY v) FROM many WHERE v < 3000 GROUP BY h) q ON h <> p',
	'SELECT g, array_agg(v ORDER BY v) FROM parts GROUP BY g');
foreach my $settings ('RESET parallel_leader_participation', 'SET parallel_leader_participation = off',
	'SET enable_parallel_append = off')
{
	$parallel->query($settings);
	like($parallel->query("SET mgpu.enable_group = on; EXPLAIN (COSTS off) $parallel[0]"),
		qr/MgpuGroup.*Gather.*MgpuRows.*Input: $columns.*Parallel Seq Scan/s, "$settings: workers");
	check_same($parallel, "$settings: the same by workers", \@parallel, mode => 'on');
}
$parallel->close;

# ----------------------------------------------------------------- statistics, EXPLAIN

# What a query counts, in its transaction: scans, rows and blocks of its tables.
sub counted
{
	my ($nodes, $query, @tables) = @_;
	my @kinds = ('numscans', 'tuples_returned', 'blocks_fetched', 'blocks_hit');
	my $counts = 'SELECT ' . join(', ', map { my $table = $_; map {"pg_stat_get_xact_$_('$table'::regclass)"} @kinds } @tables);

	$session->query("BEGIN; SET LOCAL mgpu.enable_group = $nodes; SET LOCAL mgpu.enable_scan = off");
	my @before = split /\|/, $session->query($counts);
	my $explained = $session->query("EXPLAIN (ANALYZE, BUFFERS, TIMING off, COSTS off, SUMMARY off) $query");
	my @after = split /\|/, $session->query($counts);
	$session->query('COMMIT');
	my @scans = $explained =~ /(?:Seq Scan on .*?actual rows=\S+ loops=\d+|Rows Removed by Filter: \d+)/g;
	my ($buffers) = $explained =~ /Seq Scan on.*?Buffers: shared ([^\n]*)/s;
	my $blocks = 0;
	$blocks += $_ foreach ($buffers // '') =~ /\d+/g;
	return join(' ', map({ $after[$_] - $before[$_] } 0 .. $#after), @scans, "$blocks blocks");
}

run('CREATE TABLE churned (g int, v int) WITH (fillfactor = 50)',
	'INSERT INTO churned SELECT i % 7, i FROM generate_series(1, 20000) i', 'VACUUM churned',
	'UPDATE churned SET v = v WHERE v % 3000 = 5', 'DELETE FROM churned WHERE v BETWEEN 5000 AND 6000');
run('CREATE TABLE outside (id int PRIMARY KEY, g int, t text)', 'ALTER TABLE outside ALTER t SET STORAGE EXTERNAL',
	"INSERT INTO outside SELECT i, i % 7, repeat(md5(i::text), 99) FROM generate_series(1, 300) i", 'VACUUM ANALYZE outside');
# pages that stay on a GPU are not read from buffers
run('SET mgpu.enable_gpu_cache = off');
my $toasted = $session->query("SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'outside'::regclass");
foreach my $query ([ 'SELECT g, sum(v) FROM nums GROUP BY g', 'nums' ],
	[ 'SELECT g, array_agg(v) FROM churned WHERE v > 300 GROUP BY g', 'churned' ],
	[ 'SELECT g, count(*) FROM churned WHERE v % 2 = 0 AND v < 9000 GROUP BY g', 'churned' ],
	[ 'SELECT g, count(*) FROM parts WHERE v > 100 GROUP BY g', 'parts_1', 'parts_2', 'parts_31', 'parts_32' ],
	[ 'SELECT p, q.* FROM generate_series(1, 3) p, LATERAL (SELECT g, count(*) FROM churned WHERE v < p * 1000 GROUP BY g) q',
	'churned' ],
	(map {[ $_, 'outside', $toasted ]} 'SELECT g, count(t), count(t) FILTER (WHERE id > 9) FROM outside GROUP BY g',
		'SELECT g, count(t), percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM outside GROUP BY g',
		'SELECT id, pg_column_size(t), count(*) FROM outside GROUP BY id', 'SELECT g, max(t) FROM outside GROUP BY g',
		"SELECT g, string_agg(t, ',' ORDER BY id) FROM outside GROUP BY g"),
	[ 'SELECT count(*) FROM nothing', 'nothing' ])
{
	# the first scan marks pages as all-visible, since 19
	counted('off', @$query);
	my $core = counted('off', @$query);

	# where a GPU reads, a text out of line ends its job, which is not tried again
	counted('force', @$query) if $query->[0] =~ /max\(t\)|size\(t\)/;
	is(counted('force', @$query), $core, "$query->[0]: counts $core");
}

run('CREATE TABLE cold AS SELECT i % 7 AS g, i AS v FROM generate_series(1, 60000) i');
$session->close;
$node->restart;
$session = MgpuTest->session($node);
run('SET track_io_timing = on', 'SET mgpu.enable_group = force');
my $pages = $session->query("SELECT pg_relation_size('cold') / current_setting('block_size')::int");
my $is_19 = $session->query('SHOW server_version_num') >= 190000;
my $read = $session->query('EXPLAIN (ANALYZE, BUFFERS' . ($is_19 ? ', IO' : '') . ') SELECT g, sum(v) FROM cold GROUP BY g');
like($read, qr/Seq Scan on cold.*?Buffers: shared (?:hit=\d+ )?read=$pages\b[^\n]*\n\s*I\/O Timings: .*?read=[\d.]*[1-9]/s,
	'a table from disk: blocks read, and the time that took');
my ($checked) = $read =~ /Pages Read: $pages\n\s*Pages Not All-Visible: (\d+)\n/;
if ($is_19)
{
	cmp_ok($checked, '<', $pages / 2, 'pages read, most of them marked as all-visible before');
	like($read, qr/Seq Scan on cold.*\n\s*Prefetch: avg=[\d.]*[1-9].*\n\s*I\/O: count=[1-9]/, 'and the stream of them');
}
else
{
	is($checked, $pages, 'pages read, all of them row by row');
}

# ------------------------------------------------------------------------ told to end

my $rounds = sized(40, 400);
check_timeouts($session, 'many scans',
	"SELECT count(*) FROM generate_series(1, $rounds) p, LATERAL (SELECT g, count(v) FROM cold WHERE v <> p GROUP BY g) q", 3,
	[ 1 .. 9 ]);
check_timeouts($session, 'a slow condition',
	'SELECT g, count(*) FROM cold WHERE v % 3000 <> 7 OR pg_sleep(0.02) IS NOT NULL GROUP BY g', 3, [ 1 .. 9 ]);
run(q{DO $$ BEGIN FOR i IN 1 .. 100 LOOP BEGIN
	PERFORM g, sum(10 / (v - i * 500)) FROM cold GROUP BY g; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$});
is($session->query('SELECT sum(v) FROM cold'), '1800030000', 'the session goes on');
$session->close;
$node->stop;
unlike(slurp_file($node->logfile), qr/refcount leak|was not closed|PANIC|TRAP/, 'no pin is left behind');
done_testing();
