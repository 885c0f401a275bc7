/*
 * merge/bulk_tile.cuh
 *		Geometry of bulk remove and insert: boundaries, flags and ranks of a tile.
 *
 * A tile is cut into rows of 32 items.  A warp takes items_per_thread rows, and its lane r makes a
 * mask of row r's flags and counts those before the row:
 *
 *	 flags     0 1 0 0 ... | 1 0 0 0 ... | ...	one byte an item, shared memory
 *	 row r     its mask, and the rank of its first item; 8 bytes, shared memory
 *	 item i    its row's mask and rank, and the bits below its own
 *
 * A tile's first rank follows from the search for its boundary, so no scan over CTAs is needed.
 * Code that is not CUDA's alone runs on the host too, for tests.  Rejected: flags as bits set by
 * atomics, since dense neighbours would queue for one word; two shuffles in place of a row's 8
 * bytes, which take the same unit twice.
 */
#ifndef MGPU_MERGE_BULK_TILE_CUH
#define MGPU_MERGE_BULK_TILE_CUH

#include "device/tile_copy.cuh"
#include "merge/splits.cuh"

/* Search of a remove: the positions before a tile's first item. */
struct mgpu_remove_search
{
	const uint32_t *positions;
	uint64_t	num_positions;
	uint64_t	num_items;
	uint32_t	tile_items;

	MGPU_MEMBER uint64_t
	tiled_items() const
	{
		return num_items;
	}

	MGPU_MEMBER void
	range(uint64_t tile, uint64_t &low, uint64_t &high) const
	{
		uint64_t	begin = tile * tile_items;

		/* positions are unique: no more of them than items before the boundary */
		high = begin < num_positions ? begin : num_positions;
		low = begin < num_items ? 0 : high;
	}

	MGPU_MEMBER uint64_t
	expected(uint64_t tile) const
	{
		return mgpu_in_proportion(num_positions, tile * tile_items, num_items);
	}

	MGPU_MEMBER bool
	before(uint64_t tile, uint64_t probe) const
	{
		return positions[probe] < tile * tile_items;
	}

	/* Half an item keeps it from being 0. */
	MGPU_MEMBER float
	distance(uint64_t tile, uint64_t probe) const
	{
		return (float) ((int64_t) positions[probe] - (int64_t) (tile * tile_items)) + 0.5f;
	}
};

/*
 * Search of an insert: the insertions among the outputs before a tile, by the merge path of the
 * positions with 0, 1, 2 ... num_items - 1.  A position goes before its equal.
 */
struct mgpu_insert_search
{
	const uint32_t *positions;
	uint64_t	num_positions;
	uint64_t	num_items;
	uint32_t	tile_items;

	MGPU_MEMBER uint64_t
	tiled_items() const
	{
		return num_items + num_positions;
	}

	MGPU_MEMBER uint64_t
	diagonal(uint64_t tile) const
	{
		uint64_t	begin = tile * tile_items;

		return begin < tiled_items() ? begin : tiled_items();
	}

	MGPU_MEMBER void
	range(uint64_t tile, uint64_t &low, uint64_t &high) const
	{
		uint64_t	begin = diagonal(tile);

		low = begin > num_items ? begin - num_items : 0;
		high = begin < num_positions ? begin : num_positions;
	}

	MGPU_MEMBER uint64_t
	expected(uint64_t tile) const
	{
		return mgpu_in_proportion(num_positions, diagonal(tile), tiled_items());
	}

	MGPU_MEMBER bool
	before(uint64_t tile, uint64_t probe) const
	{
		return positions[probe] <= diagonal(tile) - 1 - probe;
	}

	MGPU_MEMBER float
	distance(uint64_t tile, uint64_t probe) const
	{
		return (float) ((int64_t) (positions[probe] + probe) - (int64_t) diagonal(tile)) + 0.5f;
	}
};

/* Four flag bytes of 0 or 1 to four bits: the product's top bits. */
MGPU_HOST_DEVICE uint32_t
mgpu_flag_bits(uint32_t bytes)
{
	return (bytes * UINT32_C(0x10204080)) >> 28;
}

/* The bits of a row that lie in a tile of num_items. */
MGPU_HOST_DEVICE uint32_t
mgpu_row_bits(uint32_t row, uint32_t num_items)
{
	uint32_t	begin = row * 32;

	if (begin >= num_items)
		return 0;
	return num_items - begin >= 32 ? ~UINT32_C(0) : (UINT32_C(1) << (num_items - begin)) - 1;
}

