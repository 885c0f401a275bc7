/*
 * table_order_parts.c
 *		ORDER beyond memory: rows are cut by ranges of their sort keys into parts that fit, and one part after the other is sorted.
 *
 * Rows beyond memory lie in the file as they came.  Once all are there, every so many'th row's key is taken, and keys among these become the bounds
 * of parts.  All batches are written once more, part after part; then a part's rows are read, sorted as if they were all (table_order.c), and those that
 * are left written in order.  A key ends in the row's number, so parts are of one size however many rows are equal, if they have one level.
 *
 * Sorted runs that are merged were rejected: a merge is one thread's, and rows would be compared where here they are sorted by radix.  So were bounds
 * from the first rows, which would save one writing: many tables are in the order of a column.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>
#include <string.h>

#include "core/unsigned_sort.h"

/* Keys that are looked at for each bound, so that no part is half as large again as others. */
#define SAMPLES_OF_PART 64

/* The share of the memory for a part: some are larger than others. */
#define PART_SHARE 2

/* ---- bounds */

/* Bytes of a row that is sorted: itself, its key three times, its number and marks. */
static uint64_t
row_bytes(const mgpu_run *run)
{
	return (uint64_t) __builtin_popcount(run->stored) * sizeof(uint64_t) + 3 * run->order.width + 2 * sizeof(uint32_t) + 1;
}

/* Memory that there is once all rows are in the file. */
static uint64_t
memory_left(const mgpu_run *run)
{
	uint64_t	bytes = atomic_load(&run->bytes);

	for (int i = 0; i < run->num_workers; i++)
		bytes -= run->workers[i].kept_arena.bytes;
	return run->most_bytes == 0 ? UINT64_MAX : run->most_bytes - mgpu_table_least(run->most_bytes, bytes);
}

/* Parts that all rows are cut into; 0: they would be more than there may be. */
static uint32_t
plan_num_parts(const mgpu_run *run)
{
	uint64_t	left = memory_left(run);
	uint64_t	share = mgpu_table_least(left / PART_SHARE, mgpu_cpu_tunables.table_part_bytes);
	uint64_t	bytes = run->order.num_rows * row_bytes(run);
	uint64_t	num_parts = mgpu_table_least(bytes / (share + 1) + 1, MGPU_TABLE_PARTS);

	if (bytes / num_parts > left)
		return 0;
	return num_parts > 1 ? (uint32_t) num_parts : 2;
}

static uint64_t
num_samples(const mgpu_table_order *order)
{
	return (order->num_rows + order->sample_step - 1) / order->sample_step;
}

bool
mgpu_table_plan_samples(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;

	order->sample_step = order->num_rows / (MGPU_TABLE_PARTS * SAMPLES_OF_PART) + 1;
	order->bounds = mgpu_table_allocate(num_samples(order) * sizeof(mgpu_u128));
	return order->bounds != NULL;
}

void
mgpu_table_take_samples(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_order *order = &run->order;
	const mgpu_table_batch *batch = order->batches[task];
	mgpu_table_rows rows = mgpu_table_part_rows(run, &run->workers[worker], batch, 0, mgpu_table_order_columns(order));
	uint64_t	number = (batch->first_row + order->sample_step - 1) / order->sample_step;
	uint64_t	row;

	for (; (row = number * order->sample_step - batch->first_row) < rows.num_rows; number++)
		order->bounds[number] = mgpu_table_place_of(order, &rows, row, batch->first_row + row);
}

bool
mgpu_table_plan_order_parts(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;
	uint64_t	count = num_samples(order);
	uint32_t	num_parts = plan_num_parts(run);

	if (num_parts == 0)
	{
		mgpu_table_fail(run, MGPU_TABLE_OVER_LIMIT);
		return true;
	}
	mgpu_sort_unsigned(order->bounds, count, sizeof(mgpu_u128), NULL);
	for (uint32_t part = 1; part < num_parts; part++)
		order->bounds[part - 1] = order->bounds[part * count / num_parts];
	run->num_parts = num_parts;
	order->ordered = calloc(num_parts, sizeof(mgpu_table_batch *));
	order->filed = order->batches;
	order->num_filed = order->num_batches;
	order->batches = NULL;
	return order->ordered != NULL;
}

