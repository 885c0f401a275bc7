/*
 * merge/key_order.cuh
 *		Orders of stored keys, for kernels that compare codes but move the bytes.
 *
 * An Order turns a stored key into what a merge holds in registers: the code (key_codec.h,
 * complemented for descending), and the bytes where the code does not determine them.
 *
 *	 integers	code = stored ^ flip: the sign bit, all bits or both; one operation
 *	 floats		the codec's code ^ flip, and the bytes, since -0 and +0 share a code,
 *				and so do all NaNs
 *	 bytes		two words in big-endian order, ^ flip
 *
 * `last` is a stored key that nothing sorts behind; it fills gaps.  A float's code takes some 14
 * instructions, and a merge makes nearly three an item.  But a tile whose ends are numbers of one
 * sign holds nothing else, or is unsorted, and orders by its bits as integers do (`plain`).
 * Restoring zeros and NaNs after a merge of codes was rejected: here the bytes cost one register.
 */
#ifndef MGPU_MERGE_KEY_ORDER_CUH
#define MGPU_MERGE_KEY_ORDER_CUH

#include <string.h>

#include "core/key_codec.h"
#include "device/map.h"
#include "device/merge_path.cuh"

/* Codes of 1, 2 and 4 bytes are held in 32 bits. */
template <int bytes>
struct mgpu_code_of
{
	typedef uint32_t type;
};

template <>
struct mgpu_code_of<8>
{
	typedef uint64_t type;
};

template <typename Code>
MGPU_HOST_DEVICE float
mgpu_code_distance(Code first, Code second)
{
	return first < second ? -(float) (second - first) : (float) (first - second);
}

template <typename Stored_>
struct mgpu_integer_order
{
	typedef Stored_ Stored;
	typedef typename mgpu_code_of<sizeof(Stored)>::type Code;
	typedef Code Held;

	static constexpr bool has_plain_tiles = false;

	Code		flip;
	Stored		last;

	MGPU_MEMBER mgpu_integer_order(Code flip_, Stored last_)
		: flip(flip_), last(last_)
	{
	}

	MGPU_MEMBER mgpu_integer_order(const mgpu_codec &codec)
	{
		Code		sign = (Code) 1 << (sizeof(Stored) * 8 - 1);
		Code		all = (Code) (Stored) ~(Stored) 0;

		flip = (codec.kind == MGPU_KEY_SIGNED ? sign : 0) ^ (codec.descending ? all : 0);
		last = (Stored) (all ^ flip);
	}

	MGPU_MEMBER Held
	hold(Stored stored) const
	{
		return (Code) stored ^ flip;
	}

	MGPU_MEMBER Stored
	stored(Held held) const
	{
		return (Stored) (held ^ flip);
	}

	/* The distance from `first` back to `second`, for searches.  Keys with few values do not use it. */
	MGPU_MEMBER float
	distance(Stored first, Stored second) const
	{
		return sizeof(Stored) < 4 ? 0 : mgpu_code_distance(hold(first), hold(second));
	}

	static MGPU_MEMBER Code
	code(Held held)
	{
		return held;
	}
};

MGPU_HOST_DEVICE uint32_t
mgpu_encode_float(uint32_t bits)
{
	return mgpu_encode_f32(bits);
}

MGPU_HOST_DEVICE uint64_t
mgpu_encode_float(uint64_t bits)
{
	return mgpu_encode_f64(bits);
}

