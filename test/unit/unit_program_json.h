/*
 * unit_program_json.h
 *		Documents as jsonb stores them, with keys of a case's texts.
 */
#ifndef MGPU_UNIT_PROGRAM_JSON_H
#define MGPU_UNIT_PROGRAM_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define DOCUMENT_BYTES 8192
#define MOST_PAIRS 64
#define OFFSET_EACH 32

typedef struct json_key
{
	const char *bytes;
	uint32_t	length;
} json_key;

/* By length, then bytes. */
static inline int
compare_keys(const void *a, const void *b)
{
	const json_key *first = a;
	const json_key *second = b;

	if (first->length != second->length)
		return first->length < second->length ? -1 : 1;
	return memcmp(first->bytes, second->bytes, first->length);
}

/* A document under way: what its entries hold goes behind them. */
typedef struct json_writer
{
	char	   *words;
	char	   *data;
	uint32_t	length;			/* of data */
	uint32_t	num_entries;
} json_writer;

static inline void
put_json_word(char *to, uint32_t word)
{
	memcpy(to, &word, sizeof(word));
}

/* One more entry, of a kind, for data from begin on; now and then with its end instead of its length. */
static inline void
end_entry(json_writer *writer, uint32_t kind, uint32_t begin)
{
	bool		has_offset = writer->num_entries % OFFSET_EACH == 0;
	uint32_t	word = kind | (has_offset ? UINT32_C(0x80000000) | writer->length : writer->length - begin);

	put_json_word(writer->words + 4 * (1 + writer->num_entries++), word);
}

static inline void
put_string(json_writer *writer, const json_key *text)
{
	uint32_t	begin = writer->length;

	memcpy(writer->data + begin, text->bytes, text->length);
	writer->length += text->length;
	end_entry(writer, 0, begin);
}

/* A number of up to two digits of base 10,000, or an object without keys. */
static inline void
put_aligned(json_writer *writer, bool is_number)
{
	uint16_t	number[4] = {(uint16_t) (0x8000 | unit_random_below(3) << 7 | unit_random_below(2)), (uint16_t) unit_random_below(10000), (uint16_t) (unit_random_below(100) * 100)};
	uint32_t	begin = writer->length;

	while (writer->length % 4 != 0)
		writer->data[writer->length++] = 0;
	put_json_word(writer->data + writer->length, is_number ? (4 + 6) << 2 : UINT32_C(0x20000000));
	writer->length += 4;
	if (is_number)
		memcpy(writer->data + writer->length, number, 6);
	writer->length += is_number ? 6 : 0;
	end_entry(writer, is_number ? UINT32_C(0x10000000) : UINT32_C(0x50000000), begin);
}

static inline void
put_value(json_writer *writer, const json_key *text)
{
	uint64_t	kind = unit_random_below(8);

	if (kind < 3)
		put_string(writer, text);
	else if (kind < 6)
		put_aligned(writer, kind < 5);
	else
		end_entry(writer, (uint32_t) (2 + unit_random_below(3)) << 28, writer->length);
}

static inline void
damage_document(char *document, uint64_t word_bytes)
{
	if (unit_random_below(4) == 0)
		document[unit_random_below(unit_random_below(2) == 0 ? 4 : word_bytes)] ^= (char) (1 << unit_random_below(8));
}

/* An array, or what stands for a document that is no container; its length. */
static inline uint32_t
make_list(const json_key *texts, int num_texts, char *to)
{
	uint32_t	count = (uint32_t) unit_random_below((uint64_t) num_texts);
	json_writer writer = {.words = to,.data = to + 4 + 4 * (size_t) count};

	put_json_word(to, (unit_random_below(8) == 0 ? UINT32_C(0x50000000) : UINT32_C(0x40000000)) | count);
	for (uint32_t i = 0; i < count; i++)
		put_value(&writer, &texts[i]);
	damage_document(to, 4 + 4 * (uint64_t) count);
	return (uint32_t) (writer.data - to) + writer.length;
}

/* Some of these keys, and maybe many others; the document's length.  Some documents are damaged. */
static inline uint32_t
make_document(const json_key *texts, int num_texts, char *to)
{
	static char others[MOST_PAIRS][32];
	json_key	keys[MOST_PAIRS];
	json_writer writer = {.words = to};
	uint32_t	num_keys = 0;
	uint32_t	num_others = unit_random_below(2) == 0 ? 0 : 40;
	uint32_t	num_pairs = 0;

	for (int i = 0; i < num_texts; i++)
		if (unit_random_below(8) != 0)
			keys[num_keys++] = texts[i];
	for (uint32_t i = 0; i < num_others; i++)
		keys[num_keys++] = (json_key) {others[i], (uint32_t) snprintf(others[i], sizeof(others[i]), "another key, number %u", i)};
	qsort(keys, num_keys, sizeof(json_key), compare_keys);
	for (uint32_t i = 0; i < num_keys; i++)
		if (i == 0 || compare_keys(&keys[i], &keys[num_pairs - 1]) != 0)
			keys[num_pairs++] = keys[i];
	put_json_word(to, UINT32_C(0x20000000) | num_pairs);
	writer.data = to + 4 + 8 * (size_t) num_pairs;
	for (uint32_t i = 0; i < num_pairs; i++)
		put_string(&writer, &keys[i]);
	for (uint32_t i = 0; i < num_pairs; i++)
		put_value(&writer, &keys[num_pairs - 1 - i]);
	damage_document(to, 4 + 8 * (uint64_t) num_pairs);
	return (uint32_t) (writer.data - to) + writer.length;
}

#endif							/* MGPU_UNIT_PROGRAM_JSON_H */
