/*
 * compile_collated.c
 *		Comparisons of texts in the order of a collation of the C library.
 *
 * They are for CPUs alone (core/collator.h).  A program has one locale, since texts of one table seldom have two.
 */
#include "postgres.h"

#include "compat.h"
#include "core/collator.h"
#include "expr/compile.h"
#include "keys/collation.h"

bool
expr_program_take_collation(expr_program *program, Oid collation)
{
	if (!collation_has_strings(collation) || (OidIsValid(program->collation) && program->collation != collation))
		return false;
	program->collation = collation;
	return true;
}

Oid
expr_program_collation(const expr_program *program)
{
	return program->collation;
}

bool
compile_collated(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];

	if (call->known->code != MGPU_RUN_COMPARE_BYTES || !expr_program_take_collation(program, call->collation) || !compile_args(program, call, args))
		return false;
	for (int i = 0; i < 2 && call->known->form == FORM_BLANKS; i++)
		args[i] = add_op(program, MGPU_RUN_TRIM_BLANKS, args[i].type, 0, 1, &args[i]);
	*value = add_op(program, MGPU_RUN_COMPARE_COLLATED, expr_boolean, call->known->number, 2, args);
	return true;
}

struct mgpu_collator *
expr_collator(const expr_program *program)
{
	mgpu_collator *collator;

	if (!OidIsValid(program->collation))
		return NULL;
	collator = palloc0(sizeof(mgpu_collator));
	collator->locale = collation_locale(program->collation);
	return collator;
}
