/*
 * dense_codes.h
 *		64-bit codes made shorter, in an order that does not contradict theirs.
 *
 * Where codes are known of a sample alone: bytes that the sample has at a place are
 * numbered in their order, and a code becomes the number that these are the digits
 * of, in a radix for each place.  Bytes that the sample has not go between: such a
 * code is the least or the greatest number of its first places.  So greater codes
 * never have smaller numbers, and equal numbers say nothing.
 */
#ifndef MGPU_DENSE_CODES_H
#define MGPU_DENSE_CODES_H

#include <stdint.h>

#define MGPU_CODE_PLACES 8

typedef struct mgpu_dense_codes
{
	/* of each byte at each place: its digit's share of the number, */
	uint64_t	shares[MGPU_CODE_PLACES][256];
	/* and of one that the sample has not, what all places behind it have, plus one; 0: the sample has it */
	uint64_t	rests[MGPU_CODE_PLACES][256];
	uint32_t	shift;			/* low bits of numbers that go, for want of room */
} mgpu_dense_codes;

/* Numbers of num_bits (1 to 64) from a sample of codes, of at least one. */
void		mgpu_dense_codes_learn(mgpu_dense_codes *dense, const uint64_t *codes, uint32_t num_codes, uint32_t num_bits);

static inline uint64_t
mgpu_dense_code(const mgpu_dense_codes *dense, uint64_t code)
{
	uint64_t	number = 0;

	for (int place = 0; place < MGPU_CODE_PLACES; place++)
	{
		uint8_t		byte = (uint8_t) (code >> (56 - 8 * place));

		number += dense->shares[place][byte];
		if (dense->rests[place][byte] != 0)
		{
			number += dense->rests[place][byte] - 1;
			break;
		}
	}
	return number >> dense->shift;
}

#endif							/* MGPU_DENSE_CODES_H */
