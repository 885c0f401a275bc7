/*
 * played_group_run.h
 *		Internals of played_group.h: its state, and what its files share.
 *
 * played_group.c reads pages and runs the job, played_order.c puts rows in order, played_reduce.c reduces the values of a group,
 * played_answer.c writes what comes back.
 */
#ifndef MGPU_PLAYED_GROUP_RUN_H
#define MGPU_PLAYED_GROUP_RUN_H

#include "played/played_group.h"

#include "core/group_pairs.h"

/* A row that is kept. */
typedef struct played_row
{
	uint64_t	codes[MGPU_GROUP_MAX_COLUMNS];
	uint32_t	nulls;			/* bit i: column i is NULL */
} played_row;

struct played_group
{
	mgpu_group_spec spec;
	mgpu_group_record record;
	char	   *builds;
	uint8_t    *marked;			/* of each row of the first match's build */
	mgpu_page_places places;
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	played_row *rows;
	uint64_t	num_rows;
	uint64_t	capacity;
	bool		is_damaged;
	bool		has_fault;
	bool		is_odd;
	bool		overflows;
	mgpu_group_result result;
	uint64_t   *order;			/* rows, group after group */
	uint64_t   *records;
	uint64_t   *sorted[MGPU_GROUP_MAX_VALUES];	/* with a limit: values of columns */
};

/* Count, least and greatest code so far. */
typedef struct played_range
{
	uint64_t	count;
	uint64_t	least;
	uint64_t	greatest;
} played_range;

#define PLAYED_NO_VALUES ((played_range) {0, UINT64_MAX, 0})

static inline void
played_add_code(played_range *range, uint64_t code)
{
	range->count++;
	range->least = code < range->least ? code : range->least;
	range->greatest = code > range->greatest ? code : range->greatest;
}

/* A row by its place in the order. */
static inline const played_row *
played_row_at(const played_group *group, uint64_t place)
{
	return &group->rows[group->order[place]];
}

static inline bool
played_is_null(const played_row *row, uint32_t column)
{
	return (row->nulls >> column & 1) != 0;
}

/* ---------------------------------------------------------- played_order.c */

/* Put all rows in the order of keys and order columns, equal ones as they were read. */
void		mgpu_played_order_rows(played_group *group);

/* Where the group that begins at a place ends. */
uint64_t	mgpu_played_group_end(const played_group *group, uint64_t begin);

/* Whether a row and the one before it are equal in all order columns. */
bool		mgpu_played_is_peer(const played_group *group, uint64_t place);

void		mgpu_played_sort_codes(uint64_t *codes, uint64_t count, bool descending);

/* Of two places, the values of a head, which are not NULL: less than 0, 0, or more. */
int			mgpu_played_compare_cells(const played_group *group, uint32_t head, uint64_t a, uint64_t b);
void		mgpu_played_sort_places(const played_group *group, uint32_t head, uint64_t *places, uint64_t count);

/* --------------------------------------------------------- played_reduce.c */

/* The values of a column that are not NULL, of the rows at places from begin to end, to its words of the record. */
void		mgpu_played_reduce(played_group *group, uint32_t number, uint64_t begin, uint64_t end, uint64_t *words);

/* --------------------------------------------------------- played_answer.c */

/* Write the record of a group, and its sorted values. */
void		mgpu_played_write_record(played_group *group, uint64_t begin, uint64_t end);

/* With a limit, write the rows of a group whose numbers are within it. */
void		mgpu_played_return_rows(played_group *group, uint64_t begin, uint64_t end);

#endif							/* MGPU_PLAYED_GROUP_RUN_H */
