/*
 * core_string_parts.c
 *		Parts of strings (string_parts.h): in order, each in its own, constant where they say so.
 */
#include "core/cpu_threads.h"
#include "core/string_parts.h"
#include "unit.h"

static void
codes_of(const void *context, const uint32_t *refs, uint32_t num_refs, uint64_t *codes)
{
	const uint64_t *all = context;

	for (uint32_t i = 0; i < num_refs; i++)
		codes[i] = all[refs[i]];
}

static void
refs_of(const void *context, uint64_t begin, uint32_t num_refs, uint32_t *refs)
{
	(void) context;
	for (uint32_t i = 0; i < num_refs; i++)
		refs[i] = (uint32_t) begin + i;
}

static uint64_t
random_code(int kind)
{
	switch (kind)
	{
		case 0:
			return unit_random();
		case 1:
			return unit_random_below(3);
		case 2:
			return UINT64_MAX - unit_random_below(2);
		case 3:
			return 42;
		case 4:
			return unit_random_below(2) ? 7 : unit_random();
		default:
			return unit_random() & unit_random() & unit_random();
	}
}

static void
run_phase(mgpu_pool *pool, mgpu_task_function function, mgpu_string_parts *parts)
{
	mgpu_pool_begin(pool, function, parts, mgpu_part_tasks(parts));
	while (!mgpu_pool_work(pool, 20.0))
		;
}

/* Whether code a must not come behind code b. */
static bool
in_order(uint64_t a, uint64_t b, bool descending)
{
	return descending ? a >= b : a <= b;
}

static void
check_part(const mgpu_string_parts *parts, uint32_t part, const uint64_t *codes, uint64_t *bound)
{
	uint64_t	constant = 0;
	bool		is_constant = mgpu_part_code(parts, part, &constant);
	uint64_t	last = *bound;

	for (uint32_t i = parts->begins[part]; i < parts->begins[part + 1]; i++)
	{
		uint64_t	code = codes[parts->out[i]];

		UNIT_CHECK(i == parts->begins[part] || parts->out[i - 1] < parts->out[i]);
		UNIT_CHECK(!is_constant || code == constant);
		UNIT_CHECK(in_order(*bound, code, parts->descending));
		if (in_order(last, code, parts->descending))
			last = code;
	}
	*bound = last;
}

static void
check_parts(uint32_t num_items, int kind, uint64_t num_parts, bool descending, int num_threads, bool with_notes,
			uint64_t item_bytes)
{
	mgpu_string_parts *parts = unit_allocate(sizeof(*parts));
	mgpu_pool  *pool = mgpu_pool_start(num_threads);
	uint64_t   *codes = unit_allocate(num_items * sizeof(uint64_t));
	uint64_t	bound = descending ? UINT64_MAX : 0;
	uint64_t	num_tasks;

	for (uint32_t i = 0; i < num_items; i++)
		codes[i] = random_code(kind);
	memset(parts, 0, sizeof(*parts));
	parts->codes_of = codes_of;
	parts->refs_of = refs_of;
	parts->context = codes;
	parts->num_items = num_items;
	parts->item_bytes = item_bytes;
	parts->descending = descending;
	parts->parts = with_notes ? unit_allocate(num_items) : NULL;
	parts->out = unit_allocate(num_items * sizeof(uint32_t));
	parts->num_out_items = unit_random_below(num_items + 1);
	parts->out_items = unit_allocate(parts->num_out_items * sizeof(uint32_t));
	num_tasks = mgpu_part_tasks(parts);
	UNIT_CHECK(num_tasks <= MGPU_MOST_PART_TASKS);
	if (item_bytes >= 1000)
		UNIT_CHECK(num_tasks >= num_items * item_bytes / (16 * 1024 * 1024) || num_tasks == MGPU_MOST_PART_TASKS);
	parts->counts = unit_allocate(num_tasks * sizeof(*parts->counts));
	memset(parts->counts, 0, num_tasks * sizeof(*parts->counts));
	mgpu_parts_choose(parts, num_parts);
	UNIT_CHECK(mgpu_num_parts(parts) <= MGPU_MOST_PARTS);
	run_phase(pool, mgpu_parts_classify_task, parts);
	mgpu_parts_place(parts);
	run_phase(pool, mgpu_parts_scatter_task, parts);
	mgpu_pool_stop(pool);
	UNIT_CHECK(parts->begins[0] == 0 && parts->begins[mgpu_num_parts(parts)] == num_items);
	for (uint32_t i = 0; i < mgpu_num_parts(parts); i++)
		check_part(parts, i, codes, &bound);
	/* an item is its own reference here */
	UNIT_CHECK(memcmp(parts->out, parts->out_items, parts->num_out_items * sizeof(uint32_t)) == 0);
	free(parts->out_items);
	free(parts->parts);
	free(parts->out);
	free(parts->counts);
	free(parts);
	free(codes);
}

int
main(void)
{
	static const uint32_t sizes[] = {1, 100, 20000, 70000};
	static const uint64_t nums_parts[] = {1, 4, 37, 1000};
	static const uint64_t widths[] = {0, 300, 5000, 70000};

	for (int i = 0; i < 4; i++)
		for (int kind = 0; kind < 6; kind++)
			for (int j = 0; j < 4; j++)
			{
				UNIT_CONTEXT("%u items, kind %d, %d parts", sizes[i], kind, (int) nums_parts[j]);
				check_parts(sizes[i], kind, nums_parts[j], (i + j) % 2 != 0, 1 + j % 2 * 3, (kind + j) % 3 != 0,
							widths[(kind + i + j) % 4]);
			}
	return unit_report();
}
