/*
 * kernel_fake_device.cpp
 *		The CUDA engine's tests without a GPU: its host code is real, and the
 *		runtime and the kernels that it calls are played here on host memory.
 *
 * Streams are queues of work that is done late and a random number of steps at
 * a time, so that a copy from a slot that was reused too early, an output read
 * before its kernel ran, or memory freed under work in flight shows as a wrong
 * result or to the address sanitizer.  Sorts spoil all memory that a sorter may
 * overwrite.  A trap loses the context for good.
 *
 * main is here in place of kernel_test.cu's; the tests are those that run on a
 * device (kernel_test_executor.cu, kernel_test_ops.cu, kernel_test_op_runs.cu,
 * kernel_test_engine.cu, kernel_test_group.cu).
 */
#include "kernel_fake.h"
#include "kernel_test.cuh"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <pthread.h>
#include <set>

#include "core/key_codec.h"
#include "device/map.h"
#include "sort/sorter.h"

int			tests_passed = 0;
int			tests_failed = 0;
bool		quick = false;
bool		tiny = false;
bool		clean = false;
bool		own_only = false;
std::mt19937_64 random_bits(20250117);

std::mt19937_64 schedule(7);

/* --------------------------------------------------------- streams, events */

struct CUstream_st
{
	std::deque<std::function<void()>> work;
};

struct event_state
{
	uint64_t	recorded = 0;
	uint64_t	reached = 0;
	CUstream_st *stream = nullptr;	/* of the last record */
};

/* Work in streams outlives its event. */
struct CUevent_st
{
	std::shared_ptr<event_state> state = std::make_shared<event_state>();
};

static std::vector<CUstream_st *> streams;
static bool lost = false;
static cudaError_t last_error = cudaSuccess;
static int	calls_after_loss = 0;
/* never destroyed: what a lost context leaves behind is no leak of ours */
static std::map<void *, size_t> &device_memory = *new std::map<void *, size_t>;
static std::set<CUevent_st *> &events = *new std::set<CUevent_st *>;
static const size_t total_memory = (size_t) 8 << 30;
static size_t used_memory = 0;

/* What every call but cudaGetLastError goes through. */
static cudaError_t
answer(cudaError_t code)
{
	static const pthread_t caller = pthread_self();

	if (!pthread_equal(caller, pthread_self()))
		abort();				/* the engine is called by one thread */
	if (lost)
	{
		calls_after_loss++;
		code = cudaErrorLaunchFailure;
	}
	if (code != cudaSuccess)
		last_error = code;
	return code;
}

static void
step(CUstream_st *stream)
{
	std::function<void()> work = stream->work.front();

	stream->work.pop_front();
	if (!lost)
		work();
}

static void
drain(CUstream_st *stream)
{
	while (!stream->work.empty())
		step(stream);
}

static void
drain_all(void)
{
	for (CUstream_st *stream : streams)
		drain(stream);
}

/* Let some time pass on the device. */
static void
pass_time(void)
{
	for (CUstream_st *stream : streams)
	{
		for (uint64_t steps = schedule() % 3; steps > 0 && !stream->work.empty(); steps--)
			step(stream);
	}
}

static void
reach(const event_state &event, uint64_t number)
{
	while (event.reached < number && !lost)
		step(event.stream);
}

static bool
is_reached(CUevent_st *event)
{
	return event->state->reached == event->state->recorded;
}

