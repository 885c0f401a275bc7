/*
 * core_table.c
 *		Table jobs by CPU threads: random cases of unit_group.h in batches of a few pages, by one thread and several.
 *
 * Answers are checked as unit_group_check.h does it, and are the bytes that a played device gives for the same case.  Thresholds
 * are small, so that a few pages have large groups, many pieces and several tasks.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cpu_tuning.h"
#include "core/executor.h"
#include "core/group_decode.h"
#include "core/load_bits.h"
#include "played/played_engine.h"
#include "unit.h"
#include "unit_group_check.h"
#include "unit_joins.h"

#define MAX_PAGES 64

static char *pages;
static char *slots;

/* ------------------------------------------------------------------- running */

/* How a case is run. */
typedef struct table_run
{
	int			num_threads;
	uint32_t	most_refs;		/* of a batch */
	bool		in_pieces;
	int			fault;
	uint64_t	most_bytes;
	int			file;			/* for rows beyond that, or so much memory; 0: none */
	uint64_t	memory_before_file;
	uint64_t	most_file_bytes;
	uint64_t	part_bytes;		/* for values of a part; 0: any */
	int			cancel_after;	/* so many calls; 0: never */
} table_run;

typedef struct table_drive
{
	const table_run *how;
	group_case *job;
	mgpu_run   *run;
	group_outcome *outcome;
	int			num_calls;
	uint32_t	next_page;
	uint32_t	next_item;		/* of it, where rows are fed */
} table_drive;

#define TABLE (&mgpu_cpu_table_executor)

/* Whether this call is the one before which the run is cancelled, or comes later. */
static void
count_call(table_drive *drive)
{
	if (++drive->num_calls == drive->how->cancel_after)
		TABLE->cancel(drive->run);
}

static uint64_t
write_batch(table_drive *drive, char *slot, uint64_t bytes)
{
	group_case *job = drive->job;
	uint32_t	num_refs = 1 + group_below(job, drive->how->most_refs);
	uint32_t	most_copies = (uint32_t) ((bytes - MGPU_PAGE_COPIES_OFFSET) / MGPU_PAGE_BYTES);
	uint32_t	num_copies = 0;
	mgpu_page_ref *refs = (mgpu_page_ref *) slot;

	if (num_refs > job->num_pages - drive->next_page)
		num_refs = job->num_pages - drive->next_page;
	for (uint32_t i = 0; i < num_refs; i++, drive->next_page++)
	{
		refs[i].number = drive->next_page;
		refs[i].num_items = job->num_items[drive->next_page];
		refs[i].kept = 0;
		refs[i].block = drive->next_page;
		refs[i].source = (uint8_t) (drive->next_page % 3);
		refs[i].is_copy = num_copies < most_copies && group_chance(job, 3);
		if (!refs[i].is_copy)
			continue;
		memcpy(slot + MGPU_PAGE_COPIES_OFFSET + num_copies * MGPU_PAGE_BYTES,
			   job->pages + (uint64_t) drive->next_page * MGPU_PAGE_BYTES, MGPU_PAGE_BYTES);
		refs[i].number = num_copies++;
	}
	return num_refs * sizeof(mgpu_page_ref);
}

/* Where the next row's inputs are, of the rows that pages have.  false: there are no more. */
static bool
next_row(table_drive *drive, const char **inputs)
{
	const group_case *job = drive->job;

	for (; drive->next_page < job->num_pages; drive->next_page++, drive->next_item = 0)
	{
		while (drive->next_item < job->num_items[drive->next_page])
		{
			const char *page = job->pages + (uint64_t) drive->next_page * MGPU_PAGE_BYTES;

			memset(inputs, 0, MGPU_GROUP_MAX_INPUTS * sizeof(char *));
			if (mgpu_find_inputs(&job->spec, page, drive->next_item++, inputs) == MGPU_ROW_READ)
				return true;
		}
	}
	return false;
}

static uint64_t
value_bytes(const mgpu_group_input *input, const char *value)
{
	if (input->length > 0)
		return (uint64_t) input->length;
	return (value[0] & 1) != 0 ? (uint8_t) value[0] >> 1 : mgpu_load_bits(value, 4) >> 2;
}

#define ROWS_AT_A_TIME 40

/* The same rows in a batch of their own: their values are copied. */
static uint64_t
write_rows(table_drive *drive, char *slot, uint64_t bytes)
{
	const mgpu_group_spec *spec = &drive->job->spec;
	const char *rows[ROWS_AT_A_TIME][MGPU_GROUP_MAX_INPUTS];
	uint32_t	most_rows = 1 + group_below(drive->job, ROWS_AT_A_TIME);
	mgpu_row_batch *batch = (mgpu_row_batch *) slot;
	uint32_t   *places = (uint32_t *) (batch + 1);
	uint64_t	used;

	*batch = (mgpu_row_batch) {.num_inputs = spec->num_inputs};
	while (batch->num_rows < most_rows && next_row(drive, rows[batch->num_rows]))
		batch->num_rows++;
	used = (sizeof(*batch) + (uint64_t) batch->num_rows * spec->num_inputs * sizeof(uint32_t) + 7) / 8 * 8;
	for (uint32_t i = 0; i < batch->num_rows * spec->num_inputs; i++)
	{
		uint32_t	input = i / batch->num_rows;
		const char *value = rows[i % batch->num_rows][input];

		places[i] = value == NULL ? 0 : (uint32_t) used;
		if (value == NULL)
			continue;
		UNIT_CHECK(used + value_bytes(&spec->inputs[input], value) <= bytes);
		memcpy(slot + used, value, value_bytes(&spec->inputs[input], value));
		used += (value_bytes(&spec->inputs[input], value) + 7) / 8 * 8;
	}
	return batch->num_rows == 0 ? 0 : used;
}

