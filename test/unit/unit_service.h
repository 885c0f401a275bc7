/*
 * unit_service.h
 *		A service in one process: a host thread with played devices, and a thread for each
 *		backend.
 *
 * Each backend runs random jobs, compares each answer with the CPU executor's, and
 * dies now and then in the middle of one, as does the host.  Choices are random but
 * the same in every run; only how threads interleave differs.
 */
#ifndef MGPU_UNIT_SERVICE_H
#define MGPU_UNIT_SERVICE_H

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "core/cpu_threads.h"
#include "core/service/client.h"
#include "core/service/host.h"
#include "played/played_engine.h"
#include "unit_jobs.h"

#define SERVICE_MAX_BACKENDS 12

typedef struct service_options
{
	const char *name;
	int			num_devices;
	int			num_backends;
	uint32_t	num_extents;
	int			num_jobs;		/* of each backend */
	uint64_t	device_bytes;	/* 0: much */
	int			num_pins;		/* how often memory can be pinned; 0: always, -1: never */
	int			deaths;			/* one in so many jobs ends in its backend's death; 0: none */
	int			sticky;			/* one in so many jobs loses the devices; 0: none */
	int			host_deaths;	/* one in so many steps is the host's last; 0: none */
} service_options;

/* Wakes one thread. */
typedef struct service_bell
{
	pthread_mutex_t mutex;
	pthread_cond_t rang;
	bool		rings;
} service_bell;

struct service_model;

typedef struct service_backend
{
	mgpu_port	port;			/* first, so that a port leads here */
	struct service_model *model;
	service_bell bell;
	pthread_t	thread;
	uint64_t	seed;
	int			calls_left;		/* until it dies; -1: it lives */
	unsigned long num_answers;
	unsigned long num_deaths;
	unsigned long num_retries;
} service_backend;

typedef struct service_model
{
	service_options options;
	void	   *memory;
	mgpu_service service;
	mgpu_host  *host;
	service_bell host_bell;
	pthread_t	host_thread;
	uint64_t	seed;
	_Atomic bool stopping;
	unsigned long num_hosts;
	int			num_dead_hosts;
	service_backend backends[SERVICE_MAX_BACKENDS];

	/* what a backend does; it returns when all its jobs are done */
	void		(*main) (service_backend *backend);
} service_model;

/* Jobs that backends pick from. */
#define SERVICE_NUM_JOBS 250
static unit_job service_jobs[SERVICE_NUM_JOBS];

/* Hosts that died without a word.  Nobody frees them, and here the leak checker finds them. */
#define SERVICE_MAX_DEAD_HOSTS 80	/* of one model */
static mgpu_host *volatile service_dead_hosts[10 * SERVICE_MAX_DEAD_HOSTS];
static int	service_num_dead_hosts;

static pthread_mutex_t service_check_mutex = PTHREAD_MUTEX_INITIALIZER;

/* UNIT_CHECK for threads. */
#define SERVICE_CHECK(condition) service_check((condition), __FILE__, __LINE__, #condition)

static inline void
service_check(bool holds, const char *file, int line, const char *condition)
{
	pthread_mutex_lock(&service_check_mutex);
	unit_check(holds, file, line, condition);
	pthread_mutex_unlock(&service_check_mutex);
}

/* --------------------------------------------------------------- bells, delays */

static inline void
service_bell_init(service_bell *bell)
{
	pthread_mutex_init(&bell->mutex, NULL);
	pthread_cond_init(&bell->rang, NULL);
	bell->rings = false;
}

static inline void
service_ring(service_bell *bell)
{
	pthread_mutex_lock(&bell->mutex);
	bell->rings = true;
	pthread_cond_signal(&bell->rang);
	pthread_mutex_unlock(&bell->mutex);
}

/* Whether it rang in time. */
static inline bool
service_listen(service_bell *bell, long ms)
{
	struct timespec until;
	bool		rang;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&bell->mutex);
	while (!bell->rings && pthread_cond_timedwait(&bell->rang, &bell->mutex, &until) == 0)
		;
	rang = bell->rings;
	bell->rings = false;
	pthread_mutex_unlock(&bell->mutex);
	return rang;
}

