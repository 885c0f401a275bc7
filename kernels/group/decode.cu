/*
 * group/decode.cu
 *		Pages of a table in host memory → rows as columns in device memory.
 *
 * A CTA copies a page into shared memory, once, by loads of 16 bytes: from then on the page cannot change under its
 * checks.  It runs the tests of each row, counts the rows that it becomes (group_pairs.h), learns from the CTAs before it where they go, runs the
 * whole program for them and stores them.  So rows stay in order.  Running tests twice is cheap beside the link that pages
 * come over, and spares memory for rows that wait.  Rows of a build that come themselves are read last, as if they were in pages.
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
#include "core/group_pairs.h"
#include "device/launch.cuh"
#include "group/packed.cuh"

#define THREADS 128
#define WARPS (THREADS / 32)

/* So many pages at least are under way on an SM: with 128 registers a thread, nothing spills, and all SMs have 500 pages for the link. */
#define MIN_CTAS 4

/* Line pointers are looked at by so many, one each for the lanes of a warp. */
#define NUM_WORDS 64
static_assert(NUM_WORDS * 32 >= MGPU_PAGE_MAX_ITEMS, "a lane for each line pointer");
static_assert(NUM_WORDS * 32 >= MGPU_DECODE_ADDED, "a lane for each row of a build");

/* A word of the look-back: launch, then one of these, then a count. */
#define COUNT_BITS 30
#define WORD_OWN (UINT64_C(1) << COUNT_BITS)
#define WORD_ALL (UINT64_C(2) << COUNT_BITS)

/* Rows that a row may become, and those of a page: more would take a thread, or a kernel, too long. */
#define MOST_ROWS_OF_ROW (UINT32_C(1) << 24)
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

/* -------------------------------------------------------------------- rows */

/* The device keeps the page, too: as it is in shared memory, where it does not change. */
static __device__ void
keep_page(const page_state *state, uint4 *kept)
{
#pragma unroll
	for (uint32_t i = 0; i < MGPU_PAGE_BYTES / sizeof(uint4) / THREADS; i++)
		kept[i * THREADS + threadIdx.x] = state->page[i * THREADS + threadIdx.x];
	__threadfence();			/* before the batch has landed */
}

/* The page of a ticket, in shared memory; how many line pointers count.  Or how many rows of a build there are to add. */
static __device__ uint32_t
load_page(const mgpu_decode_request *request, page_state *state)
{
	if (request->num_added > 0)
		return min(request->num_added - state->ticket * MGPU_DECODE_ADDED, MGPU_DECODE_ADDED);

	mgpu_page_ref ref = request->refs[state->ticket];
	const uint4 *source = reinterpret_cast<const uint4 *>(mgpu_page_of_ref(ref, request->refs, request->num_refs,
																		   &request->places));
	uint4	   *kept = reinterpret_cast<uint4 *>(mgpu_kept_place_of_ref(ref, &request->places));

	if (threadIdx.x == 0)
		state->ref = ref;
	if (source == nullptr)
	{
		if (threadIdx.x == 0)
			atomicOr(&request->control->facts.flags, MGPU_GROUP_DAMAGED);
		return 0;
	}
#pragma unroll
	for (uint32_t i = 0; i < MGPU_PAGE_BYTES / sizeof(uint4) / THREADS; i++)
		state->page[i * THREADS + threadIdx.x] = source[i * THREADS + threadIdx.x];
	/* each thread stores what it has loaded */
	if (kept != nullptr)
		keep_page(state, kept);
	return ref.num_items;
}

/* What all rows share. */
static __device__ void
load_program(const mgpu_decode_request *request, page_state *state)
{
	const mgpu_group_spec *spec = &request->control->spec;

	for (uint32_t i = threadIdx.x; i < spec->num_ops; i += THREADS)
		state->ops[i] = spec->ops[i];
	for (uint32_t i = threadIdx.x; i < spec->num_constants; i += THREADS)
		state->constants[i] = mgpu_group_constant_of(spec, i);
	if (threadIdx.x != 0)
		return;
	state->program = mgpu_group_program(spec, request->builds, state->constants);
	state->program.ops = state->ops;
}

/* Find the inputs of a row; or have one of a build that comes itself. */
static __device__ mgpu_row_state
begin_row(const mgpu_decode_request *request, const page_state *state, uint32_t item, mgpu_row_pairs *pairs, mgpu_row_frame *frame)
{
	const mgpu_group_spec *spec = &request->control->spec;
	uint64_t	added = request->first_added + state->ticket * MGPU_DECODE_ADDED + item;

	if (request->num_added == 0)
	{
		mgpu_begin_row(pairs, request->marked);
		return mgpu_find_row_inputs(spec, reinterpret_cast<const char *>(state->page), mgpu_tid_of(state->ref, item), frame);
	}
	if (!mgpu_is_added(spec, request->marked, added))
		return MGPU_ROW_NONE;
	mgpu_begin_added_row(spec, &state->program, (int64_t) added, pairs, frame);
	return MGPU_ROW_READ;
}

/* How many rows a line pointer becomes, flags, and whether there is a row. */
struct row_count
{
	uint32_t	count;
	uint32_t	flags;
	bool		is_read;
};

