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
	while (num_slots < 2 * num_rows)
		num_slots *= 2;
	*build = (mgpu_build) {
		.offset = offset,.num_rows = (uint32_t) num_rows,.num_slots = num_slots,.num_columns = num_columns,.has_next = has_next
	};
	return offset + mgpu_build_bytes(build);
}

void
mgpu_build_chain(const mgpu_build *build, char *memory, mgpu_build_slot *slot, uint64_t key, uint32_t row)
{
	uint32_t   *next = (uint32_t *) (memory + build->offset + mgpu_build_next_offset(build));

	if (slot->row != 0 && !build->has_next)
		return;
	if (slot->row != 0)
		next[row] = (uint32_t) slot->row;
	*slot = (mgpu_build_slot) {key, (uint64_t) row + 1};
}

uint32_t
mgpu_build_add(const mgpu_build *build, char *memory, uint64_t key, uint32_t row)
{
	mgpu_build_slot *slots = (mgpu_build_slot *) (memory + build->offset);
	uint32_t	place = mgpu_build_place(build, key);
	uint32_t	found;

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
