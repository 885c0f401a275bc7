/*
 * core_codec.c
 *		Order codes: they keep the order of keys, and decode to the stored bytes.
 *
 * The tests cover key_codec.h alone, its use over slices, and the watch on the order of
 * codes.
 */
#include "core/cpu_codec.h"
#include "unit.h"

static double
float_of(uint64_t bits, uint32_t width)
{
	float		narrow;
	double		wide;
	uint32_t	bits32 = (uint32_t) bits;

	memcpy(&narrow, &bits32, 4);
	memcpy(&wide, &bits, 8);
	return width == 4 ? (double) narrow : wide;
}

/* The oracle: PostgreSQL's order of two stored elements, as -1, 0 or 1. */
static int
compare_elements(uint64_t a, uint64_t b, uint32_t kind, uint32_t width)
{
	unsigned	unused = 64 - width * 8;

	if (kind == MGPU_KEY_FLOAT)
	{
		double		x = float_of(a, width);
		double		y = float_of(b, width);

		if (x != x || y != y)
			return (x != x) - (y != y);
		return (x > y) - (x < y);
	}
	if (kind == MGPU_KEY_SIGNED)
	{
		int64_t		x = (int64_t) (a << unused) >> unused;
		int64_t		y = (int64_t) (b << unused) >> unused;

		return (x > y) - (x < y);
	}
	return (a > b) - (a < b);
}

static uint64_t
encode(uint64_t bits, uint32_t kind, uint32_t width)
{
	return width == 8 ? mgpu_encode_64(bits, kind) : mgpu_encode_32((uint32_t) bits, kind, width);
}

static uint64_t
decode(uint64_t code, uint32_t kind, uint32_t width)
{
	return width == 8 ? mgpu_decode_64(code, kind) : mgpu_decode_32((uint32_t) code, kind, width);
}

static void
check_pair(uint64_t a, uint64_t b, uint32_t kind, uint32_t width)
{
	uint64_t	code_a = encode(a, kind, width);
	uint64_t	code_b = encode(b, kind, width);

	UNIT_CONTEXT("kind %u width %u: %llx %llx", kind, width, (unsigned long long) a, (unsigned long long) b);
	UNIT_CHECK((code_a > code_b) - (code_a < code_b) == compare_elements(a, b, kind, width));
}

static void
check_round_trip(uint64_t a, uint32_t kind, uint32_t width)
{
	uint64_t	back = decode(encode(a, kind, width), kind, width);
	uint64_t	sign = UINT64_C(1) << (width * 8 - 1);
	double		x = kind == MGPU_KEY_FLOAT ? float_of(a, width) : 1.0;

	UNIT_CONTEXT("kind %u width %u: %llx", kind, width, (unsigned long long) a);
	if (x != x)
		UNIT_CHECK(back == (width == 4 ? MGPU_F32_NAN : MGPU_F64_NAN));
	else if (x == 0)
		UNIT_CHECK(back == 0);
	else
		UNIT_CHECK(back == a);
	UNIT_CHECK(width == 8 || back < 2 * sign);
}

static void
test_exhaustive(void)
{
	for (uint32_t width = 1; width <= 2; width++)
		for (uint32_t kind = MGPU_KEY_UNSIGNED; kind <= MGPU_KEY_SIGNED; kind++)
			for (uint64_t a = 0; a < UINT64_C(1) << (8 * width); a++)
			{
				if (width == 1 && kind == MGPU_KEY_SIGNED)
					continue;
				check_round_trip(a, kind, width);
				check_pair(a, (a + 1) % (UINT64_C(1) << (8 * width)), kind, width);
				check_pair(a, unit_random() >> (64 - 8 * width), kind, width);
			}
}

static const uint64_t edges_64[] = {
	0, 1, 2, UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_C(0x8000000000000000), UINT64_C(0x8000000000000001),
	UINT64_MAX, UINT64_MAX - 1, MGPU_F64_INF, MGPU_F64_INF - 1, MGPU_F64_INF + 1, MGPU_F64_NAN,
	MGPU_F64_NAN + 1, MGPU_F64_SIGN | MGPU_F64_INF, MGPU_F64_SIGN | (MGPU_F64_INF - 1),
	MGPU_F64_SIGN | (MGPU_F64_INF + 1), MGPU_F64_SIGN | MGPU_F64_NAN, UINT64_C(0x0010000000000000),
	UINT64_C(0x000FFFFFFFFFFFFF), UINT64_C(0x800FFFFFFFFFFFFF), UINT64_C(0x3FF0000000000000)
};

