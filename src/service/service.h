/*
 * service/service.h
 *		One GPU for all sessions: the background worker, and how a session uses it.
 *
 * Where the library is in shared_preload_libraries and the machine has a GPU, a background worker
 * has the only CUDA context of the server (worker.c).  Sessions hand it jobs through shared memory
 * (core/service/slot.h).  Otherwise each session makes a context of its own (core/service/local.c).
 */
#ifndef MGPU_SERVICE_SERVICE_H
#define MGPU_SERVICE_SERVICE_H

#include "core/service/slot.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"

typedef enum service_state
{
	SERVICE_NONE,				/* this server has no service */
	SERVICE_STARTING,			/* not yet, or again after a failure */
	SERVICE_UP,
	SERVICE_NO_GPU				/* it found no GPU that it can use */
} service_state;

/* Shared memory beside what core/service has. */
typedef struct service_shared
{
	pg_atomic_uint32 worker;	/* number of the worker's PGPROC, or SERVICE_NO_WORKER */
	pg_atomic_uint32 no_gpu;	/* bool */
	pg_atomic_uint32 num_failures;	/* starts that failed, one after another */
	int			worker_pid;
	TimestampTz started_at;
	char		why_not[MGPU_ERROR_MESSAGE_BYTES];	/* written before no_gpu */
} service_shared;

#define SERVICE_NO_WORKER PG_UINT32_MAX

/* A session uses them in turn: the worker may still end the last run of one. */
#define SERVICE_SESSION_SLOTS 2

/* NULL: no service. */
extern service_shared *service_in_shared_memory;
extern mgpu_service service_memory;

/* While libraries are preloaded: settings, shared memory, the worker. */
extern void service_init(void);

extern service_state service_look(void);

/* Wait a few seconds for a service that is starting, and look again. */
extern service_state service_await(void);

/* Why the service runs no job, a static string, where it is not SERVICE_UP. */
extern const char *service_reason(service_state state);

/* The time in milliseconds that a job of those at the service takes of a GPU, on average; 0: there are none. */
extern double service_mean_job_ms(void);

/* Buffers, from the first on, that GPUs may read where they are. */
extern uint64 service_num_shared_pages(void);

/* The executor of sessions where there is a service.  Calls may wait for the worker, never for long. */
extern const mgpu_executor service_executor;

/* Wake a process by the number of its PGPROC. */
extern void service_wake(uint32 proc_number);

#endif							/* MGPU_SERVICE_SERVICE_H */
