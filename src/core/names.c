/*
 * names.c
 *		Numbers for byte strings: their hashes.
 *
 * Strings lie in hash tables, each with a share of the numbers and a lock of its own.  Threads look without it: entries never move or go, and a
 * table that has grown stays beside the new one until all are freed.  Who finds no entry takes the lock, looks once more, and adds it.
 * Where two strings have one hash, the second has that of the first's hash, and so on, so that a number has one string.
 *
 * Numbers in the order of arrival were rejected: they would need a lock of all, and differ from run to run, and with them the order of groups.
 */
#include "core/names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/byte_hash.h"
#include "core/sizes.h"

#define SEED UINT64_C(0x2545f4914f6cdd1d)

/* Of a hash.  Tests have few, so that strings have the same. */
#define HASH_MASK MGPU_SIZE(UINT64_MAX, UINT64_C(0xFFE0000000000000))

#define NUM_SHARES 64
#define SHARE_SHIFT 58			/* of a number: NUM_SHARES are left */

#define FIRST_ENTRIES 64
#define FIRST_BLOCK 1024
#define LARGEST_BLOCK 65536

typedef struct named_string
{
	uint64_t	number;
	uint32_t	length;
	char		callers[4];		/* the string is behind them */
} named_string;

typedef struct name_table
{
	struct name_table *before;	/* the smaller one */
	uint64_t	mask;
	_Atomic(named_string *) entries[];
} name_table;

typedef struct name_block
{
	struct name_block *before;
	char		bytes[];
} name_block;

typedef struct name_share
{
	pthread_mutex_t lock;
	_Atomic(name_table *) table;	/* NULL: there is no string */
	uint64_t	num_strings;
	name_block *block;
	uint64_t	block_bytes;	/* of it, ... */
	uint64_t	used_bytes;		/* ... and those that are taken */
} name_share;

struct mgpu_names
{
	_Atomic uint64_t memory;
	name_share	shares[NUM_SHARES];
};

/* ---- memory */

mgpu_names *
mgpu_names_create(void)
{
	mgpu_names *names = calloc(1, sizeof(*names));

	for (int i = 0; names != NULL && i < NUM_SHARES; i++)
		pthread_mutex_init(&names->shares[i].lock, NULL);
	if (names != NULL)
		atomic_store(&names->memory, sizeof(*names));
	return names;
}

static void
free_share(name_share *share)
{
	for (name_table *table = atomic_load(&share->table); table != NULL;)
	{
		name_table *before = table->before;

		free(table);
		table = before;
	}
	for (name_block *block = share->block; block != NULL;)
	{
		name_block *before = block->before;

		free(block);
		block = before;
	}
	pthread_mutex_destroy(&share->lock);
}

void
mgpu_names_free(mgpu_names *names)
{
	for (int i = 0; names != NULL && i < NUM_SHARES; i++)
		free_share(&names->shares[i]);
	free(names);
}

uint64_t
mgpu_names_memory(const mgpu_names *names)
{
	return atomic_load_explicit(&names->memory, memory_order_relaxed);
}

/* Memory of a share for a string, with what is before it. */
static named_string *
allocate(mgpu_names *names, name_share *share, uint64_t bytes)
{
	uint64_t	size = share->block_bytes == 0 ? FIRST_BLOCK : share->block_bytes < LARGEST_BLOCK ? 2 * share->block_bytes : LARGEST_BLOCK;
	name_block *block;
	char	   *at;

	bytes = (bytes + 7) & ~UINT64_C(7);
	if (share->block == NULL || share->used_bytes + bytes > share->block_bytes)
	{
		size = size < bytes ? bytes : size;
		block = malloc(sizeof(*block) + size);
		if (block == NULL)
			return NULL;
		block->before = share->block;
		share->block = block;
		share->block_bytes = size;
		share->used_bytes = 0;
		atomic_fetch_add_explicit(&names->memory, size, memory_order_relaxed);
	}
	at = share->block->bytes + share->used_bytes;
	share->used_bytes += bytes;
	return (named_string *) (void *) at;
}

/* ---- finding */

/* The entry of a number; NULL: there is none in this table. */
static named_string *
find_entry(name_table *table, uint64_t number)
{
	for (uint64_t place = number & (table == NULL ? 0 : table->mask); table != NULL; place = (place + 1) & table->mask)
	{
		named_string *entry = atomic_load_explicit(&table->entries[place], memory_order_acquire);

		if (entry == NULL || entry->number == number)
			return entry;
	}
	return NULL;
}

