/*
 * group_spec.c
 *		Validation of group specs but for their programs (group_program.c), and where the words of their records are.
 */
#include "group_spec.h"
#include "load_bits.h"

#include <inttypes.h>
#include <string.h>

static mgpu_status
validate_counts(const mgpu_group_spec *spec, mgpu_error *err)
{
	if (spec->num_attributes > MGPU_GROUP_MAX_ATTRIBUTES || spec->num_inputs > MGPU_GROUP_MAX_INPUTS ||
		spec->num_tests > MGPU_GROUP_MAX_TESTS || spec->num_columns > MGPU_GROUP_MAX_COLUMNS ||
		spec->num_keys > MGPU_GROUP_MAX_KEYS || spec->num_sorts > MGPU_GROUP_MAX_SORTS ||
		spec->num_orders > MGPU_GROUP_MAX_ORDERS || spec->num_builds > MGPU_GROUP_MAX_BUILDS ||
		spec->num_matches > MGPU_GROUP_MAX_BUILDS || spec->num_fixed > spec->num_attributes || spec->tid_input > spec->num_inputs)
		return mgpu_fail(err, MGPU_BAD_JOB, "a group spec has too many parts");
	if (spec->takes_rows > 1 || (spec->takes_rows && spec->tid_input > 0))
		return mgpu_fail(err, MGPU_BAD_JOB, "rows of kind %" PRIu32 ", or with TIDs", spec->takes_rows);
	if (spec->num_ops > MGPU_GROUP_MAX_OPS || spec->num_registers > MGPU_GROUP_MAX_REGISTERS || spec->num_constants > MGPU_GROUP_MAX_CONSTANTS ||
		spec->num_constants > spec->num_registers || spec->table_bytes > MGPU_GROUP_TABLE_BYTES)
		return mgpu_fail(err, MGPU_BAD_JOB, "a group spec has a program that is too large");
	if (spec->fixed_end > MGPU_PAGE_BYTES)
		return mgpu_fail(err, MGPU_BAD_JOB, "attributes of %" PRIu32 " bytes do not fit in a page", spec->fixed_end);
	return MGPU_OK;
}

/* Inputs of attributes with fixed offsets have them, and others have none: they are found by a walk behind those. */
static mgpu_status
validate_attribute(const mgpu_group_spec *spec, uint32_t number, mgpu_error *err)
{
	const mgpu_group_attribute *attribute = &spec->attributes[number];
	uint8_t		align = attribute->align;

	if (attribute->length < -2 || attribute->length == 0 || (align != 1 && align != 2 && align != 4 && align != 8))
		return mgpu_fail(err, MGPU_BAD_JOB, "an attribute of length %d aligned to %d", attribute->length, align);
	if (attribute->input >= 0 &&
		((uint32_t) attribute->input >= spec->num_inputs || (uint32_t) attribute->input + 1 == spec->tid_input || attribute->length != spec->inputs[attribute->input].length ||
		 (spec->inputs[attribute->input].offset >= 0) != (number < spec->num_fixed)))
		return mgpu_fail(err, MGPU_BAD_JOB, "an attribute does not go with input %d", attribute->input);
	return MGPU_OK;
}

/* Whether a value of a length lies whole in the tables.  A varlena says how long it is; one that is elsewhere is a fault. */
static bool
is_missing_whole(const mgpu_group_spec *spec, int32_t length, int32_t offset)
{
	const char *value = (const char *) spec->tables + offset;
	int64_t		bytes = (int64_t) spec->table_bytes - offset;

	if (length != -1 || bytes < 1)
		return bytes >= (length > 0 ? length : 1);
	if ((value[0] & 1) != 0)
		return (uint8_t) value[0] >> 1 <= bytes;
	return bytes >= 4 && mgpu_load_bits(value, 4) >> 2 >= 4 && (int64_t) (mgpu_load_bits(value, 4) >> 2) <= bytes;
}

