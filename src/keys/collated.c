/*
 * collated.c
 *		Strings that order as the C library compares texts.  See collated.h.
 *
 * Most of what strxfrm makes says nothing: a level of weights ends with the same weight for each letter, and the last level takes most
 * of the bytes.  Without these a string takes about as many bytes as its text.  Strings that become equal are told apart by their texts.
 * An order that is not right then is found, and mended, as any other.
 */
#include "postgres.h"

#include <stdlib.h>

#include "keys/collated.h"

/* What ends a level of weights in glibc's strings, and the least weight from the second level on, which most letters have. */
#define LEVEL_END 1
#define LEAST_WEIGHT 2

/* Levels that are kept.  Few texts differ in the next one alone. */
#define NUM_LEVELS 3

/* Bytes that strxfrm is given.  In glibc's locales a Latin letter takes eight; few characters take more. */
#define WHOLE_BYTES(text_bytes) (9 * (text_bytes) + 32)

/* Texts that are not longer are worked on in memory of the stack. */
#define SHORT_TEXT 512

/* Shorten a string of strxfrm in its place.  Returns its end, where no zero stands. */
static char *
shorten(char *string)
{
	char	   *begin = string;
	char	   *out = string;
	int			level = 0;

	for (const char *in = string; *in; in++)
	{
		if (*in == LEVEL_END)
		{
			while (level > 0 && out > begin && out[-1] == LEAST_WEIGHT)
				out--;
			if (++level == NUM_LEVELS)
				break;
			begin = out + 1;
		}
		*out++ = *in;
	}
	return out;
}

/* The string of a text that a zero ends, in memory of so many bytes, or, if it takes more, in memory to be freed.  NULL: there is none. */
static char *
transform(locale_t locale, const char *text, char *memory, Size bytes)
{
	Size		needed = strxfrm_l(memory, text, bytes, locale);
	char	   *larger;

	if (needed < bytes)
		return memory;
	larger = malloc(needed + 1);
	if (larger)
		(void) strxfrm_l(larger, text, needed + 1, locale);
	return larger;
}

/* Put the string, shortened, and the text with its zero to out.  Returns their length without the zero, 0 if they take more than space. */
static Size
put_string(char *string, const char *text, uint32 size, char *out, Size space)
{
	Size		length = shorten(string) - string;

	if (length + size + 2 > space)
		return 0;
	memcpy(out, string, length);
	out[length++] = '\0';
	memcpy(out + length, text, (Size) size + 1);
	return length + size;
}

Size
collated_make(locale_t locale, const char *text, uint32 size, char *out, Size space)
{
	char		near[SHORT_TEXT + 1 + WHOLE_BYTES(SHORT_TEXT)];
	char	   *copy = size <= SHORT_TEXT ? near : malloc(size + 1 + WHOLE_BYTES((Size) size));
	char	   *string = NULL;
	Size		length = 0;

	if (copy)
	{
		/* strxfrm wants a zero behind the text */
		memcpy(copy, text, size);
		copy[size] = '\0';
		string = transform(locale, copy, copy + size + 1, WHOLE_BYTES((Size) size));
	}
	if (string)
		length = put_string(string, copy, size, out, space);
	if (string && string != copy + size + 1)
		free(string);
	if (copy != near)
		free(copy);
	return length;
}
