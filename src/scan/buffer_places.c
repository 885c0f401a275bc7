/*
 * buffer_places.c
 *		See buffer_places.h.
 *
 * Where a table has a good part of the buffers, the places of all its blocks are found at once: the buffers' headers lie one after the other,
 * and to read one takes a hundredth of a look-up.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "core/sizes.h"
#include "scan/buffer_places.h"

/* Smaller tables are found soon enough. */
#define LEAST_BLOCKS MGPU_SIZE(64, 4)

/* Blocks whose places a session remembers, of all tables: 16 MB. */
#define MOST_BLOCKS MGPU_SIZE(4 * 1024 * 1024, 256)

/* As many headers are read as fast as one block is looked up, at least. */
#define HEADERS_OF_LOOKUP 32

typedef struct table_key
{
	Oid			tablespace;
	Oid			database;
	Oid			number;
} table_key;

typedef struct table_places
{
	table_key	key;
	BlockNumber num_blocks;
	Buffer	   *buffers;
} table_places;

uint32		buffer_places_epoch = 0;

static MemoryContext memory = NULL;
static HTAB *tables = NULL;
static uint64 all_blocks = 0;

/* Forget the places of all tables. */
static void
forget_all(void)
{
	HASHCTL		control = {.keysize = sizeof(table_key),.entrysize = sizeof(table_places)};

	buffer_places_epoch++;
	all_blocks = 0;
	tables = NULL;
	if (memory == NULL)
		memory = AllocSetContextCreate(TopMemoryContext, "mgpu_pg places of pages", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(memory);
	control.hcxt = memory;
	tables = hash_create("mgpu_pg places of pages", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Find blocks by the headers of buffers, which may change meanwhile. */
static void
read_headers(const table_places *table, Relation relation)
{
	for (int i = 0; i < NBuffers; i++)
	{
		const BufferTag *tag = &GetBufferDescriptor(i)->tag;
		BlockNumber block = tag->blockNum;

		if (block < table->num_blocks && mgpu_tag_is_of(tag, relation))
			table->buffers[block] = i + 1;
	}
}

/* Make an array that has room for some more blocks. */
static void
make_larger(table_places *table, BlockNumber num_blocks)
{
	Size		most_blocks = num_blocks + (Size) num_blocks / 8;
	Buffer	   *buffers = MemoryContextAllocExtended(memory, most_blocks * sizeof(Buffer), MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);

	if (buffers == NULL)
		return;
	buffer_places_epoch++;
	if (table->buffers)
	{
		memcpy(buffers, table->buffers, table->num_blocks * sizeof(Buffer));
		pfree(table->buffers);
	}
	all_blocks += most_blocks - table->num_blocks;
	table->buffers = buffers;
	table->num_blocks = most_blocks;
}

/* Find a table, or add it and have room for its blocks. */
static table_places *
find_table(Relation relation, BlockNumber num_blocks, bool needs_all)
{
	table_key	key = {mgpu_tablespace_of(relation), mgpu_database_of(relation), mgpu_file_number_of(relation)};
	table_places *table = tables ? hash_search(tables, &key, HASH_FIND, NULL) : NULL;

	if (table && table->num_blocks >= num_blocks)
		return table;
	if (tables == NULL || all_blocks + num_blocks > MOST_BLOCKS)
	{
		forget_all();
		table = NULL;
	}
	if (table == NULL)
	{
		table = hash_search(tables, &key, HASH_ENTER, NULL);
		table->num_blocks = 0;
		table->buffers = NULL;
	}
	make_larger(table, num_blocks);
	if (needs_all && (uint64) num_blocks * HEADERS_OF_LOOKUP > (uint64) NBuffers)
		read_headers(table, relation);
	return table;
}

void
buffer_places_start(buffer_places *places, Relation relation, BlockNumber num_blocks, bool needs_all)
{
	const table_places *table;

	*places = (buffer_places) {0};
	if (num_blocks < LEAST_BLOCKS || num_blocks > MOST_BLOCKS / 2 || RelationUsesLocalBuffers(relation))
		return;
	table = find_table(relation, num_blocks, needs_all);
	*places = (buffer_places) {.buffers = table->buffers,.num_blocks = table->num_blocks,.epoch = buffer_places_epoch};
}
