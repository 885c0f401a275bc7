/*
 * keys.c
 *		Grouping keys of rows: which rows have equal keys.
 *
 * A row's keys become one number, its code.  One stable sort orders the codes together
 * with the rows' numbers (order/words.c).  Equal codes are then adjacent, and the rows of
 * each group are in arrival order.
 *
 * If all keys of a row fit in 64 bits, the code holds them, each with a bit for NULL where
 * the column has one.  Otherwise it is a hash of them, and rows with equal codes are compared.
 * Rows whose hashes collide are told apart by that comparison.
 *
 * A hash table is for fewer groups (group_fold.c): with many, every lookup misses the caches, whereas
 * a sort reads and writes sequentially.
 */
#include "postgres.h"

#include <math.h>

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "core/sizes.h"
#include "order/words.h"
#include "plan/keys.h"

/* Rows handled between checks for interrupts, and before what functions leave behind is freed. */
#define STEP_ROWS (4 * 1024)

/* Few bits in tests, so that hashes collide. */
#define HASH_MASK MGPU_SIZE(PG_UINT64_MAX, UINT64_C(31))

/* ---- one value */

/* Whether the type promises that equal values have equal bytes. */
static bool
equal_means_same_bytes(const TypeCacheEntry *type, Oid collation)
{
	Oid			promise = get_opfamily_proc(type->btree_opf, type->btree_opintype, type->btree_opintype,
											BTEQUALIMAGE_PROC);

	return OidIsValid(promise) &&
		DatumGetBool(OidFunctionCall1Coll(promise, collation, ObjectIdGetDatum(type->btree_opintype)));
}

bool
group_key_fill(group_key *key, Oid type_id, Oid equality, Oid collation)
{
	TypeCacheEntry *type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY |
											 TYPECACHE_HASH_EXTENDED_PROC_FINFO);

	memset(key, 0, sizeof(*key));
	key->collation = collation;
	if (type->eq_opr != equality)
		return false;
	/* bpchar promises it too, but values of another length than a column's may differ in trailing blanks */
	if (type->typlen != -2 && type->btree_opintype != BPCHAROID && OidIsValid(type->btree_opf) &&
		equal_means_same_bytes(type, collation))
	{
		key->form = type->typlen > 0 ? GROUP_KEY_BITS : GROUP_KEY_VARLENA;
		return true;
	}
	if (getBaseType(type_id) == FLOAT4OID || getBaseType(type_id) == FLOAT8OID)
	{
		key->form = GROUP_KEY_FLOAT;
		return true;
	}
	key->form = GROUP_KEY_CALLS;
	if (!OidIsValid(type->hash_extended_proc))
		return false;
	fmgr_info_copy(&key->hash, &type->hash_extended_proc_finfo, CurrentMemoryContext);
	fmgr_info(get_opcode(equality), &key->equal);
	return true;
}

/* A value of fixed width up to 8 bytes as a number; any zero and any NaN is the same. */
static inline uint64
number_of(const group_key *key, const column *col, uint64 row)
{
	const char *cell = col->cells + row * col->type->width;
	union
	{
		uint64		number;
		float4		narrow;
		float8		wide;
	}			value = {0};

	switch (col->type->width)
	{
		case 1:
			return *(const uint8 *) cell;
		case 2:
			return *(const uint16 *) cell;
		case 4:
			value.number = *(const uint32 *) cell;
			if (key->form == GROUP_KEY_FLOAT)
				value.narrow = isnan(value.narrow) ? (float4) NAN : value.narrow + 0.0f;
			return value.number;
		case 8:
			value.number = *(const uint64 *) cell;
			if (key->form == GROUP_KEY_FLOAT)
				value.wide = isnan(value.wide) ? (float8) NAN : value.wide + 0.0;
			return value.number;
		default:
			memcpy(&value, cell, col->type->width);
			return value.number;
	}
}

/* Whether number_of can have the column's values. */
static inline bool
is_number(const group_key *key, const column *col)
{
	return (key->form == GROUP_KEY_BITS || key->form == GROUP_KEY_FLOAT) && col->type->width <= sizeof(uint64);
}

