/*
 * time_parts.h
 *		How many values functions of times have.
 */
#ifndef MGPU_EXPR_TIME_PARTS_H
#define MGPU_EXPR_TIME_PARTS_H

/* The least length of a unit of date_trunc, in microseconds; the least of all where its name is none. */
extern double time_unit_length(const char *unit);

/* Most values of a field of extract, or of texts of a format of to_char, of times that lie in a range of microseconds; HUGE_VAL: not known. */
extern double time_field_values(const char *field, double range);
extern double time_format_values(const char *format, double range);

#endif							/* MGPU_EXPR_TIME_PARTS_H */
