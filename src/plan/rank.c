/*
 * rank.c
 *		Finds the groups of the rows that a node has collected.
 *
 * One stable sort orders all keys together with their row numbers (order/words.c).
 * Equal keys are then adjacent, and the rows of each group are in arrival order.  A
 * hash table was rejected: with many groups every lookup misses the caches, whereas a
 * sort reads and writes sequentially.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "order/words.h"
#include "plan/group.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS (256 * 1024)

bool
group_key_is_sortable(const element_type *type)
{
	return OidIsValid(type->lt_operator) && (type->key_kind != 0 || type->is_enum);
}

static uint32
kind_of(const element_type *type)
{
	/* groups may have any order, so an enum's labels are ordered by OID */
	return type->is_enum ? MGPU_KEY_UNSIGNED : type->key_kind;
}

/* Return sorted keys, in context, with the floats' own bits, and write their row numbers to positions. */
static char *
sort_keys(MemoryContext context, const chunk *rows, const char *function, uint32 *positions)
{
	const column *key = &rows->columns[0];
	char	   *sorted = large_alloc(context, rows->num_rows * key->type->width);
	sort_spec	spec = {.function = function,.op = MGPU_OP_SORT};
	word_sort	words = {
		.spec = &spec,
		.num_items = rows->num_rows,
		.words = key->cells,
		.kind = kind_of(&key->type->element),
		.width = key->type->width,
		.ranks = positions,
		.sorted = sorted
	};

	(void) order_words(&words);
	return sorted;
}

/*
 * Append to starts the positions in [begin, end) of keys that differ from the key
 * before, and return the new number of groups.  The loop has no branches: every
 * position is written to the next entry, and num_groups advances only for a start.
 */
#define MARK_CHANGES(type, is_change) \
	do { \
		const type *cell = (const type *) sorted; \
		\
		for (uint64 i = begin; i < end; i++) \
		{ \
			if (starts) \
				starts[num_groups] = i; \
			num_groups += is_change(cell[i - 1], cell[i]); \
		} \
		return num_groups; \
	} while (0)

#define NUMBERS_DIFFER(a, b) ((a) != (b))
#define FLOATS_DIFFER(a, b) (((a) != (b)) & (((a) == (a)) | ((b) == (b))))

static uint32
mark_changes(const char *sorted, uint64 begin, uint64 end, const column_type *type, uint32 *starts, uint32 num_groups)
{
	uint32		width = type->width;

	if (type->element.key_kind == MGPU_KEY_FLOAT && width == sizeof(float4))
		MARK_CHANGES(float4, FLOATS_DIFFER);
	if (type->element.key_kind == MGPU_KEY_FLOAT)
		MARK_CHANGES(float8, FLOATS_DIFFER);
	switch (width)
	{
		case 1:
			MARK_CHANGES(uint8, NUMBERS_DIFFER);
		case 2:
			MARK_CHANGES(uint16, NUMBERS_DIFFER);
		case 4:
			MARK_CHANGES(uint32, NUMBERS_DIFFER);
		case 8:
			MARK_CHANGES(uint64, NUMBERS_DIFFER);
		default:
			for (uint64 i = begin; i < end; i++)
				if (memcmp(sorted + (i - 1) * width, sorted + i * width, width) != 0)
				{
					if (starts)
						starts[num_groups] = i;
					num_groups++;
				}
			return num_groups;
	}
}

/*
 * Count the groups of at least one key.  Unless starts is NULL, write where they start;
 * starts then has space for one more entry than there are groups.
 */
static uint32
find_starts(const char *sorted, uint64 num_keys, const column_type *type, uint32 *starts)
{
	uint32		num_groups = 1;

	if (starts)
		starts[0] = 0;
	for (uint64 i = 1; i < num_keys; i += STEP_ROWS)
	{
		num_groups = mark_changes(sorted, i, Min(i + STEP_ROWS, num_keys), type, starts, num_groups);
		CHECK_FOR_INTERRUPTS();
	}
	return num_groups;
}

/*
 * Rows whose key is NULL have zeros as keys, so the sort puts them into one group with
 * the rows whose key is zero.  Make two groups of that group.
 */
static void
split_null_group(MemoryContext context, const column *key, group_ranks *ranks)
{
	row_groups *rows = &ranks->rows;
	row_groups	present;
	row_groups	nulls;
	uint32		group = 0;
	uint32		begin;
	uint64		num_zeros;

	row_groups_split(context, rows, key, &present, &nulls);
	if (row_groups_count(&nulls) == 0)
		return;
	while (row_groups_size(&nulls, group) == 0)
		group++;
	begin = rows->starts[group];
	num_zeros = row_groups_size(&present, group);
	memcpy(rows->numbers + begin, present.numbers + present.starts[group], num_zeros * sizeof(uint32));
	memcpy(rows->numbers + begin + num_zeros, nulls.numbers, row_groups_count(&nulls) * sizeof(uint32));
	if (num_zeros > 0)
	{
		group++;
		memmove(rows->starts + group + 1, rows->starts + group, (rows->num_groups - group + 1) * sizeof(uint32));
		rows->starts[group] = begin + num_zeros;
		rows->num_groups++;
	}
	ranks->null_group = group;
}

group_ranks
group_rank(const chunk *rows, const char *function, MemoryContext context)
{
	const column *key = &rows->columns[0];
	uint32		width = key->type->width;
	uint64		num_rows = rows->num_rows;
	group_ranks ranks = {.null_group = -1};
	uint32		num_groups;
	char	   *sorted;

	ranks.rows.numbers = large_alloc(context, num_rows * sizeof(uint32));
	sorted = sort_keys(context, rows, function, ranks.rows.numbers);
	num_groups = find_starts(sorted, num_rows, key->type, NULL);
	/* one extra entry for find_starts or the end, and one for the group of NULL */
	ranks.rows.starts = large_alloc(context, ((Size) num_groups + 2) * sizeof(uint32));
	find_starts(sorted, num_rows, key->type, ranks.rows.starts);
	ranks.rows.starts[num_groups] = num_rows;
	ranks.rows.num_groups = num_groups;
	split_null_group(context, key, &ranks);
	ranks.keys = pick_cells(context, sorted, width, ranks.rows.starts, ranks.rows.num_groups);
	/*
	 * the first of the sorted zeros may belong to a row with a NULL key, or be 0 where
	 * the first row has -0
	 */
	if (ranks.null_group > 0)
		memcpy(ranks.keys + (ranks.null_group - 1) * width,
			   key->cells + (Size) ranks.rows.numbers[ranks.rows.starts[ranks.null_group - 1]] * width, width);
	pfree(sorted);
	return ranks;
}
