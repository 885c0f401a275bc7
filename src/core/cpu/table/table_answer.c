/*
 * table_answer.c
 *		What a run returns: its result, and any bytes of any output.
 *
 * Outputs are written from records, values and rows where these are, either to their places by tasks, or as pieces one after the other.
 */
#include "core/cpu/table/table.h"

#include <string.h>

static bool
has_limit(const mgpu_run *run)
{
	return run->spec.limit_rule != MGPU_LIMIT_NONE;
}

static void
add_counts(mgpu_run *run, const mgpu_table_worker *worker)
{
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_SOURCES; i++)
	{
		run->result.read_of_source[i] += worker->read_of_source[i];
		run->result.rows_of_source[i] += worker->kept_of_source[i];
		run->result.num_read += worker->read_of_source[i];
	}
	run->result.num_rows += worker->num_kept;
}

void
mgpu_table_make_result(mgpu_run *run)
{
	for (int i = 0; i < run->num_workers; i++)
		add_counts(run, &run->workers[i]);
	for (uint32_t i = 0; i < run->num_parts && !has_limit(run); i++)
	{
		if (!run->parts[i].in_file)
			mgpu_table_finish_records(&run->parts[i].groups, &run->record);
		run->result.num_groups += run->parts[i].groups.num_groups;
		for (uint32_t sort = 0; sort < run->spec.num_sorts; sort++)
			run->result.num_sorted[sort] += run->parts[i].num_values[sort];
	}
	for (uint32_t i = 0; i < MGPU_GROUP_OUTPUTS; i++)
		run->output_bytes[i] = mgpu_group_output_bytes(&run->spec, &run->result, i);
}

/* ---- values as they are stored */

static void
put_bits(char *to, uint64_t bits, uint32_t width)
{
	memcpy(to, &bits, width);	/* little-endian */
}

static void
write_values(const mgpu_group_column *column, const uint64_t *codes, uint64_t flip, uint64_t count, char *to)
{
	for (uint64_t i = 0; i < count; i++)
		put_bits(to + i * column->width, mgpu_column_bits(codes[i] ^ flip, column->kind, column->width), column->width);
}

/* Items of a part that are wanted: those of [begin, end) of all parts, of which `before` lie before this part. */
typedef struct wanted_items
{
	uint64_t	first;			/* in the part */
	uint64_t	count;
} wanted_items;

static wanted_items
wanted_of(uint64_t before, uint64_t num_items, uint64_t begin, uint64_t end)
{
	uint64_t	first = begin > before ? begin - before : 0;
	uint64_t	last = end > before ? mgpu_table_least(end - before, num_items) : 0;

	return (wanted_items) {first, last > first ? last - first : 0};
}

/* ---- groups */

static void
write_records(mgpu_run *run, uint64_t offset, uint64_t bytes, char *to)
{
	uint64_t	before = 0;

	for (uint32_t i = 0; i < run->num_parts; i++)
	{
		const mgpu_table_part *part = &run->parts[i];
		const mgpu_table_groups *groups = &part->groups;
		uint64_t	part_bytes = groups->num_groups * run->record.num_words * sizeof(uint64_t);
		wanted_items wanted = wanted_of(before, part_bytes, offset, offset + bytes);

		if (part->in_file)
			mgpu_table_unspill(run, to, wanted.count, part->file_begin + wanted.first);
		else if (wanted.count > 0)
			memcpy(to, (const char *) groups->records + wanted.first, wanted.count);
		to += wanted.count;
		before += part_bytes;
	}
}

static void
write_sorted(const mgpu_run *run, uint32_t number, uint64_t begin, uint64_t end, char *to)
{
	const mgpu_group_sort *sort = &run->spec.sorts[number];
	const mgpu_group_column *column = &run->spec.columns[sort->column];
	uint64_t	before = 0;

	for (uint32_t i = 0; i < run->num_parts; i++)
	{
		const mgpu_table_part *part = &run->parts[i];
		wanted_items wanted = wanted_of(before, part->num_values[number], begin, end);

		if (wanted.count > 0)
			write_values(column, part->values[number] + wanted.first, sort->descending ? UINT64_MAX : 0, wanted.count, to);
		to += wanted.count * column->width;
		before += part->num_values[number];
	}
}

