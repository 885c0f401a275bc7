/*
 * segmented_look.cu
 *		How much would a locality sort merge?  A look at a sample.
 *
 * Merging pays while few passes have much to do; keys far from their places are
 * faster sorted by their digits.  Which it is cannot be asked of the block sort:
 * it costs half a radix sort itself.  So one CTA takes keys at even distances and
 * plays the passes on them as if they were the array.  Of two neighbouring runs,
 * those items move that lie behind the second run's least or before the first
 * run's greatest, and neither depends on the order inside the runs: no sample is
 * sorted.
 *
 *	 keys		1 2 | 4 3 | 5 9 | 7 8		runs of two samples
 *	 moved		                9   7 8		in the pass that merges them in pairs
 *
 * An array in reverse is read from its end (segmented_kernels.cuh), so it is in
 * order.
 *
 * Passes over runs shorter than the distance of two samples are not seen; they
 * are taken to be as busy as the first one that is, twice over, since two samples
 * of two runs rarely are those runs' ends.
 *
 * Sampling keys on the host as they come was rejected: the sort that looks need
 * not be the executor's, and 16-byte keys are sorted by words that the host
 * never sees in the order in which the second sort gets them.
 */
#include "segmented_sort.cuh"

struct mgpu_look
{
	uint32_t	descents;		/* samples before their predecessor */
	uint32_t	moved[15];		/* by the passes that merge runs of 1, 2, 4 ... samples */
};

static_assert(MGPU_LOOK_SAMPLES <= 1 << 15, "a pass a power of two");

/* One CTA; num_items is MGPU_LOOK_SAMPLES at least. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_LOOK_SAMPLES)
mgpu_look_at_order(const Key *keys, uint64_t num_items, mgpu_look *look)
{
	__shared__ Key least[MGPU_LOOK_SAMPLES];	/* of the run that begins at this sample */
	__shared__ Key greatest[MGPU_LOOK_SAMPLES];
	uint32_t	thread = threadIdx.x;
	Key			key = keys[thread * (num_items / MGPU_LOOK_SAMPLES)];
	int			descents;

	least[thread] = greatest[thread] = key;
	__syncthreads();				/* all samples are there */
	descents = __syncthreads_count(thread > 0 && key < least[thread - 1]);
	if (thread == 0)
		look->descents = (uint32_t) descents;
	for (uint32_t run = 1, pass = 0; run < MGPU_LOOK_SAMPLES; run *= 2, pass++)
	{
		uint32_t	first = thread & ~(2 * run - 1);
		uint32_t	second = first + run;
		int			moved;

		__syncthreads();			/* the runs are known */
		moved = __syncthreads_count(thread < second ? least[second] < key : key < greatest[first]);
		if (thread == first)
		{
			least[first] = min(least[first], least[second]);
			greatest[first] = max(greatest[first], greatest[second]);
			if (thread == 0)
				look->moved[pass] = (uint32_t) moved;
		}
	}
}

/* Items of a sort tile: no pass has shorter runs. */
static uint32_t
sort_tile_items(mgpu_sort_shape shape)
{
	switch (shape)
	{
		case MGPU_SHAPE_U32:
			return mgpu_segmented_u32_large::sort_tile_items;
		case MGPU_SHAPE_U64_INDEX:
			return mgpu_segmented_u128::sort_tile_items;
		default:
			return mgpu_segmented_u64_large::sort_tile_items;
	}
}

/* The passes of runs of a sort tile, two sort tiles and so on that the samples stand for. */
static double
sum_passes(const mgpu_look &look, double sample_items, uint32_t tile_items)
{
	double		first_share = (double) look.moved[0] / MGPU_LOOK_SAMPLES;
	double		unseen_share = first_share < 0.5 ? 2 * first_share : 1;
	double		passes = 0;
	double		run_items;

	if (look.descents >= MGPU_LOOK_SAMPLES / 1024 * MGPU_SEGMENTED_REVERSED_SAMPLES)
		return 0;
	for (run_items = tile_items; run_items < sample_items; run_items *= 2)
		passes += unseen_share;
	run_items = sample_items;
	for (uint32_t run = 1, pass = 0; run < MGPU_LOOK_SAMPLES; run *= 2, pass++, run_items *= 2)
	{
		if (run_items >= tile_items)
			passes += (double) look.moved[pass] / MGPU_LOOK_SAMPLES;
	}
	return passes;
}

extern "C" cudaError_t
mgpu_foresee_passes(const mgpu_segmented_request *request, double *passes)
{
	mgpu_look  *d_look = static_cast<mgpu_look *>(request->temp);
	const void *keys = request->regions[request->current];
	mgpu_look	look = {};
	cudaError_t status = cudaSuccess;

	*passes = 0;
	if (request->num_items < MGPU_LOOK_SAMPLES)
		return cudaSuccess;
	if (request->shape == MGPU_SHAPE_U32 || request->shape == MGPU_SHAPE_U32_INDEX)
		mgpu_look_at_order<<<1, MGPU_LOOK_SAMPLES, 0, request->stream>>>
			(static_cast<const uint32_t *>(keys), request->num_items, d_look);
	else
		mgpu_look_at_order<<<1, MGPU_LOOK_SAMPLES, 0, request->stream>>>
			(static_cast<const uint64_t *>(keys), request->num_items, d_look);
	status = cudaGetLastError();
	if (status == cudaSuccess)
		status = cudaMemcpyAsync(&look, d_look, sizeof(look), cudaMemcpyDeviceToHost, request->stream);
	if (status == cudaSuccess)
		status = cudaStreamSynchronize(request->stream);
	*passes = sum_passes(look, (double) (request->num_items / MGPU_LOOK_SAMPLES), sort_tile_items(request->shape));
	return status;
}

extern "C" double
mgpu_most_passes(mgpu_sort_shape shape)
{
	static const double most_passes[MGPU_NUM_SHAPES] = {
		MGPU_MOST_PASSES_U32,
		MGPU_MOST_PASSES_U64,
		MGPU_MOST_PASSES_U32_INDEX,
		MGPU_MOST_PASSES_U64_INDEX
	};

	return most_passes[shape];
}