/* Columns that are stored, one behind the other, and nulls: to the first row from `at` on. */
static void
copy_rows(const mgpu_run *run, const mgpu_table_rows *from, mgpu_table_rows *to, uint64_t at)
{
	/* a part that could not be read has no columns */
	if (from->num_rows == 0)
		return;
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		if ((run->stored >> i & 1) != 0)
			memcpy((uint64_t *) to->codes[i] + at, from->codes[i], from->num_rows * sizeof(uint64_t));
	if (from->some_nulls != 0)
		memcpy((uint32_t *) to->nulls + at, from->nulls, from->num_rows * sizeof(uint32_t));
	else
		memset((uint32_t *) to->nulls + at, 0, from->num_rows * sizeof(uint32_t));
}

void
mgpu_table_cut_rows(void *context, uint64_t task, int worker_number)
{
	mgpu_run   *run = context;
	mgpu_table_worker *worker = &run->workers[worker_number];
	mgpu_table_batch *batch = run->order.filed[task];
	mgpu_table_rows rows = mgpu_table_part_rows(run, worker, batch, 0, UINT32_MAX);
	bool		has_room = mgpu_table_begin_batch(run, worker, batch, rows.num_rows);

	if (has_room)
	{
		mgpu_table_rows to = mgpu_table_rows_of(run, worker);

		copy_rows(run, &rows, &to, 0);
		worker->num_rows = rows.num_rows;
		worker->some_nulls = rows.some_nulls;
	}
	mgpu_table_end_batch(run, worker, has_room);
}

/* ---- one part */

/* Make batches of the rows of the part, which tasks take. */
static bool
make_slices(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;
	uint64_t	most_rows = mgpu_cpu_tunables.table_task_rows;
	uint64_t	num_rows = order->part_rows.num_rows;

	order->num_batches = (num_rows + most_rows - 1) / most_rows;
	order->slices = calloc(order->num_batches + 1, sizeof(*order->slices));
	order->batches = mgpu_table_allocate(order->num_batches * sizeof(mgpu_table_batch *));
	if (order->slices == NULL || order->batches == NULL)
		return false;
	for (uint64_t i = 0; i < order->num_batches; i++)
	{
		order->batches[i] = &order->slices[i];
		order->slices[i].rows = mgpu_table_slice(&order->part_rows, run->spec.num_columns, i * most_rows,
												 mgpu_table_least(most_rows, num_rows - i * most_rows));
	}
	return mgpu_table_number_rows(order);
}

static bool
make_part_rows(mgpu_run *run, uint64_t num_rows)
{
	mgpu_table_order *order = &run->order;
	uint64_t	num_columns = (uint64_t) __builtin_popcount(run->stored);
	uint64_t   *memory = mgpu_table_allocate(num_rows * (num_columns * sizeof(uint64_t) + sizeof(uint32_t)));

	order->memory = (char *) memory;
	order->part_rows = (mgpu_table_rows) {.num_rows = (uint32_t) num_rows,.some_nulls = UINT32_MAX};
	if (memory == NULL)
		return false;
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
	{
		if ((run->stored >> i & 1) == 0)
			continue;
		order->part_rows.codes[i] = memory;
		memory += num_rows;
	}
	order->part_rows.nulls = (const uint32_t *) memory;
	return make_slices(run) && mgpu_table_make_keys(order);
}

static void
free_part(mgpu_table_order *order)
{
	mgpu_table_free_order(order);
	free(order->memory);
	free(order->slices);
	order->memory = NULL;
	order->slices = NULL;
	order->num_selected = order->num_left = 0;
}

