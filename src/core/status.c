/*
 * status.c
 *		mgpu_fail, the only writer of mgpu_error.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

mgpu_status
mgpu_fail(mgpu_error *err, mgpu_status status, const char *format,...)
{
	va_list		args;

	if (err == NULL)
		return status;
	err->status = status;
	va_start(args, format);
	if (vsnprintf(err->message, sizeof(err->message), format, args) < 0)
		err->message[0] = '\0';
	va_end(args);
	return status;
}
