/*
 * expr_case.c
 *		What characters become in lower and upper case, as a table of a program: PostgreSQL's own function says it, under each collation.
 *
 * A character is taken by itself.  Where what becomes of it depends on those around it, or on a language that has rules of its own, it is not known here.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "utils/formatting.h"

#include "compat.h"
#include "expr/compile.h"

#define MAP_END_UTF8 0x800		/* characters of two bytes and fewer */
#define MAP_END_BYTES 0x100

/* Greek sigma has another lower case at the end of a word; behind an I, a dot above may go. */
#define GREEK_SIGMA 0x3A3
#define DOT_ABOVE 0x307

static char *
change_case(const char *text, Size length, Oid collation, bool is_upper)
{
	return is_upper ? str_toupper(text, length, collation) : str_tolower(text, length, collation);
}

/* Whether letters of ASCII become those of ASCII alone. */
static bool
is_plain_for_ascii(Oid collation, bool is_upper)
{
	char		all[127];
	char	   *changed;
	bool		is_plain;

	for (int c = 1; c < 128; c++)
		all[c - 1] = (char) c;
	changed = change_case(all, sizeof(all), collation, is_upper);
	is_plain = strlen(changed) == sizeof(all);
	for (int c = 1; c < 128 && is_plain; c++)
	{
		bool		is_letter = is_upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';

		is_plain = changed[c - 1] == (char) (is_letter ? c ^ 0x20 : c);
	}
	pfree(changed);
	return is_plain;
}

/* Whether a locale's language has rules for characters that depend on others: not the C library's, which takes each by itself. */
static bool
has_own_rules(const char *locale, char provider)
{
	static const char *const languages[] = {"az", "el", "hy", "lt", "tr"};

	if (provider == COLLPROVIDER_LIBC)
		return false;
	for (size_t i = 0; i < lengthof(languages); i++)
		if (locale == NULL || pg_strncasecmp(locale, languages[i], 2) == 0)
			return true;
	return false;
}

/* A character's bytes. */
static int
put_character(uint32 c, bool is_utf8, char *to)
{
	if (!is_utf8)
	{
		to[0] = (char) c;
		return 1;
	}
	(void) unicode_to_utf8(c, (unsigned char *) to);
	return pg_utf_mblen((const unsigned char *) to);
}

/* The character that some bytes are, if it is one of a map and has so many; else 0. */
static uint32
character_of(const char *bytes, Size length, int expected, bool is_utf8)
{
	if (length != (Size) expected)
		return 0;
	if (!is_utf8)
		return (uint8) bytes[0];
	return pg_utf_mblen((const unsigned char *) bytes) == expected ? utf8_to_unicode((const unsigned char *) bytes) : 0;
}

/* Put what characters beyond ASCII become, of which each has a line, into a map. */
static void
read_changes(mgpu_case_map *map, const char *changed, bool knows_all)
{
	for (uint32 c = 0x80; c < map->end; c++)
	{
		char		own[8];
		int			length = put_character(c, map->is_utf8, own);
		const char *end = strchr(changed, '\n');
		uint32		to = character_of(changed, end - changed, length, map->is_utf8);

		if (!knows_all && (c == GREEK_SIGMA || c == DOT_ABOVE))
			to = 0;
		if (to != c)
			map->changes[map->num_changes++] = (mgpu_case_change) {(uint16) c, (uint16) to};
		changed = end + 1;
	}
}

/* The same table, if the program has it. */
static int64
known_table(const expr_program *program, const mgpu_case_map *map, Size size)
{
	for (int i = 0; i < program->num_ops; i++)
	{
		const mgpu_program_op *op = &program->ops[i];

		if (op->code == MGPU_RUN_CHANGE_CASE && op->number + (int64) size <= program->tables.len &&
			memcmp(program->tables.data + op->number, map, size) == 0)
			return op->number;
	}
	return -1;
}

int64
table_of_case(expr_program *program, Oid collation, bool is_upper)
{
	mgpu_case_map *map = palloc0(offsetof(mgpu_case_map, changes) + MAP_END_UTF8 * sizeof(mgpu_case_change));
	StringInfoData lines;
	char		own[8];
	char		provider = COLLPROVIDER_LIBC;
	bool		is_utf8;
	const char *locale = mgpu_locale_of(collation, &provider);
	Size		size;
	int64		known;

	if (!encoding_is_known(&is_utf8) || has_own_rules(locale, provider) || !is_plain_for_ascii(collation, is_upper))
		return -1;
	map->first = is_upper ? 'a' : 'A';
	map->last = is_upper ? 'z' : 'Z';
	map->is_utf8 = is_utf8;
	map->end = is_utf8 ? MAP_END_UTF8 : MAP_END_BYTES;
	initStringInfo(&lines);
	for (uint32 c = 0x80; c < map->end; c++)
	{
		appendBinaryStringInfo(&lines, own, put_character(c, is_utf8, own));
		appendStringInfoChar(&lines, '\n');
	}
	read_changes(map, change_case(lines.data, lines.len, collation, is_upper), provider == COLLPROVIDER_LIBC);
	/* of C, no character beyond ASCII has a case */
	map->others_stay = map->num_changes == 0;
	size = offsetof(mgpu_case_map, changes) + map->num_changes * sizeof(mgpu_case_change);
	known = known_table(program, map, size);
	return known >= 0 ? known : table_add(program, map, size);
}
