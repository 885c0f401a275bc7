/*
 * played_order.c
 *		Rows of played jobs in order: by their keys and order columns, and then by their numbers.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* qsort_r */
#endif
#include "played/played_group_run.h"

#include <stdlib.h>

static int
compare_codes(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* NULLs come last. */
static int
compare_column(const played_row *a, const played_row *b, uint32_t column)
{
	if (played_is_null(a, column) || played_is_null(b, column))
		return (int) played_is_null(a, column) - (int) played_is_null(b, column);
	return compare_codes(a->codes[column], b->codes[column]);
}

static int
compare_keys(const mgpu_group_spec *spec, const played_row *a, const played_row *b)
{
	for (uint32_t i = 0; i < spec->num_keys; i++)
	{
		int			order = compare_column(a, b, spec->keys[i]);

		if (order != 0)
			return order;
	}
	return 0;
}

static int
compare_orders(const mgpu_group_spec *spec, const played_row *a, const played_row *b)
{
	for (uint32_t i = 0; i < spec->num_orders; i++)
	{
		const mgpu_group_order *by = &spec->orders[i];
		bool		has_null = played_is_null(a, by->column) || played_is_null(b, by->column);
		int			order = compare_column(a, b, by->column);

		if (order != 0)
			return (has_null ? by->nulls_first : by->descending) ? -order : order;
	}
	return 0;
}

static int
compare_rows(const void *a, const void *b, void *context)
{
	const played_group *group = context;
	uint64_t	row_a = *(const uint64_t *) a;
	uint64_t	row_b = *(const uint64_t *) b;
	int			order = compare_keys(&group->spec, &group->rows[row_a], &group->rows[row_b]);

	if (order == 0)
		order = compare_orders(&group->spec, &group->rows[row_a], &group->rows[row_b]);
	return order != 0 ? order : compare_codes(row_a, row_b);
}

void
mgpu_played_order_rows(played_group *group)
{
	group->order = calloc(group->num_rows + 1, sizeof(uint64_t));
	for (uint64_t i = 0; i < group->num_rows; i++)
		group->order[i] = i;
	qsort_r(group->order, group->num_rows, sizeof(uint64_t), compare_rows, group);
}

uint64_t
mgpu_played_group_end(const played_group *group, uint64_t begin)
{
	uint64_t	end = begin;

	while (end < group->num_rows && compare_keys(&group->spec, played_row_at(group, begin), played_row_at(group, end)) == 0)
		end++;
	return end;
}

bool
mgpu_played_is_peer(const played_group *group, uint64_t place)
{
	return compare_orders(&group->spec, played_row_at(group, place - 1), played_row_at(group, place)) == 0;
}

int
mgpu_played_compare_cells(const played_group *group, uint32_t head, uint64_t a, uint64_t b)
{
	int			order = 0;

	for (uint32_t i = 0; order == 0 && i < group->spec.columns[head].num_cells; i++)
		order = compare_codes(played_row_at(group, a)->codes[head + i], played_row_at(group, b)->codes[head + i]);
	return order;
}

typedef struct compared_cells
{
	const played_group *group;
	uint32_t	head;
} compared_cells;

static int
compare_places(const void *a, const void *b, void *context)
{
	const compared_cells *compared = context;

	return mgpu_played_compare_cells(compared->group, compared->head, *(const uint64_t *) a, *(const uint64_t *) b);
}

void
mgpu_played_sort_places(const played_group *group, uint32_t head, uint64_t *places, uint64_t count)
{
	compared_cells compared = {group, head};

	qsort_r(places, count, sizeof(uint64_t), compare_places, &compared);
}

static int
compare_values(const void *a, const void *b, void *descending)
{
	int			order = compare_codes(*(const uint64_t *) a, *(const uint64_t *) b);

	return *(const bool *) descending ? -order : order;
}

void
mgpu_played_sort_codes(uint64_t *codes, uint64_t count, bool descending)
{
	qsort_r(codes, count, sizeof(uint64_t), compare_values, &descending);
}
