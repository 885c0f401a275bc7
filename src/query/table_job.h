/*
 * table_job.h
 *		Table jobs: what a GPU can read and compute of a table.
 *
 * The planner and the executor ask the same function whether a query and the scan below its node make such a job, so they
 * agree.  Only what the planner cannot know is an argument of its own.
 */
#ifndef MGPU_QUERY_TABLE_JOB_H
#define MGPU_QUERY_TABLE_JOB_H

#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"

#include "core/group_spec.h"
#include "expr/cells.h"
#include "query/query.h"
#include "scan/heap_reader.h"

/* Why there is no job, for EXPLAIN. */
#define TABLE_JOB_NONE "a GPU does no statements of this kind"

#define TABLE_JOB_BEYOND "rows of this table were beyond what the statement's program computes"

/* Who runs a job. */
typedef enum table_executor
{
	TABLE_BY_NOBODY,			/* the node reads its rows itself */
	TABLE_BY_THREADS,
	TABLE_BY_GPU
} table_executor;

/* Compute the fractions of an output that is a percentile, or several: agg_percentile_fractions. */
typedef int (*table_fractions_fn) (void *context, int output, double *fractions, int most);

typedef struct table_build table_build;

typedef struct table_question
{
	const query *query;
	table_scan	scan;
	Relation	widths;			/* whose statistics tell how wide texts are: the scan's, or the first of several tables */
	List	   *outputs;		/* MgpuGroup: the expressions of its scan tuple */
	double		num_read;		/* rows that are expected to be read, ... */
	double		num_results;	/* ... and to come back, or groups */
	const table_build *build;	/* not NULL: the cells of the scan's rows are wanted, for a build; then there is no query */
	table_fractions_fn fractions;	/* NULL: the plan does not run yet, and parameters are not known */
	void	   *context;		/* its argument */
} table_question;

/* A column of the node's rows. */
typedef struct table_value
{
	int			column;			/* the spec's first; -1: nobody wants it */
	int			key;			/* the spec's first key; -1: it is none */
	int			late;			/* CELLS_LATE: of which of the job's TIDs */
	value_cells cells;
} table_value;

/* TIDs of the rows of a table, by which columns are fetched in the end. */
typedef struct table_late
{
	int			build;			/* whose table it is; -1: the one that streams */
	int			table;			/* its number there, as of table_join */
	int			column;			/* the spec's */
} table_late;

#define TABLE_MOST_LATES (1 + MGPU_GROUP_MAX_BUILDS)

/* An output of MgpuGroup. */
typedef struct table_output
{
	int			column;			/* the spec's first, of what it is computed from; -1: of the rows */
	int			square;			/* of squares, the column of those */
	int			sort;			/* the spec's, or -1 */
	int			percentile;		/* the first of that sort, or -1 */
	int			num_percentiles;
	int			behind;			/* of a first value: the cells of the order in front of it */
	bool		is_greatest;	/* it, or the greatest of numerics, has the greatest, else the least */
	value_cells cells;
} table_output;

/* Rows of a build that its program runs for at a time, and its most outputs: of a numeric in the key, one is no key. */
#define TABLE_BUILD_STEP_ROWS 512
#define TABLE_BUILD_MOST_OUTPUTS (MGPU_BUILD_MAX_COLUMNS + 2 * MGPU_BUILD_MAX_KEYS)

/* What a build is filled with: a program of its own rows, whose outputs these are. */
struct table_build
{
	expr_program *program;
	List	   *values;			/* build_column: what these are computed of, as a job does that reads the rows */
	bool		may_repeat;		/* as of table_join */
	int			shown_scale;	/* of numerics that show digits of their own */
	int			num_rounds;		/* as of table_join */
	int			round;			/* whose rows a job is to read */
	int			num_keys;
	int			keys[MGPU_BUILD_MAX_KEYS];	/* cells of the key */
	int			num_cells;
	int			cells[MGPU_BUILD_MAX_COLUMNS];
	text_names *names[MGPU_BUILD_MAX_COLUMNS];	/* whose number a cell is, or NULL */
	bool		has_names;		/* some are, so that no job can read the rows */
};

