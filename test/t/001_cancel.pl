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

my $node = new_node('cancel');
my $has_english = $node->psql('postgres', q{CREATE COLLATION english (provider = libc, locale = 'en_US.UTF-8')}) == 0;
make_big($node, 'big', sized(4, 40), a => [ 'int[]', '(random() * 4294967295 - 2147483648)::int' ]);
make_big($node, 'float_big', sized(2, 20), a => [ 'float8[]', "CASE WHEN i % 100 = 0 THEN '-0' ELSE random() END" ]);
make_big($node, 'text_big', sized(0.3, 2), a => [ 'text[]', 'md5(i::text)' ]);
make_big($node, 'path_big', sized(0.3, 3), a => [ 'text[]', "format('/srv/host-%s/application-%s/module/%s', i % 50, i / 50 % 20, md5(i::text))" ]);
make_big($node, 'numeric_big', sized(0.3, 3), a => [ 'numeric[]', '(random() * 1e9)::numeric(14, 3)' ]);
make_big($node, 'null_big', sized(2, 15), a => [ 'int[]', 'CASE WHEN i % 7 > 0 THEN (random() * 1000000000)::int END' ]);
make_big($node, 'pair_big', sized(2, 15), a => [ 'bigint[]', '(random() * 1e18)::bigint' ]);

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
	'argsort paths' => 'SELECT cardinality(mgpu_argsort(a COLLATE "C")) FROM path_big',
	'argsort numeric' => 'SELECT cardinality(mgpu_argsort(a)) FROM numeric_big',
	$has_english ? ('argsort english' => 'SELECT cardinality(mgpu_argsort(a COLLATE english)) FROM text_big') : (),
	'argsort text' => 'SELECT cardinality(mgpu_argsort(a COLLATE "en-x-icu")) FROM text_big');

foreach my $executor (executors($node))
{
	my $session = MgpuTest->session($node, options => "-c mgpu.executor=$executor");
	my $other = MgpuTest->session($node);

	# timeouts spread over the whole of the run
	check_timeouts($session, "$executor, $_", $calls{$_}, 3, [ 1, 2, 3, 4, 6, 7, 8 ]) for sort keys %calls;
	check_cancels($session, $other, "$executor, $_", $calls{$_}, 5) for 'argsort int4', 'sort text', 'sort float8';
	is($session->query('SELECT mgpu_sort(ARRAY[3, 1, 2])'), '{1,2,3}', "$executor: the session goes on");
	is($session->query('SELECT (SELECT bool_and(x = y) FROM unnest(mgpu_sort(a[1:100000]), (SELECT array_agg(x ORDER BY x) FROM unnest(a[1:100000]) x)) u(x, y)) FROM big'),
		't', "$executor: and sorts right");
	$session->close;

	# pg_terminate_backend: of five calls, and of more where the machine was faster than a moment before
	my @late;
	foreach my $name (('argsort int4', 'sort text', 'sort nulls', 'sort_pairs', 'sort int4') x 3)
	{
		last if @late >= 3 && $name eq 'argsort int4' && median(@late) <= $LIMIT;
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
	cmp_ok(scalar @late, '>=', 3, "$executor: " . @late . ' terminations came while a sort ran');
	cmp_ok(median(@late), '<=', $LIMIT, sprintf('%s: gone %.0f ms after pg_terminate_backend, at most %.0f', $executor, 1000 * median(@late), 1000 * (sort { $b <=> $a } @late)[0]))
	  if @late;
	is($other->query('SELECT mgpu_sort(ARRAY[2, 1])'), '{1,2}', "$executor: the server goes on");
	$other->close;
}

$node->stop;
done_testing();
