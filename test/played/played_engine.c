/*
 * played_engine.c
 *		An engine for tests, whose devices are played by the CPU executor.
 *
 * Nothing happens when it is asked for.  Copies take place when landed is called, a
 * random number at a time, so an extent that is used too early shows as a wrong result.
 * Device memory is counted, and a sticky fault loses all devices until
 * mgpu_played_reset.  No program but a test refers to it, so none contains it.
 */
#include "played/played_engine.h"
#include "played/played_group.h"
#include "core/service/slot.h"

#include <stdlib.h>
#include <string.h>

typedef struct played_copy
{
	played_group *group;		/* reads a batch of pages, in place of a copy */
	char	   *target;
	const char *source;
	uint64_t	bytes;
} played_copy;

typedef struct played_device
{
	bool		started;
	uint64_t	used_bytes;
	uint64_t	num_asked[2];
	uint64_t	num_landed[2];
	played_copy copies[2][MGPU_MAX_COPIES];
} played_device;

struct mgpu_engine_run
{
	mgpu_engine_run *next;		/* in the list of all */
	mgpu_job	job;
	int			device;
	int			inject_fault;
	uint64_t	bytes;
	uint64_t	sent[MGPU_NUM_INPUTS];
	char	   *inputs[MGPU_NUM_INPUTS];
	char	   *outputs[MGPU_NUM_OUTPUTS];
	mgpu_run   *run;			/* from launch on */
	played_group *group;		/* of MGPU_OP_GROUP alone */
	uint64_t	memory_limit;
};

mgpu_played_settings mgpu_played = {.num_devices = 1,.device_bytes = UINT64_C(1) << 30,.random_state = 1,.num_pins = -1};

static played_device devices[MGPU_MAX_DEVICES];
static bool lost;
static mgpu_engine_run *all_runs;

/* Memory that is pinned. */
#define MAX_PINS 1024
static struct
{
	const char *begin;
	uint64_t	bytes;
}			pins[MAX_PINS];
static int	num_pins;

static uint32_t
random_below(uint32_t limit)
{
	mgpu_played.random_state = mgpu_played.random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t) (mgpu_played.random_state >> 33) % limit;
}

uint64_t
mgpu_played_used_bytes(int device)
{
	return devices[device].used_bytes;
}

static mgpu_status
played_check(mgpu_error *err)
{
	return lost ? mgpu_fail(err, MGPU_DEVICE_FAILED, "the played devices are lost") : MGPU_OK;
}

static bool
played_is_present(void)
{
	return mgpu_played.num_devices > 0;
}

static mgpu_status
played_num_devices(int *count, mgpu_error *err)
{
	*count = mgpu_played.num_devices;
	return *count > 0 ? played_check(err) : mgpu_fail(err, MGPU_NO_DEVICE, "no device is played");
}

static mgpu_status
played_start(int *device, mgpu_error *err)
{
	if (*device < 0)
		*device = 0;
	if (*device >= mgpu_played.num_devices)
		return mgpu_fail(err, MGPU_NO_DEVICE, "there is no CUDA device %d, the last one is %d", *device,
						 mgpu_played.num_devices - 1);
	devices[*device].started = true;
	return played_check(err);
}

static bool
played_is_started(void)
{
	return devices[0].started && !lost;
}

static mgpu_status
played_describe(int device, mgpu_device *facts, mgpu_error *err)
{
	mgpu_status status = played_start(&device, err);

	if (status != MGPU_OK)
		return status;
	*facts = (mgpu_device) {.ordinal = device,.name = "played",.compute_major = 9};
	facts->memory_total_bytes = mgpu_played.device_bytes;
	facts->memory_free_bytes = mgpu_played.device_bytes - devices[device].used_bytes;
	return MGPU_OK;
}

static mgpu_status
played_pin(void *memory, uint64_t bytes, mgpu_error *err)
{
	mgpu_status status = played_check(err);

	if (status != MGPU_OK)
		return status;
	if (num_pins == MAX_PINS || num_pins == mgpu_played.num_pins)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "no more memory can be pinned");
	pins[num_pins].begin = memory;
	pins[num_pins++].bytes = bytes;
	return MGPU_OK;
}

