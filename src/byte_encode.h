/*
 * byte_encode.h
 *		Values as byte strings that order, as memcmp has it, as their type does.
 *
 * Each writes the string of one value (what follows a varlena's length word, or
 * all of a fixed-width one: size bytes, aligned as the type wants) and returns
 * how many bytes it has, 0 if the value is not as it should be.  Values that the
 * type calls equal have the same string.
 */
#ifndef MGPU_BYTE_ENCODE_H
#define MGPU_BYTE_ENCODE_H

typedef Size (*byte_encode_fn) (const char *value, Size size, unsigned char *out);

/* Bytes of all strings of an array with so many bytes of elements, at most. */
#define BYTE_ENCODE_ROOM(data_bytes) ((data_bytes) + (data_bytes) / 2 + 16)

/* No zero bytes in it. */
extern Size byte_encode_numeric(const char *value, Size size, unsigned char *out);
extern Size byte_encode_bits(const char *value, Size size, unsigned char *out);

/*
 * Of a bit string's string room bytes from offset on, or what there is of them.
 * Returns how many; 0 as well where it ends before.
 */
extern Size byte_encode_bits_part(const char *value, Size size, Size offset, Size room, unsigned char *out);

/* The order of two bit strings, as memcmp says it of their strings; both are as they should be. */
extern int	byte_compare_bits(const char *a, const char *b);

extern Size byte_encode_network(const char *value, Size size, unsigned char *out);
extern Size byte_encode_interval(const char *value, Size size, unsigned char *out);

#endif							/* MGPU_BYTE_ENCODE_H */
