/*
 * kernel_test_engine.cu
 *		The CUDA engine through its table: several runs at once on one device, the
 *		number of copies under way, and device memory.
 *
 * A small host moves the runs on, one step of one of them at a time.  Copies go
 * through slots of one pinned block, which are spoiled as soon as they have landed.
 */
#include "kernel_test_op_jobs.cuh"
#include "kernel_test_sort_jobs.cuh"

#include <deque>
#include <memory>

#include "core/engine.h"

#define SLOT_BYTES 16384		/* a multiple of every width */
#define LANE_BYTES ((uint64_t) MGPU_MAX_COPIES * SLOT_BYTES)

static const mgpu_engine *const engine = &mgpu_cuda_engine;
static int	device = -1;

/* Going on after a failure would wait for copies that never land. */
static void
require(mgpu_status status, const mgpu_error &err, const char *call)
{
	CHECK(status == MGPU_OK, "%s: status %d, %s", call, status, err.message);
	REQUIRE_CUDA(status == MGPU_OK ? cudaSuccess : cudaErrorUnknown);
}

/* -------------------------------------------------------------------- runs */

struct array
{
	void	   *data;
	uint64_t	bytes;
	uint64_t	moved_bytes;
};

typedef enum run_stage
{
	STAGE_UPLOAD = 0,
	STAGE_KERNELS,
	STAGE_DOWNLOAD,
	STAGE_DONE
} run_stage;

struct engine_run
{
	mgpu_job	job;
	mgpu_engine_run *run;
	run_stage	stage;
	array		inputs[MGPU_NUM_INPUTS];
	array		outputs[MGPU_NUM_OUTPUTS];
	int			copies_under_way;
	mgpu_status status;
	mgpu_run_stats stats;
};

template <typename Item>
static array
all_of(std::vector<Item> &items)
{
	return {items.data(), items.size() * sizeof(Item), 0};
}

static array
output_of(const mgpu_job &job, uint32_t output, byte_vector &bytes)
{
	return {bytes.data(), job.outputs & output ? bytes.size() - CANARY_BYTES : 0, 0};
}

/* Outputs of both kinds of data. */
template <typename Data>
static engine_run
make_run(const mgpu_job &job, Data &data)
{
	engine_run	run = {};

	run.job = job;
	run.outputs[MGPU_OUTPUT_KEYS] = output_of(job, MGPU_OUT_KEYS, data.out_keys);
	run.outputs[MGPU_OUTPUT_INDICES] = output_of(job, MGPU_OUT_INDICES, data.out_indices);
	run.outputs[MGPU_OUTPUT_VALUES] = output_of(job, MGPU_OUT_VALUES, data.out_values);
	return run;
}

static engine_run
sort_run(const mgpu_job &job, run_data &data)
{
	engine_run	run = make_run(job, data);

	run.inputs[MGPU_CHANNEL_KEYS] = all_of(data.keys);
	run.inputs[MGPU_CHANNEL_VALUES] = all_of(data.values);
	run.inputs[MGPU_INPUT_SEGMENT_HEADS] = all_of(data.heads);
	return run;
}

static engine_run
op_run(const mgpu_job &job, op_data &data)
{
	engine_run	run = make_run(job, data);

	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
		run.inputs[channel] = all_of(data.inputs[channel]);
	run.inputs[MGPU_INPUT_POSITIONS] = all_of(data.positions);
	return run;
}

/* -------------------------------------------------------------------- host */

struct copy
{
	engine_run *run;
	void	   *target;			/* of a download, else NULL */
	uint64_t	bytes;
};

/* Copies of one direction. */
struct lane
{
	char	   *slots;
	uint64_t	num_sent;
	uint64_t	num_landed;
	std::deque<copy> under_way;
};

static lane lanes[2];

static char *
slot_of(const lane &copies, uint64_t number)
{
	return copies.slots + number % MGPU_MAX_COPIES * SLOT_BYTES;
}

static void
settle(mgpu_direction direction)
{
	lane	   &copies = lanes[direction];
	uint64_t	landed = 0;
	mgpu_error	err = {};

	require(engine->landed(device, direction, &landed, &err), err, "landed");
	CHECK(landed >= copies.num_landed && landed <= copies.num_sent, "%llu landed", (unsigned long long) landed);
	while (copies.num_landed < landed)
	{
		const copy &oldest = copies.under_way.front();
		char	   *slot = slot_of(copies, copies.num_landed++);

		if (oldest.target != nullptr)
			memcpy(oldest.target, slot, oldest.bytes);
		memset(slot, 0xEE, SLOT_BYTES);
		oldest.run->copies_under_way--;
		copies.under_way.pop_front();
	}
}

