/*
 * unit_keys.h
 *		Random keys of every type and distribution, and their order by qsort.
 */
#ifndef MGPU_UNIT_KEYS_H
#define MGPU_UNIT_KEYS_H

#include "core/key_codec.h"
#include "unit.h"

/* A key type and its name in messages. */
typedef struct unit_type
{
	const char *name;
	uint32_t	kind;
	uint32_t	width;
} unit_type;

static const unit_type unit_types[] = {
	{"u1", MGPU_KEY_UNSIGNED, 1}, {"u2", MGPU_KEY_UNSIGNED, 2}, {"u4", MGPU_KEY_UNSIGNED, 4},
	{"u8", MGPU_KEY_UNSIGNED, 8}, {"s2", MGPU_KEY_SIGNED, 2}, {"s4", MGPU_KEY_SIGNED, 4},
	{"s8", MGPU_KEY_SIGNED, 8}, {"f4", MGPU_KEY_FLOAT, 4}, {"f8", MGPU_KEY_FLOAT, 8},
	{"b16", MGPU_KEY_BYTES, 16}
};

#define UNIT_NUM_TYPES ((int) (sizeof(unit_types) / sizeof(unit_types[0])))

typedef enum unit_shape
{
	UNIT_RANDOM,
	UNIT_SORTED,
	UNIT_REVERSED,				/* strictly descending if the width allows */
	UNIT_REVERSED_TIES,
	UNIT_EQUAL,
	UNIT_FEW,					/* five distinct keys */
	UNIT_ZIPF,
	UNIT_OUTLIER,				/* a dense range and one distant key */
	UNIT_MAXIMA,				/* most keys have all bits set */
	UNIT_SPECIAL,				/* floats: zeros of both signs, NaN, infinities */
	UNIT_HIGH_EQUAL,			/* differ only in the last bytes */
	UNIT_NEARLY_SORTED,
	UNIT_NUM_SHAPES
} unit_shape;

static const char *const unit_shape_names[] = {
	"random", "sorted", "reversed", "reversed with ties", "equal", "few", "zipf", "outlier", "maxima",
	"special", "high equal", "nearly sorted"
};

typedef struct unit_code
{
	uint64_t	high;
	uint64_t	low;
	uint32_t	index;
} unit_code;

/* Store the key whose order code is (high, low): the inverse of the codec. */
static inline void
unit_store_number(const unit_type *type, void *keys, uint64_t i, uint64_t high, uint64_t low)
{
	char	   *key = (char *) keys + i * type->width;
	uint64_t	bits;

	if (type->width == 16)
	{
		bits = mgpu_swap_64(high);
		memcpy(key, &bits, 8);
		bits = mgpu_swap_64(low);
		memcpy(key + 8, &bits, 8);
		return;
	}
	if (type->width == 8)
		bits = mgpu_decode_64(low, type->kind);
	else
		bits = mgpu_decode_32((uint32_t) (low & (UINT64_MAX >> (64 - 8 * type->width))), type->kind, type->width);
	memcpy(key, &bits, type->width);
}

static inline unit_code
unit_code_of(const unit_type *type, const void *keys, uint64_t i, uint32_t descending)
{
	const char *key = (const char *) keys + i * type->width;
	unit_code	code = {0, 0, (uint32_t) i};
	uint64_t	bits = 0;

	if (type->width == 16)
	{
		memcpy(&bits, key, 8);
		code.high = mgpu_swap_64(bits);
		memcpy(&bits, key + 8, 8);
		code.low = mgpu_swap_64(bits);
	}
	else
	{
		memcpy(&bits, key, type->width);
		code.low = type->width == 8 ? mgpu_encode_64(bits, type->kind) :
			mgpu_encode_32((uint32_t) bits, type->kind, type->width);
	}
	if (descending)
	{
		code.high = ~code.high;
		code.low = ~code.low;
	}
	return code;
}

