/*
 * kernel_host_test.cuh
 *		What the parts of kernel_host_test share.
 */
#ifndef MGPU_KERNEL_HOST_TEST_CUH
#define MGPU_KERNEL_HOST_TEST_CUH

#include <cstdio>

extern int	checks_passed;
extern int	checks_failed;

#define CHECK(condition, ...) \
	do { \
		if (condition) \
			checks_passed++; \
		else \
		{ \
			checks_failed++; \
			printf("FAILED %s:%d: ", __FILE__, __LINE__); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

/* kernel_host_k_way.cu */
void		test_k_way_sorts_on_host();

/* kernel_host_probe.cu */
void		test_probe_on_host();

#endif							/* MGPU_KERNEL_HOST_TEST_CUH */
