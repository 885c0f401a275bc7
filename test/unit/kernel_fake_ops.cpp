/*
 * kernel_fake_ops.cpp
 *		Merges, bulk remove and insert and the odd-even network of the played
 *		device.  See kernel_fake_device.cpp.
 *
 * Unsorted inputs of a merge leave its outputs as they were: indices that no
 * array has.
 */
#include "kernel_fake.h"
#include "kernel_test.cuh"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/key_codec.h"
#include "merge/ops.h"

typedef std::pair<uint64_t, uint64_t> key_code;

static std::vector<key_code>
codes_of(const mgpu_codec &codec, const void *keys, uint64_t num_items)
{
	std::vector<key_code> codes(num_items);
	uint64_t	flip = codec.descending ? ~UINT64_C(0) : 0;

	for (uint64_t i = 0; i < num_items; i++)
	{
		uint64_t	words[2] = {0, 0};

		memcpy(words, (const char *) keys + i * codec.width, codec.width);
		if (codec.width == 16)
			codes[i] = {mgpu_swap_64(words[0]) ^ flip, mgpu_swap_64(words[1]) ^ flip};
		else if (codec.width == 8)
			codes[i] = {mgpu_encode_64(words[0], codec.kind) ^ flip, 0};
		else
			codes[i] = {mgpu_encode_32((uint32_t) words[0], codec.kind, codec.width) ^ (uint32_t) flip, 0};
	}
	return codes;
}

/* The first item that sorts before the one in front of it, or UINT64_MAX. */
static uint64_t
first_unsorted(const std::vector<key_code> &codes)
{
	auto		last = std::is_sorted_until(codes.begin(), codes.end());

	return last == codes.end() ? UINT64_MAX : (uint64_t) (last - codes.begin());
}

static void
merge(const mgpu_merge_request &request)
{
	std::vector<key_code> a = codes_of(request.codec, request.a_keys, request.num_a_items);
	std::vector<key_code> b = codes_of(request.codec, request.b_keys, request.num_b_items);
	uint32_t	widths[2] = {request.codec.width, request.value_width};
	const void *sources[2][2] = {{request.a_keys, request.b_keys}, {request.a_values, request.b_values}};
	void	   *targets[2] = {request.out_keys, request.out_values};
	uint64_t	taken[2] = {0, 0};

	memset(request.temp, 0xDB, mgpu_merge_temp_bytes(request.codec.width, request.value_width, request.num_a_items,
													 request.num_b_items));
	CHECK(request.check->suspect == UINT64_MAX && request.check->position[0] == UINT64_MAX &&
		  request.check->position[1] == UINT64_MAX, "a check that was not set up");
	if (first_unsorted(a) != UINT64_MAX || first_unsorted(b) != UINT64_MAX)
	{
		request.check->suspect = 0;
		return;
	}
	for (uint64_t i = 0; i < a.size() + b.size(); i++)
	{
		int			side = taken[0] == a.size() || (taken[1] < b.size() && b[taken[1]] < a[taken[0]]);

		for (int part = 0; part < 2; part++)
		{
			if (widths[part] != 0)
				memcpy((char *) targets[part] + i * widths[part],
					   (const char *) sources[part][side] + taken[side] * widths[part], widths[part]);
		}
		taken[side]++;
	}
}

extern "C" uint64_t
mgpu_merge_temp_bytes(uint32_t key_width, uint32_t value_width, uint64_t num_a_items, uint64_t num_b_items)
{
	return key_width + value_width + num_a_items / 100 + num_b_items / 100;
}

extern "C" cudaError_t
mgpu_launch_merge(const mgpu_merge_request *request_in)
{
	mgpu_merge_request request = *request_in;

	return enqueue(request.stream, [=] () { merge(request); });
}

extern "C" cudaError_t
mgpu_launch_find_unsorted(const mgpu_merge_request *request_in)
{
	mgpu_merge_request request = *request_in;

	return enqueue(request.stream, [=] ()
	{
		if (request.check->suspect == UINT64_MAX)
			return;
		request.check->position[0] = first_unsorted(codes_of(request.codec, request.a_keys, request.num_a_items));
		request.check->position[1] = first_unsorted(codes_of(request.codec, request.b_keys, request.num_b_items));
	});
}

/* ------------------------------------------------------------ bulk, gather */

extern "C" uint64_t
mgpu_remove_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	return width + num_items / 100 + num_positions / 10;
}

extern "C" uint64_t
mgpu_insert_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	return width + num_items / 50 + num_positions / 100;
}

extern "C" cudaError_t
mgpu_launch_remove(const mgpu_bulk_request *request_in)
{
	mgpu_bulk_request request = *request_in;

	return enqueue(request.stream, [=] ()
	{
		char	   *out = (char *) request.out;
		uint64_t	removed = 0;

		memset(request.temp, 0xDB, mgpu_remove_temp_bytes(request.width, request.num_items, request.num_positions));
		for (uint64_t i = 0; i < request.num_items; i++)
		{
			if (removed < request.num_positions && request.positions[removed] == i)
				removed++;
			else
			{
				memcpy(out, (const char *) request.items + i * request.width, request.width);
				out += request.width;
			}
		}
	});
}

extern "C" cudaError_t
mgpu_launch_insert(const mgpu_bulk_request *request_in)
{
	mgpu_bulk_request request = *request_in;

	return enqueue(request.stream, [=] ()
	{
		char	   *out = (char *) request.out;
		uint64_t	inserted = 0;

		memset(request.temp, 0xDB, mgpu_insert_temp_bytes(request.width, request.num_items, request.num_positions));
		for (uint64_t i = 0; i <= request.num_items; i++)
		{
			for (; inserted < request.num_positions && request.positions[inserted] == i; inserted++, out += request.width)
				memcpy(out, (const char *) request.inserted + inserted * request.width, request.width);
			if (i < request.num_items)
			{
				memcpy(out, (const char *) request.items + i * request.width, request.width);
				out += request.width;
			}
		}
	});
}

extern "C" cudaError_t
mgpu_launch_iota(uint32_t *indices, uint64_t num_items, cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; i < num_items; i++)
			indices[i] = (uint32_t) i;
	});
}

extern "C" cudaError_t
mgpu_launch_gather_if(const uint64_t *enabled, const void *in, const uint32_t *indices, void *out, uint32_t width,
					  uint64_t num_items, cudaStream_t stream)
{
	return enqueue(stream, [=] ()
	{
		for (uint64_t i = 0; *enabled == UINT64_MAX && i < num_items; i++)
			memcpy((char *) out + i * width, (const char *) in + (uint64_t) indices[i] * width, width);
	});
}

/* ---------------------------------------------------------------- network */

template <typename Key>
static void
sort_keys(const mgpu_odd_even_request &request, int target)
{
	const Key  *in = (const Key *) request.keys[request.current];
	std::vector<Key> keys(in, in + request.num_items);

	std::sort(keys.begin(), keys.end());
	for (int side = 0; side < 2; side++)
		memset(request.keys[side], 0xDB, request.num_items * sizeof(Key));
	std::copy(keys.begin(), keys.end(), (Key *) request.keys[target]);
}

extern "C" cudaError_t
mgpu_launch_odd_even_sort(mgpu_odd_even_request *request)
{
	mgpu_odd_even_request before = *request;
	int			target = (int) (schedule() % 2);

	request->current = target;
	return enqueue(before.stream, [=] ()
	{
		if (before.key_width == 4)
			sort_keys<uint32_t>(before, target);
		else
			sort_keys<uint64_t>(before, target);
	});
}
