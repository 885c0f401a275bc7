/*
 * table_bench.c
 *		Times table jobs by CPU threads on pages in memory, of rows of about 90 bytes: nanoseconds a row, by the clock and of all
 *		threads together, the best of some rounds, and the longest call.
 *
 *	 table_bench [millions of rows [rounds [threads [part of a job's name]]]]
 *
 * Rows have a key of 1,000 values, one of 100,000, an integer, a float, a numeric of scale 2, a text of 12 or 13 bytes, of 200,000 values,
 * and some more bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/cpu_threads.h"
#include "core/executor.h"

/* ---- pages */

typedef struct table
{
	char	   *pages;
	uint16_t   *num_items;
	uint32_t	num_pages;
	uint64_t	num_rows;
} table;

static uint64_t random_state = 88172645463325252;

static uint64_t
next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 3;
}

static uint32_t
put(char *row, uint32_t offset, const void *bytes, uint32_t count)
{
	memcpy(row + offset, bytes, count);
	return offset + count;
}

/* Two digits behind the point: short format. */
static uint32_t
put_numeric(char *row, uint32_t offset, uint32_t hundredths)
{
	uint16_t	words[4] = {0x8000 | 2 << 7 | 1};
	uint32_t	count = 1;

	words[count++] = (uint16_t) (hundredths / 100 / 10000);
	words[count++] = (uint16_t) (hundredths / 100 % 10000);
	words[count++] = (uint16_t) (hundredths % 100 * 100);
	row[offset] = (char) ((2 * count + 1) << 1 | 1);
	return put(row, offset + 1, words, 2 * count);
}

static uint32_t
put_text(char *row, uint32_t offset, const char *text)
{
	uint32_t	length = (uint32_t) strlen(text);

	row[offset] = (char) ((length + 1) << 1 | 1);
	return put(row, offset + 1, text, length);
}

static uint32_t
write_row(char *row)
{
	int32_t		few = (int32_t) (next_random() % 1000);
	int32_t		many = (int32_t) (next_random() % 100000);
	int32_t		integer = (int32_t) (next_random() % 1000000);
	double		real = (double) (next_random() >> 8) / (double) (UINT64_C(1) << 53);
	uint64_t	filler = next_random();
	char		text[32];
	uint32_t	end = 24;

	memset(row, 0, 128);
	row[18] = 7;
	row[22] = 24;
	end = put(row, end, &few, 4);
	end = put(row, end, &many, 4);
	end = put(row, end, &real, 8);
	end = put(row, end, &integer, 4);
	end = put_numeric(row, end, (uint32_t) (next_random() % 100000000));
	snprintf(text, sizeof(text), "item-%05u%.*s", (unsigned) (next_random() % 100000), 2 + (int) (filler % 2), "-xyz");
	end = put_text(row, end, text);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long) filler);
	return put_text(row, end, text);
}

