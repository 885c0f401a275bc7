/*
 * unit_group.h
 *		Random jobs of MGPU_OP_GROUP for tests: a spec, pages of a table, and the rows in them.
 *
 * Rows are written as PostgreSQL's heap_fill_tuple does it, apart from all code that reads them.  The first columns are loaded, each
 * from an attribute.  The others are computed: sums, choices, words of texts.  What these hold is found here once more, by code
 * of its own.  C11 and CUDA C++.
 */
#ifndef MGPU_UNIT_GROUP_H
#define MGPU_UNIT_GROUP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"

/* A row of the reference: what its columns hold. */
typedef struct group_row
{
	uint64_t	bits[MGPU_GROUP_MAX_COLUMNS];	/* as stored, zero-extended */
	uint32_t	nulls;
	uint32_t	faults;			/* a bit for each column that is one */
} group_row;

#define GROUP_MAX_COMPUTED 8
#define GROUP_MAX_TEXTS 2
#define GROUP_MAX_WORDS 3

/* What a computed column is. */
typedef enum group_making
{
	GROUP_SUM = 0,				/* of two columns of integers */
	GROUP_CHOICE,				/* the third column if the first is less than the second, else the fourth */
	GROUP_WORD,					/* of a text */
	GROUP_FOUND,				/* in the build, by a column of integers */
	GROUP_TID					/* where the row is */
} group_making;

typedef struct group_computed
{
	group_making making;
	uint32_t	from[4];		/* columns in front of it; of a word: the text, and which of its words; of what is found: a column */
} group_computed;

/* A text of a row. */
typedef struct group_text
{
	bool		is_null;
	bool		is_fault;		/* compressed or out of line */
	uint32_t	length;
	char		bytes[160];
} group_text;

/* The rows of the only build, and words that it takes. */
#define GROUP_BUILD_ROWS 50
#define GROUP_BUILD_WORDS 400

#define GROUP_MAX_FILTERS 4

/* A test: a column compared with a value, or asked for NULL.  Outcomes are those of program.h; 0: is it NULL, or not? */
typedef struct group_filter
{
	uint32_t	column;
	uint32_t	outcomes;
	uint64_t	bits;
	bool		keeps_null;
} group_filter;

typedef struct group_case
{
	uint64_t	random;			/* its own generator: alike everywhere */
	mgpu_group_spec spec;
	uint64_t	domains[MGPU_GROUP_MAX_COLUMNS];	/* distinct values of each column; 0: any */
	uint32_t	num_computed;	/* columns, behind the others */
	group_computed computed[GROUP_MAX_COMPUTED];
	uint32_t	num_texts;		/* their inputs are behind those of columns */
	uint32_t	num_words[GROUP_MAX_TEXTS];	/* of each; longer ones are faults */
	uint32_t	long_share;		/* one text in so many is too long, compressed or out of line; 0: none */
	group_text	texts[GROUP_MAX_TEXTS];	/* of the row that is written ... */
	uint64_t	tid;			/* ... and where it is */
	uint64_t	build[GROUP_BUILD_WORDS];	/* its memory */
	uint32_t	num_filters;
	group_filter filters[GROUP_MAX_FILTERS];	/* what the spec's tests are */
	uint64_t	missing[MGPU_GROUP_MAX_COLUMNS];	/* bits of rows that are older than the column's attribute ... */
	bool		missing_is_null[MGPU_GROUP_MAX_COLUMNS];	/* ... or NULL */
	uint32_t	null_share;		/* one value in so many is NULL; 0: none */
	uint32_t	old_share;		/* one row in so many is older than an attribute; 0: none */
	uint32_t	odd_share;		/* one float in so many is a negative zero or an odd NaN; 0: none */
	bool		is_short;		/* varlenas and strings are short */
	bool		has_infinities;
	bool		has_huge;		/* floats whose sums overflow */
	uint32_t	num_pages;
	char	   *pages;			/* the caller's */
	uint16_t   *num_items;		/* of each page */
	group_row  *rows;			/* in the order of pages and line pointers, before filters */
	uint64_t	num_rows;
	uint64_t	rows_capacity;
} group_case;

static inline uint64_t
group_random(group_case *job)
{
	job->random ^= job->random << 13;
	job->random ^= job->random >> 7;
	job->random ^= job->random << 17;
	return job->random;
}

static inline uint32_t
group_below(group_case *job, uint32_t limit)
{
	return (uint32_t) (group_random(job) >> 16) % limit;
}

/* Columns that are loaded, from inputs of their numbers. */
static inline uint32_t
group_num_loaded(const group_case *job)
{
	return job->spec.num_columns - job->num_computed;
}

/* true one time in `share`; never if that is 0. */
static inline bool
group_chance(group_case *job, uint32_t share)
{
	return share > 0 && group_below(job, share) == 0;
}

/* ------------------------------------------------------------------- specs */

static inline void
group_random_attribute(group_case *job, mgpu_group_attribute *attribute)
{
	static const int16_t lengths[] = {1, 2, 4, 4, 4, 8, 8, 16, 6, 12, -1, -1, -2};
	static const uint8_t aligns[] = {1, 2, 4, 4, 4, 8, 8, 8, 2, 8, 4, 8, 1};
	uint32_t	type = group_below(job, 13);

	attribute->length = lengths[type];
	attribute->align = aligns[type];
	attribute->input = -1;
}

static inline void
group_random_column(group_case *job, uint32_t number)
{
	static const uint32_t widths[] = {1, 2, 4, 8};
	mgpu_group_column *column = &job->spec.columns[number];

	memset(column, 0, sizeof(*column));
	column->width = widths[group_below(job, 4)];
	column->kind = column->width == 1 ? MGPU_KEY_UNSIGNED : MGPU_KEY_SIGNED;
	if (column->width > 2 && group_chance(job, 2))
		column->kind = MGPU_KEY_FLOAT;
	column->reduction = group_below(job, MGPU_REDUCE_PAIRS);
	if (column->kind == MGPU_KEY_FLOAT && (column->reduction == MGPU_REDUCE_EXTREMES || column->reduction == MGPU_REDUCE_BITS))
		column->reduction = MGPU_REDUCE_REAL;
	if (column->kind != MGPU_KEY_FLOAT && column->reduction > MGPU_REDUCE_INTEGER)
		column->reduction = MGPU_REDUCE_INTEGER;
	column->is_shown = column->kind == MGPU_KEY_FLOAT;
	job->domains[number] = group_below(job, 4) == 0 ? 0 : 1 + group_below(job, group_below(job, 2) ? 5 : 1000);
}

/* A column in front of another, that holds an integer or not; UINT32_MAX if there is none. */
static inline uint32_t
group_find_column(group_case *job, uint32_t end, bool is_integer)
{
	uint32_t	number = group_below(job, end);

	for (uint32_t i = 0; i < end; i++, number = (number + 1) % end)
	{
		if ((job->spec.columns[number].kind != MGPU_KEY_FLOAT) == is_integer)
			return number;
	}
	return UINT32_MAX;
}

