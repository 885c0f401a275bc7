/*
 * engine/process.cu
 *		Contexts, failures and device memory of one process.
 *
 * A context costs 150 to 350 ms and some 300 MB of device memory, so a process makes one on first
 * use, on one device unless told otherwise, and keeps it.
 *
 * Device memory comes from the driver's pool, since cudaFree waits for all kernels on the device,
 * those of other runs too.  The pool gives memory above its threshold back only when a stream that
 * freed some is waited for; looking at events is not enough.  So memory has a stream of its own, which
 * has nothing to wait for.  Freeing behind a run's copies was rejected: an idle process would keep
 * all that its runs ever took.  4 GB cost 4 ms to take and as much to give back.
 */
#include "engine/process.h"

#include <cstring>
#include <unistd.h>

#include "device/map.h"

#define NUM_STREAMS 5

/* Device memory kept between runs, for each device. */
#define MGPU_ARENA_CACHE_BYTES (UINT64_C(256) << 20)

static mgpu_cuda_device devices[MGPU_MAX_DEVICES];
static mgpu_error lost_context; /* status is MGPU_OK as long as none is lost */

/* Compute capabilities that this build has code for, as 10 * __CUDA_ARCH__'s. */
static const int built_archs[] = {__CUDA_ARCH_LIST__};

/* ---------------------------------------------------------------- failures */

extern "C" mgpu_status
mgpu_cuda_check_process(mgpu_error *err)
{
	if (lost_context.status == MGPU_OK)
		return MGPU_OK;
	return mgpu_fail(err, MGPU_DEVICE_FAILED, "the device failed earlier in this session: %.180s",
					 lost_context.message);
}

/* Does the context still answer? A lost one returns its error to every call. */
static bool
is_context_lost(void)
{
	cudaError_t code;

	(void) cudaGetLastError();
	code = cudaStreamQuery(cudaStreamLegacy);
	(void) cudaGetLastError();
	return code != cudaSuccess && code != cudaErrorNotReady && code != cudaErrorMemoryAllocation;
}

extern "C" mgpu_status
mgpu_cuda_error(mgpu_error *err, cudaError_t code, const char *doing)
{
	mgpu_status status = mgpu_fail(err, code == cudaErrorMemoryAllocation ? MGPU_DEVICE_MEMORY : MGPU_DEVICE_FAILED,
								   "%s: %s", doing, cudaGetErrorString(code));

	if (is_context_lost())
		status = mgpu_fail(&lost_context, MGPU_DEVICE_FAILED, "%s: %s", doing, cudaGetErrorString(code));
	if (err != NULL)
		err->status = status;
	return status;
}

/* ----------------------------------------------------------------- devices */

static int
device_attribute(int ordinal, enum cudaDeviceAttr attribute)
{
	int			value = 0;

	if (cudaDeviceGetAttribute(&value, attribute, ordinal) != cudaSuccess)
	{
		(void) cudaGetLastError();
		value = 0;
	}
	return value;
}

/* The driver can compile code of an older architecture for a later one. */
static bool
is_usable(int ordinal)
{
	int			arch = device_attribute(ordinal, cudaDevAttrComputeCapabilityMajor) * 100 +
		device_attribute(ordinal, cudaDevAttrComputeCapabilityMinor) * 10;

	return arch >= built_archs[0];
}

/* The best usable device at or after position `skip` among equals. */
static int
choose_device(int count, unsigned int share)
{
	int			best[MGPU_MAX_DEVICES];
	int			num_best = 0;
	int			most = 0;

	for (int ordinal = 0; ordinal < count; ordinal++)
	{
		int			multiprocessors = device_attribute(ordinal, cudaDevAttrMultiProcessorCount);

		if (!is_usable(ordinal) || multiprocessors < most)
			continue;
		if (multiprocessors > most)
			num_best = 0;
		most = multiprocessors;
		best[num_best++] = ordinal;
	}
	return num_best > 0 ? best[share % (unsigned int) num_best] : -1;
}

static mgpu_status
count_devices(int *count, mgpu_error *err)
{
	cudaError_t code = cudaGetDeviceCount(count);

	if (code != cudaSuccess)
	{
		(void) cudaGetLastError();
		*count = 0;
		return mgpu_fail(err, MGPU_NO_DEVICE, "no CUDA device can be used: %s", cudaGetErrorString(code));
	}
	if (*count > MGPU_MAX_DEVICES)
		*count = MGPU_MAX_DEVICES;
	if (choose_device(*count, 0) < 0)
	{
		*count = 0;
		return mgpu_fail(err, MGPU_NO_DEVICE, "no CUDA device of compute capability %d.%d or later",
						 built_archs[0] / 100, built_archs[0] / 10 % 10);
	}
	return MGPU_OK;
}

