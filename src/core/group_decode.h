/*
 * group_decode.h
 *		The rows of a heap page as inputs of a program, and what it computes as columns: see group_spec.h.
 *
 * A page is untrusted: it may be damaged, or read while it changes.  So it is copied first, and each offset and
 * length of the copy is checked against the row and the page before anything is read.  A row that breaks a rule is
 * damaged.  Nothing outside the MGPU_PAGE_BYTES of the copy is ever read.
 *
 * A row without NULLs that has all attributes is plain: inputs with a fixed offset are there, the others are
 * found by a walk behind the fixed attributes.  Other rows are walked from their first attribute on, as
 * heap_deform_tuple does it.
 *
 * Header-only, C11 and CUDA C++, for little-endian machines whose rows are aligned to 8 bytes.  Structs for page and
 * row were rejected: a device may not read a word at an odd address.
 */
#ifndef MGPU_GROUP_DECODE_H
#define MGPU_GROUP_DECODE_H

#include <stddef.h>

#include "group_spec.h"
#include "load_bits.h"
#include "program/real_bits.h"

#define MGPU_PAGE_HEADER_BYTES 24
#define MGPU_PAGE_MAX_ITEMS ((MGPU_PAGE_BYTES - MGPU_PAGE_HEADER_BYTES) / 4)

/* Of a row's header: where its parts are, and their bits. */
#define MGPU_ROW_INFOMASK2 18
#define MGPU_ROW_INFOMASK 20
#define MGPU_ROW_DATA_OFFSET 22
#define MGPU_ROW_NULL_BITS 23
#define MGPU_ROW_MIN_BYTES 24
#define MGPU_ROW_NATTS_MASK 0x07FF
#define MGPU_ROW_HAS_NULL 0x0001

typedef enum mgpu_row_state
{
	MGPU_ROW_NONE = 0,			/* no row there */
	MGPU_ROW_READ,
	MGPU_ROW_DAMAGED
} mgpu_row_state;

/* What a row has in a column. */
typedef enum mgpu_cell_state
{
	MGPU_CELL_VALUE = 0,
	MGPU_CELL_NULL,
	MGPU_CELL_FAULT,
	MGPU_CELL_ODD				/* a shown float whose code is not enough */
} mgpu_cell_state;

/* A row as it is stored. */
typedef struct mgpu_stored_row
{
	const char *data;			/* its attributes */
	uint32_t	data_bytes;
	uint32_t	num_stored;		/* attributes */
	const char *not_null;		/* a bit for each; NULL: no attribute is NULL */
} mgpu_stored_row;

/* The row of a line pointer. */
MGPU_CODEC mgpu_row_state
mgpu_find_row(const char *page, uint32_t item, mgpu_stored_row *row)
{
	uint32_t	pointer;
	uint32_t	offset;
	uint32_t	length;
	uint32_t	data_offset;
	const char *header;

	if (item >= MGPU_PAGE_MAX_ITEMS)
		return MGPU_ROW_DAMAGED;
	pointer = (uint32_t) mgpu_load_bits(page + MGPU_PAGE_HEADER_BYTES + 4 * item, 4);
	offset = pointer & 0x7FFF;
	length = pointer >> 17;
	if ((pointer >> 15 & 3) != 1)
		return MGPU_ROW_NONE;
	if (offset % 8 != 0 || offset < MGPU_PAGE_HEADER_BYTES || length < MGPU_ROW_MIN_BYTES ||
		offset + length > MGPU_PAGE_BYTES)
		return MGPU_ROW_DAMAGED;
	header = page + offset;
	data_offset = (uint8_t) header[MGPU_ROW_DATA_OFFSET];
	if (data_offset % 8 != 0 || data_offset < MGPU_ROW_MIN_BYTES || data_offset > length)
		return MGPU_ROW_DAMAGED;
	row->data = header + data_offset;
	row->data_bytes = length - data_offset;
	row->num_stored = (uint32_t) mgpu_load_bits(header + MGPU_ROW_INFOMASK2, 2) & MGPU_ROW_NATTS_MASK;
	row->not_null = NULL;
	if ((header[MGPU_ROW_INFOMASK] & MGPU_ROW_HAS_NULL) == 0)
		return MGPU_ROW_READ;
	row->not_null = header + MGPU_ROW_NULL_BITS;
	return MGPU_ROW_NULL_BITS + (row->num_stored + 7) / 8 > data_offset ? MGPU_ROW_DAMAGED : MGPU_ROW_READ;
}