/* Send the next bytes of the first array that is not complete; false: all are. */
static bool
send_piece(engine_run &run, mgpu_direction direction, array *arrays, int num_arrays)
{
	lane	   &copies = lanes[direction];
	int			number = 0;
	mgpu_error	err = {};

	while (number < num_arrays && arrays[number].moved_bytes == arrays[number].bytes)
		number++;
	if (number == num_arrays)
		return false;
	if (copies.under_way.size() == MGPU_MAX_COPIES)
		return true;

	array	   &items = arrays[number];
	char	   *slot = slot_of(copies, copies.num_sent);
	char	   *data = (char *) items.data + items.moved_bytes;
	uint64_t	bytes = std::min(items.bytes - items.moved_bytes, 16 * (1 + random_bits() % (SLOT_BYTES / 16)));

	if (direction == MGPU_UPLOAD)
	{
		memcpy(slot, data, bytes);
		require(engine->upload(run.run, number, slot, bytes, &err), err, "upload");
	}
	else
		require(engine->download(run.run, (mgpu_output) number, items.moved_bytes, slot, bytes, &err), err, "download");
	items.moved_bytes += bytes;
	copies.under_way.push_back({&run, direction == MGPU_UPLOAD ? nullptr : data, bytes});
	copies.num_sent++;
	run.copies_under_way++;
	return true;
}

static void
end_run(engine_run &run)
{
	if (run.copies_under_way > 0)
		return;
	run.stats.num_threads = 7;
	engine->stats(run.run, &run.stats);
	CHECK(run.stats.num_threads == 7, "stats wrote %d threads", run.stats.num_threads);
	engine->release(run.run);
	run.stage = STAGE_DONE;
}

static void
step(engine_run &run)
{
	mgpu_error	err = {};

	if (run.stage == STAGE_UPLOAD && !send_piece(run, MGPU_UPLOAD, run.inputs, MGPU_NUM_INPUTS))
	{
		require(engine->launch(run.run, &err), err, "launch");
		run.stage = STAGE_KERNELS;
	}
	else if (run.stage == STAGE_KERNELS)
	{
		run.status = engine->poll(run.run, &err);
		if (run.status != MGPU_PENDING && run.status != MGPU_NOT_SORTED)
			require(run.status, err, "poll");
		run.stage = run.status == MGPU_PENDING ? STAGE_KERNELS : STAGE_DOWNLOAD;
	}
	else if (run.stage == STAGE_DOWNLOAD)
	{
		if (run.status != MGPU_OK || !send_piece(run, MGPU_DOWNLOAD, run.outputs, MGPU_NUM_OUTPUTS))
			end_run(run);
	}
}

static void
open_run(engine_run &run)
{
	mgpu_error	err = {};

	require(engine->open(device, &run.job, nullptr, &default_options, &run.run, &err), err, "open");
}

/* All runs to their end, side by side in random order. */
static void
drive(std::vector<engine_run> &runs)
{
	size_t		num_done = 0;

	for (engine_run &run : runs)
		open_run(run);
	while (num_done < runs.size())
	{
		step(runs[random_bits() % runs.size()]);
		if (random_bits() % 8 == 0)
		{
			settle(MGPU_UPLOAD);
			settle(MGPU_DOWNLOAD);
		}
		num_done = std::count_if(runs.begin(), runs.end(), [] (const engine_run &run) { return run.stage == STAGE_DONE; });
	}
}

/* ------------------------------------------------------------------- tests */

static void
start(void)
{
	void	   *block = aligned_alloc(4096, 2 * LANE_BYTES);
	mgpu_error	err = {};
	int			same = -1;

	CHECK(!engine->is_started() && !gpu->is_warm(), "started before the first use");
	require(engine->start(&device, &err), err, "start");
	require(engine->start(&same, &err), err, "start");
	CHECK(device >= 0 && same == device && engine->is_started(), "device %d after %d", same, device);
	require(engine->pin(block, 2 * LANE_BYTES, &err), err, "pin");
	for (int direction = MGPU_UPLOAD; direction <= MGPU_DOWNLOAD; direction++)
	{
		lane	   &copies = lanes[direction];

		copies.slots = (char *) block + direction * LANE_BYTES;
		require(engine->landed(device, (mgpu_direction) direction, &copies.num_landed, &err), err, "landed");
		copies.num_sent = copies.num_landed;
	}
}

