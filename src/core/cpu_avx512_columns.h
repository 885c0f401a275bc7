/*
 * cpu_avx512_columns.h
 *		Sort of four, eight or sixteen vectors as the columns of a matrix.
 *
 * Rows are vectors, columns are lanes.  A network of whole-vector comparators sorts
 * every column: Batcher's (1968) for four and eight rows, Green's (1969) for
 * sixteen.  Bitonic merges (Batcher) then merge columns into pairs, fours and so on;
 * their steps inside a column are again whole vectors.  A transposition comes last.
 * Rejected: sorting each vector and merging the vectors.  Every step then shuffles
 * lanes and waits for the shuffle, which takes twice as long.
 */
#ifndef MGPU_CPU_AVX512_COLUMNS_H
#define MGPU_CPU_AVX512_COLUMNS_H

#include "cpu_avx512.h"

#ifdef HAVE_AVX512_VARIANT

/* Lanes whose number has bit 1, 2, 4 or 8 set. */
#define COLUMNS_1 0xAAAA
#define COLUMNS_2 0xCCCC
#define COLUMNS_4 0xF0F0
#define COLUMNS_8 0xFF00

/* Reverse the columns in each group of 2, 4, 8 or 16. */
#define REVERSE_2_32(items) NEAR_1(items)
#define REVERSE_4_32(items) _mm512_shuffle_epi32(items, _MM_PERM_ABCD)
#define REVERSE_8_32(items) NEAR_4(REVERSE_4_32(items))
#define REVERSE_16_32(items) reverse_32(items)
#define REVERSE_2_64(items) NEAR_2(items)
#define REVERSE_4_64(items) _mm512_permutex_epi64(items, 0x1B)
#define REVERSE_8_64(items) reverse_64(items)

/* Swap columns at a distance of 1, 2 or 4. */
#define ACROSS_1_32(items) NEAR_1(items)
#define ACROSS_2_32(items) NEAR_2(items)
#define ACROSS_4_32(items) NEAR_4(items)
#define ACROSS_1_64(items) NEAR_2(items)
#define ACROSS_2_64(items) NEAR_4(items)

#define ORDER(bits, i, j) \
do { \
	__m512i		smaller = _mm512_min_epu##bits(rows[i], rows[j]); \
	rows[j] = _mm512_max_epu##bits(rows[i], rows[j]); \
	rows[i] = smaller; \
} while (0)

/* Compare and exchange rows at a distance of stride, in every column. */
#define ORDER_ROWS(bits, stride) \
do { \
	_Pragma("GCC unroll 16") \
	for (unsigned i = 0; i < num_rows; i++) \
		if ((i & (stride)) == 0) \
			ORDER(bits, i, (i | (stride)) & (num_rows - 1)); \
} while (0)

/* The last steps of each merge, inside columns. */
#define ORDER_ALL_ROWS(bits) \
do { \
	if (num_rows > 8) \
		ORDER_ROWS(bits, 8); \
	if (num_rows > 4) \
		ORDER_ROWS(bits, 4); \
	ORDER_ROWS(bits, 2); \
	ORDER_ROWS(bits, 1); \
} while (0)

/* First step of a merge: compare item k from the front of a group of columns with item k from its end. */
#define FOLD(bits, reverse, upper_columns) \
do { \
	_Pragma("GCC unroll 8") \
	for (unsigned i = 0; i < num_rows / 2; i++) \
	{ \
		unsigned	j = num_rows - 1 - i; \
		__m512i		front = reverse(rows[i]); \
		__m512i		back = reverse(rows[j]); \
		rows[i] = _mm512_mask_max_epu##bits(_mm512_min_epu##bits(rows[i], back), upper_columns, rows[i], back); \
		rows[j] = _mm512_mask_max_epu##bits(_mm512_min_epu##bits(rows[j], front), upper_columns, rows[j], front); \
	} \
} while (0)

#define ORDER_COLUMNS(bits, across, upper_columns) \
do { \
	_Pragma("GCC unroll 16") \
	for (unsigned i = 0; i < num_rows; i++) \
		EXCHANGE(bits, rows[i], across(rows[i]), upper_columns); \
} while (0)

