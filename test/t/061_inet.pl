# Addresses in jobs: as keys of groups, joins and orders, counted once, least and greatest, returned, in conditions and functions.  They are of IPv4 and
# IPv6, with bits behind the network and without.  What statistics do not know of is PostgreSQL's.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('inet', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'", 'enable_mergejoin = off', 'enable_nestloop = off', 'autovacuum = off' ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 100_000);

sub run { return $session->run(@_); }

# host: of IPv4, all bits are the network; address: bits behind it; six: of IPv6; any: of both, of few bits; net: cidr of both.
my $six = q{set_masklen('2001:db8::'::inet + i % 300::bigint * 4294967296 + i % 3, CASE i % 4 WHEN 0 THEN 64 WHEN 1 THEN 127 ELSE 128 END)};
my $any = q{CASE WHEN i % 17 = 0 THEN NULL WHEN i % 2 = 0 THEN set_masklen('128.0.0.0'::inet + (i % 5) * 33554431::bigint, i % 33) ELSE set_masklen('::'::inet + (i % 5) * 2305843009213693951, i % 129) END};
run("CREATE TABLE links (id int, kind int, host inet, address inet, six inet, either inet, net cidr, amount int)",
	"INSERT INTO links SELECT i, i % 7, '10.0.0.0'::inet + i % 500 * 13, CASE WHEN i % 11 > 0 THEN set_masklen('10.0.0.0'::inet + i % 700, 20 + i % 13) END, $six, $any, network($any), i % 1000 FROM generate_series(1, $rows) i",
	'CREATE TABLE sites (ip inet, net cidr, six inet, name text, gate inet)',
	"INSERT INTO sites SELECT '10.0.0.0'::inet + i * 13, ('10.0.' || i || '.0/24')::cidr, $six, 'site ' || i % 9, CASE WHEN i % 6 > 0 THEN set_masklen('10.9.0.1'::inet + i * 256, 24) END FROM generate_series(0, 255) i",
	"CREATE TABLE nets AS SELECT DISTINCT either AS a, net AS c, masklen(net) AS n FROM links WHERE kind = 3", 'VACUUM ANALYZE');

