/*
 * sort/window_fused.cuh
 *		Block sort and window pass in one launch, where each tile is a run.
 *
 * The window of run i needs runs i - 1, i and i + 1 (sort/window_pass.cuh).  So a CTA
 * sorts a tile and goes on with the window of one that was begun some turns before:
 *
 *	 sort tile t, and say so
 *	 u = t - lag: wait until tiles u - 3 to u are sorted
 *	 find the splits at both ends of tile u - 1; compare ends of runs (the proof)
 *	 merge the window of tile u - 1, and of the last tile, which has none behind it, as well
 *
 * What is merged then still lies in the cache, and merges, which wait for memory, run
 * beside block sorts, which wait for shared memory.  The lag spares most CTAs the
 * wait; so many CTAs at the end have no tile to sort.
 *
 * CTAs wait for those with lower numbers alone, which devices begin first.  That is not
 * promised, so who waits too long gives up, and the verdict is no.  (Turns from a
 * counter would promise it, for 3 to 5 us.)
 *
 * The verdict is there once all CTAs have looked, or given up.  Where it is no, those
 * who did not know yet merged windows for nothing, on the other side: the runs are all
 * there when the launch has ended.  What was read for a window was not what belonged to
 * it, but as much, or the window was left out.
 *
 * Words of tiles hold the question's number (device/signal.h): nothing has to be
 * cleared.  Launches of a device follow one another in one stream (executor/process.h).
 */
#ifndef MGPU_SORT_WINDOW_FUSED_CUH
#define MGPU_SORT_WINDOW_FUSED_CUH

#include "sort/window_kernels.cuh"

/* Of a device; zero when it is loaded. */
struct mgpu_fused_state
{
	uint32_t	num_proved;		/* tiles that have done their part of the proof; zero between launches */
	uint32_t	sorted[MGPU_FUSED_MOST_TILES];	/* the question for which a tile was last sorted */
};

static __device__ mgpu_fused_state mgpu_fused;

/* What the threads of a CTA tell each other. */
struct mgpu_fused_work
{
	uint32_t	splits[2];		/* of the tile before, and of this one */
	bool		fails;			/* this tile's part of the proof, or another's that is known */
};

/* All threads: what the CTA stored of this tile is there for who asks. */
static __device__ __forceinline__ void
mgpu_publish_sorted(uint32_t tile, uint32_t question)
{
	__syncthreads();				/* all of the CTA's writes are before what is released */
	if (threadIdx.x == 0)
		asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(&mgpu_fused.sorted[tile]), "r"(question) : "memory");
	__syncwarp();					/* others may wait for that, so it comes before all waiting */
}

/* Is it known that the verdict will be no? */
static __device__ __forceinline__ bool
mgpu_fused_has_failed(uint32_t question)
{
	return *(volatile uint32_t *) &mgpu_window_failure == question;
}

/*
 * All threads: are this tile and the three before it sorted, and there?  Who gives up
 * says so, and whoever waits looks for that now and then.  Ends with a barrier.
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
		__threadfence();			/* what was written before those words is there */
	}
	return __syncthreads_and(is_sorted);
}

/*
 * One thread: this tile's part of the proof is done; the last one tells the host what
 * came of it, and clears the count.  A launch that does not come to its end takes the
 * device's memory with it, so none finds a count that another left.
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

/* The splits at both ends of the tile before this one, by two warps, and the tile's part of the proof. */
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

/* Merge the window of the tile before this one; of the last one as well. */
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

		/* only where the verdict is no, more leave a run than it has */
		if (merged < tile && split + splits[1] > window.run_items)
			continue;
		mgpu_merge_window<Tuning>(runs, mgpu_find_window_inputs(pass, window, merged, split, splits[1]),
								  (uint64_t) merged * pass.tile_items, sink);
		__syncthreads();			/* the tile is stored */
	}
}

/*
 * pass: the first one, whose runs are tiles; runs may lie where the source does, the sink may not.
 * lag: turns that a window is merged behind the sort of its last run; CTAs: tiles and the lag.
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
