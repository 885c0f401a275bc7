/*
 * table_groups.c
 *		Tables of groups, found by all their keys: open addressing, by the low bits of a hash.
 *
 * A slot has the high half of the hash beside the group's number, so that other groups' records are seldom looked at.  A vector of
 * rows looks for its groups together: in a large table, slots are prefetched, then the records that they lead to, so that cache misses
 * overlap.
 */
#include "core/cpu/table/table_groups.h"

#include <stdlib.h>
#include <string.h>

#include "core/byte_hash.h"

#define SEED UINT64_C(0xa0761d6478bd642f)
#define KEY_FACTOR UINT64_C(0xe7037ed1a0b428db)
#define NULL_FACTOR UINT64_C(0x9e3779b97f4a7c15)

#define FIRST_SLOTS 4096

/* Tables that fit the second-level cache need no prefetch. */
#define NEAR_BYTES (UINT64_C(512) << 10)

#define HIGH_HALF UINT64_C(0xFFFFFFFF00000000)

/* ---- hashes */

/* NULLs of a row as a record has them: bit i: key i is NULL. */
static uint64_t
null_keys(const mgpu_table_keys *keys, uint32_t nulls)
{
	uint64_t	bits = 0;

	for (uint32_t i = 0; i < keys->num_keys; i++)
		bits |= (uint64_t) (nulls >> keys->columns[i] & 1) << i;
	return bits;
}

void
mgpu_table_hash(const mgpu_table_keys *keys, const mgpu_table_rows *rows, uint64_t *hashes)
{
	for (uint32_t i = 0; i < rows->num_rows; i++)
		hashes[i] = SEED;
	for (uint32_t i = 0; rows->some_nulls != 0 && i < rows->num_rows; i++)
		hashes[i] ^= null_keys(keys, rows->nulls[i]) * NULL_FACTOR;
	for (uint32_t key = 0; key < keys->num_keys; key++)
	{
		const uint64_t *codes = rows->codes[keys->columns[key]];

		for (uint32_t i = 0; i < rows->num_rows; i++)
			hashes[i] = mgpu_hash_fold(hashes[i] ^ codes[i], KEY_FACTOR);
	}
}

uint64_t
mgpu_table_hash_record(const mgpu_table_keys *keys, const uint64_t *record)
{
	uint64_t	hash = SEED ^ record[1] * NULL_FACTOR;

	for (uint32_t key = 0; key < keys->num_keys; key++)
		hash = mgpu_hash_fold(hash ^ record[2 + key], KEY_FACTOR);
	return hash;
}

/* ---- room */

static void
place_group(mgpu_table_groups *groups, uint64_t hash, uint64_t number)
{
	uint64_t	slot = hash & (groups->num_slots - 1);

	while (groups->slots[slot] != 0)
		slot = (slot + 1) & (groups->num_slots - 1);
	groups->slots[slot] = (hash & HIGH_HALF) | (number + 1);
}

static bool
grow_slots(mgpu_table_groups *groups, uint64_t num_slots)
{
	uint64_t   *slots = mgpu_table_allocate(num_slots * sizeof(uint64_t));

	if (slots == NULL)
		return false;
	memset(slots, 0, num_slots * sizeof(uint64_t));
	free(groups->slots);
	groups->slots = slots;
	groups->num_slots = num_slots;
	for (uint64_t i = 0; i < groups->num_groups; i++)
		place_group(groups, mgpu_table_hash_record(groups->keys, mgpu_table_record(groups, i)), i);
	return true;
}

static bool
grow_records(mgpu_table_groups *groups, uint64_t capacity)
{
	uint64_t   *records = mgpu_table_allocate(capacity * groups->num_words * sizeof(uint64_t));

	if (records == NULL)
		return false;
	if (groups->num_groups > 0)
		memcpy(records, groups->records, groups->num_groups * groups->num_words * sizeof(uint64_t));
	free(groups->records);
	groups->records = records;
	groups->capacity = capacity;
	return true;
}

/* Have room for so many more groups. */
static bool
make_room(mgpu_table_groups *groups, uint32_t num_more)
{
	uint64_t	needed = groups->num_groups + num_more;
	uint64_t	num_slots = groups->num_slots > 0 ? groups->num_slots : FIRST_SLOTS;

	if (needed >= UINT32_MAX)
		return false;
	while (num_slots < 2 * needed)
		num_slots *= 2;
	if (needed > groups->capacity && !grow_records(groups, needed + needed / 2))
		return false;
	return num_slots == groups->num_slots || grow_slots(groups, num_slots);
}

