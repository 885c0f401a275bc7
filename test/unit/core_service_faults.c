/*
 * core_service_faults.c
 *		The service with hosts that die, memory that cannot be pinned, and clients that
 *		break the protocol.
 *
 * core_service.c has clients that keep to it.
 */
#include "unit_backend.h"

static const service_options scenarios[] = {
	{.name = "devices are lost",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 40,.sticky = 40},
	{.name = "hosts die",.num_devices = 1,.num_backends = 12,.num_extents = 24,.num_jobs = 40,.host_deaths = 200},
	{.name = "all die",.num_devices = 2,.num_backends = 12,.num_extents = 12,.num_jobs = 40,.deaths = 3,.sticky = 40,.host_deaths = 200},
	{.name = "all die, device memory",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 40,.deaths = 3,.sticky = 40,
	.host_deaths = 200,.device_bytes = 400000},
	{.name = "one piece is pinned",.num_devices = 1,.num_backends = 12,.num_extents = 64,.num_jobs = 15,.deaths = 4,.num_pins = 1},
	{.name = "three pieces are pinned",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 15,.num_pins = 3},
	{.name = "pins and hosts fail",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 25,.num_pins = 4,.deaths = 3,.host_deaths = 200},
	{.name = "nothing is pinned",.num_devices = 1,.num_backends = 12,.num_extents = 64,.num_jobs = 5,.num_pins = -1}
};

/* ------------------------------------------------- clients made of bare messages */

/* A client that writes to its slot itself. */
typedef struct stranger
{
	service_backend *backend;
	mgpu_slot  *slot;
	uint32_t	received;
	uint32_t	extents[MGPU_SLOT_EXTENTS];
	int			num_extents;
} stranger;

static void
ring(stranger *self)
{
	if (mgpu_ring_doorbell(&self->backend->port.service, self->backend->port.slot))
		service_wake_host(&self->backend->port);
}

static void
say(stranger *self, uint32_t kind, uint32_t channel, uint32_t extent, uint32_t bytes)
{
	mgpu_send(&self->slot->to_host, (mgpu_message) {kind, channel, extent, bytes});
}

/* Wait for the host, without looking at what it says; not for ever. */
static void
await_sent(const stranger *self, uint32_t sent)
{
	double		end_ms = mgpu_now_ms() + 20000;

	while (atomic_load(&self->slot->to_client.sent) < sent && mgpu_now_ms() < end_ms)
		usleep(100);
	SERVICE_CHECK(atomic_load(&self->slot->to_client.sent) >= sent);
}

static mgpu_message
hear(stranger *self)
{
	mgpu_message message = {0};

	await_sent(self, self->received + 1);
	SERVICE_CHECK(mgpu_receive(&self->slot->to_client, &self->received, &message));
	return message;
}

static stranger
begin(service_backend *backend, const mgpu_job *job, int device, uint32_t generation_change)
{
	const mgpu_service *service = &backend->port.service;
	stranger	self = {.backend = backend,.slot = &service->slots[backend->port.slot]};

	while (atomic_load(&self.slot->state) != MGPU_SLOT_FREE)
		usleep(100);
	self.slot->generation = atomic_load(&service->control->generation) + generation_change;
	self.slot->job = *job;
	self.slot->options = (mgpu_exec_options) {.device = device,.num_threads = 1};
	atomic_store(&self.slot->to_host.sent, 0);
	atomic_store(&self.slot->to_client.sent, 0);
	atomic_store(&self.slot->state, MGPU_SLOT_OPEN);
	ring(&self);
	return self;
}

/* Its extents come together with OPENED. */
static void
take_extents(stranger *self)
{
	SERVICE_CHECK(hear(self).kind == MGPU_MESSAGE_OPENED);
	self->num_extents = (int) atomic_load(&self->slot->num_extents);
	for (int i = 0; i < self->num_extents; i++)
	{
		mgpu_message message = hear(self);

		SERVICE_CHECK(message.kind == MGPU_MESSAGE_EXTENT);
		self->extents[i] = message.extent;
	}
}

static char *
extent(const stranger *self, int i)
{
	return mgpu_extent(&self->backend->port.service, self->extents[i]);
}