bool
mgpu_table_begin_order_part(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;
	uint64_t	num_rows = 0;

	free_part(order);
	for (uint64_t i = 0; i < order->num_filed; i++)
	{
		mgpu_table_batch *batch = order->filed[i];

		batch->first_row = num_rows;
		num_rows += batch->parts[order->part + 1] - batch->parts[order->part];
	}
	return num_rows * row_bytes(run) <= memory_left(run) && make_part_rows(run, num_rows);
}

void
mgpu_table_load_rows(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const mgpu_table_batch *batch = run->order.filed[task];
	mgpu_table_rows rows = mgpu_table_part_rows(run, &run->workers[worker], batch, run->order.part, UINT32_MAX);

	copy_rows(run, &rows, &run->order.part_rows, batch->first_row);
}

/* ---- rows in order */

uint64_t
mgpu_table_plan_ordered(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;
	uint64_t	num_batches = (order->num_left + mgpu_table_step_rows() - 1) / mgpu_table_step_rows();
	mgpu_table_batch *batches = mgpu_arena_allocate(&run->arena, (num_batches + 1) * sizeof(*batches));

	order->ordered[order->part] = batches;
	order->num_ordered += num_batches;
	if (batches == NULL)
	{
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		return 0;
	}
	batches[num_batches] = (mgpu_table_batch) {0};
	return num_batches;
}

/* In words of nulls, marks are where group_spec.h has them. */
static uint32_t
marked_nulls(const mgpu_table_order *order, uint64_t place)
{
	uint8_t		marks = order->marks[place];

	return order->part_rows.nulls[order->rows[place]] | ((marks & MGPU_TABLE_STARTS) != 0 ? MGPU_MARK_GROUP : 0) |
		((marks & MGPU_TABLE_DIFFERS) != 0 ? MGPU_MARK_PEERS : 0);
}

void
mgpu_table_write_ordered(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_order *order = &run->order;
	mgpu_table_batch *batch = &order->ordered[order->part][task];
	uint64_t	begin = task * mgpu_table_step_rows();
	uint64_t	num_rows = mgpu_table_least(order->num_left - begin, mgpu_table_step_rows());
	uint64_t	num_columns = (uint64_t) __builtin_popcount(run->stored);
	uint64_t   *to = (uint64_t *) mgpu_table_block(&run->workers[worker], num_rows * (num_columns * sizeof(uint64_t) + sizeof(uint32_t)));
	uint64_t   *next = to;

	*batch = (mgpu_table_batch) {.rows = {.num_rows = (uint32_t) num_rows,.some_nulls = UINT32_MAX},.parts = {0, (uint32_t) num_rows}};
	if (to == NULL)
	{
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		return;
	}
	for (uint32_t column = 0; column < run->spec.num_columns; column++)
	{
		for (uint64_t i = 0; (run->stored >> column & 1) != 0 && i < num_rows; i++)
			*next++ = order->part_rows.codes[column][order->rows[begin + i]];
	}
	for (uint64_t i = 0; i < num_rows; i++)
		((uint32_t *) next)[i] = marked_nulls(order, begin + i);
	mgpu_table_spill_batch(run, batch, to);
}

/* ---- all parts */

/* All parts are in order: from now on, their rows come back as they lie there. */
bool
mgpu_table_join_ordered(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;

	free_part(order);
	order->batches = mgpu_table_allocate(order->num_ordered * sizeof(mgpu_table_batch *));
	order->num_batches = 0;
	if (order->batches == NULL)
		return false;
	for (uint32_t part = 0; part < run->num_parts; part++)
	{
		for (mgpu_table_batch *batch = order->ordered[part]; batch != NULL && batch->rows.num_rows > 0; batch++)
			order->batches[order->num_batches++] = batch;
	}
	return mgpu_table_number_rows(order);
}

void
mgpu_table_free_order_parts(mgpu_table_order *order)
{
	free_part(order);
	free(order->filed);
	free(order->ordered);
	free(order->bounds);
}