/* Each is an attribute's, or the TID: what no row has would not be found. */
static mgpu_status
validate_input(const mgpu_group_spec *spec, uint32_t number, mgpu_error *err)
{
	const mgpu_group_input *input = &spec->inputs[number];
	uint32_t	attribute = 0;

	if (input->offset < -1 || (input->offset >= 0 && (input->length < 0 || input->offset > (int32_t) spec->fixed_end - input->length)))
		return mgpu_fail(err, MGPU_BAD_JOB, "an input at offset %" PRId32, input->offset);
	if (input->missing < -1 || (input->missing >= 0 && !is_missing_whole(spec, input->length, input->missing)))
		return mgpu_fail(err, MGPU_BAD_JOB, "a missing value at offset %" PRId32, input->missing);
	if (number + 1 == spec->tid_input)
		return input->length == sizeof(uint64_t) && input->offset == -1 ? MGPU_OK :
			mgpu_fail(err, MGPU_BAD_JOB, "a TID of %" PRId32 " bytes", input->length);
	while (attribute < spec->num_attributes && spec->attributes[attribute].input != (int8_t) number)
		attribute++;
	return attribute < spec->num_attributes ? MGPU_OK : mgpu_fail(err, MGPU_BAD_JOB, "input %" PRIu32 " is no attribute", number);
}

static bool
has_sound_slots(const mgpu_build *build)
{
	uint32_t	num_slots = build->num_slots;

	if (build->is_dense)
		return build->is_dense == 1 && num_slots > 0;
	return num_slots > 0 && (num_slots & (num_slots - 1)) == 0 && build->num_rows < num_slots;
}

static mgpu_status
validate_build(const mgpu_group_spec *spec, const mgpu_build *build, mgpu_error *err)
{
	if (!has_sound_slots(build) || build->num_rows > MGPU_BUILD_MAX_ROWS || build->num_columns > MGPU_BUILD_MAX_COLUMNS || build->has_next > 1)
		return mgpu_fail(err, MGPU_BAD_JOB, "a build of %" PRIu32 " rows in %" PRIu32 " slots", build->num_rows, build->num_slots);
	if (build->offset % 8 != 0 || build->offset > spec->build_bytes || mgpu_build_bytes(build) > spec->build_bytes - build->offset)
		return mgpu_fail(err, MGPU_BAD_JOB, "a build at offset %" PRIu64 " of %" PRIu64, build->offset, spec->build_bytes);
	return MGPU_OK;
}

static bool
is_width_allowed(uint32_t kind, uint32_t width)
{
	switch (kind)
	{
		case MGPU_KEY_UNSIGNED:
			return width == 1 || width == 2 || width == 4 || width == 8;
		case MGPU_KEY_SIGNED:
			return width == 2 || width == 4 || width == 8;
		default:
			return kind == MGPU_KEY_FLOAT && (width == 4 || width == 8);
	}
}

static mgpu_status
validate_column(const mgpu_group_spec *spec, const mgpu_group_column *column, mgpu_error *err)
{
	bool		is_real = column->reduction == MGPU_REDUCE_REAL || column->reduction == MGPU_REDUCE_SPREAD;

	if (!is_width_allowed(column->kind, column->width))
		return mgpu_fail(err, MGPU_BAD_JOB, "a column of kind %" PRIu32 " and width %" PRIu32, column->kind, column->width);
	if ((spec->lanes[column->reg] == MGPU_LANE_REAL) != (column->kind == MGPU_KEY_FLOAT))
		return mgpu_fail(err, MGPU_BAD_JOB, "a column of register %" PRIu32, column->reg);
	if (column->reduction > MGPU_REDUCE_PAIRS || (is_real && column->kind != MGPU_KEY_FLOAT) ||
		(column->reduction == MGPU_REDUCE_EXTREMES && column->num_cells == 0) ||
		(column->reduction == MGPU_REDUCE_BITS && column->kind != MGPU_KEY_SIGNED) ||
		(column->is_collated && (column->reduction != MGPU_REDUCE_EXTREMES || column->kind != MGPU_KEY_SIGNED || column->width != 8)))
		return mgpu_fail(err, MGPU_BAD_JOB, "reduction %" PRIu32 " of a column of kind %" PRIu32, column->reduction, column->kind);
	if (column->is_named && (spec->lanes[column->reg] != MGPU_LANE_BYTES || column->kind != MGPU_KEY_UNSIGNED || column->width != 8 ||
							 column->num_cells > 0 || column->reduction > MGPU_REDUCE_COUNT))
		return mgpu_fail(err, MGPU_BAD_JOB, "names of register %" PRIu32, column->reg);
	return MGPU_OK;
}