/* The host has noticed, and hears no more from this one. */
static void
end_badly(stranger *self, mgpu_status status)
{
	mgpu_message message;

	ring(self);
	do
		message = hear(self);
	while (message.kind == MGPU_MESSAGE_EXTENT);
	SERVICE_CHECK(message.kind == MGPU_MESSAGE_FAILED);
	SERVICE_CHECK(self->slot->error.status == status);
	say(self, MGPU_MESSAGE_SUBMIT, 0, 0, 0);
	ring(self);
	service_dawdle();
	mgpu_client_leave(&self->backend->port);
}

static mgpu_job
sort_job(uint64_t num_items)
{
	return (mgpu_job) {.op = MGPU_OP_SORT,.key_kind = MGPU_KEY_UNSIGNED,.key_width = 4,.outputs = MGPU_OUT_KEYS,
		.num_items = num_items};
}

/* Jobs that are refused before any message. */
static void
open_badly(service_backend *backend)
{
	mgpu_job	job = sort_job(100);
	stranger	self;

	job.op = 99;
	self = begin(backend, &job, -1, 0);
	end_badly(&self, MGPU_BAD_JOB);
	job = sort_job(100);
	job.num_b_items = UINT64_MAX;
	self = begin(backend, &job, -1, 0);
	end_badly(&self, MGPU_BAD_JOB);
	job = sort_job(100);
	for (int device = 5; device < 100; device += 90)
	{
		self = begin(backend, &job, device, 0);
		end_badly(&self, MGPU_NO_DEVICE);
	}
	self = begin(backend, &job, -1, 7);
	mgpu_client_leave(&backend->port);	/* a host answers to its own generation alone */
}

/* A job that is as it has to be, which compares by a locale, as devices do not. */
static void
open_with_locale(service_backend *backend)
{
	mgpu_job	job = {.op = MGPU_OP_GROUP};
	mgpu_group_spec *spec = &backend->port.service.slots[backend->port.slot].group;
	mgpu_error	err;
	stranger	self;

	while (atomic_load(&backend->port.service.slots[backend->port.slot].state) != MGPU_SLOT_FREE)
		usleep(100);
	memset(spec, 0, sizeof(*spec));
	spec->num_columns = spec->num_constants = spec->num_registers = 1;
	spec->columns[0] = (mgpu_group_column) {.kind = MGPU_KEY_SIGNED,.width = 8,.reduction = MGPU_REDUCE_EXTREMES,.num_cells = 1,.is_collated = 1};
	spec->table_bytes = sizeof(uint64_t);
	strcpy((char *) spec->tables, "C");
	SERVICE_CHECK(mgpu_job_validate(&job, &err) == MGPU_OK && mgpu_group_validate(spec, &err) == MGPU_OK);
	self = begin(backend, &job, -1, 0);
	end_badly(&self, MGPU_UNSUPPORTED);
}

/* What does not go with a job of 1000 items of 4 bytes.  Extents count from the client's own. */
static const mgpu_message bad_messages[][3] = {
	{{99, 0, 0, 4}},
	{{MGPU_MESSAGE_OPENED, 0, 0, 4}},
	{{MGPU_MESSAGE_INPUT, 0, 1, 4}},
	{{MGPU_MESSAGE_INPUT, 0, UINT32_MAX / 2, 4}},
	{{MGPU_MESSAGE_INPUT, 77, 0, 4}},
	{{MGPU_MESSAGE_INPUT, UINT32_MAX, 0, 4}},
	{{MGPU_MESSAGE_INPUT, MGPU_CHANNEL_VALUES, 0, 4}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 0}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 3}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 4004}},
	{{MGPU_MESSAGE_INPUT, 0, 0, UINT32_MAX - 3}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 40}, {MGPU_MESSAGE_INPUT, 0, 0, 40}},	/* a device has it then */
	{{MGPU_MESSAGE_INPUT, 0, 0, 40}, {MGPU_MESSAGE_SUBMIT, 0, 0, 0}},
	{{MGPU_MESSAGE_SUBMIT, 0, 0, 0}},
	{{MGPU_MESSAGE_EMPTY, 0, 1, 0}},
	{{MGPU_MESSAGE_EMPTY, 0, 0, 0}, {MGPU_MESSAGE_EMPTY, 0, 0, 0}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 4000}, {MGPU_MESSAGE_SUBMIT, 0, 0, 0}, {MGPU_MESSAGE_SUBMIT, 0, 0, 0}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 4000}, {MGPU_MESSAGE_SUBMIT, 0, 0, 0}, {MGPU_MESSAGE_INPUT, 0, 0, 4}},
	{{MGPU_MESSAGE_INPUT, 0, 0, 4000}, {MGPU_MESSAGE_SUBMIT, 0, 0, 0}, {MGPU_MESSAGE_EMPTY, 0, 0, 0}}
};

