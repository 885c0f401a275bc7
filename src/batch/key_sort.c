/*
 * key_sort.c
 *		Groups of rows with equal keys, by a sort.
 *
 * One stable sort orders the rows' codes (group_keys.c) together with the rows' numbers (order/order.c).  Equal codes are then
 * adjacent, and the rows of each group are in arrival order.  Rows whose hashes collide are told apart by comparing their keys.
 *
 * A hash table is for fewer groups (key_table.c): with many, every lookup misses the caches, whereas
 * a sort reads and writes sequentially.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/key_sort.h"
#include "order/order.h"

/* Rows handled between checks for interrupts, and before what functions leave behind is freed. */
#define STEP_ROWS (4 * 1024)

/* ---- codes */

/* Codes of rows, each with bits for NULL. */
typedef struct code_list
{
	void	   *codes;
	uint32		width;			/* 4 or 8 bytes */
	bool		are_hashes;
	bool		are_cells;		/* codes belong to the rows */
} code_list;

/* Those of at least one key, in context. */
static code_list
make_codes(const group_keys *keys, const chunk *rows, MemoryContext context)
{
	uint32		bits = group_keys_bits(keys, rows, true);
	const column *first = &rows->columns[keys->keys[0].column];
	code_list	list = {first->cells, bits <= 32 ? 4 : 8, bits > 64, true};
	uint64	   *step;

	if (keys->num_keys == 1 && keys->keys[0].form == GROUP_KEY_BITS && bits == list.width * BITS_PER_BYTE)
		return list;
	list.are_cells = false;
	list.codes = large_alloc(context, rows->num_rows * list.width);
	step = palloc(STEP_ROWS * sizeof(uint64));
	for (uint64 begin = 0; begin < rows->num_rows; begin += STEP_ROWS)
	{
		uint32		num_rows = Min(STEP_ROWS, rows->num_rows - begin);
		uint64	   *codes = list.width == 4 ? step : (uint64 *) list.codes + begin;

		CHECK_FOR_INTERRUPTS();
		group_keys_codes(keys, rows, begin, num_rows, true, codes);
		for (uint32 i = 0; list.width == 4 && i < num_rows; i++)
			((uint32 *) list.codes)[begin + i] = codes[i];
	}
	pfree(step);
	return list;
}

/* Return sorted codes, in context, and write their row numbers to positions. */
static void *
sort_codes(const code_list *list, uint64 num_rows, MemoryContext context, uint32 *positions, run_record *record)
{
	void	   *sorted = large_alloc(context, num_rows * list->width);
	sort_spec	spec = {.function = "MgpuGroup",.op = MGPU_OP_SORT,.record = record};
	word_sort	words = {
		.spec = &spec,
		.num_items = num_rows,
		.words = list->codes,
		.kind = MGPU_KEY_UNSIGNED,
		.width = list->width,
		.ranks = positions,
		.sorted = sorted
	};

	(void) order_words(&words);
	run_report(record);
	return sorted;
}

/* ---- groups */

/*
 * Append to starts the positions in [begin, end) of codes that differ from the code
 * before, and return the new number of groups.  The loop has no branches: every
 * position is written to the next entry, and num_groups advances only for a start.
 */
#define MARK_CHANGES(type) \
	do { \
		const type *codes = (const type *) sorted; \
		\
		for (uint64 i = begin; i < end; i++) \
		{ \
			if (starts) \
				starts[num_groups] = i; \
			num_groups += codes[i - 1] != codes[i]; \
		} \
	} while (0)

/*
 * Count the groups of at least one code.  Unless starts is NULL, write where they start;
 * starts then has space for one more entry than there are groups.
 */
static uint32
find_starts(const void *sorted, uint32 width, uint64 num_rows, uint32 *starts)
{
	uint32		num_groups = 1;

	if (starts)
		starts[0] = 0;
	for (uint64 begin = 1; begin < num_rows; begin += STEP_ROWS)
	{
		uint64		end = Min(begin + STEP_ROWS, num_rows);

		CHECK_FOR_INTERRUPTS();
		if (width == sizeof(uint32))
			MARK_CHANGES(uint32);
		else
			MARK_CHANGES(uint64);
	}
	return num_groups;
}

