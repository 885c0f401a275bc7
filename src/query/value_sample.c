/*
 * value_sample.c
 *		How many values a part of a document may have: of documents that statistics have as examples.
 *
 * PostgreSQL takes data->>'kind' to have as many values as the column data, where each row has one of its own, so that a report by a key seems to have a group for
 * every few rows.  Statistics have some hundred documents, the bounds of a histogram and the most common ones.  The part is computed of these, and how many
 * values all rows have follows from how many are there once, by the formula that ANALYZE has for columns (Haas and Stokes, "Estimating the number of
 * classes in a finite population").  Only functions that raise no errors are computed here: what casts make of a part has no more values than the part.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "query/value_sample.h"

/* Documents that are looked at. */
#define MOST_EXAMPLES 200

/* Fewer say nothing. */
#define LEAST_EXAMPLES 20

/* Values of examples, as C strings. */
typedef struct value_sample
{
	int			num_examples;
	int			num_values;		/* that are not NULL */
	char	   *values[MOST_EXAMPLES];
} value_sample;

/* ---- parts of documents */

/* What looks into a document, and gives a text or a part of it. */
static bool
is_extraction(Oid function)
{
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD: case F_JSONB_OBJECT_FIELD_TEXT: case F_JSONB_ARRAY_ELEMENT: case F_JSONB_ARRAY_ELEMENT_TEXT:
		case F_JSONB_EXTRACT_PATH: case F_JSONB_EXTRACT_PATH_TEXT:
			return true;
		default:
			return false;
	}
}

/* The function of an expression that has a constant for its second argument, and its first. */
static Oid
function_of(Node *expr, Node **from)
{
	List	   *args = IsA(expr, FuncExpr) ? ((FuncExpr *) expr)->args : IsA(expr, OpExpr) ? ((OpExpr *) expr)->args : NIL;

	if (list_length(args) != 2 || !IsA(lsecond(args), Const))
		return InvalidOid;
	*from = linitial(args);
	if (IsA(expr, FuncExpr))
		return ((FuncExpr *) expr)->funcid;
	set_opfuncid((OpExpr *) expr);
	return ((OpExpr *) expr)->opfuncid;
}

/* The column of which an expression is a text, or NULL: it is none. */
static Var *
document_of(Node *expr)
{
	if (!(IsA(expr, FuncExpr) || IsA(expr, OpExpr)) || exprType(expr) != TEXTOID)
		return NULL;
	while (!IsA(expr, Var))
		if (!is_extraction(function_of(expr, &expr)))
			return NULL;
	return ((Var *) expr)->vartype == JSONBOID && ((Var *) expr)->varlevelsup == 0 ? (Var *) expr : NULL;
}

typedef struct part_search
{
	Node	   *part;			/* the first text of a document, or NULL */
	bool		has_others;		/* there is another variable, or another part */
} part_search;

static bool
find_part(Node *node, void *context)
{
	part_search *search = context;

	if (node == NULL)
		return false;
	if (search->part == NULL && document_of(node))
	{
		search->part = node;
		return false;
	}
	if (search->part && equal(node, search->part))
		return false;
	if (IsA(node, Var) || IsA(node, Param) || IsA(node, SubPlan) || IsA(node, PlaceHolderVar) || IsA(node, Aggref))
		search->has_others = true;
	return expression_tree_walker(node, find_part, context);
}

/* ---- examples */

static Node *
take_place(Node *node, void *context)
{
	const Var  *var = (const Var *) node;
	CaseTestExpr *place;

	if (node == NULL || !IsA(node, Var))
		return node == NULL ? NULL : expression_tree_mutator(node, take_place, context);
	place = makeNode(CaseTestExpr);
	place->typeId = var->vartype;
	place->typeMod = var->vartypmod;
	place->collation = var->varcollid;
	return (Node *) place;
}

/* Compute a part of some documents of statistics. */
static void
take_examples(value_sample *sample, const AttStatsSlot *slot, Node *part)
{
	EState	   *state = CreateExecutorState();
	ExprContext *context = GetPerTupleExprContext(state);
	Expr	   *expr = (Expr *) take_place(part, NULL);
	ExprState  *computed;
	int			step = Max(1, (slot->nvalues + MOST_EXAMPLES / 2 - 1) / (MOST_EXAMPLES / 2));

	fix_opfuncids((Node *) expr);
	computed = ExecPrepareExpr(expr, state);
	for (int i = 0; i < slot->nvalues && sample->num_examples < MOST_EXAMPLES; i += step)
	{
		Datum		value;
		bool		is_null;

		context->caseValue_datum = slot->values[i];
		context->caseValue_isNull = false;
		value = ExecEvalExprSwitchContext(computed, context, &is_null);
		sample->num_examples++;
		if (!is_null)
			sample->values[sample->num_values++] = TextDatumGetCString(value);
		ResetExprContext(context);
	}
	FreeExecutorState(state);
}

static int
compare_values(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* How many values all rows have. */
static double
count_values(value_sample *sample, double num_rows)
{
	double		num_values = sample->num_values;
	double		num_different = 0;
	double		num_single = 0;
	int			end;

	qsort(sample->values, sample->num_values, sizeof(char *), compare_values);
	for (int begin = 0; begin < sample->num_values; begin = end)
	{
		for (end = begin + 1; end < sample->num_values && strcmp(sample->values[begin], sample->values[end]) == 0; end++)
			;
		num_different++;
		num_single += end == begin + 1;
	}
	/* rows that have a value; where no example has one, some may */
	num_rows *= Max(num_values, 1) / sample->num_examples;
	if (num_values == 0)
		return num_rows;
	return num_values * num_different / (num_values - num_single + num_single * num_values / Max(num_rows, num_values));
}

/* Statistics that the user may not see tell nothing. */
static double
count_of_part(PlannerInfo *root, Node *part, double num_rows)
{
	value_sample sample = {.num_examples = 0};
	VariableStatData variable;
	AttStatsSlot slot;

	examine_variable(root, (Node *) document_of(part), 0, &variable);
	for (int i = 0; i < 2 && HeapTupleIsValid(variable.statsTuple) && variable.acl_ok; i++)
		if (get_attstatsslot(&slot, variable.statsTuple, i == 0 ? STATISTIC_KIND_MCV : STATISTIC_KIND_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES))
		{
			take_examples(&sample, &slot, part);
			free_attstatsslot(&slot);
		}
	ReleaseVariableStats(variable);
	return sample.num_examples < LEAST_EXAMPLES ? HUGE_VAL : count_values(&sample, num_rows);
}

double
value_sample_count(PlannerInfo *root, Node *expr, double num_rows)
{
	part_search search = {NULL, false};

	(void) find_part(expr, &search);
	return search.part == NULL || search.has_others ? HUGE_VAL : ceil(count_of_part(root, search.part, num_rows));
}
