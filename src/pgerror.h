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

/* An argument whose type must be known before the first value is a column of type anyarray. */
extern MGPU_NORETURN void mgpu_raise_anyarray(void);
extern MGPU_NORETURN void mgpu_raise_length_mismatch(const char *a_name, int64 a_items,
									   const char *b_name, int64 b_items);

/* input: 0 for the first sorted argument, 1 for the second. */
extern MGPU_NORETURN void mgpu_raise_not_sorted(int input, int64 subscript);

/* Range: first to last inclusive; last < first where none is allowed. */
extern MGPU_NORETURN void mgpu_raise_position(int64 position, int64 first, int64 last);

extern MGPU_NORETURN void mgpu_raise_heads_order(int64 subscript, int64 previous);

/* what: "positions", "segment heads". */
extern MGPU_NORETURN void mgpu_raise_null_element(const char *what, int64 subscript);
extern MGPU_NORETURN void mgpu_raise_too_large(int64 num_items);

/* A row of two arrays would be larger than a row may be. */
extern MGPU_NORETURN void mgpu_raise_row_too_large(Size row_bytes);

#endif							/* MGPU_PGERROR_H */
