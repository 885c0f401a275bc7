/*
 * engine/describe.cu
 *		What a device is and has, for people to read.
 *
 * The link comes from the files in which Linux shows it.  NVML, which knows it too, was rejected: a
 * library more to load.
 */
#include "engine/process.h"

#include <cstdio>
#include <cstring>

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
mgpu_cuda_describe(int ordinal, mgpu_device *facts, mgpu_error *err)
{
	cudaDeviceProp properties;
	mgpu_cuda_device *device;
	size_t		free_bytes;
	size_t		total_bytes;
	mgpu_status status = mgpu_cuda_start(&ordinal, err);
	cudaError_t code;

	if (status == MGPU_OK)
		status = mgpu_cuda_enter(ordinal, &device, err);
	if (status != MGPU_OK)
		return status;
	code = cudaGetDeviceProperties(&properties, ordinal);
	if (code == cudaSuccess)
		code = cudaMemGetInfo(&free_bytes, &total_bytes);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "describing the device");
	memset(facts, 0, sizeof(*facts));
	facts->ordinal = ordinal;
	snprintf(facts->name, sizeof(facts->name), "%.127s", properties.name);
	facts->compute_major = properties.major;
	facts->compute_minor = properties.minor;
	facts->memory_total_bytes = total_bytes;
	facts->memory_free_bytes = free_bytes;
	describe_link(ordinal, facts->link, sizeof(facts->link));
	return MGPU_OK;
}