static bool
are_pairs(const mgpu_group_spec *spec, uint32_t head)
{
	if (spec->columns[head].num_cells != 2 || head + 1 >= spec->num_columns)
		return false;
	return spec->columns[head].kind == MGPU_KEY_FLOAT && spec->columns[head].width == 8 &&
		spec->columns[head + 1].kind == MGPU_KEY_FLOAT && spec->columns[head + 1].width == 8;
}

const char *
mgpu_group_locale(const mgpu_group_spec *spec)
{
	const char *name = (const char *) spec->tables + spec->locale;

	return spec->locale < spec->table_bytes && memchr(name, '\0', spec->table_bytes - spec->locale) != NULL ? name : NULL;
}

bool
mgpu_group_is_collated(const mgpu_group_spec *spec)
{
	bool		is_collated = false;

	for (uint32_t i = 0; i < spec->num_columns; i++)
		is_collated |= spec->columns[i].is_collated != 0;
	for (uint32_t i = 0; i < spec->num_ops && i < MGPU_GROUP_MAX_OPS; i++)
		is_collated |= spec->ops[i].code == MGPU_RUN_COMPARE_COLLATED;
	return is_collated;
}

bool
mgpu_group_is_named(const mgpu_group_spec *spec)
{
	bool		is_named = false;

	for (uint32_t i = 0; i < spec->num_columns; i++)
		is_named |= spec->columns[i].is_named != 0;
	return is_named;
}

bool
mgpu_group_needs_threads(const mgpu_group_spec *spec)
{
	for (uint32_t i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction == MGPU_REDUCE_BITS)
			return true;
	return mgpu_group_is_collated(spec) || mgpu_group_is_named(spec) || spec->takes_rows != 0;
}

bool
mgpu_group_passes_rows(const mgpu_group_spec *spec)
{
	return spec->limit_rule == MGPU_LIMIT_ROWS && spec->limit == UINT64_MAX && spec->num_keys == 0 && spec->num_orders == 0;
}

/* Heads have their other columns behind them. */
static mgpu_status
validate_heads(const mgpu_group_spec *spec, mgpu_error *err)
{
	if (mgpu_group_is_collated(spec) && mgpu_group_locale(spec) == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "a locale at offset %" PRIu32, spec->locale);
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		uint32_t	num_cells = spec->columns[i].num_cells;

		if (spec->columns[i].reduction == MGPU_REDUCE_PAIRS && !are_pairs(spec, i))
			return mgpu_fail(err, MGPU_BAD_JOB, "column %" PRIu32 " has no pairs of floats", i);
		if (num_cells != 0 && (num_cells < (spec->columns[i].is_collated ? 1 : 2) || num_cells > MGPU_GROUP_MAX_CELLS || num_cells > spec->num_columns - i))
			return mgpu_fail(err, MGPU_BAD_JOB, "values of %" PRIu32 " columns from column %" PRIu32 " on", num_cells, i);
	}
	for (uint32_t i = 0; i < spec->num_sorts; i++)
	{
		const mgpu_group_sort *sort = &spec->sorts[i];

		if (sort->column < spec->num_columns && spec->columns[sort->column].num_cells > 0 &&
			(sort->returns != MGPU_SORT_DISTINCT || sort->num_percentiles > 0))
			return mgpu_fail(err, MGPU_BAD_JOB, "values of several columns are sorted");
	}
	return MGPU_OK;
}

