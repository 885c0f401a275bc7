/*
 * group_device.c
 *		Has a GPU read the table of an MgpuGroup node, group its rows and compute the aggregates.
 *
 * The GPU returns a record for each group (core/group_spec.h).  Groups take the place of rows, as many at a time as there
 * is memory for.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/group_records.h"
#include "exec/group_state.h"
#include "exec/late_rows.h"
#include "exec/reduced_numeric.h"

/* ---- counts and sums */

static float8
float8_of(uint64 bits)
{
	return DatumGetFloat8((Datum) bits);
}

static float8
real_of(const mgpu_group_column *column, uint64 code)
{
	uint64		bits = mgpu_column_bits(code, MGPU_KEY_FLOAT, column->width);

	return column->width == sizeof(float4) ? DatumGetFloat4((Datum) bits) : float8_of(bits);
}

static reduced_reals
reals_of(const mgpu_group_column *of, const uint64 *words)
{
	if (of->reduction == MGPU_REDUCE_INTEGER)
		return (reduced_reals) {.min = real_of(of, words[3]),.max = real_of(of, words[4])};
	return (reduced_reals) {real_of(of, words[4]), real_of(of, words[5]), float8_of(words[1]), float8_of(words[2]), DatumGetFloat4((Datum) words[3])};
}

/* Of a numeric with a scale, or that shows digits of its own. */
static int128
extreme_of(const value_cells *cells, int64 number)
{
	if (cells->form != CELLS_TIED)
		return reduced_numeric_extreme(number, cells->scale, cells->scale);
	return reduced_numeric_extreme((number - group_record_digits(number)) / CELLS_DIGITS, cells->scale, (int) group_record_digits(number));
}

static Datum
quotient_of(const uint64 *words)
{
	static const value_cells cells = {.form = CELLS_QUOTIENT};
	uint64		bits[CELLS_OF_QUOTIENT];

	group_record_quotient(words, bits);
	return value_cells_datum(&cells, bits);
}

static void
take_extremes(const value_cells *cells, reduced_integers integers, reduced_state *state)
{
	state->numeric_extremes.min = extreme_of(cells, integers.min);
	state->numeric_extremes.max = extreme_of(cells, integers.max);
}

/* Of a number in units of 10^-scale, and its square; or of a quotient and its rest.  The last cell is how many digits are shown. */
static void
take_number(const reduced_column *reduced, const uint64 *record, const uint32 *places, reduced_state *state)
{
	const table_output *output = &reduced->answer->job.outputs[reduced->output];
	const value_cells *cells = &output->cells;
	const uint64 *words = &record[places[output->column]];
	reduced_integers integers = group_record_integers(words);
	int			shown = cells->num_cells > 1 ? (int) group_record_integers(&record[places[output->column + cells->num_cells - 1]]).max : cells->scale;

	if (cells->form == CELLS_TIED_QUOTIENT)
		reduced_numeric_take_extremes(&reduced->values, quotient_of(words + 1), quotient_of(words + 1 + CELLS_OF_QUOTIENT), state);
	else if (cells->form == CELLS_QUOTIENT)
		reduced_numeric_take_quotients(&reduced->values, integers.sum, group_record_integers(&record[places[output->column + 1]]).sum, shown, state);
	else if (reduced->values.kind == REDUCED_SQUARES)
		state->squares = (reduced_squares) {
			.sum = integers.sum,.squares = group_record_integers(&record[places[output->square]]).sum,.scale = cells->scale,.shown = shown
		};
	else if (reduced->values.kind == REDUCED_NUMERIC_SUM)
		reduced_numeric_take_sum(&reduced->values, integers.sum, cells->scale, shown, state);
	else
		take_extremes(cells, integers, state);
}

/* Of the words of its parts. */
static reduced_interval
interval_of(const uint64 *record, const uint32 *places)
{
	return (reduced_interval) {
		.months = (int64) group_record_integers(&record[places[0]]).sum,.days = (int64) group_record_integers(&record[places[1]]).sum,.time = group_record_integers(&record[places[2]]).sum
	};
}

void
reduced_take(reduced_column *reduced, uint32 group)
{
	const device_query *query = reduced->answer;
	const table_output *output = &query->job.outputs[reduced->output];
	const uint64 *record = device_query_record(query, group);
	const mgpu_group_column *of = output->column < 0 ? NULL : &query->request.spec.columns[output->column];
	const uint64 *words = of ? &record[query->request.record.reductions[output->column]] : record;
	reduced_state *state = &reduced->state;
	reduced_integers integers;

	memset(state, 0, sizeof(*state));
	state->count = words[0];
	if (state->count == 0 || of == NULL || of->reduction == MGPU_REDUCE_COUNT || reduced->values.kind == REDUCED_COUNT)
		return;
	if (of->kind == MGPU_KEY_FLOAT)
	{
		state->reals = reals_of(of, words);
		return;
	}
	if (reduced->values.kind == REDUCED_INTERVAL)
	{
		state->interval = interval_of(record, &query->request.record.reductions[output->column]);
		return;
	}
	if (reduced->values.kind >= REDUCED_NUMERIC_SUM)
	{
		take_number(reduced, record, query->request.record.reductions, state);
		return;
	}
	integers = group_record_integers(words);
	/* of one byte, they are unsigned */
	if (of->kind == MGPU_KEY_UNSIGNED)
	{
		integers.min = words[3];
		integers.max = words[4];
	}
	state->integers = integers;
}

