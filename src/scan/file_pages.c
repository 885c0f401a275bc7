/*
 * file_pages.c
 *		Reads pages of a table that are in no shared buffer from its file, many at a time.
 *
 * PostgreSQL reads a table that is larger than a quarter of its buffers by a ring of some of them: each page takes a buffer from another, is
 * read by a call of its own, and is gone when the next statement comes.  That takes some 3 us a page, of which the copy is a quarter.  So
 * all-visible pages that no buffer has are read straight from the file.
 *
 * A page that no buffer has is in the file as it was last changed, since a buffer is written before it is given away.  If somebody changes
 * rows while we read, he marks the page in the visibility map before the file can change, which is looked at once more afterwards
 * (DESIGN.md).  Pages that are not all-visible, or in a buffer, take PostgreSQL's way.
 *
 * One thread copies 5 GB/s from the system's cache, so some read at a time, and the caller waits for them.  To have those read that take
 * the pages in was rejected: rows must not be looked at before the second look at the map.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/heapam.h"
#include "common/relpath.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"

#include "compat.h"
#include "core/executor.h"
#include "run/run_table.h"
#include "scan/file_pages.h"
#include "scan/visible_map.h"
#include "settings.h"
#include "threads.h"

/* Threads that read at most, and pages that one reads at a time. */
#define MOST_READERS 4
#define PART_PAGES 16

/* What is read at a time. */
typedef struct file_read
{
	int			file;
	off_t		offset;
	uint32		num_pages;
	char	   *to;
	ssize_t		bytes[MGPU_BATCH_PAGES / PART_PAGES + 1];	/* out: of each part */
} file_read;

struct file_pages
{
	HeapScanDesc scan;
	const char *path;			/* of the first segment */
	thread_work readers;
	bool		is_known;		/* there are bits of ... */
	uint32		number;			/* ... this page of the map ... */
	uint64		lsn;			/* ... with this LSN; 0: none counts */
	uint64		bits[MGPU_KEPT_RANGES];
};

file_pages *
file_pages_create(HeapScanDesc scan)
{
	file_pages *files;

	/* a table without a ring stays in buffers, where it is read faster the next time */
	if (scan->rs_strategy == NULL || !visible_map_proves(scan))
		return NULL;
	files = palloc0(sizeof(file_pages));
	files->scan = scan;
	files->path = mgpu_path_of(scan->rs_base.rs_rd);
	files->readers.most_threads = Min(run_table_threads(), MOST_READERS);
	return files;
}

/* ---- which pages */

static void
look_at_map(file_pages *files, uint32 number)
{
	if (files->is_known && files->number == number)
		return;
	files->number = number;
	files->lsn = visible_map_read(files->scan, number * MGPU_KEPT_STRETCH, MGPU_KEPT_STRETCH, files->bits);
	files->is_known = true;
}

static bool
is_in_buffer(Relation relation, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *lock;
	int			buffer;

	mgpu_init_tag(&tag, relation, block);
	hash = BufTableHashCode(&tag);
	lock = BufMappingPartitionLock(hash);
	LWLockAcquire(lock, LW_SHARED);
	buffer = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	return buffer >= 0;
}

bool
file_pages_may_read(file_pages *files, BlockNumber block)
{
	look_at_map(files, block / MGPU_KEPT_STRETCH);
	return files->lsn != 0 && visible_map_has(files->bits, block) && !is_in_buffer(files->scan->rs_base.rs_rd, block);
}

/* ---- reading */

static void
read_part(void *context, uint64 part, int worker)
{
	file_read  *read = context;
	size_t		begin = part * PART_PAGES;
	size_t		num_pages = Min(read->num_pages - begin, PART_PAGES);

	(void) worker;
	read->bytes[part] = pg_pread(read->file, read->to + begin * BLCKSZ, num_pages * BLCKSZ, read->offset + (off_t) (begin * BLCKSZ));
}

/* Read all parts; how many whole pages came before the first that did not. */
static uint32
read_parts(file_pages *files, file_read *read)
{
	uint32		num_parts = (read->num_pages + PART_PAGES - 1) / PART_PAGES;
	uint32		num_whole = 0;

	thread_work_run(&files->readers, read_part, read, num_parts, 2);
	for (uint32 part = 0; part < num_parts; part++)
	{
		num_whole += Max(read->bytes[part], 0) / BLCKSZ;
		if (num_whole < Min(read->num_pages, (part + 1) * PART_PAGES))
			break;
	}
	return num_whole;
}

/* How many whole pages come, of so many from a block of a segment on. */
static uint32
read_segment(file_pages *files, BlockNumber first, uint32 num_pages, char *to)
{
	BlockNumber segment = first / RELSEG_SIZE;
	char	   *path = segment == 0 ? pstrdup(files->path) : psprintf("%s.%u", files->path, segment);
	file_read	read = {.offset = (off_t) (first % RELSEG_SIZE) * BLCKSZ,.num_pages = num_pages,.to = to};
	uint32		num_whole = 0;

	read.file = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	if (read.file >= 0)
	{
		num_whole = read_parts(files, &read);
		CloseTransientFile(read.file);
	}
	pfree(path);
	return num_whole;
}

void
file_pages_pause(file_pages *files)
{
	thread_work_stop(0, PointerGetDatum(&files->readers));
}

static bool
is_sound(char *page, BlockNumber block)
{
	if (mgpu_setting_inject_fault == MGPU_FAULT_FILE_PAGES && block % 3 == 2)
		return false;
	return mgpu_page_is_sound(page, block) && PageIsAllVisible((Page) page) && PageGetMaxOffsetNumber((Page) page) <= MaxHeapTuplesPerPage;
}

/* How many of the pages that were read, from the first on, have the rows that they had when the map was looked at. */
static uint32
count_proven(file_pages *files, BlockNumber first, uint32 num_read, char *pages)
{
	uint64		bits[MGPU_KEPT_RANGES];
	uint32		num_proven = 0;

	files->is_known = visible_map_read(files->scan, first, num_read, bits) == files->lsn;
	while (files->is_known && num_proven < num_read && visible_map_has(bits, first + num_proven) &&
		   is_sound(pages + (Size) num_proven * BLCKSZ, first + num_proven))
		num_proven++;
	return num_proven;
}

uint32
file_pages_read(file_pages *files, BlockNumber first, uint32 num_pages, char *to)
{
	Relation	relation = files->scan->rs_base.rs_rd;

	/* the look at the map comes before the look for buffers: where it has gone on to the next page of the map, nothing is proven */
	if (!files->is_known || files->number != first / MGPU_KEPT_STRETCH)
		return 0;
	/* of one segment, and one page of the map */
	num_pages = Min(num_pages, RELSEG_SIZE - first % RELSEG_SIZE);
	num_pages = Min(num_pages, MGPU_KEPT_STRETCH - first % MGPU_KEPT_STRETCH);
	num_pages = count_proven(files, first, read_segment(files, first, num_pages, to), to);
	for (uint32 i = 0; i < num_pages; i++)
		pgstat_count_buffer_read(relation);
	pgBufferUsage.shared_blks_read += num_pages;
	mgpu_count_reads(num_pages);
	return num_pages;
}
