/*
 * kernel_group_bench.cu
 *		Groups of a table's pages: how fast pages are read, and what grouping their rows takes.
 *
 *	kernel_group_bench [--pages N] [--rounds N] [--csv FILE]
 *
 * Pages are full of rows of (int4 key, int4 value, int4, float8) in pinned memory; where a case needs them, a text of 11 bytes and a
 * numeric follow.  Each case goes through the engine as a run of its own.  "read" is the time from the first batch of pages to the end of the last, with the bandwidth of
 * pages by it; "group" is the time of all kernels behind them.  Figures are medians.
 */
#include "kernel_bench_device.cuh"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "core/engine.h"
#include "unit/unit_group.h"

#define BATCH_PAGES MGPU_BATCH_PAGES
#define NUM_SLOTS 8
#define ROW_BYTES 48			/* 24 of header, 24 of data */
#define WIDE_ROW_BYTES 72		/* with a text of 11 bytes and a numeric, both with short headers */

static const mgpu_engine *const engine = &mgpu_cuda_engine;
static int	device = -1;
static uint32_t num_pages = 65536;
static int	rounds = 7;
static FILE *csv = nullptr;
static char *pages;
static mgpu_page_ref *slots;

static void
require(mgpu_status status, const mgpu_error &err)
{
	if (status == MGPU_OK)
		return;
	fprintf(stderr, "status %d: %s\n", status, err.message);
	exit(1);
}

/* ------------------------------------------------------------------- pages */

static uint32_t
rows_of_page(uint32_t row_bytes)
{
	return (MGPU_PAGE_BYTES - 24) / (row_bytes + 4);
}

/* A text of as many values as there are keys, and a numeric of scale 2, from 0 to 9999.99. */
static void
write_wide_parts(char *data, uint32_t key, uint64_t random)
{
	int16_t		digits[] = {(int16_t) (random >> 20 & 0x1FFF), (int16_t) ((random >> 40) % 100 * 100)};
	uint16_t	header = 0x8000 | 2 << 7;
	char		text[16];

	snprintf(text, sizeof(text), "k%010u", key);
	data[0] = 12 << 1 | 1;
	memcpy(data + 1, text, 11);
	data[12] = 7 << 1 | 1;
	memcpy(data + 13, &header, sizeof(header));
	memcpy(data + 15, digits, sizeof(digits));
}

static void
write_row(char *row, uint64_t number, uint32_t num_keys, uint32_t row_bytes)
{
	uint64_t	random = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
	int32_t		values[3];
	double		real;

	random ^= random >> 31;
	random *= UINT64_C(0x7FB5D329728EA185);
	values[0] = (int32_t) ((random >> 32) % num_keys);
	values[1] = (int32_t) (random & 0xFFFFFF);
	values[2] = (int32_t) number;
	real = (double) (random >> 40) / 7;
	row[18] = row_bytes == WIDE_ROW_BYTES ? 6 : 4;
	row[20] = 0;
	row[22] = 24;
	memcpy(row + 24, values, sizeof(values));
	memcpy(row + 40, &real, sizeof(real));
	if (row_bytes == WIDE_ROW_BYTES)
		write_wide_parts(row + 48, (uint32_t) values[0], random);
}

static void
write_pages(uint32_t num_keys, uint32_t row_bytes)
{
	uint32_t	num_items = rows_of_page(row_bytes);

	memset(pages, 0, (uint64_t) num_pages * MGPU_PAGE_BYTES);
	for (uint64_t i = 0; i < (uint64_t) num_pages * num_items; i++)
	{
		char	   *page = pages + i / num_items * MGPU_PAGE_BYTES;
		uint32_t	item = (uint32_t) (i % num_items);
		uint32_t	offset = MGPU_PAGE_BYTES - (item + 1) * row_bytes;
		uint32_t	pointer = offset | 1 << 15 | row_bytes << 17;

		memcpy(page + 24 + 4 * item, &pointer, sizeof(pointer));
		write_row(page + offset, i, num_keys, row_bytes);
	}
}

/* Columns 0 to 3 as rows have them; the first is the key.  num_computed: columns behind them. */
static void
make_case(group_case *job, uint32_t num_computed)
{
	memset(job, 0, sizeof(*job));
	job->num_computed = num_computed;
	job->spec.num_attributes = 4;
	job->spec.num_columns = 4 + num_computed;
	for (int i = 0; i < 4; i++)
	{
		uint8_t		width = i == 3 ? 8 : 4;

		job->spec.attributes[i] = {width, width, (int8_t) i};
		job->spec.columns[i].kind = i == 3 ? MGPU_KEY_FLOAT : MGPU_KEY_SIGNED;
		job->spec.columns[i].width = width;
		job->spec.columns[i].is_shown = i == 3;
		job->missing_is_null[i] = true;
	}
	for (uint32_t i = 4; i < job->spec.num_columns; i++)
	{
		job->spec.columns[i].kind = MGPU_KEY_SIGNED;
		job->spec.columns[i].width = 8;
	}
	job->spec.num_keys = 1;
}

