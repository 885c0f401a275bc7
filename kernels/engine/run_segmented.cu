/*
 * engine/run_segmented.cu
 *		What a run does for segmented and locality sorts.
 *
 * Both are one sort (segmented/segmented.h): a locality sort has no segment heads.  It takes the
 * place of the plain sorters, so 16-byte keys are sorted in their segments by two stable passes,
 * and the counts shown are those of the second.
 */
#include "engine/run.h"
#include "segmented/segmented.h"

static mgpu_segmented_request
make_segmented(const mgpu_engine_run *run, const mgpu_sort_request *request)
{
	const mgpu_cuda_layout *layout = &run->layout;
	mgpu_segmented_request segmented = {};

	segmented.shape = layout->shape;
	segmented.regions[0] = request->keys[0];
	segmented.regions[1] = request->keys[1];
	segmented.current = request->current;
	segmented.num_items = request->num_items;
	segmented.num_segments = run->job.num_segments;
	if (run->job.num_segments > 0)
		segmented.segment_heads = (const uint32_t *) (run->arena + layout->segment_heads);
	segmented.stats = (mgpu_segmented_stats *) (run->arena + layout->pass_stats);
	segmented.temp = request->temp;
	segmented.temp_bytes = request->temp_bytes;
	segmented.stream = request->stream;
	return segmented;
}

extern "C" cudaError_t
mgpu_run_segmented_sort(mgpu_engine_run *run, mgpu_sort_request *request)
{
	mgpu_segmented_request segmented = make_segmented(run, request);

	return mgpu_launch_segmented_sort(&segmented);
}

extern "C" mgpu_status
mgpu_run_read_passes(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_segmented_stats counted;
	cudaError_t code = mgpu_run_fetch(run, &counted, run->layout.pass_stats, sizeof(counted));

	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "counting what the passes did");
	run->stats.num_tiles = counted.num_tiles;
	run->stats.num_passes = counted.num_passes < MGPU_MAX_PASSES ? (int) counted.num_passes : MGPU_MAX_PASSES;
	for (int pass = 0; pass < run->stats.num_passes; pass++)
		run->stats.passes[pass] = counted.passes[pass];
	return MGPU_OK;
}
