/*
 * group_pack.c
 *		Collected rows as bytes, on their way from a parallel worker to the leader.
 *
 * Rows cross the queue between two processes some thousand at a time, so that the
 * leader's part is a memcpy a column and not a tuple a row: sending tuples was
 * rejected, as a tuple takes longer to send and receive than the scan takes to
 * find it.  Shared memory that the leader sorts where it lies was rejected too:
 * the queue bounds what workers hold by itself, and what it adds, a copy, is a
 * tenth of the sort that follows.
 */
#include "postgres.h"

#include "compat.h"
#include "agg_run.h"
#include "group_pack.h"
#include "settings.h"

#include "core/executor.h"

static Size
cell_bytes(const group_rows *rows, uint32 num_rows)
{
	return (rows->record_bytes - rows->num_columns) * num_rows;
}

bytea *
group_pack(const group_rows *rows)
{
	group_pack_header header = {rows->num_rows, rows->num_columns};
	Size		most_bytes = sizeof(header) + rows->num_columns + rows->record_bytes * rows->num_rows;
	bytea	   *pack = palloc(VARHDRSZ + most_bytes);
	char	   *dest = VARDATA(pack);
	char	   *has_marks;

	memcpy(dest, &header, sizeof(header));
	dest += sizeof(header);
	for (int i = 0; i < rows->num_columns; i++)
	{
		agg_rows_copy(&rows->columns[i].rows, AGG_KEYS, dest);
		dest += (Size) rows->columns[i].column.width * rows->num_rows;
	}
	has_marks = dest;
	dest += rows->num_columns;
	for (int i = 0; i < rows->num_columns; i++)
	{
		has_marks[i] = rows->columns[i].rows.has_value_nulls;
		if (!has_marks[i])
			continue;
		agg_rows_copy_value_nulls(&rows->columns[i].rows, (bool *) dest);
		dest += rows->num_rows;
	}
	SET_VARSIZE(pack, dest - (char *) pack);
	if (unlikely(mgpu_setting_inject_fault == MGPU_FAULT_AGG_RUN))
		agg_run_damage(pack, sizeof(header));
	return pack;
}

static void
check(bool is_valid)
{
	if (!is_valid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid rows of a parallel worker")));
}

void
group_unpack(group_rows *rows, const bytea *pack)
{
	const char *cells = VARDATA_ANY(pack) + sizeof(group_pack_header);
	Size		bytes = VARSIZE_ANY_EXHDR(pack);
	const char *has_marks;
	const char *marks;
	Size		expected;
	group_pack_header header;

	check(bytes >= sizeof(header));
	memcpy(&header, VARDATA_ANY(pack), sizeof(header));
	check(header.num_rows <= GROUP_PACK_BYTES && header.num_columns == (uint32) rows->num_columns);
	expected = sizeof(header) + cell_bytes(rows, header.num_rows) + header.num_columns;
	check(bytes >= expected);
	has_marks = cells + cell_bytes(rows, header.num_rows);
	for (uint32 i = 0; i < header.num_columns; i++)
		expected += has_marks[i] ? header.num_rows : 0;
	check(bytes == expected);
	marks = has_marks + header.num_columns;
	for (int i = 0; i < rows->num_columns; i++)
	{
		group_rows_put_cells(rows, i, cells, has_marks[i] ? marks : NULL, header.num_rows);
		cells += (Size) rows->columns[i].column.width * header.num_rows;
		marks += has_marks[i] ? header.num_rows : 0;
	}
	rows->num_rows += header.num_rows;
}