/* ---- rows */

/* Rows that are looked up together, so that cache misses overlap. */
#define FOUND_ROWS 64

typedef struct found_row
{
	const mgpu_table_rows *rows;
	uint64_t	row;
} found_row;

/* The next rows in order, up to `end`; their number. */
static uint32_t
find_rows(const mgpu_run *run, uint64_t begin, uint64_t end, found_row *found)
{
	uint32_t	count = (uint32_t) mgpu_table_least(end - begin, FOUND_ROWS);

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = run->order.rows[begin + i];
		const mgpu_table_batch *batch = mgpu_table_batch_of(&run->order, row);

		found[i] = (found_row) {&batch->rows, row - batch->first_row};
	}
	return count;
}

static uint32_t
marks_of(const mgpu_run *run, uint64_t place)
{
	uint8_t		marks = run->order.marks[place];

	return ((marks & MGPU_TABLE_STARTS) != 0 ? MGPU_MARK_GROUP : 0) | ((marks & MGPU_TABLE_DIFFERS) != 0 ? MGPU_MARK_PEERS : 0);
}

/* Columns that are, a bit each. */
static uint32_t
returned_columns(const mgpu_run *run)
{
	uint32_t	returned = 0;

	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		returned |= (uint32_t) (run->spec.columns[i].is_returned != 0) << i;
	return returned;
}

static void
write_marks(const mgpu_run *run, uint64_t begin, uint64_t end, uint32_t *to)
{
	uint32_t	returned = returned_columns(run);
	uint32_t	count;

	for (; begin < end; begin += count)
	{
		found_row	found[FOUND_ROWS];

		count = find_rows(run, begin, end, found);
		for (uint32_t i = 0; i < count; i++)
			__builtin_prefetch(&found[i].rows->nulls[found[i].row]);
		for (uint32_t i = 0; i < count; i++)
			*to++ = (found[i].rows->nulls[found[i].row] & returned) | marks_of(run, begin + i);
	}
}

static void
write_value(const mgpu_run *run, uint32_t number, const mgpu_table_rows *rows, uint64_t row, char *to)
{
	const mgpu_group_column *column = &run->spec.columns[number];
	bool		is_null = (rows->some_nulls >> number & 1) != 0 && (rows->nulls[row] >> number & 1) != 0;

	put_bits(to, is_null ? 0 : mgpu_column_bits(rows->codes[number][row], column->kind, column->width), column->width);
}

static void
write_column(const mgpu_run *run, uint32_t number, uint64_t begin, uint64_t end, char *to)
{
	uint32_t	width = run->spec.columns[number].width;
	uint32_t	count;

	for (; begin < end; begin += count)
	{
		found_row	found[FOUND_ROWS];

		count = find_rows(run, begin, end, found);
		for (uint32_t i = 0; i < count; i++)
			__builtin_prefetch(&found[i].rows->codes[number][found[i].row]);
		for (uint32_t i = 0; i < count; i++, to += width)
			write_value(run, number, found[i].rows, found[i].row, to);
	}
}

/* ---- rows as they lie: stretches of batches, which may be in the file; those of ORDER have their marks among nulls */

static void
write_passed_marks(mgpu_run *run, mgpu_table_worker *worker, uint64_t begin, uint64_t end, uint32_t *to)
{
	uint32_t	returned = returned_columns(run) | MGPU_MARK_GROUP | MGPU_MARK_PEERS;
	bool		has_marks = run->order.has_parts;

	while (begin < end)
	{
		const mgpu_table_batch *batch = mgpu_table_batch_of(&run->order, begin);
		uint64_t	stretch_end = mgpu_table_least(end, batch->first_row + batch->rows.num_rows);
		mgpu_table_rows rows = mgpu_table_part_rows(run, worker, batch, 0, 0);

		for (; begin < stretch_end && rows.num_rows > 0; begin++)
			*to++ = (rows.some_nulls == 0 ? 0 : rows.nulls[begin - batch->first_row] & returned) |
				(begin == 0 && !has_marks ? MGPU_MARK_GROUP | MGPU_MARK_PEERS : 0);
		begin = stretch_end;
	}
}

