/*
 * kernel_group_bench.cu
 *		Groups of a table's pages: how fast pages are read, and what grouping their rows takes.
 *
 *	kernel_group_bench [--pages N] [--rounds N] [--csv FILE]
 *
 * Pages are full of rows of (int4 key, int4 value, int4, float8) in pinned memory.  Each case goes through the engine
 * as a run of its own.  "read" is the time from the first batch of pages to the end of the last, with the bandwidth of
 * pages by it; "group" is the time of all kernels behind them.  Figures are medians.
 */
#include "kernel_bench_device.cuh"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "core/engine.h"

#define BATCH_PAGES MGPU_BATCH_PAGES
#define NUM_SLOTS 8
#define ROW_BYTES 48			/* 24 of header, 24 of data */

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
rows_of_page()
{
	return (MGPU_PAGE_BYTES - 24) / (ROW_BYTES + 4);
}

static void
write_row(char *row, uint64_t number, uint32_t num_keys)
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
	row[18] = 4;
	row[20] = 0;
	row[22] = 24;
	memcpy(row + 24, values, sizeof(values));
	memcpy(row + 40, &real, sizeof(real));
}

static void
write_pages(uint32_t num_keys)
{
	memset(pages, 0, (uint64_t) num_pages * MGPU_PAGE_BYTES);
	for (uint64_t i = 0; i < (uint64_t) num_pages * rows_of_page(); i++)
	{
		char	   *page = pages + i / rows_of_page() * MGPU_PAGE_BYTES;
		uint32_t	item = (uint32_t) (i % rows_of_page());
		uint32_t	offset = MGPU_PAGE_BYTES - (item + 1) * ROW_BYTES;
		uint32_t	pointer = offset | 1 << 15 | ROW_BYTES << 17;

		memcpy(page + 24 + 4 * item, &pointer, sizeof(pointer));
		write_row(page + offset, i, num_keys);
	}
}

static mgpu_group_spec
make_spec()
{
	static const uint32_t offsets[] = {0, 4, 8, 16};
	mgpu_group_spec spec = {};

	spec.num_attributes = spec.num_columns = spec.num_fixed = 4;
	spec.fixed_end = 24;
	for (int i = 0; i < 4; i++)
	{
		uint8_t		width = i == 3 ? 8 : 4;

		spec.attributes[i] = {width, width, (int8_t) i};
		spec.columns[i].kind = i == 3 ? MGPU_KEY_FLOAT : MGPU_KEY_SIGNED;
		spec.columns[i].width = width;
		spec.columns[i].offset = (int32_t) offsets[i];
		spec.columns[i].is_shown = i == 3;
	}
	spec.num_keys = 1;
	return spec;
}

/* -------------------------------------------------------------------- runs */

/* Returns the milliseconds that it took. */
static double
send_pages(mgpu_engine_run *run)
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
			slot[i] = {page + i, (uint16_t) rows_of_page(), 0};
		require(engine->upload(run, MGPU_CHANNEL_KEYS, slot, num_refs * sizeof(mgpu_page_ref), &err), err);
	}
	do
		require(engine->landed(device, MGPU_UPLOAD, &landed, &err), err);
	while (landed < before + sent);
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

/* The milliseconds of reading, and of the kernels behind it. */
static void
run_once(const mgpu_group_spec &spec, mgpu_group_result *result, double *read_ms, double *group_ms)
{
	mgpu_group_source source = {&spec, pages, num_pages};
	mgpu_exec_options options = {-1, 0, 1, 0};
	mgpu_job	job = {};
	mgpu_run_stats stats = {};
	mgpu_engine_run *run;
	mgpu_error	err = {};
	mgpu_status status;

	job.op = MGPU_OP_GROUP;
	job.num_items = (uint64_t) num_pages * rows_of_page();
	require(engine->open(device, &job, &source, &options, &run, &err), err);
	*read_ms = send_pages(run);
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
bench(const char *name, uint32_t num_keys, const mgpu_group_spec &spec)
{
	std::vector<double> read((size_t) rounds);
	std::vector<double> group((size_t) rounds);
	mgpu_group_result result = {};
	double		read_ms;
	double		group_ms;

	write_pages(num_keys);
	for (int i = 0; i < rounds; i++)
		run_once(spec, &result, &read[(size_t) i], &group[(size_t) i]);
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
	mgpu_group_spec sorts = make_spec();
	mgpu_group_spec integers = make_spec();
	mgpu_group_spec reals = make_spec();
	mgpu_group_spec filtered = make_spec();

	sorts.num_sorts = 1;
	sorts.sorts[0].column = 1;
	sorts.sorts[0].returns = MGPU_SORT_VALUES;
	integers.columns[1].reduction = MGPU_REDUCE_INTEGER;
	reals.columns[3].reduction = MGPU_REDUCE_SPREAD;
	filtered.columns[1].reduction = MGPU_REDUCE_INTEGER;
	filtered.num_filters = 1;
	filtered.filters[0].column = 1;
	filtered.filters[0].outcomes = MGPU_FILTER_LESS;
	filtered.filters[0].code = mgpu_column_code(1 << 20, MGPU_KEY_SIGNED, 4);
	for (uint32_t num_keys : {1u, 100u, 100000u, 1u << 30})
	{
		char		name[64];

		snprintf(name, sizeof(name), "sort, %u keys", num_keys);
		bench(name, num_keys, sorts);
		snprintf(name, sizeof(name), "integers, %u keys", num_keys);
		bench(name, num_keys, integers);
		snprintf(name, sizeof(name), "spread, %u keys", num_keys);
		/* floats of one group are left to the CPU */
		if (num_keys > 1)
			bench(name, num_keys, reals);
		snprintf(name, sizeof(name), "1 of 16 rows, %u keys", num_keys);
		bench(name, num_keys, filtered);
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
