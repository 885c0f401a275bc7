/*
 * group_tables.c
 *		Validation of the tables that operations of group specs name: lists, patterns, automata, zones, quotients, buckets.
 *
 * Each ends where it says so, inside of the spec's tables.  That lists and zones are in order is not checked: else a row is not found, and that is all.
 */
#include "group_tables.h"

/* Times, and offsets of zones, are so far from 0 at most: sums of three of them fit in 64 bits. */
#define MOST_TIME (INT64_C(1) << 61)

/* What lies at an offset of the tables; NULL: so many bytes do not. */
static const void *
table_at(const mgpu_group_spec *spec, int64_t offset, uint64_t bytes)
{
	if (offset < 0 || offset % 8 != 0 || offset > (int64_t) spec->table_bytes || bytes > spec->table_bytes - (uint64_t) offset)
		return NULL;
	return (const char *) spec->tables + offset;
}

static bool
is_integer_list(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_integer_list *list = table_at(spec, offset, sizeof(*list));

	return list != NULL && table_at(spec, offset, sizeof(*list) + list->num_values * sizeof(int64_t)) != NULL;
}

/* Parts that end so, one behind the other, and so many times their bytes behind the ends, which are at an offset. */
static bool
are_parts(const mgpu_group_spec *spec, int64_t offset, uint64_t header_bytes, uint64_t num_parts, uint32_t times)
{
	uint64_t	ends_bytes = header_bytes + num_parts * sizeof(uint32_t);
	const char *table = table_at(spec, offset, ends_bytes);
	const uint32_t *ends = table == NULL ? NULL : (const uint32_t *) (table + header_bytes);
	uint32_t	end = 0;

	for (uint64_t i = 0; table != NULL && i < num_parts; i++)
	{
		if (ends[i] < end)
			return false;
		end = ends[i];
	}
	return table != NULL && table_at(spec, offset, ends_bytes + (uint64_t) times * end) != NULL;
}

static bool
is_bytes_list(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_bytes_list *list = table_at(spec, offset, sizeof(*list));

	return list != NULL && are_parts(spec, offset, sizeof(*list), list->num_values, 1);
}

/* A byte of a pattern has a mark. */
static bool
is_pattern(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_like *like = table_at(spec, offset, sizeof(*like));

	return like != NULL && like->num_pieces > 0 && are_parts(spec, offset, sizeof(*like), like->num_pieces, 2);
}

static bool
is_bin(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_time_bin *bin = table_at(spec, offset, sizeof(*bin));

	return bin != NULL && bin->stride > 0 && bin->origin > -MOST_TIME;
}

static bool
is_quotient(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_quotient *quotient = table_at(spec, offset, sizeof(*quotient));

	return quotient != NULL && quotient->step > 0;
}

static bool
are_buckets(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_buckets *buckets = table_at(spec, offset, sizeof(*buckets));

	return buckets != NULL && buckets->count > 0 && buckets->count <= INT32_MAX;
}

static bool
is_time(int64_t time)
{
	return time > -MOST_TIME && time < MOST_TIME;
}

/* The last change only says where the one before ends. */
static bool
is_zone(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_zone *zone = table_at(spec, offset, sizeof(*zone));

	if (zone == NULL || zone->num_changes < 2 || zone->num_changes > MGPU_GROUP_TABLE_BYTES ||
		table_at(spec, offset, sizeof(*zone) + (uint64_t) zone->num_changes * sizeof(mgpu_zone_change)) == NULL)
		return false;
	for (int64_t i = 0; i < zone->num_changes; i++)
		if (!is_time(zone->changes[i].start) || !is_time(zone->changes[i].offset))
			return false;
	return true;
}

static bool
is_case_map(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_case_map *map = table_at(spec, offset, sizeof(*map));

	return map != NULL && table_at(spec, offset, sizeof(*map) + map->num_changes * sizeof(mgpu_case_change)) != NULL;
}

/* Whether all states and classes of an automaton are some of its own. */
static bool
is_closed(const mgpu_regex *regex)
{
	const mgpu_regex_range *ranges = (const mgpu_regex_range *) ((const char *) regex + regex->ranges);
	const uint8_t *next = (const uint8_t *) regex + regex->next;

	for (uint32_t i = 0; i < 128; i++)
		if (regex->of_ascii[i] >= regex->num_classes)
			return false;
	for (uint32_t i = 0; i < regex->num_ranges; i++)
		if (ranges[i].class_of >= regex->num_classes && ranges[i].class_of != MGPU_REGEX_UNKNOWN)
			return false;
	for (uint32_t i = 0; i < regex->num_states * regex->num_classes; i++)
		if (next[i] >= regex->num_states)
			return false;
	return regex->first < regex->num_states;
}

static bool
is_regex(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_regex *regex = table_at(spec, offset, sizeof(*regex));

	return regex != NULL && regex->num_states > MGPU_REGEX_FOUND && regex->num_states <= 256 && regex->num_classes > 0 && regex->num_classes <= 256 &&
		regex->num_ranges > 0 && regex->num_ranges <= MGPU_GROUP_TABLE_BYTES && regex->ranges % 4 == 0 &&
		table_at(spec, offset, regex->ranges + (uint64_t) regex->num_ranges * sizeof(mgpu_regex_range)) != NULL &&
		table_at(spec, offset, (uint64_t) regex->next + regex->num_states * regex->num_classes) != NULL && is_closed(regex);
}

