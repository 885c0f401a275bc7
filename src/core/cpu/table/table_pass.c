/*
 * table_pass.c
 *		Rows that come back as they came, from memory or from the file.
 *
 * They need no sort keys, and are not looked at one by one: what is written of an output are stretches of batches.
 */
#include "core/cpu/table/table_pass.h"

#include <string.h>

/* Rows that are read from the file at a time. */
#define STEP_ROWS 1024

/* Some rows of a batch, of one column: those that were in the file lie here. */
typedef struct passed_rows
{
	uint32_t	num_rows;
	const uint64_t *codes;
	const uint32_t *nulls;		/* NULL: there are none */
	uint64_t	read_codes[STEP_ROWS];
	uint32_t	read_nulls[STEP_ROWS];
} passed_rows;

bool
mgpu_table_plan_pass(mgpu_run *run)
{
	if (!mgpu_table_number_rows(run))
		return false;
	run->result.num_returned = run->order.num_rows;
	run->result.num_groups = run->order.num_rows > 0;
	mgpu_table_make_result(run);
	return true;
}

static void
read_passed(mgpu_run *run, const mgpu_table_batch *batch, int column, uint64_t first, passed_rows *rows)
{
	uint64_t	num_columns = (uint64_t) __builtin_popcount(run->stored);
	uint64_t	before = column < 0 ? 0 : (uint64_t) __builtin_popcount(run->stored & ((UINT32_C(1) << column) - 1));
	uint64_t	num_rows = batch->rows.num_rows;

	if (column >= 0)
		mgpu_table_unspill(run, rows->read_codes, rows->num_rows * sizeof(uint64_t), batch->file_begin + (before * num_rows + first) * sizeof(uint64_t));
	if (rows->nulls != NULL)
		mgpu_table_unspill(run, rows->read_nulls, rows->num_rows * sizeof(uint32_t),
						   batch->file_begin + num_columns * num_rows * sizeof(uint64_t) + first * sizeof(uint32_t));
	rows->codes = rows->read_codes;
	rows->nulls = rows->nulls != NULL ? rows->read_nulls : NULL;
}

/* The next rows from a number on, before `end`, of a column, or of none. */
static void
find_passed(mgpu_run *run, int column, uint64_t begin, uint64_t end, passed_rows *rows)
{
	const mgpu_table_batch *batch = mgpu_table_batch_of(&run->order, begin);
	uint64_t	first = begin - batch->first_row;

	rows->num_rows = (uint32_t) mgpu_table_least(mgpu_table_least(end - begin, batch->rows.num_rows - first), STEP_ROWS);
	rows->nulls = batch->rows.some_nulls != 0 ? batch->rows.nulls + first : NULL;
	if (batch->in_file)
	{
		rows->nulls = batch->rows.some_nulls != 0 ? rows->read_nulls : NULL;
		read_passed(run, batch, column, first, rows);
	}
	else if (column >= 0)
		rows->codes = batch->rows.codes[column] + first;
}

void
mgpu_table_write_passed_marks(mgpu_run *run, uint64_t begin, uint64_t end, uint32_t *to)
{
	uint32_t	returned = 0;
	passed_rows rows;

	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		returned |= (uint32_t) (run->spec.columns[i].is_returned != 0) << i;
	for (; begin < end; begin += rows.num_rows)
	{
		find_passed(run, -1, begin, end, &rows);
		for (uint32_t i = 0; i < rows.num_rows; i++)
			*to++ = (rows.nulls == NULL ? 0 : rows.nulls[i] & returned) | (begin + i == 0 ? MGPU_MARK_GROUP | MGPU_MARK_PEERS : 0);
	}
}

void
mgpu_table_write_passed_column(mgpu_run *run, uint32_t number, uint64_t begin, uint64_t end, char *to)
{
	const mgpu_group_column *column = &run->spec.columns[number];
	passed_rows rows;

	for (; begin < end; begin += rows.num_rows)
	{
		find_passed(run, (int) number, begin, end, &rows);
		for (uint32_t i = 0; i < rows.num_rows; i++, to += column->width)
		{
			bool		is_null = rows.nulls != NULL && (rows.nulls[i] >> number & 1) != 0;
			uint64_t	bits = is_null ? 0 : mgpu_column_bits(rows.codes[i], column->kind, column->width);

			memcpy(to, &bits, column->width);	/* little-endian */
		}
	}
}
