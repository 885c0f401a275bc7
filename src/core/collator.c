/*
 * collator.c
 *		The order of texts by a locale of the C library.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/collator.h"

#include <stdbool.h>
#include <string.h>

#include "core/byte_hash.h"
#include "core/program.h"

/* The longest text that is compared here. */
#define MOST_BYTES 1023

static uint32_t
outcome_of(int order)
{
	return order < 0 ? MGPU_IS_LESS : order > 0 ? MGPU_IS_GREATER : MGPU_IS_EQUAL;
}

static uint32_t
collate(locale_t locale, const char *a, uint32_t length_a, const char *b, uint32_t length_b)
{
	char		text_a[MOST_BYTES + 1];
	char		text_b[MOST_BYTES + 1];
	int			order;

	memcpy(text_a, a, length_a);
	memcpy(text_b, b, length_b);
	text_a[length_a] = text_b[length_b] = '\0';
	order = strcoll_l(text_a, text_b, locale);
	return outcome_of(order != 0 ? order : strcmp(text_a, text_b));
}

static bool
has(const mgpu_collated *known, const char *a, uint32_t length_a, const char *b, uint32_t length_b)
{
	return known->outcome != 0 && known->length_a == length_a && known->length_b == length_b &&
		memcmp(known->bytes, a, length_a) == 0 && memcmp(known->bytes + length_a, b, length_b) == 0;
}

uint32_t
mgpu_collator_outcome(mgpu_collator *collator, const char *a, uint32_t length_a, const char *b, uint32_t length_b)
{
	mgpu_collated *known;

	if (length_a > MOST_BYTES || length_b > MOST_BYTES)
		return 0;
	if (length_a + length_b > MGPU_COLLATED_BYTES)
		return collate(collator->locale, a, length_a, b, length_b);
	known = &collator->known[mgpu_byte_hash(a, length_a, mgpu_byte_hash(b, length_b, 0)) % MGPU_COLLATED_TEXTS];
	if (has(known, a, length_a, b, length_b))
		return known->outcome;
	known->length_a = (uint16_t) length_a;
	known->length_b = (uint16_t) length_b;
	memcpy(known->bytes, a, length_a);
	memcpy(known->bytes + length_a, b, length_b);
	known->outcome = (uint8_t) collate(collator->locale, a, length_a, b, length_b);
	return known->outcome;
}
