/*
 * datum_codes.c
 *		Values of types that are compared, as 64-bit codes where the type makes
 *		such codes itself.
 *
 * Those are the abbreviated keys of SortSupport.  Where the type says that they
 * compare as unsigned numbers (text under ICU collations does), an executor can
 * sort them; values with equal ones go by the type's full comparison, which has
 * its own rules for ties.  Making sort keys by ICU's own functions was rejected:
 * the server keeps its collators to itself, and this gives the same first bytes.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "datum_codes.h"

#ifndef MGPU_HAS_DATUM_COMPARATORS

/*
 * Whether abbreviated keys come from one of those functions that compare them as
 * unsigned numbers, each by a function of its own that has no name for others.
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
are_numbers(const SortSupportData *support, const element_type *type)
{
	if (sizeof(Datum) != sizeof(uint64) || support->abbrev_converter == NULL)
		return false;
#ifdef MGPU_HAS_DATUM_COMPARATORS
	return support->comparator == ssup_datum_unsigned_cmp;
#else
	return is_unsigned(type);
#endif
}

bool
datum_codes_prepare(SortSupport support, const element_type *type, Oid collation)
{
	memset(support, 0, sizeof(*support));
	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = collation;
	support->abbreviate = true;
	PrepareSortSupportFromOrderingOp(type->lt_operator, support);
	return are_numbers(support, type);
}

bool
datum_codes_make(const Datum *values, int64 num_items, const element_type *type,
				 Oid collation, SortSupport support, uint64 *codes)
{
	int64		next_question = DATUM_CODES_FIRST_QUESTION;

	if (!datum_codes_prepare(support, type, collation))
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

typedef struct tie_context
{
	const Datum *values;
	SortSupport support;
	bool		descending;
} tie_context;

static inline int
compare_ties(const uint32 *a, const uint32 *b, const tie_context *context)
{
	int			order = context->support->abbrev_full_comparator(context->values[*a], context->values[*b],
																 context->support);

	if (context->descending)
		INVERT_COMPARE_RESULT(order);
	if (order == 0)
		order = *a < *b ? -1 : 1;
	return order;
}

#define ST_SORT sort_ties
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, context) compare_ties(a, b, context)
#define ST_COMPARE_ARG_TYPE const tie_context
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

void
datum_codes_order(const Datum *values, const uint64 *sorted, int64 begin, int64 end,
				  bool descending, SortSupport support, uint32 *ranks)
{
	tie_context context = {values, support, descending};

	for (int64 next; begin < end; begin = next)
	{
		for (next = begin + 1; next < end && sorted[next] == sorted[begin];)
			next++;
		if (next - begin > 1)
			sort_ties(ranks + begin, next - begin, &context);
		else if (begin % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}