extern "C" bool
mgpu_cuda_is_present(void)
{
	return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

extern "C" mgpu_status
mgpu_cuda_num_devices(int *count, mgpu_error *err)
{
	mgpu_status status = mgpu_cuda_check_process(err);

	*count = 0;
	return status != MGPU_OK ? status : count_devices(count, err);
}

static cudaStream_t *
stream_of(mgpu_cuda_device *device, int number)
{
	cudaStream_t *streams[NUM_STREAMS] = {
		&device->memory_stream, &device->compute_stream, &device->decode_stream,
		&device->copies[MGPU_UPLOAD].stream, &device->copies[MGPU_DOWNLOAD].stream
	};

	return streams[number];
}

static cudaError_t
create_streams(mgpu_cuda_device *device)
{
	cudaError_t code = cudaSuccess;

	for (int number = 0; number < NUM_STREAMS && code == cudaSuccess; number++)
		code = cudaStreamCreateWithFlags(stream_of(device, number), cudaStreamNonBlocking);
	return code;
}

/* Undo create_streams, complete or not. */
static void
destroy_streams(mgpu_cuda_device *device)
{
	for (int number = 0; number < NUM_STREAMS; number++)
	{
		if (*stream_of(device, number) != NULL)
			(void) cudaStreamDestroy(*stream_of(device, number));
	}
	memset(device, 0, sizeof(*device));
	(void) cudaGetLastError();
}

/* Context, code, memory pool. */
static cudaError_t
prepare_context(int ordinal, cudaMemPool_t *pool)
{
	uint64_t	kept_bytes = MGPU_ARENA_CACHE_BYTES;
	cudaError_t code = cudaSetDevice(ordinal);

	if (code == cudaSuccess)
		code = mgpu_check_image();
	if (code == cudaSuccess)
		code = cudaDeviceGetDefaultMemPool(pool, ordinal);
	if (code == cudaSuccess)
		code = cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes);
	return code;
}

/* The first call for a device. */
static mgpu_status
start_device(int ordinal, mgpu_error *err)
{
	mgpu_cuda_device *device = &devices[ordinal];
	cudaError_t code = prepare_context(ordinal, &device->pool);

	if (code != cudaSuccess)
	{
		/* full, in exclusive use, without memory pools, or without code in this build */
		(void) cudaGetLastError();
		return mgpu_fail(err, code == cudaErrorMemoryAllocation ? MGPU_DEVICE_MEMORY : MGPU_NO_DEVICE,
						 "CUDA device %d cannot be used: %s", ordinal, cudaGetErrorString(code));
	}
	code = create_streams(device);
	if (code != cudaSuccess)
	{
		destroy_streams(device);
		return mgpu_cuda_error(err, code, "preparing the device");
	}
	device->ordinal = ordinal;
	device->ready = true;
	return MGPU_OK;
}

static bool
is_ready(int ordinal)
{
	return ordinal >= 0 && ordinal < MGPU_MAX_DEVICES && devices[ordinal].ready;
}

static int
first_ready_device(void)
{
	for (int ordinal = 0; ordinal < MGPU_MAX_DEVICES; ordinal++)
	{
		if (devices[ordinal].ready)
			return ordinal;
	}
	return -1;
}

extern "C" bool
mgpu_cuda_is_started(void)
{
	return lost_context.status == MGPU_OK && first_ready_device() >= 0;
}

extern "C" mgpu_status
mgpu_cuda_start(int *device, mgpu_error *err)
{
	int			ordinal = *device >= 0 ? *device : first_ready_device();
	int			count;
	mgpu_status status = mgpu_cuda_check_process(err);

	if (status == MGPU_OK && !is_ready(ordinal))
	{
		if ((status = count_devices(&count, err)) != MGPU_OK)
			return status;
		if (ordinal >= count)
			return mgpu_fail(err, MGPU_NO_DEVICE, "there is no CUDA device %d, the last one is %d", ordinal, count - 1);
		if (ordinal < 0)
			ordinal = choose_device(count, (unsigned int) getpid());
		status = start_device(ordinal, err);
	}
	if (status == MGPU_OK)
		*device = ordinal;
	return status;
}

extern "C" mgpu_status
mgpu_cuda_enter(int ordinal, mgpu_cuda_device **device, mgpu_error *err)
{
	mgpu_status status = mgpu_cuda_check_process(err);
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	if (!is_ready(ordinal))
		return mgpu_fail(err, MGPU_BAD_JOB, "CUDA device %d was not started", ordinal);
	code = cudaSetDevice(ordinal);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "selecting the device");
	*device = &devices[ordinal];
	return MGPU_OK;
}

/* ------------------------------------------------------------------ memory */

extern "C" mgpu_status
mgpu_cuda_pin(void *memory, uint64_t bytes, mgpu_error *err)
{
	mgpu_status status = mgpu_cuda_check_process(err);
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	code = cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
	if (code == cudaSuccess)
		return MGPU_OK;
	if (code != cudaErrorMemoryAllocation && code != cudaErrorNotSupported && code != cudaErrorNotPermitted)
		return mgpu_cuda_error(err, code, "pinning memory");
	(void) cudaGetLastError();
	return mgpu_fail(err, MGPU_HOST_MEMORY, "%llu bytes of memory could not be pinned: %s", (unsigned long long) bytes,
					 cudaGetErrorString(code));
}

extern "C" mgpu_status
mgpu_cuda_take_memory(const mgpu_cuda_device *device, uint64_t bytes, void **memory, mgpu_error *err)
{
	size_t		free_bytes = 0;
	size_t		total_bytes;
	cudaError_t code = cudaMallocAsync(memory, bytes, device->memory_stream);

	/* memory of a stream is for others once that stream got there */
	if (code == cudaSuccess)
		code = cudaStreamSynchronize(device->memory_stream);
	if (code == cudaSuccess)
		return MGPU_OK;
	*memory = NULL;
	if (code != cudaErrorMemoryAllocation)
		return mgpu_cuda_error(err, code, "allocating device memory");
	/* what the pool keeps is free too */
	(void) cudaMemPoolTrimTo(device->pool, 0);
	(void) cudaMemGetInfo(&free_bytes, &total_bytes);
	(void) cudaGetLastError();
	return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed and %llu are free",
					 (unsigned long long) bytes, (unsigned long long) free_bytes);
}

extern "C" cudaError_t
mgpu_cuda_give_memory(const mgpu_cuda_device *device, void *memory)
{
	cudaError_t code = cudaFreeAsync(memory, device->memory_stream);

	return code != cudaSuccess ? code : cudaStreamSynchronize(device->memory_stream);
}
