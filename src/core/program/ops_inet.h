/*
 * program/ops_inet.h
 *		Operations on inet and cidr.  A value is what rows store of it: a byte for the family, one for the bits of its network, and the address.
 *
 * An address is two words, the first bit of which is the highest; IPv4 has the upper half of the first.  So both families are one code.  Bytes that
 * are no such value are a fault.
 *
 * Integers stand for a value where it is a key, is ordered or comes back: those of a string of bytes, as in ops_words.h.  The string has the family,
 * the network with zeros behind it, and its bits; then, if the address has bits behind the network, all of the address.  So it orders as
 * network_cmp does: where two networks differ behind the shorter one, that has a zero.  Hosts and networks are 6 bytes of IPv4, or 18 of IPv6.
 * keys/byte_encode.c has such strings for sorts, but with the rest of an address in all of them: a host would take two integers.
 */
#ifndef MGPU_OPS_INET_H
#define MGPU_OPS_INET_H

#include "core/inet_format.h"

typedef struct mgpu_inet
{
	uint8_t		family;
	uint8_t		bits;
	uint8_t		most_bits;
	uint64_t	words[2];
} mgpu_inet;

/* false: the bytes are no inet. */
MGPU_CODEC bool
mgpu_find_inet(const char *bytes, uint32_t length, mgpu_inet *inet)
{
	bool		is_v4 = length == MGPU_INET_V4_BYTES && bytes[0] == MGPU_INET_V4;

	if (!is_v4 && !(length == MGPU_INET_V6_BYTES && bytes[0] == MGPU_INET_V6))
		return false;
	inet->family = (uint8_t) bytes[0];
	inet->bits = (uint8_t) bytes[1];
	inet->most_bits = is_v4 ? 32 : 128;
	inet->words[0] = mgpu_swap_64(mgpu_load_bits(bytes + 2, is_v4 ? 4 : 8));
	inet->words[1] = is_v4 ? 0 : mgpu_swap_64(mgpu_load_bits(bytes + 10, 8));
	return inet->bits <= inet->most_bits;
}

/* The first bits of an address, in one of its words. */
MGPU_CODEC uint64_t
mgpu_network_mask(uint32_t bits, int number)
{
	uint32_t	in_word = number == 0 ? bits : bits < 64 ? 0 : bits - 64;

	return in_word == 0 ? 0 : in_word >= 64 ? UINT64_MAX : UINT64_MAX << (64 - in_word);
}

/* Of the first bits of two addresses. */
MGPU_CODEC int
mgpu_network_outcome(const mgpu_inet *a, const mgpu_inet *b, uint32_t bits)
{
	for (int i = 0; i < 2; i++)
	{
		uint64_t	x = a->words[i] & mgpu_network_mask(bits, i);
		uint64_t	y = b->words[i] & mgpu_network_mask(bits, i);

		if (x != y)
			return x < y ? MGPU_IS_LESS : MGPU_IS_GREATER;
	}
	return MGPU_IS_EQUAL;
}

MGPU_CODEC int
mgpu_bits_outcome(uint32_t a, uint32_t b)
{
	return a < b ? MGPU_IS_LESS : a > b ? MGPU_IS_GREATER : MGPU_IS_EQUAL;
}

/* The order of network_cmp. */
MGPU_CODEC int
mgpu_inet_outcome(const mgpu_inet *a, const mgpu_inet *b)
{
	int			outcome = mgpu_bits_outcome(a->family, b->family);

	if (outcome == MGPU_IS_EQUAL)
		outcome = mgpu_network_outcome(a, b, a->bits < b->bits ? a->bits : b->bits);
	if (outcome == MGPU_IS_EQUAL)
		outcome = mgpu_bits_outcome(a->bits, b->bits);
	return outcome == MGPU_IS_EQUAL ? mgpu_network_outcome(a, b, a->most_bits) : outcome;
}

/* How the bits of two networks compare, of which one is in the other; 0: none is. */
MGPU_CODEC int
mgpu_inet_within(const mgpu_inet *a, const mgpu_inet *b)
{
	if (a->family != b->family || mgpu_network_outcome(a, b, a->bits < b->bits ? a->bits : b->bits) != MGPU_IS_EQUAL)
		return 0;
	return mgpu_bits_outcome(a->bits, b->bits);
}

