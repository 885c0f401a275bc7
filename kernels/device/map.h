/*
 * device/map.h
 *		Element-wise kernels: codes, indices, gathers.
 *
 * Every call enqueues one kernel and returns its launch status; num_items of 0
 * enqueues nothing.  Inputs and outputs are on the device, aligned to their
 * element, and overlap only where it says so.
 */
#ifndef MGPU_DEVICE_MAP_H
#define MGPU_DEVICE_MAP_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How stored keys become codes: the fields of mgpu_job, width 1, 2, 4 or 8. */
typedef struct mgpu_codec
{
	uint32_t	kind;
	uint32_t	width;
	uint32_t	descending;
} mgpu_codec;

/* Are stored bytes their own codes, with nothing to encode or decode? */
bool		mgpu_codec_is_identity(const mgpu_codec *codec);

/*
 * Keys to codes (4 bytes each for widths up to 4, else 8) and back.  In and out
 * may be the same memory for widths 4 and 8.
 */
cudaError_t mgpu_launch_encode(const mgpu_codec *codec, const void *keys, void *codes,
							   uint64_t num_items, cudaStream_t stream);
cudaError_t mgpu_launch_decode(const mgpu_codec *codec, const void *codes, void *keys,
							   uint64_t num_items, cudaStream_t stream);

/* 16-byte keys, aligned to 16, to two 8-byte codes each, and back by index. */
cudaError_t mgpu_launch_split_bytes(const void *keys, uint64_t *high, uint64_t *low, uint32_t descending,
									uint64_t num_items, cudaStream_t stream);
cudaError_t mgpu_launch_join_bytes(const uint64_t *high, const uint64_t *low, const uint32_t *indices,
								   void *keys, uint32_t descending, uint64_t num_items, cudaStream_t stream);

/* indices[i] = i */
cudaError_t mgpu_launch_iota(uint32_t *indices, uint64_t num_items, cudaStream_t stream);

/* out[i] = in[indices[i]]; width 1, 2, 4, 8 or 16, both aligned to it. */
cudaError_t mgpu_launch_gather(const void *in, const uint32_t *indices, void *out, uint32_t width,
							   uint64_t num_items, cudaStream_t stream);

/*
 * The same if *enabled is UINT64_MAX when the gather runs.  Else nothing is read or written, and
 * indices may be anything.
 */
cudaError_t mgpu_launch_gather_if(const uint64_t *enabled, const void *in, const uint32_t *indices, void *out,
								  uint32_t width, uint64_t num_items, cudaStream_t stream);

/* Executes a trap, which loses the context.  For tests. */
cudaError_t mgpu_launch_trap(cudaStream_t stream);

/* Does this build have code for the current device? Creates its context. */
cudaError_t mgpu_check_image(void);

/* Was the code that the device runs compiled for 9.0 or later, so that its kernels wait (launch.cuh)? */
cudaError_t mgpu_code_awaits(bool *awaits);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_DEVICE_MAP_H */
