/*
 * core_collator.c
 *		Texts in the order of a locale: as strcoll and the bytes have it, whether or not their outcome is known already.
 */
#include "core/collator.h"

#include <stdlib.h>
#include <string.h>

#include "core/program.h"
#include "unit.h"

static uint32_t
expected(locale_t locale, const char *a, const char *b)
{
	int			order = strcoll_l(a, b, locale);

	if (order == 0)
		order = strcmp(a, b);
	return order < 0 ? MGPU_IS_LESS : order > 0 ? MGPU_IS_GREATER : MGPU_IS_EQUAL;
}

/* A text of few letters, so that some are equal but for case, and some come again. */
static void
make_text(char *text, uint32_t most)
{
	static const char letters[] = "aAbB-_ 19";
	uint32_t	length = (uint32_t) (unit_random() % (most + 1));

	for (uint32_t i = 0; i < length; i++)
		text[i] = letters[unit_random() % (sizeof(letters) - 1)];
	text[length] = '\0';
}

static void
check_locale(const char *name)
{
	mgpu_collator *collator = calloc(1, sizeof(*collator));
	char		a[128];
	char		b[128];

	UNIT_CONTEXT("%s", name);
	collator->locale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, name, (locale_t) 0);
	for (int trial = 0; collator->locale != (locale_t) 0 && trial < 20000; trial++)
	{
		make_text(a, trial % 2 == 0 ? 3 : 100);
		make_text(b, trial % 2 == 0 ? 3 : 100);
		UNIT_CHECK(mgpu_collator_outcome(collator, a, (uint32_t) strlen(a), b, (uint32_t) strlen(b)) == expected(collator->locale, a, b));
	}
	if (collator->locale != (locale_t) 0)
		freelocale(collator->locale);
	free(collator);
}

static void
check_long(void)
{
	mgpu_collator *collator = calloc(1, sizeof(*collator));
	char		text[1025];

	memset(text, 'x', sizeof(text));
	collator->locale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, "C", (locale_t) 0);
	UNIT_CHECK(mgpu_collator_outcome(collator, text, 1023, text, 1022) == MGPU_IS_GREATER);
	UNIT_CHECK(mgpu_collator_outcome(collator, text, 1024, text, 3) == 0);
	UNIT_CHECK(mgpu_collator_outcome(collator, text, 0, text, 1025) == 0);
	freelocale(collator->locale);
	free(collator);
}

int
main(void)
{
	check_locale("C");
	check_locale("C.UTF-8");
	check_locale("en_US.UTF-8");
	check_long();
	return unit_report();
}
