/*
 * sort_keys.c
 *		The keys of a sort, which represent the elements while they are sorted.
 *
 * Forms are tried from the fastest to the slowest: the element's own bytes, a number made from
 * it, a byte string, the value.  If one element cannot take a form, all take a later one.
 * Intervals of more than 292,000 years, for example, have no number.
 */
#include "postgres.h"

#include <stdatomic.h>

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "compat.h"
#include "array/array_result.h"
#include "keys/enum_keys.h"
#include "keys/sort_keys.h"
#include "threads.h"

#define TASK_ITEMS (16 * 1024)
#define THREADS_MIN_TASKS 8

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

static void
start_keys(sort_keys *keys, const element_type *type, Oid collation, int64 num_items, Size data_bytes)
{
	memset(keys, 0, sizeof(*keys));
	keys->type = type;
	keys->collation = collation;
	keys->num_items = num_items;
	keys->data_bytes = data_bytes;
}

static void
use_words(sort_keys *keys, const void *words, uint32 kind, uint32 width)
{
	keys->form = KEY_WORDS;
	keys->words = words;
	keys->kind = kind;
	keys->width = width;
}

typedef struct encode_work
{
	element_encode_fn encode;
	const char *elements;
	Size		stride;			/* bytes from element to element */
	int64		num_items;
	int64	   *codes;
	_Atomic bool failed;
} encode_work;

static void
encode_task(void *context, uint64 task, int worker)
{
	encode_work *work = context;
	int64		first = task * TASK_ITEMS;
	int64		end = Min(first + TASK_ITEMS, work->num_items);
	const char *element = work->elements + first * work->stride;
	bool		fits = true;

	for (int64 i = first; i < end; i++, element += work->stride)
		fits &= work->encode(element, &work->codes[i]);
	if (!fits)
		work->failed = true;
}

/* False: some element has no number. */
static bool
encode_words(sort_keys *keys, const char *elements, Size stride)
{
	encode_work work = {keys->type->encode, elements, stride, keys->num_items, NULL, false};

	work.codes = array_result_scratch(keys->num_items * sizeof(int64));
	thread_work_once(encode_task, &work, (keys->num_items + TASK_ITEMS - 1) / TASK_ITEMS, THREADS_MIN_TASKS);
	if (work.failed)
	{
		pfree(work.codes);
		return false;
	}
	keys->own_words = work.codes;
	use_words(keys, work.codes, MGPU_KEY_SIGNED, sizeof(int64));
	return true;
}

static void
enum_words(sort_keys *keys, const Oid *labels)
{
	const uint32 *words = enum_keys(labels, keys->num_items, keys->type);

	if (words != labels)
		keys->own_words = (void *) words;
	use_words(keys, words, MGPU_KEY_UNSIGNED, sizeof(uint32));
}

/* Use the elements' own bytes: in place, in an aligned copy, or still in the stream. */
static void
array_words(sort_keys *keys, array_source *source)
{
	const element_type *type = keys->type;
	Size		bytes = (Size) keys->num_items * type->stride;
	const void *words = array_source_bound(source, type->key_width);

	array_source_require(source, bytes);
	if (words == NULL && array_source_is_streamed(source))
		keys->stream = source;
	else if (words == NULL)
		words = keys->own_words = memcpy(array_result_scratch(bytes), array_source_data(source), bytes);
	use_words(keys, words, type->key_kind, type->key_width);
}

/* ---- arrays */

