# Parts of texts that regular expressions find, and texts in which they are replaced, in jobs: substring(x FROM 'pattern') and regexp_replace.
# The answers are those of PostgreSQL's own functions, also for expressions and texts at random.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_service_node('matches', conf => [ 'max_parallel_workers_per_gather = 0', 'shared_buffers = 64MB', 'mgpu.cpu_threads = 2', 'jit = off', "work_mem = '64MB'" ]);
my $session = MgpuTest->session($node, options => '-c synchronize_seqscans=off');
my $rows = sized(tiered(7_000, 20_000), 120_000);

sub run { return $session->run(@_); }

run('CREATE TABLE hits (id int PRIMARY KEY, url text, referrer text, memo varchar(60), name char(20), g int)',
	"INSERT INTO hits SELECT i, CASE WHEN i % 31 > 0 THEN (ARRAY['https://', 'http://', 'ftp://', ''])[1 + i % 4] || (ARRAY['www.', '', 'm.'])[1 + i % 3] || 'site' || i % 20 || '.example' || (ARRAY['/', '/a/b.html', '', '/ü/漢字'])[1 + i % 4 / 1 % 4]
		|| (ARRAY['', '?utm_source=mail&x=1', '?x=2&utm_source=Ö' || i % 5, '?utm_source='])[1 + i % 7 % 4] END, 'https://' || (ARRAY['www.', ''])[1 + i % 2] || 'r' || i % 40 || '.org/p?q=' || i, 'pay ' || i % 50 || CASE WHEN i % 3 > 0 THEN ' no ' || i % 100 ELSE '' END,
		'item ' || i % 30, i % 7 FROM generate_series(1, $rows) i", 'CREATE TABLE sites (id int PRIMARY KEY, label text)', "INSERT INTO sites SELECT i, 'site-' || i FROM generate_series(0, 9) i", 'VACUUM ANALYZE');

# Keys that are wide are numbers of names, which no GPU has.
sub is_job { return $_[0] =~ /Executor: \w+\n.*Program: \d+/s; }

# ---- what people ask
check_plans($session, 'parts', \&is_job, "SELECT coalesce(substring(url FROM 'utm_source=([^&]+)'), '(none)'), count(*) FROM hits GROUP BY 1", "SELECT substring(url FROM '^https?://([^/?]+)'), count(*), max(id) FROM hits GROUP BY 1",
	"SELECT substring(url, '.*/([^/?]*)'), count(*) FROM hits GROUP BY 1", "SELECT substring(url FROM 'x=(.*?)&'), count(*) FROM hits GROUP BY 1", "SELECT substring(url FROM '(?i)UTM_SOURCE=(.)'), count(*) FROM hits GROUP BY 1", "SELECT substring(url FROM '[^\\x01-\\x7f]+'), count(*) FROM hits GROUP BY 1");
check_plans($session, 'replaced', \&is_job, "SELECT regexp_replace(referrer, '^https?://(www\\.)?([^/]+).*\$', '\\2'), count(*) FROM hits GROUP BY 1", "SELECT regexp_replace(url, '\\?.*', ''), count(*) FROM hits GROUP BY 1",
	"SELECT regexp_replace(url, 'x*', '-', 'g'), count(*) FROM hits GROUP BY 1", "SELECT regexp_replace(url, '', '^'), regexp_replace(url, '\$', '\$'), count(*) FROM hits GROUP BY 1, 2");
check_programs($session, 'on each executor', 1, "SELECT substring(name FROM '[0-9]+'), count(*) FROM hits GROUP BY 1", "SELECT substring(memo FROM '^[a-z]+ ([0-9]+)'), count(*) FROM hits GROUP BY 1", "SELECT regexp_replace(substr(memo, 5), '[0-9]+\$', ''), count(*) FROM hits GROUP BY 1",
	"SELECT regexp_replace(memo, '[0-9]+', '#', 'g'), count(*) FROM hits GROUP BY 1", "SELECT regexp_replace(memo, '([a-z]+) ([0-9]+)', '\\2\\\\\\1', 'g'), count(*) FROM hits GROUP BY 1", "SELECT regexp_replace(memo, 'NO|PAY', '', 'gi'), count(*) FROM hits GROUP BY 1",
	"SELECT g, count(*) FROM hits WHERE substring(url FROM 'utm_source=([^&]+)') = 'mail' GROUP BY 1", "SELECT g, count(*) FROM hits WHERE substring(url FROM '^(.)') IS NULL GROUP BY 1", "SELECT g, max(length(regexp_replace(referrer, '[0-9]', '_.', 'g'))) FROM hits GROUP BY 1",
	"SELECT id, substring(memo FROM '[^ ]+\$'), regexp_replace(memo, '^.', '\\&\\&') FROM hits ORDER BY g DESC, id LIMIT 20", "SELECT label, substring(memo FROM 'no ([0-9])'), count(*) FROM hits JOIN sites ON sites.id = g GROUP BY 1, 2");
check_programs($session, 'elements of arrays', 1, "SELECT (regexp_match(memo, 'pay (\\d+)( no)?'))[1]::int, count(*) FROM hits GROUP BY 1", "SELECT (regexp_match(memo, '([a-z]+) (\\d+)'))[2], (regexp_match(memo, 'no \\d+'))[1], count(*) FROM hits GROUP BY 1, 2",
	"SELECT (string_to_array(memo, ' '))[1], (string_to_array(memo, ' '))[4]::int, count(*) FROM hits GROUP BY 1, 2", "SELECT g, count((string_to_array(substr(memo, id % 9), ' no '))[2]), count((string_to_array(left(memo, id % 3), ''))[1]) FROM hits GROUP BY 1",
	"SELECT split_part(memo, ' ', -1), split_part(memo, ' no ', -2), count(*) FROM hits GROUP BY 1, 2", "SELECT g, count(DISTINCT split_part(referrer, '/', -3)), max(length(split_part(memo, 'x', -1))), max(length(split_part(memo, '', -1))), count(split_part(left(memo, id % 3), 'p', -2)) FROM hits GROUP BY 1");
check_programs($session, 'elements that are none', 0, "SELECT (regexp_match(memo, '(p)ay', 'i'))[1], count(*) FROM hits GROUP BY 1", "SELECT (regexp_match(memo, '(p)ay'))[2], count(*) FROM hits GROUP BY 1", "SELECT (regexp_match(memo, 'p'))[2], count(*) FROM hits GROUP BY 1", "SELECT (regexp_match(memo, '(p)(x)?'))[2], count(*) FROM hits GROUP BY 1",
	"SELECT (string_to_array(memo, ' '))[0], count(*) FROM hits GROUP BY 1", "SELECT (string_to_array(memo, NULL))[1], count(*) FROM hits GROUP BY 1", "SELECT (string_to_array(memo, ' '))[1:2], count(*) FROM hits GROUP BY 1", "SELECT (string_to_array(memo, ' ', 'no'))[3], count(*) FROM hits GROUP BY 1", "SELECT (string_to_array(memo, ' '))[g], count(*) FROM hits GROUP BY 1");
check_programs($session, 'numbers of parts', 1, "SELECT substring(memo FROM 'pay (\\d+)')::int, count(*) FROM hits GROUP BY 1", "SELECT g, sum(substring(memo FROM '\\d+\$')::numeric), max(split_part(memo, ' ', 2)::bigint), avg(split_part(name, ' ', 2)::float8) FROM hits GROUP BY 1",
	"SELECT g, count(*) FROM hits WHERE split_part(memo, ' ', 2)::int > 20 GROUP BY 1");
check_programs($session, 'parts that are no numbers', 0, "SELECT g, max(memo::int) FROM hits GROUP BY 1", "SELECT g, max(substr(memo, 4, 3)::int) FROM hits GROUP BY 1", "SELECT g, max((substr(memo, 5, 2) || '.5')::int) FROM hits GROUP BY 1");
check_programs($session, 'expressions that are none', 0, map { "SELECT $_, count(*) FROM hits GROUP BY 1" } "substring(memo FROM '(p)ay \\1')", "substring(memo FROM 'pay(?=.[0-9])')", "substring(memo FROM '(x)?pay')", "substring(memo FROM '(pay)|(no)')", 'substring(memo FROM name::text)',
	"regexp_replace(memo, 'p', '', 'x')", "regexp_replace(memo, 'p', name::text)");
is($session->answer_by($_, "SELECT substring(url FROM '('), count(*) FROM hits GROUP BY 1"), $session->answer_by('off', "SELECT substring(url FROM '('), count(*) FROM hits GROUP BY 1"), "an expression that is an error, $_") foreach 'off', 'force';

is($session->answer_by($_, "SELECT substring(url FROM '('), memo ~ ')(', count(*) FROM hits WHERE id < 0 GROUP BY 1, 2"), '', "of which no row asks, $_") foreach 'off', 'force';

# ---- texts that take too long: all places to divide one are tried
run('CREATE TABLE long AS SELECT i AS id, i % 3 AS g, CASE WHEN i % 500 = 0 THEN \'b\' || repeat(\'a\', 1500) ELSE \'b\' || i END AS t FROM generate_series(1, ' . sized(3_000, 60_000) . ') i', 'ALTER TABLE long ALTER t SET STORAGE PLAIN', 'VACUUM ANALYZE long');
check_programs($session, 'texts of many places', 0, "SELECT substring(t FROM '^(.*)b(.*)\$'), count(*) FROM long GROUP BY 1");
check_programs($session, 'texts of few', 1, "SELECT length(substring(t FROM '^b(.*)a\$')), count(*) FROM long GROUP BY 1", "SELECT regexp_replace(t, 'a+', ''), count(*) FROM long GROUP BY 1", "SELECT substring(t FROM '[0-9]\$'), count(*) FROM long GROUP BY 1");

# ---- at random
run("CREATE TABLE texts AS SELECT row_number() OVER () AS id, t FROM (SELECT string_agg(CASE n >> k & 1 WHEN 0 THEN 'a' ELSE 'b' END, '' ORDER BY k) AS t FROM generate_series(0, 6) l, generate_series(0, (1 << l) - 1) n, generate_series(0, l - 1) k GROUP BY l, n
	UNION ALL SELECT '' UNION ALL SELECT NULL UNION ALL SELECT string_agg((ARRAY['a', 'b', 'a', 'b', 'c', '1', 'é', ' ', E'\\n', '漢'])[1 + abs(hashint8(i * 31 + j)) % 10], '' ORDER BY j) FROM generate_series(1, 400) i, generate_series(1, 1 + i % 13) j GROUP BY i) x", 'VACUUM ANALYZE texts');
my $num_texts = $session->query('SELECT count(*) FROM texts');
srand(54);

sub pick { return $_[ int rand @_ ]; }

sub atom
{
	my ($depth) = @_;
	my $which = rand;

	return pick('a', 'b', 'c', '1', 'é', ' ', 'ab', 'ba') if $which < 0.4;
	return pick('.', '[ab]', '[^a]', '\d', '\w', '[^b ]', '[[:alpha:]]', '\s', '[a-c1]', '\D') if $which < 0.6;
	return (rand() < 0.75 ? '(' : '(?:') . expression($depth - 1) . ')' if $depth > 0;
	return pick('a', 'b', '.');
}

sub branch
{
	my ($depth) = @_;

	return join('', map { rand() < 0.04 ? pick('^', '$', '\m', '\M', '\y', '\A', '\Z') : atom($depth) . pick('', '', '', '', '*', '+', '?', '{2}', '{1,2}', '{0,2}', '{2,}', '{0}', '*?', '+?', '??', '{1,2}?') } 1 .. 1 + int rand 4);
}

sub expression
{
	my ($depth) = @_;

	return join('|', map { branch($depth) } 1 .. (rand() < 0.2 ? 2 : 1));
}

# PostgreSQL's answers are a table, and a job compares its own with them.
my ($in_jobs, @wrong) = (0);
foreach (1 .. 200)
{
	my $expression = pick('', '', '', '^') . expression(2) . pick('', '', '', '$');
	my $instead = join('', map { pick('x', '-', '\1', '\2', '\3', '\9', '\&', '\\\\', '\z', '\\') } 1 .. 4);
	my @calls = ("substring(t FROM '$expression')", "regexp_replace(t, '$expression', '$instead')", "regexp_replace(t, '$expression', '<\\1\\2>', 'g')");
	my $query = 'SELECT count(*), ' . join(', ', map { "count(*) FILTER (WHERE $calls[$_] IS DISTINCT FROM a$_)" } 0 .. $#calls) . ' FROM answers';
	my $executor = pick('cpu', 'gpu');

	$session->favour('off');
	run("SET mgpu.executor = $executor", 'DROP TABLE IF EXISTS answers', 'CREATE TABLE answers AS SELECT t, ' . join(', ', map { "$calls[$_] AS a$_" } 0 .. $#calls) . ' FROM texts');
	push @wrong, "$executor: $query" if $session->answer_by('force', $query) ne "$num_texts|0|0|0";
	$in_jobs++ if $session->analyze($query) =~ /Executor: $executor\n.*Program: \d+/s;
}
is(join("\n", @wrong), '', 'expressions at random');
# threads have larger tables, where tests are
cmp_ok($in_jobs, '>', $MgpuTest::LARGE ? 30 : 100, 'of which most run in jobs');

# ---- each byte a character
$session->run("CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C'");
my $query = "SELECT substring(t FROM '[é-ü]+(.)'), regexp_replace(t, '(.)é', '\\1\\1', 'g'), count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2";
my %latin = map {
	$_ => $node->safe_psql('latin', "SET client_encoding = utf8; SET mgpu.enable_group = $_; $query")
} $node->safe_psql('latin', "SET client_encoding = utf8; CREATE EXTENSION mgpu_pg; CREATE TABLE t AS SELECT (ARRAY['aé', 'éüx', 'bb', '', 'ßéé'])[1 + i % 5] || i % 3 AS t FROM generate_series(1, 5000) i; ANALYZE t") ? () : ('force', 'off');
is($latin{force}, $latin{off}, 'another encoding');

$session->close;
$node->stop;
done_testing();
