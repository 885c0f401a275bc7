/*
 * core_service_kept.c
 *		The directory of kept pages, with tables that change while jobs read them.
 *
 * A world of pages has a version each, and a map with bits and LSNs that change as PostgreSQL's do.  Jobs take their steps in any
 * order beside each other.  What a job is told of must have the version that the page has, as long as the job holds it.
 */
#include "core/service/kept_pages.h"
#include "unit.h"

#define NUM_TABLES 3
#define NUM_STRETCHES 2
#define NUM_PAGES (5 * MGPU_KEPT_RANGE - 7)	/* of a stretch */
#define MOST_FRAMES 40
#define NUM_JOBS 6

typedef struct stretch_state
{
	uint64_t	lsn;
	bool		is_set[NUM_PAGES];
	uint32_t	versions[NUM_PAGES];
} stretch_state;

typedef struct job
{
	mgpu_kept_holder holder;
	mgpu_kept_question question;
	bool		is_open;
	bool		has_looked;
	int			table;
	uint32_t	stored[NUM_PAGES];	/* versions that the device will write */
	uint32_t	places[NUM_PAGES];
	uint32_t	num_read;
	uint32_t	read_places[NUM_STRETCHES * NUM_PAGES * 4];
	uint32_t	read_versions[NUM_STRETCHES * NUM_PAGES * 4];
} job;

static stretch_state world[NUM_TABLES][NUM_STRETCHES];
static mgpu_kept_relation relations[MGPU_KEPT_RELATIONS];
static uint32_t device[MOST_FRAMES * MGPU_KEPT_RANGE + 1];
static job	jobs[NUM_JOBS];
static uint64_t next_lsn = 1;
static uint32_t next_version = 1;
static unsigned long num_kept;
static unsigned long num_stored;
static bool ignores_lsn;

static uint32_t
below(uint32_t limit)
{
	return (uint32_t) (unit_random() % limit);
}

static stretch_state *
stretch_of(const job *job)
{
	return &world[job->table][job->question.stretch];
}

/* A change clears a bit; a vacuum sets bits, and moves the LSN. */
static void
change_world(void)
{
	stretch_state *state = &world[below(NUM_TABLES)][below(NUM_STRETCHES)];

	if (below(4) == 0)
	{
		state->lsn = next_lsn++;
		for (uint32_t i = 0; i < NUM_PAGES; i++)
			state->is_set[i] |= below(3) > 0;
		return;
	}
	for (uint32_t i = below(NUM_PAGES); i < NUM_PAGES && below(5) > 0; i++)
	{
		state->is_set[i] = false;
		state->versions[i] = next_version++;
	}
}

static void
ask_of(const job *job, mgpu_kept_question *question)
{
	const stretch_state *state = stretch_of(job);

	question->lsn = ignores_lsn ? 1 : state->lsn;
	for (uint32_t i = 0; i < MGPU_KEPT_RANGES; i++)
		question->ranges[i] = (mgpu_kept_range) {0};
	for (uint32_t i = 0; i < NUM_PAGES; i++)
		question->ranges[i / MGPU_KEPT_RANGE].bits |= (uint64_t) state->is_set[i] << i % MGPU_KEPT_RANGE;
}

/* Take what is kept, and store some of the others. */
static void
take_answer(mgpu_kept_pages *kept, job *job)
{
	const stretch_state *state = stretch_of(job);

	for (uint32_t i = 0; i < NUM_PAGES; i++)
	{
		const mgpu_kept_range *range = &job->question.ranges[i / MGPU_KEPT_RANGE];
		uint32_t	place = range->frame * MGPU_KEPT_RANGE + i % MGPU_KEPT_RANGE + 1;
		uint16_t	num_items = 0;

		job->places[i] = 0;
		if ((range->bits >> i % MGPU_KEPT_RANGE & 1) != 0)
		{
			UNIT_CHECK(mgpu_kept_find(kept, place, &num_items) && num_items == state->versions[i] % 100);
			UNIT_CHECK(device[place] == state->versions[i] && state->is_set[i]);
			UNIT_CHECK(!mgpu_kept_store(kept, &job->holder, place, 1));
			job->read_places[job->num_read] = place;
			job->read_versions[job->num_read++] = device[place];
			num_kept++;
		}
		else if (range->may_store && below(4) > 0 && mgpu_kept_store(kept, &job->holder, place, state->versions[i] % 100))
		{
			job->places[i] = place;
			job->stored[i] = state->versions[i];
			UNIT_CHECK(!mgpu_kept_store(kept, &job->holder, place, 1));
			UNIT_CHECK(!mgpu_kept_find(kept, place, &num_items));
			num_stored++;
		}
	}
}

