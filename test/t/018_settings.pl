# Who can change settings, where, before and after the library is loaded; and the
# notice for who installs it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('settings');
my $version = $node->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int / 10000});

$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; CREATE ROLE owner LOGIN; CREATE DATABASE theirs OWNER owner');

# The last statement's SQLSTATE, "" if it did not fail, and everything said.
sub said
{
	my ($role, $database, $sql) = @_;
	my ($stdout, $stderr);

	$node->psql($database, "\\set VERBOSITY verbose\n$sql", stdout => \$stdout, stderr => \$stderr,
		extra_params => [ '--username', $role ], on_error_stop => 1);
	my ($state) = $stderr =~ /ERROR:\s+(\w{5})/;
	return ($state // '', $stdout, $stderr);
}

sub state_is
{
	my ($role, $database, $sql, $expected, $name) = @_;
	my ($state, undef, $stderr) = said($role, $database, $sql);

	is($state, $expected, "$role: $name") or diag($stderr);
	return;
}

sub value_is
{
	my ($role, $database, $sql, $expected, $name) = @_;
	my (undef, $stdout, $stderr) = said($role, $database, $sql);

	is($stdout, $expected, "$role: $name") or diag($stderr);
	return;
}

# What the build is for.
sub built_for
{
	return (said('postgres', 'postgres', 'SET mgpu.executor = auto; SELECT mgpu_sort(ARRAY[2, 1]); SELECT reason FROM mgpu_last_run()'))[1] =~ /no CUDA/ ? 'cpu' : 'gpu';
}

# ------------------------------------------------------- before the library is loaded

# the first use loads it; LOAD is for superusers
my $load = "DO 'BEGIN PERFORM mgpu_sort(ARRAY[2, 1]); END'";

state_is('plain', 'postgres', 'SHOW mgpu.executor', '42704', 'not loaded, SHOW knows no setting');
value_is('plain', 'postgres', "SET mgpu.executor = cpu; $load; SHOW mgpu.executor", 'cpu', 'not loaded, SET is kept');
state_is('plain', 'postgres', 'ALTER ROLE plain SET mgpu.executor = cpu', '42501', 'not loaded, ALTER ROLE is refused');
state_is('owner', 'theirs', 'ALTER DATABASE theirs SET mgpu.executor = cpu', '42501', 'not loaded, ALTER DATABASE is refused');
state_is('postgres', 'postgres', 'ALTER ROLE plain SET mgpu.executor = cpu', '', 'not loaded, ALTER ROLE works');
value_is('plain', 'postgres', "$load; SHOW mgpu.executor", 'cpu', 'and it counts for that role');
{
	my (undef, $value, $warning) = said('plain', 'postgres',
		"SET mgpu.max_cpu_threads = 99; $load; SHOW mgpu.max_cpu_threads");

	is($value, '0', 'plain: SET before loading does not get past a permission');
	like($warning, qr/WARNING.*42501.*permission denied to set parameter "mgpu.max_cpu_threads"/, 'plain: and a warning says so');
}
$node->safe_psql('postgres', 'ALTER ROLE plain RESET ALL');

# ------------------------------------------------------------------ after it is loaded

$node->safe_psql('postgres', q{ALTER SYSTEM SET session_preload_libraries = 'mgpu_pg'; SELECT pg_reload_conf()});
$node->poll_query_until('postgres', q{SELECT current_setting('session_preload_libraries') = 'mgpu_pg'});

foreach my $setting ('executor = cpu', 'algorithm = merge', 'cpu_threads = 1', 'gpu_min_items = 7', 'device = 0',
	'gpu_memory_limit = 64', 'gpu_failure = silent', 'enable_group = off')
{
	state_is('plain', 'postgres', "SET mgpu.$setting", '', "SET mgpu.$setting");
}
foreach my $setting ('max_cpu_threads = 1', 'inject_fault = host_memory')
{
	state_is('plain', 'postgres', "SET mgpu.$setting", '42501', "SET mgpu.$setting is refused");
	state_is('plain', 'postgres', "ALTER ROLE plain SET mgpu.$setting", '42501', "ALTER ROLE … SET mgpu.$setting is refused");
	state_is('owner', 'theirs', "ALTER DATABASE theirs SET mgpu.$setting", '42501', "ALTER DATABASE … SET mgpu.$setting is refused");
	state_is('plain', 'postgres', "ALTER SYSTEM SET mgpu.$setting", '42501', "ALTER SYSTEM SET mgpu.$setting is refused");
}
value_is('plain', 'postgres', 'SHOW mgpu.executor', 'auto', 'SHOW knows the setting from the start');
state_is('plain', 'postgres', 'SET mgpu.executr = cpu', $version >= 15 ? '42602' : '', 'a misspelt setting');
state_is('plain', 'postgres', 'ALTER ROLE plain SET mgpu.executor = cpu', '', 'ALTER ROLE for oneself');
value_is('plain', 'postgres', 'SHOW mgpu.executor', 'cpu', 'and it counts');
state_is('plain', 'postgres', 'ALTER ROLE owner SET mgpu.executor = cpu', '42501', 'not for others');
state_is('owner', 'theirs', 'ALTER DATABASE theirs SET mgpu.algorithm = merge', '', "ALTER DATABASE of one's own");
value_is('plain', 'theirs', 'SHOW mgpu.algorithm', 'merge', 'and it counts for everyone there');
state_is('owner', 'theirs', 'ALTER SYSTEM SET mgpu.executor = cpu', '42501', 'ALTER SYSTEM is refused');

# -------------------------------------------------------------- the maximum of threads

$node->safe_psql('postgres', q{
	ALTER SYSTEM SET mgpu.max_cpu_threads = 3;
	ALTER ROLE owner SET mgpu.max_cpu_threads = 2;
	SELECT pg_reload_conf()});
$node->poll_query_until('postgres', q{SELECT current_setting('mgpu.max_cpu_threads') = '3'});
value_is('plain', 'postgres', 'SET mgpu.cpu_threads = 64; SHOW mgpu.cpu_threads', '3', 'ALTER SYSTEM sets a maximum');
value_is('owner', 'postgres', 'SET mgpu.cpu_threads = 64; SHOW mgpu.cpu_threads', '2', 'ALTER ROLE by a superuser another one');
value_is('postgres', 'postgres', 'SET mgpu.max_cpu_threads = 0; SET mgpu.cpu_threads = 64; SHOW mgpu.cpu_threads', '64', 'may lift it');
SKIP:
{
	skip 'GRANT SET came with PostgreSQL 15', 2 if $version < 15;
	$node->safe_psql('postgres', 'GRANT SET ON PARAMETER mgpu.max_cpu_threads TO plain');
	value_is('plain', 'postgres', 'SET mgpu.max_cpu_threads = 5; SET mgpu.cpu_threads = 64; SHOW mgpu.cpu_threads', '5', 'GRANT SET allows it');
	state_is('owner', 'postgres', 'SET mgpu.max_cpu_threads = 5', '42501', 'GRANT SET to another role does not');
}

# ------------------------------------------------------------------------ the notice

my $notice = qr/mgpu_pg is not preloaded/;
my $install = 'DROP EXTENSION IF EXISTS mgpu_pg; CREATE EXTENSION mgpu_pg;';

unlike((said('postgres', 'postgres', $install))[2], $notice, 'preloaded: no notice');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET session_preload_libraries');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'mgpu_pg'");
$node->restart;
unlike((said('postgres', 'postgres', $install))[2], $notice, 'preloaded by the server: no notice');
value_is('plain', 'postgres', 'SHOW mgpu.executor', 'cpu', 'preloaded by the server: settings are known');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
my $heard = (said('postgres', 'postgres', "$install $install"))[2];
is(scalar(() = $heard =~ /$notice/g), 1, 'not preloaded: one notice');
like($heard, qr/DETAIL:.*plain SQL does not use its plans/, 'not preloaded: what is lost');
# a build with TEST_SIZES=yes plays a GPU, others have one or not
my %first = (cpu => qr/HINT:  Add mgpu_pg to session_preload_libraries, which needs no restart/, gpu => qr/HINT:  Add mgpu_pg to shared_preload_libraries and restart the server/);
my $built = built_for();
like($heard, $first{$built}, "not preloaded, built for a $built: and how to preload");
$ENV{MGPU_PLAYED_DEVICES} = 2;
$node->restart;
$built = built_for();
like((said('postgres', 'postgres', $install))[2], $first{$built}, "the same, built for a $built");
unlike((said('postgres', 'postgres', "SET client_min_messages = warning; $install"))[2], $notice, 'notices off: none');
unlike((said('postgres', 'postgres', 'BEGIN; DROP EXTENSION mgpu_pg; CREATE EXTENSION mgpu_pg; ROLLBACK; SELECT 1'))[2], $notice,
	'rolled back: none');
unlike((said('plain', 'postgres', "$load; SHOW mgpu.executor"))[2], $notice, 'plain: use alone gives no notice');

$node->stop;
done_testing();
