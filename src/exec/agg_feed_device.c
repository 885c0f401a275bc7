/*
 * agg_feed_device.c
 *		Transition states that a job has computed, for the final functions of aggregates.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "exec/aggregate.h"

/* The least or greatest value: it is the result. */
static Datum
extreme_of(const device_query *query, const table_output *output, const uint64 *words, bool is_greatest)
{
	uint32		num_cells = query->request.spec.columns[output->column].num_cells;

	/* one cell is reduced as an integer */
	return device_query_datum(query, &output->cells, output->column,
							  words + (num_cells > 0 ? 1 + is_greatest * num_cells : is_greatest ? 4 : 3));
}

/* What float8_regr_accum makes of a group: its array begins with the count as a float. */
static Datum
sums_of(const uint64 *words)
{
	Datum		sums[6] = {Float8GetDatum((float8) words[0])};

	for (int i = 1; i < 6; i++)
	{
		float8		sum;

		memcpy(&sum, &words[i], sizeof(sum));
		sums[i] = Float8GetDatum(sum);
	}
	return PointerGetDatum(construct_array(sums, 6, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Bits that all values have, or any. */
static Datum
bits_of(const Aggref *aggref, const uint64 *words)
{
	bool		is_and = aggref->aggfnoid == F_BIT_AND_INT2 || aggref->aggfnoid == F_BIT_AND_INT4 || aggref->aggfnoid == F_BIT_AND_INT8;
	int64		bits = (int64) words[is_and ? 6 : 5];

	return aggref->aggtype == INT2OID ? Int16GetDatum((int16) bits) : aggref->aggtype == INT4OID ? Int32GetDatum((int32) bits) : Int64GetDatum(bits);
}

Datum
group_feed_state(const device_query *query, const table_output *output, const Aggref *aggref, uint32 group, bool *is_null)
{
	const uint64 *words = device_query_record(query, group) + query->request.record.reductions[output->column];

	*is_null = table_feed_of(aggref) != TABLE_FEED_PAIRS && words[0] == 0;
	if (*is_null)
		return (Datum) 0;
	if (table_feed_of(aggref) == TABLE_FEED_EXTREME)
		return extreme_of(query, output, words, aggref->aggfnoid == F_MAX_TEXT || aggref->aggfnoid == F_MAX_INET || aggref->aggfnoid == F_MAX_INTERVAL);
	if (table_feed_of(aggref) == TABLE_FEED_BITS)
		return bits_of(aggref, words);
	return aggref->aggfnoid == F_REGR_COUNT ? Int64GetDatum((int64) words[0]) : sums_of(words);
}
