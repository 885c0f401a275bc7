/*
 * reduced_device.c
 *		States of counts, sums and their like from what a GPU has computed.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/device_query.h"
#include "exec/reduced.h"

/* words: of a record. */
static reduced_integers
integers_of(const uint64 *words)
{
	int128		sum = (int128) (int64) words[2] * ((int64) 1 << 32) + (int128) words[1];

	return (reduced_integers) {
		(int64) mgpu_column_bits(words[3], MGPU_KEY_SIGNED, sizeof(int64)),
		(int64) mgpu_column_bits(words[4], MGPU_KEY_SIGNED, sizeof(int64)),
		sum
	};
}

static float8
float8_of(uint64 bits)
{
	return DatumGetFloat8((Datum) bits);
}

static float8
real_of(const mgpu_group_column *column, uint64 code)
{
	uint64		bits = mgpu_column_bits(code, MGPU_KEY_FLOAT, column->width);

	return column->width == sizeof(float4) ? DatumGetFloat4((Datum) bits) : float8_of(bits);
}

void
reduced_take(const device_query *query, int column, uint32 group, reduced_state *state)
{
	const uint64 *record = device_query_record(query, group);
	int			number = column < 0 ? -1 : device_query_column(query, column);
	const mgpu_group_column *of = column < 0 ? NULL : &query->request.spec.columns[number];
	const uint64 *words = column < 0 ? record : &record[query->request.record.reductions[number]];

	state->count = words[0];
	if (state->count == 0 || of == NULL || of->reduction == MGPU_REDUCE_COUNT)
		return;
	if (of->reduction == MGPU_REDUCE_INTEGER)
	{
		state->integers = integers_of(words);
		/* of one byte, they are unsigned */
		if (of->kind == MGPU_KEY_UNSIGNED)
		{
			state->integers.min = words[3];
			state->integers.max = words[4];
		}
		return;
	}
	state->reals = (reduced_reals) {real_of(of, words[4]), real_of(of, words[5]), float8_of(words[1]), float8_of(words[2]),
		DatumGetFloat4((Datum) words[3])};
}
