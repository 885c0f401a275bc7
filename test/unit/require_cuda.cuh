/*
 * require_cuda.cuh
 *		The end of a test program when CUDA fails where it must not.
 *
 * Who includes this declares tests_passed and tests_failed.
 */
#ifndef MGPU_REQUIRE_CUDA_CUH
#define MGPU_REQUIRE_CUDA_CUH

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

/* Where going on makes no sense. */
#define REQUIRE_CUDA(call) \
	do { \
		cudaError_t require_code = (call); \
		if (require_code != cudaSuccess) \
		{ \
			printf("FAILED %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(require_code)); \
			printf("%d passed, %d failed\n", tests_passed, tests_failed + 1); \
			exit(1); \
		} \
	} while (0)

#endif							/* MGPU_REQUIRE_CUDA_CUH */