static __device__ row_count
count_row(const mgpu_decode_request *request, const page_state *state, uint32_t item, mgpu_row_frame *frame)
{
	mgpu_row_pairs pairs;
	mgpu_row_state found = begin_row(request, state, item, &pairs, frame);
	row_count	result = {0, found == MGPU_ROW_DAMAGED ? MGPU_GROUP_DAMAGED : 0u, found == MGPU_ROW_READ};

	if (!result.is_read)
		return result;
	while (result.count < MOST_ROWS_OF_ROW && mgpu_next_row(&request->control->spec, &state->program, &pairs, frame))
		result.count++;
	result.flags = (pairs.is_fault ? MGPU_GROUP_FAULT : 0u) | (result.count == MOST_ROWS_OF_ROW ? MGPU_GROUP_FULL : 0u);
	return result;
}

static __device__ void
choose_rows(const mgpu_decode_request *request, page_state *state, uint32_t num_items, mgpu_row_frame *frame)
{
	uint32_t	flags = 0;
	uint32_t	num_read = 0;

	for (uint32_t word = threadIdx.x / 32; word < NUM_WORDS; word += WARPS)
	{
		uint32_t	item = word * 32 + threadIdx.x % 32;
		row_count	row = {0, 0, false};
		uint32_t	sum;

		if (item < num_items)
			row = count_row(request, state, item, frame);
		flags |= row.flags;
		num_read += (uint32_t) __popc(__ballot_sync(MGPU_WHOLE_WARP, row.is_read));
		state->counts[item] = row.count;
		sum = warp_sum(row.count);
		if (threadIdx.x % 32 == 0)
			state->ranks[word] = sum;
	}
	if (flags != 0)
		atomicOr(&request->control->facts.flags, flags);
	if (threadIdx.x % 32 == 0 && num_read > 0 && request->num_added == 0)
		atomicAdd((unsigned long long *) &request->control->facts.read_of_source[state->ref.source], (unsigned long long) num_read);
}

/* Returns flags. */
static __device__ uint32_t
store_row(const mgpu_decode_request *request, const mgpu_row_program *program, const mgpu_row_frame *frame, uint64_t place)
{
	const mgpu_group_spec *spec = &request->control->spec;
	uint32_t	nulls = 0;
	uint32_t	flags = 0;

	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		uint64_t	code;
		mgpu_cell_state cell = mgpu_row_cell(spec, program, frame, i, &code);

		nulls |= (uint32_t) (cell == MGPU_CELL_NULL) << i;
		flags |= cell == MGPU_CELL_FAULT ? MGPU_GROUP_FAULT : cell == MGPU_CELL_ODD ? MGPU_GROUP_ODD : 0;
		if (request->columns.codes[i] != nullptr)
			request->columns.codes[i][place] = code;
	}
	request->columns.nulls[place] = nulls;
	return flags;
}

/* Store the rows that a line pointer becomes, from a place on.  Returns flags. */
static __device__ uint32_t
store_rows_of(const mgpu_decode_request *request, const page_state *state, uint32_t item, uint64_t place, mgpu_row_frame *frame)
{
	const mgpu_group_spec *spec = &request->control->spec;
	mgpu_row_pairs pairs;
	uint32_t	flags = 0;

	(void) begin_row(request, state, item, &pairs, frame);
	/* one that is known to meet all tests runs the program in one go */
	if (spec->num_matches == 0)
	{
		mgpu_program_run_row(&state->program, 0, spec->num_ops, frame->registers, frame->inputs);
		return store_row(request, &state->program, frame, place);
	}
	while (place < request->columns.capacity && mgpu_next_row(spec, &state->program, &pairs, frame))
	{
		mgpu_run_row_columns(spec, &state->program, frame);
		flags |= store_row(request, &state->program, frame, place++);
	}
	return flags;
}

static __device__ void
store_rows(const mgpu_decode_request *request, const page_state *state, uint32_t num_items, mgpu_row_frame *frame)
{
	uint32_t	flags = 0;

	for (uint32_t word = threadIdx.x / 32; word * 32 < num_items; word += WARPS)
	{
		uint32_t	item = word * 32 + threadIdx.x % 32;
		uint32_t	count = state->counts[item];
		uint64_t	place = state->first_row + state->ranks[word] + warp_sum_up(count) - count;

		if (count > 0 && place < request->columns.capacity)
			flags |= store_rows_of(request, state, item, place, frame);
	}
	if (flags != 0)
		atomicOr(&request->control->facts.flags, flags);
}

static __global__ void
__launch_bounds__(THREADS, MIN_CTAS)
decode_pages(const __grid_constant__ mgpu_decode_request request)
{
	__shared__ page_state state;
	mgpu_row_frame frame;
	uint32_t	num_items;

	if (threadIdx.x == 0)
	{
		state.ticket = (uint32_t) (atomicAdd((unsigned long long *)
											 &request.control->num_tickets[request.launch % MGPU_DECODE_PLACES], 1ULL) -
								   request.num_tickets);
		state.is_full = (*(const volatile uint32_t *) &request.control->facts.flags & MGPU_GROUP_FULL) != 0;
	}
	__syncthreads();
	mgpu_let_next_start();
	num_items = load_page(&request, &state);
	if (state.is_full)
		num_items = 0;
	load_program(&request, &state);
	__syncthreads();
	choose_rows(&request, &state, num_items, &frame);
	__syncthreads();
	if (threadIdx.x < 32)
		place_rows(&request, &state);
	__syncthreads();
	store_rows(&request, &state, num_items, &frame);
}

extern "C" cudaError_t
mgpu_group_decode(const mgpu_decode_request *request, cudaStream_t stream)
{
	bool		overlaps;
	cudaError_t code = mgpu_can_overlap(&overlaps);

	/* all marks are there when the rows of a build come */
	overlaps &= request->num_added == 0;
	return code == cudaSuccess ?
		mgpu_launch_kernel(overlaps, decode_pages, request->num_refs, THREADS, 0, stream, *request) : code;
}
