/*
 * byte_encode.h
 *		Encodes values as byte strings that memcmp() orders as the type does.
 *
 * Each function writes the string of one value and returns its length in bytes, or 0 if the value
 * is malformed.  value points behind the length word of a varlena, or to all of a fixed-width
 * value.  It has size bytes and the alignment of its type.  Values that are equal for the type
 * have equal strings.
 */
#ifndef MGPU_KEYS_BYTE_ENCODE_H
#define MGPU_KEYS_BYTE_ENCODE_H

typedef Size (*byte_encode_fn) (const char *value, Size size, unsigned char *out);

/* Upper limit for the bytes of all strings of an array with data_bytes bytes of elements. */
#define BYTE_ENCODE_SPACE(data_bytes) ((data_bytes) + (data_bytes) / 2 + 16)

/* These strings contain no zero bytes. */
extern Size byte_encode_numeric(const char *value, Size size, unsigned char *out);
extern Size byte_encode_bits(const char *value, Size size, unsigned char *out);

extern Size byte_encode_network(const char *value, Size size, unsigned char *out);
extern Size byte_encode_interval(const char *value, Size size, unsigned char *out);

#endif							/* MGPU_KEYS_BYTE_ENCODE_H */
