/*
 * byte_encode.c
 *		Encodes values as byte strings that memcmp() orders as the type does.
 *
 * A numeric is decoded from its stored format.  The format is private to PostgreSQL's numeric
 * module, but it was fixed on disk long before the oldest supported version.  Calling the type's
 * functions for each digit was rejected: it would cost more than the comparisons that the
 * encoding saves.  Strings of numeric and bit values contain no zero bytes, so their codes need
 * no count (core/byte_keys.h).
 */
#include "postgres.h"

#include <sys/socket.h>

#include "datatype/timestamp.h"
#include "utils/inet.h"

#include "keys/byte_encode.h"

/* ---------------------------------------------------------------- numeric */

/* The stored header: 16 bits in the short format, 32 bits otherwise. */
#define SIGN_MASK 0xC000
#define SIGN_NEGATIVE 0x4000
#define SIGN_SHORT 0x8000
#define SIGN_SPECIAL 0xC000
#define SPECIAL_MASK 0xF000
#define SPECIAL_NAN 0xC000
#define SPECIAL_INFINITY 0xD000
#define SPECIAL_MINUS_INFINITY 0xF000
#define SHORT_NEGATIVE 0x2000
#define SHORT_WEIGHT_SIGN 0x0040
#define SHORT_WEIGHT_MASK 0x003F

/*
 * First byte of a number.  For a positive number it encodes the weight: the exponent, to base
 * 10000, of the first digit.  Rare weights follow in three bytes.  A negative number is the
 * complement of the string of its absolute value.
 */
#define FIRST_MINUS_INFINITY 0x01
#define FIRST_ZERO 0x80
#define FIRST_SMALL 0x81
#define FIRST_WEIGHT_0 0xAA
#define FIRST_LARGE 0xD3
#define FIRST_INFINITY 0xFE
#define FIRST_NAN 0xFF
#define COMMON_WEIGHT 40

/*
 * Ends a negative number.  It is above all digits: of two numbers with the same beginning, the
 * longer is the lesser.
 */
#define NEGATIVE_END 0xFF

typedef struct stored_number
{
	const uint16 *digits;		/* base 10000, no zeros first or last */
	int			num_digits;
	int			weight;
	bool		negative;
} stored_number;

/* False: the value is too short. */
static bool
read_number(const char *value, Size size, stored_number *number)
{
	const uint16 *words = (const uint16 *) value;
	uint16		header = words[0];
	Size		header_bytes = sizeof(uint16);

	if (header & SIGN_SHORT)
	{
		number->negative = (header & SHORT_NEGATIVE) != 0;
		number->weight = header & SHORT_WEIGHT_MASK;
		if (header & SHORT_WEIGHT_SIGN)
			number->weight -= SHORT_WEIGHT_MASK + 1;
	}
	else
	{
		header_bytes += sizeof(int16);
		if (size < header_bytes)
			return false;
		number->negative = (header & SIGN_MASK) == SIGN_NEGATIVE;
		number->weight = (int16) words[1];
	}
	number->digits = words + header_bytes / sizeof(uint16);
	number->num_digits = (size - header_bytes) / sizeof(uint16);
	while (number->num_digits > 0 && number->digits[0] == 0)
	{
		number->digits++;
		number->num_digits--;
		number->weight--;
	}
	while (number->num_digits > 0 && number->digits[number->num_digits - 1] == 0)
		number->num_digits--;
	return true;
}

static Size
encode_special(uint16 header, unsigned char *out)
{
	switch (header & SPECIAL_MASK)
	{
		case SPECIAL_NAN:
			out[0] = FIRST_NAN;
			return 1;
		case SPECIAL_INFINITY:
			out[0] = FIRST_INFINITY;
			return 1;
		case SPECIAL_MINUS_INFINITY:
			out[0] = FIRST_MINUS_INFINITY;
			return 1;
		default:
			return 0;
	}
}

/* Write the weight of a positive number.  Returns the number of bytes written. */
static Size
encode_weight(int weight, unsigned char *out)
{
	uint32		above = weight + 65536;

	if (weight >= -COMMON_WEIGHT && weight <= COMMON_WEIGHT)
	{
		out[0] = FIRST_WEIGHT_0 + weight;
		return 1;
	}
	out[0] = weight < 0 ? FIRST_SMALL : FIRST_LARGE;
	out[1] = 1 + (above >> 14);
	out[2] = 1 + (above >> 7 & 0x7F);
	out[3] = 1 + (above & 0x7F);
	return 4;
}

Size
byte_encode_numeric(const char *value, Size size, unsigned char *out)
{
	stored_number number;
	Size		bytes;

	if (size < sizeof(uint16))
		return 0;
	if ((*(const uint16 *) value & SIGN_MASK) == SIGN_SPECIAL)
		return encode_special(*(const uint16 *) value, out);
	if (!read_number(value, size, &number))
		return 0;
	if (number.num_digits == 0)
	{
		out[0] = FIRST_ZERO;
		return 1;
	}
	bytes = encode_weight(number.weight, out);
	for (int i = 0; i < number.num_digits; i++)
	{
		uint16		digit = number.digits[i];

		if (digit > 9999)
			return 0;
		/* 7 bits in each byte, plus 1: no byte may be zero */
		out[bytes++] = 1 + (digit >> 7);
		out[bytes++] = 1 + (digit & 0x7F);
	}
	if (!number.negative)
		return bytes;
	for (Size i = 0; i < bytes; i++)
		out[i] = ~out[i];
	out[bytes++] = NEGATIVE_END;
	return bytes;
}

