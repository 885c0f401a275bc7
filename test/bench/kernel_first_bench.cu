/*
 * kernel_first_bench.cu
 *		What a process pays when it uses the device for the first time.
 *
 *	kernel_first_bench [--items N] [--rounds N] [--pause MS]
 *
 * Every figure comes from processes of their own, forked before any of CUDA is
 * touched, and is a median over them.  "steps" goes through what a first sort
 * needs, one call at a time, and runs each step twice: the second time is what
 * the step costs by itself.  "job" is the executor's whole sort of int4 keys
 * through slots, as a stored array comes in, three times in one process, with
 * the milliseconds of each of its calls; beside it the time that the device's
 * context alone takes.
 *
 * A driver without persistence mode lets go of a device once its last process has
 * ended, and the next one waits until it is up again, some 100 ms.  So processes
 * follow one another at once, and then a second time with a pause before each
 * (--pause, 500 ms unless told otherwise), which is what a lone session meets.
 * Exits with 77 where there is no GPU.
 */
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/cpu_threads.h"
#include "core/executor.h"
#include "engine/process.h"
#include "merge/ops.h"
#include "segmented/segmented.h"
#include "sort/sorter.h"

#define MAX_LINES 64
#define MAX_TIMES 4
#define NO_GPU 77				/* exit status */

static uint64_t num_items = 10000000;
static int	rounds = 5;
static int	pause_ms = 0;		/* before each process */

/* One line of a child's report, sent to its parent as it is. */
struct line
{
	char		name[56];
	double		times[MAX_TIMES];
};

static std::vector<line> lines;

static void
require(bool holds, const char *what, const char *message)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", what, message);
	_exit(1);
}

static void
require_cuda(cudaError_t code, const char *what)
{
	require(code == cudaSuccess, what, cudaGetErrorString(code));
}

/* Add milliseconds to the time with this number of a line. */
static void
record(const char *name, int number, double milliseconds)
{
	for (line &known : lines)
	{
		if (strcmp(known.name, name) == 0)
		{
			known.times[number] += milliseconds;
			return;
		}
	}
	lines.push_back({});
	snprintf(lines.back().name, sizeof(lines.back().name), "%s", name);
	lines.back().times[number] = milliseconds;
}

/* ------------------------------------------------------------------- steps */

/* The step, until its work is done, once and again. */
static void
step(const char *name, const std::function<void ()> &work, cudaStream_t stream)
{
	for (int i = 0; i < 2; i++)
	{
		double		begin_ms = mgpu_now_ms();

		work();
		if (stream != nullptr)
			require_cuda(cudaStreamSynchronize(stream), name);
		record(name, i, mgpu_now_ms() - begin_ms);
	}
}

static void
sort_step(const char *name, mgpu_algorithm algorithm, mgpu_sort_shape shape, char *arena, mgpu_cuda_device *device)
{
	const mgpu_device_sorter *sorter = mgpu_find_sorter(algorithm, shape);
	uint64_t	region = mgpu_padded_items(num_items) * 16;
	mgpu_sort_request request = {};

	for (int side = 0; side < 2; side++)
	{
		request.keys[side] = arena + side * region;
		if (shape == MGPU_SHAPE_U32_INDEX)
			request.indices[side] = reinterpret_cast<uint32_t *>(arena + side * region) + mgpu_padded_items(num_items);
	}
	request.key_bits = 32;
	request.num_items = num_items;
	request.temp = arena + 2 * region;
	request.temp_bytes = sorter->temp_bytes(num_items);
	request.stream = device->compute_stream;
	step(name, [&] { require_cuda(sorter->sort(&request), name); }, device->compute_stream);
}

static void
locality_step(char *arena, mgpu_cuda_device *device)
{
	uint64_t	region = mgpu_padded_items(num_items) * 16;
	mgpu_segmented_request request = {};

	request.shape = MGPU_SHAPE_U32;
	request.regions[0] = arena;
	request.regions[1] = arena + region;
	request.num_items = num_items;
	request.temp = arena + 2 * region;
	request.temp_bytes = mgpu_segmented_temp_bytes(MGPU_SHAPE_U32, num_items);
	request.stats = reinterpret_cast<mgpu_segmented_stats *>(arena + 2 * region + (request.temp_bytes + 255) / 256 * 256);
	request.stream = device->compute_stream;
	step("locality sort, int4", [&] { require_cuda(mgpu_launch_segmented_sort(&request), "locality sort"); },
		 device->compute_stream);
}

static void
merge_step(char *arena, mgpu_cuda_device *device)
{
	uint64_t	region = mgpu_padded_items(num_items) * 16;
	mgpu_merge_request request = {};

	request.codec = {MGPU_KEY_SIGNED, 4, 0};
	request.a_keys = arena;
	request.b_keys = arena + num_items / 2 * 4;
	request.out_keys = arena + region;
	request.num_a_items = request.num_b_items = num_items / 2;
	request.temp = arena + 2 * region;
	request.stream = device->compute_stream;
	step("merge, int4", [&] { require_cuda(mgpu_launch_merge(&request), "merge"); }, device->compute_stream);
}

