/*
 * cpu_vector_merge.c
 *		Merges in vector registers.  See cpu_vector.h.
 *
 * A merge keeps the largest items so far in a register, loads the next vector from
 * the list whose head is smaller, and stores the lower half of a bitonic merge of
 * the two (Inoue et al. 2007).  Each step waits for the previous one, so four parts,
 * cut by Merge Path, run side by side.  Short lists are merged in registers as a
 * whole, which neither waits nor copies.
 */
#include "cpu_avx512.h"
#include "cpu_vector.h"

#ifdef HAVE_AVX512_VARIANT

/*
 * Codes of ordinary floats (no NaN, no -0) and back, as in key_codec.h.  flip is all
 * ones for descending order.
 */
#define DEFINE_CODES(bits) \
INLINE __m512i \
encode_##bits(__m512i items, __m512i flip, const bool is_float) \
{ \
	if (is_float) \
		flip = _mm512_xor_si512(flip, _mm512_or_si512(_mm512_srai_epi##bits(items, bits - 1), \
													 _mm512_set1_epi##bits(INT##bits##_MIN))); \
	return _mm512_xor_si512(items, flip); \
} \
INLINE __m512i \
decode_##bits(__m512i codes, __m512i flip, const bool is_float) \
{ \
	codes = _mm512_xor_si512(codes, flip); \
	if (is_float) \
		codes = _mm512_xor_si512(codes, _mm512_or_si512(_mm512_srai_epi##bits(~codes, bits - 1), \
													   _mm512_set1_epi##bits(INT##bits##_MIN))); \
	return codes; \
} \
INLINE uint##bits##_t \
encode_one_##bits(uint##bits##_t item, uint##bits##_t flip, const bool is_float) \
{ \
	if (is_float) \
		flip ^= (0 - (item >> (bits - 1))) | (uint##bits##_t) INT##bits##_MIN; \
	return item ^ flip; \
}

DEFINE_CODES(32)
DEFINE_CODES(64)

/* The next vector of the list whose head is smaller. */
#define DEFINE_TAKE(bits, lanes_per_vector) \
INLINE __m512i \
take_vector_##bits(const uint##bits##_t **a, const uint##bits##_t **b, uint##bits##_t flip, const bool is_float) \
{ \
	bool		from_b = encode_one_##bits(**b, flip, is_float) < encode_one_##bits(**a, flip, is_float); \
	__m512i		items = _mm512_loadu_si512(from_b ? *b : *a); \
	*a += from_b ? 0 : lanes_per_vector; \
	*b += from_b ? lanes_per_vector : 0; \
	return encode_##bits(items, _mm512_set1_epi##bits((int##bits##_t) flip), is_float); \
}

DEFINE_TAKE(32, 16)
DEFINE_TAKE(64, 8)

#define DEFINE_MERGE(name, bits, lanes_per_vector, is_float, lanes_used) \
TARGET static void \
name(const mgpu_codec *codec, const mgpu_merge_lane *lanes, uint64_t lane_items) \
{ \
	uint##bits##_t flip = (uint##bits##_t) codec->flip; \
	__m512i		flips = _mm512_set1_epi##bits((int##bits##_t) flip); \
	__m512i		largest[lanes_used]; \
	const uint##bits##_t *a[lanes_used]; \
	const uint##bits##_t *b[lanes_used]; \
	_Pragma("GCC unroll 4") \
	for (int i = 0; i < lanes_used; i++) \
	{ \
		a[i] = lanes[i].a; \
		b[i] = lanes[i].b; \
		largest[i] = take_vector_##bits(&a[i], &b[i], flip, is_float); \
	} \
	for (uint64_t done = 0; done < lane_items; done += lanes_per_vector) \
	{ \
		uint64_t	left = lane_items - done; \
		_Pragma("GCC unroll 4") \
		for (int i = 0; i < lanes_used; i++) \
		{ \
			__m512i		next = reverse_##bits(take_vector_##bits(&a[i], &b[i], flip, is_float)); \
			__m512i		lower = clean_##bits(_mm512_min_epu##bits(largest[i], next)); \
			largest[i] = clean_##bits(_mm512_max_epu##bits(largest[i], next)); \
			lower = decode_##bits(lower, flips, is_float); \
			if (left >= lanes_per_vector) \
				_mm512_storeu_si512((uint##bits##_t *) lanes[i].out + done, lower); \
			else \
				_mm512_mask_storeu_epi##bits((uint##bits##_t *) lanes[i].out + done, \
											 lanes_used_##bits((uint32_t) left, 0), lower); \
		} \
	} \
}

DEFINE_MERGE(merge_1_u32, 32, 16, false, 1)
DEFINE_MERGE(merge_4_u32, 32, 16, false, MGPU_MERGE_LANES)
DEFINE_MERGE(merge_1_f32, 32, 16, true, 1)
DEFINE_MERGE(merge_4_f32, 32, 16, true, MGPU_MERGE_LANES)
DEFINE_MERGE(merge_1_u64, 64, 8, false, 1)
DEFINE_MERGE(merge_4_u64, 64, 8, false, MGPU_MERGE_LANES)
DEFINE_MERGE(merge_1_f64, 64, 8, true, 1)
DEFINE_MERGE(merge_4_f64, 64, 8, true, MGPU_MERGE_LANES)

void
mgpu_vector_merge(const mgpu_codec *codec, const mgpu_merge_lane *lanes, int num_lanes,
				  uint64_t lane_items)
{
	static void (*const merges[2][2][2]) (const mgpu_codec *codec, const mgpu_merge_lane *lanes,
										  uint64_t lane_items) = {
		{{merge_1_u32, merge_4_u32}, {merge_1_f32, merge_4_f32}},
		{{merge_1_u64, merge_4_u64}, {merge_1_f64, merge_4_f64}}
	};

	merges[codec->width == 8][codec->kind == MGPU_KEY_FLOAT][num_lanes > 1] (codec, lanes, lane_items);
}

/*
 * Merge of lists that fit the registers: the first list from the front, the second
 * reversed from the end, codes of all ones between them.  This sequence rises and
 * then falls, so half a bitonic network sorts it.
 */
#define DEFINE_MERGE_SHORT(bits) \
INLINE void \
merge_in_registers_##bits(uint##bits##_t *items, uint32_t num_a, uint32_t num_b, uint64_t flip, const unsigned num_vectors) \
{ \
	__m512i		all[16]; \
	__m512i		flips = _mm512_set1_epi##bits((int##bits##_t) flip); \
	_Pragma("GCC unroll 16") \
	for (unsigned i = 0; i < num_vectors; i++) \
	{ \
		unsigned	j = num_vectors - 1 - i; \
		__m512i		a = _mm512_mask_loadu_epi##bits(~flips, lanes_used_##bits(num_a, (int) i), items + i * (512 / bits)); \
		__m512i		b = _mm512_mask_loadu_epi##bits(~flips, lanes_used_##bits(num_b, (int) j), \
													items + num_a + j * (512 / bits)); \
		all[i] = _mm512_min_epu##bits(_mm512_xor_si512(a, flips), reverse_##bits(_mm512_xor_si512(b, flips))); \
	} \
	_Pragma("GCC unroll 4") \
	for (unsigned stride = num_vectors / 2; stride > 0; stride /= 2) \
		_Pragma("GCC unroll 16") \
		for (unsigned i = 0; i < num_vectors; i++) \
			if ((i & stride) == 0) \
			{ \
				unsigned	j = (i | stride) & (num_vectors - 1); \
				__m512i		lower = all[i]; \
				all[i] = _mm512_min_epu##bits(lower, all[j]); \
				all[j] = _mm512_max_epu##bits(lower, all[j]); \
			} \
	_Pragma("GCC unroll 16") \
	for (unsigned i = 0; i < num_vectors; i++) \
		_mm512_mask_storeu_epi##bits(items + i * (512 / bits), lanes_used_##bits(num_a + num_b, (int) i), \
									 _mm512_xor_si512(clean_##bits(all[i]), flips)); \
} \
TARGET static void \
merge_short_##bits(void *items, uint32_t num_a, uint32_t num_b, uint64_t flip) \
{ \
	uint32_t	num_items = num_a + num_b; \
	if (num_items <= 2 * 512 / bits) \
		merge_in_registers_##bits(items, num_a, num_b, flip, 2); \
	else if (num_items <= 4 * 512 / bits) \
		merge_in_registers_##bits(items, num_a, num_b, flip, 4); \
	else if (num_items <= 8 * 512 / bits) \
		merge_in_registers_##bits(items, num_a, num_b, flip, 8); \
	else \
		merge_in_registers_##bits(items, num_a, num_b, flip, 16); \
}

DEFINE_MERGE_SHORT(32)
DEFINE_MERGE_SHORT(64)

void
mgpu_vector_merge_short(void *items, uint32_t num_a, uint32_t num_b, uint32_t width, uint64_t flip)
{
	if (width == 4)
		merge_short_32(items, num_a, num_b, flip);
	else
		merge_short_64(items, num_a, num_b, flip);
}

/* Compare each item with its successor.  The last item's lane is masked out. */
#define DEFINE_PROBE(name, bits, lanes_per_vector, is_float, infinity) \
TARGET static unsigned \
name(const mgpu_codec *codec, const void *items, uint64_t num_items) \
{ \
	const uint##bits##_t *item = items; \
	__m512i		flips = _mm512_set1_epi##bits((int##bits##_t) codec->flip); \
	__m512i		signs = _mm512_set1_epi##bits(INT##bits##_MIN); \
	__m512i		infinities = _mm512_set1_epi##bits((int##bits##_t) (infinity)); \
	unsigned	below = 0; \
	unsigned	special = 0; \
	for (uint64_t i = 0; i < num_items; i += lanes_per_vector) \
	{ \
		uint32_t	left = num_items - i > lanes_per_vector ? lanes_per_vector + 1 : (uint32_t) (num_items - i); \
		__m512i		here = _mm512_maskz_loadu_epi##bits(lanes_used_##bits(left, 0), item + i); \
		__m512i		next = _mm512_maskz_loadu_epi##bits(lanes_used_##bits(left - 1, 0), item + i + 1); \
		if (is_float) \
			special |= _mm512_cmpgt_epu##bits##_mask(_mm512_andnot_si512(signs, here), infinities) | \
				_mm512_cmpeq_epi##bits##_mask(here, signs); \
		below |= _mm512_mask_cmplt_epu##bits##_mask(lanes_used_##bits(left - 1, 0), \
													encode_##bits(next, flips, is_float), \
													encode_##bits(here, flips, is_float)); \
	} \
	return (below ? MGPU_PROBE_UNSORTED : 0) | (special ? MGPU_PROBE_SPECIAL : 0); \
}

DEFINE_PROBE(probe_u32, 32, 16, false, 0)
DEFINE_PROBE(probe_f32, 32, 16, true, MGPU_F32_INF)
DEFINE_PROBE(probe_u64, 64, 8, false, 0)
DEFINE_PROBE(probe_f64, 64, 8, true, MGPU_F64_INF)

unsigned
mgpu_vector_probe(const mgpu_codec *codec, const void *items, uint64_t num_items)
{
	bool		is_float = codec->kind == MGPU_KEY_FLOAT;

	if (codec->width == 4)
		return is_float ? probe_f32(codec, items, num_items) : probe_u32(codec, items, num_items);
	return is_float ? probe_f64(codec, items, num_items) : probe_u64(codec, items, num_items);
}

#else

/* Never called on machines without vectors. */
void
mgpu_vector_merge(const mgpu_codec *codec, const mgpu_merge_lane *lanes, int num_lanes,
				  uint64_t lane_items)
{
}

void
mgpu_vector_merge_short(void *items, uint32_t num_a, uint32_t num_b, uint32_t width, uint64_t flip)
{
}

unsigned
mgpu_vector_probe(const mgpu_codec *codec, const void *items, uint64_t num_items)
{
	return MGPU_PROBE_UNSORTED;
}

#endif
