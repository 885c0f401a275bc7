/*
 * window_cells.c
 *		Windows over rows that a job has sorted, as columns: what their values are, and which rows are at hand.
 *
 * Rows of an answer in memory are all at hand.  Of one in files, those are that functions look at (query/window_reach.h), and the first row of the
 * partition that goes on there.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "compat.h"
#include "core/program/real_bits.h"
#include "exec/window_cells.h"
#include "query/window_columns.h"

/* A number in place of a numeric. */
#define MOST_NUMBER_DIGITS 17

/* What a mean is made of. */
#define MEAN_FUNCTIONS 2

/* ---- what values are */

static Datum
power_of_ten_numeric(int exponent)
{
	return DirectFunctionCall2(numeric_power, NumericGetDatum(int64_to_numeric(10)), NumericGetDatum(int64_to_numeric(exponent)));
}

/* A constant as a number of so many digits behind the point.  false: it has more, or is too large. */
static bool
number_of_numeric(Datum numeric, int scale, int64 *number, int *shown)
{
	Datum		most = power_of_ten_numeric(MOST_NUMBER_DIGITS - scale);

	if (numeric_is_nan(DatumGetNumeric(numeric)) || numeric_is_inf(DatumGetNumeric(numeric)) ||
		!DatumGetBool(DirectFunctionCall2(numeric_lt, DirectFunctionCall1(numeric_abs, numeric), most)))
		return false;
	*shown = DatumGetInt32(DirectFunctionCall1(numeric_scale, numeric));
	if (*shown > scale)
		return false;
	*number = DatumGetInt64(DirectFunctionCall1(numeric_int8, DirectFunctionCall2(numeric_mul, numeric, power_of_ten_numeric(scale))));
	return true;
}

/* The number of a constant that stands for a missing row.  false: it has none. */
static bool
describe_constant(cell_function *function, const Const *constant, cell_value *result)
{
	const value_cells *form = &function->argument.cells;
	int			shown;

	function->has_constant = true;
	if (form->form == CELLS_NUMERIC)
	{
		if (!number_of_numeric(constant->constvalue, form->scale, &function->constant, &shown))
			return false;
		result->shows_less = shown < form->scale;
		return true;
	}
	if (form->kind != MGPU_KEY_FLOAT)
		function->constant = DatumGetInt64(constant->constvalue);
	else
		function->constant = mgpu_bits_of_real(form->width == sizeof(float4) ? DatumGetFloat4(constant->constvalue) : DatumGetFloat8(constant->constvalue));
	return form->form == CELLS_NUMBER;
}

/* What stands for a missing row: a column of the same form, or a constant that is a number.  false: it is another. */
static bool
describe_otherwise(const window_cells *cells, cell_function *function, const Node *otherwise, cell_value *result)
{
	const Const *constant = (const Const *) otherwise;
	const value_cells *form = &function->argument.cells;

	function->otherwise.column = -1;
	if (otherwise == NULL || (IsA(constant, Const) && constant->constisnull))
		return true;
	if (!IsA(otherwise, Const))
	{
		function->otherwise = cells->values[intVal(otherwise)];
		return function->otherwise.cells.form == form->form && function->otherwise.cells.num_cells == form->num_cells &&
			function->otherwise.cells.scale == form->scale;
	}
	return describe_constant(function, constant, result);
}

static void
be_number(value_cells *cells, Oid type_id)
{
	*cells = (value_cells) {
		.form = CELLS_NUMBER,.num_cells = 1,.kind = type_id == FLOAT8OID ? MGPU_KEY_FLOAT : MGPU_KEY_SIGNED,.width = get_typlen(type_id)
	};
}

