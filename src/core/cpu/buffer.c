/*
 * buffer.c
 *		Memory of the CPU executor.
 *
 * Large buffers are mapped: they come as zero pages, huge ones if the system has
 * them (one fault for 2 MB instead of one for 4 kB), and return to the system at
 * once.  malloc would prevent some of both.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/cpu/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MAP_MIN_BYTES (UINT64_C(1) << 20)

bool
mgpu_buffer_allocate(mgpu_buffer *buffer, uint64_t bytes, mgpu_status *status, mgpu_error *err)
{
	/* whole cache lines, as aligned_alloc requires; vector stores may overrun */
	uint64_t	padded = (bytes + 127) / 64 * 64;

	buffer->mapped = padded >= MAP_MIN_BYTES;
	if (buffer->mapped)
	{
		buffer->data = mmap(NULL, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (buffer->data == MAP_FAILED)
			buffer->data = NULL;
		else
			madvise(buffer->data, padded, MADV_HUGEPAGE);
	}
	else
		buffer->data = aligned_alloc(64, padded);
	buffer->bytes = padded;
	if (buffer->data != NULL)
		return true;
	*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for %" PRIu64 " bytes", padded);
	return false;
}

void
mgpu_buffer_free(mgpu_buffer *buffer)
{
	if (buffer->data == NULL)
		return;
	if (buffer->mapped)
		munmap(buffer->data, buffer->bytes);
	else
		free(buffer->data);
	buffer->data = NULL;
}