/* What computed columns are made of.  Where there is nothing for it, the word of a text. */
static inline void
group_random_computed(group_case *job, uint32_t number)
{
	mgpu_group_column *column = &job->spec.columns[number];
	group_computed *computed = &job->computed[number - group_num_loaded(job)];
	uint32_t	integer = number > 0 ? group_find_column(job, number, true) : UINT32_MAX;
	uint32_t	choice;

	group_random_column(job, number);
	computed->making = integer == UINT32_MAX ? GROUP_WORD : (group_making) group_below(job, 5);
	if (computed->making == GROUP_CHOICE)
	{
		computed->from[0] = integer;
		computed->from[1] = group_find_column(job, number, true);
		computed->from[2] = choice = group_below(job, number);
		computed->from[3] = group_below(job, number);
		/* both of one type */
		if (job->spec.columns[computed->from[3]].kind != job->spec.columns[choice].kind ||
			job->spec.columns[computed->from[3]].width != job->spec.columns[choice].width)
			computed->from[3] = choice;
		column->kind = job->spec.columns[choice].kind;
		column->width = job->spec.columns[choice].width;
		column->is_shown = job->spec.columns[choice].is_shown;
	}
	else
	{
		column->kind = MGPU_KEY_SIGNED;
		column->width = computed->making == GROUP_SUM && group_chance(job, 2) ? 4 : 8;
		column->is_shown = 0;
		computed->from[0] = computed->making == GROUP_WORD ? group_below(job, job->num_texts) : integer;
		computed->from[1] = computed->making == GROUP_WORD ? group_below(job, job->num_words[computed->from[0]]) :
			group_find_column(job, number, true);
	}
	column->reduction = group_below(job, 3);
	if (column->kind == MGPU_KEY_FLOAT && column->reduction == MGPU_REDUCE_INTEGER && group_chance(job, 2))
		column->reduction = MGPU_REDUCE_SPREAD;
}

/* Two columns of float8 that are loaded become pairs.  What is NULL only in the second one counts as NaN. */
static inline void
group_random_pair(group_case *job, uint32_t number)
{
	const mgpu_group_column *next = &job->spec.columns[number + 1];
	mgpu_group_column *column = &job->spec.columns[number];

	if (number + 1 >= group_num_loaded(job) || column->kind != MGPU_KEY_FLOAT || column->width != 8 || next->kind != MGPU_KEY_FLOAT ||
		next->width != 8 || group_chance(job, 3))
		return;
	column->num_cells = 2;
	column->reduction = MGPU_REDUCE_PAIRS;
}

/* Often a word and the columns behind it become all words of a text, which are one value. */
static inline void
group_random_head(group_case *job, uint32_t number)
{
	mgpu_group_spec *spec = &job->spec;
	uint32_t	text = job->computed[number - group_num_loaded(job)].from[0];
	uint32_t	num_words = job->computed[number - group_num_loaded(job)].making == GROUP_WORD ? job->num_words[text] : 0;

	if (num_words < 2 || num_words > spec->num_columns - number || group_chance(job, 4))
		return;
	for (uint32_t i = 0; i < num_words; i++)
	{
		mgpu_group_column *column = &spec->columns[number + i];
		group_computed *computed = &job->computed[number + i - group_num_loaded(job)];

		memset(column, 0, sizeof(*column));
		memset(computed, 0, sizeof(*computed));
		column->kind = MGPU_KEY_SIGNED;
		column->width = 8;
		computed->making = GROUP_WORD;
		computed->from[0] = text;
		computed->from[1] = i;
	}
	spec->columns[number].num_cells = (uint8_t) num_words;
	spec->columns[number].reduction = group_chance(job, 2) ? MGPU_REDUCE_EXTREMES : MGPU_REDUCE_NONE;
}

/* Fixed offsets, from the attributes. */
static inline void
group_plan_offsets(mgpu_group_spec *spec)
{
	uint32_t	offset = 0;
	uint32_t	i = 0;

	for (uint32_t input = 0; input < spec->num_inputs; input++)
		spec->inputs[input].offset = -1;
	for (; i < spec->num_attributes && spec->attributes[i].length > 0; i++)
	{
		const mgpu_group_attribute *attribute = &spec->attributes[i];

		offset = (offset + attribute->align - 1) & ~((uint32_t) attribute->align - 1);
		if (attribute->input >= 0)
			spec->inputs[attribute->input].offset = (int32_t) offset;
		offset += (uint32_t) attribute->length;
	}
	spec->num_fixed = i;
	spec->fixed_end = offset;
}

/* Bits of an integer of a column in 64 bits; those of a float as they are. */
static inline uint64_t
group_wide_bits(const mgpu_group_column *column, uint64_t bits)
{
	if (column->kind != MGPU_KEY_SIGNED || column->width == 8 || (bits >> (column->width * 8 - 1) & 1) == 0)
		return bits;
	return bits | ~UINT64_C(0) << column->width * 8;
}

static inline uint64_t
group_code_of(const mgpu_group_column *column, uint64_t bits)
{
	return mgpu_column_code(group_wide_bits(column, bits), column->kind, column->width);
}

/* ----------------------------------------------------------------- programs */

static inline uint32_t
group_add_op(mgpu_group_spec *spec, uint16_t code, uint16_t width, int64_t number, uint8_t lane)
{
	mgpu_program_op *op = &spec->ops[spec->num_ops++];

	memset(op, 0, sizeof(*op));
	op->code = code;
	op->width = width;
	op->number = number;
	op->to = (uint16_t) spec->num_registers;
	spec->lanes[spec->num_registers] = lane;
	return spec->num_registers++;
}

/* The register of a computed column, whose sources are in registers. */
static inline void
group_add_computed(group_case *job, uint32_t number, const uint32_t *texts)
{
	mgpu_group_spec *spec = &job->spec;
	mgpu_group_column *column = &spec->columns[number];
	const group_computed *computed = &job->computed[number - group_num_loaded(job)];
	uint8_t		lane = column->kind == MGPU_KEY_FLOAT ? MGPU_LANE_REAL : MGPU_LANE_INTEGER;
	uint16_t	from[3] = {0, 0, 0};

	for (int i = 0; i < 2 && computed->making != GROUP_WORD; i++)
		from[i] = (uint16_t) spec->columns[computed->from[i]].reg;
	if (computed->making == GROUP_SUM)
		column->reg = group_add_op(spec, MGPU_RUN_ADD_INTEGER, (uint16_t) column->width, 0, lane);
	else if (computed->making == GROUP_CHOICE)
	{
		uint16_t	condition = (uint16_t) group_add_op(spec, MGPU_RUN_COMPARE_INTEGER, 1, MGPU_IS_LESS, MGPU_LANE_INTEGER);

		memcpy(spec->ops[spec->num_ops - 1].from, from, sizeof(from));
		from[0] = condition;
		from[1] = (uint16_t) spec->columns[computed->from[2]].reg;
		from[2] = (uint16_t) spec->columns[computed->from[3]].reg;
		column->reg = group_add_op(spec, MGPU_RUN_CHOOSE, (uint16_t) column->width, 0, lane);
	}
	else if (computed->making == GROUP_TID)
		column->reg = group_add_op(spec, MGPU_RUN_LOAD_INTEGER, 8, group_num_loaded(job) + job->num_texts, lane);
	else if (computed->making == GROUP_FOUND)
	{
		uint16_t	row = (uint16_t) group_add_op(spec, MGPU_RUN_LOOKUP, 8, 0, MGPU_LANE_INTEGER);

		spec->ops[spec->num_ops - 1].from[0] = from[0];
		from[0] = row;
		column->reg = group_add_op(spec, MGPU_RUN_FETCH, 0, 0, lane);
	}
	else
	{
		from[0] = (uint16_t) texts[computed->from[0]];
		column->reg = group_add_op(spec, MGPU_RUN_WORD, (uint16_t) job->num_words[computed->from[0]], computed->from[1], lane);
	}
	memcpy(spec->ops[spec->num_ops - 1].from, from, sizeof(from));
}

