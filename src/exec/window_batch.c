/*
 * window_batch.c
 *		The next rows of windows as a batch (core/input_batch.h): where each row stands, and the values of its columns and functions.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "core/program/real_bits.h"
#include "exec/window_cells.h"

/* A batch that is written. */
typedef struct batch_writer
{
	char	   *memory;
	uint32		num_rows;
	uint32	   *places;			/* of the values of an attribute */
	uint32		used;			/* bytes */
} batch_writer;

#define VALUE_BYTES 8

/* ---- where rows stand */

static void
find_starts(window_cells *cells, uint32 num_rows)
{
	cell_stands *stands = cells->stands;

	for (uint32 i = 0; i < num_rows; i++)
	{
		uint64		place = cells->next + i;
		uint32		marks = cells->marks[place - cells->first];

		if ((marks & MGPU_MARK_GROUP) != 0 || place == 0)
		{
			cells->start = place;
			cells->dense_rank = 0;
		}
		if ((marks & (MGPU_MARK_GROUP | MGPU_MARK_PEERS)) != 0 || place == 0)
		{
			cells->rank = (int64) (place - cells->start) + 1;
			cells->dense_rank++;
		}
		stands->start[i] = cells->start;
		stands->rank[i] = cells->rank;
		stands->dense_rank[i] = cells->dense_rank;
	}
}

/* The next row with a mark, or the end of all; of those at hand, unless rows are counted. */
static uint64
find_mark(window_cells *cells, uint64 place, uint32 marks)
{
	while (place < cells->end && (cells->marks[place - cells->first] & marks) == 0)
		place++;
	return place == cells->end && cells->counts ? window_cells_look_ahead(cells, marks) : place;
}

/* Behind the rows that belong together, which a mark ends, of each row. */
static void
find_ends(window_cells *cells, uint32 marks, uint64 *ends, uint32 num_rows)
{
	uint64		end = find_mark(cells, cells->next + num_rows, marks);

	for (uint32 i = num_rows; i > 0; i--)
	{
		uint64		place = cells->next + i - 1;

		ends[i - 1] = end;
		if ((cells->marks[place - cells->first] & marks) != 0)
			end = place;
	}
}

/* ---- ranges */

/* Whether a row is in front of the frame of another one: NULLs are equal to each other alone. */
static bool
is_in_front(const window_cells *cells, const cell_frame *frame, uint64 place, const int64 *bound)
{
	bool		is_null = window_cell_is_null(cells, frame->key.column, place);

	if (bound == NULL || is_null)
		return (bound == NULL) != is_null;
	return window_range_place(&frame->range, Int64GetDatum(window_cell(cells, frame->key.column, place))) < *bound;
}

/* The first row of each row's frame: they ascend in a partition. */
static void
find_firsts(const window_cells *cells, cell_frame *frame, uint32 num_rows)
{
	const cell_stands *stands = cells->stands;

	for (uint32 i = 0; i < num_rows; i++)
	{
		uint64		place = cells->next + i;
		bool		has_key = !window_cell_is_null(cells, frame->key.column, place);
		int64		bound = has_key ? window_range_bound(&frame->range, Int64GetDatum(window_cell(cells, frame->key.column, place))) : 0;

		if (place == stands->start[i])
			frame->first = place;
		while (frame->first < place && is_in_front(cells, frame, frame->first, has_key ? &bound : NULL))
			frame->first++;
		frame->firsts[i] = frame->first;
	}
}

static void
find_stands(window_cells *cells, uint32 num_rows)
{
	cell_stands *stands = cells->stands;

	find_starts(cells, num_rows);
	find_ends(cells, MGPU_MARK_GROUP | MGPU_MARK_PEERS, stands->peers_end, num_rows);
	if (cells->num_partition_keys > 0)
		find_ends(cells, MGPU_MARK_GROUP, stands->end, num_rows);
	for (uint32 i = 0; cells->num_partition_keys == 0 && i < num_rows; i++)
		stands->end[i] = cells->num_rows;
	for (int i = 0; i < cells->num_frames; i++)
		if (cells->frames[i].has_range)
			find_firsts(cells, &cells->frames[i], num_rows);
}

/* ---- frames */