static inline int
unit_compare_codes(const void *x, const void *y)
{
	const unit_code *a = x;
	const unit_code *b = y;

	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static inline void
unit_fill_special(const unit_type *type, void *keys, uint64_t i)
{
	static const uint32_t bits_32[] = {0, 0x80000000, 0x7FC00000, 0x7F800000, 0xFF800000, 0xFFC00001, 1, 0x80000001};
	static const uint64_t bits_64[] = {
		0, MGPU_F64_SIGN, MGPU_F64_NAN, MGPU_F64_INF, MGPU_F64_INF | MGPU_F64_SIGN,
		MGPU_F64_NAN | MGPU_F64_SIGN | 1, 1, MGPU_F64_SIGN | 1
	};
	uint64_t	choice = unit_random_below(8);
	uint64_t	bits = unit_random_below(3) == 0 ? unit_random() : type->width == 4 ? bits_32[choice] : bits_64[choice];

	memset((char *) keys + i * type->width, 0, type->width);
	memcpy((char *) keys + i * type->width, &bits, type->width < 8 ? type->width : 8);
}

static inline void
unit_fill(const unit_type *type, unit_shape shape, void *keys, uint64_t num_items)
{
	uint64_t	step = UINT64_MAX >> (64 - 8 * (type->width < 8 ? type->width : 8));

	step = num_items > 0 && step / (num_items + 1) > 0 ? step / (num_items + 1) : 1;
	for (uint64_t i = 0; i < num_items; i++)
	{
		uint64_t	high = 0;
		uint64_t	low = 0;

		switch (shape)
		{
			case UNIT_RANDOM:
				high = unit_random();
				low = unit_random();
				break;
			case UNIT_SORTED:
				high = low = i / 2 * 2 * step;
				break;
			case UNIT_REVERSED:
				high = low = (num_items - i) * step;
				break;
			case UNIT_REVERSED_TIES:
				high = low = (num_items - i) / 3 * 3 * step;
				break;
			case UNIT_EQUAL:
				high = low = 77;
				break;
			case UNIT_FEW:
				high = low = unit_random_below(5) * 50;
				break;
			case UNIT_ZIPF:
				low = 1000 / (1 + unit_random_below(1000));
				high = low / 10;
				break;
			case UNIT_OUTLIER:
				high = i == num_items / 2 ? UINT64_MAX : 0;
				low = i == num_items / 2 ? UINT64_MAX - 3 : unit_random_below(3000);
				break;
			case UNIT_MAXIMA:
				high = low = UINT64_MAX - (unit_random_below(10) == 0 ? unit_random_below(3) : 0);
				break;
			case UNIT_HIGH_EQUAL:
				high = UINT64_C(0x123456789ABCDEF0);
				low = UINT64_C(0x4000000000000000) + (unit_random() >> (i % 2 ? 40 : 60));
				break;
			case UNIT_NEARLY_SORTED:
				high = low = (i ^ unit_random_below(8)) * step;
				break;
			default:
				unit_fill_special(type, keys, i);
				continue;
		}
		unit_store_number(type, keys, i, high, low);
	}
}

/*
 * After the call, codes[i].index is the position in keys of the i-th key in order.
 * codes has num_items entries.
 */
static inline void
unit_order(const unit_type *type, const void *keys, uint64_t num_items, uint32_t descending, unit_code *codes)
{
	for (uint64_t i = 0; i < num_items; i++)
		codes[i] = unit_code_of(type, keys, i, descending);
	qsort(codes, num_items, sizeof(*codes), unit_compare_codes);
}

/* A key's bytes after encoding and decoding: floats are canonical. */
static inline void
unit_canonical_key(const unit_type *type, const void *keys, uint64_t i, void *key)
{
	unit_code	code = unit_code_of(type, keys, i, 0);

	unit_store_number(type, key, 0, code.high, code.low);
}

#endif							/* MGPU_UNIT_KEYS_H */
