/*
 * table_matches.c
 *		Rows that match several rows of a build: each pair is a row.
 *
 * The tests up to a match run for a vector of rows, as if each had one match.  Then the registers that are read behind it are saved, and vectors
 * of pairs are made of them, which meet the conditions of the match, the other tests, and the next match.  So a row may become any number of
 * rows, and none takes more memory than a vector for each match.  Rows that are kept for having a match, or none, are loaded once more.
 * To have rows of several matches in a vector of any length was rejected: registers have one size.
 */
#include "core/cpu/table/table_read.h"

#include <string.h>

/* A vector of rows that have met the tests up to a match. */
struct mgpu_table_saved
{
	mgpu_register registers[MGPU_GROUP_MAX_REGISTERS];	/* those that are read behind it */
	uint16_t	kept[MGPU_VECTOR_ROWS];
	int64_t		next[MGPU_VECTOR_ROWS]; /* the row of the build that each meets next; -1: none */
	uint16_t	from[MGPU_VECTOR_ROWS]; /* of the pairs at hand: the row ... */
	int64_t		matched[MGPU_VECTOR_ROWS];	/* ... and that of the build, or -1 */
	bool		has_match[MGPU_VECTOR_ROWS];	/* of each row, so far */
};

static uint64_t
registers_of(const mgpu_run *run, const mgpu_group_match *match)
{
	return run->moved[match->test - 1];
}

bool
mgpu_table_make_saved(mgpu_run *run, mgpu_table_worker *worker)
{
	for (uint32_t i = 0; i < run->spec.num_matches; i++)
	{
		uint64_t	registers = registers_of(run, &run->spec.matches[i]);
		uint64_t	register_bytes = MGPU_VECTOR_ROWS * (sizeof(int64_t) + sizeof(uint32_t) + 1);
		uint64_t	num_saved = (uint64_t) __builtin_popcountll(registers);
		char	   *memory = mgpu_arena_allocate(&worker->arena, sizeof(mgpu_table_saved) + num_saved * register_bytes);

		if (memory == NULL)
			return false;
		worker->saved[i] = (mgpu_table_saved *) memory;
		memory += sizeof(mgpu_table_saved);
		for (uint64_t left = registers; left != 0; left &= left - 1)
		{
			mgpu_register *reg = &worker->saved[i]->registers[__builtin_ctzll(left)];

			reg->integers = (int64_t *) memory;
			reg->lengths = (uint32_t *) (memory + MGPU_VECTOR_ROWS * sizeof(int64_t));
			reg->states = (uint8_t *) (reg->lengths + MGPU_VECTOR_ROWS);
			memory += register_bytes;
		}
	}
	return true;
}

/* ---- pairs */

static void
save_rows(const mgpu_run *run, const mgpu_table_worker *worker, const mgpu_group_match *match, mgpu_table_saved *saved, uint32_t num_rows)
{
	const mgpu_register *reg = &worker->registers[match->reg];

	for (uint64_t left = registers_of(run, match); left != 0; left &= left - 1)
	{
		int			number = __builtin_ctzll(left);

		memcpy(saved->registers[number].integers, worker->registers[number].integers, num_rows * sizeof(int64_t));
		memcpy(saved->registers[number].lengths, worker->registers[number].lengths, num_rows * sizeof(uint32_t));
		memcpy(saved->registers[number].states, worker->registers[number].states, num_rows);
	}
	memcpy(saved->kept, worker->kept, num_rows * sizeof(uint16_t));
	memset(saved->has_match, 0, num_rows * sizeof(bool));
	for (uint32_t i = 0; i < num_rows; i++)
		saved->next[i] = reg->states[i] == MGPU_IS_VALUE && reg->integers[i] < run->spec.builds[match->build].num_rows ? reg->integers[i] : -1;
}

/* Whether rows without a match are known beforehand: they come in their place. */
static bool
has_all_pairs(const mgpu_group_match *match)
{
	return match->kind == MGPU_MATCH_ALL && match->num_conditions == 0;
}

/* Candidates that are looked at between checks for an end. */
#define MOST_LOOKS (64 * MGPU_VECTOR_ROWS)

/* A candidate becomes a pair, or not.  Returns the next one of the same row; -1: there is none. */
static inline int64_t
look_at(const mgpu_table_looks *looks, const uint32_t *next, mgpu_table_saved *saved, uint32_t row, int64_t matched, uint32_t *num_pairs)
{
	int64_t		found = next ? (int64_t) next[matched] - 1 : -1;

	saved->from[*num_pairs] = (uint16_t) row;
	saved->matched[*num_pairs] = matched;
	*num_pairs += mgpu_table_is_pair(looks, row, matched);
	/* a list ends, whatever is there */
	return found < matched ? found : -1;
}

