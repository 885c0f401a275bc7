# What mgpu_pg's TAP tests share: a node with the extension, sessions that live
# on while the test looks at their process, and big arrays made quickly.
package MgpuTest;

use strict;
use warnings;
use Exporter 'import';
use IO::Select;
use IPC::Open3;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_node executors make_big memory_kb median);

# A started node with the extension in database postgres.  Few shared buffers,
# so that a process's resident size is its own memory and not the cache.
sub new_node
{
	my ($name, %option) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
	$node->append_conf('postgresql.conf', "$_\n")
	  for ('fsync = off', 'shared_buffers = 8MB', 'max_wal_size = 8GB', 'autovacuum = off',
		'log_min_messages = panic', 'log_statement = none', 'jit = off', @{ $option{conf} // [] });
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION mgpu_pg');
	return $node;
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
	my $columns = join(', ', map {"$_ $column{$_}->[0]"} sort keys %column);
	my $random = join(', ', map {"array_agg($column{$_}->[1]) AS $_"} sort keys %column);
	my $joined = join(', ', map { join(' || ', ($_) x $times) } sort keys %column);

	$node->safe_psql('postgres', "CREATE TABLE $table ($columns);"
		  . join('', map {"ALTER TABLE $table ALTER $_ SET STORAGE EXTERNAL;"} sort keys %column)
		  . "SELECT setseed(0.25);"
		  . "INSERT INTO $table SELECT $joined FROM (SELECT $random FROM generate_series(1, $base * 1000000) i) t;");
	return;
}

# A line of /proc/PID/status, in kB: VmRSS, VmHWM, VmSize.
sub memory_kb
{
	my ($pid, $what) = @_;
	my ($kb) = slurp_file("/proc/$pid/status") =~ /^$what:\s+(\d+) kB/m;

	return $kb;
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;

	return $sorted[ $#sorted / 2 ];
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

	until ($self->{seen} =~ /^(?:true|false) \S+ _end_\n/m)
	{
		my $left = $until - time();
		return undef unless $left > 0 && $self->{select}->can_read($left);
		return undef unless sysread($self->{from}, $self->{seen}, 65536, length $self->{seen});
	}
	$self->{seen} =~ s/\A(.*?)^(true|false) (\S+) _end_\n//ms;
	my ($output, $failed, $state) = ($1, $2 eq 'true', $3);
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

sub close
{
	my ($self) = @_;

	CORE::close($self->{to});
	waitpid($self->{process}, 0);
	return;
}

1;
