/*
 * sizes.h
 *		Thresholds that tests can cross with small arrays.
 *
 * MGPU_SIZE(normal, test) is the first number in the product and the second in a
 * build with TEST_SIZES=yes.  It is for sizes at which the code takes another path,
 * or begins another task, bucket or slice.  Answers must be the same with either
 * number.
 */
#ifndef MGPU_SIZES_H
#define MGPU_SIZES_H

#ifdef MGPU_TEST_SIZES
#define MGPU_SIZE(normal, test) (test)
#else
#define MGPU_SIZE(normal, test) (normal)
#endif

#endif							/* MGPU_SIZES_H */