/* The next pairs, of rows from *row on: perhaps none, of very many candidates.  Their number. */
static uint32_t
find_pairs(const mgpu_run *run, const mgpu_group_match *match, mgpu_table_saved *saved, uint32_t *row, uint32_t num_rows)
{
	const mgpu_build *build = &run->spec.builds[match->build];
	const uint32_t *next = build->has_next ? (const uint32_t *) (run->builds + build->offset + mgpu_build_next_offset(build)) : NULL;
	mgpu_table_looks looks = run->looks[match - run->spec.matches];
	uint32_t	left = MOST_LOOKS;
	uint32_t	num_pairs = 0;

	mgpu_table_open_looks(&looks, build, run->builds, saved->registers);
	for (; left > 0 && *row < num_rows && num_pairs < MGPU_VECTOR_ROWS; *row += saved->next[*row] < 0)
	{
		int64_t		matched = saved->next[*row];

		if (matched < 0 && has_all_pairs(match))
		{
			saved->from[num_pairs] = (uint16_t) *row;
			saved->matched[num_pairs++] = -1;
		}
		for (; matched >= 0 && left > 0 && num_pairs < MGPU_VECTOR_ROWS; left--)
			matched = look_at(&looks, next, saved, *row, matched, &num_pairs);
		saved->next[*row] = matched;
	}
	return num_pairs;
}

/* Rows that have a match, or none, as pairs without a row of the build. */
static uint32_t
find_rows(mgpu_table_saved *saved, bool has_match, uint32_t num_rows)
{
	uint32_t	num_found = 0;

	for (uint32_t i = 0; i < num_rows; i++)
	{
		saved->from[num_found] = (uint16_t) i;
		num_found += saved->has_match[i] == has_match;
	}
	for (uint32_t i = 0; i < num_found; i++)
		saved->matched[i] = -1;
	return num_found;
}

/* The registers of pairs: those of their rows, but for the match. */
static void
load_pairs(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_group_match *match, const mgpu_table_saved *saved, uint32_t num_pairs)
{
	for (uint64_t left = registers_of(run, match); left != 0; left &= left - 1)
	{
		int			number = __builtin_ctzll(left);
		const mgpu_register *from = &saved->registers[number];
		mgpu_register *to = &worker->registers[number];

		for (uint32_t i = 0; i < num_pairs; i++)
		{
			to->integers[i] = from->integers[saved->from[i]];
			to->states[i] = from->states[saved->from[i]];
		}
		for (uint32_t i = 0; run->spec.lanes[number] >= MGPU_LANE_BYTES && i < num_pairs; i++)
			to->lengths[i] = from->lengths[saved->from[i]];
	}
	for (uint32_t i = 0; i < num_pairs; i++)
	{
		worker->kept[i] = saved->kept[saved->from[i]];
		worker->registers[match->reg].integers[i] = saved->matched[i];
		worker->registers[match->reg].states[i] = saved->matched[i] < 0 ? MGPU_IS_NULL : MGPU_IS_VALUE;
	}
}

/* Most rows are marked often: what is read alone stays in the caches of all threads. */
static void
mark_row(mgpu_run *run, int64_t row)
{
	if ((uint64_t) row < run->spec.builds[run->spec.matches[0].build].num_rows && atomic_load_explicit(&run->marked[row], memory_order_relaxed) == 0)
		atomic_store_explicit(&run->marked[row], 1, memory_order_relaxed);
}

static void
mark_matches(mgpu_run *run, const mgpu_table_worker *worker, const mgpu_group_match *match, uint32_t num_pairs)
{
	const mgpu_register *reg = &worker->registers[match->reg];

	for (uint32_t i = 0; match->adds != MGPU_ADDS_NOTHING && i < num_pairs; i++)
	{
		if (reg->states[i] == MGPU_IS_VALUE)
			mark_row(run, reg->integers[i]);
	}
}

/* ---- rows */

static bool meet_from(mgpu_run *run, mgpu_table_worker *worker, uint32_t number, uint32_t num_rows);

