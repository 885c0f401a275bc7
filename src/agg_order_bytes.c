/*
 * agg_order_bytes.c
 *		Order of grouped rows whose keys are byte strings.
 *
 * Eight bytes make a code, big-endian, padded with zeros; bytes that all strings
 * begin with are skipped first.  Executors sort the codes.  Runs of equal codes
 * are sorted by the next eight bytes, and what is still equal then by memcmp.
 * That looks at each string twice for most data, where a comparison sort looks
 * at it log2(n) times and misses the cache each time.  Codes of sixteen bytes
 * were rejected: every string would pay what only ties need.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_job.h"
#include "agg_order.h"

/* Rows handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

#define CODE_BYTES sizeof(uint64)

/* Of a run of equal codes. */
typedef struct tie_item
{
	uint64		code;			/* of the bytes behind those */
	const char *key;
	uint32		row;			/* grouped, or a place in the run: ascending at first */
} tie_item;

typedef struct tie_context
{
	Size		offset;			/* of what code does not cover */
	bool		descending;
} tie_context;

static inline const char *
key_at(const agg_batch *batch, uint64 row)
{
	return ((const char *const *) batch->keys)[row];
}

/* Eight bytes from offset on. */
static inline uint64
code_at(const char *key, Size offset)
{
	Size		bytes = VARSIZE(key) - VARHDRSZ;
	uint64		code = 0;

	if (bytes >= offset + CODE_BYTES)
		memcpy(&code, VARDATA(key) + offset, CODE_BYTES);
	else if (bytes > offset)
		memcpy(&code, VARDATA(key) + offset, bytes - offset);
	return pg_ntoh64(code);
}

static int
compare_from(const char *a, const char *b, Size offset)
{
	Size		a_bytes = VARSIZE(a) - VARHDRSZ;
	Size		b_bytes = VARSIZE(b) - VARHDRSZ;
	Size		common = Min(a_bytes, b_bytes);
	int			order = common > offset ? memcmp(VARDATA(a) + offset, VARDATA(b) + offset, common - offset) : 0;

	if (order == 0 && a_bytes != b_bytes)
		order = a_bytes < b_bytes ? -1 : 1;
	return order;
}

static inline int
compare_ties(const tie_item *a, const tie_item *b, const tie_context *context)
{
	int			order;

	if (a->code != b->code)
		order = a->code < b->code ? -1 : 1;
	else
		order = compare_from(a->key, b->key, context->offset);
	if (context->descending)
		order = -order;
	if (order == 0)
		order = a->row < b->row ? -1 : 1;
	return order;
}

#define ST_SORT sort_ties
#define ST_ELEMENT_TYPE tie_item
#define ST_COMPARE(a, b, context) compare_ties(a, b, context)
#define ST_COMPARE_ARG_TYPE const tie_context
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Codes from offset on; whether two of them differ. */
static bool
make_codes(const agg_batch *batch, Size offset, uint64 *codes)
{
	bool		differ = false;

	for (uint64 i = 0; i < batch->num_items; i++)
	{
		if (i + AGG_PREFETCH_ROWS < batch->num_items)
			__builtin_prefetch(key_at(batch, i + AGG_PREFETCH_ROWS));
		codes[i] = code_at(key_at(batch, i), offset);
		differ |= codes[i] != codes[0];
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return differ;
}

/* Whether any string goes on behind offset. */
static bool
go_on(const agg_batch *batch, Size offset)
{
	for (uint64 i = 0; i < batch->num_items; i++)
	{
		if (VARSIZE(key_at(batch, i)) - VARHDRSZ > offset)
			return true;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/* items: keys and rows are set. */
static void
sort_run(const agg_batch *batch, tie_item *items, uint64 num_rows)
{
	Size		offset = batch->call->skipped_bytes + CODE_BYTES;
	tie_context context = {offset + CODE_BYTES, batch->order.descending};

	for (uint64 i = 0; i < num_rows; i++)
		items[i].code = code_at(items[i].key, offset);
	sort_ties(items, num_rows, &context);
}

static void
order_positions(agg_batch *batch, uint64 begin, uint64 num_rows, void *buffer)
{
	uint32	   *positions = batch->positions + begin;
	tie_item   *items = buffer;

	for (uint64 i = 0; i < num_rows; i++)
	{
		items[i].key = key_at(batch, positions[i]);
		items[i].row = positions[i];
		__builtin_prefetch(items[i].key);
	}
	sort_run(batch, items, num_rows);
	for (uint64 i = 0; i < num_rows; i++)
		positions[i] = items[i].row;
}

static void
order_sorted_keys(agg_batch *batch, uint64 begin, uint64 num_rows, void *buffer)
{
	const char **keys = (const char **) batch->sorted_keys + begin;
	tie_item   *items = buffer;

	for (uint64 i = 0; i < num_rows; i++)
	{
		items[i].key = keys[i];
		items[i].row = i;
		__builtin_prefetch(items[i].key);
	}
	sort_run(batch, items, num_rows);
	for (uint64 i = 0; i < num_rows; i++)
		keys[i] = items[i].key;
}

static uint64 *
codes_of_keys(agg_batch *batch)
{
	uint64	   *codes = agg_batch_alloc(batch, batch->num_items * sizeof(uint64));
	Size		offset = 0;

	while (!make_codes(batch, offset, codes) && go_on(batch, offset + CODE_BYTES))
		offset += CODE_BYTES;
	batch->call->skipped_bytes = offset;
	return codes;
}

void
agg_order_bytes(agg_batch *batch)
{
	uint64	   *codes = codes_of_keys(batch);
	uint64	   *sorted = agg_batch_alloc(batch, batch->num_items * sizeof(uint64));

	agg_order_codes(batch, codes, MGPU_KEY_UNSIGNED, batch->positions, sorted);
	agg_order_runs(batch, sorted, order_positions, sizeof(tie_item));
	pfree(codes);
	pfree(sorted);
}

/* Keys in the order of their codes: executors move the pointers. */
static void
move_keys(agg_batch *batch, const uint64 *codes, uint64 *sorted)
{
	run_request request;

	agg_job_describe(&request, batch, MGPU_OP_SORT_PAIRS, MGPU_KEY_UNSIGNED, sizeof(uint64));
	request.job.outputs = MGPU_OUT_KEYS | MGPU_OUT_VALUES;
	request.job.value_width = sizeof(char *);
	request.binding.in_keys = codes;
	request.binding.in_values = batch->keys;
	request.binding.out_keys = sorted;
	request.binding.out_values = batch->sorted_keys;
	run_job(&request);
}

static void
pick_keys(agg_batch *batch, const uint64 *codes, uint64 *sorted)
{
	uint32	   *positions = agg_batch_alloc(batch, batch->num_items * sizeof(uint32));

	agg_order_codes(batch, codes, MGPU_KEY_UNSIGNED, positions, sorted);
	for (uint64 i = 0; i < batch->num_items; i++)
		((const char **) batch->sorted_keys)[i] = key_at(batch, positions[i]);
	pfree(positions);
}

void
agg_sort_bytes(agg_batch *batch)
{
	uint64	   *codes = codes_of_keys(batch);
	uint64	   *sorted = agg_batch_alloc(batch, batch->num_items * sizeof(uint64));

	batch->sorted_keys = agg_batch_alloc(batch, batch->num_items * sizeof(char *));
	if (agg_order_is_small(batch))
		pick_keys(batch, codes, sorted);
	else
		move_keys(batch, codes, sorted);
	agg_order_runs(batch, sorted, order_sorted_keys, sizeof(tie_item));
	pfree(codes);
	pfree(sorted);
}
