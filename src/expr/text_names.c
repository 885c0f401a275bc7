/*
 * text_names.c
 *		Numbers for texts (core/names.h), which go with the context where they were created.
 */
#include "postgres.h"

#include "compat.h"
#include "core/names.h"
#include "expr/text_names.h"

struct text_names
{
	mgpu_names *names;			/* NULL: nobody has asked for them */
	MemoryContextCallback callback;
};

static void
free_names(void *arg)
{
	mgpu_names_free(((text_names *) arg)->names);
}

text_names *
text_names_create(void)
{
	text_names *names = palloc0(sizeof(text_names));

	names->callback = (MemoryContextCallback) {.func = free_names,.arg = names};
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &names->callback);
	return names;
}

static void
raise_no_memory(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory"),
			 errdetail("Failed while texts of a table were numbered.")));
}

mgpu_names *
text_names_of_threads(text_names *names)
{
	if (names->names == NULL && (names->names = mgpu_names_create()) == NULL)
		raise_no_memory();
	return names->names;
}

int64
text_names_add(text_names *names, const char *bytes, uint32 length)
{
	uint8		state = 0;
	uint64		number;

	if (!mgpu_names_number(text_names_of_threads(names), &bytes, &length, &state, 1, &number))
		raise_no_memory();
	return (int64) number;
}

Datum
text_names_datum(const text_names *names, uint64 number)
{
	uint32		length;
	char	   *text = names->names == NULL ? NULL : mgpu_names_string(names->names, number, &length);

	if (text == NULL)
		elog(ERROR, "a job returned text " UINT64_FORMAT ", which has no such number", number);
	/* the bytes before it are ours */
	text -= VARHDRSZ;
	SET_VARSIZE(text, VARHDRSZ + length);
	return PointerGetDatum(text);
}
