/*
 * page_values.h
 *		Where the values of a heap page's rows are.
 */
#ifndef MGPU_PAGE_VALUES_H
#define MGPU_PAGE_VALUES_H

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "storage/itemid.h"

/* An attribute's values in the rows of a page. */
typedef struct value_list
{
	AttrNumber	attribute;
	int32		offset;			/* in rows that have no NULL, or -1: it depends on the row */
	bool		of_all_rows;	/* else page_values_find leaves it out */
	bool		is_filled;		/* with the values of the rows that were found last */
	bool		has_nulls;		/* in these */
	const char *missing;		/* value in rows older than the attribute; NULL: none */
	const char *values[MaxHeapTuplesPerPage];	/* NULL for NULL */
} value_list;

/* What a walk over a row needs to know of an attribute. */
typedef struct walked_attribute
{
	int16		length;			/* as typlen */
	uint8		align;			/* in bytes */
	int16		list;			/* entry of page_values.lists, or -1: nobody wants it */
} walked_attribute;

/* What a walk over a row needs to know: of its attributes up to the last that is wanted. */
typedef struct value_walk
{
	int			num_attributes;
	walked_attribute *attributes;
} value_walk;

typedef struct page_values
{
	TupleDesc	descriptor;
	int			num_lists;
	value_list **lists;			/* as many as the descriptor has attributes, at most */
	value_walk	all;			/* for all lists */
	value_walk	first;			/* for those of all rows */
	int			num_fixed;		/* of all's attributes, the first ones, whose offsets are fixed */
	uint32		fixed_end;		/* offset behind them */

	/* the rows that were found last */
	uint32		num_rows;
	bool		is_uniform;		/* each value is at its list's offset behind data; lists are filled on demand */
	const char *data[MaxHeapTuplesPerPage];
} page_values;

/* Make one without lists, in the current context. */
extern page_values *page_values_create(TupleDesc descriptor);

/* The number of the list of an attribute, which is made where there is none yet. */
extern int	page_values_want(page_values *values, AttrNumber attribute, bool of_all_rows);

/* Once all lists have been asked for. */
extern void page_values_plan(page_values *values);

/*
 * Find what is wanted of all rows, of those that items point to.  Meanwhile the processor fetches the page ahead, which may
 * be the same.
 */
extern void page_values_find(page_values *values, const char *page, const ItemIdData *items, uint32 num_rows,
							 const char *ahead);

/* Find all that is wanted, of some rows of a page. */
extern void page_values_find_all(page_values *values, const char *page, const ItemIdData *items, uint32 num_rows);

/* A list of what was found.  Who copies a column needs none if the rows are uniform. */
extern const value_list *page_values_list(page_values *values, int number);

#endif							/* MGPU_PAGE_VALUES_H */