static const uint32_t edges_32[] = {
	0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x7F800000, 0x7F7FFFFF,
	0x7F800001, 0x7FC00000, 0x7FC00001, 0xFF800000, 0xFF7FFFFF, 0xFF800001, 0xFFC00000, 0x00800000,
	0x007FFFFF, 0x807FFFFF, 0x3F800000
};

#define NUM_EDGES (sizeof(edges_32) / sizeof(edges_32[0]))

_Static_assert(NUM_EDGES == sizeof(edges_64) / sizeof(edges_64[0]), "as many edges of each width");

static uint64_t
edge_or_random(uint32_t width)
{
	uint64_t	choice = unit_random_below(2 * NUM_EDGES);

	if (choice >= NUM_EDGES)
		return unit_random() >> (64 - 8 * width);
	return width == 4 ? edges_32[choice] : edges_64[choice];
}

static void
test_wide(void)
{
	for (uint32_t width = 4; width <= 8; width += 4)
		for (uint32_t kind = MGPU_KEY_UNSIGNED; kind <= MGPU_KEY_FLOAT; kind++)
		{
			for (size_t i = 0; i < NUM_EDGES; i++)
				for (size_t j = 0; j < NUM_EDGES; j++)
					check_pair(width == 4 ? edges_32[i] : edges_64[i],
							   width == 4 ? edges_32[j] : edges_64[j], kind, width);
			for (int i = 0; i < 20000; i++)
			{
				uint64_t	a = edge_or_random(width);

				check_pair(a, edge_or_random(width), kind, width);
				check_round_trip(a, kind, width);
			}
		}
}

static uint64_t
load_item(const void *items, uint32_t width, size_t i)
{
	uint64_t	item = 0;

	memcpy(&item, (const char *) items + i * width, width);
	return item;
}

/* Slices are encoded like single items, in place and out of place, at any length. */
static void
check_slice(uint32_t kind, uint32_t width, uint32_t descending, size_t num_items, bool special)
{
	uint64_t	items[300],
				codes[300],
				wide[300],
				back[300];
	uint64_t	complement = descending ? UINT64_MAX >> (64 - 8 * width) : 0;
	mgpu_codec	codec;

	mgpu_codec_init(&codec, kind, width, descending);
	for (size_t i = 0; i < num_items; i++)
	{
		uint64_t	item = special && width >= 4 ? edge_or_random(width) :
			(unit_random() & UINT64_C(0x3FFFFFFFFFFFFFFF)) >> (64 - 8 * width);

		memcpy((char *) items + i * width, &item, width);
	}
	mgpu_encode_items(&codec, items, codes, num_items);
	mgpu_encode_wide(&codec, items, wide, num_items);
	mgpu_decode_items(&codec, codes, back, num_items);
	for (size_t i = 0; i < num_items; i++)
	{
		uint64_t	item = load_item(items, width, i);
		uint64_t	code = encode(item, kind, width) ^ complement;

		UNIT_CONTEXT("kind %u width %u descending %u items %zu at %zu", kind, width, descending, num_items, i);
		UNIT_CHECK(load_item(codes, width, i) == code);
		UNIT_CHECK(wide[i] == code);
		UNIT_CHECK(load_item(back, width, i) == decode(encode(item, kind, width), kind, width));
	}
	memcpy(wide, items, num_items * width);
	mgpu_encode_items(&codec, wide, wide, num_items);
	UNIT_CHECK(memcmp(wide, codes, num_items * width) == 0);
	mgpu_decode_items(&codec, wide, wide, num_items);
	UNIT_CHECK(memcmp(wide, back, num_items * width) == 0);
}

static void
test_slices(void)
{
	static const size_t lengths[] = {0, 1, 7, 63, 64, 65, 128, 200, 300};

	for (uint32_t width = 1; width <= 8; width *= 2)
		for (uint32_t kind = MGPU_KEY_UNSIGNED; kind <= MGPU_KEY_FLOAT; kind++)
			for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
			{
				if ((kind == MGPU_KEY_FLOAT && width < 4) || (kind == MGPU_KEY_SIGNED && width < 2))
					continue;
				for (uint32_t descending = 0; descending <= 1; descending++)
				{
					check_slice(kind, width, descending, lengths[i], false);
					check_slice(kind, width, descending, lengths[i], true);
				}
			}
}

