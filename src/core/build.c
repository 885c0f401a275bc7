/*
 * build.c
 *		Fills builds.
 */
#include "build.h"

uint64_t
mgpu_build_plan(mgpu_build *build, uint64_t offset, uint64_t num_rows, uint32_t num_columns)
{
	uint32_t	num_slots = 2;

	if (num_rows > MGPU_BUILD_MAX_ROWS || num_columns > MGPU_BUILD_MAX_COLUMNS)
		return 0;
	while (num_slots < 2 * num_rows)
		num_slots *= 2;
	*build = (mgpu_build) {.offset = offset,.num_rows = (uint32_t) num_rows,.num_slots = num_slots,.num_columns = num_columns};
	return offset + mgpu_build_bytes(build);
}

uint32_t
mgpu_build_add(const mgpu_build *build, char *memory, uint64_t key, uint32_t row)
{
	mgpu_build_slot *slots = (mgpu_build_slot *) (memory + build->offset);
	uint32_t	place = mgpu_build_place(build, key);

	for (; slots[place].row != 0; place = (place + 1) & (build->num_slots - 1))
	{
		if (slots[place].key == key)
			return (uint32_t) (slots[place].row - 1);
	}
	slots[place] = (mgpu_build_slot) {key, (uint64_t) row + 1};
	return row;
}

void
mgpu_build_put(const mgpu_build *build, char *memory, uint32_t column, uint32_t row, int64_t cell, bool is_null)
{
	char	   *to = memory + build->offset;

	((int64_t *) (to + mgpu_build_cells_offset(build, column)))[row] = cell;
	to[mgpu_build_states_offset(build, column) + row] = is_null;
}