static void
array_values(sort_keys *keys, array_source *source)
{
	const element_type *type = keys->type;
	Size		offset = 0;
	char	   *data;

	array_source_load(source);
	data = array_source_data(source);
	keys->form = KEY_VALUES;
	keys->values = array_result_scratch(keys->num_items * sizeof(Datum));
	for (int64 i = 0; i < keys->num_items; i++)
	{
		array_source_require(source, offset + 1);
		keys->values[i] = fetch_att(data + offset, type->typbyval, type->typlen);
		offset = att_addlength_pointer(offset, type->typlen, data + offset);
		offset = att_align_nominal(offset, type->typalign);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Use numbers made from the elements.  False: the type or one of the elements has none. */
static bool
array_made_words(sort_keys *keys, array_source *source)
{
	const element_type *type = keys->type;

	if (!type->is_enum && type->encode == NULL)
		return false;
	array_source_load(source);
	if (keys->num_items > 0)
		array_source_require(source, (Size) (keys->num_items - 1) * type->stride + type->typlen);
	if (!type->is_enum)
		return encode_words(keys, array_source_data(source), type->stride);
	enum_words(keys, (const Oid *) array_source_data(source));
	return true;
}

void
sort_keys_of_array(sort_keys *keys, array_source *source, const element_type *type, Oid collation)
{
	start_keys(keys, type, collation, source->num_items - source->num_nulls, source->data_bytes);
	if (type->key_kind != 0)
		array_words(keys, source);
	else if (array_made_words(keys, source))
		return;
	else if (byte_source_open(&keys->strings, source, type, collation, keys->num_items, true))
		keys->form = KEY_STRINGS;
	else
		array_values(keys, source);
}

/* Rank the labels of both arrays together, so that ranks are comparable.  keys[0] owns the words. */
static void
shared_enum_words(sort_keys keys[2], array_source *sources[2])
{
	sort_keys	both = keys[0];
	Oid		   *labels;

	both.num_items = keys[0].num_items + keys[1].num_items;
	labels = array_result_scratch(both.num_items * sizeof(Oid));
	for (int i = 0; i < 2; i++)
	{
		array_source_load(sources[i]);
		array_source_require(sources[i], keys[i].num_items * sizeof(Oid));
		memcpy(labels + i * keys[0].num_items, array_source_data(sources[i]), keys[i].num_items * sizeof(Oid));
	}
	enum_words(&both, labels);
	if (both.own_words)
		pfree(labels);
	keys[0].own_words = (void *) both.words;
	use_words(&keys[0], both.words, both.kind, both.width);
	use_words(&keys[1], (const uint32 *) both.words + keys[0].num_items, both.kind, both.width);
}

/* False, with nothing kept: one of the arrays does not have this form. */
static bool
both_have_words(sort_keys keys[2], array_source *sources[2])
{
	if (!array_made_words(&keys[0], sources[0]))
		return false;
	if (array_made_words(&keys[1], sources[1]))
		return true;
	sort_keys_free(&keys[0]);
	keys[0].own_words = NULL;
	return false;
}

/* Not collated ones: making them takes longer than the few comparisons of a merge. */
static bool
both_have_strings(sort_keys keys[2], array_source *sources[2])
{
	for (int i = 0; i < 2; i++)
		if (!byte_source_open(&keys[i].strings, sources[i], keys[i].type, keys[i].collation, keys[i].num_items, false))
		{
			if (i > 0)
				byte_source_close(&keys[0].strings);
			return false;
		}
	keys[0].form = keys[1].form = KEY_STRINGS;
	return true;
}

void
sort_keys_of_arrays(sort_keys keys[2], array_source *sources[2], const element_type *type, Oid collation)
{
	for (int i = 0; i < 2; i++)
		start_keys(&keys[i], type, collation, sources[i]->num_items - sources[i]->num_nulls, sources[i]->data_bytes);
	if (type->key_kind != 0)
		for (int i = 0; i < 2; i++)
			array_words(&keys[i], sources[i]);
	else if (type->is_enum)
		shared_enum_words(keys, sources);
	else if (!both_have_words(keys, sources) && !both_have_strings(keys, sources))
		for (int i = 0; i < 2; i++)
			array_values(&keys[i], sources[i]);
}

void
sort_keys_as_values(sort_keys *keys, array_source *source, const element_type *type, Oid collation)
{
	start_keys(keys, type, collation, source->num_items - source->num_nulls, source->data_bytes);
	array_values(keys, source);
}

/* ---- rows */

static void
cell_values(sort_keys *keys, const byte_cells *cells)
{
	const element_type *type = keys->type;

	keys->form = KEY_VALUES;
	keys->values = array_result_scratch(keys->num_items * sizeof(Datum));
	for (int64 i = 0; i < keys->num_items; i++)
	{
		const char *cell = cells->cells + i * cells->width;

		keys->values[i] = cells->variable ? *(const Datum *) cell : fetch_att(cell, type->typbyval, type->typlen);
	}
}

void
sort_keys_of_cells(sort_keys *keys, const byte_cells *cells, const element_type *type,
				   Oid collation, int64 num_items, Size data_bytes)
{
	start_keys(keys, type, collation, num_items, data_bytes);
	if (type->key_kind != 0)
		use_words(keys, cells->cells, type->key_kind, type->key_width);
	else if (type->is_enum)
		enum_words(keys, (const Oid *) cells->cells);
	else if (type->encode != NULL && encode_words(keys, cells->cells, cells->width))
		return;
	else if (byte_source_copy(&keys->strings, cells, type, collation, num_items, data_bytes))
		keys->form = KEY_STRINGS;
	else
		cell_values(keys, cells);
}

void
sort_keys_free(sort_keys *keys)
{
	if (keys->own_words)
		pfree(keys->own_words);
	if (keys->form == KEY_STRINGS)
		byte_source_close(&keys->strings);
	if (keys->values)
		pfree(keys->values);
}
