/*
 * core_build.c
 *		Builds: random keys are found or not, as in a list; cells come back; those of a key of several cells by programs.  Builds
 *		that threads fill have the same rows.
 */
#include "core/build_fill.h"
#include "core/cpu_threads.h"
#include "core/program.h"
#include "unit.h"

#define MOST_ROWS 5000

typedef struct build_case
{
	mgpu_build	build;
	char	   *memory;
	uint64_t	bytes;
	uint64_t	of_rows[MOST_ROWS];
	uint32_t	num_keys;		/* that are different */
	uint64_t	keys[MOST_ROWS];
	uint32_t	rows[MOST_ROWS];	/* that is found of each: the first, or the last of a list */
	int64_t		before[MOST_ROWS];	/* of each row: the one before of its key, or -1 */
} build_case;

/* Dense, all alike in their low or high bits, or of all kinds. */
static uint64_t
random_key(int kind)
{
	switch (kind)
	{
		case 0:
			return unit_random_below(2 * MOST_ROWS);
		case 1:
			return unit_random_below(MOST_ROWS) << 40;
		case 2:
			return UINT64_MAX - unit_random_below(MOST_ROWS) * 8192;
		default:
			return unit_random();
	}
}

static uint32_t
place_in_list(const build_case *given, uint64_t key)
{
	uint32_t	i = 0;

	while (i < given->num_keys && given->keys[i] != key)
		i++;
	return i;
}

/* Of the builds that were made. */
static int	num_dense;

static void
make_build(build_case *given, uint64_t offset, uint32_t num_rows, int kind)
{
	given->bytes = mgpu_build_plan(&given->build, offset, num_rows, 2, unit_random_below(2) == 0);
	if (kind == 0 && unit_random_below(2) == 0)
		given->bytes = mgpu_build_condense(&given->build, 0, 2 * MOST_ROWS - 1);
	UNIT_CHECK(given->bytes >= offset && given->bytes % 8 == 0);
	num_dense += given->build.is_dense;
	given->memory = calloc(1, given->bytes);
	given->num_keys = 0;
	for (uint32_t row = 0; row < num_rows; row++)
	{
		given->of_rows[row] = random_key(kind);
		if (given->build.is_dense)
			mgpu_build_mark(&given->build, given->memory, given->of_rows[row]);
	}
	if (given->build.is_dense)
		mgpu_build_number(&given->build, given->memory);
	for (uint32_t row = 0; row < num_rows; row++)
	{
		uint64_t	key = given->of_rows[row];
		uint32_t	place = place_in_list(given, key);
		uint32_t	found = mgpu_build_add(&given->build, given->memory, key, row);

		UNIT_CHECK(found == (place < given->num_keys ? given->rows[place] : row));
		given->before[row] = place < given->num_keys ? (int64_t) given->rows[place] : -1;
		if (place == given->num_keys || given->build.has_next)
			given->rows[place] = row;
		given->keys[place] = key;
		given->num_keys += place == given->num_keys;
		mgpu_build_put(&given->build, given->memory, 0, row, (int64_t) (3 * key), row % 3 == 0);
		mgpu_build_put(&given->build, given->memory, 1, row, -(int64_t) row, row % 5 == 0);
	}
}

static void
check_key(const build_case *given, uint64_t key)
{
	uint32_t	place = place_in_list(given, key);
	int64_t		row;
	int64_t		cell;

	UNIT_CHECK(mgpu_build_find(&given->build, given->memory, key, &row) == (place < given->num_keys));
	if (place == given->num_keys)
		return;
	UNIT_CHECK(row == given->rows[place]);
	for (int64_t of_key = row; given->build.has_next && of_key >= 0; of_key = given->before[of_key])
		UNIT_CHECK(mgpu_build_next(&given->build, given->memory, of_key) == given->before[of_key]);
	UNIT_CHECK(mgpu_build_cell(&given->build, given->memory, 0, row, &cell) == (row % 3 == 0) && cell == (int64_t) (3 * key));
	UNIT_CHECK(mgpu_build_cell(&given->build, given->memory, 1, row, &cell) == (row % 5 == 0) && cell == -row);
}

