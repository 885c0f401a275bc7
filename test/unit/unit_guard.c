/*
 * unit_guard.c
 *		Linked into the guarded variant of the unit tests: guards every block of memory,
 *		and preempts threads at mutexes.
 *
 * The linker's --wrap replaces the allocator, mmap and the mutex with these functions.
 * Every block has pages of its own between two inaccessible pages, and its addresses
 * are never reused.  So the processor itself finds overruns, underruns and uses after
 * free in the objects that are shipped, also by instructions that AddressSanitizer does
 * not know, such as masked vector stores.  A block touches one of its two guards, chosen at
 * random.  The rest of its pages, at the other end, is filled, and checked when the
 * block is freed.
 *
 * A thread sleeps now and then after it has locked or unlocked a mutex.  So each run
 * has threads and callers that start late.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void	   *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int			__real_munmap(void *address, size_t bytes);
void		__real_free(void *memory);
int			__real_pthread_mutex_lock(pthread_mutex_t *mutex);
int			__real_pthread_mutex_unlock(pthread_mutex_t *mutex);

void	   *__wrap_malloc(size_t bytes);
void	   *__wrap_calloc(size_t num_items, size_t item_bytes);
void	   *__wrap_realloc(void *memory, size_t bytes);
void	   *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void		__wrap_free(void *memory);
void	   *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int			__wrap_munmap(void *address, size_t bytes);
int			__wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int			__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

/* Address space for all blocks of a program; halved until the kernel grants it. */
#define ARENA_BYTES ((size_t) 1 << 45)

#define MAX_BLOCKS 16384

/* Fill bytes: of new memory that need not be zero, and of the rest of a block's pages. */
#define FRESH_BYTE 0xA5
#define SLACK_BYTE 0xE7

typedef struct guarded_block
{
	unsigned char *data;
	size_t		bytes;
	unsigned char *pages;		/* pages of the block, without the guards */
	size_t		pages_bytes;
} guarded_block;

static pthread_mutex_t blocks_mutex = PTHREAD_MUTEX_INITIALIZER;
static guarded_block blocks[MAX_BLOCKS];
static int	num_blocks;
static unsigned char *arena_next;
static unsigned char *arena_end;
static size_t page_bytes;

static void
give_up(const char *why)
{
	fprintf(stderr, "unit_guard: %s\n", why);
	abort();
}

static void
reserve_arena(void)
{
	size_t		bytes = ARENA_BYTES;
	void	   *arena = MAP_FAILED;

	page_bytes = (size_t) sysconf(_SC_PAGESIZE);
	for (; arena == MAP_FAILED && bytes > 0; bytes /= 2)
	{
		arena = __real_mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		arena_end = (unsigned char *) arena + bytes;
	}
	if (arena == MAP_FAILED)
		give_up("no address space");
	arena_next = arena;
}

/* Separate random numbers: those of the tests must not depend on the variant. */
static uint32_t
guard_random(void)
{
	static _Thread_local uint32_t state;

	if (state == 0)
	{
		const char *seed = getenv("UNIT_SEED");

		state = (uint32_t) (uintptr_t) &state ^ (seed != NULL ? (uint32_t) strtoul(seed, NULL, 10) : 0);
	}
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return state >> 8;
}

static void *
allocate_block(size_t alignment, size_t bytes, int fresh_byte)
{
	guarded_block block = {.bytes = bytes};
	size_t		room;

	__real_pthread_mutex_lock(&blocks_mutex);
	if (arena_next == NULL)
		reserve_arena();
	room = (bytes + page_bytes - 1) / page_bytes * page_bytes;
	if (num_blocks == MAX_BLOCKS || (size_t) (arena_end - arena_next) < room + 2 * page_bytes)
		give_up("too many blocks, or no address space left");
	block.pages = arena_next + page_bytes;
	block.pages_bytes = room;
	arena_next += page_bytes + room;	/* the second guard is the first guard of the next block */
	/* blocks of malloc end at the last byte; they stay aligned, as sizes are multiples of the items' */
	block.data = guard_random() % 2 ? block.pages :
		block.pages + (room - bytes) / alignment * alignment;
	blocks[num_blocks++] = block;
	__real_pthread_mutex_unlock(&blocks_mutex);

	if (room > 0 && mprotect(block.pages, room, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	memset(block.pages, SLACK_BYTE, (size_t) (block.data - block.pages));
	memset(block.data + bytes, SLACK_BYTE, room - bytes - (size_t) (block.data - block.pages));
	/* new pages are zero already */
	if (fresh_byte != 0)
		memset(block.data, fresh_byte, bytes);
	return block.data;
}

/* Remove the block from the list; its pages stay.  Zero if data is not the start of a block. */
static guarded_block
forget_block(const void *data)
{
	guarded_block block = {0};

	__real_pthread_mutex_lock(&blocks_mutex);
	for (int i = num_blocks - 1; i >= 0 && block.data == NULL; i--)
		if (blocks[i].data == data)
		{
			block = blocks[i];
			blocks[i] = blocks[--num_blocks];
		}
	__real_pthread_mutex_unlock(&blocks_mutex);
	return block;
}

static void
free_block(const guarded_block *block)
{
	for (unsigned char *byte = block->pages; byte < block->pages + block->pages_bytes; byte++)
	{
		if (byte == block->data)
			byte += block->bytes;
		if (byte < block->pages + block->pages_bytes && *byte != SLACK_BYTE)
			give_up(byte < block->data ? "written before a block's begin" : "written behind a block's end");
	}
	/* return the pages to the arena: no memory, and one mapping with their neighbours */
	if (block->pages_bytes > 0 &&
		__real_mmap(block->pages, block->pages_bytes, PROT_NONE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		give_up("cannot unmap a block");
}

void *
__wrap_malloc(size_t bytes)
{
	return allocate_block(1, bytes, FRESH_BYTE);
}

void *
__wrap_calloc(size_t num_items, size_t item_bytes)
{
	return allocate_block(64, num_items * item_bytes, 0);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return allocate_block(alignment, bytes, FRESH_BYTE);
}

void
__wrap_free(void *memory)
{
	guarded_block block = forget_block(memory);

	if (block.data != NULL)
		free_block(&block);
	else
		__real_free(memory);	/* allocated by a library */
}

void *
__wrap_realloc(void *memory, size_t bytes)
{
	void	   *grown = __wrap_malloc(bytes);
	guarded_block block;

	if (grown == NULL || memory == NULL)
		return grown;
	block = forget_block(memory);
	if (block.data == NULL)
		give_up("realloc of what is not allocated");
	memcpy(grown, block.data, block.bytes < bytes ? block.bytes : bytes);
	free_block(&block);
	return grown;
}

void *
__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
	void	   *memory;

	if (address != NULL || file != -1)
		return __real_mmap(address, bytes, protection, flags, file, offset);
	memory = allocate_block(64, bytes, 0);
	return memory != NULL ? memory : MAP_FAILED;
}

int
__wrap_munmap(void *address, size_t bytes)
{
	guarded_block block = forget_block(address);

	if (block.data == NULL)
		return __real_munmap(address, bytes);
	if (block.bytes != bytes)
		give_up("munmap of another size");
	free_block(&block);
	return 0;
}

/* Now and then give way to another thread, sometimes by sleeping. */
static void
shake(void)
{
	uint32_t	number = guard_random() % 48;

	if (number == 0)
		usleep(1 + guard_random() % 100);
	else if (number < 4)
		sched_yield();
}

int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int			status = __real_pthread_mutex_lock(mutex);

	shake();
	return status;
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int			status = __real_pthread_mutex_unlock(mutex);

	shake();
	return status;
}
