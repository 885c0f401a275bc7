# Plain SQL by MgpuGroup at its limits: who may run it, what row security hides, memory, files, timeouts,
# errors over and over, and other sessions that change rows meanwhile.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(min);
use MgpuMemory;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('plain_sql', conf => [ "session_preload_libraries = 'mgpu_pg'", 'mgpu.enable_group = force', 'max_parallel_workers_per_gather = 0', 'work_mem = 1GB' ]);

# a build with TEST_SIZES=yes compares many rows with each other, since its hashes are few
my $rows = sized(120_000, 2_000_000);
my $hashed = sized(20_000, $rows);
my $groups = $rows / 20;
my $part = $rows / 5;

$node->safe_psql('postgres', qq{
	SELECT setseed(0.5);
	CREATE UNLOGGED TABLE big AS
	SELECT i, (random() * $groups)::int AS g, md5((random() * $groups)::int::text) AS t, (random() * 1e9)::int AS v, (random() * 1e18)::int8 AS w,
	       random() AS f, (random() * 1000)::int AS few
	FROM generate_series(1, $rows) i;
	CREATE INDEX ON big (i);
	ANALYZE big});

# Each way in which the node runs an aggregate or finds groups: what is read of all groups' results, the
# grouped query, whose answer does not depend on the order of rows, and over how many rows, if not all.
my %ways = (
	'reduced' => [ 'sum(a), sum(b), max(c), sum(d)', 'SELECT sum(v) AS a, avg(w) AS b, max(v) AS c, count(*) AS d FROM big', 'GROUP BY g' ],
	'sorted' => [ 'sum(a), sum(b), sum(c)', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS a, percentile_disc(0.1) WITHIN GROUP (ORDER BY w DESC) AS b, mode() WITHIN GROUP (ORDER BY few) AS c FROM big', 'GROUP BY g' ],
	'counted distinct' => [ 'sum(a), sum(b)', 'SELECT count(DISTINCT v) AS a, count(DISTINCT t) AS b FROM big', 'GROUP BY g' ],
	'arrays' => [ 'sum(cardinality(a)), sum(hashtext(b::text)::bigint)', 'SELECT array_agg(t) AS a, array_agg(v ORDER BY w) AS b FROM big', 'GROUP BY g' ],
	'fed' => [ 'sum(length(a)), count(b)', q{SELECT string_agg(t, ',') AS a, stddev(f) AS b FROM big}, 'GROUP BY g' ],
	'fed in order' => [ 'sum(hashtext(a)::bigint), sum(b)', q{SELECT string_agg(t, ',' ORDER BY few DESC, i) AS a, sum(DISTINCT few) AS b FROM big}, 'GROUP BY g' ],
	'text keys' => [ 'sum(a), min(t), count(*)', 'SELECT t, sum(w) AS a FROM big', 'GROUP BY t' ],
	'many keys' => [ 'sum(a), count(*)', 'SELECT w, few, t, count(*) AS a FROM big', 'GROUP BY w, few, t', $hashed ],
	'filtered' => [ 'sum(a), sum(b)', 'SELECT sum(v) FILTER (WHERE few < 300) AS a, count(DISTINCT v % 100) FILTER (WHERE few > 700) AS b FROM big', 'GROUP BY g' ],
	'distinct' => [ 'count(*), sum(few), max(t)', 'SELECT DISTINCT t, few FROM big', '', $hashed ],
	'one group' => [ 'sum(a), sum(b), sum(length(c))', q{SELECT count(DISTINCT t) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY v) AS b, string_agg(t, '' ORDER BY i) AS c FROM big}, '' ]);