/* The program of a case that is made, and where inputs are. */
static void
finish_case(group_case *job)
{
	group_make_program(job);
	group_plan_offsets(&job->spec);
}

/* The key is a text, of two words. */
static void
make_text_case(group_case *job)
{
	make_case(job, 2);
	job->num_texts = 1;
	job->num_words[0] = 2;
	job->spec.num_attributes = 5;
	job->spec.attributes[4] = {-1, 4, 4};
	for (uint32_t i = 0; i < 2; i++)
	{
		job->computed[i] = {GROUP_WORD, {0, i}};
		job->spec.keys[i] = 4 + i;
	}
	job->spec.num_keys = 2;
	job->spec.columns[1].reduction = MGPU_REDUCE_INTEGER;
	finish_case(job);
}

/* A sum of CASE WHEN column 1 < column 2 THEN column 1 ELSE column 2 END. */
static void
make_choice_case(group_case *job)
{
	make_case(job, 1);
	job->computed[0] = {GROUP_CHOICE, {1, 2, 1, 2}};
	job->spec.columns[4].width = 4;
	job->spec.columns[4].reduction = MGPU_REDUCE_INTEGER;
	finish_case(job);
}

/* A sum of a numeric times an integer.  Column 4 is a word of the text so far; then it is this product. */
static void
make_numeric_case(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;
	uint32_t	input = 5;

	make_text_case(job);
	spec->num_keys = 1;
	spec->keys[0] = 0;
	spec->columns[1].reduction = MGPU_REDUCE_NONE;
	spec->num_attributes = 6;
	spec->num_inputs = 6;
	spec->attributes[5] = {-1, 4, (int8_t) input};
	spec->inputs[input] = {-1, -1, -1};
	spec->columns[4].reg = group_add_op(spec, MGPU_RUN_LOAD_NUMERIC, 2, input, MGPU_LANE_INTEGER);
	spec->columns[5].reg = group_add_op(spec, MGPU_RUN_MULTIPLY_INTEGER, 8, 0, MGPU_LANE_INTEGER);
	spec->ops[spec->num_ops - 1].from[0] = (uint16_t) spec->columns[4].reg;
	spec->ops[spec->num_ops - 1].from[1] = (uint16_t) spec->columns[1].reg;
	spec->columns[5].reduction = MGPU_REDUCE_INTEGER;
}

/* -------------------------------------------------------------------- runs */

