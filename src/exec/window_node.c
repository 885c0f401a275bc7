/*
 * window_node.c
 *		MgpuWindow: computes window functions, row by row in the order of the rows.
 *
 * The node's child is PostgreSQL's WindowAgg, or several, over an MgpuSort, and the scan tuple is what that returns.  If the sorted rows
 * are in memory, the node takes them from there and computes the functions itself.  WindowAgg copies each row into a
 * store first and calls a function for each value.  If the rows did not fit, WindowAgg computes everything: it has
 * files for partitions of any size.
 *
 * Rows of a partition lie side by side, so one comparison with its neighbour tells where a row stands.  Where frames begin
 * with the partition, aggregates add what the frame gains; of a few rows around the row, they are computed anew.  Nothing is taken back, so
 * floats are added one after the other, as PostgreSQL does.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "declined.h"
#include "exec/reduced.h"
#include "exec/sort.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS 1024

typedef struct window_function
{
	window_kind kind;
	int			column;			/* of the argument, or -1 */
	int			offset;			/* in rows */
	Datum		otherwise;		/* where there is no such row */
	bool		otherwise_is_null;

	int			frame;			/* its number */

	/* of an aggregate: the frame so far, and what is returned for it */
	reduction	reduction;
	reduced_values values;
	reduced_state state;
	Datum		result;
	bool		result_is_null;
} window_function;

/* Of a window; all have one order, or none. */
typedef struct frame_state
{
	window_frame end;
	int			preceding;		/* as a query has them */
	int			following;
	MemoryContext states;		/* what states of the partition, or of the frame, point to ... */
	MemoryContext results;		/* ... and results */
	uint64		first;			/* place of its first row ... */
	uint64		behind;			/* ... and behind its last */
} frame_state;

/* A running node. */
typedef struct window_state
{
	node_state	node;			/* its child is the WindowAgg */
	sort_state *sort;			/* the WindowAgg's child */
	row_compare partition;		/* the partition keys */
	row_compare order;			/* the order keys */
	int			num_frames;
	frame_state *frames;
	int			num_functions;
	window_function *functions;
	/* rows by their place in the order */
	uint64		place;			/* of the next row */
	uint64		first;			/* of its partition */
	int64		rank;
	int64		dense_rank;
} window_state;

static bool
are_equal(const window_state *state, const row_compare *keys, uint64 a, uint64 b)
{
	const sort_state *sort = state->sort;

	return row_compare_are_equal(keys, sort->node.rows, sort_row_at(sort, a), sort_row_at(sort, b));
}

static void
get_value(const window_state *state, const window_function *function, uint64 place, Datum *value, bool *is_null)
{
	const column *col = &state->sort->node.rows->columns[function->column];
	uint64		row = sort_row_at(state->sort, place);

	*is_null = column_is_null(col, row);
	*value = *is_null ? (Datum) 0 : cell_datum(col->type, col->cells, row);
}

/* ---- aggregates */

static void
forget_states(window_state *state, int number)
{
	MemoryContextReset(state->frames[number].states);
	for (int i = 0; i < state->num_functions; i++)
		if (state->functions[i].frame == number)
			memset(&state->functions[i].state, 0, sizeof(reduced_state));
}

/* Add rows to a frame, and compute what aggregates return for it. */
static void
add_rows(window_state *state, int number, uint64 begin, uint64 end)
{
	const chunk *rows = state->sort->node.rows;
	row_groups	numbers = {.numbers = (uint32 *) state->sort->numbers};
	MemoryContext caller;

	MemoryContextReset(state->frames[number].results);
	caller = MemoryContextSwitchTo(state->frames[number].results);
	for (int i = 0; i < state->num_functions; i++)
	{
		window_function *function = &state->functions[i];

		if (function->kind != WINDOW_AGGREGATE || function->frame != number)
			continue;
		reduced_add_rows(&function->values, rows, &numbers, begin, end, &function->state);
		function->result = reduced_result(function->reduction, &function->state,
										  function->column < 0 ? 0 : rows->columns[function->column].type->width, &function->result_is_null);
	}
	MemoryContextSwitchTo(caller);
}