/* News without a ring, unless it is just about to come, is a ring that got lost. */
static inline void
service_check_ring(service_bell *bell)
{
	SERVICE_CHECK(service_listen(bell, 10000));
}

/* Let others go first, at random. */
static inline void
service_dawdle(void)
{
	uint64_t	dice = unit_random_below(256);

	if (dice == 0)
		usleep((unsigned) unit_random_below(1000));
	else if (dice < 32)
		sched_yield();
}

/* ------------------------------------------------------------------- the host */

static inline void
service_wake_client(void *context, uint32_t slot)
{
	service_model *model = context;

	service_dawdle();
	service_ring(&model->backends[slot].bell);
}

/* What an older host has given out, and its clients may still write to, is in use. */
static inline void
service_check_kept(const service_model *model)
{
	uint32_t	count = 0;

	for (int i = 0; i < SERVICE_MAX_BACKENDS; i++)
		count += atomic_load(&model->service.slots[i].num_extents);
	SERVICE_CHECK(atomic_load(&model->service.control->used_extents) == count);
}

/* It may be able to pin less than the one before. */
static inline void
service_new_host(service_model *model)
{
	mgpu_host_options options = {
		.engine = &mgpu_played_engine,.service = model->service,.queues = true,
		.wake_client = service_wake_client,.context = model
	};
	mgpu_error	error;

	mgpu_played_reset();
	if (model->options.num_pins > 0)
		mgpu_played.num_pins = 1 + (int) unit_random_below((uint64_t) model->options.num_pins);
	model->host = mgpu_host_create(&options);
	service_check_kept(model);
	model->num_hosts++;
	for (int device = 0; device < model->options.num_devices; device++)
		SERVICE_CHECK(mgpu_host_use_device(model->host, device, &error) == MGPU_OK);
	mgpu_host_start(model->host);
}

/* A moment without a host, and the next one. */
static inline void
service_replace_host(service_model *model)
{
	usleep((unsigned) unit_random_below(3000));
	service_new_host(model);
}

/* The process ends without a word, but for its exit hook. */
static inline void
service_kill_host(service_model *model)
{
	service_dead_hosts[service_num_dead_hosts++] = model->host;
	model->num_dead_hosts++;
	atomic_store(&model->service.control->up, 0);
	service_replace_host(model);
}

static inline void
service_rest(service_model *model)
{
	if (!mgpu_host_sleep_begin(model->host))
		return;
	if (!service_listen(&model->host_bell, mgpu_host_is_busy(model->host) ? 1 : 50) &&
		atomic_load(&model->service.doorbells[0]) != 0)
		service_check_ring(&model->host_bell);
	mgpu_host_sleep_end(model->host);
}

static inline void *
service_host_main(void *argument)
{
	service_model *model = argument;
	int			idle_steps = 0;

	unit_random_state = model->seed;
	while (!atomic_load(&model->stopping))
	{
		mgpu_error	error;
		mgpu_status status = mgpu_host_step(model->host, &error);

		service_dawdle();
		idle_steps = status == MGPU_PENDING ? idle_steps + 1 : 0;
		if (status != MGPU_OK && status != MGPU_PENDING)
		{
			mgpu_host_stop(model->host, &error);
			service_replace_host(model);
		}
		else if (model->options.host_deaths > 0 && model->num_dead_hosts < SERVICE_MAX_DEAD_HOSTS &&
				 unit_random_below((uint64_t) model->options.host_deaths) == 0)
			service_kill_host(model);
		else if (idle_steps > 10)
			service_rest(model);
	}
	return NULL;
}

/* ------------------------------------------------------------------- a backend */

static inline void
service_wake_host(mgpu_port *port)
{
	service_dawdle();
	service_ring(&((service_backend *) port)->model->host_bell);
}

static inline void
service_sleep(mgpu_port *port)
{
	service_bell *bell = &((service_backend *) port)->bell;
	mgpu_mailbox *mailbox = &port->service.slots[port->slot].to_client;
	uint32_t	sent = atomic_load(&mailbox->sent);

	if (!service_listen(bell, 50) && atomic_load(&mailbox->sent) != sent && atomic_load(&port->service.control->up))
		service_check_ring(bell);
}

static inline void *
service_backend_main(void *argument)
{
	service_backend *backend = argument;

	unit_random_state = backend->seed;
	backend->model->main(backend);
	return NULL;
}

