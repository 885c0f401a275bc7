/*
 * table_merge.c
 *		Adds records of groups to other groups: those of several threads to one table, or those of many keys to groups of fewer.
 */
#include "core/cpu/table/table_groups.h"

#include <stdlib.h>
#include <string.h>

#include "core/group_merge.h"

/* ---- records of the same keys */

/* Some records as rows of their keys. */
typedef struct merged_groups
{
	uint64_t	keys[MGPU_GROUP_MAX_KEYS][MGPU_MERGED_GROUPS];
	uint32_t	nulls[MGPU_MERGED_GROUPS];
	uint64_t	hashes[MGPU_MERGED_GROUPS];
	mgpu_table_rows rows;
} merged_groups;

static void
take_records(const mgpu_table_keys *keys, const uint64_t *const *records, uint32_t num_records, merged_groups *merged)
{
	merged->rows = (mgpu_table_rows) {.num_rows = num_records,.some_nulls = UINT32_MAX,.nulls = merged->nulls};
	for (uint32_t key = 0; key < keys->num_keys; key++)
		merged->rows.codes[keys->columns[key]] = merged->keys[key];
	for (uint32_t i = 0; i < num_records; i++)
	{
		merged->nulls[i] = 0;
		for (uint32_t key = 0; key < keys->num_keys; key++)
		{
			merged->nulls[i] |= (uint32_t) (records[i][1] >> key & 1) << keys->columns[key];
			merged->keys[key][i] = records[i][2 + key];
		}
	}
}

bool
mgpu_table_find_records(mgpu_table_groups *groups, const uint64_t *const *records, uint32_t num_records, uint32_t *numbers)
{
	merged_groups merged;

	take_records(groups->keys, records, num_records, &merged);
	mgpu_table_hash(groups->keys, &merged.rows, merged.hashes);
	return mgpu_table_find(groups, &merged.rows, merged.hashes, numbers);
}

bool
mgpu_table_merge(mgpu_table_groups *to, const mgpu_group_record *record, const uint64_t *const *records, uint32_t num_records)
{
	uint32_t	numbers[MGPU_MERGED_GROUPS];

	if (!mgpu_table_find_records(to, records, num_records, numbers))
		return false;
	for (uint32_t i = 0; i < num_records; i++)
		mgpu_table_add_record(to, record, mgpu_table_record(to, numbers[i]), records[i]);
	return true;
}

/* ---- fewer keys */

struct mgpu_group_merge
{
	mgpu_group_record record;
	mgpu_table_keys keys;		/* all of the spec's, as columns of their own: two may be of one column, and one of them dropped */
	uint64_t	dropped;		/* bit i: key i tells no groups apart */
	mgpu_table_groups groups;
	uint64_t   *fresh;			/* a record of no rows */
	uint64_t   *without;		/* MGPU_MERGED_GROUPS records without the keys that are dropped */
};

bool
mgpu_group_may_merge(const mgpu_group_spec *spec)
{
	for (uint32_t i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL || spec->columns[i].is_collated)
			return false;
	return spec->num_sorts == 0 && spec->limit_rule == MGPU_LIMIT_NONE;
}

static void
start(mgpu_group_merge *merge, const mgpu_group_spec *spec, uint32_t keys)
{
	merge->keys.num_keys = spec->num_keys;
	for (uint32_t key = 0; key < spec->num_keys; key++)
		merge->keys.columns[key] = key;
	merge->dropped = ~keys & ((UINT64_C(1) << spec->num_keys) - 1);
	merge->groups.spec = spec;
	merge->groups.keys = &merge->keys;
	merge->groups.fresh = merge->fresh;
	merge->groups.num_words = merge->record.num_words;
	mgpu_table_fresh_record(spec, &merge->record, merge->fresh);
	merge->fresh[1] = merge->dropped;
}

mgpu_group_merge *
mgpu_group_merge_create(const mgpu_group_spec *spec, uint32_t keys)
{
	mgpu_group_merge *merge = calloc(1, sizeof(mgpu_group_merge));

	if (merge == NULL)
		return NULL;
	mgpu_group_plan_record(spec, &merge->record);
	merge->fresh = malloc(merge->record.num_words * sizeof(uint64_t));
	merge->without = malloc(MGPU_MERGED_GROUPS * merge->record.num_words * sizeof(uint64_t));
	if (merge->fresh == NULL || merge->without == NULL)
	{
		mgpu_group_merge_free(merge);
		return NULL;
	}
	start(merge, spec, keys);
	return merge;
}

static void
drop_keys(const mgpu_group_merge *merge, uint64_t *record)
{
	record[1] |= merge->dropped;
	for (uint32_t key = 0; key < merge->keys.num_keys; key++)
		if ((merge->dropped >> key & 1) != 0)
			record[2 + key] = 0;
}

bool
mgpu_group_merge_add(mgpu_group_merge *merge, const uint64_t *records, uint64_t num_records)
{
	const uint64_t *step[MGPU_MERGED_GROUPS];
	uint32_t	num_words = merge->record.num_words;
	bool		has_room = true;

	for (uint64_t begin = 0; has_room && begin < num_records; begin += MGPU_MERGED_GROUPS)
	{
		uint32_t	count = (uint32_t) mgpu_table_least(MGPU_MERGED_GROUPS, num_records - begin);

		memcpy(merge->without, records + begin * num_words, count * num_words * sizeof(uint64_t));
		for (uint32_t i = 0; i < count; i++)
		{
			drop_keys(merge, merge->without + (uint64_t) i * num_words);
			step[i] = merge->without + (uint64_t) i * num_words;
		}
		has_room = mgpu_table_merge(&merge->groups, &merge->record, step, count);
	}
	return has_room;
}

bool
mgpu_group_merge_finish(mgpu_group_merge *merge)
{
	bool		has_keys = merge->dropped != (UINT64_C(1) << merge->keys.num_keys) - 1;

	return has_keys || mgpu_table_make_empty(&merge->groups);
}

uint64_t
mgpu_group_merge_count(const mgpu_group_merge *merge)
{
	return merge->groups.num_groups;
}

const uint64_t *
mgpu_group_merge_records(const mgpu_group_merge *merge)
{
	return merge->groups.records;
}

uint64_t
mgpu_group_merge_bytes(const mgpu_group_merge *merge)
{
	return (merge->groups.capacity * merge->groups.num_words + merge->groups.num_slots) * sizeof(uint64_t);
}

void
mgpu_group_merge_free(mgpu_group_merge *merge)
{
	if (merge == NULL)
		return;
	mgpu_table_free_groups(&merge->groups);
	free(merge->fresh);
	free(merge->without);
	free(merge);
}
