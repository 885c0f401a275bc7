/*
 * collated.h
 *		Strings that order as the C library compares texts.
 *
 * The string of a text is what strxfrm makes of it, shortened, a zero byte, and the text itself, which
 * breaks ties as the server does.  Behind the string stands another zero, so that strcoll can compare
 * the text where it lies.
 *
 * strxfrm and strcoll should agree, but in glibc they do not always, and PostgreSQL does not trust
 * strxfrm.  So whoever sorts these strings checks the order by collated_compare (order/order_collated.c).
 *
 * These functions are for threads: they call nothing of PostgreSQL.
 */
#ifndef MGPU_KEYS_COLLATED_H
#define MGPU_KEYS_COLLATED_H

#include <locale.h>
#include <string.h>

/*
 * Bytes set aside for the strings of texts with so many bytes.  In glibc's locales they take one and a half to three and a half times as
 * many, five with capitals that have accents; more are taken by ligatures alone.
 */
#define COLLATED_SPACE(text_bytes) (5 * (text_bytes) + 32)

/*
 * Write the string of a text of size bytes, none of them zero.  Returns its length in bytes, or 0
 * if it takes more than space bytes or memory is short.
 */
extern Size collated_make(locale_t locale, const char *text, uint32 size, char *out, Size space);

/* The text in a string, ended by a zero. */
static inline const char *
collated_text(const char *string)
{
	return string + strlen(string) + 1;
}

/* Compare two texts as the server does.  Equal ones, which lie side by side in order, need no strcoll. */
static inline int
collated_compare(locale_t locale, const char *a, const char *b)
{
	int			bytes = strcmp(a, b);
	int			order = bytes == 0 ? 0 : strcoll_l(a, b, locale);

	return order != 0 ? order : bytes;
}

#endif							/* MGPU_KEYS_COLLATED_H */