typedef struct table_job
{
	mgpu_group_spec *spec;		/* all but the values of constants */
	expr_program *program;
	int			shown_scale;	/* of all programs of the job */
	uint64		number;			/* of the job and its table, whatever its constants are */
	bool		needs_row;		/* a constant may be computed only if there is a row to compare with it ... */
	bool		needs_queries;	/* ... or if a row meets the conditions before */
	table_value *values;		/* of each column of the node's rows */
	int			num_values;
	table_late	lates[TABLE_MOST_LATES];	/* TIDs that come back */
	int			num_lates;
	table_output *outputs;		/* of each aggregate */
	int			num_outputs;
	table_build *builds;		/* of each join */
	int			round_test;		/* the test of rows of a round, if the rows of a join come in several */
	int			of_tests[MGPU_GROUP_MAX_TESTS]; /* the program's outputs that tests of the spec are ... */
	int			of_columns[MGPU_GROUP_MAX_COLUMNS]; /* ... and columns ... */
	int			of_matches[MGPU_GROUP_MAX_BUILDS];	/* ... and the rows of builds in matches */
	uint32		of_records;		/* bit i: column i is one of several expressions' (table_records.c) */
	int			of_cells[TABLE_BUILD_MOST_OUTPUTS]; /* of a build's rows: the column that an output of its program is */
} table_job;

/* Make a job, whose spec the caller has, in the current context.  Returns NULL, or a constant clause: why there is none. */
extern const char *table_job_make(table_job *job, const table_question *question);

/*
 * Remember, as long as the session lives, that rows of a job's table were beyond what its program computes.  From now on there is no
 * job with its number.
 */
extern void table_job_remember(uint64 number);
extern bool table_job_is_remembered(uint64 number);
extern uint64 table_job_number(const table_job *job, const table_question *question);

/* Have rows be joined that are of a round, in place of the one before. */
extern void table_job_set_round(table_job *job, int round);

/* Write the values of constants, which are computed now.  false: they do not fit. */
extern bool table_job_fill(table_job *job, ExprContext *context);

/*
 * Whether threads may run a job that reads so many rows, of which so many are kept, and so many groups or rows come back: there are
 * some threads, enough to do, and memory for what they keep.  Rows that are to be in order may go to files.
 */
extern bool table_job_has_threads(double num_read);
extern bool table_job_reads_build(double num_read);
extern bool table_job_may_order(const mgpu_group_spec *spec, double num_rows);
extern bool table_job_is_for_threads(const mgpu_group_spec *spec, double num_read, double num_rows, double num_results);

/* Whether a GPU may, whose memory nobody knows here. */
extern bool table_job_is_for_gpu(const mgpu_group_spec *spec, double num_read, double num_rows);

/* Bytes of memory from which on threads are to write rows and groups to a file, UINT64_MAX if there will be no more.  num_read: rows of the table. */
extern uint64 table_job_memory_before_file(const mgpu_group_spec *spec, double num_rows, double num_results, double num_read);

/* Who is expected to do what a node is to do with a path's rows (table_job_path.c).  outputs: as above. */
extern table_executor table_job_expected(PlannerInfo *root, const Path *rows, const query *query, List *outputs, double num_results);

/* The cost of such a path's rows, and the part that is left of what the node does with each. */
extern Cost table_job_scan_cost(PlannerInfo *root, const Path *rows, table_executor executor);

/* The same beside PostgreSQL's paths, whose look-ups in indexes take less than it counts where tables are in memory. */
extern Cost table_job_node_cost(PlannerInfo *root, const Path *rows, table_executor executor);
extern double table_job_part(table_executor executor);

/* The path of a join's smaller side that costs least, read and as a build: the relation's cheapest, or one that a job may read. */
extern Path *table_job_side(PlannerInfo *root, RelOptInfo *rel, Path *scan, Cost *cost);

/* ---- parts of jobs (table_cells.c, table_keys.c) */

/*
 * Take columns that are the same in all rows of a group, since they depend on the keys: as more keys, which tell no more groups apart, or as the TID
 * of their row.  false: that cannot be.
 */
extern bool table_job_take_dependents(table_job *job, const table_question *question);

/* The value of a column, whose cells it takes; NULL: it has none.  Floats that come back are more than their order: show it. */
extern table_value *table_job_value(table_job *job, const table_question *question, int number);
extern void table_job_show(table_job *job, const table_value *value);

static inline Oid
table_column_type(const table_question *question, int column)
{
	return exprType(list_nth(question->scan.columns, column));
}

extern bool table_job_take_keys(table_job *job, const table_question *question);

/* How many of a value's cells, from the first on, are in the order of values; 0: none. */
extern int	table_ordering_cells(const value_cells *cells, Oid type_id, Oid collation);

/* Take rows in order (table_rows.c). */
extern bool table_job_take_rows(table_job *job, const table_question *question);

/* The spec's column that is an output of the program.  -1: there are too many. */
extern int	table_job_column(table_job *job, int output, uint32 kind, uint32 width);

/* The spec's columns of cells, one behind the other: the first.  -1: there are too many. */
extern int	table_job_columns(table_job *job, const value_cells *cells);

