/*
 * sort/window_fused.cuh
 *		Block sort and window pass in one launch, where each tile is a run.
 *
 * The window of run i needs runs i - 1, i and i + 1 (window_pass.cuh).  So a CTA sorts a tile and
 * continues with the window of an earlier one:
 *
 *	 sort tile t, and publish that
 *	 u = t - lag: wait until tiles u - 3 to u are sorted
 *	 find the splits at both ends of tile u - 1; compare ends of runs (the proof)
 *	 merge the window of tile u - 1, and of the last tile too
 *
 * Merges wait for memory and run beside block sorts, which wait for shared memory.  CTAs wait only
 * for lower numbers, which devices begin first.  That is not promised, so a CTA that waits too
 * long gives up and the answer is no; then the runs are all there when the launch ends. (Turns
 * from a counter would cost 3 to 5 us.) Words of tiles hold the question's number
 * (device/signal.h), so nothing is cleared.
 */
#ifndef MGPU_SORT_WINDOW_FUSED_CUH
#define MGPU_SORT_WINDOW_FUSED_CUH

#include "sort/window_kernels.cuh"

/* One a device.  Zero when the module is loaded. */
struct mgpu_fused_state
{
	uint32_t	num_proved;		/* tiles whose part of the proof is done; zero between launches */
	uint32_t	sorted[MGPU_FUSED_MOST_TILES];	/* the question for which a tile was last sorted */
};

static __device__ mgpu_fused_state mgpu_fused;

/* What the threads of a CTA share. */
struct mgpu_fused_work
{
	uint32_t	splits[2];		/* of the tile before, and of this one */
	bool		fails;			/* this tile's part of the proof failed, or another's is known to have failed */
};

/* All threads: what the CTA stored of this tile is visible to CTAs that ask. */
static __device__ __forceinline__ void
mgpu_publish_sorted(uint32_t tile, uint32_t question)
{
	__syncthreads();				/* all of the CTA's writes come before the release */
	if (threadIdx.x == 0)
		asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(&mgpu_fused.sorted[tile]), "r"(question) : "memory");
	__syncwarp();					/* others may wait for it, so it comes before all waiting */
}

/* Is the answer known to be no? */
static __device__ __forceinline__ bool
mgpu_fused_has_failed(uint32_t question)
{
	return *(volatile uint32_t *) &mgpu_window_failure == question;
}

/*
 * All threads: wait until this tile and the three before it are sorted and visible.  A CTA that
 * gives up says so, and waiting CTAs check for that now and then.  Ends with a barrier.
 */
static __device__ __forceinline__ bool
mgpu_await_sorted(uint32_t tile, uint32_t question)
{
	bool		is_sorted = true;

	if (threadIdx.x <= 3 && threadIdx.x <= tile)
	{
		const uint32_t *sorted = &mgpu_fused.sorted[tile - threadIdx.x];

		for (uint32_t polls = 0; *(const volatile uint32_t *) sorted != question; polls++)
			if (polls % MGPU_FUSED_POLLS == MGPU_FUSED_POLLS - 1 &&
				(polls >= MGPU_FUSED_PATIENCE || mgpu_fused_has_failed(question)))
			{
				*(volatile uint32_t *) &mgpu_window_failure = question;
				is_sorted = false;
				break;
			}
		__threadfence();			/* what was written before those words is visible */
	}
	return __syncthreads_and(is_sorted);
}

/*
 * One thread: this tile's part of the proof is done.  The last one tells the host the answer and
 * clears the count.  A launch that does not end takes the device's memory with it, so no launch
 * finds an old count.
 */
static __device__ __forceinline__ void
mgpu_tell_fused_answer(bool fails, uint64_t num_tiles, uint32_t question, mgpu_signals *signals)
{
	if (fails)
		*(volatile uint32_t *) &mgpu_window_failure = question;
	__threadfence();
	if (atomicAdd(&mgpu_fused.num_proved, 1) + 1 != num_tiles)
		return;
	__threadfence();
	mgpu_fused.num_proved = 0;
	*(volatile uint64_t *) &signals->words[MGPU_WINDOW_ANSWER] = MGPU_SIGNAL(question, !mgpu_fused_has_failed(question));
}

/* Two warps find the splits at both ends of the tile before this one; a thread does the tile's part of the proof. */
template <class Keys>
static __device__ __forceinline__ void
mgpu_check_window(Keys keys, const mgpu_merge_pass &pass, uint32_t tile, uint32_t question, mgpu_fused_work *work)
{
	uint32_t	warp = threadIdx.x / 32;

	if (warp < 2 && tile + warp > 0)
	{
		uint32_t	split = mgpu_find_window_split(keys, mgpu_find_run_window(pass, tile - 1 + warp), threadIdx.x % 32);

		if (threadIdx.x % 32 == 0)
			work->splits[warp] = split;
	}
	else if (threadIdx.x == 64)
		work->fails = mgpu_window_fails_before(keys, pass, tile) || mgpu_fused_has_failed(question);
	__syncthreads();				/* splits and proof are found */
}

/* Merge the window of the tile before this one, and of the last one too. */
template <class Tuning, class Array, class Sink>
static __device__ __forceinline__ void
mgpu_merge_checked_windows(const Array &runs, const mgpu_merge_pass &pass, uint32_t tile, const uint32_t (&splits)[2],
						   const Sink &sink)
{
	uint32_t	end = tile + 1 == pass.num_tiles ? tile + 1 : tile;

	for (uint32_t merged = tile > 0 ? tile - 1 : 0; merged < end; merged++)
	{
		mgpu_run_window window = mgpu_find_run_window(pass, merged);
		uint32_t	split = splits[merged + 1 - tile];

		/* only if the answer is no, a run's splits are more than it has */
		if (merged < tile && split + splits[1] > window.run_items)
			continue;
		mgpu_merge_window<Tuning>(runs, mgpu_find_window_inputs(pass, window, merged, split, splits[1]),
								  (uint64_t) merged * pass.tile_items, sink);
		__syncthreads();			/* the tile is stored */
	}
}

/*
 * pass: the first one, whose runs are tiles. runs may lie where the source does, the sink may not.
 * lag: turns between the sort of a window's last run and its merge.  CTAs: tiles + lag.
 */
template <class Tuning, bool near, class Source, class Array, class Sink>
static __global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_sort_and_merge_windows(Source source, Array runs, mgpu_merge_pass pass, uint32_t lag, uint32_t question,
							mgpu_signals *signals, Sink sink)
{
	__shared__ mgpu_fused_work work;
	uint32_t	tile;
	bool		is_sorted;

	mgpu_await_previous();
	if (blockIdx.x < pass.num_tiles)
	{
		mgpu_sort_tile<Tuning, near>(source, runs, pass.num_items, (uint64_t) blockIdx.x * pass.tile_items);
		mgpu_publish_sorted(blockIdx.x, question);
	}
	if (blockIdx.x < lag)
		return;
	tile = blockIdx.x - lag;
	is_sorted = mgpu_await_sorted(tile, question);
	if (is_sorted)
		mgpu_check_window(runs.search_keys(), pass, tile, question, &work);
	if (threadIdx.x == 0)
		mgpu_tell_fused_answer(!is_sorted || work.fails, pass.num_tiles, question, signals);
	if (is_sorted && !work.fails)
		mgpu_merge_checked_windows<Tuning>(runs, pass, tile, work.splits, sink);
}

#endif							/* MGPU_SORT_WINDOW_FUSED_CUH */
