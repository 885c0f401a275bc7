/*
 * core_build.c
 *		Builds: random keys are found or not, as in a list; cells come back; those of a key of several cells by programs.
 */
#include "core/build.h"
#include "core/program.h"
#include "unit.h"

#define MOST_ROWS 5000

typedef struct build_case
{
	mgpu_build	build;
	char	   *memory;
	uint64_t	bytes;
	uint32_t	num_keys;		/* that are different */
	uint64_t	keys[MOST_ROWS];
	uint32_t	rows[MOST_ROWS];	/* with each */
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

static void
make_build(build_case *given, uint64_t offset, uint32_t num_rows, int kind)
{
	given->bytes = mgpu_build_plan(&given->build, offset, num_rows, 2);
	UNIT_CHECK(given->bytes >= offset && given->bytes % 8 == 0);
	given->memory = calloc(1, given->bytes);
	given->num_keys = 0;
	for (uint32_t row = 0; row < num_rows; row++)
	{
		uint64_t	key = random_key(kind);
		uint32_t	place = place_in_list(given, key);
		uint32_t	found = mgpu_build_add(&given->build, given->memory, key, row);

		UNIT_CHECK(found == (place < given->num_keys ? given->rows[place] : row));
		if (place == given->num_keys)
		{
			given->keys[place] = key;
			given->rows[place] = row;
			given->num_keys++;
		}
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

/* A table without an empty slot, as damage may leave it: a look-up ends. */
static void
check_damaged(void)
{
	mgpu_build	build;
	uint64_t	bytes = mgpu_build_plan(&build, 0, 100, 0);
	char	   *memory = malloc(bytes);
	int64_t		row;

	memset(memory, 0xFF, bytes);
	UNIT_CONTEXT("no slot is empty");
	UNIT_CHECK(!mgpu_build_find(&build, memory, 5, &row));
	UNIT_CHECK(mgpu_build_find(&build, memory, UINT64_MAX, &row));
	free(memory);
	UNIT_CHECK(mgpu_build_plan(&build, 0, (uint64_t) MGPU_BUILD_MAX_ROWS + 1, 0) == 0);
	UNIT_CHECK(mgpu_build_plan(&build, 0, 1, MGPU_BUILD_MAX_COLUMNS + 1) == 0);
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
	uint64_t	bytes = mgpu_build_plan(&build, 0, 2, 2);
	char	   *memory = calloc(1, bytes);
	mgpu_program program = {5, ops, lanes, NULL, &build, memory};
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

int
main(void)
{
	static const uint32_t counts[] = {0, 1, 2, 3, 100, 1024, MOST_ROWS};
	build_case *given = unit_allocate(sizeof(*given));

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (int kind = 0; kind < 4; kind++)
			check_build(given, counts[i], kind);
	check_damaged();
	check_two_cells();
	free(given);
	return unit_report();
}
