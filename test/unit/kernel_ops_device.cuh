/*
 * kernel_ops_device.cuh
 *		Device memory of kernel_ops_test, between canaries.
 */
#ifndef MGPU_KERNEL_OPS_DEVICE_CUH
#define MGPU_KERNEL_OPS_DEVICE_CUH

#include "kernel_ops_test.cuh"

#include "require_cuda.cuh"

#define CANARY 0xA5
#define CANARY_BYTES 256

/* Device memory between canaries, `offset` bytes past an aligned address. */
struct device_array
{
	char	   *base;
	char	   *data;
	uint64_t	bytes;

	device_array(uint64_t bytes_, uint64_t offset) : bytes(bytes_)
	{
		REQUIRE_CUDA(cudaMalloc(&base, bytes + offset + 2 * CANARY_BYTES));
		REQUIRE_CUDA(cudaMemset(base, CANARY, bytes + offset + 2 * CANARY_BYTES));
		data = base + CANARY_BYTES + offset;
	}

	device_array(const byte_array &contents, uint64_t offset) : device_array(contents.size(), offset)
	{
		REQUIRE_CUDA(cudaMemcpy(data, contents.data(), bytes, cudaMemcpyHostToDevice));
	}

	device_array(const device_array &) = delete;

	~device_array()
	{
		cudaFree(base);
	}

	byte_array
	download(const char *from, uint64_t num_bytes) const
	{
		byte_array	contents(num_bytes);

		REQUIRE_CUDA(cudaMemcpy(contents.data(), from, num_bytes, cudaMemcpyDeviceToHost));
		return contents;
	}

	/* Are the bytes around it untouched? */
	bool
	is_surrounded() const
	{
		byte_array	canary(CANARY_BYTES, CANARY);

		return download(data - CANARY_BYTES, CANARY_BYTES) == canary && download(data + bytes, CANARY_BYTES) == canary;
	}

	/* Are the contents these, and the bytes around them untouched? */
	bool
	holds(const byte_array &expected) const
	{
		return expected.size() == bytes && download(data, bytes) == expected && is_surrounded();
	}
};

static inline byte_array
bytes_of(const std::vector<uint32_t> &words)
{
	byte_array	bytes(words.size() * 4);

	memcpy(bytes.data(), words.data(), bytes.size());
	return bytes;
}

/* kernel_ops_splits.cu: boundaries of so many tiles, and of all numbers worth a test. */
void		test_splits(uint32_t num_tiles, int pattern);
void		test_all_splits();

#endif							/* MGPU_KERNEL_OPS_DEVICE_CUH */