/* A mean is the quotient of a sum and a count, which become functions behind the others.  false: it is none of these. */
static bool
describe_mean(window_cells *cells, const cell_function *mean, reduction of_sum, cell_value *result)
{
	int			sum = cells->num_values;
	cell_function *functions = &cells->functions[sum - cells->num_columns];

	cells->num_values += MEAN_FUNCTIONS;
	functions[0] = functions[1] = *mean;
	cells->values[sum].column = cells->values[sum + 1].column = -1;
	*result = (cell_value) {.cells.form = CELLS_QUOTIENT,.column = -1,.sum = sum};
	return window_sums_describe(&functions[0], of_sum, NUMERICOID, &cells->values[sum].cells) &&
		window_sums_describe(&functions[1], REDUCE_COUNT, INT8OID, &cells->values[sum + 1].cells);
}

static bool
describe_aggregate(window_cells *cells, cell_function *function, Oid aggregate, Oid result_type, cell_value *result)
{
	const known_reduction *known = known_reduction_of(aggregate);

	if (known == NULL || !window_columns_has(known->reduction))
		return false;
	switch (known->reduction)
	{
		case REDUCE_AVG:
			return describe_mean(cells, function, REDUCE_NUMERIC_SUM, result);
		case REDUCE_AVG_OF_NUMERIC:
			return describe_mean(cells, function, REDUCE_SUM_OF_NUMERIC, result);
		default:
			return window_sums_describe(function, known->reduction, result_type, &result->cells);
	}
}

/* A function, and what it returns. */
static bool
describe_function(window_cells *cells, int number, const query *query, const TargetEntry *entry)
{
	cell_function *function = &cells->functions[number];
	cell_value *result = &cells->values[cells->num_columns + number];
	int			argument = list_nth_int(query->arguments, number);

	function->kind = list_nth_int(query->functions, number);
	function->frame = list_nth_int(query->of_frames, number);
	function->offset = list_nth_int(query->offsets, number);
	function->argument.column = -1;
	result->column = -1;
	if (argument >= 0)
		function->argument = cells->values[argument];
	switch (function->kind)
	{
		case WINDOW_OTHER_ROW:
			*result = function->argument;
			return describe_otherwise(cells, function, list_nth(query->defaults, number), result);
		case WINDOW_FIRST_VALUE:
		case WINDOW_LAST_VALUE:
		case WINDOW_NTH_VALUE:
			*result = function->argument;
			return argument >= 0;
		case WINDOW_AGGREGATE:
			return describe_aggregate(cells, function, list_nth_oid(query->aggregates, number), exprType((Node *) entry->expr), result);
		case WINDOW_NTILE:
		case WINDOW_PERCENT_RANK:
		case WINDOW_CUME_DIST:
			cells->counts = true;
			pg_fallthrough;
		default:
			be_number(&result->cells, exprType((Node *) entry->expr));
			return true;
	}
}

static void
describe_range(const window_cells *cells, cell_frame *frame, const query *query, const CustomScan *scan, const Const *distance)
{
	int			key = llast_int(query->order_columns);
	const TargetEntry *entry = list_nth(scan->custom_scan_tlist, key);

	frame->has_range = true;
	frame->range = (window_range) {getBaseType(exprType((Node *) entry->expr)), distance};
	frame->key = cells->values[key];
	frame->firsts = palloc(CELLS_BATCH_ROWS * sizeof(uint64));
}

static void
describe_frames(window_cells *cells, const query *query, const CustomScan *scan)
{
	cells->num_frames = list_length(query->frames);
	cells->frames = palloc0(cells->num_frames * sizeof(cell_frame));
	for (int i = 0; i < cells->num_frames; i++)
	{
		cell_frame *frame = &cells->frames[i];

		*frame = (cell_frame) {
			.end = list_nth_int(query->frames, i),.preceding = list_nth_int(query->preceding, i),.following = list_nth_int(query->following, i)
		};
		if (list_nth(query->ranges, i))
			describe_range(cells, frame, query, scan, list_nth(query->ranges, i));
	}
}