static uint64
hash_of(const group_key *key, const column *col, uint64 row)
{
	const char *element = cell_element(col->type, col->cells, row);

	switch (key->form)
	{
		case GROUP_KEY_VARLENA:
			return hash_bytes_extended((const unsigned char *) VARDATA(element), VARSIZE(element) - VARHDRSZ, 0);
		case GROUP_KEY_CALLS:
			return DatumGetUInt64(FunctionCall2Coll((FmgrInfo *) &key->hash, key->collation,
													cell_datum(col->type, col->cells, row), Int64GetDatum(0)));
		default:
			return hash_bytes_extended((const unsigned char *) element, col->type->width, 0);
	}
}

static bool
values_are_equal(const group_key *key, const column *col_a, uint64 a, const column *col_b, uint64 b)
{
	const char *x;
	const char *y;

	if (column_is_null(col_a, a) || column_is_null(col_b, b))
		return column_is_null(col_a, a) && column_is_null(col_b, b);
	if (is_number(key, col_a))
		return number_of(key, col_a, a) == number_of(key, col_b, b);
	if (key->form == GROUP_KEY_CALLS)
		return DatumGetBool(FunctionCall2Coll((FmgrInfo *) &key->equal, key->collation,
											  cell_datum(col_a->type, col_a->cells, a), cell_datum(col_b->type, col_b->cells, b)));
	x = cell_element(col_a->type, col_a->cells, a);
	y = cell_element(col_b->type, col_b->cells, b);
	if (key->form == GROUP_KEY_VARLENA)
		return VARSIZE(x) == VARSIZE(y) && memcmp(x, y, VARSIZE(x)) == 0;
	return memcmp(x, y, col_a->type->width) == 0;
}

bool
group_keys_equal(const group_keys *keys, int num_keys, const chunk *rows_a, uint64 a, const chunk *rows_b, uint64 b)
{
	for (int i = 0; i < num_keys; i++)
	{
		int			number = keys->keys[i].column;

		if (!values_are_equal(&keys->keys[i], &rows_a->columns[number], a, &rows_b->columns[number], b))
			return false;
	}
	return true;
}

/* ---- memory that the types' functions leave behind */

MemoryContext
group_calls_start(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg calls", ALLOCSET_SMALL_SIZES));
}

void
group_calls_end(MemoryContext caller)
{
	MemoryContextDelete(MemoryContextSwitchTo(caller));
}

/* ---- codes */

static void
add_hashes(const group_key *key, const column *col, uint64 first, uint32 num_rows, uint64 *hashes)
{
	if (is_number(key, col) && col->nulls == NULL)
		for (uint32 i = 0; i < num_rows; i++)
			hashes[i] = group_code_hash(hashes[i] ^ number_of(key, col, first + i));
	else
		for (uint32 i = 0; i < num_rows; i++)
		{
			uint64		row = first + i;

			if (column_is_null(col, row))
				hashes[i] = group_code_hash(~hashes[i]);
			else
				hashes[i] = group_code_hash(hashes[i] ^ (is_number(key, col) ? number_of(key, col, row) : hash_of(key, col, row)));
		}
}

void
group_keys_hash(const void *keys, const chunk *rows, uint64 first, uint32 num_rows, uint64 seed, uint64 *hashes)
{
	const group_keys *all = keys;
	MemoryContext caller = group_calls_start();

	for (uint32 i = 0; i < num_rows; i++)
		hashes[i] = seed;
	for (int i = 0; i < all->num_keys; i++)
		add_hashes(&all->keys[i], &rows->columns[all->keys[i].column], first, num_rows, hashes);
	group_calls_end(caller);
	for (uint32 i = 0; i < num_rows; i++)
		hashes[i] &= HASH_MASK;
}

/* Bits of a code that holds all keys, and whether they are NULL if with_nulls; above 64 it cannot. */
static uint32
bits_of_code(const group_keys *keys, const chunk *rows, bool with_nulls)
{
	uint32		bits = 0;

	for (int i = 0; i < keys->num_keys; i++)
	{
		const column *col = &rows->columns[keys->keys[i].column];

		if (!is_number(&keys->keys[i], col))
			return PG_UINT32_MAX;
		bits += col->type->width * BITS_PER_BYTE + (with_nulls && col->nulls != NULL);
	}
	return bits;
}