/* Load a column from the input of its own number. */
static inline void
group_add_load(mgpu_group_spec *spec, uint32_t number)
{
	mgpu_group_column *column = &spec->columns[number];
	bool		is_real = column->kind == MGPU_KEY_FLOAT;

	column->reg = group_add_op(spec, is_real ? MGPU_RUN_LOAD_REAL : MGPU_RUN_LOAD_INTEGER, (uint16_t) column->width, number,
							   is_real ? MGPU_LANE_REAL : MGPU_LANE_INTEGER);
}

/* The register of a constant, of which there is one for each filter. */
static inline void
group_fill_constant(mgpu_group_spec *spec, uint32_t number, const mgpu_group_column *column, uint64_t bits)
{
	uint32_t	narrow_bits = (uint32_t) bits;
	double		real;
	float		narrow;

	bits = group_wide_bits(column, bits);
	spec->lanes[number] = column->kind == MGPU_KEY_FLOAT ? MGPU_LANE_REAL : MGPU_LANE_INTEGER;
	if (column->kind == MGPU_KEY_FLOAT && column->width == 4)
	{
		memcpy(&narrow, &narrow_bits, sizeof(narrow));
		real = narrow;
		memcpy(&bits, &real, sizeof(bits));
	}
	memset(&spec->constants[number], 0, sizeof(spec->constants[number]));
	spec->constants[number].bits = (int64_t) bits;
}

static inline void
group_add_test(group_case *job, uint32_t number)
{
	mgpu_group_spec *spec = &job->spec;
	const group_filter *filter = &job->filters[number];
	const mgpu_group_column *column = &spec->columns[filter->column];
	uint16_t	code = filter->outcomes != 0 ? (column->kind == MGPU_KEY_FLOAT ? MGPU_RUN_COMPARE_REAL : MGPU_RUN_COMPARE_INTEGER) :
		filter->keeps_null ? MGPU_RUN_IS_NULL : MGPU_RUN_IS_NOT_NULL;

	spec->tests[number].reg = group_add_op(spec, code, 1, filter->outcomes, MGPU_LANE_INTEGER);
	spec->ops[spec->num_ops - 1].from[0] = (uint16_t) column->reg;
	spec->ops[spec->num_ops - 1].from[1] = (uint16_t) number;
	spec->tests[number].end_op = spec->num_ops;
}

/* Registers of a program that is made. */
typedef struct group_registers
{
	uint32_t	made;			/* a bit for each column */
	uint32_t	texts_made;
	uint32_t	texts[GROUP_MAX_TEXTS];
} group_registers;

/* Put a column in its register, and before it what it is made of. */
static inline void
group_add_column(group_case *job, uint32_t number, group_registers *registers)
{
	const group_computed *computed;
	uint32_t	num_from;

	if ((registers->made >> number & 1) != 0)
		return;
	registers->made |= 1u << number;
	if (number < group_num_loaded(job))
	{
		group_add_load(&job->spec, number);
		return;
	}
	computed = &job->computed[number - group_num_loaded(job)];
	num_from = computed->making == GROUP_SUM ? 2 : computed->making == GROUP_CHOICE ? 4 : computed->making == GROUP_FOUND ? 1 : 0;
	for (uint32_t i = 0; i < num_from; i++)
		group_add_column(job, computed->from[i], registers);
	if (computed->making == GROUP_WORD && (registers->texts_made >> computed->from[0] & 1) == 0)
	{
		registers->texts[computed->from[0]] = group_add_op(&job->spec, MGPU_RUN_LOAD_VARLENA, 0,
														   group_num_loaded(job) + computed->from[0], MGPU_LANE_BYTES);
		registers->texts_made |= 1u << computed->from[0];
	}
	group_add_computed(job, number, registers->texts);
}

/* Of the build: a row's key, and its cell, which some have not. */
static inline int64_t
group_build_key(uint32_t row)
{
	return 3 * (int64_t) row - 20;
}

static inline int64_t
group_build_cell(uint32_t row)
{
	return row * INT64_C(1000000000039) - 7;
}

static inline bool
group_build_is_null(uint32_t row)
{
	return row % 5 == 2;
}

static inline void
group_make_build(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;
	char	   *memory = (char *) job->build;

	memset(job->build, 0, sizeof(job->build));
	spec->num_builds = 1;
	spec->build_bytes = mgpu_build_plan(&spec->builds[0], 0, GROUP_BUILD_ROWS, 1, false);
	if (group_below(job, 2) == 0)
		spec->build_bytes = mgpu_build_condense(&spec->builds[0], group_build_key(0), group_build_key(GROUP_BUILD_ROWS - 1));
	if (spec->build_bytes > sizeof(job->build))
		abort();
	for (uint32_t row = 0; spec->builds[0].is_dense && row < GROUP_BUILD_ROWS; row++)
		mgpu_build_mark(&spec->builds[0], memory, (uint64_t) group_build_key(row));
	if (spec->builds[0].is_dense)
		mgpu_build_number(&spec->builds[0], memory);
	for (uint32_t row = 0; row < GROUP_BUILD_ROWS; row++)
	{
		(void) mgpu_build_add(&spec->builds[0], memory, (uint64_t) group_build_key(row), row);
		mgpu_build_put(&spec->builds[0], memory, 0, row, group_build_cell(row), group_build_is_null(row));
	}
}

/* Inputs, and in the tables what is missing: a word for each. */
static inline void
group_make_inputs(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;
	uint32_t	num_loaded = group_num_loaded(job);

	spec->num_inputs = num_loaded + job->num_texts;
	spec->table_bytes = spec->num_inputs * 8;
	spec->tid_input = 0;
	for (uint32_t i = 0; i < num_loaded; i++)
	{
		spec->inputs[i].length = (int32_t) spec->columns[i].width;
		spec->inputs[i].missing = job->missing_is_null[i] ? -1 : (int32_t) i * 8;
		spec->tables[i] = job->missing[i];
	}
	for (uint32_t i = num_loaded; i < spec->num_inputs; i++)
	{
		spec->inputs[i].length = -1;
		spec->inputs[i].missing = (int32_t) i * 8;
		spec->tables[i] = ('o' << 8 | 'l' << 16 | 'd' << 24) | 4 << 1 | 1;	/* a short header, and a text */
	}
	for (uint32_t i = 0; i < job->num_computed && spec->tid_input == 0; i++)
	{
		if (job->computed[i].making != GROUP_TID)
			continue;
		spec->inputs[spec->num_inputs] = (mgpu_group_input) {8, -1, -1};
		spec->tid_input = ++spec->num_inputs;
	}
}

/* The program: columns that are tested, tests, other columns.  Columns, filters and what is missing are set. */
static inline void
group_make_program(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;
	group_registers registers;

	memset(&registers, 0, sizeof(registers));
	spec->num_ops = 0;
	spec->num_registers = spec->num_constants = spec->num_tests = job->num_filters;
	for (uint32_t i = 0; i < job->num_filters; i++)
		group_fill_constant(spec, i, &spec->columns[job->filters[i].column], job->filters[i].bits);
	for (uint32_t i = 0; i < job->num_filters; i++)
	{
		group_add_column(job, job->filters[i].column, &registers);
		group_add_test(job, i);
	}
	for (uint32_t i = 0; i < spec->num_columns; i++)
		group_add_column(job, i, &registers);
	group_make_inputs(job);
	if (job->num_computed > 0)
		group_make_build(job);
}

