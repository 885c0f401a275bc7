/*
 * exchange.h
 *		Compare and exchange, the one operation of a sorting network, on many
 *		pairs of codes.
 */
#ifndef MGPU_CPU_EXCHANGE_H
#define MGPU_CPU_EXCHANGE_H

#include <stdbool.h>

#include "core/cpu_codec.h"

/* Instruction sets.  Tests run each of them on one machine. */
typedef enum mgpu_exchange_level
{
	MGPU_EXCHANGE_PORTABLE = 0,
	MGPU_EXCHANGE_AVX2,
	MGPU_EXCHANGE_AVX512
} mgpu_exchange_level;

/* The best level of this machine. */
mgpu_exchange_level mgpu_exchange_best_level(void);

/* For each i < num_pairs: low[i] becomes the smaller, high[i] the larger code. */
void		mgpu_exchange_items(mgpu_exchange_level level, void *low, void *high, uint64_t num_pairs,
								uint32_t width);

/*
 * The same for num_runs * stride pairs: each run has stride low codes, followed by
 * their stride high codes.
 */
void		mgpu_exchange_runs(mgpu_exchange_level level, void *codes, uint64_t num_runs, uint64_t stride,
							   uint32_t width);

#endif							/* MGPU_CPU_EXCHANGE_H */
