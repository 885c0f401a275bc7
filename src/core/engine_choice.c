/*
 * engine_choice.c
 *		The engine that this process uses.  Tests have another one in place of this file (test/played).
 */
#include "engine.h"

const mgpu_engine *
mgpu_engine_here(void)
{
	return &mgpu_cuda_engine;
}

bool
mgpu_engine_is_built(void)
{
	return MGPU_WITH_CUDA;
}
