/*
 * executor/auto_sort.cu
 *		Chooses the fastest sort for these keys.
 *
 *	 few keys			by their number (mgpu_choose_algorithm)
 *	 4-byte keys that	the single-launch sort, which probes its keys itself
 *	 fit the SMs
 *	 more				the sortedness probe (sort/probe_plan.cuh): sorted or reversed keys are done;
 *						keys near their places take a merge sort that ends by windows; all others
 *						take the radix sort or the merge sort
 *
 * Costs are straight lines (sort/costs.h).  A choice by the number of keys alone was rejected: a
 * probe takes 7 us, and real data are often nearly sorted.
 */
#include <algorithm>

#include "device/map.h"
#include "executor/auto_sort.h"
#include "segmented/segmented.h"
#include "sort/costs.h"
#include "sort/single_launch.h"
#include "sort/tuning.cuh"
#include "sort/window_sort.h"

#define ALIGNMENT UINT64_C(256)

static const mgpu_locality_costs all_costs[MGPU_NUM_SHAPES] = MGPU_LOCALITY_COSTS;
static const mgpu_window_costs all_window_costs[MGPU_NUM_SHAPES] = MGPU_WINDOW_COSTS;
static const mgpu_single_launch_costs all_single_launch_costs[MGPU_NUM_SHAPES] = MGPU_SINGLE_LAUNCH_COSTS;

static cudaError_t (*const window_sorts[MGPU_NUM_SHAPES]) (mgpu_sort_request *, const mgpu_sortedness *, bool *) =
	{mgpu_window_sort_u32, mgpu_window_sort_u64, mgpu_window_sort_u32_index, mgpu_window_sort_u64_index};

static bool
has_short_keys(mgpu_sort_shape shape)
{
	return shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX;
}

