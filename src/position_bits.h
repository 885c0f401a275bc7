/*
 * position_bits.h
 *		Positions, each once and in ascending order, as a bit each.
 *
 * A list of many takes up to 32 times as much.
 */
#ifndef MGPU_POSITION_BITS_H
#define MGPU_POSITION_BITS_H

/* words is palloc'd; NULL: there are none. */
typedef struct position_bits
{
	uint64	   *words;
	int64		num_bits;
} position_bits;

/* No position yet, of those below num_bits. */
extern void position_bits_start(position_bits *bits, int64 num_bits);
extern void position_bits_free(position_bits *bits);

static inline void
position_bits_add(position_bits *bits, int64 position)
{
	bits->words[position / 64] |= UINT64CONST(1) << (position % 64);
}

extern int64 position_bits_count(const position_bits *bits);

/* The first position from begin on, or num_bits. */
extern int64 position_bits_next(const position_bits *bits, int64 begin);

/* Up to most_positions of those from *next on, which is moved behind the last of them; how many. */
extern int64 position_bits_list(const position_bits *bits, int64 *next, uint32 *positions, int64 most_positions);

#endif							/* MGPU_POSITION_BITS_H */