static mgpu_status
feed(table_drive *drive)
{
	mgpu_error *err = &drive->outcome->err;

	while (drive->next_page < drive->job->num_pages)
	{
		void	   *slot;
		uint64_t	bytes;
		mgpu_status status = TABLE->input_slot(drive->run, MGPU_CHANNEL_KEYS, &slot, &bytes, err);

		count_call(drive);
		if (status == MGPU_PENDING)
			continue;
		if (status == MGPU_OK)
			status = TABLE->input_commit(drive->run, MGPU_CHANNEL_KEYS,
										 drive->job->spec.takes_rows ? write_rows(drive, slot, bytes) : write_batch(drive, slot, bytes), err);
		if (status != MGPU_OK)
			return status;
		count_call(drive);
	}
	return TABLE->submit(drive->run, err);
}

static void
bind(table_drive *drive)
{
	group_outcome *outcome = drive->outcome;
	char	   *places[MGPU_GROUP_OUTPUTS];

	for (uint32_t i = 0; i < MGPU_GROUP_OUTPUTS; i++)
	{
		places[i] = calloc(mgpu_group_output_bytes(&drive->job->spec, &outcome->result, i) + 8, 1);
		if (places[i] == NULL)
			_exit(MGPU_HOST_MEMORY);	/* see run_limited */
	}
	outcome->records = (uint64_t *) places[0];
	memcpy(outcome->sorted, places + 1, sizeof(outcome->sorted));
	TABLE->bind_groups(drive->run, drive->how->in_pieces ? NULL : places);
}

/* Poll to the end, taking pieces.  taken: bytes of each output so far. */
static mgpu_status
finish(table_drive *drive, uint64_t *taken)
{
	group_outcome *outcome = drive->outcome;
	bool		is_bound = false;

	for (;;)
	{
		mgpu_group_piece piece;
		mgpu_status status = TABLE->poll(drive->run, &outcome->err);

		count_call(drive);
		if (status != MGPU_PENDING)
			return status;
		if (!is_bound && TABLE->group_result(drive->run, &outcome->result))
		{
			bind(drive);
			is_bound = true;
		}
		if (!TABLE->group_piece(drive->run, &piece))
			continue;
		UNIT_CHECK(drive->how->in_pieces);
		memcpy((piece.output == 0 ? (char *) outcome->records : outcome->sorted[piece.output - 1]) + taken[piece.output],
			   piece.data, piece.num_bytes);
		taken[piece.output] += piece.num_bytes;
		TABLE->piece_taken(drive->run);
	}
}

static void
run_table(const table_run *how, group_case *job, group_outcome *outcome)
{
	mgpu_job	table_job = {.op = MGPU_OP_GROUP};
	mgpu_binding binding = {.group = &job->spec,.builds = (const char *) job->build,.pages = job->pages,.num_pages = job->num_pages,
	.has_file = how->file > 0,.file = how->file,.memory_before_file = how->memory_before_file,.file_limit = how->most_file_bytes};
	mgpu_exec_options options = {.device = -1,.num_threads = how->num_threads,.inject_fault = how->fault,
	.host_memory_limit = how->most_bytes};
	table_drive drive = {.how = how,.job = job,.outcome = outcome};
	uint64_t	taken[MGPU_GROUP_OUTPUTS] = {0};

	memset(outcome, 0, sizeof(*outcome));
	mgpu_cpu_tunables.table_part_bytes = how->part_bytes > 0 ? how->part_bytes : UINT64_MAX;
	outcome->status = TABLE->open(&table_job, &binding, &options, &drive.run, &outcome->err);
	if (outcome->status != MGPU_OK)
		return;
	mgpu_group_plan_record(&job->spec, &outcome->record);
	outcome->status = feed(&drive);
	if (outcome->status == MGPU_OK)
		outcome->status = finish(&drive, taken);
	for (uint32_t i = 0; outcome->status == MGPU_OK && how->in_pieces && i < MGPU_GROUP_OUTPUTS; i++)
		UNIT_CHECK(taken[i] == mgpu_group_output_bytes(&job->spec, &outcome->result, i));
	if (outcome->status == MGPU_OK)
		TABLE->stats(drive.run, &outcome->stats);
	TABLE->release(drive.run);
}

static table_run
random_run(uint64_t seed)
{
	static const int threads[] = {1, 2, 4, 9};
	static const uint64_t part_bytes[] = {0, 2200, 8000, 0, 30000};
	table_run	how = {.num_threads = threads[seed / 2 % 4],.most_refs = seed % 4 == 0 ? 40 : 1 + (uint32_t) (seed / 3 % 5),.in_pieces = seed / 7 % 2 != 0,
	.part_bytes = part_bytes[seed % 5]};

	return how;
}

/* --------------------------------------------- the same as a played device's */

/* Groups in the order of their keys, with the places of their values. */
typedef struct placed_group
{
	const uint64_t *record;
	uint64_t	begins[MGPU_GROUP_MAX_SORTS];
} placed_group;

static uint32_t num_compared;	/* words */

