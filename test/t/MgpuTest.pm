# What mgpu_pg's TAP tests share: a node with the extension, sessions that live
# on while the test looks at their process, big arrays made quickly, and what is
# checked of many calls: how late they end, and what memory they take or leave.
package MgpuTest;

use strict;
use warnings;
use Exporter 'import';
use IO::Select;
use IPC::Open3;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw($LIMIT $MEGABYTE $LARGE sized tiered new_node new_service_node await_service await_sessions service_is_idle make_calls executors make_big make_type check_order memory_kb median duration
	check_timeouts check_cancels check_peaks check_growth check_again check_starved differs check_same check_plans check_programs check_programs_of_few is_planned_for_gpu);

# Seconds that a running call may go on after it was told to end.
our $LIMIT = 0.2;

# Whether arrays are as large as thresholds of the product ask for, and not as those of a build with TEST_SIZES=yes.
our $LARGE = ($ENV{MGPU_TEST_LARGE} // '') eq 'yes';

sub sized
{
	my ($small, $large) = @_;

	return $LARGE ? $large : $small;
}

# How many rows or trials a test has: in the quick tier, and in the full one, which tools/run_tests says.
sub tiered
{
	my ($quick, $full) = @_;

	return $LARGE || ($ENV{MGPU_TIER} // '') eq 'full' ? $full : $quick;
}

# In kB, as /proc counts.
our $MEGABYTE = 1024;

# gcov's counts are written when a process ends by itself, and nodes that are left to the end are stopped at once.
my @nodes;
END
{
	my $status = $?;

	$_->stop('fast', fail_ok => 1) foreach $ENV{GCOV_PREFIX} ? @nodes : ();
	$? = $status;
}

# A started node with the extension in database postgres; conf has lines of postgresql.conf, initdb its arguments.
# With MGPU_TEST_DEVICE, GPUs are driven by the service, and have to be used; there are some, or played ones.
# Few shared buffers, so that a process's resident size is its own memory and not the cache.
sub new_node
{
	my ($name, %option) = @_;
	push @nodes, my $node = PostgreSQL::Test::Cluster->new($name);
	my @on_device = ("shared_preload_libraries = 'mgpu_pg'", 'mgpu.executor = gpu', 'mgpu.gpu_failure = error');

	$ENV{MGPU_PLAYED_DEVICES} = 2 if $ENV{MGPU_TEST_DEVICE};
	$node->init(extra => [ '--encoding=UTF8', '--no-locale', @{ $option{initdb} // [] } ], allows_streaming => $option{streaming});
	$node->append_conf('postgresql.conf', "$_\n")
	  for ('fsync = off', 'shared_buffers = 8MB', 'max_wal_size = 8GB', 'autovacuum = off',
		'log_min_messages = panic', 'log_statement = none', 'jit = off', @{ $option{conf} // [] }, $ENV{MGPU_TEST_DEVICE} ? @on_device : ());
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION mgpu_pg');
	return $node;
}

# A node whose GPUs are driven by the service, with all rows and settings of theirs known; ends the test
# where there is no GPU.  Builds with TEST_SIZES=yes play two, in which others see nothing in the variable.
sub new_service_node
{
	my ($name, %option) = @_;

	$ENV{MGPU_PLAYED_DEVICES} = 2;
	my $node = new_node($name, initdb => $option{initdb}, streaming => $option{streaming}, conf => [ "shared_preload_libraries = 'mgpu_pg'", 'log_min_messages = warning',
		'log_min_error_statement = panic', 'restart_after_crash = on', 'max_connections = 60', @{ $option{conf} // [] } ]);
	if (!grep { $_ eq 'gpu' } executors($node))
	{
		$node->stop;
		plan skip_all => 'there is no GPU, and the build plays none';
	}
	return $node;
}

# Wait until a server that recovers takes sessions again.  The query is an argument of psql: a psql that cannot connect reads none.
sub await_sessions
{
	my ($node) = @_;

	foreach (1 .. 900)
	{
		return 1 if run_log([ 'psql', '-Xqt', '-d', $node->connstr('postgres'), '-c', 'SELECT true' ], '>', \my $rows, '2>', \my $error);
		sleep 0.1;
	}
	return 0;
}

# Whether the service is up again, soon; how long that took.
sub await_service
{
	my ($node, $seconds) = @_;
	my $started = time();

	while (time() - $started < ($seconds // 5))
	{
		my ($status, $up) = $node->psql('postgres', 'SELECT coalesce(bool_and(up), false) FROM mgpu_stat_service');
		return time() - $started if $status == 0 && $up eq 't';
		sleep 0.05;
	}
	return undef;
}

# Whether nothing of any run is left in the service, soon.
sub service_is_idle
{
	my ($node) = @_;

	foreach (1 .. 50)
	{
		return 1 if $node->safe_psql('postgres', q{
			SELECT bool_and(up AND running = 0 AND queued = 0 AND shared_memory_used = 0) AND NOT EXISTS (SELECT FROM mgpu_stat_activity)
			FROM mgpu_stat_service}) eq 't';
		sleep 0.1;
	}
	diag($node->safe_psql('postgres', 'SELECT running, queued, shared_memory_used FROM mgpu_stat_service; TABLE mgpu_stat_activity'));
	return 0;
}

# Calls of all functions on arrays of these sizes, aggregates, and statements on tables, which the plan nodes run where a session
# forces them: rows of name, query, answer by plain SQL.
sub make_calls
{
	my ($node, @sizes) = @_;
	my $in_plain = 'FROM unnest(a) WITH ORDINALITY u(x, o)';
	my @calls = (
		[ 'sort int4', 'array_send(mgpu_sort(a))', "SELECT array_send(array_agg(x ORDER BY x)) $in_plain" ],
		[ 'sort int8', 'array_send(mgpu_sort(b, true))', 'SELECT array_send(array_agg(x ORDER BY x DESC)) FROM unnest(b) x' ],
		[ 'sort float8', 'array_send(mgpu_sort(f))', 'SELECT array_send(array_agg(x ORDER BY x)) FROM unnest(f) x' ],
		[ 'sort text', 'array_send(mgpu_sort(t))', 'SELECT array_send(array_agg(x ORDER BY x)) FROM unnest(t) x' ],
		[ 'argsort', 'array_send(mgpu_argsort(a))', "SELECT array_send(array_agg(o::int ORDER BY x, o)) $in_plain" ],
		[ 'pairs', '(SELECT array_send(p.keys) || array_send(p.vals) FROM mgpu_sort_pairs(a, b) p)',
			'SELECT array_send(array_agg(x ORDER BY x, o)) || array_send(array_agg(y ORDER BY x, o)) FROM unnest(a, b) WITH ORDINALITY u(x, y, o)' ],
		[ 'merge', 'array_send(mgpu_merge(s, r))', 'SELECT array_send(array_agg(x ORDER BY x)) FROM unnest(s || r) x' ],
		# heads are 3, 13, 23, and so on
		[ 'segsort', 'array_send(mgpu_segsort(a, h))', "SELECT array_send(array_agg(x ORDER BY (o + 7) / 10, x)) $in_plain" ],
		[ 'bulk insert', 'array_send(mgpu_bulk_insert(a, h, r[1:cardinality(h)]))',
			"SELECT array_send(array_agg(x ORDER BY o, k)) FROM (SELECT x, o, 1000000000 AS k $in_plain
			 UNION ALL SELECT v.y, v.p, v.i FROM unnest(r[1:cardinality(h)], h) WITH ORDINALITY v(y, p, i)) w" ],
		[ 'bulk remove', 'array_send(mgpu_bulk_remove(b, h))',
			'SELECT array_send(array_agg(x ORDER BY o)) FROM unnest(b) WITH ORDINALITY u(x, o) WHERE o NOT IN (SELECT unnest(h))' ]);
	my @made;

	# parallel plans are for the aggregates: mgpu_last_run tells of calls of the session's own process
	$node->safe_psql('postgres', q{
		CREATE TABLE input (size int, a int[], b bigint[], f float8[], t text[], s int[], r int[], h int[]) WITH (parallel_workers = 0);
		CREATE TABLE items (size int, g int, v int) WITH (parallel_workers = 2);
		ALTER TABLE input ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER f SET STORAGE EXTERNAL, ALTER t SET STORAGE EXTERNAL});
	foreach my $size (@sizes)
	{
		$node->safe_psql('postgres', qq{
			SELECT setseed(0.5);
			INSERT INTO input SELECT $size, a, b, f, t, (SELECT array_agg(x ORDER BY x) FROM unnest(a) x),
				(SELECT array_agg(x / 2 ORDER BY x / 2) FROM unnest(a) x), h
			FROM (SELECT array_agg((random() * 2e9 - 1e9)::int) AS a, array_agg((random() * 1e6)::bigint << 20) AS b,
					array_agg(CASE WHEN random() < 0.1 THEN 'NaN' ELSE random() END::float8) AS f, array_agg(md5(i::text)) AS t,
					array_agg(i ORDER BY i) FILTER (WHERE i % 10 = 3) AS h
				FROM generate_series(1, $size) i OFFSET 0) w;
			INSERT INTO items SELECT $size, i % 10, (random() * 1e9)::int FROM generate_series(1, $size) i});
		foreach my $call (@calls)
		{
			my ($name, $ours, $plain) = @$call;

			push @made, [ "$name of $size", "SELECT md5($ours) FROM input WHERE size = $size",
				$node->safe_psql('postgres', "SELECT md5(($plain)) FROM input WHERE size = $size") ];
		}
		my ($ours, $plain) = map {
			"SELECT md5(string_agg(md5(array_send(a)), '' ORDER BY g)) FROM (SELECT g, $_ AS a FROM items WHERE size = $size GROUP BY g) w"
		} 'mgpu_sort_agg(v)', 'array_agg(v ORDER BY v)';
		push @made, [ "aggregate of $size", $ours, $node->safe_psql('postgres', $plain) ];
		my $rows = "(SELECT g, v FROM items WHERE size = $size) r";
		foreach my $call ([ 'groups', "SELECT g, count(*), sum(v), percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM $rows GROUP BY g" ],
			[ 'first rows', "SELECT * FROM (SELECT g, v, row_number() OVER (PARTITION BY g ORDER BY v) AS n FROM $rows) n WHERE n <= 3" ],
			[ 'rows in order', "SELECT g, v FROM $rows ORDER BY g, v OFFSET 0" ])
		{
			my ($name, $sql) = @$call;
			my $query = "SELECT md5(string_agg(w::text, ',' ORDER BY w)) FROM ($sql) w";

			push @made, [ "$name of $size", $query,
				$node->safe_psql('postgres', "SET mgpu.enable_group = off; SET mgpu.enable_top = off; SET mgpu.enable_sort = off; SET mgpu.enable_scan = off; SET mgpu.enable_not_in = off; $query") ];
		}
	}
	$node->safe_psql('postgres', 'VACUUM ANALYZE input, items');
	return @made;
}

# The executors that this machine can run: cpu, and gpu where one is usable.
sub executors
{
	my ($node) = @_;
	my ($status) = $node->psql('postgres', 'SET mgpu.executor = gpu; SELECT mgpu_sort(ARRAY[2, 1])', on_error_die => 0);

	return $status == 0 ? ('cpu', 'gpu') : ('cpu');
}

# Table big: one row, columns of $millions million random elements each, stored
# out of line.  Concatenated from a few million, since generating is slow.
sub make_big
{
	my ($node, $table, $millions, %column) = @_;
	my $base = $millions > 5 ? 5 : $millions;
	my $times = $millions / $base;
	my $items = int($base * 1_000_000 + 0.5);
	my $columns = join(', ', map {"$_ $column{$_}->[0]"} sort keys %column);
	my $random = join(', ', map {"array_agg($column{$_}->[1]) AS $_"} sort keys %column);
	my $joined = join(', ', map { join(' || ', ($_) x $times) } sort keys %column);

	$node->safe_psql('postgres', "CREATE TABLE $table ($columns);"
		  . join('', map {"ALTER TABLE $table ALTER $_ SET STORAGE EXTERNAL;"} sort keys %column)
		  . "SELECT setseed(0.25);"
		  . "INSERT INTO $table SELECT $joined FROM (SELECT $random FROM generate_series(1, $items) i) t;");
	return;
}

# A type of our own like another one, and its comparison, by the server's functions: they are in
# out, send, lt, le, eq, ge, gt and cmp.  What else its operator class has goes behind that.
sub make_type
{
	my ($node, $name, $like, $rest, @functions) = @_;
	my ($in, $out, $send, @compare) = @functions;
	my $language = 'LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS';
	my @operators = ('<', '<=', '=', '>=', '>');

	$node->safe_psql('postgres', join(';', "CREATE TYPE $name",
		"CREATE FUNCTION ${name}_in(cstring, oid, int) RETURNS $name $language '$in'",
		"CREATE FUNCTION ${name}_out($name) RETURNS cstring $language '$out'",
		"CREATE FUNCTION ${name}_send($name) RETURNS bytea $language '$send'",
		"CREATE TYPE $name (INPUT = ${name}_in, OUTPUT = ${name}_out, SEND = ${name}_send, LIKE = $like)",
		"CREATE CAST ($like AS $name) WITHOUT FUNCTION",
		(map { "CREATE FUNCTION ${name}_$_($name, $name) RETURNS " . ($_ == 5 ? 'int' : 'bool') . " $language '$compare[$_]'" } 0 .. 5),
		(map {"CREATE OPERATOR $operators[$_] (LEFTARG = $name, RIGHTARG = $name, FUNCTION = ${name}_$_)"} 0 .. 4),
		"CREATE OPERATOR CLASS ${name}_ops DEFAULT FOR TYPE $name USING btree AS "
		  . join(', ', map { "OPERATOR $_ $operators[$_ - 1]" } 1 .. 5) . ", FUNCTION 1 ${name}_5($name, $name) $rest"));
	return;
}

# Column a of a table's one row, by mgpu_sort and mgpu_argsort, against ORDER BY: to the byte.  That
# takes several times as long as they do, so its answer serves all executors.
sub check_order
{
	my ($node, $table, $collation, $descending, $first) = @_;
	my $order = ($descending eq 'true' ? 'DESC' : 'ASC') . ($first eq 'true' ? ' NULLS FIRST' : $descending eq 'true' ? ' NULLS LAST' : '');
	my $expected = $node->safe_psql('postgres', qq{
		SET work_mem = '1GB';
		SELECT md5(array_send(array_agg(x))), md5(array_send(array_agg(o::int)))
		FROM (SELECT x, o FROM $table, unnest(a) WITH ORDINALITY u(x, o) ORDER BY x $collation $order, o) s});

	foreach my $executor (executors($node))
	{
		my $answer = $node->safe_psql('postgres', qq{
			SET mgpu.executor = $executor;
			SELECT md5(array_send(mgpu_sort(a $collation, $descending, $first))),
				md5(array_send(mgpu_argsort(a $collation, $descending, $first))) FROM $table});

		is($answer, $expected, "$executor, $table, descending $descending: elements and positions");
	}
	return;
}

# A line of /proc/PID/status, in kB: VmRSS, VmHWM, VmSize.
sub memory_kb
{
	my ($pid, $what) = @_;

	die 'a test that looks at memory has to use MgpuMemory' unless $ENV{MALLOC_TRIM_THRESHOLD_};
	my ($kb) = slurp_file("/proc/$pid/status") =~ /^$what:\s+(\d+) kB/m;

	return $kb;
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;

	return $sorted[ $#sorted / 2 ];
}

# How long the statement runs when nobody stops it, in seconds: the shorter of
# two runs, of which the first may start up a device or warm a cache.
sub duration
{
	my ($session, $call) = @_;
	my $shortest;

	foreach (1 .. 2)
	{
		my $started = time();

		$session->query($call);
		my $took = time() - $started;
		$shortest = $took if !defined $shortest || $took < $shortest;
	}
	return $shortest;
}

# -------------------------------------------------------- beside PostgreSQL's own

# A query by the extension's plan nodes, and by PostgreSQL's, under one snapshot: '' or how they differ.  The plan has to
# read its tables as $option{input} says.  Rows are compared as text, or errors, or both where a row raises a notice;
# in their order if $option{ordered}.  $option{inside}: the session is in a transaction, and stays there; what the
# query changes is undone.  $option{mode}: of mgpu.enable_group, else force.  $option{on_gpu}: a GPU has to read the pages.
sub differs
{
	my ($session, $query, %option) = @_;
	my ($input, $mode) = ($option{input} // 'pages as columns', $option{mode} // 'force');
	my ($plan, %answer);

	$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ') unless $option{inside};
	foreach my $nodes ($mode, 'off')
	{
		$session->query("SAVEPOINT before_query; SET LOCAL mgpu.enable_group = $nodes; DISCARD PLANS");
		$plan = $session->query("EXPLAIN (COSTS off) $query") if $nodes ne 'off';
		my @lines = split /\n/, $session->query($query) // 'the session ended';
		@lines = sort @lines unless $option{ordered};
		# an error's last line says where in PostgreSQL it was raised
		$answer{$nodes} = join("\n", grep { !/^LOCATION:/ } @lines);
		$session->query('ROLLBACK TO before_query');
	}
	my $ran = $option{on_gpu} ? $session->query("SET LOCAL mgpu.enable_group = $mode; EXPLAIN (ANALYZE, COSTS off) $query") : '';
	$session->query('COMMIT') unless $option{inside};
	return "$query: not by a GPU:\n$ran" if $option{on_gpu} && $ran !~ /Executor: gpu\n.*Pages Copied/s;
	return "$query: input is not $input:\n$plan" if $plan !~ /Input: \Q$input\E$/m && $input ne '';
	return "$query:\n" . substr($answer{$mode}, 0, 1000) . "\nand not\n" . substr($answer{off}, 0, 1000) if $answer{$mode} ne $answer{off};
	return '';
}

# The same of some queries, as one check.
sub check_same
{
	my ($session, $name, $queries, %option) = @_;

	is(join("\n", grep { $_ ne '' } map { differs($session, $_, %option) } ref $queries ? @$queries : $queries), '', $name);
	return;
}

# Statements whose answer is that of PostgreSQL's own plan, by either executor, and whose plan is as it has to be: what is_right says of the
# plan's text and the executor.
sub check_plans
{
	my ($session, $name, $is_right, @queries) = @_;
	my (@wrong, %right);

	foreach my $executor ('cpu', 'gpu')
	{
		$session->run("SET mgpu.executor = $executor");
		foreach my $query (@queries)
		{
			my $plan = $session->analyze($query);
			my $answer = $session->answer_by('force', $query);

			# PostgreSQL's own plan has one answer, whichever executor there is
			$right{$query} //= $session->answer_by('off', $query);
			push @wrong, "$executor: differs from PostgreSQL's plan: $query" if $answer ne $right{$query};
			push @wrong, "$executor: another plan: $query\n$plan" if !$is_right->($plan, $executor);
		}
	}
	is(join("\n", @wrong), '', $name);
	return;
}

# The same where a program of a job does it; not $is_job: it ends early, and PostgreSQL's functions do.
sub check_programs
{
	my ($session, $name, $is_job, @queries) = @_;

	check_plans($session, $name, sub {
		my ($plan, $executor) = @_;

		return ($plan =~ /Executor: $executor\n.*Program: \d+/s ? 1 : 0) == $is_job;
	}, @queries);
	return;
}

# The same of tables that have fewer rows than jobs of large builds: there, the answers alone count.
sub check_programs_of_few
{
	my ($session, $name, $is_job, @queries) = @_;

	return check_programs($session, $name, $is_job, @queries) if !$LARGE;
	return check_plans($session, $name, sub { return 1; }, @queries);
}

# Whether the planner expects a GPU to read the rows of a query's node, which is forced: then they cost less than on the
# CPU.  A node that is forced costs nearly nothing, so that units are large here.
sub is_planned_for_gpu
{
	my ($session, $query, $setting) = (@_, 'gpu');
	my @units = ('cpu_operator_cost', 'cpu_tuple_cost');
	my %cost;

	$session->run(map {"SET $_ = 1e15"} @units);
	foreach my $executor ('cpu', $setting)
	{
		$session->query("SET mgpu.executor = $executor; EXPLAIN $query") =~ /cost=[\d.]+\.\.([\d.]+)/ and $cost{$executor} = $1;
	}
	$session->run(map {"RESET $_"} @units);
	return $cost{$setting} != $cost{cpu};
}

# ------------------------------------------------------------ calls told to end
#
# Their lateness counts by the median, so that one hiccup of a loaded machine
# does not decide, and is measured again, at most so often, while it is not as it
# should be: a machine may be slow for a while, or fast, but a call that does not
# look at cancels for too long is late every time.
my $TRIES = 3;

# How long the call runs, the error that it ended with, and how late it ended after
# each timeout that came while it ran; in seconds.  Timeouts come after tenths of
# that time.
sub lateness
{
	my ($session, $call, @tenths) = @_;
	my $full = duration($session, $call);
	my $error = $session->{error};
	my @late;

	# NULL when the call ended before its timeout
	$session->query(q{
		CREATE OR REPLACE FUNCTION pg_temp.lateness(call text) RETURNS float8 LANGUAGE plpgsql AS $$
		BEGIN
			EXECUTE call;
			RETURN NULL;
		EXCEPTION WHEN query_canceled THEN
			RETURN extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 - current_setting('mgpu_test.timeout')::float8;
		END
		$$});
	foreach my $tenth (@tenths)
	{
		my $timeout = int($full * 100 * $tenth) || 1;
		my $late = $session->query("SET mgpu_test.timeout = $timeout; SET statement_timeout = $timeout;"
			  . "SELECT pg_temp.lateness(\$call\$$call\$call\$)");

		push @late, $late / 1000 if defined $late && $late =~ /\A-?[\d.e-]+\z/;
	}
	$session->end_timeouts;
	return ($full, $error, @late);
}

# At least so many timeouts, after tenths of the whole, find the call running, and
# it ends in time.
sub check_timeouts
{
	my ($session, $name, $call, $least, $tenths) = @_;
	my ($full, $error, @late);

	foreach (1 .. $TRIES)
	{
		($full, $error, @late) = lateness($session, $call, @$tenths);
		last if @late >= $least && median(@late) <= $LIMIT;
	}
	is($error, '', "$name: runs to its end when let alone");
	cmp_ok(scalar @late, '>=', $least, "$name: " . @late . ' of ' . @$tenths . ' timeouts came while it ran');
	cmp_ok(median(@late), '<=', $LIMIT, sprintf('%s: ends %.0f ms after a timeout, at most %.0f (runs %.0f)',
		$name, 1000 * median(@late), 1000 * (sort { $b <=> $a } @late)[0], 1000 * $full))
	  if @late;
	return;
}

# How late the call ended after each pg_cancel_backend, of so many spread over its
# run, that came while it ran; in seconds.
sub cancel_lateness
{
	my ($session, $other, $call, $times) = @_;
	my $full = duration($session, $call);
	my @late;

	foreach my $part (1 .. $times)
	{
		$session->send_query($call);
		sleep($full * $part / ($times + 2));
		$other->query("SELECT pg_cancel_backend($session->{pid})");
		my $started = time();
		$session->answer;
		push @late, time() - $started if $session->{state} eq '57014';
	}
	return @late;
}

# The same after pg_cancel_backend from another session, so many times.
sub check_cancels
{
	my ($session, $other, $name, $call, $times) = @_;
	my @late;

	foreach (1 .. $TRIES)
	{
		@late = cancel_lateness($session, $other, $call, $times);
		last if @late && median(@late) <= $LIMIT;
	}
	cmp_ok(scalar @late, '>=', 1, "$name: " . @late . " of $times cancels came while it ran");
	cmp_ok(median(@late), '<=', $LIMIT, sprintf('%s: ends %.0f ms after pg_cancel_backend', $name, 1000 * median(@late)))
	  if @late;
	return;
}

# ----------------------------------------------------------------------- memory

# Has a GPU load the code of its sorts, which a process does when they first run and keeps, as it does its context.
sub load_kernels
{
	my ($session) = @_;

	foreach my $algorithm (qw(merge radix auto))
	{
		$session->query("SET mgpu.algorithm = $algorithm");
		foreach my $type (qw(int4 int8))
		{
			$session->query('SELECT mgpu_sort(k), mgpu_argsort(k), mgpu_segsort(k, h), mgpu_segsort_pairs(k, k, h) '
				  . "FROM (SELECT array_agg((i * 7919 % 20011)::$type), ARRAY[10001] FROM generate_series(1, 20000) i) a(k, h)");
		}
	}
	$session->query('RESET mgpu.algorithm');
	return;
}

# One call takes its input, its result, 32 bytes an element and 64 MB at most.  Each
# of $calls: an expression, its table, bytes of input, bytes of result, elements.
# All run in one session, which keeps at most 32 MB of what they took.
sub check_peaks
{
	my ($node, $executor, $warm_up, $calls) = @_;
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");

	# what a first call sets up for good, a device's context say, is not a call's
	load_kernels($session) if $executor =~ /^gpu/;
	$session->query($warm_up);
	my $at_start = memory_kb($session->{pid}, 'VmRSS');
	foreach my $name (sort keys %$calls)
	{
		my ($call, $table, $input, $result, $num_items) = @{ $calls->{$name} };
		my $allowed = ($input + $result + 32 * $num_items) / 2**20 + 64;

		reset_peak($session->{pid});
		my $before = memory_kb($session->{pid}, 'VmHWM');
		is($session->query("SELECT cardinality($call) > 0 FROM $table"), 't', "$executor, $name: runs");
		my $grown = (memory_kb($session->{pid}, 'VmHWM') - $before) / $MEGABYTE;
		cmp_ok($grown, '<=', $allowed, sprintf('%s, %s: peak grew by %d of %d MB', $executor, $name, $grown, $allowed));
	}
	my $kept = (memory_kb($session->{pid}, 'VmRSS') - $at_start) / $MEGABYTE;
	cmp_ok($kept, '<=', 32, sprintf('%s: %d MB are kept', $executor, $kept));
	$session->close;
	return;
}

# The peak of a process, VmHWM, starts anew at what it holds now: proc(5), clear_refs.
sub reset_peak
{
	my ($pid) = @_;

	open my $file, '>', "/proc/$pid/clear_refs" or die "clear_refs of $pid: $!";
	print $file 5;
	close $file or die "clear_refs of $pid: $!";
	return;
}

# No more than 10 MB stay behind when a call runs again and again; with timeouts,
# which fall within the time that it took when it last ran to its end.  Returns how
# many ended in errors.
sub check_growth
{
	my ($session, $name, $call, $rounds, $with_timeouts) = @_;
	my ($warm, $errors) = (0, 0);
	my $milliseconds = 1000 * duration($session, $call);

	foreach my $i (1 .. $rounds)
	{
		$session->query('SET statement_timeout = ' . int(1 + $milliseconds * ($i * 7 % 60) / 75)) if $with_timeouts;
		my $started = time();
		$session->query($call);
		if ($session->{state} ne '') { $errors++; }
		elsif ($with_timeouts) { $milliseconds = 1000 * (time() - $started); }
		$warm = memory_kb($session->{pid}, 'VmRSS') if $i == $rounds / 4;
	}
	$session->end_timeouts;
	my $grown = memory_kb($session->{pid}, 'VmRSS') - $warm;
	cmp_ok($grown, '<=', 10 * $MEGABYTE, "$name: $grown kB more after " . $rounds * 3 / 4 . ' more calls');
	return $errors;
}

# The queries in turn, over and over, of which the last is meant to fail: memory stays
# where it is after the first fifth of the rounds.
sub check_again
{
	my ($session, $name, @queries) = @_;
	my ($warm, $failed, $rounds) = (0, 0, sized(tiered(100, 300), 1000));

	foreach my $i (1 .. $rounds)
	{
		$session->query($queries[ $i % @queries ]);
		$failed++ if $session->{state} ne '';
		$warm = memory_kb($session->{pid}, 'VmRSS') if $i == $rounds / 5;
	}
	is($failed, $rounds / @queries, "$name: of $rounds queries $failed failed, as meant");
	my $grown = memory_kb($session->{pid}, 'VmRSS') - $warm;
	cmp_ok($grown, '<=', 2 * $MEGABYTE, "$name: $grown kB more after " . $rounds * 4 / 5 . ' more queries');
	return;
}

# With the process's address space limited to what it has and a little more, each
# of the calls ends in 53200 or in the right answer, whatever step the limit hits;
# in each at least so many times.
sub check_starved
{
	my ($node, $calls, $megabytes, $least) = @_;
	my ($refused, $answered) = (0, 0);
	my %unexpected;
	my $session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');

	foreach my $call (@$calls)
	{
		my $right = $session->query($call);

		foreach my $extra (@$megabytes)
		{
			my $bytes = (memory_kb($session->{pid}, 'VmSize') + int($extra * $MEGABYTE)) * 1024;
			system('prlimit', "--pid=$session->{pid}", "--as=$bytes:") == 0 or die 'prlimit failed';
			my $got = $session->query($call);
			if (!defined $got)
			{
				$unexpected{"$call with $extra MB: the session ended"}++;
				$session = MgpuTest->session($node, options => '-c mgpu.executor=cpu');
				next;
			}
			system('prlimit', "--pid=$session->{pid}", '--as=unlimited:');
			if ($session->{state} eq '53200') { $refused++; }
			elsif ($session->{state} eq '' && $got eq $right) { $answered++; }
			else { $unexpected{"$call with $extra MB: " . ($session->{error} || 'wrong answer')}++; }
		}
	}
	is(join("\n", sort keys %unexpected), '', 'out of memory: an error 53200, or the right answer, and nothing else');
	cmp_ok($refused, '>=', $least, "$refused calls were refused");
	cmp_ok($answered, '>=', $least, "$answered calls were answered");
	is($session->query('SELECT mgpu_sort(ARRAY[2, 1]), mgpu_sort_agg(v) FROM (VALUES (2), (1)) t(v)'), '{1,2}|{1,2}',
		'the session goes on');
	$session->close;
	return;
}

# --------------------------------------------------------------------- sessions

# A psql that stays: my $s = MgpuTest->session($node); $s->query('...') returns
# the output, an error's SQLSTATE in $s->{state} and its text in $s->{error}.
sub session
{
	my ($class, $node, %option) = @_;
	my $self = bless { state => '', error => '' }, $class;

	local $ENV{PGOPTIONS} = $option{options} // '';
	$self->{process} = open3($self->{to}, $self->{from}, undef, 'psql', '-XAtq', '-h', $node->host, '-p', $node->port,
		'-d', 'postgres', '-v', 'VERBOSITY=verbose');
	$self->{to}->autoflush(1);
	$self->{select} = IO::Select->new($self->{from});
	$self->{seen} = '';
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	return $self;
}

sub send_query
{
	my ($self, $sql) = @_;

	print { $self->{to} } "$sql;\n\\echo :ERROR :SQLSTATE _end_\n";
	return;
}

# What the query sent last printed, or undef when the session ended or the time is up.
sub answer
{
	my ($self, $seconds) = @_;
	my $until = time() + ($seconds // 300);

	until ($self->{seen} =~ /^(?:true|false) \S* _end_\n/m)
	{
		my $left = $until - time();
		return undef unless $left > 0;
		# a signal, of a child that ended for example, is no reason to take this answer for the next one
		next unless $self->{select}->can_read($left);
		my $read = sysread($self->{from}, $self->{seen}, 65536, length $self->{seen});
		next if !defined $read && $!{EINTR};
		if (!$read)
		{
			$self->{ended} = 1;
			return undef;
		}
	}
	$self->{seen} =~ s/\A(.*?)^(true|false) (\S*) _end_\n//ms;
	# psql has no SQLSTATE of a connection that was lost
	my ($output, $failed, $state) = ($1, $2 eq 'true', $3 || '08006');
	chomp $output;
	$self->{state} = $failed ? $state : '';
	$self->{error} = $failed ? $output : '';
	return $output;
}

sub query
{
	my ($self, $sql) = @_;

	$self->send_query($sql);
	return $self->answer;
}

# Have the nodes be forced, or off.
sub favour
{
	my ($self, $nodes) = @_;

	# MgpuScan below others would read tables that they are to read: it has a test of its own
	$self->run(join('; ', (map {"SET mgpu.enable_$_ = $nodes"} 'group', 'top', 'sort'), 'SET mgpu.enable_scan = off'));
	return;
}

# What EXPLAIN ANALYZE says of a query whose nodes are forced.
sub analyze
{
	my ($self, $query) = @_;

	$self->favour('force');
	return $self->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $query");
}

# The rows of a query, in an order of their own where it asks for none.
sub answer_by
{
	my ($self, $nodes, $query) = @_;

	$self->favour($nodes);
	my $rows = $self->query($query);
	return $query =~ /ORDER BY [^()]*$/ ? $rows : join("\n", sort split /\n/, $rows);
}

# Statements that have to work.
sub run
{
	my ($self, @statements) = @_;

	foreach my $sql (@statements)
	{
		defined $self->query($sql) or die "$sql: there is no answer";
		die "$sql: $self->{error}" if $self->{state} ne '';
	}
	return;
}

# Timeouts hold for the statement that is to end them, too, which on a loaded machine may
# take longer than one of a few milliseconds: and then every statement behind it would fail.
sub end_timeouts
{
	my ($self) = @_;

	foreach (1 .. 1000)
	{
		$self->query('SET statement_timeout = 0');
		return if $self->{error} eq '';
	}
	die "no way to end timeouts: $self->{error}";
}

sub close
{
	my ($self) = @_;

	CORE::close($self->{to});
	waitpid($self->{process}, 0);
	return;
}

1;
