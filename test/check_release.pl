#!/usr/bin/env perl
# Checks what a release says of itself: META.json is what PGXN asks for (its meta
# spec 1.0.0), names files that are there, all places that name the version name
# the same, and CHANGELOG.md has a line for each change.
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
my %keys = map { ($_ => 1) } qw(name version abstract maintainer license provides meta-spec description generated_by tags no_index prereqs release_status resources);
my @relations = map { keys %$_ } values %{ $meta->{prereqs} };
my @required = map { values %$_ } map { values %$_ } values %{ $meta->{prereqs} };
my @licenses = qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0 mozilla_1_1
	open_source perl_5 postgresql qpl_1_0 restricted ssleay sun unknown unrestricted zlib);

check('it has no other keys', grep { !$keys{$_} && !/^x_/i } sort keys %$meta);
check('versions are three numbers', grep { !defined || !/^\d+\.\d+\.\d+$/ } $meta->{version}, $own->{version}, $meta->{'meta-spec'}{version}, @required);
check('PGXN knows its licence and its status', (grep { my $license = $meta->{license}; $_ eq $license } @licenses) ? () : $meta->{license},
	($meta->{release_status} // 'stable') =~ /^(stable|testing|unstable)$/ ? () : $meta->{release_status});
check('and what it needs, and when', (grep { !/^(configure|build|test|runtime|develop)$/ } keys %{ $meta->{prereqs} }), grep { !/^(requires|recommends|suggests|conflicts)$/ } @relations);
check('its tags are words', grep { !length || length > 256 || m{[[:cntrl:]/\\]} } @{ $meta->{tags} });
check('files that it names are there', grep { !-f } map { $_ // 'none' } @{$own}{qw(file docfile)});

# A version's sections, and in them a line for each change
my ($open, $section, @loose) = ('', '');
foreach (split /\n/, text_of('CHANGELOG.md'))
{
	if (/^## (\d+\.\d+)( \(\d{4}-\d\d-\d\d\))?$/) { ($open, $section) = ($1, ''); }
	elsif (/^### (Added|Changed|Fixed)$/ && $open ne '') { $section = $1; }
	elsif ($section ne '' ? !/^(- \S.*[.:)])?$/ : /^[-#]/ && $_ ne '# Changes') { push @loose, "\"$_\""; }
}
check('CHANGELOG.md has versions, in them Added, Changed and Fixed, and a line for each change', @loose, $section eq '' ? 'no section' : ());
check("all places name version $version", grep { ($named{$_} // '') !~ /^\Q$version\E\.\d+$/ } sort keys %named);
check("a script leads to version $version", glob("sql/mgpu_pg--*$version.sql") ? () : 'there is none in sql');

print "$passed passed, $failed failed\n";
exit($failed > 0);
