/*
 * core_group.c
 *		Jobs of MGPU_OP_GROUP: specs, rows of pages, damaged pages, and groups of played devices.
 *
 * Rows are compared with what was written (unit_group.h), groups as unit_group_check.h does it.
 */
#include "core/group_pairs.h"
#include "played/played_engine.h"
#include "unit.h"
#include "unit_group_check.h"

#define MAX_PAGES 64

static char *pages;
static char *slots;

/* ------------------------------------------------------------------- specs */

static mgpu_group_spec
small_spec(void)
{
	mgpu_group_spec spec = {
		.num_attributes = 2,.num_inputs = 1,.num_tests = 1,.num_columns = 1,.num_keys = 1,.num_sorts = 1,.num_fixed = 2,
		.fixed_end = 16,.num_ops = 2,.num_registers = 3,.num_constants = 1,.table_bytes = 8
	};

	spec.attributes[0] = (mgpu_group_attribute) {4, 4, -1};
	spec.attributes[1] = (mgpu_group_attribute) {8, 8, 0};
	spec.inputs[0] = (mgpu_group_input) {8, 8, 0};
	spec.lanes[0] = spec.lanes[1] = MGPU_LANE_REAL;
	spec.ops[0] = (mgpu_program_op) {.code = MGPU_RUN_LOAD_REAL,.width = 8,.to = 1};
	spec.ops[1] = (mgpu_program_op) {.code = MGPU_RUN_COMPARE_REAL,.to = 2,.from = {1, 0},.number = MGPU_IS_LESS};
	spec.tests[0] = (mgpu_group_test) {2, 2};
	spec.columns[0] = (mgpu_group_column) {.kind = MGPU_KEY_FLOAT,.width = 8,.reg = 1,.reduction = MGPU_REDUCE_REAL};
	return spec;
}

static bool
is_valid(const mgpu_group_spec *spec)
{
	mgpu_error	err = {MGPU_OK, ""};
	mgpu_status status = mgpu_group_validate(spec, &err);

	UNIT_CHECK(status == MGPU_OK || (status == MGPU_BAD_JOB && err.message[0] != '\0'));
	return status == MGPU_OK;
}

#define CHECK_BROKEN(change) \
	do { \
		mgpu_group_spec spec = small_spec(); \
		UNIT_CHECK(is_valid(&spec)); \
		change; \
		UNIT_CHECK(!is_valid(&spec)); \
	} while (0)

