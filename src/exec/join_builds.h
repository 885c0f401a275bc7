/*
 * join_builds.h
 *		Builds of a table job's joins: the smaller sides are read (join_builds.c), measured (join_sizes.c) and put into hash tables (join_fill.c).
 */
#ifndef MGPU_EXEC_JOIN_BUILDS_H
#define MGPU_EXEC_JOIN_BUILDS_H

#include "query/join_path.h"
#include "query/table_job.h"
#include "scan/row_source.h"

/* What a job has returned of a smaller side's rows. */
typedef struct build_cells
{
	MemoryContext context;		/* where it is */
	uint64		num_rows;
	const uint32 *marks;		/* bit i: column i is NULL */
	const int64 *columns[MGPU_GROUP_MAX_COLUMNS];
	const int  *of_outputs;		/* the column that an output of the build's program is */
} build_cells;

/* A smaller side. */
typedef struct build_side
{
	source_join *join;
	bool		by_job;			/* a job of its own reads it */
	bool		is_read;
	uint64		num_rows;
	Size		bytes;			/* of them */
	bool		has_range;		/* their keys are of one cell, between these: none, if the least is the greater */
	int64		least;
	int64		greatest;
	chunk	   *rows;			/* until they are in a build ... */
	build_cells cells;			/* ... or these */
} build_side;

typedef enum build_state
{
	BUILD_UNREAD,				/* no job can read it */
	BUILD_READ,
	BUILD_LARGE					/* its rows take more memory; their number is known */
} build_state;

/* Have a job read a side, in the current context. */
typedef build_state (*build_read_fn) (void *context, source_join *join, const table_build *build, Size most_bytes, build_cells *cells);

/* For EXPLAIN, and where a job's builds are. */
typedef struct join_builds
{
	row_source *source;
	build_read_fn read;
	void	   *context;		/* its argument */
	List	   *sides;			/* build_side, of each join */
	Size		left_bytes;		/* that sides which are not read yet may take */
	int			large;			/* the side that is made in rounds (table_join), if there are several: the last in memory */
	int			num_rounds;
	int			round;			/* whose rows are there */
	char	   *memory;			/* NULL: there are none */
	Size		memory_bytes;
	bool		is_read;		/* some of their rows are */
	int64		num_joins;
	int64		num_by_jobs;	/* of these, those whose smaller side a job has read */
	int64		num_rows;
} join_builds;

/* Why builds end a job. */
extern const char *const join_is_large;
extern const char *const join_is_larger;
extern const char *const join_is_beyond;
extern const char *const join_is_empty;

/*
 * In the current context: decide how sides are read, and let the joins know how many words their texts are expected to have.  Then read those
 * that are read row by row: their joins know it for sure.  Then the job is made, and others are read by jobs, as it wants them.  All return NULL, or
 * why there is no job.  *again: a side has to be read row by row after all, so that the job is another.
 */
extern const char *join_builds_start(join_builds *builds);
extern const char *join_builds_read_rows(join_builds *builds);
extern const char *join_builds_read_cells(join_builds *builds, const table_job *job, bool *again);

/* Have all that is left be read row by row.  false: it was to be anyway. */
extern bool join_builds_give_jobs_up(join_builds *builds);

/* In how many rounds the largest side becomes a build, so that all are expected to fit in memory (join_sizes.c).  false: they will not. */
extern bool join_builds_plan_rounds(join_builds *builds);

/* Words that hold the texts of columns, and digits of numerics, as table_join has them: at least those that are expected, or NULL. */
extern int *join_builds_words(const chunk *rows, const int *expected);

/* What the keys of a side that a job has read lie between. */
extern void join_builds_find_range(build_side *side, const table_build *build);

/* Describe all builds, the large one behind the others; or one, at an offset.  The size of their memory; 0: they are too large. */
extern Size join_builds_plan(const join_builds *builds, mgpu_group_spec *spec);
extern Size join_builds_plan_one(const join_builds *builds, mgpu_group_spec *spec, int number, Size offset);

/* Whether builds of what was read fit in memory; what this side's takes in all rounds; and in how many rounds of it they do fit, 0: in too many. */
extern bool join_builds_fit(const join_builds *builds, const table_job *job);
extern double join_builds_bytes(const join_builds *builds, const table_job *job, int number);
extern int	join_builds_rounds(const join_builds *builds, const table_job *job, int number);

/* Put all sides into builds, and describe these in the job's spec.  Returns NULL, or why not. */
extern const char *join_builds_fill(join_builds *builds, table_job *job);

/* Once the executor has read all pages: read the large side's rows of the next round, and fill its build anew.  The others stay.  Returns as above. */
extern const char *join_builds_read_round(join_builds *builds, table_job *job);
extern const char *join_builds_fill_round(join_builds *builds, table_job *job);
extern void join_builds_free_rows(join_builds *builds);

/* Free all, and forget how many words texts have. */
extern void join_builds_forget(join_builds *builds);

#endif							/* MGPU_EXEC_JOIN_BUILDS_H */
