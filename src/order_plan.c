/*
 * order_plan.c
 *		How many parts pairs are sorted in, and how room is shared among them.
 *
 * Elements are walked over to note which part each belongs to; of what a walk has
 * noted, parts are listed and sorted, as many at a time as there is room for.  More
 * bits a note tell more parts apart, so that fewer walks or smaller parts will do, and
 * leave less room for lists; so do lines, by which a reference becomes a position
 * without more to list.  Parts that are more than a thread sorts at once are cut again.
 * All combinations are few, so the one that costs least is taken.
 *
 * Rejected: the same number of parts for all, which walked over all elements for every
 * part where room was short.
 */
#include "postgres.h"

#include "core/cpu_threads.h"

#include "compared_codes.h"
#include "order_cut.h"
#include "order_plan.h"
#include "position_parts.h"
#include "run.h"

/* What threads take to sort strings that are cut again, or less where there is less. */
#define SCRATCH_BYTES ((Size) 12 * 1024 * 1024)

/* A part has about as many elements as are planned, or a third more. */
#define AT_WORST(part_items) ((part_items) / 3 * 4 + 1)

/* What the sort of a part of strings that is cut again takes of each: a list and the parts that it is cut into. */
#define STRING_ITEM_BYTES (sizeof(uint32) + sizeof(uint8))

/* What a walk over all elements takes beside one that lists what has been noted, and what cutting all parts again does. */
#define STRINGS_WALK_COST 10
#define COMPARED_WALK_COST 40
#define CUT_COST 8

/* ... and one that lists, where it goes from element to element, or one that notes lines so that it need not. */
#define BARE_LIST_COST 2
#define LINES_COST 2

/* What each element listed takes, beside scratch. */
static Size
list_item_bytes(bool with_index)
{
	return with_index ? 3 * sizeof(uint32) + sizeof(uint32) / ORDER_INDEX_STEP : sizeof(uint32);
}

/* What each element of a part that is sorted takes more. */
static Size
part_item_bytes(const order_plan_input *input, bool cuts_again)
{
	if (cuts_again)
		return STRING_ITEM_BYTES;
	return input->has_codes ? COMPARED_REFS_ITEM_BYTES : 0;
}

static bool
by_threads(const order_plan_input *input)
{
	return input->by_strings && !input->by_jobs;
}

static Size
threads_bytes(const order_plan_input *input, int64 run_items)
{
	return position_run_bytes(input->elements, run_items) * Min(run_cpu_threads(), MGPU_MAX_CPU_THREADS);
}

/* What threads take that each sort a part at once, or what they have room for. */
static Size
scratch_bytes(const order_plan_input *input, int64 part_items, int64 left, bool cuts_again)
{
	Size		share = Min(SCRATCH_BYTES, Max(left, 0) / 4);

	if (!cuts_again)
		return threads_bytes(input, AT_WORST(part_items));
	return Max(share, threads_bytes(input, POSITION_LEAST_RUN_ITEMS));
}

static int64
most_parts(const order_plan_input *input)
{
	return input->elements->num_items / POSITION_PLANNED_RUN_ITEMS + 1;
}

/* A job gets all that are listed, or they are cut again, and jobs have half of what is left. */
static void
share_with_jobs(const order_plan_input *input, int64 left, int64 item_bytes, int64 part_items, order_plan *plan)
{
	int64		job_bytes = POSITION_JOBS_ITEM_BYTES(input->elements);
	int64		at_once = Max(left, 0) / (item_bytes + job_bytes);

	plan->cuts_again = at_once < AT_WORST(part_items);
	plan->scratch = plan->cuts_again ? Max(left, 0) / 2 : at_once * job_bytes;
}

/*
 * As many parts as so many walks tell apart, but none smaller than threads like.  False: there
 * is no room for one of them.
 */
static bool
fill_plan(const order_plan_input *input, int64 left, int64 walks, order_plan *plan)
{
	int64		num_items = input->elements->num_items;
	int64		item_bytes = list_item_bytes(input->elements->begins && !plan->has_lines);
	int64		part_items;

	plan->num_parts = Min(walks * ORDER_NOTED_PARTS(plan->note_bits), most_parts(input));
	part_items = num_items / plan->num_parts + 1;
	if (input->by_jobs)
		share_with_jobs(input, left, item_bytes, part_items, plan);
	else if (input->by_strings)
		plan->scratch = scratch_bytes(input, part_items, left, plan->cuts_again);
	left -= plan->scratch;
	left -= AT_WORST(part_items) * part_item_bytes(input, plan->cuts_again);
	plan->list_items = Max(left / item_bytes, AT_WORST(part_items));
	plan->cost = (num_items / Max(plan->list_items, 1) + 1) * (plan->has_lines || !input->elements->begins ? 1 : BARE_LIST_COST) +
		walks * (input->by_strings ? STRINGS_WALK_COST : COMPARED_WALK_COST) +
		(plan->has_lines ? LINES_COST : 0) + (plan->cuts_again ? CUT_COST : 0);
	return left >= AT_WORST(part_items) * item_bytes;
}

/* With the fewest walks by which there is room, or all that there can be: each part then takes a MB or two. */
static void
make_plan(const order_plan_input *input, Size room, order_plan *plan)
{
	int64		left = room;
	int64		most_walks = (most_parts(input) - 1) / ORDER_NOTED_PARTS(plan->note_bits) + 1;
	int64		walks = 1;

	left -= order_cut_note_bytes(input->elements->num_items, plan->note_bits);
	left -= plan->has_lines ? element_codes_line_bytes(input->elements) : 0;
	while (!fill_plan(input, left, walks, plan))
	{
		if (walks == most_walks)
		{
			/* the more is missing, the worse it is */
			plan->cost = PG_INT64_MAX / 2 - (left - (int64) plan->scratch);
			break;
		}
		walks++;
	}
}

void
order_plan_choose(const order_plan_input *input, Size room, order_plan *plan)
{
	int			most_lines = input->elements->begins && !input->by_jobs ? 1 : 0;
	int			most_again = by_threads(input) ? 1 : 0;

	plan->cost = PG_INT64_MAX;
	for (int bits = 1; bits <= ORDER_MOST_NOTE_BITS; bits *= 2)
		for (int lines = 0; lines <= most_lines; lines++)
			for (int again = 0; again <= most_again; again++)
			{
				order_plan	other = {.note_bits = bits,.has_lines = lines,.cuts_again = again};

				make_plan(input, room, &other);
				if (other.cost < plan->cost)
					*plan = other;
			}
}