static void
check_build(build_case *given, uint32_t num_rows, int kind)
{
	int64_t		cell;

	UNIT_CONTEXT("%u rows of kind %d", num_rows, kind);
	make_build(given, 8 * unit_random_below(20), num_rows, kind);
	for (uint32_t i = 0; i < given->num_keys; i++)
		check_key(given, given->keys[i]);
	for (int i = 0; i < 2000; i++)
		check_key(given, random_key(kind));
	/* what no slot should say */
	UNIT_CHECK(mgpu_build_cell(&given->build, given->memory, 0, num_rows, &cell) == MGPU_IS_NULL && cell == 0);
	UNIT_CHECK(mgpu_build_cell(&given->build, given->memory, 1, -1, &cell) == MGPU_IS_NULL && cell == 0);
	UNIT_CHECK(mgpu_build_cell(&given->build, given->memory, 1, INT64_MAX, &cell) == MGPU_IS_NULL && cell == 0);
	free(given->memory);
}

/* What a build may be made dense for. */
static void
check_condense(void)
{
	mgpu_build	build;
	uint64_t	bytes = mgpu_build_plan(&build, 64, 100, 1, true);

	UNIT_CONTEXT("dense builds");
	UNIT_CHECK(mgpu_build_condense(&build, 1, 0) == bytes && !build.is_dense);
	UNIT_CHECK(mgpu_build_condense(&build, INT64_MIN, INT64_MAX) == bytes && !build.is_dense);
	UNIT_CHECK(mgpu_build_condense(&build, 0, 14784) == bytes && !build.is_dense);
	UNIT_CHECK(mgpu_build_condense(&build, -1, 14782) == bytes && build.is_dense && build.num_slots == 14784);
	bytes = mgpu_build_plan(&build, 0, 1, 0, false);
	UNIT_CHECK(mgpu_build_condense(&build, INT64_MAX - 2, INT64_MAX) == bytes - 16 && build.is_dense && build.num_slots == 3);
}

/* A table without an empty slot, as damage may leave it: a look-up ends. */
static void
check_damaged(void)
{
	mgpu_build	build;
	uint64_t	bytes = mgpu_build_plan(&build, 0, 100, 0, false);
	char	   *memory = malloc(bytes);
	int64_t		row;

	memset(memory, 0xFF, bytes);
	UNIT_CONTEXT("no slot is empty");
	UNIT_CHECK(!mgpu_build_find(&build, memory, 5, &row));
	UNIT_CHECK(mgpu_build_find(&build, memory, UINT64_MAX, &row));
	free(memory);
	UNIT_CHECK(mgpu_build_plan(&build, 0, (uint64_t) MGPU_BUILD_MAX_ROWS + 1, 0, false) == 0);
	UNIT_CHECK(mgpu_build_plan(&build, 0, 1, MGPU_BUILD_MAX_COLUMNS + 1, false) == 0);
}

/* Keys of two cells, a and b of each row, by a program that hashes, looks up and compares. */
static void
check_two_cells(void)
{
	static const mgpu_program_op ops[] = {
		{.code = MGPU_RUN_HASH_KEYS,.to = 2,.from = {0, 1}},
		{.code = MGPU_RUN_LOOKUP,.to = 3,.from = {2}},
		{.code = MGPU_RUN_MATCH,.to = 4,.from = {3, 0},.width = 0},
		{.code = MGPU_RUN_MATCH,.to = 5,.from = {4, 1},.width = 1},
		{.code = MGPU_RUN_FETCH,.to = 6,.from = {5},.width = 1},
	};
	static const uint8_t lanes[7] = {MGPU_LANE_INTEGER};
	int64_t		cells[7][3] = {{17, 17, 18}, {-4, 4, -4}};
	uint8_t		states[7][3] = {{0}};
	mgpu_register registers[7] = {{{NULL}, NULL, NULL}};
	mgpu_build	build;
	uint64_t	bytes = mgpu_build_plan(&build, 0, 2, 2, false);
	char	   *memory = calloc(1, bytes);
	mgpu_program program = {5, ops, lanes, NULL, &build, memory, NULL, NULL};
	uint16_t	rows[3] = {0, 1, 2};

	/* the second row has the hash of 18, -4, but other cells */
	(void) mgpu_build_add(&build, memory, mgpu_build_hash(17, (uint64_t) -4), 0);
	(void) mgpu_build_add(&build, memory, mgpu_build_hash(18, (uint64_t) -4), 1);
	for (uint32_t row = 0; row < 2; row++)
	{
		mgpu_build_put(&build, memory, 0, row, row == 0 ? 17 : 99, false);
		mgpu_build_put(&build, memory, 1, row, -4, false);
	}
	for (int i = 0; i < 7; i++)
	{
		registers[i].integers = cells[i];
		registers[i].states = states[i];
	}
	mgpu_program_run(&program, registers, NULL, rows, 3);
	UNIT_CONTEXT("a key of two cells");
	UNIT_CHECK(states[5][0] == MGPU_IS_VALUE && cells[5][0] == 0 && states[6][0] == MGPU_IS_VALUE && cells[6][0] == -4);
	UNIT_CHECK(states[3][1] == MGPU_IS_NULL && states[6][1] == MGPU_IS_NULL);
	UNIT_CHECK(states[3][2] == MGPU_IS_VALUE && states[5][2] == MGPU_IS_NULL && states[6][2] == MGPU_IS_NULL);
	free(memory);
}