#define COMPARISON(name, outcome_of) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]); \
		mgpu_inet	x; \
		mgpu_inet	y; \
		bool		are_inets = state == MGPU_IS_VALUE && mgpu_find_inet(a.bytes[i], a.lengths[i], &x) && mgpu_find_inet(b.bytes[i], b.lengths[i], &y); \
		\
		to.states[i] = mgpu_state_unless(state, !are_inets); \
		to.integers[i] = are_inets && (outcome_of(&x, &y) & op.number) != 0; \
	} \
}

COMPARISON(compare_inet, mgpu_inet_outcome)
COMPARISON(inet_within, mgpu_inet_within)

/* The family, as 4 or 6, or the bits of the network. */
MGPU_CODEC void
mgpu_run_inet_part(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_inet	inet;
		bool		is_inet = a.states[i] == MGPU_IS_VALUE && mgpu_find_inet(a.bytes[i], a.lengths[i], &inet);

		to.states[i] = mgpu_state_unless(a.states[i], !is_inet);
		to.integers[i] = !is_inet ? 0 : op.number ? inet.bits : inet.family == MGPU_INET_V4 ? 4 : 6;
	}
}

/* ---- integers that stand for a value */

/* Bytes of the string. */
MGPU_CODEC uint32_t
mgpu_inet_length(const mgpu_inet *inet)
{
	uint32_t	bytes = inet->most_bits / 8u;
	bool		is_network = (inet->words[0] & ~mgpu_network_mask(inet->bits, 0)) == 0 && (inet->words[1] & ~mgpu_network_mask(inet->bits, 1)) == 0;

	return 2 + (is_network ? bytes : 2 * bytes);
}

/* Its bytes from 8 * number on. */
MGPU_CODEC uint64_t
mgpu_inet_word(const mgpu_inet *inet, uint32_t length, uint32_t number)
{
	bool		has_rest = length > 2u + inet->most_bits / 8u;
	uint64_t	network[2];
	uint64_t	address[2];

	for (int i = 0; i < 2; i++)
	{
		network[i] = inet->words[i] & mgpu_network_mask(inet->bits, i);
		address[i] = has_rest ? inet->words[i] : 0;
	}
	if (inet->family == MGPU_INET_V4)
		return number == 0 ? (uint64_t) inet->family << 56 | network[0] >> 8 | (uint64_t) inet->bits << 16 | address[0] >> 48 :
			number == 1 ? address[0] << 16 : 0;
	switch (number)
	{
		case 0:
			return (uint64_t) inet->family << 56 | network[0] >> 8;
		case 1:
			return network[0] << 56 | network[1] >> 8;
		case 2:
			return network[1] << 56 | (uint64_t) inet->bits << 48 | address[0] >> 16;
		case 3:
			return address[0] << 48 | address[1] >> 16;
		case 4:
			return address[1] << 48;
		default:
			return 0;
	}
}

MGPU_CODEC void
mgpu_run_word_inet(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	uint32_t	number = (uint32_t) op.number;

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_inet	inet = {0, 0, 0, {0, 0}};
		bool		is_inet = a.states[i] == MGPU_IS_VALUE && mgpu_find_inet(a.bytes[i], a.lengths[i], &inet);
		uint32_t	length = is_inet ? mgpu_inet_length(&inet) : 0;
		uint64_t	word = 0;

		to.states[i] = mgpu_state_unless(a.states[i], !is_inet || length > 8u * op.width - 1);
		if (to.states[i] == MGPU_IS_VALUE)
			word = (mgpu_inet_word(&inet, length, number) | (number + 1 == op.width ? length : 0)) ^ MGPU_F64_SIGN;
		to.integers[i] = (int64_t) word;
	}
}

/* ---- values that are made */

MGPU_CODEC void
mgpu_put_inet(char *to, const mgpu_inet *inet, bool is_network)
{
	to[0] = (char) inet->family;
	to[1] = (char) inet->bits;
	for (int i = 0; i < inet->most_bits / 8; i++)
	{
		uint64_t	word = inet->words[i / 8] & (is_network ? mgpu_network_mask(inet->bits, i / 8) : UINT64_MAX);

		to[2 + i] = (char) (word >> (56 - i % 8 * 8));
	}
}

