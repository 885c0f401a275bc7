# Parallel plans run the functions in their workers; many sessions at once do
# not disturb each other.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('parallel', conf => [ 'max_worker_processes = 16', 'max_parallel_workers = 8' ]);

$node->safe_psql('postgres', q{
	CREATE TABLE wide AS SELECT g, array_agg((i::bigint * g * 48271 % 2147483647)::int) AS a, array_agg((i * g % 97)::float8) AS f
		FROM generate_series(1, 4000) g, generate_series(1, 60) i GROUP BY g;
	CREATE TABLE deep AS SELECT g, array_agg((i::bigint * g * 48271 % 2147483647)::int) AS a, array_agg((i * g % 97)::float8) AS f
		FROM generate_series(1, 8) g, generate_series(1, 100000) i GROUP BY g;
	ALTER TABLE wide SET (parallel_workers = 3);
	ALTER TABLE deep SET (parallel_workers = 3);
	ANALYZE;
});
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 3; SET parallel_leader_participation = off;';
my $serial = 'SET max_parallel_workers_per_gather = 0;';

foreach my $executor (executors($node))
{
	foreach my $table ('wide', 'deep')
	{
		my $query = "SELECT sum(hashtext(mgpu_sort(a)::text)::bigint), sum(hashtext(mgpu_argsort(f, true)::text)::bigint), sum(hashtext(mgpu_sort_by(a, f)::text)::bigint) FROM $table";
		my $plan = $node->safe_psql('postgres', "SET mgpu.executor = $executor; $parallel EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");
		my ($launched) = $plan =~ /Workers Launched: (\d+)/;

		like($plan, qr/Partial Aggregate/, "$executor, $table: sorts below the Gather");
		cmp_ok($launched // 0, '>=', 1, "$executor, $table: " . ($launched // 0) . ' workers took part');
		is($node->safe_psql('postgres', "SET mgpu.executor = $executor; $parallel $query"),
			$node->safe_psql('postgres', "SET mgpu.executor = cpu; $serial $query"), "$executor, $table: the same answer");
	}
	# debug_parallel_query (force_parallel_mode before 16) runs everything in a worker
	my $force = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('debug_parallel_query', 'force_parallel_mode')});
	is($node->safe_psql('postgres', "SET mgpu.executor = $executor; SET $force = on; SELECT mgpu_sort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) FROM deep WHERE g = 3"),
		't', "$executor: in a worker alone");
	is($node->safe_psql('postgres', "SET $force = on; SELECT count(*) > 0 FROM mgpu_last_run()"), 't', 'and mgpu_last_run stays in the leader');
}

# many sessions
foreach my $executor (executors($node))
{
	my @sessions = map { MgpuTest->session($node, options => "-c mgpu.executor=$executor") } 1 .. 8;
	my @right = split /\n/, $node->safe_psql('postgres', "SELECT md5(array_agg(x ORDER BY x)::text) FROM (SELECT g, unnest(a) AS x FROM deep) t GROUP BY g ORDER BY g");

	$sessions[$_]->send_query('SELECT md5(mgpu_sort(a)::text) FROM deep, generate_series(1, 5) WHERE g = ' . ($_ + 1)) for 0 .. $#sessions;
	my $wrong = grep { ($sessions[$_]->answer // '') ne join("\n", ($right[$_]) x 5) } 0 .. $#sessions;
	is($wrong, 0, "$executor: 8 sessions at once all get their own answers");
	$_->close for @sessions;
}

$node->stop;
done_testing();
