/*
 * table_order.h
 *		Of ORDER (table.h): rows as sort keys, and their order.
 */
#ifndef MGPU_TABLE_ORDER_H
#define MGPU_TABLE_ORDER_H

#include "core/cpu/table/table_groups.h"

struct mgpu_table_batch;

/* Bits of a row's sort key: some of a column's code, or whether it is NULL. */
typedef struct mgpu_table_field
{
	uint8_t		column;
	uint8_t		is_null_flag;
	uint8_t		shift;
	uint8_t		bits;
	uint8_t		is_flipped;		/* descending, or NULLs first */
	uint64_t	base;			/* taken off a code; of a flipped field, what a code is taken off */
} mgpu_table_field;

#define MGPU_TABLE_MAX_FIELDS 128

/* Fields of one sort: as many as fit beside a row's number. */
typedef struct mgpu_table_level
{
	uint32_t	begin;
	uint32_t	end;
	uint32_t	bits;
	uint32_t	order_bits;		/* those at the end that are no key's */
} mgpu_table_level;

typedef struct mgpu_table_order
{
	mgpu_table_field fields[MGPU_TABLE_MAX_FIELDS];
	uint32_t	num_fields;
	uint32_t	num_key_fields;
	mgpu_table_level levels[MGPU_TABLE_MAX_FIELDS];
	uint32_t	num_levels;
	uint32_t	row_bits;
	uint32_t	width;			/* of sort keys: 8 or 16 bytes */
	uint64_t	num_rows;
	void	   *keys;			/* with the numbers of rows in the lowest bits ... */
	void	   *sorted;			/* ... in order */
	uint32_t   *rows;			/* in order; those that come back, once these are known */
	uint64_t	num_selected;	/* rows in order that were looked at */
	uint64_t	numbers[MGPU_LIMIT_DENSE_RANKS + 1];	/* of the last of them in its group, by rules */
	uint8_t    *marks;			/* of them: MGPU_TABLE_STARTS, MGPU_TABLE_DIFFERS */
	struct mgpu_table_batch **batches;
	uint64_t	num_batches;
	uint32_t   *hints;			/* a batch for every MGPU_TABLE_HINT_ROWS rows */
} mgpu_table_order;

/* A row begins a group; it does, or differs from the row before in an order column. */
#define MGPU_TABLE_STARTS 1
#define MGPU_TABLE_DIFFERS 2

#define MGPU_TABLE_HINT_ROWS 256

#endif							/* MGPU_TABLE_ORDER_H */