static bool
is_pinned(const char *memory, uint64_t bytes)
{
	for (int i = 0; i < num_pins; i++)
	{
		if (memory >= pins[i].begin && memory + bytes <= pins[i].begin + pins[i].bytes)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------- runs */

static void
free_run(mgpu_engine_run *run)
{
	mgpu_engine_run **link = &all_runs;

	while (*link != run)
		link = &(*link)->next;
	*link = run->next;
	mgpu_cpu_executor.release(run->run);
	mgpu_played_group_free(run->group);
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		free(run->inputs[i]);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		free(run->outputs[i]);
	free(run);
}

void
mgpu_played_reset(void)
{
	while (all_runs != NULL)
		free_run(all_runs);
	memset(devices, 0, sizeof(devices));
	lost = false;
	num_pins = 0;
}

static uint64_t
needed_bytes(const mgpu_job *job)
{
	uint64_t	bytes = 0;

	/* it takes memory as rows come */
	if (job->op == MGPU_OP_GROUP)
		return 0;
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		bytes += mgpu_input_bytes(job, i);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		bytes += mgpu_output_bytes(job, i);
	return bytes;
}

/* Aligned to 64, so that the CPU executor may read it. */
static char *
allocate(uint64_t bytes)
{
	return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

static mgpu_engine_run *
make_run(const mgpu_job *job, int device, int inject_fault)
{
	mgpu_engine_run *run = calloc(1, sizeof(mgpu_engine_run));

	run->job = *job;
	run->device = device;
	run->inject_fault = inject_fault;
	run->bytes = needed_bytes(job);
	for (int i = 0; i < MGPU_NUM_INPUTS && job->op != MGPU_OP_GROUP; i++)
		run->inputs[i] = allocate(mgpu_input_bytes(job, i));
	for (int i = 0; i < MGPU_NUM_OUTPUTS && job->op != MGPU_OP_GROUP; i++)
		run->outputs[i] = allocate(mgpu_output_bytes(job, i));
	run->next = all_runs;
	all_runs = run;
	devices[device].used_bytes += run->bytes;
	return run;
}

static mgpu_status
played_open(int device, const mgpu_job *job, const mgpu_group_source *group, const mgpu_exec_options *options,
			mgpu_engine_run **run_out, mgpu_error *err)
{
	played_group *rows = NULL;
	uint64_t	bytes;
	mgpu_status status = played_check(err);

	*run_out = NULL;
	if (status != MGPU_OK || (status = mgpu_job_validate(job, err)) != MGPU_OK)
		return status;
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory (injected)");
	if (options->inject_fault == MGPU_FAULT_DEVICE_MEMORY)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "out of device memory (injected)");
	bytes = needed_bytes(job);
	if (bytes > mgpu_played.device_bytes - devices[device].used_bytes ||
		(options->device_memory_limit != 0 && bytes > options->device_memory_limit))
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed", (unsigned long long) bytes);
	if (job->op == MGPU_OP_GROUP && (rows = mgpu_played_group_create(group, err)) == NULL)
		return MGPU_BAD_JOB;
	*run_out = make_run(job, device, options->inject_fault);
	(*run_out)->group = rows;
	(*run_out)->memory_limit = options->device_memory_limit;
	return MGPU_OK;
}

static mgpu_status
ask_for_copy(mgpu_engine_run *run, mgpu_direction direction, char *target, const char *source, uint64_t bytes,
			 mgpu_error *err)
{
	bool		is_batch = run->group != NULL && direction == MGPU_UPLOAD;
	played_device *device = &devices[run->device];
	mgpu_status status = played_check(err);

	if (status != MGPU_OK)
		return status;
	if (!is_pinned(direction == MGPU_UPLOAD ? source : target, bytes))
		return mgpu_fail(err, MGPU_BAD_JOB, "a copy from or to memory that is not pinned");
	if (device->num_asked[direction] - device->num_landed[direction] == MGPU_MAX_COPIES)
		return mgpu_fail(err, MGPU_BAD_JOB, "too many copies are under way");
	device->copies[direction][device->num_asked[direction]++ % MGPU_MAX_COPIES] = (played_copy) {is_batch ? run->group : NULL, target, source, bytes};
	return MGPU_OK;
}

/* What rows of a batch take on a device: some bytes for each line pointer. */
#define PLAYED_ROW_BYTES 16

static mgpu_status
upload_batch(mgpu_engine_run *run, const mgpu_page_ref *batch, uint64_t bytes, mgpu_error *err)
{
	uint64_t	row_bytes = 0;

	if (!is_pinned((const char *) batch, bytes) || !mgpu_played_group_check(run->group, batch, bytes, is_pinned))
		return mgpu_fail(err, MGPU_BAD_JOB, "a batch of pages that are not pinned");
	for (uint64_t i = 0; i < bytes / sizeof(mgpu_page_ref); i++)
		row_bytes += batch[i].num_items * PLAYED_ROW_BYTES;
	if (row_bytes > mgpu_played.device_bytes - devices[run->device].used_bytes ||
		(run->memory_limit != 0 && row_bytes > run->memory_limit - run->bytes))
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed", (unsigned long long) row_bytes);
	run->bytes += row_bytes;
	devices[run->device].used_bytes += row_bytes;
	return ask_for_copy(run, MGPU_UPLOAD, NULL, (const char *) batch, bytes, err);
}

static mgpu_status
played_upload(mgpu_engine_run *run, int input, const void *source, uint64_t bytes, mgpu_error *err)
{
	char	   *target = run->inputs[input] + run->sent[input];

	if (run->group != NULL)
		return upload_batch(run, source, bytes, err);
	run->sent[input] += bytes;
	return ask_for_copy(run, MGPU_UPLOAD, target, source, bytes, err);
}

static mgpu_status
played_download(mgpu_engine_run *run, mgpu_output output, uint64_t offset, void *target, uint64_t bytes,
				mgpu_error *err)
{
	const char *source = run->group != NULL ? mgpu_played_group_output(run->group, output) : run->outputs[output];

	return ask_for_copy(run, MGPU_DOWNLOAD, target, source + offset, bytes, err);
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

static mgpu_status
played_landed(int number, mgpu_direction direction, uint64_t *landed, mgpu_error *err)
{
	played_device *device = &devices[number];
	uint64_t	under_way = device->num_asked[direction] - device->num_landed[direction];

	land(device, direction, device->num_landed[direction] + random_below((uint32_t) under_way + 1));
	*landed = device->num_landed[direction];
	return played_check(err);
}

/* ------------------------------------------------------------------- kernels */

static mgpu_status
played_launch(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_exec_options options = {.device = -1,.num_threads = 1};
	mgpu_binding binding = {
		.in_keys = run->inputs[MGPU_CHANNEL_KEYS],.in_values = run->inputs[MGPU_CHANNEL_VALUES],
		.in_b_keys = run->inputs[MGPU_CHANNEL_B_KEYS],.in_b_values = run->inputs[MGPU_CHANNEL_B_VALUES],
		.in_positions = (const uint32_t *) run->inputs[MGPU_INPUT_POSITIONS],
		.in_segment_heads = (const uint32_t *) run->inputs[MGPU_INPUT_SEGMENT_HEADS],
		.out_keys = run->outputs[MGPU_OUTPUT_KEYS],.out_indices = (uint32_t *) run->outputs[MGPU_OUTPUT_INDICES],
		.out_values = run->outputs[MGPU_OUTPUT_VALUES]
	};
	mgpu_status status;

	if (run->inject_fault == MGPU_FAULT_DEVICE_STICKY)
		lost = true;
	if ((status = played_check(err)) != MGPU_OK)
		return status;
	land(&devices[run->device], MGPU_UPLOAD, devices[run->device].num_asked[MGPU_UPLOAD]);
	if (run->group != NULL)
		return MGPU_OK;
	status = mgpu_cpu_executor.open(&run->job, &binding, &options, &run->run, err);
	return status == MGPU_OK ? mgpu_cpu_executor.submit(run->run, err) : status;
}

static mgpu_status
played_poll(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_status status = played_check(err);

	if (status != MGPU_OK)
		return status;
	if (random_below(3) != 0)
		return MGPU_PENDING;
	return run->group != NULL ? mgpu_played_group_run(run->group, err) : mgpu_cpu_executor.poll(run->run, err);
}

static void
played_group_result(const mgpu_engine_run *run, mgpu_group_result *result)
{
	mgpu_played_group_result(run->group, result);
}

static void
played_stats(const mgpu_engine_run *run, mgpu_run_stats *stats)
{
	if (run->group != NULL)
		*stats = (mgpu_run_stats) {.algorithm = MGPU_ALGORITHM_RADIX,.num_threads = stats->num_threads,.kernel_ms = 1};
	else
		mgpu_cpu_executor.stats(run->run, stats);
}

static void
played_release(mgpu_engine_run *run)
{
	devices[run->device].used_bytes -= run->bytes;
	free_run(run);
}

const mgpu_engine mgpu_played_engine = {
	.is_present = played_is_present,
	.num_devices = played_num_devices,
	.start = played_start,
	.is_started = played_is_started,
	.check = played_check,
	.describe = played_describe,
	.pin = played_pin,
	.open = played_open,
	.upload = played_upload,
	.launch = played_launch,
	.poll = played_poll,
	.group_result = played_group_result,
	.download = played_download,
	.landed = played_landed,
	.stats = played_stats,
	.release = played_release,
};
