/*
 * toast_pages.h
 *		Reads chunks of a stored value that lie in order, page by page.
 */
#ifndef MGPU_TOAST_PAGES_H
#define MGPU_TOAST_PAGES_H

#include "access/detoast.h"
#include "utils/relcache.h"

/*
 * Copy bytes of a value to dest, as far as their chunks lie in order.  offset counts from the start
 * of the value as it is stored.  Returns how many bytes were copied: any number, 0 included, and
 * PostgreSQL has to read the rest.
 */
extern Size toast_pages_read(Relation table, const struct varatt_external *value, Size offset, Size bytes, char *dest);

#endif							/* MGPU_TOAST_PAGES_H */