static uint64
code_of_row(const group_keys *keys, const chunk *rows, uint64 row, bool with_nulls)
{
	uint64		code = 0;

	for (int i = 0; i < keys->num_keys; i++)
	{
		const column *col = &rows->columns[keys->keys[i].column];
		uint32		bits = col->type->width * BITS_PER_BYTE;

		/* the cell of a NULL is zero */
		code = (bits < 64 ? code << bits : 0) | number_of(&keys->keys[i], col, row);
		if (with_nulls && col->nulls)
			code = code << 1 | column_is_null(col, row);
	}
	return code;
}

bool
group_keys_codes(const group_keys *keys, const chunk *rows, uint64 *codes)
{
	const column *first = &rows->columns[keys->keys[0].column];
	bool		has_nulls = false;

	if (bits_of_code(keys, rows, false) > 64)
	{
		group_keys_hash(keys, rows, 0, rows->num_rows, 0, codes);
		return false;
	}
	/* the most frequent key, five times as fast */
	if (keys->num_keys == 1 && keys->keys[0].form == GROUP_KEY_BITS && first->type->width == sizeof(uint32))
		for (uint64 row = 0; row < rows->num_rows; row++)
			codes[row] = ((const uint32 *) first->cells)[row];
	else
		for (uint64 row = 0; row < rows->num_rows; row++)
			codes[row] = code_of_row(keys, rows, row, false);
	for (int i = 0; i < keys->num_keys; i++)
		has_nulls |= rows->columns[keys->keys[i].column].nulls != NULL;
	return !has_nulls;
}

/* Codes of sorted rows, or of rows in arrival order. */
typedef struct code_list
{
	void	   *codes;
	uint32		width;			/* 4 or 8 bytes */
	bool		are_hashes;
	bool		are_cells;		/* codes belong to the rows */
} code_list;

static code_list
make_codes(const group_keys *keys, const chunk *rows, MemoryContext context)
{
	uint32		bits = bits_of_code(keys, rows, true);
	const column *first = &rows->columns[keys->keys[0].column];
	code_list	list = {.width = bits <= 32 ? 4 : 8, .are_hashes = bits > 64};

	if (keys->num_keys == 1 && keys->keys[0].form == GROUP_KEY_BITS && bits == list.width * BITS_PER_BYTE)
	{
		list.codes = first->cells;
		list.are_cells = true;
		return list;
	}
	list.codes = large_alloc(context, rows->num_rows * list.width);
	for (uint64 begin = 0; begin < rows->num_rows; begin += STEP_ROWS)
	{
		uint64		end = Min(begin + STEP_ROWS, rows->num_rows);

		CHECK_FOR_INTERRUPTS();
		if (list.are_hashes)
			group_keys_hash(keys, rows, begin, end - begin, 0, (uint64 *) list.codes + begin);
		else if (list.width == 4)
			for (uint64 row = begin; row < end; row++)
				((uint32 *) list.codes)[row] = code_of_row(keys, rows, row, true);
		else
			for (uint64 row = begin; row < end; row++)
				((uint64 *) list.codes)[row] = code_of_row(keys, rows, row, true);
	}
	return list;
}

/* Return sorted codes, in context, and write their row numbers to positions. */
static void *
sort_codes(const code_list *list, uint64 num_rows, MemoryContext context, uint32 *positions)
{
	void	   *sorted = large_alloc(context, num_rows * list->width);
	sort_spec	spec = {.function = "MgpuGroup",.op = MGPU_OP_SORT};
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
			agree = values_are_equal(key, col, first, col, groups->numbers[i]);
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
group_keys_rank(const group_keys *keys, const chunk *rows, MemoryContext context, const char **form)
{
	row_groups	groups;
	code_list	list;
	void	   *sorted;

	*form = "none";
	if (keys->num_keys == 0)
		return one_group(rows->num_rows, context);
	list = make_codes(keys, rows, context);
	groups.numbers = large_alloc(context, rows->num_rows * sizeof(uint32));
	sorted = sort_codes(&list, rows->num_rows, context, groups.numbers);
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
