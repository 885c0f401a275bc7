/*
 * table_groups.h
 *		Of table runs: rows as columns of codes, and records of groups.
 */
#ifndef MGPU_TABLE_GROUPS_H
#define MGPU_TABLE_GROUPS_H

#include <locale.h>

#include "core/cpu/table/table_memory.h"
#include "core/group_decode.h"

/* Rows that a program is run for at a time: their registers stay in the second-level cache. */
#define MGPU_VECTOR_ROWS 1024

/* Some rows: codes of stored columns, 0 for NULL. */
typedef struct mgpu_table_rows
{
	uint32_t	num_rows;
	uint32_t	some_nulls;		/* columns that may have NULLs */
	const uint64_t *codes[MGPU_GROUP_MAX_COLUMNS];
	const uint32_t *nulls;		/* of each row: a bit a column */
} mgpu_table_rows;

static inline mgpu_table_rows
mgpu_table_slice(const mgpu_table_rows *rows, uint32_t num_columns, uint64_t begin, uint64_t num_rows)
{
	mgpu_table_rows slice = {.num_rows = (uint32_t) num_rows,.some_nulls = rows->some_nulls,.nulls = rows->nulls + begin};

	for (uint32_t i = 0; i < num_columns; i++)
		slice.codes[i] = rows->codes[i] == NULL ? NULL : rows->codes[i] + begin;
	return slice;
}

/* Columns by which rows are told apart. */
typedef struct mgpu_table_keys
{
	uint32_t	num_keys;
	uint32_t	columns[MGPU_GROUP_MAX_KEYS];
} mgpu_table_keys;

/* Records of groups, found by their keys. */
typedef struct mgpu_table_groups
{
	const mgpu_group_spec *spec;	/* of what is reduced */
	const mgpu_table_keys *keys;
	const uint64_t *fresh;		/* a record of no rows */
	locale_t	locale;			/* the spec's, or 0 */
	uint32_t	num_words;
	uint64_t   *records;
	uint64_t	num_groups;
	uint64_t	capacity;		/* of records */
	uint64_t   *slots;			/* high half of a hash, and a group's number + 1 */
	uint64_t	num_slots;		/* a power of two */
} mgpu_table_groups;

/* table_groups.c.  Hashes of rows by their keys. */
void		mgpu_table_hash(const mgpu_table_keys *keys, const mgpu_table_rows *rows, uint64_t *hashes);
uint64_t	mgpu_table_hash_record(const mgpu_table_keys *keys, const uint64_t *record);

/* Find or make the groups of up to MGPU_VECTOR_ROWS rows whose hashes are known.  false: out of memory, or UINT32_MAX groups. */
bool		mgpu_table_find(mgpu_table_groups *groups, const mgpu_table_rows *rows, const uint64_t *hashes, uint32_t *numbers);
void		mgpu_table_free_groups(mgpu_table_groups *groups);

/* Forget all but the first groups, of some.  false: out of memory. */
bool		mgpu_table_leave_groups(mgpu_table_groups *groups, uint64_t num_groups);

/* The one group without keys, though it has no rows. */
bool		mgpu_table_make_empty(mgpu_table_groups *groups);

static inline uint64_t *
mgpu_table_record(const mgpu_table_groups *groups, uint64_t number)
{
	return groups->records + number * groups->num_words;
}

/* table_reduce.c.  Words of a record of no rows. */
void		mgpu_table_fresh_record(const mgpu_group_spec *spec, const mgpu_group_record *record, uint64_t *words);

/*
 * Count rows of groups; add the values of these columns to their records, in order.  numbers are the rows' groups, NULL if all are of the first.
 * false: a sum overflows.
 */
void		mgpu_table_count_rows(const mgpu_table_groups *groups, const mgpu_table_rows *rows, const uint32_t *numbers);
bool		mgpu_table_reduce(const mgpu_table_groups *groups, const mgpu_group_record *record, const mgpu_table_rows *rows,
							  const uint32_t *numbers, uint32_t columns);

/* Add a record of the same group.  Of a column of floats, only one of them has values. */
void		mgpu_table_add_record(const mgpu_table_groups *groups, const mgpu_group_record *record, uint64_t *to, const uint64_t *from);

/* table_merge.c.  Groups that are merged at a time. */
#define MGPU_MERGED_GROUPS 256

/* Find or make the groups of so many records' keys: their numbers.  false: out of memory, or UINT32_MAX groups. */
bool		mgpu_table_find_records(mgpu_table_groups *groups, const uint64_t *const *records, uint32_t num_records, uint32_t *numbers);

/* Add records, with the layout of the groups' own, to the groups of their keys.  false: out of memory, or UINT32_MAX groups. */
bool		mgpu_table_merge(mgpu_table_groups *to, const mgpu_group_record *record, const uint64_t *const *records, uint32_t num_records);

/* Of a head's values. */
typedef struct mgpu_extremes_of
{
	uint32_t	num_cells;
	locale_t	locale;			/* by which they are compared; 0: by their codes */
} mgpu_extremes_of;

/*
 * table_heads.c.  The same of a head's values, to its words of the first record: least and greatest; of pairs, sums.  The least and
 * greatest of so many others.
 */
void		mgpu_table_add_values(const mgpu_extremes_of *of, const mgpu_table_rows *rows, uint32_t head, uint64_t *words, uint32_t num_words,
								  const uint32_t *numbers);
bool		mgpu_table_add_pairs(const mgpu_table_rows *rows, uint32_t head, uint64_t *words, uint32_t num_words, const uint32_t *numbers);
void		mgpu_table_add_extremes(const mgpu_extremes_of *of, uint64_t *words, const uint64_t *least, const uint64_t *greatest, uint64_t count);

/* Give NaNs their one form. */
void		mgpu_table_finish_records(const mgpu_table_groups *groups, const mgpu_group_record *record);

#endif							/* MGPU_TABLE_GROUPS_H */