static void
test_specs(void)
{
	CHECK_BROKEN(spec.num_attributes = MGPU_GROUP_MAX_ATTRIBUTES + 1);
	CHECK_BROKEN(spec.num_columns = MGPU_GROUP_MAX_COLUMNS + 1);
	CHECK_BROKEN(spec.num_inputs = MGPU_GROUP_MAX_INPUTS + 1);
	CHECK_BROKEN(spec.tid_input = 1);
	CHECK_BROKEN(spec.tid_input = 2);
	CHECK_BROKEN(spec.inputs[1].length = 4; spec.inputs[1].offset = -1; spec.tid_input = spec.num_inputs = 2);
	CHECK_BROKEN(spec.inputs[1].length = 8; spec.inputs[1].offset = 0; spec.tid_input = spec.num_inputs = 2);
	CHECK_BROKEN(spec.num_tests = MGPU_GROUP_MAX_TESTS + 1);
	CHECK_BROKEN(spec.num_keys = MGPU_GROUP_MAX_KEYS + 1);
	CHECK_BROKEN(spec.num_sorts = MGPU_GROUP_MAX_SORTS + 1);
	CHECK_BROKEN(spec.num_fixed = 3);
	CHECK_BROKEN(spec.fixed_end = MGPU_PAGE_BYTES + 1);
	CHECK_BROKEN(spec.attributes[0].length = 0);
	CHECK_BROKEN(spec.attributes[0].length = -3);
	CHECK_BROKEN(spec.attributes[0].align = 3);
	CHECK_BROKEN(spec.attributes[0].input = 1);
	CHECK_BROKEN(spec.attributes[0].input = 0);
	CHECK_BROKEN(spec.inputs[0].offset = -2);
	CHECK_BROKEN(spec.inputs[0].offset = 9);
	CHECK_BROKEN(spec.inputs[0].length = 4);
	CHECK_BROKEN(spec.inputs[0].missing = -2);
	CHECK_BROKEN(spec.inputs[0].missing = 1);
	CHECK_BROKEN(spec.table_bytes = MGPU_GROUP_TABLE_BYTES + 1);
	CHECK_BROKEN(spec.columns[0].width = 2);
	CHECK_BROKEN(spec.columns[0].kind = MGPU_KEY_BYTES);
	CHECK_BROKEN(spec.columns[0].reg = 2);
	CHECK_BROKEN(spec.columns[0].reg = 3);
	CHECK_BROKEN(spec.columns[0].reduction = MGPU_REDUCE_PAIRS + 1);
	CHECK_BROKEN(spec.columns[0].kind = MGPU_KEY_UNSIGNED; spec.columns[0].width = 1; spec.columns[0].reduction = MGPU_REDUCE_BITS);
	CHECK_BROKEN(spec.columns[0].reduction = MGPU_REDUCE_EXTREMES);
	CHECK_BROKEN(spec.columns[0].reduction = MGPU_REDUCE_PAIRS);
	CHECK_BROKEN(spec.columns[0].reduction = MGPU_REDUCE_PAIRS; spec.columns[0].num_cells = 2);
	CHECK_BROKEN(spec.columns[0].num_cells = 1);
	CHECK_BROKEN(spec.columns[0].is_collated = 1);	/* it has no extremes */
	CHECK_BROKEN(spec.columns[0].is_named = 1);	/* it is no text */
	CHECK_BROKEN(spec.columns[0].num_cells = 2);
	CHECK_BROKEN(spec.columns[0].num_cells = MGPU_GROUP_MAX_CELLS + 1);
	CHECK_BROKEN(spec.columns[0].kind = MGPU_KEY_SIGNED);
	CHECK_BROKEN(spec.keys[0] = 1);
	CHECK_BROKEN(spec.sorts[0].column = 1);
	CHECK_BROKEN(spec.sorts[0].descending = 2);
	CHECK_BROKEN(spec.num_orders = 1);
	CHECK_BROKEN(spec.limit_rule = MGPU_LIMIT_ROWS; spec.limit = 1);	/* there are sorts and reductions */
}

static void
test_programs(void)
{
	CHECK_BROKEN(spec.num_ops = MGPU_GROUP_MAX_OPS + 1);
	CHECK_BROKEN(spec.tests[0].end_op = 3);
	CHECK_BROKEN(spec.num_tests = 2; spec.tests[1] = spec.tests[0]; spec.tests[1].end_op--);
	CHECK_BROKEN(spec.num_registers = MGPU_GROUP_MAX_REGISTERS + 1);
	CHECK_BROKEN(spec.num_constants = MGPU_GROUP_MAX_CONSTANTS + 1);
	CHECK_BROKEN(spec.num_constants = 4);
	CHECK_BROKEN(spec.num_constants = 2);	/* an operation writes to one */
	CHECK_BROKEN(spec.ops[0].code = MGPU_PROGRAM_NUM_CODES);
	CHECK_BROKEN(spec.ops[0].to = 3);
	CHECK_BROKEN(spec.ops[0].number = 1);
	CHECK_BROKEN(spec.ops[0].number = -1);
	CHECK_BROKEN(spec.ops[0].width = 4);
	CHECK_BROKEN(spec.ops[0].code = MGPU_RUN_LOAD_VARLENA);
	CHECK_BROKEN(spec.ops[1].from[1] = 3);
	CHECK_BROKEN(spec.tests[0].reg = 3);
}

static void
test_limits(void)
{
	mgpu_group_spec spec = small_spec();

	spec.num_sorts = 0;
	spec.columns[0].reduction = MGPU_REDUCE_NONE;
	spec.limit_rule = MGPU_LIMIT_ROWS;
	UNIT_CHECK(!is_valid(&spec));
	spec.limit = 1;
	spec.num_orders = 1;
	UNIT_CHECK(is_valid(&spec));
	spec.orders[0].column = 1;
	UNIT_CHECK(!is_valid(&spec));
	spec.orders[0].column = 0;
	spec.num_orders = MGPU_GROUP_MAX_ORDERS + 1;
	UNIT_CHECK(!is_valid(&spec));
	spec.num_orders = 1;
	spec.limit_rule = MGPU_LIMIT_DENSE_RANKS + 1;
	UNIT_CHECK(!is_valid(&spec));
	spec.limit_rule = MGPU_LIMIT_DENSE_RANKS;
	spec.limit = MGPU_GROUP_MAX_DENSE_RANKS;
	UNIT_CHECK(is_valid(&spec));
	spec.limit++;
	UNIT_CHECK(!is_valid(&spec));
}

