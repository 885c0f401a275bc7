/*
 * build.h
 *		Builds: the smaller inputs of joins, in which programs look rows up by a key.
 *
 * A build is a hash table of keys, and columns of cells, in one block of memory with all builds of a job:
 *
 *	 slot ... | cells of column 0 ... | cells of column 1 ... | states of column 0 ... | states of column 1 ... | next row ...
 *
 * A slot has a key of 64 bits and a row's number.  A key of several cells is their hash: whoever fills a build makes sure that no two
 * keys have the same, and programs compare the cells of the row that they find (MGPU_RUN_MATCH).  So slots have one size, and
 * most look-ups take one line of memory.  Slots of all cells were rejected for that.
 *
 * Keys of one cell whose values lie rather close together, such as numbers that were given in turn, need no slots of 16 bytes: such a build is
 * dense, and has a bit for each value from the least on, with the keys before it counted once for 32 of them, and a row's number of 4 bytes for each
 * key.  So its bits stay in caches, also where few of the values are keys.
 *
 * Rows of one key are a list: the slot has the last, and each row the one before (mgpu_build_next).  That is also the order in which a hash
 * join of PostgreSQL's returns them.  A build whose keys are known to differ has no such numbers.
 *
 * What describes a build is in the job's spec.  Its memory is data: a row's number in a slot is checked when it is used.
 *
 * Header-only but for filling, C11 and CUDA C++.
 */
#ifndef MGPU_BUILD_H
#define MGPU_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/key_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MGPU_BUILD_MAX_ROWS (UINT32_C(1) << 30)
#define MGPU_BUILD_MAX_COLUMNS 64
#define MGPU_BUILD_MAX_KEYS 8		/* cells of a key */
#define MGPU_BUILD_MAX_ROUNDS 16

typedef struct mgpu_build
{
	uint64_t	offset;			/* in the memory of all builds: a multiple of 8 */
	uint32_t	num_rows;
	uint32_t	num_slots;		/* a power of two, more than there are rows; or the values that a dense build has a bit for */
	uint32_t	num_columns;
	uint16_t	has_next;		/* 0 or 1: keys may be there several times */
	uint16_t	is_dense;		/* 0 or 1 */
	int64_t		least;			/* of a dense build's keys */
} mgpu_build;

typedef struct mgpu_build_slot
{
	uint64_t	key;
	uint64_t	row;			/* from 1 on; 0: the slot is empty */
} mgpu_build_slot;

/* Of some values of a dense build: which of them are keys, a bit each, and how many keys there are before. */
typedef struct mgpu_build_block
{
	uint32_t	keys;
	uint32_t	before;
} mgpu_build_block;

#define MGPU_BUILD_BLOCK_VALUES 32

/* One more cell of a key. */
MGPU_CODEC uint64_t
mgpu_build_hash(uint64_t hash, uint64_t cell)
{
	hash = (hash ^ (hash >> 29)) * UINT64_C(0xBF58476D1CE4E5B9) + cell;
	hash = (hash ^ (hash >> 32)) * UINT64_C(0x94D049BB133111EB);
	return hash ^ (hash >> 29);
}

