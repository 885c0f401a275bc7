/*
 * core_dense_codes.c
 *		Shorter numbers for codes (dense_codes.h): never against the codes' order, exact for what was seen.
 */
#include "core/dense_codes.h"
#include "unit.h"

#define MOST_CODES 600

static uint64_t
random_code(int kind)
{
	uint64_t	code = 0;

	switch (kind)
	{
		case 0:
			return unit_random();
		case 1:
			return unit_random_below(5);
		case 2:
			return UINT64_MAX - unit_random_below(300);
		case 3:
			/* letters */
			for (int place = 0; place < MGPU_CODE_PLACES; place++)
				code = code << 8 | (uint64_t) (40 + 2 * unit_random_below(17));
			return code;
		default:
			return unit_random() & unit_random() & unit_random();
	}
}

static uint32_t
bits_of(uint64_t number)
{
	return number == 0 ? 0 : 64 - (uint32_t) __builtin_clzll(number);
}

static void
check(int kind, uint32_t num_seen, uint32_t num_bits)
{
	static mgpu_dense_codes dense;
	uint64_t	codes[MOST_CODES];

	UNIT_CONTEXT("kind %d, %u seen, %u bits", kind, num_seen, num_bits);
	for (uint32_t i = 0; i < MOST_CODES; i++)
		codes[i] = random_code(i < num_seen || i % 3 > 0 ? kind : 0);
	mgpu_dense_codes_learn(&dense, codes, num_seen, num_bits);
	for (uint32_t i = 0; i < MOST_CODES; i++)
	{
		uint64_t	number = mgpu_dense_code(&dense, codes[i]);

		UNIT_CHECK(bits_of(number) <= num_bits);
		for (uint32_t j = 0; j < i; j++)
		{
			uint64_t	other = mgpu_dense_code(&dense, codes[j]);

			if (codes[i] < codes[j])
				UNIT_CHECK(number <= other);
			else if (codes[i] > codes[j])
				UNIT_CHECK(number >= other);
			else
				UNIT_CHECK(number == other);
			/* of codes that were seen all numbers are kept, where they fit */
			if (i < num_seen && j < num_seen && dense.shift == 0)
				UNIT_CHECK((number == other) == (codes[i] == codes[j]));
		}
	}
	UNIT_CHECK(num_bits < 64 || dense.shift == 0);
}

int
main(void)
{
	for (int kind = 0; kind < 5; kind++)
		for (int round = 0; round < 4; round++)
		{
			check(kind, 1, 32);
			check(kind, 2, 64);
			check(kind, 100, 32);
			check(kind, 300, 64);
			check(kind, 500, (uint32_t) unit_random_below(64) + 1);
		}
	/* letters fit: seventeen to the eighth */
	check(3, 500, 33);
	return unit_report();
}