bool
mgpu_table_leave_groups(mgpu_table_groups *groups, uint64_t num_groups)
{
	groups->num_groups = num_groups;
	return grow_slots(groups, groups->num_slots);
}

void
mgpu_table_free_groups(mgpu_table_groups *groups)
{
	free(groups->records);
	free(groups->slots);
	groups->records = groups->slots = NULL;
}

/* ---- finding */

static void
prefetch_groups(const mgpu_table_groups *groups, const uint64_t *hashes, uint32_t num_rows)
{
	uint64_t	mask = groups->num_slots - 1;

	if (groups->num_slots * sizeof(uint64_t) > NEAR_BYTES)
	{
		for (uint32_t i = 0; i < num_rows; i++)
			__builtin_prefetch(&groups->slots[hashes[i] & mask]);
	}
	if (groups->num_groups * groups->num_words * sizeof(uint64_t) <= NEAR_BYTES)
		return;
	for (uint32_t i = 0; i < num_rows; i++)
	{
		uint64_t	slot = groups->slots[hashes[i] & mask];

		if (((slot ^ hashes[i]) & HIGH_HALF) == 0 && slot != 0)
		{
			const uint64_t *record = mgpu_table_record(groups, (uint32_t) slot - 1);

			__builtin_prefetch(record);
			__builtin_prefetch(record + groups->num_words - 1);
		}
	}
}

static inline bool
is_of_group(const uint64_t *record, const uint64_t *const *keys, uint32_t num_keys, uint64_t nulls, uint32_t row)
{
	bool		same = record[1] == nulls;

	for (uint32_t i = 0; i < num_keys; i++)
		same &= record[2 + i] == keys[i][row];
	return same;
}

static uint32_t
add_group(mgpu_table_groups *groups, const uint64_t *const *keys, uint64_t nulls, uint32_t row)
{
	uint64_t   *record = mgpu_table_record(groups, groups->num_groups);

	memcpy(record, groups->fresh, groups->num_words * sizeof(uint64_t));
	record[1] = nulls;
	for (uint32_t i = 0; i < groups->keys->num_keys; i++)
		record[2 + i] = keys[i][row];
	return (uint32_t) groups->num_groups++;
}

/* Inlined for few keys. */
static inline void
find_rows(mgpu_table_groups *groups, const mgpu_table_rows *rows, const uint64_t *hashes, uint32_t *numbers, uint32_t num_keys)
{
	const uint64_t *keys[MGPU_GROUP_MAX_KEYS];
	uint64_t	mask = groups->num_slots - 1;

	for (uint32_t i = 0; i < num_keys; i++)
		keys[i] = rows->codes[groups->keys->columns[i]];
	for (uint32_t i = 0; i < rows->num_rows; i++)
	{
		uint64_t	nulls = rows->some_nulls == 0 ? 0 : null_keys(groups->keys, rows->nulls[i]);
		uint64_t	place = hashes[i] & mask;

		for (;; place = (place + 1) & mask)
		{
			uint64_t	slot = groups->slots[place];

			if (slot == 0)
			{
				numbers[i] = add_group(groups, keys, nulls, i);
				groups->slots[place] = (hashes[i] & HIGH_HALF) | (numbers[i] + UINT64_C(1));
				break;
			}
			numbers[i] = (uint32_t) slot - 1;
			if (((slot ^ hashes[i]) & HIGH_HALF) == 0 &&
				is_of_group(mgpu_table_record(groups, numbers[i]), keys, num_keys, nulls, i))
				break;
		}
	}
}

bool
mgpu_table_find(mgpu_table_groups *groups, const mgpu_table_rows *rows, const uint64_t *hashes, uint32_t *numbers)
{
	if (!make_room(groups, rows->num_rows))
		return false;
	prefetch_groups(groups, hashes, rows->num_rows);
	switch (groups->keys->num_keys)
	{
		case 1:
			find_rows(groups, rows, hashes, numbers, 1);
			break;
		case 2:
			find_rows(groups, rows, hashes, numbers, 2);
			break;
		default:
			find_rows(groups, rows, hashes, numbers, groups->keys->num_keys);
	}
	return true;
}

bool
mgpu_table_make_empty(mgpu_table_groups *groups)
{
	if (groups->num_groups > 0)
		return true;
	if (!make_room(groups, 1))
		return false;
	memcpy(groups->records, groups->fresh, groups->num_words * sizeof(uint64_t));
	groups->num_groups = 1;
	return true;
}
