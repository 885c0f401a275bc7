/*
 * kernel_test_jobs.cuh
 *		What tests of the CUDA executor share: the order of stored keys, awkward
 *		keys, feeding and polling a run.
 *
 * The order goes by the rules of each kind and shares no code with the codec.
 * Outputs are poisoned and have canaries behind them; inputs go in whole or
 * through slots in odd slices.
 */
#ifndef MGPU_KERNEL_TEST_JOBS_CUH
#define MGPU_KERNEL_TEST_JOBS_CUH

#include "kernel_test.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unistd.h>

#include "core/executor.h"

#define POISON 0xA5
#define CANARY_BYTES 64

static const mgpu_executor *const gpu = &mgpu_cuda_executor;
static const mgpu_exec_options default_options = {-1, 0, 1, 0, MGPU_FAULT_NONE};

typedef std::vector<unsigned char> byte_vector;

/* ------------------------------------------------------------- reference */

template <typename Number>
static inline Number
stored(const unsigned char *bytes)
{
	Number		number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

template <typename Number>
static inline int
compare_numbers(const unsigned char *a, const unsigned char *b)
{
	Number		x = stored<Number>(a);
	Number		y = stored<Number>(b);

	return x < y ? -1 : x > y;
}

/* PostgreSQL's order: all NaN are equal and above every number. */
template <typename Float>
static inline int
compare_floats(const unsigned char *a, const unsigned char *b)
{
	Float		x = stored<Float>(a);
	Float		y = stored<Float>(b);

	if (std::isnan(x) || std::isnan(y))
		return std::isnan(x) - std::isnan(y);
	return x < y ? -1 : x > y;
}

static inline int
compare_stored(const mgpu_job &job, const unsigned char *a, const unsigned char *b)
{
	switch (job.key_kind * 100 + job.key_width)
	{
		case MGPU_KEY_UNSIGNED * 100 + 1:
			return compare_numbers<uint8_t>(a, b);
		case MGPU_KEY_UNSIGNED * 100 + 2:
			return compare_numbers<uint16_t>(a, b);
		case MGPU_KEY_UNSIGNED * 100 + 4:
			return compare_numbers<uint32_t>(a, b);
		case MGPU_KEY_UNSIGNED * 100 + 8:
			return compare_numbers<uint64_t>(a, b);
		case MGPU_KEY_SIGNED * 100 + 2:
			return compare_numbers<int16_t>(a, b);
		case MGPU_KEY_SIGNED * 100 + 4:
			return compare_numbers<int32_t>(a, b);
		case MGPU_KEY_SIGNED * 100 + 8:
			return compare_numbers<int64_t>(a, b);
		case MGPU_KEY_FLOAT * 100 + 4:
			return compare_floats<float>(a, b);
		case MGPU_KEY_FLOAT * 100 + 8:
			return compare_floats<double>(a, b);
		default:
			return memcmp(a, b, 16);
	}
}

typedef struct key_type
{
	uint32_t	kind;
	uint32_t	width;
} key_type;

static const key_type key_types[] = {
	{MGPU_KEY_UNSIGNED, 1}, {MGPU_KEY_UNSIGNED, 2}, {MGPU_KEY_UNSIGNED, 4}, {MGPU_KEY_UNSIGNED, 8},
	{MGPU_KEY_SIGNED, 2}, {MGPU_KEY_SIGNED, 4}, {MGPU_KEY_SIGNED, 8}, {MGPU_KEY_FLOAT, 4}, {MGPU_KEY_FLOAT, 8},
	{MGPU_KEY_BYTES, 16}
};

/* ----------------------------------------------------------------- inputs */

/* Bit patterns that codecs get wrong, else random ones, with duplicates. */
static inline uint64_t
awkward_word(const mgpu_job &job)
{
	static const uint64_t words_32[] = {0, UINT64_C(0x80000000), UINT64_C(0x7F800000), UINT64_C(0xFF800000),
		UINT64_C(0x7FC00000), UINT64_C(0xFFC00001), UINT64_C(0x7F800001), 1, UINT64_C(0x80000001),
		UINT64_C(0xFFFFFFFF), UINT64_C(0x7FFFFFFF)};
	static const uint64_t words_64[] = {0, UINT64_C(0x8000000000000000), UINT64_C(0x7FF0000000000000),
		UINT64_C(0xFFF0000000000000), UINT64_C(0x7FF8000000000000), UINT64_C(0xFFF8000000000001),
		UINT64_C(0x7FF0000000000001), 1, UINT64_C(0x8000000000000001), ~UINT64_C(0), ~UINT64_C(0) >> 1};
	uint64_t	choice = random_bits();

	if (choice % 4 == 0)
		return job.key_width == 4 ? words_32[choice / 4 % 11] : words_64[choice / 4 % 11];
	if (choice % 4 == 1)
		return choice / 4 % 100;
	return random_bits();
}

/* -------------------------------------------------------------------- runs */

/* How to run a job; slice_items of 0 binds inputs whole. */
typedef struct run_plan
{
	uint64_t	slice_items;	/* most items a commit */
	bool		odd_slices;		/* of random length up to that */
	bool		stream_values;	/* else values are bound whole even so */
} run_plan;

static inline byte_vector
poisoned(uint64_t bytes)
{
	return byte_vector(bytes + CANARY_BYTES, POISON);
}

static inline bool
canary_intact(const byte_vector &output)
{
	return std::all_of(output.end() - CANARY_BYTES, output.end(), [] (unsigned char byte) { return byte == POISON; });
}

/* The outputs that a job asks for. */
static inline void
bind_outputs(const mgpu_job &job, byte_vector &keys, byte_vector &indices, byte_vector &values, mgpu_binding *binding)
{
	if (job.outputs & MGPU_OUT_KEYS)
		binding->out_keys = keys.data();
	if (job.outputs & MGPU_OUT_INDICES)
		binding->out_indices = reinterpret_cast<uint32_t *>(indices.data());
	if (job.outputs & MGPU_OUT_VALUES)
		binding->out_values = values.data();
}

/* Feed one channel through slots; puts a header before each as readers do. */
static inline mgpu_status
feed(mgpu_run *run, mgpu_channel channel, const byte_vector &input, uint64_t item_bytes, const run_plan &plan,
	 mgpu_error *err)
{
	uint64_t	sent = 0;

	while (sent < input.size())
	{
		void	   *slot;
		uint64_t	slot_bytes;
		uint64_t	bytes;
		uint32_t	header;
		mgpu_status status = gpu->input_slot(run, channel, &slot, &slot_bytes, err);

		if (status == MGPU_PENDING)
			continue;
		if (status != MGPU_OK)
			return status;
		CHECK(slot_bytes >= item_bytes && slot_bytes % item_bytes == 0 && slot_bytes <= input.size() - sent &&
			  reinterpret_cast<uintptr_t>(slot) % 4 == 0, "a slot of %llu bytes for items of %llu",
			  (unsigned long long) slot_bytes, (unsigned long long) item_bytes);
		bytes = (plan.odd_slices ? 1 + random_bits() % plan.slice_items : plan.slice_items) * item_bytes;
		bytes = std::min(bytes, slot_bytes);
		memcpy(&header, (char *) slot - 4, 4);
		memset((char *) slot - 4, 0xEE, 4);
		memcpy(slot, input.data() + sent, bytes);
		memcpy((char *) slot - 4, &header, 4);
		status = gpu->input_commit(run, channel, bytes, err);
		if (status != MGPU_OK)
			return status;
		sent += bytes;
	}
	return MGPU_OK;
}

static inline mgpu_status
poll_to_end(mgpu_run *run, mgpu_error *err)
{
	mgpu_status status;

	while ((status = gpu->poll(run, err)) == MGPU_PENDING)
		usleep(20);
	return status;
}

/* Device memory that a job takes, from the message that refuses it for less. */
static inline uint64_t
needed_bytes(const mgpu_job &job, const mgpu_binding &binding)
{
	mgpu_exec_options options = default_options;
	mgpu_error	err = {};
	mgpu_run   *run;

	options.device_memory_limit = 1;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_DEVICE_MEMORY && run == nullptr, "%s", err.message);
	return strtoull(err.message, nullptr, 10);
}

/* Device memory that runs hold. */
static inline uint64_t
used_bytes_now(int device)
{
	cudaMemPool_t pool;
	uint64_t	bytes;

	REQUIRE_CUDA(cudaDeviceSynchronize());
	REQUIRE_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
	REQUIRE_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
	return bytes;
}

#endif							/* MGPU_KERNEL_TEST_JOBS_CUH */
