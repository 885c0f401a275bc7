/*
 * index_scan.c
 *		Collects the rows of a table for an index.
 *
 * PostgreSQL's own scan says which rows belong into an index and where: chains of HOT updates, rows that old snapshots
 * see, and rows of transactions in progress are its business.
 */
#include "postgres.h"

#include "access/tableam.h"

#include "compat.h"
#include "index/index_scan.h"

/* A row of PostgreSQL's scan. */
static void
take_row(Relation index, ItemPointer place, Datum *values, bool *nulls, bool is_alive, void *state)
{
	index_rows_add(state, place, values, nulls, !is_alive);
}

double
index_scan(Relation heap, IndexInfo *info, index_rows *rows)
{
	return table_index_build_scan(heap, rows->keys->index, info, true, true, take_row, rows, NULL);
}
