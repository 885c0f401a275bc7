/*
 * sorted_enums.c
 *		Merges two sorted arrays of an enum by runs of labels.
 *
 * A sorted array has each label in one run, and labels are few: finding where runs
 * end is a walk over the array, and merging compares a label of each run alone, by
 * the type's comparison.  That takes no memory for the elements themselves, and
 * leaves nothing for an executor to do.  Codes for a job were rejected: ranks of
 * labels, and of elements, take more than the result.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/sortsupport.h"

#include "pgerror.h"
#include "run.h"
#include "sorted_enums.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Runs that an array begins with room for. */
#define FIRST_RUNS 64

/* Elements with the same label, up to end, counted from an array's first one. */
typedef struct label_run
{
	Oid			label;
	int64		end;
} label_run;

typedef struct label_runs
{
	label_run  *runs;
	int64		num_runs;
	int64		room;
} label_runs;

/* The end of the run that begins at begin. */
static int64
run_end(const Oid *values, int64 begin, int64 num_items)
{
	int64		end = begin + 1;

	while (end < num_items && values[end] == values[begin])
		if (++end % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	return end;
}

static int
compare_labels(Oid a, Oid b, SortSupport support)
{
	if (a == b)
		return 0;
	return ApplySortComparator(ObjectIdGetDatum(a), false, ObjectIdGetDatum(b), false, support);
}

static void
add_run(label_runs *found, Oid label, int64 end)
{
	if (found->num_runs == found->room)
	{
		found->room *= 2;
		found->runs = repalloc_huge(found->runs, found->room * sizeof(label_run));
	}
	found->runs[found->num_runs++] = (label_run) {label, end};
}

/* Raises for the first element that belongs before its predecessor. */
static void
find_runs(label_runs *found, sorted_input *input, int which, SortSupport support)
{
	array_source *source = which == 0 ? &input->a : &input->b;
	int64		num_items = sorted_input_present(source);
	const Oid  *values;

	array_source_load(source);
	array_source_require(source, num_items * sizeof(Oid));
	values = (const Oid *) array_source_data(source);
	*found = (label_runs) {palloc(FIRST_RUNS * sizeof(label_run)), 0, FIRST_RUNS};
	for (int64 begin = 0, end; begin < num_items; begin = end)
	{
		if (begin > 0 && compare_labels(values[begin - 1], values[begin], support) > 0)
			mgpu_raise_not_sorted(which, sorted_input_first_subscript(source, &input->order) + begin);
		end = run_end(values, begin, num_items);
		add_run(found, values[begin], end);
	}
}

static void
set_bits(uint8 *bits, int64 begin, int64 end)
{
	for (; begin < end && begin % 8 != 0; begin++)
		bits[begin / 8] |= 1 << (begin % 8);
	if (begin < end)
		memset(bits + begin / 8, 0xFF, (end - begin) / 8);
	for (begin = Max(begin, end / 8 * 8); begin < end; begin++)
		bits[begin / 8] |= 1 << (begin % 8);
}

void
sorted_enums_merge(sorted_input *input, uint8 *sides, int64 at)
{
	SortSupportData support;
	label_runs	a,
				b;
	int64		next_a = 0,
				begin_b = 0;

	memset(&support, 0, sizeof(support));
	support.ssup_cxt = CurrentMemoryContext;
	PrepareSortSupportFromOrderingOp(input->order.descending ? input->type->gt_operator : input->type->lt_operator,
									 &support);
	run_note_cpu(input->function, "merge", input->a.num_items + input->b.num_items,
				 (input->a.num_items + input->b.num_items) * sizeof(Oid),
				 "labels of enums are merged by runs, on the CPU");
	find_runs(&a, input, 0, &support);
	find_runs(&b, input, 1, &support);
	for (int64 i = 0; i < b.num_runs; i++)
	{
		int64		end_a;

		while (next_a < a.num_runs && compare_labels(a.runs[next_a].label, b.runs[i].label, &support) <= 0)
			next_a++;
		end_a = next_a > 0 ? a.runs[next_a - 1].end : 0;
		set_bits(sides, at + end_a + begin_b, at + end_a + b.runs[i].end);
		begin_b = b.runs[i].end;
	}
	pfree(a.runs);
	pfree(b.runs);
}
