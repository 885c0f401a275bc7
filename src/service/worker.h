/*
 * service/worker.h
 *		The background worker that drives the GPUs.
 */
#ifndef MGPU_SERVICE_WORKER_H
#define MGPU_SERVICE_WORKER_H

/* Named to the postmaster by service.c. */
extern PGDLLEXPORT void mgpu_service_main(Datum argument);

#endif							/* MGPU_SERVICE_WORKER_H */
