/*
 * compile_inet.c
 *		The operations that make something of an inet, and inets of what table jobs return.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "catalog/pg_type.h"
#include "utils/inet.h"

#include "compat.h"
#include "core/inet_format.h"
#include "expr/compile.h"

StaticAssertDecl(PGSQL_AF_INET == MGPU_INET_V4 && PGSQL_AF_INET6 == MGPU_INET_V6, "families of inet");

bool
compile_inet(expr_program *program, const function_call *call, expr_value *value)
{
	const expr_type integer = {MGPU_LANE_INTEGER, sizeof(int32), false, 0};
	expr_value	args[MOST_ARGS];

	if (!compile_args(program, call, args))
		return false;
	/* a network is its own without the bits behind it */
	if (call->known->code == MGPU_RUN_INET_MASK && list_length(call->args) == 1)
		args[1] = add_op(program, MGPU_RUN_INET_PART, integer, 1, 1, args);
	return add_made(program, call->known->code, call->known->number, args, value);
}

bool
expr_type_is_inet(Oid type_id)
{
	return type_id == INETOID || type_id == CIDROID;
}

/* Bytes of an address. */
static int
address_bytes(int family)
{
	return family == PGSQL_AF_INET ? MGPU_INET_V4_BYTES - 2 : MGPU_INET_V6_BYTES - 2;
}

int
expr_inet_length(const void *value)
{
	const inet_struct *inet = (const inet_struct *) VARDATA_ANY(value);
	int			bytes = address_bytes(inet->family);

	for (int bit = inet->bits; bit < bytes * BITS_PER_BYTE; bit++)
		if ((inet->ipaddr[bit / BITS_PER_BYTE] << bit % BITS_PER_BYTE & 0x80) != 0)
			return 2 + 2 * bytes;
	return 2 + bytes;
}

Datum
expr_inet_datum(char *words, int num_words)
{
	inet	   *made = palloc0(sizeof(inet));
	int			bytes = address_bytes(words[0]);
	int			length = (unsigned char) words[num_words * sizeof(uint64) - 1];

	ip_family(made) = words[0];
	ip_bits(made) = (unsigned char) words[1 + bytes];
	memcpy(ip_addr(made), words + (length > 2 + bytes ? 2 + bytes : 1), bytes);
	SET_INET_VARSIZE(made);
	pfree(words);
	return InetPGetDatum(made);
}
