/*
 * executor/ring.cu
 *		The pinned ring of a process.
 *
 * One block of pinned memory, cut into slots with a header in front of each:
 *
 *	 | 64 header | 1 MB slot 0 | 64 header | 1 MB slot 1 | ...
 *
 * Slots are used in turn, so the next one has been in flight longest.  Pinning the callers' memory
 * was rejected: 20 ms for 512 MB of touched memory, and arrays that come from disk have no memory
 * yet.
 */
#include <cstring>

#include "executor/process.h"

typedef enum slot_state
{
	SLOT_FREE = 0,
	SLOT_HELD,
	SLOT_IN_FLIGHT
} slot_state;

typedef struct ring_slot
{
	slot_state	state;
	mgpu_cuda_device *device;	/* destination of the copy in flight */
	double	   *elapsed_ms;		/* that its time is added to */
} ring_slot;

static const uint64_t slot_stride = MGPU_RING_HEADER_BYTES + MGPU_RING_SLOT_BYTES;

static char *pinned_ring = NULL;
static ring_slot slots[MGPU_RING_SLOTS];
static int	next_slot = 0;

/* Wait for a slot's copy and account for it. */
static cudaError_t
land_slot(int slot)
{
	cudaEvent_t begin = slots[slot].device->slot_begin[slot];
	cudaEvent_t end = slots[slot].device->slot_end[slot];
	float		milliseconds = 0;
	cudaError_t code = cudaEventSynchronize(end);

	if (code == cudaSuccess)
		code = cudaEventElapsedTime(&milliseconds, begin, end);
	*slots[slot].elapsed_ms += milliseconds;
	slots[slot].state = SLOT_FREE;
	return code;
}

static mgpu_status
allocate_ring(mgpu_error *err)
{
	cudaError_t code;

	if (pinned_ring != NULL)
		return MGPU_OK;
	code = cudaHostAlloc((void **) &pinned_ring, slot_stride * MGPU_RING_SLOTS, cudaHostAllocPortable);
	if (code == cudaSuccess)
		return MGPU_OK;
	pinned_ring = NULL;
	if (code != cudaErrorMemoryAllocation)
		return mgpu_cuda_error(err, code, "allocating pinned memory");
	(void) cudaGetLastError();
	return mgpu_fail(err, MGPU_HOST_MEMORY, "%llu bytes of pinned memory could not be had",
					 (unsigned long long) (slot_stride * MGPU_RING_SLOTS));
}

extern "C" mgpu_status
mgpu_ring_hold(int *slot, mgpu_error *err)
{
	mgpu_status status = allocate_ring(err);

	if (status != MGPU_OK)
		return status;
	for (int tried = 0; tried < MGPU_RING_SLOTS; tried++)
	{
		int			candidate = (next_slot + tried) % MGPU_RING_SLOTS;

		if (slots[candidate].state == SLOT_HELD)
			continue;
		if (slots[candidate].state == SLOT_IN_FLIGHT)
		{
			cudaError_t code = land_slot(candidate);

			if (code != cudaSuccess)
				return mgpu_cuda_error(err, code, "waiting for an upload");
		}
		slots[candidate].state = SLOT_HELD;
		next_slot = (candidate + 1) % MGPU_RING_SLOTS;
		*slot = candidate;
		return MGPU_OK;
	}
	return mgpu_fail(err, MGPU_HOST_MEMORY, "all %d slots of pinned memory are in use", MGPU_RING_SLOTS);
}

extern "C" void *
mgpu_ring_memory(int slot)
{
	return pinned_ring + slot * slot_stride + MGPU_RING_HEADER_BYTES;
}

extern "C" cudaError_t
mgpu_ring_send(int slot, mgpu_cuda_device *device, void *destination, uint64_t bytes, double *elapsed_ms)
{
	cudaError_t code = cudaEventRecord(device->slot_begin[slot], device->copy_stream);

	slots[slot].state = SLOT_FREE;
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(destination, mgpu_ring_memory(slot), bytes, cudaMemcpyHostToDevice,
							   device->copy_stream);
	if (code == cudaSuccess)
		code = cudaEventRecord(device->slot_end[slot], device->copy_stream);
	if (code != cudaSuccess)
	{
		(void) cudaStreamSynchronize(device->copy_stream);	/* now the slot is free for others */
		return code;
	}
	slots[slot].state = SLOT_IN_FLIGHT;
	slots[slot].device = device;
	slots[slot].elapsed_ms = elapsed_ms;
	return cudaSuccess;
}

extern "C" void
mgpu_ring_drop(int slot)
{
	slots[slot].state = SLOT_FREE;
}

extern "C" void
mgpu_ring_settle(double *elapsed_ms)
{
	for (int slot = 0; slot < MGPU_RING_SLOTS; slot++)
	{
		if (slots[slot].state == SLOT_IN_FLIGHT && slots[slot].elapsed_ms == elapsed_ms)
			(void) land_slot(slot);
	}
}