#define DEFINE_SORT_EACH_COLUMN(bits) \
INLINE void \
sort_each_column_##bits(__m512i *rows, const unsigned num_rows) \
{ \
	if (num_rows == 4) \
	{ \
		ORDER_ROWS(bits, 2); \
		ORDER_ROWS(bits, 1); \
		ORDER(bits, 1, 2); \
	} \
	else if (num_rows == 8) \
	{ \
		ORDER_ROWS(bits, 2); \
		ORDER_ROWS(bits, 4); \
		ORDER_ROWS(bits, 1); \
		ORDER(bits, 2, 4); ORDER(bits, 3, 5); \
		ORDER(bits, 1, 4); ORDER(bits, 3, 6); \
		ORDER(bits, 1, 2); ORDER(bits, 3, 4); ORDER(bits, 5, 6); \
	} \
	else \
	{ \
		ORDER_ROWS(bits, 1); \
		ORDER_ROWS(bits, 2); \
		ORDER_ROWS(bits, 4); \
		ORDER_ROWS(bits, 8); \
		ORDER(bits, 5, 10); ORDER(bits, 6, 9); ORDER(bits, 3, 12); ORDER(bits, 13, 14); \
		ORDER(bits, 4, 8); ORDER(bits, 7, 11); ORDER(bits, 1, 2); \
		ORDER(bits, 1, 4); ORDER(bits, 7, 13); ORDER(bits, 2, 8); ORDER(bits, 11, 14); \
		ORDER(bits, 2, 4); ORDER(bits, 5, 6); ORDER(bits, 9, 10); ORDER(bits, 11, 13); \
		ORDER(bits, 3, 8); ORDER(bits, 7, 12); \
		ORDER(bits, 6, 8); ORDER(bits, 10, 12); ORDER(bits, 3, 5); ORDER(bits, 7, 9); \
		ORDER(bits, 3, 4); ORDER(bits, 5, 6); ORDER(bits, 7, 8); ORDER(bits, 9, 10); ORDER(bits, 11, 12); \
		ORDER(bits, 6, 7); ORDER(bits, 8, 9); \
	} \
}

DEFINE_SORT_EACH_COLUMN(32)
DEFINE_SORT_EACH_COLUMN(64)

/* Write quarter l of all four vectors to to[l * stride]. */
INLINE void
transpose_quarters(__m512i a, __m512i b, __m512i c, __m512i d, __m512i *to, const unsigned stride)
{
	__m512i		even_ab = _mm512_shuffle_i32x4(a, b, 0x88);
	__m512i		odd_ab = _mm512_shuffle_i32x4(a, b, 0xDD);
	__m512i		even_cd = _mm512_shuffle_i32x4(c, d, 0x88);
	__m512i		odd_cd = _mm512_shuffle_i32x4(c, d, 0xDD);

	to[0] = _mm512_shuffle_i32x4(even_ab, even_cd, 0x88);
	to[stride] = _mm512_shuffle_i32x4(odd_ab, odd_cd, 0x88);
	to[2 * stride] = _mm512_shuffle_i32x4(even_ab, even_cd, 0xDD);
	to[3 * stride] = _mm512_shuffle_i32x4(odd_ab, odd_cd, 0xDD);
}

