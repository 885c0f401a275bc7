# EXPLAIN (MGPU): it prints why a query level got no MgpuGroup node, for the statement that is explained
# and for no other one.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('explain_option', conf => [ "session_preload_libraries = 'mgpu_pg'" ]);

if ($node->safe_psql('postgres', 'SHOW server_version_num') < 180000)
{
	$node->stop;
	plan skip_all => 'extensions have options of EXPLAIN since PostgreSQL 18';
}
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT i % 100 AS g, i AS v FROM generate_series(1, 10000) i;
	ANALYZE t;
	CREATE FUNCTION one_group(OUT n bigint) LANGUAGE plpgsql STABLE AS 'BEGIN SELECT count(*) INTO n FROM t; END';
	CREATE FUNCTION folded(OUT n bigint) LANGUAGE plpgsql IMMUTABLE AS 'BEGIN SELECT count(*) INTO n FROM t; END';
	CREATE FUNCTION in_sql() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(v) FROM t; SELECT count(*) FROM t';
	CREATE FUNCTION explains(OUT plan text) LANGUAGE plpgsql AS
		$$BEGIN EXECUTE 'EXPLAIN (MGPU, FORMAT json) SELECT DISTINCT ON (g) g, v FROM t' INTO plan; END$$;
	CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql IMMUTABLE AS
		$$BEGIN PERFORM count(*) FROM t; RAISE 'failed'; END$$;
	CREATE TABLE target (g int, n bigint);
	CREATE RULE two AS ON INSERT TO target DO ALSO SELECT jsonb_agg(v) FROM t;
	CREATE TABLE other (n bigint);
	CREATE RULE clears AS ON INSERT TO other DO ALSO DELETE FROM target});

my $session = MgpuTest->session($node);
my $offered = 'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM t GROUP BY g';
my $sets = 'GROUPING SETS need the rows of a table, or of a join that a table job does, which are read for each of them';
my $plain = "there is one group, and an aggregate needs PostgreSQL's own function";
my $distinct = 'DISTINCT ON is for MgpuTop';

# The reasons that a statement prints as text, in order.
sub reasons_are
{
	my ($sql, $expected, $name) = @_;
	my $output = $session->query($sql);

	is_deeply([ $output =~ /^\s*No MgpuGroup: (.*)$/mg ], $expected, $name) or diag($output);
	return;
}

$session->query('SET mgpu.enable_group = force');
reasons_are("EXPLAIN (MGPU) $offered", [], 'a node: no reason');
reasons_are('EXPLAIN SELECT jsonb_agg(v) FROM t', [], 'no option: no reason');
reasons_are('EXPLAIN (MGPU) SELECT jsonb_agg(v) FROM t', [$plain], 'no node: a reason');
reasons_are('EXPLAIN (MGPU, MGPU off) SELECT jsonb_agg(v) FROM t', [], 'the last value counts');
reasons_are('EXPLAIN (MGPU) SELECT v FROM t', [], 'no groups: no reason');
reasons_are("EXPLAIN (MGPU) SELECT jsonb_agg(n) FROM (SELECT DISTINCT ON (g) g, v AS n FROM t) d, ($offered) o",
	[ $distinct, $plain ], 'a reason for each level that got none');
reasons_are("EXPLAIN (MGPU) CREATE TABLE made AS SELECT g, v FROM t WHERE random() >= 0 GROUP BY GROUPING SETS (g, v)", [$sets], 'CREATE TABLE AS');
# the rule's statement has the other one as a subquery
reasons_are('EXPLAIN (MGPU) INSERT INTO target SELECT g, v FROM t WHERE random() >= 0 GROUP BY GROUPING SETS (g, v)', [ $sets, $sets, $plain ],
	'two plans by a rule, each with its own');
reasons_are('EXPLAIN (MGPU) INSERT INTO other VALUES ((SELECT length(jsonb_agg(v)::text) FROM t))', [$plain], 'two plans, of which one has none');

# ------------------------------------------------------------------- formats

my %shown = (
	json => qr/"No MgpuGroup": \["$plain"\]/,
	yaml => qr/^ *No MgpuGroup: \n *- "$plain"$/m,
	xml => qr{<No-MgpuGroup>\s*<Item>$plain</Item>\s*</No-MgpuGroup>});
foreach my $format (sort keys %shown)
{
	like($session->query("EXPLAIN (FORMAT $format, MGPU) SELECT jsonb_agg(v) FROM t"), $shown{$format}, $format);
	unlike($session->query("EXPLAIN (FORMAT $format, MGPU) $offered"), qr/No.MgpuGroup/, "$format, a node");
}

# ------------------------------------------------------------ other statements

reasons_are("EXPLAIN (ANALYZE, MGPU) SELECT one_group(), in_sql() FROM ($offered) o LIMIT 1", [],
	'functions that are executed report nothing');
reasons_are('EXPLAIN (ANALYZE, MEMORY, MGPU) SELECT one_group(), in_sql(), jsonb_agg(v) FROM t', [$plain], 'the same with MEMORY');
reasons_are('EXPLAIN (MGPU) SELECT folded()', [], 'nor do those that are folded');
reasons_are('EXPLAIN (ANALYZE, MGPU) SELECT explains(), jsonb_agg(v) FROM t', [$plain], 'nor does another EXPLAIN');
like($session->query('SELECT explains()'), qr/"No MgpuGroup": \["$distinct"\]/, 'EXPLAIN in a function');
reasons_are('EXPLAIN (ANALYZE, MGPU) INSERT INTO target SELECT length(explains()), v FROM t WHERE random() >= 0 GROUP BY GROUPING SETS (g, v) LIMIT 1',
	[ $sets, $sets, $plain ], 'two plans, and another EXPLAIN between');

