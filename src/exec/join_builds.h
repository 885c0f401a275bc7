/*
 * join_builds.h
 *		Builds of a table job's joins: the smaller sides, read and put into hash tables (core/build.h).
 */
#ifndef MGPU_EXEC_JOIN_BUILDS_H
#define MGPU_EXEC_JOIN_BUILDS_H

#include "query/join_path.h"
#include "query/table_job.h"
#include "scan/row_source.h"

/* For EXPLAIN, and where a job's builds are. */
typedef struct join_builds
{
	const row_source *source;
	List	   *chunks;			/* rows of each, until they are in builds */
	char	   *memory;			/* NULL: there are none */
	bool		is_read;		/* some of their rows are */
	int64		num_joins;
	int64		num_rows;
} join_builds;

/* Why builds end a job. */
extern const char *const join_has_key_twice;
extern const char *const join_is_large;
extern const char *const join_is_beyond;
extern const char *const join_is_empty;

/*
 * Read the smaller sides, in the current context, and let the joins know how many words their texts have.  Returns NULL, or why no job
 * can have them.
 */
extern const char *join_builds_read(join_builds *builds);

/* Put them into builds, as a job wants them, and describe these in its spec.  Returns NULL, or why not. */
extern const char *join_builds_fill(join_builds *builds, table_job *job);

/* Free all, and forget how many words texts have. */
extern void join_builds_forget(join_builds *builds);

#endif							/* MGPU_EXEC_JOIN_BUILDS_H */