/* Transpose: the items of column 0 come first, then those of column 1, and so on. */
INLINE void
transpose_32(__m512i *rows, const unsigned num_rows)
{
	__m512i		four[16];		/* [i + k]: rows i to i + 3 of columns k, k + 4, k + 8, k + 12 */

	_Pragma("GCC unroll 4")
	for (unsigned i = 0; i < num_rows; i += 4)
	{
		__m512i		low_01 = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
		__m512i		low_23 = _mm512_unpacklo_epi32(rows[i + 2], rows[i + 3]);
		__m512i		high_01 = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
		__m512i		high_23 = _mm512_unpackhi_epi32(rows[i + 2], rows[i + 3]);

		four[i] = _mm512_unpacklo_epi64(low_01, low_23);
		four[i + 1] = _mm512_unpackhi_epi64(low_01, low_23);
		four[i + 2] = _mm512_unpacklo_epi64(high_01, high_23);
		four[i + 3] = _mm512_unpackhi_epi64(high_01, high_23);
	}
	if (num_rows == 4)
		transpose_quarters(four[0], four[1], four[2], four[3], rows, 1);
	else if (num_rows == 8)
	{
		transpose_quarters(four[0], four[4], four[1], four[5], rows, 2);
		transpose_quarters(four[2], four[6], four[3], four[7], rows + 1, 2);
	}
	else
	{
		_Pragma("GCC unroll 4")
		for (unsigned k = 0; k < 4; k++)
			transpose_quarters(four[k], four[4 + k], four[8 + k], four[12 + k], rows + k, 4);
	}
}

INLINE void
transpose_64(__m512i *rows, const unsigned num_rows)
{
	__m512i		two[16];		/* [i + k]: rows i and i + 1 of columns k, k + 2, k + 4, k + 6 */

	_Pragma("GCC unroll 8")
	for (unsigned i = 0; i < num_rows; i += 2)
	{
		two[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
		two[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
	}
	if (num_rows == 4)
		transpose_quarters(two[0], two[2], two[1], two[3], rows, 1);
	else
	{
		_Pragma("GCC unroll 2")
		for (unsigned k = 0; k < 2; k++)
		{
			transpose_quarters(two[k], two[2 + k], two[4 + k], two[6 + k], rows + k * num_rows / 8, num_rows / 4);
			if (num_rows == 16)
				transpose_quarters(two[8 + k], two[10 + k], two[12 + k], two[14 + k], rows + 2 * k + 1, 4);
		}
	}
}

/* Sort all items of 4, 8 or 16 vectors. */
INLINE void
sort_columns_32(__m512i *rows, const unsigned num_rows)
{
	sort_each_column_32(rows, num_rows);
	FOLD(32, REVERSE_2_32, COLUMNS_1);
	ORDER_ALL_ROWS(32);
	FOLD(32, REVERSE_4_32, COLUMNS_2);
	ORDER_COLUMNS(32, ACROSS_1_32, COLUMNS_1);
	ORDER_ALL_ROWS(32);
	FOLD(32, REVERSE_8_32, COLUMNS_4);
	ORDER_COLUMNS(32, ACROSS_2_32, COLUMNS_2);
	ORDER_COLUMNS(32, ACROSS_1_32, COLUMNS_1);
	ORDER_ALL_ROWS(32);
	FOLD(32, REVERSE_16_32, COLUMNS_8);
	ORDER_COLUMNS(32, ACROSS_4_32, COLUMNS_4);
	ORDER_COLUMNS(32, ACROSS_2_32, COLUMNS_2);
	ORDER_COLUMNS(32, ACROSS_1_32, COLUMNS_1);
	ORDER_ALL_ROWS(32);
	transpose_32(rows, num_rows);
}

INLINE void
sort_columns_64(__m512i *rows, const unsigned num_rows)
{
	sort_each_column_64(rows, num_rows);
	FOLD(64, REVERSE_2_64, COLUMNS_1 & 0xFF);
	ORDER_ALL_ROWS(64);
	FOLD(64, REVERSE_4_64, COLUMNS_2 & 0xFF);
	ORDER_COLUMNS(64, ACROSS_1_64, COLUMNS_1 & 0xFF);
	ORDER_ALL_ROWS(64);
	FOLD(64, REVERSE_8_64, COLUMNS_4 & 0xFF);
	ORDER_COLUMNS(64, ACROSS_2_64, COLUMNS_2 & 0xFF);
	ORDER_COLUMNS(64, ACROSS_1_64, COLUMNS_1 & 0xFF);
	ORDER_ALL_ROWS(64);
	transpose_64(rows, num_rows);
}

#endif

#endif							/* MGPU_CPU_AVX512_COLUMNS_H */