static void
write_passed_column(mgpu_run *run, mgpu_table_worker *worker, uint32_t number, uint64_t begin, uint64_t end, char *to)
{
	while (begin < end)
	{
		const mgpu_table_batch *batch = mgpu_table_batch_of(&run->order, begin);
		uint64_t	stretch_end = mgpu_table_least(end, batch->first_row + batch->rows.num_rows);
		mgpu_table_rows rows = mgpu_table_part_rows(run, worker, batch, 0, UINT32_C(1) << number);

		for (; begin < stretch_end && rows.num_rows > 0; begin++, to += run->spec.columns[number].width)
			write_value(run, number, &rows, begin - batch->first_row, to);
		begin = stretch_end;
	}
}

/* ---- outputs */

/* Offset and bytes are multiples of an item's, but those of records. */
void
mgpu_table_write(mgpu_run *run, mgpu_table_worker *worker, uint32_t output, uint64_t offset, uint64_t bytes, char *to)
{
	bool		is_passed = run->way == MGPU_TABLE_PASS || run->order.has_parts;
	uint32_t	width;

	if (output == 0)
	{
		if (is_passed)
			write_passed_marks(run, worker, offset / sizeof(uint32_t), (offset + bytes) / sizeof(uint32_t), (uint32_t *) to);
		else if (has_limit(run))
			write_marks(run, offset / sizeof(uint32_t), (offset + bytes) / sizeof(uint32_t), (uint32_t *) to);
		else
			write_records(run, offset, bytes, to);
		return;
	}
	width = run->spec.columns[has_limit(run) ? output - 1 : run->spec.sorts[output - 1].column].width;
	if (is_passed)
		write_passed_column(run, worker, output - 1, offset / width, (offset + bytes) / width, to);
	else if (has_limit(run))
		write_column(run, output - 1, offset / width, (offset + bytes) / width, to);
	else
		write_sorted(run, output - 1, offset / width, (offset + bytes) / width, to);
}

/* Tasks: so many bytes of an output. */
uint64_t
mgpu_table_plan_writing(mgpu_run *run)
{
	uint64_t	task_bytes = mgpu_cpu_tunables.table_write_bytes;

	for (uint32_t i = 0; i < MGPU_GROUP_OUTPUTS; i++)
		run->output_tasks[i + 1] = run->output_tasks[i] + (run->output_bytes[i] + task_bytes - 1) / task_bytes;
	return run->output_tasks[MGPU_GROUP_OUTPUTS];
}

void
mgpu_table_write_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	task_bytes = mgpu_cpu_tunables.table_write_bytes;
	uint32_t	output = 0;
	uint64_t	offset;

	while (run->output_tasks[output + 1] <= task)
		output++;
	offset = (task - run->output_tasks[output]) * task_bytes;
	mgpu_table_write(run, &run->workers[worker], output, offset, mgpu_table_least(task_bytes, run->output_bytes[output] - offset), run->places[output] + offset);
}

/* Write the next piece and show it; false: there is none. */
bool
mgpu_table_next_piece(mgpu_run *run)
{
	uint64_t	bytes;

	while (run->next_output < MGPU_GROUP_OUTPUTS && run->next_offset == run->output_bytes[run->next_output])
	{
		run->next_output++;
		run->next_offset = 0;
	}
	if (run->next_output == MGPU_GROUP_OUTPUTS)
		return false;
	bytes = mgpu_table_least(mgpu_cpu_tunables.table_write_bytes, run->output_bytes[run->next_output] - run->next_offset);
	mgpu_table_write(run, &run->workers[0], run->next_output, run->next_offset, bytes, run->piece);
	run->shown = (mgpu_group_piece) {run->next_output, run->piece, bytes};
	run->next_offset += bytes;
	run->piece_is_out = true;
	return true;
}
