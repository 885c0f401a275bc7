/*
 * value_order.c
 *		Orders values by their type's btree comparison, and by its abbreviated keys.
 *
 * Codes are the abbreviated keys of SortSupport, for types that compare these as unsigned
 * numbers, such as text under ICU collations.  Making ICU's sort keys here was rejected: the
 * server does not export its collators, and abbreviated keys hold the same first bytes.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "keys/value_order.h"

/* Number of codes made before the type is first asked whether they pay, as in tuplesort. */
#define FIRST_QUESTION 1024

#ifndef MGPU_HAS_DATUM_COMPARATORS

/*
 * Whether the type's abbreviated keys come from one of the functions that compare them as
 * unsigned numbers.  In these versions each function has its own comparator, which is not
 * exported.
 */
static bool
is_unsigned(const element_type *type)
{
	static const Oid functions[] = {
		F_BTTEXTSORTSUPPORT, F_BPCHAR_SORTSUPPORT, F_BTNAMESORTSUPPORT, F_BYTEA_SORTSUPPORT,
		F_BTTEXT_PATTERN_SORTSUPPORT, F_BTBPCHAR_PATTERN_SORTSUPPORT,
		F_UUID_SORTSUPPORT, F_MACADDR_SORTSUPPORT, F_NETWORK_SORTSUPPORT
	};
	Oid			family;
	Oid			input_type;
	int16		strategy;
	Oid			function;

	if (!get_ordering_op_properties(type->lt_operator, &family, &input_type, &strategy))
		return false;
	function = get_opfamily_proc(family, input_type, input_type, BTSORTSUPPORT_PROC);
	for (Size i = 0; i < lengthof(functions); i++)
		if (functions[i] == function)
			return true;
	return false;
}

#endif

static bool
codes_are_numbers(const SortSupportData *support, const element_type *type)
{
	if (sizeof(Datum) != sizeof(uint64) || support->abbrev_converter == NULL)
		return false;
#ifdef MGPU_HAS_DATUM_COMPARATORS
	return support->comparator == ssup_datum_unsigned_cmp;
#else
	return is_unsigned(type);
#endif
}

void
value_order_prepare(value_order *order, const element_type *type, Oid collation, bool wants_codes)
{
	SortSupport support = &order->support;

	memset(order, 0, sizeof(*order));
	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = collation;
	support->abbreviate = wants_codes;
	PrepareSortSupportFromOrderingOp(type->lt_operator, support);
	order->has_codes = codes_are_numbers(support, type);
	order->compare = support->abbrev_converter ? support->abbrev_full_comparator : support->comparator;
}

bool
value_order_codes(value_order *order, const Datum *values, int64 num_items, uint64 *codes)
{
	SortSupport support = &order->support;
	int64		next_question = FIRST_QUESTION;

	if (!order->has_codes)
		return false;
	for (int64 i = 0; i < num_items; i++)
	{
		if (i == next_question)
		{
			next_question *= 2;
			CHECK_FOR_INTERRUPTS();
			if (support->abbrev_abort(i, support))
				return false;
		}
		codes[i] = (uint64) support->abbrev_converter(values[i], support);
	}
	return true;
}
