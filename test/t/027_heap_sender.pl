# 023_heap_reader.pl once more, with a GPU that reads the pages where it can: every layout of rows and every kind of condition.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;

new_service_node('027_heap_sender')->stop;
$ENV{MGPU_TEST_DEVICE} = 1;
do "$FindBin::Bin/023_heap_reader.pl" or die $@ || $!;
