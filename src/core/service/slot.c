/*
 * service/slot.c
 *		The shared memory of a service, and messages in it.
 */
#include "core/service/slot.h"

#include <string.h>

static uint64_t
align_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

static uint64_t
doorbells_offset(void)
{
	return align_up(sizeof(mgpu_service_control), 64);
}

static uint32_t
num_doorbell_words(uint32_t num_slots)
{
	return (num_slots + 63) / 64;
}

static uint64_t
slots_offset(uint32_t num_slots)
{
	return align_up(doorbells_offset() + num_doorbell_words(num_slots) * sizeof(uint64_t), 64);
}

/* Extents begin at a page, since devices pin whole pages. */
static uint64_t
arena_offset(uint32_t num_slots)
{
	return align_up(slots_offset(num_slots) + num_slots * (uint64_t) sizeof(mgpu_slot), 4096);
}

uint64_t
mgpu_service_bytes(uint32_t num_slots, uint32_t num_extents)
{
	return arena_offset(num_slots) + num_extents * MGPU_EXTENT_STRIDE;
}

void
mgpu_service_format(void *memory, uint32_t num_slots, uint32_t num_extents)
{
	mgpu_service_control *control = memory;

	memset(memory, 0, arena_offset(num_slots));
	control->num_slots = num_slots;
	control->num_extents = num_extents;
	control->arena_offset = arena_offset(num_slots);
	for (uint32_t i = 0; i < num_slots; i++)
		atomic_store(&mgpu_service_attach(memory).slots[i].device, -1);
}

mgpu_service
mgpu_service_attach(void *memory)
{
	mgpu_service service;
	char	   *bytes = memory;

	service.control = memory;
	service.doorbells = (_Atomic uint64_t *) (bytes + doorbells_offset());
	service.slots = (mgpu_slot *) (bytes + slots_offset(service.control->num_slots));
	service.arena = bytes + service.control->arena_offset;
	return service;
}

void
mgpu_send(mgpu_mailbox *mailbox, mgpu_message message)
{
	uint32_t	sent = atomic_load_explicit(&mailbox->sent, memory_order_relaxed);

	mailbox->messages[sent % MGPU_MAILBOX_MESSAGES] = message;
	atomic_store(&mailbox->sent, sent + 1);
}

bool
mgpu_receive(const mgpu_mailbox *mailbox, uint32_t *received, mgpu_message *message)
{
	if (atomic_load_explicit(&mailbox->sent, memory_order_acquire) == *received)
		return false;
	*message = mailbox->messages[*received % MGPU_MAILBOX_MESSAGES];
	(*received)++;
	return true;
}

bool
mgpu_ring_doorbell(const mgpu_service *service, uint32_t slot)
{
	atomic_fetch_or(&service->doorbells[slot / 64], UINT64_C(1) << slot % 64);
	return atomic_load(&service->control->host_sleeps) != 0;
}

uint32_t
mgpu_input_width(const mgpu_job *job, int input)
{
	bool		merges = mgpu_job_is_merge(job);
	bool		inserts = job->op == MGPU_OP_INSERT;

	if (job->op == MGPU_OP_GROUP)
		return input == MGPU_CHANNEL_KEYS ? sizeof(mgpu_page_ref) : input == MGPU_CHANNEL_VALUES ? sizeof(int64_t) : 0;
	switch (input)
	{
		case MGPU_CHANNEL_KEYS:
			return job->key_width;
		case MGPU_CHANNEL_VALUES:
			return job->value_width;
		case MGPU_CHANNEL_B_KEYS:
			return merges ? job->key_width : 0;
		case MGPU_CHANNEL_B_VALUES:
			return merges || inserts ? job->value_width : 0;
		case MGPU_INPUT_POSITIONS:
			return job->op == MGPU_OP_REMOVE || inserts ? sizeof(uint32_t) : 0;
		default:
			return job->num_segments > 0 ? sizeof(uint32_t) : 0;
	}
}

uint64_t
mgpu_input_bytes(const mgpu_job *job, int input)
{
	uint64_t	num_items = job->num_b_items;

	if (job->op == MGPU_OP_GROUP)
		return input == MGPU_CHANNEL_KEYS ? UINT64_MAX : 0;
	if (input == MGPU_CHANNEL_KEYS || input == MGPU_CHANNEL_VALUES)
		num_items = job->num_items;
	else if (input == MGPU_INPUT_SEGMENT_HEADS)
		num_items = job->num_segments;
	return num_items * mgpu_input_width(job, input);
}

uint64_t
mgpu_output_bytes(const mgpu_job *job, mgpu_output output)
{
	uint64_t	num_items = job->op == MGPU_OP_REMOVE ? job->num_items - job->num_b_items :
		job->num_items + job->num_b_items;

	/* the others are of groups, and there are more of them than bits */
	if (output > MGPU_OUTPUT_VALUES || (job->outputs & (1u << output)) == 0)
		return 0;
	if (output == MGPU_OUTPUT_INDICES)
		return num_items * sizeof(uint32_t);
	return num_items * (output == MGPU_OUTPUT_KEYS ? job->key_width : job->value_width);
}
