/*
 * index_file.c
 *		Writes the pages of a new index to its file and to WAL.
 *
 * Since 17, PostgreSQL's bulk writer does all of it.  Before, this is done as there: pages are gathered, up to as many as
 * a WAL record takes, put in order, logged and written, past shared buffers.  If the relation is logged, the file is
 * synchronized at the end, since a checkpoint may have passed over it.  If it need not be, PostgreSQL does so at the end of the
 * transaction.
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/index_file.h"

#if PG_VERSION_NUM >= 170000

#include "storage/bulk_write.h"

struct index_file
{
	BulkWriteState *writer;
};

index_file *
index_file_open(Relation index)
{
	index_file *file = palloc(sizeof(index_file));

	file->writer = smgr_bulk_start_rel(index, MAIN_FORKNUM);
	return file;
}

Page
index_file_page(index_file *file)
{
	return (Page) smgr_bulk_get_buf(file->writer);
}

void
index_file_write(index_file *file, BlockNumber block, Page page)
{
	smgr_bulk_write(file->writer, block, (BulkWriteBuffer) page, true);
}

void
index_file_close(index_file *file)
{
	smgr_bulk_finish(file->writer);
	pfree(file);
}

#else

/* Pages of a WAL record. */
#define MOST_PENDING XLR_MAX_BLOCK_ID

/* Files are written from memory that starts at a page of the system. */
#define MEMORY_PAGE 4096

typedef struct pending_page
{
	BlockNumber block;
	Page		page;
} pending_page;

struct index_file
{
	Relation	index;
	bool		is_logged;
	BlockNumber num_blocks;		/* in the file */
	int			num_pending;
	pending_page pending[MOST_PENDING];
	Page		free;			/* NULL: none; a free page begins with the address of the next one */
	Page		zeros;			/* NULL: not needed yet */
};

static Page
allocate_page(void)
{
	return (Page) TYPEALIGN(MEMORY_PAGE, palloc(BLCKSZ + MEMORY_PAGE));
}

index_file *
index_file_open(Relation index)
{
	index_file *file = palloc0(sizeof(index_file));

	file->index = index;
	file->is_logged = RelationNeedsWAL(index);
	return file;
}

Page
index_file_page(index_file *file)
{
	Page		page = file->free;

	if (page == NULL)
		return allocate_page();
	file->free = *(Page *) page;
	return page;
}

static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber block_a = ((const pending_page *) a)->block;
	BlockNumber block_b = ((const pending_page *) b)->block;

	return block_a < block_b ? -1 : block_a > block_b;
}

static void
log_pages(index_file *file)
{
	BlockNumber blocks[MOST_PENDING];
	Page		pages[MOST_PENDING];

	for (int i = 0; i < file->num_pending; i++)
	{
		blocks[i] = file->pending[i].block;
		pages[i] = file->pending[i].page;
	}
	log_newpages(&mgpu_locator(file->index), MAIN_FORKNUM, file->num_pending, blocks, pages, true);
}

/* A page above a leaf ends later than those behind it: till then, there are zeros in its place. */
static void
fill_gap(index_file *file, SMgrRelation storage, BlockNumber block)
{
	if (file->zeros == NULL && file->num_blocks < block)
		file->zeros = memset(allocate_page(), 0, BLCKSZ);
	while (file->num_blocks < block)
		smgrextend(storage, MAIN_FORKNUM, file->num_blocks++, (char *) file->zeros, true);
}

static void
write_page(index_file *file, SMgrRelation storage, const pending_page *pending)
{
	fill_gap(file, storage, pending->block);
	PageSetChecksumInplace(pending->page, pending->block);
	if (pending->block < file->num_blocks)
		smgrwrite(storage, MAIN_FORKNUM, pending->block, (char *) pending->page, true);
	else
		smgrextend(storage, MAIN_FORKNUM, file->num_blocks++, (char *) pending->page, true);
}

static void
flush_pages(index_file *file)
{
	/* an interrupt may have closed it */
	SMgrRelation storage = smgropen(mgpu_locator(file->index), file->index->rd_backend);

	if (file->num_pending == 0)
		return;
	qsort(file->pending, file->num_pending, sizeof(pending_page), compare_blocks);
	if (file->is_logged)
		log_pages(file);
	for (int i = 0; i < file->num_pending; i++)
	{
		write_page(file, storage, &file->pending[i]);
		*(Page *) file->pending[i].page = file->free;
		file->free = file->pending[i].page;
	}
	file->num_pending = 0;
}

void
index_file_write(index_file *file, BlockNumber block, Page page)
{
	file->pending[file->num_pending++] = (pending_page) {block, page};
	if (file->num_pending == MOST_PENDING)
		flush_pages(file);
}

void
index_file_close(index_file *file)
{
	flush_pages(file);
	if (file->is_logged)
		smgrimmedsync(smgropen(mgpu_locator(file->index), file->index->rd_backend), MAIN_FORKNUM);
}

#endif