static void
test_several_runs(void)
{
	mgpu_job	sorts[] = {
		make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 8, 50021),
		make_job(MGPU_KEY_UNSIGNED, 2, MGPU_OUT_KEYS, 0, 33333),
		make_job(MGPU_KEY_FLOAT, 8, MGPU_OUT_INDICES, 0, 70001),
		make_job(MGPU_KEY_BYTES, 16, MGPU_OUT_KEYS | MGPU_OUT_INDICES, 0, 20000),
		make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 60000),
		make_job(MGPU_KEY_SIGNED, 8, MGPU_OUT_KEYS, 0, 0)
	};
	const mgpu_job ops[] = {
		merge_job({MGPU_KEY_SIGNED, 4}, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, 30000, 20001, 0),
		merge_job({MGPU_KEY_FLOAT, 4}, MGPU_OUT_KEYS, 0, 40000, 10000, 0),
		bulk_job(MGPU_OP_REMOVE, 8, 50000, 1234),
		bulk_job(MGPU_OP_INSERT, 16, 20000, 999)
	};
	std::vector<std::unique_ptr<run_data>> sort_datas;
	std::vector<std::unique_ptr<op_data>> op_datas;
	std::vector<engine_run> runs;

	sorts[1].descending = 1;
	sorts[4].num_segments = 100;
	for (const mgpu_job &job : sorts)
	{
		sort_datas.emplace_back(new run_data(job));
		runs.push_back(sort_run(job, *sort_datas.back()));
	}
	for (const mgpu_job &job : ops)
	{
		op_datas.emplace_back(new op_data(job));
		runs.push_back(op_run(job, *op_datas.back()));
	}
	memset(op_datas[1]->inputs[MGPU_CHANNEL_KEYS].data() + 4 * 39999, 0, 4);	/* the last item of a, now 0 */
	drive(runs);
	for (size_t i = 0; i < sort_datas.size(); i++)
		check_results(sorts[i], *sort_datas[i], "sorts side by side");
	for (size_t i = 0; i < op_datas.size(); i++)
	{
		if (i != 1)
			check_op_results(ops[i], *op_datas[i], "operations side by side");
	}
	CHECK(runs[7].status == MGPU_NOT_SORTED && runs[7].stats.unsorted_input == 0 &&
		  runs[7].stats.unsorted_position == 39999, "status %d", runs[7].status);
	for (size_t i = 0; i < runs.size(); i++)
		CHECK(runs[i].job.num_items == 0 || (runs[i].stats.upload_ms > 0 && runs[i].stats.kernel_ms > 0 &&
			  (i == 7 || runs[i].stats.download_ms > 0)), "run %zu: no time passed", i);
	CHECK(runs[4].stats.num_tiles > 0, "no tile counted");
	CHECK(used_bytes_now(device) == 0, "runs left device memory behind");
}

/* One copy more than may be under way.  The run ends before it is launched. */
static void
test_most_copies(void)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 1000);
	lane	   &copies = lanes[MGPU_UPLOAD];
	engine_run	run = {};
	mgpu_error	err = {};

	run.job = job;
	open_run(run);
	for (int i = 0; i < MGPU_MAX_COPIES; i++)
	{
		require(engine->upload(run.run, MGPU_CHANNEL_KEYS, slot_of(copies, copies.num_sent), 4, &err), err, "upload");
		copies.under_way.push_back({&run, nullptr, 4});
		copies.num_sent++;
		run.copies_under_way++;
	}
	CHECK(engine->upload(run.run, MGPU_CHANNEL_KEYS, copies.slots, 4, &err) == MGPU_BAD_JOB, "%s", err.message);
	while (run.copies_under_way > 0)
		settle(MGPU_UPLOAD);
	engine->release(run.run);
	CHECK(used_bytes_now(device) == 0, "a run that was not launched left device memory behind");
}

static void
test_too_much_memory(void)
{
	mgpu_job	job = make_job(MGPU_KEY_BYTES, 16, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 16, MGPU_MAX_ITEMS);
	mgpu_exec_options limited = default_options;
	mgpu_engine_run *run;
	mgpu_error	err = {};

	CHECK(engine->open(MGPU_MAX_DEVICES, &job, nullptr, &default_options, &run, &err) == MGPU_BAD_JOB && run == nullptr, "%s",
		  err.message);
	limited.device_memory_limit = 1;
	CHECK(engine->open(device, &job, nullptr, &limited, &run, &err) == MGPU_DEVICE_MEMORY && run == nullptr, "%s", err.message);
	if (clean)
		return;
	CHECK(engine->open(device, &job, nullptr, &default_options, &run, &err) == MGPU_DEVICE_MEMORY && run == nullptr, "%s",
		  err.message);
	CHECK(strstr(err.message, "bytes of device memory are needed and ") != nullptr, "%s", err.message);
	CHECK(used_bytes_now(device) == 0, "a refused run left device memory behind");
}

void
test_engine(void)
{
	start();
	test_several_runs();
	test_most_copies();
	test_too_much_memory();
	for (int i = 0; i < (quick ? 1 : 10); i++)
		test_several_runs();
}
