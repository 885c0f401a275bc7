/*
 * byte_strings.c
 *		Elements of an array or an aggregate as byte strings that order as their type does.
 *
 * Strings of text and bytea lie in the array itself, and spans point to them.  It
 * contains no zero bytes in any server encoding, so its codes need no count (core/byte_keys.h).
 * Threads make the strings of other types, and of text that the C library compares (collated.h);
 * each task writes to its own part of the arena.
 *
 * Rows of an aggregate lie in many blocks of memory, so their strings are always copied end to
 * end, in row order.  Spans with whole addresses were rejected.  They double the memory, for
 * arrays too, and save only one pass, which makes every later access to a string faster.
 */
#include "postgres.h"

#include <stdatomic.h>

#include "miscadmin.h"

#include "compat.h"
#include "array/array_result.h"
#include "core/byte_hash.h"
#include "keys/byte_strings.h"
#include "keys/string_maker.h"
#include "threads.h"

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Approximate limits of the work of one task. */
#define TASK_ITEMS (16 * 1024)
#define TASK_BYTES (4 * 1024 * 1024)

/* Fewer tasks run without threads. */
#define THREADS_MIN_TASKS 8

static inline void
require_bytes(const array_source *source, Size bytes)
{
	if (unlikely(bytes > source->data_bytes))
		array_source_require(source, bytes);
}

