/*
 * args.c
 *		Arguments that the sorting functions share.
 */
#include "postgres.h"

#include "fmgr.h"

#include "pgerror.h"
#include "sql/args.h"

sort_spec
sort_spec_args(FunctionCallInfo fcinfo, const char *function, int first)
{
	bool		descending = PG_NARGS() > first && PG_GETARG_BOOL(first);

	return (sort_spec) {
		.function = function,
		.op = MGPU_OP_SORT,
		.algorithm = MGPU_ALGORITHM_AUTO,
		.order = {
			.descending = descending,
			.nulls_first = PG_NARGS() > first + 1 ? PG_GETARG_BOOL(first + 1) : descending
		},
		.collation = PG_GET_COLLATION()
	};
}

void
pair_args_open_named(array_pair *pair, Datum keys, const char *keys_name,
					 Datum vals, const char *vals_name)
{
	array_source_open(&pair->keys, keys);
	array_source_open(&pair->vals, vals);
	check_one_dimensional(&pair->keys);
	check_one_dimensional(&pair->vals);
	if (pair->keys.num_items != pair->vals.num_items)
		mgpu_raise_length_mismatch(keys_name, pair->keys.num_items, vals_name, pair->vals.num_items);
}

void
pair_args_open(array_pair *pair, Datum keys, Datum vals)
{
	pair_args_open_named(pair, keys, "keys", vals, "vals");
}

void
pair_args_close(array_pair *pair)
{
	array_source_close(&pair->keys);
	array_source_close(&pair->vals);
}

void
pair_args_types(array_pair *pair, FunctionCallInfo fcinfo)
{
	pair->key_type = element_type_lookup(fcinfo, 0, pair->keys.element_type);
	pair->val_type = element_type_lookup(fcinfo, 1, pair->vals.element_type);
}
