/*
 * text_width.h
 *		How long texts of an expression are, by statistics.
 */
#ifndef MGPU_QUERY_TEXT_WIDTH_H
#define MGPU_QUERY_TEXT_WIDTH_H

#include "query/table_job.h"

typedef struct text_width
{
	int32		mean;			/* bytes */
	int32		longest;		/* of those that statistics have; 0: none are known */
	double		num_values;		/* that differ; 0: not known */
	int			shown;			/* of a numeric without a declared scale: digits behind the point, at most; 0: not known */
} text_width;

extern text_width text_width_of(const table_question *question, const Expr *expr);

/* The same of a column of a table, which may be InvalidOid. */
extern text_width text_width_of_column(Oid table, AttrNumber number);

#endif							/* MGPU_QUERY_TEXT_WIDTH_H */
