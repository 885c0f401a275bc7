/*
 * group/decode.cu
 *		Pages of a table in host memory → rows as columns in device memory.
 *
 * A CTA copies a page into shared memory, once, by loads of 16 bytes: from then on the page cannot change under its
 * checks.  It runs the tests of each row, counts the rows that it becomes (core/group_pairs.h), learns from the CTAs before it where they go
 * (page_rows.cuh), runs the whole program for them and stores them.  So rows stay in order.  Running tests twice is cheap beside the link that
 * pages come over, and spares memory for rows that wait.  Rows of a build that come themselves are read last, as if they were in pages.
 */
#include "core/group_pairs.h"
#include "group/packed.cuh"
#include "group/page_rows.cuh"

/* So many pages at least are under way on an SM: with 128 registers a thread, nothing spills, and all SMs have 500 pages for the link. */
#define MIN_CTAS 4

/* Rows that a row may become, at most: more would take a thread too long. */
#define MOST_ROWS_OF_ROW (UINT32_C(1) << 24)

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
		mgpu_run_row_ops(&state->program, 0, spec->num_ops, frame);
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
