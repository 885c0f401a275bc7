/*
 * datum_codes.h
 *		Values of types that are compared, as 64-bit codes where the type makes
 *		such codes itself.
 */
#ifndef MGPU_DATUM_CODES_H
#define MGPU_DATUM_CODES_H

#include "utils/sortsupport.h"

#include "element_type.h"

/* Values handled before the type is first asked whether codes pay; see tuplesort. */
#define DATUM_CODES_FIRST_QUESTION 10240

/*
 * Prepare support for the type's order, ascending, and its codes.  False: its
 * abbreviated keys, if it has any, are not unsigned numbers.
 */
extern bool datum_codes_prepare(SortSupport support, const element_type *type, Oid collation);

/*
 * codes[i] orders, unsigned, as values[i] does, as far as it goes: different
 * codes decide, equal ones do not.  False if the type has none or finds that
 * they do not pay.  support is prepared for datum_codes_order.
 */
extern bool datum_codes_make(const Datum *values, int64 num_items, const element_type *type,
							 Oid collation, SortSupport support, uint64 *codes);

/*
 * ranks[begin, end) are in the order of their codes, which lie in the same places
 * of sorted: put those of equal codes in order.  Equal values keep theirs.
 */
extern void datum_codes_order(const Datum *values, const uint64 *sorted, int64 begin, int64 end,
							  bool descending, SortSupport support, uint32 *ranks);

#endif							/* MGPU_DATUM_CODES_H */
