/*
 * window_node.c
 *		MgpuWindow: computes window functions, row by row in the order of the rows.
 *
 * The node's child is PostgreSQL's WindowAgg, or several, over an MgpuSort, and the scan tuple is what that returns.  If the sorted rows
 * are in memory, the node takes them from there and computes the functions itself.  WindowAgg copies each row into a
 * store first and calls a function for each value.  If the rows did not fit, those around the row at hand are in memory (window_rows.c).  Where that
 * would be all of them, WindowAgg computes everything: it has files for any number of rows.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "declined.h"
#include "exec/window.h"

static void
get_column(const window_state *state, int number, uint64 place, Datum *value, bool *is_null)
{
	const column *col = &state->input.rows->columns[number];
	uint64		row = window_row_at(&state->input, place);

	*is_null = column_is_null(col, row);
	*value = *is_null ? (Datum) 0 : cell_datum(col->type, col->cells, row);
}

static void
get_value(const window_state *state, const window_function *function, uint64 place, Datum *value, bool *is_null)
{
	get_column(state, function->column, place, value, is_null);
}

static void
get_other_row(const window_state *state, const window_function *function, Datum *value, bool *is_null)
{
	int64		place = (int64) state->place + function->offset;

	if (place >= (int64) state->first && place < (int64) window_rows_end(&state->input) &&
		(function->offset <= 0 || window_rows_are_equal(state, &state->partition, state->place, place)))
	{
		get_value(state, function, place, value, is_null);
		return;
	}
	*value = function->otherwise;
	*is_null = function->otherwise_is_null;
	if (function->otherwise_column >= 0)
		get_column(state, function->otherwise_column, state->place, value, is_null);
}

static void
get_result(const window_function *function, Datum *value, bool *is_null)
{
	*value = function->result;
	*is_null = function->result_is_null;
}

/* What a partition begins with is kept. */
static void
get_first_value(const window_state *state, const window_function *function, Datum *value, bool *is_null)
{
	const frame_state *frame = &state->frames[function->frame];

	*value = 0;
	*is_null = frame->first >= frame->behind;
	if (*is_null)
		return;
	if (frame->preceding >= 0)
		get_value(state, function, frame->first, value, is_null);
	else
		get_result(function, value, is_null);
}

static void
get_last_value(const window_state *state, const window_function *function, Datum *value, bool *is_null)
{
	const frame_state *frame = &state->frames[function->frame];

	*value = 0;
	*is_null = frame->first >= frame->behind;
	if (!*is_null)
		get_value(state, function, frame->behind - 1, value, is_null);
}

static void
get_nth_value(const window_state *state, const window_function *function, Datum *value, bool *is_null)
{
	const frame_state *frame = &state->frames[function->frame];
	uint64		place = frame->first + function->offset - 1;

	*value = 0;
	*is_null = place >= frame->behind;
	if (!*is_null)
		get_value(state, function, place, value, is_null);
}

/* The first parts have a row more if the rows are no multiple of them. */
int32
window_part_of(uint64 row, uint64 num_rows, uint64 num_parts)
{
	uint64		part_rows = num_rows / num_parts;
	uint64		num_larger = num_rows % num_parts;
	uint64		in_larger = num_larger * (part_rows + 1);

	return (int32) (row < in_larger ? row / (part_rows + 1) : num_larger + (row - in_larger) / part_rows) + 1;
}

/* Of percent_rank or cume_dist. */
static double
share_of(const window_state *state, window_kind kind)
{
	uint64		num_rows = state->behind - state->first;

	if (kind == WINDOW_CUME_DIST)
		return (double) (state->behind_peers - state->first) / (double) num_rows;
	return num_rows <= 1 ? 0 : (double) (state->rank - 1) / (double) (num_rows - 1);
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
			get_first_value(state, function, value, is_null);
			break;
		case WINDOW_LAST_VALUE:
			get_last_value(state, function, value, is_null);
			break;
		case WINDOW_NTH_VALUE:
			get_nth_value(state, function, value, is_null);
			break;
		case WINDOW_NTILE:
			*value = Int32GetDatum(window_part_of(state->place - state->first, state->behind - state->first, (uint64) function->offset));
			break;
		case WINDOW_PERCENT_RANK:
		case WINDOW_CUME_DIST:
			*value = Float8GetDatum(share_of(state, function->kind));
			break;
		default:
			get_result(function, value, is_null);
	}
}

