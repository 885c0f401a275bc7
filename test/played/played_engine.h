/*
 * played_engine.h
 *		An engine for tests, whose devices are played by the CPU executor.
 */
#ifndef MGPU_PLAYED_ENGINE_H
#define MGPU_PLAYED_ENGINE_H

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mgpu_played_settings
{
	int			num_devices;
	uint64_t	device_bytes;
	uint64_t	random_state;
	int			num_pins;		/* calls of pin that succeed until the next reset; -1: all */
} mgpu_played_settings;

/* Read by the engine; tests write to it before they start a host. */
extern mgpu_played_settings mgpu_played;

/* New devices in the place of all, as in a new process.  Frees what runs still hold. */
void		mgpu_played_reset(void);

uint64_t	mgpu_played_used_bytes(int device);

extern const mgpu_engine mgpu_played_engine;

#ifdef __cplusplus
}
#endif

#endif							/* MGPU_PLAYED_ENGINE_H */