/* ------------------------------------------------------------------- filled by threads */

/* Columns: two of a key, one of values. */
typedef struct fill_case
{
	uint32_t	num_rows;
	uint32_t	num_keys;
	bool		repeats;
	uint32_t	marks[MOST_ROWS];
	int64_t		cells[3][MOST_ROWS];
	mgpu_build_fill fill;
	mgpu_build	build;
} fill_case;

static int	num_crowded;

static bool
has_key(const fill_case *given, uint32_t row)
{
	return (given->marks[row] & ((UINT32_C(1) << given->num_keys) - 1)) == 0;
}

static bool
is_key_of(const fill_case *given, uint32_t row, uint32_t other)
{
	return has_key(given, other) && given->cells[0][row] == given->cells[0][other] &&
		(given->num_keys == 1 || given->cells[1][row] == given->cells[1][other]);
}

/* A number whose slot is the last of the first part. */
static uint64_t
crowding_key(const fill_case *given, uint64_t after)
{
	uint32_t	place = given->build.num_slots / given->fill.num_parts - 1;

	while (mgpu_build_place(&given->build, ++after) != place)
		;
	return after;
}

static void
make_rows(fill_case *given, int kind)
{
	uint64_t	crowding = 0;

	for (uint32_t row = 0; row < given->num_rows; row++)
	{
		crowding = kind == 4 && given->num_rows >= 100 && row < 3 * MGPU_BUILD_MAX_LEFT ? crowding_key(given, crowding) : 0;
		given->cells[0][row] = (int64_t) (crowding > 0 ? crowding : random_key(kind));
		given->cells[1][row] = (int64_t) unit_random_below(2);
		given->cells[2][row] = (int64_t) unit_random();
		given->marks[row] = (uint32_t) unit_random_below(8) & (uint32_t) unit_random_below(8) & (uint32_t) unit_random_below(8);
	}
	if (given->repeats)
		return;
	/* a row that has the key of one before gets another */
	for (uint32_t row = 0; row < given->num_rows; row++)
		for (uint32_t other = 0; other < row; other++)
			if (is_key_of(given, row, other))
			{
				given->cells[0][row] = (int64_t) (UINT64_MAX / 3 + row);
				given->cells[1][row] = 5;
			}
}

/* The row is in the list of its key, whose rows are in descending order. */
static void
check_list(const fill_case *given, uint32_t row, int64_t found)
{
	int64_t		before = given->num_rows;

	while (given->build.has_next && found > (int64_t) row)
	{
		UNIT_CHECK(found < before && is_key_of(given, row, (uint32_t) found));
		before = found;
		found = mgpu_build_next(&given->build, given->fill.memory, found);
	}
	UNIT_CHECK(!given->build.has_next || found == (int64_t) row);
}

static void
check_filled(const fill_case *given)
{
	for (uint32_t row = 0; row < given->num_rows; row++)
	{
		uint64_t	key = (uint64_t) given->cells[0][row];
		uint32_t	wanted = given->build.has_next ? given->num_rows - 1 : 0;
		int64_t		found;
		int64_t		cell;

		if (!has_key(given, row))
			continue;
		while (!is_key_of(given, row, wanted))
			wanted += given->build.has_next ? -1 : 1;
		if (given->num_keys == 2)
			key = mgpu_build_hash(key, (uint64_t) given->cells[1][row]);
		UNIT_CHECK(mgpu_build_find(&given->build, given->fill.memory, key, &found) && found == (int64_t) wanted);
		UNIT_CHECK(mgpu_build_cell(&given->build, given->fill.memory, 0, found, &cell) == (given->marks[wanted] >> 2 & 1));
		UNIT_CHECK(cell == given->cells[2][wanted]);
		check_list(given, row, found);
	}
}

