/*
 * costs.h
 *		Costs that the plan nodes share, of a row in units of cpu_operator_cost.
 *
 * Measured against PostgreSQL's own nodes: their costs are PostgreSQL's, so these are set such that plans compare
 * as they run (group_paths.c).
 */
#ifndef MGPU_QUERY_COSTS_H
#define MGPU_QUERY_COSTS_H

#define COLUMN_COST 0.1			/* keeping a value */
#define FOLD_COST 0.15			/* finding a row's group by hashing */

/* A node's start, as much as 100 us take elsewhere, whatever the number of rows. */
#define START_COST 20.0

#endif							/* MGPU_QUERY_COSTS_H */