static void
run_steps()
{
	uint64_t	region = mgpu_padded_items(num_items) * 16;
	uint64_t	bytes = 2 * region + num_items * 4 + (UINT64_C(4) << 20);
	mgpu_codec	codec = {MGPU_KEY_SIGNED, 4, 0};
	mgpu_cuda_device *device;
	mgpu_error	err;
	void	   *arena;
	void	   *pinned;
	int			ordinal = 0;
	int			count;
	double		upload_ms = 0;
	std::vector<char> result(UINT64_C(4) << 20);

	step("count devices (driver starts)", [&] { require_cuda(cudaGetDeviceCount(&count), "count"); }, nullptr);
	step("cudaSetDevice (context)", [&] { require_cuda(cudaSetDevice(0), "context"); }, nullptr);
	step("mgpu_check_image (one module)", [&] { require_cuda(mgpu_check_image(), "image"); }, nullptr);
	step("mgpu_cuda_start (pool, streams)", [&] {
		require(mgpu_cuda_start(&ordinal, &err) == MGPU_OK, "start", err.message);
	}, nullptr);
	require(mgpu_cuda_enter(ordinal, &device, &err) == MGPU_OK, "enter", err.message);
	step("cudaGetDeviceProperties", [&] {
		cudaDeviceProp properties;

		require_cuda(cudaGetDeviceProperties(&properties, 0), "properties");
	}, nullptr);
	step("pinning 8 MB", [&] {
		pinned = aligned_alloc(4096, 8 << 20);
		require(mgpu_cuda_pin(pinned, 8 << 20, &err) == MGPU_OK, "pin", err.message);
	}, nullptr);
	step("device memory taken and given back", [&] {
		require(mgpu_cuda_take_memory(device, num_items * 8 + (UINT64_C(8) << 20), &arena, &err) == MGPU_OK, "memory",
				err.message);
		require_cuda(mgpu_cuda_give_memory(device, arena), "memory");
	}, nullptr);
	require_cuda(cudaMalloc(&arena, bytes), "arena of all steps");
	step("memset", [&] { require_cuda(cudaMemsetAsync(arena, 7, bytes, device->compute_stream), "memset"); },
		 device->compute_stream);
	step("upload of 1 MB", [&] {
		require_cuda(mgpu_copies_send(&device->copies[MGPU_UPLOAD], arena, pinned, 1 << 20, &upload_ms), "upload");
	}, device->copies[MGPU_UPLOAD].stream);
	step("encode, int4", [&] {
		require_cuda(mgpu_launch_encode(&codec, arena, arena, num_items, device->copies[MGPU_UPLOAD].stream), "encode");
	}, device->copies[MGPU_UPLOAD].stream);
	sort_step("radix sort, int4", MGPU_ALGORITHM_RADIX, MGPU_SHAPE_U32, static_cast<char *>(arena), device);
	step("decode, int4", [&] {
		require_cuda(mgpu_launch_decode(&codec, arena, arena, num_items, device->compute_stream), "decode");
	}, device->compute_stream);
	step("download of 4 MB by the driver", [&] {
		require_cuda(cudaMemcpyAsync(result.data(), arena, result.size(), cudaMemcpyDeviceToHost,
									 device->compute_stream), "download");
	}, device->compute_stream);
	sort_step("radix sort, int4 and index", MGPU_ALGORITHM_RADIX, MGPU_SHAPE_U32_INDEX, static_cast<char *>(arena), device);
	sort_step("merge sort, int4", MGPU_ALGORITHM_MERGE, MGPU_SHAPE_U32, static_cast<char *>(arena), device);
	locality_step(static_cast<char *>(arena), device);
	merge_step(static_cast<char *>(arena), device);
}

/* --------------------------------------------------------------------- job */

static void
run_job(int number, const std::vector<uint32_t> &keys, std::vector<uint32_t> &sorted)
{
	const mgpu_executor *gpu = &mgpu_cuda_executor;
	mgpu_exec_options options = {-1, 0, mgpu_default_cpu_threads(), 0, MGPU_FAULT_NONE};
	mgpu_binding binding = {};
	mgpu_job	job = {};
	mgpu_run_stats stats;
	mgpu_error	err;
	mgpu_run   *run;
	mgpu_status status;
	double		begin_ms = mgpu_now_ms();
	double		last_ms = begin_ms;
	uint64_t	sent = 0;
	auto		timed = [&] (const char *name) {
		double		now_ms = mgpu_now_ms();

		record(name, number, now_ms - last_ms);
		last_ms = now_ms;
	};

	job.op = MGPU_OP_SORT;
	job.key_kind = MGPU_KEY_SIGNED;
	job.key_width = 4;
	job.outputs = MGPU_OUT_KEYS;
	job.num_items = num_items;
	binding.out_keys = sorted.data();
	status = gpu->open(&job, &binding, &options, &run, &err);
	require(status == MGPU_OK, "open", err.message);
	timed("open");
	while (sent < num_items * 4)
	{
		void	   *slot;
		uint64_t	bytes;

		while ((status = gpu->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &bytes, &err)) == MGPU_PENDING)
			;
		require(status == MGPU_OK, "slot", err.message);
		timed("input slots");
		memcpy(slot, reinterpret_cast<const char *>(keys.data()) + sent, bytes);
		timed("filling them");
		require(gpu->input_commit(run, MGPU_CHANNEL_KEYS, bytes, &err) == MGPU_OK, "commit", err.message);
		timed("input commits");
		sent += bytes;
	}
	require(gpu->submit(run, &err) == MGPU_OK, "submit", err.message);
	while ((status = gpu->poll(run, &err)) == MGPU_PENDING)
		;
	require(status == MGPU_OK, "poll", err.message);
	timed("polls");
	gpu->stats(run, &stats);
	record("  kernels, by the device's clock", number, stats.kernel_ms);
	record("  download", number, stats.download_ms);
	gpu->release(run);
	timed("release");
	record("whole sort", number, mgpu_now_ms() - begin_ms);
	require(std::is_sorted(sorted.begin(), sorted.end(), [] (uint32_t a, uint32_t b) { return (int32_t) a < (int32_t) b; }),
			"sort", "the result is not sorted");
}

