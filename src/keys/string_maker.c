/*
 * string_maker.c
 *		How the byte string of one value is found or made.  See string_maker.h.
 */
#include "postgres.h"

#include "keys/collation.h"
#include "keys/string_maker.h"

/* Fewer texts are compared by the server: making a string takes as long as five comparisons. */
#define COLLATED_MIN_ITEMS 32

static byte_encode_fn
encoder(byte_form form)
{
	switch (form)
	{
		case BYTE_FORM_NUMERIC:
			return byte_encode_numeric;
		case BYTE_FORM_BITS:
			return byte_encode_bits;
		case BYTE_FORM_NETWORK:
			return byte_encode_network;
		case BYTE_FORM_INTERVAL:
			return byte_encode_interval;
		default:
			return NULL;
	}
}

static bool
is_text(byte_form form)
{
	return form == BYTE_FORM_TEXT || form == BYTE_FORM_BPCHAR || form == BYTE_FORM_NAME;
}

bool
string_maker_start(string_maker *maker, const element_type *type, Oid collation, int64 num_collated)
{
	maker->form = type->byte_form;
	maker->encode = encoder(type->byte_form);
	maker->locale = (locale_t) 0;
	if (!is_text(maker->form))
		return maker->form != BYTE_FORM_NONE;
	if (!OidIsValid(collation))
		return false;
	if (collation_orders_bytes(collation))
		return true;
	if (num_collated >= COLLATED_MIN_ITEMS)
		maker->locale = collation_locale(collation);
	return maker->locale != (locale_t) 0;
}