/* -------------------------------------------------------------------- rows */

/* Whether a row has in its columns what was written. */
static bool
is_as_written(const group_case *job, const mgpu_row_program *program, mgpu_row_frame *frame, const group_row *expected)
{
	bool		same = true;

	mgpu_run_row_ops(program, 0, job->spec.num_ops, frame);
	for (uint32_t c = 0; c < job->spec.num_columns; c++)
	{
		bool		is_null = (expected->nulls >> c & 1) != 0;
		uint64_t	code;
		mgpu_cell_state state = mgpu_row_cell(&job->spec, program, frame, c, &code);

		same &= (state == MGPU_CELL_FAULT) == ((expected->faults >> c & 1) != 0) && (state == MGPU_CELL_NULL) == is_null;
		same &= is_null || state == MGPU_CELL_FAULT || code == group_code_of(&job->spec.columns[c], expected->bits[c]);
	}
	return same;
}

/* Every row of a case is read as it was written. */
static void
check_rows(group_case *job)
{
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program = mgpu_group_program(&job->spec, (const char *) job->build, constants);
	uint64_t	num_rows = 0;
	uint32_t	num_wrong = 0;
	char	   *page = malloc(MGPU_PAGE_BYTES);	/* so that the address sanitizer knows its end */
	mgpu_row_frame frame;

	for (uint32_t i = 0; i < job->spec.num_constants; i++)
		constants[i] = mgpu_group_constant_of(&job->spec, i);
	for (uint32_t i = 0; i < job->num_pages; i++)
	{
		memcpy(page, job->pages + (uint64_t) i * MGPU_PAGE_BYTES, MGPU_PAGE_BYTES);
		for (uint32_t item = 0; item < job->num_items[i]; item++)
		{
			mgpu_row_state state = mgpu_find_row_inputs(&job->spec, page, mgpu_tid_of((mgpu_page_ref) {.source = (uint8_t) (i % 3),.block = i}, item), &frame);

			num_wrong += state == MGPU_ROW_DAMAGED;
			if (state == MGPU_ROW_READ)
				num_wrong += !is_as_written(job, &program, &frame, &job->rows[num_rows++]);
		}
	}
	free(page);
	UNIT_CHECK(num_wrong == 0);
	UNIT_CHECK(num_rows == job->num_rows);
}

/* Nothing happens but wrong rows. */
static void
read_damaged(group_case *job)
{
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program = mgpu_group_program(&job->spec, (const char *) job->build, constants);
	char	   *page = malloc(MGPU_PAGE_BYTES);
	unsigned long num_states[3] = {0};
	mgpu_row_frame frame;
	mgpu_row_pairs pairs;

	for (uint32_t i = 0; i < job->spec.num_constants; i++)
		constants[i] = mgpu_group_constant_of(&job->spec, i);
	for (uint32_t i = 0; i < job->num_pages; i++)
	{
		memcpy(page, job->pages + (uint64_t) i * MGPU_PAGE_BYTES, MGPU_PAGE_BYTES);
		for (uint32_t item = 0; item < job->num_items[i]; item++)
		{
			mgpu_row_state state = mgpu_find_row_inputs(&job->spec, page, mgpu_tid_of((mgpu_page_ref) {.source = (uint8_t) (i % 3),.block = i}, item), &frame);

			num_states[state]++;
			if (state == MGPU_ROW_READ)
			{
				mgpu_begin_row(&pairs, NULL);
				(void) mgpu_next_row(&job->spec, &program, &pairs, &frame);
				mgpu_run_row_ops(&program, 0, job->spec.num_ops, &frame);
			}
		}
	}
	free(page);
	UNIT_CHECK(num_states[0] + num_states[1] + num_states[2] > 0 || job->num_rows == 0);
}

