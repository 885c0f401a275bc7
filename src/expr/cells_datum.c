/*
 * cells_datum.c
 *		Numbers of 8 bytes as the values that they stand for: what comes back from jobs.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_collation.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "core/key_codec.h"
#include "expr/cells.h"
#include "expr/compile.h"

/* As PostgreSQL subtracts times: whole days of it are days. */
static Datum
between_datum(int64 time)
{
	Interval   *made = palloc0(sizeof(Interval));

	made->day = time / USECS_PER_DAY;
	made->time = time % USECS_PER_DAY;
	return IntervalPGetDatum(made);
}

static Datum
bytes_datum(const value_cells *cells, const uint64 *bits, Size header)
{
	char	   *made = palloc(header + cells->num_cells * sizeof(uint64));

	for (int i = 0; i < cells->num_cells; i++)
	{
		/* the sign was turned, and the first byte is the highest */
		uint64		word = mgpu_swap_64(bits[i] ^ MGPU_F64_SIGN);

		memcpy(made + header + i * sizeof(uint64), &word, sizeof(uint64));
	}
	if (header > 0)
		SET_VARSIZE(made, header + ((bits[cells->num_cells - 1] ^ MGPU_F64_SIGN) & 0xFF));
	return PointerGetDatum(made);
}

static Datum
formatted_datum(const value_cells *cells, Timestamp time)
{
	Datum		text = OidFunctionCall2Coll(F_TO_CHAR_TIMESTAMP_TEXT, DEFAULT_COLLATION_OID, TimestampGetDatum(time), cells->format);

	return cells->around ? OidFunctionCall1Coll(cells->around->funcid, cells->around->inputcollid, text) : text;
}

static Datum
label_datum(const value_cells *cells, Oid label)
{
	return label == InvalidOid ? cells->format : CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(enum_out, ObjectIdGetDatum(label))));
}

/* Its numbers, together, without digits that it does not show. */
static Datum
quotient_datum(const uint64 *bits)
{
	Datum		quotient = number_to_numeric((int64) bits[0], MGPU_QUOTIENT_DIGITS, MGPU_QUOTIENT_DIGITS);
	Datum		unit = number_to_numeric(1, MGPU_QUOTIENT_DIGITS, MGPU_QUOTIENT_DIGITS);
	Datum		rest = DirectFunctionCall2(numeric_mul, number_to_numeric((int64) bits[1], MGPU_REST_DIGITS, MGPU_REST_DIGITS), unit);

	return DirectFunctionCall2(numeric_round, DirectFunctionCall2(numeric_add, quotient, rest), Int32GetDatum((int32) bits[2]));
}

Datum
value_cells_datum(const value_cells *cells, const uint64 *bits)
{
	uint64		number = bits[0];

	switch (cells->form)
	{
		case CELLS_NUMBER:
			/* its low bytes are those of a narrower value */
			return fetch_att(&number, true, cells->width);
		case CELLS_NUMERIC:
			return number_to_numeric((int64) number, cells->scale, cells->scale);
		case CELLS_SHOWN:
			return number_to_numeric((int64) number, cells->scale, (int) bits[1]);
		case CELLS_QUOTIENT:
			return quotient_datum(bits);
		case CELLS_BYTES:
			return bytes_datum(cells, bits, VARHDRSZ);
		case CELLS_INET:
			return expr_inet_datum(DatumGetPointer(bytes_datum(cells, bits, 0)), cells->num_cells);
		case CELLS_NAMED:
		case CELLS_LONG:
			return text_names_datum(cells->names, number);
		case CELLS_BETWEEN:
			return between_datum((int64) number);
		case CELLS_FORMATTED:
			return formatted_datum(cells, (int64) number);
		case CELLS_LABEL:
			return label_datum(cells, (Oid) number);
		default:
			return bytes_datum(cells, bits, 0);
	}
}