/* Bytes of a locality sort's statistics, at the start of temporary memory. */
static uint64_t
stats_bytes(void)
{
	return (sizeof(mgpu_segmented_stats) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

extern "C" uint64_t
mgpu_auto_temp_bytes(mgpu_sort_shape shape, uint64_t num_items)
{
	return std::max({mgpu_radix_sorters[shape].temp_bytes(num_items), mgpu_merge_sorters[shape].temp_bytes(num_items),
					 stats_bytes() + mgpu_segmented_temp_bytes(shape, num_items)});
}

/* Milliseconds that a radix sort takes. */
static double
radix_ms(mgpu_sort_shape shape, uint64_t num_items, uint32_t key_bits)
{
	const mgpu_locality_costs &costs = all_costs[shape];
	const mgpu_single_launch_costs &launch_costs = all_single_launch_costs[shape];
	bool		holds;

	if (mgpu_single_launch_holds(shape, num_items, &holds) == cudaSuccess && holds)
		return launch_costs.probe_ms + (key_bits + 7) / 8 * (launch_costs.digit_ms + num_items * 1e-6 * launch_costs.digit_ns);
	return costs.radix_ms + num_items * 1e-6 * costs.radix_ns * key_bits / (has_short_keys(shape) ? 32 : 64);
}

static double
merge_ms(mgpu_sort_shape shape, uint64_t num_items)
{
	return all_costs[shape].merge_ms + num_items * 1e-6 * all_costs[shape].merge_ns;
}

/* Milliseconds that a merge sort takes which ends by windows. */
static double
window_ms(mgpu_sort_shape shape, uint64_t num_items, const mgpu_sortedness *sortedness)
{
	const mgpu_window_costs &costs = all_window_costs[shape];
	double		sort_ns = sortedness->quantised ? (sortedness->near ? costs.near_quantised_ns : costs.quantised_ns) :
		(sortedness->near ? costs.near_sort_ns : costs.sort_ns) + sortedness->window_passes * costs.pass_ns;

	return costs.window_ms + num_items * 1e-6 * (sort_ns + costs.window_ns);
}

static bool
ends_by_windows(mgpu_sort_shape shape, const mgpu_sort_request *request, const mgpu_sortedness *sortedness)
{
	if (sortedness->window_passes < 0 || request->temp_bytes < mgpu_merge_sorters[shape].temp_bytes(request->num_items))
		return false;
	return window_ms(shape, request->num_items, sortedness) <
		std::min(radix_ms(shape, request->num_items, sortedness->key_bits), merge_ms(shape, request->num_items));
}

static cudaError_t
sort_by_windows(mgpu_sort_shape shape, mgpu_sort_request *request, const mgpu_sortedness *sortedness, mgpu_algorithm *ran)
{
	bool		ended = false;
	cudaError_t status = window_sorts[shape](request, sortedness, &ended);

	*ran = ended ? MGPU_ALGORITHM_LOCALITY : MGPU_ALGORITHM_MERGE;
	return status;
}

/* Keys in no order: by their digits or by merging. */
static cudaError_t
sort_scattered(mgpu_sort_shape shape, mgpu_sort_request *request, const mgpu_sortedness *sortedness, mgpu_algorithm *ran)
{
	uint64_t	num_items = request->num_items;
	double		merge = merge_ms(shape, num_items);
	double		narrow_radix = radix_ms(shape, num_items, sortedness->key_bits);
	bool		holds;
	cudaError_t status = mgpu_single_launch_holds(shape, num_items, &holds);

	if (status != cudaSuccess)
		return status;
	/* the single-launch sort reads all keys anyway */
	if (holds)
	{
		*ran = narrow_radix < merge ? MGPU_ALGORITHM_RADIX : MGPU_ALGORITHM_MERGE;
		return mgpu_plain_sort(shape, request, ran);
	}
	*ran = radix_ms(shape, num_items, request->key_bits) < merge ? MGPU_ALGORITHM_RADIX : MGPU_ALGORITHM_MERGE;
	return mgpu_plain_sort(shape, request, ran);
}

extern "C" cudaError_t
mgpu_auto_sort(mgpu_sort_shape shape, mgpu_sort_request *request, uint32_t key_width, mgpu_algorithm *ran)
{
	mgpu_sortedness sortedness;
	bool		started = false;
	cudaError_t status = cudaSuccess;

	request->pending = mgpu_pending_answer();
	*ran = MGPU_ALGORITHM_RADIX;
	if (has_short_keys(shape) && request->num_items >= MGPU_SINGLE_LAUNCH_AUTO_MIN_ITEMS)
		status = mgpu_single_launch_sort(shape, request, &started);
	if (status != cudaSuccess || started)
		return status;
	if (request->num_items < MGPU_PROBE_MIN_ITEMS)
	{
		*ran = mgpu_choose_algorithm(MGPU_ALGORITHM_AUTO, shape, key_width, request->num_items);
		return mgpu_plain_sort(shape, request, ran);
	}
	status = mgpu_probe_sortedness(shape, request, &sortedness);
	if (status != cudaSuccess)
		return status;
	*ran = MGPU_ALGORITHM_LOCALITY;
	if (sortedness.sorted)
		return request->indices[0] == NULL ? cudaSuccess :
			mgpu_launch_iota(request->indices[request->current], request->num_items, request->stream);
	if (sortedness.reversed)
	{
		request->current ^= 1;
		return cudaSuccess;
	}
	if (ends_by_windows(shape, request, &sortedness))
		return sort_by_windows(shape, request, &sortedness, ran);
	return sort_scattered(shape, request, &sortedness, ran);
}

/*
 * The device answered before the stream ended.  If 64 questions later the answer is overwritten, a
 * report says the wrong name, and nothing else is lost.
 */
extern "C" mgpu_algorithm
mgpu_auto_ran(const mgpu_pending_answer *pending, mgpu_algorithm ran)
{
	uint64_t	word;

	if (pending->question == 0)
		return ran;
	word = *(const volatile uint64_t *) &pending->signals->words[MGPU_SINGLE_LAUNCH_ANSWER];
	return word == MGPU_SIGNAL(pending->question, 1) ? MGPU_ALGORITHM_LOCALITY : ran;
}