/* Set spans to an array's values.  False: an element is compressed or has a short or invalid header. */
static bool
find_values(byte_source *bytes, const array_source *source, const element_type *type, int64 num_items)
{
	const char *data = array_source_data(source);
	Size		offset = 0;
	uint32		header = type->typlen > 0 ? 0 : VARHDRSZ;
	uint32		size = type->typlen;

	for (int64 i = 0; i < num_items; i++)
	{
		const char *element = data + offset;

		if (header > 0)
		{
			require_bytes(source, offset + VARHDRSZ);
			if (!VARATT_IS_4B_U(element) || VARSIZE(element) < VARHDRSZ)
				return false;
			size = VARSIZE(element) - VARHDRSZ;
		}
		require_bytes(source, offset + header + size);
		bytes->spans[i] = (mgpu_span) {offset + header, string_maker_value_size(type->byte_form, element + header, size)};
		offset += header > 0 ? INTALIGN(header + size) : (Size) type->stride;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	bytes->keys.data = data;
	bytes->keys.data_end = data + source->data_bytes;
	return true;
}

static int64
task_items(int64 num_items, Size num_bytes)
{
	return Max(1, Min(TASK_ITEMS, TASK_BYTES / (num_bytes / Max(num_items, 1) + 1)));
}

static int64
num_tasks(int64 num_items, int64 task_items)
{
	return (num_items + task_items - 1) / task_items;
}

/* A string that was made, and its value. */
typedef struct made_string
{
	const char *value;			/* NULL: none yet */
	uint32		size;
	mgpu_span	span;
} made_string;

/* Collated texts that are looked for among the last ones. */
#define LAST_STRINGS 256

/* A task's part of the arena. */
typedef struct string_task
{
	const string_maker *maker;
	char	   *arena;
	Size		offset;			/* of the next string */
	Size		limit;			/* where the part ends */
	made_string *last;			/* LAST_STRINGS collated ones, by hashes of their values; NULL: none are looked for */
} string_task;

/* Have a task look for texts, in memory of LAST_STRINGS, if their strings are collated. */
static void
look_for_texts(string_task *task, made_string *last)
{
	if (task->maker->locale)
		task->last = memset(last, 0, LAST_STRINGS * sizeof(made_string));
}

/*
 * Have a value's string: the one that an equal text has got, or a new one.  Many columns have few texts, and strxfrm takes some 100 ns.  false: there is none.
 */
static bool
have_string(string_task *task, const char *value, uint32 size, mgpu_span *span)
{
	made_string *last = task->last ? &task->last[mgpu_byte_hash(value, size, 0) % LAST_STRINGS] : NULL;
	Size		made;

	if (last && last->value && last->size == size && memcmp(last->value, value, size) == 0)
	{
		*span = last->span;
		return true;
	}
	made = string_maker_make(task->maker, value, size, task->arena + task->offset, task->limit - task->offset);
	if (made == 0)
		return false;
	*span = (mgpu_span) {task->offset, made};
	task->offset += made + string_maker_end(task->maker);
	if (last)
		*last = (made_string) {value, size, *span};
	return true;
}

/* Strings to be made from an array's values. */
typedef struct make_context
{
	byte_source *bytes;
	const char *data;			/* base of the values' spans */
	const string_maker *maker;
	int64		num_items;
	int64		task_items;
	_Atomic bool failed;		/* some value has no string */
} make_context;

/* The strings of a task begin where those of all bytes before its first value would end at the latest. */
static void
make_task(void *context, uint64 task, int worker)
{
	make_context *make = context;
	mgpu_span  *spans = make->bytes->spans;
	int64		first = task * make->task_items;
	int64		end = Min(first + make->task_items, make->num_items);
	string_task strings = {
		.maker = make->maker,.arena = make->bytes->arena,.offset = string_maker_space(make->maker, spans[first].offset),
		.limit = string_maker_space(make->maker, (Size) spans[end - 1].offset + spans[end - 1].size)
	};
	made_string last[LAST_STRINGS];

	look_for_texts(&strings, last);
	for (int64 i = first; i < end; i++)
		if (!have_string(&strings, make->data + spans[i].offset, spans[i].size, &spans[i]))
		{
			make->failed = true;
			return;
		}
}

/*
 * An arena for strings.  Encoded ones fill an unknown part of it, so it takes small pages: huge
 * ones would be cleared whole.  The others fill most of it and are read again and again, in no
 * order, for which huge pages are twice as fast.  NULL: spans cannot point into so many bytes.
 */
static char *
make_arena(const string_maker *maker, Size bytes)
{
	if (bytes > PG_UINT32_MAX)
		return NULL;
	return maker->encode ? MemoryContextAllocHuge(CurrentMemoryContext, bytes) : array_result_scratch(bytes);
}

/* Replace the spans of values by spans of the strings made from them.  False: a value or the arena has none. */
static bool
make_strings(byte_source *bytes, int64 num_items, Size data_bytes, const string_maker *maker)
{
	make_context make = {bytes, bytes->keys.data, maker, num_items, task_items(num_items, data_bytes), false};
	Size		space = string_maker_space(maker, data_bytes);

	bytes->arena = make_arena(maker, space);
	if (bytes->arena == NULL)
		return false;
	thread_work_once(make_task, &make, num_tasks(num_items, make.task_items), THREADS_MIN_TASKS);
	bytes->keys.data = bytes->arena;
	bytes->keys.data_end = bytes->arena + space;
	return !make.failed;
}

static void
start(byte_source *bytes, const string_maker *maker, int64 num_items)
{
	bytes->arena = NULL;
	bytes->locale = maker->locale;
	bytes->spans = array_result_scratch(num_items * sizeof(mgpu_span));
	bytes->keys.spans = bytes->spans;
	bytes->keys.counted = string_maker_has_zeros(maker);
	bytes->keys.descending = false;
}

bool
byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
				 Oid collation, int64 num_items, bool may_collate)
{
	string_maker maker;

	if (!string_maker_start(&maker, type, collation, may_collate ? num_items : 0))
		return false;
	array_source_load(source);
	start(bytes, &maker, num_items);
	if (find_values(bytes, source, type, num_items) &&
		(!string_maker_makes(&maker) || make_strings(bytes, num_items, source->data_bytes, &maker)))
		return true;
	byte_source_close(bytes);
	return false;
}

/* Strings of cells, end to end in each task's part of the arena. */
typedef struct copy_context
{
	byte_source *bytes;
	const byte_cells *cells;
	const string_maker *maker;
	int64		num_items;
	int64		task_items;
	Size	   *begins;			/* of tasks: bytes needed, then offsets in the arena; the last is their end */
	_Atomic bool failed;
} copy_context;