/* A stored value of a column. */
static inline uint64_t
group_random_bits(group_case *job, uint32_t number)
{
	const mgpu_group_column *column = &job->spec.columns[number];
	uint64_t	value = group_random(job);
	uint64_t	mask = column->width == 8 ? UINT64_MAX : (UINT64_C(1) << column->width * 8) - 1;
	double		real;
	float		narrow;
	uint32_t	narrow_bits;

	if (column->kind != MGPU_KEY_FLOAT)
	{
		if (job->domains[number] > 0)
			value = value % job->domains[number] - (column->kind == MGPU_KEY_SIGNED ? job->domains[number] / 2 : 0);
		return value & mask;
	}
	/* no sum of these is exact */
	real = (double) (int64_t) (job->domains[number] > 0 ? value % job->domains[number] : value >> 20) / 3 - 7;
	if (job->has_huge && group_chance(job, 20))
		real = column->width == 4 ? 3e38 : 1.7e308;
	if (job->has_infinities && group_chance(job, 300))
		real = group_chance(job, 2) ? -1 / 0.0 : 1 / 0.0;
	narrow = (float) real;
	memcpy(&value, &real, sizeof(value));
	memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
	if (column->width == 4)
		value = narrow_bits;
	if (job->has_infinities && group_chance(job, 300))
		value = column->width == 4 ? MGPU_F32_NAN : MGPU_F64_NAN;
	if ((value & ~(column->width == 4 ? (uint64_t) MGPU_F32_SIGN : MGPU_F64_SIGN)) == 0)
		value = 0;
	if (group_chance(job, job->odd_share))
		value = column->width == 4 ? (group_chance(job, 2) ? MGPU_F32_SIGN : MGPU_F32_NAN | 1) :
			(group_chance(job, 2) ? MGPU_F64_SIGN : MGPU_F64_NAN | MGPU_F64_SIGN);
	return value;
}

static inline void
group_random_sort(group_case *job, mgpu_group_sort *sort)
{
	sort->column = group_below(job, job->spec.num_columns);
	sort->descending = group_below(job, 2);
	sort->returns = (group_chance(job, 4) ? 0 : MGPU_SORT_VALUES) | (group_chance(job, 2) ? MGPU_SORT_DISTINCT : 0);
	sort->num_percentiles = group_chance(job, 2) ? 0 : group_below(job, MGPU_GROUP_MAX_PERCENTILES + 1);
	if (job->spec.columns[sort->column].reduction == MGPU_REDUCE_PAIRS)
	{
		job->spec.columns[sort->column].reduction = MGPU_REDUCE_SPREAD;
		job->spec.columns[sort->column].num_cells = 0;
	}
	if (job->spec.columns[sort->column].num_cells > 0)
	{
		sort->returns = MGPU_SORT_DISTINCT;
		sort->num_percentiles = 0;
	}
	for (uint32_t i = 0; i < sort->num_percentiles; i++)
	{
		sort->percentiles[i].fraction = group_below(job, 1001) / 1000.0;
		sort->percentiles[i].continuous = group_below(job, 2);
	}
}

/* Rows in place of groups. */
static inline void
group_random_limit(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;

	spec->num_sorts = 0;
	spec->limit_rule = MGPU_LIMIT_ROWS + group_below(job, 3);
	spec->limit = group_chance(job, 3) ? UINT64_MAX : 1 + group_below(job, group_chance(job, 2) ? 4 : 300);
	if (spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MGPU_GROUP_MAX_DENSE_RANKS)
		spec->limit = MGPU_GROUP_MAX_DENSE_RANKS;
	spec->num_orders = group_below(job, group_chance(job, 4) ? MGPU_GROUP_MAX_ORDERS + 1 : 4);
	for (uint32_t i = 0; i < spec->num_orders; i++)
	{
		spec->orders[i].column = group_below(job, spec->num_columns);
		spec->orders[i].descending = (uint8_t) group_below(job, 2);
		spec->orders[i].nulls_first = (uint8_t) group_below(job, 2);
	}
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		spec->columns[i].reduction = MGPU_REDUCE_NONE;
		spec->columns[i].is_returned = (uint8_t) !group_chance(job, 4);
	}
}

/* Filters, keys and sorts of columns that are there. */
static inline void
group_random_parts(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;

	for (uint32_t i = 0; i < job->num_filters; i++)
	{
		group_filter *filter = &job->filters[i];

		filter->column = group_below(job, spec->num_columns);
		filter->outcomes = group_below(job, 4) == 0 ? 0 : 1 + group_below(job, 7);
		filter->bits = group_random_bits(job, filter->column);
		filter->keeps_null = group_chance(job, 4);
	}
	for (uint32_t i = 0; i < spec->num_keys; i++)
		spec->keys[i] = group_below(job, spec->num_columns);
	for (uint32_t i = 0; i < spec->num_sorts; i++)
		group_random_sort(job, &spec->sorts[i]);
}

/* An attribute that is no input so far. */
static inline mgpu_group_attribute *
group_free_attribute(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;
	uint32_t	place = group_below(job, spec->num_attributes);

	while (spec->attributes[place].input >= 0)
		place = (place + 1) % spec->num_attributes;
	return &spec->attributes[place];
}

/* Columns, those that are computed too, and the attributes that they come from. */
static inline void
group_random_columns(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;

	if (spec->num_columns > 0 && group_chance(job, 2))
	{
		job->num_texts = 1 + group_below(job, GROUP_MAX_TEXTS);
		job->num_computed = 1 + group_below(job, spec->num_columns < GROUP_MAX_COMPUTED ? spec->num_columns : GROUP_MAX_COMPUTED);
	}
	spec->num_attributes = spec->num_columns + job->num_texts + group_below(job, group_chance(job, 10) ? 90 : 8);
	for (uint32_t i = 0; i < spec->num_attributes; i++)
		group_random_attribute(job, &spec->attributes[i]);
	for (uint32_t i = 0; i < group_num_loaded(job); i++)
	{
		mgpu_group_attribute *attribute = group_free_attribute(job);

		group_random_column(job, i);
		attribute->length = (int16_t) spec->columns[i].width;
		attribute->align = (uint8_t) spec->columns[i].width;
		attribute->input = (int8_t) i;
	}
	for (uint32_t i = 0; i < job->num_texts; i++)
	{
		mgpu_group_attribute *attribute = group_free_attribute(job);

		attribute->length = -1;
		attribute->align = 4;
		attribute->input = (int8_t) (group_num_loaded(job) + i);
		job->num_words[i] = 1 + group_below(job, GROUP_MAX_WORDS);
	}
	for (uint32_t i = 0; i < group_num_loaded(job); i++)
		group_random_pair(job, i);
	for (uint32_t i = group_num_loaded(job); i < spec->num_columns; i += spec->columns[i].num_cells > 0 ? spec->columns[i].num_cells : 1)
	{
		group_random_computed(job, i);
		group_random_head(job, i);
	}
}