window_cells *
window_cells_create(const query *query, const CustomScan *scan, const table_job *job)
{
	window_cells *cells = palloc0(sizeof(window_cells));
	int			num_functions = list_length(query->functions);

	cells->num_columns = job->num_values;
	cells->num_values = job->num_values + num_functions;
	cells->values = palloc0((cells->num_values + MEAN_FUNCTIONS * num_functions) * sizeof(cell_value) + 1);
	cells->functions = palloc0((1 + MEAN_FUNCTIONS) * num_functions * sizeof(cell_function) + 1);
	cells->num_partition_keys = query->num_partition_keys;
	cells->reach = window_reach_of(query, true);
	for (int i = 0; i < job->num_values; i++)
		cells->values[i] = (cell_value) {.cells = job->values[i].cells,.column = job->values[i].column};
	describe_frames(cells, query, scan);
	for (int i = 0; i < num_functions; i++)
		if (!describe_function(cells, i, query, list_nth(scan->custom_scan_tlist, cells->num_columns + i)))
			return NULL;
	return cells;
}

/* ---- rows at hand */

static uint64
row_bytes(const window_cells *cells)
{
	return cells->sorted->job.spec->num_columns * sizeof(int64) + sizeof(uint32);
}

static void
have_all(window_cells *cells)
{
	const device_output *outputs = cells->sorted->request.outputs;

	cells->end = cells->num_rows;
	cells->marks = (uint32 *) outputs[0].data;
	for (uint32 i = 0; i < cells->sorted->job.spec->num_columns; i++)
		cells->cells[i] = (int64 *) outputs[1 + i].data;
}

bool
window_cells_may_start(const window_cells *cells, const table_job *job, double num_rows)
{
	double		row_bytes = job->spec->num_columns * sizeof(int64) + sizeof(uint32);

	return cells->reach.keeps != WINDOW_KEEPS_ALL || num_rows * row_bytes <= get_hash_memory_limit();
}

bool
window_cells_start(window_cells *cells, const device_query *sorted)
{
	cells->sorted = sorted;
	cells->num_rows = sorted->request.result.num_returned;
	cells->most_bytes = (Size) window_columns_memory();
	cells->stands = palloc(sizeof(cell_stands));
	cells->values_context = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg values of windows", ALLOCSET_DEFAULT_SIZES);
	if (!sorted->request.in_files)
		have_all(cells);
	return !sorted->request.in_files || cells->reach.keeps != WINDOW_KEEPS_ALL;
}

/* Keep the first row of the partition that the next row goes on with, before it is forgotten. */
static void
pin_start(window_cells *cells)
{
	uint64		start = cells->start;

	if (cells->next == 0 || start < cells->first)
		return;
	cells->pinned_marks = cells->marks[start - cells->first];
	for (uint32 i = 0; i < cells->sorted->job.spec->num_columns; i++)
		cells->pinned_cells[i] = cells->cells[i][start - cells->first];
}

/* Have memory for so many rows.  false: that is more than there may be. */
static bool
make_room(window_cells *cells, uint64 num_rows)
{
	uint64		capacity = Max(cells->capacity, 2 * CELLS_BATCH_ROWS);

	while (capacity < num_rows)
		capacity *= 2;
	if (num_rows > 4 * CELLS_BATCH_ROWS && num_rows * row_bytes(cells) > cells->most_bytes)
		return false;
	if (capacity == cells->capacity)
		return true;
	cells->marks = cells->capacity ? repalloc_huge(cells->marks, capacity * sizeof(uint32)) : MemoryContextAllocHuge(CurrentMemoryContext, capacity * sizeof(uint32));
	for (uint32 i = 0; i < cells->sorted->job.spec->num_columns; i++)
		cells->cells[i] = cells->capacity ? repalloc_huge(cells->cells[i], capacity * sizeof(int64)) :
			MemoryContextAllocHuge(CurrentMemoryContext, capacity * sizeof(int64));
	cells->capacity = capacity;
	return true;
}

