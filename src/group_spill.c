/*
 * group_spill.c
 *		Rows to group that do not fit in memory: partitions in temporary files.
 *
 * Rows are written as records of one width, to the partition that a hash of the
 * key chooses; each level of splitting has a hash of its own.  Files are
 * PostgreSQL's temporary ones: they count towards temp_file_limit, and are gone
 * when the query ends in whichever way.  Sorting runs on disk and merging them
 * was rejected: it needs keys that are compared once more, where partitions are
 * read as they were written.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "group_keys.h"
#include "group_spill.h"

/* Fewest and most partitions of one split. */
#define FEWEST_PARTITIONS 4
#define MOST_PARTITIONS 256

/* The files' buffers take at most this part of the limit, unless there are few. */
#define BUFFER_PART 4

/* Partitions are meant to be this much smaller than the limit, as hashes are uneven. */
#define ROOM 1.5

/* Rows written between looks at interrupts. */
#define STEP_ROWS (64 * 1024)

typedef struct open_partition
{
	group_partition *partition; /* NULL: no row yet */
	char	   *first_key;		/* of its first row */
	bool		first_is_null;
} open_partition;

static int
choose_num_partitions(uint64 num_rows, Size record_bytes, Size limit_bytes)
{
	double		wanted = (double) num_rows * record_bytes / limit_bytes * ROOM + 1;
	double		most = Min((double) limit_bytes / BUFFER_PART / BLCKSZ, MOST_PARTITIONS);

	return Max(Min(wanted, most), FEWEST_PARTITIONS);
}

/* In the spill's context. */
static group_partition *
start_partition(group_spill *spill, open_partition *open, const char *cell, uint32 width, bool is_null)
{
	group_partition *partition = palloc0(sizeof(group_partition));

	partition->file = BufFileCreateTemp(false);
	partition->level = spill->open_level;
	partition->one_group = true;
	open->partition = partition;
	open->first_key = memcpy(palloc(width), cell, width);
	open->first_is_null = is_null;
	spill->num_partitions++;
	return partition;
}

/* The key stands first in a record, and its mark first among the marks. */
static void
write_record(group_spill *spill, const group_rows *rows, char *record)
{
	const agg_column *key = &rows->columns[0].column;
	bool		is_null = record[rows->record_bytes - rows->num_columns];
	uint64		hash = group_key_hash(&key->type, record, is_null, spill->open_level);
	open_partition *open = &spill->open[hash % spill->num_open];
	group_partition *partition = open->partition;

	if (partition == NULL)
		partition = start_partition(spill, open, record, key->width, is_null);
	else if (partition->one_group &&
			 !group_keys_are_equal(&key->type, open->first_key, open->first_is_null, record, is_null))
		partition->one_group = false;
	BufFileWrite(partition->file, record, rows->record_bytes);
	partition->num_rows++;
}

void
group_spill_rows(group_spill *spill, group_rows *rows, int level, uint64 num_rows, Size limit_bytes)
{
	MemoryContext caller = MemoryContextSwitchTo(spill->context);
	group_cursor *cursors = palloc0(rows->num_columns * sizeof(group_cursor));
	char	   *record = palloc(rows->record_bytes);

	if (spill->num_open == 0)
	{
		spill->num_open = choose_num_partitions(Max(num_rows, rows->num_rows), rows->record_bytes, limit_bytes);
		spill->open = palloc0(spill->num_open * sizeof(open_partition));
		spill->open_level = level;
	}
	for (uint64 i = 0; group_rows_get_record(rows, cursors, record); i++)
	{
		write_record(spill, rows, record);
		if (i % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	spill->num_bytes += rows->num_rows * rows->record_bytes;
	pfree(record);
	pfree(cursors);
	group_rows_reset(rows);
	MemoryContextSwitchTo(caller);
}

void
group_spill_finish(group_spill *spill)
{
	MemoryContext caller = MemoryContextSwitchTo(spill->context);

	for (int i = 0; i < spill->num_open; i++)
	{
		group_partition *partition = spill->open[i].partition;

		if (partition == NULL)
			continue;
		if (BufFileSeek(partition->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind a temporary file of rows to group")));
		spill->waiting = lappend(spill->waiting, partition);
		pfree(spill->open[i].first_key);
	}
	if (spill->open)
		pfree(spill->open);
	spill->open = NULL;
	spill->num_open = 0;
	MemoryContextSwitchTo(caller);
}

group_partition *
group_spill_next(group_spill *spill)
{
	group_partition *partition;

	if (spill->waiting == NIL)
		return NULL;
	/* the latest first: what was split again is done before files of more levels pile up */
	partition = llast(spill->waiting);
	spill->waiting = list_delete_last(spill->waiting);
	return partition;
}

void
group_spill_read(group_partition *partition, group_rows *rows, uint64 num_rows)
{
	char	   *record = palloc(rows->record_bytes);

	for (uint64 i = 0; i < num_rows && partition->num_rows > 0; i++)
	{
		if (BufFileRead(partition->file, record, rows->record_bytes) != rows->record_bytes)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read a temporary file of rows to group")));
		group_rows_put_record(rows, record);
		partition->num_rows--;
	}
	pfree(record);
}

void
group_spill_close(group_spill *spill)
{
	ListCell   *cell;

	for (int i = 0; i < spill->num_open; i++)
		if (spill->open[i].partition)
			BufFileClose(spill->open[i].partition->file);
	foreach(cell, spill->waiting)
		BufFileClose(((group_partition *) lfirst(cell))->file);
	MemoryContextReset(spill->context);
	spill->waiting = NIL;
	spill->open = NULL;
	spill->num_open = 0;
}
