/*
 * device/launch.cuh
 *		Launches that overlap, and what they ask of the device.
 *
 * From compute capability 9.0 on, a kernel can start while the one before it in the stream ends,
 * do what needs none of its results, and wait for the rest (mgpu_await_previous).  That saves 2 to
 * 4 us a launch.  A kernel lets its successor start once all its own CTAs run, so the successor
 * never takes a place from them.
 *
 * Source: CUDA's programmatic dependent launch.
 */
#ifndef MGPU_DEVICE_LAUNCH_CUH
#define MGPU_DEVICE_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <type_traits>

#include "device/arithmetic.cuh"
#include "device/map.h"
#include "device/tuning.cuh"

/* The successor may start once all CTAs have called this. */
static __device__ __forceinline__ void
mgpu_let_next_start()
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/*
 * Every kernel that is launched in this way, or that is followed by one, calls this: its successor
 * may start, and it waits until all kernels before it have ended.  After a plain launch there is
 * nothing to wait for.
 */
static __device__ __forceinline__ void
mgpu_await_previous()
{
#if __CUDA_ARCH__ >= 900
	mgpu_let_next_start();
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* An attribute of the current device; 0 if it cannot be had. */
static inline cudaError_t
mgpu_ask_device(cudaDeviceAttr attribute, int *value)
{
	int			device;
	cudaError_t status = cudaGetDevice(&device);

	*value = 0;
	return status == cudaSuccess ? cudaDeviceGetAttribute(value, attribute, device) : status;
}

/*
 * Can the current device overlap launches, and does the code that it runs wait? Code that the
 * driver compiled from PTX for less than 9.0 does not.
 */
static inline cudaError_t
mgpu_can_overlap(bool *overlaps)
{
	int			major;
	cudaError_t status = mgpu_ask_device(cudaDevAttrComputeCapabilityMajor, &major);

	*overlaps = false;
	if (status == cudaSuccess && major >= 9)
		status = mgpu_code_awaits(overlaps);
	return status;
}

/* A launch that starts while the one before it ends. */
template <typename... Parameters>
static cudaError_t
mgpu_launch_overlapping(void (*kernel) (Parameters...), unsigned int ctas, int threads, uint32_t shared_bytes,
						cudaStream_t stream, std::common_type_t<Parameters>... arguments)
{
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute overlap = {};

	overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	overlap.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(ctas);
	config.blockDim = dim3((unsigned int) threads);
	config.dynamicSmemBytes = shared_bytes;
	config.stream = stream;
	config.attrs = &overlap;
	config.numAttrs = 1;
	return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* A plain launch takes the host half a microsecond less than one by a configuration. */
template <typename... Parameters>
static cudaError_t
mgpu_launch_behind(void (*kernel) (Parameters...), unsigned int ctas, int threads, uint32_t shared_bytes,
				   cudaStream_t stream, std::common_type_t<Parameters>... arguments)
{
	void	   *addresses[] = {&arguments...};

	return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(ctas), dim3((unsigned int) threads), addresses,
							shared_bytes, stream);
}

/*
 * Launch a kernel. overlaps: only on a device that can, and only if the kernel calls
 * mgpu_await_previous before it first reads what others write.
 */
template <typename... Parameters, typename... Arguments>
static cudaError_t
mgpu_launch_kernel(bool overlaps, void (*kernel) (Parameters...), unsigned int ctas, int threads, uint32_t shared_bytes,
				   cudaStream_t stream, Arguments... arguments)
{
	cudaError_t status = overlaps ?
		mgpu_launch_overlapping<Parameters...>(kernel, ctas, threads, shared_bytes, stream, arguments...) :
		mgpu_launch_behind<Parameters...>(kernel, ctas, threads, shared_bytes, stream, arguments...);

	if (status != cudaSuccess)
		(void) cudaGetLastError();	/* reported here, so not again elsewhere */
	return status;
}

/* A kernel that was granted its shared memory on one device. */
struct mgpu_allowed_kernel
{
	const void *kernel;
	int			device;
	uint32_t	shared_bytes;
};

/* Slots of that table.  Two kernels that share a slot ask again in turn. */
#define MGPU_ALLOWED_KERNELS 32

/*
 * Ask for more than 48 kB of shared memory a CTA.  Unless carveout says otherwise, an SM also gives
 * its first-level cache to shared memory, which holds all data that are used twice.  Asking takes a
 * microsecond, so each thread remembers its answers.
 */
template <typename Kernel>
static cudaError_t
mgpu_allow_shared(Kernel kernel, uint32_t shared_bytes, int carveout = cudaSharedmemCarveoutMaxShared)
{
	static thread_local mgpu_allowed_kernel allowed[MGPU_ALLOWED_KERNELS];
	const void *address = reinterpret_cast<const void *>(kernel);
	mgpu_allowed_kernel &known = allowed[reinterpret_cast<uintptr_t>(address) / 16 % MGPU_ALLOWED_KERNELS];
	int			device;
	cudaError_t status = cudaGetDevice(&device);

	if (status != cudaSuccess ||
		(known.kernel == address && known.device == device && known.shared_bytes == shared_bytes))
		return status;
	status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared_bytes);
	if (status == cudaSuccess)
		status = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout);
	if (status == cudaSuccess)
		known = {address, device, shared_bytes};
	return status;
}

/* Does the current device have much shared memory an SM? */
static inline cudaError_t
mgpu_is_large_device(bool *large)
{
	int			shared_bytes;
	cudaError_t status = mgpu_ask_device(cudaDevAttrMaxSharedMemoryPerMultiprocessor, &shared_bytes);

	*large = shared_bytes >= MGPU_LARGE_SHARED_BYTES;
	return status;
}

/* Launch a kernel that begins with mgpu_await_previous; early: while the one before it ends. */
template <typename... Parameters, typename... Arguments>
static cudaError_t
mgpu_launch_early(bool early, void (*kernel) (Parameters...), unsigned int ctas, int threads, uint32_t shared_bytes,
				  cudaStream_t stream, Arguments... arguments)
{
	bool		overlaps = false;
	cudaError_t status = early ? mgpu_can_overlap(&overlaps) : cudaSuccess;

	if (status == cudaSuccess && shared_bytes > 0)
		status = mgpu_allow_shared(kernel, shared_bytes);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch_kernel(overlaps, kernel, ctas, threads, shared_bytes, stream, arguments...);
}

template <typename... Parameters, typename... Arguments>
static cudaError_t
mgpu_launch(void (*kernel) (Parameters...), unsigned int ctas, int threads, uint32_t shared_bytes, cudaStream_t stream,
			Arguments... arguments)
{
	return mgpu_launch_early(true, kernel, ctas, threads, shared_bytes, stream, arguments...);
}

/* As many CTAs as the device can hold at a time, and at most `most`. */
template <typename Kernel>
static cudaError_t
mgpu_count_resident_ctas(Kernel kernel, uint32_t threads, uint32_t shared_bytes, uint32_t most, uint32_t *count)
{
	int			num_sms;
	int			ctas_per_sm = 0;
	cudaError_t status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);

	if (status == cudaSuccess)
		status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_per_sm, kernel, (int) threads, shared_bytes);
	*count = (uint32_t) (num_sms * ctas_per_sm);
	if (*count > most)
		*count = most;
	return status;
}

#endif							/* MGPU_DEVICE_LAUNCH_CUH */
