/*
 * program_numbers.h
 *		Tables of operations on numerics and floats, and digits of quotients.
 */
#ifndef MGPU_PROGRAM_NUMBERS_H
#define MGPU_PROGRAM_NUMBERS_H

#include <stdint.h>

/*
 * A quotient by a constant: a product by a factor.  The least dividends show most_shown digits, those from a 10,000th of step on four less, those from step on
 * four less again, and so with each 10,000 times.  0 shows as many as 1.
 */
typedef struct mgpu_quotient
{
	int64_t		factor;
	int64_t		scale;			/* of the product: digits that it has to show */
	int64_t		one;			/* 1 in the dividend's scale */
	int64_t		step;			/* above 0 */
	int64_t		most_shown;
	int64_t		least_shown;	/* the constant's own digits */
} mgpu_quotient;

/* Buckets between two bounds, of which the second may be the less.  Versions of PostgreSQL divide before they multiply by the count, or after that. */
typedef struct mgpu_buckets
{
	double		first;
	double		last;
	int64_t		count;
	int64_t		divides_first;
} mgpu_buckets;

/* Digits behind the point of a quotient, and behind those: multiples of four. */
#define MGPU_QUOTIENT_DIGITS 8
#define MGPU_REST_DIGITS 16
#define MGPU_QUOTIENT_MOST_PLACES 4

/* With the places: no digits are wanted behind those of the rest, where it rounds. */
#define MGPU_QUOTIENT_IS_CUT 8

#endif							/* MGPU_PROGRAM_NUMBERS_H */
