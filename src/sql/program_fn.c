/*
 * program_fn.c
 *		mgpu_program_functions: which of PostgreSQL's functions run as parts of programs.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "expr/functions.h"

PG_FUNCTION_INFO_V1(mgpu_program_functions);
Datum
mgpu_program_functions(PG_FUNCTION_ARGS)
{
	int			num_functions;
	const known_function *functions = known_functions_all(&num_functions);
	Datum	   *oids = palloc(num_functions * sizeof(Datum));

	for (int i = 0; i < num_functions; i++)
		oids[i] = ObjectIdGetDatum(functions[i].function);
	PG_RETURN_ARRAYTYPE_P(construct_array(oids, num_functions, REGPROCEDUREOID, sizeof(Oid), true, TYPALIGN_INT));
}
