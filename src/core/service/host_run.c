/*
 * service/host_run.c
 *		What the host does for one run: its messages, copies and kernels.
 *
 * A client is not trusted with more than its own data.  The job is copied and checked,
 * and each message must name an extent that the client has and bytes that are missing;
 * else the run fails.  What the bytes say is not checked: segment heads and positions
 * come from the extension's own code.
 */
#include "core/service/host_state.h"

static host_device *
device_of(const host_run *run)
{
	return &run->host->devices[run->device];
}

static bool
has_room(const host_run *run, mgpu_direction direction)
{
	const host_copies *copies = &device_of(run)->copies[direction];

	return copies->num_asked - copies->num_landed < MGPU_MAX_COPIES;
}

static void
tell(host_run *run, mgpu_message_kind kind, uint32_t channel, uint32_t extent, uint32_t bytes)
{
	mgpu_message message = {.kind = kind,.channel = channel,.extent = extent,.bytes = bytes};

	mgpu_send(&run->slot->to_client, message);
	if (atomic_load(&run->slot->client_sleeps) && run->host->options.wake_client != NULL)
		run->host->options.wake_client(run->host->options.context, run->slot_number);
}

void
mgpu_host_set_phase(host_run *run, mgpu_slot_phase phase)
{
	run->phase = phase;
	atomic_store_explicit(&run->slot->phase, phase, memory_order_relaxed);
}

void
mgpu_host_fail(host_run *run, const mgpu_error *error)
{
	if (run->ended)
		return;
	run->ended = true;
	mgpu_host_end_load(run);
	run->slot->error = *error;
	if (run->run != NULL && error->status == MGPU_NOT_SORTED)
		run->host->engine->stats(run->run, &run->slot->stats);
	tell(run, MGPU_MESSAGE_FAILED, 0, 0, 0);
}

static void
fail_with(host_run *run, mgpu_status status, const char *message)
{
	mgpu_error	error;

	(void) mgpu_fail(&error, status, "%s", message);
	mgpu_host_fail(run, &error);
}

/* ---------------------------------------------------------------------- open */

mgpu_status
mgpu_host_open(host_run *run, int device, int num_extents, mgpu_error *err)
{
	mgpu_host  *host = run->host;
	mgpu_group_source group = {
		.spec = &run->group,.pages = host->options.shared_pages,.num_pages = host->options.num_shared_pages
	};
	mgpu_status status;

	if (run->job.op == MGPU_OP_GROUP)
		mgpu_host_kept_start(host, device);
	if (mgpu_host_keeps(host, device))
	{
		group.kept = host->kept_memory;
		group.num_kept = host->num_kept;
	}
	status = host->engine->open(device, &run->job, run->job.op == MGPU_OP_GROUP ? &group : NULL,
											&run->options, &run->run, err);

	if (status != MGPU_OK)
		return status;
	run->device = device;
	host->devices[device].num_runs++;
	mgpu_host_take_extents(run, num_extents);
	atomic_store_explicit(&run->slot->device, device, memory_order_relaxed);
	mgpu_host_set_phase(run, MGPU_PHASE_FILLING);
	tell(run, MGPU_MESSAGE_OPENED, 0, 0, 0);
	for (int i = 0; i < run->num_extents; i++)
		tell(run, MGPU_MESSAGE_EXTENT, 0, run->extents[i], 0);
	return MGPU_OK;
}

/* ------------------------------------------------------------------ messages */

/* The run's extent of this number, if the client has it; else -1. */
static int
extent_at_client(const host_run *run, uint32_t extent)
{
	for (int i = 0; i < run->num_extents; i++)
	{
		if (run->extents[i] == extent && run->places[i] == EXTENT_AT_CLIENT)
			return i;
	}
	return -1;
}

static void
note_copy(host_run *run, mgpu_direction direction, int extent, uint32_t channel, uint32_t bytes)
{
	host_copies *copies = &device_of(run)->copies[direction];

	copies->copies[copies->num_asked++ % MGPU_MAX_COPIES] = (host_copy) {run, extent, channel, bytes};
	run->places[extent] = EXTENT_AT_DEVICE;
	run->num_copies++;
}

/* A batch of pages comes behind all builds. */
static bool
is_batch_allowed(const host_run *run, uint32_t bytes)
{
	return bytes <= MGPU_BATCH_REFS * sizeof(mgpu_page_ref) && run->input_left[MGPU_CHANNEL_VALUES] == 0;
}