static int
compare_groups(const void *a, const void *b)
{
	const uint64_t *x = ((const placed_group *) a)->record;
	const uint64_t *y = ((const placed_group *) b)->record;

	for (uint32_t i = 1; i < num_compared; i++)
	{
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

static placed_group *
place_groups(const mgpu_group_spec *spec, const group_outcome *outcome)
{
	placed_group *groups = calloc(outcome->result.num_groups + 1, sizeof(*groups));
	uint64_t	begins[MGPU_GROUP_MAX_SORTS] = {0};

	for (uint64_t i = 0; i < outcome->result.num_groups; i++)
	{
		groups[i].record = outcome->records + i * outcome->record.num_words;
		memcpy(groups[i].begins, begins, sizeof(begins));
		for (uint32_t sort = 0; sort < spec->num_sorts; sort++)
			begins[sort] += groups[i].record[outcome->record.sorts[sort]];
	}
	num_compared = 2 + spec->num_keys;
	qsort(groups, outcome->result.num_groups, sizeof(*groups), compare_groups);
	return groups;
}

static void
compare_records(const mgpu_group_spec *spec, const group_outcome *a, const group_outcome *b)
{
	placed_group *of_a = place_groups(spec, a);
	placed_group *of_b = place_groups(spec, b);
	unsigned long num_wrong = 0;

	for (uint64_t i = 0; i < a->result.num_groups; i++)
	{
		num_wrong += memcmp(of_a[i].record, of_b[i].record, a->record.num_words * sizeof(uint64_t)) != 0;
		for (uint32_t sort = 0; sort < spec->num_sorts; sort++)
		{
			uint64_t	width = spec->columns[spec->sorts[sort].column].width;
			uint64_t	count = of_a[i].record[a->record.sorts[sort]];

			if ((spec->sorts[sort].returns & MGPU_SORT_VALUES) != 0)
				num_wrong += memcmp(a->sorted[sort] + of_a[i].begins[sort] * width, b->sorted[sort] + of_b[i].begins[sort] * width,
									count * width) != 0;
		}
	}
	UNIT_CHECK(num_wrong == 0);
	free(of_a);
	free(of_b);
}

/* The played device counts values that do not come back. */
static void
forget_unsorted(const mgpu_group_spec *spec, mgpu_group_result *result)
{
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_SORTS; i++)
	{
		if (i >= spec->num_sorts || (spec->sorts[i].returns & MGPU_SORT_VALUES) == 0)
			result->num_sorted[i] = 0;
	}
}

/* Threads take the first page's table for all of a batch. */
static void
join_sources(mgpu_group_result *result)
{
	for (uint32_t i = 1; i < MGPU_GROUP_MAX_SOURCES; i++)
	{
		result->read_of_source[0] += result->read_of_source[i];
		result->rows_of_source[0] += result->rows_of_source[i];
		result->read_of_source[i] = result->rows_of_source[i] = 0;
	}
}

static void
compare_outcomes(const mgpu_group_spec *spec, group_outcome *a, group_outcome *b)
{
	forget_unsorted(spec, &a->result);
	forget_unsorted(spec, &b->result);
	join_sources(&a->result);
	join_sources(&b->result);
	UNIT_CHECK(memcmp(&a->result, &b->result, sizeof(a->result)) == 0);
	if (memcmp(&a->result, &b->result, sizeof(a->result)) != 0)
		return;
	if (spec->limit_rule == MGPU_LIMIT_NONE)
	{
		compare_records(spec, a, b);
		return;
	}
	UNIT_CHECK(memcmp(a->records, b->records, mgpu_group_record_bytes(spec, &a->result)) == 0);
	for (uint32_t i = 0; i < spec->num_columns; i++)
		UNIT_CHECK(memcmp(a->sorted[i], b->sorted[i], mgpu_group_value_bytes(spec, &a->result, i)) == 0);
}

static void
start_played(void)
{
	int			device = 0;
	mgpu_error	err;

	mgpu_played_reset();
	UNIT_CHECK(mgpu_played_engine.start(&device, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(pages, MAX_PAGES * MGPU_PAGE_BYTES, &err) == MGPU_OK);
	UNIT_CHECK(mgpu_played_engine.pin(slots, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES, &err) == MGPU_OK);
}

static void
compare_with_played(group_case *job, group_outcome *outcome)
{
	group_driver driver = {.engine = &mgpu_played_engine,.slots = slots,.most_refs = 3};
	group_outcome played;

	group_drive_case(&driver, job, &played);
	UNIT_CHECK(played.status == outcome->status);
	if (played.status == MGPU_OK && outcome->status == MGPU_OK)
		compare_outcomes(&job->spec, outcome, &played);
	group_free_outcome(&played);
}

/* --------------------------------------------------------------------- tests */

/* Only threads look for bits. */
static void
ask_for_bits(mgpu_group_spec *spec)
{
	for (uint32_t i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].kind == MGPU_KEY_SIGNED && spec->columns[i].reduction == MGPU_REDUCE_INTEGER)
			spec->columns[i].reduction = MGPU_REDUCE_BITS;
}

static void
test_cases(void)
{
	unsigned long num_done = 0;

	for (uint64_t seed = 1; seed <= unit_tiered(200, 600); seed++)
	{
		table_run	how = random_run(seed);
		group_outcome outcome;
		group_case	job;

		group_random_case(&job, seed ^ unit_random_state, pages, seed % 10 == 0 ? 40 : 6);
		if (seed % 3 == 0)
			ask_for_bits(&job.spec);
		run_table(&how, &job, &outcome);
		UNIT_CONTEXT("seed %llu, %.100s", (unsigned long long) seed, outcome.err.message);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
		if (outcome.status == MGPU_OK)
			check_answer(&job, &outcome);
		compare_with_played(&job, &outcome);
		num_done += outcome.status == MGPU_OK;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_done > unit_tiered(100, 300));
}

/* Rows that come in batches have the answer that they have in pages. */
static void
test_rows(void)
{
	unsigned long num_done = 0;

	for (uint64_t seed = 1; seed <= unit_tiered(200, 600); seed++)
	{
		table_run	how = random_run(seed);
		group_outcome of_pages;
		group_outcome of_rows;
		group_case	job;

		group_random_case(&job, seed ^ unit_random_state, pages, seed % 10 == 0 ? 40 : 6);
		run_table(&how, &job, &of_pages);
		job.spec.takes_rows = 1;
		UNIT_CONTEXT("seed %llu, %.100s", (unsigned long long) seed, of_pages.err.message);
		if (of_pages.status == MGPU_OK && job.spec.tid_input == 0)
		{
			run_table(&how, &job, &of_rows);
			UNIT_CHECK(of_rows.status == MGPU_OK);
			compare_outcomes(&job.spec, &of_pages, &of_rows);
			group_free_outcome(&of_rows);
			num_done++;
		}
		group_free_outcome(&of_pages);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_done > unit_tiered(80, 250));
}

/* Batches of rows that are none, or whose values are not all there. */
static void
test_bad_rows(void)
{
	static const mgpu_row_batch bad[] = {{1, 1}, {4000000, 0}, {UINT32_MAX, 2}, {9, 2}};
	mgpu_job	table_job = {.op = MGPU_OP_GROUP};
	mgpu_exec_options options = {.device = -1,.num_threads = 2};
	mgpu_group_spec spec = {.takes_rows = 1,.num_attributes = 2,.num_inputs = 2};
	mgpu_binding binding = {.group = &spec};
	mgpu_error	err;
	mgpu_run   *run;
	void	   *slot;
	uint64_t	bytes;

	for (int i = 0; i < 2; i++)
	{
		spec.attributes[i] = (mgpu_group_attribute) {8, 8, (int8_t) i};
		spec.inputs[i] = (mgpu_group_input) {8, -1, -1};
	}
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_OK);
	UNIT_CHECK(TABLE->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &bytes, &err) == MGPU_OK);
	UNIT_CHECK(TABLE->input_commit(run, MGPU_CHANNEL_KEYS, 4, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(TABLE->input_commit(run, MGPU_CHANNEL_KEYS, bytes + 8, &err) == MGPU_BAD_JOB);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		memcpy(slot, &bad[i], sizeof(bad[i]));
		UNIT_CHECK(TABLE->input_commit(run, MGPU_CHANNEL_KEYS, 64, &err) == MGPU_BAD_JOB);
	}
	/* a value that ends behind the batch */
	memset(slot, 0, 64);
	memcpy(slot, &(mgpu_row_batch) {1, 2}, sizeof(mgpu_row_batch));
	((uint32_t *) slot)[2] = 60;
	UNIT_CHECK(TABLE->input_commit(run, MGPU_CHANNEL_KEYS, 64, &err) == MGPU_OK);
	UNIT_CHECK(TABLE->submit(run, &err) == MGPU_OK);
	UNIT_CHECK(TABLE->poll(run, &err) == MGPU_UNSUPPORTED);
	TABLE->release(run);
	spec.takes_rows = 2;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	spec.takes_rows = 1;
	spec.tid_input = 1;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
}