/* Another network; bits behind it are left out if the number is 1.  -1 bits are all. */
MGPU_CODEC void
mgpu_run_inet_mask(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register bits = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		char	   *made = mgpu_room_for(frame.made, op.width, MGPU_INET_V6_BYTES);
		int64_t		wanted = bits.integers[i];
		uint32_t	length = 0;
		mgpu_inet	inet;

		to.states[i] = mgpu_larger_state(a.states[i], bits.states[i]);
		if (made && to.states[i] == MGPU_IS_VALUE)
		{
			if (mgpu_find_inet(a.bytes[i], a.lengths[i], &inet) && wanted >= -1 && wanted <= inet.most_bits)
			{
				inet.bits = wanted < 0 ? inet.most_bits : (uint8_t) wanted;
				mgpu_put_inet(made, &inet, op.number != 0);
				length = 2 + inet.most_bits / 8u;
			}
			else
				made = NULL;
		}
		mgpu_end_made(frame.made, op.width, to, i, made, length);
	}
}

/* ---- texts */

/* Digits of a number below 65536, to the base of 10 or 16.  Returns their end. */
MGPU_CODEC char *
mgpu_put_digits(char *to, uint32_t number, uint32_t base)
{
	uint32_t	unit = 1;

	while (number / unit >= base)
		unit *= base;
	for (; unit > 0; unit /= base)
		*to++ = "0123456789abcdef"[number / unit % base];
	return to;
}

MGPU_CODEC char *
mgpu_put_v4(char *to, uint32_t address)
{
	for (int i = 0; i < 4; i++)
	{
		if (i > 0)
			*to++ = '.';
		to = mgpu_put_digits(to, address >> (24 - 8 * i) & 0xFF, 10);
	}
	return to;
}

/* One of eight parts of an address of IPv6. */
MGPU_CODEC uint32_t
mgpu_inet_field(const mgpu_inet *inet, uint32_t number)
{
	return inet->words[number / 4] >> (48 - number % 4 * 16) & 0xFFFF;
}

/* The first of the longest rows of two zeros or more: where it begins, and where it ends.  Both are 8: there is none. */
MGPU_CODEC void
mgpu_find_zeros(const mgpu_inet *inet, uint32_t *begin, uint32_t *end)
{
	uint32_t	from = 0;

	*begin = *end = 8;
	for (uint32_t i = 0; i < 8; i++)
	{
		if (mgpu_inet_field(inet, i) != 0)
			from = i + 1;
		else if (i + 1 - from >= 2 && i + 1 - from > *end - *begin)
		{
			*begin = from;
			*end = i + 1;
		}
	}
}

/* An address of IPv4 may be at the end of one of IPv6. */
MGPU_CODEC char *
mgpu_put_v6(char *to, const mgpu_inet *inet)
{
	uint32_t	begin;
	uint32_t	end;
	bool		has_v4;

	mgpu_find_zeros(inet, &begin, &end);
	has_v4 = begin == 0 && (end == 6 || (end == 5 && mgpu_inet_field(inet, 5) == 0xFFFF));
	for (uint32_t i = 0; i < (has_v4 ? 6 : 8); i++)
	{
		if (i == begin)
			*to++ = ':';
		if (i >= begin && i < end)
			continue;
		if (i > 0)
			*to++ = ':';
		to = mgpu_put_digits(to, mgpu_inet_field(inet, i), 16);
	}
	if (has_v4 || (end == 8 && begin < 8))
		*to++ = ':';
	return has_v4 ? mgpu_put_v4(to, (uint32_t) inet->words[1]) : to;
}

/* Of 8 parts of 4 digits, and how many bits there are. */
#define MGPU_INET_TEXT_BYTES 43

/* The text of an address, with the bits of its network behind it if the number is 1. */
MGPU_CODEC void
mgpu_run_text_of_inet(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		char	   *text = mgpu_room_for(frame.made, op.width, MGPU_INET_TEXT_BYTES);
		char	   *end = text;
		mgpu_inet	inet;

		to.states[i] = a.states[i];
		if (text && a.states[i] == MGPU_IS_VALUE)
		{
			if (!mgpu_find_inet(a.bytes[i], a.lengths[i], &inet))
				text = NULL;
			else
				end = inet.family == MGPU_INET_V4 ? mgpu_put_v4(text, (uint32_t) (inet.words[0] >> 32)) : mgpu_put_v6(text, &inet);
			if (text && op.number)
			{
				*end++ = '/';
				end = mgpu_put_digits(end, inet.bits, 10);
			}
		}
		mgpu_end_made(frame.made, op.width, to, i, text, text ? (uint32_t) (end - text) : 0);
	}
}

#undef COMPARISON

#endif							/* MGPU_OPS_INET_H */
