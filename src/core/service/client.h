/*
 * service/client.h
 *		A client of a service: runs jobs through a slot (slot.h).
 *
 * These are the functions of an executor (executor.h) but for how a client waits,
 * which depends on where it is: beside the host in one process (local.c), or in a
 * PostgreSQL backend (src/service).
 */
#ifndef MGPU_SERVICE_CLIENT_H
#define MGPU_SERVICE_CLIENT_H

#include "core/service/slot.h"

/* How a client reaches the host.  It must live as long as its runs. */
typedef struct mgpu_port
{
	mgpu_service service;
	uint32_t	slot;			/* the client's alone */

	/* The host is in this process: do some of its work.  NULL: it runs by itself. */
	void		(*step) (struct mgpu_port *port);

	/* Wake the host, which sleeps. */
	void		(*wake_host) (struct mgpu_port *port);

	/* Sleep until the host wakes this client, or 50 ms have passed, or something interrupts. */
	void		(*sleep) (struct mgpu_port *port);
} mgpu_port;

/*
 * As open of an executor.  While others have all extents, it succeeds after a short wait, and
 * input_slot, submit and poll go on waiting: input_slot returns MGPU_PENDING then.
 */
mgpu_status mgpu_client_open(mgpu_port *port, const mgpu_job *job, const mgpu_binding *binding,
							 const mgpu_exec_options *options, mgpu_run **run, mgpu_error *err);

/* The others of an executor's functions. */
mgpu_status mgpu_client_input_slot(mgpu_run *run, mgpu_channel channel, void **slot, uint64_t *slot_bytes,
								   mgpu_error *err);
mgpu_status mgpu_client_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err);
mgpu_status mgpu_client_submit(mgpu_run *run, mgpu_error *err);
mgpu_status mgpu_client_poll(mgpu_run *run, mgpu_error *err);
void		mgpu_client_stats(const mgpu_run *run, mgpu_run_stats *stats);
void		mgpu_client_cancel(mgpu_run *run);

/* Does not wait for the host: what devices still write, they write to extents. */
void		mgpu_client_release(mgpu_run *run);

mgpu_status mgpu_client_ask(mgpu_run *run, mgpu_error *err);
bool		mgpu_client_group_result(const mgpu_run *run, mgpu_group_result *result);
void		mgpu_client_bind_groups(mgpu_run *run, char *const *outputs);
bool		mgpu_client_group_piece(const mgpu_run *run, mgpu_group_piece *piece);
void		mgpu_client_piece_taken(mgpu_run *run);

mgpu_port  *mgpu_client_port(const mgpu_run *run);

/* Give a slot up whose run is not known any more; for clients on their way out. */
void		mgpu_client_leave(mgpu_port *port);

#endif							/* MGPU_SERVICE_CLIENT_H */
