/*
 * executor/process.cu
 *		Contexts, failures and cached device memory of one process.
 *
 * A context costs 150 to 350 ms and some 300 MB of device memory, so a process makes one on first
 * use, on one device unless told otherwise, and keeps it.  A pool of arenas was rejected for one
 * cached arena a device: runs follow one another, and memory that an idle session holds is missing
 * elsewhere.
 */
#include "executor/process.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "device/map.h"

#define MAX_DEVICES 32

static mgpu_cuda_device devices[MAX_DEVICES];
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
	int			best[MAX_DEVICES];
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

extern "C" mgpu_status
mgpu_cuda_count_devices(int *count, mgpu_error *err)
{
	cudaError_t code;

	*count = 0;
	code = cudaGetDeviceCount(count);
	if (code != cudaSuccess)
	{
		(void) cudaGetLastError();
		*count = 0;
		return mgpu_fail(err, MGPU_NO_DEVICE, "no CUDA device can be used: %s", cudaGetErrorString(code));
	}
	if (*count > MAX_DEVICES)
		*count = MAX_DEVICES;
	if (choose_device(*count, 0) < 0)
	{
		*count = 0;
		return mgpu_fail(err, MGPU_NO_DEVICE, "no CUDA device of compute capability %d.%d or later",
						 built_archs[0] / 100, built_archs[0] / 10 % 10);
	}
	return MGPU_OK;
}

static cudaError_t
create_streams(mgpu_cuda_device *device)
{
	cudaError_t code = cudaStreamCreateWithFlags(&device->copy_stream, cudaStreamNonBlocking);

	if (code == cudaSuccess)
		code = cudaStreamCreateWithFlags(&device->compute_stream, cudaStreamNonBlocking);
	for (int slot = 0; code == cudaSuccess && slot < MGPU_RING_SLOTS; slot++)
	{
		code = cudaEventCreate(&device->slot_begin[slot]);
		if (code == cudaSuccess)
			code = cudaEventCreate(&device->slot_end[slot]);
	}
	return code;
}

/* Undo create_streams, complete or not. */
static void
destroy_streams(mgpu_cuda_device *device)
{
	for (int slot = 0; slot < MGPU_RING_SLOTS; slot++)
	{
		if (device->slot_begin[slot] != NULL)
			(void) cudaEventDestroy(device->slot_begin[slot]);
		if (device->slot_end[slot] != NULL)
			(void) cudaEventDestroy(device->slot_end[slot]);
	}
	if (device->compute_stream != NULL)
		(void) cudaStreamDestroy(device->compute_stream);
	if (device->copy_stream != NULL)
		(void) cudaStreamDestroy(device->copy_stream);
	memset(device, 0, sizeof(*device));
	(void) cudaGetLastError();
}

/* The first call for a device: its context, its code, its streams. */
static mgpu_status
start_device(int ordinal, mgpu_error *err)
{
	mgpu_cuda_device *device = &devices[ordinal];
	cudaError_t code = cudaSetDevice(ordinal);

	if (code == cudaSuccess)
		code = mgpu_check_image();
	if (code != cudaSuccess)
	{
		/* full, in exclusive use, or without code in this build */
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

static int
first_ready_device(void)
{
	for (int ordinal = 0; ordinal < MAX_DEVICES; ordinal++)
	{
		if (devices[ordinal].ready)
			return ordinal;
	}
	return -1;
}

extern "C" bool
mgpu_cuda_is_ready(void)
{
	return lost_context.status == MGPU_OK && first_ready_device() >= 0;
}

extern "C" mgpu_status
mgpu_cuda_open_device(int requested, mgpu_cuda_device **device, mgpu_error *err)
{
	int			ordinal = requested >= 0 ? requested : first_ready_device();
	mgpu_status status = mgpu_cuda_check_process(err);
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	if (ordinal < 0 || ordinal >= MAX_DEVICES || !devices[ordinal].ready)
	{
		int			count;

		status = mgpu_cuda_count_devices(&count, err);
		if (status != MGPU_OK)
			return status;
		if (requested >= count)
			return mgpu_fail(err, MGPU_NO_DEVICE, "there is no CUDA device %d, the last one is %d", requested, count - 1);
		if (ordinal < 0)
			ordinal = choose_device(count, (unsigned int) getpid());
		status = start_device(ordinal, err);
		if (status != MGPU_OK)
			return status;
	}
	code = cudaSetDevice(ordinal);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "selecting the device");
	*device = &devices[ordinal];
	return MGPU_OK;
}

/* --------------------------------------------------------------- describe */

/* One attribute of a PCI device as Linux shows it; "" where it does not. */
static void
read_pci_attribute(const char *bus_id, const char *attribute, char *value, size_t value_bytes)
{
	char		path[128];
	FILE	   *file;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", bus_id, attribute);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	if (fgets(value, (int) value_bytes, file) == NULL)
		value[0] = '\0';
	fclose(file);
}

/*
 * "PCIe 5 x16", or the bus address where the link is not shown.  The speed is the device's maximum:
 * an idle link runs slower.
 */
static void
describe_link(int ordinal, char *link, size_t link_bytes)
{
	static const double rates[] = {2.5, 5, 8, 16, 32, 64};
	char		bus_id[32];
	char		speed[32];
	char		width[32];
	double		rate;
	int			lanes;

	link[0] = '\0';
	if (cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), ordinal) != cudaSuccess)
	{
		(void) cudaGetLastError();
		return;
	}
	for (char *letter = bus_id; *letter != '\0'; letter++)
	{
		if (*letter >= 'A' && *letter <= 'F')
			*letter += 'a' - 'A';
	}
	snprintf(link, link_bytes, "PCIe %s", bus_id);
	read_pci_attribute(bus_id, "max_link_speed", speed, sizeof(speed));
	read_pci_attribute(bus_id, "current_link_width", width, sizeof(width));
	if (sscanf(speed, "%lf", &rate) != 1 || sscanf(width, "%d", &lanes) != 1 || lanes < 1 || lanes > 32)
		return;
	for (int generation = 1; generation <= 6; generation++)
	{
		if (rate == rates[generation - 1])
			snprintf(link, link_bytes, "PCIe %d x%d", generation, lanes);
	}
}

