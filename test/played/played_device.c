/*
 * played_device.c
 *		See played_device.h.
 *
 * Copies take place when landed is called, a random number at a time, so an extent that is used too early shows as a wrong result.
 */
#include "played/played_device.h"
#include "core/service/slot.h"

#include <stdlib.h>
#include <string.h>

typedef struct played_device
{
	bool		started;
	uint64_t	used_bytes;
	char	   *kept;			/* pages that it keeps */
	uint64_t	num_asked[2];
	uint64_t	num_landed[2];
	played_copy copies[2][MGPU_MAX_COPIES];
} played_device;

mgpu_played_settings mgpu_played = {.num_devices = 1,.device_bytes = UINT64_C(1) << 30,.random_state = 1,.num_pins = -1};

static played_device devices[MGPU_MAX_DEVICES];
static bool lost;

/* Memory that is pinned. */
#define MAX_PINS 1024
static struct
{
	const char *begin;
	uint64_t	bytes;
}			pins[MAX_PINS];
static int	num_pins;

uint32_t
mgpu_played_random_below(uint32_t limit)
{
	mgpu_played.random_state = mgpu_played.random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t) (mgpu_played.random_state >> 33) % limit;
}

mgpu_status
mgpu_played_check(mgpu_error *err)
{
	return lost ? mgpu_fail(err, MGPU_DEVICE_FAILED, "the played devices are lost") : MGPU_OK;
}

bool
mgpu_played_is_present(void)
{
	return mgpu_played.num_devices > 0;
}

mgpu_status
mgpu_played_num_devices(int *count, mgpu_error *err)
{
	*count = mgpu_played.num_devices;
	return *count > 0 ? mgpu_played_check(err) : mgpu_fail(err, MGPU_NO_DEVICE, "no device is played");
}

mgpu_status
mgpu_played_start(int *device, mgpu_error *err)
{
	if (*device < 0)
		*device = 0;
	if (*device >= mgpu_played.num_devices)
		return mgpu_fail(err, MGPU_NO_DEVICE, "there is no CUDA device %d, the last one is %d", *device,
						 mgpu_played.num_devices - 1);
	devices[*device].started = true;
	return mgpu_played_check(err);
}

bool
mgpu_played_is_started(void)
{
	return devices[0].started && !lost;
}

mgpu_status
mgpu_played_describe(int device, mgpu_device *facts, mgpu_error *err)
{
	mgpu_status status = mgpu_played_start(&device, err);

	if (status != MGPU_OK)
		return status;
	*facts = (mgpu_device) {.ordinal = device,.name = "played",.compute_major = 9};
	facts->memory_total_bytes = mgpu_played.device_bytes;
	facts->memory_free_bytes = mgpu_played.device_bytes - devices[device].used_bytes;
	return MGPU_OK;
}

void
mgpu_played_lose(void)
{
	lost = true;
}

void
mgpu_played_renew(void)
{
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
		free(devices[device].kept);
	memset(devices, 0, sizeof(devices));
	lost = false;
	num_pins = 0;
}

/* ------------------------------------------------------------------- memory */

uint64_t
mgpu_played_used_bytes(int device)
{
	return devices[device].used_bytes;
}

mgpu_status
mgpu_played_take_memory(int device, uint64_t bytes, uint64_t most_bytes, mgpu_error *err)
{
	if (bytes > mgpu_played.device_bytes - devices[device].used_bytes || bytes > most_bytes)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed", (unsigned long long) bytes);
	devices[device].used_bytes += bytes;
	return MGPU_OK;
}

void
mgpu_played_give_memory(int device, uint64_t bytes)
{
	devices[device].used_bytes -= bytes;
}

mgpu_status
mgpu_played_keep(int device, uint64_t bytes, char **memory, mgpu_error *err)
{
	mgpu_status status = mgpu_played_take_memory(device, bytes, UINT64_MAX, err);

	if (status != MGPU_OK)
		return status;
	free(devices[device].kept);
	devices[device].kept = *memory = aligned_alloc(64, bytes);
	return *memory != NULL ? MGPU_OK : mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory");
}

mgpu_status
mgpu_played_pin(void *memory, uint64_t bytes, mgpu_error *err)
{
	mgpu_status status = mgpu_played_check(err);

	if (status != MGPU_OK)
		return status;
	if (num_pins == MAX_PINS || num_pins == mgpu_played.num_pins)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "no more memory can be pinned");
	pins[num_pins].begin = memory;
	pins[num_pins++].bytes = bytes;
	return MGPU_OK;
}

bool
mgpu_played_is_pinned(const char *memory, uint64_t bytes)
{
	for (int i = 0; i < num_pins; i++)
	{
		if (memory >= pins[i].begin && memory + bytes <= pins[i].begin + pins[i].bytes)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------- copies */

mgpu_status
mgpu_played_ask(int number, mgpu_direction direction, const played_copy *copy, mgpu_error *err)
{
	played_device *device = &devices[number];
	mgpu_status status = mgpu_played_check(err);

	if (status != MGPU_OK)
		return status;
	if (!mgpu_played_is_pinned(direction == MGPU_UPLOAD ? copy->source : copy->target, copy->bytes))
		return mgpu_fail(err, MGPU_BAD_JOB, "a copy from or to memory that is not pinned");
	if (device->num_asked[direction] - device->num_landed[direction] == MGPU_MAX_COPIES)
		return mgpu_fail(err, MGPU_BAD_JOB, "too many copies are under way");
	device->copies[direction][device->num_asked[direction]++ % MGPU_MAX_COPIES] = *copy;
	return MGPU_OK;
}

static void
land(played_device *device, mgpu_direction direction, uint64_t up_to)
{
	while (device->num_landed[direction] < up_to)
	{
		const played_copy *copy = &device->copies[direction][device->num_landed[direction]++ % MGPU_MAX_COPIES];

		if (copy->group != NULL)
			mgpu_played_group_read(copy->group, copy->source, copy->bytes);
		else
			memcpy(copy->target, copy->source, copy->bytes);
	}
}

void
mgpu_played_land_all(int number, mgpu_direction direction)
{
	land(&devices[number], direction, devices[number].num_asked[direction]);
}

mgpu_status
mgpu_played_landed(int number, mgpu_direction direction, uint64_t *landed, mgpu_error *err)
{
	played_device *device = &devices[number];
	uint64_t	under_way = device->num_asked[direction] - device->num_landed[direction];

	land(device, direction, device->num_landed[direction] + mgpu_played_random_below((uint32_t) under_way + 1));
	*landed = device->num_landed[direction];
	return mgpu_played_check(err);
}