void
window_cells_find_frame(const window_cells *cells, const cell_frame *frame, uint32 i, uint64 *first, uint64 *behind)
{
	const cell_stands *stands = cells->stands;
	uint64		place = cells->next + i;

	*first = frame->has_range ? frame->firsts[i] :
		frame->preceding < 0 ? stands->start[i] : place - Min(place - stands->start[i], (uint64) frame->preceding);
	if (frame->end != WINDOW_ROWS)
		*behind = frame->end == WINDOW_PARTITION ? stands->end[i] : stands->peers_end[i];
	else if (frame->following < 0)
		*behind = place + 1 - Min((uint64) -frame->following, place + 1 - *first);
	else
		*behind = Min(place + 1 + frame->following, stands->end[i]);
}

/* ---- values of other rows */

static int64
other_row(const window_cells *cells, const cell_function *function, uint32 i)
{
	int64		place = (int64) (cells->next + i) + function->offset;

	return place >= (int64) cells->stands->start[i] && place < (int64) cells->stands->end[i] ? place : CELLS_OTHERWISE;
}

static void
find_rows(window_cells *cells, const cell_function *function, uint32 num_rows)
{
	int64	   *found = cells->stands->found;

	for (uint32 i = 0; i < num_rows; i++)
	{
		uint64		first;
		uint64		behind;

		if (function->kind == WINDOW_OTHER_ROW)
		{
			found[i] = other_row(cells, function, i);
			continue;
		}
		window_cells_find_frame(cells, &cells->frames[function->frame], i, &first, &behind);
		if (first >= behind)
			found[i] = CELLS_NO_ROW;
		else if (function->kind == WINDOW_FIRST_VALUE)
			found[i] = (int64) first;
		else if (function->kind == WINDOW_LAST_VALUE)
			found[i] = (int64) behind - 1;
		else
			found[i] = first + function->offset - 1 < behind ? (int64) first + function->offset - 1 : CELLS_NO_ROW;
	}
}

/* ---- numbers of rows */

static int64
number_of(const window_cells *cells, const cell_function *function, uint32 i)
{
	const cell_stands *stands = cells->stands;
	uint64		place = cells->next + i;
	uint64		num_rows = stands->end[i] - stands->start[i];

	switch (function->kind)
	{
		case WINDOW_ROW_NUMBER:
			return (int64) (place - stands->start[i]) + 1;
		case WINDOW_RANK:
			return stands->rank[i];
		case WINDOW_DENSE_RANK:
			return stands->dense_rank[i];
		case WINDOW_NTILE:
			return window_part_of(place - stands->start[i], num_rows, (uint64) function->offset);
		case WINDOW_CUME_DIST:
			return mgpu_bits_of_real((double) (stands->peers_end[i] - stands->start[i]) / (double) num_rows);
		default:
			return mgpu_bits_of_real(num_rows <= 1 ? 0 : (double) (stands->rank[i] - 1) / (double) (num_rows - 1));
	}
}

/* ---- writing */

static void
put_number(batch_writer *writer, const value_cells *cells, uint32 row, int64 bits, bool is_null)
{
	char	   *to = writer->memory + writer->used;

	writer->places[row] = is_null ? 0 : writer->used;
	if (is_null)
		return;
	memcpy(to, &bits, sizeof(bits));
	if (cells->kind == MGPU_KEY_FLOAT && cells->width == sizeof(float4))
	{
		float4		narrow = (float4) mgpu_real_of_bits(bits);

		memcpy(to, &narrow, sizeof(narrow));
	}
	writer->used += VALUE_BYTES;
}

/* A value of several numbers, or a numeric: as it is stored. */
static void
put_stored(batch_writer *writer, const value_cells *cells, uint32 row, const uint64 *bits)
{
	const char *value = DatumGetPointer(value_cells_datum(cells, bits));
	Size		bytes = cells->form == CELLS_UUID ? cells->num_cells * sizeof(uint64) : VARSIZE_ANY(value);

	writer->places[row] = writer->used;
	memcpy(writer->memory + writer->used, value, bytes);
	writer->used += MAXALIGN(bytes);
}

static void
put_value(const window_cells *cells, batch_writer *writer, const cell_value *value, uint32 row, uint64 place)
{
	uint64		bits[MOST_CELLS];

	if (value->cells.form == CELLS_NUMBER || value->cells.form == CELLS_NUMERIC)
	{
		put_number(writer, &value->cells, row, window_cell(cells, value->column, place), window_cell_is_null(cells, value->column, place));
		return;
	}
	writer->places[row] = 0;
	if (window_cell_is_null(cells, value->column, place))
		return;
	for (int i = 0; i < value->cells.num_cells; i++)
		bits[i] = (uint64) window_cell(cells, value->column + i, place);
	put_stored(writer, &value->cells, row, bits);
}

