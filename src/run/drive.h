/*
 * drive.h
 *		One job on one executor: open, feed, submit, wait, clean up.
 */
#ifndef MGPU_RUN_DRIVE_H
#define MGPU_RUN_DRIVE_H

#include "run/run.h"

/*
 * The request's outputs are complete and the run is on record if it returns MGPU_OK.
 * Errors of the executor come back in *error; whatever happens, nothing is left running.
 */
extern mgpu_status run_drive(const mgpu_executor *executor, run_request *request, mgpu_error *error);

#endif							/* MGPU_RUN_DRIVE_H */
