/*
 * table_lates.h
 *		Columns that come late: a job returns where their rows are, by which they are fetched from their tables in the end.
 */
#ifndef MGPU_QUERY_TABLE_LATES_H
#define MGPU_QUERY_TABLE_LATES_H

#include "query/table_job.h"

/* The join whose build has a variable; NULL: it is the table's, or computed. */
extern const table_join *table_join_of(const table_question *question, const Var *var);

/* Whether rows of a column's table are fetched anyway. */
extern bool table_late_has(const table_job *job, const table_question *question, int number);

/* Have a column come late: its value is its row's TID, which may be several columns'.  NULL: it is of no table whose rows have TIDs. */
extern table_value *table_late_take(table_job *job, const table_question *question, int number);

#endif							/* MGPU_QUERY_TABLE_LATES_H */
