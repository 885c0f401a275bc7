/*
 * search.h
 *		Binary search.
 */
#ifndef MGPU_SEARCH_H
#define MGPU_SEARCH_H

/*
 * Move begin up to the first number of [begin, end) for which is_before is false, or
 * to end.  is_before is an expression of middle: true, then false, as middle grows.
 */
#define MGPU_SEARCH(begin, end, is_before) \
	while (begin < end) \
	{ \
		uint64_t	middle = begin + (end - begin) / 2; \
		if (is_before) \
			begin = middle + 1; \
		else \
			end = middle; \
	}

#endif							/* MGPU_SEARCH_H */