/* ------------------------------------------------------- computed columns */

/* Put an operation behind those of a test, or, if there is none of the number, behind all.  Its register. */
static uint32_t
insert_op(mgpu_group_spec *spec, uint32_t test, uint16_t code, uint16_t width, int64_t number, const uint32_t *from)
{
	uint32_t	place = test < spec->num_tests ? spec->tests[test].end_op : spec->num_ops;
	uint32_t	to = spec->num_registers++;
	bool		is_bytes = code == MGPU_RUN_LOAD_FIXED;

	memmove(&spec->ops[place + 1], &spec->ops[place], (spec->num_ops - place) * sizeof(spec->ops[0]));
	spec->ops[place] = (mgpu_program_op) {code, width, (uint16_t) to, {(uint16_t) from[0], (uint16_t) from[1], (uint16_t) from[2]}, number};
	spec->num_ops++;
	for (; test < spec->num_tests; test++)
		spec->tests[test].end_op++;
	spec->lanes[to] = is_bytes ? MGPU_LANE_BYTES : MGPU_LANE_INTEGER;
	return to;
}

/* The first test that has a register once its operations have run; num_tests: none has. */
static uint32_t
first_test_with(const mgpu_group_spec *spec, uint32_t reg)
{
	uint32_t	test = 0;
	uint32_t	op = 0;

	while (reg >= spec->num_constants && spec->ops[op].to != reg)
		op++;
	while (test < spec->num_tests && spec->tests[test].end_op <= op)
		test++;
	return test;
}

/* One of the tests from a first one on, or the number behind the last. */
static uint32_t
random_test(group_case *job, uint32_t first)
{
	return first + group_below(job, job->spec.num_tests + 1 - first);
}

/* Integers of two columns make those of a third. */
static void
combine_columns(group_case *job)
{
	static const uint16_t codes[] = {MGPU_RUN_ADD_INTEGER, MGPU_RUN_COALESCE, MGPU_RUN_LARGER_INTEGER, MGPU_RUN_BIT_XOR, MGPU_RUN_CHOOSE};
	mgpu_group_spec *spec = &job->spec;
	uint32_t	target = group_below(job, spec->num_columns);
	uint32_t	from[3];
	uint32_t	first = 0;
	bool		are_integers = spec->columns[target].kind != MGPU_KEY_FLOAT;

	for (int i = 0; i < 3; i++)
	{
		uint32_t	test;

		from[i] = spec->columns[group_below(job, spec->num_columns)].reg;
		are_integers &= spec->lanes[from[i]] == MGPU_LANE_INTEGER;
		test = first_test_with(spec, from[i]);
		first = test > first ? test : first;
	}
	if (are_integers && spec->num_registers < MGPU_GROUP_MAX_REGISTERS)
		spec->columns[target].reg = insert_op(spec, random_test(job, first), codes[group_below(job, 5)], 8, 0, from);
}

/* A word of an attribute's bytes, which tests or columns load, takes the place of a column's integers. */
static void
add_word(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;
	uint32_t	target = group_below(job, spec->num_columns);
	mgpu_group_attribute *attribute = &spec->attributes[group_below(job, spec->num_attributes)];
	uint32_t	from[3] = {0};
	mgpu_group_input *input = &spec->inputs[spec->num_inputs];

	if (spec->columns[target].kind == MGPU_KEY_FLOAT || attribute->input >= 0 || attribute->length < 2 ||
		spec->num_inputs == MGPU_GROUP_MAX_INPUTS || spec->num_registers + 2 > MGPU_GROUP_MAX_REGISTERS)
		return;
	attribute->input = (int8_t) spec->num_inputs++;
	*input = (mgpu_group_input) {attribute->length, -1, -1};
	group_plan_offsets(spec);
	from[0] = insert_op(spec, random_test(job, 0), MGPU_RUN_LOAD_FIXED, (uint16_t) attribute->length, attribute->input, from);
	spec->columns[target].reg = insert_op(spec, spec->num_tests, MGPU_RUN_WORD_FIXED, 2, group_below(job, 2), from);
}