static bool
is_in_frame(const window_state *state, const frame_state *frame, uint64 place)
{
	if (place == state->place)
		return true;
	if (place >= state->sort->node.rows->num_rows || frame->end == WINDOW_ROWS)
		return false;
	return are_equal(state, &state->partition, state->place, place) &&
		(frame->end == WINDOW_PARTITION || are_equal(state, &state->order, state->place, place));
}

/* Go on to the end of the row's frame, which begins with the partition. */
static void
extend_frame(window_state *state, int number)
{
	frame_state *frame = &state->frames[number];
	uint64		place = state->place;

	for (; is_in_frame(state, frame, place); place++)
		if (place % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
	add_rows(state, number, frame->behind, place);
	frame->behind = place;
}

/* The frame of some rows around the row. */
static void
move_frame(window_state *state, int number)
{
	frame_state *frame = &state->frames[number];
	uint64		last = Min(state->place + frame->following, state->sort->node.rows->num_rows - 1);

	while (last > state->place && !are_equal(state, &state->partition, state->place, last))
		last--;
	frame->first = state->place - Min(state->place - state->first, (uint64) frame->preceding);
	frame->behind = last + 1;
	forget_states(state, number);
	add_rows(state, number, frame->first, frame->behind);
}

/* ---- a row */

static void
start_partition(window_state *state)
{
	state->first = state->place;
	state->dense_rank = 0;
	for (int i = 0; i < state->num_frames; i++)
	{
		state->frames[i].first = state->frames[i].behind = state->place;
		forget_states(state, i);
	}
}

static void
find_place(window_state *state)
{
	uint64		place = state->place;
	bool		is_new = place == 0 || !are_equal(state, &state->partition, place - 1, place);

	if (is_new)
		start_partition(state);
	if (is_new || !are_equal(state, &state->order, place - 1, place))
	{
		state->rank = place - state->first + 1;
		state->dense_rank++;
	}
	for (int i = 0; i < state->num_frames; i++)
	{
		if (state->frames[i].preceding >= 0)
			move_frame(state, i);
		else if (place >= state->frames[i].behind)
			extend_frame(state, i);
	}
}

static void
get_other_row(const window_state *state, const window_function *function, Datum *value, bool *is_null)
{
	int64		place = (int64) state->place + function->offset;

	if (place >= 0 && place < (int64) state->sort->node.rows->num_rows && are_equal(state, &state->partition, state->place, place))
	{
		get_value(state, function, place, value, is_null);
		return;
	}
	*value = function->otherwise;
	*is_null = function->otherwise_is_null;
}

static void
compute(const window_state *state, const window_function *function, Datum *value, bool *is_null)
{
	*is_null = false;
	switch (function->kind)
	{
		case WINDOW_ROW_NUMBER:
			*value = Int64GetDatum(state->place - state->first + 1);
			break;
		case WINDOW_RANK:
			*value = Int64GetDatum(state->rank);
			break;
		case WINDOW_DENSE_RANK:
			*value = Int64GetDatum(state->dense_rank);
			break;
		case WINDOW_OTHER_ROW:
			get_other_row(state, function, value, is_null);
			break;
		case WINDOW_FIRST_VALUE:
			get_value(state, function, state->frames[function->frame].first, value, is_null);
			break;
		case WINDOW_LAST_VALUE:
			get_value(state, function, state->frames[function->frame].behind - 1, value, is_null);
			break;
		default:
			*value = function->result;
			*is_null = function->result_is_null;
	}
}

/* ---- returning */

/* The next row as the scan tuple, or NULL. */
static TupleTableSlot *
next_row(window_state *state)
{
	TupleTableSlot *slot = state->node.css.ss.ss_ScanTupleSlot;
	const chunk *rows = state->sort->node.rows;
	MemoryContext caller;

	if (state->place >= rows->num_rows)
		return NULL;
	sort_fetch_ahead(state->sort, state->place);
	ExecClearTuple(slot);
	rows_fill_values(rows, sort_row_at(state->sort, state->place), slot->tts_values, slot->tts_isnull);
	caller = MemoryContextSwitchTo(state->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	find_place(state);
	for (int i = 0; i < state->num_functions; i++)
		compute(state, &state->functions[i], &slot->tts_values[rows->num_columns + i], &slot->tts_isnull[rows->num_columns + i]);
	MemoryContextSwitchTo(caller);
	state->place++;
	return ExecStoreVirtualTuple(slot);
}

/* Have windows, and the sort below, know which parameters have changed: rows do not come through them. */
static void
start_windows(PlanState *window)
{
	for (; IsA(window, WindowAggState); window = outerPlanState(window))
		if (window->chgParam)
			ExecReScan(window);
}

static TupleTableSlot *
next(node_state *node)
{
	window_state *state = (window_state *) node;

	if (!node->ended)
	{
		start_windows(node->child);
		sort_prepare(state->sort);
		state->place = 0;
		node->ended = true;
	}
	return sort_has_all_rows(state->sort) ? next_row(state) : ExecProcNode(node->child);
}

/* ---- beginning */

static void
start_aggregate(const window_state *state, window_function *function, Oid aggregate)
{
	const known_reduction *known = known_reduction_of(aggregate);

	function->reduction = known->reduction;
	function->values = (reduced_values) {
		.kind = known->kind,.column = function->column,.filter = -1,.context = state->frames[function->frame].states,
		.sums = known->reduction == REDUCE_FLOAT4_SUM || known->reduction == REDUCE_FLOAT8_SUM
	};
}

static void
start_frames(window_state *state, const query *query)
{
	state->num_frames = list_length(query->frames);
	state->frames = palloc0(state->num_frames * sizeof(frame_state));
	for (int i = 0; i < state->num_frames; i++)
		state->frames[i] = (frame_state) {
			.end = list_nth_int(query->frames, i),.preceding = list_nth_int(query->preceding, i),.following = list_nth_int(query->following, i),
			.states = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg window states", ALLOCSET_SMALL_SIZES),
			.results = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg window results", ALLOCSET_SMALL_SIZES)
		};
}

static void
start_functions(window_state *state, const query *query)
{
	state->num_functions = list_length(query->functions);
	state->functions = palloc0(state->num_functions * sizeof(window_function));
	for (int i = 0; i < state->num_functions; i++)
	{
		window_function *function = &state->functions[i];
		const Const *otherwise = list_nth(query->defaults, i);

		function->kind = list_nth_int(query->functions, i);
		function->column = list_nth_int(query->arguments, i);
		function->frame = list_nth_int(query->of_frames, i);
		function->offset = list_nth_int(query->offsets, i);
		function->otherwise_is_null = otherwise == NULL || otherwise->constisnull;
		function->otherwise = function->otherwise_is_null ? (Datum) 0 : otherwise->constvalue;
		if (function->kind == WINDOW_AGGREGATE)
			start_aggregate(state, function, list_nth_oid(query->aggregates, i));
	}
}

static void
begin(node_state *node)
{
	window_state *state = (window_state *) node;
	const query *query = node->query;
	int			num_partitions = query->num_partition_keys;
	PlanState  *below = node->child;
	const chunk *rows;

	while (IsA(below, WindowAggState))
		below = outerPlanState(below);
	state->sort = (sort_state *) castNode(CustomScanState, below);
	if (state->sort->node.css.methods != node->css.methods || state->sort->node.operator != &sort_operator)
		elog(ERROR, "the child of MgpuWindow's WindowAgg is not MgpuSort");
	rows = state->sort->node.rows;
	state->partition = node_order(query, rows, 0, num_partitions);
	state->order = node_order(query, rows, num_partitions, list_length(query->order_columns) - num_partitions);
	start_frames(state, query);
	start_functions(state, query);
}

static void
explain(node_state *node, List *ancestors, ExplainState *es)
{
	report_printed(es, DECLINED_WINDOW);
}

const node_operator window_operator = {
	.name = "MgpuWindow",
	.state_bytes = sizeof(window_state),
	.begin = begin,
	.next = next,
	.explain = explain
};
