/*
 * group/page_rows.cuh
 *		A CTA's page while it is decoded (decode.cu), and where its rows go.
 *
 * CTAs take pages by tickets, so each waits for CTAs that run already.  Each says in one word how many rows it has,
 * then how many there are up to it (decoupled look-back).  A word holds the launch's number, so none is ever cleared.
 * Launches overlap, so that the link brings the pages of some while others begin or end.  Each waits for the total of the
 * one before it, so it starts when all CTAs of that one have tickets, and no sooner: else a kernel of another run could
 * take the place of these, and wait for the later launch.  What its CTAs tell each other stands in a place that a launch
 * has had some time before.  They wait until all CTAs of that one have read it.
 * Rejected: a count of rows by the host, which would read each row; two launches a batch, which would read each page
 * twice; streams by turns with an event between two launches, after which each started when the last had ended.
 *
 * Source: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
 */
#ifndef MGPU_GROUP_PAGE_ROWS_CUH
#define MGPU_GROUP_PAGE_ROWS_CUH

#include "core/group_row.h"
#include "device/launch.cuh"
#include "group/group.h"

#define THREADS 128
#define WARPS (THREADS / 32)

/* Line pointers are looked at by so many, one each for the lanes of a warp. */
#define NUM_WORDS 64
static_assert(NUM_WORDS * 32 >= MGPU_PAGE_MAX_ITEMS, "a lane for each line pointer");
static_assert(NUM_WORDS * 32 >= MGPU_DECODE_ADDED, "a lane for each row of a build");

/* A word of the look-back: launch, then one of these, then a count. */
#define COUNT_BITS 30
#define WORD_OWN (UINT64_C(1) << COUNT_BITS)
#define WORD_ALL (UINT64_C(2) << COUNT_BITS)

/* Rows of a page, at most: more would take a kernel too long. */
#define MOST_ROWS_OF_PAGE (UINT64_C(1) << (COUNT_BITS - 1))

/*
 * Operations are copied to shared memory, since each thread reads all of them for each row.  The rest of the spec is read less often,
 * and stays in the control block: all CTAs of an SM share its L1 cache.  A program's registers are the thread's, in local memory: they
 * are as many as the spec says.
 */
struct page_state
{
	uint4		page[MGPU_PAGE_BYTES / sizeof(uint4)];
	mgpu_program_op ops[MGPU_GROUP_MAX_OPS];
	mgpu_row_register constants[MGPU_GROUP_MAX_CONSTANTS];
	mgpu_row_program program;
	uint32_t	counts[NUM_WORDS * 32];	/* of each line pointer: rows that it becomes ... */
	uint32_t	ranks[NUM_WORDS];	/* ... and those in front of each word's */
	uint32_t	ticket;
	bool		is_full;		/* the run will have no answer: nothing is read */
	mgpu_page_ref ref;
	uint64_t	first_row;		/* where the page's rows go */
};

static __device__ __forceinline__ uint32_t
warp_sum(uint32_t value)
{
	for (int distance = 16; distance > 0; distance /= 2)
		value += __shfl_xor_sync(MGPU_WHOLE_WARP, value, distance);
	return value;
}

/* -------------------------------------------------------------- look-back */

/* The word of a ticket of this launch, once it is there.  Before the first one there are no rows. */
static __device__ uint64_t
await_word(const uint64_t *words, int ticket, uint32_t launch)
{
	uint64_t	word = WORD_ALL;

	if (ticket < 0)
		return word;
	do
		word = *(const volatile uint64_t *) &words[ticket];
	while (word >> 32 != launch);
	return word;
}

static __device__ __forceinline__ void
publish(uint64_t *words, uint32_t ticket, uint32_t launch, uint64_t kind, uint32_t count)
{
	*(volatile uint64_t *) &words[ticket] = (uint64_t) launch << 32 | kind | count;
}

