/*
 * prefault.h
 *		Touches the pages of a large fresh buffer from a thread of its own, so
 *		that page faults on a result overlap with reading the input.
 */
#ifndef MGPU_PREFAULT_H
#define MGPU_PREFAULT_H

#include <stddef.h>

typedef struct mgpu_prefault mgpu_prefault;

/*
 * Start on [buffer, buffer + bytes), which must stay mapped until stop.  No byte
 * changes, so others may write to the buffer meanwhile.  NULL if the buffer has no
 * whole page or no thread could be created, which costs only time.
 */
mgpu_prefault *mgpu_prefault_start(void *buffer, size_t bytes);

/* Stop (within a few milliseconds), join and free; NULL is allowed. */
void		mgpu_prefault_stop(mgpu_prefault *prefault);

#endif							/* MGPU_PREFAULT_H */
