/*
 * byte_encode.h
 *		Values as byte strings that order, as memcmp has it, as their type does.
 *
 * Each writes the string of one value (what follows a varlena's length word, or
 * all of a fixed-width one: size bytes, aligned as the type wants) and returns
 * how many bytes it has, 0 if the value is not as it should be.  Values that the
 * type calls equal have the same string.
 */
#ifndef MGPU_KEYS_BYTE_ENCODE_H
#define MGPU_KEYS_BYTE_ENCODE_H

typedef Size (*byte_encode_fn) (const char *value, Size size, unsigned char *out);

/* Bytes of all strings of an array with so many bytes of elements, at most. */
#define BYTE_ENCODE_ROOM(data_bytes) ((data_bytes) + (data_bytes) / 2 + 16)

/* No zero bytes in it. */
extern Size byte_encode_numeric(const char *value, Size size, unsigned char *out);
extern Size byte_encode_bits(const char *value, Size size, unsigned char *out);

extern Size byte_encode_network(const char *value, Size size, unsigned char *out);
extern Size byte_encode_interval(const char *value, Size size, unsigned char *out);

#endif							/* MGPU_KEYS_BYTE_ENCODE_H */
