/*
 * group_tables.h
 *		Validation of the tables that operations of group specs name.
 */
#ifndef MGPU_GROUP_TABLES_H
#define MGPU_GROUP_TABLES_H

#include "group_spec.h"

/* Whether the table that an operation names, if it names one, is whole.  The operation's code is valid. */
extern bool mgpu_group_table_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op);

#endif							/* MGPU_GROUP_TABLES_H */
