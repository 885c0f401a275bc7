/*
 * device/map.cu
 *		Element-wise kernels: codes, indices, gathers.
 *
 * One template: a CTA takes MGPU_MAP_THREADS * MGPU_MAP_ITEMS neighbouring items, a warp 32
 * neighbours at a time, and the work on one item is a functor.  A thread's independent, unrolled
 * loads keep memory busy.  Vector loads were rejected, since chunks of a stream start anywhere.
 */
#include "device/map.h"

#include "core/key_codec.h"
#include "device/arithmetic.cuh"
#include "device/tuning.cuh"

template <typename Function>
__global__ void
__launch_bounds__(MGPU_MAP_THREADS)
mgpu_map(Function function, uint64_t num_items)
{
	uint64_t	begin = (uint64_t) blockIdx.x * (MGPU_MAP_THREADS * MGPU_MAP_ITEMS) + threadIdx.x;

	if (begin + MGPU_MAP_THREADS * (MGPU_MAP_ITEMS - 1) < num_items)
	{
#pragma unroll
		for (int i = 0; i < MGPU_MAP_ITEMS; i++)
			function(begin + i * MGPU_MAP_THREADS);
	}
	else
	{
		for (uint64_t item = begin; item < num_items; item += MGPU_MAP_THREADS)
			function(item);
	}
}

template <typename Function>
static cudaError_t
launch_map(Function function, uint64_t num_items, cudaStream_t stream)
{
	if (num_items == 0)
		return cudaSuccess;
	mgpu_map<<<mgpu_divide_up(num_items, MGPU_MAP_THREADS * MGPU_MAP_ITEMS), MGPU_MAP_THREADS, 0, stream>>>
		(function, num_items);
	return cudaGetLastError();
}

/* ----------------------------------------------------------------- codes */

template <typename Stored, typename Code>
struct encode_function
{
	const Stored *keys;
	Code	   *codes;
	uint32_t	kind;
	Code		complement;		/* all ones for descending order */

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		if constexpr (sizeof(Stored) == 8)
			codes[item] = mgpu_encode_64(keys[item], kind) ^ complement;
		else
			codes[item] = mgpu_encode_32(keys[item], kind, sizeof(Stored)) ^ complement;
	}
};

template <typename Stored, typename Code>
struct decode_function
{
	const Code *codes;
	Stored	   *keys;
	uint32_t	kind;
	Code		complement;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		if constexpr (sizeof(Stored) == 8)
			keys[item] = mgpu_decode_64(codes[item] ^ complement, kind);
		else
			keys[item] = (Stored) mgpu_decode_32(codes[item] ^ complement, kind, sizeof(Stored));
	}
};

/* The bits that a descending order complements: those of the stored width. */
template <typename Stored, typename Code>
static Code
complement_of(const mgpu_codec *codec)
{
	return codec->descending ? (Code) (Stored) ~(Stored) 0 : 0;
}

template <typename Stored, typename Code>
static cudaError_t
launch_encode(const mgpu_codec *codec, const void *keys, void *codes, uint64_t num_items, cudaStream_t stream)
{
	encode_function<Stored, Code> function = {static_cast<const Stored *>(keys), static_cast<Code *>(codes),
		codec->kind, complement_of<Stored, Code>(codec)};

	return launch_map(function, num_items, stream);
}

template <typename Stored, typename Code>
static cudaError_t
launch_decode(const mgpu_codec *codec, const void *codes, void *keys, uint64_t num_items, cudaStream_t stream)
{
	decode_function<Stored, Code> function = {static_cast<const Code *>(codes), static_cast<Stored *>(keys),
		codec->kind, complement_of<Stored, Code>(codec)};

	return launch_map(function, num_items, stream);
}

extern "C" bool
mgpu_codec_is_identity(const mgpu_codec *codec)
{
	return codec->kind == MGPU_KEY_UNSIGNED && codec->width >= 4 && !codec->descending;
}

extern "C" cudaError_t
mgpu_launch_encode(const mgpu_codec *codec, const void *keys, void *codes, uint64_t num_items, cudaStream_t stream)
{
	switch (codec->width)
	{
		case 1:
			return launch_encode<uint8_t, uint32_t>(codec, keys, codes, num_items, stream);
		case 2:
			return launch_encode<uint16_t, uint32_t>(codec, keys, codes, num_items, stream);
		case 4:
			return launch_encode<uint32_t, uint32_t>(codec, keys, codes, num_items, stream);
		default:
			return launch_encode<uint64_t, uint64_t>(codec, keys, codes, num_items, stream);
	}
}

extern "C" cudaError_t
mgpu_launch_decode(const mgpu_codec *codec, const void *codes, void *keys, uint64_t num_items, cudaStream_t stream)
{
	switch (codec->width)
	{
		case 1:
			return launch_decode<uint8_t, uint32_t>(codec, codes, keys, num_items, stream);
		case 2:
			return launch_decode<uint16_t, uint32_t>(codec, codes, keys, num_items, stream);
		case 4:
			return launch_decode<uint32_t, uint32_t>(codec, codes, keys, num_items, stream);
		default:
			return launch_decode<uint64_t, uint64_t>(codec, codes, keys, num_items, stream);
	}
}

