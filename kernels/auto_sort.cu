/*
 * auto_sort.cu
 *		What is the fastest sort for these keys?
 *
 * Few keys are sorted by what their number says (mgpu_choose_algorithm).  4-byte keys
 * that fit the chip are sorted there, by one launch that looks first (chip_sort.h),
 * and no other way is much faster, whatever their order: within 100 places a million of
 * the whole range take 38 us so, and 35 by windows.  Larger arrays are looked at, in two
 * steps, each of which costs more and decides what the one before it left open:
 *
 *	 a glance (glance.cuh)		sorted: nothing left to do; reversed: done on the way;
 *								within some places: a merge sort that ends early
 *								(window_pass.cuh); anywhere: the radix sort or the merge
 *								sort, whichever costs less
 *	 a look					what is in order here and there: the locality sort, or
 *	 (segmented_look.cuh)	one of the two
 *
 * Costs are straight lines through measured points (segmented_tuning.cuh).  Where
 * samples promise that keys differ in few low bits, and that decides, all are read.
 *
 * A sort by the count alone was rejected: a look takes 7 us, and much of what
 * there is to sort is nearly in order.
 */
#include <algorithm>

#include "chip_sort.h"
#include "map.h"
#include "segmented.h"
#include "segmented_tuning.cuh"
#include "tuning.cuh"
#include "window_sort.h"

#define ALIGNMENT UINT64_C(256)

static const mgpu_locality_costs all_costs[MGPU_NUM_SHAPES] = MGPU_LOCALITY_COSTS;
static const mgpu_window_costs all_window_costs[MGPU_NUM_SHAPES] = MGPU_WINDOW_COSTS;
static const mgpu_chip_costs all_chip_costs[MGPU_NUM_SHAPES] = MGPU_CHIP_COSTS;

static bool
has_short_keys(mgpu_sort_shape shape)
{
	return shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX;
}

/* Bytes of the statistics that a locality sort keeps, at the start of temporary memory. */
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

/* Run one of the plain sorts; by merging, whose temporary memory is smaller, if CUB wants too much. */
static cudaError_t
sort_plainly(mgpu_sort_shape shape, mgpu_sort_request *request, mgpu_algorithm algorithm, mgpu_algorithm *ran)
{
	cudaError_t status = mgpu_find_sorter(algorithm, shape)->sort(request);

	*ran = algorithm;
	if (status == cudaErrorMemoryAllocation && algorithm == MGPU_ALGORITHM_RADIX)
	{
		(void) cudaGetLastError();
		*ran = MGPU_ALGORITHM_MERGE;
		status = mgpu_find_sorter(MGPU_ALGORITHM_MERGE, shape)->sort(request);
	}
	return status;
}

/* Milliseconds of the plain sorts. */
static double
radix_ms(mgpu_sort_shape shape, uint64_t num_items, uint32_t key_bits)
{
	const mgpu_locality_costs &costs = all_costs[shape];
	const mgpu_chip_costs &chip_costs = all_chip_costs[shape];
	bool		holds;

	if (mgpu_chip_holds(shape, num_items, &holds) == cudaSuccess && holds)
		return chip_costs.look_ms + (key_bits + 7) / 8 * (chip_costs.digit_ms + num_items * 1e-6 * chip_costs.digit_ns);
	return costs.radix_ms + num_items * 1e-6 * costs.radix_ns * key_bits / (has_short_keys(shape) ? 32 : 64);
}

static double
merge_ms(mgpu_sort_shape shape, uint64_t num_items)
{
	return all_costs[shape].merge_ms + num_items * 1e-6 * all_costs[shape].merge_ns;
}

/* … of one that ends by windows. */
static double
window_ms(mgpu_sort_shape shape, uint64_t num_items, const mgpu_glance *glance)
{
	const mgpu_window_costs &costs = all_window_costs[shape];
	double		sort_ns = glance->compact ? (glance->near ? costs.near_compact_ns : costs.compact_ns) :
		(glance->near ? costs.near_sort_ns : costs.sort_ns) + glance->window_passes * costs.pass_ns;

	return costs.window_ms + num_items * 1e-6 * (sort_ns + costs.window_ns);
}

static bool
ends_by_windows(mgpu_sort_shape shape, const mgpu_sort_request *request, const mgpu_glance *glance)
{
	if (glance->window_passes < 0 || request->temp_bytes < mgpu_merge_sorters[shape].temp_bytes(request->num_items))
		return false;
	return window_ms(shape, request->num_items, glance) <
		std::min(radix_ms(shape, request->num_items, glance->key_bits), merge_ms(shape, request->num_items));
}

static cudaError_t
sort_by_windows(mgpu_sort_shape shape, mgpu_sort_request *request, const mgpu_glance *glance, mgpu_algorithm *ran)
{
	bool		ended = false;
	cudaError_t status = shape == MGPU_SHAPE_U32 ? mgpu_window_sort_u32(request, glance, &ended) :
		shape == MGPU_SHAPE_U64 ? mgpu_window_sort_u64(request, glance, &ended) :
		shape == MGPU_SHAPE_U32_INDEX ? mgpu_window_sort_u32_index(request, glance, &ended) :
		mgpu_window_sort_u64_index(request, glance, &ended);

	*ran = ended ? MGPU_ALGORITHM_LOCALITY : MGPU_ALGORITHM_MERGE;
	return status;
}