/* Returns the milliseconds that it took. */
static double
send_pages(mgpu_engine_run *run, uint32_t row_bytes)
{
	auto		began = std::chrono::steady_clock::now();
	uint64_t	before;
	uint64_t	landed;
	uint64_t	sent = 0;
	mgpu_error	err = {};

	require(engine->landed(device, MGPU_UPLOAD, &before, &err), err);
	for (uint32_t page = 0; page < num_pages; page += BATCH_PAGES, sent++)
	{
		uint32_t	num_refs = std::min((uint32_t) BATCH_PAGES, num_pages - page);
		mgpu_page_ref *slot = slots + sent % NUM_SLOTS * BATCH_PAGES;

		do
			require(engine->landed(device, MGPU_UPLOAD, &landed, &err), err);
		while (before + sent - landed >= NUM_SLOTS);
		for (uint32_t i = 0; i < num_refs; i++)
			slot[i] = {page + i, (uint16_t) rows_of_page(row_bytes), 0, 0, 0};
		require(engine->upload(run, MGPU_CHANNEL_KEYS, slot, num_refs * sizeof(mgpu_page_ref), &err), err);
	}
	do
		require(engine->landed(device, MGPU_UPLOAD, &landed, &err), err);
	while (landed < before + sent);
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

/* The milliseconds of reading, and of the kernels behind it. */
static void
run_once(const mgpu_group_spec &spec, uint32_t row_bytes, mgpu_group_result *result, double *read_ms, double *group_ms)
{
	mgpu_group_source source = {&spec, pages, num_pages, nullptr, 0};
	mgpu_exec_options options = {-1, 0, 1, 0};
	mgpu_job	job = {};
	mgpu_run_stats stats = {};
	mgpu_engine_run *run;
	mgpu_error	err = {};
	mgpu_status status;

	job.op = MGPU_OP_GROUP;
	job.num_items = (uint64_t) num_pages * rows_of_page(row_bytes);
	require(engine->open(device, &job, &source, &options, &run, &err), err);
	*read_ms = send_pages(run, row_bytes);
	require(engine->launch(run, &err), err);
	do
		status = engine->poll(run, &err);
	while (status == MGPU_PENDING);
	require(status, err);
	engine->group_result(run, result);
	engine->stats(run, &stats);
	engine->release(run);
	*group_ms = stats.kernel_ms;
}

static double
median(std::vector<double> &times)
{
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

static void
bench(const char *what, uint32_t num_keys, const group_case &job)
{
	std::vector<double> read((size_t) rounds);
	std::vector<double> group((size_t) rounds);
	mgpu_group_result result = {};
	uint32_t	row_bytes = job.num_texts > 0 ? WIDE_ROW_BYTES : ROW_BYTES;
	double		read_ms;
	double		group_ms;
	char		name[64];

	snprintf(name, sizeof(name), "%s, %u keys", what, num_keys);
	write_pages(num_keys, row_bytes);
	for (int i = 0; i < rounds; i++)
		run_once(job.spec, row_bytes, &result, &read[(size_t) i], &group[(size_t) i]);
	read_ms = median(read);
	group_ms = median(group);
	printf("%-28s %10llu rows %9llu groups  read %8.3f ms %6.1f GB/s  group %8.3f ms\n", name,
		   (unsigned long long) result.num_rows, (unsigned long long) result.num_groups, read_ms,
		   (double) num_pages * MGPU_PAGE_BYTES / read_ms / 1e6, group_ms);
	fflush(stdout);
	if (csv != nullptr)
		fprintf(csv, "\"%s\",%u,%llu,%llu,%.4f,%.2f,%.4f\n", name, num_pages, (unsigned long long) result.num_rows,
				(unsigned long long) result.num_groups, read_ms,
				(double) num_pages * MGPU_PAGE_BYTES / read_ms / 1e6, group_ms);
}

static void
bench_all()
{
	static group_case sorts, integers, reals, filtered, texts, choices, numerics;

	make_case(&sorts, 0);
	sorts.spec.num_sorts = 1;
	sorts.spec.sorts[0].column = 1;
	sorts.spec.sorts[0].returns = MGPU_SORT_VALUES;
	finish_case(&sorts);
	make_case(&integers, 0);
	integers.spec.columns[1].reduction = MGPU_REDUCE_INTEGER;
	finish_case(&integers);
	make_case(&reals, 0);
	reals.spec.columns[3].reduction = MGPU_REDUCE_SPREAD;
	finish_case(&reals);
	make_case(&filtered, 0);
	filtered.spec.columns[1].reduction = MGPU_REDUCE_INTEGER;
	filtered.num_filters = 1;
	filtered.filters[0] = {1, MGPU_IS_LESS, 1 << 20, false};
	finish_case(&filtered);
	make_text_case(&texts);
	make_choice_case(&choices);
	make_numeric_case(&numerics);
	for (uint32_t num_keys : {1u, 100u, 100000u, 1u << 30})
	{
		bench("sort", num_keys, sorts);
		bench("integers", num_keys, integers);
		/* floats of one group are left to the CPU */
		if (num_keys > 1)
			bench("spread", num_keys, reals);
		bench("1 of 16 rows", num_keys, filtered);
		bench("case", num_keys, choices);
		bench("text of 2 words", num_keys, texts);
		bench("numeric product", num_keys, numerics);
	}
}

static char *
pinned(uint64_t bytes)
{
	char	   *memory = static_cast<char *>(aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
	mgpu_error	err = {};

	memset(memory, 0, bytes);
	require(engine->pin(memory, (bytes + 4095) / 4096 * 4096, &err), err);
	return memory;
}

int
main(int argc, char **argv)
{
	mgpu_error	err = {};

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--pages") == 0 && i + 1 < argc)
			num_pages = (uint32_t) atoi(argv[++i]);
		else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			rounds = atoi(argv[++i]);
		else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc)
			csv = fopen(argv[++i], "w");
		else
		{
			fprintf(stderr, "usage: kernel_group_bench [--pages N] [--rounds N] [--csv FILE]\n");
			return 2;
		}
	}
	require(engine->start(&device, &err), err);
	pages = pinned((uint64_t) num_pages * MGPU_PAGE_BYTES);
	slots = reinterpret_cast<mgpu_page_ref *>(pinned(NUM_SLOTS * BATCH_PAGES * sizeof(mgpu_page_ref)));
	if (csv != nullptr)
		fprintf(csv, "case,pages,rows,groups,read_ms,read_gb_s,group_ms\n");
	bench_all();
	if (csv != nullptr)
		fclose(csv);
	return 0;
}
