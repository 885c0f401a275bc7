/*
 * prefault.h
 *		Touches a large fresh buffer's pages from a thread of its own, so that
 *		page faults on a result overlap with reading the input.
 */
#ifndef MGPU_PREFAULT_H
#define MGPU_PREFAULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mgpu_prefault mgpu_prefault;

/*
 * Start on [buffer, buffer + bytes), which must stay mapped until stop.  Never
 * changes a byte of it, so others may write to it meanwhile.  NULL where that
 * is not to be had or no thread could be made: nothing is lost but time.
 */
mgpu_prefault *mgpu_prefault_start(void *buffer, size_t bytes);

/* Stop (within a few milliseconds), join and free; NULL is allowed. */
void		mgpu_prefault_stop(mgpu_prefault *prefault);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_PREFAULT_H */