extern "C" cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int)
{
	*stream = new CUstream_st;
	streams.push_back(*stream);
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
	drain(stream);
	streams.erase(std::find(streams.begin(), streams.end(), stream));
	delete stream;
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaStreamQuery(cudaStream_t stream)
{
	if (stream == cudaStreamLegacy)
		return answer(cudaSuccess);
	pass_time();
	return answer(stream->work.empty() ? cudaSuccess : cudaErrorNotReady);
}

extern "C" cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
	drain(stream);
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaDeviceSynchronize(void)
{
	drain_all();
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int)
{
	*event = new CUevent_st;
	events.insert(*event);
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaEventCreate(cudaEvent_t *event)
{
	return cudaEventCreateWithFlags(event, 0);
}

extern "C" cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
	events.erase(event);
	delete event;
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	std::shared_ptr<event_state> state = event->state;
	uint64_t	number = ++state->recorded;

	state->stream = stream;
	stream->work.push_back([state, number] () { state->reached = number; });
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
	std::shared_ptr<event_state> state = event->state;
	uint64_t	number = state->recorded;

	stream->work.push_back([state, number] () { reach(*state, number); });
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaEventQuery(cudaEvent_t event)
{
	pass_time();
	return answer(is_reached(event) ? cudaSuccess : cudaErrorNotReady);
}

extern "C" cudaError_t
cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
	*milliseconds = 0.25f;
	if (begin->state->recorded == 0 || end->state->recorded == 0)
		return answer(cudaErrorInvalidResourceHandle);
	return answer(is_reached(begin) && is_reached(end) ? cudaSuccess : cudaErrorNotReady);
}

/* ------------------------------------------------------------------ memory */

extern "C" cudaError_t
cudaMallocAsync(void **memory, size_t bytes, cudaStream_t)
{
	*memory = nullptr;
	if (bytes > total_memory - used_memory)
		return answer(cudaErrorMemoryAllocation);
	*memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
	memset(*memory, 0xDB, bytes);
	device_memory[*memory] = bytes;
	used_memory += bytes;
	return answer(cudaSuccess);
}

/* Stays until the process ends. */
extern "C" cudaError_t
cudaMalloc(void **memory, size_t bytes)
{
	*memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
	return answer(*memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

extern "C" cudaError_t
cudaFreeAsync(void *memory, cudaStream_t stream)
{
	stream->work.push_back([memory] ()
	{
		used_memory -= device_memory.at(memory);
		device_memory.erase(memory);
		free(memory);
	});
	return answer(cudaSuccess);
}

/* One pool, which keeps nothing. */
extern "C" cudaError_t
cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
	*pool = reinterpret_cast<cudaMemPool_t>(&used_memory);
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void *value)
{
	*static_cast<uint64_t *>(value) = used_memory;
	return answer(attribute == cudaMemPoolAttrUsedMemCurrent ? cudaSuccess : cudaErrorInvalidValue);
}

extern "C" cudaError_t
cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	*total_bytes = total_memory;
	*free_bytes = total_memory - used_memory;
	return answer(cudaSuccess);
}

static std::vector<std::pair<const char *, size_t>> pinned_ranges;

/* Is all of it pinned, or, with any, some of it? */
static bool
is_pinned(const void *memory, size_t bytes, bool any = false)
{
	const char *begin = static_cast<const char *>(memory);

	for (const auto &range : pinned_ranges)
	{
		if (any ? begin < range.first + range.second && begin + bytes > range.first :
			begin >= range.first && begin + bytes <= range.first + range.second)
			return true;
	}
	return false;
}

extern "C" cudaError_t
cudaHostRegister(void *memory, size_t bytes, unsigned int)
{
	if (is_pinned(memory, bytes, true))
		return answer(cudaErrorHostMemoryAlreadyRegistered);
	if (reinterpret_cast<uintptr_t>(memory) % 4096 != 0)
		return answer(cudaErrorInvalidValue);
	pinned_ranges.push_back({static_cast<const char *>(memory), bytes});
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaHostAlloc(void **memory, size_t bytes, unsigned int)
{
	*memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	pinned_ranges.push_back({static_cast<const char *>(*memory), bytes});
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
	stream->work.push_back([memory, value, bytes] () { memset(memory, value, bytes); });
	return answer(cudaSuccess);
}

/* Copies of unknown direction are uploads and downloads.  Pageable targets are there on return. */
extern "C" cudaError_t
cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
	if (kind == cudaMemcpyDefault && !is_pinned(source, bytes) && !is_pinned(target, bytes))
		return answer(cudaErrorInvalidValue);
	stream->work.push_back([target, source, bytes] () { memcpy(target, source, bytes); });
	if (kind == cudaMemcpyDeviceToHost && !is_pinned(target, bytes))
		drain(stream);
	return answer(cudaSuccess);
}

/* ----------------------------------------------------------------- devices */

extern "C" cudaError_t
cudaGetDeviceCount(int *count)
{
	*count = 2;
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaSetDevice(int)
{
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
	*value = attribute == cudaDevAttrComputeCapabilityMajor ? 20 : 1;
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaDeviceGetPCIBusId(char *bus_id, int bytes, int device)
{
	snprintf(bus_id, (size_t) bytes, "FFFF:%02X:00.0", device);
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
	memset(properties, 0, sizeof(*properties));
	strcpy(properties->name, "fake device");
	properties->major = 20;
	return answer(cudaSuccess);
}

extern "C" cudaError_t
cudaGetLastError(void)
{
	cudaError_t code = last_error;

	last_error = cudaSuccess;
	return code;
}

extern "C" const char *
cudaGetErrorString(cudaError_t code)
{
	return code == cudaErrorLaunchFailure ? "unspecified launch failure" : "fake error";
}

/* What nvcc's start-up code asks for. */
extern "C" void **
__cudaRegisterFatBinary(void *)
{
	static void *handle;

	return &handle;
}

extern "C" void
__cudaRegisterFatBinaryEnd(void **)
{
}

extern "C" void
__cudaUnregisterFatBinary(void **)
{
}

/* ----------------------------------------------------------------- kernels */

cudaError_t
enqueue(cudaStream_t stream, std::function<void()> work)
{
	stream->work.push_back(work);
	return answer(cudaSuccess);
}

template <typename Stored>
static void
code_items(const mgpu_codec &codec, const Stored *in, Stored *out, uint64_t num_items, bool encode)
{
	for (uint64_t i = 0; i < num_items; i++)
	{
		Stored		flip = codec.descending ? (Stored) ~(Stored) 0 : 0;

		if (sizeof(Stored) == 8)
			out[i] = (Stored) (encode ? mgpu_encode_64(in[i], codec.kind) ^ flip : mgpu_decode_64(in[i] ^ flip, codec.kind));
		else
			out[i] = (Stored) (encode ? mgpu_encode_32((uint32_t) in[i], codec.kind, sizeof(Stored)) ^ flip :
							   mgpu_decode_32((uint32_t) (in[i] ^ flip), codec.kind, sizeof(Stored)));
	}
}

template <typename Stored>
static void
widen(const mgpu_codec &codec, const void *keys, void *codes, uint64_t num_items)
{
	std::vector<Stored> out(num_items);

	code_items(codec, (const Stored *) keys, out.data(), num_items, true);
	std::copy(out.begin(), out.end(), (uint32_t *) codes);
}

template <typename Stored>
static void
narrow(const mgpu_codec &codec, const void *codes, void *keys, uint64_t num_items)
{
	std::vector<Stored> in((const uint32_t *) codes, (const uint32_t *) codes + num_items);

	code_items(codec, in.data(), (Stored *) keys, num_items, false);
}

extern "C" bool
mgpu_codec_is_identity(const mgpu_codec *codec)
{
	return codec->kind == MGPU_KEY_UNSIGNED && codec->width >= 4 && !codec->descending;
}

extern "C" cudaError_t
mgpu_launch_encode(const mgpu_codec *codec_in, const void *keys, void *codes, uint64_t num_items, cudaStream_t stream)
{
	mgpu_codec	codec = *codec_in;

	return enqueue(stream, [=] ()
	{
		if (codec.width == 1)
			widen<uint8_t>(codec, keys, codes, num_items);
		else if (codec.width == 2)
			widen<uint16_t>(codec, keys, codes, num_items);
		else if (codec.width == 4)
			code_items(codec, (const uint32_t *) keys, (uint32_t *) codes, num_items, true);
		else
			code_items(codec, (const uint64_t *) keys, (uint64_t *) codes, num_items, true);
	});
}

extern "C" cudaError_t
mgpu_launch_decode(const mgpu_codec *codec_in, const void *codes, void *keys, uint64_t num_items, cudaStream_t stream)
{
	mgpu_codec	codec = *codec_in;

	return enqueue(stream, [=] ()
	{
		if (codec.width == 1)
			narrow<uint8_t>(codec, codes, keys, num_items);
		else if (codec.width == 2)
			narrow<uint16_t>(codec, codes, keys, num_items);
		else if (codec.width == 4)
			code_items(codec, (const uint32_t *) codes, (uint32_t *) keys, num_items, false);
		else
			code_items(codec, (const uint64_t *) codes, (uint64_t *) keys, num_items, false);
	});
}

extern "C" cudaError_t
mgpu_launch_split_bytes(const void *keys, uint64_t *high, uint64_t *low, uint32_t descending, uint64_t num_items,
						cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_items; i++)
		{
			high[i] = mgpu_swap_64(((const uint64_t *) keys)[2 * i]) ^ (descending ? ~UINT64_C(0) : 0);
			low[i] = mgpu_swap_64(((const uint64_t *) keys)[2 * i + 1]) ^ (descending ? ~UINT64_C(0) : 0);
		}
	});
}