/* One warp: how many rows do the tickets before this one have? */
static __device__ uint32_t
look_back(uint64_t *words, uint32_t ticket, uint32_t launch, uint32_t count)
{
	int			lane = threadIdx.x % 32;
	uint32_t	before = 0;
	uint32_t	complete = 0;

	if (lane == 0)
		publish(words, ticket, launch, ticket == 0 ? WORD_ALL : WORD_OWN, count);
	for (int end = (int) ticket; complete == 0; end -= 32)
	{
		uint64_t	word = await_word(words, end - 1 - lane, launch);

		complete = __ballot_sync(MGPU_WHOLE_WARP, (word & WORD_ALL) != 0);
		/* up to the first that knows all before it */
		before += warp_sum(lane <= (complete == 0 ? 31 : __ffs((int) complete) - 1) ?
						   (uint32_t) (word & (WORD_OWN - 1)) : 0);
	}
	if (lane == 0 && ticket > 0)
		publish(words, ticket, launch, WORD_ALL, before + count);
	return before;
}

/* One warp: the lanes' numbers up to each one's, itself among them. */
static __device__ __forceinline__ uint64_t
warp_sum_up(uint64_t value)
{
	for (int distance = 1; distance < 32; distance *= 2)
	{
		uint64_t	other = __shfl_up_sync(MGPU_WHOLE_WARP, value, distance);

		value += threadIdx.x % 32 >= (uint32_t) distance ? other : 0;
	}
	return value;
}

/* One warp, of which each lane takes two words: the rank of each word's first row, and how many rows the page has. */
static __device__ uint64_t
rank_rows(page_state *state)
{
	uint32_t	lane = threadIdx.x % 32;
	uint64_t	low = state->ranks[2 * lane];
	uint64_t	sum = low + state->ranks[2 * lane + 1];
	uint64_t	up_to = warp_sum_up(sum);

	state->ranks[2 * lane] = (uint32_t) (up_to - sum);
	state->ranks[2 * lane + 1] = (uint32_t) (up_to - sum + low);
	return __shfl_sync(MGPU_WHOLE_WARP, up_to, 31);
}

/* Until the launches before that had this place need it no more. */
static __device__ void
await_place(const mgpu_group_control *control, uint32_t place, uint64_t num_tickets)
{
	while (*(const volatile uint64_t *) &control->num_placed[place] < num_tickets)
		;
}

/* How many rows there are up to a launch; before the first one, none. */
static __device__ uint32_t
await_total(const mgpu_group_control *control, uint32_t launch)
{
	uint64_t	total;

	do
		total = *(const volatile uint64_t *) &control->facts.rows[launch % MGPU_GROUP_TOTALS];
	while (total >> 32 != launch);
	return (uint32_t) total;
}

/* One warp: find where the page's rows go.  The last page tells the next launch, and the host. */
static __device__ void
place_rows(const mgpu_decode_request *request, page_state *state)
{
	mgpu_group_control *control = request->control;
	uint64_t	wanted = rank_rows(state);
	uint32_t	count = wanted > MOST_ROWS_OF_PAGE ? 0 : (uint32_t) wanted;
	uint32_t	place = request->launch % MGPU_DECODE_PLACES;
	uint32_t	before;
	uint64_t	first_row;
	uint64_t	num_rows;

	await_place(control, place, request->num_tickets);
	before = look_back(control->words[place], state->ticket, request->launch, count);
	first_row = await_total(control, request->launch - 1) + before;
	num_rows = min(first_row + count, request->columns.capacity);
	if (threadIdx.x % 32 != 0)
		return;
	atomicAdd((unsigned long long *) &control->num_placed[place], 1ULL);
	if (request->num_added == 0)
		atomicAdd((unsigned long long *) &control->facts.rows_of_source[state->ref.source], (unsigned long long) count);
	state->first_row = first_row;
	/* without matches, the host saw fewer line pointers */
	if (first_row + wanted > request->columns.capacity || wanted > MOST_ROWS_OF_PAGE)
		atomicOr(&control->facts.flags, control->spec.num_matches > 0 ? MGPU_GROUP_FULL : MGPU_GROUP_DAMAGED);
	if (state->ticket + 1 == request->num_refs)
	{
		uint64_t	total = (uint64_t) request->launch << 32 | num_rows;

		/* all CTAs have counted their rows, in copies of their pages */
		*(volatile uint64_t *) request->landed = request->landed_number;
		*(volatile uint64_t *) request->progress = total;
		*(volatile uint64_t *) &control->facts.rows[request->launch % MGPU_GROUP_TOTALS] = total;
	}
}

#endif							/* MGPU_GROUP_PAGE_ROWS_CUH */
