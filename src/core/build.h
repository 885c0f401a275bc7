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
 * Keys of one cell whose values lie close together, such as numbers that were given in turn, need no slots of 16 bytes: such a build is dense, and
 * has a row's number of 4 bytes for each value from the least on.  It takes no more memory, mostly a tenth, so that more of it stays in caches.
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
	uint32_t	num_slots;		/* a power of two, more than there are rows; or what values there may be of a dense build */
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

/* The first slot to look at.  Of a dense build, the only one: none, if there are not so many. */
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
mgpu_build_slots_bytes(const mgpu_build *build)
{
	return build->is_dense ? ((uint64_t) build->num_slots + 1) / 2 * 8 : build->num_slots * sizeof(mgpu_build_slot);
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
		return memory + build->offset + (place < build->num_slots ? place * sizeof(uint32_t) : 0);
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

MGPU_CODEC bool
mgpu_build_find_dense(const mgpu_build *build, const char *memory, uint64_t key, int64_t *row)
{
	uint64_t	place = mgpu_build_place(build, key);
	uint32_t	found = place < build->num_slots ? ((const uint32_t *) (memory + build->offset))[place] : 0;

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

/*
 * Add a row's key to a build, whose memory was zeros; of a dense one, a key that lies between.  Returns the row that had the key, or this one.
 */
uint32_t	mgpu_build_add(const mgpu_build *build, char *memory, uint64_t key, uint32_t row);

void		mgpu_build_put(const mgpu_build *build, char *memory, uint32_t column, uint32_t row, int64_t cell, bool is_null);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_BUILD_H */
