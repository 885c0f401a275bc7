# What tests of memory use beside MgpuTest.  The C library keeps freed memory, and address space for threads, for later calls unless
# it is told not to.  Then memory would seem to be in use, and none would run out.  Tests of other things take a tenth longer so.
package MgpuMemory;

use strict;
use warnings;

BEGIN
{
	$ENV{MALLOC_MMAP_THRESHOLD_} = 131072;
	$ENV{MALLOC_TRIM_THRESHOLD_} = 131072;
	$ENV{MALLOC_ARENA_MAX} = 1;
}

1;