MGPU_HOST_DEVICE float
mgpu_number_of(uint32_t bits)
{
	float		number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

MGPU_HOST_DEVICE double
mgpu_number_of(uint64_t bits)
{
	double		number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

template <typename Stored_>
struct mgpu_float_order
{
	typedef Stored_ Stored;
	typedef Stored_ Code;
	typedef mgpu_integer_order<Stored_> Plain;

	struct Held
	{
		Code		code;
		Stored		bits;
	};

	static constexpr bool has_plain_tiles = true;
	static constexpr Stored sign = sizeof(Stored) == 8 ? (Stored) MGPU_F64_SIGN : (Stored) MGPU_F32_SIGN;
	static constexpr Stored infinity = sizeof(Stored) == 8 ? (Stored) MGPU_F64_INF : (Stored) MGPU_F32_INF;

	Code		flip;
	Stored		last;

	MGPU_MEMBER mgpu_float_order(const mgpu_codec &codec)
	{
		Stored		nan = sizeof(Stored) == 8 ? (Stored) MGPU_F64_NAN : (Stored) MGPU_F32_NAN;

		flip = codec.descending ? (Code) ~(Code) 0 : 0;
		last = codec.descending ? sign | infinity : nan;
	}

	/* Neither zero nor NaN? */
	static MGPU_MEMBER bool
	is_plain(Stored bits)
	{
		return (Stored) ((bits & ~sign) - 1) < infinity;
	}

	/*
	 * May this key follow a tile of plain keys of one sign without a change of its order? Zeros,
	 * numbers of the other sign, and NaNs lie outside the plain range on the side on which they
	 * sort, except NaNs whose sign is set.
	 */
	static MGPU_MEMBER bool
	may_follow_plain(Stored bits)
	{
		return bits <= (sign | infinity);
	}

	/* The order of plain keys of one sign. */
	MGPU_MEMBER Plain
	plain(bool negative) const
	{
		return Plain((negative ? ~(Code) 0 : sign) ^ flip, last);
	}

	MGPU_MEMBER Held
	hold(Stored stored) const
	{
		Held		held = {mgpu_encode_float(stored) ^ flip, stored};

		return held;
	}

	MGPU_MEMBER Stored
	stored(Held held) const
	{
		return held.bits;
	}

	/* By numbers, not codes, which lie apart where the sign changes.  May be NaN or infinite. */
	MGPU_MEMBER float
	distance(Stored first, Stored second) const
	{
		float		ascending = (float) (mgpu_number_of(first) - mgpu_number_of(second));

		return flip != 0 ? -ascending : ascending;
	}

	static MGPU_MEMBER Code
	code(Held held)
	{
		return held.code;
	}
};

struct alignas(16) mgpu_words
{
	uint64_t	high;			/* of a stored key: the first eight bytes */
	uint64_t	low;

	MGPU_MEMBER bool
	operator<(const mgpu_words &other) const
	{
		return high < other.high || (high == other.high && low < other.low);
	}
};

struct mgpu_bytes_order
{
	typedef mgpu_words Stored;
	typedef mgpu_words Code;
	typedef mgpu_words Held;

	static constexpr bool has_plain_tiles = false;

	uint64_t	flip;
	Stored		last;

	MGPU_MEMBER mgpu_bytes_order(const mgpu_codec &codec)
	{
		flip = codec.descending ? ~UINT64_C(0) : 0;
		last.high = last.low = ~flip;
	}

	MGPU_MEMBER Held
	hold(Stored stored) const
	{
		Held		held = {mgpu_swap_64(stored.high) ^ flip, mgpu_swap_64(stored.low) ^ flip};

		return held;
	}

	MGPU_MEMBER Stored
	stored(Held held) const
	{
		return hold(held);			/* swapping and flipping undo themselves */
	}

	/* By the first eight bytes. */
	MGPU_MEMBER float
	distance(Stored first, Stored second) const
	{
		return mgpu_code_distance(hold(first).high, hold(second).high);
	}

	static MGPU_MEMBER Code
	code(Held held)
	{
		return held;
	}
};

/* Does `first` sort before `second`? Equal keys do not. */
template <class Order>
MGPU_HOST_DEVICE bool
mgpu_sorts_before(const Order &order, typename Order::Stored first, typename Order::Stored second)
{
	return Order::code(order.hold(first)) < Order::code(order.hold(second));
}

#endif							/* MGPU_MERGE_KEY_ORDER_CUH */
