/*
 * service/client_input.c
 *		A client's extents as slots for input: input_slot and input_commit.
 */
#include "core/service/client_run.h"

/* Is anything still to come through this channel's slots? */
static mgpu_status
check_channel(const mgpu_run *run, mgpu_channel channel, mgpu_error *err)
{
	const run_input *input = &run->inputs[channel];

	if (input->width == 0 || input->whole != NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "channel %d takes no slots", (int) channel);
	if (input->sent_bytes == input->total_bytes)
		return mgpu_fail(err, MGPU_BAD_JOB, "channel %d has all its items", (int) channel);
	return MGPU_OK;
}

mgpu_status
mgpu_client_input_slot(mgpu_run *run, mgpu_channel channel, void **slot, uint64_t *slot_bytes, mgpu_error *err)
{
	run_input  *input = &run->inputs[channel];
	mgpu_status status = mgpu_client_enter(run, RUN_OPENING, RUN_FILLING, "input_slot", err);

	if (status == MGPU_OK)
		status = check_channel(run, channel, err);
	if (status == MGPU_OK && input->held_extent < 0 && run->num_free == 0)
	{
		mgpu_client_await(run);
		status = mgpu_client_take_messages(run, err);
	}
	if (status != MGPU_OK)
		return status;
	if (input->held_extent < 0)
	{
		if (run->num_free == 0)
			return MGPU_PENDING;
		input->held_extent = (int) run->free_extents[--run->num_free];
	}
	*slot = mgpu_extent(&run->port->service, (uint32_t) input->held_extent);
	*slot_bytes = input->total_bytes - input->sent_bytes;
	if (*slot_bytes > MGPU_EXTENT_BYTES)
		*slot_bytes = MGPU_EXTENT_BYTES;
	return MGPU_OK;
}

mgpu_status
mgpu_client_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	run_input  *input = &run->inputs[channel];
	mgpu_status status = mgpu_client_enter(run, RUN_FILLING, RUN_FILLING, "input_commit", err);

	if (status == MGPU_OK)
		status = check_channel(run, channel, err);
	if (status != MGPU_OK)
		return status;
	if (input->held_extent < 0 || bytes > MGPU_EXTENT_BYTES || bytes > input->total_bytes - input->sent_bytes ||
		bytes % input->width != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "%llu bytes do not go with the slot of channel %d",
						 (unsigned long long) bytes, (int) channel);
	if (bytes == 0)
		run->free_extents[run->num_free++] = (uint32_t) input->held_extent;
	else
	{
		mgpu_client_tell(run, MGPU_MESSAGE_INPUT, channel, (uint32_t) input->held_extent, bytes);
		if (run->port->step != NULL)
			run->port->step(run->port);
	}
	input->held_extent = -1;
	input->sent_bytes += bytes;
	return MGPU_OK;
}

mgpu_status
mgpu_client_ask(mgpu_run *run, mgpu_error *err)
{
	int			extent = run->inputs[MGPU_CHANNEL_KEYS].held_extent;
	mgpu_status status = mgpu_client_enter(run, RUN_FILLING, RUN_FILLING, "kept_ask", err);

	if (status != MGPU_OK)
		return status;
	if (!run->is_group || extent < 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "a question without a slot");
	if (!run->asks)
		mgpu_client_tell(run, MGPU_MESSAGE_ASK, 0, (uint32_t) extent, 0);
	run->asks = true;
	if (!run->is_answered)
		mgpu_client_await(run);
	status = mgpu_client_take_messages(run, err);
	if (status != MGPU_OK || !run->is_answered)
		return status == MGPU_OK ? MGPU_PENDING : status;
	run->asks = run->is_answered = false;
	return MGPU_OK;
}