extern "C" cudaError_t
mgpu_launch_join_bytes(const uint64_t *high, const uint64_t *low, const uint32_t *indices, void *keys,
					   uint32_t descending, uint64_t num_items, cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_items; i++)
		{
			((uint64_t *) keys)[2 * i] = mgpu_swap_64(high[indices[i]] ^ (descending ? ~UINT64_C(0) : 0));
			((uint64_t *) keys)[2 * i + 1] = mgpu_swap_64(low[indices[i]] ^ (descending ? ~UINT64_C(0) : 0));
		}
	});
}

extern "C" cudaError_t
mgpu_launch_gather(const void *in, const uint32_t *indices, void *out, uint32_t width, uint64_t num_items,
				   cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_items; i++)
			memcpy((char *) out + i * width, (const char *) in + (uint64_t) indices[i] * width, width);
	});
}

extern "C" cudaError_t
mgpu_launch_trap(cudaStream_t stream)
{
	return enqueue(stream, [] () { lost = true; });
}

extern "C" cudaError_t
mgpu_check_image(void)
{
	return answer(cudaSuccess);
}

extern "C" cudaError_t
mgpu_code_awaits(bool *awaits)
{
	*awaits = true;
	return answer(cudaSuccess);
}

/* Sort codes as a sorter would, and spoil the rest of what it may write. */
template <typename Key>
static void
sort_codes(const mgpu_sort_request &request, int target)
{
	const Key  *in = (const Key *) request.keys[request.current];
	std::vector<std::pair<Key, uint32_t>> items(request.num_items);
	bool		packed = sizeof(Key) == 4 && request.indices[0] != nullptr;

	for (uint64_t i = 0; i < request.num_items; i++)
		items[i] = {in[i], (uint32_t) i};
	std::sort(items.begin(), items.end());
	for (int side = 0; side < 2; side++)
	{
		memset(request.keys[side], 0xDB, packed ? 8 * mgpu_padded_items(request.num_items) :
			   request.num_items * sizeof(Key));
		if (request.indices[side] != nullptr)
			memset(request.indices[side], 0xDB, request.num_items * 4);
	}
	memset(request.temp, 0xDB, request.temp_bytes);
	for (uint64_t i = 0; i < request.num_items; i++)
	{
		((Key *) request.keys[target])[i] = items[i].first;
		if (request.indices[target] != nullptr)
			request.indices[target][i] = items[i].second;
	}
}