static void
put_otherwise(const window_cells *cells, batch_writer *writer, const cell_function *function, uint32 row)
{
	if (function->otherwise.column >= 0)
		put_value(cells, writer, &function->otherwise, row, cells->next + row);
	else
		put_number(writer, &function->argument.cells, row, function->constant, !function->has_constant);
}

static void
put_found(const window_cells *cells, batch_writer *writer, const cell_function *function)
{
	for (uint32 i = 0; i < writer->num_rows; i++)
	{
		int64		place = cells->stands->found[i];

		writer->places[i] = 0;
		if (place >= 0)
			put_value(cells, writer, &function->argument, i, (uint64) place);
		else if (place == CELLS_OTHERWISE)
			put_otherwise(cells, writer, function, i);
	}
}

static void
put_sums(window_cells *cells, batch_writer *writer, cell_function *function, const value_cells *result)
{
	bool		are_null[CELLS_BATCH_ROWS];

	window_sums_compute(cells, function, writer->num_rows, cells->stands->found, are_null);
	for (uint32 i = 0; i < writer->num_rows; i++)
		put_number(writer, result, i, cells->stands->found[i], are_null[i]);
}

static void
put_function(window_cells *cells, batch_writer *writer, int number)
{
	cell_function *function = &cells->functions[number];
	const value_cells *result = &cells->values[cells->num_columns + number].cells;

	switch (function->kind)
	{
		case WINDOW_OTHER_ROW:
		case WINDOW_FIRST_VALUE:
		case WINDOW_LAST_VALUE:
		case WINDOW_NTH_VALUE:
			find_rows(cells, function, writer->num_rows);
			put_found(cells, writer, function);
			break;
		case WINDOW_AGGREGATE:
			put_sums(cells, writer, function, result);
			break;
		default:
			for (uint32 i = 0; i < writer->num_rows; i++)
				put_number(writer, result, i, number_of(cells, function, i), false);
	}
}

static void
put_attribute(window_cells *cells, batch_writer *writer, int number)
{
	if (number >= cells->num_columns)
	{
		put_function(cells, writer, number - cells->num_columns);
		return;
	}
	for (uint32 i = 0; i < writer->num_rows; i++)
		put_value(cells, writer, &cells->values[number], i, cells->next + i);
}

/* Bytes of a value in a batch, at most, with its place. */
static Size
most_bytes(const value_cells *cells)
{
	Size		bytes = VALUE_BYTES;

	if (cells->form == CELLS_BYTES || cells->form == CELLS_UUID || cells->form == CELLS_INET)
		bytes = VARHDRSZ + cells->num_cells * sizeof(uint64);
	else if (cells->form == CELLS_SHOWN)
		bytes = WINDOW_NUMERIC_BYTES;
	return MAXALIGN(bytes) + sizeof(uint32);
}

/* How many of the next rows a batch has room for. */
static uint32
rows_of_batch(const window_cells *cells, const table_job *job, Size bytes)
{
	Size		row_bytes = 1;

	for (int i = 0; i < expr_program_num_inputs(job->program); i++)
		row_bytes += most_bytes(&cells->values[expr_program_attribute(job->program, i) - 1].cells);
	bytes -= sizeof(mgpu_row_batch) + VALUE_BYTES;
	return (uint32) Min(Min(bytes / row_bytes, CELLS_BATCH_ROWS), cells->num_rows - cells->next);
}

uint32
window_cells_fill(window_cells *cells, const table_job *job, char *batch, Size bytes)
{
	uint32		num_inputs = expr_program_num_inputs(job->program);
	batch_writer writer = {.memory = batch,.num_rows = rows_of_batch(cells, job, bytes)};
	MemoryContext caller;

	if (writer.num_rows == 0)
		return 0;
	CHECK_FOR_INTERRUPTS();
	cells->fails = !window_cells_reach(cells, writer.num_rows);
	if (cells->fails)
		return 0;
	find_stands(cells, writer.num_rows);
	*(mgpu_row_batch *) batch = (mgpu_row_batch) {writer.num_rows, num_inputs};
	writer.used = MAXALIGN(sizeof(mgpu_row_batch) + num_inputs * writer.num_rows * sizeof(uint32));
	caller = MemoryContextSwitchTo(cells->values_context);
	for (uint32 i = 0; i < num_inputs; i++)
	{
		writer.places = (uint32 *) (batch + sizeof(mgpu_row_batch)) + i * writer.num_rows;
		put_attribute(cells, &writer, expr_program_attribute(job->program, i) - 1);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(cells->values_context);
	cells->next += writer.num_rows;
	return cells->fails ? 0 : writer.used;
}