/* Have ready what a batch of pages names. */
static bool
prepare_batch(host_run *run, const mgpu_message *message)
{
	mgpu_page_ref *refs = (mgpu_page_ref *) mgpu_extent(&run->host->service, message->extent);
	uint32_t	num_refs = message->bytes / sizeof(mgpu_page_ref);

	if (!mgpu_host_settle_kept(run, refs, num_refs))
		fail_with(run, MGPU_BAD_JOB, "pages are named that are not kept");
	else if (!mgpu_host_pin_pages(run->host, refs, num_refs))
		fail_with(run, MGPU_BUSY, "shared buffers could not be pinned");
	return !run->ended;
}

static void
take_input(host_run *run, const mgpu_message *message)
{
	bool		is_batch = run->job.op == MGPU_OP_GROUP && message->channel == MGPU_CHANNEL_KEYS;
	int			extent = extent_at_client(run, message->extent);
	int			input = (int) message->channel;
	mgpu_error	error;

	if (run->phase != MGPU_PHASE_FILLING || extent < 0 || message->channel >= MGPU_NUM_INPUTS ||
		(is_batch && !is_batch_allowed(run, message->bytes)) || message->bytes == 0 || message->bytes > MGPU_EXTENT_BYTES || message->bytes > run->input_left[input] ||
		message->bytes % mgpu_input_width(&run->job, input) != 0)
	{
		fail_with(run, MGPU_BAD_JOB, "a slice of input does not go with the job");
		return;
	}
	if (is_batch && !prepare_batch(run, message))
		return;
	if (run->host->engine->upload(run->run, input, mgpu_extent(&run->host->service, message->extent), message->bytes,
								  &error) != MGPU_OK)
	{
		mgpu_host_fail(run, &error);
		return;
	}
	note_copy(run, MGPU_UPLOAD, extent, message->channel, message->bytes);
	run->input_left[input] -= message->bytes;
}

static void
take_submit(host_run *run)
{
	uint64_t	left = 0;

	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		left += run->job.op == MGPU_OP_GROUP && i == MGPU_CHANNEL_KEYS ? 0 : run->input_left[i];
	if (run->phase != MGPU_PHASE_FILLING || left != 0)
	{
		fail_with(run, MGPU_BAD_JOB, "the job was submitted without all its input");
		return;
	}
	for (int i = 0; i < run->num_extents; i++)
	{
		if (run->places[i] == EXTENT_AT_CLIENT)
			run->places[i] = EXTENT_AT_HOST;
	}
	run->ready_number = run->host->num_submitted++;
	mgpu_host_begin_load(run);
	mgpu_host_set_phase(run, MGPU_PHASE_READY);
}

static void
take_empty(host_run *run, const mgpu_message *message)
{
	int			extent = extent_at_client(run, message->extent);

	if (extent < 0)
		fail_with(run, MGPU_BAD_JOB, "an extent came back that was not given out");
	else
		run->places[extent] = EXTENT_AT_HOST;
}

static void
take_question(host_run *run, const mgpu_message *message)
{
	if (run->phase != MGPU_PHASE_FILLING || run->job.op != MGPU_OP_GROUP || extent_at_client(run, message->extent) < 0 ||
		!mgpu_host_answer(run, (mgpu_kept_question *) mgpu_extent(&run->host->service, message->extent)))
		fail_with(run, MGPU_BAD_JOB, "a question does not go with the job");
	else
		tell(run, MGPU_MESSAGE_ANSWER, 0, message->extent, 0);
}

bool
mgpu_host_take_messages(host_run *run)
{
	mgpu_message message;

	while (!run->ended && run->run != NULL)
	{
		if (run->phase == MGPU_PHASE_FILLING && !has_room(run, MGPU_UPLOAD))
			return false;
		if (!mgpu_receive(&run->slot->to_host, &run->received, &message))
			return true;
		if (message.kind == MGPU_MESSAGE_INPUT)
			take_input(run, &message);
		else if (message.kind == MGPU_MESSAGE_SUBMIT)
			take_submit(run);
		else if (message.kind == MGPU_MESSAGE_EMPTY)
			take_empty(run, &message);
		else if (message.kind == MGPU_MESSAGE_ASK)
			take_question(run, &message);
		else
			fail_with(run, MGPU_BAD_JOB, "unknown message");
	}
	return true;
}

/* ------------------------------------------------------------------- kernels */

bool
mgpu_host_is_ready(const host_run *run)
{
	if (run->phase != MGPU_PHASE_READY || run->ended || run->closing)
		return false;

	/* else its kernels would keep others waiting for its uploads */
	return run->num_copies == 0 || device_of(run)->num_runs == 1;
}