static table
make_table(uint64_t num_rows)
{
	table		made = {.num_pages = (uint32_t) (num_rows / 80 + 1)};
	char		row[128];

	made.pages = mmap(NULL, (uint64_t) made.num_pages * MGPU_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	made.num_items = calloc(made.num_pages, sizeof(uint16_t));
	madvise(made.pages, (uint64_t) made.num_pages * MGPU_PAGE_BYTES, MADV_HUGEPAGE);
	for (uint32_t i = 0; i < made.num_pages && made.num_rows < num_rows; i++)
	{
		char	   *page = made.pages + (uint64_t) i * MGPU_PAGE_BYTES;
		uint32_t	free_end = MGPU_PAGE_BYTES;

		for (uint32_t item = 0; made.num_rows < num_rows; item++)
		{
			uint32_t	bytes = write_row(row);
			uint32_t	stored = (bytes + 7) / 8 * 8;
			uint32_t	pointer;

			if (24 + 4 * (item + 1) + stored > free_end)
				break;
			free_end -= stored;
			memcpy(page + free_end, row, bytes);
			pointer = free_end | 1 << 15 | bytes << 17;
			memcpy(page + 24 + 4 * item, &pointer, 4);
			made.num_items[i] = (uint16_t) (item + 1);
			made.num_rows++;
		}
	}
	return made;
}

/* ---- jobs */

enum
{
	FEW, MANY, REAL, INTEGER, NUMERIC, TEXT
};

static mgpu_group_spec spec;

/* Attributes up to the last that is read. */
static void
begin_spec(int num_attributes)
{
	static const int16_t lengths[] = {4, 4, 8, 4, -1, -1};
	static const uint8_t aligns[] = {4, 4, 8, 4, 4, 4};
	static const int32_t offsets[] = {0, 4, 8, 16};

	memset(&spec, 0, sizeof(spec));
	spec.num_attributes = spec.num_inputs = (uint32_t) num_attributes;
	spec.num_fixed = num_attributes < 4 ? (uint32_t) num_attributes : 4;
	for (int i = 0; i < num_attributes; i++)
	{
		spec.attributes[i] = (mgpu_group_attribute) {lengths[i], aligns[i], (int8_t) i};
		spec.inputs[i] = (mgpu_group_input) {lengths[i], i < 4 ? offsets[i] : -1, -1};
	}
	spec.fixed_end = spec.num_fixed == 0 ? 0 : (uint32_t) (offsets[spec.num_fixed - 1] + lengths[spec.num_fixed - 1]);
}

static uint32_t
add_constant(uint8_t lane, int64_t bits)
{
	uint32_t	reg = spec.num_registers++;

	spec.num_constants++;
	spec.lanes[reg] = lane;
	spec.constants[reg].bits = bits;
	return reg;
}

static uint32_t
add_op(uint16_t code, uint16_t width, int64_t number, uint8_t lane, uint32_t a, uint32_t b)
{
	uint32_t	reg = spec.num_registers++;

	spec.lanes[reg] = lane;
	spec.ops[spec.num_ops++] = (mgpu_program_op) {code, width, (uint16_t) reg, {(uint16_t) a, (uint16_t) b}, number};
	return reg;
}

static uint32_t
load(int attribute)
{
	switch (attribute)
	{
		case REAL:
			return add_op(MGPU_RUN_LOAD_REAL, 8, REAL, MGPU_LANE_REAL, 0, 0);
		case NUMERIC:
			return add_op(MGPU_RUN_LOAD_NUMERIC, 2, NUMERIC, MGPU_LANE_INTEGER, 0, 0);
		case TEXT:
			return add_op(MGPU_RUN_LOAD_VARLENA, 0, TEXT, MGPU_LANE_BYTES, 0, 0);
		default:
			return add_op(MGPU_RUN_LOAD_INTEGER, 4, attribute, MGPU_LANE_INTEGER, 0, 0);
	}
}

static uint32_t
add_column(uint32_t reg, uint32_t reduction)
{
	bool		is_real = spec.lanes[reg] == MGPU_LANE_REAL;

	spec.columns[spec.num_columns] = (mgpu_group_column) {is_real ? MGPU_KEY_FLOAT : MGPU_KEY_SIGNED, 8, reg, reduction, false, false};
	return spec.num_columns++;
}

static void
add_key(uint32_t reg)
{
	spec.keys[spec.num_keys++] = add_column(reg, MGPU_REDUCE_NONE);
}

static void
find_rows(void)
{
	begin_spec(0);
}

static void
filtered_sum(void)
{
	double		limit = 0.1;
	int64_t		bits;

	memcpy(&bits, &limit, 8);
	begin_spec(4);
	add_constant(MGPU_LANE_REAL, bits);
	spec.tests[0].reg = add_op(MGPU_RUN_COMPARE_REAL, 1, MGPU_IS_LESS, MGPU_LANE_INTEGER, load(REAL), 0);
	spec.tests[0].end_op = spec.num_ops;
	spec.num_tests = 1;
	add_column(load(INTEGER), MGPU_REDUCE_INTEGER);
}

static void
sum_by_few(void)
{
	begin_spec(4);
	add_key(load(FEW));
	add_column(load(INTEGER), MGPU_REDUCE_INTEGER);
}

static void
sum_by_many(void)
{
	begin_spec(4);
	add_key(load(MANY));
	add_column(load(INTEGER), MGPU_REDUCE_INTEGER);
}

static void
count_by_most(void)
{
	begin_spec(4);
	add_key(load(INTEGER));
}

static void
squares_by_few(void)
{
	uint32_t	real;

	begin_spec(3);
	add_key(load(FEW));
	real = load(REAL);
	add_column(add_op(MGPU_RUN_MULTIPLY_REAL, 8, 0, MGPU_LANE_REAL, real, real), MGPU_REDUCE_REAL);
}

static void
numeric_by_few(void)
{
	begin_spec(5);
	add_key(load(FEW));
	add_column(load(NUMERIC), MGPU_REDUCE_INTEGER);
}

static void
sum_by_text(void)
{
	uint32_t	text;

	begin_spec(6);
	text = load(TEXT);
	add_key(add_op(MGPU_RUN_WORD, 2, 0, MGPU_LANE_INTEGER, text, 0));
	add_key(add_op(MGPU_RUN_WORD, 2, 1, MGPU_LANE_INTEGER, text, 0));
	add_column(load(INTEGER), MGPU_REDUCE_INTEGER);
}

static void
five_by_many(void)
{
	begin_spec(4);
	add_key(load(MANY));
	add_column(load(INTEGER), MGPU_REDUCE_INTEGER);
	add_column(load(REAL), MGPU_REDUCE_REAL);
}

static void
median_by_few(void)
{
	begin_spec(3);
	add_key(load(FEW));
	spec.sorts[0] = (mgpu_group_sort) {.column = add_column(load(REAL), MGPU_REDUCE_NONE),.num_percentiles = 1,
	.percentiles = {{0.5, 1}}};
	spec.num_sorts = 1;
}

static void
values_by_few(void)
{
	median_by_few();
	spec.sorts[0].returns = MGPU_SORT_VALUES;
}

static void
median_of_all(void)
{
	median_by_few();
	spec.num_keys = 0;
}

static void
values_of_all(void)
{
	values_by_few();
	spec.num_keys = 0;
}

/* Rows in the order of the float. */
static void
rows_by_real(uint64_t limit, bool by_few)
{
	begin_spec(4);
	if (by_few)
		add_key(load(FEW));
	spec.orders[0].column = add_column(load(REAL), MGPU_REDUCE_NONE);
	spec.columns[add_column(load(INTEGER), MGPU_REDUCE_NONE)].is_returned = true;
	spec.num_orders = 1;
	spec.limit_rule = MGPU_LIMIT_ROWS;
	spec.limit = limit;
}

static void
top_ten(void)
{
	rows_by_real(10, false);
}

static void
top_three_by_few(void)
{
	rows_by_real(3, true);
}

static void
all_in_order(void)
{
	rows_by_real(UINT64_MAX, false);
}

static const struct
{
	const char *name;
	void		(*make) (void);
}			jobs[] = {
	{"find rows", find_rows},
	{"sum(v) where f < 0.1", filtered_sum},
	{"count, sum(v) by 1,000", sum_by_few},
	{"count, sum(v) by 100,000", sum_by_many},
	{"count by 1,000,000", count_by_most},
	{"sum(f * f) by 1,000", squares_by_few},
	{"sum(n) by 1,000", numeric_by_few},
	{"sum(v) by text, 200,000", sum_by_text},
	{"five of v, f by 100,000", five_by_many},
	{"median(f) by 1,000", median_by_few},
	{"array_agg(f order by f) by 1,000", values_by_few},
	{"median(f)", median_of_all},
	{"array_agg(f order by f)", values_of_all},
	{"order by f limit 10", top_ten},
	{"first 3 by f of 1,000", top_three_by_few},
	{"order by f", all_in_order},
};

/* ---- runs */

static double longest_ms;		/* of calls */

static void
note_call(double begin_ms)
{
	double		ms = mgpu_now_ms() - begin_ms;

	longest_ms = ms > longest_ms ? ms : longest_ms;
}

static void
fail(const char *what)
{
	fprintf(stderr, "table_bench: %s\n", what);
	exit(1);
}

static void
feed(const mgpu_executor *executor, mgpu_run *run, const table *from)
{
	mgpu_error	err;

	for (uint32_t next = 0; next < from->num_pages;)
	{
		void	   *slot;
		uint64_t	bytes;
		uint32_t	count = 0;
		double		begin_ms = mgpu_now_ms();
		mgpu_status status = executor->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &bytes, &err);

		note_call(begin_ms);
		if (status == MGPU_PENDING)
			continue;
		if (status != MGPU_OK)
			fail(err.message);
		for (; count < MGPU_BATCH_PAGES && next < from->num_pages; count++, next++)
			((mgpu_page_ref *) slot)[count] = (mgpu_page_ref) {.number = next,.num_items = from->num_items[next]};
		if (executor->input_commit(run, MGPU_CHANNEL_KEYS, count * sizeof(mgpu_page_ref), &err) != MGPU_OK)
			fail(err.message);
	}
	if (executor->submit(run, &err) != MGPU_OK)
		fail(err.message);
}

