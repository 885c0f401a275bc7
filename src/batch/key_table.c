/*
 * key_table.c
 *		Numbers the keys of rows: rows with equal keys have the same number.
 *
 * A hash table from keys to numbers: open addressing, linear probing.  Rows come some thousand at a time: codes of all keys
 * are made (group_keys.c), and then all numbers are found by codes alone, with the table's entries fetched ahead.  If codes are
 * not the keys themselves, the keys are compared afterwards, column by column.  Nearly all are equal; the others are looked up
 * once more.
 *
 * With millions of keys, every lookup misses the caches, and sorting the keys is faster (key_sort.c).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "batch/key_table.h"

#define FIRST_SLOTS 256

typedef struct key_slot
{
	uint64		code;			/* mixed */
	uint32		next;			/* number of the keys, plus one; 0: free */
} key_slot;

struct key_table
{
	MemoryContext context;
	const group_keys *keys;
	chunk	   *rows;			/* the first of each number */
	bool		exact;			/* so far equal codes have meant equal keys */
	uint64		num_slots;		/* a power of two, at least twice the keys */
	key_slot   *slots;
	uint64		capacity;		/* of the next two, in rows */
	uint64	   *codes;
	uint32	   *numbers;
};

static key_slot *
make_slots(MemoryContext context, uint64 num_slots)
{
	return memset(large_alloc(context, num_slots * sizeof(key_slot)), 0, num_slots * sizeof(key_slot));
}

key_table *
key_table_create(MemoryContext context, const group_keys *keys, const chunk *like)
{
	key_table  *table = MemoryContextAllocZero(context, sizeof(key_table));

	table->context = context;
	table->keys = keys;
	table->rows = chunk_like(context, like);
	table->exact = true;
	table->num_slots = FIRST_SLOTS;
	table->slots = make_slots(context, FIRST_SLOTS);
	return table;
}

static void
grow_slots(key_table *table)
{
	key_slot   *old = table->slots;
	uint64		num_old = table->num_slots;

	table->num_slots *= 2;
	table->slots = make_slots(table->context, table->num_slots);
	for (uint64 i = 0; i < num_old; i++)
	{
		uint64		slot = old[i].code & (table->num_slots - 1);

		if (old[i].next == 0)
			continue;
		while (table->slots[slot].next != 0)
			slot = (slot + 1) & (table->num_slots - 1);
		table->slots[slot] = old[i];
	}
	pfree(old);
}

/* Add keys whose first row this is. */
static uint32
add_keys(key_table *table, key_slot *slot, uint64 code, const chunk *rows, uint64 row)
{
	uint32		number = table->rows->num_rows;

	chunk_append_row(table->rows, rows, row);
	*slot = (key_slot) {code, number + 1};
	if (table->rows->num_rows * 2 > table->num_slots)
		grow_slots(table);
	return number;
}

/* If not compares, keys with the same code are taken for the same. */
static pg_attribute_always_inline uint32
find(key_table *table, const chunk *rows, uint64 row, bool compares, bool adds)
{
	uint64		code = table->codes[row];
	uint64		slot = code & (table->num_slots - 1);

	for (;; slot = (slot + 1) & (table->num_slots - 1))
	{
		key_slot   *found = &table->slots[slot];

		if (found->next == 0)
			return adds ? add_keys(table, found, code, rows, row) : table->rows->num_rows;
		if (found->code == code &&
			(!compares || group_keys_equal(table->keys, table->keys->num_keys, table->rows, found->next - 1, rows, row)))
			return found->next - 1;
	}
}

static void
make_room(key_table *table, uint64 num_rows)
{
	if (num_rows <= table->capacity)
		return;
	if (table->capacity > 0)
	{
		pfree(table->codes);
		pfree(table->numbers);
	}
	table->capacity = num_rows;
	table->codes = MemoryContextAllocHuge(table->context, num_rows * sizeof(uint64));
	table->numbers = MemoryContextAllocHuge(table->context, num_rows * sizeof(uint32));
}

/* Codes are mixed first, so that their last bits are good; different ones stay different. */
static void
find_codes(key_table *table, const chunk *rows, bool adds)
{
	uint64	   *codes = table->codes;

	for (uint64 row = 0; row < rows->num_rows; row++)
		codes[row] = group_code_hash(codes[row]);
	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		if (row + ROWS_AHEAD < rows->num_rows)
			__builtin_prefetch(&table->slots[codes[row + ROWS_AHEAD] & (table->num_slots - 1)]);
		table->numbers[row] = find(table, rows, row, false, adds);
	}
}

/* Look again for rows whose codes are those of other keys. */
static void
find_others(key_table *table, const chunk *rows, bool adds)
{
	bool	   *equal = MemoryContextAllocHuge(CurrentMemoryContext, rows->num_rows + 1);

	memset(equal, true, rows->num_rows);
	group_keys_compare(table->keys, &(row_pairs) {rows, table->rows, table->numbers}, equal);
	for (uint64 row = 0; row < rows->num_rows; row++)
		if (!equal[row])
			table->numbers[row] = find(table, rows, row, true, adds);
}

const uint32 *
key_table_find(key_table *table, const chunk *rows, bool adds)
{
	MemoryContext caller;

	if (table->keys->num_keys == 0)
	{
		if (adds && table->rows->num_rows == 0 && rows->num_rows > 0)
			chunk_append_row(table->rows, rows, 0);
		return NULL;
	}
	caller = group_calls_start();
	make_room(table, rows->num_rows);
	table->exact &= group_keys_codes(table->keys, rows, 0, rows->num_rows, false, table->codes);
	find_codes(table, rows, adds);
	if (!table->exact)
		find_others(table, rows, adds);
	group_calls_end(caller);
	return table->numbers;
}

const chunk *
key_table_rows(const key_table *table)
{
	return table->rows;
}
