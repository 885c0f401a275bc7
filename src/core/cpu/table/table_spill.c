/*
 * table_spill.c
 *		What memory a run may have, and rows and groups beyond it, in a file.
 *
 * Once rows leave no more than parts need that threads work on, batches are written to the file: part after part, each with its columns, then
 * nulls of all if there are any.  Who works on a part reads of each batch what lies from the first to the last column that it needs, at once.
 * Column by column, it was read by six times as many calls, which took as long as all else.  Groups of a part that is done go to the file too.
 * Errors end the run, and the caller goes another way.
 *
 * To map the file was rejected: a disk that fails or is full would end the process by a signal.
 */
#include "core/cpu/table/table.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void
mgpu_table_count(mgpu_run *run, uint64_t *counted, uint64_t bytes)
{
	uint64_t	more = bytes - *counted;	/* or less, modulo 2^64 */

	if (more == 0)
		return;
	*counted = bytes;
	if (atomic_fetch_add(&run->bytes, more) + more > run->most_bytes && run->most_bytes > 0)
		mgpu_table_fail(run, MGPU_TABLE_OVER_LIMIT);
}

uint64_t
mgpu_table_groups_bytes(const mgpu_table_groups *groups)
{
	return groups->slots == NULL ? 0 : (groups->capacity * groups->num_words + groups->num_slots) * sizeof(uint64_t);
}

/* Records, and their places in a table. */
bool
mgpu_table_folds(const mgpu_run *run, const mgpu_table_groups *groups)
{
	return groups->num_groups * (groups->num_words + 2) * sizeof(uint64_t) <= run->fold_bytes;
}

/* ---- to the file */

bool
mgpu_table_spills(const mgpu_run *run, uint64_t bytes)
{
	return run->file >= 0 &&
		(run->order.has_parts || atomic_load_explicit(&run->bytes, memory_order_relaxed) + bytes > run->memory_before_file);
}

char *
mgpu_table_block(mgpu_table_worker *worker, uint64_t bytes)
{
	if (bytes > worker->block_bytes)
	{
		free(worker->block);
		worker->block = mgpu_table_allocate(bytes);
		worker->block_bytes = worker->block == NULL ? 0 : bytes;
	}
	return worker->block;
}

uint64_t
mgpu_table_spill(mgpu_run *run, const void *from, uint64_t bytes)
{
	uint64_t	begin = atomic_fetch_add(&run->file_bytes, bytes);
	uint64_t	done = 0;

	if (begin + bytes > run->most_file_bytes)
		mgpu_table_fail(run, MGPU_TABLE_OVER_LIMIT);
	while (done < bytes && mgpu_table_goes_on(run))
	{
		ssize_t		written = pwrite(run->file, (const char *) from + done, bytes - done, (off_t) (begin + done));

		if (written > 0)
			done += (uint64_t) written;
		else if (written == 0 || errno != EINTR)
			mgpu_table_fail(run, MGPU_TABLE_FILE);
	}
	return begin;
}

/* ---- from the file */

void
mgpu_table_unspill(mgpu_run *run, void *to, uint64_t bytes, uint64_t begin)
{
	uint64_t	done = 0;

	while (done < bytes && mgpu_table_goes_on(run))
	{
		ssize_t		count = pread(run->file, (char *) to + done, bytes - done, (off_t) (begin + done));

		if (count > 0)
			done += (uint64_t) count;
		else if (count == 0 || errno != EINTR)
			mgpu_table_fail(run, MGPU_TABLE_FILE);
	}
}

/* Bring a batch there, whose parts and nulls are at `from`. */
void
mgpu_table_spill_batch(mgpu_run *run, mgpu_table_batch *batch, const void *from)
{
	uint64_t	row_bytes = (uint64_t) __builtin_popcount(run->stored) * sizeof(uint64_t);

	row_bytes += batch->rows.some_nulls != 0 ? sizeof(uint32_t) : 0;
	batch->in_file = true;
	batch->file_begin = mgpu_table_spill(run, from, batch->rows.num_rows * row_bytes);
}

/* Where a part's rows of a batch are to be, with room for all columns; of the file's columns, those that are needed. */
typedef struct part_read
{
	uint64_t	num_columns;
	uint64_t	first;
	uint64_t	end;
} part_read;

static part_read
point_to_columns(const mgpu_run *run, mgpu_table_rows *rows, uint32_t columns, const uint64_t *to)
{
	part_read	read = {.first = UINT64_MAX};

	for (uint32_t i = 0; i < run->spec.num_columns; i++)
	{
		if ((run->stored >> i & 1) == 0)
			continue;
		rows->codes[i] = to + read.num_columns * rows->num_rows;
		if ((columns >> i & 1) != 0)
		{
			read.first = mgpu_table_least(read.first, read.num_columns);
			read.end = read.num_columns + 1;
		}
		read.num_columns++;
	}
	rows->nulls = (const uint32_t *) (to + read.num_columns * rows->num_rows);
	return read;
}

static mgpu_table_rows
read_rows(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_batch *batch, uint32_t part, uint32_t columns)
{
	uint64_t	before = batch->parts[part];
	uint64_t	num_rows = batch->parts[part + 1] - before;
	mgpu_table_rows rows = {.num_rows = (uint32_t) num_rows,.some_nulls = batch->rows.some_nulls};
	uint64_t	most_columns = (uint64_t) __builtin_popcount(run->stored);
	uint64_t   *to = (uint64_t *) mgpu_table_block(worker, num_rows * (most_columns + 1) * sizeof(uint64_t));
	part_read	read;

	if (to == NULL)
	{
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		return (mgpu_table_rows) {0};
	}
	read = point_to_columns(run, &rows, columns, to);
	if (read.first < read.end)
		mgpu_table_unspill(run, to + read.first * num_rows, (read.end - read.first) * num_rows * sizeof(uint64_t),
						   batch->file_begin + (before * read.num_columns + read.first * num_rows) * sizeof(uint64_t));
	if (rows.some_nulls != 0)
		mgpu_table_unspill(run, to + read.num_columns * num_rows, num_rows * sizeof(uint32_t),
						   batch->file_begin + batch->rows.num_rows * read.num_columns * sizeof(uint64_t) + before * sizeof(uint32_t));
	if (!mgpu_table_goes_on(run))
		rows.num_rows = 0;
	return rows;
}

mgpu_table_rows
mgpu_table_part_rows(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_batch *batch, uint32_t part, uint32_t columns)
{
	uint32_t	begin = batch->parts[part];
	uint32_t	num_rows = batch->parts[part + 1] - begin;

	if (num_rows == 0)
		return (mgpu_table_rows) {0};
	if (batch->in_file)
		return read_rows(run, worker, batch, part, columns);
	return mgpu_table_slice(&batch->rows, run->spec.num_columns, begin, num_rows);
}