/* ---- returning */

/* The next row as the scan tuple, or NULL. */
static TupleTableSlot *
next_row(window_state *state)
{
	TupleTableSlot *slot = state->node.css.ss.ss_ScanTupleSlot;
	const chunk *rows;
	MemoryContext caller;

	if (!window_rows_reach(&state->input, state->place, state->first))
		return NULL;
	rows = state->input.rows;
	if (state->input.numbers)
		sort_fetch_ahead(state->input.sort, state->place);
	ExecClearTuple(slot);
	rows_fill_values(rows, window_row_at(&state->input, state->place), slot->tts_values, slot->tts_isnull);
	caller = MemoryContextSwitchTo(state->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	window_find_place(state);
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
		state->has_rows = window_rows_start(&state->input);
		state->place = state->first = 0;
		node->ended = true;
	}
	return state->has_rows ? next_row(state) : ExecProcNode(node->child);
}

/* ---- beginning */

static void
start_aggregate(const window_state *state, window_function *function, Oid aggregate)
{
	const known_reduction *known = known_reduction_of(aggregate);
	const List *columns = ((const CustomScan *) state->node.css.ss.ps.plan)->custom_scan_tlist;
	const TargetEntry *argument = function->column < 0 ? NULL : list_nth(columns, function->column);
	const frame_state *frame = &state->frames[function->frame];

	function->reduction = known->reduction;
	function->takes_back = (frame->preceding >= 0 || frame->range) && reduction_takes_back(known->reduction, argument ? (const Node *) argument->expr : NULL);
	function->values = (reduced_values) {
		.kind = known->kind,.column = function->column,.filter = -1,
		.context = function->takes_back ? AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg state of a window", ALLOCSET_SMALL_SIZES) : frame->states,
		.sums = known->reduction == REDUCE_FLOAT4_SUM || known->reduction == REDUCE_FLOAT8_SUM
	};
}

static const window_range *
window_range_of(const query *query, const chunk *rows, int frame)
{
	const Const *distance = list_nth(query->ranges, frame);
	window_range *range = palloc(sizeof(window_range));

	*range = (window_range) {getBaseType(rows->columns[llast_int(query->order_columns)].type->element.type_id), distance};
	return distance ? range : NULL;
}

static void
start_frames(window_state *state, const query *query)
{
	state->num_frames = list_length(query->frames);
	state->frames = palloc0(state->num_frames * sizeof(frame_state));
	for (int i = 0; i < state->num_frames; i++)
		state->frames[i] = (frame_state) {
			.end = list_nth_int(query->frames, i),.preceding = list_nth_int(query->preceding, i),.following = list_nth_int(query->following, i),.range = window_range_of(query, state->input.sort->node.rows, i),
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
		const Node *otherwise = list_nth(query->defaults, i);
		const Const *constant = otherwise && IsA(otherwise, Const) ? (const Const *) otherwise : NULL;

		function->kind = list_nth_int(query->functions, i);
		function->column = list_nth_int(query->arguments, i);
		function->frame = list_nth_int(query->of_frames, i);
		function->offset = list_nth_int(query->offsets, i);
		function->otherwise_is_null = constant == NULL || constant->constisnull;
		function->otherwise = function->otherwise_is_null ? (Datum) 0 : constant->constvalue;
		function->otherwise_column = otherwise && constant == NULL ? intVal(otherwise) : -1;
		state->has_end |= function->kind == WINDOW_NTILE || function->kind == WINDOW_PERCENT_RANK || function->kind == WINDOW_CUME_DIST;
		state->has_peers_end |= function->kind == WINDOW_CUME_DIST;
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
	state->input.sort = (sort_state *) below;
	if (node_of(below) == NULL || node_of(below)->operator != &sort_operator)
		elog(ERROR, "the child of MgpuWindow's WindowAgg is not MgpuSort");
	rows = state->input.sort->node.rows;
	state->partition = node_order(query, rows, 0, num_partitions);
	state->order = node_order(query, rows, num_partitions, list_length(query->order_columns) - num_partitions);
	state->keys = node_order(query, rows, 0, list_length(query->order_columns));
	state->input.reach = window_reach_of(query, false);
	if (state->input.reach.keeps != WINDOW_KEEPS_ROWS)
		state->input.together = state->input.reach.keeps == WINDOW_KEEPS_PEERS ? &state->keys : &state->partition;
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