static mgpu_status
validate_percentiles(const mgpu_group_sort *sort, mgpu_error *err)
{
	if (sort->num_percentiles > MGPU_GROUP_MAX_PERCENTILES)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu32 " percentiles of a sort", sort->num_percentiles);
	for (uint32_t i = 0; i < sort->num_percentiles; i++)
	{
		/* a NaN is not either */
		if (!(sort->percentiles[i].fraction >= 0 && sort->percentiles[i].fraction <= 1))
			return mgpu_fail(err, MGPU_BAD_JOB, "percentile %g", sort->percentiles[i].fraction);
	}
	return MGPU_OK;
}

/* Rows come back, or groups with what is computed of them. */
static mgpu_status
validate_limit(const mgpu_group_spec *spec, mgpu_error *err)
{
	bool		has_reduction = false;

	for (uint32_t i = 0; i < spec->num_columns; i++)
		has_reduction |= spec->columns[i].reduction != MGPU_REDUCE_NONE;
	if (spec->limit_rule == MGPU_LIMIT_NONE ? spec->num_orders > 0 : has_reduction || spec->num_sorts > 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "a group spec asks for both groups and rows");
	if (spec->limit_rule > MGPU_LIMIT_DENSE_RANKS || (spec->limit_rule != MGPU_LIMIT_NONE && spec->limit == 0) ||
		(spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MGPU_GROUP_MAX_DENSE_RANKS))
		return mgpu_fail(err, MGPU_BAD_JOB, "limit %" PRIu64 " of rule %" PRIu32, spec->limit, spec->limit_rule);
	return MGPU_OK;
}

static mgpu_status
validate_references(const mgpu_group_spec *spec, mgpu_error *err)
{
	uint32_t	greatest = 0;
	mgpu_status status;

	for (uint32_t i = 0; i < spec->num_keys; i++)
	{
		if (spec->keys[i] > greatest)
			greatest = spec->keys[i];
	}
	for (uint32_t i = 0; i < spec->num_orders; i++)
	{
		if (spec->orders[i].column > greatest)
			greatest = spec->orders[i].column;
	}
	for (uint32_t i = 0; i < spec->num_sorts; i++)
	{
		if (spec->sorts[i].column > greatest)
			greatest = spec->sorts[i].column;
		if (spec->sorts[i].descending > 1)
			return mgpu_fail(err, MGPU_BAD_JOB, "descending is %" PRIu32 ", neither 0 nor 1", spec->sorts[i].descending);
		if ((status = validate_percentiles(&spec->sorts[i], err)) != MGPU_OK)
			return status;
	}
	if (spec->num_keys + spec->num_sorts + spec->num_orders > 0 && greatest >= spec->num_columns)
		return mgpu_fail(err, MGPU_BAD_JOB, "there is no column %" PRIu32, greatest);
	return MGPU_OK;
}

static bool
is_match_allowed(const mgpu_group_spec *spec, uint32_t number)
{
	const mgpu_group_match *match = &spec->matches[number];
	uint32_t	before = number > 0 ? mgpu_group_match_end(match - 1) : 0;
	bool		has_conditions = match->num_conditions > 0 || match->kind <= MGPU_MATCH_ALL || match->kind == MGPU_MATCH_MARKS;
	bool		adds = match->adds == MGPU_ADDS_UNMATCHED || (match->adds == MGPU_ADDS_MATCHED && match->kind == MGPU_MATCH_MARKS);

	return match->test > before && match->test <= spec->num_tests && match->num_conditions <= spec->num_tests - match->test &&
		match->build < spec->num_builds && match->reg >= spec->num_constants && match->reg < spec->num_registers &&
		spec->lanes[match->reg] == MGPU_LANE_INTEGER && match->kind <= MGPU_MATCH_MARKS && has_conditions &&
		(adds ? number == 0 : match->adds == MGPU_ADDS_NOTHING && match->kind != MGPU_MATCH_MARKS);
}