/* Run a case that was changed after its rows were written; whether it has an answer, which is a played device's. */
static bool
check_changed(uint64_t seed, group_case *job)
{
	table_run	how = random_run(seed);
	group_outcome outcome;
	bool		is_done;

	run_table(&how, job, &outcome);
	UNIT_CONTEXT("seed %llu, %.100s", (unsigned long long) seed, outcome.err.message);
	UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
	compare_with_played(job, &outcome);
	is_done = outcome.status == MGPU_OK;
	group_free_outcome(&outcome);
	UNIT_CONTEXT("%s", "");
	return is_done;
}

/* Programs of which tests and columns share registers, and that have bytes: as a played device runs them, row by row. */
static void
test_programs(void)
{
	unsigned long num_done = 0;

	for (uint64_t seed = 1; seed <= unit_tiered(500, 1500); seed++)
	{
		group_case	job;

		group_random_case(&job, seed ^ unit_random_state, pages, seed % 10 == 0 ? 40 : 6);
		for (uint32_t i = 0; job.spec.num_columns > 0 && i < 12; i++)
		{
			if (i % 3 == 0)
				add_word(&job);
			else
				combine_columns(&job);
		}
		num_done += check_changed(seed, &job);
		group_free_case(&job);
	}
	UNIT_CHECK(num_done > 150);
}

/* Rows in the order of a column that is NULL, or the least or greatest integer: codes that limits use for NULL too. */
static void
test_extremes(void)
{
	unsigned long num_done = 0;

	for (uint64_t seed = 1; seed <= unit_tiered(500, 1500); seed++)
	{
		group_case	job;
		mgpu_group_spec *spec = &job.spec;

		group_random_case(&job, seed ^ unit_random_state, pages, 6);
		if (spec->limit_rule != MGPU_LIMIT_NONE && spec->columns[0].kind != MGPU_KEY_FLOAT && spec->num_registers + 2 <= MGPU_GROUP_MAX_REGISTERS)
		{
			uint32_t	from[3] = {spec->columns[0].reg, spec->columns[0].reg, 0};

			from[0] = insert_op(spec, spec->num_tests, MGPU_RUN_COMPARE_INTEGER, 1, MGPU_IS_EQUAL, from);
			spec->columns[0].reg = insert_op(spec, spec->num_tests, MGPU_RUN_SCALE_UP, 8, seed % 2 ? INT64_MAX : INT64_MIN, from);
			spec->columns[0].kind = MGPU_KEY_SIGNED;
			spec->columns[0].width = 8;
			spec->num_orders = 1;
			spec->orders[0].column = 0;
			spec->limit = 1 + seed % 5;
			num_done += check_changed(seed, &job);
		}
		group_free_case(&job);
	}
	UNIT_CHECK(num_done > 20);
}

/* Percentiles, and counts of values that differ, of groups of many values and few: in parts that have less memory, by ranges. */
static void
test_percentiles(void)
{
	unsigned long num_done = 0;

	for (uint64_t seed = 1; seed <= 200; seed++)
	{
		group_case	job;
		mgpu_group_spec *spec = &job.spec;

		group_random_case(&job, seed ^ unit_random_state, pages, 50);
		if (spec->limit_rule == MGPU_LIMIT_NONE && spec->num_columns > 0)
		{
			spec->num_keys = seed % 2;
			spec->num_sorts = 3;
			for (uint32_t i = 0; i < spec->num_sorts; i++)
			{
				mgpu_group_column *column;

				group_random_sort(&job, &spec->sorts[i]);
				column = &spec->columns[spec->sorts[i].column];
				column->num_cells = 0;
				if (column->reduction == MGPU_REDUCE_EXTREMES || column->reduction == MGPU_REDUCE_PAIRS)
					column->reduction = MGPU_REDUCE_NONE;
				spec->sorts[i].returns = group_chance(&job, 3) ? MGPU_SORT_DISTINCT : 0;
				spec->sorts[i].num_percentiles = 1 + i;
				for (uint32_t n = 0; n <= i; n++)
					spec->sorts[i].percentiles[n] = (mgpu_group_percentile) {group_below(&job, 1001) / 1000.0, group_below(&job, 2)};
			}
			num_done += check_changed(seed, &job);
		}
		group_free_case(&job);
	}
	UNIT_CHECK(num_done > 40);
}

/* A column whose values are several columns, or UINT32_MAX. */
static uint32_t
find_head(const mgpu_group_spec *spec)
{
	uint32_t	head = 0;

	while (head < spec->num_columns && spec->columns[head].num_cells == 0)
		head++;
	return head < spec->num_columns ? head : UINT32_MAX;
}

/* With ever more memory for rows and values a case has its answer in the end. */
static void
check_limits(uint64_t seed, group_case *job)
{
	table_run	how = random_run(seed);
	group_outcome outcome = {.status = MGPU_HOST_MEMORY};

	for (how.most_bytes = 1 << 16; outcome.status == MGPU_HOST_MEMORY; how.most_bytes *= 2)
	{
		run_table(&how, job, &outcome);
		group_free_outcome(&outcome);
	}
	UNIT_CHECK(outcome.status == MGPU_OK);
}

/* Have a head's extremes found by a locale that compares bytes, as their codes do.  false: its columns are no texts. */
static bool
collate_head(mgpu_group_spec *spec, uint32_t head)
{
	for (uint32_t i = 0; i < spec->columns[head].num_cells; i++)
		if (spec->columns[head + i].kind != MGPU_KEY_SIGNED || spec->columns[head + i].width != 8)
			return false;
	if (spec->table_bytes + 2 > MGPU_GROUP_TABLE_BYTES)
		return false;
	spec->locale = spec->table_bytes;
	memcpy((char *) spec->tables + spec->locale, "C", 2);
	spec->table_bytes += 2;
	spec->columns[head].is_collated = 1;
	return true;
}

