/*
 * kernel_host_probe.cu
 *		How the sortedness probe reverses keys, played on the host.
 */
#include "kernel_host_test.cuh"

#include <algorithm>
#include <random>
#include <vector>

#include "sort/probe_read.cuh"

static std::mt19937_64 random_bits(20261121);

/* Vector by vector, and the keys over, as the kernel does. */
template <typename Key>
static void
test_reversing(uint64_t num_items)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	num_vectors = num_items / items;
	uint32_t	over = (uint32_t) (num_items % items);
	std::vector<Key> keys(num_items);
	std::vector<Key> reversed(num_items);

	for (Key &key : keys)
		key = (Key) random_bits();
	for (uint64_t number = 0; number < num_vectors; number++)
	{
		mgpu_key_vector<Key> vector;
		mgpu_key_vector<Key> next;

		for (int i = 0; i < items; i++)
		{
			vector.keys[i] = keys[number * items + i];
			next.keys[i] = (number + 1) * items + i < num_items ? keys[(number + 1) * items + i] : 0;
		}
		vector = mgpu_reverse_vector(vector, next, over);
		for (int i = 0; i < items; i++)
			reversed[(num_vectors - 1 - number) * items + i] = vector.keys[i];
	}
	for (uint32_t i = 0; i < over; i++)
		reversed[num_items - 1 - i] = keys[i];
	std::reverse(keys.begin(), keys.end());
	CHECK(keys == reversed, "%llu keys of %d bytes reversed", (unsigned long long) num_items, (int) sizeof(Key));
}

void
test_probe_on_host()
{
	for (uint64_t num_items = 4; num_items < 40; num_items++)
	{
		test_reversing<uint32_t>(num_items);
		test_reversing<uint64_t>(num_items);
	}
}