/* Of all threads of this process. */
static double
used_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec * 1e-6;
}

static double
run_once(const table *from, int num_threads, mgpu_group_result *result)
{
	const mgpu_executor *executor = &mgpu_cpu_table_executor;
	mgpu_job	job = {.op = MGPU_OP_GROUP};
	mgpu_binding binding = {.group = &spec,.pages = from->pages,.num_pages = from->num_pages};
	mgpu_exec_options options = {.device = -1,.num_threads = num_threads};
	char	   *places[MGPU_GROUP_OUTPUTS] = {NULL};
	bool		is_bound = false;
	double		start_ms = mgpu_now_ms();
	mgpu_error	err;
	mgpu_run   *run;
	mgpu_status status;

	if (executor->open(&job, &binding, &options, &run, &err) != MGPU_OK)
		fail(err.message);
	feed(executor, run, from);
	for (;;)
	{
		double		begin_ms = mgpu_now_ms();

		status = executor->poll(run, &err);
		note_call(begin_ms);
		if (status != MGPU_PENDING)
			break;
		if (is_bound || !executor->group_result(run, result))
			continue;
		for (uint32_t i = 0; i < MGPU_GROUP_OUTPUTS; i++)
			places[i] = malloc(mgpu_group_output_bytes(&spec, result, i) + 1);
		executor->bind_groups(run, places);
		is_bound = true;
	}
	if (status != MGPU_OK)
		fail(err.message);
	executor->release(run);
	for (uint32_t i = 0; i < MGPU_GROUP_OUTPUTS; i++)
		free(places[i]);
	return mgpu_now_ms() - start_ms;
}

