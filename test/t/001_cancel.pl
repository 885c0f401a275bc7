# A running call ends within 0.2 s of a timeout, a cancel or a termination, on
# every executor and in every phase, and the session goes on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

# Median over the tries, so that one hiccup of a loaded machine does not decide.
my $limit = 0.2;

my $node = new_node('cancel');
make_big($node, 'big', 40, a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ]);
make_big($node, 'float_big', 20, a => [ 'float8[]', "CASE WHEN i % 100 = 0 THEN '-0' ELSE random() END" ]);
make_big($node, 'text_big', 2, a => [ 'text[]', 'md5(i::text)' ]);
make_big($node, 'path_big', 3, a => [ 'text[]', "format('/srv/host-%s/application-%s/module/%s', i % 50, i / 50 % 20, md5(i::text))" ]);
make_big($node, 'numeric_big', 3, a => [ 'numeric[]', '(random() * 1e9)::numeric(14, 3)' ]);
make_big($node, 'null_big', 15, a => [ 'int[]', 'CASE WHEN i % 7 > 0 THEN (random() * 1000000000)::int END' ]);
make_big($node, 'pair_big', 15, a => [ 'bigint[]', '(random() * 1e18)::bigint' ]);

my %calls = (
	'sort int4' => 'SELECT cardinality(mgpu_sort(a)) FROM big',
	'sort float8' => 'SELECT cardinality(mgpu_sort(a, true)) FROM float_big',
	'argsort int4' => 'SELECT cardinality(mgpu_argsort(a)) FROM big',
	'sort nulls' => 'SELECT cardinality(mgpu_sort(a)) FROM null_big',
	'argsort nulls' => 'SELECT cardinality(mgpu_argsort(a)) FROM null_big',
	'sort_by' => 'SELECT cardinality(mgpu_sort_by(a, a)) FROM pair_big',
	# not in FROM: there PostgreSQL itself writes the two arrays, as one tuple, to a temporary file, and
	# on a slow disk that alone outlasts the limit
	'sort_pairs' => 'SELECT cardinality((mgpu_sort_pairs(a, a, true)).keys) FROM pair_big',
	'sort_rows' => 'SELECT count(*) FROM pair_big, mgpu_sort_rows(a, a)',
	'sort text' => 'SELECT cardinality(mgpu_sort(a)) FROM text_big',
	'sort paths' => 'SELECT cardinality(mgpu_sort(a COLLATE "C")) FROM path_big',
	'argsort numeric' => 'SELECT cardinality(mgpu_argsort(a)) FROM numeric_big',
	'argsort text' => 'SELECT cardinality(mgpu_argsort(a COLLATE "en-x-icu")) FROM text_big');

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

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my $other = MgpuTest->session($node);

	# the function that measures: how late is the end after the timeout, in ms; NULL when it came before
	$session->query(q{
		CREATE OR REPLACE FUNCTION pg_temp.lateness(call text) RETURNS float8 LANGUAGE plpgsql AS $$
		BEGIN
			EXECUTE call;
			RETURN NULL;
		EXCEPTION WHEN query_canceled THEN
			RETURN extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 - current_setting('mgpu_test.timeout')::float8;
		END
		$$});

	foreach my $name (sort keys %calls)
	{
		my $call = $calls{$name};
		my ($full, @late);

		$full = duration($session, $call);
		is($session->{error}, '', "$executor, $name: runs to its end when let alone");

		# timeouts spread over the whole of the run
		foreach my $part (1, 2, 3, 4, 6, 7, 8)
		{
			my $timeout = int($full * 1000 * $part / 10) || 1;
			my $late = $session->query("SET mgpu_test.timeout = $timeout; SET statement_timeout = $timeout;"
				  . "SELECT pg_temp.lateness(\$\$$call\$\$)");

			push @late, $late / 1000 if defined $late && $late =~ /\A-?[\d.e-]+\z/;
		}
		$session->query('SET statement_timeout = 0');
		cmp_ok(scalar @late, '>=', 3, "$executor, $name: " . @late . ' of 7 timeouts came while it ran');
		cmp_ok(median(@late), '<=', $limit, sprintf('%s, %s: ends %.0f ms after a timeout, at most %.0f (runs %.0f)',
			$executor, $name, 1000 * median(@late), 1000 * (sort { $b <=> $a } @late)[0], 1000 * $full))
		  if @late;
	}

	# pg_cancel_backend, from another session
	foreach my $name ('argsort int4', 'sort text', 'sort float8')
	{
		my $full = duration($session, $calls{$name});
		my @late;

		foreach my $part (1 .. 5)
		{
			$session->send_query($calls{$name});
			sleep($full * $part / 7);
			$other->query("SELECT pg_cancel_backend($session->{pid})");
			my $started = time();
			$session->answer;
			push @late, time() - $started if $session->{state} eq '57014';
		}
		cmp_ok(scalar @late, '>=', 1, "$executor, $name: " . @late . ' of 5 cancels came while it ran');
		cmp_ok(median(@late), '<=', $limit, sprintf('%s, %s: ends %.0f ms after pg_cancel_backend', $executor, $name, 1000 * median(@late)))
		  if @late;
	}
	is($session->query('SELECT mgpu_sort(ARRAY[3, 1, 2])'), '{1,2,3}', "$executor: the session goes on");
	is($session->query('SELECT (SELECT bool_and(x = y) FROM unnest(mgpu_sort(a[1:100000]), (SELECT array_agg(x ORDER BY x) FROM unnest(a[1:100000]) x)) u(x, y)) FROM big'),
		't', "$executor: and sorts right");
	$session->close;

	# pg_terminate_backend
	my @late;
	foreach my $name ('argsort int4', 'sort text', 'sort nulls', 'sort_pairs', 'sort int4')
	{
		my $victim = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
		my $full = duration($victim, $calls{$name});

		$victim->send_query($calls{$name});
		sleep($full / 3);
		my $ran = $other->query("SELECT count(*) FROM pg_stat_activity WHERE pid = $victim->{pid} AND state = 'active'");
		$other->query("SELECT pg_terminate_backend($victim->{pid})");
		my $started = time();
		sleep 0.005 while $other->query("SELECT count(*) FROM pg_stat_activity WHERE pid = $victim->{pid}") && time() - $started < 30;
		push @late, time() - $started if $ran;
		$victim->close;
	}
	cmp_ok(scalar @late, '>=', 3, "$executor: " . @late . ' of 5 terminations came while a sort ran');
	cmp_ok(median(@late), '<=', $limit, sprintf('%s: gone %.0f ms after pg_terminate_backend, at most %.0f', $executor, 1000 * median(@late), 1000 * (sort { $b <=> $a } @late)[0]))
	  if @late;
	is($other->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', "$executor: the server goes on");
	$other->close;
}

$node->stop;
done_testing();