# The query of a way over so many rows, or fewer.
sub query_of
{
	my ($way, $most) = @_;
	my ($read, $select, $group, $own) = @{ $ways{$way} };

	return "SELECT $read FROM ($select WHERE i <= " . min($most // $rows, $own // $rows) . " $group) q";
}

sub session
{
	my (@options) = @_;
	my $session = MgpuTest->session($node, options => join(' ', map {"-c $_"} @options));

	$session->query('SELECT count(v), sum(few) FROM big');
	$session->query(query_of($_, 2000)) foreach keys %ways;
	return $session;
}

sub temporary_files
{
	my @files = glob($node->data_dir . '/base/pgsql_tmp/pgsql_tmp*');
	return scalar @files;
}

sub await_lock
{
	my ($session) = @_;

	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $session->{pid}") or die 'nobody waits';
	return;
}

# ------------------------------------------------------------------- who may run it

{
	$node->safe_psql('postgres', q{
		CREATE ROLE reader;
		CREATE ROLE maker;
		GRANT CREATE ON SCHEMA public TO maker;
		GRANT SELECT ON big TO reader;
		SET ROLE maker;
		CREATE AGGREGATE largest_of(int4) (SFUNC = int4larger, STYPE = int4);
		CREATE AGGREGATE spread_of(float8) (SFUNC = float8_accum, STYPE = float8[], FINALFUNC = float8_stddev_samp, INITCOND = '{0,0,0}')});
	my $session = session();
	my @revoked = (
		[ 'sum(int4)', 'sum(v)' ], [ 'min(int4)', 'min(v)' ], [ 'count(*)', 'count(*)' ], [ 'string_agg(text, text)', q{string_agg(t, '')} ],
		[ 'array_agg(anynonarray)', 'array_agg(v)' ], [ 'mode(anyelement)', 'mode() WITHIN GROUP (ORDER BY v)' ],
		[ 'percentile_cont(float8, float8)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY v)' ], [ 'count("any")', 'count(DISTINCT v)' ],
		# of the aggregate's owner, not of the user
		[ 'int4larger(int4, int4)', 'largest_of(v)' ], [ 'float8_stddev_samp(float8[])', 'spread_of(f)' ], [ 'float8_accum(float8[], float8)', 'spread_of(f)' ],
		# of the keys, at which a hashed plan looks only when it is executed
		[ 'int4eq(int4, int4)', 'sum(w)', 'executed' ]);

	foreach my $revoked (@revoked)
	{
		my ($function, $call, $when) = @$revoked;
		# at the start of the plan, whether or not it is executed
		my @statements = ("SELECT g, $call FROM big WHERE i < 0 GROUP BY g", $when ? () : "EXPLAIN SELECT g, $call FROM big GROUP BY g");
		my %said;

		$function =~ s/count\(\*\)/count()/;
		$session->query("REVOKE EXECUTE ON FUNCTION $function FROM public; SET ROLE reader");
		foreach my $mode ('off', 'force')
		{
			foreach my $statement (@statements)
			{
				$session->query("SET mgpu.enable_group = $mode; $statement");
				push @{ $said{$mode} }, "$session->{state} " . $session->{error} =~ s/^LOCATION.*//mr;
			}
		}
		like($said{force}[0], qr/^42501 .*permission denied for (aggregate|function) /, "$function revoked: an error");
		is_deeply($said{force}, $said{off}, "$function revoked: the error of PostgreSQL's nodes");
		$session->query("RESET ROLE; RESET mgpu.enable_group; GRANT EXECUTE ON FUNCTION $function TO public");
		like($session->query("SET ROLE reader; EXPLAIN SELECT g, $call FROM big WHERE i < 100 GROUP BY g; RESET ROLE"), qr/MgpuGroup/, "$function granted: the node");
		is($session->{error}, '', "$function granted: no error");
	}
	$session->close;
}

# ------------------------------------------------------- rows that are not for everyone

{
	$node->safe_psql('postgres', q{
		CREATE TABLE secrets AS SELECT i, i % 10 AS g, CASE WHEN i % 2 = 0 THEN 'reader' ELSE 'maker' END AS owner, i + 1000000 * (i % 2) AS v FROM generate_series(1, 1000) i;
		ANALYZE secrets;
		CREATE VIEW barrier WITH (security_barrier) AS SELECT i, g, v FROM secrets WHERE owner = 'reader';
		CREATE TABLE guarded AS TABLE secrets;
		ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
		CREATE POLICY own ON guarded USING (owner = current_user);
		GRANT SELECT ON barrier, guarded TO reader;
		-- tells what it sees, and seems to cost nothing
		CREATE FUNCTION leak(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'saw %', x; RETURN x; END $$;
		CREATE FUNCTION leak_if(x int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE NOTICE 'saw %', x; RETURN true; END $$});
	my $session = session();
	my @queries = ('SELECT g, sum(leak(v)) FROM % GROUP BY g', 'SELECT g, count(DISTINCT leak(v)) FROM % GROUP BY g', 'SELECT leak(v), count(*) FROM % GROUP BY 1',
		'SELECT g, sum(v) FILTER (WHERE leak_if(v)) FROM % GROUP BY g', 'SELECT DISTINCT leak(v) FROM %', 'SELECT g, array_agg(v ORDER BY leak(v)) FROM % WHERE leak_if(v) GROUP BY g', 'SELECT g, sum(v) FROM % GROUP BY g HAVING leak_if(sum(v)::int)');

	foreach my $relation ('barrier', 'guarded')
	{
		$session->query('SET ROLE reader');
		foreach my $query (map { s/%/$relation/r } @queries)
		{
			my $told = $session->query($query);
			my @seen = $told =~ /saw (\d+)/g;
			my $rows = join "\n", sort grep { /^[\d|{}, ]+$/ } split /\n/, $told;

			cmp_ok(scalar @seen, '>', 0, "$query: " . @seen . ' values were seen');
			is(scalar(grep { $_ > 1000000 } @seen), 0, "$query: none of a hidden row");
			like($session->query("EXPLAIN $query"), qr/MgpuGroup/, "$query: by the node");
			$told = $session->query("SET mgpu.enable_group = off; $query; RESET mgpu.enable_group");
			is($rows, join("\n", sort grep { /^[\d|{}, ]+$/ } split /\n/, $told), "$query: the rows of PostgreSQL's nodes");
		}
		$session->query('RESET ROLE');
	}
	$session->close;
}

# ------------------------------------------------------------------ spills, their files

# where a GPU reads the table, its groups are in one file
my $spilled = $ENV{MGPU_TEST_DEVICE} ? qr/(Spill Partitions|Executor: gpu\n.*Disk Usage): (\d+)/s : qr/(Spill Partitions): (\d+)/;

foreach my $way (sort keys %ways)
{
	next if $way eq 'one group';
	my $session = session('work_mem=64kB', 'mgpu.enable_threads=off');
	my $query = query_of($way, $part);
	my ($what, $number) = $session->query("EXPLAIN (ANALYZE, COSTS off, TIMING off) $query") =~ $spilled;

	cmp_ok($number // 0, '>', 1, "$way, work_mem 64kB: " . ($what ? "$number by " . $what =~ s/\n.*//sr : 'no file'));
	is($session->query($query), $session->query("SET mgpu.enable_group = off; SET work_mem = '1GB'; $query; RESET work_mem; RESET mgpu.enable_group"), "$way, work_mem 64kB: right");
	is(temporary_files(), 0, "$way: no file is left");
	$session->query("SET temp_file_limit = '200kB'; $query");
	is($session->{state}, '53400', "$way: temp_file_limit counts");
	is(temporary_files(), 0, "$way: and no file is left");
	isnt($session->query("RESET temp_file_limit; $query"), '', "$way: the session goes on");
	$session->close;
}

# ---------------------------------------------------------------------- memory bounds
#
# The limit, and 2 MB for what a process allocates anyway.

foreach my $way (sort keys %ways)
{
	next if $way eq 'one group';
	my $session = session('mgpu.executor=cpu', 'work_mem=1MB', 'hash_mem_multiplier=2');
	my $query = query_of($way);
	my $before = memory_kb($session->{pid}, 'VmHWM');

	isnt($session->query($query), '', "$way, work_mem 1MB: runs");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 2 * 1 + 2, sprintf('%s, work_mem 1MB: peak grew by %.1f MB', $way, $grown));
	$session->close;
}

# Values are decompressed one page after the other: here they are 50 MB, and 2 MB with each page.
$node->safe_psql('postgres', q{
	CREATE TABLE compressed AS SELECT i % 2 AS g, repeat('long ', 20000) || i % 2 AS t FROM generate_series(1, 500) i;
	ALTER TABLE compressed SET (parallel_workers = 1), ALTER t SET (n_distinct = 2);
	VACUUM ANALYZE compressed});
foreach my $way ('mgpu.enable_columns=on', 'mgpu.enable_columns=off', 'max_parallel_workers_per_gather=1')
{
	my $session = session('mgpu.executor=cpu', 'work_mem=1MB', 'hash_mem_multiplier=2', 'parallel_setup_cost=0', 'parallel_tuple_cost=0', $way);
	my %queries = ('keys' => [ 'SELECT sum(length(t)), sum(n) FROM (SELECT t, count(*) AS n FROM compressed GROUP BY t) q', '200002|500' ],
		'values' => [ 'SELECT sum(length(t)) FROM (SELECT g, max(t) AS t FROM compressed GROUP BY g) q', '200002' ]);
	my $before = memory_kb($session->{pid}, 'VmHWM');

	foreach my $what (sort keys %queries)
	{
		is($session->query($queries{$what}[0]), $queries{$what}[1], "compressed $what, $way: right");
		my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
		cmp_ok($grown, '<=', 2 * 1 + 6, sprintf('compressed %s, %s: peak grew by %.1f MB', $what, $way, $grown));
	}
	$session->close;
}

# Functions that hash and compare rows of numeric leave a copy of each number behind.
$node->safe_psql('postgres', q{
	CREATE TYPE eight AS (a numeric, b numeric, c numeric, d numeric, e numeric, f numeric, g numeric, h numeric);
	CREATE UNLOGGED TABLE eights AS SELECT i, (i % 2, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5)::eight AS k FROM generate_series(1, 40000) i;
	ANALYZE eights});
foreach my $aggregate ('count(*)', 'count(DISTINCT i)')
{
	my $session = session('mgpu.executor=cpu', 'work_mem=16MB', 'hash_mem_multiplier=1');
	my $before = memory_kb($session->{pid}, 'VmHWM');

	is($session->query("SELECT sum(n) FROM (SELECT k, $aggregate AS n FROM eights GROUP BY k) q"), '40000', "composite keys, $aggregate: right");
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 9, sprintf('composite keys, %s: peak grew by %.1f MB', $aggregate, $grown));
	$session->close;
}

# What transition functions return is copied, and freed: here it is up to 64 kB for each row.
$node->safe_psql('postgres', 'CREATE AGGREGATE joined (text) (SFUNC = textcat, STYPE = text)');
{
	my $session = session('mgpu.executor=cpu', 'work_mem=1MB', 'hash_mem_multiplier=2');
	my $query = 'SELECT sum(length(a)) FROM (SELECT i % 2, joined(md5(i::text)) AS a FROM big WHERE i <= 4000 GROUP BY 1) q';
	my $before = memory_kb($session->{pid}, 'VmHWM');

	is($session->query($query), '128000', 'states that are copied: right');
	my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
	cmp_ok($grown, '<=', 2 * 1 + 4, sprintf('states that are copied: peak grew by %.1f MB', $grown));
	$session->close;
}

# --------------------------------------------------------------------------- cancelled

foreach my $executor (executors($node))
{
	foreach my $way (sort keys %ways)
	{
		my $session = session("mgpu.executor=$executor");
		my $query = query_of($way);
		my $right = $session->query($query);

		check_timeouts($session, "$executor, $way", $query, 2, [ 2, 4, 6, 8 ]);
		is($session->query($query), $right, "$executor, $way: runs again");
		$session->close;
	}
}
{
	my $session = session('work_mem=256kB');
	my $other = MgpuTest->session($node);

	check_timeouts($session, "$_, spilled", query_of($_), 2, [ 2, 4, 6, 8 ]) foreach 'fed', 'text keys', 'distinct';
	check_cancels($session, $other, 'fed in order', query_of('fed in order'), 4);
	is(temporary_files(), 0, 'no file is left');
	$session->close;
	$other->close;
}

# ---------------------------------------------------------------- errors, over and over

# Each of them fails in a transition function, in an argument, or in a final function.
my @failing = ('sum(1.7e308::float8 + 0 * f)', 'sum(100 / (few - 500))', 'string_agg((100 / (few - 500))::text, t ORDER BY i)', 'array_agg(CASE WHEN few < 500 THEN ARRAY[1] ELSE ARRAY[1, 2] END)',
	'count(DISTINCT 100 / (few - 500))', 'percentile_cont(2) WITHIN GROUP (ORDER BY v)', 'jsonb_object_agg(nullif(few, 500), v)', 'sum(v::numeric) FILTER (WHERE 100 / (few - 500) > 0)');

foreach my $run (map { ([ $_, '1GB' ], [ $_, '64kB' ]) } executors($node))
{
	my ($executor, $work_mem) = @$run;
	my $session = session("mgpu.executor=$executor", "work_mem=$work_mem");
	my $all_fail = join '', map { my $call = $_ =~ s/'/''/gr; qq{
		BEGIN
			PERFORM count(x) FROM (SELECT $_ AS x FROM big WHERE i < 4000 GROUP BY few % 50) q;
			RAISE assert_failure USING MESSAGE = '$call';
		EXCEPTION WHEN data_exception THEN
			NULL;
		END; } } @failing;

	$session->query("DO \$\$BEGIN $all_fail END\$\$");
	is($session->{error}, '', "$executor, work_mem $work_mem: all fail that are meant to");
	check_again($session, "$executor, work_mem $work_mem", (map { query_of($_, 1000) } grep { !/one group|filtered|reduced/ } sort keys %ways),
		'SELECT a FROM (SELECT string_agg(t, \'\') AS a FROM big WHERE i <= 1000 GROUP BY g) q LIMIT 1', "DO \$\$BEGIN $all_fail RAISE division_by_zero; END\$\$");
	is(temporary_files(), 0, "$executor, work_mem $work_mem: no file is left");
	$session->close;
}

# --------------------------------------------------- other sessions, which change rows

{
	$node->safe_psql('postgres', q{
		CREATE TABLE accounts (id int PRIMARY KEY, least int);
		CREATE TABLE moves (id int, amount int);
		INSERT INTO accounts VALUES (1, 0), (2, 0), (3, 0);
		INSERT INTO moves SELECT i % 3 + 1, 10 FROM generate_series(1, 9) i});
	my $first = session();
	my $second = session();
	my $joined = 'SELECT id, least, total, times FROM accounts JOIN (SELECT id, sum(amount) AS total, count(DISTINCT amount) AS times FROM moves GROUP BY id) m USING (id) WHERE least <= total ORDER BY id FOR UPDATE OF accounts';
	my $lateral = 'SELECT id, least, total FROM accounts a, LATERAL (SELECT sum(amount) AS total FROM moves m WHERE m.id = a.id GROUP BY m.id) s WHERE least <= total ORDER BY id FOR UPDATE OF a';
	my $update = 'UPDATE accounts a SET least = least + 1 FROM (SELECT id, sum(amount) AS total FROM moves GROUP BY id) m WHERE m.id = a.id AND least <= total RETURNING a.id, least, total';

	# what waited for rows looks at their new versions, and at the groups as they were: row 1 no longer fits
	foreach my $run ([ 'a join', $joined, "2|5|30|1\n3|0|30|1" ], [ 'a lateral join', $lateral, "2|5|30\n3|0|30" ], [ 'an update', $update, "2|6|30\n3|1|30" ])
	{
		my ($name, $query, $right) = @$run;

		like($second->query("EXPLAIN $query"), qr/MgpuGroup/, "$name: the node");
		$first->query('UPDATE accounts SET least = 0');
		$first->query('BEGIN; UPDATE accounts SET least = CASE id WHEN 1 THEN 1000 ELSE 5 END WHERE id < 3; INSERT INTO moves VALUES (1, 5000)');
		$second->send_query($query);
		await_lock($second);
		$first->query('COMMIT');
		is(join("\n", sort split /\n/, $second->answer), $right, "$name: rows as they are now");
		is($second->{error}, '', "$name: no error");
		$first->query('DELETE FROM moves WHERE amount = 5000');
	}
	$first->query('UPDATE accounts SET least = 0');

	# rows that are locked below the node
	$first->query('BEGIN; UPDATE moves SET amount = 11 WHERE id = 1');
	$second->send_query('SELECT id, sum(amount), count(DISTINCT amount) FROM (SELECT * FROM moves ORDER BY id FOR UPDATE) m GROUP BY id ORDER BY id');
	await_lock($second);
	$first->query('COMMIT');
	is($second->answer, "1|33|1\n2|30|1\n3|30|1", 'rows locked below the node are new ones');

	# each reads what the other writes
	foreach my $mode ('off', 'force')
	{
		my @states;

		$_->query("SET mgpu.enable_group = $mode; BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT id, sum(amount), count(DISTINCT amount) FROM moves GROUP BY id") foreach $first, $second;
		$first->query('INSERT INTO moves VALUES (1, 1)');
		$second->query('INSERT INTO moves VALUES (2, 1)');
		foreach my $session ($first, $second)
		{
			$session->query('COMMIT');
			push @states, $session->{state};
		}
		is("@states", ' 40001', "enable_group $mode: the second of two that are not serializable fails");
		$_->query('ROLLBACK; RESET mgpu.enable_group') foreach $first, $second;
	}
	$first->close;
	$second->close;
}

# ----------------------------------------------------------------------- out of memory

# a stack that could not grow while a job runs would end the server
{
	my $session = session();

	cmp_ok(memory_kb($session->{pid}, 'VmStk'), '>=', 512, 'the stack that jobs need is there before they run');
	$session->close;
}
SKIP:
{
	skip 'no prlimit here', 1 unless system('command -v prlimit >/dev/null') == 0;
	check_starved($node, [ map { query_of($_, $part) } 'arrays', 'fed in order', 'text keys', 'counted distinct' ],
		[ map { $_ * sized(0.1, 1) } 1, 2, 4, 8, 16, 32, 64, 128, 256, 600 ], 4);
}

$node->stop;
done_testing();