/* Values of several columns alone: rows without keys are cut by them, unless floats are added in their order. */
static void
test_heads(void)
{
	unsigned long num_done = 0;
	unsigned long num_collated = 0;

	for (uint64_t seed = 1; seed <= 1500; seed++)
	{
		group_case	job;
		mgpu_group_spec *spec = &job.spec;
		uint32_t	head;

		group_random_case(&job, seed ^ unit_random_state, pages, 50);
		head = find_head(spec);
		if (spec->limit_rule == MGPU_LIMIT_NONE && head != UINT32_MAX)
		{
			spec->num_keys = seed % 2;
			spec->keys[0] = 0;
			spec->num_sorts = seed % 3 > 0;
			spec->sorts[0] = (mgpu_group_sort) {.column = head,.returns = MGPU_SORT_DISTINCT};
			spec->columns[head].reduction = MGPU_REDUCE_EXTREMES;
			num_collated += seed % 5 > 1 && collate_head(spec, head);
			for (uint32_t i = 0; i < spec->num_columns && seed % 4 > 0; i++)
			{
				if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
					spec->columns[i].reduction = MGPU_REDUCE_COUNT;
			}
			if (check_changed(seed, &job))
			{
				num_done++;
				check_limits(seed, &job);
			}
		}
		group_free_case(&job);
	}
	UNIT_CHECK(num_done > 20);
	UNIT_CHECK(num_collated > 0);
}

/* A locale that the C library does not have, and a name that is not in the tables, end a job before it begins. */
static void
test_no_locale(void)
{
	unsigned long num_done = 0;

	for (uint64_t seed = 1; seed <= 1500 && num_done < 3; seed++)
	{
		group_case	job;
		mgpu_group_spec *spec = &job.spec;
		table_run	how = random_run(seed);
		uint32_t	head;
		group_outcome outcome;

		group_random_case(&job, seed ^ unit_random_state, pages, 5);
		head = find_head(spec);
		if (spec->limit_rule == MGPU_LIMIT_NONE && head != UINT32_MAX && collate_head(spec, head))
		{
			spec->columns[head].reduction = MGPU_REDUCE_EXTREMES;
			memcpy((char *) spec->tables + spec->locale, "?", 2);
			run_table(&how, &job, &outcome);
			UNIT_CHECK(outcome.status == MGPU_UNSUPPORTED);
			group_free_outcome(&outcome);
			spec->locale = spec->table_bytes;
			run_table(&how, &job, &outcome);
			UNIT_CHECK(outcome.status == MGPU_BAD_JOB);
			group_free_outcome(&outcome);
			num_done++;
		}
		group_free_case(&job);
	}
	UNIT_CHECK(num_done == 3);
}

/* ---------------------------------------------------------------- in files */

/* Run a case whose rows are all in a file, and with one that cannot have them, be read or written. */
static void
check_file(uint64_t seed, group_case *job, int file, int bad, unsigned long *num_done)
{
	table_run	how = random_run(seed);
	group_outcome outcome;

	UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
	how.file = file;
	how.memory_before_file = seed % 4 * 70000;	/* some rows are in memory, or none */
	how.most_file_bytes = UINT64_MAX;
	run_table(&how, job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
	if (outcome.status == MGPU_OK)
		check_answer(job, &outcome);
	compare_with_played(job, &outcome);
	group_free_outcome(&outcome);
	if (outcome.status != MGPU_OK || outcome.stats.file_bytes == 0)
		return;
	++*num_done;
	how.most_file_bytes = seed % 3 == 0 ? 1 : UINT64_MAX;
	how.file = seed % 3 == 0 ? file : bad;
	run_table(&how, job, &outcome);
	/* threads may have folded all rows this time */
	UNIT_CHECK(outcome.status == MGPU_HOST_MEMORY || (outcome.status == MGPU_OK && outcome.stats.file_bytes == 0));
	group_free_outcome(&outcome);
}

static void
test_files(void)
{
	FILE	   *file = tmpfile();
	int			full = open("/dev/full", O_RDWR);
	int			unread = open("/dev/null", O_RDWR);
	unsigned long num_done = 0;

	UNIT_CHECK(file != NULL && full > 0 && unread > 0);
	for (uint64_t seed = 1; file != NULL && seed <= unit_tiered(200, 600); seed++)
	{
		group_case	job;

		group_random_case(&job, seed ^ unit_random_state, pages, seed % 10 < 4 ? 40 : 6);
		check_file(seed, &job, fileno(file), seed % 2 == 0 ? full : unread, &num_done);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_done > 50);
	if (file != NULL)
		fclose(file);
	close(full);
	close(unread);
}

/* -------------------------------------------------------- what is refused */

/* Damaged pages are refused, or give rows as any others do. */
static void
test_damaged(void)
{
	unsigned long num_refused = 0;

	for (uint64_t seed = 1; seed <= unit_tiered(100, 300); seed++)
	{
		table_run	how = random_run(seed);
		group_outcome outcome;
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 6);
		group_damage_pages(&job);
		run_table(&how, &job, &outcome);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
		compare_with_played(&job, &outcome);
		num_refused += outcome.status == MGPU_UNSUPPORTED;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_refused > 50);
}

/* A spec whose bytes were changed is refused, or gives some answer: nothing else happens. */
static void
test_spoiled(void)
{
	unsigned long num_run = 0;

	for (uint64_t seed = 1; seed <= 20000; seed++)
	{
		table_run	how = {.num_threads = 1,.most_refs = 3};
		group_outcome outcome;
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 1);
		group_spoil_spec(&job, 1 + seed % 3);
		run_table(&how, &job, &outcome);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED || outcome.status == MGPU_BAD_JOB);
		num_run += outcome.status != MGPU_BAD_JOB;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_run > 2000);
}