/* Whether a row of the page meets the tests. */
static mgpu_row_fate
fate_of(const mgpu_group_spec *spec, const mgpu_row_program *program, mgpu_row_frame *frame)
{
	mgpu_row_pairs pairs;
	bool		is_kept;

	mgpu_begin_row(&pairs, NULL);
	is_kept = mgpu_next_row(spec, program, &pairs, frame);
	UNIT_CHECK(!is_kept || !mgpu_next_row(spec, program, &pairs, frame));
	return pairs.is_fault ? MGPU_ROW_FAULT : is_kept ? MGPU_ROW_KEPT : MGPU_ROW_DROPPED;
}

/* Operations behind a test run for no row that fails it: what they would write stays as it was, and what is a fault for them does not count. */
static void
test_skipping(void)
{
	mgpu_group_spec spec = {.num_tests = 2,.num_ops = 3,.num_registers = 5,.num_constants = 2};
	mgpu_row_register constants[2] = {{.integers = {1}}, {.integers = {0}}};
	mgpu_row_program program = mgpu_group_program(&spec, NULL, constants);
	mgpu_row_frame frame;

	/* 1 < 0 or 0 < 1; 1 % 0, a fault; 1 + 1, for columns */
	spec.ops[0] = (mgpu_program_op) {.code = MGPU_RUN_COMPARE_INTEGER,.to = 2,.from = {0, 1},.number = MGPU_IS_LESS};
	spec.ops[1] = (mgpu_program_op) {.code = MGPU_RUN_REMAINDER_INTEGER,.width = 8,.to = 3,.from = {0, 1}};
	spec.ops[2] = (mgpu_program_op) {.code = MGPU_RUN_ADD_INTEGER,.width = 8,.to = 4,.from = {0, 0}};
	spec.tests[0] = (mgpu_group_test) {2, 1};
	spec.tests[1] = (mgpu_group_test) {3, 2};
	memset(&frame, 0, sizeof(frame));
	frame.registers[1].states[0] = 77;
	UNIT_CHECK(fate_of(&spec, &program, &frame) == MGPU_ROW_DROPPED);
	UNIT_CHECK(frame.registers[0].integers[0] == 0 && frame.registers[1].states[0] == 77);
	spec.ops[0].number = MGPU_IS_GREATER;
	UNIT_CHECK(fate_of(&spec, &program, &frame) == MGPU_ROW_FAULT);
	UNIT_CHECK(frame.registers[1].states[0] == MGPU_IS_FAULT && frame.registers[2].integers[0] == 0);
	spec.tests[1].reg = 2;
	UNIT_CHECK(fate_of(&spec, &program, &frame) == MGPU_ROW_KEPT);
	UNIT_CHECK(frame.registers[2].integers[0] == 0);
	mgpu_run_row_columns(&spec, &program, &frame);
	UNIT_CHECK(frame.registers[2].integers[0] == 2);
}

static void
test_rows(void)
{
	for (uint64_t seed = 1; seed <= 300; seed++)
	{
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 4);
		check_rows(&job);
		for (int i = 0; i < 3; i++)
		{
			group_damage_pages(&job);
			read_damaged(&job);
		}
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
}

/* Specs whose bytes were changed, if they are still valid. */
static void
test_spoiled(void)
{
	unsigned long num_read = 0;

	for (uint64_t seed = 1; seed <= 20000; seed++)
	{
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 1);
		group_spoil_spec(&job, 1 + seed % 3);
		if (is_valid(&job.spec))
		{
			read_damaged(&job);
			num_read++;
		}
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_read > 2000);
}

/* ------------------------------------------------------------------ groups */