/* ------------------------------------------------------------- bit strings */

#define GROUP_BITS 7
#define GROUP_FLAG 0x80

/* False: the value is shorter than its number of bits requires. */
static bool
read_num_bits(const char *value, Size size, int32 *num_bits)
{
	if (size < sizeof(int32))
		return false;
	*num_bits = *(const int32 *) value;
	return *num_bits >= 0 && (Size) *num_bits <= (size - sizeof(int32)) * BITS_PER_BYTE;
}

static inline Size
count_groups(int32 num_bits)
{
	return ((Size) num_bits + GROUP_BITS - 1) / GROUP_BITS;
}

/* The final byte: 1 + the number of bits in the last group. */
static inline unsigned char
last_byte(int32 num_bits)
{
	return 1 + (num_bits == 0 ? 0 : (num_bits - 1) % GROUP_BITS + 1);
}

/*
 * Groups of seven bits, each with a flag bit, then a byte with the number of bits in the last
 * group.  B'1' comes before B'10': their groups are equal, and 1 bit is less than 2.  Such a
 * count is less than any group, because of the flag bit.
 */
Size
byte_encode_bits(const char *value, Size size, unsigned char *out)
{
	const unsigned char *bits = (const unsigned char *) value + sizeof(int32);
	Size		num_groups;
	uint32		window = 0;
	int			window_bits = 0;
	int32		num_bits;

	if (!read_num_bits(value, size, &num_bits))
		return 0;
	num_groups = count_groups(num_bits);
	for (Size i = 0; i < num_groups; i++)
	{
		/* zeros follow the last byte */
		if (window_bits < GROUP_BITS)
		{
			window = window << BITS_PER_BYTE;
			if (bits < (const unsigned char *) value + size)
				window |= *bits++;
			window_bits += BITS_PER_BYTE;
		}
		window_bits -= GROUP_BITS;
		out[i] = GROUP_FLAG | (window >> window_bits & 0x7F);
	}
	out[num_groups] = last_byte(num_bits);
	return num_groups + 1;
}

/* ------------------------------------------------------------ inet and cidr */

#define V4_BYTES 4
#define V6_BYTES 16

/*
 * network_cmp orders by family (IPv4 first), then by the bits that both networks have, then by
 * mask size (the wider network first), then by the whole address.  The string has the family, the
 * network's bits padded with zeros, the mask size, and the rest of the address.  Padding keeps
 * the order: where two networks first differ beyond the shorter mask, the shorter one has a zero.
 * The rest of the address begins after the network's whole bytes, which are already in front.
 */
Size
byte_encode_network(const char *value, Size size, unsigned char *out)
{
	const inet_struct *network = (const inet_struct *) value;
	Size		header = offsetof(inet_struct, ipaddr);
	Size		address_bytes;
	Size		whole;

	if (size < header)
		return 0;
	address_bytes = network->family == PGSQL_AF_INET ? V4_BYTES : V6_BYTES;
	if (size < header + address_bytes || network->bits > address_bytes * BITS_PER_BYTE)
		return 0;
	whole = network->bits / BITS_PER_BYTE;
	*out++ = network->family;
	memset(out, 0, address_bytes);
	memcpy(out, network->ipaddr, whole);
	if (network->bits % BITS_PER_BYTE != 0)
		out[whole] = network->ipaddr[whole] & (0xFF00 >> network->bits % BITS_PER_BYTE);
	out[address_bytes] = network->bits;
	memcpy(out + address_bytes + 1, network->ipaddr + whole, address_bytes - whole);
	return 1 + address_bytes + 1 + address_bytes - whole;
}

/* ---------------------------------------------------------------- interval */

static void
put_big_endian(uint64 number, unsigned char *out)
{
	for (int i = sizeof(number) - 1; i >= 0; i--, number >>= 8)
		out[i] = (unsigned char) number;
}

/* Days of 24 hours, then microseconds of the last day.  Every span fits. */
Size
byte_encode_interval(const char *value, Size size, unsigned char *out)
{
	const Interval *span = (const Interval *) value;
	int64		days = (int64) span->month * DAYS_PER_MONTH + span->day;
	int64		usecs = span->time % USECS_PER_DAY;

	days += span->time / USECS_PER_DAY;
	if (usecs < 0)
	{
		usecs += USECS_PER_DAY;
		days--;
	}
	put_big_endian((uint64) days ^ UINT64CONST(0x8000000000000000), out);
	put_big_endian((uint64) usecs, out + sizeof(uint64));
	return 2 * sizeof(uint64);
}
