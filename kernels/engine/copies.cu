/*
 * engine/copies.cu
 *		Copies between pinned memory and a device, and which of them have landed.
 *
 * Copies of one direction share a stream and so land in the order in which they were sent.  Each
 * has an event at either end, which tell its time and that its host memory is the caller's again:
 *
 *	 landed          sent
 *	    | on its way  | free ... (entries in turn)
 *
 * The end of an upload does not wait for the encoding behind it.  Callbacks of the stream were
 * rejected: they run in a thread of the driver's and cost more than a look at an event.
 */
#include "engine/process.h"

static cudaError_t
create_events(mgpu_copies *copies, int entry)
{
	cudaError_t code = cudaSuccess;

	if (copies->begin[entry] == NULL)
		code = cudaEventCreate(&copies->begin[entry]);
	if (code == cudaSuccess && copies->end[entry] == NULL)
		code = cudaEventCreate(&copies->end[entry]);
	return code;
}

extern "C" cudaError_t
mgpu_copies_begin(mgpu_copies *copies, cudaStream_t stream)
{
	int			entry = (int) (copies->num_sent % MGPU_MAX_COPIES);
	cudaError_t code = create_events(copies, entry);

	return code == cudaSuccess ? cudaEventRecord(copies->begin[entry], stream) : code;
}

extern "C" cudaError_t
mgpu_copies_end(mgpu_copies *copies, cudaStream_t stream, cudaError_t code, double *elapsed_ms)
{
	int			entry = (int) (copies->num_sent % MGPU_MAX_COPIES);

	if (code == cudaSuccess)
		code = cudaEventRecord(copies->end[entry], stream);
	copies->elapsed_ms[entry] = elapsed_ms;
	copies->num_sent++;
	if (code != cudaSuccess)
	{
		mgpu_copies_retract(copies);
		(void) cudaStreamSynchronize(stream);
	}
	return code;
}

extern "C" cudaError_t
mgpu_copies_send(mgpu_copies *copies, void *target, const void *source, uint64_t bytes, double *elapsed_ms)
{
	cudaError_t code = mgpu_copies_begin(copies, copies->stream);

	if (code == cudaSuccess)
		code = cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, copies->stream);
	return mgpu_copies_end(copies, copies->stream, code, elapsed_ms);
}

extern "C" void
mgpu_copies_retract(mgpu_copies *copies)
{
	copies->num_sent--;
	/* a failure here changes nothing: the call that had one reports it */
	(void) cudaStreamSynchronize(copies->stream);
}

/* The oldest copy that has not been counted. */
static cudaError_t
land_oldest(mgpu_copies *copies)
{
	int			entry = (int) (copies->num_landed % MGPU_MAX_COPIES);
	float		milliseconds = 0;
	cudaError_t code = cudaEventQuery(copies->end[entry]);

	if (code == cudaSuccess)
		code = cudaEventElapsedTime(&milliseconds, copies->begin[entry], copies->end[entry]);
	if (code != cudaSuccess)
		return code;
	*copies->elapsed_ms[entry] += milliseconds;
	copies->num_landed++;
	return cudaSuccess;
}

extern "C" cudaError_t
mgpu_copies_land(mgpu_copies *copies)
{
	cudaError_t code = cudaSuccess;

	while (code == cudaSuccess && copies->num_landed < copies->num_sent)
		code = land_oldest(copies);
	if (code != cudaErrorNotReady)
		return code;
	(void) cudaGetLastError();
	return cudaSuccess;
}
