#!/usr/bin/env perl
# Checks what a release says of itself: META.json has what PGXN asks for, names
# files that are there, and all places that name the version name the same.
#
#	test/check_release.pl		the last line is "N passed, N failed"
use strict;
use warnings;
use File::Basename;
use JSON::PP;

chdir dirname(__FILE__) . '/..' or die "$!\n";
my ($passed, $failed) = (0, 0);

sub check
{
	my ($name, @wrong) = @_;

	@wrong ? $failed++ : $passed++;
	print @wrong ? "not ok - $name: @wrong\n" : "ok - $name\n";
}

sub text_of
{
	open my $in, '<', $_[0] or die "$_[0]: $!\n";
	local $/;
	return <$in>;
}

# The version that a file names, where the pattern's parentheses are
sub version_in
{
	my ($file, $pattern) = @_;

	return text_of($file) =~ $pattern ? $1 : 'none';
}

my $meta = decode_json(text_of('META.json'));
my $own = $meta->{provides}{ $meta->{name} } // {};
my $version = version_in('mgpu_pg.control', qr/^default_version = '([\d.]+)'/m);
my %named = (
	'META.json' => $meta->{version},
	'META.json, provides' => $own->{version},
	'debian/changelog' => version_in('debian/changelog', qr/\A\S+ \(([\d.]+)\)/),
	'CHANGELOG.md' => version_in('CHANGELOG.md', qr/^## ([\d.]+)/m) . '.0');

check('META.json has every key that PGXN asks for',
	grep { !defined $meta->{$_} } qw(name version abstract maintainer license provides meta-spec));
check('and for what it provides', grep { !defined $own->{$_} } qw(file version));
check('files that it names are there', grep { !-f } map { $_ // 'none' } @{$own}{qw(file docfile)});
check("all places name version $version", grep { ($named{$_} // '') !~ /^\Q$version\E\.\d+$/ } sort keys %named);
check("a script leads to version $version", glob("sql/mgpu_pg--*$version.sql") ? () : 'there is none in sql');

print "$passed passed, $failed failed\n";
exit($failed > 0);