sub check_all
{
	my ($how) = @_;

	check_programs($session, "groups $how", 1, 'SELECT host, count(*), sum(amount) FROM links GROUP BY 1', 'SELECT address, count(*) FROM links GROUP BY 1', 'SELECT six, kind, sum(amount) FROM links GROUP BY 1, 2', 'SELECT either, count(*), min(amount) FROM links GROUP BY 1', 'SELECT net, count(*) FROM links GROUP BY 1',
		'SELECT host, kind, net, count(*) FROM links WHERE amount < 500 GROUP BY 1, 2, 3', 'SELECT either, count(*) FROM links GROUP BY 1 ORDER BY 1 DESC LIMIT 20', "SELECT coalesce(address, '::/7'), count(*) FROM links GROUP BY 1", 'SELECT CASE WHEN kind < 3 THEN host ELSE address END, count(*) FROM links GROUP BY 1');
	check_programs($session, "values of groups $how", 1, 'SELECT kind, count(DISTINCT host), count(DISTINCT address), count(DISTINCT six) FROM links GROUP BY 1', 'SELECT count(DISTINCT either), count(DISTINCT net) FROM links', 'SELECT kind, min(host), max(host), min(address), max(address) FROM links GROUP BY 1', 'SELECT kind, min(six), max(six), min(either), max(net) FROM links GROUP BY 1',
		'SELECT kind, count(address), count(either) FROM links GROUP BY 1', 'SELECT kind, max(either) FILTER (WHERE amount < 300) FROM links GROUP BY 1', 'SELECT kind, count(DISTINCT (host, net)) FROM links GROUP BY 1');
	check_programs($session, "functions $how", 1, 'SELECT network(host), count(*) FROM links GROUP BY 1', 'SELECT network(set_masklen(host, 24)), sum(amount) FROM links GROUP BY 1', 'SELECT set_masklen(address, 16), count(*) FROM links GROUP BY 1', 'SELECT set_masklen(net, 3), count(*) FROM links WHERE masklen(net) > 3 GROUP BY 1', 'SELECT network(six), network(either), count(*) FROM links GROUP BY 1, 2',
		'SELECT either::cidr, count(*) FROM links GROUP BY 1', 'SELECT family(either), masklen(either), count(*) FROM links GROUP BY 1, 2', 'SELECT host(host), count(*) FROM links GROUP BY 1', 'SELECT address::text, count(*) FROM links GROUP BY 1', 'SELECT host(six), count(*) FROM links GROUP BY 1', 'SELECT kind, min(host(address) COLLATE "C") FROM links GROUP BY 1', 'SELECT text(either), sum(amount) FROM links GROUP BY 1');
	check_programs($session, "conditions $how", 1, map { "SELECT kind, count(*), sum(amount) FROM links WHERE $_ GROUP BY 1" } "host = '10.0.0.13'", "host <> '10.0.0.13'", "host IN ('10.0.0.13', '10.0.0.26', '::1')", "host NOT IN ('10.0.0.13', '10.0.0.26')", "host << '10.0.4.0/22'", "host <<= '10.0.0.13'", "address << '10.0.0.128/25'", "address <<= '10.0.1.0/24'", "address >> '10.0.1.7'", "either >>= '128.0.0.0/8'",
		"either && '::/3'", "six << '2001:db8:0:10::/60' OR six IS NULL", "NOT either << '0.0.0.0/0'", "net << '::/0'", 'address <<= set_masklen(host, 25)', 'address && host', 'address = host', "address > '10.0.1.0'", "either BETWEEN '128.0.0.0/3' AND '::/9'", 'either <= net', 'family(either) = 6', 'masklen(address) < 24', "network(address) = '10.0.0.0/26'", "host(host) = '10.0.0.39'", "address::text LIKE '%.7/2_'", 'either IS DISTINCT FROM address', 'net IS NULL', "nullif(host, '10.0.0.13') IS NULL");
	check_programs($session, "joins $how", 1, 'SELECT s.name, count(*), sum(amount) FROM links l JOIN sites s ON s.ip = l.host GROUP BY 1', 'SELECT l.host, s.name, s.gate, count(*) FROM links l JOIN sites s ON s.ip = l.host GROUP BY 1, 2, 3', 'SELECT l.kind, count(s.ip), count(DISTINCT s.gate), min(s.gate) FROM links l LEFT JOIN sites s ON s.ip = l.host GROUP BY 1', 'SELECT s.name, count(*) FROM links l JOIN sites s ON s.net = network(set_masklen(l.host, 24)) GROUP BY 1',
		'SELECT s.name, count(*) FROM links l JOIN sites s ON s.six = l.six GROUP BY 1', 'SELECT l.kind, count(*), sum(n.n) FROM links l JOIN nets n ON n.c = l.net GROUP BY 1', 'SELECT l.kind, count(*) FROM links l JOIN nets n ON n.a = l.net GROUP BY 1', 'SELECT l.kind, count(*) FROM links l JOIN nets n ON n.a = l.either AND n.n = l.kind GROUP BY 1', 'SELECT kind, count(*) FROM links l WHERE EXISTS (SELECT FROM sites s WHERE s.ip = l.host) GROUP BY 1',
		"SELECT kind, count(*) FROM links l WHERE NOT EXISTS (SELECT FROM sites s WHERE s.ip = l.host AND s.gate << '10.9.64.0/18') GROUP BY 1", 'SELECT masklen(s.gate), family(s.six), count(*) FROM links l JOIN sites s ON s.ip = l.host GROUP BY 1, 2', 'SELECT network(s.gate), count(*) FROM links l JOIN sites s ON s.ip = l.host GROUP BY 1');
	check_programs($session, "rows $how", 1, 'SELECT id, host, address FROM links ORDER BY amount, id LIMIT 30', 'SELECT id, either, six FROM links ORDER BY either, six DESC, id LIMIT 30', 'SELECT either, net, id FROM links ORDER BY net DESC, either NULLS FIRST, id', "SELECT id, host, net, address FROM links WHERE address << '10.0.1.0/25' ORDER BY address, id", 'SELECT id, host, s.gate FROM links l JOIN sites s ON s.ip = l.host ORDER BY s.gate, id LIMIT 40',
		'SELECT * FROM (SELECT id, six, rank() OVER (PARTITION BY host ORDER BY six, amount DESC) r FROM links) q WHERE r <= 2');
}

