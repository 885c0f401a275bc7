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
 * Kernels that read pages write a number when they have read all: to look at it is faster than to have an event
 * recorded and asked for, and an event between two kernels keeps the second from starting early.
 *
 * The end of an upload does not wait for the encoding behind it.  Callbacks of the stream were
 * rejected: they run in a thread of the driver's and cost more than a look at an event.
 */
#include "engine/process.h"

#include <cstring>
#include <ctime>

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
mgpu_copies_send(mgpu_copies *copies, void *target, const void *source, uint64_t bytes, double *elapsed_ms)
{
	int			entry = (int) (copies->num_sent % MGPU_MAX_COPIES);
	cudaError_t code = create_events(copies, entry);

	if (code == cudaSuccess)
		code = cudaEventRecord(copies->begin[entry], copies->stream);
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, copies->stream);
	if (code == cudaSuccess)
		code = cudaEventRecord(copies->end[entry], copies->stream);
	copies->elapsed_ms[entry] = elapsed_ms;
	copies->readers[entry] = NULL;
	copies->num_sent++;
	if (code != cudaSuccess)
		mgpu_copies_retract(copies);
	return code;
}

static double
now_ms(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

extern "C" cudaError_t
mgpu_copies_begin_read(mgpu_copies *copies, cudaStream_t stream, uint64_t **flag, uint64_t *number)
{
	uint64_t	bytes = MGPU_MAX_COPIES * sizeof(uint64_t);
	int			entry = (int) (copies->num_sent % MGPU_MAX_COPIES);
	cudaError_t code = cudaSuccess;
	void	   *flags;

	if (copies->flags == NULL)
	{
		code = cudaHostAlloc(&flags, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
		if (code != cudaSuccess)
			return code;
		copies->flags = static_cast<uint64_t *>(memset(flags, 0, bytes));
	}
	copies->readers[entry] = stream;
	copies->sent_ms[entry] = now_ms();
	*flag = &copies->flags[entry];
	*number = copies->num_sent + 1;
	return code;
}

extern "C" cudaError_t
mgpu_copies_end_read(mgpu_copies *copies, cudaError_t code, double *elapsed_ms)
{
	copies->elapsed_ms[copies->num_sent % MGPU_MAX_COPIES] = elapsed_ms;
	if (code == cudaSuccess)
		copies->num_sent++;
	return code;
}

extern "C" void
mgpu_copies_retract(mgpu_copies *copies)
{
	copies->num_sent--;
	/* a failure here changes nothing: the call that had one reports it */
	(void) cudaStreamSynchronize(copies->stream);
}

static bool
has_read(const mgpu_copies *copies, int entry)
{
	return __atomic_load_n(&copies->flags[entry], __ATOMIC_ACQUIRE) == copies->num_landed + 1;
}

/* Only a stream tells of a lost context. */
static cudaError_t
ask_reader(const mgpu_copies *copies, int entry, float *milliseconds)
{
	cudaError_t code = has_read(copies, entry) ? cudaSuccess : cudaStreamQuery(copies->readers[entry]);
	double		since = copies->sent_ms[entry] > copies->read_ms ? copies->sent_ms[entry] : copies->read_ms;

	*milliseconds = (float) (now_ms() - since);
	if (code == cudaSuccess && !has_read(copies, entry))
		return cudaErrorUnknown;
	return code;
}

static cudaError_t
ask_events(const mgpu_copies *copies, int entry, float *milliseconds)
{
	cudaError_t code = cudaEventQuery(copies->end[entry]);

	return code == cudaSuccess ? cudaEventElapsedTime(milliseconds, copies->begin[entry], copies->end[entry]) : code;
}

/* The oldest copy that has not been counted. */
static cudaError_t
land_oldest(mgpu_copies *copies)
{
	int			entry = (int) (copies->num_landed % MGPU_MAX_COPIES);
	bool		is_reader = copies->readers[entry] != NULL;
	float		milliseconds = 0;
	cudaError_t code = is_reader ? ask_reader(copies, entry, &milliseconds) : ask_events(copies, entry, &milliseconds);

	if (code != cudaSuccess)
		return code;
	*copies->elapsed_ms[entry] += milliseconds;
	if (is_reader)
		copies->read_ms = now_ms();
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
