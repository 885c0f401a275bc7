/*
 * numeric_format.h
 *		How rows store numerics of few digits: a header of two bytes, then digits of base 10,000 without zeros at the ends.
 *
 * The names and the layout are those of PostgreSQL's numeric.c, which does not export them.
 */
#ifndef MGPU_NUMERIC_FORMAT_H
#define MGPU_NUMERIC_FORMAT_H

#define DIGIT_BASE 10000
#define DIGIT_PLACES 4

/* The header: two bits say that it is a short one, then sign, 6 bits of display scale, 7 bits of weight. */
#define NUMERIC_SPECIAL 0xC000
#define NUMERIC_SHORT 0x8000
#define SHORT_NEGATIVE 0x2000
#define SHORT_SCALE_SHIFT 7
#define SHORT_SCALE_MASK 0x3F
#define SHORT_WEIGHT_MASK 0x7F
#define LONG_SCALE_MASK 0x3FFF	/* of a header that is not short: the display scale is all of its lower bits */
#define SHORT_SCALE(header) (((header) >> SHORT_SCALE_SHIFT) & SHORT_SCALE_MASK)
#define SHORT_WEIGHT(header) ((int) ((header) & 0x3F) - (int) ((header) & 0x40))

#endif							/* MGPU_NUMERIC_FORMAT_H */