static void
look(mgpu_kept_pages *kept, job *job)
{
	job->table = (int) below(NUM_TABLES);
	job->question.stretch = below(NUM_STRETCHES);
	job->question.tag = (mgpu_kept_tag) {1, 2, (uint32_t) job->table + 10};
	ask_of(job, &job->question);
	mgpu_kept_look(kept, &job->holder, &job->question);
	take_answer(kept, job);
	job->has_looked = true;
}

/* The device writes before the kernels end, whenever that is; the bits are read again first. */
static void
confirm(mgpu_kept_pages *kept, job *job)
{
	ask_of(job, &job->question);
	mgpu_kept_confirm(kept, &job->holder, &job->question);
	for (uint32_t i = 0; i < NUM_PAGES; i++)
	{
		if (job->places[i] != 0)
			device[job->places[i]] = job->stored[i];
	}
	job->has_looked = false;
}

static void
end_job(mgpu_kept_pages *kept, job *job)
{
	for (uint32_t i = 0; i < job->num_read; i++)
		UNIT_CHECK(device[job->read_places[i]] == job->read_versions[i]);
	if (below(4) > 0)
		mgpu_kept_publish(kept, &job->holder);
	mgpu_kept_release(kept, &job->holder);
	*job = (struct job) {0};
}

static void
step(mgpu_kept_pages *kept)
{
	job		   *job = &jobs[below(NUM_JOBS)];

	if (below(3) == 0)
		change_world();
	else if (below(200) == 0)
	{
		atomic_store(&relations[below(4)].is_dropped, 1);
		mgpu_kept_drop(kept);
	}
	else if (job->has_looked)
		confirm(kept, job);
	else if (job->is_open && (below(3) == 0 || job->num_read + NUM_PAGES > sizeof(job->read_places) / sizeof(uint32_t)))
		end_job(kept, job);
	else
	{
		job->is_open = true;
		look(kept, job);
	}
}

/* Counts that others see are those of the directory's frames. */
static void
check_counts(uint32_t num_frames)
{
	uint32_t	all = 0;

	for (uint32_t i = 0; i < MGPU_KEPT_RELATIONS; i++)
	{
		uint32_t	frames = atomic_load(&relations[i].num_frames);

		all += frames;
		UNIT_CHECK(frames == 0 || atomic_load(&relations[i].num_pages) <= (uint64_t) frames * MGPU_KEPT_RANGE);
	}
	UNIT_CHECK(all <= num_frames);
}

static void
run_world(uint32_t num_frames, int num_steps)
{
	mgpu_kept_pages *kept = mgpu_kept_create(num_frames, relations);

	memset(device, 0, sizeof(device));
	for (int i = 0; i < num_steps; i++)
	{
		UNIT_CONTEXT("%u frames, step %d", num_frames, i);
		step(kept);
		check_counts(num_frames);
	}
	for (int i = 0; i < NUM_JOBS; i++)
		end_job(kept, &jobs[i]);
	mgpu_kept_free(kept);
}

/* A test of the test: without the LSN, pages that were changed and vacuumed seem to be as they were. */
static void
check_that_lsn_counts(void)
{
	unsigned long passed = unit_passed;
	unsigned long failed = unit_failed;

	unit_failed = UNIT_MAX_MESSAGES;
	ignores_lsn = true;
	run_world(MOST_FRAMES, 3000);
	ignores_lsn = false;
	passed = unit_failed > UNIT_MAX_MESSAGES ? passed : 0;
	unit_failed = failed;
	unit_passed = passed > 0 ? passed : unit_passed;
	UNIT_CHECK(passed > 0);
}

/* A question that names what is not there leads nowhere. */
static void
check_strays(void)
{
	mgpu_kept_pages *kept = mgpu_kept_create(2, relations);
	mgpu_kept_holder holder = {0};
	uint16_t	num_items;

	UNIT_CHECK(!mgpu_kept_find(kept, 0, &num_items));
	UNIT_CHECK(!mgpu_kept_find(kept, 1, &num_items));
	UNIT_CHECK(!mgpu_kept_find(kept, UINT32_MAX, &num_items));
	UNIT_CHECK(!mgpu_kept_store(kept, &holder, 1, 1));
	UNIT_CHECK(!mgpu_kept_store(kept, &holder, 2 * MGPU_KEPT_RANGE + 1, 1));
	mgpu_kept_publish(kept, &holder);
	mgpu_kept_release(kept, &holder);
	mgpu_kept_free(kept);
	mgpu_kept_free(NULL);
}

int
main(void)
{
	check_strays();
	run_world(MOST_FRAMES, 20000);
	run_world(7, 20000);
	run_world(1, 3000);
	UNIT_CHECK(num_kept > 1000 && num_stored > 1000);
	check_that_lsn_counts();
	return unit_report();
}
