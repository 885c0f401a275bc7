/*
 * service/client_poll.c
 *		What a client does from submit to the end: copies to and from extents.
 */
#include "core/service/client_run.h"

#include "core/cpu_threads.h"

/* How long a poll works before the caller looks at its interrupts.  Tests end polls in the midst of copies. */
#define POLL_MS MGPU_SIZE(10, 0)

/* Runs that copy less do so in the caller's thread alone. */
#define THREADS_MIN_BYTES ((uint64_t) MGPU_SIZE(8 * 1024 * 1024, 16 * 1024))

mgpu_status
mgpu_client_submit(mgpu_run *run, mgpu_error *err)
{
	uint64_t	copied_bytes = 0;
	mgpu_status status = mgpu_client_enter(run, RUN_OPENING, RUN_FILLING, "submit", err);

	if (status != MGPU_OK)
		return status;
	if (run->copier != NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the run was submitted before");
	/* what was sent is all there is */
	if (run->is_group)
		run->inputs[MGPU_CHANNEL_KEYS].total_bytes = run->inputs[MGPU_CHANNEL_KEYS].sent_bytes;
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
	{
		const run_input *input = &run->inputs[i];

		if (input->whole == NULL && input->sent_bytes != input->total_bytes)
			return mgpu_fail(err, MGPU_BAD_JOB, "channel %d has %llu of %llu bytes", i,
							 (unsigned long long) input->sent_bytes, (unsigned long long) input->total_bytes);
		copied_bytes += input->total_bytes - input->sent_bytes;
	}
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		copied_bytes += run->outputs[i].total_bytes;
	run->copier = mgpu_copier_start(copied_bytes < THREADS_MIN_BYTES && !run->is_group ? 1 : run->num_threads);
	if (run->copier == NULL)
		return mgpu_client_fail(run, err, MGPU_HOST_MEMORY, "out of host memory");
	run->num_threads_used = mgpu_copier_num_threads(run->copier);
	if (run->state == RUN_FILLING)
		run->state = RUN_SENDING;
	return MGPU_OK;
}

/* A task's tag: an extent and what it is sent as. */
static uint64_t
make_tag(uint32_t extent, int input, uint64_t bytes)
{
	return bytes << 32 | (uint64_t) input << 24 | extent;
}

/* Copy the next slice of a whole input to a free extent; false if there is none, of either. */
static bool
fill_extent(mgpu_run *run)
{
	for (int i = 0; i < MGPU_NUM_INPUTS && run->num_free > 0; i++)
	{
		run_input  *input = &run->inputs[i];
		uint64_t	bytes = input->total_bytes - input->sent_bytes;
		uint32_t	extent;

		if (bytes == 0)
			continue;
		if (bytes > MGPU_EXTENT_BYTES)
			bytes = MGPU_EXTENT_BYTES;
		extent = run->free_extents[--run->num_free];
		mgpu_copier_add(run->copier, mgpu_extent(&run->port->service, extent), input->whole + input->sent_bytes, bytes,
						make_tag(extent, i, bytes));
		input->sent_bytes += bytes;
		return true;
	}
	return false;
}

static bool
is_all_sent(const mgpu_run *run)
{
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
	{
		if (run->inputs[i].sent_bytes < run->inputs[i].total_bytes)
			return false;
	}
	return mgpu_copier_num_tasks(run->copier) == 0;
}

/* Hand extents over whose copies have ended. */
static void
hand_over(mgpu_run *run)
{
	uint64_t	tag;

	while (mgpu_copier_finished(run->copier, &tag))
	{
		if (run->state == RUN_SENDING)
			mgpu_client_tell(run, MGPU_MESSAGE_INPUT, (uint32_t) (tag >> 24 & 0xFF), (uint32_t) (tag & 0xFFFFFF), tag >> 32);
		else if (!run->host_is_done)
			mgpu_client_tell(run, MGPU_MESSAGE_EMPTY, 0, (uint32_t) tag, 0);
	}
}

/* Do what can be done now. */
static void
work(mgpu_run *run)
{
	hand_over(run);
	if (run->state == RUN_SENDING)
	{
		while (fill_extent(run))
			;
		if (is_all_sent(run))
		{
			mgpu_client_tell(run, MGPU_MESSAGE_SUBMIT, 0, 0, 0);
			run->num_free = 0;
			run->state = RUN_AWAITING;
		}
	}
	if (run->host_is_done && mgpu_copier_num_tasks(run->copier) == 0)
		run->state = RUN_DONE;
}

/* After work: copy, or wait for what others do. */
static void
copy_or_wait(mgpu_run *run)
{
	if (run->port->step != NULL)
		run->port->step(run->port);
	if (mgpu_copier_help(run->copier))
		return;
	if (mgpu_copier_num_tasks(run->copier) == MGPU_COPIER_TASKS || run->host_is_done)
		mgpu_copier_wait(run->copier);
	else if (mgpu_copier_num_tasks(run->copier) == 0)
		mgpu_client_await(run);
}

mgpu_status
mgpu_client_poll(mgpu_run *run, mgpu_error *err)
{
	double		end_ms = mgpu_now_ms() + POLL_MS;
	mgpu_status status = mgpu_client_enter(run, RUN_OPENING, RUN_FAILED, "poll", err);

	if (status != MGPU_OK)
		return status;
	if (run->copier == NULL || run->state == RUN_FAILED)
		return mgpu_fail(err, MGPU_BAD_JOB, "poll does not go with the run's state %d", (int) run->state);
	while (run->state != RUN_DONE)
	{
		if (mgpu_client_awaits_caller(run))
			return MGPU_PENDING;
		if (run->state == RUN_FILLING)
			run->state = RUN_SENDING;	/* it was still waiting for extents when it was submitted */
		if (run->state == RUN_OPENING)
			mgpu_client_await(run);
		else
		{
			work(run);
			if (run->state != RUN_DONE)
				copy_or_wait(run);
		}
		if (run->state != RUN_DONE && mgpu_now_ms() >= end_ms)
			return MGPU_PENDING;
		status = mgpu_client_take_messages(run, err);
		if (status != MGPU_OK)
			return status;
	}
	return MGPU_OK;
}
