/*
 * program_times.h
 *		Units, fields and tables of operations on times.
 */
#ifndef MGPU_PROGRAM_TIMES_H
#define MGPU_PROGRAM_TIMES_H

#include <stdint.h>

typedef enum mgpu_time_unit
{
	MGPU_TIME_MICROSECOND,
	MGPU_TIME_MILLISECOND,
	MGPU_TIME_SECOND,
	MGPU_TIME_MINUTE,
	MGPU_TIME_HOUR,
	MGPU_TIME_DAY,
	MGPU_TIME_WEEK,
	MGPU_TIME_MONTH,
	MGPU_TIME_QUARTER,
	MGPU_TIME_YEAR
} mgpu_time_unit;

typedef enum mgpu_time_field
{
	MGPU_FIELD_YEAR,
	MGPU_FIELD_QUARTER,
	MGPU_FIELD_MONTH,
	MGPU_FIELD_WEEK,
	MGPU_FIELD_DAY,
	MGPU_FIELD_DAY_OF_YEAR,
	MGPU_FIELD_DAY_OF_WEEK,		/* Sunday is 0 */
	MGPU_FIELD_ISO_DAY,			/* Sunday is 7 */
	MGPU_FIELD_ISO_YEAR,
	MGPU_FIELD_HOUR,
	MGPU_FIELD_MINUTE,
	MGPU_FIELD_SECOND,			/* in microseconds, as the next */
	MGPU_FIELD_EPOCH
} mgpu_time_field;

/* A piece of the text that to_char makes: digits of a field, a name out of a list, the first for 0, or bytes as they are. */
typedef enum mgpu_piece_kind {MGPU_PIECE_DIGITS = 0, MGPU_PIECE_NAME, MGPU_PIECE_BYTES} mgpu_piece_kind;

typedef struct mgpu_time_piece
{
	uint8_t		kind;			/* mgpu_piece_kind */
	uint8_t		field;			/* mgpu_time_field; of DAY_OF_WEEK and others below a hundred two digits, of years four */
	uint8_t		width;			/* bytes */
	int8_t		add;			/* to the field's value: 1, 0, or -1 for a name of which the first is 1 */
	uint32_t	first;			/* byte of what is no digit */
} mgpu_time_piece;

#define MGPU_FORMAT_PIECES 24
#define MGPU_FORMAT_BYTES 512

typedef struct mgpu_time_format
{
	uint32_t	num_pieces;
	uint32_t	length;			/* of the text */
	mgpu_time_piece pieces[MGPU_FORMAT_PIECES];
	char		bytes[MGPU_FORMAT_BYTES];
} mgpu_time_format;

typedef enum mgpu_interval_part
{
	MGPU_INTERVAL_TIME,			/* microseconds */
	MGPU_INTERVAL_DAYS,
	MGPU_INTERVAL_MONTHS
} mgpu_interval_part;

typedef struct mgpu_time_bin
{
	int64_t		stride;			/* microseconds, above 0 */
	int64_t		origin;
} mgpu_time_bin;

/* Offsets of a time zone: changes[i].offset holds from changes[i].start to the next one's.  Before the first and from the last on: faults. */
typedef struct mgpu_zone_change
{
	int64_t		start;			/* a timestamp with time zone */
	int64_t		offset;			/* microseconds that local time is ahead */
} mgpu_zone_change;

typedef struct mgpu_zone
{
	int64_t		num_changes;
	mgpu_zone_change changes[];
} mgpu_zone;

#endif							/* MGPU_PROGRAM_TIMES_H */
