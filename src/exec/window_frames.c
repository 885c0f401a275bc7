/*
 * window_frames.c
 *		Where a row of MgpuWindow stands in its partition, and the aggregates of its frames.
 *
 * Rows of a partition lie side by side, so one comparison with its neighbour tells where a row stands.  Where frames begin
 * with the partition, aggregates add what the frame gains.  Where they move, what is exact takes back what the frame loses (exec/reduced_back), and the rest is computed anew, so
 * that floats are added one after the other, as PostgreSQL does.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/window.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS 1024

bool
window_rows_are_equal(const window_state *state, const row_compare *keys, uint64 a, uint64 b)
{
	const window_rows *input = &state->input;

	return row_compare_are_equal(keys, input->rows, window_row_at(input, a), input->rows, window_row_at(input, b));
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

/* Take back what a frame has lost since it was at these rows.  The first row that is to be added then. */
static uint64
take_rows_back(const window_state *state, window_function *function, const frame_state *frame, uint64 first, uint64 behind)
{
	row_groups	numbers = {.numbers = (uint32 *) state->input.numbers};
	uint64		at_hand = state->input.first;

	if (frame->first < behind && function->takes_back &&
		reduced_take_back(&function->values, state->input.rows, &numbers, first - at_hand, frame->first - at_hand, &function->state))
		return behind;
	if (function->takes_back)
		MemoryContextReset(function->values.context);
	memset(&function->state, 0, sizeof(reduced_state));
	return frame->first;
}