# ------------------------------------------------------------- EXPLAIN EXECUTE

$session->query('PREPARE p(int) AS SELECT jsonb_agg(v) FROM t WHERE g = $1');
$session->query('SET plan_cache_mode = force_custom_plan');
reasons_are('EXPLAIN (MGPU) EXECUTE p(1)', [$plain], 'EXECUTE, planned for it');
reasons_are('EXPLAIN (MGPU, MEMORY) EXECUTE p(1)', [$plain], 'EXECUTE with MEMORY');
$session->query('SET plan_cache_mode = force_generic_plan');
reasons_are('EXPLAIN (MGPU) EXECUTE p(1)', [$plain], 'EXECUTE, a plan for any value');
reasons_are('EXPLAIN (ANALYZE, MGPU) EXECUTE p(1)', [], 'EXECUTE, of a plan that was kept');
$session->query('RESET plan_cache_mode; PREPARE q(int) AS SELECT count(DISTINCT v) FILTER (WHERE g < 5), jsonb_agg(v) FROM t WHERE v < $1 AND random() >= 0 GROUP BY GROUPING SETS ((g), ())');
reasons_are('EXPLAIN (MGPU) EXECUTE q(1)', [$sets], "EXECUTE, number $_") foreach 1 .. 5;
reasons_are('EXPLAIN (MGPU) EXECUTE q(1)', [$sets], 'EXECUTE, where two plans are compared');

# -------------------------------------------------------------------- errors

foreach my $failing ('EXPLAIN (MGPU, FORMAT none) SELECT jsonb_agg(v) FROM t', 'EXPLAIN (MGPU) SELECT jsonb_agg(v), fails() FROM t',
	'EXPLAIN (ANALYZE, MGPU) SELECT 1 / (length(jsonb_agg(v)::text) - length(jsonb_agg(v)::text)) FROM t', 'EXPLAIN (MGPU 3) SELECT jsonb_agg(v) FROM t')
{
	$session->query($failing);
	isnt($session->{state}, '', "fails: $failing");
	reasons_are('EXPLAIN SELECT jsonb_agg(v) FROM t', [], 'then: no option, no reason');
	reasons_are('EXPLAIN (MGPU) SELECT DISTINCT ON (g) g, v FROM t', [$distinct], 'then: its own reason');
}
like($session->query(q{DO $$
	BEGIN
		EXECUTE 'EXPLAIN (MGPU) SELECT jsonb_agg(v), fails() FROM t';
	EXCEPTION WHEN OTHERS THEN
		PERFORM jsonb_agg(v) FROM t;
		RAISE NOTICE '%', explains();
	END
	$$}), qr/"No MgpuGroup": \["$distinct"\]/, 'a failed EXPLAIN in a block, and another one');

# ------------------------------------------------------------- in and beside NOTICE

$session->query('SET mgpu.report_declined = on');
like($session->query('EXPLAIN (MGPU) SELECT jsonb_agg(v) FROM t'), qr/NOTICE:.*no MgpuGroup node: $plain.*No MgpuGroup: $plain/s,
	'the notice says the same');
$session->query('SET mgpu.report_declined = off; SET mgpu.enable_group = off');
reasons_are("EXPLAIN (MGPU) $offered", ['mgpu.enable_group is off'], 'the node is off');
$session->query('SET mgpu.enable_group = on');
reasons_are('EXPLAIN (MGPU) SELECT g, min(v) FROM (VALUES (1, 2), (2, 3)) s(g, v) GROUP BY g',
	["PostgreSQL's own plan is expected to be faster"], 'it would be slower');
$session->query('CREATE INDEX ON t (g, v)');
reasons_are("EXPLAIN (MGPU) $offered", [], 'it is faster alone');
reasons_are("EXPLAIN (MGPU) $offered ORDER BY g LIMIT 1", ["PostgreSQL's own plan is expected to be faster as a whole"],
	'but not with a LIMIT');
reasons_are("EXPLAIN (MGPU) SELECT * FROM ($offered ORDER BY g LIMIT 1) a, ($offered) b", ["PostgreSQL's own plan is expected to be faster as a whole"],
	'one of two has a LIMIT');

SKIP:
{
	chomp(my $libraries = `pg_config --pkglibdir`);
	skip 'no pg_overexplain', 1 unless -e "$libraries/pg_overexplain.so";
	my $both = MgpuTest->session($node, options => '-c session_preload_libraries=pg_overexplain,mgpu_pg');

	like($both->query('EXPLAIN (MGPU, DEBUG) SELECT jsonb_agg(v) FROM t'), qr/PlannedStmt:.*No MgpuGroup: $plain/s,
		"beside another extension's option");
	$both->close;
}

SKIP:
{
	skip 'auto_explain has such options since 19', 3 if $session->query('SHOW server_version_num') < 190000;
	$session->query("LOAD 'auto_explain'");
	skip 'no auto_explain', 3 if $session->{state} ne '';
	like($session->query("SET auto_explain.log_extension_options = 'mgpu perhaps'"), qr/option "mgpu" requires a Boolean value/, 'auto_explain: no Boolean value');
	$session->query("SET auto_explain.log_extension_options = 'mgpu'; SET auto_explain.log_min_duration = 0");
	is($session->{state}, '', 'auto_explain: the option');
	# it is an EXPLAIN of what was planned before
	like($session->query('SET client_min_messages = log; SELECT jsonb_agg(v) IS NULL FROM t'), qr/plan:\n(?!.*No MgpuGroup).*Aggregate/s,
		'a plan is logged, without reasons');
}

$session->close;
$node->stop;
done_testing();
