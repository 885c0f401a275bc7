/*
 * collated.c
 *		Strings that order as the C library compares texts.  See collated.h.
 */
#include "postgres.h"

#include <stdlib.h>

#include "keys/collated.h"

/* strxfrm wants a zero behind the text.  Longer texts are copied to memory of their own. */
#define STACK_BYTES 1024

Size
collated_make(locale_t locale, const char *text, uint32 size, char *out, Size space)
{
	char		buffer[STACK_BYTES];
	char	   *copy = size < STACK_BYTES ? buffer : malloc((Size) size + 1);
	Size		length;

	if (copy == NULL)
		return 0;
	memcpy(copy, text, size);
	copy[size] = '\0';
	length = strxfrm_l(out, copy, space, locale) + 1;
	if (length + size < space)
		memcpy(out + length, copy, (Size) size + 1);
	if (copy != buffer)
		free(copy);
	return length + size < space ? length + size : 0;
}
