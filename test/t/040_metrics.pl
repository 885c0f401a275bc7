# The queries of docker/metrics.yml, as an exporter asks them: each by a role that has pg_monitor alone, on a server with a
# service and on one without.  And docker/grafana.json: all that it shows is there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use MgpuTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $files = "$FindBin::Bin/../../docker";
$files = 'docker' unless -d $files;

# Each query: its SQL, and its columns, [ name, usage ].  A line that is none of those an exporter reads is an error.
sub queries_of
{
	my ($file) = @_;
	my ($name, %query, $part);

	foreach (split /\n/, slurp_file($file))
	{
		if (/^(#.*)?$/) { next; }
		elsif (/^(\w+):$/) { ($name, $part) = ($1, ''); }
		elsif (/^  query: \|$/) { $part = 'query'; }
		elsif (/^  metrics:$/) { $part = 'metrics'; }
		elsif (/^    (\S.*)$/ && $part eq 'query') { $query{$name}{sql} .= "$1\n"; }
		elsif (/^ {4,}(.*)$/ && $part eq 'query') { $query{$name}{sql} .= "$1\n"; }
		elsif (/^    - (\w+): \{usage: "(LABEL|GAUGE|COUNTER)", description: "[^"]+"\}$/ && $part eq 'metrics') { push @{ $query{$name}{columns} }, [ $1, $2 ]; }
		else { die "$file: what is \"$_\"?\n"; }
	}
	return %query;
}

my %query = queries_of("$files/metrics.yml");
ok(keys %query >= 4, 'there are queries');

# The rows of a query, each a hash; checks what an exporter needs of them.
sub ask
{
	my ($node, $name) = @_;
	my @columns = @{ $query{$name}{columns} };
	my ($status, $out, $err) = $node->psql('postgres', $query{$name}{sql},
		extra_params => [ '--no-align', '--field-separator=|', '--pset=tuples_only=off', '--pset=footer=off', '--pset=null=none', '-U', 'monitor' ]);

	is($status, 0, "$name runs") or diag($err);
	my ($head, @lines) = split /\n/, $out;
	is($head, join('|', map { $_->[0] } @columns), "$name has the columns that it names");
	my (@rows, %seen, @wrong);
	foreach my $line (@lines)
	{
		my @values = split /\|/, $line, -1;
		my %row = map { ($columns[$_][0] => $values[$_]) } 0 .. $#columns;
		my $labels = join '|', map { $row{ $_->[0] } } grep { $_->[1] eq 'LABEL' } @columns;

		push @wrong, "labels twice: $line" if $seen{$labels}++;
		push @wrong, "no number: $line" if grep { $_->[1] ne 'LABEL' && $row{ $_->[0] } !~ /^(none|-?\d+(\.\d+)?(e[-+]?\d+)?)$/ } @columns;
		push @wrong, "a label is NULL: $line" if grep { $_->[1] eq 'LABEL' && $row{ $_->[0] } eq 'none' } @columns;
		push @rows, \%row;
	}
	is("@wrong", '', "$name: labels tell its rows apart, and values are numbers");
	return @rows;
}

sub ask_all
{
	my ($node, $what) = @_;

	note($what);
	$node->safe_psql('postgres', 'CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor');
	return map { $_ => [ ask($node, $_) ] } sort keys %query;
}

# Without a GPU, or with those that the build plays.
$ENV{MGPU_PLAYED_DEVICES} = 2;
my $node = new_node('metrics', conf => [ "shared_preload_libraries = 'mgpu_pg'", 'mgpu.gpu_failure = error' ]);
my $has_service = grep { $_ eq 'gpu' } executors($node);
$node->safe_psql('postgres', "SET mgpu.executor = $_; SELECT mgpu_sort(array_agg(i)) IS NULL FROM generate_series(1, 100000) i") for 'cpu', $has_service ? 'gpu' : ();
my %rows = ask_all($node, $has_service ? 'with a service' : 'without a GPU');
is(scalar @{ $rows{mgpu_service} }, 1, 'the service is one row, also where there is none');
ok(@{ $rows{mgpu_calls} } > 0, 'there were calls');
is($rows{mgpu_service}[0]{devices}, scalar @{ $rows{mgpu_device} }, 'GPUs are counted');
SKIP:
{
	skip 'there is no GPU, and the build plays none', 2 unless $has_service;
	is($rows{mgpu_service}[0]{devices_up}, scalar @{ $rows{mgpu_device} }, 'all GPUs are up');
	ok((grep { $_->{jobs} > 0 && $_->{upload_bytes} > 0 } @{ $rows{mgpu_device} }) > 0, 'and one of them had a call');
}
$node->stop;

# A server that does not preload the library counts no calls; the other queries have answers.
delete $ENV{MGPU_TEST_DEVICE};
$node = new_node('not_preloaded', conf => [ "session_preload_libraries = 'mgpu_pg'" ]);
$node->safe_psql('postgres', 'CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor');
is((ask($node, 'mgpu_service'))[0]{devices}, 0, 'there are no GPUs');
is(scalar ask($node, $_), 0, "$_ has no row") for 'mgpu_device', 'mgpu_sessions';
my ($status, $out, $err) = $node->psql('postgres', $query{mgpu_calls}{sql}, extra_params => [ '-U', 'monitor' ]);
like($err, qr/calls are not counted on this server/, 'and no counts of calls');
$node->stop;

# Grafana's page
my %metric = map { my $name = $_; map { ("${name}_$_->[0]" => 1) } grep { $_->[1] ne 'LABEL' } @{ $query{$name}{columns} } } keys %query;
my %label = map { ($_->[0] => 1) } grep { $_->[1] eq 'LABEL' } map { @{ $_->{columns} } } values %query;
my $page = decode_json(slurp_file("$files/grafana.json"));
my @panels = @{ $page->{panels} };
my @asks = map { $_->{expr} } map { @{ $_->{targets} } } @panels;
my %named = map { ($_ => 1) } map { /\b(mgpu_\w+)/g } @asks, map { $_->{query} } @{ $page->{templating}{list} };
my %shown = map { ($_ => 1) } map { /\{\{(\w+)\}\}/g } map { $_->{legendFormat} } map { @{ $_->{targets} } } @panels;

ok(@panels > 0 && @asks >= @panels, 'the page has panels that ask for something');
is(join(' ', grep { !$metric{$_} } sort keys %named), '', 'every metric of the page is one of the queries');
is(join(' ', grep { !$named{$_} } sort keys %metric), '', 'and every metric is on the page');
is(join(' ', grep { !$label{$_} && $_ ne 'instance' } sort keys %shown), '', 'labels that it shows are there');
is(scalar(keys %{ { map { ($_->{id} => 1) } @panels } }), scalar @panels, 'panels have numbers of their own');

done_testing();