static inline void
group_random_spec(group_case *job)
{
	mgpu_group_spec *spec = &job->spec;

	memset(spec, 0, sizeof(*spec));
	spec->num_columns = group_below(job, 10) == 0 ? 0 : 1 + group_below(job, group_chance(job, 4) ? MGPU_GROUP_MAX_COLUMNS : 8);
	group_random_columns(job);
	if (spec->num_columns > 0)
	{
		job->num_filters = group_chance(job, 2) ? 0 : group_below(job, 3);
		spec->num_keys = group_below(job, group_chance(job, 4) ? MGPU_GROUP_MAX_KEYS + 1 : 4);
		spec->num_sorts = group_below(job, group_chance(job, 4) ? MGPU_GROUP_MAX_SORTS + 1 : 4);
	}
	if (spec->num_columns > 0 && group_chance(job, 3))
		group_random_limit(job);
	group_random_parts(job);
	for (uint32_t i = 0; i < group_num_loaded(job); i++)
	{
		job->missing_is_null[i] = group_below(job, 2) != 0;
		job->missing[i] = group_random_bits(job, i);
	}
	group_make_program(job);
	group_plan_offsets(spec);
}

/* -------------------------------------------------------------------- rows */

/* A row that is being written. */
typedef struct group_tuple
{
	char		bytes[4 * MGPU_PAGE_BYTES];
	uint32_t	data;			/* where the attributes begin */
	uint32_t	end;
} group_tuple;

static inline void
group_align(group_tuple *tuple, uint32_t align)
{
	while ((tuple->end - tuple->data) % align != 0)
		tuple->bytes[tuple->end++] = 0;
}

static inline void
group_append(group_tuple *tuple, uint64_t bits, uint32_t num_bytes)
{
	for (uint32_t i = 0; i < num_bytes; i++)
		tuple->bytes[tuple->end++] = (char) (i < 8 ? bits >> 8 * i : 0x5A);
}

/* Short, long, compressed or out of line. */
static inline void
group_append_varlena(group_case *job, group_tuple *tuple, uint32_t align)
{
	uint32_t	length = group_below(job, job->is_short ? 6 : 150);
	uint32_t	form = group_below(job, 4);

	if (form == 0)
	{
		group_append(tuple, 1 | 18 << 8, 2);	/* on disk */
		length = 16;
	}
	else if (form == 1 && length < 126)
		group_append(tuple, (length + 1) << 1 | 1, 1);
	else
	{
		group_align(tuple, align);
		group_append(tuple, (uint64_t) (length + 4) << 2 | (form == 2 ? 2 : 0), 4);
	}
	for (uint32_t i = 0; i < length; i++)
		group_append(tuple, group_random(job), 1);
}

/* A text that words are made of: few different ones. */
static inline void
group_append_text(group_case *job, group_tuple *tuple, uint32_t number)
{
	group_text *text = &job->texts[number];
	bool		is_long = group_chance(job, job->long_share);
	uint32_t	form = is_long ? group_below(job, 4) : 2 + group_below(job, 2);	/* out of line, compressed, long header, short header */

	text->is_null = false;
	text->is_fault = form < 2;
	text->length = form == 0 ? 16 : group_below(job, is_long ? 60 : group_chance(job, 3) ? 8 * job->num_words[number] : 3);
	for (uint32_t i = 0; i < text->length; i++)
		text->bytes[i] = (char) (group_chance(job, 50) ? group_random(job) : 'a' + group_below(job, 2));
	if (form == 0)
		group_append(tuple, 1 | 18 << 8, 2);	/* on disk */
	else if (form == 3)
		group_append(tuple, (text->length + 1) << 1 | 1, 1);
	else
	{
		group_align(tuple, 4);
		group_append(tuple, (uint64_t) (text->length + 4) << 2 | (form == 1 ? 2 : 0), 4);
	}
	for (uint32_t i = 0; i < text->length; i++)
		group_append(tuple, (uint8_t) text->bytes[i], 1);
}

static inline void
group_append_attribute(group_case *job, group_tuple *tuple, const mgpu_group_attribute *attribute, group_row *row)
{
	uint64_t	bits = group_random(job);

	if (attribute->input >= (int) group_num_loaded(job))
	{
		group_append_text(job, tuple, (uint32_t) attribute->input - group_num_loaded(job));
		return;
	}
	if (attribute->length == -1)
	{
		group_append_varlena(job, tuple, attribute->align);
		return;
	}
	group_align(tuple, attribute->align);
	if (attribute->length == -2)
	{
		for (uint32_t length = group_below(job, job->is_short ? 4 : 60); length > 0; length--)
			group_append(tuple, 'a', 1);
		group_append(tuple, 0, 1);
		return;
	}
	if (attribute->input >= 0)
	{
		bits = group_random_bits(job, (uint32_t) attribute->input);
		row->bits[attribute->input] = bits;
		row->nulls &= ~(1u << attribute->input);
	}
	group_append(tuple, bits, (uint32_t) attribute->length);
}

/* ------------------------------------------------------- computed columns */

/* States of a column, or of what it is made of. */
enum
{
	GROUP_VALUE = 0,
	GROUP_NULL,
	GROUP_FAULT
};

static inline int
group_state_of(const group_row *row, uint32_t column)
{
	return (row->faults >> column & 1) != 0 ? GROUP_FAULT : (row->nulls >> column & 1) != 0 ? GROUP_NULL : GROUP_VALUE;
}

static inline int64_t
group_integer_of(const group_case *job, const group_row *row, uint32_t column)
{
	return (int64_t) group_wide_bits(&job->spec.columns[column], row->bits[column]);
}

static inline int
group_expect_sum(const group_case *job, const group_row *row, uint32_t number, const group_computed *computed, uint64_t *bits)
{
	int			a = group_state_of(row, computed->from[0]);
	int			b = group_state_of(row, computed->from[1]);
	uint32_t	width = job->spec.columns[number].width;
	__int128	sum = (__int128) group_integer_of(job, row, computed->from[0]) + group_integer_of(job, row, computed->from[1]);

	if (a != GROUP_VALUE || b != GROUP_VALUE)
		return a > b ? a : b;
	*bits = width == 4 ? (uint32_t) sum : (uint64_t) sum;
	return width == 4 ? (sum == (int32_t) sum ? GROUP_VALUE : GROUP_FAULT) : sum == (int64_t) sum ? GROUP_VALUE : GROUP_FAULT;
}

static inline int
group_expect_choice(const group_case *job, const group_row *row, const group_computed *computed, uint64_t *bits)
{
	int			a = group_state_of(row, computed->from[0]);
	int			b = group_state_of(row, computed->from[1]);
	bool		is_less = a == GROUP_VALUE && b == GROUP_VALUE &&
		group_integer_of(job, row, computed->from[0]) < group_integer_of(job, row, computed->from[1]);
	uint32_t	taken = computed->from[is_less ? 2 : 3];

	*bits = row->bits[taken];
	return a == GROUP_FAULT || b == GROUP_FAULT ? GROUP_FAULT : group_state_of(row, taken);
}

static inline int
group_expect_found(const group_case *job, const group_row *row, const group_computed *computed, uint64_t *bits)
{
	int			state = group_state_of(row, computed->from[0]);

	for (uint32_t i = 0; state == GROUP_VALUE && i < GROUP_BUILD_ROWS; i++)
	{
		if (group_build_key(i) != group_integer_of(job, row, computed->from[0]))
			continue;
		*bits = (uint64_t) group_build_cell(i);
		return group_build_is_null(i) ? GROUP_NULL : GROUP_VALUE;
	}
	return state == GROUP_VALUE ? GROUP_NULL : state;
}