static void
bench(const table *from, int rounds, int num_threads, const char *part)
{
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
	{
		mgpu_group_result result;
		double		least = 1e30;
		double		least_used = 1e30;

		if (strstr(jobs[i].name, part) == NULL)
			continue;
		jobs[i].make();
		longest_ms = 0;
		for (int round = 0; round < rounds; round++)
		{
			double		before_ms = used_ms();
			double		ms = run_once(from, num_threads, &result);
			double		used = used_ms() - before_ms;

			least = ms < least ? ms : least;
			least_used = used < least_used ? used : least_used;
		}
		printf("%-34s %d threads %7.1f ns a row, %7.1f of all threads, %.0f ms a call\n", jobs[i].name, num_threads,
			   least * 1e6 / (double) from->num_rows, least_used * 1e6 / (double) from->num_rows, longest_ms);
	}
}

int
main(int argc, char **argv)
{
	double		millions = argc > 1 ? atof(argv[1]) : 10;
	int			rounds = argc > 2 ? atoi(argv[2]) : 3;
	table		made = make_table((uint64_t) (millions * 1e6));

	printf("%llu rows, %.1f bytes each\n", (unsigned long long) made.num_rows,
		   (double) made.num_pages * MGPU_PAGE_BYTES / (double) made.num_rows);
	for (int threads = 1; threads <= 2; threads++)
	{
		if (argc <= 3)
			bench(&made, rounds, threads, "");
	}
	if (argc > 3)
		bench(&made, rounds, atoi(argv[3]), argc > 4 ? argv[4] : "");
	return 0;
}