template <template <int> class Tuning>
static inline uint32_t
mgpu_bulk_tile_items(uint32_t item_bytes)
{
	switch (item_bytes)
	{
		case 1:
			return Tuning<1>::tile_items;
		case 2:
			return Tuning<2>::tile_items;
		case 4:
			return Tuning<4>::tile_items;
		case 8:
			return Tuning<8>::tile_items;
		default:
			return Tuning<16>::tile_items;
	}
}

struct alignas(8) mgpu_row
{
	uint32_t	mask;
	uint32_t	rank;
};

/* Clear all flags.  The caller's barrier must follow. */
template <class Tuning>
static __device__ __forceinline__ void
mgpu_clear_flags(uint4 *flags)
{
	constexpr uint32_t num_vectors = Tuning::tile_items / sizeof(uint4);

	for (uint32_t vector = threadIdx.x; vector < num_vectors; vector += Tuning::threads)
		flags[vector] = make_uint4(0, 0, 0, 0);
}

/*
 * Flag the tile's places of positions split.x to split.y.  Position i counts as step * i higher,
 * and places are modulo 2^32.
 */
template <class Tuning, int step>
static __device__ __forceinline__ void
mgpu_set_flags(uint4 *flags, const uint32_t *positions, uint2 split, uint64_t tile_begin)
{
	constexpr int at_once = MGPU_BULK_POSITIONS_AT_ONCE;
	uint8_t    *bytes = reinterpret_cast<uint8_t *>(flags);

#pragma unroll 1
	for (uint32_t first = split.x + threadIdx.x; first < split.y; first += at_once * Tuning::threads)
	{
		uint32_t	places[at_once];

#pragma unroll
		for (int i = 0; i < at_once; i++)
		{
			uint32_t	position = first + i * Tuning::threads;

			places[i] = position < split.y ? positions[position] + step * position - (uint32_t) tile_begin : UINT32_MAX;
		}
#pragma unroll
		for (int i = 0; i < at_once; i++)
			if (places[i] < Tuning::tile_items)
				bytes[places[i]] = 1;
	}
}

/* The flags of a lane's row as a mask; 0 beyond the warp's rows. */
template <class Tuning>
static __device__ __forceinline__ uint32_t
mgpu_flag_mask(const uint4 *flags)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	mask = 0;

	if (lane < Tuning::items_per_thread)
	{
		uint32_t	row = threadIdx.x / 32 * Tuning::items_per_thread + lane;
		uint4		low = flags[row * 2];
		uint4		high = flags[row * 2 + 1];

		mask = mgpu_flag_bits(low.x) | mgpu_flag_bits(low.y) << 4 |
			mgpu_flag_bits(low.z) << 8 | mgpu_flag_bits(low.w) << 12 |
			mgpu_flag_bits(high.x) << 16 | mgpu_flag_bits(high.y) << 20 |
			mgpu_flag_bits(high.z) << 24 | mgpu_flag_bits(high.w) << 28;
	}
	return mask;
}

/*
 * Rank every lane's row by its mask. warp_counts has one place a warp, rows one a row of the tile.
 * Each warp may read its own rows at once, and all flags are read.
 */
template <class Tuning>
static __device__ __forceinline__ void
mgpu_rank_rows(uint32_t mask, uint32_t *warp_counts, mgpu_row *rows)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	warp = threadIdx.x / 32;
	uint32_t	count = __popc(mask);
	uint32_t	sum = count;
	mgpu_row	row = {mask, 0};

#pragma unroll
	for (uint32_t distance = 1; distance < 32; distance *= 2)
	{
		uint32_t	other = __shfl_up_sync(MGPU_WHOLE_WARP, sum, distance);

		if (lane >= distance)
			sum += other;
	}
	if (lane == 31)
		warp_counts[warp] = sum;
	__syncthreads();				/* every warp's count is there */
	row.rank = sum - count;
	for (uint32_t other = 0; other < warp; other++)
		row.rank += warp_counts[other];
	if (lane < Tuning::items_per_thread)
		rows[warp * Tuning::items_per_thread + lane] = row;
	__syncwarp();
}

/* How many items of the tile before this one are set. */
static __device__ __forceinline__ uint32_t
mgpu_rank_item(const mgpu_row &row, uint32_t bit)
{
	return row.rank + __popc(row.mask & ((1u << bit) - 1));
}

static __device__ __forceinline__ bool
mgpu_is_set(const mgpu_row &row, uint32_t bit)
{
	return (row.mask >> bit & 1) != 0;
}

#endif							/* MGPU_MERGE_BULK_TILE_CUH */