/* --------------------------------------------------------------- start and end */

static inline void
service_start(service_model *model)
{
	const service_options *options = &model->options;
	uint64_t	bytes = mgpu_service_bytes(SERVICE_MAX_BACKENDS, options->num_extents);

	mgpu_played.num_devices = options->num_devices;
	mgpu_played.device_bytes = options->device_bytes > 0 ? options->device_bytes : UINT64_C(1) << 40;
	mgpu_played.num_pins = options->num_pins < 0 ? 0 : -1;
	model->memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	memset(model->memory, 0xDB, bytes);
	mgpu_service_format(model->memory, SERVICE_MAX_BACKENDS, options->num_extents);
	model->service = mgpu_service_attach(model->memory);
	service_bell_init(&model->host_bell);
	model->seed = unit_random();
	service_new_host(model);
	for (int i = 0; i < options->num_backends; i++)
	{
		service_backend *backend = &model->backends[i];

		backend->port = (mgpu_port) {model->service, (uint32_t) i, NULL, service_wake_host, service_sleep};
		backend->model = model;
		backend->seed = unit_random();
		service_bell_init(&backend->bell);
	}
	pthread_create(&model->host_thread, NULL, service_host_main, model);
	for (int i = 0; i < options->num_backends; i++)
		pthread_create(&model->backends[i].thread, NULL, service_backend_main, &model->backends[i]);
}

static inline bool
service_is_idle(const service_model *model)
{
	for (int i = 0; i < model->options.num_backends; i++)
	{
		if (atomic_load(&model->service.slots[i].state) != MGPU_SLOT_FREE)
			return false;
	}
	return true;
}

/* Nothing is left of any run. */
static inline void
service_check_idle(const service_model *model)
{
	const mgpu_service_control *control = model->service.control;

	UNIT_CHECK(service_is_idle(model));
	UNIT_CHECK(atomic_load(&control->used_extents) == 0 || model->options.num_pins != 0);
	UNIT_CHECK(atomic_load(&control->num_open) == 0);
	UNIT_CHECK(atomic_load(&control->num_queued) == 0);
	UNIT_CHECK(atomic_load(&control->queued_us) == 0);
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		UNIT_CHECK(atomic_load(&control->devices[device].load_us) == 0);
		UNIT_CHECK(mgpu_played_used_bytes(device) == 0);
	}
	for (int i = 0; i < model->options.num_backends; i++)
		UNIT_CHECK(atomic_load(&model->service.slots[i].num_extents) == 0);
}

static inline void
service_end(service_model *model)
{
	mgpu_error	reason = {MGPU_DEVICE_FAILED, "the test is over"};

	for (int i = 0; i < model->options.num_backends; i++)
		pthread_join(model->backends[i].thread, NULL);
	for (int i = 0; i < 10000 && !service_is_idle(model); i++)
		usleep(1000);
	atomic_store(&model->stopping, true);
	pthread_join(model->host_thread, NULL);
	service_check_idle(model);
	mgpu_host_stop(model->host, &reason);
	mgpu_played_reset();
	free(model->memory);
}

static inline void
service_report(const service_model *model, double begin_ms)
{
	unsigned long answers = 0,
				deaths = 0,
				retries = 0;

	for (int i = 0; i < model->options.num_backends; i++)
	{
		answers += model->backends[i].num_answers;
		deaths += model->backends[i].num_deaths;
		retries += model->backends[i].num_retries;
	}
	if (getenv("UNIT_VERBOSE") != NULL)
		fprintf(stderr, "%-30s %5lu answers, %4lu deaths, %5lu retries, %4lu hosts, %.0f ms\n", model->options.name,
				answers, deaths, retries, model->num_hosts, mgpu_now_ms() - begin_ms);
}

static inline void
service_run(const service_options *options, void (*backend_main) (service_backend *backend))
{
	service_model *model = calloc(1, sizeof(service_model));
	double		begin_ms = mgpu_now_ms();

	UNIT_CONTEXT("%s", options->name);
	model->options = *options;
	model->main = backend_main;
	service_start(model);
	service_end(model);
	service_report(model, begin_ms);
	free(model);
}

#endif							/* MGPU_UNIT_SERVICE_H */