static void
start(void)
{
	int			device = 0;
	mgpu_error	err;

	mgpu_played_reset();
	UNIT_CHECK(mgpu_played_engine.start(&device, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(pages, MAX_PAGES * MGPU_PAGE_BYTES, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(slots, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES, &err) == MGPU_OK);
}

static group_driver
make_driver(uint32_t most_refs)
{
	group_driver driver = {.engine = &mgpu_played_engine,.slots = slots,.most_refs = most_refs,.spoils = true};

	return driver;
}

static void
test_groups(void)
{
	unsigned long num_done = 0;
	unsigned long num_faults = 0;

	for (uint64_t seed = 1; seed <= 400; seed++)
	{
		group_driver driver = make_driver(1 + seed % 5);
		group_outcome outcome;
		group_case	job;

		group_random_case(&job, seed ^ unit_random_state, pages, 4);
		group_drive_case(&driver, &job, &outcome);
		UNIT_CONTEXT("seed %llu, %.100s", (unsigned long long) seed, outcome.err.message);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
		UNIT_CHECK((strstr(outcome.err.message, "beyond what programs compute") != NULL) == has_fault(&job));
		UNIT_CHECK(mgpu_played_used_bytes(0) == 0);
		if (outcome.status == MGPU_OK)
			check_answer(&job, &outcome);
		num_done += outcome.status == MGPU_OK;
		num_faults += has_fault(&job);
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_done > 200);
	UNIT_CHECK(num_faults > 10);
}

static void
test_damaged_groups(void)
{
	unsigned long num_refused = 0;

	for (uint64_t seed = 1; seed <= 200; seed++)
	{
		group_driver driver = make_driver(3);
		group_outcome outcome;
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 6);
		group_damage_pages(&job);
		group_drive_case(&driver, &job, &outcome);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
		num_refused += outcome.status == MGPU_UNSUPPORTED;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_refused > 50);
}

/* Pages that go to the device are read there, when nothing is left of them elsewhere. */
static void
test_kept_pages(void)
{
	char	   *kept = NULL;
	mgpu_error	err;
	unsigned long num_done = 0;

	UNIT_CHECK(mgpu_played_engine.keep(0, MAX_PAGES * MGPU_PAGE_BYTES, &kept, &err) == MGPU_OK);
	for (uint64_t seed = 1; seed <= 100; seed++)
	{
		group_driver driver = make_driver(1 + seed % 5);
		group_outcome outcome;
		group_case	job;

		driver.kept = kept;
		driver.num_kept = MAX_PAGES;
		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 4);
		group_drive_case(&driver, &job, &outcome);
		driver.is_kept = true;
		num_done += outcome.status == MGPU_OK;
		if (outcome.status == MGPU_OK)
		{
			group_free_outcome(&outcome);
			group_drive_case(&driver, &job, &outcome);
			UNIT_CHECK(outcome.status == MGPU_OK);
			check_answer(&job, &outcome);
		}
		driver.num_kept = 0;
		group_free_outcome(&outcome);
		group_drive_case(&driver, &job, &outcome);
		UNIT_CHECK(outcome.status != MGPU_OK || job.num_pages == 0);
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_done > 50);
}

/* What ends a run before there are groups. */
static void
test_refusals(void)
{
	group_driver driver = make_driver(2);
	group_outcome outcome;
	group_case	job;
	static char elsewhere[3 * MGPU_PAGE_BYTES];

	group_random_case(&job, unit_random(), pages, 4);
	while (job.num_rows == 0)
	{
		group_free_case(&job);
		group_random_case(&job, unit_random(), pages, 4);
	}
	driver.options.inject_fault = MGPU_FAULT_HOST_MEMORY;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_HOST_MEMORY);
	driver.options.inject_fault = MGPU_FAULT_DEVICE_MEMORY;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_DEVICE_MEMORY);
	driver.options.inject_fault = 0;
	driver.options.device_memory_limit = 1;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_DEVICE_MEMORY);
	driver.options.device_memory_limit = 0;
	UNIT_CHECK(mgpu_played_used_bytes(0) == 0);
	job.pages = elsewhere;
	job.num_pages = job.num_pages < 2 ? job.num_pages : 2;
	job.spec.num_columns = MGPU_GROUP_MAX_COLUMNS + 1;
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_BAD_JOB);
	driver.options.inject_fault = MGPU_FAULT_DEVICE_STICKY;
	group_free_case(&job);
	group_random_case(&job, 5, pages, 4);
	group_drive_case(&driver, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_DEVICE_FAILED);
	group_free_case(&job);
}

int
main(void)
{
	pages = aligned_alloc(4096, MAX_PAGES * MGPU_PAGE_BYTES);
	slots = aligned_alloc(4096, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES);
	test_specs();
	test_programs();
	test_limits();
	test_skipping();
	test_rows();
	test_spoiled();
	start();
	test_groups();
	test_damaged_groups();
	test_kept_pages();
	start();
	test_refusals();
	mgpu_played_reset();
	free(pages);
	free(slots);
	return unit_report();
}