/* Keys that may be anywhere: by their digits or by merging. */
static cudaError_t
sort_scattered(mgpu_sort_shape shape, mgpu_sort_request *request, const mgpu_glance *glance, mgpu_algorithm *ran)
{
	uint64_t	num_items = request->num_items;
	uint32_t	key_bits = request->key_bits;
	double		merge = merge_ms(shape, num_items);
	double		narrow_radix = radix_ms(shape, num_items, glance->key_bits);
	double		read = MGPU_LOOK_READ_MS + num_items * 1e-6 * (has_short_keys(shape) ? 4 : 8) * MGPU_LOOK_READ_BYTE_NS;
	bool		holds;
	cudaError_t status = mgpu_chip_holds(shape, num_items, &holds);

	if (status != cudaSuccess)
		return status;
	/* on the chip a sort reads the keys for that anyway */
	if (holds)
		return sort_plainly(shape, request, narrow_radix < merge ? MGPU_ALGORITHM_RADIX : MGPU_ALGORITHM_MERGE, ran);
	if (glance->key_bits < key_bits && narrow_radix + read < std::min(merge, radix_ms(shape, num_items, key_bits)))
		status = mgpu_read_key_bits(shape, request, &request->key_bits);
	if (status == cudaSuccess)
		status = sort_plainly(shape, request, radix_ms(shape, num_items, request->key_bits) < merge ? MGPU_ALGORITHM_RADIX :
							  MGPU_ALGORITHM_MERGE, ran);
	request->key_bits = key_bits;	/* 16-byte keys are sorted twice */
	return status;
}

static mgpu_segmented_request
make_segmented(mgpu_sort_shape shape, const mgpu_sort_request *request)
{
	mgpu_segmented_request segmented = {};

	segmented.shape = shape;
	segmented.regions[0] = request->keys[0];
	segmented.regions[1] = request->keys[1];
	segmented.current = request->current;
	segmented.num_items = request->num_items;
	segmented.stats = static_cast<mgpu_segmented_stats *>(request->temp);
	segmented.temp = static_cast<char *>(request->temp) + stats_bytes();
	segmented.temp_bytes = request->temp_bytes - stats_bytes();
	segmented.stream = request->stream;
	return segmented;
}

/* Keys that are in order in parts: look closer. */
static cudaError_t
sort_in_parts(mgpu_sort_shape shape, mgpu_sort_request *request, mgpu_algorithm *ran)
{
	mgpu_segmented_request segmented = make_segmented(shape, request);
	uint32_t	key_bits = request->key_bits;
	mgpu_foresight foresight;
	cudaError_t status = mgpu_foresee(&segmented, key_bits, &foresight);

	if (status != cudaSuccess)
		return status;
	*ran = MGPU_ALGORITHM_LOCALITY;
	if (foresight.choice == MGPU_ALGORITHM_LOCALITY)
		return mgpu_launch_segmented_sort(&segmented);
	request->key_bits = foresight.key_bits;
	status = sort_plainly(shape, request, foresight.choice, ran);
	request->key_bits = key_bits;
	return status;
}

extern "C" cudaError_t
mgpu_auto_sort(mgpu_sort_shape shape, mgpu_sort_request *request, uint32_t key_width, mgpu_algorithm *ran)
{
	mgpu_glance glance;
	bool		started = false;
	bool		holds;
	cudaError_t status = cudaSuccess;

	request->verdict = mgpu_open_question();
	*ran = MGPU_ALGORITHM_RADIX;
	if (has_short_keys(shape) && request->num_items >= MGPU_CHIP_AUTO_MIN_ITEMS)
		status = mgpu_chip_sort(shape, request, &started);
	if (status != cudaSuccess || started)
		return status;
	if (request->num_items < MGPU_LOOK_MIN_ITEMS)
		return sort_plainly(shape, request,
							mgpu_choose_algorithm(MGPU_ALGORITHM_AUTO, shape, key_width, request->num_items), ran);
	status = mgpu_take_glance(shape, request, &glance);
	if (status != cudaSuccess)
		return status;
	*ran = MGPU_ALGORITHM_LOCALITY;
	if (glance.sorted)
		return request->indices[0] == NULL ? cudaSuccess :
			mgpu_launch_iota(request->indices[request->current], request->num_items, request->stream);
	if (glance.reversed)
	{
		request->current ^= 1;
		return cudaSuccess;
	}
	if (ends_by_windows(shape, request, &glance))
		return sort_by_windows(shape, request, &glance, ran);
	status = mgpu_chip_holds(shape, request->num_items, &holds);
	if (status != cudaSuccess)
		return status;
	if (glance.scattered || holds || !request->has_regions || request->temp_bytes < mgpu_auto_temp_bytes(shape, request->num_items))
		return sort_scattered(shape, request, &glance, ran);
	return sort_in_parts(shape, request, ran);
}

/* Who decided after the launch has said so by then; if 64 questions later that is lost, so is nothing but a word in a report. */
extern "C" mgpu_algorithm
mgpu_auto_ran(const mgpu_open_question *verdict, mgpu_algorithm ran)
{
	uint64_t	word;

	if (verdict->question == 0)
		return ran;
	word = *(const volatile uint64_t *) &verdict->signals->words[MGPU_CHIP_VERDICT];
	return word == MGPU_SIGNAL(verdict->question, 1) ? MGPU_ALGORITHM_LOCALITY : ran;
}
