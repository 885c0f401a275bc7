/*
 * short_bytes.h
 *		Bytes of short values: loading, comparing and copying them.
 *
 * Up to sixteen bytes are four words of four bytes, which overlap: the first and the last, and one next to each of them if there
 * are eight bytes at least.  So values of 4 to 16 bytes need no branch.  Their sizes are unpredictable, and each mispredicted
 * branch takes longer than all of the work; memcmp and memcpy have several.
 */
#ifndef MGPU_SHORT_BYTES_H
#define MGPU_SHORT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes from the first word to the one next to it. */
static inline ptrdiff_t
mgpu_short_step(size_t size)
{
	return (ptrdiff_t) (size / 8 * 4);
}

static inline uint64_t
mgpu_load_words(const char *bytes, ptrdiff_t step)
{
	uint32_t	one;
	uint32_t	other;

	memcpy(&one, bytes, sizeof(one));
	memcpy(&other, bytes + step, sizeof(other));
	return (uint64_t) one << 32 | other;
}

/* Sixteen bytes at most as two numbers, which differ where bytes of the same size do. */
static inline void
mgpu_load_short(const char *bytes, size_t size, uint64_t *a, uint64_t *b)
{
	*a = *b = 0;
	if (size >= 4)
	{
		*a = mgpu_load_words(bytes, mgpu_short_step(size));
		*b = mgpu_load_words(bytes + size - 4, -mgpu_short_step(size));
	}
	else if (size > 0)
		*a = (uint64_t) (unsigned char) bytes[0] << 16 | (uint64_t) (unsigned char) bytes[size / 2] << 8 | (unsigned char) bytes[size - 1];
}

/* Whether size bytes are the same. */
static inline bool
mgpu_same_bytes(const char *x, const char *y, size_t size)
{
	uint64_t	a;
	uint64_t	b;
	uint64_t	c;
	uint64_t	d;

	if (size > 16)
		return memcmp(x, y, size) == 0;
	mgpu_load_short(x, size, &a, &b);
	mgpu_load_short(y, size, &c, &d);
	return ((a ^ c) | (b ^ d)) == 0;
}

/* Copy 4 to 16 bytes. */
static inline void
mgpu_copy_short(char *to, const char *from, size_t size)
{
	ptrdiff_t	step = mgpu_short_step(size);
	const char *last = from + size - 4;
	uint32_t	words[4];

	memcpy(&words[0], from, 4);
	memcpy(&words[1], from + step, 4);
	memcpy(&words[2], last - step, 4);
	memcpy(&words[3], last, 4);
	memcpy(to, &words[0], 4);
	memcpy(to + step, &words[1], 4);
	memcpy(to + size - 4 - step, &words[2], 4);
	memcpy(to + size - 4, &words[3], 4);
}

#endif							/* MGPU_SHORT_BYTES_H */
