/*
 * program/ops_words.h
 *		Operations that make integers of byte strings, in the order of the bytes: then integers alone can be compared.  And strings of such integers.
 *
 * Word k of a string is its bytes 8k to 8k + 7, the first of them the highest, with zeros behind the string's end.  In the last of
 * its words, the lowest byte is the string's length: so a string that goes on with zero bytes is larger than one that ends there.
 * A string of a type with one length needs none.  Where words are compared for equality alone, one that is too long has a length that no other has.  The highest bit is flipped, since integers of programs are signed.
 */
#ifndef MGPU_OPS_WORDS_H
#define MGPU_OPS_WORDS_H

/* The bytes from an offset on. */
MGPU_CODEC uint64_t
mgpu_word_at(const char *bytes, uint32_t length, uint32_t offset)
{
	if (offset >= length)
		return 0;
	return mgpu_swap_64(mgpu_load_bits(bytes + offset, length - offset < 8 ? length - offset : 8));
}

/* No string of up to 31 words is so long. */
#define MGPU_LONG_LENGTH 0xFFu

#define WORD(name, length_of_last, takes_long) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register to = mgpu_register_to(frame, op); \
	uint32_t	number = (uint32_t) op.number; \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		uint32_t	length = a.lengths[i]; \
		uint8_t		state = mgpu_state_unless(a.states[i], !(takes_long) && length > 8u * op.width - (length_of_last)); \
		uint64_t	word = 0; \
		\
		if (state == MGPU_IS_VALUE) \
		{ \
			word = mgpu_word_at(a.bytes[i], length, 8 * number); \
			if ((length_of_last) && number + 1 == op.width) \
				word |= length < 8u * op.width ? length : MGPU_LONG_LENGTH; \
			word ^= MGPU_F64_SIGN; \
		} \
		to.integers[i] = (int64_t) word; \
		to.states[i] = state; \
	} \
}

WORD(word, 1, 0)
WORD(word_fixed, 0, 0)
WORD(word_compared, 1, 1)

#undef WORD

/* The words of a string, up to three of them, become its bytes again. */
MGPU_CODEC void
mgpu_run_bytes_of_words(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register words[3] = {mgpu_register_from(frame, op, 0), mgpu_register_from(frame, op, 1), mgpu_register_from(frame, op, 2)};
	mgpu_register to = mgpu_register_to(frame, op);
	uint32_t	last = (uint32_t) op.number - 1;

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(words[0].states[i], mgpu_larger_state(words[1].states[i], words[2].states[i]));
		uint32_t	length = state == MGPU_IS_VALUE ? (uint8_t) words[last].integers[i] : 0;
		char	   *text = length <= 8 * last + 7 ? mgpu_room_for(frame.made, op.width, length) : NULL;

		to.states[i] = state;
		for (uint32_t at = 0; text && at < length; at++)
			text[at] = (char) (((uint64_t) words[at / 8].integers[i] ^ MGPU_F64_SIGN) >> (56 - 8 * (at % 8)));
		mgpu_end_made(frame.made, op.width, to, i, text, length);
	}
}

#endif							/* MGPU_OPS_WORDS_H */