/* Whether an automaton of a match lies so, and all of its states are its own. */
static bool
is_automaton(const mgpu_group_spec *spec, int64_t offset, uint32_t place)
{
	const mgpu_regex_match *match = (const mgpu_regex_match *) ((const char *) spec->tables + offset);
	const uint32_t *num_states = (const uint32_t *) ((const char *) match + place);
	const uint8_t *next = (const uint8_t *) (num_states + 1);

	if (place % sizeof(uint32_t) != 0 || table_at(spec, offset, (uint64_t) place + sizeof(uint32_t)) == NULL || *num_states <= MGPU_REGEX_START ||
		*num_states > MGPU_REGEX_STATE + 1 ||
		table_at(spec, offset, (uint64_t) place + sizeof(uint32_t) + *num_states * match->search.num_classes) == NULL)
		return false;
	for (uint32_t i = 0; i < *num_states * match->search.num_classes; i++)
		if ((next[i] & MGPU_REGEX_STATE) >= *num_states)
			return false;
	return true;
}

static bool
is_step(const mgpu_group_spec *spec, int64_t offset, const mgpu_regex_step *step)
{
	switch (step->code)
	{
		case MGPU_REGEX_LEFT:
		case MGPU_REGEX_RIGHT:
			return is_automaton(spec, offset, step->left) && is_automaton(spec, offset, step->right);
		case MGPU_REGEX_LITERAL:
			return table_at(spec, offset, (uint64_t) step->left + step->right) != NULL;
		default:
			return step->code == MGPU_REGEX_COPY;
	}
}

static bool
is_match(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_regex_match *match = table_at(spec, offset, sizeof(*match));

	if (match == NULL || !is_regex(spec, offset) || !is_automaton(spec, offset, match->whole) || match->steps % sizeof(uint32_t) != 0 ||
		table_at(spec, offset, match->steps + (uint64_t) match->num_steps * sizeof(mgpu_regex_step)) == NULL)
		return false;
	for (uint32_t i = 0; i < match->num_steps; i++)
		if (!is_step(spec, offset, (const mgpu_regex_step *) ((const char *) match + match->steps) + i))
			return false;
	return true;
}

/* Values of a field whose names a format may have. */
static uint32_t
num_names(uint32_t field)
{
	return field == MGPU_FIELD_MONTH ? 12 : field == MGPU_FIELD_DAY_OF_WEEK ? 7 : UINT32_MAX;
}

static bool
is_piece(const mgpu_time_piece *piece)
{
	bool		is_name = piece->kind == MGPU_PIECE_NAME;

	if (piece->kind > MGPU_PIECE_BYTES || piece->field >= MGPU_FIELD_EPOCH || piece->width == 0)
		return false;
	if (is_name ? piece->add != (piece->field == MGPU_FIELD_MONTH ? -1 : 0) : piece->add != 0 && piece->add != 1)
		return false;
	if (piece->kind == MGPU_PIECE_DIGITS)
		return true;
	return piece->first <= MGPU_FORMAT_BYTES && (is_name || piece->add == 0) &&
		(uint64_t) piece->width * (is_name ? num_names(piece->field) : 1) <= MGPU_FORMAT_BYTES - piece->first;
}

static bool
is_format(const mgpu_group_spec *spec, int64_t offset)
{
	const mgpu_time_format *format = table_at(spec, offset, sizeof(*format));
	uint32_t	length = 0;

	if (format == NULL || format->num_pieces > MGPU_FORMAT_PIECES)
		return false;
	for (uint32_t i = 0; i < format->num_pieces; i++)
	{
		if (!is_piece(&format->pieces[i]))
			return false;
		length += format->pieces[i].width;
	}
	return length == format->length;
}

bool
mgpu_group_table_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op)
{
	switch (op->code)
	{
		case MGPU_RUN_IN_INTEGER:
			return is_integer_list(spec, op->number);
		case MGPU_RUN_IN_BYTES:
			return is_bytes_list(spec, op->number);
		case MGPU_RUN_LIKE:
			return is_pattern(spec, op->number);
		case MGPU_RUN_REGEX:
			return is_regex(spec, op->number);
		case MGPU_RUN_REGEX_PART:
		case MGPU_RUN_REPLACE_REGEX:
			return is_match(spec, op->number);
		case MGPU_RUN_CHANGE_CASE:
			return is_case_map(spec, op->number);
		case MGPU_RUN_FORMAT_TIME:
			return is_format(spec, op->number);
		case MGPU_RUN_TIME_BIN:
			return is_bin(spec, op->number);
		case MGPU_RUN_DIVIDE_SHOWN:
			return is_quotient(spec, op->number);
		case MGPU_RUN_BUCKET_OF_REAL:
			return are_buckets(spec, op->number);
		case MGPU_RUN_LOCAL_OF_ZONED:
		case MGPU_RUN_ZONED_OF_LOCAL:
			return is_zone(spec, op->number);
		default:
			return true;
	}
}
