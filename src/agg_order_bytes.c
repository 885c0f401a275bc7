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
#include "agg_order.h"

/* Rows handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

#define CODE_BYTES sizeof(uint64)

/* Of a run of equal codes. */
typedef struct tie_item
{
	uint64		code;			/* of the bytes behind those */
	uint32		index;
} tie_item;

typedef struct tie_context
{
	const agg_batch *batch;
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
		order = compare_from(key_at(context->batch, a->index), key_at(context->batch, b->index), context->offset);
	if (context->descending)
		order = -order;
	if (order == 0)
		order = a->index < b->index ? -1 : 1;
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
		if (VARSIZE(key_at(batch, i)) - VARHDRSZ > offset)
			return true;
	return false;
}

static void
order_run(agg_batch *batch, uint32 *positions, uint64 num_rows, void *buffer)
{
	tie_item   *items = buffer;
	Size		offset = batch->call->skipped_bytes + CODE_BYTES;
	tie_context context = {batch, offset + CODE_BYTES, batch->order.descending};

	for (uint64 i = 0; i < num_rows; i++)
	{
		__builtin_prefetch(key_at(batch, positions[i]));
		items[i].index = positions[i];
	}
	for (uint64 i = 0; i < num_rows; i++)
		items[i].code = code_at(key_at(batch, items[i].index), offset);
	sort_ties(items, num_rows, &context);
	for (uint64 i = 0; i < num_rows; i++)
		positions[i] = items[i].index;
}

void
agg_order_bytes(agg_batch *batch, uint32 *positions)
{
	uint64	   *codes = agg_batch_alloc(batch, batch->num_items * sizeof(uint64));
	uint64	   *sorted = agg_batch_alloc(batch, batch->num_items * sizeof(uint64));
	Size		offset = 0;

	while (!make_codes(batch, offset, codes) && go_on(batch, offset + CODE_BYTES))
		offset += CODE_BYTES;
	batch->call->skipped_bytes = offset;
	agg_order_codes(batch, codes, MGPU_KEY_UNSIGNED, positions, sorted);
	agg_order_runs(batch, sorted, positions, order_run, sizeof(tie_item));
	pfree(codes);
	pfree(sorted);
}
