/*
 * dense_codes.c
 *		See dense_codes.h.
 *
 * Rejected: a code's distance from the least one, whose bits are mostly those of
 * bytes that no code has; numbers in a large sorted sample, by a search for each.
 */
#include "dense_codes.h"

#include <stdbool.h>
#include <string.h>

static uint32_t
note_bytes(bool seen[256], const uint64_t *codes, uint32_t num_codes, int place)
{
	uint32_t	num_seen = 0;

	memset(seen, 0, 256 * sizeof(bool));
	for (uint32_t i = 0; i < num_codes; i++)
		seen[(uint8_t) (codes[i] >> (56 - 8 * place))] = true;
	for (int byte = 0; byte < 256; byte++)
		num_seen += seen[byte];
	return num_seen;
}

/* weight: how many numbers the places behind this one make; no more than 2^56. */
static void
fill_place(mgpu_dense_codes *dense, const bool seen[256], int place, uint64_t weight)
{
	uint64_t	digit = 0;
	bool		any = false;

	for (int byte = 0; byte < 256; byte++)
	{
		if (seen[byte])
		{
			digit += any;
			any = true;
		}
		dense->shares[place][byte] = digit * weight;
		dense->rests[place][byte] = seen[byte] ? 0 : any ? weight : 1;
	}
}

void
mgpu_dense_codes_learn(mgpu_dense_codes *dense, const uint64_t *codes, uint32_t num_codes, uint32_t num_bits)
{
	uint64_t	weight = 1;
	uint64_t	greatest = 0;

	for (int place = MGPU_CODE_PLACES - 1; place >= 0; place--)
	{
		bool		seen[256];
		uint32_t	num_seen = note_bytes(seen, codes, num_codes, place);

		fill_place(dense, seen, place, weight);
		greatest += (num_seen - 1) * weight;
		/* of the first place it may be 2^64, which nothing asks for */
		weight *= num_seen;
	}
	dense->shift = 0;
	while (num_bits < 64 && greatest >> dense->shift >> num_bits != 0)
		dense->shift++;
}