static void
test_bytes(void)
{
	for (uint32_t descending = 0; descending <= 1; descending++)
		for (int i = 0; i < 5000; i++)
		{
			uint8_t		items[2][16];
			mgpu_u128	codes[2];
			uint8_t		back[2][16];
			mgpu_codec	codec;
			int			expected;
			size_t		same = unit_random_below(17);

			for (int j = 0; j < 16; j++)
			{
				items[0][j] = (uint8_t) unit_random();
				items[1][j] = (size_t) j < same ? items[0][j] : (uint8_t) unit_random();
			}
			mgpu_codec_init(&codec, MGPU_KEY_BYTES, 16, descending);
			mgpu_encode_u128(&codec, items, codes, 2);
			mgpu_decode_items(&codec, codes, back, 2);
			expected = memcmp(items[0], items[1], 16);
			expected = (expected > 0) - (expected < 0);
			if (descending)
				expected = -expected;
			UNIT_CONTEXT("bytes descending %u", descending);
			UNIT_CHECK((codes[0] > codes[1]) - (codes[0] < codes[1]) == expected);
			UNIT_CHECK(memcmp(items, back, sizeof(items)) == 0);
		}
}

/* Watch a sequence with one step in the wrong direction, in slices of odd lengths. */
static void
check_watch(uint32_t width, size_t num_items, size_t slice, int direction, size_t broken_at, bool strict)
{
	unsigned char *items = unit_allocate((num_items + 1) * width);
	mgpu_order_watch watch;
	bool		breaks = num_items > 2 && broken_at > 0 && broken_at < num_items;

	memset(items, 0, (num_items + 1) * width);
	for (size_t i = 0; i < num_items; i++)
	{
		size_t		value = 2 * (direction > 0 ? i : num_items - i);

		if (i == broken_at && breaks)
			value = direction > 0 ? 2 * (i - 1) - 1 : 2 * (num_items - (i - 1)) + 1;
		memcpy(items + i * width, &value, width < 8 ? width : 8);
	}
	mgpu_order_watch_init(&watch, strict);
	for (size_t i = 0; i < num_items; i += slice)
		mgpu_order_watch_codes(&watch, items + i * width, width, num_items - i < slice ? num_items - i : slice);
	UNIT_CONTEXT("watch width %u items %zu slice %zu direction %d broken at %zu", width, num_items, slice,
				 direction, broken_at);
	UNIT_CHECK(watch.ascending == (num_items < 2 || (direction > 0 && !breaks)));
	UNIT_CHECK(watch.descending == (num_items < 2 || (direction < 0 && !breaks)));
	free(items);
}

static void
test_watch(void)
{
	uint16_t	equal[3] = {5, 5, 5};
	mgpu_order_watch watch;

	for (uint32_t width = 1; width <= 16; width *= 2)
		for (int i = 0; i < 300; i++)
		{
			size_t		num_items = unit_random_below(width == 1 ? 100 : 1000);

			check_watch(width, num_items, 1 + unit_random_below(600), i % 2 ? 1 : -1,
						i % 3 ? 0 : unit_random_below(num_items + 1), i % 5 == 0);
		}
	UNIT_CONTEXT("%s", "equal items");
	mgpu_order_watch_init(&watch, false);
	mgpu_order_watch_codes(&watch, equal, 2, 3);
	UNIT_CHECK(watch.ascending && watch.descending);
	mgpu_order_watch_init(&watch, true);
	mgpu_order_watch_codes(&watch, equal, 2, 3);
	UNIT_CHECK(watch.ascending && !watch.descending);
}

static void
test_reverse(void)
{
	for (uint32_t width = 1; width <= 16; width *= 2)
		for (size_t num_items = 0; num_items < 20; num_items++)
		{
			uint64_t	items[40],
						reversed[40];

			for (size_t i = 0; i < 40; i++)
				items[i] = unit_random();
			memcpy(reversed, items, sizeof(items));
			mgpu_reverse_items(reversed, width, num_items);
			UNIT_CONTEXT("reverse width %u items %zu", width, num_items);
			for (size_t i = 0; i < num_items; i++)
				UNIT_CHECK(memcmp((char *) reversed + i * width,
								  (char *) items + (num_items - 1 - i) * width, width) == 0);
		}
}

int
main(void)
{
	test_exhaustive();
	test_wide();
	test_slices();
	test_bytes();
	test_watch();
	test_reverse();
	return unit_report();
}