/* Forget rows before one, and read those up to another. */
static bool
read_rows(window_cells *cells, uint64 first, uint64 end)
{
	const device_output *outputs = cells->sorted->request.outputs;
	uint64		num_kept = cells->end - first;
	uint64		num_read = end - cells->end;
	uint64		skipped = first - cells->first;

	pin_start(cells);
	if (!make_room(cells, end - first))
		return false;
	memmove(cells->marks, cells->marks + skipped, num_kept * sizeof(uint32));
	(void) run_group_read(&outputs[0], cells->end * sizeof(uint32), num_read * sizeof(uint32), (char *) (cells->marks + num_kept));
	for (uint32 i = 0; i < cells->sorted->job.spec->num_columns; i++)
	{
		memmove(cells->cells[i], cells->cells[i] + skipped, num_kept * sizeof(int64));
		(void) run_group_read(&outputs[1 + i], cells->end * sizeof(int64), num_read * sizeof(int64), (char *) (cells->cells[i] + num_kept));
	}
	cells->first = first;
	cells->end = end;
	return true;
}

/* The first row that the next one looks back to. */
static uint64
first_wanted(const window_cells *cells)
{
	uint64		first = cells->next - Min(cells->next, (uint64) cells->reach.back);

	if (cells->reach.keeps == WINDOW_KEEPS_PARTITION)
		first = Min(first, cells->start);
	return Max(first, cells->first);
}

/* Whether rows go on at the end of those at hand that are looked at together. */
static bool
goes_on(const window_cells *cells, uint64 from)
{
	uint32		ends = cells->reach.keeps == WINDOW_KEEPS_PEERS ? MGPU_MARK_GROUP | MGPU_MARK_PEERS : MGPU_MARK_GROUP;

	if (cells->reach.keeps == WINDOW_KEEPS_ROWS || cells->end == cells->num_rows)
		return false;
	for (uint64 place = from; place < cells->end; place++)
		if ((cells->marks[place - cells->first] & ends) != 0)
			return false;
	return true;
}

bool
window_cells_reach(window_cells *cells, uint32 num_rows)
{
	uint64		behind = cells->next + num_rows;
	uint64		end = Min(behind + cells->reach.ahead, cells->num_rows);
	uint64		searched = behind;

	if (cells->end < end && !read_rows(cells, first_wanted(cells), Min(end + CELLS_BATCH_ROWS, cells->num_rows)))
		return false;
	while (goes_on(cells, searched))
	{
		CHECK_FOR_INTERRUPTS();
		searched = cells->end;
		if (!read_rows(cells, first_wanted(cells), Min(cells->end + Max(CELLS_BATCH_ROWS, cells->end - cells->first), cells->num_rows)))
			return false;
	}
	return true;
}

/* Partitions are looked for once, also where each batch asks for the end of the same. */
uint64
window_cells_look_ahead(window_cells *cells, uint32 marks)
{
	uint32		read[CELLS_BATCH_ROWS];
	uint64		place = cells->end;

	if (marks == MGPU_MARK_GROUP && cells->looked_from <= place && place < cells->looked_end)
		return cells->looked_end;
	while (place < cells->num_rows)
	{
		uint64		num_rows = Min(cells->num_rows - place, CELLS_BATCH_ROWS);
		uint64		i = 0;

		CHECK_FOR_INTERRUPTS();
		(void) run_group_read(&cells->sorted->request.outputs[0], place * sizeof(uint32), num_rows * sizeof(uint32), (char *) read);
		while (i < num_rows && (read[i] & marks) == 0)
			i++;
		place += i;
		if (i < num_rows)
			break;
	}
	if (marks == MGPU_MARK_GROUP)
	{
		cells->looked_from = cells->end;
		cells->looked_end = place;
	}
	return place;
}

void
window_cells_free(window_cells *cells)
{
	if (cells->values_context)
		MemoryContextDelete(cells->values_context);
	cells->values_context = NULL;
}
