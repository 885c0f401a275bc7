/*
 * played_engine.c
 *		An engine for tests, whose devices are played by the CPU executor.
 *
 * Nothing happens when it is asked for: copies take place when landed is called, kernels when poll is.  Device memory is counted,
 * and a sticky fault loses all devices until mgpu_played_reset.
 */
#include "played/played_device.h"
#include "core/service/slot.h"

#include <stdlib.h>

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

static mgpu_engine_run *all_runs;

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
	mgpu_played_renew();
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

static uint64_t
memory_limit(const mgpu_exec_options *options)
{
	return options->device_memory_limit != 0 ? options->device_memory_limit : UINT64_MAX;
}

/* Aligned to 64, so that the CPU executor may read it. */
static char *
allocate(uint64_t bytes)
{
	return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

static mgpu_engine_run *
make_run(const mgpu_job *job, int device, const mgpu_exec_options *options)
{
	mgpu_engine_run *run = calloc(1, sizeof(mgpu_engine_run));

	run->job = *job;
	run->device = device;
	run->inject_fault = options->inject_fault;
	run->bytes = needed_bytes(job);
	run->memory_limit = memory_limit(options);
	for (int i = 0; i < MGPU_NUM_INPUTS && job->op != MGPU_OP_GROUP; i++)
		run->inputs[i] = allocate(mgpu_input_bytes(job, i));
	for (int i = 0; i < MGPU_NUM_OUTPUTS && job->op != MGPU_OP_GROUP; i++)
		run->outputs[i] = allocate(mgpu_output_bytes(job, i));
	run->next = all_runs;
	all_runs = run;
	return run;
}

static mgpu_status
check_open(const mgpu_job *job, const mgpu_exec_options *options, mgpu_error *err)
{
	mgpu_status status = mgpu_played_check(err);

	if (status != MGPU_OK || (status = mgpu_job_validate(job, err)) != MGPU_OK)
		return status;
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory (injected)");
	if (options->inject_fault == MGPU_FAULT_DEVICE_MEMORY)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "out of device memory (injected)");
	return MGPU_OK;
}

static mgpu_status
played_open(int device, const mgpu_job *job, const mgpu_group_source *group, const mgpu_exec_options *options,
			mgpu_engine_run **run_out, mgpu_error *err)
{
	played_group *rows = NULL;
	mgpu_status status = check_open(job, options, err);

	*run_out = NULL;
	if (status != MGPU_OK ||
		(status = mgpu_played_take_memory(device, needed_bytes(job), memory_limit(options), err)) != MGPU_OK)
		return status;
	if (job->op == MGPU_OP_GROUP && (rows = mgpu_played_group_create(group, err)) == NULL)
		return MGPU_BAD_JOB;
	*run_out = make_run(job, device, options);
	(*run_out)->group = rows;
	return MGPU_OK;
}

/* What rows of a batch take on a device: some bytes for each line pointer. */
#define PLAYED_ROW_BYTES 16

static mgpu_status
upload_batch(mgpu_engine_run *run, const mgpu_page_ref *batch, uint64_t bytes, mgpu_error *err)
{
	played_copy copy = {.group = run->group,.source = (const char *) batch,.bytes = bytes};
	uint64_t	row_bytes = 0;
	uint64_t	build_bytes;
	mgpu_status status;

	(void) mgpu_played_group_builds(run->group, &build_bytes);
	if (run->sent[MGPU_CHANNEL_VALUES] < build_bytes)
		return mgpu_fail(err, MGPU_BAD_JOB, "pages before all builds");
	if (!mgpu_played_is_pinned(copy.source, bytes) ||
		!mgpu_played_group_check(run->group, batch, bytes, mgpu_played_is_pinned))
		return mgpu_fail(err, MGPU_BAD_JOB, "a batch of pages that are not pinned");
	for (uint64_t i = 0; i < bytes / sizeof(mgpu_page_ref); i++)
		row_bytes += batch[i].num_items * PLAYED_ROW_BYTES;
	status = mgpu_played_take_memory(run->device, row_bytes, run->memory_limit - run->bytes, err);
	if (status != MGPU_OK)
		return status;
	run->bytes += row_bytes;
	return mgpu_played_ask(run->device, MGPU_UPLOAD, &copy, err);
}

/* Builds have memory from the first of their bytes on. */
static mgpu_status
upload_builds(mgpu_engine_run *run, const void *source, uint64_t bytes, mgpu_error *err)
{
	uint64_t	all_bytes;
	uint64_t   *sent = &run->sent[MGPU_CHANNEL_VALUES];
	played_copy copy = {.target = mgpu_played_group_builds(run->group, &all_bytes) + *sent,.source = source,.bytes = bytes};
	mgpu_status status = MGPU_OK;

	if (bytes > all_bytes - *sent)
		return mgpu_fail(err, MGPU_BAD_JOB, "more builds than there are");
	if (*sent == 0)
		status = mgpu_played_take_memory(run->device, all_bytes, run->memory_limit - run->bytes, err);
	if (status != MGPU_OK)
		return status;
	if (*sent == 0)
		run->bytes += all_bytes;
	*sent += bytes;
	return mgpu_played_ask(run->device, MGPU_UPLOAD, &copy, err);
}

static mgpu_status
played_upload(mgpu_engine_run *run, int input, const void *source, uint64_t bytes, mgpu_error *err)
{
	played_copy copy = {.source = source,.bytes = bytes};

	if (run->group != NULL)
		return input == MGPU_CHANNEL_VALUES ? upload_builds(run, source, bytes, err) : upload_batch(run, source, bytes, err);
	copy.target = run->inputs[input] + run->sent[input];
	run->sent[input] += bytes;
	return mgpu_played_ask(run->device, MGPU_UPLOAD, &copy, err);
}

static mgpu_status
played_download(mgpu_engine_run *run, mgpu_output output, uint64_t offset, void *target, uint64_t bytes,
				mgpu_error *err)
{
	const char *source = run->group != NULL ? mgpu_played_group_output(run->group, output) : run->outputs[output];
	played_copy copy = {.target = target,.source = source + offset,.bytes = bytes};

	return mgpu_played_ask(run->device, MGPU_DOWNLOAD, &copy, err);
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
		mgpu_played_lose();
	if ((status = mgpu_played_check(err)) != MGPU_OK)
		return status;
	mgpu_played_land_all(run->device, MGPU_UPLOAD);
	if (run->group != NULL)
		return MGPU_OK;
	status = mgpu_cpu_executor.open(&run->job, &binding, &options, &run->run, err);
	return status == MGPU_OK ? mgpu_cpu_executor.submit(run->run, err) : status;
}

static mgpu_status
played_poll(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_status status = mgpu_played_check(err);

	if (status != MGPU_OK)
		return status;
	if (mgpu_played_random_below(3) != 0)
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
	mgpu_played_give_memory(run->device, run->bytes);
	free_run(run);
}

const mgpu_engine mgpu_played_engine = {
	.is_present = mgpu_played_is_present,
	.num_devices = mgpu_played_num_devices,
	.start = mgpu_played_start,
	.is_started = mgpu_played_is_started,
	.check = mgpu_played_check,
	.describe = mgpu_played_describe,
	.pin = mgpu_played_pin,
	.keep = mgpu_played_keep,
	.open = played_open,
	.upload = played_upload,
	.launch = played_launch,
	.poll = played_poll,
	.group_result = played_group_result,
	.download = played_download,
	.landed = mgpu_played_landed,
	.stats = played_stats,
	.release = played_release,
};