/* ---- groups */

static void
put_key(const device_query *query, int number, chunk *rows, uint64 first)
{
	const table_value *value = &query->job.values[number];
	column	   *col = &rows->columns[number];

	for (uint32 group = 0; group < query->num_groups; group++)
	{
		const uint64 *record = device_query_record(query, group);
		bool		is_null = (record[1] >> value->key & 1) != 0;

		chunk_put(rows, col, first + group, is_null ? (Datum) 0 :
				  device_query_datum(query, &value->cells, value->column, &record[query->request.record.keys + value->key]), is_null);
	}
}

/* The TID of a group's row of a table, which is a key of its record. */
static bool
tid_of(void *context, int column, uint64 group, int64 *tid)
{
	const device_query *query = context;
	const mgpu_group_spec *spec = &query->request.spec;
	const uint64 *record = device_query_record(query, (uint32) group);
	uint32		key = 0;

	while (spec->keys[key] != (uint32) column)
		key++;
	*tid = (int64) mgpu_column_bits(record[query->request.record.keys + key], MGPU_KEY_SIGNED, sizeof(int64));
	return (record[1] >> key & 1) == 0;
}

/* Fetch what is not in records. */
static void
take_late(group_state *state, device_query *query)
{
	late_rows	late = {&query->job, state->node.source, state->node.css.ss.ps.state->es_snapshot, state->node.rows, query};

	for (int i = 0; i < query->job.num_lates; i++)
		late_rows_fetch(&late, i, tid_of);
}

/* And what depends on keys. */
void
group_device_put_keys(const device_query *query, chunk *rows)
{
	MemoryContext values = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg keys of a GPU", ALLOCSET_DEFAULT_SIZES);
	uint64		first = chunk_add_rows(rows, query->num_groups);
	MemoryContext caller = MemoryContextSwitchTo(values);

	for (int i = 0; i < query->job.num_values; i++)
	{
		if (query->job.values[i].key >= 0 && query->job.values[i].cells.form != CELLS_LATE)
			put_key(query, i, rows, first);
		MemoryContextReset(values);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(values);
}

/* The groups at hand take the place of rows: one each. */
static void
take(group_state *state, device_query *query)
{
	group_input *input = &state->input;
	ListCell   *cell;

	group_having_cut(state);
	chunk_free(state->node.rows);
	group_device_put_keys(query, state->node.rows);
	take_late(state, query);
	group_values_number(state);
	input->rows = state->node.rows;
	input->derived = NIL;
	input->groups = row_groups_single(input->context, query->num_groups);
	foreach(cell, state->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		if (aggregate->take_device)
			aggregate->take_device(aggregate, query, foreach_current_index(cell));
	}
}

bool
group_device_next(group_state *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->input.context);
	bool		found;

	for (found = device_query_next(state->device); found; found = device_query_next(state->device))
	{
		CHECK_FOR_INTERRUPTS();
		take(state, state->device);
		if (state->device->num_groups > 0)
			break;
		MemoryContextReset(state->input.context);
	}
	MemoryContextSwitchTo(caller);
	state->node.most_bytes = Max(state->node.most_bytes, MemoryContextMemAllocated(state->input.context, true) +
							MemoryContextMemAllocated(state->device->context, true));
	return found;
}

void
group_device_forget(group_state *state)
{
	if (state->device == NULL)
		return;
	group_sets_withdraw(state);
	group_values_forget(state);
	device_query_forget(state->device);
	state->device = NULL;
}

/* ---- the question */

static List *
outputs_of(const group_state *state)
{
	List	   *outputs = NIL;
	ListCell   *cell;

	foreach(cell, ((const CustomScan *) state->node.css.ss.ps.plan)->custom_scan_tlist)
		outputs = lappend(outputs, ((const TargetEntry *) lfirst(cell))->expr);
	return outputs;
}

static int
find_fractions(void *state, int output, double *fractions, int most)
{
	return group_sorted_fractions(((const group_state *) state)->outputs[output].aggregate, fractions, most);
}

bool
group_device_run(group_state *state, uint64 expected_rows)
{
	device_question question = {
		.node = "MgpuGroup",
		.source = state->node.source,
		.below = state->node.below,
		.of = {
			.query = query_of(((const CustomScan *) state->node.css.ss.ps.plan)->custom_private),
			.outputs = outputs_of(state),
			.fractions = find_fractions,
			.context = state
		},
		.tells = group_ties_are_none,
		.expected_rows = expected_rows,
		.expected_results = state->node.css.ss.ps.plan->plan_rows,
		.group_bytes = rows_bytes_of_one(state->node.rows) + sizeof(uint32) + list_length(state->aggregates) * GROUP_STATE_BYTES
	};

	state->device = group_sets_merge(state);
	if (state->device && !group_ties_are_none(state->device))
		group_device_forget(state);
	state->node.is_merged = state->device != NULL;
	if (state->device == NULL && state->node.source)
		state->device = device_query_run(state->node.css.ss.ps.state->es_query_cxt, &question);
	if (state->device && !group_values_find(state, expected_rows))
	{
		group_device_forget(state);
		row_source_start_again(state->node.source);
	}
	if (state->device == NULL)
		return false;
	group_sets_share(state);
	if (!state->node.is_merged)
	{
		state->device->request.run.num_segments = state->device->request.result.num_groups;
		run_report(&state->device->request.run);
	}
	return true;
}
