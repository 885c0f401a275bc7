/*
 * status.h
 *		What every core and executor call returns, and its error message.
 *
 * A call returns an mgpu_status.  If that is neither MGPU_OK nor MGPU_PENDING, the
 * call has filled the caller's mgpu_error.  Nothing here allocates, throws or jumps;
 * the PostgreSQL side turns a status into ereport in one place (src/pgerror.c).  A
 * global error like errno was rejected: two executors may fail in turn within one
 * SQL call, and the user sees both reasons.
 */
#ifndef MGPU_STATUS_H
#define MGPU_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mgpu_status
{
	MGPU_OK = 0,
	MGPU_PENDING,				/* not finished: call poll again */
	MGPU_CANCELLED,				/* cancel was called before the end */
	MGPU_BAD_JOB,				/* job or binding breaks its contract */
	MGPU_UNSUPPORTED,			/* this executor cannot run this job */
	MGPU_BUSY,					/* not now: it still runs or ends earlier jobs */
	MGPU_NOT_SORTED,			/* a merge's input is not sorted: stats say where */
	MGPU_HOST_MEMORY,			/* out of host (or pinned) memory */
	MGPU_NO_DEVICE,				/* built without CUDA, no driver or no device */
	MGPU_DEVICE_MEMORY,			/* device memory or its limit is exhausted */
	MGPU_DEVICE_FAILED			/* device error; the context may be poisoned */
} mgpu_status;

#define MGPU_ERROR_MESSAGE_BYTES 256

/* message: one lower-case clause without a full stop, always NUL-terminated. */
typedef struct mgpu_error
{
	mgpu_status status;
	char		message[MGPU_ERROR_MESSAGE_BYTES];
} mgpu_error;

/*
 * Fill *err (which may be NULL) printf-style and return status, so that a
 * failing call can end in "return mgpu_fail(err, MGPU_..., ...)".
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
mgpu_status mgpu_fail(mgpu_error *err, mgpu_status status, const char *format,...);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_STATUS_H */
