/*
 * core_byte_keys.c
 *		Rounds of byte strings (byte_keys.h) against qsort.
 *
 * Strings have many shapes, with and without zero bytes.  They are sorted whole and in
 * segments, in both directions.
 */
#include "core/byte_keys.h"
#include "unit.h"

#define MAX_ROUNDS 4000

typedef struct strings
{
	mgpu_byte_keys keys;
	mgpu_span  *spans;
	char	   *data;
	uint32_t	num_items;
} strings;

typedef struct sortable
{
	uint64_t	code;
	uint32_t	segment;
	uint32_t	index;
} sortable;

static const mgpu_byte_keys *compared;
static bool compared_descending;

static int
compare_strings(const void *a, const void *b)
{
	const sortable *x = a,
			   *y = b;
	int			order;

	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	order = mgpu_byte_compare(compared, compared->spans[x->index], compared->spans[y->index], 0);
	if (compared_descending)
		order = -order;
	return order != 0 ? order : (x->index < y->index ? -1 : 1);
}

static int
compare_codes(const void *a, const void *b)
{
	const sortable *x = a,
			   *y = b;

	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	if (x->code != y->code)
		return (x->code < y->code) != compared_descending ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Sort the codes as an executor does: stably, each segment separately. */
static void
sort_codes(mgpu_byte_round *round, uint64_t *sorted, uint32_t *indices)
{
	sortable   *all = unit_allocate(round->num_items * sizeof(*all));

	for (uint32_t i = 0; i < round->num_runs; i++)
		for (uint32_t j = 0; j < round->runs[i].num_items; j++)
			all[round->heads[i] + j] = (sortable) {round->codes[round->heads[i] + j], i, round->heads[i] + j};
	qsort(all, round->num_items, sizeof(*all), compare_codes);
	for (uint64_t i = 0; i < round->num_items; i++)
	{
		sorted[i] = all[i].code;
		indices[i] = all[i].index;
	}
	free(all);
	round->sorted = sorted;
	round->indices = indices;
}

static void
run_tasks(void (*task) (void *, uint64_t, int), void *context, uint64_t num_tasks)
{
	/* backwards, because threads may take tasks in any order */
	for (uint64_t i = num_tasks; i-- > 0;)
		task(context, i, 0);
}

static void
work_round(mgpu_byte_round *round)
{
	uint64_t	num_items = round->num_items;
	uint64_t   *sorted = unit_allocate(num_items * sizeof(*sorted));
	uint32_t   *indices = unit_allocate(num_items * sizeof(*indices));

	round->codes = unit_allocate(num_items * sizeof(uint64_t));
	round->items = unit_allocate(num_items * sizeof(uint32_t));
	run_tasks(mgpu_byte_encode_task, round, mgpu_byte_tasks(round));
	sort_codes(round, sorted, indices);
	run_tasks(mgpu_byte_permute_task, round, mgpu_byte_tasks(round));
	round->next_runs = unit_allocate(mgpu_byte_next_runs(num_items) * sizeof(mgpu_byte_run));
	run_tasks(mgpu_byte_split_task, round, mgpu_byte_tasks(round));
	UNIT_CHECK(round->num_next_runs <= mgpu_byte_next_runs(num_items));
	free(round->codes);
	free(round->items);
	free(sorted);
	free(indices);
}

/* heads: starts of the segments.  Returns the number of rounds. */
static int
sort_in_rounds(const strings *input, const uint32_t *heads, uint32_t num_segments, uint32_t short_items,
			   bool descending, uint32_t *order)
{
	mgpu_byte_round round = {.keys = input->keys, .order = order};
	mgpu_byte_segments segments = {&round, heads, num_segments, input->num_items, short_items};
	int			num_rounds = 0;

	round.keys.descending = descending;
	for (uint32_t i = 0; i < input->num_items; i++)
		order[i] = i;
	round.next_runs = unit_allocate((uint64_t) num_segments * sizeof(mgpu_byte_run));
	round.num_next_runs = 0;
	run_tasks(mgpu_byte_segments_task, &segments, mgpu_byte_segment_tasks(&segments));
	while (round.num_next_runs > 0 && num_rounds < MAX_ROUNDS)
	{
		round.runs = round.next_runs;
		round.num_runs = round.num_next_runs;
		round.heads = unit_allocate(round.num_runs * sizeof(uint32_t));
		mgpu_byte_round_start(&round);
		run_tasks(mgpu_byte_measure_task, &round, mgpu_byte_tasks(&round));
		mgpu_byte_round_narrow(&round);
		round.num_next_runs = 0;
		round.next_runs = NULL;
		if (round.num_runs > 0)
			work_round(&round);
		free(round.heads);
		free(round.runs);
		num_rounds++;
	}
	UNIT_CHECK(num_rounds < MAX_ROUNDS);
	free(round.next_runs);
	return num_rounds;
}

static void
check(const strings *input, uint32_t num_segments, uint32_t short_items, bool descending)
{
	uint32_t	num_items = input->num_items;
	uint32_t   *heads = unit_allocate(num_segments * sizeof(*heads));
	uint32_t   *order = unit_allocate(num_items * sizeof(*order));
	sortable   *expected = unit_allocate(num_items * sizeof(*expected));
	bool		right = true;

	for (uint32_t i = 0; i < num_segments; i++)
		heads[i] = (uint32_t) ((uint64_t) i * num_items / num_segments);
	for (uint32_t i = 0, segment = 0; i < num_items; i++)
	{
		while (segment + 1 < num_segments && heads[segment + 1] <= i)
			segment++;
		expected[i] = (sortable) {0, segment, i};
	}
	compared = &input->keys;
	compared_descending = descending;
	qsort(expected, num_items, sizeof(*expected), compare_strings);
	sort_in_rounds(input, heads, num_segments, short_items, descending, order);
	for (uint32_t i = 0; i < num_items; i++)
		right = right && order[i] == expected[i].index;
	UNIT_CHECK(right);
	free(heads);
	free(order);
	free(expected);
}

/* Fill bytes with a string of at most max_bytes; returns its size. */
typedef uint32_t (*make_fn) (char *bytes, uint32_t max_bytes, bool zeros);

static uint32_t
make_short(char *bytes, uint32_t max_bytes, bool zeros)
{
	uint32_t	size = (uint32_t) unit_random_below(12);

	(void) max_bytes;
	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (char) (unit_random_below(3) + (zeros ? 0 : 1));
	return size;
}

static uint32_t
make_any(char *bytes, uint32_t max_bytes, bool zeros)
{
	uint32_t	size = (uint32_t) unit_random_below(max_bytes + 1);

	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (char) (zeros ? unit_random_below(256) : 1 + unit_random_below(255));
	return size;
}

/* Most strings share a prefix of 8, 16 or 200 bytes; one in twenty ends at or just before its end. */
static uint32_t
make_prefixed(char *bytes, uint32_t max_bytes, bool zeros)
{
	static const uint32_t sizes[] = {8, 16, 200};
	uint32_t	prefix = sizes[unit_random_below(3)];
	uint32_t	number = (uint32_t) unit_random_below(700);

	if (prefix + 4 > max_bytes)
		prefix = 8;
	memset(bytes, 'p', prefix);
	if (unit_random_below(20) == 0)
		return prefix - (uint32_t) unit_random_below(3);
	for (int i = 0; i < 3; i++, number /= 9)
		bytes[prefix + (uint32_t) i] = (char) (number % 9 + (zeros ? 0 : 1));
	return prefix + (uint32_t) unit_random_below(4);
}

/* One byte repeated: every string is a prefix of all longer ones. */
static uint32_t
make_staircase(char *bytes, uint32_t max_bytes, bool zeros)
{
	uint32_t	size = (uint32_t) unit_random_below(max_bytes + 1);

	memset(bytes, zeros ? 0 : 'a', size);
	return size;
}

static uint32_t
make_same(char *bytes, uint32_t max_bytes, bool zeros)
{
	memset(bytes, zeros ? 0 : 'a', max_bytes);
	return max_bytes;
}

static uint32_t
make_empty(char *bytes, uint32_t max_bytes, bool zeros)
{
	(void) bytes;
	(void) max_bytes;
	(void) zeros;
	return 0;
}

/* The data have exactly the size of the strings, so that ASan finds reads behind them. */
static void
make_strings(strings *made, make_fn make, uint32_t num_items, uint32_t max_bytes, bool zeros)
{
	char	   *roomy = unit_allocate((uint64_t) num_items * (max_bytes + 16));
	uint32_t	offset = 0;

	made->spans = unit_allocate(num_items * sizeof(*made->spans));
	made->num_items = num_items;
	for (uint32_t i = 0; i < num_items; i++)
	{
		made->spans[i] = (mgpu_span) {offset, make(roomy + offset, max_bytes, zeros)};
		offset += made->spans[i].size;
	}
	made->data = unit_allocate(offset);
	memcpy(made->data, roomy, offset);
	free(roomy);
	made->keys = (mgpu_byte_keys) {made->data, made->data + offset, made->spans, zeros, false};
}

static void
check_shape(const char *name, make_fn make, uint32_t num_items, uint32_t max_bytes)
{
	for (int zeros = 0; zeros < 2; zeros++)
	{
		strings		input;

		make_strings(&input, make, num_items, max_bytes, zeros);
		for (int descending = 0; descending < 2; descending++)
		{
			UNIT_CONTEXT("%s, %u items, zeros %d, descending %d", name, num_items, zeros, descending);
			check(&input, 1, 1, descending);
			check(&input, num_items / 100 + 1, MGPU_SHORT_RUN_ITEMS, descending);
			check(&input, num_items / 100 + 1, 1, descending);
			check(&input, num_items / 3 + 1, MGPU_SHORT_RUN_ITEMS, descending);
			check(&input, num_items / 1000 + 1, MGPU_SHORT_RUN_ITEMS, descending);
		}
		free(input.spans);
		free(input.data);
	}
}

static void
check_order_now(void)
{
	for (uint32_t num_items = 1; num_items <= MGPU_SHORT_RUN_ITEMS; num_items += 1 + num_items / 9)
	{
		strings		input;
		uint32_t	order[MGPU_SHORT_RUN_ITEMS];
		bool		right = true;

		UNIT_CONTEXT("order now, %u items", num_items);
		make_strings(&input, make_short, num_items, 12, true);
		for (uint32_t i = 0; i < num_items; i++)
			order[i] = i;
		mgpu_byte_order_now(&input.keys, 0, order, num_items);
		for (uint32_t i = 1; i < num_items; i++)
		{
			int			before = mgpu_byte_compare(&input.keys, input.spans[order[i - 1]], input.spans[order[i]], 0);

			right = right && (before < 0 || (before == 0 && order[i - 1] < order[i]));
		}
		UNIT_CHECK(right);
		free(input.spans);
		free(input.data);
	}
}

int
main(void)
{
	static const uint32_t lengths[] = {1, 2, 7, 255, 256, 257, 1000, 5000, 16384, 16385, 60000};

	check_order_now();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		uint32_t	num_items = lengths[i];

		check_shape("short", make_short, num_items, 12);
		check_shape("any", make_any, num_items, 20);
		check_shape("prefixed", make_prefixed, num_items, 240);
		check_shape("staircase", make_staircase, num_items, 300);
		check_shape("same", make_same, num_items, 33);
		check_shape("empty", make_empty, num_items, 0);
	}
	return unit_report();
}
