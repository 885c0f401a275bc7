/*
 * program/ops_format.h
 *		Texts that to_char makes of times.
 *
 * A format is a list of pieces (mgpu_time_format), each with a width of its own: digits of a field, a name out of a list, or bytes as they are.  So all texts
 * of a format are equally long, since years have four digits.
 */
#ifndef MGPU_OPS_FORMAT_H
#define MGPU_OPS_FORMAT_H

#define MICROSECONDS_PER_SECOND INT64_C(1000000)
#define MICROSECONDS_PER_DAY (INT64_C(86400) * MICROSECONDS_PER_SECOND)

MGPU_CODEC void
mgpu_write_digits(char *text, int64_t number, uint32_t width)
{
	for (uint32_t i = width; i-- > 0; number /= 10)
		text[i] = (char) ('0' + number % 10);
}

MGPU_CODEC void
mgpu_write_piece(char *text, const mgpu_time_format *format, const mgpu_time_piece *piece, int64_t time, int64_t day)
{
	int64_t		value = piece->kind == MGPU_PIECE_BYTES ? 0 : mgpu_field_of(time, day, (mgpu_time_field) piece->field);

	if (piece->field == MGPU_FIELD_SECOND)
		value /= MICROSECONDS_PER_SECOND;
	value += piece->add;
	if (piece->kind == MGPU_PIECE_DIGITS)
		mgpu_write_digits(text, value, piece->width);
	else
		mgpu_copy_bytes(text, format->bytes + piece->first + value * piece->width, piece->width);
}

MGPU_CODEC void
mgpu_run_format_time(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_time_format *format = (const mgpu_time_format *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		char	   *text = mgpu_room_for(frame.made, op.width, format->length);
		int64_t		day = mgpu_floored(a.integers[i], MICROSECONDS_PER_DAY);
		bool		is_value = a.states[i] == MGPU_IS_VALUE && !mgpu_is_outside_calendar(day);
		uint32_t	end = 0;

		to.states[i] = mgpu_state_unless(a.states[i], !is_value);
		for (uint32_t j = 0; text && is_value && j < format->num_pieces; j++)
		{
			mgpu_write_piece(text + end, format, &format->pieces[j], a.integers[i], day);
			end += format->pieces[j].width;
		}
		mgpu_end_made(frame.made, op.width, to, i, text, is_value ? format->length : 0);
	}
}

#undef MICROSECONDS_PER_SECOND
#undef MICROSECONDS_PER_DAY

#endif							/* MGPU_OPS_FORMAT_H */
