/*
 * build.c
 *		Fills builds.
 */
#include "build.h"

uint64_t
mgpu_build_plan(mgpu_build *build, uint64_t offset, uint64_t num_rows, uint32_t num_columns, bool has_next)
{
	uint32_t	num_slots = 2;

	if (num_rows > MGPU_BUILD_MAX_ROWS || num_columns > MGPU_BUILD_MAX_COLUMNS)
		return 0;
	/* at least a third is free, so a look-up takes two steps or three */
	while (num_slots < num_rows + num_rows / 2 + 1)
		num_slots *= 2;
	*build = (mgpu_build) {
		.offset = offset,.num_rows = (uint32_t) num_rows,.num_slots = num_slots,.num_columns = num_columns,.has_next = has_next
	};
	return offset + mgpu_build_bytes(build);
}

uint64_t
mgpu_build_condense(mgpu_build *build, int64_t least, int64_t greatest)
{
	uint64_t	last = (uint64_t) greatest - (uint64_t) least;
	mgpu_build	dense = *build;

	dense.is_dense = 1;
	dense.least = least;
	dense.num_slots = (uint32_t) last + 1;
	if (least <= greatest && last < UINT32_MAX - MGPU_BUILD_BLOCK_VALUES && mgpu_build_slots_bytes(&dense) <= mgpu_build_slots_bytes(build))
		*build = dense;
	return build->offset + mgpu_build_bytes(build);
}

/* Have the list of a key, which begins with the row `first`, or is empty if 0, begin with another; rows count from 1 on. */
static uint32_t
begin_list(const mgpu_build *build, char *memory, uint32_t first, uint32_t row)
{
	uint32_t   *next = (uint32_t *) (memory + build->offset + mgpu_build_next_offset(build));

	if (first != 0 && !build->has_next)
		return first;
	if (first != 0)
		next[row] = first;
	return row + 1;
}

void
mgpu_build_chain(const mgpu_build *build, char *memory, mgpu_build_slot *slot, uint64_t key, uint32_t row)
{
	*slot = (mgpu_build_slot) {key, begin_list(build, memory, (uint32_t) slot->row, row)};
}

/* Threads mark keys at the same time. */
void
mgpu_build_mark(const mgpu_build *build, char *memory, uint64_t key)
{
	mgpu_build_block *blocks = (mgpu_build_block *) (memory + build->offset);
	uint64_t	place = mgpu_build_place(build, key);

	__atomic_fetch_or(&blocks[place / MGPU_BUILD_BLOCK_VALUES].keys, UINT32_C(1) << place % MGPU_BUILD_BLOCK_VALUES, __ATOMIC_RELAXED);
}

void
mgpu_build_number(const mgpu_build *build, char *memory)
{
	mgpu_build_block *blocks = (mgpu_build_block *) (memory + build->offset);
	uint64_t	num_blocks = mgpu_build_num_blocks(build);
	uint32_t	num_keys = 0;

	for (uint64_t i = 0; i < num_blocks; i++)
	{
		blocks[i].before = num_keys;
		num_keys += mgpu_build_count_bits(blocks[i].keys);
	}
}

static uint32_t
add_to_dense(const mgpu_build *build, char *memory, uint64_t key, uint32_t row)
{
	uint32_t   *first = (uint32_t *) (memory + build->offset) + mgpu_build_dense_first(build, memory, key);
	uint32_t	found = *first != 0 ? *first - 1 : row;

	*first = begin_list(build, memory, *first, row);
	return found;
}

uint32_t
mgpu_build_add(const mgpu_build *build, char *memory, uint64_t key, uint32_t row)
{
	mgpu_build_slot *slots = (mgpu_build_slot *) (memory + build->offset);
	uint32_t	place;
	uint32_t	found;

	if (build->is_dense)
		return add_to_dense(build, memory, key, row);
	place = (uint32_t) mgpu_build_place(build, key);
	while (slots[place].row != 0 && slots[place].key != key)
		place = (place + 1) & (build->num_slots - 1);
	found = slots[place].row != 0 ? (uint32_t) (slots[place].row - 1) : row;
	mgpu_build_chain(build, memory, &slots[place], key, row);
	return found;
}

void
mgpu_build_put(const mgpu_build *build, char *memory, uint32_t column, uint32_t row, int64_t cell, bool is_null)
{
	char	   *to = memory + build->offset;

	((int64_t *) (to + mgpu_build_cells_offset(build, column)))[row] = cell;
	to[mgpu_build_states_offset(build, column) + row] = is_null;
}