/* How many cells ahead to prefetch: values may lie anywhere. */
#define VALUES_AHEAD 32

static inline const char *
cell_value(const copy_context *copy, int64 i, int64 end, uint32 *size)
{
	const byte_cells *cells = copy->cells;
	const char *value = cells->cells + i * cells->width;

	if (!cells->variable)
	{
		*size = cells->size;
		return value;
	}
	if (i + VALUES_AHEAD < end)
		__builtin_prefetch(((const char *const *) cells->cells)[i + VALUES_AHEAD]);
	value = ((const char *const *) cells->cells)[i];
	*size = VARSIZE(value) - VARHDRSZ;
	return VARDATA(value);
}

static void
space_task(void *context, uint64 task, int worker)
{
	copy_context *copy = context;
	int64		first = task * copy->task_items;
	int64		end = Min(first + copy->task_items, copy->num_items);
	Size		space = 0;

	for (int64 i = first; i < end; i++)
	{
		uint32		size;

		(void) cell_value(copy, i, end, &size);
		space += string_maker_makes(copy->maker) ? string_maker_space(copy->maker, size) : size;
	}
	copy->begins[task] = space;
}

/* Copy a value to the arena: it is its own string. */
static void
copy_value(string_task *task, const char *value, uint32 size, mgpu_span *span)
{
	size = string_maker_value_size(task->maker->form, value, size);
	memcpy(task->arena + task->offset, value, size);
	*span = (mgpu_span) {task->offset, size};
	task->offset += size;
}

static void
copy_task(void *context, uint64 task, int worker)
{
	copy_context *copy = context;
	byte_source *bytes = copy->bytes;
	int64		first = task * copy->task_items;
	int64		end = Min(first + copy->task_items, copy->num_items);
	string_task strings = {.maker = copy->maker,.arena = bytes->arena,.offset = copy->begins[task],.limit = copy->begins[task + 1]};
	made_string last[LAST_STRINGS];

	look_for_texts(&strings, last);
	for (int64 i = first; i < end; i++)
	{
		uint32		size;
		const char *value = cell_value(copy, i, end, &size);

		if (!string_maker_makes(copy->maker))
			copy_value(&strings, value, size, &bytes->spans[i]);
		else if (!have_string(&strings, value, size, &bytes->spans[i]))
		{
			copy->failed = true;
			return;
		}
	}
}

/* Turn the tasks' sizes into offsets.  Returns the total size. */
static Size
place_tasks(copy_context *copy, int64 tasks)
{
	Size		begin = 0;

	for (int64 i = 0; i < tasks; i++)
	{
		Size		space = copy->begins[i];

		copy->begins[i] = begin;
		begin += space;
	}
	copy->begins[tasks] = begin;
	return begin;
}

bool
byte_source_copy(byte_source *bytes, const byte_cells *cells, const element_type *type,
				 Oid collation, int64 num_items, Size expected_bytes)
{
	string_maker maker;
	copy_context copy = {bytes, cells, &maker, num_items, task_items(num_items, expected_bytes), NULL, false};
	int64		tasks = num_tasks(num_items, copy.task_items);
	Size		space;

	if (!string_maker_start(&maker, type, collation, num_items))
		return false;
	start(bytes, &maker, num_items);
	copy.begins = palloc_extended((tasks + 1) * sizeof(Size), MCXT_ALLOC_HUGE);
	thread_work_once(space_task, &copy, tasks, THREADS_MIN_TASKS);
	space = place_tasks(&copy, tasks);
	bytes->arena = make_arena(&maker, space);
	if (bytes->arena)
	{
		thread_work_once(copy_task, &copy, tasks, THREADS_MIN_TASKS);
		bytes->keys.data = bytes->arena;
		bytes->keys.data_end = bytes->arena + space;
	}
	pfree(copy.begins);
	if (bytes->arena && !copy.failed)
		return true;
	byte_source_close(bytes);
	return false;
}

void
byte_source_close(byte_source *bytes)
{
	pfree(bytes->spans);
	if (bytes->arena)
		pfree(bytes->arena);
}
