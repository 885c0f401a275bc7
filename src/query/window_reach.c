/*
 * window_reach.c
 *		Which rows the functions of an MgpuWindow look at, for one row: the planner asks whether they fit in memory, the executor keeps them.
 */
#include "postgres.h"

#include "query/window_reach.h"

/* A row that is farther away is looked for among all. */
#define MOST_ROWS_AROUND 100000

/* What a function asks for that looks at the frame which begins with its partition. */
static window_keeps
keeps_of_frame(window_kind kind, window_frame frame)
{
	if (kind == WINDOW_NTH_VALUE || frame == WINDOW_PARTITION)
		return WINDOW_KEEPS_PARTITION;
	return frame == WINDOW_PEERS ? WINDOW_KEEPS_PEERS : WINDOW_KEEPS_ROWS;
}

/* Whether only the number of a partition's rows is asked for, or of those that are equal in the order. */
static bool
counts_rows(window_kind kind)
{
	return kind == WINDOW_NTILE || kind == WINDOW_PERCENT_RANK || kind == WINDOW_CUME_DIST;
}

static void
add_function(window_reach *reach, const query *query, int number)
{
	window_kind kind = list_nth_int(query->functions, number);
	int			frame = list_nth_int(query->of_frames, number);
	int			preceding = list_nth_int(query->preceding, frame);
	int			offset = list_nth_int(query->offsets, number);
	bool		is_one = query->num_partition_keys == 0;	/* whose rows have been counted */

	switch (kind)
	{
		case WINDOW_OTHER_ROW:
			reach->back = Max(reach->back, -offset);
			reach->ahead = Max(reach->ahead, offset);
			break;
		case WINDOW_NTILE:
		case WINDOW_PERCENT_RANK:
			reach->keeps = Max(reach->keeps, is_one ? WINDOW_KEEPS_ROWS : WINDOW_KEEPS_PARTITION);
			break;
		case WINDOW_CUME_DIST:
			reach->keeps = Max(reach->keeps, is_one ? WINDOW_KEEPS_PEERS : WINDOW_KEEPS_PARTITION);
			break;
		case WINDOW_LAST_VALUE:
		case WINDOW_NTH_VALUE:
		case WINDOW_AGGREGATE:
			if (preceding < 0)
				reach->keeps = Max(reach->keeps, keeps_of_frame(kind, list_nth_int(query->frames, frame)));
			break;
		default:
			break;
	}
}

window_reach
window_reach_of(const query *query, bool as_columns)
{
	window_reach reach = {.keeps = WINDOW_KEEPS_ROWS,.back = 1};

	for (int i = 0; i < list_length(query->frames); i++)
	{
		/* and the row that a frame has lost */
		reach.back = Max(reach.back, Max(list_nth_int(query->preceding, i) + 1, -list_nth_int(query->following, i)));
		reach.ahead = Max(reach.ahead, list_nth_int(query->following, i));
		if (list_nth(query->ranges, i))
			reach.keeps = WINDOW_KEEPS_PARTITION;
	}
	for (int i = 0; i < list_length(query->functions); i++)
		if (!as_columns || !counts_rows(list_nth_int(query->functions, i)))
			add_function(&reach, query, i);
	if ((reach.keeps == WINDOW_KEEPS_PARTITION && query->num_partition_keys == 0) || Max(reach.back, reach.ahead) > MOST_ROWS_AROUND)
		reach.keeps = WINDOW_KEEPS_ALL;
	return reach;
}