#define NUM_BAD_MESSAGES ((int) (sizeof(bad_messages) / sizeof(bad_messages[0])))

static void
say_badly(service_backend *backend, int which)
{
	mgpu_job	job = sort_job(1000);
	stranger	self = begin(backend, &job, -1, 0);

	take_extents(&self);
	memset(extent(&self, 0), 1, MGPU_EXTENT_BYTES);
	for (int i = 0; i < 3 && bad_messages[which][i].kind != 0; i++)
	{
		mgpu_message message = bad_messages[which][i];

		say(&self, message.kind, message.channel, self.extents[0] + message.extent, message.bytes);
	}
	end_badly(&self, MGPU_BAD_JOB);
}

/* More messages than there can be. */
static void
say_much(service_backend *backend)
{
	mgpu_job	job = sort_job(1000);
	stranger	self = begin(backend, &job, -1, 0);

	take_extents(&self);
	memset(self.slot->to_host.messages, 0, sizeof(self.slot->to_host.messages));
	atomic_store(&self.slot->to_host.sent, UINT32_MAX);
	end_badly(&self, MGPU_BAD_JOB);
}

/* An honest client that lets all messages of the host pile up. */
static void
read_late(service_backend *backend)
{
	mgpu_job	job = sort_job(MGPU_SLOT_EXTENTS * MGPU_EXTENT_BYTES / 4);
	stranger	self = begin(backend, &job, -1, 0);
	uint32_t	count;

	take_extents(&self);
	count = (uint32_t) self.num_extents;
	SERVICE_CHECK(count == MGPU_SLOT_EXTENTS);
	for (uint32_t i = 0; i < count; i++)
	{
		memset(extent(&self, (int) i), (int) (count - i), MGPU_EXTENT_BYTES);
		say(&self, MGPU_MESSAGE_INPUT, 0, self.extents[i], MGPU_EXTENT_BYTES);
		ring(&self);
	}
	await_sent(&self, 1 + 2 * count);
	say(&self, MGPU_MESSAGE_SUBMIT, 0, 0, 0);
	ring(&self);
	await_sent(&self, 2 + 3 * count);
	for (uint32_t i = 0; i < count; i++)
		SERVICE_CHECK(hear(&self).kind == MGPU_MESSAGE_EXTENT);
	for (uint32_t i = 0; i < count; i++)
	{
		mgpu_message message = hear(&self);
		const char *bytes = mgpu_extent(&backend->port.service, message.extent);

		SERVICE_CHECK(message.kind == MGPU_MESSAGE_OUTPUT && message.bytes == MGPU_EXTENT_BYTES);
		SERVICE_CHECK(bytes[0] == (char) (i + 1) && bytes[message.bytes - 1] == (char) (i + 1));
	}
	SERVICE_CHECK(hear(&self).kind == MGPU_MESSAGE_DONE);
	mgpu_client_leave(&backend->port);
}

/* Every fourth client is a stranger. */
static void
strangers_main(service_backend *backend)
{
	if (backend->port.slot % 4 != 0)
	{
		backend_run_all(backend);
		return;
	}
	for (int i = 0; i < 4; i++)
	{
		open_badly(backend);
		open_with_locale(backend);
		for (int which = 0; which < NUM_BAD_MESSAGES; which++)
			say_badly(backend, which);
		say_much(backend);
		if (mgpu_ring_doorbell(&backend->port.service, (uint32_t) unit_random_below(SERVICE_MAX_BACKENDS)))
			service_wake_host(&backend->port);
	}
}

static void
read_late_main(service_backend *backend)
{
	for (int i = 0; i < backend->model->options.num_jobs; i++)
		read_late(backend);
}

int
main(void)
{
	static const service_options strangers = {.name = "strangers",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 40};
	static const service_options late = {.name = "late readers",.num_devices = 1,.num_backends = 2,.num_extents = 64,.num_jobs = 20};

	for (int i = 0; i < SERVICE_NUM_JOBS; i++)
		unit_job_make(&service_jobs[i], 60000);
	service_run(&strangers, strangers_main);
	service_run(&late, read_late_main);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		service_run(&scenarios[i], backend_run_all);
	for (int i = 0; i < SERVICE_NUM_JOBS; i++)
		unit_job_free(&service_jobs[i]);
	return unit_report();
}
