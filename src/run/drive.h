/*
 * drive.h
 *		Runs one job on one executor: open, feed, submit, wait, clean up.
 */
#ifndef MGPU_RUN_DRIVE_H
#define MGPU_RUN_DRIVE_H

#include "run/run_job.h"

/*
 * If it returns MGPU_OK, the request's outputs, its record and *stats are complete.  Errors of the
 * executor come back in *error, and of MGPU_NOT_SORTED there are *stats too.  Nothing is left
 * running, whether it returns or throws.
 */
extern mgpu_status run_drive(const mgpu_executor *executor, run_request *request, mgpu_run_stats *stats, mgpu_error *error);

#endif							/* MGPU_RUN_DRIVE_H */
