/*
 * pgerror.h
 *		Errors that users see.  Each is raised in one place.
 */
#ifndef MGPU_PGERROR_H
#define MGPU_PGERROR_H

#include "compat.h"
#include "core/status.h"

/* ereport(ERROR) for a core or executor call that failed for good. */
extern MGPU_NORETURN void mgpu_raise(const mgpu_error *error);

/* ereport(ERROR): mgpu.executor is "gpu", but no GPU can be used.  reason is a clause, shown as DETAIL. */
extern MGPU_NORETURN void mgpu_raise_no_gpu(const char *reason);

/* WARNING: the GPU failed, and the call continues on the CPU. */
extern void mgpu_warn_gpu_failure(const mgpu_error *error);

extern MGPU_NORETURN void mgpu_raise_not_one_dimensional(int ndim);

/* The argument is a column of type anyarray, but its type must be known before the first value. */
extern MGPU_NORETURN void mgpu_raise_anyarray(void);
extern MGPU_NORETURN void mgpu_raise_length_mismatch(const char *a_name, int64 a_items,
									   const char *b_name, int64 b_items);

/* input: 0 for the first sorted argument, 1 for the second, 2 for one of many. */
extern MGPU_NORETURN void mgpu_raise_not_sorted(int input, int64 subscript);

/* Positions first to last are allowed; last < first if none is. */
extern MGPU_NORETURN void mgpu_raise_position(int64 position, int64 first, int64 last);

extern MGPU_NORETURN void mgpu_raise_heads_order(int64 subscript, int64 previous);

/* what: "positions", "segment heads". */
extern MGPU_NORETURN void mgpu_raise_null_element(const char *what, int64 subscript);
extern MGPU_NORETURN void mgpu_raise_too_large(int64 num_items);

/* A row of two arrays would exceed the maximum size of a row. */
extern MGPU_NORETURN void mgpu_raise_row_too_large(Size row_bytes);

#endif							/* MGPU_PGERROR_H */