/* A run that is cancelled before any of its calls ends as such, or has just ended. */
static void
test_cancel(void)
{
	unsigned long num_cancelled = 0;

	for (uint64_t seed = 1; seed <= unit_tiered(500, 1500); seed++)
	{
		table_run	how = random_run(seed);
		group_outcome outcome;
		group_case	job;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, 6);
		how.cancel_after = 1 + group_below(&job, 12);
		mgpu_cpu_tunables.poll_ms = seed % 2;	/* polls that end in the midst of stages */
		run_table(&how, &job, &outcome);
		UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED || outcome.status == MGPU_CANCELLED);
		num_cancelled += outcome.status == MGPU_CANCELLED;
		group_free_outcome(&outcome);
		group_free_case(&job);
	}
	mgpu_cpu_tunables.poll_ms = 20;
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_cancelled > 100);
}

/* ----------------------------------------------------------- without memory */

/* A sanitizer maps its own, and gives up when it cannot. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY 0
#else
#define LIMITS_MEMORY 1
#endif

/* What counts towards RLIMIT_DATA, and the stack. */
static uint64_t
data_bytes(void)
{
	FILE	   *file = fopen("/proc/self/statm", "r");
	unsigned long long num_pages = 0;

	if (file != NULL)
	{
		if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &num_pages) != 1)
			num_pages = 0;
		fclose(file);
	}
	return num_pages * (uint64_t) sysconf(_SC_PAGESIZE);
}

/* Run a case in a child that may have so many more bytes; how it ended. */
static mgpu_status
run_limited(const table_run *how, group_case *job, uint64_t bytes)
{
	int			state;
	pid_t		child = fork();

	if (child == 0)
	{
		struct rlimit limit = {data_bytes() + bytes, data_bytes() + bytes};
		group_outcome outcome;

		if (setrlimit(RLIMIT_DATA, &limit) != 0)
			_exit(MGPU_DEVICE_FAILED);
		run_table(how, job, &outcome);
		_exit((int) outcome.status);
	}
	return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) ? (mgpu_status) WEXITSTATUS(state) : MGPU_DEVICE_FAILED;
}

/* A run without memory says so, wherever it finds out. */
static void
test_memory(void)
{
	unsigned long num_failed = 0;

	for (uint64_t seed = 1; LIMITS_MEMORY && seed <= 60; seed++)
	{
		table_run	how = {.num_threads = 1,.most_refs = 5,.in_pieces = true};
		group_case	job;
		mgpu_status status;

		UNIT_CONTEXT("seed %llu", (unsigned long long) seed);
		group_random_case(&job, seed ^ unit_random_state, pages, MAX_PAGES);
		status = run_limited(&how, &job, seed * 16384);
		UNIT_CHECK(status == MGPU_OK || status == MGPU_UNSUPPORTED || status == MGPU_HOST_MEMORY);
		num_failed += status == MGPU_HOST_MEMORY;
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(num_failed > 5 || !LIMITS_MEMORY);
}

/* What ends a run before there are rows. */
static void
test_refusals(void)
{
	table_run	how = {.num_threads = 2,.most_refs = 2,.fault = MGPU_FAULT_HOST_MEMORY};
	mgpu_job	sort = {.op = MGPU_OP_SORT,.key_kind = MGPU_KEY_UNSIGNED,.key_width = 4,.outputs = MGPU_OUT_KEYS};
	mgpu_binding binding = {0};
	mgpu_exec_options options = {.device = -1,.num_threads = 1};
	mgpu_error	err;
	mgpu_run   *run;
	group_outcome outcome;
	group_case	job;

	group_random_case(&job, 1, pages, 4);
	run_table(&how, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_HOST_MEMORY);
	how.fault = MGPU_FAULT_NONE;
	how.most_bytes = 1;
	run_table(&how, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_HOST_MEMORY);
	how.most_bytes = 0;
	run_table(&how, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_OK);
	group_free_outcome(&outcome);
	job.spec.num_columns = MGPU_GROUP_MAX_COLUMNS + 1;
	run_table(&how, &job, &outcome);
	UNIT_CHECK(outcome.status == MGPU_BAD_JOB);
	UNIT_CHECK(TABLE->open(&sort, &binding, &options, &run, &err) == MGPU_BAD_JOB && run == NULL);
	group_free_case(&job);
}

/* What a job with builds has to have. */
static void
test_builds(void)
{
	mgpu_job	table_job = {.op = MGPU_OP_GROUP};
	mgpu_exec_options options = {.device = -1,.num_threads = 1};
	mgpu_error	err;
	mgpu_run   *run;
	group_case	job;
	mgpu_binding binding = {.group = &job.spec,.builds = (const char *) job.build};

	group_random_case(&job, 1, pages, 1);
	group_make_build(&job);
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_OK);
	TABLE->release(run);
	binding.builds = NULL;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	binding.builds = (const char *) job.build;
	job.spec.build_bytes -= 8;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	job.spec.build_bytes += 8;
	job.spec.builds[0].offset = 8;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	job.spec.builds[0].offset = 0;
	job.spec.builds[0].num_slots = 0;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	job.spec.build_bytes = mgpu_build_plan(&job.spec.builds[0], 0, GROUP_BUILD_ROWS, 1, false);
	job.spec.builds[0].num_slots--;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	job.spec.builds[0].num_slots = 32;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	job.spec.build_bytes = mgpu_build_condense(&job.spec.builds[0], group_build_key(0), group_build_key(GROUP_BUILD_ROWS - 1));
	job.spec.builds[0].is_dense = 2;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	group_make_build(&job);
	job.spec.ops[0] = (mgpu_program_op) {.code = MGPU_RUN_LOOKUP,.to = (uint16_t) job.spec.num_constants,.number = 1};
	job.spec.num_ops = 1;
	job.spec.num_tests = 0;
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	job.spec.ops[0] = (mgpu_program_op) {.code = MGPU_RUN_FETCH,.to = (uint16_t) job.spec.num_constants,.width = 1};
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_BAD_JOB);
	group_free_case(&job);
}