static mgpu_status
validate_matches(const mgpu_group_spec *spec, mgpu_error *err)
{
	for (uint32_t i = 0; i < spec->num_matches; i++)
	{
		const mgpu_group_match *match = &spec->matches[i];

		if (!is_match_allowed(spec, i))
			return mgpu_fail(err, MGPU_BAD_JOB, "rows of build %" PRIu32 " in register %" PRIu32 ", behind %" PRIu32 " tests",
							 match->build, match->reg, match->test);
	}
	return MGPU_OK;
}

mgpu_status
mgpu_group_validate(const mgpu_group_spec *spec, mgpu_error *err)
{
	mgpu_status status = validate_counts(spec, err);

	for (uint32_t i = 0; status == MGPU_OK && i < spec->num_attributes; i++)
		status = validate_attribute(spec, i, err);
	for (uint32_t i = 0; status == MGPU_OK && i < spec->num_inputs; i++)
		status = validate_input(spec, i, err);
	for (uint32_t i = 0; status == MGPU_OK && i < spec->num_builds; i++)
		status = validate_build(spec, &spec->builds[i], err);
	if (status == MGPU_OK)
		status = mgpu_group_validate_program(spec, err);
	for (uint32_t i = 0; status == MGPU_OK && i < spec->num_columns; i++)
		status = validate_column(spec, &spec->columns[i], err);
	if (status == MGPU_OK)
		status = validate_heads(spec, err);
	if (status == MGPU_OK)
		status = validate_limit(spec, err);
	if (status == MGPU_OK)
		status = validate_matches(spec, err);
	return status == MGPU_OK ? validate_references(spec, err) : status;
}

static uint32_t
words_of(const mgpu_group_column *column)
{
	switch (column->reduction)
	{
		case MGPU_REDUCE_NONE:
			return 0;
		case MGPU_REDUCE_COUNT:
			return 1;
		case MGPU_REDUCE_INTEGER:
			return 5;
		case MGPU_REDUCE_EXTREMES:
			return 1 + 2 * column->num_cells;
		case MGPU_REDUCE_BITS:
			return 7;
		default:
			return 6;
	}
}

void
mgpu_group_plan_record(const mgpu_group_spec *spec, mgpu_group_record *record)
{
	record->keys = 2;
	record->num_words = record->keys + spec->num_keys;
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		record->reductions[i] = record->num_words;
		record->num_words += words_of(&spec->columns[i]);
	}
	for (uint32_t i = 0; i < spec->num_sorts; i++)
	{
		record->sorts[i] = record->num_words;
		record->percentiles[i] = record->sorts[i] + ((spec->sorts[i].returns & MGPU_SORT_DISTINCT) != 0 ? 2 : 1);
		record->num_words = record->percentiles[i] + 2 * spec->sorts[i].num_percentiles;
	}
}

uint64_t
mgpu_group_record_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result)
{
	mgpu_group_record record;

	if (spec->limit_rule != MGPU_LIMIT_NONE)
		return result->num_returned * sizeof(uint32_t);
	mgpu_group_plan_record(spec, &record);
	return result->num_groups * record.num_words * sizeof(uint64_t);
}

uint64_t
mgpu_group_value_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result, uint32_t number)
{
	if (spec->limit_rule == MGPU_LIMIT_NONE)
		return number < spec->num_sorts ? result->num_sorted[number] * spec->columns[spec->sorts[number].column].width : 0;
	return number < spec->num_columns && spec->columns[number].is_returned ?
		result->num_returned * spec->columns[number].width : 0;
}

uint64_t
mgpu_group_output_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result, uint32_t output)
{
	return output == 0 ? mgpu_group_record_bytes(spec, result) : mgpu_group_value_bytes(spec, result, output - 1);
}