void
mgpu_host_launch(host_run *run)
{
	mgpu_error	error;

	mgpu_host_set_phase(run, MGPU_PHASE_RUNNING);
	device_of(run)->running = run;
	if (run->host->engine->launch(run->run, &error) == MGPU_OK)
		return;
	device_of(run)->running = NULL;
	mgpu_host_fail(run, &error);
}

static void
finish(host_run *run)
{
	mgpu_service_device *device = &run->host->service.control->devices[run->device];

	/* a group job's own number is what the planner expected */
	uint64_t	num_items = run->job.op == MGPU_OP_GROUP ? run->slot->group_result.num_read :
		run->job.num_items + run->job.num_b_items;

	run->host->engine->stats(run->run, &run->slot->stats);
	run->slot->stats.queue_ms = run->queue_ms;
	atomic_fetch_add(&device->num_jobs, 1);
	atomic_fetch_add(&device->num_items, num_items);
	atomic_fetch_add(&device->kernel_us, (uint64_t) (run->slot->stats.kernel_ms * 1000));
	run->ended = true;
	tell(run, MGPU_MESSAGE_DONE, 0, 0, 0);
}

/* The kernels tell how large the outputs of a group job are. */
static void
take_group_result(host_run *run)
{
	mgpu_group_result *result = &run->slot->group_result;

	run->host->engine->group_result(run->run, result);
	run->output_bytes[MGPU_OUTPUT_GROUPS] = mgpu_group_record_bytes(&run->group, result);
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		run->output_bytes[MGPU_OUTPUT_SORTED + i] = mgpu_group_value_bytes(&run->group, result, i);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		run->output_left += run->output_bytes[i];
	tell(run, MGPU_MESSAGE_SIZES, 0, 0, 0);
}

bool
mgpu_host_poll(host_run *run)
{
	mgpu_error	error;
	mgpu_status status = run->host->engine->poll(run->run, &error);

	if (status == MGPU_PENDING)
		return false;
	device_of(run)->running = NULL;
	mgpu_host_end_load(run);
	mgpu_host_set_phase(run, MGPU_PHASE_EMPTYING);
	if (status == MGPU_OK)
		mgpu_host_publish_kept(run);
	if (status == MGPU_OK && run->job.op == MGPU_OP_GROUP && !run->ended)
		take_group_result(run);
	if (status != MGPU_OK)
		mgpu_host_fail(run, &error);
	else if (run->output_left == 0 && !run->ended)
		finish(run);
	return true;
}

/* -------------------------------------------------------------------- copies */

void
mgpu_host_uploaded(host_run *run, int extent)
{
	run->num_copies--;
	if (run->phase == MGPU_PHASE_FILLING)
	{
		run->places[extent] = EXTENT_AT_CLIENT;
		if (!run->ended && !run->closing)
			tell(run, MGPU_MESSAGE_EXTENT, 0, run->extents[extent], 0);
	}
	else
		run->places[extent] = EXTENT_AT_HOST;
}

void
mgpu_host_downloaded(host_run *run, int extent, uint32_t channel, uint32_t bytes)
{
	run->num_copies--;
	run->places[extent] = EXTENT_AT_CLIENT;
	run->output_left -= bytes;
	if (run->ended || run->closing)
		return;
	tell(run, MGPU_MESSAGE_OUTPUT, channel, run->extents[extent], bytes);
	if (run->output_left == 0)
		finish(run);
}

static int
extent_at_host(const host_run *run)
{
	for (int i = 0; i < run->num_extents; i++)
	{
		if (run->places[i] == EXTENT_AT_HOST)
			return i;
	}
	return -1;
}

bool
mgpu_host_download(host_run *run)
{
	int			extent = extent_at_host(run);
	mgpu_error	error;

	if (run->phase != MGPU_PHASE_EMPTYING || run->ended || run->closing || extent < 0 || !has_room(run, MGPU_DOWNLOAD))
		return false;
	for (int output = 0; output < MGPU_NUM_OUTPUTS; output++)
	{
		uint64_t	asked = run->output_asked[output];
		uint64_t	bytes = run->output_bytes[output] - asked;

		if (bytes == 0)
			continue;
		if (bytes > MGPU_EXTENT_BYTES)
			bytes = MGPU_EXTENT_BYTES;
		if (run->host->engine->download(run->run, output, asked, mgpu_extent(&run->host->service, run->extents[extent]),
										bytes, &error) != MGPU_OK)
		{
			mgpu_host_fail(run, &error);
			return false;
		}
		note_copy(run, MGPU_DOWNLOAD, extent, (uint32_t) output, (uint32_t) bytes);
		run->output_asked[output] += bytes;
		return true;
	}
	return false;
}