/* Eight bytes, the first of them the highest; the last word ends with the length.  Flipped, since it is signed. */
static inline int
group_expect_word(const group_case *job, const group_computed *computed, uint64_t *bits)
{
	const group_text *text = &job->texts[computed->from[0]];
	uint32_t	num_words = job->num_words[computed->from[0]];

	if (text->is_null || text->is_fault || text->length >= 8 * num_words)
		return text->is_null ? GROUP_NULL : GROUP_FAULT;
	*bits = 0;
	for (uint32_t i = 8 * computed->from[1]; i < 8 * computed->from[1] + 8; i++)
		*bits = *bits << 8 | (i + 1 == 8 * num_words ? text->length : i < text->length ? (uint8_t) text->bytes[i] : 0);
	*bits ^= UINT64_C(1) << 63;
	return GROUP_VALUE;
}

/* What a row has in computed columns, once its others are known. */
static inline void
group_expect_computed(const group_case *job, group_row *row)
{
	for (uint32_t i = group_num_loaded(job); i < job->spec.num_columns; i++)
	{
		const group_computed *computed = &job->computed[i - group_num_loaded(job)];
		uint64_t	bits = 0;
		int			state = computed->making == GROUP_SUM ? group_expect_sum(job, row, i, computed, &bits) :
			computed->making == GROUP_CHOICE ? group_expect_choice(job, row, computed, &bits) :
			computed->making == GROUP_FOUND ? group_expect_found(job, row, computed, &bits) :
			computed->making == GROUP_TID ? (bits = job->tid, GROUP_VALUE) :
			group_expect_word(job, computed, &bits);

		row->bits[i] = state == GROUP_VALUE ? bits : 0;
		row->nulls &= ~(1u << i);
		row->nulls |= (uint32_t) (state == GROUP_NULL) << i;
		row->faults |= (uint32_t) (state == GROUP_FAULT) << i;
	}
}

/* Of a row that is older than some attributes: what it has in these. */
static inline void
group_expect_missing(group_case *job, uint32_t num_stored, group_row *row)
{
	for (uint32_t i = num_stored; i < job->spec.num_attributes; i++)
	{
		int			input = job->spec.attributes[i].input;

		if (input >= (int) group_num_loaded(job))
		{
			group_text *text = &job->texts[input - (int) group_num_loaded(job)];

			text->is_null = text->is_fault = false;
			text->length = 3;
			memcpy(text->bytes, "old", 3);
		}
		else if (input >= 0 && !job->missing_is_null[input])
		{
			row->bits[input] = job->missing[input];
			row->nulls &= ~(1u << input);
		}
	}
}

/* Make a row and what is expected of it. */
static inline void
group_write_row(group_case *job, group_tuple *tuple, group_row *row)
{
	const mgpu_group_spec *spec = &job->spec;
	uint32_t	num_stored = spec->num_attributes;
	char		not_null[MGPU_GROUP_MAX_ATTRIBUTES / 8 + 2];
	bool		has_nulls = group_chance(job, 2) && job->null_share > 0;
	uint32_t	bitmap_bytes;

	if (group_chance(job, job->old_share))
		num_stored = group_below(job, spec->num_attributes + 1);
	else if (group_chance(job, 5))
		num_stored++;			/* an attribute that nobody reads, of no bytes */
	bitmap_bytes = has_nulls ? (num_stored + 7) / 8 : 0;
	memset(tuple->bytes, 0x77, 23);
	memset(not_null, 0, sizeof(not_null));
	memset(row, 0, sizeof(*row));
	row->nulls = (1u << spec->num_columns) - 1;
	for (uint32_t i = 0; i < job->num_texts; i++)
		job->texts[i].is_null = true;
	tuple->data = (23 + bitmap_bytes + 7) / 8 * 8;
	memset(tuple->bytes + 23, 0, tuple->data - 23);
	tuple->end = tuple->data;
	for (uint32_t i = 0; i < spec->num_attributes && i < num_stored; i++)
	{
		if (has_nulls && group_chance(job, job->null_share))
			continue;
		not_null[i / 8] = (char) (not_null[i / 8] | 1 << i % 8);
		group_append_attribute(job, tuple, &spec->attributes[i], row);
	}
	group_expect_missing(job, num_stored, row);
	group_expect_computed(job, row);
	tuple->bytes[18] = (char) (num_stored & 0xFF);
	tuple->bytes[19] = (char) (num_stored >> 8 | 0xF0 >> group_below(job, 2));
	tuple->bytes[20] = (char) ((has_nulls ? 1 : 0) | 0x12);
	tuple->bytes[22] = (char) tuple->data;
	memcpy(tuple->bytes + 23, not_null, bitmap_bytes);
}

static inline void
group_expect_row(group_case *job, const group_row *row)
{
	if (job->num_rows == job->rows_capacity)
	{
		job->rows_capacity = job->rows_capacity > 0 ? 2 * job->rows_capacity : 1024;
		job->rows = (group_row *) realloc(job->rows, job->rows_capacity * sizeof(group_row));
	}
	job->rows[job->num_rows++] = *row;
}

/* Fill a page with up to `most` rows.  Some line pointers lead to none. */
static inline void
group_write_page(group_case *job, uint32_t number, uint32_t most)
{
	char	   *page = job->pages + (uint64_t) number * MGPU_PAGE_BYTES;
	uint32_t	free_end = MGPU_PAGE_BYTES;
	uint32_t	num_items = 0;
	group_tuple tuple;
	group_row	row;

	memset(page, 0, MGPU_PAGE_BYTES);
	for (; num_items < most; num_items++)
	{
		uint32_t	pointer = group_below(job, 4) << 15;	/* unused, redirect, dead */
		uint32_t	stored;

		if (pointer >> 15 != 1 && !group_chance(job, 5))
			pointer = 1 << 15;
		if (24 + 4 * (num_items + 1) > free_end)
			break;
		if (pointer >> 15 == 1)
		{
			job->tid = (uint64_t) (number % 3) << 48 | (uint64_t) number << 16 | (num_items + 1);
			group_write_row(job, &tuple, &row);
			stored = (tuple.end + 7) / 8 * 8;
			if (24 + 4 * (num_items + 1) + stored > free_end)
				break;
			free_end -= stored;
			memcpy(page + free_end, tuple.bytes, tuple.end);
			pointer |= free_end | tuple.end << 17;
			group_expect_row(job, &row);
		}
		memcpy(page + 24 + 4 * num_items, &pointer, sizeof(pointer));
	}
	job->num_items[number] = (uint16_t) num_items;
}

/* Pages for the spec that is set, in memory that has room for them. */
static inline void
group_write_pages(group_case *job, char *pages, uint32_t num_pages)
{
	job->num_pages = num_pages;
	job->pages = pages;
	job->num_items = (uint16_t *) calloc(num_pages + 1, sizeof(uint16_t));
	for (uint32_t i = 0; i < num_pages; i++)
		group_write_page(job, i, group_chance(job, 8) ? group_below(job, 3) : 3000);
}

