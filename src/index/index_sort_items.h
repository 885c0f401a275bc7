/*
 * index_sort_items.h
 *		What index_sort.c does with items of one width by one thread: included once for each.
 *
 * SORT_ITEM is their type, and SORT_VALUE(item) the number that an item stands for.
 */
#define SORT_PASTE(function, type) function##_##type
#define SORT_JOIN(function, type) SORT_PASTE(function, type)
#define SORT_NAME(function) SORT_JOIN(function, SORT_ITEM)

static bool
SORT_NAME(is_in_order)(const SORT_ITEM *items, uint64 num_items)
{
	for (uint64 i = 1; i < num_items; i++)
		if (SORT_VALUE(items[i - 1]) > SORT_VALUE(items[i]))
			return false;
	return true;
}

/* The bits in which items differ from the first one. */
static mgpu_u128
SORT_NAME(find_differing)(const SORT_ITEM *items, uint64 num_items, const SORT_ITEM *first)
{
	mgpu_u128	differing = 0;

	for (uint64 i = 0; i < num_items; i++)
		differing |= SORT_VALUE(items[i]) ^ SORT_VALUE(*first);
	return differing;
}

static void
SORT_NAME(count_digits)(const SORT_ITEM *items, uint64 num_items, unsigned shift, uint32 mask, uint32 *counts)
{
	memset(counts, 0, (mask + 1) * sizeof(uint32));
	for (uint64 i = 0; i < num_items; i++)
		counts[(uint32) (SORT_VALUE(items[i]) >> shift) & mask]++;
}

static void
SORT_NAME(move_items)(const SORT_ITEM *from, SORT_ITEM *to, uint64 num_items, unsigned shift, uint32 mask, uint32 *places)
{
	for (uint64 i = 0; i < num_items; i++)
		to[places[(uint32) (SORT_VALUE(from[i]) >> shift) & mask]++] = from[i];
}

/* From may be to. */
static void
SORT_NAME(insert_items)(const SORT_ITEM *from, SORT_ITEM *to, uint32 num_items)
{
	for (uint32 i = 0; i < num_items; i++)
	{
		SORT_ITEM	item = from[i];
		uint32		place = i;

		for (; place > 0 && SORT_VALUE(to[place - 1]) > SORT_VALUE(item); place--)
			to[place] = to[place - 1];
		to[place] = item;
	}
}

/* Sort items in memory that has room for them twice; they end in the other one if to_other.  Short items are not sorted by it. */
pg_attribute_unused()
static void
SORT_NAME(sort_items)(SORT_ITEM *items, SORT_ITEM *other, uint64 num_items, bool to_other)
{
	uint32		ends[1 << MOST_BITS];
	unsigned	bits = digit_bits(num_items);
	uint32		mask = (1 << bits) - 1;
	mgpu_u128	differing = num_items <= INSERTED_ITEMS ? 0 : SORT_NAME(find_differing)(items, num_items, items);
	unsigned	shift = digit_shift(differing, bits);
	uint32		begin = 0;

	/* a few, or all the same */
	if (differing == 0)
	{
		SORT_NAME(insert_items)(items, to_other ? other : items, (uint32) num_items);
		return;
	}
	SORT_NAME(count_digits)(items, num_items, shift, mask, ends);
	for (uint32 digit = 0; digit <= mask; digit++)
	{
		uint32		count = ends[digit];

		ends[digit] = begin;
		begin += count;
	}
	SORT_NAME(move_items)(items, other, num_items, shift, mask, ends);
	begin = 0;
	for (uint32 digit = 0; digit <= mask; digit++)
	{
		SORT_NAME(sort_items)(other + begin, items + begin, ends[digit] - begin, !to_other);
		begin = ends[digit];
	}
}

#undef SORT_PASTE
#undef SORT_JOIN
#undef SORT_NAME
#undef SORT_ITEM
#undef SORT_VALUE
