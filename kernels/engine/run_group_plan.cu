/*
 * engine/run_group_plan.cu
 *		How the keys and values of a grouped run become numbers, and the memory that sorts of these take.
 *
 * A column takes as many bits as the distance from its least code to its greatest needs.  With few distinct keys a
 * radix sort then has one or two passes.  Keys that do not fit in a number take several, as order columns do.  All sorts of a run share one block of memory, since they run one after the
 * other: the first one, of groups, ends before values are sorted.
 */
#include "engine/run_group.h"

#include <algorithm>

/* Bits of the numbers from 0 to this one. */
static uint32_t
bits_up_to(uint64_t greatest)
{
	uint32_t	bits = 0;

	while (bits < 64 && greatest >> bits != 0)
		bits++;
	return bits;
}

/* A column's range; null_part is set if it has NULLs or no values. */
static mgpu_packed_column
pack_column(const mgpu_group_run *group, uint32_t number)
{
	const mgpu_group_facts *facts = &group->mailbox->facts;
	mgpu_packed_column packed = {};

	packed.codes = group->columns.codes[number];
	packed.column = number;
	if (facts->nulls[number] >= group->num_rows)
		return packed;
	packed.greatest = facts->greatest[number];
	packed.least = ~facts->inverse_least[number];
	packed.null_part = packed.greatest - packed.least + 1;
	packed.bits = bits_up_to(packed.greatest - packed.least);
	return packed;
}

static void
add_column(mgpu_group_packing *packing, const mgpu_packed_column *column)
{
	packing->keys[packing->num_keys++] = *column;
	packing->bits += column->bits;
}

/* Keys are ascending, and their NULLs come last. */
static bool
pack_order(const mgpu_group_run *group, const mgpu_group_order *order, mgpu_packed_column *packed)
{
	bool		has_nulls = group->mailbox->facts.nulls[order->column] > 0;
	uint64_t	range;

	*packed = pack_column(group, order->column);
	packed->descending = order->descending != 0;
	if (!has_nulls || group->mailbox->facts.nulls[order->column] >= group->num_rows)
		return true;
	range = packed->greatest - packed->least;
	if (range == UINT64_MAX)
		return false;
	packed->bits = bits_up_to(range + 1);
	if (order->nulls_first)
	{
		packed->null_part = 0;
		packed->first_part = 1;
	}
	return true;
}

/* A column goes to the last pass if it still fits, else to one of its own. */
static mgpu_status
add_to_passes(const mgpu_group_run *group, const mgpu_group_order *order, mgpu_group_passes *by, mgpu_error *err)
{
	mgpu_packed_column packed;

	if (!pack_order(group, order, &packed))
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a column has NULLs, and values of more than 63 bits");
	if (by->passes[by->num_passes - 1].bits + packed.bits > 64)
		by->num_passes++;
	add_column(&by->passes[by->num_passes - 1], &packed);
	return MGPU_OK;
}

/* Shifts of a pass whose columns are all there. */
static void
finish_packing(const mgpu_group_run *group, mgpu_group_packing *packing)
{
	uint32_t	shift = packing->bits;

	packing->nulls = group->columns.nulls;
	for (uint32_t i = 0; i < packing->num_keys; i++)
		packing->keys[i].shift = shift -= packing->keys[i].bits;
}

extern "C" mgpu_status
mgpu_group_plan_cells(mgpu_group_run *group, uint32_t head, mgpu_error *err)
{
	mgpu_group_passes *by = &group->by_cells;
	mgpu_status status = MGPU_OK;

	*by = mgpu_group_passes();
	by->num_passes = 1;
	for (uint32_t i = 0; status == MGPU_OK && i < group->spec.columns[head].num_cells; i++)
	{
		mgpu_group_order order = {head + i, 0, 0};

		status = add_to_passes(group, &order, by, err);
	}
	for (uint32_t pass = 0; pass < by->num_passes; pass++)
		finish_packing(group, &by->passes[pass]);
	return status;
}

