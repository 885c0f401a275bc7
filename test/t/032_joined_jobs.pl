# Joins below MgpuGroup, MgpuTop and MgpuSort: a table streams through a table job, and the rows of smaller sides are looked up.
# The answers are those of PostgreSQL's own plan, to the byte, also where a job declines.  Builds with TEST_SIZES=yes play the GPU.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('joined_jobs',
	conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', "work_mem = '64MB'", 'enable_mergejoin = off', 'enable_nestloop = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(6000, 200_000);

sub run { return $session->run(@_); }

# With so many joins in a job; 0: no job has one.
sub check_joins
{
	my ($name, $num_joins, @queries) = @_;

	# smaller sides may be joined with each other first, and what comes of it is looked up: some joins are then within a side
	check_plans($session, "$name: $num_joins joins", sub {
		my @said = @_;

		return has_joins(@said, $num_joins) || grep { has_joins(@said, $_) } 1 .. $num_joins - 1;
	}, @queries);
	return;
}

sub has_joins
{
	my ($plan, $executor, $num_joins) = @_;
	my ($found) = $plan =~ /Joins: (\d+) looked up/;

	# a GPU has no rounds
	$executor = 'cpu' if $plan =~ /Rounds: /;
	return ($found // 0) == $num_joins && ($num_joins == 0 || $plan =~ /Executor: $executor\n/);
}

run('SET mgpu.cpu_threads = 2', 'SET mgpu.report_declined = off', "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
	'CREATE TABLE facts (id int, day date, shop int, item int8, small int2, code text COLLATE "C", tag varchar(12), pad char(6), u uuid, price numeric(10,2), bare numeric, e mood, b bool, v int, f float8, ts timestamp)',
	"INSERT INTO facts SELECT i, date '2020-01-01' + i % 400, nullif(i % 97, 13), i * 7919 % 503, i % 31, 'code ' || i % 211, 'tag' || i % 23, 'p' || i % 19, md5((i % 59)::text)::uuid, (i % 301) / 4.0, round((i % 301) / 4.0, 2), (ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::mood, i % 2 = 0, i % 1000 - 500, sqrt(i), timestamp '2020-01-01' + i % 777 * interval '1 hour' FROM generate_series(1, $rows) i",
	'CREATE TABLE shops (id int PRIMARY KEY, name text COLLATE "C", region int2, rate numeric(6,3), bare numeric, opened date, f float8, r float4, big int8, u uuid, y bytea, kind char(4), e mood, b bool, hole int, j json)',
	"INSERT INTO shops SELECT i, CASE WHEN i % 11 > 0 THEN 'shop ' || i % 40 END, i % 9, i / 8.0, (i % 10) * 0.5, date '2010-01-01' + i, sqrt(i), ln(i)::float4, i * 10000000000, md5(i::text)::uuid, decode(lpad(to_hex(i), 4, '0'), 'hex'), 'k' || i % 5, (ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::mood, i % 2 = 0, nullif(i % 4, 1), '{}' FROM generate_series(1, 90) i",
	'CREATE TABLE regions (id int8 PRIMARY KEY, label text COLLATE "C", country int)', "INSERT INTO regions SELECT i, 'region ' || i, i % 3 FROM generate_series(0, 7) i",
	'CREATE TABLE countries (id int2 PRIMARY KEY, label varchar(20))', "INSERT INTO countries VALUES (0, 'here'), (1, 'there'), (2, 'somewhere far away')",
	'CREATE TABLE days (day date PRIMARY KEY, month int, holiday bool)', "INSERT INTO days SELECT date '2020-01-01' + i, i / 30, i % 7 = 0 FROM generate_series(0, 365) i",
	'CREATE TABLE items (id int8 PRIMARY KEY, code text COLLATE "C" UNIQUE, price numeric(10,2), weight float8)', "INSERT INTO items SELECT i, 'code ' || i, i / 4.0, i / 3.0 FROM generate_series(0, 450) i",
	'CREATE TABLE pairs (a int, b int8, c text COLLATE "C", d date, x int, PRIMARY KEY (a, b))', "INSERT INTO pairs SELECT i % 97, i * 7919 % 503, 'code ' || i % 211, date '2020-01-01' + i % 400, i FROM generate_series(1, 3000) i",
	'CREATE TABLE twice (id int, v int)', 'INSERT INTO twice SELECT i % 50, i FROM generate_series(1, 100) i', 'CREATE TABLE none (id int PRIMARY KEY, v int)',
	'CREATE TABLE nulls (id int UNIQUE, v int)', 'INSERT INTO nulls SELECT CASE WHEN i < 60 THEN i END, i FROM generate_series(1, 80) i',
	"CREATE TABLE odd (id int PRIMARY KEY, label text COLLATE \"C\", n numeric(10,2))", "INSERT INTO odd SELECT i, 'label ' || i, i FROM generate_series(1, 90) i",
	'VACUUM ANALYZE facts, shops, regions, countries, days, items, pairs, twice, none, nulls, odd');

# kinds
check_joins("inner, $_", 1, "SELECT $_, count(*), sum(v), sum(price) FROM facts JOIN shops s ON shop = s.id GROUP BY 1")
  foreach 's.name', 's.region', 's.rate', 's.opened', 's.u', 's.kind', 's.e', 's.b', 's.hole', 's.big', 'facts.tag', 's.y', 's.id', 's.hole IS NULL';
check_joins("aggregate $_", 1, "SELECT s.region, $_ FROM facts JOIN shops s ON shop = s.id GROUP BY 1", "SELECT s.region, $_ FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1")
  foreach 'sum(s.rate)', 'sum(s.bare), avg(s.bare)', 'sum(s.rate * price)', 'sum(v * s.region)', 'min(s.opened), max(s.big)', 'count(s.name), count(s.hole), count(s.u)', 'avg(s.f), sum(s.r)', 'sum(s.f * facts.f)', 'bool_or(s.b AND facts.b)', 'sum(CASE WHEN s.hole > 1 THEN v ELSE 0 END)',
  'count(*) FILTER (WHERE s.b)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY s.rate)', 'count(DISTINCT s.hole)', 'sum(coalesce(s.hole, -1))', 'max(day - s.opened)';
check_joins('what depends on keys', 1, map {"SELECT s.id, s.name, s.rate, s.bare, s.u, s.kind, s.e, s.opened, s.id + s.region, count(*), sum(v) FROM facts $_ shops s ON shop = s.id GROUP BY s.id"} 'JOIN', 'LEFT JOIN');
# rows of so few shops come one by one, where a job of them is not worth it
check_joins('what depends on keys and is no key', $MgpuTest::LARGE ? 0 : 1, 'SELECT s.id, s.j::text, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY s.id');
check_joins('left', 1, 'SELECT s.name, count(*), count(s.id) FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1', 'SELECT s.region, sum(v), max(s.rate) FROM facts LEFT JOIN shops s ON shop = s.id AND s.b GROUP BY 1',
	'SELECT s.id IS NULL, count(*) FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1', 'SELECT coalesce(s.hole, 5), count(*) FROM facts LEFT JOIN shops s ON shop = s.id WHERE s.hole IS NULL OR s.hole > 2 GROUP BY 1');
check_joins('left, with a text instead', 1, "SELECT coalesce(s.name, 'a'), count(*) FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1", "SELECT coalesce(s.name, 'none of them, or one without a name'), s.region, sum(v) FROM facts LEFT JOIN shops s ON shop = s.id AND s.b GROUP BY 1, 2",
	"SELECT small, count(DISTINCT coalesce(s.name, '')), min(coalesce(s.name, 'shop 1') COLLATE \"C\") FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1");
check_joins('semi', 1, 'SELECT small, count(*), sum(v) FROM facts WHERE shop IN (SELECT id FROM twice) GROUP BY 1', 'SELECT small, count(*) FROM facts WHERE EXISTS (SELECT FROM twice t WHERE t.id = shop AND t.v > 70) GROUP BY 1',
	'SELECT small, count(*) FROM facts WHERE EXISTS (SELECT FROM pairs p WHERE p.a = shop AND p.b = item) GROUP BY 1');
check_joins('anti', 1, 'SELECT small, count(*), sum(v) FROM facts WHERE NOT EXISTS (SELECT FROM twice t WHERE t.id = shop) GROUP BY 1', 'SELECT small, count(*) FROM facts LEFT JOIN shops s ON shop = s.id WHERE s.id IS NULL GROUP BY 1',
	'SELECT small, count(*) FROM facts WHERE NOT EXISTS (SELECT FROM nulls n WHERE n.id = shop) GROUP BY 1');
check_joins('not in', 1, 'SELECT small, count(*) FROM facts WHERE shop NOT IN (SELECT id FROM twice) GROUP BY 1');

# keys
check_joins("key $_->[1]", 1, "SELECT x.$_->[2], count(*), sum(facts.v) FROM facts JOIN $_->[0] x ON $_->[1] GROUP BY 1")
  foreach [ 'shops', 'small = x.id', 'region' ], [ 'items', 'facts.item = x.id', 'price' ], [ 'items', 'shop = x.id', 'price' ], [ 'regions', 'small = x.id', 'label' ], [ 'countries', 'shop = x.id', 'label' ], [ 'countries', 'facts.item = x.id', 'label' ],
  [ 'items', 'facts.code = x.code', 'price' ], [ 'items', 'facts.price = x.price', 'id' ], [ 'days', 'facts.day = x.day', 'month' ], [ 'shops', 'facts.u = x.u', 'name' ], [ 'shops', 'shop + 1 = x.id', 'name' ], [ 'shops', 'v % 80 = x.id', 'name' ],
  [ 'pairs', 'x.a = shop AND x.b = item', 'x' ], [ '(SELECT DISTINCT ON (a, b, c) * FROM pairs)', 'x.a = shop AND x.b = item AND x.c = facts.code', 'd' ], [ 'pairs', 'x.a = shop AND x.b = item AND x.c = facts.code AND x.d = facts.day', 'x' ], [ 'nulls', 'shop = x.id', 'v' ],
  [ '(SELECT DISTINCT tag FROM facts)', 'x.tag = facts.tag', 'tag' ], [ '(SELECT DISTINCT pad, small % 2 AS m FROM facts WHERE pad < \'p5\')', 'x.pad = facts.pad AND x.m = facts.small % 2', 'm' ], [ '(SELECT DISTINCT e FROM shops WHERE e <> \'sad\')', 'x.e = facts.e', 'e' ],
  [ '(SELECT DISTINCT b FROM shops)', 'x.b = facts.b', 'b' ], [ '(SELECT region, id * 0.25 AS bare FROM shops OFFSET 0)', 'x.bare = facts.bare', 'region' ], [ '(SELECT DISTINCT ts FROM facts)', 'x.ts = facts.ts', 'ts' ], [ '(SELECT id * 2 AS twofold, max(name) AS name FROM shops GROUP BY 1)', 'x.twofold = shop', 'name' ];
check_joins('keys that no job has', 0, 'SELECT s.name, count(*) FROM facts JOIN shops s ON facts.f = s.f GROUP BY 1', 'SELECT s.name, count(*) FROM facts JOIN shops s ON facts.price = s.rate GROUP BY 1');

# conditions, on both sides and above
check_joins("condition $_", 1, "SELECT s.region, count(*), sum(v) FROM facts JOIN shops s ON shop = s.id WHERE $_ GROUP BY 1", "SELECT s.region, count(*), sum(v) FROM facts LEFT JOIN shops s ON shop = s.id WHERE $_ GROUP BY 1")
  foreach 'v > 0', 's.b', "s.name LIKE '%1'", 'v > s.region * 100', 's.rate < price', "facts.code LIKE '%7' AND s.hole IS NOT NULL", 's.opened < facts.day - 3650', 'facts.e = s.e', 'facts.b OR s.b', "s.name = 'shop 7'";
check_joins("texts of a build and of rows: $_", 1, "SELECT s.region, count(*), sum(v) FROM facts JOIN shops s ON shop = s.id WHERE $_ GROUP BY 1", "SELECT small, count(*) FILTER (WHERE $_) FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1")
  foreach "s.name = 'shop ' || v % 40", 's.name <> facts.code', 's.kind <> facts.pad', "facts.pad = 'p' || s.region", 'facts.tag <> s.name', "s.kind = 'k' || s.region OR s.name <> facts.tag", "s.kind <> facts.code || facts.code || facts.code";
check_joins('texts of two builds', 2, 'SELECT small, count(*), count(*) FILTER (WHERE s.name <> i.code) FROM facts JOIN shops s ON shop = s.id LEFT JOIN items i ON item = i.id GROUP BY 1',
	"SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id JOIN items i ON item = i.id WHERE s.name = replace(i.code, 'code', 'shop') OR s.kind <> i.code GROUP BY 1");
check_joins('joined by more', 1, 'SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id AND price > s.rate AND facts.b <> s.b GROUP BY 1');
check_joins('outer joined by more', 1, 'SELECT s.region, count(*) FROM facts LEFT JOIN shops s ON shop = s.id AND price > s.rate GROUP BY 1', 'SELECT small, count(*) FROM facts WHERE EXISTS (SELECT FROM twice t WHERE t.id = shop AND t.v > facts.v) GROUP BY 1');
check_joins("of a build's texts: $_", 1, "SELECT small, $_ FROM facts JOIN shops s ON shop = s.id GROUP BY 1", "SELECT small, $_ FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1")
  foreach "sum(CASE WHEN s.name LIKE '%1' THEN v ELSE 0 END)", "count(*) FILTER (WHERE s.name = 'shop 7' OR s.kind = 'k3')", "sum(length(s.name))", "count(*) FILTER (WHERE s.kind IN ('k1', 'k4  ') AND s.region + v > 0)", "bool_or(s.y = decode('0007', 'hex'))";
check_joins("of a build's texts, computed whether there is a row or not: $_", 1, "SELECT small, count(*) FILTER (WHERE $_) FROM facts JOIN shops s ON shop = s.id GROUP BY 1")
  foreach "coalesce(s.name, 'none') = 'none'", "s.name IS DISTINCT FROM 'shop 3'", "nullif(s.name, 'shop 3') IS NULL";
check_joins("of a build's texts, of rows that may be missing: $_", 0, "SELECT small, count(*) FILTER (WHERE $_) FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1")
  foreach "coalesce(s.name, 'none') = 'none'", "s.name IS DISTINCT FROM 'shop 3'";
check_joins("computed of a build: $_", 1, "SELECT $_, count(*), sum(v) FROM facts JOIN shops s ON shop = s.id GROUP BY 1", "SELECT $_, count(*), sum(v) FROM facts LEFT JOIN shops s ON shop = s.id GROUP BY 1")
  foreach 'substr(s.name, 6)', 's.id % 4', "s.name < 'shop 2'", "date_trunc('month', s.opened)", 's.rate * 2';
check_plans($session, 'a constant of a subquery, behind a condition', sub { return 1; }, 'SELECT small, sum(100 / c) FILTER (WHERE c <> 0), count(*) FROM facts LEFT JOIN (SELECT id, 0 AS c FROM shops OFFSET 0) s ON shop = s.id GROUP BY 1',
	'SELECT small, sum(100 / c) FILTER (WHERE c <> 0), count(c) FROM facts LEFT JOIN (SELECT id, 0 AS c FROM shops) s ON shop = s.id GROUP BY 1', 'SELECT small, sum(CASE WHEN c <> 0 THEN 100 / c END), count(*) FROM (SELECT small, 0 AS c FROM facts WHERE v > 5) q GROUP BY 1');
check_joins('texts of a build beside those of rows', 0, "SELECT small, sum(CASE s.name WHEN 'shop 3' THEN 1 WHEN facts.code THEN 2 END) FROM facts JOIN shops s ON shop = s.id GROUP BY 1", "SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id WHERE s.name > facts.code GROUP BY 1");

# stars and snowflakes
my $snow = 'facts JOIN shops s ON shop = s.id JOIN regions r ON s.region = r.id';
check_joins('snowflake of two', 2, "SELECT r.label, count(*), sum(v * r.country) FROM $snow GROUP BY 1");
check_joins('snowflake of three', 3, "SELECT c.label, r.label, s.kind, count(*), sum(price * s.rate) FROM $snow JOIN countries c ON r.country = c.id GROUP BY 1, 2, 3", "SELECT c.label, sum(v) FROM facts LEFT JOIN shops s ON shop = s.id LEFT JOIN regions r ON s.region = r.id LEFT JOIN countries c ON r.country = c.id GROUP BY 1");
check_joins('star of four', 4, 'SELECT s.name, d.month, i.price, n.v % 5, count(*), sum(facts.v) FROM facts JOIN shops s ON shop = s.id JOIN days d ON facts.day = d.day JOIN items i ON item = i.id JOIN nulls n ON n.id = small WHERE d.holiday AND s.hole > 0 GROUP BY 1, 2, 3, 4');
check_joins('self-join', 1, 'SELECT b.small, count(*) FROM facts a JOIN facts b ON a.v + 600 = b.id GROUP BY 1');
check_joins('kinds together', 3, 'SELECT s.name, count(*), count(d.day) FROM facts JOIN shops s ON shop = s.id LEFT JOIN days d ON facts.day = d.day WHERE NOT EXISTS (SELECT FROM twice t WHERE t.id = shop) GROUP BY 1');

# PostgreSQL keeps no hash join of one process where workers are cheaper; a job is offered all the same
my @workers = ('SET max_parallel_workers_per_gather = 2', 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0');
run(@workers);
check_joins('beside workers', 1, 'SELECT s.name, count(*), sum(v) FROM facts JOIN shops s ON shop = s.id GROUP BY 1', 'SELECT s.name, count(*) FROM facts LEFT JOIN shops s ON shop = s.id AND s.b GROUP BY 1',
	'SELECT small, count(*) FROM facts WHERE EXISTS (SELECT FROM twice t WHERE t.id = shop AND t.v > 70) GROUP BY 1', 'SELECT small, count(*) FROM facts WHERE NOT EXISTS (SELECT FROM nulls n WHERE n.id = shop) GROUP BY 1', 'SELECT count(*), sum(v) FROM facts JOIN shops s ON shop = s.id WHERE s.b');
check_joins('a snowflake beside workers', 3, "SELECT c.label, r.label, s.kind, count(*), sum(price * s.rate) FROM $snow JOIN countries c ON r.country = c.id GROUP BY 1, 2, 3");
check_joins('a large table that is written last beside workers', 2, 'SELECT r.label, count(*), sum(v) FROM regions r JOIN shops s ON s.region = r.id JOIN facts ON shop = s.id GROUP BY 1');
# first rows are not for two threads, but where thresholds are small
run('SET mgpu.cpu_threads = ' . sized(2, 4));
check_joins('rows beside workers', 1, 'SELECT facts.id, s.name, price FROM facts JOIN shops s ON shop = s.id ORDER BY price DESC, facts.id LIMIT 50', 'SELECT facts.id, s.name FROM facts LEFT JOIN shops s ON shop = s.id ORDER BY s.name, facts.id',
	'SELECT DISTINCT ON (s.region) s.region, facts.id FROM facts JOIN shops s ON shop = s.id ORDER BY s.region, facts.id DESC');
run('SET enable_hashjoin = off', 'SET enable_nestloop = on');
check_joins('hash joins are not wanted', 0, 'SELECT s.name, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY 1');
run('RESET enable_hashjoin', 'SET enable_nestloop = off');
run(map {s/SET (\w+) .*/RESET $1/r} @workers);

# tables without a unique index: statistics tell
run('CREATE TABLE plain_shops AS SELECT * FROM shops', 'ANALYZE plain_shops');
check_joins('no index proves that a key is unique', 1, 'SELECT s.name, count(*), sum(v) FROM facts JOIN plain_shops s ON shop = s.id GROUP BY 1', 'SELECT s.name, count(s.id) FROM facts LEFT JOIN plain_shops s ON shop = s.id GROUP BY 1');
run('INSERT INTO plain_shops SELECT * FROM shops WHERE id = 7');
check_joins('nor is it unique any more', 1, 'SELECT s.region, count(*), sum(v) FROM facts JOIN plain_shops s ON shop = s.id GROUP BY 1', 'SELECT s.region, count(s.id) FROM facts LEFT JOIN plain_shops s ON shop = s.id GROUP BY 1');

# rows
check_joins("rows by $_", 1, "SELECT facts.id, s.name, s.rate, s.bare, s.u, price FROM facts JOIN shops s ON shop = s.id ORDER BY $_, facts.id", "SELECT facts.id, s.name, price FROM facts LEFT JOIN shops s ON shop = s.id ORDER BY $_, facts.id LIMIT 50",
	"SELECT * FROM (SELECT facts.id, s.name, row_number() OVER (PARTITION BY s.region ORDER BY $_, facts.id) AS place FROM facts LEFT JOIN shops s ON shop = s.id) q WHERE place <= 2")
  foreach 's.name', 's.rate DESC', 's.opened, v', 's.name DESC NULLS LAST, price', 's.u';
run('SET mgpu.cpu_threads = 2');

# sides without rows, sides that repeat keys, and those that are beyond programs or memory
check_joins('an empty side', 0, 'SELECT n.v, count(*) FROM facts JOIN none n ON shop = n.id GROUP BY 1');
check_joins('empty sides', 1, 'SELECT n.v, count(*) FROM facts LEFT JOIN none n ON shop = n.id GROUP BY 1', 'SELECT small, count(*) FROM facts WHERE NOT EXISTS (SELECT FROM none n WHERE n.id = shop) GROUP BY 1');
check_joins('repeated keys', 1, 'SELECT t.v, count(*) FROM facts JOIN twice t ON shop = t.id GROUP BY 1');
check_joins('repeated keys beside others', 2, 'SELECT t.v, s.name, count(*) FROM facts LEFT JOIN twice t ON small = t.id JOIN shops s ON shop = s.id GROUP BY 1, 2');
check_joins('repeats that are filtered', 1, 'SELECT t.v, count(*) FROM facts JOIN (SELECT * FROM twice WHERE v > 50) t ON shop = t.id GROUP BY 1');
run("UPDATE odd SET label = repeat('long', 50) WHERE id = 7", "UPDATE odd SET n = 'NaN' WHERE id = 8");
check_joins('a text that is longer than expected', 1, 'SELECT o.label, count(*) FROM facts JOIN odd o ON shop = o.id GROUP BY 1');
check_joins('values beyond programs', 0, 'SELECT o.id, sum(o.n) FROM facts JOIN odd o ON shop = o.id GROUP BY 1');
check_joins('that nobody asks for', 1, 'SELECT o.id, count(o.n) FROM facts JOIN (SELECT id, n FROM odd WHERE id <> 8) o ON shop = o.id GROUP BY 1');
run("SET work_mem = '100kB'", 'SET hash_mem_multiplier = 1');
check_joins('a side larger than memory, which is read once', 0, 'SELECT p.x % 7, count(*) FROM facts JOIN (SELECT a, b, max(x) AS x FROM pairs GROUP BY 1, 2) p ON p.a = shop AND p.b = item GROUP BY 1');
run('CREATE TABLE swollen (id int PRIMARY KEY, v int) WITH (autovacuum_enabled = off)', 'INSERT INTO swollen VALUES (1, 1)', 'ANALYZE swollen', 'INSERT INTO swollen SELECT i, i % 7 FROM generate_series(2, 40000) i');
# with sizes of use, what a job has beside its rows takes that memory: PostgreSQL's own plan runs
check_joins('one that is larger than expected', sized(1, 0), 'SELECT w.v, count(*) FROM facts JOIN swollen w ON shop = w.id GROUP BY 1');
check_joins('one of several', sized(2, 0), 'SELECT w.v, s.name, count(*) FROM facts JOIN shops s ON shop = s.id LEFT JOIN swollen w ON small = w.id GROUP BY 1, 2');
check_joins('one that fits', 1, 'SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY 1');
run('RESET work_mem', 'RESET hash_mem_multiplier', "INSERT INTO facts (id, shop, v, small) VALUES (0, 5, 2147483647, 1)");
check_joins('a fault above a join', 0, 'SELECT s.region, sum(v + s.id) FROM facts JOIN shops s ON shop = s.id GROUP BY 1');
is($session->{state}, '22003', 'is an error');
check_joins('that a join drops', 1, 'SELECT s.region, sum(v + s.id) FROM facts JOIN (SELECT * FROM shops WHERE id <> 5) s ON shop = s.id GROUP BY 1');
run('DELETE FROM facts WHERE id = 0');

# sides that jobs of their own read
sub check_sides
{
	my ($name, $num_sides, @queries) = @_;

	check_plans($session, "$name: $num_sides sides", sub { return $_[0] =~ /Executor: $_[1]\n.*Sides Read as Pages: $num_sides\n/s; }, @queries);
	return;
}
my $stores = sized(500, 30_000);
run('CREATE TABLE stores (id int, name text COLLATE "C", area int, n numeric(9,2), bare numeric, f float8, r float4, u uuid, ts timestamptz, b bool, kind char(4), small int2)',
	"INSERT INTO stores SELECT i, CASE WHEN i % 11 > 0 THEN 'store ' || i % 40 END, nullif(i % $stores, 3), nullif(i % 9, 4) / 4.0, round((i % 9) / 2.0, i % 3), sqrt(i), ln(i)::float4, md5((i % 59)::text)::uuid, timestamptz '2020-01-01' + i * interval '1 hour', i % 3 = 0, 'k' || i % 5, i % 7 FROM generate_series(1, $stores) i",
	'CREATE TABLE areas (id int PRIMARY KEY, label text, country int)', "INSERT INTO areas SELECT i, 'area ' || i % 17, i % 3 FROM generate_series(0, $stores) i", 'ALTER TABLE stores ADD PRIMARY KEY (id)', 'VACUUM ANALYZE stores, areas');
check_sides("a column $_", 1, "SELECT s.$_, count(*), sum(v) FROM facts JOIN stores s ON shop = s.id GROUP BY 1", "SELECT s.$_, count(*), count(s.id) FROM facts LEFT JOIN stores s ON facts.id = s.id AND s.b GROUP BY 1")
  foreach 'name', 'area', 'n', 'f', 'r', 'u', 'ts', 'b', 'kind', 'small';
check_sides("computed $_", 1, "SELECT small, $_ FROM facts JOIN stores s USING (id, small) GROUP BY 1", "SELECT shop, $_ FROM facts JOIN stores s ON shop = s.id WHERE s.name LIKE 'store 1%' OR s.area < 40 GROUP BY 1")
  foreach 'sum(s.bare), avg(s.bare)', 'sum(s.n * price)', 'min(s.name), max(s.ts)', "count(*) FILTER (WHERE s.name LIKE '%7' AND s.kind = 'k2')", 'max(s.f), min(s.r)', 'count(DISTINCT s.u)';
check_sides('keys', 1, 'SELECT s.area, count(*) FROM facts JOIN stores s ON facts.id = s.id AND facts.small % 7 = s.small GROUP BY 1', 'SELECT small, count(*) FROM facts WHERE EXISTS (SELECT FROM stores s WHERE s.u = facts.u AND s.b) GROUP BY 1',
	'SELECT small, count(*) FROM facts WHERE NOT EXISTS (SELECT FROM stores s WHERE s.n = facts.price) GROUP BY 1');
run('SET join_collapse_limit = 1');
check_sides('a side that is a join', 1, "SELECT a.label, s.name, count(*), sum(v), count(s.n) FROM facts JOIN (stores s $_ areas a ON s.area = a.id) ON shop = s.id GROUP BY 1, 2", "SELECT a.label, count(*), count(s.id) FROM facts LEFT JOIN (stores s $_ areas a ON s.area = a.id AND a.country < 2) ON facts.id = s.id GROUP BY 1")
  foreach 'JOIN', 'LEFT JOIN';
check_sides('sides of both kinds', 2, 'SELECT r.label, d.month, count(*), sum(v) FROM facts JOIN days d ON facts.day = d.day JOIN (stores s JOIN regions r ON s.small = r.id) ON facts.id = s.id GROUP BY 1, 2') unless sized(0, 1);
run('RESET join_collapse_limit', 'CREATE TABLE store_parts (LIKE stores) PARTITION BY RANGE (id)', (map { sprintf 'CREATE TABLE store_parts_%d PARTITION OF store_parts FOR VALUES FROM (%d) TO (%d)', $_, $_ * $stores / 2, ($_ + 1) * $stores / 2 } 0 .. 2),
	'INSERT INTO store_parts SELECT * FROM stores', 'VACUUM ANALYZE store_parts');
check_sides('partitions', 1, 'SELECT s.name, count(*), sum(v) FROM facts JOIN store_parts s ON facts.id = s.id GROUP BY 1', "SELECT s.name, count(*), sum(v) FROM facts JOIN store_parts s ON facts.id = s.id WHERE s.id < $stores * 4 / 5 GROUP BY 1");
run("UPDATE stores SET name = repeat('x', 40) WHERE id = 77");
check_sides('a text longer than its column says', 0, 'SELECT s.name, count(*) FROM facts JOIN stores s ON facts.id = s.id GROUP BY 1');
check_sides('beside one that is read by a job', 1, 'SELECT s.name, d.month, count(*) FROM facts JOIN stores s ON facts.id = s.id JOIN items d ON facts.item = d.id GROUP BY 1, 2' =~ s/month/price/r) unless $stores > 20_000;
run("UPDATE stores SET name = 'store', f = '-0' WHERE id = 77");
check_sides('a negative zero', 0, 'SELECT s.area, count(*) FILTER (WHERE s.f < facts.f) FROM facts JOIN stores s ON facts.id = s.id GROUP BY 1');
check_sides('that nobody asks for', 1, 'SELECT s.area, count(*) FROM facts JOIN stores s ON facts.id = s.id GROUP BY 1');
run('SET mgpu.enable_threads = off', 'SET mgpu.executor = gpu');
unlike($session->analyze('SELECT s.area, count(*) FROM facts JOIN stores s ON facts.id = s.id GROUP BY 1'), qr/Sides Read as Pages: 1/, 'without threads');
run('RESET mgpu.enable_threads', 'DELETE FROM stores WHERE id % 5 = 0', 'UPDATE stores SET small = small + 1 WHERE id % 5 = 1');
check_sides('changed rows', 1, 'SELECT s.small, count(*), sum(v) FROM facts JOIN stores s ON facts.id = s.id GROUP BY 1');
check_sides('a subquery that is run again', 1, "SELECT g, q.* FROM generate_series(1, 5) g, LATERAL (SELECT s.small, count(*), sum(v) FROM facts JOIN (SELECT * FROM stores WHERE area > g * 9) s ON facts.id = s.id GROUP BY 1) q ORDER BY 1, 2");

# parameters, rescans, cursors
run('SET plan_cache_mode = force_generic_plan', 'PREPARE p (int, numeric) AS SELECT s.name, count(*), sum(v + $1) FROM facts JOIN (SELECT * FROM shops WHERE rate > $2) s ON shop = s.id WHERE v > $1 GROUP BY 1');
check_joins('parameters', 1, 'EXECUTE p (5, 2.5)', 'EXECUTE p (-1000, 0)', 'EXECUTE p (NULL, 0)');
run('RESET plan_cache_mode');
check_joins('a subquery that is run again', 1, "SELECT g, q.* FROM generate_series(1, 5) g, LATERAL (SELECT s.region, count(*), sum(v) FROM facts JOIN shops s ON shop = s.id GROUP BY 1) q ORDER BY 1, 2");
check_joins("with a parameter in $_->[0], $_->[1]", 1, "SELECT g, q.* FROM generate_series(1, 5) g, LATERAL (SELECT s.region, count(*), sum(v) FROM facts JOIN (SELECT * FROM shops WHERE id > g * 9 OR $_->[0]) s ON shop = s.id WHERE v > 10 OR $_->[1] GROUP BY 1) q ORDER BY 1, 2")
  foreach [ 'false', 'false' ], [ 'id = g', 'false' ], [ 'b', 'v < g' ];
run('SET mgpu.executor = cpu');
my $repeats = 'SELECT g, q.* FROM generate_series(0, 2) g, LATERAL (SELECT t.v % 3 AS rest, count(*), sum(facts.v) FROM facts JOIN (SELECT * FROM twice WHERE v > 30 * g) t ON shop = t.id GROUP BY 1) q ORDER BY 1, 2';
is($session->answer_by('force', $repeats), $session->answer_by('off', $repeats), 'a job in turns, and PostgreSQL\'s join in others');
$session->favour('force');
run('BEGIN', 'DECLARE c SCROLL CURSOR FOR SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY 1 ORDER BY 1');
my $forth = $session->query('FETCH ALL FROM c');
is(join("\n", reverse split /\n/, $session->query('FETCH BACKWARD ALL FROM c')), $forth, 'a cursor goes back');
run('COMMIT');

# wrong statistics; tables that change; partitions that stream
run('CREATE TABLE grown (id int PRIMARY KEY, v int) WITH (autovacuum_enabled = off)', 'INSERT INTO grown VALUES (1, 1)', 'ANALYZE grown', 'INSERT INTO grown SELECT i, i % 7 FROM generate_series(2, 95) i');
check_joins('wrong statistics', 1, 'SELECT g.v, count(*) FROM facts JOIN grown g ON shop = g.id GROUP BY 1');
run('DELETE FROM grown WHERE id % 3 = 0', 'UPDATE grown SET v = v + 1 WHERE id % 3 = 1', 'UPDATE facts SET v = v + 1 WHERE id % 100 = 1', 'DELETE FROM facts WHERE id % 50 = 3');
check_joins('changed tables', 1, 'SELECT g.v, count(*), sum(facts.v) FROM facts JOIN grown g ON shop = g.id GROUP BY 1');
run('CREATE TABLE parts (id int, shop int, v int) PARTITION BY RANGE (id)', (map { sprintf 'CREATE TABLE parts_%d PARTITION OF parts FOR VALUES FROM (%d) TO (%d)', $_, $_ * 1000, ($_ + 1) * 1000 } 0 .. 3), 'CREATE TABLE parts_rest PARTITION OF parts DEFAULT',
	'INSERT INTO parts SELECT id, shop, v FROM facts', 'VACUUM ANALYZE parts');
check_joins('partitions', 1, 'SELECT s.name, count(*), sum(v) FROM parts JOIN shops s ON shop = s.id GROUP BY 1', 'SELECT s.region, count(*) FROM parts LEFT JOIN shops s ON shop = s.id WHERE parts.id < 2500 GROUP BY 1');
check_joins('partitions in a snowflake', 2, 'SELECT r.label, max(v) FROM parts JOIN shops s ON shop = s.id JOIN regions r ON s.region = r.id GROUP BY 1');

run('SET mgpu.executor = gpu');
like($session->analyze('SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY 1'), qr/Joins: 1 looked up\n.*Rows Built: 90\n.*Hash Join \(actual rows=[\d.]+ loops=1\).*Hash \(never executed\)\n.*Seq Scan on shops s \(actual rows=90(?:\.00)? loops=1\)/s, 'EXPLAIN');
$session->favour('force');
ok(is_planned_for_gpu($session, $_), "the planner knows: $_")
  foreach 'SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY 1', 'SELECT r.label, sum(v) FROM facts JOIN shops s ON shop = s.id LEFT JOIN regions r ON s.region = r.id WHERE s.b AND v > s.hole GROUP BY 1',
  'SELECT small, count(*) FROM facts WHERE NOT EXISTS (SELECT FROM twice t WHERE t.id = shop) GROUP BY 1', 'SELECT s.name, count(*) FROM parts JOIN shops s ON shop = s.id GROUP BY 1', 'SELECT facts.id, s.name FROM facts JOIN shops s ON shop = s.id ORDER BY s.name, facts.id';
ok(is_planned_for_gpu($session, $_), "also: $_")
  foreach 'SELECT t.v, count(*) FROM facts JOIN twice t ON shop = t.id GROUP BY 1', 'SELECT s.region, count(*) FROM facts LEFT JOIN shops s ON shop = s.id AND price > s.rate GROUP BY 1',
  'SELECT s.region, count(*) FROM shops s LEFT JOIN facts ON shop = s.id GROUP BY 1';
ok(!is_planned_for_gpu($session, $_), "no job: $_")
  foreach "SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id WHERE s.name > facts.code GROUP BY 1";
run('SET mgpu.enable_columns = off');
check_joins('without columns', 0, 'SELECT s.region, count(*) FROM facts JOIN shops s ON shop = s.id GROUP BY 1');
run('RESET mgpu.enable_columns');
ok(service_is_idle($node), 'nothing is left in the service');

$session->close;
done_testing();
