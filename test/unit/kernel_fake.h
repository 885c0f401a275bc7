/*
 * kernel_fake.h
 *		What the parts of the played device share (kernel_fake_device.cpp).
 */
#ifndef MGPU_KERNEL_FAKE_H
#define MGPU_KERNEL_FAKE_H

#include <cuda_runtime.h>

#include <functional>
#include <random>

extern std::mt19937_64 schedule;	/* when work is done, and whatever else is open */

/* Work that is done late, in the stream's order. */
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

#endif							/* MGPU_KERNEL_FAKE_H */