check_all('of rows');
run('SET max_parallel_workers_per_gather = 2', 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0');
check_all('beside workers');
run('RESET max_parallel_workers_per_gather');

# Rows of a scan, and windows over them.
check_plans($session, 'a scan', sub { return 1; }, "SELECT l.id, l.host, s.gate, l.either FROM links l JOIN sites s ON s.ip = l.host WHERE l.address << '10.0.0.0/23'");
check_programs($session, 'windows', 1, 'SELECT host, count(*) FROM (SELECT host, lag(address) OVER (PARTITION BY host ORDER BY id) a, address FROM links) q WHERE a = address OR a IS NULL GROUP BY 1', 'SELECT a, count(*) FROM (SELECT lag(either) OVER (PARTITION BY kind ORDER BY either, id) a FROM links) q GROUP BY 1');

# A parameter, and errors.
run("PREPARE within (inet, cidr) AS SELECT kind, count(*) FROM links WHERE address << \$1 AND net <> \$2 GROUP BY 1", 'SET plan_cache_mode = force_generic_plan');
foreach my $values ("'10.0.1.0/24', '::/0'", "'::/0', '128.0.0.0/1'", "NULL, '::/0'")
{
	is($session->answer_by('force', "EXECUTE within ($values)"), $session->answer_by('off', "EXECUTE within ($values)"), "a parameter: $values");
}
is($session->answer_by('force', 'SELECT set_masklen(either, 100), count(*) FROM links GROUP BY 1'), $session->answer_by('off', 'SELECT set_masklen(either, 100), count(*) FROM links GROUP BY 1'), 'an error');

# Nothing is known of a table; then other values come than statistics know.
run('CREATE TABLE fresh AS SELECT * FROM links');
check_programs($session, 'without statistics', 1, 'SELECT host, count(*) FROM fresh GROUP BY 1', 'SELECT address, min(host) FROM fresh GROUP BY 1');
check_programs($session, 'without statistics, too long', 0, 'SELECT either, count(*) FROM fresh GROUP BY 1');
run("INSERT INTO links (id, kind, host) VALUES (-1, 3, '10.0.0.0/8'), (-2, 3, '10.0.0.1/8'), (-3, 4, '::1')", "INSERT INTO sites (ip, name) VALUES ('10.0.0.1/8', 'late')");
check_programs($session, 'others than are known', 0, 'SELECT host, count(*) FROM links GROUP BY 1', 'SELECT kind, max(host) FROM links GROUP BY 1', 'SELECT s.name, count(*) FROM links l JOIN sites s ON s.ip = l.host GROUP BY 1');
check_programs($session, 'others in conditions', 1, "SELECT kind, count(*) FROM links WHERE host << '10.0.0.0/7' GROUP BY 1", "SELECT kind, count(*) FROM links WHERE host IN ('::1', '10.0.0.1/8') GROUP BY 1");
run('ANALYZE links', 'ANALYZE sites');
check_programs($session, 'once they are known', 1, 'SELECT count(*), sum(amount) FROM links WHERE host IS NOT NULL');

done_testing();