/* Whether all rows of each group are equal in one key. */
static bool
groups_agree(const group_key *key, const chunk *rows, const row_groups *groups)
{
	const column *col = &rows->columns[key->column];
	MemoryContext caller = group_calls_start();
	bool		agree = true;

	for (uint32 group = 0; group < groups->num_groups && agree; group++)
	{
		uint32		first = groups->numbers[groups->starts[group]];

		for (uint64 i = groups->starts[group] + 1; i < groups->starts[group + 1] && agree; i++)
		{
			row_groups_fetch_ahead(groups, col, i, rows->num_rows);
			agree = group_key_values_equal(key, col, first, col, groups->numbers[i]);
			if (i % STEP_ROWS == 0)
			{
				CHECK_FOR_INTERRUPTS();
				MemoryContextReset(CurrentMemoryContext);
			}
		}
	}
	group_calls_end(caller);
	return agree;
}

/*
 * Move the rows of numbers[0 … count - 1] that equal the first to the front and return how many
 * there are.  Both parts stay in order.
 */
static uint64
gather_equal(const group_keys *keys, const chunk *rows, uint32 *numbers, uint64 count, uint32 *others)
{
	uint64		num_equal = 1;
	uint64		num_others = 0;

	for (uint64 i = 1; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (group_keys_equal(keys, keys->num_keys, rows, numbers[0], rows, numbers[i]))
			numbers[num_equal++] = numbers[i];
		else
			others[num_others++] = numbers[i];
	}
	memcpy(numbers + num_equal, others, num_others * sizeof(uint32));
	return num_equal;
}

/* Some rows have equal hashes but different keys: make groups of equal rows. */
static void
separate(const group_keys *keys, const chunk *rows, row_groups *groups, MemoryContext context)
{
	uint32	   *starts = large_alloc(context, (rows->num_rows + 1) * sizeof(uint32));
	uint32	   *others = large_alloc(context, rows->num_rows * sizeof(uint32));
	uint32		num_groups = 0;

	for (uint32 group = 0; group < groups->num_groups; group++)
	{
		uint64		begin = groups->starts[group];
		uint64		end = groups->starts[group + 1];

		while (begin < end)
		{
			starts[num_groups++] = begin;
			begin += gather_equal(keys, rows, groups->numbers + begin, end - begin, others);
		}
	}
	starts[num_groups] = rows->num_rows;
	pfree(others);
	pfree(groups->starts);
	groups->starts = starts;
	groups->num_groups = num_groups;
}

static row_groups
one_group(uint64 num_rows, MemoryContext context)
{
	row_groups	groups = {1, NULL, MemoryContextAlloc(context, 2 * sizeof(uint32))};

	groups.starts[0] = 0;
	groups.starts[1] = num_rows;
	return groups;
}

row_groups
group_keys_rank(const group_keys *keys, const chunk *rows, MemoryContext context, const char **form, run_record *record)
{
	row_groups	groups;
	code_list	list;
	void	   *sorted;

	*form = "none";
	if (keys->num_keys == 0)
		return one_group(rows->num_rows, context);
	list = make_codes(keys, rows, context);
	groups.numbers = large_alloc(context, rows->num_rows * sizeof(uint32));
	sorted = sort_codes(&list, rows->num_rows, context, groups.numbers, record);
	if (!list.are_cells)
		pfree(list.codes);
	groups.num_groups = find_starts(sorted, list.width, rows->num_rows, NULL);
	groups.starts = large_alloc(context, ((Size) groups.num_groups + 1) * sizeof(uint32));
	find_starts(sorted, list.width, rows->num_rows, groups.starts);
	groups.starts[groups.num_groups] = rows->num_rows;
	pfree(sorted);
	*form = list.are_hashes ? "hash" : list.width == 4 ? "4 bytes" : "8 bytes";
	if (!list.are_hashes)
		return groups;
	for (int i = 0; i < keys->num_keys; i++)
		if (!groups_agree(&keys->keys[i], rows, &groups))
		{
			separate(keys, rows, &groups, context);
			break;
		}
	return groups;
}