/* What does not fit in the first number is sorted before, by numbers of its own: sorts are stable. */
static mgpu_status
plan_passes(mgpu_group_run *group, mgpu_error *err)
{
	mgpu_status status = MGPU_OK;
	uint32_t	key_bits;

	group->by.num_passes = 1;
	for (uint32_t i = 0; status == MGPU_OK && i < group->spec.num_keys; i++)
	{
		mgpu_group_order order = {group->spec.keys[i], 0, 0};

		status = add_to_passes(group, &order, &group->by, err);
	}
	group->num_key_passes = group->by.num_passes;
	key_bits = group->by.passes[0].bits;
	group->is_wide = group->by.num_passes > 1 || key_bits > 63;
	for (uint32_t i = 0; status == MGPU_OK && i < group->spec.num_orders; i++)
		status = add_to_passes(group, &group->spec.orders[i], &group->by, err);
	for (uint32_t pass = 0; pass < group->by.num_passes; pass++)
		finish_packing(group, &group->by.passes[pass]);
	group->head_shift = group->by.passes[0].bits - key_bits;
	group->group_bits = group->is_wide ? bits_up_to(group->num_rows - 1) : key_bits;
	group->groups = group->by.passes[0];
	return status;
}

extern "C" mgpu_group_keys
mgpu_group_keys_from(const mgpu_group_run *group, uint32_t first)
{
	mgpu_group_keys keys = {};

	keys.nulls = group->columns.nulls;
	for (uint32_t i = first; i < group->spec.num_keys; i++)
	{
		keys.columns[keys.num_keys] = group->spec.keys[i];
		keys.codes[keys.num_keys++] = group->columns.codes[group->spec.keys[i]];
	}
	return keys;
}

/* Ranks of a head's values, as a column of its own. */
static mgpu_packed_column
rank_column(const mgpu_group_run *group, uint32_t head)
{
	mgpu_packed_column packed = {};

	packed.codes = (const uint64_t *) (group->work + group->ranks[head].ranks);
	packed.column = head;
	packed.greatest = group->num_rows > 0 ? group->num_rows - 1 : 0;
	packed.bits = bits_up_to(packed.greatest);
	return packed;
}

static void
plan_values(mgpu_group_run *group, uint32_t sort)
{
	mgpu_value_packing *values = &group->values[sort];
	uint32_t	column = group->spec.sorts[sort].column;
	uint64_t	nulls = group->mailbox->facts.nulls[column];
	uint32_t	null_bits = nulls > 0;

	values->value = mgpu_group_is_ranked(&group->spec, column) ? rank_column(group, column) : pack_column(group, column);
	values->descending = group->spec.sorts[sort].descending != 0;
	values->in_two_steps = group->group_bits + values->value.bits + null_bits > 64;
	values->group_shift = values->in_two_steps ? 0 : values->value.bits;
	values->bits = group->group_bits + values->group_shift + null_bits;
	values->null_number = nulls > 0 ? UINT64_C(1) << (values->bits - 1) : 0;
	group->num_values[sort] = group->num_rows - nulls;
	if ((group->spec.sorts[sort].returns & MGPU_SORT_VALUES) != 0)
		group->result.num_sorted[sort] = group->num_values[sort];
}

extern "C" mgpu_status
mgpu_group_plan_packing(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	mgpu_status status = plan_passes(group, err);

	for (uint32_t i = 0; status == MGPU_OK && i < group->spec.num_columns; i++)
	{
		if (mgpu_group_is_ranked(&group->spec, i))
			status = mgpu_group_plan_cells(group, i, err);
	}
	if (status == MGPU_OK)
		mgpu_group_plan_values(group);
	return status;
}

extern "C" void
mgpu_group_plan_values(mgpu_group_run *group)
{
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
		plan_values(group, i);
}

extern "C" void
mgpu_group_plan_numbers(mgpu_group_run *group)
{
	mgpu_packed_column number = {};

	group->group_bits = bits_up_to(group->rows.num_groups - 1);
	number.codes = (const uint64_t *) (group->work + group->numbers);
	number.column = MGPU_GROUP_NUMBER_COLUMN;
	number.bits = group->group_bits;
	group->groups = mgpu_group_packing();
	group->groups.nulls = group->columns.nulls;
	add_column(&group->groups, &number);
	/* they take no more bits than was planned */
	mgpu_group_plan_values(group);
}

/* ------------------------------------------------------------------ memory */

extern "C" void
mgpu_group_plan_space(mgpu_group_space *space, mgpu_sort_shape shape, uint64_t begin, uint64_t num_rows)
{
	bool		is_packed = shape == MGPU_SHAPE_U32_INDEX;	/* a region each, see sort/sorter.h */
	uint64_t	key_bytes = shape == MGPU_SHAPE_U32 ? 4 : 8;
	uint64_t	index_bytes = shape == MGPU_SHAPE_U64_INDEX ? 4 : 0;

	*space = mgpu_group_space();
	space->shape = shape;
	space->end = begin;
	for (int side = 0; side < 2; side++)
	{
		space->keys[side] = mgpu_group_place(&space->end, mgpu_padded_items(num_rows) * key_bytes);
		space->indices[side] = is_packed ? space->keys[side] + mgpu_padded_items(num_rows) * 4 :
			mgpu_group_place(&space->end, mgpu_padded_items(num_rows) * index_bytes);
	}
	/* whichever sort runs */
	space->temp_bytes = std::max(mgpu_find_sorter(MGPU_ALGORITHM_RADIX, shape)->temp_bytes(num_rows),
								 mgpu_find_sorter(MGPU_ALGORITHM_MERGE, shape)->temp_bytes(num_rows));
	space->temp = mgpu_group_place(&space->end, space->temp_bytes);
}

