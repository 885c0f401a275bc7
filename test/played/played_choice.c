/*
 * played_choice.c
 *		The engine of a build with TEST_SIZES=yes: in place of src/core/engine_choice.c.
 *
 * Devices are played where the environment says how many, so that all of the extension can be tested without a GPU.
 */
#include "played/played_engine.h"

#include <stdlib.h>

static bool
is_played(void)
{
	const char *number = getenv("MGPU_PLAYED_DEVICES");

	if (number != NULL)
		mgpu_played.num_devices = atoi(number);
	return number != NULL;
}

const mgpu_engine *
mgpu_engine_here(void)
{
	return is_played() ? &mgpu_played_engine : &mgpu_cuda_engine;
}

bool
mgpu_engine_is_built(void)
{
	return is_played() || MGPU_WITH_CUDA;
}