/* All pairs of rows that are saved meet the conditions of a match and, where pairs are wanted, what is behind it. */
static bool
meet_pairs(mgpu_run *run, mgpu_table_worker *worker, uint32_t number, uint32_t num_rows)
{
	const mgpu_group_match *match = &run->spec.matches[number];
	mgpu_table_saved *saved = worker->saved[number];
	uint32_t	row = 0;
	bool		goes_on = true;

	while (row < num_rows && goes_on && mgpu_table_goes_on(run))
	{
		uint32_t	num_pairs = find_pairs(run, match, saved, &row, num_rows);

		load_pairs(run, worker, match, saved, num_pairs);
		num_pairs = mgpu_table_meet_tests(run, worker, match->test, mgpu_group_match_end(match), saved->from, num_pairs);
		for (uint32_t i = 0; i < num_pairs; i++)
			saved->has_match[saved->from[i]] = true;
		mark_matches(run, worker, match, num_pairs);
		if (match->kind <= MGPU_MATCH_ALL)
			goes_on = meet_from(run, worker, number + 1, num_pairs);
		else if (match->kind != MGPU_MATCH_MARKS && num_pairs > 0 && row < num_rows && saved->has_match[row])
			row++;				/* one match is enough */
	}
	return goes_on;
}

/* Rows that are saved come once, without a row of the build: those with a match, or without. */
static bool
meet_alone(mgpu_run *run, mgpu_table_worker *worker, uint32_t number, bool has_match, uint32_t num_rows)
{
	const mgpu_group_match *match = &run->spec.matches[number];
	mgpu_table_saved *saved = worker->saved[number];

	num_rows = find_rows(saved, has_match, num_rows);
	load_pairs(run, worker, match, saved, num_rows);
	/* what is computed for conditions may be read behind them */
	mgpu_table_run_tests(run, worker, match->test, mgpu_group_match_end(match), num_rows);
	return meet_from(run, worker, number + 1, num_rows);
}

/* Rows that have met the tests up to a match meet it, and what is behind it. */
static bool
meet_match(mgpu_run *run, mgpu_table_worker *worker, uint32_t number, uint32_t num_rows)
{
	const mgpu_group_match *match = &run->spec.matches[number];

	if (match->num_conditions == 0 && !run->spec.builds[match->build].has_next)
	{
		mark_matches(run, worker, match, num_rows);
		return match->kind == MGPU_MATCH_MARKS || meet_from(run, worker, number + 1, num_rows);
	}
	save_rows(run, worker, match, worker->saved[number], num_rows);
	if (!meet_pairs(run, worker, number, num_rows))
		return false;
	return match->kind == MGPU_MATCH_PAIRS || match->kind == MGPU_MATCH_MARKS || has_all_pairs(match) ||
		meet_alone(run, worker, number, match->kind == MGPU_MATCH_SOME, num_rows);
}

/* The first rows of the vector have met so many matches, and meet what is behind these. */
static bool
meet_from(mgpu_run *run, mgpu_table_worker *worker, uint32_t number, uint32_t num_rows)
{
	const mgpu_group_spec *spec = &run->spec;
	uint32_t	begin = number > 0 ? mgpu_group_match_end(&spec->matches[number - 1]) : 0;
	uint32_t	end = number < spec->num_matches ? spec->matches[number].test : spec->num_tests;

	num_rows = mgpu_table_meet_tests(run, worker, begin, end, NULL, num_rows);
	return number < spec->num_matches ? meet_match(run, worker, number, num_rows) : mgpu_table_take_vector(run, worker, num_rows);
}

static void
keep_all(mgpu_table_worker *worker, uint32_t num_rows)
{
	for (uint32_t i = 0; i < num_rows; i++)
		worker->kept[i] = (uint16_t) i;
}

bool
mgpu_table_take_rows(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_rows)
{
	keep_all(worker, num_rows);
	return meet_from(run, worker, 0, num_rows);
}

bool
mgpu_table_take_marked(mgpu_run *run, mgpu_table_worker *worker, const uint32_t *rows, uint32_t num_rows)
{
	const mgpu_group_match *match = &run->spec.matches[0];
	mgpu_register *reg = &worker->registers[match->reg];

	for (uint32_t i = 0; i < run->spec.num_inputs; i++)
		memset(worker->found[i], 0, num_rows * sizeof(char *));
	keep_all(worker, num_rows);
	mgpu_table_run_tests(run, worker, 0, match->test, num_rows);
	for (uint32_t i = 0; i < num_rows; i++)
	{
		reg->integers[i] = rows[i];
		reg->states[i] = MGPU_IS_VALUE;
	}
	mgpu_table_run_tests(run, worker, match->test, mgpu_group_match_end(match), num_rows);
	return meet_from(run, worker, 1, num_rows);
}