static inline bool
is_string(const named_string *entry, const char *bytes, uint32_t length)
{
	return entry->length == length && mgpu_same_bytes(entry->callers + sizeof(entry->callers), bytes, length);
}

/* The number that comes next, if a string has this one and is another. */
static uint64_t
next_number(uint64_t number)
{
	return mgpu_byte_hash((const char *) &number, sizeof(number), SEED);
}

/* ---- adding, with the lock */

static void
put_entry(name_table *table, named_string *entry)
{
	uint64_t	place = entry->number & table->mask;

	while (atomic_load_explicit(&table->entries[place], memory_order_relaxed) != NULL)
		place = (place + 1) & table->mask;
	atomic_store_explicit(&table->entries[place], entry, memory_order_release);
}

/* Have room for one more. */
static name_table *
make_room(mgpu_names *names, name_share *share)
{
	name_table *table = atomic_load_explicit(&share->table, memory_order_relaxed);
	uint64_t	num_entries = table == NULL ? FIRST_ENTRIES : 2 * (table->mask + 1);
	name_table *larger;

	if (table != NULL && 2 * (share->num_strings + 1) <= table->mask + 1)
		return table;
	larger = calloc(1, sizeof(*larger) + num_entries * sizeof(larger->entries[0]));
	if (larger == NULL)
		return NULL;
	larger->before = table;
	larger->mask = num_entries - 1;
	for (uint64_t i = 0; table != NULL && i <= table->mask; i++)
	{
		named_string *entry = atomic_load_explicit(&table->entries[i], memory_order_relaxed);

		if (entry != NULL)
			put_entry(larger, entry);
	}
	atomic_store_explicit(&share->table, larger, memory_order_release);
	atomic_fetch_add_explicit(&names->memory, num_entries * sizeof(larger->entries[0]), memory_order_relaxed);
	return larger;
}

/* The entry of a number, made of these bytes if there is none.  NULL: out of memory. */
static named_string *
add_entry(mgpu_names *names, name_share *share, uint64_t number, const char *bytes, uint32_t length)
{
	name_table *table = make_room(names, share);
	named_string *entry = find_entry(table, number);

	if (table == NULL || entry != NULL)
		return entry;
	entry = allocate(names, share, sizeof(*entry) + length);
	if (entry == NULL)
		return NULL;
	entry->number = number;
	entry->length = length;
	memcpy(entry->callers + sizeof(entry->callers), bytes, length);
	share->num_strings++;
	put_entry(table, entry);
	return entry;
}

/* ---- the whole */

static inline name_share *
share_of(mgpu_names *names, uint64_t number)
{
	return &names->shares[number >> SHARE_SHIFT];
}

/* Give a string its number, which is this one unless others have it. */
static bool
number_string(mgpu_names *names, const char *bytes, uint32_t length, uint64_t *number)
{
	for (;; *number = next_number(*number))
	{
		name_share *share = share_of(names, *number);
		named_string *entry = find_entry(atomic_load_explicit(&share->table, memory_order_acquire), *number);

		if (entry == NULL)
		{
			pthread_mutex_lock(&share->lock);
			entry = add_entry(names, share, *number, bytes, length);
			pthread_mutex_unlock(&share->lock);
			if (entry == NULL)
				return false;
		}
		if (is_string(entry, bytes, length))
			return true;
	}
}

/* Hashes first, so that cache misses overlap. */
bool
mgpu_names_number(mgpu_names *names, const char *const *bytes, const uint32_t *lengths, const uint8_t *states, uint32_t num_strings,
				  uint64_t *numbers)
{
	bool		has_all = true;

	for (uint32_t i = 0; i < num_strings; i++)
	{
		name_table *table;

		numbers[i] = states[i] != 0 ? 0 : mgpu_byte_hash(bytes[i], lengths[i], SEED) & HASH_MASK;
		table = atomic_load_explicit(&share_of(names, numbers[i])->table, memory_order_acquire);
		if (table != NULL)
			__builtin_prefetch(&table->entries[numbers[i] & table->mask]);
	}
	for (uint32_t i = 0; has_all && i < num_strings; i++)
		has_all = states[i] != 0 || number_string(names, bytes[i], lengths[i], &numbers[i]);
	return has_all;
}

char *
mgpu_names_string(const mgpu_names *names, uint64_t number, uint32_t *length)
{
	named_string *entry = find_entry(atomic_load(&names->shares[number >> SHARE_SHIFT].table), number);

	if (entry == NULL)
		return NULL;
	*length = entry->length;
	return entry->callers + sizeof(entry->callers);
}
