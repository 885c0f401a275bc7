# A table on three shards, read by postgres_fdw: the page docs/scale-out.md, the
# same answers as on one server, and which aggregates the shards compute.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $coordinator = new_node('coordinator');
if (!$coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}))
{
	$coordinator->stop;
	plan skip_all => 'postgres_fdw is not installed';
}
my @shards = map { new_node("shard$_") } 1 .. 3;

# ------------------------------------------------------------------------ the page

my $page = slurp_file("$FindBin::Bin/../../docs/scale-out.md");
my $here = PostgreSQL::Test::Utils::tempdir() . '/scale-out.md';

my ($on_shards) = $page =~ /^```sql\n-- on each shard\n(.*?)^```$/ms or die 'the page has nothing for the shards';
$_->safe_psql('postgres', "DROP EXTENSION mgpu_pg; $on_shards") foreach @shards;
$page =~ s/host 'shard(\d)'/"host '" . $shards[$1 - 1]->host . "', port '" . $shards[$1 - 1]->port . "', dbname 'postgres'"/ge;
append_to_file($here, $page);
{
	local $ENV{PGHOST} = $coordinator->host;
	local $ENV{PGPORT} = $coordinator->port;
	local $ENV{PGDATABASE} = 'postgres';
	my $said = `$^X $FindBin::Bin/../doc_examples.pl --on-coordinator $here 2>&1`;

	like($said, qr/^[1-9]\d* passed, 0 failed$/m, 'the page gives what it says') or diag($said);
}

# ------------------------------------------------------------------------- answers

# more rows: NULLs, NaN, -0, and values that occur several times; the same in a table of the coordinator
$coordinator->safe_psql('postgres', q{
	INSERT INTO readings SELECT i % 97, 'site ' || i % 7, CASE i % 50 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' ELSE i * 7919::bigint % 10007 / 8.0 END
	FROM generate_series(1, 20000) i;
	CREATE TABLE local_readings AS TABLE readings;
	ANALYZE readings, local_readings});
is($coordinator->safe_psql('postgres', 'SELECT count(DISTINCT tableoid), count(*) FROM readings'), '3|20900', 'three shards hold the rows');

