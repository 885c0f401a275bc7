# 024_heap_reader_changes.pl once more, with a GPU that reads the pages where it can: tables that change.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use MgpuTest;

new_service_node('028_heap_sender_changes')->stop;
$ENV{MGPU_TEST_DEVICE} = 1;
do "$FindBin::Bin/024_heap_reader_changes.pl" or die $@ || $!;
