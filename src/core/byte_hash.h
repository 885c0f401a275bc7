/*
 * byte_hash.h
 *		A hash of bytes, for tables in memory.
 *
 * Sixteen bytes at a time are two numbers, whose product has 128 bits; its halves are folded to one.  This is the idea of
 * wyhash.  Short keys take two multiplications, where PostgreSQL's hash_bytes_extended takes thirty dependent steps or more.
 * Values differ between byte orders, so they belong neither in files nor in indexes.
 */
#ifndef MGPU_BYTE_HASH_H
#define MGPU_BYTE_HASH_H

#include "short_bytes.h"

static inline uint64_t
mgpu_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128) a * b;

	return (uint64_t) product ^ (uint64_t) (product >> 64);
}

static inline uint64_t
mgpu_load_8(const char *bytes)
{
	uint64_t	value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Hash size bytes.  Hashes are independent if their seeds differ in many bits. */
static inline uint64_t
mgpu_byte_hash(const char *bytes, size_t size, uint64_t seed)
{
	uint64_t	hash = seed ^ UINT64_C(0xa0761d6478bd642f) ^ size * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t	a;
	uint64_t	b;

	for (; size > 16; bytes += 16, size -= 16)
		hash = mgpu_hash_fold(mgpu_load_8(bytes) ^ UINT64_C(0xe7037ed1a0b428db), mgpu_load_8(bytes + 8) ^ hash);
	mgpu_load_short(bytes, size, &a, &b);
	hash = mgpu_hash_fold(a ^ UINT64_C(0xe7037ed1a0b428db), b ^ hash);
	return mgpu_hash_fold(hash ^ UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3));
}

#endif							/* MGPU_BYTE_HASH_H */
