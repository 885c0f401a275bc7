/*
 * group_ties.c
 *		Whether an answer says what the extremes of numerics show.
 *
 * Equal numerics may show different digits, and PostgreSQL returns the last of those that are an extreme.  Executors take rows in any order, so they
 * find the most and the fewest digits that an extreme shows (expr/cells.h).  Where these differ, nobody knows which were the last.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "exec/group_records.h"

/* Groups that are looked at between looks at interrupts. */
#define GROUPS_AT_A_TIME 1024

/* Of two numbers, see expr_program_add_tied. */
static bool
is_tied_number(const table_output *output, const uint64 *record, const uint32 *places)
{
	reduced_integers more = group_record_integers(&record[places[output->column]]);
	reduced_integers fewer = group_record_integers(&record[places[output->column + 1]]);

	if (record[places[output->column]] == 0)
		return false;
	return output->is_greatest ? group_record_digits(more.max) != group_record_digits(-fewer.max) : group_record_digits(more.min) != group_record_digits(-fewer.min);
}

/* So of quotients: the least with most digits, their signs turned, is the greatest with fewest. */
static bool
is_tied_quotient(const table_output *output, const uint64 *more, const uint64 *fewer)
{
	uint64		extreme[CELLS_OF_QUOTIENT];
	uint64		turned[CELLS_OF_QUOTIENT];

	group_record_quotient(more + 1 + (output->is_greatest ? CELLS_OF_QUOTIENT : 0), extreme);
	group_record_quotient(fewer + 1 + (output->is_greatest ? 0 : CELLS_OF_QUOTIENT), turned);
	return more[0] > 0 && extreme[CELLS_OF_QUOTIENT - 1] != turned[CELLS_OF_QUOTIENT - 1];
}

/* Whether values that are an extreme show different digits. */
static bool
is_tied(const table_output *output, const uint64 *record, const uint32 *places)
{
	if (output->cells.form == CELLS_TIED_QUOTIENT)
		return is_tied_quotient(output, &record[places[output->column]], &record[places[output->column + CELLS_OF_QUOTIENT]]);
	return is_tied_number(output, record, places);
}

static bool
may_be_tied(const value_cells *cells)
{
	return cells->form == CELLS_TIED || cells->form == CELLS_TIED_QUOTIENT;
}

static bool
has_ties(const device_query *query, const uint64 *record)
{
	for (int i = 0; i < query->job.num_outputs; i++)
	{
		const table_output *output = &query->job.outputs[i];

		if (may_be_tied(&output->cells) && is_tied(output, record, query->request.record.reductions))
			return true;
	}
	return false;
}

static bool
may_have_ties(const device_query *query)
{
	for (int i = 0; i < query->job.num_outputs; i++)
		if (may_be_tied(&query->job.outputs[i].cells))
			return true;
	return false;
}

bool
group_ties_are_none(const device_query *query)
{
	uint64		num_groups = may_have_ties(query) ? query->request.result.num_groups : 0;
	uint32		num_words = query->request.record.num_words;
	char	   *buffer = palloc(GROUPS_AT_A_TIME * num_words * sizeof(uint64));
	bool		tells = true;

	for (uint64 first = 0; first < num_groups && tells; first += GROUPS_AT_A_TIME)
	{
		uint64		count = Min(num_groups - first, GROUPS_AT_A_TIME);
		const uint64 *records = device_query_read(query, first, count, buffer);

		CHECK_FOR_INTERRUPTS();
		for (uint64 group = 0; group < count && tells; group++)
			tells = !has_ties(query, records + group * num_words);
	}
	pfree(buffer);
	return tells;
}
