/*
 * played_answer.c
 *		What comes back of a played job: records and sorted values of groups, or the first rows of each.
 */
#include "played/played_group_run.h"

#include <stdlib.h>

/* The first bytes of a little-endian number. */
static void
put_value(char *target, uint64_t bits, uint32_t width)
{
	for (uint32_t byte = 0; byte < width; byte++)
		target[byte] = (char) (bits >> 8 * byte);
}

/* Sorted values behind those before. */
static void
put_values(played_group *group, uint32_t sort, const uint64_t *codes, uint64_t count)
{
	const mgpu_group_column *column = &group->spec.columns[group->spec.sorts[sort].column];

	for (uint64_t i = 0; i < count; i++)
		put_value((char *) group->sorted[sort] + group->result.num_sorted[sort]++ * column->width,
				  mgpu_column_bits(codes[i], column->kind, column->width), column->width);
}

/* How many values of several columns a group has, and how many differ. */
static void
count_values(const played_group *group, uint32_t head, uint64_t begin, uint64_t end, uint64_t *words)
{
	uint64_t   *places = calloc(end - begin + 1, sizeof(uint64_t));
	uint64_t	count = 0;

	for (uint64_t i = begin; i < end; i++)
	{
		if (!played_is_null(played_row_at(group, i), head))
			places[count++] = i;
	}
	mgpu_played_sort_places(group, head, places, count);
	words[0] = count;
	words[1] = count > 0;
	for (uint64_t i = 1; i < count; i++)
		words[1] += mgpu_played_compare_cells(group, head, places[i - 1], places[i]) != 0;
	free(places);
}

/* The words of a record that tell of sorted values. */
static void
describe_values(const mgpu_group_sort *sort, const uint64_t *codes, uint64_t count, uint64_t *word)
{
	uint64_t	num_different = count > 0;

	*word++ = count;
	for (uint64_t i = 1; i < count; i++)
		num_different += codes[i] != codes[i - 1];
	if ((sort->returns & MGPU_SORT_DISTINCT) != 0)
		*word++ = num_different;
	for (uint32_t i = 0; i < sort->num_percentiles && count > 0; i++)
	{
		int64_t		low;
		int64_t		high;

		mgpu_percentile_positions(&sort->percentiles[i], (int64_t) count, &low, &high);
		*word++ = codes[low];
		*word++ = codes[high];
	}
}

/* The values of one sort of a group. */
static void
sort_values(played_group *group, uint32_t sort, uint64_t begin, uint64_t end, uint64_t *words)
{
	uint32_t	number = group->spec.sorts[sort].column;
	uint64_t   *codes;
	uint64_t	count = 0;

	if (group->spec.columns[number].num_cells > 0)
	{
		count_values(group, number, begin, end, words);
		return;
	}
	codes = calloc(end - begin + 1, sizeof(uint64_t));

	for (uint64_t i = begin; i < end; i++)
	{
		const played_row *row = played_row_at(group, i);

		if (!played_is_null(row, number))
			codes[count++] = row->codes[number];
	}
	mgpu_played_sort_codes(codes, count, group->spec.sorts[sort].descending);
	describe_values(&group->spec.sorts[sort], codes, count, words);
	if ((group->spec.sorts[sort].returns & MGPU_SORT_VALUES) != 0)
		put_values(group, sort, codes, count);
	free(codes);
}

void
mgpu_played_write_record(played_group *group, uint64_t begin, uint64_t end)
{
	uint64_t   *record = group->records + group->result.num_groups++ * group->record.num_words;

	record[0] = end - begin;
	record[1] = 0;
	for (uint32_t i = 0; i < group->spec.num_keys; i++)
	{
		const played_row *row = played_row_at(group, begin);
		uint32_t	column = group->spec.keys[i];

		record[1] |= (uint64_t) played_is_null(row, column) << i;
		record[group->record.keys + i] = played_is_null(row, column) ? 0 : row->codes[column];
	}
	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		if (group->spec.columns[i].reduction != MGPU_REDUCE_NONE)
			mgpu_played_reduce(group, i, begin, end, record + group->record.reductions[i]);
	}
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
		sort_values(group, i, begin, end, record + group->record.sorts[i]);
}

/* -------------------------------------------------------------------- limit */

static void
return_row(played_group *group, uint64_t position, uint32_t marks)
{
	const played_row *row = played_row_at(group, position);
	uint64_t	number = group->result.num_returned++;

	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		const mgpu_group_column *column = &group->spec.columns[i];
		uint64_t	bits = played_is_null(row, i) ? 0 : mgpu_column_bits(row->codes[i], column->kind, column->width);

		if (!column->is_returned)
			continue;
		marks |= (uint32_t) played_is_null(row, i) << i;
		put_value((char *) group->sorted[i] + number * column->width, bits, column->width);
	}
	((uint32_t *) group->records)[number] = marks;
}

void
mgpu_played_return_rows(played_group *group, uint64_t begin, uint64_t end)
{
	uint64_t	rank = 0;
	uint64_t	dense_rank = 0;

	group->result.num_groups++;
	for (uint64_t i = begin; i < end; i++)
	{
		bool		is_peer = i > begin && mgpu_played_is_peer(group, i);
		uint64_t	place = i - begin + 1;

		rank = is_peer ? rank : place;
		dense_rank += !is_peer;
		if ((group->spec.limit_rule == MGPU_LIMIT_ROWS ? place :
			 group->spec.limit_rule == MGPU_LIMIT_RANKS ? rank : dense_rank) > group->spec.limit)
			break;
		return_row(group, i, (i == begin ? MGPU_MARK_GROUP : 0) | (is_peer ? 0 : MGPU_MARK_PEERS));
	}
}