static void
run_jobs()
{
	std::mt19937_64 random_bits(20250121);
	std::vector<uint32_t> keys(num_items);
	std::vector<uint32_t> sorted(num_items);

	for (uint32_t &key : keys)
		key = (uint32_t) random_bits();
	for (int number = 0; number < 3; number++)
		run_job(number, keys, sorted);
}

static void
run_context()
{
	double		begin_ms = mgpu_now_ms();
	int			count;
	cudaError_t code = cudaGetDeviceCount(&count);

	if (code != cudaSuccess)
	{
		printf("no usable GPU: %s\n", cudaGetErrorString(code));
		fflush(stdout);
		_exit(NO_GPU);
	}
	require_cuda(cudaSetDevice(0), "context");
	record("context alone", 0, mgpu_now_ms() - begin_ms);
}

/* --------------------------------------------------------------- processes */

/* What one process has to say. */
static std::vector<line>
in_a_process(void (*work) ())
{
	std::vector<line> report(MAX_LINES);
	size_t		bytes = 0;
	ssize_t		got;
	int			ends[2];
	pid_t		child;
	int			status;

	fflush(stdout);
	usleep((useconds_t) pause_ms * 1000);
	require(pipe(ends) == 0, "pipe", "failed");
	child = fork();
	require(child >= 0, "fork", "failed");
	if (child == 0)
	{
		work();
		require(lines.size() <= MAX_LINES, "report", "too long");
		require(write(ends[1], lines.data(), lines.size() * sizeof(line)) == (ssize_t) (lines.size() * sizeof(line)),
				"write", "failed");
		exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], reinterpret_cast<char *>(report.data()) + bytes, MAX_LINES * sizeof(line) - bytes)) > 0)
		bytes += (size_t) got;
	close(ends[0]);
	require(waitpid(child, &status, 0) == child && WIFEXITED(status), "a process", "died");
	if (WEXITSTATUS(status) != 0)
		exit(WEXITSTATUS(status));
	report.resize(bytes / sizeof(line));
	return report;
}

static void
print_medians(const char *title, int num_times, void (*work) ())
{
	std::vector<std::vector<line>> reports;

	for (int round = 0; round < rounds; round++)
		reports.push_back(in_a_process(work));
	printf("%s\n", title);
	for (size_t i = 0; i < reports[0].size(); i++)
	{
		printf("  %-44s", reports[0][i].name);
		for (int number = 0; number < num_times; number++)
		{
			std::vector<double> times;

			for (const std::vector<line> &report : reports)
				times.push_back(report[i].times[number]);
			std::sort(times.begin(), times.end());
			printf(" %9.3f", times[times.size() / 2]);
		}
		printf("\n");
	}
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int			wanted_pause_ms = 500;

	for (int i = 1; i < argc; i++)
	{
		if (i + 1 < argc && strcmp(argv[i], "--items") == 0)
			num_items = std::max<uint64_t>(1 << 20, strtoull(argv[++i], nullptr, 10));
		else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0)
			rounds = std::max(1, atoi(argv[++i]));
		else if (i + 1 < argc && strcmp(argv[i], "--pause") == 0)
			wanted_pause_ms = std::min(10000, std::max(0, atoi(argv[++i])));
		else
		{
			fprintf(stderr, "usage: kernel_first_bench [--items N] [--rounds N] [--pause MS]\n");
			return 2;
		}
	}
	print_medians("a context (ms)", 1, run_context);
	print_medians("a sort of int4 keys by the executor: first, second, third (ms)", 3, run_jobs);
	print_medians("steps: first, again (ms)", 2, run_steps);
	pause_ms = wanted_pause_ms;
	print_medians("a context, after a pause (ms)", 1, run_context);
	print_medians("a sort of int4 keys, after a pause: first, second, third (ms)", 3, run_jobs);
	return 0;
}