/* ---------------------------------------------------------- 16-byte keys */

struct split_function
{
	const ulonglong2 *keys;
	uint64_t   *high;
	uint64_t   *low;
	uint64_t	complement;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		ulonglong2	key = keys[item];

		high[item] = mgpu_swap_64(key.x) ^ complement;
		low[item] = mgpu_swap_64(key.y) ^ complement;
	}
};

struct join_function
{
	const uint64_t *high;
	const uint64_t *low;
	const uint32_t *indices;
	ulonglong2 *keys;
	uint64_t	complement;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		uint32_t	index = indices[item];
		ulonglong2	key;

		key.x = mgpu_swap_64(high[index] ^ complement);
		key.y = mgpu_swap_64(low[index] ^ complement);
		keys[item] = key;
	}
};

extern "C" cudaError_t
mgpu_launch_split_bytes(const void *keys, uint64_t *high, uint64_t *low, uint32_t descending,
						uint64_t num_items, cudaStream_t stream)
{
	split_function function = {static_cast<const ulonglong2 *>(keys), high, low, descending ? ~UINT64_C(0) : 0};

	return launch_map(function, num_items, stream);
}

extern "C" cudaError_t
mgpu_launch_join_bytes(const uint64_t *high, const uint64_t *low, const uint32_t *indices,
					   void *keys, uint32_t descending, uint64_t num_items, cudaStream_t stream)
{
	join_function function = {high, low, indices, static_cast<ulonglong2 *>(keys), descending ? ~UINT64_C(0) : 0};

	return launch_map(function, num_items, stream);
}

/* ---------------------------------------------------- indices and gathers */

struct iota_function
{
	uint32_t   *indices;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		indices[item] = (uint32_t) item;
	}
};

/* enabled: see mgpu_launch_gather_if, or NULL. */
template <typename Item, bool conditional>
struct gather_function
{
	const Item *in;
	const uint32_t *indices;
	Item	   *out;
	const uint64_t *enabled;

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		if (!conditional || *enabled == UINT64_MAX)
			out[item] = in[indices[item]];
	}
};

template <typename Item>
static cudaError_t
launch_gather(const uint64_t *enabled, const void *in, const uint32_t *indices, void *out, uint64_t num_items,
			  cudaStream_t stream)
{
	if (enabled != nullptr)
	{
		gather_function<Item, true> function = {static_cast<const Item *>(in), indices, static_cast<Item *>(out),
			enabled};

		return launch_map(function, num_items, stream);
	}
	gather_function<Item, false> function = {static_cast<const Item *>(in), indices, static_cast<Item *>(out), nullptr};

	return launch_map(function, num_items, stream);
}

extern "C" cudaError_t
mgpu_launch_iota(uint32_t *indices, uint64_t num_items, cudaStream_t stream)
{
	iota_function function = {indices};

	return launch_map(function, num_items, stream);
}

extern "C" cudaError_t
mgpu_launch_gather(const void *in, const uint32_t *indices, void *out, uint32_t width,
				   uint64_t num_items, cudaStream_t stream)
{
	return mgpu_launch_gather_if(nullptr, in, indices, out, width, num_items, stream);
}

extern "C" cudaError_t
mgpu_launch_gather_if(const uint64_t *enabled, const void *in, const uint32_t *indices, void *out,
					  uint32_t width, uint64_t num_items, cudaStream_t stream)
{
	switch (width)
	{
		case 1:
			return launch_gather<uint8_t>(enabled, in, indices, out, num_items, stream);
		case 2:
			return launch_gather<uint16_t>(enabled, in, indices, out, num_items, stream);
		case 4:
			return launch_gather<uint32_t>(enabled, in, indices, out, num_items, stream);
		case 8:
			return launch_gather<uint64_t>(enabled, in, indices, out, num_items, stream);
		default:
			return launch_gather<ulonglong2>(enabled, in, indices, out, num_items, stream);
	}
}

/* ------------------------------------------------------------------ others */

static __global__ void
trap_kernel()
{
	__trap();
}

extern "C" cudaError_t
mgpu_launch_trap(cudaStream_t stream)
{
	trap_kernel<<<1, 1, 0, stream>>>();
	return cudaGetLastError();
}

extern "C" cudaError_t
mgpu_check_image(void)
{
	cudaFuncAttributes attributes;

	return cudaFuncGetAttributes(&attributes, trap_kernel);
}

extern "C" cudaError_t
mgpu_code_awaits(bool *awaits)
{
	static thread_local int known_device = -1;
	static thread_local bool known = false;
	cudaFuncAttributes attributes;
	int			device;
	cudaError_t status = cudaGetDevice(&device);

	*awaits = false;
	if (status == cudaSuccess && device != known_device)
	{
		status = cudaFuncGetAttributes(&attributes, trap_kernel);
		if (status == cudaSuccess)
		{
			known = attributes.ptxVersion >= 90;
			known_device = device;
		}
	}
	if (status == cudaSuccess)
		*awaits = known;
	return status;
}