template <typename Key>
static cudaError_t
launch_sort(mgpu_sort_request *request)
{
	mgpu_sort_request before = *request;
	int			target = (int) (schedule() % 2);

	request->current = target;
	return enqueue(request->stream, [=] () { sort_codes<Key>(before, target); });
}

/* CUB wants more than its bound now and then: the engine merges instead. */
template <typename Key>
static cudaError_t
launch_radix_sort(mgpu_sort_request *request)
{
	return schedule() % 8 == 0 ? cudaErrorMemoryAllocation : launch_sort<Key>(request);
}

extern "C" cudaError_t
mgpu_merge_sort_u32(mgpu_sort_request *request)
{
	return launch_sort<uint32_t>(request);
}

extern "C" cudaError_t
mgpu_merge_sort_u64(mgpu_sort_request *request)
{
	return launch_sort<uint64_t>(request);
}

extern "C" cudaError_t
mgpu_merge_sort_u32_index(mgpu_sort_request *request)
{
	return launch_sort<uint32_t>(request);
}

extern "C" cudaError_t
mgpu_merge_sort_u64_index(mgpu_sort_request *request)
{
	return launch_sort<uint64_t>(request);
}

extern "C" cudaError_t
mgpu_radix_sort_u32(mgpu_sort_request *request)
{
	return launch_radix_sort<uint32_t>(request);
}

extern "C" cudaError_t
mgpu_radix_sort_u64(mgpu_sort_request *request)
{
	return launch_radix_sort<uint64_t>(request);
}

extern "C" cudaError_t
mgpu_radix_sort_u32_index(mgpu_sort_request *request)
{
	return launch_radix_sort<uint32_t>(request);
}

extern "C" cudaError_t
mgpu_radix_sort_u64_index(mgpu_sort_request *request)
{
	return launch_radix_sort<uint64_t>(request);
}

int
main(int argc, char **argv)
{
	quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	test_engine();
	test_groups();
	test_executor();
	test_ops();
	test_op_runs();
	test_sticky_failure();
	/* the call that saw the loss and the question whether it is one; then no more */
	CHECK(calls_after_loss <= 2, "%d CUDA calls after the context was lost", calls_after_loss);
	printf("%d passed, %d failed\n", tests_passed, tests_failed);
	return tests_failed == 0 ? 0 : 1;
}