/* The spec's columns of an expression's cells, the first of which is returned.  -1: it has none. */
extern int	table_job_cells(table_job *job, const table_question *question, Expr *expr, value_cells *cells);

/* The same where only whether values are equal matters, of which there are so many: long texts are numbers then. */
extern int	table_job_names(table_job *job, const table_question *question, Expr *expr, double num_values, value_cells *cells);

/* The same, but for the columns.  false: it has no cells. */
extern bool table_job_add_names(table_job *job, const table_question *question, Expr *expr, double num_values, value_cells *cells);

/*
 * The same of a row, whose fields are equal as they are in records: a NULL is equal to another.  A row that is not there where a condition is not true is
 * the value of a table_choice.
 */
extern int	table_job_row(table_job *job, const table_question *question, Expr *expr, double num_values, value_cells *cells);

/* Whether an expression is one. */
extern bool table_job_is_row(const Expr *expr);

/* The same of the parts of a quotient, and of an interval's. */
extern int	table_job_quotient(table_job *job, Expr *expr, bool in_order, value_cells *cells);
extern int	table_job_tied_quotient(table_job *job, Expr *expr, value_cells *cells);
extern int	table_job_interval(table_job *job, Expr *expr, value_cells *cells);
extern int	table_job_tied(table_job *job, Expr *expr, value_cells *cells);

/* Words for texts of an expression, or digits behind the point of numerics that show their own; 0: they are too long. */
extern int	table_job_words(const table_question *question, const Expr *expr);

/* The same for a column of a build, which is a table's, or InvalidOid: TABLE_BUILD_NAMED if they are too long. */
#define TABLE_BUILD_NAMED (MOST_CELLS + 1)
extern int	table_job_words_of(const Var *var, Oid table);

/* Find the scale of numerics that show digits of their own, by statistics (shown_scale.c): before the first expression. */
extern void table_job_find_scale(table_job *job, const table_question *question);

/* Add the tests of rows (table_tests.c): conditions and joins.  After the last expression: the builds. */
extern bool table_job_take_tests(table_job *job, const table_question *question);
extern bool table_job_add_test(table_job *job, int output);
extern bool table_job_finish_builds(table_job *job, const table_question *question);

/*
 * Builds (table_builds.c).  Add what a build is filled with, for a job that reads its rows: it returns them all, as they come.  words: of the texts
 * of its columns, by statistics.
 */
extern bool table_job_take_build(table_job *job, const table_question *question);
extern int *table_job_build_words(const table_scan *scan);

/* An expression's cells become outputs of a build's program.  false: it has none. */
extern bool table_build_add(table_build *build, Expr *expr, int num_words, value_cells *cells);

/* Add what MgpuGroup's outputs behind the keys need.  false: a GPU does none of these. */
extern bool table_job_take_outputs(table_job *job, const table_question *question);

/* What a job computes for an aggregate of GROUP_WAY_FEED, whose own functions finish it. */
typedef enum table_feed
{
	TABLE_FEED_NONE,
	TABLE_FEED_EXTREME,			/* the least or greatest text, inet or interval */
	TABLE_FEED_BITS,			/* bits of integers that any has, or all */
	TABLE_FEED_PAIRS			/* a correlation or regression: sums of pairs */
} table_feed;

extern table_feed table_feed_of(const Aggref *aggref);

/* Have a job compute it, as an output.  false: it cannot. */
extern bool table_feed_take(table_job *job, const table_question *question, int number, table_output *output);

/*
 * Have a job find the value of the first row in an aggregate's order: of a head that has the cells of the order, then whether the value is NULL, then its
 * own.  false: it cannot (table_records.c).
 */
extern bool table_first_take(table_job *job, const table_question *question, int number, table_output *output);

/* Add the name of the locale by which columns are collated to a spec with a program, if some are.  false: it does not fit. */
extern bool table_feed_write_locale(const table_job *job);

/* ---- parts of outputs (table_outputs.c), for feeds (table_feeds.c) */

/* value where the condition is true, else NULL. */
extern Expr *table_choice(Expr *condition, Expr *value);

/* True where there is a value, else NULL: of any type, and out of line. */
extern Expr *table_presence(Expr *value);

/*
 * What an aggregate takes of a row: NULL where it takes nothing.  NULL: rows are counted.  columns: of its filter, then of its
 * arguments; -1 for none.  Of a value that is only counted, no more is wanted than that it is there.
 */
extern Expr *table_output_argument(const table_question *question, const List *columns, bool is_counted);

/* Values of several columns are one: the first tells. */
extern void table_output_join(mgpu_group_spec *spec, const table_output *output);

#endif							/* MGPU_QUERY_TABLE_JOB_H */