/* The bytes of a varlena at an offset inside the row; 0: it is damaged. */
MGPU_CODEC uint32_t
mgpu_varlena_bytes(const mgpu_stored_row *row, uint32_t offset)
{
	uint8_t		first = (uint8_t) row->data[offset];
	uint32_t	bytes;

	if (first == 1)
	{
		/* out of line: indirect, expanded (two kinds), on disk */
		uint8_t		tag = offset + 1 < row->data_bytes ? (uint8_t) row->data[offset + 1] : 0;

		return tag >= 1 && tag <= 3 ? 2 + 8 : tag == 18 ? 2 + 16 : 0;
	}
	if ((first & 1) != 0)
		return first >> 1;
	if (offset + 4 > row->data_bytes)
		return 0;
	bytes = (uint32_t) mgpu_load_bits(row->data + offset, 4) >> 2;
	return bytes >= 4 ? bytes : 0;
}

/* The bytes of a C string with its end, at an offset up to that of the row's end; 0: it has none. */
MGPU_CODEC uint32_t
mgpu_string_bytes(const mgpu_stored_row *row, uint32_t offset)
{
	for (uint32_t end = offset; end < row->data_bytes; end++)
	{
		if (row->data[end] == 0)
			return end + 1 - offset;
	}
	return 0;
}

/* Find the value of an attribute that is stored at *offset or, aligned, behind it.  *bytes: how long it is. */
MGPU_CODEC bool
mgpu_find_value(const mgpu_stored_row *row, const mgpu_group_attribute *attribute, uint32_t *offset, uint32_t *bytes)
{
	uint32_t	begin = *offset;
	uint32_t	aligned = (begin + attribute->align - 1) & ~((uint32_t) attribute->align - 1);

	if (begin > row->data_bytes)
		return false;
	/* a short varlena has no padding in front, and padding is 0 */
	if (attribute->length != -1 || begin == row->data_bytes || row->data[begin] == 0)
		begin = aligned;
	*offset = begin;
	if (attribute->length > 0)
		*bytes = (uint32_t) attribute->length;
	else if (begin >= row->data_bytes)
		return false;
	else
		*bytes = attribute->length == -1 ? mgpu_varlena_bytes(row, begin) : mgpu_string_bytes(row, begin);
	return *bytes > 0 && begin <= row->data_bytes && *bytes <= row->data_bytes - begin;
}

/* What rows have that are too old for the attributes from `first` on. */
MGPU_CODEC void
mgpu_set_missing(const mgpu_group_spec *spec, uint32_t first, const char **inputs)
{
	for (uint32_t i = first; i < spec->num_attributes; i++)
	{
		int8_t		input = spec->attributes[i].input;

		if (input >= 0)
			inputs[input] = spec->inputs[input].missing < 0 ? NULL : (const char *) spec->tables + spec->inputs[input].missing;
	}
}

/* Take the attributes from `first` on, which begin at an offset, one after the other.  false: damaged. */
MGPU_CODEC bool
mgpu_walk_row(const mgpu_group_spec *spec, const mgpu_stored_row *stored, uint32_t first, uint32_t offset, const char **inputs)
{
	uint32_t	end = stored->num_stored < spec->num_attributes ? stored->num_stored : spec->num_attributes;

	for (uint32_t i = first; i < end; i++)
	{
		const mgpu_group_attribute *attribute = &spec->attributes[i];
		bool		is_null = stored->not_null != NULL && (stored->not_null[i / 8] >> (i % 8) & 1) == 0;
		uint32_t	bytes = 0;

		if (!is_null && !mgpu_find_value(stored, attribute, &offset, &bytes))
			return false;
		if (attribute->input >= 0)
			inputs[attribute->input] = is_null ? NULL : stored->data + offset;
		offset += bytes;
	}
	mgpu_set_missing(spec, end, inputs);
	return true;
}

/* Inputs whose offset is fixed, of a plain row.  false: damaged. */
MGPU_CODEC bool
mgpu_find_fixed(const mgpu_group_spec *spec, const mgpu_stored_row *stored, const char **inputs)
{
	if (spec->fixed_end > stored->data_bytes)
		return false;
	for (uint32_t i = 0; i < spec->num_inputs; i++)
	{
		if (spec->inputs[i].offset >= 0)
			inputs[i] = stored->data + spec->inputs[i].offset;
	}
	return true;
}

/* Where the inputs of the row of a line pointer are.  The spec is valid; the page is a copy, aligned to 8. */
MGPU_CODEC mgpu_row_state
mgpu_find_inputs(const mgpu_group_spec *spec, const char *page, uint32_t item, const char **inputs)
{
	mgpu_stored_row stored;
	mgpu_row_state state = mgpu_find_row(page, item, &stored);
	bool		is_whole;

	if (state != MGPU_ROW_READ)
		return state;
	if (stored.not_null != NULL || stored.num_stored < spec->num_attributes)
		is_whole = mgpu_walk_row(spec, &stored, 0, 0, inputs);
	else
		is_whole = mgpu_find_fixed(spec, &stored, inputs) &&
			mgpu_walk_row(spec, &stored, spec->num_fixed, spec->fixed_end, inputs);
	return is_whole ? MGPU_ROW_READ : MGPU_ROW_DAMAGED;
}