MGPU_CODEC uint64_t
mgpu_build_spread(uint64_t key)
{
	return (key ^ (key >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
}

/* The first slot to look at.  Of a dense build, the value: none, if there are not so many. */
MGPU_CODEC uint64_t
mgpu_build_place(const mgpu_build *build, uint64_t key)
{
	if (build->is_dense)
		return key - (uint64_t) build->least;
	return (mgpu_build_spread(key) >> 32) & (build->num_slots - 1);
}

/* The round of a key, of so many: a build that is too large has the rows of one round after the other.  Other bits than those of places. */
MGPU_CODEC uint32_t
mgpu_build_round(uint64_t key, uint32_t num_rounds)
{
	return (uint32_t) ((mgpu_build_spread(key) & UINT32_MAX) * num_rounds >> 32);
}

MGPU_CODEC uint64_t
mgpu_build_num_blocks(const mgpu_build *build)
{
	return ((uint64_t) build->num_slots + MGPU_BUILD_BLOCK_VALUES - 1) / MGPU_BUILD_BLOCK_VALUES;
}

MGPU_CODEC uint64_t
mgpu_build_slots_bytes(const mgpu_build *build)
{
	if (!build->is_dense)
		return build->num_slots * sizeof(mgpu_build_slot);
	return mgpu_build_num_blocks(build) * sizeof(mgpu_build_block) + ((uint64_t) build->num_rows + 1) / 2 * 8;
}

MGPU_CODEC uint64_t
mgpu_build_cells_offset(const mgpu_build *build, uint32_t column)
{
	return mgpu_build_slots_bytes(build) + (uint64_t) column * build->num_rows * sizeof(int64_t);
}

MGPU_CODEC uint64_t
mgpu_build_states_offset(const mgpu_build *build, uint32_t column)
{
	return mgpu_build_cells_offset(build, build->num_columns) + (uint64_t) column * build->num_rows;
}

/* The first slot to look at, to be fetched: an address of the build's, or of no memory. */
MGPU_CODEC const char *
mgpu_build_slot_of(const mgpu_build *build, const char *memory, uint64_t key)
{
	uint64_t	place = mgpu_build_place(build, key);

	if (build->is_dense)
		return memory + build->offset + (place < build->num_slots ? place / MGPU_BUILD_BLOCK_VALUES * sizeof(mgpu_build_block) : 0);
	return memory + build->offset + place * sizeof(mgpu_build_slot);
}

MGPU_CODEC uint64_t
mgpu_build_next_offset(const mgpu_build *build)
{
	return (mgpu_build_states_offset(build, build->num_columns) + 7) / 8 * 8;
}

/* What it takes, a multiple of 8. */
MGPU_CODEC uint64_t
mgpu_build_bytes(const mgpu_build *build)
{
	return mgpu_build_next_offset(build) + (build->has_next ? ((uint64_t) build->num_rows + 1) / 2 * 8 : 0);
}

/* Without a branch, and without the instruction that not all processors have. */
MGPU_CODEC uint32_t
mgpu_build_count_bits(uint32_t bits)
{
	bits -= bits >> 1 & UINT32_C(0x55555555);
	bits = (bits & UINT32_C(0x33333333)) + (bits >> 2 & UINT32_C(0x33333333));
	return ((bits + (bits >> 4)) & UINT32_C(0x0F0F0F0F)) * UINT32_C(0x01010101) >> 24;
}

/* Of a dense build, where the first row of a key is, from the build's begin on, in numbers of 4 bytes; 0: no such key is marked. */
MGPU_CODEC uint64_t
mgpu_build_dense_first(const mgpu_build *build, const char *memory, uint64_t key)
{
	const mgpu_build_block *blocks = (const mgpu_build_block *) (memory + build->offset);
	uint64_t	place = mgpu_build_place(build, key);
	mgpu_build_block block = {0, 0};
	uint32_t	bit = UINT32_C(1) << place % MGPU_BUILD_BLOCK_VALUES;
	uint32_t	number;

	if (place < build->num_slots)
		block = blocks[place / MGPU_BUILD_BLOCK_VALUES];
	number = block.before + mgpu_build_count_bits(block.keys & (bit - 1));
	if ((block.keys & bit) == 0 || number >= build->num_rows)
		return 0;
	return mgpu_build_num_blocks(build) * (sizeof(mgpu_build_block) / sizeof(uint32_t)) + number;
}

MGPU_CODEC bool
mgpu_build_find_dense(const mgpu_build *build, const char *memory, uint64_t key, int64_t *row)
{
	uint64_t	first = mgpu_build_dense_first(build, memory, key);
	uint32_t	found = first > 0 ? ((const uint32_t *) (memory + build->offset))[first] : 0;

	*row = found > 0 ? (int64_t) found - 1 : 0;
	return found > 0;
}

/* The row with a key.  false: there is none. */
MGPU_CODEC bool
mgpu_build_find(const mgpu_build *build, const char *memory, uint64_t key, int64_t *row)
{
	const mgpu_build_slot *slots = (const mgpu_build_slot *) (memory + build->offset);
	uint32_t	place;

	if (build->is_dense)
		return mgpu_build_find_dense(build, memory, key, row);
	place = (uint32_t) mgpu_build_place(build, key);
	*row = 0;
	for (uint32_t i = 0; i < build->num_slots && slots[place].row != 0; i++)
	{
		if (slots[place].key == key)
		{
			*row = (int64_t) (slots[place].row - 1);
			return true;
		}
		place = (place + 1) & (build->num_slots - 1);
	}
	return false;
}

/* A row's cell and its state; NULL of a row that there is not. */
MGPU_CODEC uint8_t
mgpu_build_cell(const mgpu_build *build, const char *memory, uint32_t column, int64_t row, int64_t *cell)
{
	const char *from = memory + build->offset;
	bool		is_there = row >= 0 && row < (int64_t) build->num_rows;

	*cell = is_there ? ((const int64_t *) (from + mgpu_build_cells_offset(build, column)))[row] : 0;
	return is_there ? (uint8_t) from[mgpu_build_states_offset(build, column) + (uint64_t) row] : 1;
}

/* Another row of the same key, of a build that has such numbers; -1: there is none. */
MGPU_CODEC int64_t
mgpu_build_next(const mgpu_build *build, const char *memory, int64_t row)
{
	const uint32_t *next = (const uint32_t *) (memory + build->offset + mgpu_build_next_offset(build));
	int64_t		found = row >= 0 && row < (int64_t) build->num_rows ? (int64_t) next[row] - 1 : -1;

	/* a list ends, whatever is there */
	return found < row ? found : -1;
}

/* ---- filling (build.c) */

/*
 * Describe a build of so many rows behind others; the memory's new size.  0: too many rows or columns.  has_next: keys may be there several
 * times.  Else the first row with a key counts.
 */
uint64_t	mgpu_build_plan(mgpu_build *build, uint64_t offset, uint64_t num_rows, uint32_t num_columns, bool has_next);

/* Once it is known what keys of one cell lie between: make it dense, if it takes no more memory so.  Returns the memory's new size. */
uint64_t	mgpu_build_condense(mgpu_build *build, int64_t least, int64_t greatest);

/* Put a row into the slot of its key, which is free or has a row of that key. */
void		mgpu_build_chain(const mgpu_build *build, char *memory, mgpu_build_slot *slot, uint64_t key, uint32_t row);

/* Of a dense build, whose memory was zeros: all keys, which lie between, are marked and then numbered before the first is added. */
void		mgpu_build_mark(const mgpu_build *build, char *memory, uint64_t key);
void		mgpu_build_number(const mgpu_build *build, char *memory);

/* Add a row's key to a build, whose memory was zeros; of a dense one, a key that is marked.  Returns the row that had the key, or this one. */
uint32_t	mgpu_build_add(const mgpu_build *build, char *memory, uint64_t key, uint32_t row);

void		mgpu_build_put(const mgpu_build *build, char *memory, uint32_t column, uint32_t row, int64_t cell, bool is_null);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_BUILD_H */