static bool
some_repeat(const fill_case *given)
{
	for (uint32_t row = 0; row < given->num_rows; row++)
		for (uint32_t other = 0; other < row && has_key(given, row); other++)
			if (is_key_of(given, row, other))
				return true;
	return false;
}

/* Make the build dense, if its keys let it be. */
static void
condense(fill_case *given)
{
	int64_t		least = INT64_MAX;
	int64_t		greatest = INT64_MIN;

	for (uint32_t row = 0; row < given->num_rows; row++)
	{
		int64_t		key = given->cells[0][row];

		least = has_key(given, row) && key < least ? key : least;
		greatest = has_key(given, row) && key > greatest ? key : greatest;
	}
	if (given->num_keys == 1 && unit_random_below(2) == 0)
		(void) mgpu_build_condense(&given->build, least, greatest);
	num_dense += given->build.is_dense;
}

static void
run_fill(fill_case *given, mgpu_pool *pool, bool is_crowded)
{
	mgpu_fill_state state;

	if (given->build.is_dense)
	{
		mgpu_pool_begin(pool, mgpu_build_mark_part, &given->fill, given->fill.num_parts);
		while (!mgpu_pool_work(pool, 1000))
			;
		mgpu_build_number(&given->build, given->fill.memory);
	}
	mgpu_pool_begin(pool, mgpu_build_fill_part, &given->fill, given->fill.num_parts);
	while (!mgpu_pool_work(pool, 1000))
		;
	state = mgpu_build_fill_end(&given->fill);
	if (is_crowded && state == MGPU_FILL_FAILED)
	{
		num_crowded++;
		return;
	}
	UNIT_CHECK(state == (given->repeats && some_repeat(given) ? MGPU_FILL_REPEATED : MGPU_FILL_OK));
	check_filled(given);
}

static void
check_fill(fill_case *given, mgpu_pool *pool, int kind)
{
	const int64_t *columns[] = {given->cells[0], given->cells[1], given->cells[2]};
	uint64_t	bytes = mgpu_build_plan(&given->build, 64, given->num_rows, 1, unit_random_below(2) == 0);

	given->num_keys = 1 + (uint32_t) unit_random_below(2);
	given->repeats = unit_random_below(2) == 0;
	given->fill = (mgpu_build_fill) {
		.build = &given->build,.memory = calloc(1, bytes),.marks = given->marks,.columns = columns,.num_keys = given->num_keys,
		.keys = {0, 1},.cells = {2},
		.num_parts = kind == 4 ? 4 : 1 + (uint32_t) unit_random_below(8)
	};
	make_rows(given, kind);
	condense(given);
	run_fill(given, pool, kind == 4 && given->num_rows > MGPU_BUILD_MAX_LEFT);
	free(given->fill.memory);
}

static void
check_fills(void)
{
	static const uint32_t counts[] = {0, 1, 2, 3, 100, 1024, MOST_ROWS / 2};
	fill_case  *given = unit_allocate(sizeof(*given));
	mgpu_pool  *pool = mgpu_pool_start(4);

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (int kind = 0; kind < 5; kind++)
		{
			given->num_rows = counts[i];
			for (int trial = 0; trial < (counts[i] > 100 ? 3 : 20); trial++)
				check_fill(given, pool, kind);
		}
	UNIT_CHECK(num_crowded > 0);
	UNIT_CHECK(num_dense > 10);
	mgpu_pool_stop(pool);
	free(given);
}

int
main(void)
{
	static const uint32_t counts[] = {0, 1, 2, 3, 100, 1024, MOST_ROWS};
	build_case *given = unit_allocate(sizeof(*given));

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (int kind = 0; kind < 4; kind++)
			check_build(given, counts[i], kind);
	check_damaged();
	check_condense();
	check_two_cells();
	check_fills();
	free(given);
	return unit_report();
}