/* Have the states of a frame's aggregates be of its rows, no more of those from `first` to `behind`, and compute what they return. */
static void
take_rows(window_state *state, int number, uint64 first, uint64 behind)
{
	const chunk *rows = state->input.rows;
	const frame_state *frame = &state->frames[number];
	row_groups	numbers = {.numbers = (uint32 *) state->input.numbers};
	uint64		at_hand = state->input.first;
	MemoryContext caller;

	MemoryContextReset(state->frames[number].results);
	caller = MemoryContextSwitchTo(state->frames[number].results);
	for (int i = 0; i < state->num_functions; i++)
	{
		window_function *function = &state->functions[i];
		uint64		begin = behind;

		if (function->kind != WINDOW_AGGREGATE || function->frame != number)
			continue;
		if (frame->first != first)
			begin = take_rows_back(state, function, frame, first, behind);
		reduced_add_rows(&function->values, rows, &numbers, begin - at_hand, frame->behind - at_hand, &function->state);
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
	if (place >= window_rows_end(&state->input))
		return false;
	return window_rows_are_equal(state, &state->partition, state->place, place) &&
		(frame->end == WINDOW_PARTITION || window_rows_are_equal(state, &state->order, state->place, place));
}

/* Behind the last row of a frame of rows, some of which are behind the row at hand, or none. */
static uint64
end_of_rows(const window_state *state, const frame_state *frame)
{
	uint64		place = state->place;
	uint64		last = Min(place + Max(frame->following, 0), window_rows_end(&state->input) - 1);

	if (frame->following < 0)
		return place + 1 - Min((uint64) -frame->following, place + 1 - frame->first);
	while (last > place && !window_rows_are_equal(state, &state->partition, place, last))
		last--;
	return last + 1;
}

/* Behind the last row of a frame that ends with the row's equals, or with the partition. */
static uint64
end_of_equals(const window_state *state, const frame_state *frame)
{
	uint64		place = state->place;

	for (; is_in_frame(state, frame, place); place++)
		if (place % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
	return place;
}

/* Go on to the end of the row's frame, which begins with the partition. */
static void
extend_frame(window_state *state, int number)
{
	frame_state *frame = &state->frames[number];
	uint64		behind = frame->behind;

	frame->behind = frame->end == WINDOW_ROWS ? end_of_rows(state, frame) : end_of_equals(state, frame);
	take_rows(state, number, frame->first, behind);
}

/* The frame of some rows around the row. */
static void
move_frame(window_state *state, int number)
{
	frame_state *frame = &state->frames[number];
	frame_state before = *frame;

	frame->first = state->place - Min(state->place - state->first, (uint64) frame->preceding);
	frame->behind = end_of_rows(state, frame);
	take_rows(state, number, before.first, before.behind);
}

/* The order's key of a row; false: it is NULL. */
static bool
get_key(const window_state *state, uint64 place, Datum *key)
{
	const column *col = &state->input.rows->columns[state->order.keys[0].column];
	uint64		row = window_row_at(&state->input, place);

	if (column_is_null(col, row))
		return false;
	*key = cell_datum(col->type, col->cells, row);
	return true;
}

/* The first row of the frame, from a row on that is before it or is it: NULLs are equal to each other alone. */
static uint64
first_in_range(const window_state *state, const window_range *range, uint64 first)
{
	Datum		key;
	Datum		other;
	bool		has_key = get_key(state, state->place, &key);
	int64		bound = has_key ? window_range_bound(range, key) : 0;

	while (first < state->place && (get_key(state, first, &other) != has_key || (has_key && window_range_place(range, other) < bound)))
		first++;
	return first;
}

/* The frame of a distance before the row, which equal rows have, too. */
static void
move_range(window_state *state, int number)
{
	frame_state *frame = &state->frames[number];
	frame_state before = *frame;

	if (state->place < frame->behind)
		return;
	frame->first = first_in_range(state, frame->range, frame->first);
	frame->behind = end_of_equals(state, frame);
	take_rows(state, number, before.first, before.behind);
}

/* ---- a row */

/* Behind the last row from a place on that is equal in some keys. */
static uint64
find_end(const window_state *state, const row_compare *keys, uint64 begin, uint64 end)
{
	uint64		place = begin + 1;

	for (; place < end && window_rows_are_equal(state, keys, begin, place); place++)
		if (place % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
	return place;
}

/* What frames that begin with the partition begin with, which may be forgotten when it is asked for. */
static void
keep_first_values(window_state *state)
{
	const window_rows *input = &state->input;
	uint64		row = window_row_at(input, state->place);
	MemoryContext caller = CurrentMemoryContext;

	for (int i = 0; i < state->num_functions; i++)
	{
		window_function *function = &state->functions[i];
		const column *col;

		if (function->kind != WINDOW_FIRST_VALUE || state->frames[function->frame].preceding >= 0)
			continue;
		col = &input->rows->columns[function->column];
		function->result_is_null = column_is_null(col, row);
		MemoryContextSwitchTo(state->frames[function->frame].states);
		if (!function->result_is_null)
			function->result = datumCopy(cell_datum(col->type, col->cells, row), col->type->element.typbyval, col->type->element.typlen);
	}
	MemoryContextSwitchTo(caller);
}

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
	keep_first_values(state);
}

/* Where there are no partition keys, all rows are one, whether they are at hand or not. */
static uint64
end_of_partition(const window_state *state)
{
	if (state->partition.num_keys == 0)
		return sort_num_rows(state->input.sort);
	return find_end(state, &state->partition, state->place, window_rows_end(&state->input));
}

void
window_find_place(window_state *state)
{
	uint64		place = state->place;
	bool		is_new = place == state->input.first || !window_rows_are_equal(state, &state->partition, place - 1, place);

	if (is_new)
		start_partition(state);
	if (is_new && state->has_end)
		state->behind = end_of_partition(state);
	if (is_new || !window_rows_are_equal(state, &state->order, place - 1, place))
	{
		state->rank = place - state->first + 1;
		state->dense_rank++;
		if (state->has_peers_end)
			state->behind_peers = find_end(state, &state->order, place, Min(state->behind, window_rows_end(&state->input)));
	}
	for (int i = 0; i < state->num_frames; i++)
	{
		if (state->frames[i].range)
			move_range(state, i);
		else if (state->frames[i].preceding >= 0)
			move_frame(state, i);
		else if (state->frames[i].end == WINDOW_ROWS || place >= state->frames[i].behind)
			extend_frame(state, i);
	}
}
