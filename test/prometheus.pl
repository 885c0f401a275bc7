#!/usr/bin/env perl
# Runs postgres_exporter with docker/metrics.yml and Prometheus beside the server that PGHOST and its like name, and asks
# Prometheus all that docker/grafana.json asks, while sessions work: each panel has to have values.
#
#	test/prometheus.pl DIRECTORY		by tools/server_tests; the directory is for Prometheus's data
#
# TAP 040 compares the two files without these programs.  Here it is found out whether the exporter reads the one and
# Prometheus understands the other.  Grafana itself is in neither distribution.
#
# The last line is "N passed, N failed".
use strict;
use warnings;
use File::Basename;
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP;

my $dir = shift @ARGV or die "usage: test/prometheus.pl DIRECTORY\n";
my $docker = dirname(__FILE__) . '/../docker';
my ($passed, $failed) = (0, 0);
my @started;

sub check
{
	my ($name, $wrong) = @_;

	$wrong eq '' ? $passed++ : $failed++;
	print $wrong eq '' ? "ok - $name\n" : "not ok - $name: $wrong\n";
}

sub free_port
{
	my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "no port: $!\n";

	return $socket->sockport;
}

# Starts a program that logs to a file of its name, and runs to the end of the test
sub start
{
	my ($name, @command) = @_;
	my $pid = fork() // die "fork: $!\n";

	if ($pid == 0)
	{
		open STDOUT, '>', "$dir/$name.log" and open STDERR, '>&', \*STDOUT or die "$name.log: $!\n";
		exec @command or die "$command[0]: $!\n";
	}
	push @started, $pid;
}
END
{
	my $status = $?;

	kill 'TERM', @started;
	waitpid $_, 0 foreach @started;
	$? = $status;
}

sub answer_of
{
	my ($url, %form) = @_;
	my $http = HTTP::Tiny->new(timeout => 10, proxy => undef, http_proxy => undef);
	my $got = $http->get(%form ? "$url?" . $http->www_form_urlencode(\%form) : $url);

	return $got->{success} || $got->{status} == 400 ? $got->{content} : '';
}

# Calls of a session, one after the other, as long as the test runs
sub work
{
	my ($executor) = @_;

	open my $out, '>', "$dir/$executor.sql" or die "$executor.sql: $!\n";
	print $out "SET mgpu.executor = $executor;\n", "SELECT cardinality(mgpu_sort(a)) FROM made;\n" x 10000;
	close $out;
	start("calls-$executor", 'psql', '-XqAt', '-f', "$dir/$executor.sql");
}

my ($exporter, $prometheus) = (free_port(), free_port());
my $has_gpu = `psql -XAtqc "SET mgpu.executor = gpu; SELECT mgpu_sort(ARRAY[2, 1])" 2>/dev/null` =~ /\{1,2\}/;
system('psql', '-Xq', '-c', 'CREATE ROLE monitor LOGIN; GRANT pg_monitor TO monitor; CREATE TABLE made AS SELECT array_agg(hashint4(i)) AS a FROM generate_series(1, 1000000) i') == 0 or die "psql failed\n";
$ENV{DATA_SOURCE_NAME} = "host=$ENV{PGHOST} port=$ENV{PGPORT} user=monitor dbname=$ENV{PGDATABASE} sslmode=disable";
start('exporter', 'prometheus-postgres-exporter', "--extend.query-path=$docker/metrics.yml", "--web.listen-address=127.0.0.1:$exporter", '--disable-settings-metrics');
open my $out, '>', "$dir/prometheus.yml" or die "prometheus.yml: $!\n";
print $out "global: {scrape_interval: 1s}\nscrape_configs: [{job_name: postgres, static_configs: [{targets: ['127.0.0.1:$exporter']}]}]\n";
close $out;
start('prometheus', 'prometheus', "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/data", "--web.listen-address=127.0.0.1:$prometheus");
work($_) foreach 'cpu', $has_gpu ? 'gpu' : ();
sleep 15;

my $page = decode_json(do { local (@ARGV, $/) = "$docker/grafana.json"; <> });
my $seen = answer_of("http://127.0.0.1:$exporter/metrics");
my @errors = $seen =~ /^(pg_exporter_last_scrape_error(?:\{[^}]*\})? [^0].*|pg_exporter_user_queries_load_error.* [^0].*)$/mg;
check('the exporter reads all queries', $seen eq '' ? 'it does not answer' : join('; ', @errors));
foreach my $panel (@{ $page->{panels} })
{
	foreach my $target (@{ $panel->{targets} })
	{
		my $expr = $target->{expr} =~ s/\$instance/.+/gr =~ s/\$__rate_interval/10s/gr;
		# a call is at the service in some of the moments that Prometheus asks
		$expr =~ s/mgpu_sessions_calls\{.*?\}/max_over_time($&\[10s])/;
		my $answer = eval { decode_json(answer_of("http://127.0.0.1:$prometheus/api/v1/query", query => $expr)) } // { status => 'error', error => 'no answer' };
		my @values = map { $_->{value}[1] } @{ $answer->{data}{result} // [] };
		# without a service there are none of its devices, and none of its calls
		my $needs_gpu = $expr =~ /mgpu_device_|mgpu_sessions_|shared_memory/;

		check("$panel->{title}: $target->{legendFormat}: @values",
			$answer->{status} ne 'success' ? $answer->{error} : @values || ($needs_gpu && !$has_gpu) ? '' : "no values of $expr");
	}
}
print "$passed passed, $failed failed\n";
exit($failed > 0);
