/*
 * pgerror.h
 *		Errors that users see, each raised at one place.
 */
#ifndef MGPU_PGERROR_H
#define MGPU_PGERROR_H

#include "compat.h"
#include "core/status.h"

/* A core or executor call failed for good: ereport(ERROR), never returns. */
extern MGPU_NORETURN void mgpu_raise(const mgpu_error *error);

/* mgpu.executor is "gpu" and there is none: ereport(ERROR), never returns. */
extern MGPU_NORETURN void mgpu_raise_no_gpu(const char *reason);

/* The GPU failed and the call goes on with the CPU. */
extern void mgpu_warn_gpu_failure(const mgpu_error *error);

extern MGPU_NORETURN void mgpu_raise_not_one_dimensional(int ndim);
extern MGPU_NORETURN void mgpu_raise_length_mismatch(const char *a_name, int64 a_items,
									   const char *b_name, int64 b_items);
extern MGPU_NORETURN void mgpu_raise_too_large(int64 num_items);

#endif							/* MGPU_PGERROR_H */