extern "C" mgpu_status
mgpu_cuda_describe(const mgpu_cuda_device *device, mgpu_device *facts, mgpu_error *err)
{
	cudaDeviceProp properties;
	size_t		free_bytes;
	size_t		total_bytes;
	cudaError_t code = cudaGetDeviceProperties(&properties, device->ordinal);

	if (code == cudaSuccess)
		code = cudaMemGetInfo(&free_bytes, &total_bytes);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "describing the device");
	memset(facts, 0, sizeof(*facts));
	facts->ordinal = device->ordinal;
	snprintf(facts->name, sizeof(facts->name), "%.127s", properties.name);
	facts->compute_major = properties.major;
	facts->compute_minor = properties.minor;
	facts->memory_total_bytes = total_bytes;
	facts->memory_free_bytes = free_bytes;
	describe_link(device->ordinal, facts->link, sizeof(facts->link));
	return MGPU_OK;
}

/* ------------------------------------------------------------------ arenas */

static void
free_cached_arena(mgpu_cuda_device *device)
{
	if (device->cached_arena == NULL)
		return;
	(void) cudaFree(device->cached_arena);
	device->cached_arena = NULL;
	device->cached_bytes = 0;
}

static mgpu_status
allocate_arena(void **arena, uint64_t bytes, mgpu_error *err)
{
	size_t		free_bytes = 0;
	size_t		total_bytes;
	cudaError_t code = cudaMalloc(arena, bytes);

	if (code == cudaSuccess)
		return MGPU_OK;
	*arena = NULL;
	if (code != cudaErrorMemoryAllocation)
		return mgpu_cuda_error(err, code, "allocating device memory");
	(void) cudaGetLastError();
	(void) cudaMemGetInfo(&free_bytes, &total_bytes);
	(void) cudaGetLastError();
	return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed and %llu are free",
					 (unsigned long long) bytes, (unsigned long long) free_bytes);
}

extern "C" mgpu_status
mgpu_arena_take(mgpu_cuda_device *device, uint64_t limit_bytes, void **arena, uint64_t *bytes, mgpu_error *err)
{
	if (device->cached_bytes >= *bytes && (limit_bytes == 0 || device->cached_bytes <= limit_bytes))
	{
		*arena = device->cached_arena;
		*bytes = device->cached_bytes;
		device->cached_arena = NULL;
		device->cached_bytes = 0;
		return MGPU_OK;
	}
	free_cached_arena(device);
	return allocate_arena(arena, *bytes, err);
}

extern "C" void
mgpu_arena_give(mgpu_cuda_device *device, void *arena, uint64_t bytes, bool reuse)
{
	if (reuse && bytes <= MGPU_ARENA_CACHE_BYTES && bytes > device->cached_bytes)
	{
		free_cached_arena(device);
		device->cached_arena = arena;
		device->cached_bytes = bytes;
	}
	else
		(void) cudaFree(arena);
}
