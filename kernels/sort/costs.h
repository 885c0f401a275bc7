/*
 * sort/costs.h
 *		What each sort costs, as straight lines through measured points.
 *
 * The choice between sorts goes by these (executor/auto_sort.cu, segmented/locality_probe.cuh).
 * Tables have one line a shape (sort/sorter.h).  Costs are in nanoseconds an item (_ns) and in
 * milliseconds whatever the size (_ms), fitted to an H200: 1, 10 and 100 million keys in random
 * order, and keys each within 1,000, 10,000 ... places of its own (kernels/NOTES.md).
 */
#ifndef MGPU_SORT_COSTS_H
#define MGPU_SORT_COSTS_H

#include <stdint.h>

struct mgpu_locality_costs
{
	double		sort_ns;		/* block sort of tiles in random order ... */
	double		read_ns;		/* ... and of tiles in order */
	double		pass_ns;		/* an item moved in a pass */
	double		each_pass_ms;	/* its two launches */
	double		radix_ns;
	double		radix_ms;
	double		merge_ns;
	double		merge_ms;
};

#define MGPU_LOCALITY_COSTS \
	{ \
		{0.0125, 0.001, 0.0031, 0.013, 0.0160, 0.055, 0.0215, 0.033}, \
		{0.0261, 0.002, 0.0053, 0.013, 0.0477, 0.105, 0.0465, 0.026}, \
		{0.0248, 0.007, 0.0071, 0.013, 0.0248, 0.048, 0.0458, 0.030}, \
		{0.0488, 0.013, 0.0141, 0.013, 0.0682, 0.080, 0.0714, 0.017} \
	}

/* A single-launch radix sort of a million keys, by digits.  Fewer keys take no less. */
struct mgpu_single_launch_costs
{
	double		digit_ns;
	double		digit_ms;
	double		probe_ms;
};

#define MGPU_SINGLE_LAUNCH_COSTS \
	{ \
		{0.0014, 0.0057, 0.009}, \
		{0.0032, 0.0057, 0.010}, \
		{0.0034, 0.0058, 0.009}, \
		{0.0055, 0.0060, 0.010} \
	}

/* A merge sort that ends by windows (sort/window_sort.cuh). */
struct mgpu_window_costs
{
	double		sort_ns;		/* block sort ... */
	double		near_sort_ns;	/* ... of keys near their places */
	double		pass_ns;		/* a pass before the windows */
	double		window_ns;		/* the window pass */
	double		window_ms;
	double		quantised_ns;	/* block sort by quantised keys in one round, where there is one ... */
	double		near_quantised_ns;	/* ... of keys near their places; up to 0.02 where codes lack bits */
};

#define MGPU_WINDOW_COSTS \
	{ \
		{0.0067, 0.0039, 0.0027, 0.0023, 0.025, 0, 0}, \
		{0.0157, 0.0110, 0.0054, 0.0045, 0.025, 0.0077, 0.0058}, \
		{0.0160, 0.0105, 0.0054, 0.0040, 0.025, 0.0078, 0.0053}, \
		{0.0250, 0.0150, 0.0085, 0.0075, 0.025, 0.0080, 0.0058} \
	}

/* Reading all keys for the bits in which they differ: milliseconds, and nanoseconds a byte. */
#define MGPU_READ_BITS_MS 0.020
#define MGPU_READ_BITS_BYTE_NS 0.00025

#endif							/* MGPU_SORT_COSTS_H */
