/*
 * key_codes.c
 *		Codes of an array's elements, a block of them at a time.
 *
 * Whoever looks at all elements again and again, each time for some of them, needs
 * no codes of all in memory: making them anew costs less than fetching them would.
 * Strings were left out, since theirs need a walk and what all of them share.
 */
#include "postgres.h"

#include "key_codes.h"

#define SIGN_BIT (UINT64CONST(1) << 63)

/* What the elements of an enum order by. */
static void
open_labels(key_codes *codes)
{
	codes->labels = enum_labels_find((const Oid *) codes->data, codes->num_items, codes->type);
	mgpu_codec_init(&codes->codec, MGPU_KEY_UNSIGNED, sizeof(Oid), 0);
}

bool
key_codes_apply(const element_type *type)
{
	return type->stride > 0 && (type->key_kind != 0 || type->encode != NULL || type->is_enum);
}

void
key_codes_open(key_codes *codes, const array_source *source, const element_type *type, bool descending)
{
	Assert(key_codes_apply(type));
	memset(codes, 0, sizeof(*codes));
	codes->type = type;
	codes->data = array_source_data(source);
	codes->num_items = source->num_items - source->num_nulls;
	codes->exact = type->key_kind != MGPU_KEY_BYTES;
	codes->flip = descending ? ~UINT64CONST(0) : 0;
	if (codes->num_items > 0)
		array_source_require(source, (Size) (codes->num_items - 1) * type->stride + type->typlen);
	if (type->is_enum && codes->num_items > 0)
		open_labels(codes);
	else if (type->key_kind != 0)
		mgpu_codec_init(&codes->codec, type->key_kind, type->key_width, 0);
}

void
key_codes_close(key_codes *codes)
{
	if (codes->labels)
		enum_labels_free(codes->labels);
	codes->labels = NULL;
}

/* The first eight bytes of 16. */
static void
read_first_words(const char *element, int num_items, uint64 *out)
{
	for (int i = 0; i < num_items; i++)
	{
		memcpy(&out[i], element + (Size) i * 16, sizeof(uint64));
		out[i] = mgpu_swap_64(out[i]);
	}
}

static bool
read_encoded(const key_codes *codes, const char *element, int num_items, uint64 *out)
{
	bool		fit = true;

	for (int i = 0; i < num_items; i++, element += codes->type->stride)
	{
		int64		key = 0;

		fit &= codes->type->encode(element, &key);
		out[i] = (uint64) key ^ SIGN_BIT;
	}
	return fit;
}

static void
read_ranks(const key_codes *codes, const char *element, int num_items, uint64 *out)
{
	/* ranks are written to the end, and widened from the front */
	uint32	   *ranks = (uint32 *) (out + num_items) - num_items;

	enum_labels_ranks(codes->labels, (const Oid *) element, num_items, false, ranks);
	for (int i = 0; i < num_items; i++)
	{
		uint32		rank;

		memcpy(&rank, ranks + i, sizeof(rank));
		out[i] = rank;
	}
}

bool
key_codes_read(const key_codes *codes, int64 begin, int num_items, uint64 *out)
{
	const char *element = codes->data + (Size) begin * codes->type->stride;
	bool		fit = true;

	if (codes->labels)
		read_ranks(codes, element, num_items, out);
	else if (codes->type->key_kind == MGPU_KEY_BYTES)
		read_first_words(element, num_items, out);
	else if (codes->codec.width == sizeof(uint64))
	{
		/* an array inside a row may be less aligned */
		memcpy(out, element, num_items * sizeof(uint64));
		mgpu_encode_wide(&codes->codec, out, out, num_items);
	}
	else if (codes->type->key_kind != 0 || codes->type->is_enum)
		mgpu_encode_wide(&codes->codec, element, out, num_items);
	else
		fit = read_encoded(codes, element, num_items, out);
	for (int i = 0; codes->flip != 0 && i < num_items; i++)
		out[i] ^= codes->flip;
	return fit;
}