static inline void
group_random_case(group_case *job, uint64_t seed, char *pages, uint32_t most_pages)
{
	memset(job, 0, sizeof(*job));
	job->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 88172645463325252;
	for (int i = 0; i < 5; i++)
		(void) group_random(job);
	job->null_share = group_chance(job, 2) ? 0 : 1 + group_below(job, 10);
	job->old_share = group_chance(job, 2) ? 0 : 1 + group_below(job, 10);
	job->odd_share = group_chance(job, 12) ? 500 : 0;
	job->long_share = group_chance(job, 4) ? 200 : 0;
	job->is_short = group_chance(job, 2);
	job->has_infinities = group_chance(job, 4);
	job->has_huge = group_chance(job, 10);
	group_random_spec(job);
	group_write_pages(job, pages, group_below(job, most_pages + 1));
}

static inline void
group_free_case(group_case *job)
{
	free(job->num_items);
	free(job->rows);
}

/* Flip some bytes of pages, or fill them with anything. */
static inline void
group_damage_pages(group_case *job)
{
	for (uint32_t i = 0; i < job->num_pages; i++)
	{
		char	   *page = job->pages + (uint64_t) i * MGPU_PAGE_BYTES;
		bool		all = group_chance(job, 10);

		if (!all && !group_chance(job, 2))
			continue;
		for (uint32_t n = all ? MGPU_PAGE_BYTES : 1 + group_below(job, 40); n > 0; n--)
			page[all ? n - 1 : group_below(job, group_chance(job, 2) ? 1000 : MGPU_PAGE_BYTES)] = (char) group_random(job);
		if (group_chance(job, 4))
			job->num_items[i] = (uint16_t) group_below(job, group_chance(job, 4) ? 65536 : 2043);
	}
}

/* -------------------------------------------------------------------- runs */

/* Batches go through a few slots of pinned memory, with some copies of pages each. */
#define GROUP_SLOT_COPIES 8
#define GROUP_SLOT_BYTES (MGPU_PAGE_COPIES_OFFSET + GROUP_SLOT_COPIES * MGPU_PAGE_BYTES)
#define GROUP_NUM_SLOTS 4

/* What a run of some engine made of a case. */
typedef struct group_outcome
{
	mgpu_status status;
	mgpu_error	err;
	mgpu_group_result result;
	mgpu_group_record record;
	uint64_t   *records;
	char	   *sorted[MGPU_GROUP_MAX_VALUES];
	mgpu_run_stats stats;
} group_outcome;

/* How a case is run. */
typedef struct group_driver
{
	const mgpu_engine *engine;
	int			device;
	char	   *slots;			/* pinned, GROUP_NUM_SLOTS of them */
	mgpu_exec_options options;
	uint64_t	expected_rows;
	uint32_t	most_refs;		/* of a batch */
	bool		spoils;			/* what has landed: slots, and pages */
	char	   *kept;			/* memory of the device for num_kept pages, or NULL */
	uint64_t	num_kept;
	bool		is_kept;		/* all pages are there, and are read there; else they go there */
} group_driver;

/* Of these a batch is as long as its slot allows. */
#define GROUP_KEPT_REFS (MGPU_PAGE_COPIES_OFFSET / (uint32_t) sizeof(mgpu_page_ref))

typedef struct group_drive
{
	const group_driver *driver;
	group_case *job;
	mgpu_engine_run *run;
	group_outcome *outcome;
	uint64_t	before;			/* copies that had landed before this run */
	uint32_t	num_sent;
	uint32_t	num_landed;
	uint32_t	first_pages[2 * GROUP_NUM_SLOTS];	/* of batches, by their numbers; the page behind the last is the next one's */
	uint32_t	next_page;
} group_drive;

static inline char *
group_slot(const group_drive *drive, uint32_t number)
{
	return drive->driver->slots + (uint64_t) (number % GROUP_NUM_SLOTS) * GROUP_SLOT_BYTES;
}

/* The next pages as a batch, which the device has; its bytes. */
static inline uint64_t
group_make_kept_batch(group_drive *drive)
{
	mgpu_page_ref *refs = (mgpu_page_ref *) group_slot(drive, drive->num_sent);
	uint32_t	num_refs = 1 + group_below(drive->job, GROUP_KEPT_REFS);

	drive->first_pages[drive->num_sent % (2 * GROUP_NUM_SLOTS)] = drive->next_page;
	if (num_refs > drive->job->num_pages - drive->next_page)
		num_refs = drive->job->num_pages - drive->next_page;
	for (uint32_t i = 0; i < num_refs; i++, drive->next_page++)
	{
		refs[i].number = MGPU_PAGE_IS_KEPT;
		refs[i].num_items = drive->job->num_items[drive->next_page];
		refs[i].is_copy = 0;
		refs[i].source = (uint8_t) (drive->next_page % 3);
		refs[i].kept = drive->next_page + 1;
		refs[i].block = drive->next_page;
	}
	return num_refs * sizeof(mgpu_page_ref);
}

/* The next pages as a batch, some as copies; its bytes. */
static inline uint64_t
group_make_batch(group_drive *drive)
{
	group_case *job = drive->job;
	char	   *slot = group_slot(drive, drive->num_sent);
	uint32_t	num_refs = 1 + group_below(job, drive->driver->most_refs);
	uint32_t	num_copies = 0;
	mgpu_page_ref *refs = (mgpu_page_ref *) slot;

	drive->first_pages[drive->num_sent % (2 * GROUP_NUM_SLOTS)] = drive->next_page;
	if (num_refs > job->num_pages - drive->next_page)
		num_refs = job->num_pages - drive->next_page;
	for (uint32_t i = 0; i < num_refs; i++, drive->next_page++)
	{
		refs[i].number = drive->next_page;
		refs[i].num_items = job->num_items[drive->next_page];
		refs[i].kept = drive->driver->kept != NULL ? drive->next_page + 1 : 0;
		refs[i].block = drive->next_page;
		refs[i].source = (uint8_t) (drive->next_page % 3);
		refs[i].is_copy = num_copies < GROUP_SLOT_COPIES && group_chance(job, 3);
		if (!refs[i].is_copy)
			continue;
		memcpy(slot + MGPU_PAGE_COPIES_OFFSET + num_copies * MGPU_PAGE_BYTES,
			   job->pages + (uint64_t) drive->next_page * MGPU_PAGE_BYTES, MGPU_PAGE_BYTES);
		refs[i].number = num_copies++;
	}
	return num_refs * sizeof(mgpu_page_ref);
}

/* Spoil what has landed.  Waits until no more than `most` copies are under way. */
static inline void
group_settle(group_drive *drive, uint32_t most)
{
	const mgpu_engine *engine = drive->driver->engine;
	uint64_t	landed = drive->before + drive->num_sent;

	while (drive->num_sent - drive->num_landed > most)
	{
		if (engine->landed(drive->driver->device, MGPU_UPLOAD, &landed, &drive->outcome->err) != MGPU_OK)
			landed = drive->before + drive->num_sent;	/* lost */
		for (; drive->num_landed < landed - drive->before; drive->num_landed++)
		{
			uint32_t	next = drive->num_landed + 1;
			uint32_t	begin = drive->first_pages[drive->num_landed % (2 * GROUP_NUM_SLOTS)];
			uint32_t	end = next < drive->num_sent ? drive->first_pages[next % (2 * GROUP_NUM_SLOTS)] : drive->next_page;

			if (!drive->driver->spoils)
				continue;
			memset(group_slot(drive, drive->num_landed), 0xEE, GROUP_SLOT_BYTES);
			memset(drive->job->pages + (uint64_t) begin * MGPU_PAGE_BYTES, 0xEE, (uint64_t) (end - begin) * MGPU_PAGE_BYTES);
		}
	}
}

