/*
 * collator.h
 *		The order of texts by a locale of the C library, as PostgreSQL has it: what is equal there is ordered by its bytes.
 *
 * strcoll_l takes a hundred nanoseconds or more, and texts that are compared with a constant are often the same few.  So outcomes of short texts
 * are kept, in a table of a fixed size, where a new one takes the place of another.  Strings of strxfrm were rejected: in glibc they disagree with
 * strcoll on some texts.
 */
#ifndef MGPU_COLLATOR_H
#define MGPU_COLLATOR_H

#include <locale.h>
#include <stdint.h>

#define MGPU_COLLATED_BYTES 59	/* of both texts, whose outcome is kept */
#define MGPU_COLLATED_TEXTS 1024

typedef struct mgpu_collated
{
	uint16_t	length_a;
	uint16_t	length_b;
	uint8_t		outcome;		/* 0: no texts are here */
	char		bytes[MGPU_COLLATED_BYTES];
} mgpu_collated;

/* One thread's.  Zeros, but for the locale, which outlives it. */
typedef struct mgpu_collator
{
	locale_t	locale;
	mgpu_collated known[MGPU_COLLATED_TEXTS];
} mgpu_collator;

/* Of two texts without zeros: MGPU_IS_LESS, MGPU_IS_EQUAL or MGPU_IS_GREATER; 0: one is too long. */
uint32_t	mgpu_collator_outcome(mgpu_collator *collator, const char *a, uint32_t length_a, const char *b, uint32_t length_b);

#endif							/* MGPU_COLLATOR_H */
