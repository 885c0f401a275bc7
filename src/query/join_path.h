/*
 * join_path.h
 *		Joins in paths of rows that a table job may do: hash joins whose outer side ends in scans.
 */
#ifndef MGPU_QUERY_JOIN_PATH_H
#define MGPU_QUERY_JOIN_PATH_H

#include "nodes/pathnodes.h"

/* Below projections. */
extern const Path *path_below_projections(const Path *path);

/* Which side of a join streams, and which becomes a build; whether that is the outer side (table_join_is_turned). */
extern bool join_path_is_turned(const HashPath *join);
extern const Path *join_path_streaming(const HashPath *join);
extern const Path *join_path_side(const HashPath *join);

/* What of a join is no hash clause: what a pair has to meet that is a match, and what the result has to meet. */
extern void join_path_conditions(const HashPath *join, List **of_match, List **of_result);

/* How many pairs of rows with equal keys a join's other conditions look at; 0: it has no others. */
extern double join_path_pairs(PlannerInfo *root, const HashPath *join);

/*
 * The path whose rows stream through the joins of a path, and these (HashPath), the last one first.  NULL: a join is not a job's, or is
 * expected to be too large.
 */
extern const Path *join_path_stream(PlannerInfo *root, const Path *rows, List **joins);

/* The scans of whole tables by one process whose rows a path's are, or NIL; how many rows they read, of which conditions may leave few. */
extern List *join_path_scans(const Path *path);
extern double join_path_rows_read(const List *scans);

/* Whether a job may read the rows of a join's smaller side. */
extern bool join_path_reads_side(PlannerInfo *root, const Path *side);

/* Whether rows are expected to match several of a smaller side's. */
extern bool join_path_repeats(PlannerInfo *root, const List *joins);

/* What is expected of a join's smaller side. */
typedef struct build_size
{
	double		num_rows;
	int			width;			/* of a row */
	bool		is_dense;		/* its keys probably lie close together */
} build_size;

/* Whether keys of these equalities, RestrictInfos or not, probably do: numbers that were given in turn. */
extern bool join_path_is_dense(const List *clauses);

/*
 * In how many rounds the largest of some builds has to be made, so that they fit in memory together: 1 if all do, 0 if they never do.
 * *largest: its number.
 */
extern int	join_path_rounds(const build_size *sizes, int num_builds, int *largest);

/* The same for a build that has so much memory. */
extern int	join_path_rounds_of_bytes(double bytes, double memory);

/*
 * The rounds of a path's joins; 0: they are no job's, for a build that is too large is read but once.  large: NULL, or out, the path of the
 * side that is made in rounds.  times: so many times as many rows as are expected.
 */
extern int	join_path_rounds_of(PlannerInfo *root, const List *joins, double times, const Path **large);

#endif							/* MGPU_QUERY_JOIN_PATH_H */