sub plan_of
{
	my ($query, $settings) = @_;

	return $coordinator->safe_psql('postgres', ($settings // '') . "EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# Sent: a call in a query that groups by the partition key, and how it is sent.
my @sent = (
	[ 'mgpu_sort_agg(value)', 'mgpu_sort_agg(value)' ],
	[ 'mgpu_sort_agg(value, true, false)', 'mgpu_sort_agg(value, true, false)' ],
	[ 'mgpu_sort_agg_by(site, value)', 'mgpu_sort_agg_by(site, value)', 'ties' ],
	[ 'mgpu_sort_agg(site)', 'mgpu_sort_agg(site)' ],
	[ 'mgpu_percentile_cont(value, 0.5)', 'mgpu_percentile_cont(value, 0.5::double precision)' ],
	[ 'mgpu_percentile_cont(device, ARRAY[0.1, 0.9])', 'mgpu_percentile_cont(device, ' ],
	[ 'mgpu_percentile_cont(value, device / 100.0)', 'mgpu_percentile_cont(value, ' ],
	[ 'mgpu_percentile_disc(site, 0.25)', 'mgpu_percentile_disc(site, ' ],
	[ '(mgpu_sort_agg(value, true))[1:3]', '(public.mgpu_sort_agg(value, true))[1:3]' ],
	[ 'mgpu_sort_agg(DISTINCT site)', 'mgpu_sort_agg(DISTINCT site)' ],
	[ 'mgpu_sort_agg(value) FILTER (WHERE value > 3)', 'mgpu_sort_agg(value) FILTER (WHERE ' ],
	[ 'mgpu_sort_agg_by(value, site ORDER BY site, value)', 'mgpu_sort_agg_by(value, site ORDER BY ' ]);

foreach (@sent)
{
	my ($call, $remote, $ties) = @$_;
	# rows of the local table lie in another order, which ties show
	my $what = $ties ? "(SELECT array_agg(x ORDER BY x) FROM unnest($call) x)" : $call;
	my $query = "SELECT device, $what FROM readings GROUP BY device";
	my $plan = plan_of("SELECT device, $call FROM readings GROUP BY device");

	is(scalar(() = $plan =~ /Async Foreign Scan/g), 3, "$call: the shards run at once");
	is(scalar(() = $plan =~ /Remote SQL: SELECT device, .*\Q$remote\E/g), 3, 'and aggregate');
	is($coordinator->safe_psql('postgres', "$query ORDER BY 1"),
		$coordinator->safe_psql('postgres', $query =~ s/readings/local_readings/r . ' ORDER BY 1'), 'as one server does');
}
like(plan_of('SELECT device, mgpu_sort_agg(value) FROM readings GROUP BY device HAVING mgpu_percentile_cont(value, 0.5) > 3'),
	qr/Remote SQL: .* HAVING \(\(public\.mgpu_percentile_cont/, 'HAVING is sent');
like($shards[0]->safe_psql('postgres', 'EXPLAIN SELECT device, mgpu_sort_agg(value) FROM readings GROUP BY device'),
	qr/MgpuGroup/, 'the shard has the node, with nothing preloaded');

# Not sent: the reason, the query, settings.
$coordinator->safe_psql('postgres', q{
	CREATE TYPE color AS ENUM ('red', 'blue');
	CREATE FOREIGN TABLE colors (device int, site color) SERVER shard1 OPTIONS (table_name 'readings')});
foreach (
	[ 'another collation', 'SELECT device, mgpu_sort_agg(site COLLATE "C") FROM readings GROUP BY device' ],
	[ 'a volatile function', 'SELECT device, mgpu_sort_agg(value * random()) FROM readings GROUP BY device' ],
	[ 'a stable function', 'SELECT device, mgpu_sort_agg(now()) FROM readings GROUP BY device' ],
	[ 'an enum', 'SELECT device, mgpu_sort_agg(site) FROM colors GROUP BY device' ],
	[ 'ROLLUP', 'SELECT device, mgpu_sort_agg(value) FROM readings GROUP BY ROLLUP (device)' ],
	[ 'not by the partition key', 'SELECT site, mgpu_sort_agg(value) FROM readings GROUP BY site' ],
	[ 'not by partition', 'SELECT device, mgpu_sort_agg(value) FROM readings GROUP BY device', 'SET enable_partitionwise_aggregate = off;' ])
{
	my ($reason, $query, $settings) = @$_;

	unlike(plan_of($query, $settings), qr/Remote SQL: .*mgpu_/, "not sent: $reason");
}
like(plan_of('SELECT site, mgpu_sort_agg(value) FROM readings_1 GROUP BY site'), qr/Remote SQL: .*mgpu_sort_agg/, 'one foreign table: any groups');

# ---------------------------------------------------------- groups on many shards

my $merged = 'SELECT site, mgpu_merge_agg(a) FROM sorted_readings';
my $plan = plan_of("$merged WHERE site = 'site 3' GROUP BY site");
is(scalar(() = $plan =~ /Remote SQL: SELECT site, public\.mgpu_sort_agg\(value\) FROM .* WHERE/g), 3, 'the shards sort what the condition leaves');
SKIP:
{
	skip 'UNION ALL is not asynchronous before PostgreSQL 15', 1
	  if $coordinator->safe_psql('postgres', 'SHOW server_version_num') < 150000;
	is(scalar(() = $plan =~ /Async Foreign Scan/g), 3, 'at once');
}
my $one = $coordinator->safe_psql('postgres', 'SELECT site, mgpu_sort_agg(value + 0) FROM local_readings GROUP BY site ORDER BY site');
is($coordinator->safe_psql('postgres', "SELECT site, (SELECT array_agg(x + 0) FROM unnest(mgpu_merge_agg) x) FROM ($merged GROUP BY site) q ORDER BY site"),
	$one, 'merged arrays are those of one server');
is($coordinator->safe_psql('postgres', q{SELECT site, mgpu_merge_agg(a) FROM
	(SELECT site, device, mgpu_sort_agg(value + 0) AS a FROM readings GROUP BY site, device) s GROUP BY site ORDER BY site}), $one, 'by way of the partition key, too');
foreach my $fraction (0, 0.1, 0.5, 0.9, 1)
{
	is($coordinator->safe_psql('postgres', qq{
		SELECT site, a[greatest(1, ceil($fraction\::float8 * cardinality(a)))::int], (SELECT mgpu_percentile_cont(x, $fraction) FROM unnest(a) x)
		FROM (SELECT site, mgpu_merge_agg(a) AS a FROM (SELECT site, device, mgpu_sort_agg(value) FILTER (WHERE value IS NOT NULL) AS a
			FROM readings GROUP BY site, device) s GROUP BY site) q ORDER BY site}),
		$coordinator->safe_psql('postgres', qq{
		SET mgpu.enable_group = off;
		SELECT site, percentile_disc($fraction) WITHIN GROUP (ORDER BY value), percentile_cont($fraction) WITHIN GROUP (ORDER BY value)
		FROM local_readings GROUP BY site ORDER BY site}), "percentile $fraction of merged arrays");
}

# -------------------------------------------------------------------- its settings

$shards[0]->safe_psql('postgres', q{CREATE VIEW executor AS SELECT current_setting('mgpu.executor', true) AS executor, current_setting('work_mem') AS work_mem});
$coordinator->safe_psql('postgres', q{CREATE FOREIGN TABLE executor (executor text, work_mem text) SERVER shard1});
is($coordinator->safe_psql('postgres', 'SELECT * FROM executor'), 'cpu|256MB', 'the coordinator sends settings');
$coordinator->safe_psql('postgres', join(';', map {"ALTER SERVER shard$_ OPTIONS (ADD use_remote_estimate 'true')"} 1 .. 3));
is(scalar(() = plan_of('SELECT device, mgpu_sort_agg(value) FROM readings GROUP BY device') =~ /Remote SQL: .*mgpu_sort_agg/g), 3,
	'the shards estimate costs, and aggregate');

$_->stop foreach $coordinator, @shards;
done_testing();