/* ------------------------------------------------ joins */

static void
test_joins(void)
{
	uint32_t	num_run = 0;

	for (uint64_t seed = 1; seed < 1600; seed++)
	{
		group_case	job;
		join_case	join;
		table_run	how = random_run(seed);
		group_outcome outcome;

		group_random_case(&job, seed, pages, 0);
		if (join_random_case(&job, seed, &join))
		{
			UNIT_CONTEXT("joined, seed %llu", (unsigned long long) seed);
			free(job.num_items);
			group_write_pages(&job, pages, 1 + group_below(&job, 12));
			run_table(&how, &job, &outcome);
			UNIT_CHECK(outcome.status == MGPU_OK || outcome.status == MGPU_UNSUPPORTED);
			UNIT_CHECK(outcome.status != MGPU_OK || outcome.result.num_rows == join_count_rows(&job, &join));
			num_run += outcome.status == MGPU_OK;
			group_free_outcome(&outcome);
		}
		group_free_case(&job);
	}
	UNIT_CONTEXT("%s", "joined");
	UNIT_CHECK(num_run > 40);
}

/* What a match may not say. */
static void
test_bad_matches(void)
{
	static const mgpu_group_match bad[] = {
		{.test = 0,.num_conditions = 1}, {.test = 3,.num_conditions = 0}, {.test = 1,.num_conditions = 2}, {.test = 1,.num_conditions = UINT32_MAX},
		{.test = 1,.build = 1}, {.test = 1,.kind = MGPU_MATCH_MARKS + 1,.num_conditions = 1}, {.test = 1,.kind = MGPU_MATCH_SOME},
		{.test = 1,.kind = MGPU_MATCH_NONE}, {.test = 1,.adds = MGPU_ADDS_MATCHED}, {.test = 1,.adds = MGPU_ADDS_MATCHED + 1},
		{.test = 1,.kind = MGPU_MATCH_MARKS}
	};
	join_case	join = {.num_matches = 1,.has_condition = true};
	group_case	job;
	mgpu_error	err;
	uint64_t	seed = 1;

	for (group_random_case(&job, seed, pages, 0); !join_look_up(&job, &join); group_random_case(&job, ++seed, pages, 0))
		group_free_case(&job);
	UNIT_CONTEXT("%s", "bad matches");
	UNIT_CHECK(mgpu_group_validate(&job.spec, &err) == MGPU_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		mgpu_group_spec spec = job.spec;
		uint32_t	reg = spec.matches[0].reg;

		spec.matches[0] = bad[i];
		spec.matches[0].reg = reg;
		UNIT_CHECK(mgpu_group_validate(&spec, &err) == MGPU_BAD_JOB);
	}
	job.spec.matches[0].reg = job.spec.num_registers;
	UNIT_CHECK(mgpu_group_validate(&job.spec, &err) == MGPU_BAD_JOB);
	group_free_case(&job);
}

/* Calls that come too early, too late or with too much. */
static void
test_protocol(void)
{
	group_case	job;
	mgpu_job	table_job = {.op = MGPU_OP_GROUP};
	mgpu_binding binding = {.group = &job.spec,.builds = (const char *) job.build};
	mgpu_exec_options options = {.device = -1,.num_threads = 2};
	mgpu_group_result result;
	mgpu_error	err;
	mgpu_run   *run;
	void	   *slot;
	uint64_t	bytes;

	group_random_case(&job, 3, pages, 4);
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_OK);
	UNIT_CHECK(TABLE->poll(run, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(TABLE->input_commit(run, MGPU_CHANNEL_KEYS, 8, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(TABLE->input_slot(run, MGPU_CHANNEL_VALUES, &slot, &bytes, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(TABLE->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &bytes, &err) == MGPU_OK);
	UNIT_CHECK(bytes >= MGPU_PAGE_COPIES_OFFSET);
	UNIT_CHECK(TABLE->input_commit(run, MGPU_CHANNEL_KEYS, (MGPU_BATCH_PAGES + 1) * sizeof(mgpu_page_ref), &err) == MGPU_BAD_JOB);
	TABLE->release(run);
	UNIT_CHECK(TABLE->open(&table_job, &binding, &options, &run, &err) == MGPU_OK);
	UNIT_CHECK(!TABLE->group_result(run, &result));
	UNIT_CHECK(TABLE->submit(run, &err) == MGPU_OK);
	UNIT_CHECK(TABLE->submit(run, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(TABLE->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &bytes, &err) == MGPU_BAD_JOB);
	TABLE->release(run);
	TABLE->release(NULL);
	group_free_case(&job);
}

int
main(void)
{
	pages = aligned_alloc(4096, MAX_PAGES * MGPU_PAGE_BYTES);
	slots = aligned_alloc(4096, GROUP_NUM_SLOTS * GROUP_SLOT_BYTES);
	mgpu_cpu_tunables.table_task_pages = 2;
	mgpu_cpu_tunables.table_slot_pages = 3;
	mgpu_cpu_tunables.table_fold_bytes = 2048;
	mgpu_cpu_tunables.table_task_rows = 300;
	mgpu_cpu_tunables.table_large_values = 100;
	mgpu_cpu_tunables.table_write_bytes = 512;
	test_memory();
	start_played();
	test_cases();
	test_rows();
	test_bad_rows();
	test_programs();
	test_extremes();
	test_percentiles();
	test_heads();
	test_no_locale();
	test_files();
	test_damaged();
	test_spoiled();
	test_cancel();
	test_refusals();
	test_builds();
	test_joins();
	test_bad_matches();
	test_protocol();
	mgpu_played_reset();
	free(pages);
	free(slots);
	return unit_report();
}
