/*
 * key_table.h
 *		Numbers the keys of rows: rows with equal keys have the same number.
 */
#ifndef MGPU_BATCH_KEY_TABLE_H
#define MGPU_BATCH_KEY_TABLE_H

#include "batch/group_keys.h"

typedef struct key_table key_table;

/*
 * Make an empty one for rows with the columns of like, of which they may have more.  NULLs are equal, as in GROUP BY.  *keys and
 * the types of like live as long as the table.  All of its memory is in context: a caller who wants to forget the keys resets
 * that and makes another table.
 */
extern key_table *key_table_create(MemoryContext context, const group_keys *keys, const chunk *like);

/*
 * Return the number of each row's keys, in an array that is valid until the next call; NULL if there are no keys: then all
 * rows have the number 0.  Keys are numbered 0, 1, 2 … as they come; of the new ones of a call, those whose code others have
 * come last.  If not adds, since there is no memory for more or since rows are only looked up, rows with new keys have no place,
 * and get the number of keys that there are.
 */
extern const uint32 *key_table_find(key_table *table, const chunk *rows, bool adds);

/* The first row of each key that was added, by its number.  Valid until the next call of the function above. */
extern const chunk *key_table_rows(const key_table *table);

#endif							/* MGPU_BATCH_KEY_TABLE_H */