/* The memory of builds, in pieces. */
static inline mgpu_status
group_upload_builds(group_drive *drive)
{
	const mgpu_group_spec *spec = &drive->job->spec;
	mgpu_status status = MGPU_OK;

	for (uint64_t offset = 0; status == MGPU_OK && offset < spec->build_bytes;)
	{
		uint64_t	bytes = 8 * (1 + (uint64_t) group_below(drive->job, 100));

		if (bytes > spec->build_bytes - offset)
			bytes = spec->build_bytes - offset;
		group_settle(drive, GROUP_NUM_SLOTS - 1);
		drive->first_pages[drive->num_sent % (2 * GROUP_NUM_SLOTS)] = drive->next_page;
		memcpy(group_slot(drive, drive->num_sent), (const char *) drive->job->build + offset, bytes);
		status = drive->driver->engine->upload(drive->run, MGPU_CHANNEL_VALUES, group_slot(drive, drive->num_sent), bytes,
											   &drive->outcome->err);
		drive->num_sent += status == MGPU_OK;
		offset += bytes;
	}
	return status;
}

static inline mgpu_status
group_upload(group_drive *drive)
{
	mgpu_status status = group_upload_builds(drive);

	while (status == MGPU_OK && drive->next_page < drive->job->num_pages)
	{
		uint64_t	bytes;

		group_settle(drive, GROUP_NUM_SLOTS - 1);
		bytes = drive->driver->is_kept ? group_make_kept_batch(drive) : group_make_batch(drive);
		status = drive->driver->engine->upload(drive->run, MGPU_CHANNEL_KEYS, group_slot(drive, drive->num_sent), bytes,
											   &drive->outcome->err);
		drive->num_sent += status == MGPU_OK;
	}
	return status;
}

/* An output, by way of a slot. */
static inline char *
group_download(group_drive *drive, mgpu_output output, uint64_t bytes)
{
	const group_driver *driver = drive->driver;
	char	   *target = (char *) calloc(bytes + 8, 1);
	uint64_t	begin;
	uint64_t	landed;

	for (uint64_t offset = 0; offset < bytes;)
	{
		uint64_t	piece = bytes - offset < GROUP_SLOT_BYTES ? bytes - offset : GROUP_SLOT_BYTES;

		if (driver->engine->landed(driver->device, MGPU_DOWNLOAD, &begin, &drive->outcome->err) != MGPU_OK ||
			driver->engine->download(drive->run, output, offset, driver->slots, piece, &drive->outcome->err) != MGPU_OK)
			break;
		do
		{
			landed = begin + 1;
			(void) driver->engine->landed(driver->device, MGPU_DOWNLOAD, &landed, &drive->outcome->err);
		} while (landed == begin);
		memcpy(target + offset, driver->slots, piece);
		offset += piece;
	}
	return target;
}

static inline void
group_fetch(group_drive *drive)
{
	const mgpu_group_spec *spec = &drive->job->spec;
	group_outcome *outcome = drive->outcome;

	drive->driver->engine->group_result(drive->run, &outcome->result);
	outcome->records = (uint64_t *) group_download(drive, MGPU_OUTPUT_GROUPS, mgpu_group_record_bytes(spec, &outcome->result));
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		outcome->sorted[i] = group_download(drive, (mgpu_output) (MGPU_OUTPUT_SORTED + i),
											mgpu_group_value_bytes(spec, &outcome->result, i));
	drive->driver->engine->stats(drive->run, &outcome->stats);
}

/* Run a case from open to release. */
static inline void
group_drive_case(const group_driver *driver, group_case *job, group_outcome *outcome)
{
	mgpu_group_source source = {&job->spec, job->pages, job->num_pages, driver->kept, driver->num_kept};
	mgpu_job	group_job;
	group_drive drive;

	memset(&drive, 0, sizeof(drive));
	memset(&group_job, 0, sizeof(group_job));
	memset(outcome, 0, sizeof(*outcome));
	group_job.op = MGPU_OP_GROUP;
	group_job.num_items = driver->expected_rows;
	drive.driver = driver;
	drive.job = job;
	drive.outcome = outcome;
	outcome->status = driver->engine->landed(driver->device, MGPU_UPLOAD, &drive.before, &outcome->err);
	if (outcome->status == MGPU_OK)
		outcome->status = driver->engine->open(driver->device, &group_job, &source, &driver->options, &drive.run,
											   &outcome->err);
	if (outcome->status != MGPU_OK)
		return;
	mgpu_group_plan_record(&job->spec, &outcome->record);
	outcome->status = group_upload(&drive);
	if (outcome->status == MGPU_OK)
		outcome->status = driver->engine->launch(drive.run, &outcome->err);
	group_settle(&drive, 0);
	if (outcome->status == MGPU_OK)
	{
		do
			outcome->status = driver->engine->poll(drive.run, &outcome->err);
		while (outcome->status == MGPU_PENDING);
	}
	if (outcome->status == MGPU_OK)
		group_fetch(&drive);
	driver->engine->release(drive.run);
}

static inline void
group_free_outcome(group_outcome *outcome)
{
	free(outcome->records);
	for (int i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		free(outcome->sorted[i]);
}

/* ------------------------------------------------------------------- spoiling */

/* So many other bytes, somewhere in what counts of a spec. */
static inline void
group_spoil_spec(group_case *job, uint64_t num_bytes)
{
	mgpu_group_spec *spec = &job->spec;
	uint64_t	build_bytes = spec->build_bytes;
	struct
	{
		void	   *bytes;
		size_t		size;
	}			parts[] = {
		{spec, offsetof(mgpu_group_spec, attributes)},
		{spec->attributes, spec->num_attributes * sizeof(spec->attributes[0])},
		{spec->inputs, spec->num_inputs * sizeof(spec->inputs[0])},
		{spec->tests, spec->num_tests * sizeof(spec->tests[0])},
		{spec->columns, spec->num_columns * sizeof(spec->columns[0])},
		{spec->keys, spec->num_keys * sizeof(spec->keys[0])},
		{spec->sorts, spec->num_sorts * sizeof(spec->sorts[0])},
		{spec->orders, spec->num_orders * sizeof(spec->orders[0])},
		{&spec->num_ops, 4 * sizeof(uint32_t)},
		{spec->ops, spec->num_ops * sizeof(spec->ops[0])},
		{spec->ops, spec->num_ops * sizeof(spec->ops[0])},
		{spec->lanes, spec->num_registers},
		{spec->constants, spec->num_constants * sizeof(spec->constants[0])},
		{spec->tables, spec->table_bytes},
		{spec->builds, spec->num_builds * sizeof(spec->builds[0])}
	};

	while (num_bytes > 0)
	{
		uint32_t	part = group_below(job, sizeof(parts) / sizeof(parts[0]));

		if (parts[part].size == 0)
			continue;
		/* small numbers more often than others: most of them mean something */
		((uint8_t *) parts[part].bytes)[group_below(job, (uint32_t) parts[part].size)] =
			(uint8_t) group_below(job, group_chance(job, 2) ? 10 : group_chance(job, 2) ? MGPU_PROGRAM_NUM_CODES : 256);
		num_bytes--;
	}
	/* so much memory there is */
	spec->build_bytes = build_bytes;
}

#endif							/* MGPU_UNIT_GROUP_H */