/* A register's value as the code of a column.  number: the integer, or the bits of the double; 0 of bytes. */
MGPU_CODEC mgpu_cell_state
mgpu_cell_of(const mgpu_group_column *column, uint8_t state, uint64_t number, uint64_t *code)
{
	uint64_t	bits = number;

	*code = 0;
	if (state != MGPU_IS_VALUE)
		return state == MGPU_IS_NULL ? MGPU_CELL_NULL : MGPU_CELL_FAULT;
	if (column->kind == MGPU_KEY_FLOAT && column->width == 4)
		bits = mgpu_float_bits_of_real(number);
	*code = mgpu_column_code(bits, column->kind, column->width);
	return column->is_shown && column->kind == MGPU_KEY_FLOAT && mgpu_column_bits(*code, column->kind, column->width) != bits ?
		MGPU_CELL_ODD : MGPU_CELL_VALUE;
}

/* Where a row is: its table, block, and line pointer from 1 on.  item: from 0 on. */
MGPU_CODEC uint64_t
mgpu_tid_of(mgpu_page_ref ref, uint32_t item)
{
	return (uint64_t) ref.source << 48 | (uint64_t) ref.block << 16 | (item + 1);
}

/* Where pages are that are not in a batch. */
typedef struct mgpu_page_places
{
	const char *pages;			/* shared buffers */
	uint64_t	num_pages;
	char	   *kept;			/* memory of the device */
	uint64_t	num_kept;
} mgpu_page_places;

/* Where a page of a batch of num_refs is; NULL: nowhere. */
MGPU_CODEC const char *
mgpu_page_of_ref(mgpu_page_ref ref, const void *batch, uint32_t num_refs, const mgpu_page_places *places)
{
	if (ref.num_items > MGPU_PAGE_MAX_ITEMS || ref.kept > places->num_kept)
		return NULL;
	if (ref.number == MGPU_PAGE_IS_KEPT)
		return ref.kept > 0 ? places->kept + (uint64_t) (ref.kept - 1) * MGPU_PAGE_BYTES : NULL;
	if (ref.is_copy)
		return ref.number < num_refs ?
			(const char *) batch + MGPU_PAGE_COPIES_OFFSET + (uint64_t) ref.number * MGPU_PAGE_BYTES : NULL;
	return ref.number < places->num_pages ? places->pages + (uint64_t) ref.number * MGPU_PAGE_BYTES : NULL;
}

/* Where the device is to keep a page that was found; NULL: nowhere, or it has the page. */
MGPU_CODEC char *
mgpu_kept_place_of_ref(mgpu_page_ref ref, const mgpu_page_places *places)
{
	if (ref.number == MGPU_PAGE_IS_KEPT || ref.kept == 0)
		return NULL;
	return places->kept + (uint64_t) (ref.kept - 1) * MGPU_PAGE_BYTES;
}

/* Whether what a column holds is wanted once the filters are passed. */
MGPU_CODEC bool
mgpu_column_is_stored(const mgpu_group_spec *spec, uint32_t number)
{
	bool		stored = spec->columns[number].reduction != MGPU_REDUCE_NONE || spec->columns[number].is_returned;

	/* a head's other columns */
	for (uint32_t i = 0; i < number; i++)
		stored |= spec->columns[i].num_cells > number - i;
	for (uint32_t i = 0; i < spec->num_keys; i++)
		stored |= spec->keys[i] == number;
	for (uint32_t i = 0; i < spec->num_sorts; i++)
		stored |= spec->sorts[i].column == number;
	for (uint32_t i = 0; i < spec->num_orders; i++)
		stored |= spec->orders[i].column == number;
	return stored;
}

/* An integer as the words of MGPU_REDUCE_INTEGER take it apart.  Of floats, nothing is added. */
MGPU_CODEC uint64_t
mgpu_integer_low(uint64_t code, uint32_t kind)
{
	return kind == MGPU_KEY_FLOAT ? 0 : (uint32_t) mgpu_column_bits(code, kind, 8);
}

MGPU_CODEC int64_t
mgpu_integer_high(uint64_t code, uint32_t kind)
{
	uint64_t	bits = kind == MGPU_KEY_FLOAT ? 0 : mgpu_column_bits(code, kind, 8);

	return kind == MGPU_KEY_SIGNED ? (int64_t) bits >> 32 : (int64_t) (bits >> 32);
}

#endif							/* MGPU_GROUP_DECODE_H */