static uint64_t
space_end(mgpu_sort_shape shape, uint64_t begin, uint64_t num_rows)
{
	mgpu_group_space space;

	mgpu_group_plan_space(&space, shape, begin, num_rows);
	return space.end;
}

/* Where ranks are; whether there are any. */
static bool
place_ranks(mgpu_group_run *group, uint64_t *end)
{
	uint64_t	num_rows = group->num_rows;
	bool		ranks = false;

	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		if (!mgpu_group_is_ranked(&group->spec, i))
			continue;
		ranks = true;
		group->ranks[i].ranks = mgpu_group_place(end, num_rows * sizeof(uint64_t));
		group->ranks[i].order = mgpu_group_place(end, num_rows * sizeof(uint32_t));
		group->ranks[i].starts = mgpu_group_place(end, num_rows * sizeof(uint32_t));
	}
	return ranks;
}

/* Where the sorts of passes end, which begin here. */
static uint64_t
passes_end(const mgpu_group_run *group, const mgpu_group_passes *by, uint64_t begin)
{
	uint64_t	most = begin;

	for (uint32_t pass = 0; pass < by->num_passes; pass++)
		most = std::max(most, space_end(mgpu_group_pass_shape(&by->passes[pass]), begin, group->num_rows));
	return most;
}

/* The same of those that rank values. */
static uint64_t
ranking_end(mgpu_group_run *group, uint64_t begin)
{
	uint64_t	most = begin;

	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		if (mgpu_group_is_ranked(&group->spec, i) && mgpu_group_plan_cells(group, i, NULL) == MGPU_OK)
			most = std::max(most, passes_end(group, &group->by_cells, begin));
	}
	return most;
}

extern "C" uint64_t
mgpu_group_plan_work(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	uint64_t	num_rows = group->num_rows;
	uint64_t	end = 0;
	uint64_t	most;
	bool		in_two_steps = false;
	bool		counts_different = false;
	bool		ranks;

	(void) mgpu_group_place(&end, (num_rows + 1) * sizeof(uint32_t));	/* starts of groups */
	ranks = place_ranks(group, &end);
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
	{
		in_two_steps |= group->values[i].in_two_steps;
		counts_different |= mgpu_group_counts_different(group, i);
	}
	if (mgpu_group_has_limit(group))
	{
		group->ends = mgpu_group_place(&end, num_rows * sizeof(uint32_t));
		group->ends_temp_bytes = mgpu_group_limit_temp_bytes(num_rows);
		group->ends_temp = mgpu_group_place(&end, group->ends_temp_bytes);
	}
	group->numbers = mgpu_group_place(&end, group->is_wide && group->spec.num_sorts > 0 ? num_rows * sizeof(uint64_t) : 0);
	for (int side = 0; side < 2 && (group->by.num_passes > 1 || ranks); side++)
		group->orders[side] = mgpu_group_place(&end, num_rows * sizeof(uint32_t));
	group->heads_temp_bytes = group->group_bits > 0 || counts_different || ranks ? mgpu_group_heads_temp_bytes(num_rows) : 0;
	group->heads_temp = mgpu_group_place(&end, group->heads_temp_bytes);
	group->first_order = mgpu_group_place(&end, in_two_steps ? num_rows * sizeof(uint32_t) : 0);
	group->different = mgpu_group_place(&end, counts_different ? num_rows * sizeof(uint32_t) : 0);
	group->sorts = end;
	most = ranking_end(group, end);
	if (mgpu_group_sorts_rows(group))
		most = std::max(most, passes_end(group, &group->by, end));
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
	{
		const mgpu_value_packing *values = &group->values[i];
		mgpu_sort_shape shape = values->in_two_steps ? MGPU_SHAPE_U64_INDEX :
			values->bits <= 32 ? MGPU_SHAPE_U32 : MGPU_SHAPE_U64;

		most = std::max(most, space_end(shape, end, num_rows));
	}
	return most;
}
