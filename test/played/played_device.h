/*
 * played_device.h
 *		The devices of played_engine.h: what they have pinned, their memory, and copies.
 *
 * Functions without a comment are the engine's (core/engine.h).
 */
#ifndef MGPU_PLAYED_DEVICE_H
#define MGPU_PLAYED_DEVICE_H

#include "played/played_engine.h"
#include "played/played_group.h"

typedef struct played_copy
{
	played_group *group;		/* reads a batch of pages, in place of a copy */
	char	   *target;
	const char *source;
	uint64_t	bytes;
} played_copy;

bool		mgpu_played_is_present(void);
mgpu_status mgpu_played_num_devices(int *count, mgpu_error *err);
mgpu_status mgpu_played_start(int *device, mgpu_error *err);
bool		mgpu_played_is_started(void);
mgpu_status mgpu_played_check(mgpu_error *err);
mgpu_status mgpu_played_describe(int device, mgpu_device *facts, mgpu_error *err);
mgpu_status mgpu_played_pin(void *memory, uint64_t bytes, mgpu_error *err);
mgpu_status mgpu_played_keep(int device, uint64_t bytes, char **memory, mgpu_error *err);
mgpu_status mgpu_played_landed(int number, mgpu_direction direction, uint64_t *landed, mgpu_error *err);

/* A sticky error: no device works until the next reset. */
void		mgpu_played_lose(void);

/* New devices, with nothing pinned. */
void		mgpu_played_renew(void);

/* Take device memory, of which the caller may have so much more; and give it back. */
mgpu_status mgpu_played_take_memory(int device, uint64_t bytes, uint64_t most_bytes, mgpu_error *err);
void		mgpu_played_give_memory(int device, uint64_t bytes);

/* Ask for a copy, from or to memory that has to be pinned. */
mgpu_status mgpu_played_ask(int number, mgpu_direction direction, const played_copy *copy, mgpu_error *err);

/* Make all copies that were asked for. */
void		mgpu_played_land_all(int number, mgpu_direction direction);

bool		mgpu_played_is_pinned(const char *memory, uint64_t bytes);

/* 0 to limit - 1. */
uint32_t	mgpu_played_random_below(uint32_t limit);

#endif							/* MGPU_PLAYED_DEVICE_H */
