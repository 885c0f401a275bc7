/*
 * text_names.c
 *		Numbers for texts: a hash table of PostgreSQL's finds them, and an array has the texts.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "compat.h"
#include "expr/text_names.h"

#define FIRST_TEXTS 256

struct text_names
{
	MemoryContext context;
	HTAB	   *numbers;		/* NULL: there is no text */
	struct varlena **texts;
	uint64		num_texts;
	uint64		capacity;
};

typedef struct named_text
{
	const char *bytes;			/* the key, with its length */
	Size		length;
	int64		number;
} named_text;

static uint32
hash_text(const void *key, Size key_size)
{
	const named_text *text = key;

	return DatumGetUInt32(hash_any((const unsigned char *) text->bytes, (int) text->length));
}

static int
compare_texts(const void *a, const void *b, Size key_size)
{
	const named_text *left = a;
	const named_text *right = b;

	return left->length == right->length ? memcmp(left->bytes, right->bytes, left->length) : 1;
}

text_names *
text_names_create(void)
{
	text_names *names = palloc0(sizeof(text_names));

	names->context = CurrentMemoryContext;
	return names;
}

static void
make_table(text_names *names)
{
	HASHCTL		control = {
		.keysize = offsetof(named_text, number),.entrysize = sizeof(named_text),.hash = hash_text,.match = compare_texts,.hcxt = names->context
	};

	names->numbers = hash_create("mgpu_pg texts", FIRST_TEXTS, &control, HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	names->capacity = FIRST_TEXTS;
	names->texts = MemoryContextAlloc(names->context, names->capacity * sizeof(struct varlena *));
}

/* A new text: its entry has bytes of the caller's until now. */
static void
keep_text(text_names *names, named_text *entry)
{
	struct varlena *text = MemoryContextAlloc(names->context, VARHDRSZ + entry->length);

	SET_VARSIZE(text, VARHDRSZ + entry->length);
	memcpy(VARDATA(text), entry->bytes, entry->length);
	if (names->num_texts == names->capacity)
	{
		names->capacity *= 2;
		names->texts = repalloc_huge(names->texts, names->capacity * sizeof(struct varlena *));
	}
	entry->bytes = VARDATA(text);
	entry->number = (int64) names->num_texts;
	names->texts[names->num_texts++] = text;
}

int64
text_names_add(text_names *names, const char *bytes, uint32 length)
{
	named_text	key = {.bytes = bytes,.length = length};
	named_text *entry;
	bool		found;

	if (names->numbers == NULL)
		make_table(names);
	entry = hash_search(names->numbers, &key, HASH_ENTER, &found);
	if (!found)
		keep_text(names, entry);
	return entry->number;
}

Datum
text_names_datum(const text_names *names, uint64 number)
{
	if (number >= names->num_texts)
		elog(ERROR, "a job returned text " UINT64_FORMAT " of " UINT64_FORMAT, number, names->num_texts);
	return PointerGetDatum(names->texts[number]);
}
